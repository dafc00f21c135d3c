//! Looks at URLs before a browser does.

/// What is wrong with a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UrlProblem {
    /// It is none.
    Invalid(&'static str),
    /// Its scheme is not one that is opened.
    Scheme(String),
}

/// Looks at a URL; what stands in references is not known yet.
pub(super) fn check(url: &str) -> Result<(), UrlProblem> {
    let invalid = |why| Err(UrlProblem::Invalid(why));
    if url.trim().is_empty() {
        return invalid("it is empty");
    }
    if url.trim() != url {
        return invalid("it starts or ends with a space");
    }
    let known = url.find("{{").map_or(url, |at| &url[..at]);
    let is_whole = known.len() == url.len();
    if known.contains(|sign: char| sign.is_whitespace() || sign.is_control()) {
        return invalid("it contains a space or a line break");
    }
    if !is_whole && !url[known.len()..].contains("}}") {
        return invalid("a reference is not closed");
    }
    if !is_whole && !known.contains(':') {
        return match known.is_empty() {
            true => Ok(()),
            false => invalid("it has no scheme such as `https://`"),
        };
    }
    let Some((scheme, rest)) = known.split_once(':') else {
        return invalid("it has no scheme such as `https://`");
    };
    let is_scheme = scheme.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '+' | '-' | '.'));
    // `localhost:8080` has no scheme, although it looks as if it had.
    let is_port = !rest.starts_with('/') && rest.starts_with(|sign: char| sign.is_ascii_digit());
    if !is_scheme || is_port || scheme.contains('.') {
        return invalid("it has no scheme such as `https://`");
    }
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => host(rest, is_whole),
        "file" if rest.starts_with("///") || !is_whole => Ok(()),
        "file" => invalid("a file is written as `file:///path`"),
        "about" if url.eq_ignore_ascii_case("about:blank") => Ok(()),
        other => Err(UrlProblem::Scheme(other.to_owned())),
    }
}

fn host(rest: &str, is_whole: bool) -> Result<(), UrlProblem> {
    let Some(rest) = rest.strip_prefix("//") else {
        return Err(UrlProblem::Invalid("expected `//` after the scheme"));
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if end == rest.len() && !is_whole {
        return Ok(());
    }
    let authority = &rest[..end];
    let host = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match host.starts_with('[') {
        true => host.split_at(host.find(']').map_or(0, |at| at + 1)),
        false => host.split_at(host.rfind(':').unwrap_or(host.len())),
    };
    let is_port = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.is_empty() || port.parse::<u16>().is_ok());
    if host.is_empty() {
        return Err(UrlProblem::Invalid("it has no host"));
    }
    if !is_port {
        return Err(UrlProblem::Invalid("its port is not a number up to 65535"));
    }
    let is_odd = |sign: char| matches!(sign, '<' | '>' | '"' | '\\' | '^' | '|' | '{' | '}');
    match host.contains(is_odd) {
        true => Err(UrlProblem::Invalid("its host contains invalid characters")),
        false => Ok(()),
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
