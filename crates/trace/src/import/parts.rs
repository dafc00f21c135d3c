//! What bundles and transcripts are made of.

use schemars::JsonSchema;
use serde::Deserialize;

use cuecard_source::Span;
use cuecard_source::value::Json;

/// What a trace may be able to tell, and whether one of a replay bundle is, if that doesn't say.
pub const CAPABILITIES: &[(&str, bool)] = &[
    ("supports_tool_trace", true),
    ("supports_memory_events", false),
    ("supports_scheduler_context", false),
    ("supports_container_metadata", false),
    ("supports_replay", true),
];

/// `format` of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum TranscriptFormat {
    /// `atif`: the Agent Trajectory Interchange Format.
    Atif,
    /// `otlp`: OpenTelemetry spans as JSON, with the conventions for generative AI.
    Otlp,
    /// `claude-code`: a session of Claude Code, JSON Lines.
    ClaudeCode,
    /// `codex`: a session of Codex, JSON Lines.
    Codex,
}

impl TranscriptFormat {
    /// The word for it in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Atif => "atif",
            Self::Otlp => "otlp",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }
}

/// An entry of `tools.fixtures`: an answer that tool results may refer to.
#[derive(Debug, Clone)]
pub struct Fixture {
    /// `id`.
    pub id: String,
    /// `tool`.
    pub tool: String,
    /// `result`.
    pub result: Option<Json>,
    /// `error`.
    pub error: Option<Json>,
    /// Where it stands.
    pub span: Span,
}
