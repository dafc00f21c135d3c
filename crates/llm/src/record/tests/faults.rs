//! Upstreams that misbehave, and clients that go away: the recording goes on.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::*;

const CHUNK: &str =
    "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Once upon \"}}]}\n\n";
const END: &str = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// What an upstream does with a request after its head.
#[derive(Debug, Clone)]
enum Act {
    /// Sends bytes and closes the connection.
    Send(Vec<u8>),
    /// Sends bytes and nothing more, until the other side goes away; that is told.
    Hold(String),
}

fn stream(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n",
        body.len()
    )
}

fn whole(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn send(text: impl Into<String>) -> Act {
    Act::Send(text.into().into_bytes())
}

/// An upstream that does one act a request. Gives its URL, and tells when a held connection was given up.
async fn upstream(acts: Vec<Act>) -> (String, oneshot::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("loopback is free");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let (gone, is_gone) = oneshot::channel();
    tokio::spawn(async move {
        let mut gone = Some(gone);
        for act in acts {
            let Ok((mut connection, _)) = listener.accept().await else {
                return;
            };
            read_request(&mut connection).await;
            match act {
                Act::Send(bytes) => {
                    let _ = connection.write_all(&bytes).await;
                }
                Act::Hold(bytes) => {
                    let _ = connection.write_all(bytes.as_bytes()).await;
                    let mut rest = [0; 64];
                    while connection.read(&mut rest).await.is_ok_and(|n| n > 0) {}
                    if let Some(gone) = gone.take() {
                        let _ = gone.send(());
                    }
                }
            }
        }
    });
    (url, is_gone)
}

async fn read_request(connection: &mut TcpStream) {
    let mut request = Vec::new();
    let mut part = [0; 4096];
    loop {
        let n = connection.read(&mut part).await.unwrap_or(0);
        request.extend_from_slice(&part[..n]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            if n == 0 {
                return;
            }
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length: ")?
                    .parse()
                    .ok()
            })
            .unwrap_or(0_usize);
        if n == 0 || body.len() >= length {
            return;
        }
    }
}

async fn ask(recorded: &Recorded, text: &str) -> reqwest::Response {
    let body =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": text}]});
    client::http()
        .post(format!("{}/v1/chat/completions", recorded.url()))
        .json(&body)
        .send()
        .await
        .expect("an answer")
}

#[tokio::test]
async fn an_upstream_that_is_not_there_is_told_in_the_providers_words() {
    let recorded = Recorded::of("http://127.0.0.1:9").await;
    let answer = ask(&recorded, "Go").await;
    assert_eq!(answer.status(), 502);
    let error: Value = answer.json().await.expect("JSON");
    let message = error["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("http://127.0.0.1:9") && message.contains("--upstream"),
        "{message}"
    );
    let ended = recorded.end().await;
    assert_eq!(ended.told.outcomes, ["left_out"]);
    assert_eq!(ended.told.findings[0].code.name(), "X-REC-01");
    assert!(ended.recording.files.is_empty());
    assert!(!ended.folder.path().join("r.yaml").exists());
}

#[tokio::test]
async fn half_a_surrogate_pair_is_told_once() {
    let end = format!("{}0\r\n\r\n", stream(&format!("{CHUNK}{END}")));
    let cut = end.replace("upon ", "\\ud83d");
    let call =
        json!({"id": "c", "function": {"name": "look", "arguments": "{\"city\": \"\\ud83d\"}"}});
    let call = json!({"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"});
    let call = whole("200 OK", &json!({"id": "c", "choices": [call]}).to_string());
    for (answers, text) in [
        ([cut, end.clone()], "Go"),
        ([end.clone(), end.clone()], "CUT"),
        ([call, end], "Go"),
    ] {
        let (url, _gone) = upstream(answers.map(send).to_vec()).await;
        let recorded = Recorded::of(&url).await;
        for text in [text, "Go on"] {
            let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": text}]});
            let asked = client::http().post(format!("{}/v1/chat/completions", recorded.url()));
            let asked = asked.header("content-type", "application/json");
            let body = body.to_string().replace("CUT", "\\ud83d");
            let answer = asked.body(body).send().await.expect("an answer");
            let _ = answer.bytes().await;
        }
        let ended = recorded.end().await;
        let codes = ended.told.findings.iter().map(|found| found.code.name());
        let n_told = codes.filter(|code| *code == "C-JSON-04").count();
        assert_eq!(n_told, 1, "{text}: {:?}", ended.notes());
    }
}

