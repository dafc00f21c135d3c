//! How the values of what was read may be spelled elsewhere: as the same words, whatever stands between them; as another
//! number of the same worth; as the beginning of a hash.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use cuecard_source::value::as_text;
use regex::Regex;
use serde_json::Value;

use super::prompt::joins_word;
use super::values::{
    LONGEST, Path, SHORT_HASH, Source, Weight, each_value_at, integer, is_plain_name, parts_of,
    pattern, start_of_hash, weight, weight_of_text, words,
};

/// So many values, words and other spellings are looked at, of all results, prompts and arguments.
pub(super) const MOST_SPELLINGS: usize = 1_000_000;

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
pub(super) struct Index {
    pub(super) texts: Vec<IndexedText>,
    /// Where each spelling stands: the text, and the number of the word, or of the other form, in it. Behind `=` stand the
    /// values of results as JSON, behind `:` the words in them.
    places: HashMap<String, Vec<(usize, usize)>>,
    /// The first call that was made with a value, its parts, or a word.
    arguments: HashMap<String, usize>,
    n_spellings: usize,
}

/// A text that was read.
#[derive(Debug)]
pub(super) struct IndexedText {
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

impl Index {
    pub(super) fn add(&mut self, origin: Origin, value: &Value) {
        each_value_at(value, &Path::default(), &mut |path, value| {
            if self.is_full() {
                return;
            }
            if let (Origin::Result(_), Value::Object(members)) = (origin, value) {
                // Keys may be ids.
                for key in members.keys().filter(|key| !is_plain_name(key)) {
                    self.add_text(origin, path, key.clone(), true);
                }
            }
            let text = as_text(value).into_owned();
            match origin {
                Origin::Arguments(step) => self.add_argument(step, value, &text),
                Origin::Result(_) => self.add_result(value),
                _ => {}
            }
            let is_leaf = !(value.is_array() || value.is_object());
            let text = if is_leaf { text } else { String::new() };
            self.add_text(origin, path, text, value.is_string() || value.is_number());
        });
    }

    fn add_text(&mut self, origin: Origin, path: &Path, text: String, has_words: bool) {
        let (mut words, mut forms) = (Vec::new(), Vec::new());
        if has_words {
            words = words_of(&text);
            for (at, word) in words.iter().enumerate() {
                self.spell(word.folded.clone(), at);
            }
            for (at, (range, spellings)) in forms_of(&text).enumerate() {
                forms.push(range);
                for spelling in spellings {
                    self.spell(spelling, at);
                }
            }
        }
        self.texts.push(IndexedText {
            origin,
            path: path.clone(),
            text,
            words,
            forms,
        });
    }

    /// The next text has this spelling.
    fn spell(&mut self, spelling: String, at: usize) {
        self.n_spellings += 1;
        let place = (self.texts.len(), at);
        let places = self.places.entry(spelling).or_default();
        if places.len() < MOST_PLACES && places.last() != Some(&place) {
            places.push(place);
        }
    }

    fn add_argument(&mut self, step: usize, value: &Value, text: &str) {
        let is_leaf = !(value.is_array() || value.is_object());
        let words = is_leaf.then(|| parts_of(text)).into_iter().flatten();
        for word in words.chain([text]).filter(|word| word.len() <= LONGEST) {
            self.n_spellings += 1;
            self.arguments.entry(word.to_owned()).or_insert(step);
        }
    }

    fn add_result(&mut self, value: &Value) {
        if weight(value) != Weight::Nothing {
            self.spell(format!("={value}"), 0);
        }
        let Value::String(text) = value else {
            return;
        };
        for word in parts_of(text).filter(|word| word != text && word.len() <= LONGEST) {
            // Of plain words only the long ones say something, and of digits other recordings may tell.
            let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
            if has_digit || weight_of_text(word) == Weight::Strong {
                self.spell(format!(":{word}"), 0);
            }
        }
    }

    /// The first result before `step` that has a word somewhere.
    pub(super) fn read(&self, word: &str, step: usize) -> Option<usize> {
        self.having(word).find_map(|theirs| match theirs.origin {
            Origin::Result(from) if from < step => Some(from),
            _ => None,
        })
    }

    /// What has all words of a text, one after the other, in the order of reading.
    pub(super) fn having(&self, text: &str) -> impl Iterator<Item = &IndexedText> {
        let words = words_of(text);
        let runs = self.longest(&words).into_iter();
        let whole = runs.filter(move |run| run.n_words == words.len());
        whole.map(|run| &self.texts[run.text])
    }

    /// Whether some words were not looked at.
    pub(super) fn is_full(&self) -> bool {
        self.n_spellings >= MOST_SPELLINGS
    }

    /// The texts of several words in results that stand in a text, with where they do.
    pub(super) fn phrases_in(&self, text: &str) -> Vec<(usize, String)> {
        let several = |text: &str| {
            let first = words(text).next();
            first.is_some_and(|(_, first)| first.len() < text.trim_end().len())
        };
        let own = words_of(text);
        let starts = own.iter().filter_map(|word| {
            let places = self.places.get(&word.folded).into_iter().flatten();
            let phrases = places.filter(|(_, at)| *at == 0).filter_map(|(idx, _)| {
                let IndexedText {
                    origin,
                    text: phrase,
                    words,
                    ..
                } = &self.texts[*idx];
                let at = word.start.checked_sub(words.first()?.start)?;
                let rest = text.get(at..)?.strip_prefix(phrase.as_str())?;
                let is_one = matches!(origin, Origin::Result(_))
                    && several(phrase)
                    && !rest.starts_with(char::is_alphanumeric);
                is_one.then(|| (at, phrase.clone()))
            });
            phrases.max_by_key(|(_, phrase)| phrase.len())
        });
        starts.collect()
    }

