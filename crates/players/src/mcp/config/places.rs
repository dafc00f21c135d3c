//! Where configs are looked for, and how they are loaded.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

use cuecard_core::diagnostic::{Diagnostic, codes};
use cuecard_core::source::{SourceFile, Span};

use super::{ConfigFile, ConfigSearch};

/// The longest config that is read, in bytes.
pub(super) const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Folders for settings: what lies in one belongs to the folder around it.
const SETTINGS_FOLDERS: &[&str] = &[".cuecard", ".sandy"];

enum Place {
    /// A variable of the environment that names a file.
    Variable(&'static str),
    /// A path that starts at the working directory.
    Project(&'static str),
}

/// The one table of places, in the order of the search.
const PLACES: &[Place] = &[
    Place::Variable("CUECARD_CONFIG"),
    Place::Variable("SANDY_CONFIG"),
    Place::Project(".cuecard/config.json"),
    Place::Project(".sandy/config.json"),
    Place::Project(".mcp.json"),
];

/// The places where configs are looked for without `--config`, in words for a message.
pub fn search_order() -> String {
    let places: Vec<String> = PLACES
        .iter()
        .map(|place| match place {
            Place::Variable(name) => format!("`${name}`"),
            Place::Project(path) => format!("`{path}`"),
        })
        .collect();
    places.join(", ")
}

/// A file that may be there.
pub(super) struct Candidate {
    pub file: ConfigFile,
    named_by: NamedBy,
}

#[derive(Clone, Copy)]
enum NamedBy {
    Argument,
    Variable(&'static str),
    /// Nobody: it is one of the places.
    Search,
}

/// The files of the search in their order, each once.
pub(super) fn candidates(search: &ConfigSearch<'_>) -> Vec<Candidate> {
    if let Some(path) = search.explicit {
        return vec![candidate(path, NamedBy::Argument, search)];
    }
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut seen = Vec::new();
    for place in PLACES {
        let (path, named_by) = match *place {
            Place::Variable(name) => match search.environment.get(name) {
                // Set to nothing is the usual way to unset one.
                None => continue,
                Some(path) if path.is_empty() => continue,
                Some(path) => (Path::new(path), NamedBy::Variable(name)),
            },
            Place::Project(path) => (Path::new(path), NamedBy::Search),
        };
        let candidate = candidate(path, named_by, search);
        if let Ok(real) = candidate.file.path.canonicalize() {
            if seen.contains(&real) {
                continue;
            }
            seen.push(real);
        }
        candidates.push(candidate);
    }
    candidates
}

fn candidate(path: &Path, named_by: NamedBy, search: &ConfigSearch<'_>) -> Candidate {
    let path = search.working_directory.join(below_home(path, search));
    Candidate {
        file: ConfigFile {
            shown: shown(&path, search),
            project_local: is_project_local(&path, search.working_directory),
            path,
        },
        named_by,
    }
}

/// `path` with a leading `~/` filled in, which no shell does for variables and `--config=~/x`.
pub(super) fn below_home(path: &Path, search: &ConfigSearch<'_>) -> PathBuf {
    match (path.strip_prefix("~"), home(search)) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

/// The folder that paths of the config at `path` start at.
pub(super) fn project_folder(path: &Path) -> &Path {
    let folder = path.parent().unwrap_or(path);
    let is_settings = SETTINGS_FOLDERS.iter().any(|name| folder.ends_with(name));
    folder.parent().filter(|_| is_settings).unwrap_or(folder)
}

fn home<'a>(search: &ConfigSearch<'a>) -> Option<&'a Path> {
    let home = Path::new(search.environment.get("HOME")?);
    // A home that is the root, as in some containers, would claim every path.
    home.is_absolute()
        .then_some(home)
        .filter(|home| home.parent().is_some())
}

fn shown(path: &Path, search: &ConfigSearch<'_>) -> PathBuf {
    match path.strip_prefix(search.working_directory) {
        Ok(rest) if rest == Path::new("") => return PathBuf::from("."),
        Ok(rest) => return rest.to_owned(),
        Err(_) => {}
    }
    match home(search).map(|home| path.strip_prefix(home)) {
        Some(Ok(rest)) => Path::new("~").join(rest),
        _ => path.to_owned(),
    }
}

fn is_project_local(path: &Path, working_directory: &Path) -> bool {
    let is_place = |path: &Path| {
        path.file_name().is_some_and(|name| name == ".mcp.json")
            || SETTINGS_FOLDERS
                .iter()
                .any(|name| path.parent().is_some_and(|folder| folder.ends_with(name)))
    };
    let is_below = |path: &Path, folder: &Path| path.starts_with(folder) && is_place(path);
    // As it is written or as it is, so that no link gets around it. What `..` leads to isn't written.
    let is_plain = !path.components().any(|part| part == Component::ParentDir);
    (is_plain && is_below(path, working_directory))
        || match (path.canonicalize(), working_directory.canonicalize()) {
            (Ok(path), Ok(folder)) => is_below(&path, &folder),
            _ => false,
        }
}

impl Candidate {
    /// The text of the file; `None` if it isn't there and needn't be.
    pub(super) fn load(&self) -> Result<Option<String>, Box<Diagnostic>> {
        let path = &self.file.path;
        let is_toml = path
            .extension()
            .is_some_and(|extension| extension == "toml");
        let problem = match self.bytes() {
            Ok(bytes) if bytes.len() > MAX_BYTES => {
                let message = format!(
                    "`{}` is larger than 16 MiB, and no more is read of a config",
                    self.name()
                );
                Diagnostic::error(codes::CONFIG_INVALID, message)
                    .with_help("name the file with the servers")
            }
            Ok(_) if is_toml => {
                let message = format!(
                    "`{}` is TOML, and this release reads configs in JSON",
                    self.name()
                );
                let help = r#"write { "mcpServers": { "NAME": { "command": "…", "args": [] } } } into a file that ends in `.json`"#;
                Diagnostic::error(codes::CONFIG_INVALID, message).with_help(help)
            }
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => return Ok(Some(text)),
                Err(error) => self.not_utf8(error.utf8_error().valid_up_to(), error.as_bytes()),
            },
            Err(error) if is_absent(&error) => match self.not_found() {
                None => return Ok(None),
                Some(problem) => problem,
            },
            Err(error) => {
                let message = format!("config `{}` can't be read: {}", self.name(), reason(&error));
                let help = match self.named_by {
                    NamedBy::Search => {
                        "make it readable, or name another file with `--config`".to_owned()
                    }
                    _ => self.correct_it(),
                };
                Diagnostic::error(codes::FILE_READ, message).with_help(help)
            }
        };
        Err(Box::new(problem))
    }

    /// At most one byte more than is allowed.
    fn bytes(&self) -> std::io::Result<Vec<u8>> {
        // Opening a pipe waits for its writer, so that one in a project would hold up every run. Who names
        // one, as in `--config <(…)`, means it.
        if matches!(self.named_by, NamedBy::Search) {
            let metadata = fs::metadata(&self.file.path)?;
            if !metadata.is_file() && !metadata.is_dir() {
                return Err(std::io::Error::other("it is not a regular file"));
            }
        }
        let mut bytes = Vec::new();
        let limit = u64::try_from(MAX_BYTES)
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        File::open(&self.file.path)?
            .take(limit)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn not_found(&self) -> Option<Diagnostic> {
        let message = match self.named_by {
            NamedBy::Search => return None,
            NamedBy::Argument => format!("there is no config `{}`", self.name()),
            NamedBy::Variable(name) => format!(
                "there is no config `{}`, which `${name}` names",
                self.name()
            ),
        };
        let mut diagnostic =
            Diagnostic::error(codes::CONFIG_NOT_FOUND, message).with_help(self.correct_it());
        if self.file.shown.is_relative() {
            diagnostic = diagnostic.with_note(format!("looked for `{}`", self.file.path.display()));
        }
        Some(diagnostic)
    }

    fn not_utf8(&self, valid: usize, bytes: &[u8]) -> Diagnostic {
        let text = String::from_utf8_lossy(bytes.get(..valid).unwrap_or_default());
        // Only the position is of use: the text before it may hold secrets.
        let everything = 0..text.len();
        let text = crate::runtime::env_file::painted(&text, &[everything]);
        let source = SourceFile::new(self.name(), text);
        Diagnostic::error(codes::CONFIG_INVALID, "the file is not UTF-8 text")
            .at(&source, Span::new(valid, valid))
            .with_help("save it as UTF-8")
    }

    fn correct_it(&self) -> String {
        match self.named_by {
            NamedBy::Variable(name) => format!("correct `{name}`, or unset it"),
            NamedBy::Argument | NamedBy::Search => {
                format!(
                    "correct `--config`, or leave it out to search {}",
                    search_order()
                )
            }
        }
    }

    fn name(&self) -> String {
        self.file.shown.display().to_string()
    }
}

/// Whether there is no such file, be it that a folder on the way to it is none.
fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The operating system's words without its number.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.to_lowercase()
}
