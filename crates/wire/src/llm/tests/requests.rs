//! What requests say, and what is wrong with them.

use cuecard_timeline::script::{
    MediaKind, Message, Part, PreviousAnswer, Request, RequestedBlock, RequestedCall,
    RequestedResult, Role, ToolChoice, ToolInput,
};
use proptest::prelude::*;

use super::super::errors::ApiError;
use super::super::ids::ResponseId;
use super::super::read_request;
use super::super::route::Target;
use super::*;

fn target(endpoint: Endpoint) -> Target<'static> {
    Target {
        endpoint,
        model: (endpoint == Endpoint::Gemini).then_some("gemini-3"),
        wants_stream: false,
        framing: Framing::Sse,
        counts: false,
    }
}

fn try_read(endpoint: Endpoint, body: &Json) -> Result<Request, ApiError> {
    let received = read_request(&target(endpoint), "/path", body.to_string().as_bytes())?;
    assert_eq!(&received.body, body);
    Ok(received.request)
}

fn request(endpoint: Endpoint, body: &Json) -> Request {
    try_read(endpoint, body).expect("a valid request")
}

/// The body of the refusal.
fn refusal(endpoint: Endpoint, body: &Json) -> Json {
    let error = try_read(endpoint, body).expect_err("an invalid request");
    serde_json::from_slice(&error.body(endpoint)).expect("JSON")
}

fn requested_call(id: &str, name: &str, args: Json) -> Part {
    Part::Call(RequestedCall {
        id: id.into(),
        name: name.into(),
        args,
    })
}

fn result(call_id: &str, name: &str, text: &str, is_error: bool) -> Part {
    Part::Result(RequestedResult {
        call_id: call_id.into(),
        name: name.into(),
        text: text.into(),
        blocks: Vec::new(),
        is_error,
    })
}

fn image(name: &str, mime_type: &str, data: &str) -> Part {
    Part::Block(RequestedBlock {
        name: name.into(),
        kind: MediaKind::Image,
        mime_type: mime_type.into(),
        data: data.into(),
        title: String::new(),
        text: String::new(),
        content: Json::Null,
    })
}

fn text(text: &str) -> Part {
    Part::Text(text.into())
}

fn said(role: Role, parts: Vec<Part>) -> Message {
    Message { role, parts }
}

#[test]
fn messages() {
    let request = request(
        Endpoint::Messages,
        &json!({
            "model": "claude", "max_tokens": 100, "stream": true, "metadata": {"user_id": "u"},
            "system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "Be brief."}],
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "x"},
                    {"type": "redacted_thinking", "data": "x"},
                    {"type": "text", "text": "Let me look."},
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
                    {"type": "tool_use", "id": "call_1", "name": "Bash", "input": {"command": "ls"}, "caller": {"type": "direct"}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "is_error": true, "content": [
                        {"type": "text", "text": "a"}, {"type": "image", "source": {}}, {"type": "text", "text": "b"}]},
                    {"type": "tool_result", "tool_use_id": "call_2", "content": "plain"},
                    {"type": "tool_result", "tool_use_id": "call_3"},
                    {"type": "image", "source": {"type": "url", "url": "https://example.com"}},
                    {"type": "text", "text": "go on", "cache_control": null},
                ]},
            ],
            "tools": [
                {"name": "Bash", "description": "Runs.", "input_schema": {"type": "object"}, "eager_input_streaming": true},
                {"type": "custom", "name": "Other", "input_schema": {}},
                {"type": "bash_20250124", "name": "bash"},
                {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
                {"type": "mcp_toolset", "mcp_server_name": "docs"},
            ],
            "tool_choice": {"type": "tool", "name": "Bash"},
        }),
    );
    assert_eq!(
        (request.model.as_str(), request.max_tokens),
        ("claude", Some(100))
    );
    assert_eq!(request.system, "Be kind.\nBe brief.");
    assert!(request.wants_stream && request.wants_thinking);
    assert_eq!(request.response_schema, Some(json!({"type": "object"})));
    assert_eq!(
        request.history,
        [
            Message::user("hi"),
            said(
                Role::Assistant,
                vec![
                    Part::Thinking("hm".into()),
                    Part::Thinking(String::new()),
                    text("Let me look."),
                    Part::other("server_tool_use"),
                    requested_call("call_1", "Bash", json!({"command": "ls"})),
                ]
            ),
            said(
                Role::User,
                vec![
                    Part::Result(RequestedResult {
                        call_id: "call_1".into(),
                        name: String::new(),
                        text: "a\nb".into(),
                        blocks: vec!["image".into()],
                        is_error: true,
                    }),
                    result("call_2", "", "plain", false),
                    result("call_3", "", "", false),
                    image("image", "", "https://example.com"),
                    text("go on"),
                ]
            ),
        ]
    );
    let tools: Vec<_> = request
        .tools
        .iter()
        .map(|tool| (tool.name.as_str(), &tool.input))
        .collect();
    assert_eq!(
        tools,
        [
            ("Bash", &ToolInput::Schema(json!({"type": "object"}))),
            ("Other", &ToolInput::Schema(json!({}))),
            ("bash", &ToolInput::Schema(Json::Null)),
            ("web_search", &ToolInput::Opaque),
            ("docs", &ToolInput::Opaque),
        ]
    );
    assert_eq!(request.tool_choice, ToolChoice::Tool("Bash".into()));
}

