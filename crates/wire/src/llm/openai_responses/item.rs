//! The items of a Responses answer.

use cuecard_source::value::Json;
use serde_json::json;

use super::super::answer::{Answer, CallInput, Element};
use super::super::ids;

/// The length of an id after its prefix.
const ID_LENGTH: usize = 40;

/// What an answer says that says nothing.
static NOTHING: Element = Element::Text(Vec::new());

/// An item with its id, which it keeps in all events.
pub(super) struct Item<'a> {
    pub(super) id: String,
    pub(super) element: &'a Element,
    /// Whether it is all that the model had to say: the last message of an incomplete answer isn't.
    pub(super) is_complete: bool,
    /// The position of its element in the answer; of the empty message, none.
    pub(super) position: Option<usize>,
}

/// The items of an answer. An answer that says nothing is an empty message, unless it fails.
pub(super) fn of<'a>(answer: &Answer<'a>) -> Vec<Item<'a>> {
    let mut items: Vec<Item<'_>> = Vec::new();
    let mut add = |element: &'a Element, position| {
        let id = answer.seed.id(prefix(element), items.len(), ID_LENGTH);
        items.push(Item {
            id,
            element,
            is_complete: true,
            position,
        });
    };
    for (position, element) in answer.elements.iter().enumerate() {
        let is_hidden = matches!(element, Element::Thinking(_)) && !answer.shows_thinking;
        if !element.is_empty() && !is_hidden {
            add(element, Some(position));
        }
    }
    if items.is_empty() && answer.failure.is_none() {
        items.push(Item {
            id: answer.seed.id(prefix(&NOTHING), 0, ID_LENGTH),
            element: &NOTHING,
            is_complete: true,
            position: None,
        });
    }
    if answer.stop_reason().responses().is_some()
        && let Some(last) = items.last_mut()
    {
        last.is_complete = !matches!(last.element, Element::Text(_) | Element::Refusal(_));
    }
    items
}

fn prefix(element: &Element) -> &'static str {
    match element {
        Element::Thinking(_) => "rs_",
        Element::Text(_) | Element::Refusal(_) => "msg_",
        Element::Call(call) => match call.input {
            CallInput::Arguments(_) | CallInput::Raw(_) => "fc_",
            CallInput::Text(_) => "ctc_",
        },
    }
}

impl Item<'_> {
    /// The item as it is sent: when it begins, or done; `encrypted` with what a request must send back.
    pub(super) fn json(&self, is_done: bool, encrypted: bool) -> Json {
        let (id, text) = (&self.id, self.text());
        let status = match (is_done, self.is_complete) {
            (false, _) => "in_progress",
            (true, true) => "completed",
            (true, false) => "incomplete",
        };
        let parts: Vec<Json> = is_done.then(|| self.part(&text)).into_iter().collect();
        match self.element {
            Element::Thinking(_) => {
                let mut item = json!({"type": "reasoning", "id": id, "summary": parts});
                if encrypted {
                    item["encrypted_content"] = ids::signature(&text).into();
                }
                item
            }
            Element::Text(_) | Element::Refusal(_) => json!({
                "type": "message", "id": id, "status": status, "role": "assistant", "content": parts,
            }),
            Element::Call(call) => {
                let (kind, key) = match call.input {
                    CallInput::Arguments(_) | CallInput::Raw(_) => ("function_call", "arguments"),
                    CallInput::Text(_) => ("custom_tool_call", "input"),
                };
                let mut item = json!({
                    "type": kind, "id": id, "status": status, "call_id": call.id, "name": call.name,
                });
                if let Some(namespace) = &call.namespace {
                    item["namespace"] = namespace.as_str().into();
                }
                item[key] = if is_done { text } else { String::new() }.into();
                item
            }
        }
    }

    /// A part of the item with this text.
    pub(super) fn part(&self, text: &str) -> Json {
        match self.element {
            Element::Thinking(_) => json!({"type": "summary_text", "text": text}),
            Element::Refusal(_) => json!({"type": "refusal", "refusal": text}),
            Element::Text(_) | Element::Call(_) => {
                json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text})
            }
        }
    }

    /// The text of the item: what it says, or what a call is made with.
    pub(super) fn text(&self) -> String {
        match self.element {
            Element::Call(call) => call.input_text().into_owned(),
            element => element.text(),
        }
    }
}
