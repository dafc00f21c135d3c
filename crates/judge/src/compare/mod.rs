//! How one trace differs from another by meaning: what was done, in which order, with what, and what came of it.
//!
//! What differs from run to run does not count: ids, times, durations, tokens, logs. Events are matched before they
//! are compared, so that one more call is one difference, wherever it stands.

mod align;
mod meaning;
mod results;
mod values;

use std::collections::HashSet;

use regex::Regex;

pub use self::results::{
    AssertionDifference, AssertionOutcome, Results, TestDifference, TestOutcome,
};

use self::align::Pairs;
use self::meaning::{Meaning, meaning};
use self::values::{Places, changes};
use super::words::brief;
use cuecard_source::value::{Json, cut};
use cuecard_trace::Trace;

/// How two traces differ.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// The differences: those of events in the order of the second trace, what is missing where it was; then those
    /// of the rest.
    pub differences: Vec<Difference>,
    /// Whether no event was compared, since all are ignored.
    pub ignores_all_events: bool,
}

/// One difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// What differs.
    pub part: Part,
    /// How it differs.
    pub how: How,
    /// The event in the first trace; absent if it is new, or if this is about no event.
    pub old: Option<Place>,
    /// The event in the second trace; absent if it is missing, or if this is about no event.
    pub new: Option<Place>,
    /// The values that changed, in the order of the first trace. Empty unless `how` is [`How::Changed`].
    pub changes: Vec<Change>,
}

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A call.
    Call,
    /// What a tool answered.
    Result,
    /// An error.
    Error,
    /// A memory was read or written.
    Memory,
    /// The last answer.
    Output,
    /// Any other event.
    Event,
    /// How the run ended.
    Status,
    /// Anything else of the trace: its scenario, its input, its counts.
    Trace,
}

/// How something differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The second trace has it, the first doesn't.
    Added,
    /// The first trace has it, the second doesn't.
    Removed,
    /// Both have it, at another place among the events that both have.
    Moved,
    /// Both have it, with other values.
    Changed,
}

/// Where an event stands in its trace, and what it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Its place among the events that are compared, from 0.
    pub index: usize,
    /// Its place in the trace as written.
    pub seq: u64,
    /// Its id as written.
    pub event_id: String,
    /// Its type.
    pub kind: String,
    /// The tool it is about.
    pub tool: Option<String>,
    /// What it is about, on one line.
    pub text: String,
}

/// A value that is not the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Where it is, as a JSON pointer into the trace as a document whose `events` are those that are compared; in an
    /// event that both traces have, its place in the second.
    pub pointer: String,
    /// The value in the first trace, if it is there.
    pub was: Option<Json>,
    /// The value in the second trace, if it is there.
    pub is: Option<Json>,
}

impl Part {
    fn of(kind: &str) -> Self {
        match kind {
            "tool_call" => Self::Call,
            "tool_result" => Self::Result,
            "error" => Self::Error,
            "memory_read" | "memory_write" => Self::Memory,
            "final_output" => Self::Output,
            _ => Self::Event,
        }
    }

    /// The word in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Result => "result",
            Self::Error => "error",
            Self::Memory => "memory",
            Self::Output => "output",
            Self::Event => "event",
            Self::Status => "status",
            Self::Trace => "trace",
        }
    }
}

impl How {
    /// The word in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Moved => "moved",
            Self::Changed => "changed",
        }
    }
}

impl Place {
    /// The type of the event and the tool it is about, for messages.
    fn described(&self) -> String {
        match &self.tool {
            Some(tool) => format!("`{}` of `{}`", cut(&self.kind, 80), cut(tool, 80)),
            None => format!("`{}`", cut(&self.kind, 80)),
        }
    }
}

impl Difference {
    /// The difference in words, one for each value that changed.
    pub(super) fn told(&self) -> Vec<String> {
        match (self.how, &self.old, &self.new) {
            (How::Added, _, Some(new)) => {
                vec![format!(
                    "event {} is new: {}",
                    new.index + 1,
                    new.described()
                )]
            }
            (How::Removed, Some(old), _) => vec![format!("{} is missing", old.described())],
            (How::Moved, Some(old), Some(new)) => vec![format!(
                "event {} was event {}: {}",
                new.index + 1,
                old.index + 1,
                new.described()
            )],
            _ => self.changes.iter().map(Change::told).collect(),
        }
    }
}

impl Change {
    fn told(&self) -> String {
        let Self { pointer, was, is } = self;
        match (was, is) {
            (Some(was), Some(is)) => format!("`{pointer}` is {}, was {}", brief(is), brief(was)),
            (Some(was), None) => format!("`{pointer}` is missing, was {}", brief(was)),
            (None, Some(is)) => format!("`{pointer}` is new: {}", brief(is)),
            (None, None) => format!("`{pointer}` differs"),
        }
    }
}

