//! Carries calls out: routes each to its tool, keeps its time, and records what was sent and what came back.
//!
//! A call has three parts: it is prepared, which may change the toolbox; it is out, together with the others of its
//! group, and changes nothing here; and it is finished, in the order in which the calls were prepared.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cuecard_tool_call::model::{BuiltinTool, ToolName};
use cuecard_tool_call::script::{CallOutcome, CallRequest, Failure, FailureKind};
use cuecard_trace::{ErrorHappened, EventData, ToolCall, ToolResult};
use futures::StreamExt as _;
use futures::future::{FutureExt as _, LocalBoxFuture, select_all};
use futures::stream::FuturesUnordered;
use serde_json::Value as Json;

use super::builtin::background::BackgroundCommands;
use super::pool::{Pool, log, record_notices};
use super::{builtin, mcp_call};
use cuecard_runtime::policy::Policy;
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::tap::Recorder;

/// What a run's tools stand on.
#[derive(Debug)]
pub struct ToolSettings {
    /// What tools may do.
    pub policy: Policy,
    /// Where commands run.
    pub working_directory: PathBuf,
    /// What commands may inherit from.
    pub environment: Vec<(OsString, OsString)>,
    /// The user's `--timeout`.
    pub timeout: Option<Duration>,
    /// Where files from answers go.
    pub run_dir: Option<Arc<RunDir>>,
    /// What scripted delays are multiplied by.
    pub speed: f64,
    /// Whether a step fails whose arguments may not be what its tool takes, or of which a value was changed or lost, instead
    /// of a warning.
    pub is_strict: bool,
}

/// The tools of a run.
#[derive(Debug)]
pub struct Toolbox {
    pub(super) pool: Pool,
    pub(super) settings: Arc<ToolSettings>,
    /// Taken by the first browser that has a tool for it.
    pub(super) viewport: Option<(u64, u64)>,
    /// The browser page that calls without a page go to, by server.
    pub(super) pages: HashMap<String, u64>,
    /// Commands that go on beside the steps.
    pub(super) background: BackgroundCommands,
    /// The server of the MCP call that was prepared or finished last.
    pub(super) last_server: Option<String>,
    /// The calls that are out, and their ids in the order in which they were begun.
    calls: FuturesUnordered<LocalBoxFuture<'static, Returned>>,
    order: VecDeque<Arc<str>>,
    /// Those that returned before one that was begun earlier.
    early: Vec<Returned>,
    /// The servers that they went to.
    called: Vec<String>,
}

impl Deref for Toolbox {
    type Target = ToolSettings;

    fn deref(&self) -> &ToolSettings {
        &self.settings
    }
}

/// What a tool answered.
#[derive(Debug)]
pub(super) struct Answer {
    /// The step's result.
    pub value: Json,
    /// The whole text, where the result is only a part of it.
    pub text: Option<String>,
    /// The structured content, where the result is not the same.
    pub structured: Option<Json>,
}

impl From<Json> for Answer {
    fn from(value: Json) -> Self {
        Self {
            value,
            text: None,
            structured: None,
        }
    }
}

/// The result of a built-in tool, with warnings that a value in it was changed or lost.
pub(super) type Found = (Json, Vec<String>);

/// A call that is prepared.
pub(super) enum Prepared {
    /// It is over: its tool takes no time, or asks its server several things.
    Over(Result<Answer, Failure>),
    /// A built-in tool that takes its time, and changes nothing here.
    Builtin(BuiltinTool),
    /// A call to a server.
    Mcp(Box<mcp_call::Call>),
}

impl Prepared {
    /// Makes the call.
    async fn outcome(self, settings: &ToolSettings, request: &CallRequest) -> Outcome {
        match self {
            Self::Over(answer) => Outcome::Over(answer),
            Self::Builtin(tool) => Outcome::Builtin(builtin::work(settings, tool, request).await),
            Self::Mcp(mut call) => {
                let reply = call.reply().await;
                Outcome::Mcp(call, reply)
            }
        }
    }
}

