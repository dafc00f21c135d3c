//! Time, size, strangers, and files that can't be played.

use std::time::Duration;

use futures::FutureExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use cuecard_runtime::clock::Stopwatch;
use cuecard_runtime::http_server::Timeouts;

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
        options.play.speed = cuecard_timeline::script::Speed::new(0.0, 0.0).expect("a speed");
    })
    .await;
    assert_eq!(played.chat(said("Begin")).await.content(), "Late");
}

/// A stand-in, and the outcome of each exchange as it is told.
async fn outcomes_of(
    timeline: &str,
    require_complete: bool,
) -> (Played, tokio::sync::mpsc::UnboundedReceiver<&'static str>) {
    let (told, outcomes) = tokio::sync::mpsc::unbounded_channel();
    let played = Played::built(timeline, |mock| {
        let mock = mock.with(|options| options.play.require_complete = require_complete);
        mock.watch(Box::new(move |notice| {
            if let Notice::Exchange(exchange) = notice {
                let _ = told.send(exchange.outcome);
            }
        }))
    })
    .await;
    (played, outcomes)
}

/// A stream of which one chunk was read.
async fn begun_stream(played: &Played, session: &str) -> reqwest::Response {
    let body = json!({"model": "m", "stream": true, "messages": said("Begin")});
    let request = played.client.post(played.url(CHAT)).json(&body);
    let request = request.header("x-cuecard-session", session);
    let mut stream = request.send().await.expect("a stream");
    assert!(stream.chunk().await.expect("a chunk").is_some());
    stream
}

const HOUR: &str = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"Once \"], [3600000, \"upon\"]]}]
";

#[tokio::test]
async fn a_stream_that_is_left_or_cut_ends_alone() {
    let (played, mut outcomes) = outcomes_of(HOUR, false).await;
    let left = begun_stream(&played, "left").await;
    let mut open = begun_stream(&played, "open").await;
    drop(left);
    for expected in ["turn", "turn", "cut"] {
        assert_eq!(outcomes.recv().await, Some(expected));
    }
    assert_eq!(played.get("/health").await.json()["sessions"], 2);
    // Stopping cuts the stream that is still open, though it is not due for an hour: it has no clean end.
    let verdict = played.running.stop().await;
    assert!(verdict.passed, "{verdict:?}");
    assert!(verdict.unplayed[0].is_cut, "{verdict:?}");
    let end = loop {
        match open.chunk().await {
            Ok(Some(_)) => {}
            other => break other,
        }
    };
    assert!(end.is_err(), "{end:?}");
    assert_eq!(outcomes.recv().await, Some("cut"));
}

#[tokio::test]
async fn a_turn_that_was_not_sent_whole_is_not_played() {
    let (played, mut outcomes) = outcomes_of(HOUR, true).await;
    drop(begun_stream(&played, "left").await);
    for expected in ["turn", "cut"] {
        assert_eq!(outcomes.recv().await, Some(expected));
    }
    let verdict = played.running.stop().await;
    assert!(!verdict.passed, "{verdict:?}");
    let message = &verdict.findings[0].message;
    assert!(
        message.contains("was not played: its answer was cut"),
        "{message}"
    );

    // Nor is one that its client did not wait for.
    let late = LATE.replace("120", "3600000");
    let (played, mut outcomes) = outcomes_of(&late, true).await;
    let body = json!({"model": "m", "messages": said("Begin")});
    let request = played.client.post(played.url(CHAT)).json(&body);
    let waiting = tokio::spawn(request.send());
    assert_eq!(outcomes.recv().await, Some("turn"));
    waiting.abort();
    assert_eq!(outcomes.recv().await, Some("cut"));
    assert!(!played.running.stop().await.passed);

    // Who asks again and reads it all has it.
    let (played, mut outcomes) = outcomes_of(&HOUR.replace("3600000", "500"), true).await;
    drop(begun_stream(&played, "again").await);
    for expected in ["turn", "cut"] {
        assert_eq!(outcomes.recv().await, Some(expected));
    }
    let stream = begun_stream(&played, "again").await;
    assert!(stream.text().await.expect("a body").contains("[DONE]"));
    let verdict = played.running.stop().await;
    assert!(verdict.passed && verdict.unplayed.is_empty(), "{verdict:?}");
}

