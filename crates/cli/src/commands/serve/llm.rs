//! `cuecard serve llm`: options, the stand-in, what is printed, and how it ends.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use cuecard_llm::{MockLlm, RunningLlm, TraceOutput, client_variables};
use cuecard_runtime::run_dir::RunDir;
use cuecard_source::diagnostic::Diagnostic;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::telling::{self, Watching};
use super::{child, llm_options, stdin};
use crate::args::ServeLlmArgs;
use crate::asynchronous::until_stopped;
use crate::commands::teller::OutputWriter;
use crate::commands::timeline_options::run_folder;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::open_files::OpenFiles;
use crate::output_files::unwritable;

pub(crate) fn run(args: &ServeLlmArgs, context: &Context) -> Result<ExitCode, Stop> {
    let Context {
        environment,
        output,
    } = context;
    let (options, doubts) = llm_options::options(args, environment).map_err(Stop::invalid)?;
    output.diagnostics(&doubts);
    let paths: Vec<_> = args.paths.iter().chain(&args.scenarios).cloned().collect();
    let mut mock_server = MockLlm::from_files(paths).options(options);
    if args.how.list_faults {
        return Ok(telling::planned_faults(
            &mock_server.planned_faults()?,
            output,
        ));
    }
    let scenarios: Vec<_> = args.paths.iter().chain(&args.scenarios).collect();
    let described = json!({"command": "serve llm", "scenarios": scenarios});
    let files = RunFiles::create(&args.runs.run_dir, args.exchanges.as_deref(), described);
    let files = files.map_err(Stop::could_not_run)?;
    let open_files = OpenFiles::raise();
    let teller = OutputWriter::new(output, !args.command.is_empty());
    let mut watching = Watching::new(teller.clone(), files.exchanges, files.run_dir.clone());
    mock_server = mock_server
        .trace(files.trace)
        .watch(Box::new(move |notice| watching.see(notice)));
    let code = until_stopped(async |stop| {
        serve(args, mock_server, &teller, environment, &open_files, &stop).await
    });
    teller.drain();
    code?
}

async fn serve(
    args: &ServeLlmArgs,
    mock_server: MockLlm,
    teller: &OutputWriter,
    environment: &[(OsString, OsString)],
    open_files: &OpenFiles,
    stop: &CancellationToken,
) -> Result<ExitCode, Stop> {
    let running = mock_server.start().await?;
    teller.output.diagnostics(running.diagnostics());
    let url = running.base_url();
    let shown = client_variables(&url, args.token.as_deref().map(|_| "(the token)"));
    telling::ready(teller, &running, &shown);
    let variables = client_variables(&url, args.token.as_deref());
    let command = &args.command;
    let ending = child::run(teller, command, &variables, environment, open_files, stop);
    let code = match args.listen.stop_on_stdin_eof {
        true => answering_lines(&running, teller, stop, ending).await,
        false => ending.await,
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
    Ok(teller.exit_code(code, verdict.passed, verdict.trace_error.as_ref()))
}

/// Waits for `ending`, and until then answers each line of standard input with the verdict so far.
async fn answering_lines(
    running: &RunningLlm,
    teller: &OutputWriter,
    stop: &CancellationToken,
    ending: impl Future<Output = ExitCode>,
) -> ExitCode {
    let mut lines = stdin::follow(stop);
    let mut ending = pin!(ending);
    loop {
        tokio::select! {
            biased;
            Some(()) = lines.recv() => telling::verdict_so_far(teller, &running.verdict()),
            code = &mut ending => return code,
        }
    }
}

/// The files of a run.
pub(crate) struct RunFiles {
    pub(crate) run_dir: Arc<RunDir>,
    pub(crate) trace: TraceOutput,
    pub(crate) exchanges: File,
}

impl RunFiles {
    /// Makes them below `parent`; `described` says what is run. The log of exchanges is `log`, if that is given.
    pub(crate) fn create(
        parent: &Path,
        log: Option<&Path>,
        described: Value,
    ) -> Result<Self, Diagnostic> {
        let (run_dir, trace) = run_folder(parent, described)?;
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
