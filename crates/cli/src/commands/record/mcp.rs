//! `cuecard record mcp`: the proxy in front of one server, and what is told of a recording.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cuecard_mcp::Exit;
use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_recording::proxy::forward::{Forward, ForwardOptions};
use cuecard_recording::proxy::pipe::{self, Streams};
use cuecard_recording::proxy::{Endpoint, RecordedFiles, Session, Tap, Upstream, bridge};
use cuecard_runtime::process::ProcessSpec;
use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::value::{find_credentials, printable};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::super::infer;
use super::session;
use crate::args::RecordMcpArgs;
use crate::asynchronous::until_stopped;
use crate::commands::server::name_of;
use crate::commands::teller::OutputWriter;
use crate::context::{Context, Stop};
use crate::exit_code::ExitCode;
use crate::inputs::{io_reason, secret, text_environment, working_directory};
use crate::output::counted;
use crate::output_files::unwritable;

pub(crate) fn run(args: &RecordMcpArgs, context: &Context) -> Result<ExitCode, Stop> {
    match (&args.session, &args.config) {
        (Some(session), _) => session::proxy(session, args, &context.output),
        (None, Some(config)) => session::run(args, config, context),
        (None, None) => proxy(args, context),
    }
}

/// What a proxy stands in front of.
pub(super) enum Target {
    Process(ProcessSpec),
    Url(Endpoint),
}

fn proxy(args: &RecordMcpArgs, context: &Context) -> Result<ExitCode, Stop> {
    let environment = &context.environment;
    let (target, secrets) = target(args, environment)?;
    let named = named_secrets(&args.secret.secrets, environment)?;
    let files = files(args)?;
    let program = args
        .command
        .first()
        .map(|program| program.to_string_lossy().into_owned());
    let place = program.or_else(|| args.url.clone()).unwrap_or_default();
    let name = args
        .server_name
        .clone()
        .unwrap_or_else(|| name_of(&place).to_owned());
    let session = Session::new(&files, secrets, &named);
    let tap = session.tap(&name, args.server_name.is_some());
    // Standard output belongs to the client.
    let teller = OutputWriter::new(&context.output, !args.http.http);
    let code = until_stopped(async |stop| {
        let over = CancellationToken::new();
        let keeping = tokio::spawn(files.clone().keep(over.clone()));
        let failed = match (&target, args.http.http) {
            (Target::Url(server), true) => {
                let options = ForwardOptions {
                    upstream: server.clone(),
                    bind: args.http.address.socket(),
                    token: args.http.token.clone(),
                };
                listen(options, &tap, (&teller, &place), &stop).await
            }
            _ => pass_on(&target, &name, &tap, &stop)
                .await
                .map_err(Stop::could_not_run),
        };
        over.cancel();
        // It fails only if writing panicked.
        let _ = keeping.await;
        let (n_unrecorded, found) = end(&tap);
        let mut code = ExitCode::Passed;
        let (failed, exit) = match failed {
            Ok(()) => (Vec::new(), code),
            Err(stop) => (stop.diagnostics, stop.exit),
        };
        code = code.worst(exit);
        if any_error(&found) {
            code = code.worst(ExitCode::CouldNotRun);
        }
        for found in failed.iter().chain(&found) {
            teller.finding(found);
        }
        let recorded = Recorded {
            session: &session,
            files: &files,
            prompts: &[],
            n_unrecorded,
            config: None,
        };
        code.worst(recorded.tell(&teller, environment))
    });
    teller.drain();
    Ok(code?)
}

