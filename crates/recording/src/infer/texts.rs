//! What was copied or given inside of longer texts.

use std::cmp::Reverse;

use cuecard_source::value::{as_text, cut};
use serde_json::Value;

use super::build::Builder;
use super::differences::{Difference, Piece, holds, pieces, relation};
use super::parts::Part;
use super::prompt::{Mention, occurrences};
use super::secrets::places_of;
use super::spellings::Index;
use super::values::{Weight, number, weight, weight_of_text, words};

/// The longest text in which values are sought, in bytes.
const LONGEST_TEXT: usize = 20_000;

/// A text with at most so many words around what differs is one value.
const MOST_AROUND: usize = 3;

/// Parameters that hold a program: a value in it is quoted in ways that are not looked into.
const SCRIPTS: &[&str] = &["function", "expression", "script", "code"];

/// A longer word is no address, in bytes.
const LONGEST_ADDRESS: usize = 2_000;

impl Builder<'_, '_> {
    /// The parts of a text, with a question if one seems to be missing.
    pub(super) fn text(&mut self, text: &str, other: Option<&str>) -> Vec<Part> {
        let parts = self.parts(text, other);
        // What is the same in two recordings is no copy.
        if other.is_none() {
            self.ask_of_rest(&parts);
        }
        parts
    }

    fn parts(&mut self, text: &str, other: Option<&str>) -> Vec<Part> {
        let is_opaque = self.is_opaque(text);
        let holds_secret = self.redactor.finds(text);
        let differs =
            other.is_some_and(|other| self.redactor.text(other) != self.redactor.text(text));
        if differs && (is_opaque || holds_secret) {
            let key = &self.key;
            self.ask(format!(
                "`{key}` differs between the recordings: what in it is a variable?"
            ));
        }
        match other {
            Some(other) if differs && !holds_secret && !is_opaque => self.different(text, other),
            // A part of it alone is no copy.
            None if !is_opaque
                && !self.masker.finds(text)
                && !holds_secret
                && !self.holds_whole(text)
                && self.ask_of_inside(text) =>
            {
                vec![Part::Text(text.to_owned())]
            }
            _ => self.fragments(text, other.filter(|other| *other == text)),
        }
    }

    /// Whether only secrets are sought in a text.
    fn is_opaque(&self, text: &str) -> bool {
        text.len() > LONGEST_TEXT || SCRIPTS.contains(&self.key.as_str())
    }

    /// The parts of a text that is another one in the second recording: known values, or the one piece that differs.
    fn different(&mut self, text: &str, other: &str) -> Vec<Part> {
        if let Some(words) = word_by_word(self.key == "command", text, other) {
            let mut parts = Vec::new();
            for [one, another] in words {
                match one == another {
                    true => parts.extend(self.fragments(one, Some(one))),
                    false => parts.extend(self.different_words(one, another, true)),
                }
            }
            return joined(parts);
        }
        self.different_words(text, other, false)
    }

