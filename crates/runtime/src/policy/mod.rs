//! The safety policy: what a text may do, given where its parts came from.
//!
//! What the author wrote and what the user passed is trusted, as in any script. What a peer answered is data: it may
//! be a part of a path, a command, a script or a URL, but it never decides what these do. A path with data in it stays
//! inside the root; data in a command or a script is bound to a variable or a literal instead of spliced into the
//! code; a URL with data in it doesn't reach this machine or its network. Every built-in tool goes through here.

mod addresses;
mod commands;
mod environment;
pub mod executable_files;
mod hosts;
mod javascript;
mod paths;
mod source;

use std::fmt;
use std::path::PathBuf;

pub use addresses::is_private;
use commands::CommandLists;
pub use commands::{BoundCommand, in_environment};
use hosts::HostLists;
pub use hosts::UrlGrant;
use paths::Places;
pub use paths::inside;
pub use source::{WITHOUT_LINE_END, ends_with_line};

use cuecard_source::value::Text;

/// What the user said about safety.
#[derive(Debug, Clone, Default)]
pub struct PolicyOptions {
    /// Where paths with data in them must stay; everything, under `confine`. Must exist.
    pub root: PathBuf,
    /// Where relative paths start. Must exist.
    pub working_directory: PathBuf,
    /// Folders or files beside the root (`--allow-path`). A relative one starts at the working directory.
    pub allow_paths: Vec<PathBuf>,
    /// Hosts that a URL may reach at any address (`--allow-host`): `host`, `*.domain`, each with an optional `:port`.
    pub allow_hosts: Vec<String>,
    /// Programs that may be started under `confine` and `read_only` (`--allow-command`).
    pub allow_commands: Vec<String>,
    /// Tools of servers that may be called under `read_only` (`--allow-tool`): `mcp__server__tool`, or `mcp__server` for all
    /// of a server.
    pub allow_tools: Vec<String>,
    /// If not empty, the only hosts that may be reached (`--only-hosts`), written like `allow_hosts`.
    pub only_hosts: Vec<String>,
    /// If not empty, the only programs that may be started (`--only-commands`).
    pub only_commands: Vec<String>,
    /// All paths inside the root, no commands (`--confine`).
    pub confine: bool,
    /// No writing, no commands, and no tools of servers that may change something (`--read-only`).
    pub read_only: bool,
    /// The run directory, which may be written under `confine` and `read_only`.
    pub run_dir: Option<PathBuf>,
}

/// Where a script goes, which decides what it is bound as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptShape {
    /// To a tool that evaluates it: an expression, a function or statements.
    Program,
    /// To a tool that takes the source of a function.
    Function,
    /// Into an expression that awaits it; an expression.
    Condition,
}

/// Decides. Made once per run.
#[derive(Debug, Clone)]
pub struct Policy {
    places: Places,
    commands: CommandLists,
    hosts: HostLists,
    /// The only tools that may change something; any may if absent.
    writing_tools: Option<Vec<String>>,
}

impl Policy {
    /// # Errors
    /// If the root or the working directory isn't a folder, or a host pattern is none.
    pub fn new(options: PolicyOptions) -> Result<Self, Refusal> {
        Ok(Self {
            hosts: HostLists::new(&options.allow_hosts, &options.only_hosts)?,
            writing_tools: options.read_only.then_some(options.allow_tools),
            commands: CommandLists {
                allowed: options.allow_commands,
                only: options.only_commands,
                forbidden: match options.read_only {
                    _ if options.confine => {
                        Some(("`--confine` does not allow commands", "drop `--confine`"))
                    }
                    true => Some((
                        "`--read-only` does not allow commands, since they can write",
                        "drop `--read-only`",
                    )),
                    false => None,
                },
            },
            places: Places::new(
                &options.root,
                &options.working_directory,
                &options.allow_paths,
                options.run_dir.as_deref(),
                options.confine,
                options.read_only,
            )?,
        })
    }

    /// Data may not write these files, if they are any: the scenario, configs, programs of servers.
    pub fn protect(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        self.places.protect(files);
    }

    /// Data may not write files that these values can mean: those of configs of servers, as
    /// [`values`](executable_files::values) finds them.
    pub fn protect_named(&mut self, values: impl IntoIterator<Item = String>) {
        self.places.protect_named(values);
    }

