//! What a text of version 1.x becomes, and where what is said about it points.

use proptest::prelude::*;

use crate::format::{check_references, read};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};

fn source(text: &str) -> SourceFile {
    SourceFile::new("old/Sign in.json", text)
}

/// The conversion of a whole text, which must be valid.
#[track_caller]
fn convert(text: &str) -> String {
    let reading = read(&source(text));
    assert!(
        reading.scenario.is_some(),
        "{:#?}",
        shown(&reading.diagnostics)
    );
    reading.converted.expect("it is converted")
}

/// What becomes of a step in an otherwise modern file.
#[track_caller]
fn step(text: &str) -> String {
    let before =
        r#"{"version": "2.1", "metadata": {"name": "x"}, "variables": {"X": "1"}, "steps": ["#;
    let converted = convert(&format!("{before}{text}]}}"));
    let step = converted
        .strip_prefix(before)
        .expect("what was before stays");
    step.strip_suffix("]}")
        .expect("what was after stays")
        .to_owned()
}

/// Code, message, and the marked text.
fn shown(diagnostics: &[Diagnostic]) -> Vec<(&'static str, String, String)> {
    diagnostics
        .iter()
        .map(|diagnostic| {
            let place = diagnostic.place.as_ref().expect("a place");
            (
                diagnostic.code.name(),
                diagnostic.message.clone(),
                place.source.slice(place.span).to_owned(),
            )
        })
        .collect()
}

