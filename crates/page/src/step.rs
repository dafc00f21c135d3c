//! What a sentence means, before anything was done.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

use super::BrowserAssertion;
use cuecard_source::value::Json;

/// A sentence as rules or a model understood it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IntermediateStep {
    /// What is to be done.
    pub action_type: ActionKind,
    /// What is typed, selected, uploaded; for checkboxes whether they are to be checked.
    pub input_value: Option<InputValue>,
    /// Where to navigate.
    pub url: Option<String>,
    /// What it is about, in words.
    pub description: String,
    /// What must hold.
    pub assertion: Option<BrowserAssertion>,
    /// The key that is pressed.
    pub key: Option<String>,
    /// Where to scroll.
    pub direction: Option<Direction>,
    /// How long to wait, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Whether a click is to leave its element open, or closed: then none is needed if it is so.
    pub wants_open: Option<bool>,
    /// The sentence with its element in full, if it names that only in part; empty if nothing says it.
    pub in_full: Option<String>,
}

impl IntermediateStep {
    /// A step of this kind about which nothing else is known.
    pub fn new(action_type: ActionKind, description: impl Into<String>) -> Self {
        Self {
            action_type,
            description: description.into(),
            ..Self::default()
        }
    }
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[derive(EnumString, IntoStaticStr, VariantArray, VariantNames)]
#[strum(serialize_all = "camelCase")]
#[allow(missing_docs, reason = "each is the word for it")]
pub enum ActionKind {
    Click,
    DoubleClick,
    RightClick,
    Input,
    Navigate,
    Assert,
    Select,
    Press,
    Hover,
    Scroll,
    Wait,
    Upload,
    Extract,
    Drag,
    // A model's word for a sentence that it can't read.
    #[default]
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Unknown,
}

impl ActionKind {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Every kind.
    pub fn all() -> &'static [Self] {
        <Self as VariantArray>::VARIANTS
    }

    /// The kind that a word names.
    pub fn of(word: &str) -> Option<Self> {
        word.parse().ok()
    }

    /// Whether it acts on an element and can't do without.
    pub fn needs_target(self) -> bool {
        matches!(
            self,
            Self::Click
                | Self::DoubleClick
                | Self::RightClick
                | Self::Select
                | Self::Hover
                | Self::Input
                | Self::Upload
                | Self::Extract
                | Self::Drag
        )
    }

    /// Whether it needs a value; an empty one, 0 and false are values.
    pub fn needs_value(self) -> bool {
        matches!(self, Self::Input | Self::Select | Self::Upload)
    }
}

/// What is typed or chosen.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a text, a number, true or false")]
pub enum InputValue {
    /// A text; references in it stay as they are until it is typed.
    Text(String),
    /// A number.
    Number(serde_json::Number),
    /// Whether a checkbox is to be checked.
    Flag(bool),
}

impl InputValue {
    /// As JSON.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Text(text) => Json::String(text.clone()),
            Self::Number(number) => Json::Number(number.clone()),
            Self::Flag(flag) => Json::Bool(*flag),
        }
    }

    /// Of JSON; none of a list, an object or null.
    pub fn of(json: &Json) -> Option<Self> {
        match json {
            Json::String(text) => Some(Self::Text(text.clone())),
            Json::Number(number) => Some(Self::Number(number.clone())),
            Json::Bool(flag) => Some(Self::Flag(*flag)),
            Json::Null | Json::Array(_) | Json::Object(_) => None,
        }
    }
}

/// Where to scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[derive(IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Direction {
    /// Up by a page.
    Up,
    /// Down by a page.
    Down,
    /// To the beginning of the page.
    Top,
    /// To its end, as far as it is loaded.
    Bottom,
}

impl Direction {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// What scrolls a page so, in its own script.
    pub fn script(self) -> &'static str {
        match self {
            Self::Up => "window.scrollBy(0, -window.innerHeight)",
            Self::Down => "window.scrollBy(0, window.innerHeight)",
            Self::Top => "window.scrollTo(0, 0)",
            Self::Bottom => "window.scrollTo(0, document.scrollingElement.scrollHeight)",
        }
    }
}
/// The tool that does what a step does.
pub fn browser_tool(action: ActionKind) -> Cow<'static, str> {
    Cow::Owned(format!("browser.{}", action.as_str()))
}
