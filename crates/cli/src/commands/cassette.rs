//! The cassette that a file is, or that stands beside a scenario.

use std::path::{Path, PathBuf};

use cuecard_recording::cassette::Cassette;
use cuecard_source::SourceFile;
use cuecard_source::detect::{FileKind, kind_of};
use cuecard_source::diagnostic::{Diagnostic, codes};

use crate::context::Stop;
use crate::inputs;

/// The cassette beside a scenario: `x.cassette.jsonl` beside `x.json`.
fn beside(file: &Path) -> PathBuf {
    file.with_extension("cassette.jsonl")
}

/// Whether a file is a cassette, or a scenario with one beside it.
pub(super) fn is_meant(file: &Path, source: &SourceFile) -> bool {
    match kind_of(source) {
        Some(FileKind::Cassette) => true,
        Some(FileKind::ToolCall) => beside(file).is_file(),
        _ => false,
    }
}

/// Reads the cassette of a file. Gives its path, and what is doubtful about it.
pub(super) fn read(file: &Path) -> Result<(PathBuf, Cassette, Vec<Diagnostic>), Stop> {
    of(file, inputs::read_source(file).map_err(Stop::invalid)?)
}

/// As [`read`], of a file that was read.
pub(super) fn of(
    file: &Path,
    source: SourceFile,
) -> Result<(PathBuf, Cassette, Vec<Diagnostic>), Stop> {
    let (path, source) = match kind_of(&source) {
        Some(FileKind::Cassette) => (file.to_owned(), source),
        Some(FileKind::ToolCall) => {
            let path = beside(file);
            let source = inputs::read_source(&path).map_err(Stop::invalid)?;
            (path, source)
        }
        kind => {
            let is = kind.map_or("no file that Cuecard knows", FileKind::description);
            let message = format!("`{}` is {is}, not a cassette", file.display());
            let help = "give a `.cassette.jsonl` file, or the scenario that it was recorded with";
            return Err(Stop::refused(codes::FILE_KIND, message, help));
        }
    };
    let (cassette, found) = Cassette::read(&source);
    match cassette {
        Some(cassette) => Ok((path, cassette, found)),
        None => Err(Stop::invalid(found)),
    }
}
