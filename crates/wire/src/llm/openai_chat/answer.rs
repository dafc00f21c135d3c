//! Answers of Chat Completions. Thinking is sent in `reasoning_content`, or not at all; its time counts in any case.

use serde::Serialize;

use super::super::answer::{Answer, Call, CallInput, Element, Piece, Said};
use super::super::errors::OpenAiBody;
use super::super::events::{EventWriter, Events, Streaming, Window, timed};
use super::super::usage::Usage;

/// The length of an id after its prefix.
const ID_LENGTH: usize = 29;

/// Appends the answer as one JSON body.
pub(in super::super) fn write_body(answer: &Answer<'_>, buffer: &mut Vec<u8>) {
    let calls: Vec<ToolCall<'_>> = answer.calls().map(ToolCall::whole).collect();
    let body = Body {
        id: &id(answer),
        object: "chat.completion",
        created: answer.created_at,
        model: answer.model,
        choices: [Choice {
            index: 0,
            message: Message {
                role: "assistant",
                content: ((calls.is_empty() && answer.refusal().is_none()) || answer.has_text())
                    .then_some(Said::Elements(answer.elements)),
                reasoning_content: (answer.reasoning_content && answer.has_thinking())
                    .then_some(Said::Thinking(answer.elements)),
                refusal: answer.refusal().map(Said::Pieces),
                annotations: [],
                tool_calls: calls,
            },
            logprobs: None,
            finish_reason: answer.stop_reason().chat(),
        }],
        usage: ChatUsage::of(&answer.usage),
    };
    serde_json::to_writer(buffer, &body).expect("JSON with texts as keys is written to memory");
}

/// The answer as a stream of chunks.
pub(in super::super) fn stream(
    answer: &Answer<'_>,
    streaming: Streaming,
    window: Window,
) -> Events {
    let id = id(answer);
    let mut chunks = Chunks {
        writer: EventWriter::new(streaming, window),
        answer,
        id: &id,
    };
    let says_nothing = answer.calls().next().is_none() && answer.refusal().is_none();
    let starts_with_text = answer.has_text() || says_nothing;
    chunks.add(Delta {
        role: Some("assistant"),
        content: Some(starts_with_text.then_some("")),
        refusal: Some(None),
        ..Delta::default()
    });
    let mut index = 0;
    for element in answer.elements {
        match element {
            Element::Thinking(pieces) if !answer.reasoning_content => chunks.writer.pass(pieces),
            Element::Thinking(pieces) => chunks.text(pieces, |text| Delta {
                reasoning_content: Some(text),
                ..Delta::default()
            }),
            Element::Text(pieces) => chunks.text(pieces, |text| Delta {
                content: Some(Some(text)),
                ..Delta::default()
            }),
            Element::Refusal(pieces) => chunks.text(pieces, |text| Delta {
                refusal: Some(Some(text)),
                ..Delta::default()
            }),
            Element::Call(call) => {
                chunks.writer.begin_call();
                chunks.call(index, call);
                index += 1;
            }
        }
    }
    if let Some(failure) = answer.failure {
        chunks.writer.wait_until(failure.at_ms);
        let error = failure.error.open_ai();
        chunks.writer.json(None, &OpenAiBody { error });
        return chunks.writer.finish();
    }
    chunks.choice(Delta::default(), Some(answer.stop_reason().chat()));
    if answer.streams_usage {
        chunks.send(None, Some(ChatUsage::of(&answer.usage)));
    }
    chunks.writer.word("[DONE]");
    chunks.writer.finish()
}

/// Writes chunks.
struct Chunks<'a> {
    writer: EventWriter,
    answer: &'a Answer<'a>,
    id: &'a str,
}

impl Chunks<'_> {
    fn text(&mut self, pieces: &[Piece], delta: impl Fn(&str) -> Delta<'_>) {
        let spread = self.writer.spread(timed(pieces));
        for part in &spread.deltas {
            self.writer.wait_until(part.at_ms);
            self.add(delta(part.text));
        }
        self.writer.wait_until(spread.ends_at);
    }

    fn call(&mut self, index: u32, call: &Call) {
        let input = call.input_text();
        let spread = self.writer.spread([(&*input, call.at_ms)]);
        self.writer.wait_until(spread.begins_at);
        self.add(Delta::of_call(ToolCall::start(index, call)));
        for part in &spread.deltas {
            self.writer.wait_until(part.at_ms);
            self.add(Delta::of_call(ToolCall::piece(index, call, part.text)));
        }
    }

    fn add(&mut self, delta: Delta<'_>) {
        self.choice(delta, None);
    }

    fn choice(&mut self, delta: Delta<'_>, finish_reason: Option<&'static str>) {
        let choice = ChunkChoice {
            index: 0,
            delta,
            logprobs: None,
            finish_reason,
        };
        self.send(Some(choice), None);
    }

    fn send(&mut self, choices: Option<ChunkChoice<'_>>, usage: Option<ChatUsage>) {
        let chunk = Chunk {
            id: self.id,
            object: "chat.completion.chunk",
            created: self.answer.created_at,
            model: self.answer.model,
            choices,
            // With the usage asked for, the chunks before it say that there is none yet.
            usage: self.answer.streams_usage.then_some(usage),
        };
        self.writer.json(None, &chunk);
    }
}

