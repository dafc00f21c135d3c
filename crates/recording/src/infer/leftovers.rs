//! What stayed as it was recorded although an earlier result, or the prompt, has the same words. Whatever the other rules
//! leave out, it is asked about here.

use std::collections::HashMap;
use std::ops::Range;

use cuecard_source::value::{as_text, cut};
use serde_json::Value;

use super::build::Builder;
use super::parts::Part;
use super::prompt::{Mention, joins_word, occurrences};
use super::values::{each_leaf, is_telling, may_name, number};

/// So many words are looked at, of all results, prompts and arguments.
const MOST_WORDS: usize = 500_000;

/// So many places of a word are followed.
const MOST_PLACES: usize = 50;

/// So many words of a text are looked at.
const MOST_OF_TEXT: usize = 2_000;

/// A run of words says something if it has a digit and so many letters and digits, a number of so many digits, or so many
/// words.
const TELLING_LENGTH: usize = 4;
const TELLING_DIGITS: usize = 2;
const TELLING_WORDS: usize = 4;

/// So much of a value is shown.
const LONGEST_SHOWN: usize = 60;

/// So many words of a command are the name of its program and what that shall do.
const WORDS_OF_PROGRAM: usize = 2;

/// Parameters of edits.
pub(super) const EDITED: &[&str] = &["old_string", "new_string", "oldText", "newText"];

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

/// The words of everything that was read so far.
#[derive(Debug, Default)]
pub(super) struct Heard {
    texts: Vec<(Origin, Vec<HeardWord>)>,
    /// Where each word stands: the text and the place in it.
    places: HashMap<String, Vec<(usize, usize)>>,
    n_words: usize,
}

/// A word of a text that was read before.
#[derive(Debug)]
struct HeardWord {
    folded: String,
    is_capital: bool,
}

/// A word of a text.
#[derive(Debug, Clone)]
struct Word {
    start: usize,
    end: usize,
    folded: String,
}

/// The longest run of words from one on that another text has too.
struct Run {
    n_words: usize,
    text: usize,
    at: usize,
}

/// What stayed of a text as it was recorded.
struct Leftover {
    text: String,
    words: Vec<Word>,
    /// The words of references.
    covered: Vec<bool>,
    /// The places of the other words.
    left: Vec<usize>,
}

impl Leftover {
    fn shown(&self, words: Range<usize>) -> &str {
        &self.text[self.words[words.start].start..self.words[words.end - 1].end]
    }

    /// Whether a word stands beside one of a reference, of these words, without a space between them.
    fn is_glued(&self, word: usize, among: &Range<usize>) -> bool {
        [word.checked_sub(1), Some(word)]
            .into_iter()
            .flatten()
            .any(|first| {
                among.contains(&first)
                    && among.contains(&(first + 1))
                    && self.covered[first] != self.covered[first + 1]
                    && !self.text[self.words[first].end..self.words[first + 1].start]
                        .contains(char::is_whitespace)
            })
    }
}

impl Heard {
    pub(super) fn add(&mut self, origin: Origin, value: &Value) {
        let mut leaves = Vec::new();
        each_leaf(value, &mut |leaf| {
            if !leaf.is_null() && !leaf.is_boolean() {
                leaves.push(as_text(leaf).into_owned());
            }
        });
        for leaf in leaves {
            if self.n_words >= MOST_WORDS {
                return;
            }
            let words = words_of(&leaf).map(|word| HeardWord {
                is_capital: leaf[word.start..].starts_with(char::is_uppercase),
                folded: word.folded,
            });
            let words: Vec<HeardWord> = words.collect();
            self.n_words += words.len();
            let text = self.texts.len();
            for (at, word) in words.iter().enumerate() {
                let places = self.places.entry(word.folded.clone()).or_default();
                if places.len() < MOST_PLACES {
                    places.push((text, at));
                }
            }
            self.texts.push((origin, words));
        }
    }

    /// Whether some words were not looked at.
    pub(super) fn is_full(&self) -> bool {
        self.n_words >= MOST_WORDS
    }

    /// The runs that begin with the first of the words, in the order of reading. `last` are those that began `n_skipped`
    /// words before it: where one goes on, nothing is compared again.
    fn longest(&self, words: &[Word], n_skipped: usize, last: &[Run]) -> Vec<Run> {
        let places = words
            .first()
            .and_then(|first| self.places.get(&first.folded));
        let run = |&(text, at): &(usize, usize)| {
            let before = at.checked_sub(n_skipped).map(|before| (text, before));
            let before = before.and_then(|at| {
                last.binary_search_by_key(&at, |run| (run.text, run.at))
                    .ok()
            });
            let n_known = before.map_or(0, |idx| last[idx].n_words.saturating_sub(n_skipped));
            let equal = || {
                let pairs = std::iter::zip(words, &self.texts[text].1[at..]);
                pairs.take_while(|(word, their)| word.folded == their.folded)
            };
            let n_words = if n_known > 0 {
                n_known
            } else {
                equal().count()
            };
            Run { n_words, text, at }
        };
        places.into_iter().flatten().map(run).collect()
    }
}

