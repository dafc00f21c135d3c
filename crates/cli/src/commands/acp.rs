//! `cuecard acp`: an agent for editors and other clients, over the standard streams; or a client of a real agent.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use cuecard_acp::{
    AcpOptions, AcpPlayer, AgentCommand, DEFAULT_PATIENCE, Notice, Side, Verdict, Workspace,
};
use cuecard_mcp::TransportSpec;
use cuecard_mcp::config::{Config, ConfigSearch, ConfiguredServer};
use cuecard_report::stand_in_junit::{self, PlayedScenario};
use cuecard_runtime::clock::Stopwatch;
use cuecard_source::Span;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::model::{McpServer, McpTransport};
use tokio_util::sync::CancellationToken;

use super::acp_control::RunControl;
use super::serve;
use super::teller::{OutputWriter, played};
use super::timeline_options::{TimelineOptions, trace};
use crate::args::AcpArgs;
use crate::asynchronous::until_stopped;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::{counted, stderr_line};
use crate::output_files;

pub(crate) fn run(args: &AcpArgs, context: &Context) -> Result<ExitCode, Stop> {
    let Context {
        environment,
        output,
    } = context;
    let files = output_files(args).map_err(Stop::invalid)?;
    let (options, doubts) = options(args, environment).map_err(Stop::invalid)?;
    output.diagnostics(&doubts);
    let mcp_servers = mcp_servers(args, environment).map_err(Stop::invalid)?;
    let side = match args.client {
        true => Side::Client,
        false => Side::Agent,
    };
    let (control, lead) = match side {
        Side::Agent => RunControl::of(environment, &args.paths, &options.play),
        Side::Client => None,
    }
    .unzip();
    let player = AcpPlayer::from_files(&args.paths).options(AcpOptions { lead, ..options });
    if args.how.list_faults {
        return Ok(serve::planned_faults(&player.planned_faults(side)?, output));
    }
    let mut trace = trace(&args.runs.run_dir, "acp", &args.paths).map_err(Stop::could_not_run)?;
    if let Some(control) = &control {
        trace.out = control.trace(trace.out);
    }
    // The standard output belongs to the protocol.
    let teller = OutputWriter::new(output, true);
    let watching = teller.clone();
    let tell_run = control.as_ref().map(RunControl::watcher);
    let watcher = Box::new(move |notice: &Notice| {
        if let Some(tell_run) = &tell_run {
            tell_run(notice);
        }
        match notice {
            Notice::Finding(found) => watching.finding(found),
            Notice::Turn(turn) => watching.progress(&format!(
                "{}  prompt {} of {}  {}",
                turn.session, turn.turn, turn.scenario, turn.reason
            )),
        }
    });
    let player = player.trace(trace).watch(watcher);
    let watch = Stopwatch::start();
    let ready = |what: &str, count: usize| {
        let timelines = counted(count, "timeline");
        teller.progress(&format!("ready  {what}   {timelines}"));
    };
    let code = until_stopped(async |stop| {
        let over = CancellationToken::new();
        let following = control.map(|control| tokio::spawn(control.follow(over.clone())));
        let verdict = match side {
            Side::Client => match player.client().await {
                Err(error) => Err(error),
                Ok(client) => {
                    output.diagnostics(client.diagnostics());
                    ready("a client of ACP", client.n_scenarios());
                    let agent = AgentCommand {
                        command: args.command.clone(),
                        environment: environment.clone(),
                    };
                    let workspace = Workspace {
                        folder: args.cwd.clone(),
                        is_kept: args.keep,
                        mcp_servers,
                    };
                    Ok(client.drive(&agent, &workspace, &stop).await)
                }
            },
            Side::Agent => match player.agent().await {
                Err(error) => Err(error),
                Ok(agent) => {
                    output.diagnostics(agent.diagnostics());
                    ready("ACP on standard input and output", agent.n_scenarios());
                    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
                    Ok(agent.serve(input, output, &stop).await)
                }
            },
        };
        over.cancel();
        if let Some(following) = following {
            // What was found last reaches the run, too.
            let _ = following.await;
        }
        let code = end(&files, &teller, &verdict?, watch.elapsed());
        // For a stand-in, that is the normal end.
        Ok(match args.client && stop.is_cancelled() {
            true => ExitCode::Interrupted,
            false => code,
        })
    });
    teller.drain();
    code?
}

/// Where the verdict is written to.
struct Files {
    verdict: Option<PathBuf>,
    junit: Option<PathBuf>,
}

