//! The steps of a bundle's script, and the events they become.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use super::Findings;
use super::format::{Milliseconds, Name, Time};
use crate::import::Fixture;
use crate::import::builder::Draft;
use crate::{
    ErrorHappened, EventData, FinalOutput, MemoryRead, MemoryWrite, MessageReceived, ToolCall,
    ToolResult,
};
use cuecard_source::decode::schema_of;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::Node;
use cuecard_source::reader::{Object, Reader, first_character};
use cuecard_source::value::{Json, cut};

/// Reads the steps in order, without those that can't be read.
pub(super) fn read_script(
    reader: &mut Reader<'_>,
    root: &Node,
    fixtures: &[Fixture],
    findings: &mut Findings,
) -> Vec<Draft> {
    let items = root.get("script").and_then(Node::as_array);
    let items = items.unwrap_or_default();
    let call_ids = items.iter().filter_map(|step| {
        let is_call = step.get("type").and_then(Node::as_str) == Some("tool_call");
        step.get("call_id").filter(|_| is_call)?.as_str()
    });
    let fixtures = fixtures
        .iter()
        .map(|fixture| (fixture.id.as_str(), fixture));
    let mut steps = Steps {
        calls: HashMap::new(),
        answered: HashSet::new(),
        all_calls: call_ids.collect(),
        event_ids: HashSet::new(),
        fixtures: fixtures.collect(),
    };
    let read = items.iter().enumerate().filter_map(|(idx, node)| {
        let pointer = format!("/script/{idx}");
        let step = Object {
            node,
            pointer: &pointer,
        };
        let draft = step_type(reader, step).and_then(|kind| steps.step(reader, step, kind));
        findings.keep(reader.diagnostics.drain(..));
        draft
    });
    read.collect()
}

/// The type of a step, if it is a known one.
fn step_type(reader: &mut Reader<'_>, step: Object<'_>) -> Option<&'static str> {
    if step.node.as_object().is_none() {
        reader.wrong_type(step.node, step.pointer, "a step", "an object");
        return None;
    }
    let node = reader.required(step, "type", "a step", r#""type": "tool_call""#)?;
    let pointer = step.child_pointer("type");
    let kind = reader.text_of(node, &pointer, "`type`")?;
    let names = || TYPES.iter().map(|step| step.name);
    let known = names().find(|name| *name == kind);
    if known.is_none() {
        let message = format!("unknown step type `{}`", cut(kind, 80));
        let found = reader.error_at(codes::BUNDLE_STEP, node.span, &pointer, message);
        match did_you_mean(kind, names()) {
            Some(name) => found.label = Some(format!("did you mean `{name}`?")),
            None => {
                let listed: Vec<_> = names().map(|name| format!("`{name}`")).collect();
                found.help = Some(format!("valid types are {}", listed.join(", ")));
            }
        }
    }
    known
}

/// A type of step.
pub(super) struct StepType {
    pub name: &'static str,
    /// What a step's keys are if it is of this type.
    schema: fn() -> Json,
}

/// The schema of a step.
pub(super) struct StepSchema;

impl JsonSchema for StepSchema {
    fn schema_name() -> Cow<'static, str> {
        "step".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<&str> = TYPES.iter().map(|step| step.name).collect();
        let own = TYPES.iter().map(|step| {
            json!({
                "if": {"properties": {"type": {"const": step.name}}, "required": ["type"]},
                "then": (step.schema)(),
            })
        });
        let own: Vec<Json> = own.collect();
        schemars::json_schema!({
            "type": "object",
            "properties": {"type": {"description": "What happened.", "enum": names}},
            "required": ["type"],
            "allOf": own,
        })
    }
}

