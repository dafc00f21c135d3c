//! Each endpoint answers in its own form.

use super::*;

const HELLO: &str = "  - userInputs: [[0, \"Say hello\"]]\n  - llmResponse:\n      - assistant: [[0, \"Hello there, all of you!\"]]\n";

#[tokio::test]
async fn each_api_says_the_same_in_its_own_form() {
    let played = Played::timeline(HELLO).await;
    let text = "Hello there, all of you!";
    let chat = played.chat(said("Say hello")).await;
    assert_eq!(chat.status, 200);
    assert_eq!(chat.header("content-type"), Some("application/json"));
    assert_eq!(chat.content(), text);

    let body = json!({"model": "m", "max_tokens": 9, "messages": said("Say hello")});
    let messages = played.post("/v1/messages", &body).await.json();
    assert_eq!(messages["content"][0]["text"], text);
    assert_eq!(messages["stop_reason"], "end_turn");

    let body = json!({"model": "m", "input": "Say hello"});
    let responses = played.post("/v1/responses", &body).await.json();
    assert_eq!(responses["output"][0]["content"][0]["text"], text);
    let id = responses["id"].as_str().expect("an id");
    let again = played.get(&format!("/v1/responses/{id}")).await.json();
    assert_eq!(again["output"][0]["content"][0]["text"], text);

    let body = json!({"contents": [{"role": "user", "parts": [{"text": "Say hello"}]}]});
    for version in ["v1", "v1beta"] {
        let path = format!("/{version}/models/gemini-x:generateContent?key={version}");
        let gemini = played.post(&path, &body).await.json();
        assert_eq!(
            gemini["candidates"][0]["content"]["parts"][0]["text"], text,
            "{version}"
        );
    }
    assert_eq!(played.codes().await, Vec::<&str>::new());
}

#[tokio::test]
async fn streams_come_as_events_and_as_an_array() {
    let played = Played::timeline(HELLO).await;
    let body = json!({"model": "m", "stream": true, "messages": said("Say hello")});
    let chat = played.post(CHAT, &body).await;
    assert_eq!(
        chat.header("content-type"),
        Some("text/event-stream; charset=utf-8")
    );
    assert!(chat.text.starts_with("data: {"), "{}", chat.text);
    assert!(chat.text.ends_with("data: [DONE]\n\n"), "{}", chat.text);

    let body =
        json!({"model": "m", "max_tokens": 9, "stream": true, "messages": said("Say hello")});
    let messages = played.post("/v1/messages", &body).await;
    assert!(
        messages.text.starts_with("event: message_start\n"),
        "{}",
        messages.text
    );
    assert!(
        messages.text.contains("event: message_stop\n"),
        "{}",
        messages.text
    );

    let body = json!({"contents": [{"role": "user", "parts": [{"text": "Say hello"}]}]});
    let path = "/v1beta/models/g:streamGenerateContent";
    let array = played.post(path, &body).await;
    assert_eq!(array.header("content-type"), Some("application/json"));
    assert!(
        array
            .json()
            .as_array()
            .is_some_and(|chunks| chunks.len() > 1),
        "{}",
        array.text
    );
    let events = played
        .post_with(
            &format!("{path}?alt=sse"),
            &body,
            &[("x-cuecard-session", "other")],
        )
        .await;
    assert!(events.text.starts_with("data: {"), "{}", events.text);
}

#[tokio::test]
async fn what_is_beside_answers_consumes_no_turn() {
    let played = Played::with(HELLO, |options| options.models = vec!["listed".into()]).await;
    let body = json!({"model": "m", "max_tokens": 9, "messages": said("Say hello")});
    let count = played.post("/v1/messages/count_tokens", &body).await.json();
    assert!(
        count["input_tokens"]
            .as_u64()
            .is_some_and(|tokens| tokens > 0),
        "{count}"
    );
    let contents = json!({"contents": [{"role": "user", "parts": [{"text": "Say hello"}]}]});
    let count = played
        .post("/v1beta/models/g:countTokens", &contents)
        .await
        .json();
    assert!(
        count["totalTokens"]
            .as_u64()
            .is_some_and(|tokens| tokens > 0),
        "{count}"
    );
    assert_eq!(
        played.get("/v1/models").await.json()["data"][0]["id"],
        "listed"
    );
    assert_eq!(played.get("/v1/models/listed").await.json()["id"], "listed");
    assert_eq!(played.get("/v1/models/other").await.status, 404);
    assert_eq!(
        played.get("/v1beta/models").await.json()["models"][0]["name"],
        "models/listed"
    );
    let health = played.get("/health").await.json();
    assert_eq!(
        health,
        json!({"status": "ok", "scenarios": 1, "sessions": 0})
    );
    assert_eq!(played.running.verdict().unplayed.len(), 1);
    let probe = json!({"model": "m", "max_tokens": 1, "messages": said("quota")});
    assert_eq!(played.post("/v1/messages", &probe).await.status, 200);
    assert_eq!(played.running.verdict().unplayed.len(), 1);
    assert_eq!(played.chat(said("Say hello")).await.status, 200);
    assert_eq!(played.running.verdict().unplayed.len(), 0);
    let models = played.get("/v1/models").await.text;
    assert!(
        models.contains("\"m\""),
        "what was asked for is listed too: {models}"
    );
}

