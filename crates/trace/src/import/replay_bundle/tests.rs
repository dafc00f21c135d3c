use proptest::prelude::*;
use serde_json::json;

use super::replay_bundle;
use crate::import::Fixture;
use crate::import::Imported;
use crate::{EventData, RunStatus, Trace};
use cuecard_source::diagnostic::codes;
use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};

/// A valid bundle with these steps.
fn bundle(script: Json) -> Json {
    json!({
        "schema_version": "0.1",
        "adapter": "nanoclaw-replay",
        "scenario": {"group_id": "g", "session_id": "s", "task_id": null, "trigger": "user_message", "scheduler_context": null},
        "input_messages": [{"role": "user", "content": "What is new?"}],
        "script": script,
        "final_output": {"role": "assistant", "content": "- Nothing"},
        "status": "success",
        "metrics": {"timing_ms_total": 1200, "retry_count": 1, "token_usage": null}
    })
}

fn search() -> Json {
    json!([
        {"type": "tool_call", "tool": "web_search", "call_id": "c1", "args": {"query": "news"}, "ts": "2026-02-24T17:00:00.500Z"},
        {"type": "tool_result", "tool": "web_search", "call_id": "c1", "success": true, "result": {"items": []}}
    ])
}

fn import(bundle: &Json) -> Imported {
    read(&format!("{bundle:#}"), &[])
}

fn read(text: &str, fixtures: &[Fixture]) -> Imported {
    replay_bundle(&SourceFile::new("replay.json", text), fixtures)
}

fn trace(bundle: &Json) -> Trace {
    let imported = import(bundle);
    assert!(imported.diagnostics.is_empty(), "{:?}", messages(&imported));
    imported.trace.expect("a trace")
}

fn messages(imported: &Imported) -> Vec<String> {
    let pointer = |diagnostic: &cuecard_source::diagnostic::Diagnostic| {
        diagnostic.pointer.clone().unwrap_or_default()
    };
    imported
        .diagnostics
        .iter()
        .map(|found| format!("{} {}: {}", found.code, pointer(found), found.message))
        .collect()
}

fn lines(trace: &Trace) -> String {
    let mut bytes = Vec::new();
    trace.write_lines(&mut bytes).expect("memory");
    String::from_utf8(bytes).expect("text")
}

fn kinds(trace: &Trace) -> Vec<&str> {
    trace
        .events
        .iter()
        .map(|event| event.data.type_name())
        .collect()
}

#[test]
fn a_bundle_becomes_a_trace() {
    let trace = trace(&bundle(search()));
    let expected = concat!(
        r#"{"kind":"header","schema_version":"0.1","trace_id":"TRACE","test_run_id":"RUN","#,
        r#""adapter":{"name":"nanoclaw-replay","version":"0.1"},"#,
        r#""capabilities":{"supports_tool_trace":true,"supports_memory_events":false,"supports_scheduler_context":false,"supports_container_metadata":false,"supports_replay":true},"#,
        r#""scenario":{"group_id":"g","session_id":"s","task_id":null,"trigger":"user_message","scheduler_context":null},"#,
        r#""input_messages":[{"role":"user","content":"What is new?"}]}"#,
        "\n",
        r#"{"event_id":"e1","seq":1,"ts":"2026-02-24T17:00:00.499Z","ts_synthesized":true,"type":"message_received","actor":"user","group_id":"g","session_id":"s","data":{"role":"user","content":"What is new?"}}"#,
        "\n",
        r#"{"event_id":"e2","seq":2,"ts":"2026-02-24T17:00:00.500Z","type":"tool_call","actor":"agent","group_id":"g","session_id":"s","data":{"tool":"web_search","call_id":"c1","args":{"query":"news"}}}"#,
        "\n",
        r#"{"event_id":"e3","seq":3,"ts":"2026-02-24T17:00:00.501Z","ts_synthesized":true,"type":"tool_result","actor":"tool","group_id":"g","session_id":"s","parent_event_id":"e2","data":{"tool":"web_search","call_id":"c1","success":true,"result":{"items":[]}}}"#,
        "\n",
        r#"{"event_id":"e4","seq":4,"ts":"2026-02-24T17:00:00.502Z","ts_synthesized":true,"type":"final_output","actor":"agent","group_id":"g","session_id":"s","data":{"role":"assistant","content":"- Nothing"}}"#,
        "\n",
        r#"{"kind":"end","final_output":{"role":"assistant","content":"- Nothing"},"status":"success","metrics":{"timing_ms_total":1200.0,"tool_call_count":1,"retry_count":1}}"#,
        "\n",
    );
    let written = lines(&trace)
        .replace(&trace.header.trace_id, "TRACE")
        .replace(&trace.header.test_run_id, "RUN");
    assert_eq!(written, expected);
    assert!(trace.header.trace_id.starts_with("trace-"));
}

