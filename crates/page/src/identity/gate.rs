//! The gate before an action: whether an element of a page is the one that was meant. It decides by few exact facts, asks
//! that one element alone has them, and lets newcomers object. Each refusal is one failed check, and says which.

use super::fingerprint::LONGEST_TEXT;
use crate::containers::{Place, is_cell, is_field};
use crate::describe::is_frame;
use crate::dom::{DomElement, DomKind, NodeId};
use crate::selector::{Finder, Selector, looks_generated};
use crate::sentences::Phrase;
use crate::snapshot::single_spaces;
use crate::words::{fold_name, tokens};
use crate::{Container, ContainerKind, TextPlace};
use cuecard_source::value::cut;

/// How many elements a message lists.
const LISTED: usize = 3;

/// What an element was, to know it again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// Its role; empty if it has none.
    pub role: String,
    /// Its tag, if it has no role.
    pub tag: Option<String>,
    /// The type of an `input` that is no button.
    pub input_type: Option<String>,
    /// Its accessible name.
    pub name: String,
    /// The text on it, or before a field without a name, if that is not its name.
    pub text: Option<String>,
    /// Its test id.
    pub test_id: Option<String>,
    /// What it stands in, innermost first: its item, frames, dialogs, named sections.
    pub outline: Vec<Container>,
    /// Whether it is the innermost of these itself.
    pub is_container: bool,
    /// The folded names of the others of its kind in the innermost of these; `None` if they are not known.
    pub siblings: Option<Vec<String>>,
    /// Whether no other element of its kind on the page was called so.
    pub is_alone: bool,
    /// Which of several it is, if the sentence said so: 1 is the first, -1 the last.
    pub position: Option<i32>,
    /// The heading of its column, if it is known by that.
    pub column: Option<String>,
}

/// What the gate decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is the element.
    Same {
        /// The element.
        id: NodeId,
        /// Whether nothing about it changed.
        is_certain: bool,
    },
    /// It is the element, and a section around it is gone or has another name.
    Moved {
        /// The element.
        id: NodeId,
        /// What is not there any more.
        check: String,
    },
    /// Another name has its id: only a person can say whether it is the one.
    Renamed {
        /// What would take its place.
        id: NodeId,
        /// The failed check.
        check: String,
    },
    /// Several could be meant.
    Ambiguous {
        /// They, in the order of the page.
        candidates: Vec<NodeId>,
        /// The failed check.
        check: String,
    },
    /// None could.
    Gone {
        /// The failed check.
        check: String,
    },
}

impl Facts {
    /// What it was called: its name, else the text on it.
    pub fn called(&self) -> &str {
        match self.name.is_empty() {
            true => self.text.as_deref().unwrap_or_default(),
            false => &self.name,
        }
    }

    fn is_kind(&self, element: &DomElement) -> bool {
        // What takes a file is often hidden behind a button.
        (element.is_visible || self.input_type.as_deref() == Some("file"))
            && element.role == self.role
            && self.tag.as_ref().is_none_or(|tag| element.tag_name == *tag)
            && kind_of_input(element) == self.input_type
    }

    fn n_frames(&self) -> usize {
        let frames = self.outline.iter();
        frames
            .filter(|container| container.kind == ContainerKind::Frame)
            .count()
    }
}

/// A text that says something, else `None`.
fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// The type of an `input` that is no button: those are known by their role.
fn kind_of_input(element: &DomElement) -> Option<String> {
    element
        .input_type()
        .filter(|kind| !matches!(kind.as_str(), "button" | "submit" | "reset" | "image"))
}

/// A heading without a count at its end, unless there is nothing else in it.
fn without_count(text: &str) -> &str {
    let bare = text.trim_end_matches(|char: char| char.is_ascii_digit());
    match bare.ends_with(' ') && bare.contains(char::is_alphabetic) {
        true => bare.trim_end(),
        false => text,
    }
}

/// Whether a part of the page of this kind must be there once; the others are sections.
fn is_once(kind: ContainerKind) -> bool {
    kind.is_item() || matches!(kind, ContainerKind::Dialog | ContainerKind::Frame)
}

/// An id that a person gave to one element: none that a program made, or that counts.
fn is_authored(id: &str) -> bool {
    !looks_generated(id) && !id.ends_with(|char: char| char.is_ascii_digit())
}

