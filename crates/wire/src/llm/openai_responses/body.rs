//! The object that is a Responses answer, and that repeats much of its request.

use cuecard_source::value::Json;
use serde::{Serialize, Serializer};

use super::super::answer::Answer;
use super::super::usage::Usage;
use super::item::WireItem;

/// How far the answer is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State<'a> {
    InProgress,
    /// Done, or incomplete for this reason.
    Done(Option<&'static str>),
    /// Failed with this code and message.
    Failed(&'static str, &'a str),
}

#[derive(Serialize)]
pub(super) struct Body<'a> {
    id: &'a str,
    object: &'static str,
    created_at: u64,
    status: &'static str,
    background: bool,
    completed_at: Option<u64>,
    error: Option<FailedWith<'a>>,
    incomplete_details: Option<Incomplete>,
    instructions: Option<&'a Json>,
    max_output_tokens: Option<&'a Json>,
    max_tool_calls: Option<&'a Json>,
    model: &'a str,
    output: Vec<WireItem<'a>>,
    parallel_tool_calls: Repeated<'a, bool>,
    previous_response_id: Option<&'a Json>,
    prompt_cache_key: Option<&'a Json>,
    reasoning: Repeated<'a, Reasoning>,
    safety_identifier: Option<&'a Json>,
    service_tier: &'static str,
    store: Repeated<'a, bool>,
    temperature: Repeated<'a, f64>,
    text: Repeated<'a, Format>,
    tool_choice: Repeated<'a, &'static str>,
    tools: Repeated<'a, [(); 0]>,
    top_logprobs: Repeated<'a, u32>,
    top_p: Repeated<'a, f64>,
    truncation: Repeated<'a, &'static str>,
    usage: Option<ResponsesUsage>,
    user: Option<&'a Json>,
    metadata: Repeated<'a, Empty>,
}

impl<'a> Body<'a> {
    pub(super) fn new(
        answer: &Answer<'a>,
        id: &'a str,
        state: State<'a>,
        output: Vec<WireItem<'a>>,
    ) -> Self {
        let asked = |name: &str| answer.request.get(name).filter(|json| !json.is_null());
        let incomplete = match state {
            State::Done(reason) => reason,
            State::InProgress | State::Failed(..) => None,
        };
        let status = match state {
            State::InProgress => "in_progress",
            State::Done(None) => "completed",
            State::Done(Some(_)) => "incomplete",
            State::Failed(..) => "failed",
        };
        Self {
            id,
            object: "response",
            created_at: answer.created_at,
            status,
            background: false,
            completed_at: (status == "completed").then_some(answer.created_at),
            error: match state {
                State::Failed(code, message) => Some(FailedWith { code, message }),
                State::InProgress | State::Done(_) => None,
            },
            incomplete_details: incomplete.map(|reason| Incomplete { reason }),
            instructions: asked("instructions"),
            max_output_tokens: asked("max_output_tokens"),
            max_tool_calls: asked("max_tool_calls"),
            model: answer.model,
            output,
            parallel_tool_calls: Repeated::of(asked("parallel_tool_calls"), true),
            previous_response_id: asked("previous_response_id"),
            prompt_cache_key: asked("prompt_cache_key"),
            reasoning: Repeated::of(asked("reasoning"), Reasoning::default()),
            safety_identifier: asked("safety_identifier"),
            service_tier: "default",
            store: Repeated::of(asked("store"), true),
            temperature: Repeated::of(asked("temperature"), 1.0),
            text: Repeated::of(asked("text"), Format::default()),
            tool_choice: Repeated::of(asked("tool_choice"), "auto"),
            tools: Repeated::of(asked("tools"), []),
            top_logprobs: Repeated::of(asked("top_logprobs"), 0),
            top_p: Repeated::of(asked("top_p"), 1.0),
            truncation: Repeated::of(asked("truncation"), "disabled"),
            usage: matches!(state, State::Done(_)).then(|| ResponsesUsage::of(&answer.usage)),
            user: asked("user"),
            metadata: Repeated::of(asked("metadata"), Empty {}),
        }
    }
}

/// What the request says, or else what the provider takes.
enum Repeated<'a, T> {
    ModelRequest(&'a Json),
    Default(T),
}

impl<'a, T> Repeated<'a, T> {
    fn of(asked: Option<&'a Json>, default: T) -> Self {
        asked.map_or(Self::Default(default), Self::ModelRequest)
    }
}

impl<T: Serialize> Serialize for Repeated<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::ModelRequest(json) => json.serialize(serializer),
            Self::Default(default) => default.serialize(serializer),
        }
    }
}

#[derive(Serialize)]
struct FailedWith<'a> {
    code: &'static str,
    message: &'a str,
}

#[derive(Serialize)]
struct Incomplete {
    reason: &'static str,
}

#[derive(Serialize, Default)]
struct Reasoning {
    effort: Option<()>,
    summary: Option<()>,
}

#[derive(Serialize)]
struct Format {
    format: FormatType,
}

impl Default for Format {
    fn default() -> Self {
        Self {
            format: FormatType { kind: "text" },
        }
    }
}

#[derive(Serialize)]
struct FormatType {
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct ResponsesUsage {
    input_tokens: u64,
    input_tokens_details: InputDetails,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
    total_tokens: u64,
}

#[derive(Serialize)]
struct InputDetails {
    cached_tokens: u64,
    cache_write_tokens: u64,
}

#[derive(Serialize)]
struct OutputDetails {
    reasoning_tokens: u64,
}

impl ResponsesUsage {
    fn of(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.input,
            input_tokens_details: InputDetails {
                cached_tokens: usage.cached,
                cache_write_tokens: usage.cache_written,
            },
            output_tokens: usage.output,
            output_tokens_details: OutputDetails {
                reasoning_tokens: usage.reasoning,
            },
            total_tokens: usage.total(),
        }
    }
}
