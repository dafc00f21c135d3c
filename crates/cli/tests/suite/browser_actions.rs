//! Scenarios of version 1.x and targets, on a page that remembers what was done to it, with servers of both kinds.

use cuecard_testing::peers;
use cuecard_testing::scratch::Scratch;
use serde_json::{Value, json};

use crate::browser::{NEWER, OLDER, Site, assert_png, with_server};
use crate::program::{self, Played, read};

/// What happens is kept for as long as the tab lives, so that it survives navigation. The three elements with an id in
/// the order of the page are the first three of a snapshot.
pub(crate) const PAGE: &str = r##"<!doctype html>
<meta charset="utf-8">
<title>Sign in</title>
<body style="margin: 0; min-width: 4000px">
<button onclick="note('first')">First</button>
<h1>Sign in</h1>
<button onclick="note('signed in')">Sign in</button>
<div class="plain" onclick="note('plain')">Plain <b>words</b></div>
<a id="menu" href="#menu" onmouseover="note('over')"><h2>Menu</h2></a>
<label>Name <input id="name"></label>
<input id="free" aria-label="Free" aria-keyshortcuts="f">
<ul>
<li id="milk">Milk <button class="delete" onclick="note('no milk')">Delete</button></li>
<li id="tea">Tea <button class="delete" onclick="note('no tea')">Delete</button></li>
</ul>
<div aria-hidden="true"><button class="hidden">Hidden</button></div>
<iframe srcdoc="<button class='framed'>Framed</button>"></iframe>
<p id="late"></p>
<div style="height: 9000px"></div>
<script>
const noted = () => JSON.parse(sessionStorage.getItem('noted') ?? '[]');
const note = what => sessionStorage.setItem('noted', JSON.stringify([...noted(), what]));
window.addEventListener('pageshow', () => note('shown ' + location.search));
document.addEventListener('keydown', event => { if (event.target.id !== 'name') note('key ' + event.key); });
setTimeout(() => { document.querySelector('#late').textContent = 'All is here'; }, 50);
const state = () => ({
  noted: noted(), x: window.scrollX, y: window.scrollY, height: window.innerHeight,
  name: document.querySelector('#name').value, free: document.querySelector('#free').value,
  marks: Array.from(document.querySelectorAll('[aria-keyshortcuts]')).map(element => element.getAttribute('aria-keyshortcuts')),
});
</script>
"##;

/// Every action, with every way to say its parameters that works without a recording.
const EVERY_ACTION: &str = r##"{
    "version": "1.1",
    "variables": { "SITE": "", "WHO": "Ada", "PIXELS": "7", "WAY": "down" },
    "environment": { "viewport": { "width": 911, "height": 613 } },
    "steps": [
        { "step": 1, "action": "navigate", "params": { "url": "{{SITE}}/actions" } },
        { "step": 2, "tool": "mcp__chrome-devtools__take_snapshot", "params": {} },
        { "step": 3, "action": "click", "params": { "uid": "1_1" } },
        { "step": 4, "action": "navigate", "params": { "url": "{{SITE}}/actions?two" } },
        { "step": 5, "action": "navigate", "params": { "url": "back" } },
        { "step": 6, "action": "navigate", "params": { "url": "forward" } },
        { "step": 7, "action": "navigate", "params": { "url": "reload" } },
        { "step": 8, "action": "wait_for_text", "params": { "text": "All is here", "timeout": 60 } },
        { "step": 9, "action": "click", "params": { "text": "Sign in" } },
        { "step": 10, "action": "click", "params": { "selector": "div.plain" } },
        { "step": 11, "action": "click", "params": { "selector": "#tea button", "text": "Delete" } },
        { "step": 12, "action": "hover", "params": { "text": "Menu" } },
        { "step": 13, "action": "fill", "params": { "selector": "#name", "value": "{{WHO}} é" } },
        { "step": 14, "action": "click", "params": { "selector": "#free" } },
        { "step": 15, "action": "type", "params": { "text": "a+B {{PIXELS}}" } },
        { "step": 16, "action": "key", "params": { "key": "Backspace" } },
        { "step": 17, "id": "before", "tool": "mcp__chrome-devtools__evaluate_script",
          "params": { "function": "() => performance.now()" }, "output": { "ms": "$" } },
        { "step": 18, "action": "wait", "params": { "ms": 120 } },
        { "step": 19, "action": "wait", "params": { "seconds": 0.12 } },
        { "step": 20, "action": "wait", "params": { "duration": "{{NONE | default(\"0.12\")}}" } },
        { "step": 21, "id": "waited", "tool": "mcp__chrome-devtools__evaluate_script",
          "params": { "function": "() => performance.now() - {{before.ms}} >= 360" }, "output": { "enough": "$" } },
        { "step": 22, "action": "scroll", "params": { "x": "{{PIXELS}}", "y": 300 } },
        { "step": 23, "action": "scroll", "params": { "direction": "{{WAY}}", "amount": 100 } },
        { "step": 24, "action": "scroll", "params": { "direction": "right", "amount": "{{PIXELS}}" } },
        { "step": 25, "action": "scroll", "params": { "direction": "down" } },
        { "step": 26, "action": "screenshot", "params": { "path": "pictures/new/page.png" } },
        { "step": 27, "id": "state", "tool": "mcp__chrome-devtools__evaluate_script",
          "params": { "function": "() => state()" }, "output": { "all": "$" } }
    ]
}
"##;

