//! The server of a model's API: its address, the client that reaches it, the header with its key.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use cuecard_timeline::script::Endpoint;
use reqwest::{Client, Url, redirect};

use crate::text_file::io_reason;

/// How long it may take to reach the provider.
const CONNECT: Duration = Duration::from_secs(30);

/// Headers that belong to one connection, or that are made anew for the next one.
const OF_CONNECTION: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The address of a server.
#[derive(Clone, PartialEq, Eq)]
pub struct Provider(Url);

impl fmt::Debug for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Provider")
            .field(&self.to_string())
            .finish()
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

impl Provider {
    /// The server at `url`: `https://api.openai.com/v1`, `https://api.anthropic.com`, `http://localhost:11434`.
    ///
    /// # Errors
    /// In words, if it is no such URL.
    pub fn parse(url: &str) -> Result<Self, String> {
        let parsed = Url::parse(url).map_err(|error| format!("it is not a valid URL: {error}"))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err("it must start with `http://` or `https://`".to_owned());
        }
        if parsed.host_str().is_none_or(str::is_empty) {
            return Err("it has no host".to_owned());
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(
                "it contains a user name or a password; put keys into an environment variable"
                    .to_owned(),
            );
        }
        if parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(
                "it has a query or fragment: remove everything from `?` or `#` on".to_owned(),
            );
        }
        Ok(Self(parsed))
    }

    /// The path of its address, without a slash at its end.
    pub fn base_path(&self) -> &str {
        self.0.path().trim_end_matches('/')
    }

    /// The same server at another path.
    pub fn at(&self, path: &str, query: Option<&str>) -> Url {
        let mut url = self.0.clone();
        url.set_path(path);
        url.set_query(query);
        url
    }

    /// A client for this server. It follows no redirect, since those would take a key elsewhere.
    ///
    /// # Errors
    /// When the machine has no certificates to check with.
    pub fn client(&self) -> Result<Client, reqwest::Error> {
        built(&self.0, redirect::Policy::none())
    }
}

/// A client for the server at `url`. It follows one redirect that keeps the request whole and stays at the origin, which gets
/// the key anyway; the answer to others is that redirect.
///
/// # Errors
/// When the machine has no certificates to check with.
pub fn client(url: &Url) -> Result<Client, reqwest::Error> {
    built(url, redirect::Policy::custom(follow))
}

fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let is_whole = matches!(
        attempt.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    match attempt.previous() {
        [from] if is_whole && from.origin() == attempt.url().origin() => attempt.follow(),
        _ => attempt.stop(),
    }
}

fn built(url: &Url, redirects: redirect::Policy) -> Result<Client, reqwest::Error> {
    super::tls::install();
    let mut builder = Client::builder()
        .connect_timeout(CONNECT)
        .redirect(redirects)
        .referer(false);
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = host == "localhost"
        || address
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    if is_loopback {
        // A proxy can't reach what runs on this machine.
        builder = builder.no_proxy();
    }
    builder.build()
}

/// Headers without those that belong to one connection only.
pub fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let named: Vec<&str> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect();
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let is_of_connection = OF_CONNECTION.contains(&name.as_str())
            || named
                .iter()
                .any(|named| name.as_str().eq_ignore_ascii_case(named));
        if !is_of_connection {
            passed.append(name.clone(), value.clone());
        }
    }
    passed
}

/// The header that brings a key to an API; none if the key can't stand in a header.
pub fn key_header(endpoint: Endpoint, key: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = match endpoint {
        Endpoint::Messages => ("x-api-key", key.to_owned()),
        Endpoint::Gemini => ("x-goog-api-key", key.to_owned()),
        Endpoint::Chat | Endpoint::Responses => ("authorization", format!("Bearer {key}")),
    };
    let mut value = HeaderValue::from_str(&value).ok()?;
    value.set_sensitive(true);
    Some((HeaderName::from_static(name), value))
}

/// The innermost error says what happened; those around it repeat the URL, which may hold secrets.
pub fn reason(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    match cause.downcast_ref::<io::Error>() {
        Some(cause) => io_reason(cause),
        None if cause.is::<reqwest::Error>() => "the request failed".to_owned(),
        None => cause.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_server_is_refused() {
        for url in [
            "",
            "localhost:1",
            "ftp://a",
            "http://",
            "http://u:p@a",
            "http://a/?x=1",
            "http://a/#b",
        ] {
            assert!(Provider::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_key_that_would_break_out_of_its_header_is_none() {
        assert_eq!(key_header(Endpoint::Messages, "a\r\nb: c"), None);
        let (name, value) = key_header(Endpoint::Chat, "k").expect("a header");
        assert_eq!(
            (name.as_str(), value.as_bytes()),
            ("authorization", &b"Bearer k"[..])
        );
        assert!(value.is_sensitive());
    }
}
