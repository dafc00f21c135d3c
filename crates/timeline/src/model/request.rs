//! What a request to a model must be like: to choose a scenario, and to pass an assert.

use std::collections::BTreeMap;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json_path::JsonPath;

use crate::format::{JsonForm, TextTestForm, filled, glob, header_tests, json_checks, pattern};
use cuecard_source::Span;
use cuecard_source::decode::OneOrMany;
use cuecard_source::value::Json;

/// What a request to a model must be like, beside its prompt, to choose the timeline. All conditions must hold.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(rename = "match")]
pub struct RequestMatch {
    /// The API, or the provider with all of its APIs.
    pub api: Option<ApiName>,
    /// The model, with `*` and `?`.
    #[serde(default, deserialize_with = "glob")]
    #[schemars(with = "String")]
    pub model: Option<NameGlob>,
    /// The system text.
    #[schemars(with = "Option<TextTestForm>")]
    pub system: Option<TextTest>,
    /// Tools that the request advertises.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Headers: a text for each name, which is in lower case here.
    #[serde(rename = "header", default, deserialize_with = "header_tests")]
    #[schemars(with = "BTreeMap<String, TextTestForm>")]
    pub headers: Vec<(String, TextTest)>,
    /// One of the user's texts before the first answer.
    #[schemars(with = "Option<TextTestForm>")]
    pub text: Option<TextTest>,
    /// Values in the body of the request.
    #[serde(default, deserialize_with = "json_checks")]
    #[schemars(with = "OneOrMany<JsonForm>")]
    pub json: Vec<RequestCheck>,
    /// Where it stands.
    #[serde(skip)]
    pub span: Span,
}

words! {
    /// An API of a model, or a provider with all of its APIs.
    pub enum ApiName {
        /// OpenAI's Chat Completions.
        Chat = "chat",
        /// OpenAI's Responses.
        Responses = "responses",
        /// Anthropic's Messages.
        Messages = "messages",
        /// Google's Gemini.
        Gemini = "gemini",
        /// OpenAI.
        OpenAi = "openai",
        /// Anthropic.
        Anthropic = "anthropic",
    }
}

/// A name with `*` and `?`.
#[derive(Debug, Clone)]
pub struct NameGlob {
    /// As written.
    pub text: String,
    /// What it matches.
    pub pattern: Regex,
}

/// What a text must be like.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self", rename_all = "lowercase")]
pub enum TextTest {
    /// The whole text.
    Equals(String),
    /// A part of it.
    Contains(#[serde(deserialize_with = "filled")] String),
    /// Regular expression that it fits.
    Regex(
        #[serde(deserialize_with = "pattern")]
        #[schemars(with = "String")]
        Regex,
    ),
}

/// A check of `assert.request`.
#[derive(Debug, Clone)]
pub enum RequestCheck {
    /// `model`: a glob.
    Model(NameGlob),
    /// `system`.
    System(TextTest),
    /// `tools.has` and `tools.hasNot`.
    Tool {
        /// The name.
        name: String,
        /// Whether it must be advertised.
        is_there: bool,
    },
    /// `json`: what is found in the body.
    Json {
        /// `path`: a JSONPath.
        path: JsonPath,
        /// What must hold of one of the values there.
        test: JsonTest,
    },
}

/// What a value must be like.
#[derive(Debug, Clone)]
pub enum JsonTest {
    /// `equals`.
    Equals(Json),
    /// `contains` or `regex`, of a text, or of another value as JSON.
    Text(TextTest),
    /// `exists`.
    Exists(bool),
}

impl JsonTest {
    /// What is wanted, for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Exists(true) => "a value".to_owned(),
            Self::Exists(false) => "nothing".to_owned(),
            Self::Equals(json) => json.to_string(),
            Self::Text(test) => test.describe(),
        }
    }
}

impl TextTest {
    /// Whether it holds.
    pub fn holds(&self, text: &str) -> bool {
        match self {
            Self::Equals(wanted) => text == wanted,
            Self::Contains(part) => text.contains(part.as_str()),
            Self::Regex(pattern) => pattern.is_match(text),
        }
    }

    /// What is wanted, for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Equals(wanted) => format!("{wanted:?}"),
            Self::Contains(part) => format!("a text with {part:?}"),
            Self::Regex(pattern) => format!("a text that fits `{pattern}`"),
        }
    }
}
