//! Which MCP servers there are: the config files, the places where they are looked for, and what an entry
//! means.
//!
//! A file that is not JSON or lists no servers where it should is an error, whichever of its servers is
//! used. What concerns one server only, such as an entry of the wrong shape or a variable that is not
//! set, waits in [`ConfiguredServer::spec`] until somebody asks for
//! that server: files are shared with other programs, whose entries nobody here may need.
//!
//! A relative `cwd` starts at the project's folder: the one that holds the config file, or that holds the
//! folder of settings it lies in, such as `.cuecard` or `.vscode`. A `command` with a relative path (`./server`) is looked up in
//! the folder that the server starts in, which is its `cwd`, else the working directory, as other clients
//! do. A leading `~/` is the home folder in both.

mod address;
mod entry;
mod expand;
mod fill;
mod findings;
mod places;
mod read;
mod secrets;
#[cfg(test)]
mod tests;
mod text;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_runtime::policy::executable_files;
use cuecard_source::diagnostic::{Diagnostic, Severity, any_error, codes};

use super::ServerSpec;

/// Where the one server comes from that a user named by its address or its command.
pub(crate) const COMMAND_LINE: &str = "the command line";

/// Where to look for config files.
#[derive(Debug, Clone, Copy)]
pub struct ConfigSearch<'a> {
    /// The file of `--config`: nothing else is looked at then.
    pub explicit: Option<&'a Path>,
    /// The folder that relative paths start at; absolute.
    pub working_directory: &'a Path,
    /// A snapshot of the environment, with the variables of `--env FILE` over it.
    pub environment: &'a BTreeMap<String, String>,
}

/// All servers that the config files define.
#[derive(Clone, Default)]
pub struct Config {
    servers: Vec<ConfiguredServer>,
    /// The files that were read, in the order of the search.
    pub files: Vec<ConfigFile>,
    /// What deserves a look, in the order of the files.
    pub warnings: Vec<Diagnostic>,
    /// Where no file was, as [`ConfigFile::shown`].
    pub absent: Vec<PathBuf>,
    /// Servers whose name an earlier definition has.
    pub shadowed: Vec<Shadowed>,
    /// Files of other programs with errors. Their servers are left out, and nobody is kept from the others.
    pub broken: Vec<BrokenConfig>,
    /// The texts of its files, and their values with variables filled in.
    texts: Vec<String>,
    filled: Vec<String>,
}

/// A server that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shadowed {
    /// The name that it shares with a server that is.
    pub name: String,
    /// The file that defines it, as [`ConfigFile::shown`].
    pub from: PathBuf,
}

/// A file of another program with errors.
#[derive(Debug, Clone)]
pub struct BrokenConfig {
    /// The file.
    pub file: ConfigFile,
    /// What is wrong with it; at least one error.
    pub errors: Vec<Diagnostic>,
}

/// A config file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// Where it is.
    pub path: PathBuf,
    /// The path as the user would write it: relative below the working directory, `~/…` below the home.
    pub shown: PathBuf,
    /// Whether it belongs to a project: a `.mcp.json`, or a file in a folder of settings such as `.cuecard/`,
    /// below the working directory. Whoever wrote the project wrote it, and it may start commands.
    pub project_local: bool,
    /// The program that this file is made for, unless that is Cuecard: Claude Desktop, Cursor, VS Code.
    pub program: Option<&'static str>,
}

/// One server of a config.
#[derive(Clone)]
pub struct ConfiguredServer {
    /// The name that scenarios use.
    pub name: String,
    /// How to start or reach it, or why that can't be done: one error, with notes where there are more.
    pub spec: Result<ServerSpec, Diagnostic>,
    /// Whether its entry says that it is not to be used.
    pub is_disabled: bool,
    /// The file that defines it, as [`ConfigFile::shown`].
    pub from: PathBuf,
    /// As [`ConfigFile::project_local`].
    pub project_local: bool,
    /// What must never be shown, of eight characters or more each: values of `env` and of headers, tokens
    /// within them, and credentials in arguments and URLs.
    pub secrets: Vec<String>,
    /// How long a call may take, if the entry says so.
    pub timeout: Option<Duration>,
    /// What deserves a look in an entry of another program's file, which only those who use it are told.
    pub warnings: Vec<Diagnostic>,
}

impl Config {
    /// Reads the files of the search. The first definition of a name counts, files that don't exist are
    /// passed over, and there may be none at all. A file of another program that can't be used is a warning.
    ///
    /// # Errors
    /// All errors of all files, with their warnings: a named file that doesn't exist, a file that can't be
    /// read, is not JSON or TOML, or has the wrong shape around its servers.
    pub fn find(search: &ConfigSearch<'_>) -> Result<Self, Vec<Diagnostic>> {
        let (mut config, diagnostics) = Self::survey(search);
        if any_error(&diagnostics) {
            return Err(diagnostics);
        }
        config.warnings = diagnostics;
        Ok(config)
    }

