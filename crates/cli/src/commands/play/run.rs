//! A run of `play` from its first line to its last: its folder, its trace, its reports, and how it ends.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cuecard_replay::{Played, prepare as trace};
use cuecard_report::PlayTotals;
use cuecard_report::play_terminal::counts;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::journal::Journal;
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::tap::Recorder;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::{Json, Redactor};
use cuecard_tool_call::script::Verdict;
use cuecard_trace::Header;
use serde_json::json;

use super::reports::{Report, Reports, SharedPart, Subject, name_reports};
use super::resume;
use super::terminal::Terminal;
use crate::args::PlayArgs;
use crate::context::Stop;
use crate::exit_code::ExitCode;
use crate::inputs::io_reason;
use crate::output::{Output, stderr, stderr_line};
use crate::output_files::{run_dir, unwritable_run};

/// Begins the journal of the run in a folder.
type BeginJournal<'a> = dyn FnMut(&RunDir) -> io::Result<Journal> + 'a;

/// What is known when a run begins.
pub(super) struct Opening<'a> {
    /// What is played.
    pub subject: Subject<'a>,
    /// The file with it, as the user named it.
    pub file: &'a Path,
    /// The reports that were asked for.
    pub reports: &'a [Report],
    /// What the common reports say of it, if it is one of several.
    pub part: Option<SharedPart>,
    /// Where relative paths start.
    pub working_directory: &'a Path,
    /// What takes secrets out.
    pub redactor: Redactor,
    /// The first lines on the terminal.
    pub title: String,
    /// The number, label and tool of each step.
    pub labels: Vec<(u64, String, String)>,
    /// The first line of the trace of the run with this id.
    pub header: &'a dyn Fn(&str) -> Header,
    /// The id of the run that it resumes.
    pub resumed_from: Option<String>,
    /// Begins its journal, if it has one.
    pub journal: Option<&'a mut BeginJournal<'a>>,
}

/// What is known at its end, beside how it went.
#[derive(Default)]
pub(super) struct Ending {
    /// What is doubtful about it.
    pub warning: Option<Diagnostic>,
    /// What more the result says, by name.
    pub more: Vec<(&'static str, Json)>,
    /// What is said below the counts.
    pub words: Option<String>,
    /// Whether it passed on what is not as it was.
    pub has_drifted: bool,
    /// What could not be written.
    pub problems: Vec<Diagnostic>,
    /// The number of the step from which it can be resumed.
    pub unfinished: Option<u64>,
}

/// A run that has begun.
pub(super) struct Run<'a> {
    args: &'a PlayArgs,
    output: &'a Output,
    file: PathBuf,
    name: String,
    started: jiff::Timestamp,
    resumed_from: Option<String>,
    part: Option<SharedPart>,
    /// Its folder.
    pub dir: Arc<RunDir>,
    /// What tells the trace, the terminal and the reports.
    pub recorder: Recorder<'a>,
    /// Its reports.
    pub reports: Reports,
}

impl<'a> Run<'a> {
    /// Makes its folder, opens its reports and its trace, and shows the first lines.
    pub(super) fn begin(
        args: &'a PlayArgs,
        output: &'a Output,
        opening: Opening<'_>,
    ) -> Result<Self, Stop> {
        let redactor = opening.redactor.clone();
        let opened = Self::open(args, output, opening);
        opened.map_err(|found| Stop::could_not_run(found).redacted(&redactor))
    }

    fn open(
        args: &'a PlayArgs,
        output: &'a Output,
        opening: Opening<'_>,
    ) -> Result<Self, Diagnostic> {
        let clock = Clock::start();
        let started = clock.timestamp(Duration::ZERO);
        let dir = Arc::new(run_dir(
            &args.runs.run_dir,
            opening.working_directory,
            &clock,
        )?);
        let part = opening.part.clone();
        let reports = Reports::begin(args, &opening.subject, opening.reports, part.clone())?;
        stderr(&opening.title);
        let mut recorder = Recorder::new(clock, opening.redactor);
        let file = dir.trace_file().map_err(|error| unwritable_run(&error))?;
        recorder
            .write_to(Box::new(file), &(opening.header)(dir.id()))
            .map_err(|error| unwritable_run(&error))?;
        recorder.tell(Box::new(Terminal::new(args, output, &opening.labels)));
        recorder.tell(Box::new(reports.clone()));
        let mut run = Self {
            args,
            output,
            file: opening.file.to_owned(),
            name: opening.subject.name.to_owned(),
            started,
            resumed_from: opening.resumed_from,
            part,
            dir,
            recorder,
            reports,
        };
        let described = run.dir.describe(&run.description(None));
        described.map_err(|error| unwritable_run(&error))?;
        if let Some(begin) = opening.journal {
            let journal = begin(&run.dir).map_err(|error| unwritable_run(&error))?;
            run.recorder.keep_journal(journal);
        }
        Ok(run)
    }

