//! Whose value a text is: an answer may not give one record what another one has.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::evidence::{Passages, Source};
use crate::text::{Language, fold, is_negated, statement_words, words};
use cuecard_source::value::Json;
use cuecard_trace::EventData;

/// Of so many tables of a run, and so many rows of one, the texts are compared.
const MOST_TABLES: usize = 200;
const MOST_ROWS: usize = 200;
/// A text of more words is no value of a field.
const MOST_WORDS: usize = 6;

/// What names a record, as the last word of its key.
const NAMES: &[&str] = &[
    "name",
    "title",
    "id",
    "key",
    "sku",
    "ref",
    "reference",
    "number",
    "no",
    "symbol",
    "city",
    "label",
    "subject",
    "product",
    "item",
    "hotel",
    "book",
    "employee",
    "person",
    "flight",
    "host",
    "code",
    "risk",
    "account",
    "service",
];

/// Words that say how it was, or what it is compared with: other values stand beside them.
const OTHERS: &[&str] = &[
    "unlike",
    "than",
    "instead",
    "rather",
    "was",
    "were",
    "had",
    "been",
    "earlier",
    "previously",
    "before",
    "initially",
    "first",
    "formerly",
    "yesterday",
    "changed",
    "moved",
    "from",
    "after",
    "then",
    "until",
    "compared",
    "versus",
    "vs",
    "war",
    "waren",
    "vorher",
    "statt",
];

/// Objects of one kind: the items of a list, or what a tool answered to several calls.
#[derive(Debug)]
struct Table {
    rows: Vec<Row>,
}

#[derive(Debug, Default)]
struct Row {
    fields: Vec<Field>,
    flags: Vec<(String, bool)>,
}

#[derive(Debug)]
struct Field {
    key: String,
    text: String,
    /// Its words in small letters, with a space around each.
    words: String,
}

/// What a call gave, and what the same call gave later.
#[derive(Debug)]
struct Change {
    key: String,
    old: String,
    new: Field,
}

/// The records of the results.
#[derive(Debug, Default)]
pub(super) struct Records {
    tables: Vec<Table>,
    changes: Vec<Change>,
}

/// The words of a text in small letters, each with a space around it.
fn spread(text: &str) -> String {
    let mut spread = String::from(" ");
    for word in words(&text.replace('_', " ")) {
        spread.push_str(&word.text.to_lowercase());
        spread.push(' ');
    }
    spread
}

impl Row {
    fn of<'j>(fields: impl IntoIterator<Item = (&'j String, &'j Json)>) -> Self {
        let mut row = Self::default();
        for (key, value) in fields {
            match value {
                Json::String(text) => row.fields.extend(Field::of(key, text)),
                Json::Bool(flag) => row.flags.push((key.clone(), *flag)),
                _ => {}
            }
        }
        row
    }

    fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    fn has(&self, words: &str) -> bool {
        self.fields.iter().any(|field| field.words.contains(words))
    }
}

impl Field {
    /// Of a text that can be a value: short, and with letters in it.
    fn of(key: &str, text: &str) -> Option<Self> {
        let spread = spread(&fold(text));
        let count = spread.split_whitespace().count();
        let is_date = text.len() >= 8
            && text.starts_with(|sign: char| sign.is_ascii_digit())
            && text.contains('-');
        ((1..=MOST_WORDS).contains(&count) && text.contains(char::is_alphabetic) && !is_date).then(
            || Self {
                key: key.to_owned(),
                text: text.to_owned(),
                words: spread,
            },
        )
    }

    /// Whether it can be told from a word of the language: it has a capital, a digit, or several words.
    fn is_striking(&self) -> bool {
        self.text
            .contains(|sign: char| sign.is_uppercase() || sign.is_ascii_digit())
            || self.words.split_whitespace().count() > 1
    }
}

/// A value of a table in a text.
struct Mention<'t> {
    row: usize,
    field: &'t Field,
    range: Range<usize>,
}

impl Table {
    /// The keys that name its rows: no two rows have the same there.
    fn names(&self) -> Vec<&str> {
        let mut keys: Vec<&str> = Vec::new();
        for field in self.rows.iter().flat_map(|row| &row.fields) {
            let last = spread(&field.key);
            let is_name = last
                .split_whitespace()
                .next_back()
                .is_some_and(|last| NAMES.contains(&last));
            if is_name && !keys.contains(&field.key.as_str()) {
                keys.push(&field.key);
            }
        }
        keys.retain(|key| {
            let values: Vec<&str> = self
                .rows
                .iter()
                .filter_map(|row| row.field(key))
                .map(|field| field.words.as_str())
                .collect();
            let distinct: BTreeSet<&&str> = values.iter().collect();
            values.len() == self.rows.len() && distinct.len() == values.len()
        });
        keys
    }

