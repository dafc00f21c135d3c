//! Calls of the agent: what serde can't say of them.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::pieces::{invalid, pattern_of, time};
use super::settings::node_span;
use crate::model::{ExpectedResult, ToolExecutionEvent, ToolExecutionKind, ToolUse};
use cuecard_source::checked;
use cuecard_source::decode::by_hand;
use cuecard_source::json::Node;
use cuecard_source::reader::{Object, Reader};

checked!(ToolUse);

impl ToolUse {
    fn check(&mut self, _: &mut Reader<'_>, call: Object<'_>) {
        self.tool_span = node_span(call, "toolName");
        self.args_span = node_span(call, "args");
        let progress = call.get("progress").and_then(Node::as_array);
        let expected = progress.unwrap_or_default().iter().enumerate();
        let expected = expected.filter_map(|(idx, entry)| {
            Some((idx, entry.get("expectOutput")?.as_str()?.to_owned()))
        });
        self.expected_output = expected.collect();
    }
}

impl<'de> Deserialize<'de> for ExpectedResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(deserializer, None, result)
    }
}

/// Any value, or an object with a test alone.
fn result(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<ExpectedResult> {
    let result = Object { node, pointer };
    let [only] = node.members() else {
        return Some(ExpectedResult::Value(node.to_value()));
    };
    let at = result.child_pointer(&only.key);
    Some(match only.key.as_str() {
        "contains" => {
            let text = reader.text_of(&only.value, &at, "`contains`")?;
            if text.trim().is_empty() {
                let message = "`contains` is empty: every result contains it";
                invalid(reader, only.value.span, &at, message);
                return None;
            }
            ExpectedResult::Contains(text.to_owned())
        }
        "regex" => ExpectedResult::Regex(pattern_of(reader, &only.value, &at)?),
        "json" => ExpectedResult::Json(only.value.to_value()),
        _ => ExpectedResult::Value(node.to_value()),
    })
}

/// What happens while a tool runs.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "tool_execution_event")]
pub(crate) struct ExecutionForm {
    /// What happens.
    #[serde(rename = "type")]
    kind: ExecutionKind,
    /// From the start of the execution.
    #[serde(deserialize_with = "time")]
    time_ms: u64,
    /// Output or message.
    content: Option<String>,
    /// Exit code at the completion.
    exit_code: Option<i64>,
}

words! {
    /// What happens while a tool runs.
    enum ExecutionKind {
        /// Output.
        Stdout = "stdout",
        /// Output of errors.
        Stderr = "stderr",
        /// A message.
        Progress = "progress",
        /// The end.
        Completion = "completion",
    }
}

impl<'de> Deserialize<'de> for ToolExecutionEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(deserializer, None, |reader, node, pointer| {
            let what = "an event of `toolExecution`";
            let form: ExecutionForm = reader.decode(node, pointer, what)?;
            if form.kind != ExecutionKind::Completion {
                let event = Object { node, pointer };
                reader.required(event, "content", what, "content: \"…\"")?;
            }
            let text = form.content.clone().unwrap_or_default();
            Some(Self {
                time_ms: form.time_ms,
                kind: match form.kind {
                    ExecutionKind::Stdout => ToolExecutionKind::Stdout(text),
                    ExecutionKind::Stderr => ToolExecutionKind::Stderr(text),
                    ExecutionKind::Progress => ToolExecutionKind::Progress(text),
                    ExecutionKind::Completion => ToolExecutionKind::Completion {
                        exit_code: form.exit_code.unwrap_or(0),
                        content: form.content,
                    },
                },
                span: node.span,
            })
        })
    }
}
