//! What a step asserts, as an expectation of Playwright.

use super::super::pages::{has_frames, has_name, is_in_part};
use super::super::texts::{escaped, quoted};
use super::Writer;
use super::helpers::Helper;
use super::locators::Locator;
use crate::scenario::browser::{
    ActionKind, AssertKind, BrowserAssertion, Compare, TestStep, TextMatch,
};
use crate::value::{Json, as_text};

impl Writer<'_> {
    pub(super) fn assertion(&mut self, place: usize, step: &TestStep) -> Option<Vec<String>> {
        let assertion = step.assertion.as_ref()?;
        let limit = match (step.action, step.timeout_ms) {
            (_, Some(limit)) => Some(limit),
            (ActionKind::Wait, None) => Some(self.settings.action_timeout_ms),
            _ => None,
        };
        let limit = limit.map(|limit| format!("timeout: {limit}"));
        // Counts have locators of their own.
        let is_of_page = step.selectors.is_empty() || assertion.kind == AssertKind::Count;
        let target = match is_of_page {
            true => None,
            false => Some(self.locator(place, step)?),
        };
        let written = match assertion.kind {
            AssertKind::Text if is_of_page && self.parts.are_several(step) => {
                self.shown(assertion, limit.as_deref())
            }
            _ => self.expectation(place, step, assertion, target.as_deref(), limit.as_deref())?,
        };
        Some(vec![written])
    }

    /// How many elements there are: in all frames, if there are any, and as people say names.
    fn count(
        &mut self,
        place: usize,
        step: &TestStep,
        assertion: &BrowserAssertion,
        limit: Option<&str>,
    ) -> Option<String> {
        let number = assertion
            .expected
            .as_ref()
            .map_or("0".into(), |expected: &Json| as_text(expected));
        let not = if assertion.negate { ".not" } else { "" };
        let after = options(&[], limit).map_or_else(String::new, |all| format!(", {all}"));
        let everywhere = match !is_in_part(step) && (has_frames(step) || !has_name(step)) {
            true => Locator::in_frame(step, &self.names),
            false => None,
        };
        let counted = match everywhere {
            Some(locator) => {
                self.helpers.insert(Helper::Count);
                let find = self.using(locator);
                format!("count(page, (frame, exact) => {find})")
            }
            None => {
                let visible = format!("{}.filter({{ visible: true }})", self.locator(place, step)?);
                if assertion.compare == Compare::Equal {
                    return Some(format!(
                        "await expect({visible}){not}.toHaveCount({number}{after});"
                    ));
                }
                format!("{visible}.count()")
            }
        };
        let name = match assertion.compare {
            Compare::Equal => "toBe",
            Compare::AtLeast => "toBeGreaterThanOrEqual",
            Compare::AtMost => "toBeLessThanOrEqual",
        };
        Some(format!(
            "await expect.poll(() => {counted}{after}){not}.{name}({number});"
        ))
    }

    /// What a page of several parts shows.
    fn shown(&mut self, assertion: &BrowserAssertion, limit: Option<&str>) -> String {
        self.helpers.insert(Helper::Shown);
        let expected = assertion.expected.as_ref().map(as_text).unwrap_or_default();
        let folds = !assertion.case_sensitive;
        let not = if assertion.negate { ".not" } else { "" };
        let after = options(&[], limit).map_or_else(String::new, |all| format!(", {all}"));
        let words = expected.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = match (folds, self.names.has_references(&words)) {
            (false, _) => self.names.script(&words),
            (true, true) => format!("{}.toLowerCase()", self.names.script(&words)),
            (true, false) => self.names.script(&words.to_lowercase()),
        };
        let read = match folds && assertion.matching != TextMatch::Regex {
            true => "async () => (await shown(page)).toLowerCase()",
            false => "() => shown(page)",
        };
        let expectation = match assertion.matching {
            TextMatch::Regex => format!("toMatch({})", pattern(&expected, folds)),
            TextMatch::Contains => format!("toContain({wanted})"),
            TextMatch::Equals => format!("toBe({wanted})"),
        };
        format!("await expect.poll({read}{after}){not}.{expectation};")
    }

    /// A web-first assertion: it waits until it holds.
    fn expectation(
        &mut self,
        place: usize,
        step: &TestStep,
        assertion: &BrowserAssertion,
        target: Option<&str>,
        limit: Option<&str>,
    ) -> Option<String> {
        let expected = assertion
            .expected
            .as_ref()
            .map(|expected| as_text(expected).into_owned())
            .unwrap_or_default();
        let not = if assertion.negate { ".not" } else { "" };
        let subject = target.unwrap_or("page.locator(\"body\")");
        let folds = !assertion.case_sensitive;
        // Options after an argument, and alone.
        let after =
            |more: &[&str]| options(more, limit).map_or_else(String::new, |all| format!(", {all}"));
        let alone = options(&[], limit).unwrap_or_default();
        let plain = |name: &str| format!("await expect({subject}){not}.{name}({alone});");
        Some(match assertion.kind {
            AssertKind::Count => return self.count(place, step, assertion, limit),
            AssertKind::Text => {
                let (name, value) = match assertion.matching {
                    TextMatch::Equals => ("toHaveText", self.names.script(&expected)),
                    TextMatch::Contains => ("toContainText", self.names.script(&expected)),
                    TextMatch::Regex => ("toHaveText", pattern(&expected, folds)),
                };
                let mut more = vec!["useInnerText: true"];
                if folds && assertion.matching != TextMatch::Regex {
                    more.push("ignoreCase: true");
                }
                format!(
                    "await expect({subject}){not}.{name}({value}{});",
                    after(&more)
                )
            }
            AssertKind::Visible => plain("toBeVisible"),
            AssertKind::Hidden => plain("toBeHidden"),
            AssertKind::Enabled => plain("toBeEnabled"),
            AssertKind::Disabled => plain("toBeDisabled"),
            AssertKind::Checked => plain("toBeChecked"),
            AssertKind::Unchecked => {
                let not = if assertion.negate { "" } else { ".not" };
                format!("await expect({subject}){not}.toBeChecked({alone});")
            }
            AssertKind::Focused => plain("toBeFocused"),
            AssertKind::Editable => plain("toBeEditable"),
            AssertKind::Value => {
                let is_select = step
                    .fingerprint
                    .as_ref()
                    .is_some_and(|known| known.tag == "select");
                if is_select && assertion.matching == TextMatch::Equals {
                    // A select is known by its label too.
                    let read = format!(
                        "{subject}.evaluate((list) => [list.value, ...Array.from(list.selectedOptions, (option) => option.label)])"
                    );
                    return Some(format!(
                        "await expect.poll(() => {read}{}){not}.toContain({});",
                        after(&[]),
                        self.names.script(&expected)
                    ));
                }
                let value = self.matched(&expected, assertion.matching, false);
                format!(
                    "await expect({subject}){not}.toHaveValue({value}{});",
                    after(&[])
                )
            }
            AssertKind::Url => {
                let is_path = expected.starts_with(['/', '?', '#']);
                let value = match assertion.matching {
                    // Whatever site it is on.
                    TextMatch::Equals if is_path => format!(
                        "(url) => url.pathname + url.search + url.hash === {}",
                        self.names.script(&expected)
                    ),
                    TextMatch::Equals => self.address(&expected),
                    matching => self.matched(&expected, matching, false),
                };
                format!("await expect(page){not}.toHaveURL({value}{});", after(&[]))
            }
            AssertKind::Title => {
                let value = match (assertion.matching, folds) {
                    (TextMatch::Equals, true) => self.whole(&expected),
                    (matching, folds) => self.matched(&expected, matching, folds),
                };
                format!(
                    "await expect(page){not}.toHaveTitle({value}{});",
                    after(&[])
                )
            }
        })
    }

    /// A text as an argument that it must equal, hold or match.
    fn matched(&self, expected: &str, matching: TextMatch, folds: bool) -> String {
        let flags = if folds { ", \"i\"" } else { "" };
        match matching {
            TextMatch::Equals => self.names.script(expected),
            TextMatch::Contains if self.names.has_references(expected) => format!(
                "new RegExp({}.replace(/[\\\\^$.*+?()[\\]{{}}|]/g, \"\\\\$&\"){flags})",
                self.names.script(expected)
            ),
            TextMatch::Contains => format!("new RegExp({}{flags})", quoted(&escaped(expected))),
            TextMatch::Regex => pattern(expected, folds),
        }
    }

    /// A whole text, whatever its capital letters.
    fn whole(&self, expected: &str) -> String {
        match self.names.has_references(expected) {
            true => self.names.script(expected),
            false => format!(
                "new RegExp({}, \"i\")",
                quoted(&format!("^{}$", escaped(expected)))
            ),
        }
    }
}

fn pattern(expected: &str, folds: bool) -> String {
    let flags = if folds { ", \"i\"" } else { "" };
    format!("new RegExp({}{flags})", quoted(expected))
}

/// Options of an assertion as an object; none if there are none.
fn options(more: &[&str], limit: Option<&str>) -> Option<String> {
    let all: Vec<&str> = more.iter().copied().chain(limit).collect();
    (!all.is_empty()).then(|| format!("{{ {} }}", all.join(", ")))
}
