//! Calls of the agent.

use std::sync::Arc;

use serde_json::Map;

use super::entries::{PROGRESS, entries, plain};
use super::fields;
use super::loader::{Alias, Loader, alias, child, member};
use super::pieces::pattern_of;
use crate::model::vocabulary::{AbstractTool, TOOLS};
use crate::model::{
    Entry, ExpectedResult, ToolExecution, ToolExecutionEvent, ToolExecutionKind, ToolStatus,
    ToolUse,
};
use cuecard_source::Span;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::Object;
use cuecard_source::value::{Json, cut};

/// Keys that belong to a call and not to its arguments.
pub(super) const CALL_KEYS: &[&str] = &[
    "progress",
    "result",
    "status",
    "toolExecution",
    "toolCallId",
    "rawInput",
    "rawArguments",
    "validate",
    "kind",
    "delayMs",
    "_meta",
];

const ALIASES: &[Alias] = &[alias("meta", "_meta")];

/// The name of a tool, and where it stands.
struct Named {
    tool: String,
    written: Option<String>,
    span: Span,
    spec: Option<&'static AbstractTool>,
}

/// `agentToolUse: {toolName, args, …}`; keys of the call may also stand beside it.
pub(super) fn tool_use(
    loader: &mut Loader<'_>,
    body: &Node,
    pointer: &str,
    item: Object<'_>,
) -> Option<ToolUse> {
    let body = loader.mapping(body, pointer, "`agentToolUse`", fields::TOOL_USE, ALIASES)?;
    let object = Object {
        node: &body,
        pointer,
    };
    let example = "toolName: runCmd";
    let name = loader
        .reader
        .required(object, "toolName", "`agentToolUse`", example);
    let name = name.and_then(|node| {
        let at = object.child_pointer("toolName");
        let text = loader.reader.text_of(node, &at, "`toolName`")?;
        if text.trim().is_empty() {
            loader.invalid(node.span, &at, "`toolName` is empty");
            return None;
        }
        Some(named(loader, text, node.span, &at))
    });
    let args = match loader.reader.get(object, "args") {
        Some(node) if !loader.is_mapping(node, &object.child_pointer("args"), "`args`") => None,
        Some(node) => Some(node.clone()),
        None => Some(Node {
            kind: NodeKind::Object(Vec::new()),
            span: body.span,
        }),
    };
    if let Some(args) = member(&body, "args") {
        super::convert::lift_call_id(loader, &body, args);
    }
    let args_pointer = object.child_pointer("args");
    call(loader, name?, args?, &args_pointer, object, item)
}

/// `runCmd: {cmd, …}`: the body holds the arguments, and may hold keys of the call.
pub(super) fn shorthand(
    loader: &mut Loader<'_>,
    key: &Member,
    pointer: &str,
    item: Object<'_>,
) -> Option<ToolUse> {
    let name = named(loader, &key.key, key.key_span, pointer);
    let body = &key.value;
    if !loader.is_mapping(body, pointer, &format!("`{}`", key.key)) {
        return None;
    }
    let (own, args): (Vec<Member>, Vec<Member>) = body
        .members()
        .iter()
        .cloned()
        .partition(|member| CALL_KEYS.contains(&member.key.as_str()));
    let own = Node {
        kind: NodeKind::Object(own),
        span: body.span,
    };
    let args = Node {
        kind: NodeKind::Object(args),
        span: body.span,
    };
    let object = Object {
        node: &own,
        pointer,
    };
    call(loader, name, args, pointer, object, item)
}

/// `agentToolUse` as an element of a response.
pub(super) fn written_inside(
    loader: &mut Loader<'_>,
    body: &Node,
    pointer: &str,
) -> Option<(ToolUse, Json)> {
    let nothing = Node {
        kind: NodeKind::Object(Vec::new()),
        span: body.span,
    };
    let item = Object {
        node: &nothing,
        pointer,
    };
    let tool = tool_use(loader, body, pointer, item)?;
    let meta = loader.meta(Object {
        node: body,
        pointer,
    });
    Some((tool, meta))
}

