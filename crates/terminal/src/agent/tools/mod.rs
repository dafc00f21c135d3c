//! The tools of the agent: what they really do in the workspace, and what they answer.

mod commands;
mod files;
mod search;
mod servers;
mod web;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) use commands::command_outcome;

use cuecard_mcp::Session;
use cuecard_runtime::policy::{Policy, inside};
use cuecard_source::value::{Json, Text};
use cuecard_timeline::model::{McpServer, ToolUse};
use cuecard_workspace::running::{OutputPosition, RunningCommand};

/// How long a call may take unless it says otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Tools that answer what the script says: nothing here could do what they do.
const SIMULATED: &[&str] = &[
    "task",
    "webSearch",
    "todoWrite",
    "exitPlanMode",
    "slashCommand",
];

/// The tools of a session.
pub(super) struct Tools {
    /// The workspace, absolute: no path leads out of it.
    root: PathBuf,
    policy: Policy,
    environment: Vec<(OsString, OsString)>,
    /// Commands that go on in the background, by their ids; how much of the output was told.
    background: BTreeMap<String, (RunningCommand, OutputPosition)>,
    /// The servers of the session, by name, and those of them that run.
    servers: Vec<McpServer>,
    sessions: BTreeMap<String, Session>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolOutcome {
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// A call that has begun.
pub(super) enum Call {
    /// It is over.
    Answered(ToolOutcome),
    /// A command that runs.
    Command {
        command: RunningCommand,
        timeout: Duration,
    },
    /// What it does is not done here.
    Simulated,
}

/// An answer, or why there is none; both are texts.
type Done = Result<String, String>;

impl From<Done> for ToolOutcome {
    fn from(done: Done) -> Self {
        let is_error = done.is_err();
        let (Ok(text) | Err(text)) = done;
        Self { text, is_error }
    }
}

impl Tools {
    pub(super) fn new(
        root: PathBuf,
        policy: Policy,
        environment: Vec<(OsString, OsString)>,
    ) -> Self {
        Self {
            root,
            policy,
            environment,
            background: BTreeMap::new(),
            servers: Vec::new(),
            sessions: BTreeMap::new(),
        }
    }

    /// The session has these servers.
    pub(super) fn connect(&mut self, servers: &[McpServer]) {
        self.servers = servers.to_vec();
    }

    /// Begins a call. All but commands are over then.
    pub(super) async fn begin(&mut self, call: &ToolUse) -> Call {
        let args = Arguments(&call.args);
        if SIMULATED.contains(&call.tool.as_str()) {
            return Call::Simulated;
        }
        let done: Done = match call.tool.as_str() {
            "runCmd" | "sed" => {
                return match self.command(call) {
                    Ok(running) => running,
                    Err(reason) => Call::Answered(Err(reason).into()),
                };
            }
            "bashOutput" => self.output_of(&args),
            "killShell" => self.kill(&args),
            "readFile" => self.read(&args),
            "writeFile" => self.write(&args),
            "editFile" | "replaceInFile" => self.edit(&args),
            "appendFile" => self.append(&args),
            "notebookEdit" => self.edit_notebook(&args),
            "grep" => self.grep(&args),
            "listDir" => self.list(&args),
            "find" => self.find(&args),
            "webFetch" => self.fetch(&args).await,
            name => match self.call_server(name, &call.args).await {
                Some(answer) => return Call::Answered(answer),
                None => return Call::Simulated,
            },
        };
        Call::Answered(done.into())
    }

    /// Ends what still runs.
    pub(super) async fn close(&mut self) {
        self.background.clear();
        for (_, session) in std::mem::take(&mut self.sessions) {
            session.stop().await;
        }
    }

    /// The file or folder of the workspace that an argument names, to read it.
    fn readable(&self, path: &str) -> Result<PathBuf, String> {
        self.allowed(path, Policy::read_path)
    }

    /// The same to change it.
    pub(super) fn writable(&self, path: &str) -> Result<PathBuf, String> {
        self.allowed(path, Policy::write_path)
    }

    fn allowed(
        &self,
        path: &str,
        ask: impl Fn(&Policy, &Text) -> Result<PathBuf, cuecard_runtime::policy::Refusal>,
    ) -> Result<PathBuf, String> {
        let whole = self.root.join(path);
        let text = Text::from(whole.to_string_lossy().into_owned().as_str());
        let allowed = ask(&self.policy, &text).map_err(|refusal| refusal.message)?;
        inside(&self.root, &allowed).map_err(|why| format!("`{path}` {why}"))
    }

    /// A path as the agent tells it: from the workspace on.
    fn told<'p>(&self, path: &'p Path) -> std::borrow::Cow<'p, str> {
        match path.strip_prefix(&self.root) {
            Ok(relative) if relative.as_os_str().is_empty() => ".".into(),
            Ok(relative) => relative.to_string_lossy(),
            Err(_) => path.to_string_lossy(),
        }
    }
}

/// The arguments of a call.
struct Arguments<'a>(&'a Json);

impl<'a> Arguments<'a> {
    fn text(&self, name: &str) -> Result<&'a str, String> {
        self.optional(name)
            .ok_or_else(|| format!("the argument `{name}` is missing"))
    }

    fn optional(&self, name: &str) -> Option<&'a str> {
        self.0[name].as_str()
    }

    fn is(&self, name: &str) -> bool {
        self.0[name] == true
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.0[name].as_u64()
    }
}
