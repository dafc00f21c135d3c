//! The servers of a run: started on first use, reused, all ended at the end.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_tool_call::model::AnswerPlace;
use cuecard_tool_call::script::{Failure, FailureKind, ReadyAnswers, Unanswered};
use cuecard_trace::{EventData, Log, RequestAnswered, RequestReceived};

use cuecard_mcp::config::Config;
use cuecard_mcp::{Notice, Protocol, ServerError, ServerSpec, Session, TransportSpec, demo};
use cuecard_runtime::tap::Recorder;

/// The server that the binary brings itself; it needs no config.
pub const DEMO_SERVER: &str = "demo";
/// The browser extension, which is found by its socket; it needs no config.
const CHROME_SERVER: &str = "claude-in-chrome";

/// How long starting a server may take unless somebody says otherwise.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The servers that are up.
#[derive(Debug)]
pub struct Pool {
    config: Config,
    environment: Vec<(OsString, OsString)>,
    start_timeout: Option<Duration>,
    sessions: HashMap<String, Arc<Session>>,
    /// Servers that were up once.
    seen: HashSet<String>,
    /// Servers that were started before they were asked for, and why they are not up.
    failed: HashMap<String, Failure>,
    /// Servers that can do over the older protocol only what their calls need.
    legacy: HashSet<String>,
    /// What servers are answered.
    answers: Arc<ReadyAnswers>,
    /// Which of the answers were given.
    given_answers: HashSet<AnswerPlace>,
}

impl Pool {
    /// A pool of the servers that `config` defines. `environment` is what a child may inherit from.
    pub fn new(
        config: Config,
        environment: Vec<(OsString, OsString)>,
        start_timeout: Option<Duration>,
    ) -> Self {
        Self {
            config,
            environment,
            start_timeout,
            sessions: HashMap::new(),
            seen: HashSet::new(),
            failed: HashMap::new(),
            legacy: HashSet::new(),
            answers: Arc::default(),
            given_answers: HashSet::new(),
        }
    }

    /// What defines the servers.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What servers are answered from now on; those that start then are told which questions have answers.
    pub(super) fn answer_with(&mut self, answers: &Arc<ReadyAnswers>) {
        self.answers = Arc::clone(answers);
    }

    /// What `session` asked since the last time, and was not answered.
    pub(super) fn take_unanswered(&mut self, session: &Session) -> Vec<Unanswered> {
        let asked = session.take_asked();
        self.given_answers.extend(asked.answered);
        asked.unanswered
    }

    /// The answers that no server ever asked for, as warnings.
    pub(super) fn unused_answers(&mut self) -> Vec<String> {
        let sessions: Vec<_> = self.sessions.values().cloned().collect();
        for session in sessions {
            self.take_unanswered(&session);
        }
        let places = self.answers.places();
        let unused = places.filter(|place| !self.given_answers.contains(place));
        unused
            .map(|place| format!("C-ANSWER-04: {place} was never requested by a server"))
            .collect()
    }

    /// Whether there is a server of this name.
    pub fn knows(&self, name: &str) -> bool {
        is_built_in(name) || self.config.server(name).is_some()
    }

    /// What a config says about a server's calls.
    pub fn call_timeout(&self, name: &str) -> Option<Duration> {
        self.config.server(name).and_then(|server| server.timeout)
    }

    /// The session of a server that is up already.
    pub fn open(&self, name: &str) -> Option<Arc<Session>> {
        self.sessions
            .get(name)
            .filter(|session| !session.is_over())
            .cloned()
    }

