//! The parts of a text that say something each: what stands around a value.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Spans;
use crate::text::{Language, clauses, sentences, statement_words, words};

/// So many clauses before a value are looked at one by one, and so many on both sides together.
const MOST_BEFORE: usize = 8;
const MOST_AROUND: usize = 25;

/// The parts of a text that say something each, with the words and values in them.
#[derive(Debug)]
pub(crate) struct ClauseWords {
    clauses: Vec<Clause>,
    /// The text without its values.
    words: String,
    language: Language,
}

#[derive(Debug)]
struct Clause {
    range: Range<usize>,
    /// Which sentence it is of, and which line.
    sentence: (usize, usize),
    words: BTreeSet<String>,
    /// Values in it, with the words that stand for them.
    values: Vec<(Range<usize>, String)>,
}

impl ClauseWords {
    /// Those of `text`, of which `spans` were read.
    pub(crate) fn of(text: &str, spans: &Spans<'_>, language: Language) -> Self {
        let at = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
        let mut all = Vec::new();
        let mut lines = 0;
        let mut seen = 0;
        for (number, sentence) in sentences(text).into_iter().enumerate() {
            for clause in clauses(sentence) {
                let range = at(clause)..at(clause) + clause.len();
                lines += text[seen..range.start].matches('\n').count();
                seen = range.start;
                let mut content = statement_words(&spans.words[range.clone()], language);
                content.extend(letters(
                    &spans.prose[range.clone()],
                    range.start == at(sentence),
                ));
                all.push(Clause {
                    range,
                    sentence: (number, lines),
                    words: content,
                    values: Vec::new(),
                });
            }
        }
        for (range, word) in values(spans) {
            let found = all.partition_point(|clause: &Clause| clause.range.end <= range.start);
            if let Some(clause) = all
                .get_mut(found)
                .filter(|clause| clause.range.start <= range.start)
            {
                clause.values.push((range, word));
            }
        }
        Self {
            clauses: all,
            words: spans.words.clone(),
            language,
        }
    }

    /// The words that stand right before a value in its clause, behind the value before it: `a living area of 132 m² on a
    /// plot of 540 m²`. If there are none, those behind it.
    pub(super) fn beside(&self, range: &Range<usize>) -> BTreeSet<String> {
        let Some(clause) = self.clauses.get(self.clause_at(range.start)) else {
            return BTreeSet::new();
        };
        let others = clause.values.iter().map(|(range, _)| range);
        let before = others.clone().filter(|other| other.end <= range.start);
        let start = before.map(|other| other.end).max();
        let start = start.unwrap_or(clause.range.start).min(range.start);
        let behind = others.filter(|other| other.start >= range.end);
        let end = behind.map(|other| other.start).min();
        let end = end.unwrap_or(clause.range.end).max(range.end);
        let words = |range: Range<usize>| {
            let text = self.words.get(range).unwrap_or_default();
            statement_words(text, self.language)
        };
        match words(start..range.start) {
            before if before.is_empty() => words(range.end..end),
            before => before,
        }
    }

    fn clause_at(&self, at: usize) -> usize {
        let found = self
            .clauses
            .partition_point(|clause| clause.range.end <= at);
        found.min(self.clauses.len().saturating_sub(1))
    }

    fn words(&self, clause: usize, without: &Range<usize>) -> BTreeSet<String> {
        let Some(clause) = self.clauses.get(clause) else {
            return BTreeSet::new();
        };
        let others = clause
            .values
            .iter()
            .filter(|(range, _)| range.end <= without.start || range.start >= without.end);
        clause
            .words
            .iter()
            .cloned()
            .chain(others.map(|(_, word)| word.clone()))
            .collect()
    }

    /// The words of the clause of the value at `range`; of one before it, if there is nothing else in its own.
    pub(super) fn own(&self, range: &Range<usize>) -> BTreeSet<String> {
        let clause = self.clause_at(range.start);
        let before = (0..=clause).rev().take(MOST_BEFORE);
        let mut before = before.map(|clause| self.words(clause, range));
        before.find(|words| !words.is_empty()).unwrap_or_default()
    }

