//! Which event of one trace is which of another.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::meaning::EventMeaning;
use super::values::{Places, fingerprint};
use crate::value::Json;

/// The events that are the same, by their places.
#[derive(Debug)]
pub(super) struct Pairs {
    /// For each event of the first trace that of the second.
    pub new_of: Vec<Option<usize>>,
    /// For each event of the second trace that of the first.
    pub old_of: Vec<Option<usize>>,
    /// Places in the second trace of events that stand elsewhere among the others.
    pub moved: HashSet<usize>,
}

impl Pairs {
    fn join(&mut self, old: usize, new: usize) {
        self.new_of[old] = Some(new);
        self.old_of[new] = Some(old);
    }

    /// Places in the first trace of events that the second lacks.
    pub(super) fn removed(&self) -> impl Iterator<Item = usize> + '_ {
        let all = self.new_of.iter().enumerate();
        all.filter(|(_, new)| new.is_none()).map(|(old, _)| old)
    }
}

/// Matches events: those that are the same in the same order; of the rest those that are the same in another
/// order; of the rest those of the same type and tool that stand between the same neighbours.
pub(super) fn align(old: &[EventMeaning], new: &[EventMeaning], places: Places<'_>) -> Pairs {
    let (old_keys, new_keys) = (keys(old, places), keys(new, places));
    let mut pairs = Pairs {
        new_of: vec![None; old.len()],
        old_of: vec![None; new.len()],
        moved: HashSet::new(),
    };
    let mut gaps: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let mut last = (0, 0);
    for (old, new) in equal_ranges(&old_keys, &new_keys) {
        gaps.push((last.0..old.start, last.1..new.start));
        last = (old.end, new.end);
        for (old, new) in old.zip(new) {
            pairs.join(old, new);
        }
    }
    gaps.push((last.0..old.len(), last.1..new.len()));
    find_moved(&old_keys, &new_keys, &mut pairs);
    for (olds, news) in gaps {
        let olds: Vec<usize> = olds.filter(|idx| pairs.new_of[*idx].is_none()).collect();
        let news: Vec<usize> = news.filter(|idx| pairs.old_of[*idx].is_none()).collect();
        let old_kinds: Vec<u64> = olds.iter().map(|idx| kind(&old[*idx])).collect();
        let new_kinds: Vec<u64> = news.iter().map(|idx| kind(&new[*idx])).collect();
        for (some, others) in equal_ranges(&old_kinds, &new_kinds) {
            for (old, new) in some.zip(others) {
                pairs.join(olds[old], news[new]);
            }
        }
    }
    pairs
}

/// What is the same in both sequences in the same order, as ranges of equal lengths. The time it takes is bounded:
/// for long sequences that have little in common it may find less than there is.
fn equal_ranges(old: &[u64], new: &[u64]) -> Vec<(Range<usize>, Range<usize>)> {
    capture_diff_slices(Algorithm::Myers, old, new)
        .into_iter()
        .filter_map(|found| match found {
            DiffOp::Equal {
                old_index,
                new_index,
                len,
            } => Some((old_index..old_index + len, new_index..new_index + len)),
            _ => None,
        })
        .collect()
}

/// Of what is the same and was not matched yet, the first goes with the first, the second with the second.
fn find_moved(old: &[u64], new: &[u64], pairs: &mut Pairs) {
    let mut left: HashMap<u64, Vec<usize>> = HashMap::new();
    for idx in pairs.removed() {
        left.entry(old[idx]).or_default().push(idx);
    }
    for places in left.values_mut() {
        places.reverse();
    }
    for (idx, key) in new.iter().enumerate() {
        if pairs.old_of[idx].is_some() {
            continue;
        }
        if let Some(partner) = left.get_mut(key).and_then(Vec::pop) {
            pairs.join(partner, idx);
            pairs.moved.insert(idx);
        }
    }
}

/// For each event a number that is the same for equal ones. What belongs to a call is equal to what belongs to an
/// equal call only.
fn keys(events: &[EventMeaning], places: Places<'_>) -> Vec<u64> {
    let mut keys: Vec<u64> = Vec::with_capacity(events.len());
    for (index, event) in events.iter().enumerate() {
        let mut pointer = format!("/events/{index}");
        let own = fingerprint(&event.value, &mut pointer, places);
        let mut hasher = DefaultHasher::new();
        (own, event.call.and_then(|call| keys.get(call))).hash(&mut hasher);
        keys.push(hasher.finish());
    }
    keys
}

/// A number for the type of an event and what it is about.
fn kind(event: &EventMeaning) -> u64 {
    let path = event.value.pointer("/data/path").and_then(Json::as_str);
    let mut hasher = DefaultHasher::new();
    (&event.place.kind, &event.place.tool, path).hash(&mut hasher);
    hasher.finish()
}
