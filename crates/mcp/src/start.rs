//! The start of a session: the handshake, its second attempt, and what its failures mean.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService};

use super::error::{Advice, ErrorKind, Request, ServerError, ServerFacts};
use super::frames::FrameSink;
use super::handler::Handler;
use super::http;
use super::link::{LONGEST_TEXT, Link, UnexpectedMessage};
use super::questions::Questions;
use super::session::{Era, SessionInfo};
use super::spec::{Protocol, ServerSpec, TransportSpec};
use super::stdio::ProcessSupervisor;
use super::text::{clean, cut};
use super::transport::{self, Connection};
use cuecard_runtime::clock::Stopwatch;
use cuecard_tool_call::script::ReadyAnswers;

/// What a session is made of.
pub(super) struct Started {
    pub(super) info: SessionInfo,
    pub(super) link: Arc<Link>,
    pub(super) questions: Arc<Questions>,
    pub(super) service: RunningService<RoleClient, Handler>,
    pub(super) keeper: Option<ProcessSupervisor>,
    pub(super) sink: Option<Arc<dyn FrameSink>>,
}

/// Starts or reaches the server of `spec`; see [`super::Session::start`].
pub(super) async fn start(
    spec: &ServerSpec,
    inherited_env: &[(OsString, OsString)],
    answers: &Arc<ReadyAnswers>,
) -> Result<Started, ServerError> {
    let began = Stopwatch::start();
    let error = match start_as(spec, inherited_env, answers, began).await {
        Ok(started) => return Ok(started),
        Err(error) => error,
    };
    let (
        TransportSpec::Http {
            url,
            headers,
            or_sse: true,
            ..
        },
        &ErrorKind::Http {
            status: status @ (404 | 405),
            ..
        },
    ) = (&spec.transport, &error.kind)
    else {
        return Err(error);
    };
    // What a server of the older transport says to the newer one.
    let mut older = spec.clone();
    older.transport = TransportSpec::Sse {
        url: url.clone(),
        headers: headers.clone(),
    };
    start_as(&older, inherited_env, answers, began)
        .await
        .map_err(|second| ServerError {
            kind: ErrorKind::Unusable {
                text: format!(
                    "answered initialize with HTTP {status}, and the older transport, HTTP with SSE, failed too: {second}"
                ),
                help: Advice::Do("check the path of the URL: `/mcp` for most servers, `/sse` for older ones"),
            },
            request: Request::Start,
            facts: error.facts,
        })
}

/// Starts the server of `spec` over its transport, which may take a second attempt.
async fn start_as(
    spec: &ServerSpec,
    inherited_env: &[(OsString, OsString)],
    answers: &Arc<ReadyAnswers>,
    began: Stopwatch,
) -> Result<Started, ServerError> {
    let start = Start {
        spec,
        inherited_env,
        answers,
        began,
    };
    // The extension has a protocol of its own, where there is nothing to ask.
    let first = match spec.transport {
        TransportSpec::Chrome => Protocol::Legacy,
        _ => spec.protocol,
    };
    let failure = match start.attempt(first).await {
        Ok(started) => return Ok(started),
        Err(failure) => failure,
    };
    let again = match failure.again {
        Some(protocol) if first == Protocol::Auto && !start.left().is_zero() => protocol,
        _ => return Err(start.error(failure)),
    };
    start
        .attempt(again)
        .await
        .map_err(|failure| start.error(failure))
}

/// One start, of up to two attempts.
struct Start<'a> {
    spec: &'a ServerSpec,
    inherited_env: &'a [(OsString, OsString)],
    answers: &'a Arc<ReadyAnswers>,
    began: Stopwatch,
}

/// A failed attempt.
struct Failure {
    kind: ErrorKind,
    link: Arc<Link>,
    /// The protocol to try next, if it may be only the probe that failed.
    again: Option<Protocol>,
}

