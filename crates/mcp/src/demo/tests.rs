use super::*;
use rmcp::model::{CallToolResult, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::server::HTTP_PATH;
use cuecard_runtime::listener::{DEFAULT_BIND, DEFAULT_BODY_LIMIT, ListenerError};

type Client = RunningService<RoleClient, ()>;

fn legacy() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    }
}

async fn in_process(era: ClientLifecycleMode) -> Client {
    ().serve_with_lifecycle(connect(), era)
        .await
        .expect("the server speaks both eras")
}

/// An HTTP server of its own, which ends when it is dropped.
struct Http {
    address: SocketAddr,
    token: Option<String>,
    shutdown: oneshot::Sender<()>,
    server: tokio::task::JoinHandle<Result<(), ServerError>>,
}

impl Http {
    async fn start(token: Option<&str>) -> Self {
        let token = token.map(str::to_owned);
        let (ready, address) = oneshot::channel();
        let (shutdown, asked) = oneshot::channel::<()>();
        let server = tokio::spawn(serve_http(
            DEFAULT_BIND,
            token.clone(),
            Arc::new(|_| {}),
            move |address| ready.send(address).expect("the test waits"),
            async move { asked.await.unwrap_or_default() },
        ));
        let address = address.await.expect("it listens");
        Self {
            address,
            token,
            shutdown,
            server,
        }
    }

    async fn client(&self, era: ClientLifecycleMode) -> Client {
        cuecard_runtime::tls::install();
        let url = format!("http://{}{HTTP_PATH}", self.address);
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        config.auth_header.clone_from(&self.token);
        let http = reqwest::Client::builder().no_proxy().build();
        let http = http.expect("a client");
        let transport = StreamableHttpClientTransport::with_client(http, config);
        ().serve_with_lifecycle(transport, era)
            .await
            .expect("the server speaks both eras")
    }

    async fn stop(self) {
        self.shutdown.send(()).expect("still serving");
        self.server.await.expect("no panic").expect("a normal end");
    }
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    let request = CallToolRequestParams::new(tool).with_arguments(arguments);
    client
        .call_tool(request)
        .await
        .expect("an answer, be it an error")
}

/// The structured content of a call that succeeds, which must be what the schema promises.
async fn value(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let result = call(client, tool, arguments).await;
    assert_eq!(result.is_error, Some(false), "{tool}: {result:?}");
    result.structured_content.expect("structured content")
}

/// The only text of a call.
fn only_text(result: &CallToolResult) -> &str {
    assert_eq!(result.content.len(), 1, "{result:?}");
    &result.content[0].as_text().expect("text").text
}

/// The text of a call that fails.
async fn failure(client: &Client, tool: &'static str, arguments: Value) -> String {
    let result = call(client, tool, arguments).await;
    assert_eq!(result.is_error, Some(true), "{tool}: {result:?}");
    only_text(&result).to_owned()
}

