//! What requests demand of their answers, what providers refuse of requests, and how bodies may come.

use async_compression::tokio::bufread::{BrotliEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use tokio::io::AsyncReadExt as _;

use super::*;

const TWO_CALLS: &str = "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: []
  - agentToolUse: {toolName: lookup, args: {key: a}}
  - agentToolUse: {toolName: lookup, args: {key: b}}
";
const TEXT: &str = "  - userInputs: [[0, \"Begin, in JSON\"]]
  - llmResponse: [{assistant: [[0, \"TEXT\"]]}]
";

fn tool(endpoint: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"key": {"type": "string"}}});
    match endpoint {
        CHAT => json!({"type": "function", "function": {"name": "lookup", "parameters": schema}}),
        "/v1/responses" => json!({"type": "function", "name": "lookup", "parameters": schema}),
        _ => json!({"name": "lookup", "input_schema": schema}),
    }
}

#[tokio::test]
async fn a_request_may_allow_one_call_at_a_time() {
    for (path, more, status) in [
        (CHAT, json!({"messages": said("Begin")}), 200),
        (
            CHAT,
            json!({"messages": said("Begin"), "parallel_tool_calls": false}),
            400,
        ),
        (
            "/v1/responses",
            json!({"input": "Begin", "parallel_tool_calls": false}),
            400,
        ),
        (
            "/v1/messages",
            json!({"max_tokens": 9, "messages": said("Begin"), "tool_choice": {"type": "auto", "disable_parallel_tool_use": true}}),
            400,
        ),
    ] {
        let played = Played::timeline(TWO_CALLS).await;
        let mut body = more;
        body["model"] = json!("m");
        body["tools"] = json!([tool(path)]);
        let answer = played.post(path, &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
        let expected: &[&str] = if status == 200 { &[] } else { &["T-LLM-03"] };
        assert_eq!(played.codes().await, expected, "{body}");
    }
}

#[tokio::test]
async fn an_answer_is_the_json_that_its_request_demands() {
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}, "additionalProperties": false});
    let strict = json!({"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": true}});
    let upper =
        json!({"type": "OBJECT", "required": ["n"], "properties": {"n": {"type": "INTEGER"}}});
    let gemini = "/v1beta/models/g:generateContent";
    for (path, demand) in [
        (
            CHAT,
            json!({"messages": said("Begin, in JSON"), "response_format": strict}),
        ),
        (
            "/v1/responses",
            json!({"input": "Begin, in JSON", "text": {"format": {"type": "json_schema", "name": "n", "schema": schema}}}),
        ),
        (
            "/v1/messages",
            json!({"max_tokens": 9, "messages": said("Begin, in JSON"), "output_config": {"format": {"type": "json_schema", "schema": schema}}}),
        ),
        (
            gemini,
            json!({"contents": [{"parts": [{"text": "Begin, in JSON"}]}], "generationConfig": {"responseMimeType": "application/json", "responseSchema": upper}}),
        ),
    ] {
        for (text, status) in [
            ("{\\\"n\\\": 1}", 200),
            ("{\\\"n\\\": \\\"one\\\"}", 400),
            ("one", 400),
        ] {
            let played = Played::timeline(&TEXT.replace("TEXT", text)).await;
            let mut body = demand.clone();
            if path != gemini {
                body["model"] = json!("m");
            }
            let answer = played.post(path, &body).await;
            assert_eq!(answer.status, status, "{path} {text}: {}", answer.text);
        }
    }
    // Cut short, it is none.
    let cut = "  - userInputs: [[0, \"Begin, in JSON\"]]\n  - llmResponse: [{assistant: [[0, \"{\"]]}]\n    stopReason: max_tokens\n";
    let played = Played::timeline(cut).await;
    let body = json!({"model": "m", "messages": said("Begin, in JSON"), "response_format": {"type": "json_object"}});
    assert_eq!(played.post(CHAT, &body).await.status, 200);
}

