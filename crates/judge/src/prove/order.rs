//! Whether the words and facts of a claim stand in a source, and in the same order and roles.

use super::facts::{Fact, Rival, Roles, Value, Word};
use super::pieces::{Element, Piece, name_groups};
use super::same::{Same, same};
use super::sources::{Field, Passage, key_text};
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
        Value::Quote(quote) => sought(plain(text).contains(quote.as_str())),
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

pub(super) fn is_in_order(piece: &Piece, passage: &Passage) -> bool {
    let own = &passage.piece;
    let kinds = |facts: &[Fact]| facts.iter().filter_map(Fact::rival).collect::<Vec<Rival>>();
    let count = |kinds: &[Rival], kind: Rival| kinds.iter().filter(|known| **known == kind).count();
    if passage.is_strict {
        let (theirs, mine) = (kinds(&own.facts), kinds(&piece.facts));
        let is_short =
            |kind: &Rival| count(&theirs, *kind) > 1 && count(&mine, *kind) < count(&theirs, *kind);
        if mine.iter().any(is_short) {
            return false;
        }
        let has_rivals = theirs.iter().any(|kind| count(&theirs, *kind) > 1);
        if !has_rivals && !name_groups(&own.words, &own.text).is_empty() {
            let mut capitals = own.words.iter().filter(|word| word.is_capital);
            if !capitals.all(|word| piece.has_word(&word.stem)) {
                return false;
            }
        }
        let theirs = own.elements();
        let mut rest = theirs.iter();
        return piece.elements().iter().all(|element| {
            let is_it = |other: &&Element<'_>| match (element, other) {
                (Element::Word(one), Element::Word(other)) => one == other,
                (Element::Fact(one), Element::Fact(other)) => same(one, other) == Same::Yes,
                _ => false,
            };
            let is_header = |word: &str| passage.header.words.contains(word);
            let before = rest.clone();
            let is_found = rest.by_ref().any(|other| is_it(&other));
            if !is_found {
                rest = before;
            }
            // An address may stand beside the text.
            is_found
                || match element {
                    Element::Word(word) => is_header(word),
                    Element::Fact(fact) => matches!(fact.value, Value::Url(_)),
                }
        });
    }
    let mine: Vec<&Fact> = piece.facts.iter().filter(|fact| fact.at >= 0).collect();
    for kind in kinds(&piece.facts) {
        let of_kind: Vec<&&Fact> = mine
            .iter()
            .filter(|fact| fact.rival() == Some(kind))
            .collect();
        if of_kind.len() > 1 {
            let mut theirs = own.facts.as_slice();
            for fact in of_kind {
                let is_it = |other: &Fact| same(fact, other) == Same::Yes;
                match theirs.iter().position(is_it) {
                    Some(at) => theirs = &theirs[at..],
                    None => return false,
                }
            }
        }
    }
    if !are_names_whole(piece, own) {
        return false;
    }
    let places = piece
        .words
        .iter()
        .filter(|word| word.is_capital && word.at >= 0);
    let places: Vec<usize> = places
        .filter_map(|word| own.words.iter().position(|other| other.stem == word.stem))
        .collect();
    places.is_sorted()
}

/// Whether names of several words stand in a passage word by word: no `Demis London` of `Demis Hassabis in London`.
fn are_names_whole(piece: &Piece, own: &Piece) -> bool {
    let place = |stem: &str| own.words.iter().position(|word| word.stem == stem);
    name_groups(&piece.words, &piece.text)
        .iter()
        .all(|(start, end)| {
            let group = piece
                .words
                .iter()
                .filter(|word| (*start..*end).contains(&word.at));
            let places: Option<Vec<usize>> = group.map(|word| place(&word.stem)).collect();
            // What stands in a header or another field is not looked at.
            places.is_none_or(|places| places.windows(2).all(|pair| pair[1] == pair[0] + 1))
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

/// "3 orders" is no use of `order: 3`: a number before a plural needs a plural key.
pub(super) fn is_no_count(piece: &Piece, claim: &Fact, field: &Field) -> bool {
    if claim.number().is_none_or(|number| number == 1.0) || claim.unit.is_some() || claim.at < 0 {
        return true;
    }
    let Some(next) = piece.words.iter().find(|word| word.at > claim.at) else {
        return true;
    };
    if !field.keys.contains(&next.stem) {
        return true;
    }
    let key = key_text(&field.key).to_lowercase();
    key.split_whitespace().any(|word| word == next.lower) || !next.lower.ends_with('s')
}
