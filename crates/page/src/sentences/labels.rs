//! What a label says: a field has its value, a cell the text of its column, anything else the text beside the label.

use super::phrase::Phrase;
use super::{Found, NotFound, Pool};
use crate::containers::{is_cell, is_control};
use crate::dom::{DomKind, NodeId};
use crate::selector::Finder;
use crate::snapshot::single_spaces;
use crate::words::{NameMatch, NameQuery};

impl Finder<'_> {
    /// What has its value by a label, of all of the places that the words name.
    ///
    /// # Errors
    /// If there is no such label, or if nothing or more than one text stands beside it.
    pub(super) fn labelled(&self, phrase: &Phrase) -> Result<Found, NotFound> {
        // Of what is asserted a part of a name is not enough.
        let label = Phrase {
            is_quoted: true,
            ..phrase.clone()
        };
        let field = self.meant(&label, Pool::FieldsAndSelects);
        // Beside a slider stands what people read.
        let is_slider = |id: &NodeId| {
            self.state
                .element(*id)
                .is_some_and(|own| own.role == "slider")
        };
        if field
            .as_ref()
            .is_ok_and(|found| !found.elements.iter().any(is_slider))
        {
            return field;
        }
        let (reachable, rest) = self.pool(&label, Pool::Anything);
        let all = [reachable, rest].concat();
        let sought = NameQuery::new(&label.name);
        let fits = |text: &str| sought.fits(text, NameMatch::Folded);
        let in_item = label
            .within
            .as_ref()
            .is_some_and(|within| within.kind.is_item());
        let is_in_column = |id: &NodeId| {
            let element = self.state.element(*id);
            element.is_some_and(|element| is_cell(&element.role))
                && self
                    .column_heading(*id)
                    .is_some_and(|heading| fits(&heading))
        };
        let mut elements: Vec<NodeId> = match in_item {
            true => all.iter().copied().filter(is_in_column).collect(),
            false => Vec::new(),
        };
        if elements.is_empty() {
            // What is called so by screen readers, and shows another text.
            let own = self.meant(&label, Pool::Anything);
            elements = own.map_or_else(|_| Vec::new(), |found| found.elements);
            elements.retain(|id| {
                let text = single_spaces(&self.state.visible_text(*id));
                !text.is_empty() && !fits(&text)
            });
        }
        if elements.is_empty() {
            // A label may be an element, or a text beside one: `Balance: <b>5</b>`.
            let runs = all.iter().flat_map(|&id| self.state.children(id));
            let runs = runs.filter(|&id| match &self.state.node(id).kind {
                DomKind::Text(run) => run.is_visible && fits(&single_spaces(&run.text)),
                DomKind::Element(_) => false,
            });
            let labels = self.with_text(&all, &fits).into_iter().chain(runs);
            elements = labels.filter_map(|id| self.beside(id)).collect();
            elements.sort_unstable();
            elements.dedup();
        }
        match elements.is_empty() {
            true => Err(self.none_fits(phrase, Pool::Labelled)),
            false => Ok(Found {
                elements,
                is_part: false,
            }),
        }
    }

    /// The one element beside a label that shows a text: the other cell of a row of two, the `dd` of a `dt`, the other one
    /// of two parts. None if there are more.
    fn beside(&self, label: NodeId) -> Option<NodeId> {
        let text = |id: NodeId| single_spaces(&self.state.visible_text(id));
        let own = text(label);
        let mut at = label;
        let around = loop {
            let around = self.state.node(at).parent?;
            if text(around) != own {
                break around;
            }
            at = around;
        };
        let tag = |id: NodeId| {
            self.state
                .element(id)
                .map_or("", |element| element.tag_name.as_str())
        };
        // A heading is over both, and what people press is no value.
        let is_read = |id: NodeId| {
            let element = self.state.element(id);
            element.is_none_or(|own| own.role != "heading" && !is_control(&own.role))
        };
        let parts: Vec<NodeId> = self
            .state
            .children(around)
            .filter(|id| *id != at && is_read(*id) && !text(*id).is_empty())
            .collect();
        let others = match tag(at) {
            "dt" => {
                let after = parts.iter().copied().skip_while(|id| *id < at);
                after.take_while(|id| tag(*id) == "dd").collect()
            }
            _ => parts,
        };
        match others.as_slice() {
            [one] if self.state.element(*one).is_some() => Some(*one),
            _ => None,
        }
    }
}
