//! Sessions of Codex: JSON Lines, each with a time, a type and a payload. Older ones have the payload alone. What
//! `codex exec --json` prints has items of its own.

use std::collections::HashMap;

use serde_json::json;

use super::builder::read_time;
use super::lines::{self, LeftOut, content_text, items, text};
use super::results::{Answer, By, Run};
use super::{Imported, lines::refused};
use crate::RunStatus;
use cuecard_source::SourceFile;
use cuecard_source::value::Json;

pub(super) fn import(source: &SourceFile) -> Imported {
    let mut left_out = LeftOut::default();
    let lines = match lines::json_lines(source, &mut left_out) {
        Ok(lines) => lines,
        Err(error) => return refused(error),
    };
    let mut session = Session {
        run: Run::default(),
        left_out,
        endings: HashMap::new(),
        version: None,
    };
    // How a call ended may be told before and after its output: the notices first.
    for line in &lines {
        if let (Some("event_msg"), Some(payload)) = (text(line, "type"), line.get("payload")) {
            session.ending(payload);
        }
    }
    for line in &lines {
        session.line(line);
    }
    if session.run.is_empty() {
        let message = "not a Codex session: no line has a message or a call";
        return refused(lines::unreadable(source, message));
    }
    if session.left_out.is_cut {
        session.run.cut_off = Some(RunStatus::Partial);
    }
    let trace = session.run.finish("codex", session.version.as_deref());
    lines::imported(source, trace, &session.left_out)
}

/// Items that are no part of what the agent did, or that only the model's maker can read.
const SILENT_ITEMS: &[&str] = &[
    "additional_tools",
    "compaction",
    "compaction_trigger",
    "configuration_update",
    "context_compaction",
    "ghost_snapshot",
    "other",
];

/// How the texts begin that Codex itself puts among the user's messages.
const NOT_THE_USER: &[&str] = &[
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<skill>",
    "# AGENTS.md instructions",
];

struct Session<'a> {
    run: Run,
    left_out: LeftOut,
    endings: HashMap<&'a str, Ending>,
    version: Option<String>,
}

/// What a notice tells about the end of a call.
#[derive(Default)]
struct Ending {
    error: Option<(&'static str, String)>,
    duration_ms: Option<f64>,
    /// The tool, by its server, and what it answered.
    invocation: Option<String>,
    result: Option<Json>,
}

impl<'a> Session<'a> {
    fn line(&mut self, line: &'a Json) {
        let by = By {
            ts: text(line, "timestamp").and_then(read_time),
            ..By::default()
        };
        let Some(payload) = line.get("payload") else {
            return self.old_line(line, by);
        };
        match text(line, "type").unwrap_or_default() {
            "session_meta" => self.meta(payload),
            "response_item" => self.item(payload, by),
            "event_msg" => self.notice(payload, by),
            "turn_context" | "compacted" | "world_state" | "token_usage_record" => {}
            "" => self.left_out.add("a line without a type"),
            other => self.left_out.add(other),
        }
    }

    /// A line of an older session: the session's own, an item, or a mark of the program's state.
    fn old_line(&mut self, line: &'a Json, by: By) {
        if line.get("record_type").is_some() {
            return;
        }
        match text(line, "type") {
            Some("thread.started") => self.run.session(text(line, "thread_id")),
            Some("item.completed") => {
                if let Some(item) = line.get("item") {
                    self.printed_item(item, by);
                }
            }
            Some("turn.completed") => {
                let count = |key: &str| {
                    line.pointer(&format!("/usage/{key}"))
                        .and_then(Json::as_u64)
                };
                self.run.token_usage = count("input_tokens")
                    .zip(count("output_tokens"))
                    .map(|(input, output)| input.saturating_add(output));
            }
            Some("turn.failed" | "error") => {
                let error = line.get("error").unwrap_or(line);
                let message = text(error, "message").unwrap_or_default();
                self.run.failed(by, "model", "error", message);
            }
            Some("turn.started" | "item.started" | "item.updated") => {}
            Some(_) => self.item(line, by),
            None if line.get("id").is_some() => self.meta(line),
            None => self.left_out.add("a line without a type"),
        }
    }

