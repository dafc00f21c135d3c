//! Reads one step.

use std::time::Duration;

use super::expect::{expectations, outputs};
use super::fields;
use super::params::{check as check_params, maybe_milliseconds};
use super::reader::{Object, Reader};
use super::template::{from_node, from_string, is_name};
use crate::model::{
    Backoff, BuiltinTool, Condition, ForEach, MAX_ELEMENTS, MemberRef, OnError, Parse, RetryRule,
    RetryThen, Step, Template, ToolName,
};
use cuecard_source::Span;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Node, NodeKind, string_span};
use cuecard_source::value::{Json, REDACTED, cut};

/// What references call an element of `for_each` without `as`.
pub(super) const DEFAULT_NAME: &str = "item";

/// A step with the places of what is compared with other steps.
pub(super) struct ReadStep {
    pub step: Step,
    pub number_span: Span,
    pub id_span: Option<Span>,
    pub group_span: Option<Span>,
}

pub(super) fn step(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<ReadStep> {
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, pointer, "a step", "an object");
        return None;
    }
    let object = Object { node, pointer };
    reader.unknown_keys(object, fields::STEP, &["action"], "this step");
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
        "`on_error`",
        &[
            ("stop", OnError::Stop),
            ("skip", OnError::Skip),
            ("retry", OnError::Retry),
        ],
    );
    let retry = retry(reader, object, on_error.unwrap_or_default());
    let target = super::target::target(reader, object, tool.as_ref().map(|(tool, _)| tool));
    let targets = super::target::targets(reader, object, tool.as_ref().map(|(tool, _)| tool));
    let has_effect_once = reader
        .one_of(object, "effect", "`effect`", &[("once", true)])
        .unwrap_or_default();
    if has_effect_once && on_error == Some(OnError::Retry) {
        let span = object.get("on_error").map_or(node.span, |node| node.span);
        let message = "`\"on_error\": \"retry\"` repeats an effect that must not happen twice";
        let found = reader.error(codes::FIELD_VALUE, span, message);
        found.help = Some("remove it, or `\"effect\": \"once\"`".to_owned());
    }
    let step = Step {
        for_each: for_each(reader, object).map(Box::new),
        group: group(reader, object),
        number: number.map_or(0, |(number, _)| number),
        id,
        description: template_text(reader, object, "description", "`description`")
            .or_else(|| command_description(tool.as_ref().map(|(tool, _)| tool), params.as_ref())),
        wait_after: seconds_template(reader, object, "wait_after"),
        on_error: on_error.unwrap_or_default(),
        retry,
        condition: condition(reader, object).map(Box::new),
        expectations: expectations(reader, object),
        timeout: timeout(reader, object),
        parse: parse(reader, object, tool.as_ref().map(|(tool, _)| tool)),
        has_effect_once,
        output_optional: reader
            .flag(object, "output_optional", "`output_optional`")
            .unwrap_or_default(),
        target: target.map(Box::new),
        targets,
        outputs: rules,
        span: node.span,
        tool_span: tool.as_ref().map_or(node.span, |(_, span)| *span),
        tool: tool?.0,
        params_span: object.get("params").map_or(node.span, |node| node.span),
        params: params?,
    };
    number.map(|(_, number_span)| ReadStep {
        step,
        number_span,
        id_span: object.get("id").map(|node| node.span),
        group_span: object.get("group").map(|node| node.span),
    })
}

/// A step that runs a command is described by what the command is said to be for.
fn command_description(tool: Option<&ToolName>, params: Option<&Template>) -> Option<Template> {
    if tool != Some(&ToolName::Builtin(BuiltinTool::Bash)) {
        return None;
    }
    match params?.member("description")? {
        MemberRef::Literal(text @ Json::String(_)) => Some(Template::Literal(text.clone())),
        _ => None,
    }
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
                "a non-negative integer",
            );
            None
        }
    }
}

fn tool(reader: &mut Reader<'_>, object: Object<'_>) -> Option<(ToolName, Span)> {
    if is_action(reader, object) {
        return None;
    }
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
        let proposal = propose_builtin(name);
        let diagnostic = reader.error(
            codes::TOOL_UNKNOWN,
            node.span,
            format!("unknown built-in tool `{}`", cut(name, 100)),
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
            let proposal = propose_builtin(name)
                .map(str::to_owned)
                .or_else(|| propose_mcp(name));
            let message = match name.is_empty() {
                true => "the tool's name is empty".to_owned(),
                false => format!("`{}` is not a valid tool name", cut(name, 100)),
            };
            let diagnostic = reader.error(codes::TOOL_NAME, node.span, message);
            diagnostic.pointer = Some(pointer);
            diagnostic.label = proposal.map(|name| format!("did you mean `{name}`?"));
            diagnostic.help = Some(
                "write mcp__server__tool for an MCP tool; built-in tools start with sandy__ or claude__"
                    .to_owned(),
            );
            None
        }
    }
}

