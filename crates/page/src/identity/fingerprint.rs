//! What is remembered of an element to know it again.

use super::gate::{Remembered, Verdict};
use crate::containers::{Place, holds_value, is_cell};
use crate::describe::is_frame;
use crate::dom::{DomElement, DomKind, NodeId};
use crate::selector::{Finder, Pattern, Selector};
use crate::sentences::Phrase;
use crate::snapshot::single_spaces;
use crate::words::{NameMatch, NameQuery, fold_name};
use crate::{Container, ContainerKind, Fingerprint};
use cuecard_source::value::cut;

/// The longest name and text that is remembered, in characters.
pub const LONGEST_TEXT: usize = 120;

/// How far before a field a text may stand that is its label for people, in nodes.
const FARTHEST: usize = 200;

/// What is remembered of an element, to find it and to know it again.
#[derive(Debug, Clone, PartialEq)]
pub struct Identification {
    /// Its selectors, the most lasting first; the last is always its xpath.
    pub selectors: Vec<Selector>,
    /// What it is.
    pub fingerprint: Fingerprint,
    /// Why it can't be found again.
    pub warning: Option<String>,
}

impl Identification {
    /// Its selectors as they are written, and its fingerprint, with every text of the page changed.
    pub fn with_texts(&self, change: impl Fn(&str) -> String) -> (Vec<String>, Fingerprint) {
        let selectors = self.selectors.iter();
        let selectors = selectors.map(|one| one.with_texts(&mut |text| change(text)).to_string());
        (selectors.collect(), self.fingerprint.with_texts(&change))
    }
}

impl Fingerprint {
    /// Whether an element is of the kind. Buttons are one kind whatever their tag, and what takes a file is often hidden
    /// behind a button.
    pub(super) fn is_kind(&self, element: &DomElement) -> bool {
        (element.is_visible || self.input_type.as_deref() == Some("file"))
            && element.role == self.role
            && (!self.role.is_empty() || element.tag_name == self.tag)
            && kind_of_input(element) == self.input_type
    }
}

