//! What `record llm` prints: when it is ready, what passes, what was written.

use cuecard_llm::record::{RecordedFile, Recording, RunningRecorder};
use cuecard_llm::{Exchange, Notice};
use serde_json::json;

use super::super::serve::exchange_log::{ExchangeLog, document, error_of};
use crate::commands::teller::{OutputWriter, environment};
use crate::output::counted;

/// It listens.
pub(super) fn ready(
    teller: &OutputWriter,
    running: &RunningRecorder,
    upstream: &str,
    variables: &[(&str, String)],
) {
    let url = running.base_url();
    if teller.is_json {
        teller.event(
            "ready",
            json!({
                "url": url, "port": running.port(), "upstream": upstream, "environment": environment(variables),
            }),
        );
        return;
    }
    teller.line(&format!("ready  {url}   records {upstream}"));
    for (name, value) in variables {
        teller.line(&format!("  {name}={value}"));
    }
}

/// What was written, last.
pub(super) fn recorded(teller: &OutputWriter, recording: &Recording) {
    if teller.is_json {
        teller.last_event(
            "recorded",
            json!({
                "files": recording.files,
                "exchanges": recording.n_exchanges,
                "recorded": recording.n_recorded,
                "left_out": recording.n_left_out,
                "write_error": recording.write_error,
                "trace_error": recording.trace_error,
            }),
        );
        return;
    }
    if recording.files.is_empty() {
        let why = match recording.n_exchanges {
            0 => "no request received; was the client started with the variables above?",
            _ => "no request got an answer of a model that can be recorded",
        };
        teller.last_line(&format!("recorded  nothing: {why}"));
        return;
    }
    for file in &recording.files {
        teller.last_line(&format!(
            "recorded  {}   {}",
            file.path.display(),
            said(file)
        ));
    }
    let paths: Vec<String> = recording
        .files
        .iter()
        .map(|file| file.path.display().to_string())
        .collect();
    teller.last_line(&format!(
        "play it with  cuecard serve llm {}",
        paths.join(" ")
    ));
}

/// What is in a file: `3 turns, 1 side call`.
fn said(file: &RecordedFile) -> String {
    let turns = counted(file.n_turns, "turn");
    match file.n_side_calls {
        0 => turns,
        n => format!("{turns}, {}", counted(n, "side call")),
    }
}

/// Tells what happens, on the thread of the writer.
pub(super) fn see(log: &mut ExchangeLog, notice: &Notice) {
    match notice {
        Notice::Finding(found) => log.teller.finding(found),
        Notice::Exchange(exchange) => {
            log.keep(exchange);
            match log.teller.is_json {
                true => {
                    let mut event = document(exchange);
                    event["file"] = json!(exchange.place);
                    log.teller.event("exchange", event);
                }
                false => tell_exchange(log, exchange),
            }
        }
    }
}

fn tell_exchange(log: &ExchangeLog, exchange: &Exchange) {
    let turn = match exchange.turn {
        Some(turn) => format!("turn {turn}"),
        None => exchange.outcome.replace('_', " "),
    };
    let what = match (&exchange.answer, &exchange.error) {
        (Some(answer), None) => answer.clone(),
        (_, Some(_)) => error_of(exchange),
        (None, None) => format!("{} {} {}", exchange.status, exchange.method, exchange.path),
    };
    let place = exchange.place.as_deref().unwrap_or_default();
    log.line(
        exchange,
        &turn,
        exchange.outcome != "left_out",
        (&what, place),
    );
}
