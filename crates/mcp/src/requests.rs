//! Which requests are open, and which answer belongs to which.

use std::collections::{HashMap, HashSet};

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId};
use serde_json::{Map, Value};

/// The most cancelled requests remembered, whose late answers are expected.
const MOST_CANCELLED: usize = 1_000;

/// The requests of the SDK that wait for answers.
#[derive(Default)]
pub(super) struct OpenRequests {
    open: HashMap<i64, Asked>,
    /// Requests given up, whose answers may still come.
    cancelled: HashSet<i64>,
    /// The probe, once `initialize` has followed it: its answer may still come.
    given_up_probes: HashSet<i64>,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Whether the server speaks the modern era.
    Probe,
    /// What the server says of itself.
    Initialize,
    /// A call, or a list.
    Call,
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
    /// The SDK is about to send `message`.
    pub(super) fn note_sent(&mut self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let RequestId::Number(id) = request.id else {
                    return;
                };
                let asked = match request.request {
                    ClientRequest::DiscoverRequest(_) => Asked::Probe,
                    ClientRequest::InitializeRequest(_) => {
                        let open = std::mem::take(&mut self.open);
                        self.given_up_probes.extend(open.into_keys());
                        Asked::Initialize
                    }
                    _ => Asked::Call,
                };
                self.open.insert(id, asked);
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
                && self.open.values().all(|asked| *asked == Asked::Probe) =>
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

    /// Whether a call waits for its answer.
    pub(super) fn is_call_open(&self) -> bool {
        self.open.values().any(|asked| *asked == Asked::Call)
    }

    /// The answer to `id` has come, or never will. What it asked for.
    pub(super) fn close(&mut self, id: i64) -> Option<Asked> {
        self.open.remove(&id)
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
        send(&mut requests, 1, call());
        send(&mut requests, 2, call());
        assert!(requests.is_call_open());
        for id in [json!(2), json!("2"), json!(2.0)] {
            assert_eq!(
                id_of(&mut requests, json!({ "id": id, "result": 0 })),
                Ok(2)
            );
        }
        for id in [json!(3), json!("two"), json!(1.5), json!(null), json!([2])] {
            id_of(&mut requests, json!({ "id": id, "error": 0 })).expect_err("no such request");
        }
        assert!(matches!(requests.close(2), Some(Asked::Call)));
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
        assert!(matches!(requests.close(1), Some(Asked::Initialize)));
        assert!(requests.close(1).is_none());
    }
}
