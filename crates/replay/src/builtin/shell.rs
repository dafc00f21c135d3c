//! `claude__bash`.

use std::ffi::OsString;
use std::time::Duration;

use cuecard_source::value::Text;
use cuecard_tool_call::model::Parse;
use cuecard_tool_call::script::{CallRequest, Failure, FailureKind};
use serde_json::{Value as Json, json};

use super::super::toolbox::{Found, ToolSettings, Toolbox, command_timed_out};
use super::arguments::Arguments;
use super::files::{failed, to_json};
use super::{json_of, refused};
use cuecard_workspace::commands::{
    CommandRequest, DEFAULT_MAX_OUTPUT, run as run_command, start_in_background,
};

/// As in the original: two minutes.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A command with all that it gets.
struct BoundCommand {
    request: CommandRequest,
    /// Data that it reads.
    files: Vec<tempfile::NamedTempFile>,
    /// The time that its own parameter gives it.
    own_timeout: Duration,
    /// The time of the step, if it is shorter.
    capped: Option<Duration>,
}

impl BoundCommand {
    fn new(
        settings: &ToolSettings,
        arguments: &Arguments<'_>,
        limit: Option<Duration>,
    ) -> Result<Self, Failure> {
        let own = arguments.members("env");
        let mut env = variables(settings, &own)?;
        let command = arguments.required_text("command");
        let bound = settings
            .policy
            .command_with_env(&command, &own)
            .map_err(refused)?;
        // Last, so that what the command was bound with wins.
        env.extend(bound.env);
        let own_timeout = match arguments.number("timeout") {
            Some(milliseconds) => {
                Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(Duration::MAX)
            }
            None => TIMEOUT,
        };
        let capped = limit.filter(|limit| *limit < own_timeout);
        Ok(Self {
            request: CommandRequest {
                command: bound.script,
                cwd: settings.working_directory.clone(),
                env,
                timeout: capped.unwrap_or(own_timeout),
                max_output: DEFAULT_MAX_OUTPUT,
            },
            files: bound.files,
            own_timeout,
            capped,
        })
    }
}

/// Starts a command that goes on beside the steps.
pub(super) async fn start(
    toolbox: &mut Toolbox,
    arguments: &Arguments<'_>,
    request: &CallRequest,
) -> Result<Json, Failure> {
    let command = BoundCommand::new(toolbox, arguments, request.timeout)?;
    let id = toolbox.background.id(&request.call_id)?;
    let started = start_in_background(command.request, &toolbox.environment).await;
    let running = started.map_err(failed)?;
    toolbox.background.add(id.clone(), running, command.files);
    Ok(json!({"shell_id": id}))
}

/// Runs a command to its end.
pub(super) async fn run(
    settings: &ToolSettings,
    arguments: &Arguments<'_>,
    request: &CallRequest,
) -> Result<Found, Failure> {
    let BoundCommand {
        request: command,
        files: _files,
        own_timeout: own,
        capped,
    } = BoundCommand::new(settings, arguments, request.timeout)?;
    let expected_exit = arguments.count("expect_exit");
    let outcome = run_command(command, &settings.environment)
        .await
        .map_err(failed)?;
    let mut result = to_json(&outcome)?;
    if let (Some(limit), true) = (capped, outcome.timed_out) {
        let mut failure = command_timed_out(limit);
        failure.result = Some(result);
        return Err(failure);
    }
    let mut warnings = outcome.warnings.clone();
    let ended = outcome.exit_code.and_then(|code| u64::try_from(code).ok());
    let failure = match expected_exit {
        Some(wanted) if ended != Some(wanted) => {
            Some(unexpected_end(outcome.exit_code, own, wanted))
        }
        _ if request.parse == Parse::Json && outcome.timed_out => {
            let seconds = own.as_secs_f64();
            let message =
                format!("the command timed out after {seconds} s, before its JSON was whole");
            Some(Failure::new(FailureKind::ToolError, message).with_help(LONGER))
        }
        _ if request.parse == Parse::Json => {
            let what = "the output of the command";
            match json_of(what, &outcome.stdout, outcome.truncated) {
                Ok((json, changed)) => {
                    result["stdout"] = json;
                    warnings.extend(changed);
                    None
                }
                Err(failure) => Some(failure),
            }
        }
        _ => None,
    };
    if let Some(mut failure) = failure {
        // Test runners and compilers say on standard output why they fail.
        let streams = [("stderr", &outcome.stderr), ("stdout", &outcome.stdout)];
        let streams = streams.map(|(name, text)| (name, text.trim_end()));
        let said = streams.into_iter().filter(|(_, text)| !text.is_empty());
        failure.notes.extend(said.map(|(name, text)| {
            // Behind the mark, a secret of which the beginning is gone is still known.
            match text.char_indices().rev().nth(999) {
                Some((from, _)) if from > 0 => format!("{name}: …{}", &text[from..]),
                _ => format!("{name}: {text}"),
            }
        }));
        failure.result = Some(result);
        return Err(failure);
    }
    Ok((result, warnings))
}

/// The variables of `env`, whose values may be data.
fn variables(
    settings: &ToolSettings,
    env: &[(String, Text)],
) -> Result<Vec<(OsString, OsString)>, Failure> {
    let mut variables = Vec::new();
    for (name, value) in env {
        let value = settings.policy.environment(name, value).map_err(refused)?;
        variables.push((name.into(), value.into()));
    }
    Ok(variables)
}

const LONGER: &str = "increase the timeout: \"timeout\": MILLISECONDS in its params";

/// The command did not end with the exit code that the step expects; without one its own time ran out.
fn unexpected_end(exit_code: Option<i32>, own: Duration, wanted: u64) -> Failure {
    let failure = |message| Failure::new(FailureKind::ToolError, message);
    match exit_code {
        Some(code) => failure(format!(
            "the command ended with exit code {code}, expected {wanted}"
        )),
        None => failure(format!(
            "the command timed out after {} s; expected exit code {wanted}",
            own.as_secs_f64()
        ))
        .with_help(LONGER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_s_timeout_is_said_in_its_seconds() {
        let failure = command_timed_out(Duration::from_millis(200));
        assert_eq!(failure.kind, FailureKind::Timeout);
        assert_eq!(failure.message, "the command timed out after 0.2 s");
    }

    #[test]
    fn an_end_that_was_not_expected_says_which_and_why() {
        let own = Duration::from_millis(200);
        let failure = unexpected_end(Some(3), own, 0);
        assert_eq!(
            (failure.message.as_str(), failure.help),
            ("the command ended with exit code 3, expected 0", None)
        );
        let failure = unexpected_end(None, own, 0);
        assert_eq!(
            failure.message,
            "the command timed out after 0.2 s; expected exit code 0"
        );
        assert!(
            failure
                .help
                .is_some_and(|help| help.contains("MILLISECONDS"))
        );
    }
}
