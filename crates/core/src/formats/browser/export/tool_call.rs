//! Steps as a tool-call scenario for the MCP server of a browser: a call for each, with a target where it is about an
//! element.

use std::path::Path;

use serde_json::{Map, json};

use super::checks::{Check, check};
use super::elements::Element;
use super::settings::settings;
use super::texts::Names;
use super::{Exported, Warnings};
use crate::scenario::browser::{
    ActionKind, BrowserOptions, Direction, InputValue, StepsFile, TestStep, TextMatch,
};
use crate::source::SourceFile;
use crate::value::{Json, as_text, names_credential};

/// How often an element or an assertion is looked for, in milliseconds.
const AGAIN: u64 = 250;

/// The most retries that a scenario may ask for.
const MOST_RETRIES: u64 = 1_000;

/// What a target that finds nothing says; only this is tried again, since nothing was done yet.
const NOT_FOUND: &str = "element not found";

/// The server that a scenario is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolCallServer {
    /// chrome-devtools-mcp.
    ChromeDevtools,
    /// @playwright/mcp.
    Playwright,
}

impl ToolCallServer {
    /// What configs call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::ChromeDevtools => "chrome-devtools",
            Self::Playwright => "playwright",
        }
    }
}

/// The scenario that does what the steps do.
pub fn to_tool_call(file: &StepsFile, source: &SourceFile, server: ToolCallServer) -> Exported {
    let mut writer = Writer {
        server,
        names: Names::of(file),
        settings: settings(&file.options),
        calls: Vec::new(),
        warnings: Warnings::new(source),
        tab: 0,
    };
    writer.navigate(&file.url, "Open the page");
    for (place, step) in file.test_steps.iter().enumerate() {
        writer.step(place, step);
        writer.doubts(place, step, &file.secrets);
    }
    let mut scenario = Map::new();
    let name = Path::new(source.name())
        .file_stem()
        .map_or("steps".into(), |stem| stem.to_string_lossy());
    scenario.insert("version".to_owned(), "2.1".into());
    scenario.insert(
        "metadata".to_owned(),
        json!({"name": name, "target_url": file.url}),
    );
    let variables = variables(file, &writer.names);
    if !variables.is_empty() {
        scenario.insert("variables".to_owned(), Json::Object(variables));
    }
    let viewport = writer.settings.viewport;
    scenario.insert(
        "environment".to_owned(),
        json!({"mcp": server.word(), "viewport": {"width": viewport.width, "height": viewport.height}}),
    );
    scenario.insert("steps".to_owned(), Json::Array(writer.calls));
    Exported {
        text: format!("{:#}\n", Json::Object(scenario)),
        warnings: writer.warnings.found,
    }
}

/// Variables with their defaults; one without must be given, as a secret must.
fn variables(file: &StepsFile, names: &Names<'_>) -> Map<String, Json> {
    names
        .all()
        .iter()
        .map(|name| {
            let default = file.variables.get(*name).filter(|value| !value.is_null());
            ((*name).to_owned(), default.cloned().unwrap_or("".into()))
        })
        .collect()
}

struct Writer<'a> {
    server: ToolCallServer,
    names: Names<'a>,
    settings: BrowserOptions,
    calls: Vec<Json>,
    warnings: Warnings<'a>,
    /// The tab that the next call goes to.
    tab: usize,
}

