//! Reads a whole file.

use std::collections::HashMap;

use super::fields;
use super::legacy;
use super::reader::{Object, Reader};
use super::step::{DEFAULT_NAME, ReadStep, step};
use super::template::{holds_reference, is_name};
use crate::model::{Step, ToolCallScenario, Variable};
use cuecard_source::detect::{FileKind, detect, kind_of, version_text};
use cuecard_source::diagnostic::{Diagnostic, Severity, any_error, codes};
use cuecard_source::document::Language;
use cuecard_source::document::{is_blank, json_diagnostic};
use cuecard_source::json::{self, JsonError, JsonErrorKind, Limits, Node, NodeKind};
use cuecard_source::value::{Json, cut, pointer_steps, push_pointer};
use cuecard_source::{SourceFile, Span};

/// A scenario has at most this many steps.
const MAX_STEPS: usize = 1_000_000;

/// What reading gave: the scenario if no error was found, and everything there is to say.
#[derive(Debug)]
pub struct Reading {
    /// The scenario; absent if any finding is an error.
    pub scenario: Option<ToolCallScenario>,
    /// What could be read all the same, if so: for checks that find more in the same pass.
    pub partial: Option<Partial>,
    /// All findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The same scenario as version 2.1, if the file is one of an older version or a loose spelling of it.
    pub converted: Option<String>,
}

/// A scenario with errors.
#[derive(Debug)]
pub struct Partial {
    /// As far as it could be read.
    pub scenario: ToolCallScenario,
    /// The names of which nothing can be said: those of steps with errors, which may lack outputs, or be left out.
    pub unreliable_names: Vec<String>,
}

/// Reads a tool-call scenario. References are read but not resolved: see [`super::check_references`].
///
/// A scenario of version 1.x is converted first and then read, so that it means what its conversion means; what is
/// said about it is said about the text as it was written.
pub fn read(source: &SourceFile) -> Reading {
    let mut reader = Reader::new(source, &super::FORMAT);
    let Some(root) = parse(&mut reader) else {
        if let Some(kind) = kind_of_other_text(source) {
            reader.diagnostics.clear();
            refuse(&mut reader, Span::new(0, 1), kind);
        } else if is_other_text(source) {
            reader.diagnostics.clear();
            let message =
                "this is not a file of Cuecard: it is neither JSON nor YAML that it knows";
            reader.error(codes::FILE_KIND, Span::new(0, 1), message).help =
                Some("scenarios are JSON, timelines and test cases are YAML; `cuecard schema` lists the formats".to_owned());
        }
        return done(None, reader.diagnostics, None);
    };
    let edits = legacy::edits(&mut reader, &root);
    if edits.is_empty() {
        let scenario = scenario(&mut reader, &root);
        return done(scenario, reader.diagnostics, None);
    }
    let mut diagnostics = reader.diagnostics;
    let converted = source.edited(edits);
    let mut reader = Reader::new(&converted, &super::FORMAT);
    let tree = parse(&mut reader);
    if tree.is_some() {
        // What is doubtful about the text itself was said about the original.
        reader.diagnostics.clear();
    }
    let scenario = tree.and_then(|root| scenario(&mut reader, &root));
    diagnostics.extend(reader.diagnostics.into_iter().map(|mut diagnostic| {
        diagnostic.pointer = diagnostic
            .pointer
            .map(|pointer| known_part(&root, &pointer));
        diagnostic
    }));
    done(scenario, diagnostics, Some(converted.text().to_owned()))
}

/// The tree of the text, if it has no errors.
fn parse(reader: &mut Reader<'_>) -> Option<Node> {
    let parsed = json::parse(reader.source.text(), &Limits::default());
    for error in &parsed.errors {
        report(reader, error);
    }
    parsed.root.filter(|_| !any_error(&reader.diagnostics))
}

/// The pointer, up to where the tree goes: what a conversion made can't be pointed at.
fn known_part(root: &Node, pointer: &str) -> String {
    let mut known = String::new();
    let mut node = root;
    for step in pointer_steps(pointer) {
        let Some(next) = node.part(&step) else { break };
        push_pointer(&mut known, &step);
        node = next;
    }
    known
}

