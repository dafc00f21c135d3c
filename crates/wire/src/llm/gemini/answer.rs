//! Answers of generateContent: parts of text, of thoughts, and calls that are always whole.

use cuecard_source::value::Json;
use serde_json::json;

use super::super::answer::{Answer, Element, Piece, joined};
use super::super::events::{EventWriter, Events, Streaming, timed};

/// The length of an id.
const ID_LENGTH: usize = 22;

/// The answer as one JSON body.
pub(in super::super) fn body(answer: &Answer<'_>) -> Json {
    let shown = answer.said();
    let shown = shown.filter(|it| answer.shows_thinking || !matches!(it, Element::Thinking(_)));
    let mut parts: Vec<Json> = shown.flat_map(parts).collect();
    if parts.is_empty() {
        parts.push(json!({"text": ""}));
    }
    chunk(answer, parts, true)
}

/// The answer as a stream of chunks, each a small body.
pub(in super::super) fn stream(answer: &Answer<'_>, streaming: Streaming) -> Events {
    let mut writer = EventWriter::new(streaming);
    for element in answer.elements {
        match element {
            Element::Thinking(pieces) if !answer.shows_thinking => writer.pass(pieces),
            Element::Thinking(pieces) | Element::Text(pieces) | Element::Refusal(pieces) => {
                for run in runs(pieces) {
                    if run[0].image.is_some() {
                        writer.wait_until(run[0].at_ms);
                        writer.json(None, &chunk(answer, vec![part(element, run, "")], false));
                        continue;
                    }
                    let spread = writer.spread(timed(run));
                    for delta in &spread.deltas {
                        writer.wait_until(delta.at_ms);
                        let part = part(element, run, delta.text);
                        writer.json(None, &chunk(answer, vec![part], false));
                    }
                    writer.wait_until(spread.ends_at);
                }
            }
            Element::Call(call) => {
                writer.wait_until(call.at_ms);
                writer.begin_call();
                writer.json(None, &chunk(answer, parts(element), false));
            }
        }
    }
    match answer.failure {
        Some(failure) => {
            writer.wait_until(failure.at_ms);
            writer.json(None, &failure.error.gemini());
        }
        None => writer.json(None, &chunk(answer, vec![json!({"text": ""})], true)),
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

/// A chunk with these parts, which is the whole of the answer or its end if it `is_last`. Where there is nothing but
/// a reason for that, it has no content, not even an empty one; to a prompt that is blocked there is no candidate.
fn chunk(answer: &Answer<'_>, parts: Vec<Json>, is_last: bool) -> Json {
    let reason = answer.stop_reason();
    let mut shown = answer.elements.iter();
    let says_something =
        shown.any(|it| answer.shows_thinking || !matches!(it, Element::Thinking(_)));
    let says_nothing = !says_something && answer.failure.is_none();
    let mut chunk = json!({});
    if says_nothing && reason.is_blocked_prompt() {
        chunk["promptFeedback"] = json!({"blockReason": reason.gemini()});
    } else {
        let mut candidate = json!({});
        if !(says_nothing && reason.is_without_content()) {
            candidate["content"] = json!({"parts": parts, "role": "model"});
        }
        if is_last {
            candidate["finishReason"] = reason.gemini().into();
        }
        candidate["index"] = 0.into();
        chunk["candidates"] = json!([candidate]);
    }
    if is_last {
        chunk["usageMetadata"] = usage(answer);
    }
    chunk["modelVersion"] = answer.model.into();
    chunk["responseId"] = id(answer).into();
    chunk
}

/// The parts of an element.
fn parts(element: &Element) -> Vec<Json> {
    match element {
        Element::Thinking(pieces) => vec![part(element, pieces, &joined(pieces))],
        Element::Text(pieces) | Element::Refusal(pieces) => {
            let parts = runs(pieces).map(|run| part(element, run, &joined(run)));
            parts.collect()
        }
        Element::Call(call) => {
            let (id, name, args) = (&call.id, &call.name, call.arguments());
            vec![json!({"functionCall": {"id": id, "name": name, "args": args}})]
        }
    }
}

/// An image, or this text of a run.
fn part(element: &Element, run: &[Piece], text: &str) -> Json {
    match (element, run) {
        (Element::Thinking(_), _) => json!({"text": text, "thought": true}),
        (
            _,
            [
                Piece {
                    image: Some(image), ..
                },
            ],
        ) => {
            json!({"inlineData": {"mimeType": image.mime_type, "data": image.data}})
        }
        _ => json!({ "text": text }),
    }
}

/// What thinking costs stands beside what the answer costs.
fn usage(answer: &Answer<'_>) -> Json {
    let usage = &answer.usage;
    let mut counts = json!({
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output.saturating_sub(usage.reasoning),
        "totalTokenCount": usage.total(),
    });
    let others = [
        ("cachedContentTokenCount", usage.cached),
        ("thoughtsTokenCount", usage.reasoning),
    ];
    for (name, count) in others.into_iter().filter(|(_, count)| *count > 0) {
        counts[name] = count.into();
    }
    counts
}