fn id(answer: &Answer<'_>) -> String {
    match answer.id {
        Some(id) => id.to_owned(),
        None => answer.seed.id("chatcmpl-", 0, ID_LENGTH),
    }
}

#[derive(Serialize)]
struct Body<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: [Choice<'a>; 1],
    usage: ChatUsage,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: u32,
    message: Message<'a>,
    logprobs: Option<()>,
    finish_reason: &'static str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Option<Said<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<Said<'a>>,
    refusal: Option<Said<'a>>,
    annotations: [(); 0],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall<'a>>,
}

/// A call, or what a chunk says of it.
#[derive(Serialize)]
struct ToolCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<Function<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom: Option<Custom<'a>>,
}

#[derive(Serialize)]
struct Function<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: Said<'a>,
}

#[derive(Serialize)]
struct Custom<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    input: &'a str,
}

impl<'a> ToolCall<'a> {
    /// The whole call, as a body has it.
    fn whole(call: &'a Call) -> Self {
        let name = Some(call.name.as_str());
        let (function, custom) = match &call.input {
            CallInput::Arguments(json) => {
                let arguments = Said::Json(json);
                (Some(Function { name, arguments }), None)
            }
            CallInput::Raw(text) => {
                let arguments = Said::Text(text);
                (Some(Function { name, arguments }), None)
            }
            CallInput::Text(text) => (None, Some(Custom { name, input: text })),
        };
        Self {
            index: None,
            id: Some(&call.id),
            kind: Some(kind(call)),
            function,
            custom,
        }
    }

    /// The call without its input, as a stream begins it.
    fn start(index: u32, call: &'a Call) -> Self {
        let mut start = Self::piece(index, call, "");
        start.id = Some(&call.id);
        start.kind = Some(kind(call));
        let name = Some(call.name.as_str());
        if let Some(function) = &mut start.function {
            function.name = name;
        }
        if let Some(custom) = &mut start.custom {
            custom.name = name;
        }
        start
    }

    /// A piece of the input of a call.
    fn piece(index: u32, call: &Call, text: &'a str) -> Self {
        let (function, custom) = match &call.input {
            CallInput::Arguments(_) | CallInput::Raw(_) => (
                Some(Function {
                    name: None,
                    arguments: Said::Text(text),
                }),
                None,
            ),
            CallInput::Text(_) => (
                None,
                Some(Custom {
                    name: None,
                    input: text,
                }),
            ),
        };
        Self {
            index: Some(index),
            id: None,
            kind: None,
            function,
            custom,
        }
    }
}

fn kind(call: &Call) -> &'static str {
    match call.input {
        CallInput::Arguments(_) | CallInput::Raw(_) => "function",
        CallInput::Text(_) => "custom",
    }
}

#[derive(Serialize)]
struct Chunk<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    #[serde(serialize_with = "as_list")]
    choices: Option<ChunkChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Option<ChatUsage>>,
}

/// One choice or none.
fn as_list<S: serde::Serializer>(
    choice: &Option<ChunkChoice<'_>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    choice.as_slice().serialize(serializer)
}

#[derive(Serialize)]
struct ChunkChoice<'a> {
    index: u32,
    delta: Delta<'a>,
    logprobs: Option<()>,
    finish_reason: Option<&'static str>,
}

/// What a chunk adds. A member that is null is sent, one that is absent isn't.
#[derive(Serialize, Default)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[ToolCall<'a>; 1]>,
}

impl<'a> Delta<'a> {
    fn of_call(call: ToolCall<'a>) -> Self {
        Self {
            tool_calls: Some([call]),
            ..Self::default()
        }
    }
}

#[derive(Serialize)]
struct ChatUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

#[derive(Serialize)]
struct PromptDetails {
    cached_tokens: u64,
    audio_tokens: u64,
}

#[derive(Serialize)]
struct CompletionDetails {
    reasoning_tokens: u64,
    audio_tokens: u64,
    accepted_prediction_tokens: u64,
    rejected_prediction_tokens: u64,
}

impl ChatUsage {
    fn of(usage: &Usage) -> Self {
        Self {
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.total(),
            prompt_tokens_details: PromptDetails {
                cached_tokens: usage.cached,
                audio_tokens: 0,
            },
            completion_tokens_details: CompletionDetails {
                reasoning_tokens: usage.reasoning,
                audio_tokens: 0,
                accepted_prediction_tokens: 0,
                rejected_prediction_tokens: 0,
            },
        }
    }
}
