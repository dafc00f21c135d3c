//! What an answer says beside its text: thinking, why it stops, refusals, bad calls, headers.

use super::*;

/// A stand-in whose scenario has this `server` and, after the input `Begin`, these items.
async fn served(server: &str, items: &str) -> Played {
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        format!("name: a\nserver: {server}\ntimeline:\n  - userInputs: [[0, Begin]]\n{items}");
    std::fs::write(folder.path().join("a.yaml"), text).expect("writable");
    Played::start(folder, |_| {}).await
}

async fn messages(played: &Played, more: &Value) -> Value {
    let mut body = json!({"model": "m", "max_tokens": 2000, "messages": said("Begin")});
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    let answer = played.post("/v1/messages", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

const THOUGHT: &str = "  - llmResponse: [{think: [[0, Hm]]}, {assistant: [[0, Yes]]}]\n";

fn kinds(message: &Value) -> Vec<&str> {
    let blocks = message["content"].as_array().expect("blocks");
    blocks
        .iter()
        .filter_map(|block| block["type"].as_str())
        .collect()
}

#[tokio::test]
async fn thinking_is_sent_to_those_who_ask_for_it() {
    let played = served("{}", THOUGHT).await;
    assert_eq!(kinds(&messages(&played, &json!({})).await), ["text"]);
    let asked = json!({"thinking": {"type": "enabled", "budget_tokens": 1024}});
    assert_eq!(
        kinds(&messages(&played, &asked).await),
        ["thinking", "text"]
    );
    let not = json!({"thinking": {"type": "disabled"}});
    assert_eq!(kinds(&messages(&played, &not).await), ["text"]);
    let stream = json!({"model": "m", "max_tokens": 9, "stream": true, "messages": said("Begin")});
    let stream = played.post("/v1/messages", &stream).await.text;
    assert!(
        !stream.contains("thinking") && stream.contains("\"index\":0"),
        "{stream}"
    );

    let played = served("{thinking: always, reasoningContent: true}", THOUGHT).await;
    assert_eq!(
        kinds(&messages(&played, &json!({})).await),
        ["thinking", "text"]
    );
    let chat = played.chat(said("Begin")).await.json();
    assert_eq!(chat["choices"][0]["message"]["reasoning_content"], "Hm");
    assert_eq!(chat["choices"][0]["message"]["content"], "Yes");
    let body = json!({"model": "m", "stream": true, "messages": said("Begin")});
    let stream = played.post(CHAT, &body).await.text;
    assert!(stream.contains("\"reasoning_content\":\"Hm\""), "{stream}");
}

/// Why the answer stops, for Messages, Chat, Responses and Gemini.
async fn stops(reason: &str) -> [String; 4] {
    let items = format!("  - llmResponse: [{{assistant: [[0, Yes]]}}]\n    stopReason: {reason}\n");
    let played = served("{}", &items).await;
    let text = |json: &Value| json.as_str().unwrap_or_default().to_owned();
    let body = json!({"model": "m", "input": "Begin"});
    let responses = played.post("/v1/responses", &body).await.json();
    let body = json!({"contents": [{"parts": [{"text": "Begin"}]}]});
    let path = "/v1beta/models/g:generateContent";
    let gemini = played.post(path, &body).await.json();
    [
        text(&messages(&played, &json!({})).await["stop_reason"]),
        text(&played.chat(said("Begin")).await.json()["choices"][0]["finish_reason"]),
        match &responses["incomplete_details"] {
            Value::Null => text(&responses["status"]),
            details => text(&details["reason"]),
        },
        text(&gemini["candidates"][0]["finishReason"]),
    ]
}

#[tokio::test]
async fn a_reason_to_stop_is_said_in_the_nearest_word_of_each_dialect() {
    for (reason, expected) in [
        (
            "max_tokens",
            ["max_tokens", "length", "max_output_tokens", "MAX_TOKENS"],
        ),
        (
            "length",
            ["max_tokens", "length", "max_output_tokens", "MAX_TOKENS"],
        ),
        (
            "content_filter",
            ["refusal", "content_filter", "content_filter", "SAFETY"],
        ),
        (
            "RECITATION",
            ["refusal", "content_filter", "content_filter", "RECITATION"],
        ),
        (
            "stop_sequence",
            ["stop_sequence", "stop", "completed", "STOP"],
        ),
        ("pause_turn", ["pause_turn", "stop", "completed", "STOP"]),
        (
            "{anthropic: pause_turn, openai: length}",
            ["pause_turn", "length", "max_output_tokens", "STOP"],
        ),
    ] {
        assert_eq!(stops(reason).await, expected, "{reason}");
    }
}

#[tokio::test]
async fn a_refusal_is_a_field_of_its_own_for_openai_and_text_elsewhere() {
    let items = "  - llmResponse: []\n    refusal: I won't.\n  - userInputs: [[0, And now?]]\n  - llmResponse: [{assistant: [[0, No]]}]\n";
    let played = served("{}", items).await;
    let chat = played.chat(said("Begin")).await.json();
    let message = &chat["choices"][0]["message"];
    assert_eq!(
        (&message["refusal"], &message["content"]),
        (&json!("I won't."), &Value::Null)
    );
    let history = json!([
        {"role": "user", "content": "Begin"}, message, {"role": "user", "content": "And now?"},
    ]);
    assert_eq!(
        played.chat(history).await.content(),
        "No",
        "a history holds it"
    );
    let body = json!({"model": "m", "stream": true, "messages": said("Begin")});
    let stream = played.post(CHAT, &body).await.text;
    assert!(stream.contains("\"refusal\":\"I won't.\""), "{stream}");
    let body = json!({"model": "m", "input": "Begin"});
    let responses = played.post("/v1/responses", &body).await.json();
    let part = &responses["output"][0]["content"][0];
    assert_eq!(part, &json!({"type": "refusal", "refusal": "I won't."}));
    let body = json!({"model": "m", "input": "Begin", "stream": true});
    let stream = played.post("/v1/responses", &body).await.text;
    for event in ["response.refusal.delta", "response.refusal.done"] {
        assert!(stream.contains(&format!("event: {event}\n")), "{stream}");
    }
    let anthropic = messages(&played, &json!({})).await;
    assert_eq!(
        anthropic["content"],
        json!([{"type": "text", "text": "I won't."}])
    );
    assert_eq!(played.codes().await, Vec::<&str>::new());
}

#[tokio::test]
async fn bad_calls_are_made_on_purpose() {
    let items = "  - llmResponse: []
  - agentToolUse: {toolName: look_up, rawArguments: '{\"key\": ', args: {}}
  - agentToolUse: {toolName: nobody_has_it, validate: false, args: {key: 1}}
";
    let played = served("{}", items).await;
    let schema = json!({"type": "object", "required": ["key"]});
    let chat = json!({"model": "m", "messages": said("Begin"), "tools": [
        {"type": "function", "function": {"name": "look_up", "parameters": schema}},
    ]});
    let answer = played.post(CHAT, &chat).await.json();
    let calls = &answer["choices"][0]["message"]["tool_calls"];
    assert_eq!(
        calls[0]["function"],
        json!({"name": "look_up", "arguments": "{\"key\": "})
    );
    let expected = json!({"name": "nobody_has_it", "arguments": "{\"key\":1}"});
    assert_eq!(calls[1]["function"], expected);
    let tools = json!([{"name": "look_up", "input_schema": schema}]);
    let plain = messages(&played, &json!({"tools": tools})).await;
    assert_eq!(plain["content"][0]["input"], "{\"key\": ");
    let stream = json!({"model": "m", "max_tokens": 9, "stream": true, "messages": said("Begin"), "tools": tools});
    let stream = played.post("/v1/messages", &stream).await.text;
    assert!(
        stream.contains(r#""partial_json":"{\"key\": ""#),
        "{stream}"
    );
    assert_eq!(played.codes().await, Vec::<&str>::new());
}

#[tokio::test]
async fn what_gemini_withholds_has_no_content() {
    let items = "  - llmResponse: []\n    stopReason: SAFETY\n";
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "Begin"}]}]});
    for path in [
        "/v1beta/models/m:generateContent",
        "/v1beta/models/m:streamGenerateContent",
    ] {
        let played = served("{}", items).await;
        let answer = played.post(path, &body).await.json();
        let answer = if answer.is_array() {
            answer[0].clone()
        } else {
            answer
        };
        let candidate = &answer["candidates"][0];
        assert_eq!(candidate["finishReason"], "SAFETY", "{answer}");
        assert!(candidate.get("content").is_none(), "{answer}");
    }
}

