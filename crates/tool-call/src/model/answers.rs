//! What a scenario answers when a server asks something.

use std::fmt;

use super::{ExpectedTest, Placeholder, Template};
use cuecard_source::Span;

/// A kind of question that servers ask their client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuestionKind {
    /// For the folders to work in.
    Roots,
    /// For the response of a model.
    Sampling,
    /// For a form that a user fills in.
    Elicitation,
}

impl QuestionKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Roots, Self::Sampling, Self::Elicitation];

    /// The key in `answers`, and the name of the client's capability.
    pub fn key(self) -> &'static str {
        match self {
            Self::Roots => "roots",
            Self::Sampling => "sampling",
            Self::Elicitation => "elicitation",
        }
    }

    /// The method of the request.
    pub fn method(self) -> &'static str {
        match self {
            Self::Roots => "roots/list",
            Self::Sampling => "sampling/createMessage",
            Self::Elicitation => "elicitation/create",
        }
    }

    /// The kind of the requests with this method; `None` for other requests.
    pub fn of_method(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.method() == method)
    }

    /// An entry of `answers` that answers any question of this kind, as far as one can.
    pub fn general_entry(self) -> &'static str {
        match self {
            Self::Roots => "\".\"",
            Self::Sampling => "{ \"reply\": \"…\" }",
            Self::Elicitation => "{ \"action\": \"accept\" }",
        }
    }
}

/// One entry of `answers`; all of `roots` is one. The first that matches a question answers it.
#[derive(Debug, Clone)]
pub struct AnswerEntry {
    /// Where it stands among the answers.
    pub place: AnswerPlace,
    /// Which questions it is for.
    pub question: QuestionMatch,
    /// What it answers.
    pub reply: Reply,
    /// Where it stands in the file.
    pub span: Span,
}

/// The place of an entry among the answers of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnswerPlace {
    /// The kind of question that it answers.
    pub kind: QuestionKind,
    /// Which one of its kind, from 0.
    pub idx: usize,
}

impl AnswerPlace {
    /// The JSON pointer to it.
    pub fn pointer(self) -> String {
        match self.kind {
            QuestionKind::Roots => "/answers/roots".to_owned(),
            kind => format!("/answers/{}/{}", kind.key(), self.idx),
        }
    }
}

impl fmt::Display for AnswerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.kind.key();
        match self.kind {
            QuestionKind::Roots => write!(f, "`answers.{key}`"),
            _ => write!(f, "answer {} of `answers.{key}`", self.idx + 1),
        }
    }
}

/// What an entry answers.
#[derive(Debug, Clone)]
pub enum Reply {
    /// An array of objects with `uri`, which may also be a path, and `name`.
    Roots(Template),
    /// The result of the protocol: an object with `role`, `content`, `model` and `stopReason`.
    Sampling(Template),
    /// What the user would do with a form.
    Elicitation {
        /// What the user would do.
        action: ElicitationAction,
        /// What the user would fill in: an object. Without it an accepted form has its defaults.
        content: Option<Template>,
    },
}

/// `match`: all of it must hold; without anything it fits every question.
#[derive(Debug, Clone, Default)]
pub struct QuestionMatch {
    /// Checks on the question's message: `contains`, `equals`, `matches`.
    pub tests: Vec<ExpectedTest>,
    /// The only server whose questions it is for.
    pub server: Option<String>,
    /// Part of the name of a model that the server wants.
    pub model: Option<String>,
}

/// `action`: what the user would do with the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ElicitationAction {
    /// Fill in the form and send it.
    #[default]
    Accept,
    /// Say no.
    Decline,
    /// Close the form without a choice.
    Cancel,
}

impl ElicitationAction {
    /// The word in scenarios and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}

impl AnswerEntry {
    /// Calls `visit` with every reference.
    pub fn for_each_placeholder<'a>(&'a self, visit: &mut impl FnMut(&'a Placeholder)) {
        for test in &self.question.tests {
            test.for_each_placeholder(visit);
        }
        match &self.reply {
            Reply::Roots(template) | Reply::Sampling(template) => {
                template.for_each_placeholder(visit);
            }
            Reply::Elicitation { content, .. } => {
                if let Some(content) = content {
                    content.for_each_placeholder(visit);
                }
            }
        }
    }
}
