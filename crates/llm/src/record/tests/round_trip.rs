//! What is recorded plays the same to the same client: any conversation, in each API, streamed or not.

use cuecard_source::yaml;
use cuecard_timeline::script::Endpoint;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::client::{self, Client, Manner, Seen};
use super::*;

/// One turn of a model, as events of a timeline.
fn turn(is_last: bool) -> impl Strategy<Value = Vec<Value>> {
    let text = prop::option::weighted(0.8, "[a-zA-Z][a-z :#{}\"'\\\\\né☂-]{0,24}");
    let entries = |key: &'static str| {
        move |texts: Vec<String>| {
            let entries: Vec<Value> = texts.iter().map(|text| json!([1, text])).collect();
            json!({ key: entries })
        }
    };
    let think = prop::collection::vec("[A-Z][a-z ]{0,12}", 1..3).prop_map(entries("think"));
    let error = (
        prop::sample::select(vec![429, 500, 529]),
        prop::option::of(1..9_u64),
        prop::option::weighted(0.3, "[a-z]{1,8}"),
    )
        .prop_map(|(status, retry, partial)| {
            // In the middle of a stream of OpenAI's, no error says that it is a 529.
            let status = match partial {
                Some(_) => status.min(500),
                None => status,
            };
            let mut error = json!({"statusCode": status, "message": "busy: try again"});
            if let Some(seconds) = retry {
                error["retryAfterSeconds"] = json!(seconds);
            }
            let said = partial.map(|text| json!({"assistant": [[1, text]]}));
            said.into_iter()
                .chain([json!({ "error": error })])
                .collect::<Vec<_>>()
        });
    let call = prop_oneof![
        "[A-Z][a-z ]{0,8}".prop_map(|city| {
            json!({"agentToolUse": {"toolName": "get_weather", "args": {"city": city, "days": 2}}})
        }),
        "[a-z' ;&]{1,12}".prop_map(|cmd| json!({"runCmd": {"cmd": format!("echo {cmd}")}})),
        Just(json!({"readFile": {"path": "src/a.rs", "limit": 3}})),
        Just(json!({"agentToolUse": {"toolName": "get_weather", "args": {}}})),
    ];
    let n_calls = if is_last { 0..1_usize } else { 1..3_usize };
    let usage = prop::option::weighted(0.4, (0..900_u64, 0..900_u64));
    let stop = prop::option::weighted(0.1, Just("max_tokens"));
    let behind = prop::option::weighted(0.4, "[A-Z][a-z .]{0,12}");
    (
        prop::collection::vec(error, 0..2),
        prop::option::weighted(0.3, think),
        text,
        prop::collection::vec(call, n_calls),
        usage,
        stop,
        behind,
    )
        .prop_map(move |(errors, think, text, calls, usage, stop, behind)| {
            let has_no_error = errors.is_empty();
            let mut elements: Vec<Value> = errors.into_iter().flatten().collect();
            elements.extend(think);
            // An answer without anything may be forgotten by its client.
            let text = text.or(calls.is_empty().then(|| "Done.".to_owned()));
            elements.extend(text.map(|text| json!({"assistant": [[2, text]]})));
            let mut calls = calls.into_iter();
            // An answer with an error has no calls in it.
            if let Some(behind) = behind.filter(|_| has_no_error)
                && let Some(first) = calls.next()
            {
                elements.push(as_element(first));
                elements.push(json!({"assistant": [[1, behind]]}));
            }
            let mut response = json!({ "llmResponse": elements });
            if let Some((input, output)) = usage {
                response["usage"] = json!({"input_tokens": input, "output_tokens": output});
            }
            if let Some(stop) = stop {
                response["stopReason"] = json!(stop);
            }
            let mut events = vec![response];
            events.extend(calls);
            events
        })
}

/// A call as an element of a response.
fn as_element(call: Value) -> Value {
    match call.as_object().and_then(|call| call.iter().next()) {
        Some((tool, args)) if tool != "agentToolUse" => {
            json!({"agentToolUse": {"toolName": tool, "args": args}})
        }
        _ => call,
    }
}

/// In a message of Chat the calls stand behind all of the text.
fn with_calls_behind(event: Value) -> Vec<Value> {
    let Some(elements) = event["llmResponse"].as_array() else {
        return vec![event];
    };
    let is_call = |element: &&Value| element.get("agentToolUse").is_some();
    let (calls, said): (Vec<&Value>, Vec<&Value>) = elements.iter().partition(is_call);
    let mut response = event.clone();
    response["llmResponse"] = json!(said);
    let calls = calls.into_iter().cloned();
    [response].into_iter().chain(calls).collect()
}

/// What the user says, and what the model does until it is done.
fn exchange() -> impl Strategy<Value = (String, Vec<Value>)> {
    let turns = prop::collection::vec(turn(false), 0..3);
    ("[A-Z][a-zA-Z ,.:?-]{2,30}", turns, turn(true)).prop_map(|(text, turns, last)| {
        let events = turns.into_iter().flatten().chain(last).collect();
        (text, events)
    })
}

