//! Which server, how to reach it, and what it may take.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::DuplexStream;

use super::auth::ClientCredentials;
use super::text::{self, Mask};

/// One configured server.
#[derive(Clone)]
pub struct ServerSpec {
    /// The name scenarios use (`github` in `mcp__github__create_issue`).
    pub name: String,
    /// How to start or reach it.
    pub transport: TransportSpec,
    /// Which protocol era to speak.
    pub protocol: Protocol,
    /// How long the start may take, the probe for the era included.
    pub start_timeout: Duration,
    /// The only tools that may be called and are listed; all if absent.
    pub allowed_tools: Option<Vec<String>>,
    /// Where the entry came from, for messages: a path, or words like "built in".
    pub source: String,
}

/// How to start or reach a server.
#[derive(Clone)]
pub enum TransportSpec {
    /// A child process that speaks JSON lines over its standard streams.
    Stdio {
        /// A program name looked up in `PATH`, or a path.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables beside the inherited allow-list; their values are treated as secrets.
        env: Vec<(String, String)>,
        /// Its working directory; ours if absent.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The endpoint, `http://…` or `https://…`.
        url: String,
        /// Headers of every request; their values are treated as secrets.
        headers: Vec<(String, String)>,
        /// Whether HTTP with SSE is tried where this gets 404 or 405, as nobody said which it is.
        or_sse: bool,
        /// How to get a token, if the server wants one.
        auth: Option<ClientCredentials>,
    },
    /// The older HTTP with SSE: an event stream, and an address for messages that it names.
    Sse {
        /// The address of the event stream, `http://…` or `https://…`.
        url: String,
        /// Headers of every request; their values are treated as secrets.
        headers: Vec<(String, String)>,
    },
    /// WebSocket: each text frame is a message.
    WebSocket {
        /// The endpoint, `ws://…` or `wss://…`.
        url: String,
        /// Headers of the handshake; their values are treated as secrets.
        headers: Vec<(String, String)>,
    },
    /// JSON lines over a Unix socket.
    Unix {
        /// The socket.
        path: PathBuf,
    },
    /// Streamable HTTP over a Unix socket.
    HttpUnix {
        /// The socket.
        socket: PathBuf,
        /// The path of the endpoint, with its query: `/mcp`.
        path: String,
        /// Headers of every request; their values are treated as secrets.
        headers: Vec<(String, String)>,
    },
    /// The browser extension "Claude in Chrome": the first of its sockets that accepts.
    Chrome,
    /// A server inside this process.
    InProcess(DuplexMaker),
}

/// Starts a server inside this process and gives the client's end of the pipe to it. Called once per
/// start; a session may start a server a second time to find its protocol era.
pub type DuplexMaker = Arc<dyn Fn() -> DuplexStream + Send + Sync>;

/// The protocol era to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Ask with `server/discover`, which has no effect, and fall back to `initialize`.
    #[default]
    Auto,
    /// The session-based protocol up to 2025-11-25: `initialize`.
    Legacy,
    /// The stateless protocol of 2026-07-28: `server/discover`.
    Modern,
}

impl ServerSpec {
    /// The command line or URL, to be shown: secrets are left out.
    pub fn started_as(&self) -> String {
        // Masked before anything is quoted or encoded, which would hide a secret from the mask.
        let mask = self.mask();
        match &self.transport {
            TransportSpec::Stdio { command, args, .. } => {
                let args: Vec<String> = args.iter().map(|arg| mask.apply(arg)).collect();
                text::command_line(&mask.apply(command), &args)
            }
            TransportSpec::Http { url, .. }
            | TransportSpec::Sse { url, .. }
            | TransportSpec::WebSocket { url, .. } => mask.apply(&text::url(&mask.apply(url))),
            TransportSpec::Unix { path } => {
                text::clean(&format!("unix://{}", mask.apply(&path.to_string_lossy())))
            }
            TransportSpec::HttpUnix { socket, path, .. } => {
                let url = format!("http+unix://{}:{path}", socket.display());
                mask.apply(&text::url(&mask.apply(&url)))
            }
            TransportSpec::Chrome => {
                "claude-mcp-browser-bridge-$USER/*.sock in the temp folder".to_owned()
            }
            TransportSpec::InProcess(_) => "built in".to_owned(),
        }
    }