#[test]
fn the_layout_of_the_file_does_not_matter_and_the_content_does() {
    let bundle = bundle(search());
    let compact = read(&bundle.to_string(), &[]).trace.expect("a trace");
    assert_eq!(compact, trace(&bundle));
    let mut other = bundle;
    other["final_output"]["content"] = json!("- Something");
    assert_ne!(compact.header.trace_id, trace(&other).header.trace_id);
}

#[test]
fn results_and_errors_belong_to_the_latest_earlier_call() {
    let mut bundle = bundle(json!([
        {"type": "tool_call", "event_id": "first", "tool": "fetch", "call_id": "c"},
        {"type": "error", "call_id": "c", "error_type": "timeout", "retryable": true},
        {"type": "tool_call", "event_id": "second", "tool": "fetch", "call_id": "c"},
        {"type": "tool_result", "tool": "fetch", "call_id": "c", "success": true, "group_id": "other"},
        {"type": "error", "error_type": "crash", "parent_event_id": "first"}
    ]));
    bundle["input_messages"] = json!([]);
    let trace = trace(&bundle);
    let parents: Vec<_> = trace
        .events
        .iter()
        .map(|event| event.parent_event_id.as_deref())
        .collect();
    let expected = [
        None,
        Some("first"),
        None,
        Some("second"),
        Some("first"),
        None,
    ];
    assert_eq!(parents, expected);
    let groups: Vec<_> = trace
        .events
        .iter()
        .map(|event| event.group_id.as_deref().unwrap_or_default())
        .collect();
    assert_eq!(groups, ["g", "g", "g", "other", "g", "g"]);
    let EventData::ErrorHappened(error) = &trace.events[1].data else {
        panic!("an error")
    };
    assert_eq!(
        (error.scope.as_str(), error.tool.as_deref()),
        ("tool", Some("fetch"))
    );
    assert_eq!(trace.end.expect("an end").metrics.tool_call_count, 2);
}

