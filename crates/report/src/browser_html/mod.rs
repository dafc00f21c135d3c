//! A run of browser steps as one HTML file that opens from disk and asks nobody for anything: of each step the page
//! before it with the target outlined on the picture, what is known of the element, and what went wrong.
//!
//! As in the report of tests, the page is fixed and all else is data that its script shows as text.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use base64::Engine as _;
use serde::Serialize;
use serde_json::json;

use super::counted;
use super::html::parts::{BASE_SCRIPT, BASE_STYLE, around, fill, write_inert};
use cuecard_source::value::{Json, Redactor};
use cuecard_tool_call::script::{Summary, Verdict};
use cuecard_trace::{Milliseconds, StepError, StepStatus};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Pictures in one report, in bytes: 64 MiB. A browser that reads more is slow.
const MAX_PICTURES: usize = 64 << 20;

/// A step of a run in a browser.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BrowserStep {
    /// Its number, from 1.
    pub number: u64,
    /// Its id.
    pub id: String,
    /// Its sentence.
    pub words: String,
    /// What it does, as steps say it.
    pub action: String,
    /// How it ended; none if it did not run.
    #[serde(skip)]
    pub status: Option<StepStatus>,
    /// How long it took, in milliseconds.
    pub ms: Option<f64>,
    /// Its element in words.
    pub target: Option<String>,
    /// The selector that it was looked for by first.
    pub selector: Option<String>,
    /// What it types, chooses or expects, with references instead of values.
    pub value: Option<String>,
    /// Whether its element was the one that was meant.
    pub verdict: Option<BrowserVerdict>,
    /// Elements that come near, in words.
    pub candidates: Vec<String>,
    /// The address of the page before it.
    pub url: String,
    /// The title of the page before it.
    pub title: String,
    /// The page before it, as text.
    pub page: String,
    /// The text that it read.
    pub extracted: Option<String>,
    /// Dialogs, downloads and warnings, in words.
    pub notes: Vec<String>,
    /// What the page wrote as errors to its console.
    pub console: Vec<String>,
    /// Requests that failed.
    pub requests: Vec<String>,
    /// Why it failed.
    pub error: Option<StepError>,
    /// The page before it.
    #[serde(skip)]
    pub picture: Option<Picture>,
    /// The page after it.
    #[serde(skip)]
    pub after: Option<Picture>,
}

/// Whether an element is the one that was meant.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BrowserVerdict {
    /// same, healed, renamed, ambiguous or gone.
    pub word: String,
    /// The check that failed, or what changed.
    pub reason: Option<String>,
}

/// A picture of a page.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    /// The picture. Nothing secret is on it.
    pub png: Vec<u8>,
    /// Width and height of what it shows, in CSS pixels.
    pub size: (f64, f64),
    /// Where the target is on it: left, top, width, height.
    pub target: Option<[f64; 4]>,
}

/// What is known at the end.
#[derive(Debug, Clone)]
pub struct BrowserEnd<'a> {
    /// What was played.
    pub name: &'a str,
    /// Where it began, with references instead of values.
    pub url: &'a str,
    /// How it ended.
    pub verdict: Verdict,
    /// Counts.
    pub summary: Summary,
    /// Why it failed.
    pub failure: Option<&'a str>,
    /// When it began.
    pub started: jiff::Timestamp,
    /// How long it took.
    pub took: Duration,
}

/// Writes the report as steps end. Holds none of them.
#[derive(Debug)]
pub struct BrowserHtml<W> {
    out: W,
    /// What is left for pictures.
    room: usize,
    /// How many steps ended in each way, by the words of the page.
    counts: BTreeMap<&'static str, usize>,
}

impl<W: Write> BrowserHtml<W> {
    /// Begins the report.
    ///
    /// # Errors
    /// Those of `out`, here and in the other methods.
    pub fn begin(mut out: W) -> io::Result<Self> {
        let (head, _) = around(PAGE, "<!-- steps -->");
        fill(head, &[BASE_STYLE, ("/* style */", STYLE)], &mut out)?;
        // A list that is closed by `end`.
        out.write_all(b"[null")?;
        Ok(Self {
            out,
            room: MAX_PICTURES,
            counts: BTreeMap::new(),
        })
    }

