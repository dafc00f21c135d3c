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
    /// `/v1` at its end or without means the same; another version is kept.
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

    /// Where a request for `path` goes: a version that the server's URL has takes the place of the client's.
    pub(super) fn address(&self, path: &str, query: Option<&str>, endpoint: Endpoint) -> Url {
        let base = self.provider.base_path();
        let mut segments = base.split('/');
        let has_version = match endpoint {
            // Clients of OpenAI's API are given all that stands before `/chat/completions`.
            Endpoint::Chat | Endpoint::Responses => segments.any(is_version),
            _ => segments.next_back().is_some_and(is_version),
        };
        let behind_version = || {
            let (version, rest) = path.strip_prefix('/')?.split_once('/')?;
            is_version(version).then(|| format!("/{rest}"))
        };
        let path = match has_version {
            // `/v1beta` goes on from it too.
            true if base.ends_with("/v1") => path.strip_prefix("/v1").map(str::to_owned),
            true => behind_version(),
            false => None,
        }
        .unwrap_or_else(|| path.to_owned());
        self.provider.at(&format!("{base}{path}"), query)
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

/// Whether a segment of a path is the version of an API: `v1`, `v1beta`, `v4`.
fn is_version(segment: &str) -> bool {
    let number = segment.strip_prefix('v');
    number.is_some_and(|number| number.starts_with(|sign: char| sign.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_wire::llm::route::Route;

    #[test]
    fn a_version_of_the_url_takes_the_place_of_the_clients() {
        let chat = "/v1/chat/completions";
        let gemini = "/v1beta/models/m:generateContent";
        for (upstream, path, expected) in [
            ("https://a.example", "/v1/messages", "/v1/messages"),
            ("https://a.example/v1", "/v1/messages", "/v1/messages"),
            ("https://a.example/api/v1/", "/v1/models", "/api/v1/models"),
            ("http://a.example/api", "/v1/models", "/api/v1/models"),
            ("http://a.example/v1", "/health", "/v1/health"),
            (
                "http://a.example/v1beta/openai/",
                chat,
                "/v1beta/openai/chat/completions",
            ),
            (
                "http://a.example/api/paas/v4",
                chat,
                "/api/paas/v4/chat/completions",
            ),
            (
                "http://a.example/v1/me/openai",
                chat,
                "/v1/me/openai/chat/completions",
            ),
            (
                "http://a.example/v1/me/anthropic",
                "/v1/messages",
                "/v1/me/anthropic/v1/messages",
            ),
            ("http://a.example/v1beta", gemini, gemini),
            ("http://a.example/v1", gemini, gemini),
            ("http://a.example/video", chat, "/video/v1/chat/completions"),
        ] {
            let endpoint = Route::endpoint_like(path, None);
            let url = Upstream::parse(upstream).expect("a URL").address(
                path,
                Some("beta=true"),
                endpoint,
            );
            let seen = (url.path(), url.query());
            assert_eq!(seen, (expected, Some("beta=true")), "{upstream}");
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
