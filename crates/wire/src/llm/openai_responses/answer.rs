//! Answers of Responses, as one body and as named events with a number each.

use cuecard_source::value::Json;
use serde::Serialize;

use super::super::answer::{Answer, Element, Said};
use super::super::events::{EventWriter, Events, Streaming, Window, timed};
use super::body::{Body, State};
use super::item::{self, Item, Part, Progress, Says, WireItem};

/// The length of an id after its prefix.
const ID_LENGTH: usize = 48;

/// Appends the answer as one JSON body.
pub(in super::super) fn write_body(answer: &Answer<'_>, buffer: &mut Vec<u8>) {
    let id = id(answer);
    let items = item::of(answer);
    let encrypted = wants_encrypted(answer.request);
    let output = items
        .iter()
        .map(|item| item.wire(Progress::Done, encrypted))
        .collect();
    let body = Body::new(answer, &id, done(answer), output);
    serde_json::to_writer(buffer, &body).expect("JSON with texts as keys is written to memory");
}

/// The answer as a stream of named events.
pub(in super::super) fn stream(
    answer: &Answer<'_>,
    streaming: Streaming,
    window: Window,
) -> Events {
    let id = id(answer);
    let mut stream = Stream {
        writer: EventWriter::new(streaming, window),
        number: 0,
        encrypted: wants_encrypted(answer.request),
    };
    for kind in ["response.created", "response.in_progress"] {
        let response = Body::new(answer, &id, State::InProgress, Vec::new());
        stream.send(Event {
            response: Some(response),
            ..Event::new(kind)
        });
    }

    let items = item::of(answer);
    let mut shown = items.iter().enumerate().peekable();
    for (position, element) in answer.elements.iter().enumerate() {
        match shown.next_if(|(_, item)| item.element == Some(position)) {
            Some((index, item)) => stream.item(index, item),
            None => stream.pass(element),
        }
    }
    // The empty message of an answer that says nothing.
    if let Some((index, item)) = shown.next() {
        stream.item(index, item);
    }

    let encrypted = stream.encrypted;
    let output = items
        .iter()
        .map(|item| item.wire(Progress::Done, encrypted))
        .collect();
    let (kind, state) = match answer.failure {
        Some(failure) => {
            stream.writer.wait_until(failure.at_ms);
            let error = failure.error;
            let code = error.responses_code();
            stream.send(Event {
                code: Some(code),
                message: Some(&error.message),
                param: Some(error.param.as_deref()),
                ..Event::new("error")
            });
            ("response.failed", State::Failed(code, &error.message))
        }
        None => match done(answer) {
            state @ State::Done(Some(_)) => ("response.incomplete", state),
            state => ("response.completed", state),
        },
    };
    let response = Body::new(answer, &id, state, output);
    stream.send(Event {
        response: Some(response),
        ..Event::new(kind)
    });
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

/// Whether the request wants reasoning in a form that it can send back.
fn wants_encrypted(request: &Json) -> bool {
    let include = request.get("include").and_then(Json::as_array);
    include.is_some_and(|include| {
        include
            .iter()
            .any(|name| name == "reasoning.encrypted_content")
    })
}

/// Writes events and counts them.
struct Stream {
    writer: EventWriter,
    number: u64,
    encrypted: bool,
}

impl Stream {
    fn send(&mut self, mut event: Event<'_>) {
        event.sequence_number = self.number;
        self.number += 1;
        self.writer.json(Some(event.kind), &event);
    }

    /// Lets the time of an element pass that isn't shown.
    fn pass(&mut self, element: &Element) {
        if let Element::Thinking(pieces) | Element::Text(pieces) | Element::Refusal(pieces) =
            element
        {
            self.writer.pass(pieces);
        }
    }

    /// All events of an item.
    fn item(&mut self, index: usize, item: &Item<'_>) {
        let at = |kind| Event {
            output_index: Some(index),
            item_id: Some(&item.id),
            ..Event::new(kind)
        };
        let encrypted = self.encrypted;
        let whole = |kind, progress| Event {
            output_index: Some(index),
            item: Some(item.wire(progress, encrypted)),
            ..Event::new(kind)
        };
        let text = match item.says {
            Says::FunctionCall(call) | Says::CustomToolCall(call) => call.input_text(),
            Says::Reasoning(_) | Says::Message(_) | Says::Refusal(_) => "".into(),
        };
        let spread = match item.says {
            Says::FunctionCall(call) | Says::CustomToolCall(call) => {
                self.writer.spread([(&*text, call.at_ms)])
            }
            Says::Reasoning(pieces) | Says::Message(pieces) | Says::Refusal(pieces) => {
                self.writer.spread(timed(pieces))
            }
        };
        let names = Names::of(item.says);
        // A part of a message or of a summary is the first one, and the only one.
        let in_part = |event| names.in_part(event);

        self.writer.wait_until(spread.begins_at);
        if matches!(item.says, Says::FunctionCall(_) | Says::CustomToolCall(_)) {
            self.writer.begin_call();
        }
        self.send(whole("response.output_item.added", Progress::Begun));
        if let Some((added, _)) = names.part {
            let part = Some(item.part(Said::Text("")));
            self.send(in_part(Event { part, ..at(added) }));
        }
        for delta in &spread.deltas {
            self.writer.wait_until(delta.at_ms);
            let logprobs = names.logprobs();
            self.send(in_part(Event {
                delta: Some(delta.text),
                logprobs,
                ..at(names.delta)
            }));
        }
        self.writer.wait_until(spread.ends_at);
        self.send(in_part(names.say(at(names.done), item.said())));
        if let Some((_, done)) = names.part {
            let part = Some(item.part(item.said()));
            self.send(in_part(Event { part, ..at(done) }));
        }
        self.send(whole("response.output_item.done", Progress::Done));
    }
}

/// What the events of an item are called.
struct Names {
    says: Kind,
    /// The part begins, the part is done.
    part: Option<(&'static str, &'static str)>,
    delta: &'static str,
    done: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Refusal,
    Summary,
    Arguments,
    Input,
}

impl Names {
    fn of(says: Says<'_>) -> Self {
        match says {
            Says::Message(_) => Self {
                says: Kind::Message,
                part: Some(("response.content_part.added", "response.content_part.done")),
                delta: "response.output_text.delta",
                done: "response.output_text.done",
            },
            Says::Refusal(_) => Self {
                says: Kind::Refusal,
                part: Some(("response.content_part.added", "response.content_part.done")),
                delta: "response.refusal.delta",
                done: "response.refusal.done",
            },
            Says::Reasoning(_) => Self {
                says: Kind::Summary,
                part: Some((
                    "response.reasoning_summary_part.added",
                    "response.reasoning_summary_part.done",
                )),
                delta: "response.reasoning_summary_text.delta",
                done: "response.reasoning_summary_text.done",
            },
            Says::FunctionCall(_) => Self {
                says: Kind::Arguments,
                part: None,
                delta: "response.function_call_arguments.delta",
                done: "response.function_call_arguments.done",
            },
            Says::CustomToolCall(_) => Self {
                says: Kind::Input,
                part: None,
                delta: "response.custom_tool_call_input.delta",
                done: "response.custom_tool_call_input.done",
            },
        }
    }

    /// Says which part the event is about: the first, and there is no other.
    fn in_part<'a>(&self, mut event: Event<'a>) -> Event<'a> {
        match self.says {
            Kind::Message | Kind::Refusal => event.content_index = Some(0),
            Kind::Summary => event.summary_index = Some(0),
            Kind::Arguments | Kind::Input => {}
        }
        event
    }

    /// The whole of what came in deltas.
    fn say<'a>(&self, mut event: Event<'a>, said: Said<'a>) -> Event<'a> {
        match self.says {
            Kind::Message | Kind::Summary => event.text = Some(said),
            Kind::Refusal => event.refusal = Some(said),
            Kind::Arguments => event.arguments = Some(said),
            Kind::Input => event.input = Some(said),
        }
        event.logprobs = self.logprobs();
        event
    }

    fn logprobs(&self) -> Option<[(); 0]> {
        (self.says == Kind::Message).then_some([])
    }
}

/// An event with all that one of them may have.
#[derive(Serialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    sequence_number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Said<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Said<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Said<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Said<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<[(); 0]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<Part<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<WireItem<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    param: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Body<'a>>,
}

impl Event<'_> {
    fn new(kind: &'static str) -> Self {
        Self {
            kind,
            sequence_number: 0,
            output_index: None,
            item_id: None,
            content_index: None,
            summary_index: None,
            delta: None,
            text: None,
            refusal: None,
            arguments: None,
            input: None,
            logprobs: None,
            part: None,
            item: None,
            code: None,
            message: None,
            param: None,
            response: None,
        }
    }
}
