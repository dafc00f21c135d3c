//! Which fields of a record a piece of a claim speaks of, and whether it says them with their own signs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::data::{OFF, is_sign};
use super::facts::{Value, Word};
use super::names::stands_in;
use super::order::lacking;
use super::pieces::Piece;
use super::proof::Prover;
use super::said::Element;
use super::same::{Same, same};
use super::sources::{Field, FieldKind};
use super::text::{UNKNOWN_SIGN, place, plain};

/// How the signs of a piece agree with those of a record.
pub(super) enum Signs<'f> {
    Same,
    /// It says the opposite of a field.
    Opposed(&'f Field),
    /// It denies something, and nothing that is known.
    Unsure,
}

impl FieldKind {
    pub(super) fn is_flag(self) -> bool {
        matches!(self, Self::True | Self::Falsy)
    }
}

impl Prover<'_> {
    /// Whether a word says that a flag is on or off, and is no word of a field itself.
    pub(super) fn is_switch(&self, word: &Word, piece: &Piece, fields: &[&Field]) -> bool {
        let is_said = |field: &&&Field| field.kind.is_flag() && field.has_key_in(piece);
        let has_flag = fields.iter().any(|field| is_said(&field));
        let is_known = |stem: &str| {
            let says = |field: &&Field| {
                // Of `cache: off` and `queue: on` the cache is no queue.
                let is_switch = has_flag && field.value == word.lower;
                field.keys.contains(stem) || (!is_switch && field.words.contains(stem))
            };
            fields.iter().any(says)
        };
        is_sign(&word.lower)
            && !lacking(std::slice::from_ref(word), &is_known, self.language())
                .0
                .is_empty()
    }

    /// Compares the sign of each field that a piece speaks of with the denials of the words and facts that are of this field. A
    /// denial of a name or of nothing known belongs to what comes next.
    pub(super) fn signs<'f>(
        &self,
        piece: &Piece,
        record: usize,
        fields: &[&'f Field],
    ) -> Signs<'f> {
        let tokens = piece.elements();
        let is_keyed: Vec<bool> = fields
            .iter()
            .map(|field| {
                piece
                    .words
                    .iter()
                    .any(|word| field.keys.contains(&word.stem))
            })
            .collect();
        let mut denied: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
        // What denies the same words in the values.
        let mut theirs: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
        let mut flips: BTreeMap<usize, usize> = BTreeMap::new();
        let (mut known, mut pending) = (BTreeSet::new(), BTreeSet::new());
        let (mut last, mut is_off) = (None, false);
        // Flags that no word switches yet, each with whether it is joined to the one before: `A and B are off`.
        let mut open: Vec<(usize, bool)> = Vec::new();
        let mut switched = Vec::new();
        // `Dr. No` and `Part 0` deny nothing.
        let text = piece.text.to_ascii_lowercase();
        let spans: BTreeMap<usize, Range<i64>> = (0..fields.len())
            .filter(|at| {
                !fields[*at].denials.is_empty() && self.sources.names_record(record, fields[*at])
            })
            .filter_map(|at| {
                let value = &fields[at].value;
                let start = text
                    .find(value.as_str())
                    .filter(|_| stands_in(value, &text))?;
                let start = piece.start + place(start);
                Some((at, start..start + place(value.len()) + 1))
            })
            .collect();
        for token in &tokens {
            known.extend(token.glue().denials.iter().copied());
            let is_free = |denial: &&i64| !spans.values().any(|span| span.contains(*denial));
            let own: Vec<i64> = token
                .glue()
                .denials
                .iter()
                .filter(is_free)
                .copied()
                .collect();
            let own = &own;
            if let Element::Word(word) = token
                && self.is_switch(word, piece, fields)
            {
                let off = OFF.contains(word.lower.as_str());
                match last.filter(|_| token.glue().join.is_none()) {
                    Some(last) => {
                        let n_joined = open.iter().rev().take_while(|(_, is_joined)| *is_joined);
                        let first = open.len().saturating_sub(n_joined.count() + 1);
                        let flags = open.drain(first..).map(|(at, _)| at);
                        let flags: BTreeSet<usize> = flags.chain([last]).collect();
                        for at in flags {
                            denied.entry(at).or_default().extend(own);
                            *flips.entry(at).or_default() += usize::from(off);
                            switched.push(at);
                        }
                    }
                    None => {
                        pending.extend(own.iter().copied());
                        is_off ^= off;
                        switched.push(usize::MAX);
                    }
                }
                continue;
            }
            let (at, is_flipped) = self.field_of(*token, record, fields, &is_keyed, piece);
            let is_name = |at: &usize| {
                let field = fields[*at];
                (field.denials.is_empty() || spans.contains_key(at))
                    && !field.kind.is_flag()
                    && self.sources.names_record(record, field)
            };
            let Some(at) = at.filter(|at| is_flipped || !is_name(at)) else {
                pending.extend(own.iter().copied());
                continue;
            };
            let field = fields[at];
            let text = match token {
                Element::Word(word) => Some(&word.stem),
                Element::Fact(fact) => {
                    let mut facts = field.facts.iter();
                    let same = facts.find(|other| same(fact, other) == Same::Yes);
                    same.map(|fact| &fact.text)
                }
            };
            let of_value = text.and_then(|text| field.denials.get(text));
            theirs
                .entry(at)
                .or_default()
                .extend(of_value.into_iter().flatten());
            let signs = denied.entry(at).or_default();
            signs.extend(own);
            signs.append(&mut pending);
            *flips.entry(at).or_default() += usize::from(is_flipped) + usize::from(is_off);
            is_off = false;
            for open in switched.iter_mut().filter(|open| **open == usize::MAX) {
                *open = at;
            }
            if field.kind.is_flag() && open.last().is_none_or(|(open, _)| *open != at) {
                open.push((at, token.glue().join.is_some()));
            }
            last = Some(at);
        }
        // A cell that says only `no` denies what its column says.
        let is_flag = |at: &usize| fields.get(*at).is_some_and(|field| field.kind.is_flag());
        if tokens.iter().all(|token| token.at() < 0) {
            last = denied.keys().copied().rfind(is_flag).or(last);
        }
        let is_left = (known.len() % 2 == 1) != piece.denies();
        let Some(last) = last else {
            return match is_left || !pending.is_empty() || !switched.is_empty() {
                true => Signs::Unsure,
                false => Signs::Same,
            };
        };
        denied.entry(last).or_default().append(&mut pending);
        *flips.entry(last).or_default() += usize::from(is_left) + usize::from(is_off);
        if !switched.iter().all(is_flag) {
            return Signs::Unsure;
        }
        if piece.text.contains(UNKNOWN_SIGN) && denied.keys().any(is_flag) {
            return Signs::Unsure;
        }
        // `The heating is on` is no lamp's `on`, which stands in a list beside it.
        let is_own = |at: usize| {
            let mut own = self.sources.records[record].fields.iter();
            own.any(|field| std::ptr::eq(field, fields[at]))
        };
        let flags: Vec<bool> = denied
            .keys()
            .filter(|at| is_flag(at))
            .map(|at| is_own(*at))
            .collect();
        let is_named = || {
            let mut names = fields.iter().enumerate();
            names.any(|(at, field)| {
                let is_said =
                    !field.words.is_empty() && field.words.iter().all(|word| piece.has_word(word));
                is_said && is_own(at) && self.sources.names_record(record, field)
            })
        };
        let is_entry = self.sources.records[record].group.last();
        if is_entry.is_some_and(|last| last == "[]")
            && flags.contains(&true)
            && flags.contains(&false)
            && !is_named()
        {
            return Signs::Unsure;
        }
        let mut signs = Signs::Same;
        for (at, own) in denied {
            let field = fields[at];
            let theirs = theirs.get(&at).map_or(0, BTreeSet::len) + usize::from(field.is_denied);
            let flips = flips.get(&at).copied().unwrap_or_default();
            // A sign in quotes is a value: `The winner is "no".`
            let is_quoted = piece.facts.iter().any(|fact| {
                matches!(fact.value, Value::Quote(_)) && plain(&fact.text) == field.value
            });
            let is_same = (own.len() + flips + theirs).is_multiple_of(2);
            if is_same || is_quoted {
                continue;
            }
            let is_list = field.kind == FieldKind::List;
            let is_whole = || field.words.iter().all(|word| piece.has_word(word));
            if !is_list && (field.kind.is_flag() || is_keyed[at] || is_whole()) {
                signs = Signs::Opposed(field);
            } else if matches!(signs, Signs::Same) {
                signs = Signs::Unsure;
            }
        }
        signs
    }

    /// The field that a word or a fact speaks of, and whether it turns its sign: `unpaid`.
    fn field_of(
        &self,
        token: Element<'_>,
        record: usize,
        fields: &[&Field],
        is_keyed: &[bool],
        piece: &Piece,
    ) -> (Option<usize>, bool) {
        let mut best = (None, false, 0);
        for (at, field) in fields.iter().enumerate() {
            let (rank, is_flipped) = match token {
                Element::Word(word) => {
                    let known = match field.kind.is_flag() {
                        true => &field.keys,
                        false => &field.words,
                    };
                    let has_stem = |stem: &str| known.contains(stem);
                    let one = std::slice::from_ref(word);
                    let (missing, n_flips) = lacking(one, &has_stem, self.language());
                    let is_whole = || match field.kind.is_flag() {
                        true => field.has_key_in(piece),
                        false => known.iter().all(|known| piece.has_word(known)),
                    };
                    // `3 rooms in total` are no free ones.
                    let is_key = || {
                        let facts = field.facts.iter();
                        let mut facts =
                            facts.flat_map(|fact| piece.facts.iter().map(move |own| (own, fact)));
                        field.keys.contains(&word.stem)
                            && !field.kind.is_flag()
                            && (facts.any(|(own, fact)| same(own, fact) == Same::Yes)
                                || field.words.iter().any(|word| piece.has_word(word)))
                    };
                    let names = || is_whole() && self.sources.names_record(record, field);
                    match (missing.is_empty(), field.kind.is_flag()) {
                        (false, _) if is_key() => (2, false),
                        (false, _) => continue,
                        // The team `Unpaid Invoices` is one word.
                        (true, false) if n_flips == 0 && names() => (9, false),
                        (true, true) => (if is_whole() { 4 } else { 1 }, n_flips == 1),
                        (true, false) => (2 + usize::from(is_whole()), n_flips == 1),
                    }
                }
                Element::Fact(fact) => {
                    let is_of_key = field.kind.is_flag() && fact.is_in(&field.key_facts);
                    if !is_of_key && !field.says(fact) {
                        continue;
                    }
                    (2, false)
                }
            };
            let rank = 2 * rank
                + if field.kind.is_flag() {
                    0
                } else {
                    3 * usize::from(is_keyed[at])
                };
            if rank > best.2 {
                best = (Some(at), is_flipped, rank);
            }
        }
        (best.0, best.1)
    }
}
