//! What is remembered of an element to know it again.

use super::place::{is_in, keeps_its_own};
use super::renamed::are_by_id;
use super::verdict::{Remembered, Verdict, is_item_role, is_kind, same_path};
use crate::containers::{Place, is_cell, is_row};
use crate::describe::is_frame;
use crate::dom::{DomElement, DomKind, NodeId};
use crate::figures::is_figure;
use crate::selector::{Finder, Pattern, Selector};
use crate::sentences::{Phrase, Within};
use crate::snapshot::single_spaces;
use crate::words::{NameMatch, NameQuery, fold_name};
use crate::{Container, Fingerprint};
use cuecard_source::value::cut;

/// How many elements around one are remembered.
const LONGEST_PATH: usize = 5;

/// The longest name and text that is remembered, in characters.
pub const LONGEST_TEXT: usize = 120;

/// How much is remembered of what stands around an element, in characters.
const LONGEST_AROUND: usize = 240;

/// How far before an element a text may stand that is near it, in nodes.
const FARTHEST: usize = 200;

/// Roles of parts of a page that count although nothing is written on them.
const LANDMARKS: &[&str] = &[
    "banner",
    "complementary",
    "contentinfo",
    "dialog",
    "alertdialog",
    "form",
    "frame",
    "main",
    "navigation",
    "region",
    "search",
];

/// Roles whose name is all that is in them, and says nothing about where an element is.
pub(super) const NAMELESS: &[&str] = &["generic", "none", "presentation", ""];

/// How many names, and texts around twins, are remembered.
pub(super) const MOST_LIKES: usize = 40;

/// What is remembered of an element, to find it and to know it again.
#[derive(Debug, Clone, PartialEq)]
pub struct Identification {
    /// Its selectors, the most lasting first; the last is always its xpath.
    pub selectors: Vec<Selector>,
    /// What it is.
    pub fingerprint: Fingerprint,
    /// Why it may not be found again.
    pub warning: Option<String>,
    /// Whether the sentence named a place that can't be remembered, since several have what it is named by: only the
    /// sentence tells which of them is meant.
    pub forgets_place: bool,
}

