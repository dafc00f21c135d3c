//! What is written in a dialect is read back: bodies, streams in any parts, errors.

use proptest::prelude::*;

use super::super::answer::Failure;
use super::super::decode::{Decoded, StreamDecoder, read_body, read_error};
use super::super::errors::ApiError;
use super::super::stop::StopReason;
use super::super::{stream, write_body};
use super::*;

const READ: [Endpoint; 4] = [
    Endpoint::Messages,
    Endpoint::Chat,
    Endpoint::Responses,
    Endpoint::Gemini,
];

/// An element without the cuts of its text, and when it was complete.
#[derive(Debug, Clone, PartialEq)]
enum Plain {
    Thinking(String),
    Text(String),
    Call(String, String, CallInput),
}

fn plain(elements: &[Element]) -> Vec<(Plain, u64)> {
    let said = |pieces: &[Piece]| -> String { pieces.iter().map(|piece| &*piece.text).collect() };
    let ended = |pieces: &[Piece]| pieces.iter().map(|piece| piece.at_ms).max().unwrap_or(0);
    elements
        .iter()
        .map(|element| match element {
            Element::Thinking(pieces) => (Plain::Thinking(said(pieces)), ended(pieces)),
            Element::Text(pieces) | Element::Refusal(pieces) => {
                (Plain::Text(said(pieces)), ended(pieces))
            }
            Element::Call(call) => {
                let plain = Plain::Call(call.id.clone(), call.name.clone(), call.input.clone());
                (plain, call.at_ms)
            }
        })
        .collect()
}

/// What of an answer a dialect can say.
fn sayable(endpoint: Endpoint, answer: &Answer<'_>) -> Vec<Element> {
    let mut sayable: Vec<Element> = Vec::new();
    let mut texts = Vec::new();
    for element in answer.elements.iter().filter(|element| !element.is_empty()) {
        match element {
            Element::Thinking(_) if !answer.shows_thinking || endpoint == Endpoint::Chat => {}
            Element::Text(pieces) if endpoint == Endpoint::Chat => texts.extend(pieces.clone()),
            Element::Call(call) if matches!(endpoint, Endpoint::Messages | Endpoint::Gemini) => {
                let input = match &call.input {
                    CallInput::Text(text) => CallInput::Arguments(Arc::new(json!({"input": text}))),
                    CallInput::Arguments(_) | CallInput::Raw(_) => call.input.clone(),
                };
                sayable.push(Element::Call(Call {
                    input,
                    ..call.clone()
                }));
            }
            element => sayable.push(element.clone()),
        }
    }
    if !texts.is_empty() {
        sayable.insert(0, Element::Text(texts));
    }
    sayable
}

/// Texts and thoughts together with those right before them.
fn joined(said: Vec<Plain>) -> Vec<Plain> {
    let mut all: Vec<Plain> = Vec::new();
    for next in said {
        match (all.last_mut(), next) {
            (Some(Plain::Text(text)), Plain::Text(more)) => text.push_str(&more),
            (Some(Plain::Thinking(text)), Plain::Thinking(more)) => text.push_str(&more),
            (_, next) => all.push(next),
        }
    }
    all
}

fn read_stream(
    endpoint: Endpoint,
    answer: &Answer<'_>,
    chunk: usize,
    part: usize,
) -> Result<Decoded, String> {
    let events = stream(endpoint, answer, streaming(chunk));
    let mut decoder = StreamDecoder::new(endpoint, Framing::Sse);
    for event in events.iter() {
        for bytes in event.bytes.chunks(part) {
            decoder.read(bytes, event.at_ms);
        }
    }
    let decoded = decoder.finish().map_err(|error| error.to_string())?;
    assert!(decoded.is_complete);
    Ok(decoded)
}

fn texts() -> impl Strategy<Value = Vec<Piece>> {
    prop::collection::vec(("[a-z \n\"é☂]{0,20}", 0..400_u64), 0..4).prop_map(|parts| {
        let mut at_ms = 0;
        let parts = parts.into_iter().map(|(text, gap)| {
            at_ms += gap;
            Piece {
                text: text.into(),
                at_ms,
                image: None,
            }
        });
        parts.collect()
    })
}

fn arguments() -> impl Strategy<Value = Json> {
    prop::collection::btree_map(
        "[a-z_]{1,8}",
        prop_oneof![
            any::<i64>().prop_map(Json::from),
            "[a-z \n\"\\\\é]{0,12}".prop_map(Json::from),
            Just(json!({"a": [1, null, true]})),
        ],
        0..4,
    )
    .prop_map(|members| json!(members))
}

