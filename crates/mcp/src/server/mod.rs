//! MCP servers of ours: the demo, cassettes and the server for agents answer through this module.
//!
//! A server implements [`Handler`]: it introduces itself, lists its tools and answers calls, as plain JSON. Here it gets
//! both eras of the protocol (`initialize` and `server/discover`), stdio ([`serve_stdio`]) and Streamable HTTP
//! ([`serve_http`]).

mod faults;
mod handler;
mod stdio;
mod whole_characters;

use std::fmt;
use std::future::{Future, IntoFuture as _};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::middleware::map_response;
use axum::response::Response;
use axum::serve::ListenerExt as _;
use futures::TryStreamExt as _;
use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::IntoTransport;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use tokio_util::sync::CancellationToken;

use cuecard_runtime::listener::{DEFAULT_BODY_LIMIT, Guard, ListenerError};

use handler::Adapter;
use stdio::Lines;

pub use faults::PlannedFaults;
pub use handler::{Client, GRACE, Handler, Introduction, RpcError, text_result, unfit_result};
pub use whole_characters::OnWarning;
pub(crate) use whole_characters::whole_lines;

/// The path under which [`serve_http`] serves.
pub const HTTP_PATH: &str = "/mcp";

/// How many sessions and requests one HTTP server has at a time.
const MAX_SESSIONS: usize = 1_000;
/// How long a call in flight may still take when the HTTP server is asked to stop.
const HTTP_GRACE: Duration = Duration::from_secs(2);
/// How much of the answers may wait to be written, in bytes.
const PIPE_BYTES: usize = 64 * 1024;

/// Serves one client on standard input and output until the input ends and everything is answered, a fault of an answer
/// ends the stream or the server, or `shutdown` completes. `on_warning` is told what the client sent wrong and was read
/// all the same.
///
/// # Errors
/// [`ServerError::Protocol`] when what arrives isn't the protocol.
pub async fn serve_stdio(
    handler: impl Handler,
    faults: PlannedFaults,
    on_warning: OnWarning,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServerError> {
    let (reading, writing) = rmcp::transport::stdio_pipes();
    let reading = whole_lines(reading, on_warning);
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let lines = Lines::new(reading, ours, handler.grace());
    let serving = serve(Adapter::new(handler), lines);
    let mut copying = pin!(faults::copy(theirs, writing, &faults));
    tokio::select! {
        _ = &mut copying => Ok(()),
        ended = serving => {
            copying.await;
            ended
        }
        () = shutdown => Ok(()),
    }
}

/// Serves any number of clients over Streamable HTTP at [`HTTP_PATH`] of `bind`, until `shutdown` completes. `on_ready`
/// is told the address, with the port that was chosen if `bind` has port 0; `on_warning`, what a client sent wrong and was
/// read all the same. The clients share the handler's state.
///
/// # Errors
/// [`ServerError::Listener`] when `bind` is unsafe without a `token`, or taken; [`ServerError::Serve`] when accepting
/// fails.
pub async fn serve_http(
    handler: impl Handler,
    bind: SocketAddr,
    token: Option<String>,
    on_warning: OnWarning,
    on_ready: impl FnOnce(SocketAddr),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServerError> {
    let adapter = Adapter::new(handler);
    let clones: fn(&_) -> usize = Adapter::clones;
    serve_service_http(
        (adapter, clones),
        bind,
        token,
        on_warning,
        on_ready,
        shutdown,
    )
    .await
}

/// Why a server ended, other than because it was asked to.
#[derive(Debug)]
pub enum ServerError {
    /// The address can't be listened on.
    Listener(ListenerError),
    /// Accepting connections failed.
    Serve(io::Error),
    /// The client doesn't speak the protocol, or the service failed. Boxed, so that the protocol library's types stay
    /// here.
    Protocol(Box<dyn std::error::Error + Send + Sync>),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Listener(_) => "the server can't start",
            Self::Serve(_) => "the server can't accept connections",
            Self::Protocol(_) => "protocol error between the server and its client",
        })
    }
}

impl std::error::Error for ServerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listener(error) => Some(error),
            Self::Serve(error) => Some(error),
            Self::Protocol(error) => Some(error.as_ref()),
        }
    }
}

