//! A scenario of tool calls before it is played.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cuecard_mcp::config::Config;
use cuecard_replay::prepare::{needs_servers, secrets, use_servers, viewport};
use cuecard_replay::{Play, Pool, Screenshots, ToolSettings, Toolbox, known_servers};
use cuecard_runtime::policy::Policy;
use cuecard_runtime::run_dir::RunDir;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;
use cuecard_tool_call::format::{Scope, check_references, read};
use cuecard_tool_call::model::ToolCallScenario;
use cuecard_tool_call::script::{Bindings, Given, Options, bind_variables};
use cuecard_trace::StepFinished;

use super::{Findings, Resumption, redacted};
use crate::Stop;

/// The values of a scenario's variables, and what is wrong with them.
pub type GivenTo<'a> = dyn FnMut(&ToolCallScenario) -> (Vec<Given>, Vec<Diagnostic>) + 'a;

/// What the user asked of a run.
pub struct CallsRequest<'a> {
    /// The values of variables, weakest first, and what is wrong with them; some are asked for once the scenario is known.
    pub given: &'a mut GivenTo<'a>,
    /// The names of which the user says that they are secrets.
    pub secrets: &'a [String],
    /// The steps that are played.
    pub range: RangeInclusive<u64>,
    /// Whether warnings are errors.
    pub strict: bool,
    /// What is wrong with the arguments already.
    pub found: Vec<Diagnostic>,
    /// Whether a config is read although no step needs a server.
    pub has_config: bool,
    /// Finds the config.
    pub config: &'a dyn Fn() -> Result<Config, Vec<Diagnostic>>,
    /// The run that is resumed, if one is.
    pub resumed: Option<&'a mut Resumption>,
}

/// A scenario with all that is known before it is played.
#[derive(Debug)]
pub struct PreparedCalls {
    /// The scenario.
    pub scenario: Arc<ToolCallScenario>,
    /// The values of its variables.
    pub bindings: Bindings,
    /// The servers.
    pub config: Config,
    /// The steps that are played.
    pub range: RangeInclusive<u64>,
    /// Whether warnings are errors.
    pub is_strict: bool,
    /// What takes secrets out.
    pub redactor: Redactor,
    /// What is doubtful, without secrets.
    pub warnings: Vec<Diagnostic>,
}

/// Reads and checks everything.
///
/// # Errors
/// With all that is wrong.
pub fn prepare_calls(
    source: &SourceFile,
    mut asked: CallsRequest<'_>,
) -> Result<PreparedCalls, Stop> {
    let reading = read(source);
    let mut findings = Findings::new(asked.strict, asked.found);
    findings.take(reading.diagnostics);
    let mut redactor = Redactor::default();
    let Some(scenario) = reading.scenario else {
        return Err(findings.refused(&redactor));
    };
    let (mut given, found) = (asked.given)(&scenario);
    findings.take(found);
    if let Some(resumed) = &asked.resumed {
        let (restored, found) = resumed.variables(&given);
        given.extend(restored);
        findings.take(found);
        asked.range = resumed.range();
    }
    redactor.add(secrets(&scenario, &given));
    let (bindings, found) = bind_variables(&scenario, &given);
    redactor.add(bindings.secrets());
    findings.take(
        found
            .into_iter()
            .map(|one| secret_missing(one, asked.secrets)),
    );
    if let Some(resumed) = asked.resumed {
        findings.take(resumed.check(&scenario, &bindings));
    }
    findings.take(empty_range(&scenario, &asked.range));
    findings.take(check_references(
        &scenario,
        &Scope {
            given: &bindings.names(),
            range: asked.range.clone(),
            unreliable_names: &[],
        },
    ));
    if findings.is_bad() {
        return Err(findings.refused(&redactor));
    }
    let config = match needs_servers(&scenario, &asked.range) || asked.has_config {
        true => (asked.config)().and_then(|config| use_servers(config, &scenario, &asked.range)),
        false => Ok(Config::empty()),
    };
    let config = config.map_err(|found| {
        let found = found.into_iter().map(|one| redacted(one, &redactor));
        Stop::could_not_run(found.collect::<Vec<_>>())
    })?;
    // What a server is given may stand in steps before it starts, too.
    for server in config.servers() {
        redactor.add(server.secrets.iter().cloned());
    }
    let mut warnings = findings.warnings;
    warnings.extend(config.warnings.iter().cloned());
    warnings.extend(environment_server(&scenario, &config));
    let warnings = warnings.into_iter().map(|found| redacted(found, &redactor));
    Ok(PreparedCalls {
        warnings: warnings.collect(),
        scenario: Arc::new(scenario),
        bindings,
        config,
        range: asked.range,
        is_strict: asked.strict,
        redactor,
    })
}

