//! What is new on a page since the state before: by node, and if that is not known or changed, by what it is.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::state::{DomElement, DomKind, DomState};

/// What was there.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    document: String,
    nodes: HashSet<u64>,
    /// How many elements there were of each kind.
    kinds: HashMap<u64, usize>,
    /// The node and the kind of each element, in pre-order.
    elements: Vec<(Option<u64>, u64)>,
}

impl Seen {
    pub(super) fn of(state: &DomState, test_id_attribute: &str) -> Self {
        let mut seen = Self {
            document: document(state),
            nodes: HashSet::new(),
            kinds: HashMap::new(),
            elements: Vec::new(),
        };
        for (_, element) in state.elements() {
            let kind = kind(element, test_id_attribute);
            seen.nodes.extend(element.node_id);
            *seen.kinds.entry(kind).or_default() += 1;
            seen.elements.push((element.node_id, kind));
        }
        seen
    }

    /// Marks in `state`, of which `now` is the summary, what was not there. A re-rendered element is not new: as
    /// many of a kind as there were before are not.
    pub(super) fn mark(&self, state: &mut DomState, now: &Self) {
        if self.document != now.document {
            return;
        }
        let was_there = |node: Option<u64>| node.is_some_and(|node| self.nodes.contains(&node));
        let mut left = self.kinds.clone();
        for (_, kind) in now.elements.iter().filter(|(node, _)| was_there(*node)) {
            if let Some(count) = left.get_mut(kind) {
                *count = count.saturating_sub(1);
            }
        }
        let elements = state
            .nodes
            .iter_mut()
            .filter_map(|node| match &mut node.kind {
                DomKind::Element(element) => Some(element),
                DomKind::Text(_) => None,
            });
        for (element, (node, kind)) in elements.zip(&now.elements) {
            let is_known = was_there(*node)
                || match left.get_mut(kind) {
                    Some(count) if *count > 0 => {
                        *count -= 1;
                        true
                    }
                    _ => false,
                };
            element.is_new = Some(!is_known);
        }
    }
}

/// The document by its load, or if that is not known by its address without the fragment.
fn document(state: &DomState) -> String {
    match state.page.document_id.as_str() {
        "" => {
            let url = state.page.url.as_str();
            url.split('#').next().unwrap_or(url).to_owned()
        }
        id => id.to_owned(),
    }
}

fn kind(element: &DomElement, test_id_attribute: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    element.scope.hash(&mut hasher);
    element.tag_name.hash(&mut hasher);
    element.role.hash(&mut hasher);
    element.name.hash(&mut hasher);
    element.attribute("type").hash(&mut hasher);
    element.attribute(test_id_attribute).hash(&mut hasher);
    hasher.finish()
}