/// What the proxy stands in front of, and what must not be written.
fn target(
    args: &RecordMcpArgs,
    environment: &[(OsString, OsString)],
) -> Result<(Target, Vec<String>), Stop> {
    let invalid = |message: &str| Stop::invalid(Diagnostic::error(codes::ARGUMENT, message));
    if args.http.http && args.url.is_none() {
        return Err(invalid("`--http` needs the `--url` of a server"));
    }
    let variables = text_environment(environment);
    if let Some((program, words)) = args.command.split_first() {
        let spec = ProcessSpec {
            program: program.clone(),
            args: words.to_vec(),
            // The client means its variables for the server.
            env: environment.to_vec(),
            cwd: None,
        };
        let mut secrets = Vec::new();
        find_credentials(&json!(variables), &mut secrets);
        return Ok((Target::Process(spec), secrets));
    }
    let Some(url) = &args.url else {
        let help = "give its command after `--`, its URL with `--url`, or a config of servers with `--config` and an agent after `--`";
        return Err(Stop::argument("no server specified", help));
    };
    let mut headers = serde_json::Map::new();
    for header in &args.headers {
        let (name, value) = header
            .split_once(':')
            .ok_or_else(|| invalid("a `--header` looks like `NAME: VALUE`"))?;
        headers.insert(name.trim().to_owned(), value.trim().into());
    }
    let working_directory = working_directory().map_err(Stop::could_not_run)?;
    let search = ConfigSearch {
        explicit: None,
        working_directory: &working_directory,
        environment: &variables,
    };
    let entry = json!({"url": url, "headers": headers, "type": "http"});
    let config = Config::of_one(name_of(url), &entry, &search).map_err(Stop::invalid)?;
    let Some(server) = config.servers().first() else {
        return Err(invalid("the URL is not one of a server"));
    };
    let spec = server
        .spec
        .as_ref()
        .map_err(|found| Stop::invalid(found.clone()))?;
    let upstream = session::upstream(spec, &[]).map_err(Stop::invalid)?;
    Ok((Target::of(&upstream)?, server.secrets.clone()))
}

impl Target {
    pub(super) fn of(upstream: &Upstream) -> Result<Self, Stop> {
        match upstream {
            Upstream::Command {
                program,
                args,
                env,
                cwd,
            } => Ok(Self::Process(ProcessSpec {
                program: program.into(),
                args: args.iter().map(OsString::from).collect(),
                env: env
                    .iter()
                    .map(|(name, value)| (name.into(), value.into()))
                    .collect(),
                cwd: cwd.clone(),
            })),
            Upstream::Url { url, headers } => {
                let server = Endpoint::new(url, headers);
                let bad = |what| {
                    let message = format!("the server can't be reached: {what}");
                    Stop::invalid(Diagnostic::error(codes::ARGUMENT, message))
                };
                server.map(Self::Url).map_err(bad)
            }
        }
    }
}

/// Where the recording goes.
pub(super) fn files(args: &RecordMcpArgs) -> Result<RecordedFiles, Stop> {
    let files = RecordedFiles::new(&args.out, args.force);
    let folder = cuecard_runtime::text_file::folder_of(&args.out);
    if args.out.file_name().is_none() || args.out.is_dir() || !folder.is_dir() {
        let message = format!(
            "`{}` is not a file in a folder that exists",
            args.out.display()
        );
        let help = "specify the scenario to write, such as `-o recorded.json`";
        return Err(Stop::argument(message, help));
    }
    for path in [&files.scenario, &files.cassette] {
        if path.exists() && !args.force {
            let message = format!("`{}` already exists", path.display());
            let help = "choose another file with `-o FILE`, or overwrite it with `--force`";
            return Err(Stop::argument(message, help));
        }
    }
    Ok(files)
}

/// The names and values of `--secret`.
pub(in crate::commands) fn named_secrets(
    names: &[String],
    environment: &[(OsString, OsString)],
) -> Result<Vec<(String, String)>, Stop> {
    let secrets = names
        .iter()
        .map(|name| Ok::<_, Diagnostic>((name.clone(), secret(name, environment)?)));
    secrets.collect::<Result<_, _>>().map_err(Stop::invalid)
}

