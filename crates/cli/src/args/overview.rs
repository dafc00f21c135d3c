//! The overview of all commands.

/// The commands by what they are for, as the overview lists them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Replay", &["play", "check", "list", "convert"]),
    ("Record", &["record", "infer"]),
    ("Mock", &["serve", "acp", "agent"]),
    ("Run and test", &["run", "test", "show", "diff"]),
    ("Browser", &["parse", "verify", "browser"]),
    ("Timelines", &["explain", "parity", "audit", "profile"]),
    (
        "Servers and agents",
        &["tools", "call", "doctor", "mcp", "skill"],
    ),
    ("Other", &["examples", "schema", "completions", "man"]),
];

/// Lists the commands by groups in the help of `command`.
pub(super) fn with_overview(command: clap::Command) -> clap::Command {
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
    let common = super::COMMON;
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{overview}\n{common}:\n{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::Cli;
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
