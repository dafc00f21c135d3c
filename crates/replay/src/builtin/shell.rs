//! `claude__bash`.

use std::time::Duration;

use cuecard_tool_call::script::{Failure, FailureKind};
use serde_json::Value as Json;

use super::super::toolbox::{Toolbox, command_timed_out};
use super::arguments::Arguments;
use super::files::to_json;
use super::refused;
use cuecard_workspace::commands::{CommandRequest, DEFAULT_MAX_OUTPUT, run as run_command};

/// As in the original: two minutes.
const TIMEOUT: Duration = Duration::from_secs(120);

pub(super) async fn run(
    toolbox: &Toolbox,
    arguments: &Arguments<'_>,
    limit: Option<Duration>,
) -> Result<Json, Failure> {
    let bound = toolbox
        .policy
        .command(&arguments.required_text("command")?)
        .map_err(refused)?;
    let own = match arguments.number("timeout")? {
        Some(milliseconds) => {
            Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(Duration::MAX)
        }
        None => TIMEOUT,
    };
    let capped = limit.filter(|limit| *limit < own);
    let outcome = run_command(
        CommandRequest {
            command: bound.script,
            cwd: toolbox.working_directory.clone(),
            env: bound.env,
            timeout: capped.unwrap_or(own),
            max_output: DEFAULT_MAX_OUTPUT,
        },
        &toolbox.environment,
    )
    .await
    .map_err(|error| {
        let mut failure = Failure::new(FailureKind::ToolError, error.to_string());
        failure.help = error.help();
        failure
    })?;
    let result = to_json(&outcome)?;
    let failed = |mut failure: Failure| {
        failure.result = Some(result.clone());
        Err(failure)
    };
    if let (Some(limit), true) = (capped, outcome.timed_out) {
        return failed(command_timed_out(limit));
    }
    if let Some(wanted) = arguments.count("expect_exit")?
        && outcome.exit_code.and_then(|code| u64::try_from(code).ok()) != Some(wanted)
    {
        let mut failure = unexpected_end(outcome.exit_code, own, wanted);
        let last = outcome.stderr.trim_end();
        if !last.is_empty() {
            let from = last.char_indices().rev().nth(999).map_or(0, |(at, _)| at);
            failure.notes.push(format!("stderr: {}", &last[from..]));
        }
        return failed(failure);
    }
    Ok(result)
}

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
        .with_help("increase the timeout: \"timeout\": MILLISECONDS in its params"),
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
