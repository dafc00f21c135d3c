//! What elements are in: rows, cards, sections, dialogs, by the texts that tell them from others of their kind.

mod outline;
mod texts;

use std::ops::Range;

use super::describe::is_frame;
use super::dom::{DomElement, NodeId, State};
use super::figures::is_figure;
use super::identity::LONGEST_TEXT;
use super::selector::{Finder, is_hashed_class};
use super::sentences::Within;
use super::snapshot::single_spaces;
use super::words::{NameMatch, NameQuery, fold, fold_name};
use crate::{Container, ContainerKind, TextPlace};

use outline::without_count;
pub(crate) use texts::ContainedText;
use texts::is_given_name;

/// A part of a page, as a range of nodes.
pub(crate) type Place = Range<u32>;

/// The most nodes of an item whose texts are looked at.
const MOST_INSIDE: u32 = 2_000;

/// How many items alike are looked at around one.
const MOST_LIKES: usize = 200;

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

/// Roles and tags of items: of each there are usually several alike.
const ITEM_ROLES: &[&str] = &["row", "listitem", "treeitem", "article", "option"];
const ITEM_TAGS: &[&str] = &["tr", "li", "article"];

/// Roles of what people act on and don't read: their names say nothing about the item.
const CONTROL_ROLES: &[&str] = &[
    "button",
    "checkbox",
    "combobox",
    "listbox",
    "menu",
    "menuitem",
    "option",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
];

