//! The variables that carry data into a command.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;

use super::super::source::name as reference_of;
use super::super::{Refusal, RefusalKind};
use super::BoundCommand;
use cuecard_source::value::Piece;

/// Larger data goes through a file: Linux takes 128 KiB in one variable, others less.
const MAX_VALUE: usize = 64 * 1024;
/// All variables together; the rest goes through files. Programs share this room with their arguments.
const MAX_ENVIRONMENT: usize = 256 * 1024;

/// A name for each piece of data, the same for what is the same. `name` gets a piece and the names of those before it.
pub(super) fn named(
    data: &[&Piece],
    is_same: impl Fn(&Piece, &Piece) -> bool,
    name: impl Fn(&Piece, &[String]) -> String,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, piece) in data.iter().enumerate() {
        let before = data[..at].iter().position(|before| is_same(before, piece));
        names.push(match before {
            Some(before) => names[before].clone(),
            None => name(piece, &names),
        });
    }
    names
}

/// The variable of each piece of data: one for each reference, however often it is used.
pub(super) fn names(data: &[&Piece]) -> Vec<String> {
    named(
        data,
        |one, other| one.reference == other.reference && one.text == other.text,
        |_, names| format!("CUECARD_ARG_{}", names.len() + 1),
    )
}

/// The command that runs `script` with these variables. Files are made in `dir`, or where the system has its temporary
/// files.
pub(super) fn bind(
    script: &str,
    data: &[&Piece],
    names: &[String],
    dir: Option<&Path>,
) -> Result<BoundCommand, Refusal> {
    let mut bound = BoundCommand {
        script: String::new(),
        env: Vec::new(),
        files: Vec::new(),
    };
    let mut room = MAX_ENVIRONMENT;
    for (at, (name, piece)) in names.iter().zip(data).enumerate() {
        let size = piece.text.len();
        if names[..at].contains(name) {
            continue;
        }
        if size <= MAX_VALUE && size <= room {
            room -= size;
            bound.env.push((name.into(), OsString::from(&piece.text)));
            // For the shell only: what it starts doesn't find the data in its environment.
            bound.script.push_str(&format!(
                "CUECARD_0=${name}; unset {name}; {name}=$CUECARD_0; "
            ));
            continue;
        }
        let file = write_file(&piece.text, dir).map_err(|error| {
            let data = reference_of(piece);
            Refusal::new(
                RefusalKind::Data,
                format!("the data of {data} is too large for a variable, and no file can be made for it: {error}"),
                "make room in the folder for temporary files, or name another run directory with `--run-dir DIR`",
            )
        })?;
        // The `x` keeps the line breaks at the end, which `$(…)` drops. Without the file nothing runs. All on the first
        // line, so that the shell's messages count lines as the author does.
        let variable = name.replace("ARG", "FILE");
        bound.script.push_str(&format!(
            "{name}=$(cat \"${variable}\" && printf x) || exit 126; {name}=${{{name}%x}}; unset {variable}; "
        ));
        bound.env.push((variable.into(), file.path().into()));
        bound.files.push(file);
    }
    bound.script.push_str(script);
    Ok(bound)
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
