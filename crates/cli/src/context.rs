//! What every command is given, and why one can't go on.

use std::ffi::OsString;

use cuecard_runner::Problem;
use cuecard_runtime::listener::ListenerError;
use cuecard_runtime::start_error::StartError;
use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::value::{Json, Redactor};

use crate::exit_code::ExitCode;
use crate::inputs::io_reason;
use crate::output::{self, Output};

/// What every command is given beside its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The variables of the process.
    pub environment: Vec<(OsString, OsString)>,
    /// How to print.
    pub output: Output,
}

/// What is wrong with arguments and files, collected so that all of it is told at once.
#[derive(Debug, Default)]
pub(crate) struct Problems(pub Vec<Diagnostic>);

impl Problems {
    /// The value, if there is one; else what is wrong is kept.
    pub(crate) fn take<T>(&mut self, read: Result<T, impl Into<Vec<Diagnostic>>>) -> Option<T> {
        read.map_err(|found| self.0.extend(found.into())).ok()
    }

    /// The value, unless something is wrong.
    pub(crate) fn or<T>(self, value: Option<T>) -> Result<T, Vec<Diagnostic>> {
        value.filter(|_| self.0.is_empty()).ok_or(self.0)
    }
}

/// Why a command can't go on. `main` prints it.
#[derive(Debug)]
pub(crate) struct Stop {
    /// The reasons, if they are not printed yet.
    pub diagnostics: Vec<Diagnostic>,
    /// How to exit.
    pub exit: ExitCode,
    redactor: Box<Redactor>,
    /// The result of `--json`, of commands that print one even so.
    document: Option<Json>,
}

impl Stop {
    pub(crate) fn new(found: impl Into<Vec<Diagnostic>>, exit: ExitCode) -> Self {
        Self {
            diagnostics: found.into(),
            exit,
            redactor: Box::default(),
            document: None,
        }
    }

    /// A file or an argument is invalid.
    pub(crate) fn invalid(found: impl Into<Vec<Diagnostic>>) -> Self {
        Self::new(found, ExitCode::Invalid)
    }

    /// A peer, a config or an output is unusable.
    pub(crate) fn could_not_run(found: impl Into<Vec<Diagnostic>>) -> Self {
        Self::new(found, ExitCode::CouldNotRun)
    }

    /// An argument is invalid; `help` says what to write.
    pub(crate) fn argument(message: impl Into<String>, help: &str) -> Self {
        Self::refused(codes::ARGUMENT, message, help)
    }

    /// A file or an argument is invalid; `help` says what to do.
    pub(crate) fn refused(code: Code, message: impl Into<String>, help: &str) -> Self {
        Self::invalid(Diagnostic::error(code, message).with_help(help))
    }

    /// The same without secrets.
    pub(crate) fn redacted(mut self, redactor: &Redactor) -> Self {
        self.redactor = Box::new(redactor.clone());
        self
    }

    /// The same with the document that `--json` prints even so.
    pub(crate) fn with_document(mut self, document: impl FnOnce(&Self) -> Json) -> Self {
        self.document = Some(document(&self));
        self
    }

    /// Prints it.
    pub(crate) fn print(self, output: &Output) -> ExitCode {
        output.redacted(&self.diagnostics, &self.redactor);
        if let Some(mut document) = self.document.filter(|_| output.is_json) {
            self.redactor.json(&mut document);
            output::document(&document);
        }
        self.exit
    }
}

/// Without words: they are said, or nobody needs them.
impl From<ExitCode> for Stop {
    fn from(exit: ExitCode) -> Self {
        Self::new(Vec::new(), exit)
    }
}

impl From<cuecard_runner::Stop> for Stop {
    fn from(stop: cuecard_runner::Stop) -> Self {
        let exit = match stop.problem {
            Problem::Invalid => ExitCode::Invalid,
            Problem::CouldNotRun => ExitCode::CouldNotRun,
            Problem::Interrupted => ExitCode::Interrupted,
        };
        Self::new(stop.diagnostics, exit)
    }
}

/// Why a mock doesn't start.
impl From<StartError> for Stop {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Files(found) => Self::invalid(found),
            StartError::Listener(error) => (&error).into(),
            StartError::Io(source) => {
                let message = format!("the mock server failed to start: {}", io_reason(&source));
                Self::could_not_run(Diagnostic::error(codes::FILE_WRITE, message))
            }
        }
    }
}

/// Why a server of ours can't listen.
impl From<&ListenerError> for Stop {
    fn from(error: &ListenerError) -> Self {
        match error {
            ListenerError::Bind { bind, source } => {
                let message = format!("failed to listen on `{bind}`: {}", io_reason(source));
                let help = match source.kind() {
                    std::io::ErrorKind::AddrNotAvailable => "127.0.0.1 is this machine",
                    _ => "port 0 is any free port",
                };
                let found = Diagnostic::error(codes::ARGUMENT, message).with_help(help);
                Self::could_not_run(found)
            }
            error => Self::invalid(Diagnostic::error(codes::ARGUMENT, error.to_string())),
        }
    }
}