#[tokio::test]
async fn an_error_may_come_in_a_stream_that_says_nothing() {
    let items = "  - llmResponse: [{error: {statusCode: 500, errorType: server_error, message: boom, inStream: true}}]\n  - llmResponse: [{assistant: [[0, Yes]]}]\n";
    let ask = json!({"contents": [{"role": "user", "parts": [{"text": "Begin"}]}]});
    for (path, body, has) in [
        (
            CHAT,
            json!({"model": "m", "stream": true, "messages": said("Begin")}),
            "\"error\":",
        ),
        (
            "/v1/messages",
            json!({"model": "m", "max_tokens": 9, "stream": true, "messages": said("Begin")}),
            "event: error",
        ),
        (
            "/v1/responses",
            json!({"model": "m", "stream": true, "input": "Begin"}),
            "event: response.failed",
        ),
        ("/v1beta/models/m:streamGenerateContent", ask, "\"error\":"),
    ] {
        let played = served("{}", items).await;
        let first = played.post(path, &body).await;
        assert_eq!(first.status, 200, "{}", first.text);
        assert!(
            first.text.contains(has) && first.text.contains("boom"),
            "{}",
            first.text
        );
        let second = played.post(path, &body).await;
        assert!(second.text.contains("Yes"), "{}", second.text);
        assert_eq!(played.codes().await, Vec::<&str>::new());
    }
    // What is not streamed has the status.
    let played = served("{}", items).await;
    assert_eq!(played.chat(said("Begin")).await.status, 500);
}

