//! `cuecard record mcp --config`: an agent whose servers are all recorded.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_mcp::{ServerSpec, TransportSpec};
use cuecard_recording::proxy::{ProxyReport, RecordedFiles, Session, SessionFolder, Upstream};
use cuecard_runner::timeline::{HandedServers, hand_servers};
use cuecard_runtime::process::INHERITED;
use cuecard_source::diagnostic::{Diagnostic, codes};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::super::serve::child;
use super::mcp::{self, Recorded, Target};
use crate::args::RecordMcpArgs;
use crate::asynchronous::until_stopped;
use crate::commands::teller::OutputWriter;
use crate::context::{Context, Problems, Stop};
use crate::exit_code::ExitCode;
use crate::inputs::{io_reason, own_program, text_environment, working_directory};
use crate::open_files::OpenFiles;
use crate::output::Output;

/// What is in the names of options of agents whose text is no prompt: `--append-system-prompt`, `--allowedTools`, `-c`.
const NO_PROMPTS: &[&str] = &[
    "agents",
    "allowedtools",
    "c",
    "config",
    "disallowedtools",
    "settings",
    "system",
    "tools",
];

pub(super) fn run(
    args: &RecordMcpArgs,
    config: &Path,
    context: &Context,
) -> Result<ExitCode, Stop> {
    let environment = &context.environment;
    let (session, files) = prepare(args, config, context)?;
    let not_written = |error: std::io::Error| {
        let message = format!(
            "the servers can't be handed to the agent: {}",
            io_reason(&error)
        );
        Stop::could_not_run(Diagnostic::error(codes::FILE_WRITE, message))
    };
    let parent = session_parent(&text_environment(environment));
    let folder = SessionFolder::create(&parent, &session).map_err(not_written)?;
    let handed = handed(args, &session, &folder)?;
    folder.write_config(&handed.config).map_err(not_written)?;
    let open_files = OpenFiles::raise();
    let teller = OutputWriter::new(&context.output, true);
    let names: Vec<&str> = session.servers.keys().map(String::as_str).collect();
    match teller.is_json {
        true => teller.event("ready", json!({"servers": names, "config": config})),
        false => teller.line(&format!(
            "ready  records {}   from {}",
            names.join(", "),
            config.display()
        )),
    }
    let variables = handed.env.iter();
    let variables: Vec<(&str, String)> = variables
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect();
    let code = until_stopped(async |stop| {
        let over = CancellationToken::new();
        let keeping = tokio::spawn(files.clone().keep(over.clone()));
        let code = child::run(
            &teller,
            &handed.command,
            &variables,
            environment,
            &open_files,
            &stop,
        )
        .await;
        over.cancel();
        // It fails only if writing panicked.
        let _ = keeping.await;
        let reports = folder.reports();
        // Proxies share the files, and tell the same of them.
        let problems = reports.iter().flat_map(ProxyReport::problems);
        let mut problems: Vec<Diagnostic> = problems.collect();
        problems.sort_by(|one, other| one.message.cmp(&other.message));
        problems.dedup_by(|one, other| one.message == other.message);
        let idle = session.servers.keys();
        let idle = idle.filter(|name| !reports.iter().any(|report| report.server == **name));
        let idle = idle.map(|name| {
            let message = format!("server `{name}`: the agent did not start its proxy");
            Diagnostic::warning(codes::RECORD_LEFT_OUT, message)
                .with_help("the agent may not read what it is handed, or has a server of this name: put `cuecard record mcp` before the server's command in the agent's own config")
        });
        let idle: Vec<Diagnostic> = idle.collect();
        for problem in problems.iter().chain(&idle) {
            teller.finding(problem);
        }
        let recorded = Recorded {
            session: &session,
            files: &files,
            prompts: &prompts_of(&args.command),
            n_unrecorded: reports.iter().map(|report| report.n_unrecorded).sum(),
            config: Some(config),
        };
        let written = recorded.tell(&teller, environment);
        let is_unwritten = problems
            .iter()
            .any(|problem| problem.code == codes::FILE_WRITE);
        match code {
            ExitCode::Passed if is_unwritten => ExitCode::CouldNotRun,
            ExitCode::Passed => written,
            code => code,
        }
    });
    teller.drain();
    Ok(code?)
}