/// Calls every tool once or more on a fresh server.
async fn tour(client: &Client) {
    let added = value(
        client,
        "add_note",
        json!({ "title": "Milk", "text": "two litres" }),
    )
    .await;
    assert_eq!(added, json!({ "id": 1, "title": "Milk", "count": 1 }));
    let tagged = json!({ "title": "Call Ada", "text": "about Milk", "tags": ["phone"] });
    assert_eq!(value(client, "add_note", tagged).await["id"], 2);
    assert_eq!(
        value(client, "get_note", json!({ "id": 2 })).await,
        json!({ "id": 2, "title": "Call Ada", "text": "about Milk", "tags": ["phone"] })
    );
    assert_eq!(value(client, "list_notes", json!({})).await["count"], 2);
    assert_eq!(
        value(client, "list_notes", json!({ "tag": "phone" })).await,
        json!({ "notes": [{ "id": 2, "title": "Call Ada", "tags": ["phone"] }], "count": 1 })
    );
    assert_eq!(
        value(client, "search_notes", json!({ "query": "milk" })).await["count"],
        2
    );
    assert_eq!(
        value(client, "search_notes", json!({ "query": "beer" })).await["notes"],
        json!([])
    );
    assert_eq!(
        value(client, "delete_note", json!({ "id": 1 })).await,
        json!({ "id": 1, "count": 1 })
    );
    let error = failure(client, "delete_note", json!({ "id": 1 })).await;
    assert_eq!(error, "there is no note 1; the notes are: 2");

    assert_eq!(
        value(client, "count", json!({})).await,
        json!({ "name": "default", "value": 1 })
    );
    assert_eq!(
        value(client, "count", json!({ "by": -3 })).await["value"],
        -2
    );
    assert_eq!(
        value(client, "count", json!({ "by": i64::MAX, "name": "b" })).await["value"],
        i64::MAX
    );
    assert!(
        failure(client, "count", json!({ "name": "b" }))
            .await
            .contains("can't move by 1")
    );
    assert_eq!(
        value(client, "reset", json!({})).await,
        json!({ "name": "default", "value": 0 })
    );
    assert_eq!(value(client, "count", json!({})).await["value"], 1);

    for (operation, result) in [
        ("upper", json!("O'BRIEN’S  CAFÉ")),
        ("lower", json!("o'brien’s  café")),
        ("title", json!("O'brien’S  Café")),
        ("reverse", json!("ÉFAC  s’NEIRB'o")),
        ("words", json!(["o'BRIEN’s", "CAFÉ"])),
        ("length", json!(15)),
        ("slug", json!("o-brien-s-café")),
    ] {
        let arguments = json!({ "text": "o'BRIEN’s  CAFÉ", "operation": operation });
        assert_eq!(
            value(client, "text", arguments).await,
            json!({ "result": result })
        );
    }

    let echoed = call(client, "echo", json!({ "message": "hi  there" })).await;
    assert_eq!(
        (only_text(&echoed), &echoed.structured_content),
        ("hi  there", &None)
    );
    let echoed = call(
        client,
        "echo_json",
        json!({ "value": { "b": [1, null], "a": "é" } }),
    )
    .await;
    assert_eq!(
        (only_text(&echoed), &echoed.structured_content),
        (r#"{"b":[1,null],"a":"é"}"#, &None)
    );

    let twice = || json!({ "times": 2, "key": "k" });
    assert_eq!(
        failure(client, "fail", twice()).await,
        "not ready yet (attempt 1 of 2)"
    );
    assert_eq!(
        failure(client, "fail", twice()).await,
        "not ready yet (attempt 2 of 2)"
    );
    assert_eq!(
        value(client, "fail", twice()).await,
        json!({ "attempts": 3 })
    );
    let busy = json!({ "times": 1, "key": "other", "message": "busy" });
    assert_eq!(failure(client, "fail", busy).await, "busy");

    assert_eq!(
        value(client, "slow", json!({ "seconds": 0.01 })).await,
        json!({ "waited": 0.01 })
    );
    assert!(
        failure(client, "slow", json!({ "seconds": 60.1 }))
            .await
            .contains("between 0 and 60")
    );

    let drawn = call(client, "picture", json!({})).await;
    let about = drawn.structured_content.expect("facts");
    let image = drawn.content[0].as_image().expect("an image first");
    assert_eq!(image.mime_type, "image/png");
    use base64::Engine as _;
    let file = base64::engine::general_purpose::STANDARD
        .decode(&image.data)
        .expect("base64");
    assert!(file.starts_with(b"\x89PNG"));
    assert_eq!(
        about,
        json!({ "width": 64, "height": 64, "bytes": file.len() })
    );
    assert_eq!(
        drawn.content[1].as_text().expect("a text second").text,
        "a picture of 64 by 64 pixels in teal and white"
    );

    assert!(
        failure(client, "crash", json!({}))
            .await
            .contains("can't crash")
    );
}

#[tokio::test]
async fn every_tool_works_in_process_in_both_eras() {
    for (era, version) in [(legacy(), "2025-11-25"), (modern(), "2026-07-28")] {
        let client = in_process(era).await;
        let peer = client.peer_info().expect("said hello");
        assert_eq!(peer.protocol_version.as_str(), version);
        tour(&client).await;
    }
}

#[tokio::test]
async fn every_tool_works_over_http_in_both_eras() {
    for (era, version) in [(legacy(), "2025-11-25"), (modern(), "2026-07-28")] {
        let server = Http::start(None).await;
        let client = server.client(era).await;
        let peer = client.peer_info().expect("said hello");
        assert_eq!(peer.protocol_version.as_str(), version);
        tour(&client).await;
        client.cancel().await.expect("closed");
        server.stop().await;
    }
}

#[tokio::test]
async fn http_clients_share_a_server_and_servers_in_process_share_nothing() {
    let server = Http::start(Some("s3cret")).await;
    let (first, second) = (server.client(legacy()).await, server.client(modern()).await);
    assert_eq!(value(&first, "count", json!({})).await["value"], 1);
    assert_eq!(value(&second, "count", json!({})).await["value"], 2);
    let (first, second) = (in_process(legacy()).await, in_process(modern()).await);
    assert_eq!(value(&first, "count", json!({})).await["value"], 1);
    assert_eq!(value(&second, "count", json!({})).await["value"], 1);
}

#[tokio::test]
async fn wrong_arguments_are_errors_that_a_caller_can_read() {
    let client = in_process(legacy()).await;
    let error = failure(&client, "add_note", json!({ "titel": "x", "text": "" })).await;
    assert!(
        error.contains("unknown field `titel`, expected one of `title`"),
        "{error}"
    );
    let error = failure(
        &client,
        "text",
        json!({ "text": "x", "operation": "shout" }),
    )
    .await;
    assert!(
        error.contains("unknown variant `shout`, expected one of `upper`"),
        "{error}"
    );
    let error = failure(&client, "echo_json", json!({})).await;
    assert!(error.contains("missing field `value`"), "{error}");
    let error = failure(&client, "fail", json!({ "times": 1001, "key": "k" })).await;
    assert!(error.contains("at most 1000"), "{error}");
    let error = failure(&client, "fail", json!({ "times": 1, "key": "" })).await;
    assert!(error.contains("`key`"), "{error}");
    let error = client
        .call_tool(CallToolRequestParams::new("ad_note"))
        .await
        .expect_err("unknown");
    assert!(
        error
            .to_string()
            .contains("there is no tool `ad_note`; there are add_note, confirm, count"),
        "{error}"
    );
}

#[tokio::test]
async fn counters_are_bounded() {
    let client = in_process(legacy()).await;
    for idx in 0..1_000 {
        value(&client, "count", json!({ "name": idx.to_string() })).await;
    }
    assert!(
        failure(&client, "count", json!({ "name": "one more" }))
            .await
            .contains("at most 1000")
    );
    assert_eq!(
        value(&client, "count", json!({ "name": "7" })).await["value"],
        2
    );
}

#[tokio::test]
async fn every_tool_describes_itself_and_its_answer() {
    let client = in_process(modern()).await;
    let tools = client.list_all_tools().await.expect("listed");
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(
        names,
        [
            "add_note",
            "confirm",
            "count",
            "crash",
            "delete_note",
            "echo",
            "echo_json",
            "fail",
            "get_note",
            "list_notes",
            "picture",
            "reset",
            "search_notes",
            "slow",
            "text"
        ]
    );
    for tool in &tools {
        assert!(
            tool.description
                .as_ref()
                .is_some_and(|text| text.ends_with('.')),
            "{}",
            tool.name
        );
        assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        assert_eq!(
            tool.input_schema["additionalProperties"], false,
            "{}",
            tool.name
        );
        let text = serde_json::to_string(&tool.input_schema).expect("JSON");
        assert!(!text.contains("$ref") && !text.contains("format"), "{text}");
        let structured = !matches!(tool.name.as_ref(), "echo" | "echo_json" | "crash");
        assert_eq!(tool.output_schema.is_some(), structured, "{}", tool.name);
    }
    let properties = |name: &str| {
        let tool = tools.iter().find(|tool| tool.name == name).expect("listed");
        tool.input_schema["properties"].clone()
    };
    assert_eq!(properties("count")["by"]["type"], "integer");
    assert_eq!(properties("count")["by"]["default"], 1);
    assert_eq!(properties("slow")["seconds"]["maximum"], 60);
    assert_eq!(
        properties("text")["operation"]["enum"],
        json!([
            "upper", "lower", "title", "reverse", "words", "length", "slug"
        ])
    );
    let added = tools
        .iter()
        .find(|tool| tool.name == "add_note")
        .expect("listed");
    let answer = added.output_schema.as_ref().expect("structured");
    assert_eq!(answer["required"], json!(["id", "title", "count"]));
    assert_eq!(answer["properties"]["id"]["type"], "integer");
    assert_eq!(answer["properties"]["id"].get("format"), None);
}

/// A client that writes its lines by hand, to see what a library would hide.
struct Lines {
    reader: tokio::io::Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
    writer: tokio::io::WriteHalf<DuplexStream>,
}

impl Lines {
    async fn hello(stream: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        let mut lines = Self {
            reader: BufReader::new(reader).lines(),
            writer,
        };
        lines
            .send(
                json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "by hand", "version": "1" },
            } }),
            )
            .await;
        let hello = lines.next().await.expect("an answer");
        assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
        assert_eq!(hello["result"]["serverInfo"]["name"], "cuecard-demo");
        lines
            .send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        lines
    }

    async fn send(&mut self, message: Value) {
        self.writer
            .write_all(format!("{message}\n").as_bytes())
            .await
            .expect("open");
    }

    async fn next(&mut self) -> Option<Value> {
        let line = self.reader.next_line().await.expect("readable")?;
        Some(serde_json::from_str(&line).expect("JSON"))
    }
}

