//! The elements of steps as targets of tool-call scenarios.

use serde_json::Map;

use super::super::choice::{around, is_by_position, selectors};
use super::super::texts::{Names, quoted};
use crate::model::{Fingerprint, TestStep};
use cuecard_page::containers::is_row;
use cuecard_page::is_role;
use cuecard_page::selector::{Pattern, Selector, Within};
use cuecard_page::{Around, Wanted};
use cuecard_source::value::Json;

/// An element as a target says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Element {
    /// A CSS selector.
    pub selector: Option<String>,
    /// What it is otherwise.
    pub wanted: Wanted,
    /// Whether only its place among others tells it apart.
    pub is_by_position: bool,
}

impl Element {
    /// The best way that a target can say.
    /// Snapshots of @playwright/mcp have no names for frames.
    pub(super) fn of(
        step: &TestStep,
        test_id_attribute: &str,
        has_frame_names: bool,
    ) -> Option<Self> {
        // Targets count from the first only.
        let is_from_end = step
            .fingerprint
            .as_ref()
            .is_some_and(|known| known.position.is_some_and(|position| position < 0));
        let by_selectors = || {
            selectors(step).into_iter().find_map(|selector| {
                let element = by_selector(&selector, step.fingerprint.as_ref(), test_id_attribute)?;
                // What a selector finds in a container can't be counted, so its absence can't be told.
                let is_uncountable = element.selector.is_some() && element.wanted.within.is_some();
                if step.assertion.is_some() && is_uncountable {
                    return None;
                }
                Some(Self {
                    is_by_position: is_by_position(&selector, step) || is_from_end,
                    ..element
                })
            })
        };
        let itself = step.fingerprint.as_ref().and_then(item_itself);
        itself
            .or_else(by_selectors)
            .or_else(|| by_fingerprint(step.fingerprint.as_ref()?, has_frame_names))
    }

    /// Whether it says which of those that are called alike it is.
    pub(super) fn is_told_apart(&self) -> bool {
        self.selector.is_some() || self.wanted.nth.is_some()
    }

    /// As `target` of a step.
    pub(super) fn target(&self, names: &Names<'_>) -> Json {
        let text = |text: &Option<String>| text.as_deref().map(|text| names.template(text));
        let within = self.wanted.within.as_ref().map(|around| Around {
            role: around.role.clone(),
            name: text(&around.name),
            text: text(&around.text),
        });
        let wanted = Wanted {
            role: self.wanted.role.clone(),
            name: text(&self.wanted.name),
            text: text(&self.wanted.text),
            within,
            nth: self.wanted.nth,
        };
        let mut members = Map::new();
        if let Some(selector) = text(&self.selector) {
            members.insert("selector".to_owned(), selector.into());
        }
        if let Json::Object(more) = wanted.to_json() {
            members.extend(more);
        }
        Json::Object(members)
    }
}

fn by_selector(
    selector: &Selector,
    fingerprint: Option<&Fingerprint>,
    test_id_attribute: &str,
) -> Option<Element> {
    // A snapshot looks into frames and shadow roots, CSS does not; nor does it say which of them is meant.
    if !selector.hops.is_empty() || selector.has_text.is_some() {
        return None;
    }
    let within = match &selector.within {
        None => None,
        Some(Within {
            pattern: Pattern::Role { role, name },
            has_text,
        }) if is_role(role) => Some(Around {
            role: Some(role.clone()),
            name: name.clone().filter(|name| !name.trim().is_empty()),
            text: has_text.clone(),
        }),
        Some(_) => return None,
    };
    let nth = match selector.nth {
        None => None,
        Some(nth) => Some(usize::try_from(nth).ok()? + 1),
    };
    let plain = Wanted {
        within,
        nth,
        ..Wanted::default()
    };
    let by_css = |css: String| {
        nth.is_none().then(|| Element {
            selector: Some(css),
            wanted: plain.clone(),
            ..Element::default()
        })
    };
    let by = |wanted: Wanted| {
        Some(Element {
            wanted,
            ..Element::default()
        })
    };
    match &selector.pattern {
        Pattern::TestId(id) => by_css(format!("[{test_id_attribute}={}]", quoted(id))),
        Pattern::Placeholder(text) => by_css(format!("[placeholder={}]", quoted(text))),
        Pattern::Css(css) => by_css(css.clone()),
        Pattern::Role { role, name } => {
            let name = name.clone().filter(|name| !name.trim().is_empty());
            match is_role(role) {
                true => by(Wanted {
                    role: Some(role.clone()),
                    name,
                    ..plain
                }),
                // What targets have no word for still has its name.
                false => by(Wanted {
                    text: Some(name?),
                    ..plain
                }),
            }
        }
        // What a field is called is its label, unless something else names it.
        Pattern::Label(label) => match fingerprint {
            Some(known) if known.name == *label && is_role(&known.role) => by(Wanted {
                role: Some(known.role.clone()),
                name: Some(label.clone()),
                ..plain
            }),
            Some(_) => None,
            None if !label.trim().is_empty() => by(Wanted {
                text: Some(label.clone()),
                ..plain
            }),
            None => None,
        },
        Pattern::Text(text) if !text.trim().is_empty() => by(Wanted {
            text: Some(text.clone()),
            ..plain
        }),
        Pattern::Text(_) | Pattern::XPath(_) => None,
    }
}

/// A row or an item that is asserted of, by the text that it is told apart by: snapshots give it other names than pages.
fn item_itself(fingerprint: &Fingerprint) -> Option<Element> {
    let container = fingerprint.outline.first()?;
    (fingerprint.is_container && is_row(&fingerprint.role)).then(|| Element {
        wanted: Wanted {
            role: Some(fingerprint.role.clone()),
            name: container.text.clone(),
            ..Wanted::default()
        },
        ..Element::default()
    })
}

/// Role and name, with the named part of the page around it if it has twins, or else which of them it is.
fn by_fingerprint(fingerprint: &Fingerprint, has_frame_names: bool) -> Option<Element> {
    if !is_role(&fingerprint.role) || fingerprint.name.trim().is_empty() {
        return None;
    }
    let has_twins = !fingerprint.alone;
    let within = around(fingerprint)
        .filter(|(role, _)| has_twins && (has_frame_names || role != "iframe"))
        .map(|(role, name)| Around {
            role: Some(role),
            name: Some(name),
            text: None,
        });
    let is_by_position = has_twins && within.is_none();
    Some(Element {
        selector: None,
        wanted: Wanted {
            role: Some(fingerprint.role.clone()),
            name: Some(fingerprint.name.clone()),
            within,
            nth: fingerprint
                .position
                .and_then(|position| usize::try_from(position).ok())
                .filter(|_| is_by_position),
            ..Wanted::default()
        },
        is_by_position,
    })
}
