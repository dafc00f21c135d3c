//! The lines of a cassette: each struct is the reader, the writer and the schema.
//!
//! Format versions:
//! - 1: the first.

use cuecard_source::decode::Items;
use cuecard_source::value::Json;
use cuecard_timeline::model::FaultKind;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use crate::{Call, Tool};

/// The version that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// What a server says of itself. The first line is one; a later one of the same server adds to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerLine {
    /// The version of the format: 1.
    pub cassette: u32,
    /// The name of the server in the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The result of `initialize` or `server/discover`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub introduction: Option<Map<String, Json>>,
    /// The entries of `tools/list`. Without them the tools of the records are listed, with a schema that allows anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Items<Tool>>,
    /// What the user asked the agent for.
    #[serde(default, skip_serializing_if = "no_text")]
    pub prompts: Items<String>,
    /// The time at which the recording began, as in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<String>,
}

fn no_text(texts: &Items<String>) -> bool {
    texts.0.is_empty()
}

/// A notification.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    /// The version of JSON-RPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jsonrpc: Option<String>,
    /// The method.
    pub method: String,
    /// The parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Json>,
}

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultLine {
    /// What goes wrong.
    #[serde(with = "FaultWord")]
    #[schemars(with = "FaultWord")]
    pub kind: FaultKind,
}

/// The words of faults.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "FaultKind", rename_all = "snake_case")]
#[schemars(inline)]
enum FaultWord {
    Cut,
    Stall,
    Split,
    Merge,
    Garbage,
    Duplicate,
    Reorder,
    WrongId,
    Oversize,
    Crash,
    Stderr,
}

/// Returns the JSON Schema of one line.
pub fn schema() -> Json {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<ServerLine>();
    generator.subschema_for::<Call>();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:cuecard:schema:mcp-cassette:1",
        "title": "Cassette of an MCP server",
        "description": "A line of a cassette of MCP servers, NAME.cassette.jsonl (version 1): a server, or a call of one of its tools.",
        "type": "object",
        "if": {"required": ["cassette"]},
        "then": {"$ref": "#/$defs/ServerLine"},
        "else": {"$ref": "#/$defs/CallLine"},
        "$defs": generator.take_definitions(true),
    })
}
