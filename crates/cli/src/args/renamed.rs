//! Options that have another name now. The old name still works, is not in the help, and gets a warning.

use std::ffi::OsString;

use clap::ArgMatches;
use cuecard_source::diagnostic::{Diagnostic, codes};

/// An option that was renamed.
struct Renamed {
    /// The commands, as words behind the program's name.
    commands: &'static [&'static str],
    old: &'static str,
    new: &'static str,
    /// What the old name means in other commands.
    reason: &'static str,
}

const RENAMED: &[Renamed] = &[
    Renamed {
        commands: &["run", "audit"],
        old: "--timeout",
        new: "--run-timeout",
        reason: "in other commands, `--timeout` limits a call or the start of a server",
    },
    Renamed {
        commands: &["serve llm", "serve rest", "acp"],
        old: "--dry-run",
        new: "--list-faults",
        reason: "in `play`, `--dry-run` checks a run",
    },
];

/// A warning for each option that was given by its old name.
pub(crate) fn warnings_of_old_names(
    matches: &ArgMatches,
    arguments: &[OsString],
) -> Vec<Diagnostic> {
    let command = command_of(matches);
    let own = arguments.iter().take_while(|word| *word != "--");
    let own: Vec<_> = own.filter_map(|word| word.to_str()).collect();
    let is_given = |option: &str| {
        let mut names = own
            .iter()
            .map(|word| word.split_once('=').map_or(*word, |(name, _)| name));
        names.any(|name| name == option)
    };
    RENAMED
        .iter()
        .filter(|it| it.commands.contains(&&*command) && is_given(it.old))
        .map(|it| {
            let message = format!("`{}` of `cuecard {command}` is now `{}`", it.old, it.new);
            let help = format!("write `{}`: {}", it.new, it.reason);
            Diagnostic::warning(codes::ARGUMENT, message).with_help(help)
        })
        .collect()
}

/// The command that was typed, as words behind the program's name.
fn command_of(matches: &ArgMatches) -> String {
    let mut words = Vec::new();
    let mut matches = matches;
    while let Some((name, inner)) = matches.subcommand() {
        words.push(name);
        matches = inner;
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::*;

    #[test]
    fn each_old_name_is_a_hidden_alias_of_the_new_one() {
        for it in RENAMED {
            for path in it.commands {
                let command = command();
                let leaf = path
                    .split(' ')
                    .try_fold(&command, |command, name| command.find_subcommand(name));
                let option = leaf
                    .expect("the command exists")
                    .get_arguments()
                    .find(|option| option.get_long() == it.new.strip_prefix("--"));
                let option = option.expect("the option exists");
                let aliases = option.get_all_aliases().unwrap_or_default();
                let old = it.old.strip_prefix("--").expect("a long option");
                assert!(aliases.contains(&old), "{path}: {aliases:?}");
                let shown = option.get_visible_aliases().unwrap_or_default();
                assert!(!shown.contains(&old), "{path}: {shown:?}");
            }
        }
    }

    #[test]
    fn an_old_name_gets_a_warning_and_the_new_one_none() {
        for (line, n_warnings) in [
            ("cuecard run a.yaml --timeout 5", 1),
            ("cuecard audit a.yaml --timeout=5", 1),
            ("cuecard run a.yaml --run-timeout 5 -- make --timeout", 0),
            ("cuecard serve llm a.yaml --dry-run", 1),
            ("cuecard play a.json --dry-run --timeout 5", 0),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let matches = command().try_get_matches_from(&words).expect(line);
            let found = warnings_of_old_names(&matches, &words);
            assert_eq!(found.len(), n_warnings, "{line}");
        }
    }
}