/// The elements of an answer, their times rising, the calls last, as a script has them.
fn elements() -> impl Strategy<Value = Vec<Element>> {
    let said = prop::collection::vec((any::<bool>(), texts()), 0..4);
    let input = prop_oneof![
        arguments().prop_map(|arguments| CallInput::Arguments(Arc::new(arguments))),
        "[a-z \n]{0,12}".prop_map(CallInput::Text),
    ];
    let calls = prop::collection::vec((input, 0..400_u64), 0..3);
    (said, calls).prop_map(|(said, calls)| {
        let mut now_ms = 0;
        let mut elements = Vec::new();
        for (is_thinking, mut pieces) in said {
            for piece in &mut pieces {
                piece.at_ms += now_ms;
            }
            now_ms = pieces.last().map_or(now_ms, |piece| piece.at_ms);
            elements.push(match is_thinking {
                true => Element::Thinking(pieces),
                false => Element::Text(pieces),
            });
        }
        for (idx, (input, gap)) in calls.into_iter().enumerate() {
            now_ms += gap;
            elements.push(Element::Call(Call {
                id: format!("call_{idx}"),
                name: format!("tool_{idx}"),
                namespace: None,
                input,
                at_ms: now_ms,
            }));
        }
        elements
    })
}

fn stops() -> impl Strategy<Value = Option<StopReason>> {
    prop::sample::select(vec![
        None,
        Some(StopReason::MaxTokens),
        Some(StopReason::Refusal),
    ])
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        elements in elements(), stop in stops(), shows_thinking in any::<bool>(), input in 0..500_u64,
        chunk in 1..30_usize, part in 1..50_usize,
    ) {
        for endpoint in READ {
            let nothing = Json::Null;
            let mut answer = answer(&elements, &nothing);
            answer.stop = stop;
            answer.shows_thinking = shows_thinking;
            answer.usage = Usage { input, cached: input / 3, output: 9, ..Usage::default() };
            let expected = plain(&sayable(endpoint, &answer));

            let mut body = Vec::new();
            write_body(endpoint, &answer, &mut body);
            let whole = read_body(endpoint, &body, 5).expect("a body");
            let streamed = read_stream(endpoint, &answer, chunk, part).expect("a stream");
            prop_assert_eq!(whole.left_out.clone(), Vec::<String>::new());
            prop_assert_eq!(&whole.id, &streamed.id);
            let said = |decoded: &Decoded| -> Vec<Plain> {
                plain(&decoded.elements).into_iter().map(|(said, _)| said).collect()
            };
            let wanted: Vec<Plain> = expected.iter().map(|(said, _)| said.clone()).collect();
            prop_assert_eq!(said(&whole), wanted.clone(), "{:?}", endpoint);
            // Gemini doesn't say where one text ends and the next one begins.
            let (streamed_text, wanted) = match endpoint {
                Endpoint::Gemini => (joined(said(&streamed)), joined(wanted)),
                _ => (said(&streamed), wanted),
            };
            prop_assert_eq!(streamed_text, wanted, "{:?}", endpoint);
            // A piece without text is only a delay, and those at an end are not seen.
            let times: Vec<u64> = plain(&streamed.elements).into_iter().map(|(_, at_ms)| at_ms).collect();
            for (at_ms, (_, wanted)) in times.iter().zip(&expected).filter(|_| endpoint != Endpoint::Gemini) {
                prop_assert!(at_ms <= wanted, "{at_ms} {wanted} {endpoint:?}");
            }
            for decoded in [&whole, &streamed] {
                prop_assert!(decoded.is_complete);
                let wanted = match endpoint {
                    Endpoint::Responses => stop,
                    _ => stop.or(decoded.stop),
                };
                prop_assert_eq!(decoded.stop, wanted);
                prop_assert_eq!(decoded.stop_beside_elements(), stop);
                prop_assert_eq!(decoded.usage, Some(answer.usage));
            }
        }
    }

    #[test]
    fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "(data: |event: |[{}\":,a-z0-9\\[\\]]|\n){0,60}") {
        for endpoint in READ {
            let mut decoder = StreamDecoder::new(endpoint, Framing::Sse);
            decoder.read(text.as_bytes(), 1);
            decoder.read(&bytes, 2);
            let _ = decoder.finish();
            let _ = read_body(endpoint, text.as_bytes(), 1);
            let _ = read_error(500, &bytes);
        }
    }

    #[test]
    fn no_json_is_too_odd(index in 0..60_usize, replacement in prop::sample::select(vec!["null", "7", "\"x\"", "[]", "{}", "[null]"]), cut in 0..3000_usize) {
        let elements = everything();
        for endpoint in READ {
            let nothing = Json::Null;
            let bytes = stream(endpoint, &answer(&elements, &nothing), streaming(8)).into_bytes();
            let text = String::from_utf8(bytes).expect("text");
            // A value somewhere in the stream becomes another one.
            let odd: Vec<&str> = text.split("\"text\"").collect();
            let at = index % odd.len();
            let odd = format!("{}{replacement}{}", odd[..at].join("\"text\""), odd[at..].join("\"text\""));
            for bytes in [odd.as_bytes(), &text.as_bytes()[..cut.min(text.len())]] {
                let mut decoder = StreamDecoder::new(endpoint, Framing::Sse);
                decoder.read(bytes, 1);
                let _ = decoder.finish();
            }
        }
    }
}

