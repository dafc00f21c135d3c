use proptest::prelude::*;
use serde_json::json;

use super::texts::{Names, Part, escaped, quoted};
use super::*;
use crate::format::read_steps;
use crate::model::StepsFile;
use cuecard_source::value::Json;
use cuecard_tool_call::format as tool_call;

fn file(steps: Json) -> (SourceFile, StepsFile) {
    let text = json!({
        "version": "cuecard-steps/1", "url": "https://shop.example/login?x=1", "testSteps": steps,
        "variables": {"USER": "ana", "EMPTY": null}, "secrets": ["DOOR"],
    });
    let source = SourceFile::new("login.steps.json", format!("{text:#}"));
    let reading = read_steps(&source);
    let steps = reading
        .steps
        .unwrap_or_else(|| panic!("{:#?}", reading.diagnostics));
    (source, steps)
}

fn step(members: Json) -> Json {
    let mut step = json!({"id": "st-1", "description": "do it", "action": "click"});
    if let (Some(step), Json::Object(members)) = (step.as_object_mut(), members) {
        step.extend(members);
    }
    step
}

fn on(selector: &str, more: Json) -> Json {
    let mut step = step(more);
    step["selectors"] = json!([selector]);
    step
}

fn tool_call(step: Json, server: ToolCallServer) -> (Json, Vec<String>) {
    let (source, steps) = file(json!([step]));
    let exported = to_tool_call(&steps, &source, server);
    let read = tool_call::read(&SourceFile::new("x.json", exported.text.as_str()));
    assert!(read.scenario.is_some(), "{:#?}", read.diagnostics);
    let scenario: Json = serde_json::from_str(&exported.text).expect("JSON");
    let warnings = exported.warnings.into_iter();
    (
        scenario["steps"][1].clone(),
        warnings.map(|warning| warning.message).collect(),
    )
}

#[test]
fn selectors_become_targets() {
    for (selector, target) in [
        ("testid=go", json!({"selector": "[data-testid=\"go\"]"})),
        (
            "role=button[name=\"Log in\"]",
            json!({"role": "button", "name": "Log in"}),
        ),
        (
            "within=role=row[name=\"{{USER}}\"] >> role=button[name=\"Delete\"]",
            json!({"role": "button", "name": "Delete", "within": {"role": "row", "name": "{{USER}}"}}),
        ),
        (
            "within=role=row >> has-text=\"{{USER}}\" >> role=button[name=\"Delete\"]",
            json!({"role": "button", "name": "Delete", "within": {"role": "row", "text": "{{USER}}"}}),
        ),
        (
            "within=role=row >> has-text=\"Bob\" >> testid=go",
            json!({"selector": "[data-testid=\"go\"]", "within": {"role": "row", "text": "Bob"}}),
        ),
        (
            "role=button[name=\"Delete\"] >> nth=0",
            json!({"role": "button", "name": "Delete", "nth": 1}),
        ),
        (
            "text=\"Read {{more}}\"",
            json!({"text": "Read {{\"{{\"}}more}}"}),
        ),
        ("css=#go", json!({"selector": "#go"})),
    ] {
        for server in [ToolCallServer::ChromeDevtools, ToolCallServer::Playwright] {
            let (call, _) = tool_call(on(selector, json!({})), server);
            assert_eq!(call["target"], target, "{selector}");
        }
    }
}

