//! What is read by hand within the structs of the format: text with a grammar of its own.

use std::time::Duration;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json_path::JsonPath;

use super::reader::Reader;
use super::template::{from_node, from_string, holds_reference};
use crate::model::{
    BuiltinTool, Condition, ForEach, MAX_ELEMENTS, Number, OutputRule, ParamTarget, Pattern,
    ResultSchema, Seconds, Target, TargetParam, Template, Text, ToolName,
};
use cuecard_source::decode::{Spanned, by_hand, entries};
use cuecard_source::detect::version_text;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::matching::regex_reason;
use cuecard_source::value::{Json, cut};
use cuecard_source::values;
use cuecard_source::{Span, pieces};

/// What references call an element of `for_each` without `as`.
pub(super) const DEFAULT_NAME: &str = "item";

pieces! {
    Template = template, None, {};
    Text = text, Some(Text(Template::Literal(Json::Null))), {"type": "string"};
    Number = number, None, {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]};
    ToolName = tool, Some(ToolName::Mcp(String::new())), {"type": "string"};
    Condition = condition, None, {"type": "string"};
    ForEach = for_each, None, {"anyOf": [{"type": "array", "maxItems": MAX_ELEMENTS}, {"type": "string"}]};
    OutputRule = json_path, None, {"type": "string"};
    Pattern = pattern, None, {"type": "string"};
    OutputPattern = output_pattern, Regex::new("").ok().map(OutputPattern), {"type": "string"};
    ResultSchema = result_schema, None, {"type": ["object", "boolean"]};
    Seconds = seconds_of, None, {"type": "number", "exclusiveMinimum": 0};
    Version = version, Some(Version), {"enum": ["2.1", "2.0", "2", 2.1]};
}

