//! Fetching from a server of one's own on the loopback.

use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;

use async_compression::tokio::bufread::{BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder};
use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use reqwest::Url;

use super::*;
use cuecard_runtime::policy::is_private;

/// Admits all, and notes what it was asked.
#[derive(Default)]
struct Open(Mutex<Vec<(String, usize)>>);

impl FetchGate for Open {
    fn check(&self, url: &Url, addresses: &[IpAddr]) -> Result<(), String> {
        self.0
            .lock()
            .expect("not poisoned")
            .push((url.to_string(), addresses.len()));
        Ok(())
    }
}

/// Admits one host by its name, whatever its address.
struct Only(&'static str);

impl FetchGate for Only {
    fn check(&self, url: &Url, _addresses: &[IpAddr]) -> Result<(), String> {
        if url.host_str() == Some(self.0) {
            Ok(())
        } else {
            Err("not on the list".to_owned())
        }
    }
}

/// Admits public addresses.
struct Public;

impl FetchGate for Public {
    fn check(&self, _url: &Url, addresses: &[IpAddr]) -> Result<(), String> {
        match addresses.iter().find(|address| is_private(**address)) {
            Some(address) => Err(format!("its address `{address}` is private")),
            None => Ok(()),
        }
    }
}

fn typed(content_type: &'static str, body: impl Into<Vec<u8>>) -> Response {
    ([(header::CONTENT_TYPE, content_type)], body.into()).into_response()
}

const TEXT: &str = "all the same, all the same, all the same";

fn encoded(encoding: &'static str, body: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/plain"),
        (header::CONTENT_ENCODING, encoding),
    ];
    (headers, body).into_response()
}

async fn compressed(mut encoder: impl tokio::io::AsyncRead + Unpin) -> Vec<u8> {
    let mut bytes = Vec::new();
    encoder.read_to_end(&mut bytes).await.expect("compressed");
    bytes
}

fn redirect(to: String) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, to)]).into_response()
}

async fn page(Path(name): Path<String>, headers: HeaderMap) -> Response {
    match name.as_str() {
        "html" => typed(
            "text/html; charset=utf-8",
            "<h1>Title</h1><script>no</script><p>Text",
        ),
        "sniffed" => typed(
            "application/octet-stream",
            "<!doctype html><h1>Sniffed</h1>",
        ),
        "json" => typed("application/json", "{\"a\": [1, 2]}"),
        "latin1" => typed("text/plain; charset=ISO-8859-1", b"caf\xE9".to_vec()),
        "sjis" => typed("text/plain; charset=shift_jis", b"\x83\x65".to_vec()),
        "png" => typed("image/png", b"\x89PNG\0\0".to_vec()),
        "unknown" => typed("application/octet-stream", vec![0; 10]),
        "zstd" => encoded("zstd", b"x".to_vec()),
        "gzip" => encoded("gzip", compressed(GzipEncoder::new(TEXT.as_bytes())).await),
        "deflate" => encoded(
            "deflate",
            compressed(ZlibEncoder::new(TEXT.as_bytes())).await,
        ),
        "raw-deflate" => encoded(
            "deflate",
            compressed(DeflateEncoder::new(TEXT.as_bytes())).await,
        ),
        "br" => encoded("br", compressed(BrotliEncoder::new(TEXT.as_bytes())).await),
        "twice" => {
            let once = compressed(BrotliEncoder::new(TEXT.as_bytes())).await;
            encoded(
                "br, gzip",
                compressed(GzipEncoder::new(once.as_slice())).await,
            )
        }
        "broken-gzip" => encoded("gzip", b"no gzip at all".to_vec()),
        "bomb" => {
            let zeros = vec![b' '; 200 << 20];
            encoded("gzip", compressed(GzipEncoder::new(zeros.as_slice())).await)
        }
        "nothing-gzip" => encoded("gzip", Vec::new()),
        "missing" => (StatusCode::NOT_FOUND, typed("text/plain", "no such page")).into_response(),
        "missing-png" => (StatusCode::NOT_FOUND, typed("image/png", vec![0])).into_response(),
        "empty" => StatusCode::NO_CONTENT.into_response(),
        "huge" => typed("text/plain", "é".repeat(2_000_000)),
        "endless" => {
            let chunks =
                futures::stream::repeat_with(|| Ok::<_, std::io::Error>("x".repeat(65_536)));
            (
                [(header::CONTENT_TYPE, "text/plain")],
                axum::body::Body::from_stream(chunks),
            )
                .into_response()
        }
        "silent" => std::future::pending().await,
        "stalled" => {
            let start = futures::stream::iter([Ok::<_, std::io::Error>("start")]);
            let chunks = futures::StreamExt::chain(start, futures::stream::pending());
            (
                [(header::CONTENT_TYPE, "text/plain")],
                axum::body::Body::from_stream(chunks),
            )
                .into_response()
        }
        "loop" => redirect("loop".into()),
        "hop" => redirect("/pages/html#part".into()),
        "elsewhere" => redirect("http://elsewhere.test/".into()),
        "to-file" => redirect("file:///etc/passwd".into()),
        "to-nonsense" => redirect("http://[".into()),
        "no-location" => StatusCode::FOUND.into_response(),
        "headers" => {
            let names: Vec<String> = headers
                .iter()
                .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap_or("?")))
                .collect();
            typed("text/plain", names.join("\n"))
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Starts the server; its address is ready when this returns.
async fn serve() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    let app = Router::new().route("/pages/{name}", get(page));
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}/pages")
}

