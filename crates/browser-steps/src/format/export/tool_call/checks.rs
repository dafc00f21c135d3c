//! Assertions as scripts in a page, and as patterns of a snapshot, for servers that have no assertions of their own.

use serde_json::json;

use super::super::texts::{Names, quoted};
use super::elements::Element;
use crate::model::{AssertKind, BrowserAssertion, Compare, TextMatch};
use cuecard_page::single_spaces;
use cuecard_source::value::{Json, as_text};

/// How an assertion is checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Check {
    /// A function that must return true; of the element if `on_element`.
    Holds { function: String, on_element: bool },
    /// A function that returns a text, and what the text must be: it has references, which a script would hold raw.
    Text {
        function: String,
        on_element: bool,
        expected: String,
        matching: TextMatch,
    },
    /// What a snapshot must satisfy, as `expect` says it.
    Snapshot(Json),
}

/// The text of a page with that of its frames, as far as they are of the same origin.
const PAGE_TEXT: &str = "(function text(view) { try { return [view.document.body.innerText, ...Array.from({ length: view.length }, (_, index) => text(view[index]))].join(' '); } catch { return ''; } })(window)";

/// How an assertion is checked; of a page that is in several parts if `has_parts`.
///
/// # Errors
/// With what can't be said, in words.
pub(super) fn check(
    assertion: &BrowserAssertion,
    element: Option<&Element>,
    names: &Names<'_>,
    has_parts: bool,
) -> Result<Check, &'static str> {
    use AssertKind as Kind;
    match assertion.kind {
        Kind::Text if element.is_none() && is_for_snapshot(assertion, names, has_parts) => {
            Ok(shown(assertion, names))
        }
        Kind::Text => text(
            assertion,
            match element {
                Some(_) => "element.innerText",
                None => PAGE_TEXT,
            },
            element.is_some(),
            names,
        ),
        Kind::Title => text(assertion, "document.title", false, names),
        Kind::Url => url(assertion, names),
        Kind::Value => text(assertion, "element.value", true, names),
        Kind::Visible if !assertion.negate => Ok(holds("element.checkVisibility()", true)),
        Kind::Hidden if assertion.negate => Ok(holds("element.checkVisibility()", true)),
        Kind::Visible | Kind::Hidden => count(element, 0, Some(0), names),
        Kind::Count => {
            let wanted = assertion.expected.as_ref().map(as_text);
            let wanted = wanted.and_then(|wanted| wanted.parse::<u32>().ok());
            let wanted = wanted.ok_or("the number is not known")?;
            let (least, most) = match (assertion.compare, assertion.negate) {
                (Compare::Equal, false) => (wanted, Some(wanted)),
                (Compare::AtLeast, false) => (wanted, None),
                (Compare::AtMost, false) => (0, Some(wanted)),
                (Compare::AtMost, true) => (wanted.saturating_add(1), None),
                (Compare::AtLeast, true) if wanted > 0 => (0, Some(wanted - 1)),
                (Compare::AtLeast | Compare::Equal, true) => {
                    return Err("that there are not so many can't be said");
                }
            };
            count(element, least, most, names)
        }
        kind => {
            let state = state(kind);
            let written = match assertion.negate {
                true => format!("!({state})"),
                false => state.to_owned(),
            };
            Ok(holds(&written, true))
        }
    }
}

fn holds(expression: &str, on_element: bool) -> Check {
    let parameter = if on_element { "element" } else { "" };
    Check::Holds {
        function: format!("({parameter}) => {expression}"),
        on_element,
    }
}

/// What must be true of an element in this state.
fn state(kind: AssertKind) -> &'static str {
    match kind {
        AssertKind::Enabled => {
            "!element.matches(':disabled') && element.getAttribute('aria-disabled') !== 'true'"
        }
        AssertKind::Disabled => {
            "element.matches(':disabled') || element.getAttribute('aria-disabled') === 'true'"
        }
        AssertKind::Checked => {
            "!element.indeterminate && (element.checked === true || ['checked', 'pressed', 'selected'].some(state => element.getAttribute('aria-' + state) === 'true'))"
        }
        AssertKind::Unchecked => {
            "!element.indeterminate && element.checked !== true && !['checked', 'pressed', 'selected'].some(state => ['true', 'mixed'].includes(element.getAttribute('aria-' + state)))"
        }
        AssertKind::Focused => "element === element.getRootNode().activeElement",
        _ => {
            "(element.matches('input, textarea, select') || element.isContentEditable) && !element.matches(':disabled, :read-only') && element.getAttribute('aria-readonly') !== 'true'"
        }
    }
}