fn done(
    scenario: Option<ToolCallScenario>,
    mut diagnostics: Vec<Diagnostic>,
    converted: Option<String>,
) -> Reading {
    diagnostics.sort_by_key(|diagnostic| {
        diagnostic
            .place
            .as_ref()
            .map_or(0, |place| place.span.start)
    });
    let (scenario, partial) = match any_error(&diagnostics) {
        false => (scenario, None),
        true => (
            None,
            scenario.and_then(|scenario| partial(scenario, &diagnostics)),
        ),
    };
    Reading {
        scenario,
        partial,
        diagnostics,
        converted,
    }
}

/// What is left of a scenario with these findings, unless names may have been lost that nothing tells.
fn partial(scenario: ToolCallScenario, diagnostics: &[Diagnostic]) -> Option<Partial> {
    let root = json::parse(scenario.source.text(), &Limits::default()).root?;
    let steps = root.get("steps")?.as_array()?;
    let variables = root.get("variables").map(|node| node.span);
    let mut unreliable_names = Vec::new();
    for error in diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
    {
        let place = error.place.as_ref()?;
        let holds = |span: Span| (span.start..span.end).contains(&place.span.start);
        let is_elsewhere = !std::ptr::eq(place.source.text(), scenario.source.text());
        if is_elsewhere || variables.is_some_and(holds) {
            return None;
        }
        // They stand in order, and there may be many.
        let at = steps.partition_point(|step| step.span.end <= place.span.start);
        let step = steps.get(at).filter(|step| holds(step.span));
        let text = |key: &str| step.and_then(|step| step.get(key)?.as_str());
        unreliable_names.extend(text("id").map(str::to_owned));
        if step.is_some_and(|step| step.get("for_each").is_some()) {
            let name = text("as").unwrap_or(DEFAULT_NAME);
            unreliable_names.extend([name.to_owned(), format!("{name}_index")]);
        }
    }
    Some(Partial {
        scenario,
        unreliable_names,
    })
}

fn report(reader: &mut Reader<'_>, error: &JsonError) {
    let mut diagnostic = json_diagnostic(reader.source, error);
    if error.kind == JsonErrorKind::Empty && is_blank(reader.source.text()) {
        diagnostic.help = Some(SHAPE.to_owned());
    }
    reader.diagnostics.push(diagnostic);
}

const SHAPE: &str = "a scenario is an object with \"version\": \"2.1\", \"metadata\" and \"steps\"";

fn scenario(reader: &mut Reader<'_>, root: &Node) -> Option<ToolCallScenario> {
    let object = Object {
        node: root,
        pointer: "",
    };
    if !matches!(root.kind, NodeKind::Object(_)) {
        reader.wrong_type(root, "", "a scenario", "an object");
        return None;
    }
    if !is_tool_call(reader, root) {
        return None;
    }
    reader.unknown_keys(object, fields::ROOT, &[], "the scenario");
    version(reader, object);
    let (name, metadata) = metadata(reader, object);
    let variables = variables(reader, object);
    let environment = reader.get(object, "environment");
    if let Some(node) = environment {
        if matches!(node.kind, NodeKind::Object(_)) {
            let below = Object {
                node,
                pointer: "/environment",
            };
            reader.near_misses(below, fields::ENVIRONMENT);
        } else {
            reader.wrong_type(node, "/environment", "`environment`", "an object");
        }
    }
    let answers = super::answers::answers(reader, object);
    let steps = steps(reader, object);
    for variable in &variables {
        if steps
            .iter()
            .any(|step| step.id.as_deref() == Some(&variable.name))
        {
            let message = format!("`{}` is both a variable and a step id", variable.name);
            reader.warning(codes::ID_DUPLICATE, variable.span, message).help =
                Some("rename one of them: a reference with a dot refers to the step, one without a dot to the variable".to_owned());
        }
    }
    hidden_names(reader, &variables, &steps);
    Some(ToolCallScenario {
        source: reader.source.clone(),
        name,
        metadata,
        environment: environment.map_or(Json::Null, Node::to_value),
        environment_span: environment.map(|node| node.span),
        variables,
        answers,
        steps,
    })
}

/// An element must not have the name of something else: nobody could tell which of them a reference is about.
fn hidden_names(reader: &mut Reader<'_>, variables: &[Variable], steps: &[Step]) {
    for for_each in steps.iter().filter_map(|step| step.for_each.as_deref()) {
        for name in for_each.names() {
            let what = match name.as_str() {
                name if variables.iter().any(|it| it.name == name) => "a variable",
                name if steps.iter().any(|it| it.id.as_deref() == Some(name)) => "the id of a step",
                _ => continue,
            };
            let message = format!("`{name}` of this `for_each` is also {what}");
            reader
                .error(codes::ID_DUPLICATE, for_each.name_span, message)
                .help = Some("give the element another name with `as`".to_owned());
        }
    }
}