#[tokio::test]
async fn each_session_is_judged_for_itself() {
    let (played, mut outcomes) = outcomes_of(&HOUR.replace("3600000", "500"), true).await;
    let whole = begun_stream(&played, "whole").await;
    assert!(whole.text().await.expect("a body").contains("[DONE]"));
    drop(begun_stream(&played, "left").await);
    for expected in ["turn", "turn", "cut"] {
        assert_eq!(outcomes.recv().await, Some(expected));
    }
    let verdict = played.running.stop().await;
    assert!(!verdict.passed, "{verdict:?}");
    let lacking: Vec<_> = verdict
        .sessions
        .iter()
        .map(|it| it.unplayed.as_slice())
        .collect();
    assert_eq!(lacking, [&[][..], &[1]]);
    assert!(verdict.unplayed[0].is_cut, "{verdict:?}");
    let message = &verdict.findings[0].message;
    assert!(message.contains("in the session"), "{message}");
}

#[tokio::test]
async fn who_cancels_as_the_script_says_need_not_read_to_the_end() {
    let cancelled = format!("{HOUR}  - userCancelSession: {{}}\n");
    let (played, mut outcomes) = outcomes_of(&cancelled, true).await;
    drop(begun_stream(&played, "left").await);
    for expected in ["turn", "cut"] {
        assert_eq!(outcomes.recv().await, Some(expected));
    }
    let verdict = played.running.stop().await;
    assert!(verdict.passed && verdict.unplayed.is_empty(), "{verdict:?}");
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
    let verdict = played.running.stop().await;
    assert!(!verdict.passed, "{verdict:?}");
}

#[tokio::test]
async fn a_hundred_megabytes_are_refused_and_kept_nowhere() {
    const MEGABYTE: usize = 1 << 20;
    let played = Played::timeline(LATE).await;
    for declared in [true, false] {
        let framing = match declared {
            true => format!("Content-Length: {}", 100 * MEGABYTE),
            false => "Transfer-Encoding: chunked".to_owned(),
        };
        let head = format!("POST {CHAT} HTTP/1.1\r\nHost: localhost\r\n{framing}\r\n\r\n");
        let stream = half_open(&played, &head).await;
        let (mut answers, mut requests) = stream.into_split();
        let sending = tokio::spawn(async move {
            let megabyte = vec![b' '; MEGABYTE];
            for _ in 0..100 {
                let size = format!("{MEGABYTE:x}\r\n");
                let parts: [&[u8]; 3] = match declared {
                    true => [&megabyte, b"", b""],
                    false => [size.as_bytes(), &megabyte, b"\r\n"],
                };
                for part in parts {
                    // It may be closed before all is sent.
                    if requests.write_all(part).await.is_err() {
                        return requests;
                    }
                }
            }
            requests
        });
        let mut answer = vec![0; 4_096];
        let length = answers.read(&mut answer).await.expect("an answer");
        let answer = String::from_utf8_lossy(&answer[..length]);
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        assert!(answer.contains("limit of 33554432 bytes"), "{answer}");
        drop(sending.await);
    }
    assert_eq!(played.chat(said("Begin")).await.content(), "Late");
}

#[tokio::test]
async fn two_clients_of_one_session_get_the_same_answer() {
    let played = Played::with(LATE, |options| options.n_threads = 2).await;
    let body = json!({"model": "m", "messages": said("Begin")});
    let named = [("x-cuecard-session", "shared")];
    let (one, other) = tokio::join!(
        async {
            Answer::of(
                client()
                    .post(played.url(CHAT))
                    .header(named[0].0, named[0].1)
                    .json(&body),
            )
            .await
        },
        async {
            Answer::of(
                client()
                    .post(played.url(CHAT))
                    .header(named[0].0, named[0].1)
                    .json(&body),
            )
            .await
        },
    );
    assert_eq!(one.content(), "Late");
    assert_eq!(one.json(), other.json(), "ids included");
    let mut outcomes: Vec<&str> = played
        .running
        .exchanges()
        .iter()
        .map(|exchange| exchange.outcome)
        .collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, ["repeat", "turn"]);
}

#[tokio::test]
async fn behind_the_bound_exchanges_are_counted_and_failures_are_told() {
    let played = Played::with(LATE, |options| {
        options.max_exchanges = 2;
        options.play.scenario_name = Some("scenario".into());
    })
    .await;
    let body = json!({"model": "m", "messages": said("Begin")});
    for session in ["1", "2", "3", "4"] {
        let named = [("x-cuecard-session", session)];
        let answer = played.post_with(CHAT, &body, &named).await;
        assert_eq!(answer.content(), "Late");
    }
    let missed = played.post_with(CHAT, &json!({}), &[]).await;
    assert_eq!(missed.status, 400);
    let history = json!([{"role": "user", "content": "Begin"}, {"role": "assistant", "content": "Late"},
        {"role": "user", "content": "More"}]);
    assert_eq!(played.chat(history).await.status, 404);
    assert_eq!(played.running.exchanges().len(), 2);
    let verdict = played.running.stop().await;
    assert_eq!((verdict.n_exchanges, verdict.n_exchanges_left_out), (6, 4));
    assert_eq!((verdict.passed, verdict.n_misses), (false, 1));
    let codes: Vec<_> = verdict
        .findings
        .iter()
        .map(|found| found.code.name())
        .collect();
    assert_eq!(codes, ["X-LIMIT-01", "T-LLM-11", "T-LLM-02"]);
}