impl Builder<'_, '_> {
    /// Asks of what stays as it was recorded; of an ordinary number, only if it is written otherwise.
    pub(super) fn ask_of_rest(&mut self, parts: &[Part]) {
        if let [Part::Text(text)] = parts
            && let Some(value) = number(text)
            && !is_telling(&value)
            && !may_name(&value, &self.key, "")
        {
            self.ask_of_amounts(text, &[]);
            return;
        }
        self.ask_of_leftovers(parts);
    }

    /// Asks of single words of the prompt in a command, but for the names of programs and of what they shall do.
    pub(super) fn ask_of_command_words(&mut self, parts: &[Part]) {
        if self.key != "command" {
            return;
        }
        let text = parts.iter().map(|part| match part {
            Part::Text(text) => text.as_str(),
            // A word with a reference is none of the prompt's.
            Part::Variable(..) | Part::Output(..) => "\0",
        });
        let text: String = text.collect();
        let mut n_before = 0;
        for word in text.split_whitespace() {
            let is_option = word.starts_with('-');
            let value = word.split_once('=').map_or(word, |(_, value)| value);
            let value = value.trim_matches(['"', '\'', ';', '|']);
            let is_word = value.starts_with(char::is_alphabetic)
                && value
                    .chars()
                    .all(|letter| letter.is_alphanumeric() || "-_".contains(letter));
            if (n_before >= WORDS_OF_PROGRAM || (is_option && value.len() < word.len()))
                && is_word
                && self.prompt.mentions(&value.into()) == Mention::Word
                && !self.asked_of(value)
            {
                self.ask_of_held(value, Origin::Prompt);
            }
            let compounds = value.split(|letter: char| "/,:=.@".contains(letter));
            for part in compounds.filter(|part| *part != value && part.contains(['-', '_'])) {
                if self.prompt.mentions(&part.into()) == Mention::Word && !self.asked_of(part) {
                    self.ask_of_held(part, Origin::Prompt);
                }
            }
            // The value of an option is none of these.
            n_before += if is_option { WORDS_OF_PROGRAM } else { 1 };
            if word.ends_with([';', '|', '&']) {
                n_before = 0;
            }
        }
    }

    /// Asks of a single word that the user gave for a parameter and that stands in a longer text: there it may be another
    /// word that is spelled so.
    pub(super) fn ask_of_names(&mut self, parts: &[Part]) {
        for name in self.prompt.names.clone() {
            let is_in = |part: &Part| match part {
                Part::Text(text) => *text != name && occurrences(text, &name).next().is_some(),
                _ => false,
            };
            if parts.iter().any(is_in) {
                self.ask_of_held(&name, Origin::Prompt);
            }
        }
    }