#[test]
fn what_a_target_can_not_say_is_said_by_the_fingerprint_or_not_at_all() {
    let mut framed = on("frame=css=#pay >> css=#go", json!({}));
    framed["fingerprint"] =
        json!({"role": "button", "name": "Pay", "tag": "button", "ordinal": 2, "of": 3});
    let (call, warnings) = tool_call(framed, ToolCallServer::ChromeDevtools);
    assert_eq!(call, Json::Null);
    assert_eq!(
        warnings,
        [
            "step 1 (do it): only its place tells its element from others, and a target can't say that place, so it is skipped"
        ]
    );
    let mut in_frame = on("frame=css=#pay >> css=#go", json!({}));
    in_frame["fingerprint"] = json!({
        "role": "button", "name": "Pay", "tag": "button", "ordinal": 2, "of": 3,
        "path": ["frame \"Card\"", "main"],
    });
    let (call, warnings) = tool_call(in_frame, ToolCallServer::ChromeDevtools);
    assert_eq!(
        call["target"],
        json!({"role": "button", "name": "Pay", "within": {"role": "iframe", "name": "Card"}})
    );
    assert!(warnings.is_empty(), "{warnings:?}");
    // Targets have no word for the last.
    let mut last = on("role=button[name=\"Pay\"] >> nth=-1", json!({}));
    last["fingerprint"] = json!({
        "role": "button", "name": "Pay", "tag": "button", "ordinal": 3, "of": 3, "position": -1,
    });
    let (call, warnings) = tool_call(last, ToolCallServer::ChromeDevtools);
    assert_eq!(call, Json::Null);
    assert_eq!(warnings.len(), 1);
    let unsaid = on("xpath=/html/body/div[3]", json!({}));
    let (call, warnings) = tool_call(unsaid, ToolCallServer::ChromeDevtools);
    assert_eq!(call, Json::Null);
    assert_eq!(
        warnings,
        ["step 1 (do it): its element can't be expressed as a target, so it is skipped"]
    );
}

#[test]
fn actions_become_the_calls_of_each_server() {
    let field = "role=textbox[name=\"E-mail\"]";
    let [devtools, playwright] = [ToolCallServer::ChromeDevtools, ToolCallServer::Playwright];
    for (step, server, tool, params) in [
        (
            on(field, json!({"action": "input", "value": "{{USER}}"})),
            devtools,
            "fill",
            json!({"value": "{{USER}}"}),
        ),
        (
            on(field, json!({"action": "input", "value": 5})),
            playwright,
            "browser_type",
            json!({"text": "5"}),
        ),
        (
            on(field, json!({"action": "doubleClick"})),
            devtools,
            "click",
            json!({"dblClick": true}),
        ),
        (
            on(field, json!({"action": "rightClick"})),
            playwright,
            "browser_click",
            json!({"button": "right"}),
        ),
        (
            on(field, json!({"action": "select", "value": "A"})),
            playwright,
            "browser_select_option",
            json!({"values": ["A"]}),
        ),
        (
            on(field, json!({"action": "upload", "value": "a.png"})),
            devtools,
            "upload_file",
            json!({"filePaths": ["a.png"]}),
        ),
        (
            step(json!({"action": "press", "key": "Enter"})),
            playwright,
            "browser_press_key",
            json!({"key": "Enter"}),
        ),
        (
            step(json!({"action": "navigate", "url": "back"})),
            devtools,
            "navigate_page",
            json!({"type": "back"}),
        ),
        (
            on(field, json!({"action": "input", "value": true})),
            playwright,
            "browser_fill_form",
            json!({"fields": [{"name": "do it", "type": "checkbox", "value": "true"}]}),
        ),
    ] {
        let (call, _) = tool_call(step, server);
        assert_eq!(call["tool"], format!("mcp__{}__{tool}", server.as_str()));
        assert_eq!(call["params"], params, "{tool}");
    }
    let drag = on(
        field,
        json!({"action": "drag", "to": {"selectors": ["role=list[name=\"Done\"]"]}}),
    );
    for (server, tool, from, onto, n_warnings) in [
        (devtools, "drag", "from_uid", "to_uid", 0),
        (playwright, "browser_drag", "startTarget", "endTarget", 1),
    ] {
        let (call, warnings) = tool_call(drag.clone(), server);
        assert_eq!(call["tool"], format!("mcp__{}__{tool}", server.as_str()));
        let (field, list) = (&call["targets"][from], &call["targets"][onto]);
        assert_eq!(*field, json!({"role": "textbox", "name": "E-mail"}));
        assert_eq!(*list, json!({"role": "list", "name": "Done"}));
        assert_eq!(warnings.len(), n_warnings, "{warnings:?}");
    }
    let (call, _) = tool_call(
        step(json!({"action": "wait", "durationMs": 1500})),
        devtools,
    );
    assert_eq!(call["tool"], "sandy__wait");
    let (call, _) = tool_call(
        on(field, json!({"action": "input", "value": true})),
        playwright,
    );
    assert_eq!(
        call["targets"],
        json!({"fields[0].target": {"role": "textbox", "name": "E-mail"}})
    );
}

