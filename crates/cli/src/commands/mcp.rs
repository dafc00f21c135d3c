//! `cuecard mcp`: the server for agents, and the built-in one to try things on.

mod agents;
mod child;
pub(super) mod tools;
mod trim;

use std::ffi::OsString;
use std::sync::Arc;

use cuecard_mcp::demo::{self, Ended};
use cuecard_mcp::server::{HTTP_PATH, OnWarning, PlannedFaults, ServerError, serve_stdio};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;
use tokio_util::sync::CancellationToken;

use self::agents::Project;
use super::serve::listener_refused;
use super::stop::Stop;
use crate::args::{McpArgs, McpServer};
use crate::asynchronous::until_stopped;
use crate::exit_code::ExitCode;
use crate::output::{Output, stderr_line, stdout};
use crate::signals;

pub(crate) fn run(
    args: &McpArgs,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> ExitCode {
    match &args.what {
        Some(demo) => run_demo(demo, output),
        None => run_project(args, environment, output),
    }
}

/// Serves the project's scenarios until the client leaves or we are stopped.
fn run_project(args: &McpArgs, environment: &[(OsString, OsString)], output: &Output) -> ExitCode {
    let project = match Project::of(args, environment) {
        Ok(project) => project,
        Err(Stop(diagnostics, exit)) => {
            output.diagnostics(&diagnostics, false, &Redactor::default());
            return exit;
        }
    };
    let served = until_stopped(async |stop| {
        let faults = PlannedFaults::default();
        serve_stdio(project, faults, on_warning(output), stop.cancelled_owned()).await
    });
    match served {
        Ok(Ok(())) => ExitCode::Passed,
        Ok(Err(error)) => failed(&error, output),
        Err(exit) => exit,
    }
}

fn run_demo(server: &McpServer, output: &Output) -> ExitCode {
    let McpServer::Demo(args) = server;
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return ExitCode::CouldNotRun;
    };
    let result = runtime.block_on(async {
        match args.http {
            false => demo::serve_stdio(on_warning(output)).await,
            true => {
                let stop = CancellationToken::new();
                signals::listen(stop.clone(), Some(signals::STOPPING));
                let ready = |address| stdout(&format!("http://{address}{HTTP_PATH}\n"));
                let stopped = stop.cancelled_owned();
                let (token, on_warning) = (args.token.clone(), on_warning(output));
                let ended =
                    demo::serve_http(args.address.socket(), token, on_warning, ready, stopped)
                        .await;
                ended.map(|()| Ended::Normally)
            }
        }
    });
    // A blocked read of standard input must not keep us.
    runtime.shutdown_background();
    match result {
        Ok(Ended::Normally) => ExitCode::Passed,
        Ok(Ended::Crashed) => crash(),
        Err(error) => failed(&error, output),
    }
}

/// Prints what a client sent wrong.
fn on_warning(output: &Output) -> OnWarning {
    let output = output.clone();
    Arc::new(move |found| output.diagnostic(found, false, &Redactor::default()))
}

/// Reports why a server of ours ended too early.
pub(super) fn failed(error: &ServerError, output: &Output) -> ExitCode {
    let (found, code) = match error {
        ServerError::Listener(error) => listener_refused(error),
        error => {
            let source = std::error::Error::source(error);
            let reason = source.map_or(String::new(), |source| format!(": {source}"));
            let found = Diagnostic::error(codes::ARGUMENT, format!("{error}{reason}"));
            (found, ExitCode::CouldNotRun)
        }
    };
    output.diagnostic(&found, false, &Redactor::default());
    code
}

#[expect(clippy::exit, reason = "the client asked the server to crash")]
fn crash() -> ! {
    stderr_line("the demo server was asked to crash, and does");
    std::process::exit(demo::CRASH_EXIT_STATUS.into())
}
