//! How a refused command is written instead: the command as it is, and its data in the environment.

use std::fmt::Write as _;

use super::super::environment;
use super::super::source::{Source, Symbol};
use super::programs;
use super::scanner::{Binding, Part, Word, scan};
use cuecard_source::value::{Piece, Text};

/// The parameters of the rewritten step, ready to paste, or in general words if the command can't be rewritten.
pub(super) fn proposal(text: &Text) -> String {
    let shown = as_written(text);
    let Some(source) = Source::new(&shown) else {
        return String::new();
    };
    let names = variable_names(&source, &shown.to_string());
    let mut env: Vec<(&str, &str)> = Vec::new();
    for (name, piece) in names.iter().zip(&source.data) {
        let pair = (name.as_str(), piece.reference.as_deref().unwrap_or("…"));
        if !env.contains(&pair) {
            env.push(pair);
        }
    }
    let mut pairs = String::new();
    for (name, reference) in &env {
        let comma = if pairs.is_empty() { "" } else { ", " };
        let value = serde_json::Value::String(format!("{{{{{reference}}}}}"));
        let _ = write!(pairs, "{comma}\"{name}\": {value}");
    }
    match rewritten(&source.symbols, &names) {
        Some(command) => {
            let command = serde_json::Value::String(command);
            format!(
                "if the command may have the value, pass it in the environment: \"command\": {command}, \"env\": {{ {pairs} }}"
            )
        }
        None => {
            let command = shown.to_string();
            let mut programs = command.split_whitespace().map(programs::base_name);
            let read = programs.find_map(read_by).unwrap_or("\"${{}}\"");
            let name = names.first().map_or("VALUE", String::as_str);
            let read = read.replace("{}", name);
            format!(
                "pass the value in the environment, \"env\": {{ {pairs} }}, and let the program read it there: `{read}`"
            )
        }
    }
}

/// How a program reads the variable `{}` of its environment.
fn read_by(program: &str) -> Option<&'static str> {
    Some(match program {
        "python" => "os.environ[\"{}\"]",
        "node" => "process.env.{}",
        "ruby" => "ENV[\"{}\"]",
        "perl" => "$ENV{\"{}\"}",
        "awk" | "gawk" | "mawk" => "ENVIRON[\"{}\"]",
        "jq" => "env.{}",
        _ => return None,
    })
}

/// The text with the references of its trusted parts again, as the author wrote them.
fn as_written(text: &Text) -> Text {
    let pieces = text.pieces().iter().map(|piece| match &piece.reference {
        Some(reference) if piece.origin.is_trusted() => {
            Piece::author(&format!("{{{{{reference}}}}}"))
        }
        _ => piece.clone(),
    });
    Text::new(pieces.collect())
}

/// A name for each piece of data: the last part of its reference, as environment variables are written.
fn variable_names(source: &Source<'_>, command: &str) -> Vec<String> {
    let mut known: Vec<(String, Option<&str>)> = Vec::new();
    let names = source.data.iter().map(|piece| {
        let reference = piece.reference.as_deref();
        if let Some((name, _)) = known.iter().find(|(_, of)| *of == reference) {
            return name.clone();
        }
        let path = reference.unwrap_or_default().split('|').next();
        let mut parts = path.unwrap_or_default().split(['.', '[', ']', ' ']);
        let last = parts.rfind(|part| !part.is_empty()).unwrap_or_default();
        let plain = last.chars().map(|character| match character {
            letter if letter.is_ascii_alphanumeric() => letter.to_ascii_uppercase(),
            _ => '_',
        });
        let mut name: String = plain.collect();
        if environment::is_obeyed(&name)
            || !name.starts_with(|first: char| first.is_ascii_alphabetic())
        {
            name.insert_str(0, "VALUE_");
        }
        // The author's own variables keep their names.
        while command.contains(&name) || known.iter().any(|(taken, _)| *taken == name) {
            name.push_str("_2");
        }
        known.push((name.clone(), reference));
        name
    });
    names.collect()
}