#[test]
fn a_message_that_is_repeated_is_one_event() {
    let mut bundle = bundle(json!([
        {"type": "message_received", "content": "first", "ts": "2026-01-01T00:00:00Z"},
        {"type": "tool_call", "tool": "t", "call_id": "1"},
        {"type": "message_received", "content": "third"},
        {"type": "message_received", "content": "first"}
    ]));
    let message = |content: &str| json!({"role": "user", "content": content});
    bundle["input_messages"] = json!([
        message("zeroth"),
        message("first"),
        message("second"),
        message("third")
    ]);
    let trace = trace(&bundle);
    let texts: Vec<_> = trace
        .events
        .iter()
        .map(|event| match &event.data {
            EventData::MessageReceived(message) => message.content.as_str(),
            other => other.type_name(),
        })
        .collect();
    let expected = [
        "zeroth",
        "first",
        "second",
        "tool_call",
        "third",
        "first",
        "final_output",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn the_final_output_is_the_one_at_the_top_else_the_last_step() {
    let step = |content: &str| json!({"type": "final_output", "content": content});
    let mut bundle = bundle(json!([step("a"), step("b")]));
    bundle
        .as_object_mut()
        .expect("an object")
        .remove("final_output");
    let without = trace(&bundle);
    assert_eq!(
        kinds(&without),
        ["message_received", "final_output", "final_output"]
    );
    let of = |trace: &Trace| {
        trace
            .end
            .clone()
            .expect("an end")
            .final_output
            .expect("one")
            .content
    };
    assert_eq!(of(&without), "b");
    bundle["final_output"] = json!({"content": "c"});
    let both = import(&bundle);
    assert_eq!(
        messages(&both),
        [
            "J-BUNDLE-12 /final_output: `final_output` differs from the last `final_output` step of the script"
        ]
    );
    assert_eq!(of(&both.trace.expect("a trace")), "c");
    bundle["status"] = json!("failed");
    bundle["final_output"] = Json::Null;
    bundle["script"] = json!([]);
    let end = trace(&bundle).end.expect("an end");
    assert_eq!((end.status, end.final_output), (RunStatus::Failed, None));
}

#[test]
fn a_result_can_be_a_fixture_of_the_test_case() {
    let fixtures = [Fixture {
        id: "fx".into(),
        tool: "t".into(),
        result: Some(json!({"a": 1})),
        error: None,
        span: Span::default(),
    }];
    let script = |id: &str| {
        bundle(json!([
            {"type": "tool_call", "tool": "t", "call_id": "1"},
            {"type": "tool_result", "tool": "t", "call_id": "1", "success": true, "fixture_id": id}
        ]))
        .to_string()
    };
    let trace = read(&script("fx"), &fixtures).trace.expect("a trace");
    let EventData::ToolResult(result) = &trace.events[2].data else {
        panic!("a result")
    };
    assert_eq!(*result.result, json!({"a": 1}));
    assert_eq!(result.fixture_id.as_deref(), Some("fx"));
    let missing = read(&script("fy"), &fixtures);
    assert!(missing.trace.is_none());
    assert_eq!(
        messages(&missing),
        ["J-BUNDLE-09 /script/1/fixture_id: undefined fixture `fy`"]
    );
}

#[test]
fn capabilities_have_defaults_and_misspelt_ones_are_named() {
    let mut bundle = bundle(json!([]));
    bundle["capabilities"] =
        json!({"supports_tool_trace": false, "supports_memory_event": true, "mine": true});
    let imported = import(&bundle);
    assert_eq!(
        messages(&imported),
        [
            "J-BUNDLE-11 /capabilities/supports_memory_event: unknown capability `supports_memory_event`"
        ]
    );
    let flags = imported.trace.expect("a trace").header.capabilities;
    assert_eq!(flags["supports_tool_trace"], false);
    assert_eq!(flags["supports_memory_events"], false);
    assert_eq!(flags["supports_replay"], true);
    assert_eq!(flags["mine"], true);
    bundle["capabilities"] = json!({"mine": "yes", "other": null});
    assert_eq!(
        messages(&import(&bundle)),
        ["J-BUNDLE-04 /capabilities/mine: `mine` must be true or false, not the string `yes`"]
    );
}

#[test]
fn among_very_many_calls_nobody_guesses_which_one_was_meant() {
    let script = |count: usize| {
        let call = |number: usize| json!({"type": "tool_call", "tool": "t", "call_id": format!("call {number}")});
        let mut steps: Vec<Json> = (0..count).map(call).collect();
        steps
            .push(json!({"type": "tool_result", "tool": "t", "call_id": "cal 7", "success": true}));
        import(&bundle(Json::Array(steps))).diagnostics[0]
            .label
            .clone()
    };
    assert_eq!(script(100).as_deref(), Some("did you mean `call 7`?"));
    assert_eq!(script(101), None);
}

#[test]
fn all_mistakes_are_named_with_their_places() {
    let text = r#"{
  "adapter": "nanoclaw",
  "scenario": { "trigger": "sheduler" },
  "input_messages": [{ "role": "user" }],
  "script": [
    { "type": "tool_call", "tool": "", "arg": 1 },
    { "type": "tool_result", "tool": "t", "call_id": "x", "success": "yes" },
    { "type": "tool_use" },
    { "type": "error", "call_id": "y", "error_type": "timeout", "ts": "noon" },
    7
  ],
  "status": "succes",
  "metrics": { "retry_count": -1 }
}"#;
    let imported = read(text, &[]);
    assert!(imported.trace.is_none());
    assert_eq!(
        messages(&imported),
        [
            "J-BUNDLE-02 /schema_version: the bundle has no `schema_version`",
            "J-BUNDLE-04 /adapter: `adapter` must be `nanoclaw-replay`, not `nanoclaw`",
            "J-BUNDLE-03 /scenario/group_id: `scenario` has no `group_id`",
            "J-BUNDLE-04 /scenario/trigger: `trigger` must be `user_message` or `scheduler`, not `sheduler`",
            "J-BUNDLE-03 /input_messages/0/content: `input_messages[0]` has no `content`",
            "J-BUNDLE-03 /script/0/call_id: a `tool_call` step has no `call_id`",
            "J-BUNDLE-04 /script/0/tool: `tool` must be a string that is not empty, not an empty string",
            "J-BUNDLE-11 /script/0/arg: unknown key `arg` in a `tool_call` step",
            "J-BUNDLE-06 /script/1/call_id: no `tool_call` has the `call_id` `x`",
            "J-BUNDLE-04 /script/1/success: `success` must be true or false, not the string `yes`",
            "J-BUNDLE-05 /script/2/type: unknown step type `tool_use`",
            "J-BUNDLE-06 /script/3/call_id: no `tool_call` has the `call_id` `y`",
            "J-BUNDLE-04 /script/3/ts: `ts` must be an RFC 3339 time such as `2026-02-24T17:00:00.500Z`, not the string `noon`",
            "J-BUNDLE-04 /script/4: a step must be an object, not 7",
            "J-BUNDLE-04 /status: `status` must be `success`, `partial`, `failed` or `blocked`, not `succes`",
            "J-BUNDLE-03 /metrics/timing_ms_total: `metrics` has no `timing_ms_total`",
            "J-BUNDLE-04 /metrics/retry_count: `retry_count` must be a non-negative integer, not -1",
        ]
    );
    let place = imported.diagnostics[12].place.clone().expect("a place");
    assert_eq!(place.source.position(place.span.start).line, 9);
}

#[test]
fn the_rules_between_fields_are_checked() {
    let mut scheduled = bundle(json!([
        {"type": "tool_result", "tool": "t", "call_id": "1", "success": true},
        {"type": "tool_call", "tool": "t", "call_id": "1", "event_id": "a"},
        {"type": "tool_result", "tool": "u", "call_id": "1", "success": true, "event_id": "a"},
        {"type": "memory_read", "source": "CLAUDE.md"}
    ]));
    scheduled["scenario"]["trigger"] = json!("scheduler");
    scheduled["final_output"] = json!({"role": "assistant"});
    scheduled["metrics"]["tool_call_count"] = json!(3);
    assert_eq!(
        messages(&import(&scheduled)),
        [
            "J-BUNDLE-08 /scenario/scheduler_context: a run of the scheduler has no `scheduler_context`",
            "J-BUNDLE-06 /script/0/call_id: the `call_id` `1` is of a `tool_call` that comes later",
            "J-BUNDLE-12 /script/2/tool: a step of `u` answers `1`, which is a call of `t`",
            "J-BUNDLE-10 /script/2/event_id: duplicate `event_id` `a`",
            "J-BUNDLE-12 /script/3/path: no `path`: whose memory it is can be told by `group_id` only",
            "J-BUNDLE-07 /final_output/content: a run that succeeded has no `final_output` with `content`",
            "J-BUNDLE-12 /metrics/tool_call_count: `tool_call_count` is 3, but the script has 1",
        ]
    );
}

#[test]
fn another_version_is_the_only_finding() {
    let mut newer = bundle(json!([{"type": "new"}]));
    newer["schema_version"] = json!("0.2");
    assert_eq!(
        messages(&import(&newer)),
        ["J-BUNDLE-02 /schema_version: the bundle has version `0.2`, and this release reads 0.1"]
    );
    newer["script"] = json!([]);
    newer["schema_version"] = json!(0.1);
    assert_eq!(
        messages(&import(&newer)),
        ["J-BUNDLE-02 /schema_version: `schema_version` must be the string \"0.1\", not 0.1"]
    );
}

#[test]
fn broken_json_is_an_error_of_its_own() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for text in [
        "",
        "{",
        r#"{"metrics": {"timing_ms_total": NaN}}"#,
        r#"{"a": 1, "a": 2}"#,
        &deep,
    ] {
        let imported = read(text, &[]);
        assert!(imported.trace.is_none());
        assert_eq!(imported.diagnostics[0].code, codes::BUNDLE_JSON, "{text}");
    }
    assert_eq!(
        messages(&read("[]", &[])),
        ["J-BUNDLE-04 : the bundle must be an object, not an array"]
    );
}

