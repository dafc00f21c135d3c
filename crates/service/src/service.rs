//! What a service is while it runs: its scripts, its sessions, and what was found.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::fault::FrameHit;
use cuecard_runtime::findings::{Findings, logged};
use cuecard_runtime::scripted_faults::ScriptedFaults;
use cuecard_runtime::trace_writer::TraceWriter;
use cuecard_source::diagnostic::{Diagnostic, Severity};
use cuecard_source::value::{Json, cut};
use cuecard_timeline::script::{Selection, SelectionReason, Selector, Wanted};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Notice;
use super::once::Keys;
use super::options::ServiceOptions;
use super::player::{play, traced};
use super::problem::Problem;
use super::script::{ServiceScript, is_final};
use super::session::{Session, TaskInfo, Told};
use super::shapes::{AcceptedTask, AgentChoice, Links, NewPrompt, NewTask};

/// A task has so many agents at most.
const MOST_AGENTS: usize = 10;
/// An agent has so many sessions.
const COUNTS: std::ops::RangeInclusive<u32> = 1..=10;

pub(crate) struct Service {
    pub(crate) options: ServiceOptions,
    pub(crate) scripts: Vec<Arc<ServiceScript>>,
    selector: Selector,
    pub(crate) findings: Findings,
    pub(crate) faults: ScriptedFaults<()>,
    pub(crate) clock: Clock,
    pub(crate) stop: CancellationToken,
    pub(crate) teller: TraceWriter<Notice>,
    tasks: TaskTracker,
    sessions: Mutex<BTreeMap<u64, Arc<Session>>>,
    n_sessions: AtomicU64,
    /// How many steps the first session has played.
    pub(crate) n_played: watch::Sender<usize>,
    played: Mutex<HashSet<usize>>,
    /// The answers to requests with a key. A request with a key has it until it is answered.
    pub(crate) keys: tokio::sync::Mutex<Keys>,
    pub(crate) drafts: Mutex<BTreeMap<String, Json>>,
    n_drafts: AtomicU64,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service {
    pub(crate) fn new(
        options: ServiceOptions,
        scripts: Vec<Arc<ServiceScript>>,
        selector: Selector,
        clock: Clock,
        teller: TraceWriter<Notice>,
    ) -> Self {
        let mut drafts = BTreeMap::new();
        for draft in seeds(&scripts, "drafts") {
            let id = draft["id"]
                .as_str()
                .map_or_else(|| format!("draft-{}", drafts.len() + 1), str::to_owned);
            drafts.insert(id, draft);
        }
        Self {
            findings: Findings::new(options.play.is_strict),
            faults: super::faults_of(&scripts),
            n_drafts: AtomicU64::new(drafts.len() as u64),
            drafts: Mutex::new(drafts),
            options,
            scripts,
            selector,
            clock,
            stop: CancellationToken::new(),
            teller,
            tasks: TaskTracker::new(),
            sessions: Mutex::default(),
            n_sessions: AtomicU64::new(0),
            n_played: watch::Sender::new(0),
            played: Mutex::default(),
            keys: Default::default(),
        }
    }

    pub(crate) async fn found(&self, found: Diagnostic) {
        let found = self.findings.strictly(found);
        let is_new = self.findings.keep(&found);
        if is_new || found.severity == Severity::Error {
            self.teller
                .events(self.clock.now(), vec![logged(&found)])
                .await;
        }
        if is_new {
            self.teller.notice(Notice::Finding(Box::new(found))).await;
        }
    }

    /// Writes an event that was told to the trace.
    pub(crate) async fn tell(&self, session: &Session, told: Option<Arc<Told>>) {
        let event = told.and_then(|told| traced(&told.data));
        if let Some(event) = event.filter(|_| self.teller.has_trace()) {
            let id = Some(session.id.clone());
            self.teller
                .events_in(id, self.clock.now(), vec![event])
                .await;
        }
    }

    /// Whether something goes wrong on purpose in the sessions of a scenario.
    pub(crate) fn has_faults(&self, session: &Session) -> bool {
        let played = session
            .script
            .as_ref()
            .map(|(scenario_idx, _)| *scenario_idx);
        let mut faults = self.faults.all().iter();
        faults.any(|fault| Some(fault.scenario_idx) == played)
    }

    /// The fault that hits an event in the first stream that comes to it.
    pub(crate) fn hit(&self, session: &Session, told: &Told) -> Option<FrameHit> {
        let place = told.place?;
        let played = session
            .script
            .as_ref()
            .map(|(scenario_idx, _)| *scenario_idx);
        let mut hit = lock(&session.hit);
        let mut faults = self.faults.all().iter().enumerate();
        let (fault_idx, fault) = faults.find(|(fault_idx, fault)| {
            Some(fault.scenario_idx) == played
                && fault.event_idx == place.event_idx
                && fault.aim.is_ok()
                && fault.fault.at_ms.is_none_or(|at_ms| place.into_ms >= at_ms)
                && !hit.contains(fault_idx)
        })?;
        hit.insert(fault_idx);
        Some(FrameHit {
            fault_idx,
            kind: fault.fault.kind,
            id: None,
        })
    }

    /// Does what a task asks for.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        task: NewTask,
        scenario_name: Option<&str>,
    ) -> Result<AcceptedTask, Problem> {
        if self.scripts.is_empty() {
            let detail = "this service only shows runs that go on elsewhere: it does no tasks";
            return Err(Problem::new(StatusCode::CONFLICT, detail));
        }
        let sent = NewPrompt {
            prompt: task.prompt.clone(),
            message: Json::Null,
        };
        let Some(prompt) = sent.text() else {
            return Err(Problem::invalid(
                "`prompt` must be a text or a list of content blocks, and not empty",
            ));
        };
        let selection = self.chosen(&sent, scenario_name).await?;
        let scenario_idx = selection.scenario_idx;
        let script = &self.scripts[scenario_idx];
        let is_any =
            self.options.takes_any(&script.timeline) || selection.reason == SelectionReason::Name;
        let first = script.prompts.first().filter(|_| !is_any);
        if let Some(Err(why)) = first.map(|first| first.check_blocks(&sent)) {
            let found = script.unscripted("a new task", &prompt, 0, Some(why));
            return Err(self.unscripted(found).await);
        }
        let agents = match task.agents.is_empty() {
            true => vec![AgentChoice {
                kind: "cuecard".to_owned(),
                version: None,
                count: 1,
            }],
            false => task.agents.clone(),
        };
        let is_bounded =
            agents.len() <= MOST_AGENTS && agents.iter().all(|agent| COUNTS.contains(&agent.count));
        if !is_bounded {
            return Err(Problem::invalid(format!(
                "a task has {MOST_AGENTS} `agents` at most, each with a `count` of {} to {}",
                COUNTS.start(),
                COUNTS.end()
            )));
        }
        let each = agents
            .iter()
            .flat_map(|agent| std::iter::repeat_n(agent, agent.count as usize));
        let tasks = each.map(|agent| TaskInfo {
            prompt: prompt.clone(),
            repo: task.repo.clone(),
            runtime: task.runtime.clone(),
            agent: json!({"type": agent.kind, "version": agent.version}),
            delivery: task.delivery.clone(),
            labels: task.labels.clone(),
            project_id: task.project_id.clone(),
        });
        let ids = self.open(scenario_idx, tasks.collect())?;
        let at = |tail: &str| format!("/api/v1/sessions/{}{tail}", ids[0]);
        Ok(AcceptedTask {
            links: Links {
                own: at(""),
                events: at("/events"),
                logs: at("/logs"),
            },
            session_ids: ids,
            status: "queued".to_owned(),
        })
    }

