//! What `play` shows: the step list on standard error, results on standard output and in files.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use cuecard_browser_steps::model::browser_notes;
use cuecard_mcp::config::Config;
use cuecard_replay::{Played, is_built_in};
use cuecard_report::junit::JunitReport;
use cuecard_report::play_html::{PlayEnd, PlayHtml};
use cuecard_report::play_json::{IncludeResults, PlayJson, Totals};
use cuecard_report::play_terminal::{StepList, counts, exit_code, label};
use cuecard_report::{Style, diagnostics, duration};
use cuecard_runtime::tap::Listener;
use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_source::value::{Json, Redactor, cut, printable, printable_lines};
use cuecard_tool_call::model::{BuiltinTool, Template, ToolCallScenario};
use cuecard_tool_call::script::Verdict;
use cuecard_trace::{ErrorHappened, Event, EventData, StepStatus, ToolCall, ToolResult};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::play::create;
use crate::args::{self, PlayArgs};
use crate::inputs::io_reason;
use crate::output::{Output, stderr, stderr_line, stdout};

/// `--debug` shows this much of parameters and results.
const DEBUG_CUT: usize = 500;

/// The running step shows this much of an attempt's error.
const LIVE_CUT: usize = 60;

/// After this long a running step says what it waits for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The first lines: the scenario, its servers, and the configs that define them.
pub(super) fn header(
    output: &Output,
    scenario: &ToolCallScenario,
    range: &RangeInclusive<u64>,
    config: &Config,
    redactor: &Redactor,
) {
    let style = output.stderr;
    let total = scenario.steps_in(range).len();
    let steps = if total == 1 {
        "1 step".to_owned()
    } else {
        format!("{total} steps")
    };
    let known = cuecard_replay::known_servers(config);
    let effects = cuecard_tool_call::format::effects(scenario, range, &known);
    let servers: Vec<String> = effects
        .servers
        .iter()
        .map(
            |name| match config.server(name).map(|server| &server.spec) {
                Some(Ok(spec)) => format!("{name} ({})", spec.transport.as_str()),
                Some(Err(_)) => name.clone(),
                None if is_built_in(name) => format!("{name} (built in)"),
                None => name.clone(),
            },
        )
        .collect();
    let mut facts = vec![style.strong(&printable(&scenario.name)), steps];
    if !servers.is_empty() {
        facts.push(servers.join(", "));
    }
    let mut text = format!("{} {}\n", style.symbol("▶", ">"), facts.join(style.dot()));
    let mut sources: Vec<&str> = Vec::new();
    for name in &effects.servers {
        if let Some(server) = config.server(name) {
            let shown = server.from.to_str().unwrap_or_default();
            if !sources.contains(&shown) {
                sources.push(shown);
            }
        }
    }
    if !sources.is_empty() {
        text.push_str(&style.faint(&format!("  config {}", sources.join(", "))));
        text.push('\n');
    }
    text.push('\n');
    stderr(&redactor.text(&text));
}

/// Why the run failed, and where everything that happened is written.
pub(super) fn failure(
    output: &Output,
    failure: &Diagnostic,
    run_dir: &Path,
    json: bool,
    redactor: &Redactor,
) {
    stderr_line("");
    let trace = run_dir.join("trace.jsonl");
    let rendered = diagnostics::render(failure, output.stderr);
    let style = output.stderr;
    let hint = style.faint(&format!("  full trace: {}", trace.display()));
    stderr(&redactor.text(&format!("{rendered}{hint}\n")));
    if json {
        let mut line = diagnostics::to_json(failure);
        redactor.json(&mut line);
        stderr_line(&line.to_string());
    }
}

/// The number, label and tool of each step.
pub(super) fn labels(scenario: &ToolCallScenario) -> Vec<(u64, String, String)> {
    scenario
        .steps
        .iter()
        .map(|step| {
            let label = match &step.description {
                Some(Template::Literal(text)) => text.as_str().unwrap_or_default().to_owned(),
                // What a reference becomes is known only later; most are words.
                Some(_) => " ".repeat(24),
                None => label(None, step.id.as_deref(), &step.tool.to_string()).to_owned(),
            };
            (step.number, label, step.tool.to_string())
        })
        .collect()
}

