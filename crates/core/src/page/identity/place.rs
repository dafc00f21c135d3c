//! Whether an element is still in the place in which one is remembered, or in another one like it.

use super::fingerprint::NAMELESS;
use super::verdict::Remembered;
use crate::page::describe::is_frame;
use crate::page::dom::{DomElement, NodeId};
use crate::page::selector::{Finder, Pattern};
use crate::page::words::fold;
use crate::scenario::browser::Fingerprint;

/// Places of which a page has several alike, or shows one at a time: what is in another one is another one's, whatever
/// it is called. So are the hosts of shadow roots, whose tags have a hyphen.
const KEEPING: &[&str] = &[
    "row",
    "listitem",
    "treeitem",
    "article",
    "dialog",
    "alertdialog",
    "tabpanel",
    "frame",
];

impl Finder<'_> {
    /// Whether an element can be what was remembered although something about it changed. It must be in the same row,
    /// dialog, panel, frame or component. What had twins is only where it was told apart from them, so that its
    /// neighbour in the same order and with the same price is still its neighbour when it is gone. What had none may be
    /// anywhere, unless the place in which it was is still there without it.
    pub(super) fn is_in_its_place(&self, id: NodeId, remembered: Remembered<'_>) -> bool {
        let fingerprint = remembered.fingerprint;
        let Some(element) = self.state.element(id) else {
            return false;
        };
        let path = self.path(id);
        if !keeping(&path).eq(keeping(&fingerprint.path)) {
            return false;
        }
        let near = fold(&self.near(id, element));
        let (now, then) = (named(&path), named(&fingerprint.path));
        if fingerprint.of > 1 {
            return now.map(fold) == then.map(fold)
                && (near == fold(&fingerprint.near)
                    || self.is_told_apart(element, remembered, then.is_some()));
        }
        let is_left = then.is_some_and(|then| !has_entry(&path, then) && self.shows_place(then));
        !is_left && !self.is_below_another_heading(&near, fingerprint)
    }

    /// Whether an element needs not stand next to the same text to be told from its twins: if none of them was in the
    /// same place, or none had its test id.
    fn is_told_apart(
        &self,
        element: &DomElement,
        remembered: Remembered<'_>,
        is_in_a_place: bool,
    ) -> bool {
        let has_test_id = self.test_id(element) == remembered.fingerprint.test_id.as_deref();
        remembered
            .selectors
            .iter()
            .any(|selector| match &selector.pattern {
                Pattern::TestId(_) => has_test_id,
                _ => is_in_a_place && selector.within.is_some(),
            })
    }

    /// Whether a place of a path can be seen on the page.
    fn shows_place(&self, entry: &str) -> bool {
        let entry = fold(entry);
        self.state.elements().any(|(id, element)| {
            element.is_visible
                && !NAMELESS.contains(&element.role.as_str())
                && entry.starts_with(element.role.as_str())
                && self
                    .entry(id, element)
                    .is_some_and(|found| fold(&found) == entry)
        })
    }

    /// Whether an element stands below a heading, and what was remembered below another one that is still there.
    fn is_below_another_heading(&self, near: &str, fingerprint: &Fingerprint) -> bool {
        let then = fold(&fingerprint.near);
        if near == then {
            return false;
        }
        let is_heading = |text: &str| {
            let mut elements = self.state.elements();
            elements.any(|(_, element): (_, &DomElement)| {
                element.is_visible && element.role == "heading" && fold(&element.name) == text
            })
        };
        is_heading(&then) && is_heading(near)
    }
}

/// Whether what is in an element stays in it.
pub(super) fn keeps_its_own(element: &DomElement) -> bool {
    KEEPING.contains(&element.role.as_str()) || element.shadow_root || is_frame(&element.tag_name)
}

/// The entries of a path that keep what is in them, innermost first.
fn keeping(path: &[String]) -> impl Iterator<Item = String> {
    path.iter()
        .filter(|entry| {
            let word = entry.split(' ').next().unwrap_or_default();
            KEEPING.contains(&word) || word.contains('-')
        })
        .map(|entry| fold(entry))
}

/// The innermost entry of a path that has a name.
fn named(path: &[String]) -> Option<&str> {
    path.iter()
        .map(String::as_str)
        .find(|entry| entry.contains('"'))
}

fn has_entry(path: &[String], wanted: &str) -> bool {
    let wanted = fold(wanted);
    path.iter().any(|entry| fold(entry) == wanted)
}