#[tokio::test]
async fn a_client_with_another_base_url_is_told() {
    let (url, _gone) = upstream(vec![send(whole("200 OK", "{}"))]).await;
    let recorded = Recorded::of(&url).await;
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Go"}]});
    let asked = client::http().post(format!("{}/chat/completions", recorded.url()));
    let answer = asked.json(&body).send().await.expect("an answer");
    assert_eq!(answer.text().await.expect("a body"), "{}", "untouched");
    let ended = recorded.end().await;
    assert_eq!(ended.told.outcomes, ["left_out"]);
    let notes = ended.notes();
    assert!(
        matches!(&notes[..], [note] if note.contains("`/v1/chat/completions`")),
        "{notes:?}"
    );
}

#[tokio::test]
async fn what_breaks_off_is_left_out_and_the_next_answer_is_recorded() {
    let good = stream(&format!("{CHUNK}{END}"));
    for (act, expected) in [
        (send(stream(CHUNK)), "aborted its response"),
        (
            send(format!("{}0\r\n\r\n", stream(CHUNK))),
            "the upstream ended its response early",
        ),
        (
            send(format!("{}0\r\n\r\n", stream("data: <html>\n\n"))),
            "event 1 is not an object of JSON",
        ),
        (
            send(whole("200 OK", "{\"object\": \"list\"}")),
            "the answer has no message",
        ),
        (send(whole("200 OK", "[")), "is not JSON"),
        (send(String::new()), "can't be reached"),
    ] {
        let (url, _gone) = upstream(vec![act.clone(), send(format!("{good}0\r\n\r\n"))]).await;
        let recorded = Recorded::of(&url).await;
        // What came goes on to the client, whatever it is.
        let _ = ask(&recorded, "Go").await.bytes().await;
        let text = ask(&recorded, "Go").await.text().await.expect("a body");
        assert_eq!(text, format!("{CHUNK}{END}"), "untouched");
        let ended = recorded.end().await;
        assert_eq!(ended.told.outcomes, ["left_out", "turn"], "{act:?}");
        assert!(
            ended.notes()[0].contains(expected),
            "{act:?}: {:?}",
            ended.notes()
        );
        assert!(ended.text("r.yaml").contains("Once upon"), "{act:?}");
        assert_eq!(
            (ended.recording.n_recorded, ended.recording.n_left_out),
            (1, 1)
        );
    }
}

