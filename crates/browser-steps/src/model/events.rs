//! What a run of browser steps leaves in a trace: a call and a result for each step, what was asserted, pictures and
//! what deserves a look. Values stand in it as references, never as they were typed.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, json};

use crate::model::{ActionKind, BrowserAssertion, Observed, StepsFile, TestStep};
use cuecard_page::browser_tool;
use cuecard_source::value::Json;
use cuecard_trace::EventData;
use cuecard_trace::{Assertion, ErrorHappened, Log, Screenshot, StepError, ToolCall, ToolResult};

/// The id of the call that opens the first page.
const OPENING: &str = "open";

/// What came of one attempt at a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BrowserResult {
    /// Whether its element was the one that was meant: same, healed, renamed, ambiguous or gone.
    pub verdict: Option<String>,
    /// Why another one was taken.
    pub reason: Option<String>,
    /// What was seen.
    pub observed: Observed,
    /// Why it failed.
    pub error: Option<StepError>,
    /// Whether it may be tried again without doing anything twice.
    pub is_retryable: bool,
    /// Pictures of the page.
    pub screenshots: Vec<String>,
    /// How long it took.
    pub duration_ms: Option<f64>,
}

/// The first page is opened.
pub fn browser_opening(url: &str) -> EventData {
    EventData::ToolCall(ToolCall {
        tool: browser_tool(ActionKind::Navigate),
        call_id: OPENING.into(),
        args: Arc::new(json!({"url": url})),
        native_tool: None,
        attempt: None,
    })
}

/// What came of opening it.
pub fn browser_opened(result: &BrowserResult) -> Vec<EventData> {
    ended(
        browser_tool(ActionKind::Navigate),
        OPENING.into(),
        result,
        None,
    )
}

/// A step is about to be done, for the n-th time from 1, on the element with these words.
pub fn browser_call(step: &TestStep, target: Option<&str>, attempt: u32) -> EventData {
    EventData::ToolCall(ToolCall {
        tool: browser_tool(step.action),
        call_id: call_id(step, attempt),
        args: Arc::new(arguments(step, target)),
        native_tool: None,
        attempt: Some(attempt),
    })
}

/// What came of it.
pub fn browser_result(step: &TestStep, attempt: u32, result: &BrowserResult) -> Vec<EventData> {
    ended(
        browser_tool(step.action),
        call_id(step, attempt),
        result,
        step.assertion
            .as_ref()
            .map(|assertion| (step.id.as_str(), assertion)),
    )
}

/// Dialogs and downloads of a step in words, by its result or what was observed when it was made.
pub fn browser_notes(result: &Json) -> Vec<String> {
    let items = |key: &str| result[key].as_array().into_iter().flatten();
    let dialogs = items("dialogs").map(|dialog| {
        let answer = match dialog["accepted"] == Json::Bool(true) {
            true => "accepted",
            false => "dismissed",
        };
        format!(
            "{} `{}`: {answer}",
            text(&dialog["kind"]),
            text(&dialog["message"])
        )
    });
    let downloads = items("downloads").map(|download| {
        let (name, size) = (text(&download["name"]), &download["size"]);
        format!("download `{name}`, {size} bytes")
    });
    dialogs.chain(downloads).collect()
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}

/// The trace of the run in which the steps of a file were made.
pub fn browser_events(file: &StepsFile) -> Vec<EventData> {
    let mut events = vec![browser_opening(&file.url)];
    events.extend(browser_opened(&BrowserResult::default()));
    for step in &file.test_steps {
        let words = step.fingerprint.as_ref().map(|known| match &*known.name {
            "" => known.role.clone(),
            name => format!("{} {}", known.role, Json::from(name)),
        });
        events.push(browser_call(step, words.as_deref(), 1));
        let result = BrowserResult {
            observed: step.observed.clone(),
            ..BrowserResult::default()
        };
        events.extend(browser_result(step, 1, &result));
    }
    events.extend(file.errors.iter().map(|error| {
        let level = if error.is_warning() {
            "warning"
        } else {
            "error"
        };
        let action = error.action.as_deref().unwrap_or_default();
        log(
            level,
            format!("{action}: {} ({})", error.message, error.code),
        )
    }));
    events
}

fn call_id(step: &TestStep, attempt: u32) -> Arc<str> {
    match attempt {
        0 | 1 => step.id.as_str().into(),
        again => format!("{}#{again}", step.id).into(),
    }
}

fn arguments(step: &TestStep, target: Option<&str>) -> Json {
    let mut arguments = Map::new();
    let mut put = |key: &str, value: Option<Json>| {
        if let Some(value) = value {
            arguments.insert(key.to_owned(), value);
        }
    };
    put("target", target.map(Json::from));
    put("selector", step.selectors.first().map(|first| json!(first)));
    let to = step.to.as_ref().and_then(|to| to.selectors.first());
    put("to", to.map(|first| json!(first)));
    put("value", step.value.clone());
    put("url", step.url.clone().map(Json::from));
    put("key", step.key.clone().map(Json::from));
    put("direction", step.direction.map(|way| way.as_str().into()));
    put("durationMs", step.duration_ms.map(Json::from));
    if let Some(assertion) = &step.assertion {
        put("assertion", Some(assertion.kind.as_str().into()));
        put("negate", assertion.negate.then_some(Json::Bool(true)));
    }
    Json::Object(arguments)
}