    /// Refuses a prompt, for what was `found`.
    pub(crate) async fn unscripted(&self, found: Diagnostic) -> Problem {
        let notes = found.notes.clone();
        self.found(found).await;
        Problem::unscripted().with_errors(notes)
    }

    async fn chosen(&self, sent: &NewPrompt, name: Option<&str>) -> Result<Selection, Problem> {
        let words = sent.words();
        let words = [words.as_str()];
        let blocks = sent.blocks();
        let wanted = Wanted {
            name: name.or(self.options.play.scenario_name.as_deref()),
            prompts: if sent.has_text() { &words } else { &[] },
            blocks: &blocks.iter().collect::<Vec<_>>(),
            ..Wanted::default()
        };
        match self.selector.select(wanted) {
            Ok(selection) => {
                let timeline = &self.scripts[selection.scenario_idx].timeline;
                if let Some(doubt) = selection.doubt(timeline) {
                    self.found(doubt).await;
                }
                Ok(selection)
            }
            Err(found) => {
                let problem = Problem::not_found(found.message.clone());
                let errors = found.notes.iter().chain(&found.help).cloned().collect();
                self.found(*found).await;
                Err(problem.with_errors(errors))
            }
        }
    }

    /// Starts a session for each task, and returns their ids.
    fn open(
        self: &Arc<Self>,
        scenario_idx: usize,
        tasks: Vec<TaskInfo>,
    ) -> Result<Vec<String>, Problem> {
        let script = (scenario_idx, self.scripts[scenario_idx].clone());
        let sessions = self.add(Some(script.clone()), tasks)?;
        let ids = sessions.iter().map(|session| session.id.to_string());
        let ids = ids.collect();
        for session in sessions {
            let (service, script, stop) = (self.clone(), script.clone(), self.stop.clone());
            self.tasks.spawn(async move {
                tokio::select! {
                    () = play(service, session, script) => {}
                    () = stop.cancelled() => {}
                }
            });
        }
        Ok(ids)
    }