/// What is wrong with a step, the word about its version left out.
fn wrong(text: &str) -> Vec<(&'static str, String, String)> {
    let text = format!(r#"{{"version": "1.1", "variables": {{"X": "1"}}, "steps": [{text}]}}"#);
    let mut found = shown(&read(&source(&text)).diagnostics);
    found.retain(|(code, ..)| *code != codes::VERSION_LEGACY.name());
    found
}

#[test]
fn each_action_becomes_the_call_that_does_the_same() {
    for (old, new) in [
        (
            r#"{"step": 1, "action": "navigate", "params": {"url": "https://example.com/{{X}}"}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__navigate_page", "params": { "url": "https://example.com/{{X}}" } }"#,
        ),
        (
            r#"{"step": 1, "action": "navigate", "params": {"url": "back", "timeout": 5000}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__navigate_page", "params": { "type": "back", "timeout": 5000 } }"#,
        ),
        (
            r#"{"step": 1, "action": "click", "params": {"uid": "1_7", "dblClick": true}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__click", "params": { "uid": "1_7", "dblClick": true } }"#,
        ),
        (
            r#"{"step": 1, "action": "click", "params": {"selector": "a[href='{{X}}']", "dblClick": true}, "wait_after": 1.50}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__click", "params": { "dblClick": true }, "target": { "selector": "a[href='{{X}}']" }, "wait_after": 1.50 }"#,
        ),
        (
            r#"{"step":1,"action":"hover","params":{"text":"Mehr \u00fcber","selector":"a"}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__hover", "params": {}, "target": { "selector": "a", "text": "Mehr über" } }"#,
        ),
        (
            r##"{"step": 1, "action": "fill", "params": {"value": "{{X}}", "selector": "#name"}}"##,
            r##"{ "step": 1, "tool": "mcp__chrome-devtools__fill", "params": { "value": "{{X}}" }, "target": { "selector": "#name" } }"##,
        ),
        (
            r##"{"step": 1, "action": "fill", "params": {"selector": "#name", "value": 7.0}}"##,
            r##"{ "step": 1, "tool": "mcp__chrome-devtools__fill", "params": { "value": 7.0 }, "target": { "selector": "#name" } }"##,
        ),
        (
            r#"{"step": 1, "action": "type", "params": {"text": "{{X}} words"}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__type_text", "params": { "text": "{{X}} words" } }"#,
        ),
        (
            r#"{"step": 1, "action": "key", "params": {"key": "Enter"}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__press_key", "params": { "key": "Enter" } }"#,
        ),
        (
            r#"{"step": 1, "action": "screenshot"}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__take_screenshot", "params": {} }"#,
        ),
        (
            r#"{"step": 1, "action": "screenshot", "params": {"path": "{{X}}.png", "fullPage": true}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__take_screenshot", "params": { "filePath": "{{X}}.png", "fullPage": true } }"#,
        ),
        (
            r#"{"step": 1, "action": "wait", "params": {"duration": 1.1}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__evaluate_script", "params": { "function": "() => new Promise(resolve => setTimeout(resolve, 1100))" } }"#,
        ),
        (
            r#"{"step": 1, "action": "wait", "params": {"ms": "250"}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__evaluate_script", "params": { "function": "() => new Promise(resolve => setTimeout(resolve, 250))" } }"#,
        ),
        (
            r#"{"step": 1, "action": "wait", "params": {"seconds": "{{X | default(\"2\")}}"}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__evaluate_script", "params": { "function": "() => new Promise(resolve => setTimeout(resolve, 1000 * ({{X | default(\"2\")}})))" } }"#,
        ),
        (
            r#"{"step": 1, "action": "wait", "params": {"seconds": 45.5}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__evaluate_script", "params": { "function": "() => new Promise(resolve => setTimeout(resolve, 45500))" }, "timeout": 76 }"#,
        ),
        (
            r#"{"step": 1, "action": "wait", "params": {"ms": 200000.0}}"#,
            r#"{ "step": 1, "tool": "sandy__wait", "params": { "duration": 200 } }"#,
        ),
        (
            r#"{"step": 1, "action": "wait_for_text", "params": {"text": "Done", "timeout": 2.5}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__wait_for", "params": { "text": "Done", "timeout": 2500 } }"#,
        ),
        (
            r#"{"step": 1, "action": "scroll", "params": {"x": 0, "y": 1e2, "note": 1}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__evaluate_script", "params": { "function": "() => window.scrollBy({ left: 0, top: 100, behavior: 'instant' })", "note": 1 } }"#,
        ),
        (
            r#"{"step": 1, "action": "scroll", "params": {"y": "{{X}}"}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__evaluate_script", "params": { "function": "() => window.scrollBy({ left: 0, top: ({{X}}), behavior: 'instant' })" } }"#,
        ),
        (
            r#"{"step": 1, "action": "scroll", "params": {"amount": 300, "direction": "up"}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__evaluate_script", "params": { "function": "() => { const [x, y] = [0, -1]; const amount = 300; window.scrollBy({ left: x * amount, top: y * amount, behavior: 'instant' }); }" } }"#,
        ),
        (
            r#"{"step": 1, "action": "scroll", "params": {"direction": "down"}}"#,
            r#"{ "step": 1, "tool": "mcp__chrome-devtools__evaluate_script", "params": { "function": "() => { const [x, y] = [0, 1]; window.scrollBy({ left: x * window.innerWidth, top: y * window.innerHeight, behavior: 'instant' }); }" } }"#,
        ),
    ] {
        assert_eq!(step(old), new);
        let again = read(&source(&format!(
            r#"{{"version": "2.1", "metadata": {{"name": "x"}}, "variables": {{"X": "1"}}, "steps": [{new}]}}"#
        )));
        assert_eq!(again.converted, None, "{new}");
    }
}

#[test]
fn nothing_but_the_steps_changes() {
    let old = "\u{feff}{\r\n\t\"version\" : 1.10,\r\n\t\"x-note\": [1.50, 1e3, \"\\u00e9\"],\r\n\t\"metadata\": {\"author\": \"me\"},\r\n\t\"steps\": [\r\n\t\t{ \"description\": \"go\", \"action\":\"click\",\r\n\t\t  \"params\": {\r\n\t\t    \"selector\": \"a\",\r\n\t\t    \"dblClick\": true\r\n\t\t  },\r\n\t\t  \"on_error\": \"skip\", \"step\": 1 }\r\n\t]\r\n}\r\n";
    let new = "\u{feff}{\r\n\t\"version\" : \"2.1\",\r\n\t\"x-note\": [1.50, 1e3, \"\\u00e9\"],\r\n\t\"metadata\": { \"name\": \"Sign in\", \"author\": \"me\" },\r\n\t\"steps\": [\r\n\t\t{ \"description\": \"go\", \"tool\": \"mcp__chrome-devtools__click\", \"params\": { \"dblClick\": true }, \"target\": { \"selector\": \"a\" }, \"on_error\": \"skip\", \"step\": 1 }\r\n\t]\r\n}\r\n";
    assert_eq!(convert(old), new);
}

#[test]
fn version_and_name_are_added_where_they_belong() {
    let step = r#"{"step": 1, "action": "key", "params": {"key": "a"}}"#;
    let converted = |text: &str| {
        let text = convert(&text.replace("STEPS", &format!("[{step}]")));
        let end = text.find("\"steps\"").expect("it has steps");
        text[..end].to_owned()
    };
    for (old, new) in [
        (
            "{\n  \"version\": \"1.1\",\n  \"steps\": STEPS\n}",
            "{\n  \"version\": \"2.1\",\n  \"metadata\": { \"name\": \"Sign in\" },\n  ",
        ),
        (
            "{\"steps\":STEPS}",
            "{\"version\": \"2.1\",\"metadata\": { \"name\": \"Sign in\" },",
        ),
        (
            "{ \"version\": 1, \"name\": \"\\u00c4\", \"metadata\": {}, \"steps\": STEPS }",
            "{ \"version\": \"2.1\", \"name\": \"\\u00c4\", \"metadata\": { \"name\": \"Ä\" }, ",
        ),
        (
            "{ \"version\": \"2.0\", \"metadata\": { \"name\": \"y\" }, \"steps\": STEPS }",
            "{ \"version\": \"2.1\", \"metadata\": { \"name\": \"y\" }, ",
        ),
    ] {
        assert_eq!(converted(old), new);
    }
    let standard_input = SourceFile::new("<standard input>", format!("{{\"steps\":[{step}]}}"));
    let scenario = read(&standard_input).scenario.expect("it is valid");
    assert_eq!(scenario.name, "scenario");
}

#[test]
fn what_is_wrong_is_said_where_it_was_written() {
    for (step, code, message, marked) in [
        (
            r#"{"step": 1, "action": "klick", "params": {}}"#,
            "C-VER-03",
            "unknown action `klick` in version 1.x",
            "\"klick\"",
        ),
        (
            r#"{"step": 1, "action": "click", "params": {"x": 1, "y": 2}}"#,
            "C-PARAM-01",
            "the action `click` needs `uid`, `selector` or `text`",
            r#"{"x": 1, "y": 2}"#,
        ),
        (
            r#"{"step": 1, "action": "fill", "params": {"selector": "a", "valeu": 1}}"#,
            "C-PARAM-01",
            "the action `fill` needs `value`",
            "\"valeu\"",
        ),
        (
            r#"{"step": 1, "action": "wait", "params": {"seconds": "soon"}}"#,
            "C-PARAM-02",
            "`seconds` of the action `wait` must be a number, or one reference to a number, not the string `soon`",
            "\"soon\"",
        ),
        (
            r#"{"step": 1, "action": "wait", "params": {"seconds": 1, "ms": 2}}"#,
            "C-PARAM-03",
            "`wait` has both `seconds` and `ms`, which mean the same",
            "\"ms\"",
        ),
        (
            r#"{"step": 1, "action": "wait", "params": {"seconds": -1}}"#,
            "C-PARAM-02",
            "a wait of -1 s is out of range: it must be between 0 s and one day",
            "\"seconds\"",
        ),
        (
            r#"{"step": 1, "action": "wait", "params": {"duration": 2000}}"#,
            "C-TIME-01",
            "`duration` is 2000 seconds: did you mean milliseconds?",
            "2000",
        ),
        (
            r#"{"step": 1, "action": "wait_for_text", "params": {"text": "x", "timeout": 5000}}"#,
            "C-TIME-01",
            "`timeout`: 5000 is interpreted as milliseconds",
            "5000",
        ),
        (
            r#"{"step": 1, "action": "scroll", "params": {"direction": "dwon"}}"#,
            "C-PARAM-02",
            "`direction` must be up, down, left or right, not `dwon`",
            "\"direction\"",
        ),
        (
            r#"{"step": 1, "action": "scroll", "params": {"selector": "a"}}"#,
            "C-PARAM-03",
            "the action `scroll` has no parameter `selector`: it scrolls the page",
            "\"selector\"",
        ),
        (
            r#"{"step": 1, "action": "type", "params": {"text": "a", "selector": "a"}}"#,
            "C-PARAM-03",
            "the action `type` has no parameter `selector`: it types into the focused element",
            "\"selector\"",
        ),
        (
            r#"{"step": 1, "action": "click", "params": {"uid": "1_7", "text": "a"}}"#,
            "C-UID-01",
            "this `uid` is ignored: the element is found by the other parameters",
            "\"uid\"",
        ),
        (
            r#"{"step": 1, "action": 7, "params": {}}"#,
            "C-FIELD-02",
            "`action` must be a string, not 7",
            "7",
        ),
        (
            r#"{"step": 1, "action": "key", "params": []}"#,
            "C-FIELD-02",
            "`params` must be an object, not an array",
            "[]",
        ),
        (
            r#"{"step": 1, "action": "click", "params": {"text": " "}}"#,
            "C-TARGET-01",
            "`target.text` is empty",
            "\" \"",
        ),
    ] {
        let found = wrong(step);
        let expected = (code, message.to_owned(), marked.to_owned());
        assert_eq!(found, [expected], "{step}");
    }
}

#[test]
fn a_reference_in_a_script_is_marked_where_it_was_written() {
    let text = "{\"version\": \"1.1\",\n\"steps\": [\n{\"step\": 1, \"action\": \"wait\", \"params\": {\"seconds\": \"{{LONG}}\"}},\n{\"step\": 1, \"action\": \"scroll\", \"params\": {\"y\": 1}}]}";
    let reading = read(&source(text));
    let equal = &reading.diagnostics[1];
    assert_eq!(equal.code, codes::STEP_DUPLICATE);
    // The line of the file, though the conversion has one more.
    assert_eq!(equal.notes, ["the other one is on line 3"]);
    let one = text.replacen("\"step\": 1", "\"step\": 0", 1);
    let scenario = read(&source(&one)).scenario.expect("it is valid");
    let found = check_references(&scenario, &super::super::Scope::default());
    let (code, message, marked) = &shown(&found)[0];
    assert_eq!((*code, marked.as_str()), ("C-REF-02", "{{LONG}}"));
    assert_eq!(message, "`LONG` is not defined");
    let place = found[0].place.as_ref().expect("a place");
    assert_eq!(place.source.text(), one);
    assert_eq!(place.source.position(place.span.start).line, 3);
}

#[test]
fn pointers_stay_inside_the_file() {
    let text = r#"{"version": "1.1", "steps": [{"step": 1, "action": "click", "params": {"text": "{{"}}]}"#;
    let reading = read(&source(text));
    let last = reading.diagnostics.last().expect("unclosed braces");
    assert_eq!(last.pointer.as_deref(), Some("/steps/0"));
}

/// Any value of a parameter.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        (-5_000_i64..5_000).prop_map(|number| number.to_string()),
        (0.0..1e4_f64).prop_map(|number| number.to_string()),
        Just("\"{{X}}\"".to_owned()),
        Just("\"up\"".to_owned()),
        Just("\"back\"".to_owned()),
        "[ a-z\"\\\\{}ü\n]{0,6}".prop_map(|text| serde_json::Value::from(text).to_string()),
        Just("null".to_owned()),
        Just("{\"a\": [1]}".to_owned()),
    ]
}

