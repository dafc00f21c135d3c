//! What was copied or given inside of longer texts.

use cuecard_source::value::{REDACTED, as_text, cut};
use serde_json::Value;

use super::build::Builder;
use super::differences::{Difference, Piece, holds, pieces};
use super::parts::Part;
use super::prompt::{Mention, occurrences};
use super::values::{Weight, integer, weight, words};

/// The longest text in which values are sought, in bytes.
const LONGEST_TEXT: usize = 20_000;

/// A text with at most so many words around what differs is one value.
const MOST_AROUND: usize = 3;

/// Parameters that hold a program: a value in it is quoted in ways that are not looked into.
const SCRIPTS: &[&str] = &["function", "expression", "script", "code"];

/// A shorter text of the prompt may stand inside of any word, in characters.
const SHORTEST_INSIDE: usize = 4;

impl Builder<'_, '_> {
    /// The parts of a text.
    pub(super) fn text(&mut self, text: &str, other: Option<&str>) -> Vec<Part> {
        let is_opaque = text.len() > LONGEST_TEXT || SCRIPTS.contains(&self.key.as_str());
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
            _ if is_opaque => vec![Part::Text(text.to_owned())],
            Some(other) if differs && !holds_secret => self.different(text, other),
            // A part of it alone is no copy.
            _ if !holds_secret && self.is_inside_result(text) => vec![Part::Text(text.to_owned())],
            _ => self.fragments(text, other.filter(|other| *other == text)),
        }
    }

    /// The parts of a text that is another one in the second recording: known values, or the one piece that differs.
    fn different(&mut self, text: &str, other: &str) -> Vec<Part> {
        let (value, texts) = (Value::from(text), [text.to_owned(), other.to_owned()]);
        let pieces = pieces(&self.known, self.step, &texts);
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
            return vec![self.reference_to([&value, &other.into()])];
        }
        let mut parts = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Same(text) => parts.extend(self.fragments(&text, Some(&text))),
                Piece::Known(idx) => {
                    let Difference { values, key, .. } = self.known[idx].clone();
                    let own = self.key.clone();
                    if !key.is_empty() {
                        self.key = key;
                    }
                    let [one, another] = &values;
                    match (self.copy(one, Some(another)), one, another) {
                        (None, Value::String(one), Value::String(another)) => {
                            parts.extend(self.different(one, another));
                        }
                        _ => parts.push(self.reference_to([one, another])),
                    }
                    self.key = own;
                }
                Piece::Middle([old, new]) => {
                    let part = self.reference_to([&old.as_str().into(), &new.as_str().into()]);
                    if let Part::Variable(name, _) = &part {
                        let (key, shown) = (&self.key, cut(&old, 60).into_owned());
                        self.ask(format!(
                            "in `{key}`, `{shown}` differs between the recordings: is all that may differ in `{name}`?"
                        ));
                    }
                    parts.push(part);
                }
            }
        }
        parts
    }

    /// The reference to a value that differs between the recordings: an output, or a variable.
    fn reference_to(&mut self, [old, new]: [&Value; 2]) -> Part {
        let numbers = old
            .as_str()
            .and_then(integer)
            .zip(new.as_str().and_then(integer));
        for (old, new) in numbers.into_iter().chain([(old.clone(), new.clone())]) {
            if let Some(source) = self.copy(&old, Some(&new)) {
                let text = as_text(&old).into_owned();
                return Part::Output(self.output(source), text);
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
        let mut secrets = self.redactor.secrets().to_vec();
        secrets.push(REDACTED.to_owned());
        secrets.sort_by_key(String::len);
        let mut candidates: Vec<(usize, Value, Kind)> = Vec::new();
        for secret in &secrets {
            let places = occurrences(text, secret);
            candidates.extend(places.map(|at| (at, Value::from(secret.as_str()), Kind::Secret)));
        }
        for literal in &self.prompt.literals {
            let places = occurrences(text, literal);
            candidates.extend(places.map(|at| (at, Value::from(literal.as_str()), Kind::Given)));
        }
        let literals = self.prompt.literals.iter();
        let is_torn = |literal: &&String| {
            literal.chars().count() >= SHORTEST_INSIDE
                && text.matches(literal.as_str()).count() > occurrences(text, literal).count()
        };
        let torn: Vec<String> = literals.filter(is_torn).cloned().collect();
        for literal in torn {
            let (key, shown) = (&self.key, cut(&literal, 60).into_owned());
            self.ask(format!(
                "in `{key}`, `{shown}` of the prompt stands inside a longer word: may it differ there too?"
            ));
        }
        let phrases = self.index.phrases_in(text).into_iter();
        candidates.extend(phrases.map(|(at, phrase)| (at, Value::from(phrase), Kind::Copied)));
        for (at, word) in fragments_of(text) {
            let values = integer(word).into_iter().chain([Value::from(word)]);
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
                Kind::Given => None,
                Kind::Copied if weight(&value) < Weight::Strong => {
                    self.ask_of_number(&value, text);
                    None
                }
                Kind::Copied => self.copy(&value, again),
            };
            found.extend(match (source, kind) {
                (Some(source), _) => Some((at, end, Part::Output(self.output(source), part))),
                (None, Kind::Secret) => {
                    Some((at, end, Part::Variable(self.secret(&value), String::new())))
                }
                (None, Kind::Given) => {
                    Some((at, end, Part::Variable(self.variable(&value, again), part)))
                }
                (None, Kind::Copied) => {
                    let is_news = self.prompt.mentions(&value) == Mention::None;
                    if is_news && weight(&value) == Weight::Strong {
                        self.is_inside_result(&part);
                    }
                    None
                }
            });
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

/// The words of a text, and the parts of those that are paths and addresses.
fn fragments_of(text: &str) -> Vec<(usize, &str)> {
    let mut fragments = Vec::new();
    for (at, word) in words(text) {
        fragments.push((at, word));
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
    }
    fragments
}