#[tokio::test]
async fn a_json_object_is_no_list() {
    for (path, demand) in [
        (
            CHAT,
            json!({"messages": said("Begin, in JSON"), "response_format": {"type": "json_object"}}),
        ),
        (
            "/v1/responses",
            json!({"input": "Begin, in JSON", "text": {"format": {"type": "json_object"}}}),
        ),
    ] {
        for (text, status) in [("{}", 200), ("[1]", 400)] {
            let played = Played::timeline(&TEXT.replace("TEXT", text)).await;
            let mut body = demand.clone();
            body["model"] = json!("m");
            let answer = played.post(path, &body).await;
            assert_eq!(answer.status, status, "{path} {text}: {}", answer.text);
        }
    }
}

#[tokio::test]
async fn calls_are_among_the_allowed_tools() {
    let one_call = "  - userInputs: [[0, \"Begin\"]]\n  - llmResponse: []\n  - agentToolUse: {toolName: lookup, args: {key: a}}\n";
    let function = |name: &str| json!({"type": "function", "name": name, "parameters": {}});
    let chat = |name: &str| json!({"type": "function", "function": function(name)});
    for (allowed, status) in [("lookup", 200), ("other", 400)] {
        for (path, body) in [
            (
                CHAT,
                json!({"messages": said("Begin"), "tools": [chat("lookup"), chat("other")], "tool_choice":
                    {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [chat(allowed)]}}}),
            ),
            (
                "/v1/responses",
                json!({"input": "Begin", "tools": [function("lookup"), function("other")], "tool_choice":
                    {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": allowed}]}}),
            ),
            (
                "/v1beta/models/m:generateContent",
                json!({"contents": [{"parts": [{"text": "Begin"}]}],
                    "tools": [{"functionDeclarations": [{"name": "lookup"}, {"name": "other"}, {"name": "third"}]}],
                    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [allowed, "third"]}}}),
            ),
        ] {
            let played = Played::timeline(one_call).await;
            let mut body = body;
            if path != "/v1beta/models/m:generateContent" {
                body["model"] = json!("m");
            }
            let answer = played.post(path, &body).await;
            assert_eq!(answer.status, status, "{path} {allowed}: {}", answer.text);
            let expected: &[&str] = if status == 200 { &[] } else { &["T-LLM-03"] };
            assert_eq!(played.codes().await, expected, "{path} {allowed}");
        }
    }
}

