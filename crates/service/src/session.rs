//! A session: what it has told so far, who waits for more, and who steers it.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use cuecard_source::value::Json;
use cuecard_timeline::model::SessionStatus;
use jiff::Timestamp;
use serde_json::json;
use tokio::sync::watch;

use super::options::ServiceOptions;
use super::script::{ServiceScript, StepPlace, is_final, message};
use super::shapes::NewPrompt;

/// No session tells more events: the prompts that clients send are bounded by that.
pub(crate) const MOST_EVENTS: usize = 100_000;

/// So many prompts are kept as they were sent.
const MOST_RECEIVED: usize = 1000;

/// An event that was told.
#[derive(Debug)]
pub(crate) struct Told {
    /// Its number, from 1.
    pub(crate) seq: u64,
    pub(crate) ts: Timestamp,
    /// What it says, with `type` and `ts`.
    pub(crate) data: Json,
    /// The event as it stands in a stream.
    pub(crate) frame: Bytes,
    /// The place in the timeline that it is told for.
    pub(crate) place: Option<StepPlace>,
}

/// What steers a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    Run,
    Pause,
    Stop,
}

/// What a task says of its session.
#[derive(Debug, Clone)]
pub(crate) struct TaskInfo {
    pub(crate) prompt: String,
    pub(crate) repo: Json,
    pub(crate) runtime: Json,
    pub(crate) agent: Json,
    pub(crate) delivery: Json,
    pub(crate) labels: Json,
    pub(crate) project_id: Option<String>,
}

/// A session of a service.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: Arc<str>,
    pub(crate) number: u64,
    /// What is played in it, and its number; nothing if it shows a run that goes on elsewhere.
    pub(crate) script: Option<(usize, Arc<ServiceScript>)>,
    pub(crate) task: TaskInfo,
    /// When it began, as its events tell.
    pub(crate) started: Timestamp,
    state: Mutex<State>,
    /// How many events there are: who waits is woken by it.
    n_events: watch::Sender<usize>,
    pub(crate) control: watch::Sender<Control>,
    /// How many prompts have come.
    n_prompts: watch::Sender<usize>,
    /// Faults that have hit a stream.
    pub(crate) hit: Mutex<HashSet<usize>>,
}

#[derive(Debug)]
struct State {
    events: Vec<Arc<Told>>,
    status: SessionStatus,
    completed: Option<Timestamp>,
    updated: Timestamp,
    is_merged: bool,
    /// Prompts that the script has not taken yet.
    prompts: VecDeque<String>,
    /// All prompts that clients sent, also those that were refused, up to a bound.
    received: Vec<String>,
    /// How many it has taken.
    n_taken: usize,
    /// Whether it waits for one.
    is_waiting: bool,
    /// How far the script is.
    elapsed: Duration,
    /// Files by what was done to them.
    files: std::collections::BTreeSet<String>,
    lines_added: u64,
    lines_removed: u64,
}

