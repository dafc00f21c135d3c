//! How names and texts are compared.

use std::borrow::Cow;
use std::sync::LazyLock;

use icu_normalizer::ComposingNormalizerBorrowed;
use regex::Regex;

use super::snapshot::single_spaces;

/// A text without what doesn't count when it is compared: capital letters, the kind and number of spaces, and what nobody
/// sees.
pub(crate) fn fold(text: &str) -> String {
    seen(&single_spaces(text)).to_lowercase()
}

/// A text without signs that nobody sees: soft hyphens, and spaces of no width.
pub(crate) fn seen(text: &str) -> Cow<'_, str> {
    const UNSEEN: [char; 4] = ['\u{ad}', '\u{200b}', '\u{2060}', '\u{feff}'];
    match text.contains(UNSEEN) {
        true => text.replace(UNSEEN, "").into(),
        false => text.into(),
    }
}

/// A name without what is no word of it: besides what [`fold`] drops, a count in brackets (`Cart (2)`), a `*`, `:` or
/// `…` at its end, and symbols and emoji beside its words. A name of nothing but symbols stays.
pub fn fold_name(text: &str) -> String {
    let composed = match text.is_ascii() {
        true => text.into(),
        false => ComposingNormalizerBorrowed::new_nfc().normalize(text),
    };
    let folded = fold(&composed);
    let counted = without_counts(&folded);
    let words: Vec<&str> = counted
        .split(' ')
        .map(|word| word.trim_matches(is_decoration))
        .filter(|word| word.contains(char::is_alphanumeric))
        .collect();
    let name = words.join(" ");
    let name = name.trim_end_matches(['*', ':', '…', '.', ' ']);
    match name.is_empty() {
        true => folded,
        false => name.to_owned(),
    }
}

/// Whether a sign beside a word is there for the eye: a symbol or an emoji, but no currency.
fn is_decoration(sign: char) -> bool {
    !sign.is_ascii()
        && !sign.is_alphanumeric()
        && !is_currency(sign)
        && !matches!(sign, '\u{0300}'..='\u{036F}')
}

pub(crate) fn is_currency(sign: char) -> bool {
    matches!(sign, '$' | '£' | '¥' | '¢' | '\u{20A0}'..='\u{20CF}')
}

/// A folded text without numbers in brackets, unless there is nothing else in it.
fn without_counts(folded: &str) -> Cow<'_, str> {
    static COUNT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\s*(?:\(\s*\d[\d.,+]*\s*\)|\[\s*\d[\d.,+]*\s*\])")
            .expect("the pattern is fixed")
    });
    if !folded.contains(['(', '[']) {
        return folded.into();
    }
    let left = COUNT.replace_all(folded, "");
    match left.contains(char::is_alphanumeric) {
        true => Cow::Owned(left.trim().to_owned()),
        false => folded.into(),
    }
}

/// Whether `text` folded as a name is `folded`. Most texts are told apart by their first letter.
fn is_folded(text: &str, folded: &str) -> bool {
    let first = |text: &str| {
        text.chars()
            .find(|sign| sign.is_alphanumeric())
            .filter(char::is_ascii)
            .map(|sign| sign.to_ascii_lowercase())
    };
    let starts_apart = matches!((first(text), first(folded)), (Some(one), Some(other)) if one != other)
        && !text.contains(['(', '[']);
    !starts_apart && fold_name(text) == folded
}

/// How like a name must be what is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameMatch {
    /// The same signs.
    Exact,
    /// The same but for capital letters and what is no word of a name.
    Folded,
    /// All words are in it.
    Words,
}

impl NameMatch {
    /// For words that a person says once: the first under which anything fits decides.
    pub(crate) const SAID: [Self; 3] = [Self::Exact, Self::Folded, Self::Words];
    /// For names that are kept, and must not lead to something else later.
    pub(crate) const KEPT: [Self; 2] = [Self::Exact, Self::Folded];

    /// For the words of a sentence: those in quotes are a whole name.
    pub(crate) fn of_sentence(is_quoted: bool) -> &'static [Self] {
        match is_quoted {
            true => &Self::KEPT,
            false => &Self::SAID,
        }
    }
}

/// A name that is looked for.
#[derive(Debug, Clone)]
pub(crate) struct NameQuery {
    exact: String,
    folded: String,
    words: Vec<String>,
}

