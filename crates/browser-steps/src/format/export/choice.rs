//! Which selector of a step says its element best.

use crate::model::{AssertKind, ContainerKind, Fingerprint, TestStep, TextPlace};
use cuecard_page::identity::LONGEST_TEXT;
use cuecard_page::is_role;
use cuecard_page::selector::{Pattern, Selector, Within};
use cuecard_source::value::as_text;

/// The selectors of a step, the best first: the position that its sentence named, then what people read, then places
/// among others. Each is within the container that any of them names.
pub(super) fn selectors(step: &TestStep) -> Vec<Selector> {
    let mut all: Vec<Selector> = step
        .selectors
        .iter()
        .filter_map(|selector| selector.parse().ok())
        .collect();
    let fingerprint = step.fingerprint.as_ref();
    match fingerprint {
        Some(known) if all.is_empty() => all.extend(text_within(step, known)),
        Some(known) if known.is_container => {}
        Some(known) => all.extend(by_name(known, &all)),
        None => {}
    }
    let qualified = all
        .iter()
        .find(|selector| selector.within.is_some())
        .cloned();
    if let Some(qualified) = qualified {
        let within = |selector: &Selector| {
            let is_bare = selector.within.is_none() && selector.nth.is_none();
            let is_inside = selector.hops == qualified.hops && says_itself(&selector.pattern);
            (is_bare && is_inside).then(|| Selector {
                within: qualified.within.clone(),
                ..selector.clone()
            })
        };
        all = all
            .into_iter()
            .flat_map(|selector| within(&selector).into_iter().chain([selector]))
            .collect();
    }
    let said = fingerprint.and_then(said_nth);
    all.sort_by_key(|selector| match (&selector.pattern, selector.nth) {
        (_, nth) if said.is_some() && nth == said => 0,
        (Pattern::XPath(_), _) => 3,
        (_, None) => 1,
        (_, Some(_)) => 2,
    });
    all
}

/// Whether a selector says only where among others an element is, which its sentence did not.
pub(super) fn is_by_position(selector: &Selector, step: &TestStep) -> bool {
    let said = step.fingerprint.as_ref().and_then(said_nth);
    matches!(selector.pattern, Pattern::XPath(_))
        || (selector.nth.is_some() && selector.nth != said)
}

/// The nearest element around one that has a role and a name. Snapshots have a role for frames.
pub(super) fn around(fingerprint: &Fingerprint) -> Option<(String, String)> {
    let mut named = fingerprint.outline.iter().filter_map(|one| {
        let role = match one.kind {
            ContainerKind::Frame => "iframe",
            ContainerKind::Dialog => "dialog",
            _ => one.made.as_deref()?,
        };
        let is_named = one.at == TextPlace::Name && is_role(role);
        is_named.then(|| Some((role.to_owned(), one.text.clone()?)))?
    });
    named.next()
}

/// The position that a sentence named, as selectors count: from 0, or from -1 backwards.
fn said_nth(fingerprint: &Fingerprint) -> Option<i32> {
    fingerprint
        .position
        .map(|position| position - i32::from(position > 0))
}

/// Whether a pattern fits the same elements inside a container: CSS may speak of what is around that.
fn says_itself(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Css(css) => !css.contains([' ', '>', '+', '~']),
        Pattern::XPath(_) => false,
        _ => true,
    }
}

/// Role and name, if no other element had them.
fn by_name(fingerprint: &Fingerprint, all: &[Selector]) -> Option<Selector> {
    let is_alone = fingerprint.alone && fingerprint.position.is_none();
    // What is longer was cut.
    let is_whole = fingerprint.name.chars().count() < LONGEST_TEXT;
    let is_named = is_role(&fingerprint.role) && !fingerprint.name.trim().is_empty() && is_whole;
    let pattern = Pattern::Role {
        role: fingerprint.role.clone(),
        name: Some(fingerprint.name.clone()),
    };
    let is_new = all.iter().all(|selector| selector.pattern != pattern);
    (is_alone && is_named && is_new).then(|| Selector {
        hops: all
            .first()
            .map(|first| first.hops.clone())
            .unwrap_or_default(),
        ..Selector::of(pattern)
    })
}

/// A text that is asserted of a container.
fn text_within(step: &TestStep, fingerprint: &Fingerprint) -> Option<Selector> {
    let assertion = step.assertion.as_ref()?;
    let container = fingerprint.outline.first()?;
    let role = container.kind.role()?;
    (assertion.kind == AssertKind::Text).then(|| Selector {
        within: Some(Within {
            pattern: Pattern::Role {
                role: role.to_owned(),
                name: None,
            },
            has_text: container.text.clone(),
        }),
        ..Selector::of(Pattern::Text(
            assertion
                .expected
                .as_ref()
                .map(as_text)
                .unwrap_or_default()
                .into_owned(),
        ))
    })
}
