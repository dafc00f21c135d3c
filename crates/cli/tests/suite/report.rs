//! The HTML report in a real browser: `tests/report/browser.mjs` opens it from disk and does what a reader does.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cuecard_testing::scratch::Scratch;
use cuecard_testing::{peers, repository_root};
use serde_json::json;

use crate::program::{run, scratch, told};

/// Where the pictures of the last run can be looked at.
fn pictures() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("report")
}

/// Judges `path`, and gives the reports as HTML and as JSON.
#[track_caller]
fn reports(scratch: &Scratch, path: &str, name: &str, exit: i32) -> [PathBuf; 2] {
    let (html, json) = (format!("{name}.html"), format!("{name}.json"));
    let html_report = format!("html:{html}");
    let json_report = format!("json:{json}");
    let args = [
        "test",
        path,
        "--report",
        &html_report,
        "--report",
        &json_report,
    ];
    let finished = run(scratch, &args);
    assert_eq!(finished.code(), Some(exit), "{}", told(&finished));
    [scratch.work().join(html), scratch.work().join(json)]
}

/// A test whose every text tries to be something else.
fn write_hostile(scratch: &Scratch) {
    let script = "</script><script>window.stolen = 1</script><!--";
    let image = "\"'><img src=x onerror=\"window.stolen = 2\">";
    let right_to_left = "\u{202e}\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{202d}txt.exe\u{2066}";
    let long = "x".repeat(10_000);
    let template = "`${window.stolen = 3}` {{constructor.constructor('window.stolen=4')()}} &lt;b&gt; \\u003cscript\\u003e";
    let bundle = json!({
        "schema_version": "0.1", "adapter": "nanoclaw-replay",
        "scenario": {"group_id": image, "trigger": "user_message"},
        "input_messages": [{"role": "user", "content": script}],
        "script": [
            {"type": "tool_call", "event_id": "a&e=b#t=c %26\"'<i>", "tool": image, "call_id": script,
             "args": {(image): script, "__proto__": {"polluted": true}, "long": long, "url": "javascript:window.stolen=5"}},
            {"type": "tool_result", "tool": image, "call_id": script, "success": false,
             "result": [long, right_to_left, template, {(right_to_left): null}]},
            {"type": "error", "error_type": script, "message": long, "tool": image, "call_id": script},
            {"type": "memory_read", "source": right_to_left, "path": long, "content": template},
        ],
        "final_output": {"role": "assistant", "content": format!("{script}{image}{right_to_left}{template}")},
        "status": "failed",
        "metrics": {"timing_ms_total": 1e15},
    });
    let case = json!({
        "schema_version": "0.1", "id": "hostile.texts", "title": format!("{script}{template}{right_to_left}"),
        "tags": [script, long, right_to_left], "adapter": "nanoclaw", "adapter_input": {"replay_file": "replay.json"},
        "expected": {"failure_categories": [image]},
        "assertions": [
            {"id": format!("{script}{image}"), "type": "output_contains", "params": {"all_of": [format!("no {script}"), long]}},
            {"id": right_to_left, "type": "must_not_call_tool", "params": {"tool": image}},
            {"id": template, "type": "max_errors", "params": {"limit": 0}},
        ],
    });
    for (name, content) in [("replay.json", bundle), ("hostile.json", case)] {
        scratch.write(name, content.to_string()).expect("writable");
    }
}

#[test]
fn the_page_of_a_played_scenario_needs_no_javascript() {
    let Some(browser) = browser() else {
        return;
    };
    let scratch = scratch();
    let bash = |number: u64, command: &str, more: serde_json::Value| {
        let mut params = json!({"command": command});
        if let (Some(params), Some(more)) = (params.as_object_mut(), more.as_object()) {
            params.extend(more.clone());
        }
        json!({"step": number, "tool": "claude__bash", "params": params})
    };
    let mut last = bash(3, "exit 4", json!({"expect_exit": 0}));
    last["description"] = json!("must be quiet");
    let scenario = json!({
        "version": "2.1", "metadata": {"name": "Release <notes>"},
        "steps": [
            {"step": 1, "tool": "mcp__demo__echo", "params": {"message": "<b>bold</b> & more"}},
            bash(2, "exit 3", json!({})),
            last,
        ],
    });
    scratch
        .write("scenario.json", scenario.to_string())
        .expect("writable");
    let args = ["play", "scenario.json", "--report", "html:report.html"];
    let finished = run(&scratch, &args);
    assert_eq!(finished.code(), Some(1), "{}", told(&finished));
    std::fs::create_dir_all(pictures()).expect("a folder for pictures");
    browse(
        &scratch,
        "tests/report/play.mjs",
        browser,
        [scratch.work().join("report.html"), pictures()],
    );
}

#[test]
fn a_browser_shows_the_report_as_it_is_and_asks_nobody() {
    let Some(browser) = browser() else {
        return;
    };
    let mut scratch = scratch();
    scratch.limit(Duration::from_secs(240));
    let examples = repository_root().join("examples/tests");
    let [report, result] = reports(&scratch, &examples.display().to_string(), "examples", 3);
    write_hostile(&scratch);
    let [hostile, hostile_result] = reports(&scratch, "hostile.json", "hostile-report", 1);
    std::fs::create_dir_all(pictures()).expect("a folder for pictures");
    browse(
        &scratch,
        "tests/report/browser.mjs",
        browser,
        [report, result, hostile, hostile_result, pictures()],
    );
}

/// playwright-core, Node and Chromium. Nothing when peers are left out.
#[track_caller]
fn browser() -> Option<[PathBuf; 3]> {
    Some([
        peers::require("npm/node_modules/playwright-core")?,
        peers::require_program("node")?,
        peers::require_program("chromium-headless-shell")?,
    ])
}

/// Runs a script of the repository that opens reports in a browser.
#[track_caller]
fn browse(
    scratch: &Scratch,
    script: &str,
    [playwright, node, chromium]: [PathBuf; 3],
    files: impl IntoIterator<Item = PathBuf>,
) {
    let output = Command::new(node)
        .arg(repository_root().join(script))
        .arg(playwright)
        .arg(chromium)
        .args(files)
        .current_dir(scratch.work())
        .env("HOME", scratch.home())
        .output()
        .expect("node starts");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