    /// The values that stand in a text, the longest at each place.
    fn mentions(&self, said: &str) -> Vec<Mention<'_>> {
        let mut all: Vec<Mention<'_>> = Vec::new();
        for (row, fields) in self.rows.iter().enumerate() {
            for field in &fields.fields {
                let places = said.match_indices(&field.words);
                all.extend(places.map(|(at, text)| Mention {
                    row,
                    field,
                    range: at..at + text.len(),
                }));
            }
        }
        let ranges: Vec<Range<usize>> = all.iter().map(|mention| mention.range.clone()).collect();
        all.retain(|mention| {
            !ranges.iter().any(|range| {
                range.len() > mention.range.len()
                    && range.start <= mention.range.start
                    && mention.range.end <= range.end
            })
        });
        all
    }

    /// The value of another row in a text about one row, and what that row has there.
    fn foreign(&self, said: &str, row: usize, is_list: bool) -> Option<String> {
        let names = self.names();
        let own = &self.rows[row];
        self.mentions(said).into_iter().find_map(|mention| {
            let field = mention.field;
            if mention.row == row || names.contains(&field.key.as_str()) || own.has(&field.words) {
                return None;
            }
            let right = own.field(&field.key)?;
            let is_told = is_list || field.is_striking();
            let name = own.field(names.first()?)?;
            (is_told && !said.contains(&right.words))
                .then(|| format!("{}: {}: {}", name.text, field.key, right.text))
        })
    }

    /// The rows that a text names.
    fn subjects(&self, said: &str) -> Vec<Mention<'_>> {
        let names = self.names();
        let mut subjects = self.mentions(said);
        subjects.retain(|mention| names.contains(&mention.field.key.as_str()));
        subjects.sort_by_key(|mention| mention.range.start);
        subjects
    }
}

