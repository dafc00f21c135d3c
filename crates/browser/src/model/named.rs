//! The model that a browser script asks about: which, where, and with whose key.

use std::collections::BTreeMap;

use cuecard_browser_steps::model::{BrowserOptions, Provider, ProviderKind};
use cuecard_runtime::provider;
use cuecard_source::diagnostic::{Diagnostic, codes};

/// A model with its place.
#[derive(Debug)]
pub struct NamedModel {
    /// The API it speaks.
    pub kind: ProviderKind,
    /// Its name.
    pub name: String,
    /// Where it is.
    pub provider: provider::Provider,
    /// What says that it is there.
    pub place: Place,
    /// The variable of its key, if it gets one.
    pub key_variable: Option<String>,
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

/// The value of a variable that is not empty.
pub fn variable<'a>(environment: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
    let value = environment.get(name).map(String::as_str);
    value.filter(|value| !value.is_empty())
}

impl NamedModel {
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
        let (url, place) = match (file_url, variable(environment, base_variable)) {
            (Some(url), _) => (url, Place::File),
            (None, Some(url)) => (url, Place::Variable(base_variable)),
            (None, None) => (usual, Place::Usual(base_variable)),
        };
        let provider = provider::Provider::parse(url).map_err(|reason| {
            let place = place.words();
            Diagnostic::error(
                codes::BROWSER_OPTION,
                format!("{place} is not a valid base URL: {reason}"),
            )
        })?;
        let variable = of_file.and_then(|provider| provider.api_key_env.clone());
        let key_variable = match (variable, file_url) {
            (Some(name), _) => Some(name),
            // A key is not sent to whatever server a file names.
            (None, Some(_)) => None,
            (None, None) => Some(key_variable.to_owned()),
        };
        Ok(Some(Self {
            kind,
            name,
            provider,
            place,
            key_variable,
        }))
    }
}

/// What `--model` names: with the API before it, or over that of the scenario.
fn typed(text: &str, of_file: Option<&Provider>) -> Result<(ProviderKind, String), Diagnostic> {
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
