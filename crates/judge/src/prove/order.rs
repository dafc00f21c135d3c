//! Whether the words and facts of a claim stand in a source, and in the same order and roles.

use std::collections::{BTreeMap, BTreeSet};

use super::data::BOUNDING;
use super::facts::{Fact, Roles, Value, Word};
use super::keys::key_text;
use super::names::stands_in;
use super::pieces::Piece;
use super::sources::{Field, FieldKind};
use super::text::{Language, plain, stem};

/// Whether one of these facts is that of a claim; quotations and names are sought in text and words.
pub(super) fn has<'f>(
    claim: &Fact,
    facts: impl Iterator<Item = &'f Fact>,
    has_stem: &dyn Fn(&str) -> bool,
    text: &str,
) -> bool {
    match &claim.value {
        Value::Quote(quote) => stands_in(quote, &plain(text)),
        Value::Name(name) => has_stem(name),
        _ => claim.is_in(facts),
    }
}

/// The words that are not there, and how many are there with a denying beginning more or less, as `inactive`.
pub(super) fn lacking(
    words: &[Word],
    has_stem: &dyn Fn(&str) -> bool,
    language: Option<Language>,
) -> (Vec<String>, usize) {
    const DENYING: &[&str] = &["un", "in", "im", "dis", "non"];
    let (mut missing, mut n_flips) = (Vec::new(), 0);
    for word in words.iter().filter(|word| !has_stem(&word.stem)) {
        let is_flipped = DENYING.iter().any(|start| {
            let without = word
                .lower
                .strip_prefix(start)
                .filter(|rest| !rest.is_empty());
            without.is_some_and(|rest| has_stem(&stem(rest, language)))
                || (word.lower == "offline" && has_stem(&stem("online", language)))
                || has_stem(&stem(&format!("{start}{}", word.lower), language))
        });
        match is_flipped {
            true => n_flips += 1,
            false => missing.push(word.lower.clone()),
        }
    }
    (missing, n_flips)
}

/// Whether no word or fact of the claim stands behind another preposition than in the source.
pub(super) fn has_same_roles<'r>(
    piece: &Piece,
    roles: impl IntoIterator<Item = &'r Roles>,
) -> bool {
    let roles: Vec<&Roles> = roles.into_iter().collect();
    let of = |key: &String| roles.iter().rev().find_map(|roles| roles.get(key));
    let is_used = |preposition: &String| {
        roles
            .iter()
            .any(|roles| roles.values().any(|used| used == preposition))
    };
    // `before 1500` is not in 1500.
    let is_unbound = |key: &String, preposition: &String| {
        BOUNDING.contains(preposition.as_str())
            && !piece.roles.contains_key(key)
            && !piece.words.iter().any(|word| word.lower == *preposition)
            && piece.facts.iter().any(|fact| fact.role_key() == *key)
    };
    let mut bounds = roles.iter().flat_map(|roles| roles.iter());
    !bounds.any(|(key, preposition)| is_unbound(key, preposition))
        && !piece.roles.iter().any(|(key, preposition)| {
            of(key).is_some_and(|other| other != preposition) && is_used(preposition)
        })
}

