//! Everything in a bundle but its steps: its structs are the format.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Map;

use super::step::StepSchema;
use crate::import::CAPABILITIES;
use crate::import::builder::{Draft, Frame, capabilities, read_time};
use crate::{Adapter, EventData, FinalOutput, MessageReceived, RunStatus};
use cuecard_source::Span;
use cuecard_source::decode::entries;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::Node;
use cuecard_source::parts;
use cuecard_source::reader::{Object, Reader, first_character, found};
use cuecard_source::value::{Json, cut};

/// The version of bundles that this release reads.
pub(super) const VERSION: &str = "0.1";

/// A bundle.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Bundle {
    /// Version of the format: "0.1".
    #[allow(dead_code, reason = "there is one")]
    #[schemars(required)]
    schema_version: Option<Version>,
    /// What the bundle is written for.
    adapter: AdapterName,
    /// Whose agent ran, and what made it act.
    scenario: Scenario,
    /// What the run can be asked.
    #[serde(default, deserialize_with = "entries")]
    #[schemars(with = "BTreeMap<String, Option<bool>>")]
    capabilities: Vec<(String, Option<bool>)>,
    /// What the agent was told first.
    input_messages: Vec<Message>,
    /// The steps of the run, in the order in which they happened.
    #[allow(dead_code, reason = "they are read one by one")]
    #[schemars(with = "Vec<StepSchema>")]
    script: Vec<IgnoredAny>,
    /// The last answer; a run that succeeded has one, here or as a step.
    final_output: Option<Output>,
    /// How the run ended.
    status: RunStatus,
    /// What the run took.
    metrics: Metrics,
    /// Files that belong to the run.
    #[serde(default)]
    artifacts: Map<String, Json>,
}

/// The only adapter that bundles are written for.
#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
enum AdapterName {
    #[serde(rename = "nanoclaw-replay")]
    NanoclawReplay,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "scenario")]
#[allow(dead_code, reason = "the scenario is kept as it is written")]
struct Scenario {
    /// The group whose agent ran.
    group_id: Name,
    /// The session.
    session_id: Option<String>,
    /// The scheduled task.
    task_id: Option<String>,
    /// What made the agent act.
    trigger: Trigger,
    /// The task of a scheduler; a run of the scheduler has one.
    scheduler_context: Option<SchedulerContext>,
}

#[derive(Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Trigger {
    UserMessage,
    Scheduler,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
#[allow(dead_code, reason = "the scenario is kept as it is written")]
struct SchedulerContext {
    /// The task.
    #[schemars(with = "Option<Json>")]
    task_id: Option<IgnoredAny>,
    /// Its name.
    #[schemars(with = "Option<Json>")]
    task_name: Option<IgnoredAny>,
    /// When it was scheduled to run (RFC 3339).
    #[schemars(with = "Option<Json>")]
    scheduled_for: Option<IgnoredAny>,
    /// The time zone it was planned in.
    #[schemars(with = "Option<Json>")]
    timezone: Option<IgnoredAny>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "message")]
struct Message {
    /// Who said it (default: user).
    role: Option<String>,
    /// What was said.
    content: String,
    /// When (RFC 3339).
    ts: Option<Time>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "final_output")]
struct Output {
    /// Who gave it (default: assistant).
    role: Option<String>,
    /// Its text.
    content: Option<String>,
    /// What form it has.
    format_hint: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "metrics")]
struct Metrics {
    /// The time of the whole run in milliseconds.
    timing_ms_total: Milliseconds,
    /// Tool calls; those of the script are counted.
    tool_call_count: Option<u64>,
    /// Calls that repeated a failed one.
    retry_count: Option<u64>,
    /// Tokens: a number, or an object with `total_tokens`, or `input_tokens` and `output_tokens`.
    token_usage: Option<TokenUsage>,
}

parts! {
    /// The version of the format.
    Version(()) as (), { "const": "0.1" }, |reader, node, pointer| {
        if node.as_str() != Some(VERSION) {
            let message = format!("`schema_version` must be the string \"{VERSION}\", not {}", found(node));
            reader.error_at(codes::BUNDLE_VERSION, node.span, pointer, message);
        }
        Some(())
    };
    /// A text that is not empty.
    pub(super) Name(String) as str, { "type": "string", "minLength": 1 }, |reader, node, pointer| {
        let text = node.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        or_wrong_type(reader, node, pointer, "a string that is not empty", text)
    };
    /// A time.
    pub(super) Time(Timestamp) as Timestamp, { "type": "string", "format": "date-time" }, |reader, node, pointer| {
        let time = node.as_str().and_then(read_time);
        or_wrong_type(reader, node, pointer, "an RFC 3339 time such as `2026-02-24T17:00:00.500Z`", time)
    };
    /// A duration.
    pub(super) Milliseconds(f64) as f64, { "type": "number", "minimum": 0 }, |reader, node, pointer| {
        let number = node.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
        or_wrong_type(reader, node, pointer, "a non-negative number of milliseconds", number)
    };
    /// One number, or an object of them: what came in and what went out count.
    TokenUsage(u64) as u64, { "type": ["integer", "object"] }, |reader, node, pointer| {
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
        let wanted = "null, a number of tokens, or an object with `total_tokens`, or `input_tokens` and `output_tokens`";
        or_wrong_type(reader, node, pointer, wanted, usage)
    };
}

