use proptest::prelude::*;

use super::*;
use crate::model::*;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, Severity};

fn found(name: &str, text: &str) -> Vec<String> {
    let reading = read(&SourceFile::new(name, text));
    shown(&reading.diagnostics)
}

fn shown(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics
        .iter()
        .map(|found| {
            let position = found
                .place
                .as_ref()
                .map(|place| place.source.position(place.span.start));
            let (line, column) =
                position.map_or((0, 0), |position| (position.line, position.column));
            let mark = if found.severity == Severity::Warning {
                "?"
            } else {
                ""
            };
            let pointer = found.pointer.as_deref().unwrap_or("-");
            format!("{mark}{} {line}:{column} {pointer}", found.code)
        })
        .collect()
}

fn good(text: &str) -> BrowserScenario {
    let reading = read(&SourceFile::new("x.yaml", text));
    reading
        .scenario
        .unwrap_or_else(|| panic!("{:?}", reading.diagnostics))
}

const WHOLE: &str = r#"url: "{{BASE}}/login"
actions:
  - "type {{USER}} into the Email field"
  - { action: "click 'Log in'", timeoutMs: 5000, optional: true }
options:
  timeoutMs: 60000
  actionTimeoutMs: 10000
  assertTimeoutMs: 2000
  viewport: { width: 800, height: 600 }
  locale: de-DE
  timezone: Europe/Berlin
  storageState: state.json
  testIdAttribute: data-qa
  translator: rules
  minConfidence: 0.9
  maxReplies: 2
  promptBudget: 8000
  onFailure: continue
  onDialog: accept
  includeAttributes: [title, data-x]
  llm: { provider: anthropic, model: m-1, baseUrl: "http://127.0.0.1:1", apiKeyEnv: MY_KEY }
variables: { BASE: "https://shop.example", USER: ana, PASSWORD: null }
secrets: [PASSWORD]
"#;

#[test]
fn every_key_is_read() {
    let scenario = good(WHOLE);
    assert_eq!(scenario.url, "{{BASE}}/login");
    assert_eq!(scenario.actions.len(), 2);
    assert_eq!(scenario.actions[1].timeout_ms, Some(5_000));
    assert!(scenario.actions[1].optional);
    let options = &scenario.options;
    assert_eq!(
        (
            options.timeout_ms,
            options.action_timeout_ms,
            options.assert_timeout_ms
        ),
        (60_000, 10_000, 2_000)
    );
    assert_eq!(
        options.viewport,
        Viewport {
            width: 800,
            height: 600
        }
    );
    assert_eq!(options.translator, TranslatorChoice::Rules);
    assert_eq!(options.on_failure, OnFailure::Continue);
    assert_eq!(options.include_attributes, ["title", "data-x"]);
    assert_eq!(
        options.llm.as_ref().map(|llm| llm.kind),
        Some(ProviderKind::Anthropic)
    );
    assert_eq!(scenario.variables[2], ("PASSWORD".to_owned(), None));
    assert_eq!(scenario.secrets, ["PASSWORD"]);
    // The defaults are those of the format.
    let plain = good("url: about:blank\nactions: [reload]");
    assert_eq!(plain.options, BrowserOptions::default());
    // JSON says the same.
    let json = read(&SourceFile::new(
        "x.json",
        "{\"url\": \"about:blank\", \"actions\": [\"reload\"]}",
    ));
    assert_eq!(json.scenario.expect("it is read").actions[0].text, "reload");
}

