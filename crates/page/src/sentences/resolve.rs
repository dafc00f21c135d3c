//! Which elements of a page words mean.

use std::fmt;

use super::Pool;
use super::phrase::{Phrase, RoleWord, Within};
use crate::ContainerKind;
use crate::carriers::carriers;
use crate::containers::{Place, is_cell};
use crate::dom::{DomElement, NodeId, State};
use crate::selector::Finder;
use crate::snapshot::single_spaces;
use crate::words::{NameMatch, NameQuery, tokens};
use cuecard_source::diagnostic::did_you_mean;
use cuecard_source::value::Json;

/// How many elements a message lists.
pub(super) const SHOWN: usize = 5;

/// How many names are looked at as what a name may be a slip of.
const MOST_COMPARED: usize = 2_000;

/// Whether an element is one of those that are looked for.
type Test<'t> = &'t dyn Fn(NodeId, &DomElement) -> bool;

/// The elements that are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The elements, in the order of the page; never empty.
    pub elements: Vec<NodeId>,
    /// Whether the words are only a part of their names.
    pub is_part: bool,
}

/// No element is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// What was looked for.
    pub phrase: String,
    /// What comes near, in words: at most five.
    pub nearest: Vec<String>,
    /// How many there are, if one of them in an order was meant, or the only one.
    pub count: Option<usize>,
    /// A sentence for each of these that means it alone, as far as there is one.
    pub say: Vec<String>,
}

impl NotFound {
    /// Nothing of this is there.
    pub(super) fn of(phrase: impl fmt::Display) -> Self {
        Self {
            phrase: phrase.to_string(),
            nearest: Vec::new(),
            count: None,
            say: Vec::new(),
        }
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "no {} on the page", self.phrase)?;
        match self.count {
            Some(count) => write!(formatter, ", but {count}"),
            None => Ok(()),
        }
    }
}

