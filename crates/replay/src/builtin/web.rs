//! `claude__web_fetch`.

use std::borrow::Cow;

use cuecard_source::value::{Origin, Text, cut};
use cuecard_tool_call::model::Parse;
use cuecard_tool_call::script::{CallRequest, Failure, FailureKind};
use reqwest::Url;

use super::super::toolbox::{DEFAULT_TIMEOUT, Found, ToolSettings, timed_out};
use super::arguments::Arguments;
use super::files::to_json;
use super::{json_of, refused};
use cuecard_workspace::fetch::{FetchRequest, PolicyGate, fetch as fetch_url};

pub(super) async fn fetch(
    settings: &ToolSettings,
    arguments: &Arguments<'_>,
    call: &CallRequest,
) -> Result<Found, Failure> {
    let text = with_encoded_values(&arguments.required_text("url"));
    check_url(&text)?;
    let grant = settings.policy.url(&text).map_err(refused)?;
    let limit = call.timeout.or(settings.timeout).unwrap_or(DEFAULT_TIMEOUT);
    let request = FetchRequest {
        timeout: limit,
        ..FetchRequest::new(text.to_string())
    };
    let gate = PolicyGate::new(grant);
    match fetch_url(request, &gate).await {
        Ok(fetched) => {
            let result = to_json(&fetched)?;
            if fetched.status >= 400 {
                let mut failure = Failure::new(
                    FailureKind::ToolError,
                    format!("{} answered with status {}", fetched.url, fetched.status),
                );
                failure.result = Some(result);
                return Err(failure);
            }
            let mut result = result;
            let mut warnings = fetched.warnings.clone();
            warnings.extend(lost_fragment(&text));
            if call.parse == Parse::Json {
                let what = format!("the body of {}", fetched.url);
                match json_of(&what, &fetched.content, fetched.truncated) {
                    Ok((content, changed)) => {
                        result["content"] = content;
                        warnings.extend(changed);
                    }
                    Err(mut failure) => {
                        failure.result = Some(result);
                        return Err(failure);
                    }
                }
            }
            Ok((result, warnings))
        }
        Err(error) => {
            if let Some(refusal) = gate.refusal() {
                return Err(refused(refusal));
            }
            if error.is_timeout() {
                return Err(timed_out(limit));
            }
            let mut failure = Failure::new(FailureKind::CallFailed, error.to_string());
            failure.help = error.help();
            Err(failure)
        }
    }
}

/// The URL with data in a value of its query, or with a blank in its path, written so that it stays what it is, unless it is
/// so already.
fn with_encoded_values(url: &Text) -> Text {
    let mut written = String::new();
    let encoded = url.pieces().iter().map(|piece| {
        let mut piece = piece.clone();
        let is_value = written
            .split_once('?')
            .and_then(|(_, query)| query.rsplit('&').next())
            .is_some_and(|parameter| parameter.contains('='));
        // A path is the author's or the server's word, but no path has a blank in it.
        let is_name = has_path(&written) && !written.contains('?') && piece.text.contains(' ');
        if !piece.origin.is_trusted() && !written.contains('#') && (is_value || is_name) {
            let encoded = encoded_value(&piece.text);
            piece.text = match is_value {
                true => encoded.into_owned(),
                false => encoded.replace("%2F", "/"),
            };
        }
        written.push_str(&piece.text);
        piece
    });
    Text::new(encoded.collect())
}

/// Whether what is written of a URL goes on behind its host.
fn has_path(written: &str) -> bool {
    written
        .split_once("://")
        .is_some_and(|(_, behind)| behind.contains('/'))
}

/// What isn't sent of data in a path: servers never get what follows a `#`.
fn lost_fragment(url: &Text) -> Option<String> {
    let mut written = String::new();
    url.pieces().iter().find_map(|piece| {
        let is_in_path = has_path(&written) && !written.contains(['?', '#']);
        written.push_str(&piece.text);
        let is_lost = is_in_path && !piece.origin.is_trusted() && piece.text.contains('#');
        let reference = piece.reference.as_deref().unwrap_or("…");
        is_lost.then(|| {
            format!(
                "`{{{{{reference}}}}}` has a `#`, and what follows it is not sent to the server"
            )
        })
    })
}

/// A value as a query has it; one that is encoded stays.
fn encoded_value(value: &str) -> Cow<'_, str> {
    // Commands print a line end behind a value. Tabs and line ends are none of a URL.
    let value = match value.contains(['\t', '\n', '\r']) {
        true => Cow::Owned(value.replace(['\t', '\n', '\r'], "")),
        false => Cow::Borrowed(value),
    };
    let is_digit = |digit: Option<&u8>| digit.is_some_and(u8::is_ascii_hexdigit);
    let mut parts = value.split('%').skip(1).map(str::as_bytes);
    let is_encoded = value.contains('%')
        && !value.contains([' ', '&', '#', '"'])
        && parts.all(|part| is_digit(part.first()) && is_digit(part.get(1)));
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._~/:,@".contains(letter);
    if is_encoded || value.chars().all(is_plain) {
        return value;
    }
    let Ok(mut form) = Url::parse("http://form/") else {
        return value;
    };
    form.query_pairs_mut().append_key_only(&value);
    Cow::Owned(form.query().unwrap_or_default().replace('+', "%20"))
}

