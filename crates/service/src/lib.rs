//! A stand-in for an agent service: tasks become sessions that play a timeline and tell what happens as it happens.
//!
//! [`script`] says what a timeline is to a session and does no I/O; [`player`] plays it against the clock; [`session`]
//! holds what was told; [`events`] streams it to any number of readers; [`routes`] is the API, with its OpenAPI document
//! and the page that shows sessions. Requests with a key are answered [`once`], and prompts are compared with those that
//! are [`awaited`].

mod awaited;
mod events;
mod once;
mod options;
mod player;
mod problem;
mod routes;
mod script;
mod service;
mod session;
mod shapes;
mod shown;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use cuecard_runtime::clock::Clock;
use cuecard_runtime::findings::logged;
use cuecard_runtime::http_server::{Request, ServerOptions, Timeouts, serve};
use cuecard_runtime::listener::{self, Guard};
use cuecard_runtime::load::{Loaded, header, load};
use cuecard_runtime::media;
use cuecard_runtime::scripted_faults::ScriptedFaults;
use cuecard_runtime::trace_writer::{self, Watcher, Writer};
use cuecard_runtime::workers::Worker;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Json;
use cuecard_timeline::model::{EventKind, FaultKind};
use cuecard_timeline::script::Selector;
use cuecard_trace::{End, RunStatus};
use serde_json::json;
use tower::ServiceExt as _;

pub use cuecard_runtime::load::PlayOptions;
pub use cuecard_runtime::scripted_faults::PlannedFault;
pub use cuecard_runtime::start_error::StartError;
pub use cuecard_runtime::trace_writer::TraceOutput;
pub use options::ServiceOptions;
pub use player::traced;
pub use routes::openapi;
pub use shown::ShownSession;

use script::{ServiceScript, Step};
use service::Service;

/// What those who watch a service are told, as it happens.
#[derive(Debug, Clone)]
pub enum Notice {
    /// A session is over.
    Ended {
        /// Its id.
        session: String,
        /// The scenario's name.
        scenario: String,
        /// Its last status.
        status: &'static str,
    },
    /// Something failed, or is doubtful.
    Finding(Box<Diagnostic>),
}

/// How a run of a service went.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Whether nothing failed.
    pub passed: bool,
    /// What failed and what is doubtful, in order; bounded.
    pub findings: Vec<Diagnostic>,
    /// How many failures there were.
    pub n_failures: u64,
    /// How many sessions there were.
    pub n_sessions: u64,
    /// How many scenarios there are.
    pub n_scenarios: usize,
    /// The names of those that no session played to their end, or that one left before it.
    pub unplayed: Vec<String>,
    /// Why the trace is not whole, if it isn't.
    pub trace_error: Option<String>,
}

impl Verdict {
    /// The verdict for machines.
    pub fn to_json(&self) -> Json {
        json!({
            "passed": self.passed,
            "failures": self.n_failures,
            "sessions": self.n_sessions,
            "scenarios": self.n_scenarios,
            "unplayed": self.unplayed,
            "findings": cuecard_report::diagnostics::list_to_json(&self.findings),
            "trace_error": self.trace_error,
        })
    }
}

/// A service, before it starts. Without files it only shows runs that go on elsewhere.
#[derive(Default)]
pub struct MockService {
    paths: Vec<PathBuf>,
    options: ServiceOptions,
    trace: Option<TraceOutput>,
    watcher: Option<Watcher<Notice>>,
}

