//! Answers that clients may ask for again by their id, as they were sent.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use crate::wire::llm::answer::Element;

/// Older answers are made anew from the script, in the words of the API's usual agent.
const MAX_STORED: usize = 1_000;

/// An answer as it was sent.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) model: String,
    pub(super) elements: Vec<Element>,
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
}

impl StoredAnswers {
    /// Keeps an answer; the oldest one goes.
    pub(super) fn keep(&self, id: &str, answer: Stored) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// The answer with this id, if it is kept.
    pub(super) fn of(&self, id: &str) -> Option<Arc<Stored>> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.answers.get(id).cloned()
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
                elements: Vec::new(),
            };
            stored.keep(&format!("resp_{number}"), answer);
        }
        assert!(stored.of("resp_0").is_none());
        assert_eq!(
            stored.of("resp_1").map(|it| it.model.clone()).as_deref(),
            Some("1")
        );
    }
}
