//! Results of tests as one HTML file that opens from disk and asks nobody for anything.
//!
//! The page is fixed; what is in it is data that its script shows as text. The browser is told to run that one
//! script and no other (`Content-Security-Policy`), so nothing in a trace can become markup or code.

mod data;
pub(super) mod parts;

use std::io::{self, Write};
use std::time::Duration;

use serde_json::json;

use super::counted;
use super::test_json::status;
use parts::{BASE_SCRIPT, BASE_STYLE, around, fill, write_inert};

use cuecard_judge::{TestResult, TestStatus, Totals};
use cuecard_trace::{Milliseconds, Trace};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Traces in one report, in bytes: 64 MiB. A browser that reads more is slow.
const MAX_TRACES: usize = 64 << 20;

/// Writes the report as tests end. Holds none of them.
#[derive(Debug)]
pub struct HtmlReport<W> {
    out: W,
    totals: Totals,
    /// What is left for traces.
    room: usize,
    started: Option<jiff::Timestamp>,
    entry: Vec<u8>,
}

impl<W: Write> HtmlReport<W> {
    /// Begins the report.
    ///
    /// # Errors
    /// Those of `out`, here and in the other methods.
    pub fn begin(mut out: W) -> io::Result<Self> {
        let (head, _) = around(PAGE, "<!-- tests -->");
        fill(head, &[BASE_STYLE, ("/* style */", STYLE)], &mut out)?;
        // A list that is closed by `end`.
        out.write_all(b"[null")?;
        Ok(Self {
            out,
            totals: Totals::default(),
            room: MAX_TRACES,
            started: None,
            entry: Vec::new(),
        })
    }

    /// Takes note of a test that ended, with its trace if there is one.
    ///
    /// # Errors
    /// See [`Self::begin`].
    pub fn result(&mut self, result: &TestResult, trace: Option<&Trace>) -> io::Result<()> {
        self.totals.add(result);
        let started = result.run.started;
        self.started = Some(self.started.map_or(started, |first| first.min(started)));
        self.entry.clear();
        // Whatever passes before it, there is room for what fails.
        let kept_free = match result.status {
            TestStatus::Fail | TestStatus::Error => 0,
            TestStatus::Pass | TestStatus::Skipped => MAX_TRACES / 4,
        };
        let room = self.room.saturating_sub(kept_free);
        let used = data::write(result, trace, room, &mut self.entry)?;
        self.room = self.room.saturating_sub(used);
        self.out.write_all(b",\n")?;
        write_inert(&self.entry, &mut self.out)
    }

    /// Ends the report.
    ///
    /// # Errors
    /// See [`Self::begin`].
    pub fn end(mut self, took: Duration) -> io::Result<W> {
        self.out.write_all(b"]")?;
        let (_, tail) = around(PAGE, "<!-- tests -->");
        let (before, rest) = around(tail, "<!-- run -->");
        let totals = &self.totals;
        let words = verdict(totals);
        let run = json!({
            "words": words,
            "state": status(totals).as_str(),
            "started": self.started.map(Milliseconds),
            "ms": super::test_json::milliseconds(took),
            "version": env!("CARGO_PKG_VERSION"),
            "counts": {
                "all": totals.tests,
                "fail": totals.failed,
                "error": totals.errors,
                "pass": totals.passed,
                "skipped": totals.skipped,
                "warnings": totals.warnings,
                "vacuous": totals.vacuous,
                "unproven": totals.unproven,
            },
        });
        self.out.write_all(before.as_bytes())?;
        write_inert(&serde_json::to_vec(&run)?, &mut self.out)?;
        // The words are ours and have no markup in them.
        let marks = [
            ("<!-- words -->", words.as_str()),
            BASE_SCRIPT,
            ("/* script */", SCRIPT),
        ];
        fill(rest, &marks, &mut self.out)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The verdict as a sentence: `2 of 5 tests failed, 1 could not be judged`.
fn verdict(totals: &Totals) -> String {
    let tests = counted(totals.tests, "test");
    match (totals.failed, totals.errors) {
        (0, 0) if totals.tests == 0 => "No tests".to_owned(),
        (0, 0) if totals.passed == 0 => format!("{tests} skipped"),
        (0, 0) if totals.skipped == 0 && totals.tests == 1 => "The test passed".to_owned(),
        (0, 0) if totals.skipped == 0 => format!("All {tests} passed"),
        (0, 0) => format!("{} of {tests} passed, the rest skipped", totals.passed),
        (0, errors) => format!("{errors} of {tests} could not be evaluated"),
        (failed, 0) => format!("{failed} of {tests} failed"),
        (failed, errors) => format!("{failed} of {tests} failed, {errors} could not be evaluated"),
    }
}

#[cfg(test)]
mod tests;