fn manner() -> impl Strategy<Value = Manner> {
    let endpoint = prop::sample::select(vec![
        Endpoint::Messages,
        Endpoint::Chat,
        Endpoint::Responses,
    ]);
    (endpoint, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(endpoint, streams, goes_on, reminds)| Manner {
            endpoint,
            streams,
            goes_on: goes_on && endpoint == Endpoint::Responses,
            reminds,
        },
    )
}

/// What a trace says, without ids and times, which the bodies of requests hold. Chat has no word for what is thought.
fn told(trace: &str, endpoint: Endpoint) -> Vec<Value> {
    trace
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["data"].is_object())
        // What is noted about the file is that file's own.
        .filter(|line| line["type"] != "http_exchange" && line["type"] != "log")
        .filter(|line| endpoint != Endpoint::Chat || line["type"] != "thought")
        .map(|mut line| {
            if let Some(data) = line["data"].as_object_mut() {
                data.remove("call_id");
            }
            json!([line["type"], line["data"]])
        })
        .collect()
}

/// What is said before an error, which only a stream can say.
fn without_partial_answers(event: &mut Value) {
    if let Some(elements) = event.get_mut("llmResponse").and_then(Value::as_array_mut) {
        let is_error: Vec<bool> = elements
            .iter()
            .map(|element| element["error"].is_object())
            .collect();
        let mut next = is_error.into_iter().skip(1);
        elements.retain(|_| !next.next().unwrap_or(false));
    }
}

async fn converse(url: String, manner: Manner, texts: &[String]) -> Vec<Seen> {
    let mut client = Client::new(url, manner);
    for text in texts {
        assert!(client.says(text).await, "{:#?}", client.seen);
    }
    client.seen
}

fn check(manner: Manner, conversation: &[(String, Vec<Value>)]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut events = Vec::new();
        let mut texts = Vec::new();
        for (idx, (text, answers)) in conversation.iter().enumerate() {
            let text = format!("{text} {idx}");
            events.push(json!({"userInputs": [[0, text]]}));
            let mut answers = answers.clone();
            if !manner.streams {
                answers.iter_mut().for_each(without_partial_answers);
            }
            match manner.endpoint {
                Endpoint::Chat => events.extend(answers.into_iter().flat_map(with_calls_behind)),
                _ => events.extend(answers),
            }
            texts.push(text);
        }
        let original = tempfile::tempdir().expect("a folder");
        let scenario = yaml::write(&json!({"name": "original", "timeline": events}));
        std::fs::write(original.path().join("a.yaml"), &scenario).expect("writable");

        let first = Buffer::default();
        let model = play(original.path(), &first).await;
        let recorded = Recorded::of(&model.base_url()).await;
        let seen = converse(recorded.url(), manner, &texts).await;
        let ended = recorded.end().await;
        let verdict = model.stop().await;
        assert!(verdict.passed, "{:?}\n{scenario}", verdict.findings);
        let files = &ended.recording.files;
        let text = ended.text("r.yaml");
        assert_eq!(files.len(), 1, "{:?}\n{text}", ended.notes());
        assert_eq!(ended.notes(), [] as [&str; 0], "{scenario}\n---\n{text}");

        let second = Buffer::default();
        let model = play(ended.folder.path(), &second).await;
        assert!(
            model.diagnostics().is_empty(),
            "{:?}\n{text}",
            model.diagnostics()
        );
        let again = converse(model.base_url(), manner, &texts).await;
        let verdict = model.stop().await;
        assert!(verdict.passed, "{:?}\n{text}", verdict.findings);
        assert_eq!(verdict.unplayed, [], "{text}");
        assert!(
            verdict.findings.is_empty(),
            "{:?}\n{text}",
            verdict.findings
        );
        assert_eq!(again, seen, "{scenario}\n---\n{text}");
        assert_eq!(
            told(&second.text(), manner.endpoint),
            told(&first.text(), manner.endpoint),
            "{scenario}\n---\n{text}"
        );
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_recording_plays_the_same_to_the_same_client(
        manner in manner(), conversation in prop::collection::vec(exchange(), 1..4)
    ) {
        check(manner, &conversation);
    }
}

