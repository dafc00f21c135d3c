//! Why a sentence has no interpretation.

use std::fmt;

use cuecard_source::diagnostic::{Code, codes};

use crate::stage::Failure;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterpretErrorKind {
    /// No reply of the model can be used.
    TranslationInvalid,
    /// The model can't be asked.
    ModelUnavailable,
    /// The cassette has no reply, and nobody else may be asked.
    CassetteMiss,
}

impl InterpretErrorKind {
    /// The name in results, such as `cassette_miss`.
    pub fn name(self) -> &'static str {
        match self {
            Self::TranslationInvalid => "translation_invalid",
            Self::ModelUnavailable => "model_unavailable",
            Self::CassetteMiss => "cassette_miss",
        }
    }

    /// The code in results.
    pub fn code(self) -> Code {
        match self {
            Self::TranslationInvalid => codes::BROWSER_TRANSLATION,
            Self::ModelUnavailable => codes::BROWSER_MODEL,
            Self::CassetteMiss => codes::BROWSER_CASSETTE,
        }
    }
}

/// A sentence has no interpretation, and nothing was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterpretError {
    /// What kind of failure it is.
    pub kind: InterpretErrorKind,
    /// What happened, in a lower-case fragment; a difference to what is recorded follows on lines of its own.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// What the model's side said (`llmError`): the text of its error, or every reply with what was wrong with it.
    pub llm_error: Option<String>,
}

impl InterpretError {
    pub(super) fn new(kind: InterpretErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            help: None,
            llm_error: None,
        }
    }

    pub(super) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(InterpretErrorKind::ModelUnavailable, message)
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(super) fn with_llm_error(mut self, said: impl Into<String>) -> Self {
        self.llm_error = Some(said.into());
        self
    }
}

impl fmt::Display for InterpretError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for InterpretError {}

impl From<InterpretError> for Failure {
    fn from(error: InterpretError) -> Self {
        Self {
            help: error.help,
            model_error: error.llm_error,
            ..Self::new(error.kind.code(), error.message)
        }
    }
}
