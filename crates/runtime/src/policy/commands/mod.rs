//! Commands: data in them is bound to variables, and what the flags forbid doesn't run.
//!
//! The promise is that data never becomes code by what is written in the command: not by its quotes, not by a place
//! where the shell or one of the usual programs evaluates it. What a program of the author's does with its arguments
//! can't be seen here.

mod allowed;
mod carriers;
mod lexer;
mod programs;
mod redirections;
mod rules;
mod targets;
#[cfg(test)]
mod tests;
mod variables;
mod words;

use std::ffi::OsString;

use super::paths::Places;
use super::source::{Source, name};
use super::{Refusal, RefusalKind};
use cuecard_source::value::Text;
use variables::Variables;

/// Data in one command may have so many bytes.
const MAX_DATA: usize = 64 << 20;

/// A command that is ready for `sh -c` or `bash -c`.
#[derive(Debug)]
pub struct BoundCommand {
    /// The text for the shell. Data in it is named by variables.
    pub script: String,
    /// The variables that must be in the shell's environment.
    pub env: Vec<(OsString, OsString)>,
    /// Data that is too large for the environment; the script reads it at its start. The files are removed when this
    /// is dropped, so keep it until the command has ended. No system passes more than about 128 KiB as one argument to
    /// a program, but the shell's own commands (`printf`, a loop) take it.
    pub files: Vec<tempfile::NamedTempFile>,
}

/// What the flags say about commands.
#[derive(Debug, Clone)]
pub(super) struct CommandLists {
    pub(super) allowed: Vec<String>,
    pub(super) only: Vec<String>,
    pub(super) is_confined: bool,
    pub(super) is_read_only: bool,
}

pub(super) fn bind(
    text: &Text,
    lists: &CommandLists,
    places: &Places,
) -> Result<BoundCommand, Refusal> {
    lists.check_any()?;
    let refuse = |kind, message: String, help: &str| Err(Refusal::new(kind, message, help));
    if let Some(piece) = text.pieces().iter().find(|piece| piece.text.contains('\0')) {
        return if piece.origin.is_trusted() {
            refuse(
                RefusalKind::Command,
                "the command contains a NUL byte".to_owned(),
                "remove it: arguments can't contain NUL bytes",
            )
        } else {
            let message = format!("the data of {} contains a NUL byte", name(piece));
            refuse(
                RefusalKind::Data,
                message,
                "arguments can't contain NUL bytes: write the data to a file",
            )
        };
    }
    let must_be_read = !text.is_trusted() || lists.restrict();
    if !must_be_read {
        return Ok(BoundCommand {
            script: text.to_string(),
            env: Vec::new(),
            files: Vec::new(),
        });
    }
    let Some(source) = Source::new(text) else {
        let message = "the command is longer than 1 MiB".to_owned();
        return refuse(RefusalKind::Command, message, "put it into a script file");
    };
    if source
        .data
        .iter()
        .map(|piece| piece.text.len())
        .sum::<usize>()
        > MAX_DATA
    {
        let message = "the data in the command is larger than 64 MiB".to_owned();
        return refuse(
            RefusalKind::Data,
            message,
            "write the data to a file and name the file",
        );
    }
    let variables = Variables::new(&source);
    let lexed = lexer::lex(&source, variables.names());
    lists.check(&lexed, places)?;
    rules::check(&lexed, &source, places)?;
    if source.data.is_empty() {
        return Ok(BoundCommand {
            script: text.to_string(),
            env: Vec::new(),
            files: Vec::new(),
        });
    }
    variables.bind(lexed.output, places.run_dir())
}
