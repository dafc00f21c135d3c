//! Commands in the background: `claude__bash` starts them, `claude__bash_output` and `claude__kill_shell` go on with them.

use std::collections::BTreeMap;
use std::time::Duration;

use cuecard_runtime::tap::Recorder;
use cuecard_tool_call::script::{CallRequest, Failure, FailureKind};
use cuecard_workspace::running::{CommandEnd, NewOutput, OutputPosition, RunningCommand};
use regex::Regex;
use serde_json::{Value as Json, json};

use super::super::toolbox::Toolbox;
use super::arguments::Arguments;

/// The most that one run starts.
const MAX_COMMANDS: usize = 100;
/// How long a killed command may take to be gone; only one that hangs inside the system takes any time.
const REAP: Duration = Duration::from_secs(1);

/// The commands that a run started in the background. They are killed when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct BackgroundCommands(BTreeMap<String, BackgroundCommand>);

#[derive(Debug)]
struct BackgroundCommand {
    command: RunningCommand,
    is_killed: bool,
    /// Where the last call that read its output began, and where it ended.
    last_read: [OutputPosition; 2],
    /// Data that it reads.
    _files: Vec<tempfile::NamedTempFile>,
}

impl BackgroundCommands {
    /// The id of a command that the call `call_id` starts: another one in each step and attempt, also of a run that is
    /// resumed.
    pub(super) fn id(&self, call_id: &str) -> Result<String, Failure> {
        if self.0.len() >= MAX_COMMANDS {
            let message = format!("the run has {MAX_COMMANDS} commands in the background already");
            return Err(Failure::new(FailureKind::ToolError, message)
                .with_help("run several of them in one command"));
        }
        Ok(format!(
            "bash_{}",
            call_id.strip_prefix("call_").unwrap_or(call_id)
        ))
    }

    pub(super) fn add(
        &mut self,
        id: String,
        command: RunningCommand,
        files: Vec<tempfile::NamedTempFile>,
    ) {
        let command = BackgroundCommand {
            command,
            is_killed: false,
            last_read: [OutputPosition::default(); 2],
            _files: files,
        };
        self.0.insert(id, command);
    }

    /// Ends all of them.
    pub(crate) async fn shut_down(&mut self) {
        let commands = std::mem::take(&mut self.0);
        commands
            .values()
            .for_each(|background| background.command.kill());
        let ended = futures::future::join_all(
            commands
                .values()
                .map(|background| background.command.ended()),
        );
        // Not to be waited for longer than this; the kill itself is certain.
        let _ = tokio::time::timeout(REAP, ended).await;
    }

    /// The command that the call names, and its id.
    fn named(
        &mut self,
        arguments: &Arguments<'_>,
        [name, alias]: [&str; 2],
    ) -> Result<(String, &mut BackgroundCommand), Failure> {
        let id = arguments.text(name).or_else(|| arguments.text(alias));
        let id = id.unwrap_or_default().to_string();
        let known: Vec<String> = self.0.keys().map(|id| format!("`{id}`")).collect();
        match self.0.get_mut(&id) {
            Some(command) => Ok((id, command)),
            None => {
                let message = format!("this run has no command `{id}` in the background");
                Err(Failure::new(FailureKind::BadParameters, message)
                    .with_help(match known.len() {
                    0 => "start one with `run_in_background` of claude__bash; it ends with its run"
                        .to_owned(),
                    _ => format!("it has {}", known.join(", ")),
                }))
            }
        }
    }
}

/// `claude__bash_output`: what was printed since the last call, but what a secret may begin with is left to the next one.
/// A retry reads what its first attempt read, and what came after it.
pub(super) fn output(
    toolbox: &mut Toolbox,
    arguments: &Arguments<'_>,
    request: &CallRequest,
    recorder: &mut Recorder<'_>,
) -> Result<Json, Failure> {
    let filter = filter(arguments)?;
    let (id, background) = toolbox
        .background
        .named(arguments, ["bash_id", "shell_id"])?;
    let [last_start, last_end] = background.last_read;
    let start = match request.attempt {
        1 => last_end,
        _ => last_start,
    };
    let new = background
        .command
        .output_since(start, |text| recorder.redactor().unfinished(text));
    background.last_read = [start, new.position];
    let kept = |text: String| match &filter {
        None => text,
        Some(filter) => text
            .split_inclusive('\n')
            .filter(|line| filter.is_match(line.trim_end_matches(['\r', '\n'])))
            .collect(),
    };
    let NewOutput {
        stdout,
        stderr,
        warnings,
        is_truncated,
        end,
        ..
    } = new;
    let result = json!({
        "shell_id": id,
        "status": status(end, background.is_killed),
        "exit_code": end.map(CommandEnd::shell_code),
        "stdout": kept(stdout),
        "stderr": kept(stderr),
        "truncated": is_truncated,
    });
    toolbox.unless_lossy(result, &warnings, recorder)
}

/// Which lines are wanted, if not all.
pub(super) fn filter(arguments: &Arguments<'_>) -> Result<Option<Regex>, Failure> {
    let filter = arguments.text("filter").map(|filter| {
        Regex::new(&filter.to_string()).map_err(|error| {
            let message = format!("`filter` is not a valid regular expression: {error}");
            Failure::new(FailureKind::BadParameters, message)
        })
    });
    filter.transpose()
}

/// `claude__kill_shell`. A command that has ended stays as it ended.
pub(super) async fn kill(
    toolbox: &mut Toolbox,
    arguments: &Arguments<'_>,
) -> Result<Json, Failure> {
    let (id, background) = toolbox
        .background
        .named(arguments, ["shell_id", "bash_id"])?;
    if background.command.end().is_none() {
        background.is_killed = true;
    }
    background.command.kill();
    let end = tokio::time::timeout(REAP, background.command.ended()).await;
    let end = end.unwrap_or(CommandEnd::KILLED);
    Ok(json!({
        "shell_id": id,
        "status": status(Some(end), background.is_killed),
        "exit_code": end.shell_code(),
    }))
}

fn status(end: Option<CommandEnd>, is_killed: bool) -> &'static str {
    match end {
        None => "running",
        Some(_) if is_killed => "killed",
        Some(end) if end.shell_code() == 0 => "completed",
        Some(_) => "failed",
    }
}