/// `[[ms, name], {args}, {result}, {status}]` as an element of a response: the call, its `_meta`, and the body of the
/// `agentToolUse` that it is.
pub(super) fn inline(
    loader: &mut Loader<'_>,
    body: &Node,
    pointer: &str,
) -> Option<(ToolUse, Json, Option<Json>)> {
    let wanted = "`[[ms, name], {arguments}, result, status]`";
    let parts = match &body.kind {
        NodeKind::Array(parts) if !parts.is_empty() => parts,
        _ => {
            loader.reader.wrong_type(body, pointer, "`tool`", wanted);
            return None;
        }
    };
    let Some([time, name]) = parts[0].as_array() else {
        let at = format!("{pointer}/0");
        loader
            .reader
            .wrong_type(&parts[0], &at, "the first part of `tool`", "`[ms, name]`");
        return None;
    };
    let delay = loader.time(time, &format!("{pointer}/0/0"), "the delay");
    let at = format!("{pointer}/0/1");
    let text = loader.reader.text_of(name, &at, "the name of the tool")?;
    let mut canonical = Map::new();
    canonical.insert("toolName".into(), text.into());
    let name = named(loader, text, name.span, &at);
    let mut own: Vec<Member> = Vec::new();
    let mut args: Vec<Member> = Vec::new();
    for (idx, part) in parts.iter().enumerate().skip(1) {
        let wrapped = part.members();
        match wrapped {
            // `{result: …}` and `{status: …}`, or the arguments.
            [only] if CALL_KEYS.contains(&only.key.as_str()) => own.push(only.clone()),
            [only] if only.key == "args" && only.value.as_object().is_some() => {
                args.extend(only.value.members().iter().cloned());
            }
            _ if part.as_object().is_some() && idx == 1 => args.extend(wrapped.iter().cloned()),
            _ => {
                let key = if idx == 3 { "status" } else { "result" };
                own.push(Member {
                    key: key.to_owned(),
                    key_span: part.span,
                    value: part.clone(),
                });
            }
        }
    }
    let own = Node {
        kind: NodeKind::Object(own),
        span: body.span,
    };
    let args = Node {
        kind: NodeKind::Object(args),
        span: body.span,
    };
    let object = Object {
        node: &own,
        pointer,
    };
    canonical.insert("args".into(), args.to_value());
    if let Json::Object(own) = own.to_value() {
        canonical.extend(own);
    }
    let mut tool = call(loader, name, args, pointer, object, object)?;
    tool.delay_ms = delay?;
    if tool.delay_ms > 0 {
        canonical.insert("delayMs".into(), tool.delay_ms.into());
    }
    let meta = loader.meta(object);
    Some((tool, meta, Some(Json::Object(canonical))))
}

/// The tool that a name means. Reports other spellings, and what may be a slip.
fn named(loader: &mut Loader<'_>, text: &str, span: Span, pointer: &str) -> Named {
    let spec = AbstractTool::meant_by(text);
    match spec {
        Some(tool) if tool.name != text => {
            let message = match tool.agent_names.contains(&text) {
                true => format!("`{text}` is an agent's own name for `{}`", tool.name),
                false => format!("`{text}` is an older spelling of `{}`", tool.name),
            };
            let modern = format!("write `{}`", tool.name);
            loader.legacy(codes::TIMELINE_TOOL_ALIAS, span, pointer, message, modern);
            loader.replace_word(span, tool.name);
        }
        Some(_) => {}
        None if text.starts_with("mcp__") => {}
        None => {
            if let Some(near) = did_you_mean(text, TOOLS.iter().map(|tool| tool.name)) {
                let message = format!("unknown tool `{}`", cut(text, 40));
                loader
                    .warning(codes::TIMELINE_TOOL_ARGUMENTS, span, pointer, message)
                    .label = Some(format!("did you mean `{near}`?"));
            }
        }
    }
    Named {
        tool: spec.map_or_else(|| text.to_owned(), |tool| tool.name.to_owned()),
        written: spec
            .filter(|tool| tool.name != text)
            .map(|_| text.to_owned()),
        span,
        spec,
    }
}

/// Puts a call together. `own` and `item` hold the keys that belong to it; those of `own` win.
fn call(
    loader: &mut Loader<'_>,
    name: Named,
    args: Node,
    args_pointer: &str,
    own: Object<'_>,
    item: Object<'_>,
) -> Option<ToolUse> {
    loader.n_calls += 1;
    let counted = format!("call_{}", loader.n_calls);
    let pick = |key: &str| {
        if own.get(key).is_some() { own } else { item }
    };
    let (args, call_id_in_args) = without_call_id(loader, &args, args_pointer);
    let written: Json = args.to_value();
    let raw_arguments = loader.text(pick("rawArguments"), "rawArguments");
    let is_validated = loader.flag(pick("validate"), "validate").unwrap_or(true);
    // What is wrong with a call may be what it is for.
    let must_be_whole = is_validated && raw_arguments.is_none();
    let canonical = arguments(loader, &name, &args, args_pointer, must_be_whole);
    let (progress, expected_output) = progress(loader, pick("progress"));
    let result = result(loader, pick("result"));
    let status = status(loader, pick("status"));
    let execution = execution(loader, pick("toolExecution"));
    let call_id = loader.filled(pick("toolCallId"), "toolCallId");
    let kind = kind(loader, pick("kind"));
    let delay_ms = loader.time_of(pick("delayMs"), "delayMs").unwrap_or(0);
    let raw_input = pick("rawInput").get("rawInput").map(Node::to_value);
    let canonical = canonical?;
    let written_args = (canonical != written).then(|| Arc::new(written));
    Some(ToolUse {
        tool: name.tool,
        written_tool: name.written,
        tool_span: name.span,
        args: Arc::new(canonical),
        written_args,
        args_span: args.span,
        call_id: call_id.or(call_id_in_args).unwrap_or(counted),
        raw_input,
        raw_arguments,
        is_validated,
        kind,
        progress,
        expected_output,
        result: result?,
        status: status?,
        execution: execution?,
        delay_ms,
    })
}