/// Serves `service` as [`serve_http`] does; `clones` says how many clones of it there are.
pub(crate) async fn serve_service_http<S: ServerHandler + Clone>(
    (service, clones): (S, fn(&S) -> usize),
    bind: SocketAddr,
    token: Option<String>,
    on_warning: OnWarning,
    on_ready: impl FnOnce(SocketAddr),
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServerError> {
    let guard = Guard::new(bind, token).map_err(ServerError::Listener)?;
    let listener = guard.listen().await.map_err(ServerError::Listener)?;
    let address = listener.local_addr().map_err(ServerError::Serve)?;

    let stop = CancellationToken::new();
    // Sessions end with this function, also when it is dropped.
    let _stop_on_drop = stop.clone().drop_guard();
    let service = http_service(service, clones, stop.clone());
    let router = Router::new()
        .route_service(HTTP_PATH, service)
        .layer(map_response(with_results));
    let router = guard.wrap(whole_characters::wrap(router, on_warning));
    // An answer has several small parts, and each is to go at once.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let server =
        axum::serve(listener, router).with_graceful_shutdown(stop.clone().cancelled_owned());
    on_ready(address);

    let mut serving = pin!(server.into_future());
    tokio::select! {
        ended = &mut serving => return ended.map_err(ServerError::Serve),
        () = shutdown => stop.cancel(),
    }
    match tokio::time::timeout(HTTP_GRACE, serving).await {
        Ok(ended) => ended.map_err(ServerError::Serve),
        // Whoever still holds a connection after that has been told often enough.
        Err(_) => Ok(()),
    }
}

/// A response with the results that its messages carry; each message is a chunk.
async fn with_results(response: Response) -> Response {
    response.map(|body| Body::from_stream(body.into_data_stream().map_ok(handler::with_result)))
}

/// The service behind [`HTTP_PATH`]. The guard checks hosts and sizes for every server of ours, so the library's own
/// checks are set to agree with it.
fn http_service<S: ServerHandler + Clone>(
    service: S,
    clones: fn(&S) -> usize,
    stop: CancellationToken,
) -> StreamableHttpService<S, LocalSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(DEFAULT_BODY_LIMIT)
        .with_cancellation_token(stop);
    let session = move || {
        if clones(&service) > MAX_SESSIONS {
            return Err(io::Error::other(format!(
                "the limit of {MAX_SESSIONS} sessions is reached"
            )));
        }
        Ok(service.clone())
    };
    StreamableHttpService::new(session, Arc::default(), config)
}

/// Serves `service` over `transport` until its client leaves.
pub(crate) async fn serve<T, E, A>(
    service: impl ServerHandler,
    transport: T,
) -> Result<(), ServerError>
where
    T: IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let running = match service.serve(transport).await {
        Ok(running) => running,
        // A client that leaves before it says hello has done nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServerError::Protocol(error.into())),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(ServerError::Protocol(error.into())),
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};
    use tokio::sync::oneshot;

    use super::*;

    /// A result with numbers that neither the SDK's types nor a [`Value`] holds, and with a member that nobody knows.
    const RESULT: &str = r#"{"content":[{"type":"text","text":"a \"b\"","annotations":{"priority":0.123456789}}],"structuredContent":{"id":123456789012345678901,"ratio":1.50},"isError":false,"own":1}"#;

    struct Exact;

    impl Handler for Exact {
        fn introduction(&self) -> Introduction {
            Introduction::default()
        }

        fn tools(&self) -> Vec<Value> {
            vec![json!({ "name": "get" })]
        }

        async fn call(
            &self,
            _tool: &str,
            _arguments: Map<String, Value>,
            _client: &Client,
        ) -> Result<String, RpcError> {
            Ok(RESULT.to_owned())
        }
    }

    #[tokio::test]
    async fn a_result_goes_over_http_as_the_handler_gave_it() {
        let (ready, address) = oneshot::channel();
        let serving = serve_http(
            Exact,
            ([127, 0, 0, 1], 0).into(),
            None,
            Arc::new(|_| {}),
            |address| ready.send(address).expect("somebody waits"),
            std::future::pending(),
        );
        let asking = async {
            cuecard_runtime::tls::install();
            let url = format!("http://{}{HTTP_PATH}", address.await.expect("it listens"));
            let client = reqwest::Client::builder()
                .no_proxy()
                .build()
                .expect("a client");
            let mut session = None;
            let mut last = String::new();
            let hello = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            });
            for message in [
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
                json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
                json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "get"}}),
            ] {
                let mut request = client.post(&url).json(&message);
                request = request.header("accept", "application/json, text/event-stream");
                if let Some(session) = &session {
                    request = request.header("mcp-session-id", session);
                }
                let answer = request.send().await.expect("an answer");
                let given = answer.headers().get("mcp-session-id").cloned();
                session = session.or(given);
                last = answer.text().await.expect("a text");
            }
            last
        };
        let answer = tokio::select! {
            answer = asking => answer,
            ended = serving => panic!("{ended:?}"),
        };
        assert!(
            answer.contains(&format!(r#""result":{RESULT}"#)),
            "{answer}"
        );
    }
}
