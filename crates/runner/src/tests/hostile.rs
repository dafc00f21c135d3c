//! Files that are broken, huge, or made to hurt: a clear error for each, and a long trace without holding it.

use std::fmt::Write as _;
use std::os::unix::fs::symlink;

use cuecard_judge::CallCount;

use super::*;

const HEADER: &str = r#"{"kind":"header","schema_version":"0.1","trace_id":"t","test_run_id":"r","adapter":{"name":"n","version":"1"}}"#;
const END: &str = r#"{"kind":"end","final_output":{"role":"assistant","content":"hello there"},"status":"success","metrics":{"timing_ms_total":1.0,"tool_call_count":0,"retry_count":0}}"#;

/// A trace of more than 9 MB: calls of `search` and long results.
fn long_trace() -> String {
    let mut text = format!("{HEADER}\n");
    let page = "page ".repeat(200);
    for number in 0..9000 {
        let seq = 2 * number + 1;
        let _ = writeln!(
            text,
            r#"{{"event_id":"e{seq}","seq":{seq},"ts":"2026-01-01T00:00:00.000Z","type":"tool_call","actor":"agent","data":{{"tool":"search","call_id":"c{number}","args":{{"n":{number}}}}}}}"#
        );
        let seq = seq + 1;
        let _ = writeln!(
            text,
            r#"{{"event_id":"e{seq}","seq":{seq},"ts":"2026-01-01T00:00:00.000Z","type":"tool_result","actor":"tool","data":{{"tool":"search","call_id":"c{number}","success":true,"result":"{page}"}}}}"#
        );
    }
    text + END + "\n"
}

/// Judges a case that asserts `assertions` of a file with `trace`.
fn of_trace(trace: &[u8], assertions: &str) -> Judged {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("run.trace.jsonl"), trace).expect("written");
    let text = format!(
        "schema_version: \"0.1\"\nid: one\nadapter: cuecard\nadapter_input: {{ trace_file: ./run.trace.jsonl }}\nassertions:\n{assertions}"
    );
    fs::write(folder.path().join("test.yaml"), text).expect("written");
    judged(folder.path(), setup(folder.path()), 1)
        .pop()
        .expect("one case")
}

const SAYS_HELLO: &str = "  - { id: a, type: output_contains, params: { any_of: [hello] } }\n";

/// What is said of a case beside a bundle, without the folder.
fn of_bundle(bundle: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("replay.json"), bundle).expect("written");
    fs::write(
        folder.path().join("test.yaml"),
        case("one", REPLAY, "hello"),
    )
    .expect("written");
    told(folder.path())
}

fn told(folder: &Path) -> String {
    let judged = judged(folder, setup(folder), 1).pop().expect("one case");
    assert_eq!(judged.result.status, TestStatus::Error);
    message(&judged).replace(&format!("{}/", folder.display()), "")
}

#[test]
fn a_long_trace_is_judged() {
    let assertions = format!(
        "{SAYS_HELLO}  - {{ id: b, type: must_call_tool, params: {{ tool: search, min_calls: 9000, max_calls: 9000 }} }}\n  - {{ id: c, type: tool_call_order, params: {{ before: {{ event_type: tool_call, args: {{ n: 8000 }} }}, after: {{ event_type: final_output }} }} }}\n"
    );
    let judged = of_trace(long_trace().as_bytes(), &assertions);
    assert_eq!(
        judged.result.status,
        TestStatus::Pass,
        "{}",
        message(&judged)
    );
    let summary = judged.result.trace.expect("a summary");
    assert_eq!(summary.events, 18_000);
    let calls = [CallCount {
        tool: "search".to_owned(),
        count: 9000,
    }];
    assert_eq!(summary.tool_calls, calls);
    // The path of an assertion may lead anywhere.
    let anywhere = "  - { id: a, type: json_path, params: { path: '$.events[17998].data.args.n', equals: 8999 } }\n";
    let judged = of_trace(long_trace().as_bytes(), anywhere);
    assert_eq!(
        judged.result.status,
        TestStatus::Pass,
        "{}",
        message(&judged)
    );
    assert_eq!(judged.trace.expect("the whole").events.len(), 18_000);
}

#[test]
fn a_long_trace_that_is_broken_says_where() {
    let whole = long_trace();
    let torn = of_trace(
        &whole.as_bytes()[..whole.len() - END.len() - 100],
        SAYS_HELLO,
    );
    assert_eq!(torn.warnings[0].code, codes::TRACE_UNFINISHED);
    assert_eq!(
        torn.result.trace.map(|summary| summary.events),
        Some(17_999)
    );
    for (from, to, expected) in [
        (
            "\"n\":4000",
            "\"n\":NaN",
            "line 8002: not JSON: expected value",
        ),
        (
            "\"call_id\":\"c4000\",\"args\"",
            "\"args\"",
            "line 8002: missing field `call_id`",
        ),
        (
            "\"seq\":8001",
            "\"seq\":\"8001\"",
            "line 8002: invalid type: string \"8001\", expected u64",
        ),
        (
            "{\"kind\":\"end\"",
            "{\"kind\":\"header\"",
            "line 18002: duplicate header",
        ),
        (
            "{\"kind\":\"header\",\"schema_version\":\"0.1\"",
            "{\"kind\":\"header\",\"schema_version\":\"7\"",
            "the trace has version `7`; this release reads 0.1",
        ),
    ] {
        let judged = of_trace(whole.replacen(from, to, 1).as_bytes(), SAYS_HELLO);
        assert_eq!(judged.problem, Some(Problem::CouldNotRun));
        assert!(message(&judged).contains(expected), "{}", message(&judged));
    }
    let mut bytes = whole.into_bytes();
    let middle = bytes.len() / 2;
    let at = middle
        + bytes[middle..]
            .iter()
            .position(|&byte| byte == b'p')
            .expect("a page");
    bytes[at] = 0xff;
    let judged = of_trace(&bytes, SAYS_HELLO);
    assert!(
        message(&judged).contains("not JSON: invalid unicode code point"),
        "{}",
        message(&judged)
    );
}

