//! What the client says beside prompts: how a session is opened and set.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::matching::lack;
use cuecard_source::value::Json;
use cuecard_timeline::model::{Authenticate, EventKind, McpServer, McpTransport, PlanEntry};
use serde_json::{Map, json};
use tokio::task::JoinHandle;

use super::conversation::{Conversation, ECHOED};
use super::driver::Driver;
use super::expected::Expected;
use super::folder::{PlannedFile, SessionFolder};
use super::seen::SeenItem;
use crate::found::{differs, shown};
use crate::peer::{Answer, WriterEnd};
use crate::script::updates::with_meta;
use crate::script::{AwaitedCall, PROTOCOL_VERSION, is_for_others, model_with_id};
use crate::session::IndexedScript;
use crate::telling::CheckedFolder;
use cuecard_runtime::fault::FrameHit;

/// Why a script was not played to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// It was told why.
    Told,
    /// The agent says nothing more.
    Gone,
}

/// A client's side of a conversation.
pub(super) struct Talk {
    pub(super) driver: Arc<Driver>,
    pub(super) conversation: Arc<Conversation>,
    pub(super) script: IndexedScript,
    pub(super) folder: String,
    pub(super) session_folder: SessionFolder,
    /// The files that the turn is to change.
    pub(super) planned: Vec<PlannedFile>,
    /// The text of the prompt, and whether it has more than that.
    pub(super) prompt: (String, bool),
    pub(super) writing: JoinHandle<WriterEnd>,
    /// How writing ended, once it has.
    pub(super) written: Option<WriterEnd>,
    /// When the session began.
    pub(super) began: Duration,
    /// What the agent answered to `initialize`, and when its session was opened.
    pub(super) agent: Json,
    pub(super) opened: Json,
    pub(super) session: Arc<str>,
    pub(super) plan: Vec<PlanEntry>,
    /// The events whose calls were made, and those whose faults have hit.
    pub(super) done: HashSet<usize>,
    /// What prompts were answered since the last assert on them.
    pub(super) answers: Vec<Json>,
    pub(super) has_thoughts: bool,
    /// Whether it was told that nobody saw a command run.
    pub(super) is_unseen_told: bool,
    /// When the turn was cancelled.
    pub(super) cancelled_at: Option<Duration>,
    /// An event whose thoughts were left out, as none had ever come by then.
    pub(super) missed_thoughts: Option<usize>,
}

impl Talk {
    pub(super) fn new(
        driver: Arc<Driver>,
        conversation: Arc<Conversation>,
        script: IndexedScript,
        session_folder: SessionFolder,
        writing: JoinHandle<WriterEnd>,
    ) -> Self {
        Self {
            began: driver.telling.clock.now(),
            driver,
            conversation,
            script,
            folder: session_folder.root.to_string_lossy().into_owned(),
            session_folder,
            planned: Vec::new(),
            prompt: (String::new(), false),
            writing,
            written: None,
            agent: Json::Null,
            opened: Json::Null,
            session: "".into(),
            plan: Vec::new(),
            done: HashSet::new(),
            answers: Vec::new(),
            has_thoughts: false,
            is_unseen_told: false,
            cancelled_at: None,
            missed_thoughts: None,
        }
    }

    /// Ends writing, at once if nobody reads: how it ended.
    pub(super) async fn end_writing(mut self, is_given_up: bool) -> WriterEnd {
        if let Some(written) = self.written {
            return written;
        }
        if is_given_up {
            self.writing.abort();
        }
        (&mut self.writing).await.unwrap_or(WriterEnd::Cut)
    }

