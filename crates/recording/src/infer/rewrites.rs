//! What was read, changed and written back: the text of the recording would be written over whatever stands there then.

use std::collections::{HashMap, HashSet};

use cuecard_source::value::as_text;
use serde_json::{Map, Value};

use super::build::Builder;
use super::leftovers::EDITED;
use super::parts::Part;
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
pub(super) struct Named(HashMap<String, Vec<usize>>);

impl Named {
    pub(super) fn add(&mut self, step: usize, arguments: &Map<String, Value>) {
        for name in names_in(arguments) {
            let steps = self.0.entry(name).or_default();
            if steps.last() != Some(&step) {
                steps.push(step);
            }
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
        let text = parts.iter().map(|part| match part {
            Part::Text(text) => text.as_str(),
            // No line with a reference is one that was read.
            Part::Variable(..) | Part::Output(..) => "\0",
        });
        let text: String = text.collect();
        if text.lines().nth(1).is_none() {
            return;
        }
        let written: HashSet<&str> = lines_of(&text).collect();
        let names = names_in(&self.calls[self.step].call.arguments);
        let calls = names.iter().filter_map(|name| self.named.0.get(name));
        let calls = calls.flat_map(|steps| steps.iter().rev().take(MOST_CALLS));
        let found = calls.copied().find_map(|step| {
            let mut lines: HashSet<String> = HashSet::new();
            each_leaf(&self.results[step], &mut |leaf| {
                let text = leaf.as_str().unwrap_or_default();
                lines.extend(lines_of(text).map(str::to_owned));
            });
            lines.retain(|line| written.contains(line.as_str()));
            // The agent's own lines are what it wants to stand there.
            for earlier in &self.calls[..=step] {
                if lines.is_empty() {
                    return None;
                }
                for argument in earlier.call.arguments.values() {
                    each_leaf(argument, &mut |leaf| {
                        let text = leaf.as_str().unwrap_or_default();
                        lines_of(text).for_each(|line| {
                            lines.remove(line);
                        });
                    });
                }
            }
            (!lines.is_empty()).then_some((step, lines.len()))
        });
        if let Some((step, count)) = found {
            let (key, id) = (self.key.clone(), self.ids[step].clone());
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
