//! What servers are really sent: it stands in the trace, with what is asked beside the calls of steps. The server is
//! `tests/servers/page.sh`.

use cuecard_testing::scratch::Scratch;
use serde_json::{Value, json};

use crate::program::{self, Played, only_trace, scratch, trace_lines};

fn with_page() -> Scratch {
    let place = scratch();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/servers/page.sh");
    let config = json!({"mcpServers": {"chrome-devtools": {"command": "bash", "args": [script]}}});
    place
        .write(".mcp.json", config.to_string())
        .expect("writable");
    place
}

fn play(place: &Scratch, steps: &Value, exit: i32) -> Played {
    let scenario = json!({"version": "2.1", "metadata": {"name": "Requests"}, "steps": steps});
    place
        .write("scenario.json", scenario.to_string())
        .expect("writable");
    program::play(place, &["scenario.json"], exit)
}

/// The parameters of what was sent, in order, and of what came back the texts.
fn sent(place: &Scratch) -> (Vec<Value>, usize) {
    let lines = trace_lines(&only_trace(place));
    let of = |kind: &'static str| lines.iter().filter(move |line| line["type"] == kind);
    let params = of("request_sent").map(|line| line["data"]["params"].clone());
    (params.collect(), of("response_received").count())
}

#[test]
fn the_trace_has_the_found_element_the_converted_parameter_and_the_look_up() {
    let place = with_page();
    let steps = json!([{
        "step": 1,
        "tool": "mcp__chrome-devtools__click",
        "params": {"times": "2"},
        "target": {"role": "button", "name": "Save"},
    }]);
    play(&place, &steps, 0);
    assert_eq!(
        sent(&place),
        (
            vec![
                json!({"name": "take_snapshot", "arguments": {}}),
                json!({"name": "click", "arguments": {"times": 2, "uid": "1_1"}}),
            ],
            1
        )
    );
}

#[test]
fn a_call_that_is_sent_as_it_is_written_stands_in_the_trace_once() {
    let place = with_page();
    let steps = json!([{
        "step": 1, "tool": "mcp__chrome-devtools__click", "params": {"uid": "1_1"},
    }]);
    play(&place, &steps, 0);
    assert_eq!(sent(&place), (Vec::new(), 0));
}

#[test]
fn a_text_that_is_typed_key_by_key_stands_in_the_trace_once_so_that_a_secret_is_found_in_it() {
    let mut place = with_page();
    place.set("CUECARD_VAR_PASSWORD", "hunter2");
    let steps = json!([{
        "step": 1, "tool": "mcp__chrome-devtools__type_text", "params": {"text": "{{PASSWORD}}"},
    }]);
    let scenario = json!({
        "version": "2.1",
        "metadata": {"name": "Requests"},
        "variables": {"PASSWORD": ""},
        "steps": steps,
    });
    place
        .write("scenario.json", scenario.to_string())
        .expect("writable");
    let args = ["scenario.json", "--secret", "PASSWORD"];
    program::play(&place, &args, 0);
    assert_eq!(
        sent(&place),
        (
            vec![json!({"name": "press_key", "arguments": {"text": "[redacted]"}})],
            0
        )
    );
}

#[test]
fn a_wait_records_its_first_look_its_last_and_those_that_saw_something_else() {
    let place = with_page();
    let wait = |step: u64, selector: &str| {
        json!({
            "step": step,
            "tool": "sandy__wait_for_element",
            "params": {"selector": selector, "timeout": 2, "interval": 0.01},
            "on_error": "skip",
        })
    };
    let played = play(&place, &json!([wait(1, "#never"), wait(2, "#late")]), 0);
    let message = played.step(1)["error"].to_string();
    assert!(!message.contains("once"), "{message}");
    let (params, n_answers) = sent(&place);
    assert_eq!((params.len(), n_answers), (4, 4));
}

#[test]
fn a_wait_looks_once_more_when_its_time_is_over_and_its_looks_are_in_the_trace() {
    let place = with_page();
    let steps = json!([{
        "step": 1,
        "id": "wait",
        "tool": "sandy__wait_for_element",
        "params": {"selector": "#late", "timeout": 1, "interval": 60},
        "output": {"attempts": "$.attempts"},
    }]);
    let played = play(&place, &steps, 0);
    assert_eq!(played.output("wait", "attempts"), &json!(2));
    let (params, n_answers) = sent(&place);
    assert_eq!((params.len(), n_answers), (2, 2));
    assert!(
        params
            .iter()
            .all(|params| params["name"] == "evaluate_script")
    );
}

#[test]
fn a_selector_that_no_page_can_read_is_an_error_at_once() {
    let place = with_page();
    let steps = json!([{
        "step": 1,
        "tool": "sandy__wait_for_element",
        "params": {"selector": "[", "timeout": 3600},
    }]);
    let played = play(&place, &steps, 1);
    assert_eq!(
        played.json["error"],
        "step 1 failed: the page can't read the selector `[`: it is not a valid selector"
    );
}

#[test]
fn a_wait_that_fails_says_how_long_it_took() {
    let place = with_page();
    let steps = json!([{
        "step": 1,
        "tool": "sandy__wait_for_element",
        "params": {"selector": "#never", "timeout": 0.02, "interval": 0.01},
    }]);
    let played = play(&place, &steps, 1);
    let message = played.json["error"].as_str().expect("a message");
    let took: u64 = message
        .strip_prefix("step 1 failed: timed out: no element matched `#never` within ")
        .and_then(|rest| rest.split_once(" ms")?.0.parse().ok())
        .unwrap_or_else(|| panic!("{message}"));
    assert!(took >= 20, "{message}");
}

#[test]
fn data_in_a_script_is_sent_as_a_value_in_front_of_it() {
    let place = with_page();
    let evaluate = |step: u64, params: Value| json!({"step": step, "tool": "mcp__chrome-devtools__evaluate_script", "params": params});
    let steps = json!([
        {"step": 1, "id": "said", "tool": "mcp__demo__echo", "params": {"message": "'); alert(1) ('"}, "output": {"text": "$"}},
        evaluate(2, json!({"function": "() => $x('#never') === '{{said.text}}'"})),
        evaluate(3, json!({"function": "const x = {{said.text}}; '#never' + x", "format": "script"})),
        evaluate(4, json!({"function": "() => '#never'"})),
        {"step": 5, "tool": "sandy__wait_until", "params": {"expression": "'#never' === {{said.text}}", "timeout": 0.1}, "on_error": "skip"},
    ]);
    play(&place, &steps, 0);
    let (params, _) = sent(&place);
    let scripts: Vec<_> = params
        .iter()
        .map(|params| params["arguments"]["function"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(
        scripts[..3],
        [
            "((__cuecard_1 = '' + \"'); alert(1) ('\" + '') => (() => $x('#never') === __cuecard_1\n))()",
            "{ const __cuecard_1 = \"'); alert(1) ('\";\nconst x = __cuecard_1; '#never' + x\n}",
            "async () => { const it = await ((async (__cuecard_1 = \"'); alert(1) ('\") => ('#never' === __cuecard_1\n))()\n); return !!(typeof it === \"function\" ? await it() : it); }",
        ]
    );
}
