//! What is asked about, each once: the first step that it is asked of has it, and names the others.

use cuecard_source::value::Json;
use serde_json::{Map, Value};

use super::Note;
use super::build::{Builder, snake};
use super::differences::relation;
use super::parts::Part;
use super::prompt::occurrences;
use crate::scenario::tool_name;

/// Parameters of servers that take programs.
const PROGRAMS: &str = "command cmd cypher filter graphql jql query shell sql statement";

/// So many places of a value are named in a question.
const MOST_PLACES: usize = 10;

/// So many variables are compared with each other.
const MOST_COMPARED: usize = 200;

/// Something that the recording can't tell of a step.
#[derive(Debug)]
pub(super) struct Question {
    step: usize,
    /// The parameter; empty if it is about the call.
    key: String,
    text: String,
    /// What ends the question behind the values that are held; empty if it is about one value.
    rest: String,
    /// The values, each with its origin, such as the id of a step, and its place there; empty where it is not known.
    subjects: Vec<[String; 3]>,
    /// The parameters of other steps in which the values are.
    others: Vec<(String, usize)>,
}

impl Builder<'_, '_> {
    /// Asks of references in a text that a server reads as a program or as JSON: they are written there as they are.
    pub(super) fn ask_of_code(&mut self, text: &str, parts: &[Part]) {
        let name = parts.iter().find_map(|part| match part {
            Part::Output(name, _) => Some(name),
            _ => None,
        });
        let is_of_server = self.calls[self.step].call.server.is_some();
        let (Some(name), key) = (name.filter(|_| is_of_server), &self.key) else {
            return;
        };
        let is_json = || {
            text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok()
        };
        let lower = snake(key).to_lowercase();
        if PROGRAMS.split(' ').any(|program| program == lower) {
            self.ask_everywhere(format!(
                "`{key}` may be a program, and `{{{{{name}}}}}` becomes a part of it: may it have quotes and other signs?"
            ));
        } else if is_json() {
            self.ask_everywhere(format!(
                "`{key}` is JSON in a text, and `{{{{{name}}}}}` is written into it as it is: may it have quotes?"
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
                self.ask_everywhere(format!("only the {which} recording passes `{path}{key}`"));
            }
        }
    }

    /// Asks of variables that seem to stand for one value: who gives one of them must give the other.
    pub(super) fn ask_of_variables(&mut self) {
        let variables = std::mem::take(&mut self.given);
        for (idx, (name, texts, step)) in variables.iter().enumerate().take(MOST_COMPARED) {
            let before = variables[..idx].iter().rev();
            let related = before.map(|(other, others, _)| (relation(texts, others), other));
            if let Some((1.., other)) = related.max_by_key(|(relation, _)| *relation) {
                self.step = *step;
                self.ask(format!(
                    "the values of `{other}` and `{name}` have something in common: does one follow from the other?"
                ));
            }
        }
    }

    /// Whether a question of the step is about all of the parameter that is looked at, or about this value in it.
    pub(super) fn asked_of(&self, value: &str) -> bool {
        let own = (self.key.clone(), self.step + 1);
        let starts = [format!("`{}`", self.key), format!("in `{}`", self.key)];
        self.questions.iter().any(|question| {
            let is_of_step = question.step == own.1;
            let is_here = (is_of_step && question.key == own.0) || question.others.contains(&own);
            let mut values = question.subjects.iter().map(|[value, ..]| value);
            match question.subjects.is_empty() {
                true => is_of_step && starts.iter().any(|start| question.text.starts_with(start)),
                false => is_here && values.any(|known| occurrences(known, value).next().is_some()),
            }
        })
    }

    /// Asks of the call.
    pub(super) fn ask(&mut self, text: String) {
        self.push(None, &text, "");
    }

    /// Asks what has the same answer in each step where it is asked.
    pub(super) fn ask_everywhere(&mut self, text: String) {
        let key = std::mem::take(&mut self.key);
        self.push(Some([&text, "", ""]), &text, "");
        self.key = key;
    }

    /// Asks of a value in the parameter that is looked at. The subject is this value, its origin and its place there: the
    /// same in whichever step it is asked.
    pub(super) fn ask_about(&mut self, subject: [&str; 3], text: String) {
        self.push(Some(subject), &text, "");
    }

    /// Asks of a value that the parameter holds, with its place in the origin and the rest of the question; values of
    /// which the same is asked are asked about together.
    pub(super) fn ask_of_held(&mut self, value: &str, origin: &str, place: &str, rest: &str) {
        let text = format!("`{}` holds `{value}`{place}", self.key);
        self.push(Some([value, origin, ""]), &text, rest);
    }

    fn push(&mut self, subject: Option<[&str; 3]>, text: &str, rest: &str) {
        let key = subject.map_or("", |_| &self.key).to_owned();
        let own = (key, self.step + 1);
        let [text, rest] = [text, rest].map(|text| self.without_secrets(text));
        let subject = subject.map(|parts| parts.map(str::to_owned));
        let is_known = |known: &[String; 3]| {
            subject.as_ref().is_some_and(|[value, origin, place]| {
                let is_anywhere = known[2].is_empty() || place.is_empty() || known[2] == *place;
                [value, origin] == [&known[0], &known[1]] && is_anywhere
            })
        };
        let mut known = self.questions.iter_mut();
        if let Some(known) = known.find(|known| known.subjects.iter().any(is_known)) {
            let is_first = (&known.key, known.step) == (&own.0, own.1);
            if !is_first && !known.others.contains(&own) {
                known.others.push(own);
            }
            return;
        }
        let is_same = |known: &Question| known.step == own.1 && known.text == text;
        if subject.is_none() && self.questions.iter().any(is_same) {
            return;
        }
        match self.questions.last_mut() {
            Some(last)
                if !rest.is_empty()
                    && (&last.key, last.step, &last.rest) == (&own.0, own.1, &rest) =>
            {
                let held = text.strip_prefix(&format!("`{}` holds ", own.0));
                last.text.push_str(&format!(", {}", held.unwrap_or(&text)));
                last.subjects.extend(subject);
            }
            _ => self.questions.push(Question {
                step: own.1,
                key: own.0,
                text,
                rest,
                subjects: subject.into_iter().collect(),
                others: Vec::new(),
            }),
        }
    }

    /// The questions of all steps in their order.
    pub(super) fn asked(&mut self) -> Vec<Note> {
        let mut questions = std::mem::take(&mut self.questions);
        questions.sort_by_key(|question| question.step);
        let notes = questions.into_iter().map(|question| {
            let mut text = question.text;
            if !question.rest.is_empty() {
                text = format!("{text}, {}", question.rest);
            }
            if !question.others.is_empty() {
                text = format!("{text} (likewise {})", places(&question.others));
            }
            let also = question.others.iter().map(|(_, step)| *step);
            let mut also: Vec<usize> = also.filter(|step| *step != question.step).collect();
            also.dedup();
            Note {
                step: Some(question.step),
                also,
                tool: tool_name(self.calls[question.step - 1].call),
                text,
                ..Note::default()
            }
        });
        notes.collect()
    }
}

/// Parameters of steps, in a few words.
fn places(places: &[(String, usize)]) -> String {
    let shown = places.iter().take(MOST_PLACES);
    let shown = shown.map(|(key, step)| match key.is_empty() {
        true => format!("step {step}"),
        false => format!("`{key}` of step {step}"),
    });
    let shown: Vec<String> = shown.collect();
    match places.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