#[tokio::test]
async fn mistakes_are_told_as_the_provider_does() {
    let played = Played::timeline(HELLO).await;
    let wrong = played.post("/v1/completions", &json!({})).await;
    assert_eq!(wrong.status, 404);
    let message = wrong.json()["error"]["message"].to_string();
    assert!(message.contains("POST /v1/messages,"), "{message}");
    let method = played.get("/v1/messages").await;
    assert_eq!(
        (method.status.as_u16(), method.header("allow")),
        (405, Some("POST"))
    );

    let invalid = played
        .client
        .post(played.url("/v1/messages"))
        .body("{\"model\": ");
    let invalid = Answer::of(invalid).await;
    assert_eq!(invalid.status, 400);
    assert_eq!(invalid.json()["type"], "error");
    assert_eq!(invalid.json()["error"]["type"], "invalid_request_error");

    let missing = played.post(CHAT, &json!({"model": "m"})).await;
    assert_eq!(
        (missing.status.as_u16(), &missing.json()["error"]["param"]),
        (400, &json!("messages"))
    );
    let path = "/v1beta/models/g:generateContent";
    let missing = played.post(path, &json!({"contents": 3})).await.json();
    assert_eq!(missing["error"]["status"], "INVALID_ARGUMENT");
    let foreign = json!({"model": "m", "input": "x", "previous_response_id": "resp_x"});
    assert_eq!(played.post("/v1/responses", &foreign).await.status, 404);
    // Whatever is not served fails the run.
    assert_eq!(played.codes().await, ["T-LLM-11"; 6]);
}

#[tokio::test]
async fn what_is_sent_to_the_wrong_api_is_refused() {
    let played = Played::timeline(HELLO).await;
    let said = said("Say hello");
    let tool = json!({"name": "f", "input_schema": {"type": "object"}});
    for (path, body) in [
        (
            CHAT,
            json!({"model": "m", "max_tokens": 9, "system": "s", "messages": said}),
        ),
        (
            CHAT,
            json!({"model": "m", "messages": said, "tools": [tool]}),
        ),
        (
            CHAT,
            json!({"model": "m", "messages": [{"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": "x"}, {"type": "text", "text": "Say hello"},
            ]}]}),
        ),
        ("/v1/messages", json!({"model": "m", "messages": said})),
        (
            "/v1/messages",
            json!({"model": "m", "max_tokens": 9, "messages": said, "tools": [
                {"type": "function", "function": {"name": "f", "parameters": {}}},
            ]}),
        ),
        (
            "/v1/responses",
            json!({"model": "m", "messages": said, "input": "Say hello"}),
        ),
        (
            "/v1beta/models/g:generateContent",
            json!({"messages": said}),
        ),
    ] {
        let answer = played.post(path, &body).await;
        assert_eq!(answer.status, 400, "{path} {body}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_client_may_ask_in_vain_for_what_the_scenario_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        format!("name: a\nserver: {{ignore: [\"/api/**\", \"/v1/models/*\"]}}\ntimeline:\n{HELLO}");
    std::fs::write(folder.path().join("a.yaml"), text).expect("writable");
    let played = Played::start(folder, |_| {}).await;
    for path in ["/api/event_logging/batch", "/api/hello"] {
        assert_eq!(played.post(path, &json!({})).await.status, 404);
    }
    assert_eq!(played.get("/v1/models/other").await.status, 404);
    let outcomes: Vec<_> = played.running.exchanges();
    assert!(outcomes.iter().all(|exchange| exchange.outcome == "other"));
    assert!(played.running.verdict().passed);
    assert_eq!(played.get("/v1/files").await.status, 404);
    let verdict = played.running.stop().await;
    let found: Vec<_> = verdict
        .findings
        .iter()
        .map(|found| &found.message)
        .collect();
    assert_eq!(
        found,
        ["`GET /v1/files` got 404: the mock server does not support it"]
    );
}
