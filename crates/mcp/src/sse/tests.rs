use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::*;
use crate::test_server::{handshake, read_request, text_answer};
use crate::{ErrorKind, Notice, Protocol, ServerError, ServerSpec, Session, TransportSpec};

const LONG: Duration = Duration::from_secs(600);

/// What is done with one message.
enum Reply {
    /// It is taken, and the event stream says this, as it is.
    Raw(String),
    /// It is refused.
    Status(&'static str),
    /// The event stream ends.
    Break,
}

fn event(message: &Value) -> Reply {
    Reply::Raw(format!("event: message\ndata: {message}\n\n"))
}

/// A server whose event stream begins with `beginning`.
async fn serve(
    beginning: impl Fn(SocketAddr) -> String + Send + Sync + 'static,
    reply: impl Fn(&str, &Value) -> Reply + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let beginning = beginning(address);
    let reply = Arc::new(reply);
    tokio::spawn(async move {
        let mut events = None;
        while let Ok((mut stream, _)) = listener.accept().await {
            let (head, body) = read_request(&mut stream).await.expect("a request");
            if head.starts_with("get") {
                let (says, said) = mpsc::unbounded_channel();
                events = Some(says);
                tokio::spawn(stream_events(stream, beginning.clone(), said));
                continue;
            }
            let status = match handshake(&body).map(|answer| event(&answer)) {
                Some(answer) => say(&mut events, answer),
                None if body["method"] == "notifications/initialized" => "202 Accepted",
                None => say(&mut events, reply(&head, &body)),
            };
            let response =
                format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 2\r\n\r\nno");
            let _ = stream.write_all(response.as_bytes()).await;
        }
    });
    address
}

fn say(events: &mut Option<mpsc::UnboundedSender<String>>, reply: Reply) -> &'static str {
    match reply {
        Reply::Raw(text) => {
            let _ = events.as_ref().expect("a stream").send(text);
            "202 Accepted"
        }
        Reply::Status(status) => status,
        Reply::Break => {
            *events = None;
            "202 Accepted"
        }
    }
}

