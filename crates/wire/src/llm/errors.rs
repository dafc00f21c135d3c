//! Errors as each provider says them.

use cuecard_source::value::Json;
use cuecard_timeline::model::ResponseError;
use cuecard_timeline::script::Endpoint;
use serde_json::json;

/// An error of the API.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiError {
    /// The status of the response, 400 to 599.
    pub status: u16,
    /// The type, as a script says it. It is used if the dialect knows it, else it follows from the status.
    pub error_type: Option<String>,
    /// What is wrong, in words.
    pub message: String,
    /// The parameter that is wrong: OpenAI only.
    pub param: Option<String>,
    /// The code: OpenAI only. Without one it follows from type and status.
    pub code: Option<String>,
    /// `details`; null if there are none.
    pub details: Json,
}

impl ApiError {
    /// An error whose type follows from its status.
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            error_type: None,
            message: message.into(),
            param: None,
            code: None,
            details: Json::Null,
        }
    }

    /// The error that a scenario scripts. Its headers stay with the script.
    pub fn scripted(error: &ResponseError) -> Self {
        Self {
            error_type: error.error_type.clone(),
            details: error.details.clone(),
            ..Self::new(error.status, error.message.as_str())
        }
    }

    /// The type that a script must name for this error to be said the same again by an API; none if it follows from
    /// the status.
    pub fn scripted_type(&self, endpoint: Endpoint) -> Option<&str> {
        let whole = Self {
            param: None,
            ..self.clone()
        };
        let with_type = |kind: Option<&str>| Self {
            error_type: kind.map(str::to_owned),
            code: None,
            ..whole.clone()
        };
        let kinds = [None, self.error_type.as_deref(), self.code.as_deref()];
        let is_same = |kind: &Option<&str>| with_type(*kind).body(endpoint) == whole.body(endpoint);
        // In the middle of a stream, Responses has words of its own.
        let is_same_in_stream =
            |kind: &Option<&str>| with_type(*kind).responses_code() == whole.responses_code();
        let same = || kinds.into_iter().filter(is_same);
        same()
            .find(is_same_in_stream)
            .or_else(|| same().next())
            .unwrap_or(self.error_type.as_deref())
    }

    /// What of this error, which came in the middle of a stream, is said otherwise by another one that was made of it.
    pub fn lost_in_stream(&self, other: &Self, endpoint: Endpoint) -> Vec<&'static str> {
        let said = |error: &Self| match endpoint {
            Endpoint::Responses => json!({
                "code": error.responses_code(), "message": error.message, "param": error.param,
            }),
            _ => serde_json::from_slice::<Json>(&error.body(endpoint)).unwrap_or_default()["error"]
                .take(),
        };
        let said = said(other);
        let is = [
            ("type", self.error_type.as_ref()),
            ("code", self.code.as_ref()),
            ("param", self.param.as_ref()),
        ];
        let is = is.into_iter().map(|(name, value)| match (endpoint, name) {
            // What a failed answer calls a code is its type here.
            (Endpoint::Responses, "type") => ("code", value),
            _ => (name, value),
        });
        is.filter(|(name, value)| value.is_some_and(|value| said[*name] != value.as_str()))
            .map(|(name, _)| name)
            .collect()
    }

    /// The body of the response.
    pub fn body(&self, endpoint: Endpoint) -> Vec<u8> {
        let body = match endpoint {
            Endpoint::Chat | Endpoint::Responses => self.open_ai(),
            Endpoint::Messages => self.anthropic(),
            Endpoint::Gemini => self.gemini(),
        };
        body.to_string().into_bytes()
    }

    pub(super) fn anthropic(&self) -> Json {
        let kind = word_of(ANTHROPIC_TYPES, self.error_type.as_deref(), self.status);
        let error = json!({"type": kind, "message": self.message});
        json!({"type": "error", "error": self.with_details(error)})
    }

    pub(super) fn open_ai(&self) -> Json {
        let (derived, derived_code) = open_ai_type(self.status);
        let scripted = self.error_type.as_deref();
        let kind = known(scripted, OPEN_AI_TYPES).unwrap_or(derived);
        // The code that belongs to the derived type says nothing about another one.
        let derived_code = derived_code.filter(|_| kind == derived);
        let code = self.code.as_deref();
        let code = code.or(known(scripted, OPEN_AI_CODES)).or(derived_code);
        let error =
            json!({"message": self.message, "type": kind, "param": self.param, "code": code});
        json!({"error": self.with_details(error)})
    }

    /// The code of a Responses answer that failed, whose set is closed.
    pub(super) fn responses_code(&self) -> &'static str {
        word_of(RESPONSES_CODES, self.error_type.as_deref(), self.status)
    }

    pub(super) fn gemini(&self) -> Json {
        let status = word_of(GEMINI_STATUSES, self.error_type.as_deref(), self.status);
        let mut error = json!({"code": self.status, "message": self.message, "status": status});
        match &self.details {
            Json::Null => {}
            Json::Array(_) => error["details"] = self.details.clone(),
            details => error["details"] = json!([details]),
        }
        json!({ "error": error })
    }

    fn with_details(&self, mut error: Json) -> Json {
        if !self.details.is_null() {
            error["details"] = self.details.clone();
        }
        error
    }
}