/// Whether the step has an `action` of version 1.x and no `tool`: then its conversion said what is wrong with it.
fn is_action(reader: &mut Reader<'_>, object: Object<'_>) -> bool {
    let Some(member) = object
        .node
        .members()
        .iter()
        .find(|member| member.key == "action")
    else {
        return false;
    };
    if object.get("tool").is_none() {
        return true;
    }
    let diagnostic = reader.warning(
        codes::FIELD_UNKNOWN,
        member.key_span,
        "`action` belongs to version 1.x of the format and is ignored",
    );
    diagnostic.pointer = Some(object.child_pointer("action"));
    diagnostic.help = Some("remove it: `tool` names the tool to call".to_owned());
    false
}

/// The built-in tool that was probably meant: by the part after the prefix first, since people know the tools
/// as `Bash` or `wait_for`, then by the whole name.
fn propose_builtin(name: &str) -> Option<&'static str> {
    let part = |name: &'static str| name.rsplit("__").next().unwrap_or(name);
    let wanted = match name.split_once("__") {
        Some(("sandy" | "claude", rest)) => rest,
        Some(_) => return did_you_mean(name, BuiltinTool::ALL.iter().map(|tool| tool.name())),
        None => name,
    };
    // `WebFetch` is `web_fetch`.
    let wanted: String = wanted
        .char_indices()
        .take(100)
        .flat_map(|(at, character)| {
            let begins_word =
                at > 0 && character.is_ascii_uppercase() && !wanted[..at].ends_with('_');
            let separator =
                (begins_word && wanted.contains(|c: char| c.is_ascii_lowercase())).then_some('_');
            separator.into_iter().chain(character.to_lowercase())
        })
        .map(|character| if character == '-' { '_' } else { character })
        .collect();
    let names = || BuiltinTool::ALL.iter().map(|tool| tool.name());
    let begins = |long: &str, short: &str| {
        short.len() >= 4
            && long
                .strip_prefix(short)
                .is_some_and(|rest| rest.starts_with('_'))
    };
    names()
        .find(|name| part(name) == wanted)
        .or_else(|| names().find(|name| begins(part(name), &wanted)))
        .or_else(|| {
            let near = did_you_mean(&wanted, names().map(part))?;
            names().find(|name| part(name) == near)
        })
        .or_else(|| names().find(|name| begins(&wanted, part(name))))
        .or_else(|| did_you_mean(name, names()))
}

/// The MCP tool that was probably meant by a name that only lacks its beginning.
fn propose_mcp(name: &str) -> Option<String> {
    let tool = ToolName::Mcp(name.to_owned());
    let is_plain = name.len() <= 100 && !name.starts_with("mcp_") && !name.contains(' ');
    (is_plain && tool.server_and_tool(|_| false).is_some()).then(|| tool.to_string())
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
    if let Some(at) = reader.source.slice(node.span).find(REDACTED) {
        let start = node.span.start as usize + at;
        let message = format!("a parameter contains `{REDACTED}`, which stands where a secret was");
        let diagnostic = reader.error(
            codes::FIELD_VALUE,
            Span::new(start, start + REDACTED.len()),
            message,
        );
        diagnostic.pointer = Some(pointer.clone());
        diagnostic.help = Some(
            "write `{{NAME}}` there, declare `\"NAME\": \"\"` under `variables`, and give its value with CUECARD_VAR_NAME"
                .to_owned(),
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
        if has_outputs && reader.get(object, "id").is_none() {
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
            let diagnostic = reader.warning(
                codes::ID_MISSING,
                span,
                "a step with `output` needs an `id`, or nothing can refer to its outputs",
            );
            diagnostic.pointer = Some(object.child_pointer("output"));
            diagnostic.help = Some(format!("add \"id\": \"{proposal}\""));
        }
        return None;
    };
    if text.is_empty() {
        let pointer = object.child_pointer("id");
        reader
            .error_at(codes::ID_INVALID, node.span, &pointer, "the id is empty")
            .help = Some(NAME_HELP.to_owned());
    } else {
        check_name(reader, object, "id", text, node, "id");
    }
    Some(text.to_owned())
}

/// What a name consists of.
const NAME_HELP: &str = "use letters, digits, `_` and `-`";

/// Says if the text of a field is no name; `what` is what it should be one of.
fn check_name(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    key: &str,
    text: &str,
    node: &Node,
    what: &str,
) {
    if text.is_empty() || !text.chars().all(is_name) {
        let message = format!("`{}` is not a valid {what}", cut(text, 100));
        let pointer = object.child_pointer(key);
        reader
            .error_at(codes::ID_INVALID, node.span, &pointer, message)
            .help = Some(NAME_HELP.to_owned());
    }
}

fn group(reader: &mut Reader<'_>, object: Object<'_>) -> Option<Box<str>> {
    let (text, node) = reader.text(object, "group", "`group`")?;
    check_name(reader, object, "group", text, node, "name for `group`");
    Some(text.into())
}

fn template_text(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    key: &str,
    what: &str,
) -> Option<Template> {
    let (text, node) = reader.text(object, key, what)?;
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
    what: &str,
) -> Option<(Template, Option<f64>)> {
    let node = reader.get(object, key)?;
    let pointer = object.child_pointer(key);
    let literal = match &node.kind {
        NodeKind::Number(_) => node.as_f64(),
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
            reader.wrong_type(node, &pointer, what, "a non-negative number");
            None
        }
    }
}