fn template(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Template> {
    Some(from_node(reader, node, pointer))
}

fn text(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Text> {
    let text = reader.text_of(node, pointer, &what(pointer))?;
    Some(Text(from_string(reader, text, node.span, pointer)))
}

/// How messages call the value at a pointer.
fn what(pointer: &str) -> String {
    let key = pointer.rsplit('/').next().unwrap_or_default();
    format!("`{}`", cut(key, 100))
}

/// Reads an object with references in it.
pub(crate) fn members<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Template, D::Error> {
    let stand_in = Some(Template::Literal(Json::Null));
    by_hand(deserializer, stand_in, |reader, node, pointer| {
        if !matches!(node.kind, NodeKind::Object(_)) {
            reader.wrong_type(node, pointer, &what(pointer), "an object");
            return None;
        }
        Some(from_node(reader, node, pointer))
    })
}

/// A number from 0, or text with a reference.
fn number(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Number> {
    let literal = match &node.kind {
        NodeKind::Number(_) => node.as_f64(),
        NodeKind::String(text) if text.contains("{{") => {
            return Some(Number(from_node(reader, node, pointer)));
        }
        NodeKind::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let literal = literal.filter(|number| *number >= 0.0 && number.is_finite());
    if literal.is_none() {
        reader.wrong_type(node, pointer, &what(pointer), "a non-negative number");
    }
    literal.map(|number| Number(Template::Literal(number.into())))
}

fn seconds_of(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Seconds> {
    let seconds = matches!(node.kind, NodeKind::Number(_)).then(|| node.as_f64());
    let seconds = seconds.flatten().filter(|&seconds| seconds > 0.0);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    if duration.is_none() {
        reader.wrong_type(node, pointer, &what(pointer), "a number of seconds above 0");
    }
    duration.map(Seconds)
}

fn tool(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<ToolName> {
    let name = reader.text_of(node, pointer, "`tool`")?;
    if let Some(tool) = BuiltinTool::find(name) {
        return Some(ToolName::Builtin(tool));
    }
    let mcp = name.strip_prefix("mcp__");
    let mcp = mcp.map(|rest| ToolName::Mcp(rest.to_owned()));
    if let Some(tool) = mcp.filter(|tool| tool.server_and_tool(|_| false).is_some()) {
        return Some(tool);
    }
    let proposal = super::proposals::builtin(name);
    if name.starts_with("sandy__") || name.starts_with("claude__") {
        let message = format!("unknown built-in tool `{}`", cut(name, 100));
        let found = reader.error_at(codes::TOOL_UNKNOWN, node.span, pointer, message);
        found.label = proposal.map(|name| format!("did you mean `{name}`?"));
        let names: Vec<_> = BuiltinTool::ALL.iter().map(|tool| tool.name()).collect();
        let note = format!("the built-in tools are {}", names.join(", "));
        found.notes.push(note);
        return None;
    }
    let message = match name.is_empty() {
        true => "the tool's name is empty".to_owned(),
        false => format!("`{}` is not a valid tool name", cut(name, 100)),
    };
    let proposal = proposal.map(str::to_owned);
    let proposal = proposal.or_else(|| super::proposals::mcp(name));
    let found = reader.error_at(codes::TOOL_NAME, node.span, pointer, message);
    found.label = proposal.map(|name| format!("did you mean `{name}`?"));
    found.help = Some(
        "write mcp__server__tool for an MCP tool; built-in tools start with sandy__ or claude__"
            .to_owned(),
    );
    None
}

fn condition(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Condition> {
    let text = reader.text_of(node, pointer, "`condition`")?;
    super::condition::parse(reader, node, text, pointer)
}

fn for_each(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<ForEach> {
    let list = from_node(reader, node, pointer);
    match &node.kind {
        NodeKind::Array(items) if items.len() > MAX_ELEMENTS => {
            let message = format!(
                "`for_each` has {} elements, more than the limit of {MAX_ELEMENTS}",
                items.len()
            );
            reader.error_at(codes::FIELD_VALUE, node.span, pointer, message);
        }
        NodeKind::Array(_) => {}
        _ if matches!(list, Template::Reference(_)) => {}
        _ => {
            let expected = "an array, or one reference to an array";
            reader.wrong_type(node, pointer, "`for_each`", expected);
        }
    }
    Some(ForEach {
        list,
        name: DEFAULT_NAME.to_owned(),
        span: node.span,
        name_span: node.span,
    })
}

fn json_path(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<OutputRule> {
    let help = "write the path literally; references are filled in in `equals` and `contains`";
    if holds_reference(reader, node, pointer, "a JSONPath", help) {
        return None;
    }
    let (path, singular) = values::json_path(reader, node, pointer)?;
    Some(OutputRule {
        name: node.as_str().unwrap_or_default().to_owned(),
        path,
        singular,
        regex: None,
        name_span: node.span,
        span: node.span,
    })
}

fn pattern(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Pattern> {
    let help = "use `equals` or `contains`, where references are filled in";
    if holds_reference(reader, node, pointer, "a regular expression", help) {
        return None;
    }
    values::pattern(reader, node, pointer).map(Pattern)
}

fn result_schema(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<ResultSchema> {
    let help = "use `equals` or `contains`, where references are filled in";
    if holds_reference(reader, node, pointer, "a JSON Schema", help) {
        return None;
    }
    values::schema(reader, node, pointer).map(ResultSchema)
}

/// Reads a time above 0.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    Seconds::deserialize(deserializer).map(|seconds| Some(seconds.0))
}

/// The version of a scenario, which is the one that is read.
pub(super) struct Version;

fn version(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Version> {
    let text = version_text(node);
    match text.as_str() {
        "2.1" => {}
        "" => reader.wrong_type(node, pointer, "`version`", "the string \"2.1\""),
        _ => {
            let message = format!("unsupported version `{}`", cut(&text, 40));
            let found = reader.error_at(codes::VERSION, node.span, pointer, message);
            found.help = Some("supported versions: \"2.1\"".to_owned());
        }
    }
    Some(Version)
}

/// An entry of `output`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(rename = "Output", untagged)]
pub(crate) enum Output {
    String(OutputRule),
    Object(RegexOutput),
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct RegexOutput {
    /// A regular expression: its first group, or the whole match, is the output.
    #[serde(alias = "!")]
    regex: OutputPattern,
    /// The JSONPath of the text to search (default: the whole result).
    from: Option<OutputRule>,
}

pub(crate) struct OutputPattern(Regex);

fn output_pattern(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<OutputPattern> {
    let NodeKind::String(text) = &node.kind else {
        let expected = "a regular expression in a string";
        reader.wrong_type(node, pointer, "`regex`", expected);
        return None;
    };
    let help = "write the expression literally";
    if holds_reference(reader, node, pointer, "a regular expression", help) {
        return None;
    }
    let (problem, help) = match Regex::new(text) {
        // `^(.*)$` takes a whole text, also an empty one; `\d*` takes nothing of any.
        Ok(pattern) if pattern.find("\u{1}").is_none_or(|it| !it.is_empty()) => {
            return Some(OutputPattern(pattern));
        }
        Ok(_) => (
            "matches the empty text, so it matches everything".to_owned(),
            "use `+` instead of `*`",
        ),
        Err(error) => (
            format!(
                "is not a valid regular expression: {}",
                regex_reason(&error)
            ),
            "a literal `(` is written \"\\\\(\"; look-around is not supported",
        ),
    };
    let message = format!("`regex` of this output {problem}");
    let found = reader.error_at(codes::FIELD_VALUE, node.span, pointer, message);
    found.help = Some(help.to_owned());
    None
}

/// The schema of `output`.
pub(crate) type Outputs = std::collections::BTreeMap<String, Output>;

/// Reads the entries of `output`.
pub(crate) fn outputs<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<OutputRule>, D::Error> {
    let entries: Vec<(Spanned<String>, Spanned<Output>)> = entries(deserializer)?;
    let rule = |(name, output): (Spanned<String>, Spanned<Output>)| {
        let (from, regex) = match output.value {
            Output::String(path) => (Some(path), None),
            Output::Object(output) => (output.from, Some(output.regex.0)),
        };
        OutputRule {
            name: name.value,
            singular: from.as_ref().is_none_or(|from| from.singular),
            path: from.map_or_else(JsonPath::default, |from| from.path),
            regex,
            name_span: name.span,
            span: output.span,
        }
    };
    Ok(entries.into_iter().map(rule).collect())
}

/// Reads the entries of `targets`. The check of the step finds their ways.
pub(crate) fn targets<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<ParamTarget>, D::Error> {
    let entries: Vec<(String, Target)> = entries(deserializer)?;
    let target = |(written, target)| {
        let path = Vec::new();
        let param = TargetParam { written, path };
        ParamTarget { param, target }
    };
    Ok(entries.into_iter().map(target).collect())
}

/// A text, or a list of texts.
#[derive(Deserialize)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
enum Texts {
    String(Text),
    Array(Vec<Text>),
}

/// Reads a text or a list of them.
pub(crate) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Text>, D::Error> {
    Ok(match Texts::deserialize(deserializer)? {
        Texts::String(text) => vec![text],
        Texts::Array(texts) => texts,
    })
}

/// The span of a key's value in an object; of the object itself without that.
pub(super) fn span_of(object: super::reader::Object<'_>, key: &str) -> Span {
    object.get(key).map_or(object.node.span, |node| node.span)
}
