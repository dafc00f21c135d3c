//! `cuecard infer` and `cuecard record transcript`: a scenario out of one recording, or of two.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_mcp::quoted;
use cuecard_recording::Scenario;
use cuecard_recording::infer::{Inferred, Note, infer};
use cuecard_recording::transcript::{Session, session_of};
use cuecard_replay::known_servers;
use cuecard_report::Style;
use cuecard_source::detect::{FileKind, kind_of};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::{Redactor, printable};
use cuecard_trace::import::{detect_session, transcript};
use serde_json::{Map, Value, json};

use super::cassette;
use super::record::named_secrets;
use crate::args::{InferArgs, InferredScenarioArgs, RecordTranscriptArgs};
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs::{read_source, text_environment};
use crate::output::{self, Output, counted, stderr, stdout};
use crate::output_files::write_new;

/// This many remarks of a kind are shown; the JSON document has all.
const MOST_SHOWN: usize = 20;

/// A longer value is not in the command that plays the scenario, in characters.
const LONGEST_IN_COMMAND: usize = 40;

pub(crate) fn run(args: &InferArgs, context: &Context) -> Result<ExitCode, Stop> {
    let files = std::iter::once(&args.first).chain(&args.second);
    let files: Vec<&Path> = files.map(PathBuf::as_path).collect();
    write(&files, &args.scenario, context)
}

pub(crate) fn record(args: &RecordTranscriptArgs, context: &Context) -> Result<ExitCode, Stop> {
    write(&[&args.file], &args.scenario, context)
}

fn write(
    inputs: &[&Path],
    args: &InferredScenarioArgs,
    context: &Context,
) -> Result<ExitCode, Stop> {
    let output = &context.output;
    let secrets = &named_secrets(&args.secret.secrets, &context.environment)?;
    let redactor = Redactor::new(secrets.iter().map(|(_, value)| value.clone()));
    let mut sessions = Vec::new();
    for input in inputs {
        let mut session = read(input, args, &redactor, output)?;
        session.recording.hide(secrets);
        sessions.push(session);
    }
    let is_hidden = |name: &str| {
        let mut sessions = sessions.iter();
        sessions.any(|session| session.recording.hides(name))
    };
    for (name, _) in secrets.iter().filter(|(name, _)| !is_hidden(name)) {
        let message = format!("the value of the secret `{name}` is nowhere in the recording");
        let help = format!("check that `CUECARD_VAR_{name}` has the value that was recorded");
        let warning = Diagnostic::warning(codes::ARGUMENT, message).with_help(help);
        output.redacted(&[warning], &redactor);
    }
    let first = inputs.first().copied().unwrap_or(Path::new("-"));
    let name = name_of(args.out.as_deref().unwrap_or(first));
    let Some((session, rest)) = sessions.split_first() else {
        return Ok(ExitCode::Passed);
    };
    let second = rest.first().map(|session| &session.recording);
    let mut inferred = infer(&session.recording, second, &name).map_err(|error| {
        let gaps = session.recording.gaps.iter().map(|(_, gap)| gap.clone());
        let unplayable = gaps.chain(session.left_out.iter().map(line_of));
        let mut diagnostic = Diagnostic::error(codes::FILE_KIND, error.to_string());
        diagnostic.notes = unplayable.take(MOST_SHOWN).collect();
        let help = "record a session that calls tools of MCP servers, files or commands";
        Stop::invalid(diagnostic.with_help(help))
    })?;
    inferred.left_out.extend(session.left_out.iter().cloned());
    let text = inferred.scenario.to_text();
    if let Some(out) = &args.out {
        let real = |path: &Path| path.canonicalize().ok();
        let is_input = |out: PathBuf| {
            inputs
                .iter()
                .any(|input| real(input).as_ref() == Some(&out))
        };
        if real(out).is_some_and(is_input) {
            let message = format!("`{}` is the recording itself", out.display());
            let help = "choose another name for the scenario";
            return Err(Stop::refused(codes::FILE_WRITE, message, help));
        }
        write_new(out, &text, args.force)?;
    }
    let written = args.out.as_ref().map(|out| out.display().to_string());
    if args.json {
        let mut document = Map::from_iter([
            ("written".to_owned(), json!(written)),
            ("scenario".to_owned(), json!(inferred.scenario)),
        ]);
        document.extend(remarks(&inferred));
        output::document(&Value::Object(document));
    } else if written.is_none() {
        stdout(&text);
    }
    if !args.json {
        let mut told = summary(&inferred, written.as_deref(), output.stderr);
        if let Some(written) = &written {
            let command = play_command(written, &inferred.scenario, None, &context.environment);
            told.push_str(&format!("\nplay it with  {command}\n"));
        }
        stderr(&told);
    }
    Ok(ExitCode::Passed)
}

/// The name of a scenario: that of its file.
fn name_of(path: &Path) -> String {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let name = name
        .filter(|name| name != "-")
        .unwrap_or_else(|| "recorded".to_owned());
    let endings = [".cassette.jsonl", ".jsonl", ".json"];
    let stem = endings.iter().find_map(|ending| name.strip_suffix(ending));
    stem.filter(|stem| !stem.is_empty())
        .unwrap_or(&name)
        .to_owned()
}

