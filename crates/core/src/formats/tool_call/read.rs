//! Reads a whole file.

use std::collections::HashMap;
use std::time::Duration;

use super::expect::{expectations, outputs};
use super::fields;
use super::params::{check as check_params, maybe_milliseconds};
use super::reader::{Object, Reader};
use super::template::{from_node, from_string, is_name};
use crate::diagnostic::{Diagnostic, any_error, codes, did_you_mean};
use crate::formats::detect::{FileKind, detect, version_text};
use crate::scenario::{
    Backoff, BuiltinTool, Condition, OnError, Parse, RetryRule, RetryThen, Step, Template,
    ToolCallScenario, ToolName, Variable,
};
use crate::source::json::{self, JsonErrorKind, Limits, Node, NodeKind, string_span};
use crate::source::{SourceFile, Span};
use crate::value::Json;

/// A scenario has at most this many steps.
const MAX_STEPS: usize = 1_000_000;

/// What reading gave: the scenario if no error was found, and everything there is to say.
#[derive(Debug)]
pub struct Reading {
    /// The scenario; absent if any finding is an error.
    pub scenario: Option<ToolCallScenario>,
    /// All findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a tool-call scenario. References are read but not resolved: see [`super::check_references`].
pub fn read(source: &SourceFile) -> Reading {
    let mut reader = Reader::new(source);
    let parsed = json::parse(source.text(), &Limits::default());
    for error in &parsed.errors {
        let code = if matches!(error.kind, JsonErrorKind::DuplicateKey { .. }) {
            codes::JSON_DUPLICATE
        } else {
            codes::JSON_SYNTAX
        };
        reader.error(code, error.span, error.message()).help = error.help();
    }
    let scenario = match parsed.root {
        Some(root) if parsed.errors.is_empty() => scenario(&mut reader, &root),
        _ => None,
    };
    let mut diagnostics = reader.diagnostics;
    diagnostics.sort_by_key(|diagnostic| {
        diagnostic
            .place
            .as_ref()
            .map_or(0, |place| place.span.start)
    });
    Reading {
        scenario: scenario.filter(|_| !any_error(&diagnostics)),
        diagnostics,
    }
}

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
    let mut known = fields::names(fields::ROOT);
    known.extend(fields::LATER_ROOT);
    reader.unknown_keys(object, &known, "the scenario");
    later(reader, object, fields::LATER_ROOT);
    version(reader, object);
    let (name, metadata) = metadata(reader, object);
    let variables = variables(reader, object);
    let environment = object.get("environment");
    if let Some(node) = environment {
        if matches!(node.kind, NodeKind::Object(_)) {
            near_misses(
                reader,
                Object {
                    node,
                    pointer: "/environment",
                },
                &fields::names(fields::ENVIRONMENT),
            );
        } else {
            reader.wrong_type(node, "/environment", "`environment`", "an object");
        }
    }
    let steps = steps(reader, object);
    for variable in &variables {
        if steps
            .iter()
            .any(|step| step.id.as_deref() == Some(&variable.name))
        {
            let message = format!("`{}` is a variable and the id of a step", variable.name);
            reader.warning(codes::ID_DUPLICATE, variable.span, message).help =
                Some("rename one of them: a reference with a dot means the step, one without the variable".to_owned());
        }
    }
    Some(ToolCallScenario {
        source: reader.source.clone(),
        name,
        metadata,
        environment: environment.map_or(Json::Null, Node::to_value),
        environment_span: environment.map(|node| node.span),
        variables,
        steps,
    })
}

/// Whether the file is a tool-call scenario of this version; if not, says what it is.
fn is_tool_call(reader: &mut Reader<'_>, root: &Node) -> bool {
    let at = Span::new(root.span.start as usize, root.span.start as usize + 1);
    match detect(root) {
        Some(FileKind::ToolCall) | None => true,
        Some(FileKind::ToolCallLegacy) => {
            let span = root.get("version").map_or(at, |node| node.span);
            reader
                .error(
                    codes::VERSION,
                    span,
                    "this is a scenario of version 1.x, which this release doesn't play",
                )
                .help =
                Some("write `tool` instead of `action` and set \"version\": \"2.1\"".to_owned());
            false
        }
        Some(kind) => {
            reader.error(
                codes::FILE_KIND,
                at,
                format!("this is {}, not a tool-call scenario", kind.description()),
            );
            false
        }
    }
}

