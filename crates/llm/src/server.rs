//! Starts a stand-in and stops it.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_timeline::model::EventKind;
use cuecard_timeline::profiles::Profiles;
use cuecard_timeline::script::{Selector, Sessions};
use cuecard_trace::{End, RunStatus};
use tokio::net::TcpListener;
use tokio_util::sync::DropGuard;

use super::answers::ToolMapping;
use super::exchange_recorder::{Exchange, Verdict, Watcher};
use super::faults::{Faults, PlannedFault};
use super::files;
use super::mock_server::MockServer;
use super::options::LlmOptions;
use super::played::unplayed_diagnostic;
use super::service;
use super::style;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::findings::logged;
use cuecard_runtime::http_server::{ServerNotice, ServerOptions, serve};
use cuecard_runtime::listener::{self, Guard};
use cuecard_runtime::load::{Loaded, header};
use cuecard_runtime::start_error::StartError;
use cuecard_runtime::trace_writer::{self, TraceOutput, Writer};
use cuecard_runtime::workers::Worker;
use cuecard_workspace::probe;

/// Where clients of the providers put their API key, besides `Authorization`.
pub(super) const KEY_HEADERS: &[&str] = &["x-api-key", "api-key", "x-goog-api-key"];

/// A stand-in for a model's API, before it starts.
///
/// See [the module](super) for an example.
#[derive(Debug, Default)]
pub struct MockLlm {
    paths: Vec<PathBuf>,
    options: LlmOptions,
    trace: Option<TraceOutput>,
    watcher: Option<WatcherSlot>,
}

pub(super) struct WatcherSlot(pub(super) Watcher);

impl fmt::Debug for WatcherSlot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a watcher")
    }
}

impl MockLlm {
    /// A stand-in that plays the timeline in a file, or those below a folder.
    pub fn from_file(path: impl Into<PathBuf>) -> Self {
        Self::from_files([path])
    }

