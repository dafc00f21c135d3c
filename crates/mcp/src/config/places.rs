//! Where configs are looked for, and how they are loaded.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

use cuecard_runtime::text_file::io_reason;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::{SourceFile, Span};

use super::{ConfigFile, ConfigSearch};

/// The longest config that is read, in bytes.
pub(super) const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Folders for settings: what lies in one belongs to the folder around it.
const SETTINGS_FOLDERS: &[&str] = &[".cuecard", ".sandy", ".cursor", ".vscode"];

const CLAUDE_DESKTOP: &str = "Claude Desktop";
const CURSOR: &str = "Cursor";
const VS_CODE: &str = "VS Code";

enum Place {
    /// A variable of the environment that names a file.
    Variable(&'static str),
    /// A path that starts at the working directory.
    Project(&'static str),
    /// A path that starts at the home folder.
    Home(&'static str),
    /// A path that starts where programs keep their settings; see [`Platform::settings`].
    Settings(&'static str),
}

/// The one table of places, in the order of the search, with the program whose file it is unless it is ours.
const PLACES: &[(Place, Option<&str>)] = &[
    (Place::Variable("CUECARD_CONFIG"), None),
    (Place::Variable("SANDY_CONFIG"), None),
    (Place::Project(".cuecard/config.json"), None),
    (Place::Project(".cuecard/config.toml"), None),
    (Place::Project(".sandy/config.json"), None),
    (Place::Project(".mcp.json"), None),
    (
        Place::Settings("Claude/claude_desktop_config.json"),
        Some(CLAUDE_DESKTOP),
    ),
    (Place::Project(".cursor/mcp.json"), Some(CURSOR)),
    (Place::Home(".cursor/mcp.json"), Some(CURSOR)),
    (Place::Project(".vscode/mcp.json"), Some(VS_CODE)),
    (Place::Settings("Code/User/mcp.json"), Some(VS_CODE)),
    (
        Place::Settings("Code - Insiders/User/mcp.json"),
        Some(VS_CODE),
    ),
    (Place::Home(".cuecard/config.json"), None),
    (Place::Home(".cuecard/config.toml"), None),
    (Place::Home(".sandy/config.json"), None),
];

/// Paths of the table that are the same on each platform, for the test that data can't write them.
#[cfg(test)]
pub(super) fn fixed_paths() -> impl Iterator<Item = &'static str> {
    PLACES.iter().filter_map(|(place, _)| match place {
        Place::Project(path) | Place::Home(path) => Some(*path),
        Place::Variable(_) | Place::Settings(_) => None,
    })
}

/// Where programs keep their settings differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Platform {
    Linux,
    MacOs,
    Windows,
}

impl Platform {
    pub(super) const HERE: Self = if cfg!(target_os = "macos") {
        Self::MacOs
    } else if cfg!(windows) {
        Self::Windows
    } else {
        Self::Linux
    };

    /// The folder that holds one folder a program.
    pub(super) fn settings(self, search: &ConfigSearch<'_>) -> Option<PathBuf> {
        let named = |name: &str| {
            let path = Path::new(search.environment.get(name)?);
            path.is_absolute().then(|| path.to_owned())
        };
        match self {
            Self::Linux => named("XDG_CONFIG_HOME").or_else(|| Some(home(search)?.join(".config"))),
            Self::MacOs => Some(home(search)?.join("Library/Application Support")),
            Self::Windows => named("APPDATA"),
        }
    }
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
    for &(ref place, program) in PLACES {
        let (path, named_by) = match *place {
            Place::Variable(name) => match search.environment.get(name) {
                // Set to nothing is the usual way to unset one.
                None => continue,
                Some(path) if path.is_empty() => continue,
                Some(path) => (PathBuf::from(path), NamedBy::Variable(name)),
            },
            Place::Project(path) => (PathBuf::from(path), NamedBy::Search),
            Place::Home(path) => match home(search) {
                Some(home) => (home.join(path), NamedBy::Search),
                None => continue,
            },
            Place::Settings(path) => match Platform::HERE.settings(search) {
                Some(folder) => (folder.join(path), NamedBy::Search),
                None => continue,
            },
        };
        let mut candidate = candidate(&path, named_by, search);
        candidate.file.program = program;
        // A folder above the file may be a link, so that the whole path is compared.
        let real = candidate.file.path.canonicalize();
        let real = real.unwrap_or_else(|_| candidate.file.path.clone());
        if seen.contains(&real) {
            continue;
        }
        seen.push(real);
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
            program: None,
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

/// The names that VS Code and Cursor fill in, with what they mean in `file`.
pub(super) fn editor_names(
    file: &ConfigFile,
    search: &ConfigSearch<'_>,
) -> Vec<(&'static str, String)> {
    // An editor has a project open, which is ours; a project's own file needn't lie in the working directory.
    let workspace = match file.project_local {
        true => project_folder(&file.path),
        false => search.working_directory,
    };
    let text = |path: &Path| path.to_str().map(str::to_owned);
    let separator = std::path::MAIN_SEPARATOR.to_string();
    let basename = workspace.file_name().map(Path::new);
    let names = [
        ("workspaceFolder", text(workspace)),
        ("workspaceFolderBasename", basename.and_then(text)),
        ("userHome", home(search).and_then(text)),
        ("pathSeparator", Some(separator.clone())),
        ("/", Some(separator)),
    ];
    names
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
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

/// How a config is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    /// With comments, and commas before closing brackets.
    JsonWithComments,
    Toml,
}

impl Syntax {
    pub(super) fn of(file: &ConfigFile) -> Self {
        let extension = file.path.extension().unwrap_or_default();
        let folder = file.path.parent().unwrap_or(&file.path);
        if extension == "toml" {
            Self::Toml
        } else if extension == "jsonc"
            || matches!(file.program, Some(CURSOR | VS_CODE))
            || folder.ends_with(".cursor")
            || folder.ends_with(".vscode")
        {
            Self::JsonWithComments
        } else {
            Self::Json
        }
    }
}

impl Candidate {
    /// The text of the file; `None` if it isn't there and needn't be.
    pub(super) fn load(&self) -> Result<Option<String>, Box<Diagnostic>> {
        let problem = match self.bytes() {
            Ok(bytes) if bytes.len() > MAX_BYTES => {
                let message = format!(
                    "`{}` is larger than 16 MiB, the limit for a config",
                    self.name()
                );
                Diagnostic::error(codes::CONFIG_INVALID, message)
                    .with_help("name the file with the servers")
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
                let message = format!(
                    "config `{}` can't be read: {}",
                    self.name(),
                    io_reason(&error)
                );
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
            NamedBy::Argument => format!("config `{}` not found", self.name()),
            NamedBy::Variable(name) => {
                format!("config `{}` (set by `${name}`) not found", self.name())
            }
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
        let source = SourceFile::withheld(self.name(), &text);
        Diagnostic::error(codes::CONFIG_INVALID, "the file is not UTF-8 text")
            .at(&source, Span::new(valid, valid))
            .with_help("save it as UTF-8")
    }

    fn correct_it(&self) -> String {
        match self.named_by {
            NamedBy::Variable(name) => format!("correct `{name}`, or unset it"),
            NamedBy::Argument | NamedBy::Search => {
                "correct `--config`, or leave it out: `cuecard doctor` shows where servers are found"
                    .to_owned()
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