#[tokio::test]
async fn an_upstream_that_stalls_is_given_up() {
    let (url, gone) = upstream(vec![Act::Hold(stream(CHUNK))]).await;
    let recorded = Recorded::with(&url, |options| options.stall = Duration::from_millis(50)).await;
    let answer = ask(&recorded, "Go").await;
    assert_eq!(answer.status(), 200);
    assert!(
        answer.bytes().await.is_err(),
        "the client sees that it broke off"
    );
    gone.await.expect("the connection is given up");
    let ended = recorded.end().await;
    assert_eq!(ended.told.outcomes, ["left_out"]);
    assert!(
        ended.notes()[0].contains("sent nothing for 0.05 s"),
        "{:?}",
        ended.notes()
    );
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_answer_only() {
    let good = format!("{}0\r\n\r\n", stream(&format!("{CHUNK}{END}")));
    let (url, gone) = upstream(vec![Act::Hold(stream(CHUNK)), send(good)]).await;
    let recorded = Recorded::of(&url).await;
    let mut answer = ask(&recorded, "Go").await;
    assert!(answer.chunk().await.expect("a chunk").is_some());
    drop(answer);
    gone.await
        .expect("the upstream's connection is given up too");
    // It asks again: that is the answer.
    let text = ask(&recorded, "Go").await.text().await.expect("a body");
    assert!(text.ends_with(END));
    let ended = recorded.end().await;
    assert_eq!(ended.told.outcomes, ["turn", "turn"]);
    let text = ended.text("r.yaml");
    assert_eq!(ended.recording.files[0].n_turns, 1, "{text}");
    assert!(!text.contains("userCancelSession"), "{text}");
}

#[tokio::test]
async fn a_stream_passes_as_it_comes() {
    let (url, _gone) = upstream(vec![Act::Hold(stream(CHUNK))]).await;
    let recorded = Recorded::of(&url).await;
    let mut answer = ask(&recorded, "Go").await;
    // The upstream has not ended, and the client has what came.
    let first = answer.chunk().await.expect("a chunk").expect("bytes");
    assert_eq!(first, CHUNK);
    let ended = recorded.end().await;
    assert_eq!(ended.told.outcomes, ["left_out"]);
    assert!(
        ended.notes()[0].contains("the recording"),
        "{:?}",
        ended.notes()
    );
}

#[tokio::test]
async fn errors_of_the_provider_are_recorded_with_what_clients_act_on() {
    let error =
        "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}";
    let answer = format!(
        "HTTP/1.1 429 Too Many\r\ncontent-type: application/json\r\nretry-after: 7\r\nx-ratelimit-limit: 5\r\n\
         x-request-id: r1\r\ncontent-length: {}\r\n\r\n{error}",
        error.len()
    );
    let (url, _gone) = upstream(vec![send(answer)]).await;
    let recorded = Recorded::of(&url).await;
    let answer = client::http()
        .post(format!("{}/v1/messages", recorded.url()))
        .json(&json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Go"}]}))
        .send()
        .await
        .expect("an answer");
    assert_eq!(
        (
            answer.status().as_u16(),
            answer.headers()["retry-after"].as_bytes()
        ),
        (429, &b"7"[..])
    );
    assert_eq!(answer.text().await.expect("a body"), error);
    let ended = recorded.end().await;
    assert_eq!(ended.told.outcomes, ["error"]);
    let text = ended.text("r.yaml");
    assert!(
        [
            "statusCode: 429",
            "\"slow down\"",
            "retryAfterSeconds: 7",
            "{ x-ratelimit-limit: \"5\" }"
        ]
        .iter()
        .all(|part| text.contains(part)),
        "{text}"
    );
}

#[tokio::test]
async fn an_error_without_a_message_is_recorded_without_one() {
    for error in [
        json!({"error": {}}),
        json!({"error": {"message": null, "type": "server_error"}}),
        json!({"error": {"message": "", "type": "server_error"}}),
    ] {
        let answer = whole("503 Unavailable", &error.to_string());
        let (url, _gone) = upstream(vec![send(answer)]).await;
        let recorded = Recorded::of(&url).await;
        assert_eq!(ask(&recorded, "Go").await.status(), 503);
        let ended = recorded.end().await;
        let text = ended.text("r.yaml");
        assert!(text.contains("message: \"\""), "{text}");
        let notes = ended.notes();
        let is_noted = notes.iter().any(|note| note.contains("no `message`"));
        assert_eq!(is_noted, error["error"]["message"].is_null(), "{notes:?}");
    }
}

#[tokio::test]
async fn what_stands_before_the_provider_is_passed_on_and_recorded_as_an_error() {
    let page = "<html>down</html>";
    let answer = format!(
        "HTTP/1.1 503 Unavailable\r\ncontent-type: text/html\r\nretry-after: 3\r\nx-served-by: edge\r\ncontent-length: {}\r\n\r\n{page}",
        page.len()
    );
    let (url, _gone) = upstream(vec![send(answer)]).await;
    let recorded = Recorded::of(&url).await;
    let answer = ask(&recorded, "Go").await;
    assert_eq!(answer.status(), 503);
    let header = |name: &str| answer.headers()[name].to_str().expect("text").to_owned();
    assert_eq!(
        ["content-type", "retry-after", "x-served-by"].map(header),
        ["text/html", "3", "edge"]
    );
    assert_eq!(answer.text().await.expect("a body"), page);
    let ended = recorded.end().await;
    assert_eq!(ended.told.outcomes, ["error"]);
    let text = ended.text("r.yaml");
    assert!(
        text.contains("statusCode: 503") && text.contains("retryAfterSeconds: 3"),
        "{text}"
    );
    assert!(
        ended.notes()[0].contains("only its message"),
        "{:?}",
        ended.notes()
    );
}

async fn gzip(text: &str) -> Vec<u8> {
    let mut compressed = Vec::new();
    let mut encoder = async_compression::tokio::bufread::GzipEncoder::new(text.as_bytes());
    encoder.read_to_end(&mut compressed).await.expect("memory");
    compressed
}

/// A request is read as a player reads it.
#[tokio::test]
async fn a_compressed_request_is_recorded() {
    let message =
        r#"{"choices": [{"finish_reason": "stop", "message": {"content": "Once upon "}}]}"#;
    let (url, _gone) = upstream(vec![send(whole("200 OK", message))]).await;
    let recorded = Recorded::of(&url).await;
    let body = gzip(r#"{"model": "m", "messages": [{"role": "user", "content": "Go \ud83d"}]}"#);
    let request = client::http().post(format!("{}/v1/chat/completions", recorded.url()));
    let request = request.header("content-encoding", "gzip").body(body.await);
    let answer = request.send().await.expect("an answer");
    assert_eq!(answer.text().await.expect("a body"), message);
    let ended = recorded.end().await;
    assert_eq!(ended.told.outcomes, ["turn"], "{:?}", ended.notes());
    let text = ended.text("r.yaml");
    assert!(text.contains("Go \u{fffd}"), "{text}");
}

#[tokio::test]
async fn a_compressed_answer_is_decoded() {
    let events = format!("{CHUNK}{END}");
    let message =
        r#"{"choices": [{"finish_reason": "stop", "message": {"content": "Once upon "}}]}"#;
    for (kind, body) in [
        ("text/event-stream", events.as_str()),
        ("application/json", message),
    ] {
        let compressed = gzip(body).await;
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            compressed.len()
        );
        let answer = [head.as_bytes(), &compressed].concat();
        let (url, _gone) = upstream(vec![Act::Send(answer)]).await;
        let recorded = Recorded::of(&url).await;
        let answer = ask(&recorded, "Go").await;
        assert!(!answer.headers().contains_key("content-encoding"), "{kind}");
        assert_eq!(answer.text().await.expect("a body"), body);
        let ended = recorded.end().await;
        assert_eq!(ended.told.outcomes, ["turn"], "{kind} {:?}", ended.notes());
        assert!(ended.text("r.yaml").contains("Once upon"), "{kind}");
    }
}

#[tokio::test]
async fn answers_that_a_player_ends_in_another_way_have_a_note() {
    let failed = r#"{"object": "response", "id": "r", "status": "failed", "output": [],
        "error": {"code": "server_error", "message": "down"}}"#;
    let unended = r#"data: {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}

data: [DONE]

"#;
    let list = r#"[{"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}}]}
,{"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1}}]"#;
    let unnamed =
        r#"{"object": "response", "id": "r", "status": "failed", "output": [], "error": null}"#;
    let empty = r#"{"candidates": [{"content": {}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 0}}"#;
    let input = json!({"model": "m", "input": "Go"});
    let messages =
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Go"}]});
    let contents = json!({"contents": [{"role": "user", "parts": [{"text": "Go"}]}]});
    for (path, request, answer, note) in [
        (
            "/v1/responses",
            input.clone(),
            whole("200 OK", failed),
            Some("status 200"),
        ),
        (
            "/v1/responses",
            input,
            whole("200 OK", unnamed),
            Some("no `message`"),
        ),
        (
            "/v1beta/models/m:generateContent",
            contents.clone(),
            whole("200 OK", empty),
            Some("a `content` without parts"),
        ),
        (
            "/v1/chat/completions",
            messages,
            stream(unended),
            Some("no `finish_reason`"),
        ),
        (
            "/v1beta/models/m:streamGenerateContent",
            contents,
            whole("200 OK", list),
            None,
        ),
    ] {
        let (url, _gone) = upstream(vec![send(answer)]).await;
        let recorded = Recorded::of(&url).await;
        let url = format!("{}{path}", recorded.url());
        let request = client::http().post(url).json(&request);
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), 200);
        // The connection of a stream is not ended in order.
        let _ = answer.text().await;
        let ended = recorded.end().await;
        let notes = ended.notes();
        match note {
            Some(note) => assert!(notes.iter().any(|known| known.contains(note)), "{notes:?}"),
            None => assert_eq!(notes, [] as [&str; 0], "{}", ended.text("r.yaml")),
        }
        let is_recorded = matches!(ended.told.outcomes[..], ["turn" | "error"]);
        assert!(is_recorded, "{path} {:?}", ended.told.outcomes);
    }
}

