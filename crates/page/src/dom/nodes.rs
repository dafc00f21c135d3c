//! Single nodes: from the capture's coordinates and viewport to those of the page.

use std::borrow::Cow;
use std::sync::Arc;

use super::state::{DomElement, DomText, NodeId, Rect, ScopeHop, SelectOption, States};
use super::wire;
use crate::snapshot::single_spaces;
use cuecard_source::value::cut;

/// The longest text and attribute that is kept, in characters, and the most options of a select.
const LONGEST_TEXT: usize = 10_000;
const MOST_OPTIONS: usize = 1_000;

/// What a document inherits from where it is.
pub(super) struct Place {
    pub parent: Option<NodeId>,
    pub scope: Arc<[ScopeHop]>,
    pub offset: (f64, f64),
    /// What can be seen of it, in client coordinates of the top page.
    pub clip: Option<Rect>,
    pub is_visible: bool,
    pub is_in_viewport: bool,
    pub is_covered: bool,
}

/// A text at its place, in an element that is in view or not.
pub(super) fn text(node: wire::Node, place: &Place, is_around_in_view: bool) -> DomText {
    let is_visible = node.is_visible.unwrap_or(true) && place.is_visible;
    let is_in_view = match node.is_in_viewport {
        Some(is_in_view) => is_in_view && place.is_in_viewport,
        None => is_around_in_view,
    };
    DomText {
        text: cut(&node.text.unwrap_or_default(), LONGEST_TEXT).into_owned(),
        is_visible,
        is_in_viewport: is_visible && is_in_view,
    }
}

/// An element at its place, still without an address. `document` keeps ids of nodes apart.
pub(super) fn element(node: wire::Node, place: &Place, document: u64) -> DomElement {
    let shape = node.rect.map(|shape| shape.moved(place.offset));
    let is_visible = node.is_visible.unwrap_or(node.rect.is_some()) && place.is_visible;
    let in_clip = match (shape, place.clip) {
        (Some(shape), Some(clip)) => shape.intersects(clip),
        _ => true,
    };
    let mut states = States::default();
    for word in &node.states {
        if let Ok(state) = word.parse() {
            states.insert(state);
        }
    }
    let option_count = node.option_count.unwrap_or(node.options.len());
    DomElement {
        tag_name: node.tag_name.unwrap_or_default().to_ascii_lowercase(),
        attributes: node
            .attributes
            .into_iter()
            .map(|(name, value)| match cut(&value, LONGEST_TEXT) {
                Cow::Borrowed(_) => (name, value),
                Cow::Owned(short) => (name, short),
            })
            .collect(),
        is_visible,
        is_interactive: node.is_interactive.unwrap_or(node.interactive_by.is_some()),
        evidence: node.interactive_by,
        is_top_element: match place.is_covered {
            true => Some(false),
            false => node.is_top_element,
        },
        top_basis: node.top_basis,
        is_in_viewport: node.is_in_viewport.unwrap_or(false) && place.is_in_viewport && in_clip,
        shadow_root: node.shadow_root,
        proxy: node.proxy,
        role: node.role,
        name: single_spaces(&cut(&node.name, LONGEST_TEXT)),
        label: single_spaces(&cut(&node.label, LONGEST_TEXT)),
        level: node.level,
        is_aria_hidden: node.is_aria_hidden,
        states,
        filled: node.filled,
        options: node
            .options
            .into_iter()
            .take(MOST_OPTIONS)
            .map(|option| SelectOption {
                label: single_spaces(&option.label),
                ..option
            })
            .collect(),
        option_count,
        rect: shape,
        node_id: node.node_id.map(|id| id ^ document),
        ..DomElement::default()
    }
}

impl Rect {
    pub(super) fn moved(self, (x, y): (f64, f64)) -> Self {
        Self {
            x: self.x + x,
            y: self.y + y,
            ..self
        }
    }

    /// What is in both; without area if nothing is.
    pub(super) fn common(self, other: Self) -> Self {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let right = (self.x + self.width).min(other.x + other.width);
        let bottom = (self.y + self.height).min(other.y + other.height);
        Self {
            x,
            y,
            width: (right - x).max(0.0),
            height: (bottom - y).max(0.0),
        }
    }
}
