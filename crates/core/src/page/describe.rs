//! Elements of a state in words.

use super::dom::NodeId;
use super::selector::{CONTAINERS, Finder};
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

    /// The role and name of what an element is in, if something around it has a name.
    pub(super) fn place_of(&self, id: NodeId) -> Option<(String, String)> {
        self.state.ancestor_elements(id).find_map(|(place, outer)| {
            if outer.kind() != "iframe" && !CONTAINERS.contains(&outer.kind()) {
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

fn quoted(name: &str) -> String {
    Json::String(cut(name, LONGEST).into_owned()).to_string()
}
