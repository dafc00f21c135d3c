//! Reads a whole file.

use std::borrow::Cow;
use std::collections::HashMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Map;

use super::check::check_name;
use super::legacy;
use super::pieces::{DEFAULT_NAME, Version};
use super::reader::Reader;
use super::template::{holds_reference, is_name};
use crate::model::{Answers, Step, ToolCallScenario, Variable};
use cuecard_source::decode::{Spanned, entries, items};
use cuecard_source::detect::{FileKind, detect, kind_of, version_text};
use cuecard_source::diagnostic::{Diagnostic, Severity, any_error, codes};
use cuecard_source::document::{Language, is_blank, place_of};
use cuecard_source::json::{self, Limits, Node, NodeKind};
use cuecard_source::value::{Json, cut, pointer_steps, push_pointer};
use cuecard_source::{Mistake, MistakeKind, SourceFile, Span};

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
    let converted = legacy::convert(&mut reader, &root);
    let modern = converted
        .as_ref()
        .map_or(&root, |converted| &converted.root);
    let scenario = scenario(&mut reader, modern);
    if converted.is_some() {
        for found in &mut reader.diagnostics {
            let pointer = found.pointer.take();
            found.pointer = pointer.map(|pointer| known_part(&root, &pointer));
        }
    }
    done(
        scenario,
        reader.diagnostics,
        converted.map(|converted| converted.text),
    )
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
    diagnostics.sort_by_key(|found| place_of(found).start);
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

fn report(reader: &mut Reader<'_>, error: &Mistake) {
    let mut diagnostic = error.diagnostic(reader.source, Language::Json);
    if error.kind == MistakeKind::Empty && is_blank(reader.source.text()) {
        diagnostic.help = Some(SHAPE.to_owned());
    }
    reader.diagnostics.push(diagnostic);
}

const SHAPE: &str = "a scenario is an object with \"version\": \"2.1\", \"metadata\" and \"steps\"";

/// A scenario as its file has it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ScenarioFile {
    /// Version of the format: "2.1".
    #[allow(dead_code, reason = "reading it is the check")]
    version: Version,
    /// Who made the scenario and what for.
    metadata: Metadata,
    /// Variables with their defaults; an empty string means that a value is required.
    #[serde(default, deserialize_with = "entries")]
    #[schemars(with = "Map<String, Json>")]
    variables: Vec<(Spanned<String>, Json)>,
    /// What the scenario was recorded with.
    #[allow(dead_code, reason = "it is kept as it is written")]
    environment: Option<Environment>,
    /// What to answer when a server asks something during a call.
    #[serde(default)]
    answers: Answers,
    /// The steps, played in the order of their numbers.
    #[serde(deserialize_with = "items")]
    #[schemars(length(min = 1))]
    steps: Vec<Step>,
}

/// Who made the scenario and what for. It is kept as it is written.
#[derive(Deserialize, JsonSchema)]
#[allow(
    dead_code,
    reason = "the keys are named for the schema and for misspelt ones"
)]
struct Metadata {
    /// Name of the scenario.
    #[serde(alias = "~")]
    name: String,
    /// What it does.
    description: Remark,
    /// When it was made (ISO 8601).
    created_at: Remark,
    /// Who or what made it.
    created_by: Remark,
    /// The main page of a browser scenario.
    target_url: Remark,
    /// What the user had asked for.
    instruction: Remark,
}

/// What the scenario was recorded with. It is kept as it is written.
#[derive(Deserialize, JsonSchema)]
#[allow(
    dead_code,
    reason = "the keys are named for the schema and for misspelt ones"
)]
struct Environment {
    /// The MCP server it was recorded with.
    #[serde(alias = "~")]
    mcp: Remark,
    /// Width and height of the browser's page.
    #[schemars(with = "Option<Map<String, Json>>")]
    viewport: Remark,
    /// When it was recorded (ISO 8601).
    recorded_at: Remark,
}

/// A text that nothing reads, so it may be anything.
type Remark = Option<Anything>;

