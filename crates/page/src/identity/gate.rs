//! The gate before an action: whether an element of a page is the one that was meant.
//!
//! It decides by few exact facts, asks that one element alone has them, and lets newcomers object. Each refusal is one failed
//! check, and says which.

use crate::containers::{Place, holds_value, is_cell};
use crate::dom::{DomElement, DomKind, HopKind, NodeId};
use crate::selector::{Finder, Pattern, Selector, is_counted, looks_generated};
use crate::snapshot::single_spaces;
use crate::words::{fold_name, tokens};
use crate::{Container, Fingerprint, TextPlace};

/// How many elements a message lists.
const LISTED: usize = 3;

/// How many elements may be put around another one, or taken away, so that it still stands where it stood.
const MOST_AROUND: usize = 2;

/// What a step remembers of its element.
#[derive(Debug, Clone, Copy)]
pub struct Remembered<'a> {
    /// Its selectors, the most lasting first.
    pub selectors: &'a [Selector],
    /// What it was.
    pub fingerprint: &'a Fingerprint,
}

/// Whether an element is still the one that was meant. A check is in words, as a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Same {
        /// The element.
        id: NodeId,
        /// Whether its place, name, text and ids are as they were, and nothing new shares a word with its name.
        is_certain: bool,
    },
    /// It is, and a section around it is gone or has another name.
    Healed {
        /// The element.
        id: NodeId,
        /// What changed.
        check: String,
    },
    /// Something that is called otherwise has its id: whether it is the one, only a person can say.
    Renamed {
        /// What would take its place.
        id: NodeId,
        /// The failed check.
        check: String,
    },
    /// Several could be.
    Ambiguous {
        /// The first of them, in the order of the page.
        candidates: Vec<NodeId>,
        /// The failed check.
        check: String,
    },
    /// None is.
    Gone {
        /// The failed check.
        check: String,
    },
}

impl Verdict {
    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Same { .. } => "same",
            Self::Healed { .. } => "healed",
            Self::Renamed { .. } => "renamed",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Gone { .. } => "gone",
        }
    }

    /// The element to act on; none unless it is the same or healed.
    pub fn target(&self) -> Option<NodeId> {
        match self {
            Self::Same { id, .. } | Self::Healed { id, .. } => Some(*id),
            Self::Renamed { .. } | Self::Ambiguous { .. } | Self::Gone { .. } => None,
        }
    }

    /// The check that failed, or what changed; empty if it is the same.
    pub fn check(&self) -> &str {
        match self {
            Self::Same { .. } => "",
            Self::Healed { check, .. }
            | Self::Renamed { check, .. }
            | Self::Ambiguous { check, .. }
            | Self::Gone { check } => check,
        }
    }
}

/// An outline as a page has it.
#[derive(Default)]
pub(super) struct Resolved<'f> {
    /// Where the element must be; anywhere if there are none.
    places: Vec<Place>,
    /// Each part of the outline.
    found: Vec<Place>,
    /// The innermost part.
    innermost: Vec<Place>,
    /// Sections that are not there any more.
    missing: Vec<&'f Container>,
}

