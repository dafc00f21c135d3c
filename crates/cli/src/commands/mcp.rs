//! `cuecard mcp demo`: the built-in server for other clients.

use std::net::SocketAddr;

use cuecard_mcp::demo::{self, DemoError};
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
                let ready = |address| stdout(&format!("http://{address}{}\n", demo::HTTP_PATH));
                demo::serve_http(
                    SocketAddr::new(*bind, *port),
                    token.clone(),
                    ready,
                    stop.cancelled_owned(),
                )
                .await
            }
        }
    });
    // A blocked read of standard input must not keep us.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::Passed,
        Err(DemoError::Crashed) => crash(),
        Err(error) => {
            let invalid = matches!(error, DemoError::Listener(_));
            let reason = std::error::Error::source(&error)
                .map_or(String::new(), |source| format!(": {source}"));
            let diagnostic = Diagnostic::error(codes::ARGUMENT, format!("{error}{reason}"));
            output.diagnostic(&diagnostic, false, &Redactor::default());
            if invalid {
                ExitCode::Invalid
            } else {
                ExitCode::CouldNotRun
            }
        }
    }
}

#[expect(clippy::exit, reason = "the client asked the server to crash")]
fn crash() -> ! {
    stderr_line("the demo server was asked to crash, and does");
    std::process::exit(demo::CRASH_EXIT_STATUS.into())
}
