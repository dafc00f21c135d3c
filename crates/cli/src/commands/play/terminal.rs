//! What `play` shows while it runs: each step as it ends, and on a terminal the one that runs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use cuecard_browser_steps::model::browser_notes;
use cuecard_report::play_terminal::{StepList, command_end, label};
use cuecard_report::{Style, duration};
use cuecard_runtime::tap::Listener;
use cuecard_source::value::{Json, cut, printable, printable_lines};
use cuecard_tool_call::model::BuiltinTool;
use cuecard_tool_call::script::step_of_call;
use cuecard_trace::{ErrorHappened, Event, EventData, StepStatus, ToolCall, ToolResult};
use indicatif::ProgressState;

use crate::args::PlayArgs;
use crate::output::{Output, Stderr, stderr_line};
use crate::waiting::LiveLine;

/// `--debug` shows this much of parameters and results.
const DEBUG_CUT: usize = 500;

/// The running step shows this much of an attempt's error.
const LIVE_CUT: usize = 60;

/// The number of a running step, its spinner and its time need this many columns.
const BESIDE: usize = 20;

/// No text is cut to less.
const SHORTEST: usize = 10;

/// After this long a running step says what it waits for.
const SHOWN_AFTER: Duration = Duration::from_secs(2);

/// Prints steps as they end; on a terminal shows the one that runs.
pub(super) struct Terminal {
    list: StepList,
    style: Style,
    out: BufWriter<Stderr>,
    live: LiveLine,
    debug: bool,
    verbose: bool,
    /// The level of each `sandy__log` that was called, by the id of its call.
    log_levels: BTreeMap<Arc<str>, String>,
    /// The steps that run: several only of a group.
    running: Vec<Running>,
    /// Whether the answer of a call is waited for.
    is_called: Arc<AtomicBool>,
    /// Which attempt of it was made last.
    attempt: u32,
    /// How the command that ran last ended, if not with the exit code 0.
    end: Option<String>,
    /// What is noted on the browser step that is under way: it stands below the line of the step, which comes last.
    notes: Option<Vec<String>>,
}

/// A step that runs.
struct Running {
    step: u64,
    /// Its label and its tool.
    text: String,
    /// How many columns that has.
    width: usize,
}

impl Terminal {
    /// For steps with these numbers, labels and tools.
    pub(super) fn new(args: &PlayArgs, output: &Output, steps: &[(u64, String, String)]) -> Self {
        let is_called = Arc::new(AtomicBool::new(false));
        let waits = is_called.clone();
        // Writing into a string can't fail.
        let took = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let waiting = match state.elapsed() > SHOWN_AFTER && waits.load(Relaxed) {
                true => ", waiting for its answer",
                false => "",
            };
            let _ = write!(out, "  {}{waiting}", duration(state.elapsed()));
        };
        let template = "{prefix} {spinner} {msg}{took}";
        let live = LiveLine::new(output, true, template, |style| style.with_key("took", took));
        Self {
            list: StepList::new(
                output.stderr,
                steps
                    .iter()
                    .map(|(number, label, tool)| (*number, label.as_str(), tool.as_str())),
            ),
            style: output.stderr,
            // Larger than what the recorder lets wait, so that nothing is shown before it is written.
            out: BufWriter::with_capacity(256 << 10, Stderr),
            live,
            debug: args.debug,
            verbose: args.debug || args.verbose > 0,
            log_levels: BTreeMap::new(),
            running: Vec::new(),
            is_called,
            attempt: 1,
            end: None,
            notes: None,
        }
    }

    /// A line below that of the step it belongs to: of a tool call at once, since it may take long.
    fn note(&mut self, line: String) {
        match &mut self.notes {
            Some(notes) => notes.push(line),
            None => self.print(&line),
        }
    }

    /// A line above the running step.
    fn print(&mut self, line: &str) {
        match self.live.bar() {
            Some(bar) => bar.suspend(|| stderr_line(line)),
            // A reader that went away is no reason to stop.
            None => {
                let _ = self.out.write_all(line.as_bytes());
                let _ = self.out.write_all(b"\n");
            }
        }
    }

    fn log(&mut self, server: Option<&str>, level: &str, message: &str) {
        let shown = match (server, level) {
            (None, "debug") => self.debug,
            (None, _) => true,
            (Some(_), _) => self.verbose,
        };
        if !shown {
            return;
        }
        let text = match server {
            Some(server) => Cow::Owned(format!("{server}: {message}")),
            None => Cow::Borrowed(message),
        };
        let text = printable_lines(&text);
        let text = match level {
            "warning" => Cow::Owned(format!("{} {text}", self.style.doubtful("warning:"))),
            "error" | "critical" | "alert" | "emergency" => {
                Cow::Owned(format!("{} {text}", self.style.bad("error:")))
            }
            "debug" => Cow::Owned(self.style.faint(&text)),
            _ => text,
        };
        self.note(indented(&text));
    }

    fn call(&mut self, call: &ToolCall) {
        let attempt = call
            .attempt
            .filter(|attempt| *attempt > 1)
            .map_or(String::new(), |attempt| format!(" (attempt {attempt})"));
        let line = self.style.faint(&format!(
            "      → {}{attempt} {}",
            call.tool,
            printable(&cut(&call.args.to_string(), DEBUG_CUT))
        ));
        self.print(&line);
    }

    /// The running step after an attempt that failed: which it was, and why it is tried again.
    fn tried(&self, error: &ErrorHappened) -> String {
        let step = error.call_id.as_deref().and_then(step_of_call);
        let running = self.running.iter().find(|it| Some(it.step) == step);
        let (running, running_width) = match running.or(self.running.last()) {
            Some(running) => (running.text.as_str(), running.width),
            None => ("", 0),
        };
        let tried = format!("attempt {} failed: ", self.attempt);
        let room = self
            .style
            .width
            .saturating_sub(running_width + tried.len() + BESIDE);
        let message = cut(&error.message, room.clamp(SHORTEST, LIVE_CUT));
        let tried = format!("{tried}{}", printable(&message));
        format!("{running}  {}", self.style.doubtful(&tried))
    }

    fn result(&mut self, result: &ToolResult) {
        let took = result.duration_ms.map_or(String::new(), |ms| {
            duration(Duration::from_secs_f64(ms / 1000.0))
        });
        let mark = if result.success { "←" } else { "← failed" };
        let line = self.style.faint(&format!(
            "      {mark} {took} {}",
            printable(&cut(&result.result.to_string(), DEBUG_CUT))
        ));
        self.print(&line);
    }
}

