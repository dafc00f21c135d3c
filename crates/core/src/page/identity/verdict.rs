//! Compares what was remembered of an element with a page: the same, healed, ambiguous, a wrong target, or gone.

use std::fmt;

use super::fingerprint::ordinals;
use crate::page::dom::{DomElement, NodeId};
use crate::page::selector::{Finder, Pattern, Selector, looks_generated};
use crate::page::words::fold;
use crate::scenario::browser::Fingerprint;
use crate::value::cut;

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
    /// Another one is, or it is under another name.
    Healed(Healing),
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
    pub fn word(&self) -> &'static str {
        match self {
            Self::Same(_) => "same",
            Self::Healed(_) => "healed",
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
    /// Whether the element that was meant is still there.
    pub fn verdict(&self, remembered: Remembered<'_>) -> Verdict {
        let found = remembered
            .selectors
            .first()
            .and_then(|selector| self.one(selector));
        if let Some(id) = found
            && self.is_same(id, remembered)
        {
            return Verdict::Same(id);
        }
        let scored = self.scored(remembered.fingerprint);
        let possible: Vec<&Scored> = scored
            .iter()
            .filter(|scored| self.is_in_its_place(scored.id, remembered))
            .collect();
        let best = possible.first().map_or(0.0, |scored| scored.score);
        let next = possible.get(1).map_or(0.0, |scored| scored.score);
        if best + ROUNDING >= ENOUGH {
            // Which of its like it is changes with every one that comes or goes: that alone decides nothing.
            let apart_from_order =
                |scored: &Scored| self.score(scored.id, remembered.fingerprint, Some(NO_ORDINAL));
            let plain = apart_from_order(possible[0]);
            let is_like_the_best = |scored: &Scored| {
                best - scored.score + ROUNDING < MARGIN || apart_from_order(scored) >= plain
            };
            let others = possible[1..].iter().any(|other| is_like_the_best(other));
            if !others {
                let target = possible[0].id;
                return Verdict::Healed(Healing {
                    target,
                    score: best,
                    next,
                    reason: self.reason(target, found, remembered),
                });
            }
            let candidates = possible
                .into_iter()
                .filter(|scored| is_like_the_best(scored))
                .take(SHOWN)
                .cloned()
                .collect();
            return Verdict::Ambiguous { candidates };
        }
        let renamed = self.renamed(remembered);
        let nearest: Vec<Scored> = scored.into_iter().take(SHOWN).collect();
        match (renamed.as_slice(), found) {
            ([(target, reason)], _) => Verdict::Healed(Healing {
                target: *target,
                score: self.score(*target, remembered.fingerprint, None),
                next,
                reason: reason.clone(),
            }),
            ([], Some(found)) => Verdict::WrongTarget {
                found,
                differences: self.differences(found, remembered.fingerprint),
                nearest,
            },
            ([], None) => Verdict::Gone { nearest },
            (several, _) => Verdict::Ambiguous {
                candidates: several
                    .iter()
                    .take(SHOWN)
                    .map(|(id, _)| Scored {
                        id: *id,
                        score: self.score(*id, remembered.fingerprint, None),
                        words: self.in_words(*id),
                    })
                    .collect(),
            },
        }
    }

    /// Whether an element is what was remembered: role, type and name, and where it is. If there were others like it,
    /// everything around it must be as it was; else it must not be in the place of another one.
    fn is_same(&self, id: NodeId, remembered: Remembered<'_>) -> bool {
        let fingerprint = remembered.fingerprint;
        let Some(element) = self.state.element(id) else {
            return false;
        };
        if !is_kind(element, fingerprint) || !has_name(element, fingerprint) {
            return false;
        }
        match fingerprint.of > 1 {
            true => {
                same_path(&self.path(id), &fingerprint.path)
                    && fold(&self.near(id, element)) == fold(&fingerprint.near)
            }
            false => self.is_in_its_place(id, remembered),
        }
    }

    /// Every visible element of the same role and type with what it scores, best first.
    fn scored(&self, fingerprint: &Fingerprint) -> Vec<Scored> {
        let ordinals = ordinals(self.state);
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
        scored.sort_by(|(one, high), (other, low)| low.total_cmp(high).then(one.cmp(other)));
        let best = scored.first().map_or(0.0, |(_, score)| *score);
        scored
            .into_iter()
            .enumerate()
            .filter(|(place, (_, score))| *place < SHOWN.max(2) || best - score < MARGIN)
            .take(100)
            .map(|(_, (id, score))| Scored {
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
            None => ordinals(self.state).get(&id).copied().unwrap_or(1),
        };
        let score = full(NAME, has_name(element, fingerprint))
            + PATH * share(&self.path(id), &fingerprint.path)
            + full(
                NEAR,
                fold(&self.near(id, element)) == fold(&fingerprint.near),
            )
            + full(
                TEST_ID,
                self.test_id(element) == fingerprint.test_id.as_deref(),
            )
            + full(ORDINAL, ordinal == fingerprint.ordinal);
        score.clamp(0.0, 1.0)
    }

    /// The elements that are where it was and carry its test id or plain id, but another name. None if its name is
    /// still there: then its id was given to something else.
    fn renamed(&self, remembered: Remembered<'_>) -> Vec<(NodeId, String)> {
        let fingerprint = remembered.fingerprint;
        let has_its_name = |element: &DomElement| {
            element.is_visible && is_kind(element, fingerprint) && has_name(element, fingerprint)
        };
        if self
            .state
            .elements()
            .any(|(_, element)| has_its_name(element))
        {
            return Vec::new();
        }
        // A test id that several had is not a name: no selector was made of it.
        let had_test_id = remembered
            .selectors
            .iter()
            .any(|selector| matches!(selector.pattern, Pattern::TestId(_)));
        let ids: Vec<&str> = remembered
            .selectors
            .iter()
            .filter_map(Selector::plain_id)
            .filter(|id| !looks_generated(id))
            .collect();
        self.state
            .elements()
            .filter(|(id, element)| {
                element.is_visible
                    && is_kind(element, fingerprint)
                    && !has_name(element, fingerprint)
                    && same_path(&self.path(*id), &fingerprint.path)
            })
            .filter_map(|(id, element)| {
                let test_id = self
                    .test_id(element)
                    .filter(|_| had_test_id)
                    .filter(|test_id| Some(*test_id) == fingerprint.test_id.as_deref());
                let plain = element.attribute("id").filter(|plain| ids.contains(plain));
                let by = match (test_id, plain) {
                    (Some(test_id), _) => format!("the test id `{test_id}`"),
                    (None, Some(plain)) => format!("the id `{plain}`"),
                    (None, None) => return None,
                };
                let (old, new) = (cut(&fingerprint.name, 60), cut(&element.name, 60));
                Some((
                    id,
                    format!("it has {by}, and is now called \"{new}\", not \"{old}\""),
                ))
            })
            .collect()
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
            Some(found) if found == target => format!("`{first}` leads to it"),
            Some(_) => format!("`{first}` leads to something else now"),
            None => format!("`{first}` leads to no single element now"),
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
        let pairs = [
            ("role", fingerprint.role.clone(), now.role),
            (
                "input type",
                fingerprint.input_type.clone().unwrap_or_default(),
                now.input_type.unwrap_or_default(),
            ),
            ("name", fingerprint.name.clone(), now.name),
            (
                "test id",
                fingerprint.test_id.clone().unwrap_or_default(),
                now.test_id.unwrap_or_default(),
            ),
            ("path", fingerprint.path.join(" < "), now.path.join(" < ")),
            ("near", fingerprint.near.clone(), now.near),
            (
                "place among its like",
                format!("{} of {}", fingerprint.ordinal, fingerprint.of),
                format!("{} of {}", now.ordinal, now.of),
            ),
        ];
        pairs
            .into_iter()
            .filter(|(_, remembered, found)| fold(remembered) != fold(found))
            .map(|(field, remembered, found)| Difference {
                field,
                remembered,
                found,
            })
            .collect()
    }
}

/// Whether an element is of the kind that was remembered. In how many frames and shadow roots it is counts too: what
/// moved into another one is another one's.
fn is_kind(element: &DomElement, fingerprint: &Fingerprint) -> bool {
    let kinds = element.scope.iter().map(|hop| hop.kind.word());
    let remembered = fingerprint
        .scope
        .iter()
        .map(|hop| hop.split('=').next().unwrap_or_default());
    element.role == fingerprint.role
        && (!element.role.is_empty() || element.tag_name == fingerprint.tag)
        && element.input_type() == fingerprint.input_type
        && kinds.eq(remembered)
}

fn has_name(element: &DomElement, fingerprint: &Fingerprint) -> bool {
    // A long name was cut when it was remembered.
    let name = cut(&element.name, 120);
    fold(&name) == fold(&fingerprint.name)
}

fn same_path(one: &[String], other: &[String]) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(one, other)| fold(one) == fold(other))
}

/// The share of entries that two paths have in common; all of it if both are empty.
fn share(one: &[String], other: &[String]) -> f64 {
    let most = one.len().max(other.len());
    if most == 0 {
        return 1.0;
    }
    let mut left: Vec<String> = other.iter().map(|entry| fold(entry)).collect();
    let mut common = 0_u32;
    for entry in one {
        let entry = fold(entry);
        if let Some(at) = left.iter().position(|known| *known == entry) {
            left.swap_remove(at);
            common += 1;
        }
    }
    f64::from(common) / most as f64
}
