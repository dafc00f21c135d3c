//! Reads the steps that a browser script became: the structs are the format, and here is what they can't say.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;

use super::STEPS_FORMAT;
use crate::model::{
    ActionKind, AssertKind, BrowserOptions, ErrorInfo, OLDER_VERSION, Observed, ParseStatus,
    STEPS_VERSION, StepsFile, TestStep, WaitFor,
};
use cuecard_source::decode::items;
use cuecard_source::detect::{FileKind, detect, version_text};
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::document::{Language, place_of, read_document};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, Reader, first_character};
use cuecard_source::value::{Json, cut};
use cuecard_source::{SourceFile, Span, checked};

checked!(TestStep);
checked!(always StepsRoot);

/// The most steps of a file, and selectors of a step.
const MOST_STEPS: usize = 1_000;
const MOST_SELECTORS: usize = 50;

/// What reading gave: the steps if no error was found, and everything there is to say.
#[derive(Debug)]
pub struct ParsedSteps {
    /// The steps; absent if any finding is an error.
    pub steps: Option<StepsFile>,
    /// Their options; the defaults where they can't be read.
    pub options: BrowserOptions,
    /// All findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file of steps.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub(super) struct StepsRoot {
    /// Whether every action gave a step.
    success: Option<bool>,
    /// How long it took.
    execution_time_ms: Option<u64>,
    /// The text that was read last.
    extracted_content: Option<String>,
    /// The steps, in order.
    #[serde(deserialize_with = "items")]
    test_steps: Vec<TestStep>,
    /// How many actions gave a step.
    status: Option<ParseStatus>,
    /// Why actions gave none.
    #[serde(default)]
    errors: Vec<ErrorInfo>,
    /// Version of the format.
    #[schemars(extend("enum" = [STEPS_VERSION, OLDER_VERSION]))]
    version: Json,
    /// Where it begins.
    url: String,
    /// What was seen when that was opened.
    #[serde(default)]
    observed: Observed,
    /// As in the script.
    #[serde(default)]
    #[schemars(with = "Option<Map<String, Json>>")]
    options: BrowserOptions,
    /// Values for references.
    #[serde(default)]
    variables: Map<String, Json>,
    /// Names of variables whose values are never shown.
    #[serde(default)]
    secrets: Vec<String>,
}

/// Reads steps, in JSON or YAML.
pub fn read_steps(source: &SourceFile) -> ParsedSteps {
    let document = read_document(source);
    let mut reader = Reader::new(source, &STEPS_FORMAT);
    reader.diagnostics = document.diagnostics;
    if document.language == Language::Yaml {
        reader.set_yaml(document.doubts);
    }
    let read = document.root.and_then(|root| file(&mut reader, &root));
    let (steps, options) = read.unzip();
    let mut diagnostics = reader.diagnostics;
    diagnostics.sort_by_key(|diagnostic| place_of(diagnostic).start);
    ParsedSteps {
        steps: steps.filter(|_| !any_error(&diagnostics)),
        options: options.unwrap_or_default(),
        diagnostics,
    }
}

/// Where the address stands with which steps begin.
pub(super) fn url_span(source: &SourceFile) -> Option<Span> {
    Some(read_document(source).root?.get("url")?.span)
}

/// Where the sentence of the step at a place (from 0) stands; all of the step if it has none.
pub fn step_span(source: &SourceFile, place: usize) -> Option<Span> {
    let root = read_document(source).root?;
    let step = root.get("testSteps")?.as_array()?.get(place)?;
    Some(step.get("description").unwrap_or(step).span)
}

fn file(reader: &mut Reader<'_>, root: &Node) -> Option<(StepsFile, BrowserOptions)> {
    let kind = detect(root).filter(|kind| *kind != FileKind::BrowserSteps);
    if let (Some(kind), NodeKind::Object(_)) = (kind, &root.kind) {
        let at = first_character(reader.source, root.span);
        let message = format!("this is {}, not a file of steps", kind.description());
        reader.error(codes::FILE_KIND, at, message).help = Some(
            match kind {
                FileKind::Browser => "pass its steps file instead",
                _ => "a file of steps has `version: cuecard-steps/2`",
            }
            .to_owned(),
        );
        return None;
    }
    let decoded = reader.decoded::<StepsRoot>(root, "", "the file");
    reader.diagnostics.extend(decoded.diagnostics);
    let file = decoded.value?;
    let options = root.get("options").filter(|node| !node.is_null());
    let steps = StepsFile {
        test_steps: file.test_steps,
        // An older or shortened file says only whether it succeeded.
        status: file.status.unwrap_or(match file.success {
            Some(false) => ParseStatus::Partial,
            _ => ParseStatus::Success,
        }),
        errors: file.errors,
        extracted_content: file.extracted_content,
        execution_time_ms: file.execution_time_ms,
        url: file.url,
        observed: file.observed,
        options: options.map_or_else(|| Json::Object(Map::new()), Node::to_value),
        variables: file.variables,
        secrets: file.secrets,
    };
    Some((steps, file.options))
}

