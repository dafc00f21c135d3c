//! What an address says about how a server is reached.

use percent_encoding::percent_decode_str;
use reqwest::Url;

use super::entry::Kind;

/// How a server is reached, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address {
    Http {
        url: String,
        /// Whether nobody said that it is Streamable HTTP.
        or_sse: bool,
    },
    Sse(String),
    WebSocket(String),
    /// The path of a socket, as written.
    Unix(String),
    HttpUnix {
        /// The path of the socket, as written.
        socket: String,
        /// The path of the endpoint, with its query.
        path: String,
    },
}

/// Why an address can't be used, as words that follow its name, and what to do about it, if there is something.
pub(super) type AddressProblem = (String, &'static str);

/// The path of the endpoint where the address of a socket names none.
const ENDPOINT: &str = "/mcp";

/// Reads an address whose variables are filled in. Without a type the scheme decides.
pub(super) fn read(text: &str, kind: Option<Kind>) -> Result<Address, AddressProblem> {
    let scheme = scheme(text);
    let scheme = scheme.as_deref().unwrap_or_default();
    let kinds: &[Kind] = match scheme {
        "http" | "https" => &[Kind::Http, Kind::Sse],
        "ws" | "wss" => &[Kind::WebSocket],
        "unix" => &[Kind::Unix],
        "http+unix" => &[Kind::Unix, Kind::Http],
        _ if kind == Some(Kind::Unix) && scheme.is_empty() => {
            return Ok(Address::Unix(text.to_owned()));
        }
        _ => {
            return Err(match Url::parse(text) {
                Err(error) if text.contains("://") => no_url(error),
                _ => no_scheme(),
            });
        }
    };
    if kind.is_some_and(|kind| !kinds.contains(&kind)) {
        let what = format!("begins with `{scheme}:`, which does not fit its `type`");
        return Err((what, "remove `type`: the address says it"));
    }
    Ok(match (scheme, kind) {
        ("unix", _) => Address::Unix(socket_path(after_scheme(text))?),
        ("http+unix", _) => http_over_socket(after_scheme(text))?,
        ("ws" | "wss", _) => Address::WebSocket(checked(text)?),
        (_, Some(Kind::Sse)) => Address::Sse(checked(text)?),
        (_, kind) => Address::Http {
            url: checked(text)?,
            or_sse: kind.is_none(),
        },
    })
}

fn no_url(error: impl std::fmt::Display) -> AddressProblem {
    (format!("is not a valid URL: {error}"), "")
}

fn no_scheme() -> AddressProblem {
    let what =
        "must begin with `http://`, `https://`, `ws://`, `wss://`, `unix://` or `http+unix://`";
    let help = "write the whole address, as in \"http://localhost:8000/mcp\"";
    (what.to_owned(), help)
}

/// What stands before the first colon, if it can be a scheme.
fn scheme(text: &str) -> Option<String> {
    let (scheme, _) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    is_scheme.then(|| scheme.to_ascii_lowercase())
}

fn checked(text: &str) -> Result<String, AddressProblem> {
    Url::parse(text).map_err(no_url)?;
    Ok(text.to_owned())
}

/// What follows the scheme and two slashes, if they are there.
fn after_scheme(text: &str) -> &str {
    let (_, rest) = text.split_once(':').unwrap_or_default();
    rest.strip_prefix("//").unwrap_or(rest)
}

/// `/run/x.sock` or `~/x.sock`, with what is escaped in it.
fn socket_path(written: &str) -> Result<String, AddressProblem> {
    // Three slashes before the home folder are as good as two.
    let written = match written.strip_prefix("/~/") {
        Some(_) => &written[1..],
        None => written,
    };
    if !written.starts_with('/') && !written.starts_with("~/") {
        let what = "is not a socket path: it must start with `/` or `~/`";
        let help = "write three slashes, as in \"unix:///run/notes.sock\"";
        return Err((what.to_owned(), help));
    }
    unescaped(written)
}

/// `/run/x.sock`, `/run/x.sock:/mcp?a=b`, or `%2Frun%2Fx.sock/mcp` as other programs write it.
fn http_over_socket(rest: &str) -> Result<Address, AddressProblem> {
    let is_escaped = rest
        .get(..3)
        .is_some_and(|start| start.eq_ignore_ascii_case("%2f"));
    let (socket, path) = match is_escaped {
        true => match rest.find('/') {
            Some(slash) => (unescaped(&rest[..slash])?, &rest[slash..]),
            None => (unescaped(rest)?, ""),
        },
        false => match rest.rfind(":/") {
            Some(colon) => (socket_path(&rest[..colon])?, &rest[colon + 1..]),
            None => (socket_path(rest)?, ""),
        },
    };
    let path = if path.is_empty() { ENDPOINT } else { path };
    let url = Url::parse(&format!("http://localhost{path}")).map_err(no_url)?;
    let mut path = url.path().to_owned();
    if let Some(query) = url.query() {
        path.push('?');
        path.push_str(query);
    }
    Ok(Address::HttpUnix { socket, path })
}

/// A path with what is escaped in it.
fn unescaped(text: &str) -> Result<String, AddressProblem> {
    match String::from_utf8(percent_decode_str(text).collect()) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => {
            let what = "contains a path that is not UTF-8, or a NUL byte";
            let help = "write the characters of the path as they are";
            Err((what.to_owned(), help))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(path: &str) -> Result<Address, AddressProblem> {
        Ok(Address::Unix(path.to_owned()))
    }

    fn http(socket: &str, path: &str) -> Result<Address, AddressProblem> {
        Ok(Address::HttpUnix {
            socket: socket.to_owned(),
            path: path.to_owned(),
        })
    }

    #[test]
    fn the_scheme_decides_unless_a_type_says_more() {
        let url = || "http://h/mcp".to_owned();
        let plain = |or_sse| Ok(Address::Http { url: url(), or_sse });
        assert_eq!(read("http://h/mcp", None), plain(true));
        assert_eq!(read("http://h/mcp", Some(Kind::Http)), plain(false));
        assert_eq!(
            read("http://h/mcp", Some(Kind::Sse)),
            Ok(Address::Sse(url()))
        );
        for kind in [None, Some(Kind::WebSocket)] {
            let wanted = Address::WebSocket("WSS://h/ws".to_owned());
            assert_eq!(read("WSS://h/ws", kind), Ok(wanted));
        }
        assert_eq!(read("run/x.sock", Some(Kind::Unix)), socket("run/x.sock"));
    }

    #[test]
    fn a_type_that_does_not_fit_the_scheme_is_refused() {
        for (text, kind) in [
            ("http://h", Kind::WebSocket),
            ("https://h", Kind::Unix),
            ("ws://h", Kind::Unix),
            ("ws://h", Kind::Http),
            ("ws://h", Kind::Sse),
            ("unix:///s", Kind::Http),
            ("unix:///s", Kind::WebSocket),
            ("http+unix:///s", Kind::Sse),
        ] {
            let (what, _) = read(text, Some(kind)).expect_err(text);
            assert!(what.ends_with("does not fit its `type`"), "{text}: {what}");
        }
    }

    #[test]
    fn a_socket_is_a_whole_path() {
        for (written, path) in [
            ("unix:///run/x.sock", "/run/x.sock"),
            ("unix:/run/x.sock", "/run/x.sock"),
            ("unix://~/x.sock", "~/x.sock"),
            ("unix:///~/x.sock", "~/x.sock"),
            ("unix:///a%20b%.sock", "/a b%.sock"),
        ] {
            assert_eq!(read(written, None), socket(path), "{written}");
        }
        for written in ["unix://run/x.sock", "unix://", "unix:", "http+unix://h/mcp"] {
            let (what, _) = read(written, None).expect_err(written);
            assert!(what.starts_with("is not a socket path"), "{what}");
        }
        for written in ["unix:///%00", "unix:///%ff"] {
            let (what, _) = read(written, None).expect_err(written);
            assert!(what.contains("NUL"), "{what}");
        }
    }

    #[test]
    fn http_over_a_socket_names_its_endpoint_after_a_colon() {
        assert_eq!(read("http+unix:///s.sock", None), http("/s.sock", "/mcp"));
        for kind in [None, Some(Kind::Http), Some(Kind::Unix)] {
            assert_eq!(
                read("http+unix:///a:b.sock:/x/y?z=1", kind),
                http("/a:b.sock", "/x/y?z=1")
            );
        }
        assert_eq!(
            read("http+unix://%2Frun%2Fs.sock/x", None),
            http("/run/s.sock", "/x")
        );
        assert_eq!(
            read("http+unix://%2frun%2fs.sock", None),
            http("/run/s.sock", "/mcp")
        );
    }
}
