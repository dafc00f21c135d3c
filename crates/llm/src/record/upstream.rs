//! The provider's side: where a request goes, and which headers go along.

use std::fmt;

use axum::http::{HeaderMap, HeaderValue, header};
use cuecard_timeline::script::Endpoint;
use reqwest::{Client, Url};

use cuecard_runtime::provider::{Provider, key_header, passed_on};

/// Headers that hold an API key.
const KEYS: &[&str] = &["authorization", "x-api-key", "api-key", "x-goog-api-key"];

/// The server that requests are passed on to.
#[derive(Clone)]
pub struct Upstream {
    provider: Provider,
    key: Option<String>,
}

impl fmt::Debug for Upstream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Upstream")
            .field("url", &self.provider.to_string())
            .field("key", &self.key.as_ref().map(|_| "…"))
            .finish()
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.provider.fmt(formatter)
    }
}

impl Upstream {
    /// The server at `url`: `https://api.openai.com/v1`, `https://api.anthropic.com`, `http://localhost:11434`. With
    /// `/v1` at its end or without means the same.
    ///
    /// # Errors
    /// In words, if it is no such URL.
    pub fn parse(url: &str) -> Result<Self, String> {
        Ok(Self {
            provider: Provider::parse(url)?,
            key: None,
        })
    }

    /// The same server with a key that is sent in place of the client's.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Self {
        Self {
            key: Some(key.into()),
            ..self
        }
    }

    /// The key that is sent in place of the client's.
    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Where a request for `path` goes.
    pub(super) fn address(&self, path: &str, query: Option<&str>) -> Url {
        let base = self.provider.base_path();
        let rest = match base.ends_with("/v1") {
            true => path.strip_prefix("/v1").unwrap_or(path),
            false => path,
        };
        self.provider.at(&format!("{base}{rest}"), query)
    }

    /// A client for this server. It follows no redirect: those are for its own clients to see.
    pub(super) fn client(&self) -> Result<Client, reqwest::Error> {
        self.provider.client()
    }

    /// The headers that go along with a client's request.
    pub(super) fn headers(&self, of_client: &HeaderMap, endpoint: Endpoint) -> HeaderMap {
        let mut headers = passed_on(of_client);
        // So that what comes can be read while it is passed on.
        headers.insert(
            header::ACCEPT_ENCODING,
            HeaderValue::from_static("identity"),
        );
        if let Some(key) = &self.key {
            for name in KEYS {
                headers.remove(*name);
            }
            if let Some((name, value)) = key_header(endpoint, key) {
                headers.insert(name, value);
            }
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(upstream: &str, path: &str) -> String {
        let upstream = Upstream::parse(upstream).expect("a URL");
        upstream.address(path, Some("beta=true")).to_string()
    }

    #[test]
    fn a_version_at_the_end_of_the_url_is_not_said_twice() {
        for (upstream, path, expected) in [
            (
                "https://a.example",
                "/v1/messages",
                "https://a.example/v1/messages?beta=true",
            ),
            (
                "https://a.example/v1",
                "/v1/messages",
                "https://a.example/v1/messages?beta=true",
            ),
            (
                "https://a.example/api/v1/",
                "/v1/models",
                "https://a.example/api/v1/models?beta=true",
            ),
            (
                "http://a.example/api",
                "/v1/models",
                "http://a.example/api/v1/models?beta=true",
            ),
            (
                "http://a.example/v1",
                "/health",
                "http://a.example/v1/health?beta=true",
            ),
        ] {
            assert_eq!(address(upstream, path), expected);
        }
    }

    #[test]
    fn a_key_is_not_shown() {
        let shown = format!(
            "{:?}",
            Upstream::parse("http://a")
                .expect("a URL")
                .with_key("s3cret")
        );
        assert!(!shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn keys_are_replaced_and_connections_stay_apart() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer mine"),
            ("connection", "keep-alive, x-hop"),
            ("x-hop", "1"),
            ("host", "localhost"),
            ("accept-encoding", "gzip"),
            ("anthropic-version", "2023-06-01"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let upstream = Upstream::parse("http://a").expect("a URL");
        let own = upstream.headers(&headers, Endpoint::Messages);
        assert_eq!(own["authorization"], "Bearer mine");
        assert_eq!(own["accept-encoding"], "identity");
        assert_eq!(own.len(), 3);
        let other = upstream
            .with_key("theirs")
            .headers(&headers, Endpoint::Messages);
        assert_eq!(other["x-api-key"], "theirs");
        assert!(!other.contains_key("authorization"));
    }
}