fn any_step() -> impl Strategy<Value = String> {
    let action = prop::sample::select(vec![
        "navigate",
        "click",
        "hover",
        "fill",
        "type",
        "key",
        "screenshot",
        "wait",
        "wait_for_text",
        "scroll",
    ]);
    let name = prop::sample::select(vec![
        "url",
        "uid",
        "selector",
        "text",
        "value",
        "key",
        "path",
        "duration",
        "seconds",
        "ms",
        "timeout",
        "x",
        "y",
        "direction",
        "amount",
        "other",
    ]);
    let params = prop::collection::btree_map(name, value(), 0..4);
    let space = prop::sample::select(vec!["", " ", "\n\t", "\r\n  "]);
    (action, params, space, any::<bool>()).prop_map(|(action, params, space, params_first)| {
        let params: Vec<String> = params
            .iter()
            .map(|(name, value)| format!("{space}\"{name}\":{space}{value}"))
            .collect();
        let params = format!("\"params\":{{{}{space}}}", params.join(","));
        let action = format!("\"action\":{space}\"{action}\"");
        match params_first {
            true => format!("{{{params},{space}\"step\": 1,{action}}}"),
            false => format!("{{{action},{space}{params},\"step\": 1}}"),
        }
    })
}

proptest! {
    #[test]
    fn a_conversion_is_a_scenario_that_needs_none(step in any_step(), head in 0..4_usize) {
        let head = ["", "\"version\": 1.1, ", "\"version\":\"2.1\",\"metadata\":{},", "\"metadata\": { \"a\": 1 },\n"][head];
        let text = format!("{{{head}\"variables\": {{\"X\": 1}}, \"steps\": [{step}]}}");
        let reading = read(&source(&text));
        for diagnostic in &reading.diagnostics {
            let place = diagnostic.place.as_ref().expect("a place");
            prop_assert_eq!(place.source.text(), &text);
            prop_assert!(text.get(place.span.range()).is_some(), "{:?}", diagnostic);
        }
        let Some(scenario) = reading.scenario else { return Ok(()) };
        let converted = reading.converted.expect("an action is converted");
        let again = read(&source(&converted));
        prop_assert!(again.diagnostics.iter().all(|found| found.code != codes::VERSION_LEGACY));
        prop_assert_eq!(&again.converted, &None);
        let modern = again.scenario.expect("the conversion is valid");
        // Equal but for the places of references, which differ.
        let plain = |scenario: &crate::model::ToolCallScenario| {
            let step = &scenario.steps[0];
            let places = regex::Regex::new(r"span: Span \{[^}]*\}").expect("valid");
            let written = format!("{:?} {:?} {:?} {:?} {:?}", scenario.name, step.tool, step.params, step.target, step.timeout);
            places.replace_all(&written, "").into_owned()
        };
        prop_assert_eq!(plain(&scenario), plain(&modern));
    }
}
