//! Looks at URLs before a browser does.

use url::{ParseError, Url};

/// What is wrong with a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UrlProblem {
    /// It is none.
    Invalid(String),
    /// Its scheme is not one that is opened.
    Scheme(String),
}

/// Looks at a URL; what stands in references is not known yet.
pub(super) fn check(url: &str) -> Result<(), UrlProblem> {
    let invalid = |why: &str| Err(UrlProblem::Invalid(why.to_owned()));
    let no_scheme = "it has no scheme such as `https://`";
    if url.is_empty() || url.trim() != url {
        return invalid("it is empty, or starts or ends with a space");
    }
    // A number may stand anywhere in an address, but for its scheme.
    let (mut filled, mut rest) = (String::new(), url);
    while let Some((before, reference)) = rest.split_once("{{") {
        let Some((_, after)) = reference.split_once("}}") else {
            return invalid("a reference is not closed");
        };
        filled.push_str(before);
        filled.push('1');
        rest = after;
    }
    if url.starts_with("{{") {
        return Ok(());
    }
    filled.push_str(rest);
    let parsed = match Url::parse(&filled) {
        Ok(parsed) => parsed,
        Err(ParseError::RelativeUrlWithoutBase) => return invalid(no_scheme),
        Err(error) => return invalid(&error.to_string()),
    };
    let after = &filled[parsed.scheme().len() + 1..];
    match parsed.scheme() {
        "http" | "https" if after.starts_with("//") => Ok(()),
        "http" | "https" => invalid("expected `//` after the scheme"),
        "file" if after.starts_with("///") => Ok(()),
        "file" => invalid("a file is written as `file:///path`"),
        "about" if url.eq_ignore_ascii_case("about:blank") => Ok(()),
        // `localhost:8080` has no scheme, although it looks as if it had.
        other if other.contains('.') || after.starts_with(|char: char| char.is_ascii_digit()) => {
            invalid(no_scheme)
        }
        other => Err(UrlProblem::Scheme(other.to_owned())),
    }
}

/// The host of a URL, if it is known.
pub(super) fn host_of(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        return None;
    }
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    authority.rsplit('@').next().filter(|host| !host.is_empty())
}
