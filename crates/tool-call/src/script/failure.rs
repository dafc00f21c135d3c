//! Why a step failed.

use crate::model::DuplicateKey;
use cuecard_source::Span;
use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::value::Json;

/// What kind of failure it was. Decides whether trying again can help, and the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The tool answered that it failed.
    ToolError,
    /// A value was changed or lost on its way, and the run is strict.
    ValueLost,
    /// The call did not come through: the server died, answered nonsense or refused.
    CallFailed,
    /// The call took too long.
    Timeout,
    /// The server could not be started, or no config defines it: the run can't go on.
    ServerStart,
    /// The safety policy refused a path.
    RefusedPath,
    /// The safety policy refused a command.
    RefusedCommand,
    /// The safety policy refused to let data become code.
    RefusedData,
    /// The safety policy refused a host.
    RefusedHost,
    /// The safety policy refused a tool of a server.
    RefusedTool,
    /// The parameters don't fit the tool.
    BadParameters,
    /// No element of the page, or several, fit the step's target.
    Target,
    /// A reference has no value.
    Reference,
    /// The condition can't be decided.
    Condition,
    /// The result is not what the step expects.
    Expectation,
    /// An output matched nothing.
    Output,
    /// A server asked what no answer of the scenario is for.
    Unanswered,
    /// An answer of the scenario does not fit what the server asked.
    UnfitAnswer,
    /// A run's own file can't be written: the run can't go on.
    RunFile,
}

impl FailureKind {
    /// Its code in the catalogue, and a word for machines.
    fn entry(self) -> (Code, &'static str) {
        match self {
            Self::ToolError => (codes::RUN_TOOL_ERROR, "tool_error"),
            Self::ValueLost => (codes::RUN_TOOL_ERROR, "value_lost"),
            Self::CallFailed => (codes::RUN_CALL_FAILED, "call_failed"),
            Self::Timeout => (codes::RUN_TIMEOUT, "timeout"),
            Self::ServerStart => (codes::RUN_SERVER_START, "server_start"),
            Self::RefusedPath => (codes::SAFETY_PATH, "refused"),
            Self::RefusedCommand => (codes::SAFETY_COMMAND, "refused"),
            Self::RefusedData => (codes::SAFETY_DATA, "refused"),
            Self::RefusedHost => (codes::SAFETY_HOST, "refused"),
            Self::RefusedTool => (codes::SAFETY_TOOL, "refused"),
            Self::BadParameters => (codes::PARAM_TYPE, "bad_parameters"),
            Self::Target => (codes::TARGET_NOT_ONE, "target"),
            Self::Reference => (codes::REFERENCE_ABSENT, "reference"),
            Self::Condition => (codes::CONDITION_FAILED, "condition"),
            Self::Expectation => (codes::EXPECT_FAILED, "expectation"),
            Self::Output => (codes::OUTPUT_NO_MATCH, "output"),
            Self::Unanswered => (codes::ANSWER_NONE, "unanswered"),
            Self::UnfitAnswer => (codes::ANSWER_UNFIT, "unfit_answer"),
            Self::RunFile => (codes::FILE_WRITE, "run_file"),
        }
    }

    /// Its code in the catalogue.
    pub fn code(self) -> Code {
        self.entry().0
    }

    /// A word for machines.
    pub fn as_str(self) -> &'static str {
        self.entry().1
    }

    /// Whether another call may end otherwise.
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::ToolError | Self::CallFailed | Self::Timeout | Self::Expectation | Self::Target
        )
    }

    /// Whether the run can't go on, whatever `on_error` says.
    pub fn is_blocking(self) -> bool {
        matches!(self, Self::ServerStart | Self::RunFile)
    }
}

/// Why a step failed, with everything a person needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// What went wrong, in a sentence without a full stop.
    pub message: String,
    /// Facts that help, such as a server's last words.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
    /// What the tool answered all the same.
    pub result: Option<Json>,
    /// Where in the scenario, if a smaller place than the step is known.
    pub span: Option<Span>,
}

impl Failure {
    /// A failure with nothing but its message.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            notes: Vec::new(),
            help: None,
            result: None,
            span: None,
        }
    }

    /// Says what to do.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// As a diagnostic about a step.
    pub fn to_diagnostic(
        &self,
        step: &crate::model::Step,
        source: &cuecard_source::SourceFile,
    ) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(
            self.kind.code(),
            format!("{} failed: {}", step.label(), self.message),
        )
        .at(source, self.span.unwrap_or(step.tool_span));
        diagnostic.notes.clone_from(&self.notes);
        diagnostic.help.clone_from(&self.help);
        diagnostic
    }
}

impl From<DuplicateKey> for Failure {
    fn from(DuplicateKey(key): DuplicateKey) -> Self {
        let message = format!("two parameters expand to the same key `{key}`");
        Self::new(FailureKind::BadParameters, message)
    }
}
