//! The calls of one session, whatever they were taken from.

use std::time::Duration;

use serde_json::{Map, Value};

/// The tool calls of one session, in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// What the user asked for, if the source tells it (transcripts do).
    pub prompts: Vec<String>,
    /// The servers that were called.
    pub servers: Vec<Server>,
    /// The calls, by the time they began.
    pub calls: Vec<Call>,
}

/// A server as it introduced itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Server {
    /// The name in the configuration; `mcp__NAME__…` in scenarios.
    pub name: String,
    /// Its answer to `initialize` or `server/discover`, as it came; null if unknown.
    pub introduction: Value,
    /// The tools that it listed; empty if nobody asked for the list.
    pub tools: Vec<Tool>,
}

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name, without the server's.
    pub name: String,
    /// The whole entry of `tools/list`, with `inputSchema`, `outputSchema` and `annotations`.
    pub description: Value,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The name of the server; `None` for the agent's own tools, which scenarios call `claude__*`.
    pub server: Option<String>,
    /// The tool's name as its server knows it, or the whole name of a built-in tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// The answer.
    pub outcome: Outcome,
    /// The time between the beginning of the recording and of the call, if it is known.
    pub started: Option<Duration>,
    /// The time that the call took, if it is known.
    pub duration: Option<Duration>,
    /// The notifications that came for the call before its answer, as they came.
    pub notifications: Vec<Value>,
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The result of an MCP server: `content`, `structuredContent`, `isError` and whatever else it sent.
    Result(Value),
    /// The result of a built-in tool, an object with the fields that scenarios know.
    BuiltIn(Value),
    /// An error of the protocol.
    Error(RpcError),
    /// None: the session ended, or the server died, before it came.
    Missing,
}

impl Outcome {
    /// Whether it is the result of a call that did not fail.
    pub fn is_success(&self) -> bool {
        match self {
            Self::Result(result) => result["isError"] != true,
            Self::BuiltIn(_) => true,
            Self::Error(_) | Self::Missing => false,
        }
    }
}

/// An error of JSON-RPC.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The message.
    pub message: String,
    /// The data, or null.
    pub data: Value,
}
