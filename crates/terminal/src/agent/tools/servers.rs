//! Tools of the session's MCP servers.

use cuecard_mcp::result::text_of;
use cuecard_mcp::{Protocol, ServerSpec, Session, TransportSpec};
use cuecard_source::value::Json;
use cuecard_timeline::model::{McpServer, McpTransport};

use super::{TIMEOUT, ToolOutcome, Tools};

impl Tools {
    /// Calls `mcp__server__tool`; nothing if the session has no such server.
    pub(super) async fn call_server(&mut self, name: &str, args: &Json) -> Option<ToolOutcome> {
        let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
        let known = self.servers.iter().find(|known| known.name == server)?;
        if !self.sessions.contains_key(server) {
            let spec = spec(known, self.root.clone());
            match Session::start(&spec, &self.environment).await {
                Ok(session) => drop(self.sessions.insert(server.to_owned(), session)),
                Err(error) => return Some(Err(error.to_string()).into()),
            }
        }
        let session = self.sessions.get(server)?;
        let arguments = args.as_object().cloned().unwrap_or_default();
        Some(match session.call(tool, arguments, TIMEOUT).await {
            Ok(reply) => ToolOutcome {
                text: text_of(&reply),
                is_error: reply.is_error,
            },
            Err(error) => Err(error.to_string()).into(),
        })
    }
}

fn spec(server: &McpServer, root: std::path::PathBuf) -> ServerSpec {
    ServerSpec {
        name: server.name.clone(),
        transport: match &server.transport {
            McpTransport::Stdio { command, args, env } => TransportSpec::Stdio {
                command: command.clone(),
                args: args.clone(),
                env: env.clone(),
                cwd: Some(root),
            },
            McpTransport::Url {
                url,
                headers,
                is_sse: false,
            } => TransportSpec::Http {
                url: url.clone(),
                headers: headers.clone(),
                or_sse: true,
                auth: None,
            },
            McpTransport::Url { url, headers, .. } => TransportSpec::Sse {
                url: url.clone(),
                headers: headers.clone(),
            },
        },
        protocol: Protocol::Auto,
        start_timeout: TIMEOUT,
        allowed_tools: None,
        source: "acp.mcpServers".to_owned(),
    }
}
