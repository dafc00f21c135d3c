//! Which event of one trace is which of another.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

use super::meaning::EventMeaning;
use super::values::{Places, fingerprint};
use cuecard_source::matching::equal_ranges;
use cuecard_source::value::Json;

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

/// Matches events. In the same order: those that are the same with all that belongs to them; between them those that
/// are the same by themselves. Then in any order those that are left of either kind, and what belongs to calls that are matched,
/// by its type. Last, between neighbours that are
/// matched, those of the same type and tool.
pub(super) fn align(old: &[EventMeaning], new: &[EventMeaning], places: Places<'_>) -> Pairs {
    let mut pairs = Pairs {
        new_of: vec![None; old.len()],
        old_of: vec![None; new.len()],
        moved: HashSet::new(),
    };
    let (own_old, own_new) = (keys(old, places), keys(new, places));
    let (all_old, all_new) = (with_answers(old, &own_old), with_answers(new, &own_new));
    let kinds = |events: &[EventMeaning]| events.iter().map(kind).collect::<Vec<u64>>();
    let mut gaps = vec![(0..old.len(), 0..new.len())];
    gaps = join_in_order(&gaps, &all_old, &all_new, &mut pairs);
    gaps = join_in_order(&gaps, &own_old, &own_new, &mut pairs);
    join_moved(&all_old, &all_new, &mut pairs);
    join_moved(&own_old, &own_new, &mut pairs);
    let (old_kinds, new_kinds) = (kinds(old), kinds(new));
    join_answers((old, &old_kinds), (new, &new_kinds), &mut pairs);
    join_in_order(&gaps, &old_kinds, &new_kinds, &mut pairs);
    pairs
}

/// A stretch of the first trace and the one of the second that stands between the same neighbours.
type Gap = (Range<usize>, Range<usize>);

/// Matches what has the same key in the same order, gap by gap, and gives the gaps that are left.
fn join_in_order(gaps: &[Gap], old: &[u64], new: &[u64], pairs: &mut Pairs) -> Vec<Gap> {
    let mut left = Vec::new();
    for (olds, news) in gaps {
        let free_old: Vec<usize> = olds
            .clone()
            .filter(|idx| pairs.new_of[*idx].is_none())
            .collect();
        let free_new: Vec<usize> = news
            .clone()
            .filter(|idx| pairs.old_of[*idx].is_none())
            .collect();
        let keys = |free: &[usize], keys: &[u64]| free.iter().map(|idx| keys[*idx]).collect();
        let (some, others): (Vec<u64>, Vec<u64>) = (keys(&free_old, old), keys(&free_new, new));
        let mut last = (olds.start, news.start);
        for (some, others) in equal_ranges(&some, &others) {
            for (some, other) in some.zip(others) {
                let (old, new) = (free_old[some], free_new[other]);
                pairs.join(old, new);
                left.push((last.0..old, last.1..new));
                last = (old + 1, new + 1);
            }
        }
        left.push((last.0..olds.end, last.1..news.end));
    }
    left.retain(|(olds, news)| !olds.is_empty() && !news.is_empty());
    left
}

/// Of what is the same and was not matched yet, the first goes with the first, the second with the second.
fn join_moved(old: &[u64], new: &[u64], pairs: &mut Pairs) {
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

/// What belongs to calls that are matched goes together: of each type the first with the first.
fn join_answers(
    (old, old_kinds): (&[EventMeaning], &[u64]),
    (new, new_kinds): (&[EventMeaning], &[u64]),
    pairs: &mut Pairs,
) {
    let mut left: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
    for idx in pairs.removed().collect::<Vec<_>>().into_iter().rev() {
        if let Some(partner) = old[idx].call.and_then(|call| pairs.new_of[call]) {
            left.entry((partner, old_kinds[idx])).or_default().push(idx);
        }
    }
    for (idx, event) in new.iter().enumerate() {
        let Some(call) = event.call.filter(|_| pairs.old_of[idx].is_none()) else {
            continue;
        };
        let partner = left.get_mut(&(call, new_kinds[idx])).and_then(Vec::pop);
        if let Some(partner) = partner {
            pairs.join(partner, idx);
            if pairs.moved.contains(&call) {
                pairs.moved.insert(idx);
            }
        }
    }
}

/// For each call a number that is the same for calls with the same answers; what else there is has its own, or that of
/// its call with it.
fn with_answers(events: &[EventMeaning], own: &[u64]) -> Vec<u64> {
    let mut hashers: Vec<DefaultHasher> = vec![DefaultHasher::new(); events.len()];
    for (index, event) in events.iter().enumerate() {
        own[index].hash(&mut hashers[event.call.unwrap_or(index)]);
    }
    let keys: Vec<u64> = hashers.iter().map(DefaultHasher::finish).collect();
    let key = |(index, event): (usize, &EventMeaning)| match event.call {
        Some(call) => {
            let mut hasher = DefaultHasher::new();
            (own[index], keys[call]).hash(&mut hasher);
            hasher.finish()
        }
        None => keys[index],
    };
    events.iter().enumerate().map(key).collect()
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
