//! The one guard in front of every server of ours.
//!
//! A server on a developer's machine can be reached by any web page the developer opens: the page makes
//! the browser send requests to 127.0.0.1, either openly (then the browser adds the page's `Origin`) or
//! through a host name that resolves to 127.0.0.1 (DNS rebinding; then `Host` holds that name). The guard
//! refuses both. A server that other machines can reach needs a token instead, which no page knows.
//!
//! What it refuses: 403 for a foreign `Host` or `Origin`, 401 without the token, 413 for a body over the
//! limit. Bodies are read whole before a handler sees them, so no handler has to count bytes.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Router};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::net::TcpListener;

/// The largest request body that is read unless [`Guard::body_limit`] says otherwise, in bytes.
pub const DEFAULT_BODY_LIMIT: usize = 4 * 1024 * 1024;

/// Where servers listen when nobody says otherwise: this machine only, a free port.
pub const DEFAULT_BIND: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// The URL of what listens there, as clients on this machine have it: `http://127.0.0.1:41873`, without a slash at the end.
pub fn base_url(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    format!("http://{address}")
}

/// The rules of one listener. Made before binding, so that an unsafe address is refused before it is open.
#[derive(Clone)]
pub struct Guard {
    bind: SocketAddr,
    token: Option<String>,
    token_headers: &'static [&'static str],
    body_limit: usize,
    other_origin: Option<String>,
}

/// Why a request was refused: an extension of the refusal, for a server whose clients expect errors of their own
/// shape.
#[derive(Debug, Clone)]
pub struct RefusedByListener(
    /// The reason, for people.
    pub String,
);

/// How long a client may be silent while a body that is too large is read to its end, so that the client sees the
/// refusal instead of a broken connection.
const DRAIN_PAUSE: Duration = Duration::from_millis(500);
/// No more bytes of such a body are read.
const DRAIN_BYTES: usize = 256 << 20;

