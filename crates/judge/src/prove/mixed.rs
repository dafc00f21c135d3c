//! Claims that give a value to another record or field than the one that has it.

use std::collections::BTreeSet;

use super::facts::{Fact, Value, read};
use super::names::stands_in;
use super::pieces::Piece;
use super::proof::{Proof, Prover, Verdict, quoted};
use super::same::{Same, same};
use super::sources::{Field, FieldKind, Record, stems};
use super::text::{Language, plain};

use Verdict::Refuted;

impl Prover<'_> {
    /// Whether the claim names a record that has another value in that field, or uses another field's words for the value.
    pub(super) fn mixed_up(&self, piece: &Piece, said: &[&str]) -> Option<Proof> {
        let records = &self.sources.records;
        let text = plain(&piece.text);
        // The number in `QX 450` is no distance.
        let mut bare = piece.clone();
        let named = said
            .iter()
            .flat_map(|name| read(name, self.language(), false).facts);
        let named: Vec<Fact> = named.collect();
        bare.facts.retain(|fact| {
            let is_it = |name: &Fact| name.value == fact.value && fact.unit.is_none();
            !named.iter().any(is_it)
        });
        let piece = &bare;
        // Of what is not so, another entry says nothing.
        if piece.is_denied {
            return None;
        }
        let mine = piece.stems();
        let language = self.language();
        let has_key = |field: &Field| field.keys.iter().any(|key| mine.contains(key.as_str()));
        let says = |field: &Field| {
            if field.facts.is_empty() {
                return field.kind == FieldKind::Text
                    && field.value.chars().count() > 1
                    && stands_in(&field.value, &text);
            }
            let are_all = field.facts.iter().all(|fact| {
                piece
                    .facts
                    .iter()
                    .any(|claim| same(claim, fact) == Same::Yes)
            });
            let has_unit = || {
                field.facts.iter().any(|fact| fact.unit.is_some())
                    && piece.facts.iter().any(|fact| fact.unit.is_some())
            };
            are_all && (field.facts[0].number().is_none() || has_key(field) || has_unit())
        };
        let naming = |idx: usize| {
            records[idx].fields.iter().filter(move |field| {
                field.kind == FieldKind::Text && self.sources.names_record(idx, field)
            })
        };
        let own_name = |idx: usize| naming(idx).next().map(|field| field.value.as_str());
        let is_said = |value: &str| said.contains(&value);
        let strong: BTreeSet<&str> = (0..records.len())
            .filter_map(own_name)
            .filter(|name| is_said(name))
            .collect();
        let names: Vec<BTreeSet<&str>> = (0..records.len())
            .map(|idx| {
                let values = naming(idx).map(|field| field.value.as_str());
                let own = own_name(idx);
                let is_one = |value: &&str| {
                    is_said(value) && (Some(*value) == own || !strong.contains(value))
                };
                values.filter(is_one).collect()
            })
            .collect();
        let mut here: BTreeSet<&str> = self.sources.namings(&piece.text).into_iter().collect();
        let by_words = said.iter().copied().filter(|name| {
            let words = stems(name, language.or(Some(Language::English)));
            !words.is_empty() && words.iter().all(|word| mine.contains(word.as_str()))
        });
        here.extend(by_words);
        if names.iter().all(BTreeSet::is_empty) {
            return self.other_field(piece, &mine);
        }
        for (idx, record) in records.iter().enumerate() {
            if record.is_stale || names[idx].is_disjoint(&here) {
                continue;
            }
            for (other_idx, other) in records.iter().enumerate() {
                if other_idx == idx
                    || other.group != record.group
                    || other.is_stale
                    || !names[other_idx].is_empty()
                {
                    continue;
                }
                let own_keys: BTreeSet<&str> = record
                    .fields
                    .iter()
                    .flat_map(|field| &field.keys)
                    .map(String::as_str)
                    .collect();
                let of_other_kind = other.fields.iter().any(|field| {
                    !record.fields.iter().any(|known| known.key == field.key)
                        && !is_said(&field.value)
                        && field.keys.iter().any(|key| {
                            mine.contains(key.as_str()) && !own_keys.contains(key.as_str())
                        })
                });
                if of_other_kind {
                    continue;
                }
                for field in &other.fields {
                    let Some(own) = record.fields.iter().find(|own| own.key == field.key) else {
                        continue;
                    };
                    let is_plain = field.kind == FieldKind::Text && own.kind != FieldKind::Falsy;
                    if own.value == field.value
                        || self.sources.has_naming_key(other_idx, field)
                        || !is_plain
                        || !says(field)
                    {
                        continue;
                    }
                    let is_other_field = |around: &&Field| {
                        !std::ptr::eq(*around, own) && around.value == field.value
                    };
                    // Of several records with that name one has it.
                    let is_namesake = |(other, record): (usize, &Record)| {
                        !record.is_stale
                            && !names[other].is_disjoint(&here)
                            && record
                                .fields
                                .iter()
                                .any(|own| own.key == field.key && own.value == field.value)
                    };
                    let is_own_too = says(own)
                        || records.iter().enumerate().any(is_namesake)
                        || self
                            .sources
                            .fields(idx, |_| true)
                            .iter()
                            .any(is_other_field)
                        || (!field.words.is_empty() && field.words.is_subset(&own.words))
                        || self.sources.fields(idx, |_| true).iter().any(|around| {
                            !std::ptr::eq(*around, own)
                                && field.facts.iter().any(|fact| {
                                    around
                                        .facts
                                        .iter()
                                        .any(|other| same(fact, other) == Same::Yes)
                                })
                        });
                    if !is_own_too {
                        let told = format!(
                            "{} is of another entry; this one has {}",
                            quoted(&field.text),
                            quoted(&own.text)
                        );
                        return Some(Proof::new(Refuted, told).of(Some(record.event)));
                    }
                }
            }
        }
        self.other_field_of(piece, &mine, |idx, record| {
            let is_alone = || {
                records
                    .iter()
                    .filter(|other| other.group == record.group && !other.is_stale)
                    .count()
                    <= 1
            };
            !names[idx].is_disjoint(&here) || is_alone()
        })
    }

    fn other_field(&self, piece: &Piece, mine: &BTreeSet<&str>) -> Option<Proof> {
        let records = &self.sources.records;
        self.other_field_of(piece, mine, |_, record| {
            records
                .iter()
                .filter(|other| other.group == record.group && !other.is_stale)
                .count()
                <= 1
        })
    }

    /// The maximum told as the minimum: the value of one field with the words of another.
    fn other_field_of(
        &self,
        piece: &Piece,
        mine: &BTreeSet<&str>,
        is_meant: impl Fn(usize, &Record) -> bool,
    ) -> Option<Proof> {
        let is_plain = |fact: &Fact| {
            matches!(
                fact.value,
                Value::Number(_) | Value::Date(_) | Value::Time(..)
            )
        };
        let has_all_keys = |field: &Field| field.keys.iter().all(|key| mine.contains(key.as_str()));
        for (idx, record) in self.sources.records.iter().enumerate() {
            if record.is_stale {
                continue;
            }
            for named in &record.fields {
                let [fact] = named.facts.as_slice() else {
                    continue;
                };
                let is_right = |claim: &Fact| matches!(same(claim, fact), Same::Yes | Same::NoUnit);
                if !is_plain(fact)
                    || self.sources.names_record(idx, named)
                    || named.keys.is_empty()
                    || !has_all_keys(named)
                    || piece.facts.iter().any(is_right)
                {
                    continue;
                }
                for field in &record.fields {
                    let [other] = field.facts.as_slice() else {
                        continue;
                    };
                    if std::ptr::eq(field, named)
                        || self.sources.names_record(idx, field)
                        || !other.is_like(fact)
                        || other.unit.map(|unit| unit.dimension)
                            != fact.unit.map(|unit| unit.dimension)
                        || has_all_keys(field)
                    {
                        continue;
                    }
                    let mut like = piece.facts.iter().filter(|claim| claim.is_like(other));
                    let is_only = like.clone().count() == 1;
                    if is_only
                        && like.any(|claim| same(claim, other) == Same::Yes)
                        && is_meant(idx, record)
                    {
                        let told =
                            format!("{} is `{}`, not `{}`", field.value, field.key, named.key);
                        return Some(Proof::new(Refuted, told).of(Some(record.event)));
                    }
                }
            }
        }
        None
    }
}
