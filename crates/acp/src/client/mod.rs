//! A client that drives a real agent through timelines: it does what the user of the script does, answers what the agent
//! asks, and compares what the agent does with the script.

mod answer;
mod calls;
mod compare;
mod conversation;
mod driver;
mod effects;
mod expected;
mod files;
mod folder;
mod prompting;
mod requests;
mod seen;
mod talk;
#[cfg(test)]
mod tests;
mod told;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cuecard_runtime::process::{ProcessGroup, ProcessSpec};
use cuecard_runtime::scripted_faults::ScriptedFaults;
use cuecard_runtime::text_file::io_reason;
use cuecard_runtime::trace_writer::Writer;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::model::McpServer;
use cuecard_workspace::seed::seed;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::options::AcpOptions;
use super::player::Ready;
use super::script::AcpScript;
use super::telling::Telling;
use super::verdict::Verdict;
use driver::Driver;
use folder::SessionFolder;

/// How long an agent has to end once its input has.
const GRACE: Duration = Duration::from_secs(5);

/// The end of what an agent prints to its standard error is kept, in bytes.
const MAX_ERRORS: usize = 16 << 10;

/// A real agent.
#[derive(Debug, Clone, Default)]
pub struct AgentCommand {
    /// The program with its arguments.
    pub command: Vec<OsString>,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Where the agent works, and with what.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// This folder, as it is; else `acp.cwd` of the timeline, else a new one with the files of `repo`.
    pub folder: Option<PathBuf>,
    /// Whether new folders are kept.
    pub is_kept: bool,
    /// The servers of the sessions; those of each timeline if absent.
    pub mcp_servers: Option<Vec<McpServer>>,
}

/// How a conversation reaches its agent.
pub(super) struct Connection {
    /// What the agent writes.
    pub(super) input: Box<dyn AsyncRead + Send + Unpin>,
    /// What it reads.
    pub(super) output: Box<dyn AsyncWrite + Send + Unpin>,
    /// The agent itself, if it is a process of ours.
    pub(super) process: Option<AgentProcess>,
}

/// A client that has read its files.
pub struct ReadyClient {
    scripts: Vec<Arc<AcpScript>>,
    faults: ScriptedFaults<()>,
    options: AcpOptions,
    telling: Telling,
    writer: Writer,
    diagnostics: Vec<Diagnostic>,
}

impl ReadyClient {
    pub(super) fn new(ready: Ready, options: AcpOptions, faults: ScriptedFaults<()>) -> Self {
        Self {
            options,
            scripts: ready.scripts,
            faults,
            telling: ready.telling,
            writer: ready.writer,
            diagnostics: ready.diagnostics,
        }
    }

    /// What was found in the files: warnings and notes, and the errors of files that were left out.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// How many scenarios there are.
    pub fn n_scenarios(&self) -> usize {
        self.scripts.len()
    }

    /// Drives an agent through each timeline, each time a new process.
    pub async fn drive(
        self,
        agent: &AgentCommand,
        workspace: &Workspace,
        stop: &CancellationToken,
    ) -> Verdict {
        self.drive_by(
            || AgentProcess::start(agent),
            &agent.environment,
            workspace,
            stop,
        )
        .await
    }

    /// The same with what `connect` connects to.
    pub(super) async fn drive_by(
        self,
        connect: impl Fn() -> Result<Connection, Diagnostic>,
        environment: &[(OsString, OsString)],
        workspace: &Workspace,
        stop: &CancellationToken,
    ) -> Verdict {
        let driver = Arc::new(Driver::new(
            self.telling,
            self.faults,
            self.options,
            workspace.mcp_servers.clone(),
        ));
        for (scenario_idx, script) in self.scripts.iter().enumerate() {
            if stop.is_cancelled() {
                break;
            }
            let folder = match Folder::of(script, workspace, environment, &driver.telling).await {
                Ok(folder) => folder,
                Err(problem) => {
                    driver.could_not_run(problem).await;
                    continue;
                }
            };
            let seen = SessionFolder::new(&folder.path, folder.is_own);
            match connect() {
                Ok(connection) => {
                    let script = (scenario_idx, script.clone());
                    driver
                        .drive(script, seen, environment, connection, stop)
                        .await;
                }
                Err(problem) => driver.could_not_run(problem).await,
            }
        }
        driver.settle(&self.scripts, self.writer).await
    }
}

