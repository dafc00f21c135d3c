//! Compares what was remembered of an element with a page: the same, healed, renamed, ambiguous, a wrong target, or gone.

use std::fmt;

use super::fingerprint::is_by_column;
use super::place::is_in;
use super::renamed::{are_by_id, has_plain_id};
use crate::Fingerprint;
use crate::containers::{Place, is_cell, is_field};
use crate::dom::{DomElement, NodeId};
use crate::selector::{Finder, Pattern, Selector};
use crate::snapshot::single_spaces;
use crate::words::{fold, fold_name};

/// What an element must score to be taken for the one that was meant, and by how much more than the next.
const ENOUGH: f64 = 0.85;
const MARGIN: f64 = 0.15;

/// What each part weighs.
const NAME: f64 = 0.35;
const PATH: f64 = 0.2;
const NEAR: f64 = 0.15;
const TEST_ID: f64 = 0.15;
const ORDINAL: f64 = 0.15;

/// The place among its like of nothing: it is counted from 1.
const NO_ORDINAL: usize = 0;

/// Sums of these weights are off by less than this.
const ROUNDING: f64 = 1e-9;

/// How many elements a message lists.
const SHOWN: usize = 3;

/// How many elements are compared.
const MOST_SCORED: usize = 100;

/// What a step remembers of its element.
#[derive(Debug, Clone, Copy)]
pub struct Remembered<'a> {
    /// Its selectors, the most lasting first.
    pub selectors: &'a [Selector],
    /// What it was.
    pub fingerprint: &'a Fingerprint,
}

/// Whether an element is still the one that was meant.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is.
    Same(NodeId),
    /// It is, although it is not as it was; its name is.
    Healed(Healing),
    /// Something else has its id or shows its name, but is called otherwise: whether it is the one, only a person can say.
    Renamed {
        /// What would take its place.
        proposed: Healing,
        /// The nearest elements, best first.
        nearest: Vec<Scored>,
    },
    /// Several could be.
    Ambiguous {
        /// The best of them, best first.
        candidates: Vec<Scored>,
    },
    /// The selector leads to something else, and nothing is near enough.
    WrongTarget {
        /// What it leads to.
        found: NodeId,
        /// What differs: field, what was remembered, what is there.
        differences: Vec<Difference>,
        /// The nearest elements, best first.
        nearest: Vec<Scored>,
    },
    /// The selector leads nowhere, and nothing is near enough.
    Gone {
        /// The nearest elements, best first.
        nearest: Vec<Scored>,
    },
}

impl Verdict {
    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Same(_) => "same",
            Self::Healed(_) => "healed",
            Self::Renamed { .. } => "renamed",
            Self::Ambiguous { .. } => "ambiguous",
            Self::WrongTarget { .. } => "wrong target",
            Self::Gone { .. } => "gone",
        }
    }

    /// The element to act on; none unless it is the same or healed.
    pub fn target(&self) -> Option<NodeId> {
        match self {
            Self::Same(id) => Some(*id),
            Self::Healed(healing) => Some(healing.target),
            _ => None,
        }
    }
}

/// An element that takes the place of the one that was meant.
#[derive(Debug, Clone, PartialEq)]
pub struct Healing {
    /// The element.
    pub target: NodeId,
    /// What it scores, from 0 to 1.
    pub score: f64,
    /// What the next best scores; 0 if there is none.
    pub next: f64,
    /// Why it is taken, in words.
    pub reason: String,
}

/// An element with what it scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The element.
    pub id: NodeId,
    /// From 0 to 1.
    pub score: f64,
    /// The element in words.
    pub words: String,
}

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub field: &'static str,
    /// What was remembered.
    pub remembered: String,
    /// What is there.
    pub found: String,
}

impl fmt::Display for Scored {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({:.2})", self.words, self.score)
    }
}

