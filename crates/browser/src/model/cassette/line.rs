//! What stands in a cassette: JSON Lines, a header first.
//!
//! Format versions:
//! - `cuecard-cassette/1`: the first.
//!
//! A run begins with a `run` line and holds, in the order of asking, what the page's side was asked and answered
//! (`open`, `look`, `lookAgain`, `perform`), between them the replies of a model (`reply`) and what a person decided
//! (`person`), and an `end`. The latter two are found by their keys, wherever they stand.

use cuecard_browser_steps::question::Prompt;
use cuecard_source::value::{Json, Redactor};
use serde::{Deserialize, Serialize};

use crate::model::Reply;
use crate::stage::{Failure, Outcome};

/// The version that is written, and the only one that is read.
pub(super) const VERSION: &str = "cuecard-cassette/1";

/// What stands where a secret stood.
const MASK: &str = "***";

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(super) enum Line {
    /// The first line.
    Cassette {
        /// The version of the format.
        version: String,
    },
    /// A run begins.
    Run {
        /// The model that was asked in it, if one was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelIdentity>,
    },
    /// The first page was opened.
    Open {
        /// The address, with references instead of values.
        url: String,
        /// What came of it.
        #[serde(flatten)]
        came: StageResult,
    },
    /// The page was looked at.
    Look {
        /// What was seen.
        #[serde(flatten)]
        came: StageResult,
    },
    /// The page was looked at a moment later; without an answer the time was over.
    LookAgain {
        /// What was seen.
        #[serde(flatten)]
        came: StageResult,
    },
    /// A deed was performed.
    Perform {
        /// The deed.
        deed: Json,
        /// What came of it.
        #[serde(flatten)]
        came: StageResult,
    },
    /// A model replied.
    Reply(Box<ReplyLine>),
    /// A person decided.
    Person(Box<PersonLine>),
    /// The run is over.
    End {
        /// Whether every action was tried.
        complete: bool,
    },
}

/// A model, and the API over which it is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelIdentity {
    /// The API: `openai` or `anthropic`.
    pub dialect: String,
    /// The name of the model.
    pub model: String,
}

impl std::fmt::Display for ModelIdentity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "`{}` over `{}`", self.model, self.dialect)
    }
}

/// A reply of a model, and what it was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ReplyLine {
    pub(super) key: String,
    pub(super) model: ModelIdentity,
    pub(super) prompt: PromptLine,
    /// Its earlier replies to the same, each with what was wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier: Vec<String>,
    pub(super) reply: Reply,
}

/// What a person decided about a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PersonLine {
    pub(super) key: String,
    pub(super) action: String,
    /// What would be done, or the elements that could be meant.
    pub(super) shown: Vec<String>,
    pub(super) decided: Decided,
}

/// What a person decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Decided {
    /// The element at this place, from 0.
    Pick(usize),
    /// Nothing is done.
    Skip,
}

/// What was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PromptLine {
    pub(super) action: String,
    pub(super) previous: String,
    pub(super) page: String,
}

impl PromptLine {
    pub(super) fn of(prompt: &Prompt, secrets: &Redactor) -> Self {
        let clean = |text: &str| secrets.text_with(text, MASK).into_owned();
        Self {
            action: clean(&prompt.action),
            previous: clean(&prompt.previous),
            page: clean(&prompt.page),
        }
    }
}

/// What came back from the page's side.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct StageResult {
    /// What came of a deed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Outcome>,
    /// The page, as a recorded state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<Json>,
    /// The page is the one that was seen last in this run.
    #[serde(
        default,
        rename = "sameState",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub(super) is_same: bool,
    /// Why nothing came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<Failure>,
}

impl Line {
    /// As it stands in the file, with its line end.
    pub(super) fn text(&self) -> String {
        // Everything in it is a text, a number, a list or an object with texts for keys.
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// Takes secrets out of the texts of a value that is written. Keys stay as they are.
pub(super) fn masked<T: Serialize + for<'a> Deserialize<'a>>(value: T, secrets: &Redactor) -> T {
    if secrets.is_empty() {
        return value;
    }
    let Ok(mut json) = serde_json::to_value(&value) else {
        return value;
    };
    mask_texts(&mut json, secrets);
    serde_json::from_value(json).unwrap_or(value)
}

/// Takes secrets out of the texts of a JSON value, not out of its keys.
fn mask_texts(json: &mut Json, secrets: &Redactor) {
    match json {
        Json::String(text) => {
            if let std::borrow::Cow::Owned(masked) = secrets.text_with(text, MASK) {
                *text = masked;
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| mask_texts(item, secrets)),
        Json::Object(members) => members
            .values_mut()
            .for_each(|member| mask_texts(member, secrets)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
