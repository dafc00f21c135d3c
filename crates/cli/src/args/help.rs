//! The pages of help: which options a page shows, and what stands at its end.

use clap::{Arg, Command, CommandFactory as _};

use super::Cli;
use super::overview::with_overview;
use crate::exit_code;

/// Groups that several commands share: `-h` shows one line of each.
const FOLDED: &[&str] = &["Browser", "Healing", "Safety"];

/// Options that a command reads like others, although they change nothing there.
const HIDDEN: &[(&str, &[&str])] = &[("verify", &["allow-command", "only-commands"])];

/// The examples of all commands as they stand in their help, each group behind the words after the program's name.
const EXAMPLES: &str = include_str!("examples.txt");

/// The longest line of options in `-h`.
const WIDTH: usize = 80;

/// The command line, with its pages of help.
pub(crate) fn command() -> Command {
    with_overview(with_help(Cli::command(), ""))
}

/// `command` and those below it, with their help. `path` has the words behind the program's name.
fn with_help(command: Command, path: &str) -> Command {
    let hidden = HIDDEN.iter().find(|(command, _)| *command == path);
    let hidden = hidden.map_or(&[][..], |(_, options)| options);
    let mut command = command.mut_args(|arg| {
        let is_folded = arg
            .get_help_heading()
            .is_some_and(|it| FOLDED.contains(&it));
        let is_hidden = arg.get_long().is_some_and(|long| hidden.contains(&long));
        let is_short_hidden = is_folded || arg.is_hide_short_help_set();
        let is_hidden = is_hidden || arg.is_hide_set();
        arg.hide_short_help(is_short_hidden).hide(is_hidden)
    });
    if !path.is_empty() {
        let folded = folded_lines(&command);
        command = command.after_help(folded);
    }
    command = command.after_long_help(format!(
        "Examples:\n{}\n\n{}",
        examples_of(path),
        exit_code::help(path)
    ));
    let names: Vec<String> = command
        .get_subcommands()
        .map(|it| it.get_name().to_owned())
        .collect();
    for name in names {
        let path = format!("{path} {name}");
        command = command.mut_subcommand(name, |it| with_help(it, path.trim_start()));
    }
    command
}

/// The examples of a command.
fn examples_of(path: &str) -> &'static str {
    let heading = format!("[{path}]\n");
    let (_, rest) = EXAMPLES.split_once(&*heading).unwrap_or_default();
    rest.split("\n[").next().unwrap_or_default().trim_end()
}

/// The options that `-h` leaves out, one line for each group.
fn folded_lines(command: &Command) -> String {
    let is_folded = |arg: &&Arg| arg.is_hide_short_help_set() && !arg.is_hide_set();
    let folded: Vec<&Arg> = command.get_arguments().filter(is_folded).collect();
    let of_group = |group: &'static str| {
        let options = folded
            .iter()
            .filter(move |arg| arg.get_help_heading() == Some(group));
        (group, options.copied().collect::<Vec<_>>())
    };
    let is_alone = |arg: &&&Arg| {
        !arg.get_help_heading()
            .is_some_and(|it| FOLDED.contains(&it))
    };
    let others = folded.iter().filter(is_alone).copied().collect();
    let groups = FOLDED.iter().copied().map(of_group);
    let groups = groups.chain([("More", others)]);
    groups
        .filter(|(_, options)| !options.is_empty())
        .map(|(group, options)| folded_line(group, &options))
        .collect::<Vec<_>>()
        .join("\n")
}

