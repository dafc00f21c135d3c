//! States in files: written as they were decoded, secrets already taken out, and read again as the same states.

use serde::Deserialize as _;

use super::decode::{DEEPEST, MOST_NESTED};
use super::processor::{DomError, MOST_ELEMENTS, MOST_NODES};
use super::state::{DomElement, DomKind, DomNode, DomState, NodeId};
use cuecard_source::value::Json;

/// How deep nodes of all documents may nest.
const DEEPEST_OF_ALL: usize = DEEPEST * (MOST_NESTED + 1);

impl DomState {
    /// The state for a file.
    pub fn to_recorded(&self) -> Json {
        // Everything in it is a text, a number, a list or an object with texts for keys.
        serde_json::to_value(self).unwrap_or(Json::Null)
    }

    /// The state that stands in a file. Nodes have no numbers of their own in it.
    ///
    /// # Errors
    /// If it is none, or larger than a state may be.
    pub fn from_recorded(json: &Json) -> Result<Self, DomError> {
        let mut state = Self::deserialize(json)
            .map_err(|error| DomError::Malformed(format!("it is not a recorded state: {error}")))?;
        check_size(&state.nodes)?;
        let mut open: Vec<NodeId> = Vec::new();
        for (index, node) in state.nodes.iter_mut().enumerate() {
            let malformed = |what: &str| Err(DomError::Malformed(format!("node {index} {what}")));
            // There are not so many.
            let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
            node.end = id.0 + 1;
            while open.last().is_some_and(|top| Some(*top) != node.parent) {
                open.pop();
            }
            match node.parent {
                None if index > 0 => return malformed("is a second root"),
                Some(_) if open.is_empty() => {
                    return malformed("is not inside an element before it");
                }
                _ => {}
            }
            if open.len() >= DEEPEST_OF_ALL {
                return Err(DomError::TooDeep {
                    limit: DEEPEST_OF_ALL,
                });
            }
            let Some(element) = node.element() else {
                continue;
            };
            if !has_address(element) {
                return malformed("has no usable xpath");
            }
            open.push(id);
            if let Some(found) = element.highlight_index {
                if found as usize != state.selector_map.len() {
                    return malformed("has an index out of turn");
                }
                state.selector_map.push(id);
            }
        }
        let wrong = |what: &str| Err(DomError::Malformed(what.to_owned()));
        if state
            .nodes
            .first()
            .is_none_or(|root| root.element().is_none())
        {
            return wrong("it has no root");
        }
        let mut frames = state.page.frames.iter();
        if frames.any(|frame| state.element(frame.owner).is_none()) {
            return wrong("a frame is in no element");
        }
        super::decode::close(&mut state.nodes);
        Ok(state)
    }
}

fn check_size(nodes: &[DomNode]) -> Result<(), DomError> {
    let elements = nodes.iter();
    let elements = elements.filter(|node| matches!(node.kind, DomKind::Element(_)));
    let elements = elements.count();
    let (what, found, limit) = match elements > MOST_ELEMENTS {
        true => ("elements", elements, MOST_ELEMENTS),
        false if nodes.len() > MOST_NODES => ("nodes", nodes.len(), MOST_NODES),
        false => return Ok(()),
    };
    Err(DomError::TooLarge {
        what,
        found,
        limit,
        largest: None,
    })
}

/// Whether its address can be that of an element.
fn has_address(element: &DomElement) -> bool {
    let hops = element.scope.iter().map(|hop| &hop.xpath);
    let mut paths = hops.chain([&element.xpath]);
    paths.all(|path| super::decode::is_written_well(path) && path.starts_with('/'))
}
