//! Writes tool-call scenarios of version 2.1. What is written is valid: names are unique, and braces of recorded
//! texts stay texts.

use std::collections::HashMap;
use std::time::Duration;

use cuecard_source::value::{key_of, names_credential};
use cuecard_tool_call::model::BuiltinTool;
use regex::Captures;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::marks::{self, MARK};
use crate::{Call, Recording};

/// A scenario to be written; the keys stand in the order of the fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scenario {
    version: &'static str,
    /// `name`, and what the user had asked for.
    pub metadata: Map<String, Value>,
    /// The variables with their defaults; an empty text must be given.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
    /// The steps, in play order.
    pub steps: Vec<Step>,
}

/// A step to be written. Texts in it are templates: recorded ones go through [`verbatim_text`].
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Step {
    /// Its number, from 1.
    pub step: usize,
    /// The name by which other steps refer to it.
    pub id: String,
    /// What it does, and what is open about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub params: Map<String, Value>,
    /// The element of a page that it acts on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Value>,
    /// The elements that it acts on, by parameter.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub targets: Map<String, Value>,
    /// Names for parts of the result, each with a JSONPath or a regular expression.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub output: Map<String, Value>,
    /// Checks on the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Value>,
    /// What to do on failure, if not to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_error: Option<&'static str>,
    /// How to try again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Value>,
    /// How long each call may take, in seconds, if not as long as any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
}

/// The timeouts that a player has for a call of a server, and for a command.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
const COMMAND_TIMEOUT: Duration = Duration::from_secs(120);

/// The longest timeout that is written.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(3_600);

impl Step {
    /// Gives the calls twice the time that one of them took, if that is more than the default.
    pub(crate) fn allow(&mut self, took: Option<Duration>) {
        let is_command = self.tool == BuiltinTool::Bash.name();
        let default = match is_command {
            true => COMMAND_TIMEOUT,
            false => CALL_TIMEOUT,
        };
        let needed = took.map(|took| took.saturating_mul(2).min(LONGEST_TIMEOUT));
        let Some(needed) = needed.filter(|needed| *needed > default) else {
            return;
        };
        let seconds = needed.as_secs() + u64::from(needed.subsec_nanos() > 0);
        if !is_command {
            self.timeout = self.tool.starts_with("mcp__").then_some(seconds);
        } else if !self.params.contains_key("run_in_background") {
            let own = self.params.entry("timeout");
            own.or_insert_with(|| json!(seconds.saturating_mul(1_000)));
        }
    }
}

impl Scenario {
    /// A scenario without steps.
    pub fn new(name: &str) -> Self {
        Self {
            version: "2.1",
            metadata: Map::from_iter([("name".to_owned(), json!(name))]),
            variables: Map::new(),
            steps: Vec::new(),
        }
    }

    /// The text of its file.
    pub fn to_text(&self) -> String {
        // Nothing in it can fail to be written.
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        format!("{text}\n")
    }
}

/// The scenario that makes the same calls again, with the arguments as they were. What was taken out of them as a secret
/// must be given.
pub fn scenario(recording: &Recording, name: &str) -> Scenario {
    let mut scenario = Scenario::new(name);
    let mut names = Names::default();
    let mut secrets = Secrets::default();
    for (call, number) in recording.calls.iter().zip(1..) {
        let mut step = Step {
            step: number,
            id: names.unique(&call.tool),
            tool: tool_name(call),
            params: secrets.members(&call.arguments),
            ..Step::default()
        };
        step.allow(call.took());
        scenario.steps.push(step);
    }
    scenario.variables = secrets.variables;
    scenario
}

/// The variables for what was taken out of a recording.
#[derive(Default)]
struct Secrets {
    names: Names,
    by_mark: HashMap<String, String>,
    variables: Map<String, Value>,
}

impl Secrets {
    /// JSON as a template that gives just this JSON, with references in the place of marks.
    fn template(&mut self, key: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(key, text).into(),
            Value::Array(items) => items.iter().map(|item| self.template(key, item)).collect(),
            Value::Object(members) => self.members(members).into(),
            other => other.clone(),
        }
    }

    fn text(&mut self, key: &str, text: &str) -> String {
        let reference = |found: &Captures<'_>| self.reference(key, &found[0]);
        let text = verbatim_text(text);
        MARK.replace_all(&text, reference).into_owned()
    }

    fn members(&mut self, members: &Map<String, Value>) -> Map<String, Value> {
        let templates = members.iter().map(|(key, value)| {
            let template = self.template(key_of(members, key), value);
            (self.text("key", key), template)
        });
        templates.collect()
    }

    /// The reference to the variable of a mark, called as the user named it, or like the key where it stands first.
    fn reference(&mut self, key: &str, mark: &str) -> String {
        let name = self.by_mark.entry(mark.to_owned()).or_insert_with(|| {
            let wish = marks::name_of(mark).map_or_else(|| secret_name(key), str::to_owned);
            let name = self.names.unique(&wish);
            self.variables.insert(name.clone(), json!(""));
            name
        });
        format!("{{{{{name}}}}}")
    }
}

