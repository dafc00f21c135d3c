//! What is settled before any test runs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use cuecard_judge::model::DEFAULT_CASE_TIMEOUT;
use cuecard_runner::{Filter, Selection, Setup, Shard};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::run_dir;
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_tool_call::script::Given;

use super::reports;
use crate::args::TestArgs;
use crate::commands::run::which_agent;
use crate::context::{Problems, Stop};
use crate::inputs;
use crate::output_files::check_overwriting;

/// The most threads that make sense: each may hold a trace.
const MOST_JOBS: usize = 256;

/// How to run.
pub(super) struct Plan {
    pub setup: Setup,
    pub selection: Selection,
    pub shard: Option<Shard>,
    pub jobs: usize,
}

/// Resolves the arguments. With a plan come warnings about them.
pub(super) fn plan(
    args: &TestArgs,
    environment: &[(OsString, OsString)],
    clock: &Clock,
) -> Result<(Plan, Vec<Diagnostic>), Stop> {
    let mut found = Problems::default();
    let mut selection = Selection {
        filters: Vec::new(),
        tags: args.tags.clone(),
    };
    for text in &args.filters {
        let filter = Filter::new(text).map_err(|error| {
            let error = error.to_string();
            let reason = last_line(&error);
            argument(format!(
                "`--filter {text}` is not a regular expression: {reason}"
            ))
        });
        selection.filters.extend(found.take(filter));
    }
    let shard = args.shard.as_deref().map(Shard::new);
    if let (Some(None), Some(text)) = (shard, &args.shard) {
        found.0.push(
            argument(format!("`--shard {text}` is not a valid shard")).with_help(
                "write --shard I/N with I from 1 to N: `--shard 1/3`, `--shard 2/3`, `--shard 3/3`",
            ),
        );
    }
    let (mut files, mut n_on_stdout) = (Vec::new(), 0);
    for report in &args.reports {
        match found.take(reports::parse(report, args.json)) {
            Some((_, Some(file))) => files.push(file),
            Some((_, None)) => n_on_stdout += 1,
            None => {}
        }
    }
    if n_on_stdout > 1 {
        let message = format!("{n_on_stdout} reports would be written to standard output");
        found
            .0
            .push(argument(message).with_help("write all but one to a file: --report KIND:FILE"));
    }
    let paths = super::paths(args);
    let read = paths.iter().chain(&args.variables.env.env_file);
    let read: Vec<&Path> = read.map(PathBuf::as_path).collect();
    found.take(check_overwriting(files.iter().map(PathBuf::as_path), &read));
    found.0.extend(inputs::too_long("--timeout", args.timeout));
    let variables = inputs::variables_of(&args.variables, environment);
    found.0.extend(variables.diagnostics);
    let of_file = variables.of_file.into_iter();
    let live_environment = of_file.map(|(name, value)| (name.into(), value.into()));
    let live_environment = live_environment.collect();
    let working_directory = inputs::working_directory().map_err(Stop::could_not_run)?;
    let policy = inputs::policy(&args.safety, args.out.as_deref(), &working_directory);
    let policy = found.take(policy).filter(|_| !any_error(&found.0));
    let Some(policy) = policy else {
        return Err(Stop::invalid(found.0));
    };
    let agent = which_agent(&args.agent, &[], &working_directory);
    let agent = agent.map_err(Stop::invalid)?;
    let safety = inputs::policy_options(&args.safety, None, &working_directory);
    let own_program = inputs::own_program().map_err(Stop::could_not_run)?;
    // What the surroundings hold is a default; what was typed is meant.
    let (defaults, mut given): (Vec<Given>, Vec<Given>) = variables
        .given
        .into_iter()
        .partition(|given| given.may_be_unknown);
    for given in &mut given {
        // Not every scenario of a suite needs to know it.
        given.may_be_unknown = true;
    }
    let secrets = &args.variables.secrets;
    let unknown = given
        .iter()
        .map(|given| &given.name)
        .chain(secrets)
        .cloned()
        .collect();
    let started = clock.timestamp(Duration::ZERO);
    let setup = Setup {
        run_id: run_dir::new_id(started),
        strict: args.strict,
        unproven: args.unproven,
        timeout: args.timeout.unwrap_or(DEFAULT_CASE_TIMEOUT),
        working_directory,
        environment: environment.to_vec(),
        live_environment,
        config: args.config.clone(),
        config_environment: variables.environment,
        defaults,
        given,
        secrets: secrets.clone(),
        unknown: Mutex::new(unknown),
        policy,
        safety,
        own_program,
        agent,
        speed: args.speed.speed,
        update: args.update,
        mutate: args.mutate,
        servers: OnceLock::new(),
    };
    let jobs = args
        .jobs
        .or_else(|| thread::available_parallelism().ok().map(usize::from))
        .unwrap_or(1)
        .min(MOST_JOBS);
    let plan = Plan {
        setup,
        selection,
        shard: shard.flatten(),
        jobs,
    };
    Ok((plan, found.0))
}

/// What a parser says last, which is what it means.
fn last_line(text: &str) -> &str {
    let line = text.lines().last().unwrap_or_default().trim();
    line.strip_prefix("error: ").unwrap_or(line)
}

fn argument(message: String) -> Diagnostic {
    Diagnostic::error(codes::ARGUMENT, message)
}
