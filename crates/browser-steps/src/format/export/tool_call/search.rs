//! A script that scrolls until an element is there: what is not in view may not be rendered yet.

use super::super::texts::{Names, quoted};
use super::elements::Element;

/// What elements of a role are in HTML, for roles that few elements have by another way.
const IN_HTML: &[(&str, &str)] = &[
    ("button", "button, summary, [role=button]"),
    ("heading", "h1, h2, h3, h4, h5, h6, [role=heading]"),
    ("img", "img, svg, [role=img]"),
    ("link", "a, [role=link]"),
    ("option", "option, [role=option]"),
];

/// Scrolls to the last element that is called so. While there is none, all that scrolls is scrolled on by most of what
/// it shows, and back to its beginning from its end, where it waits a moment for what may be loaded there.
const SEARCH: &str = "async () => { \
const wanted = NAME, fold = (text) => String(text ?? '').replace(/\\s+/g, ' ').trim().toLowerCase(); \
const names = (element) => [element.textContent, element.alt, element.title, element.getAttribute('aria-label')]; \
const parts = () => Array.from(document.querySelectorAll('*')).filter((element) => element === document.scrollingElement || (element.scrollHeight > element.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(element).overflowY))); \
for (let round = 0, idle = 0; round < 50; round++) { \
const found = Array.from(document.querySelectorAll(ELEMENTS)).filter((element) => element.checkVisibility() && (wanted === null || names(element).some((text) => fold(text) === fold(wanted)))).pop(); \
if (found) { found.scrollIntoView({ block: 'center' }); return true; } \
const before = parts().map((element) => [element, element.scrollTop]); \
for (const [element] of before) element.scrollBy({ top: element.clientHeight * 0.8, behavior: 'instant' }); \
idle = before.some(([element, top]) => element.scrollTop !== top) ? 0 : idle + 1; \
if (idle > 3) for (const [element] of before) element.scrollTo({ top: 0, behavior: 'instant' }); \
await new Promise((done) => setTimeout(done, 100)); \
} return false; }";

/// The script for an element of the page's own document that its selector, or its role and name, tell alone; none for
/// others.
pub(super) fn search(element: &Element, names: &Names<'_>) -> Option<String> {
    let wanted = &element.wanted;
    let (elements, name) = match &element.selector {
        _ if wanted.within.is_some() || wanted.nth.is_some() => return None,
        Some(selector) => (selector.as_str(), None),
        None => {
            let elements = IN_HTML
                .iter()
                .find(|(role, _)| wanted.role.as_deref() == Some(*role))
                .map_or("*", |(_, elements)| elements);
            (
                elements,
                Some(wanted.name.as_ref().or(wanted.text.as_ref())?),
            )
        }
    };
    if names.has_references(elements) || name.is_some_and(|name| names.has_references(name)) {
        return None;
    }
    let name = name.map_or("null".to_owned(), |name| quoted(name));
    Some(
        SEARCH
            .replacen("ELEMENTS", &quoted(elements), 1)
            .replacen("NAME", &name, 1),
    )
}