    /// The names of all servers that are up, sorted.
    pub fn open_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .sessions
            .iter()
            .filter(|(_, session)| !session.is_over())
            .map(|(name, _)| name.clone())
            .collect();
        names.sort();
        names
    }

    /// The session of a server, which is started unless it is up. One that died or hangs is started again.
    ///
    /// # Errors
    /// Why there is none; the run can't go on without it.
    pub async fn session(
        &mut self,
        name: &str,
        recorder: &mut Recorder<'_>,
    ) -> Result<Arc<Session>, Failure> {
        if let Some(session) = self.sessions.get(name) {
            let session = session.clone();
            let is_lost = session.is_lost();
            let hangs = !session.is_over() && session.hangs().await;
            if !is_lost && !hangs {
                session.answer_with(Arc::clone(&self.answers));
                return Ok(session);
            }
            self.take_unanswered(&session);
            recorder.record(log(
                "warning",
                match session.has_process() {
                    _ if hangs => format!(
                        "server `{name}` stopped responding and is being restarted; its state is lost"
                    ),
                    true => format!(
                        "server `{name}` had exited and is being restarted; its state is lost"
                    ),
                    false => format!(
                        "the connection to server `{name}` was lost and is being re-established; session state may be lost"
                    ),
                },
            ));
            self.sessions.remove(name);
            if hangs && let Some(session) = Arc::into_inner(session) {
                session.stop().await;
            }
        }
        let was_up = !self.seen.insert(name.to_owned());
        let started = match self.failed.remove(name) {
            Some(failure) => Err(failure),
            None => self.start(name, recorder).await,
        };
        // If the run got this far with it, its end is a failed step and not a failed start.
        started.map_err(|failure| match was_up {
            true => Failure {
                kind: FailureKind::CallFailed,
                ..failure
            },
            false => failure,
        })
    }

    /// Ends `session` of the server called `name`, which speaks the older protocol from its next start on.
    pub(super) async fn fall_back_to_legacy(
        &mut self,
        name: &str,
        session: Arc<Session>,
        recorder: &mut Recorder<'_>,
    ) {
        recorder.record(log("warning", session.fall_back_message()));
        self.legacy.insert(name.to_owned());
        self.sessions.remove(name);
        if let Some(session) = Arc::into_inner(session) {
            session.stop().await;
        }
    }

    /// Starts the servers called `names` at the same time, and gives each with its name in that order. Those that
    /// are up stay as they are.
    pub async fn start_all(
        &mut self,
        names: &[String],
        recorder: &mut Recorder<'_>,
    ) -> Vec<(String, Result<Arc<Session>, Failure>)> {
        let mut specs = Vec::new();
        for name in names.iter().filter(|name| self.open(name).is_none()) {
            specs.push((name, self.prepare(name, recorder)));
        }
        recorder.settle();
        let pool = &*self;
        let starting = specs.into_iter().map(|(name, spec)| async move {
            let started = match spec {
                Ok(spec) => start_session(spec, &pool.environment, &pool.answers).await,
                Err(failure) => Err(failure),
            };
            (name, started)
        });
        let mut failed = HashMap::new();
        for (name, started) in futures::future::join_all(starting).await {
            match started {
                Ok((spec, session)) => {
                    self.keep(&spec, session, recorder);
                }
                Err(failure) => {
                    failed.insert(name, failure);
                }
            }
        }
        let outcome = |name: &String| match failed.remove(name) {
            Some(failure) => Some((name.clone(), Err(failure))),
            None => Some((name.clone(), Ok(self.open(name)?))),
        };
        names.iter().filter_map(outcome).collect()
    }

    /// Starts those of the servers that were never up, at the same time; why one can't be started is told when it is
    /// asked for.
    pub(super) async fn start_new(&mut self, names: &[String], recorder: &mut Recorder<'_>) {
        let is_new = |name: &&String| self.knows(name) && !self.seen.contains(*name);
        let mut new: Vec<_> = names.iter().filter(is_new).cloned().collect();
        new.sort_unstable();
        new.dedup();
        for (name, started) in self.start_all(&new, recorder).await {
            if let Err(failure) = started {
                self.failed.insert(name, failure);
            }
        }
    }

    async fn start(
        &mut self,
        name: &str,
        recorder: &mut Recorder<'_>,
    ) -> Result<Arc<Session>, Failure> {
        let spec = self.prepare(name, recorder)?;
        recorder.settle();
        let (spec, session) = start_session(spec, &self.environment, &self.answers).await?;
        Ok(self.keep(&spec, session, recorder))
    }

    /// How to start a server, whose secrets are known from now on.
    fn prepare(&self, name: &str, recorder: &mut Recorder<'_>) -> Result<ServerSpec, Failure> {
        let spec = self.spec(name).map_err(|diagnostic| {
            let mut failure = Failure::new(FailureKind::ServerStart, diagnostic.message);
            failure.notes = diagnostic.notes;
            failure.help = diagnostic.help;
            failure
        })?;
        if let Some(server) = self.config.server(name) {
            recorder.add_secrets(server.secrets.iter().cloned());
        }
        Ok(spec)
    }

    fn keep(
        &mut self,
        spec: &ServerSpec,
        session: Session,
        recorder: &mut Recorder<'_>,
    ) -> Arc<Session> {
        let info = session.info();
        let mut message = format!("server `{}` ({}", spec.name, info.server_name);
        if !info.server_version.is_empty() {
            message.push_str(&format!(" {}", info.server_version));
        }
        message.push_str(&format!(") is up: {}", info.transport));
        if !info.protocol_version.is_empty() {
            message.push_str(&format!(", protocol {}", info.protocol_version));
        }
        // What is built in comes from nowhere else.
        if info.transport != spec.source {
            message.push_str(&format!(", from {}", spec.source));
        }
        recorder.record(log("debug", message));
        let session = Arc::new(session);
        session.answer_with(Arc::clone(&self.answers));
        self.seen.insert(spec.name.clone());
        self.sessions.insert(spec.name.clone(), session.clone());
        session
    }

    /// How the server called `name` is started or reached.
    ///
    /// # Errors
    /// Why it can't be: no config defines it, or its entry can't be used.
    pub fn spec(&self, name: &str) -> Result<ServerSpec, Diagnostic> {
        match self.config.server(name) {
            Some(server) => {
                let mut spec = server.spec.clone()?;
                if let Some(timeout) = self.start_timeout {
                    spec.start_timeout = timeout;
                }
                if self.legacy.contains(name) {
                    spec.protocol = Protocol::Legacy;
                }
                Ok(spec)
            }
            None if is_built_in(name) => Ok(ServerSpec {
                name: name.to_owned(),
                transport: match name {
                    CHROME_SERVER => TransportSpec::Chrome,
                    _ => TransportSpec::InProcess(Arc::new(demo::connect)),
                },
                protocol: Protocol::Auto,
                start_timeout: self.start_timeout.unwrap_or(START_TIMEOUT),
                allowed_tools: None,
                source: "built in".to_owned(),
            }),
            None => Err(unknown_server(&self.config, name)),
        }
    }

    /// Ends all servers at the same time. Takes a few seconds at most, whatever they do.
    pub async fn shut_down(&mut self) {
        let stopping = self.sessions.drain().map(|(_, session)| async move {
            if let Some(session) = Arc::into_inner(session) {
                session.stop().await;
            }
        });
        futures::future::join_all(stopping).await;
    }
}

