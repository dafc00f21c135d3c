//! Which elements of a page words mean.

use super::Pool;
use super::phrase::{Phrase, RoleWord, Within};
use super::places::kind_of;
use crate::diagnostic::did_you_mean;
use crate::page::carriers::carriers;
use crate::page::dom::{DomElement, NodeId};
use crate::page::selector::Finder;
use crate::page::snapshot::single_spaces;
use crate::page::words::{Likeness, SoughtName};

/// How many elements a message lists.
const SHOWN: usize = 5;

/// For how many elements words are sought that are clear: each look searches the page.
const MOST_TRIED: usize = 10;

/// How many names are looked at as what a name may be a slip of.
const MOST_COMPARED: usize = 2_000;

/// The elements that are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The elements, in the order of the page; never empty.
    pub elements: Vec<NodeId>,
    /// Whether something lies over all of them.
    pub are_covered: bool,
}

/// No element is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// What was looked for.
    pub phrase: String,
    /// What comes near, in words: at most five.
    pub nearest: Vec<String>,
}

impl Finder<'_> {
    /// The elements that words mean: those that fit best, however many these are.
    ///
    /// # Errors
    /// If nothing fits, with what comes near.
    pub fn meant(&self, phrase: &Phrase, pool: Pool) -> Result<Found, NotFound> {
        let (reachable, rest) = self.pool(phrase, pool);
        for (elements, are_covered) in [(reachable, false), (rest, true)] {
            let found = self.fitting_name(&elements, phrase, pool);
            if !found.is_empty() {
                return Ok(Found {
                    elements: found,
                    are_covered,
                });
            }
        }
        Err(NotFound {
            phrase: phrase.to_string(),
            nearest: self.nearest(phrase, pool),
        })
    }

    /// Whether an element is one that an action of this sort can mean.
    pub fn is_in_pool(&self, id: NodeId, pool: Pool) -> bool {
        self.state
            .element(id)
            .is_some_and(|element| is_in(element, pool))
    }

    /// Words for one of the first elements that would mean it alone.
    pub(super) fn clearer(
        &self,
        phrase: &Phrase,
        pool: Pool,
        elements: &[NodeId],
    ) -> Option<String> {
        elements.iter().take(MOST_TRIED).find_map(|&id| {
            let (role, name) = self.place_of(id)?;
            let clearer = Phrase {
                within: Some(Within {
                    name: Some(name),
                    kind: kind_of(&role),
                }),
                ..phrase.clone()
            };
            let found = self.meant(&clearer, pool).ok()?;
            (found.elements == [id]).then(|| clearer.to_string())
        })
    }

    /// Words that mean one element alone, such as `'Delete' button in the 'Invoice 1' row`. None if there are none.
    pub fn words_for(&self, id: NodeId) -> Option<String> {
        let element = self.state.element(id)?;
        let name = name(element).or_else(|| label(element))?;
        let phrase = Phrase {
            name: name.to_owned(),
            is_quoted: true,
            role: RoleWord::of(&element.role),
            within: None,
        };
        let means_it = |phrase: &Phrase| {
            self.meant(phrase, Pool::Interactive)
                .is_ok_and(|found| found.elements == [id])
        };
        match means_it(&phrase) {
            true => Some(phrase.to_string()),
            false => self.clearer(&phrase, Pool::Interactive, &[id]),
        }
    }

    /// The elements that may be meant, those that a pointer reaches apart from the others.
    fn pool(&self, phrase: &Phrase, pool: Pool) -> (Vec<NodeId>, Vec<NodeId>) {
        let places = phrase.within.as_ref().map(|within| self.places(within));
        let is_inside = |id: NodeId| {
            places
                .as_ref()
                .is_none_or(|places| places.iter().any(|place| place.contains(&id.0)))
        };
        let has_role = |element: &DomElement| {
            phrase
                .role
                .is_none_or(|role| role.roles().contains(&element.role.as_str()))
        };
        let (mut reachable, mut rest) = (Vec::new(), Vec::new());
        for (id, element) in self.state.elements() {
            if !is_inside(id) || !has_role(element) || !is_in(element, pool) {
                continue;
            }
            let is_first = match pool {
                Pool::Anything => element.is_visible,
                Pool::Files => true,
                _ => element.highlight_index.is_some(),
            };
            match is_first {
                true => reachable.push(id),
                false if element.is_visible => rest.push(id),
                false => {}
            }
        }
        (reachable, rest)
    }

    /// Of these elements those whose name fits best.
    fn fitting_name(&self, elements: &[NodeId], phrase: &Phrase, pool: Pool) -> Vec<NodeId> {
        let sought = SoughtName::new(&phrase.name);
        for likeness in Likeness::SAID {
            let level = |text: &str| sought.fits(text, likeness);
            for source in [name, label, placeholder] {
                let found: Vec<NodeId> = elements
                    .iter()
                    .copied()
                    .filter(|&id| {
                        let element = self.state.element(id);
                        element
                            .and_then(source)
                            .is_some_and(|text| level(&single_spaces(text)))
                    })
                    .collect();
                if !found.is_empty() {
                    return self.without_copies(found);
                }
            }
            if pool == Pool::Anything && phrase.role.is_none() {
                let found = self.with_text(elements, &level);
                if !found.is_empty() {
                    return found;
                }
            }
        }
        Vec::new()
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
    fn with_text(&self, elements: &[NodeId], level: &dyn Fn(&str) -> bool) -> Vec<NodeId> {
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

    /// What comes near: names with some of the words, then what the name may be a slip of.
    fn nearest(&self, phrase: &Phrase, pool: Pool) -> Vec<String> {
        let sought = SoughtName::new(&phrase.name);
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
            let near = did_you_mean(&phrase.name, names);
            let near = candidates.iter().find(|(_, name)| Some(*name) == near);
            found.extend(near.map(|(id, _)| (1, *id)));
        }
        found
            .into_iter()
            .take(SHOWN)
            .map(|(_, id)| self.in_words(id))
            .collect()
    }
}

fn name(element: &DomElement) -> Option<&str> {
    Some(element.name.as_str()).filter(|name| !name.is_empty())
}

fn label(element: &DomElement) -> Option<&str> {
    Some(element.label.as_str()).filter(|label| !label.is_empty())
}

fn placeholder(element: &DomElement) -> Option<&str> {
    element
        .attribute("placeholder")
        .filter(|text| !text.is_empty())
}

/// Whether an element is one that is looked at.
fn is_in(element: &DomElement, pool: Pool) -> bool {
    let (role, tag) = (element.role.as_str(), element.tag_name.as_str());
    match pool {
        Pool::Interactive => element.is_interactive,
        Pool::Fields => {
            element.is_interactive
                && (matches!(
                    role,
                    "textbox" | "searchbox" | "combobox" | "spinbutton" | "slider"
                ) || tag == "textarea"
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
        Pool::Selects => {
            element.is_interactive && (tag == "select" || matches!(role, "combobox" | "listbox"))
        }
        Pool::Files => tag == "input" && element.input_type().as_deref() == Some("file"),
        Pool::Anything => true,
    }
}

/// Whether text, a date or a colour is put into an input.
fn is_typed(element: &DomElement) -> bool {
    !matches!(
        element.input_type().as_deref(),
        Some("button" | "submit" | "reset" | "image" | "checkbox" | "radio" | "file" | "hidden")
    )
}
