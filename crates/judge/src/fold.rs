//! Text without its case and its typography, for matching that ignores them.

use std::borrow::Cow;
use std::sync::LazyLock;

use icu_normalizer::ComposingNormalizerBorrowed;
use pulldown_cmark::{Event, Options, Parser, TagEnd};
use regex::Regex;

use cuecard_source::value::is_invisible;

/// `text` with plain signs and in one case. Characters that are the same letter become the same, whatever the
/// language: `ß` and `SS`, `Σ`, `σ` and `ς`.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        return composed(text)
            .chars()
            .filter_map(plain_sign)
            .flat_map(char::to_uppercase)
            .flat_map(char::to_lowercase)
            .collect();
    }
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        text.to_ascii_lowercase().into()
    } else {
        text.into()
    }
}

/// `text` with the signs of a keyboard: straight quotes, plain spaces and hyphens, and nothing that can't be
/// seen. What was written with other signs says the same.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let is_plain = |character: char| plain_sign(character) == Some(character);
    if text.is_ascii() {
        return text.into();
    }
    let text = composed(text);
    if text.chars().all(is_plain) {
        return text;
    }
    text.chars().filter_map(plain_sign).collect()
}

/// `text` as somebody reads it on a page: [`plain`], without the marks of Markdown and HTML around words, ligatures,
/// entities and other forms of letters as the letters that they are.
pub(crate) fn as_read(text: &str) -> Cow<'_, str> {
    /// Elements of HTML that part what stands before and after them; others don't.
    static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?i)</?(?:p|div|br|hr|li|ul|ol|td|th|tr|table|h[1-6]|blockquote|section|article)(?:\s[^<>]*)?/?>",
        )
        .expect("a fixed pattern")
    });
    static INSIDE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?s)<!--.*?-->|</?[A-Za-z][^<>]*>").expect("a fixed pattern")
    });
    if text.is_ascii() && !text.contains(['*', '_', '`', '~', '<', '>', '\\', '&', '[']) {
        return text.into();
    }
    let mut read = String::with_capacity(text.len());
    let mut end = 0;
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        let shown: Cow<'_, str> = match &event {
            Event::Text(shown) | Event::Code(shown) => (**shown).into(),
            Event::InlineHtml(html) | Event::Html(html) => {
                let parted = BETWEEN.replace_all(html, " ");
                let shown = INSIDE.replace_all(&parted, "");
                html_escape::decode_html_entities(&shown)
                    .into_owned()
                    .into()
            }
            Event::SoftBreak | Event::HardBreak | Event::Rule => "\n".into(),
            Event::End(TagEnd::TableCell) => {
                read.push(' ');
                continue;
            }
            _ => continue,
        };
        // What is said stays on its line.
        let above = text.get(end..range.start).unwrap_or_default();
        read.extend(above.chars().filter(|character| *character == '\n'));
        read.push_str(&shown);
        end = end.max(range.end);
    }
    let read = ComposingNormalizerBorrowed::new_nfkc().normalize(&read);
    let read = plain(&read);
    match read == text {
        true => text.into(),
        false => read.into_owned().into(),
    }
}

/// `text` with letters and their accents as one sign.
pub(super) fn composed(text: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

fn plain_sign(character: char) -> Option<char> {
    match character {
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bc}' => Some('\''),
        '\u{201c}'..='\u{201f}' => Some('"'),
        '\u{2010}' | '\u{2011}' | '\u{2212}' => Some('-'),
        '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' => Some(' '),
        hidden if is_invisible(hidden) => None,
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_lose_their_case_in_every_language() {
        for (one, other) in [
            ("Hello", "hELLO"),
            ("Straße", "STRASSE"),
            ("ΟΔΟΣ", "οδος"),
            ("ОТЧЁТ", "отчёт"),
            ("already", "already"),
            ("Don’t", "don't"),
            ("“4\u{a0}%”", "\"4 %\""),
            ("cafe\u{301}", "café"),
            ("sec\u{202e}r\u{34f}e\u{e0041}t\u{fe0f}", "secret"),
        ] {
            assert_eq!(fold(one), fold(other));
        }
        assert_ne!(fold("é"), fold("e"));
        assert_ne!(fold("a b"), fold("ab"));
    }

    #[test]
    fn signs_become_plain() {
        assert_eq!(plain("can’t\u{200b} be “é”"), "can't be \"é\"");
        assert!(matches!(plain("é – ok"), Cow::Borrowed(_)));
        for (written, read) in [
            ("a **full** _refund_, `now`", "a full refund, now"),
            ("2*3 * 4 ** 5, snake_case", "2*3 * 4 ** 5, snake_case"),
            (
                "e\u{fb03}cient <b>full</b> ~~ref~~und",
                "efficient full refund",
            ),
            ("- one\n- two ~5", "one\ntwo ~5"),
            (
                "&#114;efund &#x72;e&shy;fund R&amp;D a & b; &unknown;",
                "refund refund R&D a & b; &unknown;",
            ),
        ] {
            assert_eq!(as_read(written), read);
        }
    }
}