#[tokio::test]
async fn the_same_request_is_the_same_whether_it_is_streamed_or_not() {
    let items = "  - llmResponse: []\n    stopReason: SAFETY\n";
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "Begin"}]}]});
    let played = served("{}", items).await;
    for path in [
        "/v1beta/models/m:generateContent",
        "/v1beta/models/m:streamGenerateContent",
    ] {
        let answer = played.post(path, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    assert_eq!(played.codes().await, Vec::<&str>::new());
}

#[tokio::test]
async fn a_blocked_prompt_has_no_candidate_and_a_reason() {
    let items = "  - llmResponse: []\n    stopReason: prompt_blocked\n";
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "Begin"}]}]});
    for path in [
        "/v1beta/models/m:generateContent",
        "/v1beta/models/m:streamGenerateContent",
    ] {
        let played = served("{}", items).await;
        let answer = played.post(path, &body).await.json();
        let answer = if answer.is_array() {
            assert_eq!(answer.as_array().map(Vec::len), Some(1), "{answer}");
            answer[0].clone()
        } else {
            answer
        };
        let reason = &answer["promptFeedback"]["blockReason"];
        assert_eq!(reason, "PROHIBITED_CONTENT", "{answer}");
        assert!(answer.get("candidates").is_none(), "{answer}");
        assert!(
            answer["usageMetadata"]["promptTokenCount"].is_u64(),
            "{answer}"
        );
    }
    let played = served("{}", items).await;
    assert_eq!(
        messages(&played, &json!({})).await["stop_reason"],
        "refusal"
    );
    let played = served("{}", items).await;
    let chat = played.chat(said("Begin")).await.json();
    assert_eq!(chat["choices"][0]["finish_reason"], "content_filter");
}

