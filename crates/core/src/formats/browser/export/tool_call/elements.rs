//! The elements of steps as targets of tool-call scenarios.

use serde_json::Map;

use super::super::texts::{Names, quoted};
use crate::page::selector::{Pattern, Selector};
use crate::page::{Around, Wanted};
use crate::scenario::browser::{Fingerprint, TestStep};
use crate::scenario::is_role;
use crate::value::Json;

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
    /// The most lasting way that a target can say.
    pub(super) fn of(step: &TestStep, test_id_attribute: &str) -> Option<Self> {
        step.selectors
            .iter()
            .filter_map(|selector| selector.parse::<Selector>().ok())
            .find_map(|selector| {
                by_selector(&selector, step.fingerprint.as_ref(), test_id_attribute)
            })
            .or_else(|| by_fingerprint(step.fingerprint.as_ref()?))
    }

    /// As `target` of a step.
    pub(super) fn target(&self, names: &Names<'_>) -> Json {
        let text = |text: &Option<String>| text.as_deref().map(|text| names.template(text));
        let within = self.wanted.within.as_ref().map(|around| Around {
            role: around.role.clone(),
            name: text(&around.name),
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
    if !selector.hops.is_empty() {
        return None;
    }
    let within = match &selector.within {
        None => None,
        Some(Pattern::Role { role, name }) if is_role(role) => Some(Around {
            role: Some(role.clone()),
            name: name.clone().filter(|name| !name.trim().is_empty()),
        }),
        Some(_) => return None,
    };
    let plain = Wanted {
        within,
        nth: selector.nth.map(|nth| nth + 1),
        ..Wanted::default()
    };
    let is_plain = plain == Wanted::default();
    let by_css = |css: String| {
        is_plain.then(|| Element {
            selector: Some(css),
            ..Element::default()
        })
    };
    let by = |wanted: Wanted| {
        Some(Element {
            is_by_position: wanted.nth.is_some(),
            selector: None,
            wanted,
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

/// Role and name, and which of its twins it is.
fn by_fingerprint(fingerprint: &Fingerprint) -> Option<Element> {
    if !is_role(&fingerprint.role) || fingerprint.name.trim().is_empty() {
        return None;
    }
    let has_twins = fingerprint.of > 1;
    Some(Element {
        selector: None,
        wanted: Wanted {
            role: Some(fingerprint.role.clone()),
            name: Some(fingerprint.name.clone()),
            nth: has_twins.then_some(fingerprint.ordinal),
            ..Wanted::default()
        },
        is_by_position: has_twins,
    })
}
