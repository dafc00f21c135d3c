//! Sessions of Claude Code: JSON Lines, a message or a part of one on each line. What it prints as `stream-json` is
//! nearly the same.

use std::collections::{HashMap, HashSet};

use super::builder::read_time;
use super::lines::{self, LeftOut, content_text, is_true, items, text};
use super::results::{Answer, By, Run};
use super::{Imported, lines::refused};
use crate::RunStatus;
use cuecard_source::SourceFile;
use cuecard_source::value::Json;

/// Kinds of lines that say nothing about what the agent did.
const ABOUT_THE_PROGRAM: &[&str] = &[
    "agent-name",
    "agent-setting",
    "ai-title",
    "attachment",
    "control_request",
    "control_response",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "rate_limit_event",
    "stream_event",
    "summary",
    "tag",
    "worktree-state",
];

/// What Claude Code puts into the user's messages: reminders, what commands and hooks printed, how tasks went.
const NOT_THE_USER: &[&str] = &[
    "system-reminder",
    "command-message",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
    "user-prompt-submit-hook",
];

/// What the user typed as a command: its words are the user's.
const OF_THE_USER: &[&str] = &["command-name", "command-args", "bash-input"];

/// What Claude Code writes as the user's message when the user stops it.
const INTERRUPTED: &str = "[Request interrupted by user";

pub(super) fn import(source: &SourceFile) -> Imported {
    let mut left_out = LeftOut::default();
    let lines = match lines::json_lines(source, &mut left_out) {
        Ok(lines) => lines,
        Err(error) => return refused(error),
    };
    let mut session = Session {
        run: Run::default(),
        left_out,
        seen: HashSet::new(),
        usage: HashMap::new(),
        version: None,
        tools: Vec::new(),
    };
    for line in &lines {
        session.line(line);
    }
    if session.run.is_empty() {
        let message = "not a Claude Code session: no line has the type `user` or `assistant`";
        return refused(lines::unreadable(source, message));
    }
    session.run.token_usage = (!session.usage.is_empty()).then(|| {
        session
            .usage
            .values()
            .fold(0_u64, |sum, tokens| sum.saturating_add(*tokens))
    });
    if session.left_out.is_cut {
        session.run.cut_off = Some(RunStatus::Partial);
    }
    let trace = session
        .run
        .finish("claude-code", session.version.as_deref());
    Imported {
        tools: session.tools,
        ..lines::imported(source, trace, &session.left_out)
    }
}

struct Session<'a> {
    run: Run,
    left_out: LeftOut,
    /// Lines that were read: a session that was taken up again repeats those of the first.
    seen: HashSet<&'a str>,
    /// Tokens by message; each line of a message repeats those of the whole.
    usage: HashMap<&'a str, u64>,
    version: Option<String>,
    /// The tools that the agent had.
    tools: Vec<String>,
}

impl<'a> Session<'a> {
    fn line(&mut self, line: &'a Json) {
        let kind = text(line, "type").unwrap_or_default();
        let uuid = text(line, "uuid");
        if uuid.is_some_and(|uuid| !self.seen.insert(uuid)) {
            return;
        }
        let either = |key: &str, other: &str| text(line, key).or_else(|| text(line, other));
        self.run.session(either("sessionId", "session_id"));
        self.run.works_in(text(line, "cwd"));
        if let Some(version) = either("version", "claude_code_version") {
            self.version = Some(version.to_owned());
        }
        let sidechain = is_true(line, "isSidechain").then_some("sidechain");
        let agent = sidechain.map(|other| text(line, "agentId").unwrap_or(other));
        let by = By {
            ts: text(line, "timestamp").and_then(read_time),
            agent_id: agent
                .or(text(line, "parent_tool_use_id"))
                .map(str::to_owned),
            event_id: uuid.map(str::to_owned),
        };
        match kind {
            // What the program tells the model on its own account is nobody's message.
            "user" if is_true(line, "isMeta") || is_true(line, "isCompactSummary") => {}
            "user" => self.user(line, by),
            "assistant" => self.assistant(line, by),
            "system" => self.system(line, by),
            "result" => {
                let is_success = text(line, "subtype").is_none_or(|subtype| subtype == "success");
                self.run.is_failed |= is_true(line, "is_error") || !is_success;
            }
            _ if ABOUT_THE_PROGRAM.contains(&kind) => {
                // What an agent of the program does is told nowhere else.
                let data = line.get("data").unwrap_or(&Json::Null);
                let message = data.get("message").and_then(|line| line.get("message"));
                if message.is_some_and(|message| !items(message, "content").is_empty()) {
                    self.left_out.add(&format!("{kind} with a message"));
                }
            }
            "" => self.left_out.add("a line without a type"),
            _ => self.left_out.add(kind),
        }
    }

