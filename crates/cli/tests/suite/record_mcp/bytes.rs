//! Hostile bytes, on both sides of the proxy: they go on as they are, and the recording so far is whole.

use std::thread;
use std::time::{Duration, Instant};

use super::*;

/// The proxy in front of a shell script.
fn recorded<'a>(script: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let head = ["record", "mcp", "-o", "rec.json", "--server", "peer"];
    let mut args = [&head[..], more].concat();
    args.extend(["--", "sh", "-c", script]);
    args
}

#[test]
fn bytes_go_on_as_they_are_in_both_directions() {
    let scratch = program::scratch();
    let mut input = Vec::new();
    input.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}, \"extra\" : 1.0e2}\r\n");
    input.extend_from_slice(b"not json\n\n[{\"id\":\"1\",\"method\":\"tools/call\",\"params\":{\"name\":\"b\"}},{\"method\":\"x\"}]\n");
    input.extend_from_slice(
        "{\"id\":null}\n{\"id\":{\"odd\":[]},\"method\":\"tools/call\",\"params\":7}\n\u{1f375}"
            .as_bytes(),
    );
    // More than is on its way at once, without a line end.
    input.extend(std::iter::repeat_n(b'x', 300_000));
    let finished = scratch
        .run_with_input(&recorded("cat", &[]), &input)
        .expect("it starts");
    program::assert_nothing_left(&finished);
    assert_eq!(finished.stdout.as_bytes(), input, "{}", finished.stderr);
    // What comes back are requests of the server, and no answers.
    let missing: Vec<Value> = calls(&scratch)
        .iter()
        .map(|call| call["tool"].clone())
        .collect();
    assert_eq!(missing, ["a", "b", ""]);
    assert!(
        finished.stderr.contains("a frame was not JSON"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_last_line_without_an_end_is_recorded() {
    let scratch = program::scratch();
    let script = r#"cat > /dev/null; printf '{"id":1,"result":{"content":[]}}'"#;
    let input = br#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#;
    let finished = scratch
        .run_with_input(&recorded(script, &[]), input)
        .expect("it starts");
    assert_eq!(finished.code(), Some(0), "{}", told(&finished));
    assert_eq!(calls(&scratch)[0]["result"], json!({"content": []}));
}

#[test]
fn a_flood_on_standard_error_goes_on() {
    let scratch = program::scratch();
    let script = "i=0; while [ $i -lt 20000 ]; do echo 'a line of no interest at all'; i=$((i+1)); done >&2; cat";
    let finished = scratch
        .run_with_input(&recorded(script, &[]), b"{}\n")
        .expect("it starts");
    // No tool was called, so there is no recording.
    assert_eq!(finished.code(), Some(1));
    let lines = finished
        .stderr
        .lines()
        .filter(|line| *line == "a line of no interest at all");
    assert_eq!(lines.count(), 20_000);
    assert_eq!(finished.stdout, "{}\n");
}

/// Answers in any order and number: each goes to its request, and to no other.
#[test]
fn answers_are_paired_by_their_ids() {
    let scratch = program::scratch();
    let answers = [
        r#"{"id":3,"result":{"content":[],"n":3}}"#,
        r#"{"id":"1","result":{"content":[],"n":"1"}}"#,
        r#"{"id":3,"result":{"content":[],"n":"again"}}"#,
        r#"{"method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#,
        r#"{"id":1,"method":"sampling/createMessage","params":{}}"#,
        r#"{"id":1,"error":{"code":-32000,"message":"no","data":{"password":"hunter2-hunter2"}}}"#,
        r#"{"id":99,"result":{}}"#,
        r#"{"id":5,"result":{"content":[],"n":5}}"#,
        r#"{"id":6,"result":{"content":[],"n":6}}"#,
    ];
    // It answers when all is asked.
    let script = format!(
        "while read -r line; do case $line in *go*) cat <<'END'\n{}\nEND\nexit;; esac; done",
        answers.join("\n")
    );
    let call = |id: &str, tool: &str, meta: &str| {
        format!(
            "{{\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"_meta\":{{{meta}}}}}}}\n"
        )
    };
    let input = [
        call("1", "one", "\"progressToken\":\"t\""),
        call("\"1\"", "text", ""),
        call("3", "three", ""),
        call("4", "cancelled", ""),
        call("5", "twice", ""),
        call("5", "twice", ""),
        call("6", "answered", ""),
        "{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":4}}\n".to_owned(),
        "{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":6}}\n{\"method\":\"go\"}\n".to_owned(),
    ];
    let finished = scratch
        .run_with_input(&recorded(&script, &[]), input.concat().as_bytes())
        .expect("it starts");
    assert_eq!(finished.stdout.trim_end(), answers.join("\n"));
    let text = read(&scratch, "rec.cassette.jsonl");
    assert!(!text.contains("hunter2"), "{text}");
    let told: Vec<(String, String)> = calls(&scratch)
        .iter()
        .map(|call| {
            let outcome = match (
                call["result"]["n"].is_null(),
                call["error"]["code"].as_i64(),
            ) {
                (false, _) => call["result"]["n"].to_string(),
                (true, Some(code)) => format!(
                    "{code} {}",
                    call["notifications"].as_array().map_or(0, Vec::len)
                ),
                (true, None) => "missing".to_owned(),
            };
            (
                call["tool"].as_str().unwrap_or_default().to_owned(),
                outcome,
            )
        })
        .collect();
    let expected = [
        ("twice", "missing"),
        ("three", "3"),
        ("text", "\"1\""),
        ("one", "-32000 1"),
        ("twice", "missing"),
        ("answered", "6"),
        ("cancelled", "missing"),
    ];
    let expected = expected.map(|(tool, outcome)| (tool.to_owned(), outcome.to_owned()));
    assert_eq!(told, expected, "{}", finished.stderr);
    for told in [
        "no answer came to a call of `cancelled`, begun at 0.",
        "no answer came to 2 calls of `twice`, begun at 0.",
    ] {
        assert!(finished.stderr.contains(told), "{}", finished.stderr);
    }
}

