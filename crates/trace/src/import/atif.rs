//! Trajectories in the Agent Trajectory Interchange Format: one document with steps.

use super::Imported;
use super::builder::read_time;
use super::lines::{self, LeftOut, content_text, is_true, items, refused, text};
use super::results::{Answer, By, Run};
use crate::{EventData, Log};
use cuecard_source::SourceFile;
use cuecard_source::value::{Json, cut};

pub(super) fn import(source: &SourceFile) -> Imported {
    let documents = match lines::documents(source) {
        Ok(documents) => documents,
        Err(error) => return refused(error),
    };
    let [trajectory] = documents.as_slice() else {
        let message = format!(
            "a trajectory is one JSON document, and this file has {}",
            documents.len()
        );
        return refused(lines::unreadable(source, message));
    };
    if let Err(message) = check(trajectory) {
        return refused(lines::unreadable(source, message));
    }
    let mut reader = Reader::default();
    for step in items(trajectory, "steps") {
        reader.step(step);
    }
    for _ in items(trajectory, "subagent_trajectories") {
        // Nothing says when their steps happened among those of the main one.
        reader.left_out.add("a trajectory of another agent");
    }
    let metrics = trajectory.get("final_metrics").unwrap_or(&Json::Null);
    let count = |key: &str| metrics.get(key).and_then(Json::as_u64);
    let total = match (
        count("total_prompt_tokens"),
        count("total_completion_tokens"),
    ) {
        (None, None) => reader.tokens,
        (sent, made) => Some(sent.unwrap_or(0).saturating_add(made.unwrap_or(0))),
    };
    let mut run = reader.run;
    run.token_usage = total;
    run.session(text(trajectory, "session_id").or_else(|| text(trajectory, "trajectory_id")));
    let agent = trajectory.get("agent").unwrap_or(&Json::Null);
    let name = text(agent, "name").unwrap_or("atif");
    let trace = run.finish(name, text(agent, "version"));
    lines::imported(source, trace, &reader.left_out)
}

/// The versions that are known begin so: what follows only adds to them.
const VERSION: &str = "ATIF-v1.";

fn check(trajectory: &Json) -> Result<(), String> {
    let version = text(trajectory, "schema_version");
    match version {
        Some(version) if version.starts_with(VERSION) => {}
        Some(version) if version.starts_with("ATIF-") => {
            return Err(format!(
                "the trajectory has version `{}`, and this release reads {VERSION}x",
                cut(version, 40)
            ));
        }
        _ => {
            return Err(format!(
                "not a trajectory: `schema_version` must be a string such as `{VERSION}0`"
            ));
        }
    }
    match trajectory.get("steps").and_then(Json::as_array) {
        Some(steps) if !steps.is_empty() => Ok(()),
        _ => Err("the trajectory has no `steps`".to_owned()),
    }
}

#[derive(Default)]
struct Reader {
    run: Run,
    left_out: LeftOut,
    tokens: Option<u64>,
}

impl Reader {
    fn step(&mut self, step: &Json) {
        // What an earlier trajectory has already, and what this one repeats for the model.
        if is_true(step, "is_copied_context") {
            return;
        }
        let by = By {
            ts: text(step, "timestamp").and_then(read_time),
            ..By::default()
        };
        let message = step.get("message").map(content_text).unwrap_or_default();
        match text(step, "source").unwrap_or_default() {
            "user" => self.run.received(by.clone(), message),
            "agent" => self.agent(step, &by, message),
            "system" if !message.is_empty() => self.note(by.clone(), message),
            "system" => {}
            "" => return self.left_out.add("a step without a source"),
            other => return self.left_out.add(&format!("source: {other}")),
        }
        self.observation(step, &by);
    }

    fn agent(&mut self, step: &Json, by: &By, message: String) {
        if let Some(thought) = text(step, "reasoning_content").filter(|text| !text.is_empty()) {
            self.run.thought(by.clone(), thought.to_owned());
        }
        if !message.is_empty() {
            self.run.said(by.clone(), message, None);
        }
        for call in items(step, "tool_calls") {
            let name = text(call, "function_name").unwrap_or_default();
            let id = text(call, "tool_call_id").unwrap_or_default();
            let args = call.get("arguments").cloned().unwrap_or_default();
            self.run.called(by.clone(), name, id, args);
        }
        let metrics = step.get("metrics").unwrap_or(&Json::Null);
        for key in ["prompt_tokens", "completion_tokens"] {
            if let Some(count) = metrics.get(key).and_then(Json::as_u64) {
                self.tokens = Some(self.tokens.unwrap_or(0).saturating_add(count));
            }
        }
    }

