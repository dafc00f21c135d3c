//! What a model said, and the conversation so far.

use cuecard_browser_steps::question::{Call, FUNCTION_NAME, InvalidReply, Prompt};
use cuecard_source::value::{Json, cut};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of a reply errors show, in characters.
const SHOWN: usize = 2_000;

/// One reply of a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// What it said beside calls.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What it called, in order.
    #[serde(default)]
    pub calls: Vec<Call>,
}

impl Reply {
    /// A reply that calls the one function with these arguments.
    pub fn calling(arguments: Json) -> Self {
        Self {
            text: String::new(),
            calls: vec![Call {
                id: String::new(),
                name: FUNCTION_NAME.to_owned(),
                arguments,
            }],
        }
    }

    /// As one line of JSON without ids, which differ each time.
    pub(super) fn line(&self) -> String {
        let calls: Vec<Json> = self
            .calls
            .iter()
            .map(|call| serde_json::json!({"name": call.name, "arguments": call.arguments}))
            .collect();
        match self.text.is_empty() {
            true => serde_json::json!({ "calls": calls }).to_string(),
            false => serde_json::json!({"text": self.text, "calls": calls}).to_string(),
        }
    }
}

/// A reply that could not be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The reply.
    pub reply: Reply,
    /// What was wrong with it, on one line.
    pub breach: InvalidReply,
}

impl Turn {
    /// As the key of a cassette has it.
    pub(super) fn earlier(&self) -> String {
        format!("{}\n{}", self.reply.line(), self.breach)
    }

    /// As errors show it.
    pub(super) fn shown(&self, number: usize) -> String {
        let line = self.reply.line();
        format!("reply {number}: {} → {}", cut(&line, SHOWN), self.breach)
    }
}

/// What is said to a model: the prompt, and what it replied so far.
#[derive(Debug, Clone, Copy)]
pub struct Conversation<'a> {
    /// The page, what was done before, the sentence.
    pub prompt: &'a Prompt,
    /// Its replies, none of which could be used.
    pub turns: &'a [Turn],
}
