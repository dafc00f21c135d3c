//! Streamable HTTP against the SDK's own server, and against servers that misbehave.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::sync::Mutex;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::test_server::{Echo, read_request};
use crate::text::Mask;
use crate::{
    Advice, ContentBlock, Era, ErrorKind, HttpRequest, Notice, Protocol, ServerError, ServerSpec,
    Session, TransportSpec,
};
use cuecard_runtime::clock::Stopwatch;

const LONG: Duration = Duration::from_secs(600);

fn spec(address: SocketAddr, protocol: Protocol) -> ServerSpec {
    ServerSpec {
        name: "remote".to_owned(),
        transport: TransportSpec::Http {
            url: format!("http://{address}/mcp"),
            headers: vec![(
                "Authorization".to_owned(),
                "Bearer secret-of-mine".to_owned(),
            )],
            or_sse: false,
            auth: None,
        },
        protocol,
        start_timeout: LONG,
        allowed_tools: None,
        source: ".mcp.json".to_owned(),
    }
}

async fn start(spec: &ServerSpec) -> Result<Session, ServerError> {
    Session::start(spec, &Vec::<(OsString, OsString)>::new()).await
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// A server that answers each request with what `answer` makes of its head and body; with nothing, the
/// connection is closed.
async fn raw(
    answer: impl Fn(&str, &Value) -> Option<String> + Send + Sync + 'static,
) -> SocketAddr {
    let (listener, address) = listen().await;
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            tokio::spawn(async move {
                if let Some((head, body)) = read_request(&mut stream).await
                    && let Some(response) = answer(&head, &body)
                {
                    let _ = stream.write_all(response.as_bytes()).await;
                }
            });
        }
    });
    address
}

fn response(status: &str, headers: &str, body: &str) -> Option<String> {
    let length = body.len();
    Some(format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    ))
}

fn result(body: &Value, result: Value) -> Option<String> {
    let answer = json!({ "jsonrpc": "2.0", "id": body["id"], "result": result });
    response(
        "200 OK",
        "content-type: application/json\r\n",
        &answer.to_string(),
    )
}

/// The handshake of an older server without sessions; nothing for anything else.
fn handshake(head: &str, body: &Value) -> Option<Option<String>> {
    if head.starts_with("get") || head.starts_with("delete") {
        return Some(response("405 Method Not Allowed", "", ""));
    }
    match body["method"].as_str()? {
        "initialize" => Some(result(
            body,
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "serverInfo": { "name": "raw", "version": "1" },
            }),
        )),
        "notifications/initialized" => Some(response("202 Accepted", "", "")),
        "server/discover" => Some(response(
            "400 Bad Request",
            "",
            "No valid session ID provided",
        )),
        _ => None,
    }
}

