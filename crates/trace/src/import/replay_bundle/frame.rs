//! Everything in a bundle but its steps.

use jiff::Timestamp;

use super::fields;
use super::reader::{Object, Reader};
use super::step::Script;
use crate::import::CAPABILITIES;
use crate::import::builder::{Frame, capabilities, read_time};
use crate::{Adapter, FinalOutput, RunStatus};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::value::Json;

/// What every event belongs to, and what made the agent act.
#[derive(Default)]
pub(super) struct Context {
    pub group_id: Option<String>,
    pub session_id: Option<String>,
    pub task_id: Option<String>,
    /// The scenario as it is written.
    written: serde_json::Map<String, Json>,
}

/// A message that the agent was given.
pub(super) struct InputMessage {
    pub role: String,
    pub content: String,
    pub ts: Option<Timestamp>,
    /// As it is written.
    written: Json,
}

pub(super) fn context(reader: &mut Reader<'_>, bundle: Object<'_>) -> Context {
    let example = r#""scenario": { "group_id": "…", "trigger": "user_message" }"#;
    let Some(scenario) = object(reader, bundle, "scenario", Some(example)) else {
        return Context::default();
    };
    let pointer = "/scenario";
    let scenario = Object {
        node: scenario,
        pointer,
    };
    reader.unknown_keys(scenario, &[fields::SCENARIO], "`scenario`");
    let group = r#""group_id": "…", the group whose agent ran"#;
    let group_id = reader.name(scenario, "group_id", "`scenario`", group);
    let trigger = r#""trigger": "user_message""#;
    let is_scheduled = reader
        .required(scenario, "trigger", "`scenario`", trigger)
        .and_then(|node| {
            let words = [("user_message", false), ("scheduler", true)];
            reader.one_of(node, "/scenario/trigger", "`trigger`", &words)
        });
    match object(reader, scenario, "scheduler_context", None) {
        Some(node) => {
            let pointer = "/scenario/scheduler_context";
            let below = Object { node, pointer };
            reader.unknown_keys(below, &[fields::SCHEDULER_CONTEXT], "`scheduler_context`");
        }
        None if is_scheduled == Some(true) && scenario.given("scheduler_context").is_none() => {
            let at = scenario
                .get("trigger")
                .map_or(scenario.node.span, |node| node.span);
            let message = "a run of the scheduler has no `scheduler_context`";
            let diagnostic = reader.error(codes::BUNDLE_SCHEDULER, at, message);
            diagnostic.pointer = Some("/scenario/scheduler_context".to_owned());
            diagnostic.help = Some(
                r#"add "scheduler_context": { "task_id": "…", "task_name": "…", "scheduled_for": "…", "timezone": "…" }"#
                    .to_owned(),
            );
        }
        None => {}
    }
    Context {
        group_id,
        session_id: reader.text(scenario, "session_id"),
        task_id: reader.text(scenario, "task_id"),
        written: to_map(scenario.node),
    }
}

pub(super) fn input_messages(reader: &mut Reader<'_>, bundle: Object<'_>) -> Vec<InputMessage> {
    let example = r#""input_messages": [{ "role": "user", "content": "…" }]"#;
    let Some(node) = reader.required(bundle, "input_messages", "the bundle", example) else {
        return Vec::new();
    };
    let Some(items) = node.as_array() else {
        let wanted = "an array of messages";
        reader.wrong_type(node, "/input_messages", "`input_messages`", wanted);
        return Vec::new();
    };
    items
        .iter()
        .enumerate()
        .filter_map(|(idx, node)| {
            let pointer = format!("/input_messages/{idx}");
            if node.as_object().is_none() {
                reader.wrong_type(node, &pointer, "a message", "an object");
                return None;
            }
            let message = Object {
                node,
                pointer: &pointer,
            };
            reader.unknown_keys(message, &[fields::MESSAGE], "a message");
            let example = r#""content": "…""#;
            reader.required(message, "content", "a message", example);
            Some(InputMessage {
                role: role(reader, message, "user"),
                content: reader.text(message, "content")?,
                ts: time(reader, message),
                written: node.to_value(),
            })
        })
        .collect()
}

