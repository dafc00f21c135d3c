//! What was copied or given inside of longer texts.

use cuecard_source::matching::equal_ranges;
use cuecard_source::value::REDACTED;
use serde_json::Value;

use super::build::Builder;
use super::parts::Part;
use super::prompt::{Mention, occurrences};
use super::values::{Weight, weight, words};

/// Two texts with more differences have nothing to do with each other.
const MOST_DIFFERENCES: usize = 4;

/// The longest text in which values are sought, in bytes.
const LONGEST_TEXT: usize = 20_000;

/// Parameters that hold a program: a value in it is quoted in ways that are not looked into.
const SCRIPTS: &[&str] = &["function", "expression", "script", "code"];

impl Builder<'_, '_> {
    /// The parts of a text.
    pub(super) fn text(&mut self, text: &str, other: Option<&str>) -> Vec<Part> {
        let is_script = SCRIPTS.contains(&self.key.as_str());
        let differs = other.is_some_and(|other| other != text);
        if text.len() > LONGEST_TEXT || (is_script && !differs) {
            return vec![Part::Text(text.to_owned())];
        }
        let holds_secret = self.redactor.finds(text);
        match other.filter(|_| differs && !holds_secret) {
            Some(_) if is_script => {
                let key = &self.key;
                self.ask(format!(
                    "`{key}` differs between the recordings: what in it is a variable?"
                ));
                vec![Part::Text(text.to_owned())]
            }
            Some(other) => self.different(text, other, false),
            None => self.fragments(text, other.filter(|_| !differs)),
        }
    }

    /// The parts of a text that is another one in the second recording. One that `is_part` stands in the same place.
    fn different(&mut self, text: &str, other: &str, is_part: bool) -> Vec<Part> {
        match self.around_given(text, other) {
            Some(parts) => parts,
            None => self.difference(text, other, is_part),
        }
    }

    /// The parts of a text that holds a whole argument in both recordings, each its own, with as much around it.
    fn around_given(&mut self, text: &str, other: &str) -> Option<Vec<Part>> {
        let around = |text: &str, part: &str| -> Vec<String> {
            let mut at = 0;
            let mut pieces = Vec::new();
            for start in occurrences(text, part) {
                if start >= at {
                    pieces.push(text[at..start].to_owned());
                    at = start + part.len();
                }
            }
            pieces.push(text[at..].to_owned());
            pieces
        };
        let (given, pieces) = self.given.iter().find_map(|given| {
            let [one, another] = &given.texts;
            let is_part = one != text && another != other;
            let pieces = [around(text, one), around(other, another)];
            let [ones, others] = &pieces;
            let is_piece = |(one, other): (&String, &String)| {
                one == other || !(one.trim().is_empty() || other.trim().is_empty())
            };
            let is_around = ones.len() > 1
                && ones.len() == others.len()
                && ones.iter().zip(others).all(is_piece);
            (is_part && is_around).then_some((given, pieces))
        })?;
        let ([old, new], key) = (given.texts.clone(), given.key.clone());
        let [ones, others] = pieces;
        let mut parts = Vec::new();
        for (idx, (one, another)) in ones.iter().zip(&others).enumerate() {
            if idx > 0 {
                let own = std::mem::replace(&mut self.key, key.clone());
                parts.push(self.middle(&old, &new));
                self.key = own;
            }
            match one == another {
                true => parts.extend(self.fragments(one, Some(another))),
                false => parts.extend(self.different(one, another, true)),
            }
        }
        Some(parts)
    }

    /// The parts of a text by its words.
    fn difference(&mut self, text: &str, other: &str, is_part: bool) -> Vec<Part> {
        let (ones, others) = (tokens(text), tokens(other));
        let hash = |tokens: &[&str]| -> Vec<u64> {
            use std::hash::{DefaultHasher, Hash as _, Hasher as _};
            let hash = |token: &&str| {
                let mut hasher = DefaultHasher::new();
                token.hash(&mut hasher);
                hasher.finish()
            };
            tokens.iter().map(hash).collect()
        };
        let equal = equal_ranges(&hash(&ones), &hash(&others));
        // What differs, each with the same text behind it.
        let mut pieces = Vec::new();
        let mut at = (0, 0);
        let ends = (ones.len()..ones.len(), others.len()..others.len());
        for (some, those) in equal.into_iter().chain([ends]) {
            let old = ones[at.0..some.start].concat();
            let new = others[at.1..those.start].concat();
            pieces.push((old, new, ones[some.clone()].concat()));
            at = (some.end, those.end);
        }
        let differences = pieces.iter().filter(|(old, new, _)| old != new);
        let is_odd = |(old, new, _): &(String, String, String)| {
            old != new && (old.trim().is_empty() || new.trim().is_empty())
        };
        let has_word = is_part
            || pieces
                .iter()
                .any(|(_, _, same)| same.contains(char::is_alphanumeric));
        if !has_word || differences.count() > MOST_DIFFERENCES || pieces.iter().any(is_odd) {
            let name = self.variable(&text.into(), Some(&other.into()));
            return vec![Part::Variable(name)];
        }
        let mut parts = Vec::new();
        for (old, new, same) in pieces {
            if old != new {
                parts.push(self.middle(&old, &new));
            }
            parts.extend(self.fragments(&same, Some(&same)));
        }
        parts
    }