#[tokio::test]
async fn both_eras_work_and_headers_are_always_sent() {
    let bare = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&bare);
    let check = move |request: Request, next: Next| {
        let seen = Arc::clone(&seen);
        async move {
            let key = request.headers().get("authorization");
            if key.is_none_or(|key| key != "Bearer secret-of-mine") {
                seen.lock()
                    .expect("no panic")
                    .push(request.method().clone());
            }
            let response: Response = next.run(request).await;
            response
        }
    };
    let service = StreamableHttpService::new(
        || Ok(Echo),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let (listener, address) = listen().await;
    let router = Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn(check));
    tokio::spawn(async move { axum::serve(listener, router).await });

    for (protocol, era, version) in [
        (Protocol::Auto, Era::Modern, "2026-07-28"),
        (Protocol::Modern, Era::Modern, "2026-07-28"),
        (Protocol::Legacy, Era::Legacy, "2025-11-25"),
    ] {
        let session = start(&spec(address, protocol)).await.expect("it starts");
        let info = session.info();
        assert_eq!(
            (info.era, &*info.protocol_version, info.transport),
            (era, version, "http")
        );
        assert_eq!(
            session.tools().await.expect("tools").expect("a list")[0].name,
            "echo"
        );
        let arguments = json!({ "a": "ä" }).as_object().expect("an object").clone();
        let reply = session
            .call("echo", arguments, LONG)
            .await
            .expect("a reply");
        assert_eq!(
            reply.content,
            [ContentBlock::Text(r#"{"a":"ä"}"#.to_owned())]
        );
        session.stop().await;
    }
    assert!(bare.lock().expect("no panic").is_empty(), "{bare:?}");
}

#[tokio::test]
async fn a_refused_connection_is_told_without_the_url() {
    let (listener, address) = listen().await;
    drop(listener);
    let error = start(&spec(address, Protocol::Auto))
        .await
        .expect_err("nothing is listening");
    assert_eq!(
        error.to_string(),
        "server `remote` cannot be reached: connection refused"
    );
    assert_eq!(error.facts.started_as, format!("http://{address}/mcp"));
}

#[tokio::test]
async fn a_connection_that_breaks_during_the_handshake_is_told() {
    let address = raw(|_, _| None).await;
    let error = start(&spec(address, Protocol::Auto))
        .await
        .expect_err("no answer");
    assert_eq!(
        error.to_string(),
        "server `remote` closed the connection before it answered initialize"
    );
}

#[tokio::test]
async fn statuses_are_told() {
    for (status, headers, expected) in [
        (
            "401 Unauthorized",
            "www-authenticate: Bearer realm=\"x\"\r\n",
            401,
        ),
        ("401 Unauthorized", "", 401),
        ("403 Forbidden", "", 403),
        ("404 Not Found", "", 404),
        ("503 Service Unavailable", "", 503),
    ] {
        let address = raw(move |_, _| response(status, headers, "no")).await;
        let error = start(&spec(address, Protocol::Auto))
            .await
            .expect_err("it is refused");
        let ErrorKind::Http { status, .. } = error.kind else {
            panic!("{error:?}")
        };
        assert_eq!(status, expected);
    }
}

#[tokio::test]
async fn a_page_instead_of_an_answer_is_told() {
    let address =
        raw(|_, _| response("200 OK", "content-type: text/html\r\n", "<h1>Hello</h1>")).await;
    assert_eq!(
        start(&spec(address, Protocol::Auto))
            .await
            .expect_err("no server")
            .to_string(),
        "server `remote` violated the protocol while answering initialize: its content type is `text/html`, neither \
         JSON nor an event stream"
    );
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed() {
    let address = raw(|_, _| {
        response(
            "307 Temporary Redirect",
            "location: http://localhost:9/mcp\r\n",
            "",
        )
    })
    .await;
    let error = start(&spec(address, Protocol::Auto))
        .await
        .expect_err("it is refused");
    assert_eq!(
        error.to_string(),
        "server `remote` cannot be reached: it redirects to another host, `http://localhost:9/mcp`"
    );
}

#[tokio::test]
async fn a_redirect_on_the_same_host_is_followed() {
    let address = raw(|head, body| {
        if head.starts_with("post /mcp ") {
            return response("307 Temporary Redirect", "location: /other\r\n", "");
        }
        handshake(head, body).flatten()
    })
    .await;
    let session = start(&spec(address, Protocol::Legacy))
        .await
        .expect("it starts");
    session.stop().await;
}

#[tokio::test]
async fn an_older_server_that_breaks_over_the_probe_is_asked_without_it() {
    let address = raw(|head, body| {
        if body["method"] == "server/discover" {
            return response("500 Internal Server Error", "", "oops");
        }
        handshake(head, body).flatten()
    })
    .await;
    let session = start(&spec(address, Protocol::Auto))
        .await
        .expect("it starts");
    assert_eq!(session.info().era, Era::Legacy);
    session.stop().await;
}

#[tokio::test]
async fn a_server_that_is_gone_fails_a_call_at_once() {
    for cut in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hello\n\n",
    ] {
        let address =
            raw(move |head, body| handshake(head, body).unwrap_or_else(|| Some(cut.to_owned())))
                .await;
        let session = start(&spec(address, Protocol::Auto))
            .await
            .expect("it starts");
        let error = session
            .call("x", Map::new(), LONG)
            .await
            .expect_err("no answer");
        assert_eq!(error.kind, ErrorKind::Closed);
        session.stop().await;
    }
}

#[tokio::test]
async fn a_broken_stream_that_cannot_be_taken_up_again_fails_its_call() {
    let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nid: 1\ndata:\n\n";
    let address = raw(move |head, body| {
        if head.starts_with("get") {
            return response("500 Internal Server Error", "", "");
        }
        handshake(head, body).unwrap_or_else(|| Some(stream.to_owned()))
    })
    .await;
    let session = start(&spec(address, Protocol::Auto))
        .await
        .expect("it starts");
    let error = session
        .call("x", Map::new(), LONG)
        .await
        .expect_err("no answer");
    assert_eq!(error.kind, ErrorKind::Closed);
    session.stop().await;
}

/// A stream of one event that ends with it.
fn stream(event: &str) -> Option<String> {
    Some(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{event}\n\n"
    ))
}

