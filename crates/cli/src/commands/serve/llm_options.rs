//! From arguments and environment to the options of a stand-in for a model's API.

use std::ffi::OsString;
use std::path::Path;

use clap::Parser as _;
use cuecard_llm::LlmOptions;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::profiles::AgentName;

use super::n_threads;
use crate::args::{Cli, Command, ServeLlmArgs};
use crate::commands::profile::read_profiles;
use crate::commands::timeline_options::TimelineOptions;

/// The options, and what is doubtful about the files that they name.
///
/// # Errors
/// Everything that is wrong with the arguments.
pub(super) fn options(
    args: &ServeLlmArgs,
    environment: &[(OsString, OsString)],
) -> Result<(LlmOptions, Vec<Diagnostic>), Vec<Diagnostic>> {
    let require_complete = args.require_complete || !args.command.is_empty();
    let judged = (args.strict, require_complete);
    let mut options = TimelineOptions::of(&args.which, &args.how, judged, environment);
    let problems = &mut options.problems;
    let agent = args.agent.as_deref().and_then(|text| {
        let agent = AgentName::parse(text);
        if agent.is_none() {
            let message = format!("`--agent {text}` is not NAME or NAME@VERSION");
            problems.0.push(argument(&message));
        }
        agent
    });
    let profiles = problems.take(read_profiles(&args.profiles));
    if !args.workspace.is_dir() {
        let message = format!(
            "`--workspace {}` is not a directory",
            args.workspace.display()
        );
        problems.0.push(argument(&message));
    }
    let (play, doubts) = options.checked()?;
    let options = LlmOptions {
        bind: args.listen.address.socket(),
        token: args.token.clone(),
        play,
        chunk: args.chunk,
        agent,
        profiles: profiles.unwrap_or_default(),
        strict_tools: args.strict_tools_validation,
        on_miss: args.on_miss,
        keep_going: args.keep_going,
        leaves_asserts: is_judged_by_command(args),
        workspace: args.workspace.clone(),
        environment: environment.to_vec(),
        max_exchanges: args.exchanges_max,
        // They are written as they come, and nobody asks for them afterwards.
        keeps_exchanges: false,
        n_threads: n_threads(),
        models: args.models.clone(),
        fixed_time: args
            .fixed_clock
            .map(|time| u64::try_from(time.as_second()).unwrap_or_default()),
        ..LlmOptions::default()
    };
    Ok((options, doubts))
}

/// Whether the command after `--` is `cuecard acp --client` for the same timelines: it judges their asserts in the folders
/// of its sessions.
fn is_judged_by_command(args: &ServeLlmArgs) -> bool {
    let program = args.command.first().map(Path::new);
    let is_ours = program.and_then(Path::file_name) == Some("cuecard".as_ref());
    is_ours
        && args.scenarios.is_empty()
        && Cli::try_parse_from(&args.command).is_ok_and(|cli| match cli.command {
            Command::Acp(client) => client.client && client.paths == args.paths,
            _ => false,
        })
}

fn argument(message: &str) -> Diagnostic {
    Diagnostic::error(codes::ARGUMENT, message)
}