    fn user(&mut self, line: &Json, by: By) {
        let Some(content) = line
            .get("message")
            .and_then(|message| message.get("content"))
        else {
            return self.left_out.add("user without a message");
        };
        let mut parts = Parts::new(by);
        let Json::Array(blocks) = content else {
            return self.said_by_user(parts.next(), content_text(content));
        };
        for block in blocks {
            match text(block, "type").unwrap_or_default() {
                "text" => {
                    self.said_by_user(
                        parts.next(),
                        text(block, "text").unwrap_or_default().to_owned(),
                    );
                }
                "tool_result" => {
                    let kept = ["toolUseResult", "tool_use_result"];
                    // It is the whole line's, which has one result in every session.
                    let kept = kept.iter().find_map(|key| line.get(key));
                    let kept = kept.filter(|kept| kept.is_object() && blocks.len() == 1);
                    self.tool_result(block, kept, parts.next());
                }
                "image" | "document" => {}
                other => self.left_out.add(&format!("user: {other}")),
            }
        }
    }

    fn said_by_user(&mut self, by: By, content: String) {
        let content = lines::without_elements(&content, NOT_THE_USER, OF_THE_USER);
        let is_interrupted = content.starts_with(INTERRUPTED);
        if by.agent_id.is_none() {
            self.run.is_interrupted = is_interrupted;
        }
        if !is_interrupted && !content.is_empty() {
            self.run.received(by, content);
        }
    }

    fn tool_result(&mut self, block: &Json, kept: Option<&Json>, by: By) {
        let call_id = text(block, "tool_use_id").unwrap_or_default();
        let content = block.get("content").unwrap_or(&Json::Null);
        let success = !is_true(block, "is_error");
        let is_mcp = |tool: &str| tool.starts_with("mcp__");
        let mut answer = match self.run.tool_of(call_id).is_some_and(is_mcp) {
            true => Answer::of_blocks(content, success),
            false => Answer::of_text(content_text(content), success),
        };
        answer.structured = kept.cloned();
        if !self.run.answered(by, call_id, answer) {
            self.left_out.add("tool_result without its tool_use");
        }
    }