    /// An item that `codex exec --json` printed when it was complete: a call with its answer, or a text.
    fn printed_item(&mut self, item: &Json, by: By) {
        let own = |key: &str| text(item, key).unwrap_or_default();
        let id = own("id");
        let is_declined = own("status") == "declined";
        let is_failed = is_declined || own("status") == "failed";
        let (tool, args, answer) = match own("type") {
            "agent_message" => return self.run.said(by, own("text").to_owned(), None),
            "reasoning" => return self.run.thought(by, own("text").to_owned()),
            "todo_list" => return,
            "error" => return self.run.failed(by, "runtime", "error", own("message")),
            "command_execution" => {
                let code = item.get("exit_code").and_then(Json::as_i64);
                let output = match is_declined {
                    true => "declined by the user".to_owned(),
                    false => own("aggregated_output").to_owned(),
                };
                let answer = ended(Answer::of_text(output.clone(), !is_failed), &output, code);
                (
                    "local_shell".to_owned(),
                    json!({ "command": own("command") }),
                    answer,
                )
            }
            "mcp_tool_call" => {
                let result = item.get("result").unwrap_or(&Json::Null);
                let answer = match item.get("error").filter(|error| !error.is_null()) {
                    Some(error) => Answer::of_text(own_message(error), false),
                    None => of_mcp(result, !is_failed),
                };
                let args = item.get("arguments").cloned().unwrap_or_default();
                (
                    format!("mcp__{}__{}", own("server"), own("tool")),
                    args,
                    answer,
                )
            }
            "file_change" => {
                let answer = Answer::of_text(own("status").to_owned(), !is_failed);
                (
                    "apply_patch".to_owned(),
                    json!({ "changes": item["changes"] }),
                    answer,
                )
            }
            "web_search" => {
                let answer = Answer::of_text(String::new(), true);
                (
                    "web_search".to_owned(),
                    json!({ "query": own("query") }),
                    answer,
                )
            }
            other => return self.left_out.add(other),
        };
        self.run.called(by.clone(), &tool, id, args);
        self.run.answered(by, id, answer);
    }

    fn meta(&mut self, meta: &Json) {
        self.run.session(text(meta, "id"));
        self.run.works_in(text(meta, "cwd"));
        if let Some(version) = text(meta, "cli_version") {
            self.version = Some(version.to_owned());
        }
    }

    fn item(&mut self, item: &'a Json, by: By) {
        let own = |key: &str| text(item, key).unwrap_or_default();
        let call_id = || {
            text(item, "call_id")
                .or_else(|| text(item, "id"))
                .unwrap_or_default()
        };
        match own("type") {
            "message" => self.message(item, by),
            "reasoning" => {
                let parts = [items(item, "summary"), items(item, "content")].concat();
                let thought = content_text(&Json::Array(parts));
                if !thought.is_empty() {
                    self.run.thought(by, thought);
                }
            }
            "function_call" | "tool_search_call" => {
                let args = match item.get("arguments") {
                    Some(Json::String(text)) => {
                        lines::json_in_text(text).unwrap_or_else(|| json!(text))
                    }
                    Some(args) => args.clone(),
                    None => Json::Null,
                };
                let name = match own("name") {
                    "" => "tool_search",
                    name => name,
                };
                let ending = self.endings.get(call_id());
                let name = match ending.and_then(|ending| ending.invocation.clone()) {
                    Some(name) => name,
                    None => full_name(item, name),
                };
                self.run.called(by, &name, call_id(), args);
            }
            "custom_tool_call" => {
                let input = item.get("input").or_else(|| item.get("arguments"));
                let args = json!({ "input": input });
                let name = full_name(item, own("name"));
                self.run.called(by, &name, call_id(), args);
            }
            "local_shell_call" => {
                let args = item.get("action").cloned().unwrap_or_default();
                self.run.called(by, "local_shell", call_id(), args);
            }
            "web_search_call" => {
                let args = item.get("action").cloned().unwrap_or_default();
                self.run.called(by, "web_search", call_id(), args);
            }
            "image_generation_call" => {
                let args = json!({ "prompt": item.get("revised_prompt") });
                self.run.called(by, "image_generation", call_id(), args);
            }
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                self.output(item, by, call_id());
            }
            kind if SILENT_ITEMS.contains(&kind) => {}
            "" => self.left_out.add("an item without a type"),
            other => self.left_out.add(other),
        }
    }

    fn message(&mut self, item: &Json, by: By) {
        let content = item.get("content").map(content_text).unwrap_or_default();
        if content.is_empty() {
            return;
        }
        match text(item, "role") {
            Some("assistant") => {
                self.run.is_interrupted = false;
                self.run.said(by, content, None);
            }
            Some("user") => {
                let start = content.trim_start();
                if !NOT_THE_USER.iter().any(|mark| start.starts_with(mark)) {
                    self.run.is_interrupted = false;
                    self.run.received(by, content);
                }
            }
            // Instructions of the program and of its maker.
            _ => {}
        }
    }

