//! How the values of what was read may be spelled elsewhere: as the same words, whatever stands between them; as another
//! number of the same worth; as the beginning of a hash.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use cuecard_source::value::as_text;
use regex::Regex;
use serde_json::Value;

use super::prompt::joins_word;
use super::values::{Path, SHORT_HASH, each_leaf_at, start_of_hash};

/// So many words and other spellings are looked at, of all results, prompts and arguments.
pub(super) const MOST_WORDS: usize = 500_000;

/// So many places of a spelling are followed.
const MOST_PLACES: usize = 50;

/// Of longer runs of words it is only looked at first whether they are as long as this.
const LONGEST_RUN: usize = 100;

/// A number of fewer digits stands everywhere.
const FEWEST_DIGITS: usize = 3;

/// So many digits are the same number of a phone or an account, whatever groups they are written in.
const FEWEST_OF_CODE: usize = 8;

/// Where words were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The prompts.
    Prompt,
    /// What the prompts have in quotes.
    Quote,
    /// The days of the recording.
    Day,
    /// The arguments of a step.
    Arguments(usize),
    /// The result of a step.
    Result(usize),
}

/// Everything that was read so far, by its spellings.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) texts: Vec<HeardText>,
    /// Where each spelling stands: the text, and the number of the word, or of the other form, in it.
    places: HashMap<String, Vec<(usize, usize)>>,
    n_words: usize,
}

/// A text that was read.
#[derive(Debug)]
pub(super) struct HeardText {
    pub(super) origin: Origin,
    /// Its place in what the origin gave.
    pub(super) path: Path,
    pub(super) text: String,
    pub(super) words: Vec<Word>,
    /// The numbers and hashes in it.
    forms: Vec<Range<usize>>,
}

/// A word of a text.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) folded: String,
}

/// The longest run of words from one on that another text has too.
pub(super) struct Run {
    pub(super) n_words: usize,
    pub(super) text: usize,
    pub(super) at: usize,
}

impl Heard {
    pub(super) fn add(&mut self, origin: Origin, value: &Value) {
        each_leaf_at(value, &mut |path, leaf| {
            if leaf.is_null() || leaf.is_boolean() || self.is_full() {
                return;
            }
            let text = as_text(leaf).into_owned();
            let words = words_of(&text);
            let (forms, spellings): (Vec<_>, Vec<_>) = forms_of(&text).unzip();
            self.n_words += words.len() + forms.len();
            let folded = words.iter().map(|word| word.folded.clone()).enumerate();
            let other = spellings.into_iter().enumerate();
            let other = other.flat_map(|(at, keys)| keys.into_iter().map(move |key| (at, key)));
            for (at, spelling) in folded.chain(other) {
                let places = self.places.entry(spelling).or_default();
                if places.len() < MOST_PLACES {
                    places.push((self.texts.len(), at));
                }
            }
            self.texts.push(HeardText {
                origin,
                path: path.clone(),
                text,
                words,
                forms,
            });
        });
    }

    /// Whether some words were not looked at.
    pub(super) fn is_full(&self) -> bool {
        self.n_words >= MOST_WORDS
    }

    /// The runs that begin with the first of the words, in the order of reading.
    pub(super) fn longest(&self, words: &[Word]) -> Vec<Run> {
        let first = words.first().map(|first| &first.folded);
        let places = first.and_then(|first| self.places.get(first));
        let run = |&(text, at): &(usize, usize)| {
            let words = &words[..words.len().min(LONGEST_RUN)];
            let n_words = self.n_equal(words, text, at);
            Run { n_words, text, at }
        };
        places.into_iter().flatten().map(run).collect()
    }

    /// How many words are those of a text from one on.
    pub(super) fn n_equal(&self, words: &[Word], text: usize, at: usize) -> usize {
        let pairs = std::iter::zip(words, &self.texts[text].words[at..]);
        let equal = pairs.take_while(|(word, their)| word.folded == their.folded);
        equal.count()
    }

    /// The text that has a number or a hash of this spelling, with how it is written there, if the agent did not have it
    /// from itself and it was never written like this.
    pub(super) fn in_another_form(
        &self,
        spelling: &str,
        written: &str,
    ) -> Option<(&HeardText, &str)> {
        let places = || {
            let places = self.places.get(spelling).into_iter().flatten();
            places.map(|(text, at)| {
                let text = &self.texts[*text];
                (text, &text.text[text.forms[*at].clone()])
            })
        };
        let is_whole_hash =
            |other: &str| start_of_hash(other).is_some() && other.starts_with(written);
        let fits =
            |other: &str| other != written && (!spelling.starts_with(HASH) || is_whole_hash(other));
        let found = places().find(|(text, other)| {
            matches!(text.origin, Origin::Result(_) | Origin::Prompt) && fits(other)
        })?;
        let is_known = places().any(|(text, other)| match (text.origin, found.0.origin) {
            (Origin::Arguments(known), Origin::Result(step)) => known <= step,
            (Origin::Arguments(_), _) => false,
            _ => other == written,
        });
        (!is_known).then_some(found)
    }
}

/// Whether more of a number, a date or a version follows.
pub(super) fn goes_on(mut letters: impl Iterator<Item = char>) -> bool {
    letters.next().is_some_and(|letter| "-.:,".contains(letter))
        && letters.next().is_some_and(|letter| letter.is_ascii_digit())
}

