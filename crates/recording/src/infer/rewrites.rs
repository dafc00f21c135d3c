//! What was read, changed and written back: the text of the recording would be written over whatever stands there then.

use std::collections::{HashMap, HashSet};

use cuecard_source::value::as_text;
use serde_json::{Map, Value};

use super::build::Builder;
use super::leftovers::EDITED;
use super::parts::{Part, without_references};
use super::texts::fragments_of;
use super::values::{Weight, each_leaf, weight};

/// A longer text is no name of a file or the like, in bytes.
const LONGEST_NAME: usize = 500;

/// So many of the last calls with a name are looked at.
const MOST_CALLS: usize = 20;

/// A shorter line, such as a bracket, is in many texts, in characters.
const SHORTEST_LINE: usize = 3;

/// So much of a text is compared, in lines.
const MOST_LINES: usize = 2_000;

/// The calls so far by the files and other things that their arguments name.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// The names of each call.
    names: Vec<Vec<String>>,
    /// The first call that was made with a line.
    lines: HashMap<String, usize>,
}

impl Named {
    pub(super) fn add(&mut self, step: usize, arguments: &Map<String, Value>) {
        self.names.push(names_in(arguments));
        for argument in arguments.values() {
            each_line(argument, &mut |line| {
                self.lines.entry(line.to_owned()).or_insert(step);
            });
        }
    }
}

/// The files and other things that arguments name.
fn names_in(arguments: &Map<String, Value>) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |value: &Value| {
        let text = as_text(value);
        let is_name = text.len() <= LONGEST_NAME && !text.contains('\n');
        if is_name && (weight(value) >= Weight::Middling || text.contains(['.', '/'])) {
            let text = text.strip_prefix("./").unwrap_or(&text);
            names.push(text.to_owned());
        }
    };
    for (key, value) in arguments {
        each_leaf(value, &mut |leaf| match leaf {
            Value::String(command) if key == "command" => {
                fragments_of(command).for_each(|(_, word)| add(&word.into()));
            }
            leaf => add(leaf),
        });
    }
    names
}

impl Builder<'_, '_> {
    /// Asks of a text that has lines which an earlier call gave of the same thing.
    pub(super) fn ask_of_lines(&mut self, parts: &[Part]) {
        if EDITED.contains(&self.key.as_str()) {
            return;
        }
        let text = without_references(parts);
        if text.lines().nth(1).is_none() {
            return;
        }
        let written: HashSet<&str> = lines_of(&text).collect();
        let names = names_in(&self.calls[self.step].call.arguments);
        let calls = self.named.names.iter().enumerate().rev();
        let calls = calls.filter(|(_, theirs)| names.iter().any(|name| theirs.contains(name)));
        let found = calls.take(MOST_CALLS).find_map(|(step, _)| {
            // The agent's own lines are what it wants to stand there.
            let is_own = |line: &str| self.named.lines.get(line).is_some_and(|own| *own <= step);
            let mut lines: HashSet<&str> = HashSet::new();
            each_line(&self.results[step], &mut |line| {
                lines.extend((written.contains(line) && !is_own(line)).then_some(line));
            });
            (!lines.is_empty()).then_some((step, lines.len()))
        });
        if let Some((step, count)) = found {
            let (key, id) = (&self.key, &self.ids[step]);
            let lines = match count {
                1 => "a line".to_owned(),
                count => format!("{count} lines"),
            };
            let text = format!(
                "`{key}` has {lines} of what `{id}` had read, and writes the same again over whatever stands there then: is it a change of that text?"
            );
            self.ask(text);
        }
    }
}

/// Calls `visit` with the lines of all texts in a value.
fn each_line<'v>(value: &'v Value, visit: &mut impl FnMut(&'v str)) {
    each_leaf(value, &mut |leaf| {
        lines_of(leaf.as_str().unwrap_or_default()).for_each(&mut *visit);
    });
}

/// The lines of a text, without the numbers that tools put before them.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().take(MOST_LINES).map(|line| {
        let unnumbered = line.split_once('\t').filter(|(number, _)| {
            let number = number.trim_start();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        unnumbered.map_or(line, |(_, rest)| rest).trim()
    });
    lines.filter(|line| {
        line.chars().count() >= SHORTEST_LINE && line.contains(char::is_alphanumeric)
    })
}