pub(super) fn frame(
    reader: &mut Reader<'_>,
    bundle: Object<'_>,
    context: &Context,
    messages: &[InputMessage],
    script: &Script,
) -> Frame {
    let told = flags(reader, bundle);
    let status = status(reader, bundle);
    let final_output = final_output(reader, bundle, status, script);
    let example = r#""metrics": { "timing_ms_total": 0 }"#;
    let metrics = object(reader, bundle, "metrics", Some(example)).map(|node| Object {
        node,
        pointer: "/metrics",
    });
    let mut frame = Frame {
        adapter: Adapter {
            name: super::ADAPTER.to_owned(),
            version: super::VERSION.to_owned(),
        },
        capabilities: capabilities(&told),
        scenario: Json::Object(context.scenario()),
        input_messages: messages
            .iter()
            .map(|message| message.written.clone())
            .collect(),
        final_output,
        status: status.unwrap_or(RunStatus::Failed),
        timing_ms_total: None,
        retry_count: Some(0),
        token_usage: None,
        artifacts: object(reader, bundle, "artifacts", None).map_or_else(Default::default, to_map),
    };
    if let Some(metrics) = metrics {
        reader.unknown_keys(metrics, &[fields::METRICS], "`metrics`");
        let example = r#""timing_ms_total", the time of the whole run in milliseconds"#;
        frame.timing_ms_total = reader
            .required(metrics, "timing_ms_total", "`metrics`", example)
            .and_then(|node| {
                let pointer = "/metrics/timing_ms_total";
                reader.milliseconds(node, pointer, "`timing_ms_total`")
            });
        frame.retry_count = reader.count(metrics, "retry_count").or(Some(0));
        frame.token_usage = token_usage(reader, metrics);
        tool_call_count(reader, metrics, script);
    }
    frame
}

impl Context {
    /// The scenario of the trace: its own fields in their order, then what else is written.
    fn scenario(&self) -> serde_json::Map<String, Json> {
        let written = |key: &str| self.written.get(key).cloned().unwrap_or(Json::Null);
        let mut scenario: serde_json::Map<String, Json> = fields::SCENARIO
            .iter()
            .map(|field| (field.name.to_owned(), written(field.name)))
            .collect();
        for (key, value) in &self.written {
            scenario.insert(key.clone(), value.clone());
        }
        scenario
    }
}

fn flags(reader: &mut Reader<'_>, bundle: Object<'_>) -> serde_json::Map<String, Json> {
    let Some(node) = object(reader, bundle, "capabilities", None) else {
        return serde_json::Map::new();
    };
    let known: Vec<&str> = CAPABILITIES.iter().map(|&(name, _)| name).collect();
    let mut flags = serde_json::Map::new();
    for member in node.members() {
        let below = Object {
            node,
            pointer: "/capabilities",
        };
        // Flags of one's own are welcome; a misspelt one would skip assertions in silence.
        let proposal = cuecard_source::diagnostic::did_you_mean(&member.key, known.iter().copied());
        if let (Some(proposal), false) = (proposal, known.contains(&member.key.as_str())) {
            let message = format!(
                "unknown capability `{}`",
                cuecard_source::value::cut(&member.key, 80)
            );
            let diagnostic = reader.warning(codes::BUNDLE_UNKNOWN, member.key_span, message);
            diagnostic.pointer = Some(below.child_pointer(&member.key));
            diagnostic.label = Some(format!("did you mean `{proposal}`?"));
        }
        match member.value.kind {
            NodeKind::Bool(flag) => {
                flags.insert(member.key.clone(), Json::Bool(flag));
            }
            NodeKind::Null => {}
            _ => {
                let what = format!("`{}`", cuecard_source::value::cut(&member.key, 80));
                let pointer = below.child_pointer(&member.key);
                reader.wrong_type(&member.value, &pointer, &what, "true or false");
            }
        }
    }
    flags
}

