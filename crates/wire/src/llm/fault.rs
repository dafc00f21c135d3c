//! What is wrong with a request, in the words of each provider.

use cuecard_source::json::read_value;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::script::Endpoint;
use serde_json::json;

use super::errors::ApiError;
use super::node::{Node, Token};

/// How much of a wrong value is shown, in characters.
const SHOWN: usize = 200;

/// What is wrong with a part of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    pub(super) place: Vec<Token>,
    pub(super) kind: FaultKind,
    pub(super) found: Json,
}

/// In which way it is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// It isn't there.
    Missing,
    /// It is of another type.
    Mistyped(Expected),
    /// It is a text that isn't one of these.
    Unknown(&'static [&'static str]),
    /// It is an empty list.
    Empty,
    /// It is below one.
    TooSmall,
    /// It is below 0 or above this.
    Outside { most: u32 },
    /// It names an answer that isn't ours.
    UnknownAnswer,
    /// It belongs to another API.
    Foreign,
}

/// The type that was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Text,
    Flag,
    Count,
    Number,
    List,
    Object,
    TextOrList,
}

/// The JSON of a body.
///
/// # Errors
/// The 400 of a provider about a body that isn't JSON, or that isn't an object.
pub(super) fn parse(endpoint: Endpoint, body: &[u8]) -> Result<Json, ApiError> {
    let why = match read_value(body) {
        Ok(json) if json.is_object() => return Ok(json),
        Ok(json) => format!(
            "expected an object, found {}",
            cuecard_source::value::kind_name(&json)
        ),
        Err(error) => error.to_string(),
    };
    Err(ApiError::new(
        400,
        match endpoint {
            Endpoint::Messages => format!("The request body is not valid JSON: {why}"),
            Endpoint::Chat | Endpoint::Responses => format!(
                "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your \
                 HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid \
                 JSON: {why})"
            ),
            Endpoint::Gemini => format!("Invalid JSON payload received. {why}"),
        },
    ))
}

/// Members at the top of a body that only other APIs have: what is sent to the wrong one may look like a request of it
/// otherwise. Members that no API knows are passed over.
///
/// # Errors
/// The 400 of the provider.
pub(super) fn check_members(endpoint: Endpoint, body: &Json) -> Result<(), ApiError> {
    let foreign: &[&str] = match endpoint {
        Endpoint::Messages => &["contents", "input", "instructions"],
        Endpoint::Chat => &["contents", "input", "system", "instructions"],
        Endpoint::Responses => &["contents", "messages", "system"],
        Endpoint::Gemini => &["messages", "input", "instructions"],
    };
    let root = Node::root(body);
    match foreign.iter().find_map(|name| root.get(name)) {
        Some(member) => Err(member.fault(FaultKind::Foreign).error(endpoint)),
        None => Ok(()),
    }
}

impl Fault {
    /// What the provider answers.
    pub(super) fn error(&self, endpoint: Endpoint) -> ApiError {
        match endpoint {
            Endpoint::Messages => self.messages(),
            Endpoint::Chat | Endpoint::Responses => self.open_ai(endpoint),
            Endpoint::Gemini => self.gemini(),
        }
    }

    fn messages(&self) -> ApiError {
        let place = self.dotted();
        ApiError::new(
            400,
            match &self.kind {
                FaultKind::Missing => format!("{place}: Field required"),
                FaultKind::Mistyped(expected) => {
                    let expected = match expected {
                        Expected::Text => "string",
                        Expected::Flag => "boolean",
                        Expected::Count => "integer",
                        Expected::Number => "number",
                        Expected::List => "list",
                        Expected::Object => "dictionary",
                        Expected::TextOrList => "string or list",
                    };
                    format!("{place}: Input should be a valid {expected}")
                }
                FaultKind::Unknown(allowed) => {
                    format!("{place}: Input should be {}", listed(allowed, "or"))
                }
                FaultKind::Empty => format!("{place}: at least one message is required"),
                FaultKind::TooSmall => format!("{place}: must be greater than or equal to 1"),
                FaultKind::Outside { most } => {
                    format!("{place}: Input should be from 0 to {most}")
                }
                FaultKind::UnknownAnswer => format!("{place}: not found"),
                FaultKind::Foreign => format!("{place}: Extra inputs are not permitted"),
            },
        )
    }

