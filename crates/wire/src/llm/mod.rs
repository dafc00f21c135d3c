//! The APIs of language models on the wire: Anthropic's Messages, OpenAI's Chat Completions and Responses, Google's
//! generateContent. Bytes in, bytes out, and the same bytes for the same input: no sockets, no clock, no chance.
//!
//! A server asks [`Route::of`] what a request wants, [`read_request`] what it says, answers with [`write_body`] or
//! [`stream`], and refuses with an [`ApiError`](errors::ApiError). Everything else that clients ask for is in
//! [`catalogue`]. What stands between a client and a provider reads answers with [`decode`], and so does a client, which
//! makes its requests with [`ask`].
//!
//! ```
//! use std::num::NonZeroUsize;
//!
//! use cuecard_wire::llm::answer::{Answer, Element, Piece};
//! use cuecard_wire::llm::events::{Framing, Streaming};
//! use cuecard_wire::llm::ids::IdSeed;
//! use cuecard_wire::llm::route::Route;
//! use cuecard_wire::llm::usage::{self, Usage};
//! use cuecard_wire::llm::{read_request, shows_thinking, stream, write_body};
//! use serde_json::{Value, json};
//!
//! let path = "/v1/chat/completions";
//! let Ok(Route::Generate(target)) = Route::of("POST", path, None, None) else { panic!() };
//! let body = br#"{"model": "gpt-5", "stream": true, "messages": [{"role": "user", "content": "hi"}]}"#;
//! let received = read_request(&target, path, body).expect("a valid request");
//! let request = &received.request;
//!
//! let elements = [Element::Text(vec![Piece { text: "Hello there!".into(), at_ms: 300, image: None }])];
//! let answer = Answer {
//!     seed: IdSeed::of(&["scenario", "session", "turn 0"]),
//!     id: None,
//!     model: &request.model,
//!     created_at: 1_750_000_000,
//!     elements: &elements,
//!     stop: None,
//!     usage: Usage::of(&Value::Null, usage::count_request(request), &elements),
//!     shows_thinking: shows_thinking(request),
//!     reasoning_content: false,
//!     streams_usage: request.wants_stream_usage,
//!     request: &received.body,
//!     failure: None,
//! };
//! if request.wants_stream {
//!     let streaming = Streaming { chunk: NonZeroUsize::new(6).unwrap(), framing: target.framing };
//!     let events = stream(target.endpoint, &answer, streaming);
//!     let times: Vec<u64> = events.iter().map(|event| event.at_ms).collect();
//!     // The role, two deltas, the reason to stop, the end mark.
//!     assert_eq!(times, [0, 150, 300, 300, 300]);
//! }
//! let mut buffer = Vec::new();
//! write_body(target.endpoint, &answer, &mut buffer);
//! let body: Value = serde_json::from_slice(&buffer).unwrap();
//! assert_eq!(body["choices"][0]["message"]["content"], json!("Hello there!"));
//! ```

pub mod answer;
pub mod ask;
pub mod catalogue;
pub mod decode;
pub mod errors;
pub mod events;
pub mod ids;
pub mod media;
pub mod route;
pub mod stop;
pub mod usage;
pub mod values;

mod anthropic_messages;
mod demands;
mod fault;
mod gemini;
mod history;
mod node;
mod openai_chat;
mod openai_responses;

#[cfg(test)]
mod tests;

use answer::Answer;
use cuecard_source::value::Json;
use cuecard_timeline::script::{AdvertisedTool, Endpoint, Request, RequestKey};
use errors::ApiError;
use events::{Events, Framing, Streaming};
use node::Node;
use route::Target;

pub use anthropic_messages::PING;
pub use history::{has_lone_surrogate, has_lone_surrogate_in_arguments};

/// A request as it was understood, and as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// What it says.
    pub request: Request,
    /// The whole of its body.
    pub body: Json,
}

/// How the paths of Gemini end for streams, and for whole answers.
const STREAMED: &str = ":streamGenerateContent";
const WHOLE: &str = ":generateContent";

/// Reads the body of a request to `target`; `path` is the path it came by, without the query. What is unknown is
/// passed over, since clients know more than any stand-in.
///
/// # Errors
/// The refusal of the provider, in its words: 400 for what is missing or of the wrong type, 404 for a
/// `previous_response_id` that isn't ours.
pub fn read_request(target: &Target<'_>, path: &str, body: &[u8]) -> Result<Received, ApiError> {
    let json = fault::parse(target.endpoint, body)?;
    fault::check_members(target.endpoint, &json)?;
    let mut request = match target.endpoint {
        Endpoint::Messages => anthropic_messages::read(target, &json)?,
        Endpoint::Chat => openai_chat::read(&json)?,
        Endpoint::Responses => openai_responses::read(&json)?,
        Endpoint::Gemini => gemini::read(target, &json)?,
    };
    // One request may come by two paths: streamed, and not.
    let route = match path.strip_suffix(STREAMED) {
        Some(model) => format!("{model}{WHOLE}"),
        None => path.to_owned(),
    };
    request.key = RequestKey::of(&route, &json);
    Ok(Received {
        request,
        body: json,
    })
}

/// The tools that the body of a request advertises, whatever else is in it.
///
/// # Errors
/// The refusal of the provider, in its words.
pub fn advertised_tools(endpoint: Endpoint, body: &Json) -> Result<Vec<AdvertisedTool>, ApiError> {
    let body = Node::root(body);
    let tools = match endpoint {
        Endpoint::Messages => anthropic_messages::tools(&body),
        Endpoint::Chat => openai_chat::tools(&body),
        Endpoint::Responses => openai_responses::tools(&body),
        Endpoint::Gemini => gemini::tools(&body),
    };
    tools.map_err(|fault| fault.error(endpoint))
}

/// Whether the answer to a request shows what the model thinks: if it asks for that, and Chat's never.
pub fn shows_thinking(request: &Request) -> bool {
    request.endpoint != Endpoint::Chat && request.wants_thinking
}

/// Appends the answer as one JSON body. An answer with a failure has none: its body is that of the
/// [`ApiError`](errors::ApiError).
pub fn write_body(endpoint: Endpoint, answer: &Answer<'_>, buffer: &mut Vec<u8>) {
    let body = match endpoint {
        Endpoint::Messages => anthropic_messages::body(answer),
        Endpoint::Chat => openai_chat::body(answer),
        Endpoint::Responses => openai_responses::body(answer),
        Endpoint::Gemini => gemini::body(answer),
    };
    buffer.extend_from_slice(body.to_string().as_bytes());
}

/// The answer as a stream. A failure stands in it, in the dialect's own way. Only Gemini has another framing than
/// server-sent events; the others have these whatever is asked for.
pub fn stream(endpoint: Endpoint, answer: &Answer<'_>, mut streaming: Streaming) -> Events {
    if endpoint != Endpoint::Gemini {
        streaming.framing = Framing::Sse;
    }
    match endpoint {
        Endpoint::Messages => anthropic_messages::stream(answer, streaming),
        Endpoint::Chat => openai_chat::stream(answer, streaming),
        Endpoint::Responses => openai_responses::stream(answer, streaming),
        Endpoint::Gemini => gemini::stream(answer, streaming),
    }
}
