//! What is settled before a scenario is played, and how its trace begins and ends.

use std::ops::RangeInclusive;

use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::{as_text, find_credentials, secret_texts};
use cuecard_tool_call::format::server_of;
use cuecard_tool_call::model::ToolCallScenario;
use cuecard_tool_call::script::{Given, Verdict};
use cuecard_trace::{End, Header, Metrics, RunStatus};
use serde_json::json;

use super::Played;
use super::pool::{known_servers, unknown_server};
use cuecard_mcp::config::Config;

/// Values that must not be shown: marked by the user, or named like a credential.
pub fn secrets(scenario: &ToolCallScenario, given: &[Given]) -> Vec<String> {
    let mut secrets = Vec::new();
    for given in given.iter().filter(|given| given.secret) {
        secrets.push(as_text(&given.value).into_owned());
        // The environment gives an object as its text.
        let inside = given
            .value
            .as_str()
            .filter(|text| text.starts_with(['{', '[']));
        let inside = inside.and_then(|text| serde_json::from_str(text).ok());
        secret_texts(inside.as_ref().unwrap_or(&given.value), &mut secrets);
    }
    for variable in &scenario.variables {
        let mut object = serde_json::Map::new();
        object.insert(variable.name.clone(), variable.default.clone());
        find_credentials(&object.into(), &mut secrets);
    }
    secrets
}

/// Whether a step in `range` calls a server.
pub fn needs_servers(scenario: &ToolCallScenario, range: &RangeInclusive<u64>) -> bool {
    scenario
        .steps_in(range)
        .iter()
        .any(|step| server_of(scenario, step, |_| false).is_some())
}

/// The config for a run of `scenario`: what is doubtful about the servers it needs is among its warnings.
///
/// # Errors
/// One for each server that is needed and not defined, or not as it should be.
pub fn use_servers(
    mut config: Config,
    scenario: &ToolCallScenario,
    range: &RangeInclusive<u64>,
) -> Result<Config, Vec<Diagnostic>> {
    let mut missing = Vec::new();
    let mut named: Vec<String> = Vec::new();
    let known = known_servers(&config);
    for step in scenario.steps_in(range) {
        // A reference as a server's name is known only in the run.
        let Some(server) =
            server_of(scenario, step, &known).filter(|server| !server.contains("{{"))
        else {
            continue;
        };
        if named.contains(&server) {
            continue;
        }
        if !known(&server) {
            missing.push(unknown_server(&config, &server).at(&scenario.source, step.tool_span));
        } else if let Some(Err(diagnostic)) = config.server(&server).map(|server| &server.spec) {
            missing.push(diagnostic.clone());
        }
        named.push(server);
    }
    let is_any_unknown = named.iter().any(|name| !known(name));
    drop(known);
    if missing.is_empty() {
        config.warn_about(&named);
        return Ok(config);
    }
    if is_any_unknown {
        // The server may stand in a file that can't be read.
        missing.extend(config.broken.into_iter().flat_map(|broken| broken.errors));
    }
    Err(missing)
}

/// `environment.viewport`, if it has a width and a height.
pub fn viewport(scenario: &ToolCallScenario) -> Option<(u64, u64)> {
    let viewport = scenario.environment.get("viewport")?;
    Some((
        viewport.get("width")?.as_u64()?,
        viewport.get("height")?.as_u64()?,
    ))
}

/// The header of the trace of a run called `run_id`.
pub fn header(scenario: &ToolCallScenario, run_id: &str) -> Header {
    Header::live(
        run_id,
        json!({"name": scenario.name, "file": scenario.source.name(), "metadata": scenario.metadata, "environment": scenario.environment}),
        json!({"supports_tool_trace": true, "supports_replay": true}),
    )
}

/// The end of its trace.
pub fn end(played: &Played) -> End {
    End {
        final_output: None,
        status: match played.verdict {
            Verdict::Passed if played.summary.tolerated > 0 => RunStatus::Partial,
            Verdict::Passed => RunStatus::Success,
            Verdict::Failed => RunStatus::Failed,
            Verdict::Blocked | Verdict::Interrupted => RunStatus::Blocked,
        },
        metrics: Metrics {
            timing_ms_total: played.took.as_micros() as f64 / 1000.0,
            timing_synthesized: false,
            tool_call_count: played.summary.calls,
            retry_count: played.summary.retries,
            token_usage: None,
        },
        artifacts: serde_json::Map::new(),
    }
}
