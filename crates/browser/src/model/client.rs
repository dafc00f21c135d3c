//! Asks a model over its API. What may pass is tried again; what won't is told at once. The key is in no message.

use std::time::Duration;

use axum::http::HeaderMap;
use cuecard_browser_steps::question::{
    Call, FUNCTION_NAME, SYSTEM, function_description, function_schema,
};
use cuecard_source::diagnostic::codes;
use cuecard_source::value::{Json, Redactor, cut};

use super::cassette::ModelIdentity;
use super::interpreter::ModelClient;
use super::reply::{Conversation, Reply};
use super::retry::{Pause, pause_of};
use super::settings::ModelSettings;
use crate::stage::Failure;
use cuecard_runtime::provider::{key_header, reason};
use cuecard_wire::llm::answer::{CallInput, Element};
use cuecard_wire::llm::ask::{
    Accepted, AskedFunction, ModelRequest, Rejected, RejectedCall, headers, request,
};
use cuecard_wire::llm::decode::{Decoded, read_body, read_error};
use cuecard_wire::llm::errors::ApiError;

/// How often a model is asked for one reply.
const TRIES: u32 = 3;
/// How long a reply may be, in tokens.
const MAX_TOKENS: u32 = 4_096;
/// A longer answer is not read, in bytes.
const MAX_BODY: usize = 4 << 20;
/// How much of an error is shown, in characters.
const SHOWN: usize = 500;
/// What stands in the place of a key.
const MASK: &str = "***";

/// Asks a model over its API.
#[derive(Debug)]
pub struct HttpModelClient {
    settings: ModelSettings,
    http: reqwest::Client,
    accepted: Accepted,
    /// Takes the key out of what is told.
    key: Redactor,
}

/// Why a try failed.
enum Failed {
    /// The model's side answered with an error.
    Status { error: ApiError, pause: Pause },
    /// It could not be reached, or broke off.
    Connection(String),
    /// It answered with something else.
    Unreadable(String),
}

impl Failed {
    /// Whether another try may succeed.
    fn may_pass(&self) -> bool {
        match self {
            Self::Status { error, .. } => {
                matches!(error.status, 408 | 409 | 429) || error.status >= 500
            }
            Self::Connection(_) => true,
            Self::Unreadable(_) => false,
        }
    }
}

impl HttpModelClient {
    /// A client of a model.
    ///
    /// # Errors
    /// `model_unavailable` if the key can't be sent, or the machine can't check certificates.
    pub fn new(settings: ModelSettings) -> Result<Self, Failure> {
        let endpoint = settings.endpoint();
        if let Some(key) = &settings.key
            && key_header(endpoint, key).is_none()
        {
            let message = "the key contains characters that can't be sent";
            return Err(Failure::new(codes::BROWSER_MODEL, message));
        }
        let http = settings.provider.client().map_err(|error| {
            Failure::new(
                codes::BROWSER_MODEL,
                format!("failed to connect: {}", reason(&error)),
            )
        })?;
        let key = Redactor::new(settings.key.clone());
        Ok(Self {
            settings,
            http,
            accepted: Accepted::default(),
            key,
        })
    }

    /// Sends a request once.
    async fn send(&self, conversation: &Conversation<'_>) -> Result<Reply, Failed> {
        let settings = &self.settings;
        let sent = async {
            let response = self.post(conversation).await?;
            let status = response.status().as_u16();
            let headers = response.headers().clone();
            let body = read_all(response).await?;
            self.read(status, &headers, &body)
        };
        match tokio::time::timeout(settings.timeout, sent).await {
            Ok(answered) => answered,
            Err(_) => Err(Failed::Connection(format!(
                "no response within {} s",
                settings.timeout.as_secs_f64()
            ))),
        }
    }

    async fn post(&self, conversation: &Conversation<'_>) -> Result<reqwest::Response, Failed> {
        let settings = &self.settings;
        let endpoint = settings.endpoint();
        let (path, body) = self
            .request(conversation)
            .ok_or_else(|| Failed::Unreadable("this API is not asked".to_owned()))?;
        let mut post = self
            .http
            .post(settings.provider.at(&path, None))
            .json(&body);
        for (name, value) in headers(endpoint) {
            post = post.header(*name, *value);
        }
        let key = settings.key.as_deref();
        if let Some((name, value)) = key.and_then(|key| key_header(endpoint, key)) {
            post = post.header(name, value);
        }
        post.send()
            .await
            .map_err(|error| Failed::Connection(reason(&error)))
    }

    /// The path and the body of a request.
    fn request(&self, conversation: &Conversation<'_>) -> Option<(String, Json)> {
        let rejected: Vec<Rejected<'_>> = conversation
            .turns
            .iter()
            .enumerate()
            .map(|(turn, said)| Rejected {
                text: &said.reply.text,
                calls: (said.reply.calls.iter().enumerate())
                    .map(|(place, call)| RejectedCall {
                        id: match call.id.is_empty() {
                            true => format!("call_{turn}_{place}"),
                            false => call.id.clone(),
                        },
                        name: &call.name,
                        arguments: &call.arguments,
                    })
                    .collect(),
                correction: &said.breach.0,
            })
            .collect();
        let asked = ModelRequest {
            model: &self.settings.model,
            system: SYSTEM,
            blocks: &conversation.prompt.blocks(),
            function: AskedFunction {
                name: FUNCTION_NAME,
                description: function_description(),
                schema: function_schema(),
            },
            rejected: &rejected,
            max_tokens: MAX_TOKENS,
            accepted: self.accepted,
        };
        let base = self.settings.provider.base_path();
        request(self.settings.endpoint(), base, &asked)
    }