/// The folder of a session.
struct Folder {
    path: PathBuf,
    /// Whether nobody else writes there.
    is_own: bool,
    /// It goes when this does.
    _scratch: Option<tempfile::TempDir>,
}

impl Folder {
    async fn of(
        script: &AcpScript,
        workspace: &Workspace,
        environment: &[(OsString, OsString)],
        telling: &Telling,
    ) -> Result<Self, Diagnostic> {
        let timeline = &script.timeline;
        let problem = |message: String| Diagnostic::error(codes::FILE_WRITE, message);
        if let Some(folder) = workspace.folder.as_ref().or(timeline.acp.cwd.as_ref()) {
            let path = folder.canonicalize().ok().filter(|path| path.is_dir());
            let path = path.ok_or_else(|| {
                problem(format!("the folder `{}` does not exist", folder.display()))
                    .with_help("`--cwd DIR` says where the agent works")
            })?;
            if timeline.repository.is_some() {
                let message = format!(
                    "`repo` of `{}` is not set up in `{}`: it is for a new folder",
                    timeline.name,
                    path.display()
                );
                telling
                    .found(None, Diagnostic::note(codes::ARGUMENT, message))
                    .await;
            }
            return Ok(Self {
                path,
                is_own: false,
                _scratch: None,
            });
        }
        let scratch = tempfile::Builder::new()
            .prefix("cuecard-")
            .tempdir()
            .map_err(|error| problem(format!("no temporary folder: {}", io_reason(&error))))?;
        // As programs see it that ask for their folder.
        let path = scratch
            .path()
            .canonicalize()
            .unwrap_or_else(|_| scratch.path().to_owned());
        seed(timeline, &path, environment).await?;
        Ok(match workspace.is_kept {
            true => Self {
                path: scratch.keep().canonicalize().unwrap_or(path),
                is_own: true,
                _scratch: None,
            },
            false => Self {
                path,
                is_own: true,
                _scratch: Some(scratch),
            },
        })
    }
}

/// An agent that runs.
pub(super) struct AgentProcess {
    group: ProcessGroup,
    errors: tokio::task::JoinHandle<String>,
}

impl AgentProcess {
    fn start(agent: &AgentCommand) -> Result<Connection, Diagnostic> {
        let mut words = agent.command.iter().cloned();
        let spec = ProcessSpec {
            program: words.next().unwrap_or_default(),
            args: words.collect(),
            env: agent.environment.clone(),
            // Where the user is: the folder of the session is told to the agent.
            cwd: None,
        };
        let refused = |error: &io::Error| {
            let program = spec.program.to_string_lossy();
            let message = format!(
                "the agent `{program}` can't be started: {}",
                io_reason(error)
            );
            Diagnostic::error(codes::ARGUMENT, message)
                .with_help("give the command that starts the agent after `--`")
        };
        let mut group = ProcessGroup::spawn(&spec, &[]).map_err(|error| refused(&error))?;
        let (Some(input), Some(output), Some(errors)) =
            (group.stdout.take(), group.stdin.take(), group.stderr.take())
        else {
            return Err(refused(&io::Error::other("it has no streams")));
        };
        Ok(Connection {
            input: Box::new(input),
            output: Box::new(output),
            process: Some(Self {
                group,
                errors: tokio::spawn(last_words(errors)),
            }),
        })
    }

    /// Ends it, and tells how it ended and the end of what it printed to its standard error.
    pub(super) async fn end(self) -> (Option<std::process::ExitStatus>, String) {
        let status = self.group.shut_down(GRACE).await;
        let errors = tokio::time::timeout(GRACE, self.errors).await;
        (status, errors.ok().and_then(Result::ok).unwrap_or_default())
    }
}

/// The end of a stream.
async fn last_words(mut stream: impl AsyncRead + Unpin) -> String {
    let mut kept = Vec::new();
    let mut buffer = vec![0; 4 << 10];
    while let Ok(n) = stream.read(&mut buffer).await {
        if n == 0 {
            break;
        }
        kept.extend_from_slice(&buffer[..n]);
        let surplus = kept.len().saturating_sub(MAX_ERRORS);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}
