//! `cuecard serve llm`: options, the stand-in, what is printed, and how it ends.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cuecard_llm::{MockLlm, RunningLlm, StartError, TraceOutput, client_variables};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::listener::ListenerError;
use cuecard_runtime::run_dir::RunDir;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::telling::{self, Watching};
use super::{child, llm_options, stdin};
use crate::args::ServeLlmArgs;
use crate::asynchronous::until_stopped;
use crate::commands::teller::OutputWriter;
use crate::exit_code::ExitCode;
use crate::inputs::io_reason;
use crate::open_files::OpenFiles;
use crate::output::Output;
use crate::output_files::create_run_dir;

pub(crate) fn run(
    args: &ServeLlmArgs,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> ExitCode {
    let options = match llm_options::options(args, environment) {
        Ok((options, doubts)) => {
            output.diagnostics(&doubts, args.json, &Redactor::default());
            options
        }
        Err(problems) => {
            output.diagnostics(&problems, args.json, &Redactor::default());
            return ExitCode::Invalid;
        }
    };
    let paths: Vec<_> = args.paths.iter().chain(&args.scenarios).cloned().collect();
    let mut mock_server = MockLlm::from_files(paths).options(options);
    if args.how.list_faults {
        return match mock_server.planned_faults() {
            Ok(planned) => {
                telling::planned_faults(&planned, args.json);
                ExitCode::Passed
            }
            Err(error) => refuse(error, args.json, output),
        };
    }
    let scenarios: Vec<_> = args.paths.iter().chain(&args.scenarios).collect();
    let described = json!({"command": "serve llm", "scenarios": scenarios});
    let files = match RunFiles::create(&args.runs.run_dir, args.exchanges.as_deref(), described) {
        Ok(files) => files,
        Err(diagnostic) => {
            output.diagnostic(&diagnostic, args.json, &Redactor::default());
            return ExitCode::CouldNotRun;
        }
    };
    let open_files = OpenFiles::raise();
    let teller = OutputWriter::new(output, args.json, !args.command.is_empty());
    let mut watching = Watching::new(teller.clone(), files.exchanges, files.run_dir.clone());
    mock_server = mock_server
        .trace(TraceOutput {
            out: Box::new(files.trace),
            run_id: files.run_dir.id().to_owned(),
        })
        .watch(Box::new(move |notice| watching.see(notice)));
    let code = until_stopped(async |stop| {
        serve(args, mock_server, &teller, environment, &open_files, &stop).await
    });
    teller.drain();
    code.unwrap_or_else(|code| code)
}

async fn serve(
    args: &ServeLlmArgs,
    mock_server: MockLlm,
    teller: &OutputWriter,
    environment: &[(OsString, OsString)],
    open_files: &OpenFiles,
    stop: &CancellationToken,
) -> ExitCode {
    let output = &teller.output;
    let running = match mock_server.start().await {
        Ok(running) => running,
        Err(error) => return refuse(error, args.json, output),
    };
    output.diagnostics(running.diagnostics(), args.json, &Redactor::default());
    let url = running.base_url();
    let shown = client_variables(&url, args.token.as_deref().map(|_| "(the token)"));
    telling::ready(teller, &running, &shown);
    let code = match args.command.is_empty() {
        true => {
            until_stopped_or_eof(args, &running, teller, stop).await;
            ExitCode::Passed
        }
        false => {
            let variables = client_variables(&url, args.token.as_deref());
            let command = &args.command;
            child::run(teller, command, &variables, environment, open_files, stop).await
        }
    };
    let ended_with = match code {
        _ if args.command.is_empty() || stop.is_cancelled() => None,
        ExitCode::Passed => Some(0),
        ExitCode::OfCommand(code) => Some(i64::from(code)),
        _ => None,
    };
    // What was expected is no failure.
    let code = match ended_with.is_some_and(|code| running.expects_exit_code(code)) {
        true => ExitCode::Passed,
        false => code,
    };
    let verdict = running.stop_after(ended_with).await;
    telling::verdict(teller, &verdict);
    let code = match &verdict.trace_error {
        None => code,
        Some(reason) => {
            let message = format!("the trace is incomplete: {reason}");
            teller.diagnostic(&Diagnostic::error(codes::FILE_WRITE, message));
            match code {
                ExitCode::Passed => ExitCode::CouldNotRun,
                code => code,
            }
        }
    };
    match (code, verdict.passed) {
        (ExitCode::Passed, true) => ExitCode::Passed,
        (ExitCode::Passed, false) => ExitCode::Failed,
        (code, _) => code,
    }
}

/// Returns when the mock is to stop. With `--stop-on-stdin-eof`, each line of standard input until then is answered with
/// the verdict so far.
async fn until_stopped_or_eof(
    args: &ServeLlmArgs,
    running: &RunningLlm,
    teller: &OutputWriter,
    stop: &CancellationToken,
) {
    if !args.listen.stop_on_stdin_eof {
        return stop.cancelled().await;
    }
    let mut lines = stdin::follow(stop);
    loop {
        tokio::select! {
            biased;
            Some(()) = lines.recv() => telling::verdict_so_far(teller, &running.verdict()),
            () = stop.cancelled() => return,
        }
    }
}

/// Tells why a stand-in doesn't start.
pub(crate) fn refuse(error: StartError, is_json: bool, output: &Output) -> ExitCode {
    let (found, code) = refused(error);
    output.diagnostics(&found, is_json, &Redactor::default());
    code
}

/// Why a stand-in doesn't start, and how to exit.
pub(crate) fn refused(error: StartError) -> (Vec<Diagnostic>, ExitCode) {
    let (found, code) = match error {
        StartError::Files(found) => return (found, ExitCode::Invalid),
        StartError::Listener(error) => listener_refused(&error),
        StartError::Io(source) => {
            let message = format!("the mock server failed to start: {}", io_reason(&source));
            let found = Diagnostic::error(codes::FILE_WRITE, message);
            (found, ExitCode::CouldNotRun)
        }
    };
    (vec![found], code)
}

/// Why a server of ours can't listen, and how to exit.
pub(crate) fn listener_refused(error: &ListenerError) -> (Diagnostic, ExitCode) {
    match error {
        ListenerError::Bind { bind, source } => {
            let message = format!("failed to listen on `{bind}`: {}", io_reason(source));
            let help = match source.kind() {
                io::ErrorKind::AddrNotAvailable => "127.0.0.1 is this machine",
                _ => "port 0 is any free port",
            };
            let found = Diagnostic::error(codes::ARGUMENT, message).with_help(help);
            (found, ExitCode::CouldNotRun)
        }
        error => {
            let found = Diagnostic::error(codes::ARGUMENT, error.to_string());
            (found, ExitCode::Invalid)
        }
    }
}

/// The files of a run.
pub(crate) struct RunFiles {
    pub(crate) run_dir: Arc<RunDir>,
    pub(crate) trace: File,
    pub(crate) exchanges: File,
}

impl RunFiles {
    /// Makes them below `parent`; `described` says what is run. The log of exchanges is `log`, if that is given.
    pub(crate) fn create(
        parent: &Path,
        log: Option<&Path>,
        mut described: Value,
    ) -> Result<Self, Diagnostic> {
        let started = Clock::start().timestamp(Duration::ZERO);
        let of_run_dir = |error| {
            unwritable(parent, &error).with_help("choose another directory with `--run-dir DIR`")
        };
        let run_dir = create_run_dir(parent, started).map_err(of_run_dir)?;
        let trace = run_dir.trace_file().map_err(of_run_dir)?;
        described["id"] = run_dir.id().into();
        described["started_at"] = started.to_string().into();
        run_dir.describe(&described).map_err(of_run_dir)?;
        let log = match log {
            Some(path) => path.to_owned(),
            None => run_dir.path().join("exchanges.jsonl"),
        };
        // What clients say is nobody else's business.
        let exchanges = File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&log)
            .map_err(|error| unwritable(&log, &error))?;
        Ok(Self {
            run_dir: Arc::new(run_dir),
            trace,
            exchanges,
        })
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Diagnostic {
    let message = format!(
        "`{}` can't be written: {}",
        path.display(),
        io_reason(error)
    );
    Diagnostic::error(codes::FILE_WRITE, message)
}
