//! Answers as they were sent, for requests that come again and again: who measures what is in front of a model sends
//! the same request thousands of times.

use std::collections::HashMap;

use axum::body::Bytes;
use cuecard_timeline::script::{Endpoint, Request, RequestKey, Served, SessionKey};

/// More is not kept, in bytes: it begins anew then.
const MAX_BYTES: usize = 4 << 20;
/// What an answer takes beside its body.
const ENTRY: usize = 256;

/// An answer that is no stream.
#[derive(Debug, Clone)]
pub(super) struct CachedBody {
    pub(super) body: Bytes,
    /// When it is due, in milliseconds after the request.
    pub(super) due_ms: u64,
}

/// What an answer follows from: a request in its session, and what it got there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CacheKey {
    session: SessionKey,
    request: RequestKey,
    turn_idx: usize,
    attempt_idx: usize,
}

impl CacheKey {
    /// `None` where answers are not kept: a stream is made while it is sent, and Responses repeats of its request what
    /// the key leaves out.
    pub(super) fn of(session: SessionKey, request: &Request, served: &Served) -> Option<Self> {
        let is_kept = !request.wants_stream && request.endpoint != Endpoint::Responses;
        is_kept.then_some(Self {
            session,
            request: request.key,
            turn_idx: served.turn_idx,
            attempt_idx: served.attempt_idx,
        })
    }
}

/// Answers to requests that came more than once.
#[derive(Debug, Default)]
pub(super) struct WholeAnswers {
    answers: HashMap<CacheKey, CachedBody>,
    n_bytes: usize,
}

impl WholeAnswers {
    pub(super) fn get(&self, occasion: &CacheKey) -> Option<&CachedBody> {
        self.answers.get(occasion)
    }

    /// Keeps an answer; the same one again changes nothing.
    pub(super) fn keep(&mut self, occasion: CacheKey, answer: CachedBody) {
        let n_bytes = ENTRY + answer.body.len();
        if n_bytes > MAX_BYTES || self.answers.contains_key(&occasion) {
            return;
        }
        if self.n_bytes + n_bytes > MAX_BYTES {
            *self = Self::default();
        }
        self.n_bytes += n_bytes;
        self.answers.insert(occasion, answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occasion(session: u64, request: &Request) -> Option<CacheKey> {
        let served = Served {
            turn_idx: 1,
            ..Served::default()
        };
        CacheKey::of(SessionKey(session), request, &served)
    }

    fn whole(n_bytes: usize) -> CachedBody {
        CachedBody {
            body: vec![b'x'; n_bytes - ENTRY].into(),
            due_ms: 7,
        }
    }

    #[test]
    fn answers_are_kept_up_to_so_many_bytes() {
        let request = Request::new(Endpoint::Chat);
        let occasion = |session| occasion(session, &request).expect("an occasion");
        let mut answers = WholeAnswers::default();
        for _ in 0..3 {
            answers.keep(occasion(1), whole(MAX_BYTES / 2));
            answers.keep(occasion(2), whole(MAX_BYTES / 2));
        }
        assert_eq!(answers.get(&occasion(1)).map(|whole| whole.due_ms), Some(7));
        answers.keep(occasion(3), whole(ENTRY));
        assert_eq!((answers.answers.len(), answers.n_bytes), (1, ENTRY));
        answers.keep(occasion(4), whole(MAX_BYTES + 1));
        assert!(answers.get(&occasion(4)).is_none());
    }

    #[test]
    fn streams_and_answers_that_repeat_the_request_are_made_anew() {
        let mut request = Request::new(Endpoint::Chat);
        assert!(occasion(1, &request).is_some());
        request.wants_stream = true;
        assert!(occasion(1, &request).is_none());
        assert!(occasion(1, &Request::new(Endpoint::Responses)).is_none());
    }
}
