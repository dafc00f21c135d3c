//! What is said of a command line that can't be understood.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use cuecard_source::diagnostic::{Diagnostic, codes};

use super::command;
use crate::exit_code::ExitCode;
use crate::output::Output;

/// Options of `test`, which plays the same files as `play`.
const OF_TEST: &[&str] = &[
    "-k",
    "-x",
    "-j",
    "--grep",
    "--filter",
    "--tag",
    "--bail",
    "--exitfirst",
    "--maxfail",
    "--fail-fast",
    "--workers",
    "--parallel",
    "--jobs",
    "--watch",
    "--list",
];

/// An option that other tools have.
struct Habit {
    names: &'static [&'static str],
    /// The option that a command must have for the advice, if any.
    needs: Option<&'static str>,
    advice: &'static str,
}

const HABITS: &[Habit] = &[
    Habit {
        names: &["--junitxml", "--junit", "--junit-xml"],
        needs: Some("report"),
        advice: "to write a JUnit report, use `--report junit:FILE`",
    },
    Habit {
        names: &["--html"],
        needs: Some("goldens"),
        advice: "`report.html` is always in the run directory",
    },
    Habit {
        names: &["--html"],
        needs: Some("report"),
        advice: "to write an HTML report, use `--report html:FILE`",
    },
    Habit {
        names: &["--reporter", "--format"],
        needs: Some("report"),
        advice: "reports are written with `--report KIND:FILE`",
    },
    Habit {
        names: &["--headless"],
        needs: None,
        advice: "browsers have no window by default",
    },
    Habit {
        names: &["-q", "--quiet", "--silent"],
        needs: None,
        advice: "progress goes to standard error: `2>/dev/null` hides it",
    },
    Habit {
        names: &["-v", "--verbose"],
        needs: None,
        advice: "the trace has everything: `cuecard show` lists that of a run, `cuecard test -o DIR` keeps those of tests",
    },
    Habit {
        names: &["--retries", "--retry"],
        needs: None,
        advice: "a step has its own number of attempts: `\"retry\": {\"count\": 2}`",
    },
    Habit {
        names: &["--bail", "--exitfirst", "--maxfail"],
        needs: Some("fail-fast"),
        advice: "to stop after the first failing test, use `--fail-fast`",
    },
    Habit {
        names: &["--workers", "--parallel"],
        needs: Some("jobs"),
        advice: "`--jobs N` sets how many run at the same time",
    },
    Habit {
        names: &["--update-snapshots", "--bless"],
        needs: Some("update-goldens"),
        advice: "to update expected screens, use `--update-goldens`",
    },
    Habit {
        names: &["--update-snapshots", "--bless"],
        needs: Some("update"),
        advice: "to update stored traces, use `--update`",
    },
    Habit {
        names: &["--variable", "--set"],
        needs: Some("var"),
        advice: "to set a variable, use `--var NAME=VALUE`",
    },
    Habit {
        names: &["--mcp-config", "--servers"],
        needs: Some("config"),
        advice: "to read servers from a file, use `--config FILE`",
    },
];

/// Shows what is wrong with the command line; help and version are no errors.
pub(crate) fn report(error: &clap::Error, arguments: &[OsString], output: &Output) -> ExitCode {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // A closed pipe is the reader's wish.
        let _ = error.print();
        return match error.use_stderr() {
            true => ExitCode::Invalid,
            false => ExitCode::Passed,
        };
    }
    let root = command();
    let (path, leaf) = typed_command(&root, arguments);
    let message = message(error, &path);
    let mut found = Diagnostic::error(codes::ARGUMENT, message);
    found.help = Some(help(error, &path, leaf, arguments));
    output.diagnostic(&found);
    ExitCode::Invalid
}

/// The command that was typed with the words before it, such as `cuecard serve llm`.
fn typed_command<'c>(root: &'c Command, arguments: &[OsString]) -> (String, &'c Command) {
    let (mut path, mut command) = ("cuecard".to_owned(), root);
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        match command.find_subcommand(word) {
            Some(inner) => {
                path = format!("{path} {word}");
                command = inner;
            }
            // The only option before a command that has a value.
            None if word == "--color" => drop(words.next()),
            None if word.starts_with('-') => {}
            None => break,
        }
    }
    (path, command)
}

/// The text of a fact about the error.
fn fact(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        ContextValue::Strings(texts) => texts.first().map(String::as_str),
        _ => None,
    }
}

/// All texts of a fact about the error, each in backticks.
fn facts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    let texts = match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.as_slice(),
        Some(ContextValue::String(text)) => std::slice::from_ref(text),
        _ => &[],
    };
    texts.iter().map(|text| format!("`{text}`")).collect()
}

