//! What stayed as it was recorded although an earlier result, or the prompt, has the same words. Whatever the other rules
//! leave out, it is asked about here.

use std::ops::Range;

use cuecard_source::value::{as_text, cut};
use serde_json::Value;

use super::build::Builder;
use super::parts::{Part, without_references};
use super::prompt::{Mention, occurrences};
use super::spellings::{IndexedText, Origin, Run, Word, forms_of, goes_on, words_of};
use super::texts::fragments_of;
use super::values::{Weight, is_telling as is_telling_value, may_name, number, weight_of_text};

/// So many words of a text are looked at.
const MOST_OF_TEXT: usize = 2_000;

/// A run of words says something if it has a digit and so many letters and digits, a number of so many digits, or so many
/// words.
const TELLING_LENGTH: usize = 4;
const TELLING_DIGITS: usize = 2;
const TELLING_WORDS: usize = 4;

/// A whole value of fewer letters stands everywhere, in bytes.
const SHORTEST_VALUE: usize = 3;

/// A value of several words that is written without spaces has so many letters and digits at least.
const SHORTEST_SLUG: usize = 6;

/// So much of a value is shown.
const LONGEST_SHOWN: usize = 60;

/// So many words of a command are the name of its program and what that shall do.
const WORDS_OF_PROGRAM: usize = 2;

/// A line of fewer words stands everywhere.
const WORDS_OF_LINE: usize = 2;

/// Parameters of edits.
const EDITED: &[&str] = &["old_string", "new_string", "oldText", "newText"];

/// What stayed of a text as it was recorded.
struct Leftover {
    text: String,
    words: Vec<Word>,
    /// The words of references.
    covered: Vec<bool>,
}

/// Whether a part of a text is in one of these.
fn is_in(parts: &[Range<usize>], part: &Range<usize>) -> bool {
    let mut parts = parts.iter();
    parts.any(|known| known.start < part.end && part.start < known.end)
}

impl Leftover {
    fn shown(&self, words: Range<usize>) -> &str {
        &self.text[self.words[words.start].start..self.words[words.end - 1].end]
    }
}

/// How many of the words, of which the first begins a line, are on this line; 0 if it begins none. A number and a tab
/// may stand before it.
fn line_of(text: &str, words: &[Word]) -> usize {
    let start = words[0].start;
    let before = text[..start]
        .rsplit(['\n', '\t'])
        .next()
        .unwrap_or_default();
    let end = text[start..]
        .find('\n')
        .map_or(text.len(), |length| start + length);
    match before.contains(char::is_alphanumeric) {
        true => 0,
        false => words.iter().take_while(|word| word.end <= end).count(),
    }
}

/// The words of a command behind the names of programs and of what they shall do, and the compounds in its paths.
fn words_of_command(text: &str) -> Vec<&str> {
    let is_of_word = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
    let mut found = Vec::new();
    for command in text.split([';', '|', '&', '\n']) {
        let mut n_before = 0;
        for word in command.split_whitespace() {
            let is_option = word.starts_with('-');
            let value = word.split_once('=').map_or(word, |(_, value)| value);
            let value = value.trim_matches(['"', '\'']);
            let is_behind = n_before >= WORDS_OF_PROGRAM || (is_option && value.len() < word.len());
            let is_word = value.starts_with(char::is_alphabetic) && value.chars().all(is_of_word);
            let compounds = value.split(|letter: char| "/,:=.@".contains(letter));
            found.extend(compounds.filter(|it| *it != value && it.contains(['-', '_'])));
            found.extend((is_behind && is_word).then_some(value));
            // The value of an option is none of these.
            n_before += if is_option { WORDS_OF_PROGRAM } else { 1 };
        }
    }
    found
}

impl Builder<'_, '_> {
    /// Asks of what stays as it was recorded; of an ordinary number, only if it is written otherwise.
    pub(super) fn ask_of_rest(&mut self, parts: &[Part]) {
        if let [Part::Text(text)] = parts
            && let Some(value) = number(text)
            && !is_telling_value(&value)
            && !may_name(&value, &self.key, "")
        {
            self.ask_of_other_form(text, &[]);
            return;
        }
        self.ask_of_prompt_words(parts);
        self.ask_of_leftovers(parts);
    }