#[tokio::test]
async fn what_the_standards_allow_is_read() {
    let address = raw(|head, body| {
        handshake(head, body).unwrap_or_else(|| {
            let text = json!({ "type": "text", "text": "CUT" });
            let answer =
                json!({ "jsonrpc": "2.0", "id": body["id"], "result": { "content": [text] } });
            let answer = answer.to_string().replace("CUT", "a\\ud83d b");
            match body["params"]["name"].as_str() {
                Some("stream") => {
                    let fields = "nobody: knows\nthis\nid\nretry: soon\nevent: x\nevent: message";
                    stream(&format!("data\n\n{fields}\ndata: {answer}"))
                }
                _ => response("200 OK", "content-type: application/json\r\n", &answer),
            }
        })
    })
    .await;
    let session = start(&spec(address, Protocol::Auto))
        .await
        .expect("it starts");
    for tool in ["body", "stream"] {
        let reply = session.call(tool, Map::new(), LONG).await.expect(tool);
        let text = "a\u{fffd} b".to_owned();
        assert_eq!(reply.content, [ContentBlock::Text(text)], "{tool}");
        let notices = session.drain_notices();
        assert!(
            matches!(&notices[..], [Notice::Tolerated { code, .. }] if code.name() == "C-JSON-04"),
            "{tool}: {notices:?}"
        );
    }
    session.stop().await;
}

#[tokio::test]
async fn a_result_is_what_the_server_sent() {
    let block = json!({ "type": "text", "text": "a", "annotations": { "priority": 0.123456789 } });
    let sent = json!({ "content": [block], "tools": [1, 2.5], "isError": false });
    let answered = sent.clone();
    let address = raw(move |head, body| {
        handshake(head, body).unwrap_or_else(|| match body["params"]["name"].as_str() {
            Some("body") => result(body, answered.clone()),
            _ => stream(&format!(
                "data: {}",
                json!({ "jsonrpc": "2.0", "id": body["id"], "result": answered })
            )),
        })
    })
    .await;
    let session = start(&spec(address, Protocol::Auto))
        .await
        .expect("it starts");
    for tool in ["body", "stream"] {
        let reply = session.call_raw(tool, Map::new(), LONG).await;
        assert_eq!(reply.expect("a reply").1, sent, "{tool}");
    }
    session.stop().await;
}