async fn fetched(name: &str) -> Result<Fetched, WorkspaceError> {
    let base = serve().await;
    fetch(
        FetchRequest::new(format!("{base}/{name}")),
        &Open::default(),
    )
    .await
}

async fn content(name: &str) -> String {
    fetched(name).await.expect("an answer").content
}

#[tokio::test]
async fn html_is_markdown_and_other_text_is_as_it_is() {
    let page = fetched("html").await.expect("an answer");
    assert_eq!(page.content, "# Title\n\nText");
    assert_eq!(
        page.content_type.as_deref(),
        Some("text/html; charset=utf-8")
    );
    assert_eq!((page.status, page.truncated), (200, false));
    assert_eq!(content("sniffed").await, "# Sniffed");
    assert_eq!(content("json").await, "{\"a\": [1, 2]}");
    assert_eq!(content("latin1").await, "café");
    assert_eq!(content("sjis").await, "テ");
    assert_eq!(content("empty").await, "");
    let json = serde_json::to_value(&page).expect("serialises");
    let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        ["content", "url", "status", "content_type", "truncated"]
    );
}

#[tokio::test]
async fn what_is_not_text_is_an_error_that_says_what_it_is() {
    let error = fetched("png").await.expect_err("an image");
    assert!(
        error
            .to_string()
            .ends_with("/png` is not text but `image/png`, 6 bytes"),
        "{error}"
    );
    assert!(error.help().is_some());
    let error = fetched("unknown").await.expect_err("zeros");
    assert!(
        error
            .to_string()
            .ends_with("`application/octet-stream`, 10 bytes"),
        "{error}"
    );
    let error = fetched("zstd").await.expect_err("compressed otherwise");
    assert!(
        error.to_string().contains("compressed as `zstd`"),
        "{error}"
    );
}

#[tokio::test]
async fn compressed_bodies_are_decompressed() {
    for name in ["gzip", "deflate", "raw-deflate", "br", "twice"] {
        assert_eq!(content(name).await, TEXT, "{name}");
    }
    assert_eq!(content("nothing-gzip").await, "");
    let error = fetched("broken-gzip").await.expect_err("no gzip");
    assert!(error.to_string().contains("ended after 0 bytes"), "{error}");
    // The limit is one of what is decompressed.
    let page = fetched("bomb").await.expect("an answer");
    assert_eq!(
        (page.content.len(), page.truncated),
        (DEFAULT_MAX_BYTES, true)
    );
}

#[tokio::test]
async fn an_error_status_is_an_answer() {
    let page = fetched("missing").await.expect("an answer");
    assert_eq!((page.status, page.content.as_str()), (404, "no such page"));
    let page = fetched("missing-png").await.expect("an answer");
    assert_eq!((page.status, page.content.as_str()), (404, ""));
}

#[tokio::test]
async fn a_body_is_bounded() {
    let page = fetched("endless").await.expect("an answer");
    assert_eq!(
        (page.content.len(), page.truncated),
        (DEFAULT_MAX_BYTES, true)
    );
    let base = serve().await;
    let mut request = FetchRequest::new(format!("{base}/huge"));
    request.max_bytes = 1_001;
    let page = fetch(request, &Open::default()).await.expect("an answer");
    assert_eq!((page.content, page.truncated), ("é".repeat(500), true));
    let mut request = FetchRequest::new(format!("{base}/huge"));
    request.max_bytes = 4_000_000;
    let page = fetch(request, &Open::default()).await.expect("an answer");
    assert_eq!((page.content.len(), page.truncated), (4_000_000, false));
}

#[tokio::test]
async fn redirects_are_followed_and_each_hop_is_judged() {
    let base = serve().await;
    let gate = Open::default();
    let page = fetch(FetchRequest::new(format!("{base}/hop")), &gate)
        .await
        .expect("an answer");
    assert_eq!(page.url, format!("{base}/html#part"));
    let asked = gate.0.into_inner().expect("not poisoned");
    let hop = format!("{base}/hop");
    assert_eq!(
        asked,
        [
            (hop.clone(), 0),
            (hop, 1),
            (page.url.clone(), 0),
            (page.url, 1)
        ]
    );
    assert_eq!(fetched("no-location").await.expect("an answer").status, 302);
}