impl Finder<'_> {
    /// The elements that words mean: those that fit best, however many these are.
    ///
    /// # Errors
    /// If nothing fits, with what comes near.
    pub fn meant(&self, phrase: &Phrase, pool: Pool) -> Result<Found, NotFound> {
        if pool == Pool::Labelled {
            return self.labelled(phrase);
        }
        if let Some(whole) = phrase.with_ordinal_in_name()
            && let Ok(found) = self.meant(&whole, pool)
        {
            return Ok(found);
        }
        let (reachable, rest) = self.pool(phrase, pool);
        let mut count = None;
        if let Some(position) = phrase.position {
            // Something may lie over one of them now, and over another later.
            let mut all = [reachable, rest].concat();
            all.sort_unstable();
            let found = self.all_meant(&all, phrase, pool);
            let elements = found.as_ref().map_or(&[][..], |found| &found.elements);
            let place = match usize::try_from(position) {
                Ok(position) => position.checked_sub(1),
                Err(_) => elements.len().checked_sub(position.unsigned_abs() as usize),
            };
            if let Some(&one) = place.and_then(|place| elements.get(place)) {
                return Ok(Found {
                    elements: vec![one],
                    is_part: found.is_some_and(|found| found.is_part),
                });
            }
            count = Some(elements.len()).filter(|count| *count > 0);
        } else {
            let all = [reachable, rest];
            let mut found = all.iter().map(|all| self.all_meant(all, phrase, pool));
            if let Some(found) = found.find_map(|found| found) {
                return Ok(found);
            }
        }
        let none = self.none_fits(phrase, pool);
        Err(NotFound {
            count: none.count.or(count),
            ..none
        })
    }

    /// Why nothing is meant, with what comes near.
    pub(super) fn none_fits(&self, phrase: &Phrase, pool: Pool) -> NotFound {
        let within = phrase.within.as_ref();
        if let Some(unclear) = within.and_then(|within| self.unnamed_unclear(within)) {
            return unclear;
        }
        let container = within.filter(|within| self.lacks(within, phrase.role));
        let what = container.map_or_else(|| phrase.to_string(), ToString::to_string);
        NotFound {
            nearest: self.nearest(phrase, pool),
            ..NotFound::of(what)
        }
    }

    /// Why nobody can say what is in a place: there is none, or of those without a name several. A dialog may be closed.
    pub fn unclear_place(&self, phrase: &Phrase) -> Option<NotFound> {
        if let Some(within) = &phrase.within
            && phrase.role == Some(RoleWord::Item)
            && self.are_unclear(phrase)
        {
            let what = format!("clear number of items in the {within}");
            return Some(NotFound::of(what));
        }
        let within = phrase.within.as_ref().filter(|_| !phrase.is_container())?;
        let is_gone = within.name.is_some()
            && within.kind != ContainerKind::Dialog
            && self.lacks(within, phrase.role);
        match is_gone {
            true => Some(NotFound::of(within)),
            false => self.unnamed_unclear(within),
        }
    }

    /// Whether the page has no such place.
    fn lacks(&self, within: &Within, role: Option<RoleWord>) -> bool {
        self.places_said(within, role).is_empty()
    }

    fn unnamed_unclear(&self, within: &Within) -> Option<NotFound> {
        if within.name.is_some() {
            return None;
        }
        let count = match self.all_of(within.kind).len() {
            1 => return None,
            0 if within.kind == ContainerKind::Dialog => return None,
            0 => None,
            several => Some(several),
        };
        let word = within.kind.as_str();
        Some(match count {
            Some(_) => NotFound {
                count,
                ..NotFound::of(format!("single {word}"))
            },
            None => NotFound::of(word),
        })
    }

    /// Of these elements those that are meant, whichever their place in an order.
    fn all_meant(&self, elements: &[NodeId], phrase: &Phrase, pool: Pool) -> Option<Found> {
        let elements = match (&phrase.within, phrase.name.is_empty()) {
            (Some(within), true) if phrase.is_container() => {
                self.containers_meant(elements, within, pool)
            }
            (_, true) if matches!(phrase.role, Some(RoleWord::Item | RoleWord::Row)) => {
                // An item in another one is counted with that.
                let is_inner = |id: &NodeId| {
                    let mut around = self.state.ancestors(*id);
                    around.any(|outer| elements.contains(&outer))
                };
                elements
                    .iter()
                    .copied()
                    .filter(|id| !is_inner(id))
                    .collect()
            }
            (_, true) if phrase.role.is_some() || phrase.is_any() => elements.to_vec(),
            _ => return self.fitting_name(elements, phrase, pool),
        };
        (!elements.is_empty()).then_some(Found {
            elements,
            is_part: false,
        })
    }

    /// The containers themselves; if they can't be used, what in them has their name: the button of a section that
    /// folds, the link of a card.
    fn containers_meant(&self, elements: &[NodeId], within: &Within, pool: Pool) -> Vec<NodeId> {
        let places = self.places(within.kind, within.name.as_deref(), within.is_quoted);
        let containers: Vec<NodeId> = places
            .iter()
            .filter_map(|place| self.element_of(place))
            .filter(|id| elements.contains(id))
            .collect();
        if !containers.is_empty() || pool.is_anything() {
            return containers;
        }
        let Some(name) = &within.name else {
            return Vec::new();
        };
        let phrase = Phrase {
            is_quoted: within.is_quoted,
            ..Phrase::named(name)
        };
        let found = self.fitting_name(elements, &phrase, pool);
        let mut found = found.map_or_else(Vec::new, |found| found.elements);
        if within.kind.is_item() {
            // A checkbox with the name of its row is not the row.
            found.retain(|id| {
                self.state
                    .element(*id)
                    .is_some_and(|element| element.role == "link")
                    && places.iter().any(|place| place.contains(&id.0))
            });
        }
        found
    }

    /// The element that a part of the page is: what stands below a heading may be none.
    pub(crate) fn element_of(&self, place: &Place) -> Option<NodeId> {
        let first = NodeId(place.start);
        if self.state.node(first).end == place.end {
            return Some(first);
        }
        let around = self
            .state
            .ancestors(first)
            .find(|&outer| self.state.node(outer).end >= place.end)?;
        let first_heading = self
            .state
            .descendants(around)
            .find(|(_, inner)| inner.role == "heading" && inner.is_visible);
        let is_all = self.state.node(around).end == place.end
            && around != NodeId(0)
            && first_heading.is_some_and(|(heading, _)| heading == first);
        is_all.then_some(around)
    }

    /// Whether an element is one that an action of this sort can mean.
    pub fn is_in_pool(&self, id: NodeId, pool: Pool) -> bool {
        self.state
            .element(id)
            .is_some_and(|element| is_in(element, pool))
    }

    /// The elements that may be meant, those that a pointer reaches apart from the others.
    pub(super) fn pool(&self, phrase: &Phrase, pool: Pool) -> (Vec<NodeId>, Vec<NodeId>) {
        let places = phrase
            .within
            .as_ref()
            .filter(|_| !phrase.is_container())
            .map(|within| match pool {
                Pool::OfItem => self.items_called(within),
                _ => self.places_said(within, phrase.role),
            });
        let is_inside = |id: NodeId| {
            places
                .as_ref()
                .is_none_or(|places| places.iter().any(|place| place.contains(&id.0)))
        };
        let has_role = |id: NodeId, element: &DomElement| {
            phrase.role.is_none_or(|role| {
                if matches!(role, RoleWord::Item | RoleWord::Row) {
                    let range = self.range(id);
                    let holds_it = |place: &Place| place.start < id.0 && range.end <= place.end;
                    return self.is_counted(id, element, role)
                        && places.iter().flatten().any(holds_it);
                }
                role.roles().contains(&element.role.as_str())
                    || (role.may_lack_role() && element.role.is_empty() && element.is_interactive)
                    || (role == RoleWord::Field && element.is(State::Editable))
            })
        };
        let (mut reachable, mut rest) = (Vec::new(), Vec::new());
        for (id, element) in self.state.elements() {
            if !is_inside(id) || !has_role(id, element) || !is_in(element, pool) {
                continue;
            }
            let is_first = match pool {
                Pool::Anything | Pool::NoAnchors | Pool::Selectable => element.is_visible,
                Pool::Files => true,
                // What only the pointer shows has no index inside of what listens to clicks.
                _ => {
                    element.highlight_index.is_some()
                        || (element.is_visible && element.is_top_element == Some(true))
                }
            };
            match is_first {
                true => reachable.push(id),
                false if element.is_visible => rest.push(id),
                false => {}
            }
        }
        (reachable, rest)
    }

    /// Of these elements those whose name fits best. A name in quotes is the whole name.
    fn fitting_name(&self, elements: &[NodeId], phrase: &Phrase, pool: Pool) -> Option<Found> {
        let sought = NameQuery::new(&phrase.name);
        let shows_text = pool.is_anything() && phrase.role.is_none();
        for &likeness in NameMatch::of_sentence(phrase.is_quoted) {
            let fits = |text: &str| sought.fits(&single_spaces(text), likeness);
            let of = |elements| Found {
                elements,
                is_part: likeness == NameMatch::Words,
            };
            for given in [name, label, placeholder] {
                let found = self.called(elements, &|_, own| given(own).is_some_and(fits));
                if !found.is_empty() {
                    return Some(of(self.without_copies(found)));
                }
            }
            let found = match shows_text {
                true => self.with_text(elements, &fits),
                false => self.called_otherwise(elements, &fits),
            };
            if !found.is_empty() {
                return Some(of(found));
            }
        }
        None
    }

    /// What listens to clicks and has no name, but a text; else a tooltip, a heading in it, the heading of its column if it
    /// is a control in a table, or a text before it if it is a field.
    fn called_otherwise(&self, elements: &[NodeId], fits: &dyn Fn(&str) -> bool) -> Vec<NodeId> {
        let nameless = self.called(elements, &|_, own| {
            let mut names = [name, label, placeholder].into_iter();
            own.is_interactive && names.all(|given| given(own).is_none())
        });
        let with_text = self.with_text(&nameless, fits);
        if !with_text.is_empty() {
            return with_text;
        }
        let heads_it =
            |inner: &DomElement| inner.role == "heading" && inner.is_visible && fits(&inner.name);
        let ways: [Test<'_>; 4] = [
            &|_, own| own.attribute("title").is_some_and(fits),
            &|id, _| self.state.descendants(id).any(|(_, inner)| heads_it(inner)),
            &|id, _| self.column_heading(id).is_some_and(|text| fits(&text)),
            &|id, own| is_in(own, Pool::FieldsAndSelects) && fits(&self.text_before(id, own)),
        ];
        let mut found = ways.iter().map(|way| self.called(&nameless, way));
        found.find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Of these elements those that are called so.
    fn called(&self, elements: &[NodeId], is_called: Test<'_>) -> Vec<NodeId> {
        let is_it = |id: &NodeId| {
            self.state
                .element(*id)
                .is_some_and(|own| is_called(*id, own))
        };
        elements.iter().copied().filter(is_it).collect()
    }

    /// What shows a name and is called otherwise, as by an `aria-label`: for everybody who can see, it is there.
    pub fn showing(&self, phrase: &Phrase, pool: Pool) -> Vec<NodeId> {
        if phrase.name.is_empty() || phrase.role.is_none() {
            return Vec::new();
        }
        let (reachable, rest) = self.pool(phrase, pool);
        let sought = NameQuery::new(&phrase.name);
        let shows_it = |id: &NodeId| {
            let text = single_spaces(&self.state.visible_text(*id));
            self.is_visible(*id) && !text.is_empty() && sought.fits(&text, NameMatch::Folded)
        };
        reachable.into_iter().chain(rest).filter(shows_it).collect()
    }

    /// The heading of the column that an element stands in.
    pub(crate) fn column_heading(&self, id: NodeId) -> Option<String> {
        let around = |id: NodeId, is_meant: &dyn Fn(&str) -> bool| {
            let mut all = self.state.ancestor_elements(id);
            all.find(|(_, outer)| is_meant(&outer.role))
        };
        let element = self.state.element(id);
        let cell = match element.is_some_and(|element| is_cell(&element.role)) {
            true => id,
            false => around(id, &is_cell)?.0,
        };
        let (row, _) = around(cell, &|role| role == "row")?;
        self.column_of(row, cell)
    }

    /// Of elements inside each other those that carry the name.
    fn without_copies(&self, found: Vec<NodeId>) -> Vec<NodeId> {
        if found.len() < 2 {
            return found;
        }
        carriers(
            &found,
            |&id| self.state.ancestors(id),
            |&id| {
                self.state
                    .element(id)
                    .is_some_and(|element| element.is_interactive)
            },
            |_| false,
        )
    }

    /// The innermost elements without a name whose text fits.
    pub(super) fn with_text(
        &self,
        elements: &[NodeId],
        level: &dyn Fn(&str) -> bool,
    ) -> Vec<NodeId> {
        let found: Vec<NodeId> = elements
            .iter()
            .copied()
            .filter(|&id| self.text(id).is_some_and(|text| level(&text)))
            .collect();
        found
            .iter()
            .copied()
            .filter(|&outer| {
                let end = self.state.node(outer).end;
                !found.iter().any(|inner| inner.0 > outer.0 && inner.0 < end)
            })
            .collect()
    }

    /// What comes near, in words; if nothing does, a text that has the name and can't be used.
    fn nearest(&self, phrase: &Phrase, pool: Pool) -> Vec<String> {
        let mut near = self.nearest_elements(phrase, pool);
        if near.is_empty() && !pool.is_anything() && !phrase.name.is_empty() {
            let (all, _) = self.pool(phrase, Pool::Anything);
            near = self.with_text(&all, &|text| {
                NameQuery::new(&phrase.name).fits(text, NameMatch::Folded)
            });
        }
        near.into_iter()
            .take(SHOWN)
            .map(|id| match self.state.element(id) {
                Some(element) if element.name.is_empty() => {
                    let text = self.text(id).unwrap_or_default();
                    format!("{} {}", element.kind(), Json::String(text))
                }
                _ => self.in_words(id),
            })
            .collect()
    }

    /// What comes near: names with some of the words, then what the name may be a slip of.
    pub(super) fn nearest_elements(&self, phrase: &Phrase, pool: Pool) -> Vec<NodeId> {
        let container = phrase
            .within
            .as_ref()
            .and_then(|within| within.name.as_deref());
        let said = match phrase.name.as_str() {
            "" => container.unwrap_or_default(),
            name => name,
        };
        let sought = NameQuery::new(said);
        let candidates: Vec<(NodeId, &str)> = self
            .state
            .elements()
            .filter(|(_, element)| element.is_visible && is_in(element, pool))
            .filter(|(_, element)| !element.name.is_empty())
            .map(|(id, element)| (id, element.name.as_str()))
            .collect();
        let mut found: Vec<(usize, NodeId)> = candidates
            .iter()
            .map(|(id, name)| (sought.common_words(name), *id))
            .filter(|(common, _)| *common > 0)
            .collect();
        found.sort_by_key(|(common, id)| (usize::MAX - common, *id));
        if found.is_empty() {
            let names = candidates.iter().map(|(_, name)| *name).take(MOST_COMPARED);
            let near = did_you_mean(said, names);
            let near = candidates.iter().find(|(_, name)| Some(*name) == near);
            found.extend(near.map(|(id, _)| (1, *id)));
        }
        found.into_iter().map(|(_, id)| id).collect()
    }
}

