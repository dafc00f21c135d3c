//! Faults on purpose, as a client sees them.

use std::error::Error as _;
use std::io;

use cuecard_source::SourceFile;
use cuecard_timeline::format::read_faults;
use cuecard_timeline::script::Speed;
use futures::FutureExt as _;

use super::*;
use cuecard_runtime::fault::OVERSIZE;

const ANSWER: &str = "Once upon a time there was a text of many deltas.";

/// A timeline with one answer, and this fault.
fn with_fault(fault: &str) -> String {
    format!(
        "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: [{{assistant: [[0, \"{ANSWER}\"]]}}]\n    fault: {fault}\n"
    )
}

/// What came of a stream.
struct Streamed {
    /// What arrived at once each time.
    chunks: Vec<String>,
    error: Option<reqwest::Error>,
}

impl Streamed {
    async fn of(played: &Played) -> Self {
        let body = json!({"model": "m", "stream": true, "messages": said("Begin")});
        let sent = played.client.post(played.url(CHAT)).json(&body).send();
        let mut streamed = Self {
            chunks: Vec::new(),
            error: None,
        };
        let mut response = match sent.await {
            Ok(response) => response,
            Err(error) => {
                streamed.error = Some(error);
                return streamed;
            }
        };
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => streamed
                    .chunks
                    .push(String::from_utf8(chunk.to_vec()).expect("text")),
                Ok(None) => return streamed,
                Err(error) => {
                    streamed.error = Some(error);
                    return streamed;
                }
            }
        }
    }

    fn text(&self) -> String {
        self.chunks.concat()
    }

    /// The data of its events.
    fn events(&self) -> Vec<String> {
        self.text()
            .split("\n\n")
            .filter_map(|event| Some(event.strip_prefix("data: ")?.to_owned()))
            .collect()
    }

    /// The text of the answer.
    fn said(&self) -> String {
        let events = self.events();
        let deltas = events
            .iter()
            .filter_map(|event| serde_json::from_str::<Value>(event).ok());
        deltas
            .filter_map(|event| {
                let delta = event["choices"][0]["delta"]["content"].as_str()?;
                Some(delta.to_owned())
            })
            .collect()
    }
}

/// What a stream is like with a fault that is laid over the timeline, so that all else is the same as without.
async fn streamed_with(fault: &str) -> Streamed {
    let rules = format!("- {{match: {{event: llmResponse}}, fault: {fault}}}");
    let (rules, _) = read_faults(&SourceFile::new("faults.yaml", &rules)).expect("rules");
    let played = Played::with(&with_fault("{kind: stderr}"), |options| {
        options.fixed_time = Some(1);
        options.play.faults = Some(rules);
    })
    .await;
    Streamed::of(&played).await
}

/// What a stream is like without a fault.
async fn undisturbed() -> Streamed {
    streamed_with("{kind: stderr}").await
}

#[tokio::test]
async fn a_cut_stream_ends_in_the_middle_and_the_next_try_is_whole() {
    let played = Played::timeline(&with_fault("{kind: cut}")).await;
    let cut = Streamed::of(&played).await;
    let error = cut.error.as_ref().expect("it is not whole");
    assert!(error.is_body() || error.is_decode(), "{error:?}");
    assert!(cut.text().starts_with("data: {") && !cut.text().contains("\n\n"));
    let again = Streamed::of(&played).await;
    assert!(again.error.is_none());
    assert_eq!(again.said(), ANSWER);
    let exchanges = played.running.exchanges();
    let told: Vec<_> = exchanges
        .iter()
        .map(|exchange| (exchange.outcome, exchange.faults.clone()))
        .collect();
    assert_eq!(told, [("turn", vec!["cut"]), ("repeat", vec![])]);
    assert_eq!(played.codes().await, [""; 0]);
}

