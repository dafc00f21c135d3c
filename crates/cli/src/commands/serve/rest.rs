//! `cuecard serve rest`: options, the service, what is printed, and how it ends.

use std::ffi::OsString;

use cuecard_service::{MockService, Notice, ServiceOptions, Verdict};
use cuecard_source::diagnostic::{Diagnostic, codes};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::telling::planned_faults;
use super::{child, n_threads, stdin};
use crate::args::ServeRestArgs;
use crate::asynchronous::until_stopped;
use crate::commands::teller::OutputWriter;
use crate::commands::timeline_options::{TimelineOptions, trace};
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::open_files::OpenFiles;
use crate::output::counted;

pub(crate) fn run(args: &ServeRestArgs, context: &Context) -> Result<ExitCode, Stop> {
    let Context {
        environment,
        output,
    } = context;
    let (options, doubts) = options(args, environment).map_err(Stop::invalid)?;
    output.diagnostics(&doubts);
    let mut service = MockService::from_files(&args.paths).options(options);
    if args.how.list_faults {
        return Ok(planned_faults(&service.planned_faults()?, output));
    }
    let trace = trace(&args.runs.run_dir, "serve rest", &args.paths);
    let trace = trace.map_err(Stop::could_not_run)?;
    let open_files = OpenFiles::raise();
    let teller = OutputWriter::new(output, !args.command.is_empty());
    let watching = teller.clone();
    service = service
        .trace(trace)
        .watch(Box::new(move |notice| see(&watching, notice)));
    let code = until_stopped(async |stop| {
        serve(args, service, &teller, environment, &open_files, &stop).await
    });
    teller.drain();
    code?
}

/// Tells what happens.
fn see(teller: &OutputWriter, notice: &Notice) {
    match notice {
        Notice::Finding(found) => teller.finding(found),
        Notice::Ended {
            session,
            scenario,
            status,
        } if teller.is_json => {
            let ended = json!({"session": session, "scenario": scenario, "status": status});
            teller.event("session", ended);
        }
        Notice::Ended {
            session,
            scenario,
            status,
        } => teller.progress(&format!("{session}  {scenario}  {status}")),
    }
}

async fn serve(
    args: &ServeRestArgs,
    service: MockService,
    teller: &OutputWriter,
    environment: &[(OsString, OsString)],
    open_files: &OpenFiles,
    stop: &CancellationToken,
) -> Result<ExitCode, Stop> {
    let running = service.start().await?;
    teller.output.diagnostics(running.diagnostics());
    let (url, n_scenarios) = (running.base_url(), running.n_scenarios());
    match args.json {
        true => teller.event("ready", json!({"url": url, "scenarios": n_scenarios})),
        false => {
            let timelines = counted(n_scenarios, "timeline");
            teller.line(&format!("ready  {url}   {timelines}"));
            teller.line(&format!(
                "  API   {url}/api/v1   ({url}/api/v1/openapi.json)"
            ));
        }
    }
    if args.listen.stop_on_stdin_eof {
        stdin::follow(stop);
    }
    let variables = [("CUECARD_SERVICE_URL", url)];
    let command = &args.command;
    let code = child::run(teller, command, &variables, environment, open_files, stop).await;
    let verdict = running.stop().await;
    tell_verdict(teller, &verdict);
    Ok(teller.exit_code(code, verdict.passed, verdict.trace_error.as_ref()))
}

fn tell_verdict(teller: &OutputWriter, verdict: &Verdict) {
    if teller.is_json {
        teller.last_event("verdict", verdict.to_json());
        return;
    }
    let mut facts = Vec::new();
    if verdict.n_failures > 0 {
        facts.push(counted(verdict.n_failures, "failure"));
    }
    facts.push(counted(verdict.n_sessions, "session"));
    if verdict.unplayed.is_empty() {
        facts.push("all timelines played".to_owned());
    }
    teller.verdict(verdict.passed, &facts);
    if verdict.passed && !verdict.unplayed.is_empty() {
        let names = verdict.unplayed.join(", ");
        teller.last_line(&format!(
            "  not played to their end: {names} (a failure with --require-complete)"
        ));
    }
}

fn options(
    args: &ServeRestArgs,
    environment: &[(OsString, OsString)],
) -> Result<(ServiceOptions, Vec<Diagnostic>), Vec<Diagnostic>> {
    let judged = (args.strict, args.require_complete);
    let mut options = TimelineOptions::of(&args.which, &args.how, judged, environment);
    let is_origin = |origin: &str| {
        origin.bytes().all(|byte| byte.is_ascii_graphic())
            && origin.split_once("://").is_some_and(|(scheme, host)| {
                matches!(scheme, "http" | "https") && !host.is_empty() && !host.contains('/')
            })
    };
    if let Some(origin) = args.cors.as_deref().filter(|origin| !is_origin(origin)) {
        let message = format!("`--cors {origin}` is not an origin");
        options.problems.0.push(
            Diagnostic::error(codes::ARGUMENT, message)
                .with_help("write it as http://localhost:5173, without a path"),
        );
    }
    let (play, doubts) = options.checked()?;
    let options = ServiceOptions {
        bind: args.listen.address.socket(),
        token: args.token.clone(),
        cors_origin: args.cors.clone(),
        play,
        waits_for_prompts: args.wait_for_prompts,
        fixed_time: args.fixed_clock,
        // Streams cost those who read them as much, and often they are on this machine.
        n_threads: n_threads().div_ceil(2),
        ..ServiceOptions::default()
    };
    Ok((options, doubts))
}
