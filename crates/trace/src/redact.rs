//! Which values of an event are data, in which secrets may stand. The rest is ours, and readers need it as it is.

use super::EventData;
use cuecard_source::value::Json;

/// The fields whose values are ours, or names that stand in files of the user: never data.
const OURS: &str = "answer attempt call_id code dialect duration_ms element elements error_type exit_code fixture_id format_hint \
    hash_after hash_before id lane level lines_added lines_removed method native_tool restored retryable \
    role scope server started_ms status step stream success tool turn type";

impl EventData {
    /// Applies `redact` to the values of `json`, which is this data as JSON, that are not ours.
    pub fn redact(&self, json: &mut Json, redact: &mut dyn FnMut(&mut Json)) {
        match self {
            Self::Other(_) => redact(json),
            _ => members(json, redact),
        }
    }
}

fn members(json: &mut Json, redact: &mut dyn FnMut(&mut Json)) {
    for (key, value) in json.as_object_mut().into_iter().flatten() {
        match (key.as_str(), value) {
            (key, _) if OURS.split(' ').any(|ours| ours == key) => {}
            ("outputs", Json::Object(outputs)) => outputs.values_mut().for_each(&mut *redact),
            ("attempts", Json::Array(attempts)) => {
                attempts.iter_mut().for_each(|item| members(item, redact));
            }
            ("error", error @ Json::Object(_)) => members(error, redact),
            (_, value) => redact(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Takes the word out of every text and key, as a redactor does.
    fn without(word: &str, json: &mut Json) {
        let text = json.to_string().replace(word, "[redacted]");
        *json = serde_json::from_str(&text).expect("still JSON");
    }

    #[test]
    fn a_secret_that_is_one_of_our_words_is_taken_out_of_data_only() {
        let kind = "step_finished";
        let mut data = json!({
            "step": 1, "id": "pass", "tool": "mcp__pass__x", "description": "pass it", "status": "passed",
            "duration_ms": 1.5,
            "attempts": [{"attempt": 1, "started_ms": 1.0, "duration_ms": 1.0, "error": "pass failed"}],
            "error": {"code": "C-pass", "error_type": "pass", "message": "no pass", "notes": ["pass"], "help": "pass"},
            "outputs": {"pass": {"pass": "pass"}},
        });
        let read = |data: &Json| {
            EventData::from_parts(kind.to_owned(), "system".to_owned(), data.clone())
                .expect("an event")
        };
        read(&data).redact(&mut data, &mut |value| without("pass", value));
        assert_eq!(
            data,
            json!({
                "step": 1, "id": "pass", "tool": "mcp__pass__x", "description": "[redacted] it", "status": "passed",
                "duration_ms": 1.5,
                "attempts": [{"attempt": 1, "started_ms": 1.0, "duration_ms": 1.0, "error": "[redacted] failed"}],
                "error": {"code": "C-pass", "error_type": "pass", "message": "no [redacted]", "notes": ["[redacted]"],
                    "help": "[redacted]"},
                "outputs": {"pass": {"[redacted]": "[redacted]"}},
            })
        );
        read(&data);
    }

    #[test]
    fn data_of_an_unknown_type_is_not_ours() {
        let mut data = json!({"status": "pass"});
        let event = EventData::from_parts("new".to_owned(), "agent".to_owned(), data.clone());
        event
            .expect("an event")
            .redact(&mut data, &mut |value| without("pass", value));
        assert_eq!(data, json!({"status": "[redacted]"}));
    }
}