#[tokio::test]
async fn slow_reports_progress_to_who_asks_for_it() {
    let mut lines = Lines::hello(connect()).await;
    let slow = |id: u32, meta: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "slow", "arguments": { "seconds": 0.02 }, "_meta": meta,
        } })
    };
    lines.send(slow(1, json!({}))).await;
    assert_eq!(
        lines.next().await.expect("open")["id"],
        1,
        "no progress without a token"
    );
    lines.send(slow(2, json!({ "progressToken": "p" }))).await;
    for step in 1..=10 {
        let notification = lines.next().await.expect("open");
        let params = &notification["params"];
        assert_eq!(notification["method"], "notifications/progress");
        assert_eq!(
            (&params["progressToken"], &params["total"]),
            (&json!("p"), &json!(0.02))
        );
        let progress = params["progress"].as_f64().expect("a number");
        assert!(
            (progress - 0.002 * f64::from(step)).abs() < 1e-9,
            "{notification}"
        );
    }
    assert_eq!(
        lines.next().await.expect("open")["result"]["structuredContent"]["waited"],
        0.02
    );
}

#[tokio::test]
async fn a_cancelled_call_does_not_hold_the_server() {
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let server = tokio::spawn(serve_until_crash(ours));
    let mut lines = Lines::hello(theirs).await;
    lines
        .send(
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "slow", "arguments": { "seconds": 60 },
        } }),
        )
        .await;
    lines
        .send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }))
        .await;
    lines
        .send(json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }))
        .await;
    assert_eq!(lines.next().await.expect("open")["id"], 2);
    drop(lines);
    server
        .await
        .expect("no panic")
        .expect("the end of input is a normal end");
}