    fn assistant(&mut self, line: &'a Json, by: By) {
        let Some(message) = line.get("message") else {
            return self.left_out.add("assistant without a message");
        };
        let message_id = text(message, "id");
        if let (Some(id), Some(usage)) = (message_id, message.get("usage")) {
            self.usage.insert(id, tokens(usage));
        }
        if is_true(line, "isApiErrorMessage") {
            let said = message.get("content").map(content_text).unwrap_or_default();
            return self.run.failed(by, "model", "api_error", &said);
        }
        if by.agent_id.is_none() {
            self.run.is_interrupted = false;
            self.run.cut_off = match text(message, "stop_reason") {
                Some("max_tokens" | "model_context_window_exceeded") => Some(RunStatus::Partial),
                Some("refusal") => Some(RunStatus::Failed),
                _ => None,
            };
        }
        let mut parts = Parts::new(by);
        if let Some(said) = text(message, "content") {
            return self.run.said(parts.next(), said.to_owned(), message_id);
        }
        for block in items(message, "content") {
            let own = |key: &str| text(block, key).unwrap_or_default();
            match own("type") {
                "text" if own("text").is_empty() => {}
                "text" => self
                    .run
                    .said(parts.next(), own("text").to_owned(), message_id),
                "thinking" if own("thinking").is_empty() => {}
                "thinking" => self.run.thought(parts.next(), own("thinking").to_owned()),
                "redacted_thinking" => {}
                "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                    let args = block.get("input").cloned().unwrap_or_default();
                    let name = match text(block, "server_name") {
                        Some(server) => format!("mcp__{server}__{}", own("name")),
                        None => own("name").to_owned(),
                    };
                    self.run.called(parts.next(), &name, own("id"), args);
                }
                kind if kind.ends_with("_tool_result") => {
                    self.tool_result(block, None, parts.next());
                }
                other => self.left_out.add(&format!("assistant: {other}")),
            }
        }
    }

    fn system(&mut self, line: &Json, by: By) {
        if text(line, "subtype") == Some("init") {
            let tools = items(line, "tools").iter().filter_map(Json::as_str);
            self.tools = tools.map(str::to_owned).collect();
        }
        let content = text(line, "content").unwrap_or_default();
        if text(line, "subtype") == Some("api_error") {
            self.run.failed(by, "model", "api_error", content);
        }
    }
}

/// The events of one line: the first has the line's id, the others that id with a number.
struct Parts {
    by: By,
    count: u32,
}

impl Parts {
    fn new(by: By) -> Self {
        Self { by, count: 0 }
    }

    fn next(&mut self) -> By {
        self.count += 1;
        let mut by = self.by.clone();
        if let (Some(id), 2..) = (&mut by.event_id, self.count) {
            id.push_str(&format!("/{}", self.count));
        }
        by
    }
}

