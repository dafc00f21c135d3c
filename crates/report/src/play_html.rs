//! A played tool-call scenario as one HTML file without any script: it opens from disk, and everything can be read and
//! folded without JavaScript.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use base64::Engine as _;
use cuecard_source::value::{Json, cut};
use cuecard_tool_call::script::{Verdict, step_of_call};
use cuecard_trace::{Event, EventData, StepFinished, StepStatus};

use super::html::parts::BASE_STYLE;
use super::play_terminal::{command_end, counts, label, tally};
use super::{PlayTotals, Style, duration};

/// How much of a value is shown, in bytes: the trace has all of it.
const MAX_VALUE: usize = 32 << 10;
/// Steps in one report with their screenshots, in bytes: 96 MiB. Of what comes after that only steps that failed have details.
const MAX_STEPS: usize = 96 << 20;
/// Screenshots in one report, in bytes: 24 MiB, which are 32 in base64.
const MAX_PICTURES: usize = 24 << 20;

const STYLE: &str = "\
summary.test-head { cursor: pointer; list-style: none; }
summary.test-head::-webkit-details-marker { display: none; }
img.shot { display: block; max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 6px; }
details.test > .test-body > h4, .test-body .note { margin-top: .8rem; }
";

/// Collects steps as they end, each with its call and its result.
#[derive(Debug)]
pub struct PlayHtml {
    name: String,
    file: String,
    steps: String,
    failures: String,
    /// What is shown below the step that runs: its elements, notes, and screenshots behind them.
    elements: String,
    details: String,
    pictures: String,
    /// The calls of the steps under way, and of the one that ended last.
    calls: BTreeMap<u64, Call>,
    /// The step that ended last: its screenshot comes behind it.
    ended: Option<StepFinished>,
    /// What is left for screenshots.
    room: usize,
}

/// The last call of a step, or of the element that it runs for.
#[derive(Debug, Default)]
struct Call {
    params: Option<String>,
    result: Option<String>,
    /// How a command ended, if not with the exit code 0.
    end: Option<String>,
}

impl PlayHtml {
    /// A report on the scenario called `name`, read from `file`.
    pub fn new(name: &str, file: &str) -> Self {
        Self {
            name: name.to_owned(),
            file: file.to_owned(),
            steps: String::new(),
            failures: String::new(),
            elements: String::new(),
            details: String::new(),
            pictures: String::new(),
            calls: BTreeMap::new(),
            ended: None,
            room: MAX_PICTURES,
        }
    }

    /// Takes note of an event of the run.
    pub fn event(&mut self, event: &Event) {
        match &event.data {
            EventData::StepStarted(_) => self.flush(),
            EventData::ToolCall(call) => {
                let step = step_of_call(&call.call_id).unwrap_or_default();
                self.calls.entry(step).or_default().params = Some(shown(&call.args));
            }
            EventData::ToolResult(result) => {
                let step = step_of_call(&result.call_id).unwrap_or_default();
                let call = self.calls.entry(step).or_default();
                call.result = Some(shown(&result.result));
                call.end = command_end(result);
            }
            EventData::Log(log) if log.level != "debug" => self.fact(&log.level, &log.message),
            EventData::RequestAnswered(_) => self.fact("question", &event.brief(MAX_VALUE)),
            EventData::StepFinished(step) => {
                self.flush();
                self.ended = Some(step.clone());
            }
            EventData::ElementFinished(step) => self.element(step),
            _ => {}
        }
    }

    /// Takes note of a screenshot of the step that runs or ended last: the name of its file, and what is in it.
    pub fn screenshot(&mut self, label: &str, file: &str, bytes: &[u8]) {
        self.fact("screenshot", file);
        let extension = file.rsplit('.').next().unwrap_or_default();
        let media_type = match extension.to_ascii_lowercase().as_str() {
            "png" => "png",
            "jpg" | "jpeg" => "jpeg",
            "webp" => "webp",
            _ => return,
        };
        if bytes.len() > self.room {
            return;
        }
        self.room -= bytes.len();
        let _ = write!(
            self.pictures,
            "<img class=\"shot\" src=\"data:image/{media_type};base64,{}\" alt=\"{}\">",
            base64::engine::general_purpose::STANDARD.encode(bytes),
            escaped(label)
        );
    }