#[test]
fn all_errors_are_found_at_once_with_their_places() {
    let text = "url: shop.example\nactions:\n  - click: Login\n  - \"\"\n  - 5\noptions:\n  timeoutMs: 0\n  viewport: { width: 99999 }\n  minConfidence: 2\n  translator: rule\n  maxReplies: many\nsecrets: [A]\nvariables: { A: geheim, \"b c\": 1 }\nactoins: []\n";
    assert_eq!(
        found("x.yaml", text),
        [
            "B-url_invalid 1:6 /url",
            "B-action_not_string 3:5 /actions/0",
            "B-action_empty 4:5 /actions/1",
            "B-action_not_string 5:5 /actions/2",
            "B-option_invalid 7:14 /options/timeoutMs",
            "B-option_invalid 8:13 /options/viewport/height",
            "B-option_invalid 8:22 /options/viewport/width",
            "B-option_invalid 9:18 /options/minConfidence",
            "B-option_invalid 10:15 /options/translator",
            "B-option_invalid 11:15 /options/maxReplies",
            "B-secret_literal 13:17 /variables/A",
            "B-option_invalid 13:25 /variables/b c",
            "?B-unknown_key 14:1 /actoins",
        ]
    );
}

#[test]
fn what_is_missing_is_said() {
    for (text, expected) in [
        ("[]", vec!["B-scenario_not_object 1:1 -"]),
        ("just words", vec!["B-scenario_not_object 1:1 -"]),
        (
            "{}",
            vec!["B-url_missing 1:1 /url", "B-actions_missing 1:1 /actions"],
        ),
        ("url: about:blank", vec!["B-actions_missing 1:1 /actions"]),
        (
            "url: about:blank\nactions: click",
            vec!["B-actions_missing 2:10 /actions"],
        ),
        (
            "url: about:blank\nactions: []",
            vec!["B-actions_empty 2:10 /actions"],
        ),
        ("url: 5\nactions: [a]", vec!["B-url_invalid 1:6 /url"]),
        (
            "version: cuecard-steps/1\nurl: about:blank\nactions: [a]",
            vec!["X-FILE-01 1:1 -"],
        ),
        ("version: '2.1'\nsteps: []", vec!["X-FILE-01 1:1 -"]),
    ] {
        assert_eq!(found("x.yaml", text), expected, "{text}");
    }
}

#[test]
fn urls_are_looked_at() {
    let code = |url: &str| {
        let text = format!("{{\"url\": {url:?}, \"actions\": [\"reload\"]}}");
        found("x.json", &text)
            .first()
            .map(|found| found.split(' ').next().unwrap_or_default().to_owned())
    };
    for url in [
        "https://a.example",
        "http://127.0.0.1:8080/x?y#z",
        "http://[::1]:3000/",
        "file:///tmp/x.html",
        "about:blank",
        "{{URL}}",
        "{{BASE}}/login",
        "https://{{HOST}}/x",
        "https://user@a.example/",
    ] {
        assert_eq!(code(url), None, "{url}");
    }
    for url in [
        "",
        " https://a",
        "shop.example/login",
        "localhost:8080",
        "/login",
        "https://",
        "https:/a",
        "http://a:99999/",
        "http://a b/",
        "file://x",
        "{{URL",
        "http://a<b/",
        "x{{A}}",
    ] {
        assert_eq!(code(url).as_deref(), Some("B-url_invalid"), "{url}");
    }
    for url in [
        "javascript:alert(1)",
        "ftp://a/",
        "data:text/html,x",
        "about:config",
    ] {
        assert_eq!(code(url).as_deref(), Some("B-url_scheme"), "{url}");
    }
}

#[test]
fn traps_of_yaml_are_warned_about() {
    let text = "url: about:blank\nactions:\n  - click #save\n  - yes\n  - \"click #save\"\n  - reload # a note\n";
    assert_eq!(
        found("x.yaml", text),
        [
            "?B-action_comment 3:11 /actions/0",
            "?J-YAML-05 4:5 /actions/1",
            "?B-action_comment 6:12 /actions/3",
        ]
    );
    let map = read(&SourceFile::new(
        "x.yaml",
        "url: about:blank\nactions:\n  - click: Login\n  - true\n",
    ));
    let helps: Vec<_> = map
        .diagnostics
        .iter()
        .filter_map(|found| found.help.as_deref())
        .collect();
    assert_eq!(
        helps,
        [
            "put it in quotes: \"click: Login\"",
            "put it in quotes: \"true\""
        ]
    );
}

