//! What is counted in a place: its rows, or its items.

use super::Pool;
use super::phrase::{Phrase, RoleWord, Within};
use super::resolve::name;
use crate::ContainerKind;
use crate::containers::{Place, is_control};
use crate::dom::{DomElement, NodeId};
use crate::selector::Finder;
use crate::snapshot::single_spaces;
use crate::words::{NameMatch, NameQuery};

impl Finder<'_> {
    /// Whether nobody can say how many items there are: something beside them may be one too.
    pub(super) fn are_unclear(&self, phrase: &Phrase) -> bool {
        let found = self.meant(phrase, Pool::Anything);
        let found = found.map_or_else(|_| Vec::new(), |found| found.elements);
        let says_something = |id: NodeId| {
            let element = self.state.element(id);
            element.is_some_and(|own| {
                let is_read =
                    own.role != "heading" && !is_control(&own.role) && !own.is_interactive;
                own.is_visible && is_read && !self.state.visible_text(id).trim().is_empty()
            })
        };
        let within = phrase.within.iter();
        let mut places = within.flat_map(|within| self.places_said(within, phrase.role));
        match found.is_empty() {
            true => places.any(|place| {
                let mut inside = (place.start + 1..place.end).map(NodeId);
                inside.any(|id| self.has_own_text(id) && says_something(id))
            }),
            false => found.iter().any(|id| {
                let around = self.state.node(*id).parent;
                let mut beside = around
                    .into_iter()
                    .flat_map(|around| self.state.children(around));
                beside.any(|other| !found.contains(&other) && says_something(other))
            }),
        }
    }

    /// The places that a sentence names. What is counted may stand in a column, which is an item beside others: then what
    /// is below its heading ends with it.
    pub(super) fn places_said(&self, within: &Within, role: Option<RoleWord>) -> Vec<Place> {
        let of = |kind| self.places(kind, within.name.as_deref(), within.is_quoted);
        let places = of(within.kind);
        if !matches!(role, Some(RoleWord::Item | RoleWord::Row)) {
            return places;
        }
        if places.is_empty() && within.name.is_some() {
            return of(ContainerKind::Item);
        }
        let end_of = |place: &Place| {
            let item = self.item_around(NodeId(place.start));
            item.map_or(place.end, |item| self.range(item).end.min(place.end))
        };
        let places = places.into_iter();
        places.map(|place| place.start..end_of(&place)).collect()
    }

    /// The items that are called so themselves, by what tells them from others of their kind.
    pub(super) fn items_called(&self, within: &Within) -> Vec<Place> {
        let sought = NameQuery::new(within.name.as_deref().unwrap_or_default());
        sought.found_first(NameMatch::of_sentence(within.is_quoted), |fits| {
            let all = self.containers_of(within.kind, None).into_iter();
            let own = all.filter(|&id| self.own_text_of(id).is_some_and(|text| fits(&text)));
            own.map(|id| self.range(id)).collect()
        })
    }

    /// Whether the words for the item of a control are all that it is called.
    pub(super) fn is_called_whole(&self, phrase: &Phrase) -> bool {
        let mut whole = phrase.clone();
        if let Some(within) = &mut whole.within {
            within.is_quoted = true;
        }
        self.meant(&whole, Pool::OfItem).is_ok()
    }

    /// What an item is called: its name, or the text that tells it from others.
    pub(super) fn own_text_of(&self, item: NodeId) -> Option<String> {
        let element = self.state.element(item)?;
        let (container, _) = self.container_of(item)?;
        container.text.or_else(|| name(element).map(single_spaces))
    }

    /// Whether an element is one of those that are counted: no row of headings, and nothing inside of another one.
    pub(super) fn is_counted(&self, id: NodeId, element: &DomElement, role: RoleWord) -> bool {
        let is_row = element.role == "row";
        let mut inside = self.state.descendants(id);
        let is_heading = is_row && inside.any(|(_, inner)| inner.role == "columnheader");
        let is_item = |id: NodeId, element: &DomElement| {
            self.is_item(id, element) || self.is_block(id, element)
        };
        !is_heading
            && if role == RoleWord::Row {
                is_row
            } else {
                is_item(id, element)
            }
    }
}