#[test]
fn chat() {
    let request = request(
        Endpoint::Chat,
        &json!({
            "model": "gpt", "stream": true, "stream_options": {"include_usage": true}, "max_completion_tokens": 7,
            "temperature": null, "tool_choice": "required", "user": "u",
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": true}},
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
                {"role": "user", "content": [{"type": "text", "text": "what is it"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}]},
                {"role": "assistant", "content": null, "refusal": null, "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}},
                    {"id": "call_2", "type": "custom", "custom": {"name": "patch", "input": "***"}},
                    {"id": "call_3", "type": "function", "function": {"name": "g", "arguments": "{broken"}},
                ]},
                {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                {"role": "tool", "tool_call_id": "call_2", "content": "done"},
                {"role": "assistant", "content": "Here.", "reasoning_content": "hm"},
                {"role": "assistant", "content": "", "function_call": {"name": "old", "arguments": "{}"}},
                {"role": "function", "name": "old", "content": "42"},
            ],
            "tools": [
                {"type": "function", "function": {"name": "f", "description": "F.", "parameters": {"type": "object"}}},
                {"type": "custom", "custom": {"name": "patch", "format": {"type": "text"}}},
                {"type": "web_search"},
            ],
            "functions": [{"name": "old"}],
        }),
    );
    assert_eq!(
        (request.system.as_str(), request.max_tokens),
        ("Be kind.\nBe brief.", Some(7))
    );
    assert!(request.wants_stream && request.wants_stream_usage && !request.wants_thinking);
    assert_eq!(request.response_schema, Some(json!({"type": "object"})));
    assert_eq!(
        request.history,
        [
            said(
                Role::User,
                vec![text("what is it"), image("image_url", "image/png", "")]
            ),
            said(
                Role::Assistant,
                vec![
                    requested_call("call_1", "f", json!({"a": 1})),
                    requested_call("call_2", "patch", json!("***")),
                    requested_call("call_3", "g", json!("{broken")),
                ]
            ),
            said(Role::User, vec![result("call_1", "", "a\nb", false)]),
            said(Role::User, vec![result("call_2", "", "done", false)]),
            said(
                Role::Assistant,
                vec![Part::Thinking("hm".into()), text("Here.")]
            ),
            said(
                Role::Assistant,
                vec![text(""), requested_call("", "old", json!({}))]
            ),
            said(Role::User, vec![result("", "old", "42", false)]),
        ]
    );
    let tools: Vec<_> = request
        .tools
        .iter()
        .map(|tool| (tool.name.as_str(), &tool.input))
        .collect();
    assert_eq!(
        tools,
        [
            ("f", &ToolInput::Schema(json!({"type": "object"}))),
            ("patch", &ToolInput::Text),
            ("web_search", &ToolInput::Opaque),
            ("old", &ToolInput::Schema(Json::Null)),
        ]
    );
    assert_eq!(request.tool_choice, ToolChoice::Any);
}