    /// Adds a session for each task, or none if there is no room for all; those without a script show runs that go on
    /// elsewhere.
    pub(crate) fn add(
        &self,
        script: Option<(usize, Arc<ServiceScript>)>,
        tasks: Vec<TaskInfo>,
    ) -> Result<Vec<Arc<Session>>, Problem> {
        let mut sessions = lock(&self.sessions);
        if sessions.len() + tasks.len() > self.options.play.max_sessions {
            let detail = format!("there are {} sessions already: delete some", sessions.len());
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail));
        }
        let now = || self.clock.timestamp(self.clock.now());
        let started = self.options.fixed_time.unwrap_or_else(now);
        let added = tasks.into_iter().map(|task| {
            let number = self.n_sessions.fetch_add(1, Ordering::Relaxed) + 1;
            let id = format!("session-{number}").into();
            let session = Arc::new(Session::new(id, number, script.clone(), task, started));
            sessions.insert(number, session.clone());
            session
        });
        Ok(added.collect())
    }

    /// The session of an id.
    pub(crate) fn session(&self, id: &str) -> Result<Arc<Session>, Problem> {
        let number = id
            .strip_prefix("session-")
            .and_then(|number| number.parse().ok());
        let found = number.and_then(|number: u64| lock(&self.sessions).get(&number).cloned());
        found
            .filter(|session| &*session.id == id)
            .ok_or_else(|| Problem::not_found(format!("there is no session `{}`", cut(id, 100))))
    }

    /// All sessions, the newest first.
    pub(crate) fn sessions(&self) -> Vec<Arc<Session>> {
        lock(&self.sessions).values().rev().cloned().collect()
    }

    /// Forgets a session, which is stopped.
    pub(crate) fn delete(&self, session: &Session) {
        let _ = session.stop();
        lock(&self.sessions).remove(&session.number);
    }

    /// A session has come to the end of its script.
    pub(crate) fn played(&self, scenario_idx: usize) {
        lock(&self.played).insert(scenario_idx);
    }

    /// A session is over.
    pub(crate) async fn ended(&self, session: &Session) {
        let Some((_, script)) = &session.script else {
            return;
        };
        let notice = Notice::Ended {
            session: session.id.to_string(),
            scenario: script.timeline.name.clone(),
            status: session.status().as_str(),
        };
        self.teller.notice(notice).await;
    }

    /// The sessions whose script goes on.
    pub(crate) fn open_sessions(&self) -> Vec<Arc<Session>> {
        let is_open = |it: &Arc<Session>| it.script.is_some() && !is_final(it.status());
        self.sessions().into_iter().filter(is_open).collect()
    }

    /// The scenarios that no session played to their end, or one does not.
    pub(crate) fn unplayed(&self) -> Vec<usize> {
        let mut played = lock(&self.played).clone();
        for session in self.open_sessions() {
            if let Some((idx, _)) = &session.script {
                played.remove(idx);
            }
        }
        let all = 0..self.scripts.len();
        all.filter(|idx| !played.contains(idx)).collect()
    }

    pub(crate) fn n_sessions(&self) -> u64 {
        self.n_sessions.load(Ordering::Relaxed)
    }

    pub(crate) fn new_draft_id(&self) -> String {
        format!(
            "draft-{}",
            self.n_drafts.fetch_add(1, Ordering::Relaxed) + 1
        )
    }

    /// Ends all sessions.
    pub(crate) async fn end(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// What a list has: what the files say, else one entry that could be there.
    pub(crate) fn listed(&self, name: &str) -> Vec<Json> {
        let seeds = seeds(&self.scripts, name);
        if !seeds.is_empty() {
            return seeds;
        }
        vec![match name {
            "agents" => json!({"type": "cuecard", "version": env!("CARGO_PKG_VERSION")}),
            "runtimes" => json!({"type": "local", "name": "local"}),
            "executors" => json!({"id": "local", "status": "ready"}),
            "projects" => json!({"id": "default", "name": "default"}),
            "repos" => json!({"id": "example", "url": "https://example.org/example.git"}),
            _ => json!({"id": "default", "status": "ready"}),
        }]
    }

    /// Branches or files of a repository.
    pub(crate) fn of_repository(&self, id: &str, what: &str) -> Vec<Json> {
        for script in &self.scripts {
            if let Some(items) = script.timeline.server.seed["repositories"][id][what].as_array() {
                return items.clone();
            }
        }
        match what {
            "branches" => vec![json!("main")],
            _ => vec![json!("README.md")],
        }
    }
}

/// What all scripts say that a list has.
fn seeds(scripts: &[Arc<ServiceScript>], name: &str) -> Vec<Json> {
    let lists = scripts
        .iter()
        .filter_map(|script| script.timeline.server.seed[name].as_array());
    lists.flatten().cloned().collect()
}