/// The files that are named, without what an earlier run left in them.
fn output_files(args: &AcpArgs) -> Result<Files, Diagnostic> {
    let files = Files {
        verdict: args.output.clone(),
        junit: output_files::junit(args.report.as_deref())?,
    };
    let named: Vec<PathBuf> = files.verdict.iter().chain(&files.junit).cloned().collect();
    if !args.how.list_faults {
        let inputs: Vec<_> = args.paths.iter().map(PathBuf::as_path).collect();
        output_files::check_overwriting(named.iter().map(PathBuf::as_path), &inputs)?;
        output_files::clear_results(&named);
    }
    Ok(files)
}

fn options(
    args: &AcpArgs,
    environment: &[(OsString, OsString)],
) -> Result<(AcpOptions, Vec<Diagnostic>), Vec<Diagnostic>> {
    let judged = (args.strict, args.require_complete);
    let mut options = TimelineOptions::of(&args.which, &args.how, judged, environment);
    let warning = inputs::too_long("--timeout", args.timeout);
    options.doubts.extend(warning);
    let (play, doubts) = options.checked()?;
    let options = AcpOptions {
        play,
        patience: args.timeout.unwrap_or(DEFAULT_PATIENCE),
        exec_wrapper: args.exec_wrapper.clone(),
        ..AcpOptions::default()
    };
    Ok((options, doubts))
}

/// The servers of `--mcp-servers`.
fn mcp_servers(
    args: &AcpArgs,
    environment: &[(OsString, OsString)],
) -> Result<Option<Vec<McpServer>>, Vec<Diagnostic>> {
    let Some(file) = &args.mcp_servers else {
        return Ok(None);
    };
    let working_directory = inputs::working_directory().map_err(|problem| vec![problem])?;
    let config = Config::find(&ConfigSearch {
        explicit: Some(file),
        working_directory: &working_directory,
        environment: &inputs::text_environment(environment),
    })?;
    let server = |server: &ConfiguredServer| {
        let spec = server.spec.clone().map_err(|problem| vec![problem])?;
        let transport = match spec.transport {
            TransportSpec::Stdio {
                command, args, env, ..
            } => McpTransport::Stdio { command, args, env },
            TransportSpec::Http { url, headers, .. } => McpTransport::Url {
                url,
                headers,
                is_sse: false,
            },
            TransportSpec::Sse { url, headers, .. } => McpTransport::Url {
                url,
                headers,
                is_sse: true,
            },
            _ => {
                let message = format!(
                    "agents can't reach `{}`: the protocol has stdio, http and sse",
                    spec.name
                );
                return Err(vec![Diagnostic::error(codes::CONFIG_INVALID, message)]);
            }
        };
        Ok(McpServer {
            name: spec.name,
            transport,
            span: Span { start: 0, end: 0 },
        })
    };
    let used = config.servers().iter().filter(|server| !server.is_disabled);
    used.map(server).collect::<Result<_, _>>().map(Some)
}

/// Tells the verdict, and how to exit.
fn end(files: &Files, teller: &OutputWriter, verdict: &Verdict, took: Duration) -> ExitCode {
    let mut exit = match verdict.passed {
        true => ExitCode::Passed,
        false if verdict.could_not_run => ExitCode::CouldNotRun,
        false => ExitCode::Failed,
    };
    let mut facts = Vec::new();
    if verdict.n_failures > 0 {
        facts.push(counted(verdict.n_failures, "failure"));
    }
    facts.push(counted(verdict.n_sessions, "session"));
    facts.push(played(verdict.unplayed.len(), verdict.n_turns(), "prompt"));
    teller.verdict(verdict.passed, &facts);
    let mut problems = Vec::new();
    if let Some(reason) = &verdict.trace_error {
        let message = format!("the trace is incomplete: {reason}");
        problems.push(Diagnostic::error(codes::FILE_WRITE, message));
    }
    if let Some(path) = &files.verdict {
        let text = format!("{:#}\n", verdict.to_json());
        problems
            .extend(output_files::write_with(path, |file| file.write_all(text.as_bytes())).err());
    }
    if let Some(path) = &files.junit {
        let scenarios: Vec<PlayedScenario<'_>> = verdict
            .scenarios
            .iter()
            .map(|scenario| PlayedScenario {
                name: &scenario.name,
                file: &scenario.file,
                n_unplayed: verdict
                    .unplayed
                    .iter()
                    .filter(|unplayed| unplayed.scenario == scenario.name)
                    .count(),
                n_prompts: scenario.n_turns,
            })
            .collect();
        let report = |file: &mut File| {
            stand_in_junit::write("cuecard acp", &scenarios, &verdict.findings, took, file)
        };
        problems.extend(output_files::write_with(path, report).err());
    }
    for problem in &problems {
        teller.diagnostic(problem);
        exit = exit.worst(ExitCode::CouldNotRun);
    }
    if verdict.is_crashed {
        teller.drain();
        stderr_line("a fault of the timeline crashed the agent");
        // As a crash looks to who started it.
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
    exit
}