#[test]
fn responses() {
    let id = ResponseId {
        scenario: 5,
        turn: 3,
        session: 9,
    }
    .encode();
    let request = request(
        Endpoint::Responses,
        &json!({
            "model": "gpt", "instructions": "Be kind.", "store": false, "stream": true, "max_output_tokens": 9,
            "include": ["reasoning.encrypted_content"], "reasoning": {"effort": "low", "summary": "auto"},
            "previous_response_id": id, "prompt_cache_key": "k",
            "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}},
            "input": [
                {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
                {"role": "user", "content": "hi"},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": "data:image/png;base64,"}]},
                {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "content": null, "encrypted_content": "x"},
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}]},
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}"},
                {"type": "custom_tool_call", "call_id": "call_2", "name": "apply_patch", "input": "***"},
                {"type": "local_shell_call", "call_id": "call_3", "status": "completed", "action": {"type": "exec", "command": ["ls"]}},
                {"type": "function_call_output", "call_id": "call_1", "output": "Output: a"},
                {"type": "custom_tool_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "done"}]},
                {"type": "local_shell_call_output", "call_id": "call_3", "output": {"stdout": "a"}},
                {"type": "web_search_call", "id": "ws_1", "status": "completed"},
                {"type": "item_reference", "id": "x"},
            ],
            "tools": [
                {"type": "function", "name": "exec_command", "description": "Runs.", "parameters": {"type": "object"}, "strict": false},
                {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
                {"type": "namespace", "name": "mcp__docs", "tools": [{"type": "function", "name": "search", "parameters": {}}]},
                {"type": "web_search", "external_web_access": true},
                {"type": "local_shell"},
            ],
            "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": []},
        }),
    );
    assert_eq!(
        (request.system.as_str(), request.max_tokens),
        ("Be kind.\nBe brief.", Some(9))
    );
    assert!(request.wants_stream && request.wants_thinking);
    assert_eq!(
        request.previous,
        Some(PreviousAnswer {
            id,
            scenario: 5,
            turn_idx: 3,
            session: 9
        })
    );
    assert_eq!(request.response_schema, Some(json!({"type": "object"})));
    let local_shell = json!({"type": "exec", "command": ["ls"]});
    assert_eq!(
        request.history,
        [
            Message::user("hi"),
            said(
                Role::User,
                vec![text("look"), image("input_image", "image/png", "")]
            ),
            said(Role::Assistant, vec![Part::Thinking("hm".into())]),
            Message::assistant("Let me look."),
            said(
                Role::Assistant,
                vec![requested_call(
                    "call_1",
                    "exec_command",
                    json!({"cmd": "ls"})
                )]
            ),
            said(
                Role::Assistant,
                vec![requested_call("call_2", "apply_patch", json!("***"))]
            ),
            said(
                Role::Assistant,
                vec![requested_call("call_3", "local_shell", local_shell)]
            ),
            said(Role::User, vec![result("call_1", "", "Output: a", false)]),
            said(Role::User, vec![result("call_2", "", "done", false)]),
            said(
                Role::User,
                vec![result("call_3", "", "{\"stdout\":\"a\"}", false)]
            ),
            said(Role::Assistant, vec![Part::other("web_search_call")]),
            said(Role::Assistant, vec![Part::other("item_reference")]),
        ]
    );
    let tools: Vec<_> = request
        .tools
        .iter()
        .map(|tool| (tool.name.as_str(), &tool.input))
        .collect();
    assert_eq!(
        tools,
        [
            (
                "exec_command",
                &ToolInput::Schema(json!({"type": "object"}))
            ),
            ("apply_patch", &ToolInput::Text),
            ("search", &ToolInput::Schema(json!({}))),
            ("web_search", &ToolInput::Opaque),
            ("local_shell", &ToolInput::Schema(Json::Null)),
        ]
    );
    assert_eq!(request.tool_choice, ToolChoice::Any);
}

#[test]
fn an_input_may_be_a_text() {
    let request = request(Endpoint::Responses, &json!({"model": "gpt", "input": "hi"}));
    assert_eq!(request.history, [Message::user("hi")]);
    assert!(!request.wants_stream && !request.wants_thinking);
}