/// Stands between our own standard streams and a server, until one side ends.
///
/// # Errors
/// The server can't be started or reached, or ended before its client did.
pub(super) async fn pass_on(
    target: &Target,
    name: &str,
    tap: &Arc<Mutex<Tap>>,
    stop: &CancellationToken,
) -> Result<(), Diagnostic> {
    let lost = |message: String| Diagnostic::error(codes::RUN_CALL_FAILED, message);
    match target {
        Target::Process(spec) => {
            let program = printable(&spec.program.to_string_lossy()).into_owned();
            let not_started = |error: std::io::Error| {
                let folder = spec.cwd.as_deref().filter(|folder| !folder.is_dir());
                let message = match (error.kind(), folder) {
                    (std::io::ErrorKind::NotFound, Some(folder)) => {
                        format!("server `{name}`: directory not found: {}", folder.display())
                    }
                    (std::io::ErrorKind::NotFound, None) => {
                        format!("server `{name}`: command not found: {program}")
                    }
                    _ => format!("server `{name}` can't be started: {}", io_reason(&error)),
                };
                Diagnostic::error(codes::RUN_SERVER_START, message)
            };
            let streams = own_streams().map_err(not_started)?;
            let end = pipe::run(spec, streams, tap, stop)
                .await
                .map_err(not_started)?;
            if !end.is_failure() {
                return Ok(());
            }
            let exit = end.status.map_or(Exit::Unknown, Exit::from);
            let mut found = lost(format!(
                "server `{name}` ended before its client did ({exit})"
            ));
            let tap = tap.lock().unwrap_or_else(PoisonError::into_inner);
            let lines = end
                .last_lines
                .iter()
                .map(|line| printable(&tap.redacted(line)).into_owned());
            let lines: Vec<String> = lines.collect();
            if !lines.is_empty() {
                found = found.with_note(format!("its last words: {}", lines.join("\n")));
            }
            Err(found)
        }
        Target::Url(server) => {
            let client = (Box::new(tokio::io::stdin()) as Box<_>, tokio::io::stdout());
            let n_lost = bridge::run(server.clone(), client, tap.clone(), stop).await;
            match n_lost.map_err(lost)? {
                0 => Ok(()),
                n => Err(unanswered(name, n)),
            }
        }
    }
}

fn unanswered(name: &str, n: u64) -> Diagnostic {
    let message = format!("server `{name}` did not answer {n} of the requests");
    Diagnostic::error(codes::RUN_CALL_FAILED, message)
}

fn own_streams() -> std::io::Result<Streams> {
    Ok(Streams {
        input: rustix::io::dup(rustix::stdio::stdin())?,
        output: rustix::io::dup(rustix::stdio::stdout())?,
        errors: rustix::io::dup(rustix::stdio::stderr())?,
    })
}

/// Listens for clients until `stop`.
async fn listen(
    options: ForwardOptions,
    tap: &Arc<Mutex<Tap>>,
    (teller, upstream): (&OutputWriter, &str),
    stop: &CancellationToken,
) -> Result<(), Stop> {
    let forward = Forward::start(options, tap.clone(), stop).await?;
    let upstream = tap
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .redacted(upstream);
    match teller.is_json {
        true => teller.event("ready", json!({"url": forward.url, "upstream": upstream})),
        false => teller.line(&format!("ready  {}   records {upstream}", forward.url)),
    }
    stop.cancelled().await;
    forward.ended().await;
    Ok(())
}

