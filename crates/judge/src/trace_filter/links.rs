//! Which call a result or an error belongs to, when the calls themselves are not kept.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use cuecard_trace::EventSummary;

/// Every call of a trace in a few bytes each. Ids are known by hashes of 64 bits, of which two are the same once in
/// thousands of millions of traces.
#[derive(Debug, Default)]
pub(super) struct Links {
    calls: Vec<Linked>,
    /// The latest call of each call id.
    by_call_id: HashMap<u64, usize>,
    /// The calls by the ids of their events. Nothing needs it while each call has a call id of its own, so it is
    /// made when something does.
    by_event_id: Option<HashMap<u64, usize>>,
}

#[derive(Debug)]
struct Linked {
    event_id: u64,
    call_id: u64,
    /// Which of the names of called tools it has.
    names: usize,
    has_error: bool,
}

impl Links {
    /// Takes note of a call with the names at `names`.
    pub(super) fn called(&mut self, glance: &EventSummary<'_>, names: usize) {
        let index = self.calls.len();
        let (event_id, call_id) = (
            hash(&glance.event_id),
            hash(glance.call_id.as_deref().unwrap_or_default()),
        );
        self.calls.push(Linked {
            event_id,
            call_id,
            names,
            has_error: false,
        });
        if let Some(by_event_id) = &mut self.by_event_id {
            by_event_id.insert(event_id, index);
        }
        if self.by_call_id.insert(call_id, index).is_some() {
            self.by_event_id();
        }
    }

    /// The call that an event belongs to: the one that it names as its parent, else the latest with its call id.
    pub(super) fn find(&mut self, glance: &EventSummary<'_>) -> Option<usize> {
        let call_id = glance.call_id.as_deref().map(hash);
        let parent = glance.parent_event_id.as_deref().map(hash);
        if call_id.is_none() && parent.is_some() {
            self.by_event_id();
        }
        let of_parent = parent
            .zip(self.by_event_id.as_ref())
            .and_then(|(parent, by_event_id)| by_event_id.get(&parent).copied())
            .filter(|&index| call_id.is_none_or(|id| self.calls[index].call_id == id));
        of_parent.or_else(|| self.by_call_id.get(&call_id?).copied())
    }

    fn by_event_id(&mut self) {
        if self.by_event_id.is_none() {
            let ids = self.calls.iter().map(|call| call.event_id).zip(0..);
            self.by_event_id = Some(ids.collect());
        }
    }

    /// Takes note of an error of the call at `index`.
    pub(super) fn failed(&mut self, index: usize) {
        self.calls[index].has_error = true;
    }

    /// Which names the call at `index` has.
    pub(super) fn names(&self, index: usize) -> usize {
        self.calls[index].names
    }

    /// Whether the call at `index` has an error.
    pub(super) fn has_error(&self, index: usize) -> bool {
        self.calls[index].has_error
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
