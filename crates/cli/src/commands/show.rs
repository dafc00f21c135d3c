//! `cuecard show`: a finished run, forward and back.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_runner::RecordedRun;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::printable;
use cuecard_terminal::{Recording, Screen, View, ViewEvent, Viewer, ViewerKey};
use cuecard_timeline::model::TerminalConfig;
use cuecard_trace::{Event, EventData, StepStatus};
use jiff::Timestamp;

use super::runs::{described, find, started_at};
use crate::args::ShowArgs;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output;

/// How much of an event is shown, in characters: as a rule all of it.
const SHOWN: usize = 4000;
/// How long a key is waited for before the terminal is drawn again.
const KEY_TIMEOUT: Duration = Duration::from_millis(250);

/// A run that is over.
struct FinishedRun {
    folder: PathBuf,
    events: Vec<ViewEvent>,
    recording: Option<Recording>,
    /// What is wrong with its files.
    doubts: Vec<Diagnostic>,
}

pub(crate) fn run(args: &ShowArgs, context: &Context) -> Result<ExitCode, Stop> {
    let run = match Path::new(&args.run) {
        file if file.is_file() => read(file, file),
        _ => {
            let folder = find(&args.runs.run_dir, &args.run, |_, _| true);
            let folder = folder.map_err(Stop::invalid)?;
            read(&folder.join("trace.jsonl"), &folder)
        }
    };
    let run = run.map_err(Stop::invalid)?;
    context.output.diagnostics(&run.doubts);
    if let Some(at) = args.at {
        return match run.recording {
            Some(mut recording) => {
                output::stdout(&format!("{}\n", recording.screen_at(at).text()));
                Ok(ExitCode::Passed)
            }
            None => {
                let described = described(&run.folder);
                let command = described["command"].as_str().or(described["kind"].as_str());
                let command = command.map(|it| format!(": it is a run of `cuecard {it}`"));
                let message = format!(
                    "`{}` has no recording of a terminal{}",
                    run.folder.display(),
                    command.unwrap_or_default()
                );
                let help = "name a run of `cuecard run`; without `--at`, its events are shown";
                Err(Stop::refused(codes::FILE_READ, message, help))
            }
        };
    }
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        for event in &run.events {
            let mark = match event.holds {
                Some(true) => "✓",
                Some(false) => "✗",
                None => " ",
            };
            let line = format!(
                "{:>8.2} s  {mark} {}\n",
                event.at.as_secs_f64(),
                printable(&event.what)
            );
            output::stdout(&line);
        }
        return Ok(ExitCode::Passed);
    }
    step_through(run).map_err(|error| {
        let message = format!("the terminal can't be used: {}", inputs::io_reason(&error));
        Stop::could_not_run(Diagnostic::error(codes::FILE_WRITE, message))
    })?;
    Ok(ExitCode::Passed)
}

/// Events as the viewer shows them, with the time since the start.
fn shown(events: &[Event], started: Option<Timestamp>) -> Vec<ViewEvent> {
    let seen = events.iter().filter(|event| !is_debug(&event.data));
    let shown = seen.map(|event| {
        let at = started.map(|started| event.ts.duration_since(started));
        let at = at.and_then(|at| Duration::try_from(at).ok());
        ViewEvent {
            at: at.unwrap_or_default(),
            what: in_words(event),
            holds: holds(&event.data),
        }
    });
    shown.collect()
}

/// The run that a file tells of, with what else is in its folder.
fn read(file: &Path, folder: &Path) -> Result<FinishedRun, Vec<Diagnostic>> {
    let RecordedRun {
        trace,
        warnings: mut doubts,
        ..
    } = RecordedRun::read(file)?;
    let first = trace.events.first().map(|event| event.ts);
    let started = started_at(&described(folder)).or(first);
    let doubt = |what: &str| {
        let message = format!("`{}` {what}", folder.join("terminal.cast").display());
        Diagnostic::warning(codes::FILE_READ, message)
    };
    let cast = fs::read(folder.join("terminal.cast")).ok();
    let cast = cast.map(|cast| String::from_utf8_lossy(&cast).into_owned());
    let recording = cast.as_deref().and_then(Recording::read);
    if cast.is_some() && recording.is_none() {
        doubts.push(doubt("is no recording: no screen is shown"));
    }
    let n_unread = recording.as_ref().map_or(0, Recording::n_unread);
    if n_unread > 0 {
        let left_out = format!("is damaged: lines that were left out: {n_unread}");
        doubts.push(doubt(&left_out));
    }
    Ok(FinishedRun {
        folder: folder.to_owned(),
        events: shown(&trace.events, started),
        recording,
        doubts,
    })
}