#[tokio::test]
async fn gemini_sends_images_and_knows_them_again() {
    const PNG: &str = "iVBORw0KGgo=";
    let items = format!(
        "  - llmResponse: [{{assistant: [[0, 'Look: '], [0, {{type: image, mimeType: image/png, data: {PNG}}}], [0, ' A tree.']]}}]\n  \
         - userInputs: [[0, More]]\n  - llmResponse: [{{assistant: [[0, Done]]}}]\n"
    );
    let begin = json!({"role": "user", "parts": [{"text": "Begin"}]});
    for (path, back, codes) in [
        ("generateContent", PNG, vec![]),
        ("streamGenerateContent", PNG, vec![]),
        ("generateContent", "iVBORw0KGgoA", vec!["T-LLM-09"]),
    ] {
        let played = served("{}", &items).await;
        let path = format!("/v1beta/models/m:{path}");
        let answer = played.post(&path, &json!({"contents": [begin]})).await;
        let chunks = match answer.json() {
            Value::Array(chunks) => chunks,
            whole => vec![whole],
        };
        let parts = chunks
            .iter()
            .flat_map(|chunk| chunk["candidates"][0]["content"]["parts"].as_array())
            .flatten();
        let mut parts: Vec<Value> = parts.filter(|part| part["text"] != "").cloned().collect();
        assert_eq!(
            parts,
            [
                json!({"text": "Look: "}),
                json!({"inlineData": {"mimeType": "image/png", "data": PNG}}),
                json!({"text": " A tree."}),
            ]
        );
        parts[1]["inlineData"]["data"] = json!(back);
        let history = json!([begin, {"role": "model", "parts": parts}, {"role": "user", "parts": [{"text": "More"}]}]);
        let answer = played.post(&path, &json!({"contents": history})).await;
        assert!(answer.text.contains("Done"), "{}", answer.text);
        assert_eq!(played.codes().await, codes, "{path} {back}");
    }
    let played = served("{}", &items).await;
    assert_eq!(
        played.chat(said("Begin")).await.content(),
        "Look: [image: image/png] A tree."
    );
}

#[tokio::test]
async fn an_image_of_another_answer_is_told() {
    const IMAGES: [&str; 2] = ["iVBORw0KGgoA", "iVBORw0KGgoB"];
    let image = |data: &str| format!("[0, {{type: image, mimeType: image/png, data: {data}}}]");
    let items = format!(
        "  - llmResponse: [{{assistant: [{}]}}]\n  - userInputs: [[0, More]]\n  - llmResponse: [{{assistant: [{}]}}]\n  \
         - userInputs: [[0, Thanks]]\n  - llmResponse: [{{assistant: [[0, Done]]}}]\n",
        image(IMAGES[0]),
        image(IMAGES[1])
    );
    let says = |text: &str| json!({"role": "user", "parts": [{"text": text}]});
    let shows = |data: &str| json!({"role": "model", "parts": [{"inlineData": {"mimeType": "image/png", "data": data}}]});
    for (held, codes) in [(IMAGES[1], vec![]), (IMAGES[0], vec!["T-LLM-09"])] {
        let played = served("{}", &items).await;
        let mut history = vec![says("Begin")];
        for (held, next) in [(IMAGES[0], "More"), (held, "Thanks")] {
            let contents = json!({"contents": history});
            played
                .post("/v1beta/models/m:generateContent", &contents)
                .await;
            history.extend([shows(held), says(next)]);
        }
        let contents = json!({"contents": history});
        let answer = played
            .post("/v1beta/models/m:generateContent", &contents)
            .await;
        assert!(answer.text.contains("Done"), "{}", answer.text);
        assert_eq!(played.codes().await, codes);
    }
}

#[tokio::test]
async fn results_of_gemini_come_in_several_wrappers() {
    let items = "  - llmResponse: []\n  - agentToolUse: {toolName: lookup, args: {}, result: one}\n  - llmResponse: [{assistant: [[0, Done]]}]\n";
    let begin = json!({"role": "user", "parts": [{"text": "Begin"}]});
    let call =
        json!({"role": "model", "parts": [{"functionCall": {"name": "lookup", "args": {}}}]});
    let tools =
        json!([{"functionDeclarations": [{"name": "lookup", "parameters": {"type": "object"}}]}]);
    for (wrapper, codes) in [
        (json!({"name": "lookup", "content": "one"}), vec![]),
        (json!({"return_value": "one"}), vec![]),
        (json!({"output": "one"}), vec![]),
        (
            json!({"name": "lookup", "content": "two"}),
            vec!["T-LLM-05"],
        ),
    ] {
        let played = served("{}", items).await;
        let path = "/v1beta/models/m:generateContent";
        played
            .post(path, &json!({"contents": [begin], "tools": tools}))
            .await;
        let result = json!({"role": "user", "parts": [{"functionResponse": {"name": "lookup", "response": wrapper}}]});
        let body = json!({"contents": [begin, call, result], "tools": tools});
        assert_eq!(played.post(path, &body).await.status, 200);
        assert_eq!(played.codes().await, codes, "{wrapper}");
    }
}