/// Takes `toolCallId` out of the arguments, where it doesn't belong.
fn without_call_id(loader: &mut Loader<'_>, args: &Node, pointer: &str) -> (Node, Option<String>) {
    let Some(found) = member(args, "toolCallId") else {
        return (args.clone(), None);
    };
    let at = child(pointer, "toolCallId");
    let id = loader
        .reader
        .text_of(&found.value, &at, "`toolCallId`")
        .map(str::to_owned);
    loader.legacy(
        codes::TIMELINE_MISPLACED,
        found.key_span,
        &at,
        "`toolCallId` is not an argument",
        "put it next to `args`",
    );
    let rest = args
        .members()
        .iter()
        .filter(|member| member.key != "toolCallId")
        .cloned()
        .collect();
    let args = Node {
        kind: NodeKind::Object(rest),
        span: args.span,
    };
    (args, id)
}

/// The arguments under their canonical names. Reports other spellings, and what is missing or unknown.
/// What is missing is told if the call `must_be_whole`.
fn arguments(
    loader: &mut Loader<'_>,
    name: &Named,
    args: &Node,
    pointer: &str,
    must_be_whole: bool,
) -> Option<Json> {
    let Some(spec) = name.spec else {
        return Some(args.to_value());
    };
    let mut map = Map::new();
    let mut is_valid = true;
    for member in args.members() {
        let at = child(pointer, &member.key);
        let key = match spec.argument_alias(&member.key) {
            None => member.key.as_str(),
            Some(name) if args.get(name).is_some() || map.contains_key(name) => {
                let message = format!("`{}` and `{name}` mean the same", member.key);
                loader.invalid(member.key_span, &at, message);
                is_valid = false;
                continue;
            }
            Some(name) => {
                let code = codes::TIMELINE_TOOL_ALIAS;
                loader.rename(code, member.key_span, &at, &member.key, name);
                name
            }
        };
        if !spec.has_argument(key) {
            let names = spec.arguments.iter().map(|argument| argument.name);
            let label = did_you_mean(key, names);
            let message = format!("unknown argument of `{}`: `{}`", spec.name, cut(key, 40));
            let code = codes::TIMELINE_TOOL_ARGUMENTS;
            loader.warning(code, member.key_span, &at, message).label =
                label.map(|name| format!("did you mean `{name}`?"));
        }
        map.insert(key.to_owned(), member.value.to_value());
    }
    let missing: Vec<String> = spec
        .arguments
        .iter()
        .filter(|argument| argument.required && !map.contains_key(argument.name))
        .map(|argument| format!("`{}`", argument.name))
        .collect();
    if must_be_whole && !missing.is_empty() {
        let message = format!("`{}` needs {}", spec.name, missing.join(" and "));
        loader.warning(codes::TIMELINE_TOOL_ARGUMENTS, name.span, pointer, message);
    }
    is_valid.then_some(Json::Object(map))
}

fn progress(
    loader: &mut Loader<'_>,
    object: Object<'_>,
) -> (Vec<Entry<String>>, Vec<(usize, String)>) {
    let Some(node) = loader.reader.get(object, "progress") else {
        return (Vec::new(), Vec::new());
    };
    let pointer = object.child_pointer("progress");
    let all = entries(loader, node, &pointer, &PROGRESS, |loader, timed| {
        let text = plain(loader, timed.value, &timed.pointer, &PROGRESS)?;
        let output = timed
            .object
            .and_then(|(node, pointer)| loader.text(Object { node, pointer }, "expectOutput"));
        Some((timed.entry(text), output))
    });
    let expected = all
        .iter()
        .enumerate()
        .filter_map(|(idx, (_, output))| Some((idx, output.clone()?)))
        .collect();
    (all.into_iter().map(|(entry, _)| entry).collect(), expected)
}

