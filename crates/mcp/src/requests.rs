//! Which requests are open, ours and those of the SDK, and which answer belongs to which.

use std::collections::{HashMap, HashSet};

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::calls::Outcome;

/// The most cancelled requests remembered, whose late answers are expected.
const MOST_CANCELLED: usize = 1_000;

/// The requests that wait for answers.
#[derive(Default)]
pub(super) struct OpenRequests {
    open: HashMap<i64, Asker>,
    /// Requests given up, whose answers may still come.
    cancelled: HashSet<i64>,
    /// The probe, once `initialize` has followed it: its answer may still come.
    given_up_probes: HashSet<i64>,
    /// No answer comes any more.
    is_over: bool,
}

/// Who waits for an answer.
#[derive(Debug)]
pub(super) enum Asker {
    /// The SDK, with the probe for the modern era.
    Probe,
    /// The SDK, with another message of the handshake.
    Sdk,
    /// One of us.
    Us(oneshot::Sender<Outcome>),
}

/// An answer that belongs to no open request.
pub(super) enum Unmatched {
    /// Its request was given up.
    Late {
        discovered: bool,
    },
    Unknown(String),
}

impl OpenRequests {
    /// A request of ours is about to be sent; `false` if no answer can come, and the asker is let go.
    pub(super) fn open(&mut self, id: i64, asker: oneshot::Sender<Outcome>) -> bool {
        if !self.is_over {
            self.open.insert(id, Asker::Us(asker));
        }
        !self.is_over
    }

    /// The SDK is about to send `message`.
    pub(super) fn note_sent(&mut self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let RequestId::Number(id) = request.id else {
                    return;
                };
                let asker = match request.request {
                    ClientRequest::DiscoverRequest(_) => Asker::Probe,
                    _ => Asker::Sdk,
                };
                if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                    let open = std::mem::take(&mut self.open);
                    self.given_up_probes.extend(open.into_keys());
                }
                self.open.insert(id, asker);
            }
            ClientJsonRpcMessage::Notification(notification) => {
                let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                else {
                    return;
                };
                if let Some(RequestId::Number(id)) = cancelled.params.request_id
                    && self.open.remove(&id).is_some()
                {
                    if self.cancelled.len() == MOST_CANCELLED {
                        self.cancelled.clear();
                    }
                    self.cancelled.insert(id);
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
    }

    /// The open request that `message` answers.
    pub(super) fn id_of(&mut self, message: &Map<String, Value>) -> Result<i64, Unmatched> {
        let given = message.get("id").unwrap_or(&Value::Null);
        let id = match given {
            // An error about a request the server could not read; it can only be the one that is open.
            Value::Null if message.contains_key("error") => self.only_open(),
            Value::Number(number) => number.as_i64().or_else(|| {
                number
                    .as_f64()
                    .filter(|n| n.fract() == 0.0)
                    .map(|n| n as i64)
            }),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        match id {
            Some(id) if self.open.contains_key(&id) => Ok(id),
            Some(id) if self.given_up_probes.remove(&id) => Err(Unmatched::Late {
                discovered: message.contains_key("result"),
            }),
            Some(id) if self.cancelled.remove(&id) => Err(Unmatched::Late { discovered: false }),
            // The probe may be answered with an id of the server's own making, as if by middleware.
            _ if message.contains_key("error")
                && self
                    .open
                    .values()
                    .all(|asker| matches!(asker, Asker::Probe)) =>
            {
                self.only_open().ok_or_else(|| unknown(given))
            }
            _ => Err(unknown(given)),
        }
    }

    pub(super) fn only_open(&self) -> Option<i64> {
        let mut ids = self.open.keys();
        ids.next().copied().filter(|_| ids.next().is_none())
    }

    /// Whether one of us waits for an answer.
    pub(super) fn is_ours_open(&self) -> bool {
        self.open
            .values()
            .any(|asker| matches!(asker, Asker::Us(_)))
    }

    /// The answer to `id` has come, or never will. Who waits for it.
    pub(super) fn close(&mut self, id: i64) -> Option<Asker> {
        self.open.remove(&id)
    }

    /// No answer comes any more, to anybody.
    pub(super) fn end(&mut self) {
        self.is_over = true;
        self.open.clear();
    }
}

fn unknown(id: &Value) -> Unmatched {
    Unmatched::Unknown(format!("it answers request `{id}`, which is not pending"))
}

#[cfg(test)]
mod tests {
    use rmcp::model::{
        CallToolRequest, CallToolRequestParams, ClientConfig, DiscoverRequest,
        DiscoverRequestParams, InitializeRequest,
    };
    use serde_json::json;

    use super::*;

    fn send(requests: &mut OpenRequests, id: i64, request: ClientRequest) {
        requests.note_sent(&ClientJsonRpcMessage::request(
            request,
            RequestId::Number(id),
        ));
    }

    fn call() -> ClientRequest {
        ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new("x")))
    }

    fn discover() -> ClientRequest {
        ClientRequest::DiscoverRequest(DiscoverRequest::new(DiscoverRequestParams {}))
    }

    fn id_of(requests: &mut OpenRequests, answer: Value) -> Result<i64, String> {
        let Value::Object(answer) = answer else {
            panic!("no object")
        };
        requests
            .id_of(&answer)
            .map_err(|unmatched| match unmatched {
                Unmatched::Late { discovered } => format!("late, discovered: {discovered}"),
                Unmatched::Unknown(reason) => reason,
            })
    }

    #[test]
    fn ids_are_matched_in_every_form_a_server_may_give_them() {
        let mut requests = OpenRequests::default();
        let (asker, _outcome) = oneshot::channel();
        assert!(requests.open(1, asker));
        send(&mut requests, 2, call());
        assert!(requests.is_ours_open());
        for id in [json!(2), json!("2"), json!(2.0)] {
            assert_eq!(
                id_of(&mut requests, json!({ "id": id, "result": 0 })),
                Ok(2)
            );
        }
        for id in [json!(3), json!("two"), json!(1.5), json!(null), json!([2])] {
            id_of(&mut requests, json!({ "id": id, "error": 0 })).expect_err("no such request");
        }
        assert!(matches!(requests.close(2), Some(Asker::Sdk)));
        assert_eq!(
            id_of(&mut requests, json!({ "id": null, "error": 0 })),
            Ok(1)
        );
        id_of(&mut requests, json!({ "id": null, "result": 0 })).expect_err("a result needs an id");
    }

    #[test]
    fn a_probe_answered_after_it_was_given_up_is_late() {
        let mut requests = OpenRequests::default();
        send(&mut requests, 0, discover());
        assert_eq!(
            id_of(&mut requests, json!({ "id": "server-error", "error": {} })),
            Ok(0)
        );
        let initialize = InitializeRequest::new(ClientConfig::default());
        send(
            &mut requests,
            1,
            ClientRequest::InitializeRequest(initialize),
        );
        let late = id_of(&mut requests, json!({ "id": 0, "result": {} }));
        assert_eq!(late, Err("late, discovered: true".to_owned()));
        assert_eq!(
            id_of(&mut requests, json!({ "id": 1, "result": {} })),
            Ok(1)
        );
        assert!(matches!(requests.close(1), Some(Asker::Sdk)));
        assert!(requests.close(1).is_none());
    }
}