impl Finder<'_> {
    /// Whether the element that was meant is still there. `selectors` say the id that a person gave it.
    pub fn verdict(&self, remembered: Remembered<'_>) -> Verdict {
        let known = remembered.fingerprint;
        let resolved = match self.resolve_outline(known) {
            Ok(resolved) => resolved,
            Err(refused) => return refused,
        };
        if known.is_container {
            let [place] = resolved.innermost.as_slice() else {
                return Verdict::Gone {
                    check: "its place is not there once".to_owned(),
                };
            };
            return match self.element_of(place) {
                Some(id) => self.unless_missing(
                    id,
                    &resolved,
                    !self.is_elsewhere(id, remembered, &resolved),
                ),
                None => Verdict::Gone {
                    check: "its place is no element".to_owned(),
                },
            };
        }
        let plain_ids = remembered.selectors.iter().find_map(Selector::plain_id);
        let ids = Ids {
            test: known.test_id.as_deref().filter(|id| is_authored(id)),
            plain: plain_ids.filter(|id| is_authored(id)),
        };
        let mut found = self.claimants(known, &resolved, ids);
        if let Some(position) = known.position {
            return self.at_position(&found, position, known);
        }
        if !known.alone {
            found.retain(|&id| self.stands_right_in(id, known, &resolved));
        }
        match found.as_slice() {
            [id] => self.unless_vetoed(*id, remembered, &resolved, ids),
            [] => self.renamed_or_gone(known, &resolved, ids),
            several => Verdict::Ambiguous {
                candidates: several.iter().copied().take(LISTED).collect(),
                check: format!(
                    "{} elements are {}{}",
                    several.len(),
                    kind_and_name(known),
                    in_place(known)
                ),
            },
        }
    }

    /// The elements of its role that share the most words with its name, for messages.
    pub fn similar(&self, known: &Fingerprint) -> Vec<NodeId> {
        let words = tokens(known.called());
        let visible = self
            .state
            .elements()
            .filter(|(_, element)| element.is_visible);
        let alike = visible.filter(|(_, element)| element.role == known.role);
        let mut near: Vec<(usize, NodeId)> = alike
            .map(|(id, element)| {
                let other = tokens(&self.name_or_text(id, element));
                (
                    words.iter().filter(|&word| other.contains(word)).count(),
                    id,
                )
            })
            .collect();
        near.sort_by_key(|&(n_words, id)| (usize::MAX - n_words, id));
        near.into_iter().take(LISTED).map(|(_, id)| id).collect()
    }

    /// The elements of the kind in its place that have its name or its own text; of what has neither, its id or column.
    fn claimants(&self, known: &Fingerprint, resolved: &Resolved<'_>, ids: Ids<'_>) -> Vec<NodeId> {
        let is_in_item = known.outline.first().is_some_and(|one| one.kind.is_item());
        // What takes a file or a password says what it is.
        let is_only_of_type =
            known.alone && !matches!(known.input_type.as_deref(), None | Some("text"));
        let claims = |(id, element): &(NodeId, &DomElement)| match &known.column {
            Some(column) => {
                let heading = self.column_heading(*id).unwrap_or_default();
                (is_cell(&element.role) || self.name_or_text(*id, element).is_empty())
                    && fold_name(&heading) == fold_name(column)
            }
            None => {
                self.is_called_as(*id, element, known)
                    && (!known.called().is_empty()
                        || is_in_item
                        || is_only_of_type
                        || self.has_one_of(element, ids))
            }
        };
        let all = self.of_kind(known, &resolved.places).filter(claims);
        all.map(|(id, _)| id).collect()
    }

    fn at_position(&self, found: &[NodeId], position: i32, known: &Fingerprint) -> Verdict {
        let at = match usize::try_from(position) {
            Ok(position) => position.checked_sub(1),
            Err(_) => found.len().checked_sub(position.unsigned_abs() as usize),
        };
        match at.and_then(|at| found.get(at)) {
            Some(&id) => Verdict::Same {
                id,
                is_certain: true,
            },
            None => Verdict::Gone {
                check: format!(
                    "{} elements are {}{}",
                    found.len(),
                    kind_and_name(known),
                    in_place(known)
                ),
            },
        }
    }

    /// The one element that claims to be it, if no newcomer does too.
    fn unless_vetoed(
        &self,
        id: NodeId,
        remembered: Remembered<'_>,
        resolved: &Resolved<'_>,
        ids: Ids<'_>,
    ) -> Verdict {
        let known = remembered.fingerprint;
        let Some(element) = self.state.element(id) else {
            return Verdict::Gone {
                check: String::new(),
            };
        };
        let is_exact =
            single_spaces(&self.name_or_text(id, element)) == single_spaces(known.called());
        let newcomers: Vec<(NodeId, &DomElement)> = self
            .newcomers(known, resolved)
            .filter(|(other, _)| *other != id)
            .collect();
        let without_signs = |text: &str| tokens(text).concat().replace(char::is_numeric, "");
        // Where it stood, if it stands elsewhere by now and one name is gone: what had that may have its own now. If more are
        // gone, another part of a list is shown. Copies count there.
        let old_path = match remembered.selectors.last().map(|xpath| &xpath.pattern) {
            Some(Pattern::XPath(path)) => path.as_str(),
            _ => "",
        };
        let stands_there = |one: &DomElement| without_index(&one.xpath) == without_index(old_path);
        let n_leavers = self.n_leavers(id, known, resolved);
        let may_be_renamed = element.xpath != old_path
            && newcomers.iter().any(|(_, one)| stands_there(one))
            && n_leavers == 1;
        if (n_leavers > 0 || known.siblings.is_none())
            && n_other_tags(&element.xpath, old_path) > MOST_AROUND
        {
            // Its name is found elsewhere, and another name is gone: where its kind still stands, it may be the renamed one.
            let in_place = self.of_kind(known, &resolved.places);
            let mut left = in_place.filter(|(other, one)| {
                *other != id && n_other_tags(&one.xpath, old_path) <= MOST_AROUND
            });
            if let Some((other, _)) = left.next() {
                return Verdict::Ambiguous {
                    candidates: vec![id, other],
                    check: format!(
                        "it stands elsewhere, {} stands where it stood, and the name of another one is gone",
                        self.in_words(other)
                    ),
                };
            }
        }
        for &(newcomer, one) in &newcomers {
            let name = self.name_or_text(newcomer, one);
            let why = match () {
                () if self.has_one_of(one, ids) => "has its id",
                () if self.shows(newcomer, one, known) => "shows its text",
                () if !is_exact && without_signs(&name) == without_signs(known.called()) => {
                    "has its name but for digits and signs"
                }
                () if stands_there(one) && may_be_renamed => "stands where it stood",
                () => continue,
            };
            return Verdict::Ambiguous {
                candidates: vec![id, newcomer],
                check: format!("{} is new there and {why}", self.in_words(newcomer)),
            };
        }
        // What stands in an item, a dialog or a frame now that it did not stand in may belong to something else.
        let new_parts = self.new_parts(id, resolved);
        let mut wholes = new_parts.iter().filter(|(_, part)| part.is_whole());
        if let (Some((_, part)), true) = (wholes.next(), known.siblings.is_some()) {
            return Verdict::Gone {
                check: format!("{} stands in {} now", kind_and_name(known), in_words(part)),
            };
        }
        let is_elsewhere = self.is_elsewhere(id, remembered, resolved);
        // What has something new around it may be a copy, and what stands in nothing but the page, or below a heading.
        let is_told_by_place = known
            .outline
            .iter()
            .any(|one| one.is_whole() || one.at == TextPlace::Name);
        if known.alone && (is_elsewhere || !is_told_by_place) {
            let elements = self.state.elements().filter(|(other, one)| {
                *other != id && known.is_kind(one) && self.is_called_as(*other, one, known)
            });
            let mut twins: Vec<NodeId> =
                elements.map(|(other, _)| other).take(LISTED - 1).collect();
            if !twins.is_empty() {
                twins.insert(0, id);
                return Verdict::Ambiguous {
                    candidates: twins,
                    check: "it was the only one, and has a copy".to_owned(),
                };
            }
        }
        let words = tokens(known.called());
        let shares_word = newcomers.iter().any(|&(other, one)| {
            let other = tokens(&self.name_or_text(other, one));
            words.iter().any(|word| other.contains(word))
        });
        let has_ids = self.test_id(element) == known.test_id.as_deref()
            && (ids.plain.is_none() || element.attribute("id") == ids.plain);
        let has_text = known.text.is_none() || self.text_beside_name(id, element) == known.text;
        let is_certain = is_exact && has_ids && has_text && !is_elsewhere && !shares_word;
        self.unless_missing(id, resolved, is_certain)
    }

    /// The element that is meant, moved if a section around it is not there any more.
    fn unless_missing(&self, id: NodeId, resolved: &Resolved<'_>, is_certain: bool) -> Verdict {
        match resolved.missing.first() {
            None => Verdict::Same { id, is_certain },
            Some(section) => Verdict::Healed {
                id,
                check: format!("{} is gone or has another name", in_words(section)),
            },
        }
    }

    /// Nothing is called so: a newcomer that has its id may be it under another name.
    fn renamed_or_gone(
        &self,
        known: &Fingerprint,
        resolved: &Resolved<'_>,
        ids: Ids<'_>,
    ) -> Verdict {
        let newcomers = self.newcomers(known, resolved);
        let mut renamed = newcomers.filter(|(_, one)| self.has_one_of(one, ids));
        match (renamed.next(), renamed.next()) {
            (Some((id, one)), None) => {
                let mark = match ids.test.filter(|_| self.test_id(one) == ids.test) {
                    Some(id) => format!("test id `{id}`"),
                    None => format!("id `{}`", ids.plain.unwrap_or_default()),
                };
                Verdict::Renamed {
                    id,
                    check: format!(
                        "{} has the {mark} of \"{}\"",
                        self.in_words(id),
                        known.called()
                    ),
                }
            }
            _ => Verdict::Gone {
                check: format!("no element is {}{}", kind_and_name(known), in_place(known)),
            },
        }
    }

    /// The elements of the kind in its place that were not there.
    fn newcomers<'s>(
        &'s self,
        known: &'s Fingerprint,
        resolved: &'s Resolved<'_>,
    ) -> impl Iterator<Item = (NodeId, &'s DomElement)> {
        let is_sibling = known.sibling_names();
        self.of_kind(known, &resolved.places)
            .filter(move |(id, element)| {
                let name = fold_name(&self.name_or_text(*id, element));
                !is_sibling(&name) && !self.is_called_as(*id, element, known)
            })
    }

    /// How many names of its siblings are not there any more.
    fn n_leavers(&self, id: NodeId, known: &Fingerprint, resolved: &Resolved<'_>) -> usize {
        let others = self
            .of_kind(known, &resolved.places)
            .filter(|(other, _)| *other != id);
        known
            .n_leavers(others.map(|(other, element)| fold_name(&self.name_or_text(other, element))))
    }

    /// The part of the page that the outline of an element is.
    ///
    /// # Errors
    /// The verdict, if the outline is not there once.
    pub(super) fn resolve_outline<'f>(
        &self,
        known: &'f Fingerprint,
    ) -> Result<Resolved<'f>, Verdict> {
        let mut resolved = Resolved::default();
        for (nth, container) in known.outline.iter().enumerate().rev() {
            let mut found = self.parts_called(container);
            if !resolved.places.is_empty() {
                let outer = &resolved.places;
                found.retain(|place| outer.iter().any(|outer| overlap(place, outer).is_some()));
            }
            let is_section = !container.is_whole();
            match found.len() {
                0 if is_section
                    && (known.alone || nth > 0)
                    && (!self.is_read(container) || self.is_shown_inside(known, nth)) =>
                {
                    resolved.missing.push(container);
                    continue;
                }
                0 => {
                    return Err(Verdict::Gone {
                        check: format!("{} is not there", in_words(container)),
                    });
                }
                several if several > 1 && !is_section => {
                    let places = found.iter().take(LISTED);
                    return Err(Verdict::Ambiguous {
                        candidates: places.map(|place| NodeId(place.start)).collect(),
                        check: format!("{} is there {several} times", in_words(container)),
                    });
                }
                _ => {}
            }
            resolved.places = match std::mem::take(&mut resolved.places) {
                outer if outer.is_empty() => found.clone(),
                outer => {
                    let inside =
                        |place| outer.iter().filter_map(move |outer| overlap(place, outer));
                    found.iter().flat_map(inside).collect()
                }
            };
            resolved.found.extend(found.iter().cloned());
            if nth == 0 {
                resolved.innermost = found;
            }
        }
        Ok(resolved)
    }

    /// Whether what was inside a section shows that it is the same under another name: a named part of it is there once, and
    /// what is meant was the only one of its name. A menu may still have the old name.
    fn is_shown_inside(&self, known: &Fingerprint, nth: usize) -> bool {
        let mut inside = known.outline[..nth].iter();
        known.alone && inside.any(|one| one.text.is_some() && self.parts_called(one).len() == 1)
    }

    /// Whether the name of a section can be read anywhere on the page.
    fn is_read(&self, container: &Container) -> bool {
        let folded = container.folded_text();
        self.state.nodes.iter().any(|node| match &node.kind {
            DomKind::Text(run) => run.is_visible && fold_name(&run.text) == folded,
            DomKind::Element(element) => {
                element.is_visible && !element.name.is_empty() && fold_name(&element.name) == folded
            }
        })
    }

    /// The parts of the page around an element that are not those which are remembered.
    fn new_parts(&self, id: NodeId, resolved: &Resolved<'_>) -> Vec<(Place, Container)> {
        let mut outline = self.outline(id, None);
        outline.retain(|(place, _)| !resolved.found.contains(place));
        outline
    }

    /// Whether something is around an element that was not around what was meant: a named part of the page, or a component.
    fn is_elsewhere(
        &self,
        id: NodeId,
        remembered: Remembered<'_>,
        resolved: &Resolved<'_>,
    ) -> bool {
        let n_roots = |kinds: &mut dyn Iterator<Item = HopKind>| {
            kinds.filter(|kind| *kind == HopKind::Shadow).count()
        };
        let xpath = remembered.selectors.last();
        let before = xpath.map_or(0, |xpath| {
            n_roots(&mut xpath.hops.iter().map(|hop| hop.kind))
        });
        let element = self.state.element(id);
        let now = element.map_or(0, |element| {
            n_roots(&mut element.scope.iter().map(|hop| hop.kind))
        });
        now != before || !self.new_parts(id, resolved).is_empty()
    }

    /// Whether an element stands in no smaller part of the page than the one that is meant. In an item, a dialog or a frame
    /// sections may come and go.
    fn stands_right_in(&self, id: NodeId, known: &Fingerprint, resolved: &Resolved<'_>) -> bool {
        let size = |place: &Place| place.end - place.start;
        let place = resolved
            .innermost
            .iter()
            .find(|place| place.contains(&id.0));
        let is_whole = known.outline.first().is_some_and(Container::is_whole);
        let parts = self.new_parts(id, resolved);
        match place {
            Some(place) => parts
                .iter()
                .all(|(other, one)| size(other) > size(place) || (is_whole && !one.is_whole())),
            None => parts.is_empty(),
        }
    }

    /// Whether an element is called as what was meant.
    pub(super) fn is_called_as(
        &self,
        id: NodeId,
        element: &DomElement,
        known: &Fingerprint,
    ) -> bool {
        if known.name.is_empty() {
            let text = || self.text_beside_name(id, element).unwrap_or_default();
            match &known.text {
                None => return element.name.is_empty(),
                Some(own) if holds_value(element) => {
                    return element.name.is_empty() && fold_name(&text()) == fold_name(own);
                }
                Some(_) => {}
            }
        }
        let called = fold_name(known.called());
        let name = self.name_or_text(id, element);
        fold_name(&name) == called
            || super::called::is_without_gaps(&name, known.called())
            || (!called.is_empty()
                && self
                    .name_before_badge(id, element)
                    .is_some_and(|bare| fold_name(&bare) == called))
    }

    /// Whether a text on an element is what the one that was meant is called by, or what stood on that.
    fn shows(&self, id: NodeId, element: &DomElement, known: &Fingerprint) -> bool {
        let label = || self.label_on(id).unwrap_or_default();
        if holds_value(element) || known.called().is_empty() {
            return false;
        }
        let text = fold_name(&label());
        let texts = [Some(known.called()), known.text.as_deref()];
        !text.is_empty()
            && texts
                .into_iter()
                .flatten()
                .any(|own| fold_name(own) == text)
    }

    fn has_one_of(&self, element: &DomElement, ids: Ids<'_>) -> bool {
        (ids.test.is_some() && self.test_id(element) == ids.test)
            || (ids.plain.is_some() && element.attribute("id") == ids.plain)
    }
}