    fn observation(&mut self, step: &Json, by: &By) {
        let Some(observation) = step.get("observation") else {
            return;
        };
        let calls = items(step, "tool_calls");
        for result in items(observation, "results") {
            let only_call = match calls {
                [call] => text(call, "tool_call_id"),
                _ => None,
            };
            let content = content_text(result.get("content").unwrap_or(&Json::Null));
            let Some(call_id) = text(result, "source_call_id").or(only_call) else {
                // What an action without a tool, or the system itself, gave.
                self.note(by.clone(), content);
                continue;
            };
            let extra = result.get("extra").unwrap_or(&Json::Null);
            let failed = [result, extra].iter().any(|json| is_true(json, "is_error"));
            let answer = Answer::of_text(content, !failed);
            if !self.run.answered(by.clone(), call_id, answer) {
                self.left_out.add("a result without its call");
            }
        }
    }

    fn note(&mut self, by: By, message: String) {
        let level = "info".to_owned();
        let stream = Some("environment".to_owned());
        self.run.push(
            by,
            EventData::Log(Log {
                level,
                message,
                stream,
            }),
        );
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;
    use crate::RunStatus;
    use crate::import::testing::{outline, source, warnings};

    pub(in crate::import) fn trajectory() -> Json {
        json!({
            "schema_version": "ATIF-v1.6",
            "session_id": "s",
            "agent": {"name": "walker", "version": "2", "model_name": "m"},
            "steps": [
                {"step_id": 1, "source": "system", "message": "Be kind."},
                {"step_id": 2, "source": "user", "message": "Weather?", "timestamp": "2026-01-01T10:00:00Z"},
                {"step_id": 3, "source": "agent", "message": "", "reasoning_content": "Ask the tool",
                 "timestamp": "2026-01-01T10:00:02Z",
                 "tool_calls": [
                    {"tool_call_id": "a", "function_name": "weather", "arguments": {"in": "Bern"}},
                    {"tool_call_id": "b", "function_name": "weather", "arguments": {"in": "Nowhere"}}],
                 "observation": {"results": [
                    {"source_call_id": "a", "content": [{"type": "text", "text": "7 degrees"}]},
                    {"source_call_id": "b", "content": "unknown", "extra": {"is_error": true}},
                    {"source_call_id": "z", "content": "lost"}]},
                 "metrics": {"prompt_tokens": 5, "completion_tokens": 6}},
                {"step_id": 4, "source": "agent", "message": "7 degrees in Bern.", "timestamp": "2026-01-01T10:00:03Z"},
                {"step_id": 5, "source": "agent", "message": "old", "is_copied_context": true}
            ]
        })
    }

    #[test]
    fn a_trajectory_becomes_a_trace() {
        let imported = import(&source(&trajectory().to_string()));
        assert_eq!(
            warnings(&imported),
            ["1 entry was skipped: `a result without its call` (1)"]
        );
        let trace = imported.trace.expect("a trace");
        assert_eq!(
            outline(&trace),
            [
                "e1 log Be kind.",
                "e2 message_received Weather?",
                "e3 thought Ask the tool",
                "e4 tool_call a weather {\"in\":\"Bern\"}",
                "e5 tool_call b weather {\"in\":\"Nowhere\"}",
                "e6 tool_result a weather true \"7 degrees\" (e4)",
                "e7 tool_result b weather false \"unknown\" (e5)",
                "e8 error b tool_error unknown (e5)",
                "e9 final_output 7 degrees in Bern.",
            ]
        );
        assert_eq!(trace.header.adapter.name, "walker");
        let end = trace.end.expect("an end");
        assert_eq!(end.status, RunStatus::Success);
        assert_eq!(end.metrics.token_usage, Some(11));
        let mut counted = trajectory();
        counted["final_metrics"] =
            json!({"total_prompt_tokens": 100, "total_completion_tokens": 1});
        let trace = import(&source(&counted.to_string()))
            .trace
            .expect("a trace");
        assert_eq!(trace.end.expect("an end").metrics.token_usage, Some(101));
    }

    #[test]
    fn what_is_no_trajectory_says_why() {
        let error = |text: &str| import(&source(text)).diagnostics[0].message.clone();
        assert_eq!(error("{\n\"steps\": [,]}"), "not JSON: expected value");
        assert_eq!(
            error("{}"),
            "not a trajectory: `schema_version` must be a string such as `ATIF-v1.0`"
        );
        assert_eq!(
            error(r#"{"schema_version": "ATIF-v2.0"}"#),
            "the trajectory has version `ATIF-v2.0`, and this release reads ATIF-v1.x"
        );
        assert_eq!(
            error(r#"{"schema_version": "ATIF-v1.4"}"#),
            "the trajectory has no `steps`"
        );
        assert_eq!(
            error("{} {}"),
            "a trajectory is one JSON document, and this file has 2"
        );
    }
}
