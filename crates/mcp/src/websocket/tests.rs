use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Response};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::*;
use crate::test_server::{handshake, text_answer};
use crate::{Advice, ErrorKind, Notice, Protocol, ServerError, ServerSpec, Session, TransportSpec};

const LONG: Duration = Duration::from_secs(600);

type Server = WebSocketStream<TcpStream>;

/// A server that takes connections with `taken`, and answers the first call of each with `answer`.
async fn serve<F: Future<Output = ()> + Send>(
    taken: impl Fn(&Request, Response) -> Result<Response, ErrorResponse>
    + Copy
    + Send
    + Unpin
    + 'static,
    answer: impl Fn(Server, Value) -> F + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut server) = tokio_tungstenite::accept_hdr_async(stream, taken).await else {
                continue;
            };
            while let Some(Ok(message)) = server.next().await {
                let Message::Text(text) = message else {
                    continue;
                };
                let message: Value = serde_json::from_str(&text).expect("JSON");
                if let Some(answer) = handshake(&message) {
                    let answer = Message::text(answer.to_string());
                    server.send(answer).await.expect("sent");
                } else if message["method"] == "tools/call" {
                    answer(server, message).await;
                    break;
                }
            }
        }
    });
    address
}

fn takes(request: &Request, mut response: Response) -> Result<Response, ErrorResponse> {
    let wanted = request.headers().get(SEC_WEBSOCKET_PROTOCOL);
    if let Some(wanted) = wanted {
        let wanted = wanted.clone();
        response
            .headers_mut()
            .insert(SEC_WEBSOCKET_PROTOCOL, wanted);
    }
    Ok(response)
}

fn takes_silently(_: &Request, response: Response) -> Result<Response, ErrorResponse> {
    Ok(response)
}

fn refuses(request: &Request, _: Response) -> Result<Response, ErrorResponse> {
    let token = request.headers().get(AUTHORIZATION).cloned();
    let mut refusal = ErrorResponse::new(Some(format!("not with {token:?}")));
    *refusal.status_mut() = reqwest::StatusCode::UNAUTHORIZED;
    Err(refusal)
}

async fn nothing(_: Server, _: Value) {}

async fn start(address: SocketAddr) -> Result<Session, ServerError> {
    let token = "Bearer my-own-secret".to_owned();
    let spec = ServerSpec {
        name: "live".to_owned(),
        transport: TransportSpec::WebSocket {
            url: format!("ws://{address}/ws"),
            headers: vec![("Authorization".to_owned(), token)],
        },
        protocol: Protocol::Auto,
        start_timeout: LONG,
        allowed_tools: None,
        source: ".mcp.json".to_owned(),
    };
    Session::start(&spec, &[]).await
}

/// A session, and the outcome of its one call.
async fn called<F: Future<Output = ()> + Send>(
    answer: impl Fn(Server, Value) -> F + Send + 'static,
) -> (Session, Result<String, ServerError>) {
    let session = start(serve(takes, answer).await).await.expect("it starts");
    let reply = session.call("x", Map::new(), LONG).await;
    let reply = reply.map(|reply| format!("{:?}", reply.content));
    (session, reply)
}

#[tokio::test]
async fn frames_of_both_kinds_are_messages_and_pings_are_answered() {
    let (session, reply) = called(|mut server, call| async move {
        server.send(Message::Ping(b"are you there".to_vec().into())).await.expect("sent");
        loop {
            match server.next().await {
                Some(Ok(Message::Pong(pong))) if *pong == b"are you there"[..] => break,
                Some(Ok(_)) => {}
                other => panic!("{other:?}"),
            }
        }
        let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"psst"}}"#;
        server.send(Message::text(note)).await.expect("sent");
        let answer = text_answer(&call, "told").to_string();
        server.send(Message::binary(answer.into_bytes())).await.expect("sent");
        // Until the other side leaves.
        while let Some(Ok(_)) = server.next().await {}
    })
    .await;
    assert_eq!(session.info().transport, "ws");
    assert!(reply.expect("an answer").contains("told"));
    let notices = session.drain_notices();
    assert!(matches!(&notices[..], [Notice::Log { .. }]), "{notices:?}");
    session.stop().await;
}

#[tokio::test]
async fn a_server_that_does_not_name_the_subprotocol_is_taken() {
    let session = start(serve(takes_silently, nothing).await).await;
    session.expect("it starts");
}

#[tokio::test]
async fn a_refused_handshake_tells_its_status_and_no_secret() {
    let error = start(serve(refuses, nothing).await)
        .await
        .expect_err("refused");
    let told = error.to_string();
    assert!(
        told.starts_with("server `live` answered the WebSocket handshake with HTTP 401: not with"),
        "{told}"
    );
    assert!(!told.contains("my-own-secret"), "{told}");
    assert!(error.help().expect("help").contains("Authorization"));
}

#[tokio::test]
async fn a_close_frame_tells_its_code_and_reason() {
    let (session, reply) = called(|mut server, _| async move {
        let frame = CloseFrame {
            code: CloseCode::Error,
            reason: "out of tape".into(),
        };
        server.close(Some(frame)).await.expect("sent");
    })
    .await;
    assert_eq!(
        reply.expect_err("closed").to_string(),
        "server `live` closed the connection before it answered `x`: close code 1011, `out of tape`"
    );
    assert!(session.is_over());
}

#[tokio::test]
async fn a_connection_that_breaks_off_is_no_goodbye() {
    let (session, reply) = called(|server, _| async move { drop(server) }).await;
    let told = reply.expect_err("broken").to_string();
    assert!(
        told.ends_with(": it closed the connection without a close frame"),
        "{told}"
    );
    assert!(session.is_over());
}

#[tokio::test]
async fn bad_frames_fail_the_call_that_is_open_and_are_noted() {
    let (session, reply) = called(|mut server, _| async move {
        for text in ["hello?", "{\"jsonrpc\": \"2.0\", oops"] {
            server.send(Message::text(text)).await.expect("sent");
        }
        while let Some(Ok(_)) = server.next().await {}
    })
    .await;
    let error = reply.expect_err("no answer");
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
async fn a_message_over_the_bound_is_named() {
    let (session, reply) = called(|mut server, _| async move {
        let _ = server
            .send(Message::binary(vec![b' '; LARGEST_FRAME + 1]))
            .await;
    })
    .await;
    assert_eq!(
        reply.expect_err("too large").kind,
        ErrorKind::TooLarge {
            bound: LARGEST_FRAME
        }
    );
    assert!(session.is_over());
}

#[test]
fn a_login_in_the_address_becomes_a_header() {
    let request = request("ws://ada:pa%20ss@h/ws?a=b#c", &[]).expect("it is valid");
    assert_eq!(request.uri(), "ws://h/ws?a=b");
    let login = request.headers().get(AUTHORIZATION).expect("a login");
    assert_eq!(
        login,
        &format!("Basic {}", BASE64_STANDARD.encode("ada:pa ss"))
    );
    assert!(login.is_sensitive());
}

#[test]
fn headers_of_the_handshake_are_not_the_users() {
    for name in ["Upgrade", "Sec-WebSocket-Key", "Accept"] {
        let headers = [(name.to_owned(), "x".to_owned())];
        let error = super::request("ws://h/ws", &headers).expect_err("it is ours");
        let help = Advice::Correct("headers");
        assert!(
            matches!(error, ErrorKind::Unusable { help: given, .. } if given == help),
            "{name}"
        );
    }
}
