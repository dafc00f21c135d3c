//! The variables that carry data into a command.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;

use super::super::source::name;
use super::super::{Refusal, RefusalKind};
use super::BoundCommand;
use super::scanner::Source;
use cuecard_source::value::Piece;

/// Larger data goes through a file: Linux takes 128 KiB in one variable, others less.
const MAX_VALUE: usize = 64 * 1024;
/// All variables together; the rest goes through files. Programs share this room with their arguments.
const MAX_ENVIRONMENT: usize = 256 * 1024;

/// One variable for each reference, however often it is used.
#[derive(Debug)]
pub(super) struct Variables<'text> {
    /// The variable of each piece of data of the source.
    names: Vec<String>,
    /// The data of each variable in order.
    values: Vec<&'text Piece>,
}

impl<'text> Variables<'text> {
    pub(super) fn new(source: &Source<'text>) -> Self {
        let mut values: Vec<&Piece> = Vec::new();
        let mut names = Vec::new();
        for &piece in &source.data {
            let is_same = |it: &&Piece| it.reference == piece.reference && it.text == piece.text;
            let number = values.iter().position(is_same).unwrap_or(values.len());
            if number == values.len() {
                values.push(piece);
            }
            names.push(format!("CUECARD_ARG_{}", number + 1));
        }
        Self { names, values }
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The command that runs `script` with these variables. Files are made in `dir`, or where the system has its
    /// temporary files.
    pub(super) fn bind(&self, script: String, dir: Option<&Path>) -> Result<BoundCommand, Refusal> {
        let mut bound = BoundCommand {
            script: String::new(),
            env: Vec::new(),
            files: Vec::new(),
        };
        let mut room = MAX_ENVIRONMENT;
        for (number, piece) in (1..).zip(&self.values) {
            let size = piece.text.len();
            if size <= MAX_VALUE && size <= room {
                room -= size;
                bound.env.push((
                    format!("CUECARD_ARG_{number}").into(),
                    OsString::from(&piece.text),
                ));
                // For the shell only: what it starts doesn't find the data in its environment.
                bound.script.push_str(&format!(
                    "CUECARD_0=$CUECARD_ARG_{number}; unset CUECARD_ARG_{number}; CUECARD_ARG_{number}=$CUECARD_0; "
                ));
                continue;
            }
            let file = write_file(&piece.text, dir).map_err(|error| {
                Refusal::new(
                    RefusalKind::Data,
                    format!("the data of {} is too large for a variable, and no file can be made for it: {error}", name(piece)),
                    "make room in the folder for temporary files, or name another run directory with `--run-dir DIR`",
                )
            })?;
            // The `x` keeps the line breaks at the end, which `$(…)` drops. Without the file nothing runs. All on the
            // first line, so that the shell's messages count lines as the author does.
            bound.script.push_str(&format!(
                "CUECARD_ARG_{number}=$(cat \"$CUECARD_FILE_{number}\" && printf x) || exit 126; \
                 CUECARD_ARG_{number}=${{CUECARD_ARG_{number}%x}}; unset CUECARD_FILE_{number}; "
            ));
            bound
                .env
                .push((format!("CUECARD_FILE_{number}").into(), file.path().into()));
            bound.files.push(file);
        }
        bound.script.push_str(&script);
        Ok(bound)
    }
}

/// A file that only the user can read.
fn write_file(text: &str, dir: Option<&Path>) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("cuecard-data-");
    let mut file = match dir.filter(|dir| dir.is_dir()) {
        Some(dir) => builder.tempfile_in(dir)?,
        None => builder.tempfile()?,
    };
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file)
}