/// `GROUP: --first, --second, … see --help`.
fn folded_line(group: &str, options: &[&Arg]) -> String {
    const END: &str = "see --help";
    let mut line = format!("{group}: ");
    for (idx, option) in options.iter().enumerate() {
        let name = format!("--{}, ", option.get_long().unwrap_or_default());
        // An ellipsis stands for the rest.
        let rest = if idx + 1 == options.len() { 0 } else { 2 };
        if line.len() + name.len() + rest + END.len() > WIDTH {
            line.push_str("… ");
            break;
        }
        line.push_str(&name);
    }
    line.push_str(END);
    line
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use cuecard_runner::timeline::{agent_names, handed_agent_names};

    use super::*;

    /// Every command with its path: the words behind the program's name.
    fn all_commands() -> Vec<(String, Command)> {
        fn collect(command: &Command, path: &str, all: &mut Vec<(String, Command)>) {
            all.push((path.to_owned(), command.clone()));
            for inner in command.get_subcommands() {
                let path = format!("{path} {}", inner.get_name());
                collect(inner, path.trim_start(), all);
            }
        }
        let mut root = command().term_width(100);
        root.build();
        let mut all = Vec::new();
        collect(&root, "", &mut all);
        assert!(all.len() > 40, "{} commands", all.len());
        all
    }

    /// The lines to type of a command's examples.
    fn typed(path: &str) -> impl Iterator<Item = &'static str> {
        let lines = examples_of(path).lines();
        lines.filter_map(|line| line.strip_prefix("    "))
    }

    /// Fails with all of `problems`.
    #[track_caller]
    fn assert_none(problems: &[String]) {
        assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
    }

    #[test]
    fn each_short_page_fits_a_screen_of_50_lines_and_100_columns() {
        let mut problems = Vec::new();
        for (path, mut command) in all_commands() {
            let page = command.render_help().to_string();
            // The overview of all commands is what people scroll.
            let n_lines = page.lines().count();
            if n_lines > 50 && !path.is_empty() {
                problems.push(format!("`cuecard {path} -h` has {n_lines} lines:\n{page}"));
            }
            for line in page.lines().filter(|line| line.chars().count() > 100) {
                problems.push(format!("`cuecard {path} -h`: {line}"));
            }
        }
        assert_none(&problems);
    }

    #[test]
    fn the_common_options_are_last_and_the_same_everywhere() {
        for (path, mut command) in all_commands() {
            let page = command.render_help().to_string();
            let (_, last) = page.split_once("Common options:\n").expect(&path);
            let names: Vec<_> = last
                .lines()
                .take_while(|line| line.starts_with(' '))
                .filter_map(|line| line.split("--").nth(1)?.split_whitespace().next())
                .collect();
            assert_eq!(names, ["color", "help", "version"], "{path}");
            assert!(!last.contains(":\n "), "{path}: {last}");
        }
    }

    #[test]
    fn titles_of_groups_are_nouns() {
        for (path, command) in all_commands() {
            for heading in command.get_arguments().filter_map(Arg::get_help_heading) {
                let first = heading.split(' ').next().unwrap_or_default();
                let is_question = ["How", "What", "Where", "Which", "Reading"].contains(&first);
                assert!(!is_question, "{path}: {heading}");
            }
        }
    }

    #[test]
    fn each_long_page_ends_with_two_to_four_examples_that_can_be_copied() {
        let mut problems = Vec::new();
        for (path, command) in all_commands() {
            let page = command.term_width(80).render_long_help().to_string();
            let Some((_, end)) = page.split_once("\nExamples:\n") else {
                problems.push(format!("`cuecard {path} --help` has no examples"));
                continue;
            };
            let lines: Vec<_> = end
                .lines()
                .filter_map(|line| line.strip_prefix("    "))
                .collect();
            if !(2..=4).contains(&lines.len()) {
                problems.push(format!("`cuecard {path} --help`: {} examples", lines.len()));
            }
            // A line that was wrapped is no longer whole.
            for line in typed(&path).filter(|line| !lines.contains(line)) {
                problems.push(format!("`cuecard {path} --help` wraps: {line}"));
            }
        }
        assert_none(&problems);
    }

    #[test]
    fn commands_that_start_agents_list_those_that_they_know() {
        for (path, mut command) in all_commands() {
            let known: Vec<_> = match path.as_str() {
                "run" | "audit" | "test" => agent_names().collect(),
                "record mcp" => handed_agent_names().collect(),
                _ => continue,
            };
            assert!(known.len() > 5, "{known:?}");
            let page = command.render_long_help().to_string();
            for name in known {
                assert!(page.contains(name), "`cuecard {path} --help`: {name}");
            }
        }
    }

    #[test]
    fn each_example_can_be_typed() {
        let mut problems = Vec::new();
        for (path, _) in all_commands() {
            for line in typed(&path) {
                let ours = line.split("cuecard ").nth(1).unwrap_or_default();
                let ours = ours.split([';', '|', '>', '&']).next().unwrap_or_default();
                // The documents' quotes hold no quotes.
                let mut words = vec!["cuecard".to_owned()];
                for (idx, part) in ours.split('\'').enumerate() {
                    match idx % 2 {
                        0 => words.extend(part.split_whitespace().map(str::to_owned)),
                        _ => words.push(part.to_owned()),
                    }
                }
                let is_help = |word: &String| word == "--help" || word == "COMMAND";
                if words.iter().any(is_help) {
                    continue;
                }
                if let Err(error) = command().try_get_matches_from(&words) {
                    problems.push(format!("{path}: {line}\n{error}"));
                }
            }
        }
        assert_none(&problems);
    }

    /// The long options in a text.
    fn options_in(text: &str) -> BTreeSet<String> {
        text.split(|c: char| !(c.is_ascii_lowercase() || c == '-'))
            .filter(|word| word.len() > 3 && word.starts_with("--"))
            .filter(|word| word.as_bytes()[2] != b'-')
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn each_option_in_the_help_is_in_the_book() {
        let docs = cuecard_testing::repository_root().join("docs");
        let mut book = BTreeSet::new();
        for entry in fs::read_dir(docs).expect("the book is there") {
            let path = entry.expect("readable").path();
            if path.extension().is_some_and(|it| it == "md") {
                book.extend(options_in(
                    &fs::read_to_string(path).expect("a page is text"),
                ));
            }
        }
        let mut problems = Vec::new();
        for (path, command) in all_commands() {
            for option in command.get_arguments().filter(|it| !it.is_hide_set()) {
                let name = format!("--{}", option.get_long().unwrap_or_default());
                if name.len() > 2 && !book.contains(&name) {
                    problems.push(format!(
                        "`cuecard {path}`: `{name}` is on no page of the book"
                    ));
                }
            }
        }
        assert_none(&problems);
    }
}