    /// The step that ended last is complete.
    fn flush(&mut self) {
        if let Some(step) = self.ended.take() {
            self.step(&step);
            self.elements.clear();
            self.details.clear();
            self.pictures.clear();
            self.calls.remove(&step.step);
        }
    }

    fn fact(&mut self, name: &str, value: &str) {
        if self.details.len() < MAX_VALUE {
            let value = cut(value, MAX_VALUE);
            // Writing into a string can't fail.
            let _ = write!(
                self.details,
                "<p class=\"note\"><b>{}</b> {}</p>",
                escaped(name),
                escaped(&value)
            );
        }
    }

    /// Takes note of an element of the step that runs.
    fn element(&mut self, step: &StepFinished) {
        let (state, mark, word) = state(step.status);
        let is_bad = matches!(step.status, StepStatus::Failed | StepStatus::Unknown);
        if is_bad || self.steps.len() + self.elements.len() < MAX_STEPS {
            let open = if is_bad { " open" } else { "" };
            let title = step.element_label().unwrap_or_default();
            let title = match &step.description {
                Some(description) => format!("{title}: {description}"),
                None => title,
            };
            let _ = write!(
                self.elements,
                "<details{open}><summary><span class=\"mark {state}\" role=\"img\" aria-label=\"{word}\">{mark}</span> {}</summary>{}</details>",
                escaped(&title),
                self.values(step)
            );
        }
        self.calls.remove(&step.step);
    }

    fn step(&mut self, step: &StepFinished) {
        let (state, mark, word) = state(step.status);
        let label = label(step.description.as_deref(), step.id.as_deref(), &step.tool);
        let is_bad = matches!(step.status, StepStatus::Failed | StepStatus::Unknown);
        let end = self
            .calls
            .get_mut(&step.step)
            .and_then(|call| call.end.take());
        let tally = match (end, step.restored) {
            (_, Some(restored)) => restored.as_str().to_owned(),
            (Some(end), None) => end,
            (None, None) => tally(step),
        };
        let open = if is_bad { " open" } else { "" };
        let took = duration(Duration::from_secs_f64(step.duration_ms.max(0.0) / 1000.0));
        let number = step.step;
        let group = step.group.as_deref();
        let group = group.map_or(String::new(), |group| {
            format!(" · group {}", escaped(group))
        });
        let _ = write!(
            self.steps,
            "<details class=\"test\" id=\"step-{number}\"{open}><summary class=\"test-head\">\
             <span class=\"mark {state}\" role=\"img\" aria-label=\"{word}\">{mark}</span>\
             <span class=\"name\">{number}. {}<small>{}{group}</small></span>\
             <span class=\"tally\">{tally}</span><span class=\"took\">{took}</span></summary>\
             <div class=\"test-body\">",
            escaped(label),
            escaped(&step.tool),
        );
        if is_bad || self.steps.len() < MAX_STEPS {
            let values = self.values(step);
            for part in [&values, &self.elements, &self.details, &self.pictures] {
                self.steps.push_str(part);
            }
        } else {
            self.steps
                .push_str("<p>The report is full: see the trace.</p>");
        }
        self.steps.push_str("</div></details>\n");
        if is_bad {
            let message = step.error.as_ref().map_or(word, |error| &error.message);
            let _ = write!(
                self.failures,
                "<li class=\"{state}\"><span class=\"mark\">{mark}</span><div><a href=\"#step-{number}\">{number}. {}</a><p>{}</p></div></li>",
                escaped(label),
                escaped(&cut(message, 1000))
            );
        }
    }