/// The words of a text in lower case: letters, or digits, one after the other. An escape in a URL is none.
pub(super) fn words_of(text: &str) -> Vec<Word> {
    static ESCAPE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("%[0-9A-Fa-f]{2}").expect("it is fixed"));
    let without = ESCAPE.replace_all(text, "   ");
    let letters: Vec<(usize, char)> = without.char_indices().collect();
    let kind = |letter: char| {
        let is_any = letter.is_alphanumeric();
        is_any.then(|| (letter.is_ascii_digit(), joins_word(letter)))
    };
    let runs = letters.chunk_by(|one, other| kind(one.1) == kind(other.1));
    let words = runs.filter(|run| kind(run[0].1).is_some()).map(|run| {
        let (start, (last, letter)) = (run[0].0, run[run.len() - 1]);
        let end = last + letter.len_utf8();
        Word {
            start,
            end,
            folded: text[start..end].to_lowercase(),
        }
    });
    words.collect()
}

/// What the spelling of a hash begins with.
const HASH: char = '~';

/// The numbers and hashes in a text, each with its spellings, which no word has.
pub(super) fn forms_of(text: &str) -> impl Iterator<Item = (Range<usize>, Vec<String>)> {
    static HEX: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(&format!("[0-9A-Fa-f]{{{SHORT_HASH},}}")).expect("it is fixed")
    });
    let goes_on = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || "-_".contains(letter))
    };
    let hashes = HEX.find_iter(text).filter(move |found| {
        !goes_on(text[..found.start()].chars().next_back())
            && !goes_on(text[found.end()..].chars().next())
    });
    let hashes = hashes.map(|found| {
        let start = &found.as_str()[..SHORT_HASH];
        (found.range(), vec![format!("{HASH}{start}")])
    });
    amounts_in(text).chain(hashes)
}

/// The numbers of a text, each with what it may be worth: `1.512` is over a thousand, or under two.
fn amounts_in(text: &str) -> impl Iterator<Item = (Range<usize>, Vec<String>)> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[0-9]+(?:[.,'’ \u{a0}\u{202f}][0-9]+)*").expect("it is fixed")
    });
    NUMBER.find_iter(text).flat_map(|found| {
        // Numbers beside each other may be one in groups, or several.
        let (mut parts, mut at) = (Vec::new(), found.start());
        for part in found.as_str().split_inclusive(' ') {
            parts.push(at..at + part.trim_end().len());
            at += part.len();
        }
        let whole = (parts.len() > 1).then(|| found.range());
        let all = whole.into_iter().chain(parts);
        all.filter_map(|range| {
            let goes_on = |letter: Option<char>| {
                letter.is_some_and(|letter| letter.is_alphanumeric() || "-_/:".contains(letter))
            };
            let before = text[..range.start].chars().next_back();
            let is_part = goes_on(before.filter(|before| *before != '-'))
                || goes_on(text[range.end..].chars().next());
            let number = &text[range.clone()];
            let mut worths = if is_part { Vec::new() } else { worths(number) };
            let mut digits = number.replace(' ', "");
            if let Some((whole, fraction)) = digits.split_once('.') {
                digits = [whole, fraction].concat();
            }
            let is_code =
                digits.len() >= FEWEST_OF_CODE && digits.bytes().all(|byte| byte.is_ascii_digit());
            worths.extend(is_code.then(|| format!("#{digits}")));
            (!worths.is_empty()).then_some((range, worths))
        })
        .collect::<Vec<_>>()
    })
}

/// What a number may be worth, as the shortest decimals.
fn worths(number: &str) -> Vec<String> {
    /// What stands between thousands, and before a fraction.
    const SIGNS: [(&str, &str); 3] = [(r"\.", ","), (",", r"\."), (r"['’\s]", "[.,]")];
    static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let forms = SIGNS.iter().map(|(group, point)| {
            format!(r"^([0-9]{{1,3}}(?:{group}[0-9]{{3}})+|[0-9]+)(?:{point}([0-9]+))?$")
        });
        let forms = forms.map(|form| Regex::new(&form).expect("it is fixed"));
        forms.collect()
    });
    let mut found = Vec::new();
    for parts in FORMS.iter().filter_map(|form| form.captures(number)) {
        let digits = |letter: &char| letter.is_ascii_digit();
        let whole: String = parts[1].chars().filter(digits).collect();
        let whole = whole.trim_start_matches('0');
        let fraction = parts.get(2).map_or("", |fraction| fraction.as_str());
        let fraction = fraction.trim_end_matches('0');
        let worth = format!("{whole}.{fraction}");
        if whole.len() + fraction.len() >= FEWEST_DIGITS && !found.contains(&worth) {
            found.push(worth);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::amounts_in;

    #[test]
    fn numbers_are_worth_the_same_however_they_are_written() {
        let worths = |text: &str| {
            let all = amounts_in(text).flat_map(|(_, worths)| worths);
            all.collect::<Vec<String>>().join(" ")
        };
        for (text, expected) in [
            ("1500", "1500."),
            ("1,500.00 EUR", "1500."),
            ("€1.500,00", "1500."),
            ("1'500", "1500."),
            ("1.500", "1500."),
            ("1.512", "1512. 1.512"),
            ("about 12.50.", "12.5"),
            ("1,234,567", "1234567."),
            ("-1234.50", "1234.5"),
            ("12 000 pieces, 5 1500", "12000. 1500."),
            ("+49 30 12345678", "#493012345678 12345678. #12345678"),
            ("DE89 3704 0044 0532", "#89370400440532 3704. 532."),
            ("p1781599364451618", "#1781599364451618"),
            ("1781599364.451618", "1781599364.451618 #1781599364451618"),
            (
                "1.2.3 7 10.0 192.168.1.20 2026-05-03 10:30 v1500 1500/2",
                "#15001500",
            ),
        ] {
            assert_eq!(worths(text), expected, "{text}");
        }
    }
}