#[test]
fn a_call_is_tried_again_while_its_element_is_not_ready() {
    let [devtools, playwright] = [ToolCallServer::ChromeDevtools, ToolCallServer::Playwright];
    for (server, said) in [
        (devtools, "did not become interactive"),
        (playwright, "element is not enabled"),
    ] {
        let (call, _) = tool_call(on("css=#go", json!({"timeout": 2000})), server);
        let conditions = call["retry"]["condition"].as_array().expect("a list");
        for text in ["element not found", said] {
            assert!(conditions.contains(&json!(text)), "{conditions:?}");
        }
        assert_eq!(
            (&call["retry"]["count"], &call["retry"]["max_ms"]),
            (&json!(8), &json!(2000))
        );
    }
}

/// A step that asserts something of the page, whose text is `page`.
fn assertion(kind: &str, selector: &str, value: Json, page: &str) -> Json {
    let mut step = step(json!({
        "action": "assert", "value": value, "assertion": {"kind": kind},
        "context": {"domStructureSnapshot": page},
    }));
    if !selector.is_empty() {
        step["selectors"] = json!([selector]);
    }
    step
}

#[test]
fn what_scripts_do_not_see_is_asserted_of_a_snapshot() {
    let frames = "url: x\nframe \"Pay\" src=https://pay.example/\n  [0] button \"Pay\"\n";
    let in_row = "within=role=row[name=\"A\"] >> role=button[name=\"Go\"]";
    let mut absent = assertion("text", "", json!("{{USER}} is gone"), "url: x\n");
    absent["assertion"]["negate"] = true.into();
    let mut many = assertion("count", "role=button[name=\"Go\"]", json!(20), "");
    many["assertion"]["compare"] = ">=".into();
    let mut hidden = assertion("visible", in_row, Json::Null, "");
    hidden["assertion"]["negate"] = true.into();
    for (step, expect) in [
        (
            assertion("text", "", json!("Paid"), frames),
            json!({"shows": "Paid"}),
        ),
        (absent, json!({"lacks": "{{USER}} is gone"})),
        (
            assertion("count", in_row, json!(2), ""),
            json!({"elements": {"role": "button", "name": "Go", "within": {"role": "row", "name": "A"}, "count": 2}}),
        ),
        (
            many,
            json!({"elements": {"role": "button", "name": "Go", "count": {"min": 20}}}),
        ),
        (
            hidden,
            json!({"elements": {"role": "button", "name": "Go", "within": {"role": "row", "name": "A"}, "count": 0}}),
        ),
    ] {
        let (call, warnings) = tool_call(step, ToolCallServer::ChromeDevtools);
        assert_eq!(call["tool"], "mcp__chrome-devtools__take_snapshot");
        assert_eq!(call["expect"], expect);
        assert!(warnings.is_empty(), "{warnings:?}");
    }
    let plain = assertion("text", "", json!("Paid"), "url: x\n| Paid\n");
    let (call, _) = tool_call(plain, ToolCallServer::ChromeDevtools);
    assert_eq!(call["tool"], "mcp__chrome-devtools__evaluate_script");
}

#[test]
fn addresses_from_a_path_on_are_left_to_the_page() {
    let [devtools, playwright] = [ToolCallServer::ChromeDevtools, ToolCallServer::Playwright];
    let to = |url: &str| step(json!({"action": "navigate", "url": url}));
    let (call, _) = tool_call(to("./home?x=1"), devtools);
    assert_eq!(
        call["params"]["function"],
        "() => { location.assign(\"./home?x=1\"); }"
    );
    let (call, _) = tool_call(to("{{USER}}/home"), playwright);
    assert_eq!(call["params"], json!({"url": "{{USER}}/home"}));
    let (call, warnings) = tool_call(to("/{{USER}}"), playwright);
    assert_eq!(call, Json::Null);
    assert!(warnings[0].ends_with("so it is skipped"), "{warnings:?}");
}

