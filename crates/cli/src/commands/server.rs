//! One MCP server that the user names: by its name in a config, by its address, or by the command that starts it.

use std::ffi::OsString;
use std::time::Duration;

use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_mcp::{ErrorKind, Protocol, ServerError, ServerFacts, ServerSpec, Session, ToolInfo};
use cuecard_replay::Pool;
use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::value::Redactor;
use cuecard_tool_call::script::FailureKind;
use serde_json::{Value as Json, json};

use super::connect;
use crate::args::ServerArgs;
use crate::context::{Context, Stop};
use crate::inputs;
use crate::output::Output;

/// What messages call a server that was named by its address or its command: the host, or the program.
pub(super) fn name_of(command_or_address: &str) -> &str {
    let address = command_or_address.split_once("://");
    let name = match address {
        Some((_, rest)) => rest
            .split(['/', '?', '#'])
            .next()
            .and_then(|host| host.rsplit('@').next()),
        None => command_or_address.rsplit('/').next(),
    };
    name.filter(|name| !name.is_empty()).unwrap_or("server")
}

/// Whether a name looks like `HOST:PORT/PATH`, an address without its scheme.
fn is_address(name: &str) -> bool {
    let host = name.split('/').next().unwrap_or_default();
    host.rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

/// How long a call may take unless the user or the config says otherwise.
const CALL: Duration = Duration::from_secs(60);

/// A server that is known and not started yet.
pub(super) struct Named {
    pool: Pool,
    name: String,
    /// How long a call may take.
    pub(super) timeout: Duration,
    /// What takes its secrets out.
    pub(super) redactor: Redactor,
}

/// Finds the server that is called `name`, or that `command` starts.
///
/// # Errors
/// Why there is none.
pub(super) fn named(
    name: Option<&str>,
    command: &[String],
    args: &ServerArgs,
    context: &Context,
) -> Result<Named, Stop> {
    let environment = &context.environment;
    let variables = inputs::variables_of_file(args.env.env_file.as_ref(), environment)
        .map_err(Stop::invalid)?;
    let mut warnings = variables.diagnostics;
    let timeout = args.connect.timeout;
    warnings.extend(inputs::too_long("--timeout", timeout));
    let working_directory = inputs::working_directory().map_err(Stop::could_not_run)?;
    let search = ConfigSearch {
        explicit: args.connect.config.as_deref(),
        working_directory: &working_directory,
        environment: &variables.environment,
    };
    let (name, config) = match (name, command) {
        (None, [program, arguments @ ..]) => {
            let entry = json!({"command": program, "args": arguments});
            let name = name_of(program);
            (name, Config::of_one(name, &entry, &search))
        }
        (Some(address), []) if address.contains("://") => {
            let entry = json!({"url": address});
            let name = name_of(address);
            (name, Config::of_one(name, &entry, &search))
        }
        (Some(name), []) => (name, Config::find(&search)),
        (Some(_), _) => {
            let message = "both a server and a command are given";
            return Err(Stop::argument(message, "leave one of them out"));
        }
        (None, []) => {
            let help = "give the name of a configured server, its URL, or its command after `--`";
            return Err(Stop::argument("no server specified", help));
        }
    };
    let mut config = config.map_err(Stop::could_not_run)?;
    config.warn_about(&[name.to_owned()]);
    let secrets = config.servers().iter();
    let redactor = Redactor::new(secrets.flat_map(|server| server.secrets.iter().cloned()));
    warnings.append(&mut config.warnings);
    context.output.redacted(&warnings, &redactor);
    let pool = Pool::new(config, environment.to_vec(), timeout);
    Ok(Named {
        timeout: timeout.or_else(|| pool.call_timeout(name)).unwrap_or(CALL),
        pool,
        name: name.to_owned(),
        redactor,
    })
}

impl Named {
    /// Whether the config leaves a tool out.
    pub(super) fn leaves_out(&self, tool: &str) -> bool {
        let spec = self.pool.spec(&self.name);
        spec.is_ok_and(|spec| !spec.allows(tool))
    }

    /// Starts it. Its caller stops it.
    ///
    /// # Errors
    /// Why it does not start.
    pub(super) async fn start(
        &self,
        environment: &[(OsString, OsString)],
    ) -> Result<Session, Diagnostic> {
        let spec = self.pool.spec(&self.name).map_err(|found| {
            match found.code == codes::TOOL_SERVER && is_address(&self.name) {
                true => found.with_help(format!("did you mean `http://{}`?", self.name)),
                false => found,
            }
        })?;
        connect::announce(std::slice::from_ref(&spec));
        start(&spec, environment).await
    }

    /// Ends `session`, and starts the server again for the older protocol.
    ///
    /// # Errors
    /// Why it does not start.
    pub(super) async fn fall_back_to_legacy(
        &self,
        session: Session,
        environment: &[(OsString, OsString)],
    ) -> Result<Session, Diagnostic> {
        let mut spec = self.pool.spec(&self.name)?;
        spec.protocol = Protocol::Legacy;
        session.stop().await;
        start(&spec, environment).await
    }

    /// Prints what the server sent wrong and was read all the same.
    pub(super) fn show_warnings(&self, session: &Session, output: &Output) {
        let mut warnings = session.take_warnings();
        for warning in &mut warnings {
            warning.message = format!("server `{}`: {}", self.name, warning.message);
        }
        output.redacted(&warnings, &self.redactor);
    }
}

async fn start(
    spec: &ServerSpec,
    environment: &[(OsString, OsString)],
) -> Result<Session, Diagnostic> {
    Session::start(spec, environment).await.map_err(|error| {
        let code = FailureKind::ServerStart.code();
        let mut found = failed(code, &error, &error.facts, error.help());
        found.notes.insert(0, error.start_note());
        found
    })
}

/// Why a server or a tool could not be had, with the last that the server said.
fn failed(
    code: Code,
    error: &dyn std::fmt::Display,
    facts: &ServerFacts,
    help: Option<String>,
) -> Diagnostic {
    let mut found = Diagnostic::error(code, error.to_string());
    found.notes.extend(facts.last_words_note());
    found.help = help;
    found
}

/// Why a call has no result.
pub(super) fn call_failed(error: &ServerError) -> Diagnostic {
    let code = match &error.kind {
        ErrorKind::NoAnswer { .. } => codes::RUN_TIMEOUT,
        _ => codes::RUN_CALL_FAILED,
    };
    failed(code, error, &error.facts, error.help())
}

/// The tools that a server lists.
///
/// # Errors
/// Why there is no list.
pub(super) async fn tools(session: &Session) -> Result<Vec<ToolInfo>, Diagnostic> {
    match session.tools().await {
        Ok(tools) => Ok(tools.map(|tools| tools.to_vec()).unwrap_or_default()),
        Err(error) => Err(call_failed(&error)),
    }
}

/// What is known of a server that runs, for people.
pub(super) fn facts(session: &Session) -> Vec<String> {
    let info = session.info();
    let named = [info.server_name.as_str(), info.server_version.as_str()];
    let named: Vec<&str> = named.into_iter().filter(|text| !text.is_empty()).collect();
    let protocol = match info.protocol_version.as_str() {
        "" => String::new(),
        version => format!("protocol {version}"),
    };
    [named.join(" "), info.transport.to_owned(), protocol]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect()
}

/// The same for programs.
pub(super) fn document(session: &Session) -> Json {
    let info = session.info();
    json!({
        "name": info.server_name,
        "version": info.server_version,
        "protocol": info.protocol_version,
        "transport": info.transport,
    })
}