    /// Returns what a step or an element says when it is unfolded.
    fn values(&self, step: &StepFinished) -> String {
        let mut out = String::new();
        let mut value = |name: &str, text: &str| {
            let _ = write!(out, "<h4>{name}</h4><pre>{}</pre>", escaped(text));
        };
        if let Some(error) = &step.error {
            let lines: Vec<&str> = std::iter::once(&error.message)
                .chain(&error.notes)
                .chain(&error.help)
                .map(String::as_str)
                .collect();
            value(&escaped(&error.code), &cut(&lines.join("\n"), MAX_VALUE));
        }
        if let Some(condition) = &step.skipped_by {
            value("Condition is false", condition);
        }
        let earlier = step.attempts.iter().rev().skip(1).rev();
        let attempts: Vec<String> = earlier
            .filter_map(|one| Some(format!("{}: {}", one.attempt, one.error.as_ref()?)))
            .collect();
        if !attempts.is_empty() {
            value("Failed attempts", &cut(&attempts.join("\n"), MAX_VALUE));
        }
        let call = self.calls.get(&step.step);
        if let Some(params) = call.and_then(|call| call.params.as_ref()) {
            value("Parameters", params);
        }
        if let Some(result) = call.and_then(|call| call.result.as_ref()) {
            value("Result", result);
        }
        if !step.outputs.is_empty() {
            value("Outputs", &shown(&Json::Object(step.outputs.clone())));
        }
        out
    }

    /// Writes the page.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(mut self, totals: &PlayTotals, out: &mut impl Write) -> io::Result<()> {
        self.flush();
        let (state, mark, words) = match totals.verdict {
            Verdict::Passed => ("pass", "✓", "passed"),
            Verdict::Failed => ("fail", "✗", "failed"),
            Verdict::Blocked => ("fail", "✗", "could not run"),
            Verdict::Interrupted => ("warn", "?", "was interrupted"),
        };
        let counts = counts(Style::default(), &totals.summary, totals.took);
        let name = escaped(&self.name);
        write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{name} {words} – Cuecard report</title>\n<style>{}{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip-link\" href=\"#steps\">Skip to the steps</a>\n\
             <header>\n<div class=\"bar\"><span class=\"brand\">Cuecard</span><span id=\"when\">{}</span></div>\n\
             <h1><span class=\"mark {state}\" aria-hidden=\"true\">{mark}</span>{name} {words}</h1>\n<p id=\"facts\">{}</p>\n",
            BASE_STYLE.1,
            escaped(&self.file),
            escaped(&counts),
        )?;
        if !self.failures.is_empty() || totals.error.is_some() {
            out.write_all(b"<section id=\"failures\" aria-labelledby=\"failures-title\"><h2 id=\"failures-title\">Needs attention</h2>")?;
            match self.failures.is_empty() {
                true => write!(
                    out,
                    "<p>{}</p>",
                    escaped(totals.error.as_deref().unwrap_or_default())
                )?,
                false => write!(out, "<ul id=\"failure-list\">{}</ul>", self.failures)?,
            }
            out.write_all(b"</section>\n")?;
        }
        write!(
            out,
            "</header>\n<main id=\"steps\" tabindex=\"-1\">\n{}</main>\n<footer>Full trace: <code>{}</code> · Cuecard {}</footer>\n</body>\n</html>\n",
            self.steps,
            escaped(&totals.trace_path),
            env!("CARGO_PKG_VERSION"),
        )
    }
}

/// The class, the mark and the word of a status.
fn state(status: StepStatus) -> (&'static str, &'static str, &'static str) {
    match status {
        StepStatus::Passed => ("pass", "✓", "passed"),
        StepStatus::Failed => ("fail", "✗", "failed"),
        StepStatus::Tolerated => ("warn", "!", "tolerated"),
        StepStatus::Skipped => ("skip", "–", "skipped"),
        StepStatus::Unknown => ("warn", "?", "unknown"),
    }
}

/// A value as people read it: a text as it is, anything else as JSON.
fn shown(value: &Json) -> String {
    let text = match value {
        Json::String(text) => Cow::Borrowed(text.as_str()),
        other => Cow::Owned(format!("{other:#}")),
    };
    cut(&text, MAX_VALUE).into_owned()
}

