//! Where on a page something is: sections, dialogs, rows and forms by their names.

use std::ops::Range;

use super::phrase::{PlaceKind, Within};
use crate::page::describe::is_frame;
use crate::page::dom::{DomElement, NodeId};
use crate::page::selector::{Finder, is_row};
use crate::page::snapshot::single_spaces;
use crate::page::words::{Likeness, SoughtName};

/// A part of a page, as a range of nodes.
pub(super) type Place = Range<u32>;

/// The most nodes of a place whose text is looked at.
const MOST_INSIDE: u32 = 2_000;

/// Roles and tags of sections.
const SECTION_ROLES: &[&str] = &[
    "region",
    "form",
    "navigation",
    "group",
    "radiogroup",
    "article",
    "complementary",
    "main",
    "banner",
    "contentinfo",
    "search",
    "table",
    "grid",
    "treegrid",
    "list",
    "listbox",
    "tree",
    "tabpanel",
    "toolbar",
    "menu",
];
const SECTION_TAGS: &[&str] = &[
    "section", "fieldset", "article", "aside", "nav", "main", "form", "header", "footer",
];

impl Finder<'_> {
    /// The places that are meant: those with the name, and if there are none those whose text holds its words.
    pub(super) fn places(&self, within: &Within) -> Vec<Place> {
        let elements: Vec<(NodeId, &DomElement)> = self
            .state
            .elements()
            .filter(|(_, element)| {
                let is_host = within.kind == PlaceKind::Section && element.shadow_root;
                element.is_visible && (is_host || is_place(element, within.kind))
            })
            .collect();
        let Some(name) = &within.name else {
            return elements.iter().map(|(id, _)| self.range(*id)).collect();
        };
        let sought = SoughtName::new(name);
        let mut sections = Vec::new();
        if within.kind == PlaceKind::Section {
            sections = self.headed();
        }
        let named = |test: &dyn Fn(&str) -> bool| -> Vec<Place> {
            let by_name = elements
                .iter()
                .filter(|(id, element)| {
                    test(&element.name)
                        || (within.kind == PlaceKind::Frame
                            && self.frame_name(*id).is_some_and(|name| test(&name)))
                        || (element.shadow_root
                            && self.host_name(*id).is_some_and(|name| test(&name)))
                        || (within.kind == PlaceKind::Row
                            && self.parts(*id).iter().any(|part| test(part)))
                        || (within.kind == PlaceKind::Dialog
                            && self.heading_in(*id).is_some_and(|heading| test(&heading)))
                })
                .map(|(id, _)| self.range(*id));
            let by_heading = sections
                .iter()
                .filter(|(heading, _)| test(heading))
                .map(|(_, place)| place.clone());
            by_name.chain(by_heading).collect()
        };
        for likeness in Likeness::SAID {
            let found = named(&|text| sought.fits(text, likeness));
            if !found.is_empty() {
                return found;
            }
        }
        // The words may stand anywhere in a row.
        let holds = |text: &str| sought.fits(text, Likeness::Words);
        elements
            .iter()
            .filter(|(_, element)| is_row(&element.role) || element.tag_name == "tr")
            .map(|(id, _)| (*id, self.range(*id)))
            .filter(|(id, place)| {
                place.end - place.start <= MOST_INSIDE && holds(&self.state.visible_text(*id))
            })
            .map(|(_, place)| place)
            .collect()
    }

    fn range(&self, id: NodeId) -> Place {
        id.0..self.state.node(id).end
    }

    /// The texts of the cells and headings of a row; of an item without any all its text.
    fn parts(&self, id: NodeId) -> Vec<String> {
        let place = self.range(id);
        if place.end - place.start > MOST_INSIDE {
            return Vec::new();
        }
        let is_part = |role: &str| {
            matches!(
                role,
                "cell" | "gridcell" | "rowheader" | "columnheader" | "heading" | "link"
            )
        };
        self.state
            .descendants(id)
            .filter(|(_, inner)| inner.is_visible && is_part(&inner.role))
            .map(|(part, _)| single_spaces(&self.state.visible_text(part)))
            .collect()
    }

    fn heading_in(&self, id: NodeId) -> Option<String> {
        self.state
            .descendants(id)
            .find(|(_, inner)| inner.role == "heading" && inner.is_visible)
            .map(|(_, heading)| heading.name.clone())
    }

    /// Headings with what stands below each: up to the next one that is as high, and within the section that the
    /// heading is in.
    fn headed(&self) -> Vec<(String, Place)> {
        let headings: Vec<(NodeId, &DomElement)> = self
            .state
            .elements()
            .filter(|(_, element)| element.role == "heading" && element.is_visible)
            .collect();
        headings
            .iter()
            .enumerate()
            .map(|(nth, (id, heading))| {
                let around = self
                    .state
                    .ancestor_elements(*id)
                    .find(|(_, outer)| is_place(outer, PlaceKind::Section))
                    .map_or(self.state.nodes.len(), |(outer, _)| {
                        self.state.node(outer).end as usize
                    });
                let level = heading.level.unwrap_or(2);
                let next = headings[nth + 1..]
                    .iter()
                    .find(|(_, next)| next.level.unwrap_or(2) <= level)
                    .map_or(u32::MAX, |(next, _)| next.0);
                let end = u32::try_from(around).unwrap_or(u32::MAX).min(next);
                (heading.name.clone(), id.0..end)
            })
            .collect()
    }
}

fn is_place(element: &DomElement, kind: PlaceKind) -> bool {
    let (role, tag) = (element.role.as_str(), element.tag_name.as_str());
    match kind {
        PlaceKind::Section => SECTION_ROLES.contains(&role) || SECTION_TAGS.contains(&tag),
        PlaceKind::Dialog => matches!(role, "dialog" | "alertdialog") || tag == "dialog",
        PlaceKind::Row => {
            is_row(role) || matches!(role, "option" | "article") || matches!(tag, "tr" | "li")
        }
        PlaceKind::Form => role == "form" || tag == "form",
        PlaceKind::Frame => is_frame(tag),
    }
}

/// The kind of place that an element of this role is.
pub(super) fn kind_of(role: &str) -> PlaceKind {
    match role {
        "dialog" | "alertdialog" => PlaceKind::Dialog,
        "form" => PlaceKind::Form,
        "frame" => PlaceKind::Frame,
        role if is_row(role) => PlaceKind::Row,
        _ => PlaceKind::Section,
    }
}