/// Whether an event only helps those who look for a mistake of ours.
fn is_debug(data: &EventData) -> bool {
    matches!(data, EventData::Log(log) if log.level == "debug")
}

/// How an event came out, if it came out well or badly.
fn holds(data: &EventData) -> Option<bool> {
    match data {
        EventData::Assertion(assertion) => Some(assertion.status == "pass"),
        EventData::Log(log) if log.level == "error" => Some(false),
        EventData::ToolResult(result) if !result.success => Some(false),
        EventData::StepFinished(step) | EventData::ElementFinished(step) => match step.status {
            StepStatus::Passed => Some(true),
            StepStatus::Failed => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// An event as a line for people.
fn in_words(event: &Event) -> String {
    let brief = event.brief(SHOWN);
    let step = |number: u64, tool: &str, description: Option<&str>| {
        let name = description.unwrap_or(tool);
        format!("step {number}  {name}")
    };
    let element = |number: u64, label: Option<String>, description: Option<&str>| {
        let name = description.map_or(String::new(), |description| format!("  {description}"));
        format!("step {number}, {}{name}", label.unwrap_or_default())
    };
    match &event.data {
        EventData::StepStarted(it) => step(it.step, &it.tool, it.description.as_deref()),
        EventData::StepFinished(it) => {
            format!(
                "{}  {brief}",
                step(it.step, &it.tool, it.description.as_deref())
            )
        }
        EventData::ElementStarted(it) => {
            element(it.step, it.element_label(), it.description.as_deref())
        }
        EventData::ElementFinished(it) => format!(
            "{}  {brief}",
            element(it.step, it.element_label(), it.description.as_deref())
        ),
        EventData::ToolCall(call) => format!("call {}  {brief}", call.tool),
        EventData::ToolResult(_) => format!("result  {brief}"),
        EventData::Log(log) if log.level == "info" => brief.trim_start_matches("info: ").to_owned(),
        EventData::Log(_) => brief,
        EventData::Assertion(_) => format!("check  {brief}"),
        EventData::ErrorHappened(error) => format!("error  {}", error.message),
        data => format!("{}  {brief}", data.type_name().replace('_', " ")),
    }
}

/// Shows the run until the user has seen enough.
fn step_through(mut run: FinishedRun) -> io::Result<()> {
    let mut viewer = Viewer::open()?;
    let nothing = Screen::new(&TerminalConfig::default());
    let title = run.folder.file_name().unwrap_or_default();
    let title = title.to_string_lossy();
    let last = run.events.len().saturating_sub(1);
    let mut position = 0;
    loop {
        let at = run
            .events
            .get(position)
            .map(|event| event.at)
            .unwrap_or_default();
        let view = View {
            title: &title,
            status: &format!("{:.2} s", at.as_secs_f64()),
            screen: match &mut run.recording {
                Some(recording) => recording.screen_at(at),
                None => &nothing,
            },
            events: run.events.clone(),
            position,
            help: "→ next  ← previous  n next failure  g first  G last  q quit",
        };
        viewer.draw(&view)?;
        position = match viewer.key(KEY_TIMEOUT)? {
            Some(ViewerKey::Next) => (position + 1).min(last),
            Some(ViewerKey::Previous) => position.saturating_sub(1),
            Some(ViewerKey::First) => 0,
            Some(ViewerKey::Last) => last,
            Some(ViewerKey::NextFailure) => {
                let rest = run.events.iter().enumerate().skip(position + 1);
                let mut failed = rest.filter(|(_, event)| event.holds == Some(false));
                failed.next().map_or(position, |(nth, _)| nth)
            }
            Some(ViewerKey::Quit) => return Ok(()),
            None => position,
        };
    }
}
