//! The tools of a server.

use std::collections::HashSet;

use rmcp::model::{ListToolsRequest, PaginatedRequestParams};
use serde_json::{Map, Value};

use super::error::ErrorKind;
use super::notice::Notice;
use super::session::Session;
use cuecard_runtime::clock::Stopwatch;
use cuecard_source::diagnostic::codes;

/// The most tools, and pages of them, that a server may list.
const MOST_TOOLS: usize = 10_000;
const MOST_PAGES: usize = 1_000;

/// One tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The JSON schema of its arguments; an empty object if the server gives none.
    pub input_schema: Value,
    /// The JSON schema of its structured content, if it promises any.
    pub output_schema: Option<Value>,
    /// Whether it can be called only as a task, which nothing here does.
    pub requires_task: bool,
    /// Whether its annotations say that it changes nothing. Without annotations it may, as the protocol has it.
    pub is_read_only: bool,
    /// Whether its annotations say that it may destroy something.
    pub is_destructive: bool,
}

impl Session {
    /// Asks for all pages of tools; those that may be called are given.
    pub(super) async fn list_tools(&self) -> Result<Vec<ToolInfo>, ErrorKind> {
        let entries = self.list_entries().await?;
        let malformed = || ErrorKind::Protocol {
            text: "a tool has no name".to_owned(),
        };
        let tools = entries
            .iter()
            .map(|entry| read_tool(entry).ok_or_else(malformed));
        let mut tools: Vec<ToolInfo> = tools.collect::<Result<_, _>>()?;
        // A list may name a tool twice: what one entry says that it changes is changed.
        let writing: HashSet<String> = tools
            .iter()
            .filter(|tool| !tool.is_read_only)
            .map(|tool| tool.name.clone())
            .collect();
        for tool in &mut tools {
            tool.is_read_only &= !writing.contains(&tool.name);
        }
        Ok(tools)
    }

    /// The entries of all pages whose tools may be called.
    pub(super) async fn list_entries(&self) -> Result<Vec<Value>, ErrorKind> {
        let began = Stopwatch::start();
        let malformed = |text: &str| ErrorKind::Protocol {
            text: text.to_owned(),
        };
        let mut tools = Vec::new();
        let mut cursor = None;
        let mut seen = HashSet::new();
        for _ in 0..MOST_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let left = self.spec.start_timeout.saturating_sub(began.elapsed());
            let request = ListToolsRequest::with_param(params).into();
            let page = self.request(request, left.into()).await?;
            let Some(Value::Array(listed)) = page.get("tools") else {
                return Err(malformed("the list has no `tools` array"));
            };
            for tool in listed {
                let name = tool.get("name").and_then(Value::as_str);
                let name = name.ok_or_else(|| malformed("a tool has no name"))?;
                if self.spec.allows(name) {
                    tools.push(tool.clone());
                }
                if tools.len() > MOST_TOOLS {
                    return Err(malformed(&format!("more than {MOST_TOOLS} tools")));
                }
            }
            match page.get("nextCursor").and_then(Value::as_str) {
                None | Some("") => return Ok(tools),
                Some(next) if !seen.insert(next.to_owned()) => {
                    // The last page may be one that came before.
                    let mut names = HashSet::new();
                    tools.retain(|tool: &Value| names.insert(tool["name"].to_string()));
                    let text = "its tool list repeats a cursor: what came before is taken for the whole list";
                    self.link.notice(Notice::Tolerated {
                        code: codes::TOOL_LIST,
                        text: text.to_owned(),
                    });
                    return Ok(tools);
                }
                Some(next) => cursor = Some(next.to_owned()),
            }
        }
        Err(malformed(&format!("more than {MOST_PAGES} pages of tools")))
    }
}

fn read_tool(tool: &Value) -> Option<ToolInfo> {
    let text = |name: &str| tool.get(name).and_then(Value::as_str).map(str::to_owned);
    let hint = |name: &str| tool["annotations"][name] == true;
    Some(ToolInfo {
        name: text("name")?,
        description: text("description"),
        input_schema: match tool.get("inputSchema") {
            Some(schema) if !schema.is_null() => schema.clone(),
            _ => Value::Object(Map::new()),
        },
        output_schema: tool
            .get("outputSchema")
            .filter(|schema| !schema.is_null())
            .cloned(),
        requires_task: tool
            .pointer("/execution/taskSupport")
            .and_then(Value::as_str)
            == Some("required"),
        is_read_only: hint("readOnlyHint"),
        is_destructive: hint("destructiveHint"),
    })
}
