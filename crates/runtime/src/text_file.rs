//! Reads the text files that people name: scenarios, test cases, bundles; and writes such files.

use std::fs::{File, Permissions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};

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
        Err(error) => {
            let mut found = unreadable(name, &io_reason(&error));
            if error.kind() == io::ErrorKind::NotFound {
                found.help = help_on_missing(Path::new(name));
            }
            Err(found)
        }
    }
}

/// How many names of a folder are compared with that of a missing file.
const MAX_COMPARED: usize = 2000;

/// What to do about a missing file: the file in its folder with the most similar name, or where it was looked for.
/// `None` for a full path without such a file.
pub fn help_on_missing(path: &Path) -> Option<String> {
    let folder = folder_of(path);
    let wanted = path.file_name()?.to_string_lossy();
    let names = folder.read_dir().ok().map(|entries| {
        let names = entries
            .take(MAX_COMPARED)
            .flatten()
            .map(|entry| entry.file_name());
        let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
        names.sort();
        names
    });
    let known = names.iter().flatten().map(String::as_str);
    if let Some(similar) = did_you_mean(&wanted, known) {
        return Some(format!(
            "did you mean `{}`?",
            path.with_file_name(similar).display()
        ));
    }
    if names.is_none() && path.starts_with("examples") {
        return Some("`cuecard examples` writes the examples of the book here".to_owned());
    }
    let here = std::path::absolute(".")
        .ok()
        .filter(|_| path.is_relative())?;
    Some(format!("relative paths begin in `{}`", here.display()))
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
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
        io::ErrorKind::AddrInUse => "another program uses this port".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::QuotaExceeded => "disk quota exceeded".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        io::ErrorKind::FileTooLarge => "the file would be larger than the system allows".to_owned(),
        io::ErrorKind::InvalidFilename => "the name is too long or not allowed".to_owned(),
        io::ErrorKind::ResourceBusy | io::ErrorKind::ExecutableFileBusy => {
            "it is in use by another process".to_owned()
        }
        // "Too many open files (os error 24)"
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            let mut letters = text.chars();
            let first = letters.next().map(char::to_lowercase);
            first.into_iter().flatten().chain(letters).collect()
        }
    }
}