/// The end of what one proxy records: how many calls could not be recorded, and what is missing.
pub(super) fn end(tap: &Mutex<Tap>) -> (usize, Vec<Diagnostic>) {
    let mut tap = tap.lock().unwrap_or_else(PoisonError::into_inner);
    tap.end();
    let name = tap.name();
    let mut missing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (tool, began) in tap.missing() {
        let began = format!("{} s", began.as_secs_f64());
        missing.entry(tool).or_default().push(began);
    }
    let missing = missing.into_iter().map(|(tool, began)| {
        let n_calls = match began.len() {
            1 => "a call".to_owned(),
            n => format!("{n} calls"),
        };
        let began = began.join(", ");
        format!("no answer came to {n_calls} of `{tool}`, begun at {began} of the recording")
    });
    let notes = tap.notes().map(str::to_owned);
    let left_out = missing.chain(notes).map(|what| {
        let message = format!("server `{name}`: {}", printable(&what));
        Diagnostic::warning(codes::RECORD_LEFT_OUT, message)
    });
    let unwritten = tap
        .write_error()
        .map(|error| Diagnostic::error(codes::FILE_WRITE, error));
    let unanswered = match tap.n_unanswered {
        0 => None,
        n => Some(unanswered(&name, n as u64)),
    };
    let changed = tap.changed.iter().cloned();
    let found = left_out.chain(changed).chain(unanswered).chain(unwritten);
    (tap.n_unrecorded, found.collect())
}

/// A recording at its end.
pub(super) struct Recorded<'r> {
    pub(super) session: &'r Session,
    /// As the user named them.
    pub(super) files: &'r RecordedFiles,
    /// What the user asked the agent for.
    pub(super) prompts: &'r [String],
    /// How many calls could not be recorded.
    pub(super) n_unrecorded: usize,
    /// The config of the servers.
    pub(super) config: Option<&'r Path>,
}

impl Recorded<'_> {
    /// Writes the scenario, and tells what was recorded.
    pub(super) fn tell(
        &self,
        teller: &OutputWriter,
        environment: &[(OsString, OsString)],
    ) -> ExitCode {
        let finished = self.session.finish(self.prompts);
        let (recorded, inferred) = match finished {
            Ok(finished) => finished,
            Err(error) => {
                teller.finding(&unwritable(&self.files.scenario, &error));
                return ExitCode::CouldNotRun;
            }
        };
        let shown = |path: &Path| path.display().to_string();
        let (scenario, cassette) = (shown(&self.files.scenario), shown(&self.files.cassette));
        let (has_calls, has_steps) = (recorded.n_calls > 0, recorded.n_answered() > 0);
        // Whoever needs the recording has none.
        let exit = match has_calls {
            true => ExitCode::Passed,
            false => ExitCode::Failed,
        };
        if teller.is_json {
            let mut event = json!({
                "scenario": has_steps.then_some(scenario), "cassette": has_calls.then_some(cassette),
                "servers": recorded.servers, "calls": recorded.n_calls, "missing": recorded.missing,
                "unrecorded": self.n_unrecorded,
            });
            if let (Some(event), Ok(inferred)) = (event.as_object_mut(), inferred) {
                event.extend(infer::remarks(&inferred));
            }
            teller.last_event("recorded", event);
            return exit;
        }
        if !has_calls {
            let why = match self.n_unrecorded {
                0 => "no tool was called".to_owned(),
                n => format!("{} could not be recorded", counted(n, "call")),
            };
            teller.last_line(&format!("recorded  nothing: {why}"));
            return exit;
        }
        let mut calls = counted(recorded.n_calls, "call");
        match recorded.missing.len() {
            0 => {}
            n => calls.push_str(&format!(", {n} without an answer")),
        }
        if self.n_unrecorded > 0 {
            calls.push_str(&format!(", {} not recorded", self.n_unrecorded));
        }
        teller.last_line(&format!("recorded  {cassette}   {calls}"));
        match inferred {
            Ok(inferred) => {
                let style = teller.output.stderr;
                let told = infer::summary(&inferred, Some(&scenario), style);
                let play =
                    infer::play_command(&scenario, &inferred.scenario, self.config, environment);
                teller.last_line(&format!("{told}\nplay it with  {play}"));
            }
            Err(error) if has_steps => teller.last_line(&format!(
                "{scenario}: the calls as they were made, with the ids and values of this run, since {error}"
            )),
            Err(_) => {}
        }
        exit
    }
}
