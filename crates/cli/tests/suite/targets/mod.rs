//! Targets on the pages of the test site, with the real servers of browsers.

mod kinds;
mod recorded;

use std::time::Duration;

use cuecard_testing::peers;
use cuecard_testing::scratch::Scratch;
use cuecard_testing::site::Site;
use serde_json::{Value, json};

use crate::browser::{NEWER, OLDER, with_server};
use crate::program::{self, Played};

/// A browser's server, with what it calls its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// chrome-devtools-mcp as it is now.
    Newer,
    /// chrome-devtools-mcp as it was when many scenarios were recorded.
    Older,
    /// @playwright/mcp.
    Playwright,
}

const PLAYWRIGHT: &str = "npm/node_modules/@playwright/mcp/cli.js";

impl Peer {
    const ALL: [Self; 3] = [Self::Newer, Self::Older, Self::Playwright];

    pub(crate) fn is_playwright(self) -> bool {
        self == Self::Playwright
    }

    /// What the config calls it.
    pub(crate) fn server(self) -> &'static str {
        match self {
            Self::Playwright => "playwright",
            Self::Newer | Self::Older => "chrome-devtools",
        }
    }

    /// A place with the server in its config; nothing when this run leaves real peers out.
    pub(crate) fn start(self) -> Option<Scratch> {
        match self {
            Self::Newer => return with_server(NEWER),
            Self::Older => return with_server(OLDER),
            Self::Playwright => {}
        }
        let script = peers::require(PLAYWRIGHT)?;
        let node = peers::require_program("node")?;
        let chromium = peers::require_program("chromium-headless-shell")?;
        let mut scratch = program::scratch();
        scratch.limit(Duration::from_secs(240));
        let config = json!({"mcpServers": {"playwright": {
            "command": node,
            "args": [script, "--headless", "--isolated", "--no-sandbox", "--executable-path", chromium],
        }}});
        scratch
            .write(".mcp.json", config.to_string())
            .expect("writable");
        Some(scratch)
    }

    fn call(self, tool: &str, params: Value) -> Value {
        json!({"tool": format!("mcp__{}__{tool}", self.server()), "params": params})
    }

    fn open(self, page: &str) -> Value {
        let tool = match self.is_playwright() {
            true => "browser_navigate",
            false => "navigate_page",
        };
        self.call(tool, json!({"url": format!("{{{{SITE}}}}/{page}")}))
    }

    fn click(self, target: Value) -> Value {
        let tool = match self.is_playwright() {
            true => "browser_click",
            false => "click",
        };
        with(self.call(tool, json!({})), json!({"target": target}))
    }

    fn hover(self, target: Value) -> Value {
        let tool = match self.is_playwright() {
            true => "browser_hover",
            false => "hover",
        };
        with(self.call(tool, json!({})), json!({"target": target}))
    }

    fn fill(self, value: &str, target: Value) -> Value {
        let call = match self.is_playwright() {
            true => self.call("browser_type", json!({"text": value})),
            false => self.call("fill", json!({"value": value})),
        };
        with(call, json!({"target": target}))
    }

    /// A script that must return true, however long that takes.
    fn holds(self, expression: &str) -> Value {
        let function = json!({"function": format!("() => {expression}")});
        let call = match self.is_playwright() {
            true => self.call("browser_evaluate", function),
            false => self.call("evaluate_script", function),
        };
        until(call, json!({"equals": true}))
    }

    /// Lists the tabs, which older servers need to know of new ones, until one shows this page.
    fn tabs(self, page: &str) -> Value {
        let call = match self.is_playwright() {
            true => self.call("browser_tabs", json!({"action": "list"})),
            false => self.call("list_pages", json!({})),
        };
        until(call, json!({"contains": page}))
    }

    /// Goes to the tab with this number, from 1.
    fn tab(self, number: u64) -> Value {
        match self {
            Self::Newer => self.call("select_page", json!({"pageId": number})),
            Self::Older => self.call("select_page", json!({"pageIdx": number - 1})),
            Self::Playwright => self.call(
                "browser_tabs",
                json!({"action": "select", "index": number - 1}),
            ),
        }
    }
}

/// A step that is played again until its result is as expected.
fn until(step: Value, expect: Value) -> Value {
    let retry = json!({"count": 40, "delay": 100, "backoff": "constant"});
    with(
        step,
        json!({"expect": expect, "on_error": "retry", "retry": retry}),
    )
}

/// A step with more keys.
fn with(mut step: Value, more: Value) -> Value {
    let (Some(step_members), Value::Object(more)) = (step.as_object_mut(), more) else {
        panic!("objects");
    };
    step_members.extend(more);
    step
}

/// That a text is on the page.
fn shows(text: &str) -> String {
    format!("document.body.innerText.includes({})", json!(text))
}

/// Plays steps on the test site. The exit code must be `exit`.
#[track_caller]
fn play(scratch: &Scratch, site: &Site, steps: Vec<Value>, exit: i32) -> Played {
    let steps: Vec<Value> = steps
        .into_iter()
        .enumerate()
        .map(|(index, step)| with(step, json!({"step": index + 1})))
        .collect();
    let scenario = json!({
        "version": "2.1",
        "metadata": {"name": "Targets"},
        "variables": {"SITE": site.url("").trim_end_matches('/'), "NUMBER": 2},
        "steps": steps,
    });
    scratch
        .write("scenario.json", format!("{scenario:#}"))
        .expect("writable");
    program::play(scratch, &["scenario.json"], exit)
}

/// A target by role and name.
fn named(role: &str, name: &str) -> Value {
    json!({"role": role, "name": name})
}
