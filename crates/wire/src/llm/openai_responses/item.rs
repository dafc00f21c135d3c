//! The items of a Responses answer.

use serde::Serialize;

use super::super::answer::{Answer, Call, CallInput, Element, Piece, Said};
use super::super::ids;

/// The length of an id after its prefix.
const ID_LENGTH: usize = 40;

/// An item with its id, which it keeps in all events.
pub(super) struct Item<'a> {
    pub(super) id: String,
    pub(super) says: Says<'a>,
    /// Whether it is all that the model had to say: the last message of an incomplete answer isn't.
    pub(super) is_complete: bool,
    /// The position of its element in the answer; of the empty message, none.
    pub(super) element: Option<usize>,
}

/// What an item says.
#[derive(Clone, Copy)]
pub(super) enum Says<'a> {
    Reasoning(&'a [Piece]),
    Message(&'a [Piece]),
    Refusal(&'a [Piece]),
    FunctionCall(&'a Call),
    CustomToolCall(&'a Call),
}

/// The items of an answer. An answer that says nothing is an empty message, unless it fails.
pub(super) fn of<'a>(answer: &Answer<'a>) -> Vec<Item<'a>> {
    let mut items = Vec::with_capacity(answer.elements.len().max(1));
    let mut add = |says, element| {
        let id = answer.seed.id(prefix(says), items.len(), ID_LENGTH);
        items.push(Item {
            id,
            says,
            is_complete: true,
            element,
        });
    };
    for (position, element) in answer.elements.iter().enumerate() {
        match element {
            element if element.is_empty() => {}
            Element::Thinking(_) if !answer.shows_thinking => {}
            Element::Thinking(pieces) => add(Says::Reasoning(pieces), Some(position)),
            Element::Text(pieces) => add(Says::Message(pieces), Some(position)),
            Element::Refusal(pieces) => add(Says::Refusal(pieces), Some(position)),
            Element::Call(call) => match call.input {
                CallInput::Arguments(_) | CallInput::Raw(_) => {
                    add(Says::FunctionCall(call), Some(position));
                }
                CallInput::Text(_) => add(Says::CustomToolCall(call), Some(position)),
            },
        }
    }
    if items.is_empty() && answer.failure.is_none() {
        let says = Says::Message(&[]);
        items.push(Item {
            id: answer.seed.id(prefix(says), 0, ID_LENGTH),
            says,
            is_complete: true,
            element: None,
        });
    }
    if answer.stop_reason().responses().is_some()
        && let Some(last) = items.last_mut()
    {
        last.is_complete = !matches!(last.says, Says::Message(_) | Says::Refusal(_));
    }
    items
}

fn prefix(says: Says<'_>) -> &'static str {
    match says {
        Says::Reasoning(_) => "rs_",
        Says::Message(_) | Says::Refusal(_) => "msg_",
        Says::FunctionCall(_) => "fc_",
        Says::CustomToolCall(_) => "ctc_",
    }
}

/// How far an item is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Begun,
    Done,
}

/// An item as it is sent.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum WireItem<'a> {
    Reasoning {
        id: &'a str,
        summary: Vec<Part<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<String>,
    },
    Message {
        id: &'a str,
        status: &'static str,
        role: &'static str,
        content: Vec<Part<'a>>,
    },
    FunctionCall {
        id: &'a str,
        status: &'static str,
        call_id: &'a str,
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'a str>,
        arguments: Said<'a>,
    },
    CustomToolCall {
        id: &'a str,
        status: &'static str,
        call_id: &'a str,
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'a str>,
        input: Said<'a>,
    },
}

/// A part of a message or of a summary.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    OutputText {
        annotations: [(); 0],
        logprobs: [(); 0],
        text: Said<'a>,
    },
    Refusal {
        refusal: Said<'a>,
    },
    SummaryText {
        text: Said<'a>,
    },
}

impl Item<'_> {
    /// The item as it is sent, `encrypted` with what a request must send back.
    pub(super) fn wire(&self, progress: Progress, encrypted: bool) -> WireItem<'_> {
        let id = self.id.as_str();
        let is_done = progress == Progress::Done;
        let status = match progress {
            Progress::Begun => "in_progress",
            Progress::Done if self.is_complete => "completed",
            Progress::Done => "incomplete",
        };
        match self.says {
            Says::Reasoning(_) => WireItem::Reasoning {
                id,
                summary: is_done
                    .then(|| self.part(self.said()))
                    .into_iter()
                    .collect(),
                encrypted_content: encrypted.then(|| ids::signature(&self.said().to_string())),
            },
            Says::Message(_) | Says::Refusal(_) => WireItem::Message {
                id,
                status,
                role: "assistant",
                content: is_done
                    .then(|| self.part(self.said()))
                    .into_iter()
                    .collect(),
            },
            Says::FunctionCall(call) => WireItem::FunctionCall {
                id,
                status,
                call_id: &call.id,
                name: &call.name,
                namespace: call.namespace.as_deref(),
                arguments: if is_done { self.said() } else { Said::Text("") },
            },
            Says::CustomToolCall(call) => WireItem::CustomToolCall {
                id,
                status,
                call_id: &call.id,
                name: &call.name,
                namespace: call.namespace.as_deref(),
                input: if is_done { self.said() } else { Said::Text("") },
            },
        }
    }

    /// A part of the item with this text.
    pub(super) fn part<'a>(&self, text: Said<'a>) -> Part<'a> {
        match self.says {
            Says::Reasoning(_) => Part::SummaryText { text },
            Says::Refusal(_) => Part::Refusal { refusal: text },
            Says::Message(_) | Says::FunctionCall(_) | Says::CustomToolCall(_) => {
                Part::OutputText {
                    annotations: [],
                    logprobs: [],
                    text,
                }
            }
        }
    }

    /// The text of the item: what it says, or what a call is made with.
    pub(super) fn said(&self) -> Said<'_> {
        match self.says {
            Says::Reasoning(pieces) | Says::Message(pieces) | Says::Refusal(pieces) => {
                Said::Pieces(pieces)
            }
            Says::FunctionCall(call) | Says::CustomToolCall(call) => match &call.input {
                CallInput::Arguments(json) => Said::Json(json),
                CallInput::Text(text) | CallInput::Raw(text) => Said::Text(text),
            },
        }
    }
}
