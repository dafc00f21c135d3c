//! `play --dry-run`: what can be known without side effects; with `--connect` the servers are asked too.

use std::ffi::OsString;

use cuecard_core::diagnostic::Diagnostic;
use cuecard_core::formats::tool_call::effects;
use cuecard_core::reports::diagnostics::list_to_json;
use cuecard_players::replay::{Connections, Pool, known_servers};
use cuecard_players::runtime::clock::Clock;
use cuecard_players::runtime::tap::Recorder;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::play::{Prepared, effects_json, effects_line, effects_list};
use super::{connect, play_output};
use crate::args::PlayArgs;
use crate::exit_code::ExitCode;
use crate::output::{Output, stdout};

pub(super) async fn run(
    args: &PlayArgs,
    prepared: Prepared,
    environment: &[(OsString, OsString)],
    output: &Output,
    stop: &CancellationToken,
) -> ExitCode {
    let scenario = prepared.scenario.clone();
    let in_range: Vec<usize> = (0..scenario.steps.len())
        .filter(|&idx| prepared.range.contains(&scenario.steps[idx].number))
        .collect();
    play_output::header(
        output,
        &scenario,
        &prepared.range,
        &prepared.config,
        &prepared.redactor,
    );
    let would_do = effects(&scenario, &prepared.range, known_servers(&prepared.config));
    let facts = effects_line(&would_do);
    let mut connections = Connections::default();
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut interrupted = false;
    let redactor = prepared.redactor.clone();
    if args.connect {
        let mut recorder = Recorder::new(Clock::start(), prepared.redactor);
        recorder.tell(Box::new(play_output::Terminal::new(
            args,
            output,
            &play_output::labels(&scenario),
        )));
        let mut pool = Pool::new(prepared.config, environment.to_vec(), prepared.timeout);
        let steps = || in_range.iter().copied();
        tokio::select! {
            biased;
            () = stop.cancelled() => interrupted = true,
            () = connections.open(&scenario, steps(), &mut pool, &mut recorder) => {
                found = connections.check(&scenario, &prepared.bindings, steps(), &pool, &mut recorder);
            }
        }
        pool.shut_down().await;
        recorder.settle();
    }
    if interrupted {
        return ExitCode::Interrupted;
    }
    connect::show(&connections.connected, output);
    output.diagnostics(&found, args.json, &redactor);
    let exit = connect::exit_code(&found);
    if args.json {
        let mut document = json!({
            "scenario_name": scenario.name,
            "dry_run": true,
            "success": exit == ExitCode::Passed,
            "total_steps": in_range.len(),
            "steps": in_range.iter().map(|&idx| {
                let step = &scenario.steps[idx];
                json!({"step": step.number, "id": step.id, "tool": step.tool.to_string()})
            }).collect::<Vec<_>>(),
            "effects": effects_json(&would_do),
            "connected": connect::document(&connections.connected),
            "diagnostics": list_to_json(&found),
        });
        redactor.json(&mut document);
        stdout(&format!("{document:#}\n"));
    } else {
        let verdict = if exit == ExitCode::Passed {
            "nothing was run"
        } else {
            "nothing was run, and it would fail"
        };
        stdout(&format!(
            "{verdict}{}{facts}\n{}",
            output.stdout.dot(),
            effects_list(&would_do)
        ));
    }
    exit
}