    /// Asks of the words in the recorded parts of a text that were read before, and of its amounts.
    fn ask_of_leftovers(&mut self, parts: &[Part]) {
        // What an edit replaces, and by what, is much the same as the file.
        if EDITED.contains(&self.key.as_str()) {
            return;
        }
        let (mut text, mut covered) = (String::new(), Vec::new());
        for part in parts {
            let start = text.len();
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Variable(_, part) | Part::Output(_, part) => {
                    text.push_str(part);
                    covered.push(start..text.len());
                }
            }
        }
        let mut words: Vec<Word> = words_of(&text).take(MOST_OF_TEXT + 1).collect();
        let is_cut = words.len() > MOST_OF_TEXT;
        words.truncate(MOST_OF_TEXT);
        if is_cut && self.step > 0 {
            self.ask_everywhere(format!(
                "of a text of more than {MOST_OF_TEXT} words only the first ones were compared with earlier results: does the rest hold any of them?"
            ));
        }
        let is_covered = |word: &Word| {
            let next = covered.partition_point(|range| range.end <= word.start);
            covered
                .get(next)
                .is_some_and(|range| range.start < word.end)
        };
        let flags: Vec<bool> = words.iter().map(is_covered).collect();
        let leftover = Leftover {
            left: (0..words.len()).filter(|idx| !flags[*idx]).collect(),
            covered: flags,
            text,
            words,
        };
        let (mut at, mut last, mut last_at) = (0, Vec::new(), 0);
        while at < leftover.words.len() {
            let runs = self
                .heard
                .longest(&leftover.words[at..], at - last_at, &last);
            let mut n_known = 0;
            let telling = runs.iter().find(|run| {
                if let Origin::Arguments(_) = self.heard.texts[run.text].0 {
                    n_known = run.n_words.max(n_known);
                }
                self.tells(run, at, n_known, &leftover)
            });
            let told = telling.map(|run| (at..at + run.n_words, self.heard.texts[run.text].0));
            (last, last_at) = (runs, at);
            let Some((own, origin)) = told else {
                at += 1;
                continue;
            };
            at = own.end;
            let shown = cut(leftover.shown(own), LONGEST_SHOWN);
            if !self.asked_of(&shown) {
                self.ask_of_held(&shown, origin);
            }
        }
        self.ask_of_amounts(&leftover.text, &covered);
    }

    /// Whether a run that begins at a word says something. `n_known` words from there on the agent had from itself, before
    /// the run was read.
    fn tells(&self, run: &Run, at: usize, n_known: usize, leftover: &Leftover) -> bool {
        let Leftover { text, words, .. } = leftover;
        let (origin, theirs) = &self.heard.texts[run.text];
        let is_news = match origin {
            Origin::Arguments(_) => false,
            Origin::Result(step) => *step < self.step && n_known < run.n_words,
            Origin::Prompt | Origin::Quote | Origin::Day => true,
        };
        let own = at..at + run.n_words;
        if !is_news
            || goes_on(text[..words[at].start].chars().rev())
            || goes_on(text[words[own.end - 1].end..].chars())
        {
            return false;
        }
        let place = |at: usize| leftover.left.partition_point(|word| *word < at);
        let left = &leftover.left[place(own.start)..place(own.end)];
        if left.is_empty() {
            return false;
        }
        let folded = || left.iter().map(|idx| words[*idx].folded.as_str());
        let n_letters = || folded().map(|word| word.chars().count()).sum::<usize>();
        let has_digit =
            || folded().any(|word| word.contains(|letter: char| letter.is_ascii_digit()));
        let is_whole = run.at == 0 && run.n_words == theirs.len();
        let is_name = matches!(origin, Origin::Prompt) || is_whole;
        let is_capital = |idx: &&usize| {
            text[words[**idx].start..].starts_with(char::is_uppercase)
                || (is_name && theirs[run.at + **idx - at].is_capital)
        };
        let is_number = |word: &str| {
            word.len() >= TELLING_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit())
        };
        let is_telling = || {
            left.len() >= TELLING_WORDS
                || folded().any(is_number)
                || (has_digit() && (left.len() >= 3 || n_letters() >= TELLING_LENGTH))
                || left.iter().filter(is_capital).count() >= 2
        };
        let is_glued = || left.iter().any(|idx| leftover.is_glued(*idx, &own));
        match origin {
            Origin::Quote => is_whole && n_letters() >= TELLING_LENGTH,
            Origin::Prompt => is_telling(),
            Origin::Day => is_whole,
            Origin::Result(_) => is_telling() || is_glued(),
            Origin::Arguments(_) => false,
        }
    }

    /// Asks of a value that a prompt behind so many calls has, if the result of one of them has it somewhere.
    pub(super) fn ask_of_repeated(&mut self, value: &Value, n_calls: usize) {
        let text = as_text(value);
        let words: Vec<Word> = words_of(&text).collect();
        let runs = self.heard.longest(&words, 0, &[]).into_iter();
        let whole = runs.filter(|run| run.n_words == words.len());
        let origins = whole.map(|run| self.heard.texts[run.text].0);
        // What the agent had from itself before was none of the result.
        let mut origins = origins.take_while(|origin| !matches!(origin, Origin::Arguments(_)));
        let origin = origins.find_map(|origin| match origin {
            Origin::Result(step) if self.calls[step].number <= n_calls => Some(step),
            _ => None,
        });
        if let Some(step) = origin {
            self.ask_of_held(&cut(&text, LONGEST_SHOWN), Origin::Result(step));
        }
    }

    /// Asks of a value that the parameter holds, and something before it.
    fn ask_of_held(&mut self, value: &str, origin: Origin) {
        let (origin, rest) = match origin {
            Origin::Result(step) => {
                let id = self.ids[step].clone();
                let rest = format!("and so does the result of `{id}`: is it copied from there?");
                (id, rest)
            }
            Origin::Day => (
                "the day".to_owned(),
                "the day of the recording: is it a variable?".to_owned(),
            ),
            _ => (
                "the prompt".to_owned(),
                "and so does the prompt: is it a variable?".to_owned(),
            ),
        };
        self.ask_of_part_of_key(value, &origin, rest);
    }
}

/// Whether more of a number, a date or a version follows.
pub(super) fn goes_on(mut letters: impl Iterator<Item = char>) -> bool {
    letters.next().is_some_and(|letter| "-.:,".contains(letter))
        && letters.next().is_some_and(|letter| letter.is_ascii_digit())
}

/// The words of a text in lower case: letters, or digits, one after the other. An escape in a URL is none.
fn words_of(text: &str) -> impl Iterator<Item = Word> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let first = rest.chars().next()?;
            let is_hex = |range| {
                let hex: Option<&str> = rest.get(range);
                hex.is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
            };
            if first == '%' && is_hex(1..3) {
                at += 3;
                continue;
            }
            if !first.is_alphanumeric() {
                at += first.len_utf8();
                continue;
            }
            let is_digit = first.is_ascii_digit();
            let joins = joins_word(first);
            let same = |letter: char| {
                letter.is_alphanumeric()
                    && letter.is_ascii_digit() == is_digit
                    && joins_word(letter) == joins
            };
            let length = rest.find(|letter| !same(letter)).unwrap_or(rest.len());
            let start = at;
            at += length;
            return Some(Word {
                start,
                end: at,
                folded: rest[..length].to_lowercase(),
            });
        }
    })
}
