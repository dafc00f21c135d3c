use serde_json::json;

use super::import;
use crate::RunStatus;
use crate::import::testing::{outline, source, warnings};
use cuecard_source::value::Json;

/// A span from `start` to `end`, in seconds, with attributes that are texts or numbers.
fn span(id: &str, parent: &str, start: u64, end: u64, attributes: &[(&str, Json)]) -> Json {
    let attributes: Vec<Json> = attributes
        .iter()
        .map(|(key, value)| {
            let value = match value {
                Json::String(text) => json!({ "stringValue": text }),
                Json::Number(number) => json!({ "intValue": number.to_string() }),
                other => json!({ "stringValue": other.to_string() }),
            };
            json!({ "key": key, "value": value })
        })
        .collect();
    let time = |seconds: u64| format!("{}", (1_700_000_000 + seconds) * 1_000_000_000);
    json!({
        "traceId": "t", "spanId": id, "parentSpanId": parent, "name": "n",
        "startTimeUnixNano": time(start), "endTimeUnixNano": time(end),
        "attributes": attributes
    })
}

fn request(spans: &[Json]) -> Json {
    json!({ "resourceSpans": [{
        "resource": { "attributes": [{ "key": "service.version", "value": { "stringValue": "3" } }] },
        "scopeSpans": [{ "spans": spans }]
    }] })
}

fn operation(name: &str) -> (&'static str, Json) {
    ("gen_ai.operation.name", json!(name))
}

fn user(text: &str) -> Json {
    json!({"role": "user", "parts": [{"type": "text", "content": text}]})
}

fn assistant(parts: Json) -> Json {
    json!({"role": "assistant", "parts": parts, "finish_reason": "stop"})
}

/// Two requests, one after the other, and pretty: as files of exporters are.
pub(in crate::import) fn requests() -> String {
    let call =
        json!({"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"in": "Bern"}});
    let mut failed = span(
        "tool2",
        "root",
        6,
        7,
        &[
            operation("execute_tool"),
            ("gen_ai.tool.name", json!("map")),
            ("error.type", json!("timeout")),
        ],
    );
    failed["status"] = json!({"code": 2, "message": "too slow"});
    let spans = [
        span(
            "chat2",
            "root",
            8,
            9,
            &[
                operation("chat"),
                ("gen_ai.usage.input_tokens", json!(20)),
                ("gen_ai.usage.output_tokens", json!(2)),
                (
                    "gen_ai.input.messages",
                    json!([user("Weather?"), assistant(json!([call])), user("Please.")]),
                ),
                (
                    "gen_ai.output.messages",
                    json!([assistant(
                        json!([{"type": "text", "content": "7 degrees"}, {"type": "hologram"}])
                    )]),
                ),
            ],
        ),
        span(
            "root",
            "",
            0,
            10,
            &[
                operation("invoke_agent"),
                ("gen_ai.agent.name", json!("walker")),
                ("gen_ai.conversation.id", json!("conv")),
                ("gen_ai.input.messages", json!([user("Weather?")])),
                (
                    "gen_ai.output.messages",
                    json!([assistant(json!([{"type": "text", "content": "7 degrees"}]))]),
                ),
            ],
        ),
        span(
            "chat1",
            "root",
            1,
            2,
            &[
                operation("chat"),
                ("gen_ai.usage.input_tokens", json!(10)),
                ("gen_ai.input.messages", json!([user("Weather?")])),
                (
                    "gen_ai.output.messages",
                    json!([assistant(
                        json!([{"type": "reasoning", "content": "Hm"}, call])
                    )]),
                ),
            ],
        ),
        span(
            "tool1",
            "root",
            2,
            5,
            &[
                operation("execute_tool"),
                ("gen_ai.tool.name", json!("weather")),
                ("gen_ai.tool.call.id", json!("c1")),
                ("gen_ai.tool.call.arguments", json!({"in": "Bern"})),
                ("gen_ai.tool.call.result", json!({"degrees": 7})),
            ],
        ),
        span(
            "mcp",
            "tool1",
            3,
            4,
            &[
                ("mcp.method.name", json!("tools/call")),
                ("gen_ai.tool.name", json!("weather")),
            ],
        ),
        span("http", "chat1", 1, 2, &[("http.method", json!("POST"))]),
        failed,
    ];
    format!("{:#}\n{}\n", request(&spans[..3]), request(&spans[3..]))
}

#[test]
fn spans_become_a_trace_in_the_order_of_time() {
    let text = requests();
    let imported = import(&source(&text));
    assert_eq!(
        warnings(&imported),
        ["1 entry was skipped: `part: hologram` (1)"]
    );
    let trace = imported.trace.expect("a trace");
    assert_eq!(
        outline(&trace),
        [
            "e1 message_received Weather?",
            "e2 thought Hm",
            "e3 tool_call c1 weather {\"in\":\"Bern\"}",
            "e4 tool_result c1 weather true {\"degrees\":7} (e3)",
            "e5 tool_call tool2 map null",
            "e6 tool_result tool2 map false null (e5)",
            "e7 error tool2 timeout too slow (e5)",
            "e8 message_received Please.",
            "e9 final_output 7 degrees",
        ]
    );
    assert_eq!(trace.header.adapter.name, "walker");
    assert_eq!(trace.header.adapter.version, "3");
    assert_eq!(trace.events[0].session_id.as_deref(), Some("conv"));
    assert_eq!(trace.header.capabilities["supports_tool_trace"], true);
    let end = trace.end.expect("an end");
    assert_eq!(end.status, RunStatus::Success);
    assert_eq!(end.metrics.token_usage, Some(32));
    assert_eq!(end.metrics.timing_ms_total, 10_000.0);
}

#[test]
fn without_spans_of_tools_the_messages_tell_of_calls() {
    let call = json!([{"type": "tool_call", "id": "c", "name": "find", "arguments": "{\"a\": 1}"}]);
    let response = json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "found"}]});
    let text = request(&[
        span(
            "1",
            "",
            1,
            2,
            &[
                operation("chat"),
                ("gen_ai.output.messages", json!([assistant(call.clone())])),
            ],
        ),
        span(
            "2",
            "",
            3,
            4,
            &[
                operation("chat"),
                (
                    "gen_ai.input.messages",
                    json!([assistant(call), response.clone(), response]),
                ),
                (
                    "gen_ai.output.messages",
                    json!([assistant(json!([{"type": "text", "content": "Here"}]))]),
                ),
            ],
        ),
    ])
    .to_string();
    assert_eq!(
        outline(&import(&source(&text)).trace.expect("a trace")),
        [
            "e1 tool_call c find {\"a\":1}",
            "e2 tool_result c find true \"found\" (e1)",
            "e3 final_output Here",
        ]
    );
}

