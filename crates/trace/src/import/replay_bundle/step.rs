//! The steps of a bundle's script, and the events they become.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::fields;
use super::frame::{read_final_output, role, time};
use super::reader::{Object, Reader};
use crate::import::Fixture;
use crate::import::builder::Draft;
use crate::{
    ErrorHappened, EventData, FinalOutput, MemoryRead, MemoryWrite, MessageReceived, ToolCall,
    ToolResult,
};
use cuecard_source::Span;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::Node;
use cuecard_source::value::{Json, cut};

/// A script has at most this many steps.
const MAX_STEPS: usize = 1_000_000;

/// The steps that could be read, in order.
#[derive(Default)]
pub(super) struct Script {
    pub steps: Vec<Draft>,
}

impl Script {
    /// What the last `final_output` step says.
    pub(super) fn final_output(&self) -> Option<&FinalOutput> {
        self.steps.iter().rev().find_map(|step| match &step.data {
            EventData::FinalOutput(output) => Some(output),
            _ => None,
        })
    }

    pub(super) fn tool_call_count(&self) -> u64 {
        let is_call = |step: &&Draft| matches!(step.data, EventData::ToolCall(_));
        self.steps.iter().filter(is_call).count() as u64
    }
}

pub(super) fn script(reader: &mut Reader<'_>, bundle: Object<'_>, fixtures: &[Fixture]) -> Script {
    let example = r#""script": [], the steps of the run"#;
    let Some(node) = reader.required(bundle, "script", "the bundle", example) else {
        return Script::default();
    };
    let Some(items) = node.as_array() else {
        reader.wrong_type(node, "/script", "`script`", "an array of steps");
        return Script::default();
    };
    if items.len() > MAX_STEPS {
        let message = format!(
            "the script has {} steps; {MAX_STEPS} is the limit",
            items.len()
        );
        let diagnostic = reader.error(codes::BUNDLE_VALUE, node.span, message);
        diagnostic.pointer = Some("/script".to_owned());
        return Script::default();
    }
    let mut steps = Steps {
        calls: HashMap::new(),
        answered: HashSet::new(),
        all_calls: call_ids(items),
        event_ids: HashSet::new(),
        fixtures: fixtures
            .iter()
            .map(|fixture| (fixture.id.as_str(), fixture))
            .collect(),
    };
    let steps = items
        .iter()
        .enumerate()
        .filter_map(|(idx, node)| steps.step(reader, node, idx))
        .collect();
    Script { steps }
}

/// What steps refer to.
struct Steps<'a> {
    /// The calls before the step that is read, with their tools.
    calls: HashMap<&'a str, &'a str>,
    /// Those of them that have a result or an error.
    answered: HashSet<&'a str>,
    /// Calls of the whole script.
    all_calls: HashSet<&'a str>,
    event_ids: HashSet<&'a str>,
    fixtures: HashMap<&'a str, &'a Fixture>,
}

impl<'a> Steps<'a> {
    fn step(&mut self, reader: &mut Reader<'_>, node: &'a Node, idx: usize) -> Option<Draft> {
        let pointer = format!("/script/{idx}");
        if node.as_object().is_none() {
            reader.wrong_type(node, &pointer, "a step", "an object");
            return None;
        }
        let step = Object {
            node,
            pointer: &pointer,
        };
        let kind = step_type(reader, step)?;
        let own = fields::STEPS.iter().find(|own| own.name == kind);
        let known = [fields::STEP, own.map_or(&[][..], |own| own.fields)];
        reader.unknown_keys(step, &known, &format!("a `{kind}` step"));
        let data = match kind {
            "message_received" => message_received(reader, step),
            "tool_call" => self.tool_call(reader, step, node),
            "tool_result" => self.tool_result(reader, step, node),
            "memory_read" => Some(memory_read(reader, step)),
            "memory_write" => Some(memory_write(reader, step)),
            "error" => self.error(reader, step),
            _ => final_output(reader, step),
        };
        let event_id = self.event_id(reader, step, node);
        Some(Draft {
            event_id,
            ts: time(reader, step),
            group_id: reader.text(step, "group_id"),
            session_id: reader.text(step, "session_id"),
            task_id: reader.text(step, "task_id"),
            agent_id: reader.text(step, "agent_id"),
            parent_event_id: reader.text(step, "parent_event_id"),
            data: data?,
        })
    }

