//! From a server's config to a connection: the one place that knows every transport.

use std::ffi::OsString;
use std::sync::Arc;

use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, RoleClient, RunningService,
};

use super::error::ErrorKind;
use super::frames::FrameSink;
use super::handler::Handler;
use super::http::{self, HttpTransport};
use super::link::{Link, ReadEnd};
use super::messages::MessageTransport;
use super::spec::{ServerSpec, TransportSpec};
use super::stdio::{self, ProcessSupervisor};
use super::{chrome, sse, unix, websocket};

/// A connection whose handshake is still to come.
pub(super) struct Connection {
    pub(super) wire: Wire,
    /// What ends the server, if it has a process.
    pub(super) keeper: Option<ProcessSupervisor>,
    /// Where frames go; none over Streamable HTTP, which is the SDK's.
    pub(super) sink: Option<Arc<dyn FrameSink>>,
}

/// What carries the messages.
pub(super) enum Wire {
    Messages(Box<MessageTransport>),
    Http(Box<HttpTransport>),
}

/// Starts or reaches the server of `spec`.
pub(super) async fn connect(
    spec: &ServerSpec,
    inherited: &[(OsString, OsString)],
    link: &Arc<Link>,
) -> Result<Connection, ErrorKind> {
    let messages = match &spec.transport {
        TransportSpec::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
            let (messages, keeper) =
                stdio::start(command, args, env, cwd.as_deref(), inherited, link)?;
            return Ok(Connection {
                sink: Some(messages.sink()),
                wire: Wire::Messages(Box::new(messages)),
                keeper: Some(keeper),
            });
        }
        TransportSpec::Http {
            url, headers, auth, ..
        } => {
            let transport = http::transport(url, headers, auth.as_ref(), link)?;
            return Ok(Connection::http(Wire::Http(Box::new(transport))));
        }
        TransportSpec::HttpUnix {
            socket,
            path,
            headers,
        } => {
            unix::check(socket).map_err(|why| unix::unreachable(socket, why))?;
            let transport = http::over_socket(socket, path, headers, link)?;
            return Ok(Connection::http(Wire::Http(Box::new(transport))));
        }
        TransportSpec::InProcess(maker) => {
            let (read, write) = tokio::io::split(maker());
            MessageTransport::lines(read, write, Arc::clone(link))
        }
        TransportSpec::Unix { path } => {
            let stream = unix::connect(path).await;
            let stream = stream.map_err(|why| unix::unreachable(path, why))?;
            let (read, write) = stream.into_split();
            MessageTransport::lines(read, write, Arc::clone(link))
        }
        TransportSpec::Sse { url, headers } => {
            let (source, sink) = sse::connect(url, headers).await?;
            MessageTransport::new(source, sink, Arc::clone(link))
        }
        TransportSpec::WebSocket { url, headers } => {
            let (source, sink) = websocket::connect(url, headers).await?;
            MessageTransport::new(source, sink, Arc::clone(link))
        }
        TransportSpec::Chrome => {
            let (source, sink) = chrome::connect(inherited).await?;
            MessageTransport::new(source, sink, Arc::clone(link))
        }
    };
    // No process tells of its end, so the end of what it says does.
    tokio::spawn(end_with_reading(Arc::clone(link)));
    Ok(Connection {
        sink: Some(messages.sink()),
        wire: Wire::Messages(Box::new(messages)),
        keeper: None,
    })
}

impl Connection {
    fn http(wire: Wire) -> Self {
        Self {
            wire,
            keeper: None,
            sink: None,
        }
    }
}

impl Wire {
    /// The handshake. Dropping it drops the connection.
    pub(super) async fn serve(
        self,
        handler: Handler,
        lifecycle: ClientLifecycleMode,
    ) -> Result<RunningService<RoleClient, Handler>, ClientInitializeError> {
        match self {
            Self::Messages(messages) => handler.serve_with_lifecycle(*messages, lifecycle).await,
            Self::Http(http) => handler.serve_with_lifecycle(*http, lifecycle).await,
        }
    }
}

async fn end_with_reading(link: Arc<Link>) {
    if link.reading_ended().await != ReadEnd::Dropped {
        link.end(None);
    }
}