    /// As [`Config::find`], with the errors beside whatever could be read.
    pub fn survey(search: &ConfigSearch<'_>) -> (Self, Vec<Diagnostic>) {
        let mut config = Self::empty();
        let mut names = HashSet::new();
        let mut diagnostics = Vec::new();
        for candidate in places::candidates(search) {
            let found = match candidate.load() {
                Ok(None) => {
                    config.absent.push(candidate.file.shown);
                    continue;
                }
                Ok(Some(text)) => {
                    let mut reading = read::read(&text, &candidate.file, search);
                    config.filled.append(&mut reading.values);
                    if candidate.file.program.is_some() && any_error(&reading.diagnostics) {
                        reading.servers.clear();
                    }
                    for server in reading.servers {
                        if names.insert(server.name.clone()) {
                            config.servers.push(server);
                        } else {
                            config.shadowed.push(Shadowed {
                                name: server.name,
                                from: server.from,
                            });
                        }
                    }
                    config.files.push(candidate.file.clone());
                    config.texts.push(text);
                    reading.diagnostics
                }
                Err(diagnostic) => vec![*diagnostic],
            };
            match candidate.file.program {
                Some(program) if any_error(&found) => {
                    diagnostics.push(left_out(&found, &candidate.file, program));
                    config.broken.push(BrokenConfig {
                        file: candidate.file,
                        errors: found,
                    });
                }
                _ => diagnostics.extend(found),
            }
        }
        (config, diagnostics)
    }

    /// A config of the one server that a user named by its address or its command: `entry` is what a file would say of it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of_one(
        name: &str,
        entry: &serde_json::Value,
        search: &ConfigSearch<'_>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let file = ConfigFile {
            path: PathBuf::new(),
            shown: COMMAND_LINE.into(),
            project_local: false,
            program: None,
        };
        let text = serde_json::json!({"mcpServers": {name: entry}}).to_string();
        let reading = read::read(&text, &file, search);
        match any_error(&reading.diagnostics) {
            true => Err(reading.diagnostics),
            false => Ok(Self {
                servers: reading.servers,
                warnings: reading.diagnostics,
                ..Self::default()
            }),
        }
    }

    /// A config without servers.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Adds what deserves a look in the entries of the servers that are used to the warnings.
    pub fn warn_about(&mut self, used: &[String]) {
        for server in &mut self.servers {
            if used.contains(&server.name) {
                self.warnings.append(&mut server.warnings);
            }
        }
    }

    /// The server called `name`.
    pub fn server(&self, name: &str) -> Option<&ConfiguredServer> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// All servers, those of the first file first.
    pub fn servers(&self) -> &[ConfiguredServer] {
        &self.servers
    }

    /// The files of the config.
    pub fn own_files(&self) -> impl Iterator<Item = PathBuf> {
        self.files.iter().map(|file| file.path.clone())
    }

    /// All values in its files, used or not, as they are written and with their variables filled in: a server may be
    /// started with any file that one can mean.
    pub fn values(&self) -> impl Iterator<Item = String> {
        let written = self.texts.iter().map(String::as_str);
        let written = written.flat_map(executable_files::values);
        written.chain(self.filled.iter().cloned())
    }

    /// The names of all servers, those of the first file first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(|server| server.name.as_str())
    }
}

/// Without its texts and values, which may hold secrets.
impl fmt::Debug for Config {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Config")
            .field("servers", &self.servers)
            .field("files", &self.files)
            .field("warnings", &self.warnings)
            .field("absent", &self.absent)
            .field("shadowed", &self.shadowed)
            .field("broken", &self.broken)
            .finish_non_exhaustive()
    }
}

/// The warning for a file of another program that has errors.
fn left_out(found: &[Diagnostic], file: &ConfigFile, program: &str) -> Diagnostic {
    let mut errors = found
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error);
    let Some(first) = errors.next() else {
        return Diagnostic::warning(codes::CONFIG_INVALID, "a config can't be used");
    };
    let note = format!(
        "`{}` is a config of {program}; its servers are skipped",
        file.shown.display()
    );
    let mut warning = Diagnostic {
        severity: Severity::Warning,
        ..first.clone()
    }
    .with_note(note);
    match errors.count() {
        0 => {}
        1 => warning.notes.push("the file has another error".to_owned()),
        more => warning
            .notes
            .push(format!("the file has {more} more errors")),
    }
    warning
}

// By hand, so that no secret gets into a debug print: a command line may hold them too.
impl fmt::Debug for ConfiguredServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ConfiguredServer")
            .field("name", &self.name)
            .field(
                "spec",
                &self.spec.as_ref().map(|spec| spec.transport.as_str()),
            )
            .field("from", &self.from)
            .field("project_local", &self.project_local)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