/// "3 orders" is no use of `order: 3`: a number before a plural needs a plural key. `list` is what a list is called that the
/// field is an entry of: its plural is counted, and no value of an entry.
pub(super) fn is_no_count(
    piece: &Piece,
    claim: &Fact,
    field: &Field,
    list: &BTreeSet<String>,
) -> bool {
    let Some(number) = claim
        .number()
        .filter(|_| claim.unit.is_none() && claim.at >= 0)
    else {
        return true;
    };
    // `3 open orders` are no `priority: 3`.
    let behind = piece.words.iter().filter(|word| word.at > claim.at);
    let mut noun = behind.take_while(|word| !word.glue.is_be && word.glue.role.is_none());
    let is_counted =
        |word: &Word| list.contains(&word.stem) && (number == 1.0 || word.lower.ends_with('s'));
    if noun.any(|word| is_counted(word) && !field.keys.contains(&word.stem)) {
        return false;
    }
    if number == 1.0 {
        return true;
    }
    // `Cars: 4`
    let before = || {
        let mut words = piece.words.iter().filter(|_| claim.glue.is_be);
        words.rfind(|word| word.at >= 0 && word.at < claim.at)
    };
    let after = piece.words.iter().find(|word| word.at > claim.at);
    let Some(next) = after.or_else(before) else {
        return true;
    };
    let has_key = field.keys.contains(&next.stem);
    if !has_key && list.contains(&next.stem) && next.lower.ends_with('s') {
        return false;
    }
    if !has_key || after.is_none() {
        return true;
    }
    let key = key_text(&field.key).to_lowercase();
    key.split_whitespace().any(|word| word == next.lower) || !next.lower.ends_with('s')
}

/// Whether a field, if it says a date or a time of the kind that a claim says, says one of the claim.
pub(super) fn has_its_time(piece: &Piece, field: &Field) -> bool {
    let is_when = |fact: &&Fact| matches!(fact.value, Value::Date(_) | Value::Time(_));
    field.facts.iter().filter(is_when).all(|fact| {
        let is_like = |claim: &Fact| claim.is_like(fact);
        piece.says(fact) || !piece.facts.iter().any(is_like)
    })
}

/// Whether what a piece takes from one value stands there in the same order, and what nothing joins is of one text of a list.
pub(super) fn are_texts_whole(piece: &Piece, fields: &[&Field]) -> bool {
    let is_of_text = |field: &&&Field| field.items.iter().any(|item| item.words.len() > 1);
    let mut texts = fields.iter().filter(is_of_text);
    let words = piece.words.iter().map(|word| (word.at, &word.glue));
    let facts = piece.facts.iter().map(|fact| (fact.at, &fact.glue));
    let joins = words.chain(facts).filter(|(_, glue)| glue.join.is_some());
    let joins: Vec<i64> = joins.map(|(at, _)| at).collect();
    let part = |at: i64| joins.iter().filter(|join| **join <= at).count();
    texts.all(|field| {
        let others = || fields.iter().filter(|other| !std::ptr::eq(**other, *field));
        let is_its = |word: &&Word| {
            let is_other = |other: &&Field| {
                other.words.contains(&word.stem) || other.keys.contains(&word.stem)
            };
            word.at >= 0
                && field.words.contains(&word.stem)
                && !field.keys.contains(&word.stem)
                && !others().any(is_other)
        };
        let words = piece.words.iter().filter(is_its);
        let facts = piece.facts.iter().filter(|fact| {
            fact.at >= 0 && field.says(fact) && !others().any(|other| other.says(fact))
        });
        let mut parts: BTreeMap<usize, (Vec<&Word>, Vec<&Fact>)> = BTreeMap::new();
        for word in words {
            parts.entry(part(word.at)).or_default().0.push(word);
        }
        for fact in facts {
            parts.entry(part(fact.at)).or_default().1.push(fact);
        }
        parts.values().all(|(words, facts)| {
            field.items.iter().any(|item| {
                let mut own = item.words.iter();
                let is_in_order = match item.words.len() {
                    0..=2 => words
                        .iter()
                        .all(|word| item.words.iter().any(|own| own.stem == word.stem)),
                    _ => words
                        .iter()
                        .all(|word| own.any(|own| own.stem == word.stem)),
                };
                is_in_order && facts.iter().all(|fact| fact.is_in(&item.facts))
            })
        })
    })
}

