//! A recording of a terminal: what was printed and when, as asciinema plays it (asciicast, version 2).

use std::io::Write;

use cuecard_runtime::clock::Clock;
use serde_json::json;

/// No more is recorded, in bytes.
const MAX_RECORDED: usize = 64 << 20;

/// A recording that is being written. What can't be written is not there: the run goes on.
pub(crate) struct Cast {
    out: Box<dyn Write + Send>,
    clock: Clock,
    /// The beginning of a character whose end was not printed yet.
    rest: Vec<u8>,
    n_bytes: usize,
}

impl Cast {
    pub(crate) fn new(
        mut out: Box<dyn Write + Send>,
        (width, height): (u16, u16),
        clock: Clock,
    ) -> Self {
        let started = clock.timestamp(std::time::Duration::ZERO).as_second();
        let header = json!({"version": 2, "width": width, "height": height, "timestamp": started});
        let _ = writeln!(out, "{header}");
        Self {
            out,
            clock,
            rest: Vec::new(),
            n_bytes: 0,
        }
    }

    pub(crate) fn output(&mut self, bytes: &[u8]) {
        if self.n_bytes > MAX_RECORDED {
            return;
        }
        self.n_bytes += bytes.len();
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(_) => self.rest.len(),
            // The end of it may come yet.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.rest.len(),
        };
        let rest = self.rest.split_off(whole);
        let text = std::mem::replace(&mut self.rest, rest);
        self.event("o", &String::from_utf8_lossy(&text));
        if self.n_bytes > MAX_RECORDED {
            self.event(
                "o",
                "\r\n[the recording ends here: the program printed more than 64 MiB]\r\n",
            );
        }
    }

    pub(crate) fn resized(&mut self, (columns, rows): (u16, u16)) {
        self.event("r", &format!("{columns}x{rows}"));
    }

    fn event(&mut self, code: &str, data: &str) {
        let seconds = self.clock.now().as_secs_f64();
        let _ = writeln!(self.out, "{}", json!([seconds, code, data]));
    }

    pub(crate) fn finish(&mut self) {
        let _ = self.out.flush();
    }
}