#[test]
fn gemini_in_both_spellings() {
    let camel = json!({
        "systemInstruction": {"parts": [{"text": "Be kind."}, {"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}, {"inlineData": {"mimeType": "image/png", "data": ""}}]},
            {"role": "model", "parts": [
                {"text": "hm", "thought": true},
                {"text": "Let me look."},
                {"functionCall": {"id": "call_1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "x"},
                {"functionCall": {"name": "g"}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "call_1", "name": "f", "response": {"output": "done"}}},
                {"functionResponse": {"name": "g", "response": {"error": "broken"}}},
            ]},
            {"role": "function", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1, "b": 2}}}]},
        ],
        "tools": [{"functionDeclarations": [
            {"name": "f", "description": "F.", "parametersJsonSchema": {"type": "object"}},
            {"name": "g", "parameters": {"type": "OBJECT"}},
        ]}, {"googleSearch": {}}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "generationConfig": {
            "maxOutputTokens": 9, "responseMimeType": "application/json",
            "responseJsonSchema": {"type": "object"}, "thinkingConfig": {"includeThoughts": true},
        },
    });
    let mut snake = camel.to_string();
    for (name, other) in [
        ("systemInstruction", "system_instruction"),
        ("functionCallingConfig", "function_calling_config"),
        ("allowedFunctionNames", "allowed_function_names"),
        ("functionCall\"", "function_call\""),
        ("functionResponse", "function_response"),
        ("functionDeclarations", "function_declarations"),
        ("parametersJsonSchema", "parameters_json_schema"),
        ("toolConfig", "tool_config"),
        ("generationConfig", "generation_config"),
        ("maxOutputTokens", "max_output_tokens"),
        ("responseMimeType", "response_mime_type"),
        ("responseJsonSchema", "response_json_schema"),
        ("thinkingConfig", "thinking_config"),
        ("includeThoughts", "include_thoughts"),
    ] {
        snake = snake.replace(name, other);
    }
    let snake: Json = serde_json::from_str(&snake).expect("JSON");

    for body in [camel, snake] {
        let request = request(Endpoint::Gemini, &body);
        assert_eq!(
            (request.model.as_str(), request.max_tokens),
            ("gemini-3", Some(9))
        );
        assert_eq!(request.system, "Be kind.\nBe brief.");
        assert!(request.wants_thinking);
        assert_eq!(request.response_schema, Some(json!({"type": "object"})));
        assert_eq!(
            request.history,
            [
                said(
                    Role::User,
                    vec![text("hi"), image("inlineData", "image/png", "")]
                ),
                said(
                    Role::Assistant,
                    vec![
                        Part::Thinking("hm".into()),
                        text("Let me look."),
                        requested_call("call_1", "f", json!({"a": 1})),
                        requested_call("", "g", json!({})),
                    ]
                ),
                said(
                    Role::User,
                    vec![
                        result("call_1", "f", "done", false),
                        result("", "g", "broken", true)
                    ]
                ),
                said(
                    Role::User,
                    vec![result("", "f", "{\"a\":1,\"b\":2}", false)]
                ),
            ]
        );
        let tools: Vec<_> = request
            .tools
            .iter()
            .map(|tool| (tool.name.as_str(), &tool.input))
            .collect();
        assert_eq!(
            tools,
            [
                ("f", &ToolInput::Schema(json!({"type": "object"}))),
                ("g", &ToolInput::Schema(json!({"type": "OBJECT"}))),
                ("googleSearch", &ToolInput::Opaque),
            ]
        );
        assert_eq!(request.tool_choice, ToolChoice::Tool("f".into()));
    }
}

#[test]
fn counting_needs_less() {
    let counts = |endpoint| Target {
        counts: true,
        ..target(endpoint)
    };
    let body = br#"{"model": "claude", "messages": [{"role": "user", "content": "hi"}]}"#;
    assert!(read_request(&target(Endpoint::Messages), "/p", body).is_err());
    assert!(read_request(&counts(Endpoint::Messages), "/p", body).is_ok());
    let body = br#"{"generateContentRequest": {"model": "models/x", "contents": [{"parts": [{"text": "hi"}]}]}}"#;
    let received = read_request(&counts(Endpoint::Gemini), "/p", body).expect("a valid request");
    assert_eq!(received.request.history, [Message::user("hi")]);
}