#[tokio::test]
async fn files_are_not_replaced_unless_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("mine.yaml");
    std::fs::write(&out, "mine").expect("writable");
    let upstream = Upstream::parse("http://127.0.0.1:9").expect("a URL");
    for path in [
        out.clone(),
        folder.path().join("no/such.yaml"),
        folder.path().to_owned(),
    ] {
        let options = RecordOptions::new(upstream.clone(), path);
        let error = RecordLlm::new(options).start().await.expect_err("refused");
        assert!(error.to_string().contains("X-ARG-01"), "{error}");
    }
    let options = RecordOptions {
        replaces: true,
        ..RecordOptions::new(upstream, &out)
    };
    let running = RecordLlm::new(options).start().await.expect("it starts");
    running.stop().await;
    assert_eq!(
        std::fs::read_to_string(&out).expect("a file"),
        "mine",
        "nothing was recorded"
    );
}

#[tokio::test]
async fn an_image_in_a_result_is_named() {
    let answer = r#"{"type": "message", "content": [{"type": "text", "text": "A cat."}], "stop_reason": "end_turn"}"#;
    let (url, _gone) = upstream(vec![send(whole("200 OK", answer))]).await;
    let recorded = Recorded::of(&url).await;
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
    let messages = json!([
        {"role": "user", "content": "Look"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "shoot", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [
            {"type": "text", "text": "Taken"}, image,
        ]}]},
    ]);
    let asked = client::http()
        .post(format!("{}/v1/messages", recorded.url()))
        .json(&json!({"model": "m", "max_tokens": 9, "messages": messages}));
    assert_eq!(asked.send().await.expect("an answer").status(), 200);
    let ended = recorded.end().await;
    assert_eq!(ended.told.outcomes, ["turn"]);
    assert!(
        ended
            .notes()
            .iter()
            .any(|note| note.contains("(image) is left out")),
        "{:?}",
        ended.notes()
    );
    assert!(
        ended.text("r.yaml").contains("contains: Taken"),
        "{}",
        ended.text("r.yaml")
    );
}

