//! Variables, secrets and references.

use super::steps_read::step_span;
use crate::model::{BrowserScenario, StepsFile};
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::json::NodeKind;
use cuecard_source::reader::{Object, Reader, found};
use cuecard_source::value::{Json, cut};
use cuecard_source::{SourceFile, Span};

/// The variables with their defaults, and the names of secrets.
pub(super) type Declared = (Vec<(String, Option<Json>)>, Vec<String>);

/// Reads `variables` and `secrets`.
pub(super) fn declared(reader: &mut Reader<'_>, root: Object<'_>) -> Declared {
    let secrets = secrets(reader, root);
    let mut variables = Vec::new();
    if let Some(node) = reader.get(root, "variables") {
        let object = Object {
            node,
            pointer: "/variables",
        };
        if !matches!(node.kind, NodeKind::Object(_)) {
            reader.wrong_type(node, "/variables", "`variables`", "an object");
        }
        for member in object.node.members() {
            let name = &member.key;
            let pointer = object.child_pointer(name);
            if !is_name(name) {
                let message = format!("`{}` is not a valid variable name", cut(name, 60));
                let diagnostic = reader.error(codes::BROWSER_OPTION, member.key_span, message);
                diagnostic.pointer = Some(pointer);
                continue;
            }
            let is_empty = member.value.is_null() || member.value.as_str() == Some("");
            if !is_empty && secrets.contains(name) {
                let message = format!("the value of the secret `{name}` is in the file");
                let diagnostic = reader.error(codes::BROWSER_SECRET, member.value.span, message);
                diagnostic.pointer = Some(pointer.clone());
                diagnostic.help = Some(format!(
                    "remove the value, and set CUECARD_VAR_{name} in the environment"
                ));
            }
            let value = member.value.to_value();
            let is_plain = !value.is_array() && !value.is_object();
            if !is_plain {
                let what = format!("the value of `{name}`");
                reader.wrong_type(
                    &member.value,
                    &pointer,
                    &what,
                    "a text, a number or a boolean",
                );
            }
            variables.push((name.clone(), (!is_empty).then_some(value)));
        }
    }
    (variables, secrets)
}

fn secrets(reader: &mut Reader<'_>, root: Object<'_>) -> Vec<String> {
    let Some(node) = reader.get(root, "secrets") else {
        return Vec::new();
    };
    let Some(items) = node.as_array() else {
        reader.wrong_type(node, "/secrets", "`secrets`", "a list of names");
        return Vec::new();
    };
    items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| {
            let pointer = format!("/secrets/{index}");
            let name = reader.text_of(item, &pointer, "the name of a secret")?;
            if !is_name(name) {
                let message = format!("{} is not a valid name for a secret", found(item));
                let diagnostic = reader.error(codes::BROWSER_OPTION, item.span, message);
                diagnostic.pointer = Some(pointer);
                return None;
            }
            Some(name.to_owned())
        })
        .collect()
}

fn is_name(name: &str) -> bool {
    name.len() <= 100
        && name.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_')
        && name
            .chars()
            .all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
}

/// The names that a text refers to.
pub fn references(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let inner = &rest[start + 2..];
        let Some(end) = inner.find("}}") else { break };
        let name = inner[..end].trim();
        names.push(name.split('|').next().unwrap_or(name).trim());
        rest = &inner[end + 2..];
    }
    names
}

/// Everything wrong with the references of a scenario. `given` are the names that the user gives beside the declared
/// ones; with `is_run` a variable that needs a value and has none is wrong too.
pub fn check_variables(
    scenario: &BrowserScenario,
    given: &[String],
    is_run: bool,
) -> Vec<Diagnostic> {
    let declared: Vec<&str> = scenario
        .variables
        .iter()
        .map(|(name, _)| name.as_str())
        .chain(scenario.secrets.iter().map(String::as_str))
        .chain(given.iter().map(String::as_str))
        .collect();
    let texts = std::iter::once((scenario.url.as_str(), scenario.url_span, "/url".to_owned()));
    let actions = scenario.actions.iter().enumerate().map(|(index, action)| {
        (
            action.text.as_str(),
            action.span,
            format!("/actions/{index}"),
        )
    });
    let mut findings = Vec::new();
    for (text, span, pointer) in texts.chain(actions) {
        for name in references(text) {
            let is_declared = declared.contains(&name);
            let has_value = given.iter().any(|known| known == name)
                || scenario
                    .variables
                    .iter()
                    .any(|(known, value)| known == name && value.is_some());
            if !is_declared || (is_run && !has_value) {
                findings.push(missing(
                    scenario,
                    name,
                    span,
                    &pointer,
                    &declared,
                    is_declared,
                ));
            }
        }
    }
    findings
}

/// Every reference of steps that has no value: `given` are the names that the user gives values for.
pub fn check_steps_variables(
    steps: &StepsFile,
    source: &SourceFile,
    given: &[String],
) -> Vec<Diagnostic> {
    let defaults = steps.variables.iter();
    let known: Vec<&str> = defaults
        .filter(|(_, value)| !value.is_null())
        .map(|(name, _)| name.as_str())
        .chain(given.iter().map(String::as_str))
        .collect();
    let mut findings = Vec::new();
    let mut check = |text: &str, whose: &str, pointer: String, span: Option<Span>| {
        for name in references(text) {
            if known.contains(&name) {
                continue;
            }
            let shown = cut(name, 60);
            let is_secret = steps.secrets.iter().any(|secret| secret == name);
            let help = match did_you_mean(name, known.iter().copied()) {
                Some(proposal) => format!("did you mean `{proposal}`?"),
                None if is_secret => {
                    format!("set CUECARD_VAR_{shown}, or run in a terminal to be prompted for it")
                }
                None => format!("set it with --var {shown}=…, or as CUECARD_VAR_{shown}"),
            };
            let message = format!("{whose} refers to `{shown}`, which has no value");
            let mut finding = Diagnostic::error(codes::BROWSER_VARIABLE, message)
                .with_pointer(pointer.clone())
                .with_help(help);
            if let Some(span) = span {
                finding = finding.at(source, span);
            }
            findings.push(finding);
        }
    };
    check(&steps.url, "the start URL", "/url".to_owned(), None);
    for (place, step) in steps.test_steps.iter().enumerate() {
        let value = step.value.as_ref().and_then(Json::as_str);
        let texts = [
            ("value", value.unwrap_or_default()),
            ("url", step.url.as_deref().unwrap_or_default()),
        ];
        for (key, text) in texts.into_iter().filter(|(_, text)| text.contains("{{")) {
            let whose = format!("step {}", place + 1);
            let pointer = format!("/testSteps/{place}/{key}");
            check(text, &whose, pointer, step_span(source, place));
        }
    }
    findings
}

fn missing(
    scenario: &BrowserScenario,
    name: &str,
    span: Span,
    pointer: &str,
    declared: &[&str],
    is_declared: bool,
) -> Diagnostic {
    let shown = cut(name, 60);
    let message = match is_declared {
        true => format!("`{shown}` has no value"),
        false => format!("undefined variable `{shown}`"),
    };
    let help = match did_you_mean(name, declared.iter().copied()) {
        Some(proposal) if !is_declared => format!("did you mean `{proposal}`?"),
        _ if is_declared => format!("set it with --var {shown}=…, or as CUECARD_VAR_{shown}"),
        _ => format!("declare it: \"variables\": {{ \"{shown}\": null }}"),
    };
    Diagnostic::error(codes::BROWSER_VARIABLE, message)
        .at(&scenario.source, span)
        .with_pointer(pointer)
        .with_help(help)
}