fn or_wrong_type<T>(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    wanted: &str,
    value: Option<T>,
) -> Option<T> {
    if value.is_none() {
        let key = pointer.rsplit('/').next().unwrap_or_default();
        reader.wrong_type(node, pointer, &format!("`{key}`"), wanted);
    }
    value
}

/// Whether the rest can be judged: in a newer version anything may mean something else.
pub(super) fn is_of_this_release(reader: &mut Reader<'_>, root: &Node) -> bool {
    let at = "/schema_version";
    let version = root.get("schema_version").filter(|node| !node.is_null());
    if version.is_none() && root.as_object().is_some() {
        let message = "the bundle has no `schema_version`";
        let start = first_character(reader.source, root.span);
        let found = reader.error_at(codes::BUNDLE_VERSION, start, at, message);
        found.help = Some(format!("add \"schema_version\": \"{VERSION}\""));
    }
    let newer = version.and_then(|node| Some((node, node.as_str().filter(|text| is_newer(text))?)));
    let Some((node, text)) = newer else {
        return true;
    };
    let shown = cut(text, 40);
    let message = format!("the bundle has version `{shown}`, and this release reads {VERSION}");
    let found = reader.error_at(codes::BUNDLE_VERSION, node.span, at, message);
    found.help = Some("a newer release may read it".to_owned());
    false
}

fn is_newer(version: &str) -> bool {
    let mut numbers = version.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) > (0, 1),
        (Some(Ok(major)), None) => major > 0,
        _ => false,
    }
}

/// A message that the agent was given.
pub(super) struct InputMessage {
    pub role: String,
    pub content: String,
    pub ts: Option<Timestamp>,
    /// As it is written.
    written: Json,
}

impl InputMessage {
    pub(super) fn draft(self) -> Draft {
        let data = MessageReceived {
            role: self.role,
            content: self.content,
        };
        Draft::new(self.ts, EventData::MessageReceived(data))
    }
}

/// What the last `final_output` step says.
pub(super) fn last_output(steps: &[Draft]) -> Option<&FinalOutput> {
    steps.iter().rev().find_map(|step| match &step.data {
        EventData::FinalOutput(output) => Some(output),
        _ => None,
    })
}

impl Bundle {
    /// The bundle's own final output, else that of its last such step.
    pub(super) fn final_output(
        &self,
        reader: &mut Reader<'_>,
        root: &Node,
        steps: &[Draft],
    ) -> Option<FinalOutput> {
        let of_step = last_output(steps);
        let own = self.final_output.as_ref().map(|output| {
            let content = output.content.clone()?;
            Some(FinalOutput {
                role: output
                    .role
                    .clone()
                    .unwrap_or_else(|| "assistant".to_owned()),
                content,
                format_hint: output.format_hint.clone(),
            })
        });
        let at = root.get("final_output").filter(|node| !node.is_null());
        if let (Some(Some(own)), Some(of_step), Some(node)) = (&own, of_step, at)
            && own.content != of_step.content
        {
            let message = "`final_output` differs from the last `final_output` step of the script";
            let found = reader.warning(codes::BUNDLE_DOUBT, node.span, message);
            found.pointer = Some("/final_output".to_owned());
            found.help = Some("the top-level one is used; make both the same".to_owned());
        }
        let output = own.unwrap_or_else(|| of_step.cloned());
        // What is of another type was said already.
        let is_wrong = at.is_some_and(|node| {
            let content = node.get("content").filter(|content| !content.is_null());
            self.final_output.is_none() || content.is_some()
        });
        if output.is_none() && self.status == RunStatus::Success && !is_wrong {
            let at = at.map_or_else(
                || first_character(reader.source, root.span),
                |node| node.span,
            );
            let message = "a run that succeeded has no `final_output` with `content`";
            let pointer = "/final_output/content";
            reader.error_at(codes::BUNDLE_OUTPUT, at, pointer, message).help = Some(
                r#"add "final_output": { "role": "assistant", "content": "…" }, or correct the status"#
                    .to_owned(),
            );
        }
        output
    }