    /// Says all that the script has.
    pub(super) async fn play(&mut self) -> Result<(), Stopped> {
        self.tell_unplayed().await;
        self.initialize().await?;
        self.authenticate().await?;
        self.open().await?;
        let n_segments = self.script.1.segments.live.len();
        for segment_idx in 0..n_segments {
            let before = self.script.1.bounds(segment_idx).0;
            self.calls(before).await?;
            self.turn(segment_idx).await?;
        }
        self.calls(self.script.1.timeline.events.len()).await?;
        match self.missed_thoughts {
            Some(event_idx) if self.has_thoughts => {
                let message = "the agent did not think this, though it sends thoughts".to_owned();
                self.differs(codes::ACP_MISSING, event_idx, message).await;
            }
            Some(_) => {
                let message = "the agent sent no thoughts: those of the script were not compared";
                let found = Diagnostic::warning(codes::ACP_MISSING, message);
                self.found(found).await;
            }
            None => {}
        }
        Ok(())
    }

    /// What the script has for others than a client.
    async fn tell_unplayed(&self) {
        let timeline = &self.script.1.timeline;
        for event in &timeline.events {
            if is_for_others(&event.kind) {
                let message = format!(
                    "`{}` is not played by `cuecard acp --client`",
                    event.kind.as_str()
                );
                let found = Diagnostic::warning(codes::MODEL_ASSERT_UNJUDGED, message);
                self.found(found.at(&timeline.source, event.span)).await;
            }
        }
        if let Some(span) = timeline.expectations.span
            && timeline.expectations.exit_code.is_some()
        {
            let message = "`expect.exitCode` is not evaluated by `cuecard acp --client`";
            let found = Diagnostic::warning(codes::MODEL_ASSERT_UNJUDGED, message);
            self.found(found.at(&timeline.source, span)).await;
        }
    }

    pub(super) async fn found(&self, found: Diagnostic) {
        self.conversation.found(found).await;
    }

    pub(super) async fn differs(&self, code: Code, event_idx: usize, message: String) {
        let found = differs(code, &self.script.1.timeline, event_idx, message);
        self.found(found).await;
    }

    /// Makes a call, and waits for its answer as long as the agent goes on saying something.
    async fn call(
        &mut self,
        method: &str,
        params: &Json,
        event_idx: Option<usize>,
    ) -> Result<Answer, Stopped> {
        self.cancellable_call(method, params, event_idx, None).await
    }

    /// The same; `cancel` is asked whether the call is to be cancelled now.
    pub(super) async fn cancellable_call(
        &mut self,
        method: &str,
        params: &Json,
        event_idx: Option<usize>,
        mut cancel: Option<Cancelling<'_>>,
    ) -> Result<Answer, Stopped> {
        let hit = event_idx.and_then(|event_idx| self.hit(event_idx));
        let conversation = self.conversation.clone();
        let clock = self.driver.telling.clock;
        if self.written.is_some() {
            return Err(Stopped::Gone);
        }
        let is_spoiled = hit.is_some();
        let mut answer = conversation.peer.request(method, params, hit, None).await;
        let mut heard = clock.now();
        loop {
            let changed = conversation.changed.notified();
            if conversation.state().is_over && answer.is_empty() {
                return Err(Stopped::Gone);
            }
            let now = clock.now();
            let mut wake = heard + self.driver.options.patience;
            if let Some(cancelling) = &mut cancel
                && !cancelling.is_sent
            {
                match now < cancelling.due {
                    true => wake = wake.min(cancelling.due),
                    false if (cancelling.is_reached)(&conversation.state().seen.items) => {
                        cancelling.is_sent = true;
                        self.cancelled_at = Some(clock.now());
                        conversation.state().is_cancelled = true;
                        let params = json!({"sessionId": &*self.session});
                        let hit = self.hit(cancelling.event_idx);
                        conversation
                            .peer
                            .notify("session/cancel", &params, hit)
                            .await;
                    }
                    false => {}
                }
            }
            tokio::select! {
                biased;
                answered = &mut answer => {
                    if let Some(cancelling) = cancel.filter(|cancelling| !cancelling.is_sent) {
                        let message = "the prompt was answered before it could be cancelled".to_owned();
                        self.differs(codes::ACP_MISSING, cancelling.event_idx, message).await;
                    }
                    return answered.map(|received| received.answer).map_err(|_| Stopped::Gone);
                }
                () = changed => heard = clock.now(),
                end = &mut self.writing, if self.written.is_none() => {
                    let end = end.unwrap_or(WriterEnd::Cut);
                    self.written = Some(end);
                    return Err(match end {
                        // A fault ended it, as it should.
                        WriterEnd::Crashed | WriterEnd::Finished => Stopped::Told,
                        WriterEnd::Cut if is_spoiled => Stopped::Told,
                        WriterEnd::Cut => Stopped::Gone,
                    });
                }
                () = clock.sleep_until(wake) => {
                    if conversation.terminals.is_waited_for() {
                        // It is our command that takes its time.
                        heard = clock.now();
                    } else if clock.now() >= heard + self.driver.options.patience {
                        let seconds = self.driver.options.patience.as_secs();
                        let message = format!("the agent did not answer `{method}`, and sent nothing for {seconds} s");
                        let mut found = match event_idx {
                            Some(idx) => differs(codes::ACP_MISSING, &self.script.1.timeline, idx, message),
                            None => Diagnostic::error(codes::ACP_MISSING, message),
                        };
                        if cancel.is_some_and(|cancelling| !cancelling.is_sent) {
                            found = found.with_note("`session/cancel` was not sent: what stands before it in the script has not come");
                        }
                        self.found(found.with_help("give it more time with `--timeout SECONDS`")).await;
                        return Err(Stopped::Told);
                    }
                }
            }
        }
    }

