//! What is remembered of an element to know it again.

use std::collections::HashMap;

use super::place::keeps_its_own;
use crate::page::describe::is_frame;
use crate::page::dom::{DomElement, DomKind, DomState, NodeId};
use crate::page::selector::Finder;
use crate::page::snapshot::single_spaces;
use crate::page::words::fold;
use crate::scenario::browser::Fingerprint;
use crate::value::cut;

/// How many elements around one are remembered.
const LONGEST_PATH: usize = 5;

/// The longest name and text that is remembered, in characters.
const LONGEST_TEXT: usize = 120;

/// How far before an element a text may stand that is near it, in nodes.
const FARTHEST: usize = 200;

/// Roles of parts of a page that count although nothing is written on them.
const LANDMARKS: &[&str] = &[
    "banner",
    "complementary",
    "contentinfo",
    "dialog",
    "alertdialog",
    "form",
    "frame",
    "main",
    "navigation",
    "region",
    "search",
];

/// Roles whose name is all that is in them, and says nothing about where an element is.
pub(super) const NAMELESS: &[&str] = &["generic", "none", "presentation", ""];

/// Parts of rows, whose names are all that is in them.
const CELLS: &[&str] = &["cell", "gridcell", "columnheader", "rowheader"];

impl Finder<'_> {
    /// What an element is, to know it again.
    pub fn fingerprint(&self, id: NodeId) -> Option<Fingerprint> {
        let element = self.state.element(id)?;
        let (ordinal, of) = self.ordinal(id, element);
        Some(Fingerprint {
            role: element.role.clone(),
            name: cut(&element.name, LONGEST_TEXT).into_owned(),
            tag: element.tag_name.clone(),
            input_type: element.input_type(),
            test_id: self.test_id(element).map(str::to_owned),
            path: self.path(id),
            near: self.near(id, element),
            ordinal,
            of,
            scope: scope_words(element),
        })
    }

    /// The named and landmark elements around one, innermost first, with the frames and shadow hosts that it is in.
    pub(super) fn path(&self, id: NodeId) -> Vec<String> {
        self.state
            .ancestor_elements(id)
            .filter_map(|(place, outer)| self.entry(place, outer))
            .take(LONGEST_PATH)
            .collect()
    }

    /// An element as one that others are in, if it counts as that.
    pub(super) fn entry(&self, id: NodeId, element: &DomElement) -> Option<String> {
        let role = element.role.as_str();
        if CELLS.contains(&role) {
            return None;
        }
        let (word, name) = if is_frame(&element.tag_name) {
            ("frame", self.frame_name(id).unwrap_or_default())
        } else if NAMELESS.contains(&role) {
            (element.tag_name.as_str(), self.host_name(id)?)
        } else {
            (role, self.place_name(id, element))
        };
        if name.is_empty() && !LANDMARKS.contains(&word) {
            return None;
        }
        let name = cut(&name, LONGEST_TEXT);
        Some(match name.is_empty() {
            true => word.to_owned(),
            false => format!("{word} \"{name}\""),
        })
    }

    /// The label of an element, or the heading or text before it in the row, dialog or component that it is in.
    pub(super) fn near(&self, id: NodeId, element: &DomElement) -> String {
        let own = single_spaces(&element.label);
        if !own.is_empty() {
            return cut(&own, LONGEST_TEXT).into_owned();
        }
        let around = self
            .state
            .ancestor_elements(id)
            .find(|(_, outer)| keeps_its_own(outer))
            .map_or(0, |(outer, _)| outer.index());
        let start = id.index().saturating_sub(FARTHEST).max(around);
        let before = self.state.nodes[start..id.index()].iter().rev();
        for node in before {
            let text = match &node.kind {
                DomKind::Text(run) if run.is_visible => single_spaces(&run.text),
                _ => continue,
            };
            if text.chars().any(char::is_alphanumeric) {
                return cut(&text, LONGEST_TEXT).into_owned();
            }
        }
        String::new()
    }

    /// Which of the elements with its role and name it is, from 1, and how many there are.
    fn ordinal(&self, id: NodeId, element: &DomElement) -> (usize, usize) {
        let name = fold(&element.name);
        let (mut ordinal, mut of) = (0, 0);
        for (place, other) in self.state.elements() {
            let is_twin = place == id
                || (other.is_visible && other.role == element.role && fold(&other.name) == name);
            if is_twin {
                of += 1;
                if place <= id {
                    ordinal += 1;
                }
            }
        }
        (ordinal, of)
    }
}

/// Which of its twins each visible element is, for a whole state at once.
pub(super) fn ordinals(state: &DomState) -> HashMap<NodeId, usize> {
    let mut counts: HashMap<(&str, String), usize> = HashMap::new();
    let mut ordinals = HashMap::new();
    for (id, element) in state.elements().filter(|(_, element)| element.is_visible) {
        let count = counts
            .entry((element.role.as_str(), fold(&element.name)))
            .or_default();
        *count += 1;
        ordinals.insert(id, *count);
    }
    ordinals
}

/// The frames and shadow hosts that an element is in, as they are kept.
pub(super) fn scope_words(element: &DomElement) -> Vec<String> {
    element
        .scope
        .iter()
        .map(|hop| format!("{}={}", hop.kind.word(), hop.xpath))
        .collect()
}