fn later(reader: &mut Reader<'_>, object: Object<'_>, keys: &[&str]) {
    for member in object.node.members() {
        if keys.contains(&member.key.as_str()) {
            let pointer = object.child_pointer(&member.key);
            let diagnostic = reader.error(
                codes::FIELD_LATER,
                member.key_span,
                format!(
                    "`{}` is part of the format, but this release doesn't play it",
                    member.key
                ),
            );
            diagnostic.pointer = Some(pointer);
        }
    }
}

fn version(reader: &mut Reader<'_>, object: Object<'_>) {
    let Some(node) = reader.required(object, "version", "the scenario", "\"version\": \"2.1\"")
    else {
        return;
    };
    let text = version_text(node);
    let written_as_text = matches!(node.kind, NodeKind::String(_));
    match text.as_str() {
        "2.1" if written_as_text => {}
        "2.1" | "2.0" | "2" => {
            let diagnostic = reader.warning(
                codes::VERSION,
                node.span,
                format!("version {text} is read as \"2.1\""),
            );
            diagnostic.help = Some("write \"version\": \"2.1\"".to_owned());
        }
        "" => reader.wrong_type(node, "/version", "`version`", "the string \"2.1\""),
        _ => {
            let diagnostic = reader.error(
                codes::VERSION,
                node.span,
                format!("this release doesn't play version `{text}`"),
            );
            diagnostic.pointer = Some("/version".to_owned());
            diagnostic.help = Some("it plays version \"2.1\"".to_owned());
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
    near_misses(reader, below, &fields::names(fields::METADATA));
    reader.required(below, "name", "`metadata`", "a \"name\": \"…\" for people");
    let name = reader
        .text(below, "name", "`metadata.name`")
        .map(|(text, _)| text.to_owned());
    (name.unwrap_or_default(), node.to_value())
}

/// Free-form objects: only a key that looks like a slip is worth a word.
fn near_misses(reader: &mut Reader<'_>, object: Object<'_>, known: &[&str]) {
    for member in object.node.members() {
        if known.contains(&member.key.as_str()) {
            continue;
        }
        if let Some(proposal) = did_you_mean(&member.key, known.iter().copied()) {
            let pointer = object.child_pointer(&member.key);
            let diagnostic = reader.warning(
                codes::FIELD_UNKNOWN,
                member.key_span,
                format!("nothing reads the key `{}`", member.key),
            );
            diagnostic.pointer = Some(pointer);
            diagnostic.label = Some(format!("did you mean `{proposal}`?"));
        }
    }
}

fn variables(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<Variable> {
    let Some(node) = object.get("variables") else {
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
    members
        .iter()
        .map(|member| {
            if member.key.is_empty() || !member.key.chars().all(is_name) {
                let diagnostic = reader.error(
                    codes::ID_INVALID,
                    member.key_span,
                    format!("no reference can name the variable `{}`", member.key),
                );
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
                "the scenario has {} steps, more than the bound of {MAX_STEPS}",
                items.len()
            )
        };
        reader.error(codes::STEP_NONE, node.span, message);
        return Vec::new();
    }
    let mut steps: Vec<(Step, Span)> = items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| step(reader, item, &format!("/steps/{index}")))
        .collect();
    order(reader, &mut steps);
    ids(reader, &steps);
    steps.into_iter().map(|(step, _)| step).collect()
}

/// Sorts by number and says what is equal or out of order.
fn order(reader: &mut Reader<'_>, steps: &mut [(Step, Span)]) {
    for pair in 1..steps.len() {
        let (before, after) = (&steps[pair - 1].0, &steps[pair].0);
        if after.number < before.number {
            let message = format!("step {} stands after step {}", after.number, before.number);
            reader
                .warning(codes::STEP_ORDER, steps[pair].1, message)
                .help =
                Some("steps are played in the order of their numbers, not of the file".to_owned());
        }
    }
    steps.sort_by_key(|(step, _)| step.number);
    for pair in 1..steps.len() {
        let number = steps[pair].0.number;
        if number == steps[pair - 1].0.number {
            let first = reader.source.position(steps[pair - 1].1.start);
            let diagnostic = reader.error(
                codes::STEP_DUPLICATE,
                steps[pair].1,
                format!("there are two steps {number}"),
            );
            diagnostic
                .notes
                .push(format!("the other one stands at line {}", first.line));
            diagnostic.help = Some("give every step a number of its own".to_owned());
        }
    }
}

fn ids(reader: &mut Reader<'_>, steps: &[(Step, Span)]) {
    let mut seen: HashMap<&str, u64> = HashMap::new();
    for (step, number_span) in steps {
        let Some(id) = step.id.as_deref() else {
            continue;
        };
        if let Some(first) = seen.insert(id, step.number) {
            let diagnostic = reader.error(
                codes::ID_DUPLICATE,
                *number_span,
                format!("steps {first} and {} have the same id `{id}`", step.number),
            );
            diagnostic.help =
                Some("give every step an id of its own: references go by it".to_owned());
        }
    }
}

fn step(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<(Step, Span)> {
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, pointer, "a step", "an object");
        return None;
    }
    let object = Object { node, pointer };
    let mut known = fields::names(fields::STEP);
    known.extend(fields::LATER_STEP);
    known.extend(fields::INERT_STEP);
    reader.unknown_keys(object, &known, "this step");
    later(reader, object, fields::LATER_STEP);
    let number = number(reader, object);
    let tool = tool(reader, object);
    let params = params(reader, object, tool.as_ref().map(|(tool, _)| tool));
    let rules = outputs(reader, object);
    let id = id(
        reader,
        object,
        tool.as_ref().map(|(tool, _)| tool),
        !rules.is_empty(),
    );
    let on_error = reader.one_of(
        object,
        "on_error",
        &[
            ("stop", OnError::Stop),
            ("skip", OnError::Skip),
            ("retry", OnError::Retry),
        ],
    );
    let retry = retry(reader, object, on_error.unwrap_or_default());
    let step = Step {
        number: number.map_or(0, |(number, _)| number),
        id,
        description: template_text(reader, object, "description"),
        wait_after: seconds_template(reader, object, "wait_after"),
        on_error: on_error.unwrap_or_default(),
        retry,
        condition: condition(reader, object),
        expectations: expectations(reader, object),
        timeout: timeout(reader, object),
        parse: reader
            .one_of(
                object,
                "parse",
                &[
                    ("auto", Parse::Auto),
                    ("json", Parse::Json),
                    ("text", Parse::Text),
                ],
            )
            .unwrap_or_default(),
        output_optional: reader
            .flag(object, "output_optional", "`output_optional`")
            .unwrap_or_default(),
        outputs: rules,
        span: node.span,
        tool_span: tool.as_ref().map_or(node.span, |(_, span)| *span),
        tool: tool?.0,
        params_span: object.get("params").map_or(node.span, |node| node.span),
        params: params?,
    };
    number.map(|(_, span)| (step, span))
}

fn number(reader: &mut Reader<'_>, object: Object<'_>) -> Option<(u64, Span)> {
    let node = reader.required(object, "step", "this step", "its number: \"step\": 1")?;
    match node.to_value().as_u64() {
        Some(number) => Some((number, node.span)),
        None => {
            reader.wrong_type(
                node,
                &object.child_pointer("step"),
                "`step`",
                "a whole number from 0",
            );
            None
        }
    }
}

fn tool(reader: &mut Reader<'_>, object: Object<'_>) -> Option<(ToolName, Span)> {
    reader.required(
        object,
        "tool",
        "this step",
        "\"tool\": \"mcp__server__tool\"",
    )?;
    let (name, node) = reader.text(object, "tool", "`tool`")?;
    let pointer = object.child_pointer("tool");
    if let Some(tool) = BuiltinTool::find(name) {
        return Some((ToolName::Builtin(tool), node.span));
    }
    if name.starts_with("sandy__") || name.starts_with("claude__") {
        let proposal = did_you_mean(name, BuiltinTool::ALL.iter().map(|tool| tool.name()));
        let diagnostic = reader.error(
            codes::TOOL_UNKNOWN,
            node.span,
            format!("there is no built-in tool `{name}`"),
        );
        diagnostic.pointer = Some(pointer);
        diagnostic.label = proposal.map(|name| format!("did you mean `{name}`?"));
        let names: Vec<_> = BuiltinTool::ALL.iter().map(|tool| tool.name()).collect();
        diagnostic
            .notes
            .push(format!("the built-in tools are {}", names.join(", ")));
        return None;
    }
    let tool = name
        .strip_prefix("mcp__")
        .map(|rest| ToolName::Mcp(rest.to_owned()));
    match tool {
        Some(tool) if tool.server_and_tool(|_| false).is_some() => Some((tool, node.span)),
        _ => {
            let proposal = did_you_mean(name, BuiltinTool::ALL.iter().map(|tool| tool.name()));
            let diagnostic = reader.error(
                codes::TOOL_NAME,
                node.span,
                format!("`{name}` is not the name of a tool"),
            );
            diagnostic.pointer = Some(pointer);
            diagnostic.label = proposal.map(|name| format!("did you mean `{name}`?"));
            diagnostic.help = Some(
                "an MCP tool is mcp__server__tool; built-in tools start with sandy__ or claude__"
                    .to_owned(),
            );
            None
        }
    }
}

fn params(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    tool: Option<&ToolName>,
) -> Option<Template> {
    let node = reader.required(object, "params", "this step", "\"params\": {}")?;
    let pointer = object.child_pointer("params");
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, &pointer, "`params`", "an object");
        return None;
    }
    if let Some(ToolName::Builtin(tool)) = tool {
        check_params(
            reader,
            *tool,
            Object {
                node,
                pointer: &pointer,
            },
        );
    }
    Some(from_node(reader, node, &pointer))
}