    /// Takes note of a step that ended or did not run. Secrets are taken out of all its texts.
    ///
    /// # Errors
    /// See [`Self::begin`].
    pub fn step(&mut self, step: &BrowserStep, secrets: &Redactor) -> io::Result<()> {
        let mut entry = serde_json::to_value(step)?;
        let status = status(step);
        *self.counts.entry(status).or_default() += 1;
        secrets.json(&mut entry);
        entry["status"] = status.into();
        let has_failed = status == "fail";
        entry["picture"] = self.picture(step.picture.as_ref(), has_failed);
        entry["after"] = self.picture(step.after.as_ref(), has_failed);
        self.out.write_all(b",\n")?;
        write_inert(entry.to_string().as_bytes(), &mut self.out)
    }

    fn picture(&mut self, picture: Option<&Picture>, has_failed: bool) -> Json {
        let Some(picture) = picture else {
            return Json::Null;
        };
        // Whatever passes before it, there is room for what fails.
        let kept_free = if has_failed { 0 } else { MAX_PICTURES / 4 };
        if picture.png.len() > self.room.saturating_sub(kept_free) {
            return Json::Null;
        }
        self.room -= picture.png.len();
        let (width, height) = picture.size;
        json!({
            "data": base64::engine::general_purpose::STANDARD.encode(&picture.png),
            "width": width,
            "height": height,
            "target": picture.target,
        })
    }

    /// Ends the report.
    ///
    /// # Errors
    /// See [`Self::begin`].
    pub fn end(mut self, end: &BrowserEnd<'_>, secrets: &Redactor) -> io::Result<W> {
        self.out.write_all(b"]")?;
        let (_, tail) = around(PAGE, "<!-- steps -->");
        let (before, rest) = around(tail, "<!-- run -->");
        let words = words(end);
        let summary = end.summary;
        let count = |status: &str| self.counts.get(status).copied().unwrap_or(0);
        let ran = ["pass", "healed", "warn", "fail"].map(count);
        let mut run = json!({
            "name": end.name,
            "url": end.url,
            "words": words,
            "failure": end.failure,
            "started": Milliseconds(end.started),
            "ms": super::test_json::milliseconds(end.took),
            "version": env!("CARGO_PKG_VERSION"),
            "counts": {
                "all": summary.total,
                "pass": ran[0],
                "healed": ran[1],
                "warn": ran[2],
                "fail": ran[3],
                // Also those of a run that could not begin, of which nobody heard.
                "skipped": summary.total.saturating_sub(ran.iter().sum()),
            },
        });
        secrets.json(&mut run);
        run["state"] = state(end).into();
        self.out.write_all(before.as_bytes())?;
        write_inert(run.to_string().as_bytes(), &mut self.out)?;
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

/// How a step ended, by the words of the page.
fn status(step: &BrowserStep) -> &'static str {
    let is_healed = step
        .verdict
        .as_ref()
        .is_some_and(|verdict| verdict.word == "healed");
    match step.status {
        Some(StepStatus::Passed) if is_healed => "healed",
        Some(StepStatus::Passed) => "pass",
        Some(StepStatus::Failed | StepStatus::Unknown) => "fail",
        Some(StepStatus::Tolerated) => "warn",
        Some(StepStatus::Skipped) | None => "skipped",
    }
}

fn state(end: &BrowserEnd<'_>) -> &'static str {
    match end.verdict {
        Verdict::Passed if end.summary.healed > 0 => "healed",
        Verdict::Passed => "pass",
        Verdict::Failed => "fail",
        Verdict::Blocked | Verdict::Interrupted => "error",
    }
}

/// The verdict as a sentence.
fn words(end: &BrowserEnd<'_>) -> String {
    let summary = end.summary;
    let steps = counted(summary.total, "step");
    match end.verdict {
        Verdict::Passed if end.summary.healed > 0 => {
            format!("All {steps} passed, {} of them healed", end.summary.healed)
        }
        Verdict::Passed if summary.tolerated > 0 => {
            format!("{} of {steps} passed, the rest may fail", summary.passed)
        }
        Verdict::Passed => format!("All {steps} passed"),
        Verdict::Failed => {
            let ran = summary.passed + summary.tolerated + summary.failed + summary.unknown;
            let failed = summary.failed + summary.unknown;
            match summary.total.saturating_sub(ran + summary.skipped) {
                0 => format!("{failed} of {steps} failed"),
                left => format!("{failed} of {steps} failed, {left} did not run"),
            }
        }
        Verdict::Blocked => "The steps could not be played".to_owned(),
        Verdict::Interrupted => "The run was interrupted".to_owned(),
    }
}