/// The ids that a person gave to one element.
#[derive(Clone, Copy)]
struct Ids<'a> {
    test: Option<&'a str>,
    plain: Option<&'a str>,
}

/// Whether a person gave an id to one element: a program made it up, or counts with it, otherwise.
fn is_authored(id: &str) -> bool {
    !looks_generated(id) && !is_counted(id)
}

/// How many tags of a path are not around both ends of another one: those of what was put around it, or taken away.
fn n_other_tags(path: &str, other: &str) -> usize {
    let tags = |path: &'_ str| -> Vec<String> {
        path.split('/')
            .map(|part| without_index(part).to_owned())
            .collect()
    };
    let (one, other) = (tags(path), tags(other));
    let shortest = one.len().min(other.len());
    let n_same = |pairs: &mut dyn Iterator<Item = (&String, &String)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let before = n_same(&mut one.iter().zip(&other));
    let after = n_same(&mut one.iter().rev().zip(other.iter().rev()));
    one.len().max(other.len()) - (before + after).min(shortest)
}

/// A path without the position of its last part among those of its tag.
fn without_index(xpath: &str) -> &str {
    xpath
        .rsplit_once('[')
        .filter(|(_, last)| !last.contains('/'))
        .map_or(xpath, |(path, _)| path)
}

fn overlap(one: &Place, other: &Place) -> Option<Place> {
    let place = one.start.max(other.start)..one.end.min(other.end);
    (!place.is_empty()).then_some(place)
}

fn kind_and_name(known: &Fingerprint) -> String {
    let kind = match known.role.as_str() {
        "" => known.tag.as_str(),
        role => role,
    };
    match known.called() {
        "" => match &known.column {
            Some(column) => format!("a {kind} in the column \"{column}\""),
            None => format!("a {kind} without a name"),
        },
        name => format!("{kind} \"{name}\""),
    }
}

fn in_place(known: &Fingerprint) -> String {
    match known.outline.first() {
        Some(place) => format!(" in {}", in_words(place)),
        None => String::new(),
    }
}

fn in_words(container: &Container) -> String {
    match &container.text {
        Some(text) => format!("the {} \"{text}\"", container.kind.as_str()),
        None => format!("the {}", container.kind.as_str()),
    }
}
