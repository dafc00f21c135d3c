//! The tools that `cuecard mcp` gives agents. Their descriptions and schemas are made from the types of their arguments.

use std::path::PathBuf;

use cuecard_mcp::ToolInfo;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value, json};

/// Lists the scenarios of the project: their names, what they do, the variables they need and the servers they call.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListScenarios {}

/// Checks a scenario, timeline, browser script or test case without running it: all errors with their places and how
/// to fix them, and what the file would do (servers, commands, files, URLs).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckScenario {
    /// The scenario: its name (`login` is .cuecard/scenarios/login.json), or the path of a file in the project.
    pub scenario: PathBuf,
    /// Also start the servers, and check tools and parameters against them. No tool is called.
    #[serde(default)]
    pub connect: bool,
}

/// Plays a scenario: the same tool calls again, without a model. By default it only shows what it would do: pass
/// `dry_run: false` to do it. The result has the outputs of the steps and the errors of those that failed; the path of
/// the whole trace is in `trace_path`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PlayScenario {
    /// The scenario: its name, or the path of a file in the project.
    pub scenario: PathBuf,
    /// Values for its variables. Secrets don't belong here: the user sets CUECARD_VAR_NAME where the server is started.
    #[serde(default)]
    pub variables: Map<String, Value>,
    /// Only show what would be done.
    #[serde(default = "yes")]
    pub dry_run: bool,
    /// The first step to play, by its number.
    #[serde(
        default,
        deserialize_with = "integer",
        skip_serializing_if = "Option::is_none"
    )]
    pub start: Option<u64>,
    /// The last step to play, by its number.
    #[serde(
        default,
        deserialize_with = "integer",
        skip_serializing_if = "Option::is_none"
    )]
    pub end: Option<u64>,
    /// Of which steps to return the result.
    #[serde(default)]
    pub results: Results,
}

// The variants have no comments, so that the schema is a plain list of words.
#[derive(Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Results {
    #[default]
    Failed,
    All,
    None,
}

/// Explains a code of an error, such as C-REF-02: what it means and how to fix it. For the path of a timeline, says what
/// happens in it and when.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Explain {
    /// A code, or the path of a timeline in the project.
    pub what: PathBuf,
}

/// Makes a scenario of a session that is over, from its transcript (Claude Code or Codex): its tool calls become steps,
/// copied values references. What can't be told is in `questions`: settle them before you play it. Detours that failed are
/// left out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordTranscript {
    /// The path of the transcript, in the project or in a folder that the user allowed.
    pub transcript: PathBuf,
    /// The name to save the scenario under, as for save_scenario.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub name: String,
    /// Replace a scenario of the same name.
    #[serde(default)]
    pub overwrite: bool,
}

/// Checks a scenario and saves it as .cuecard/scenarios/NAME.json, so that play_scenario can replay it. One with errors is
/// not saved: the answer lists them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SaveScenario {
    /// The name: letters, digits, `-` and `_`; with `/` for folders.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub name: String,
    /// The scenario, version 2.1.
    pub scenario: Map<String, Value>,
    /// Replace a scenario of the same name.
    #[serde(default)]
    pub overwrite: bool,
}

const NAME_PATTERN: &str = "^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$";

fn yes() -> bool {
    true
}

/// An integer as JSON Schema has it: `1.0` is one.
fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let whole = || {
        let text = number.as_f64()?.to_string();
        text.parse().ok()
    };
    let integer = number.as_u64().or_else(whole);
    let wrong = || D::Error::custom(format!("{number} is not the number of a step"));
    integer.map(Some).ok_or_else(wrong)
}

/// A tool: its name, what it is for, its parameters, and whether it changes nothing.
pub(crate) struct Tool {
    pub name: &'static str,
    schema: fn() -> Schema,
    is_read_only: bool,
}

/// All tools, in the order in which an agent needs them.
pub(crate) const TOOLS: [Tool; 6] = [
    tool::<ListScenarios>("list_scenarios", true),
    tool::<CheckScenario>("check_scenario", true),
    tool::<PlayScenario>("play_scenario", false),
    tool::<Explain>("explain", true),
    tool::<RecordTranscript>("record_transcript", false),
    tool::<SaveScenario>("save_scenario", false),
];

const fn tool<T: JsonSchema>(name: &'static str, is_read_only: bool) -> Tool {
    Tool {
        name,
        schema: schema_of::<T>,
        is_read_only,
    }
}

fn schema_of<T: JsonSchema>() -> Schema {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.into_generator().into_root_schema_for::<T>()
}

impl Tool {
    /// Its entry in `tools/list`.
    pub(crate) fn entry(&self) -> Value {
        let mut schema = (self.schema)().to_value();
        let mut description = Value::Null;
        if let Some(members) = schema.as_object_mut() {
            members.shift_remove("title");
            members.shift_remove("$schema");
            description = members.shift_remove("description").unwrap_or_default();
            // Clients want it also where there are none.
            let properties = members.entry("properties").or_insert_with(|| json!({}));
            for (_, property) in properties.as_object_mut().into_iter().flatten() {
                // Rust's names of number types: validators complain about a `format` they don't know.
                property.as_object_mut().map(|it| it.shift_remove("format"));
            }
        }
        let annotations = match self.is_read_only {
            true => json!({ "readOnlyHint": true }),
            false => json!({ "readOnlyHint": false, "destructiveHint": true }),
        };
        json!({
            "name": self.name,
            "description": one_line(description.as_str().unwrap_or_default()),
            "inputSchema": schema,
            "annotations": annotations,
        })
    }

    /// The same for those that check arguments.
    pub(super) fn info(&self) -> ToolInfo {
        ToolInfo {
            name: self.name.to_owned(),
            description: None,
            is_read_only: self.is_read_only,
            is_destructive: !self.is_read_only,
            input_schema: self.entry()["inputSchema"].take(),
            output_schema: None,
            requires_task: false,
        }
    }

    /// What it is for, in a sentence or more.
    pub(crate) fn about(&self) -> String {
        self.entry()["description"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

/// Comments are broken into lines where the source needs it.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_numbered_by_integers_as_json_schema_has_them() {
        let start = |start: &str| {
            let text = format!(r#"{{"scenario": "x", "start": {start}}}"#);
            serde_json::from_str::<PlayScenario>(&text).map(|asked| asked.start)
        };
        for (written, number) in [("1", Some(1)), ("1.0", Some(1)), ("null", None)] {
            assert_eq!(start(written).expect(written), number);
        }
        for written in ["1.5", "-1", "-1.0", "1e300", "\"1\"", "[]"] {
            assert!(start(written).is_err(), "{written}");
        }
    }
}
