//! JSON-RPC 2.0 as the protocol of agents uses it: one message a line, no batches. Knows no method.

use cuecard_source::json::read_value;
use cuecard_source::value::Json;
use serde_json::json;

/// The line is not JSON.
const PARSE_ERROR: i64 = -32700;
/// It is no request.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// Nobody knows the method.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// Its parameters are wrong.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// Something else failed.
pub(super) const INTERNAL_ERROR: i64 = -32603;
/// The user must authenticate first.
pub(super) const AUTH_REQUIRED: i64 = -32000;
/// There is no such session, file or terminal.
pub(super) const NOT_FOUND: i64 = -32002;

/// What a line says.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// It wants an answer.
    Request {
        /// As it came, and as it is sent back.
        id: Json,
        method: String,
        params: Json,
    },
    /// It wants none.
    Notification { method: String, params: Json },
    /// It answers a request of ours.
    Response {
        id: Json,
        result: Result<Json, RpcError>,
    },
}

/// Why a line is no message.
#[derive(Debug, PartialEq)]
pub(super) struct Malformed {
    /// To whom it is said, with this code; `None` for answers, which get none.
    pub(super) id: Option<Json>,
    pub(super) code: i64,
    /// What is wrong.
    pub(super) why: String,
}

/// An error as an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: String,
    /// Null if there is no more to say.
    pub(super) data: Json,
}

impl RpcError {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: Json::Null,
        }
    }

    pub(super) fn with_data(self, data: Json) -> Self {
        Self { data, ..self }
    }

    fn to_json(&self) -> Json {
        let mut error = json!({"code": self.code, "message": self.message});
        if !self.data.is_null() {
            error["data"] = self.data.clone();
        }
        error
    }
}

/// Reads a line. A number of an id may be any; a text too.
pub(super) fn read(line: &[u8]) -> Result<Message, Malformed> {
    let malformed = |id, why: &str| Malformed {
        id,
        code: INVALID_REQUEST,
        why: why.to_owned(),
    };
    let mut message = read_value(line).map_err(|error| Malformed {
        id: Some(Json::Null),
        code: PARSE_ERROR,
        why: format!("it is not JSON: {error}"),
    })?;
    let Some(members) = message.as_object_mut() else {
        let why = match message {
            Json::Array(_) => "batches are not part of the protocol",
            _ => "a message is an object",
        };
        return Err(malformed(Some(Json::Null), why));
    };
    let id = members.remove("id");
    let told = || Some(id.clone().unwrap_or_default());
    if members.get("jsonrpc").and_then(Json::as_str) != Some("2.0") {
        return Err(malformed(told(), "`jsonrpc` must be \"2.0\""));
    }
    if id
        .as_ref()
        .is_some_and(|id| !(id.is_string() || id.is_number() || id.is_null()))
    {
        return Err(malformed(
            Some(Json::Null),
            "`id` must be a number or a string",
        ));
    }
    let params = members.remove("params").unwrap_or_default();
    match (members.remove("method"), id.clone()) {
        (Some(Json::String(method)), Some(id)) => Ok(Message::Request { id, method, params }),
        (Some(Json::String(method)), None) => Ok(Message::Notification { method, params }),
        (Some(_), _) => Err(malformed(told(), "`method` must be a string")),
        (None, None) => Err(malformed(
            Some(Json::Null),
            "it has neither `method` nor `id`",
        )),
        (None, Some(id)) => match (members.remove("result"), members.remove("error")) {
            (_, Some(error)) if !error.is_null() => Ok(Message::Response {
                id,
                result: Err(RpcError {
                    code: error["code"].as_i64().unwrap_or(INTERNAL_ERROR),
                    message: error["message"].as_str().unwrap_or_default().to_owned(),
                    data: error["data"].clone(),
                }),
            }),
            (Some(result), _) => Ok(Message::Response {
                id,
                result: Ok(result),
            }),
            (None, _) => Err(malformed(
                None,
                "it has neither `method` nor `result` nor `error`",
            )),
        },
    }
}

/// A request.
pub(super) fn request(id: u64, method: &str, params: &Json) -> Vec<u8> {
    bytes(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

/// A notification.
pub(super) fn notification(method: &str, params: &Json) -> Vec<u8> {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if !params.is_null() {
        message["params"] = params.clone();
    }
    bytes(&message)
}

/// An answer.
pub(super) fn response(id: &Json, result: &Result<Json, RpcError>) -> Vec<u8> {
    bytes(&match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error.to_json()}),
    })
}

fn bytes(message: &Json) -> Vec<u8> {
    message.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn why(line: &str) -> (Option<Json>, String) {
        let malformed = read(line.as_bytes()).expect_err("it is malformed");
        (malformed.id, malformed.why)
    }

    #[test]
    fn what_is_no_message_is_told_to_whom_it_may_concern() {
        assert_eq!(why("{").0, Some(Json::Null));
        assert_eq!(why("[]").0, Some(Json::Null));
        assert_eq!(why("1").1, "a message is an object");
        let (id, why_not) = why(r#"{"id": 7, "method": "x"}"#);
        assert_eq!(
            (id, why_not.as_str()),
            (Some(json!(7)), "`jsonrpc` must be \"2.0\"")
        );
        assert_eq!(
            why(r#"{"jsonrpc": "2.0", "id": {}, "method": "x"}"#).0,
            Some(Json::Null)
        );
        assert_eq!(
            why(r#"{"jsonrpc": "2.0", "id": 7, "method": 1}"#).0,
            Some(json!(7))
        );
        // An answer to nothing is answered by nothing.
        assert_eq!(why(r#"{"jsonrpc": "2.0", "id": 7}"#).0, None);
    }

    #[test]
    fn an_integer_over_64_bits_keeps_its_digits() {
        let message = read(br#"{"jsonrpc": "2.0", "method": "x", "params": {"n": 123456789012345678901234567890}}"#);
        let params = json!({"n": "123456789012345678901234567890"});
        let method = "x".to_owned();
        assert_eq!(message, Ok(Message::Notification { method, params }));
    }

    #[test]
    fn an_answer_may_be_null() {
        let message = read(br#"{"jsonrpc": "2.0", "id": 0, "result": null}"#);
        let result = Ok(Json::Null);
        assert_eq!(
            message,
            Ok(Message::Response {
                id: json!(0),
                result
            })
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(id in any::<u64>(), method in "\\PC*", text in ".*") {
            let params = json!({"text": text});
            let message = read(&request(id, &method, &params));
            let expected = Message::Request { id: json!(id), method: method.clone(), params: params.clone() };
            prop_assert_eq!(message, Ok(expected));
            let message = read(&notification(&method, &params));
            prop_assert_eq!(message, Ok(Message::Notification { method, params: params.clone() }));
            for result in [Ok(params), Err(RpcError::new(NOT_FOUND, text))] {
                let message = read(&response(&json!(id), &result));
                prop_assert_eq!(message, Ok(Message::Response { id: json!(id), result }));
            }
        }

        #[test]
        fn no_line_is_too_strange(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&line);
        }
    }
}
