//! Elements of a state in words.

use super::dom::{DomElement, DomKind, NodeId};
use super::selector::{CONTAINERS, Finder};
use super::snapshot::single_spaces;
use crate::ContainerKind;
use cuecard_source::value::{Json, cut};

/// The longest name that a message shows, in characters.
const LONGEST: usize = 60;

/// The most nodes of a shadow host that is a part of a page.
const MOST_IN_HOST: usize = 100;

impl Finder<'_> {
    /// An element as a message names it: what it is, what it is called, and what it is in.
    pub fn in_words(&self, id: NodeId) -> String {
        let own = self.own_words(id);
        match self.place_of(id) {
            Some((role, name)) => format!("{own} in {role} {}", quoted(&name)),
            None => match self.landmark_of(id) {
                Some(kind) => format!("{own} in the {}", kind.as_str()),
                None => own,
            },
        }
    }

    pub(crate) fn own_words(&self, id: NodeId) -> String {
        let Some(element) = self.state.element(id) else {
            return "text".to_owned();
        };
        match self.name_or_text(id, element).as_ref() {
            "" => element.kind().to_owned(),
            name => format!("{} {}", element.kind(), quoted(name)),
        }
    }

    /// What a frame is called: by its own name, its title attribute, or the title of its document.
    pub(super) fn frame_name(&self, id: NodeId) -> Option<String> {
        let element = self.state.element(id)?;
        let document = || {
            let mut frames = self.state.page.frames.iter();
            frames
                .find(|frame| frame.owner == id)
                .map(|frame| frame.title.as_str())
        };
        [
            Some(element.name.as_str()),
            element.attribute("title"),
            document(),
        ]
        .into_iter()
        .flatten()
        .map(single_spaces)
        .find(|name| !name.is_empty())
    }

    /// What the host of a shadow root is called that has no role: by its label, the only heading inside, or the text
    /// that others put into it. None of a host with much in it, which is a layout and no part of a page.
    pub(super) fn host_name(&self, id: NodeId) -> Option<String> {
        let host = self.state.element(id)?;
        let end = self.state.node(id).end as usize;
        if !host.shadow_root || end - id.index() > MOST_IN_HOST {
            return None;
        }
        let heading = || {
            let mut headings = self
                .state
                .descendants(id)
                .filter(|(_, inner)| inner.role == "heading");
            let first = headings.next().filter(|_| headings.next().is_none());
            first
                .filter(|(_, heading)| heading.level != Some(1))
                .map(|(_, heading)| heading.name.clone())
        };
        [
            host.attribute("aria-label").map(str::to_owned),
            heading(),
            Some(self.text_put_into(id, host)),
        ]
        .into_iter()
        .flatten()
        .map(|name| single_spaces(&name))
        .find(|name| name.contains(char::is_alphabetic) && name.len() <= LONGEST)
    }

    /// The text in the host of a shadow root that is not of the root itself, nor on what people act on.
    fn text_put_into(&self, id: NodeId, host: &DomElement) -> String {
        let is_put = |outer: &DomElement| {
            !outer.is_interactive
                && (outer.scope == host.scope
                    || (outer.tag_name == "slot" && outer.scope.len() == host.scope.len() + 1))
        };
        let mut text = String::new();
        for node in &self.state.nodes[id.index()..self.state.node(id).end as usize] {
            if let DomKind::Text(run) = &node.kind
                && run.is_visible
                && let Some(outer) = node.parent.and_then(|outer| self.state.element(outer))
                && is_put(outer)
            {
                text.push_str(&run.text);
            }
        }
        text
    }

    /// The landmark that an element is in, if it is called by what it is alone.
    pub(super) fn landmark_of(&self, id: NodeId) -> Option<ContainerKind> {
        const LANDMARKS: &[ContainerKind] = &[
            ContainerKind::Dialog,
            ContainerKind::Header,
            ContainerKind::Footer,
            ContainerKind::Navigation,
            ContainerKind::Sidebar,
        ];
        let is_in = |kind: &&ContainerKind| {
            let places = self.places(**kind, None, false);
            matches!(places.as_slice(), [one] if one.contains(&id.0))
        };
        LANDMARKS.iter().find(is_in).copied()
    }

    /// The role and name of what an element is in, if something around it has a name.
    pub(super) fn place_of(&self, id: NodeId) -> Option<(String, String)> {
        let item = self.item_container(id);
        self.state.ancestor_elements(id).find_map(|(place, outer)| {
            let known_by = item.as_ref().filter(|(item, _)| *item == place);
            if is_frame(&outer.tag_name) {
                return Some(("frame".to_owned(), self.frame_name(place)?));
            }
            if outer.shadow_root && outer.role.is_empty() {
                return Some((outer.tag_name.clone(), self.host_name(place)?));
            }
            let is_container = CONTAINERS.contains(&outer.kind());
            if !is_container && let Some((_, container)) = known_by {
                return Some((container.kind.as_str().to_owned(), container.text.clone()?));
            }
            if !is_container {
                return None;
            }
            let mut name = self.place_name(place, outer);
            // What a row is called by may be the element itself, which tells it from no other.
            if self.state.element(id).is_some_and(|own| own.name == name)
                && let Some((_, container)) = known_by
            {
                name = container.text.clone().unwrap_or_default();
            }
            (!name.is_empty()).then(|| (outer.kind().to_owned(), name))
        })
    }

    /// What a part of a page is called. A row that nobody named is called by its first cell: its name would be all that
    /// is in it.
    pub(super) fn place_name(&self, id: NodeId, element: &DomElement) -> String {
        let is_named = ["aria-label", "aria-labelledby"]
            .iter()
            .any(|name| element.attribute(name).is_some());
        let by_cell = match is_named && !element.name.is_empty() {
            true => None,
            false => self.row_name(id),
        };
        by_cell.unwrap_or_else(|| element.name.clone())
    }
}

/// Whether another document is inside.
pub(super) fn is_frame(tag: &str) -> bool {
    matches!(tag, "iframe" | "frame")
}

fn quoted(name: &str) -> String {
    Json::String(cut(name, LONGEST).into_owned()).to_string()
}
