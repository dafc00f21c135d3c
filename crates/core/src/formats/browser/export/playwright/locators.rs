//! The elements of steps as locators of Playwright.

use std::fmt::Write as _;

use super::super::texts::{Names, quoted};
use crate::page::dom::HopKind;
use crate::page::selector::{Pattern, Selector};
use crate::scenario::browser::TestStep;

/// An element as an expression, and the name of the helper that it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Locator {
    /// As in `page.getByRole("button", { name: "Log in", exact: true })`.
    pub expression: String,
    /// Whether it uses `called`.
    pub needs_called: bool,
    /// Whether only its place among others tells it apart.
    pub is_by_position: bool,
}

impl Locator {
    /// The most lasting way that Playwright can say, from the variable `page` on.
    pub(super) fn of(step: &TestStep, names: &Names<'_>) -> Option<Self> {
        Self::from(step, &Style::ALONE, names)
    }

    /// The same from the variable `frame` on, where the variable `exact` says how names are compared.
    pub(super) fn in_frame(step: &TestStep, names: &Names<'_>) -> Option<Self> {
        Self::from(step, &Style::IN_FRAME, names)
    }

    fn from(step: &TestStep, style: &Style, names: &Names<'_>) -> Option<Self> {
        step.selectors
            .iter()
            .filter_map(|selector| selector.parse::<Selector>().ok())
            .find_map(|selector| by_selector(&selector, style, names))
    }
}

/// What a locator begins with, and how it compares names.
struct Style {
    scope: &'static str,
    exact: &'static str,
}

impl Style {
    const ALONE: Self = Self {
        scope: "page",
        exact: "exact: true",
    };
    const IN_FRAME: Self = Self {
        scope: "frame",
        exact: "exact",
    };
}

fn by_selector(selector: &Selector, style: &Style, names: &Names<'_>) -> Option<Locator> {
    let mut scope = style.scope.to_owned();
    let plain = |pattern: &Pattern| plain(pattern, style, names);
    for hop in &selector.hops {
        let owner = plain(&hop.pattern);
        let _ = match hop.kind {
            HopKind::Frame => write!(scope, ".{owner}.contentFrame()"),
            // Playwright looks into open shadow roots by itself.
            HopKind::Shadow => write!(scope, ".{owner}"),
        };
    }
    let is_in_shadow = selector
        .hops
        .last()
        .is_some_and(|hop| hop.kind == HopKind::Shadow);
    if is_in_shadow && matches!(selector.pattern, Pattern::XPath(_)) {
        return None;
    }
    let mut needs_called = false;
    if let Some(within) = &selector.within {
        match within {
            Pattern::Role {
                role,
                name: Some(name),
            } if is_row(role) => {
                needs_called = true;
                scope = format!("called({scope}, {}, {})", quoted(role), names.script(name));
            }
            pattern => {
                let _ = write!(scope, ".{}", plain(pattern));
            }
        }
    }
    let mut expression = format!("{scope}.{}", plain(&selector.pattern));
    if let Some(nth) = selector.nth {
        let _ = write!(expression, ".nth({nth})");
    }
    Some(Locator {
        expression,
        needs_called,
        is_by_position: selector.nth.is_some() || matches!(selector.pattern, Pattern::XPath(_)),
    })
}

/// Whether what is called so may have its name from a text in it.
fn is_row(role: &str) -> bool {
    matches!(role, "row" | "listitem" | "treeitem")
}

/// A pattern as a call.
fn plain(pattern: &Pattern, style: &Style, names: &Names<'_>) -> String {
    let exact = style.exact;
    match pattern {
        Pattern::TestId(id) => format!("getByTestId({})", names.script(id)),
        Pattern::Role { role, name: None } => format!("getByRole({})", quoted(role)),
        Pattern::Role {
            role,
            name: Some(name),
        } => format!(
            "getByRole({}, {{ name: {}, {exact} }})",
            quoted(role),
            names.script(name)
        ),
        Pattern::Label(text) => format!("getByLabel({}, {{ {exact} }})", names.script(text)),
        Pattern::Placeholder(text) => {
            format!("getByPlaceholder({}, {{ {exact} }})", names.script(text))
        }
        Pattern::Text(text) => format!("getByText({}, {{ {exact} }})", names.script(text)),
        Pattern::Css(css) => format!("locator({})", quoted(&format!("css={css}"))),
        Pattern::XPath(xpath) => format!("locator({})", quoted(&format!("xpath={xpath}"))),
    }
}
