//! Commands of the agent's, in the foreground and in the background.

use std::time::Duration;

use cuecard_runtime::process::ProcessSpec;
use cuecard_runtime::text_file::io_reason;
use cuecard_source::value::Text;
use cuecard_timeline::model::ToolUse;
use cuecard_workspace::commands::{DEFAULT_MAX_OUTPUT, find_shell};
use cuecard_workspace::running::{CommandEnd, OutputPosition, RunningCommand};
use regex::Regex;

use super::{Arguments, Call, Done, TIMEOUT, ToolOutcome, Tools};

impl Tools {
    /// Starts the command of `runCmd` or `sed`.
    pub(super) fn command(&mut self, call: &ToolUse) -> Result<Call, String> {
        let args = Arguments(&call.args);
        let line = match call.tool.as_str() {
            "sed" => self.sed(&args)?,
            _ => args.text("cmd")?.to_owned(),
        };
        let folder = self.readable(args.optional("cwd").unwrap_or("."))?;
        if !folder.is_dir() {
            return Err(format!("`{}` is not a folder", self.told(&folder)));
        }
        let bound = self.policy.command(&Text::from(line.as_str()));
        let bound = bound.map_err(|refusal| refusal.message)?;
        let spec = ProcessSpec {
            program: find_shell(&self.environment).into(),
            // Both streams are one, so what is printed keeps its order.
            args: vec!["-c".into(), format!("exec 2>&1; {}", bound.script).into()],
            env: bound.env,
            cwd: Some(folder),
        };
        let command = RunningCommand::start(&spec, &self.environment, DEFAULT_MAX_OUTPUT)
            .map_err(|error| format!("the shell can't be started: {}", io_reason(&error)))?;
        if args.is("run_in_background") {
            let id = format!("bash_{}", self.background.len() + 1);
            let position = OutputPosition::default();
            self.background.insert(id.clone(), (command, position));
            let text = format!("Running in the background with id: {id}");
            return Ok(Call::Answered(Ok(text).into()));
        }
        Ok(Call::Command {
            command,
            timeout: timeout_of(&args),
        })
    }

    /// What a command in the background printed since it was asked last.
    pub(super) fn output_of(&mut self, args: &Arguments<'_>) -> Done {
        let id = args.text("bash_id")?;
        let filter = args.optional("filter").map(Regex::new).transpose();
        let filter = filter.map_err(|error| format!("`filter` is no pattern: {error}"))?;
        let Some((command, told)) = self.background.get_mut(id) else {
            return Err(self.unknown(id));
        };
        // Both streams are one.
        let new = command.output_since(*told, |_| 0);
        *told = new.position;
        let lines = new.stdout.lines();
        let kept = lines.filter(|line| filter.as_ref().is_none_or(|filter| filter.is_match(line)));
        Ok(kept.collect::<Vec<_>>().join("\n"))
    }

    pub(super) fn kill(&mut self, args: &Arguments<'_>) -> Done {
        let id = args.text("shell_id")?;
        let Some((command, _)) = self.background.get(id) else {
            return Err(self.unknown(id));
        };
        command.kill();
        Ok(format!("Killed {id}"))
    }

    fn unknown(&self, id: &str) -> String {
        let known: Vec<&str> = self.background.keys().map(String::as_str).collect();
        match known.is_empty() {
            true => format!("there is no command `{id}` in the background"),
            false => format!(
                "there is no command `{id}` in the background, only {}",
                known.join(", ")
            ),
        }
    }

    /// `sed` as a command; its file is one of the workspace.
    fn sed(&self, args: &Arguments<'_>) -> Result<String, String> {
        let in_place = args.is("inplace");
        let path = args.text("path")?;
        let path = match in_place {
            true => self.writable(path)?,
            false => self.readable(path)?,
        };
        let expression = quoted(args.text("expression")?);
        let file = quoted(&path.to_string_lossy());
        let flag = if in_place { "-i " } else { "" };
        Ok(format!("sed {flag}-e {expression} -- {file}"))
    }
}

/// How long a command may take: its `timeout` in milliseconds, as agents have it.
fn timeout_of(args: &Arguments<'_>) -> Duration {
    let timeout = args.number("timeout").map(Duration::from_millis);
    timeout.unwrap_or(TIMEOUT)
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// What a command that has ended answers; `None` if its time ran out.
pub(in crate::agent) fn command_outcome(
    output: &str,
    end: Option<CommandEnd>,
    timeout: Duration,
) -> ToolOutcome {
    let output = output.trim_end_matches('\n');
    let note = match end {
        None => format!("timed out after {} s", timeout.as_secs_f64()),
        Some(end) if end.shell_code() == 0 => {
            return ToolOutcome {
                text: output.to_owned(),
                is_error: false,
            };
        }
        Some(_) if !output.is_empty() => String::new(),
        Some(end) => format!("exit code {}", end.shell_code()),
    };
    let parts = [output, &note];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    ToolOutcome {
        text: parts.join("\n"),
        is_error: true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_takes_as_long_as_its_call_says() {
        for (args, seconds) in [
            (json!({"cmd": "make"}), 30),
            (json!({"cmd": "make", "timeout": 157_000}), 157),
            (json!({"cmd": "make", "timeout": 7_200_000}), 7_200),
        ] {
            let timeout = timeout_of(&Arguments(&args));
            assert_eq!(timeout, Duration::from_secs(seconds), "{args}");
        }
    }
}
