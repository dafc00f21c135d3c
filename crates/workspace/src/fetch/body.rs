//! Bodies: what kind they are, and the text in them.

use crate::commands::unfinished;

/// How much of a body is looked at to tell what it is, as browsers do.
const SNIFFED_BYTES: usize = 1_445;
/// Where a page has to name its charset, as browsers have it.
const CHARSET_BYTES: usize = 1_024;

/// What a body is by its content type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Xhtml,
    Text,
    Binary,
    /// Only its bytes can tell.
    Unknown,
}

impl Kind {
    pub(super) fn of(content_type: Option<&str>) -> Self {
        let media = content_type
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default();
        let media = media.trim().to_ascii_lowercase();
        let Some((family, name)) = media.split_once('/') else {
            return Self::Unknown;
        };
        match (family, name) {
            ("text", "html") => Self::Html,
            ("application", "xhtml+xml") => Self::Xhtml,
            (_, name)
                if name.ends_with("+xml") || name.ends_with("+json") || name.ends_with("+yaml") =>
            {
                Self::Text
            }
            ("text", _)
            | (
                "application",
                "json" | "xml" | "javascript" | "yaml" | "toml" | "x-ndjson" | "jsonl" | "sql",
            ) => Self::Text,
            ("image" | "audio" | "video" | "font", _)
            | ("application", "pdf" | "zip" | "gzip" | "x-tar" | "wasm") => Self::Binary,
            _ => Self::Unknown,
        }
    }
}

/// A body as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    Text(String),
    Html {
        text: String,
        xml: bool,
    },
    /// It is none.
    Binary,
}

/// The charset that a body is in isn't one of those known here.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownCharset(pub(super) String);

/// Turns a body into text. Its charset is what its byte order mark says, else its content type, else a
/// page's `meta`; without any, UTF-8, and where it isn't that, the Latin-1 of the web. What can't be
/// decoded is replaced; a character at the end that a bound has cut (`cut_off`) is left out.
pub(super) fn decode(
    bytes: Vec<u8>,
    cut_off: bool,
    content_type: Option<&str>,
    kind: Kind,
) -> Result<Decoded, UnknownCharset> {
    if bytes.is_empty() {
        return Ok(Decoded::Text(String::new()));
    }
    let is_page = matches!(kind, Kind::Html | Kind::Xhtml)
        || kind == Kind::Unknown && looks_like_html(&bytes);
    let marked = byte_order_mark(&bytes);
    let (charset, skip) = match marked {
        Some((charset, length)) => (Some(charset), length),
        None => match charset_of(content_type)
            .or_else(|| is_page.then(|| meta_charset(&bytes)).flatten())
        {
            None => (None, 0),
            Some(name) => match Charset::named(&name) {
                Some(charset) => (Some(charset), 0),
                // Nearly all others agree about the first half.
                None if bytes.iter().all(|byte| byte.is_ascii() && *byte != 0x1B) => (None, 0),
                None => return Err(UnknownCharset(name)),
            },
        },
    };
    let wide = matches!(charset, Some(Charset::Utf16Le | Charset::Utf16Be));
    if !wide
        && bytes
            .iter()
            .take(SNIFFED_BYTES)
            .any(|byte| is_binary(*byte))
    {
        return Ok(Decoded::Binary);
    }
    let text = match charset {
        Some(Charset::Utf8) => utf8(bytes, skip, cut_off),
        Some(Charset::Latin1) => latin1(&bytes),
        Some(Charset::Utf16Le) => utf16(&bytes[skip..], cut_off, u16::from_le_bytes),
        Some(Charset::Utf16Be) => utf16(&bytes[skip..], cut_off, u16::from_be_bytes),
        None if std::str::from_utf8(whole(&bytes, cut_off)).is_ok() => utf8(bytes, 0, cut_off),
        None => latin1(&bytes),
    };
    Ok(if is_page {
        Decoded::Html {
            text,
            xml: kind == Kind::Xhtml,
        }
    } else {
        Decoded::Text(text)
    })
}

/// Cuts a text to at most `max` bytes, at a character; true if something was lost.
pub(super) fn cut(mut text: String, max: usize) -> (String, bool) {
    if text.len() <= max {
        return (text, false);
    }
    text.truncate(text.floor_char_boundary(max));
    (text, true)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Charset {
    Utf8,
    /// Windows-1252, which is what the web means by Latin-1 and by ASCII.
    Latin1,
    Utf16Le,
    Utf16Be,
}

impl Charset {
    fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" | "unicode-1-1-utf-8" => Some(Self::Utf8),
            "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "latin-1" | "l1"
            | "windows-1252" | "cp1252" | "x-cp1252" | "us-ascii" | "ascii" => Some(Self::Latin1),
            "utf-16" | "utf-16le" => Some(Self::Utf16Le),
            "utf-16be" => Some(Self::Utf16Be),
            _ => None,
        }
    }
}