    fn read(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> Result<Reply, Failed> {
        if (200..300).contains(&status) {
            let decoded =
                read_body(self.settings.endpoint(), body, 0).map_err(Failed::Unreadable)?;
            return Ok(reply(decoded));
        }
        let error = read_error(status, body).unwrap_or_else(|| {
            let text = String::from_utf8_lossy(body);
            ApiError::new(status, text.trim())
        });
        let pause = pause_of(headers);
        Err(Failed::Status { error, pause })
    }

    /// A failure after so many tries, as it is told.
    fn told(&self, failed: Failed, tries: u32) -> Failure {
        let at = format!(
            "the model `{}` at `{}`",
            self.settings.model, self.settings.provider
        );
        let tried = match tries {
            1 => String::new(),
            tries => format!(", tried {tries} times"),
        };
        let clean = |text: &str| {
            let masked = self.key.text_with(text, MASK);
            let line: Vec<&str> = masked.split_whitespace().collect();
            cut(&line.join(" "), SHOWN).into_owned()
        };
        match failed {
            Failed::Status { error, pause } => {
                let status = error.status;
                let message = clean(&error.message);
                let words = match message.as_str() {
                    "" => String::new(),
                    message => format!(": {message}"),
                };
                let waited = match pause {
                    Pause::TooLong(seconds) => {
                        format!("; retry after {seconds} s")
                    }
                    Pause::For(_) | Pause::Unsaid => String::new(),
                };
                let told = Failure::new(
                    codes::BROWSER_MODEL,
                    format!("{at} answered with status {status}{words}{waited}{tried}"),
                );
                let said = match &error.error_type {
                    Some(kind) => clean(&format!("{kind}: {message}")),
                    None => message,
                };
                let told = match said.is_empty() {
                    true => told.with_model_error(format!("status {status}")),
                    false => told.with_model_error(said),
                };
                match self.help(status) {
                    Some(help) => told.help(help),
                    None => told,
                }
            }
            Failed::Connection(why) => {
                let why = clean(&why);
                Failure::new(
                    codes::BROWSER_MODEL,
                    format!("{at} can't be reached: {why}{tried}"),
                )
                .with_model_error(why)
            }
            Failed::Unreadable(why) => {
                let why = clean(&why);
                Failure::new(
                    codes::BROWSER_MODEL,
                    format!("{at} returned an unexpected response: {why}"),
                )
                .with_model_error(why)
                .help("check `options.llm.provider` and the base URL: it may speak another API")
            }
        }
    }

    /// What to do about a status.
    fn help(&self, status: u16) -> Option<String> {
        let variable = self.settings.key_variable.as_deref();
        match (status, &self.settings.key, variable) {
            (401 | 403, Some(_), Some(name)) => Some(format!("the key comes from `{name}`")),
            (401 | 403, None, Some(name)) => Some(format!("no key was sent: set `{name}`")),
            (401 | 403, None, None) => Some(
                "no key was sent: set `options.llm.apiKeyEnv` to the variable with the key"
                    .to_owned(),
            ),
            (404, ..) => Some("check the model's name and the base URL".to_owned()),
            _ => None,
        }
    }
}

impl ModelClient for HttpModelClient {
    fn identity(&self) -> ModelIdentity {
        self.settings.identity()
    }

    async fn ask(&mut self, conversation: &Conversation<'_>) -> Result<Reply, Failure> {
        let mut tries = 1;
        let mut pause = self.settings.pause;
        loop {
            let failed = match self.send(conversation).await {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            if let Failed::Status { error, .. } = &failed
                && error.status == 400
                && self.accepted.give_up(self.settings.endpoint(), error)
            {
                continue;
            }
            let wait = match &failed {
                Failed::Status {
                    pause: Pause::For(asked),
                    ..
                } => Some(*asked),
                Failed::Status {
                    pause: Pause::TooLong(_),
                    ..
                } => None,
                _ => Some(pause),
            };
            let Some(wait) = wait.filter(|_| tries < TRIES && failed.may_pass()) else {
                return Err(self.told(failed, tries));
            };
            tokio::time::sleep(wait).await;
            tries += 1;
            pause = pause.saturating_mul(2).min(Duration::from_secs(60));
        }
    }
}

/// All of an answer's body.
async fn read_all(mut response: reqwest::Response) -> Result<Vec<u8>, Failed> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(None) => return Ok(body),
            Ok(Some(chunk)) if body.len() + chunk.len() > MAX_BODY => {
                let mebibytes = MAX_BODY >> 20;
                return Err(Failed::Unreadable(format!(
                    "its response is larger than {mebibytes} MiB"
                )));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Err(error) => {
                let why = reason(&error);
                return Err(Failed::Connection(format!(
                    "it aborted its response: {why}"
                )));
            }
        }
    }
}

/// What a model said, without its thoughts.
fn reply(decoded: Decoded) -> Reply {
    let mut reply = Reply::default();
    for element in decoded.elements {
        match element {
            Element::Thinking(_) => {}
            Element::Text(pieces) | Element::Refusal(pieces) => {
                reply.text.extend(pieces.iter().map(|piece| &*piece.text));
            }
            Element::Call(call) => reply.calls.push(Call {
                id: call.id,
                name: call.name,
                arguments: match call.input {
                    CallInput::Arguments(arguments) => (*arguments).clone(),
                    CallInput::Raw(text) if text.trim().is_empty() => {
                        Json::Object(Default::default())
                    }
                    CallInput::Text(text) | CallInput::Raw(text) => Json::String(text),
                },
            }),
        }
    }
    reply
}