#[test]
fn anthropic_says_what_is_wrong() {
    let hi = json!([{"role": "user", "content": "hi"}]);
    for (body, message) in [
        (
            json!({"model": "m", "messages": hi}),
            "max_tokens: Field required",
        ),
        (
            json!({"max_tokens": 1, "messages": hi}),
            "model: Field required",
        ),
        (
            json!({"model": "m", "max_tokens": 1}),
            "messages: Field required",
        ),
        (
            json!({"model": 1, "max_tokens": 1, "messages": hi}),
            "model: Input should be a valid string",
        ),
        (
            json!({"model": "m", "max_tokens": 1, "messages": {}}),
            "messages: Input should be a valid list",
        ),
        (
            json!({"model": "m", "max_tokens": 1, "messages": []}),
            "messages: at least one message is required",
        ),
        (
            json!({"model": "m", "max_tokens": "1", "messages": hi}),
            "max_tokens: Input should be a valid integer",
        ),
        (
            json!({"model": "m", "max_tokens": 0, "messages": hi}),
            "max_tokens: must be greater than or equal to 1",
        ),
        (
            json!({"model": "m", "max_tokens": 1, "messages": ["x"]}),
            "messages.0: Input should be a valid dictionary",
        ),
        (
            json!({"model": "m", "max_tokens": 1, "messages": [{"role": "robot", "content": "x"}]}),
            "messages.0.role: Input should be 'user' or 'assistant'",
        ),
        (
            json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "text"}]}]}),
            "messages.0.content.0.text: Field required",
        ),
        (
            json!({"model": "m", "max_tokens": 1, "messages": hi, "tools": [{"name": "x"}]}),
            "tools.0.input_schema: Field required",
        ),
    ] {
        assert_eq!(
            refusal(Endpoint::Messages, &body),
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
        );
    }
}

#[test]
fn open_ai_says_what_is_wrong() {
    let hi = json!([{"role": "user", "content": "hi"}]);
    for (endpoint, body, message, param, code) in [
        (
            Endpoint::Chat,
            json!({"messages": hi}),
            "you must provide a model parameter",
            Json::Null,
            Json::Null,
        ),
        (
            Endpoint::Chat,
            json!({"model": "m"}),
            "Missing required parameter: 'messages'.",
            json!("messages"),
            json!("missing_required_parameter"),
        ),
        (
            Endpoint::Chat,
            json!({"model": "m", "messages": "hi"}),
            "Invalid type for 'messages': expected an array of objects, but got a string instead.",
            json!("messages"),
            json!("invalid_type"),
        ),
        (
            Endpoint::Chat,
            json!({"model": "m", "messages": [{"role": "robot", "content": "hi"}]}),
            "Invalid value: 'robot'. Supported values are: 'system', 'developer', 'assistant', 'user', 'function' and \
             'tool'.",
            json!("messages[0].role"),
            json!("invalid_value"),
        ),
        (
            Endpoint::Chat,
            json!({"model": "m", "messages": [{"role": "user", "content": [{"text": "x"}]}]}),
            "Missing required parameter: 'messages[0].content[0].type'.",
            json!("messages[0].content[0].type"),
            json!("missing_required_parameter"),
        ),
        (
            Endpoint::Chat,
            json!({"model": "m", "messages": hi, "max_tokens": -1}),
            "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got -1 instead.",
            json!("max_tokens"),
            json!("integer_below_min_value"),
        ),
        (
            Endpoint::Responses,
            json!({"input": "hi"}),
            "Missing required parameter: 'model'.",
            json!("model"),
            json!("missing_required_parameter"),
        ),
        (
            Endpoint::Responses,
            json!({"model": "m"}),
            "Missing required parameter: 'input'.",
            json!("input"),
            json!("missing_required_parameter"),
        ),
        (
            Endpoint::Responses,
            json!({"model": "m", "input": 1}),
            "Invalid type for 'input': expected one of a string or array of objects, but got an integer instead.",
            json!("input"),
            json!("invalid_type"),
        ),
    ] {
        let expected = json!({"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}});
        assert_eq!(refusal(endpoint, &body), expected);
    }
}

#[test]
fn a_foreign_answer_is_not_found() {
    let body = json!({"model": "m", "input": "hi", "previous_response_id": "resp_68af4030592c81938ec0a5fbab4a3e9f"});
    let error = try_read(Endpoint::Responses, &body).expect_err("a foreign id");
    assert_eq!(
        (error.status, error.code.as_deref()),
        (404, Some("previous_response_not_found"))
    );
}

#[test]
fn google_says_what_is_wrong() {
    let refused = refusal(Endpoint::Gemini, &json!({}));
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["status"]),
        (&json!(400), &json!("INVALID_ARGUMENT"))
    );
    assert_eq!(
        refused["error"]["message"],
        "* GenerateContentRequest.contents: contents is not specified\n"
    );
    assert_eq!(
        refused["error"]["details"][0]["fieldViolations"][0]["field"],
        "contents"
    );
    let refused = refusal(
        Endpoint::Gemini,
        &json!({"contents": [{"role": "robot", "parts": []}]}),
    );
    assert_eq!(
        refused["error"]["message"],
        "Please use a valid role: user, model."
    );
    let refused = refusal(
        Endpoint::Gemini,
        &json!({"contents": [{"parts": [{"text": 1}]}]}),
    );
    assert_eq!(
        refused["error"]["message"],
        "Invalid value at 'contents[0].parts[0].text', 1"
    );
}

