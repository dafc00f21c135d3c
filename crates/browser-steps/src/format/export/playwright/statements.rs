//! What a step does, as statements of Playwright.

use super::super::pages::{is_made_by_page, is_whole};
use super::super::texts::quoted;
use super::Writer;
use super::helpers::Helper;
use super::locators::{Locator, Locators};
use crate::model::{ActionKind, AssertKind, Direction, InputValue, TestStep};
use cuecard_page::containers::is_cell;

impl Writer<'_> {
    pub(super) fn statements(&mut self, place: usize, step: &TestStep) -> Option<Vec<String>> {
        let page = self.page();
        let one = |statement: String| Some(vec![statement]);
        match step.action {
            ActionKind::Navigate => return one(self.navigate(step)),
            ActionKind::Wait if step.assertion.is_none() => {
                let duration = step.duration_ms.unwrap_or(0);
                self.needed_ms += duration;
                return one(format!("await {page}.waitForTimeout({duration});"));
            }
            ActionKind::Assert | ActionKind::Wait => {
                return self.assertion(place, step).map(|written| vec![written]);
            }
            ActionKind::Press if step.selectors.is_empty() => {
                let key = self.names.script(step.key.as_deref().unwrap_or_default());
                return one(format!("await {page}.keyboard.press({key});"));
            }
            ActionKind::Scroll if step.selectors.is_empty() => {
                let script = step.direction.unwrap_or(Direction::Down).script();
                return one(format!("await {page}.evaluate(() => {script});"));
            }
            ActionKind::Unknown => return None,
            _ => {}
        }
        let locator = self.locator(place, step)?;
        let target = locator.expression;
        if step.action == ActionKind::Scroll {
            self.helpers.insert(Helper::ScrollTo);
            let limit = step.timeout_ms.unwrap_or(self.settings.action_timeout_ms);
            self.needed_ms += limit;
            return one(format!("await scrollTo({page}, {target}, {limit});"));
        }
        // A test has no limit for actions of its own.
        let limit = match step.optional {
            true => Some(step.timeout_ms.unwrap_or(self.settings.action_timeout_ms)),
            false => step.timeout_ms,
        };
        self.needed_ms += limit.unwrap_or(0);
        let alone = limit.map_or_else(String::new, |limit| format!("{{ timeout: {limit} }}"));
        let after = limit.map_or_else(String::new, |limit| format!(", {{ timeout: {limit} }}"));
        let value = match step.input_value() {
            Some(InputValue::Text(text)) => self.names.script(&text),
            Some(InputValue::Number(number)) => quoted(&number.to_string()),
            _ => "\"\"".to_owned(),
        };
        if step.observed.by_label {
            self.helpers.insert(Helper::LabelOf);
            let click = format!("await (await labelOf({target})).click({alone});");
            return Some(match step.input_value() {
                Some(InputValue::Flag(flag)) => {
                    let (not, checked) = if flag {
                        ("!", "")
                    } else {
                        ("", "{ checked: false }")
                    };
                    vec![
                        format!("if ({not}(await {target}.isChecked())) {click}"),
                        format!("await expect({target}).toBeChecked({checked});"),
                    ]
                }
                _ => vec![click],
            });
        }
        let call = match (step.action, step.input_value()) {
            (ActionKind::Click, _) => format!("click({alone})"),
            (ActionKind::DoubleClick, _) => format!("dblclick({alone})"),
            (ActionKind::RightClick, _) => {
                let more = limit.map_or_else(String::new, |limit| format!(", timeout: {limit}"));
                format!("click({{ button: \"right\"{more} }})")
            }
            (ActionKind::Hover, _) => format!("hover({alone})"),
            (ActionKind::Drag, _) => {
                let to = self.locator(place, &step.about_destination()?)?.expression;
                let more = limit.map_or_else(String::new, |limit| format!(", timeout: {limit}"));
                // Lists that are sorted by the pointer follow its way.
                format!("dragTo({to}, {{ steps: 10{more} }})")
            }
            (ActionKind::Input, Some(InputValue::Flag(true))) => format!("check({alone})"),
            (ActionKind::Input, Some(InputValue::Flag(false))) => format!("uncheck({alone})"),
            (ActionKind::Input, _) if value == "\"\"" => format!("clear({alone})"),
            (ActionKind::Input, _) => format!("fill({value}{after})"),
            (ActionKind::Select, _) if is_made_by_page(step) => {
                let option = format!(
                    "await {page}.getByRole(\"option\", {{ name: {value}, exact: true }}).click({alone});"
                );
                return Some(vec![format!("await {target}.click({alone});"), option]);
            }
            (ActionKind::Select, _) => format!("selectOption({value}{after})"),
            (ActionKind::Upload, _) => format!("setInputFiles({value}{after})"),
            (ActionKind::Press, _) => {
                let key = self.names.script(step.key.as_deref().unwrap_or_default());
                format!("press({key}{after})")
            }
            (ActionKind::Extract, _) => {
                return Some(vec![
                    format!("const text = await {target}.innerText({alone});"),
                    "test.info().annotations.push({ type: \"extracted\", description: text });"
                        .to_owned(),
                ]);
            }
            _ => return None,
        };
        // A click would close what is open already.
        let condition = super::super::wanted_open(step).map_or_else(String::new, |wanted| {
            let is_summary = step
                .fingerprint
                .as_ref()
                .is_some_and(|known| known.tag == "summary");
            let not = if wanted { "!" } else { "" };
            match is_summary {
                true => format!(
                    "if ({not}(await {target}.evaluate((summary) => summary.parentElement.open))) "
                ),
                false => {
                    let equals = if wanted { "!==" } else { "===" };
                    format!(
                        "if ((await {target}.getAttribute(\"aria-expanded\")) {equals} \"true\") "
                    )
                }
            }
        });
        one(format!("{condition}await {target}.{call};"))
    }

    fn navigate(&self, step: &TestStep) -> String {
        let page = self.page();
        match step.url.as_deref().unwrap_or_default() {
            "back" => format!("await {page}.goBack();"),
            "forward" => format!("await {page}.goForward();"),
            "reload" => format!("await {page}.reload();"),
            url if is_whole(url, &self.names) => {
                format!("await {page}.goto({});", self.address(url))
            }
            url if url.starts_with('/') && self.is_on_first_site(step) => {
                format!("await {page}.goto({});", self.names.script(url))
            }
            url => format!(
                "await {page}.goto(new URL({}, {page}.url()).href);",
                self.names.script(url)
            ),
        }
    }

    /// Whether addresses from a path on lead where they led when the step was made.
    fn is_on_first_site(&self, step: &TestStep) -> bool {
        let page = step.context.dom_structure_snapshot.lines().next();
        let url = page.and_then(|line| line.strip_prefix("url: "));
        matches!((self.origin, url), (Some(origin), Some(url)) if url.strip_prefix(origin).is_some_and(|rest| rest.starts_with('/')))
    }

    pub(super) fn locators<'s>(&'s self, step: &'s TestStep, root: &'s str) -> Locators<'s> {
        Locators {
            names: &self.names,
            step,
            root,
        }
    }

    pub(super) fn locator(&mut self, place: usize, step: &TestStep) -> Option<Locator> {
        let page = self.page();
        let Some(locator) = self.locators(step, &page).best() else {
            self.warnings.leave_out(
                place,
                step,
                "its element can't be expressed as a locator",
                "Playwright looks into shadow roots by anything but an xpath",
            );
            return None;
        };
        if locator.is_by_position {
            self.warnings.warn(
                place,
                step,
                "the element is identified only by its position",
                "it may match another element when the page changes",
            );
        }
        if let Some(column) = column_of(step) {
            let message = format!("the column `{column}` is not checked");
            let help = "it may be the same text in another column of the row";
            self.warnings.warn(place, step, &message, help);
        }
        Some(locator)
    }

    /// The statements of a step that closes its own tab, which may be gone before the last of them is over.
    pub(super) fn closing(&self, mut statements: Vec<String>) -> Vec<String> {
        let last = statements.pop().unwrap_or_default();
        let act = last.trim_start_matches("await ").trim_end_matches(';');
        statements.extend([
            "// The tab may be gone before this is over.".to_owned(),
            "await Promise.all([".to_owned(),
            format!("  {}.waitForEvent(\"close\"),", self.page()),
            format!("  {act}.catch(() => {{}}),"),
            "]);".to_owned(),
        ]);
        statements
    }

    /// The statements of a step that opens a tab, as a function that gives it.
    pub(super) fn opening(&self, mut statements: Vec<String>) -> Vec<String> {
        let popup = format!("const popup = {}.waitForEvent(\"popup\");", self.page());
        statements.insert(0, popup);
        statements.push("return popup;".to_owned());
        statements
    }
}

/// The column in which a cell stands whose text is asserted.
fn column_of(step: &TestStep) -> Option<&str> {
    let known = step.fingerprint.as_ref()?;
    let is_text = step.assertion.as_ref()?.kind == AssertKind::Text;
    known
        .column
        .as_deref()
        .filter(|_| is_text && is_cell(&known.role))
}