impl Finder<'_> {
    /// The parts of the page that are called so: those with the name as a whole, and if it was not in quotes and there
    /// are none, those with all its words.
    pub(crate) fn places(
        &self,
        kind: ContainerKind,
        name: Option<&str>,
        is_quoted: bool,
    ) -> Vec<Place> {
        let Some(name) = name else {
            return self.unnamed_places(kind);
        };
        let sought = NameQuery::new(name);
        let called = |fits: &dyn Fn(&str) -> bool| -> Vec<Place> {
            let named = self.named_places(kind, None, fits);
            named.into_iter().map(|(place, _)| place).collect()
        };
        let whole = sought.found_first(&NameMatch::KEPT, called);
        if !whole.is_empty() {
            return whole;
        }
        // `To do 2` is still called so with another count.
        let titled = self.named_places(kind, None, &|text| {
            sought.fits(without_count(text), NameMatch::Folded)
        });
        let is_title = |text: &ContainedText| !kind.is_item() || text.at == TextPlace::Heading;
        let titled = titled
            .into_iter()
            .filter(|(_, texts)| texts.iter().any(is_title));
        let titled: Vec<Place> = titled.map(|(place, _)| place).collect();
        match titled.is_empty() && !is_quoted {
            true => called(&|text| sought.fits(text, NameMatch::Words)),
            false => titled,
        }
    }

    /// The part of the page of a kind: of several, a sentence can mean none without its name.
    fn unnamed_places(&self, kind: ContainerKind) -> Vec<Place> {
        match self.all_of(kind).as_slice() {
            [one] => vec![self.range(*one)],
            _ => Vec::new(),
        }
    }

    /// The parts of the page of a kind. The header and the footer are those of the page, if it has any.
    pub(crate) fn all_of(&self, kind: ContainerKind) -> Vec<NodeId> {
        let mut all = self.containers_of(kind, None);
        let is_of_page = |id: &NodeId| {
            let element = self.state.element(*id);
            element.is_some_and(|element| Some(element.role.as_str()) == kind.role())
        };
        if all.iter().any(is_of_page) {
            all.retain(is_of_page);
        }
        all
    }

    /// The parts of the page that a container is, as it was when it was kept.
    pub(crate) fn places_of(&self, container: &Container) -> Vec<Place> {
        let Some(text) = &container.text else {
            return self.places(container.kind, None, true);
        };
        let folded = fold_name(text);
        let fits = |text: &str| fold_name(text) == folded;
        self.named_places(container.kind, container.made.as_deref(), &fits)
            .into_iter()
            .filter(|(place, _)| self.can_be(place, container))
            .filter(|(place, found)| match &container.column {
                // Nothing else in the row may be taken for that cell.
                Some(column) => {
                    let column = fold_name(column);
                    let is_in_column = |text: &ContainedText| {
                        self.column(NodeId(place.start), text)
                            .is_none_or(|found| fold_name(&found) == column)
                    };
                    found.iter().any(is_in_column)
                }
                None => true,
            })
            .map(|(place, _)| place)
            .collect()
    }

    /// The container that a sentence named, as the one that an element is in.
    pub(crate) fn container_said(&self, id: NodeId, said: &Within) -> Option<Container> {
        let mut places = self.places(said.kind, said.name.as_deref(), said.is_quoted);
        places.retain(|place| place.contains(&id.0));
        let place = places
            .into_iter()
            .min_by_key(|place| place.end - place.start)?;
        let Some(name) = &said.name else {
            return Some(Container {
                kind: said.kind,
                ..Container::default()
            });
        };
        let sought = NameQuery::new(name);
        let texts = self.named_places(said.kind, None, &|text| {
            sought.fits(text, NameMatch::Words) || sought.fits(text, NameMatch::Folded)
        });
        let (_, mut texts) = texts.into_iter().find(|(found, _)| *found == place)?;
        // The container itself is known by any text in it.
        texts.retain(|text| place.start == id.0 || !self.is_own_text(id, text.element, &text.text));
        let text = NameMatch::SAID
            .iter()
            .find_map(|&likeness| texts.iter().find(|text| sought.fits(&text.text, likeness)))?;
        let container = self.container_with(said.kind, NodeId(place.start), text);
        Some(self.without_title_count(container))
    }

    /// A container as it is kept, by a text in it.
    fn container_with(&self, kind: ContainerKind, id: NodeId, text: &ContainedText) -> Container {
        let element = self.state.element(id);
        Container {
            kind,
            text: Some(text.text.clone()),
            at: text.at,
            column: self.column(id, text),
            made: element.map(made_of),
            nodes: kind.is_item().then(|| self.size(id)),
        }
    }

    /// Whether an item can be the one that was kept. Where that is none any more, what it stood in has its text too.
    fn can_be(&self, place: &Place, container: &Container) -> bool {
        let Some(nodes) = container.nodes else {
            return true;
        };
        let made = self.state.element(NodeId(place.start)).map(made_of);
        let most = match made == container.made {
            true => nodes.saturating_mul(4).saturating_add(20),
            false => nodes.saturating_add(nodes / 2).saturating_add(4),
        };
        place.end - place.start <= most
    }

    /// The parts of the page with a text that `fits`, each with those of its texts. Of items inside each other only the
    /// innermost with the text count.
    fn named_places(
        &self,
        kind: ContainerKind,
        made: Option<&str>,
        fits: &dyn Fn(&str) -> bool,
    ) -> Vec<(Place, Vec<ContainedText>)> {
        let mut found: Vec<(Place, Vec<ContainedText>)> = self
            .containers_of(kind, made)
            .into_iter()
            .filter_map(|id| {
                let texts: Vec<ContainedText> = self
                    .container_texts(id, kind)
                    .into_iter()
                    .filter(|text| fits(&text.text))
                    .collect();
                (!texts.is_empty()).then(|| (self.range(id), texts))
            })
            .collect();
        if kind.is_item() {
            let places: Vec<Place> = found.iter().map(|(place, _)| place.clone()).collect();
            found.retain(|(outer, _)| {
                !places
                    .iter()
                    .any(|inner| inner != outer && is_inside(inner, outer))
            });
        }
        if has_headings(kind) {
            for (heading, place) in self.headed() {
                let name = self.element_name(heading);
                let is_known = found.iter().any(|(known, _)| {
                    *known == place || (known.contains(&heading.0) && known.end == place.end)
                });
                if !is_known && fits(&name) {
                    let text = ContainedText {
                        text: name,
                        at: TextPlace::Heading,
                        element: heading,
                        cell: None,
                    };
                    found.push((place, vec![text]));
                }
            }
        }
        found
    }

    /// The visible elements of a kind, and those of a class that are `made` so: a card that is alone in its column is
    /// made as the others are.
    pub(crate) fn containers_of(&self, kind: ContainerKind, made: Option<&str>) -> Vec<NodeId> {
        let made = made.filter(|made| !matches!(*made, "div" | "span"));
        let is_made_so = |element: &DomElement| made.is_some_and(|made| made_of(element) == made);
        self.state
            .elements()
            .filter(|(id, element)| {
                element.is_visible
                    && (self.is_container(*id, element, kind)
                        || (is_made_so(element) && self.size(*id) <= MOST_INSIDE))
            })
            .map(|(id, _)| id)
            .collect()
    }

    /// Whether an element is one of several of its class that people act on, or on something in them. It stays one when
    /// what they acted on in it is gone: else what stands around it would be taken for it.
    pub(crate) fn is_block(&self, id: NodeId, element: &DomElement) -> bool {
        let acts = |id: NodeId| {
            let mut all = self.state.element(id).into_iter();
            all.any(|own| own.is_interactive)
                || self
                    .state
                    .descendants(id)
                    .any(|(_, inner)| inner.is_interactive)
        };
        element.role.is_empty()
            && element.attribute("class").is_some()
            && self.size(id) <= MOST_INSIDE
            && matches!(self.likes(id), likes if likes.len() > 1 && likes.iter().copied().any(acts))
    }

    pub(crate) fn is_container(
        &self,
        id: NodeId,
        element: &DomElement,
        kind: ContainerKind,
    ) -> bool {
        let (role, tag) = (element.role.as_str(), element.tag_name.as_str());
        match kind {
            ContainerKind::Section => {
                SECTION_ROLES.contains(&role) || SECTION_TAGS.contains(&tag) || element.shadow_root
            }
            ContainerKind::List => matches!(role, "list" | "listbox" | "tree" | "menu" | "feed"),
            ContainerKind::Table => matches!(role, "table" | "grid" | "treegrid"),
            ContainerKind::Dialog => matches!(role, "dialog" | "alertdialog") || tag == "dialog",
            ContainerKind::Row
            | ContainerKind::Item
            | ContainerKind::Card
            | ContainerKind::Post => self.is_item(id, element) || self.is_block(id, element),
            ContainerKind::Form => role == "form" || tag == "form",
            ContainerKind::Header => role == "banner" || tag == "header",
            ContainerKind::Footer => role == "contentinfo" || tag == "footer",
            ContainerKind::Navigation => role == "navigation" || tag == "nav",
            ContainerKind::Sidebar => role == "complementary" || tag == "aside",
            ContainerKind::Frame => is_frame(tag),
        }
    }

    /// Whether an element is one of several alike: by its role or tag, or since it has a heading and a neighbour of the
    /// same make has one too.
    pub(crate) fn is_item(&self, id: NodeId, element: &DomElement) -> bool {
        if ITEM_ROLES.contains(&element.role.as_str())
            || ITEM_TAGS.contains(&element.tag_name.as_str())
        {
            return true;
        }
        let is_card = |id: NodeId| {
            let mut inside = self.state.descendants(id);
            inside.any(|(_, inner)| inner.role == "heading" && inner.is_visible)
        };
        self.size(id) <= MOST_INSIDE
            && element.tag_name != "body"
            && is_card(id)
            && self
                .likes(id)
                .into_iter()
                .any(|like| like != id && is_card(like))
    }

    /// The elements beside one that are made as it is, itself included.
    pub(crate) fn likes(&self, id: NodeId) -> Vec<NodeId> {
        let Some(element) = self.state.element(id) else {
            return Vec::new();
        };
        let Some(parent) = self.state.node(id).parent else {
            return vec![id];
        };
        let first_class = |element: &DomElement| {
            let classes = element.attribute("class").unwrap_or_default();
            classes.split_ascii_whitespace().next().map(str::to_owned)
        };
        let class = first_class(element);
        self.state
            .children(parent)
            .filter(|&child| {
                self.state.element(child).is_some_and(|other| {
                    other.is_visible
                        && other.tag_name == element.tag_name
                        && other.role == element.role
                        && first_class(other) == class
                })
            })
            .take(MOST_LIKES)
            .collect()
    }

    /// The innermost item around an element, if it is one of several alike or has a role that says so.
    pub(crate) fn item_around(&self, id: NodeId) -> Option<NodeId> {
        self.state
            .ancestor_elements(id)
            .find(|(outer, element)| self.is_item(*outer, element) || self.is_parallel(*outer, id))
            .map(|(outer, _)| outer)
    }

    /// Whether a neighbour of `outer` that is made alike has a twin of what is inside `outer`.
    pub(crate) fn is_parallel(&self, outer: NodeId, inner: NodeId) -> bool {
        let Some(element) = self.state.element(inner) else {
            return false;
        };
        if self.size(outer) > MOST_INSIDE
            || self
                .state
                .element(outer)
                .is_none_or(|outer| outer.tag_name == "body")
        {
            return false;
        }
        let name = fold_name(&element.name);
        let has_twin = |like: NodeId| {
            self.state.descendants(like).any(|(_, other)| {
                other.is_visible
                    && other.role == element.role
                    && other.tag_name == element.tag_name
                    && fold_name(&other.name) == name
            })
        };
        self.likes(outer)
            .into_iter()
            .any(|like| like != outer && has_twin(like))
    }

    /// What tells the item that an element is in from others: a heading, else the first cell or line that is no number,
    /// date or price, else the longest. None if that is the element itself.
    pub(crate) fn item_container(&self, id: NodeId) -> Option<(NodeId, Container)> {
        let item = self.item_around(id)?;
        let (container, text) = self.container_of(item)?;
        let name = container.text.as_deref().unwrap_or_default();
        (!self.is_own_text(id, text, name) && name.chars().count() <= LONGEST_TEXT)
            .then_some((item, container))
    }

    /// Whether a text is that of an element: it goes where the element goes, and says of no container which it is.
    fn is_own_text(&self, id: NodeId, place: NodeId, text: &str) -> bool {
        self.range(id).contains(&place.0)
            || self.state.element(id).is_some_and(|element| {
                let folded = fold_name(text);
                fold_name(&element.name) == folded || fold_name(&element.label) == folded
            })
    }

    /// The item that an element is in, with a text that stands in it and tells it from others.
    pub fn text_of_item(&self, id: NodeId) -> Option<(NodeId, String)> {
        let (item, container) = self.item_container(id)?;
        let text = container.text?;
        let shown = fold(&self.state.visible_text(item));
        shown.contains(&fold(&text)).then_some((item, text))
    }

    /// The items around an element, innermost first.
    pub(crate) fn items_around(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        self.state
            .ancestor_elements(id)
            .filter(|(outer, element)| {
                self.is_item(*outer, element) || self.is_block(*outer, element)
            })
            .map(|(outer, _)| outer)
    }

    /// What tells an item from others, and the element that has that text.
    pub(crate) fn container_of(&self, item: NodeId) -> Option<(Container, NodeId)> {
        let texts = self.item_texts(item);
        let text = self.distinguishing(item, &texts)?;
        let kind = item_kind(self.state.element(item)?);
        Some((self.container_with(kind, item, text), text.element))
    }

    /// Of the texts of an item the one that tells it from those beside it.
    fn distinguishing<'t>(
        &self,
        item: NodeId,
        texts: &'t [ContainedText],
    ) -> Option<&'t ContainedText> {
        let others: Vec<String> = self
            .likes(item)
            .into_iter()
            .filter(|&like| like != item)
            .flat_map(|like| self.item_texts(like))
            .map(|text| fold_name(&text.text))
            .collect();
        let is_alone = |text: &&&ContainedText| !others.contains(&fold_name(&text.text));
        let headings = texts.iter().filter(|text| text.at == TextPlace::Heading);
        let lines = texts.iter().filter(|text| !is_figure(&text.text));
        let ordered: Vec<&ContainedText> = headings.chain(lines).collect();
        ordered.iter().find(is_alone).copied().or_else(|| {
            let mut by_length: Vec<&ContainedText> = texts.iter().collect();
            by_length.sort_by_key(|text| usize::MAX - text.text.chars().count());
            by_length.iter().find(is_alone).copied()
        })
    }

    /// Whether an item has a cell, a heading or a line that folds to this.
    pub(crate) fn has_contained_text(&self, id: NodeId, folded: &str) -> bool {
        let is_named = self
            .state
            .element(id)
            .is_some_and(|element| is_given_name(element) && fold_name(&element.name) == folded);
        is_named
            || self
                .item_texts(id)
                .iter()
                .any(|text| fold_name(&text.text) == folded)
    }

    /// What a row or an item of a list is called: the first of its texts that is no number, date or price, else its
    /// first.
    pub fn row_name(&self, id: NodeId) -> Option<String> {
        let element = self.state.element(id)?;
        if !is_row(&element.role) {
            return None;
        }
        let texts = self.item_texts(id);
        let parts = || texts.iter().filter(|text| text.at != TextPlace::Text);
        parts()
            .find(|text| !is_figure(&text.text))
            .or_else(|| parts().next())
            .map(|text| text.text.clone())
    }

    /// Headings with what stands below each: up to the next one that is as high, and within the section that the
    /// heading is in.
    fn headed(&self) -> Vec<(NodeId, Place)> {
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
                    .find(|(outer, element)| {
                        self.is_container(*outer, element, ContainerKind::Section)
                    })
                    .map_or(self.state.nodes.len(), |(outer, _)| {
                        self.state.node(outer).end as usize
                    });
                let level = heading.level.unwrap_or(2);
                let next = headings[nth + 1..]
                    .iter()
                    .find(|(_, next)| next.level.unwrap_or(2) <= level)
                    .map_or(u32::MAX, |(next, _)| next.0);
                let end = u32::try_from(around).unwrap_or(u32::MAX).min(next);
                (*id, id.0..end)
            })
            .collect()
    }

    pub(crate) fn range(&self, id: NodeId) -> Place {
        id.0..self.state.node(id).end
    }

    fn size(&self, id: NodeId) -> u32 {
        self.state.node(id).end - id.0
    }

    pub(crate) fn element_name(&self, id: NodeId) -> String {
        let element = self.state.element(id);
        match element.map(|element| single_spaces(&element.name)) {
            Some(name) if !name.is_empty() => name,
            _ => single_spaces(&self.state.visible_text(id)),
        }
    }
}

