//! What is asked about, whatever becomes of it.

use std::collections::HashMap;

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

impl Builder<'_, '_> {
    /// Asks of references in a text that a server reads as a program or as JSON: they are written there as they are.
    pub(super) fn ask_of_code(&mut self, text: &str, parts: &[Part]) {
        if self.calls[self.step].call.server.is_none() {
            return;
        }
        let Some(name) = parts.iter().find_map(|part| match part {
            Part::Output(name, _) => Some(name),
            _ => None,
        }) else {
            return;
        };
        let is_json = || {
            text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok()
        };
        let key = &self.key;
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
        let starts = [format!("`{}`", self.key), format!("in `{}`", self.key)];
        self.questions[self.step].iter().any(|question| {
            let of_value = |subject: &Subject| {
                question.key == self.key && occurrences(&subject.value, value).next().is_some()
            };
            let text = &question.note.text;
            let of_all = || starts.iter().any(|start| text.starts_with(start));
            question.subject.as_ref().map_or_else(of_all, of_value)
        })
    }

    /// Asks of the call.
    pub(super) fn ask(&mut self, text: String) {
        self.push(text, String::new(), None, None);
    }

    /// Asks what has the same answer in each step where it is asked.
    pub(super) fn ask_everywhere(&mut self, text: String) {
        let subject = Subject::new(&text, "", "");
        self.push(text, String::new(), Some(subject), None);
    }

    /// Asks of a value in the parameter that is looked at.
    pub(super) fn ask_about(&mut self, subject: Subject, text: String) {
        self.push(text, self.key.clone(), Some(subject), None);
    }

    /// Asks of a value that the parameter holds, with its place in the origin and the rest of the question; values of which the same is asked are asked
    /// about together.
    pub(super) fn ask_of_part_of_key(
        &mut self,
        value: &str,
        origin: &str,
        place: &str,
        rest: String,
    ) {
        let subject = Subject::new(value, origin, "");
        let value = self.without_secrets(&format!("`{value}`{place}"));
        let text = format!("`{}` holds {value}", self.key);
        let rest = self.without_secrets(&rest);
        self.push(text, self.key.clone(), Some(subject), Some((value, rest)));
    }

    fn push(
        &mut self,
        text: String,
        key: String,
        subject: Option<Subject>,
        held: Option<(String, String)>,
    ) {
        let note = Note {
            step: Some(self.step + 1),
            tool: tool_name(self.calls[self.step].call),
            text: self.without_secrets(&text),
            ..Note::default()
        };
        let questions = &mut self.questions[self.step];
        if !questions.iter().any(|known| known.note.text == note.text) {
            questions.push(Question {
                note,
                key,
                subject,
                held,
            });
        }
    }
}

/// Something that the recording can't tell of a step.
#[derive(Debug)]
pub(super) struct Question {
    note: Note,
    /// The parameter that it is about; empty if it is about the call.
    key: String,
    subject: Option<Subject>,
    /// The value, and the rest of the question that ends it.
    held: Option<(String, String)>,
}

impl Question {
    /// Whether another one asks the same of another value of the parameter.
    fn takes(&self, other: &Question) -> bool {
        let rests = [self, other].map(|question| question.held.as_ref().map(|(_, rest)| rest));
        self.note.step == other.note.step
            && self.key == other.key
            && rests[0].is_some()
            && rests[0] == rests[1]
    }
}

/// What a question is about, the same in whichever step it is asked.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    value: String,
    origin: String,
    path: String,
}

impl Subject {
    /// A value that may be of an origin, such as a step's result, and of the place there; empty if that is not known.
    pub(super) fn new(value: &str, origin: &str, path: &str) -> Self {
        let [value, origin, path] = [value, origin, path].map(str::to_owned);
        Self {
            value,
            origin,
            path,
        }
    }
}

/// The questions of all steps, each once: the first step that it is asked of has it, and the others are named.
pub(super) fn once(questions: Vec<Vec<Question>>) -> Vec<Note> {
    let mut asked: Vec<(Question, Vec<(String, usize)>)> = Vec::new();
    // Where those about a value of an origin are.
    let mut about: HashMap<(String, String), Vec<(String, usize)>> = HashMap::new();
    for (question, step) in questions
        .into_iter()
        .zip(1..)
        .flat_map(|(questions, step)| questions.into_iter().map(move |question| (question, step)))
    {
        let is_taken = asked.last().is_some_and(|(last, _)| last.takes(&question));
        if let Some(subject) = &question.subject {
            let places = about
                .entry((subject.value.clone(), subject.origin.clone()))
                .or_default();
            let is_it =
                |path: &str| path == subject.path || path.is_empty() || subject.path.is_empty();
            if let Some((_, known)) = places.iter().find(|(path, _)| is_it(path)) {
                let (first, others) = &mut asked[*known];
                let is_first = question.key == first.key && first.note.step == Some(step);
                let place = (question.key, step);
                if !is_first && !others.contains(&place) {
                    others.push(place);
                }
                continue;
            }
            places.push((subject.path.clone(), asked.len() - usize::from(is_taken)));
        }
        match (asked.last_mut(), &question.held) {
            (Some((last, _)), Some((value, _))) if is_taken => {
                last.note.text.push_str(&format!(", {value}"));
            }
            _ => asked.push((question, Vec::new())),
        }
    }
    let notes = asked
        .into_iter()
        .map(|(Question { mut note, held, .. }, others)| {
            if let Some((_, rest)) = held {
                note.text = format!("{}, {rest}", note.text);
            }
            if !others.is_empty() {
                note.text = format!("{} (likewise {})", note.text, places(&others));
            }
            let steps = others.iter().map(|(_, step)| *step);
            note.also = steps.filter(|step| Some(*step) != note.step).collect();
            note.also.dedup();
            note
        });
    notes.collect()
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
