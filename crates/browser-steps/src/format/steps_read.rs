//! Reads the steps that a browser script became.

use super::options::options;
use super::{STEPS_FORMAT, fields};
use crate::model::{
    ActionKind, AssertKind, BrowserAssertion, BrowserOptions, Compare, Container, ContainerKind,
    Direction, ErrorInfo, Fingerprint, OLDER_VERSION, Observed, ObservedDialog, ObservedDownload,
    ParseStatus, STEPS_VERSION, StepElement, StepsFile, TestStep, TextMatch, TextPlace, Translator,
    WaitFor,
};
use cuecard_source::detect::{FileKind, detect, version_text};
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::document::{Language, place_of, read_document};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, Reader, first_character, found};
use cuecard_source::value::fields::Field;
use cuecard_source::value::{Json, cut};
use cuecard_source::{SourceFile, Span};

/// The most steps of a file, and selectors of a step.
const MOST_STEPS: usize = 1_000;
const MOST_SELECTORS: usize = 50;

/// The most twins among which an element has a position.
const MOST_TWINS: i64 = 1_000_000;

/// The longest time of a step in milliseconds, and the most retries.
const LONGEST: u64 = 600_000;
const MOST_RETRIES: u64 = 10;

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

/// Reads steps, in JSON or YAML.
pub fn read_steps(source: &SourceFile) -> ParsedSteps {
    let document = read_document(source);
    let mut reader = Reader::new(source, &STEPS_FORMAT);
    reader.diagnostics = document.diagnostics;
    if document.language == Language::Yaml {
        reader.set_yaml(document.doubts);
    }
    let mut options = BrowserOptions::default();
    let steps = document
        .root
        .and_then(|root| file(&mut reader, &root, &mut options));
    let mut diagnostics = reader.diagnostics;
    diagnostics.sort_by_key(|diagnostic| place_of(diagnostic).start);
    ParsedSteps {
        steps: steps.filter(|_| !any_error(&diagnostics)),
        options,
        diagnostics,
    }
}

/// Where the sentence of the step at a place (from 0) stands; all of the step if it has none.
pub fn step_span(source: &SourceFile, place: usize) -> Option<Span> {
    let root = read_document(source).root?;
    let step = root.get("testSteps")?.as_array()?.get(place)?;
    Some(step.get("description").unwrap_or(step).span)
}

