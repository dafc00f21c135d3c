//! Carries calls out: routes each to its tool, keeps its time, and records what was sent and what came back.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cuecard_tool_call::model::{BuiltinTool, ToolName};
use cuecard_tool_call::script::{CallOutcome, CallRequest, Failure, FailureKind};
use cuecard_trace::{ErrorHappened, EventData, ToolCall, ToolResult};
use serde_json::Value as Json;

use super::builtin::background::BackgroundCommands;
use super::pool::{Pool, log};
use super::{builtin, mcp_call};
use cuecard_runtime::policy::Policy;
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::tap::Recorder;

/// What a run's tools stand on.
#[derive(Debug)]
pub struct ToolboxOptions {
    /// The servers.
    pub pool: Pool,
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
    /// Width and height that a browser's page gets before the first call.
    pub viewport: Option<(u64, u64)>,
    /// Whether a step fails whose arguments may not be what its tool takes, or of which a value was changed or lost, instead
    /// of a warning.
    pub is_strict: bool,
}

/// The tools of a run.
#[derive(Debug)]
pub struct Toolbox {
    pub(super) pool: Pool,
    pub(super) policy: Policy,
    pub(super) working_directory: PathBuf,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) timeout: Option<Duration>,
    pub(super) run_dir: Option<Arc<RunDir>>,
    pub(super) speed: f64,
    /// Taken by the first browser that has a tool for it.
    pub(super) viewport: Option<(u64, u64)>,
    pub(super) is_strict: bool,
    /// The browser page that calls without a page go to, by server.
    pub(super) pages: HashMap<String, u64>,
    /// Commands that go on beside the steps.
    pub(super) background: BackgroundCommands,
    /// The server that the last MCP call went to.
    pub(super) last_server: Option<String>,
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

/// How long a call may take when nobody says: a minute.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How much longer than the step's time a tool has that keeps this time itself.
const GRACE: Duration = Duration::from_secs(2);

impl Toolbox {
    /// Tools that stand on `options`.
    pub fn new(options: ToolboxOptions) -> Self {
        Self {
            pool: options.pool,
            policy: options.policy,
            working_directory: options.working_directory,
            environment: options.environment,
            timeout: options.timeout,
            run_dir: options.run_dir,
            speed: options.speed,
            viewport: options.viewport,
            is_strict: options.is_strict,
            pages: HashMap::new(),
            background: BackgroundCommands::default(),
            last_server: None,
        }
    }

    /// Makes a call, recorded on its way out and back.
    pub async fn call(
        &mut self,
        request: &CallRequest,
        recorder: &mut Recorder<'_>,
    ) -> CallOutcome {
        let started = recorder.clock().now();
        let tool = request.tool.text();
        recorder.record_at(
            started,
            EventData::ToolCall(ToolCall {
                tool: tool.clone(),
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
        let answer = match recorder.error() {
            Some(error) => Err(Failure::new(
                FailureKind::RunFile,
                format!("the {} can't be written: {error}", recorder.failed_file()),
            )),
            None => self.within_timeout(request, recorder).await,
        };
        let ended = recorder.clock().now();
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
                call_id: request.call_id.clone(),
                success,
                result,
                text,
                structured,
                fixture_id: None,
                duration_ms: Some(ended.saturating_sub(started).as_micros() as f64 / 1000.0),
            }),
        );
        outcome
    }

    /// A step's own timeout caps everything else but the start of a server, which has a time of its own: calls
    /// that may start one keep the step's time themselves.
    async fn within_timeout(
        &mut self,
        request: &CallRequest,
        recorder: &mut Recorder<'_>,
    ) -> Result<Answer, Failure> {
        let tool = match &request.tool {
            ToolName::Mcp(_)
            | ToolName::Builtin(BuiltinTool::WaitForElement | BuiltinTool::WaitUntil) => {
                return self.route(request, recorder).await;
            }
            ToolName::Builtin(tool) => *tool,
        };
        let call = self.route(request, recorder);
        let Some(limit) = request.timeout else {
            return call.await;
        };
        // A tool that keeps its time has the better message about it, and a command still has to be killed and
        // its last output to be read.
        let grace = match tool {
            BuiltinTool::Wait
            | BuiltinTool::Glob
            | BuiltinTool::Grep
            | BuiltinTool::Bash
            | BuiltinTool::WebFetch => GRACE,
            _ => Duration::ZERO,
        };
        match tokio::time::timeout(limit + grace, call).await {
            Ok(answer) => answer,
            Err(_) if tool == BuiltinTool::Bash => Err(command_timed_out(limit)),
            Err(_) => Err(timed_out(limit)),
        }
    }

    async fn route(
        &mut self,
        request: &CallRequest,
        recorder: &mut Recorder<'_>,
    ) -> Result<Answer, Failure> {
        match &request.tool {
            ToolName::Builtin(tool) => {
                let value = builtin::call(self, *tool, request, recorder).await?;
                Ok(Answer {
                    value,
                    text: None,
                    structured: None,
                })
            }
            // Boxed, so that a call of a small tool doesn't carry the room that a large one needs.
            ToolName::Mcp(_) => Box::pin(mcp_call::call(self, request, recorder)).await,
        }
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