    /// The same of a text without quotes. A part of a longer text may be a known value as a whole.
    fn different_words(&mut self, text: &str, other: &str, is_part: bool) -> Vec<Part> {
        let (value, texts) = (Value::from(text), [text.to_owned(), other.to_owned()]);
        let known = self.known_in(&texts, is_part);
        let pieces = pieces(&known, &texts);
        let is_known = pieces.iter().any(|piece| matches!(piece, Piece::Known(_)));
        let n_around = pieces.iter().map(|piece| match piece {
            Piece::Same(text) => words(text).count(),
            _ => 0,
        });
        let is_short = n_around.sum::<usize>() <= MOST_AROUND && self.key != "command";
        let is_inside = |known: &Difference| known.texts != texts && holds(&known.texts, &texts);
        let is_value =
            || self.prompt.mentions(&value) == Mention::Literal || self.known.iter().any(is_inside);
        if !is_known && (is_short || is_value()) {
            return vec![self.reference_to(text, [&value, &other.into()])];
        }
        let mut parts = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Same(text) => parts.extend(self.fragments(&text, Some(&text))),
                Piece::Known(idx) => {
                    let Difference { values, key, .. } = known[idx].clone();
                    let own = self.key.clone();
                    if !key.is_empty() {
                        self.key = key;
                    }
                    let [one, another] = &values;
                    match (self.copy(one, Some(another)), one, another) {
                        (None, Value::String(one), Value::String(another)) => {
                            parts.extend(self.different_words(one, another, false));
                        }
                        _ => parts.push(self.reference_to(text, [one, another])),
                    }
                    self.key = own;
                }
                Piece::Middle([old, new]) => {
                    let part =
                        self.reference_to(text, [&old.as_str().into(), &new.as_str().into()]);
                    if let Part::Variable(name, _) = &part {
                        let (key, shown) = (&self.key, cut(&old, 60).into_owned());
                        let text = format!(
                            "in `{key}`, `{shown}` differs between the recordings: is all that may differ in `{name}`?"
                        );
                        self.ask_about([&shown, name, ""], text);
                    }
                    parts.push(part);
                }
            }
        }
        parts
    }

    /// The reference to a value in a text that differs between the recordings: an output, or a variable.
    fn reference_to(&mut self, text: &str, [old, new]: [&Value; 2]) -> Part {
        let numbers = old
            .as_str()
            .and_then(number)
            .zip(new.as_str().and_then(number));
        for (old, new) in numbers.into_iter().chain([(old.clone(), new.clone())]) {
            let part = as_text(&old).into_owned();
            let source = self.copy(&old, Some(&new)).filter(|_| {
                let at = text.find(&part);
                at.is_none_or(|at| !is_beside_digits(text, (at, &part)))
            });
            if let Some(source) = source {
                return Part::Output(self.output(source), part);
            }
        }
        let text = as_text(old).into_owned();
        Part::Variable(self.variable(old, Some(new)), text)
    }

    /// The parts of a text that is the same in both recordings, or known from one: what is surely copied stands in it.
    fn fragments(&mut self, text: &str, other: Option<&str>) -> Vec<Part> {
        enum Kind {
            Secret,
            Given,
            Copied,
        }
        let mut secrets = [self.redactor.secrets(), self.masker.secrets()].concat();
        secrets.sort_by_key(String::len);
        let mut candidates: Vec<(usize, Value, Kind)> = Vec::new();
        for secret in &secrets {
            let places = places_of(text, secret);
            candidates.extend(places.map(|at| (at, Value::from(secret.as_str()), Kind::Secret)));
        }
        let sought = if self.is_opaque(text) { "" } else { text };
        for literal in &self.prompt.literals {
            let text = as_text(literal);
            let places = occurrences(sought, &text);
            candidates.extend(places.map(|at| (at, literal.clone(), Kind::Given)));
        }
        let phrases = self.index.phrases_in(sought).into_iter();
        candidates.extend(phrases.map(|(at, phrase)| (at, Value::from(phrase), Kind::Copied)));
        for (at, word) in fragments_of(sought) {
            // Of the whole text it was looked at before, whatever its form is.
            let number = number(word).filter(|_| word != text);
            let values = number.into_iter().chain([Value::from(word)]);
            candidates.extend(values.map(|value| (at, value, Kind::Copied)));
        }
        let mut found: Vec<(usize, usize, Part)> = Vec::new();
        for (at, value, kind) in candidates {
            let part = as_text(&value).into_owned();
            let end = at + part.len();
            if found
                .iter()
                .any(|(start, until, _)| end > *start && at < *until)
            {
                continue;
            }
            let again = other.map(|_| &value);
            let source = match kind {
                Kind::Secret => self.copy(&value, None),
                Kind::Given => self.copy(&value, again),
                Kind::Copied if weight(&value) < Weight::Strong => None,
                Kind::Copied => {
                    let source = self.copy(&value, again);
                    source.filter(|_| !is_beside_digits(text, (at, &part)))
                }
            };
            found.extend(match (source, kind) {
                (Some(source), _) => Some((at, end, Part::Output(self.output(source), part))),
                (None, Kind::Secret) => {
                    Some((at, end, Part::Variable(self.secret(&value), String::new())))
                }
                (None, Kind::Given) => {
                    Some((at, end, Part::Variable(self.variable(&value, again), part)))
                }
                (None, Kind::Copied) => None,
            });
        }
        found.sort_by_key(|(at, _, _)| *at);
        let (mut parts, mut done) = (Vec::new(), 0);
        for (at, end, part) in found {
            parts.extend([Part::Text(text[done..at].to_owned()), part]);
            done = end;
        }
        parts.push(Part::Text(text[done..].to_owned()));
        parts.retain(|part| *part != Part::Text(String::new()));
        parts
    }

    /// Asks of a variable's value that an earlier result holds in both recordings, or of which it holds a part.
    pub(super) fn ask_of_results(&mut self, texts: &[String; 2]) {
        let mut earlier = self
            .known
            .iter()
            .filter(|known| (1..=self.step).contains(&known.from_step));
        let known =
            earlier.find(|known| holds(&known.texts, texts) || relation(&known.texts, texts) > 0);
        let from_step = known.map(|known| known.from_step - 1);
        // Elsewhere in the two results, or as a key of one.
        let is_read = |(index, text): (&Index, &String)| {
            let words = fragments_of(text).map(|(_, word)| word);
            words.chain([text.as_str()]).find_map(|word| {
                let is_telling = weight_of_text(word) >= Weight::Middling;
                is_telling.then(|| index.read(word, self.step)).flatten()
            })
        };
        let moved =
            || is_read((&self.second_index, &texts[1])).and(is_read((&self.index, &texts[0])));
        if let Some(step) = from_step.or_else(moved) {
            let id = self.ids[step].clone();
            let (key, shown) = (&self.key, cut(&texts[0], 60));
            let text = format!(
                "`{key}` has `{shown}`, and the result of `{id}` has it or a part of it, in both recordings: is it copied from there?"
            );
            self.ask_about([&shown, &id, ""], text);
        }
    }

    /// What is known to differ in a text, the longest first: whole values, and words of the texts of results.
    fn known_in(&self, texts: &[String; 2], is_part: bool) -> Vec<Difference> {
        let is_inside =
            |known: &Difference| (is_part || known.texts != *texts) && holds(texts, &known.texts);
        let whole = self.known.iter();
        let whole = whole.filter(|known| known.from_step <= self.step && is_inside(known));
        let mut known: Vec<Difference> = whole.cloned().collect();
        let fragments = fragments_of(&texts[0]);
        let differing = fragments.filter(|(_, word)| occurrences(&texts[1], word).next().is_none());
        for (at, word) in differing {
            let value = Value::from(word);
            let sources = self.index.sources(&value, (self.step, false));
            let differences = sources.iter().filter_map(|source| {
                let other = source.value(&self.partner(source.step)?.value)?;
                let difference = Difference::new("", [&value, &other], source.step + 1);
                let is_whole = !is_beside_digits(&texts[0], (at, word));
                (is_whole && is_inside(&difference)).then_some(difference)
            });
            known.extend(differences.take(1));
        }
        known.sort_by_key(|known| (Reverse(known.texts[0].len()), known.from_step));
        known
    }

    /// Whether a text has a word that surely is a copy: a whole value of a result.
    fn holds_whole(&self, text: &str) -> bool {
        fragments_of(text).any(|(_, word)| {
            let value = Value::from(word);
            let is_strong = word != text && weight(&value) == Weight::Strong;
            is_strong && {
                let sources = self.index.sources(&value, (self.step, false));
                sources.iter().any(|source| source.regex.is_none())
            }
        })
    }
}