#[test]
fn a_stream_that_is_cut_off_is_not_complete() {
    let elements = everything();
    for endpoint in READ {
        let nothing = Json::Null;
        let bytes = stream(endpoint, &answer(&elements, &nothing), streaming(8)).into_bytes();
        let mut decoder = StreamDecoder::new(endpoint, Framing::Sse);
        decoder.read(&bytes[..bytes.len() / 2], 1);
        assert!(!decoder.is_complete());
        let decoded = decoder.finish().expect("what came is in order");
        assert!(!decoded.is_complete, "{endpoint:?}");
        assert!(!decoded.elements.is_empty(), "{endpoint:?}");
    }
}

#[test]
fn an_error_in_a_stream_is_read() {
    let elements = [Element::Text(pieces(&[(5, "Let me")]))];
    for status in [400, 429, 500] {
        let error = ApiError::new(status, "no more");
        for endpoint in READ {
            let nothing = Json::Null;
            let mut answer = answer(&elements, &nothing);
            answer.failure = Some(Failure {
                error: &error,
                at_ms: 9,
            });
            let decoded = read_stream(endpoint, &answer, 8, 7).expect("a stream");
            let (found, at_ms) = decoded.failure.expect("an error");
            assert_eq!(at_ms, 9);
            assert_eq!(found.message, "no more");
            assert_eq!(found.status, status, "{endpoint:?}");
            assert_eq!(plain(&decoded.elements), plain(&elements));
        }
    }
}

#[test]
fn an_error_is_said_again_by_its_scripted_type() {
    let kinds = [
        (429, None),
        (529, Some("overloaded_error")),
        (500, Some("overloaded_error")),
        (429, Some("insufficient_quota")),
        (400, Some("context_length_exceeded")),
    ];
    for (status, kind) in kinds {
        let mut error = ApiError::new(status, "no");
        error.error_type = kind.map(str::to_owned);
        error.details = json!({"limit": 3});
        for endpoint in READ {
            let body = error.body(endpoint);
            let read = read_error(status, &body).expect("an error");
            let mut again = ApiError::new(status, read.message.clone());
            again.error_type = read.scripted_type(endpoint).map(str::to_owned);
            again.details = read.details.clone();
            assert_eq!(again.body(endpoint), body, "{endpoint:?} {kind:?}");
        }
    }
    let plain = read_error(429, &ApiError::new(429, "no").body(Endpoint::Chat)).expect("an error");
    assert_eq!(plain.scripted_type(Endpoint::Chat), None);
    assert_eq!(read_error(502, b"<html>Bad gateway</html>"), None);
    assert_eq!(read_error(502, b"{\"detail\": \"no\"}"), None);
}

#[test]
fn what_other_servers_of_chat_say_is_understood() {
    let body = json!({
        "id": "c", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": null, "reasoning_content": "Hm.",
            "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": ""}}],
        }}],
    });
    let decoded = read_body(Endpoint::Chat, body.to_string().as_bytes(), 3).expect("a body");
    let expected = [
        Element::Thinking(pieces(&[(3, "Hm.")])),
        Element::Call(Call {
            id: "x".into(),
            name: "f".into(),
            namespace: None,
            input: CallInput::Raw(String::new()),
            at_ms: 3,
        }),
    ];
    assert_eq!(decoded.elements, expected);
    assert_eq!(decoded.usage, None);

    // No mark at the end, a comment, and a chunk without choices.
    let mut decoder = StreamDecoder::new(Endpoint::Chat, Framing::Sse);
    decoder.read(
        b": wait\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n",
        1,
    );
    decoder.read(b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n", 2);
    assert!(!decoder.is_complete());
    let decoded = decoder.finish().expect("a stream");
    assert!(decoded.is_complete);
    assert_eq!(decoded.stop_beside_elements(), Some(StopReason::MaxTokens));
    assert_eq!(decoded.usage.expect("a usage").input, 3);
}

