//! What is sent, byte for byte. `CUECARD_BLESS=1` writes what is expected; read the difference afterwards.

use std::fs;
use std::path::Path;

use super::super::answer::Failure;
use super::super::errors::ApiError;
use super::super::stop::StopReason;
use super::super::{stream, write_body};
use super::*;

/// The folder with a file for each case.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/llm");

fn compare(endpoint: Endpoint, name: &str, found: &[u8]) {
    let path = Path::new(FOLDER).join(endpoint.as_str()).join(name);
    if std::env::var_os("CUECARD_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is there");
        fs::write(&path, found).expect("the file is written");
    }
    let expected = fs::read(&path).unwrap_or_default();
    let [expected, found] = [&expected, found].map(String::from_utf8_lossy);
    assert_eq!(
        expected,
        found,
        "{}: bless it if this is right",
        path.display()
    );
}

fn compare_both(endpoint: Endpoint, name: &str, answer: &Answer<'_>, chunk: usize) {
    let events = stream(endpoint, answer, streaming(chunk)).into_bytes();
    compare(endpoint, &format!("{name}.sse"), &events);
    let mut body = Vec::new();
    match answer.failure {
        Some(failure) => body.extend(failure.error.body(endpoint)),
        None => write_body(endpoint, answer, &mut body),
    }
    body.push(b'\n');
    compare(endpoint, &format!("{name}.json"), &body);
}

#[test]
fn text() {
    let elements = [Element::Text(pieces(&[(100, "Hello there, how are you?")]))];
    for endpoint in ENDPOINTS {
        compare_both(endpoint, "text", &answer(&elements, &Json::Null), 16);
    }
}

#[test]
fn thinking_text_and_parallel_calls() {
    let request =
        json!({"tools": [], "reasoning": {"summary": "auto"}, "parallel_tool_calls": true});
    for endpoint in ENDPOINTS {
        compare_both(endpoint, "everything", &answer(&everything(), &request), 16);
    }
}

#[test]
fn a_custom_tool() {
    let elements = [custom_call(
        "call_1",
        "apply_patch",
        "*** Begin Patch\n*** End Patch",
        0,
    )];
    for endpoint in ENDPOINTS {
        compare_both(endpoint, "custom", &answer(&elements, &Json::Null), 16);
    }
}

#[test]
fn nothing() {
    for endpoint in ENDPOINTS {
        compare_both(endpoint, "empty", &answer(&[], &Json::Null), 16);
    }
}

#[test]
fn cut_off() {
    let elements = [Element::Text(pieces(&[(0, "Once upon a")]))];
    let mut answer = answer(&elements, &Json::Null);
    answer.stop = Some(StopReason::MaxTokens);
    for endpoint in ENDPOINTS {
        compare_both(endpoint, "cut_off", &answer, 16);
    }
}

#[test]
fn an_error_after_text() {
    let elements = [Element::Text(pieces(&[(0, "So far")]))];
    let error = ApiError::new(429, "Slow down.");
    let mut answer = answer(&elements, &Json::Null);
    answer.failure = Some(Failure {
        error: &error,
        at_ms: 50,
    });
    for endpoint in ENDPOINTS {
        compare_both(endpoint, "error", &answer, 16);
    }
}

#[test]
fn an_array_instead_of_events() {
    let elements = everything();
    let streaming = Streaming {
        framing: Framing::JsonArray,
        ..streaming(16)
    };
    let events = stream(Endpoint::Gemini, &answer(&elements, &Json::Null), streaming);
    compare(
        Endpoint::Gemini,
        "everything.array.json",
        &events.into_bytes(),
    );
}
