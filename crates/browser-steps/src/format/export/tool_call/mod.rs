//! Steps as a tool-call scenario for the MCP server of a browser: a call for each, with a target where it is about an
//! element.

mod assertions;
mod checks;
mod elements;
mod on_element;
mod retries;
mod search;
mod tabs;

use serde_json::{Map, json};

use super::pages::{OPEN_ROOTS, Parts, closes_its_tab, is_in_root, is_whole};
use super::texts::{Names, quoted};
use super::{Exported, Warnings, name_of};
use crate::format::read_steps;
use crate::model::{ActionKind, BrowserOptions, Dialog, Direction, StepsFile, TestStep};
use cuecard_source::SourceFile;
use cuecard_source::value::{Json, names_credential};
use retries::{common, retry};
use tabs::{Tab, Tabs};

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
    pub fn as_str(self) -> &'static str {
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
        settings: read_steps(source).options,
        calls: Vec::new(),
        warnings: Warnings::new(source),
        tabs: Tabs::new(),
        closes_tab: false,
        parts: Parts::of(file),
    };
    writer.open_roots(file);
    writer.go_to(&file.url, "Open the page");
    for (place, step) in file.test_steps.iter().enumerate() {
        writer.closes_tab = closes_its_tab(file, place);
        writer.step(place, step);
        writer.doubts(place, step, &file.secrets);
    }
    let mut scenario = Map::new();
    scenario.insert("version".to_owned(), "2.1".into());
    scenario.insert(
        "metadata".to_owned(),
        json!({"name": name_of(source), "target_url": file.url}),
    );
    let variables = variables(file, &writer.names);
    if !variables.is_empty() {
        scenario.insert("variables".to_owned(), Json::Object(variables));
    }
    let viewport = writer.settings.viewport;
    scenario.insert(
        "environment".to_owned(),
        json!({"mcp": server.as_str(), "viewport": {"width": viewport.width, "height": viewport.height}}),
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
    tabs: Tabs,
    /// Whether the step that is written closes its own tab.
    closes_tab: bool,
    parts: Parts,
}

