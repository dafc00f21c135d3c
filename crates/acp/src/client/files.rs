//! What an agent gets of its client: files of the session's folder, and terminals.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuecard_runtime::policy::inside;
use cuecard_runtime::process::ProcessSpec;
use cuecard_runtime::text_file::io_reason;
use cuecard_source::value::Json;
use cuecard_workspace::running::{CommandEnd, RunningCommand};
use rustix::process::Signal;
use serde_json::json;

use crate::peer::Answer;
use crate::rpc::{INTERNAL_ERROR, INVALID_PARAMS, NOT_FOUND, RpcError};

/// A larger file is not read, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// So much of a terminal's output is kept if the agent names no limit, in bytes.
const MAX_OUTPUT: usize = 1 << 20;

/// So many terminals may be open.
const MAX_TERMINALS: usize = 256;

/// Reads a file as `fs/read_text_file` has it: from a line on, so many lines.
pub(super) fn read(root: &Path, params: &Json) -> Answer {
    let path = path_of(root, params)?;
    let not_found =
        |message: String| RpcError::new(NOT_FOUND, message).with_data(params["path"].clone());
    let told = params["path"].as_str().unwrap_or_default();
    let metadata = std::fs::metadata(&path)
        .map_err(|error| not_found(format!("`{told}` can't be read: {}", io_reason(&error))))?;
    if !metadata.is_file() || metadata.len() > MAX_FILE {
        let message = format!("`{told}` is no file, or larger than {} MiB", MAX_FILE >> 20);
        return Err(RpcError::new(INVALID_PARAMS, message));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| {
        RpcError::new(
            INTERNAL_ERROR,
            format!("`{told}` can't be read: {}", io_reason(&error)),
        )
    })?;
    Ok(json!({"content": lines_of(&text, params)}))
}

/// The lines of a text that a request asks for.
pub(super) fn lines_of(text: &str, params: &Json) -> String {
    let line = params["line"].as_u64().unwrap_or(1).max(1);
    let limit = params["limit"].as_u64().unwrap_or(u64::MAX);
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let lines = text.split_inclusive('\n');
    lines.skip(count(line - 1)).take(count(limit)).collect()
}

/// The text of a file; `None` if there is none.
pub(super) fn text_of(root: &Path, path: &str) -> Option<String> {
    let path = inside(root, Path::new(path)).ok()?;
    let metadata = std::fs::metadata(&path).ok()?;
    let is_text = metadata.is_file() && metadata.len() <= MAX_FILE;
    is_text
        .then(|| std::fs::read_to_string(&path).ok())
        .flatten()
}

/// Writes a file as `fs/write_text_file` has it.
pub(super) fn write(root: &Path, params: &Json) -> Answer {
    let path = path_of(root, params)?;
    // Who opens a pipe waits for its reader.
    if std::fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
        let told = params["path"].as_str().unwrap_or_default();
        return Err(RpcError::new(
            INVALID_PARAMS,
            format!("`{told}` is no file"),
        ));
    }
    let content = params["content"].as_str();
    let content =
        content.ok_or_else(|| RpcError::new(INVALID_PARAMS, "`content` must be a string"))?;
    let folder = path.parent().unwrap_or(root);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, content))
        .map(|()| json!({}))
        .map_err(|error| {
            let told = params["path"].as_str().unwrap_or_default();
            RpcError::new(
                INTERNAL_ERROR,
                format!("`{told}` can't be written: {}", io_reason(&error)),
            )
        })
}

fn path_of(root: &Path, params: &Json) -> Result<PathBuf, RpcError> {
    let invalid = |message: String| RpcError::new(INVALID_PARAMS, message);
    let told = params["path"].as_str().unwrap_or_default();
    if !told.starts_with('/') {
        return Err(invalid(format!("`path` must be absolute, not `{told}`")));
    }
    inside(root, Path::new(told)).map_err(|why| invalid(format!("`{told}` {why}")))
}

/// The words of a command that a request is about.
pub(super) fn line_of(params: &Json) -> Vec<String> {
    let args = params["args"].as_array().into_iter().flatten();
    let words = std::iter::once(&params["command"]).chain(args);
    words.filter_map(Json::as_str).map(str::to_owned).collect()
}

/// The terminals of a client.
#[derive(Debug)]
pub(super) struct Terminals {
    root: PathBuf,
    environment: Vec<(OsString, OsString)>,
    open: Mutex<State>,
    n_waiting: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    by_id: HashMap<String, RunningCommand>,
    /// What those printed that are released.
    printed: HashMap<String, String>,
    /// How they ended.
    ended: HashMap<String, CommandEnd>,
    /// Those whose calls were over before they were.
    outlived: HashSet<String>,
    count: usize,
}

