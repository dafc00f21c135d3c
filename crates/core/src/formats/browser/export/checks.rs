//! Assertions as scripts in a page, and as patterns of a snapshot, for servers that have no assertions of their own.

use serde_json::json;

use super::elements::Element;
use super::texts::{Names, escaped, quoted};
use crate::scenario::browser::{AssertKind, BrowserAssertion, Compare, TextMatch};
use crate::value::{Json, as_text};

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
    /// What the text of a snapshot must satisfy, as a JSON Schema.
    Snapshot(Json),
}

/// The text of a page with that of its frames, as far as they are of the same origin.
const PAGE_TEXT: &str = "(function text(view) { try { return [view.document.body.innerText, ...Array.from({ length: view.length }, (_, index) => text(view[index]))].join(' '); } catch { return ''; } })(window)";

/// How an assertion is checked.
///
/// # Errors
/// With what can't be said, in words.
pub(super) fn check(
    assertion: &BrowserAssertion,
    element: Option<&Element>,
    names: &Names<'_>,
) -> Result<Check, &'static str> {
    use AssertKind as Kind;
    match assertion.kind {
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
        Kind::Visible | Kind::Hidden => count(element, Compare::AtMost, 0, names),
        Kind::Count => {
            if assertion.negate {
                return Err("that there are not so many can't be said");
            }
            let wanted = assertion.expected.as_ref().map(as_text);
            let wanted = wanted.and_then(|wanted| wanted.parse().ok());
            count(
                element,
                assertion.compare,
                wanted.ok_or("the number is not known")?,
                names,
            )
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
    let wanted = expected.split_whitespace().collect::<Vec<_>>().join(" ");
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

/// How many elements there are that people can see.
fn count(
    element: Option<&Element>,
    compare: Compare,
    wanted: u32,
    names: &Names<'_>,
) -> Result<Check, &'static str> {
    let element = element.ok_or("how many there are can't be counted")?;
    if let Some(selector) = &element.selector {
        if names.has_references(selector) {
            return Err("elements whose selector has a variable can't be counted");
        }
        let sign = match compare {
            Compare::Equal => "===",
            Compare::AtLeast => ">=",
            Compare::AtMost => "<=",
        };
        return Ok(holds(
            &format!(
                "Array.from(document.querySelectorAll({})).filter(element => element.checkVisibility()).length {sign} {wanted}",
                quoted(selector)
            ),
            false,
        ));
    }
    let known = &element.wanted;
    if known.within.is_some() || known.nth.is_some() {
        return Err("elements within others can't be counted");
    }
    let name = known.name.as_ref().or(known.text.as_ref());
    if name.is_some_and(|name| names.has_references(name)) {
        return Err("elements whose name has a variable can't be counted");
    }
    // As a line of a snapshot begins.
    let role = known.role.as_deref().unwrap_or_default();
    let line = match (role, name) {
        ("", Some(name)) => escaped(&quoted(name)),
        (role, Some(name)) => format!("\\b{role} {}", escaped(&quoted(name))),
        (role, None) => format!("(?:uid=\\S+|-) '?{role}\\b"),
    };
    let at_least = |count: u32| json!({"pattern": format!("(?:{line}[\\s\\S]*?){{{count}}}")});
    let more = json!({"not": at_least(wanted + 1)});
    let schema = match compare {
        Compare::AtLeast => at_least(wanted),
        Compare::AtMost => more,
        Compare::Equal if wanted == 0 => more,
        Compare::Equal => json!({"allOf": [at_least(wanted), more]}),
    };
    Ok(Check::Snapshot(schema))
}