fn byte_order_mark(bytes: &[u8]) -> Option<(Charset, usize)> {
    match bytes {
        [0xEF, 0xBB, 0xBF, ..] => Some((Charset::Utf8, 3)),
        [0xFF, 0xFE, ..] => Some((Charset::Utf16Le, 2)),
        [0xFE, 0xFF, ..] => Some((Charset::Utf16Be, 2)),
        _ => None,
    }
}

/// The `charset` parameter of a content type.
fn charset_of(content_type: Option<&str>) -> Option<String> {
    content_type?.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
    })
}

/// The charset that a page's `meta` element, or its XML declaration, names.
fn meta_charset(bytes: &[u8]) -> Option<String> {
    let start =
        String::from_utf8_lossy(&bytes[..bytes.len().min(CHARSET_BYTES)]).to_ascii_lowercase();
    let element = start.split('<').find(|tag| {
        tag.starts_with("meta") && tag.contains("charset") || tag.starts_with("?xml")
    })?;
    let element = element.split('>').next()?;
    let (_, value) = element
        .split_once("charset")
        .or_else(|| element.split_once("encoding"))?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let value = value.trim_start_matches(['"', '\'']);
    let name: String = value
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
        .collect();
    // A page that could be read so far to find this isn't UTF-16, whatever it says.
    if name.starts_with("utf-16") {
        return Some("utf-8".to_owned());
    }
    (!name.is_empty()).then_some(name)
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(SNIFFED_BYTES)];
    let start = start
        .strip_prefix(&[0xEF, 0xBB, 0xBF])
        .unwrap_or(start)
        .trim_ascii_start();
    const TAGS: &[&str] = &[
        "<!doctype html",
        "<html",
        "<head",
        "<body",
        "<title",
        "<meta",
        "<h1",
        "<div",
        "<p",
        "<table",
        "<!--",
    ];
    TAGS.iter().any(|tag| {
        start
            .get(..tag.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(tag.as_bytes()))
            && start
                .get(tag.len())
                .is_none_or(|next| !next.is_ascii_alphanumeric() || tag.starts_with("<!"))
    })
}

/// The bytes that no text holds, as browsers see it.
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0x00..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F)
}

/// The bytes without a character at the end that was cut off.
fn whole(bytes: &[u8], cut_off: bool) -> &[u8] {
    if cut_off {
        &bytes[..bytes.len() - unfinished(bytes)]
    } else {
        bytes
    }
}

