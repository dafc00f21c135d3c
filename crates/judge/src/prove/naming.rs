//! Which fields name records, and which names stand in a text.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::facts::{Fact, Said, Word, read};
use super::keys::{is_naming, is_weak_name, key_text};
use super::names::Names;
use super::order::lacking;
use super::sources::{Field, FieldKind, Record, Sources, stems};
use super::text::{fold, pattern, plain};

impl Sources {
    /// Whether the key of a field says that it names its record; the city does only where no name stands.
    pub(super) fn has_naming_key(&self, record: usize, field: &Field) -> bool {
        pattern!(NAME, r"(?i)(?:^|_)(?:name|title)$");
        let has_letter = |text: &str| text.contains(char::is_alphabetic);
        let others = || {
            let fields = &self.records[record].fields;
            let first = fields.first().filter(|first| !is_weak_name(&first.key));
            first.is_some_and(|first| first.kind == FieldKind::Text && has_letter(&first.value))
                || fields.iter().any(|other| NAME.is_match(&other.key))
        };
        is_naming(&field.key) && (!is_weak_name(&field.key) || !others())
    }

    /// Whether a field names its record: its key says so, or it is the first and a text.
    pub(super) fn names_record(&self, record: usize, field: &Field) -> bool {
        let is_first = || {
            let first = self.records[record].fields.first();
            first.is_some_and(|first| first.key == field.key)
        };
        self.has_naming_key(record, field)
            || (field.kind == FieldKind::Text
                && is_first()
                && field
                    .value
                    .contains(|letter: char| letter.is_ascii_alphabetic()))
    }

    pub(super) fn naming_values(&self) -> Names {
        let mut names = Names::default();
        for (idx, record) in self.records.iter().enumerate() {
            for field in &record.fields {
                let is_one = field.kind == FieldKind::Text
                    && field.value.chars().count() > 1
                    && !field.value.bytes().all(|byte| byte.is_ascii_digit())
                    && self.names_record(idx, field);
                if is_one {
                    names.insert(field.value.clone());
                }
            }
        }
        names
    }

    /// What in a text names a record, as it stands there.
    pub(super) fn namings(&self, text: &str) -> Vec<&str> {
        self.names.in_text(&plain(text))
    }

    /// Whether a text is what names a record.
    pub(super) fn is_name(&self, text: &str) -> bool {
        let text = plain(text);
        self.names.in_text(&text).contains(&text.as_str())
    }

    /// What tools were called with and what titles say, as far as it stands in a text.
    pub(super) fn titles_in(&self, text: &str) -> Vec<&str> {
        self.titles.in_text(&plain(text))
    }

    /// The latest records that one of these names names: by the first of their fields that may, else by any.
    pub(super) fn named(&self, names: &[&str]) -> BTreeSet<usize> {
        let records = self.records.iter().enumerate();
        let own = records.filter(|(_, record)| !record.is_stale);
        let own = own.map(|(idx, record)| {
            let fields = record
                .fields
                .iter()
                .filter(|field| field.kind == FieldKind::Text && self.names_record(idx, field));
            let values = fields.map(|field| field.value.as_str());
            (idx, values.collect::<Vec<&str>>())
        });
        let own: Vec<(usize, Vec<&str>)> = own.collect();
        let named = names.iter().flat_map(|name| {
            let of = |n_fields: usize| {
                let is_it =
                    |own: &&(usize, Vec<&str>)| own.1.iter().take(n_fields).any(|it| it == name);
                own.iter()
                    .filter(is_it)
                    .map(|own| own.0)
                    .collect::<Vec<usize>>()
            };
            Some(of(1))
                .filter(|first| !first.is_empty())
                .unwrap_or_else(|| of(usize::MAX))
        });
        named.collect()
    }

    /// A text with the words of the keys and values that are written as `dark_mode`.
    pub(super) fn with_words<'t>(&self, text: &'t str) -> Cow<'t, str> {
        pattern!(SNAKE, r"\b[a-z]+(?:_[a-z]+)+\b");
        SNAKE.replace_all(text, |found: &regex::Captures<'_>| {
            match self.snakes.contains(&found[0]) {
                true => key_text(&found[0]),
                false => found[0].to_owned(),
            }
        })
    }

    /// Whether a text is the key of a field, and nothing else.
    pub(super) fn is_key(&self, text: &str) -> bool {
        let keys = stems(text, self.own_language());
        let mut fields = self.records.iter().flat_map(|record| &record.fields);
        !keys.is_empty() && fields.any(|field| field.keys == keys)
    }

    /// Whether a sentence begins with the key of a field of entries: `The pulse is 394.`
    pub(super) fn begins_with_key(&self, sentence: &str) -> bool {
        pattern!(BEGINS, r"^The (.{2,40}?) (?:is|are|was|were|has)\b");
        let Some(key) = BEGINS.captures(sentence) else {
            return false;
        };
        let keys = stems(&key[1], self.own_language());
        let is_entry = |record: &&Record| record.group.iter().any(|part| part == "[]");
        let mut fields = self
            .records
            .iter()
            .filter(is_entry)
            .flat_map(|record| &record.fields);
        !keys.is_empty() && fields.any(|field| field.keys == keys)
    }

    /// Whether a line says nothing but values of one record, or what is true of it or not.
    pub(super) fn is_value(&self, said: &Said) -> bool {
        let has_all = |record: usize| {
            let fields = self.fields(record, |_| true);
            let header = &self.records[record].header.words;
            let is_value = |stem: &str| {
                fields.iter().any(|field| {
                    let is_sign = matches!(field.kind, FieldKind::True | FieldKind::Falsy);
                    field.words.contains(stem) || (is_sign && field.keys.contains(stem))
                })
            };
            let says = |word: &Word| {
                lacking(std::slice::from_ref(word), &is_value, self.language)
                    .0
                    .is_empty()
            };
            // `Unpaid invoices`, and `State: open`
            let names = |word: &Word| {
                header.contains(&word.stem)
                    || fields.iter().any(|field| field.keys.contains(&word.stem))
            };
            let has_word = |word: &Word| says(word) || names(word);
            let has_value = !said.facts.is_empty() || said.words.iter().any(says);
            let has_fact = |claim: &Fact| claim.is_in(fields.iter().flat_map(|field| &field.facts));
            has_value && said.words.iter().all(has_word) && said.facts.iter().all(has_fact)
        };
        !(said.words.is_empty() && said.facts.is_empty()) && (0..self.records.len()).any(has_all)
    }

    /// How many denials of a text stand inside of names: of the book "Never Let Me Go" nothing is denied.
    pub(super) fn denials_in_names(&self, text: &str) -> usize {
        let own = |text: &str| read(text, self.language, false).n_denials();
        let names = self.titles_in(text).into_iter();
        let names: Vec<&str> = names.filter(|name| own(name) > 0).collect();
        if names.is_empty() {
            return 0;
        }
        let bare = names.iter().fold(fold(text).to_lowercase(), |bare, name| {
            bare.replace(name, " name ")
        });
        own(text).saturating_sub(own(&bare))
    }
}