impl MockService {
    /// A service that plays the timelines in these files and folders.
    pub fn from_files(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self {
            paths: paths.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Everything that can be said about it.
    #[must_use]
    pub fn options(mut self, options: ServiceOptions) -> Self {
        self.options = options;
        self
    }

    /// Writes the trace of the run.
    #[must_use]
    pub fn trace(mut self, trace: TraceOutput) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Tells `watcher` what happens, on a thread of its own.
    #[must_use]
    pub fn watch(mut self, watcher: Watcher<Notice>) -> Self {
        self.watcher = Some(watcher);
        self
    }

    fn load(&self) -> Loaded<ServiceScript> {
        let options = &self.options;
        load(&self.paths, &options.play, |timeline| {
            // Prompts are compared with the bytes of their media.
            let is_compared = |event: &EventKind| matches!(event, EventKind::UserInputs(_));
            let (timeline, mut found) = media::embedded(timeline, is_compared);
            let is_strict = options.play.is_strict;
            let (script, doubts) =
                ServiceScript::compile(timeline, options.waits_for_prompts, is_strict);
            found.extend(doubts);
            (script, found)
        })
    }

    /// Reads the files, and tells what would go wrong on purpose.
    ///
    /// # Errors
    /// [`StartError::Files`]: bad files, all of their errors at once.
    pub fn planned_faults(&self) -> Result<Vec<PlannedFault>, StartError> {
        let loaded = self.load();
        if loaded.is_bad(self.options.play.skip_bad) {
            return Err(StartError::Files(loaded.diagnostics));
        }
        let scripts = &loaded.scripts;
        let timeline_of = |idx: usize| scripts.get(idx).map(|script| &*script.timeline);
        Ok(faults_of(scripts).planned(timeline_of, |()| 1))
    }

    /// Reads the files and listens.
    ///
    /// # Errors
    /// [`StartError`]: bad files, all of their errors at once; a port that is taken; a trace that can't be written.
    pub async fn start(self) -> Result<RunningService, StartError> {
        let loaded = self.load();
        let options = self.options;
        if !self.paths.is_empty() && loaded.is_bad(options.play.skip_bad) {
            return Err(StartError::Files(loaded.diagnostics));
        }
        let Loaded {
            scripts,
            diagnostics,
            ..
        } = loaded;
        let timelines = || scripts.iter().map(|script| &*script.timeline);
        let selector = Selector::new(timelines(), options.play.max_distance);
        if let Some(unknown) = selector.unknown_name(options.play.scenario_name.as_deref()) {
            return Err(StartError::Files(vec![unknown]));
        }
        let mut guard =
            Guard::new(options.bind, options.token.clone()).map_err(StartError::Listener)?;
        if let Some(origin) = &options.cors_origin {
            guard = guard.also_from(origin);
        }
        let listener = guard.listen().await.map_err(StartError::Listener)?;
        let address = listener.local_addr().map_err(StartError::Io)?;
        let clock = Clock::start();
        let secrets = options.token.iter().cloned().collect();
        let trace = self.trace.map(|trace| {
            let header = header(&trace.run_id, timelines());
            (trace, header)
        });
        let (teller, writer) =
            trace_writer::start(clock, secrets, trace, self.watcher).map_err(StartError::Io)?;
        teller
            .events(clock.now(), diagnostics.iter().map(logged).collect())
            .await;
        let serving = ServerOptions {
            n_threads: options.n_threads,
            timeouts: Timeouts::default(),
            max_connections: options.max_connections,
        };
        let service = Arc::new(Service::new(options, scripts, selector, clock, teller));
        let router = routes::router(service.clone(), &guard);
        let answer = move |request: Request| {
            let answering = router.clone().oneshot(request);
            async {
                let Ok(response) = answering.await;
                response
            }
        };
        let worker = serve(listener, serving, &service.stop, answer, |_| async {})
            .map_err(StartError::Io)?;
        Ok(RunningService {
            address,
            service,
            worker,
            writer,
            diagnostics,
        })
    }
}

/// The faults of scripts, and whether each can ever happen.
pub(crate) fn faults_of(scripts: &[Arc<ServiceScript>]) -> ScriptedFaults<()> {
    let timelines = scripts.iter().map(|script| &*script.timeline);
    ScriptedFaults::of(timelines, |scenario_idx, event_idx, _, kind: FaultKind| {
        let steps = &scripts[scenario_idx].steps;
        let is_told =
            |step: &Step| step.place.event_idx == event_idx && step.act != script::StepAct::Merge;
        match kind {
            FaultKind::Stderr => Err("a service has no standard error that its clients see"),
            _ if steps.iter().any(is_told) => Ok(()),
            _ => Err("a service tells nothing at this event"),
        }
    })
}

/// A service that runs.
pub struct RunningService {
    address: SocketAddr,
    service: Arc<Service>,
    worker: Worker,
    writer: Writer,
    diagnostics: Vec<Diagnostic>,
}

impl RunningService {
    /// `http://127.0.0.1:41873`, without a slash at the end: the page is there, and the API below `/api/v1`.
    pub fn base_url(&self) -> String {
        listener::base_url(self.address)
    }

    /// How many scenarios there are.
    pub fn n_scenarios(&self) -> usize {
        self.service.scripts.len()
    }

    /// What was found in the files: warnings and notes, and the errors of files that were left out.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Waits until the first session has told all that stands above an event of the first timeline, and the trace has it.
    pub async fn told_above(&self, event_idx: usize) {
        let steps = self.service.scripts.first().map(|script| &script.steps[..]);
        let is_above = |step: &Step| step.place.event_idx < event_idx;
        let last = steps.unwrap_or_default().iter().rposition(is_above);
        let mut n_played = self.service.n_played.subscribe();
        let told = n_played.wait_for(|&n_played| last.is_none_or(|last| n_played > last));
        // The service keeps the other end.
        let _ = told.await;
        self.service.teller.settled().await;
    }

    /// What became of the first session, if it tells nothing more though its script goes on.
    pub fn cut_off(&self) -> Option<&'static str> {
        if self.service.n_sessions() == 0 {
            return None;
        }
        let sessions = self.service.sessions();
        let Some(first) = sessions.iter().find(|session| session.number == 1) else {
            return Some("deleted");
        };
        let status = first.status();
        let n_steps = first
            .script
            .as_ref()
            .map_or(0, |(_, script)| script.steps.len());
        let is_over = *self.service.n_played.borrow() >= n_steps;
        (script::is_final(status) && !is_over).then(|| status.as_str())
    }

    /// The prompts that clients sent, by session; the task's first.
    pub fn received(&self) -> Vec<Vec<String>> {
        let sessions = self.service.sessions();
        let sessions = sessions.iter().rev();
        sessions.map(|session| session.received()).collect()
    }

    /// Ends all sessions and says how the run went.
    pub async fn stop(self) -> Verdict {
        let Self {
            service,
            worker,
            writer,
            ..
        } = self;
        service.end().await;
        worker.ended().await;
        let timeline_of = |idx: usize| service.scripts.get(idx).map(|script| &*script.timeline);
        let unplayed: Vec<String> = service
            .unplayed()
            .into_iter()
            .filter_map(|idx| Some(timeline_of(idx)?.name.clone()))
            .collect();
        if service.options.play.require_complete && !unplayed.is_empty() {
            let message = format!("not played to their end: {}", unplayed.join(", "));
            let found = Diagnostic::error(codes::MODEL_UNPLAYED, message);
            let open = service.open_sessions().into_iter().rev();
            let notes = open.map(|session| format!("`{}` had not come to its end", session.id));
            service
                .found(notes.fold(found, Diagnostic::with_note))
                .await;
        }
        let missed = "its event was not played, or no client streamed it";
        for found in service.faults.unfired(timeline_of, missed) {
            service.found(found).await;
        }
        let mut verdict = Verdict {
            passed: service.findings.n_failures() == 0,
            n_failures: service.findings.n_failures(),
            findings: service.findings.list(),
            n_sessions: service.n_sessions(),
            n_scenarios: service.scripts.len(),
            unplayed,
            trace_error: None,
        };
        let end = End::after(service.clock.now(), RunStatus::of(verdict.passed));
        verdict.trace_error = service.teller.finish(end, writer).await;
        verdict
    }
}

impl fmt::Debug for RunningService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunningService")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
