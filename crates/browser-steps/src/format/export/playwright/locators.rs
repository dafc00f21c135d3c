//! The elements of steps as locators of Playwright.

use std::fmt::Write as _;

use super::super::choice::{around, is_by_position, selectors};
use super::super::pages::{count_lines, is_written};
use super::super::texts::{Names, literal_of, quoted};
use crate::model::{AssertKind, BrowserAssertion, TestStep};
use cuecard_page::dom::HopKind;
use cuecard_page::selector::{Pattern, Selector, Within};
use cuecard_source::value::as_text;

/// An element as an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Locator {
    /// As in `page.getByRole("button", { name: "Log in" })`.
    pub expression: String,
    /// What its last part says.
    pub pattern: Pattern,
    /// Whether only its place among others tells it apart.
    pub is_by_position: bool,
}

/// What locators are made of.
pub(super) struct Locators<'a> {
    pub names: &'a Names<'a>,
    /// The step.
    pub step: &'a TestStep,
    /// The variable that they begin with.
    pub root: &'a str,
}

impl Locators<'_> {
    /// The best way to say the element of the step.
    pub(super) fn best(&self) -> Option<Locator> {
        selectors(self.step)
            .iter()
            .find_map(|selector| self.by_selector(selector))
    }

    fn by_selector(&self, selector: &Selector) -> Option<Locator> {
        let is_in_root = selector
            .hops
            .last()
            .is_some_and(|hop| hop.kind == HopKind::Shadow);
        if is_in_root && matches!(selector.pattern, Pattern::XPath(_)) {
            return None;
        }
        let mut scope = self.root.to_owned();
        let mut is_around_said = selector.within.is_some() || self.is_alone(&selector.pattern);
        for hop in &selector.hops {
            let _ = match (hop.kind, &hop.pattern) {
                (HopKind::Frame, owner) => write!(scope, ".frameLocator({})", in_css(owner)),
                // Locators look into shadow roots by themselves.
                (HopKind::Shadow, _) if is_around_said => Ok(()),
                (HopKind::Shadow, Pattern::XPath(_)) if self.named_around().is_some() => {
                    is_around_said = true;
                    let around = self.named_around().unwrap_or_default();
                    write!(scope, ".{around}")
                }
                (HopKind::Shadow, host) => write!(scope, ".{}", self.plain(host)),
            };
        }
        if let Some(within) = &selector.within {
            let _ = write!(scope, ".{}", self.container(within));
        }
        let own = match &selector.has_text {
            None => self.plain(&selector.pattern),
            Some(text) => self.having(&selector.pattern, text),
        };
        let mut expression = format!("{scope}.{own}");
        let _ = match selector.nth {
            None => Ok(()),
            Some(0) => write!(expression, ".first()"),
            Some(-1) => write!(expression, ".last()"),
            Some(nth) => write!(expression, ".nth({nth})"),
        };
        Some(Locator {
            expression,
            pattern: selector.pattern.clone(),
            is_by_position: is_by_position(selector, self.step),
        })
    }

    /// Whether no other element of the page had this role and name.
    fn is_alone(&self, pattern: &Pattern) -> bool {
        let known = self.step.fingerprint.as_ref();
        matches!(pattern, Pattern::Role { name: Some(_), .. })
            && known.is_some_and(|known| known.alone)
    }

    /// The nearest element around the one of the step that has a role and a name.
    fn named_around(&self) -> Option<String> {
        let (role, name) =
            around(self.step.fingerprint.as_ref()?).filter(|(role, _)| role != "iframe")?;
        Some(self.plain(&Pattern::Role {
            role,
            name: Some(name),
        }))
    }

    /// What an element is inside of.
    fn container(&self, within: &Within) -> String {
        match (&within.pattern, &within.has_text) {
            // What a row is called is one of its texts, or all of them.
            (
                Pattern::Role {
                    role,
                    name: Some(name),
                },
                None,
            ) if is_row(role) && self.may_be_text(name) => {
                format!("getByRole({}){}", quoted(role), self.with_text(name))
            }
            (pattern, None) => self.plain(pattern),
            (pattern, Some(text)) => self.having(pattern, text),
        }
    }

    /// A pattern with a text in what it fits.
    fn having(&self, pattern: &Pattern, text: &str) -> String {
        format!("{}{}", self.plain(pattern), self.with_text(text))
    }

    fn may_be_text(&self, name: &str) -> bool {
        let is_blank = self.step.context.dom_structure_snapshot.is_empty();
        let resolved = self.names.resolved(name);
        is_blank || resolved.is_none_or(|name| count_lines(self.step, &name) > 0)
    }

    /// Which of several containers: the one with a text in it. `hasText` looks for a part of a text, so what may be a
    /// part of another one, as numbers are, is looked for as a whole.
    fn with_text(&self, text: &str) -> String {
        let resolved = self.names.resolved(text).unwrap_or_default();
        let is_number_at_an_end = resolved.starts_with(|sign: char| sign.is_numeric())
            || resolved.ends_with(|sign: char| sign.is_numeric());
        let is_part = is_number_at_an_end || count_lines(self.step, &resolved) > 1;
        let text = self.names.script(text);
        // A whole text is compared with its capital letters.
        match is_part && is_written(self.step, &resolved) {
            true => format!(
                ".filter({{ has: {}.getByText({text}, {{ exact: true }}) }})",
                self.root
            ),
            false => format!(".filter({{ hasText: {text} }})"),
        }
    }

    /// A pattern as a call. Names are compared as a whole, but where several elements are counted of which none is called
    /// just so; a text that is asserted may be a part of a longer one.
    fn plain(&self, pattern: &Pattern) -> String {
        let names = self.names;
        let asserted = self.step.assertion.as_ref();
        let is_exact = |text: &str| match asserted {
            Some(count) if count.kind == AssertKind::Count => is_written(self.step, text),
            Some(BrowserAssertion {
                expected: Some(expected),
                ..
            }) => !matches!(pattern, Pattern::Text(_)) || as_text(expected) != text,
            _ => true,
        };
        let by_text = |method: &str, text: &str| match is_exact(text) {
            true => format!("{method}({}, {{ exact: true }})", names.script(text)),
            false => format!("{method}({})", names.script(text)),
        };
        match pattern {
            Pattern::TestId(id) => format!("getByTestId({})", names.script(id)),
            Pattern::Role { role, name: None } => format!("getByRole({})", quoted(role)),
            Pattern::Role {
                role,
                name: Some(name),
            } => {
                let exact = if is_exact(name) { ", exact: true" } else { "" };
                let name = names.script(name);
                format!("getByRole({}, {{ name: {name}{exact} }})", quoted(role))
            }
            Pattern::Label(text) => by_text("getByLabel", text),
            Pattern::Placeholder(text) => by_text("getByPlaceholder", text),
            Pattern::Text(text) => by_text("getByText", text),
            Pattern::Css(_) | Pattern::XPath(_) => format!("locator({})", in_css(pattern)),
        }
    }
}

/// A pattern as a text that `locator` and `frameLocator` take.
fn in_css(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Css(css) => literal_of(css),
        other => literal_of(&other.to_string()),
    }
}

/// Whether what is called so may have its name from a text in it.
fn is_row(role: &str) -> bool {
    matches!(role, "row" | "listitem" | "treeitem")
}
