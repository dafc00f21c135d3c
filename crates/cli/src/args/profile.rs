//! The command line of `cuecard profile`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
    /// List the built-in profiles
    List,
    /// Show how timeline tools map to an agent's tools
    Show {
        /// The agent (NAME or NAME@VERSION), or a profile file
        agent: String,
        /// An additional profile (repeatable)
        #[arg(long = "profile", value_name = "FILE")]
        profiles: Vec<PathBuf>,
    },
    /// Create a profile from the tools that an agent advertised to `serve llm`
    Capture(ProfileCaptureArgs),
}

/// Arguments of `profile capture`.
#[derive(Debug, Args)]
pub(crate) struct ProfileCaptureArgs {
    /// Exchange logs of `serve llm`, or request bodies, from one agent
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The agent, as NAME@VERSION, if it can't be detected from the requests
    #[arg(long, value_name = "NAME@VERSION")]
    pub agent: Option<String>,
    /// Make it the default agent for its API when the agent can't be detected
    #[arg(long)]
    pub usual: bool,
    /// Write the profile as NAME/VERSION.toml to this directory instead of stdout
    #[arg(short = 'o', long = "output", alias = "out", value_name = "DIR")]
    pub out: Option<PathBuf>,
}
