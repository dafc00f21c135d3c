//! What holds for every answer, in every dialect.

use proptest::prelude::*;

use super::super::answer::Failure;
use super::super::errors::ApiError;
use super::super::stop::StopReason;
use super::super::{stream, write_body};
use super::*;

fn body(endpoint: Endpoint, answer: &Answer<'_>) -> Json {
    let mut buffer = Vec::new();
    write_body(endpoint, answer, &mut buffer);
    serde_json::from_slice(&buffer).expect("JSON")
}

fn events(endpoint: Endpoint, answer: &Answer<'_>, chunk: usize) -> Vec<(Option<String>, Json)> {
    read(&stream(endpoint, answer, streaming(chunk)).into_bytes())
}

/// Adds a text to a member, as clients put deltas together.
fn append(json: &mut Json, name: &str, delta: &Json) {
    let joined =
        json[name].as_str().unwrap_or_default().to_owned() + delta.as_str().expect("a text");
    json[name] = Json::from(joined);
}

fn pushed(list: &mut Json, item: Json) {
    list.as_array_mut().expect("a list").push(item);
}

/// The message that a client of Anthropic's makes of a stream.
fn message_of(events: &[(Option<String>, Json)]) -> Json {
    let mut message = Json::Null;
    let mut arguments = String::new();
    let mut open = None;
    for (name, data) in events {
        assert_eq!(name.as_deref(), data["type"].as_str());
        match data["type"].as_str().expect("a type") {
            "message_start" => message = data["message"].clone(),
            "content_block_start" => {
                assert_eq!(
                    open.replace(data["index"].clone()),
                    None,
                    "a block in a block"
                );
                assert_eq!(
                    data["index"],
                    message["content"].as_array().expect("a list").len()
                );
                pushed(&mut message["content"], data["content_block"].clone());
                arguments.clear();
            }
            "content_block_delta" => {
                assert_eq!(open.as_ref(), Some(&data["index"]));
                let index = data["index"].as_u64().expect("a number") as usize;
                let block = &mut message["content"][index];
                let delta = &data["delta"];
                match delta["type"].as_str().expect("a type") {
                    "text_delta" => append(block, "text", &delta["text"]),
                    "thinking_delta" => append(block, "thinking", &delta["thinking"]),
                    "signature_delta" => block["signature"] = delta["signature"].clone(),
                    _ => {
                        arguments += delta["partial_json"].as_str().expect("a text");
                        // It is JSON when the last piece is there.
                        if let Ok(input) = serde_json::from_str(&arguments) {
                            block["input"] = input;
                        }
                    }
                }
            }
            "content_block_stop" => assert_eq!(open.take(), Some(data["index"].clone())),
            "message_delta" => {
                for (name, value) in data["delta"].as_object().expect("an object") {
                    message[name] = value.clone();
                }
                message["usage"] = data["usage"].clone();
            }
            _ => assert_eq!(data["type"], "message_stop"),
        }
    }
    message
}

/// The completion that a client of Chat's makes of a stream.
fn completion_of(events: &[(Option<String>, Json)]) -> Json {
    let (last, chunks) = events.split_last().expect("an end mark");
    assert_eq!(last.1, "[DONE]");
    let mut completion = json!({
        "id": chunks[0].1["id"], "object": "chat.completion", "created": chunks[0].1["created"],
        "model": chunks[0].1["model"],
    });
    let mut message = json!({"content": null, "annotations": []});
    let mut finish_reason = Json::Null;
    for (name, chunk) in chunks {
        assert_eq!((name, &chunk["id"]), (&None, &completion["id"]));
        let Some(choice) = chunk["choices"].get(0) else {
            completion["usage"] = chunk["usage"].clone();
            continue;
        };
        assert_eq!(finish_reason, Json::Null, "something after the end");
        finish_reason = choice["finish_reason"].clone();
        for (name, value) in choice["delta"].as_object().expect("an object") {
            match name.as_str() {
                "content" if value.is_string() => append(&mut message, "content", value),
                "tool_calls" => {
                    let index = value[0]["index"].as_u64().expect("a number") as usize;
                    if message["tool_calls"].get(index).is_none() {
                        if message["tool_calls"].is_null() {
                            message["tool_calls"] = json!([]);
                        }
                        let mut call = value[0].clone();
                        call.as_object_mut().expect("an object").remove("index");
                        pushed(&mut message["tool_calls"], call);
                    } else {
                        let call = &mut message["tool_calls"][index];
                        for (outer, inner) in [("function", "arguments"), ("custom", "input")] {
                            if let Some(piece) = value[0].get(outer) {
                                append(&mut call[outer], inner, &piece[inner]);
                            }
                        }
                    }
                }
                _ => assert!(
                    message
                        .as_object_mut()
                        .expect("an object")
                        .insert(name.clone(), value.clone())
                        .is_none_or(|old| old.is_null())
                ),
            }
        }
    }
    completion["choices"] =
        json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason}]);
    completion
}