    /// A part of a text that differs between the recordings.
    fn middle(&mut self, old: &str, new: &str) -> Part {
        let number = |text: &str| {
            text.parse::<i64>()
                .ok()
                .filter(|number| number.to_string() == text)
        };
        let mut pairs = vec![(Value::from(old), Value::from(new))];
        if let (Some(old), Some(new)) = (number(old), number(new)) {
            pairs.insert(0, (old.into(), new.into()));
        }
        for (old_value, new_value) in &pairs {
            if let Some(source) = self.copy(old_value, Some(new_value)) {
                return Part::Output(self.output(source), old.to_owned());
            }
        }
        Part::Variable(self.variable(&old.into(), Some(&new.into())))
    }

    /// The parts of a text that is the same in both recordings, or known from one: what is surely copied stands in it.
    fn fragments(&mut self, text: &str, other: Option<&str>) -> Vec<Part> {
        let mut found: Vec<(usize, usize, Part)> = Vec::new();
        let is_free = |found: &[(usize, usize, Part)], at: usize, end: usize| {
            found
                .iter()
                .all(|(start, until, _)| end <= *start || at >= *until)
        };
        let mut secrets = self.redactor.secrets().to_vec();
        secrets.push(REDACTED.to_owned());
        secrets.sort_by_key(String::len);
        for secret in &secrets {
            for at in occurrences(text, secret) {
                if is_free(&found, at, at + secret.len()) {
                    let value = Value::from(secret.as_str());
                    let part = match self.copy(&value, None) {
                        Some(source) => Part::Output(self.output(source), secret.clone()),
                        None => Part::Variable(self.secret(&value)),
                    };
                    found.push((at, at + secret.len(), part));
                }
            }
        }
        for literal in self.prompt.literals.clone() {
            for at in occurrences(text, &literal).collect::<Vec<_>>() {
                if is_free(&found, at, at + literal.len()) {
                    let value = Value::from(literal.as_str());
                    let name = self.variable(&value, other.map(|_| &value));
                    found.push((at, at + literal.len(), Part::Variable(name)));
                }
            }
        }
        for (at, phrase) in self.index.phrases_in(text) {
            let (end, value) = (at + phrase.len(), Value::from(phrase.as_str()));
            if !is_free(&found, at, end) {
                continue;
            }
            if let Some(source) = self.copy(&value, other.map(|_| &value)) {
                found.push((at, end, Part::Output(self.output(source), phrase)));
            }
        }
        for (at, word) in fragments_of(text) {
            if !is_free(&found, at, at + word.len()) {
                continue;
            }
            let number = word
                .parse::<i64>()
                .ok()
                .filter(|number| number.to_string() == word);
            for value in number
                .map(Value::from)
                .into_iter()
                .chain([Value::from(word)])
            {
                if !is_free(&found, at, at + word.len()) {
                    continue;
                }
                if weight(&value) < Weight::Strong {
                    self.ask_of_number(&value, text);
                    continue;
                }
                let again = other.map(|_| &value);
                if let Some(source) = self.copy(&value, again) {
                    let part = Part::Output(self.output(source), word.to_owned());
                    found.push((at, at + word.len(), part));
                }
            }
        }
        found.sort_by_key(|(at, _, _)| *at);
        let (mut parts, mut done) = (Vec::new(), 0);
        for (at, end, part) in found {
            if at > done {
                parts.push(Part::Text(text[done..at].to_owned()));
            }
            parts.push(part);
            done = end;
        }
        if done < text.len() {
            parts.push(Part::Text(text[done..].to_owned()));
        }
        parts
    }

    /// A number of three or four digits inside a text may be copied, or stand in a result by coincidence.
    fn ask_of_number(&mut self, value: &Value, text: &str) {
        let length = value.to_string().len();
        let is_short = !value.is_number() || length < 3 || length == text.len();
        if is_short || self.prompt.mentions(value) != Mention::None {
            return;
        }
        if let Some((path, id)) = self.stood_in(value) {
            let key = &self.key;
            self.ask(format!(
                "`{key}` holds `{value}`, as `{path}` of `{id}` was: is it copied from there?"
            ));
        }
    }
}

/// Words and what stands between them.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, letter) in text.char_indices() {
        if at > 0 && !(is_word(letter) && last == Some(true)) {
            tokens.push(&text[start..at]);
            start = at;
        }
        last = Some(is_word(letter));
    }
    tokens.push(&text[start..]);
    tokens
}

/// The words of a text, and the parts of those that are paths and addresses.
fn fragments_of(text: &str) -> Vec<(usize, &str)> {
    let mut fragments = Vec::new();
    for (at, word) in words(text) {
        fragments.push((at, word));
        let mut start = at;
        for part in word.split_inclusive(['/', '?', '&', ':', '@']) {
            let inner = part.trim_end_matches(['/', '?', '&', ':', '@']);
            if inner != word && !inner.is_empty() {
                fragments.push((start, inner));
            }
            start += part.len();
        }
    }
    fragments
}