#[tokio::test]
async fn redirects_that_lead_nowhere_are_errors() {
    let error = fetched("loop").await.expect_err("a loop");
    assert!(
        error.to_string().starts_with("too many redirects: 10"),
        "{error}"
    );
    let error = fetched("to-file").await.expect_err("a file");
    assert!(error.to_string().ends_with("the scheme `file`"), "{error}");
    let error = fetched("to-nonsense").await.expect_err("no URL");
    assert!(error.to_string().contains("which is not a URL"), "{error}");
}

#[tokio::test]
async fn a_redirect_to_another_host_needs_the_gate_s_consent() {
    let base = serve().await;
    let request = FetchRequest::new(format!("{base}/elsewhere"));
    let error = fetch(request, &Only("127.0.0.1"))
        .await
        .expect_err("refused");
    assert_eq!(
        error.to_string(),
        "`http://elsewhere.test/` may not be fetched: not on the list"
    );
}

#[tokio::test]
async fn a_private_address_is_seen_behind_every_spelling() {
    let base = serve().await;
    let port = Url::parse(&base).expect("a URL").port().expect("a port");
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "localhost",
        "[::ffff:127.0.0.1]",
    ] {
        let request = FetchRequest::new(format!("http://{host}:{port}/pages/html"));
        let error = fetch(request, &Public).await.expect_err(host);
        assert!(
            error.to_string().contains("may not be fetched"),
            "{host}: {error}"
        );
    }
}

#[tokio::test]
async fn a_connection_goes_to_the_pinned_address_whatever_the_name() {
    let base = serve().await;
    let port = Url::parse(&base).expect("a URL").port().expect("a port");
    cuecard_runtime::tls::install();
    let url = Url::parse(&format!("http://pinned.invalid:{port}/pages/json")).expect("a URL");
    let response = send(&url, &[([127, 0, 0, 1], port).into()])
        .await
        .expect("an answer");
    assert_eq!(response.status(), 200);
}

#[tokio::test]
async fn what_takes_too_long_says_what_it_was_doing() {
    let base = serve().await;
    let mut stages = Vec::new();
    for name in ["silent", "stalled"] {
        // On a busy machine the first times may be too short for an answer to begin.
        for timeout in [200, 800, 3_200, 12_800] {
            let mut request = FetchRequest::new(format!("{base}/{name}"));
            request.timeout = Duration::from_millis(timeout);
            let error = fetch(request, &Open::default())
                .await
                .expect_err("too long");
            assert!(error.is_timeout(), "{error}");
            let is_in_body = error.to_string().ends_with(BODY);
            stages.push((name, is_in_body));
            if name == "silent" || is_in_body {
                break;
            }
        }
    }
    assert_eq!(stages.first(), Some(&("silent", false)));
    assert_eq!(stages.last(), Some(&("stalled", true)));
}

#[tokio::test]
async fn what_cannot_be_fetched_is_an_error() {
    let open = Open::default();
    for (url, part) in [
        ("file:///etc/passwd", "has the scheme `file`"),
        ("ftp://x/", "has the scheme `ftp`"),
        ("data:text/plain,x", "has the scheme `data`"),
        ("example.com/x", "is not a URL"),
        ("http://", "is not a URL"),
    ] {
        let error = fetch(FetchRequest::new(url), &open).await.expect_err(url);
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = fetch(FetchRequest::new("example.com/x"), &open)
        .await
        .expect_err("no scheme");
    assert_eq!(
        error.help().as_deref(),
        Some("write `https://example.com/x`")
    );
    // No name has so long a part; nobody needs to be asked.
    let nobody = format!("http://{}.invalid/", "a".repeat(70));
    let error = fetch(FetchRequest::new(nobody), &open)
        .await
        .expect_err("no host");
    assert!(error.to_string().contains("was not found"), "{error}");
    // A server that doesn't speak TLS: the client has its roots and its provider, and says what is wrong.
    let base = serve().await.replace("http://", "https://");
    let error = fetch(FetchRequest::new(format!("{base}/html")), &open)
        .await
        .expect_err("no TLS");
    assert!(error.to_string().starts_with("no answer from"), "{error}");
    // A port that was free a moment ago.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let error = fetch(FetchRequest::new(format!("http://{address}/")), &open)
        .await
        .expect_err("closed");
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn little_is_sent_and_no_password_is_shown() {
    let base = serve().await.replace("http://", "http://me:secret@");
    let page = fetch(
        FetchRequest::new(format!("{base}/headers")),
        &Open::default(),
    )
    .await
    .expect("an answer");
    assert!(
        !page.url.contains("secret") && !page.url.contains('@'),
        "{}",
        page.url
    );
    assert!(
        page.content.contains("authorization: Basic "),
        "{}",
        page.content
    );
    assert!(
        !page.content.contains("cookie") && !page.content.contains("referer"),
        "{}",
        page.content
    );
}