#[test]
fn older_conventions_have_events() {
    let mut chat = span("1", "", 1, 2, &[operation("chat")]);
    let content = |name: &str, text: &str| json!({"name": name, "attributes": [{"key": "content", "value": {"stringValue": text}}]});
    let message = json!({"role": "assistant", "content": "Hello"}).to_string();
    chat["events"] = json!([
        content("gen_ai.user.message", "Hi"),
        {"name": "gen_ai.choice", "attributes": [{"key": "message", "value": {"stringValue": message}}]}
    ]);
    let trace = import(&source(&request(&[chat]).to_string()))
        .trace
        .expect("a trace");
    assert_eq!(
        outline(&trace),
        ["e1 message_received Hi", "e2 final_output Hello"]
    );
}

#[test]
fn an_agent_within_an_agent_is_named() {
    let text = request(&[
        span(
            "outer",
            "",
            0,
            9,
            &[
                operation("invoke_agent"),
                ("gen_ai.agent.name", json!("main")),
            ],
        ),
        span(
            "inner",
            "outer",
            1,
            8,
            &[
                operation("invoke_agent"),
                ("gen_ai.agent.name", json!("helper")),
            ],
        ),
        span(
            "tool",
            "inner",
            2,
            3,
            &[
                operation("execute_tool"),
                ("gen_ai.tool.name", json!("find")),
            ],
        ),
    ])
    .to_string();
    assert_eq!(
        outline(&import(&source(&text)).trace.expect("a trace"))[0],
        "e1 helper: tool_call tool find null"
    );
}

#[test]
fn parents_in_a_circle_end() {
    let text = request(&[
        span(
            "a",
            "b",
            0,
            1,
            &[operation("execute_tool"), ("gen_ai.tool.name", json!("x"))],
        ),
        span(
            "b",
            "a",
            0,
            1,
            &[operation("execute_tool"), ("gen_ai.tool.name", json!("y"))],
        ),
    ])
    .to_string();
    let imported = import(&source(&text));
    assert!(imported.trace.is_some() || !imported.diagnostics.is_empty());
}