#[derive(Deserialize)]
struct Anything(#[allow(dead_code, reason = "nothing reads it")] IgnoredAny);

impl JsonSchema for Anything {
    fn schema_name() -> Cow<'static, str> {
        "Anything".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

fn scenario(reader: &mut Reader<'_>, root: &Node) -> Option<ToolCallScenario> {
    if matches!(root.kind, NodeKind::Object(_)) && !is_tool_call(reader, root) {
        return None;
    }
    let decoded = reader.decoded::<ScenarioFile>(root, "", "the scenario");
    let file = decoded.value;
    let is_told = |found: &Diagnostic| found.pointer.as_deref().is_some_and(|it| is_old(root, it));
    let found = decoded.diagnostics.into_iter();
    reader
        .diagnostics
        .extend(found.filter(|found| !is_told(found)));
    let ScenarioFile {
        metadata,
        variables,
        answers,
        mut steps,
        ..
    } = file?;
    let node = root.get("steps");
    if let Some(node) = node.filter(|node| node.as_array() == Some(&[])) {
        reader.error(codes::STEP_NONE, node.span, "the scenario has no steps");
    }
    check_variables(reader, root);
    let nodes = node.and_then(Node::as_array).unwrap_or_default();
    order(reader, &mut steps, nodes);
    ids(reader, &steps, nodes);
    super::group::groups(reader, &steps, nodes);
    let variables = variables.into_iter().map(|(name, default)| Variable {
        name: name.value,
        default,
        span: name.span,
    });
    let variables: Vec<_> = variables.collect();
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
    let environment = root.get("environment").filter(|node| !node.is_null());
    Some(ToolCallScenario {
        source: reader.source.clone(),
        name: metadata.name,
        metadata: root.get("metadata").map_or(Json::Null, Node::to_value),
        environment: environment.map_or(Json::Null, Node::to_value),
        environment_span: environment.map(|node| node.span),
        variables,
        answers: answers.into_entries(),
        steps,
    })
}

/// Whether a finding is about the tool of a step that has an `action` of version 1.x: its conversion said what is wrong.
fn is_old(root: &Node, pointer: &str) -> bool {
    let steps: Vec<_> = pointer_steps(pointer).collect();
    let [list, idx, key] = steps.as_slice() else {
        return false;
    };
    let step = root.get(list).and_then(|list| list.part(idx));
    matches!(key.as_ref(), "tool" | "action")
        && step.is_some_and(|step| step.get("action").is_some() && step.get("tool").is_none())
}

/// The node of a step: they stand in order, and there may be many.
pub(super) fn node_of<'n>(nodes: &'n [Node], step: &Step) -> Option<&'n Node> {
    let at = nodes.partition_point(|node| node.span.start < step.span.start);
    nodes.get(at).filter(|node| node.span == step.span)
}

/// The place of a key of a step.
pub(super) fn key_span(nodes: &[Node], step: &Step, key: &str) -> Span {
    let node = node_of(nodes, step).and_then(|node| node.get(key));
    node.map_or(step.span, |node| node.span)
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

fn check_variables(reader: &mut Reader<'_>, root: &Node) {
    let members = root.get("variables").map_or(&[][..], Node::members);
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
        let mut pointer = "/variables".to_owned();
        push_pointer(&mut pointer, &member.key);
        let name = (member.key.as_str(), "a variable");
        check_name(reader, name, member.key_span, &pointer);
    }
}

/// Whether a text refers to this variable. Other double braces are those of a template.
fn refers_to(text: &str, name: &str) -> bool {
    text.split("{{").skip(1).any(|inside| {
        let rest = inside.trim_start().strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(is_name))
    })
}

/// Sorts by number and says what is equal or out of order.
fn order(reader: &mut Reader<'_>, steps: &mut [Step], nodes: &[Node]) {
    for pair in 1..steps.len() {
        let (before, after) = (&steps[pair - 1], &steps[pair]);
        if after.number < before.number {
            let message = format!(
                "step {} comes after step {} in the file",
                after.number, before.number
            );
            let span = key_span(nodes, after, "step");
            reader.warning(codes::STEP_ORDER, span, message).help =
                Some("steps are played in the order of their numbers, not of the file".to_owned());
        }
    }
    steps.sort_by_key(|step| step.number);
    for pair in 1..steps.len() {
        let number = steps[pair].number;
        if number == steps[pair - 1].number {
            let note = the_other_one(reader, key_span(nodes, &steps[pair - 1], "step"));
            let span = key_span(nodes, &steps[pair], "step");
            let message = format!("duplicate step number {number}");
            let diagnostic = reader.error(codes::STEP_DUPLICATE, span, message);
            diagnostic.notes.push(note);
            diagnostic.help = Some("give every step a unique number".to_owned());
        }
    }
}

fn ids(reader: &mut Reader<'_>, steps: &[Step], nodes: &[Node]) {
    let mut seen: HashMap<&str, (u64, Span)> = HashMap::new();
    for step in steps {
        let number = step.number;
        let Some(id) = step.id.as_deref() else {
            continue;
        };
        let span = key_span(nodes, step, "id");
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
