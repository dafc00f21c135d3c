//! `cuecard doctor`: which servers there are, where each comes from, whether it starts, what the machine lacks.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_mcp::doctor::{self, Finding, Machine, Outcome};
use cuecard_mcp::{Era, ServerSpec, TransportSpec};
use cuecard_replay::{Pool, known_servers, unknown_server};
use cuecard_report::diagnostics::to_json;
use cuecard_report::duration;
use cuecard_source::diagnostic::{Diagnostic, any_error};
use cuecard_source::value::{Json, Redactor, printable, printable_lines};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::{connect, doctor_output};
use crate::args::DoctorArgs;
use crate::asynchronous::asynchronously;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::output::counted;
use crate::waiting::Waiting;

/// All that was found out.
pub(super) struct Findings {
    pub servers: Vec<ServerFinding>,
    pub config: Config,
    /// What is wrong with configs, and what deserves a look.
    pub diagnostics: Vec<Diagnostic>,
    pub machine: Vec<Finding>,
}

/// One server, as `--json` has it.
#[derive(Debug, Default, Serialize)]
pub(super) struct ServerFinding {
    pub name: String,
    pub status: ServerStatus,
    /// stdio, http; none if its entry can't be read.
    pub transport: Option<&'static str>,
    /// The file that defines it, as it is shown.
    pub from: String,
    pub project_local: bool,
    /// The files that define a server of the same name, which is not used.
    pub also_in: Vec<String>,
    pub protocol: Option<String>,
    pub era: Option<&'static str>,
    pub server_name: Option<String>,
    pub server_version: Option<String>,
    /// How many tools it lists.
    pub tools: Option<usize>,
    /// How long its start took, in seconds.
    pub duration: Option<f64>,
    pub error: Option<String>,
    pub notes: Vec<String>,
    pub help: Option<String>,
    pub warnings: Vec<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnostic: Option<Json>,
    /// What is known about it, in a line for people.
    #[serde(skip)]
    pub line: String,
    /// What stands below that line.
    #[serde(skip)]
    pub details: Vec<String>,
}

/// What is known about a server.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ServerStatus {
    #[serde(rename = "ok")]
    Up,
    Failed,
    /// Its entry can't be used.
    #[serde(rename = "failed")]
    Invalid,
    Disabled,
    /// Nobody asked.
    #[default]
    NotTried,
}

impl ServerFinding {
    pub(super) fn is_failing(&self) -> bool {
        matches!(self.status, ServerStatus::Failed | ServerStatus::Invalid)
    }

    fn tried(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Up {
                info,
                tools,
                took,
                warnings,
            } => {
                self.status = ServerStatus::Up;
                let listed = tools.map_or("no tool list".to_owned(), |n| counted(n, "tool"));
                let version = printable(&info.protocol_version);
                // As wide as any, so that what follows stands in one column.
                self.line = format!("{version:10}  {listed:>9}  {:8}", duration(took));
                let line = |found: &Diagnostic| format!("{}: {}", found.code, found.message);
                self.details = warnings.iter().map(line).collect();
                self.warnings = warnings.iter().map(to_json).collect();
                self.protocol = Some(info.protocol_version);
                self.era = Some(match info.era {
                    Era::Legacy => "legacy",
                    Era::Modern => "modern",
                });
                self.server_name = Some(info.server_name);
                self.server_version = Some(info.server_version);
                self.tools = tools;
                self.duration = Some(took.as_millis() as f64 / 1000.0);
            }
            Outcome::Failed {
                reason,
                notes,
                help,
            } => self.failed(ServerStatus::Failed, reason, notes, help),
        }
    }

    fn refused(&mut self, refusal: &Diagnostic) {
        let (message, notes) = (refusal.message.clone(), refusal.notes.clone());
        self.failed(ServerStatus::Invalid, message, notes, refusal.help.clone());
        let place = doctor_output::place(refusal).into_iter();
        let details = place.chain(refusal.label.clone());
        self.details.splice(0..0, details);
        self.diagnostic = Some(to_json(refusal));
    }

    fn failed(
        &mut self,
        status: ServerStatus,
        error: String,
        notes: Vec<String>,
        help: Option<String>,
    ) {
        self.status = status;
        self.line = printable(&error).into_owned();
        let lines = notes.iter().map(|note| printable_lines(note).into_owned());
        self.details = lines.chain(help.clone()).collect();
        self.error = Some(error);
        self.notes = notes;
        self.help = help;
    }
}

pub(crate) fn run(args: &DoctorArgs, context: &Context) -> Result<ExitCode, Stop> {
    let prepared = prepare(args, &context.environment)?;
    context.output.diagnostics(&prepared.warnings);
    let secrets = prepared.config.servers().iter();
    let redactor = Redactor::new(secrets.flat_map(|server| server.secrets.iter().cloned()));
    let found = asynchronously(async |stop| examine(args, prepared, context, &stop).await)?;
    let findings = found.ok_or(ExitCode::Interrupted)?;
    // Who asks for some servers doesn't ask for the others.
    let configs_matter = args.servers.is_empty();
    let is_well = !findings.servers.iter().any(ServerFinding::is_failing)
        && !(configs_matter
            && (any_error(&findings.diagnostics) || !findings.config.broken.is_empty()));
    if !args.json {
        let told: Vec<_> = doctor_output::told(&findings).cloned().collect();
        context.output.redacted(&told, &redactor);
    }
    let document = || doctor_output::document(&findings, is_well);
    let text = |style| doctor_output::text(&findings, style);
    context.output.result(&redactor, document, text);
    Ok(match is_well {
        true => ExitCode::Passed,
        false => ExitCode::CouldNotRun,
    })
}