    fn event_id(
        &mut self,
        reader: &mut Reader<'_>,
        step: Object<'_>,
        node: &'a Node,
    ) -> Option<String> {
        let node = node.get("event_id").filter(|node| !node.is_null())?;
        let pointer = step.child_pointer("event_id");
        let Some(id) = node.as_str().filter(|id| !id.is_empty()) else {
            let wanted = "a string that is not empty";
            reader.wrong_type(node, &pointer, "`event_id`", wanted);
            return None;
        };
        if !self.event_ids.insert(id) {
            let message = format!("duplicate `event_id` `{}`", cut(id, 80));
            reader
                .error(codes::BUNDLE_EVENT_ID, node.span, message)
                .pointer = Some(pointer);
        }
        Some(id.to_owned())
    }

    fn tool_call(
        &mut self,
        reader: &mut Reader<'_>,
        step: Object<'_>,
        node: &'a Node,
    ) -> Option<EventData> {
        let tool = tool(reader, step, "a `tool_call`");
        let call_id = call_id(reader, step, node, "a `tool_call`");
        let native_tool = reader.text(step, "native_tool");
        let attempt = reader.count(step, "attempt");
        if let Some(call_id) = call_id {
            let tool = node.get("tool").and_then(Node::as_str);
            let before = self.calls.insert(call_id, tool.unwrap_or_default());
            let was_answered = self.answered.remove(call_id);
            if before.is_some() && !was_answered {
                let message = format!(
                    "duplicate `call_id` `{}`: a call with this id has no result yet",
                    cut(call_id, 80)
                );
                doubt(reader, step, "call_id", message);
            }
        }
        let args = step.given("args");
        Some(EventData::ToolCall(ToolCall {
            tool: tool?.into(),
            call_id: call_id?.into(),
            args: args
                .map_or_else(|| Json::Object(Default::default()), Node::to_value)
                .into(),
            native_tool,
            attempt: attempt.and_then(|attempt| u32::try_from(attempt).ok()),
        }))
    }

    fn tool_result(
        &mut self,
        reader: &mut Reader<'_>,
        step: Object<'_>,
        node: &'a Node,
    ) -> Option<EventData> {
        let tool = tool(reader, step, "a `tool_result`");
        let call_id = call_id(reader, step, node, "a `tool_result`");
        if let Some(id) = call_id
            && !self.answered.insert(id)
        {
            let message = format!("the call `{}` already has a result", cut(id, 80));
            doubt(reader, step, "call_id", message);
        }
        self.check_call(reader, step, "a `tool_result`", tool.as_deref());
        let example = r#""success": true"#;
        reader.required(step, "success", "a `tool_result`", example);
        let success = reader.flag(step, "success");
        let fixture_id = reader.text(step, "fixture_id");
        if let Some(fixture) = fixture_id.as_deref().and_then(|id| self.fixtures.get(id)) {
            let fails = fixture.result.is_none() && fixture.error.is_some();
            if tool.as_ref().is_some_and(|tool| *tool != fixture.tool) {
                let message = format!("the fixture belongs to `{}`", cut(&fixture.tool, 80));
                doubt(reader, step, "fixture_id", message);
            } else if fails && success == Some(true) {
                let message = "the fixture is an error, but the result is a success".to_owned();
                doubt(reader, step, "success", message);
            }
        }
        let result = match (step.get("result"), &fixture_id) {
            (Some(result), _) => result.to_value(),
            (None, Some(id)) => self.fixture(reader, step, id),
            (None, None) => Json::Null,
        };
        let duration_ms = step.given("duration_ms").and_then(|node| {
            reader.milliseconds(node, &step.child_pointer("duration_ms"), "`duration_ms`")
        });
        let text = reader.text(step, "text");
        Some(EventData::ToolResult(ToolResult {
            tool: tool?.into(),
            call_id: call_id?.into(),
            success: success?,
            result: result.into(),
            text,
            structured: None,
            fixture_id,
            duration_ms,
        }))
    }