/// What a run is made with.
pub struct CallsContext<'a> {
    /// What children may inherit from.
    pub environment: &'a [(OsString, OsString)],
    /// Where relative paths start, and where commands run; absolute.
    pub working_directory: PathBuf,
    /// What the run may do.
    pub policy: Policy,
    /// How long a call may take, in place of what the file says.
    pub timeout: Option<Duration>,
    /// Where what it makes is kept.
    pub run_dir: Option<Arc<RunDir>>,
    /// What scripted delays are multiplied by.
    pub speed: f64,
    /// Which screenshots are taken; none if absent.
    pub screenshots: Option<Screenshots>,
    /// The first steps, which an earlier run has done.
    pub restored: Vec<StepFinished>,
}

impl PreparedCalls {
    /// What is played, and with what; the toolbox is shut down by its owner.
    pub fn into_play(self, run: CallsContext<'_>) -> (Play, Toolbox) {
        let pool = Pool::new(self.config, run.environment.to_vec(), run.timeout);
        let settings = ToolSettings {
            policy: run.policy,
            working_directory: run.working_directory,
            environment: run.environment.to_vec(),
            timeout: run.timeout,
            run_dir: run.run_dir,
            speed: run.speed,
            is_strict: self.is_strict,
        };
        let toolbox = Toolbox::new(pool, settings, viewport(&self.scenario));
        let play = Play {
            scenario: self.scenario,
            bindings: self.bindings,
            options: Options {
                range: self.range,
                speed: run.speed,
            },
            screenshots: run.screenshots,
            restored: run.restored,
        };
        (play, toolbox)
    }
}

/// A secret is not proposed on the command line, where others can read it.
fn secret_missing(diagnostic: Diagnostic, secrets: &[String]) -> Diagnostic {
    let named = diagnostic
        .pointer
        .as_deref()
        .and_then(|pointer| pointer.strip_prefix("/variables/"));
    match named
        .filter(|name| secrets.iter().any(|secret| secret == name))
        .map(str::to_owned)
    {
        Some(name) if diagnostic.code == codes::VARIABLE_MISSING => diagnostic.with_help(format!(
            "set CUECARD_VAR_{name}, or run in a terminal to be prompted for it"
        )),
        _ => diagnostic,
    }
}

fn empty_range(scenario: &ToolCallScenario, range: &RangeInclusive<u64>) -> Option<Diagnostic> {
    if !scenario.steps_in(range).is_empty() {
        return None;
    }
    let ends = scenario.steps.first().zip(scenario.steps.last());
    let numbers = ends.map_or(String::new(), |(first, last)| {
        format!("{} to {}", first.number, last.number)
    });
    Some(
        Diagnostic::error(
            codes::STEP_RANGE,
            "no step is in the range of --start and --end",
        )
        .with_help(format!("the scenario has steps {numbers}")),
    )
}

/// A warning if `environment.mcp` names a server that no config defines.
pub fn environment_server(scenario: &ToolCallScenario, config: &Config) -> Option<Diagnostic> {
    let server = scenario.environment.get("mcp")?.as_str()?;
    if known_servers(config)(server) || config.files.is_empty() {
        return None;
    }
    let warning = Diagnostic::warning(
        codes::ENVIRONMENT_SERVER,
        format!("the scenario was recorded with the server `{server}`, which is not configured"),
    );
    Some(match scenario.environment_span {
        Some(span) => warning.at(&scenario.source, span),
        None => warning,
    })
}