impl Writer<'_> {
    fn is_devtools(&self) -> bool {
        self.server == ToolCallServer::ChromeDevtools
    }

    /// Adds a call with what more the step holds.
    fn call(&mut self, tool: &str, params: Json, description: &str, more: Map<String, Json>) {
        let tool = match tool.starts_with("sandy__") {
            true => tool.to_owned(),
            false => format!("mcp__{}__{tool}", self.server.as_str()),
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

    /// @playwright/mcp does not look into closed shadow roots, so there are none for it.
    fn open_roots(&mut self, file: &StepsFile) {
        let first = file.test_steps.iter().position(is_in_root);
        let (Some(place), false) = (first, self.is_devtools()) else {
            return;
        };
        let code = format!(
            "async (page) => {{ await page.context().addInitScript({{ content: {} }}); }}",
            quoted(OPEN_ROOTS)
        );
        let mut more = Map::new();
        more.insert("on_error".to_owned(), "skip".into());
        self.call(
            "browser_run_code_unsafe",
            json!({"code": self.names.template(&code)}),
            "Open the shadow roots that the page would close",
            more,
        );
        self.warnings.warn(
            place,
            &file.test_steps[place],
            "shadow roots that the page would close are open in the scenario",
            "@playwright/mcp sees only open ones; `browser_run_code_unsafe` opens them, if the server has it",
        );
    }

    /// Goes to a whole address.
    fn go_to(&mut self, url: &str, description: &str) {
        let tool = match self.is_devtools() {
            true => "navigate_page",
            false => "browser_navigate",
        };
        let params = json!({"url": self.names.template(url)});
        self.call(tool, params, description, Map::new());
    }

    fn navigate(&mut self, place: usize, step: &TestStep) {
        let words = step.description.as_str();
        match step.url.as_deref().unwrap_or_default() {
            way @ ("back" | "forward" | "reload") => self.in_history(way, words),
            url if is_whole(url, &self.names) => self.go_to(url, words),
            url if self.names.has_references(url) => self.warnings.leave_out(
                place,
                step,
                "an address that begins with a path and has a variable in it can't be said",
                "write the whole address",
            ),
            // The servers want whole addresses, and only the page knows where it is.
            url => {
                let function = format!("() => {{ location.assign({}); }}", quoted(url));
                self.evaluate(step, &function, common(step));
            }
        }
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
            ActionKind::Navigate => self.navigate(place, step),
            ActionKind::Wait if step.assertion.is_none() => {
                let seconds = step.duration_ms.unwrap_or(0) as f64 / 1000.0;
                let params = json!({"duration": seconds});
                self.call("sandy__wait", params, words, Map::new());
            }
            ActionKind::Assert | ActionKind::Wait => self.assertion(place, step),
            ActionKind::Press if step.selectors.is_empty() => self.press(step),
            ActionKind::Scroll if step.selectors.is_empty() => {
                let script = step.direction.unwrap_or(Direction::Down).script();
                let function = format!("() => {{ {script}; }}");
                self.evaluate(step, &function, common(step));
            }
            ActionKind::Unknown => {}
            _ => self.on_element(place, step),
        }
        for dialog in &step.observed.dialogs {
            self.answer(place, step, dialog);
        }
    }

    /// Answers a dialog as it was answered when the steps were made.
    fn answer(&mut self, place: usize, step: &TestStep, dialog: &Dialog) {
        let (tool, mut params) = match self.is_devtools() {
            true => (
                "handle_dialog",
                json!({"action": if dialog.accepted { "accept" } else { "dismiss" }}),
            ),
            false => ("browser_handle_dialog", json!({"accept": dialog.accepted})),
        };
        if dialog.kind == "prompt" && dialog.accepted {
            match &dialog.default_value {
                Some(text) => params["promptText"] = self.names.template(text).into(),
                None => self.warnings.warn(
                    place,
                    step,
                    "what the page's question suggests is not known, so its answer is empty",
                    "make the steps anew",
                ),
            }
        }
        let words = format!("Answer the dialog that says {:?}", dialog.message);
        self.call(tool, params, &words, Map::new());
    }

    fn go_to_tab(&mut self, place: usize) {
        let left = self.tabs.current();
        let Some(number) = self.tabs.go_to(place) else {
            return;
        };
        if place < left.place {
            self.tab_is_closed(left);
        }
        let (tool, params) = match self.is_devtools() {
            // Only what is in front is drawn, and what is not drawn never comes to rest for a click.
            true => (
                "select_page",
                json!({"pageId": number, "bringToFront": true}),
            ),
            false => ("browser_tabs", json!({"action": "select", "index": place})),
        };
        // A tab that opens is there a moment later.
        let more = retry(self.settings.assert_timeout_ms, false);
        self.call(tool, params, &format!("Go to tab {}", place + 1), more);
    }

    /// Waits until a tab is no longer among those that the server lists.
    fn tab_is_closed(&mut self, tab: Tab) {
        let (tool, params, line) = match self.is_devtools() {
            true => ("list_pages", json!({}), format!("{}: ", tab.number)),
            false => (
                "browser_tabs",
                json!({"action": "list"}),
                format!("- {}: ", tab.place),
            ),
        };
        let mut more = Map::new();
        let schema = json!({"type": "string", "not": {"pattern": format!("(^|\\n){line}")}});
        more.insert("expect".to_owned(), json!({"json_schema": schema}));
        more.extend(retry(self.settings.assert_timeout_ms, false));
        let words = format!("Tab {} is closed", tab.place + 1);
        self.call(tool, params, &words, more);
    }

    fn press(&mut self, step: &TestStep) {
        let tool = match self.is_devtools() {
            true => "press_key",
            false => "browser_press_key",
        };
        let key = self.names.template(step.key.as_deref().unwrap_or_default());
        let mut more = common(step);
        self.tolerate_closing(&mut more);
        self.call(tool, json!({"key": key}), &step.description, more);
    }

    /// Runs a function in the page, or on the target that `more` holds.
    fn evaluate(&mut self, step: &TestStep, function: &str, more: Map<String, Json>) {
        self.script(function, &step.description, more);
    }

    fn script(&mut self, function: &str, description: &str, more: Map<String, Json>) {
        let tool = match self.is_devtools() {
            true => "evaluate_script",
            false => "browser_evaluate",
        };
        let params = json!({"function": self.names.template(function)});
        self.call(tool, params, description, more);
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
                "`maxRetries` has no counterpart",
                "an element that is not there yet is looked for again all the same",
            );
        }
    }
}