fn play(scratch: &Scratch, file: &str, site: &Site, exit: i32) -> Played {
    let site = format!("SITE={}", site.url(""));
    program::play(
        scratch,
        &[file, "--include-results", "true", "--var", &site],
        exit,
    )
}

/// Plays every action, as the file says it and as its conversion says it: both do the same to the page.
#[track_caller]
fn every_action_takes_effect(server: &str) {
    let Some(scratch) = with_server(server) else {
        return;
    };
    let site = Site::start();
    scratch.write("old.json", EVERY_ACTION).expect("writable");
    let converted = program::run(&scratch, &["convert", "old.json", "-o", "new.json"]);
    assert_eq!(converted.code(), Some(0), "{}", program::told(&converted));
    assert!(!read(&scratch, "new.json").contains("\"action\""));

    for file in ["old.json", "new.json"] {
        let played = play(&scratch, file, &site, 0);
        assert_eq!(played.json["scenario_name"], "old", "{file}");
        assert_eq!(played.statuses(), ["passed"; 27], "{file}");
        assert_eq!(played.output("waited", "enough"), true, "{file}");
        assert_eq!(
            played.output("state", "all"),
            &json!({
                "noted": [
                    "shown ", "first", "shown ?two", "shown ", "shown ?two", "shown ?two", "signed in", "plain",
                    "no tea", "over", "key a", "key +", "key B", "key  ", "key 7", "key Backspace",
                ],
                "x": 14, "y": 1013, "height": 613, "name": "Ada é", "free": "a+B ", "marks": ["f"],
            }),
            "{file}"
        );
        let picture = scratch.work().join("pictures/new/page.png");
        assert_png(&picture, 911, 613);
        std::fs::remove_dir_all(scratch.work().join("pictures")).expect("it was written");
    }
    // The trace says what was clicked, and a dry run against the server has nothing to say.
    for run in program::run_dirs(&scratch) {
        let trace = std::fs::read_to_string(run.join("trace.jsonl")).expect("a trace");
        let found = "the target is button \\\"Sign in\\\", uid ";
        assert!(trace.contains(found), "{trace}");
    }
    let site = format!("SITE={}", site.url(""));
    let dry = program::run(
        &scratch,
        &["play", "new.json", "--dry-run", "--connect", "--var", &site],
    );
    assert_eq!(dry.code(), Some(0), "{}", program::told(&dry));
}

#[test]
fn every_action_takes_effect_on_a_newer_server() {
    every_action_takes_effect(NEWER);
}

#[test]
fn every_action_takes_effect_on_an_older_server() {
    every_action_takes_effect(OLDER);
}