fn utf8(mut bytes: Vec<u8>, skip: usize, cut_off: bool) -> String {
    bytes.truncate(whole(&bytes, cut_off).len());
    bytes.drain(..skip.min(bytes.len()));
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn utf16(bytes: &[u8], cut_off: bool, unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let mut text: String = char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    // Half a pair at the end is what a bound leaves.
    if cut_off && text.ends_with(char::REPLACEMENT_CHARACTER) {
        text.pop();
    }
    text
}

fn latin1(bytes: &[u8]) -> String {
    /// What Windows-1252 has where Latin-1 has control characters.
    const UPPER: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž',
        '\u{8F}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}',
        'ž', 'Ÿ',
    ];
    bytes
        .iter()
        .map(|byte| match byte {
            0x80..=0x9F => UPPER[usize::from(byte - 0x80)],
            _ => char::from(*byte),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], content_type: &str) -> String {
        text_of(bytes, false, content_type)
    }

    fn text_of(bytes: &[u8], cut_off: bool, content_type: &str) -> String {
        let content_type = Some(content_type);
        match decode(
            bytes.to_vec(),
            cut_off,
            content_type,
            Kind::of(content_type),
        ) {
            Ok(Decoded::Text(text) | Decoded::Html { text, .. }) => text,
            other => panic!("not text: {other:?}"),
        }
    }

    #[test]
    fn content_types_have_a_kind() {
        for (content_type, kind) in [
            ("text/html; charset=utf-8", Kind::Html),
            ("Text/HTML", Kind::Html),
            ("application/xhtml+xml", Kind::Xhtml),
            ("application/json", Kind::Text),
            ("application/problem+json; x=y", Kind::Text),
            ("image/svg+xml", Kind::Text),
            ("text/csv", Kind::Text),
            ("image/png", Kind::Binary),
            ("application/pdf", Kind::Binary),
            ("application/octet-stream", Kind::Unknown),
            ("nonsense", Kind::Unknown),
        ] {
            assert_eq!(Kind::of(Some(content_type)), kind, "{content_type}");
        }
        assert_eq!(Kind::of(None), Kind::Unknown);
    }

    #[test]
    fn charsets_are_found_where_they_are_named() {
        assert_eq!(
            text(b"caf\xE9 \x80", "text/plain; charset=ISO-8859-1"),
            "café €"
        );
        assert_eq!(text(b"caf\xE9", "text/plain;charset=\"latin1\""), "café");
        assert_eq!(text("café".as_bytes(), "text/plain; charset=utf-8"), "café");
        assert_eq!(text("café".as_bytes(), "text/plain"), "café");
        assert_eq!(text(b"caf\xE9", "text/plain"), "café");
        assert_eq!(
            text(b"caf\xE9!", "text/plain; charset=utf-8"),
            "caf\u{FFFD}!"
        );
        assert_eq!(
            text(b"\xEF\xBB\xBFcaf\xC3\xA9", "text/plain; charset=latin1"),
            "café"
        );
        assert_eq!(
            text(b"<meta charset='windows-1252'>\xC3\xA9", "text/html"),
            "<meta charset='windows-1252'>Ã©"
        );
        let declared = b"<meta http-equiv=x content=\"text/html; charset=iso-8859-1\">\xE9";
        assert!(text(declared, "text/html").ends_with('é'));
        let mut wide = vec![0xFF, 0xFE];
        wide.extend("naïve 😀".encode_utf16().flat_map(u16::to_le_bytes));
        assert_eq!(text(&wide, "text/plain"), "naïve 😀");
        wide.truncate(wide.len() - 2);
        assert_eq!(text_of(&wide, true, "text/plain"), "naïve ");
        assert_eq!(text(&wide, "text/plain"), "naïve \u{FFFD}");
        assert_eq!(
            text(&[0, b'a', 0, b'b'], "text/plain; charset=utf-16be"),
            "ab"
        );
    }

    #[test]
    fn a_charset_that_is_not_known_is_said() {
        let decoded = |bytes: &[u8]| {
            decode(
                bytes.to_vec(),
                false,
                Some("text/plain; charset=Shift_JIS"),
                Kind::Text,
            )
        };
        assert_eq!(
            decoded(b"\x83\x65"),
            Err(UnknownCharset("Shift_JIS".into()))
        );
        assert_eq!(decoded(b"plain"), Ok(Decoded::Text("plain".into())));
    }

    #[test]
    fn bytes_tell_what_the_type_does_not() {
        let kind = |bytes: &[u8]| decode(bytes.to_vec(), false, None, Kind::Unknown);
        assert!(matches!(
            kind(b"\n <!DOCTYPE html><p>x"),
            Ok(Decoded::Html { .. })
        ));
        assert!(matches!(kind(b"<html>"), Ok(Decoded::Html { .. })));
        assert!(matches!(kind(b"<pre-x>"), Ok(Decoded::Text(_))));
        assert!(matches!(kind(b"{\"a\": 1}"), Ok(Decoded::Text(_))));
        assert_eq!(kind(b"\x89PNG\r\n\x1A\n\0\0"), Ok(Decoded::Binary));
        assert_eq!(kind(b""), Ok(Decoded::Text(String::new())));
        // What says that it is text may still be none.
        assert_eq!(
            decode(b"a\0b".to_vec(), false, Some("text/plain"), Kind::Text),
            Ok(Decoded::Binary)
        );
    }

    #[test]
    fn text_is_cut_at_a_character() {
        assert_eq!(cut("aé".into(), 3), ("aé".into(), false));
        assert_eq!(cut("aé".into(), 2), ("a".into(), true));
        // Cut in the body already: the half character goes.
        assert_eq!(text_of(&"é".as_bytes()[..1], true, "text/plain"), "");
        assert_eq!(text_of(b"a\xC3", true, "text/plain; charset=utf-8"), "a");
        assert_eq!(
            text_of(b"\xFFa\xC3", true, "text/plain; charset=utf-8"),
            "\u{FFFD}a"
        );
        assert_eq!(text(b"a\xC3", "text/plain; charset=utf-8"), "a\u{FFFD}");
    }
}
