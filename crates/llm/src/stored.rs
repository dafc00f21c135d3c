//! Answers that clients may ask for again by their id, as they were sent.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuecard_source::value::Json;

use cuecard_wire::llm::answer::Element;
use cuecard_wire::llm::ids::IdSeed;

/// Older answers are made anew from the script, in the words of the API's usual agent.
const MAX_STORED: usize = 1_000;

/// An answer as it was sent.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) model: String,
    /// What the ids of its items are made from.
    pub(super) seed: IdSeed,
    pub(super) shows_thinking: bool,
    /// What it says, if the script alone doesn't tell.
    pub(super) elements: Option<Vec<Element>>,
    /// What it was asked with, unless that is too long.
    pub(super) input: Option<Json>,
}

/// The answers that were sent last.
#[derive(Debug, Default)]
pub(super) struct StoredAnswers {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    answers: HashMap<String, Arc<Stored>>,
    in_order: VecDeque<String>,
    /// The ids of answers that were deleted, or not to be stored. When there are too many, all are forgotten.
    deleted: HashSet<String>,
}

impl StoredAnswers {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an answer; the oldest one goes.
    pub(super) fn keep(&self, id: &str, answer: Stored) {
        let mut inner = self.lock();
        inner.deleted.remove(id);
        if inner
            .answers
            .insert(id.to_owned(), Arc::new(answer))
            .is_some()
        {
            return;
        }
        inner.in_order.push_back(id.to_owned());
        if inner.in_order.len() > MAX_STORED
            && let Some(oldest) = inner.in_order.pop_front()
        {
            inner.answers.remove(&oldest);
        }
    }

    /// Forgets an answer, or never knows it: what the script has is not said again for it.
    pub(super) fn delete(&self, id: &str) {
        let mut inner = self.lock();
        inner.answers.remove(id);
        inner.in_order.retain(|kept| kept != id);
        if inner.deleted.len() >= MAX_STORED {
            inner.deleted.clear();
        }
        inner.deleted.insert(id.to_owned());
    }

    /// Whether the answer with this id was deleted, or not to be stored.
    pub(super) fn is_deleted(&self, id: &str) -> bool {
        self.lock().deleted.contains(id)
    }

    /// The ids of the answers that are kept, newest first.
    pub(super) fn ids(&self) -> Vec<String> {
        self.lock().in_order.iter().rev().cloned().collect()
    }

    /// The answer with this id, if it is kept.
    pub(super) fn of(&self, id: &str) -> Option<Arc<Stored>> {
        self.lock().answers.get(id).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes() {
        let stored = StoredAnswers::default();
        for number in 0..=MAX_STORED {
            let answer = Stored {
                model: number.to_string(),
                seed: IdSeed::of(&["a"]),
                shows_thinking: false,
                elements: None,
                input: None,
            };
            stored.keep(&format!("resp_{number}"), answer);
        }
        assert!(stored.of("resp_0").is_none());
        assert_eq!(
            stored.of("resp_1").map(|it| it.model.clone()).as_deref(),
            Some("1")
        );
        stored.delete("resp_1");
        assert!(stored.is_deleted("resp_1") && stored.of("resp_1").is_none());
    }
}