/// Prints steps as they end; on a terminal shows the one that runs.
pub(super) struct Terminal {
    list: StepList,
    style: Style,
    out: BufWriter<io::Stderr>,
    live: Option<ProgressBar>,
    debug: bool,
    verbose: bool,
    /// The level of the `sandy__log` that was called last.
    log_level: Option<String>,
    /// The label and tool of the step that runs.
    running: String,
    /// Which attempt of it was made last.
    attempt: u32,
    /// The exit code of the command that ran last, if it was not 0.
    exit: Option<i64>,
    /// What is noted on the browser step that is under way: it stands below the line of the step, which comes last.
    notes: Option<Vec<String>>,
}

impl Terminal {
    /// For steps with these numbers, labels and tools.
    pub(super) fn new(args: &PlayArgs, output: &Output, steps: &[(u64, String, String)]) -> Self {
        let live = output.is_live.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            let ticks = if output.stderr.unicode {
                "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "
            } else {
                "|/-\\ "
            };
            if let Ok(template) = ProgressStyle::with_template("{prefix} {spinner} {msg}{took}") {
                // Writing into a string can't fail.
                let took = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let waiting = if state.elapsed() > PATIENCE {
                        ", waiting for its answer"
                    } else {
                        ""
                    };
                    let _ = write!(out, "  {}{waiting}", duration(state.elapsed()));
                };
                bar.set_style(template.tick_chars(ticks).with_key("took", took));
            }
            bar
        });
        Self {
            list: StepList::new(
                output.stderr,
                steps
                    .iter()
                    .map(|(number, label, tool)| (*number, label.as_str(), tool.as_str())),
            ),
            style: output.stderr,
            // Larger than what the recorder lets wait, so that nothing is shown before it is written.
            out: BufWriter::with_capacity(256 << 10, io::stderr()),
            live,
            debug: args.debug,
            verbose: args.debug || args.verbose > 0,
            log_level: None,
            running: String::new(),
            attempt: 1,
            exit: None,
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
        match &self.live {
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
        let message = cut(&error.message, LIVE_CUT);
        let tried = format!("attempt {} failed: {}", self.attempt, printable(&message));
        format!("{}  {}", self.running, self.style.doubtful(&tried))
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
                self.exit = None;
                if let Some(bar) = &self.live {
                    bar.set_prefix(self.list.number(step.step));
                    let (description, id) = (step.description.as_deref(), step.id.as_deref());
                    self.running = format!(
                        "{}  {}",
                        printable(label(description, id, &step.tool)),
                        self.style.faint(&printable(&step.tool))
                    );
                    bar.set_message(self.running.clone());
                    bar.reset_elapsed();
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            }
            EventData::StepFinished(step) => {
                if let Some(bar) = &self.live {
                    bar.disable_steady_tick();
                }
                let mut line = self.list.line(step);
                if let Some(exit) = self.exit.take() {
                    line.push_str(&self.style.doubtful(&format!("  exit code {exit}")));
                }
                self.print(&line);
                if let (StepStatus::Tolerated, Some(error)) = (step.status, &step.error) {
                    let message = printable_lines(&error.message);
                    let message = self.style.faint(&format!("tolerated: {message}"));
                    self.print(&indented(&message));
                }
                for line in self.notes.take().unwrap_or_default() {
                    self.print(&line);
                }
            }
            EventData::ToolCall(call) => {
                self.log_level = match call.args.get("level") {
                    Some(level) if is_log(&call.tool) => level.as_str().map(str::to_owned),
                    _ => None,
                };
                self.attempt = call.attempt.unwrap_or(1);
                if self.debug {
                    self.call(call);
                }
            }
            EventData::ToolResult(result) => {
                if let (true, true, Some(message)) = (
                    is_log(&result.tool),
                    result.success,
                    result.result.get("logged").and_then(Json::as_str),
                ) {
                    let level = self.log_level.take();
                    self.log(None, level.as_deref().unwrap_or("info"), message);
                }
                self.exit = exit_code(result);
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
                if let Some(bar) = &self.live {
                    bar.set_message(self.tried(error));
                }
            }
            EventData::Log(log) => self.log(log.stream.as_deref(), &log.level, &log.message),
            EventData::Screenshot(screenshot) => {
                self.note(format!("      screenshot: {}", screenshot.files.join(", ")));
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
        if let Some(bar) = &self.live {
            bar.finish_and_clear();
        }
        let _ = self.out.flush();
    }
}

/// A report of what was played, to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Report {
    /// For machines that know tests.
    Junit(PathBuf),
    /// For people; of browser steps with pictures.
    Html(PathBuf),
}