impl Guard {
    /// The rules for a server on `bind`. A `token`, if given, is asked of every request; for an address
    /// that other machines can reach it must be given.
    ///
    /// # Errors
    /// [`ListenerError::TokenNeeded`] for such an address without a token, [`ListenerError::TokenUnusable`]
    /// for a token that no client could send.
    pub fn new(bind: SocketAddr, token: Option<String>) -> Result<Self, ListenerError> {
        match &token {
            None if !is_loopback(bind.ip()) => return Err(ListenerError::TokenNeeded { bind }),
            Some(token)
                if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) =>
            {
                return Err(ListenerError::TokenUnusable);
            }
            _ => {}
        }
        Ok(Self {
            bind,
            token,
            token_headers: &[],
            body_limit: DEFAULT_BODY_LIMIT,
            other_origin: None,
        })
    }

    /// The same rules for clients that send the token in one of these headers, without `Bearer`.
    #[must_use]
    pub fn token_headers(self, names: &'static [&'static str]) -> Self {
        Self {
            token_headers: names,
            ..self
        }
    }

    /// The same rules with another limit for a request's body, in bytes.
    #[must_use]
    pub fn body_limit(self, bytes: usize) -> Self {
        Self {
            body_limit: bytes,
            ..self
        }
    }

    /// The same rules, but web pages of this origin may call the server too.
    #[must_use]
    pub fn also_from(self, origin: &str) -> Self {
        Self {
            other_origin: Some(origin.to_owned()),
            ..self
        }
    }

    /// Opens the listener. Port 0 takes a free one; ask the listener which.
    ///
    /// # Errors
    /// [`ListenerError::Bind`] with the operating system's reason.
    pub async fn listen(&self) -> Result<TcpListener, ListenerError> {
        TcpListener::bind(self.bind)
            .await
            .map_err(|source| ListenerError::Bind {
                bind: self.bind,
                source,
            })
    }

    /// Puts the guard before every route of `router` and its fallback. Routes added afterwards are not
    /// guarded, so wrap last.
    pub fn wrap(&self, router: Router) -> Router {
        router.layer(middleware::from_fn_with_state(
            Arc::new(self.clone()),
            check,
        ))
    }

    /// The whole body of a request that may be served: for a server with one handler, in place of [`Guard::wrap`].
    ///
    /// # Errors
    /// The refusal, with its reason as [`RefusedByListener`].
    pub async fn admit(
        &self,
        head: &Parts,
        mut body: impl HttpBody<Data = Bytes, Error: Into<BoxError>> + Unpin,
    ) -> Result<Bytes, Response> {
        if let Err(refusal) = self.check_head(&head.uri, &head.headers) {
            if matches!(refusal, Refusal::Body { .. }) {
                Box::pin(drain(&mut body)).await;
            }
            return Err(refusal.into_response());
        }
        read_body(&mut body, self.body_limit)
            .await
            .map_err(IntoResponse::into_response)
    }

    /// Whether a request comes from a web page that may ask: for answering what browsers ask beforehand, without the
    /// token.
    pub fn admits_origin(&self, head: &Parts) -> bool {
        let host = self.check_host(&head.uri, &head.headers);
        host.is_ok_and(|host| self.check_origin(&head.headers, host).is_ok())
    }

    fn check_head(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = self.check_host(uri, headers)?;
        self.check_origin(headers, host)?;
        self.check_token(headers)?;
        match declared_length(headers) {
            Some(length) if length > self.body_limit as u64 => Err(Refusal::Body {
                limit: self.body_limit,
            }),
            _ => Ok(()),
        }
    }

    /// The authority the client meant. Rebinding is no danger to a listener for other machines: it has a
    /// token, and may have any number of names, so there a well-formed `Host` is enough.
    fn check_host<'a>(&self, uri: &'a Uri, headers: &'a HeaderMap) -> Result<&'a str, Refusal> {
        let value = single(headers, &header::HOST).map_err(|value| Refusal::Host { value })?;
        // A request line with a whole URL in it names the host too, and some routers would prefer that.
        let named = [value, uri.authority().map(Authority::as_str)];
        let mut host = None;
        for text in named.into_iter().flatten() {
            if !self.may_be_host(text) {
                let value = text.to_owned();
                return Err(Refusal::Host { value });
            }
            host = Some(text);
        }
        host.ok_or_else(|| Refusal::Host {
            value: String::new(),
        })
    }

    fn may_be_host(&self, text: &str) -> bool {
        text.parse::<Authority>().is_ok_and(|authority| {
            !authority.as_str().contains('@')
                && (self.token_protects() || self.is_own_name(authority.host()))
        })
    }

    /// A request that comes from a web page says which; programs send no `Origin`.
    fn check_origin(&self, headers: &HeaderMap, host: &str) -> Result<(), Refusal> {
        let value = single(headers, &header::ORIGIN).map_err(|value| Refusal::Origin { value })?;
        let Some(value) = value else { return Ok(()) };
        if self.other_origin.as_deref() == Some(value) {
            return Ok(());
        }
        let allowed = value.parse::<Uri>().is_ok_and(|origin| {
            matches!(origin.scheme_str(), Some("http" | "https"))
                && origin.authority().is_some_and(|authority| {
                    if self.token_protects() {
                        authority.as_str().eq_ignore_ascii_case(host)
                    } else {
                        self.is_own_name(authority.host())
                    }
                })
        });
        if allowed {
            Ok(())
        } else {
            let value = value.to_owned();
            Err(Refusal::Origin { value })
        }
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let given = single(headers, &header::AUTHORIZATION)
            .ok()
            .flatten()
            .unwrap_or_default();
        let given = match given.split_once(' ') {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("bearer") => rest.trim(),
            _ => "",
        };
        let elsewhere = self
            .token_headers
            .iter()
            .filter_map(|name| headers.get(*name))
            .any(|given| same_secret(given.as_bytes(), token.as_bytes()));
        if elsewhere || same_secret(given.as_bytes(), token.as_bytes()) {
            Ok(())
        } else {
            Err(Refusal::Token)
        }
    }

    /// Whether other machines can reach the listener, which [`Guard::new`] allows with a token only.
    fn token_protects(&self) -> bool {
        !is_loopback(self.bind.ip())
    }

    fn is_own_name(&self, host: &str) -> bool {
        let bare = host
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .unwrap_or(host);
        bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(is_loopback)
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("bind", &self.bind)
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("body_limit", &self.body_limit)
            .finish()
    }
}