impl Terminals {
    /// None yet. Commands run in `root`, with this environment.
    pub(super) fn new(root: PathBuf, environment: Vec<(OsString, OsString)>) -> Self {
        Self {
            root,
            environment,
            open: Mutex::default(),
            n_waiting: AtomicUsize::new(0),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a terminal printed so far.
    pub(super) fn printed(&self, id: &str) -> Option<String> {
        let state = self.state();
        let open = state.by_id.get(id).map(RunningCommand::text);
        open.or_else(|| state.printed.get(id).cloned())
    }

    /// The agent says that what it ran in terminals is over.
    pub(super) fn are_said_to_end(&self, ids: &[String]) {
        let mut state = self.state();
        let is_running = |id: &&String| {
            let terminal = state.by_id.get(*id);
            terminal.is_some_and(|terminal| terminal.end().is_none())
        };
        let running: Vec<String> = ids.iter().filter(is_running).cloned().collect();
        state.outlived.extend(running);
    }

    /// The code that a command ended with, that of a signal as shells have it; `None` if it had not ended when its call
    /// did.
    pub(super) fn exit_code(&self, id: &str) -> Option<i64> {
        let state = self.state();
        let open = state.by_id.get(id).and_then(RunningCommand::end);
        let end = open.or_else(|| state.ended.get(id).copied())?;
        let code = end.code.unwrap_or(128 + end.signal.unwrap_or_default());
        (!state.outlived.contains(id)).then_some(i64::from(code))
    }

    /// Whether the agent waits for a command.
    pub(super) fn is_waited_for(&self) -> bool {
        self.n_waiting.load(Ordering::Relaxed) > 0
    }

    /// The terminals that are still open.
    pub(super) fn n_open(&self) -> usize {
        self.state().by_id.len()
    }

    /// Kills what still runs.
    pub(super) fn close(&self) {
        for (_, terminal) in self.state().by_id.drain() {
            terminal.kill();
        }
    }

    /// Answers a request of the agent's. `terminal/wait_for_exit` takes as long as the command does.
    pub(super) async fn answer(&self, method: &str, params: &Json) -> Answer {
        if method == "terminal/create" {
            return self.create(params);
        }
        let id = params["terminalId"].as_str().unwrap_or_default();
        let terminal = self.state().by_id.get(id).cloned();
        let terminal = terminal
            .ok_or_else(|| RpcError::new(NOT_FOUND, format!("there is no terminal `{id}`")))?;
        match method {
            "terminal/output" => {
                let mut answer = json!({
                    "output": terminal.text(),
                    "truncated": terminal.is_truncated(),
                });
                if let Some(end) = terminal.end() {
                    answer["exitStatus"] = exit_status(end);
                }
                Ok(answer)
            }
            "terminal/wait_for_exit" => {
                self.n_waiting.fetch_add(1, Ordering::Relaxed);
                let ended = terminal.ended().await;
                self.n_waiting.fetch_sub(1, Ordering::Relaxed);
                Ok(exit_status(ended))
            }
            "terminal/kill" => {
                terminal.kill();
                terminal.ended().await;
                Ok(json!({}))
            }
            _ => {
                let mut state = self.state();
                state.by_id.remove(id);
                state.printed.insert(id.to_owned(), terminal.text());
                // One that still runs is killed.
                let killed = CommandEnd {
                    code: None,
                    signal: Some(Signal::KILL.as_raw()),
                };
                let end = terminal.end().unwrap_or(killed);
                state.ended.insert(id.to_owned(), end);
                terminal.kill();
                Ok(json!({}))
            }
        }
    }

    fn create(&self, params: &Json) -> Answer {
        let invalid = |message: String| RpcError::new(INVALID_PARAMS, message);
        let program = params["command"]
            .as_str()
            .filter(|program| !program.is_empty());
        let program = program.ok_or_else(|| invalid("`command` must be a string".to_owned()))?;
        let cwd = match params["cwd"].as_str() {
            None => self.root.clone(),
            Some(cwd) => inside(&self.root, Path::new(cwd))
                .map_err(|why| invalid(format!("`cwd`: `{cwd}` {why}")))?,
        };
        let texts = |json: &Json| -> Vec<OsString> {
            let items = json.as_array().into_iter().flatten();
            items.filter_map(Json::as_str).map(OsString::from).collect()
        };
        let given = params["env"].as_array().into_iter().flatten();
        let given =
            given.filter_map(|entry| Some((entry["name"].as_str()?, entry["value"].as_str()?)));
        let given = given.map(|(name, value)| (name.into(), value.into()));
        let mut args = texts(&params["args"]);
        let mut program = program;
        // Some agents send a line for a shell.
        if args.is_empty() && program.contains(char::is_whitespace) && !Path::new(program).exists()
        {
            args = vec!["-c".into(), program.into()];
            program = "sh";
        }
        let spec = ProcessSpec {
            program: program.into(),
            args,
            env: self.environment.iter().cloned().chain(given).collect(),
            cwd: Some(cwd),
        };
        let mut state = self.state();
        if state.by_id.len() >= MAX_TERMINALS {
            let message = format!("there are {MAX_TERMINALS} terminals already");
            return Err(RpcError::new(INTERNAL_ERROR, message));
        }
        let limit = params["outputByteLimit"].as_u64();
        let limit = limit.map_or(MAX_OUTPUT, |limit| {
            usize::try_from(limit).map_or(MAX_OUTPUT, |limit| limit.min(MAX_OUTPUT))
        });
        let terminal = RunningCommand::start(&spec, &[], limit).map_err(|error| {
            let message = format!("`{program}` can't be started: {}", io_reason(&error));
            RpcError::new(INTERNAL_ERROR, message)
        })?;
        state.count += 1;
        let id = format!("terminal-{}", state.count);
        state.by_id.insert(id.clone(), terminal);
        Ok(json!({"terminalId": id}))
    }
}

/// How a command ended, as the protocol has it.
fn exit_status(end: CommandEnd) -> Json {
    json!({"exitCode": end.code, "signal": end.signal.map(signal_name)})
}

/// `SIGKILL`.
fn signal_name(signal: i32) -> String {
    match Signal::from_named_raw(signal) {
        Some(signal) => format!("{signal:?}")
            .replace("Signal::", "SIG")
            .replace('"', ""),
        None => format!("SIG{signal}"),
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names() {
        let (code, signal) = (None, Some(9));
        let status = exit_status(CommandEnd { code, signal });
        assert_eq!(status, json!({"exitCode": null, "signal": "SIGKILL"}));
    }
}
