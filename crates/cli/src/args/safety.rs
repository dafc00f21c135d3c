//! What a scenario may do, as it is said on the command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

/// What a scenario may do.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Safety")]
pub(crate) struct SafetyArgs {
    /// Directory that paths from data must stay in [default: the working directory]
    ///
    /// Data is what a server, an agent or a model sent.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Restrict all paths to the root, and run no commands
    #[arg(long)]
    pub confine: bool,
    /// Change nothing: no writes, no commands, and only tools annotated as read-only
    #[arg(long)]
    pub read_only: bool,
    /// Allow a directory outside the root (repeatable)
    #[arg(long = "allow-path", value_name = "DIR")]
    pub allow_paths: Vec<PathBuf>,
    /// Allow a host that would be refused (repeatable, or comma-separated)
    #[arg(long = "allow-host", value_name = "HOST", value_delimiter = ',')]
    pub allow_hosts: Vec<String>,
    /// Allow a command that would be refused (repeatable, or comma-separated)
    #[arg(long = "allow-command", value_name = "NAME", value_delimiter = ',')]
    pub allow_commands: Vec<String>,
    /// Allow a tool under --read-only: mcp__SERVER__TOOL, or mcp__SERVER for all its tools
    ///
    /// Repeatable, or comma-separated.
    #[arg(long = "allow-tool", value_name = "NAME", value_delimiter = ',')]
    pub allow_tools: Vec<String>,
    /// Allow these hosts only (repeatable, or comma-separated)
    #[arg(long = "only-hosts", value_name = "HOST", value_delimiter = ',')]
    pub only_hosts: Vec<String>,
    /// Allow these commands only (repeatable, or comma-separated)
    #[arg(long = "only-commands", value_name = "NAME", value_delimiter = ',')]
    pub only_commands: Vec<String>,
}

impl SafetyArgs {
    /// The root, seen from the working directory.
    pub(crate) fn root_in(&self, working_directory: &Path) -> PathBuf {
        match &self.root {
            Some(root) => working_directory.join(root),
            None => working_directory.to_owned(),
        }
    }

    /// The same as words of a command line that runs in the root.
    pub(crate) fn words(&self, working_directory: &Path) -> Vec<OsString> {
        let mut words = Vec::new();
        for (option, is_set) in [("--confine", self.confine), ("--read-only", self.read_only)] {
            words.extend(is_set.then(|| option.into()));
        }
        let folders = self.allow_paths.iter();
        words.extend(folders.map(|path| word("--allow-path", working_directory.join(path))));
        for (option, values) in [
            ("--allow-host", &self.allow_hosts),
            ("--allow-command", &self.allow_commands),
            ("--allow-tool", &self.allow_tools),
            ("--only-hosts", &self.only_hosts),
            ("--only-commands", &self.only_commands),
        ] {
            words.extend(values.iter().map(|value| word(option, value)));
        }
        words
    }
}

/// `OPTION=VALUE`.
pub(crate) fn word(option: &str, value: impl Into<OsString>) -> OsString {
    let mut word = OsString::from(format!("{option}="));
    word.push(value.into());
    word
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches as _};

    use super::*;

    #[test]
    fn every_option_but_the_root_is_among_the_words() {
        let command = SafetyArgs::augment_args(Command::new("cuecard"));
        let options: Vec<(String, bool)> = command
            .get_arguments()
            .filter_map(|option| {
                let name = format!("--{}", option.get_long()?);
                Some((name, option.get_action().takes_values()))
            })
            .filter(|(name, _)| name != "--root")
            .collect();
        let line = options.iter().map(|(name, has_value)| match has_value {
            true => format!("{name}=x"),
            false => name.clone(),
        });
        let line: Vec<String> = std::iter::once("cuecard".to_owned()).chain(line).collect();
        let matches = command.get_matches_from(&line);
        let args = SafetyArgs::from_arg_matches(&matches).expect("valid");
        let words = args.words(Path::new("/"));
        for (name, _) in options {
            let is_given = words.iter().any(|word| {
                let word = word.to_string_lossy();
                word.split('=').next() == Some(&*name)
            });
            assert!(is_given, "{name}: {words:?}");
        }
    }
}