fn invalid(reader: &mut Reader<'_>, node: &Node, pointer: &str, message: String) {
    reader.error_at(codes::BROWSER_STEPS, node.span, pointer, message);
}

impl StepsRoot {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        if let Some(node) = reader.get(object, "version") {
            let text = version_text(node);
            if text != STEPS_VERSION && text != OLDER_VERSION {
                let message = format!("unsupported version `{}`", cut(&text, 40));
                let found = reader.error_at(codes::BROWSER_STEPS, node.span, "/version", message);
                found.help = Some(format!("supported version: `{STEPS_VERSION}`"));
            }
        }
        let Some(node) = object.get("testSteps") else {
            return;
        };
        let steps = node.as_array().unwrap_or_default();
        let count = steps.len();
        if count > MOST_STEPS {
            let message = format!("there are {count} steps, more than {MOST_STEPS}");
            return invalid(reader, node, "/testSteps", message);
        }
        let mut known: Vec<&str> = Vec::new();
        for (place, step) in steps.iter().enumerate() {
            let Some((id, node)) = step.get("id").and_then(|node| Some((node.as_str()?, node)))
            else {
                continue;
            };
            let is_read = |step: &&TestStep| step.id == id;
            if known.contains(&id) && self.test_steps.iter().filter(is_read).count() > 1 {
                let message = format!("duplicate step id `{}`", cut(id, 60));
                invalid(reader, node, &format!("/testSteps/{place}/id"), message);
            }
            known.push(id);
        }
    }
}

impl TestStep {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        if self.selectors.len() > MOST_SELECTORS {
            let message = format!("a step has more than {MOST_SELECTORS} selectors");
            invalid(
                reader,
                object.node,
                &object.child_pointer("selectors"),
                message,
            );
        }
        // A file of the first form has one selector only.
        if self.selectors.is_empty() {
            self.selectors.extend(self.selector.clone());
        }
        if let Some(node) = reader.get(object, "value")
            && !matches!(
                node.kind,
                NodeKind::String(_) | NodeKind::Number(_) | NodeKind::Bool(_)
            )
        {
            let pointer = object.child_pointer("value");
            reader.wrong_type(node, &pointer, "`value`", "a text, a number or a boolean");
        }
        if let Some(assertion) = &mut self.assertion {
            let value = self.value.clone();
            assertion.expected = value.filter(|_| assertion.kind.needs_expected());
        }
        if let (Some(WaitFor::NetworkIdle), Some(node)) = (self.wait_for, object.get("waitFor")) {
            let message = "a page that polls is never idle: the step waits until it is quiet, for at most 3 s";
            let found = reader.warning(codes::BROWSER_STEPS, node.span, message);
            found.pointer = Some(object.child_pointer("waitFor"));
        }
        self.complete(reader, object);
    }

    /// Reports what a step can't do without.
    fn complete(&self, reader: &mut Reader<'_>, object: Object<'_>) {
        let kind = self.assertion.as_ref().map(|assertion| assertion.kind);
        let needs_target = self.action.needs_target() || kind.is_some_and(AssertKind::needs_target);
        let needs_value = self.action.needs_value() || kind.is_some_and(AssertKind::needs_expected);
        let does = |action: ActionKind| self.action == action;
        for (key, is_missing) in [
            ("selector", needs_target && self.selectors.is_empty()),
            ("value", needs_value && self.value.is_none()),
            ("url", does(ActionKind::Navigate) && self.url.is_none()),
            ("key", does(ActionKind::Press) && self.key.is_none()),
            ("assertion", does(ActionKind::Assert) && kind.is_none()),
            ("to", does(ActionKind::Drag) && self.to.is_none()),
        ] {
            if is_missing && reader.get(object, key).is_none() {
                let whose = format!("a step that does `{}`", self.action.as_str());
                reader.required(object, key, &whose, &format!("\"{key}\": …"));
            }
        }
    }
}