/// A text that must equal, hold or match what is expected.
fn text(
    assertion: &BrowserAssertion,
    source: &str,
    on_element: bool,
    names: &Names<'_>,
) -> Result<Check, &'static str> {
    let expected = assertion
        .expected
        .as_ref()
        .map(|expected| as_text(expected).into_owned())
        .unwrap_or_default();
    let parameter = if on_element { "element" } else { "" };
    let is_value = assertion.kind == AssertKind::Value;
    if names.has_references(&expected) {
        if assertion.negate || assertion.matching == TextMatch::Regex {
            return Err(
                "that a text does not hold, or matches, the value of a variable can't be said",
            );
        }
        return Ok(Check::Text {
            function: format!(
                "({parameter}) => String({source} ?? '').replace(/\\s+/g, ' ').trim()"
            ),
            on_element,
            expected: names.template(&expected),
            matching: assertion.matching,
        });
    }
    let is_exact = assertion.case_sensitive || is_value;
    let fold = match is_exact {
        true => "",
        false => ".toLowerCase()",
    };
    let wanted = single_spaces(&expected);
    let wanted = match is_exact {
        true => quoted(&wanted),
        false => quoted(&wanted.to_lowercase()),
    };
    let test = match assertion.matching {
        TextMatch::Equals => format!("text === {wanted}"),
        TextMatch::Contains => format!("text.includes({wanted})"),
        TextMatch::Regex => {
            let flags = if is_exact { "u" } else { "iu" };
            format!("new RegExp({}, '{flags}').test(text)", quoted(&expected))
        }
    };
    let not = if assertion.negate { "!" } else { "" };
    // A select is known by its label too.
    let sources = match is_value {
        true => {
            "[element.value, ...Array.from(element.selectedOptions ?? [], option => option.label)]"
                .to_owned()
        }
        false => format!("[{source}]"),
    };
    let fold = match assertion.matching {
        TextMatch::Regex => "",
        _ => fold,
    };
    Ok(Check::Holds {
        function: format!(
            "({parameter}) => {not}{sources}.map(text => String(text ?? '').replace(/\\s+/g, ' ').trim(){fold}).some(text => {test})"
        ),
        on_element,
    })
}

/// The address of the page, which may be given from its path on.
fn url(assertion: &BrowserAssertion, names: &Names<'_>) -> Result<Check, &'static str> {
    let expected = assertion
        .expected
        .as_ref()
        .map(|expected| as_text(expected).into_owned())
        .unwrap_or_default();
    let is_path = assertion.matching == TextMatch::Equals && expected.starts_with(['/', '?', '#']);
    let exact = BrowserAssertion {
        case_sensitive: true,
        ..assertion.clone()
    };
    let is_whole = assertion.matching == TextMatch::Equals && !is_path;
    if is_whole && !names.has_references(&expected) {
        let not = if assertion.negate { "!" } else { "" };
        let wanted = quoted(&expected);
        return Ok(holds(
            &format!("{not}(location.href === new URL({wanted}, location.href).href)"),
            false,
        ));
    }
    let source = match is_path {
        true => "location.pathname + location.search + location.hash",
        false => "location.href",
    };
    text(&exact, source, false, names)
}

/// Whether a snapshot says best if a page shows a text: scripts don't see all parts of a page, and hold no references.
fn is_for_snapshot(assertion: &BrowserAssertion, names: &Names<'_>, has_parts: bool) -> bool {
    let has_references = assertion
        .expected
        .as_ref()
        .is_some_and(|expected| names.has_references(&as_text(expected)));
    assertion.matching == TextMatch::Contains
        && !assertion.case_sensitive
        && (has_parts || has_references)
}

/// Whether the page shows a text.
fn shown(assertion: &BrowserAssertion, names: &Names<'_>) -> Check {
    let key = match assertion.negate {
        true => "lacks",
        false => "shows",
    };
    let expected = assertion.expected.as_ref().map(as_text).unwrap_or_default();
    Check::Snapshot(json!({key: names.template(&expected)}))
}

/// How many elements there are that people can see.
fn count(
    element: Option<&Element>,
    least: u32,
    most: Option<u32>,
    names: &Names<'_>,
) -> Result<Check, &'static str> {
    let element = element.ok_or("how many there are can't be counted")?;
    if let Some(selector) = &element.selector {
        if element.wanted.within.is_some() {
            return Err("elements by a selector in a container can't be counted");
        }
        if names.has_references(selector) {
            return Err("elements whose selector has a variable can't be counted");
        }
        let visible = format!(
            "Array.from(document.querySelectorAll({})).filter(element => element.checkVisibility()).length",
            quoted(selector)
        );
        let test = match most {
            Some(most) if most == least => format!("{visible} === {most}"),
            Some(most) => format!("{visible} <= {most}"),
            None => format!("{visible} >= {least}"),
        };
        return Ok(holds(&test, false));
    }
    if element.wanted.nth.is_some() {
        return Err("an element that only its place tells apart can't be counted");
    }
    let mut elements = element.target(names);
    elements["count"] = match most {
        Some(most) if most == least => most.into(),
        Some(most) => json!({"max": most}),
        None => json!({"min": least}),
    };
    Ok(Check::Snapshot(json!({"elements": elements})))
}