    /// The result that a fixture holds; that of a failure is its `error`.
    fn fixture(&self, reader: &mut Reader<'_>, step: Object<'_>, id: &str) -> Json {
        let Some(fixture) = self.fixtures.get(id) else {
            let at = step
                .get("fixture_id")
                .map_or(step.node.span, |node| node.span);
            let message = format!("undefined fixture `{}`", cut(id, 80));
            let proposal = nearest(id, self.fixtures.keys());
            let diagnostic = reader.error(codes::BUNDLE_FIXTURE, at, message);
            diagnostic.pointer = Some(step.child_pointer("fixture_id"));
            diagnostic.label = proposal.map(|id| format!("did you mean `{id}`?"));
            diagnostic.help = Some(
                "add it to `tools.fixtures` of the test case, or give the step a `result`"
                    .to_owned(),
            );
            return Json::Null;
        };
        let held = fixture.result.as_ref().or(fixture.error.as_ref());
        held.cloned().unwrap_or_default()
    }

    fn error(&mut self, reader: &mut Reader<'_>, step: Object<'_>) -> Option<EventData> {
        let tool = reader.text(step, "tool");
        let call_id = reader.text(step, "call_id");
        self.check_call(reader, step, "an `error`", tool.as_deref());
        let of_call = call_id.as_deref().and_then(|id| self.all_calls.get(id));
        self.answered.extend(of_call);
        let scope = match step.given("scope") {
            Some(node) => {
                let words = [("tool", "tool"), ("model", "model"), ("runtime", "runtime")];
                reader.one_of(node, &step.child_pointer("scope"), "`scope`", &words)
            }
            None if tool.is_some() || call_id.is_some() => Some("tool"),
            None => Some("runtime"),
        };
        let example = r#""error_type": "timeout""#;
        let error_type = reader.name(step, "error_type", "an `error`", example);
        let message = reader.text(step, "message").unwrap_or_default();
        let retryable = reader.flag(step, "retryable").unwrap_or(false);
        // A call has one tool, which the step need not repeat.
        let called = call_id.as_deref().and_then(|id| self.calls.get(id));
        let tool = tool.or_else(|| called.map(|&tool| tool.to_owned()));
        Some(EventData::ErrorHappened(ErrorHappened {
            scope: scope?.to_owned(),
            tool: tool.map(Cow::Owned),
            call_id: call_id.map(Arc::from),
            error_type: error_type?,
            message,
            retryable,
        }))
    }

    /// Reports a `call_id` that no earlier `tool_call` has.
    fn check_call(
        &self,
        reader: &mut Reader<'_>,
        step: Object<'_>,
        whose: &str,
        tool: Option<&str>,
    ) {
        let Some(node) = step.given("call_id") else {
            return;
        };
        let Some(id) = node.as_str().filter(|id| !id.is_empty()) else {
            return;
        };
        let shown = cut(id, 80);
        match (self.calls.get(id), tool) {
            (Some(&called), Some(tool)) if called != tool && !called.is_empty() => {
                let message = format!(
                    "{whose} of `{}` answers `{shown}`, which is a call of `{}`",
                    cut(tool, 80),
                    cut(called, 80)
                );
                doubt(reader, step, "tool", message);
            }
            (Some(_), _) => {}
            (None, _) => {
                let is_later = self.all_calls.contains(id);
                let message = match is_later {
                    true => format!(
                        "{whose} has the `call_id` `{shown}` of a `tool_call` that comes later"
                    ),
                    false => {
                        format!("{whose} has the `call_id` `{shown}`, and no `tool_call` has it")
                    }
                };
                let proposal = nearest(id, self.calls.keys());
                let diagnostic = reader.error(codes::BUNDLE_CALL, node.span, message);
                diagnostic.pointer = Some(step.child_pointer("call_id"));
                diagnostic.label = proposal.map(|id| format!("did you mean `{id}`?"));
                if is_later {
                    diagnostic.help =
                        Some("put the steps in the order in which they happened".to_owned());
                }
            }
        }
    }
}

/// Warns that what stands at a key doesn't go with the rest.
fn doubt(reader: &mut Reader<'_>, step: Object<'_>, key: &str, message: String) {
    let span = step.get(key).map_or(step.node.span, |node| node.span);
    reader.warning(codes::BUNDLE_DOUBT, span, message).pointer = Some(step.child_pointer(key));
}