#[test]
fn prompts_are_answered_with_what_they_suggest() {
    let dialog = |more: Json| {
        let mut dialog = json!({"kind": "prompt", "message": "Who?", "accepted": true});
        if let (Some(dialog), Json::Object(more)) = (dialog.as_object_mut(), more) {
            dialog.extend(more);
        }
        let steps = json!([on("css=#go", json!({"observed": {"dialogs": [dialog]}}))]);
        let (source, steps) = file(steps);
        let exported = to_tool_call(&steps, &source, ToolCallServer::ChromeDevtools);
        let scenario: Json = serde_json::from_str(&exported.text).expect("JSON");
        (
            scenario["steps"][2]["params"].clone(),
            exported.warnings.len(),
        )
    };
    assert_eq!(
        dialog(json!({"defaultValue": "Ana"})),
        (json!({"action": "accept", "promptText": "Ana"}), 0)
    );
    // Older steps don't tell.
    assert_eq!(dialog(json!({})), (json!({"action": "accept"}), 1));
    assert_eq!(
        dialog(json!({"accepted": false})),
        (json!({"action": "dismiss"}), 0)
    );
}

#[test]
fn what_is_scrolled_to_is_searched_for_unless_it_is_in_a_part_of_the_page() {
    let scroll = |selector: &str| {
        let mut step = on(selector, json!({"action": "scroll"}));
        step["fingerprint"] =
            json!({"role": "heading", "name": "End", "tag": "h2", "ordinal": 1, "of": 1});
        tool_call(step, ToolCallServer::Playwright).0
    };
    let searched = scroll("role=heading[name=\"End\"]");
    let function = searched["params"]["function"].as_str().expect("a script");
    for part in ["wanted = \"End\"", "querySelectorAll(\"h1, h2, "] {
        assert!(function.contains(part), "{function}");
    }
    assert_eq!(searched["target"], Json::Null);
    let item = scroll("within=role=listitem >> has-text=\"Z\" >> role=heading[name=\"End\"]");
    assert_eq!(item["target"], Json::Null);
    let framed = scroll("frame=css=#f >> role=heading[name=\"End\"]");
    assert_eq!(framed["target"], json!({"role": "heading", "name": "End"}));
}

#[test]
fn a_foreign_frame_in_a_frame_can_not_be_said_for_devtools() {
    let page = |source: &str| {
        format!(
            "url: http://a.example/\nframe \"Outer\" src=outer\n  frame \"Inner\" src={source}\n"
        )
    };
    let left_out = |source: &str, server| {
        let mut inner = on(
            "frame=css=#o >> frame=css=#i >> role=button[name=\"Pay\"]",
            json!({"context": {"domStructureSnapshot": page(source)}}),
        );
        inner["fingerprint"] =
            json!({"role": "button", "name": "Pay", "tag": "button", "ordinal": 1, "of": 1});
        tool_call(inner, server).0 == Json::Null
    };
    let [devtools, playwright] = [ToolCallServer::ChromeDevtools, ToolCallServer::Playwright];
    assert!(left_out("https://pay.example/x", devtools));
    assert!(!left_out("https://pay.example/x", playwright));
    assert!(!left_out("http://a.example:8080/x", devtools));
    assert!(!left_out("inner.html", devtools));
    let text = assertion("text", "", json!("Paid"), &page("https://pay.example/x"));
    let (_, warnings) = tool_call(text, devtools);
    assert!(warnings[0].contains("does not see"), "{warnings:?}");
}

#[test]
fn a_field_is_emptied_by_a_key() {
    let cleared = on("css=#name", json!({"action": "input", "value": ""}));
    let (source, steps) = file(json!([cleared]));
    let exported = to_tool_call(&steps, &source, ToolCallServer::ChromeDevtools);
    let scenario: Json = serde_json::from_str(&exported.text).expect("JSON");
    assert_eq!(scenario["steps"][1]["target"], json!({"selector": "#name"}));
    assert_eq!(scenario["steps"][2]["params"], json!({"key": "Backspace"}));
}

#[test]
fn shadow_roots_are_opened_for_playwright() {
    let mut inside = on("shadow=css=x-a >> role=button[name=\"Go\"]", json!({}));
    inside["fingerprint"] =
        json!({"role": "button", "name": "Go", "tag": "button", "ordinal": 1, "of": 1});
    let (source, steps) = file(json!([inside]));
    let exported = to_tool_call(&steps, &source, ToolCallServer::Playwright);
    let scenario: Json = serde_json::from_str(&exported.text).expect("JSON");
    assert_eq!(
        scenario["steps"][0]["tool"],
        "mcp__playwright__browser_run_code_unsafe"
    );
    assert_eq!(exported.warnings.len(), 1);
    let exported = to_playwright(&steps, &source);
    assert!(
        exported.text.contains("mode: \"open\""),
        "{}",
        exported.text
    );
    assert_eq!(exported.warnings.len(), 1);
    let exported = to_tool_call(&steps, &source, ToolCallServer::ChromeDevtools);
    assert!(exported.warnings.is_empty(), "{:?}", exported.warnings);
}