/// What is no address of a page at all is a wrong parameter, whatever the policy would say about it.
pub(super) fn check_url(text: &Text) -> Result<(), Failure> {
    let written = text.to_string();
    let parsed = Url::parse(&written);
    let (what, help) = match &parsed {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => return Ok(()),
        Ok(url) if url.scheme() == "file" => (
            "is not an http or https URL".to_owned(),
            Some("`claude__read` reads a file".to_owned()),
        ),
        // `example.com:80/` parses, with `example.com` as its scheme.
        Ok(url) if !is_host_and_port(url) => (
            "is not an http or https URL".to_owned(),
            Some("only `http://` and `https://` URLs can be fetched".to_owned()),
        ),
        Err(error) if has_scheme(&written) => (
            format!("is not a URL: {error}"),
            Some("write it with scheme and host: `https://example.com/path`".to_owned()),
        ),
        Ok(_) | Err(_) => {
            let scheme = if is_here(&written) { "http" } else { "https" };
            let help = (!written.trim().is_empty())
                .then(|| format!("write `{scheme}://{}`", shown(text).trim_start_matches('/')));
            (
                "is not a URL: it has no `https://` in front".to_owned(),
                help,
            )
        }
    };
    let mut failure = Failure::new(
        FailureKind::BadParameters,
        format!("`{}` {what}", shown(text)),
    );
    failure.help = help;
    Err(failure)
}

