//! What was seen in a run: so that the absence of what never was there is noticed.

use std::collections::HashSet;

use cuecard_page::dom::DomState;

/// The most elements that are remembered.
const MOST: usize = 50_000;

/// Role and name of every element that could be seen at some time.
#[derive(Debug, Clone, Default)]
pub(super) struct VisibleNames {
    elements: HashSet<(String, String)>,
}

impl VisibleNames {
    /// Remembers what can be seen in a state.
    pub(super) fn add(&mut self, state: &DomState) {
        for (_, element) in state.elements() {
            if !element.is_visible || element.name.is_empty() || self.elements.len() >= MOST {
                continue;
            }
            self.elements
                .insert((element.role.clone(), element.name.clone()));
        }
    }

    /// Whether an element was seen that is like this.
    pub(super) fn any(&self, is_like: impl Fn(&str, &str) -> bool) -> bool {
        self.elements.iter().any(|(role, name)| is_like(role, name))
    }
}
