//! What SDKs ask beside answers, and web pages.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

const TWO: &str = "  - userInputs: [[0, Begin]]
  - llmResponse: []
  - agentToolUse: {toolName: look_up, args: {key: a}, toolCallId: c1}
  - llmResponse: [{assistant: [[0, Found]]}]
  - userInputs: [[0, Thanks]]
  - llmResponse: [{assistant: [[0, Bye]]}]
";

#[tokio::test]
async fn the_client_of_a_thread_sends_its_whole_history() {
    let played = Played::timeline(TWO).await;
    let go_on = json!({
        "model": "m", "max_tokens": 99, "messages": said("Begin"),
        "thread": {"type": "continue", "previous_message_id": "msg_1"},
    });
    let lost = played.post("/v1/messages", &go_on).await;
    assert_eq!(lost.status, 404);
    assert_eq!(
        lost.json()["error"]["details"]["error_code"],
        "thread_not_found"
    );
    // That is no mistake.
    assert!(played.running.stop().await.findings.is_empty());
}

#[tokio::test]
async fn a_responses_answer_is_asked_for_again_and_deleted() {
    let played = Played::timeline(TWO).await;
    let input = json!([{"role": "user", "content": "Begin"}]);
    let tools = json!([{"type": "function", "name": "look_up", "parameters": {}}]);
    let body = json!({"model": "m", "input": input, "tools": tools});
    let answer = played.post("/v1/responses", &body).await.json();
    let path = format!("/v1/responses/{}", answer["id"].as_str().expect("an id"));

    assert_eq!(played.get(&path).await.json(), answer);
    let input_items = played.get(&format!("{path}/input_items")).await;
    assert_eq!(input_items.status, 404);
    let method = played.client.put(played.url(&path));
    let method = Answer::of(method).await;
    assert_eq!(
        (method.status.as_u16(), method.header("allow")),
        (405, Some("GET, HEAD, DELETE"))
    );
    let deleted = Answer::of(played.client.delete(played.url(&path))).await;
    assert_eq!(deleted.json()["deleted"], true);
    assert_eq!(played.get(&path).await.status, 404);
    let after = json!({"model": "m", "previous_response_id": answer["id"], "input": "And now?"});
    let after = played.post("/v1/responses", &after).await;
    assert_eq!(
        (after.status.as_u16(), &after.json()["error"]["code"]),
        (404, &json!("previous_response_not_found"))
    );
    assert_eq!(played.codes().await, ["T-LLM-11"; 4]);
}

#[tokio::test]
async fn items_of_earlier_answers_are_referred_to() {
    let played = Played::timeline(TWO).await;
    let tools = json!([{"type": "function", "name": "look_up", "parameters": {}}]);
    let mut input = vec![json!({"role": "user", "content": "Begin"})];
    let mut body = json!({"model": "m", "tools": tools});
    let refer = |answer: &Value, input: &mut Vec<Value>| {
        for item in answer["output"].as_array().expect("items") {
            input.push(json!({"type": "item_reference", "id": item["id"]}));
        }
    };
    body["input"] = json!(input);
    let answer = played.post("/v1/responses", &body).await.json();
    refer(&answer, &mut input);
    let call = answer["output"][0]["call_id"].clone();
    input.push(json!({"type": "function_call_output", "call_id": call, "output": "a"}));
    body["input"] = json!(input);
    let answer = played.post("/v1/responses", &body).await.json();
    assert_eq!(
        answer["output"][0]["content"][0]["text"], "Found",
        "{answer:#}"
    );
    refer(&answer, &mut input);
    input.push(json!({"role": "user", "content": "Thanks"}));
    body["input"] = json!(input);
    let answer = played.post("/v1/responses", &body).await.json();
    assert_eq!(
        answer["output"][0]["content"][0]["text"], "Bye",
        "{answer:#}"
    );
    input.push(json!({"type": "item_reference", "id": "msg_nobodys"}));
    body["input"] = json!(input);
    assert_eq!(played.post("/v1/responses", &body).await.status, 404);
    let verdict = played.running.stop().await;
    let message = &verdict.findings[0].message;
    assert!(
        message.contains("not from this run's scenarios"),
        "{message}"
    );
}

