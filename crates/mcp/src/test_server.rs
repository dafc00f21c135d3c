//! What test servers are made of: one of the SDK's own, which speaks both protocol eras, and parts of others.

use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// Has one tool, `echo`, which answers any call with its arguments as JSON.
#[derive(Clone)]
pub(super) struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Map::from_iter([("type".to_owned(), Value::from("object"))]);
        let tool = Tool::new("echo", "says it again", Arc::new(schema));
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let block = ContentBlock::text(arguments.to_string());
        Ok(CallToolResult::success(vec![block]).into())
    }
}

/// Reads one HTTP request: its head in lower case, and its body as JSON.
pub(super) async fn read_request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .map_or(0, |(_, length)| length.trim().parse().expect("a length"));
            if body.len() >= length {
                return Some((
                    head.to_lowercase(),
                    serde_json::from_str(body).unwrap_or_default(),
                ));
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// What a server of the older era says to the messages of the handshake; nothing to others.
pub(super) fn handshake(message: &Value) -> Option<Value> {
    let id = &message["id"];
    match message["method"].as_str()? {
        "server/discover" => {
            let error = json!({"code": -32601, "message": "no such method"});
            Some(json!({"jsonrpc": "2.0", "id": id, "error": error}))
        }
        "initialize" => {
            let result = json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"},
            });
            Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
        }
        _ => None,
    }
}

/// A call's answer with this text.
pub(super) fn text_answer(call: &Value, text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    json!({"jsonrpc": "2.0", "id": call["id"], "result": {"content": content}})
}
