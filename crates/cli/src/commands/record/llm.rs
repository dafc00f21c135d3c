//! `cuecard record llm`: options, the recording, and how it ends.

use std::ffi::OsString;

use cuecard_llm::client_variables;
use cuecard_llm::record::{RecordLlm, RecordOptions, Upstream};
use cuecard_source::diagnostic::{Diagnostic, codes};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::super::serve::child;
use super::super::serve::exchange_log::ExchangeLog;
use super::super::serve::llm::RunFiles;
use super::telling;
use crate::args::RecordLlmArgs;
use crate::asynchronous::until_stopped;
use crate::commands::profile::read_profiles;
use crate::commands::teller::OutputWriter;
use crate::context::{Context, Problems, Stop};
use crate::exit_code::ExitCode;
use crate::inputs::{secret, text_environment};
use crate::open_files::OpenFiles;

pub(crate) fn run(args: &RecordLlmArgs, context: &Context) -> Result<ExitCode, Stop> {
    let Context {
        environment,
        output,
    } = context;
    let options = options(args, environment).map_err(Stop::invalid)?;
    let described = json!({
        "command": "record llm", "upstream": options.upstream.to_string(), "out": args.out,
    });
    let files = RunFiles::create(&args.runs.run_dir, None, described);
    let files = files.map_err(Stop::could_not_run)?;
    let open_files = OpenFiles::raise();
    let teller = OutputWriter::new(output, !args.command.is_empty());
    let mut log = ExchangeLog::new(files.exchanges, teller.clone());
    let upstream = options.upstream.to_string();
    let recording = RecordLlm::new(options)
        .trace(files.trace)
        .watch(Box::new(move |notice| telling::see(&mut log, notice)));
    let code = until_stopped(async |stop| {
        let running = (args, &teller, &environment[..]);
        record(running, recording, &upstream, &open_files, &stop).await
    });
    teller.drain();
    code?
}

async fn record(
    (args, teller, environment): (&RecordLlmArgs, &OutputWriter, &[(OsString, OsString)]),
    recording: RecordLlm,
    upstream: &str,
    open_files: &OpenFiles,
    stop: &CancellationToken,
) -> Result<ExitCode, Stop> {
    let running = recording.start().await?;
    let url = running.base_url();
    let set = |key: Option<&str>| own_variables(&url, key, environment);
    let shown = set(args.token.as_deref().map(|_| "(the token)"));
    telling::ready(teller, &running, upstream, &shown);
    let variables = set(args.token.as_deref());
    let command = &args.command;
    let code = child::run(teller, command, &variables, environment, open_files, stop).await;
    let recording = running.stop().await;
    telling::recorded(teller, &recording);
    // Whoever needs the recording has none.
    let passed = !recording.files.is_empty();
    let code = match (code, &recording.write_error) {
        (ExitCode::Passed, Some(_)) => ExitCode::CouldNotRun,
        (code, _) => code,
    };
    Ok(teller.exit_code(code, passed, recording.trace_error.as_ref()))
}

/// What clients read to find the API. A key of the user's stays, since the model asks for it; without one, clients
/// get one that lets them start.
fn own_variables(
    url: &str,
    key: Option<&str>,
    environment: &[(OsString, OsString)],
) -> Vec<(&'static str, String)> {
    let is_given = |name: &str| {
        environment
            .iter()
            .any(|(known, value)| known == name && !value.is_empty())
    };
    client_variables(url, key)
        .into_iter()
        .filter(|(name, _)| key.is_some() || !name.ends_with("_API_KEY") || !is_given(name))
        .collect()
}

/// The options.
///
/// # Errors
/// Everything that is wrong with the arguments.
fn options(
    args: &RecordLlmArgs,
    environment: &[(OsString, OsString)],
) -> Result<RecordOptions, Vec<Diagnostic>> {
    let mut problems = Problems::default();
    let upstream = problems.take(Upstream::parse(&args.upstream).map_err(|why| {
        let message = format!("invalid `--upstream {}`: {why}", args.upstream);
        Diagnostic::error(codes::ARGUMENT, message)
            .with_help("write the API's address, such as `https://api.openai.com/v1`")
    }));
    let key = args.upstream_key_env.as_ref().map(|name| {
        let value = text_environment(environment).remove(name);
        value
            .filter(|value| !value.trim().is_empty())
            .ok_or_else(|| {
                let message = format!("`--upstream-key-env`: the variable `{name}` is not set");
                Diagnostic::error(codes::ARGUMENT, message)
            })
    });
    let key = problems.take(key.transpose()).flatten();
    let secrets = args.secrets.iter();
    let secrets = secrets.filter_map(|name| problems.take(secret(name, environment)));
    let secrets = secrets.collect();
    let profiles = problems.take(read_profiles(&args.profiles));
    let upstream = problems.or(upstream)?;
    let upstream = match key {
        Some(key) => upstream.with_key(key),
        None => upstream,
    };
    let options = RecordOptions::new(upstream, &args.out);
    Ok(RecordOptions {
        stall: args.stall.unwrap_or(options.stall),
        replaces: args.force,
        bind: args.address.socket(),
        token: args.token.clone(),
        secrets,
        profiles: profiles.unwrap_or_default(),
        max_exchanges: args.exchanges_max,
        ..options
    })
}
