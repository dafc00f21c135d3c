//! Elements of a state in words.

use super::dom::NodeId;
use super::selector::{CONTAINERS, Finder};
use super::snapshot::single_spaces;
use crate::value::{Json, cut};

/// The longest name that a message shows, in characters.
const LONGEST: usize = 60;

impl Finder<'_> {
    /// An element as a message names it: what it is, what it is called, and what it is in.
    pub fn in_words(&self, id: NodeId) -> String {
        let own = self.own_words(id);
        match self.place_of(id) {
            Some((role, name)) => format!("{own} in {role} {}", quoted(&name)),
            None => own,
        }
    }

    fn own_words(&self, id: NodeId) -> String {
        let Some(element) = self.state.element(id) else {
            return "text".to_owned();
        };
        match element.name.is_empty() {
            true => element.kind().to_owned(),
            false => format!("{} {}", element.kind(), quoted(&element.name)),
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

    /// The role and name of what an element is in, if something around it has a name.
    pub(super) fn place_of(&self, id: NodeId) -> Option<(String, String)> {
        self.state.ancestor_elements(id).find_map(|(place, outer)| {
            if is_frame(&outer.tag_name) {
                return Some(("frame".to_owned(), self.frame_name(place)?));
            }
            if !CONTAINERS.contains(&outer.kind()) {
                return None;
            }
            let name = match outer.name.is_empty() {
                true => self.row_name(place)?,
                false => outer.name.clone(),
            };
            Some((outer.kind().to_owned(), name))
        })
    }
}

/// Whether another document is inside.
pub(super) fn is_frame(tag: &str) -> bool {
    matches!(tag, "iframe" | "frame")
}

fn quoted(name: &str) -> String {
    Json::String(cut(name, LONGEST).into_owned()).to_string()
}