#[tokio::test]
async fn nothing_goes_on_from_an_answer_that_was_not_to_be_stored() {
    let played = Played::timeline(TWO).await;
    let tools = json!([{"type": "function", "name": "look_up", "parameters": {}}]);
    let body = json!({"model": "m", "input": "Begin", "tools": tools, "store": false});
    let answer = played.post("/v1/responses", &body).await.json();
    let id = answer["id"].as_str().expect("an id");
    assert_eq!(played.get(&format!("/v1/responses/{id}")).await.status, 404);
    let after = json!({"model": "m", "previous_response_id": id, "input": "And now?"});
    let after = played.post("/v1/responses", &after).await;
    assert_eq!(after.json()["error"]["code"], "previous_response_not_found");
    assert_eq!(played.codes().await, ["T-LLM-11"; 2]);
}

#[tokio::test]
async fn a_connection_that_speaks_no_http_fails_the_run() {
    let played = Played::timeline(TWO).await;
    let url = played.url("");
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    for sent in [
        &b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03"[..],
        b"HELO there\r\n\r\n",
    ] {
        let mut stream = tokio::net::TcpStream::connect(address)
            .await
            .expect("it listens");
        stream.write_all(sent).await.expect("it reads");
        let mut answer = Vec::new();
        // Whatever it answers, it ends the connection.
        let _ = stream.read_to_end(&mut answer).await;
    }
    assert_eq!(played.codes().await, ["T-LLM-11"]);
}

#[tokio::test]
async fn models_are_listed_in_the_form_of_who_asks() {
    let played = Played::with(TWO, |options| options.models = vec!["g".into()]).await;
    let list = |header: &'static str| {
        Answer::of(
            played
                .client
                .get(played.url("/v1/models"))
                .header(header, "k"),
        )
    };
    assert_eq!(
        list("x-goog-api-key").await.json()["models"][0]["name"],
        "models/g"
    );
    assert_eq!(
        list("anthropic-version").await.json()["data"][0]["type"],
        "model"
    );
    assert_eq!(list("authorization").await.json()["object"], "list");
    let one = played
        .client
        .get(played.url("/v1/models/g"))
        .header("x-goog-api-key", "k");
    assert_eq!(Answer::of(one).await.json()["name"], "models/g");
}

#[tokio::test]
async fn a_page_of_this_machine_may_read_answers_and_no_other() {
    let played = Played::with(TWO, |options| options.token = Some("s3cret".into())).await;
    let ask = |origin: &'static str| {
        let request = played
            .client
            .request(reqwest::Method::OPTIONS, played.url("/v1/messages"));
        Answer::of(
            request
                .header("origin", origin)
                .header("access-control-request-method", "POST")
                .header(
                    "access-control-request-headers",
                    "x-api-key,anthropic-version",
                ),
        )
    };
    // What browsers ask beforehand has no key.
    let may = ask("http://localhost:5173").await;
    assert_eq!(may.status, 200);
    assert_eq!(
        may.header("access-control-allow-origin"),
        Some("http://localhost:5173")
    );
    assert_eq!(may.header("access-control-allow-methods"), Some("POST"));
    assert_eq!(
        may.header("access-control-allow-headers"),
        Some("x-api-key,anthropic-version")
    );
    assert_eq!(
        ask("https://evil.example")
            .await
            .header("access-control-allow-origin"),
        None
    );

    let body = json!({"model": "m", "max_tokens": 9, "messages": said("Begin")});
    let page = [("origin", "http://localhost:5173"), ("x-api-key", "s3cret")];
    let answer = played
        .post_with("/v1/messages/count_tokens", &body, &page)
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        Some("http://localhost:5173")
    );
    let evil = [("origin", "https://evil.example"), ("x-api-key", "s3cret")];
    let answer = played
        .post_with("/v1/messages/count_tokens", &body, &evil)
        .await;
    assert_eq!(
        (
            answer.status.as_u16(),
            answer.header("access-control-allow-origin")
        ),
        (403, None)
    );
    // Who is no page is told nothing of that.
    let plain = played
        .post_with(
            "/v1/messages/count_tokens",
            &body,
            &[("x-api-key", "s3cret")],
        )
        .await;
    assert_eq!(plain.header("access-control-allow-origin"), None);
    assert!(played.running.stop().await.passed);
}