/// The answer that a client of Responses' makes of a stream, and that the last event holds.
fn response_of(events: &[(Option<String>, Json)]) -> Json {
    let mut output: Vec<Json> = Vec::new();
    let mut text = String::new();
    let mut final_response = Json::Null;
    for (number, (name, data)) in events.iter().enumerate() {
        assert_eq!(name.as_deref(), data["type"].as_str());
        assert_eq!(data["sequence_number"], number);
        if let Some(id) = data.get("item_id") {
            assert_eq!(
                id,
                &output[data["output_index"].as_u64().expect("a number") as usize]["id"]
            );
        }
        match data["type"].as_str().expect("a type") {
            "response.created" | "response.in_progress" => {
                assert_eq!(
                    (&data["response"]["status"], &data["response"]["output"]),
                    (&json!("in_progress"), &json!([]))
                );
            }
            "response.output_item.added" => {
                assert_eq!(data["output_index"], output.len());
                output.push(data["item"].clone());
                text.clear();
            }
            "response.output_item.done" => {
                let item = output.last_mut().expect("an item");
                assert_eq!(item["id"], data["item"]["id"]);
                *item = data["item"].clone();
            }
            kind if kind.ends_with(".delta") => text += data["delta"].as_str().expect("a text"),
            kind if kind.ends_with("part.added") => assert_eq!(data["part"]["text"], ""),
            kind if kind.ends_with("part.done") => assert_eq!(data["part"]["text"], text),
            kind if kind.ends_with(".done") => {
                let whole = ["text", "arguments", "input"]
                    .into_iter()
                    .find_map(|name| data.get(name));
                assert_eq!(whole.expect("the whole"), &text);
            }
            _ => final_response = data["response"].clone(),
        }
    }
    assert_eq!(final_response["output"], Json::from(output));
    final_response
}

/// The parts of a Gemini answer, adjacent texts of one kind as one.
fn parts_of<'a>(chunks: impl IntoIterator<Item = &'a Json>) -> Vec<Json> {
    let mut parts: Vec<Json> = Vec::new();
    for chunk in chunks {
        // What was withheld has no content.
        let parts_of_chunk = chunk["candidates"][0]["content"]["parts"].as_array();
        for part in parts_of_chunk.into_iter().flatten() {
            match parts.last_mut() {
                Some(last)
                    if part.get("text").is_some()
                        && last.get("text").is_some()
                        && last.get("thought") == part.get("thought") =>
                {
                    append(last, "text", &part["text"]);
                }
                _ => parts.push(part.clone()),
            }
        }
    }
    parts.retain(|part| part["text"] != "");
    parts
}

fn some_pieces() -> impl Strategy<Value = Vec<Piece>> {
    let piece = (any::<String>(), 0..5000_u64).prop_map(|(text, at_ms)| Piece {
        text: text.into(),
        at_ms,
        image: None,
    });
    proptest::collection::vec(piece, 0..3)
}

fn some_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Json::from),
        ".{0,12}".prop_map(Json::from)
    ];
    let inner = leaf.prop_recursive(2, 8, 3, |inner| {
        proptest::collection::vec(inner, 0..3).prop_map(Json::from)
    });
    proptest::collection::btree_map("[a-zé\"]{1,5}", inner, 0..4)
        .prop_map(|members| Json::Object(members.into_iter().collect()))
}