#[test]
fn secrets_that_nothing_marks_are_pointed_out() {
    let typed = on("css=#pin", json!({"action": "input", "value": "{{DOOR}}"}));
    let (_, warnings) = tool_call(typed, ToolCallServer::ChromeDevtools);
    assert_eq!(
        warnings,
        ["step 1 (do it): `DOOR` is a secret, which a scenario can't say"]
    );
}

/// The lines of the test that a step becomes.
fn spec(step: Json) -> String {
    let (source, steps) = file(json!([step]));
    let exported = to_playwright(&steps, &source);
    let (_, body) = exported.text.split_once("test.step(").expect("a step");
    body.lines().nth(1).expect("a line").trim().to_owned()
}

#[test]
fn steps_become_statements_of_playwright() {
    let locator = "page.getByRole(\"button\", { name: \"Go\", exact: true })";
    let go = "role=button[name=\"Go\"]";
    for (step, line) in [
        (on(go, json!({})), format!("await {locator}.click();")),
        (on(go, json!({"timeout": 300})), format!("await {locator}.click({{ timeout: 300 }});")),
        (
            on("testid=a", json!({"action": "input", "value": "`{{USER}}`"})),
            "await page.getByTestId(\"a\").fill(`\\`${variables.USER}\\``);".to_owned(),
        ),
        (
            on("placeholder=\"x\"", json!({"action": "input", "value": true})),
            "await page.getByPlaceholder(\"x\", { exact: true }).check();".to_owned(),
        ),
        (
            on("frame=css=#f >> shadow=css=x-a >> label=\"L\"", json!({"action": "hover"})),
            "await page.frameLocator(\"#f\").locator(\"x-a\").getByLabel(\"L\", { exact: true }).hover();".to_owned(),
        ),
        (
            on("within=role=row[name=\"A\"] >> role=button[name=\"Go\"] >> nth=1", json!({})),
            "await page.getByRole(\"row\").filter({ hasText: \"A\" }).getByRole(\"button\", { name: \"Go\", exact: true }).nth(1).click();".to_owned(),
        ),
        (
            step(json!({"action": "navigate", "url": "https://shop.example/cart#a"})),
            "await page.goto(\"/cart#a\");".to_owned(),
        ),
        (
            step(json!({"action": "navigate", "url": "./cart"})),
            "await page.goto(new URL(\"./cart\", page.url()).href);".to_owned(),
        ),
        (
            on(go, json!({"action": "scroll"})),
            format!("await scrollTo(page, {locator}, 30000);"),
        ),
        (
            assertion("count", go, json!(2), "frame \"Pay\"\n"),
            "await expect.poll(() => countInFrames(page, (frame) => frame.getByRole(\"button\", { name: \"Go\" }))).toBe(2);".to_owned(),
        ),
        (
            assertion("count", go, json!(2), "[0] button \"go\"\n"),
            "await expect(page.getByRole(\"button\", { name: \"Go\" })).toHaveCount(2);".to_owned(),
        ),
        (
            assertion("count", go, json!(2), "[0] button \"Go\"\n[1] button \"Going\"\n"),
            format!("await expect({locator}).toHaveCount(2);"),
        ),
        (
            assertion("count", "text=\"Go\"", json!(2), "| Go\n| Gone\n"),
            "await expect(page.getByText(\"Go\", { exact: true }).filter({ visible: true })).toHaveCount(2);".to_owned(),
        ),
        (
            assertion("text", "", json!("Hi"), "frame \"Pay\"\n"),
            "await expect.poll(() => countInFrames(page, (frame) => frame.getByText(\"Hi\"))).toBeGreaterThan(0);".to_owned(),
        ),
        (
            step(json!({"action": "assert", "value": "Hi", "assertion": {"kind": "text"}})),
            "await expect(page.locator(\"body\")).toContainText(\"Hi\", { useInnerText: true, ignoreCase: true });".to_owned(),
        ),
        (
            on(go, json!({"action": "assert", "assertion": {"kind": "visible", "negate": true}})),
            format!("await expect({locator}).toBeHidden();"),
        ),
        (
            on(go, json!({"action": "assert", "value": 2, "assertion": {"kind": "count", "compare": ">="}})),
            format!("await expect.poll(() => {locator}.count()).toBeGreaterThanOrEqual(2);"),
        ),
        (
            step(json!({"action": "assert", "value": "a.b", "assertion": {"kind": "url", "match": "contains"}})),
            "await expect(page).toHaveURL(/a\\.b/);".to_owned(),
        ),
        (
            step(json!({"action": "assert", "value": "/home", "assertion": {"kind": "url", "match": "equals"}})),
            "await expect(page).toHaveURL((url) => url.pathname + url.search + url.hash === \"/home\");".to_owned(),
        ),
    ] {
        assert_eq!(spec(step), line);
    }
}