impl Start<'_> {
    fn left(&self) -> Duration {
        self.spec.start_timeout.saturating_sub(self.began.elapsed())
    }

    async fn attempt(&self, protocol: Protocol) -> Result<Started, Failure> {
        let link = Arc::new(Link::new(self.spec.mask()));
        let failed = |kind| Failure {
            kind,
            link: Arc::clone(&link),
            again: None,
        };
        let connecting = transport::connect(self.spec, self.inherited_env, &link);
        let connected = tokio::time::timeout(self.left(), Box::pin(connecting)).await;
        let no_connection = ErrorKind::NoConnection {
            within: self.spec.start_timeout,
        };
        let Connection { wire, keeper, sink } = connected
            .unwrap_or(Err(no_connection))
            .map_err(|kind| failed(kind.masked(&link)))?;
        let questions = Arc::new(Questions::new(&self.spec.name, Arc::clone(self.answers)));
        let handler = Handler::new(Arc::clone(&link), Arc::clone(&questions));
        let handshake = wire.serve(handler, lifecycle(protocol));
        // Boxed, since the SDK's futures are large. An elapsed one is dropped, and its transport with it.
        let outcome = tokio::time::timeout(self.left(), Box::pin(handshake)).await;
        let failure = match outcome {
            Ok(Ok(service)) => match unknown_version(&service) {
                None => {
                    let info = self.info(&service);
                    return Ok(Started {
                        info,
                        link,
                        questions,
                        service,
                        keeper,
                        sink,
                    });
                }
                Some(version) => failed(ErrorKind::NoCommonVersion {
                    server: vec![link.shown(&version, LONGEST_TEXT)],
                }),
            },
            Ok(Err(error)) => {
                let mut failure = failed(self.explain(&error, &link).await);
                if probe_failed(&error, &failure.kind) {
                    failure.again = Some(Protocol::Legacy);
                } else if link.saw_late_discovery() {
                    failure.again = Some(Protocol::Modern);
                }
                failure
            }
            Err(_) => failed(ErrorKind::NoAnswer {
                within: self.spec.start_timeout,
            }),
        };
        if let Some(keeper) = keeper {
            keeper.kill().await;
        }
        Err(failure)
    }

    fn info(&self, service: &RunningService<RoleClient, Handler>) -> SessionInfo {
        let peer = service.peer().peer_info();
        let version = peer
            .as_ref()
            .map(|peer| peer.protocol_version.clone())
            .unwrap_or_default();
        let server = peer.as_ref().and_then(|peer| peer.server_info.as_ref());
        let shown = |text: &str| cut(&clean(text), 200);
        SessionInfo {
            server_name: server.map(|server| shown(&server.name)).unwrap_or_default(),
            server_version: server
                .map(|server| shown(&server.version))
                .unwrap_or_default(),
            protocol_version: match self.spec.transport {
                TransportSpec::Chrome => String::new(),
                _ => shown(version.as_str()),
            },
            era: if version.has_initialize() {
                Era::Legacy
            } else {
                Era::Modern
            },
            transport: self.spec.transport.as_str(),
            started_in: self.began.elapsed(),
        }
    }

    async fn explain(&self, error: &ClientInitializeError, link: &Link) -> ErrorKind {
        let shown = |text: &str| link.shown(text, LONGEST_TEXT);
        match error {
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
                Box::pin(self.explain(fallback, link)).await
            }
            ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::Cancelled => {
                link.ended_soon().await.unwrap_or(ErrorKind::Closed)
            }
            ClientInitializeError::TransportError { error, .. } => {
                match http::explain(error.error.as_ref()) {
                    Some(kind) => kind.masked(link),
                    None => link.ended_soon().await.unwrap_or(ErrorKind::Closed),
                }
            }
            ClientInitializeError::JsonRpcError(error) => match link.first_fault() {
                Some(text) => ErrorKind::Protocol { text: shown(&text) },
                None => ErrorKind::RpcError {
                    code: i64::from(error.code.0),
                    message: shown(&error.message),
                    data: None,
                },
            },
            ClientInitializeError::NoCompatibleProtocolVersion {
                server_supported, ..
            } => ErrorKind::NoCommonVersion {
                server: server_supported.iter().map(|v| shown(v.as_str())).collect(),
            },
            ClientInitializeError::ExpectedInitResult(_)
            | ClientInitializeError::ExpectedInitResponse(_) => ErrorKind::Protocol {
                text: "its answer is not what a server says about itself".to_owned(),
            },
            other => ErrorKind::Protocol {
                text: shown(&other.to_string()),
            },
        }
    }

    fn error(&self, failure: Failure) -> ServerError {
        ServerError {
            facts: facts(
                self.spec,
                &failure.link,
                self.began,
                failure.link.last_words(),
            ),
            kind: failure.kind,
            request: Request::Start,
        }
    }
}

/// Versions that servers still name and the SDK no longer does.
const FORMER_VERSIONS: &[&str] = &["2024-10-07"];

/// The protocol version that the server chose, if nobody knows it. The SDK takes any.
fn unknown_version(service: &RunningService<RoleClient, Handler>) -> Option<String> {
    let version = service.peer().peer_info()?.protocol_version.clone();
    let is_known = ProtocolVersion::KNOWN_VERSIONS.contains(&version)
        || FORMER_VERSIONS.contains(&version.as_str());
    (!is_known).then(|| version.as_str().to_owned())
}

fn lifecycle(protocol: Protocol) -> ClientLifecycleMode {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    match protocol {
        Protocol::Auto => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
        Protocol::Legacy => ClientLifecycleMode::Initialize,
        Protocol::Modern => ClientLifecycleMode::Discover { preferred_versions },
    }
}

/// Whether it was the probe for the modern era that failed, in a way in which `initialize` may succeed:
/// some servers of the older protocol end or break over any other first message.
fn probe_failed(error: &ClientInitializeError, kind: &ErrorKind) -> bool {
    match error {
        ClientInitializeError::ConnectionClosed(context) => {
            context == "discover response" && !matches!(kind, ErrorKind::TooLarge { .. })
        }
        ClientInitializeError::TransportError { context, .. } => {
            context == "send discover request"
                && match kind {
                    ErrorKind::Http { status, .. } => !matches!(status, 401 | 403 | 429),
                    ErrorKind::Protocol { .. } | ErrorKind::Exited { .. } | ErrorKind::Closed => {
                        true
                    }
                    _ => false,
                }
        }
        ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => true,
        _ => false,
    }
}

/// What an error says about the server.
pub(super) fn facts(
    spec: &ServerSpec,
    link: &Link,
    began: Stopwatch,
    last_words: Vec<String>,
) -> Box<ServerFacts> {
    Box::new(ServerFacts {
        server: spec.name.clone(),
        started_as: spec.started_as(),
        transport: spec.transport.as_str(),
        source: spec.source.clone(),
        protocol: spec.protocol,
        last_words,
        stray_output: link.first_stray_output(),
        break_reason: link.server_end().and_then(|end| end.reason),
        trouble: match link.trouble_since(began) {
            Some(UnexpectedMessage::Broken(reason)) => Some(link.shown(&reason, LONGEST_TEXT)),
            Some(UnexpectedMessage::TooLarge) | None => None,
        },
    })
}