fn known(word: Option<&str>, words: &[&'static str]) -> Option<&'static str> {
    words.iter().copied().find(|known| Some(*known) == word)
}

/// The words of an API for what is wrong, each with its status. Of several with one status, the first is said of it.
type Words = [(&'static str, u16)];

/// The word of an API that a script names, or that a status has.
fn word_of(words: &Words, named: Option<&str>, status: u16) -> &'static str {
    let of_status = |status: u16| words.iter().find(|(_, known)| *known == status);
    let named = words.iter().find(|(word, _)| Some(*word) == named);
    let general = if status >= 500 { 500 } else { 400 };
    let found = named.or_else(|| of_status(status));
    let found = found.or_else(|| of_status(general));
    found.map_or("", |found| found.0)
}

/// The status that a word of an API stands for.
pub(super) fn status_of(words: &Words, word: &str) -> u16 {
    let found = words.iter().find(|(known, _)| *known == word);
    found.map_or(500, |(_, status)| *status)
}

/// The types that Anthropic's API has.
pub(super) const ANTHROPIC_TYPES: &Words = &[
    ("invalid_request_error", 400),
    ("authentication_error", 401),
    ("billing_error", 402),
    ("permission_error", 403),
    ("not_found_error", 404),
    ("conflict_error", 409),
    ("request_too_large", 413),
    ("rate_limit_error", 429),
    ("api_error", 500),
    ("timeout_error", 504),
    ("timeout_error", 408),
    ("overloaded_error", 529),
];

/// The types that OpenAI's API has; of rate limits, the type says what is limited.
const OPEN_AI_TYPES: &[&str] = &[
    "invalid_request_error",
    "authentication_error",
    "permission_error",
    "not_found_error",
    "insufficient_quota",
    "requests",
    "tokens",
    "rate_limit_error",
    "server_error",
    "service_unavailable_error",
    "api_error",
];

/// The codes that OpenAI's API has, for scripts that name one as the type.
const OPEN_AI_CODES: &[&str] = &[
    "context_length_exceeded",
    "content_policy_violation",
    "insufficient_quota",
    "invalid_api_key",
    "model_not_found",
    "rate_limit_exceeded",
    "server_is_overloaded",
];

/// The codes of a Responses answer that failed which are not about images.
pub(super) const RESPONSES_CODES: &Words = &[
    ("invalid_prompt", 400),
    ("context_length_exceeded", 400),
    ("rate_limit_exceeded", 429),
    ("insufficient_quota", 429),
    ("server_error", 500),
    ("server_is_overloaded", 500),
];

/// The words that Gemini's API has for `status`.
const GEMINI_STATUSES: &Words = &[
    ("INVALID_ARGUMENT", 400),
    ("FAILED_PRECONDITION", 400),
    ("OUT_OF_RANGE", 400),
    ("UNAUTHENTICATED", 401),
    ("PERMISSION_DENIED", 403),
    ("NOT_FOUND", 404),
    ("ABORTED", 409),
    ("ALREADY_EXISTS", 409),
    ("RESOURCE_EXHAUSTED", 429),
    ("CANCELLED", 499),
    ("INTERNAL", 500),
    ("UNKNOWN", 500),
    ("DATA_LOSS", 500),
    ("UNIMPLEMENTED", 501),
    ("UNAVAILABLE", 503),
    ("DEADLINE_EXCEEDED", 504),
];

/// Type and code.
fn open_ai_type(status: u16) -> (&'static str, Option<&'static str>) {
    match status {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        429 => ("requests", Some("rate_limit_exceeded")),
        500..=599 => ("server_error", None),
        _ => ("invalid_request_error", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(endpoint: Endpoint, error: &ApiError) -> Json {
        serde_json::from_slice(&error.body(endpoint)).expect("JSON")
    }

    #[test]
    fn the_type_follows_from_the_status() {
        let error = ApiError::new(429, "slow down");
        assert_eq!(
            body(Endpoint::Messages, &error),
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}})
        );
        for endpoint in [Endpoint::Chat, Endpoint::Responses] {
            assert_eq!(
                body(endpoint, &error),
                json!({"error": {"message": "slow down", "type": "requests", "param": null,
                    "code": "rate_limit_exceeded"}})
            );
        }
        assert_eq!(
            body(Endpoint::Gemini, &error),
            json!({"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}})
        );
    }

    #[test]
    fn a_type_counts_where_it_is_known() {
        let mut error = ApiError::new(529, "busy");
        error.error_type = Some("overloaded_error".to_owned());
        assert_eq!(
            body(Endpoint::Messages, &error)["error"]["type"],
            "overloaded_error"
        );
        assert_eq!(
            body(Endpoint::Chat, &error)["error"]["type"],
            "server_error"
        );
        assert_eq!(
            body(Endpoint::Gemini, &error)["error"]["status"],
            "INTERNAL"
        );

        let mut error = ApiError::new(429, "no money");
        error.error_type = Some("insufficient_quota".to_owned());
        assert_eq!(
            body(Endpoint::Chat, &error)["error"],
            json!({"message": "no money", "type": "insufficient_quota", "param": null, "code": "insufficient_quota"})
        );
        assert_eq!(error.responses_code(), "insufficient_quota");

        let mut error = ApiError::new(400, "too long");
        error.error_type = Some("context_length_exceeded".to_owned());
        assert_eq!(
            body(Endpoint::Chat, &error)["error"]["type"],
            "invalid_request_error"
        );
        assert_eq!(
            body(Endpoint::Chat, &error)["error"]["code"],
            "context_length_exceeded"
        );
    }

    #[test]
    fn details_stand_inside_the_error() {
        let mut error = ApiError::new(400, "bad");
        error.details = json!({"field": "x"});
        for endpoint in [Endpoint::Messages, Endpoint::Chat] {
            assert_eq!(
                body(endpoint, &error)["error"]["details"],
                json!({"field": "x"})
            );
        }
        assert_eq!(
            body(Endpoint::Gemini, &error)["error"]["details"],
            json!([{"field": "x"}])
        );
    }
}
