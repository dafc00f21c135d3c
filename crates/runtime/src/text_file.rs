//! Reads the text files that people name: scenarios, test cases, bundles; and writes such files.

use std::fs::{File, Permissions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};

/// A larger file is refused, in bytes.
pub const MAX_FILE: u64 = 256 << 20;

/// Most files are smaller, in bytes: one look at such a file is enough.
const USUAL: usize = 8 << 10;

/// The folder that a file is in, which relative paths in it start in.
pub fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Reads the file at `path`, which messages call `name`.
///
/// # Errors
/// If it can't be read, is larger than [`MAX_FILE`] or is not UTF-8.
pub fn read(path: &Path, name: &str) -> Result<SourceFile, Diagnostic> {
    match File::open(path) {
        Ok(file) => read_from(file, name, name),
        Err(error) => Err(unreadable(name, &io_reason(&error))),
    }
}

/// Reads all of `input`, which sources call `name` and errors `shown`.
///
/// # Errors
/// As [`read`].
pub fn read_from(input: impl Read, name: &str, shown: &str) -> Result<SourceFile, Diagnostic> {
    let mut bytes = Vec::with_capacity(USUAL);
    input
        .take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(shown, &io_reason(&error)))?;
    bytes.shrink_to_fit();
    decode(bytes, name, shown)
}

/// The source that `bytes` are.
///
/// # Errors
/// As [`read`].
pub fn decode(bytes: Vec<u8>, name: &str, shown: &str) -> Result<SourceFile, Diagnostic> {
    if bytes.len() as u64 > MAX_FILE {
        let reason = format!("it is larger than {} MiB", MAX_FILE >> 20);
        return Err(unreadable(shown, &reason));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(SourceFile::new(name, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(unreadable(shown, &format!("byte {at} is not UTF-8")).with_help("save it as UTF-8"))
        }
    }
}

/// Writes a file in one step, so that nobody reads a half and a crash leaves the old one.
///
/// # Errors
/// The operating system's.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = tempfile::Builder::new()
        .prefix(".cuecard-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder_of(path))?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn unreadable(shown: &str, reason: &str) -> Diagnostic {
    Diagnostic::error(
        codes::FILE_READ,
        format!("`{shown}` can't be read: {reason}"),
    )
}

/// An I/O error in words.
pub fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "a part of the path is a file, not a folder".to_owned(),
        io::ErrorKind::AlreadyExists => "a file with that name already exists".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        _ => error.to_string(),
    }
}