fn has_headings(kind: ContainerKind) -> bool {
    matches!(
        kind,
        ContainerKind::Section | ContainerKind::List | ContainerKind::Table
    )
}

fn is_inside(inner: &Place, outer: &Place) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Whether people tell elements of this role apart by what stands in them.
pub fn is_row(role: &str) -> bool {
    matches!(role, "row" | "listitem" | "treeitem")
}

/// Whether people act on elements of this role, and don't read them.
pub(crate) fn is_control(role: &str) -> bool {
    CONTROL_ROLES.contains(&role)
}

/// Whether elements of this role are filled in: the text in them is their value.
pub(crate) fn is_field(role: &str) -> bool {
    matches!(
        role,
        "combobox" | "searchbox" | "slider" | "spinbutton" | "textbox"
    )
}

/// Whether the text in an element is its value: of a field, and of what can be edited and has no role.
pub(crate) fn holds_value(element: &DomElement) -> bool {
    is_field(&element.role) || element.is(State::Editable)
}

/// Whether an element of this role is a part of a row.
pub fn is_cell(role: &str) -> bool {
    matches!(role, "cell" | "gridcell" | "rowheader" | "columnheader")
}

/// What an element is made of: its role, else its tag with the first class that its author gave it.
fn made_of(element: &DomElement) -> String {
    if !element.role.is_empty() {
        return element.role.clone();
    }
    let classes = element.attribute("class").unwrap_or_default();
    let mut classes = classes.split_ascii_whitespace();
    match classes.find(|class| !is_hashed_class(class)) {
        Some(class) => format!("{}.{class}", element.tag_name),
        None => element.tag_name.clone(),
    }
}

/// The kind of item that an element is.
pub(crate) fn item_kind(element: &DomElement) -> ContainerKind {
    match (element.role.as_str(), element.tag_name.as_str()) {
        ("row", _) | (_, "tr") => ContainerKind::Row,
        ("article", _) | (_, "article") => ContainerKind::Post,
        (role, tag) if ITEM_ROLES.contains(&role) || ITEM_TAGS.contains(&tag) => {
            ContainerKind::Item
        }
        _ => ContainerKind::Card,
    }
}