/// All tokens of a message: what went in, cached or not, and what came out.
fn tokens(usage: &Json) -> u64 {
    [
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "output_tokens",
    ]
    .iter()
    .filter_map(|key| usage.get(key)?.as_u64())
    .fold(0, u64::saturating_add)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::import::testing::{outline, source, warnings};

    pub(in crate::import) const SESSION: &str = r#"
{"type":"summary","summary":"Count lines","leafUuid":"x"}
{"type":"user","uuid":"u1","sessionId":"s","version":"2.1.0","timestamp":"2026-01-02T03:04:05.000Z","isSidechain":false,"message":{"role":"user","content":"How long is a.txt?"}}
{"type":"user","uuid":"u2","isMeta":true,"message":{"role":"user","content":"Caveat"}}
{"type":"assistant","uuid":"a1","timestamp":"2026-01-02T03:04:06.000Z","message":{"id":"m1","role":"assistant","usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":2},"content":[{"type":"thinking","thinking":"I count.","signature":"z"}]}}
{"type":"assistant","uuid":"a2","timestamp":"2026-01-02T03:04:07.000Z","message":{"id":"m1","role":"assistant","usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":7},"content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"wc -l a.txt"}}]}}
{"type":"user","uuid":"u3","timestamp":"2026-01-02T03:04:08.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"wc: a.txt: No such file"}]}}
{"type":"user","uuid":"u4","isSidechain":true,"agentId":"helper","timestamp":"2026-01-02T03:04:09.000Z","message":{"role":"user","content":"Find it"}}
{"type":"assistant","uuid":"a3","isSidechain":true,"agentId":"helper","timestamp":"2026-01-02T03:04:09.500Z","message":{"id":"m2","content":[{"type":"tool_use","id":"t2","name":"mcp__files__find","input":{}}]}}
{"type":"user","uuid":"u5","isSidechain":true,"agentId":"helper","timestamp":"2026-01-02T03:04:10.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"{\"found\": [\"b.txt\"]}"}]}]}}
{"type":"assistant","uuid":"a4","timestamp":"2026-01-02T03:04:11.000Z","message":{"id":"m3","content":[{"type":"text","text":"There is no a.txt,"}]}}
{"type":"assistant","uuid":"a5","timestamp":"2026-01-02T03:04:12.000Z","message":{"id":"m3","content":[{"type":"text","text":"but a b.txt."}]}}
{"type":"assistant","uuid":"a3","isSidechain":true,"agentId":"helper","message":{"id":"m2","content":[{"type":"tool_use","id":"t2","name":"mcp__files__find","input":{}}]}}
{"type":"hologram","uuid":"h"}
{"type":"assistant","uuid":"a6","mess"#;

    #[test]
    fn a_session_becomes_a_trace() {
        let imported = import(&source(SESSION));
        assert_eq!(
            warnings(&imported),
            ["2 entries were skipped: `a truncated last line` (1), `hologram` (1)"]
        );
        let trace = imported.trace.expect("a trace");
        assert_eq!(
            outline(&trace),
            [
                "u1 message_received How long is a.txt?",
                "a1 thought I count.",
                "a2 message Let me look.",
                "a2/2 tool_call t1 Bash {\"command\":\"wc -l a.txt\"}",
                "u3 tool_result t1 Bash false \"wc: a.txt: No such file\" (a2/2)",
                "e6 error t1 tool_error wc: a.txt: No such file (a2/2)",
                "u4 helper: message Find it",
                "a3 helper: tool_call t2 mcp__files__find {}",
                "u5 helper: tool_result t2 mcp__files__find true {\"found\":[\"b.txt\"]} (a3)",
                "a4 final_output There is no a.txt,\nbut a b.txt.",
            ]
        );
        assert_eq!(trace.header.adapter.name, "claude-code");
        assert_eq!(trace.header.adapter.version, "2.1.0");
        assert_eq!(trace.events[0].session_id.as_deref(), Some("s"));
        assert_eq!(trace.header.capabilities["supports_memory_events"], false);
        let end = trace.end.expect("an end");
        assert_eq!(end.status, RunStatus::Partial);
        assert_eq!(end.metrics.token_usage, Some(22));
        assert_eq!(end.metrics.tool_call_count, 2);
        assert_eq!(end.metrics.timing_ms_total, 6000.0);
    }

    #[test]
    fn how_a_session_ended_is_its_status() {
        let start = r#"{"type":"user","uuid":"1","message":{"content":"Go"}}"#;
        let status = |last: &str| {
            let trace = import(&source(&format!("{start}\n{last}\n"))).trace;
            trace.expect("a trace").end.expect("an end").status
        };
        assert_eq!(status(""), RunStatus::Partial);
        assert_eq!(
            status(
                r#"{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}"#
            ),
            RunStatus::Blocked
        );
        assert_eq!(
            status(
                r#"{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"API Error: 529"}]}}"#
            ),
            RunStatus::Failed
        );
        assert_eq!(
            status(
                r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]}}"#
            ),
            RunStatus::Partial
        );
    }

    #[test]
    fn broken_lines_and_other_files_are_refused() {
        let error = |text: &str| {
            let imported = import(&source(text));
            assert!(imported.trace.is_none());
            let found = &imported.diagnostics[0];
            let place = found.place.clone().expect("a place");
            let at = place.source.position(place.span.start);
            format!("{}:{} {}", at.line, at.column, found.message)
        };
        assert_eq!(
            error("{\"type\":\"user\"}\n  {\"type\":}\n{}\n"),
            "2:11 not JSON: expected value"
        );
        assert_eq!(
            error("[1]\n"),
            "1:1 a line of this file must be an object, not an array"
        );
        assert_eq!(error(""), "1:1 the file has no lines to read");
        assert_eq!(
            error("{\"type\":\"summary\"}"),
            "1:1 not a Claude Code session: no line has the type `user` or `assistant`"
        );
    }
}