#[test]
fn hostile_bundles_are_errors() {
    let with = |from: &str, to: &str| of_bundle(BUNDLE.replacen(from, to, 1).as_bytes());
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (message, expected) in [
        (
            of_bundle(&BUNDLE.as_bytes()[..BUNDLE.len() / 2]),
            "unterminated string",
        ),
        (of_bundle(b""), "the file is empty"),
        (of_bundle(deep.as_bytes()), "nesting depth exceeded"),
        (
            of_bundle(BUNDLE.replacen("there", "\u{0}", 1).as_bytes()),
            "control character",
        ),
        (
            with("\"script\": []", "\"script\": [], \"script\": []"),
            "duplicate key",
        ),
        (
            with("\"timing_ms_total\": 1", "\"timing_ms_total\": NaN"),
            "NaN",
        ),
        (
            with("\"timing_ms_total\": 1", "\"timing_ms_total\": 1e999"),
            "`1e999` is out of range",
        ),
        (
            with("\"schema_version\": \"0.1\"", "\"schema_version\": \"3.0\""),
            "3.0",
        ),
        (of_bundle(b"{\"schema_version\": \"\xff\"}"), "is not UTF-8"),
    ] {
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn hostile_test_cases_are_errors() {
    let of_case = |text: &[u8]| {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("replay.json"), BUNDLE).expect("written");
        fs::write(folder.path().join("test.yaml"), text).expect("written");
        told(folder.path())
    };
    let replay = |assertion: &str| {
        format!(
            "schema_version: \"0.1\"\nid: one\n{REPLAY}\nassertions:\n  - {{ id: a, {assertion} }}\n"
        )
    };
    let mut bomb = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let _ = writeln!(
            bomb,
            "b{level}: &a{level} [{}]",
            vec![format!("*a{}", level - 1); 10].join(", ")
        );
    }
    for (message, expected) in [
        (
            of_case(&[b'[', b'['].repeat(50_000)),
            "recursion limit exceeded",
        ),
        (
            of_case(bomb.as_bytes()),
            "the aliases in this file expand to more than",
        ),
        (of_case(b"id: \xff"), "is not UTF-8"),
        (
            of_case(
                replay(
                    "type: output_omits, params: { patterns: ['(a{1000}){1000}'], regex: true }",
                )
                .as_bytes(),
            ),
            "exceeds size limit",
        ),
        (
            of_case(
                replay("type: output_omits, params: { patterns: ['(?=a)b'], regex: true }")
                    .as_bytes(),
            ),
            "look-around",
        ),
        (
            of_case(replay("type: max_duration_ms, params: { limit: .nan }").as_bytes()),
            "`.nan` can't be represented in JSON",
        ),
        (
            of_case(replay("id: b, type: max_errors, params: { limit: 1 }").as_bytes()),
            "duplicate key `id`",
        ),
        (
            of_case(
                replay("type: max_errors, params: { limit: 1 }")
                    .replacen("0.1", "9.9", 1)
                    .as_bytes(),
            ),
            "unsupported version `9.9`",
        ),
    ] {
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn files_that_name_each_other_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = |name: &str, input: &str| {
        let text = format!(
            "schema_version: \"0.1\"\nid: {name}\nadapter: cuecard\nadapter_input: {input}\nassertions:\n{SAYS_HELLO}"
        );
        fs::write(folder.path().join(format!("{name}.test.yaml")), text).expect("written");
    };
    case("a-trace", "{ trace_file: ./a-trace.test.yaml }");
    case("b-scenario", "{ play: ./b-scenario.test.yaml }");
    case("c-folder", "{ trace_file: ./inner }");
    case("d-link", "{ trace_file: ./link }");
    fs::create_dir(folder.path().join("inner")).expect("made");
    symlink("..", folder.path().join("inner/outer")).expect("a link");
    symlink("link", folder.path().join("link")).expect("a link");
    let messages: Vec<String> = judged(folder.path(), setup(folder.path()), 1)
        .iter()
        .map(|judged| message(judged).replace(&format!("{}/", folder.path().display()), ""))
        .collect();
    assert_eq!(messages.len(), 4);
    for (message, expected) in messages.iter().zip([
        "line 1: not valid JSON",
        "this is a test case, not a tool-call scenario",
        "`inner` can't be read: it is not a file",
        "`link` can't be read: too many levels of symbolic links",
    ]) {
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_pattern_that_explodes_elsewhere_is_quick() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = "a".repeat(200_000);
    fs::write(
        folder.path().join("replay.json"),
        BUNDLE.replacen("hello there", &output, 1),
    )
    .expect("written");
    let text = format!(
        "schema_version: \"0.1\"\nid: one\n{REPLAY}\nassertions:\n  - {{ id: a, type: output_omits, params: {{ patterns: ['^(a+)+b$', '(a|a)*c', '(.*)*d'], regex: true }} }}\n"
    );
    fs::write(folder.path().join("test.yaml"), text).expect("written");
    let judged = judged(folder.path(), setup(folder.path()), 1)
        .pop()
        .expect("one case");
    assert_eq!(
        judged.result.status,
        TestStatus::Pass,
        "{}",
        message(&judged)
    );
}
