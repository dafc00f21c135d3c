//! What is asked about, whatever becomes of it.

use cuecard_source::value::Json;
use serde_json::{Map, Value};

use super::Note;
use super::build::{Builder, snake};
use super::differences::are_related;
use super::parts::Part;
use crate::scenario::tool_name;

/// Parameters of servers that take programs.
const PROGRAMS: &[&str] = &[
    "command",
    "cmd",
    "cypher",
    "filter",
    "graphql",
    "jql",
    "query",
    "shell",
    "sql",
    "statement",
];

/// So many variables are compared with each other.
const MOST_COMPARED: usize = 200;

impl Builder<'_, '_> {
    /// Asks of references in a text that a server reads as a program or as JSON: they are written there as they are.
    pub(super) fn ask_of_code(&mut self, text: &str, parts: &[Part]) {
        if self.calls[self.step].call.server.is_none() {
            return;
        }
        let output = parts.iter().find_map(|part| match part {
            Part::Output(name, _) => Some(name),
            _ => None,
        });
        let Some(name) = output else {
            return;
        };
        let is_json = || {
            text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok()
        };
        let (key, name) = (self.key.clone(), name.clone());
        if PROGRAMS.contains(&snake(&key).to_lowercase().as_str()) {
            self.ask(format!(
                "`{key}` may be a program, and `{{{{{name}}}}}` becomes a part of it: may it have quotes and other signs?"
            ));
        } else if is_json() {
            self.ask(format!(
                "`{key}` is JSON in a text, and `{{{{{name}}}}}` is written into it as it is: may it have quotes?"
            ));
        }
    }

    /// Asks of a list all of whose items were copied from one result: the next one may give more, or fewer.
    pub(super) fn ask_of_items(&mut self, key: &str, items: &[Value]) {
        let source = |item: &Value| {
            let inner = item.as_str()?.strip_prefix("{{")?.strip_suffix("}}")?;
            inner.split_once('.').map(|(id, _)| id.to_owned())
        };
        let sources: Option<Vec<String>> = items.iter().map(source).collect();
        let Some([first, rest @ ..]) = sources.as_deref() else {
            return;
        };
        if !rest.is_empty() && rest.iter().all(|id| id == first) {
            let count = items.len();
            self.ask(format!(
                "all {count} items of `{key}` were copied from the result of `{first}`: are more of them meant if there are more?"
            ));
        }
    }

    /// Asks of what only one of the recordings passes.
    pub(super) fn ask_of_keys(
        &mut self,
        path: &str,
        members: &Map<String, Json>,
        others: &Map<String, Json>,
    ) {
        let sides = [("first", members, others), ("second", others, members)];
        for (which, has, lacks) in sides {
            for key in has.keys().filter(|key| !lacks.contains_key(*key)) {
                self.ask(format!("only the {which} recording passes `{path}{key}`"));
            }
        }
    }

    /// Asks of variables that seem to stand for one value: who gives one of them must give the other.
    pub(super) fn ask_of_variables(&mut self) {
        let variables = std::mem::take(&mut self.given);
        for (idx, (name, texts, step)) in variables.iter().enumerate().take(MOST_COMPARED) {
            let mut before = variables[..idx].iter();
            if let Some((other, ..)) = before.find(|(_, other, _)| are_related(texts, other)) {
                self.step = *step;
                self.ask(format!(
                    "the values of `{other}` and `{name}` have something in common: does one follow from the other?"
                ));
            }
        }
    }

    /// Whether a question of the step is about a parameter.
    pub(super) fn asked_of(&self, key: &str) -> bool {
        let starts = [format!("`{key}`"), format!("in `{key}`")];
        self.questions.iter().any(|note| {
            note.step == Some(self.step + 1)
                && starts.iter().any(|start| note.text.starts_with(start))
        })
    }

    pub(super) fn ask(&mut self, text: String) {
        let note = Note {
            step: Some(self.step + 1),
            tool: tool_name(self.calls[self.step].call),
            text: self.redactor.text(&text).into_owned(),
            ..Note::default()
        };
        if !self.questions.contains(&note) {
            self.questions.push(note);
        }
    }
}
