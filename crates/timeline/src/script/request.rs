//! A request to a model, as all dialects mean it: what stands between the wire and the script.

use std::sync::Arc;

use super::blocks::comparable;
use super::request_key::RequestKey;
use crate::profiles::AdvertisedTool;
use cuecard_source::value::Json;

/// A request to a model. Everything that only the wire needs to know of it stays there.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// By which API it came.
    pub endpoint: Endpoint,
    /// The model it names; empty if it names none.
    pub model: String,
    /// The texts of system and developer messages, and of `instructions`, joined by newlines.
    pub system: String,
    /// The conversation so far, in order, without system messages. After [`Request::previous`] only what is new.
    pub history: Vec<Message>,
    /// The tools it advertises, in order.
    pub tools: Vec<AdvertisedTool>,
    /// Which of them must be called.
    pub tool_choice: ToolChoice,
    /// Whether several tools may be called at once.
    pub allows_parallel: bool,
    /// How many tokens the answer may have.
    pub max_tokens: Option<u64>,
    /// Whether the answer is to be streamed.
    pub wants_stream: bool,
    /// Whether a stream is to end with the usage (`stream_options.include_usage`).
    pub wants_stream_usage: bool,
    /// Whether thinking is wanted: `thinking` (Anthropic), reasoning summaries (Responses), `includeThoughts` (Gemini).
    pub wants_thinking: bool,
    /// Whether the provider refuses a loop of calls whose answer comes back without its thinking (Anthropic with a budget).
    pub needs_thinking: bool,
    /// The schema that the answer's text must fit, if one is asked for. An empty object asks for any JSON.
    pub response_schema: Option<Json>,
    /// The answer that this request goes on from, instead of sending its history (`previous_response_id`).
    pub previous: Option<PreviousAnswer>,
    /// Its headers, names in lower case; only where a scenario has conditions on headers.
    pub headers: Vec<(String, String)>,
    /// Its whole body; only where a scenario has conditions on it.
    pub body: Option<Arc<Json>>,
    /// What the whole request is recognised by when it comes again.
    pub key: RequestKey,
}

impl Request {
    /// A request without anything.
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            model: String::new(),
            system: String::new(),
            history: Vec::new(),
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            allows_parallel: true,
            max_tokens: None,
            wants_stream: false,
            wants_stream_usage: false,
            wants_thinking: false,
            needs_thinking: false,
            response_schema: None,
            previous: None,
            headers: Vec::new(),
            body: None,
            key: RequestKey::default(),
        }
    }
}

/// The API by which a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Endpoint {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Chat Completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Google's generateContent.
    Gemini,
}

impl Endpoint {
    /// Its name for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
        }
    }
}

/// One message of the conversation. Where a wire has items instead of messages, each item is one.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who says it. Results of tools are the user's.
    pub role: Role,
    /// What it holds, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// A message of the user's with one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            parts: vec![Part::Text(text.into())],
        }
    }

    /// A message of the model's with one text.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            parts: vec![Part::Text(text.into())],
        }
    }
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The user, or the agent with the results of tools.
    User,
    /// The model.
    Assistant,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text. Whether it is a reminder rather than something the user said, [`super::is_reminder`] tells.
    Text(String),
    /// What the model thought; empty where the request only holds it encrypted.
    Thinking(String),
    /// A tool call of the model.
    Call(RequestedCall),
    /// The result of one.
    Result(RequestedResult),
    /// Anything else: an image, a sound, a file.
    Block(RequestedBlock),
}

impl Part {
    /// A block of which only the name of its type is known.
    pub fn other(name: impl Into<String>) -> Self {
        Self::Block(RequestedBlock {
            name: name.into(),
            kind: MediaKind::Other,
            mime_type: String::new(),
            data: String::new(),
            title: String::new(),
            text: String::new(),
            content: Json::Null,
        })
    }
}

/// A block of a message that is neither text nor of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedBlock {
    /// The name of its type on the wire: `image`, `input_file`.
    pub name: String,
    /// What it is.
    pub kind: MediaKind,
    /// The type of what it holds; empty if it isn't said.
    pub mime_type: String,
    /// What it holds, in base64, or as text; or where that is. Empty if it isn't known.
    pub data: String,
    /// The name of a document; empty if it has none.
    pub title: String,
    /// The text by which it is compared in an answer; empty if it is no image of a script.
    pub text: String,
    /// All of it for comparing, if it came as a content block of the Agent Client Protocol; else null.
    pub content: Json,
}

impl RequestedBlock {
    /// Reads a content block of a prompt, `{"type": "image", …}` as the Agent Client Protocol has it. `None` for a text.
    pub fn of_content(block: &Json) -> Option<Self> {
        let name = block["type"].as_str().filter(|name| *name != "text")?;
        let mime_type = match name {
            "resource" => &block["resource"]["mimeType"],
            _ => &block["mimeType"],
        };
        let mime_type = mime_type.as_str().unwrap_or_default();
        Some(Self {
            name: name.to_owned(),
            kind: match name {
                "image" => MediaKind::Image,
                "audio" => MediaKind::Audio,
                "resource_link" => MediaKind::File,
                _ => MediaKind::of(mime_type),
            },
            mime_type: mime_type.to_owned(),
            data: String::new(),
            title: String::new(),
            text: String::new(),
            content: comparable(block),
        })
    }

    /// Its type for people.
    pub(super) fn describe(&self) -> String {
        format!("a block of type `{}`", self.name)
    }
}

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MediaKind {
    /// An image.
    Image,
    /// Sound.
    Audio,
    /// A document, or another file.
    File,
    /// Something else.
    Other,
}

impl MediaKind {
    /// Returns the kind of what has this type, as `image/png`.
    pub fn of(mime_type: &str) -> Self {
        match mime_type.split('/').next() {
            Some("image") => Self::Image,
            Some("audio") => Self::Audio,
            _ => Self::File,
        }
    }
}

/// A tool call in the history of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestedCall {
    /// Its id; empty where the wire has none.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments: an object, or a string for a custom tool, and for arguments that are not JSON.
    pub args: Json,
}

/// The result of a tool call in the history of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedResult {
    /// The call's id; empty where the wire has none.
    pub call_id: String,
    /// The tool's name; empty where the wire has none.
    pub name: String,
    /// Its texts, joined by newlines; JSON as text where it is no text.
    pub text: String,
    /// The types of its blocks that are no text: `image`.
    pub blocks: Vec<String>,
    /// Whether it is marked as failed.
    pub is_error: bool,
}

/// Which tools must be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// As the model likes.
    Auto,
    /// None.
    None,
    /// At least one.
    Any,
    /// This one.
    Tool(String),
    /// Of these only.
    Among {
        /// Their names.
        names: Vec<String>,
        /// Whether one of them must be called.
        is_required: bool,
    },
}

impl ToolChoice {
    /// Whether an answer without a call does not obey.
    pub fn is_required(&self) -> bool {
        match self {
            Self::Any | Self::Tool(_) => true,
            Self::Among { is_required, .. } => *is_required,
            Self::Auto | Self::None => false,
        }
    }
}

/// The answer that a request goes on from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviousAnswer {
    /// Its id, as the request has it.
    pub id: String,
    /// The fingerprint of the scenario it was from ([`super::LlmScript::fingerprint`]).
    pub scenario: u64,
    /// The turn it was, from 0.
    pub turn_idx: usize,
    /// The session it was given in ([`super::SessionKey`]).
    pub session: u64,
}