/// What is known before anything starts.
struct Prepared {
    config: Config,
    diagnostics: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// The servers that were asked for.
    names: Vec<String>,
    timeout: Option<Duration>,
    working_directory: PathBuf,
}

fn prepare(args: &DoctorArgs, environment: &[(OsString, OsString)]) -> Result<Prepared, Stop> {
    let variables = inputs::variables_of_file(args.server.env.env_file.as_ref(), environment)
        .map_err(Stop::invalid)?;
    let mut warnings = variables.diagnostics;
    let timeout = args.server.connect.timeout;
    warnings.extend(inputs::too_long("--timeout", timeout));
    let working_directory = inputs::working_directory().map_err(Stop::could_not_run)?;
    let (mut config, diagnostics) = Config::survey(&ConfigSearch {
        explicit: args.server.connect.config.as_deref(),
        working_directory: &working_directory,
        environment: &variables.environment,
    });
    if args.server.connect.config.is_some() && any_error(&diagnostics) {
        return Err(Stop::could_not_run(diagnostics));
    }
    let is_known = known_servers(&config);
    let (known, unknown): (Vec<&String>, Vec<&String>) =
        args.servers.iter().partition(|name| is_known(name));
    let mut unknown: Vec<Diagnostic> = unknown
        .into_iter()
        .map(|name| {
            let found = unknown_server(&config, name);
            let entry = format!("{{ \"mcpServers\": {{ \"{name}\": {{ \"command\": \"…\" }} }} }}");
            found.with_help(format!(
                "correct the name, or add it to .mcp.json: {entry}, or name a config with --config FILE"
            ))
        })
        .collect();
    if !unknown.is_empty() {
        unknown.extend(diagnostics);
        return Err(Stop::could_not_run(unknown));
    }
    let mut names: Vec<String> = config
        .names()
        .filter(|name| args.servers.is_empty() || args.servers.iter().any(|asked| asked == name))
        .map(str::to_owned)
        .collect();
    // Those that are built in are tried if somebody asks for them.
    let built_in = known
        .into_iter()
        .filter(|name| config.server(name).is_none());
    names.extend(built_in.cloned().collect::<BTreeSet<_>>());
    drop(is_known);
    config.warn_about(&names);
    Ok(Prepared {
        config,
        diagnostics,
        warnings,
        names,
        timeout,
        working_directory,
    })
}

/// Tries the servers and looks at the machine, all at the same time. Nothing comes of it if somebody asks us to stop.
async fn examine(
    args: &DoctorArgs,
    prepared: Prepared,
    context: &Context,
    stop: &CancellationToken,
) -> Option<Findings> {
    let environment = &context.environment;
    let pool = Pool::new(prepared.config, environment.clone(), prepared.timeout);
    let mut servers: Vec<ServerFinding> = prepared
        .names
        .iter()
        .filter_map(|name| finding_of(name, &pool))
        .collect();
    let specs: Vec<ServerSpec> = servers
        .iter()
        .filter(|server| !args.no_start && server.status == ServerStatus::NotTried)
        .filter_map(|server| pool.spec(&server.name).ok())
        .collect();
    connect::announce(&specs);
    let names: BTreeSet<String> = specs.iter().map(|spec| spec.name.clone()).collect();
    let mut waiting = Waiting::new(&context.output, "trying", names);
    let trying = doctor::try_servers(&specs, environment, |name| waiting.done(name));
    let commands = commands(&prepared.names, &pool);
    let machine = Machine {
        environment,
        working_directory: &prepared.working_directory,
        commands: &commands,
    };
    let both = async { tokio::join!(trying, doctor::examine(&machine)) };
    let outcome = stop.run_until_cancelled(both).await;
    waiting.end();
    let (outcomes, machine) = outcome?;
    for (spec, outcome) in specs.iter().zip(outcomes) {
        let tried = servers.iter_mut().find(|server| server.name == spec.name);
        if let Some(server) = tried {
            server.tried(outcome);
        }
    }
    let mut config = pool.config().clone();
    let mut diagnostics = prepared.diagnostics;
    diagnostics.append(&mut config.warnings);
    Some(Findings {
        servers,
        config,
        diagnostics,
        machine,
    })
}

fn finding_of(name: &str, pool: &Pool) -> Option<ServerFinding> {
    let config = pool.config();
    let mut finding = ServerFinding {
        name: name.to_owned(),
        line: "not tried".to_owned(),
        ..ServerFinding::default()
    };
    let Some(server) = config.server(name) else {
        let spec = pool.spec(name).ok()?;
        finding.from.clone_from(&spec.source);
        finding.transport = Some(spec.transport.as_str());
        return Some(finding);
    };
    finding.from = server.from.display().to_string();
    finding.project_local = server.project_local;
    let others = config.shadowed.iter().filter(|other| other.name == name);
    finding.also_in = others.map(|it| it.from.display().to_string()).collect();
    match &server.spec {
        Ok(spec) => finding.transport = Some(spec.transport.as_str()),
        Err(refusal) if !server.is_disabled => finding.refused(refusal),
        Err(_) => {}
    }
    if server.is_disabled {
        finding.status = ServerStatus::Disabled;
        finding.line = "disabled".to_owned();
    }
    Some(finding)
}

/// The servers that are programs, with the command of each.
fn commands(names: &[String], pool: &Pool) -> Vec<(String, String)> {
    let command = |name: &String| match pool.spec(name).ok()?.transport {
        TransportSpec::Stdio { command, .. } => Some((name.clone(), command)),
        _ => None,
    };
    names.iter().filter_map(command).collect()
}