/// What came of a call that was out.
#[derive(Debug)]
struct Returned {
    request: CallRequest,
    started: Duration,
    ended: Duration,
    outcome: Outcome,
}

#[derive(Debug)]
enum Outcome {
    Over(Result<Answer, Failure>),
    Builtin(Result<Found, Failure>),
    Mcp(Box<mcp_call::Call>, mcp_call::Reply),
}

/// How long a call may take when nobody says: a minute.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How many notices of servers are recorded while a call is out.
const MOST_HEARD: usize = 1_000;

impl Toolbox {
    /// Tools that stand on `settings`, with the servers of `pool`; a browser's page gets the size `viewport`, width and
    /// height, before the first call.
    pub fn new(pool: Pool, settings: ToolSettings, viewport: Option<(u64, u64)>) -> Self {
        Self {
            pool,
            settings: Arc::new(settings),
            viewport,
            pages: HashMap::new(),
            background: BackgroundCommands::default(),
            last_server: None,
            calls: FuturesUnordered::new(),
            order: VecDeque::new(),
            early: Vec::new(),
            called: Vec::new(),
        }
    }

    /// Begins calls, recorded on their way out. They go on while [`Self::returned`] waits for them.
    pub async fn begin(&mut self, requests: Vec<CallRequest>, recorder: &mut Recorder<'_>) {
        if let [first, _, ..] = &requests[..] {
            self.pool.answer_with(&first.answers);
            let servers = requests.iter().filter_map(|request| self.server(request));
            let servers: Vec<_> = servers.map(str::to_owned).collect();
            self.pool.start_new(&servers, recorder).await;
        }
        for request in requests {
            self.begin_one(request, recorder).await;
        }
    }

