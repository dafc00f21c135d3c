//! The texts that stand in containers, and by which people call them.

use std::ops::Range;

use super::{ITEM_ROLES, ITEM_TAGS, MOST_INSIDE, SECTION_ROLES, SECTION_TAGS, is_cell, is_control};
use crate::dom::{DomElement, DomKind, NodeId};
use crate::figures::is_figure;
use crate::selector::Finder;
use crate::snapshot::single_spaces;
use crate::{ContainerKind, TextPlace};

/// A text in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContainedText {
    /// With single spaces.
    pub(crate) text: String,
    /// Where it stands.
    pub(crate) at: TextPlace,
    /// The element that has it.
    pub(crate) element: NodeId,
    /// The cell that it is in.
    pub(super) cell: Option<NodeId>,
}

impl Finder<'_> {
    /// The texts that a container is known by: its name, its heading, and of an item every cell and line.
    pub(super) fn container_texts(&self, id: NodeId, kind: ContainerKind) -> Vec<ContainedText> {
        let text = |text: String, at| ContainedText {
            text: single_spaces(&text),
            at,
            element: id,
            cell: None,
        };
        let Some(element) = self.state.element(id) else {
            return Vec::new();
        };
        let mut texts = Vec::new();
        match kind {
            ContainerKind::Frame => {
                texts.extend(self.frame_name(id).map(|name| text(name, TextPlace::Name)));
            }
            kind if kind.is_item() => {
                if is_given_name(element) {
                    texts.push(text(element.name.clone(), TextPlace::Name));
                }
                texts.extend(self.item_texts(id));
            }
            _ => {
                texts.push(text(element.name.clone(), TextPlace::Name));
                texts.extend(self.host_name(id).map(|name| text(name, TextPlace::Name)));
                let is_headed = matches!(
                    kind,
                    ContainerKind::Dialog | ContainerKind::Form | ContainerKind::Section
                );
                if is_headed && let Some(heading) = self.own_heading(id) {
                    texts.push(ContainedText {
                        element: heading,
                        ..text(self.element_name(heading), TextPlace::Heading)
                    });
                }
            }
        }
        texts.retain(|text| !text.text.is_empty());
        if texts.is_empty() && kind == ContainerKind::Dialog {
            texts.extend(self.first_said(id).map(|said| text(said, TextPlace::Text)));
        }
        texts
    }

    /// What a dialog without a name says first, which tells it from the next one: *Saved* from *Delete the account?*
    fn first_said(&self, dialog: NodeId) -> Option<String> {
        let is_label = |id: NodeId| {
            let mut around = self.state.ancestor_elements(id);
            around.any(|(_, outer)| outer.tag_name == "label")
        };
        let texts = self.item_texts(dialog).into_iter();
        texts
            .filter(|text| !is_figure(&text.text) && !is_label(text.element))
            .map(|text| text.text)
            .next()
    }

    /// The heading of a part of the page: the first in it, if that is not of a smaller part, and none is as high.
    pub(crate) fn own_heading(&self, id: NodeId) -> Option<NodeId> {
        let mut headings = self
            .state
            .descendants(id)
            .filter(|(_, inner)| inner.role == "heading" && inner.is_visible);
        let (heading, first) = headings.next()?;
        let level = |heading: &DomElement| heading.level.unwrap_or(2);
        if headings.any(|(_, other)| level(other) <= level(first)) {
            return None;
        }
        let around = self.state.ancestor_elements(heading).find(|(_, outer)| {
            SECTION_ROLES.contains(&outer.role.as_str())
                || SECTION_TAGS.contains(&outer.tag_name.as_str())
                || matches!(outer.role.as_str(), "dialog" | "alertdialog")
        });
        around
            .is_some_and(|(around, _)| around == id)
            .then_some(heading)
    }

    /// Every cell, heading and line of an item, apart from those of items in it and of what people act on.
    pub(crate) fn item_texts(&self, item: NodeId) -> Vec<ContainedText> {
        if self.size(item) > MOST_INSIDE {
            return Vec::new();
        }
        // What stands right in it says what it is, wherever among its parts.
        let mut texts: Vec<ContainedText> = self.own_text(item).into_iter().collect();
        let end = self.state.node(item).end;
        let mut at = item.0 + 1;
        while at < end {
            let id = NodeId(at);
            at += 1;
            let Some(element) = self.state.element(id) else {
                continue;
            };
            let is_other_item = ITEM_ROLES.contains(&element.role.as_str())
                || ITEM_TAGS.contains(&element.tag_name.as_str());
            if is_other_item || is_control(&element.role) {
                at = self.state.node(id).end;
                continue;
            }
            let is_heading = element.role == "heading";
            if !is_cell(&element.role) && !is_heading && !self.has_own_text(id) {
                continue;
            }
            let text = match is_heading {
                true => self.element_name(id),
                false => single_spaces(&self.state.visible_text(id)),
            };
            if text.is_empty() {
                continue;
            }
            let around = |test: &dyn Fn(&DomElement) -> bool| {
                self.state
                    .ancestor_elements(id)
                    .take_while(|(outer, _)| *outer != item)
                    .find(|(_, outer)| test(outer))
                    .map(|(outer, _)| outer)
            };
            let cell = match is_cell(&element.role) {
                true => Some(id),
                false => around(&|outer| is_cell(&outer.role)),
            };
            let is_headed = is_heading || around(&|outer| outer.role == "heading").is_some();
            let stands = match (is_headed, cell) {
                (true, _) => TextPlace::Heading,
                (false, Some(_)) => TextPlace::Cell,
                (false, None) => TextPlace::Text,
            };
            // Words that other elements stand between are also known by themselves.
            let own = self.own_text(id).map(|own| own.text);
            let own = own.filter(|own| stands == TextPlace::Text && *own != text);
            texts.extend(
                [Some(text), own]
                    .into_iter()
                    .flatten()
                    .map(|text| ContainedText {
                        text,
                        at: stands,
                        element: id,
                        cell,
                    }),
            );
        }
        texts
    }

    /// The heading of the column that a text of a row stands in.
    pub(super) fn column(&self, row: NodeId, text: &ContainedText) -> Option<String> {
        self.column_of(row, text.cell?)
    }

    /// The heading of the column that a cell of a row is in: of several rows of headings the lowest that says something.
    pub(crate) fn column_of(&self, row: NodeId, cell: NodeId) -> Option<String> {
        let (table, _) = self.state.ancestor_elements(row).find(|(_, outer)| {
            matches!(outer.role.as_str(), "table" | "grid" | "treegrid")
                || outer.tag_name == "table"
        })?;
        let mut headings: Vec<(Range<usize>, NodeId)> = Vec::new();
        // What cells of rows above take of a row: columns, and in how many rows more.
        let mut taken: Vec<(Range<usize>, usize)> = Vec::new();
        for (id, _) in self
            .state
            .descendants(table)
            .filter(|(_, inner)| inner.role == "row")
        {
            let mut column = 0;
            let mut placed = Vec::new();
            let cells = self.state.descendants(id);
            for (cell, inner) in cells.filter(|(_, inner)| is_cell(&inner.role)) {
                while let Some((columns, _)) =
                    taken.iter().find(|(columns, _)| columns.contains(&column))
                {
                    column = columns.end;
                }
                let columns = column..column + span_of(inner, "colspan");
                column = columns.end;
                placed.push((cell, inner, columns));
            }
            if id == row {
                let (_, _, columns) = placed.into_iter().find(|(id, ..)| *id == cell)?;
                let above = headings.iter().rev();
                let text = |id: NodeId| single_spaces(&self.state.visible_text(id));
                return above
                    .filter(|(range, _)| range.contains(&columns.start))
                    .map(|(_, heading)| text(*heading))
                    .find(|text| !text.is_empty());
            }
            taken.retain_mut(|(_, rows)| {
                *rows -= 1;
                *rows > 0
            });
            let is_heading = placed
                .first()
                .is_some_and(|(_, first, _)| first.role == "columnheader");
            for (cell, inner, columns) in placed {
                let rows = span_of(inner, "rowspan");
                if rows > 1 {
                    taken.push((columns.clone(), rows - 1));
                }
                if is_heading {
                    headings.push((columns, cell));
                }
            }
        }
        None
    }

    /// The text that stands right in an element, apart from that of its parts; none of an element that is all text.
    fn own_text(&self, id: NodeId) -> Option<ContainedText> {
        let runs = self
            .state
            .children(id)
            .filter_map(|child| match &self.state.node(child).kind {
                DomKind::Text(run) if run.is_visible => Some(run.text.as_str()),
                _ => None,
            });
        let text = single_spaces(&runs.collect::<Vec<_>>().join(" "));
        let says_something = text.chars().any(char::is_alphabetic);
        says_something.then_some(ContainedText {
            text,
            at: TextPlace::Text,
            element: id,
            cell: None,
        })
    }

    /// Whether text stands right in an element.
    pub(crate) fn has_own_text(&self, id: NodeId) -> bool {
        self.state
            .children(id)
            .any(|child| match &self.state.node(child).kind {
                DomKind::Text(run) => run.is_visible && !run.text.trim().is_empty(),
                DomKind::Element(_) => false,
            })
    }
}

/// Whether an element was given its name, so that it is not just all that is in it.
pub(super) fn is_given_name(element: &DomElement) -> bool {
    ["aria-label", "aria-labelledby", "title"]
        .iter()
        .any(|name| element.attribute(name).is_some())
        && !element.name.is_empty()
}

/// How many columns or rows a cell takes.
fn span_of(cell: &DomElement, attribute: &str) -> usize {
    const MOST: usize = 1000;
    let given = cell.attribute(attribute).and_then(|span| span.parse().ok());
    given.unwrap_or(1).clamp(1, MOST)
}