fn file(
    reader: &mut Reader<'_>,
    root: &Node,
    typed_options: &mut BrowserOptions,
) -> Option<StepsFile> {
    if !matches!(root.kind, NodeKind::Object(_)) {
        reader.wrong_type(root, "", "a file of steps", "an object");
        return None;
    }
    if let Some(kind) = detect(root).filter(|kind| *kind != FileKind::BrowserSteps) {
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
    let object = Object {
        node: root,
        pointer: "",
    };
    reader.unknown_keys(object, fields::STEPS_ROOT, &[], "the file");
    version(reader, object);
    let url = required(reader, object, "url", "the file");
    let steps = steps(reader, object);
    let errors: Vec<ErrorInfo> = items(reader, object, "errors")
        .into_iter()
        .filter_map(|(node, pointer)| error(reader, node, &pointer))
        .collect();
    let statuses = ParseStatus::ALL;
    let status = match reader.get(object, "status") {
        Some(_) => reader.one_of(object, "status", "`status`", statuses)?,
        // An older or shortened file says only whether it succeeded.
        None => match reader.flag(object, "success", "`success`") {
            Some(false) => ParseStatus::Partial,
            _ => ParseStatus::Success,
        },
    };
    *typed_options = options(reader, object);
    let variables = match free_object(reader, object, "variables") {
        Json::Object(members) => members,
        _ => serde_json::Map::new(),
    };
    Some(StepsFile {
        test_steps: steps?,
        status,
        errors,
        extracted_content: text(reader, object, "extractedContent"),
        execution_time_ms: whole(reader, object, "executionTimeMs", 0, u64::MAX),
        url: url?,
        observed: observed(reader, object),
        // Whether it can be used was looked at just now.
        options: reader
            .get(object, "options")
            .map_or_else(|| Json::Object(serde_json::Map::new()), Node::to_value),
        variables,
        secrets: texts(reader, object, "secrets"),
    })
}

fn version(reader: &mut Reader<'_>, object: Object<'_>) {
    let example = format!("\"version\": \"{STEPS_VERSION}\"");
    let Some(node) = reader.required(object, "version", "the file", &example) else {
        return;
    };
    let text = version_text(node);
    if text != STEPS_VERSION && text != OLDER_VERSION {
        let message = format!("unsupported version `{}`", cut(&text, 40));
        let diagnostic = reader.error(codes::BROWSER_STEPS, node.span, message);
        diagnostic.pointer = Some("/version".to_owned());
        diagnostic.help = Some(format!("supported version: `{STEPS_VERSION}`"));
    }
}

fn invalid(reader: &mut Reader<'_>, node: &Node, pointer: String, message: String) {
    let diagnostic = reader.error(codes::BROWSER_STEPS, node.span, message);
    diagnostic.pointer = Some(pointer);
}

fn required(reader: &mut Reader<'_>, object: Object<'_>, key: &str, whose: &str) -> Option<String> {
    reader.required(object, key, whose, &format!("\"{key}\": \"…\""))?;
    text(reader, object, key)
}

fn text(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Option<String> {
    reader
        .text(object, key, &format!("`{key}`"))
        .map(|(text, _)| text.to_owned())
}

fn whole(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    key: &str,
    least: u64,
    most: u64,
) -> Option<u64> {
    let node = reader.get(object, key)?;
    let number = node
        .as_u64()
        .filter(|number| (least..=most).contains(number));
    if number.is_none() {
        let upper = match most {
            u64::MAX => String::new(),
            most => format!(" to {most}"),
        };
        let message = format!(
            "`{key}` must be a whole number from {least}{upper}, not {}",
            found(node)
        );
        invalid(reader, node, object.child_pointer(key), message);
    }
    number
}

/// The items of a list that may be absent, each with its pointer.
fn items<'n>(reader: &mut Reader<'_>, object: Object<'n>, key: &str) -> Vec<(&'n Node, String)> {
    let pointer = object.child_pointer(key);
    let Some(node) = reader.get(object, key) else {
        return Vec::new();
    };
    let Some(items) = node.as_array() else {
        reader.wrong_type(node, &pointer, &format!("`{key}`"), "a list");
        return Vec::new();
    };
    items
        .iter()
        .enumerate()
        .map(|(index, item)| (item, format!("{pointer}/{index}")))
        .collect()
}

fn texts(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Vec<String> {
    let what = format!("an item of `{key}`");
    items(reader, object, key)
        .into_iter()
        .filter_map(|(node, pointer)| reader.text_of(node, &pointer, &what).map(str::to_owned))
        .collect()
}

fn free_object(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Json {
    match reader.get(object, key) {
        None => Json::Object(serde_json::Map::new()),
        Some(node) => {
            if !matches!(node.kind, NodeKind::Object(_)) {
                let pointer = object.child_pointer(key);
                reader.wrong_type(node, &pointer, &format!("`{key}`"), "an object");
            }
            node.to_value()
        }
    }
}

/// An object below another that may be absent, with its pointer.
fn below<'n>(reader: &mut Reader<'_>, object: Object<'n>, key: &str) -> Option<(&'n Node, String)> {
    let node = reader.get(object, key)?;
    let pointer = object.child_pointer(key);
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, &pointer, &format!("`{key}`"), "an object");
        return None;
    }
    Some((node, pointer))
}

fn steps(reader: &mut Reader<'_>, object: Object<'_>) -> Option<Vec<TestStep>> {
    let node = reader.required(object, "testSteps", "the file", "\"testSteps\": []")?;
    let count = node.as_array().map_or(0, <[Node]>::len);
    if count > MOST_STEPS {
        let message = format!("there are {count} steps, more than {MOST_STEPS}");
        invalid(reader, node, "/testSteps".to_owned(), message);
        return None;
    }
    let mut known: Vec<String> = Vec::new();
    let mut steps = Vec::new();
    for (node, pointer) in items(reader, object, "testSteps") {
        let Some(step) = step(reader, node, &pointer) else {
            continue;
        };
        if known.contains(&step.id) {
            let message = format!("duplicate step id `{}`", cut(&step.id, 60));
            let at = node.get("id").unwrap_or(node);
            invalid(reader, at, format!("{pointer}/id"), message);
        }
        known.push(step.id.clone());
        steps.push(step);
    }
    Some(steps)
}

