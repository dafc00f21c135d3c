//! `claude__bash`.

use std::time::Duration;

use cuecard_core::script::{Failure, FailureKind};
use serde_json::Value as Json;

use super::super::toolbox::{Toolbox, timed_out};
use super::arguments::Arguments;
use super::files::to_json;
use super::refused;
use crate::workspace::commands::{CommandRequest, DEFAULT_MAX_OUTPUT, run as run_command};

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
        return failed(timed_out(limit));
    }
    if let Some(wanted) = arguments.count("expect_exit")?
        && outcome.exit_code.and_then(|code| u64::try_from(code).ok()) != Some(wanted)
    {
        let ended = match outcome.exit_code {
            Some(code) => format!("exit code {code}"),
            None => "its timeout".to_owned(),
        };
        let mut failure = Failure::new(
            FailureKind::ToolError,
            format!("the command ended with {ended}, expected {wanted}"),
        );
        let last = outcome.stderr.trim_end();
        if !last.is_empty() {
            let from = last.char_indices().rev().nth(999).map_or(0, |(at, _)| at);
            failure
                .notes
                .push(format!("its standard error: {}", &last[from..]));
        }
        return failed(failure);
    }
    Ok(result)
}
