//! What `benches/run` compares Cuecard with: a loop around the SDK that calls `echo` and does nothing else.
//!
//! ```text
//! rmcp_loop CALLS stdio COMMAND ARGUMENTS…
//! rmcp_loop CALLS http URL
//! rmcp_loop CALLS unix SOCKET
//! rmcp_loop CALLS http-unix SOCKET
//! ```
//!
//! Prints the seconds of the calls, one after the other, as JSON. Connecting and a first call are not counted.
//!
//! It also puts the demo server behind a Unix socket, for both of them:
//!
//! ```text
//! rmcp_loop serve-unix SOCKET             newline JSON, a server for each connection
//! rmcp_loop serve-http-unix SOCKET ADDRESS    passes on to `cuecard mcp demo --http` at ADDRESS
//! ```

use std::error::Error;
use std::io;
use std::time::Instant;

use cuecard_mcp::demo;
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientConfig, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess, UnixSocketHttpClient};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::process::Command;

type Client = RunningService<RoleClient, ClientConfig>;

// As many threads as Cuecard has: with more of them the calls, which wait for each other, only get slower.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["serve-unix", socket] => serve(socket, async || Ok(demo::connect())).await,
        ["serve-http-unix", socket, address] => {
            serve(socket, async || TcpStream::connect(address).await).await
        }
        [calls, transport, place, rest @ ..] => {
            measure(calls.parse()?, transport, place, rest).await
        }
        _ => Err("usage: rmcp_loop CALLS stdio|http|unix|http-unix PLACE [ARGUMENTS…]".into()),
    }
}

async fn measure(
    calls: u32,
    transport: &str,
    place: &str,
    rest: &[&str],
) -> Result<(), Box<dyn Error>> {
    let client = connect(transport, place, rest).await?;
    call(&client, 0).await?;
    let began = Instant::now();
    for n in 1..=calls {
        call(&client, n).await?;
    }
    let report = json!({ "calls": calls, "seconds": began.elapsed().as_secs_f64() });
    #[expect(clippy::print_stdout, reason = "this is a program of its own")]
    {
        println!("{report}");
    }
    client.cancel().await?;
    Ok(())
}

async fn connect(transport: &str, place: &str, rest: &[&str]) -> Result<Client, Box<dyn Error>> {
    // As Cuecard finds out what a server speaks.
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    };
    let handler = ClientConfig::default();
    Ok(match transport {
        "stdio" => {
            let mut command = Command::new(place);
            command.args(rest);
            let process = TokioChildProcess::new(command)?;
            handler.serve_with_lifecycle(process, lifecycle).await?
        }
        "http" => {
            // Two TLS libraries are known to the HTTP client, and it wants to be told which.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let http = reqwest::Client::builder().no_proxy().build()?;
            let config = StreamableHttpClientTransportConfig::with_uri(place);
            let http = StreamableHttpClientTransport::with_client(http, config);
            handler.serve_with_lifecycle(http, lifecycle).await?
        }
        "unix" => {
            let stream = UnixStream::connect(place).await?;
            handler.serve_with_lifecycle(stream, lifecycle).await?
        }
        "http-unix" => {
            let client = UnixSocketHttpClient::new(place, "http://localhost:80");
            let config = StreamableHttpClientTransportConfig::with_uri("/mcp");
            let http = StreamableHttpClientTransport::with_client(client, config);
            handler.serve_with_lifecycle(http, lifecycle).await?
        }
        other => return Err(format!("there is no transport `{other}`").into()),
    })
}

/// Calls `echo` and looks at the answer, as a scenario's step does.
async fn call(client: &Client, n: u32) -> Result<(), Box<dyn Error>> {
    let message = format!("line {n}");
    let mut arguments = Map::new();
    arguments.insert("message".to_owned(), Value::String(message.clone()));
    let request = CallToolRequestParams::new("echo").with_arguments(arguments);
    let result: CallToolResult = client.call_tool(request).await?;
    let text = result.content.first().and_then(|block| block.as_text());
    // One of the servers says `Echo: ` first.
    match text {
        Some(text) if text.text.ends_with(&message) => Ok(()),
        _ => Err(format!("call {n} was answered with {result:?}").into()),
    }
}

/// Passes each connection on to what `to` gives, until the process is ended.
async fn serve<S>(socket: &str, to: impl AsyncFn() -> io::Result<S>) -> Result<(), Box<dyn Error>>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let listener = UnixListener::bind(socket)?;
    loop {
        let (mut from, _) = listener.accept().await?;
        let mut to = to().await?;
        tokio::spawn(async move {
            // A connection that breaks is the client's to report.
            let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
        });
    }
}
