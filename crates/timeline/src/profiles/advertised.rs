//! A tool as a request to a model advertises it.

use cuecard_source::value::Json;

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct AdvertisedTool {
    /// Its name, which a call must use.
    pub name: String,
    /// What it is for; empty if the request says nothing.
    pub description: String,
    /// What a call passes.
    pub input: ToolInput,
    /// The group that it stands in, which a call names beside the tool; most tools are in none.
    pub namespace: Option<String>,
}

/// What a call of a tool passes.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInput {
    /// An object that fits a JSON Schema; null where the request has none.
    Schema(Json),
    /// Free text, as custom tools take it.
    Text,
    /// Unknown: a tool that the provider runs itself, such as a web search.
    Opaque,
}

impl AdvertisedTool {
    /// A function with the schema of its arguments.
    pub fn function(name: impl Into<String>, schema: Json) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            input: ToolInput::Schema(schema),
            namespace: None,
        }
    }

    /// Whether a call of `name` means it: its own name, or that of a tool of an MCP server, `mcp__SERVER__TOOL`,
    /// for one that stands in the group of its server.
    pub fn is_called(&self, name: &str) -> bool {
        if self.name == name {
            return true;
        }
        let Some(group) = &self.namespace else {
            return false;
        };
        name.strip_suffix(self.name.as_str())
            .is_some_and(|start| start.trim_end_matches('_') == group.trim_end_matches('_'))
    }

    /// The schema of its arguments, if it has one.
    pub fn schema(&self) -> Option<&Json> {
        match &self.input {
            ToolInput::Schema(schema) if !schema.is_null() => Some(schema),
            _ => None,
        }
    }
}