#[test]
fn scenarios_have_bounds() {
    let many = format!(
        "{{\"url\": \"about:blank\", \"actions\": [{}]}}",
        vec!["\"reload\""; 501].join(",")
    );
    assert_eq!(found("x.json", &many), ["B-input_too_large 1:35 /actions"]);
    let long = format!(
        "{{\"url\": \"about:blank\", \"actions\": [\"{}\"]}}",
        "x".repeat(2_001)
    );
    assert_eq!(
        found("x.json", &long),
        ["B-input_too_large 1:36 /actions/0"]
    );
    let large = format!(
        "{{\"url\": \"about:blank\", \"actions\": [\"reload\"], \"x-note\": \"{}\"}}",
        "x".repeat(1024 * 1024)
    );
    assert_eq!(found("x.json", &large), ["B-input_too_large 1:1 -"]);
}

#[test]
fn references_need_a_variable_and_a_run_needs_its_value() {
    let scenario = good(
        "url: \"{{BASE}}/\"\nactions: [\"type {{USR}} into 'A'\", \"type {{PASSWORD}} into 'B'\"]\nvariables: { BASE: https://a, USER: \"\" }\nsecrets: [PASSWORD]",
    );
    let checked = |given: &[&str], is_run| {
        let given: Vec<String> = given.iter().map(ToString::to_string).collect();
        shown(&Declared::of_scenario(&scenario).check(&scenario.source, &given, is_run))
    };
    assert_eq!(checked(&[], false), ["B-variable_missing 2:11 /actions/0"]);
    assert_eq!(checked(&["USR"], false), [] as [&str; 0]);
    assert_eq!(
        checked(&["USR"], true),
        ["B-variable_missing 2:36 /actions/1"]
    );
    assert_eq!(checked(&["USR", "PASSWORD"], true), [] as [&str; 0]);
    let found = Declared::of_scenario(&scenario).check(&scenario.source, &[], false);
    let help = found[0].help.clone();
    assert_eq!(help.as_deref(), Some("did you mean `USER`?"));
}

#[test]
fn hosts_and_actions_are_listed() {
    let scenario = good(
        "url: https://shop.example/login\nactions: [\"go to 'http://pay.example:8080/x'\", \"click 'A'\"]",
    );
    let effects = effects(&scenario);
    assert_eq!(
        effects.hosts.into_iter().collect::<Vec<_>>(),
        ["pay.example:8080", "shop.example"]
    );
    assert_eq!(effects.actions.len(), 2);
}

fn sample() -> StepsFile {
    let mut click = TestStep::new(
        step_id("https://a/", 0, "click 'Log in'"),
        "click 'Log in'",
        ActionKind::Click,
    );
    click.selectors = vec![
        "role=button[name=\"Log in\"]".into(),
        "xpath=/html/body/button".into(),
    ];
    click.selector = Some(click.selectors[0].clone());
    click.fingerprint = Some(Fingerprint {
        role: "button".into(),
        name: "Log in".into(),
        tag: "button".into(),
        alone: true,
        ..Fingerprint::default()
    });
    click.translator = Some(Translator::Rules);
    click.index = Some(0);
    click.observed.settle = Some("quiet".into());
    click.observed.dialogs = vec![Dialog {
        kind: "prompt".into(),
        message: "Your name?".into(),
        accepted: true,
        default_value: Some(String::new()),
    }];
    click.observed.downloads = vec![Download {
        name: "a.csv".into(),
        size: 3,
        sha256: "ba78".into(),
    }];
    let mut check = TestStep::new("st-2", "verify 'Hi' is visible", ActionKind::Assert);
    check.value = Some("Hi".into());
    let mut assertion = BrowserAssertion::new(AssertKind::Text);
    assertion.expected = Some("Hi".into());
    assertion.negate = true;
    check.assertion = Some(assertion);
    StepsFile {
        test_steps: vec![click, check],
        status: ParseStatus::Partial,
        errors: vec![ErrorInfo {
            message: "no".into(),
            code: "B-not_understood".into(),
            candidates: vec!["x".into()],
            help: Some("y".into()),
            ..ErrorInfo::default()
        }],
        extracted_content: None,
        execution_time_ms: None,
        url: "https://a/".into(),
        observed: Observed {
            settle: Some("loaded".into()),
            ..Observed::default()
        },
        options: serde_json::json!({}),
        variables: serde_json::Map::new(),
        secrets: vec!["P".into()],
    }
}

