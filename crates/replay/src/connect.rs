//! What servers can tell before anything runs: do they start, do the tools exist, do the parameters fit? No tool
//! is called. `check --connect` and `play --dry-run --connect` are this.

mod places;
mod schema;

use std::collections::HashMap;
use std::sync::Arc;

use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_tool_call::format::server_of;
use cuecard_tool_call::model::ToolCallScenario;
use cuecard_tool_call::script::{Bindings, Failure, FailureKind, ReadyAnswers};
use serde::Serialize;

pub use schema::check_arguments;
pub(crate) use schema::unknown_names;

use super::older;
use super::pool::{Pool, known_servers, unknown_server};
use cuecard_mcp::config::Config;
use cuecard_mcp::{ServerSpec, ToolInfo};
use cuecard_runtime::policy::Policy;
use cuecard_runtime::tap::Recorder;

/// A server that answered.
#[derive(Debug, Clone, Serialize)]
pub struct Connected {
    /// Its name in the scenario.
    pub server: String,
    /// How it was reached: stdio, http, built in.
    pub transport: &'static str,
    /// The protocol version that was agreed on, if there are several.
    pub protocol: Option<String>,
    /// How many tools it lists; none if it has no such list, so that nothing can be said about its tools.
    pub tools: Option<usize>,
    /// The tools that the steps call and that may change something, by what the server says.
    #[serde(rename = "writing_tools")]
    pub writing: Vec<String>,
    /// Those of them that may destroy something, by what the server says.
    #[serde(rename = "destructive_tools")]
    pub destructive: Vec<String>,
    /// Mistakes in what it sent, each with its code.
    pub warnings: Vec<String>,
}

/// The servers of some scenarios, and what they say about their tools.
#[derive(Debug, Default)]
pub struct Connections {
    /// Those that answered, in the order of the steps.
    pub connected: Vec<Connected>,
    tools: HashMap<String, Tools>,
}

#[derive(Debug)]
enum Tools {
    Known(Arc<[ToolInfo]>),
    /// The server has no list of them.
    Unknown,
    /// There is no server to ask.
    Unreachable(Unreachable),
}

#[derive(Debug)]
enum Unreachable {
    /// No config defines it.
    Undefined,
    /// Its config can't be used.
    Refused(Diagnostic),
    Failed(Failure),
}

impl Connections {
    /// Starts the servers that the steps `steps` of `scenario` need and that no earlier call asked for, all at
    /// the same time, and asks for their tools.
    pub async fn open(
        &mut self,
        scenario: &ToolCallScenario,
        bindings: &Bindings,
        steps: impl Iterator<Item = usize>,
        pool: &mut Pool,
        recorder: &mut Recorder<'_>,
    ) {
        // Some tools are there only for a client that answers questions.
        pool.answer_with(&Arc::new(ReadyAnswers::at_start(scenario, bindings)));
        let mut names: Vec<String> = Vec::new();
        for idx in steps {
            let server = server_of(scenario, &scenario.steps[idx], |name| pool.knows(name));
            // A reference as a server's name is known only in the run.
            names.extend(server.filter(|name| {
                !name.contains("{{") && !self.tools.contains_key(name) && !names.contains(name)
            }));
        }
        names.retain(|name| {
            let unreachable = match pool.config().server(name).map(|server| &server.spec) {
                Some(Err(refusal)) => Unreachable::Refused(refusal.clone()),
                None if !pool.knows(name) => Unreachable::Undefined,
                _ => return true,
            };
            self.tools
                .insert(name.clone(), Tools::Unreachable(unreachable));
            false
        });
        let started = pool.start_all(&names, recorder).await;
        let asking = started.into_iter().map(|(name, started)| async move {
            let failed = |failure| (Tools::Unreachable(Unreachable::Failed(failure)), None);
            let session = match started {
                Ok(session) => session,
                Err(failure) => return (name, failed(failure)),
            };
            let tools = match session.tools().await {
                Ok(Some(tools)) => Tools::Known(tools),
                Ok(None) => Tools::Unknown,
                Err(error) => {
                    let failure = Failure::new(FailureKind::ServerStart, error.to_string());
                    return (name, failed(failure));
                }
            };
            let info = session.info();
            let connected = Connected {
                server: name.clone(),
                transport: info.transport,
                protocol: Some(info.protocol_version.clone()).filter(|version| !version.is_empty()),
                tools: match &tools {
                    Tools::Known(tools) => Some(tools.len()),
                    _ => None,
                },
                writing: Vec::new(),
                destructive: Vec::new(),
                warnings: session.take_warnings().iter().map(with_code).collect(),
            };
            (name, (tools, Some(connected)))
        });
        for (name, (tools, connected)) in futures::future::join_all(asking).await {
            self.connected.extend(connected);
            self.tools.insert(name, tools);
        }
    }