#[tokio::test]
async fn a_stream_that_ends_early_is_taken_up_where_it_ended_after_the_time_the_server_asks_for() {
    const RETRY: u64 = 150;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let state = Arc::clone(&seen);
    let address = raw(move |head, body| {
        let last = head.lines().find_map(|line| line.strip_prefix("last-event-id: "));
        let mut seen = state.lock().expect("no panic");
        match (head.starts_with("get"), last) {
            (true, Some(last)) => {
                seen.push((last.to_owned(), Stopwatch::start()));
                match seen.len() {
                    // It may end early any number of times.
                    2 => stream(&format!("id: second\nretry: {RETRY}\ndata: ")),
                    _ => stream("id: third\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[]}}"),
                }
            }
            _ if body["method"] == "tools/call" => {
                seen.push(("call".to_owned(), Stopwatch::start()));
                assert_eq!(body["id"], 2, "the answer above is to this");
                stream(&format!("id: first\nretry: {RETRY}\ndata: "))
            }
            _ => handshake(head, body).expect("the handshake"),
        }
    })
    .await;
    let session = start(&spec(address, Protocol::Auto))
        .await
        .expect("it starts");
    let reply = session.call("x", Map::new(), LONG).await;
    assert_eq!(reply.expect("a reply"), crate::ToolReply::default());
    session.stop().await;
    let seen = seen.lock().expect("no panic");
    let ids: Vec<&str> = seen.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["call", "first", "second"]);
    for pair in seen.windows(2) {
        let waited = pair[0].1.elapsed().saturating_sub(pair[1].1.elapsed());
        assert!(waited >= Duration::from_millis(RETRY), "{waited:?}");
    }
}

#[tokio::test]
async fn a_stream_is_taken_up_a_few_times_only_while_nothing_answers() {
    let seen = Arc::new(Mutex::new(0));
    let state = Arc::clone(&seen);
    let address = raw(move |head, body| {
        if head.starts_with("get") && head.contains("last-event-id: first") {
            *state.lock().expect("no panic") += 1;
            return response("503 Service Unavailable", "", "");
        }
        handshake(head, body).unwrap_or_else(|| stream("id: first\nretry: 1\ndata: "))
    })
    .await;
    let session = start(&spec(address, Protocol::Auto))
        .await
        .expect("it starts");
    let error = session.call("x", Map::new(), LONG).await;
    let error = error.expect_err("no answer");
    assert_eq!(error.kind, ErrorKind::Closed);
    assert_eq!(*seen.lock().expect("no panic"), RECONNECTS);
    session.stop().await;
}

#[tokio::test]
async fn statuses_and_bounds_of_a_call_are_told() {
    let address = raw(|head, body| {
        handshake(head, body).unwrap_or_else(|| match body["params"]["name"].as_str() {
            Some("busy") => response("429 Too Many Requests", "", ""),
            Some("large") => Some(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n"
                    .to_owned(),
            ),
            _ => result(body, json!({ "content": [{ "type": "hologram" }], "isError": true })),
        })
    })
    .await;
    let session = start(&spec(address, Protocol::Auto))
        .await
        .expect("it starts");
    let kind = async |tool| {
        session
            .call(tool, Map::new(), LONG)
            .await
            .map_err(|error| error.kind)
    };
    assert_eq!(
        kind("busy").await.expect_err("busy"),
        ErrorKind::Http {
            status: 429,
            text: String::new(),
            to: HttpRequest::Message,
        }
    );
    assert_eq!(
        kind("large").await.expect_err("large"),
        ErrorKind::TooLarge {
            bound: 64 * 1024 * 1024
        }
    );
    let reply = kind("odd").await.expect("a reply");
    assert!(reply.is_error);
    assert_eq!(
        reply.content,
        [ContentBlock::Other(json!({ "type": "hologram" }))]
    );
    session.stop().await;
}

#[tokio::test]
async fn arguments_that_belong_into_headers_get_there() {
    let address = raw(|head, body| match body["method"].as_str()? {
        "server/discover" => result(
            body,
            json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} },
                "ttlMs": 0,
                "cacheScope": "private",
            }),
        ),
        "tools/list" => {
            let region = json!({ "type": "string", "x-mcp-header": "Region" });
            let schema = json!({ "type": "object", "properties": { "region": region } });
            let tools = json!([{ "name": "deploy", "inputSchema": schema }]);
            result(
                body,
                json!({ "resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private" }),
            )
        }
        "tools/call" if head.contains("\r\nmcp-param-region: eu\r\n") => {
            result(body, json!({ "resultType": "complete", "content": [] }))
        }
        _ => {
            let error = json!({ "code": -32020, "message": "header mismatch" });
            let answer = json!({ "jsonrpc": "2.0", "id": body["id"], "error": error });
            response("400 Bad Request", "content-type: application/json\r\n", &answer.to_string())
        }
    })
    .await;
    let session = start(&spec(address, Protocol::Auto))
        .await
        .expect("it starts");
    let arguments = json!({ "region": "eu" })
        .as_object()
        .expect("an object")
        .clone();
    assert!(session.call("deploy", arguments, LONG).await.is_ok());
    let error = session
        .call("deploy", Map::new(), LONG)
        .await
        .expect_err("no region");
    assert!(
        matches!(error.kind, ErrorKind::RpcError { code: -32020, .. }),
        "{error:?}"
    );
    session.stop().await;
}