#[test]
fn what_tells_nothing_of_an_agent_is_refused() {
    let error = |text: &str| import(&source(text)).diagnostics[0].message.clone();
    assert_eq!(
        error("{}"),
        "no spans found: `resourceSpans` is missing or empty"
    );
    let other = request(&[span("1", "", 0, 1, &[("http.method", json!("GET"))])]).to_string();
    assert_eq!(
        error(&other),
        "no span of the file has an attribute `gen_ai.operation.name` or `openinference.span.kind`"
    );
    let silent = request(&[span("1", "", 0, 1, &[operation("chat")])]).to_string();
    assert_eq!(
        error(&silent),
        "the spans show model requests, but neither messages nor tool calls"
    );
}

/// The same run as an instrumentation of OpenInference tells it, with flat attributes.
fn openinference() -> String {
    let kind = |kind: &str| ("openinference.span.kind", json!(kind));
    let mut failed = span(
        "tool2",
        "root",
        6,
        7,
        &[
            kind("TOOL"),
            ("tool.name", json!("map")),
            ("input.value", json!("{\"of\": \"Bern\"}")),
        ],
    );
    failed["status"] = json!({"code": 2});
    failed["events"] = json!([{"name": "exception", "attributes": [
        {"key": "exception.type", "value": {"stringValue": "TimeoutError"}},
        {"key": "exception.message", "value": {"stringValue": "too slow"}},
    ]}]);
    let spans = [
        span(
            "root",
            "",
            0,
            10,
            &[
                kind("AGENT"),
                ("agent.name", json!("walker")),
                ("session.id", json!("conv")),
                ("input.value", json!("Weather?")),
                ("output.value", json!("7 degrees")),
            ],
        ),
        span(
            "chain",
            "root",
            0,
            10,
            &[kind("CHAIN"), ("input.value", json!("nobody's turn"))],
        ),
        span(
            "chat1",
            "chain",
            1,
            2,
            &[
                kind("LLM"),
                ("llm.model_name", json!("m")),
                ("llm.token_count.prompt", json!(10)),
                ("llm.token_count.completion", json!(3)),
                ("llm.input_messages.0.message.role", json!("system")),
                ("llm.input_messages.0.message.content", json!("Be brief.")),
                ("llm.input_messages.1.message.role", json!("user")),
                (
                    "llm.input_messages.1.message.contents.0.message_content.type",
                    json!("text"),
                ),
                (
                    "llm.input_messages.1.message.contents.0.message_content.text",
                    json!("Weather?"),
                ),
                ("llm.output_messages.0.message.role", json!("assistant")),
                (
                    "llm.output_messages.0.message.tool_calls.0.tool_call.id",
                    json!("c1"),
                ),
                (
                    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name",
                    json!("weather"),
                ),
                (
                    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments",
                    json!("{\"in\": \"Bern\"}"),
                ),
            ],
        ),
        span(
            "tool1",
            "chain",
            2,
            5,
            &[
                kind("tool"),
                ("tool.name", json!("weather")),
                ("tool_call.id", json!("c1")),
                ("input.value", json!("{\"in\": \"Bern\"}")),
                ("input.mime_type", json!("application/json")),
                ("output.value", json!("{\"degrees\": 7}")),
            ],
        ),
        failed,
        span(
            "chat2",
            "chain",
            8,
            9,
            &[
                kind("LLM"),
                ("llm.input_messages.0.message.role", json!("user")),
                ("llm.input_messages.0.message.content", json!("Weather?")),
                ("llm.input_messages.1.message.role", json!("tool")),
                ("llm.input_messages.1.message.tool_call_id", json!("c1")),
                (
                    "llm.input_messages.1.message.content",
                    json!("{\"degrees\": 7}"),
                ),
                ("llm.output_messages.0.message.role", json!("assistant")),
                ("llm.output_messages.0.message.content", json!("7 degrees")),
            ],
        ),
    ];
    request(&spans).to_string()
}

