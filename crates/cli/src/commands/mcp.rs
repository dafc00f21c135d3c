//! `cuecard mcp demo`: the built-in server for other clients.

use std::net::SocketAddr;

use cuecard_mcp::demo::{self, Ended};
use cuecard_mcp::server::{HTTP_PATH, ServerError};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;
use tokio_util::sync::CancellationToken;

use crate::args::{McpArgs, McpServer};
use crate::exit_code::ExitCode;
use crate::output::{Output, stderr_line, stdout};
use crate::signals;

pub(crate) fn run(args: &McpArgs, output: &Output) -> ExitCode {
    let McpServer::Demo {
        http,
        port,
        bind,
        token,
    } = &args.what;
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return ExitCode::CouldNotRun;
    };
    let result = runtime.block_on(async {
        match http {
            false => demo::serve_stdio().await,
            true => {
                let stop = CancellationToken::new();
                signals::listen(stop.clone(), Some(signals::STOPPING));
                let ready = |address| stdout(&format!("http://{address}{}\n", HTTP_PATH));
                let address = SocketAddr::new(*bind, *port);
                let stopped = stop.cancelled_owned();
                let ended = demo::serve_http(address, token.clone(), ready, stopped).await;
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

/// Reports why a server of ours ended too early.
pub(super) fn failed(error: &ServerError, output: &Output) -> ExitCode {
    let reason =
        std::error::Error::source(error).map_or(String::new(), |source| format!(": {source}"));
    let diagnostic = Diagnostic::error(codes::ARGUMENT, format!("{error}{reason}"));
    output.diagnostic(&diagnostic, false, &Redactor::default());
    match error {
        ServerError::Listener(_) => ExitCode::Invalid,
        _ => ExitCode::CouldNotRun,
    }
}

#[expect(clippy::exit, reason = "the client asked the server to crash")]
fn crash() -> ! {
    stderr_line("the demo server was asked to crash, and does");
    std::process::exit(demo::CRASH_EXIT_STATUS.into())
}