    /// The server that a call goes to.
    fn server<'r>(&self, request: &'r CallRequest) -> Option<&'r str> {
        let parts = request.tool.server_and_tool(|name| self.pool.knows(name));
        parts.map(|(server, _)| server)
    }

    async fn begin_one(&mut self, request: CallRequest, recorder: &mut Recorder<'_>) {
        let clock = recorder.clock();
        let started = clock.now();
        recorder.record_at(
            started,
            EventData::ToolCall(ToolCall {
                tool: request.tool.text(),
                call_id: request.call_id.clone(),
                args: request.params.json.clone(),
                native_tool: None,
                attempt: Some(request.attempt),
            }),
        );
        match &request.tool {
            // Writing a line into the log has no effect that a crash could separate from its record.
            ToolName::Builtin(BuiltinTool::Log) => {}
            ToolName::Builtin(_) => recorder.settle(),
            // The rest is done while the server is at work.
            ToolName::Mcp(_) => recorder.write(),
        }
        self.pool.answer_with(&request.answers);
        // A call that the trace doesn't show must not have an effect.
        let prepared = match recorder.error() {
            Some(error) => Prepared::Over(Err(Failure::new(
                FailureKind::RunFile,
                format!("the {} can't be written: {error}", recorder.failed_file()),
            ))),
            None => self.prepare(&request, recorder).await,
        };
        if let Prepared::Mcp(call) = &prepared
            && !self.called.contains(&call.server)
        {
            self.called.push(call.server.clone());
        }
        let settings = Arc::clone(&self.settings);
        self.order.push_back(Arc::clone(&request.call_id));
        let call = async move {
            Returned {
                outcome: prepared.outcome(&settings, &request).await,
                request,
                started,
                ended: clock.now(),
            }
        };
        self.calls.push(call.boxed_local());
    }

    /// Screenshots of the step that ends next are taken on this server.
    pub(super) fn turn_to(&mut self, server: &str) {
        if self.last_server.as_deref() != Some(server) {
            self.last_server = Some(server.to_owned());
        }
    }

    async fn prepare(&mut self, request: &CallRequest, recorder: &mut Recorder<'_>) -> Prepared {
        let prepared = match &request.tool {
            ToolName::Builtin(tool) => builtin::prepare(self, *tool, request, recorder).await,
            // Boxed, so that a call of a small tool doesn't carry the room that a large one needs.
            ToolName::Mcp(_) => Box::pin(mcp_call::prepare(self, request, recorder)).await,
        };
        prepared.unwrap_or_else(|failure| Prepared::Over(Err(failure)))
    }

    /// Waits for the first of the calls that are out, and records what came back. Gives when the call ended, and what came
    /// of it; nothing if no call is out.
    pub async fn returned(
        &mut self,
        recorder: &mut Recorder<'_>,
    ) -> Option<(Duration, CallOutcome)> {
        let returned = self.wait_and_listen(recorder).await?;
        Some(self.finish(returned, recorder).await)
    }

    /// What came of the calls that have returned although others before them are out, with the numbers of their steps; the
    /// others are given up.
    pub async fn interrupt(
        &mut self,
        recorder: &mut Recorder<'_>,
    ) -> Vec<(u64, Duration, CallOutcome)> {
        while let Some(Some(returned)) = self.calls.next().now_or_never() {
            self.early.push(returned);
        }
        let mut early = std::mem::take(&mut self.early);
        early.sort_by_key(|returned| returned.request.step);
        self.drop_calls();
        let mut outcomes = Vec::new();
        for returned in early {
            let step = returned.request.step;
            let (ended, outcome) = self.finish(returned, recorder).await;
            outcomes.push((step, ended, outcome));
        }
        outcomes
    }

    async fn finish(
        &mut self,
        returned: Returned,
        recorder: &mut Recorder<'_>,
    ) -> (Duration, CallOutcome) {
        let Returned {
            request,
            started,
            ended,
            mut outcome,
        } = returned;
        let clock = recorder.clock();
        let finishing = clock.now();
        let answer = loop {
            match outcome {
                Outcome::Over(answer) => break answer,
                Outcome::Builtin(found) => {
                    break found.and_then(|(value, warnings)| {
                        Ok(self.unless_lossy(value, &warnings, recorder)?.into())
                    });
                }
                Outcome::Mcp(call, reply) if call.lacks_back_channel(&reply) => {
                    Box::pin(call.fall_back(self, recorder)).await;
                    let prepared = self.prepare(&request, recorder).await;
                    outcome = prepared.outcome(&self.settings, &request).await;
                }
                Outcome::Mcp(call, reply) => {
                    break Box::pin(mcp_call::finish(self, &request, *call, reply, recorder)).await;
                }
            }
        };
        // What finishing took belongs to the call; that it waited for others doesn't.
        let ended = ended + clock.now().saturating_sub(finishing);
        let tool = request.tool.text();
        let (outcome, success, result, text, structured) = match answer {
            Ok(answer) => {
                let value = Arc::new(answer.value);
                let outcome = CallOutcome::Returned(value.clone());
                (outcome, true, value, answer.text, answer.structured)
            }
            Err(failure) => {
                recorder.record_at(
                    ended,
                    EventData::ErrorHappened(ErrorHappened {
                        scope: "tool".to_owned(),
                        tool: Some(tool.clone()),
                        call_id: Some(request.call_id.clone()),
                        error_type: failure.kind.as_str().to_owned(),
                        message: failure.message.clone(),
                        retryable: failure.kind.is_retryable(),
                    }),
                );
                let result = Arc::new(failure.result.clone().unwrap_or_default());
                (failure.into(), false, result, None, None)
            }
        };
        recorder.record_at(
            ended,
            EventData::ToolResult(ToolResult {
                tool,
                call_id: request.call_id,
                success,
                result,
                text,
                structured,
                fixture_id: None,
                duration_ms: Some(ended.saturating_sub(started).as_micros() as f64 / 1000.0),
            }),
        );
        (ended, outcome)
    }

    /// Waits for the first of the calls, and records what servers say meanwhile when they say it: a call may take long, or
    /// be interrupted.
    async fn wait_and_listen(&mut self, recorder: &mut Recorder<'_>) -> Option<Returned> {
        let (mut heard, mut shown) = (0, false);
        let first = self.order.pop_front()?;
        let is_first = |returned: &Returned| returned.request.call_id == first;
        let returned = loop {
            if let Some(at) = self.early.iter().position(is_first) {
                break self.early.swap_remove(at);
            }
            let open = |name: &String| Some((name.clone(), self.pool.open(name)?));
            let sessions: Vec<_> = self.called.iter().filter_map(open).collect();
            let noticed = async {
                let noticed = sessions.iter().map(|(_, it)| it.noticed().boxed_local());
                select_all(noticed).await.1
            };
            tokio::select! {
                biased;
                returned = self.calls.next() => self.early.push(returned?),
                // The calls are on their way now.
                () = tokio::task::yield_now(), if !shown => {
                    recorder.show();
                    shown = true;
                }
                // Of a server that never stops talking, the last words before its answer come beside these.
                at = noticed, if heard < MOST_HEARD && !sessions.is_empty() => {
                    let (name, session) = &sessions[at];
                    heard += record_notices(name, session, recorder);
                    recorder.settle();
                }
            }
        };
        if self.calls.is_empty() {
            self.called.clear();
        }
        Some(returned)
    }

    /// Gives up the calls that are out.
    fn drop_calls(&mut self) {
        self.calls.clear();
        self.order.clear();
        self.early.clear();
        self.called.clear();
    }

    /// The tools of every server that is up, and our own, as traces call them. A server that can't say is left out.
    pub async fn offered(&self) -> Vec<String> {
        let own = BuiltinTool::ALL.iter().map(|tool| tool.name().to_owned());
        let mut names: Vec<String> = own.collect();
        for server in self.pool.open_names() {
            let Some(session) = self.pool.open(&server) else {
                continue;
            };
            if let Ok(Some(tools)) = session.tools().await {
                names.extend(
                    tools
                        .iter()
                        .map(|tool| format!("mcp__{server}__{}", tool.name)),
                );
            }
        }
        names
    }

    /// The result, with warnings that a value in it was changed or lost.
    ///
    /// # Errors
    /// The first warning, if the run is strict.
    pub(super) fn unless_lossy(
        &self,
        result: Json,
        warnings: &[String],
        recorder: &mut Recorder<'_>,
    ) -> Result<Json, Failure> {
        if let (true, Some(first)) = (self.is_strict, warnings.first()) {
            let mut failure = Failure::new(FailureKind::ValueLost, first);
            failure.result = Some(result);
            return Err(failure.with_help("without `--strict`, this is a warning"));
        }
        for warning in warnings {
            recorder.record(log("warning", warning.clone()));
        }
        Ok(result)
    }

    /// Ends all servers and commands.
    pub async fn shut_down(&mut self) {
        self.drop_calls();
        self.background.shut_down().await;
        self.pool.shut_down().await;
    }
}

/// The call took longer than `limit`.
pub(super) fn timed_out(limit: Duration) -> Failure {
    let limit = cuecard_report::duration(limit);
    Failure::new(FailureKind::Timeout, format!("no answer within {limit}"))
        .with_help("increase the timeout: \"timeout\": SECONDS for the step, or --timeout for all")
}

/// A command took longer than the step's `limit`.
pub(super) fn command_timed_out(limit: Duration) -> Failure {
    // In seconds, as the step says it.
    let limit = limit.as_secs_f64();
    let message = format!("the command timed out after {limit} s");
    Failure::new(FailureKind::Timeout, message)
        .with_help("increase the timeout: \"timeout\": SECONDS for the step")
}
