//! How names and texts are compared.

use super::snapshot::single_spaces;

/// A text without what doesn't count when it is compared: capital letters and the kind and number of spaces.
pub(crate) fn fold(text: &str) -> String {
    single_spaces(text).to_lowercase()
}

/// How like a name must be what is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// The same signs.
    Exact,
    /// The same but for capital letters.
    Folded,
    /// All words are in it.
    Words,
}

impl Likeness {
    /// For words that a person says once: the first under which anything fits decides.
    pub(crate) const SAID: [Self; 3] = [Self::Exact, Self::Folded, Self::Words];
    /// For names that are kept, and must not lead to something else later.
    pub(crate) const KEPT: [Self; 2] = [Self::Exact, Self::Folded];
}

/// A name that is looked for.
#[derive(Debug, Clone)]
pub(crate) struct SoughtName {
    exact: String,
    folded: String,
    words: Vec<String>,
}

impl SoughtName {
    /// Of a name as it is written.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            exact: single_spaces(name),
            folded: fold(name),
            words: tokens(name),
        }
    }

    /// Whether a text with single spaces is like it.
    pub(crate) fn fits(&self, text: &str, likeness: Likeness) -> bool {
        match likeness {
            Likeness::Exact => text == self.exact,
            Likeness::Folded => fold(text) == self.folded,
            Likeness::Words => holds_tokens(text, &self.words),
        }
    }

    /// How many of its words are in a text.
    pub(crate) fn common_words(&self, text: &str) -> usize {
        let found = tokens(text);
        self.words
            .iter()
            .filter(|word| found.contains(word))
            .count()
    }
}

/// The words of a text, folded: runs of letters and digits.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether all words of `wanted` are among those of `text`. Never if there are none.
pub(crate) fn holds_tokens(text: &str, wanted: &[String]) -> bool {
    if wanted.is_empty() {
        return false;
    }
    let found = tokens(text);
    wanted.iter().all(|word| found.contains(word))
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
    fn a_cut_keeps_whole_graphemes() {
        assert_eq!(cut_graphemes("e\u{301}e\u{301}x", 1), "e\u{301}…");
        assert_eq!(cut_graphemes("👨‍👩‍👧👨‍👩‍👧", 1), "👨‍👩‍👧…");
        assert_eq!(cut_graphemes("abc", 3), "abc");
    }
}