/// The command with its data in variables. `None` if a variable might be code there, or the command isn't read.
fn rewritten(symbols: &[Symbol], names: &[String]) -> Option<String> {
    let integers = vec![None; names.len()];
    let binding = Binding {
        names,
        integers: &integers,
        is_lenient: true,
    };
    let script = scan(symbols, &binding).ok()?;
    let mut changes: Vec<((usize, usize), String)> = Vec::new();
    for command in &script.commands {
        // `NAME=value` before a program is no part of what it gets.
        let is_assignment = |word: &&Word| word.beginning().contains('=');
        let assignments = command.words.iter().take_while(is_assignment);
        let obeyed = |word: &Word| {
            environment::is_obeyed(
                word.beginning()
                    .split(['=', '+'])
                    .next()
                    .unwrap_or_default(),
            )
        };
        let start = assignments.clone().count();
        let words = &command.words[start..];
        // A shell without a script in its words reads one.
        let is_script = |word: &Word| {
            word.literal()
                .is_some_and(|text| text.starts_with('-') && text.ends_with('c'))
        };
        let name = words
            .first()
            .and_then(Word::literal)
            .map(programs::base_name);
        if name.is_some_and(is_shell) && !words.iter().any(is_script) {
            return None;
        }
        if words.first().is_some_and(|word| word.literal().is_none())
            || assignments.clone().any(obeyed)
        {
            return None;
        }
        for at in 1..words.len() {
            let word = &words[at];
            if word.literal().is_some() {
                continue;
            }
            match role(words, at) {
                Role::Argument => {}
                Role::Code => return None,
                Role::Shell => {
                    let code = rewritten(&to_symbols(word)?, names)?;
                    changes.push((word.span, single_quoted(&code)));
                }
            }
        }
    }
    changes.sort_by_key(|change| change.0);
    let mut output = script.output;
    for ((start, end), text) in changes.into_iter().rev() {
        output.replace_range(start..end, &text);
    }
    Some(output)
}

/// What a word is to its program.
enum Role {
    Argument,
    /// A script for a shell that has our environment.
    Shell,
    /// A script of another language, or a program that is started elsewhere.
    Code,
}

fn role(words: &[Word], at: usize) -> Role {
    let texts = words[..at]
        .iter()
        .map(|word| word.literal().unwrap_or_default());
    let literals: Vec<&str> = texts.clone().map(programs::base_name).collect();
    let (program, option) = (literals[0], literals[at - 1]);
    let mut operands = texts
        .skip(1)
        .filter(|word| !word.starts_with('-') && !word.is_empty());
    let is_script = option.starts_with('-') && option.ends_with(['c', 'e', 'p']);
    let shell = literals[..at - 1].iter().position(|word| is_shell(word));
    match program {
        _ if shell == Some(0) && is_script => Role::Shell,
        // These give their environment to the shell that they start.
        "timeout" | "nice" | "nohup" | "xargs" | "find" if shell.is_some() && is_script => {
            Role::Shell
        }
        _ if shell.is_some() || option.starts_with("-exec") || option.starts_with("-ok") => {
            Role::Code
        }
        "awk" | "gawk" | "mawk" | "jq" | "sed" if operands.next().is_none() => Role::Code,
        "ssh" | "su" | "script" | "watch" | "parallel" | "xargs" | "flock" => Role::Code,
        "find" => Role::Argument,
        // What follows the name of a script is an argument of that script.
        _ if programs::is_runner(program) => {
            let is_number = |word: &&str| {
                let digits = word.trim_end_matches(['s', 'm', 'h', 'd']);
                digits
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'.')
            };
            match operands.any(|word| !is_number(&word)) && !is_script {
                true => Role::Argument,
                false => Role::Code,
            }
        }
        _ => Role::Argument,
    }
}

fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh")
}

fn to_symbols(word: &Word) -> Option<Vec<Symbol>> {
    let mut symbols = Vec::new();
    for part in &word.parts {
        match part {
            Part::Text(text) => symbols.extend(text.chars().map(Symbol::Char)),
            Part::Data(number) => symbols.push(Symbol::Data(*number)),
            Part::Variable | Part::Substitution { .. } => return None,
        }
    }
    Some(symbols)
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