fn id(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    tool: Option<&ToolName>,
    has_outputs: bool,
) -> Option<String> {
    let Some((text, node)) = reader.text(object, "id", "`id`") else {
        if has_outputs && object.get("id").is_none() {
            let proposal = tool.map_or("result".to_owned(), |tool| match tool {
                ToolName::Builtin(tool) => tool
                    .name()
                    .rsplit("__")
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                ToolName::Mcp(rest) => rest.rsplit("__").next().unwrap_or_default().to_owned(),
            });
            let span = object
                .node
                .members()
                .iter()
                .find(|member| member.key == "output")
                .map_or(object.node.span, |member| member.key_span);
            let diagnostic = reader.error(
                codes::ID_MISSING,
                span,
                "`output` needs an `id`, or nothing can refer to it",
            );
            diagnostic.pointer = Some(object.child_pointer("output"));
            diagnostic.help = Some(format!("add \"id\": \"{proposal}\""));
        }
        return None;
    };
    if text.is_empty() || !text.chars().all(is_name) {
        let pointer = object.child_pointer("id");
        let diagnostic = reader.error(
            codes::ID_INVALID,
            node.span,
            format!("no reference can name the id `{text}`"),
        );
        diagnostic.pointer = Some(pointer);
        diagnostic.help = Some("use letters, digits, `_` and `-`".to_owned());
    }
    Some(text.to_owned())
}