/// `result`; `Some(None)` if there is none.
fn result(loader: &mut Loader<'_>, object: Object<'_>) -> Option<Option<ExpectedResult>> {
    let Some(node) = object.get("result") else {
        return Some(None);
    };
    let pointer = object.child_pointer("result");
    let test = match node.members() {
        [only] => only,
        _ => return Some(Some(ExpectedResult::Value(node.to_value()))),
    };
    let at = child(&pointer, &test.key);
    Some(Some(match test.key.as_str() {
        "contains" => {
            let text = loader.reader.text_of(&test.value, &at, "`contains`")?;
            if text.trim().is_empty() {
                let message = "`contains` is empty: every result contains it";
                loader.invalid(test.value.span, &at, message);
                return None;
            }
            ExpectedResult::Contains(text.to_owned())
        }
        "regex" => {
            ExpectedResult::Regex(pattern_of(&mut loader.reader, &test.value, &at, "`regex`")?)
        }
        "json" => ExpectedResult::Json(test.value.to_value()),
        _ => ExpectedResult::Value(node.to_value()),
    }))
}

fn status(loader: &mut Loader<'_>, object: Object<'_>) -> Option<ToolStatus> {
    let Some(node) = loader.reader.get(object, "status") else {
        return Some(ToolStatus::Ok);
    };
    let at = object.child_pointer("status");
    let text = loader.reader.text_of(node, &at, "`status`")?;
    let (status, name) = match text {
        "ok" => return Some(ToolStatus::Ok),
        "error" => return Some(ToolStatus::Error),
        "completed" | "success" => (ToolStatus::Ok, "ok"),
        "failed" => (ToolStatus::Error, "error"),
        "pending" | "in_progress" => {
            loader.legacy(
                codes::TIMELINE_VALUE_ALIAS,
                node.span,
                &at,
                format!("`{text}` means that the call has not finished: no result is sent"),
                "write `ok` or `error` if it finishes",
            );
            return Some(ToolStatus::Open);
        }
        _ => {
            let words = ["ok", "error"];
            let label = did_you_mean(text, words.into_iter().chain(["completed", "failed"]));
            let message = format!(
                "`status` of a call must be `ok` or `error`, not `{}`",
                cut(text, 40)
            );
            loader
                .error(codes::TIMELINE_SHAPE, node.span, &at, message)
                .label = label.map(|word| format!("did you mean `{word}`?"));
            return None;
        }
    };
    let code = codes::TIMELINE_VALUE_ALIAS;
    let text = text.to_owned();
    loader.rename(code, node.span, &at, &text, name);
    Some(status)
}

/// Kinds of calls that the protocol knows.
pub(super) const KINDS: &[&str] = &[
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
];

fn kind(loader: &mut Loader<'_>, object: Object<'_>) -> Option<String> {
    let words: Vec<(&str, &str)> = KINDS.iter().map(|kind| (*kind, *kind)).collect();
    let kind = loader.reader.one_of(object, "kind", "`kind`", &words)?;
    Some(kind.to_owned())
}

/// `toolExecution`; `Some(None)` if there is none.
fn execution(loader: &mut Loader<'_>, object: Object<'_>) -> Option<Option<ToolExecution>> {
    let Some(node) = loader.reader.get(object, "toolExecution") else {
        return Some(None);
    };
    let pointer = object.child_pointer("toolExecution");
    let what = "`toolExecution`";
    let node = loader.mapping(node, &pointer, what, fields::TOOL_EXECUTION, &[])?;
    let object = Object {
        node: &node,
        pointer: &pointer,
    };
    let start_ms = loader.time_of(object, "startTimeMs").unwrap_or(0);
    let events = loader
        .list(object, "events")
        .into_iter()
        .filter_map(|(item, pointer)| execution_event(loader, item, &pointer))
        .collect();
    Some(Some(ToolExecution { start_ms, events }))
}

fn execution_event(
    loader: &mut Loader<'_>,
    item: &Node,
    pointer: &str,
) -> Option<ToolExecutionEvent> {
    let what = "an event of `toolExecution`";
    let node = loader.mapping(item, pointer, what, fields::TOOL_EXECUTION_EVENT, &[])?;
    let object = Object {
        node: &node,
        pointer,
    };
    let time = loader.reader.required(object, "timeMs", what, "timeMs: 0");
    let time = time.and_then(|_| loader.time_of(object, "timeMs"));
    let content = loader.text(object, "content");
    let exit_code = loader.integer(object, "exitCode");
    loader
        .reader
        .required(object, "type", what, "type: stdout")?;
    let words = ["stdout", "stderr", "progress", "completion"].map(|word| (word, word));
    let kind = loader.reader.one_of(object, "type", "`type`", &words)?;
    if kind != "completion" && content.is_none() {
        loader
            .reader
            .required(object, "content", what, "content: \"…\"")?;
    }
    let text = content.clone().unwrap_or_default();
    Some(ToolExecutionEvent {
        time_ms: time?,
        kind: match kind {
            "stdout" => ToolExecutionKind::Stdout(text),
            "stderr" => ToolExecutionKind::Stderr(text),
            "progress" => ToolExecutionKind::Progress(text),
            _ => ToolExecutionKind::Completion {
                exit_code: exit_code.unwrap_or(0),
                content,
            },
        },
        span: node.span,
    })
}
