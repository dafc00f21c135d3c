//! What is told of the exchanges of a run, and the log that has a line of JSON for each.

use std::fs::File;
use std::io::Write as _;

use cuecard_llm::Exchange;
use cuecard_source::value::cut;
use serde_json::{Value, json};

use crate::commands::teller::OutputWriter;
use crate::inputs::io_reason;

/// The log, and who is told.
pub(crate) struct ExchangeLog {
    /// Until it can't be written.
    file: Option<File>,
    pub(crate) teller: OutputWriter,
}

impl ExchangeLog {
    /// A log in `file`.
    pub(crate) fn new(file: File, teller: OutputWriter) -> Self {
        Self {
            file: Some(file),
            teller,
        }
    }

    /// Keeps an exchange.
    pub(crate) fn keep(&mut self, exchange: &Exchange) {
        if let Some(file) = &mut self.file
            && let Ok(mut line) = serde_json::to_vec(exchange)
        {
            line.push(b'\n');
            // A full disk is no reason to stop serving.
            if let Err(error) = file.write_all(&line) {
                let reason = io_reason(&error);
                let warning = format!("warning: stopped writing exchanges: {reason}");
                self.teller.progress(&warning);
                self.file = None;
            }
        }
    }

    /// An exchange for people: its turn, how it ended, what was answered, and where that stands.
    pub(crate) fn line(
        &self,
        exchange: &Exchange,
        turn: &str,
        is_good: bool,
        (what, place): (&str, &str),
    ) {
        let form = match exchange.is_stream {
            true => "stream",
            false => "plain",
        };
        let line = format!(
            "  {turn:<8} {} {what:<46} {:<9} {form:<6} {} ms   {place}",
            self.teller.mark(is_good),
            exchange.dialect,
            exchange.due_ms
        );
        self.teller.progress(line.trim_end());
    }
}

/// An exchange for machines.
pub(crate) fn document(exchange: &Exchange) -> Value {
    json!({
        "number": exchange.number,
        "dialect": exchange.dialect,
        "path": exchange.path,
        "lane": exchange.lane,
        "outcome": exchange.outcome,
        "status": exchange.status,
        "stream": exchange.is_stream,
        "session": exchange.session,
        "scenario": exchange.scenario,
        "selection": exchange.selection,
        "turn": exchange.turn,
        "place": exchange.place,
        "answer": exchange.answer,
        "faults": exchange.faults,
        "error": exchange.error,
    })
}

/// The status of an exchange without an answer, and the first line of why there is none.
pub(crate) fn error_of(exchange: &Exchange) -> String {
    let error = exchange.error.as_deref().unwrap_or_default();
    let first = error.lines().next().unwrap_or_default();
    format!("{} {}", exchange.status, cut(first, 60))
}