#[test]
fn steps_are_written_in_their_order_and_read_back() {
    let file = sample();
    let text = file.to_text();
    let reading = read_steps(&SourceFile::new("steps.json", text.as_str()));
    assert_eq!(shown(&reading.diagnostics), [] as [&str; 0]);
    assert_eq!(reading.steps, Some(file.clone()));
    assert!(!text.contains("null"));
    let json = file.to_json();
    let keys: Vec<_> = json.as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "success",
            "testSteps",
            "status",
            "errors",
            "version",
            "url",
            "observed",
            "options",
            "variables",
            "secrets"
        ]
    );
    let keys: Vec<_> = json["testSteps"][0]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(
        keys,
        [
            "id",
            "description",
            "action",
            "selector",
            "context",
            "selectors",
            "fingerprint",
            "translator",
            "index",
            "observed"
        ]
    );
}

#[test]
fn ids_depend_on_url_place_and_sentence_only() {
    let id = step_id("https://a/", 0, "click 'A'");
    assert_eq!(id, step_id("https://a/", 0, "click 'A'"));
    assert!(id.len() == 15 && id.starts_with("st-"));
    for other in [
        step_id("https://b/", 0, "click 'A'"),
        step_id("https://a/", 1, "click 'A'"),
        step_id("https://a/", 0, "click 'B'"),
    ] {
        assert_ne!(id, other);
    }
}

#[test]
fn later_fields_are_read() {
    let text = r#"{"version": "cuecard-steps/1", "url": "https://a/", "testSteps": [
        {"id": "a", "description": "d", "action": "click", "selector": "css=#x", "timeout": 5000, "waitFor": "networkidle", "maxRetries": 2, "isLastStep": true}
    ]}"#;
    let reading = read_steps(&SourceFile::new("steps.json", text));
    assert_eq!(
        shown(&reading.diagnostics),
        ["?B-steps_invalid 2:110 /testSteps/0/waitFor"]
    );
    let steps = reading.steps.expect("it is read");
    let step = &steps.test_steps[0];
    assert_eq!(
        (step.timeout_ms, step.wait_for, step.max_retries),
        (Some(5_000), Some(WaitFor::NetworkIdle), Some(2))
    );
    assert_eq!(step.selectors, ["css=#x"]);
}

