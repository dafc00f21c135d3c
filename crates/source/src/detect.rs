//! Tells what kind of file a text is by its top keys.

use crate::SourceFile;
use crate::document::read_document;
use crate::json::{self, Node};

/// The kinds of files the project knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A tool-call scenario of version 2.x.
    ToolCall,
    /// A tool-call scenario of version 1.x, with `action` instead of `tool`.
    ToolCallLegacy,
    /// Browser steps that `parse` wrote.
    BrowserSteps,
    /// A URL with plain-language actions.
    Browser,
    /// A patch that heals browser steps.
    HealPatch,
    /// A timeline.
    Timeline,
    /// A test case.
    TestCase,
    /// A replay bundle.
    ReplayBundle,
    /// A recorded trace.
    Trace,
    /// A cassette of MCP servers.
    Cassette,
    /// A config with MCP servers.
    Config,
    /// The transcript of an agent's session: JSON Lines of Claude Code or Codex.
    Session,
}

impl FileKind {
    /// What it is, with an article.
    pub fn description(self) -> &'static str {
        match self {
            Self::ToolCall => "a tool-call scenario",
            Self::ToolCallLegacy => "a tool-call scenario of version 1.x",
            Self::BrowserSteps => "compiled browser steps",
            Self::Browser => "a browser script",
            Self::HealPatch => "a healing patch for browser steps",
            Self::Timeline => "a timeline",
            Self::TestCase => "a test case",
            Self::ReplayBundle => "a replay bundle",
            Self::Trace => "a trace",
            Self::Cassette => "a cassette of an MCP server",
            Self::Config => "an MCP config",
            Self::Session => "the transcript of an agent's session",
        }
    }
}

/// The kind of a text, JSON or YAML, or `None` if it is neither, or looks like none of them.
pub fn kind_of(source: &SourceFile) -> Option<FileKind> {
    kind_of_lines(source)
        .or_else(|| read_document(source).root.as_ref().and_then(detect))
        .or_else(|| session_agent(source).map(|_| FileKind::Session))
}

/// A coding agent that writes its sessions as JSON Lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionAgent {
    /// Claude Code, a session on disk or its `stream-json`.
    ClaudeCode,
    /// Codex, a rollout or `codex exec --json`.
    Codex,
}

/// How many lines are looked at to recognize a session.
const MAX_SESSION_LINES: usize = 100;

/// The agent whose session a text is, by the first of its lines that only one of them writes.
pub fn session_agent(source: &SourceFile) -> Option<SessionAgent> {
    let lines = source.text().lines().take(MAX_SESSION_LINES);
    let mut roots = lines.filter_map(|line| json::parse(line, &json::Limits::default()).root);
    roots.find_map(|line| {
        let has = |keys: &[&str]| keys.iter().any(|key| line.get(key).is_some());
        let kind = line.get("type").and_then(Node::as_str).unwrap_or_default();
        let is_turn = ["thread.", "turn.", "item."]
            .iter()
            .any(|start| kind.starts_with(start));
        let is_message = matches!(kind, "user" | "assistant") && has(&["message"]);
        match !kind.is_empty() {
            _ if is_turn || has(&["record_type"]) => Some(SessionAgent::Codex),
            true if has(&["payload"]) => Some(SessionAgent::Codex),
            true if is_message || has(&["sessionId", "session_id", "parentUuid"]) => {
                Some(SessionAgent::ClaudeCode)
            }
            _ => None,
        }
    })
}

/// What a text of JSON Lines is: its first line says so, or its name.
fn kind_of_lines(source: &SourceFile) -> Option<FileKind> {
    let text = source.text().trim_start_matches('\u{feff}');
    let line = text.lines().find(|line| !line.trim().is_empty());
    let first = line.and_then(|line| json::parse(line, &json::Limits::default()).root);
    match first.as_ref().and_then(detect) {
        Some(kind @ (FileKind::Cassette | FileKind::Trace)) => Some(kind),
        _ => source
            .name()
            .ends_with(".cassette.jsonl")
            .then_some(FileKind::Cassette),
    }
}