    /// A stand-in that plays the timelines in these files and folders.
    pub fn from_files(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self {
            paths: paths.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Everything that can be said about it at once; replaces what was said before.
    #[must_use]
    pub fn options(mut self, options: LlmOptions) -> Self {
        self.options = options;
        self
    }

    /// Changes one thing: `.with(|options| options.play.speed = …)`.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut LlmOptions)) -> Self {
        change(&mut self.options);
        self
    }

    /// Listens on this port of this machine; 0, the default, takes a free one.
    #[must_use]
    pub fn port(self, port: u16) -> Self {
        self.with(|options| options.bind.set_port(port))
    }

    /// Writes the trace of the run.
    #[must_use]
    pub fn trace(mut self, trace: TraceOutput) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Tells `watcher` what happens, on a thread of its own.
    #[must_use]
    pub fn watch(mut self, watcher: Watcher) -> Self {
        self.watcher = Some(WatcherSlot(watcher));
        self
    }

    /// Reads the files, and tells what would go wrong on purpose.
    ///
    /// # Errors
    /// [`StartError::Files`]: bad files, all of their errors at once.
    pub fn planned_faults(&self) -> Result<Vec<PlannedFault>, StartError> {
        let (loaded, _) = files::load(&self.paths, &self.options);
        match loaded.is_bad(self.options.play.skip_bad) {
            true => Err(StartError::Files(loaded.diagnostics)),
            false => Ok(Faults::of(&loaded.scripts).planned()),
        }
    }

    /// Reads the files and listens.
    ///
    /// # Errors
    /// [`StartError`]: bad files, all of their errors at once; a port that is taken; a trace that can't be written.
    pub async fn start(self) -> Result<RunningLlm, StartError> {
        let Self {
            paths,
            options,
            trace,
            watcher,
        } = self;
        let (loaded, ignored) = files::load(&paths, &options);
        if loaded.is_bad(options.play.skip_bad) {
            return Err(StartError::Files(loaded.diagnostics));
        }
        let Loaded {
            scripts,
            mut diagnostics,
            left_out,
        } = loaded;
        let timelines = || scripts.iter().map(|script| &*script.timeline);
        let selector = Selector::new(timelines(), options.play.max_distance);
        if let Some(unknown) = selector.unknown_name(options.play.scenario_name.as_deref()) {
            return Err(StartError::Files(vec![unknown]));
        }
        let profiles = Profiles::with(options.profiles.clone());
        if let Some(agent) = &options.agent {
            match profiles.of_agent(agent) {
                None => {
                    let known = profiles.agents().join(", ");
                    let version = agent.version.as_ref();
                    let version = version.map_or(String::new(), |version| format!(" {version}"));
                    let message =
                        format!("no profile found for the agent `{}{version}`", agent.agent);
                    let found = Diagnostic::error(codes::ARGUMENT, message).with_help(format!(
                        "available profiles: {known}; or pass one with `--profile FILE`"
                    ));
                    return Err(StartError::Files(vec![found]));
                }
                Some(profile) => {
                    let found = timelines().flat_map(|timeline| {
                        let calls = profile.check(timeline);
                        calls
                            .into_iter()
                            .chain(style::check_agent(timeline, profile))
                    });
                    let found = found.map(|found| found.strictly(options.play.is_strict));
                    let found: Vec<Diagnostic> = found.collect();
                    let is_bad = any_error(&found);
                    diagnostics.extend(found);
                    if is_bad {
                        return Err(StartError::Files(diagnostics));
                    }
                }
            }
        }
        let guard = Guard::new(options.bind, options.token.clone())
            .map_err(StartError::Listener)?
            .body_limit(options.body_limit)
            .token_headers(KEY_HEADERS);
        let listener = guard.listen().await.map_err(StartError::Listener)?;
        let address = listener.local_addr().map_err(StartError::Io)?;
        let clock = Clock::start();
        let secrets = options.token.iter().cloned().collect();
        let watcher = watcher.map(|WatcherSlot(watcher)| watcher);
        let trace = trace.map(|trace| {
            let header = header(&trace.run_id, timelines());
            (trace, header)
        });
        let (teller, writer) =
            trace_writer::start(clock, secrets, trace, watcher).map_err(StartError::Io)?;
        let logs = diagnostics.iter().map(logged).collect();
        teller.events(clock.now(), logs).await;
        let sessions = Sessions::new(scripts, selector, options.play.max_sessions);
        let calling = ToolMapping {
            profiles,
            agent: options.agent.clone(),
            is_strict: options.strict_tools,
            folder: std::path::absolute(&options.workspace)
                .unwrap_or_else(|_| options.workspace.clone())
                .to_string_lossy()
                .into_owned(),
        };
        let serving = ServerOptions {
            n_threads: options.n_threads,
            timeouts: options.timeouts,
            max_connections: options.max_connections,
        };
        let mock_server = Arc::new(MockServer::new(
            options, guard, sessions, calling, teller, clock, ignored,
        ));
        let stop_on_drop = mock_server.stop.clone().drop_guard();
        let worker = worker(&mock_server, listener, serving).map_err(StartError::Io)?;
        Ok(RunningLlm {
            _stop_on_drop: stop_on_drop,
            address,
            mock_server,
            worker,
            writer,
            diagnostics,
            left_out,
        })
    }
}

/// A stand-in that runs. It ends with [`RunningLlm::stop`], and when it is dropped.
pub struct RunningLlm {
    address: SocketAddr,
    mock_server: Arc<MockServer>,
    worker: Worker,
    writer: Writer,
    diagnostics: Vec<Diagnostic>,
    left_out: Vec<PathBuf>,
    _stop_on_drop: DropGuard,
}

impl RunningLlm {
    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// `http://127.0.0.1:41873`, without a slash at the end. Clients of OpenAI's API want `/v1` after it.
    pub fn base_url(&self) -> String {
        listener::base_url(self.address)
    }

    /// How many scenarios there are.
    pub fn n_scenarios(&self) -> usize {
        self.mock_server.scripts.len()
    }

    /// What was found in the files: warnings and notes, and the errors of files that were left out.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Files that were left out because they have errors.
    pub fn left_out(&self) -> &[PathBuf] {
        &self.left_out
    }

    /// The exchanges so far, in order; bounded, see [`LlmOptions::max_exchanges`].
    pub fn exchanges(&self) -> Vec<Arc<Exchange>> {
        self.mock_server.ledger.exchanges()
    }

    /// How it went so far. Turns that are not played are listed, and are no failure before the end.
    pub fn verdict(&self) -> Verdict {
        self.mock_server.verdict()
    }

    /// Whether a scenario expects that the program under test ends with this code.
    pub fn expects_exit_code(&self, code: i64) -> bool {
        let mut scripts = self.mock_server.scripts.iter();
        scripts.any(|script| script.timeline.expectations.exit_code == Some(code))
    }

    /// Stops: no new requests, a moment for answers on their way, the asserts after the last turns, the verdict.
    pub async fn stop(self) -> Verdict {
        self.stop_after(None).await
    }