#[test]
fn a_refusal_and_arguments_that_are_no_object_stay_what_they_are() {
    let raw = |text: &str| {
        Element::Call(Call {
            id: "c".into(),
            name: "f".into(),
            namespace: None,
            input: CallInput::Raw(text.into()),
            at_ms: 9,
        })
    };
    for text in ["{\"city\": \"Pa", "[1]", ""] {
        let elements = [Element::Refusal(pieces(&[(5, "I won't.")])), raw(text)];
        for endpoint in [Endpoint::Chat, Endpoint::Responses] {
            let nothing = Json::Null;
            let answer = answer(&elements, &nothing);
            let mut body = Vec::new();
            write_body(endpoint, &answer, &mut body);
            let whole = read_body(endpoint, &body, 9).expect("a body");
            let streamed = read_stream(endpoint, &answer, 3, 7).expect("a stream");
            for decoded in [whole, streamed] {
                let is_same = matches!(&decoded.elements[..], [Element::Refusal(_), Element::Call(call)]
                    if call.input == CallInput::Raw(text.into()));
                assert!(is_same, "{endpoint:?} {:?}", decoded.elements);
                assert_eq!(decoded.changed, [] as [&str; 0]);
            }
        }
    }
}

#[test]
fn gemini_streams_a_list_of_chunks_too() {
    let elements = everything();
    let nothing = Json::Null;
    let answer = answer(&elements, &nothing);
    let mut streaming = streaming(8);
    streaming.framing = Framing::JsonArray;
    let events = stream(Endpoint::Gemini, &answer, streaming);
    let mut decoder = StreamDecoder::new(Endpoint::Gemini, Framing::JsonArray);
    for event in events.iter() {
        decoder.read(&event.bytes, event.at_ms);
    }
    let decoded = decoder.finish().expect("a list");
    let as_events = read_stream(Endpoint::Gemini, &answer, 8, 50).expect("a stream");
    let said = |decoded: &Decoded| {
        plain(&decoded.elements)
            .into_iter()
            .map(|(said, _)| said)
            .collect::<Vec<_>>()
    };
    assert_eq!(said(&decoded), said(&as_events));
    assert!(decoded.is_complete);
    assert_eq!(decoded.changed, [] as [&str; 0]);
    let times = |elements: &[Element]| -> Vec<u64> {
        let plain = plain(elements).into_iter();
        plain.map(|(_, at_ms)| at_ms).collect()
    };
    let sayable = sayable(Endpoint::Gemini, &answer);
    assert_eq!(times(&decoded.elements), times(&sayable), "its pauses stay");

    let mut broken_off = StreamDecoder::new(Endpoint::Gemini, Framing::JsonArray);
    broken_off.read(b"[{\"candidates\": [", 1);
    assert!(broken_off.finish().is_err());
    let error = br#"[{"error": {"code": 429, "message": "busy", "status": "RESOURCE_EXHAUSTED"}}]"#;
    assert_eq!(read_error(429, error).expect("an error").message, "busy");
}

#[test]
fn calls_of_other_servers_stay_apart_and_have_their_arguments() {
    let call = |id: &str, arguments: Json| json!({"index": 0, "id": id, "function": {"name": "f", "arguments": arguments}});
    let chunk = |calls: &[Json]| json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let mut more = call("", json!("}"));
    more["function"]["name"] = Json::Null;
    // Two calls with one index, the first in two parts; then one whose arguments are an object.
    let chunks = [
        chunk(&[call("a", json!("{\"n\": 1"))]),
        chunk(&[more]),
        chunk(&[call("b", json!("{\"n\": 2}")), call("c", json!({"n": 3}))]),
        end,
    ];
    let mut decoder = StreamDecoder::new(Endpoint::Chat, Framing::Sse);
    for chunk in chunks {
        decoder.read(format!("data: {chunk}\n\n").as_bytes(), 1);
    }
    let streamed = decoder.finish().expect("a stream");
    let calls = [
        call("a", json!({"n": 1})),
        call("b", json!("{\"n\": 2}")),
        call("c", json!({"n": 3})),
    ];
    let body =
        json!({"choices": [{"finish_reason": "tool_calls", "message": {"tool_calls": calls}}]});
    let whole = read_body(Endpoint::Chat, body.to_string().as_bytes(), 1).expect("a body");
    for decoded in [streamed, whole] {
        let found: Vec<(&str, CallInput)> = decoded
            .elements
            .iter()
            .filter_map(|element| match element {
                Element::Call(call) => Some((&*call.id, call.input.clone())),
                _ => None,
            })
            .collect();
        let arguments = |n: u64| CallInput::Arguments(Arc::new(json!({"n": n})));
        assert_eq!(
            found,
            [
                ("a", arguments(1)),
                ("b", arguments(2)),
                ("c", arguments(3))
            ]
        );
        assert_eq!(decoded.changed.len(), 1, "{:?}", decoded.changed);
    }
}