fn template_text(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Option<Template> {
    let (text, node) = reader.text(object, key, &format!("`{key}`"))?;
    Some(from_string(
        reader,
        text,
        node.span,
        &object.child_pointer(key),
    ))
}

/// A number from 0, or text with a reference.
fn number_template(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    key: &str,
) -> Option<(Template, Option<f64>)> {
    let node = object.get(key)?;
    let pointer = object.child_pointer(key);
    let literal = match &node.kind {
        NodeKind::Number(_) => node.to_value().as_f64(),
        NodeKind::String(text) if text.contains("{{") => {
            return Some((from_node(reader, node, &pointer), None));
        }
        NodeKind::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    match literal {
        Some(number) if number >= 0.0 && number.is_finite() => {
            Some((Template::Literal(Json::from(number)), Some(number)))
        }
        _ => {
            reader.wrong_type(node, &pointer, &format!("`{key}`"), "a number from 0");
            None
        }
    }
}

fn seconds_template(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Option<Template> {
    let (template, literal) = number_template(reader, object, key)?;
    if let (Some(seconds), Some(node)) = (literal, object.get(key)) {
        maybe_milliseconds(reader, key, node, seconds);
    }
    Some(template)
}

fn timeout(reader: &mut Reader<'_>, object: Object<'_>) -> Option<Duration> {
    let node = object.get("timeout")?;
    let seconds = match node.kind {
        NodeKind::Number(_) => node.to_value().as_f64(),
        _ => None,
    };
    let duration = seconds
        .filter(|&seconds| seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    if duration.is_none() {
        reader.wrong_type(
            node,
            &object.child_pointer("timeout"),
            "`timeout`",
            "a number of seconds above 0",
        );
    }
    maybe_milliseconds(reader, "timeout", node, seconds.unwrap_or_default());
    duration
}

fn condition(reader: &mut Reader<'_>, object: Object<'_>) -> Option<(Condition, Span)> {
    let node = object.get("condition")?;
    if matches!(node.kind, NodeKind::Null) {
        return None;
    }
    let (text, node) = reader.text(object, "condition", "`condition`")?;
    let source = reader.source.clone();
    let literal = node.span;
    let locate = move |range: std::ops::Range<usize>| string_span(source.text(), literal, range);
    let condition =
        super::condition::parse(reader, text, &locate, &object.child_pointer("condition"))?;
    Some((condition, node.span))
}

fn retry(reader: &mut Reader<'_>, object: Object<'_>, on_error: OnError) -> RetryRule {
    let default = RetryRule::default();
    let Some(node) = object.get("retry") else {
        return default;
    };
    let pointer = object.child_pointer("retry");
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, &pointer, "`retry`", "an object");
        return default;
    }
    let below = Object {
        node,
        pointer: &pointer,
    };
    reader.unknown_keys(below, &fields::names(fields::RETRY), "`retry`");
    if on_error != OnError::Retry {
        let diagnostic =
            reader.warning(codes::RETRY_UNUSED, node.span, "this `retry` never happens");
        diagnostic.pointer = Some(pointer.clone());
        diagnostic.help = Some("add \"on_error\": \"retry\"".to_owned());
    }
    let count = number_template(reader, below, "count");
    if let (Some((_, Some(count))), Some(node)) = (&count, below.get("count"))
        && (count.fract() != 0.0 || *count > 1000.0)
    {
        reader.wrong_type(
            node,
            &below.child_pointer("count"),
            "`retry.count`",
            "a whole number up to 1000",
        );
    }
    let condition = match below.get("condition").map(|node| &node.kind) {
        None | Some(NodeKind::Null) => None,
        Some(_) => template_text(reader, below, "condition"),
    };
    RetryRule {
        count: count.map_or(default.count, |(template, _)| template),
        delay: number_template(reader, below, "delay")
            .map_or(default.delay, |(template, _)| template),
        condition,
        backoff: reader
            .one_of(
                below,
                "backoff",
                &[
                    ("exponential", Backoff::Exponential),
                    ("constant", Backoff::Constant),
                ],
            )
            .unwrap_or_default(),
        then: reader
            .one_of(
                below,
                "then",
                &[("stop", RetryThen::Stop), ("skip", RetryThen::Skip)],
            )
            .unwrap_or_default(),
    }
}
