//! Time, size, strangers, and files that can't be played.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::runtime::clock::Stopwatch;
use crate::runtime::patience::Patience;

const LATE: &str = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[120, \"Late\"]]}]
";

#[tokio::test]
async fn answers_come_when_they_are_due_and_not_before() {
    let played = Played::timeline(LATE).await;
    let since = Stopwatch::start();
    assert_eq!(played.chat(said("Begin")).await.content(), "Late");
    assert!(since.elapsed() >= Duration::from_millis(120));
    let played = Played::with(&LATE.replace("120", "3600000"), |options| {
        options.speed = cuecard_core::script::timeline::Speed::new(0.0, 0.0).expect("a speed");
    })
    .await;
    assert_eq!(played.chat(said("Begin")).await.content(), "Late");
}

#[tokio::test]
async fn a_stream_that_is_left_or_cut_ends_alone() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"Once \"], [3600000, \"upon\"]]}]
";
    let played = Played::timeline(timeline).await;
    let body = json!({"model": "m", "stream": true, "messages": said("Begin")});
    let send = |session: &'static str| {
        played
            .client
            .post(played.url(CHAT))
            .header("x-cuecard-session", session)
            .json(&body)
            .send()
    };
    let mut left = send("left").await.expect("a stream");
    assert!(left.chunk().await.expect("a chunk").is_some());
    drop(left);
    let mut open = send("open").await.expect("a stream");
    assert!(open.chunk().await.expect("a chunk").is_some());
    assert_eq!(played.get("/health").await.json()["sessions"], 2);
    // Stopping ends the stream that is still open, though it is not due for an hour.
    assert!(played.running.stop().await.passed);
    while let Ok(Some(_)) = open.chunk().await {}
}

#[tokio::test]
async fn bodies_are_bounded_and_the_refusal_has_the_provider_s_form() {
    let played = Played::with(LATE, |options| options.body_limit = 1_000).await;
    let body = json!({"model": "m", "max_tokens": 9, "messages": said(&"x".repeat(2_000_000))});
    let refused = played.post("/v1/messages", &body).await;
    assert_eq!(refused.status, 413);
    assert_eq!(refused.json()["error"]["type"], "request_too_large");
    assert!(
        refused.text.contains("limit of 1000 bytes"),
        "{}",
        refused.text
    );
}

#[tokio::test]
async fn clients_that_never_finish_are_let_go() {
    let played = Played::with(LATE, |options| {
        options.patience = Patience {
            request: Duration::from_millis(50),
            idle: Duration::from_millis(200),
            answer: Duration::from_secs(5),
        };
    })
    .await;
    for half in [
        "",
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n",
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{",
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", played.running.port()))
            .await
            .expect("listening");
        stream.write_all(half.as_bytes()).await.expect("open");
        let mut rest = Vec::new();
        // It ends, whether with an answer or without one.
        let _ = stream.read_to_end(&mut rest).await;
    }
    // An answer that takes longer than any of that is waited for.
    assert_eq!(played.chat(said("Begin")).await.content(), "Late");
}

#[tokio::test]
async fn a_token_is_asked_for_in_every_header_that_holds_keys() {
    let played = Played::with(LATE, |options| options.token = Some("s3cret".into())).await;
    let body = json!({"model": "m", "max_tokens": 9, "messages": said("Begin")});
    let refused = played
        .post_with("/v1/messages", &body, &[("x-api-key", "wrong")])
        .await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.json()["error"]["type"], "authentication_error");
    for (name, value) in [
        ("x-api-key", "s3cret"),
        ("x-goog-api-key", "s3cret"),
        ("authorization", "Bearer s3cret"),
    ] {
        assert_eq!(
            played
                .post_with("/v1/messages", &body, &[(name, value)])
                .await
                .status,
            200,
            "{name}"
        );
    }
    let page = [("origin", "https://evil.example"), ("x-api-key", "s3cret")];
    assert_eq!(
        played.post_with("/v1/messages", &body, &page).await.status,
        403
    );
}

#[tokio::test]
async fn bad_files_keep_it_from_starting_and_all_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writable");
    write("good.yaml", &format!("name: good\ntimeline:\n{LATE}"));
    write(
        "bad.yaml",
        "name: bad\ntimeline:\n  - userInptus: [[0, x]]\n",
    );
    write("worse.yml", "name: [\n");
    let Err(StartError::Files(found)) = MockLlm::from_file(folder.path()).start().await else {
        panic!("it started");
    };
    let codes: Vec<_> = found.iter().map(|found| found.code.name()).collect();
    assert_eq!(codes, ["T-LOAD-06", "T-LOAD-01"]);
    let played = Played::start(folder, |options| options.skip_bad = true).await;
    assert_eq!(played.running.left_out().len(), 2);
    assert_eq!(played.chat(said("Begin")).await.content(), "Late");

    let empty = tempfile::tempdir().expect("a folder");
    let Err(StartError::Files(found)) = MockLlm::from_file(empty.path()).start().await else {
        panic!("it started");
    };
    assert_eq!(found[0].code.name(), "T-LOAD-20");
}

#[tokio::test]
async fn a_port_that_is_taken_and_an_unknown_name_keep_it_from_starting() {
    let played = Played::timeline(LATE).await;
    let path = played.folder.path().join("a.yaml");
    let taken = MockLlm::from_file(&path)
        .port(played.running.port())
        .start()
        .await;
    assert!(matches!(taken, Err(StartError::Listener(_))), "{taken:?}");
    let unknown = MockLlm::from_file(&path)
        .with(|options| options.scenario_name = Some("other".into()))
        .start()
        .await;
    let Err(StartError::Files(found)) = unknown else {
        panic!("it started");
    };
    assert_eq!(found[0].code.name(), "T-SEL-01");
}
