//! What a stand-in remembers between requests, under one lock: every request takes it once.

use std::collections::{BTreeSet, HashMap, HashSet};

use cuecard_source::value::cut;
use cuecard_timeline::script::{
    Address, Answered, Decision, Request, RequestKey, SessionKey, Sessions, UnmatchedRequest,
};

use cuecard_wire::llm::errors::ApiError;

/// More names of models are not kept.
const MAX_MODELS: usize = 1_000;
/// The longest name of one, in bytes.
const LONGEST_MODEL: usize = 200;
/// More turns that were refused, and requests that were traced, are not kept.
const MAX_REFUSED: usize = 10_000;

/// What is known of earlier requests.
#[derive(Debug)]
pub(super) struct Remembered {
    pub(super) sessions: Sessions,
    /// The names of models: those of scenarios and options, and those that were asked for.
    pub(super) models: BTreeSet<String>,
    /// Turns that were refused, by session: the same request again is refused again.
    refused: HashMap<(SessionKey, usize), ApiError>,
    /// Requests whose content the trace was told, by session: after an error they come again.
    traced: HashSet<(SessionKey, RequestKey)>,
    /// Turns that were asked for and wait until they may be answered, by session.
    waiting: HashSet<(SessionKey, usize)>,
}

impl Remembered {
    pub(super) fn new(sessions: Sessions, models: BTreeSet<String>) -> Self {
        Self {
            sessions,
            models,
            refused: HashMap::new(),
            traced: HashSet::new(),
            waiting: HashSet::new(),
        }
    }

    /// What the script has for a request at `now_ms`; and how its turn was refused, if it was and this is the same
    /// request again.
    pub(super) fn answer(
        &mut self,
        session: SessionKey,
        address: Address<'_>,
        request: &Request,
        now_ms: u64,
    ) -> Result<(Answered, Option<Box<ApiError>>), UnmatchedRequest> {
        self.note_model(&request.model);
        let answered = self.sessions.answer(session, address, request, now_ms)?;
        let session = answered.session;
        let refused = match &answered.decision {
            Decision::Repeat(served) => self.refused.get(&(session, served.turn_idx)).cloned(),
            // Another request for it, which may be better.
            Decision::Turn(served) => {
                self.refused.remove(&(session, served.turn_idx));
                None
            }
            _ => None,
        };
        Ok((answered, refused.map(Box::new)))
    }

    /// The turn was refused.
    pub(super) fn refuse(&mut self, session: SessionKey, turn_idx: usize, error: ApiError) {
        if self.refused.len() >= MAX_REFUSED {
            self.refused.clear();
        }
        self.refused.insert((session, turn_idx), error);
    }

    /// Whether this request is new in its session.
    pub(super) fn is_first(&mut self, session: SessionKey, request: &Request) -> bool {
        if self.traced.len() >= MAX_REFUSED {
            self.traced.clear();
        }
        self.traced.insert((session, request.key))
    }

    /// A turn waits until it may be answered.
    pub(super) fn waits(&mut self, session: SessionKey, turn_idx: usize) {
        if self.waiting.len() < MAX_REFUSED {
            self.waiting.insert((session, turn_idx));
        }
    }

    /// It waits no more; whether this is the first request for it that is answered.
    pub(super) fn waited(&mut self, session: SessionKey, turn_idx: usize) -> bool {
        self.waiting.remove(&(session, turn_idx))
    }

    fn note_model(&mut self, model: &str) {
        if !model.is_empty() && !self.models.contains(model) && self.models.len() < MAX_MODELS {
            self.models.insert(cut(model, LONGEST_MODEL).into_owned());
        }
    }
}