/// Whether the file is a tool-call scenario of this version; if not, says what it is.
fn is_tool_call(reader: &mut Reader<'_>, root: &Node) -> bool {
    let at = Span::new(root.span.start as usize, root.span.start as usize + 1);
    match detect(root) {
        Some(FileKind::ToolCall | FileKind::ToolCallLegacy) => true,
        None => {
            let says_so = root.get("metadata").is_some()
                || root
                    .get("version")
                    .is_some_and(|node| version_text(node).starts_with('2'));
            if !says_so {
                reader
                    .error(
                        codes::FILE_KIND,
                        at,
                        "this is not a scenario: it has neither `steps` nor `metadata`",
                    )
                    .help = Some(SHAPE.to_owned());
            }
            says_so
        }
        Some(kind) => {
            refuse(reader, at, kind);
            false
        }
    }
}

/// What a text is that is no JSON value, as every tool-call scenario is.
fn kind_of_other_text(source: &SourceFile) -> Option<FileKind> {
    let is_json = Language::of(source) == Language::Json;
    // These are JSON Lines.
    let has_lines = |kind: &FileKind| {
        matches!(
            kind,
            FileKind::Cassette | FileKind::Trace | FileKind::Session
        )
    };
    kind_of(source).filter(|kind| !is_json || has_lines(kind))
}

/// Whether neither the name nor the beginning of a text lets one expect JSON.
fn is_other_text(source: &SourceFile) -> bool {
    Language::of(source) == Language::Yaml && !source.text().trim().is_empty()
}

/// Says that the file is of another kind, and what to do with that.
fn refuse(reader: &mut Reader<'_>, at: Span, kind: FileKind) {
    let message = match kind {
        FileKind::ToolCall | FileKind::ToolCallLegacy => {
            "tool-call scenarios must be JSON, and this file is YAML".to_owned()
        }
        _ => format!("this is {}, not a tool-call scenario", kind.description()),
    };
    reader.error(codes::FILE_KIND, at, message).help = Some(
        match kind {
            FileKind::Config => "pass it with --config",
            FileKind::TestCase => "run it with `cuecard test FILE`",
            FileKind::ReplayBundle | FileKind::Trace => {
                "write a test case that refers to it, and run `cuecard test TESTCASE`"
            }
            FileKind::ToolCall | FileKind::ToolCallLegacy => "write it as JSON",
            FileKind::Browser => "turn it into steps with `cuecard parse FILE`, and play those",
            FileKind::BrowserSteps => "play it with `cuecard play FILE`",
            FileKind::HealPatch => {
                "pass the steps file instead: `--heal accept` applies the patch to it"
            }
            FileKind::Cassette => {
                "serve it with `cuecard serve mcp FILE`, or compare its server with `cuecard verify FILE`"
            }
            FileKind::Timeline => "play it with `cuecard run FILE`, or serve it with `cuecard serve`",
            FileKind::Session => "make a scenario of it with `cuecard record transcript FILE`",
        }
        .to_owned(),
    );
}

fn version(reader: &mut Reader<'_>, object: Object<'_>) {
    let Some(node) = reader.required(object, "version", "the scenario", "\"version\": \"2.1\"")
    else {
        return;
    };
    let text = version_text(node);
    match text.as_str() {
        "2.1" => {}
        "" => reader.wrong_type(node, "/version", "`version`", "the string \"2.1\""),
        _ => {
            let diagnostic = reader.error(
                codes::VERSION,
                node.span,
                format!("unsupported version `{}`", cut(&text, 40)),
            );
            diagnostic.pointer = Some("/version".to_owned());
            diagnostic.help = Some("supported versions: \"2.1\"".to_owned());
        }
    }
}

