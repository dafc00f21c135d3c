//! Bodies: what kind they are, and the text in them.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

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

/// Turns a body into text. Its charset is what its byte order mark says, else its content type, else a
/// page's `meta` or an XML declaration; without any that is known, UTF-8, and where it isn't that, the Latin-1 of the
/// web. What can't be decoded is replaced, and a warning says so; a character at the end that a bound has cut
/// (`cut_off`) is left out.
pub(super) fn decode(
    bytes: &[u8],
    cut_off: bool,
    content_type: Option<&str>,
    kind: Kind,
) -> (Decoded, Option<String>) {
    let is_page =
        matches!(kind, Kind::Html | Kind::Xhtml) || kind == Kind::Unknown && looks_like_html(bytes);
    let (charset, skip) = match Encoding::for_bom(bytes) {
        Some(marked) => marked,
        None => (charset(bytes, cut_off, content_type, is_page), 0),
    };
    let is_wide = charset == UTF_16LE || charset == UTF_16BE;
    let mut start = bytes.iter().take(SNIFFED_BYTES);
    if !is_wide && start.any(|byte| is_binary(*byte)) {
        return (Decoded::Binary, None);
    }
    let bytes = &bytes[skip..];
    let mut decoder = charset.new_decoder_without_bom_handling();
    let longest = decoder.max_utf8_buffer_length(bytes.len());
    let mut text = String::with_capacity(longest.unwrap_or_default());
    let (_, _, is_lossy) = decoder.decode_to_string(bytes, &mut text, !cut_off);
    let warning = is_lossy.then(|| {
        let charset = charset.name();
        format!("the body is not valid {charset}: bytes were replaced by U+FFFD")
    });
    let decoded = match is_page {
        true => Decoded::Html {
            text,
            xml: kind == Kind::Xhtml,
        },
        false => Decoded::Text(text),
    };
    (decoded, warning)
}

/// The charset of a body that has no byte order mark.
fn charset(
    bytes: &[u8],
    cut_off: bool,
    content_type: Option<&str>,
    is_page: bool,
) -> &'static Encoding {
    let named = charset_of(content_type)
        .and_then(|name| Encoding::for_label(name.as_bytes()))
        .or_else(|| {
            let declares = is_page || bytes.starts_with(b"<?xml");
            let name = declares.then(|| declared_charset(bytes)).flatten()?;
            let charset = Encoding::for_label(name.as_bytes())?;
            // A page that could be read so far to find this isn't UTF-16, whatever it says.
            let is_wide = charset == UTF_16LE || charset == UTF_16BE;
            Some(if is_wide { UTF_8 } else { charset })
        });
    named.unwrap_or_else(|| match std::str::from_utf8(bytes) {
        Ok(_) => UTF_8,
        Err(error) if cut_off && error.error_len().is_none() => UTF_8,
        Err(_) => WINDOWS_1252,
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

/// The `charset` parameter of a content type.
fn charset_of(content_type: Option<&str>) -> Option<String> {
    content_type?.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
    })
}

/// The charset that a page's `meta` element, or its XML declaration, names.
fn declared_charset(bytes: &[u8]) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], content_type: &str) -> String {
        text_of(bytes, false, content_type)
    }

    fn text_of(bytes: &[u8], cut_off: bool, content_type: &str) -> String {
        let content_type = Some(content_type);
        match decode(bytes, cut_off, content_type, Kind::of(content_type)) {
            (Decoded::Text(text) | Decoded::Html { text, .. }, warning) => {
                assert_eq!(warning.is_some(), text.contains('\u{FFFD}'), "{text}");
                text
            }
            (Decoded::Binary, _) => panic!("not text: {bytes:?}"),
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
    fn all_charsets_of_the_web_are_decoded() {
        for (charset, bytes, expected) in [
            ("Shift_JIS", &b"\x83\x65\x83\x58\x83\x67"[..], "テスト"),
            ("euc-jp", b"\xA5\xC6", "テ"),
            ("iso-2022-jp", b"\x1B$B%F\x1B(B!", "テ!"),
            ("windows-1251", b"\xCF\xF0\xE8\xE2\xE5\xF2", "Привет"),
            ("koi8-r", b"\xD0", "п"),
            ("gb18030", b"\xC4\xE3", "你"),
            ("big5", b"\xA7A", "你"),
            ("euc-kr", b"\xB0\xA1", "가"),
            ("iso-8859-15", b"\xA4", "€"),
            ("macintosh", b"\x8E", "é"),
        ] {
            let content_type = format!("text/plain; charset={charset}");
            assert_eq!(text(bytes, &content_type), expected, "{charset}");
            let page = [format!("<meta charset=\"{charset}\">").as_bytes(), bytes].concat();
            assert!(text(&page, "text/html").ends_with(expected), "{charset}");
        }
        let feed = b"<?xml version=\"1.0\" encoding=\"windows-1251\"?><a>\xCF</a>";
        assert!(text(feed, "application/xml").ends_with("<a>П</a>"));
        // A name that means nothing is no name.
        assert_eq!(text("é".as_bytes(), "text/plain; charset=nonsense"), "é");
        // Cut in the middle of a character.
        assert_eq!(
            text_of(b"\x83\x65\x83", true, "text/plain; charset=shift_jis"),
            "テ"
        );
        // After the first KiB a page says nothing any more.
        let late = format!("{}<meta charset=big5>\u{e9}", " ".repeat(1_100));
        assert!(text(late.as_bytes(), "text/html").ends_with('é'));
    }

    #[test]
    fn bytes_tell_what_the_type_does_not() {
        let kind = |bytes: &[u8]| decode(bytes, false, None, Kind::Unknown).0;
        assert!(matches!(
            kind(b"\n <!DOCTYPE html><p>x"),
            Decoded::Html { .. }
        ));
        assert!(matches!(kind(b"<html>"), Decoded::Html { .. }));
        assert!(matches!(kind(b"<pre-x>"), Decoded::Text(_)));
        assert!(matches!(kind(b"{\"a\": 1}"), Decoded::Text(_)));
        assert_eq!(kind(b"\x89PNG\r\n\x1A\n\0\0"), Decoded::Binary);
        assert_eq!(kind(b""), Decoded::Text(String::new()));
        // What says that it is text may still be none.
        assert_eq!(
            decode(b"a\0b", false, Some("text/plain"), Kind::Text).0,
            Decoded::Binary
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