    /// Checks the steps against the tools' input schemas. What a server failed with is said at the first step
    /// that needs it.
    pub fn check(
        &self,
        scenario: &ToolCallScenario,
        bindings: &Bindings,
        steps: impl Iterator<Item = usize>,
        pool: &Pool,
        recorder: &mut Recorder<'_>,
    ) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let mut told: Vec<String> = Vec::new();
        for idx in steps {
            let step = &scenario.steps[idx];
            let is_known = |name: &str| pool.knows(name);
            let Some(server) = server_of(scenario, step, is_known) else {
                continue;
            };
            match self.tools.get(&server) {
                Some(Tools::Known(tools)) => {
                    let Some((_, name)) = step.tool.server_and_tool(is_known) else {
                        continue;
                    };
                    match tools.iter().find(|info| info.name == name) {
                        Some(tool) if tool.requires_task => diagnostics
                            .push(needs_task(&server, name).at(&scenario.source, step.tool_span)),
                        Some(tool) => diagnostics.extend(schema::check(
                            scenario, bindings, step, &server, tool, recorder,
                        )),
                        // The player types these key by key.
                        None if older::types_by_keys(name, tools).is_some() => {}
                        None => {
                            let found = match pool.spec(&server) {
                                Ok(spec) if !spec.allows(name) => not_allowed(&spec, name),
                                _ => unknown_tool(&server, name, tools),
                            };
                            diagnostics.push(found.at(&scenario.source, step.tool_span));
                        }
                    }
                }
                Some(Tools::Unreachable(reason)) if !told.contains(&server) => {
                    diagnostics.push(match reason {
                        Unreachable::Undefined => unknown_server(pool.config(), &server)
                            .at(&scenario.source, step.tool_span),
                        Unreachable::Refused(refusal) => refusal.clone(),
                        // No step has failed: none was played.
                        Unreachable::Failed(failure) => Diagnostic {
                            message: failure.message.clone(),
                            ..failure.to_diagnostic(step, &scenario.source)
                        },
                    });
                    told.push(server);
                }
                _ => {}
            }
        }
        diagnostics
    }

    /// Notes which tools may change something, and gives what `policy` says against those that are surely called.
    pub fn check_writing(
        &mut self,
        scenario: &ToolCallScenario,
        steps: impl Iterator<Item = usize>,
        pool: &Pool,
        policy: Option<&Policy>,
    ) -> Vec<Diagnostic> {
        let mut refused = Vec::new();
        for step in steps.map(|idx| &scenario.steps[idx]) {
            let Some((server, tool)) = step.tool.server_and_tool(|name| pool.knows(name)) else {
                continue;
            };
            let (is_read_only, is_destructive) = match self.tools.get(server) {
                Some(Tools::Known(tools)) => {
                    // That a tool is unknown is an error by itself.
                    let info = tools.iter().find(|info| info.name == tool);
                    info.map_or((true, false), |info| {
                        (info.is_read_only, info.is_destructive)
                    })
                }
                _ => (false, false),
            };
            let mut connected = self.connected.iter_mut();
            let Some(connected) = connected.find(|one| one.server == server && !is_read_only)
            else {
                continue;
            };
            if !connected.writing.iter().any(|known| known == tool) {
                connected.writing.push(tool.to_owned());
                if is_destructive {
                    connected.destructive.push(tool.to_owned());
                }
            }
            let refusal = policy.and_then(|policy| policy.writing_tool(server, tool).err());
            if let Some(refusal) = refusal.filter(|_| step.condition.is_none()) {
                let message = format!("step {}: {}", step.number, refusal.message);
                let error = Diagnostic::error(codes::SAFETY_TOOL, message).with_help(refusal.help);
                refused.push(error.at(&scenario.source, step.tool_span));
            }
        }
        refused
    }
}

fn with_code(warning: &Diagnostic) -> String {
    format!("{}: {}", warning.code, warning.message)
}

/// A tool that has to be called as a task, of which this player makes none.
pub(crate) fn needs_task(server: &str, tool: &str) -> Diagnostic {
    let message = format!(
        "the tool `{tool}` of `{server}` can be called only as a task, which is not supported"
    );
    Diagnostic::error(codes::TOOL_UNKNOWN, message)
        .with_help("use a tool that answers a plain call, or remove the step")
}

/// What a config says against the calls of `scenario`: tools that it leaves out.
pub fn check_allowed(scenario: &ToolCallScenario, config: &Config) -> Vec<Diagnostic> {
    let found = scenario.steps.iter().filter_map(|step| {
        let (server, tool) = step.tool.server_and_tool(known_servers(config))?;
        let spec = config.server(server)?.spec.as_ref().ok()?;
        let found = (!spec.allows(tool)).then(|| not_allowed(spec, tool))?;
        Some(found.at(&scenario.source, step.tool_span))
    });
    found.collect()
}

/// A tool that the config leaves out, whether the server has it or not.
fn not_allowed(spec: &ServerSpec, tool: &str) -> Diagnostic {
    let server = &spec.name;
    let message = format!("tool `{tool}` is not on the allow-list of server `{server}`");
    Diagnostic::error(codes::TOOL_UNKNOWN, message).with_help(format!(
        "add it to `tools` of `{server}` in {}",
        spec.source
    ))
}

fn unknown_tool(server: &str, tool: &str, tools: &[ToolInfo]) -> Diagnostic {
    let names = tools.iter().map(|info| info.name.as_str());
    let mut diagnostic = Diagnostic::error(
        codes::TOOL_UNKNOWN,
        format!("server `{server}` has no tool `{tool}`"),
    );
    diagnostic.label =
        did_you_mean(tool, names).map(|name| format!("did you mean `mcp__{server}__{name}`?"));
    diagnostic
}