fn without_signs(text: &str) -> String {
    text.chars()
        .filter(|char| char.is_alphabetic())
        .flat_map(char::to_lowercase)
        .collect()
}

impl Finder<'_> {
    /// What an element is, to know it again, with the place and the position that its sentence named.
    pub fn facts(&self, id: NodeId, said: Option<&Phrase>) -> Option<Facts> {
        let element = self.state.element(id)?;
        let position = said.and_then(|phrase| phrase.position);
        let outline = self.outline(id, said);
        let name = cut(&single_spaces(&element.name), LONGEST_TEXT).into_owned();
        let mut facts = Facts {
            role: element.role.clone(),
            tag: element.role.is_empty().then(|| element.tag_name.clone()),
            input_type: kind_of_input(element),
            text: self.text_beside_name(id, element),
            name,
            test_id: self.test_id(element).map(str::to_owned),
            position,
            ..Facts::default()
        };
        let mut outline = outline;
        if facts.called().is_empty()
            && !is_field(&element.role)
            && self.is_item(id, element)
            && let Some((container, _)) = self.container_of(id)
        {
            outline.insert(0, (self.range(id), container));
            facts.is_container = true;
        }
        let place = outline.first().map(|(place, _)| place.clone());
        facts.is_container |= position.is_none()
            && said.is_some_and(Phrase::is_container)
            && outline.first().is_some_and(|(place, one)| {
                self.element_of(place) == Some(id)
                    && (one.text.is_some() || element.name.is_empty())
            });
        facts.outline = outline
            .into_iter()
            .map(|(_, container)| container)
            .collect();
        if facts.called().is_empty() && facts.outline.first().is_some_and(|one| one.kind.is_item())
        {
            facts.column = self.column_heading(id).and_then(some);
        }
        facts.name = self.without_badge(id, element, &facts, place.as_ref());
        let is_twin = |(other, one): &(NodeId, &DomElement)| {
            *other != id && facts.is_kind(one) && self.is_called_as(*other, one, &facts)
        };
        facts.is_alone = !self.state.elements().any(|other| is_twin(&other));
        let mut siblings: Vec<String> = self
            .in_place(&facts, place.as_slice())
            .filter(|(other, _)| *other != id)
            .map(|(other, one)| fold_name(&self.name_or_text(other, one)))
            .collect();
        siblings.sort();
        siblings.dedup();
        facts.siblings = Some(siblings);
        Some(facts)
    }

    /// The text on an element, or before a field without a name, if that is not its name.
    fn text_beside_name(&self, id: NodeId, element: &DomElement) -> Option<String> {
        let text = match (is_field(&element.role), element.name.is_empty()) {
            (true, true) => self.near(id, element, &[]),
            (true, false) => return None,
            (false, true) => self.text_for_name(id, element)?,
            (false, false) => self.label_on(id)?,
        };
        some(text).filter(|text| fold_name(text) != fold_name(&element.name))
    }

    /// The name of an element without the count in an element of its own behind it, unless a sibling is called so, too.
    fn without_badge(
        &self,
        id: NodeId,
        element: &DomElement,
        facts: &Facts,
        place: Option<&Place>,
    ) -> String {
        let Some(bare) = self.name_before_badge(id, element) else {
            return facts.name.clone();
        };
        let folded = fold_name(&bare);
        let is_shared = self
            .in_place(facts, place.map(std::slice::from_ref).unwrap_or_default())
            .filter(|(other, _)| *other != id)
            .any(|(other, one)| {
                fold_name(&self.name_or_text(other, one)) == folded
                    || self
                        .name_before_badge(other, one)
                        .is_some_and(|bare| fold_name(&bare) == folded)
            });
        match is_shared {
            true => facts.name.clone(),
            false => bare,
        }
    }

    /// The name of an element before a count that stands in an element of its own; `None` if it has no such count.
    fn name_before_badge(&self, id: NodeId, element: &DomElement) -> Option<String> {
        let name = self.name_or_text(id, element);
        let bare = name.trim_end_matches(|char: char| char.is_ascii_digit());
        let count = &name[bare.len()..];
        let bare = bare.trim_end();
        let mut inside = self.state.descendants(id);
        (!count.is_empty()
            && !bare.is_empty()
            && inside.any(|(inner, _)| self.state.visible_text(inner).trim() == count))
        .then(|| bare.to_owned())
    }

    /// The elements of the kind in one of these places; on the whole page if there are none.
    fn in_place<'s>(
        &'s self,
        facts: &'s Facts,
        places: &'s [Place],
    ) -> impl Iterator<Item = (NodeId, &'s DomElement)> {
        let n_frames = facts.n_frames();
        self.state.elements().filter(move |(id, element)| {
            facts.is_kind(element)
                && (places.is_empty() || places.iter().any(|place| place.contains(&id.0)))
                && self.frames_around(*id) == n_frames
        })
    }

    fn frames_around(&self, id: NodeId) -> usize {
        let around = self.state.ancestor_elements(id);
        around
            .filter(|(_, outer)| is_frame(&outer.tag_name))
            .count()
    }

    /// Whether an element is called as what was meant.
    fn is_called_as(&self, id: NodeId, element: &DomElement, facts: &Facts) -> bool {
        let called = fold_name(facts.called());
        if facts.name.is_empty() && is_field(&element.role) {
            let text = self.text_beside_name(id, element).unwrap_or_default();
            return element.name.is_empty() && fold_name(&text) == called;
        }
        let name = self.name_or_text(id, element);
        fold_name(&name) == called
            || super::called::is_without_gaps(&name, facts.called())
            || self
                .name_before_badge(id, element)
                .is_some_and(|bare| fold_name(&bare) == called && !called.is_empty())
    }

    /// What an element stands in, innermost first, each with its part of the page.
    pub(crate) fn outline(&self, id: NodeId, said: Option<&Phrase>) -> Vec<(Place, Container)> {
        let mut around: Vec<(Place, Container)> = self
            .sections_around(id)
            .chain(
                self.item_of(id)
                    .map(|(item, container)| (self.range(item), container)),
            )
            .collect();
        if let Some(within) = said.and_then(|phrase| phrase.within.as_ref())
            && let Some(container) = self.container_said(id, within)
        {
            let mut places = self.places_of(&container);
            places.retain(|place| place.contains(&id.0));
            if let Some(place) = places
                .into_iter()
                .min_by_key(|place| place.end - place.start)
            {
                around.retain(|(known, _)| *known != place);
                around.push((place, container));
            }
        }
        around.retain(|(place, container)| {
            let found = self.sections_called(container);
            found.contains(place)
        });
        // A heading that names its item or dialog says nothing more.
        let whole: Vec<(Place, String)> = around
            .iter()
            .filter(|(_, one)| is_once(one.kind) || one.at == TextPlace::Name)
            .map(|(place, one)| {
                (
                    place.clone(),
                    fold_name(one.text.as_deref().unwrap_or_default()),
                )
            })
            .collect();
        around.retain(|(place, one)| {
            let text = fold_name(one.text.as_deref().unwrap_or_default());
            is_once(one.kind)
                || one.at == TextPlace::Name
                || !whole.iter().any(|(outer, title)| {
                    *title == text || (outer.contains(&place.start) && outer.end <= place.end)
                })
        });
        around.sort_by_key(|(place, _)| place.end - place.start);
        around.dedup_by(|(_, one), (_, other)| one.kind == other.kind && one.text == other.text);
        around
    }

    /// The named parts of the page around an element that are no items, with the headings that it stands below.
    fn sections_around(&self, id: NodeId) -> impl Iterator<Item = (Place, Container)> {
        const KINDS: &[ContainerKind] = &[
            ContainerKind::Frame,
            ContainerKind::Dialog,
            ContainerKind::Section,
        ];
        let named = self
            .state
            .ancestor_elements(id)
            .filter_map(move |(outer, element)| {
                let kind = *KINDS
                    .iter()
                    .find(|kind| self.is_container(outer, element, **kind))?;
                if self.is_item(outer, element) {
                    return None;
                }
                let text = self.container_texts(outer, kind).into_iter().next();
                if element.shadow_root
                    && text
                        .as_ref()
                        .is_some_and(|text| !self.is_host_title(id, outer, element, &text.text))
                {
                    return None;
                }
                if text.is_none() && kind == ContainerKind::Section {
                    return None;
                }
                let (text, at) = match text {
                    Some(text) => (Some(text.text), text.at),
                    None => (None, TextPlace::Name),
                };
                let container = Container {
                    kind,
                    text: text.map(|text| self.bare_title(kind, text)),
                    at,
                    ..Container::default()
                };
                Some((self.range(outer), container))
            });
        let headed = self
            .headings_above(id.0)
            .into_iter()
            .filter_map(move |text| {
                let container = Container {
                    kind: ContainerKind::Section,
                    text: Some(self.bare_title(ContainerKind::Section, text)),
                    at: TextPlace::Heading,
                    ..Container::default()
                };
                let mut places = self.sections_called(&container);
                places.retain(|place| place.contains(&id.0));
                let place = places
                    .into_iter()
                    .min_by_key(|place| place.end - place.start)?;
                Some((place, container))
            });
        named.chain(headed)
    }

    /// Whether a text names a host of a shadow root: a label, or one text that others put into it, and not what is called so.
    fn is_host_title(&self, id: NodeId, host: NodeId, element: &DomElement, text: &str) -> bool {
        let folded = fold_name(text);
        let own = self
            .state
            .element(id)
            .map(|own| fold_name(&self.name_or_text(id, own)));
        let nodes = &self.state.nodes[host.index()..self.state.node(host).end as usize];
        let is_run = |node: &crate::dom::DomNode| match &node.kind {
            DomKind::Text(run) => fold_name(&run.text) == folded,
            DomKind::Element(_) => false,
        };
        own != Some(folded.clone())
            && (element.attribute("aria-label").is_some() || nodes.iter().any(is_run))
    }

    /// A title without its count, if no other part of the page has it but for the count.
    fn bare_title(&self, kind: ContainerKind, text: String) -> String {
        let bare = without_count(&text);
        if bare.len() == text.len() || kind != ContainerKind::Section {
            return text;
        }
        let folded = fold_name(bare);
        let alike = self.places_by(kind, &|title| fold_name(without_count(title)) == folded);
        match alike.len() < 2 {
            true => bare.to_owned(),
            false => text,
        }
    }

    /// The parts of the page that a container of an outline is.
    fn sections_called(&self, container: &Container) -> Vec<Place> {
        let Some(text) = container
            .text
            .as_deref()
            .filter(|_| !is_once(container.kind))
        else {
            return self.places_of(container);
        };
        let folded = fold_name(text);
        let found = self.places_by(container.kind, &|title| fold_name(title) == folded);
        match found.is_empty() {
            true => self.places_by(container.kind, &|title| {
                fold_name(without_count(title)) == folded
            }),
            false => found,
        }
    }

    /// The part of the page that the outline is.
    ///
    /// # Errors
    /// The decision, if the outline is not there once.
    fn resolve_outline<'f>(&self, facts: &'f Facts) -> Result<Resolved<'f>, Decision> {
        let mut resolved = Resolved::default();
        for (nth, container) in facts.outline.iter().enumerate().rev() {
            let mut found = self.sections_called(container);
            if !resolved.places.is_empty() {
                found.retain(|place| {
                    resolved
                        .places
                        .iter()
                        .any(|outer| overlap(place, outer).is_some())
                });
            }
            let is_section = !is_once(container.kind);
            match found.len() {
                0 if is_section && (facts.is_alone || nth > 0) && !self.is_read(container) => {
                    resolved.missing.push(container);
                    continue;
                }
                0 => {
                    return Err(Decision::Gone {
                        check: format!("{} is not there", in_words(container)),
                    });
                }
                1 => {}
                _ if is_section => {}
                several => {
                    return Err(Decision::Ambiguous {
                        candidates: found.iter().map(|place| NodeId(place.start)).collect(),
                        check: format!("{} is there {several} times", in_words(container)),
                    });
                }
            }
            let outer = std::mem::take(&mut resolved.places);
            resolved.places = match outer.is_empty() {
                true => found.clone(),
                false => found
                    .iter()
                    .flat_map(|place| outer.iter().filter_map(|outer| overlap(place, outer)))
                    .collect(),
            };
            resolved.found.extend(found.iter().cloned());
            if nth == 0 {
                resolved.innermost = found;
            }
        }
        Ok(resolved)
    }

    /// Whether the name of a section can be read anywhere on the page.
    fn is_read(&self, container: &Container) -> bool {
        let folded = fold_name(container.text.as_deref().unwrap_or_default());
        self.state.nodes.iter().any(|node| match &node.kind {
            DomKind::Text(run) => run.is_visible && fold_name(&run.text) == folded,
            DomKind::Element(element) => {
                element.is_visible && !element.name.is_empty() && fold_name(&element.name) == folded
            }
        })
    }

    /// Whether an element of the page is the one that was meant. `selectors` say the id that a person gave it.
    pub fn gate(&self, facts: &Facts, selectors: &[Selector]) -> Decision {
        let resolved = match self.resolve_outline(facts) {
            Ok(found) => found,
            Err(refused) => return refused,
        };
        let places = &resolved.places;
        if facts.is_container {
            return match resolved.innermost.as_slice() {
                [place] => match self.element_of(place) {
                    Some(id) => Decision::Same {
                        id,
                        is_certain: true,
                    },
                    None => Decision::Gone {
                        check: "it is no element".to_owned(),
                    },
                },
                _ => Decision::Gone {
                    check: "the container is not there".to_owned(),
                },
            };
        }
        let authored = |id: &str| is_authored(id);
        let test_id = facts.test_id.as_deref().filter(|id| authored(id));
        let plain_id = selectors
            .iter()
            .find_map(Selector::plain_id)
            .filter(|id| authored(id));
        let has_id = |element: &DomElement| {
            (test_id.is_some() && self.test_id(element) == test_id)
                || (plain_id.is_some() && element.attribute("id") == plain_id)
        };
        let is_named = !facts.called().is_empty();
        let is_in_item = facts.outline.first().is_some_and(|one| one.kind.is_item());
        let claims = |(id, element): &(NodeId, &DomElement)| match (is_named, &facts.column) {
            (true, _) => self.is_called_as(*id, element, facts),
            (false, Some(column)) => {
                let heading = self.column_heading(*id).unwrap_or_default();
                (is_cell(&element.role) || self.name_or_text(*id, element).is_empty())
                    && fold_name(&heading) == fold_name(column)
            }
            (false, None) if is_in_item => self.is_called_as(*id, element, facts),
            (false, None) => {
                let is_only_of_type =
                    facts.is_alone && !matches!(facts.input_type.as_deref(), None | Some("text"));
                self.is_called_as(*id, element, facts) && (is_only_of_type || has_id(element))
            }
        };
        let mut found: Vec<NodeId> = self
            .in_place(facts, places)
            .filter(claims)
            .map(|(id, _)| id)
            .collect();
        if let Some(position) = facts.position {
            let at = match usize::try_from(position) {
                Ok(position) => position.checked_sub(1),
                Err(_) => found.len().checked_sub(position.unsigned_abs() as usize),
            };
            return match at.and_then(|at| found.get(at)) {
                Some(&id) => Decision::Same {
                    id,
                    is_certain: true,
                },
                None => Decision::Gone {
                    check: format!("only {} are there", found.len()),
                },
            };
        }
        if !facts.is_alone {
            found.retain(|&id| self.stands_right_in(id, facts, &resolved));
        }
        if found.len() > 1 {
            // What has a new part of the page around it is the copy.
            let kept = |id: &&NodeId| self.other_parts(**id, &resolved).is_empty();
            if let [one] = found.iter().filter(kept).collect::<Vec<_>>()[..] {
                found = vec![*one];
            }
        }
        let newcomers = || {
            self.in_place(facts, places).filter(|(id, element)| {
                !found.contains(id)
                    && !facts.siblings.as_ref().is_some_and(|siblings| {
                        siblings.contains(&fold_name(&self.name_or_text(*id, element)))
                    })
            })
        };
        match found.as_slice() {
            [id] => {
                let element = self.state.element(*id);
                let name = element
                    .map(|one| self.name_or_text(*id, one).into_owned())
                    .unwrap_or_default();
                let is_exact = single_spaces(&name) == single_spaces(facts.called());
                for (newcomer, one) in newcomers() {
                    let why = if has_id(one) {
                        "has its id"
                    } else if is_named && self.shows(newcomer, one, facts) {
                        "shows the same text"
                    } else if !is_exact
                        && without_signs(&self.name_or_text(newcomer, one))
                            == without_signs(facts.called())
                    {
                        "has its name but for digits and signs"
                    } else {
                        continue;
                    };
                    return Decision::Ambiguous {
                        candidates: vec![*id, newcomer],
                        check: format!("{} is new there and {why}", self.in_words(newcomer)),
                    };
                }
                // What has something new around it may be a copy.
                let has_outline = self.other_parts(*id, &resolved).is_empty();
                if facts.is_alone && !has_outline {
                    let elements = self.state.elements();
                    let twins: Vec<NodeId> = elements
                        .filter(|(other, one)| {
                            facts.is_kind(one) && self.is_called_as(*other, one, facts)
                        })
                        .map(|(other, _)| other)
                        .collect();
                    if twins.len() > 1 {
                        return Decision::Ambiguous {
                            candidates: twins,
                            check: "it stands elsewhere, and is not the only one".to_owned(),
                        };
                    }
                }
                if let Some(section) = resolved.missing.first() {
                    return Decision::Moved {
                        id: *id,
                        check: format!("{} is not there any more", in_words(section)),
                    };
                }
                let words = tokens(facts.called());
                let shares_word = newcomers().any(|(other, one)| {
                    let other = tokens(&self.name_or_text(other, one));
                    words.iter().any(|word| other.contains(word))
                });
                let has_ids = element.is_some_and(|one| {
                    self.test_id(one) == facts.test_id.as_deref()
                        && (plain_id.is_none() || one.attribute("id") == plain_id)
                });
                let has_text =
                    element.is_some_and(|one| self.text_beside_name(*id, one) == facts.text);
                Decision::Same {
                    id: *id,
                    is_certain: is_exact && has_ids && has_text && !shares_word && has_outline,
                }
            }
            [] => {
                let mut renamed = newcomers().filter(|(_, one)| has_id(one));
                match (renamed.next(), renamed.next()) {
                    (Some((id, _)), None) => Decision::Renamed {
                        id,
                        check: format!("{} has its id", self.in_words(id)),
                    },
                    _ => Decision::Gone {
                        check: format!("nothing there is called \"{}\"", facts.called()),
                    },
                }
            }
            several => Decision::Ambiguous {
                candidates: several.iter().copied().take(LISTED).collect(),
                check: format!(
                    "{} are there that are called \"{}\"",
                    several.len(),
                    facts.called()
                ),
            },
        }
    }

    /// The parts of the page around an element that are not those which are remembered.
    fn other_parts(&self, id: NodeId, resolved: &Resolved<'_>) -> Vec<(Place, Container)> {
        let mut outline = self.outline(id, None);
        outline.retain(|(place, _)| !resolved.found.contains(place));
        outline
    }

    /// Whether an element stands in no smaller part of the page than the one that is meant. In an item, a dialog or a frame
    /// sections may come and go.
    fn stands_right_in(&self, id: NodeId, facts: &Facts, resolved: &Resolved<'_>) -> bool {
        let size = |place: &Place| place.end - place.start;
        let place = resolved
            .innermost
            .iter()
            .find(|place| place.contains(&id.0));
        let is_whole = facts.outline.first().is_some_and(|one| is_once(one.kind));
        let others = self.other_parts(id, resolved);
        match place {
            Some(place) => others
                .iter()
                .all(|(other, one)| size(other) > size(place) || (is_whole && !is_once(one.kind))),
            None => others.is_empty(),
        }
    }

    /// Whether a text on an element is what was meant was called by, or what stood on that.
    fn shows(&self, id: NodeId, element: &DomElement, facts: &Facts) -> bool {
        if is_field(&element.role) {
            return false;
        }
        let Some(text) = self
            .label_on(id)
            .map(|text| fold_name(&text))
            .filter(|text| !text.is_empty())
        else {
            return false;
        };
        text == fold_name(facts.called())
            || facts
                .text
                .as_deref()
                .is_some_and(|own| fold_name(own) == text)
    }
}

/// The outline of what was meant, as the page has it.
#[derive(Default)]
struct Resolved<'f> {
    /// Where it is; the whole page if there are none.
    places: Vec<Place>,
    /// Each part of it.
    found: Vec<Place>,
    /// The innermost part.
    innermost: Vec<Place>,
    /// Sections that are not there any more.
    missing: Vec<&'f Container>,
}

fn overlap(one: &Place, other: &Place) -> Option<Place> {
    let place = one.start.max(other.start)..one.end.min(other.end);
    (!place.is_empty()).then_some(place)
}

fn in_words(container: &Container) -> String {
    match &container.text {
        Some(text) => format!("the {} \"{text}\"", container.kind.as_str()),
        None => format!("the {}", container.kind.as_str()),
    }
}