    /// The absolute path that may be read. A relative one starts at the working directory; `~` is a name like any
    /// other. If the path had to be looked at (because of data in it or a flag), the result has its symbolic links
    /// resolved, so that what was judged is what is opened.
    ///
    /// # Errors
    /// [`RefusalKind::Path`].
    pub fn read_path(&self, text: &Text) -> Result<PathBuf, Refusal> {
        self.places.read(text)
    }

    /// The absolute path that may be written, created or removed; otherwise as [`Policy::read_path`].
    ///
    /// # Errors
    /// [`RefusalKind::Path`].
    pub fn write_path(&self, text: &Text) -> Result<PathBuf, Refusal> {
        self.places.create(text)
    }

    /// What data could be so that a path, a host or a port passes: what the limits name, and a few plain words.
    pub fn words(&self) -> Vec<String> {
        let plain = ["text", "8080", "gitignore", "md"].map(str::to_owned);
        plain
            .into_iter()
            .chain(self.places.words())
            .chain(self.hosts.words())
            .collect()
    }

    /// The command for a POSIX shell (sh, dash or bash), with data bound to variables.
    ///
    /// # Errors
    /// [`RefusalKind::Command`] if a flag forbids it, [`RefusalKind::Data`] if data stands where it would be code or
    /// where that can't be told, [`RefusalKind::Path`] if the target of a redirection may not be opened.
    pub fn command(&self, text: &Text) -> Result<BoundCommand, Refusal> {
        self.command_with_env(text, &[])
    }

    /// The same for a step with variables of its own, which stay in what a refusal proposes.
    ///
    /// # Errors
    /// As [`Policy::command`].
    pub fn command_with_env(
        &self,
        text: &Text,
        env: &[(String, Text)],
    ) -> Result<BoundCommand, Refusal> {
        commands::bind(text, env, &self.commands, &self.places)
    }

    /// The value of the environment variable `name` of a command. Data may be any of it, but not of a variable that
    /// programs obey, such as `PATH`.
    ///
    /// # Errors
    /// [`RefusalKind::Data`], also for a NUL byte in it.
    pub fn environment(&self, name: &str, value: &Text) -> Result<String, Refusal> {
        environment::value(name, value)
    }

    /// The JavaScript with names in place of data, bound in front of it. In a string data is text. Where an expression
    /// is expected, data that is JSON for a number, boolean, null, array or object is that value, and everything else a
    /// string.
    ///
    /// # Errors
    /// [`RefusalKind::Data`].
    pub fn script(&self, text: &Text, shape: ScriptShape) -> Result<String, Refusal> {
        javascript::bind(text, shape)
    }

    /// The URL, to be fetched under the conditions of the grant. Data in it is spliced, so an author who puts it into
    /// a query encodes it first.
    ///
    /// # Errors
    /// [`RefusalKind::Host`].
    pub fn url(&self, text: &Text) -> Result<UrlGrant, Refusal> {
        self.hosts.grant(text)
    }

    /// Whether tools of servers that may change something are refused (`--read-only`).
    pub fn limits_tools(&self) -> bool {
        self.writing_tools.is_some()
    }

    /// Whether `tool` of `server` may be called, which may change something.
    ///
    /// # Errors
    /// [`RefusalKind::Tool`].
    pub fn writing_tool(&self, server: &str, tool: &str) -> Result<(), Refusal> {
        let names = [format!("mcp__{server}__{tool}"), format!("mcp__{server}")];
        match &self.writing_tools {
            Some(allowed) if !names.iter().any(|name| allowed.contains(name)) => {
                let name = &names[0];
                Err(Refusal::new(
                    RefusalKind::Tool,
                    format!(
                        "`--read-only` does not allow `{name}`: its server does not say that it only reads"
                    ),
                    format!("allow it with `--allow-tool {name}`, or drop `--read-only`"),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Whether only certain hosts may be reached (`--only-hosts`).
    pub fn limits_hosts(&self) -> bool {
        self.hosts.limits()
    }
}

/// What was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// A path leads where it may not.
    Path,
    /// A command may not run.
    Command,
    /// Data stands where it would act as code.
    Data,
    /// A URL or an address may not be reached.
    Host,
    /// A tool of a server may not be called.
    Tool,
}

/// An action that the policy doesn't allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What was refused.
    pub kind: RefusalKind,
    /// What is wrong, a lowercase fragment.
    pub message: String,
    /// The flag that allows it, or how to write it instead.
    pub help: String,
}

impl Refusal {
    fn new(kind: RefusalKind, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            help: help.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
