//! Writes steps: keys in a fixed order, what is absent left out, never null.

use serde_json::{Map, json};

use crate::model::{
    BrowserAssertion, Compare, Container, Direction, ErrorInfo, Fingerprint, Observed, ParseStatus,
    STEPS_VERSION, StepElement, StepsFile, TestStep, Translator, WaitFor,
};
use cuecard_source::value::Json;

type Members = Map<String, Json>;

fn put(members: &mut Members, key: &str, value: impl Into<Json>) {
    members.insert(key.to_owned(), value.into());
}

fn put_some<T: Into<Json>>(members: &mut Members, key: &str, value: Option<T>) {
    if let Some(value) = value {
        put(members, key, value);
    }
}

fn put_texts(members: &mut Members, key: &str, texts: &[String]) {
    if !texts.is_empty() {
        put(members, key, texts.to_vec());
    }
}

fn put_observed(members: &mut Members, observed: &Observed) {
    let observed = observed.to_json();
    if !observed.is_empty() {
        put(members, "observed", Json::Object(observed));
    }
}

impl StepsFile {
    /// The file as JSON.
    pub fn to_json(&self) -> Json {
        let mut members = Members::new();
        put(&mut members, "success", self.status == ParseStatus::Success);
        put_some(&mut members, "executionTimeMs", self.execution_time_ms);
        put_some(
            &mut members,
            "extractedContent",
            self.extracted_content.clone(),
        );
        let steps: Vec<Json> = self.test_steps.iter().map(step).collect();
        put(&mut members, "testSteps", steps);
        put(&mut members, "status", self.status.as_str());
        if !self.errors.is_empty() {
            let errors: Vec<Json> = self.errors.iter().map(error).collect();
            put(&mut members, "errors", errors);
        }
        put(&mut members, "version", STEPS_VERSION);
        put(&mut members, "url", self.url.clone());
        put_observed(&mut members, &self.observed);
        put(&mut members, "options", self.options.clone());
        put(
            &mut members,
            "variables",
            Json::Object(self.variables.clone()),
        );
        put_texts(&mut members, "secrets", &self.secrets);
        Json::Object(members)
    }

    /// The file as it is written: indented, with a line end.
    pub fn to_text(&self) -> String {
        format!("{:#}\n", self.to_json())
    }
}

fn step(step: &TestStep) -> Json {
    let mut members = Members::new();
    put(&mut members, "id", step.id.clone());
    put(&mut members, "description", step.description.clone());
    put(&mut members, "action", step.action.as_str());
    put_some(&mut members, "selector", step.selector.clone());
    put_some(&mut members, "value", step.value.clone());
    put_some(&mut members, "url", step.url.clone());
    let mut context = Members::new();
    put(
        &mut context,
        "domStructureSnapshot",
        step.dom_structure_snapshot.clone(),
    );
    put_some(
        &mut context,
        "fullDomSnapshot",
        step.full_dom_snapshot.clone(),
    );
    put(&mut members, "context", Json::Object(context));
    put_some(&mut members, "timeout", step.timeout_ms);
    put_some(&mut members, "waitFor", step.wait_for.map(WaitFor::as_str));
    put_some(&mut members, "maxRetries", step.max_retries);
    put_texts(&mut members, "selectors", &step.selectors);
    put_some(
        &mut members,
        "fingerprint",
        step.fingerprint.as_ref().map(fingerprint),
    );
    put_some(
        &mut members,
        "translator",
        step.translator.map(Translator::as_str),
    );
    put_some(&mut members, "index", step.index);
    put_some(&mut members, "to", step.to.as_ref().map(element));
    put_some(
        &mut members,
        "assertion",
        step.assertion.as_ref().map(assertion),
    );
    put_some(&mut members, "key", step.key.clone());
    put_some(
        &mut members,
        "direction",
        step.direction.map(Direction::as_str),
    );
    put_some(&mut members, "durationMs", step.duration_ms);
    put_some(&mut members, "tab", step.tab);
    if step.optional {
        put(&mut members, "optional", true);
    }
    put_observed(&mut members, &step.observed);
    Json::Object(members)
}

fn element(element: &StepElement) -> Json {
    let mut members = Members::new();
    put(&mut members, "selectors", element.selectors.clone());
    put_some(
        &mut members,
        "fingerprint",
        element.fingerprint.as_ref().map(fingerprint),
    );
    put_some(&mut members, "index", element.index);
    Json::Object(members)
}

/// What is expected stands in the step's `value`.
fn assertion(assertion: &BrowserAssertion) -> Json {
    let mut members = Members::new();
    put(&mut members, "kind", assertion.kind.as_str());
    if assertion.negate {
        put(&mut members, "negate", true);
    }
    if assertion.kind.needs_expected() {
        put(&mut members, "match", assertion.matching.as_str());
    }
    if assertion.compare != Compare::Equal {
        put(&mut members, "compare", assertion.compare.as_str());
    }
    if assertion.case_sensitive {
        put(&mut members, "caseSensitive", true);
    }
    Json::Object(members)
}

pub(super) fn fingerprint(fingerprint: &Fingerprint) -> Json {
    let mut members = Members::new();
    put(&mut members, "role", fingerprint.role.clone());
    put(&mut members, "name", fingerprint.name.clone());
    put_some(&mut members, "text", fingerprint.text.clone());
    put(&mut members, "tag", fingerprint.tag.clone());
    put_some(&mut members, "inputType", fingerprint.input_type.clone());
    put_some(&mut members, "testId", fingerprint.test_id.clone());
    let outline: Vec<Json> = fingerprint.outline.iter().map(container).collect();
    if !outline.is_empty() {
        put(&mut members, "outline", outline);
    }
    if fingerprint.is_container {
        put(&mut members, "isContainer", true);
    }
    put_some(&mut members, "siblings", fingerprint.siblings.clone());
    put(&mut members, "alone", fingerprint.alone);
    put_some(&mut members, "position", fingerprint.position);
    put_some(&mut members, "column", fingerprint.column.clone());
    Json::Object(members)
}

fn container(container: &Container) -> Json {
    let mut members = Members::new();
    put(&mut members, "kind", container.kind.as_str());
    put_some(&mut members, "text", container.text.clone());
    put(&mut members, "at", container.at.as_str());
    put_some(&mut members, "column", container.column.clone());
    put_some(&mut members, "made", container.made.clone());
    put_some(&mut members, "nodes", container.nodes);
    Json::Object(members)
}

fn error(error: &ErrorInfo) -> Json {
    let mut json = json!({});
    let Json::Object(members) = &mut json else {
        return json;
    };
    put_some(members, "stepId", error.step_id.clone());
    put(members, "message", error.message.clone());
    put_some(members, "action", error.action.clone());
    put_some(members, "playwrightAction", error.playwright_action.clone());
    put_some(members, "llmError", error.llm_error.clone());
    put_some(members, "selector", error.selector.clone());
    put_some(members, "stack", error.stack.clone());
    if !error.code.is_empty() {
        put(members, "code", error.code.clone());
    }
    put_texts(members, "candidates", &error.candidates);
    put_some(members, "help", error.help.clone());
    if error.is_warning {
        put(members, "severity", "warning");
    }
    json
}
