//! The reference server with one tool for each thing that an answer can be.

use super::*;

fn stdio() -> Option<Value> {
    Some(json!({"command": npm("mcp-server-everything")?, "args": ["stdio"]}))
}

#[test]
fn server_everything_over_stdio() {
    let Some(entry) = stdio() else { return };
    answers_become_values_files_and_errors(&entry);
}

#[test]
fn server_everything_over_streamable_http() {
    let Some(server) = npm("mcp-server-everything") else {
        return;
    };
    let preload = format!("--require={}", script("loopback.cjs").display());
    let server = HttpServer::start(&server, &[("NODE_OPTIONS", preload)], &["streamableHttp"]);
    answers_become_values_files_and_errors(&json!({"url": format!("{}/mcp", server.url)}));
}

#[test]
fn server_everything_over_sse() {
    let Some(server) = npm("mcp-server-everything") else {
        return;
    };
    let preload = format!("--require={}", script("loopback.cjs").display());
    let server = HttpServer::start(&server, &[("NODE_OPTIONS", preload)], &["sse"]);
    let url = format!("{}/sse", server.url);
    answers_become_values_files_and_errors(&json!({"type": "sse", "url": url}));
}

fn progress_is_in_the_trace(entry: &Value) {
    let mut scratch = with_server(entry);
    patient(&mut scratch);
    let operation = json!({
        "tool": "mcp__peer__trigger-long-running-operation", "params": {"duration": 0.2, "steps": 2},
    });
    play(&scratch, &json!([operation]), 0);
    let trace = program::only_trace(&scratch);
    let told: Vec<String> = program::trace_lines(&trace)
        .iter()
        .filter(|line| line["type"] == "log" && line["data"]["stream"] == "peer")
        .filter_map(|line| line["data"]["message"].as_str().map(str::to_owned))
        .filter(|message| message.starts_with("progress"))
        .collect();
    assert_eq!(told, ["progress 1 of 2", "progress 2 of 2"], "{trace}");
}

