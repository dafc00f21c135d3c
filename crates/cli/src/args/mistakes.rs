//! What is said of a command line that can't be understood: clap's words as a diagnostic.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use cuecard_source::diagnostic::{Diagnostic, codes};

use super::command;
use crate::exit_code::ExitCode;
use crate::output::Output;

/// Shows what is wrong with the command line; help and version are no errors.
pub(crate) fn report(mut error: clap::Error, arguments: &[OsString], output: &Output) -> ExitCode {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // A closed pipe is the reader's wish.
        let _ = error.print();
        return match error.use_stderr() {
            true => ExitCode::Invalid,
            false => ExitCode::Passed,
        };
    }
    hide_secret(&mut error);
    let root = command();
    let path = typed_command(&root, arguments);
    let text = with_backticks(&error.to_string());
    let (message, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
    let message = message.trim_start_matches("error: ");
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    // What may stand there comes last, in brackets.
    let message = message.split(" [subcommands: ").next().unwrap_or_default();
    let (message, values) = match message.split_once(" [possible values: ") {
        Some((message, values)) => (message, values.strip_suffix(']')),
        None => (message, None),
    };
    let tips = rest
        .lines()
        .filter_map(|line| line.trim().strip_prefix("tip: "));
    let mut tips = tips.filter(|tip| tip.contains("similar"));
    let usage = rest.lines().find_map(|line| line.strip_prefix("Usage: "));
    let help = match (tips.next(), values, usage) {
        _ if path == "cuecard call" && error.kind() == ErrorKind::TooManyValues => {
            "write arguments of the tool as `--arg NAME=VALUE`; `cuecard tools SERVER` lists them"
                .to_owned()
        }
        (Some(tip), ..) => tip.to_owned(),
        (None, Some(values), _) => format!("its values are {values}"),
        (None, None, Some(usage)) if error.kind() == ErrorKind::MissingRequiredArgument => {
            format!("write `{usage}`; `{path} --help` has examples")
        }
        _ => format!("see `{path} --help`"),
    };
    let found = Diagnostic::error(codes::ARGUMENT, in_plain_words(message));
    output.diagnostic(&found.with_help(help));
    ExitCode::Invalid
}

/// The command that was typed with the words before it, such as `cuecard serve llm`.
fn typed_command(root: &Command, arguments: &[OsString]) -> String {
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
    path
}

/// What clap quotes, as we quote it. An apostrophe in a word stays.
fn with_backticks(text: &str) -> String {
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    let mut quoted = String::new();
    while let Some(letter) = letters.next() {
        let is_in_word = |next: &char| before.is_alphabetic() && next.is_alphabetic();
        quoted.push(
            match letter == '\'' && !letters.peek().is_some_and(is_in_word) {
                true => '`',
                false => letter,
            },
        );
        before = letter;
    }
    quoted
}

/// The text behind the name of a secret may be its value.
fn hide_secret(error: &mut clap::Error) {
    let is_secret = |argument: &ContextValue| argument.to_string().starts_with("--secret");
    if error.get(ContextKind::InvalidArg).is_some_and(is_secret)
        && let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue)
    {
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let name = value.split(|letter| !is_name(letter)).next();
        let shown = format!("{}…", name.unwrap_or_default());
        error.insert(ContextKind::InvalidValue, ContextValue::String(shown));
    }
}

/// The reason why a value can't be read, in other words than those of Rust's parsers.
fn in_plain_words(message: &str) -> String {
    [
        ("invalid digit found in string", "write a whole number"),
        (
            "cannot parse integer from empty string",
            "write a whole number",
        ),
        (
            "number would be zero for non-zero type",
            "write a whole number, 1 or more",
        ),
        (
            "invalid IP address syntax",
            "write an IP address such as 127.0.0.1",
        ),
    ]
    .iter()
    .fold(message.to_owned(), |message, (rust, plain)| {
        message.replace(rust, plain)
    })
}