    fn open_ai(&self, endpoint: Endpoint) -> ApiError {
        let place = self.bracketed();
        let (message, code) = match &self.kind {
            FaultKind::Missing if place == "model" && endpoint == Endpoint::Chat => {
                return ApiError::new(400, "you must provide a model parameter");
            }
            FaultKind::Missing => (
                format!("Missing required parameter: '{place}'."),
                "missing_required_parameter",
            ),
            FaultKind::Mistyped(expected) => {
                let expected = match expected {
                    Expected::Text => "a string",
                    Expected::Flag => "a boolean",
                    Expected::Count => "an integer",
                    Expected::Number => "a number",
                    Expected::List => "an array of objects",
                    Expected::Object => "an object",
                    Expected::TextOrList => "one of a string or array of objects",
                };
                let found = found(&self.found);
                let message = format!(
                    "Invalid type for '{place}': expected {expected}, but got {found} instead."
                );
                (message, "invalid_type")
            }
            FaultKind::Unknown(allowed) => {
                let found = cut(self.found.as_str().unwrap_or_default(), SHOWN).into_owned();
                let allowed = listed(allowed, "and");
                let message = format!("Invalid value: '{found}'. Supported values are: {allowed}.");
                (message, "invalid_value")
            }
            FaultKind::Empty => {
                let message = format!(
                    "Invalid '{place}': empty array. Expected an array with minimum length 1, but got an empty array \
                     instead."
                );
                (message, "empty_array")
            }
            FaultKind::TooSmall => {
                let message = format!(
                    "Invalid '{place}': integer below minimum value. Expected a value >= 1, but got {} instead.",
                    self.found
                );
                (message, "integer_below_min_value")
            }
            FaultKind::Outside { most } => {
                let message = format!(
                    "Invalid '{place}': expected a value from 0 to {most}, but got {} instead.",
                    self.found
                );
                (message, "invalid_value")
            }
            FaultKind::Foreign => (
                format!("Unknown parameter: '{place}'."),
                "unknown_parameter",
            ),
            FaultKind::UnknownAnswer => {
                let found = cut(self.found.as_str().unwrap_or_default(), SHOWN).into_owned();
                let message = format!("Previous response with id '{found}' not found.");
                (message, "previous_response_not_found")
            }
        };
        let status = if self.kind == FaultKind::UnknownAnswer {
            404
        } else {
            400
        };
        let mut error = ApiError::new(status, message);
        error.param = Some(place);
        error.code = Some(code.to_owned());
        error
    }

    fn gemini(&self) -> ApiError {
        let place = self.bracketed();
        let message = match &self.kind {
            FaultKind::Missing => {
                format!("* GenerateContentRequest.{place}: {place} is not specified\n")
            }
            FaultKind::Empty => format!("* GenerateContentRequest.{place}: must not be empty\n"),
            FaultKind::Unknown(allowed) => {
                return ApiError::new(
                    400,
                    format!("Please use a valid role: {}.", allowed.join(", ")),
                );
            }
            FaultKind::Foreign => {
                format!(
                    "Invalid JSON payload received. Unknown name \"{place}\": Cannot find field."
                )
            }
            FaultKind::Mistyped(_)
            | FaultKind::TooSmall
            | FaultKind::Outside { .. }
            | FaultKind::UnknownAnswer => {
                let found = self.found.to_string();
                format!("Invalid value at '{place}', {}", cut(&found, SHOWN))
            }
        };
        let mut error = ApiError::new(400, message.clone());
        error.details = json!([{
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{ "field": place, "description": message }],
        }]);
        error
    }

    /// `messages.0.content`.
    fn dotted(&self) -> String {
        let tokens: Vec<String> = self
            .place
            .iter()
            .map(|token| match token {
                Token::Name(name) => name.clone(),
                Token::Index(index) => index.to_string(),
            })
            .collect();
        tokens.join(".")
    }

    /// `messages[0].content`.
    fn bracketed(&self) -> String {
        let mut place = String::new();
        for token in &self.place {
            match token {
                Token::Name(name) => {
                    if !place.is_empty() {
                        place.push('.');
                    }
                    place.push_str(name);
                }
                Token::Index(index) => place.push_str(&format!("[{index}]")),
            }
        }
        place
    }
}

/// `'a', 'b' or 'c'`.
fn listed(words: &[&str], last: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    match quoted.split_last() {
        Some((end, [])) => end.clone(),
        Some((end, begin)) => format!("{} {last} {end}", begin.join(", ")),
        None => String::new(),
    }
}

/// What was found, in OpenAI's words.
fn found(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(number) if number.is_f64() => "a decimal",
        Json::Number(_) => "an integer",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}
