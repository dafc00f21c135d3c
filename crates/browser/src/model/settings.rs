//! Which model is asked, and how it is reached.

use std::fmt;
use std::time::Duration;

use cuecard_browser_steps::model::ProviderKind;
use cuecard_timeline::script::Endpoint;

use super::cassette::ModelIdentity;
use cuecard_runtime::provider::Provider;

/// How long one reply may take, if nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// How long is waited before the second try; before the third it is twice as long.
pub const DEFAULT_PAUSE: Duration = Duration::from_millis(500);

/// Which model is asked, and how it is reached.
#[derive(Clone)]
pub struct ModelSettings {
    /// The API it speaks.
    pub kind: ProviderKind,
    /// Its name.
    pub model: String,
    /// Where it is.
    pub provider: Provider,
    /// The key; without one none is sent.
    pub key: Option<String>,
    /// The environment variable that a key comes from, for messages.
    pub key_variable: Option<String>,
    /// How long one reply may take.
    pub timeout: Duration,
    /// How long is waited before the second try, if the model's side doesn't say.
    pub pause: Duration,
}

impl fmt::Debug for ModelSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ModelSettings")
            .field("kind", &self.kind)
            .field("model", &self.model)
            .field("provider", &self.provider)
            .field("key", &self.key.as_ref().map(|_| "…"))
            .finish_non_exhaustive()
    }
}

impl ModelSettings {
    /// The usual settings for a model.
    pub fn new(kind: ProviderKind, model: impl Into<String>, provider: Provider) -> Self {
        Self {
            kind,
            model: model.into(),
            provider,
            key: None,
            key_variable: None,
            timeout: DEFAULT_TIMEOUT,
            pause: DEFAULT_PAUSE,
        }
    }

    /// The model and its API.
    pub fn identity(&self) -> ModelIdentity {
        ModelIdentity {
            dialect: self.kind.as_str().to_owned(),
            model: self.model.clone(),
        }
    }

    /// The endpoint that is asked.
    pub(super) fn endpoint(&self) -> Endpoint {
        match self.kind {
            ProviderKind::OpenAi => Endpoint::Chat,
            ProviderKind::Anthropic => Endpoint::Messages,
        }
    }
}
