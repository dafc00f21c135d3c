//! What is known of a session.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuecard_source::value::Json;
use cuecard_timeline::model::PlanEntry;
use tokio_util::sync::CancellationToken;

use super::script::AcpScript;

/// A script with its index.
pub(super) type IndexedScript = (usize, Arc<AcpScript>);

/// A session of the client.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: Arc<str>,
    /// The folder that it works in.
    pub(super) folder: String,
    /// Whoever holds it plays events to the client.
    pub(super) playing: Arc<tokio::sync::Mutex<()>>,
    state: Arc<Mutex<State>>,
}

/// What changes.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Whether the client has closed it, and not opened it again.
    pub(super) is_closed: bool,
    /// What it plays, and its index: known once there is only one, or since the first prompt.
    pub(super) script: Option<IndexedScript>,
    /// The segment that the next prompt opens.
    pub(super) next_segment: usize,
    /// Ends the turn that is being played.
    pub(super) turn: Option<CancellationToken>,
    /// Ends what no prompt opened, after the session was loaded.
    pub(super) unopened: Option<CancellationToken>,
    /// The awaited calls that came, or were told to be missing, by their events.
    pub(super) settled_calls: HashSet<usize>,
    /// The mode and the model that the client has set, by their places in the answer to `session/load`.
    pub(super) chosen: HashMap<&'static str, String>,
    /// Whether the history was told, or needs no telling.
    pub(super) has_history: bool,
    /// The updates that were sent, and the prompts among them.
    pub(super) sent: Vec<Json>,
    /// The entries of the plan so far.
    pub(super) plan: Vec<PlanEntry>,
    /// What prompts were answered since the last assert on them.
    pub(super) answers: Vec<Json>,
    /// Faults that have hit a frame.
    pub(super) hit: HashSet<usize>,
}

impl Session {
    pub(super) fn new(id: Arc<str>, folder: String, script: Option<IndexedScript>) -> Self {
        Self {
            id,
            folder,
            playing: Arc::default(),
            state: Arc::new(Mutex::new(State {
                script,
                ..State::default()
            })),
        }
    }

    /// The session as it is opened again: it goes on where it was.
    pub(super) fn reopened(&self, folder: String) -> Self {
        self.state().is_closed = false;
        Self {
            id: self.id.clone(),
            folder,
            playing: Arc::default(),
            state: self.state.clone(),
        }
    }

    /// Ends what is played. Without anything it does nothing, and doesn't stick.
    pub(super) fn cancel(&self) {
        let state = self.state();
        for playing in state.turn.iter().chain(&state.unopened) {
            playing.cancel();
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All sessions, up to a bound; those that were closed, too.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    by_id: HashMap<Arc<str>, Arc<Session>>,
    /// How many were opened by a scenario's name, to number the next.
    opened: HashMap<String, u64>,
}

impl Sessions {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.by_id.get(id).cloned()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Session>> {
        self.by_id.values()
    }

    pub(super) fn insert(&mut self, session: Arc<Session>) {
        self.by_id.insert(session.id.clone(), session);
    }

    /// An id that no session has: that of the script if it is free, else a numbered one.
    pub(super) fn new_id(&mut self, scripted: Option<&str>, name: &str) -> Arc<str> {
        if let Some(id) = scripted.filter(|id| !self.by_id.contains_key(*id)) {
            return id.into();
        }
        let number = self.opened.entry(name.to_owned()).or_default();
        loop {
            *number += 1;
            let id = format!("{name}-{number}");
            if !self.by_id.contains_key(id.as_str()) {
                return id.into();
            }
        }
    }
}