/// What belongs to a step, below its line.
fn indented(text: &str) -> String {
    format!("      {}", text.replace('\n', "\n      "))
}

/// Whether the tool's only effect is that its message is shown.
fn is_log(tool: &str) -> bool {
    tool == BuiltinTool::Log.name()
}

/// Whether it is a step in a browser of ours, and no call of a tool.
fn is_of_browser(tool: &str) -> bool {
    tool.starts_with("browser.")
}

impl Listener for Terminal {
    fn event(&mut self, event: &Event) {
        match &event.data {
            EventData::StepStarted(step) => {
                self.notes = is_of_browser(&step.tool).then(Vec::new);
                self.end = None;
                if let Some(bar) = self.live.bar() {
                    bar.set_prefix(self.list.number(step.step));
                    let (description, id) = (step.description.as_deref(), step.id.as_deref());
                    let tool = printable(&step.tool);
                    let label = printable(label(description, id, &step.tool));
                    let room = self
                        .style
                        .width
                        .saturating_sub(tool.chars().count() + BESIDE);
                    let label = cut(&label, room.max(SHORTEST)).into_owned();
                    let running = Running {
                        step: step.step,
                        width: label.chars().count() + tool.chars().count() + 4,
                        text: format!("{label}  {}", self.style.faint(&tool)),
                    };
                    bar.set_message(running.text.clone());
                    self.running.push(running);
                    bar.reset_elapsed();
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            }
            EventData::ElementStarted(step) => {
                if let (Some(bar), Some(label)) = (self.live.bar(), step.element_label()) {
                    let running = self.running.last().map_or("", |it| it.text.as_str());
                    bar.set_message(format!("{running}  {}", self.style.faint(&label)));
                }
            }
            // How its command ended stands in its result.
            EventData::ElementFinished(_) => self.end = None,
            EventData::StepFinished(step) => {
                self.running.retain(|running| running.step != step.step);
                if let Some(bar) = self.live.bar() {
                    match self.running.last() {
                        Some(running) => {
                            bar.set_prefix(self.list.number(running.step));
                            bar.set_message(running.text.clone());
                        }
                        None => bar.disable_steady_tick(),
                    }
                }
                let mut line = self.list.line(step);
                if let Some(end) = self.end.take() {
                    line.push_str(&self.style.doubtful(&format!("  {end}")));
                }
                self.print(&line);
                if let (StepStatus::Tolerated, Some(error)) = (step.status, &step.error) {
                    let mut text = format!("tolerated: {}", error.message);
                    if let Some(help) = &error.help {
                        text.push_str(&format!("\nhelp: {help}"));
                    }
                    let text = self.style.faint(&printable_lines(&text));
                    self.print(&indented(&text));
                }
                for line in self.notes.take().unwrap_or_default() {
                    self.print(&line);
                }
            }
            EventData::ToolCall(call) => {
                if let (true, Some(Json::String(level))) =
                    (is_log(&call.tool), call.args.get("level"))
                {
                    self.log_levels.insert(call.call_id.clone(), level.clone());
                }
                self.attempt = call.attempt.unwrap_or(1);
                self.is_called.store(true, Relaxed);
                if self.debug {
                    self.call(call);
                }
            }
            EventData::ToolResult(result) => {
                self.is_called.store(self.running.len() > 1, Relaxed);
                let level = self.log_levels.remove(&result.call_id);
                if let (true, true, Some(message)) = (
                    is_log(&result.tool),
                    result.success,
                    result.result.get("logged").and_then(Json::as_str),
                ) {
                    self.log(None, level.as_deref().unwrap_or("info"), message);
                }
                self.end = command_end(result);
                if self.notes.is_some() {
                    for note in browser_notes(&result.result) {
                        self.note(format!("      {}", printable(&note)));
                    }
                }
                if self.debug {
                    self.result(result);
                }
            }
            EventData::ErrorHappened(error) => {
                self.is_called.store(self.running.len() > 1, Relaxed);
                if let Some(bar) = self.live.bar() {
                    bar.set_message(self.tried(error));
                }
            }
            EventData::RequestAnswered(_) if self.verbose => {
                let text = printable(&event.brief(DEBUG_CUT)).into_owned();
                let text = self.style.faint(&format!("      {text}"));
                self.note(text);
            }
            EventData::Log(log) => self.log(log.stream.as_deref(), &log.level, &log.message),
            EventData::Screenshot(screenshot) => {
                let here = std::env::current_dir().unwrap_or_default();
                let shown = |file: &String| {
                    let path = Path::new(file);
                    path.strip_prefix(&here)
                        .unwrap_or(path)
                        .display()
                        .to_string()
                };
                let files: Vec<_> = screenshot.files.iter().map(shown).collect();
                self.note(format!("      evidence: {}", files.join(", ")));
            }
            _ => {}
        }
    }

    fn settle(&mut self) {
        let _ = self.out.flush();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.live.end();
        let _ = self.out.flush();
    }
}
