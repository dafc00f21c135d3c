//! Words, and those of them that carry meaning.

use std::collections::BTreeSet;

use super::Language;

/// A word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// As it is written.
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub start: usize,
}

impl Word<'_> {
    /// Where it ends, in bytes.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The words of a folded text: runs of letters and digits, with apostrophes inside them.
pub(crate) fn words(folded: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + folded[rest..].find(char::is_alphanumeric)?;
        let mut end = start;
        let mut characters = folded[start..].char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let goes_on = character.is_alphanumeric()
                || is_mark(character)
                || (character == '\''
                    && characters
                        .peek()
                        .is_some_and(|(_, next)| next.is_alphabetic()));
            if !goes_on {
                break;
            }
            end = start + at + character.len_utf8();
        }
        rest = end;
        Some(Word {
            text: &folded[start..end],
            start,
        })
    })
}

/// Accents and vowel signs that follow their letter.
fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}')
}

/// A longer word is no word: it is compared as it is.
const LONGEST_STEMMED: usize = 64;

/// The words of a folded text that say something, each once, brought to their stems. Of scripts without spaces
/// between words every two neighbouring characters make a word.
pub(crate) fn content_words(folded: &str, language: Language) -> BTreeSet<String> {
    let stop_words = language.stop_words();
    stems(folded, language, |word| stop_words.contains(word))
}

/// Whether a word is what one of several is called by, such as the room `A1`: letters before digits, and no unit behind
/// a number.
fn is_label(word: &str) -> bool {
    let digits = word.trim_start_matches(char::is_alphabetic);
    digits.len() < word.len()
        && !digits.is_empty()
        && digits.chars().all(|sign| sign.is_ascii_digit())
}

fn stems(folded: &str, language: Language, is_left_out: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let stemmer = language.stemmer();
    let mut content = BTreeSet::new();
    for word in words(folded) {
        if word.text.chars().any(is_unspaced) {
            add_pairs(word.text, &is_left_out, &mut content);
            continue;
        }
        if is_label(word.text) {
            content.insert(word.text.to_lowercase());
            continue;
        }
        // Numbers and what has numbers in it are looked at for themselves.
        if word.text.contains(|character: char| character.is_numeric()) {
            continue;
        }
        let lower = word.text.to_lowercase();
        let lower = lower.strip_suffix("'s").unwrap_or(&lower);
        if lower.chars().nth(1).is_none() || is_left_out(lower) {
            continue;
        }
        // French and Italian articles are written onto their nouns.
        let lower = lower
            .split_once('\'')
            .filter(|(article, noun)| article.len() <= 2 && noun.chars().nth(1).is_some())
            .map_or(lower, |(_, noun)| noun);
        let is_stemmable = lower.len() <= LONGEST_STEMMED && lower.chars().all(char::is_alphabetic);
        match &stemmer {
            Some(stemmer) if is_stemmable => content.insert(stemmer.stem(lower).into_owned()),
            _ => content.insert(lower.to_owned()),
        };
    }
    content
}

/// A single word as [`content_words`] has it, stop words included.
pub(crate) fn keyed(word: &str, language: Language) -> String {
    let lower = word.to_lowercase();
    let lower = lower.strip_suffix("'s").unwrap_or(&lower);
    match language.stemmer() {
        Some(stemmer)
            if lower.len() <= LONGEST_STEMMED && lower.chars().all(char::is_alphabetic) =>
        {
            stemmer.stem(lower).into_owned()
        }
        _ => lower.to_owned(),
    }
}

fn add_pairs(run: &str, is_left_out: &impl Fn(&str) -> bool, content: &mut BTreeSet<String>) {
    let characters: Vec<char> = run
        .chars()
        .filter(|character| is_unspaced(*character))
        .collect();
    for pair in characters.windows(2) {
        let pair: String = pair.iter().collect();
        if !is_left_out(&pair) {
            content.insert(pair);
        }
    }
}

/// Characters of scripts that put no space between words, or glue endings to them.
pub(super) fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}