/// The servers a scenario can use: configured and built in.
pub fn known_servers(config: &Config) -> impl Fn(&str) -> bool + '_ {
    |name| is_built_in(name) || config.server(name).is_some()
}

/// Whether a server of this name needs no config. One that a config defines is that.
pub fn is_built_in(name: &str) -> bool {
    name == DEMO_SERVER || name == CHROME_SERVER
}

/// Nothing defines the server called `name`.
pub fn unknown_server(config: &Config, name: &str) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(
        codes::TOOL_SERVER,
        format!("server `{name}` is not configured"),
    );
    let names: Vec<&str> = config.names().chain([DEMO_SERVER, CHROME_SERVER]).collect();
    if let Some(proposal) = did_you_mean(name, names.iter().copied()) {
        diagnostic = diagnostic.with_note(format!("did you mean `{proposal}`?"));
    }
    let looked: Vec<String> = config
        .files
        .iter()
        .map(|file| file.shown.display().to_string())
        .collect();
    diagnostic = diagnostic.with_note(if looked.is_empty() {
        "no config file was found".to_owned()
    } else {
        format!(
            "searched {}; configured servers: {}",
            looked.join(", "),
            names.join(", ")
        )
    });
    for broken in &config.broken {
        diagnostic.notes.push(format!(
            "`{}` has errors, so its servers are unknown",
            broken.file.shown.display()
        ));
    }
    diagnostic.with_help(format!("add it to .mcp.json: {{ \"mcpServers\": {{ \"{name}\": {{ \"command\": \"…\" }} }} }}, or name a config with --config FILE; `cuecard doctor` shows where servers are found"))
}

async fn start_session(
    spec: ServerSpec,
    environment: &[(OsString, OsString)],
    answers: &Arc<ReadyAnswers>,
) -> Result<(ServerSpec, Session), Failure> {
    match Session::start_answering(&spec, environment, Arc::clone(answers)).await {
        Ok(session) => Ok((spec, session)),
        Err(error) => Err(start_failure(&error)),
    }
}

fn start_failure(error: &ServerError) -> Failure {
    let mut failure = Failure::new(FailureKind::ServerStart, error.to_string());
    failure.notes.push(error.start_note());
    failure.notes.extend(error.facts.last_words_note());
    failure.help = error.help();
    failure
}