fn seconds_template(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Option<Template> {
    let (template, literal) = number_template(reader, object, key, &format!("`{key}`"))?;
    if let (Some(seconds), Some(node)) = (literal, object.get(key)) {
        maybe_milliseconds(reader, key, node, seconds);
    }
    Some(template)
}

fn timeout(reader: &mut Reader<'_>, object: Object<'_>) -> Option<Duration> {
    let node = reader.get(object, "timeout")?;
    let seconds = match node.kind {
        NodeKind::Number(_) => node.as_f64(),
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

/// A built-in tool answers with an object, and has no text or list of blocks that could be the result instead.
fn parse(reader: &mut Reader<'_>, object: Object<'_>, tool: Option<&ToolName>) -> Parse {
    const WORDS: &[(&str, Parse)] = &[
        ("auto", Parse::Auto),
        ("json", Parse::Json),
        ("text", Parse::Text),
        ("structured", Parse::Structured),
        ("content", Parse::Content),
    ];
    let parse = reader.one_of(object, "parse", "`parse`", WORDS);
    if let (Some(Parse::Text | Parse::Content), Some(ToolName::Builtin(tool)), Some(node)) =
        (parse, tool, object.get("parse"))
    {
        let message = format!(
            "the result of {} is an object, not {}",
            tool.name(),
            match parse {
                Some(Parse::Content) => "a list of content blocks",
                _ => "text",
            }
        );
        let pointer = object.child_pointer("parse");
        reader
            .error_at(codes::FIELD_VALUE, node.span, &pointer, message)
            .help = Some("remove `parse`, and select the field you need in `output`".to_owned());
    }
    parse.unwrap_or_default()
}

fn condition(reader: &mut Reader<'_>, object: Object<'_>) -> Option<(Condition, Span)> {
    let (text, node) = reader.text(object, "condition", "`condition`")?;
    let source = reader.source.clone();
    let literal = node.span;
    let locate = move |range: std::ops::Range<usize>| string_span(source.text(), literal, range);
    let condition =
        super::condition::parse(reader, text, &locate, &object.child_pointer("condition"))?;
    Some((condition, node.span))
}

fn for_each(reader: &mut Reader<'_>, object: Object<'_>) -> Option<ForEach> {
    let name = reader.text(object, "as", "`as`");
    let Some(node) = reader.get(object, "for_each") else {
        if let Some((_, node)) = name {
            let message = "this `as` has no effect without `for_each`";
            let warning = reader.warning(codes::FIELD_UNKNOWN, node.span, message);
            warning.help = Some("remove it, or add \"for_each\": […]".to_owned());
        }
        return None;
    };
    let pointer = object.child_pointer("for_each");
    let list = from_node(reader, node, &pointer);
    match &node.kind {
        NodeKind::Array(items) if items.len() > MAX_ELEMENTS => {
            let message = format!(
                "`for_each` has {} elements, more than the limit of {MAX_ELEMENTS}",
                items.len()
            );
            reader.error_at(codes::FIELD_VALUE, node.span, &pointer, message);
        }
        NodeKind::Array(_) => {}
        _ if matches!(list, Template::Reference(_)) => {}
        _ => reader.wrong_type(
            node,
            &pointer,
            "`for_each`",
            "an array, or one reference to an array",
        ),
    }
    if let Some((text, node)) = name {
        check_name(reader, object, "as", text, node, "name for `as`");
    }
    Some(ForEach {
        list,
        name: name.map_or(DEFAULT_NAME, |(text, _)| text).to_owned(),
        span: node.span,
        name_span: name.map_or(node.span, |(_, node)| node.span),
    })
}

fn retry(reader: &mut Reader<'_>, object: Object<'_>, on_error: OnError) -> Option<Box<RetryRule>> {
    let default = RetryRule::default();
    let node = reader.get(object, "retry")?;
    let pointer = object.child_pointer("retry");
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, &pointer, "`retry`", "an object");
        return None;
    }
    let below = Object {
        node,
        pointer: &pointer,
    };
    reader.unknown_keys(below, fields::RETRY, &[], "`retry`");
    if on_error != OnError::Retry {
        let diagnostic =
            reader.warning(codes::RETRY_UNUSED, node.span, "this `retry` has no effect");
        diagnostic.pointer = Some(pointer.clone());
        diagnostic.help = Some("add \"on_error\": \"retry\"".to_owned());
    }
    let count = number_template(reader, below, "count", "`retry.count`");
    if let (Some((_, Some(count))), Some(node)) = (&count, below.get("count"))
        && (count.fract() != 0.0 || *count > 1000.0)
    {
        reader.wrong_type(
            node,
            &below.child_pointer("count"),
            "`retry.count`",
            "an integer up to 1000",
        );
    }
    Some(Box::new(RetryRule {
        count: count.map_or(default.count, |(template, _)| template),
        delay: number_template(reader, below, "delay", "`retry.delay`")
            .map_or(default.delay, |(template, _)| template),
        condition: retry_condition(reader, below),
        max_ms: number_template(reader, below, "max_ms", "`retry.max_ms`")
            .map(|(template, _)| template),
        backoff: reader
            .one_of(
                below,
                "backoff",
                "`retry.backoff`",
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
                "`retry.then`",
                &[("stop", RetryThen::Stop), ("skip", RetryThen::Skip)],
            )
            .unwrap_or_default(),
    }))
}

/// A text, or a list of them.
fn retry_condition(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<Template> {
    let Some(node) = reader.get(object, "condition") else {
        return Vec::new();
    };
    let is_empty = match &node.kind {
        NodeKind::Array(items) => {
            items.is_empty() || items.iter().any(|item| item.as_str() == Some(""))
        }
        _ => node.as_str() == Some(""),
    };
    if is_empty {
        let message = "`retry.condition` is empty: every error would match";
        let diagnostic = reader.error(codes::FIELD_VALUE, node.span, message);
        diagnostic.pointer = Some(object.child_pointer("condition"));
        diagnostic.help = Some("remove it to retry after every error".to_owned());
        return Vec::new();
    }
    let NodeKind::Array(items) = &node.kind else {
        return template_text(reader, object, "condition", "`retry.condition`")
            .into_iter()
            .collect();
    };
    let pointer = object.child_pointer("condition");
    let mut texts = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let pointer = format!("{pointer}/{place}");
        match &item.kind {
            NodeKind::String(text) => texts.push(from_string(reader, text, item.span, &pointer)),
            _ => reader.wrong_type(item, &pointer, "`retry.condition`", "a text"),
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::{propose_builtin, propose_mcp};

    #[test]
    fn tools_are_proposed_as_people_call_them() {
        for (name, wanted) in [
            ("Bash", Some("claude__bash")),
            ("WebFetch", Some("claude__web_fetch")),
            ("NotebookEdit", Some("claude__notebook_edit")),
            ("sandy__wait_for", Some("sandy__wait_for_element")),
            ("sandy__bash", Some("claude__bash")),
            ("claude__raed", Some("claude__read")),
            ("read_file", Some("claude__read")),
            ("append", Some("sandy__append_file")),
            ("wait", Some("sandy__wait")),
            ("zebra", None),
            ("", None),
            ("github__create_issue", None),
        ] {
            assert_eq!(propose_builtin(name), wanted, "{name}");
        }
        assert_eq!(
            propose_mcp("github__create_issue").as_deref(),
            Some("mcp__github__create_issue")
        );
        assert_eq!(propose_mcp("github"), None);
        assert_eq!(propose_mcp("mcp_github__x"), None);
    }
}