/// What the user asks an agent for, as its command tells it: each argument of several words that sets no option of
/// another kind and is no data.
fn prompts_of(command: &[OsString]) -> Vec<String> {
    let words: Vec<&str> = command.iter().filter_map(|word| word.to_str()).collect();
    let is_other = |option: &str| {
        let mut parts = option.trim_start_matches('-').split(['-', '_']);
        option.starts_with('-') && parts.any(|part| NO_PROMPTS.contains(&&*part.to_lowercase()))
    };
    let pairs = words.iter().zip(words.iter().skip(1));
    let prompts = pairs.filter_map(|(before, word)| {
        let text = match word.split_once('=').filter(|_| word.starts_with('-')) {
            Some((option, text)) => Some(text).filter(|_| !is_other(option)),
            None => Some(*word).filter(|_| !is_other(before)),
        };
        let text = text?.trim();
        let is_data = text.starts_with(['{', '[']);
        (!is_data && text.contains(char::is_whitespace)).then(|| text.to_owned())
    });
    prompts.collect()
}

/// Where session folders go: a folder in which nobody else can rename anything, since agents don't trust a file that
/// somebody else could have put there. Without one, the folder of temporary files.
fn session_parent(environment: &BTreeMap<String, String>) -> PathBuf {
    let named = |name: &str| environment.get(name).map(PathBuf::from);
    let state = named("XDG_STATE_HOME").or_else(|| Some(named("HOME")?.join(".local/state")));
    let places = named("XDG_RUNTIME_DIR").into_iter().chain(state);
    let mut places = places
        .filter(|place| place.is_absolute())
        .map(|place| place.join("cuecard"));
    let place = places.find(|place| {
        let existing = place.ancestors().find(|folder| folder.exists());
        let real = existing.and_then(|folder| folder.canonicalize().ok());
        let is_safe = real.is_some_and(|real| real.ancestors().all(only_owner_writes));
        let mut folder = DirBuilder::new();
        is_safe && folder.recursive(true).mode(0o700).create(place).is_ok()
    });
    place.unwrap_or_else(std::env::temp_dir)
}

fn only_owner_writes(folder: &Path) -> bool {
    let metadata = folder.metadata();
    metadata.is_ok_and(|metadata| metadata.mode() & 0o022 == 0)
}

/// The servers of the config, and where the recording goes.
fn prepare(
    args: &RecordMcpArgs,
    config: &Path,
    context: &Context,
) -> Result<(Session, RecordedFiles), Stop> {
    let environment = &context.environment;
    let working_directory = working_directory().map_err(Stop::could_not_run)?;
    let search = ConfigSearch {
        explicit: Some(config),
        working_directory: &working_directory,
        environment: &text_environment(environment),
    };
    let read = Config::find(&search).map_err(Stop::could_not_run)?;
    context.output.diagnostics(&read.warnings);
    let named = mcp::named_secrets(&args.secret.secrets, environment)?;
    let mut secrets = Vec::new();
    let (mut servers, mut problems) = (BTreeMap::new(), Problems::default());
    for server in read.servers().iter().filter(|server| !server.is_disabled) {
        let spec = server.spec.clone();
        let upstream = spec.and_then(|spec| upstream(&spec, environment));
        servers.extend(problems.take(upstream).map(|it| (server.name.clone(), it)));
        secrets.extend(server.secrets.iter().cloned());
    }
    let servers = problems.or(Some(servers)).map_err(Stop::could_not_run)?;
    if servers.is_empty() {
        let message = format!("`{}` defines no servers", config.display());
        let found = Diagnostic::error(codes::CONFIG_INVALID, message);
        return Err(Stop::invalid(found));
    }
    let files = mcp::files(args)?;
    // The agent may start its servers elsewhere.
    let mut session = Session::new(&files.seen_from(&working_directory), secrets, &named);
    session.servers = servers;
    Ok((session, files))
}

