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
mod tools;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use cuecard_source::value::cut;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::IntoTransport;
use rmcp::{ErrorData, RoleServer, ServerHandler, tool_handler};
use tokio::io::DuplexStream;
use tokio::sync::Notify;

use self::tools::Demo;
use crate::server::{OnWarning, ServerError, serve, serve_service_http, whole_lines};

/// The size of the pipe in [`connect`], in bytes per direction.
const PIPE_BYTES: usize = 64 * 1024;

/// The exit status of a stdio server on which somebody called the tool `crash`.
pub const CRASH_EXIT_STATUS: u8 = 3;

/// How a server on standard input and output ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client left.
    Normally,
    /// The tool `crash` was called: the process should exit with [`CRASH_EXIT_STATUS`] at once, without waiting for
    /// blocked reads of standard input.
    Crashed,
}

/// Serves one client on standard input and output until the input ends, or the tool `crash` is called.
///
/// # Errors
/// [`ServerError::Protocol`] when what arrives isn't the protocol.
pub async fn serve_stdio(on_warning: OnWarning) -> Result<Ended, ServerError> {
    let (reading, writing) = rmcp::transport::stdio_pipes();
    serve_until_crash((whole_lines(reading, on_warning), writing)).await
}

async fn serve_until_crash<T, E, A>(transport: T) -> Result<Ended, ServerError>
where
    T: IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let crash = Arc::new(Notify::new());
    let demo = Demo::new(Some(Arc::clone(&crash)));
    tokio::select! {
        ended = serve(demo, transport) => ended.map(|()| Ended::Normally),
        () = crash.notified() => Ok(Ended::Crashed),
    }
}

/// Serves any number of clients, as `crate::server` does. They share the notes and counters.
///
/// # Errors
/// As `crate::server`.
pub async fn serve_http(
    bind: SocketAddr,
    token: Option<String>,
    on_warning: OnWarning,
    on_ready: impl FnOnce(SocketAddr),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServerError> {
    let demo = (Demo::new(None), Demo::clones as fn(&Demo) -> usize);
    serve_service_http(demo, bind, token, on_warning, on_ready, shutdown).await
}

/// Starts a fresh server inside this process and gives the client's end of its pipe (JSON-RPC, one message a line). The
/// server ends when that end is dropped.
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
            let shown = cut(&request.name, 100);
            let message = format!("there is no tool `{shown}`; there are {}", names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        self.tools
            .call(ToolCallContext::new(self, request, context))
            .await
    }
}

#[cfg(test)]
mod tests;