async fn stream_events(
    mut stream: TcpStream,
    beginning: String,
    mut said: mpsc::UnboundedReceiver<String>,
) {
    let _ = stream.write_all(beginning.as_bytes()).await;
    while let Some(text) = said.recv().await {
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

const HEAD: &str =
    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";

fn usual(_: SocketAddr) -> String {
    format!("{HEAD}: hello\n\nevent: endpoint\ndata: /messages?session=1\n\n")
}

fn spec(address: SocketAddr, or_sse: bool) -> ServerSpec {
    let url = format!("http://{address}/sse");
    let headers = vec![(
        "Authorization".to_owned(),
        "Bearer my-own-secret".to_owned(),
    )];
    ServerSpec {
        name: "old".to_owned(),
        transport: match or_sse {
            true => TransportSpec::Http {
                auth: None,
                url,
                headers,
                or_sse,
            },
            false => TransportSpec::Sse { url, headers },
        },
        protocol: Protocol::Auto,
        start_timeout: LONG,
        allowed_tools: None,
        source: ".mcp.json".to_owned(),
    }
}

async fn start(address: SocketAddr) -> Result<Session, ServerError> {
    Session::start(&spec(address, false), &[]).await
}

async fn call(session: &Session) -> Result<Value, ServerError> {
    let reply = session.call("x", Map::new(), LONG).await?;
    Ok(json!(format!("{:?}", reply.content)))
}

/// The error of a start against a server whose event stream begins like this.
async fn refusal(beginning: impl Fn(SocketAddr) -> String + Send + Sync + 'static) -> String {
    let address = serve(beginning, |_, _| Reply::Break).await;
    let error = start(address).await.expect_err("it does not start");
    error.to_string()
}

#[tokio::test]
async fn messages_go_to_the_address_that_the_stream_names_with_the_headers() {
    let address = serve(usual, |head, body| {
        let fits = head.starts_with("post /messages?session=1 ")
            && head.contains("authorization: bearer my-own-secret")
            && head.contains("content-type: application/json");
        event(&text_answer(body, if fits { "fits" } else { head }))
    })
    .await;
    let session = start(address).await.expect("it starts");
    assert_eq!(session.info().transport, "sse");
    let answer = call(&session).await.expect("an answer").to_string();
    assert!(answer.contains("fits"), "{answer}");
}

#[tokio::test]
async fn every_form_of_an_event_is_read_and_other_events_are_not() {
    let address = serve(usual, |_, body| {
        let answer = text_answer(body, "told").to_string();
        let (first, second) = answer.split_at(answer.find("\"id\"").expect("an id"));
        Reply::Raw(format!(
            ": a comment\r\n\r\nevent: ping\ndata: {{\"jsonrpc\": broken\n\nid: 7\nretry: soon\nid\nnobody: knows\nthis\ndata: {first}\ndata: {second}\n\n"
        ))
    })
    .await;
    let session = start(address).await.expect("it starts");
    assert!(call(&session).await.is_ok());
    assert_eq!(session.drain_notices(), []);
}

#[tokio::test]
async fn an_address_on_another_host_gets_no_message() {
    let told = refusal(|address| {
        let port = address.port();
        format!("{HEAD}event: endpoint\ndata: http://localhost:{port}/messages?token=abc\n\n")
    })
    .await;
    assert!(
        told.contains("the message endpoint is on another host, `http://localhost:")
            && !told.contains("abc"),
        "{told}"
    );
}

#[tokio::test]
async fn what_is_no_event_stream_is_told() {
    let html = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/html\r\n\r\n<p>hi";
    assert_eq!(
        refusal(move |_| html.to_owned()).await,
        "server `old` violated the protocol while answering initialize: its content type is `text/html`, not an event stream"
    );
    let ended = refusal(|_| {
        format!(
            "{}event: endpoint\ndata: /m\n",
            HEAD.replace("close\r\n", "close\r\ncontent-length: 5\r\n")
        )
    })
    .await;
    assert!(
        ended.contains("ended before it sent a message endpoint"),
        "{ended}"
    );
    let without = refusal(|_| format!("{HEAD}{}", "data: x\n\n".repeat(MOST_EVENTS_BEFORE))).await;
    assert!(
        without.contains("the first 100 events contain no message endpoint"),
        "{without}"
    );
    let status = "HTTP/1.1 401 No\r\nconnection: close\r\ncontent-length: 3\r\n\r\nwho";
    assert_eq!(
        refusal(move |_| status.to_owned()).await,
        "server `old` answered the request for its event stream with HTTP 401: who"
    );
}

#[tokio::test]
async fn an_address_that_never_answers_is_given_up_in_time() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let mut spec = spec(address, false);
    spec.start_timeout = Duration::from_millis(200);
    let error = Session::start(&spec, &[]).await.expect_err("no answer");
    assert_eq!(
        error.to_string(),
        "server `old` did not accept the connection within 0.2 s"
    );
}

#[tokio::test]
async fn a_message_that_is_refused_fails_its_call_at_once() {
    let address = serve(usual, |_, _| Reply::Status("503 Busy")).await;
    let session = start(address).await.expect("it starts");
    let error = call(&session).await.expect_err("refused");
    let ErrorKind::Http { status, text, .. } = error.kind else {
        panic!("{error}")
    };
    assert_eq!((status, &*text), (503, "no"));
    assert!(!session.is_over());
}

#[tokio::test]
async fn a_stream_that_ends_fails_the_call_at_once_and_ends_the_session() {
    let address = serve(usual, |_, _| Reply::Break).await;
    let session = start(address).await.expect("it starts");
    let error = call(&session).await.expect_err("broken");
    let told = error.to_string();
    assert!(
        told.starts_with(
            "server `old` closed the connection before it answered `x`: its event stream"
        ),
        "{told}"
    );
    assert!(session.is_over());
}

#[tokio::test]
async fn bad_frames_fail_the_call_that_is_open_and_are_noted() {
    let address = serve(usual, |_, _| {
        Reply::Raw("data: hello?\n\ndata: {\"jsonrpc\": \"2.0\", oops\n\n".to_owned())
    })
    .await;
    let session = start(address).await.expect("it starts");
    let error = call(&session).await.expect_err("it is no answer");
    assert!(matches!(error.kind, ErrorKind::Protocol { .. }), "{error}");
    let bad = session.drain_notices();
    assert_eq!(bad.len(), 2, "{bad:?}");
    assert!(
        bad.iter()
            .all(|notice| matches!(notice, Notice::BadFrame { .. })),
        "{bad:?}"
    );
}

#[tokio::test]
async fn an_event_over_the_bound_is_named() {
    let address = serve(usual, |_, _| {
        Reply::Raw(format!("data: {}", "x".repeat(LARGEST_FRAME + 1)))
    })
    .await;
    let session = start(address).await.expect("it starts");
    let error = call(&session).await.expect_err("too large");
    assert_eq!(
        error.kind,
        ErrorKind::TooLarge {
            bound: LARGEST_FRAME
        }
    );
}

#[tokio::test]
async fn an_address_without_a_type_falls_back_and_tells_both_failures() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (head, _) = read_request(&mut stream).await.expect("a request");
            let status = if head.starts_with("get") {
                "410 Gone"
            } else {
                "405 No"
            };
            let response =
                format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
            let _ = stream.write_all(response.as_bytes()).await;
        }
    });
    let error = Session::start(&spec(address, true), &[])
        .await
        .expect_err("it is neither");
    assert_eq!(
        error.to_string(),
        "server `old` answered initialize with HTTP 405, and the older transport, HTTP with SSE, \
         failed too: server `old` answered the request for its event stream with HTTP 410"
    );
}