#[test]
fn a_body_that_is_no_json_is_refused_by_each() {
    for endpoint in ENDPOINTS {
        for body in ["", "{", "[]", "\"x\"", &"[".repeat(10_000)] {
            let error =
                read_request(&target(endpoint), "/p", body.as_bytes()).expect_err("no JSON");
            assert_eq!(error.status, 400);
            assert!(error.message.contains("JSON"), "{}", error.message);
        }
    }
}

#[test]
fn the_answer_of_one_turn_is_understood_in_the_next() {
    // What is sent comes back in the history, so the readers understand what the writers write.
    let elements = everything();
    let answer = answer(&elements, &Json::Null);
    let body = |endpoint| {
        let mut buffer = Vec::new();
        super::super::write_body(endpoint, &answer, &mut buffer);
        serde_json::from_slice::<Json>(&buffer).expect("JSON")
    };
    let requests = [
        request(
            Endpoint::Messages,
            &json!({"model": "m", "max_tokens": 1, "messages": [
            {"role": "assistant", "content": body(Endpoint::Messages)["content"]}]}),
        ),
        request(
            Endpoint::Chat,
            &json!({"model": "m", "messages": [body(Endpoint::Chat)["choices"][0]["message"]]}),
        ),
        request(
            Endpoint::Responses,
            &json!({"model": "m", "input": body(Endpoint::Responses)["output"]}),
        ),
        request(
            Endpoint::Gemini,
            &json!({"contents": [body(Endpoint::Gemini)["candidates"][0]["content"]]}),
        ),
    ];
    for request in requests {
        let parts: Vec<Part> = request
            .history
            .into_iter()
            .flat_map(|message| message.parts)
            .collect();
        let mut expected = vec![
            Part::Thinking("The user wants the weather. ☂".into()),
            text("Looking at \"both\" cities…\n"),
            requested_call(
                "call_1",
                "get_weather",
                json!({"city": "Zürich", "days": 2}),
            ),
            requested_call("call_2", "get_weather", json!({})),
        ];
        if request.endpoint == Endpoint::Chat {
            expected.remove(0);
        }
        assert_eq!(parts, expected, "{:?}", request.endpoint);
    }
}

fn odd_json() -> impl Strategy<Value = Json> {
    let name = prop_oneof![
        Just("model"),
        Just("messages"),
        Just("role"),
        Just("content"),
        Just("type"),
        Just("text"),
        Just("input"),
        Just("tools"),
        Just("tool_calls"),
        Just("function"),
        Just("name"),
        Just("contents"),
        Just("parts"),
        Just("functionResponse"),
        Just("max_tokens"),
        Just("tool_choice"),
        Just("call_id"),
        Just("output"),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        prop_oneof![
            Just("user"),
            Just("assistant"),
            Just("tool"),
            Just("text"),
            Just("tool_use"),
            Just("function_call_output"),
            Just("message")
        ]
        .prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            proptest::collection::vec((name.clone(), inner), 0..6).prop_map(
                |members| Json::Object(
                    members
                        .into_iter()
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect()
                )
            ),
        ]
    })
}

proptest! {
    #[test]
    fn no_body_is_too_odd(body in odd_json(), model: bool) {
        let mut body = body;
        if model && let Some(members) = body.as_object_mut() {
            members.insert("model".to_owned(), json!("m"));
            members.insert("max_tokens".to_owned(), json!(1));
        }
        for endpoint in ENDPOINTS {
            if let Err(error) = try_read(endpoint, &body) {
                prop_assert!((400..500).contains(&error.status) && !error.message.is_empty());
            }
        }
    }
}
