//! The client against a server that answers as it is told to, and against our own stand-in for a model.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, Uri};
use cuecard_browser_steps::model::ProviderKind;
use cuecard_browser_steps::question::{Answer, FUNCTION_NAME, SYSTEM};

use super::*;
use cuecard_llm::MockLlm;
use cuecard_runtime::provider::Provider;

const KEY: &str = "sk-very-secret-key";

/// An answer that is given: status, headers, body.
type Given = (u16, Vec<(&'static str, String)>, String);
/// What arrived: path, headers, body.
type Arrived = (String, HeaderMap, Json);

/// A server that gives these answers, one after the other, and the last one for ever.
struct Server {
    url: String,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

#[derive(Clone)]
struct Served {
    answers: Arc<Mutex<VecDeque<Given>>>,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl Server {
    async fn start(answers: Vec<Given>) -> Self {
        let arrived = Arc::<Mutex<Vec<Arrived>>>::default();
        let served = Served {
            answers: Arc::new(Mutex::new(answers.into())),
            arrived: arrived.clone(),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a free port");
        let address = listener.local_addr().expect("an address");
        let app = Router::new().fallback(answer).with_state(served);
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self {
            url: format!("http://{address}"),
            arrived,
        }
    }

    fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().expect("nobody panicked").clone()
    }
}

async fn answer(
    State(served): State<Served>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let body = serde_json::from_slice(&body).expect("requests are JSON");
    served
        .arrived
        .lock()
        .expect("nobody panicked")
        .push((uri.path().to_owned(), headers, body));
    let mut answers = served.answers.lock().expect("nobody panicked");
    let (status, headers, body) = match answers.len() {
        1 => answers[0].clone(),
        _ => answers.pop_front().expect("an answer"),
    };
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Body::from(body)).expect("a response")
}

/// An answer of Chat Completions with one call.
fn chat_call(arguments: &str) -> Given {
    let call = json!({"id": "call_1", "type": "function", "function": {"name": FUNCTION_NAME, "arguments": arguments}});
    let body = json!({"id": "x", "choices": [{"index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": null, "tool_calls": [call]}}]});
    (200, Vec::new(), body.to_string())
}

/// An answer of Messages with one call.
fn messages_call(input: Json) -> Given {
    let body = json!({"id": "x", "type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": FUNCTION_NAME, "input": input}]});
    (200, Vec::new(), body.to_string())
}

fn error(status: u16, message: &str) -> Given {
    let body = json!({"error": {"message": message, "type": "some_error"}});
    (status, Vec::new(), body.to_string())
}

fn settings(kind: ProviderKind, url: &str) -> ModelSettings {
    let provider = Provider::parse(url).expect("a URL");
    let mut settings = ModelSettings::new(kind, "some-model", provider);
    settings.key = Some(KEY.to_owned());
    settings.key_variable = Some("SOME_KEY".to_owned());
    settings.pause = Duration::from_millis(1);
    settings
}

/// What comes of one sentence.
async fn asked(settings: ModelSettings) -> Result<Answer, Failure> {
    let state = login();
    let action = "delete the first thing";
    let client = HttpModelClient::new(settings).expect("a client");
    let shown = format!("{client:?}");
    assert!(!shown.contains(KEY), "{shown}");
    ModelInterpreter::new(Some(client), None, 3)
        .interpret(&question(&state, action), &prompt(&state, action))
        .await
}