/// Whether a word may be a part of a value of several, as in `+43 660 123456`: a word with digits stands beside its own.
fn is_beside_digits(text: &str, (at, word): (usize, &str)) -> bool {
    let is_between = |letter: char| !letter.is_alphanumeric();
    let is_digit = |letter: char| letter.is_ascii_digit();
    let before = text[..at]
        .strip_suffix(' ')
        .filter(|_| word.starts_with(is_digit));
    let after = text[at + word.len()..]
        .strip_prefix(' ')
        .filter(|_| word.ends_with(is_digit));
    let beside = [
        before.and_then(|before| before.rsplit(is_between).next()),
        after.and_then(|after| after.split(is_between).next()),
    ];
    beside
        .into_iter()
        .flatten()
        .any(|word| word.contains(is_digit))
}

/// What stands in quotes and between them, of a command also its words, if two texts are the same but for these.
pub(super) fn word_by_word<'t>(
    is_command: bool,
    one: &'t str,
    other: &'t str,
) -> Option<Vec<[&'t str; 2]>> {
    let cut = |text: &'t str| {
        let (mut words, mut start, mut open) = (Vec::new(), 0, None);
        let mut before = ' ';
        for (at, letter) in text.char_indices() {
            let is_mark = match open {
                Some(quote) => letter == quote,
                None => letter == '"' || (is_command && (letter.is_whitespace() || letter == '\'')),
            };
            if is_mark && before != '\\' {
                words.extend([&text[start..at], &text[at..at + letter.len_utf8()]]);
                start = at + letter.len_utf8();
                if !letter.is_whitespace() {
                    open = if open.is_none() { Some(letter) } else { None };
                }
            }
            before = letter;
        }
        words.push(&text[start..]);
        (open.is_none() && words.len() > 1).then_some(words)
    };
    let (ones, others) = (cut(one)?, cut(other)?);
    let pairs: Vec<[&str; 2]> = std::iter::zip(&ones, &others)
        .map(|(one, other)| [*one, *other])
        .collect();
    let is_even = ones.len() == others.len()
        && pairs
            .iter()
            .all(|[one, other]| one.is_empty() == other.is_empty())
        && pairs
            .iter()
            .skip(1)
            .step_by(2)
            .all(|[one, other]| one == other);
    is_even.then_some(pairs)
}

