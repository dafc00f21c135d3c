//! A small MCP server to try things on: notes, a counter, texts, failures on demand, a slow tool, a
//! picture, a crash.
//!
//! It is part of the binary, so that a first scenario runs without installing or configuring anything,
//! and it speaks both eras of the protocol (`initialize` and `server/discover`) over stdio
//! ([`serve_stdio`]), over Streamable HTTP ([`serve_http`]) and inside this process ([`connect`]). Each
//! server keeps its own notes and counters, in memory only.

mod arguments;
mod confirm;
mod notes;
mod picture;
mod tools;

use std::fmt;
use std::future::{Future, IntoFuture as _};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ServerCapabilities, ServerConfig,
};
use rmcp::service::{QuitReason, RequestContext, ServerInitializeError};
use rmcp::transport::IntoTransport;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _, tool_handler};
use tokio::io::DuplexStream;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use self::tools::Demo;
use cuecard_runtime::listener::{DEFAULT_BODY_LIMIT, Guard, ListenerError};

/// The path under which [`serve_http`] serves.
pub const HTTP_PATH: &str = "/mcp";

/// The exit status of a stdio server on which somebody called the tool `crash`.
pub const CRASH_EXIT_STATUS: u8 = 3;

/// How many sessions and requests one HTTP server has at a time.
const MAX_SESSIONS: usize = 1_000;
/// How long a call in flight may still take when the HTTP server is asked to stop.
const GRACE: Duration = Duration::from_secs(2);
/// The size of the pipe in [`connect`], in bytes per direction.
const PIPE_BYTES: usize = 64 * 1024;

/// Serves one client on standard input and output until the input ends.
///
/// # Errors
/// [`DemoError::Crashed`] when the tool `crash` was called: the process should print the error and exit
/// with [`CRASH_EXIT_STATUS`] at once, without waiting for blocked reads of standard input.
/// [`DemoError::Protocol`] when what arrives isn't the protocol.
pub async fn serve_stdio() -> Result<(), DemoError> {
    serve_until_crash(rmcp::transport::stdio_pipes()).await
}

/// Serves any number of clients over Streamable HTTP at [`HTTP_PATH`] of `bind`, until `shutdown`
/// completes. `on_ready` is told the address, with the port that was chosen if `bind` has port 0. The
/// clients share the notes and counters.
///
/// # Errors
/// [`DemoError::Listener`] when `bind` is unsafe without a `token`, or taken; [`DemoError::Serve`] when
/// accepting fails.
pub async fn serve_http(
    bind: SocketAddr,
    token: Option<String>,
    on_ready: impl FnOnce(SocketAddr),
    shutdown: impl Future<Output = ()>,
) -> Result<(), DemoError> {
    let guard = Guard::new(bind, token).map_err(DemoError::Listener)?;
    let listener = guard.listen().await.map_err(DemoError::Listener)?;
    let address = listener.local_addr().map_err(DemoError::Serve)?;

    let stop = CancellationToken::new();
    // Sessions end with this function, also when it is dropped.
    let _stop_on_drop = stop.clone().drop_guard();
    let router = guard.wrap(Router::new().route_service(HTTP_PATH, http_service(stop.clone())));
    let server =
        axum::serve(listener, router).with_graceful_shutdown(stop.clone().cancelled_owned());
    on_ready(address);

    let mut serving = pin!(server.into_future());
    tokio::select! {
        ended = &mut serving => return ended.map_err(DemoError::Serve),
        () = shutdown => stop.cancel(),
    }
    match tokio::time::timeout(GRACE, serving).await {
        Ok(ended) => ended.map_err(DemoError::Serve),
        // Whoever still holds a connection after that has been told often enough.
        Err(_) => Ok(()),
    }
}

/// Starts a fresh server inside this process and gives the client's end of its pipe (JSON-RPC, one
/// message a line). The server ends when that end is dropped.
///
/// # Panics
/// Outside of a tokio runtime, as [`tokio::spawn`] does.
pub fn connect() -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    tokio::spawn(async move {
        // The client sees a server that fails as a closed pipe, which is all there is to tell it.
        let _ = serve(Demo::new(None), ours).await;
    });
    theirs
}

/// Why a demo server ended, other than because it was asked to.
#[derive(Debug)]
pub enum DemoError {
    /// The address can't be listened on.
    Listener(ListenerError),
    /// Accepting connections failed.
    Serve(io::Error),
    /// The client doesn't speak the protocol, or the service failed. Boxed, so that the protocol
    /// library's types stay here.
    Protocol(Box<dyn std::error::Error + Send + Sync>),
    /// The tool `crash` was called.
    Crashed,
}

impl fmt::Display for DemoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Listener(_) => "the demo server can't start",
            Self::Serve(_) => "the demo server can't accept connections",
            Self::Protocol(_) => "protocol error between the demo server and its client",
            Self::Crashed => "the demo server crashed because the tool `crash` was called",
        })
    }
}

impl std::error::Error for DemoError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listener(error) => Some(error),
            Self::Serve(error) => Some(error),
            Self::Protocol(error) => Some(error.as_ref()),
            Self::Crashed => None,
        }
    }
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Demo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("cuecard-demo", env!("CARGO_PKG_VERSION")).with_title("Cuecard demo"),
            )
            .with_instructions(
                "A playground for scenarios. Notes and counters live as long as the server; nothing \
                 here touches files or the network.",
            )
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.tools.has_route(&request.name) {
            let names: Vec<String> = self
                .tools
                .list_all()
                .into_iter()
                .map(|tool| tool.name.into_owned())
                .collect();
            let shown: String = request.name.chars().take(100).collect();
            let message = format!("there is no tool `{shown}`; there are {}", names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        self.tools
            .call(ToolCallContext::new(self, request, context))
            .await
    }
}

/// The service behind [`HTTP_PATH`]. The guard checks hosts and sizes for every server of ours, so the
/// library's own checks are set to agree with it.
fn http_service(stop: CancellationToken) -> StreamableHttpService<Demo, LocalSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(DEFAULT_BODY_LIMIT)
        .with_cancellation_token(stop);
    let demo = Demo::new(None);
    let session = move || {
        if demo.clones() > MAX_SESSIONS {
            return Err(io::Error::other(format!(
                "the limit of {MAX_SESSIONS} sessions is reached"
            )));
        }
        Ok(demo.clone())
    };
    StreamableHttpService::new(session, Arc::default(), config)
}

async fn serve_until_crash<T, E, A>(transport: T) -> Result<(), DemoError>
where
    T: IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let crash = Arc::new(Notify::new());
    tokio::select! {
        ended = serve(Demo::new(Some(Arc::clone(&crash))), transport) => ended,
        () = crash.notified() => Err(DemoError::Crashed),
    }
}

async fn serve<T, E, A>(demo: Demo, transport: T) -> Result<(), DemoError>
where
    T: IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let running = match demo.serve(transport).await {
        Ok(running) => running,
        // A client that leaves before it says hello has done nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(DemoError::Protocol(error.into())),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(DemoError::Protocol(error.into())),
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