    /// Asks of single plain words that the user gave and that stand in a longer text, where they may be others: those that
    /// are whole values elsewhere, and in a command what its program gets.
    fn ask_of_prompt_words(&mut self, parts: &[Part]) {
        let text = without_references(parts);
        let is_held = |name: &&str| *name != text && occurrences(&text, name).next().is_some();
        let names = self.prompt.names.iter().map(String::as_str);
        let mut held: Vec<&str> = names.filter(is_held).collect();
        if self.key == "command" {
            let is_mentioned = |word: &&str| self.prompt.mentions(&(*word).into()) == Mention::Word;
            held.extend(words_of_command(&text).into_iter().filter(is_mentioned));
        }
        let held: Vec<String> = held.into_iter().map(str::to_owned).collect();
        for word in held {
            if !self.asked_of(&word) {
                self.ask_of_origin(&word, Origin::Prompt, "");
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
        let mut words = words_of(&text);
        let is_cut = words.len() > MOST_OF_TEXT;
        words.truncate(MOST_OF_TEXT);
        if is_cut && self.step > 0 {
            self.ask_everywhere(format!(
                "of a text of more than {MOST_OF_TEXT} words only the first ones were compared with earlier results: does the rest hold any of them?"
            ));
        }
        let flags = words
            .iter()
            .map(|word| is_in(&covered, &(word.start..word.end)));
        let leftover = Leftover {
            covered: flags.collect(),
            text,
            words,
        };
        let mut at = 0;
        while at < leftover.words.len() {
            let runs = self.index.longest(&leftover.words[at..]);
            let mut n_known = 0;
            let told = runs.iter().find(|run| {
                if let Origin::Arguments(_) = self.index.texts[run.text].origin {
                    n_known = run.n_words.max(n_known);
                }
                self.tells(run, at, n_known, &leftover)
            });
            let Some(run) = told else {
                at += 1;
                continue;
            };
            let words = &leftover.words[at..];
            let own = at..at + self.index.n_equal(words, run.text, run.at);
            at = own.end;
            let IndexedText { origin, path, .. } = &self.index.texts[run.text];
            let (origin, path) = (*origin, path.to_string());
            let shown = cut(leftover.shown(own), LONGEST_SHOWN);
            if !self.asked_of(&shown) {
                self.ask_of_origin(&shown, origin, &path);
            }
        }
        self.ask_of_other_form(&leftover.text, &covered);
    }

    /// Whether a run that begins at a word says something. `n_known` words from there on the agent had from itself, before
    /// the run was read.
    fn tells(&self, run: &Run, at: usize, n_known: usize, leftover: &Leftover) -> bool {
        let Leftover { text, words, .. } = leftover;
        let theirs = &self.index.texts[run.text];
        let origin = &theirs.origin;
        let is_news = match origin {
            Origin::Arguments(_) => false,
            Origin::Result(step) => *step < self.step && n_known < run.n_words,
            Origin::Prompt | Origin::Quote | Origin::Day => true,
        };
        let own = at..at + run.n_words;
        let last = &words[own.end - 1];
        let begins = |word: &Word| word.folded.starts_with(|it: char| it.is_ascii_digit());
        let is_torn = (begins(&words[at]) && goes_on(text[..words[at].start].chars().rev()))
            || (begins(last) && goes_on(text[last.end..].chars()));
        if !is_news || is_torn {
            return false;
        }
        let left: Vec<usize> = own.clone().filter(|idx| !leftover.covered[*idx]).collect();
        if left.is_empty() {
            return false;
        }
        let folded = || left.iter().map(|idx| words[*idx].folded.as_str());
        let n_letters = || folded().map(|word| word.chars().count()).sum::<usize>();
        let is_digit = |letter: char| letter.is_ascii_digit();
        let has_digit = || folded().any(|word| word.contains(is_digit));
        let is_whole = run.at == 0 && run.n_words == theirs.words.len();
        let is_name = matches!(origin, Origin::Prompt) || is_whole;
        let is_capital = |idx: &&usize| {
            let their = theirs.words[run.at + **idx - at].start;
            text[words[**idx].start..].starts_with(char::is_uppercase)
                || (is_name && theirs.text[their..].starts_with(char::is_uppercase))
        };
        let is_number = |word: &str| word.len() >= TELLING_DIGITS && word.chars().all(is_digit);
        let is_telling = || {
            left.len() >= TELLING_WORDS
                || folded().any(is_number)
                || (has_digit() && (left.len() >= 3 || n_letters() >= TELLING_LENGTH))
                || left.iter().filter(is_capital).count() >= 2
        };
        // A word of a reference stands beside it, without a space between them.
        let is_glued = || {
            own.clone().zip(own.start + 1..own.end).any(|(one, next)| {
                let between = &text[words[one].end..words[next].start];
                leftover.covered[one] != leftover.covered[next]
                    && !between.contains(char::is_whitespace)
            })
        };
        let shown = leftover.shown(own.clone());
        let has_space = shown.contains(char::is_whitespace);
        // A whole value as it is, or with other signs than spaces between its words.
        let is_value = || {
            let value = Value::from(shown);
            let may_be = shown.len() >= SHORTEST_VALUE
                && (number(shown).is_some() || is_telling_value(&value));
            let is_slug = run.n_words > 1 && n_letters() >= SHORTEST_SLUG && !has_space;
            is_whole && (is_slug || (may_be && theirs.text == shown))
        };
        // What was read in lines may be written back: it would replace what stands there then.
        let is_line = || {
            let count = line_of(text, &words[at..]);
            let theirs = line_of(&theirs.text, &theirs.words[run.at..]);
            count == theirs && (WORDS_OF_LINE..=run.n_words).contains(&count) && text.contains('\n')
        };
        let is_unsaid = || self.prompt.mentions(&shown.into()) == Mention::None;
        match origin {
            Origin::Quote => is_whole && n_letters() >= TELLING_LENGTH,
            Origin::Prompt => is_telling(),
            Origin::Day => is_whole,
            Origin::Result(_) => {
                is_telling() || is_glued() || is_line() || (is_value() && is_unsaid())
            }
            Origin::Arguments(_) => false,
        }
    }

    /// Asks of a text all of whose words stand in an earlier result that `fits` and that the agent did not have from itself
    /// before, and says whether there is one.
    fn ask_of_read(&mut self, text: &str, fits: impl Fn(usize, &IndexedText) -> bool) -> bool {
        let all = self.index.having(text);
        let found = all
            .take_while(|theirs| !matches!(theirs.origin, Origin::Arguments(_)))
            .find(|theirs| match theirs.origin {
                Origin::Result(step) => fits(step, theirs),
                _ => false,
            })
            .map(|theirs| (theirs.origin, theirs.path.to_string()));
        if let Some((origin, path)) = &found {
            self.ask_of_origin(&cut(text, LONGEST_SHOWN), *origin, path);
        }
        found.is_some()
    }

    /// Asks of a value that a prompt behind so many calls has, if the result of one of them has it somewhere.
    pub(super) fn ask_of_repeated(&mut self, value: &Value, n_calls: usize) {
        let calls = self.calls;
        self.ask_of_read(&as_text(value), |step, _| calls[step].number <= n_calls);
    }

    /// Asks of a text that stands inside of a longer one of an earlier result, and says whether it does.
    pub(super) fn ask_of_inside(&mut self, text: &str) -> bool {
        let may_be = |(_, word): (usize, &str)| {
            let has_digit = word.contains(|letter: char| letter.is_ascii_digit());
            has_digit || weight_of_text(word) == Weight::Strong
        };
        let own = self.step;
        fragments_of(text).any(may_be)
            && self.ask_of_read(text, |step, theirs| {
                let is_inside = || occurrences(&theirs.text, text).next().is_some();
                step < own && theirs.text != text && is_inside()
            })
    }

    /// Asks of the first number or hash in a text, outside of what is `covered`, that was read before in another form.
    fn ask_of_other_form(&mut self, text: &str, covered: &[Range<usize>]) {
        let found = forms_of(text)
            .take(MOST_OF_TEXT)
            .filter(|(range, _)| !is_in(covered, range) && !self.asked_of(&text[range.clone()]))
            .find_map(|(range, spellings)| {
                let written = &text[range];
                let mut spellings = spellings.iter();
                let (theirs, other) =
                    spellings.find_map(|it| self.index.in_another_form(it, written))?;
                Some((written, theirs.origin, other.to_owned()))
            });
        let Some((written, origin, other)) = found else {
            return;
        };
        let (key, shown) = (&self.key, cut(&other, LONGEST_SHOWN));
        let (id, name, end) = self.told(origin);
        let question = format!(
            "`{key}` has `{written}`, and {name} has `{shown}`: is it {end}, in another form?"
        );
        self.ask_about([&other, &id, ""], question);
    }

    /// Asks of a value that the parameter holds, and something before it at a path.
    fn ask_of_origin(&mut self, value: &str, origin: Origin, path: &str) {
        let (id, name, end) = self.told(origin);
        let rest = match origin {
            Origin::Day => format!("{name}: is it {end}?"),
            _ => format!("and so does {name}: is it {end}?"),
        };
        let place = match origin {
            Origin::Result(_) if path != "$" => format!(" (`{path}`)"),
            _ => String::new(),
        };
        self.ask_of_held(value, &id, &place, &rest);
    }

    /// What an origin is to questions, what they call it, and what a value is that comes from it.
    fn told(&self, origin: Origin) -> (String, String, &'static str) {
        let (id, name) = match origin {
            Origin::Result(step) => {
                let id = self.ids[step].clone();
                let name = format!("the result of `{id}`");
                return (id, name, "copied from there");
            }
            Origin::Day => ("the day", "the day of the recording"),
            _ => ("the prompt", "the prompt"),
        };
        (id.to_owned(), name.to_owned(), "a variable")
    }
}