    /// `run.json`: what was played, and how it ended.
    fn description(&self, played: Option<&Played>) -> Json {
        json!({
            "id": self.dir.id(),
            "kind": "play",
            "cuecard": env!("CARGO_PKG_VERSION"),
            "file": self.file.display().to_string(),
            "path": resume::path_of(&self.file),
            "scenario": self.name,
            "resumed_from": self.resumed_from,
            "started_at": format!("{:.3}", self.started),
            "status": played.map_or("running", |played| played.verdict.as_str()),
            "duration": played.map(|played| played.took.as_micros() as f64 / 1_000_000.0),
        })
    }

    /// Ends the trace and the reports, and says how it went.
    pub(super) fn finish(self, played: &Played, mut ending: Ending) -> ExitCode {
        let description = self.description(Some(played));
        let Self {
            args,
            output,
            file,
            started,
            resumed_from,
            part,
            dir,
            mut recorder,
            reports,
            ..
        } = self;
        recorder.end(&trace::end(played));
        let trace_error = recorder.take_error();
        let failed_file = recorder.failed_file();
        let redactor = recorder.redactor().clone();
        // It shows the last steps, and leaves the terminal.
        drop(recorder);
        // The run is over; a description that can't be written is not worth its verdict.
        let _ = dir.describe(&description);
        let shown_dir = args.runs.run_dir.join(dir.id());
        if let Some(warning) = &ending.warning {
            output.redacted(std::slice::from_ref(warning), &redactor);
        }
        if let Some(failure) = &played.failure {
            stderr_line("");
            output.redacted(std::slice::from_ref(failure), &redactor);
        }
        let mut hints = Vec::new();
        if let Some(step) = ending.unfinished {
            let is_unknown = played.summary.unknown > 0;
            let command = resume::command(&file, part.is_some(), is_unknown);
            let command = redactor.text(&command).into_owned();
            let or = match played.summary.unknown {
                0 => "",
                1 => " (or `--assume-done` if the step had its effect)",
                _ => " (or `--assume-done` for those steps that had their effect)",
            };
            hints.push(format!("  resume from step {step}: {command}{or}"));
            ending.more.push(("resume_from", json!(step)));
            ending.more.push(("resume_command", json!(command)));
        }
        if played.failure.is_some() {
            hints.push(format!(
                "  full trace: {}",
                shown_dir.join("trace.jsonl").display()
            ));
        }
        for hint in hints {
            stderr_line(&output.stderr.faint(&hint));
        }
        if let Some(run) = &resumed_from {
            ending.more.push(("resumed_from", json!(run)));
            ending
                .more
                .push(("restored_steps", json!(played.summary.restored)));
        }
        let mut problems = ending.problems;
        let is_told = played
            .failure
            .as_ref()
            .is_some_and(|failure| failure.code == codes::FILE_WRITE);
        if let Some(error) = trace_error.filter(|_| !is_told) {
            let message = format!("the {failed_file} can't be written: {}", io_reason(&error));
            problems.push(Diagnostic::error(codes::FILE_WRITE, message));
        }
        if dir.is_trace_lost() {
            let message = "the trace was deleted during the run";
            problems.push(Diagnostic::error(codes::FILE_WRITE, message));
        }
        let style = output.summary_style();
        let verdict = ExitCode::from(played.verdict).verdict(style);
        let counts = counts(style, &played.summary, played.took);
        stderr_line("");
        output.summary(&format!("{verdict}: {counts}"));
        let totals = totals(played, &shown_dir, ending.more, &redactor);
        match reports.end(&totals, started, &redactor) {
            Err(diagnostic) => problems.push(diagnostic),
            Ok(()) => {
                if let (Some(path), None) = (&args.output, &part) {
                    let line = format!("result: {}", path.display());
                    stderr_line(&output.stderr.faint(&line));
                }
                if part.is_none() {
                    name_reports(args, output);
                }
            }
        }
        if let Some(words) = &ending.words {
            stderr_line(&output.stderr.faint(words));
        }
        output.redacted(&problems, &redactor);
        match ExitCode::from(played.verdict) {
            exit if !problems.is_empty() => exit.worst(ExitCode::CouldNotRun),
            ExitCode::Passed if ending.has_drifted => ExitCode::Drifted,
            exit => exit,
        }
    }
}

/// What results say of the whole run.
fn totals(
    played: &Played,
    run_dir: &Path,
    more: Vec<(&'static str, Json)>,
    redactor: &Redactor,
) -> PlayTotals {
    let screenshots = played.screenshots.iter();
    PlayTotals {
        verdict: played.verdict,
        summary: played.summary,
        took: played.took,
        error: match (&played.failure, played.verdict) {
            (Some(failure), _) => Some(redactor.text(&failure.message).into_owned()),
            (None, Verdict::Interrupted) => Some("interrupted".to_owned()),
            (None, _) => None,
        },
        run_dir: run_dir.display().to_string(),
        trace_path: run_dir.join("trace.jsonl").display().to_string(),
        screenshots: screenshots.map(|path| path.display().to_string()).collect(),
        more,
    }
}