#[tokio::test]
async fn a_scenario_adds_headers_and_lets_polls_go_on() {
    let items = "  - llmResponse: [{assistant: [[0, Not yet]]}]\n  - llmResponse: [{assistant: [[0, Done]]}]\n";
    let played = served("{onRepeat: next, headers: {x-left: \"9\"}}", items).await;
    for expected in ["Not yet", "Done"] {
        let answer = played.chat(said("Begin")).await;
        assert_eq!(answer.content(), expected);
        assert_eq!(answer.header("x-left"), Some("9"));
    }
    let ended = played.chat(said("Begin")).await;
    assert_eq!(
        (ended.status.as_u16(), ended.header("x-left")),
        (404, Some("9"))
    );
    assert_eq!(played.codes().await, ["T-LLM-02"]);
}

#[tokio::test]
async fn any_prompt_is_taken_where_that_is_said() {
    let items = "  - llmResponse: [{assistant: [[0, Yes]]}]\n";
    let played = served("{anyPrompt: true}", items).await;
    assert_eq!(
        played
            .chat(said("Something quite different"))
            .await
            .content(),
        "Yes"
    );
    let verdict = played.running.stop().await;
    assert!(verdict.passed);
    assert_eq!(verdict.findings[0].code.name(), "T-SEL-03");
    let played = served("{}", items).await;
    assert_eq!(
        played.chat(said("Something quite different")).await.status,
        404
    );
    assert_eq!(played.codes().await, ["T-SEL-02"]);
}

/// A request to this path with this body.
async fn raw(played: &Played, path: &str, body: String) -> Answer {
    let request = played.client.post(played.url(path));
    let json = reqwest::header::CONTENT_TYPE;
    Answer::of(request.header(json, "application/json").body(body)).await
}

#[tokio::test]
async fn integers_over_64_bits_are_compared_digit_for_digit() {
    const ID: &str = "123456789012345678901234567890";
    const OTHER: &str = "123456789012345678901234567891";
    let args = format!("args: {{id: {ID}}}");
    let as_number = format!("args: {{}}, rawArguments: '{{\"id\": {ID}}}'");
    for (args, sent) in [(args, format!("\"{ID}\"")), (as_number, ID.to_owned())] {
        for (held, result, codes) in [
            (ID, ID, vec![]),
            (OTHER, ID, vec!["T-LLM-09"]),
            (ID, OTHER, vec!["T-LLM-05"]),
        ] {
            let items = format!(
                "  - llmResponse: []\n  - agentToolUse: {{toolName: find, {args}, result: {{json: {{n: {ID}}}}}}}\n  \
                 - llmResponse: [{{assistant: [[0, Done]]}}]\n"
            );
            let played = served("{}", &items).await;
            let tool = r#"{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}"#;
            let body = |messages: &str| {
                let begin = r#"{"role": "user", "content": "Begin"}"#;
                format!(r#"{{"model": "m", "tools": [{tool}], "messages": [{begin}{messages}]}}"#)
            };
            let answer = raw(&played, CHAT, body("")).await.json();
            let call = &answer["choices"][0]["message"]["tool_calls"][0];
            let arguments = call["function"]["arguments"].as_str().expect("a text");
            assert_eq!(arguments.replace(' ', ""), format!("{{\"id\":{sent}}}"));
            let arguments = json!(format!("{{\"id\": {held}}}"));
            let result = json!(format!("{{\"n\": {result}}}"));
            let history = format!(
                r#", {{"role": "assistant", "tool_calls": [{{"id": "call_1", "type": "function",
                    "function": {{"name": "find", "arguments": {arguments}}}}}]}},
                    {{"role": "tool", "tool_call_id": "call_1", "content": {result}}}"#
            );
            let answer = raw(&played, CHAT, body(&history)).await;
            assert!(answer.text.contains("Done"), "{}", answer.text);
            assert_eq!(played.codes().await, codes, "{held} {result}");
        }
        // In the bodies of requests, too.
        let items = format!(
            "  - llmResponse: []\n  - agentToolUse: {{toolName: find, {}, result: x}}\n  - llmResponse: [{{assistant: [[0, Done]]}}]\n",
            format_args!("args: {{id: {ID}}}")
        );
        for (held, codes) in [(ID, vec![]), (OTHER, vec!["T-LLM-09"])] {
            let played = served("{}", &items).await;
            let body = |messages: &str| {
                format!(
                    r#"{{"model": "m", "max_tokens": 9, "tools": [{{"name": "find", "input_schema": {{"type": "object"}}}}],
                        "messages": [{{"role": "user", "content": "Begin"}}{messages}]}}"#
                )
            };
            raw(&played, "/v1/messages", body("")).await;
            let history = format!(
                r#", {{"role": "assistant", "content": [{{"type": "tool_use", "id": "call_1", "name": "find", "input": {{"id": {held}}}}}]}},
                    {{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "call_1", "content": "x"}}]}}"#
            );
            let answer = raw(&played, "/v1/messages", body(&history)).await;
            assert!(answer.text.contains("Done"), "{}", answer.text);
            assert_eq!(played.codes().await, codes, "{held}");
        }
    }
}

