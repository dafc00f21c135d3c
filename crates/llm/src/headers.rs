//! Headers, paths and queries: what is read from them, and what of them may be kept.

use axum::http::HeaderMap;
pub(super) use cuecard_source::value::percent_decoded;
use cuecard_source::value::{Json, REDACTED, names_credential, without_credentials};

/// More headers are not kept.
const MAX_HEADERS: usize = 100;

/// The query of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Query<'a>(Option<&'a str>);

impl<'a> Query<'a> {
    pub(super) fn new(text: Option<&'a str>) -> Self {
        Self(text)
    }

    /// As it came, without the question mark.
    pub(super) fn text(self) -> Option<&'a str> {
        self.0
    }

    fn pairs(self) -> impl Iterator<Item = &'a str> {
        self.0.unwrap_or_default().split('&')
    }

    /// The API key, as Gemini's clients send it.
    pub(super) fn key(self) -> Option<&'a str> {
        self.pairs().find_map(|pair| pair.strip_prefix("key="))
    }

    /// With its question mark and without keys; empty if nothing is left.
    pub(super) fn without_keys(self) -> String {
        let kept: Vec<&str> = self
            .pairs()
            .filter(|pair| {
                let name = pair.split('=').next().unwrap_or_default();
                !pair.is_empty() && name != "key" && !names_credential(name)
            })
            .collect();
        match kept.is_empty() {
            true => String::new(),
            false => format!("?{}", kept.join("&")),
        }
    }
}

/// The values of all headers with this name, with commas.
pub(super) fn joined(headers: &HeaderMap, name: &str) -> String {
    let values = headers.get_all(name).iter();
    let values: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    values.join(",")
}

/// The headers as an object; those that hold credentials without their values.
pub(super) fn masked(headers: &HeaderMap) -> Json {
    let pairs = headers.iter().take(MAX_HEADERS).map(|(name, value)| {
        let name = name.as_str();
        let is_secret = names_credential(name) || matches!(name, "cookie" | "authorization");
        let value = match is_secret {
            true => REDACTED.to_owned(),
            false => {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                without_credentials(&value).into_owned()
            }
        };
        (name.to_owned(), Json::String(value))
    });
    Json::Object(pairs.collect())
}

/// The headers whose values are text, by name.
pub(super) fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let pairs = headers
        .iter()
        .take(MAX_HEADERS)
        .filter_map(|(name, value)| {
            let value = value.to_str().ok()?.to_owned();
            Some((name.as_str().to_owned(), value))
        });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_percent_signs() {
        assert_eq!(percent_decoded("/v1/models"), "/v1/models");
        assert_eq!(percent_decoded("/v1/models/a%2Fb%3ax"), "/v1/models/a/b:x");
        assert_eq!(percent_decoded("/%zz%2"), "/%zz%2");
        assert_eq!(percent_decoded("/%ff"), "/%ff");
    }

    #[test]
    fn keys_are_read_and_never_kept() {
        let query = Query::new(Some("alt=sse&key=s3cret"));
        assert_eq!(query.key(), Some("s3cret"));
        assert_eq!(query.without_keys(), "?alt=sse");
        assert_eq!(Query::new(None).without_keys(), "");
        let mut headers = HeaderMap::new();
        for name in [
            "authorization",
            "x-api-key",
            "api-key",
            "x-goog-api-key",
            "cookie",
            "accept",
        ] {
            headers.insert(name, "s3cret".parse().expect("a value"));
        }
        headers.insert("helicone-auth", "Bearer s3cret".parse().expect("a value"));
        let masked = masked(&headers).to_string();
        assert_eq!(masked.matches("s3cret").count(), 1, "{masked}");
    }
}