/// Whether what looks like a scheme is the name of a host: `localhost:8080`, `example.com:80/path`.
fn is_host_and_port(url: &Url) -> bool {
    let port = url.path().split('/').next().unwrap_or_default();
    url.cannot_be_a_base() && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether `written` begins with `http://` or the like, as far as that can be told of what doesn't parse.
fn has_scheme(written: &str) -> bool {
    written.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.trim().is_empty()
            && scheme
                .trim()
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Whether `written` starts with a name of this machine, which seldom has a certificate.
fn is_here(written: &str) -> bool {
    ["localhost", "127.", "[::1]"]
        .iter()
        .any(|name| written.trim_start().starts_with(name))
}

/// A text for a message: secrets by their names, not too long.
fn shown(text: &Text) -> String {
    let mut shown = String::new();
    for piece in text.pieces() {
        match (piece.origin, &piece.reference) {
            (Origin::Secret, Some(name)) => shown.push_str(&format!("{{{{{name}}}}}")),
            (Origin::Secret, None) => shown.push('…'),
            _ => shown.push_str(&piece.text),
        }
    }
    cut(&shown, 200).into_owned()
}

#[cfg(test)]
mod tests {
    use cuecard_source::value::Piece;

    use super::*;

    fn problem(url: &str) -> (String, Option<String>) {
        let failure = check_url(&Text::from(url)).expect_err("it is no URL to fetch");
        assert_eq!(failure.kind, FailureKind::BadParameters);
        (failure.message, failure.help)
    }

    #[test]
    fn json_is_read_as_a_server_s_answer() {
        let json_of = |text: &str| json_of("it", text, false);
        let read = |text: &str| json_of(text).expect("JSON");
        let large = serde_json::json!({ "n": "12345678901234567891234" });
        assert_eq!(
            read("{\"n\": 12345678901234567891234}"),
            (large, Vec::new())
        );
        assert_eq!(read("\u{feff}[1]\n").0, serde_json::json!([1]));
        let (half, warnings) = read("[\"\\ud83d\"]");
        assert_eq!(half, serde_json::json!(["\u{fffd}"]));
        assert!(warnings[0].starts_with("C-JSON-04: it contains half"));
        let (_, warnings) = read("{\"n\": 1e-400}");
        assert!(warnings[0].starts_with("C-JSON-05: it contains the number `1e-400` in `n`"));
        let failure = json_of("<html>").expect_err("no JSON");
        assert!(failure.message.starts_with("it is not JSON: "));
        let failure = super::json_of("it", "[1, ", true).expect_err("cut");
        assert_eq!(
            failure.message,
            "it is too long to be read as JSON: a part of it was dropped"
        );
    }

    #[test]
    fn what_can_be_fetched_is_left_to_the_policy() {
        for url in [
            "http://h",
            "HTTPS://example.com/a?b#c",
            " https://h ",
            "http:\\\\h",
            "http://[::1]:80/",
        ] {
            assert!(check_url(&Text::from(url)).is_ok(), "{url}");
        }
    }

    #[test]
    fn what_is_no_address_is_a_wrong_parameter() {
        for (url, what, help) in [
            (
                "example.com",
                "is not a URL: it has no `https://` in front",
                Some("write `https://example.com`"),
            ),
            (
                "example.com:8080/a",
                "is not a URL: it has no `https://` in front",
                Some("write `https://example.com:8080/a`"),
            ),
            (
                "localhost:8080",
                "is not a URL: it has no `https://` in front",
                Some("write `http://localhost:8080`"),
            ),
            (
                "127.0.0.1:8080/x",
                "is not a URL: it has no `https://` in front",
                Some("write `http://127.0.0.1:8080/x`"),
            ),
            (
                "//example.com/x",
                "is not a URL: it has no `https://` in front",
                Some("write `https://example.com/x`"),
            ),
            ("", "is not a URL: it has no `https://` in front", None),
            (
                "ftp://example.com/a.txt",
                "is not an http or https URL",
                Some("only `http://` and `https://` URLs can be fetched"),
            ),
            (
                "mailto:a@b",
                "is not an http or https URL",
                Some("only `http://` and `https://` URLs can be fetched"),
            ),
            (
                "file:///etc/hosts",
                "is not an http or https URL",
                Some("`claude__read` reads a file"),
            ),
            (
                "http://h:99999/",
                "is not a URL: invalid port number",
                Some("write it with scheme and host: `https://example.com/path`"),
            ),
        ] {
            let expected = (format!("`{url}` {what}"), help.map(str::to_owned));
            assert_eq!(problem(url), expected);
        }
    }

    #[test]
    fn a_value_of_a_query_stays_one() {
        let of = |before: &str, value: &str, after: &str| {
            let mut data = Piece::author(value);
            data.origin = Origin::Peer;
            let text = Text::new(vec![Piece::author(before), data, Piece::author(after)]);
            with_encoded_values(&text).to_string()
        };
        for (value, encoded) in [
            ("C# & F#", "C%23%20%26%20F%23"),
            ("a&b=c", "a%26b%3Dc"),
            ("a+b", "a%2Bb"),
            ("50% off", "50%25%20off"),
            ("a%20b", "a%20b"),
            ("a%20b;c=(d)", "a%20b;c=(d)"),
            ("plain-1.txt", "plain-1.txt"),
            ("2026-11-29T10:00", "2026-11-29T10:00"),
            ("é\n", "%C3%A9"),
        ] {
            for (before, after) in [("http://h/?q=", ""), ("http://h/x?a=1&q=", "&n=2")] {
                assert_eq!(
                    of(before, value, after),
                    format!("{before}{encoded}{after}")
                );
            }
        }
        for (before, value, after, expected) in [
            (
                "http://h/?q=",
                "C# & F+",
                "+repo:x",
                "http://h/?q=C%23%20%26%20F%2B+repo:x",
            ),
            ("http://h/?q=title:", "a&b", "", "http://h/?q=title:a%26b"),
            (
                "http://h/?q=\"",
                "a%20b & c",
                "\"",
                "http://h/?q=\"a%2520b%20%26%20c\"",
            ),
            (
                "http://h/wiki/",
                "AC/DC? C# & F+",
                "",
                "http://h/wiki/AC/DC%3F%20C%23%20%26%20F%2B",
            ),
        ] {
            assert_eq!(of(before, value, after), expected);
        }
        // A whole query, and a path, are the author's or the server's word.
        for (before, after) in [("http://h/?", ""), ("http://h/", "?q=1"), ("http://h", "")] {
            assert_eq!(
                of(before, "/a&b?c#", after),
                format!("{before}/a&b?c#{after}")
            );
        }
        assert_eq!(of("http://h", "/a b?c", ""), "http://h/a b?c");
    }

    #[test]
    fn what_a_path_loses_is_told() {
        for (before, value, is_lost) in [
            ("http://h/wiki/", "C#", true),
            ("http://h/wiki/", "C", false),
            ("http://h/?q=", "C#", false),
            ("http://h", "/page#part", false),
            ("", "http://h/page#part", false),
        ] {
            let mut data = Piece::author(value);
            data.origin = Origin::Peer;
            let text = with_encoded_values(&Text::new(vec![Piece::author(before), data]));
            assert_eq!(lost_fragment(&text).is_some(), is_lost, "{before}{value}");
        }
    }

    #[test]
    fn a_secret_in_it_is_not_shown() {
        let mut secret = Piece::author("hush-hush");
        secret.origin = Origin::Secret;
        secret.reference = Some("TOKEN".into());
        let text = Text::new(vec![Piece::author("ftp://u:"), secret, Piece::author("@h")]);
        let failure = check_url(&text).expect_err("it can't be fetched");
        assert_eq!(
            failure.message,
            "`ftp://u:{{TOKEN}}@h` is not an http or https URL"
        );
        let long = Text::from("x".repeat(1_000_000).as_str());
        assert!(check_url(&long).expect_err("no URL").message.len() < 300);
    }
}