#[tokio::test]
async fn what_the_real_service_refuses_is_refused() {
    let function = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
    let claude = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
    let image = |data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    let user = |content: Value| json!([{"role": "user", "content": content}]);
    let begin = || said("Begin");
    let loop_with = |thinking: Value| {
        json!([
            {"role": "user", "content": "Begin"},
            {"role": "assistant", "content": [thinking, {"type": "tool_use", "id": "c", "name": "lookup", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]},
        ])
    };
    let thinking = json!({"type": "enabled", "budget_tokens": 2000});
    let gemini = "/v1beta/models/g:generateContent";
    for (path, body, words) in [
        (
            "/v1/messages",
            json!({"messages": user(json!([{"type": "text", "text": ""}]))}),
            "must be non-empty",
        ),
        (
            "/v1/messages",
            json!({"messages": begin(), "system": [{"type": "text", "text": ""}]}),
            "system: text content blocks must be non-empty",
        ),
        (
            CHAT,
            json!({"messages": begin(), "tools": [function(&"a".repeat(65))]}),
            "maximum length 64, but got a string with length 65",
        ),
        (
            CHAT,
            json!({"messages": begin(), "tools": [function("a")], "tool_choice": {"type": "allowed_tools", "allowed_tools":
                {"mode": "auto", "tools": [{"type": "function", "function": {"name": "b"}}]}}}),
            "Tool choice 'b' not found",
        ),
        (
            "/v1/responses",
            json!({"input": "Begin", "tools": [{"type": "function", "name": "a", "parameters": {}}],
                "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "b"}]}}),
            "Tool choice 'b' not found",
        ),
        (
            "/v1/messages",
            json!({"messages": begin(), "tools": [claude("a"), claude("a")]}),
            "must be unique",
        ),
        (
            "/v1/messages",
            json!({"messages": begin(), "tools": [claude("a b")]}),
            "should match pattern",
        ),
        (
            "/v1/messages",
            json!({"messages": begin(), "tools": [claude("a")], "tool_choice": {"type": "tool", "name": "b"}}),
            "not found in provided tools",
        ),
        (
            "/v1/messages",
            json!({"messages": begin(), "thinking": {"type": "enabled", "budget_tokens": 10}}),
            "1024",
        ),
        (
            "/v1/messages",
            json!({"messages": begin(), "max_tokens": 2000, "thinking": thinking}),
            "must be greater than",
        ),
        (
            "/v1/messages",
            json!({"messages": begin(), "max_tokens": 2000, "thinking": thinking, "tools": [claude("a")]}),
            "must be greater than",
        ),
        (
            "/v1/messages",
            json!({"messages": user(json!([image("x!")]))}),
            "invalid base64",
        ),
        (
            "/v1/messages",
            json!({"messages": user(json!([{"type": "text", "text": " \n"}, {"type": "text", "text": "Begin"}]))}),
            "non-whitespace",
        ),
        (
            "/v1/messages",
            json!({"messages": user(json!([{"type": "image", "source": {"type": "base64", "media_type": "image/tiff", "data": "eA=="}}]))}),
            "'image/jpeg', 'image/png'",
        ),
        (
            "/v1/messages",
            json!({"messages": begin(), "thinking": thinking, "temperature": 0.5}),
            "may only be set to 1",
        ),
        (
            CHAT,
            json!({"messages": begin(), "tool_choice": "auto"}),
            "only allowed when 'tools'",
        ),
        (
            CHAT,
            json!({"messages": begin(), "tools": []}),
            "empty array",
        ),
        (CHAT, json!({"messages": begin(), "n": 2}), "one choice"),
        (
            gemini,
            json!({"contents": [{"parts": [{"text": "Begin"}]}], "generationConfig": {"candidateCount": 2}}),
            "one candidate",
        ),
        (
            CHAT,
            json!({"messages": begin(), "stream_options": {}}),
            "only allowed when 'stream'",
        ),
        (
            CHAT,
            json!({"messages": begin(), "stop": ["a", "b", "c", "d", "e"]}),
            "array too long",
        ),
        (
            CHAT,
            json!({"messages": begin(), "frequency_penalty": -3}),
            "from -2 to 2",
        ),
        (
            CHAT,
            json!({"messages": user(json!([{"type": "image_url", "image_url": {}}]))}),
            "Expected a valid URL",
        ),
        (
            "/v1/messages",
            json!({"messages": loop_with(json!({"type": "thinking", "thinking": "hm"})), "tools": [claude("lookup")], "thinking": thinking}),
            "Field required",
        ),
        (
            "/v1/messages",
            json!({"messages": loop_with(json!({"type": "thinking", "thinking": "hm", "signature": "x"})), "tools": [claude("lookup")], "thinking": thinking}),
            "Invalid `signature`",
        ),
        (
            CHAT,
            json!({"messages": begin(), "tools": [function("a.b")]}),
            "does not match pattern",
        ),
        (
            CHAT,
            json!({"messages": begin(), "tools": [function("a")], "tool_choice": {"type": "function", "function": {"name": "b"}}}),
            "not found in 'tools'",
        ),
        (
            CHAT,
            json!({"messages": begin(), "response_format": {"type": "json_object"}}),
            "must contain the word 'json'",
        ),
        (
            CHAT,
            json!({"messages": begin(), "response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": {"type": "object"}}}}),
            "'additionalProperties' is required",
        ),
        (
            CHAT,
            json!({"messages": begin(), "tools": [{"type": "function", "function": {"name": "a", "strict": true, "parameters": {"type": "object", "properties": {"k": {"type": "string"}}, "additionalProperties": false}}}]}),
            "Missing 'k'",
        ),
        (
            CHAT,
            json!({"messages": user(json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,x!"}}]))}),
            "base64",
        ),
        (
            "/v1/responses",
            json!({"input": "Begin", "text": {"format": {"type": "json_object"}}}),
            "must contain the word 'json'",
        ),
        (
            "/v1/responses",
            json!({"input": "Begin", "tool_choice": {"type": "function", "name": "b"}}),
            "not found in 'tools'",
        ),
        (
            gemini,
            json!({"contents": [{"parts": [{"text": "Begin"}]}], "tools": [{"functionDeclarations": [{"name": "1a"}]}]}),
            "Invalid function name",
        ),
        (
            gemini,
            json!({"contents": [{"parts": [{"text": "Begin"}]}], "tools": [{"functionDeclarations": [{"name": "a"}, {"name": "a"}]}]}),
            "Duplicate",
        ),
        (
            gemini,
            json!({"contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "x!"}}]}]}),
            "Base64 decoding failed",
        ),
    ] {
        let played = Played::timeline(&TEXT.replace(", in JSON", "")).await;
        let mut body = body;
        if path != gemini {
            body["model"] = json!("m");
        }
        if path == "/v1/messages" && body["max_tokens"].is_null() {
            body["max_tokens"] = json!(4000);
        }
        let answer = played.post(path, &body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        assert!(answer.text.contains(words), "{words}: {}", answer.text);
        assert_eq!(played.codes().await, ["T-LLM-11"], "{words}");
    }
}

#[tokio::test]
async fn thinking_between_calls_has_a_budget_for_all_answers() {
    let played = Played::timeline(&TEXT.replace(", in JSON", "")).await;
    let body = json!({"model": "m", "max_tokens": 2000, "messages": said("Begin"), "tools": [tool("/v1/messages")],
        "thinking": {"type": "enabled", "budget_tokens": 2000}});
    let betas = [("anthropic-beta", "other,interleaved-thinking-2025-05-14")];
    let answer = played.post_with("/v1/messages", &body, &betas).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(played.codes().await, [] as [&str; 0]);
}

#[tokio::test]
async fn an_answer_with_calls_comes_back_with_its_thinking() {
    const CALL: &str = "  - agentToolUse: {toolName: lookup, args: {key: a}, result: x}\n  - llmResponse: [{assistant: [[0, Done]]}]\n";
    let without = format!("  - userInputs: [[0, Begin]]\n  - llmResponse: []\n{CALL}");
    let with =
        format!("  - userInputs: [[0, Begin]]\n  - llmResponse: [{{think: [[0, Hm]]}}]\n{CALL}");
    for (timeline, kind, is_kept, status) in [
        (&with, "enabled", true, 200),
        (&with, "enabled", false, 400),
        // Nothing was thought.
        (&without, "enabled", true, 200),
        // The model decides for itself whether it thinks.
        (&with, "adaptive", false, 200),
    ] {
        let played = Played::timeline(timeline).await;
        let mut body = json!({"model": "m", "max_tokens": 4000, "messages": said("Begin"), "tools": [tool("/v1/messages")],
            "thinking": {"type": kind}});
        if kind == "enabled" {
            body["thinking"]["budget_tokens"] = json!(2000);
        }
        let answer = played.post("/v1/messages", &body).await.json();
        let mut content = answer["content"].as_array().expect("blocks").clone();
        let id = content.last().expect("a call")["id"].clone();
        let results = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "x"}]});
        let kept = content.clone();
        content.retain(|block| is_kept || block["type"] != "thinking");
        let mut post = async |content: &[Value]| {
            body["messages"] =
                json!([said("Begin")[0], {"role": "assistant", "content": content}, results]);
            played.post("/v1/messages", &body).await
        };
        let answer = post(&content).await;
        assert_eq!(answer.status, status, "{timeline}{kind}: {}", answer.text);
        let mut expected = Vec::new();
        if status == 400 {
            assert!(
                answer.text.contains("must start with a thinking block"),
                "{}",
                answer.text
            );
            expected.push("T-LLM-11");
            // Who does better gets the turn, and gets it again.
            for _ in 0..2 {
                assert_eq!(post(&kept).await.status, 200);
            }
        }
        assert_eq!(played.codes().await, expected, "{timeline}{kind}");
    }
}

#[tokio::test]
async fn compressed_bodies_are_decoded() {
    let played = Played::with(&TEXT.replace(", in JSON", ""), |options| {
        options.body_limit = 2_000;
    })
    .await;
    let text = json!({"model": "m", "messages": said("Begin")}).to_string();
    let plain = text.as_bytes();
    let mut bodies = vec![("identity", plain.to_vec())];
    let mut gzip = Vec::new();
    GzipEncoder::new(plain)
        .read_to_end(&mut gzip)
        .await
        .expect("encoded");
    let mut brotli = Vec::new();
    BrotliEncoder::new(plain)
        .read_to_end(&mut brotli)
        .await
        .expect("encoded");
    let mut zlib = Vec::new();
    ZlibEncoder::new(plain)
        .read_to_end(&mut zlib)
        .await
        .expect("encoded");
    let mut zstd = Vec::new();
    ZstdEncoder::new(plain)
        .read_to_end(&mut zstd)
        .await
        .expect("encoded");
    bodies.extend([
        ("gzip", gzip.clone()),
        ("br", brotli),
        ("deflate", zlib),
        ("zstd", zstd),
    ]);
    let post = async |encoding: &str, body: Vec<u8>| {
        let request = played
            .client
            .post(played.url(CHAT))
            .header("content-encoding", encoding);
        Answer::of(request.body(body)).await
    };
    for (encoding, body) in bodies {
        assert_eq!(post(encoding, body).await.content(), "TEXT", "{encoding}");
    }
    let large = " ".repeat(100_000);
    let mut bomb = Vec::new();
    GzipEncoder::new(large.as_bytes())
        .read_to_end(&mut bomb)
        .await
        .expect("encoded");
    assert_eq!(post("gzip", bomb).await.status, 413);
    assert_eq!(post("gzip", plain.to_vec()).await.status, 400);
    assert_eq!(post("lzma", gzip).await.status, 415);
    assert_eq!(played.codes().await, ["T-LLM-11"; 3]);
}

#[tokio::test]
async fn errors_have_the_headers_of_the_scenario_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "name: a\nserver: {headers: {x-ratelimit-remaining: 3, x-own: a}}\ntimeline:\n  - userInputs: [[0, \"Begin\"]]\n  \
                - llmResponse: [{error: {statusCode: 429, headers: {x-own: b}}}]\n  - llmResponse: [{assistant: [[0, \"Yes\"]]}]\n";
    std::fs::write(folder.path().join("a.yaml"), text).expect("writable");
    let played = Played::start(folder, |_| {}).await;
    let history = json!([{"role": "user", "content": "Begin"}, {"role": "assistant", "content": "No"}, {"role": "user", "content": "More"}]);
    for (messages, status, own) in [
        (said("Begin"), 429, "b"),
        (said("Begin"), 200, "a"),
        (history, 404, "a"),
    ] {
        let answer = played.chat(messages).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("x-own")),
            (status, Some(own))
        );
        assert_eq!(answer.header("x-ratelimit-remaining"), Some("3"));
    }
    // What belongs to no scenario has them too.
    let far = json!({"model": "m", "messages": said("Something that is nowhere near")});
    let hot = json!({"model": "m", "messages": said("Begin"), "temperature": 9});
    for (path, body, status) in [
        (CHAT, &far, 404),
        (CHAT, &hot, 400),
        ("/v1/nowhere", &far, 404),
    ] {
        let answer = played.post(path, body).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("x-own")),
            (status, Some("a"))
        );
    }
}

#[tokio::test]
async fn an_unknown_first_prompt_can_be_answered_with_nothing_too() {
    let played = Played::with(&TEXT.replace(", in JSON", ""), |options| {
        options.on_miss = crate::OnMiss::Minimal;
    })
    .await;
    let answer = played
        .chat(said("Something that is nowhere near to any prompt"))
        .await;
    assert_eq!((answer.status.as_u16(), answer.content()), (200, json!("")));
    assert_eq!(played.codes().await, ["T-SEL-02"]);
}