/// Steps with a target that fits no element, or several; what a failed step says; and that the page is as before.
#[track_caller]
fn a_target_must_fit_one_element(server: &str) {
    let Some(scratch) = with_server(server) else {
        return;
    };
    let site = Site::start();
    let click = |target: Value| json!({"tool": "mcp__chrome-devtools__click", "params": {}, "target": target, "on_error": "skip"});
    let evaluate = |id: &str, function: &str| json!({"id": id, "tool": "mcp__chrome-devtools__evaluate_script", "params": {"function": function}, "output": {"value": "$"}});
    let steps = [
        json!({"tool": "mcp__chrome-devtools__navigate_page", "params": {"url": "{{SITE}}/actions"}}),
        // A list, as newer servers want it; older ones want the text.
        json!({"tool": "mcp__chrome-devtools__wait_for", "params": {"text": ["All is here"]}}),
        evaluate("quote", "() => '\"); note(`stolen`); (\"'"),
        click(json!({"text": "Sign in now"})),
        click(json!({"text": "Delete"})),
        click(json!({"selector": ".delete"})),
        click(json!({"selector": ".delete", "text": "Keep"})),
        click(json!({"selector": "a[href='{{quote.value}}']"})),
        click(json!({"selector": "{{quote.value}}"})),
        click(json!({"selector": ".framed"})),
        click(json!({"selector": ".hidden"})),
        json!({"tool": "mcp__chrome-devtools__press_key", "params": {"key": "a"}, "target": {"text": "First"}, "on_error": "skip"}),
        evaluate(
            "state",
            "() => ({ noted: state().noted, marks: state().marks })",
        ),
        json!({"tool": "mcp__chrome-devtools__click", "params": {}, "target": {"text": "{{WHAT}}"}}),
    ];
    let steps: Vec<Value> = steps
        .into_iter()
        .enumerate()
        .map(|(index, mut step)| {
            step["step"] = json!(index + 1);
            step
        })
        .collect();
    let scenario = json!({
        "version": "2.1", "metadata": {"name": "Targets"}, "variables": {"SITE": "", "WHAT": "Delete"}, "steps": steps,
    });
    scratch
        .write("targets.json", scenario.to_string())
        .expect("writable");
    let played = play(&scratch, "targets.json", &site, 1);
    for (number, code, error) in [
        (
            4,
            "C-TARGET-02",
            "element not found: nothing on the page has the text `Sign in now`",
        ),
        (
            5,
            "C-TARGET-02",
            "2 elements of the page have the text `Delete`",
        ),
        (
            6,
            "C-TARGET-02",
            "2 elements of the page have the selector `.delete`",
        ),
        (
            7,
            "C-TARGET-02",
            "element not found: nothing on the page has the selector `.delete` with the text `Keep`",
        ),
        (
            8,
            "C-TARGET-02",
            "element not found: nothing on the page has the selector `a[href='\"); note(`stolen`); (\"']`",
        ),
        (
            9,
            "C-PARAM-02",
            "the selector `\"); note(`stolen`); (\"` can't be read: ",
        ),
        (
            10,
            "C-TARGET-02",
            "element not found: nothing on the page has the selector `.framed`",
        ),
        (
            11,
            "C-TARGET-02",
            "the element with the selector `.hidden` is hidden: it is not in the page's accessibility tree",
        ),
        (
            12,
            "C-PARAM-02",
            "`press_key` does not act on an element: it has no `uid` for a target",
        ),
    ] {
        let step = played.step(number);
        assert_eq!(
            (&step["status"], &step["code"]),
            (&json!("tolerated"), &json!(code)),
            "{step:#}"
        );
        let said = step["error"].as_str().expect("an error");
        assert!(said.starts_with(error), "{number}: {said}");
    }
    // Nothing was clicked, nothing was run, and no mark stayed.
    assert_eq!(
        played.output("state", "value"),
        &json!({"noted": ["shown "], "marks": ["f"]})
    );
    for part in [
        "2 elements of the page have the text `Delete`",
        "they are: button \"Delete\"",
        "`{{WHAT}}` was \"Delete\"",
        "specify which one, for example with",
    ] {
        assert!(played.stderr.contains(part), "{part}: {}", played.stderr);
    }
}

#[test]
fn a_target_must_fit_one_element_of_a_newer_server() {
    a_target_must_fit_one_element(NEWER);
}

#[test]
fn a_target_must_fit_one_element_of_an_older_server() {
    a_target_must_fit_one_element(OLDER);
}

