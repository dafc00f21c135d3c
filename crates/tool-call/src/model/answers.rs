//! What a scenario answers when a server asks something.

use super::{ExpectedTest, Placeholder, Template};
use cuecard_source::Span;

/// `answers`: what the scenario answers to requests of its servers.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    /// `elicitation`: for questions to a user, in order; the first that fits answers.
    pub elicitation: Vec<ElicitationAnswer>,
}

/// One entry of `answers.elicitation`.
#[derive(Debug, Clone)]
pub struct ElicitationAnswer {
    /// Which questions it is for.
    pub question: QuestionMatch,
    /// What the user would do.
    pub action: ElicitationAction,
    /// What the user would fill in: an object. Without it an accepted form has its defaults.
    pub content: Option<Template>,
    /// Where it stands.
    pub span: Span,
}

/// `match`: all of it must hold; without anything it fits every question.
#[derive(Debug, Clone, Default)]
pub struct QuestionMatch {
    /// Checks on the question's message: `contains`, `equals`, `matches`.
    pub tests: Vec<ExpectedTest>,
    /// The only server whose questions it is for.
    pub server: Option<String>,
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

impl Answers {
    /// Whether a server may be told that questions to a user are answered.
    pub fn elicits(&self, server: &str) -> bool {
        self.elicitation
            .iter()
            .any(|answer| answer.question.is_for(server))
    }

    /// Calls `visit` with every reference.
    pub fn for_each_placeholder<'a>(&'a self, visit: &mut impl FnMut(&'a Placeholder)) {
        for answer in &self.elicitation {
            for test in &answer.question.tests {
                test.for_each_placeholder(visit);
            }
            if let Some(content) = &answer.content {
                content.for_each_placeholder(visit);
            }
        }
    }
}

impl QuestionMatch {
    /// Whether it may fit questions of `server`.
    pub fn is_for(&self, server: &str) -> bool {
        self.server.as_deref().is_none_or(|only| only == server)
    }
}