impl Finder<'_> {
    /// Whether the element that was meant is still there. Nothing is chosen outside of the container that it was told
    /// apart by, and nothing for its position unless the sentence named that.
    pub fn verdict(&self, remembered: Remembered<'_>) -> Verdict {
        let fingerprint = remembered.fingerprint;
        let place = match self.place_within(&fingerprint.within) {
            Ok(Some(place)) if self.is_item_of_another_heading(&place, fingerprint) => {
                let nearest = self.nearest_to(fingerprint);
                return Verdict::Gone { nearest };
            }
            Ok(place) => place,
            Err(0) => {
                let nearest = self.nearest_to(fingerprint);
                return Verdict::Gone { nearest };
            }
            Err(_) => {
                let candidates = self.nearest_to(fingerprint);
                return Verdict::Ambiguous { candidates };
            }
        };
        if let Some(place) = place.as_ref().filter(|_| fingerprint.is_container) {
            return self.container(place, fingerprint);
        }
        if let Some(place) = place.as_ref()
            && is_by_column(fingerprint)
            && (is_cell(&fingerprint.role) || !are_by_id(remembered.selectors))
        {
            match self.cells_in_column(place, fingerprint).as_slice() {
                [] if is_cell(&fingerprint.role) => {}
                [] => return self.not_in_its_column(place, remembered),
                [one] => return Verdict::Same(*one),
                several => return self.among(several.iter().copied(), fingerprint),
            }
        }
        let found = remembered
            .selectors
            .first()
            .and_then(|selector| self.one(selector));
        let inside = found.filter(|&id| is_in(place.as_ref(), id));
        if fingerprint.position.is_some() || !fingerprint.by_position.is_empty() {
            return self.by_position(remembered, place.as_ref());
        }
        if let Some(id) = inside
            && self.is_same(id, remembered, place.as_ref())
        {
            return match self.rivals(id, remembered, place.as_ref(), true) {
                rivals if rivals.is_empty() => Verdict::Same(id),
                rivals => self.among(std::iter::once(id).chain(rivals), fingerprint),
            };
        }
        let possible: Vec<Scored> = self
            .scored(fingerprint)
            .into_iter()
            .filter(|scored| is_in(place.as_ref(), scored.id))
            .filter(|scored| {
                self.is_in_its_place(scored.id, fingerprint)
                    && self.is_known_by_text(scored.id, remembered, place.as_ref())
            })
            .collect();
        let best = possible.first().map_or(0.0, |scored| scored.score);
        if best + ROUNDING >= ENOUGH {
            return self.healed(possible, found, remembered, place.as_ref());
        }
        let next = possible.get(1).map_or(0.0, |scored| scored.score);
        let taken = |(target, reason): (NodeId, String)| Healing {
            target,
            score: self.score(target, fingerprint, None),
            next,
            reason,
        };
        match self.badged(remembered, place.as_ref()).as_slice() {
            [] => {}
            [badged] => {
                let reason = "it has another count beside its name".to_owned();
                return Verdict::Healed(taken((*badged, reason)));
            }
            several => return self.among(several.iter().copied(), fingerprint),
        }
        let nearest = self.nearest_to(fingerprint);
        if let Some(renamed) = self.renamed(remembered, place.as_ref()) {
            let proposed = taken(renamed);
            return Verdict::Renamed { proposed, nearest };
        }
        let Some(found) = found else {
            return Verdict::Gone { nearest };
        };
        match self.differences(found, fingerprint) {
            // All is as it was, and tells nobody whether it is this one.
            differences if differences.is_empty() => Verdict::Ambiguous {
                candidates: nearest,
            },
            differences => Verdict::WrongTarget {
                found,
                differences,
                nearest,
            },
        }
    }

    /// What stands in the row, and in another column.
    fn not_in_its_column(&self, row: &Place, remembered: Remembered<'_>) -> Verdict {
        let fingerprint = remembered.fingerprint;
        let nearest = self.nearest_to(fingerprint);
        let mut twins = self.twins(fingerprint).into_iter();
        match twins.find(|&twin| is_in(Some(row), twin)) {
            Some(found) => Verdict::WrongTarget {
                found,
                differences: self.differences(found, fingerprint),
                nearest,
            },
            None => Verdict::Gone { nearest },
        }
    }

    /// The cells of a row that stand in a column, whatever they show; or what has no name in them.
    pub(super) fn cells_in_column(&self, row: &Place, fingerprint: &Fingerprint) -> Vec<NodeId> {
        let column = fold_name(&fingerprint.near);
        self.state
            .elements()
            .filter(|(id, element)| row.contains(&id.0) && is_kind(element, fingerprint))
            .filter(|(id, element)| {
                is_cell(&element.role)
                    || (element.is_visible && self.name_or_text(*id, element).is_empty())
            })
            .filter(|(id, _)| {
                let heading = self.column_heading(*id);
                heading.is_some_and(|heading| fold_name(&heading) == column)
            })
            .map(|(id, _)| id)
            .collect()
    }

    /// The element that a container is: known by its text alone, if it is of the kind and in the place that it was.
    fn container(&self, place: &Place, fingerprint: &Fingerprint) -> Verdict {
        let nearest = || self.nearest_to(fingerprint);
        let Some(id) = self.element_of(place) else {
            return Verdict::Gone { nearest: nearest() };
        };
        let is_it = self
            .state
            .element(id)
            .is_some_and(|element| is_kind(element, fingerprint))
            && self.is_in_its_place(id, fingerprint);
        match is_it {
            true => Verdict::Same(id),
            false => Verdict::WrongTarget {
                found: id,
                differences: self.differences(id, fingerprint),
                nearest: nearest(),
            },
        }
    }

    /// The best of these, if it is the only one that can be meant.
    fn healed(
        &self,
        mut possible: Vec<Scored>,
        found: Option<NodeId>,
        remembered: Remembered<'_>,
        place: Option<&Place>,
    ) -> Verdict {
        let fingerprint = remembered.fingerprint;
        let (best, next) = (
            possible[0].score,
            possible.get(1).map_or(0.0, |scored| scored.score),
        );
        let twins: Vec<NodeId> = possible
            .iter()
            .filter(|scored| self.is_called(scored.id, fingerprint))
            .map(|scored| scored.id)
            .collect();
        if twins.len() > 1 {
            // Neither order nor the text before it tells which of several is meant.
            let is_told_apart =
                |id: &NodeId| match self.is_by_text_before(possible[0].id, fingerprint) {
                    true => *id == possible[0].id,
                    false => {
                        self.has_test_id_of(*id, remembered)
                            || same_path(&self.path(*id, &fingerprint.within), &fingerprint.path)
                    }
                };
            let apart: Vec<NodeId> = twins
                .iter()
                .copied()
                .filter(|id| is_told_apart(id))
                .collect();
            match apart.as_slice() {
                [one] if *one == possible[0].id => {}
                _ => return self.among(twins, fingerprint),
            }
        }
        // Which of its like it is changes with every one that comes or goes: that alone decides nothing.
        let apart_from_order =
            |scored: &Scored| self.score(scored.id, fingerprint, Some(NO_ORDINAL));
        let plain = apart_from_order(&possible[0]);
        let is_like_the_best = |scored: &Scored| {
            best - scored.score + ROUNDING < MARGIN || apart_from_order(scored) >= plain
        };
        if possible[1..].iter().any(is_like_the_best) {
            possible.retain(|scored| is_like_the_best(scored));
            possible.truncate(SHOWN);
            return Verdict::Ambiguous {
                candidates: possible,
            };
        }
        let target = possible[0].id;
        match self.rivals(target, remembered, place, false) {
            rivals if rivals.is_empty() => Verdict::Healed(Healing {
                target,
                score: best,
                next,
                reason: self.reason(target, found, remembered),
            }),
            rivals => self.among(std::iter::once(target).chain(rivals), fingerprint),
        }
    }

    /// Several elements that could be meant.
    fn among(&self, ids: impl IntoIterator<Item = NodeId>, fingerprint: &Fingerprint) -> Verdict {
        Verdict::Ambiguous {
            candidates: self.candidates_among(ids, fingerprint),
        }
    }

    /// The best of some elements with what they score, best first.
    pub fn candidates_among(
        &self,
        ids: impl IntoIterator<Item = NodeId>,
        fingerprint: &Fingerprint,
    ) -> Vec<Scored> {
        let scored = |id| Scored {
            id,
            score: self.score(id, fingerprint, None),
            words: self.in_words(id),
        };
        let mut candidates: Vec<Scored> = ids.into_iter().take(MOST_SCORED).map(scored).collect();
        candidates.sort_by(|one, other| {
            other
                .score
                .total_cmp(&one.score)
                .then(one.id.cmp(&other.id))
        });
        candidates.truncate(SHOWN);
        candidates
    }

    /// The nearest elements, for messages.
    fn nearest_to(&self, fingerprint: &Fingerprint) -> Vec<Scored> {
        self.scored(fingerprint).into_iter().take(SHOWN).collect()
    }

    /// The element at the position that the sentence named; or, where nothing but its position told it from its twins,
    /// the one there if all of them stand where they stood.
    fn by_position(&self, remembered: Remembered<'_>, place: Option<&Place>) -> Verdict {
        let fingerprint = remembered.fingerprint;
        let twins = self.twins(fingerprint);
        if let Some(position) = fingerprint.position {
            let inside: Vec<NodeId> = twins.into_iter().filter(|&id| is_in(place, id)).collect();
            let at = match usize::try_from(position) {
                Ok(position) => position.checked_sub(1),
                Err(_) => inside.len().checked_sub(position.unsigned_abs() as usize),
            };
            return match at.and_then(|at| inside.get(at)) {
                Some(&id) => Verdict::Same(id),
                None => Verdict::Gone {
                    nearest: self.nearest_to(fingerprint),
                },
            };
        }
        let texts: Vec<String> = self
            .around_twins(&twins)
            .iter()
            .map(|text| fold(text))
            .collect();
        let as_it_was = fingerprint.by_position.iter().map(|text| fold(text));
        let target = fingerprint
            .ordinal
            .checked_sub(1)
            .and_then(|at| twins.get(at));
        // Of elements without a name around which the same stands nobody sees that they changed places.
        let is_told_apart = |id| {
            let own = texts.get(fingerprint.ordinal - 1);
            !fold(fingerprint.called()).is_empty()
                || texts.iter().filter(|text| Some(*text) == own).count() == 1
                || self.is_made_as_it_was(id, remembered)
        };
        match target {
            _ if twins.is_empty() => Verdict::Gone {
                nearest: self.nearest_to(fingerprint),
            },
            Some(&id)
                if twins.len() == fingerprint.of
                    && as_it_was.eq(texts.iter().cloned())
                    && is_in(place, id)
                    && !self.has_moved(id, fingerprint)
                    && is_told_apart(id) =>
            {
                Verdict::Same(id)
            }
            _ => self.among(twins, fingerprint),
        }
    }

    /// Whether what an element is made of leads to it alone.
    fn is_made_as_it_was(&self, id: NodeId, remembered: Remembered<'_>) -> bool {
        remembered.selectors.iter().any(|selector| {
            matches!(selector.pattern, Pattern::Css(_))
                && selector.nth.is_none()
                && self.one(selector) == Some(id)
        })
    }

    /// Whether an element is what was remembered: role, type and name, and where it is. If there were others like it,
    /// everything around it must be as it was; else it must not be in the place of another one.
    fn is_same(&self, id: NodeId, remembered: Remembered<'_>, place: Option<&Place>) -> bool {
        let fingerprint = remembered.fingerprint;
        let Some(element) = self.state.element(id) else {
            return false;
        };
        if !is_kind(element, fingerprint)
            || !self.is_called(id, fingerprint)
            || !self.is_known_by_text(id, remembered, place)
            || !self.is_in_its_column(id, element, fingerprint)
        {
            return false;
        }
        match fingerprint.of > 1 {
            true => {
                !self.has_moved(id, fingerprint)
                    && self.is_near_what_it_was(id, fingerprint)
                    && !self.is_under_another_heading(id, fingerprint)
            }
            false => self.is_in_its_place(id, fingerprint),
        }
    }

    /// Whether the label of an element, or the text before it, is the one that was remembered.
    pub fn is_near_what_it_was(&self, id: NodeId, fingerprint: &Fingerprint) -> bool {
        self.state.element(id).is_some_and(|element| {
            fold_name(&self.near(id, element, &fingerprint.within)) == fold_name(&fingerprint.near)
        })
    }

    /// Whether a cell is in the column that was remembered: what it shows may stand in another one by now.
    fn is_in_its_column(
        &self,
        id: NodeId,
        element: &DomElement,
        fingerprint: &Fingerprint,
    ) -> bool {
        !is_cell(&element.role) || self.is_near_what_it_was(id, fingerprint)
    }

    /// Whether an element has the name that was remembered. Where others had it but for signs, each sign counts.
    fn is_called(&self, id: NodeId, fingerprint: &Fingerprint) -> bool {
        self.state.element(id).is_some_and(|element| {
            self.has_name(id, element, fingerprint)
                && (fingerprint.of == 1
                    || !fingerprint.within.is_empty()
                    || single_spaces(&self.name_or_text(id, element))
                        == single_spaces(fingerprint.called()))
        })
    }

    /// Whether something that people read, or an id that they gave, says that it is this element. Its name does; an
    /// element without one is known by its test id, its plain id, its label, the text of its row or, of a field, the text
    /// before it.
    fn is_known_by_text(
        &self,
        id: NodeId,
        remembered: Remembered<'_>,
        place: Option<&Place>,
    ) -> bool {
        let fingerprint = remembered.fingerprint;
        if !fold(fingerprint.called()).is_empty() {
            return true;
        }
        let Some(element) = self.state.element(id) else {
            return false;
        };
        let has_label =
            !element.label.is_empty() && fold_name(&element.label) == fold_name(&fingerprint.near);
        if has_label
            || self.has_test_id_of(id, remembered)
            || has_plain_id(element, remembered)
            || self.is_by_text_before(id, fingerprint)
        {
            return true;
        }
        // Its text, if it is no more than that.
        let has_text = remembered.selectors.iter().any(|selector| {
            matches!(selector.pattern, Pattern::Text(_) | Pattern::Placeholder(_))
                && self.one(selector) == Some(id)
        });
        if has_text {
            return true;
        }
        // In its place it was alone: elsewhere its position is remembered.
        let twins = self.twins(fingerprint);
        place.is_some() && twins.iter().filter(|&&twin| is_in(place, twin)).count() == 1
    }

    /// Whether a field is the only one of its kind behind the text that was before it: its label, for people.
    pub(super) fn is_by_text_before(&self, id: NodeId, fingerprint: &Fingerprint) -> bool {
        let is_near = |id: &NodeId| self.is_near_what_it_was(*id, fingerprint);
        is_field(&fingerprint.role)
            && !fingerprint.near.is_empty()
            && self.twins(fingerprint).into_iter().filter(is_near).eq([id])
    }

    pub(super) fn has_test_id_of(&self, id: NodeId, remembered: Remembered<'_>) -> bool {
        let element = self.state.element(id);
        // A test id that several had is not a name: no selector was made of it.
        let had_test_id = remembered
            .selectors
            .iter()
            .any(|selector| matches!(selector.pattern, Pattern::TestId(_)));
        had_test_id
            && element.and_then(|element| self.test_id(element))
                == remembered.fingerprint.test_id.as_deref()
    }

    /// Whether an element is in other containers than what was remembered.
    pub(super) fn has_moved(&self, id: NodeId, fingerprint: &Fingerprint) -> bool {
        !same_path(&self.path(id, &fingerprint.within), &fingerprint.path)
    }

    /// Whether everything that was remembered around an element, and every id of it, is as it was: figures in texts aside,
    /// which change by themselves.
    pub fn is_as_it_was(&self, id: NodeId, remembered: Remembered<'_>) -> bool {
        let fingerprint = remembered.fingerprint;
        let without_figures =
            |text: &str| fold_name(text).replace(|sign: char| sign.is_numeric(), "");
        let says_the_same = fingerprint.around.is_empty()
            || without_figures(&self.around(id)) == without_figures(&fingerprint.around);
        let has_ids =
            |element| self.has_test_id_of(id, remembered) || has_plain_id(element, remembered);
        !self.has_moved(id, fingerprint)
            && says_the_same
            && (!are_by_id(remembered.selectors) || self.state.element(id).is_some_and(has_ids))
    }

    /// Every visible element of the same role and type with what it scores, best first.
    fn scored(&self, fingerprint: &Fingerprint) -> Vec<Scored> {
        let ordinals = self.ordinals(fingerprint);
        let mut scored: Vec<(NodeId, f64)> = self
            .state
            .elements()
            .filter(|(_, element)| element.is_visible && is_kind(element, fingerprint))
            .map(|(id, _)| {
                let ordinal = ordinals.get(&id).copied();
                (id, self.score(id, fingerprint, ordinal))
            })
            .collect();
        // Of equal ones the first on the page, so that the order never depends on chance.
        scored.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        scored
            .into_iter()
            .take(MOST_SCORED)
            .map(|(id, score)| Scored {
                id,
                score,
                words: self.in_words(id),
            })
            .collect()
    }

    /// What an element scores against what was remembered, from 0 to 1.
    fn score(&self, id: NodeId, fingerprint: &Fingerprint, ordinal: Option<usize>) -> f64 {
        let Some(element) = self.state.element(id) else {
            return 0.0;
        };
        let full = |weight: f64, holds: bool| if holds { weight } else { 0.0 };
        let ordinal = match ordinal {
            Some(ordinal) => ordinal,
            None => self.ordinals(fingerprint).get(&id).copied().unwrap_or(1),
        };
        let score = full(NAME, self.has_name(id, element, fingerprint))
            + PATH * share(&self.path(id, &fingerprint.within), &fingerprint.path)
            + full(NEAR, self.is_near_what_it_was(id, fingerprint))
            + full(TEST_ID, self.is_test_id_kept(element, fingerprint))
            + full(ORDINAL, ordinal == fingerprint.ordinal);
        score.clamp(0.0, 1.0)
    }

    /// Whether the test id speaks for an element. In an item that is known by its text, the number at the end of an id
    /// counts the items, which come and go: `delete-2`.
    fn is_test_id_kept(&self, element: &DomElement, fingerprint: &Fingerprint) -> bool {
        let (now, then) = (self.test_id(element), fingerprint.test_id.as_deref());
        let is_in_item = fingerprint
            .within
            .iter()
            .any(|container| container.kind.is_item() && container.text.is_some());
        let stem = |id: Option<&str>| {
            let stem = id?.trim_end_matches(|sign: char| sign.is_ascii_digit());
            (stem.len() > 1 && stem.len() < id?.len()).then(|| stem.to_owned())
        };
        now == then || (is_in_item && stem(now).is_some() && stem(now) == stem(then))
    }

    /// Why an element is taken although it is not the same.
    fn reason(&self, target: NodeId, found: Option<NodeId>, remembered: Remembered<'_>) -> String {
        let first = remembered.selectors.first().map(ToString::to_string);
        let first = first.unwrap_or_default();
        let differences = self.differences(target, remembered.fingerprint);
        let fields: Vec<&str> = differences
            .iter()
            .map(|difference| difference.field)
            .collect();
        let why = match found {
            Some(found) if found == target => format!("`{first}` matches it"),
            Some(_) => format!("`{first}` matches another element now"),
            None => match remembered
                .selectors
                .first()
                .map(|selector| self.find(selector).len())
            {
                Some(several) if several > 1 => format!("{several} elements match `{first}` now"),
                _ => format!("no element matches `{first}` now"),
            },
        };
        match fields.is_empty() {
            true => why,
            false => format!("{why}; changed: {}", fields.join(", ")),
        }
    }

    /// The fields in which an element differs from what was remembered.
    pub fn differences(&self, id: NodeId, fingerprint: &Fingerprint) -> Vec<Difference> {
        let Some(now) = self.fingerprint(id) else {
            return Vec::new();
        };
        let called = now.called().to_owned();
        let pairs = [
            ("role", fingerprint.role.clone(), now.role),
            (
                "input type",
                fingerprint.input_type.clone().unwrap_or_default(),
                now.input_type.unwrap_or_default(),
            ),
            ("name", fingerprint.called().to_owned(), called),
            (
                "test id",
                fingerprint.test_id.clone().unwrap_or_default(),
                now.test_id.unwrap_or_default(),
            ),
            ("path", fingerprint.path.join(" < "), now.path.join(" < ")),
            (
                match is_by_column(fingerprint) {
                    true => "column",
                    false => "near",
                },
                fingerprint.near.clone(),
                now.near,
            ),
            (
                "place among its like",
                format!("{} of {}", fingerprint.ordinal, fingerprint.of),
                format!("{} of {}", now.ordinal, now.of),
            ),
        ];
        pairs
            .into_iter()
            .filter(|(_, remembered, found)| fold_name(remembered) != fold_name(found))
            .map(|(field, remembered, found)| Difference {
                field,
                remembered,
                found,
            })
            .collect()
    }
}