#[test]
fn spans_of_openinference_become_the_same_events() {
    let imported = import(&source(&openinference()));
    assert_eq!(warnings(&imported), [] as [&str; 0]);
    let trace = imported.trace.expect("a trace");
    assert_eq!(
        outline(&trace),
        [
            "e1 message_received Weather?",
            "e2 tool_call c1 weather {\"in\":\"Bern\"}",
            "e3 tool_result c1 weather true {\"degrees\":7} (e2)",
            "e4 tool_call tool2 map {\"of\":\"Bern\"}",
            "e5 tool_result tool2 map false null (e4)",
            "e6 error tool2 TimeoutError too slow (e4)",
            "e7 final_output 7 degrees",
        ]
    );
    assert_eq!(trace.header.adapter.name, "walker");
    let end = trace.end.expect("an end");
    assert_eq!(end.metrics.token_usage, Some(13));
}

fn chat(id: &str, start: u64, history: &Json, answer: Json) -> Json {
    span(
        id,
        "",
        start,
        start + 1,
        &[
            operation("chat"),
            ("gen_ai.input.messages", history.clone()),
            ("gen_ai.output.messages", json!([assistant(answer)])),
        ],
    )
}

/// Three turns of a chat, of which two call something; `id` is what the model gives both calls.
fn turns_with_one_id(id: Option<&str>) -> String {
    let call = |name: &str| json!({"type": "tool_call", "id": id, "name": name, "arguments": {"of": name}});
    let response = |text: &str| json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": id, "response": text}]});
    let first = [user("Clean up.")];
    let second = [
        &first[..],
        &[assistant(json!([call("list")])), response("a")],
    ]
    .concat();
    let third = [
        &second[..],
        &[assistant(json!([call("rm")])), response("gone")],
    ]
    .concat();
    let spans = [
        chat("s1", 0, &json!(first), json!([call("list")])),
        chat("s2", 2, &json!(second), json!([call("rm")])),
        chat(
            "s3",
            4,
            &json!(third),
            json!([{"type": "text", "content": "ok"}]),
        ),
    ];
    request(&spans).to_string()
}

#[test]
fn calls_without_ids_or_with_one_for_all_are_calls_of_their_own() {
    for (id, first) in [(None, "s1-1"), (Some("call_0"), "call_0")] {
        let imported = import(&source(&turns_with_one_id(id)));
        let trace = imported.trace.expect("a trace");
        assert_eq!(
            outline(&trace),
            [
                "e1 message_received Clean up.".to_owned(),
                format!("e2 tool_call {first} list {{\"of\":\"list\"}}"),
                format!("e3 tool_result {first} list true \"a\" (e2)"),
                "e4 tool_call s2-2 rm {\"of\":\"rm\"}".to_owned(),
                "e5 tool_result s2-2 rm true \"gone\" (e4)".to_owned(),
                "e6 final_output ok".to_owned(),
            ]
        );
    }
    // Two in one answer are two; the same answer seen twice at once is one.
    let pay =
        |amount: u64| json!({"type": "tool_call", "name": "pay", "arguments": {"amount": amount}});
    let answer = json!([pay(1), pay(2), pay(2)]);
    let mut inner = chat("inner", 0, &json!([user("Pay.")]), answer.clone());
    inner["parentSpanId"] = json!("outer");
    let spans = [chat("outer", 0, &json!([user("Pay.")]), answer), inner];
    let trace = import(&source(&request(&spans).to_string())).trace;
    assert_eq!(
        trace
            .expect("a trace")
            .end
            .expect("an end")
            .metrics
            .tool_call_count,
        3
    );
}

#[test]
fn the_answer_is_that_of_the_agent() {
    let says = |text: &str| json!([{"type": "text", "content": text}]);
    let agent = span(
        "root",
        "",
        0,
        10,
        &[
            operation("invoke_agent"),
            (
                "gen_ai.output.messages",
                json!([assistant(says("I hate you."))]),
            ),
        ],
    );
    let mut answer = chat("answer", 1, &json!([user("Hello")]), says("I hate you."));
    answer["parentSpanId"] = json!("root");
    let mut title = chat("title", 3, &json!([user("Name this")]), says("A nice chat"));
    title["parentSpanId"] = json!("root");
    let mut title_elsewhere = chat(
        "title",
        12,
        &json!([user("Name this")]),
        says("A nice chat"),
    );
    title_elsewhere["traceId"] = json!("another");
    for title in [title, title_elsewhere] {
        let spans = [agent.clone(), answer.clone(), title];
        let trace = import(&source(&request(&spans).to_string())).trace;
        let end = trace.expect("a trace").end.expect("an end");
        let output = end.final_output.expect("an answer");
        assert_eq!(output.content, "I hate you.");
        assert_eq!(end.status, RunStatus::Success);
    }
}

