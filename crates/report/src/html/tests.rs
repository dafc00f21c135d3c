use super::*;
use crate::sample;

fn report(tests: &[(TestResult, Option<Trace>)]) -> String {
    let mut report = HtmlReport::begin(Vec::new()).expect("begun");
    for (result, trace) in tests {
        report.result(result, trace.as_ref()).expect("written");
    }
    let bytes = report.end(Duration::from_millis(38)).expect("ended");
    String::from_utf8(bytes).expect("text")
}

/// The JSON in the script element called `id`.
fn data(html: &str, id: &str) -> serde_json::Value {
    let (_, rest) = around(html, &format!("id=\"{id}\">"));
    let (json, _) = around(rest, "</script>");
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn the_page_lets_its_own_script_and_style_run_and_nothing_else() {
    let policy = parts::policy(STYLE, SCRIPT);
    assert!(
        PAGE.contains(&policy),
        "the policy in page.html must say: {policy}"
    );
    for style in [STYLE, BASE_STYLE.1] {
        assert!(!style.contains("http://"), "a style asks for something");
    }
    assert!(PAGE.contains("default-src 'none'"));
    let html = report(&sample::all());
    for (what, count) in [
        ("<script", 4),
        ("<style", 2),
        ("<link", 0),
        ("<img", 0),
        (" src=", 0),
    ] {
        assert_eq!(html.matches(what).count(), count, "{what}");
    }
    assert!(
        !html.contains("<!-- tests -->")
            && !html.contains("/* script */")
            && !html.contains("/* base")
    );
}

#[test]
fn nothing_in_a_trace_becomes_markup() {
    let mut tests = sample::all();
    let hostile = "</script><script>alert(1)</script><!--";
    hostile.clone_into(&mut tests[0].0.id);
    hostile.clone_into(&mut tests[0].0.assertions[0].outcome.message);
    let trace = sample::trace(
        &[(
            "message_received",
            "user",
            0,
            json!({"role": "user", "content": hostile}),
        )],
        hostile,
    );
    tests[0].1 = Some(trace);
    let html = report(&tests);
    assert!(!html.contains("alert(1)</script>"));
    assert_eq!(html.matches("<!--").count(), 0);
    let shown = data(&html, "test-data");
    assert_eq!(shown[1]["id"], hostile);
    assert_eq!(shown[1]["trace"]["events"][0]["data"]["content"], hostile);
}

#[test]
fn the_page_knows_tests_traces_and_the_verdict() {
    let html = report(&sample::all());
    let tests = data(&html, "test-data");
    assert_eq!(
        tests.as_array().map(Vec::len),
        Some(5),
        "a null, and four tests"
    );
    let events = &tests[1]["trace"]["events"];
    assert_eq!(events[2]["lane"], "agent");
    assert_eq!(events[2]["ms"], 400.0, "from the call to its result");
    assert_eq!(events[7]["bad"], true);
    let text = events[5]["text"].as_str().expect("text");
    assert!(text.ends_with('…') && text.chars().count() <= 161, "{text}");
    assert_eq!(tests[1]["assertions"][0]["refs"], json!(["e6", "e9"]));
    assert!(
        tests[3]["errors"][0]["text"]
            .as_str()
            .expect("text")
            .contains("replay.json:3:40")
    );
    let run = data(&html, "run-data");
    assert_eq!(
        run["words"],
        "1 of 4 tests failed, 1 could not be evaluated"
    );
    assert_eq!(run["counts"]["vacuous"], 2);
    assert!(html.contains("<noscript><p>1 of 4 tests failed, 1 could not be evaluated. "));
}

#[test]
fn a_long_trace_keeps_its_ends_and_its_evidence() {
    let (mut result, _) = sample::all().remove(0);
    let long = "x".repeat(50_000);
    let events: Vec<_> = (0..5000)
        .map(|at| {
            (
                "thought",
                "agent",
                at,
                json!({"text": if at == 0 { &long } else { "" }}),
            )
        })
        .collect();
    let trace = sample::trace(&events, "");
    result.evidence.truncate(1);
    "e2500".clone_into(&mut result.evidence[0].event_id);
    let html = report(&[(result, Some(trace))]);
    let shown = &data(&html, "test-data")[1]["trace"];
    let seqs: Vec<u64> = shown["events"]
        .as_array()
        .expect("events")
        .iter()
        .filter_map(|event| event["seq"].as_u64())
        .collect();
    assert_eq!((seqs[0], seqs[seqs.len() - 1]), (1, 5000));
    assert!(seqs.contains(&2500) && seqs.len() <= 2000, "{}", seqs.len());
    assert_eq!(shown["omitted"].as_u64(), Some(5000 - seqs.len() as u64));
    assert_eq!(shown["events"][0]["cut"], true);
    assert!(html.len() < 2 << 20, "{}", html.len());
}

#[test]
fn a_huge_result_is_shown_in_part() {
    let (result, _) = sample::all().remove(0);
    let rows: Vec<_> = (0..100_000).map(|n| json!({"n": n})).collect();
    let trace = sample::trace(
        &[(
            "tool_result",
            "tool",
            0,
            json!({"tool": "t", "call_id": "c", "success": true, "result": rows}),
        )],
        "",
    );
    let html = report(&[(result, Some(trace))]);
    let event = &data(&html, "test-data")[1]["trace"]["events"][0];
    assert_eq!(event["cut"], true);
    let shown = event["data"]["result"].as_array().expect("rows");
    assert_eq!(shown[0], json!({"n": 0}));
    let last = shown[shown.len() - 1].as_str().expect("a note");
    assert_eq!(last, format!("… {} more", 100_000 - (shown.len() - 1)));
    assert!(html.len() < 1 << 20, "{}", html.len());
}

#[test]
fn the_verdict_is_a_sentence() {
    let words = |passed, failed, errors, skipped| {
        verdict(&Totals {
            tests: passed + failed + errors + skipped,
            passed,
            failed,
            errors,
            skipped,
            ..Totals::default()
        })
    };
    assert_eq!(words(0, 0, 0, 0), "No tests");
    assert_eq!(words(1, 0, 0, 0), "The test passed");
    assert_eq!(words(3, 0, 0, 0), "All 3 tests passed");
    assert_eq!(words(2, 0, 0, 1), "2 of 3 tests passed, the rest skipped");
    assert_eq!(words(0, 0, 0, 2), "2 tests skipped");
    assert_eq!(words(0, 1, 0, 0), "1 of 1 test failed");
    assert_eq!(words(1, 0, 1, 0), "1 of 2 tests could not be evaluated");
}