/// The events of a call that ended; `check` is what it asserted, with the id of its step.
fn ended(
    tool: Cow<'static, str>,
    call_id: Arc<str>,
    result: &BrowserResult,
    check: Option<(&str, &BrowserAssertion)>,
) -> Vec<EventData> {
    let mut told = match json!(result.observed) {
        Json::Object(members) => members,
        _ => Map::new(),
    };
    let mut put = |key: &str, value: Option<&String>| {
        if let Some(value) = value {
            told.insert(key.to_owned(), value.clone().into());
        }
    };
    put("verdict", result.verdict.as_ref());
    put("reason", result.reason.as_ref());
    let error = result.error.as_ref();
    put("error", error.map(|error| &error.message));
    put("code", error.map(|error| &error.code));
    let mut events = vec![EventData::ToolResult(ToolResult {
        tool: tool.clone(),
        call_id: call_id.clone(),
        success: error.is_none(),
        result: Arc::new(Json::Object(told)),
        text: None,
        structured: None,
        fixture_id: None,
        duration_ms: result.duration_ms,
    })];
    if let Some((id, assertion)) = check {
        events.push(EventData::Assertion(Assertion {
            id: id.to_owned(),
            kind: assertion.kind.as_str().to_owned(),
            status: if error.is_none() { "pass" } else { "fail" }.to_owned(),
            observed: json!(result.observed.extracted_content),
            evidence: error.map(|error| error.message.clone()),
        }));
    }
    if let Some(error) = error {
        events.push(EventData::ErrorHappened(ErrorHappened {
            scope: "tool".to_owned(),
            tool: Some(tool),
            call_id: Some(call_id),
            error_type: error.error_type.clone(),
            message: error.message.clone(),
            retryable: result.is_retryable,
        }));
    }
    if let Some(reason) = &result.reason {
        events.push(log("warning", format!("healed: {reason}")));
    }
    let warnings = result.observed.warnings.iter();
    events.extend(warnings.map(|warning| log("warning", warning.clone())));
    if !result.screenshots.is_empty() {
        events.push(EventData::Screenshot(Screenshot {
            label: "the page".to_owned(),
            files: result.screenshots.clone(),
        }));
    }
    events
}

fn log(level: &str, message: String) -> EventData {
    EventData::Log(Log {
        level: level.to_owned(),
        message,
        stream: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AssertKind, Fingerprint, ParseStatus};

    fn file() -> StepsFile {
        let mut click = TestStep::new("st-1", "click 'Log in'", ActionKind::Click);
        click.selectors = vec!["role=button[name=\"Log in\"]".to_owned()];
        click.fingerprint = Some(Fingerprint {
            role: "button".to_owned(),
            name: "Log in".to_owned(),
            ..Fingerprint::default()
        });
        click.observed.url = Some("https://shop.example/home".to_owned());
        click.observed.warnings = vec!["settle: bounded".to_owned()];
        let mut check = TestStep::new("st-2", "check the title", ActionKind::Assert);
        check.assertion = Some(BrowserAssertion::new(AssertKind::Title));
        check.value = Some("Home".into());
        check.observed.extracted_content = Some("Home".to_owned());
        StepsFile {
            test_steps: vec![click, check],
            status: ParseStatus::Success,
            errors: Vec::new(),
            extracted_content: None,
            execution_time_ms: None,
            url: "https://shop.example/{{PATH}}".to_owned(),
            observed: Observed::default(),
            options: json!({}),
            variables: Map::new(),
            secrets: Vec::new(),
        }
    }

    #[test]
    fn dialogs_and_downloads_are_noted_in_words() {
        let result = json!({
            "dialogs": [
                {"kind": "alert", "message": "Hello", "accepted": false},
                {"kind": "confirm", "message": "Sure?", "accepted": true},
            ],
            "downloads": [{"name": "report.csv", "size": 30, "sha256": "00"}],
            "warnings": ["told elsewhere"],
        });
        assert_eq!(
            browser_notes(&result),
            [
                "alert `Hello`: dismissed",
                "confirm `Sure?`: accepted",
                "download `report.csv`, 30 bytes"
            ]
        );
        assert!(browser_notes(&Json::Null).is_empty());
    }

    #[test]
    fn a_file_of_steps_is_a_trace_of_its_making() {
        let events = browser_events(&file());
        let types: Vec<&str> = events.iter().map(EventData::type_name).collect();
        assert_eq!(
            types,
            [
                "tool_call",
                "tool_result",
                "tool_call",
                "tool_result",
                "log",
                "tool_call",
                "tool_result",
                "assertion"
            ]
        );
        let EventData::ToolCall(call) = &events[2] else {
            panic!("{events:?}");
        };
        assert_eq!(call.tool, "browser.click");
        assert_eq!(
            *call.args,
            json!({"target": "button \"Log in\"", "selector": "role=button[name=\"Log in\"]"})
        );
        let EventData::Assertion(check) = &events[7] else {
            panic!("{events:?}");
        };
        assert_eq!((check.id.as_str(), check.status.as_str()), ("st-2", "pass"));
        assert_eq!(check.observed, "Home");
    }

    #[test]
    fn a_failure_says_why_and_calls_have_ids_of_their_own() {
        let step = &file().test_steps[1];
        let result = BrowserResult {
            verdict: Some("gone".to_owned()),
            error: Some(StepError {
                code: "B-assertion_failed".to_owned(),
                error_type: "assertion_failed".to_owned(),
                message: "the title is \"Shop\"".to_owned(),
                notes: Vec::new(),
                help: None,
            }),
            ..BrowserResult::default()
        };
        let events = browser_result(step, 2, &result);
        let types: Vec<&str> = events.iter().map(EventData::type_name).collect();
        assert_eq!(types, ["tool_result", "assertion", "error"]);
        let EventData::ToolResult(told) = &events[0] else {
            panic!("{events:?}");
        };
        assert_eq!(&*told.call_id, "st-2#2");
        assert!(!told.success);
        assert_eq!(told.result["code"], "B-assertion_failed");
    }
}
