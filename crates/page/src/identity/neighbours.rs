//! The texts between which an element stood, as a quotation is found again by what stands before and behind it.

use super::fingerprint::LONGEST_TEXT;
use super::place::is_in;
use super::verdict::is_kind;
use crate::containers::Place;
use crate::dom::{DomElement, DomKind, NodeId};
use crate::selector::Finder;
use crate::snapshot::single_spaces;
use crate::words::{fold, fold_name};
use crate::{Container, Fingerprint};
use cuecard_source::value::cut;
use std::ops::Range;

/// How far from an element its neighbours may be, in nodes.
const FARTHEST: usize = 200;

/// What is added beside an element has no more texts than this.
const MOST_ADDED: usize = 8;

/// A text beside an element.
#[derive(Default)]
struct Neighbour {
    /// Its node.
    at: usize,
    text: String,
}

impl Finder<'_> {
    /// The texts right before and right behind an element; each empty if another element of its kind has the same there.
    /// One text may have several behind it whose names are all known: whoever is new among them is told from them.
    pub(super) fn neighbours(&self, id: NodeId, fingerprint: &Fingerprint) -> (String, String) {
        let elements = self.state.elements();
        let alike: Vec<_> = elements
            .filter(|(other, element)| {
                *other != id && element.is_visible && is_kind(element, fingerprint)
            })
            .collect();
        let of_it_alone = |text_of: &dyn Fn(NodeId) -> Neighbour| {
            let own = text_of(id);
            let is_there_too = |(other, element): &(NodeId, &DomElement)| {
                let near = text_of(*other);
                is_known(&near.text, &own.text)
                    && (near.at != own.at || self.is_newcomer(*other, element, fingerprint))
            };
            match alike.iter().any(is_there_too) {
                true => String::new(),
                false => own.text,
            }
        };
        (
            of_it_alone(&|id| self.text_before(id)),
            of_it_alone(&|id| self.text_behind(id)),
        )
    }

    /// What stands between the neighbours of an element, while `id`, which has its name, stands elsewhere: something
    /// with a new name; or with the old one, if its item's text stands outside of such an item.
    pub(super) fn between_its_neighbours(
        &self,
        id: NodeId,
        fingerprint: &Fingerprint,
        place: Option<&Place>,
    ) -> Vec<NodeId> {
        if fingerprint.before.is_empty() && fingerprint.after.is_empty() {
            return Vec::new();
        }
        let item = fingerprint.within.first().filter(|one| one.kind.is_item());
        // Asked of few: it reads the whole page.
        let has_lost_its_item = || item.is_some_and(|item| self.is_said_outside_of(item));
        let has_stayed = || {
            let (before, after) = self.neighbours(id, fingerprint);
            (before, after) == (fingerprint.before.clone(), fingerprint.after.clone())
        };
        let elements = self.state.elements();
        elements
            .filter(|(other, element)| {
                let is_alike = *other != id && element.is_visible && is_kind(element, fingerprint);
                let has_name = is_alike && self.has_name(*other, element, fingerprint);
                is_alike
                    && match has_name {
                        true => item.is_some() && !is_in(place, *other) && !has_stayed(),
                        false => self.is_newcomer(*other, element, fingerprint),
                    }
                    && self.knows_neighbour(*other, fingerprint, |near| {
                        self.is_decorated(*other, element, fingerprint)
                            || self.is_of_its_item(near, *other, id)
                            || !self.are_beside(*other, id, fingerprint)
                    })
                    && (!has_name || has_lost_its_item())
            })
            .map(|(other, _)| other)
            .collect()
    }

    /// Whether an element is called by a sign as `fingerprint` is, with other signs or a count beside it: `⋯ →` and `⋯ 2`
    /// may be what was `⋯`. Of names with words, these are no part.
    fn is_decorated(&self, id: NodeId, element: &DomElement, fingerprint: &Fingerprint) -> bool {
        let called = fold(fingerprint.called());
        let name = fold(&self.name_or_text(id, element));
        let is_sign = !called.is_empty() && !called.contains(char::is_alphanumeric);
        is_sign && name.contains(&called) && !name.contains(char::is_alphabetic)
    }

    /// Whether the text of an item stands in no such item, too: what was around it may be gone.
    fn is_said_outside_of(&self, item: &Container) -> bool {
        let text = fold_name(item.text.as_deref().unwrap_or_default());
        let items = self.places_of(item);
        let nodes = self.state.nodes.iter().zip(0..);
        let mut said = nodes.filter(|(node, _)| match &node.kind {
            DomKind::Text(run) => run.is_visible && fold_name(&run.text) == text,
            _ => false,
        });
        said.any(|(_, idx)| !items.iter().any(|place| place.contains(&idx)))
    }

    /// Whether an element has a neighbour that is remembered, and of which `holds` is true.
    fn knows_neighbour(
        &self,
        id: NodeId,
        fingerprint: &Fingerprint,
        holds: impl Fn(&Neighbour) -> bool,
    ) -> bool {
        let is_it = |near: &Neighbour, text: &str| is_known(&near.text, text) && holds(near);
        is_it(&self.text_before(id), &fingerprint.before)
            || is_it(&self.text_behind(id), &fingerprint.after)
    }

    /// Whether a text stands in the item of an element, and `outside` doesn't.
    fn is_of_its_item(&self, near: &Neighbour, id: NodeId, outside: NodeId) -> bool {
        self.item_around(id).is_some_and(|item| {
            let holds =
                |at: usize| (item.index()..self.state.node(item).end as usize).contains(&at);
            holds(near.at) && !holds(outside.index())
        })
    }

    /// Whether one of two elements was put beside the other: none of the neighbours stands between them.
    fn are_beside(&self, one: NodeId, other: NodeId, fingerprint: &Fingerprint) -> bool {
        let (first, second) = (one.min(other), one.max(other));
        let mut between = self.texts(first.index()..second.index());
        let is_neighbour = |near: &Neighbour| {
            is_known(&near.text, &fingerprint.before) || is_known(&near.text, &fingerprint.after)
        };
        !between
            .by_ref()
            .take(MOST_ADDED)
            .any(|near| is_neighbour(&near))
            && between.next().is_none()
    }

    fn text_before(&self, id: NodeId) -> Neighbour {
        let start = id.index().saturating_sub(FARTHEST);
        self.first_but_its_own(id, self.texts(start..id.index()).rev())
    }

    fn text_behind(&self, id: NodeId) -> Neighbour {
        let end = self.state.node(id).end as usize;
        self.first_but_its_own(id, self.texts(end..end + FARTHEST))
    }

    /// The first text that isn't what an element is called; empty if there is none.
    fn first_but_its_own(
        &self,
        id: NodeId,
        mut texts: impl Iterator<Item = Neighbour>,
    ) -> Neighbour {
        let element = self.state.element(id);
        let own = element.map(|element| fold_name(&self.name_or_text(id, element)));
        texts
            .find(|near| Some(fold_name(&near.text)) != own)
            .unwrap_or_default()
    }

    /// The visible texts with words among some nodes, cut as they are remembered.
    fn texts(&self, nodes: Range<usize>) -> impl DoubleEndedIterator<Item = Neighbour> {
        let end = nodes.end.min(self.state.nodes.len());
        let start = nodes.start.min(end);
        let nodes = self.state.nodes[start..end].iter().enumerate();
        nodes.filter_map(move |(at, node)| match &node.kind {
            DomKind::Text(run) if run.is_visible => {
                let text = single_spaces(&run.text);
                let has_words = text.chars().any(char::is_alphanumeric);
                has_words.then(|| Neighbour {
                    at: start + at,
                    text: cut(&text, LONGEST_TEXT).into_owned(),
                })
            }
            _ => None,
        })
    }
}

/// Whether a text is the one that is remembered, if any is.
fn is_known(text: &str, remembered: &str) -> bool {
    !remembered.is_empty() && fold_name(text) == fold_name(remembered)
}