#[tokio::test]
async fn a_crash_ends_the_server_without_an_answer() {
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let server = tokio::spawn(serve_until_crash(ours));
    let mut lines = Lines::hello(theirs).await;
    lines
        .send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "crash" } }))
        .await;
    let ended = server.await.expect("no panic").expect("no other error");
    assert_eq!(ended, Ended::Crashed);
    // Without a process that exits, the library closes the pipe after a grace of its own.
    assert_eq!(lines.next().await, None, "the pipe closes and nothing else");
}

#[tokio::test]
async fn a_client_that_leaves_without_a_word_is_no_error() {
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    drop(theirs);
    serve_until_crash(ours)
        .await
        .expect("the end of input is a normal end");
}

/// The status that a request written by hand gets.
async fn status(address: SocketAddr, headers: &str, body: &str) -> u16 {
    let mut stream = TcpStream::connect(address).await.expect("listening");
    let request = format!(
        "POST {HTTP_PATH} HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.expect("open");
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.expect("a status line");
    let text = String::from_utf8(answer).expect("ASCII");
    text["HTTP/1.1 ".len()..].parse().expect("a number")
}

#[tokio::test]
async fn the_http_server_stands_behind_the_guard() {
    let server = Http::start(Some("s3cret")).await;
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "n", "version": "1" },
    } })
    .to_string();
    let length = format!("Content-Length: {}\r\n", hello.len());
    let good = format!(
        "Host: {}\r\nAuthorization: Bearer s3cret\r\n",
        server.address
    );
    for (expected, headers) in [
        (200, format!("{good}{length}")),
        (
            200,
            format!("{good}{length}Origin: http://localhost:5173\r\n"),
        ),
        (
            403,
            format!("Host: rebound.example\r\nAuthorization: Bearer s3cret\r\n{length}"),
        ),
        (
            403,
            format!("{good}{length}Origin: https://evil.example\r\n"),
        ),
        (401, format!("Host: localhost\r\n{length}")),
        (
            401,
            format!("Host: localhost\r\nAuthorization: Bearer secret\r\n{length}"),
        ),
        (
            413,
            format!("{good}Content-Length: {}\r\n", DEFAULT_BODY_LIMIT + 1),
        ),
    ] {
        assert_eq!(
            status(server.address, &headers, &hello).await,
            expected,
            "{headers}"
        );
    }
    let half = hello.replace("\"n\"", r#""\ud83d""#);
    let headers = format!("{good}Content-Length: {}\r\n", half.len());
    assert_eq!(status(server.address, &headers, &half).await, 200);
    let open = serve_http(
        ([0, 0, 0, 0], 0).into(),
        None,
        Arc::new(|_| {}),
        |_| panic!("not ready"),
        async {},
    )
    .await;
    assert!(matches!(
        open,
        Err(ServerError::Listener(ListenerError::TokenNeeded { .. }))
    ));
}
