//! The overview of all commands, and the examples at the end of their help.

use clap::CommandFactory as _;

use super::Cli;
use crate::exit_code;

/// The commands by what they are for, as the overview lists them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Replay", &["play", "check", "list", "convert"]),
    ("Record", &["record", "infer"]),
    ("Mock", &["serve", "acp", "agent"]),
    ("Run and test", &["run", "test", "show", "diff"]),
    ("Browser", &["parse", "verify", "browser"]),
    (
        "Timelines",
        &["explain", "fmt", "parity", "audit", "profile"],
    ),
    (
        "Servers and agents",
        &["tools", "call", "doctor", "mcp", "skill"],
    ),
    ("Other", &["examples", "schema", "completions", "man"]),
];

/// The command line, with an overview of all commands by groups.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let mut overview = String::new();
    for (group, names) in GROUPS {
        overview.push_str(&format!("\n{group}:\n"));
        for name in *names {
            let about = command
                .find_subcommand(name)
                .and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            overview.push_str(&format!("  {name:<11}  {about}\n"));
        }
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{overview}\nOptions:\n{{options}}{{after-help}}"
    ))
}

pub(super) const FIRST_EXAMPLES: &str = "\
Examples:
  cuecard call demo add_note --arg title=Tea --arg text=Green   call a tool of the built-in server
  cuecard examples                                              write the examples into a directory
  cuecard COMMAND --help                                        the options of a command";

pub(super) const TEST_EXAMPLES: &str = "\
Examples:
  cuecard test tests/ --report html:report.html    run all tests in a folder
  cuecard test tests/ --filter news --watch        rerun when a file changes
  cuecard test tests/ --mutate --min-score 90      do the assertions detect defects?
  cuecard test tests/ --update                     update the stored traces";

pub(super) const PARSE_EXAMPLES: &str = "\
Examples:
  cuecard parse login.yaml -o login.steps.json     sentences become steps
  cuecard parse login.yaml --translator rules      without a model
  cuecard parse login.yaml --headed --slow-mo 300  to watch";

pub(super) const TOOLS_EXAMPLES: &str = "\
Examples:
  cuecard tools notes                              a server from a config
  cuecard tools https://tickets.example/mcp        any other server
  cuecard tools -- npx -y @playwright/mcp          the command that starts it";

pub(super) const CALL_EXAMPLES: &str = "\
Examples:
  cuecard call notes add --arg text=Tea --arg count=2
  cuecard call notes add --args @notes.json --json
  cuecard call browser_tabs --arg action=list -- npx -y @playwright/mcp";

pub(super) const INFER_EXAMPLES: &str = "\
Examples:
  cuecard infer monday.json friday.json -o report.json   two recordings of `cuecard record mcp`
  cuecard infer session.jsonl                            one session of an agent";

pub(super) const DIFF_EXAMPLES: &str = "\
Examples:
  cuecard diff old.trace.json new.trace.jsonl      two traces
  cuecard diff .cuecard/runs/A .cuecard/runs/B     the traces of two runs
  cuecard diff runs/A runs/B                       two results of `cuecard test --output runs`";

pub(super) fn with_examples(examples: &str) -> String {
    format!("{examples}\n\n{}", exit_code::HELP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overview_has_each_command_once() {
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        listed.sort_unstable();
        let all = Cli::command();
        let mut known: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}