impl Records {
    pub(super) fn of(sources: &[Source<'_>]) -> Self {
        let mut records = Self::default();
        let mut calls: Vec<(&str, &Json, &Json)> = Vec::new();
        for source in sources {
            let Some(EventData::ToolResult(result)) = source.event.map(|event| &event.data) else {
                continue;
            };
            records.read(&result.result);
            calls.extend(source.args.map(|args| (source.tool, args, &*result.result)));
        }
        records.read_calls(&calls);
        records
    }

    /// The lists of objects in a result.
    fn read(&mut self, result: &Json) {
        let mut rest = vec![result];
        while let Some(value) = rest.pop() {
            match value {
                Json::Array(items) => {
                    rest.extend(items);
                    self.add(
                        items
                            .iter()
                            .filter_map(Json::as_object)
                            .map(Row::of)
                            .collect(),
                    );
                }
                Json::Object(fields) => rest.extend(fields.values()),
                _ => {}
            }
        }
    }

    fn add(&mut self, rows: Vec<Row>) {
        if (2..=MOST_ROWS).contains(&rows.len()) && self.tables.len() < MOST_TABLES {
            self.tables.push(Table { rows });
        }
    }

    /// What each tool answered: to other arguments, of other things; to the same ones, later.
    fn read_calls(&mut self, calls: &[(&str, &Json, &Json)]) {
        let mut seen: Vec<&str> = Vec::new();
        for (tool, ..) in calls {
            if seen.contains(tool) {
                continue;
            }
            seen.push(tool);
            let of_tool: Vec<_> = calls
                .iter()
                .filter(|(other, ..)| other == tool)
                .take(MOST_ROWS)
                .collect();
            let mut rows = Vec::new();
            for (at, (_, args, result)) in of_tool.iter().enumerate() {
                let Some(fields) = result.as_object() else {
                    continue;
                };
                let later = of_tool[at + 1..]
                    .iter()
                    .rev()
                    .find(|(_, other, _)| other == args);
                match later.and_then(|(.., later)| later.as_object()) {
                    Some(later) => self.changes.extend(changes(fields, later)),
                    None => rows.push(Row::of(
                        args.as_object().into_iter().flatten().chain(fields),
                    )),
                }
            }
            self.add(rows);
        }
    }

    /// What the results say of the thing that `unit` gives the value of another one, or one that it has no longer.
    pub(super) fn contradiction(
        &self,
        unit: &str,
        is_list: bool,
        passages: &Passages,
    ) -> Option<String> {
        let whole = spread(unit);
        let has_other = OTHERS
            .iter()
            .any(|word| whole.contains(&format!(" {word} ")));
        if !has_other
            && let Some(change) = self
                .changes
                .iter()
                .find(|change| whole.contains(&change.old) && !whole.contains(&change.new.words))
        {
            return Some(format!("{}: {}", change.key, change.new.text));
        }
        unit.split(';')
            .find_map(|part| self.foreign(part, is_list, passages))
    }

    fn foreign(&self, part: &str, is_list: bool, passages: &Passages) -> Option<String> {
        let miscounted = self
            .tables
            .iter()
            .find_map(|table| table.miscounted(part, passages.language()));
        if miscounted.is_some() {
            return miscounted;
        }
        let said = spread(part);
        let has_other = OTHERS
            .iter()
            .any(|word| said.contains(&format!(" {word} ")));
        if has_other || is_negated(&passages.without_titles(part), passages.language()) {
            return None;
        }
        self.tables.iter().find_map(|table| {
            let subjects = table.subjects(&said);
            let rows: BTreeSet<usize> = subjects.iter().map(|mention| mention.row).collect();
            match rows.len() {
                0 => None,
                1 => table.foreign(&said, *rows.first()?, is_list),
                _ => bracketed(part).into_iter().find_map(|(before, inside)| {
                    let before = spread(before);
                    let inside = spread(inside);
                    let row = table.subjects(&before).last()?.row;
                    let names_another = !table.subjects(&inside).is_empty();
                    table.foreign(&inside, row, true).filter(|_| !names_another)
                }),
            }
        })
    }
}

impl Table {
    /// What one of its rows is, where an answer says that all are otherwise: `none of them is cancelled`.
    fn miscounted(&self, part: &str, language: Language) -> Option<String> {
        let said = spread(part);
        let has = |phrases: &[&str]| {
            phrases
                .iter()
                .any(|phrase| said.contains(&format!(" {phrase} ")))
        };
        let all = has(&[
            "all of them",
            "all of these",
            "each of them",
            "both of them",
            "they are all",
            "all are",
        ]);
        let none = has(&[
            "none of them",
            "none of these",
            "none is",
            "none are",
            "neither of them",
            "neither is",
        ]);
        // `Both hotels have a pool`, unless more is said of which hotels.
        let begins = |words: &[&str]| {
            words
                .iter()
                .any(|word| said.starts_with(&format!(" {word} ")))
        };
        let begins_all = begins(&["both", "all", "every", "each"]);
        let begins_none = begins(&["none of", "neither"]);
        if all == none && !begins_all && !begins_none {
            return None;
        }
        let stems = statement_words(part, language);
        let names = self.names();
        let is_of_names = |word: &String| {
            let mut fields = self.rows.iter().flat_map(|row| &row.fields);
            let is_in = |text: &str| statement_words(text, language).contains(word);
            names.iter().any(|name| is_in(name))
                || fields.any(|field| names.contains(&field.key.as_str()) && is_in(&field.text))
        };
        let is_about = || {
            let mut flags = self.rows.iter().flat_map(|row| &row.flags);
            flags.any(|(key, _)| {
                let key = statement_words(&key.replace('_', " "), language);
                let rest = stems.difference(&key).filter(|word| !is_of_names(word));
                rest.count() <= 1
            })
        };
        let all = all || (begins_all && is_about());
        let none = none || (begins_none && is_about());
        if all == none {
            return None;
        }
        self.rows.iter().find_map(|row| {
            let (key, flag) = row.flags.iter().find(|(key, flag)| {
                let key = statement_words(&key.replace('_', " "), language);
                !key.is_empty() && key.is_subset(&stems) && *flag == none
            })?;
            let name = names.first().and_then(|name| row.field(name));
            let name = name.map_or("one of them", |field| field.text.as_str());
            Some(format!("{name}: {key}: {flag}"))
        })
    }
}

/// Texts in brackets, each with what stands before it.
fn bracketed(text: &str) -> Vec<(&str, &str)> {
    text.match_indices('(')
        .filter_map(|(at, _)| {
            let inside = &text[at + 1..];
            Some((&text[..at], &inside[..inside.find(')')?]))
        })
        .collect()
}

/// The texts that are others in a later result of the same call.
fn changes(
    fields: &serde_json::Map<String, Json>,
    later: &serde_json::Map<String, Json>,
) -> Vec<Change> {
    fields
        .iter()
        .filter_map(|(key, value)| {
            let old = Field::of(key, value.as_str()?)?;
            let new = Field::of(key, later.get(key)?.as_str()?)?;
            let is_changed = !old.words.contains(&new.words) && !new.words.contains(&old.words);
            (is_changed && (old.is_striking() || old.text.contains('_'))).then(|| Change {
                key: key.clone(),
                old: old.words,
                new,
            })
        })
        .collect()
}