    /// The same after the program under test, if it ended with this code: what scenarios expect of it counts.
    pub async fn stop_after(self, exit_code: Option<i64>) -> Verdict {
        let Self {
            mock_server,
            worker,
            writer,
            ..
        } = self;
        mock_server.stop.cancel();
        worker.ended().await;
        // A run that leads makes all checks but those of requests.
        last_asserts(&mock_server).await;
        if mock_server.options.lead.is_none() {
            judge_expectations(&mock_server, exit_code).await;
        }
        if mock_server.options.play.require_complete {
            let played = mock_server.played_turns();
            if let Some(found) = unplayed_diagnostic(&mock_server, &played) {
                mock_server.find(found).await;
            }
        }
        for found in mock_server.faults.unfired() {
            mock_server.find(mock_server.findings.strictly(found)).await;
        }
        let mut verdict = mock_server.verdict();
        let elapsed = mock_server.clock.now();
        let status = RunStatus::of(verdict.passed);
        let end = End::after(elapsed, status);
        verdict.trace_error = mock_server.teller.finish(end, writer).await;
        verdict
    }
}

impl fmt::Debug for RunningLlm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunningLlm")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// Starts to answer.
fn worker(
    mock_server: &Arc<MockServer>,
    listener: TcpListener,
    options: ServerOptions,
) -> io::Result<Worker> {
    let answering = mock_server.clone();
    let answer = move |request| service::handle(answering.clone(), request);
    let told = mock_server.clone();
    let tell = move |notice| {
        let mock_server = told.clone();
        async move {
            let found = match notice {
                ServerNotice::Crowded(n_places) => crowded(n_places),
                ServerNotice::NotHttp => service::not_http(),
            };
            mock_server.find(found).await;
        }
    };
    serve(listener, options, &mock_server.stop, answer, tell)
}

fn crowded(n_places: usize) -> Diagnostic {
    let message = format!("more than {n_places} connections: the others wait until one ends");
    Diagnostic::note(codes::SERVER_BOUND, message).with_help(
        "if you need more, raise the open file limit, for example with `ulimit -n 20000`",
    )
}

/// The asserts behind the last turn of each script that was played to its end.
async fn last_asserts(mock_server: &MockServer) {
    let unasked = mock_server.unasked();
    for (scenario_idx, script) in mock_server.scripts.iter().enumerate() {
        let turns = &script.turns.turns;
        let Some(last) = turns.last() else {
            continue;
        };
        if unasked.contains(&(scenario_idx, turns.len() - 1)) {
            continue;
        }
        let behind = script.timeline.events.iter().skip(last.event_idx + 1);
        for event in behind {
            let EventKind::Assert(assert) = &event.kind else {
                continue;
            };
            let (events, _) = mock_server
                .judge(script, &event.path, &assert.checks, None)
                .await;
            mock_server
                .teller
                .events(mock_server.clock.now(), events)
                .await;
        }
    }
}

/// What scenarios expect in the end, of those that were played at all.
async fn judge_expectations(mock_server: &MockServer, exit_code: Option<i64>) {
    let unasked = mock_server.unasked();
    for (scenario_idx, script) in mock_server.scripts.iter().enumerate() {
        let timeline = &script.timeline;
        let expected = &timeline.expectations;
        let mut turns = script.turns.turns.iter().enumerate();
        let is_played = turns.any(|(turn_idx, turn)| {
            !turn.is_history && !unasked.contains(&(scenario_idx, turn_idx))
        });
        if !is_played {
            continue;
        }
        let mut failures = Vec::new();
        match (expected.exit_code, exit_code) {
            (Some(_), None) => {
                let message = "`expect.exitCode` is not evaluated here: no command was run";
                let found = Diagnostic::note(codes::MODEL_ASSERT_UNJUDGED, message);
                let found = found.at(&timeline.source, expected.span.unwrap_or_default());
                mock_server
                    .find(mock_server.findings.strictly_noted(found))
                    .await;
            }
            (Some(code), Some(exit_code)) if code != exit_code => failures.push((
                format!("the command exited with {exit_code}, expected {code} (`expect.exitCode`)"),
                expected.span.unwrap_or_default(),
            )),
            _ => {}
        }
        let left = mock_server.options.leaves_asserts;
        for artifact in expected.artifacts.iter().filter(|_| !left) {
            let seen = probe::exists(&mock_server.options.workspace, &artifact.pattern);
            if !seen.holds {
                failures.push((
                    format!("an artifact is missing: {}", seen.evidence),
                    artifact.span,
                ));
            }
        }
        for (message, span) in failures {
            let found = Diagnostic::error(codes::EXPECTATION_FAILED, message);
            mock_server.find(found.at(&timeline.source, span)).await;
        }
    }
}

/// The key that clients get which ask for none: they don't start without one.
pub const DUMMY_KEY: &str = "cuecard";

/// The variables by which clients find the API at `url`, with the key that they are to send.
pub fn client_variables(url: &str, key: Option<&str>) -> Vec<(&'static str, String)> {
    let key = key.unwrap_or(DUMMY_KEY);
    vec![
        ("OPENAI_BASE_URL", format!("{url}/v1")),
        ("OPENAI_API_KEY", key.to_owned()),
        ("ANTHROPIC_BASE_URL", url.to_owned()),
        ("ANTHROPIC_API_KEY", key.to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", url.to_owned()),
        ("GEMINI_API_KEY", key.to_owned()),
    ]
}