/// The kind and file of `--report KIND:FILE`.
pub(super) fn report_file(report: &str) -> Result<Report, Diagnostic> {
    const KINDS: &[&str] = &["junit", "html"];
    let (kind, file) = report.split_once(':').unwrap_or((report, ""));
    if !KINDS.contains(&kind) {
        let mut error =
            Diagnostic::error(codes::ARGUMENT, format!("unknown report format `{kind}`"));
        error.help = Some(match did_you_mean(kind, KINDS.iter().copied()) {
            Some(proposal) => format!("did you mean `{proposal}:FILE`?"),
            None => format!("available reports: {}:FILE", KINDS.join(":FILE, ")),
        });
        return Err(error);
    }
    if file.is_empty() {
        return Err(Diagnostic::error(
            codes::ARGUMENT,
            format!("`--report {report}` has no file name"),
        )
        .with_help(format!("write --report {kind}:FILE")));
    }
    let file = PathBuf::from(file);
    Ok(match kind {
        "html" => Report::Html(file),
        _ => Report::Junit(file),
    })
}

/// What reports are about.
pub(super) struct Subject<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many steps are in range.
    pub total: usize,
    /// The report for machines that know tests, begun.
    pub junit: JunitReport,
    /// The page for people, begun; browser steps have one of their own.
    pub html: Option<PlayHtml>,
}

impl<'a> Subject<'a> {
    /// A tool-call scenario, of which `total` steps are in range.
    pub(super) fn of(args: &PlayArgs, scenario: &'a ToolCallScenario, total: usize) -> Self {
        let range = args.start.unwrap_or(0)..=args.end.unwrap_or(u64::MAX);
        let steps = scenario.steps_in(&range).iter();
        Self {
            name: &scenario.name,
            total,
            junit: JunitReport::new(&scenario.name, scenario.source.name(), steps),
            html: Some(PlayHtml::new(&scenario.name, scenario.source.name())),
        }
    }
}

/// Which results `--include-results` asks for.
pub(super) fn included(args: &PlayArgs) -> IncludeResults {
    match args.include_results {
        args::IncludeResults::True => IncludeResults::Always,
        args::IncludeResults::False => IncludeResults::Never,
        args::IncludeResults::OnFailure => IncludeResults::OnFailure,
    }
}

/// The result as JSON, on standard output and in a file, and the reports.
pub(super) struct Reports {
    shared: Rc<RefCell<Shared>>,
    to_stdout: bool,
    output_file: Option<PathBuf>,
    junit_files: Vec<PathBuf>,
    html_files: Vec<PathBuf>,
}

struct Shared {
    json: Vec<PlayJson<BufWriter<Box<dyn Write>>>>,
    junit: Option<JunitReport>,
    html: Option<PlayHtml>,
    error: Option<io::Error>,
}

struct Sink(Rc<RefCell<Shared>>);

impl Listener for Sink {
    fn event(&mut self, event: &Event) {
        let shared = &mut *self.0.borrow_mut();
        for json in &mut shared.json {
            if let Err(error) = json.event(event) {
                shared.error.get_or_insert(error);
            }
        }
        if let (Some(junit), EventData::StepFinished(step)) = (&mut shared.junit, &event.data) {
            junit.step(step);
        }
        if let Some(html) = &mut shared.html {
            html.event(event);
            if let EventData::Screenshot(screenshot) = &event.data {
                for file in &screenshot.files {
                    let content = std::fs::read(file).unwrap_or_default();
                    html.screenshot(&screenshot.label, file, &content);
                }
            }
        }
    }

    fn settle(&mut self) {
        let shared = &mut *self.0.borrow_mut();
        for json in &mut shared.json {
            if let Err(error) = json.flush() {
                shared.error.get_or_insert(error);
            }
        }
    }
}