#[tokio::test]
async fn what_comes_again_and_again_gets_the_same_bytes() {
    // From the second exchange on nothing is recorded, and from the third on nothing is made anew.
    let played = Played::with(LATE, |options| options.max_exchanges = 1).await;
    let gemini = "/v1beta/models/m:generateContent";
    let asked = [
        (CHAT, json!({"model": "m", "messages": said("Begin")})),
        (
            "/v1/messages",
            json!({"model": "m", "max_tokens": 9, "messages": said("Begin")}),
        ),
        (
            gemini,
            json!({"contents": [{"role": "user", "parts": [{"text": "Begin"}]}]}),
        ),
    ];
    for (path, body) in &asked {
        let named = [("x-cuecard-session", *path)];
        let first = played.post_with(path, body, &named).await;
        let mut ids = vec![first.header("x-request-id").map(str::to_owned)];
        for _ in 0..4 {
            let since = Stopwatch::start();
            let again = played.post_with(path, body, &named).await;
            assert!(since.elapsed() >= Duration::from_millis(120));
            assert_eq!((again.status, &again.text), (first.status, &first.text));
            ids.push(again.header("x-request-id").map(str::to_owned));
        }
        ids.sort();
        ids.dedup();
        assert!(
            ids.len() == 5 || ids == [None],
            "each exchange has its own: {ids:?}"
        );
    }
    // The same request, which wants its answer in another form, or repeated with what is in this one.
    let (path, mut body) = asked[0].clone();
    body["stream"] = json!(true);
    let streamed = played
        .post_with(path, &body, &[("x-cuecard-session", path)])
        .await;
    assert!(streamed.text.contains("[DONE]"), "{}", streamed.text);
    for number in ["1", "2", "3"] {
        let body = json!({"model": "m", "input": "Begin", "metadata": {"number": number}});
        let answer = played.post("/v1/responses", &body).await;
        assert_eq!(answer.json()["metadata"]["number"], number);
    }
}

#[tokio::test]
async fn sessions_are_bounded_and_an_old_one_begins_anew() {
    let played = Played::with(LATE, |options| {
        options.play.max_sessions = 3;
        options.play.speed = cuecard_timeline::script::Speed::new(0.0, 0.0).expect("a speed");
    })
    .await;
    let body = json!({"model": "m", "messages": said("Begin")});
    for number in 0..10 {
        let session = number.to_string();
        let named = [("x-cuecard-session", session.as_str())];
        assert_eq!(
            played.post_with(CHAT, &body, &named).await.content(),
            "Late"
        );
    }
    assert_eq!(played.get("/health").await.json()["sessions"], 3);
    let again = played
        .post_with(CHAT, &body, &[("x-cuecard-session", "0")])
        .await;
    assert_eq!(again.content(), "Late");
    let outcomes: Vec<_> = played
        .running
        .exchanges()
        .iter()
        .map(|exchange| exchange.outcome)
        .collect();
    assert_eq!(outcomes, ["turn"; 11]);
}