/// How a proxy reaches a server.
///
/// # Errors
/// No proxy can stand in front of it.
pub(super) fn upstream(
    spec: &ServerSpec,
    environment: &[(OsString, OsString)],
) -> Result<Upstream, Diagnostic> {
    let refused = |why: &str, help| {
        let message = format!("server `{}` can't be recorded: it {why}", spec.name);
        Diagnostic::error(codes::CONFIG_INVALID, message).with_help(help)
    };
    if spec.allowed_tools.is_some() {
        let help =
            "the proxy passes all calls on: leave `tools` out of the config that you record with";
        return Err(refused("has a list of `tools`", help));
    }
    match &spec.transport {
        TransportSpec::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
            let inherited = text_environment(environment).into_iter();
            let inherited = inherited.filter(|(name, _)| INHERITED.contains(&name.as_str()));
            Ok(Upstream::Command {
                program: command.clone(),
                args: args.clone(),
                env: inherited.chain(env.iter().cloned()).collect(),
                cwd: cwd.clone(),
            })
        }
        TransportSpec::Http {
            url,
            headers,
            auth: None,
            ..
        } => Ok(Upstream::Url {
            url: url.clone(),
            headers: headers.clone(),
        }),
        other => {
            let why = match other {
                TransportSpec::Http { .. } => "gets its token with `auth`",
                other => &format!("is reached over {}", other.as_str()),
            };
            Err(refused(
                why,
                "only stdio and Streamable HTTP can be recorded: leave the server out of the config",
            ))
        }
    }
}

/// The command of the agent with our servers in place of its own.
fn handed(
    args: &RecordMcpArgs,
    session: &Session,
    folder: &SessionFolder,
) -> Result<HandedServers, Stop> {
    let program = own_program()
        .map_err(Stop::could_not_run)?
        .to_string_lossy()
        .into_owned();
    let file = folder.session().to_string_lossy().into_owned();
    let servers = session.servers.keys().map(|name| {
        let words = [
            &program,
            "record",
            "mcp",
            "--session",
            &file,
            "--server",
            name,
        ];
        (name.clone(), words.map(str::to_owned).to_vec())
    });
    let handed = hand_servers(&args.command, &servers.collect(), &folder.config())
        .map_err(Stop::could_not_run)?;
    handed.ok_or_else(|| {
        let agent = args.command.first().map(|program| program.to_string_lossy());
        let message = format!("it is not known how `{}` is given its MCP servers", agent.unwrap_or_default());
        let help = "write `{config}` where its command takes the path of a file like .mcp.json; claude, codex, gemini, opencode, qwen and vibe are known";
        Stop::argument(message, help)
    })
}

/// The proxy of one server, which an agent starts. What goes wrong is told to the session too.
pub(super) fn proxy(file: &Path, args: &RecordMcpArgs, output: &Output) -> Result<ExitCode, Stop> {
    let bad = |what: String| {
        let message = format!(
            "`{}` is not of a recording that goes on: {what}",
            file.display()
        );
        Stop::invalid(Diagnostic::error(codes::ARGUMENT, message))
    };
    let text = std::fs::read_to_string(file).map_err(|error| bad(io_reason(&error)))?;
    let session: Session = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    let name = args.server_name.as_deref().unwrap_or_default();
    let upstream = session
        .servers
        .get(name)
        .ok_or_else(|| bad(format!("no server `{name}`")))?;
    let target = Target::of(upstream)?;
    let tap = session.tap(name, true);
    ProxyReport::new(name, 0, &[]).send(file);
    let code = until_stopped(async |stop| {
        let passed = mcp::pass_on(&target, name, &tap, &stop).await;
        let (n_unrecorded, found) = mcp::end(&tap);
        let code = match passed {
            Ok(()) => ExitCode::Passed,
            Err(_) => ExitCode::CouldNotRun,
        };
        let found: Vec<Diagnostic> = passed.err().into_iter().chain(found).collect();
        ProxyReport::new(name, n_unrecorded, &found).send(file);
        output.diagnostics(&found);
        code
    });
    Ok(code?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_stand_where_agents_take_them() {
        for (command, wanted) in [
            (&["claude", "-p", "Add a note"][..], &["Add a note"][..]),
            (
                &["codex", "exec", "-c", "a = 'b c'", "Add a note"],
                &["Add a note"],
            ),
            (
                &["gemini", "--yolo", "--prompt=Add a note"],
                &["Add a note"],
            ),
            (&["opencode", "run", "Add", "--config", "a b"], &[]),
            (
                &["claude", "--append-system-prompt", "Be brief", "Go on"],
                &["Go on"],
            ),
            (
                &[
                    "claude",
                    "--allowedTools",
                    "Bash(git log:*) Edit",
                    "--verbose",
                    "Go on now",
                ],
                &["Go on now"],
            ),
            (
                &["claude", "--settings", "{\"a\": 1}", "[1, 2]", "Go on"],
                &["Go on"],
            ),
        ] {
            let words: Vec<OsString> = command.iter().map(OsString::from).collect();
            assert_eq!(prompts_of(&words), wanted, "{command:?}");
        }
    }
}