#[tokio::test]
async fn a_crash_resets_the_connection_before_or_in_the_answer() {
    for stream in [true, false] {
        let played = Played::timeline(&with_fault("{kind: crash}")).await;
        let body = json!({"model": "m", "stream": stream, "messages": said("Begin")});
        let sent = played.client.post(played.url(CHAT)).json(&body).send();
        let error = sent.await.expect_err("there is no server any more");
        assert!(is_reset(&error), "{error:?}");
        assert_eq!(played.chat(said("Begin")).await.content(), ANSWER);
        assert_eq!(played.codes().await, [""; 0]);
    }
    let timeline = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"One \"], [5, \"two\"]]}]
    fault: {kind: crash, at: 5}
";
    let played = Played::timeline(timeline).await;
    let crashed = Streamed::of(&played).await;
    assert_eq!(crashed.said(), "One ");
    assert!(is_reset(crashed.error.as_ref().expect("a reset")));
}

/// Whether the connection was reset.
fn is_reset(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return error.kind() == io::ErrorKind::ConnectionReset;
        }
        cause = error.source();
    }
    false
}

#[tokio::test]
async fn a_stalled_stream_stays_open_and_says_nothing() {
    let played = Played::timeline(&with_fault("{kind: stall}")).await;
    let body = json!({"model": "m", "stream": true, "messages": said("Begin")});
    let sent = played.client.post(played.url(CHAT)).json(&body).send();
    let mut response = sent.await.expect("a head");
    assert_eq!(response.status(), 200);
    assert_eq!(played.get("/health").await.status, 200);
    assert!(response.chunk().now_or_never().is_none());
    assert_eq!(played.codes().await, [""; 0]);
    assert!(matches!(response.chunk().await, Ok(None) | Err(_)));
}

#[tokio::test]
async fn what_is_no_json_keeps_its_frame() {
    let streamed = streamed_with("{kind: garbage}").await;
    let events = streamed.events();
    assert_eq!(events[0], "<html>502 Bad Gateway</html>");
    assert_eq!(events[1..], undisturbed().await.events()[1..]);

    let played = Played::timeline(&with_fault("{kind: garbage}")).await;
    let plain = played.chat(said("Begin")).await;
    assert_eq!(plain.status, 200);
    assert_eq!(plain.text, "<html>502 Bad Gateway</html>");
}

#[tokio::test]
async fn a_split_frame_and_merged_frames_say_the_same() {
    let whole = undisturbed().await;
    let first = &whole.chunks[0];
    let split = streamed_with("{kind: split}").await;
    assert_eq!(split.events(), whole.events());
    assert_eq!(split.chunks[0], first[..5]);

    let merged = streamed_with("{kind: merge}").await;
    assert_eq!(merged.events(), whole.events());
    assert_eq!(merged.chunks[0].matches("data: ").count(), 2);
}

#[tokio::test]
async fn frames_come_twice_or_after_the_next() {
    let whole = undisturbed().await.events();
    let twice = streamed_with("{kind: duplicate}").await.events();
    assert_eq!(twice[0], twice[1]);
    assert_eq!(twice[1..], whole[..]);

    let reordered = streamed_with("{kind: reorder}").await.events();
    assert_eq!((&reordered[0], &reordered[1]), (&whole[1], &whole[0]));
    assert_eq!(reordered[2..], whole[2..]);
}

#[tokio::test]
async fn a_wrong_id_is_one_that_was_never_given() {
    let played = Played::timeline(&with_fault("{kind: wrong_id}")).await;
    let streamed = Streamed::of(&played).await;
    let ids = streamed.text().matches("\"chatcmpl-987654321\"").count();
    assert_eq!(ids, streamed.events().len() - 1, "all but `[DONE]`");

    let played = Played::timeline(&with_fault("{kind: wrong_id}")).await;
    let body = json!({"model": "m", "input": "Begin"});
    let answer = played.post("/v1/responses", &body).await.json();
    assert_eq!(answer["id"], "resp_987654321");
    let next = json!({"model": "m", "input": "More", "previous_response_id": answer["id"]});
    assert_eq!(played.post("/v1/responses", &next).await.status, 404);
}

#[tokio::test]
async fn an_oversized_frame_is_the_same_frame() {
    let played = Played::timeline(&with_fault("{kind: oversize}")).await;
    let plain = played.chat(said("Begin")).await;
    assert_eq!(plain.text.len(), OVERSIZE);
    assert_eq!(plain.content(), ANSWER);

    let played = Played::timeline(&with_fault("{kind: oversize}")).await;
    let streamed = Streamed::of(&played).await;
    assert!(streamed.text().len() > OVERSIZE);
    assert_eq!(streamed.said(), ANSWER);
}

