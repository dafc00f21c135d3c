//! Claims that give a value to another record or field than the one that has it.

use super::facts::{Fact, Value, read};
use super::names::stands_in;
use super::pieces::Piece;
use super::proof::{Proof, Prover, Verdict, quoted};
use super::same::{Same, same};
use super::sources::{Field, FieldKind, Record, stems};
use super::text::{Language, plain};

use Verdict::{Refuted, Unproven};

impl Prover<'_> {
    /// Whether the claim names a record that has another value in that field, or uses another field's words for the value.
    pub(super) fn mixed_up(&self, piece: &Piece, said: &[&str]) -> Option<Proof> {
        // Of what is not so, another entry says nothing.
        if piece.is_denied {
            return None;
        }
        let (sources, records) = (self.sources, &self.sources.records);
        // The number in `QX 450` is no distance.
        let facts = |name: &&str| read(name, self.language(), false).facts;
        let of_names: Vec<Fact> = said.iter().flat_map(facts).collect();
        let mut bare = piece.clone();
        bare.facts.retain(|fact| {
            let mut names = of_names.iter();
            fact.unit.is_some() || !names.any(|name| name.value == fact.value)
        });
        let piece = &bare;
        let text = plain(&piece.text);
        let mine = piece.stems();
        let has_unit = |facts: &[Fact]| facts.iter().any(|fact| fact.unit.is_some());
        let says = |field: &Field| match field.facts.first() {
            None => {
                let is_text = field.kind == FieldKind::Text && field.value.chars().count() > 1;
                is_text && stands_in(&field.value, &text)
            }
            Some(first) => {
                let is_its = || {
                    let has_key = field.keys.iter().any(|key| mine.contains(key.as_str()));
                    has_key || (has_unit(&field.facts) && has_unit(&piece.facts))
                };
                let mut words = field.words.iter();
                let has_word = field.words.is_empty() || words.any(|word| piece.has_word(word));
                has_word
                    && field.facts.iter().all(|fact| piece.says(fact))
                    && (first.number().is_none() || is_its())
            }
        };
        let has_words = |name: &&str| {
            let words = stems(name, self.language().or(Some(Language::English)));
            !words.is_empty() && words.iter().all(|word| mine.contains(word.as_str()))
        };
        let mut here = sources.namings(&piece.text);
        here.extend(said.iter().copied().filter(has_words));
        let (named, all_named) = (sources.named(&here), sources.named(said));
        // One of those that are named may have it in another field.
        let is_theirs = |field: &Field| {
            let mut around = named.iter().flat_map(|idx| sources.fields(*idx, |_| true));
            around.any(|own| {
                let has_words = !field.words.is_empty() && field.words.is_subset(&own.words);
                let has_fact = || field.facts.iter().any(|fact| own.says(fact));
                own.value == field.value || has_words || has_fact()
            })
        };
        for record in named.iter().map(|idx| &records[*idx]) {
            let others = records.iter().enumerate().filter(|(idx, other)| {
                other.group == record.group && !other.is_stale && !all_named.contains(idx)
            });
            for (idx, other) in others {
                for field in &other.fields {
                    let own = record.fields.iter().find(|own| own.key == field.key);
                    let own = own.filter(|own| {
                        let is_plain =
                            field.kind == FieldKind::Text && own.kind != FieldKind::Falsy;
                        is_plain && !sources.has_naming_key(idx, field)
                    });
                    // `Ada manages Bob` has the words of `the manager of Ada is Bob`.
                    let is_name = said.contains(&field.value.as_str());
                    if let Some(own) = own
                        && says(field)
                        && !says(own)
                        && (is_name || !is_theirs(field))
                    {
                        let verdict = if is_name { Unproven } else { Refuted };
                        let (field, own) = (quoted(&field.text), quoted(&own.text));
                        let told = format!("{field} is of another entry; this one has {own}");
                        return Some(Proof::new(verdict, told).of(Some(record.event)));
                    }
                }
            }
        }
        self.other_field(piece, |idx, record| {
            let alike = records.iter().filter(|other| other.group == record.group);
            named.contains(&idx) || alike.filter(|other| !other.is_stale).count() <= 1
        })
    }

    /// The maximum told as the minimum: the value of one field with the words of another.
    fn other_field(
        &self,
        piece: &Piece,
        is_meant: impl Fn(usize, &Record) -> bool,
    ) -> Option<Proof> {
        let is_plain = |fact: &Fact| {
            matches!(
                fact.value,
                Value::Number(_) | Value::Date(_) | Value::Time(..)
            )
        };
        let has_all_keys = |field: &Field| field.has_key_in(piece);
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
                    // 47.9 % are no value of `votes: 9580`.
                    let is_share = |claim: &Fact| {
                        claim.unit.is_some_and(|unit| unit.dimension == "percent")
                            && fact.unit.is_none()
                            && fact.number().is_some_and(|number| number.abs() > 1.0)
                    };
                    let is_value = |claim: &&Fact| claim.is_like(other) && !is_share(claim);
                    let mut like = piece.facts.iter().filter(is_value);
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