fn some_element() -> impl Strategy<Value = Element> {
    prop_oneof![
        some_pieces().prop_map(Element::Thinking),
        some_pieces().prop_map(Element::Text),
        (some_json(), 0..5000_u64).prop_map(|(json, at_ms)| call("call_1", "tool", json, at_ms)),
        (any::<String>(), 0..5000_u64)
            .prop_map(|(text, at_ms)| custom_call("call_2", "patch", &text, at_ms)),
    ]
}

fn some_stop() -> impl Strategy<Value = Option<StopReason>> {
    proptest::option::of(prop_oneof![
        Just(StopReason::MaxTokens),
        Just(StopReason::Refusal),
        Just(StopReason::EndTurn)
    ])
}

proptest! {
    #[test]
    fn body_and_stream_say_the_same(
        elements in proptest::collection::vec(some_element(), 0..5),
        stop in some_stop(),
        chunk in 1..40_usize,
        shows_thinking: bool,
    ) {
        let request = json!({"include": ["reasoning.encrypted_content"], "instructions": "Be brief."});
        let mut answer = answer(&elements, &request);
        (answer.stop, answer.shows_thinking) = (stop, shows_thinking);

        let events_of = |endpoint| events(endpoint, &answer, chunk);
        prop_assert_eq!(message_of(&events_of(Endpoint::Messages)), body(Endpoint::Messages, &answer));
        prop_assert_eq!(completion_of(&events_of(Endpoint::Chat)), body(Endpoint::Chat, &answer));
        prop_assert_eq!(response_of(&events_of(Endpoint::Responses)), body(Endpoint::Responses, &answer));

        let chunks = events_of(Endpoint::Gemini);
        let body = body(Endpoint::Gemini, &answer);
        prop_assert_eq!(parts_of(chunks.iter().map(|(_, chunk)| chunk)), parts_of([&body]));
        let (last, before) = chunks.split_last().expect("one chunk at least");
        for (_, chunk) in before {
            prop_assert_eq!((&chunk["responseId"], chunk.get("usageMetadata")), (&body["responseId"], None));
            prop_assert_eq!(chunk["candidates"][0].get("finishReason"), None);
        }
        prop_assert_eq!(&last.1["usageMetadata"], &body["usageMetadata"]);
        prop_assert_eq!(&last.1["candidates"][0]["finishReason"], &body["candidates"][0]["finishReason"]);
    }

    #[test]
    fn time_never_falls_and_ends_with_the_last_element(
        elements in proptest::collection::vec(some_element(), 0..5), chunk in 1..40_usize, shows_thinking: bool
    ) {
        let last = elements.iter().flat_map(|element| match element {
            Element::Thinking(pieces) | Element::Text(pieces) | Element::Refusal(pieces) => {
                pieces.iter().map(|piece| piece.at_ms).collect()
            }
            Element::Call(call) => vec![call.at_ms],
        });
        let last = last.max().unwrap_or(0);
        let mut answer = answer(&elements, &Json::Null);
        answer.shows_thinking = shows_thinking;
        for endpoint in ENDPOINTS {
            let events = stream(endpoint, &answer, streaming(chunk));
            let times: Vec<u64> = events.iter().map(|event| event.at_ms).collect();
            prop_assert!(times.is_sorted(), "{:?}", endpoint);
            prop_assert_eq!(times.last(), Some(&last), "{:?}", endpoint);
            // Each event is one, and together they are the stream.
            for event in events.iter() {
                prop_assert_eq!(read(&event.bytes).len(), 1);
            }
            let joined: Vec<u8> = events.iter().flat_map(|event| event.bytes.clone()).collect();
            prop_assert_eq!(joined, events.into_bytes());
        }
    }
}

#[test]
fn thinking_is_shown_where_it_is_wanted() {
    let elements = everything();
    let mut answer = answer(&elements, &Json::Null);
    for (endpoint, shows_thinking, expected) in [
        (Endpoint::Messages, true, true),
        (Endpoint::Messages, false, false),
        (Endpoint::Chat, true, false),
        (Endpoint::Responses, true, true),
        (Endpoint::Responses, false, false),
        (Endpoint::Gemini, true, true),
        (Endpoint::Gemini, false, false),
    ] {
        answer.shows_thinking = shows_thinking;
        let found = body(endpoint, &answer).to_string();
        assert_eq!(found.contains("The user wants"), expected, "{endpoint:?}");
    }
}

