//! Raw arguments of `mcp` and `skill`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::serve::HttpArgs;
use super::{RunsArgs, SafetyArgs, ServerArgs};

/// Arguments of `mcp`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    /// What to serve instead of the tools for agents
    #[command(subcommand)]
    pub what: Option<McpServer>,

    #[command(flatten)]
    pub server: ServerArgs,
    #[command(flatten)]
    pub runs: RunsArgs,

    #[command(flatten)]
    pub safety: SafetyArgs,
}

/// The other servers the binary brings.
#[derive(Debug, Subcommand)]
pub(crate) enum McpServer {
    /// Notes, a counter, a text tool and one that fails on demand: over stdio, or HTTP with --http
    Demo(HttpArgs),
}

/// Arguments of `skill`.
#[derive(Debug, Args)]
pub(crate) struct SkillArgs {
    /// What to do with it
    #[command(subcommand)]
    pub what: SkillCommand,
}

/// What can be done with the skill.
#[derive(Debug, Subcommand)]
pub(crate) enum SkillCommand {
    /// Print the skill, or write the plugin that contains it
    Show {
        /// Write the plugin for Claude Code to this directory
        #[arg(short = 'o', long = "output", value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Install the skill, and add the MCP server to the agent's configuration
    Install {
        /// The agent (repeatable) [default: those with settings in the home directory]
        #[arg(long = "agent", value_enum, value_name = "AGENT")]
        agents: Vec<SkillAgent>,
        /// Install for this project instead of all projects of the user
        #[arg(long)]
        project: bool,
    },
}

/// An agent that knows skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SkillAgent {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// opencode
    Opencode,
    /// Gemini CLI
    Gemini,
}
