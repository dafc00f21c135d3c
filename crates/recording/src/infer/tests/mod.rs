//! Recordings by construction: what was copied, given or secret is known, so that both a missed copy and one that is
//! none are found.

mod asked;
mod attempts;
mod commands;
mod copies;
mod made;
mod prompts;
mod secrets;
mod targets;
mod two;
mod uses;

use std::collections::HashMap;

use cuecard_source::SourceFile;
use cuecard_tool_call::format::{Scope, check_references, read};
use serde_json::{Value, json};

use super::{Inferred, infer};
use crate::{Call, Recording, Step};

fn call(tool: &str, arguments: Value, result: Value) -> Call {
    let text = match &result {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Call {
        server: Some("demo".to_owned()),
        tool: tool.to_owned(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
        result: Some(json!({ "content": [{ "type": "text", "text": text }] })),
        ..Call::default()
    }
}

fn failed(tool: &str, arguments: Value, text: &str) -> Call {
    Call {
        result: Some(json!({ "content": [{ "type": "text", "text": text }], "isError": true })),
        ..call(tool, arguments, json!(null))
    }
}

fn recording(prompt: &str, calls: Vec<Call>) -> Recording {
    Recording {
        prompts: vec![prompt.to_owned()],
        calls,
        ..Recording::default()
    }
}

fn of_one(recording: &Recording) -> Inferred {
    infer(recording, None, "test").expect("a scenario")
}

/// What `check` says of the scenario.
fn findings(inferred: &Inferred) -> Vec<String> {
    let source = SourceFile::new("test.json", inferred.scenario.to_text());
    let reading = read(&source);
    let mut all = reading.diagnostics;
    if let Some(scenario) = &reading.scenario {
        all.extend(check_references(scenario, &Scope::default()));
    }
    all.into_iter().map(|found| found.message).collect()
}

fn questions(inferred: &Inferred) -> Vec<&str> {
    inferred
        .questions
        .iter()
        .map(|note| note.text.as_str())
        .collect()
}

fn param<'s>(step: &'s Step, key: &str) -> &'s Value {
    step.params.get(key).unwrap_or(&Value::Null)
}

/// The scenario of two recordings without prompts, of these calls: tool, arguments, result.
fn of_two(one: &[(&str, Value, Value)], other: &[(&str, Value, Value)]) -> Inferred {
    let [one, other] = [one, other].map(|calls| {
        let calls = calls.iter().cloned();
        let calls = calls.map(|(tool, arguments, result)| call(tool, arguments, result));
        recording("", calls.collect())
    });
    infer(&one, Some(&other), "test").expect("a scenario")
}

/// What a scenario's player makes of a template.
fn filled(value: &Value, known: &HashMap<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            if let Some(value) = text
                .strip_prefix("{{")
                .and_then(|rest| known.get(rest.strip_suffix("}}")?))
            {
                return value.clone();
            }
            let mut text = text.clone();
            for (name, value) in known {
                text = text.replace(
                    &format!("{{{{{name}}}}}"),
                    value.as_str().unwrap_or_default(),
                );
            }
            text.replace(r#"{{"{{"}}"#, "{{").into()
        }
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), filled(value, known)))
            .collect(),
        Value::Array(items) => items.iter().map(|item| filled(item, known)).collect(),
        other => other.clone(),
    }
}
