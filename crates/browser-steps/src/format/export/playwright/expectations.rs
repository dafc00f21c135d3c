//! What a step asserts, as an expectation of Playwright.

use super::super::choice::selectors;
use super::super::pages::{has_frames, is_in_part};
use super::super::texts::{escaped, pattern_of};
use super::Writer;
use super::helpers::Helper;
use crate::model::{
    ActionKind, AssertKind, BrowserAssertion, Compare, Fingerprint, TestStep, TextMatch,
};
use cuecard_page::selector::Pattern;
use cuecard_source::value::as_text;

/// How long Playwright waits for an assertion unless it is told otherwise, in milliseconds.
const DEFAULT_ASSERT_MS: u64 = 5_000;

/// An assertion as it is written.
struct Expectation<'a> {
    place: usize,
    step: &'a TestStep,
    assertion: &'a BrowserAssertion,
    expected: String,
    /// `.not` or nothing.
    not: &'static str,
    /// The option for its time limit, if it is none that Playwright has.
    limit: Option<String>,
}

impl Expectation<'_> {
    /// Options alone.
    fn alone(&self) -> String {
        self.options(&[]).unwrap_or_default()
    }

    /// Options after an argument.
    fn after(&self, more: &[&str]) -> String {
        self.options(more)
            .map_or_else(String::new, |options| format!(", {options}"))
    }

    fn options(&self, more: &[&str]) -> Option<String> {
        let all: Vec<&str> = more.iter().copied().chain(self.limit.as_deref()).collect();
        (!all.is_empty()).then(|| format!("{{ {} }}", all.join(", ")))
    }

    /// Whether it says that a text is there, or is not, whatever its capital letters.
    fn is_plain_text(&self) -> bool {
        self.assertion.matching == TextMatch::Contains
            && !self.assertion.case_sensitive
            && !self.expected.trim().is_empty()
    }
}

