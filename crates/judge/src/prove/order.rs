//! Whether the words and facts of a claim stand in a source, and in the same order and roles.

use std::collections::BTreeSet;

use super::facts::{Fact, Roles, Value, Word};
use super::keys::key_text;
use super::names::stands_in;
use super::pieces::Piece;
use super::same::{Same, same};
use super::sources::Field;
use super::text::{Language, plain, stem};

/// Whether one of these facts is that of a claim; quotations and names are sought in text and words.
pub(super) fn has<'f>(
    claim: &Fact,
    facts: impl Iterator<Item = &'f Fact>,
    has_stem: &dyn Fn(&str) -> bool,
    text: &str,
) -> Same {
    let sought = |is_there: bool| if is_there { Same::Yes } else { Same::No };
    match &claim.value {
        Value::Quote(quote) => sought(stands_in(quote, &plain(text))),
        Value::Name(name) => sought(has_stem(name)),
        _ => facts
            .map(|fact| same(claim, fact))
            .max()
            .unwrap_or(Same::No),
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
    !piece.roles.iter().any(|(key, preposition)| {
        of(key).is_some_and(|other| other != preposition) && is_used(preposition)
    })
}

pub(super) fn are_numbers_in_order(piece: &Piece, fields: &[&Field]) -> bool {
    let numbers: Vec<&Fact> = piece
        .facts
        .iter()
        .filter(|fact| fact.number().is_some() && fact.at >= 0)
        .collect();
    let at = |number: &&Fact| {
        let has_it = |field: &&Field| {
            field
                .facts
                .iter()
                .any(|fact| same(number, fact) == Same::Yes)
        };
        fields
            .iter()
            .position(has_it)
            .map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX))
    };
    numbers.len() < 2 || numbers.iter().map(at).is_sorted()
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
