//! What a step does, as statements of Playwright.

use super::super::pages::is_whole;
use super::super::texts::quoted;
use super::Writer;
use super::helpers::Helper;
use super::locators::Locator;
use crate::scenario::browser::{ActionKind, Direction, InputValue, TestStep};

impl Writer<'_> {
    pub(super) fn statements(&mut self, place: usize, step: &TestStep) -> Option<Vec<String>> {
        let one = |statement: String| Some(vec![statement]);
        let within = step
            .timeout_ms
            .map(|limit| format!("{{ timeout: {limit} }}"));
        let alone = within.clone().unwrap_or_default();
        let after = within
            .map(|options| format!(", {options}"))
            .unwrap_or_default();
        match step.action {
            ActionKind::Navigate => one(self.navigate(step)),
            ActionKind::Wait if step.assertion.is_none() => one(format!(
                "await page.waitForTimeout({});",
                step.duration_ms.unwrap_or(0)
            )),
            ActionKind::Assert | ActionKind::Wait => self.assertion(place, step),
            ActionKind::Press if step.selectors.is_empty() => {
                let key = self.names.script(step.key.as_deref().unwrap_or_default());
                one(format!("await page.keyboard.press({key});"))
            }
            ActionKind::Scroll if step.selectors.is_empty() => {
                let sign = match step.direction {
                    Some(Direction::Up) => "-",
                    _ => "",
                };
                one(format!(
                    "await page.evaluate(() => window.scrollBy(0, {sign}window.innerHeight));"
                ))
            }
            ActionKind::Unknown => None,
            _ => {
                let target = self.locator(place, step)?;
                let value = match step.input_value() {
                    Some(InputValue::Text(text)) => self.names.script(&text),
                    Some(InputValue::Number(number)) => quoted(&number.to_string()),
                    Some(InputValue::Flag(flag)) => flag.to_string(),
                    None => "\"\"".to_owned(),
                };
                let is_flag = matches!(step.input_value(), Some(InputValue::Flag(_)));
                let call = match step.action {
                    ActionKind::Click => format!("click({alone})"),
                    ActionKind::DoubleClick => format!("dblclick({alone})"),
                    ActionKind::Hover => format!("hover({alone})"),
                    ActionKind::Input if is_flag => format!("setChecked({value}{after})"),
                    ActionKind::Input => format!("fill({value}{after})"),
                    ActionKind::Select => format!("selectOption({value}{after})"),
                    ActionKind::Upload => format!("setInputFiles({value}{after})"),
                    ActionKind::Scroll => {
                        self.helpers.insert(Helper::ScrollTo);
                        let limit = step.timeout_ms.unwrap_or(self.settings.action_timeout_ms);
                        return one(format!("await scrollTo(page, {target}, {limit});"));
                    }
                    ActionKind::Press => {
                        let key = self.names.script(step.key.as_deref().unwrap_or_default());
                        format!("press({key}{after})")
                    }
                    ActionKind::Extract => {
                        return Some(vec![
                            format!("const text = await {target}.innerText({alone});"),
                            "test.info().annotations.push({ type: \"extracted\", description: text });"
                                .to_owned(),
                        ]);
                    }
                    _ => return None,
                };
                one(format!("await {target}.{call};"))
            }
        }
    }

    fn navigate(&self, step: &TestStep) -> String {
        match step.url.as_deref().unwrap_or_default() {
            "back" => "await page.goBack();".to_owned(),
            "forward" => "await page.goForward();".to_owned(),
            "reload" => "await page.reload();".to_owned(),
            url if is_whole(url, &self.names) => {
                format!("await page.goto({});", self.address(url))
            }
            url => format!(
                "await page.goto(new URL({}, page.url()).href);",
                self.names.script(url)
            ),
        }
    }

    pub(super) fn locator(&mut self, place: usize, step: &TestStep) -> Option<String> {
        let Some(locator) = Locator::of(step, &self.names) else {
            self.warnings.leave_out(
                place,
                step,
                "no locator can say its element",
                "Playwright looks into shadow roots by anything but an xpath",
            );
            return None;
        };
        if locator.is_by_position {
            self.warnings.warn(
                place,
                step,
                "only its place among others says which element it is",
                "it may lead to another one as soon as the page changes",
            );
        }
        Some(self.using(locator))
    }

    /// The expression of a locator, whose helper is written into the test.
    pub(super) fn using(&mut self, locator: Locator) -> String {
        if locator.needs_called {
            self.helpers.insert(Helper::Called);
        }
        locator.expression
    }
}
