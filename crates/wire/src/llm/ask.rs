//! Requests that make a model call one function: what a client of these APIs sends.

use cuecard_source::value::Json;
use cuecard_timeline::script::Endpoint;

use super::errors::ApiError;
use super::{anthropic_messages, openai_chat};

/// What a model is asked.
#[derive(Debug, Clone)]
pub struct ModelRequest<'a> {
    /// The model.
    pub model: &'a str,
    /// What it is told before everything else.
    pub system: &'a str,
    /// Blocks of text that make one message of the user; none is empty.
    pub blocks: &'a [&'a str],
    /// The function that it must call.
    pub function: AskedFunction<'a>,
    /// What it replied so far, each with what was wrong with it.
    pub rejected: &'a [Rejected<'a>],
    /// How long its reply may be, in tokens.
    pub max_tokens: u32,
    /// What may be said in a request.
    pub accepted: Accepted,
}

/// A function that a model can call.
#[derive(Debug, Clone)]
pub struct AskedFunction<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What it is for.
    pub description: &'a str,
    /// The JSON Schema of its arguments.
    pub schema: Json,
}

/// A reply that could not be used.
#[derive(Debug, Clone)]
pub struct Rejected<'a> {
    /// What the model said beside calls.
    pub text: &'a str,
    /// What it called.
    pub calls: Vec<RejectedCall<'a>>,
    /// What was wrong, on one line.
    pub correction: &'a str,
}

/// A call of a reply that could not be used.
#[derive(Debug, Clone)]
pub struct RejectedCall<'a> {
    /// Its id.
    pub id: String,
    /// The function.
    pub name: &'a str,
    /// Its arguments, or the text that came if it was no JSON.
    pub arguments: &'a Json,
}

/// What a request says to a model that not every model accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// That it is to answer alike each time.
    pub temperature: bool,
    /// That it is to make one call only.
    pub one_call: bool,
    /// The usual name of the bound on its reply; newer models of OpenAI have another one.
    pub max_tokens: bool,
}

impl Default for Accepted {
    fn default() -> Self {
        Self {
            temperature: true,
            one_call: true,
            max_tokens: true,
        }
    }
}

impl Accepted {
    /// Leaves out what an error names as not supported. False if it names nothing that was said.
    pub fn give_up(&mut self, endpoint: Endpoint, error: &ApiError) -> bool {
        let names = |word: &str| {
            error.param.as_deref() == Some(word)
                || (error.param.is_none() && error.message.contains(word))
        };
        let said = [
            (&mut self.temperature, names("temperature")),
            (&mut self.one_call, names("parallel_tool")),
            (
                &mut self.max_tokens,
                endpoint == Endpoint::Chat && names("max_tokens"),
            ),
        ];
        for (is_accepted, is_named) in said {
            if *is_accepted && is_named {
                *is_accepted = false;
                return true;
            }
        }
        false
    }
}

/// The path and the body of a request. `base` is the path of the provider's address, without a slash at its end.
/// Gemini and Responses are not asked: none.
pub fn request(endpoint: Endpoint, base: &str, asked: &ModelRequest<'_>) -> Option<(String, Json)> {
    match endpoint {
        Endpoint::Chat => {
            // Clients of this API have the version in their base URL.
            let path = match base {
                "" => "/v1/chat/completions".to_owned(),
                base => format!("{base}/chat/completions"),
            };
            Some((path, openai_chat::request_body(asked)))
        }
        Endpoint::Messages => {
            let base = base.strip_suffix("/v1").unwrap_or(base);
            Some((
                format!("{base}/v1/messages"),
                anthropic_messages::request_body(asked),
            ))
        }
        Endpoint::Responses | Endpoint::Gemini => None,
    }
}

/// Headers that an API wants beside the key.
pub fn headers(endpoint: Endpoint) -> &'static [(&'static str, &'static str)] {
    match endpoint {
        Endpoint::Messages => &[("anthropic-version", "2023-06-01")],
        Endpoint::Chat | Endpoint::Responses | Endpoint::Gemini => &[],
    }
}
