//! Answers of Responses, as one body and as named events with a number each.

use cuecard_source::value::Json;
use serde_json::{Map, json};

use super::super::answer::{Answer, CallInput, Element};
use super::super::events::{EventWriter, Events, Streaming, timed};
use super::body::{self, State};
use super::item::{self, Item};

/// The length of an id after its prefix.
const ID_LENGTH: usize = 48;

/// The answer as one JSON body.
pub(in super::super) fn body(answer: &Answer<'_>) -> Json {
    body::body(answer, &id(answer), done(answer), &output(answer))
}

/// The answer as a stream of named events.
pub(in super::super) fn stream(answer: &Answer<'_>, streaming: Streaming) -> Events {
    let id = id(answer);
    let mut stream = Stream {
        writer: EventWriter::new(streaming),
        number: 0,
        encrypted: wants_encrypted(answer.request),
    };
    for kind in ["response.created", "response.in_progress"] {
        let response = body::body(answer, &id, State::InProgress, &[]);
        stream.send(kind, &json!({ "response": response }));
    }
    let items = item::of(answer);
    let mut shown = items.iter().enumerate().peekable();
    for (position, element) in answer.elements.iter().enumerate() {
        match (
            shown.next_if(|(_, item)| item.position == Some(position)),
            element,
        ) {
            (Some((index, item)), _) => stream.item(index, item),
            (
                None,
                Element::Thinking(pieces) | Element::Text(pieces) | Element::Refusal(pieces),
            ) => stream.writer.pass(pieces),
            (None, Element::Call(_)) => {}
        }
    }
    // The empty message of an answer that says nothing.
    if let Some((index, item)) = shown.next() {
        stream.item(index, item);
    }
    let (kind, state) = match answer.failure {
        Some(failure) => {
            stream.writer.wait_until(failure.at_ms);
            let error = failure.error;
            let code = error.responses_code();
            let event = json!({"code": code, "message": error.message, "param": error.param});
            stream.send("error", &event);
            ("response.failed", State::Failed(code, &error.message))
        }
        None => match done(answer) {
            state @ State::Done(Some(_)) => ("response.incomplete", state),
            state => ("response.completed", state),
        },
    };
    let response = body::body(answer, &id, state, &output(answer));
    stream.send(kind, &json!({ "response": response }));
    stream.writer.finish()
}

fn id(answer: &Answer<'_>) -> String {
    match answer.id {
        Some(id) => id.to_owned(),
        None => answer.seed.id("resp_", 0, ID_LENGTH),
    }
}

fn done(answer: &Answer<'_>) -> State<'static> {
    State::Done(answer.stop_reason().responses())
}

fn output(answer: &Answer<'_>) -> Vec<Json> {
    let encrypted = wants_encrypted(answer.request);
    let items = item::of(answer);
    items
        .iter()
        .map(|item| item.json(true, encrypted))
        .collect()
}

/// Whether the request wants reasoning in a form that it can send back.
fn wants_encrypted(request: &Json) -> bool {
    let include = request.get("include").and_then(Json::as_array);
    let mut include = include.into_iter().flatten();
    include.any(|name| name == "reasoning.encrypted_content")
}

/// Writes events and counts them.
struct Stream {
    writer: EventWriter,
    number: u64,
    encrypted: bool,
}

impl Stream {
    fn send(&mut self, kind: &str, members: &Json) {
        let mut event = Map::new();
        event.insert("type".to_owned(), kind.into());
        event.insert("sequence_number".to_owned(), self.number.into());
        event.extend(members.as_object().cloned().unwrap_or_default());
        self.number += 1;
        self.writer.json(Some(kind), &event);
    }

    /// All events of an item.
    fn item(&mut self, index: usize, item: &Item<'_>) {
        // What its part and its text are called in events, the key of the text, and that of the part's number: the
        // first, and there is no other.
        let (part, name, key, number) = match item.element {
            Element::Text(_) => ("content_part", "output_text", "text", "content_index"),
            Element::Refusal(_) => ("content_part", "refusal", "refusal", "content_index"),
            Element::Thinking(_) => (
                "reasoning_summary_part",
                "reasoning_summary_text",
                "text",
                "summary_index",
            ),
            Element::Call(call) => match call.input {
                CallInput::Arguments(_) | CallInput::Raw(_) => {
                    ("", "function_call_arguments", "arguments", "")
                }
                CallInput::Text(_) => ("", "custom_tool_call_input", "input", ""),
            },
        };
        let text = item.text();
        let spread = match item.element {
            Element::Call(call) => self.writer.spread([(&*text, call.at_ms)]),
            Element::Thinking(pieces) | Element::Text(pieces) | Element::Refusal(pieces) => {
                self.writer.spread(timed(pieces))
            }
        };
        let event = |key: &str, value: Json| {
            let mut event = json!({"output_index": index, "item_id": item.id});
            if !number.is_empty() {
                event[number] = 0.into();
            }
            event[key] = value;
            if matches!(item.element, Element::Text(_)) && key != "part" {
                event["logprobs"] = json!([]);
            }
            event
        };
        self.writer.wait_until(spread.begins_at);
        if matches!(item.element, Element::Call(_)) {
            self.writer.begin_call();
        }
        let begun = json!({"output_index": index, "item": item.json(false, self.encrypted)});
        self.send("response.output_item.added", &begun);
        if !part.is_empty() {
            let added = event("part", item.part(""));
            self.send(&format!("response.{part}.added"), &added);
        }
        let kind = format!("response.{name}.delta");
        for delta in &spread.deltas {
            self.writer.wait_until(delta.at_ms);
            self.send(&kind, &event("delta", delta.text.into()));
        }
        self.writer.wait_until(spread.ends_at);
        self.send(
            &format!("response.{name}.done"),
            &event(key, text.as_str().into()),
        );
        if !part.is_empty() {
            let done = event("part", item.part(&text));
            self.send(&format!("response.{part}.done"), &done);
        }
        let done = json!({"output_index": index, "item": item.json(true, self.encrypted)});
        self.send("response.output_item.done", &done);
    }
}
