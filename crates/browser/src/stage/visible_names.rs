//! What was seen in a run: so that the absence of what never was there is noticed.

use std::collections::HashSet;

use cuecard_page::dom::{DomKind, DomState};
use cuecard_page::words::fold_name;

/// The most elements that are remembered.
const MOST: usize = 50_000;

/// The longest text that is remembered, in bytes.
const LONGEST: usize = 2_000;

/// Role and name of every element that could be seen at some time, and the texts.
#[derive(Debug, Clone, Default)]
pub(super) struct VisibleNames {
    elements: HashSet<(String, String)>,
    texts: HashSet<String>,
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
        let mut last = None;
        for node in &state.nodes {
            let is_text = matches!(&node.kind, DomKind::Text(run) if run.is_visible);
            if is_text && node.parent != last && self.texts.len() < MOST {
                last = node.parent;
                let text = node.parent.map(|around| state.visible_text(around));
                let text = text.filter(|text| text.len() <= LONGEST);
                self.texts.extend(text.map(|text| fold_name(&text)));
            }
        }
    }

    /// Whether a text was seen, as a part of what stood in one element.
    pub(super) fn has_text(&self, text: &str) -> bool {
        let text = fold_name(text);
        self.texts.iter().any(|known| known.contains(&text))
    }

    /// Whether an element was seen that is like this.
    pub(super) fn any(&self, is_like: impl Fn(&str, &str) -> bool) -> bool {
        self.elements.iter().any(|(role, name)| is_like(role, name))
    }
}