    fn output(&mut self, item: &Json, by: By, call_id: &str) {
        let mut answer = match item.get("output").or_else(|| item.get("tools")) {
            Some(Json::Object(output)) => {
                let success = output.get("success").and_then(Json::as_bool);
                let content = output.get("content").unwrap_or(&Json::Null);
                Answer::of_text(content_text(content), success != Some(false))
            }
            Some(output) => of_output(content_text(output)),
            None => of_output(String::new()),
        };
        if let Some(ending) = self.endings.get_mut(call_id) {
            if let Some(result) = &ending.result {
                let duration_ms = answer.duration_ms;
                answer = of_mcp(result, true);
                answer.duration_ms = duration_ms;
            }
            answer.duration_ms = answer.duration_ms.or(ending.duration_ms);
            if let (Some((error_type, message)), true) = (ending.error.take(), answer.success) {
                answer.success = false;
                answer.error_type = Some(error_type.to_owned());
                answer.message = (!message.is_empty()).then_some(message);
            }
        }
        if !self.run.answered(by, call_id, answer) {
            self.left_out.add("an output without its call");
        }
    }

    fn notice(&mut self, notice: &Json, by: By) {
        match text(notice, "type").unwrap_or_default() {
            "token_count" => {
                let total = notice.pointer("/info/total_token_usage/total_tokens");
                if let Some(total) = total.and_then(Json::as_u64) {
                    self.run.token_usage = Some(total);
                }
            }
            "turn_aborted" => self.run.is_interrupted = true,
            "error" => {
                let message = text(notice, "message").unwrap_or_default();
                self.run.failed(by, "model", "error", message);
            }
            // The others repeat items for those who watch.
            _ => {}
        }
    }

    fn ending(&mut self, notice: &'a Json) {
        // Since 0.169 calls of servers end as items.
        let item = notice
            .get("item")
            .filter(|_| text(notice, "type") == Some("item_completed"));
        let notice = item.unwrap_or(notice);
        let Some(call_id) = text(notice, if item.is_some() { "id" } else { "call_id" }) else {
            return;
        };
        let (mut invocation, mut result) = (None, None);
        let error = match text(notice, "type").unwrap_or_default() {
            "McpToolCall" => {
                result = notice.get("result").filter(|it| !it.is_null()).cloned();
                let is_error =
                    result.as_ref().and_then(|ok| ok.get("isError")) == Some(&Json::Bool(true));
                match notice.get("error").filter(|error| !error.is_null()) {
                    Some(error) => Some(("tool_error", own_message(error))),
                    None => is_error.then(|| ("tool_error", String::new())),
                }
            }
            "exec_command_end" => notice
                .get("exit_code")
                .and_then(Json::as_i64)
                .filter(|code| *code != 0)
                .map(|code| {
                    (
                        "exit_code",
                        format!("the command ended with exit code {code}"),
                    )
                }),
            "mcp_tool_call_end" => {
                let ended = notice.get("result").unwrap_or(&Json::Null);
                result = ended.get("Ok").cloned();
                invocation = notice.get("invocation").and_then(|call| {
                    Some(format!(
                        "mcp__{}__{}",
                        text(call, "server")?,
                        text(call, "tool")?
                    ))
                });
                let is_error = ["isError", "is_error"].iter().any(|key| {
                    result.as_ref().and_then(|ok| ok.get(key)) == Some(&Json::Bool(true))
                });
                match ended.get("Err") {
                    Some(error) => Some(("tool_error", content_text(error))),
                    None => is_error.then(|| ("tool_error", String::new())),
                }
            }
            "patch_apply_end" if notice.get("success") == Some(&Json::Bool(false)) => {
                let message = text(notice, "stderr").unwrap_or_default();
                Some(("tool_error", message.to_owned()))
            }
            "patch_apply_end" => None,
            _ => return,
        };
        let duration_ms = notice.get("duration").and_then(duration_ms);
        let ending = Ending {
            error,
            duration_ms,
            invocation,
            result,
        };
        self.endings.insert(call_id, ending);
    }
}

/// The name of a tool; those of servers have the server's before it.
fn full_name(item: &Json, name: &str) -> String {
    match text(item, "namespace").unwrap_or_default() {
        "" => name.to_owned(),
        namespace if name.starts_with(namespace) => name.to_owned(),
        namespace => format!("{}__{name}", namespace.trim_end_matches('_')),
    }
}

/// A time as `{secs, nanos}`.
fn duration_ms(duration: &Json) -> Option<f64> {
    let seconds = duration.get("secs")?.as_u64()?;
    let nanoseconds = duration.get("nanos")?.as_u64()?;
    Some(seconds as f64 * 1000.0 + nanoseconds as f64 / 1e6)
}

