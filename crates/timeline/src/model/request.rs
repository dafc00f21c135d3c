//! What a request to a model must be like: to choose a scenario, and to pass an assert.

use regex::Regex;

use cuecard_source::Span;
use cuecard_source::value::Json;
use serde_json_path::JsonPath;

/// `match`: conditions on the first request beside its prompt. All of those that are given must hold.
#[derive(Debug, Clone, Default)]
pub struct RequestMatch {
    /// `api`: `chat`, `responses`, `messages`, `gemini`, or a provider with all of its APIs.
    pub api: Option<String>,
    /// `model`: a glob.
    pub model: Option<NameGlob>,
    /// `system`: of the system text.
    pub system: Option<TextTest>,
    /// `tools`: names that are advertised.
    pub tools: Vec<String>,
    /// `header`: by lower-case name.
    pub headers: Vec<(String, TextTest)>,
    /// `text`: of one of the user's texts before the first answer.
    pub text: Option<TextTest>,
    /// `json`: what is found in the body.
    pub json: Vec<RequestCheck>,
    /// Where it stands.
    pub span: Span,
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
#[derive(Debug, Clone)]
pub enum TextTest {
    /// `equals`.
    Equals(String),
    /// `contains`, or a bare text.
    Contains(String),
    /// `regex`.
    Regex(Regex),
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