/// The kind of a document, JSON or YAML, or `None` if it looks like none of them.
pub fn detect(root: &Node) -> Option<FileKind> {
    let has = |key: &str| root.get(key).is_some();
    let version = root.get("version").map(version_text).unwrap_or_default();
    if version.starts_with("cuecard-steps/") {
        return Some(FileKind::BrowserSteps);
    }
    if version.starts_with("cuecard-heal/") {
        return Some(FileKind::HealPatch);
    }
    // One of these keys may be what a person forgot, or `adapter` what they mistook.
    if has("adapter_input") {
        return Some(FileKind::TestCase);
    }
    let is_bundle = root.get("adapter").and_then(Node::as_str) == Some("nanoclaw-replay");
    if is_bundle || (has("script") && has("schema_version")) {
        return Some(FileKind::ReplayBundle);
    }
    if has("assertions") && (has("adapter") || has("schema_version")) {
        return Some(FileKind::TestCase);
    }
    if root.get("kind").and_then(Node::as_str) == Some("header") || has("trace_id") {
        return Some(FileKind::Trace);
    }
    if has("cassette") {
        return Some(FileKind::Cassette);
    }
    if has("url") && has("actions") {
        return Some(FileKind::Browser);
    }
    if has("timeline") || (has("name") && has("terminalRef")) {
        return Some(FileKind::Timeline);
    }
    if has("steps") {
        let uses_actions = root
            .get("steps")
            .and_then(Node::as_array)
            .is_some_and(|steps| steps.iter().any(is_action_step));
        return Some(
            if version.starts_with("1.") || version == "1" || uses_actions {
                FileKind::ToolCallLegacy
            } else {
                FileKind::ToolCall
            },
        );
    }
    (has("mcpServers") || has("servers")).then_some(FileKind::Config)
}

/// Whether a step is written as in version 1.x: with `action` instead of `tool`.
pub fn is_action_step(step: &Node) -> bool {
    step.get("action").is_some() && step.get("tool").is_none()
}

/// A version as text, whether it was written as text or as a number.
pub fn version_text(node: &Node) -> String {
    match &node.kind {
        crate::json::NodeKind::String(text) | crate::json::NodeKind::Number(text) => text.clone(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceFile;
    use crate::document::read_document;

    #[test]
    fn sessions_of_agents_are_recognized_by_their_lines() {
        let kind = |text: &str| kind_of(&SourceFile::new("session.jsonl", text));
        for text in [
            "{\"type\":\"summary\",\"leafUuid\":\"1\"}\n{\"type\":\"user\",\"sessionId\":\"s\",\"parentUuid\":null}\n",
            "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n",
            "{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{}}\n",
            "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}\n",
            "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n",
            "{\"record_type\":\"state\"}\n",
        ] {
            assert_eq!(kind(text), Some(FileKind::Session), "{text}");
        }
        for text in ["{\"type\":\"object\"}\n", "{\"payload\":1}\n", "a note\n"] {
            assert_eq!(kind(text), None, "{text}");
        }
    }

    fn kind(text: &str) -> Option<FileKind> {
        let document = read_document(&SourceFile::new("<standard input>", text));
        detect(&document.root.expect(text))
    }

    #[test]
    fn files_are_told_apart_by_their_top_keys() {
        for (text, expected) in [
            (
                "adapter: nanoclaw\nadapter_input: {}\nassertions: []",
                Some(FileKind::TestCase),
            ),
            (
                "schema_version: '0.1'\nadapter_input: {}",
                Some(FileKind::TestCase),
            ),
            (
                "schema_version: '0.1'\nassertions: []",
                Some(FileKind::TestCase),
            ),
            (
                r#"{"adapter": "nanoclaw-replay", "assertions": []}"#,
                Some(FileKind::ReplayBundle),
            ),
            (
                r#"{"schema_version": "0.1", "script": []}"#,
                Some(FileKind::ReplayBundle),
            ),
            (
                r#"{"kind": "header", "schema_version": "0.1"}"#,
                Some(FileKind::Trace),
            ),
            (
                r#"{"trace_id": "x", "adapter": {"name": "cuecard"}}"#,
                Some(FileKind::Trace),
            ),
            (
                r#"{"version": "2.1", "steps": []}"#,
                Some(FileKind::ToolCall),
            ),
            (
                r#"{"version": "1.0", "steps": []}"#,
                Some(FileKind::ToolCallLegacy),
            ),
            (
                r#"{"steps": [{"action": "click"}]}"#,
                Some(FileKind::ToolCallLegacy),
            ),
            (
                r#"{"version": "cuecard-steps/1"}"#,
                Some(FileKind::BrowserSteps),
            ),
            (
                r#"{"version": "cuecard-heal/1", "patch": []}"#,
                Some(FileKind::HealPatch),
            ),
            (
                "url: https://example.com\nactions: []",
                Some(FileKind::Browser),
            ),
            ("name: x\ntimeline: []", Some(FileKind::Timeline)),
            (
                "timeline:\n  - log: x\nserver: {mode: none}",
                Some(FileKind::Timeline),
            ),
            (r#"{"cassette": 1}"#, Some(FileKind::Cassette)),
            (r#"{"mcpServers": {}}"#, Some(FileKind::Config)),
            ("assertions: []", None),
            ("a: 1", None),
            ("[]", None),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }
}