/// Text in which nothing is markup.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // A browser would make something else of it.
            '\0' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_trace::{StepError, StepStarted, ToolCall, ToolResult};
    use serde_json::json;

    const HOSTILE: &str = "</pre><script>alert(1)</script><b id='x\">&amp;";

    #[test]
    fn steps_of_a_group_keep_their_calls_and_answered_questions_are_told() {
        let mut report = PlayHtml::new("x", "x");
        let call = |step: u64| {
            EventData::ToolCall(ToolCall {
                tool: "t".into(),
                call_id: format!("call_{step}_1").into(),
                args: json!(format!("params {step}")).into(),
                native_tool: None,
                attempt: None,
            })
        };
        let result = |step: u64| {
            EventData::ToolResult(ToolResult {
                tool: "t".into(),
                call_id: format!("call_{step}_1").into(),
                success: true,
                result: json!(format!("result {step}")).into(),
                text: None,
                structured: None,
                fixture_id: None,
                duration_ms: None,
            })
        };
        let end = |step: u64| {
            let finished = json!({"step": step, "tool": "t", "status": "passed", "duration_ms": 1});
            EventData::StepFinished(serde_json::from_value(finished).expect("a step"))
        };
        let asked = EventData::RequestAnswered(cuecard_trace::RequestAnswered {
            server: "s".to_owned(),
            method: "roots/list".to_owned(),
            result: None,
            answer: Some("/answers/roots".to_owned()),
            error: None,
        });
        let events = [
            call(1),
            call(2),
            asked,
            result(1),
            end(1),
            result(2),
            end(2),
        ];
        for data in events {
            report.event(&Event::live(1, jiff::Timestamp::UNIX_EPOCH, data));
        }
        report.flush();
        let (first, second) = report.steps.split_once("step-2").expect("both are there");
        assert!(
            first.contains("s: roots/list answered by /answers/roots"),
            "{first}"
        );
        for (page, number, other) in [(first, 1, 2), (second, 2, 1)] {
            for word in ["params", "result"] {
                assert!(page.contains(&format!("{word} {number}")), "{page}");
                assert!(!page.contains(&format!("{word} {other}")), "{page}");
            }
        }
    }

    fn page(status: StepStatus) -> String {
        page_with(status, &[])
    }

    fn page_with(status: StepStatus, screenshots: &[(&str, usize)]) -> String {
        let mut report = PlayHtml::new(HOSTILE, HOSTILE);
        let tool = "mcp__demo__echo";
        let events = [
            EventData::StepStarted(StepStarted {
                step: 1,
                id: None,
                tool: tool.into(),
                description: None,
                element: None,
                elements: None,
            }),
            EventData::ToolCall(ToolCall {
                tool: tool.into(),
                call_id: "call_1_1".into(),
                args: json!({"text": HOSTILE}).into(),
                native_tool: None,
                attempt: Some(1),
            }),
            EventData::ToolResult(ToolResult {
                tool: tool.into(),
                call_id: "call_1_1".into(),
                success: true,
                result: json!(HOSTILE).into(),
                text: None,
                structured: None,
                fixture_id: None,
                duration_ms: None,
            }),
            EventData::StepFinished(StepFinished {
                step: 1,
                id: Some(HOSTILE.to_owned()),
                tool: tool.into(),
                description: None,
                status,
                duration_ms: 12.0,
                attempts: Vec::new(),
                error: (status == StepStatus::Failed).then(|| StepError {
                    code: "C-RUN-02".to_owned(),
                    error_type: "tool_error".to_owned(),
                    message: HOSTILE.to_owned(),
                    notes: vec![HOSTILE.to_owned()],
                    help: None,
                }),
                skipped_by: None,
                group: Some(HOSTILE.to_owned()),
                healed: None,
                outputs: serde_json::Map::new(),
                restored: None,
                element: None,
                elements: None,
            }),
        ];
        for (seq, data) in (1..).zip(events) {
            let ts = "2026-01-01T00:00:00Z".parse().expect("a time");
            report.event(&Event::live(seq, ts, data));
        }
        for (file, size) in screenshots {
            report.screenshot(HOSTILE, file, &vec![0; *size]);
        }
        let totals = PlayTotals {
            trace_path: HOSTILE.to_owned(),
            ..PlayTotals::of_step(status == StepStatus::Failed)
        };
        let mut out = Vec::new();
        report.write(&totals, &mut out).expect("a vector takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn nothing_in_a_run_is_markup() {
        let page = page(StepStatus::Failed);
        assert!(
            !page.contains("<script") && !page.contains("<b id"),
            "{page}"
        );
        assert!(
            page.contains("&lt;/pre&gt;&lt;script&gt;alert(1)"),
            "{page}"
        );
        assert!(page.contains("default-src 'none'"), "{page}");
        assert!(page.contains(" · group &lt;"), "{page}");
    }

    #[test]
    fn a_screenshot_is_shown_below_its_step_if_it_fits() {
        let page = page_with(
            StepStatus::Passed,
            &[
                ("a.PNG", 3),
                ("b.txt", 3),
                ("c.jpeg", MAX_PICTURES),
                ("d.webp", 3),
            ],
        );
        let shown: Vec<&str> = page.matches("src=\"data:image/").collect();
        assert_eq!(shown.len(), 2, "{page}");
        assert!(page.contains("data:image/png;base64,AAAA\"") && page.contains("data:image/webp"));
        let step = page.find("id=\"step-1\"").expect("the step");
        let end = page.find("</details>").expect("its end");
        let picture = page.find("<img").expect("a picture");
        assert!((step..end).contains(&picture), "{page}");
        for file in ["a.PNG", "b.txt", "c.jpeg", "d.webp"] {
            assert!(
                page.contains(&format!("<b>screenshot</b> {file}")),
                "{file}"
            );
        }
    }

    #[test]
    fn what_failed_is_unfolded_and_comes_first() {
        let failed = page(StepStatus::Failed);
        assert!(failed.contains("<details class=\"test\" id=\"step-1\" open>"));
        assert!(failed.contains("<a href=\"#step-1\">"));
        assert!(
            failed.contains("<p id=\"facts\">1 failed · 20 ms</p>"),
            "{failed}"
        );
        let passed = page(StepStatus::Passed);
        assert!(passed.contains("<details class=\"test\" id=\"step-1\">"));
        assert!(!passed.contains("Needs attention"));
        assert!(passed.contains("<h4>Result</h4>"));
    }

    #[test]
    fn each_element_of_a_step_has_its_call_and_the_one_that_failed_is_open() {
        let mut report = PlayHtml::new("n", "f");
        let end = |element, status| StepFinished {
            step: 1,
            id: None,
            tool: "t".into(),
            description: None,
            status,
            duration_ms: 1.0,
            attempts: Vec::new(),
            error: None,
            skipped_by: None,
            group: None,
            healed: None,
            outputs: serde_json::Map::new(),
            restored: None,
            element,
            elements: Some(2),
        };
        for (index, status) in [(0, StepStatus::Passed), (1, StepStatus::Failed)] {
            let args = json!({"n": HOSTILE, "index": index}).into();
            for data in [
                EventData::ToolCall(ToolCall {
                    tool: "t".into(),
                    call_id: "call_1_1".into(),
                    args,
                    native_tool: None,
                    attempt: None,
                }),
                EventData::ElementFinished(end(Some(index), status)),
            ] {
                report.event(&Event::live(1, jiff::Timestamp::UNIX_EPOCH, data));
            }
        }
        let whole = EventData::StepFinished(end(None, StepStatus::Failed));
        report.event(&Event::live(1, jiff::Timestamp::UNIX_EPOCH, whole));
        report.flush();
        let page = report.steps;
        let (first, second) = page.split_once("element 2 of 2").expect("both are there");
        assert!(
            first.contains("element 1 of 2") && first.contains("2 elements"),
            "{page}"
        );
        assert!(
            first.contains("&quot;index&quot;: 0") && second.contains("&quot;index&quot;: 1"),
            "{page}"
        );
        assert!(
            first.contains("<details><summary>") && first.contains("<details open><summary>"),
            "{page}"
        );
        assert!(!page.contains("<script"), "{page}");
    }
}
