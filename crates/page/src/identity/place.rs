//! Whether an element is still in the place in which one is remembered, or in another one like it.

use super::fingerprint::{LONGEST_TEXT, NAMELESS};
use super::verdict::is_entry;
use crate::containers::Place;
use crate::describe::is_frame;
use crate::dom::{DomElement, NodeId};
use crate::selector::Finder;
use crate::words::fold_name;
use crate::{Container, Fingerprint};
use cuecard_source::value::cut;

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
    /// dialog, panel, frame or component. What had twins is only where it was told apart from them. What had none may
    /// be anywhere, unless the place in which it was is still there without it.
    pub(super) fn is_in_its_place(&self, id: NodeId, fingerprint: &Fingerprint) -> bool {
        let Some(element) = self.state.element(id) else {
            return false;
        };
        let path = self.path(id, &fingerprint.within);
        if !keeps_alike(&path, &fingerprint.path) {
            return false;
        }
        let (now, then) = (named(&path), named(&fingerprint.path));
        if fingerprint.of > 1 && fingerprint.within.is_empty() {
            return now.map(fold_name) == then.map(fold_name);
        }
        let near = fold_name(&self.near(id, element, &fingerprint.within));
        let is_left = then.is_some_and(|then| !has_entry(&path, then) && self.shows_place(then));
        !is_left
            && !self.is_below_another_heading(&near, fingerprint)
            && !self.is_under_another_heading(id, fingerprint)
    }

    /// The containers that tell an element from its twins, with the headings that its item stands below.
    pub(super) fn below_headings(&self, id: NodeId, mut within: Vec<Container>) -> Vec<Container> {
        let place = self.place_within(&within).ok().flatten();
        if let (Some(place), Some(first)) = (place, within.first_mut()) {
            first.below = match first.kind.is_item() {
                true => self.headings_above(place.start),
                false => self.headings_above(id.0),
            };
        }
        within
    }

    /// Whether the item at a place stands below a heading, and what was remembered below another one that is still there.
    pub(super) fn is_item_of_another_heading(
        &self,
        place: &Place,
        fingerprint: &Fingerprint,
    ) -> bool {
        is_of_item(fingerprint) && self.is_of_another_heading(place.start, fingerprint)
    }

    /// The same of an element that is in no item.
    pub(super) fn is_under_another_heading(&self, id: NodeId, fingerprint: &Fingerprint) -> bool {
        !is_of_item(fingerprint) && self.is_of_another_heading(id.0, fingerprint)
    }

    fn is_of_another_heading(&self, at: u32, fingerprint: &Fingerprint) -> bool {
        let fold_all = |texts: &[String]| -> Vec<String> {
            texts.iter().map(|text| fold_name(text)).collect()
        };
        let Some(item) = fingerprint
            .within
            .first()
            .filter(|item| !item.below.is_empty())
        else {
            return false;
        };
        let (then, now) = (fold_all(&item.below), fold_all(&self.headings_above(at)));
        let is_left = |element: &DomElement| {
            let name = fold_name(&element.name);
            element.is_visible
                && element.role == "heading"
                && then.contains(&name)
                && !now.contains(&name)
        };
        now.iter().any(|heading| !then.contains(heading))
            && self.state.elements().any(|(_, element)| is_left(element))
    }

    /// The headings over what begins at a node, nearest first: the nearest before it, and before that the nearest of a
    /// higher level. Each stands beside what that is in, alone or in a bar of its own, and in no other item.
    pub(super) fn headings_above(&self, start: u32) -> Vec<String> {
        const MOST_IN_BAR: usize = 12;
        let holds = |outer: &NodeId| {
            let end = self.state.node(*outer).end;
            (outer.0..end).contains(&start)
        };
        let is_over = |id: NodeId| {
            let mut around = self.state.ancestors(id);
            match around.next() {
                Some(outer) if holds(&outer) => true,
                Some(bar) => {
                    let end = self.state.node(bar).end as usize;
                    end - bar.index() <= MOST_IN_BAR
                        && around.next().is_some_and(|outer| holds(&outer))
                }
                None => false,
            }
        };
        let of_none_other = |id: NodeId| self.items_around(id).all(|(item, _)| holds(&item));
        let before = self.state.elements().take_while(|(id, _)| id.0 < start);
        let headings: Vec<_> = before
            .filter(|(id, element)| element.is_visible && element.role == "heading" && is_over(*id))
            .collect();
        let mut above = Vec::new();
        let mut level = u32::MAX;
        for (id, heading) in headings.into_iter().rev() {
            let own = heading.level.unwrap_or(2);
            if own < level && of_none_other(id) && !heading.name.is_empty() {
                level = own;
                above.push(cut(&heading.name, LONGEST_TEXT).into_owned());
            }
        }
        above
    }

    /// Whether a place of a path can be seen on the page.
    fn shows_place(&self, entry: &str) -> bool {
        let entry = fold_name(entry);
        self.state.elements().any(|(id, element)| {
            element.is_visible
                && !NAMELESS.contains(&element.role.as_str())
                && entry.starts_with(element.role.as_str())
                && self
                    .entry(id, element)
                    .is_some_and(|found| fold_name(&found) == entry)
        })
    }

    /// Whether an element stands below a heading, and what was remembered below another one that is still there.
    fn is_below_another_heading(&self, near: &str, fingerprint: &Fingerprint) -> bool {
        let then = fold_name(&fingerprint.near);
        if near == then {
            return false;
        }
        let is_heading = |text: &str| {
            let mut elements = self.state.elements();
            elements.any(|(_, element): (_, &DomElement)| {
                element.is_visible && element.role == "heading" && fold_name(&element.name) == text
            })
        };
        is_heading(&then) && is_heading(near)
    }
}

/// Whether what is remembered stands in an item.
fn is_of_item(fingerprint: &Fingerprint) -> bool {
    let first = fingerprint.within.first();
    first.is_some_and(|container| container.kind.is_item())
}

/// Whether an element is in a part of the page; in every one if there is none.
pub(super) fn is_in(place: Option<&Place>, id: NodeId) -> bool {
    place.is_none_or(|place| place.contains(&id.0))
}

/// Whether what is in an element stays in it.
pub(super) fn keeps_its_own(element: &DomElement) -> bool {
    KEEPING.contains(&element.role.as_str()) || element.shadow_root || is_frame(&element.tag_name)
}

/// Whether two paths are one place for people: what has no name, and of which a page has no several, is none.
pub(super) fn is_same_place(now: &[String], then: &[String]) -> bool {
    keeps_alike(now, then) && named(now).map(fold_name) == named(then).map(fold_name)
}

fn keeps_alike(now: &[String], then: &[String]) -> bool {
    let (now, then) = (keeping(now), keeping(then));
    now.len() == then.len() && now.iter().zip(then).all(|(now, then)| is_entry(now, then))
}

/// The entries of a path that keep what is in them, innermost first.
fn keeping(path: &[String]) -> Vec<&str> {
    let entries = path.iter().map(String::as_str);
    let keeps = |entry: &&str| {
        let word = entry.split(' ').next().unwrap_or_default();
        KEEPING.contains(&word) || word.contains('-')
    };
    entries.filter(keeps).collect()
}

/// The innermost entry of a path that has a name.
fn named(path: &[String]) -> Option<&str> {
    path.iter()
        .map(String::as_str)
        .find(|entry| entry.contains('"'))
}

fn has_entry(path: &[String], wanted: &str) -> bool {
    let wanted = fold_name(wanted);
    path.iter().any(|entry| fold_name(entry) == wanted)
}