    /// Looks at what serde can't see.
    pub(super) fn check(&self, reader: &mut Reader<'_>, root: &Node, steps: &[Draft]) {
        let span = |pointer: &[&str]| -> Span {
            let node = pointer.iter().try_fold(root, |node, key| node.get(key));
            node.unwrap_or(root).span
        };
        let scenario = &self.scenario;
        if scenario.trigger == Trigger::Scheduler && scenario.scheduler_context.is_none() {
            let message = "a run of the scheduler has no `scheduler_context`";
            let (at, pointer) = (
                span(&["scenario", "trigger"]),
                "/scenario/scheduler_context",
            );
            reader.error_at(codes::BUNDLE_SCHEDULER, at, pointer, message).help = Some(
                r#"add "scheduler_context": { "task_id": "…", "task_name": "…", "scheduled_for": "…", "timezone": "…" }"#
                    .to_owned(),
            );
        }
        // Flags of one's own are welcome; a misspelt one would skip assertions in silence.
        let known = || CAPABILITIES.iter().map(|&(name, _)| name);
        let flags = root.get("capabilities").map_or(&[][..], Node::members);
        for flag in flags
            .iter()
            .filter(|flag| known().all(|name| name != flag.key))
        {
            let Some(proposal) = did_you_mean(&flag.key, known()) else {
                continue;
            };
            let node = root.get("capabilities").unwrap_or(root);
            let pointer = "/capabilities";
            let message = format!("unknown capability `{}`", cut(&flag.key, 80));
            let found = reader.warning(codes::BUNDLE_UNKNOWN, flag.key_span, message);
            found.pointer = Some(Object { node, pointer }.child_pointer(&flag.key));
            found.label = Some(format!("did you mean `{proposal}`?"));
        }
        let is_call = |step: &&Draft| matches!(step.data, EventData::ToolCall(_));
        let counted = steps.iter().filter(is_call).count() as u64;
        if let Some(told) = self.metrics.tool_call_count.filter(|told| *told != counted) {
            let message = format!("`tool_call_count` is {told}, but the script has {counted}");
            let at = span(&["metrics", "tool_call_count"]);
            let found = reader.warning(codes::BUNDLE_DOUBT, at, message);
            found.pointer = Some("/metrics/tool_call_count".to_owned());
            found.help = Some("the calls of the script are counted".to_owned());
        }
    }

    pub(super) fn messages(&self, root: &Node) -> Vec<InputMessage> {
        let written = root.get("input_messages").and_then(Node::as_array);
        let messages = self.input_messages.iter().zip(written.unwrap_or_default());
        messages
            .map(|(message, node)| InputMessage {
                role: message.role.clone().unwrap_or_else(|| "user".to_owned()),
                content: message.content.clone(),
                ts: message.ts.as_ref().map(|ts| ts.0),
                written: node.to_value(),
            })
            .collect()
    }

    /// What the trace says beside its events.
    pub(super) fn frame(
        self,
        root: &Node,
        messages: &[InputMessage],
        final_output: Option<FinalOutput>,
    ) -> Frame {
        let AdapterName::NanoclawReplay = self.adapter;
        let flags = self.capabilities.into_iter();
        let told = flags.filter_map(|(name, flag)| Some((name, Json::Bool(flag?))));
        Frame {
            adapter: Adapter {
                name: "nanoclaw-replay".to_owned(),
                version: VERSION.to_owned(),
            },
            capabilities: capabilities(&told.collect()),
            scenario: scenario(root),
            input_messages: messages
                .iter()
                .map(|message| message.written.clone())
                .collect(),
            final_output,
            status: self.status,
            timing_ms_total: Some(*self.metrics.timing_ms_total),
            retry_count: Some(self.metrics.retry_count.unwrap_or(0)),
            token_usage: self.metrics.token_usage.map(|usage| usage.0),
            artifacts: self.artifacts,
        }
    }
}

/// The scenario of the trace: its own fields in their order, null where nothing is said, then what else is written.
fn scenario(root: &Node) -> Json {
    let own = [
        "group_id",
        "session_id",
        "task_id",
        "trigger",
        "scheduler_context",
    ];
    let mut scenario: Map<String, Json> = own
        .iter()
        .map(|key| ((*key).to_owned(), Json::Null))
        .collect();
    if let Some(Json::Object(written)) = root.get("scenario").map(Node::to_value) {
        scenario.extend(written);
    }
    Json::Object(scenario)
}