#[tokio::test]
async fn clients_that_never_finish_are_let_go() {
    let played = Played::with(LATE, |options| {
        options.timeouts = Timeouts {
            head: Duration::from_millis(200),
            body: Duration::from_millis(50),
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
async fn a_client_that_never_reads_its_answers_is_let_go() {
    let long = "Once upon a time. ".repeat(60_000);
    let timeline = format!(
        "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: [{{assistant: [[0, \"{long}\"]]}}]\n"
    );
    let played = Played::with(&timeline, |options| {
        options.timeouts = Timeouts {
            answer: Duration::from_millis(100),
            ..Timeouts::default()
        };
    })
    .await;
    let body = json!({"model": "m", "messages": said("Begin")}).to_string();
    let request = format!(
        "POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = half_open(&played, "").await;
    // Answers fill what the system keeps for a connection, then nothing moves until the connection ends.
    while stream.write_all(request.as_bytes()).await.is_ok() {}
    assert_eq!(played.chat(said("Begin")).await.content(), long.as_str());
}

/// A connection over which nothing, or the beginning of a request, was sent.
async fn half_open(played: &Played, half: &str) -> TcpStream {
    let address = ("127.0.0.1", played.running.port());
    let mut stream = TcpStream::connect(address).await.expect("listening");
    stream.write_all(half.as_bytes()).await.expect("open");
    stream
}

#[tokio::test]
async fn connections_that_wait_make_room_and_answers_go_on() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"Once \"], [3600000, \"upon\"]]}]
";
    let played = Played::with(timeline, |options| {
        options.max_connections = 4;
        options.timeouts.head = Duration::from_millis(100);
    })
    .await;
    let body = json!({"model": "m", "stream": true, "messages": said("Begin")});
    let stream = played.client.post(played.url(CHAT)).json(&body).send();
    let mut stream = stream.await.expect("a stream");
    assert!(stream.chunk().await.expect("a chunk").is_some());
    let mut halves = Vec::new();
    for number in 0..12 {
        let half = ["", "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\n"][number % 2];
        halves.push(half_open(&played, half).await);
    }
    // Others are served all the same, each over a connection of its own.
    for _ in 0..5 {
        let other = client().get(played.url("/health"));
        assert_eq!(Answer::of(other).await.status, 200);
    }
    // Those who never finish their request were let go; the stream was not.
    let mut rest = Vec::new();
    let _ = halves[0].read_to_end(&mut rest).await;
    assert!(rest.is_empty());
    assert!(stream.chunk().now_or_never().is_none(), "it goes on");
    let codes = played.codes().await;
    assert_eq!(codes, ["X-LIMIT-01"]);
}

#[tokio::test]
async fn requests_that_have_come_are_answered_though_others_need_their_places() {
    let played = Played::with(LATE, |options| options.max_connections = 4).await;
    let body = json!({"model": "m", "messages": said("Begin")}).to_string();
    let mut connections = Vec::new();
    for number in 0..40 {
        let request = format!(
            "POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nx-cuecard-session: s{number}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        connections.push(half_open(&played, &request).await);
    }
    for (number, connection) in connections.iter_mut().enumerate() {
        let mut answer = [0; 12];
        connection
            .read_exact(&mut answer)
            .await
            .unwrap_or_else(|error| panic!("{number}: {error}"));
        assert_eq!(&answer, b"HTTP/1.1 200");
    }
}

#[tokio::test]
async fn several_threads_serve_as_one_does() {
    let played = Played::with(LATE, |options| options.n_threads = 3).await;
    let answers = (0..20).map(|number| {
        let session = format!("s{number}");
        let client = client();
        let url = played.url(CHAT);
        async move {
            let body = json!({"model": "m", "messages": said("Begin")});
            let request = client.post(url).header("x-cuecard-session", session);
            Answer::of(request.json(&body)).await.content()
        }
    });
    let answers = futures::future::join_all(answers).await;
    assert!(answers.iter().all(|answer| answer == "Late"), "{answers:?}");
    let mut numbers: Vec<u64> = played
        .running
        .exchanges()
        .iter()
        .map(|exchange| exchange.number)
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
    assert!(played.running.stop().await.passed);
}

#[tokio::test]
async fn a_long_stream_is_made_in_parts_and_whole() {
    let words: Vec<String> = (0..3_000)
        .map(|number| format!("word {number:06}, "))
        .collect();
    let pieces: Vec<String> = words
        .iter()
        .map(|word| format!("[0, \"{word}\"]"))
        .collect();
    let timeline = format!(
        "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: [{{assistant: [{}, [1100, \"end\"]]}}]\n",
        pieces.join(", ")
    );
    let played = Played::timeline(&timeline).await;
    let plain = played.chat(said("Begin")).await.content();
    let body = json!({"model": "m", "stream": true, "messages": said("Begin")});
    let streamed = played.post(CHAT, &body).await.text;
    let texts = streamed.lines().filter_map(|line| {
        let chunk: Value = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
        Some(chunk["choices"][0]["delta"]["content"].as_str()?.to_owned())
    });
    assert_eq!(Value::from(texts.collect::<String>()), plain);
    assert!(streamed.ends_with("data: [DONE]\n\n"));
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
    // Each reason is told once, whatever the header said.
    for page in ["https://evil.example", "https://other.example"] {
        let headers = [("origin", page), ("x-api-key", "s3cret")];
        let refused = played.post_with("/v1/messages", &body, &headers).await;
        assert_eq!(refused.status, 403);
    }
    let verdict = played.running.stop().await;
    assert!(verdict.passed);
    let told: Vec<&str> = verdict
        .findings
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    assert_eq!(
        told,
        [
            "a request was refused with 401: missing or wrong token",
            "a request was refused with 403: wrong `Host` header, or sent by a web page",
        ]
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
    let played = Played::start(folder, |options| options.play.skip_bad = true).await;
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
        .with(|options| options.play.scenario_name = Some("other".into()))
        .start()
        .await;
    let Err(StartError::Files(found)) = unknown else {
        panic!("it started");
    };
    assert_eq!(found[0].code.name(), "T-SEL-01");
}