/// Compares two traces. `ignore` holds JSON pointers in which `*` stands for any text of a part and `**` for any
/// parts; what lies below such a place is ignored too.
pub fn compare(old: &Trace, new: &Trace, ignore: &[String]) -> Comparison {
    let ignored: Vec<Regex> = ignore
        .iter()
        .filter_map(|place| values::pattern(place))
        .collect();
    let places = Places { ignored: &ignored };
    let (old, new) = (meaning(old), meaning(new));
    let count = old.events.len().max(new.events.len());
    let ignores_all_events = places.ignores("/events")
        || (0..count).all(|index| places.ignores(&format!("/events/{index}")));
    let mut comparison = Comparison {
        differences: Vec::new(),
        ignores_all_events,
    };
    if !ignores_all_events {
        events(&old, &new, places, &mut comparison.differences);
    }
    let has_output = comparison
        .differences
        .iter()
        .any(|difference| difference.part == Part::Output);
    let mut parts = [
        (Part::Output, Vec::new()),
        (Part::Status, Vec::new()),
        (Part::Trace, Vec::new()),
    ];
    for change in changes(&old.rest, &new.rest, "", places) {
        let part = match change.pointer.as_str() {
            pointer if pointer.starts_with("/final_output") => 0,
            "/status" => 1,
            _ => 2,
        };
        parts[part].1.push(change);
    }
    for (part, changes) in parts {
        // Of the output its event says the same.
        if changes.is_empty() || (part == Part::Output && has_output) {
            continue;
        }
        comparison.differences.push(Difference {
            part,
            how: How::Changed,
            old: None,
            new: None,
            changes,
        });
    }
    comparison
}

/// The differences of the events.
fn events(old: &Meaning, new: &Meaning, places: Places<'_>, found: &mut Vec<Difference>) {
    let pairs = align::align(&old.events, &new.events, places);
    let mut removed = pairs
        .removed()
        .filter(|index| !places.ignores(&format!("/events/{index}")))
        .filter(|index| !goes_with(old.events[*index].call, |call| pairs.new_of[call].is_none()))
        .peekable();
    // What is missing is told before what comes after it.
    let mut told_until = 0;
    for (index, event) in new.events.iter().enumerate() {
        let partner = pairs.old_of[index];
        if let Some(partner) = partner.filter(|_| !pairs.moved.contains(&index)) {
            told_until = told_until.max(partner);
            while let Some(gone) = removed.next_if(|gone| *gone < told_until) {
                found.push(of_event(How::Removed, Some((old, gone)), None, Vec::new()));
            }
        }
        let pointer = format!("/events/{index}");
        if places.ignores(&pointer) {
            continue;
        }
        match partner {
            None if goes_with(event.call, |call| pairs.old_of[call].is_none()) => {}
            None => found.push(of_event(How::Added, None, Some((new, index)), Vec::new())),
            Some(partner) => {
                let both = (Some((old, partner)), Some((new, index)));
                let follows = goes_with(event.call, |call| pairs.moved.contains(&call));
                if pairs.moved.contains(&index) && !follows {
                    found.push(of_event(How::Moved, both.0, both.1, Vec::new()));
                }
                let was = &old.events[partner];
                let mut changed = changes(&was.value, &event.value, &pointer, places);
                changed.extend(references((old, partner), (new, index), &pairs, places));
                if !changed.is_empty() {
                    found.push(of_event(How::Changed, both.0, both.1, changed));
                }
            }
        }
    }
    for gone in removed {
        found.push(of_event(How::Removed, Some((old, gone)), None, Vec::new()));
    }
}

/// Whether an event belongs to a call of which the same is told.
fn goes_with(call: Option<usize>, is_told: impl Fn(usize) -> bool) -> bool {
    call.is_some_and(is_told)
}

fn of_event(
    how: How,
    old: Option<(&Meaning, usize)>,
    new: Option<(&Meaning, usize)>,
    changes: Vec<Change>,
) -> Difference {
    let place = |(meaning, index): (&Meaning, usize)| meaning.events[index].place.clone();
    let (old, new) = (old.map(place), new.map(place));
    let kind = new
        .as_ref()
        .or(old.as_ref())
        .map_or("", |place| &place.kind);
    Difference {
        part: Part::of(kind),
        how,
        old,
        new,
        changes,
    }
}

/// What an event refers to must be the same in both traces. Of what only one of them has, that was told.
fn references(
    (old, old_index): (&Meaning, usize),
    (new, new_index): (&Meaning, usize),
    pairs: &Pairs,
    places: Places<'_>,
) -> Vec<Change> {
    let (was, is) = (&old.events[old_index], &new.events[new_index]);
    let all = [
        ("parent_event_id", was.parent, is.parent),
        ("data/call_id", was.call, is.call),
    ];
    let mut changed = Vec::new();
    for (name, was, is) in all {
        let differs = match (was, is) {
            (Some(was), Some(is)) => {
                pairs.new_of[was].is_some_and(|partner| partner != is) && pairs.old_of[is].is_some()
            }
            (was, is) => was.is_some() != is.is_some(),
        };
        let pointer = format!("/events/{new_index}/{name}");
        if differs && !places.ignores(&pointer) {
            let number = |index: usize| Json::from(index + 1);
            changed.push(Change {
                pointer,
                was: was.map(number),
                is: is.map(number),
            });
        }
    }
    changed
}

/// Indices of the second trace's events that differ, among those that are compared.
pub(super) fn places_of(differences: &[Difference]) -> HashSet<usize> {
    let places = differences
        .iter()
        .filter_map(|difference| difference.new.as_ref());
    places.map(|place| place.index).collect()
}

#[cfg(test)]
mod tests;