/// Whether the keys that a piece says have the values that it says in their order, and no list has those of another one. What
/// somebody has done is no value without the deed: `closed_by`.
/// A name stands anywhere: `is_name`.
pub(super) fn are_values_of_keys(
    piece: &Piece,
    fields: &[&Field],
    is_name: impl Fn(&Field) -> bool,
) -> bool {
    const CARRIED: i64 = -1_000_000;
    let valued: Vec<&&Field> = fields
        .iter()
        .filter(|field| !field.items.is_empty() && !field.keys.is_empty())
        .collect();
    let place = |nth: usize, at: i64| match at {
        -1 => CARRIED + i64::try_from(nth).unwrap_or_default(),
        at => at,
    };
    let words = || {
        piece
            .words
            .iter()
            .enumerate()
            .map(|(nth, word)| (place(nth, word.at), word))
    };
    let is_only = |field: &Field, has: &dyn Fn(&Field) -> bool| {
        has(field)
            && !valued
                .iter()
                .any(|other| !std::ptr::eq(**other, field) && has(other))
    };
    let has_keys = |field: &Field| field.has_key_in(piece);
    let mut pairs: Vec<(i64, i64)> = Vec::new();
    for field in valued
        .iter()
        .filter(|field| has_keys(field) && !is_name(field))
    {
        let mut keys =
            words().filter(|(_, word)| is_only(field, &|field| field.keys.contains(&word.stem)));
        let values = words().filter(|(_, word)| {
            !field.keys.contains(&word.stem)
                && is_only(field, &|field| field.words.contains(&word.stem))
        });
        let facts = piece.facts.iter().filter(|fact| {
            fact.at >= 0 && !fact.is_name() && is_only(field, &|field| field.says(fact))
        });
        let value = values
            .map(|(at, _)| at)
            .chain(facts.map(|fact| fact.at))
            .min();
        pairs.extend(keys.next().map(|(at, _)| at).zip(value));
    }
    pairs.sort_unstable();
    let says_key = valued
        .iter()
        .any(|field| has_keys(field) && !is_name(field));
    // `Merged by Jo` where another one merged it.
    let untold: Vec<&&Field> = valued
        .iter()
        .filter(|field| key_text(&field.key).ends_with(" by") && has_keys(field))
        .filter(|field| !field.words.iter().any(|word| piece.has_word(word)))
        .copied()
        .collect();
    // `Jo and Lee are reviewers` says of both what it says of one.
    let is_joined_to_value = |word: &Word| {
        let is_in = |other: &Word, field: &Field| field.words.contains(&other.stem);
        let nth = piece
            .words
            .iter()
            .position(|other| std::ptr::eq(other, word));
        let around = nth.into_iter().flat_map(|nth| {
            let before = nth.checked_sub(1).filter(|_| word.glue.join.is_some());
            let after = piece
                .words
                .get(nth + 1)
                .filter(|next| next.glue.join.is_some());
            before
                .and_then(|before| piece.words.get(before))
                .into_iter()
                .chain(after)
        });
        around.into_iter().any(|other| {
            let mut told = valued
                .iter()
                .filter(|field| has_keys(field) && !is_name(field));
            told.any(|field| is_in(other, field) && !is_in(word, field))
        })
    };
    let has_its_key = |word: &Word| {
        let mut own = valued
            .iter()
            .filter(|field| field.words.contains(&word.stem))
            .peekable();
        let is_by = word.glue.role.as_deref() == Some("by");
        let is_free = |field: &&&Field| {
            let is_of_other = (field.kind == FieldKind::List && says_key)
                || (!is_name(field) && is_joined_to_value(word));
            let is_deed = is_by && key_text(&field.key).ends_with(" by");
            let is_somebody = || {
                let mut untold = untold.iter();
                !is_name(field) && untold.any(|deed| !deed.keys.contains(&word.stem))
            };
            has_keys(field) || !(is_of_other || is_deed || is_somebody())
        };
        own.peek().is_none() || own.any(is_free)
    };
    pairs.is_sorted_by_key(|(_, value)| *value) && piece.words.iter().all(has_its_key)
}