/// Defines the structs of steps, each with the keys that every step has, and how one becomes an event.
macro_rules! steps {
    ($self:ident, $reader:ident, $step:ident: $(
        $name:ident = $kind:literal, $meaning:literal {
            $($(#[$meta:meta])* $field:ident: $type:ty,)*
        } => $data:expr;
    )*) => {
        $(
            #[derive(Deserialize, JsonSchema)]
            struct $name {
                $($(#[$meta])* $field: $type,)*
                #[serde(rename = "type")]
                #[schemars(with = "String")]
                _kind: IgnoredAny,
                /// Its id, unique in the bundle.
                event_id: Option<Name>,
                /// When (RFC 3339).
                ts: Option<Time>,
                /// The group it belongs to.
                group_id: Option<String>,
                /// The session it belongs to.
                session_id: Option<String>,
                /// The task it belongs to.
                task_id: Option<String>,
                /// The agent it belongs to.
                agent_id: Option<String>,
                /// The event it answers.
                parent_event_id: Option<String>,
            }
        )*

        /// The types of steps.
        pub(super) const TYPES: &[StepType] = &[$(StepType {
            name: $kind,
            schema: || {
                let mut schema = schema_of::<$name>();
                schema["description"] = $meaning.into();
                schema
            },
        }),*];

        impl Steps<'_> {
            #[allow(unused_variables, reason = "values are taken from the node as they are written")]
            fn step(&mut $self, $reader: &mut Reader<'_>, $step: Object<'_>, kind: &str) -> Option<Draft> {
                match kind {
                    $($kind => {
                        let what = concat!("a `", $kind, "` step");
                        let read = $reader.decoded::<$name>($step.node, $step.pointer, what);
                        $reader.diagnostics.extend(read.diagnostics);
                        let $name {
                            $($field,)*
                            event_id, ts, group_id, session_id, task_id, agent_id, parent_event_id, ..
                        } = read.value?;
                        $self.event_id($reader, $step, event_id.as_deref());
                        Some(Draft {
                            data: $data,
                            event_id: event_id.map(|id| id.0),
                            ts: ts.map(|ts| ts.0),
                            group_id,
                            session_id,
                            task_id,
                            agent_id,
                            parent_event_id,
                        })
                    })*
                    _ => None,
                }
            }
        }
    };
}

steps! { self, reader, step:
    MessageReceivedStep = "message_received", "A message reached the agent." {
        /// Who wrote it (default: user).
        role: Option<String>,
        /// Its text.
        content: String,
    } => EventData::MessageReceived(MessageReceived {
        role: role.unwrap_or_else(|| "user".to_owned()),
        content,
    });

    ToolCallStep = "tool_call", "A tool was called." {
        /// The tool's name.
        tool: Name,
        /// What a call and its result share.
        call_id: Name,
        /// What it was called with.
        #[schemars(with = "Option<Json>")]
        args: Option<IgnoredAny>,
        /// The name that the agent itself used.
        native_tool: Option<String>,
        /// Which attempt it was, from 1.
        attempt: Option<u32>,
    } => {
        self.call(reader, step, &tool, &call_id);
        let args = reader.get(step, "args").map(Node::to_value);
        EventData::ToolCall(ToolCall {
            tool: tool.0.into(),
            call_id: call_id.0.into(),
            args: args.unwrap_or_else(|| json!({})).into(),
            native_tool,
            attempt,
        })
    };

    ToolResultStep = "tool_result", "A tool answered." {
        /// The tool's name.
        tool: Name,
        /// What a call and its result share.
        call_id: Name,
        /// Whether the call did what it was asked.
        success: bool,
        /// What it answered.
        #[schemars(with = "Option<Json>")]
        result: Option<IgnoredAny>,
        /// The whole text of the answer.
        text: Option<String>,
        /// The fixture of the test case that the result is taken from.
        fixture_id: Option<String>,
        /// How long it took.
        duration_ms: Option<Milliseconds>,
    } => {
        self.answer(reader, step, &tool, &call_id);
        if let Some(fixture) = fixture_id.as_deref().and_then(|id| self.fixtures.get(id)) {
            let fails = fixture.result.is_none() && fixture.error.is_some();
            if *tool != fixture.tool {
                let message = format!("the fixture belongs to `{}`", cut(&fixture.tool, 80));
                doubt(reader, step, "fixture_id", message);
            } else if fails && success {
                let message = "the fixture is an error, but the result is a success".to_owned();
                doubt(reader, step, "success", message);
            }
        }
        let result = match (step.get("result"), &fixture_id) {
            (Some(result), _) => result.to_value(),
            (None, Some(id)) => self.fixture(reader, step, id),
            (None, None) => Json::Null,
        };
        EventData::ToolResult(ToolResult {
            tool: tool.0.into(),
            call_id: call_id.0.into(),
            success,
            result: result.into(),
            text,
            structured: None,
            fixture_id,
            duration_ms: duration_ms.map(|duration| duration.0),
        })
    };

    MemoryReadStep = "memory_read", "The agent read its memory." {
        /// The kind of memory.
        source: Option<String>,
        /// Which file or key.
        path: Option<String>,
        /// What was read.
        content: Option<String>,
    } => {
        let path = memory_path(reader, step, path);
        EventData::MemoryRead(MemoryRead { source: source.unwrap_or_default(), path, group_id: None, content })
    };

    MemoryWriteStep = "memory_write", "The agent wrote its memory." {
        /// The kind of memory.
        source: Option<String>,
        /// Which file or key.
        path: Option<String>,
        /// What was written.
        content: Option<String>,
        /// What changed, in words.
        change_summary: Option<String>,
    } => {
        let path = memory_path(reader, step, path);
        let source = source.unwrap_or_default();
        EventData::MemoryWrite(MemoryWrite { source, path, group_id: None, content, change_summary })
    };

    ErrorStep = "error", "Something went wrong." {
        /// Where it went wrong.
        scope: Option<Scope>,
        /// The tool concerned.
        tool: Option<String>,
        /// The call concerned.
        call_id: Option<String>,
        /// A word for machines, for example `timeout`.
        error_type: Name,
        /// What went wrong, for people.
        message: Option<String>,
        /// Whether trying again may help.
        retryable: Option<bool>,
    } => {
        if let Some(id) = &call_id {
            self.check_call(reader, step, tool.as_deref(), id);
            self.answered.insert(id.clone());
        }
        let is_of_tool = tool.is_some() || call_id.is_some();
        // A call has one tool, which the step need not repeat.
        let called = call_id.as_deref().and_then(|id| self.calls.get(id));
        let scope = scope.unwrap_or(if is_of_tool { Scope::Tool } else { Scope::Runtime });
        EventData::ErrorHappened(ErrorHappened {
            scope: scope.as_str().to_owned(),
            tool: tool.or_else(|| called.cloned()).map(Cow::Owned),
            call_id: call_id.map(Arc::from),
            error_type: error_type.0,
            message: message.unwrap_or_default(),
            retryable: retryable.unwrap_or(false),
        })
    };

    FinalOutputStep = "final_output", "The agent gave its last answer." {
        /// Who gave it (default: assistant).
        role: Option<String>,
        /// Its text.
        content: String,
        /// What form it has.
        format_hint: Option<String>,
    } => {
        let role = role.unwrap_or_else(|| "assistant".to_owned());
        EventData::FinalOutput(FinalOutput { role, content, format_hint })
    };
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Scope {
    Tool,
    Model,
    Runtime,
}

impl Scope {
    fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Model => "model",
            Self::Runtime => "runtime",
        }
    }
}

/// What steps refer to.
struct Steps<'a> {
    /// The calls before the step that is read, with their tools.
    calls: HashMap<String, String>,
    /// Those of them that have a result or an error.
    answered: HashSet<String>,
    /// Calls of the whole script.
    all_calls: HashSet<&'a str>,
    event_ids: HashSet<String>,
    fixtures: HashMap<&'a str, &'a Fixture>,
}

impl Steps<'_> {
    fn event_id(&mut self, reader: &mut Reader<'_>, step: Object<'_>, id: Option<&str>) {
        let Some(id) = id.filter(|id| !self.event_ids.insert((*id).to_owned())) else {
            return;
        };
        let message = format!("duplicate `event_id` `{}`", cut(id, 80));
        let (at, pointer) = (span(step, "event_id"), step.child_pointer("event_id"));
        reader.error_at(codes::BUNDLE_EVENT_ID, at, &pointer, message);
    }

    fn call(&mut self, reader: &mut Reader<'_>, step: Object<'_>, tool: &str, id: &str) {
        let before = self.calls.insert(id.to_owned(), tool.to_owned());
        let was_answered = self.answered.remove(id);
        if before.is_some() && !was_answered {
            let shown = cut(id, 80);
            let message =
                format!("duplicate `call_id` `{shown}`: a call with this id has no result yet");
            doubt(reader, step, "call_id", message);
        }
    }

    fn answer(&mut self, reader: &mut Reader<'_>, step: Object<'_>, tool: &str, id: &str) {
        if !self.answered.insert(id.to_owned()) {
            let message = format!("the call `{}` already has a result", cut(id, 80));
            doubt(reader, step, "call_id", message);
        }
        self.check_call(reader, step, Some(tool), id);
    }

    /// The result that a fixture holds; that of a failure is its `error`.
    fn fixture(&self, reader: &mut Reader<'_>, step: Object<'_>, id: &str) -> Json {
        let Some(fixture) = self.fixtures.get(id) else {
            let message = format!("undefined fixture `{}`", cut(id, 80));
            let (at, pointer) = (span(step, "fixture_id"), step.child_pointer("fixture_id"));
            let proposal = nearest(id, self.fixtures.keys().copied());
            let found = reader.error_at(codes::BUNDLE_FIXTURE, at, &pointer, message);
            found.label = proposal;
            found.help = Some(
                "add it to `tools.fixtures` of the test case, or give the step a `result`"
                    .to_owned(),
            );
            return Json::Null;
        };
        let held = fixture.result.as_ref().or(fixture.error.as_ref());
        held.cloned().unwrap_or_default()
    }

    /// Reports a `call_id` that no earlier `tool_call` has.
    fn check_call(&self, reader: &mut Reader<'_>, step: Object<'_>, tool: Option<&str>, id: &str) {
        let shown = cut(id, 80);
        if let Some(called) = self.calls.get(id) {
            if let Some(tool) = tool.filter(|tool| tool != called) {
                let (tool, called) = (cut(tool, 80), cut(called, 80));
                let message =
                    format!("a step of `{tool}` answers `{shown}`, which is a call of `{called}`");
                doubt(reader, step, "tool", message);
            }
            return;
        }
        let is_later = self.all_calls.contains(id);
        let message = match is_later {
            true => format!("the `call_id` `{shown}` is of a `tool_call` that comes later"),
            false => format!("no `tool_call` has the `call_id` `{shown}`"),
        };
        let proposal = nearest(id, self.calls.keys().map(String::as_str));
        let (at, pointer) = (span(step, "call_id"), step.child_pointer("call_id"));
        let found = reader.error_at(codes::BUNDLE_CALL, at, &pointer, message);
        found.label = proposal;
        found.help =
            is_later.then(|| "put the steps in the order in which they happened".to_owned());
    }
}