/// Why a listener can't be opened.
#[derive(Debug)]
pub enum ListenerError {
    /// The address can be reached by other machines, and there is no token to keep them out.
    TokenNeeded {
        /// The address asked for.
        bind: SocketAddr,
    },
    /// The token is empty or holds characters that don't fit in a header.
    TokenUnusable,
    /// The operating system refused the address.
    Bind {
        /// The address asked for.
        bind: SocketAddr,
        /// Its reason.
        source: io::Error,
    },
}

impl fmt::Display for ListenerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TokenNeeded { bind } => write!(
                f,
                "other machines can reach `{bind}`: add `--token` with a secret that clients must send, \
                 or `--bind` an address of this machine only, such as `127.0.0.1:{}`",
                bind.port()
            ),
            Self::TokenUnusable => f.write_str(
                "the value of `--token` must be visible ASCII characters without spaces",
            ),
            Self::Bind { bind, .. } => write!(f, "can't listen on `{bind}`"),
        }
    }
}

impl std::error::Error for ListenerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind { source, .. } => Some(source),
            Self::TokenNeeded { .. } | Self::TokenUnusable => None,
        }
    }
}

async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match guard.admit(&head, body).await {
        Ok(bytes) => next.run(Request::from_parts(head, Body::from(bytes))).await,
        Err(refusal) => refusal,
    }
}

/// The whole body.
async fn read_body(
    body: &mut (impl HttpBody<Data = Bytes, Error: Into<BoxError>> + Unpin),
    limit: usize,
) -> Result<Bytes, Refusal> {
    match Limited::new(&mut *body, limit).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Box::pin(drain(body)).await;
            Err(Refusal::Body { limit })
        }
        Err(_) => Err(Refusal::Broken),
    }
}

/// Reads the rest of a body and throws it away, for as long as more of it comes.
async fn drain(body: &mut (impl HttpBody<Data = Bytes> + Unpin)) {
    let mut drained = 0;
    while drained < DRAIN_BYTES {
        match tokio::time::timeout(DRAIN_PAUSE, body.frame()).await {
            Ok(Some(Ok(frame))) => drained += frame.data_ref().map_or(0, Bytes::len),
            _ => return,
        }
    }
}

/// Why a request isn't passed on.
enum Refusal {
    Host { value: String },
    Origin { value: String },
    Token,
    Body { limit: usize },
    Broken,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Self::Host { value } => (
                StatusCode::FORBIDDEN,
                format!(
                    "the `Host` header `{}` is not a name of this machine; use `127.0.0.1` or `localhost`",
                    shortened(&value)
                ),
            ),
            Self::Origin { value } => (
                StatusCode::FORBIDDEN,
                format!(
                    "pages from `{}` may not call this server",
                    shortened(&value)
                ),
            ),
            Self::Token => (
                StatusCode::UNAUTHORIZED,
                "send the token this server was started with: `Authorization: Bearer TOKEN`"
                    .to_owned(),
            ),
            Self::Body { limit } => (
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the body is larger than this server's limit of {limit} bytes"),
            ),
            Self::Broken => (StatusCode::BAD_REQUEST, "the body is incomplete".to_owned()),
        };
        let body = serde_json::json!({ "error": { "type": "refused_by_listener", "message": message.as_str() } });
        let mut response = (status, axum::Json(body)).into_response();
        response.extensions_mut().insert(RefusedByListener(message));
        if status == StatusCode::UNAUTHORIZED {
            let challenge = header::HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// The value of a header that must not come twice. The error holds what to show for a header that does,
/// or isn't text.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, String> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else {
        return Ok(None);
    };
    match (first.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text)),
        _ => Err(String::from_utf8_lossy(first.as_bytes()).into_owned()),
    }
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

fn is_loopback(address: IpAddr) -> bool {
    // ::ffff:127.0.0.1 is 127.0.0.1 in other clothes.
    address.to_canonical().is_loopback()
}

