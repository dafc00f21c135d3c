//! What `record llm` prints: when it is ready, what passes, what was written.

use cuecard_llm::record::{RecordedFile, Recording, RunningRecorder};
use cuecard_llm::{Exchange, Notice};
use cuecard_source::value::cut;
use serde_json::json;

use super::super::serve::exchange_log::ExchangeLog;
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

/// Told of everything that happens, on the thread of the writer.
pub(super) struct Watching {
    teller: OutputWriter,
    exchanges: ExchangeLog,
}

impl Watching {
    pub(super) fn new(teller: OutputWriter, exchanges: ExchangeLog) -> Self {
        Self { teller, exchanges }
    }

    pub(super) fn see(&mut self, notice: &Notice) {
        match notice {
            Notice::Finding(found) => self.teller.finding(found),
            Notice::Exchange(exchange) => {
                self.exchanges.keep(exchange, &self.teller);
                match self.teller.is_json {
                    true => self.exchange_line(exchange),
                    false => self.exchange(exchange),
                }
            }
        }
    }

    fn exchange_line(&self, exchange: &Exchange) {
        self.teller.event(
            "exchange",
            json!({
                "number": exchange.number,
                "dialect": exchange.dialect,
                "path": exchange.path,
                "outcome": exchange.outcome,
                "status": exchange.status,
                "stream": exchange.is_stream,
                "scenario": exchange.scenario,
                "file": exchange.place,
                "turn": exchange.turn,
                "answer": exchange.answer,
                "error": exchange.error,
            }),
        );
    }

    fn exchange(&self, exchange: &Exchange) {
        let form = if exchange.is_stream {
            "stream"
        } else {
            "plain"
        };
        let turn = match exchange.turn {
            Some(turn) => format!("turn {turn}"),
            None => exchange.outcome.replace('_', " "),
        };
        let is_good = !matches!(exchange.outcome, "left_out");
        let what = match (&exchange.answer, &exchange.error) {
            (Some(answer), None) => answer.clone(),
            (_, Some(error)) => {
                let first = error.lines().next().unwrap_or_default();
                format!("{} {}", exchange.status, cut(first, 60))
            }
            (None, None) => format!("{} {} {}", exchange.status, exchange.method, exchange.path),
        };
        let line = format!(
            "  {turn:<8} {} {what:<46} {:<9} {form:<6} {} ms   {}",
            self.teller.mark(is_good),
            exchange.dialect,
            exchange.due_ms,
            exchange.place.as_deref().unwrap_or_default(),
        );
        self.teller.progress(line.trim_end());
    }
}