    /// Where a value stands, in results of calls before `step`: each with what it takes to get just this value. Those
    /// of the first call come first, of these the shortest. With `converts` a text becomes a number where it is used.
    pub(super) fn sources(&self, value: &Value, (step, converts): (usize, bool)) -> Vec<Source> {
        let text = as_text(value);
        let known = self.arguments.get(text.as_ref()).copied();
        let news = |spelling: String| {
            let places = self.places.get(&spelling).into_iter().flatten();
            let texts = places.map(|(text, _)| &self.texts[*text]);
            texts.filter_map(move |text| match text.origin {
                Origin::Result(from) if from < step && known.is_none_or(|known| known > from) => {
                    Some((from, text))
                }
                _ => None,
            })
        };
        let of = |(step, text): (usize, &IndexedText), regex: Option<String>| Source {
            step,
            path: text.path.clone(),
            regex,
        };
        let whole = |value: &Value| news(format!("={value}")).map(|found| of(found, None));
        let mut found: Vec<Source> = whole(value).collect();
        let is_text = value.is_string();
        if is_text && integer(&text).is_some() {
            let numbers = news(format!("={text}"));
            found.extend(numbers.map(|found| of(found, Some(r"^(-?\d+)$".to_owned()))));
        } else if converts && value.is_number() {
            found.extend(whole(&text.as_ref().into()));
        }
        if found.is_empty() && (is_text || (converts && value.is_number())) {
            found.extend(news(format!(":{text}")).filter_map(|inside| {
                // The user's words are others the next time.
                let is_given = |word: &str| {
                    let known = self.arguments.get(word);
                    known.is_some_and(|known| *known <= inside.0)
                };
                let regex = pattern(&inside.1.text, &text, &is_given)?;
                Some(of(inside, Some(regex)))
            }));
        }
        found.sort_by_key(|source| {
            (
                source.step,
                source.path.depth,
                source.path.to_string().len(),
            )
        });
        found
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
    ) -> Option<(&IndexedText, &str)> {
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

/// The numbers and hashes in a text, each with its spellings, which no word has: what it is worth, its digits if they are
/// many, the beginning of a hash.
pub(super) fn forms_of(text: &str) -> impl Iterator<Item = (Range<usize>, Vec<String>)> {
    static FORMS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        // Numbers beside each other may be one in groups, or several.
        let forms = [
            r"[0-9]+(?:[.,'’ \u{a0}\u{202f}][0-9]+)+",
            r"[0-9]+(?:[.,'’\u{a0}\u{202f}][0-9]+)*",
            r"\b[0-9A-Fa-f]{7,}\b",
        ];
        forms.map(|form| Regex::new(form).expect("it is fixed"))
    });
    let [grouped, single, hash] = &*FORMS;
    let goes_on = |letter: Option<char>, signs: &str| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || signs.contains(letter))
    };
    let grouped = grouped
        .find_iter(text)
        .filter(|found| found.as_str().contains(' '));
    let numbers = grouped.chain(single.find_iter(text)).map(move |found| {
        let written = found.as_str();
        let is_part = goes_on(text[..found.start()].chars().next_back(), "_/:")
            || goes_on(text[found.end()..].chars().next(), "-_/:");
        let digits = written.replace(' ', "").replacen('.', "", 1);
        let is_code =
            digits.len() >= FEWEST_OF_CODE && digits.bytes().all(|byte| byte.is_ascii_digit());
        let code = is_code.then(|| format!("#{digits}"));
        let worth = worth(written).filter(|_| !is_part);
        (found.range(), worth.into_iter().chain(code).collect())
    });
    let hashes = hash.find_iter(text).map(move |found| {
        let is_part = text[..found.start()].ends_with('-') || text[found.end()..].starts_with('-');
        let start = (!is_part).then(|| format!("{HASH}{}", &found.as_str()[..SHORT_HASH]));
        (found.range(), start.into_iter().collect())
    });
    let forms = numbers.chain(hashes);
    forms.filter(|(_, spellings): &(_, Vec<String>)| !spellings.is_empty())
}

/// What a number is worth, however its thousands and its fraction are written.
fn worth(number: &str) -> Option<String> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^([0-9]+|[0-9]{1,3}(?:[.,'’\s][0-9]{3})+)(?:[.,]([0-9]{1,2}|[0-9]{4,}))?$")
            .expect("it is fixed")
    });
    let parts = NUMBER.captures(number)?;
    let whole: String = parts[1].chars().filter(char::is_ascii_digit).collect();
    let whole = whole.trim_start_matches('0');
    let fraction = parts
        .get(2)
        .map_or("", |fraction| fraction.as_str().trim_end_matches('0'));
    (whole.len() + fraction.len() >= FEWEST_DIGITS).then(|| format!("{whole}.{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::forms_of;

    #[test]
    fn numbers_are_worth_the_same_however_they_are_written() {
        let worths = |text: &str| {
            let all = forms_of(text).flat_map(|(_, worths)| worths);
            let all = all.filter(|worth| !worth.starts_with('~'));
            all.collect::<Vec<String>>().join(" ")
        };
        for (text, expected) in [
            ("1500", "1500."),
            ("1,500.00 EUR", "1500."),
            ("€1.500,00", "1500."),
            ("1'500", "1500."),
            ("1.500", "1500."),
            ("1.512", "1512."),
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