impl Writer<'_> {
    fn is_devtools(&self) -> bool {
        self.server == ToolCallServer::ChromeDevtools
    }

    /// Adds a call with what more the step holds.
    fn call(&mut self, tool: &str, params: Json, description: &str, more: Map<String, Json>) {
        let tool = match tool.starts_with("sandy__") {
            true => tool.to_owned(),
            false => format!("mcp__{}__{tool}", self.server.word()),
        };
        let mut call = Map::new();
        call.insert("step".to_owned(), (self.calls.len() + 1).into());
        let mut more = more;
        if let Some(id) = more.remove("id") {
            call.insert("id".to_owned(), id);
        }
        let description = self.names.template(description);
        call.insert("description".to_owned(), description.into());
        call.insert("tool".to_owned(), tool.into());
        call.insert("params".to_owned(), params);
        call.extend(more);
        self.calls.push(Json::Object(call));
    }

    fn navigate(&mut self, url: &str, description: &str) {
        let url = match url {
            "back" | "forward" | "reload" => return self.in_history(url, description),
            url => self.names.template(url),
        };
        let tool = match self.is_devtools() {
            true => "navigate_page",
            false => "browser_navigate",
        };
        self.call(tool, json!({"url": url}), description, Map::new());
    }

    fn in_history(&mut self, way: &str, description: &str) {
        let (tool, params) = match (self.is_devtools(), way) {
            (true, way) => ("navigate_page", json!({"type": way})),
            (false, "back") => ("browser_navigate_back", json!({})),
            (false, "forward") => (
                "browser_evaluate",
                json!({"function": "() => { history.forward(); }"}),
            ),
            (false, _) => (
                "browser_evaluate",
                json!({"function": "() => { location.reload(); }"}),
            ),
        };
        self.call(tool, params, description, Map::new());
    }

    fn step(&mut self, place: usize, step: &TestStep) {
        self.go_to_tab(step.tab.unwrap_or(0));
        let words = step.description.as_str();
        match step.action {
            ActionKind::Navigate => {
                self.navigate(step.url.as_deref().unwrap_or_default(), words);
            }
            ActionKind::Wait if step.assertion.is_none() => {
                let seconds = step.duration_ms.unwrap_or(0) as f64 / 1000.0;
                self.call(
                    "sandy__wait",
                    json!({"duration": seconds}),
                    words,
                    Map::new(),
                );
            }
            ActionKind::Assert | ActionKind::Wait => self.assertion(place, step),
            ActionKind::Press if step.selectors.is_empty() => self.press(step),
            ActionKind::Scroll if step.selectors.is_empty() => {
                let sign = match step.direction {
                    Some(Direction::Up) => "-",
                    _ => "",
                };
                let function = format!("() => {{ window.scrollBy(0, {sign}window.innerHeight); }}");
                self.evaluate(step, &function, Map::new());
            }
            ActionKind::Unknown => {}
            _ => self.on_element(place, step),
        }
        for dialog in &step.observed.dialogs {
            let (tool, params) = match self.is_devtools() {
                true => (
                    "handle_dialog",
                    json!({"action": if dialog.accepted { "accept" } else { "dismiss" }}),
                ),
                false => ("browser_handle_dialog", json!({"accept": dialog.accepted})),
            };
            let words = format!("Answer the dialog that says {:?}", dialog.message);
            self.call(tool, params, &words, Map::new());
        }
    }

    fn go_to_tab(&mut self, tab: usize) {
        if tab == self.tab {
            return;
        }
        self.tab = tab;
        let words = format!("Go to tab {}", tab + 1);
        match self.is_devtools() {
            true => self.call(
                "select_page",
                json!({"pageId": tab + 1}),
                &words,
                Map::new(),
            ),
            false => self.call(
                "browser_tabs",
                json!({"action": "select", "index": tab}),
                &words,
                Map::new(),
            ),
        }
    }

    fn press(&mut self, step: &TestStep) {
        let tool = match self.is_devtools() {
            true => "press_key",
            false => "browser_press_key",
        };
        let key = self.names.template(step.key.as_deref().unwrap_or_default());
        let more = common(step, None);
        self.call(tool, json!({"key": key}), &step.description, more);
    }

    fn evaluate(&mut self, step: &TestStep, function: &str, more: Map<String, Json>) {
        let tool = match self.is_devtools() {
            true => "evaluate_script",
            false => "browser_evaluate",
        };
        let params = json!({"function": self.names.template(function)});
        let mut all = common(step, None);
        all.extend(more);
        self.call(tool, params, &step.description, all);
    }

    /// The element of a step; what can't be said is.
    fn element(&mut self, place: usize, step: &TestStep) -> Option<Element> {
        let element = Element::of(step, &self.settings.test_id_attribute);
        match &element {
            None => self.warnings.warn(
                place,
                step,
                "no target can say its element, so it is left out",
                "the element has no role with a name, no text and no CSS selector outside of frames",
            ),
            Some(element) if element.is_by_position => self.warnings.warn(
                place,
                step,
                "only its place among others says which element it is",
                "it may lead to another one as soon as the page changes",
            ),
            Some(_) => {}
        }
        element
    }

    fn on_element(&mut self, place: usize, step: &TestStep) {
        let Some(element) = self.element(place, step) else {
            return;
        };
        let target = element.target(&self.names);
        let limit = step.timeout_ms.unwrap_or(self.settings.action_timeout_ms);
        let mut more = Map::new();
        more.insert("target".to_owned(), target);
        more.extend(common(step, Some(limit)));
        let value = match step.input_value() {
            Some(InputValue::Text(text)) => self.names.template(&text),
            Some(value) => as_text(&value.to_json()).into_owned(),
            None => String::new(),
        };
        let is_flag = matches!(step.input_value(), Some(InputValue::Flag(_)));
        let words = step.description.as_str();
        let (tool, params) = match (self.server, step.action) {
            (ToolCallServer::ChromeDevtools, ActionKind::Click) => ("click", json!({})),
            (ToolCallServer::ChromeDevtools, ActionKind::DoubleClick) => {
                ("click", json!({"dblClick": true}))
            }
            // An element under the pointer is in view.
            (ToolCallServer::ChromeDevtools, ActionKind::Hover | ActionKind::Scroll) => {
                ("hover", json!({}))
            }
            (ToolCallServer::ChromeDevtools, ActionKind::Input | ActionKind::Select) => {
                ("fill", json!({"value": value}))
            }
            (ToolCallServer::ChromeDevtools, ActionKind::Upload) => {
                ("upload_file", json!({"filePaths": [value]}))
            }
            (ToolCallServer::Playwright, ActionKind::Click) => ("browser_click", json!({})),
            (ToolCallServer::Playwright, ActionKind::DoubleClick) => {
                ("browser_click", json!({"doubleClick": true}))
            }
            (ToolCallServer::Playwright, ActionKind::Hover | ActionKind::Scroll) => {
                ("browser_hover", json!({}))
            }
            (ToolCallServer::Playwright, ActionKind::Input) if is_flag => {
                return self.check_box(step, &element, &value, more);
            }
            (ToolCallServer::Playwright, ActionKind::Input) => {
                ("browser_type", json!({"text": value}))
            }
            (ToolCallServer::Playwright, ActionKind::Select) => {
                ("browser_select_option", json!({"values": [value]}))
            }
            (ToolCallServer::Playwright, ActionKind::Upload) => {
                // The click opens the dialog that the next call answers.
                self.call("browser_click", json!({}), words, more);
                let params = json!({"paths": [value]});
                return self.call("browser_file_upload", params, words, Map::new());
            }
            (_, ActionKind::Press) => {
                self.evaluate_on(step, "(element) => { element.focus(); }", more);
                return self.press(step);
            }
            (_, ActionKind::Extract) => {
                more.insert("id".to_owned(), format!("extract_{}", place + 1).into());
                more.insert("output".to_owned(), json!({"text": "$"}));
                let function = "(element) => (element.value ?? element.innerText).replace(/\\s+/g, ' ').trim()";
                return self.evaluate_on(step, function, more);
            }
            // What has no element was said before.
            _ => return,
        };
        self.call(tool, params, words, more);
    }

    /// @playwright/mcp ticks boxes as fields of a form, so the form's field is what has the target.
    fn check_box(
        &mut self,
        step: &TestStep,
        element: &Element,
        value: &str,
        mut more: Map<String, Json>,
    ) {
        let is_radio = element.wanted.role.as_deref() == Some("radio")
            || step
                .fingerprint
                .as_ref()
                .is_some_and(|known| known.role == "radio");
        let field = json!({
            "name": step.description,
            "type": if is_radio { "radio" } else { "checkbox" },
            "value": value,
        });
        if let Some(target) = more.remove("target") {
            let targets = json!({"fields[0].target": target});
            let rest = std::mem::take(&mut more);
            more.insert("targets".to_owned(), targets);
            more.extend(rest);
        }
        self.call(
            "browser_fill_form",
            json!({"fields": [field]}),
            &step.description,
            more,
        );
    }

    fn evaluate_on(&mut self, step: &TestStep, function: &str, more: Map<String, Json>) {
        let tool = match self.is_devtools() {
            true => "evaluate_script",
            false => "browser_evaluate",
        };
        let params = json!({"function": self.names.template(function)});
        self.call(tool, params, &step.description, more);
    }

    fn assertion(&mut self, place: usize, step: &TestStep) {
        let Some(assertion) = &step.assertion else {
            return;
        };
        let element = match step.selectors.is_empty() {
            true => None,
            false => match self.element(place, step) {
                None => return,
                element => element,
            },
        };
        let check = match check(assertion, element.as_ref(), &self.names) {
            Ok(check) => check,
            Err(what) => {
                let what = format!("{what}, so it is left out");
                let help = "judge it in a test case, or in the steps themselves";
                return self.warnings.warn(place, step, &what, help);
            }
        };
        let limit = step.timeout_ms.unwrap_or(match step.action {
            ActionKind::Wait => self.settings.action_timeout_ms,
            _ => self.settings.assert_timeout_ms,
        });
        let mut more = Map::new();
        let (function, on_element) = match &check {
            Check::Holds {
                function,
                on_element,
            }
            | Check::Text {
                function,
                on_element,
                ..
            } => (Some(function.clone()), *on_element),
            Check::Snapshot(_) => (None, false),
        };
        if let (Some(element), true) = (&element, on_element) {
            more.insert("target".to_owned(), element.target(&self.names));
        }
        more.insert("expect".to_owned(), self.expectation(check));
        more.extend(retry(limit, None, step.optional));
        match function {
            Some(function) => self.evaluate_on(step, &function, more),
            None => {
                let tool = match self.is_devtools() {
                    true => "take_snapshot",
                    false => "browser_snapshot",
                };
                self.call(tool, json!({}), &step.description, more);
            }
        }
    }

    /// What must hold of the result of a call. @playwright/mcp writes it into a section of its answer.
    fn expectation(&self, check: Check) -> Json {
        match (check, self.is_devtools()) {
            (Check::Snapshot(schema), _) => json!({"json_schema": schema}),
            (Check::Holds { .. }, true) => json!({"equals": true}),
            (Check::Holds { .. }, false) => json!({"matches": "^### Result\\s+true\\b"}),
            (
                Check::Text {
                    expected, matching, ..
                },
                is_devtools,
            ) => match (matching, is_devtools) {
                (TextMatch::Equals, true) => json!({"equals": expected}),
                (TextMatch::Equals, false) => {
                    json!({"contains": format!("### Result\n\"{expected}\"")})
                }
                _ => json!({"contains": expected}),
            },
        }
    }

    /// What the steps say and no scenario can.
    fn doubts(&mut self, place: usize, step: &TestStep, secrets: &[String]) {
        if let Some(Json::String(text)) = &step.value {
            let secret = secrets
                .iter()
                .find(|name| !names_credential(name) && text.contains(&format!("{{{{{name}}}}}")));
            if let Some(name) = secret {
                self.warnings.warn(
                    place,
                    step,
                    &format!("`{name}` is a secret, which a scenario can't say"),
                    &format!("play it with --secret {name}"),
                );
            }
        }
        if step.max_retries.is_some_and(|retries| retries > 0) {
            self.warnings.warn(
                place,
                step,
                "`maxRetries` is left out",
                "an element that is not there yet is looked for again all the same",
            );
        }
    }
}

/// Keys that steps of every kind have: a time, what a failure does, and how long an element is looked for.
fn common(step: &TestStep, look_for_ms: Option<u64>) -> Map<String, Json> {
    let mut more = Map::new();
    match (step.optional, look_for_ms) {
        (true, _) => {
            more.insert("on_error".to_owned(), "skip".into());
        }
        (false, Some(limit)) => more = retry(limit, Some(NOT_FOUND), false),
        (false, None) => {}
    }
    more
}

/// Tries again for so many milliseconds.
fn retry(limit_ms: u64, condition: Option<&str>, then_skip: bool) -> Map<String, Json> {
    let mut retry = Map::new();
    let count = (limit_ms / AGAIN).clamp(1, MOST_RETRIES);
    retry.insert("count".to_owned(), count.into());
    retry.insert("delay".to_owned(), AGAIN.into());
    retry.insert("backoff".to_owned(), "constant".into());
    if let Some(condition) = condition {
        retry.insert("condition".to_owned(), condition.into());
    }
    if then_skip {
        retry.insert("then".to_owned(), "skip".into());
    }
    let mut more = Map::new();
    more.insert("on_error".to_owned(), "retry".into());
    more.insert("retry".to_owned(), Json::Object(retry));
    more
}