/// Equality in a time that depends on the length of what was given only.
fn same_secret(given: &[u8], secret: &[u8]) -> bool {
    let mut difference = given.len() ^ secret.len();
    for (byte, expected) in given.iter().zip(secret.iter().cycle()) {
        difference |= usize::from(byte ^ expected);
    }
    std::hint::black_box(difference) == 0
}

fn shortened(value: &str) -> String {
    const SHOWN: usize = 100;
    let mut text: String = value.chars().take(SHOWN).collect();
    if text.len() < value.len() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    const LIMIT: usize = 64;

    /// A guarded server that answers `POST /length` with the length of the body.
    async fn serve(guard: Guard) -> SocketAddr {
        let router = Router::new().route(
            "/length",
            axum::routing::post(|body: Bytes| async move { body.len().to_string() }),
        );
        let router = guard.wrap(router);
        let listener = guard.listen().await.expect("loopback is free");
        let address = listener.local_addr().expect("bound");
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    }

    async fn loopback() -> SocketAddr {
        serve(
            Guard::new(DEFAULT_BIND, None)
                .expect("safe")
                .body_limit(LIMIT),
        )
        .await
    }

    /// A guard as for all interfaces, which a test can't open on every machine, on a loopback listener.
    async fn remote(token: &str) -> SocketAddr {
        let mut guard =
            Guard::new(([0, 0, 0, 0], 0).into(), Some(token.to_owned())).expect("has a token");
        guard = guard.body_limit(LIMIT);
        let router = guard.wrap(Router::new().fallback(|| async { "in" }));
        let listener = TcpListener::bind(DEFAULT_BIND)
            .await
            .expect("loopback is free");
        let address = listener.local_addr().expect("bound");
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    }

    /// Sends one request as written and gives the status and the whole answer.
    async fn ask(address: SocketAddr, path: &str, headers: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(address).await.expect("listening");
        let head = format!("POST {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).await.expect("open");
        stream.write_all(body).await.expect("open");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        let status = answer
            .split(' ')
            .nth(1)
            .expect("a status line")
            .parse()
            .expect("a number");
        (status, answer)
    }

    async fn status(address: SocketAddr, headers: &str) -> u16 {
        ask(
            address,
            "/length",
            &format!("{headers}Content-Length: 2\r\n"),
            b"ab",
        )
        .await
        .0
    }

    #[tokio::test]
    async fn a_name_of_this_machine_is_let_in_and_any_other_is_not() {
        let address = loopback().await;
        for host in [
            "127.0.0.1",
            "LOCALHOST:80",
            "[::1]:7",
            "127.0.0.9",
            &address.to_string(),
        ] {
            assert_eq!(
                status(address, &format!("Host: {host}\r\n")).await,
                200,
                "{host}"
            );
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "",
            "me@127.0.0.1",
            "a b",
        ] {
            assert_eq!(
                status(address, &format!("Host: {host}\r\n")).await,
                403,
                "{host}"
            );
        }
        assert_eq!(
            status(address, "Host: localhost\r\nHost: evil.example\r\n").await,
            403
        );
        assert_eq!(status(address, "").await, 403, "no Host at all");
        let (status, answer) = ask(
            address,
            "/nowhere",
            "Host: evil.example\r\nContent-Length: 0\r\n",
            b"",
        )
        .await;
        assert_eq!(status, 403, "an unknown path is guarded too");
        assert!(
            answer.contains("`evil.example` is not a name of this machine"),
            "{answer}"
        );
    }

    #[tokio::test]
    async fn a_whole_url_in_the_request_line_is_checked_too() {
        let address = loopback().await;
        let headers = "Host: localhost\r\nContent-Length: 0\r\n";
        assert_eq!(
            ask(address, "http://evil.example/length", headers, b"")
                .await
                .0,
            403
        );
        assert_eq!(
            ask(address, "http://localhost/length", headers, b"")
                .await
                .0,
            200
        );
    }

    #[tokio::test]
    async fn a_page_from_elsewhere_is_refused() {
        let address = loopback().await;
        for origin in [
            "http://localhost:3000",
            "https://127.0.0.1",
            "http://[::1]:8080",
        ] {
            let headers = format!("Host: localhost\r\nOrigin: {origin}\r\n");
            assert_eq!(status(address, &headers).await, 200, "{origin}");
        }
        for origin in [
            "https://evil.example",
            "null",
            "",
            "file://localhost",
            "http://localhost.evil.example",
        ] {
            let headers = format!("Host: localhost\r\nOrigin: {origin}\r\n");
            assert_eq!(status(address, &headers).await, 403, "{origin}");
        }
    }

    #[tokio::test]
    async fn a_listener_for_others_asks_for_the_token() {
        let address = remote("s3cret").await;
        let host = "Host: build-box:8080\r\n";
        assert_eq!(
            status(address, &format!("{host}Authorization: Bearer s3cret\r\n")).await,
            200
        );
        assert_eq!(
            status(address, &format!("{host}Authorization: bearer  s3cret\r\n")).await,
            200
        );
        for wrong in [
            "Bearer",
            "Bearer ",
            "Bearer s3cre",
            "Bearer s3crets",
            "Basic s3cret",
            "s3cret",
        ] {
            let headers = format!("{host}Authorization: {wrong}\r\n");
            assert_eq!(status(address, &headers).await, 401, "{wrong}");
        }
        let (status, answer) =
            ask(address, "/", &format!("{host}Content-Length: 0\r\n"), b"").await;
        assert_eq!(status, 401);
        assert!(
            answer
                .to_ascii_lowercase()
                .contains("www-authenticate: bearer"),
            "{answer}"
        );
        assert!(!answer.contains("s3cret"));
    }

    #[tokio::test]
    async fn a_listener_for_others_takes_pages_of_its_own_origin_only() {
        let address = remote("s3cret").await;
        let with = |origin: &str| {
            format!("Host: build-box:8080\r\nAuthorization: Bearer s3cret\r\nOrigin: {origin}\r\n")
        };
        assert_eq!(status(address, &with("http://Build-Box:8080")).await, 200);
        assert_eq!(status(address, &with("http://localhost:8080")).await, 403);
        assert_eq!(status(address, &with("http://build-box")).await, 403);
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused_with_and_without_a_declared_length() {
        let address = loopback().await;
        let declared = |length: usize| format!("Host: localhost\r\nContent-Length: {length}\r\n");
        let (status, answer) = ask(address, "/length", &declared(LIMIT), &[b'x'; LIMIT]).await;
        assert_eq!(
            (status, answer.ends_with("\r\n64")),
            (200, true),
            "{answer}"
        );
        assert_eq!(
            ask(address, "/length", &declared(LIMIT + 1), b"").await.0,
            413
        );

        let chunked = "Host: localhost\r\nTransfer-Encoding: chunked\r\n";
        let body = |pieces: usize| {
            format!(
                "{}0\r\n\r\n",
                "20\r\n01234567890123456789012345678901\r\n".repeat(pieces)
            )
        };
        let (status, answer) = ask(address, "/length", chunked, body(2).as_bytes()).await;
        assert_eq!(
            (status, answer.ends_with("\r\n64")),
            (200, true),
            "{answer}"
        );
        let (status, answer) = ask(address, "/length", chunked, body(3).as_bytes()).await;
        assert_eq!(status, 413, "{answer}");
        assert!(answer.contains("limit of 64 bytes"), "{answer}");
    }

    #[test]
    fn an_address_for_others_needs_a_token_that_can_be_sent() {
        let open: SocketAddr = ([0, 0, 0, 0], 8080).into();
        let error = Guard::new(open, None).expect_err("unsafe").to_string();
        assert!(
            error.contains("`--token`") && error.contains("`--bind`"),
            "{error}"
        );
        for token in ["", "with space", "naïve", "line\nbreak"] {
            let result = Guard::new(open, Some(token.to_owned()));
            assert!(
                matches!(result, Err(ListenerError::TokenUnusable)),
                "{token}"
            );
        }
        let mapped: SocketAddr = "[::ffff:127.0.0.1]:0".parse().expect("an address");
        assert!(Guard::new(mapped, None).is_ok());
        let guard = Guard::new(open, Some("s3cret".to_owned())).expect("has a token");
        assert!(!format!("{guard:?}").contains("s3cret"));
    }
}
