//! Clients that break the protocol, or send another prompt than the script has.

use super::*;

const RICH: &str = "
name: rich
acp: {capabilities: {promptCapabilities: {image: true, audio: true, embeddedContext: true}}}
timeline:
  - userInputs:
      - relativeTime: 0
        input:
          - {type: text, text: Look}
          - {type: image, mimeType: image/png, data: iVBORw0KGgo=}
          - {type: audio, mimeType: audio/mpeg, data: SUQz}
          - {type: resource, resource: {uri: 'file:///a', text: \"one\\n\"}}
          - {type: resource_link, uri: 'file:///b', name: b.txt}
  - llmResponse: [{assistant: [[0, Fine.]]}]
";

fn rich_prompt() -> String {
    json!([
        {"type": "text", "text": "Look"},
        {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
        {"type": "audio", "mimeType": "audio/mpeg", "data": "SUQz"},
        {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "one"}},
        {"type": "resource_link", "uri": "file:///b", "name": "b.txt", "size": 3},
    ])
    .to_string()
}

#[tokio::test]
async fn blocks_of_a_prompt_have_the_content_that_the_script_has() {
    let changes = [
        ("", ""),
        ("iVBORw0KGgo=", "iVBORw0KGgoA"),
        ("image/png", "image/gif"),
        ("SUQz", "SUQzAA=="),
        ("\"one\"", "\"two\""),
        ("file:///a", "file:///c"),
        ("b.txt", "c.txt"),
    ];
    for (wanted, instead) in changes {
        let mut client = Client::start(RICH).await;
        let session = client.open(json!({})).await;
        let prompt = rich_prompt().replace(wanted, instead);
        let prompt: Json = serde_json::from_str(&prompt).expect("JSON");
        let params = json!({"sessionId": session, "prompt": prompt});
        let answer = client.call("session/prompt", params).await;
        let is_same = wanted == instead;
        assert_eq!(answer.get("result").is_some(), is_same, "{answer}");
        assert_eq!(client.end().await.passed, is_same, "{instead}");
    }
}

#[tokio::test]
async fn requests_are_held_against_the_schema_of_the_protocol() {
    let mut client = Client::start(HELLO).await;
    let early = client.call("initialize", json!({})).await;
    assert_eq!(early["error"]["code"], -32602, "{early}");
    let session = client.open(json!({})).await;
    let server = json!({"name": "x", "command": "x"});
    let cases = [
        ("session/new", json!({"cwd": "/w"})),
        ("session/new", json!({"cwd": "/w", "mcpServers": [server]})),
        ("session/prompt", json!({"sessionId": session})),
        (
            "session/prompt",
            json!({"sessionId": session, "prompt": [{"type": "text"}]}),
        ),
        (
            "session/prompt",
            json!({"sessionId": session, "prompt": [{"type": "smell"}]}),
        ),
    ];
    let n_cases = cases.len();
    for (method, params) in cases {
        let answer = client.call(method, params).await;
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
    }
    let id = client.prompt(&session, "Say hello").await;
    client.until(id).await;
    let verdict = client.end().await;
    assert_eq!(codes(&verdict), vec!["T-ACP-20"; n_cases + 1]);
}

#[tokio::test]
async fn answers_are_held_against_the_schema_of_the_protocol() {
    let timeline = "
name: runs
timeline:
  - userInputs: [[0, Go]]
  - runCmd: {cmd: make}
    status: ok
";
    let mut client = Client::start(timeline).await;
    let session = client.open(able()).await;
    client.prompt(&session, "Go").await;
    loop {
        let message = client.next().await;
        let result = match message["method"].as_str() {
            Some("terminal/create") => json!({"terminalId": "t"}),
            Some("terminal/wait_for_exit") => json!({"exitCode": 0}),
            Some("terminal/output") => json!({"output": "made"}),
            Some("terminal/release") => json!({}),
            Some(_) => continue,
            None => break,
        };
        client.answer(&message, result).await;
    }
    let verdict = client.end().await;
    assert_eq!(codes(&verdict), ["T-ACP-20"], "{:?}", verdict.findings);
    assert!(verdict.findings[0].message.contains("\"truncated\""));
}

#[tokio::test]
async fn after_a_cancellation_a_permission_is_only_cancelled() {
    let timeline = "
name: asks
timeline:
  - userInputs: [[0, Go]]
  - agentPermissionRequest:
      options: [{id: y, label: Yes, kind: allow_once}]
      granted: true
  - userCancelSession: {}
";
    let selected = json!({"outcome": "selected", "optionId": "y"});
    let cases = [
        (selected.clone(), false, &[][..]),
        (selected, true, &["T-ACP-23"][..]),
        (json!({"outcome": "cancelled"}), true, &[][..]),
    ];
    for (outcome, is_late, expected) in cases {
        let mut client = Client::start(timeline).await;
        let session = client.open(json!({})).await;
        let id = client.prompt(&session, "Go").await;
        let asked = client.next().await;
        let cancel =
            json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
        if is_late {
            client.send(cancel.clone()).await;
        }
        client.answer(&asked, json!({"outcome": outcome})).await;
        if !is_late {
            client.send(cancel).await;
        }
        let (_, answer) = client.until(id).await;
        assert_eq!(answer["result"]["stopReason"], "cancelled");
        let verdict = client.end().await;
        assert_eq!(codes(&verdict), expected, "{:?}", verdict.findings);
    }
}

/// A session with a past, which says `unasked` when it was loaded.
fn past(unasked: &str) -> String {
    format!(
        "
name: past
acp: {{capabilities: {{loadSession: true}}}}
timeline:
  - userInputs: [[0, Old]]
  - llmResponse: [{{assistant: [[0, Before]]}}]
  - sessionStart: {{sessionId: s-1}}
  - llmResponse: [{{assistant: [{unasked}]}}]
  - userInputs: [[0, New]]
  - llmResponse: [{{assistant: [[0, Asked]]}}]
"
    )
}

#[tokio::test]
async fn a_prompt_on_the_heels_of_a_load_is_for_the_next_segment() {
    let mut client = Client::start(&past("[0, Unasked]")).await;
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    let params = json!({"sessionId": "s-1", "cwd": "/work", "mcpServers": []});
    client.ask("session/load", params).await;
    let id = client.prompt("s-1", "New").await;
    let (before, _) = client.until(id).await;
    let texts = before
        .iter()
        .filter_map(|message| message["params"]["update"]["content"]["text"].as_str());
    assert_eq!(
        texts.collect::<Vec<_>>(),
        ["Old", "Before", "Unasked", "Asked"]
    );
    let verdict = client.end().await;
    assert!(verdict.passed && verdict.unplayed.is_empty(), "{verdict:?}");
}

#[tokio::test]
async fn what_a_loaded_session_does_by_itself_is_cancelled_too() {
    let timeline = past("[0, Unasked], [600000, Never]");
    let params = json!({"sessionId": "s-1", "cwd": "/work", "mcpServers": []});
    for is_loaded_again in [false, true] {
        let mut client =
            Client::with(&timeline, |options| options.play.speed = Speed::default()).await;
        client
            .call("initialize", json!({"protocolVersion": 1}))
            .await;
        client.call("session/load", params.clone()).await;
        if is_loaded_again {
            client.call("session/load", params.clone()).await;
        }
        client
            .send(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s-1"}}))
            .await;
        // It waits for what is played.
        let id = client.prompt("s-1", "New").await;
        let (before, _) = client.until(id).await;
        assert!(!format!("{before:?}").contains("Never"), "{before:?}");
        let verdict = client.end().await;
        assert_eq!(verdict.unplayed.len(), 1, "{verdict:?}");
    }
}

#[tokio::test]
async fn faults_that_change_nothing_are_told() {
    let ask =
        "agentPermissionRequest: {options: [{id: y, label: Y, kind: allow_once}], granted: true}";
    let same = "llmResponse: [{assistant: [[0, Ha], [0, Ha]]}]";
    let cases = [
        ("notify: {method: _v/x, params: {a: 1}}", "wrong_id", true),
        (ask, "reorder", true),
        (ask, "wrong_id", false),
        (same, "reorder", true),
        ("llmResponse: [{assistant: [[0, Last]]}]", "reorder", false),
    ];
    for (event, fault, is_nothing) in cases {
        let timeline = format!(
            "name: f\ntimeline:\n  - userInputs: [[0, Go]]\n  - {event}\n    fault: {{kind: {fault}}}\n"
        );
        let mut client = Client::start(&timeline).await;
        let session = client.open(json!({})).await;
        client.prompt(&session, "Go").await;
        let (mut n_seen, n_frames) = (0, event.matches("[0, ").count().max(1) + 1);
        while n_seen < n_frames {
            let message = client.next().await;
            n_seen += 1;
            if message["method"] == "session/request_permission" {
                let outcome = json!({"outcome": "selected", "optionId": "y"});
                client.answer(&message, json!({"outcome": outcome})).await;
            }
        }
        let verdict = client.end().await;
        let found = verdict.findings.iter().map(|found| found.code.name());
        assert_eq!(
            found.collect::<Vec<_>>(),
            vec!["T-FAULT-01"; usize::from(is_nothing)],
            "{event} {fault}"
        );
    }
}