impl Writer<'_> {
    /// A web-first assertion: it waits until it holds.
    pub(super) fn assertion(&mut self, place: usize, step: &TestStep) -> Option<String> {
        let assertion = step.assertion.as_ref()?;
        if self.warnings.leave_out_unsaid(place, step) {
            return None;
        }
        let limit = match (step.action, step.timeout_ms) {
            (_, Some(limit)) => limit,
            (ActionKind::Wait, None) => self.settings.action_timeout_ms,
            _ => self.settings.assert_timeout_ms,
        };
        if limit != DEFAULT_ASSERT_MS {
            self.needed_ms += limit;
        }
        let expectation = Expectation {
            place,
            step,
            assertion,
            expected: assertion
                .expected
                .as_ref()
                .map(|expected| as_text(expected).into_owned())
                .unwrap_or_default(),
            not: if assertion.negate { ".not" } else { "" },
            limit: (limit != DEFAULT_ASSERT_MS).then(|| format!("timeout: {limit}")),
        };
        match assertion.kind {
            AssertKind::Count => self.count(&expectation),
            AssertKind::Url => Some(self.url(&expectation)),
            AssertKind::Title => Some(self.title_of_page(&expectation)),
            AssertKind::Text => self.text(&expectation),
            _ => self.state(&expectation),
        }
    }

    /// How many elements there are: in all frames, if there are any.
    fn count(&mut self, expectation: &Expectation<'_>) -> Option<String> {
        let (place, step) = (expectation.place, expectation.step);
        let (not, after) = (expectation.not, expectation.after(&[]));
        let number = match expectation.expected.as_str() {
            "" => "0",
            number => number,
        };
        let compare = expectation.assertion.compare;
        let counted = match !is_in_part(step) && has_frames(step) {
            true => {
                self.locator(place, step)?;
                self.helpers.insert(Helper::CountInFrames);
                let locator = self.locators(step, "frame").best()?;
                let page = self.page();
                format!("countInFrames({page}, (frame) => {})", locator.expression)
            }
            false => {
                let locator = self.locator(place, step)?;
                let visible = match locator.pattern {
                    // What people can't see has no role.
                    Pattern::Role { .. } => locator.expression,
                    _ => format!("{}.filter({{ visible: true }})", locator.expression),
                };
                if compare == Compare::Equal {
                    return Some(format!(
                        "await expect({visible}){not}.toHaveCount({number}{after});"
                    ));
                }
                format!("{visible}.count()")
            }
        };
        let name = match compare {
            Compare::Equal => "toBe",
            Compare::AtLeast => "toBeGreaterThanOrEqual",
            Compare::AtMost => "toBeLessThanOrEqual",
        };
        Some(format!(
            "await expect.poll(() => {counted}{after}){not}.{name}({number});"
        ))
    }

    /// A text of an element, of a container or of the page.
    fn text(&mut self, expectation: &Expectation<'_>) -> Option<String> {
        let (place, step) = (expectation.place, expectation.step);
        if selectors(step).is_empty() {
            return Some(self.text_of_page(expectation));
        }
        let locator = self.locator(place, step)?;
        let is_text_itself =
            matches!(&locator.pattern, Pattern::Text(text) if *text == expectation.expected);
        if is_text_itself && expectation.is_plain_text() {
            return Some(visible(&locator.expression, expectation));
        }
        Some(self.has_text(&locator.expression, expectation))
    }

    fn has_text(&self, subject: &str, expectation: &Expectation<'_>) -> String {
        let assertion = expectation.assertion;
        let text = &expectation.expected;
        let (name, value) = match assertion.matching {
            TextMatch::Equals => ("toHaveText", self.names.script(text)),
            TextMatch::Contains => ("toContainText", self.names.script(text)),
            TextMatch::Regex => ("toHaveText", pattern_of(text, !assertion.case_sensitive)),
        };
        let options: &[&str] =
            match assertion.case_sensitive || assertion.matching == TextMatch::Regex {
                true => &["useInnerText: true"],
                false => &["useInnerText: true", "ignoreCase: true"],
            };
        let (not, after) = (expectation.not, expectation.after(options));
        format!("await expect({subject}){not}.{name}({value}{after});")
    }

    /// A text of the page.
    fn text_of_page(&mut self, expectation: &Expectation<'_>) -> String {
        let page = self.page();
        let (text, after) = (&expectation.expected, expectation.after(&[]));
        let is_negated = expectation.assertion.negate;
        let folds = !expectation.assertion.case_sensitive;
        let found = match expectation.assertion.matching {
            TextMatch::Regex => pattern_of(text, folds),
            _ if folds || self.names.has_references(text) => self.names.script(text),
            _ => pattern_of(&escaped(text), false),
        };
        if has_frames(expectation.step) {
            self.helpers.insert(Helper::CountInFrames);
            let expected = if is_negated {
                "toBe"
            } else {
                "toBeGreaterThan"
            };
            return format!(
                "await expect.poll(() => countInFrames({page}, (frame) => frame.getByText({found})){after}).{expected}(0);"
            );
        }
        // The text of the body is that of all its lines, without what is in shadow roots.
        if !self.parts.have_roots && (!is_negated || !expectation.is_plain_text()) {
            return self.has_text(&format!("{page}.locator(\"body\")"), expectation);
        }
        let not = if is_negated { "" } else { ".not" };
        format!(
            "await expect({page}.getByText({found}).filter({{ visible: true }})){not}.toHaveCount(0{after});"
        )
    }

    /// What an element is like.
    fn state(&mut self, expectation: &Expectation<'_>) -> Option<String> {
        let subject = self
            .locator(expectation.place, expectation.step)?
            .expression;
        let is_negated = expectation.assertion.negate;
        let is_button = |known: &Fingerprint| known.role == "button";
        let fingerprint = expectation.step.fingerprint.as_ref();
        if let (AssertKind::Checked | AssertKind::Unchecked, true) = (
            expectation.assertion.kind,
            fingerprint.is_some_and(is_button),
        ) {
            // A button that is on is pressed.
            let is_on = (expectation.assertion.kind == AssertKind::Checked) != is_negated;
            let not = if is_on { "" } else { ".not" };
            let after = expectation.after(&[]);
            return Some(format!(
                "await expect({subject}){not}.toHaveAttribute(\"aria-pressed\", \"true\"{after});"
            ));
        }
        let (name, not) = match (expectation.assertion.kind, is_negated) {
            (AssertKind::Visible, false) | (AssertKind::Hidden, true) => ("toBeVisible", ""),
            (AssertKind::Visible, true) | (AssertKind::Hidden, false) => ("toBeHidden", ""),
            (AssertKind::Enabled, false) | (AssertKind::Disabled, true) => ("toBeEnabled", ""),
            (AssertKind::Enabled, true) | (AssertKind::Disabled, false) => ("toBeDisabled", ""),
            (AssertKind::Unchecked, true) => ("toBeChecked", ""),
            (AssertKind::Unchecked, false) => ("toBeChecked", ".not"),
            (AssertKind::Checked, _) => ("toBeChecked", expectation.not),
            (AssertKind::Focused, _) => ("toBeFocused", expectation.not),
            (AssertKind::Editable, _) => ("toBeEditable", expectation.not),
            _ => return Some(self.value(&subject, expectation)),
        };
        let alone = expectation.alone();
        Some(format!("await expect({subject}){not}.{name}({alone});"))
    }

    fn value(&self, subject: &str, expectation: &Expectation<'_>) -> String {
        let text = &expectation.expected;
        let step = expectation.step;
        let known = step.fingerprint.as_ref();
        let is_select = known.is_some_and(|known| known.tag == "select");
        let is_value = step.observed.extracted_content.as_ref() == Some(text);
        let (not, after) = (expectation.not, expectation.after(&[]));
        match expectation.assertion.matching {
            // A select is known by its label too.
            TextMatch::Equals if is_select && !is_value => format!(
                "await expect({subject}.locator(\"option:checked\")){not}.toHaveText({}{after});",
                self.names.script(text)
            ),
            TextMatch::Contains if self.names.has_references(text) => format!(
                "await expect.poll(() => {subject}.inputValue(){after}){not}.toContain({});",
                self.names.script(text)
            ),
            matching => {
                let value = self.matched(text, matching, false);
                format!("await expect({subject}){not}.toHaveValue({value}{after});")
            }
        }
    }

    fn url(&self, expectation: &Expectation<'_>) -> String {
        let text = &expectation.expected;
        let page = self.page();
        let is_path = text.starts_with(['/', '?', '#']);
        let value = match expectation.assertion.matching {
            // Whatever site it is on.
            TextMatch::Equals if is_path => format!(
                "(url) => url.pathname + url.search + url.hash === {}",
                self.names.script(text)
            ),
            TextMatch::Equals => self.address(text),
            TextMatch::Contains if self.names.has_references(text) => {
                format!("(url) => url.href.includes({})", self.names.script(text))
            }
            matching => self.matched(text, matching, false),
        };
        let (not, after) = (expectation.not, expectation.after(&[]));
        format!("await expect({page}){not}.toHaveURL({value}{after});")
    }

    fn title_of_page(&self, expectation: &Expectation<'_>) -> String {
        let text = &expectation.expected;
        let page = self.page();
        let folds = !expectation.assertion.case_sensitive;
        let (not, after) = (expectation.not, expectation.after(&[]));
        let is_written = expectation.step.observed.title.as_ref() == Some(text);
        let value = match expectation.assertion.matching {
            TextMatch::Equals if folds && !is_written && !self.names.has_references(text) => {
                pattern_of(&format!("^{}$", escaped(text)), true)
            }
            TextMatch::Contains if self.names.has_references(text) => {
                let text = self.names.script(text);
                return match folds {
                    true => format!(
                        "await expect.poll(async () => (await {page}.title()).toLowerCase(){after}){not}.toContain({text}.toLowerCase());"
                    ),
                    false => format!(
                        "await expect.poll(() => {page}.title(){after}){not}.toContain({text});"
                    ),
                };
            }
            matching => self.matched(text, matching, folds),
        };
        format!("await expect({page}){not}.toHaveTitle({value}{after});")
    }

    /// A text as an argument that it must equal, hold or match.
    fn matched(&self, text: &str, matching: TextMatch, folds: bool) -> String {
        match matching {
            TextMatch::Equals => self.names.script(text),
            TextMatch::Contains => pattern_of(&escaped(text), folds),
            TextMatch::Regex => pattern_of(text, folds),
        }
    }
}

/// That an element is visible, or is not.
fn visible(subject: &str, expectation: &Expectation<'_>) -> String {
    let name = match expectation.assertion.negate {
        true => "toBeHidden",
        false => "toBeVisible",
    };
    format!("await expect({subject}).{name}({});", expectation.alone())
}
