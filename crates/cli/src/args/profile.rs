//! The command line of `cuecard profile`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::exit_code;

/// Arguments of `profile`.
#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    /// What to do
    #[command(subcommand)]
    pub what: ProfileCommand,
}

/// What can be done with profiles.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the profiles that are built in
    List,
    /// Show which of an agent's tools the words of timelines become
    Show {
        /// The agent (NAME or NAME@VERSION), or the file of a profile
        agent: String,
        /// A profile, beside those that are built in (repeatable)
        #[arg(long = "profile", value_name = "FILE")]
        profiles: Vec<PathBuf>,
    },
    /// Make a profile of the tools that an agent advertised to `serve llm`
    #[command(after_long_help = exit_code::HELP)]
    Capture(ProfileCaptureArgs),
}

/// Arguments of `profile capture`.
#[derive(Debug, Args)]
pub(crate) struct ProfileCaptureArgs {
    /// Logs of exchanges of `serve llm`, or bodies of requests, of one agent
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The agent, as NAME@VERSION, if its requests don't say
    #[arg(long, value_name = "NAME@VERSION")]
    pub agent: Option<String>,
    /// It is the usual agent of its API: what doesn't give itself away is taken for it
    #[arg(long)]
    pub usual: bool,
    /// Write it as NAME/VERSION.toml into this folder, instead of to standard output
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