#[test]
fn steps_that_do_not_go_together_are_doubted() {
    let fixture = |tool: &str, error: Option<Json>| Fixture {
        id: "f".into(),
        tool: tool.into(),
        result: error.is_none().then(|| json!({})),
        error,
        span: cuecard_source::Span::new(0, 0),
    };
    let call = json!({"type": "tool_call", "tool": "t", "call_id": "1"});
    let result = json!({"type": "tool_result", "tool": "t", "call_id": "1", "success": true});
    let mut held = result.clone();
    held["fixture_id"] = json!("f");
    let steps = |steps: &[&Json]| bundle(json!(steps));
    for (bundle, fixtures, told) in [
        (steps(&[&call, &result]), vec![], None),
        (
            steps(&[&call, &call]),
            vec![],
            Some("duplicate `call_id` `1`: a call with this id has no result yet"),
        ),
        (
            steps(&[&call, &result, &result]),
            vec![],
            Some("the call `1` already has a result"),
        ),
        (steps(&[&call, &result, &call, &result]), vec![], None),
        (steps(&[&call, &held]), vec![fixture("t", None)], None),
        (
            steps(&[&call, &held]),
            vec![fixture("u", None)],
            Some("the fixture belongs to `u`"),
        ),
        (
            steps(&[&call, &held]),
            vec![fixture("t", Some(json!("no")))],
            Some("the fixture is an error, but the result is a success"),
        ),
    ] {
        let read = read(&format!("{bundle:#}"), &fixtures);
        let found: Vec<&str> = read
            .diagnostics
            .iter()
            .map(|one| one.message.as_str())
            .collect();
        assert_eq!(found, told.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_mistake_in_every_step_is_not_said_a_thousand_times() {
    let steps: Vec<Json> = (0..1000)
        .map(|n| json!({"type": "tool_call", "tool": "t", "call_id": n.to_string(), "x": 1}))
        .collect();
    let mut bundle = bundle(Json::Array(steps));
    bundle["status"] = json!("done");
    let imported = import(&bundle);
    assert_eq!(imported.diagnostics.len(), 100);
    assert!(
        imported.trace.is_none(),
        "the error after the warnings counts"
    );
    let notes = &imported.diagnostics[99].notes;
    assert_eq!(notes, &["901 further findings are not shown"]);
}

#[test]
fn token_usage_is_a_number_or_says_what_it_counts() {
    let usage = |told: Json| {
        let mut bundle = bundle(json!([]));
        bundle["metrics"]["token_usage"] = told;
        let imported = import(&bundle);
        let end = imported.trace.and_then(|trace| trace.end);
        end.map(|end| end.metrics.token_usage)
    };
    assert_eq!(usage(json!(7)), Some(Some(7)));
    assert_eq!(
        usage(json!({"input_tokens": 3, "output_tokens": 4})),
        Some(Some(7))
    );
    assert_eq!(
        usage(json!({"total_tokens": 9, "input_tokens": 3})),
        Some(Some(9))
    );
    assert_eq!(usage(json!("many")), None);
}

fn step() -> impl Strategy<Value = Json> {
    let time = prop::option::of(0_i64..4_000_000_000_000).prop_map(|ms| {
        ms.map(|ms| {
            let time = jiff::Timestamp::from_millisecond(ms).expect("in range");
            format!("{time:.3}")
        })
    });
    let kind = prop_oneof![
        Just(json!({"type": "tool_call", "tool": "t", "call_id": "c"})),
        Just(json!({"type": "tool_result", "tool": "t", "call_id": "c", "success": false})),
        Just(json!({"type": "message_received", "content": "What is new?"})),
        Just(json!({"type": "memory_write", "source": "s", "path": "p"})),
        Just(json!({"type": "error", "call_id": "c", "error_type": "e"})),
        Just(json!({"type": "final_output", "content": "- Nothing"})),
    ];
    (kind, time).prop_map(|(mut step, time)| {
        if let Some(time) = time {
            step["ts"] = json!(time);
        }
        step
    })
}

proptest! {
    #[test]
    fn the_same_bundle_gives_the_same_bytes(steps in prop::collection::vec(step(), 0..12)) {
        let mut script = vec![json!({"type": "tool_call", "tool": "t", "call_id": "c"})];
        script.extend(steps);
        let text = bundle(Json::Array(script)).to_string();
        let trace = read(&text, &[]).trace.expect("a valid bundle");
        let again = read(&text, &[]).trace.expect("a valid bundle");
        prop_assert_eq!(lines(&trace), lines(&again));
        prop_assert_eq!(&Trace::read(lines(&trace).as_bytes()).expect("readable"), &trace);
        let mut ids: Vec<_> = trace.events.iter().map(|event| &event.event_id).collect();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), trace.events.len());
    }

    #[test]
    fn any_json_is_read_or_refused(key in "[a-z_]{1,12}", place in 0_usize..40) {
        // Put something else in some place of a valid bundle: no panic, and no trace without a final word.
        let text = bundle(search()).to_string();
        let parts: Vec<_> = text.split(',').collect();
        let cut = parts[..place % parts.len()].join(",");
        let imported = read(&format!("{cut},\"{key}\":[]"), &[]);
        prop_assert!(imported.trace.is_none());
        prop_assert!(!imported.diagnostics.is_empty());
    }
}
