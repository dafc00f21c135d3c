//! What an answer claims: its sentences, items, headings and cells, but for those that claim nothing.

use std::sync::LazyLock;

use regex::Regex;

use super::data::{COURTESIES, ENGLISH_STOP, GREETING, LISTED_HEADINGS};
use super::text::{Block, BlockKind, blocks, fixed, pattern, plain, sentences};

/// A sentence of the answer.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) text: String,
    pub(super) kind: BlockKind,
    /// The lines that it hangs under.
    pub(super) over: Vec<String>,
    /// How many items hang under it.
    pub(super) n_below: usize,
}

/// The claims of an answer, without the sentences that fit one of `ignored`.
pub(super) fn claims(answer: &str, ignored: &[&Regex]) -> Vec<Claim> {
    pattern!(
        PRONOUN,
        r"^(?i:he|she|it|its|his|her|their|they|er|sie|ihre?|seine?)\b"
    );
    pattern!(FOOTNOTE, r"\s?\[\^?\d{1,2}\]:?|\s?【\d[^】]*】");
    let mut claims = Vec::new();
    let blocks = blocks(answer);
    let mut card = Card::default();
    for block in &blocks {
        // A heading of a column is judged with its cells.
        if block.kind == BlockKind::HeadCell {
            continue;
        }
        let under = card.line(block);
        let mut before: Option<String> = None;
        for sentence in sentences(&block.text) {
            let sentence = FOOTNOTE.replace_all(&sentence[greeting(sentence)..], "");
            let sentence = sentence.as_ref();
            let mut over = block.over.clone();
            over.extend(under.clone());
            // `Her pulse is 394` is of her who was named before.
            over.extend(before.filter(|_| PRONOUN.is_match(sentence)));
            before = Some(sentence.to_owned());
            let is_ignored = ignored.iter().any(|ignored| ignored.is_match(sentence));
            if !is_ignored && !is_heading_only(sentence, block.kind) && !claims_nothing(sentence) {
                claims.push(Claim {
                    text: sentence.to_owned(),
                    kind: block.kind,
                    over,
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

/// Lines of fields, the first of which names what the next are of: `Name: Ann`, `Age: 45`.
#[derive(Default)]
struct Card(Option<(BlockKind, String, String)>);

impl Card {
    /// What names that which the field of a line is of.
    fn line(&mut self, block: &Block) -> Option<String> {
        pattern!(FIELD, r"^\W*([^:\n]{1,40}):\W*\s(.*\S)\s*$");
        pattern!(
            NAMES,
            r"(?i)(?:^|\b|_)(?:id|name|title|order|city|product|sku|code)$"
        );
        let is_line = matches!(block.kind, BlockKind::Item | BlockKind::Paragraph);
        let field = FIELD.captures(&block.text).filter(|_| is_line);
        let card = self.0.take();
        let (key, value) = field.map(|field| (field[1].to_owned(), field[2].to_owned()))?;
        match card.filter(|(kind, name, _)| *kind == block.kind && *name != key) {
            Some(card) => {
                let (.., name) = self.0.insert(card);
                Some(name.clone())
            }
            None => {
                self.0 = NAMES.is_match(&key).then_some((block.kind, key, value));
                None
            }
        }
    }
}

/// How long the greeting is with which a sentence begins.
fn greeting(sentence: &str) -> usize {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| fixed(&format!("(?i){GREETING}")));
    PATTERN.find(sentence).map_or(0, |found| found.end())
}

/// Whether a sentence is a question, a greeting, an offer, an apology.
pub(super) fn claims_nothing(sentence: &str) -> bool {
    static COURTESY: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let patterns = COURTESIES.iter();
        patterns
            .map(|pattern| fixed(&format!("(?i)^(?:{pattern})$")))
            .collect()
    });
    pattern!(FACT, r"\d|\b(?:but|however|aber)\b");
    pattern!(
        ASKS,
        r"^(?:if|is|are|am|was|were|do|does|did|can|could|would|should|shall|will|may|might|have|has|had|what|which|who|whose|when|where|why|how|any|anything|or|and|so|but|wenn|ist|sind|war|soll|sollen|kann|können|darf|möchten?|haben?|hat|was|wer|welche[rs]?|wann|wo|wie|warum|oder|und)\b"
    );
    let text = plain(sentence);
    let has_word = text.contains(|letter: char| letter.is_alphanumeric());
    let is_question = sentence.trim_end_matches([' ', '*', ')']).ends_with('?');
    // `It costs 13 EUR, OK?` and `Mail of Tara: Lunch on Friday?` claim something.
    let (label, asked) = text.rsplit_once(": ").unwrap_or(("", &text));
    let has_digit = text.contains(|letter: char| letter.is_ascii_digit());
    let is_told = (has_digit || !label.is_empty()) && !ASKS.is_match(asked);
    if !has_word || (is_question && !is_told) {
        return true;
    }
    const LONGEST_COURTESY: usize = 180;
    text.len() <= LONGEST_COURTESY
        && !FACT.is_match(&text)
        && COURTESY.iter().any(|courtesy| courtesy.is_match(&text))
}

/// Whether a line is a heading of listed words, such as `Next steps`.
fn is_heading_only(sentence: &str, kind: BlockKind) -> bool {
    let text = plain(sentence);
    let mut words = text.split(|letter: char| !letter.is_alphanumeric());
    let is_head = kind == BlockKind::Heading || sentence.trim_end().ends_with(':');
    is_head
        && words.all(|word| {
            word.is_empty() || LISTED_HEADINGS.contains(word) || ENGLISH_STOP.contains(word)
        })
}