fn metadata(reader: &mut Reader<'_>, object: Object<'_>) -> (String, Json) {
    let Some(node) = reader.required(
        object,
        "metadata",
        "the scenario",
        "\"metadata\": { \"name\": \"…\" }",
    ) else {
        return (String::new(), Json::Null);
    };
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, "/metadata", "`metadata`", "an object");
        return (String::new(), Json::Null);
    }
    let below = Object {
        node,
        pointer: "/metadata",
    };
    reader.near_misses(below, fields::METADATA);
    reader.required(
        below,
        "name",
        "`metadata`",
        "a human-readable \"name\": \"…\"",
    );
    let name = reader
        .text(below, "name", "`metadata.name`")
        .map(|(text, _)| text.to_owned());
    (name.unwrap_or_default(), node.to_value())
}

fn variables(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<Variable> {
    let Some(node) = reader.get(object, "variables") else {
        return Vec::new();
    };
    let NodeKind::Object(members) = &node.kind else {
        reader.wrong_type(
            node,
            "/variables",
            "`variables`",
            "an object of names and defaults",
        );
        return Vec::new();
    };
    let names = members.iter().map(|member| member.key.as_str());
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    for member in members {
        let text = member.value.to_value().to_string();
        if let Some(name) = names.iter().find(|name| refers_to(&text, name)) {
            let help = format!(
                "write `{{{{{name}}}}}` where `{}` is used",
                cut(&member.key, 100)
            );
            let what = "the default of a variable";
            holds_reference(reader, &member.value, "/variables", what, &help);
        }
    }
    members
        .iter()
        .map(|member| {
            if member.key.is_empty() || !member.key.chars().all(is_name) {
                let message = match member.key.is_empty() {
                    true => "the variable's name is empty".to_owned(),
                    false => format!("`{}` is not a valid variable name", cut(&member.key, 100)),
                };
                let diagnostic = reader.error(codes::ID_INVALID, member.key_span, message);
                diagnostic.help = Some("use letters, digits, `_` and `-`".to_owned());
            }
            Variable {
                name: member.key.clone(),
                default: member.value.to_value(),
                span: member.key_span,
            }
        })
        .collect()
}

/// Whether a text refers to this variable. Other double braces are those of a template.
fn refers_to(text: &str, name: &str) -> bool {
    text.split("{{").skip(1).any(|inside| {
        let rest = inside.trim_start().strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(is_name))
    })
}

fn steps(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<Step> {
    let Some(node) = reader.required(object, "steps", "the scenario", "\"steps\": [ … ]") else {
        return Vec::new();
    };
    let NodeKind::Array(items) = &node.kind else {
        reader.wrong_type(node, "/steps", "`steps`", "an array");
        return Vec::new();
    };
    if items.is_empty() || items.len() > MAX_STEPS {
        let message = if items.is_empty() {
            "the scenario has no steps".to_owned()
        } else {
            format!(
                "the scenario has {} steps, more than the limit of {MAX_STEPS}",
                items.len()
            )
        };
        reader.error(codes::STEP_NONE, node.span, message);
        return Vec::new();
    }
    let mut steps: Vec<ReadStep> = Vec::with_capacity(items.len());
    steps.extend(
        items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| step(reader, item, &format!("/steps/{index}"))),
    );
    order(reader, &mut steps);
    ids(reader, &steps);
    super::group::groups(reader, &steps);
    steps.into_iter().map(|read| read.step).collect()
}

/// Sorts by number and says what is equal or out of order.
fn order(reader: &mut Reader<'_>, steps: &mut [ReadStep]) {
    for pair in 1..steps.len() {
        let (before, after) = (&steps[pair - 1].step, &steps[pair].step);
        if after.number < before.number {
            let message = format!(
                "step {} comes after step {} in the file",
                after.number, before.number
            );
            reader
                .warning(codes::STEP_ORDER, steps[pair].number_span, message)
                .help =
                Some("steps are played in the order of their numbers, not of the file".to_owned());
        }
    }
    steps.sort_by_key(|read| read.step.number);
    for pair in 1..steps.len() {
        let number = steps[pair].step.number;
        if number == steps[pair - 1].step.number {
            let note = the_other_one(reader, steps[pair - 1].number_span);
            let diagnostic = reader.error(
                codes::STEP_DUPLICATE,
                steps[pair].number_span,
                format!("duplicate step number {number}"),
            );
            diagnostic.notes.push(note);
            diagnostic.help = Some("give every step a unique number".to_owned());
        }
    }
}