const IN_ORDER: &str = "  - llmResponse:
      - assistant: [[0, One]]
      - agentToolUse: {toolName: find, args: {n: 1}, result: x}
      - assistant: [[0, Two]]
      - agentToolUse: {toolName: find, args: {n: 2}, result: x}
      - assistant: [[0, Three]]
  - llmResponse: [{assistant: [[0, Done]]}]
";

#[tokio::test]
async fn blocks_come_in_the_order_of_the_list_where_an_api_has_one() {
    let schema = json!({"type": "object"});
    let part = |part: &Value| -> String {
        let call = part.get("functionCall").or(part.get("arguments"));
        let text = part["text"].as_str();
        let text = text.or(part["content"][0]["text"].as_str());
        match call.is_some() || part["type"] == "tool_use" {
            true => "call".to_owned(),
            false => text.unwrap_or_default().to_owned(),
        }
    };
    let expected = ["One", "call", "Two", "call", "Three"];
    let tools = json!([{"name": "find", "input_schema": schema}]);
    let played = served("{}", IN_ORDER).await;
    let message = messages(&played, &json!({ "tools": tools })).await;
    let blocks = message["content"].as_array().expect("blocks");
    assert_eq!(blocks.iter().map(part).collect::<Vec<_>>(), expected);
    assert_eq!(message["stop_reason"], "tool_use");

    let played = served("{}", IN_ORDER).await;
    let tools = json!([{"type": "function", "name": "find", "parameters": schema}]);
    let body = json!({"model": "m", "input": "Begin", "tools": tools});
    let answer = played.post("/v1/responses", &body).await.json();
    let items = answer["output"].as_array().expect("items");
    assert_eq!(items.iter().map(part).collect::<Vec<_>>(), expected);

    let played = served("{}", IN_ORDER).await;
    let tools = json!([{"functionDeclarations": [{"name": "find", "parameters": schema}]}]);
    let body =
        json!({"contents": [{"role": "user", "parts": [{"text": "Begin"}]}], "tools": tools});
    let answer = played.post("/v1beta/models/m:generateContent", &body).await;
    let answer = answer.json();
    let parts = &answer["candidates"][0]["content"]["parts"];
    let parts = parts.as_array().expect("parts");
    assert_eq!(parts.iter().map(part).collect::<Vec<_>>(), expected);

    // Chat has the text in one field and the calls in another; a stream sends them in order.
    let played = served("{}", IN_ORDER).await;
    let tools = json!([{"type": "function", "function": {"name": "find", "parameters": schema}}]);
    let mut body = json!({"model": "m", "messages": said("Begin"), "tools": tools});
    let answer = played.post(CHAT, &body).await.json();
    let message = &answer["choices"][0]["message"];
    assert_eq!(message["content"], "OneTwoThree");
    assert_eq!(message["tool_calls"].as_array().map(Vec::len), Some(2));
    body["stream"] = json!(true);
    let stream = played.post(CHAT, &body).await.text;
    let at = |text: &str| stream.find(text).expect("it is sent");
    assert!(at("One") < at("call_1") && at("call_1") < at("Two") && at("call_2") < at("Three"));
    assert!(played.codes().await.is_empty());
}