/// Why a session can't be steered so.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is in another state: its status.
    WrongState(&'static str),
    /// It is over: its status.
    Over(&'static str),
    /// It tells no more events.
    Full,
    /// The script waits for another prompt, or for none any more.
    /// Its number among the prompts of the script, from 0, and what differs beside the text.
    Unscripted(usize, Option<String>),
    /// It shows a run that goes on elsewhere.
    Shown,
}

impl Session {
    pub(crate) fn new(
        id: Arc<str>,
        number: u64,
        script: Option<(usize, Arc<ServiceScript>)>,
        task: TaskInfo,
        started: Timestamp,
    ) -> Self {
        Self {
            id,
            number,
            script,
            task,
            started,
            state: Mutex::new(State {
                events: Vec::new(),
                status: SessionStatus::Queued,
                completed: None,
                updated: started,
                is_merged: false,
                prompts: VecDeque::new(),
                received: Vec::new(),
                n_taken: 0,
                is_waiting: false,
                elapsed: Duration::ZERO,
                files: Default::default(),
                lines_added: 0,
                lines_removed: 0,
            }),
            n_events: watch::Sender::new(0),
            control: watch::Sender::new(Control::Run),
            n_prompts: watch::Sender::new(0),
            hit: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells an event; nothing once the session is over.
    fn tell_in(
        &self,
        state: &mut State,
        mut event: Json,
        place: Option<StepPlace>,
    ) -> Option<Arc<Told>> {
        if is_final(state.status) {
            return None;
        }
        let ts = self
            .started
            .checked_add(state.elapsed)
            .unwrap_or(Timestamp::MAX);
        let seq = state.events.len() as u64 + 1;
        if let Json::Object(members) = &mut event {
            members.shift_insert(1, "ts".to_owned(), json!(written(ts)));
        }
        if event["type"] == "file_edit" {
            let path = event["file_path"].as_str().unwrap_or_default();
            state.files.insert(path.to_owned());
            state.lines_added += event["lines_added"].as_u64().unwrap_or_default();
            state.lines_removed += event["lines_removed"].as_u64().unwrap_or_default();
        }
        let frame = Bytes::from(format!("id: {seq}\nevent: session\ndata: {event}\n\n"));
        let told = Arc::new(Told {
            seq,
            ts,
            data: event,
            frame,
            place,
        });
        state.events.push(told.clone());
        state.updated = ts;
        self.n_events.send_replace(state.events.len());
        Some(told)
    }

    /// When it is, as its events tell.
    pub(crate) fn now(&self) -> Timestamp {
        let elapsed = self.state().elapsed;
        self.started.checked_add(elapsed).unwrap_or(Timestamp::MAX)
    }

    /// Tells an event of a run that it shows.
    pub(crate) fn tell(&self, event: Json) {
        self.tell_in(&mut self.state(), event, None);
    }

    /// Makes the status another, and tells it.
    pub(crate) fn become_status(&self, status: SessionStatus) -> Option<Arc<Told>> {
        let mut state = self.state();
        self.become_in(&mut state, status, None)
    }

    fn become_in(
        &self,
        state: &mut State,
        status: SessionStatus,
        place: Option<StepPlace>,
    ) -> Option<Arc<Told>> {
        let told = self.tell_in(
            state,
            json!({"type": "status", "status": status.as_str()}),
            place,
        )?;
        state.status = status;
        if is_final(status) {
            state.completed = Some(told.ts);
            // Who waits learns that nothing more comes.
            self.n_events.send_modify(|_| {});
        }
        Some(told)
    }

    pub(crate) fn merge(&self) {
        self.state().is_merged = true;
    }

    /// How far the script is; `ts` of what follows.
    pub(crate) fn reached(&self, elapsed: Duration) {
        let mut state = self.state();
        state.elapsed = state.elapsed.max(elapsed);
    }

    pub(crate) fn status(&self) -> SessionStatus {
        self.state().status
    }

    /// Freezes the script.
    pub(crate) fn pause(&self) -> Result<Vec<Arc<Told>>, Refused> {
        let can = |status| {
            matches!(
                status,
                SessionStatus::Queued | SessionStatus::Provisioning | SessionStatus::Running
            )
        };
        self.steer(
            can,
            Control::Pause,
            [SessionStatus::Pausing, SessionStatus::Paused],
        )
    }

    /// Lets the script go on where it was.
    pub(crate) fn resume(&self) -> Result<Vec<Arc<Told>>, Refused> {
        let can = |status| status == SessionStatus::Paused;
        self.steer(
            can,
            Control::Run,
            [SessionStatus::Resuming, SessionStatus::Running],
        )
    }

    /// Ends the session.
    pub(crate) fn stop(&self) -> Result<Vec<Arc<Told>>, Refused> {
        self.steer(
            |_| true,
            Control::Stop,
            [SessionStatus::Stopping, SessionStatus::Stopped],
        )
    }

    fn steer(
        &self,
        can: impl Fn(SessionStatus) -> bool,
        control: Control,
        statuses: [SessionStatus; 2],
    ) -> Result<Vec<Arc<Told>>, Refused> {
        if self.script.is_none() {
            return Err(Refused::Shown);
        }
        let mut state = self.state();
        if is_final(state.status) || !can(state.status) {
            return Err(Refused::WrongState(state.status.as_str()));
        }
        // While the state is held, the script tells nothing.
        self.control.send_replace(control);
        let told = statuses
            .into_iter()
            .filter_map(|status| self.become_in(&mut state, status, None));
        Ok(told.collect())
    }

    /// Tells an event of the script, unless it is held.
    pub(crate) fn tell_scripted(
        &self,
        event: Json,
        place: StepPlace,
    ) -> Result<Option<Arc<Told>>, Control> {
        self.scripted(|state| self.tell_in(state, event, Some(place)))
    }

    /// The same for a status.
    pub(crate) fn become_scripted(
        &self,
        status: SessionStatus,
        place: StepPlace,
    ) -> Result<Option<Arc<Told>>, Control> {
        self.scripted(|state| self.become_in(state, status, Some(place)))
    }

    fn scripted<T>(&self, act: impl FnOnce(&mut State) -> T) -> Result<T, Control> {
        let mut state = self.state();
        match *self.control.borrow() {
            Control::Run => {}
            held => return Err(held),
        }
        Ok(act(&mut state))
    }

    /// A prompt of a client, with its `text` for people: it is told, or kept for a script that waits for it.
    pub(crate) fn prompt(
        &self,
        text: &str,
        sent: &NewPrompt,
        options: &ServiceOptions,
    ) -> Result<Option<Arc<Told>>, Refused> {
        let Some((_, script)) = &self.script else {
            return Err(Refused::Shown);
        };
        let mut state = self.state();
        if state.received.len() < MOST_RECEIVED {
            state.received.push(text.to_owned());
        }
        let status = state.status;
        if is_final(status) {
            return Err(Refused::Over(status.as_str()));
        }
        if *self.control.borrow() != Control::Run {
            return Err(Refused::WrongState(status.as_str()));
        }
        if state.events.len() + state.prompts.len() >= MOST_EVENTS {
            return Err(Refused::Full);
        }
        let told = match options.waits_for_prompts {
            true => {
                // The task itself is the first one.
                let prompt_idx = 1 + state.n_taken + state.prompts.len();
                let takes_any = options.takes_any(&script.timeline);
                let checked = match script.prompts.get(prompt_idx) {
                    None => Err(None),
                    Some(_) if takes_any => Ok(()),
                    Some(prompt) => prompt.check(sent),
                };
                checked.map_err(|why| Refused::Unscripted(prompt_idx, why))?;
                state.prompts.push_back(text.to_owned());
                None
            }
            false => self.tell_in(&mut state, message("user", text), None),
        };
        self.n_prompts.send_modify(|count| *count += 1);
        Ok(told)
    }

    /// The next prompt that a script waits for.
    pub(crate) fn take_prompt(&self) -> Option<String> {
        let mut state = self.state();
        let taken = state.prompts.pop_front();
        state.is_waiting = taken.is_none();
        state.n_taken += usize::from(taken.is_some());
        taken
    }

    /// All prompts that clients sent, the task's first.
    pub(crate) fn received(&self) -> Vec<String> {
        let task = std::iter::once(self.task.prompt.clone());
        task.chain(self.state().received.iter().cloned()).collect()
    }

    pub(crate) fn prompts(&self) -> watch::Receiver<usize> {
        self.n_prompts.subscribe()
    }

    /// Events from `from` on, counted from 0, up to so many, and whether nothing will follow the last one there is.
    pub(crate) fn events_from(&self, from: usize, most: usize) -> (Vec<Arc<Told>>, bool) {
        let state = self.state();
        let rest = state.events.get(from..).unwrap_or_default();
        let some = &rest[..rest.len().min(most)];
        (some.to_vec(), is_final(state.status))
    }

    /// How many events there are.
    pub(crate) fn n_events(&self) -> usize {
        self.state().events.len()
    }

    /// Is woken when there are more events.
    pub(crate) fn watch(&self) -> watch::Receiver<usize> {
        self.n_events.subscribe()
    }

    /// Whether the list leaves it out unless somebody asks for its status.
    pub(crate) fn is_put_away(&self) -> bool {
        let state = self.state();
        state.status == SessionStatus::Completed && !state.is_merged
    }

    /// The session for clients.
    pub(crate) fn document(&self) -> super::shapes::SessionDocument {
        let state = self.state();
        let recent = state.events.iter().rev().take(3).rev();
        super::shapes::SessionDocument {
            id: self.id.to_string(),
            status: state.status.as_str().to_owned(),
            is_waiting: state.is_waiting && !is_final(state.status),
            is_shown: self.script.is_none(),
            prompt: self.task.prompt.clone(),
            repo: self.task.repo.clone(),
            runtime: self.task.runtime.clone(),
            agent: self.task.agent.clone(),
            delivery: self.task.delivery.clone(),
            labels: self.task.labels.clone(),
            project_id: self.task.project_id.clone(),
            created_at: written(self.started),
            updated_at: written(state.updated),
            completed_at: state.completed.map(written),
            changes: state.completed.map(|_| super::shapes::Changes {
                files_changed: state.files.len() as u64,
                lines_added: state.lines_added,
                lines_removed: state.lines_removed,
            }),
            recent_events: recent.map(|told| told.data.clone()).collect(),
        }
    }
}

/// A time as it is sent: RFC 3339, to milliseconds.
pub(crate) fn written(ts: Timestamp) -> String {
    format!("{ts:.3}")
}