    /// Whether `tool` may be called.
    pub fn allows(&self, tool: &str) -> bool {
        self.allowed_tools
            .as_ref()
            .is_none_or(|allowed| allowed.iter().any(|name| name == tool))
    }

    /// The secrets that this entry holds.
    pub(super) fn mask(&self) -> Mask {
        let mut mask = Mask::default();
        match &self.transport {
            TransportSpec::Stdio { env, .. } => {
                for (name, value) in env {
                    for secret in text::in_variable(name, value) {
                        mask.add(&secret, name);
                    }
                }
            }
            TransportSpec::Http { headers, .. }
            | TransportSpec::Sse { headers, .. }
            | TransportSpec::WebSocket { headers, .. }
            | TransportSpec::HttpUnix { headers, .. } => {
                if let TransportSpec::Http {
                    auth: Some(auth), ..
                } = &self.transport
                {
                    mask.add(auth.proof.secret(), "client_secret");
                }
                for (name, value) in headers {
                    mask.add(value, name);
                    // `Bearer abc`: the token alone is as secret as the whole.
                    if let Some((_, token)) = value.split_once(' ') {
                        mask.add(token.trim(), name);
                    }
                }
            }
            TransportSpec::Unix { .. } | TransportSpec::Chrome | TransportSpec::InProcess(_) => {}
        }
        mask
    }
}

impl TransportSpec {
    /// Whether the server can say which tools it has.
    pub(super) fn lists_tools(&self) -> bool {
        !matches!(self, Self::Chrome)
    }

    /// Whether the server is reached at an address, and not started.
    pub fn is_address(&self) -> bool {
        !matches!(self, Self::Stdio { .. } | Self::InProcess(_))
    }

    /// The word for this transport in messages: `stdio`, `http`, `sse`, `ws`, `unix`, `http+unix`, `chrome`,
    /// `built in`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http { .. } => "http",
            Self::Sse { .. } => "sse",
            Self::WebSocket { .. } => "ws",
            Self::Unix { .. } => "unix",
            Self::HttpUnix { .. } => "http+unix",
            Self::Chrome => "chrome",
            Self::InProcess(_) => "built in",
        }
    }
}

// By hand, so that no secret gets into a debug print.
impl fmt::Debug for ServerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSpec")
            .field("name", &self.name)
            .field("transport", &self.transport.as_str())
            .field("started_as", &self.started_as())
            .field("protocol", &self.protocol)
            .field("start_timeout", &self.start_timeout)
            .field("allowed_tools", &self.allowed_tools)
            .field("source", &self.source)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(transport: TransportSpec) -> ServerSpec {
        ServerSpec {
            name: "s".into(),
            transport,
            protocol: Protocol::Auto,
            start_timeout: Duration::from_secs(60),
            allowed_tools: None,
            source: ".mcp.json".into(),
        }
    }

    #[test]
    fn values_of_env_and_headers_are_never_shown() {
        let stdio = spec(TransportSpec::Stdio {
            command: "npx".into(),
            args: vec!["server".into(), "ghp_ 0'123456789".into()],
            env: vec![("GITHUB_TOKEN".into(), "ghp_ 0'123456789".into())],
            cwd: None,
        });
        assert_eq!(stdio.started_as(), "npx server '[GITHUB_TOKEN]'");
        let http = spec(TransportSpec::Http {
            url: "https://example.com/mcp/abcdefghij".into(),
            headers: vec![("Authorization".into(), "Bearer abcdefghij".into())],
            or_sse: true,
            auth: None,
        });
        assert_eq!(http.started_as(), "https://example.com/mcp/[Authorization]");
        for shown in [format!("{stdio:?}"), format!("{http:?}")] {
            assert!(
                !shown.contains("ghp_") && !shown.contains("abcdefghij"),
                "{shown}"
            );
        }
    }

    #[test]
    fn an_allow_list_is_exact_and_no_list_allows_all() {
        let mut spec = spec(TransportSpec::InProcess(Arc::new(|| {
            tokio::io::duplex(1).0
        })));
        assert!(spec.allows("anything"));
        spec.allowed_tools = Some(vec!["read".into()]);
        assert!(spec.allows("read"));
        assert!(!spec.allows("read_all"));
    }
}