#[tokio::test]
async fn chat_is_asked_for_one_call_with_three_blocks() {
    let server = Server::start(vec![
        chat_call("{\"actionType\": "),
        chat_call(&click(1).to_string()),
    ])
    .await;
    let url = format!("{}/v1", server.url);
    let found = asked(settings(ProviderKind::OpenAi, &url)).await;
    assert!(matches!(found.expect("an answer"), Answer::Act { .. }));
    let arrived = server.arrived();
    let (path, headers, body) = &arrived[0];
    assert_eq!(path, "/v1/chat/completions");
    assert_eq!(headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(body["model"], "some-model");
    assert_eq!(body["temperature"], 0);
    assert_eq!(body["messages"][0]["content"], SYSTEM);
    let blocks = body["messages"][1]["content"].as_array().expect("blocks");
    assert_eq!(blocks.len(), 3);
    assert_eq!(blocks[2]["text"], "delete the first thing");
    assert_eq!(body["tools"][0]["function"]["name"], FUNCTION_NAME);
    assert_eq!(body["tool_choice"]["function"]["name"], FUNCTION_NAME);
    // What was wrong is the result of the call, which is repeated as it came.
    let again = &arrived[1].2["messages"];
    assert_eq!(
        again[2]["tool_calls"][0]["function"]["arguments"],
        "{\"actionType\": "
    );
    assert_eq!(again[3]["tool_call_id"], "call_1");
    assert_eq!(again[3]["content"], "the arguments are no JSON object");
}

#[tokio::test]
async fn messages_is_asked_for_one_call_with_three_blocks() {
    let text = json!({"type": "message", "content": [{"type": "text", "text": "Let me see."}]});
    let server = Server::start(vec![
        (200, Vec::new(), text.to_string()),
        messages_call(click(9)),
        messages_call(click(1)),
    ])
    .await;
    let found = asked(settings(ProviderKind::Anthropic, &server.url)).await;
    found.expect("an answer");
    let arrived = server.arrived();
    assert_eq!(arrived.len(), 3);
    let (path, headers, body) = &arrived[0];
    assert_eq!(path, "/v1/messages");
    assert_eq!(headers["x-api-key"], KEY);
    assert_eq!(headers["anthropic-version"], "2023-06-01");
    assert_eq!(body["system"], SYSTEM);
    assert_eq!(body["temperature"], 0);
    assert_eq!(
        body["messages"][0]["content"]
            .as_array()
            .expect("blocks")
            .len(),
        3
    );
    assert_eq!(body["tool_choice"]["name"], FUNCTION_NAME);
    assert!(body["max_tokens"].is_u64());
    let again = &arrived[2].2["messages"];
    assert_eq!(again[1]["content"][0]["text"], "Let me see.");
    assert!(
        again[2]["content"][0]["text"]
            .as_str()
            .expect("a text")
            .contains("no call")
    );
    assert_eq!(again[3]["content"][0]["id"], "toolu_1");
    assert_eq!(again[4]["content"][0]["tool_use_id"], "toolu_1");
    assert_eq!(again[4]["content"][0]["is_error"], true);
}

#[tokio::test]
async fn base_urls_are_those_that_clients_of_the_apis_take() {
    for (kind, base, expected) in [
        (ProviderKind::OpenAi, "", "/v1/chat/completions"),
        (ProviderKind::OpenAi, "/v1/", "/v1/chat/completions"),
        (
            ProviderKind::OpenAi,
            "/v1beta/openai",
            "/v1beta/openai/chat/completions",
        ),
        (ProviderKind::Anthropic, "", "/v1/messages"),
        (ProviderKind::Anthropic, "/v1", "/v1/messages"),
        (ProviderKind::Anthropic, "/proxy", "/proxy/v1/messages"),
    ] {
        let answer = match kind {
            ProviderKind::OpenAi => chat_call(&click(1).to_string()),
            ProviderKind::Anthropic => messages_call(click(1)),
        };
        let server = Server::start(vec![answer]).await;
        let url = format!("{}{base}", server.url);
        asked(settings(kind, &url)).await.expect("an answer");
        assert_eq!(server.arrived()[0].0, expected);
    }
}

#[tokio::test]
async fn what_may_pass_is_tried_three_times() {
    for status in [408, 409, 429, 500, 503, 529] {
        let server = Server::start(vec![
            error(status, "busy"),
            error(status, "busy"),
            chat_call(&click(1).to_string()),
        ])
        .await;
        asked(settings(ProviderKind::OpenAi, &server.url))
            .await
            .unwrap_or_else(|error| panic!("{status}: {error}"));
        assert_eq!(server.arrived().len(), 3);
    }
    let server = Server::start(vec![error(503, "busy")]).await;
    let error = asked(settings(ProviderKind::OpenAi, &server.url))
        .await
        .expect_err("it stays so");
    assert!(error.is(codes::BROWSER_MODEL));
    let url = &server.url;
    assert_eq!(
        error.message,
        format!("the model `some-model` at `{url}` answered with status 503: busy, tried 3 times")
    );
    assert_eq!(server.arrived().len(), 3);
}

#[tokio::test]
async fn what_will_not_pass_is_told_at_once_without_the_key() {
    for status in [400, 401, 403, 404, 413, 302] {
        let server = Server::start(vec![error(status, &format!("bad key {KEY}\nread this"))]).await;
        let error = asked(settings(ProviderKind::OpenAi, &server.url))
            .await
            .expect_err("it is refused");
        assert_eq!(server.arrived().len(), 1, "{status}");
        let whole = format!("{error:?}");
        assert!(!whole.contains(KEY), "{whole}");
        assert!(error.message.ends_with("bad key *** read this"), "{error}");
        if status == 401 {
            assert_eq!(error.help.as_deref(), Some("the key comes from `SOME_KEY`"));
        }
    }
}

#[tokio::test]
async fn a_long_wait_is_not_waited_for() {
    let mut answer = error(429, "too many");
    answer.1.push(("retry-after", "3600".to_owned()));
    let server = Server::start(vec![answer]).await;
    let error = asked(settings(ProviderKind::OpenAi, &server.url))
        .await
        .expect_err("nobody waits an hour");
    assert_eq!(server.arrived().len(), 1);
    assert!(error.message.contains("retry after 3600 s"), "{error}");
}

#[tokio::test]
async fn what_the_server_asks_for_is_waited_for() {
    let mut answer = error(429, "too many");
    answer.1.push(("retry-after-ms", "300".to_owned()));
    let server = Server::start(vec![answer, chat_call(&click(1).to_string())]).await;
    let began = cuecard_runtime::clock::Stopwatch::start();
    asked(settings(ProviderKind::OpenAi, &server.url))
        .await
        .expect("an answer");
    assert!(began.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn what_a_model_does_not_take_is_left_out() {
    let server = Server::start(vec![
        error(400, "Unsupported value: 'temperature' does not support 0 with this model."),
        error(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        error(400, "Unknown parameter: 'parallel_tool_calls'."),
        chat_call(&click(1).to_string()),
    ])
    .await;
    asked(settings(ProviderKind::OpenAi, &server.url))
        .await
        .expect("an answer");
    let body = &server.arrived()[3].2;
    for name in ["temperature", "max_tokens", "parallel_tool_calls"] {
        assert!(body.get(name).is_none(), "{name}");
    }
    assert!(body["max_completion_tokens"].is_u64());
    // Each is left out once; the same complaint again is an error.
    let complaint = error(400, "`temperature` is deprecated for this model.");
    let server = Server::start(vec![complaint]).await;
    asked(settings(ProviderKind::Anthropic, &server.url))
        .await
        .expect_err("it is refused");
    assert_eq!(server.arrived().len(), 2);
}

#[tokio::test]
async fn what_is_no_answer_is_told() {
    for body in [
        "<html>hello</html>".to_owned(),
        "{}".to_owned(),
        "[".repeat(100_000),
        format!("\"{}\"", "x".repeat(5 << 20)),
    ] {
        let server = Server::start(vec![(200, Vec::new(), body)]).await;
        let error = asked(settings(ProviderKind::OpenAi, &server.url))
            .await
            .expect_err("it can't be read");
        assert!(
            error.message.contains("returned an unexpected response"),
            "{error}"
        );
        assert!(error.message.len() < 1_000, "{error}");
        assert_eq!(server.arrived().len(), 1);
    }
}

#[tokio::test]
async fn who_does_not_listen_and_who_is_slow_is_told() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let url = format!("http://{}", free.local_addr().expect("an address"));
    // It listens, and never answers.
    let mut slow = settings(ProviderKind::OpenAi, &url);
    slow.timeout = Duration::from_millis(100);
    let error = asked(slow).await.expect_err("nothing comes");
    assert!(
        error
            .message
            .ends_with("no response within 0.1 s, tried 3 times"),
        "{error}"
    );
    drop(free);
    let error = asked(settings(ProviderKind::OpenAi, &url))
        .await
        .expect_err("nothing is listening");
    assert!(error.message.contains("can't be reached"), "{error}");
    assert!(error.message.ends_with("tried 3 times"), "{error}");
}

#[test]
fn a_key_that_can_not_be_sent_is_told() {
    let mut settings = settings(ProviderKind::OpenAi, "http://127.0.0.1:1");
    settings.key = Some("a\nb".to_owned());
    let error = HttpModelClient::new(settings).expect_err("it can't be sent");
    assert!(!error.message.contains("a\nb"), "{error}");
}

#[tokio::test]
async fn our_own_stand_in_for_a_model_is_understood_in_both_dialects() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.yaml");
    let call = |index: u32| {
        format!(
            "  - agentToolUse: {{toolName: {FUNCTION_NAME}, args: {}}}\n",
            click(index)
        )
    };
    let timeline = format!(
        "name: model\ntimeline:\n  - userInputs: [[0, \"delete the first thing\"]]\n  - llmResponse: []\n{}  - llmResponse: []\n{}",
        call(9),
        call(1)
    );
    std::fs::write(&path, timeline).expect("writable");
    for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let running = MockLlm::from_file(&path).start().await.expect("it starts");
        asked(settings(kind, &running.base_url()))
            .await
            .unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        let verdict = running.stop().await;
        assert!(verdict.passed, "{:?}", verdict.findings);
    }
}