pub(super) fn name(element: &DomElement) -> Option<&str> {
    Some(element.name.as_str()).filter(|name| !name.is_empty())
}

pub(super) fn label(element: &DomElement) -> Option<&str> {
    Some(element.label.as_str()).filter(|label| !label.is_empty())
}

pub(super) fn placeholder(element: &DomElement) -> Option<&str> {
    element
        .attribute("placeholder")
        .filter(|text| !text.is_empty())
}

/// Whether an element is one that is looked at.
pub(super) fn is_in(element: &DomElement, pool: Pool) -> bool {
    let (role, tag) = (element.role.as_str(), element.tag_name.as_str());
    match pool {
        Pool::Interactive | Pool::OfItem => element.is_interactive,
        Pool::NotExpanded => element.is_interactive && !element.is(State::Expanded),
        Pool::Destinations => {
            is_in(element, Pool::NotExpanded)
                && matches!(role, "link" | "tab" | "menuitem" | "treeitem" | "")
        }
        Pool::Expanded => element.is_interactive && element.is(State::Expanded),
        Pool::Fields => {
            element.is_interactive
                && (matches!(
                    role,
                    "textbox" | "searchbox" | "combobox" | "spinbutton" | "slider"
                ) || tag == "textarea"
                    || element.is(State::Editable)
                    || (tag == "input" && is_typed(element)))
                && tag != "select"
        }
        Pool::Checks => {
            element.is_interactive
                && matches!(
                    role,
                    "checkbox" | "switch" | "radio" | "menuitemcheckbox" | "menuitemradio"
                )
        }
        Pool::Search => {
            let says_so = |text: Option<&str>| {
                text.is_some_and(|text| tokens(text).iter().any(|word| word == "search"))
            };
            is_in(element, Pool::Fields)
                && (role == "searchbox"
                    || [name, label, placeholder]
                        .iter()
                        .any(|of| says_so(of(element))))
        }
        Pool::FieldsAndSelects => is_in(element, Pool::Fields) || is_in(element, Pool::Selects),
        Pool::Options => {
            element.is_interactive
                && tag != "option"
                && matches!(
                    role,
                    "radio" | "option" | "tab" | "treeitem" | "menuitem" | "menuitemradio"
                )
        }
        Pool::Selects => {
            element.is_interactive && (tag == "select" || matches!(role, "combobox" | "listbox"))
        }
        Pool::Files => tag == "input" && element.input_type().as_deref() == Some("file"),
        Pool::Selectable => {
            const ROLES: &[&str] = &[
                "checkbox",
                "switch",
                "radio",
                "option",
                "tab",
                "treeitem",
                "menuitemcheckbox",
                "menuitemradio",
            ];
            const STATES: &[&str] = &["aria-checked", "aria-selected", "aria-pressed"];
            ROLES.contains(&role) || STATES.iter().any(|name| element.attribute(name).is_some())
        }
        Pool::NoAnchors => {
            role != "link"
                || !element
                    .attribute("href")
                    .is_some_and(|href| href.len() > 1 && href.starts_with('#'))
        }
        Pool::Anything | Pool::Labelled => true,
    }
}

/// Whether text, a date or a colour is put into an input.
fn is_typed(element: &DomElement) -> bool {
    !matches!(
        element.input_type().as_deref(),
        Some("button" | "submit" | "reset" | "image" | "checkbox" | "radio" | "file" | "hidden")
    )
}