/// What a variable for a secret is called: so that it counts as one, wherever the secret stood.
pub(crate) fn secret_name(key: &str) -> String {
    let name = crate::infer::snake(key).to_uppercase();
    match names_credential(&name) {
        true => name,
        false => format!("{name}_SECRET"),
    }
}

/// The tool of a call as scenarios name it.
pub(crate) fn tool_name(call: &Call) -> String {
    match &call.server {
        Some(server) => format!("mcp__{server}__{}", call.tool),
        None => call.tool.clone(),
    }
}

/// A text as a template that gives just this text.
pub(crate) fn verbatim_text(text: &str) -> String {
    text.replace("{{", r#"{{"{{"}}"#)
}

/// Names that were given, each with the number that the next of its kind gets.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<String, usize>);

impl Names {
    /// A name like `wish`, made of letters, digits and `_`: with a number if it was given before.
    pub(crate) fn unique(&mut self, wish: &str) -> String {
        let plain = plain_name(wish);
        let mut number = self.0.get(&plain).copied().unwrap_or(1);
        let name = loop {
            let name = match number {
                1 => plain.clone(),
                number => format!("{plain}_{number}"),
            };
            number += 1;
            if !self.0.contains_key(&name) {
                break name;
            }
        };
        self.0.insert(plain, number);
        self.0.entry(name.clone()).or_insert(2);
        name
    }
}

/// The longest name, in characters.
const LONGEST_NAME: usize = 40;

/// A text with `_` in the place of all that can't stand in a name, without the prefix of built-in tools.
fn plain_name(text: &str) -> String {
    let text = ["claude__", "sandy__"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))
        .unwrap_or(text);
    let words: Vec<&str> = text
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let name: String = words.join("_").chars().take(LONGEST_NAME).collect();
    match name.is_empty() {
        true => "step".to_owned(),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Names, scenario};
    use crate::{Call, Recording};

    #[test]
    fn what_was_taken_out_must_be_given() {
        let call = |arguments: serde_json::Value| Call {
            server: Some("s".to_owned()),
            tool: "t".to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            ..Call::default()
        };
        let recording = Recording {
            calls: vec![
                call(json!({"user": "ann", "password": "[redacted-00000001]"})),
                call(json!({
                    "old": {"password": "[redacted-00000001]"},
                    "new": {"password": "[redacted-00000002]"},
                    "confirm": "[redacted-00000002]",
                    "paths": ["/tmp/[redacted-00000003]/[redacted-00000001]"]
                })),
                call(json!({"[redacted-00000001]": {"[redacted-00000004]": 1}})),
            ],
            ..Recording::default()
        };
        let written = scenario(&recording, "x");
        assert_eq!(
            json!(written.variables),
            json!({"PASSWORD": "", "PASSWORD_2": "", "PATHS_SECRET": "", "KEY_SECRET": ""})
        );
        assert_eq!(
            json!(written.steps[0].params),
            json!({"user": "ann", "password": "{{PASSWORD}}"})
        );
        assert_eq!(
            json!(written.steps[1].params),
            json!({
                "old": {"password": "{{PASSWORD}}"},
                "new": {"password": "{{PASSWORD_2}}"},
                "confirm": "{{PASSWORD_2}}",
                "paths": ["/tmp/{{PATHS_SECRET}}/{{PASSWORD}}"]
            })
        );
        assert_eq!(
            json!(written.steps[2].params),
            json!({"{{PASSWORD}}": {"{{KEY_SECRET}}": 1}})
        );
    }

    #[test]
    fn names_are_unique_and_many_of_a_kind_are_found_at_once() {
        let mut names = Names::default();
        let mut given = |wish: &str| names.unique(wish);
        assert_eq!(given("get-2"), "get_2");
        assert_eq!(
            ["get", "get", "get"].map(&mut given),
            ["get", "get_3", "get_4"]
        );
        assert_eq!(["get-2", "get_2"].map(&mut given), ["get_2_2", "get_2_3"]);
        // Each looks no further than its own number: else this takes minutes.
        let last = (0..100_000).map(|_| given("call")).last();
        assert_eq!(last.as_deref(), Some("call_100000"));
    }
}
