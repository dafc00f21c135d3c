//! Texts with references, on their way into a scenario.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use crate::scenario::verbatim_text;

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Recorded text.
    Text(String),
    /// A variable, with the text that it stands for, if that may be seen.
    Variable(String, String),
    /// `step.output`, with the text that it stands for.
    Output(String, String),
}

/// The template of a text.
pub(super) fn template(parts: &[Part]) -> String {
    let written = parts.iter().map(|part| match part {
        Part::Text(text) => verbatim_text(text),
        Part::Variable(name, _) | Part::Output(name, _) => reference(name),
    });
    written.collect()
}

pub(super) fn reference(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

/// The template of a command, with variables and outputs in it as environment variables: what they hold never becomes part
/// of the command. Where that can't be, outputs stay as they were recorded, variables are references, and both are given
/// back.
pub(super) fn command(parts: &[Part]) -> (String, Map<String, Value>, Vec<String>) {
    let (mut written, mut env, mut kept) = (String::new(), Map::new(), Vec::new());
    let mut recorded = String::new();
    for (idx, part) in parts.iter().enumerate() {
        let (name, text, is_output) = match part {
            Part::Text(text) => {
                recorded.push_str(text);
                written.push_str(&verbatim_text(text));
                continue;
            }
            Part::Variable(name, text) => (name, text, false),
            Part::Output(name, text) => (name, text, true),
        };
        let is_end =
            |letter: Option<char>| letter.is_none_or(|letter| " \t\n;|&()<>".contains(letter));
        let next = match parts.get(idx + 1) {
            Some(Part::Text(text)) => text.chars().next(),
            Some(_) => Some('x'),
            None => None,
        };
        let is_word = is_end(next) && is_end(recorded.chars().last());
        // Shells and programs obey variables such as `BASH_ENV`.
        let variable = format!("FROM_{}", name.replace(['.', '-'], "_").to_uppercase());
        // Several words are several arguments.
        let is_one =
            !text.contains(|letter: char| letter.is_whitespace() || "*?~".contains(letter));
        let is_of_program = |(quote, at): (char, usize)| {
            let is_all = at + 1 == recorded.len() && next == Some(quote);
            !is_all && PROGRAMS.is_match(&recorded[..at])
        };
        let quotes = quotes(&recorded);
        let use_of_it = match quotes.map(|(quote, _)| quote) {
            Some(_) if quotes.is_some_and(is_of_program) => None,
            Some('"') => Some(format!("${{{variable}}}")),
            Some('\'') => Some(format!("'\"${{{variable}}}\"'")),
            None if is_word && is_one => Some(format!("\"${variable}\"")),
            None if is_one && !is_output => Some(format!("\"${{{variable}}}\"")),
            _ => None,
        };
        match use_of_it {
            Some(use_of_it) => {
                written.push_str(&use_of_it);
                env.insert(variable, reference(name).into());
            }
            None => {
                written.push_str(&match is_output {
                    true => verbatim_text(text),
                    false => reference(name),
                });
                kept.push(name.clone());
            }
        }
        recorded.push_str(text);
    }
    (written, env, kept)
}

/// Before a quote: programs whose argument is a program itself.
static PROGRAMS: LazyLock<Regex> = LazyLock::new(|| {
    let start = r"(?:^|[\s;|&(/])";
    let shells =
        r"(?:(?:ba|da|k|z)?sh|python[\d.]*|node|perl|ruby|php)\s(?:[^;|&\n]*\s)?-\w*[ce]\w*\s";
    let others = r"(?:eval|trap|ssh|sed|g?awk|jq)\s";
    let found = format!(r"{start}(?:{shells}|{others})[^;|&\n]*$");
    Regex::new(&found).expect("it is fixed")
});

/// The quotes that are open at the end of the beginning of a command, and where they begin; `\` for what can't be told. In
/// `$(…)` they begin anew.
fn quotes(command: &str) -> Option<(char, usize)> {
    const UNKNOWN: Option<(char, usize)> = Some(('\\', 0));
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut letters = command.char_indices();
    while let Some((at, letter)) = letters.next() {
        let rest = letters.as_str();
        match (letter, open.last().map(|(open, _)| open)) {
            ('\'', Some('\'')) | ('"', Some('"')) | (')', Some('(')) => {
                open.pop();
            }
            (_, Some('\'')) => {}
            ('\\', _) => {
                letters.next();
            }
            ('$', _) if rest.starts_with("((") => return UNKNOWN,
            ('$', _) if rest.starts_with('(') => {
                open.push(('(', at));
                letters.next();
            }
            ('`', _) => return UNKNOWN,
            (_, Some('"')) => {}
            ('$', _) if rest.starts_with('\'') => return UNKNOWN,
            ('<', _) if rest.starts_with('<') => return UNKNOWN,
            ('#' | ')', _) => return UNKNOWN,
            ('\'' | '"' | '(', _) => open.push((letter, at)),
            _ => {}
        }
    }
    open.pop().filter(|(open, _)| *open != '(')
}