#[tokio::test]
async fn a_plain_answer_is_cut_too() {
    let played = Played::timeline(&with_fault("{kind: cut}")).await;
    let body = json!({"model": "m", "messages": said("Begin")});
    let sent = played.client.post(played.url(CHAT)).json(&body).send();
    let response = sent.await.expect("a head");
    let whole = response.content_length().expect("a length");
    assert!(response.text().await.is_err());
    let again = played.chat(said("Begin")).await;
    assert_eq!(again.text.len() as u64, whole);
}

#[tokio::test]
async fn a_fault_that_never_happens_is_told_and_fails_a_strict_run() {
    for (fault, stream) in [
        ("{kind: stderr}", true),
        ("{kind: merge}", false),
        ("{kind: reorder}", false),
        ("{kind: duplicate}", false),
        ("{kind: cut, at: 9000}", true),
    ] {
        for is_strict in [false, true] {
            let played = Played::with(&with_fault(fault), |options| {
                options.play.is_strict = is_strict;
            })
            .await;
            match stream {
                true => assert_eq!(Streamed::of(&played).await.said(), ANSWER),
                false => assert_eq!(played.chat(said("Begin")).await.content(), ANSWER),
            }
            let verdict = played.running.stop().await;
            assert_eq!(verdict.passed, !is_strict, "{fault}");
            let found = &verdict.findings[0];
            assert_eq!(found.code.name(), "T-FAULT-01");
            assert_eq!(found.pointer.as_deref(), Some("timeline[1].fault"));
        }
    }
    // A fault of a turn that nobody asked for has not happened either.
    let played = Played::timeline(&with_fault("{kind: cut}")).await;
    assert_eq!(played.codes().await, ["T-FAULT-01"]);
}

