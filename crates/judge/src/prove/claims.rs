//! What an answer claims: its sentences, items, headings and cells, but for those that claim nothing.

use std::sync::LazyLock;

use regex::Regex;

use super::data::{COURTESIES, ENGLISH_STOP, GREETING, LISTED_HEADINGS};
use super::text::{BlockKind, blocks, fixed, pattern, plain, sentences};

/// A sentence of the answer.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) text: String,
    pub(super) kind: BlockKind,
    /// The lines that it hangs under.
    pub(super) over: Vec<String>,
    /// Who is said to have said it: `According to the Orchard Office, …`.
    pub(super) speaker: Option<String>,
    /// How many items hang under it.
    pub(super) n_below: usize,
}

/// The claims of an answer, without the sentences that fit one of `ignored`.
pub(super) fn claims(answer: &str, ignored: &[&Regex]) -> Vec<Claim> {
    pattern!(SPEAKER, r"(?i)^(?:according to|laut) ([^,;:.]{2,60}), +");
    let mut claims = Vec::new();
    let blocks = blocks(answer);
    for block in &blocks {
        // A heading of a column is judged with its cells.
        if block.kind == BlockKind::HeadCell {
            continue;
        }
        for sentence in sentences(&block.text) {
            let sentence = &sentence[greeting(sentence)..];
            let speaker = SPEAKER
                .captures(sentence)
                .and_then(|found| Some((found.get(0)?.end(), found[1].to_owned())));
            let (start, speaker) = match speaker {
                Some((start, speaker)) => (start, Some(speaker)),
                None => (0, None),
            };
            let sentence = &sentence[start..];
            let is_ignored = ignored.iter().any(|ignored| ignored.is_match(sentence));
            if !is_ignored && !claims_nothing(sentence, block.kind) {
                claims.push(Claim {
                    text: sentence.to_owned(),
                    kind: block.kind,
                    speaker,
                    over: block.over.clone(),
                    n_below: blocks
                        .iter()
                        .filter(|below| below.over.last() == Some(&block.text))
                        .count(),
                });
            }
        }
    }
    claims
}

/// How long the greeting is with which a sentence begins.
fn greeting(sentence: &str) -> usize {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| fixed(&format!("(?i){GREETING}")));
    PATTERN.find(sentence).map_or(0, |found| found.end())
}

fn claims_nothing(sentence: &str, kind: BlockKind) -> bool {
    static COURTESY: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let patterns = COURTESIES.iter();
        patterns
            .map(|pattern| fixed(&format!("(?i)^(?:{pattern})$")))
            .collect()
    });
    pattern!(FACT, r"\d|\b(?:but|however|aber)\b");
    let text = plain(sentence);
    let has_word = text.contains(|letter: char| letter.is_alphanumeric());
    if !has_word
        || sentence
            .trim_end_matches([' ', '"', '*', ')'])
            .ends_with('?')
    {
        return true;
    }
    if kind == BlockKind::Heading || sentence.trim_end().ends_with(':') {
        let mut words = text.split(|letter: char| !letter.is_alphanumeric());
        if words.all(|word| {
            word.is_empty() || LISTED_HEADINGS.contains(word) || ENGLISH_STOP.contains(word)
        }) {
            return true;
        }
    }
    const LONGEST_COURTESY: usize = 180;
    text.len() <= LONGEST_COURTESY
        && !FACT.is_match(&text)
        && COURTESY.iter().any(|courtesy| courtesy.is_match(&text))
}