/// The line of the test that the last of several steps becomes, each with its page.
fn last_line(steps: &[(Json, &str)]) -> (String, Vec<String>) {
    let steps: Vec<Json> = steps
        .iter()
        .enumerate()
        .map(|(place, (step, page))| {
            let mut step = step.clone();
            step["id"] = format!("st-{place}").into();
            step["context"] = json!({"domStructureSnapshot": page});
            step
        })
        .collect();
    let (source, steps) = file(Json::Array(steps));
    let exported = to_playwright(&steps, &source);
    let line = exported.text.lines().rev().nth(2).expect("a line");
    let warnings = exported.warnings.into_iter();
    (
        line.trim().to_owned(),
        warnings.map(|warning| warning.message).collect(),
    )
}

#[test]
fn locators_say_what_people_read_and_positions_only_where_the_sentence_did() {
    let rows = "| Bob Brown\n[0] button \"Delete\"\n| Al\n[1] button \"Delete\"\n| Alma\n";
    let delete = "page.getByRole(\"button\", { name: \"Delete\", exact: true })";
    let in_row = |text: &str| {
        format!("within=role=row >> has-text=\"{text}\" >> role=button[name=\"Delete\"]")
    };
    let many = |selectors: &[&str], fingerprint: Json| {
        let mut many = step(json!({"selectors": selectors}));
        let mut known = json!({"role": "button", "name": "Delete", "tag": "button"});
        if let (Some(known), Json::Object(more)) = (known.as_object_mut(), fingerprint) {
            known.extend(more);
        }
        many["fingerprint"] = known;
        many
    };
    let nth = "role=button[name=\"Delete\"] >> nth=1";
    let xpath = "xpath=/html/body/button[2]";
    for (step, page, target) in [
        (
            on(&in_row("Bob Brown"), json!({})),
            rows,
            "page.getByRole(\"row\").filter({ hasText: \"Bob Brown\" }).getByRole(\"button\", { name: \"Delete\", exact: true })".to_owned(),
        ),
        // What may be a part of another text is looked for as a whole.
        (
            on(&in_row("Al"), json!({})),
            rows,
            "page.getByRole(\"row\").filter({ has: page.getByText(\"Al\", { exact: true }) }).getByRole(\"button\", { name: \"Delete\", exact: true })".to_owned(),
        ),
        (
            on(&in_row("Invoice 1"), json!({})),
            "| Invoice 1\n[0] button \"Delete\"\n",
            "page.getByRole(\"row\").filter({ has: page.getByText(\"Invoice 1\", { exact: true }) }).getByRole(\"button\", { name: \"Delete\", exact: true })".to_owned(),
        ),
        (
            on("within=css=div.card >> has-text=\"Bob Brown\" >> role=button", json!({})),
            rows,
            "page.locator(\"div.card\").filter({ hasText: \"Bob Brown\" }).getByRole(\"button\")".to_owned(),
        ),
        // A container that one selector says holds for the others.
        (
            many(&["testid=delete", &in_row("Bob Brown")], json!({})),
            rows,
            "page.getByRole(\"row\").filter({ hasText: \"Bob Brown\" }).getByTestId(\"delete\")".to_owned(),
        ),
        // Role and name, where only a place was kept.
        (many(&[xpath], json!({"ordinal": 1, "of": 1})), rows, delete.to_owned()),
        (many(&[nth], json!({"position": 2})), rows, format!("{delete}.nth(1)")),
        (
            many(&["css=#b", "role=button[name=\"Delete\"] >> nth=0"], json!({"position": 1})),
            rows,
            format!("{delete}.first()"),
        ),
        (
            many(&["role=button[name=\"Delete\"] >> nth=-1"], json!({"position": -1})),
            rows,
            format!("{delete}.last()"),
        ),
        // A shadow root needs no way in where the name is enough, or a named part around it.
        (
            many(&["shadow=xpath=/html/body/x-a[1] >> role=button[name=\"Delete\"]"], json!({"of": 1})),
            rows,
            delete.to_owned(),
        ),
        (
            many(
                &["shadow=xpath=/html/body/x-a[1] >> role=button[name=\"Delete\"]"],
                json!({"of": 2, "path": ["div", "group \"Al\"", "main"]}),
            ),
            rows,
            "page.getByRole(\"group\", { name: \"Al\", exact: true }).getByRole(\"button\", { name: \"Delete\", exact: true })".to_owned(),
        ),
        (
            on("css=iframe[title=\"x\"]", json!({})),
            rows,
            "page.locator('iframe[title=\"x\"]')".to_owned(),
        ),
    ] {
        let (line, warnings) = last_line(&[(step, page)]);
        assert_eq!(line, format!("await {target}.click();"));
        let is_root = |warning: &String| warning.contains("shadow roots");
        assert!(warnings.iter().all(is_root), "{warnings:?}");
    }
    for (selector, target) in [
        (nth, format!("{delete}.nth(1)")),
        (xpath, format!("page.locator(\"{xpath}\")")),
    ] {
        let (line, warnings) = last_line(&[(many(&[selector], json!({"of": 2})), rows)]);
        assert_eq!(line, format!("await {target}.click();"));
        assert!(warnings[0].contains("only by its position"), "{warnings:?}");
    }
}