#[tokio::test]
async fn a_prompt_may_be_only_a_document() {
    let answer = |text: &str| {
        format!(
            r#"{{"type": "message", "content": [{{"type": "text", "text": "{text}"}}], "stop_reason": "end_turn", "usage": {{"input_tokens": 1, "output_tokens": 1}}}}"#
        )
    };
    let (first, second) = (answer("I read it."), answer("Nothing more."));
    let answers = vec![
        send(whole("200 OK", &first)),
        send(whole("200 OK", &second)),
    ];
    let (url, _gone) = upstream(answers).await;
    let recorded = Recorded::of(&url).await;
    let source = json!({"type": "text", "media_type": "text/plain", "data": "Notes of the day"});
    let document = json!({"type": "document", "source": source, "title": "Notes 3.txt"});
    let prompt = json!({"role": "user", "content": [document]});
    let asks = async |url: &str, messages: Value| {
        let asked = client::http()
            .post(format!("{url}/v1/messages"))
            .json(&json!({"model": "m", "max_tokens": 9, "messages": messages}));
        asked.send().await.expect("an answer").status()
    };
    let history = json!([
        prompt,
        {"role": "assistant", "content": [{"type": "text", "text": "I read it."}]},
        {"role": "user", "content": "And now?"},
    ]);
    for messages in [json!([prompt]), history] {
        assert_eq!(asks(&recorded.url(), messages).await, 200);
    }
    let ended = recorded.end().await;
    assert_eq!(ended.told.outcomes, ["turn"; 2]);
    assert_eq!(ended.notes(), [""; 0]);
    let text = ended.text("r.yaml");
    assert!(text.contains("And now?"), "{text}");
    assert!(text.contains("uri: \"file:///Notes%203.txt\""), "{text}");
}

