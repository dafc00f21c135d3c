//! A tool call in both vocabularies.

use std::sync::Arc;

use crate::model::{AgentEdits, ToolUse};
use cuecard_source::Span;
use cuecard_source::value::Json;

/// A call in the abstract vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct AbstractCall {
    /// The abstract name, an MCP name, or any other name as it was written.
    pub tool: String,
    /// Its arguments. Always an object.
    pub args: Arc<Json>,
    /// The call as the author wrote it, if that differs.
    pub written: Option<WrittenCall>,
    /// Where it stands.
    pub span: Span,
}

/// A call as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenCall {
    /// The name.
    pub tool: String,
    /// The arguments.
    pub args: Arc<Json>,
}

/// A call as an agent takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct NativeCall {
    /// The tool's name.
    pub name: String,
    /// What is passed: an object, or a string for a tool that takes free text.
    pub args: Arc<Json>,
}

impl AbstractCall {
    /// A call that was written as it is.
    pub fn new(tool: impl Into<String>, args: Json) -> Self {
        Self {
            tool: tool.into(),
            args: Arc::new(args),
            written: None,
            span: Span::default(),
        }
    }

    /// The call of an event.
    pub fn of(call: &ToolUse) -> Self {
        let written =
            (call.written_tool.is_some() || call.written_args.is_some()).then(|| WrittenCall {
                tool: call
                    .written_tool
                    .clone()
                    .unwrap_or_else(|| call.tool.clone()),
                args: call
                    .written_args
                    .clone()
                    .unwrap_or_else(|| call.args.clone()),
            });
        Self {
            tool: call.tool.clone(),
            args: call.args.clone(),
            written,
            span: call.tool_span,
        }
    }

    /// The call that an edit with text is: of a part of the file, or of the whole. `None` without text.
    pub fn of_edit(edit: &AgentEdits, span: Span) -> Option<Self> {
        let new_text = edit.new_text.as_ref()?;
        let (tool, args) = match &edit.old_text {
            Some(old_text) => (
                "editFile",
                serde_json::json!({"path": edit.path, "old_string": old_text, "new_string": new_text}),
            ),
            None => (
                "writeFile",
                serde_json::json!({"path": edit.path, "content": new_text}),
            ),
        };
        Some(Self {
            span,
            ..Self::new(tool, args)
        })
    }
}