#[test]
fn a_text_with_a_character_that_no_key_has_is_filled_in_not_typed() {
    let Some(scratch) = with_server(OLDER) else {
        return;
    };
    let site = Site::start();
    let scenario = json!({"version": "1.1", "variables": {"SITE": ""}, "steps": [
        {"step": 1, "action": "navigate", "params": {"url": "{{SITE}}/actions"}},
        {"step": 2, "action": "click", "params": {"selector": "#free"}},
        {"step": 3, "action": "type", "params": {"text": "caf\u{e9}"}},
    ]});
    scratch
        .write("typed.json", scenario.to_string())
        .expect("writable");
    let played = play(&scratch, "typed.json", &site, 1);
    let error = played.step(3)["error"].as_str().expect("an error");
    assert!(
        error.starts_with("the key `\u{e9}` can't be pressed: "),
        "{error}"
    );
    for part in ["3 of 4 were typed", "use `fill` to enter arbitrary text"] {
        assert!(played.stderr.contains(part), "{part}: {}", played.stderr);
    }
}

#[test]
fn the_path_of_a_screenshot_that_the_server_refuses_is_judged_as_ours() {
    let Some(scratch) = with_server(OLDER) else {
        return;
    };
    let site = Site::start();
    let scenario = json!({"version": "2.1", "metadata": {"name": "Paths"}, "variables": {"SITE": ""}, "steps": [
        {"step": 1, "tool": "mcp__chrome-devtools__navigate_page", "params": {"url": "{{SITE}}/actions"}},
        {"step": 2, "id": "name", "tool": "mcp__chrome-devtools__evaluate_script", "params": {"function": "() => '../outside/page.png'"},
         "output": {"path": "$"}},
        // The folder is not there, which this version of the server refuses.
        {"step": 3, "tool": "mcp__chrome-devtools__take_screenshot", "params": {"filePath": "{{name.path}}"}},
    ]});
    scratch
        .write("paths.json", scenario.to_string())
        .expect("writable");
    let played = play(&scratch, "paths.json", &site, 1);
    assert_eq!(played.step(3)["code"], "C-SAFE-01", "{:#}", played.step(3));
    assert!(!scratch.work().join("../outside").exists());
}

#[test]
fn a_scenario_plays_on_another_browser_server() {
    let Some(server) = peers::require("npm/node_modules/@playwright/mcp/cli.js") else {
        return;
    };
    let (Some(node), Some(chromium)) = (
        peers::require_program("node"),
        peers::require_program("chromium-headless-shell"),
    ) else {
        return;
    };
    let mut scratch = program::scratch();
    scratch.limit(std::time::Duration::from_secs(240));
    let config = json!({"mcpServers": {"playwright": {
        "command": node,
        "args": [server, "--headless", "--isolated", "--no-sandbox", "--executable-path", chromium],
    }}});
    scratch
        .write(".mcp.json", config.to_string())
        .expect("writable");
    let site = Site::start();
    let scenario = json!({"version": "2.1", "metadata": {"name": "Playwright"}, "variables": {"SITE": ""}, "steps": [
        {"step": 1, "tool": "mcp__playwright__browser_navigate", "params": {"url": "{{SITE}}/actions"}},
        {"step": 2, "tool": "mcp__playwright__browser_snapshot", "params": {}, "expect": {"contains": "button \"First\" [ref=e2]"}},
        {"step": 3, "tool": "mcp__playwright__browser_click", "params": {"element": "First", "target": "e2"}},
        {"step": 4, "tool": "mcp__playwright__browser_evaluate", "params": {"function": "() => state().noted.join(', ')"},
         "expect": {"contains": "shown , first"}},
        {"step": 5, "tool": "sandy__wait_until", "params": {"mcp_server": "playwright", "expression": "() => state().noted.length === 2"}},
        {"step": 6, "tool": "mcp__playwright__browser_click", "params": {"element": "First"}, "target": {"text": "First"}},
        {"step": 7, "tool": "sandy__wait_until", "params": {"mcp_server": "playwright", "expression": "() => document.title === 'never'", "timeout": 0.1}, "on_error": "skip"},
    ]});
    scratch
        .write("other.json", scenario.to_string())
        .expect("writable");
    let played = play(&scratch, "other.json", &site, 0);
    let statuses = played.statuses();
    assert_eq!(statuses[..6], ["passed"; 6]);
    assert_eq!(statuses[6], "tolerated", "a function is called, not true");
}
