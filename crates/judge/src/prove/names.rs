//! Names, and whether they stand in a text.

use std::collections::{BTreeMap, HashMap};

/// Names that are looked for in texts.
#[derive(Debug, Default)]
pub(super) struct Names {
    n_seen: usize,
    /// By their first words; each with when it was seen first.
    by_word: HashMap<String, BTreeMap<String, usize>>,
}

impl Names {
    pub(super) fn insert(&mut self, name: String) {
        let first = name.split(is_between).find(|word| !word.is_empty());
        let first = first.unwrap_or_default().to_owned();
        self.n_seen += 1;
        let alike = self.by_word.entry(first).or_default();
        alike.entry(name).or_insert(self.n_seen);
    }

    /// Those that stand in a plain text, in the order in which they were seen.
    pub(super) fn in_text(&self, text: &str) -> Vec<&str> {
        let mut found = BTreeMap::new();
        for word in text.split(is_between).filter(|word| !word.is_empty()) {
            let alike = self.by_word.get(word).into_iter().flatten();
            found.extend(alike.map(|(name, seen)| (*seen, name.as_str())));
        }
        let names = found.into_values();
        names.filter(|name| stands_in(name, text)).collect()
    }
}

/// Whether a folded text has another one that is no part of a longer word, such as `example` of `example.org`.
pub(crate) fn stands_in(part: &str, text: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let goes_on = |letters: &mut dyn Iterator<Item = char>| {
        let first = letters.next();
        let is_joined = |sign: char| matches!(sign, '.' | '-' | '@');
        first.is_some_and(is_word)
            || (first.is_some_and(is_joined) && letters.next().is_some_and(is_word))
    };
    !part.is_empty()
        && text.match_indices(part).any(|(at, _)| {
            !goes_on(&mut text[..at].chars().rev())
                && !goes_on(&mut text[at + part.len()..].chars())
        })
}

fn is_between(letter: char) -> bool {
    !letter.is_alphanumeric()
}