/// A model that does what its request does not allow plays so again.
#[tokio::test]
async fn a_model_that_does_not_obey_is_recorded_as_it_is() {
    let tools = json!([{"type": "function", "function": {"name": "lookup", "parameters": {"type": "object"}}},
        {"type": "function", "function": {"name": "other", "parameters": {"type": "object"}}}]);
    let text = json!({"role": "assistant", "content": "Sure! hello"});
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "lookup", "arguments": "{}"}});
    let calls = |ids: &[&str]| {
        let calls: Vec<Value> = ids.iter().map(|id| call(id)).collect();
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    };
    let schema =
        json!({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}});
    let allowed = json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "other"}}]}});
    for (demand, message) in [
        (json!({"response_format": schema}), text.clone()),
        (json!({"tools": tools, "tool_choice": "required"}), text),
        (
            json!({"tools": tools, "parallel_tool_calls": false}),
            calls(&["a", "b"]),
        ),
        (
            json!({"tools": tools, "tool_choice": "none"}),
            calls(&["a"]),
        ),
        (
            json!({"tools": tools, "tool_choice": {"type": "function", "function": {"name": "other"}}}),
            calls(&["a"]),
        ),
        (
            json!({"tools": tools, "tool_choice": allowed}),
            calls(&["a", "b"]),
        ),
    ] {
        let finish = if message["content"].is_null() {
            "tool_calls"
        } else {
            "stop"
        };
        let answer = json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}});
        let (url, _) = upstream(vec![send(whole("200 OK", &answer.to_string()))]).await;
        let recorded = Recorded::of(&url).await;
        let mut body = demand;
        body["model"] = json!("m");
        body["messages"] = json!([{"role": "user", "content": "Hello"}]);
        let post = async |url: String| {
            let request = client::http().post(format!("{url}/v1/chat/completions"));
            let answer = request.json(&body).send().await.expect("an answer");
            let status = answer.status().as_u16();
            (status, answer.json::<Value>().await.expect("JSON"))
        };
        post(recorded.url()).await;
        let ended = recorded.end().await;
        let running = play(ended.folder.path(), &Buffer::default()).await;
        let (status, played) = post(running.base_url()).await;
        let text = ended.text("r.yaml");
        assert_eq!(status, 200, "{played}\n{text}");
        let choice = &played["choices"][0];
        assert_eq!(choice["finish_reason"], finish, "{text}");
        let names = |message: &Value| message["tool_calls"].as_array().map_or(0, Vec::len);
        assert_eq!(names(&choice["message"]), names(&message), "{text}");
        assert!(running.stop().await.passed, "{text}");
    }
}

/// What has no content in the original has none when it is played: a stream that fails before it says anything, and
/// candidates of Gemini's.
#[tokio::test]
async fn what_says_nothing_is_recorded_as_it_is() {
    let created = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"object\":\"response\",\"status\":\"in_progress\",\"output\":[]}}\n\n";
    let failure = |message: &str| {
        let error = json!({"code": "server_error", "message": message});
        let response = json!({"id": "r", "object": "response", "status": "failed", "error": error, "output": []});
        let failed = json!({"type": "response.failed", "response": response});
        let failed = format!("{created}event: response.failed\ndata: {failed}\n\n");
        format!("{}0\r\n\r\n", stream(&failed))
    };
    let candidate = |reason: &str| {
        let answer = json!({"candidates": [{"finishReason": reason, "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 1}, "modelVersion": "m", "responseId": "x"});
        whole("200 OK", &answer.to_string())
    };
    let ask = json!({"contents": [{"role": "user", "parts": [{"text": "Draw"}]}]});
    let gemini = "/v1beta/models/m:generateContent";
    let responses = json!({"model": "m", "input": "Draw", "stream": true});
    for (path, body, answer, has) in [
        (gemini, &ask, candidate("MAX_TOKENS"), "\"MAX_TOKENS\""),
        (gemini, &ask, candidate("STOP"), "\"STOP\""),
        (
            "/v1/responses",
            &responses,
            failure("boom"),
            r#""message":"boom""#,
        ),
        (
            "/v1/responses",
            &responses,
            failure(""),
            r#""error":{"code":"server_error","message":""}"#,
        ),
    ] {
        let (url, _) = upstream(vec![send(answer)]).await;
        let recorded = Recorded::of(&url).await;
        let post = async |url: String| {
            let request = client::http().post(format!("{url}{path}"));
            let answer = request.json(body).send().await.expect("an answer");
            (answer.status().as_u16(), answer.text().await.expect("text"))
        };
        post(recorded.url()).await;
        let ended = recorded.end().await;
        assert!(
            ended.notes().iter().all(|note| !note.contains("status")),
            "{:?}",
            ended.notes()
        );
        let running = play(ended.folder.path(), &Buffer::default()).await;
        let (status, played) = post(running.base_url()).await;
        let text = ended.text("r.yaml");
        assert!(
            status == 200 && played.contains(has),
            "{status} {played}\n{text}"
        );
        assert!(
            !played.contains("\"content\"") && !played.contains("output_item"),
            "{played}\n{text}"
        );
    }
}
