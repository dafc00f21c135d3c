//! Servers behind Streamable HTTP, over TCP and over Unix sockets.

mod requests;
mod watch;

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cuecard_runtime::provider::reason;
use reqwest::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use reqwest::{StatusCode, Url, redirect};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::auth::{ClientCredentials, NoToken, TokenSource, parameter};
use super::error::{ErrorKind, HttpRequest};
use super::frames::SendError;
use super::link::Link;
use super::text::{clean, cut, url as shown_url};
pub(super) use requests::{CARRIED, HttpError, Requests, body};

/// Redirects followed for one request, all on the same host.
const MOST_REDIRECTS: usize = 5;
/// Attempts to take up a broken event stream again before its call fails.
const RECONNECTS: usize = 3;

pub(super) type HttpTransport = StreamableHttpClientTransport<Requests>;

/// A connection to the server at `url`. Nothing is sent yet.
pub(super) fn transport(
    url: &str,
    headers: &[(String, String)],
    auth: Option<&ClientCredentials>,
    link: &Arc<Link>,
) -> Result<HttpTransport, ErrorKind> {
    let parsed = parse(url)?;
    let config = config(parsed.as_str(), headers)?;
    let http = client(&parsed)?;
    let tokens = auth.map(|credentials| {
        let (credentials, link) = (credentials.clone(), Arc::clone(link));
        Arc::new(TokenSource::new(credentials, parsed, http.clone(), link))
    });
    let requests = Requests {
        http,
        link: Arc::clone(link),
        tokens,
    };
    Ok(StreamableHttpClientTransport::with_client(requests, config))
}

/// A connection to the server behind the Unix socket `socket`, at `path` (`/mcp`). Nothing is sent yet.
pub(super) fn over_socket(
    socket: &Path,
    path: &str,
    headers: &[(String, String)],
    link: &Arc<Link>,
) -> Result<HttpTransport, ErrorKind> {
    let config = config(&format!("http://localhost{path}"), headers)?;
    // With a port, as servers that check `Host` often expect one after `localhost`.
    let host = HeaderMap::from_iter([(HOST, HeaderValue::from_static("localhost:80"))]);
    let http = builder()
        .no_proxy()
        .unix_socket(socket)
        .default_headers(host);
    let requests = Requests {
        http: built(http)?,
        link: Arc::clone(link),
        tokens: None,
    };
    Ok(StreamableHttpClientTransport::with_client(requests, config))
}

/// The URL of a server.
pub(super) fn parse(url: &str) -> Result<Url, ErrorKind> {
    let parsed =
        Url::parse(url).map_err(|error| bad_url(url, &format!("is not a URL ({error})")))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(bad_url(url, "is neither http nor https"));
    }
    Ok(parsed)
}

pub(super) fn bad_url(url: &str, why: &str) -> ErrorKind {
    let text = format!("has an invalid URL: `{}` {why}", shown_url(url));
    ErrorKind::wrong("url", text)
}

pub(super) fn bad_header(name: &str, why: &str) -> ErrorKind {
    let text = format!("has an invalid header `{}`: {why}", clean(name));
    ErrorKind::wrong("headers", text)
}

fn config(
    uri: &str,
    headers: &[(String, String)],
) -> Result<StreamableHttpClientTransportConfig, ErrorKind> {
    let custom_headers = headers
        .iter()
        .map(|(name, value)| header(name, value))
        .collect::<Result<HashMap<_, _>, _>>()?;
    let mut config =
        StreamableHttpClientTransportConfig::with_uri(uri).custom_headers(custom_headers);
    // The SDK's default never gives up, which would leave a call to a dead server to its timeout.
    let mut reconnects = ExponentialBackoff::default();
    reconnects.max_times = Some(RECONNECTS);
    reconnects.base_duration = Duration::from_millis(100);
    config.retry_config = Arc::new(reconnects);
    Ok(config)
}

/// A configured header as it is sent.
pub(super) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ErrorKind> {
    let bad = |why: &str| bad_header(name, why);
    let key =
        HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad("not a valid header name"))?;
    const OURS: &[&str] = &[
        "accept",
        "content-type",
        "mcp-session-id",
        "mcp-protocol-version",
        "last-event-id",
    ];
    if OURS.contains(&key.as_str()) {
        return Err(bad("the protocol sets it"));
    }
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| bad("its value contains characters that are not allowed in a header"))?;
    value.set_sensitive(true);
    Ok((key, value))
}

