//! Text without its case and its typography, for matching that ignores them.

use std::borrow::Cow;
use std::sync::LazyLock;

use icu_normalizer::ComposingNormalizerBorrowed;
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
    /// Marks inside of words, those between them, and the address behind the text of a link.
    static INSIDE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?i)</?(?:a|b|i|em|strong|u|s|del|ins|mark|span|code|small|sub|sup|font|wbr)(?:\s[^<>]*)?/?>|<!--.*?-->|\\\n|(?m:^[ \t]*>[ \t]?)",
        )
        .expect("a fixed pattern")
    });
    static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?i)</?(?:p|div|br|hr|li|ul|ol|td|th|tr|table|h[1-6]|blockquote|section|article)(?:\s[^<>]*)?/?>",
        )
        .expect("a fixed pattern")
    });
    static LINKS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)").expect("a fixed pattern"));
    if text.is_ascii() && !text.contains(['*', '_', '`', '~', '<', '>', '\\', '&', '[']) {
        return text.into();
    }
    let shown = html_escape::decode_html_entities(text);
    let shown = ComposingNormalizerBorrowed::new_nfkc().normalize(&shown);
    let shown = plain(&shown);
    let shown = BETWEEN.replace_all(&shown, " ");
    let shown = INSIDE.replace_all(&shown, "");
    let shown = LINKS.replace_all(&shown, "$1");
    let mut read = String::with_capacity(shown.len());
    let mut rest = shown.char_indices().peekable();
    while let Some((at, mark)) = rest.next() {
        let mut end = at + mark.len_utf8();
        // `foo\_bar`
        if mark == '\\'
            && let Some((_, escaped)) = rest.next_if(|(_, next)| next.is_ascii_punctuation())
        {
            read.push(escaped);
            continue;
        }
        while matches!(mark, '*' | '_' | '`' | '~')
            && rest.next_if(|(_, next)| *next == mark).is_some()
        {
            end += mark.len_utf8();
        }
        let before = shown[..at].chars().next_back();
        let after = shown[end..].chars().next();
        let is_beside = |is: fn(char) -> bool| (before.is_some_and(is), after.is_some_and(is));
        let is_letter = is_beside(char::is_alphanumeric);
        let is_markup = match mark {
            // `2*3` is a product, and `snake_case` a word.
            '*' | '`' => is_letter != (false, false) && is_beside(char::is_numeric) != (true, true),
            '_' => is_letter.0 != is_letter.1,
            '~' => end - at > 1,
            _ => false,
        };
        if !is_markup {
            read.push_str(&shown[at..end]);
        }
    }
    match read == text {
        true => text.into(),
        false => read.into(),
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
            ("a **full** re_fund_, `now`", "a full re_fund, now"),
            ("2*3 * 4 ** 5, snake_case", "2*3 * 4 ** 5, snake_case"),
            (
                "e\u{fb03}cient <b>full</b> ~~ref~~und",
                "efficient full refund",
            ),
            ("- one\n* two\n~5", "- one\n* two\n~5"),
            (
                "&#114;efund &#x72;e&shy;fund R&amp;D a & b; &unknown;",
                "refund refund R&D a & b; &unknown;",
            ),
        ] {
            assert_eq!(as_read(written), read);
        }
    }
}