impl NameQuery {
    /// Of a name as it is written.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            exact: single_spaces(name),
            folded: fold_name(name),
            words: tokens(name),
        }
    }

    /// Whether a text with single spaces is like it.
    pub(crate) fn fits(&self, text: &str, likeness: NameMatch) -> bool {
        match likeness {
            NameMatch::Exact => text == self.exact,
            NameMatch::Folded => is_folded(text, &self.folded),
            NameMatch::Words => holds_tokens(text, &self.words),
        }
    }

    /// What is found in the first of these ways in which anything is.
    pub(crate) fn found_first<T>(
        &self,
        likenesses: &[NameMatch],
        found: impl Fn(&dyn Fn(&str) -> bool) -> Vec<T>,
    ) -> Vec<T> {
        likenesses
            .iter()
            .map(|&likeness| found(&|text| self.fits(text, likeness)))
            .find(|found| !found.is_empty())
            .unwrap_or_default()
    }

    /// How many of its words are in a text.
    pub(crate) fn common_words(&self, text: &str) -> usize {
        let text = text.to_lowercase();
        self.words
            .iter()
            .filter(|&word| words(&text).any(|found| found == word))
            .count()
    }
}

/// The words of a text, folded: runs of letters and digits.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    words(&text.to_lowercase()).map(str::to_owned).collect()
}

/// The words of a text that is folded already.
fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded
        .split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// Whether all words of `wanted` are among those of `text`. Never if there are none.
pub(crate) fn holds_tokens(text: &str, wanted: &[String]) -> bool {
    if wanted.is_empty() {
        return false;
    }
    let text = text.to_lowercase();
    wanted
        .iter()
        .all(|word| words(&text).any(|found| found == word))
}

/// At most `limit` graphemes, with a mark where it was cut.
pub(crate) fn cut_graphemes(text: &str, limit: usize) -> std::borrow::Cow<'_, str> {
    use unicode_segmentation::UnicodeSegmentation;
    // Most texts are shorter in bytes already.
    if text.len() <= limit {
        return text.into();
    }
    match text.grapheme_indices(true).nth(limit) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capital_letters_and_spaces_do_not_count() {
        assert_eq!(fold("  Log\n\u{a0}IN "), "log in");
        assert_eq!(tokens("Sign-in (2)"), ["sign", "in", "2"]);
        assert!(holds_tokens("Sign in now", &tokens("now sign")));
        assert!(!holds_tokens("Sign in", &tokens("sign out")));
        assert!(!holds_tokens("anything", &[]));
    }

    #[test]
    fn a_name_is_like_another_whatever_its_spaces_and_capital_letters() {
        let sought = NameQuery::new("Log  in");
        for (text, is_like) in [
            ("Log in", true),
            (" LOG \n in", true),
            ("log\u{a0}in", true),
            ("log", false),
            ("log in now", false),
            ("login", false),
            ("", false),
            ("Log in (2)", true),
            ("Log in *", true),
            ("→ Log in", true),
            ("🔑Log in…", true),
        ] {
            assert_eq!(sought.fits(text, NameMatch::Folded), is_like, "{text:?}");
            assert_eq!(fold_name(text) == fold_name("Log in"), is_like, "{text:?}");
        }
        assert!(NameQuery::new("ÄRGER").fits("ärger", NameMatch::Folded));
        assert!(NameQuery::new("").fits("", NameMatch::Folded));
    }

    #[test]
    fn what_is_no_word_of_a_name_does_not_count() {
        for (name, folded) in [
            ("Cart (2)", "cart"),
            ("Inbox [1,024+] ", "inbox"),
            ("Name *", "name"),
            ("E-mail:", "e-mail"),
            ("Delete…", "delete"),
            ("🛒 Cart", "cart"),
            ("Cafe\u{301}", "café"),
            // These are all that there is, or words.
            ("+", "+"),
            ("(3)", "(3)"),
            ("*", "*"),
            ("C++", "c++"),
            ("Person 3", "person 3"),
            ("€ 5", "5"),
            ("€5", "€5"),
            ("Invoice (draft)", "invoice (draft)"),
        ] {
            assert_eq!(fold_name(name), folded, "{name}");
        }
        assert!(!NameQuery::new("Delete").fits("Delete all", NameMatch::Folded));
    }

    #[test]
    fn a_cut_keeps_whole_graphemes() {
        assert_eq!(cut_graphemes("e\u{301}e\u{301}x", 1), "e\u{301}…");
        assert_eq!(cut_graphemes("👨‍👩‍👧👨‍👩‍👧", 1), "👨‍👩‍👧…");
        assert_eq!(cut_graphemes("abc", 3), "abc");
    }
}