fn step(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<TestStep> {
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, pointer, "a step", "an object");
        return None;
    }
    let object = Object { node, pointer };
    reader.unknown_keys(object, fields::STEP, &[], "the step");
    let id = required(reader, object, "id", "the step");
    let description = required(reader, object, "description", "the step");
    reader.required(object, "action", "the step", "\"action\": \"click\"");
    let action = reader.one_of(object, "action", "`action`", known_actions());
    let mut step = TestStep::new(id?, description?, action?);
    step.selector = text(reader, object, "selector");
    step.selectors = texts(reader, object, "selectors");
    if step.selectors.len() > MOST_SELECTORS {
        let message = format!("a step has more than {MOST_SELECTORS} selectors");
        invalid(reader, node, format!("{pointer}/selectors"), message);
    }
    // A file of the first form has one selector only.
    if let (true, Some(selector)) = (step.selectors.is_empty(), &step.selector) {
        step.selectors.push(selector.clone());
    }
    step.value = value(reader, object);
    step.url = text(reader, object, "url");
    if let Some((node, pointer)) = below(reader, object, "context") {
        let context = Object {
            node,
            pointer: &pointer,
        };
        reader.unknown_keys(context, fields::CONTEXT, &[], "`context`");
        step.dom_structure_snapshot =
            text(reader, context, "domStructureSnapshot").unwrap_or_default();
        step.full_dom_snapshot = reader.get(context, "fullDomSnapshot").map(Node::to_value);
    }
    step.fingerprint = below(reader, object, "fingerprint")
        .and_then(|(node, pointer)| fingerprint(reader, node, &pointer));
    step.translator = reader.one_of(object, "translator", "`translator`", Translator::ALL);
    step.index = whole(reader, object, "index", 0, u64::from(u32::MAX))
        .and_then(|index| u32::try_from(index).ok());
    step.to = below(reader, object, "to").map(|(node, pointer)| element(reader, node, &pointer));
    let expected = step.value.clone();
    step.assertion = below(reader, object, "assertion")
        .and_then(|(node, pointer)| assertion(reader, node, &pointer, expected));
    step.key = text(reader, object, "key");
    step.direction = reader.one_of(object, "direction", "`direction`", Direction::ALL);
    step.duration_ms = whole(reader, object, "durationMs", 1, LONGEST);
    step.tab = whole(reader, object, "tab", 0, 1_000).and_then(|tab| usize::try_from(tab).ok());
    step.timeout_ms = whole(reader, object, "timeout", 1, LONGEST);
    step.wait_for = reader.one_of(object, "waitFor", "`waitFor`", WaitFor::ALL);
    warn_network_idle(reader, object, step.wait_for);
    step.max_retries = whole(reader, object, "maxRetries", 0, MOST_RETRIES)
        .and_then(|retries| u32::try_from(retries).ok());
    step.optional = reader
        .flag(object, "optional", "`optional`")
        .unwrap_or(false);
    reader.flag(object, "isLastStep", "`isLastStep`");
    step.observed = observed(reader, object);
    complete(reader, object, &step);
    Some(step)
}

fn known_actions() -> &'static [(&'static str, ActionKind)] {
    let all = ActionKind::ALL;
    // The last is a model's word and never a step.
    &all[..all.len() - 1]
}

fn warn_network_idle(reader: &mut Reader<'_>, object: Object<'_>, wait_for: Option<WaitFor>) {
    let node = object.get("waitFor");
    if let (Some(WaitFor::NetworkIdle), Some(node)) = (wait_for, node) {
        let message =
            "a page that polls is never idle: the step waits until it is quiet, for at most 3 s";
        let diagnostic = reader.warning(codes::BROWSER_STEPS, node.span, message);
        diagnostic.pointer = Some(object.child_pointer("waitFor"));
    }
}

/// Reports what a step can't do without.
fn complete(reader: &mut Reader<'_>, object: Object<'_>, step: &TestStep) {
    let needs_assertion = step.action == ActionKind::Assert;
    let needs_target = step.action.needs_target()
        || step
            .assertion
            .as_ref()
            .is_some_and(|assertion| assertion.kind.needs_target());
    let needs_expected = step
        .assertion
        .as_ref()
        .is_some_and(|assertion| assertion.kind.needs_expected());
    for (key, is_missing) in [
        ("selector", needs_target && step.selectors.is_empty()),
        (
            "value",
            (step.action.needs_value() || needs_expected) && step.value.is_none(),
        ),
        (
            "url",
            step.action == ActionKind::Navigate && step.url.is_none(),
        ),
        (
            "key",
            step.action == ActionKind::Press && step.key.is_none(),
        ),
        ("assertion", needs_assertion && step.assertion.is_none()),
        ("to", step.action == ActionKind::Drag && step.to.is_none()),
    ] {
        if is_missing && reader.get(object, key).is_none() {
            let whose = format!("a step that does `{}`", step.action.as_str());
            reader.required(object, key, &whose, &format!("\"{key}\": …"));
        }
    }
}

