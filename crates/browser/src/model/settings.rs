//! The model that a browser script asks about: which, where, and with whose key.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use cuecard_browser_steps::model::{self as file, BrowserOptions, ProviderKind};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::script::Endpoint;

use super::cassette::ModelIdentity;
use cuecard_runtime::provider::Provider;

/// How long one reply may take.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How long is waited before the second try; before the third it is twice as long.
const PAUSE: Duration = Duration::from_millis(500);

/// Which model is asked, and how it is reached.
#[derive(Clone)]
pub struct ModelSettings {
    /// The API it speaks.
    pub kind: ProviderKind,
    /// Its name.
    pub model: String,
    /// Where it is.
    pub provider: Provider,
    /// What says that it is there.
    pub place: Place,
    /// The environment variable that its key comes from, if it gets one.
    pub key_variable: Option<String>,
    /// The key; without one none is sent.
    pub key: Option<String>,
    /// How long one reply may take.
    pub(super) timeout: Duration,
    /// How long is waited before the second try, if the model's side doesn't say.
    pub(super) pause: Duration,
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

/// What says where a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The scenario itself.
    File,
    /// This variable of the environment.
    Variable(&'static str),
    /// Nothing: it is where it usually is. This variable could say otherwise.
    Usual(&'static str),
}

impl Place {
    /// In words.
    pub fn words(self) -> String {
        match self {
            Self::File => "`options.llm.baseUrl`".to_owned(),
            Self::Variable(name) => name.to_owned(),
            Self::Usual(_) => "the usual address".to_owned(),
        }
    }
}

impl ModelSettings {
    /// The usual settings for a model.
    pub(super) fn new(kind: ProviderKind, model: impl Into<String>, provider: Provider) -> Self {
        Self {
            kind,
            model: model.into(),
            provider,
            place: Place::File,
            key_variable: None,
            key: None,
            timeout: TIMEOUT,
            pause: PAUSE,
        }
    }

    /// The model that the command line or the scenario names. There is no default.
    ///
    /// # Errors
    /// The command line does not say over which API; its address is none.
    pub fn find(
        model: Option<&str>,
        options: &BrowserOptions,
        environment: &BTreeMap<String, String>,
    ) -> Result<Option<Self>, Diagnostic> {
        let of_file = options.llm.as_ref();
        let (kind, name) = match (model, of_file) {
            (Some(text), _) => typed(text, of_file)?,
            (None, Some(provider)) => (provider.kind, provider.model.clone()),
            (None, None) => return Ok(None),
        };
        // What the file says of another API says nothing of this one.
        let of_file = of_file.filter(|provider| provider.kind == kind);
        let (base_variable, key_variable, usual) = match kind {
            ProviderKind::OpenAi => (
                "OPENAI_BASE_URL",
                "OPENAI_API_KEY",
                "https://api.openai.com/v1",
            ),
            ProviderKind::Anthropic => (
                "ANTHROPIC_BASE_URL",
                "ANTHROPIC_API_KEY",
                "https://api.anthropic.com",
            ),
        };
        let file_url = of_file.and_then(|provider| provider.base_url.as_deref());
        let variable = |name: &str| {
            environment
                .get(name)
                .map(String::as_str)
                .filter(|value| !value.is_empty())
        };
        let (url, place) = match (file_url, variable(base_variable)) {
            (Some(url), _) => (url, Place::File),
            (None, Some(url)) => (url, Place::Variable(base_variable)),
            (None, None) => (usual, Place::Usual(base_variable)),
        };
        let provider = Provider::parse(url).map_err(|reason| {
            let place = place.words();
            Diagnostic::error(
                codes::BROWSER_OPTION,
                format!("{place} is not a valid base URL: {reason}"),
            )
        })?;
        let named = of_file.and_then(|provider| provider.api_key_env.clone());
        let key_variable = match (named, file_url) {
            (Some(name), _) => Some(name),
            // A key is not sent to whatever server a file names.
            (None, Some(_)) => None,
            (None, None) => Some(key_variable.to_owned()),
        };
        Ok(Some(Self {
            place,
            key: key_variable
                .as_deref()
                .and_then(variable)
                .map(str::to_owned),
            key_variable,
            ..Self::new(kind, name, provider)
        }))
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

/// What `--model` names: with the API before it, or over that of the scenario.
fn typed(
    text: &str,
    of_file: Option<&file::Provider>,
) -> Result<(ProviderKind, String), Diagnostic> {
    for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let name = text
            .strip_prefix(kind.as_str())
            .and_then(|rest| rest.strip_prefix('/'));
        if let Some(name) = name.filter(|name| !name.trim().is_empty()) {
            return Ok((kind, name.to_owned()));
        }
    }
    match of_file {
        Some(provider) if !text.trim().is_empty() => Ok((provider.kind, text.to_owned())),
        _ => Err(Diagnostic::error(
            codes::ARGUMENT,
            format!("`--model {text}` does not specify the API"),
        )
        .with_help("write `--model openai/NAME` or `--model anthropic/NAME`")),
    }
}