#[test]
fn a_server_that_dies_ends_the_stream_and_is_told() {
    let scratch = program::scratch();
    let script = "read -r line; echo 'out of luck' >&2; exit 7";
    let mut running = scratch.start(&recorded(script, &[])).expect("it starts");
    let request = b"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"boom\"}}\n";
    let mut stdin = running.take_input().expect("it is open");
    stdin.write_all(request).expect("it is read");
    // The client waits: its side stays open.
    running.wait_for(|_, _| false);
    let finished = running.finish();
    assert_eq!(finished.code(), Some(2), "{}", told(&finished));
    for part in [
        "ended before its client did (exit code 7)",
        "out of luck",
        "no answer came to a call of `boom`",
    ] {
        assert!(
            finished.stderr.contains(part),
            "{part}\n{}",
            told(&finished)
        );
    }
    assert_eq!(calls(&scratch)[0]["tool"], "boom");
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let scratch = program::scratch();
    let finished = program::run(&scratch, &["record", "mcp", "--", "no-such-server"]);
    assert_eq!(finished.code(), Some(2));
    assert!(finished.stderr.contains("C-RUN-04"), "{}", finished.stderr);
    assert!(
        finished
            .stderr
            .contains("command not found: no-such-server"),
        "{}",
        finished.stderr
    );
}

/// Killed at any moment, what was recorded is whole, and nothing is left running.
#[test]
fn a_proxy_that_is_killed_leaves_whole_files() {
    let scratch = program::scratch();
    let script = "while read -r line; do id=${line#*:}; id=${id%%,*}; echo \"{\\\"id\\\":$id,\\\"result\\\":{\\\"content\\\":[]}}\"; done";
    let mut running = scratch.start(&recorded(script, &[])).expect("it starts");
    let mut stdin = running.take_input().expect("it is open");
    for id in 0..200 {
        writeln!(stdin, "{{\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"t\",\"arguments\":{{\"id\":{id}}}}}}}").expect("it is read");
    }
    assert!(running.wait_for(|stdout, _| stdout.lines().count() >= 100));
    let file = scratch.work().join("rec.cassette.jsonl");
    let since = Instant::now();
    while !file.exists() && since.elapsed() < Duration::from_secs(60) {
        thread::yield_now();
    }
    running.kill();
    let finished = running.finish();
    program::assert_nothing_left(&finished);
    // What passed last may be in no line yet; the first one is the header.
    for (number, call) in cassette(&scratch).iter().skip(1).enumerate() {
        assert_eq!(call["arguments"]["id"], number);
    }
}

#[test]
fn a_frame_without_end_passes_and_is_not_recorded() {
    let scratch = program::scratch();
    let script = "read -r line; head -c 70000000 /dev/zero | tr '\\0' 'x'; echo; cat";
    let input =
        b"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"huge\"}}\n{\"id\":2}\n";
    let finished = scratch
        .run_with_input(&recorded(script, &[]), input)
        .expect("it starts");
    assert!(
        finished.stderr.contains("a frame was longer than 64 MiB"),
        "{}",
        finished.stderr
    );
    assert!(
        finished
            .stderr
            .contains("no answer came to a call of `huge`"),
        "{}",
        finished.stderr
    );
}