#[tokio::test]
async fn side_calls_and_several_conversations_are_recorded() {
    let original = tempfile::tempdir().expect("a folder");
    for (name, prompt, answer) in [
        ("a", "Fix the test", "Fixed."),
        ("b", "Read the docs", "Read."),
    ] {
        let scenario = json!({
            "name": name,
            "server": {"sideCalls": [{"match": "title generator", "reply": "A title"}]},
            "timeline": [{"userInputs": [[0, prompt]]}, {"llmResponse": [{"assistant": [[0, answer]]}]}],
        });
        let path = original.path().join(format!("{name}.yaml"));
        std::fs::write(path, yaml::write(&scenario)).expect("writable");
    }
    let model = play(original.path(), &Buffer::default()).await;
    let recorded = Recorded::of(&model.base_url()).await;
    let http = client::http();
    let ask = |system: &'static str, text: &'static str, url: String| {
        let body = json!({"model": "m", "messages": [
            {"role": "system", "content": system}, {"role": "user", "content": text},
        ]});
        let request = http.post(format!("{url}/v1/chat/completions")).json(&body);
        async move {
            let answer: Value = request
                .send()
                .await
                .expect("an answer")
                .json()
                .await
                .expect("JSON");
            answer["choices"][0]["message"]["content"].clone()
        }
    };
    let questions = [
        ("You are a title generator.", "Fix the test", "A title"),
        ("Be brief.", "Fix the test", "Fixed."),
        ("Be brief.", "Read the docs", "Read."),
    ];
    for (system, text, expected) in questions {
        assert_eq!(ask(system, text, recorded.url()).await, expected);
    }
    // What is no request for an answer is passed on, and is in no scenario.
    let models = http
        .get(format!("{}/v1/models", recorded.url()))
        .send()
        .await
        .expect("an answer");
    assert_eq!(models.status(), 200);
    let ended = recorded.end().await;
    // What comes first may be a conversation; the second one shows that it is not.
    assert_eq!(ended.told.outcomes, ["turn", "turn", "turn", "other"]);
    let counts: Vec<_> = ended
        .recording
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.n_turns, file.n_side_calls))
        .collect();
    assert_eq!(counts, [("r", 1, 1), ("r-2", 1, 0)]);
    model.stop().await;

    let model = play(ended.folder.path(), &Buffer::default()).await;
    for (system, text, expected) in questions {
        assert_eq!(ask(system, text, model.base_url()).await, expected);
    }
    assert!(model.stop().await.passed);
}

#[tokio::test]
async fn keys_and_secrets_are_written_nowhere() {
    let original = tempfile::tempdir().expect("a folder");
    let scenario = "name: a\ntimeline:\n  - userInputs: [[0, \"Log in\"]]\n  - llmResponse:\n      - assistant: [[0, \"hunter22 is no password, and k-1234567890 no key.\"]]\n";
    std::fs::write(original.path().join("a.yaml"), scenario).expect("writable");
    let model = play(original.path(), &Buffer::default()).await;
    let recorded = Recorded::with(&model.base_url(), |options| {
        options.secrets.push("hunter22".to_owned());
    })
    .await;
    let body = json!({
        "model": "m", "messages": [{"role": "user", "content": "Log in with hunter22"}],
        "metadata": {"api_key": "in-the-body-1"},
        "tools": [{"type": "function", "function": {"name": "read", "description": format!("token: 15, not hf_{}", "x7".repeat(17))}}],
    });
    let answer = client::http()
        .post(format!("{}/v1/chat/completions", recorded.url()))
        .bearer_auth("k-1234567890")
        .json(&body)
        .send()
        .await
        .expect("an answer");
    let said = answer.text().await.expect("a body");
    assert!(
        said.contains("hunter22 is no password"),
        "the client gets all of it: {said}"
    );
    let ended = recorded.end().await;
    let exchanges = json!(ended.told.exchanges).to_string();
    for text in [&ended.text("r.yaml"), &ended.trace, &exchanges] {
        assert!(!text.is_empty());
        for secret in ["hunter22", "k-1234567890", "in-the-body-1", "x7x7"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    assert!(ended.text("r.yaml").contains("[[0, \"Log in with\"]]"));
}

#[tokio::test]
async fn a_prefill_and_the_answer_behind_it_are_one_message_later() {
    let script = "name: a
timeline:
  - userInputs: [[0, Which?]]
  - llmResponse: [{assistant: [[0, 'The correct answer is (']]}]
  - sessionStart: true
  - llmResponse: [{assistant: [[0, B)]]}]
  - userInputs: [[0, More]]
  - llmResponse: [{assistant: [[0, Done]]}]
";
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let ask = async |url: String| {
        for (answer, more, expected) in [
            ("The correct answer is (", None, "B)"),
            ("The correct answer is (B)", Some("More"), "Done"),
        ] {
            let begin = [said("user", "Which?"), said("assistant", answer)];
            let more = more.map(|text| said("user", text));
            let messages: Vec<Value> = begin.into_iter().chain(more).collect();
            let body = json!({"model": "m", "max_tokens": 9, "messages": messages});
            let asked = client::http().post(format!("{url}/v1/messages"));
            let answer = asked.json(&body).send().await.expect("an answer");
            let answer: Value = answer.json().await.expect("JSON");
            assert_eq!(answer["content"][0]["text"], expected, "{answer}");
        }
    };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.yaml"), script).expect("writable");
    let original = play(folder.path(), &Buffer::default()).await;
    let recorded = Recorded::of(&original.base_url()).await;
    ask(recorded.url()).await;
    let ended = recorded.end().await;
    assert_eq!(ended.notes(), [""; 0]);
    let again = play(ended.folder.path(), &Buffer::default()).await;
    ask(again.base_url()).await;
    for running in [original, again] {
        let verdict = running.stop().await;
        assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    }
}