#[test]
fn steps_that_lack_something_are_refused() {
    let wrong = |steps: &str| {
        let text = format!(
            "{{\"version\": \"cuecard-steps/1\", \"url\": \"https://a/\", \"testSteps\": [{steps}]}}"
        );
        let reading = read_steps(&SourceFile::new("steps.json", text));
        assert!(reading.steps.is_none(), "{steps}");
        reading
            .diagnostics
            .iter()
            .map(|found| found.message.clone())
            .collect::<Vec<_>>()
            .join("; ")
    };
    for (step, expected) in [
        ("5", "must be an object"),
        (
            r#"{"id": "a", "description": "d", "action": "click"}"#,
            "has no `selector`",
        ),
        (
            r#"{"id": "a", "description": "d", "action": "input", "selector": "css=a"}"#,
            "has no `value`",
        ),
        (
            r#"{"id": "a", "description": "d", "action": "navigate"}"#,
            "has no `url`",
        ),
        (
            r#"{"id": "a", "description": "d", "action": "press"}"#,
            "has no `key`",
        ),
        (
            r#"{"id": "a", "description": "d", "action": "assert"}"#,
            "has no `assertion`",
        ),
        (
            r#"{"id": "a", "description": "d", "action": "assert", "assertion": {"kind": "text"}}"#,
            "has no `value`",
        ),
        (
            r#"{"id": "a", "description": "d", "action": "assert", "assertion": {"kind": "visible"}}"#,
            "has no `selector`",
        ),
        (
            r#"{"id": "a", "description": "d", "action": "unknown"}"#,
            "not `unknown`",
        ),
        (
            r#"{"id": "a", "description": "d", "action": "reload"}, {"id": "a"}"#,
            "not `reload`",
        ),
        (
            r#"{"id": "a", "description": "d", "action": "scroll", "direction": "left"}"#,
            "not `left`",
        ),
        (
            r#"{"id": "a", "description": "d", "action": "wait", "durationMs": 0}"#,
            "from 1",
        ),
        (
            r#"{"id": "a", "description": "d", "action": "scroll"}, {"id": "a", "description": "d", "action": "scroll"}"#,
            "duplicate step id `a`",
        ),
    ] {
        let found = wrong(step);
        assert!(found.contains(expected), "{step}: {found}");
    }
    let scenario = read_steps(&SourceFile::new(
        "x.yaml",
        "url: about:blank\nactions: [reload]",
    ));
    assert_eq!(shown(&scenario.diagnostics), ["X-FILE-01 1:1 -"]);
    let newer = read_steps(&SourceFile::new(
        "x.json",
        r#"{"version": "cuecard-steps/9", "url": "a", "testSteps": []}"#,
    ));
    assert_eq!(shown(&newer.diagnostics), ["B-steps_invalid 1:13 /version"]);
}

#[test]
fn values_that_look_like_nothing_are_values() {
    for value in ["\"\"", "0", "false"] {
        let text = format!(
            "{{\"version\": \"cuecard-steps/1\", \"url\": \"a\", \"testSteps\": [{{\"id\": \"a\", \"description\": \"d\", \"action\": \"input\", \"selector\": \"css=a\", \"value\": {value}}}]}}"
        );
        let reading = read_steps(&SourceFile::new("steps.json", text));
        let steps = reading.steps.expect(value);
        assert!(steps.test_steps[0].input_value().is_some());
    }
}

#[test]
fn what_fits_the_readers_fits_the_schemas() {
    let scenario = jsonschema::validator_for(&schema()).expect("a schema");
    let document = cuecard_source::document::read_document(&SourceFile::new("x.yaml", WHOLE));
    let value = document.root.expect("it is YAML").to_value();
    let errors: Vec<_> = scenario
        .iter_errors(&value)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [] as [&str; 0]);
    let steps = jsonschema::validator_for(&steps_schema()).expect("a schema");
    let errors: Vec<_> = steps
        .iter_errors(&sample().to_json())
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [] as [&str; 0]);
}

proptest! {
    /// What is written is read back, whatever stands in it.
    #[test]
    fn any_steps_come_back(names in proptest::collection::vec("\\PC{0,20}", 1..5), flag in proptest::bool::ANY, number in 1_u64..1000) {
        let mut file = sample();
        file.test_steps[0].description = names[0].clone();
        file.test_steps[0].context.dom_structure_snapshot = names.join("\n");
        file.test_steps[0].selectors = names.clone();
        file.test_steps[0].optional = flag;
        file.test_steps[0].timeout_ms = Some(number);
        file.test_steps[1].value = Some(names[0].clone().into());
        file.test_steps[1].assertion.as_mut().expect("it has one").expected = Some(names[0].clone().into());
        file.errors[0].message = names[0].clone();
        let reading = read_steps(&SourceFile::new("steps.json", file.to_text()));
        prop_assert_eq!(reading.steps, Some(file), "{:?}", reading.diagnostics);
    }
}