/// What Codex says in place of the output of a call that it did not run, or did not let end: how the text begins or ends,
/// and a word for it.
const NOT_RUN: &[(&str, &str, &str)] = &[
    ("", "rejected by user", "rejected"),
    ("unsupported call: ", "", "unknown_tool"),
    ("unsupported custom tool call: ", "", "unknown_tool"),
    (
        "failed to parse function arguments: ",
        "",
        "invalid_arguments",
    ),
    ("aborted by user after ", "", "aborted"),
    ("aborted", "", "aborted"),
];

/// Why the output of a call says that it was not run, if that is all it says.
fn not_run(output: &str) -> Option<&'static str> {
    let output = output.trim();
    let says = |(start, end, _): &&(&str, &str, &str)| {
        output.starts_with(start)
            && output.ends_with(end)
            && (start.ends_with(' ') || start.is_empty() || *start == output)
    };
    let found = NOT_RUN.iter().find(says).filter(|_| !output.contains('\n'));
    found.map(|(_, _, word)| *word)
}

/// The output of a tool. That of a command says how the command ended: as JSON beside the output, or in lines
/// before it.
fn of_output(output: String) -> Answer {
    if let Some(Json::Object(wrapped)) = lines::json_in_text(&output)
        && let (Some(inner), Some(metadata)) = (wrapped.get("output"), wrapped.get("metadata"))
    {
        let code = metadata.get("exit_code").and_then(Json::as_i64);
        let seconds = metadata.get("duration_seconds").and_then(Json::as_f64);
        let inner = content_text(inner);
        let mut answer = Answer::of_text(inner.clone(), true);
        answer.duration_ms = seconds.map(|seconds| seconds * 1000.0);
        return ended(answer, &inner, code);
    }
    if let Some(word) = not_run(&output) {
        let mut answer = Answer::of_text(output, false);
        answer.error_type = Some(word.to_owned());
        return answer;
    }
    let code = exit_code(&output);
    let printed = output.split_once("Output:\n").map_or("", |(_, rest)| rest);
    let printed = printed.to_owned();
    ended(Answer::of_text(output, true), &printed, code)
}

/// The answer of an MCP server, as Codex keeps it.
fn of_mcp(result: &Json, success: bool) -> Answer {
    let mut answer = Answer::of_blocks(result.get("content").unwrap_or(&Json::Null), success);
    let structured = ["structuredContent", "structured_content"];
    let structured = structured.iter().find_map(|key| result.get(key));
    answer.structured = structured.filter(|value| !value.is_null()).cloned();
    answer
}

/// The message of an error, which may be the text alone.
fn own_message(error: &Json) -> String {
    text(error, "message").map_or_else(|| content_text(error), str::to_owned)
}

fn ended(mut answer: Answer, printed: &str, code: Option<i64>) -> Answer {
    if let Some(code) = code {
        answer.structured = Some(json!({ "stdout": printed, "exit_code": code }));
    }
    if code.is_some_and(|code| code != 0) {
        answer.success = false;
        answer.error_type = Some("exit_code".to_owned());
    }
    answer
}

