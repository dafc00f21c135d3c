//! Variables, secrets and references.

use super::steps_read::{step_span, url_span};
use crate::model::{BrowserScenario, StepsFile};
use cuecard_page::VariableReference;
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::json::NodeKind;
use cuecard_source::reader::{Object, Reader, found};
use cuecard_source::value::{Json, cut};
use cuecard_source::{SourceFile, Span};

/// The variables with their defaults, and the names of secrets.
pub(super) type Declarations = (Vec<(String, Option<Json>)>, Vec<String>);

/// Reads `variables` and `secrets`.
pub(super) fn declared(reader: &mut Reader<'_>, root: Object<'_>) -> Declarations {
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

/// Declares the names that texts refer to with a default, so that a value can be given for them.
pub(super) fn declare_defaulted<'t>(
    variables: &mut Vec<(String, Option<Json>)>,
    secrets: &[String],
    texts: impl Iterator<Item = &'t String>,
) {
    for reference in texts.flat_map(|text| cuecard_page::references(text)) {
        let name = reference.name;
        let is_known = variables.iter().any(|(known, _)| known == name)
            || secrets.iter().any(|secret| secret == name);
        if reference.default.is_some() && !is_known && is_name(name) {
            variables.push((name.to_owned(), None));
        }
    }
}

/// The names that a text refers to.
pub fn references(text: &str) -> Vec<&str> {
    let all = cuecard_page::references(text).into_iter();
    all.map(|reference| reference.name).collect()
}

/// What a file says about its variables, and where it refers to them.
#[derive(Debug)]
pub struct Declared<'a> {
    /// Names with their defaults; none where a value must be given.
    pub variables: Vec<(&'a str, Option<&'a Json>)>,
    /// Names whose values are never shown.
    pub secrets: &'a [String],
    /// The texts in which references may stand.
    pub texts: Vec<ReferringText<'a>>,
}

/// A text in which references may stand.
#[derive(Debug)]
pub struct ReferringText<'a> {
    /// The text.
    pub text: &'a str,
    /// Where it stands, if that is known.
    pub span: Option<Span>,
    /// The pointer to it.
    pub pointer: String,
}

impl<'a> Declared<'a> {
    /// What a scenario says.
    pub fn of_scenario(scenario: &'a BrowserScenario) -> Self {
        let url = ReferringText {
            text: &scenario.url,
            span: Some(scenario.url_span),
            pointer: "/url".to_owned(),
        };
        let actions = scenario.actions.iter().enumerate();
        let actions = actions.map(|(index, action)| ReferringText {
            text: &action.text,
            span: Some(action.span),
            pointer: format!("/actions/{index}"),
        });
        let variables = scenario.variables.iter();
        Self {
            variables: variables
                .map(|(name, value)| (name.as_str(), value.as_ref()))
                .collect(),
            secrets: &scenario.secrets,
            texts: std::iter::once(url).chain(actions).collect(),
        }
    }

    /// What steps say, which were read from `source`.
    pub fn of_steps(steps: &'a StepsFile, source: &SourceFile) -> Self {
        let mut texts = vec![ReferringText {
            text: &steps.url,
            span: url_span(source),
            pointer: "/url".to_owned(),
        }];
        for (place, step) in steps.test_steps.iter().enumerate() {
            let value = step.value.as_ref().and_then(Json::as_str);
            let all = [("value", value), ("url", step.url.as_deref())];
            let all = all.into_iter().filter_map(|(key, text)| Some((key, text?)));
            texts.extend(
                all.filter(|(_, text)| text.contains("{{"))
                    .map(|(key, text)| ReferringText {
                        text,
                        span: step_span(source, place),
                        pointer: format!("/testSteps/{place}/{key}"),
                    }),
            );
        }
        let variables = steps.variables.iter();
        Self {
            variables: variables
                .map(|(name, value)| (name.as_str(), Some(value).filter(|value| !value.is_null())))
                .collect(),
            secrets: &steps.secrets,
            texts,
        }
    }

    /// The names of all variables and secrets.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let variables = self.variables.iter().map(|(name, _)| *name);
        variables.chain(self.secrets.iter().map(String::as_str))
    }

    /// Whether a text refers to a name.
    pub fn refers(&self, name: &str) -> bool {
        let mut texts = self.texts.iter();
        texts.any(|text| references(text.text).contains(&name))
    }

    /// Everything wrong with the references. `given` are the names that the user gives values for; with `is_run` a variable
    /// that needs a value and has none is wrong too.
    pub fn check(&self, source: &SourceFile, given: &[String], is_run: bool) -> Vec<Diagnostic> {
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let mut findings = Vec::new();
        for ReferringText {
            text,
            span,
            pointer,
        } in &self.texts
        {
            for VariableReference { name, default, .. } in cuecard_page::references(text) {
                let is_declared = self.names().any(|known| known == name);
                let is_secret = self.secrets.iter().any(|secret| secret == name);
                let finding = match (given.contains(&name), is_declared) {
                    (true, _) => continue,
                    _ if default.is_some() && !is_secret => continue,
                    (false, true) if !is_run || self.has_default(name) => continue,
                    (false, true) => self.without_value(name),
                    (false, false) => self.undeclared(name, &given),
                };
                let finding = finding.with_pointer(pointer.clone());
                findings.push(match span {
                    Some(span) => finding.at(source, *span),
                    None => finding,
                });
            }
        }
        findings
    }

    fn has_default(&self, name: &str) -> bool {
        let mut variables = self.variables.iter();
        variables.any(|(known, value)| *known == name && value.is_some())
    }

    fn without_value(&self, name: &str) -> Diagnostic {
        let shown = cut(name, 60);
        let help = match self.secrets.iter().any(|secret| secret == name) {
            true => format!("set CUECARD_VAR_{shown}, or run in a terminal to be prompted for it"),
            false => format!("set it with --var {shown}=…, or as CUECARD_VAR_{shown}"),
        };
        Diagnostic::error(codes::BROWSER_VARIABLE, format!("`{shown}` has no value"))
            .with_help(help)
    }

    fn undeclared(&self, name: &str, given: &[&str]) -> Diagnostic {
        let shown = cut(name, 60);
        let help = match did_you_mean(name, self.names().chain(given.iter().copied())) {
            Some(proposal) => format!("did you mean `{proposal}`?"),
            None => format!("declare it: \"variables\": {{ \"{shown}\": null }}"),
        };
        Diagnostic::error(
            codes::BROWSER_VARIABLE,
            format!("undefined variable `{shown}`"),
        )
        .with_help(help)
    }
}
