//! `cuecard mcp`: the server for agents, and the built-in one to try things on.

mod agents;
mod child;
pub(super) mod tools;
mod trim;

use std::sync::Arc;

use cuecard_mcp::demo::{self, Ended};
use cuecard_mcp::server::{HTTP_PATH, OnWarning, PlannedFaults, ServerError, serve_stdio};
use cuecard_source::diagnostic::{Diagnostic, codes};
use tokio_util::sync::CancellationToken;

use self::agents::Project;
use crate::args::{McpArgs, McpServer};
use crate::asynchronous::until_stopped;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::output::{Output, stderr_line, stdout};
use crate::signals;

pub(crate) fn run(args: &McpArgs, context: &Context) -> Result<ExitCode, Stop> {
    match &args.what {
        Some(demo) => run_demo(demo, &context.output),
        None => run_project(args, context),
    }
}

/// Serves the project's scenarios until the client leaves or we are stopped.
fn run_project(args: &McpArgs, context: &Context) -> Result<ExitCode, Stop> {
    let project = Project::of(args, &context.environment)?;
    let served = until_stopped(async |stop| {
        let (faults, on_warning) = (PlannedFaults::default(), on_warning(&context.output));
        serve_stdio(project, faults, on_warning, stop.cancelled_owned()).await
    })?;
    served.map_err(failed)?;
    Ok(ExitCode::Passed)
}

fn run_demo(server: &McpServer, output: &Output) -> Result<ExitCode, Stop> {
    let McpServer::Demo(args) = server;
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return Err(ExitCode::CouldNotRun.into());
    };
    let result = runtime.block_on(async {
        match args.http {
            false => demo::serve_stdio(on_warning(output)).await,
            true => {
                let stop = CancellationToken::new();
                let _listening = signals::listen(stop.clone(), Some(signals::STOPPING));
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
        Ok(Ended::Normally) => Ok(ExitCode::Passed),
        Ok(Ended::Crashed) => crash(),
        Err(error) => Err(failed(error)),
    }
}

/// Prints what a client sent wrong.
fn on_warning(output: &Output) -> OnWarning {
    let output = output.clone();
    Arc::new(move |found| output.diagnostic(found))
}

/// Why a server of ours ended too early.
pub(super) fn failed(error: ServerError) -> Stop {
    match error {
        ServerError::Listener(error) => (&error).into(),
        error => {
            let source = std::error::Error::source(&error);
            let reason = source.map_or(String::new(), |source| format!(": {source}"));
            let message = format!("{error}{reason}");
            Stop::could_not_run(Diagnostic::error(codes::ARGUMENT, message))
        }
    }
}

#[expect(clippy::exit, reason = "the client asked the server to crash")]
fn crash() -> ! {
    stderr_line("the demo server was asked to crash, and does");
    std::process::exit(demo::CRASH_EXIT_STATUS.into())
}