fn ids(reader: &mut Reader<'_>, steps: &[ReadStep]) {
    let mut seen: HashMap<&str, (u64, Span)> = HashMap::new();
    for read in steps {
        let number = read.step.number;
        let (Some(id), Some(span)) = (read.step.id.as_deref(), read.id_span) else {
            continue;
        };
        if let Some((first, first_span)) = seen.insert(id, (number, span)) {
            let note = the_other_one(reader, first_span);
            let diagnostic = reader.error(
                codes::ID_DUPLICATE,
                span,
                format!(
                    "duplicate id `{}` in steps {first} and {number}",
                    cut(id, 100)
                ),
            );
            diagnostic.notes.push(note);
            diagnostic.help = Some("give every step a unique id: references use it".to_owned());
        }
    }
}

fn the_other_one(reader: &Reader<'_>, span: Span) -> String {
    let line = reader.source.position(span.start).line;
    format!("the other one is on line {line}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_source::diagnostic::{Code, Severity};

    fn findings(text: &str) -> Vec<Diagnostic> {
        read(&SourceFile::new("scenario.json", text)).diagnostics
    }

    /// Reads a scenario with this one step and gives what is wrong with it: code, message, marked text.
    fn step_findings(step: &str) -> Vec<(Code, String, String)> {
        let text =
            format!(r#"{{"version": "2.1", "metadata": {{"name": "x"}}, "steps": [{step}]}}"#);
        findings(&text).iter().map(finding).collect()
    }

    fn finding(diagnostic: &Diagnostic) -> (Code, String, String) {
        let place = diagnostic.place.as_ref().expect("a place");
        (
            diagnostic.code,
            diagnostic.message.clone(),
            place.source.slice(place.span).to_owned(),
        )
    }

    #[test]
    fn a_byte_order_mark_is_a_warning_and_places_stay_right() {
        let text = "\u{feff}{\"version\": \"2.1\", \"metadata\": {\"name\": \"x\"}, \"steps\": [{\"step\": 1, \"tool\": \"sandy__log\", \"params\": {\"message\": \"{{A}}\"}}]}";
        let reading = read(&SourceFile::new("scenario.json", text));
        let scenario = reading.scenario.expect("it is read");
        assert_eq!(reading.diagnostics.len(), 1);
        assert_eq!(reading.diagnostics[0].severity, Severity::Warning);
        assert_eq!(
            scenario.source.slice(scenario.steps[0].tool_span),
            "\"sandy__log\""
        );
        let broken = findings("\u{feff}{\"version\": }");
        assert_eq!(broken.len(), 2, "{broken:?}");
        assert!(any_error(&broken));
    }

    #[test]
    fn an_empty_file_is_called_empty() {
        for text in ["", " \n", "\u{feff}\n"] {
            let found = findings(text);
            let error = found.last().expect("an error");
            assert_eq!(error.message, "the file is empty", "{text:?}");
        }
    }

    #[test]
    fn a_file_that_is_no_scenario_gives_one_error() {
        for (text, message) in [
            (
                r#"{"name": "shop", "version": "1.0.0", "scripts": {}}"#,
                "this is not a scenario: it has neither `steps` nor `metadata`",
            ),
            (
                "{}",
                "this is not a scenario: it has neither `steps` nor `metadata`",
            ),
            (
                r#"{"mcpServers": {}}"#,
                "this is an MCP config, not a tool-call scenario",
            ),
        ] {
            let found = findings(text);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].code, codes::FILE_KIND);
            assert_eq!(found[0].message, message);
            assert!(found[0].help.is_some());
        }
        let started = findings(r#"{"version": "2.1"}"#);
        assert_eq!(started.len(), 2, "{started:?}");
    }

    #[test]
    fn a_duplicate_id_is_marked_where_it_stands() {
        let found = findings(
            "{\"version\": \"2.1\", \"metadata\": {\"name\": \"x\"}, \"steps\": [\n{\"step\": 1, \"id\": \"a\", \"tool\": \"mcp__s__t\", \"params\": {}},\n{\"step\": 2, \"id\":  \"a\", \"tool\": \"mcp__s__t\", \"params\": {}}]}",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].code, codes::ID_DUPLICATE);
        assert_eq!(found[0].notes, ["the other one is on line 2"]);
        let place = found[0].place.as_ref().expect("a place");
        assert_eq!(place.source.slice(place.span), "\"a\"");
        assert_eq!(place.source.position(place.span.start).line, 3);
    }

    #[test]
    fn a_mistyped_key_is_one_finding() {
        let found = step_findings(r#"{"step": 1, "tol": "mcp__s__t", "params": {}}"#);
        assert_eq!(
            found,
            [(
                codes::FIELD_MISSING,
                "this step has no `tool`".to_owned(),
                "\"tol\"".to_owned()
            )]
        );
        let two = step_findings(r#"{"step": 1, "tol": "x", "toool": "y", "params": {}}"#);
        let codes_found: Vec<Code> = two.iter().map(|(code, ..)| *code).collect();
        assert_eq!(codes_found, [codes::FIELD_MISSING, codes::FIELD_UNKNOWN]);
        let param =
            step_findings(r#"{"step": 1, "tool": "sandy__log", "params": {"mesage": "hi"}}"#);
        assert_eq!(param.len(), 1, "{param:?}");
        assert_eq!(param[0].0, codes::PARAM_UNKNOWN);
        let name = findings(
            r#"{"version": "2.1", "metadata": {"nam": "x"}, "steps": [{"step": 1, "tool": "mcp__s__t", "params": {}}]}"#,
        );
        assert_eq!(name.len(), 1, "{name:?}");
        assert_eq!(name[0].label.as_deref(), Some("did you mean `name`?"));
    }

    #[test]
    fn values_that_do_not_fit_are_shown() {
        for (step, message) in [
            (
                r#"{"step": -1, "tool": "mcp__s__t", "params": {}}"#,
                "`step` must be a non-negative integer, not -1",
            ),
            (
                r#"{"step": 1, "tool": "sandy__wait", "params": {"duration": -2}}"#,
                "`duration` of sandy__wait must be a non-negative number, not -2",
            ),
            (
                r#"{"step": 1, "tool": "claude__read", "params": {"file_path": "x", "limit": 1.5}}"#,
                "`limit` of claude__read must be a non-negative integer, not 1.5",
            ),
            (
                r#"{"step": 1, "tool": "mcp__s__t", "params": {}, "on_error": "retry", "retry": {"delay": -1}}"#,
                "`retry.delay` must be a non-negative number, not -1",
            ),
            (
                r#"{"step": 1, "tool": "mcp__s__t", "params": {}, "on_error": "retry", "retry": {"then": "go"}}"#,
                "`retry.then` is `stop` or `skip`, not `go`",
            ),
            (
                r#"{"step": 1, "id": "", "tool": "mcp__s__t", "params": {}}"#,
                "the id is empty",
            ),
            (
                r#"{"step": 1, "tool": "", "params": {}}"#,
                "the tool's name is empty",
            ),
            (
                r#"{"step": 1, "tool": "claude__notebook_edit", "params": {"notebook_path": "n", "new_source": "", "edit_mode": "insert"}}"#,
                "claude__notebook_edit: `edit_mode` \"insert\" needs `cell_type`",
            ),
        ] {
            let found = step_findings(step);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].1, message);
        }
    }

    #[test]
    fn what_stands_in_the_place_of_a_secret_is_no_value() {
        let found = step_findings(
            r#"{"step": 1, "tool": "claude__bash", "params": {"command": "mysql -p[redacted] -e 1 [redacted]", "expect_exit": 0}}"#,
        );
        let text = "a parameter contains `[redacted]`, which stands where a secret was";
        assert_eq!(
            found,
            [(codes::FIELD_VALUE, text.to_owned(), "[redacted]".to_owned())]
        );
    }

    #[test]
    fn a_step_with_a_tool_and_an_action_calls_the_tool() {
        let found =
            step_findings(r#"{"step": 1, "tool": "mcp__s__t", "action": "click", "params": {}}"#);
        assert_eq!(
            found,
            [(
                codes::FIELD_UNKNOWN,
                "`action` belongs to version 1.x of the format and is ignored".to_owned(),
                "\"action\"".to_owned()
            )]
        );
    }

    #[test]
    fn a_version_names_the_type_it_was_written_in() {
        let message = |version: &str| {
            findings(&format!(r#"{{"version": {version}, "metadata": {{"name": "x"}}, "steps": [{{"step": 1, "tool": "mcp__s__t", "params": {{}}}}]}}"#))[0].message.clone()
        };
        assert_eq!(message("2.1"), "the number 2.1 is read as the text \"2.1\"");
        assert_eq!(message("\"2.0\""), "version \"2.0\" is read as \"2.1\"");
    }
}
