//! All dialects are tested with the same answers.

mod decode;
mod golden;
mod requests;
mod streams;

use std::num::NonZeroUsize;
use std::sync::Arc;

use cuecard_source::value::Json;
use cuecard_timeline::script::Endpoint;
use serde_json::json;

use super::answer::{Answer, Call, CallInput, Element, Piece};
use super::events::{Framing, Streaming};
use super::ids::IdSeed;
use super::usage::Usage;

const ENDPOINTS: [Endpoint; 4] = [
    Endpoint::Messages,
    Endpoint::Chat,
    Endpoint::Responses,
    Endpoint::Gemini,
];

fn streaming(chunk: usize) -> Streaming {
    Streaming {
        chunk: NonZeroUsize::new(chunk).expect("not zero"),
        framing: Framing::Sse,
    }
}

fn pieces(pieces: &[(u64, &str)]) -> Vec<Piece> {
    let piece = |&(at_ms, text): &(u64, &str)| Piece {
        text: text.into(),
        at_ms,
        image: None,
    };
    pieces.iter().map(piece).collect()
}

fn call(id: &str, name: &str, arguments: Json, at_ms: u64) -> Element {
    Element::Call(Call {
        id: id.to_owned(),
        name: name.to_owned(),
        namespace: None,
        input: CallInput::Arguments(Arc::new(arguments)),
        at_ms,
    })
}

fn custom_call(id: &str, name: &str, text: &str, at_ms: u64) -> Element {
    Element::Call(Call {
        id: id.to_owned(),
        name: name.to_owned(),
        namespace: None,
        input: CallInput::Text(text.to_owned()),
        at_ms,
    })
}

/// Thinking, text, and two parallel calls.
fn everything() -> Vec<Element> {
    vec![
        Element::Thinking(pieces(&[(200, "The user wants "), (500, "the weather. ☂")])),
        Element::Text(pieces(&[(800, "Looking at \"both\" cities…\n")])),
        call(
            "call_1",
            "get_weather",
            json!({"city": "Zürich", "days": 2}),
            800,
        ),
        call("call_2", "get_weather", json!({}), 900),
    ]
}

fn answer<'a>(elements: &'a [Element], request: &'a Json) -> Answer<'a> {
    Answer {
        seed: IdSeed::of(&["scenario", "session", "0"]),
        id: None,
        model: "model-1",
        created_at: 1_750_000_000,
        elements,
        stop: None,
        usage: Usage::of(&Json::Null, 12, elements),
        shows_thinking: true,
        reasoning_content: false,
        streams_usage: true,
        request,
        failure: None,
    }
}

/// The events of a stream: their names, and their data, which is JSON but for `[DONE]`.
fn read(bytes: &[u8]) -> Vec<(Option<String>, Json)> {
    let text = std::str::from_utf8(bytes).expect("text");
    let event = |block: &str| {
        let mut name = None;
        let mut data = None;
        for line in block.lines() {
            if let Some(value) = line.strip_prefix("event: ") {
                name = Some(value.to_owned());
            } else if let Some(value) = line.strip_prefix("data: ") {
                let json = serde_json::from_str(value).unwrap_or_else(|_| Json::from(value));
                assert!(data.replace(json).is_none(), "data twice in {block}");
            } else {
                panic!("a strange line in {block}");
            }
        }
        (name, data.expect("data"))
    };
    text.split_terminator("\n\n").map(event).collect()
}