#[tokio::test]
async fn a_call_out_of_time_is_cancelled_at_the_server() {
    let (told, mut cancelled) = tokio::sync::mpsc::unbounded_channel();
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let told = told.clone();
            tokio::spawn(async move {
                let Some((head, body)) = read_request(&mut stream).await else {
                    return;
                };
                if body["method"] == "notifications/cancelled" {
                    let _ = told.send(body["params"].clone());
                }
                match handshake(&head, &body) {
                    Some(Some(response)) => drop(stream.write_all(response.as_bytes()).await),
                    _ if body["params"]["name"] == "fast" => {
                        let response = result(&body, json!({})).expect("a response");
                        let _ = stream.write_all(response.as_bytes()).await;
                    }
                    // Kept open until the client gives up.
                    _ => drop(stream.read(&mut [0]).await),
                }
            });
        }
    });
    let session = start(&spec(address, Protocol::Auto))
        .await
        .expect("it starts");
    let short = Duration::from_millis(50);
    let error = session
        .call("slow", Map::new(), short)
        .await
        .expect_err("no answer");
    assert_eq!(error.kind, ErrorKind::NoAnswer { within: short });
    let params = cancelled.recv().await.expect("the server is told");
    assert_eq!(params["reason"], "no answer within 50 ms");
    assert!(session.call("fast", Map::new(), LONG).await.is_ok());
    session.stop().await;
}

fn kind_of(url: &str, headers: &[(&str, &str)]) -> ErrorKind {
    let headers: Vec<(String, String)> = headers
        .iter()
        .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
        .collect();
    let link = Arc::new(Link::new(Mask::default()));
    match transport(url, &headers, None, &link) {
        Ok(_) => panic!("{url} is accepted"),
        Err(kind) => kind,
    }
}

fn is_wrong(kind: &ErrorKind, key: &'static str) -> bool {
    matches!(kind, ErrorKind::Unusable { help, .. } if *help == Advice::Correct(key))
}

#[test]
fn what_cannot_be_sent_is_refused_before_anything_is_sent() {
    for url in ["ftp://example.com", "example.com/mcp"] {
        assert!(is_wrong(&kind_of(url, &[]), "url"), "{url}");
    }
    for header in [("bad name", "x"), ("Accept", "x"), ("X", "a\nb")] {
        let kind = kind_of("http://localhost/mcp", &[header]);
        assert!(is_wrong(&kind, "headers"), "{header:?}");
    }
}

#[test]
fn loopback_is_recognised_and_nothing_else() {
    let of = |url: &str| is_loopback(&Url::parse(url).expect("a URL"));
    for url in [
        "http://localhost:1",
        "http://a.localhost",
        "http://127.9.9.9",
        "http://[::1]:5/x",
    ] {
        assert!(of(url), "{url}");
    }
    for url in [
        "http://localhost.example.com",
        "http://10.0.0.1",
        "http://[::2]",
    ] {
        assert!(!of(url), "{url}");
    }
}

#[test]
fn a_status_is_read_out_of_the_sdks_text() {
    assert_eq!(
        status_in("HTTP 404 Not Found: no: page"),
        Some((404, "no: page"))
    );
    assert_eq!(status_in("HTTP 418"), Some((418, "")));
    assert_eq!(status_in("expect initialized, accepted"), None);
    assert_eq!(status_in("HTTP ü"), None);
}