impl Finder<'_> {
    /// What an element is, to know it again: with the container and the position that its sentence named, if it named
    /// any.
    pub fn identify(&self, id: NodeId, said: Option<&Phrase>) -> Option<Identification> {
        self.identify_as(id, said, true)
    }

    /// The same of an element whose text is asserted: what has no name is not called by it.
    pub fn identify_apart_from_text(
        &self,
        id: NodeId,
        said: Option<&Phrase>,
    ) -> Option<Identification> {
        self.identify_as(id, said, false)
    }

    fn identify_as(
        &self,
        id: NodeId,
        said: Option<&Phrase>,
        by_text: bool,
    ) -> Option<Identification> {
        let position = said.and_then(|phrase| phrase.position);
        let place_said = said.and_then(|phrase| phrase.within.as_ref());
        // The first of all is meant, wherever it is by then, and not the one in the item in which it is today.
        let within = match (position, place_said) {
            (Some(_), None) => Vec::new(),
            _ => self.within(id, place_said, by_text),
        };
        let is_container = position.is_none()
            && said.is_some_and(Phrase::is_container)
            && within.first().is_some_and(|container| {
                container.text.is_some()
                    || self
                        .state
                        .element(id)
                        .is_some_and(|element| element.name.is_empty())
            })
            && matches!(self.place_within(&within), Ok(Some(place)) if self.element_of(&place) == Some(id));
        let forgets_place = place_said.is_some() && within.is_empty();
        let known = match is_container {
            true => self.identify_container(id, within),
            false => self.identify_within(id, within, position, by_text),
        };
        known.map(|known| Identification {
            forgets_place,
            ..known
        })
    }

    /// What a container is that was named by a text in it: whatever else stands in it may change.
    fn identify_container(&self, id: NodeId, within: Vec<Container>) -> Option<Identification> {
        let within = self.below_headings(id, within);
        let element = self.state.element(id)?;
        let fingerprint = Fingerprint {
            role: element.role.clone(),
            tag: element.tag_name.clone(),
            test_id: self.test_id(element).map(str::to_owned),
            path: self.path(id, &within),
            ordinal: 1,
            of: 1,
            scope: scope_words(element),
            within,
            is_container: true,
            ..Fingerprint::default()
        };
        Some(Identification {
            selectors: self.candidates(id, &fingerprint),
            fingerprint,
            warning: None,
            forgets_place: false,
        })
    }

    /// What an element is whose text is asserted: known by where it stands, and not by the text. None if it would not be
    /// found again so.
    pub fn identify_shown(&self, id: NodeId, said: Option<&Phrase>) -> Option<Identification> {
        let mut known = self.identify_apart_from_text(id, said)?;
        known
            .selectors
            .retain(|selector| !matches!(selector.pattern, Pattern::Text(_)));
        // A cell is known by its row and column, so that a claim that is not true any more is no missing element.
        let row = self.place_within(&known.fingerprint.within).ok().flatten();
        if row.is_some_and(|row| self.cells_in_column(&row, &known.fingerprint) == [id]) {
            known.fingerprint.name.clear();
        }
        let remembered = Remembered {
            selectors: &known.selectors,
            fingerprint: &known.fingerprint,
        };
        (self.verdict(remembered) == Verdict::Same(id)).then_some(known)
    }

    /// Whether words mean a cell by its column, and not by what it shows.
    pub fn is_cell_of(&self, id: NodeId, said: &Phrase) -> bool {
        let shown = NameQuery::new(&said.name);
        self.state.element(id).is_some_and(|element| {
            is_cell(&element.role) && !shown.fits(&element.name, NameMatch::Folded)
        })
    }

    /// As [`Finder::identify`], with containers that are known already; `by_text` says whether what has no name is
    /// called by the text on it.
    pub fn identify_within(
        &self,
        id: NodeId,
        within: Vec<Container>,
        position: Option<i32>,
        by_text: bool,
    ) -> Option<Identification> {
        let element = self.state.element(id)?;
        let within = self.below_headings(id, within);
        let mut fingerprint = Fingerprint {
            path: self.path(id, &within),
            near: self.near(id, element, &within),
            around: self.around(id),
            within,
            position,
            ..self.own_fingerprint(id, by_text)?
        };
        (fingerprint.ordinal, fingerprint.of) = self.ordinal(id, &fingerprint);
        let place = self.place_within(&fingerprint.within).ok().flatten();
        fingerprint.likes = self.likes_of(id, &fingerprint, place.as_ref());
        (fingerprint.before, fingerprint.after) = self.neighbours(id, &fingerprint);
        let selectors = self.candidates(id, &fingerprint);
        let twins = self.twins(&fingerprint);
        let n_inside = twins
            .iter()
            .filter(|twin| is_in(place.as_ref(), **twin))
            .count();
        let mut warning = None;
        let is_alone_in_column = place.as_ref().is_some_and(|place| {
            is_by_column(&fingerprint) && self.cells_in_column(place, &fingerprint) == [id]
        });
        let is_by_text =
            are_by_id(&selectors) || is_alone_in_column || self.is_by_text_before(id, &fingerprint);
        if position.is_none() && n_inside > 1 && !is_by_text {
            warning = Some(format!(
                "byPosition: only its position distinguishes this {}{} from others: give it a name or a test id",
                element.kind(),
                match fingerprint.called() {
                    "" => String::new(),
                    name => format!(" \"{name}\""),
                }
            ));
            fingerprint.by_position = self.around_twins(&twins);
        }
        Some(Identification {
            selectors,
            fingerprint,
            warning,
            forgets_place: false,
        })
    }

    /// What an element is, wherever it is.
    fn own_fingerprint(&self, id: NodeId, by_text: bool) -> Option<Fingerprint> {
        let element = self.state.element(id)?;
        Some(Fingerprint {
            role: element.role.clone(),
            name: cut(&element.name, LONGEST_TEXT).into_owned(),
            text: by_text.then(|| self.text_for_name(id, element)).flatten(),
            tag: element.tag_name.clone(),
            input_type: element.input_type(),
            test_id: self.test_id(element).map(str::to_owned),
            scope: scope_words(element),
            ..Fingerprint::default()
        })
    }

    /// What an element is, to know it again.
    pub fn fingerprint(&self, id: NodeId) -> Option<Fingerprint> {
        self.identify(id, None).map(|known| known.fingerprint)
    }

    /// The containers that tell an element from its twins: the one that was said, else the item that it is in, else
    /// where there are twins the nearest one with a name.
    fn within(&self, id: NodeId, said: Option<&Within>, by_text: bool) -> Vec<Container> {
        let mut within = match said {
            Some(said) => self.container_said(id, said).into_iter().collect(),
            None => Vec::new(),
        };
        if within.is_empty()
            && let Some((item, container)) = self.item_container(id)
        {
            within.push(container);
            self.complete(item, &mut within);
        }
        let own = self.own_fingerprint(id, by_text);
        if within.is_empty()
            && let Some(own) = own.filter(|own| self.ordinal(id, own).1 > 1)
        {
            // Only what has none of its twins tells it from them.
            let is_alone = |container: &Container| {
                let place = self.place_within(std::slice::from_ref(container));
                let is_alone_in = |place| self.is_alone_in(id, &own, &place);
                place.ok().flatten().is_some_and(is_alone_in)
            };
            within.extend(self.named_around(id).find(is_alone));
        }
        let is_around = |place: &Option<Place>| is_in(place.as_ref(), id);
        match self.place_within(&within) {
            Ok(place) if is_around(&place) => within,
            // Only another one has the text.
            Ok(_) => Vec::new(),
            // Several have the text: more is needed to tell them apart.
            Err(_) => {
                let start = self
                    .places_of(&within[0])
                    .into_iter()
                    .rfind(|place| place.contains(&id.0));
                if let Some(start) = start {
                    self.complete(NodeId(start.start), &mut within);
                }
                match self.place_within(&within) {
                    Ok(place) if is_around(&place) => within,
                    _ => Vec::new(),
                }
            }
        }
    }

    /// Whether nothing visible in a part of the page is of the kind of an element in it and called as it is.
    fn is_alone_in(&self, id: NodeId, own: &Fingerprint, place: &Place) -> bool {
        place.contains(&id.0)
            && self.state.elements().all(|(other_id, other)| {
                other_id == id
                    || !place.contains(&other_id.0)
                    || !self.is_twin(other_id, other, own)
            })
    }

    /// Adds containers around one until they are one place.
    fn complete(&self, inner: NodeId, within: &mut Vec<Container>) {
        for container in self.named_around(inner) {
            if self.place_within(within).is_ok() {
                return;
            }
            within.push(container);
            if self.place_within(within).is_err() {
                within.pop();
            }
        }
    }

    /// The elements that are like what was remembered: visible, of its kind and name.
    pub(super) fn twins(&self, fingerprint: &Fingerprint) -> Vec<NodeId> {
        self.state
            .elements()
            .filter(|(id, element)| {
                element.is_visible
                    && is_kind(element, fingerprint)
                    && self.has_name(*id, element, fingerprint)
            })
            .map(|(id, _)| id)
            .collect()
    }

    /// What stands around each twin, in the order of the page.
    pub(super) fn around_twins(&self, twins: &[NodeId]) -> Vec<String> {
        twins
            .iter()
            .take(MOST_LIKES)
            .map(|&twin| {
                let own = single_spaces(&self.state.visible_text(twin));
                let text = self
                    .state
                    .ancestors(twin)
                    .map(|outer| single_spaces(&self.state.visible_text(outer)))
                    .find(|text| *text != own);
                cut(&text.unwrap_or_default(), LONGEST_TEXT).into_owned()
            })
            .collect()
    }

    /// The names of the other elements of its role in the same place, as far as that has a name.
    fn likes_of(
        &self,
        id: NodeId,
        fingerprint: &Fingerprint,
        place: Option<&Place>,
    ) -> Vec<String> {
        self.in_its_path(fingerprint)
            .filter(|(like, _)| *like != id && is_in(place, *like))
            .take(MOST_LIKES)
            .map(|(id, element)| self.name_or_text(id, element).into_owned())
            .collect()
    }

    /// The visible elements of a role whose path is the one that was remembered.
    pub(super) fn in_its_path<'s>(
        &'s self,
        fingerprint: &'s Fingerprint,
    ) -> impl Iterator<Item = (NodeId, &'s DomElement)> {
        self.state.elements().filter(move |(id, element)| {
            element.is_visible
                && is_kind(element, fingerprint)
                && same_path(&self.path(*id, &fingerprint.within), &fingerprint.path)
        })
    }

    /// The named and landmark elements around one, innermost first, with the frames and shadow hosts that it is in.
    /// What an item is called is left out where `within` says it.
    pub(super) fn path(&self, id: NodeId, within: &[Container]) -> Vec<String> {
        let has_item = within.iter().any(|container| container.kind.is_item());
        // An item that is called after what is in it doesn't say which one it is.
        let is_called_after_it = |place: NodeId, outer: &DomElement| {
            is_item_role(&outer.role)
                && self.state.element(id).is_some_and(|element| {
                    let own = fold_name(&self.name_or_text(id, element));
                    !own.is_empty() && own == fold_name(&self.place_name(place, outer))
                })
        };
        self.state
            .ancestor_elements(id)
            .filter(|(_, outer)| !has_item || !(is_row(&outer.role) || outer.role == "article"))
            .filter_map(|(place, outer)| match is_called_after_it(place, outer) {
                true => Some(outer.role.clone()),
                false => self.entry(place, outer),
            })
            .take(LONGEST_PATH)
            .collect()
    }

    /// An element as one that others are in, if it counts as that.
    pub(super) fn entry(&self, id: NodeId, element: &DomElement) -> Option<String> {
        let role = element.role.as_str();
        // Its name is all that is in it.
        if is_cell(role) {
            return None;
        }
        let (word, name) = if is_frame(&element.tag_name) {
            ("frame", self.frame_name(id).unwrap_or_default())
        } else if NAMELESS.contains(&role) {
            (element.tag_name.as_str(), self.host_name(id)?)
        } else if element.name.is_empty() && matches!(role, "dialog" | "alertdialog") {
            (role, self.first_said(id).unwrap_or_default())
        } else {
            (role, self.place_name(id, element))
        };
        if name.is_empty() && !LANDMARKS.contains(&word) {
            return None;
        }
        let name = cut(&name, LONGEST_TEXT);
        Some(match name.is_empty() {
            true => word.to_owned(),
            false => format!("{word} \"{name}\""),
        })
    }

    /// What a dialog without a name says first, which tells it from the next one: *Saved* from *Delete the account?*
    fn first_said(&self, dialog: NodeId) -> Option<String> {
        let is_label = |id: NodeId| {
            let mut around = self.state.ancestor_elements(id);
            around.any(|(_, outer)| outer.tag_name == "label")
        };
        let texts = self.item_texts(dialog).into_iter();
        texts
            .filter(|text| !is_figure(&text.text) && !is_label(text.element))
            .map(|text| text.text)
            .next()
    }

    /// The label of a field, or the heading or text before an element in the row, dialog or component that it is in.
    pub(super) fn near(&self, id: NodeId, element: &DomElement, within: &[Container]) -> String {
        let own = single_spaces(&element.label);
        // That of a button is its name, and says nothing of what it is near.
        let is_button = element.role == "button" || element.tag_name == "button";
        if !own.is_empty() && !is_button {
            return cut(&own, LONGEST_TEXT).into_owned();
        }
        // A cell, and what has no name of its own in one, is called by the heading of its column.
        let is_nameless = || element.name.is_empty() && self.name_or_text(id, element).is_empty();
        if (is_cell(&element.role) || (!within.is_empty() && is_nameless()))
            && let Some(heading) = self.column_heading(id)
        {
            return cut(&heading, LONGEST_TEXT).into_owned();
        }
        // Of an item that is known by a text the others may change: prices, counts, states.
        if let Some(item) = within.iter().find(|container| container.kind.is_item()) {
            return item.text.clone().unwrap_or_default();
        }
        let around = self
            .state
            .ancestor_elements(id)
            .find(|(_, outer)| keeps_its_own(outer))
            .map_or(0, |(outer, _)| outer.index());
        let start = id.index().saturating_sub(FARTHEST).max(around);
        let before = self.state.nodes[start..id.index()].iter().rev();
        for node in before {
            let text = match &node.kind {
                DomKind::Text(run) if run.is_visible => single_spaces(&run.text),
                _ => continue,
            };
            if text.chars().any(char::is_alphanumeric) {
                return cut(&text, LONGEST_TEXT).into_owned();
            }
        }
        String::new()
    }

    /// What stands in the item around an element; the heading before one that is in none.
    pub(super) fn around(&self, id: NodeId) -> String {
        let text = match self.item_around(id) {
            Some(item) => single_spaces(&self.state.visible_text(item)),
            None => {
                let before = self.state.elements().take_while(|(other, _)| *other < id);
                let headings =
                    before.filter(|(_, element)| element.is_visible && element.role == "heading");
                headings
                    .last()
                    .map(|(_, heading)| heading.name.clone())
                    .unwrap_or_default()
            }
        };
        cut(&text, LONGEST_AROUND).into_owned()
    }
}

/// Whether an element is known by the heading of its column: a cell, or what has no name and stands in an item that is known
/// by another text.
pub(super) fn is_by_column(fingerprint: &Fingerprint) -> bool {
    if is_cell(&fingerprint.role) {
        return fingerprint.name.is_empty();
    }
    let mut containers = fingerprint.within.iter();
    let item = containers.find(|container| container.kind.is_item());
    let near = fold_name(&fingerprint.near);
    fingerprint.called().is_empty()
        && !near.is_empty()
        && item.is_some_and(|item| fold_name(item.text.as_deref().unwrap_or_default()) != near)
}

/// The frames and shadow hosts that an element is in, as they are kept.
pub(super) fn scope_words(element: &DomElement) -> Vec<String> {
    element
        .scope
        .iter()
        .map(|hop| format!("{}={}", hop.kind.as_str(), hop.xpath))
        .collect()
}
