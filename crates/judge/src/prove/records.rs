//! Claims about records: objects of results, their fields and lists.

use std::collections::{BTreeSet, HashMap};

use super::data::{QUANTIFIERS, RESTRICTING, names_dimension};
use super::facts::{Fact, Value, Word};
use super::keys::key_text;
use super::names::stands_in;
use super::order::{
    are_texts_whole, are_values_of_keys, has, has_its_time, has_same_roles, is_no_count, lacking,
};
use super::pieces::Piece;
use super::proof::{Proof, Prover, Verdict, quoted};
use super::signs::Signs;
use super::sources::{Field, FieldKind, List, leaves, shown, stems};
use super::text::{place, plain, stem};
use cuecard_source::value::Json;

use Verdict::{Refuted, Supported, Unproven};

/// What a record says of a piece of a claim.
pub(super) enum ByRecord {
    Supported(String),
    Refuted(String),
    /// What is missing, the fields, and how much that is.
    Unproven(Vec<String>, String, usize),
}

struct Attempt<'f> {
    missing: Vec<String>,
    missing_facts: Vec<String>,
    used: Vec<&'f Field>,
    used_falsy: Vec<&'f Field>,
    is_miscounted: bool,
}

impl Prover<'_> {
    /// A claim about one record: each of its facts and words is in a value, or in the key of a field whose value it says.
    pub(super) fn by_record(&self, piece: &Piece, idx: usize) -> ByRecord {
        let record = &self.sources.records[idx];
        let stems = piece.stems();
        let mut fields = self.sources.fields(idx, |field| {
            field.words.iter().all(|word| stems.contains(word.as_str()))
                && field.facts.iter().all(|fact| piece.says(fact))
        });
        // Of `{"2024": 640, "2025": 710}` each value is only of its own year.
        fields.retain(|field| !field.keys.is_empty() || field.has_key_facts_in(piece));
        // Most records lack a fact of the claim, and are no more than near it.
        let lacks = |fact: &&Fact| {
            let is_looked_up = !fact.is_name() && !matches!(fact.value, Value::Quote(_));
            let of_fields = fields.iter();
            let of_fields = of_fields.flat_map(|field| field.facts.iter().chain(&field.key_facts));
            is_looked_up && !fact.is_in(record.header.facts.iter().chain(of_fields))
        };
        let missing: Vec<String> = piece
            .facts
            .iter()
            .filter(lacks)
            .map(|fact| fact.text.clone())
            .collect();
        if !missing.is_empty() {
            let cost = 2 * missing.len() + piece.words.len();
            let shown = fields.iter().take(3).map(|field| field.text.as_str());
            return ByRecord::Unproven(missing, shown.collect::<Vec<&str>>().join(", "), cost);
        }
        let shown = |fields: &[&Field]| {
            let texts = fields.iter().take(3).map(|field| field.text.as_str());
            texts.collect::<Vec<&str>>().join(", ")
        };
        let is_switch = |word: &&Word| !self.is_switch(word, piece, &fields);
        let words: Vec<Word> = piece.words.iter().filter(is_switch).cloned().collect();
        let Attempt {
            missing,
            missing_facts,
            used,
            used_falsy,
            is_miscounted,
        } = self.try_record(piece, &words, idx, &fields);
        if !missing.is_empty() || !missing_facts.is_empty() || is_miscounted {
            let cost = 2 * missing_facts.len() + missing.len();
            let missing = missing.into_iter().chain(missing_facts).collect();
            return ByRecord::Unproven(missing, shown(&fields), cost);
        }
        // `free only for children` does not say `free`.
        let is_restricted = |field: &&&Field| {
            let mut said = field.value.split_whitespace();
            field.words.iter().any(|word| piece.has_word(word))
                && said.any(|word| {
                    let is_mine = |mine: &Word| mine.lower == word;
                    RESTRICTING.contains(word) && !piece.words.iter().any(is_mine)
                })
        };
        if let Some(field) = fields.iter().find(is_restricted) {
            return ByRecord::Unproven(Vec::new(), field.text.clone(), 1);
        }
        let roles = fields
            .iter()
            .map(|field| &field.roles)
            .chain([&record.header.roles]);
        let is_in_order = are_texts_whole(piece, &fields)
            && are_values_of_keys(piece, &fields, |field| {
                self.sources.has_naming_key(idx, field)
            });
        if !is_in_order || !has_same_roles(piece, roles) {
            return ByRecord::Unproven(Vec::new(), shown(&fields), 1);
        }
        match self.signs(piece, idx, &fields) {
            Signs::Same => ByRecord::Supported(match (used_falsy.is_empty(), used.is_empty()) {
                (false, _) => shown(&used_falsy),
                (true, false) => shown(&used),
                (true, true) => shown(&fields),
            }),
            Signs::Opposed(field) => ByRecord::Refuted(field.text.clone()),
            Signs::Unsure => ByRecord::Unproven(Vec::new(), shown(&fields), 1),
        }
    }

    /// Whether what is said of all entries, or of none, holds for each of the list that a record is of, or names the record.
    /// `known` is what is known of lists.
    pub(super) fn is_so_of_all<'r>(
        &'r self,
        piece: &Piece,
        idx: usize,
        known: &mut HashMap<&'r [String], bool>,
    ) -> bool {
        let record = &self.sources.records[idx];
        let is_named = record.fields.iter().any(|field| {
            let is_carried = || {
                let words = stems(&field.value, self.language());
                !words.is_empty() && words.iter().all(|word| piece.has_word(word))
            };
            self.sources.names_record(idx, field)
                && (stands_in(&field.value, &plain(&piece.text)) || is_carried())
        });
        let mut others = self
            .sources
            .records
            .iter()
            .enumerate()
            .filter(|(_, other)| {
                other.group == record.group
                    && !other.is_stale
                    && other.group.iter().any(|part| part == "[]")
            });
        let mut is_so =
            || others.all(|(idx, _)| matches!(self.by_record(piece, idx), ByRecord::Supported(_)));
        is_named || *known.entry(&record.group).or_insert_with(&mut is_so)
    }

    fn try_record<'f>(
        &self,
        piece: &Piece,
        words: &[Word],
        idx: usize,
        fields: &[&'f Field],
    ) -> Attempt<'f> {
        let record = &self.sources.records[idx];
        let language = self.language();
        let list = match record.group.last() {
            Some(last) if last == "[]" => record.header.words.clone(),
            _ => BTreeSet::new(),
        };
        let mine: BTreeSet<&str> = words.iter().map(|word| word.stem.as_str()).collect();
        let is_own = |field: &Field| record.fields.iter().any(|own| std::ptr::eq(own, field));
        let in_head = |stem: &str| {
            record.header.words.contains(stem) || self.sources.is_said_around(record, fields, stem)
        };
        let (mut keys, mut used): (BTreeSet<&str>, Vec<&Field>) = (BTreeSet::new(), Vec::new());
        for field in fields {
            let is_said = match field.kind {
                FieldKind::Falsy => false,
                FieldKind::True => {
                    let mut keys = field.keys.iter();
                    keys.all(|key| mine.contains(key.as_str()) || in_head(key))
                        && field.has_key_facts_in(piece)
                }
                FieldKind::Text | FieldKind::List if field.facts.is_empty() => {
                    let has = |word: &String| mine.contains(word.as_str());
                    !field.words.is_empty()
                        && (field.words.iter().all(has)
                            || (field.kind == FieldKind::List && field.words.iter().any(has)))
                }
                FieldKind::Text | FieldKind::List if !has_its_time(piece, field) => false,
                FieldKind::Text | FieldKind::List => piece.facts.iter().any(|claim| {
                    let is_said = || field.says(claim) && is_no_count(piece, claim, field, &list);
                    field.facts.iter().any(|fact| fact.is_in([claim])) || is_said()
                }),
            };
            if is_said {
                keys.extend(field.keys.iter().map(String::as_str));
                used.push(field);
            }
        }
        let has_stem = |stem: &str| in_head(stem) || keys.contains(stem);
        let is_entry = record.group.iter().any(|part| part == "[]");
        let is_named = || {
            let mut names = fields.iter();
            names.any(|field| {
                let mut facts = piece.facts.iter();
                let is_quoted = facts.any(
                    |fact| matches!(&fact.value, Value::Quote(quote) if *quote == field.value),
                );
                let has_all = !(field.words.is_empty() && field.facts.is_empty())
                    && field.words.iter().all(|word| mine.contains(word.as_str()))
                    && field.facts.iter().all(|fact| piece.says(fact));
                self.sources.names_record(idx, field) && (is_quoted || has_all)
            })
        };
        // A number of what is around is one of this record only by its key.
        let is_told = |field: &Field, fact: &Fact| {
            let has_key = || field.keys.iter().any(|key| mine.contains(key.as_str()));
            // `previous_version` is no version of this one.
            let is_narrower = |other: &Field| {
                !other.keys.is_empty()
                    && other.keys.len() < field.keys.len()
                    && other.keys.is_subset(&field.keys)
                    && other.facts.iter().any(|other| other.is_like(fact))
                    && !field
                        .keys
                        .difference(&other.keys)
                        .any(|key| mine.contains(key.as_str()))
            };
            let is_bare = fact.number().is_some() && fact.unit.is_none();
            has_its_time(piece, field)
                && !fields.iter().any(|other| is_narrower(other))
                && match (is_bare, is_own(field)) {
                    // `Open: 3` is no value of an entry.
                    (true, true) => {
                        !is_entry
                            || language.is_none()
                            || self.sources.names_record(idx, field)
                            || record
                                .fields
                                .first()
                                .is_some_and(|first| first.key == field.key)
                            || has_key()
                            || is_named()
                    }
                    (true, false) => self.sources.has_naming_key(idx, field),
                    (false, is_own) => fact.number().is_none() || is_own || has_key(),
                }
        };
        let facts = || {
            let of_fields = fields.iter().flat_map(|field| {
                let told = field.facts.iter();
                told.filter(|fact| is_told(field, fact))
            });
            let keyed = fields.iter().filter(|field| field.has_key_in(piece));
            let of_keys = keyed.flat_map(|field| &field.key_facts);
            record.header.facts.iter().chain(of_fields).chain(of_keys)
        };
        let text = fields
            .iter()
            .map(|field| field.text.as_str())
            .collect::<Vec<&str>>()
            .join(" ");
        // `Team has no SSO`
        let has_name = |stem: &str| {
            let mut flags = fields.iter().filter(|field| field.kind.is_flag());
            has_stem(stem) || flags.any(|flag| flag.keys.contains(stem) && flag.has_key_in(piece))
        };
        let missing_facts = piece
            .facts
            .iter()
            .filter(|fact| !has(fact, facts(), &has_name, &text));
        let missing_facts = missing_facts.map(|fact| fact.text.clone()).collect();
        let is_miscounted = piece.facts.iter().any(|claim| {
            let mut fields = fields.iter();
            fields.any(|field| field.says(claim) && !is_no_count(piece, claim, field, &list))
        });
        // Of `12 EUR` it is clear that it is a price, if nothing else of the record is in EUR.
        let own = || record.fields.iter().flat_map(|field| &field.facts);
        let dimension = |fact: &Fact| fact.unit.map(|unit| unit.dimension);
        let is_covered = |word: &&Word| {
            own().any(|fact| {
                let names = |dimension| names_dimension(dimension, &word.lower);
                dimension(fact).is_some_and(names)
                    && piece.says(fact)
                    && own()
                        .filter(|other| dimension(other) == dimension(fact))
                        .count()
                        == 1
            })
        };
        let words = words.iter().filter(|word| !is_covered(word));
        let words: Vec<Word> = words.cloned().collect();
        let (mut missing, _) = lacking(&words, &has_stem, language);
        // `Jo opened #12` is a deed, and no `state: open`.
        let is_deed = |word: &&Word| {
            let of_value = |field: &&&Field| field.words.contains(&word.stem);
            let has_form = |field: &&Field| {
                let mut forms = field.value.split(|letter: char| !letter.is_alphanumeric());
                forms.any(|form| form == word.lower)
            };
            let mut values = fields.iter().filter(of_value).peekable();
            word.lower.ends_with("ed")
                && !(record.header.words.contains(&word.stem) || keys.contains(word.stem.as_str()))
                && values.peek().is_some()
                && !values.any(has_form)
        };
        missing.extend(words.iter().filter(is_deed).map(|word| word.lower.clone()));
        let mut used_falsy = Vec::new();
        for field in fields
            .iter()
            .filter(|field| field.kind == FieldKind::Falsy && !field.key.is_empty())
        {
            if field.has_key_in(piece) {
                used_falsy.push(*field);
                missing.retain(|word| !field.keys.contains(&stem(word, language)));
            } else if !missing.is_empty() {
                let rest: Vec<Word> = words
                    .iter()
                    .filter(|word| missing.contains(&word.lower))
                    .cloned()
                    .collect();
                let has_key = |stem: &str| field.keys.contains(stem) || in_head(stem);
                let (still, _) = lacking(&rest, &has_key, language);
                if still.len() < missing.len() {
                    used_falsy.push(*field);
                    missing = still;
                }
            }
        }
        if language.is_none() && missing.is_empty() && !words.is_empty() {
            missing.push("words of a language that is not known".to_owned());
        }
        Attempt {
            missing,
            missing_facts,
            used,
            used_falsy,
            is_miscounted,
        }
    }

    /// "Two orders were shipped", "all orders were shipped": counted in the list that the claim names.
    pub(super) fn count(&self, piece: &Piece) -> Option<Proof> {
        let language = self.language();
        let quantifiers: BTreeSet<&str> = piece
            .words
            .iter()
            .filter(|word| QUANTIFIERS.contains(word.lower.as_str()))
            .map(|word| word.stem.as_str())
            .collect();
        let is_count = |fact: &&Fact| {
            fact.unit.is_none() && fact.number().is_some_and(|number| number.fract() == 0.0)
        };
        let numbers: Vec<&Fact> = piece.facts.iter().filter(is_count).collect();
        if piece.is_denied
            || numbers.len() + usize::from(!quantifiers.is_empty()) != 1
            || language.is_none()
        {
            return None;
        }
        let others: Vec<&Fact> = piece
            .facts
            .iter()
            .filter(|fact| !is_count(fact) && !fact.is_name())
            .collect();
        // What follows a colon is which they are.
        let colon = piece.text.find(':').map_or(i64::MAX, place);
        let counted = piece.words.iter().filter(|word| word.at < colon);
        let mine: BTreeSet<&str> = counted.map(|word| word.stem.as_str()).collect();
        let listed = piece.words.iter().filter(|word| word.at > colon);
        let listed: Vec<&str> = listed.map(|word| word.stem.as_str()).collect();
        let (listed_facts, others): (Vec<&Fact>, Vec<&Fact>) =
            others.into_iter().partition(|fact| fact.at > colon);
        for list in self
            .sources
            .lists
            .iter()
            .filter(|list| !list.items.is_empty())
        {
            let first = match &list.items[0] {
                Json::Object(members) => members
                    .iter()
                    .next()
                    .filter(|(_, value)| !value.is_array() && !value.is_object())
                    .map(|(key, _)| stems(&key_text(key), language))
                    .unwrap_or_default(),
                _ => BTreeSet::new(),
            };
            // Lists of one name, such as the orders of each customer, are counted together.
            let lists = self.sources.lists.iter();
            let alike = lists.filter(|other| other.header.words == list.header.words);
            let alike: Vec<&List> = alike.collect();
            let items = || alike.iter().flat_map(|list| &list.items);
            let is_head = |word: &str| list.header.words.contains(word) || first.contains(word);
            if !mine.iter().any(|word| is_head(word)) {
                continue;
            }
            if !has_same_roles(piece, [&list.header.roles]) {
                return Some(Proof::new(
                    Unproven,
                    "the words around the number say something else",
                ));
            }
            let wanted: Vec<&str> = mine
                .iter()
                .copied()
                .filter(|word| !is_head(word) && !quantifiers.contains(word))
                .collect();
            if !others.iter().all(|fact| fact.is_in(&list.header.facts)) {
                continue;
            }
            let words = alike.iter().flat_map(|list| list.words(language));
            let hits = words.filter(|words| wanted.iter().all(|word| words.contains(*word)));
            let hits: Vec<&BTreeSet<String>> = hits.collect();
            let n_hits = hits.len();
            let is_hit = |word: &&str| hits.iter().any(|words| words.contains(*word));
            let has_fact = |fact: &&Fact| {
                let mut is_said = false;
                for item in items() {
                    leaves("", item, &mut |_, leaf| {
                        is_said |= plain(&shown(leaf)) == plain(&fact.text);
                    });
                }
                is_said
            };
            if !listed.iter().all(is_hit) || !listed_facts.iter().all(has_fact) {
                continue;
            }
            if !wanted.is_empty() && n_hits == 0 {
                continue;
            }
            let length = items().count();
            if piece.words.iter().any(|word| word.lower == "both") && length != 2 {
                return Some(Proof::new(Unproven, format!("there are {length}, not two")));
            }
            let goal = match quantifiers.is_empty() {
                true => numbers[0].number().unwrap_or_default(),
                false => length as f64,
            };
            // `For your 3 cats` counts what the user said.
            let is_said = |fact: &&Fact| fact.is_in(&self.sources.known);
            // `I found 4 hits for VPN` says what was sought.
            let is_topic = |word: &Word| matches!(word.glue.role.as_deref(), Some("for" | "für"));
            let is_sought = length as f64 == goal
                && wanted.iter().all(|stem| {
                    let mut words = piece.words.iter();
                    words.any(|word| word.stem == *stem && is_topic(word))
                });
            if n_hits as f64 != goal && (is_sought || numbers.first().is_some_and(is_said)) {
                return None;
            }
            if n_hits as f64 != goal && alike.len() > 1 {
                continue;
            }
            let told = format!("counted: {n_hits} of {length}");
            return Some(Proof::new(
                if n_hits as f64 == goal {
                    Supported
                } else {
                    Refuted
                },
                told,
            ));
        }
        None
    }

    /// Only an older result of an equal call has it.
    pub(super) fn stale(&self, piece: &Piece) -> Proof {
        let records = &self.sources.records;
        let differs = |one: &Field, other: &Field| {
            one.text != other.text
                && (one.value != other.value
                    || one.facts.iter().any(|fact| !other.says(fact))
                    || other.facts.iter().any(|fact| !one.says(fact)))
        };
        for (idx, old) in records
            .iter()
            .enumerate()
            .filter(|(_, record)| record.is_stale)
        {
            if !matches!(self.by_record(piece, idx), ByRecord::Supported(_)) {
                continue;
            }
            for new in records
                .iter()
                .filter(|record| !record.is_stale && record.group == old.group)
            {
                for field in &new.fields {
                    let known = old.fields.iter().find(|known| known.key == field.key);
                    if known.is_some_and(|known| differs(field, known)) {
                        return Proof::new(
                            Refuted,
                            format!(
                                "an earlier result said so, the latest has {}",
                                quoted(&field.text)
                            ),
                        )
                        .of(Some(new.event));
                    }
                }
            }
        }
        Proof::new(Unproven, "only an earlier result of the same call has it")
    }
}