/// Records what a server said unasked, and gives how much it was.
pub(super) fn record_notices(name: &str, session: &Session, recorder: &mut Recorder<'_>) -> usize {
    recorder.add_secrets(session.take_secrets());
    let notices = session.drain_notices();
    let count = notices.len();
    for notice in notices {
        let notice = notice.bounded(recorder.redactor());
        let server = name.to_owned();
        let answered = |method: &str, result, answer, error| {
            EventData::RequestAnswered(RequestAnswered {
                server: name.to_owned(),
                method: method.to_owned(),
                result,
                answer,
                error,
            })
        };
        match &notice {
            Notice::Asked { method, params } => {
                recorder.record(EventData::RequestReceived(RequestReceived {
                    server,
                    method: method.clone(),
                    params: params.clone(),
                }));
                continue;
            }
            Notice::Answered {
                method,
                result,
                place,
            } => {
                let answer = Some(place.pointer());
                recorder.record(answered(method, Some(result.clone()), answer, None));
                continue;
            }
            Notice::Tolerated { .. } => {
                recorder.record(log("warning", format!("server `{name}`: {notice}")));
                continue;
            }
            Notice::Refused { method, reason } => {
                recorder.record(answered(method, None, None, Some(reason.clone())));
            }
            _ => {}
        }
        let level = match &notice {
            Notice::Log { level, .. } => level.clone(),
            Notice::Refused { .. } | Notice::BadFrame { .. } => "warning".to_owned(),
            _ => "debug".to_owned(),
        };
        recorder.record(EventData::Log(Log {
            level,
            message: notice.to_string(),
            stream: Some(name.to_owned()),
        }));
    }
    count
}

pub(super) fn log(level: &str, message: String) -> EventData {
    EventData::Log(Log {
        level: level.to_owned(),
        message,
        stream: None,
    })
}

#[cfg(test)]
mod tests {
    use cuecard_source::value::Redactor;

    use super::*;
    use cuecard_mcp::{Advice, ErrorKind, Exit, Request, ServerFacts};
    use cuecard_runtime::clock::Clock;
    use cuecard_runtime::tap::Listener;

    fn error(started_as: &str) -> ServerError {
        ServerError {
            kind: ErrorKind::Exited {
                exit: Exit::Code(1),
                after: Duration::from_millis(300),
            },
            request: Request::Start,
            facts: Box::new(ServerFacts {
                server: "github".to_owned(),
                started_as: started_as.to_owned(),
                transport: "stdio",
                source: ".mcp.json".to_owned(),
                protocol: Protocol::Auto,
                last_words: vec!["Error: TOKEN is not set".to_owned()],
                stray_output: None,
                break_reason: None,
                trouble: None,
            }),
        }
    }

    #[test]
    fn a_server_that_did_not_start_is_told_with_its_command_line() {
        assert_eq!(
            start_failure(&error("npx -y server")).notes,
            [
                "started as: npx -y server (from .mcp.json)",
                "its last output: Error: TOKEN is not set",
            ]
        );
        let mut missing = error("npxx -y server");
        missing.kind = ErrorKind::NotRun {
            text: "command not found: `npxx`".to_owned(),
            help: Advice::Install("npxx".to_owned()),
        };
        assert_eq!(
            start_failure(&missing).notes[0],
            "start command: npxx -y server (from .mcp.json)"
        );
        let mut address = error("http://h/mcp");
        address.facts.transport = "http";
        assert_eq!(
            start_failure(&address).notes[0],
            "URL: http://h/mcp (from .mcp.json)"
        );
    }

    #[tokio::test]
    async fn what_is_built_in_is_said_once() {
        struct Heard(std::rc::Rc<std::cell::RefCell<Vec<String>>>);
        impl Listener for Heard {
            fn event(&mut self, event: &cuecard_trace::Event) {
                if let EventData::Log(log) = &event.data {
                    self.0.borrow_mut().push(log.message.clone());
                }
            }
        }
        let heard = std::rc::Rc::default();
        let mut recorder = Recorder::new(Clock::start(), Redactor::default());
        recorder.tell(Box::new(Heard(std::rc::Rc::clone(&heard))));
        let mut pool = Pool::new(Config::empty(), Vec::new(), None);
        pool.session(DEMO_SERVER, &mut recorder)
            .await
            .expect("it starts");
        pool.shut_down().await;
        recorder.settle();
        drop(recorder);
        let heard = heard.borrow();
        let line = heard
            .iter()
            .find(|line| line.contains("is up"))
            .expect("it is said");
        assert_eq!(line.matches("built in").count(), 1, "{line}");
    }
}