fn span(step: Object<'_>, key: &str) -> cuecard_source::Span {
    step.get(key).unwrap_or(step.node).span
}

/// Warns that what stands at a key doesn't go with the rest.
fn doubt(reader: &mut Reader<'_>, step: Object<'_>, key: &str, message: String) {
    let found = reader.warning(codes::BUNDLE_DOUBT, span(step, key), message);
    found.pointer = Some(step.child_pointer(key));
}

/// The path of a memory. Without one nobody can tell by it whose memory it is.
fn memory_path(reader: &mut Reader<'_>, step: Object<'_>, path: Option<String>) -> String {
    path.unwrap_or_else(|| {
        let message = "no `path`: whose memory it is can be told by `group_id` only";
        let at = first_character(reader.source, step.node.span);
        reader.warning(codes::BUNDLE_DOUBT, at, message).pointer = Some(step.child_pointer("path"));
        String::new()
    })
}

/// The id that was probably meant. Among very many a guess would take long, and be none.
fn nearest<'i>(id: &str, ids: impl Iterator<Item = &'i str>) -> Option<String> {
    const MOST: usize = 100;
    let mut ids: Vec<&str> = ids.take(MOST + 1).collect();
    ids.sort_unstable();
    let meant = did_you_mean(id, ids.iter().copied()).filter(|_| ids.len() <= MOST);
    meant.map(|id| format!("did you mean `{id}`?"))
}