#[tokio::test]
async fn the_frame_of_a_time_is_the_same_at_any_speed() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{assistant: [[0, \"One \"], [3600000, \"two \"], [3600000, \"three\"]]}]
    fault: {kind: cut, at: 3600001}
";
    let played = Played::with(timeline, |options| {
        options.play.speed = Speed::new(0.0, 0.0).expect("a speed");
    })
    .await;
    let cut = Streamed::of(&played).await;
    assert_eq!(cut.said(), "One two ");
    assert!(cut.error.is_some());
}

#[tokio::test]
async fn an_error_is_disturbed_like_an_answer() {
    let timeline = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{error: {statusCode: 503, message: later}}, {assistant: [[0, \"Now\"]]}]
    fault: {kind: garbage}
";
    let played = Played::timeline(timeline).await;
    let error = played.chat(said("Begin")).await;
    assert_eq!(
        (error.status.as_u16(), error.text.as_str()),
        (503, "<html>502 Bad Gateway</html>")
    );
    assert_eq!(played.chat(said("Begin")).await.content(), "Now");
    assert_eq!(played.codes().await, [""; 0]);
}

/// In each dialect, a request that advertises `lookup`, by its path.
fn asking_with_tools() -> [(&'static str, Value); 4] {
    let schema = json!({"type": "object", "properties": {}});
    let function = json!({"name": "lookup", "parameters": schema});
    [
        (
            CHAT,
            json!({"model": "m", "stream": true, "messages": said("Begin"),
                   "tools": [{"type": "function", "function": function}]}),
        ),
        (
            "/v1/responses",
            json!({"model": "m", "stream": true, "input": "Begin",
                   "tools": [{"type": "function", "name": "lookup", "parameters": schema}]}),
        ),
        (
            "/v1/messages",
            json!({"model": "m", "stream": true, "max_tokens": 99, "messages": said("Begin"),
                   "tools": [{"name": "lookup", "input_schema": schema}]}),
        ),
        (
            "/v1beta/models/g:streamGenerateContent?alt=sse",
            json!({"contents": [{"role": "user", "parts": [{"text": "Begin"}]}],
                   "tools": [{"functionDeclarations": [function]}]}),
        ),
    ]
}

#[tokio::test]
async fn in_each_dialect_the_fault_of_a_call_hits_its_first_frame() {
    let timeline = |kind: &str| {
        format!(
            "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{{assistant: [[0, \"I look.\"]]}}]
  - agentToolUse: {{toolName: lookup, args: {{}}}}
  - agentToolUse: {{toolName: lookup, args: {{}}}}
    fault: {{kind: {kind}}}
"
        )
    };
    for (path, body) in asking_with_tools() {
        let played = Played::timeline(&timeline("wrong_id")).await;
        let answer = played.post(path, &body).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        assert!(
            answer.text.contains("\"call_1\""),
            "{path}: {}",
            answer.text
        );
        assert!(!answer.text.contains("\"call_2\""), "{path}");
        assert!(answer.text.contains("\"call_987654321\""), "{path}");
        assert_eq!(played.codes().await, [""; 0], "{path}");

        let played = Played::timeline(&timeline("cut")).await;
        let sent = played.client.post(played.url(path)).json(&body).send();
        let mut response = sent.await.expect("a head");
        let mut text = String::new();
        let error = loop {
            match response.chunk().await {
                Ok(Some(chunk)) => text.push_str(&String::from_utf8_lossy(&chunk)),
                Ok(None) => panic!("{path}: it ended as if it were whole"),
                Err(error) => break error,
            }
        };
        assert!(error.is_body() || error.is_decode(), "{path}: {error:?}");
        assert!(
            text.contains("\"call_1\"") && !text.ends_with("\n\n"),
            "{path}"
        );
        assert_eq!(played.codes().await, [""; 0], "{path}");
    }
}

#[tokio::test]
async fn a_call_is_answered_by_the_wrong_id_that_it_got() {
    let timeline = "  - userInputs: [[0, Begin]]
  - llmResponse: []
  - agentToolUse: {toolName: lookup, args: {}}
  - agentToolUse: {toolName: lookup, args: {}}
    fault: {kind: wrong_id}
  - llmResponse: [{assistant: [[0, Done]]}]
";
    let lookup = json!({"type": "function", "function": {"name": "lookup", "parameters": {}}});
    for asks_again in [false, true] {
        let played = Played::timeline(timeline).await;
        let mut history = vec![json!({"role": "user", "content": "Begin"})];
        let body =
            |history: &[Value]| json!({"model": "m", "tools": [lookup], "messages": history});
        let mut answer = played.post(CHAT, &body(&history)).await;
        if asks_again {
            answer = played.post(CHAT, &body(&history)).await;
        }
        let message = answer.json()["choices"][0]["message"].clone();
        history.push(message.clone());
        let calls = message["tool_calls"].as_array().expect("calls");
        history.extend(
            calls.iter().map(
                |call| json!({"role": "tool", "tool_call_id": call["id"], "content": "found"}),
            ),
        );
        let answer = played.post(CHAT, &body(&history)).await;
        assert_eq!(answer.content(), "Done", "{}", answer.text);
        assert_eq!(played.codes().await, [""; 0]);
    }
}

#[tokio::test]
async fn faults_of_a_file_are_laid_over_the_timelines() {
    let rules = "- {match: {event: llmResponse}, fault: {kind: garbage}}
- {match: {tool: grep}, fault: {kind: cut}}
";
    let source = SourceFile::new("faults.yaml", rules);
    let (rules, _) = read_faults(&source).expect("rules");
    let played = Played::with(&with_fault("{kind: stall}"), |options| {
        options.play.faults = Some(rules.clone());
    })
    .await;
    let found = played.running.diagnostics();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code.name(), "T-FAULT-01");
    let garbage = played.chat(said("Begin")).await;
    assert_eq!(garbage.text, "<html>502 Bad Gateway</html>");
    assert_eq!(played.codes().await, [""; 0]);

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.yaml");
    let text = format!(
        "name: scenario\ntimeline:\n{}",
        with_fault("{kind: stderr}")
    );
    std::fs::write(&path, text).expect("writable");
    let planned = MockLlm::from_file(&path).planned_faults().expect("a plan");
    assert_eq!((planned[0].kind, planned[0].turn), ("stderr", None));
    assert!(planned[0].never.is_some());
    let planned = MockLlm::from_file(&path)
        .with(|options| options.play.faults = Some(rules))
        .planned_faults()
        .expect("a plan");
    assert_eq!((planned[0].kind, planned[0].turn), ("garbage", Some(1)));
    assert_eq!(planned[0].path, "timeline[1]");
}