/// The exit code in the lines before `Output:`.
fn exit_code(output: &str) -> Option<i64> {
    const LONGEST_HEAD: usize = 12;
    let lines: Vec<&str> = output.lines().take(LONGEST_HEAD).collect();
    let end = lines.iter().position(|line| line.trim() == "Output:")?;
    lines[..end].iter().find_map(|line| {
        let code = line
            .strip_prefix("Exit code: ")
            .or_else(|| line.strip_prefix("Process exited with code "))?;
        code.trim().parse().ok()
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::RunStatus;
    use crate::import::testing::{outline, source, warnings};

    pub(in crate::import) const SESSION: &str = r##"
{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"s","cli_version":"0.90.0"}}
{"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief."}]}}
{"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Run the tests"}]}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"event_msg","payload":{"type":"user_message","message":"Run the tests"}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"turn_context","payload":{"model":"m"}}
{"timestamp":"2026-01-02T03:04:07.000Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"Tests first"}],"encrypted_content":"x"}}
{"timestamp":"2026-01-02T03:04:08.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"make\"]}","call_id":"c1"}}
{"timestamp":"2026-01-02T03:04:09.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"boom\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.5}}"}}
{"timestamp":"2026-01-02T03:04:10.000Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"c2","status":"completed"}}
{"timestamp":"2026-01-02T03:04:11.000Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":"Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 9"}}
{"timestamp":"2026-01-02T03:04:12.000Z","type":"response_item","payload":{"type":"function_call","name":"find","namespace":"mcp__files__","arguments":"{}","call_id":"c3"}}
{"timestamp":"2026-01-02T03:04:13.000Z","type":"event_msg","payload":{"type":"mcp_tool_call_end","call_id":"c3","duration":{"secs":1,"nanos":500000},"result":{"Err":"no such folder"}}}
{"timestamp":"2026-01-02T03:04:13.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c3","output":"failed"}}
{"timestamp":"2026-01-02T03:04:14.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":1234}}}}
{"timestamp":"2026-01-02T03:04:15.000Z","type":"response_item","payload":{"type":"quantum_call"}}
{"timestamp":"2026-01-02T03:04:16.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"They fail."}]}}
"##;

    #[test]
    fn a_session_becomes_a_trace() {
        let imported = import(&source(SESSION));
        assert_eq!(
            warnings(&imported),
            ["1 entry was skipped: `quantum_call` (1)"]
        );
        let trace = imported.trace.expect("a trace");
        assert_eq!(
            outline(&trace),
            [
                "e1 message_received Run the tests",
                "e2 thought Tests first",
                "e3 tool_call c1 shell {\"command\":[\"make\"]}",
                "e4 tool_result c1 shell false \"boom\" (e3)",
                "e5 error c1 exit_code boom (e3)",
                "e6 tool_call c2 apply_patch {\"input\":\"*** Begin Patch\"}",
                "e7 tool_result c2 apply_patch true \"Exit code: 0\\nWall time: 0 seconds\\nOutput:\\nExit code: 9\" (e6)",
                "e8 tool_call c3 mcp__files__find {}",
                "e9 tool_result c3 mcp__files__find false \"failed\" (e8)",
                "e10 error c3 tool_error no such folder (e8)",
                "e11 final_output They fail.",
            ]
        );
        assert_eq!(trace.header.adapter.version, "0.90.0");
        let end = trace.end.expect("an end");
        assert_eq!(end.status, RunStatus::Success);
        assert_eq!(end.metrics.token_usage, Some(1234));
        assert_eq!(end.metrics.timing_ms_total, 10_000.0);
    }

    #[test]
    fn calls_of_servers_end_as_items_in_newer_sessions() {
        let text = r#"{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"s","cli_version":"0.169.0"}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"function_call","name":"add","namespace":"mcp__notes","arguments":"{}","call_id":"c1"}}
{"timestamp":"2026-01-02T03:04:07.000Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"McpToolCall","id":"c1","server":"notes","tool":"add","status":"completed","result":{"content":[{"type":"text","text":"{\"id\": \"n-1\"}"}]},"duration":{"secs":0,"nanos":1000000}}}}
{"timestamp":"2026-01-02T03:04:07.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"Wall time: 0.1 seconds\nOutput:"},{"type":"input_text","text":"{\"id\": \"n-1\"}"}]}}
"#;
        let trace = import(&source(text)).trace.expect("a trace");
        assert_eq!(
            outline(&trace),
            [
                "e1 tool_call c1 mcp__notes__add {}",
                "e2 tool_result c1 mcp__notes__add true {\"id\":\"n-1\"} (e1)",
            ]
        );
    }

    #[test]
    fn older_sessions_have_bare_items() {
        let text = r#"{"id":"old","timestamp":"2025-05-01T00:00:00Z","instructions":null}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}
"#;
        let trace = import(&source(text)).trace.expect("a trace");
        assert_eq!(
            outline(&trace),
            ["e1 message_received Hi", "e2 final_output Hello"]
        );
        assert_eq!(trace.events[0].session_id.as_deref(), Some("old"));
    }

    #[test]
    fn a_turn_that_was_stopped_is_blocked() {
        let text = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}}
{"type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}
"#;
        let trace = import(&source(text)).trace.expect("a trace");
        assert_eq!(trace.end.expect("an end").status, RunStatus::Blocked);
    }

    #[test]
    fn another_file_is_refused() {
        let imported = import(&source("{\"type\":\"event_msg\",\"payload\":{}}\n"));
        assert!(imported.trace.is_none());
        assert_eq!(
            imported.diagnostics[0].message,
            "not a Codex session: no line has a message or a call"
        );
    }

    #[test]
    fn exit_codes_stand_before_the_output() {
        assert_eq!(
            exit_code("Chunk ID: 1\nProcess exited with code 1\nOutput:\n"),
            Some(1)
        );
        assert_eq!(exit_code("Exit code: 1\n"), None);
        assert_eq!(exit_code("Output:\nExit code: 1\n"), None);
    }
}