/// The second element of a step.
fn element(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> StepElement {
    let object = Object { node, pointer };
    reader.unknown_keys(object, fields::ELEMENT, &[], "the element");
    reader.required(object, "selectors", "the element", "\"selectors\": [\"…\"]");
    StepElement {
        selectors: texts(reader, object, "selectors"),
        fingerprint: below(reader, object, "fingerprint")
            .and_then(|(node, pointer)| fingerprint(reader, node, &pointer)),
        index: whole(reader, object, "index", 0, u64::from(u32::MAX))
            .and_then(|index| u32::try_from(index).ok()),
    }
}

/// A text, a number or a boolean.
fn value(reader: &mut Reader<'_>, object: Object<'_>) -> Option<Json> {
    let node = reader.get(object, "value")?;
    match node.kind {
        NodeKind::String(_) | NodeKind::Number(_) | NodeKind::Bool(_) => Some(node.to_value()),
        _ => {
            let pointer = object.child_pointer("value");
            reader.wrong_type(node, &pointer, "`value`", "a text, a number or a boolean");
            None
        }
    }
}

fn assertion(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    expected: Option<Json>,
) -> Option<BrowserAssertion> {
    let object = Object { node, pointer };
    reader.unknown_keys(object, fields::ASSERTION, &[], "`assertion`");
    reader.required(object, "kind", "the assertion", "\"kind\": \"visible\"");
    let kind = reader.one_of(object, "kind", "`kind`", AssertKind::ALL)?;
    let mut assertion = BrowserAssertion::new(kind);
    assertion.expected = expected.filter(|_| kind.needs_expected());
    assertion.negate = reader.flag(object, "negate", "`negate`").unwrap_or(false);
    if let Some(matching) = reader.one_of(object, "match", "`match`", TextMatch::ALL) {
        assertion.matching = matching;
    }
    if let Some(compare) = reader.one_of(object, "compare", "`compare`", Compare::ALL) {
        assertion.compare = compare;
    }
    assertion.case_sensitive = reader
        .flag(object, "caseSensitive", "`caseSensitive`")
        .unwrap_or(false);
    Some(assertion)
}

fn fingerprint(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Fingerprint> {
    let object = Object { node, pointer };
    reader.unknown_keys(object, fields::FINGERPRINT, &[], "the fingerprint");
    let tag = required(reader, object, "tag", "the fingerprint");
    let outline = match object.get("within") {
        // As version 1 has it: its siblings are not known.
        Some(_) => objects(reader, object, "within", fields::CONTAINER, container),
        None => objects(reader, object, "outline", fields::CONTAINER, container),
    };
    let of = whole(reader, object, "of", 1, 1_000_000);
    let is_alone = reader.flag(object, "alone", "`alone`");
    let mut known = Fingerprint {
        role: text(reader, object, "role").unwrap_or_default(),
        name: text(reader, object, "name").unwrap_or_default(),
        text: text(reader, object, "text"),
        tag: tag?,
        input_type: text(reader, object, "inputType"),
        test_id: text(reader, object, "testId"),
        is_container: !outline.is_empty()
            && reader
                .flag(object, "isContainer", "`isContainer`")
                .unwrap_or(false),
        outline,
        siblings: object
            .get("siblings")
            .is_some()
            .then(|| texts(reader, object, "siblings")),
        alone: is_alone.unwrap_or(of.is_none_or(|of| of == 1)),
        position: position(reader, object),
        column: text(reader, object, "column"),
    };
    for entry in texts(reader, object, "path") {
        let Some((role, title)) = entry.split_once(" \"") else {
            continue;
        };
        let part = Container {
            kind: ContainerKind::of_role(role),
            text: Some(title.trim_end_matches('"').to_owned()),
            made: Some(role.to_owned()),
            ..Container::default()
        };
        let is_known = known.outline.iter().any(|one| one.text == part.text);
        if !part.kind.is_item() && !is_known {
            known.outline.push(part);
        }
    }
    if known.called().is_empty() && known.outline.first().is_some_and(|one| one.kind.is_item()) {
        known.column = known.column.or_else(|| text(reader, object, "near"));
    }
    Some(known)
}

/// Which of its twins an element is: from 1, or from -1 backwards.
fn position(reader: &mut Reader<'_>, object: Object<'_>) -> Option<i32> {
    let node = reader.get(object, "position")?;
    let number = node
        .to_value()
        .as_i64()
        .filter(|number| (1..=MOST_TWINS).contains(&number.abs()));
    if number.is_none() {
        let message = format!(
            "`position` must be a positive or negative integer, not {}",
            found(node)
        );
        invalid(reader, node, object.child_pointer("position"), message);
    }
    number.and_then(|number| i32::try_from(number).ok())
}

fn container(reader: &mut Reader<'_>, object: Object<'_>) -> Option<Container> {
    if object.get("kind").is_none() {
        required(reader, object, "kind", "the container");
    }
    Some(Container {
        kind: reader.one_of(object, "kind", "`kind`", ContainerKind::ALL)?,
        text: text(reader, object, "text"),
        at: reader
            .one_of(object, "at", "`at`", TextPlace::ALL)
            .unwrap_or_default(),
        column: text(reader, object, "column"),
        made: text(reader, object, "made"),
        nodes: whole(reader, object, "nodes", 1, 1_000_000)
            .and_then(|nodes| u32::try_from(nodes).ok()),
    })
}

/// What was seen, of a step or of the file.
fn observed(reader: &mut Reader<'_>, around: Object<'_>) -> Observed {
    let Some((node, pointer)) = below(reader, around, "observed") else {
        return Observed::default();
    };
    let object = Object {
        node,
        pointer: &pointer,
    };
    reader.unknown_keys(object, fields::OBSERVED, &[], "`observed`");
    Observed {
        url: text(reader, object, "url"),
        title: text(reader, object, "title"),
        settle: text(reader, object, "settle"),
        extracted_content: text(reader, object, "extractedContent"),
        cut: text(reader, object, "cut"),
        dialogs: objects(
            reader,
            object,
            "dialogs",
            fields::DIALOG,
            |reader, object| {
                Some(ObservedDialog {
                    kind: required(reader, object, "kind", "the dialog")?,
                    message: text(reader, object, "message").unwrap_or_default(),
                    accepted: reader
                        .flag(object, "accepted", "`accepted`")
                        .unwrap_or(false),
                    default_value: text(reader, object, "defaultValue"),
                })
            },
        ),
        downloads: objects(
            reader,
            object,
            "downloads",
            fields::DOWNLOAD,
            |reader, object| {
                Some(ObservedDownload {
                    name: required(reader, object, "name", "the download")?,
                    size: whole(reader, object, "size", 0, u64::MAX).unwrap_or(0),
                    sha256: text(reader, object, "sha256").unwrap_or_default(),
                })
            },
        ),
        warnings: texts(reader, object, "warnings"),
    }
}

/// The objects of a list that may be absent.
fn objects<T>(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    key: &str,
    known: &'static [Field],
    read: impl Fn(&mut Reader<'_>, Object<'_>) -> Option<T>,
) -> Vec<T> {
    let whose = format!("an item of `{key}`");
    items(reader, object, key)
        .into_iter()
        .filter_map(|(node, pointer)| {
            if !matches!(node.kind, NodeKind::Object(_)) {
                reader.wrong_type(node, &pointer, &whose, "an object");
                return None;
            }
            let object = Object {
                node,
                pointer: &pointer,
            };
            reader.unknown_keys(object, known, &[], &whose);
            read(reader, object)
        })
        .collect()
}

fn error(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<ErrorInfo> {
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, pointer, "an error", "an object");
        return None;
    }
    let object = Object { node, pointer };
    reader.unknown_keys(object, fields::ERROR, &[], "the error");
    let severities = &[("error", false), ("warning", true)];
    Some(ErrorInfo {
        step_id: text(reader, object, "stepId"),
        message: required(reader, object, "message", "the error")?,
        action: text(reader, object, "action"),
        playwright_action: text(reader, object, "playwrightAction"),
        llm_error: text(reader, object, "llmError"),
        selector: text(reader, object, "selector"),
        stack: text(reader, object, "stack"),
        code: text(reader, object, "code").unwrap_or_default(),
        candidates: texts(reader, object, "candidates"),
        help: text(reader, object, "help"),
        is_warning: reader
            .one_of(object, "severity", "`severity`", severities)
            .unwrap_or(false),
    })
}