/// Reads a recording of any kind, and which of its calls no scenario can make.
fn read(
    path: &Path,
    args: &InferredScenarioArgs,
    redactor: &Redactor,
    output: &Output,
) -> Result<Session, Stop> {
    let source = read_source(path).map_err(Stop::invalid)?;
    let kind = kind_of(&source).filter(|_| args.format.is_none());
    let beside = path.with_extension("cassette.jsonl");
    if kind == Some(FileKind::ToolCall) && !beside.exists() {
        let message = format!(
            "`{}` is a scenario, which has no results of its calls",
            path.display()
        );
        let help = format!(
            "give the session of the agent, or a scenario of `record mcp` whose cassette `{}` is next to it",
            beside.display()
        );
        return Err(Stop::refused(codes::FILE_KIND, message, &help));
    }
    if matches!(kind, Some(FileKind::ToolCall | FileKind::Cassette)) {
        let (_, cassette, found) = cassette::of(path, source)?;
        output.redacted(&found, redactor);
        return Ok(Session {
            recording: cassette.recording(),
            ..Session::default()
        });
    }
    let format = args.format.or_else(|| detect_session(&source));
    let Some(format) = format else {
        let why = match serde_json::from_str::<serde::de::IgnoredAny>(source.text()) {
            _ if source.text().trim().is_empty() => ": it is empty".to_owned(),
            Err(error) if path.extension().is_some_and(|end| end == "json") => format!(": {error}"),
            _ => String::new(),
        };
        let message = format!("`{}` is not a recording{why}", path.display());
        let help = "give a cassette, a scenario with its cassette, or a session of Claude Code or Codex; --format tells what else it is";
        return Err(Stop::refused(codes::FILE_KIND, message, help));
    };
    let imported = transcript(&source, format);
    match imported.trace {
        Some(trace) => {
            output.redacted(&imported.diagnostics, redactor);
            Ok(session_of(&trace))
        }
        None => Err(Stop::invalid(imported.diagnostics)),
    }
}

/// The command that plays the file `written`, to be edited: it names the `config`, or says which servers one must have if
/// no usual one has them, sets each variable to the recorded value, if that is short, and asks for those without one, which
/// are secrets.
pub(super) fn play_command(
    written: &str,
    scenario: &Scenario,
    config: Option<&Path>,
    environment: &[(OsString, OsString)],
) -> String {
    let mut words = vec!["cuecard".to_owned(), "play".to_owned(), quoted(written)];
    let mut unknown = Vec::new();
    match config {
        Some(config) => words.push(format!("--config {}", quoted(&config.to_string_lossy()))),
        None => {
            let (config, _) = Config::survey(&ConfigSearch {
                explicit: None,
                working_directory: &std::env::current_dir().unwrap_or_default(),
                environment: &text_environment(environment),
            });
            let is_known = known_servers(&config);
            let servers = scenario.steps.iter().filter_map(|step| {
                let (server, _) = step.tool.strip_prefix("mcp__")?.split_once("__")?;
                (!is_known(server)).then(|| format!("`{server}`"))
            });
            unknown.extend(servers.collect::<BTreeSet<String>>());
        }
    }
    if !unknown.is_empty() {
        words.push("--config FILE".to_owned());
    }
    for (name, default) in &scenario.variables {
        match default.as_str() {
            Some("") => words.push(format!("--secret {name}")),
            Some(text) if text.chars().count() <= LONGEST_IN_COMMAND && !text.contains('\n') => {
                words.push(format!("--var {}", quoted(&format!("{name}={text}"))));
            }
            _ => {}
        }
    }
    if !unknown.is_empty() {
        words.push(format!("  with {} in FILE", unknown.join(", ")));
    }
    words.join(" ")
}

/// What is said of it, for machines.
pub(super) fn remarks(inferred: &Inferred) -> [(String, Value); 4] {
    [
        ("questions", json!(inferred.questions)),
        ("proposals", json!(inferred.proposals)),
        ("left_out", json!(inferred.left_out)),
        ("hints", json!(inferred.hints)),
    ]
    .map(|(key, value)| (key.to_owned(), value))
}

/// What came of it, for people.
pub(super) fn summary(inferred: &Inferred, written: Option<&str>, style: Style) -> String {
    let scenario = &inferred.scenario;
    let n_outputs: usize = scenario.steps.iter().map(|step| step.output.len()).sum();
    let mut text = format!(
        "{}: {}, {}, {}\n",
        written.unwrap_or("scenario"),
        counted(scenario.steps.len(), "step"),
        counted(scenario.variables.len(), "variable"),
        counted(n_outputs, "output"),
    );
    for (name, default) in &scenario.variables {
        let shown = match default.as_str() {
            Some("") => "must be given".to_owned(),
            _ => format!("default {}", style.shortened(&default.to_string(), 60)),
        };
        text.push_str(&format!("  {name}  {}\n", printable(&shown)));
    }
    for hint in &inferred.hints {
        text.push_str(&format!("  {hint}\n"));
    }
    let parts = [
        ("left out", &inferred.left_out),
        (
            "open questions, which are also in the descriptions of the steps",
            &inferred.questions,
        ),
        (
            "proposals: checks that hold for what was recorded, for `expect`",
            &inferred.proposals,
        ),
    ];
    for (heading, notes) in parts {
        if notes.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{}\n", style.strong(heading)));
        for note in notes.iter().take(MOST_SHOWN) {
            text.push_str(&format!("  {}\n", printable(&line_of(note))));
        }
        if notes.len() > MOST_SHOWN {
            text.push_str(&format!(
                "  … and {} more (--json lists all)\n",
                notes.len() - MOST_SHOWN
            ));
        }
    }
    text
}

fn line_of(note: &Note) -> String {
    let place = match (note.step, note.call) {
        (Some(step), _) => format!("step {step} "),
        (None, Some(call)) => format!("call {call} "),
        (None, None) => String::new(),
    };
    match note.tool.is_empty() {
        true => format!("{place}{}", note.text),
        false => format!("{place}{}: {}", note.tool, note.text),
    }
}