impl Finder<'_> {
    /// What an element is, to know it again: with the place and the position that its sentence named, if it named any.
    pub fn identify(&self, id: NodeId, said: Option<&Phrase>) -> Option<Identification> {
        self.identification(id, self.fingerprint_of(id, said, true)?)
    }

    /// The same of an element whose text is asserted: what has no name is not called by it.
    pub fn identify_apart_from_text(
        &self,
        id: NodeId,
        said: Option<&Phrase>,
    ) -> Option<Identification> {
        self.identification(id, self.fingerprint_of(id, said, false)?)
    }

    /// What the element is by now that was remembered as `known`.
    pub fn identify_again(&self, id: NodeId, known: &Fingerprint) -> Option<Identification> {
        let mut now = self.fingerprint_of(id, None, known.is_called_by_text())?;
        now.position = known.position;
        self.identification(id, now)
    }

    fn identification(&self, id: NodeId, fingerprint: Fingerprint) -> Option<Identification> {
        let selectors = self.candidates(id, &fingerprint);
        let verdict = self.verdict(Remembered {
            selectors: &selectors,
            fingerprint: &fingerprint,
        });
        let is_found = matches!(verdict, Verdict::Same { id: found, .. } if found == id);
        let warning = (!is_found).then(|| {
            format!(
                "byPosition: only its position distinguishes this {} from others, so it can't be found again: give it a \
                 name or a test id",
                self.own_words(id)
            )
        });
        Some(Identification {
            selectors,
            fingerprint,
            warning,
        })
    }

    /// What an element is whose text is asserted: known by where it stands, and not by the text. None if it would not be
    /// found again so.
    pub fn identify_shown(&self, id: NodeId, said: Option<&Phrase>) -> Option<Identification> {
        let mut fingerprint = self.fingerprint_of(id, said, false)?;
        if is_cell(&fingerprint.role) {
            // A cell is known by its row and column, so that a claim that is not true any more is no missing element.
            fingerprint.name.clear();
            fingerprint.column = self.column_heading(id);
        }
        let mut known = self.identification(id, fingerprint)?;
        known
            .selectors
            .retain(|selector| !matches!(selector.pattern, Pattern::Text(_)));
        known.warning.is_none().then_some(known)
    }

    /// Whether words mean a cell by its column, and not by what it shows.
    pub fn is_cell_of(&self, id: NodeId, said: &Phrase) -> bool {
        let shown = NameQuery::new(&said.name);
        self.state.element(id).is_some_and(|element| {
            is_cell(&element.role) && !shown.fits(&element.name, NameMatch::Folded)
        })
    }

    fn fingerprint_of(
        &self,
        id: NodeId,
        said: Option<&Phrase>,
        by_text: bool,
    ) -> Option<Fingerprint> {
        let element = self.state.element(id)?;
        let mut known = Fingerprint {
            role: element.role.clone(),
            tag: element.tag_name.clone(),
            input_type: kind_of_input(element),
            name: cut(&single_spaces(&element.name), LONGEST_TEXT).into_owned(),
            text: self
                .text_beside_name(id, element)
                .filter(|_| by_text || !element.name.is_empty()),
            test_id: self.test_id(element).map(str::to_owned),
            position: said.and_then(|phrase| phrase.position),
            ..Fingerprint::default()
        };
        let mut outline = self.outline(id, said);
        if known.position.is_some() {
            // The first of all is meant, wherever it is by then, and not the one in the item in which it is today.
            let place = said.and_then(|phrase| phrase.within.as_ref());
            let place = place.and_then(|place| self.container_said(id, place));
            outline.retain(|(_, one)| Some(one) == place.as_ref());
        } else if known.called().is_empty()
            && !holds_value(element)
            && self.is_item(id, element)
            && let Some((container, _)) = self.container_of(id)
        {
            outline.insert(0, (self.range(id), container));
            known.is_container = true;
        } else if let Some((place, one)) = outline.first() {
            known.is_container = said.is_some_and(Phrase::is_container)
                && self.element_of(place) == Some(id)
                && (one.text.is_some() || element.name.is_empty());
        }
        let place = outline.first().map(|(place, _)| place.clone());
        known.outline = outline.into_iter().map(|(_, one)| one).collect();
        // A text that several have says of none which it is. What the sentence named stays: then nothing is found again.
        let named = said.and_then(|phrase| phrase.within.as_ref());
        let named = named.and_then(|named| self.container_said(id, named));
        let is_unsaid = |one: &Container| {
            one.kind.is_item()
                && named
                    .as_ref()
                    .is_none_or(|said| said.folded_text() != one.folded_text())
        };
        while self.resolve_outline(&known).is_err()
            && let Some(at) = known.outline.iter().position(is_unsaid)
        {
            known.outline.remove(at);
        }
        let is_nameless_field = holds_value(element) && element.name.is_empty();
        if (is_nameless_field || known.called().is_empty())
            && known.outline.first().is_some_and(|one| one.kind.is_item())
        {
            known.column = self.column_heading(id);
            // The text before a field of a table is that of another column.
            known.text = known
                .text
                .filter(|_| !is_nameless_field || known.column.is_none());
        }
        known.name = self.name_without_badge(id, element, &known, place.as_slice());
        let is_twin = |(other, one): (NodeId, &DomElement)| {
            other != id && known.is_kind(one) && self.is_called_as(other, one, &known)
        };
        known.alone = !self.state.elements().any(is_twin);
        let siblings = self.of_kind(&known, place.as_slice());
        let siblings: Vec<String> = siblings
            .filter(|(other, _)| *other != id)
            .map(|(other, one)| fold_name(&self.name_or_text(other, one)))
            .collect();
        known.keep_siblings(siblings);
        Some(known)
    }

    /// The text on an element, or before a field without a name. `None` if it has a name that says the same.
    pub(super) fn text_beside_name(&self, id: NodeId, element: &DomElement) -> Option<String> {
        match (holds_value(element), element.name.is_empty()) {
            (true, true) => Some(self.text_before(id, element)),
            (true, false) => None,
            (false, true) => Some(self.text_for_name(id, element).unwrap_or_default()),
            (false, false) => self
                .label_on(id)
                .filter(|text| !text.is_empty() && fold_name(text) != fold_name(&element.name)),
        }
    }

    /// The label of a field, or the text before it in the item, dialog, frame or component that it is in.
    pub(crate) fn text_before(&self, id: NodeId, element: &DomElement) -> String {
        if !element.label.is_empty() {
            return cut(&single_spaces(&element.label), LONGEST_TEXT).into_owned();
        }
        let keeps_its_own = |outer: &DomElement| {
            outer.shadow_root
                || is_frame(&outer.tag_name)
                || matches!(
                    outer.role.as_str(),
                    "row"
                        | "listitem"
                        | "treeitem"
                        | "article"
                        | "dialog"
                        | "alertdialog"
                        | "tabpanel"
                )
        };
        let mut around = self.state.ancestor_elements(id);
        let around = around.find(|(_, outer)| keeps_its_own(outer));
        let start = around.map_or(0, |(outer, _)| outer.index());
        let start = id.index().saturating_sub(FARTHEST).max(start);
        let texts = self.state.nodes[start..id.index()].iter().rev();
        let mut texts = texts.filter_map(|node| match &node.kind {
            DomKind::Text(run) if run.is_visible => Some(single_spaces(&run.text)),
            _ => None,
        });
        let text = texts.find(|text| text.contains(char::is_alphanumeric));
        cut(&text.unwrap_or_default(), LONGEST_TEXT).into_owned()
    }

    /// The name of an element without the count in an element of its own behind it, unless a sibling is called so, too.
    fn name_without_badge(
        &self,
        id: NodeId,
        element: &DomElement,
        known: &Fingerprint,
        place: &[Place],
    ) -> String {
        let Some(bare) = self.name_before_badge(id, element) else {
            return known.name.clone();
        };
        let folded = fold_name(&bare);
        let mut others = self.of_kind(known, place).filter(|(other, _)| *other != id);
        let is_shared = others.any(|(other, one)| {
            let badged = self.name_before_badge(other, one);
            fold_name(&badged.unwrap_or_else(|| self.name_or_text(other, one).into_owned()))
                == folded
        });
        match is_shared || element.name.is_empty() {
            true => known.name.clone(),
            false => bare,
        }
    }

    /// The elements of the kind in one of these places; on the whole page if there are none.
    pub(super) fn of_kind<'s>(
        &'s self,
        known: &'s Fingerprint,
        places: &'s [Place],
    ) -> impl Iterator<Item = (NodeId, &'s DomElement)> {
        self.state.elements().filter(move |(id, element)| {
            known.is_kind(element)
                && (places.is_empty() || places.iter().any(|place| place.contains(&id.0)))
                && self.is_in_its_frame(*id, known)
        })
    }

    /// Whether an element is in as many frames as the one that was meant: what went into another one is another one's.
    pub(super) fn is_in_its_frame(&self, id: NodeId, known: &Fingerprint) -> bool {
        let frames = known.outline.iter();
        let frames = frames.filter(|one| one.kind == ContainerKind::Frame);
        let around = self.state.ancestor_elements(id);
        let around = around.filter(|(_, outer)| is_frame(&outer.tag_name));
        around.count() == frames.count()
    }
}

/// The type of an `input` that is no button: those are known by their role.
fn kind_of_input(element: &DomElement) -> Option<String> {
    element
        .input_type()
        .filter(|kind| !matches!(kind.as_str(), "button" | "submit" | "reset" | "image"))
}