fn answers_become_values_files_and_errors(entry: &Value) {
    progress_is_in_the_trace(entry);
    let mut scratch = with_server(entry);
    patient(&mut scratch);
    let played = play(
        &scratch,
        &json!([
            {"id": "echo", "tool": "mcp__peer__echo", "params": {"message": "Grüße, \"Ada\""}, "output": {"text": "$"}},
            {"id": "sum", "tool": "mcp__peer__get-sum", "params": {"a": "2", "b": 3}, "output": {"text": "$"}},
            {"id": "weather", "tool": "mcp__peer__get-structured-content", "params": {"location": "Chicago"},
             "output": {"degrees": "$.temperature", "all": "$"}},
            {"id": "image", "tool": "mcp__peer__get-tiny-image", "params": {}, "output": {"path": "$[1].path"}},
            {"tool": "mcp__peer__get-resource-reference", "params": {"resourceType": "Blob"}},
            {"id": "links", "tool": "mcp__peer__get-resource-links", "params": {"count": 2}, "output": {"uris": "$[*].uri"}},
            {"tool": "mcp__peer__get-structured-content", "params": {"location": "Nowhere"}, "on_error": "skip"},
            {"tool": "mcp__peer__get-sums", "params": {}, "on_error": "skip"},
            {"tool": "mcp__peer__trigger-long-running-operation", "params": {"duration": 600, "steps": 6000},
             "timeout": 1, "on_error": "skip"},
            {"id": "after", "tool": "mcp__peer__echo", "params": {"message": "{{weather.degrees}} at {{links.uris[1]}}"},
             "output": {"text": "$"}},
        ]),
        0,
    );
    assert_eq!(
        played.statuses(),
        [
            "passed",
            "passed",
            "passed",
            "passed",
            "passed",
            "passed",
            "tolerated",
            "tolerated",
            "tolerated",
            "passed"
        ]
    );
    assert_eq!(played.output("echo", "text"), "Echo: Grüße, \"Ada\"");
    assert_eq!(played.output("sum", "text"), "The sum of 2 and 3 is 5.");
    let converted = "C-PARAM-04: `a` was the text \"2\" and is sent as 2";
    assert!(played.stderr.contains(converted), "{}", played.stderr);

    let weather = played.output("weather", "all");
    assert_eq!(
        weather,
        &json!({"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82})
    );
    assert_eq!(played.step(3)["result"], *weather);

    let image = &played.step(4)["result"];
    assert_eq!(image[0], "Here's the image you requested:");
    assert_eq!(image[1]["path"], *played.output("image", "path"));
    assert_png(&saved_file(&scratch, &image[1], "image/png"));

    let blob = &played.step(5)["result"][1];
    assert_eq!(blob["uri"], "demo://resource/dynamic/blob/1");
    let content = saved_file(&scratch, blob, "text/plain");
    let content = String::from_utf8(content).expect("text");
    assert!(content.starts_with("Resource 1: "), "{content}");

    assert_eq!(
        played.output("links", "uris"),
        &json!([
            "demo://resource/dynamic/blob/1",
            "demo://resource/dynamic/text/2"
        ])
    );

    let refused = played.step(7);
    assert_eq!(refused["code"], "C-RUN-01");
    let error = refused["error"].as_str().expect("an error");
    assert!(error.contains("expected one of \"New York\""), "{error}");
    assert_eq!(refused["result"], refused["error"]);

    let unknown = played.step(8);
    assert_eq!(unknown["code"], "C-RUN-01");
    let error = unknown["error"].as_str().expect("an error");
    assert!(error.ends_with("Tool get-sums not found"), "{error}");

    assert_timed_out(played.step(9));
    assert_eq!(
        played.output("after", "text"),
        "Echo: 36 at demo://resource/dynamic/text/2"
    );
}

#[test]
fn a_step_with_an_unknown_tool_stops_the_run_and_names_the_nearest() {
    let Some(entry) = stdio() else { return };
    let played = play(
        &with_server(&entry),
        &json!([
            {"tool": "mcp__peer__get-sums", "params": {"a": 1, "b": 2}},
            {"tool": "mcp__peer__echo", "params": {"message": "never"}},
        ]),
        1,
    );
    assert_eq!(played.statuses(), ["failed"]);
    assert_eq!(played.json["failed_step"], 1);
    for expected in [
        "error[C-RUN-01]",
        "scenario.json:",
        "the server does not list the tool `get-sums`",
        "did you mean `get-sum`?",
    ] {
        assert!(played.stderr.contains(expected), "{}", played.stderr);
    }
}

#[test]
fn a_dry_run_asks_the_server_and_finds_nothing_wrong() {
    let Some(entry) = stdio() else { return };
    let document = dry_run(
        &with_server(&entry),
        &json!([
            {"id": "sum", "tool": "mcp__peer__get-sum", "params": {"a": "2", "b": 3}, "output": {"text": "$"}},
            {"tool": "mcp__peer__get-structured-content", "params": {"location": "Chicago"}},
            {"tool": "mcp__peer__echo", "params": {"message": "{{sum.text}}"}},
        ]),
        0,
    );
    assert_eq!(document["success"], true);
    assert_eq!(document["diagnostics"], json!([]));
    let connected = &document["connected"][0];
    assert_eq!(connected["server"], "peer");
    assert_eq!(connected["transport"], "stdio");
    assert_eq!(connected["protocol"], "2025-11-25");
    assert!(connected["tools"].as_u64() > Some(10), "{connected}");
}

#[test]
fn a_dry_run_tells_unknown_tools_and_parameters_that_do_not_fit() {
    let Some(entry) = stdio() else { return };
    let document = dry_run(
        &with_server(&entry),
        &json!([
            {"tool": "mcp__peer__get-sums", "params": {"a": 1, "b": 2}},
            {"tool": "mcp__peer__get-sum", "params": {"a": "two", "b": 3}},
            {"tool": "mcp__peer__get-structured-content", "params": {"location": "Nowhere"}},
            {"tool": "mcp__peer__echo", "params": {}},
            {"tool": "mcp__peer__get-resource-links", "params": {"cuont": 2}},
        ]),
        3,
    );
    assert_eq!(document["success"], false);
    assert_eq!(
        codes(&document),
        [
            "C-TOOL-02",
            "C-PARAM-02",
            "C-PARAM-02",
            "C-PARAM-01",
            "C-PARAM-03"
        ]
    );
    let diagnostics = &document["diagnostics"];
    assert_eq!(
        diagnostics[0]["label"],
        "did you mean `mcp__peer__get-sum`?"
    );
    assert_eq!(diagnostics[4]["label"], "did you mean `count`?");
    for (index, words) in [(1, "`a`"), (2, "`location`"), (3, "`message`")] {
        let message = diagnostics[index]["message"].as_str().expect("a message");
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn a_dry_run_fails_if_the_server_does_not_start() {
    if stdio().is_none() {
        return;
    }
    let entry = json!({"command": "no-such-mcp-server"});
    let steps = json!([{"tool": "mcp__peer__echo", "params": {}}]);
    let document = dry_run(&with_server(&entry), &steps, 2);
    assert_eq!(codes(&document), ["C-RUN-04"]);
    assert_eq!(document["connected"], json!([]));
}