/// The parts with no text beside another one.
fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    for part in parts {
        match (all.last_mut(), part) {
            (Some(Part::Text(last)), Part::Text(text)) => last.push_str(&text),
            (_, part) => all.push(part),
        }
    }
    all
}

/// The words of a text, and the parts of those that are paths and addresses.
pub(super) fn fragments_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    words(text).flat_map(|(at, word)| parts_of(at, word))
}

/// A word, and its parts if it is a path or an address.
fn parts_of(at: usize, word: &str) -> Vec<(usize, &str)> {
    let mut fragments = vec![(at, word)];
    if word.len() > LONGEST_ADDRESS {
        return fragments;
    }
    if let Some(version) = word.strip_prefix('v')
        && version.starts_with(|letter: char| letter.is_ascii_digit())
    {
        fragments.push((at + 1, version));
    }
    // What a path is below: `/tmp/tmp.a1B2` of `/tmp/tmp.a1B2/notes.txt`.
    let folders = word.rmatch_indices('/').map(|(end, _)| &word[..end]);
    fragments.extend(folders.filter(|it| it.contains('/')).map(|it| (at, it)));
    let mut start = at;
    for part in word.split_inclusive(['/', '?', '&', ':', '@']) {
        let inner = part.trim_end_matches(['/', '?', '&', ':', '@']);
        if inner != word && !inner.is_empty() {
            fragments.push((start, inner));
        }
        start += part.len();
    }
    fragments
}