/// A client for requests to `url`.
pub(super) fn client(url: &Url) -> Result<reqwest::Client, ErrorKind> {
    let builder = builder();
    built(match is_loopback(url) {
        // A proxy can't reach what runs on this machine.
        true => builder.no_proxy(),
        false => builder,
    })
}

fn builder() -> reqwest::ClientBuilder {
    cuecard_runtime::tls::install();
    reqwest::Client::builder()
        .user_agent(concat!("cuecard/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::custom(follow))
}

fn built(builder: reqwest::ClientBuilder) -> Result<reqwest::Client, ErrorKind> {
    builder.build().map_err(|error| ErrorKind::Unreachable {
        text: reason(&error),
    })
}

/// Follows redirects that keep the request whole and stay on the host, which got the headers.
fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let to = attempt.url();
    let same_host = attempt
        .previous()
        .first()
        .is_some_and(|from| from.origin() == to.origin());
    if !same_host {
        let text = format!("it redirects to another host, `{}`", shown_url(to.as_str()));
        return attempt.error(text);
    }
    if !matches!(
        attempt.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    ) {
        let text = format!(
            "it redirects to `{}`, which would lose the request",
            shown_url(to.as_str())
        );
        return attempt.error(text);
    }
    if attempt.previous().len() > MOST_REDIRECTS {
        return attempt.error(format!("more than {MOST_REDIRECTS} redirects"));
    }
    attempt.follow()
}

pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || address
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// The meaning of an error that came from this transport; nothing if it came from elsewhere. What broke off before the
/// answer was complete is [`ErrorKind::Closed`].
pub(super) fn explain(error: &(dyn Error + Send + Sync + 'static)) -> Option<ErrorKind> {
    if let Some(SendError::Request(failure)) = error.downcast_ref() {
        return Some(failure.clone());
    }
    let error = error.downcast_ref::<HttpError>()?;
    if let HttpError::Io(inner) = error
        && let Some(NoToken(text)) = inner.get_ref().and_then(|inner| inner.downcast_ref())
    {
        return Some(ErrorKind::NoToken { text: text.clone() });
    }
    Some(failure_of(error))
}

/// What the failure of a request means.
pub(super) fn request_failure(error: &reqwest::Error) -> ErrorKind {
    match error.status() {
        Some(status) => http_status(status.as_u16(), ""),
        None if error.is_connect() || error.is_redirect() || error.is_builder() => {
            ErrorKind::Unreachable {
                text: reason(error),
            }
        }
        // The request was sent, and may have had its effect.
        None => ErrorKind::Closed,
    }
}

pub(super) fn http_status(status: u16, text: &str) -> ErrorKind {
    ErrorKind::Http {
        status,
        text: text.to_owned(),
        to: HttpRequest::Message,
    }
}

fn failure_of(error: &HttpError) -> ErrorKind {
    let text = match error {
        HttpError::Client(error) => return request_failure(error),
        HttpError::HttpStatus(error) => return http_status(error.status, ""),
        HttpError::AuthRequired(error) => {
            return http_status(401, &reasons(&error.www_authenticate_header));
        }
        HttpError::InsufficientScope(error) => {
            return http_status(403, &reasons(&error.www_authenticate_header));
        }
        HttpError::SessionExpired => {
            return http_status(404, "the server no longer knows this session");
        }
        HttpError::ResponseBodyTooLarge { max_size } => {
            return ErrorKind::TooLarge { bound: *max_size };
        }
        HttpError::UnexpectedContentType(Some(kind)) => format!(
            "its content type is `{}`, neither JSON nor an event stream",
            cut(kind, 100)
        ),
        HttpError::UnexpectedContentType(None) => "its answer has no content type".to_owned(),
        HttpError::UnexpectedServerResponse(text) => match status_in(text) {
            Some((status, body)) => return http_status(status, body),
            None => text.to_string(),
        },
        other => other.to_string(),
    };
    ErrorKind::Protocol { text }
}

/// Returns the reasons in a header `WWW-Authenticate`.
fn reasons(header: &str) -> String {
    let names = ["error", "error_description", "scope"];
    let found: Vec<String> = names
        .iter()
        .filter_map(|name| parameter(header, name))
        .collect();
    cut(&clean(&found.join(", ")), 500)
}

/// The parts of `HTTP 404 Not Found: body`, the SDK's text for a status it does not know.
fn status_in(text: &str) -> Option<(u16, &str)> {
    let rest = text.strip_prefix("HTTP ")?;
    let status = rest.get(..3)?.parse().ok()?;
    let body = rest.split_once(": ").map_or("", |(_, body)| body);
    Some((status, body))
}

#[cfg(test)]
mod tests;