    /// The fault of an event that hits what is sent for it.
    fn hit(&self, event_idx: usize) -> Option<FrameHit> {
        let mut faults = self.driver.faults.all().iter().enumerate();
        let (fault_idx, fault) = faults.find(|(_, fault)| {
            fault.scenario_idx == self.script.0 && fault.event_idx == event_idx && fault.aim.is_ok()
        })?;
        Some(FrameHit {
            fault_idx,
            kind: fault.fault.kind,
            id: None,
        })
    }

    /// An answer that must be no error.
    async fn granted(
        &self,
        method: &str,
        event_idx: Option<usize>,
        answer: Answer,
    ) -> Result<Json, Stopped> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => {
                let is_echo = error.message == ECHOED;
                let message = match is_echo {
                    true => format!("the program sent `{method}` back: it is no ACP agent"),
                    false => format!(
                        "the agent refused `{method}`: {} ({})",
                        error.message, error.code
                    ),
                };
                let mut found = match event_idx {
                    Some(idx) => {
                        differs(codes::ACP_UNEXPECTED, &self.script.1.timeline, idx, message)
                    }
                    None => Diagnostic::error(codes::ACP_UNEXPECTED, message),
                };
                if is_echo {
                    found = found.with_help("name the command that starts an agent after `--`");
                }
                if !error.data.is_null() {
                    found = found.with_note(format!("data: {}", shown(&error.data)));
                }
                self.found(found).await;
                Err(Stopped::Told)
            }
        }
    }

    async fn initialize(&mut self) -> Result<(), Stopped> {
        let script = self.script.1.clone();
        let scripted = script.initialize();
        let mut params = match scripted {
            Some((_, Json::Object(request), _)) => request.clone(),
            _ => Map::new(),
        };
        let offers = self.driver.options.offers_tools;
        let able =
            json!({"fs": {"readTextFile": offers, "writeTextFile": offers}, "terminal": offers});
        let info =
            json!({"name": "cuecard", "title": "Cuecard", "version": env!("CARGO_PKG_VERSION")});
        let defaults = [
            ("protocolVersion", json!(PROTOCOL_VERSION)),
            ("clientCapabilities", able),
            ("clientInfo", info),
        ];
        for (key, value) in defaults {
            params.entry(key).or_insert(value);
        }
        self.conversation
            .set_capabilities(&params["clientCapabilities"]);
        let event_idx = scripted.map(|(event_idx, ..)| event_idx);
        if let Some(meta) = event_idx.map(|idx| &script.event(idx).meta)
            && !meta.is_null()
        {
            params.insert("_meta".to_owned(), meta.clone());
        }
        let answer = self
            .call("initialize", &Json::Object(params), event_idx)
            .await?;
        self.agent = self.granted("initialize", event_idx, answer).await?;
        let version = &self.agent["protocolVersion"];
        if *version != json!(PROTOCOL_VERSION) {
            let message = format!(
                "the agent speaks version {version} of the protocol, not {PROTOCOL_VERSION}"
            );
            self.found(Diagnostic::error(codes::ACP_CAPABILITIES, message))
                .await;
            return Err(Stopped::Told);
        }
        if let Some((event_idx, _, expected)) = scripted
            && let Some(lack) = lack(expected, &self.agent)
        {
            let message = format!("the answer to `initialize` differs at {lack}");
            self.differs(codes::ACP_CAPABILITIES, event_idx, message)
                .await;
        }
        Ok(())
    }

    async fn authenticate(&mut self) -> Result<(), Stopped> {
        let script = self.script.1.clone();
        for (event_idx, event) in script.timeline.events.iter().enumerate() {
            let EventKind::Authenticate(Authenticate {
                method_id,
                error,
                expected_response,
            }) = &event.kind
            else {
                continue;
            };
            let offered = self.agent["authMethods"]
                .as_array()
                .map_or(&[][..], Vec::as_slice);
            if !offered.iter().any(|method| method["id"] == *method_id) {
                let message = format!("the agent offers no method `{method_id}` of authentication");
                self.differs(codes::ACP_CAPABILITIES, event_idx, message)
                    .await;
            }
            let params = json!({"methodId": method_id});
            let params = with_meta(params, &event.meta);
            let answer = self.call("authenticate", &params, Some(event_idx)).await?;
            match (answer, error.is_null()) {
                (Err(came), false) => {
                    let wanted = error
                        .as_str()
                        .or(error["message"].as_str())
                        .unwrap_or_default();
                    if !came.message.contains(wanted) {
                        let message = format!(
                            "expected it to fail with `{wanted}`, got `{}`",
                            came.message
                        );
                        self.differs(codes::ACP_CONTENT, event_idx, message).await;
                    }
                }
                (Ok(_), false) => {
                    let message = "expected `authenticate` to fail, but it worked".to_owned();
                    self.differs(codes::ACP_UNEXPECTED, event_idx, message)
                        .await;
                }
                (answer, true) => {
                    let answer = self
                        .granted("authenticate", Some(event_idx), answer)
                        .await?;
                    if let Some(lack) = lack(expected_response, &answer) {
                        let message = format!("the answer to `authenticate` differs at {lack}");
                        self.differs(codes::ACP_CONTENT, event_idx, message).await;
                    }
                }
            }
        }
        Ok(())
    }

    /// Opens the session: loads it if the script's is one that can be loaded.
    async fn open(&mut self) -> Result<(), Stopped> {
        let script = self.script.1.clone();
        let timeline = &script.timeline;
        let given = self.driver.mcp_servers.as_ref();
        let servers = given.unwrap_or(&timeline.acp.mcp_servers);
        let servers: Json = servers.iter().map(wire_server).collect();
        let mut params = json!({"cwd": self.folder, "mcpServers": servers});
        let boundary = timeline.boundary();
        let is_loaded = boundary.is_some() && script.loads_sessions();
        let event_idx = boundary.filter(|_| is_loaded);
        self.began = self.driver.telling.clock.now();
        if is_loaded {
            if self.agent["agentCapabilities"]["loadSession"] != true {
                let message =
                    "the agent can't load sessions: it does not advertise `loadSession`".to_owned();
                self.differs(
                    codes::ACP_CAPABILITIES,
                    boundary.unwrap_or_default(),
                    message,
                )
                .await;
                return Err(Stopped::Told);
            }
            let id = timeline.session_id().unwrap_or(&timeline.name);
            params["sessionId"] = json!(id);
            self.session = id.into();
            self.conversation.state().session = Some(self.session.clone());
        }
        let mut plan = Vec::new();
        let live = script.segments.live.first();
        // What the agent does by itself then follows the history without a gap: both are compared together.
        let goes_on = live.filter(|segment| is_loaded && segment.input.is_none());
        let told = match goes_on {
            Some(segment) => {
                let script = (&*script, &*self.folder);
                Expected::of_turn(script, segment.events.clone(), true, &mut plan)
            }
            None => Expected::of_history(&script, &mut plan),
        };
        if let Some(segment) = goes_on {
            self.plan(&told, &segment.events);
        }
        if is_loaded {
            let events = goes_on.map_or(0..0, |segment| segment.events.clone());
            self.begin_turn(&told, &events, goes_on.is_some()).await;
        }
        let method = if is_loaded {
            "session/load"
        } else {
            "session/new"
        };
        let answer = self.call(method, &params, event_idx).await?;
        self.opened = self.granted(method, event_idx, answer).await?;
        if is_loaded {
            if goes_on.is_none() {
                self.plan = plan;
                let seen = self.end_turn();
                let compared = self.compare(&told, &seen, false);
                self.tell_differences(compared, "the history").await;
            }
        } else {
            let id = self.opened["sessionId"]
                .as_str()
                .filter(|id| !id.is_empty());
            let Some(id) = id else {
                let message = "the answer to `session/new` has no `sessionId`";
                self.found(Diagnostic::error(codes::ACP_CONTENT, message))
                    .await;
                return Err(Stopped::Told);
            };
            self.session = id.into();
            self.conversation.state().session = Some(self.session.clone());
        }
        self.driver.tallies().n_sessions += 1;
        let listed = [
            (timeline.acp.modes.as_deref(), "modes", "availableModes"),
            (timeline.acp.models.as_deref(), "models", "availableModels"),
        ];
        for (listed, key, list) in listed {
            for entry in listed.unwrap_or_default() {
                let offered = self.opened[key][list]
                    .as_array()
                    .map_or(&[][..], Vec::as_slice);
                let wanted = match key {
                    "models" => model_with_id(entry),
                    _ => entry.clone(),
                };
                if !offered
                    .iter()
                    .any(|offered| lack(&wanted, offered).is_none())
                {
                    let message = format!("the session lacks one of `acp.{key}`: {}", shown(entry));
                    let span = timeline.acp.span;
                    let mut found = Diagnostic::error(codes::ACP_CAPABILITIES, message);
                    if let Some(span) = span {
                        found = found.at(&timeline.source, span);
                    }
                    self.found(found).await;
                }
            }
        }
        // What stands before the first prompt.
        let first = (!script.segments.live.is_empty()).then(|| script.bounds(0).0);
        let events = script.segments.history.end..first.unwrap_or(timeline.events.len());
        self.judge(events).await;
        let meta = boundary.map_or(&Json::Null, |idx| &script.event(idx).meta);
        if let Some(lack) = lack(meta, &self.opened["_meta"]) {
            let message = format!("`_meta` of the session differs at {lack}");
            self.differs(codes::ACP_CONTENT, boundary.unwrap_or_default(), message)
                .await;
        }
        Ok(())
    }

    /// Judges the asserts among `events`.
    pub(super) async fn judge(&mut self, events: Range<usize>) {
        let telling = self.driver.telling.clone();
        let judged = (&*self.script.1, events);
        let held = std::mem::take(&mut self.conversation.state().held);
        let folder = CheckedFolder {
            root: Path::new(&self.folder),
            environment: &self.conversation.environment,
            held: &held,
        };
        let folder = self.driver.options.offers_tools.then_some(folder);
        telling
            .judge(&self.session, &mut self.answers, judged, folder)
            .await;
    }

    /// Makes the calls of the user that stand before the event `end`.
    async fn calls(&mut self, end: usize) -> Result<(), Stopped> {
        let script = self.script.1.clone();
        for (event_idx, call) in script.awaited_calls(end) {
            let (key, set, id) = match call {
                AwaitedCall::SetMode { mode_id } => ("mode", "session/set_mode", mode_id),
                AwaitedCall::SetModel { model_id } => ("model", "session/set_model", model_id),
                AwaitedCall::Authenticate { .. } | AwaitedCall::Cancel => continue,
            };
            if !self.done.insert(event_idx) {
                continue;
            }
            let mut params = json!({"sessionId": &*self.session});
            let method = match self.setting(key, id) {
                Some(Setting::Plain) => {
                    params[format!("{key}Id")] = json!(id);
                    set
                }
                Some(Setting::Option(config)) => {
                    params["configId"] = config;
                    params["value"] = json!(id);
                    "session/set_config_option"
                }
                None => {
                    let message = format!("the agent offers no {key} `{id}`");
                    self.differs(codes::ACP_CAPABILITIES, event_idx, message)
                        .await;
                    continue;
                }
            };
            params = with_meta(params, &script.event(event_idx).meta);
            let answer = self.call(method, &params, Some(event_idx)).await?;
            let answer = self.granted(method, Some(event_idx), answer).await?;
            let mut options = answer["configOptions"].as_array().into_iter().flatten();
            let is_set =
                |option: &Json| option["id"] == params["configId"] && option["currentValue"] == id;
            if method == "session/set_config_option" && !options.any(is_set) {
                let message = format!(
                    "the agent did not set the {key} `{id}`: it answered {}",
                    shown(&answer)
                );
                self.differs(codes::ACP_CONTENT, event_idx, message).await;
            }
        }
        Ok(())
    }

    /// How a mode or model is set that the agent offers.
    fn setting(&self, key: &str, id: &str) -> Option<Setting> {
        let list = match key {
            "mode" => &self.opened["modes"]["availableModes"],
            _ => &self.opened["models"]["availableModels"],
        };
        let mut offered = list.as_array().into_iter().flatten();
        if offered.any(|offered| offered["id"] == id || offered["modelId"] == id) {
            return Some(Setting::Plain);
        }
        let options = self.opened["configOptions"].as_array()?;
        let option = options
            .iter()
            .find(|option| option["category"] == key || option["id"] == key)?;
        let groups = option["options"].as_array().into_iter().flatten();
        let mut values = groups.flat_map(|group| match group["options"].as_array() {
            Some(options) => options.iter().collect(),
            None => vec![group],
        });
        values
            .any(|value| value["value"] == id)
            .then(|| Setting::Option(option["id"].clone()))
    }
}

/// When a prompt is cancelled.
pub(super) struct Cancelling<'c> {
    pub(super) event_idx: usize,
    pub(super) due: Duration,
    /// Whether all has come that stands before it.
    pub(super) is_reached: &'c (dyn Fn(&[SeenItem]) -> bool + Sync),
    pub(super) is_sent: bool,
}

/// How a mode or model is set.
enum Setting {
    /// By the call that is made for it.
    Plain,
    /// As this option of the session.
    Option(Json),
}

/// A server as `session/new` has it.
fn wire_server(server: &McpServer) -> Json {
    let pairs = |pairs: &[(String, String)]| -> Json {
        pairs
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect()
    };
    match &server.transport {
        McpTransport::Stdio { command, args, env } => {
            json!({"name": server.name, "command": command, "args": args, "env": pairs(env)})
        }
        McpTransport::Url {
            url,
            headers,
            is_sse,
        } => {
            let kind = if *is_sse { "sse" } else { "http" };
            json!({"type": kind, "name": server.name, "url": url, "headers": pairs(headers)})
        }
    }
}