/// Whether an element is of the kind that was remembered. In how many frames it is counts too: what moved into another
/// one is another one's. Shadow roots are how a page is made: nobody sees them.
pub(super) fn is_kind(element: &DomElement, fingerprint: &Fingerprint) -> bool {
    let hops = element.scope.iter();
    let n_frames = hops.filter(|hop| hop.kind.as_str() == "frame").count();
    let remembered = fingerprint.scope.iter();
    element.role == fingerprint.role
        && (!element.role.is_empty() || element.tag_name == fingerprint.tag)
        && element.input_type() == fingerprint.input_type
        && n_frames == remembered.filter(|hop| hop.starts_with("frame=")).count()
}

pub(super) fn same_path(now: &[String], then: &[String]) -> bool {
    now.len() == then.len() && now.iter().zip(then).all(|(now, then)| is_entry(now, then))
}

/// Whether an entry of a path is one that is remembered. Of an item without a name any may be it: it was called after what
/// was in it.
pub(super) fn is_entry(now: &str, then: &str) -> bool {
    let is_any = is_item_role(then) && now.split(' ').next() == Some(then);
    is_any || fold_entry(now) == fold_entry(then)
}

/// Whether it is the role of what may be called after what is in it.
pub(super) fn is_item_role(role: &str) -> bool {
    matches!(role, "row" | "listitem" | "treeitem")
}

/// An entry of a path with its name as names are compared: what stands in its quotes.
fn fold_entry(entry: &str) -> String {
    match entry.split_once(" \"") {
        Some((role, name)) => format!("{role} {}", fold_name(name.trim_end_matches('"'))),
        None => fold_name(entry),
    }
}

/// The share of entries that two paths have in common; all of it if both are empty.
fn share(one: &[String], other: &[String]) -> f64 {
    let most = one.len().max(other.len());
    if most == 0 {
        return 1.0;
    }
    let mut left: Vec<String> = other.iter().map(|entry| fold_entry(entry)).collect();
    let mut common = 0_u32;
    for entry in one {
        let entry = fold_entry(entry);
        if let Some(at) = left.iter().position(|known| *known == entry) {
            left.swap_remove(at);
            common += 1;
        }
    }
    f64::from(common) / most as f64
}