fn status(reader: &mut Reader<'_>, bundle: Object<'_>) -> Option<RunStatus> {
    let words = [
        ("success", RunStatus::Success),
        ("partial", RunStatus::Partial),
        ("failed", RunStatus::Failed),
        ("blocked", RunStatus::Blocked),
    ];
    let node = reader.required(bundle, "status", "the bundle", r#""status": "success""#)?;
    reader.one_of(node, "/status", "`status`", &words)
}

/// The bundle's own final output, else that of its last such step.
fn final_output(
    reader: &mut Reader<'_>,
    bundle: Object<'_>,
    status: Option<RunStatus>,
    script: &Script,
) -> Option<FinalOutput> {
    let node = object(reader, bundle, "final_output", None);
    let own = node.map(|node| {
        let output = Object {
            node,
            pointer: "/final_output",
        };
        reader.unknown_keys(output, &[fields::FINAL_OUTPUT], "`final_output`");
        read_final_output(reader, output)
    });
    let of_script = script.final_output();
    if let (Some(Some(own)), Some(node), Some(of_script)) = (&own, node, of_script)
        && own.content != of_script.content
    {
        let message = "`final_output` differs from the last `final_output` step of the script";
        let diagnostic = reader.warning(codes::BUNDLE_DOUBT, node.span, message);
        diagnostic.pointer = Some("/final_output".to_owned());
        diagnostic.help = Some("the top-level one is used; make both the same".to_owned());
    }
    let is_there = bundle.given("final_output").is_some();
    let found = match own {
        Some(own) => own,
        None if is_there => None,
        None => of_script.cloned(),
    };
    let is_wrong = node.is_none() && is_there
        || node.is_some_and(|node| {
            node.get("content")
                .is_some_and(|content| !content.is_null())
        });
    if found.is_none() && status == Some(RunStatus::Success) && !is_wrong {
        let start = bundle.node.span.start as usize;
        let at = node.map_or(cuecard_source::Span::new(start, start + 1), |node| {
            node.span
        });
        let message = "a run that succeeded has no `final_output` with `content`";
        let diagnostic = reader.error(codes::BUNDLE_OUTPUT, at, message);
        diagnostic.pointer = Some("/final_output/content".to_owned());
        diagnostic.help = Some(
            r#"add "final_output": { "role": "assistant", "content": "…" }, or correct the status"#
                .to_owned(),
        );
    }
    found
}

/// A final output, if it has a content.
pub(super) fn read_final_output(
    reader: &mut Reader<'_>,
    output: Object<'_>,
) -> Option<FinalOutput> {
    let role = role(reader, output, "assistant");
    let format_hint = reader.text(output, "format_hint");
    Some(FinalOutput {
        role,
        content: reader.text(output, "content")?,
        format_hint,
    })
}

pub(super) fn role(reader: &mut Reader<'_>, object: Object<'_>, default: &str) -> String {
    reader
        .text(object, "role")
        .unwrap_or_else(|| default.to_owned())
}

/// `ts`, if it is given.
pub(super) fn time(reader: &mut Reader<'_>, object: Object<'_>) -> Option<Timestamp> {
    let node = object.given("ts")?;
    let time = node.as_str().and_then(read_time);
    if time.is_none() {
        let wanted = "an RFC 3339 time such as `2026-02-24T17:00:00.500Z`";
        reader.wrong_type(node, &object.child_pointer("ts"), "`ts`", wanted);
    }
    time
}

/// One number, or an object of them: what came in and what went out count.
fn token_usage(reader: &mut Reader<'_>, metrics: Object<'_>) -> Option<u64> {
    let node = metrics.given("token_usage")?;
    let count = |key: &str| node.get(key).and_then(Node::as_u64);
    let sum = |first: &str, second: &str| match (count(first), count(second)) {
        (None, None) => None,
        (first, second) => Some(first.unwrap_or(0).saturating_add(second.unwrap_or(0))),
    };
    let usage = node
        .as_u64()
        .or_else(|| count("total_tokens"))
        .or_else(|| count("total"))
        .or_else(|| sum("input_tokens", "output_tokens"))
        .or_else(|| sum("prompt_tokens", "completion_tokens"))
        .or_else(|| sum("input", "output"));
    if usage.is_none() {
        let wanted = "null, a number of tokens, or an object with `total_tokens`, or `input_tokens` and `output_tokens`";
        reader.wrong_type(node, "/metrics/token_usage", "`token_usage`", wanted);
    }
    usage
}

/// Calls are counted; a number that is given must agree.
fn tool_call_count(reader: &mut Reader<'_>, metrics: Object<'_>, script: &Script) {
    let Some(told) = reader.count(metrics, "tool_call_count") else {
        return;
    };
    let counted = script.tool_call_count();
    if let (true, Some(node)) = (told != counted, metrics.get("tool_call_count")) {
        let message = format!("`tool_call_count` is {told}, but the script has {counted}");
        let diagnostic = reader.warning(codes::BUNDLE_DOUBT, node.span, message);
        diagnostic.pointer = Some("/metrics/tool_call_count".to_owned());
        diagnostic.help = Some("the calls of the script are counted".to_owned());
    }
}

/// An object below a key; with an example, it must be there.
fn object<'n>(
    reader: &mut Reader<'_>,
    parent: Object<'n>,
    key: &str,
    example: Option<&str>,
) -> Option<&'n Node> {
    let node = match example {
        Some(example) => reader.required(parent, key, "the bundle", example)?,
        None => parent.given(key)?,
    };
    if node.as_object().is_none() {
        let pointer = parent.child_pointer(key);
        reader.wrong_type(node, &pointer, &format!("`{key}`"), "an object");
        return None;
    }
    Some(node)
}

fn to_map(node: &Node) -> serde_json::Map<String, Json> {
    match node.to_value() {
        Json::Object(map) => map,
        _ => serde_json::Map::new(),
    }
}