#[test]
fn an_agent_that_crashed_is_an_error() {
    let mut agent = span(
        "root",
        "",
        0,
        10,
        &[operation("invoke_agent"), ("error.type", json!("crash"))],
    );
    agent["status"] = json!({"code": 2, "message": "out of memory"});
    let mut answer = chat(
        "answer",
        1,
        &json!([user("Hello")]),
        json!([{"type": "text", "content": "Hm."}]),
    );
    answer["parentSpanId"] = json!("root");
    let trace = import(&source(
        &request(&[agent.clone(), answer.clone()]).to_string(),
    ));
    let trace = trace.trace.expect("a trace");
    assert_eq!(
        outline(&trace).last().map(String::as_str),
        Some("e3 error model crash out of memory")
    );
    assert_eq!(trace.end.expect("an end").status, RunStatus::Failed);
    // What failed in it is told once.
    answer["status"] = json!({"code": 2});
    let trace = import(&source(&request(&[agent, answer]).to_string())).trace;
    let errors = trace.expect("a trace").events.into_iter();
    assert_eq!(
        errors
            .filter(|event| event.data.type_name() == "error")
            .count(),
        1
    );
}

#[test]
fn what_is_not_read_is_counted() {
    let text = |text: &str| json!([{"type": "text", "content": text}]);
    let known = request(&[chat("known", 0, &json!([user("Hello")]), text("Hi"))]);
    let older = span(
        "older",
        "",
        2,
        3,
        &[("gen_ai.completion.0.role", json!("assistant"))],
    );
    let embedding = span("vectors", "", 2, 3, &[operation("embeddings")]);
    let documents = [
        known.clone(),
        // Delivered twice.
        known,
        json!({"resource_spans": []}),
        json!({"resourceLogs": [], "name": "rm"}),
        request(&[older, embedding]),
    ];
    let documents: Vec<String> = documents.iter().map(Json::to_string).collect();
    let imported = import(&source(&documents.join("\n")));
    assert_eq!(
        warnings(&imported),
        [
            "4 entries were skipped: `a span of a model or a tool in other conventions` (1), `name` (1), `resourceLogs` (1), `resource_spans` (1)"
        ]
    );
    assert_eq!(
        outline(&imported.trace.expect("a trace")),
        ["e1 message_received Hello", "e2 final_output Hi"]
    );
}

#[test]
fn a_tool_is_known_without_its_operation() {
    let tool = span("t", "", 2, 3, &[("gen_ai.tool.name", json!("rm"))]);
    let mut broken = span(
        "b",
        "",
        4,
        5,
        &[operation("execute_tool"), ("gen_ai.tool.name", json!("ls"))],
    );
    broken["events"] = json!([{"name": "exception", "attributes": []}]);
    let trace = import(&source(&request(&[tool, broken]).to_string())).trace;
    assert_eq!(
        outline(&trace.expect("a trace")),
        [
            "e1 tool_call t rm null",
            "e2 tool_result t rm true null (e1)",
            "e3 tool_call b ls null",
            "e4 tool_result b ls false null (e3)",
            "e5 error b tool_error  (e3)",
        ]
    );
}

#[test]
fn a_retriever_of_openinference_is_a_tool() {
    let mut retriever = span(
        "r",
        "",
        0,
        1,
        &[
            ("openinference.span.kind", json!("RETRIEVER")),
            ("input.value", json!("bridges")),
            (
                "retrieval.documents.0.document.content",
                json!("The bridge is safe."),
            ),
            ("retrieval.documents.0.document.id", json!("d1")),
            (
                "retrieval.documents.0.document.metadata",
                json!("{\"page\": 3}"),
            ),
            (
                "retrieval.documents.1.document.content",
                json!("It is old."),
            ),
        ],
    );
    retriever["name"] = json!("VectorStore");
    let trace = import(&source(&request(&[retriever]).to_string())).trace;
    assert_eq!(
        outline(&trace.expect("a trace")),
        [
            "e1 tool_call r VectorStore {\"query\":\"bridges\"}",
            "e2 tool_result r VectorStore true [{\"content\":\"The bridge is safe.\",\"id\":\"d1\",\"metadata\":{\"page\":3}},{\"content\":\"It is old.\"}] (e1)",
        ]
    );
}
