//! `cuecard agent`: a coding agent in a terminal.

use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Json;
use cuecard_terminal::control::CONTROL_VARIABLE;
use cuecard_terminal::{AgentOptions, AgentVerdict, MockAgent, TerminalOutput};
use cuecard_timeline::profiles::{AbstractCall, AgentName, Profiles, native_call};
use cuecard_trace::export::{self, SESSION_FORMATS, SessionHeader};
use cuecard_trace::import::TranscriptFormat;
use cuecard_trace::{ToolCall, Trace};
use serde_json::json;

use super::timeline_options::{TimelineOptions, run_folder};
use crate::args::AgentArgs;
use crate::asynchronous::until_stopped;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output_files::{self, unwritable_run};

pub(crate) fn run(args: &AgentArgs, context: &Context) -> Result<ExitCode, Stop> {
    let Context {
        environment,
        output,
    } = context;
    let options = TimelineOptions::of_player(&args.which, &args.speed, args.strict, environment);
    let (play, doubts) = options.checked().map_err(Stop::invalid)?;
    output.diagnostics(&doubts);
    let transcripts = args.transcripts.iter().map(|written| transcript(written));
    let transcripts: Result<Vec<Transcript>, _> = transcripts.collect();
    let transcripts = transcripts.map_err(Stop::invalid)?;
    let working_directory = inputs::working_directory().map_err(Stop::could_not_run)?;
    let workspace = match &args.workspace {
        Some(folder) => working_directory.join(folder),
        None => working_directory,
    };
    let workspace = workspace.canonicalize().map_err(|error| {
        let reason = inputs::io_reason(&error);
        let message = format!(
            "the workspace `{}` can't be used: {reason}",
            workspace.display()
        );
        Stop::could_not_run(Diagnostic::error(codes::FILE_READ, message))
    })?;
    let policy = inputs::policy(&args.safety, Some(&args.runs.run_dir), &workspace);
    let described = json!({"command": "agent", "scenarios": args.paths});
    let (run_dir, trace) =
        run_folder(&args.runs.run_dir, described).map_err(Stop::could_not_run)?;
    let options = AgentOptions {
        play,
        workspace: workspace.clone(),
        policy: policy.map_err(Stop::invalid)?,
        environment: environment.clone(),
        simulates: args.simulate,
        checkpoint: args.checkpoint_cmd.clone(),
        control: environment
            .iter()
            .find(|(name, _)| name == CONTROL_VARIABLE)
            .map(|(_, path)| PathBuf::from(path)),
    };
    let is_controlled = options.control.is_some();
    let agent = MockAgent::load(&args.paths, options)?;
    // Who says when steps are due has read the files too.
    if !is_controlled {
        output.diagnostics(agent.diagnostics());
    }
    let terminal = TerminalOutput {
        out: Box::new(std::io::stdout()),
        is_coloured: output.stdout.colour,
    };
    let verdict = until_stopped(async |stop| {
        agent
            .play(terminal, (&trace.run_id, trace.out), &stop)
            .await
    })?;
    let verdict = verdict.map_err(|error| Stop::could_not_run(unwritable_run(&error)))?;
    for transcript in &transcripts {
        let trace_path = run_dir.trace_path();
        let file = transcript.file.clone();
        let file = file.unwrap_or_else(|| {
            run_dir
                .path()
                .join(format!("{}.jsonl", transcript.format.as_str()))
        });
        write_transcript(transcript, &trace_path, &workspace, &file)
            .map_err(Stop::could_not_run)?;
    }
    let mut findings = verdict.findings.iter();
    // A run tells them, if the agent has one.
    if !is_controlled || findings.any(|found| found.code == codes::TERMINAL_NO_CONTROL) {
        output.diagnostics(&verdict.findings);
    }
    Ok(exit_code(&verdict))
}

fn exit_code(verdict: &AgentVerdict) -> ExitCode {
    match (verdict.is_interrupted, verdict.n_failures) {
        (true, _) => ExitCode::Interrupted,
        (false, 0) => ExitCode::Passed,
        (false, _) => ExitCode::Failed,
    }
}

/// A transcript that is asked for.
struct Transcript {
    format: TranscriptFormat,
    file: Option<PathBuf>,
}

/// `AGENT` or `AGENT:FILE`.
fn transcript(written: &str) -> Result<Transcript, Diagnostic> {
    let (name, file) = match written.split_once(':') {
        Some((name, file)) => (name, Some(PathBuf::from(file))),
        None => (written, None),
    };
    let format = SESSION_FORMATS
        .into_iter()
        .find(|format| format.as_str() == name);
    let format = format.ok_or_else(|| {
        let message = format!("`--transcript {written}` is no transcript that can be written");
        let names: Vec<&str> = SESSION_FORMATS
            .iter()
            .map(|format| format.as_str())
            .collect();
        Diagnostic::error(codes::ARGUMENT, message).with_help(format!(
            "write {}, with :FILE to name the file",
            names.join(" or ")
        ))
    })?;
    Ok(Transcript { format, file })
}

/// Writes the session of a trace as a transcript.
fn write_transcript(
    transcript: &Transcript,
    trace: &Path,
    workspace: &Path,
    file: &Path,
) -> Result<(), Diagnostic> {
    let read = File::open(trace).map_err(|error| unwritable_run(&error))?;
    let read = Trace::read_lines(BufReader::new(read))
        .map_err(|error| error.diagnostic(&trace.to_string_lossy()))?;
    let profiles = Profiles::with(Vec::new());
    let profile = AgentName::parse(transcript.format.as_str());
    let profile = profile.and_then(|name| profiles.of_agent(&name));
    let advertised = profile.map(cuecard_timeline::profiles::Profile::advertised);
    let advertised = advertised.unwrap_or_default();
    let native = |call: &ToolCall| -> (String, Json) {
        let written = AbstractCall::new(call.tool.to_string(), (*call.args).clone());
        match native_call(profile, &written, &advertised) {
            Ok(mapped) => (mapped.call.name, (*mapped.call.args).clone()),
            Err(_) => (written.tool, (*written.args).clone()),
        }
    };
    let title = profile.map(cuecard_timeline::profiles::Profile::title);
    let title = title.unwrap_or_default();
    let header = SessionHeader {
        id: &read.header.test_run_id,
        folder: &workspace.to_string_lossy(),
        version: title.split_once(' ').map_or("", |(_, version)| version),
    };
    let text = export::session(transcript.format, &read.events, &header, native);
    let text = text.unwrap_or_default();
    output_files::write_with(file, |out| out.write_all(text.as_bytes()))
}
