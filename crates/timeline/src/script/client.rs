//! An honest client, for the tests of this folder: it sends its whole history, and keeps what it got.

use super::auxiliary_requests::AuxiliaryRequests;
use super::llm_script::LlmScript;
use super::request::{Endpoint, Message, Part, Request, RequestedCall, RequestedResult, Role};
use super::request_key::RequestKey;
use super::selection::DEFAULT_MAX_DISTANCE;
use super::session::{Decision, Served, Session};
use super::turns::TurnElement;
use crate::profiles::AdvertisedTool;

/// A conversation as a client keeps it.
#[derive(Debug, Clone, Default)]
pub(super) struct Client {
    pub(super) history: Vec<Message>,
}

impl Client {
    pub(super) fn says(&mut self, text: &str) -> &mut Self {
        self.history.push(Message::user(text));
        self
    }

    /// Results for calls, in this order.
    pub(super) fn returns(&mut self, ids: &[&str]) -> &mut Self {
        let parts = ids.iter().map(|id| {
            Part::Result(RequestedResult {
                call_id: (*id).into(),
                name: String::new(),
                text: "done".into(),
                blocks: Vec::new(),
                is_error: false,
            })
        });
        self.history.push(Message {
            role: Role::User,
            parts: parts.collect(),
        });
        self
    }

    pub(super) fn request(&self) -> Request {
        let history = self.history.clone();
        let key = RequestKey::of("test", &serde_json::Value::String(format!("{history:?}")));
        Request {
            history,
            key,
            tools: vec![AdvertisedTool::function("Bash", serde_json::json!({}))],
            ..Request::new(Endpoint::Messages)
        }
    }

    /// Keeps an answer, as the API would have given it.
    pub(super) fn keeps(&mut self, script: &LlmScript, served: &Served) -> &mut Self {
        let attempt = served.attempt(script).expect("it was served");
        let parts = attempt.elements.iter().filter_map(|element| match element {
            TurnElement::Thinking(_) => None,
            TurnElement::Text(pieces) | TurnElement::Refusal(pieces) => Some(Part::Text(
                pieces.iter().map(|piece| &*piece.text).collect(),
            )),
            TurnElement::Call(call) => Some(Part::Call(RequestedCall {
                id: call.id.clone(),
                name: "Bash".into(),
                args: serde_json::json!({}),
            })),
        });
        self.history.push(Message {
            role: Role::Assistant,
            parts: parts.collect(),
        });
        self
    }
}

/// A script with a session and a client.
pub(super) struct Play<'s> {
    pub(super) script: &'s LlmScript,
    pub(super) session: Session,
    pub(super) client: Client,
}

impl<'s> Play<'s> {
    pub(super) fn new(script: &'s LlmScript) -> Self {
        Self {
            script,
            session: Session::default(),
            client: Client::default(),
        }
    }

    pub(super) fn sends(&mut self) -> Decision {
        let side = AuxiliaryRequests::new([&*self.script.timeline], DEFAULT_MAX_DISTANCE);
        self.session
            .answer(self.script, &side, &self.client.request())
    }

    /// Sends what there is and keeps the answer, which must be a new turn.
    pub(super) fn gets(&mut self) -> usize {
        match self.sends() {
            Decision::Turn(served) => {
                self.client.keeps(self.script, &served);
                served.turn_idx
            }
            Decision::Miss(miss) => panic!("{}", miss.message(self.script)),
            other => panic!("{other:?}"),
        }
    }
}
