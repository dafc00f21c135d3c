//! `cuecard acp`: an agent for editors and other clients, over the standard streams.

use std::ffi::OsString;
use std::path::PathBuf;

use cuecard_acp::{AcpOptions, DEFAULT_PATIENCE, MockAgent, Notice, ReadyAgent, Verdict};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;

use super::serve;
use super::teller::OutputWriter;
use super::timeline_options::{TimelineOptions, trace};
use crate::args::AcpArgs;
use crate::asynchronous::until_stopped;
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::{Output, stderr_line};
use crate::output_files;

pub(crate) fn run(
    args: &AcpArgs,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> ExitCode {
    let told = |found: &[Diagnostic]| output.diagnostics(found, false, &Redactor::default());
    if let Some(file) = args.output.as_ref().filter(|_| !args.how.dry_run) {
        let inputs: Vec<_> = args.paths.iter().map(PathBuf::as_path).collect();
        if let Err(problem) = output_files::check_overwriting([file.as_path()], &inputs) {
            told(&[problem]);
            return ExitCode::Invalid;
        }
        output_files::clear_results(std::slice::from_ref(file));
    }
    let options = match options(args, environment) {
        Ok((options, doubts)) => {
            told(&doubts);
            options
        }
        Err(problems) => {
            told(&problems);
            return ExitCode::Invalid;
        }
    };
    let mut agent = MockAgent::from_files(&args.paths).options(options);
    if args.how.dry_run {
        return match agent.planned_faults() {
            Ok(planned) => {
                serve::planned_faults(&planned, false);
                ExitCode::Passed
            }
            Err(error) => serve::refuse(&error, false, output),
        };
    }
    let trace = match trace(&args.runs.run_dir, "acp", &args.paths) {
        Ok(trace) => trace,
        Err(problem) => {
            told(&[problem]);
            return ExitCode::CouldNotRun;
        }
    };
    // The standard output belongs to the protocol.
    let teller = OutputWriter::new(output, false, true);
    let watching = teller.clone();
    agent = agent
        .trace(trace)
        .watch(Box::new(move |notice| match notice {
            Notice::Finding(found) => watching.finding(found),
            Notice::Turn(turn) => watching.progress(&format!(
                "{}  prompt {} of {}  {}",
                turn.session, turn.turn, turn.scenario, turn.reason
            )),
        }));
    let code = until_stopped(async |stop| {
        let ready = match agent.start().await {
            Ok(ready) => ready,
            Err(error) => return serve::refuse(&error, false, output),
        };
        told(ready.diagnostics());
        teller.progress(&ready_line(&ready));
        let verdict = ready
            .serve(tokio::io::stdin(), tokio::io::stdout(), &stop)
            .await;
        end(args, &teller, &verdict)
    });
    teller.drain();
    code.unwrap_or_else(|code| code)
}

fn ready_line(ready: &ReadyAgent) -> String {
    let count = ready.n_scenarios();
    let plural = if count == 1 { "" } else { "s" };
    format!("ready  ACP on standard input and output   {count} scenario{plural}")
}

fn options(
    args: &AcpArgs,
    environment: &[(OsString, OsString)],
) -> Result<(AcpOptions, Vec<Diagnostic>), Vec<Diagnostic>> {
    let TimelineOptions {
        play,
        mut doubts,
        mut problems,
    } = {
        let judged = (args.strict, args.require_complete);
        TimelineOptions::of(&args.which, &args.how, judged, environment)
    };
    let patience = inputs::seconds("--timeout", args.timeout).map_or_else(
        |problem| {
            problems.push(problem);
            None
        },
        |(timeout, warning)| {
            doubts.extend(warning);
            timeout
        },
    );
    if !problems.is_empty() {
        return Err(problems);
    }
    let options = AcpOptions {
        play,
        patience: patience.unwrap_or(DEFAULT_PATIENCE),
        exec_wrapper: args.exec_wrapper.clone(),
    };
    Ok((options, doubts))
}

/// Tells the verdict, and how to exit.
fn end(args: &AcpArgs, teller: &OutputWriter, verdict: &Verdict) -> ExitCode {
    let mut exit = match verdict.passed {
        true => ExitCode::Passed,
        false => ExitCode::Failed,
    };
    let count = |n: u64, one: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    };
    let mut facts = Vec::new();
    if verdict.n_failures > 0 {
        facts.push(count(verdict.n_failures, "failure"));
    }
    facts.push(count(verdict.n_sessions, "session"));
    facts.push(count(verdict.n_prompts, "prompt"));
    facts.push(match verdict.unplayed.len() {
        0 => format!("all {} played", verdict.n_turns),
        unplayed => format!("{unplayed} of {} not played", verdict.n_turns),
    });
    let word = if verdict.passed { "passed" } else { "failed" };
    teller.progress(&format!(
        "verdict  {} {word}: {}",
        teller.mark(verdict.passed),
        facts.join(", ")
    ));
    let mut problems = Vec::new();
    if let Some(reason) = &verdict.trace_error {
        let message = format!("the trace is incomplete: {reason}");
        problems.push(Diagnostic::error(codes::FILE_WRITE, message));
    }
    if let Some(path) = &args.output {
        let text = format!("{:#}\n", verdict.to_json());
        let written = output_files::create(path).and_then(|mut file| {
            std::io::Write::write_all(&mut file, text.as_bytes()).map_err(|error| {
                let reason = inputs::io_reason(&error);
                let message = format!("`{}` can't be written: {reason}", path.display());
                Diagnostic::error(codes::FILE_WRITE, message)
            })
        });
        problems.extend(written.err());
    }
    for problem in &problems {
        teller.diagnostic(problem);
        exit = exit.worst(ExitCode::CouldNotRun);
    }
    if verdict.is_crashed {
        teller.drain();
        stderr_line("a fault of the scenario crashed the agent");
        // As a crash looks to who started it.
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
    exit
}