#[test]
fn texts_are_asserted_of_the_page_or_of_a_place() {
    let text = |expected: &str| {
        step(json!({"action": "assert", "value": expected, "assertion": {"kind": "text"}}))
    };
    let mut absent = text("Milk");
    absent["assertion"]["negate"] = true.into();
    let within = |selector: &str, expected: &str| {
        let mut within = text(expected);
        within["selectors"] = json!([selector]);
        within
    };
    let mut in_row = text("Paid");
    in_row["fingerprint"] = json!({
        "role": "", "name": "", "tag": "td",
        "within": [{"kind": "row", "text": "Bob Brown", "at": "cell"}],
    });
    let body = "useInnerText: true, ignoreCase: true });";
    let in_row_of_bob = "await expect(page.getByRole(\"row\").filter({ hasText: \"Bob Brown\" }).getByText(\"Paid\")).toBeVisible();";
    for (step, page, line) in [
        (
            text("Saved"),
            "| Saved\n",
            format!("await expect(page.locator(\"body\")).toContainText(\"Saved\", {{ {body}"),
        ),
        (
            text("{{DOOR}}"),
            "| x\n",
            format!("await expect(page.locator(\"body\")).toContainText(variables.DOOR, {{ {body}"),
        ),
        (
            absent,
            "| x\n",
            "await expect(page.getByText(\"Milk\").filter({ visible: true })).toHaveCount(0);"
                .to_owned(),
        ),
        (
            within("css=#log", "Saved"),
            "| Saved\n",
            format!("await expect(page.locator(\"#log\")).toContainText(\"Saved\", {{ {body}"),
        ),
        (
            within(
                "within=role=row >> has-text=\"Bob Brown\" >> text=\"Paid\"",
                "Paid",
            ),
            "| Bob Brown\n| Paid\n",
            in_row_of_bob.to_owned(),
        ),
        (in_row, "| Bob Brown\n| Paid\n", in_row_of_bob.to_owned()),
    ] {
        let (written, _) = last_line(&[(step, page)]);
        assert_eq!(written, line);
    }
}

