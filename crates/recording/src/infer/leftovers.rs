//! What stayed as it was recorded although an earlier result, or the prompt, has the same words. Whatever the other rules
//! leave out, it is asked about here.

use std::collections::HashMap;

use cuecard_source::value::{as_text, cut};
use serde_json::Value;

use super::build::Builder;
use super::parts::Part;
use super::prompt::{Mention, occurrences};
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

    fn longest(&self, words: &[Word]) -> Vec<Run> {
        let places = words
            .first()
            .and_then(|first| self.places.get(&first.folded));
        let mut runs: Vec<Run> = Vec::new();
        for &(text, at) in places.into_iter().flatten() {
            let theirs = &self.texts[text].1[at..];
            let n_words = std::iter::zip(words, theirs)
                .take_while(|(word, their)| word.folded == their.folded)
                .count();
            runs.push(Run { n_words, text, at });
        }
        runs
    }

    /// Whether the agent had these words before the result of `step`: from itself.
    fn knew(&self, words: &[Word], step: usize) -> bool {
        let runs = self.longest(words).into_iter();
        let mut runs = runs.filter(|run| run.n_words == words.len());
        runs.any(|run| matches!(self.texts[run.text].0, Origin::Arguments(at) if at <= step))
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
        let words: Vec<Word> = words_of(&text).take(MOST_OF_TEXT).collect();
        let is_covered = |word: &Word| {
            let mut ranges = covered.iter();
            ranges.any(|range| word.start < range.end && range.start < word.end)
        };
        let mut at = 0;
        while at < words.len() {
            let runs = self.heard.longest(&words[at..]);
            let mut telling = runs.iter().filter(|run| {
                let own = &words[at..at + run.n_words];
                self.tells(run, own, &text, &is_covered)
            });
            let Some(run) = telling.next() else {
                at += 1;
                continue;
            };
            let own = &words[at..at + run.n_words];
            at += run.n_words;
            let shown = &text[own[0].start..own[own.len() - 1].end];
            let shown = cut(shown, LONGEST_SHOWN);
            if !self.asked_of(&shown) {
                self.ask_of_held(&shown, self.heard.texts[run.text].0);
            }
        }
        self.ask_of_amounts(&text, &covered);
    }

    fn tells(
        &self,
        run: &Run,
        own: &[Word],
        text: &str,
        is_covered: &dyn Fn(&Word) -> bool,
    ) -> bool {
        let (first, last) = (&own[0], &own[own.len() - 1]);
        if own.iter().all(is_covered)
            || goes_on(text[..first.start].chars().rev())
            || goes_on(text[last.end..].chars())
        {
            return false;
        }
        let is_glued = own.windows(2).any(|pair| {
            is_covered(&pair[0]) != is_covered(&pair[1])
                && !text[pair[0].end..pair[1].start].contains(char::is_whitespace)
        });
        let left: Vec<&Word> = own.iter().filter(|word| !is_covered(word)).collect();
        let n_letters: usize = left.iter().map(|word| word.folded.chars().count()).sum();
        let has_digit = left
            .iter()
            .any(|word| word.folded.bytes().any(|byte| byte.is_ascii_digit()));
        let (origin, theirs) = &self.heard.texts[run.text];
        let is_whole = run.at == 0 && run.n_words == theirs.len();
        let is_name = matches!(origin, Origin::Prompt) || is_whole;
        let theirs = &theirs[run.at..];
        let capitals = own.iter().zip(theirs).filter(|(word, their)| {
            !is_covered(word)
                && (text[word.start..].starts_with(char::is_uppercase)
                    || (is_name && their.is_capital))
        });
        let is_long = n_letters >= TELLING_LENGTH || left.len() >= 3;
        let is_number = left.iter().any(|word| {
            word.folded.len() >= TELLING_DIGITS
                && word.folded.bytes().all(|byte| byte.is_ascii_digit())
        });
        let is_telling = is_number
            || (has_digit && is_long)
            || capitals.count() >= 2
            || left.len() >= TELLING_WORDS;
        match origin {
            Origin::Quote => is_whole && n_letters >= TELLING_LENGTH,
            Origin::Prompt => is_telling,
            Origin::Day => is_whole,
            Origin::Result(step) => {
                *step < self.step && (is_telling || is_glued) && !self.heard.knew(own, *step)
            }
            Origin::Arguments(_) => false,
        }
    }

    /// Asks of a value that a prompt behind so many calls has, if the result of one of them has it somewhere.
    pub(super) fn ask_of_repeated(&mut self, value: &Value, n_calls: usize) {
        let text = as_text(value);
        let words: Vec<Word> = words_of(&text).collect();
        let runs = self.heard.longest(&words).into_iter();
        let mut runs = runs.filter(|run| run.n_words == words.len());
        let origin = runs.find_map(|run| match self.heard.texts[run.text].0 {
            Origin::Result(step) if self.calls[step].number <= n_calls => Some(step),
            _ => None,
        });
        if let Some(step) = origin
            && !self.heard.knew(&words, step)
        {
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
            let same =
                |letter: char| letter.is_alphanumeric() && letter.is_ascii_digit() == is_digit;
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
