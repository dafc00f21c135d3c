//! Sessions against small scripted servers, and against the SDK's own.
//!
//! Waiting is done on what a server does, never on the clock: where a test depends on something being
//! noticed at once, the timeout beside it is ten minutes.

mod calls;
mod ends;
mod questions;
mod starts;
mod tools;

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::service::ServiceExt as _;
use serde_json::json;

use super::*;
use crate::test_server::Echo;
use crate::{ContentBlock, ErrorKind, Exit, Protocol, TransportSpec};

const LONG: Duration = Duration::from_secs(600);

/// A spec that runs `script` in a shell.
fn shell(script: &str) -> ServerSpec {
    ServerSpec {
        name: "scripted".to_owned(),
        transport: TransportSpec::Stdio {
            command: "/bin/sh".to_owned(),
            args: vec!["-c".to_owned(), script.to_owned()],
            env: Vec::new(),
            cwd: None,
        },
        protocol: Protocol::Auto,
        start_timeout: LONG,
        allowed_tools: None,
        source: ".mcp.json".to_owned(),
    }
}

/// A spec whose server answers the handshake of the older protocol. `cases` are the arms of a shell `case`
/// for all that follows; `$id` is the id of the request, `answer` and `refuse` answer it.
fn scripted(cases: &str) -> ServerSpec {
    shell(&format!(
        r#"
        answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
        refuse() {{ printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":%s,"message":"%s"}}}}\n' "$id" "$1" "$2"; }}
        text() {{ answer "{{\"content\":[{{\"type\":\"text\",\"text\":\"$1\"}}]}}"; }}
        while read -r line; do
            id=${{line#*\"id\":}}; id=${{id%%[,\}}]*}}
            case $line in
                *'"method":"server/discover"'*) refuse -32601 'what?' ;;
                *'"method":"initialize"'*) answer '{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"shell","version":"1.2"}}}}' ;;
                *'"method":"notifications/initialized"'*) ;;
                {cases}
            esac
        done
        "#
    ))
}

fn env() -> Vec<(OsString, OsString)> {
    vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default())]
}

async fn start(spec: &ServerSpec) -> Session {
    Session::start(spec, &env())
        .await
        .expect("the server starts")
}

async fn fail(spec: &ServerSpec) -> ServerError {
    Session::start(spec, &env())
        .await
        .expect_err("the server does not start")
}

async fn call(session: &Session, tool: &str) -> Result<ToolReply, ServerError> {
    session.call(tool, Map::new(), LONG).await
}

fn text(text: &str) -> ToolReply {
    ToolReply {
        content: vec![ContentBlock::Text(text.to_owned())],
        ..ToolReply::default()
    }
}

fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}