#[test]
fn a_test_says_only_what_differs_from_what_is_usual() {
    let (source, steps) = file(json!([on(
        "css=#a",
        json!({"action": "input", "value": "{{USER}}{{EMPTY}}"})
    ),]));
    let text = to_playwright(&steps, &source).text;
    for line in [
        "import { expect, test } from \"@playwright/test\";",
        "  USER: process.env.CUECARD_VAR_USER ?? \"ana\",",
        "  EMPTY: environment(\"CUECARD_VAR_EMPTY\"),",
        "  baseURL: process.env.BASE_URL ?? \"https://shop.example\",",
        "  await page.goto(\"/login?x=1\");",
        "test(\"login\", async ({ page }) => {",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    for absent in [
        "DOOR",
        "viewport",
        "actionTimeout",
        "setTimeout",
        "dialog",
        "function called",
    ] {
        assert!(!text.contains(absent), "{absent}\n{text}");
    }
    let wait = step(json!({"action": "wait", "durationMs": 40_000}));
    let (_, mut steps) = file(json!([wait]));
    steps.options = json!({"onDialog": "accept", "viewport": {"width": 800, "height": 600}});
    let source = SourceFile::new("login.json", steps.to_text());
    let text = to_playwright(&steps, &source).text;
    for line in [
        "  viewport: { width: 800, height: 600 },",
        "  test.setTimeout(300000);",
        "  page.on(\"dialog\", (dialog) => dialog.accept());",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

proptest! {
    /// Whatever people write: the scenario can be read, and says the same words.
    #[test]
    fn every_text_survives_in_a_scenario(text in "[{}a-zUSER\"\\\\ ]{0,20}") {
        let described = step(json!({"action": "wait", "durationMs": 1, "description": format!("x{text}")}));
        let (source, steps) = file(json!([described]));
        let exported = to_tool_call(&steps, &source, ToolCallServer::Playwright);
        let read = tool_call::read(&SourceFile::new("x.json", exported.text.as_str()));
        prop_assert!(read.scenario.is_some(), "{:#?}", read.diagnostics);
    }

    #[test]
    fn the_parts_of_a_text_are_the_text(text in "[{}a-zUSER ]{0,30}") {
        let (_, steps) = file(json!([]));
        let names = Names::of(&steps);
        let mut again = String::new();
        for part in names.parts(&text) {
            match part {
                Part::Literal(literal) => again.push_str(literal),
                Part::Variable(name, _) => again.push_str(&format!("{{{{{name}}}}}")),
            }
        }
        // Spaces inside of braces do no harm.
        prop_assert_eq!(again.replace(' ', ""), text.replace(' ', ""));
    }

    #[test]
    fn a_pattern_of_a_text_matches_it(text in "\\PC{0,12}") {
        let pattern = regex::Regex::new(&format!("^{}$", escaped(&text))).expect("a pattern");
        prop_assert!(pattern.is_match(&text));
        prop_assert_eq!(serde_json::from_str::<String>(&quoted(&text)).expect("JSON"), text);
    }
}

#[test]
fn what_closes_its_tab_may_be_cut_short_by_that() {
    let steps = json!([
        on("role=link[name=\"Terms\"]", json!({})),
        on(
            "role=button[name=\"Close\"]",
            json!({"id": "st-2", "tab": 1})
        ),
        on("role=button[name=\"Next\"]", json!({"id": "st-3"})),
    ]);
    let (source, steps) = file(steps);
    for (server, list, line) in [
        (ToolCallServer::ChromeDevtools, "list_pages", "2: "),
        (ToolCallServer::Playwright, "browser_tabs", "- 1: "),
    ] {
        let exported = to_tool_call(&steps, &source, server);
        let scenario: Json = serde_json::from_str(&exported.text).expect("JSON");
        let calls = scenario["steps"].as_array().expect("a list");
        let close = &calls[4];
        assert_eq!(close["target"]["name"], "Close", "{calls:#?}");
        assert_eq!(close["on_error"], "skip");
        // That it is there is waited for before, since a failure of the click itself is tolerated.
        assert_eq!(calls[3]["target"], close["target"]);
        assert_eq!(calls[3]["on_error"], "retry");
        let listed = &calls[5];
        let tool = format!("mcp__{}__{list}", server.as_str());
        assert_eq!(listed["tool"], tool.as_str());
        let pattern = &listed["expect"]["json_schema"]["not"]["pattern"];
        assert_eq!(pattern, &json!(format!("(^|\\n){line}")));
    }
    let test = to_playwright(&steps, &source).text;
    for line in [
        "const tab2 = await test.step(\"do it\", async () => {",
        "const popup = page.waitForEvent(\"popup\");",
        "tab2.waitForEvent(\"close\"),",
        "tab2.getByRole(\"button\", { name: \"Close\", exact: true }).click().catch(() => {}),",
    ] {
        assert!(test.contains(line), "{test}");
    }
}
