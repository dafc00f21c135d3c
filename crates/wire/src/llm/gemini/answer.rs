//! Answers of generateContent: parts of text, of thoughts, and calls that are always whole.

use cuecard_timeline::script::AnswerImage;
use serde::Serialize;

use super::super::answer::{Answer, Arguments, Call, Element, Piece, Said};
use super::super::events::{EventWriter, Events, Streaming, Window, timed};
use super::super::usage::Usage;

/// The length of an id.
const ID_LENGTH: usize = 22;

/// Appends the answer as one JSON body.
pub(in super::super) fn write_body(answer: &Answer<'_>, buffer: &mut Vec<u8>) {
    let mut parts: Vec<Part<'_>> = answer
        .said()
        .filter(|element| answer.shows_thinking || !matches!(element, Element::Thinking(_)))
        .flat_map(Part::of)
        .collect();
    if parts.is_empty() {
        parts.push(Part::text(Said::Text("")));
    }
    let id = id(answer);
    let body = Chunk::of(answer, &id, &parts, true);
    serde_json::to_writer(buffer, &body).expect("JSON with texts as keys is written to memory");
}

/// The answer as a stream of chunks, each a small body.
pub(in super::super) fn stream(
    answer: &Answer<'_>,
    streaming: Streaming,
    window: Window,
) -> Events {
    let mut writer = EventWriter::new(streaming, window);
    let id = id(answer);
    let send = |writer: &mut EventWriter, part: Part<'_>, is_last: bool| {
        writer.json(None, &Chunk::of(answer, &id, &[part], is_last));
    };
    for element in answer.elements {
        match element {
            Element::Thinking(pieces) if !answer.shows_thinking => writer.pass(pieces),
            Element::Thinking(pieces) | Element::Text(pieces) | Element::Refusal(pieces) => {
                for run in runs(pieces) {
                    if let [
                        Piece {
                            image: Some(image),
                            at_ms,
                            ..
                        },
                    ] = run
                    {
                        writer.wait_until(*at_ms);
                        send(&mut writer, Part::image(image), false);
                        continue;
                    }
                    let spread = writer.spread(timed(run));
                    for delta in &spread.deltas {
                        writer.wait_until(delta.at_ms);
                        let text = Said::Text(delta.text);
                        let part = match element {
                            Element::Thinking(_) => Part::thought(text),
                            _ => Part::text(text),
                        };
                        send(&mut writer, part, false);
                    }
                    writer.wait_until(spread.ends_at);
                }
            }
            Element::Call(call) => {
                writer.wait_until(call.at_ms);
                writer.begin_call();
                send(&mut writer, Part::call(call), false);
            }
        }
    }
    match answer.failure {
        Some(failure) => {
            writer.wait_until(failure.at_ms);
            writer.json(None, &failure.error.gemini());
        }
        None => send(&mut writer, Part::text(Said::Text("")), true),
    }
    writer.finish()
}

/// The pieces in runs of one part each: texts, or a single image.
fn runs(pieces: &[Piece]) -> impl Iterator<Item = &[Piece]> {
    pieces.chunk_by(|one, next| one.image.is_none() && next.image.is_none())
}

fn id(answer: &Answer<'_>) -> String {
    match answer.id {
        Some(id) => id.to_owned(),
        None => answer.seed.id("", 0, ID_LENGTH),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_feedback: Option<PromptFeedback>,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<[Candidate<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage_metadata: Option<UsageMetadata>,
    model_version: &'a str,
    response_id: &'a str,
}

impl<'a> Chunk<'a> {
    /// A chunk with these parts, which is the whole of the answer or its end if it `is_last`. Where there is nothing but
    /// a reason for that, it has no content, not even an empty one; to a prompt that is blocked there is no candidate.
    fn of(answer: &Answer<'a>, id: &'a str, parts: &'a [Part<'a>], is_last: bool) -> Self {
        let reason = answer.stop_reason();
        let mut shown = answer.elements.iter();
        let says_something =
            shown.any(|it| answer.shows_thinking || !matches!(it, Element::Thinking(_)));
        let says_nothing = !says_something && answer.failure.is_none();
        let is_blocked = says_nothing && reason.is_blocked_prompt();
        let is_withheld = says_nothing && reason.is_without_content();
        let candidate = Candidate {
            content: (!is_withheld).then_some(Content {
                parts,
                role: "model",
            }),
            finish_reason: is_last.then(|| reason.gemini()),
            index: 0,
        };
        Self {
            prompt_feedback: is_blocked.then(|| PromptFeedback {
                block_reason: reason.gemini(),
            }),
            candidates: (!is_blocked).then_some([candidate]),
            usage_metadata: is_last.then(|| UsageMetadata::of(&answer.usage)),
            model_version: answer.model,
            response_id: id,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    block_reason: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'static str>,
    index: u32,
}

#[derive(Serialize)]
struct Content<'a> {
    parts: &'a [Part<'a>],
    role: &'static str,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Said<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<InlineData<'a>>,
}

impl<'a> Part<'a> {
    fn of(element: &'a Element) -> Vec<Self> {
        match element {
            Element::Thinking(pieces) => vec![Self::thought(Said::Pieces(pieces))],
            Element::Text(pieces) | Element::Refusal(pieces) => runs(pieces)
                .map(|run| match run {
                    [
                        Piece {
                            image: Some(image), ..
                        },
                    ] => Self::image(image),
                    texts => Self::text(Said::Pieces(texts)),
                })
                .collect(),
            Element::Call(call) => vec![Self::call(call)],
        }
    }

    fn call(call: &'a Call) -> Self {
        Self {
            function_call: Some(FunctionCall {
                id: &call.id,
                name: &call.name,
                args: Arguments(&call.input),
            }),
            ..Self::default()
        }
    }

    fn image(image: &'a AnswerImage) -> Self {
        Self {
            inline_data: Some(InlineData {
                mime_type: &image.mime_type,
                data: &image.data,
            }),
            ..Self::default()
        }
    }

    fn text(text: Said<'a>) -> Self {
        Self {
            text: Some(text),
            ..Self::default()
        }
    }

    fn thought(text: Said<'a>) -> Self {
        Self {
            thought: Some(true),
            ..Self::text(text)
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    id: &'a str,
    name: &'a str,
    args: Arguments<'a>,
}

/// What thinking costs stands beside what the answer costs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UsageMetadata {
    prompt_token_count: u64,
    candidates_token_count: u64,
    total_token_count: u64,
    #[serde(skip_serializing_if = "is_zero")]
    cached_content_token_count: u64,
    #[serde(skip_serializing_if = "is_zero")]
    thoughts_token_count: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl UsageMetadata {
    fn of(usage: &Usage) -> Self {
        Self {
            prompt_token_count: usage.input,
            candidates_token_count: usage.output.saturating_sub(usage.reasoning),
            total_token_count: usage.total(),
            cached_content_token_count: usage.cached,
            thoughts_token_count: usage.reasoning,
        }
    }
}
