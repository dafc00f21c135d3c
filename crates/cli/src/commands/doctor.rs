//! `cuecard doctor`: which servers there are, where each comes from, whether it starts, what the machine lacks.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_mcp::doctor::{self, Finding, Machine, Outcome};
use cuecard_mcp::{ServerSpec, TransportSpec};
use cuecard_replay::{Pool, known_servers, unknown_server};
use cuecard_source::diagnostic::{Diagnostic, any_error};
use cuecard_source::value::Redactor;
use tokio_util::sync::CancellationToken;

use super::{connect, doctor_output};
use crate::args::DoctorArgs;
use crate::asynchronous::asynchronously;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs;
use crate::waiting::Waiting;

/// All that was found out.
pub(super) struct Findings {
    pub servers: Vec<ServerFinding>,
    pub config: Config,
    /// What is wrong with configs, and what deserves a look.
    pub diagnostics: Vec<Diagnostic>,
    pub machine: Vec<Finding>,
}

/// One server.
pub(super) struct ServerFinding {
    pub name: String,
    /// The file that defines it, as it is shown.
    pub from: PathBuf,
    pub project_local: bool,
    /// stdio, http; none if its entry can't be read.
    pub transport: Option<&'static str>,
    pub state: State,
}

/// What is known about a server.
pub(super) enum State {
    Tried(Outcome),
    /// Its entry can't be used.
    Refused(Diagnostic),
    Disabled,
    /// Nobody asked.
    NotTried,
}

impl ServerFinding {
    pub(super) fn is_failing(&self) -> bool {
        matches!(
            self.state,
            State::Tried(Outcome::Failed { .. }) | State::Refused(_)
        )
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
    let (timeout, warning) =
        inputs::seconds("--timeout", args.server.connect.timeout).map_err(Stop::invalid)?;
    warnings.extend(warning);
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
        .filter(|server| !args.no_start && matches!(server.state, State::NotTried))
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
            server.state = State::Tried(outcome);
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
    let Some(server) = pool.config().server(name) else {
        let spec = pool.spec(name).ok()?;
        return Some(ServerFinding {
            name: name.to_owned(),
            from: PathBuf::from(&spec.source),
            project_local: false,
            transport: Some(spec.transport.as_str()),
            state: State::NotTried,
        });
    };
    let state = match &server.spec {
        _ if server.is_disabled => State::Disabled,
        Err(refusal) => State::Refused(refusal.clone()),
        Ok(_) => State::NotTried,
    };
    Some(ServerFinding {
        name: name.to_owned(),
        from: server.from.clone(),
        project_local: server.project_local,
        transport: server
            .spec
            .as_ref()
            .ok()
            .map(|spec| spec.transport.as_str()),
        state,
    })
}

/// The servers that are programs, with the command of each.
fn commands(names: &[String], pool: &Pool) -> Vec<(String, String)> {
    let command = |name: &String| match pool.spec(name).ok()?.transport {
        TransportSpec::Stdio { command, .. } => Some((name.clone(), command)),
        _ => None,
    };
    names.iter().filter_map(command).collect()
}