    /// The words of the sentence of the value at `range`, on its line.
    pub(super) fn sentence(&self, range: &Range<usize>) -> BTreeSet<String> {
        let clause = self.clause_at(range.start);
        let Some(sentence) = self.clauses.get(clause).map(|clause| clause.sentence) else {
            return BTreeSet::new();
        };
        let of_it = |clause: &usize| self.clauses[*clause].sentence == sentence;
        let near = self.near(clause).filter(of_it);
        near.flat_map(|clause| self.words(clause, range)).collect()
    }

    /// The words of the clause of the value at `range`, then more and more of those before it, then all around it.
    pub(crate) fn contexts(&self, range: &Range<usize>) -> Vec<BTreeSet<String>> {
        let clause = self.clause_at(range.start);
        let mut contexts: Vec<BTreeSet<String>> = Vec::new();
        let mut add = |context: &BTreeSet<String>| {
            if contexts.last() != Some(context) && !context.is_empty() {
                contexts.push(context.clone());
            }
        };
        add(&self.beside(range));
        let mut so_far = BTreeSet::new();
        for clause in (0..=clause).rev().take(MOST_BEFORE) {
            // Two values that stand together elsewhere say nothing of what they are said of here.
            let words = self.words(clause, range).into_iter();
            so_far.extend(words.filter(|word| !is_number_word(word)));
            add(&so_far);
        }
        for clause in self.near(clause) {
            so_far.extend(self.words(clause, range));
        }
        add(&so_far);
        contexts
    }

    /// The clauses around one.
    fn near(&self, clause: usize) -> std::ops::Range<usize> {
        let end = self.clauses.len().min(clause + MOST_AROUND);
        clause.saturating_sub(MOST_AROUND)..end
    }

    /// All of it.
    pub(crate) fn all(&self) -> BTreeSet<String> {
        let nothing = 0..0;
        (0..self.clauses.len())
            .flat_map(|clause| self.words(clause, &nothing))
            .collect()
    }
}

/// Single capital letters, which are names: `plan B`. `A` and `I` at the beginning of a sentence are words.
fn letters(prose: &str, is_beginning: bool) -> Vec<String> {
    words(prose)
        .enumerate()
        .filter(|(at, word)| {
            word.text.len() == 1
                && word
                    .text
                    .starts_with(|letter: char| letter.is_ascii_uppercase())
                && word.text != "I"
                && !(is_beginning && *at == 0 && word.text == "A")
        })
        .map(|(_, word)| format!("={}", word.text))
        .collect()
}

/// The values of a text in order, each with a word that stands for it.
fn values(spans: &Spans<'_>) -> Vec<(Range<usize>, String)> {
    let mut values: Vec<(Range<usize>, String)> = Vec::new();
    for date in &spans.dates {
        for reading in &date.readings {
            let day = reading.day.map_or(String::new(), |day| format!("-{day}"));
            values.push((date.range.clone(), format!("={}{day}", reading.month)));
            if reading.day.is_none() {
                values.extend(
                    reading
                        .year
                        .map(|year| (date.range.clone(), format!("={year}"))),
                );
            }
        }
    }
    for identifier in &spans.identifiers {
        values.push((identifier.range.clone(), identifier.key.clone()));
    }
    for number in spans.numbers.iter().filter(|number| !number.is_word) {
        values.extend(
            number
                .readings
                .first()
                .map(|quantity| (number.range.clone(), number_word(*quantity))),
        );
    }
    values.sort_by_key(|(range, _)| range.start);
    values
}

/// A number as a word of its surroundings.
pub(super) fn number_word(quantity: crate::text::Quantity) -> String {
    let normal = quantity.normal();
    match u32::try_from(normal.exponent)
        .ok()
        .filter(|exponent| *exponent < 9)
    {
        Some(exponent) => format!("={}", normal.mantissa.saturating_mul(10_i128.pow(exponent))),
        None => format!("={}e{}", normal.mantissa, normal.exponent),
    }
}

/// Whether a word stands for a number: `=-4`, and not `=1-20`, which is a day.
fn is_number_word(word: &str) -> bool {
    let number = word
        .strip_prefix('=')
        .map(|word| word.trim_start_matches('-'));
    number.is_some_and(|number| {
        number.starts_with(|sign: char| sign.is_ascii_digit()) && !number.contains('-')
    })
}
