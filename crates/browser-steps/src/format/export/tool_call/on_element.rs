//! Steps that are about an element, as calls with a target.

use serde_json::{Map, json};

use super::super::pages::{is_in_foreign_inner_frame, is_in_part, is_made_by_page};
use super::assertions::returns_true;
use super::elements::Element;
use super::retries::{common, on_element, retry};
use super::search::search;
use super::{ToolCallServer, Writer};
use crate::model::{ActionKind, ContainerKind, InputValue, TestStep};
use cuecard_source::value::{Json, as_text};

fn is_in_frame(step: &TestStep) -> bool {
    let outline = step.fingerprint.iter().flat_map(|known| &known.outline);
    outline
        .into_iter()
        .any(|one| one.kind == ContainerKind::Frame)
}

impl Writer<'_> {
    /// The element of a step; what can't be said is.
    pub(super) fn element(&mut self, place: usize, step: &TestStep) -> Option<Element> {
        if self.is_devtools() && is_in_foreign_inner_frame(step) {
            self.warnings.leave_out(
                place,
                step,
                "chrome-devtools-mcp does not see into a frame of another site that is in a frame",
                "export it for @playwright/mcp: --server playwright",
            );
            return None;
        }
        let element = Element::of(step, &self.settings.test_id_attribute, self.is_devtools());
        match &element {
            None => self.warnings.leave_out(
                place,
                step,
                "its element can't be expressed as a target",
                "the element has no role with a name, no text and no CSS selector outside of frames",
            ),
            // What is in a frame may have its twins in others, which a snapshot need not show.
            Some(element)
                if element.is_by_position && !element.is_told_apart() && !is_in_frame(step) =>
            {
                self.warnings.leave_out(
                    place,
                    step,
                    "only its place tells its element from others, and a target can't say that place",
                    "give it a name of its own, or a test id",
                );
                return None;
            }
            Some(element) if element.is_by_position => self.warnings.warn(
                place,
                step,
                "the element is identified only by its position",
                "it may match another element when the page changes",
            ),
            Some(_) => {}
        }
        element
    }

    pub(super) fn on_element(&mut self, place: usize, step: &TestStep) {
        let Some(element) = self.element(place, step) else {
            return;
        };
        if let Some(is_open) = super::super::wanted_open(step) {
            let word = if is_open { "open" } else { "closed" };
            self.warnings.warn(
                place,
                step,
                &format!("the call also clicks it if it is already {word}"),
                "a scenario can't check that first",
            );
        }
        let target = element.target(&self.names);
        let limit = step.timeout_ms.unwrap_or(self.settings.action_timeout_ms);
        let mut more = Map::new();
        more.insert("target".to_owned(), target);
        if self.closes_tab && step.action != ActionKind::Press {
            self.wait_for(&more, limit);
            more.extend(common(step));
            self.tolerate_closing(&mut more);
        } else {
            more.extend(on_element(step, self.server, limit));
        }
        let value = match step.input_value() {
            Some(InputValue::Text(text)) => self.names.template(&text),
            Some(value) => as_text(&value.to_json()).into_owned(),
            None => String::new(),
        };
        let is_flag = matches!(step.input_value(), Some(InputValue::Flag(_)));
        let words = step.description.as_str();
        if step.observed.by_label {
            let function = match step.input_value() {
                Some(InputValue::Flag(flag)) => format!(
                    "(element) => {{ if (element.checked !== {flag}) element.labels[0].click(); }}"
                ),
                _ => "(element) => { element.labels[0].click(); }".to_owned(),
            };
            return self.evaluate(step, &function, more);
        }
        let (tool, params) = match (self.server, step.action) {
            (ToolCallServer::ChromeDevtools, ActionKind::Click) => ("click", json!({})),
            (ToolCallServer::ChromeDevtools, ActionKind::DoubleClick) => {
                ("click", json!({"dblClick": true}))
            }
            (ToolCallServer::ChromeDevtools, ActionKind::RightClick) => {
                let help = "play it with `cuecard play`, or export it for another server";
                let why = "the server has no right click";
                return self.warnings.leave_out(place, step, why, help);
            }
            (_, ActionKind::Select) if is_made_by_page(step) => {
                let why = "the list is no `select`, whose options a call could choose";
                let help = "click it, and click the option, as two steps";
                return self.warnings.leave_out(place, step, why, help);
            }
            (_, ActionKind::Drag) => return self.drag(place, step, more),
            (ToolCallServer::ChromeDevtools, ActionKind::Hover) => ("hover", json!({})),
            (ToolCallServer::ChromeDevtools, ActionKind::Input) if value.is_empty() => {
                return self.clear(step, more);
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
            (ToolCallServer::Playwright, ActionKind::RightClick) => {
                ("browser_click", json!({"button": "right"}))
            }
            (ToolCallServer::Playwright, ActionKind::Hover) => ("browser_hover", json!({})),
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
                self.evaluate(step, "(element) => { element.focus(); }", more);
                return self.press(step);
            }
            (_, ActionKind::Scroll) => return self.scroll_to(step, &element, limit, more),
            (_, ActionKind::Extract) => {
                more.insert("id".to_owned(), format!("extract_{}", place + 1).into());
                more.insert("output".to_owned(), json!({"text": "$"}));
                let function = "(element) => (element.value ?? element.innerText).replace(/\\s+/g, ' ').trim()";
                return self.evaluate(step, function, more);
            }
            // What has no element was said before.
            _ => return,
        };
        self.call(tool, params, words, more);
    }

    /// One call with two targets.
    fn drag(&mut self, place: usize, step: &TestStep, mut more: Map<String, Json>) {
        let to = step.about_destination();
        let Some(to) = to.and_then(|to| self.element(place, &to)) else {
            return;
        };
        let (tool, from, onto) = match self.server {
            ToolCallServer::ChromeDevtools => ("drag", "from_uid", "to_uid"),
            ToolCallServer::Playwright => {
                self.warnings.warn(
                    place,
                    step,
                    "the server moves the pointer at once",
                    "a list that follows the pointer may not take it: export it for chrome-devtools-mcp",
                );
                ("browser_drag", "startTarget", "endTarget")
            }
        };
        let targets = json!({from: more.remove("target"), onto: to.target(&self.names)});
        more.insert("targets".to_owned(), targets);
        self.call(tool, json!({}), &step.description, more);
    }

    /// Waits until the element that `more` has as its target is there.
    fn wait_for(&mut self, more: &Map<String, Json>, limit: u64) {
        let mut more = more.clone();
        more.insert("expect".to_owned(), returns_true());
        more.extend(retry(limit, false));
        let function = "(element) => element.checkVisibility()";
        self.script(function, "Wait for what closes the tab", more);
    }

    /// A tab that closes may take the answer of what closed it with it, which the servers tell as an error: that the tab
    /// is closed is looked at afterwards.
    pub(super) fn tolerate_closing(&self, more: &mut Map<String, Json>) {
        if self.closes_tab {
            more.insert("on_error".to_owned(), "skip".into());
        }
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

    /// Takes out what is in a field by a key. What chrome-devtools-mcp fills with nothing is emptied, but the page is not
    /// told of it.
    fn clear(&mut self, step: &TestStep, more: Map<String, Json>) {
        let select = "(element) => { element.focus(); if (element.select) element.select(); else getSelection().selectAllChildren(element); }";
        self.evaluate(step, select, more);
        let params = json!({"key": "Backspace"});
        self.call("press_key", params, &step.description, common(step));
    }

    /// Scrolls until the element is there, if a script can tell; else to where it is.
    fn scroll_to(
        &mut self,
        step: &TestStep,
        element: &Element,
        limit: u64,
        more: Map<String, Json>,
    ) {
        // One that had no twins needs no place for it.
        let is_alone = step.fingerprint.as_ref().is_some_and(|known| known.alone);
        let mut element = element.clone();
        element.wanted.within = element.wanted.within.filter(|_| !is_alone);
        match search(&element, &self.names).filter(|_| !is_in_part(step)) {
            Some(function) => {
                let mut more = retry(limit, step.optional);
                more.insert("expect".to_owned(), returns_true());
                self.evaluate(step, &function, more);
            }
            None => {
                let function = "(element) => { element.scrollIntoView({ block: 'center' }); }";
                self.evaluate(step, function, more);
            }
        }
    }
}