/// What is wrong.
fn message(error: &clap::Error, path: &str) -> String {
    let argument = fact(error, ContextKind::InvalidArg).unwrap_or_default();
    let option = argument.split(' ').next().unwrap_or_default();
    let value = fact(error, ContextKind::InvalidValue).unwrap_or_default();
    // The text behind the name of a secret may be its value.
    let value = match option {
        "--secret" => {
            let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
            let name = value.split(|letter| !is_name(letter)).next();
            format!("{}…", name.unwrap_or_default())
        }
        _ => value.to_owned(),
    };
    match error.kind() {
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            format!("`{path}` has no option `{argument}`")
        }
        ErrorKind::UnknownArgument => format!("`{path}` takes no argument `{argument}`"),
        ErrorKind::InvalidSubcommand => {
            let name = fact(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            format!("`{path}` has no command `{name}`")
        }
        ErrorKind::MissingSubcommand => format!("`{path}` needs a command"),
        ErrorKind::MissingRequiredArgument => {
            let missing = facts(error, ContextKind::InvalidArg).join(" and ");
            format!("`{path}` needs {missing}")
        }
        ErrorKind::TooManyValues => format!("`{path}` takes no further value `{value}`"),
        ErrorKind::InvalidValue if value.is_empty() => format!("`{argument}` needs a value"),
        ErrorKind::InvalidValue => format!("`{option}` has no value `{value}`"),
        ErrorKind::ValueValidation => {
            let reason = std::error::Error::source(error).map(ToString::to_string);
            format!(
                "`{option} {value}`: {}",
                in_plain_words(&reason.unwrap_or_default())
            )
        }
        ErrorKind::ArgumentConflict => {
            let given = match option.is_empty() {
                true => fact(error, ContextKind::InvalidSubcommand).unwrap_or_default(),
                false => option,
            };
            let others = facts(error, ContextKind::PriorArg);
            let others: Vec<_> = others.iter().map(|it| name_of(it)).collect();
            match others.contains(&format!("`{given}`")) {
                true => format!("`{given}` is given twice"),
                false => format!("`{given}` can't be used with {}", others.join(" and ")),
            }
        }
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            first.trim_start_matches("error: ").replace('\'', "`")
        }
    }
}

/// An option in backticks without the name of its value.
fn name_of(option: &str) -> String {
    let name = option.trim_matches('`').split(' ').next();
    format!("`{}`", name.unwrap_or_default())
}

/// The reason why a value can't be read, in other words than those of Rust's parsers.
fn in_plain_words(reason: &str) -> String {
    let words = match reason {
        "invalid float literal" | "cannot parse float from empty string" => {
            "it must be a number such as 0.5"
        }
        "invalid digit found in string"
        | "cannot parse integer from empty string"
        | "number too large to fit in target type" => "it must be a whole number, 0 or more",
        "number would be zero for non-zero type" => "it must be a whole number, 1 or more",
        "invalid IP address syntax" => "it must be an IP address such as 127.0.0.1",
        other if other.contains("is not in") => {
            return format!("it must be a whole number: {other}");
        }
        other => other,
    };
    words.to_owned()
}

/// What to do.
fn help(error: &clap::Error, path: &str, command: &Command, arguments: &[OsString]) -> String {
    let own_help = format!("`{path} -h` lists its options");
    let did_you_mean = |kind| {
        let similar = facts(error, kind);
        (!similar.is_empty()).then(|| format!("did you mean {}?", similar.join(" or ")))
    };
    match error.kind() {
        ErrorKind::UnknownArgument | ErrorKind::TooManyValues if path == "cuecard call" => {
            let unknown = fact(error, ContextKind::InvalidArg).unwrap_or_default();
            let server = arguments.get(2).and_then(|word| word.to_str());
            match server
                .filter(|_| error.kind() == ErrorKind::TooManyValues || !unknown.starts_with('-'))
            {
                Some(server) => format!(
                    "write arguments of the tool as `--arg NAME=VALUE`; `cuecard tools {server}` lists them"
                ),
                None => did_you_mean(ContextKind::SuggestedArg).unwrap_or(own_help),
            }
        }
        ErrorKind::UnknownArgument => habit(error, path, command)
            .or_else(|| did_you_mean(ContextKind::SuggestedArg))
            .unwrap_or(own_help),
        ErrorKind::InvalidSubcommand => match fact(error, ContextKind::InvalidSubcommand) {
            Some("help") => "`cuecard COMMAND --help` shows the help of a command".to_owned(),
            Some("version") => "`cuecard --version` prints the version".to_owned(),
            Some("init" | "new") => "`cuecard examples` writes files to start from".to_owned(),
            _ => did_you_mean(ContextKind::SuggestedSubcommand)
                .unwrap_or_else(|| format!("`{path} -h` lists the commands")),
        },
        ErrorKind::MissingSubcommand => format!("`{path} -h` lists the commands"),
        ErrorKind::InvalidValue => {
            let values = facts(error, ContextKind::ValidValue);
            match did_you_mean(ContextKind::SuggestedValue) {
                Some(proposal) => proposal,
                None if values.is_empty() => own_help,
                None => format!("its values are {}", values.join(", ")),
            }
        }
        ErrorKind::MissingRequiredArgument => match error.get(ContextKind::Usage) {
            Some(usage) => {
                let usage = usage.to_string();
                let usage = usage.trim_start_matches("Usage: ");
                format!("write `{usage}`; `{path} --help` has examples")
            }
            None => own_help,
        },
        _ => own_help,
    }
}

/// How to do here what an option of other tools does.
fn habit(error: &clap::Error, path: &str, command: &Command) -> Option<String> {
    let given = fact(error, ContextKind::InvalidArg)?;
    if path == "cuecard play" && OF_TEST.contains(&given) {
        let advice = "`cuecard test FILES` plays scenarios too: -k TEXT and --tag TAG select, -x stops after a failure, --jobs N plays in parallel, --watch plays again after a change";
        return Some(advice.to_owned());
    }
    let has = |option: &str| {
        command
            .get_arguments()
            .any(|it| it.get_long() == Some(option))
    };
    let habit = HABITS
        .iter()
        .find(|habit| habit.names.contains(&given) && habit.needs.is_none_or(has))?;
    Some(habit.advice.to_owned())
}
