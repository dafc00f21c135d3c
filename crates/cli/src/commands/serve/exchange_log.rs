//! The log of exchanges of a run: a line of JSON each.

use std::fs::File;
use std::io::Write as _;

use cuecard_llm::Exchange;

use crate::commands::teller::OutputWriter;
use crate::inputs::io_reason;

/// The log.
pub(crate) struct ExchangeLog {
    /// Until it can't be written.
    file: Option<File>,
}

impl ExchangeLog {
    /// A log in `file`.
    pub(crate) fn new(file: File) -> Self {
        Self { file: Some(file) }
    }

    /// Keeps an exchange.
    pub(crate) fn keep(&mut self, exchange: &Exchange, teller: &OutputWriter) {
        if let Some(file) = &mut self.file
            && let Ok(mut line) = serde_json::to_vec(exchange)
        {
            line.push(b'\n');
            // A full disk is no reason to stop serving.
            if let Err(error) = file.write_all(&line) {
                let reason = io_reason(&error);
                teller.progress(&format!("warning: stopped writing exchanges: {reason}"));
                self.file = None;
            }
        }
    }
}