impl Reports {
    pub(super) fn begin(
        args: &PlayArgs,
        include: IncludeResults,
        subject: Subject<'_>,
        reports: &[Report],
    ) -> Result<Self, Diagnostic> {
        let mut outs: Vec<Box<dyn Write>> = Vec::new();
        if args.json {
            outs.push(Box::new(io::stdout()));
        }
        if let Some(path) = &args.output {
            outs.push(Box::new(create(path)?));
        }
        let json = outs
            .into_iter()
            .map(|out| {
                PlayJson::begin(
                    BufWriter::with_capacity(64 << 10, out),
                    include,
                    subject.name,
                    subject.total,
                )
            })
            .collect::<io::Result<_>>()
            .map_err(|error| unwritable(&error))?;
        let (mut junit_files, mut html_files) = (Vec::new(), Vec::new());
        for report in reports {
            match report {
                Report::Junit(file) => junit_files.push(file.clone()),
                Report::Html(file) => html_files.push(file.clone()),
            }
        }
        Ok(Self {
            shared: Rc::new(RefCell::new(Shared {
                json,
                junit: (!junit_files.is_empty()).then_some(subject.junit),
                html: subject.html.filter(|_| !html_files.is_empty()),
                error: None,
            })),
            to_stdout: args.json,
            output_file: args.output.clone(),
            junit_files,
            html_files,
        })
    }

    pub(super) fn listener(&mut self) -> impl Listener + 'static {
        Sink(self.shared.clone())
    }

    /// Writes what comes last.
    pub(super) fn end(
        self,
        output: &Output,
        played: &Played,
        run_dir: &Path,
        more: Vec<(&'static str, Json)>,
        redactor: &Redactor,
    ) -> Result<(), Diagnostic> {
        let error = match (&played.failure, played.verdict) {
            (Some(failure), _) => Some(redactor.text(&failure.message).into_owned()),
            (None, Verdict::Interrupted) => Some("interrupted".to_owned()),
            (None, _) => None,
        };
        let totals = Totals {
            verdict: played.verdict,
            summary: played.summary,
            took: played.took,
            error: error.clone(),
            run_dir: Some(run_dir.display().to_string()),
            trace_path: Some(run_dir.join("trace.jsonl").display().to_string()),
            screenshots: played
                .screenshots
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
            more,
        };
        let counted = |style| counts(style, &played.summary, played.verdict, played.took);
        if self.to_stdout {
            stderr_line(&format!("\n{}", counted(output.stderr)));
        } else {
            stderr_line("");
            stdout(&format!("{}\n", counted(output.stdout)));
        }
        let (json, junit, html, failed) = {
            let mut shared = self.shared.borrow_mut();
            (
                std::mem::take(&mut shared.json),
                shared.junit.take(),
                shared.html.take(),
                shared.error.take(),
            )
        };
        for report in json {
            report.end(&totals).map_err(|error| unwritable(&error))?;
        }
        if let Some(error) = failed {
            return Err(unwritable(&error));
        }
        if let Some(mut html) = html {
            let end = PlayEnd {
                verdict: played.verdict,
                summary: played.summary,
                took: played.took,
                error: error.as_deref(),
                trace: &run_dir.join("trace.jsonl").display().to_string(),
            };
            for path in &self.html_files {
                let mut file = BufWriter::new(create(path)?);
                let written = html.write(&end, &mut file).and_then(|()| file.flush());
                written.map_err(|error| unwritable(&error))?;
            }
        }
        if let Some(junit) = junit {
            let blocked = error.filter(|_| match played.verdict {
                Verdict::Interrupted => true,
                Verdict::Blocked => played.summary.failed == 0,
                Verdict::Passed | Verdict::Failed => false,
            });
            let mut bytes = Vec::new();
            junit
                .write(played.took, blocked.as_deref(), &mut bytes)
                .map_err(|error| unwritable(&error))?;
            for path in &self.junit_files {
                let mut file: File = create(path)?;
                file.write_all(&bytes).map_err(|error| unwritable(&error))?;
            }
        }
        if let Some(path) = &self.output_file {
            stderr_line(&output.stderr.faint(&format!("result: {}", path.display())));
        }
        Ok(())
    }
}

pub(super) fn unwritable(error: &io::Error) -> Diagnostic {
    Diagnostic::error(
        codes::FILE_WRITE,
        format!("the result can't be written: {}", io_reason(error)),
    )
}