#[test]
fn each_dialect_has_its_word_for_the_end() {
    let mut with_calls = answer(&[], &Json::Null);
    let elements = everything();
    with_calls.elements = &elements;
    let reason = |endpoint, answer: &Answer<'_>| {
        let body = body(endpoint, answer);
        match endpoint {
            Endpoint::Messages => body["stop_reason"].clone(),
            Endpoint::Chat => body["choices"][0]["finish_reason"].clone(),
            Endpoint::Responses => json!([body["status"], body["incomplete_details"]["reason"]]),
            Endpoint::Gemini => body["candidates"][0]["finishReason"].clone(),
        }
    };
    let reasons = |answer: &Answer<'_>| ENDPOINTS.map(|endpoint| reason(endpoint, answer));
    assert_eq!(
        reasons(&with_calls),
        [
            json!("tool_use"),
            json!("tool_calls"),
            json!(["completed", null]),
            json!("STOP")
        ]
    );
    let mut refused = answer(&[], &Json::Null);
    refused.stop = Some(StopReason::Refusal);
    assert_eq!(
        reasons(&refused),
        [
            json!("refusal"),
            json!("content_filter"),
            json!(["incomplete", "content_filter"]),
            json!("SAFETY")
        ]
    );
}

#[test]
fn a_failure_ends_the_stream() {
    let error = ApiError::new(503, "Overloaded.");
    let elements = [Element::Text(pieces(&[(10, "So far")]))];
    let mut answer = answer(&elements, &Json::Null);
    answer.failure = Some(Failure {
        error: &error,
        at_ms: 70,
    });
    for endpoint in ENDPOINTS {
        let events = stream(endpoint, &answer, streaming(16));
        let last = events.iter().last().expect("an event");
        assert_eq!(last.at_ms, 70, "{endpoint:?}");
        assert!(
            String::from_utf8_lossy(&last.bytes).contains("Overloaded."),
            "{endpoint:?}"
        );
        let all = String::from_utf8(events.into_bytes()).expect("text");
        assert!(all.contains("So far"), "{endpoint:?}");
        for end in [
            "[DONE]",
            "message_stop",
            "response.completed",
            "finishReason",
        ] {
            assert!(!all.contains(end), "{endpoint:?}: {end}");
        }
    }
}

#[test]
fn an_answer_that_fails_at_once_has_no_message() {
    let error = ApiError::new(500, "Broken.");
    let mut answer = answer(&[], &Json::Null);
    answer.failure = Some(Failure {
        error: &error,
        at_ms: 0,
    });
    let events = events(Endpoint::Responses, &answer, 16);
    let names: Vec<_> = events
        .iter()
        .filter_map(|(name, _)| name.as_deref())
        .collect();
    assert_eq!(
        names,
        [
            "response.created",
            "response.in_progress",
            "error",
            "response.failed"
        ]
    );
}

#[test]
fn a_responses_answer_repeats_its_request() {
    let request = json!({
        "instructions": "Be brief.", "tools": [{"type": "function", "name": "f", "parameters": null, "strict": true}],
        "temperature": 0.2, "metadata": {"k": "v"}, "store": false, "previous_response_id": "resp_1",
    });
    let body = body(Endpoint::Responses, &answer(&[], &request));
    for (name, value) in request.as_object().expect("an object") {
        assert_eq!(&body[name], value, "{name}");
    }
    assert_eq!(
        (&body["tool_choice"], &body["top_p"]),
        (&json!("auto"), &json!(1.0))
    );
}

#[test]
fn an_id_that_is_given_is_used() {
    let mut answer = answer(&[], &Json::Null);
    answer.id = Some("given_1");
    for endpoint in ENDPOINTS {
        let body = body(endpoint, &answer);
        let id = body.get("id").or_else(|| body.get("responseId"));
        assert_eq!(id, Some(&json!("given_1")), "{endpoint:?}");
        let stream = stream(endpoint, &answer, streaming(16)).into_bytes();
        assert!(
            String::from_utf8_lossy(&stream).contains("given_1"),
            "{endpoint:?}"
        );
    }
}