/// The type of a step, if it is a known one.
fn step_type(reader: &mut Reader<'_>, step: Object<'_>) -> Option<&'static str> {
    let node = reader.required(step, "type", "a step", r#""type": "tool_call""#)?;
    let Some(kind) = node.as_str() else {
        reader.wrong_type(node, &step.child_pointer("type"), "`type`", "a string");
        return None;
    };
    let names = || fields::STEPS.iter().map(|step| step.name);
    let known = names().find(|name| *name == kind);
    if known.is_none() {
        let proposal = did_you_mean(kind, names());
        let message = format!("unknown step type `{}`", cut(kind, 80));
        let diagnostic = reader.error(codes::BUNDLE_STEP, node.span, message);
        diagnostic.pointer = Some(step.child_pointer("type"));
        match proposal {
            Some(name) => diagnostic.label = Some(format!("did you mean `{name}`?")),
            None => {
                let listed: Vec<_> = names().map(|name| format!("`{name}`")).collect();
                diagnostic.help = Some(format!("valid types are {}", listed.join(", ")));
            }
        }
    }
    known
}

fn tool(reader: &mut Reader<'_>, step: Object<'_>, whose: &str) -> Option<String> {
    reader.name(step, "tool", whose, r#""tool": "…", the tool's name"#)
}

fn call_id<'n>(
    reader: &mut Reader<'_>,
    step: Object<'_>,
    node: &'n Node,
    whose: &str,
) -> Option<&'n str> {
    let example = r#""call_id": "…", which the call and its result share"#;
    reader.name(step, "call_id", whose, example)?;
    node.get("call_id").and_then(Node::as_str)
}

fn message_received(reader: &mut Reader<'_>, step: Object<'_>) -> Option<EventData> {
    let example = r#""content": "…""#;
    reader.required(step, "content", "a `message_received`", example);
    let role = role(reader, step, "user");
    Some(EventData::MessageReceived(MessageReceived {
        role,
        content: reader.text(step, "content")?,
    }))
}

fn final_output(reader: &mut Reader<'_>, step: Object<'_>) -> Option<EventData> {
    let example = r#""content": "…""#;
    reader.required(step, "content", "a `final_output`", example);
    read_final_output(reader, step).map(EventData::FinalOutput)
}

fn memory_read(reader: &mut Reader<'_>, step: Object<'_>) -> EventData {
    let (source, path) = memory(reader, step, "a `memory_read`");
    EventData::MemoryRead(MemoryRead {
        source,
        path,
        group_id: None,
        content: reader.text(step, "content"),
    })
}

fn memory_write(reader: &mut Reader<'_>, step: Object<'_>) -> EventData {
    let (source, path) = memory(reader, step, "a `memory_write`");
    EventData::MemoryWrite(MemoryWrite {
        source,
        path,
        group_id: None,
        content: reader.text(step, "content"),
        change_summary: reader.text(step, "change_summary"),
    })
}

/// Source and path of a memory. Without a path nobody can tell by it whose memory it is.
fn memory(reader: &mut Reader<'_>, step: Object<'_>, whose: &str) -> (String, String) {
    let source = reader.text(step, "source").unwrap_or_default();
    let path = reader.text(step, "path").unwrap_or_default();
    if step.given("path").is_none() {
        let start = step.node.span.start as usize;
        let message =
            format!("{whose} has no `path`: whose memory it is can be told by `group_id` only");
        let diagnostic = reader.warning(codes::BUNDLE_DOUBT, Span::new(start, start + 1), message);
        diagnostic.pointer = Some(step.child_pointer("path"));
    }
    (source, path)
}

/// The id that was probably meant. Among very many a guess would take long, and be none.
fn nearest<'a>(id: &str, ids: impl ExactSizeIterator<Item = &'a &'a str>) -> Option<&'a str> {
    const MOST: usize = 100;
    if ids.len() > MOST {
        return None;
    }
    let mut ids: Vec<&str> = ids.copied().collect();
    ids.sort_unstable();
    did_you_mean(id, ids)
}

/// The ids of all calls of a script.
fn call_ids(items: &[Node]) -> HashSet<&str> {
    items
        .iter()
        .filter(|step| step.get("type").and_then(Node::as_str) == Some("tool_call"))
        .filter_map(|step| step.get("call_id")?.as_str())
        .collect()
}
