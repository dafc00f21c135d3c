//! `cuecard profile`: what agents call their tools.

mod capture;
mod exchanges;

use std::path::{Path, PathBuf};

use cuecard_source::diagnostic::{Diagnostic, codes, did_you_mean};
use cuecard_timeline::profiles::{AgentName, Profile, Profiles, read_profile};

use crate::args::{ProfileArgs, ProfileCommand};
use crate::context::{Context, Problems, Stop};
use crate::exit_code::ExitCode;
use crate::inputs::read_source;
use crate::output::stdout;

pub(crate) fn run(args: &ProfileArgs, context: &Context) -> Result<ExitCode, Stop> {
    match &args.what {
        ProfileCommand::Capture(args) => return capture::run(args, &context.output),
        ProfileCommand::List => list(),
        ProfileCommand::Show { agent, profiles } => {
            show(agent, profiles).map_err(Stop::invalid)?;
        }
    }
    Ok(ExitCode::Passed)
}

/// The profiles in files.
///
/// # Errors
/// Everything that is wrong with them.
pub(crate) fn read_profiles(paths: &[PathBuf]) -> Result<Vec<Profile>, Vec<Diagnostic>> {
    let mut problems = Problems::default();
    let read = |path: &PathBuf| read_profile(&read_source(path).map_err(|problem| vec![problem])?);
    let profiles = paths.iter().filter_map(|path| problems.take(read(path)));
    let profiles = profiles.collect();
    problems.or(Some(profiles))
}

fn list() {
    for profile in Profiles::default().iter() {
        let n_tools = profile.abstract_tools().count();
        let endpoint = profile.endpoint.as_deref().unwrap_or("-");
        stdout(&format!(
            "{:<16} {:<10} {endpoint:<10} {n_tools} tools\n",
            profile.agent,
            profile.versions.from.to_string()
        ));
    }
}

/// Shows the profile of an agent, or the one in a file.
fn show(agent: &str, paths: &[PathBuf]) -> Result<(), Vec<Diagnostic>> {
    if agent.ends_with(".toml") || Path::new(agent).is_file() {
        for profile in read_profiles(&[PathBuf::from(agent)])? {
            print(&profile);
        }
        return Ok(());
    }
    let Some(name) = AgentName::parse(agent) else {
        let message = format!("`{agent}` is not NAME or NAME@VERSION");
        return Err(vec![Diagnostic::error(codes::ARGUMENT, message)]);
    };
    let profiles = Profiles::with(read_profiles(paths)?);
    let Some(profile) = profiles.of_agent(&name) else {
        let message = format!("no profile found for `{agent}`");
        let help = match did_you_mean(&name.agent, profiles.agents()) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("available profiles: {}", profiles.agents().join(", ")),
        };
        let found = Diagnostic::error(codes::ARGUMENT, message).with_help(help);
        return Err(vec![found]);
    };
    print(profile);
    Ok(())
}

fn print(profile: &Profile) {
    stdout(&format!("{}\n", profile.title()));
    for tool in profile.abstract_tools() {
        stdout(&format!(
            "  {tool:<14} {}\n",
            profile.native_tools(tool).join(", ")
        ));
    }
}
