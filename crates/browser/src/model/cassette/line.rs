//! What stands in a cassette: JSON Lines, a header first.
//!
//! Format versions:
//! - `cuecard-cassette/1`: the first.
//!
//! Lines of kinds that older recordings have are not read.

use cuecard_browser_steps::question::Prompt;
use cuecard_source::decode::{schema_document, schema_of};
use cuecard_source::value::{Json, Redactor};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Reply;

/// The version that is written, and the only one that is read.
pub(super) const VERSION: &str = "cuecard-cassette/1";

/// What stands where a secret stood.
const MASK: &str = "***";

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(super) enum Line {
    /// The first line.
    Cassette {
        /// The version of the format.
        #[schemars(extend("const" = VERSION))]
        version: String,
    },
    /// A model replied.
    Reply(Box<ReplyLine>),
    /// Of older recordings: the pages, what was done to them, and what a person decided.
    #[serde(
        rename = "run",
        alias = "open",
        alias = "look",
        alias = "lookAgain",
        alias = "perform",
        alias = "person",
        alias = "end",
        skip_serializing
    )]
    #[schemars(extend("properties" = {"kind": {"enum": ["run", "open", "look", "lookAgain", "perform", "person", "end"]}}))]
    Older {},
}

/// A model, and the API over which it is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelIdentity {
    /// The API: `openai` or `anthropic`.
    #[schemars(extend("enum" = ["openai", "anthropic"]))]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ReplyLine {
    /// By which it is found.
    pub(super) key: String,
    /// The model that was asked.
    pub(super) model: ModelIdentity,
    /// What it was asked.
    pub(super) prompt: PromptLine,
    /// Its earlier replies to the same, each with what was wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier: Vec<String>,
    /// What it replied.
    pub(super) reply: Reply,
}

/// What was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct PromptLine {
    /// The sentence.
    pub(super) action: String,
    /// The action before.
    pub(super) previous: String,
    /// The page as text.
    pub(super) page: String,
}

impl ReplyLine {
    /// What is kept of a reply, without secrets.
    pub(super) fn of(
        key: String,
        model: &ModelIdentity,
        prompt: &Prompt,
        earlier: &[String],
        reply: &Reply,
        secrets: &Redactor,
    ) -> Self {
        let clean = |text: &str| secrets.text_with(text, MASK).into_owned();
        let mut reply = reply.clone();
        reply.text = clean(&reply.text);
        for call in &mut reply.calls {
            secrets.json_by(&mut call.arguments, &|_| MASK.to_owned());
        }
        Self {
            key,
            model: model.clone(),
            prompt: PromptLine::of(prompt, secrets),
            earlier: earlier.iter().map(|text| clean(text)).collect(),
            reply,
        }
    }
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

    /// All of it, line by line.
    pub(super) fn lines(&self) -> String {
        let Self {
            action,
            previous,
            page,
        } = self;
        format!("sentence: {action}\n{previous}\n{page}")
    }
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

/// The schema (JSON Schema 2020-12) of a line of a cassette.
pub fn cassette_schema() -> Json {
    let description =
        "Recorded replies of a model (version cuecard-cassette/1): one line of a .jsonl file.";
    schema_document(
        "cassette",
        "1",
        "Cassette",
        description,
        schema_of::<Line>(),
    )
}
