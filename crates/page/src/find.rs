//! Which element of a snapshot is meant.
//!
//! The rules are those by which elements of captured pages are known again: names are compared as they are and then
//! without capital letters, never by a part of them; and of elements inside each other with one name the one counts
//! that people act on.

use super::carriers::carriers;
use super::containers::{is_cell, is_row};
use super::selector::CONTAINERS;
use super::snapshot::{Element, LINE_OF_TEXT, Snapshot, plain_role};
use super::wanted::{Around, Wanted};
use super::words::{NameMatch, NameQuery};
use cuecard_source::diagnostic::did_you_mean;
use cuecard_source::value::{Json, cut};

/// How many elements a message lists.
const SHOWN: usize = 8;

/// How many names are looked at as what a name may be a slip of, and by how many bytes they may differ in length.
const MOST_COMPARED: usize = 2_000;
const MOST_SLIPS: usize = 8;

/// The longest name that a proposed target holds, in characters.
const LONGEST_NAME: usize = 120;

/// Elements that people act on. If the label and the field that it labels have the same name, the field is meant.
const INTERACTIVE: &[&str] = &[
    "button",
    "checkbox",
    "combobox",
    "DisclosureTriangle",
    "link",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
];

/// An element that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// What its server knows it by.
    pub id: String,
    /// The element in words.
    pub words: String,
}

/// Not exactly one element fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbiguousMatch {
    /// How many fit.
    pub count: usize,
    /// Those that fit, or those that come near if none fits: the first few, in words.
    pub candidates: Vec<String>,
    /// What would make the first of several the only one, as JSON without the braces.
    pub add: Option<String>,
}

impl Snapshot {
    /// The one element that is wanted.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn meant(&self, wanted: &Wanted) -> Result<Match, AmbiguousMatch> {
        self.meant_among(wanted, &|_| true)
    }

    /// As [`Snapshot::meant`], of the elements at certain places only.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn meant_among(
        &self,
        wanted: &Wanted,
        is_among: &dyn Fn(usize) -> bool,
    ) -> Result<Match, AmbiguousMatch> {
        let found = self.fitting(wanted, is_among);
        let one = match (found.as_slice(), wanted.nth) {
            ([one], None) => Some(*one),
            (several, Some(nth)) => several.get(nth.wrapping_sub(1)).copied(),
            _ => None,
        };
        if let Some(meant) = one.and_then(|index| self.as_meant(index)) {
            return Ok(meant);
        }
        let candidates = match found.is_empty() {
            true => self.near(wanted, is_among),
            false => found.iter().copied().take(SHOWN).collect(),
        };
        Err(AmbiguousMatch {
            count: found.len(),
            candidates: candidates
                .into_iter()
                .map(|index| self.in_words(index))
                .collect(),
            add: match wanted.nth {
                None => self.what_to_add(wanted, &found, is_among),
                Some(_) => None,
            },
        })
    }

    /// Every element that is wanted, whichever of them.
    pub fn all_fitting(&self, wanted: &Wanted) -> Vec<Match> {
        self.fitting(wanted, &|_| true)
            .into_iter()
            .filter_map(|index| self.as_meant(index))
            .collect()
    }

    /// How the element with this id can be found again: by its role and name, and by what it is in or which of
    /// several it is where these are not enough.
    pub fn lasting(&self, id: &str) -> Option<Wanted> {
        let index = self.by_id(id)?;
        let element = &self.elements[index];
        let name = Some(element.name.clone())
            .filter(|name| !name.is_empty() && name.chars().nth(LONGEST_NAME).is_none());
        let plain = match element.role.is_empty() {
            true => Wanted {
                text: Some(name?),
                ..Wanted::default()
            },
            false => Wanted {
                role: Some(element.role.clone()),
                name,
                ..Wanted::default()
            },
        };
        let is_it = |wanted: &Wanted| self.fitting(wanted, &|_| true) == [index];
        if is_it(&plain) {
            return Some(plain);
        }
        let within = self.arounds(index).map(|around| Wanted {
            within: Some(around),
            ..plain.clone()
        });
        for wanted in within {
            if is_it(&wanted) {
                return Some(wanted);
            }
        }
        let twins = self.fitting(&plain, &|_| true);
        let nth = twins.iter().position(|&twin| twin == index)? + 1;
        Some(Wanted {
            nth: Some(nth),
            ..plain
        })
    }

    /// The elements that fit, apart from which of them is wanted.
    fn fitting(&self, wanted: &Wanted, is_among: &dyn Fn(usize) -> bool) -> Vec<usize> {
        self.fitting_like(wanted, is_among, &NameMatch::KEPT)
    }

    /// The elements that fit, with names that are like the wanted one in the first of these ways that any is.
    pub(super) fn fitting_like(
        &self,
        wanted: &Wanted,
        is_among: &dyn Fn(usize) -> bool,
        likenesses: &[NameMatch],
    ) -> Vec<usize> {
        let role = wanted.role.as_deref().map(plain_role);
        let places = wanted.within.as_ref().map(|around| self.places(around));
        let mut found: Vec<usize> = (0..self.elements.len())
            .filter(|&index| {
                let element = &self.elements[index];
                is_part_of_page(element)
                    && role.is_none_or(|role| element.role == role)
                    && is_among(index)
                    && places.as_ref().is_none_or(|places| {
                        self.ancestors(index)
                            .any(|outer| places.binary_search(&outer).is_ok())
                    })
            })
            .collect();
        if let Some(name) = &wanted.name {
            let named = self.with_name(&found, name, likenesses);
            found = match named.is_empty() && role.is_some() {
                true => NameQuery::new(name).found_first(likenesses, |fits| {
                    let heading = |index: &usize| self.heading_in(*index).is_some_and(fits);
                    found.iter().copied().filter(heading).collect()
                }),
                false => named,
            };
        }
        if let Some(text) = &wanted.text {
            found = self.with_text(found, text, role.is_none(), likenesses);
        }
        match role {
            None if wanted.name.is_some() || wanted.text.is_some() => carriers(
                &found,
                |&index| self.ancestors(index),
                |&index| self.is_interactive(index),
                |&index| self.elements[index].role.is_empty(),
            ),
            _ => found,
        }
    }

    fn with_name(&self, among: &[usize], name: &str, likenesses: &[NameMatch]) -> Vec<usize> {
        NameQuery::new(name).found_first(likenesses, |fits| {
            let called = among.iter().filter(|&&index| self.is_called(index, fits));
            called.copied().collect()
        })
    }

    /// Whether an element has such a name, or is a row that one of its names is.
    fn is_called(&self, index: usize, fits: &dyn Fn(&str) -> bool) -> bool {
        let own = &self.elements[index].name;
        (!own.is_empty() && fits(own)) || self.row_names(index).any(|name| fits(&name))
    }

    /// Of elements inside each other the innermost.
    fn innermost(&self, found: &[usize]) -> Vec<usize> {
        let holds = |outer: usize| {
            let end = self.elements[outer].end;
            found.iter().any(|&inner| inner > outer && inner < end)
        };
        let innermost = found.iter().filter(|&&outer| !holds(outer));
        innermost.copied().collect()
    }

    /// Those with this name or, if there are none, those that hold this text and nothing else: with `innermost` only
    /// the innermost of them.
    fn with_text(
        &self,
        among: Vec<usize>,
        text: &str,
        innermost: bool,
        likenesses: &[NameMatch],
    ) -> Vec<usize> {
        let named = self.with_name(&among, text, likenesses);
        if !named.is_empty() {
            return named;
        }
        let found = NameQuery::new(text).found_first(&NameMatch::KEPT, |fits| {
            let holding = among
                .iter()
                .filter(|&&index| self.text(index).is_some_and(|text| fits(&text)));
            holding.copied().collect()
        });
        match innermost {
            true => self.innermost(&found),
            false => found,
        }
    }

    /// The elements that others may be in, in the order of the page.
    fn places(&self, around: &Around) -> Vec<usize> {
        let role = around.role.as_deref().map(plain_role);
        let places: Vec<usize> = (0..self.elements.len())
            .filter(|&index| role.is_none_or(|role| self.elements[index].role == role))
            .collect();
        let places = match &around.name {
            None => places,
            Some(name) => NameQuery::new(name).found_first(&NameMatch::KEPT, |fits| {
                let called = places.iter().filter(|&&index| {
                    self.is_called(index, fits) || self.heading_in(index).is_some_and(fits)
                });
                called.copied().collect()
            }),
        };
        let Some(text) = &around.text else {
            return places;
        };
        let found = NameQuery::new(text).found_first(&NameMatch::KEPT, |fits| {
            let is_in = |inner: usize| {
                fits(&self.elements[inner].name) || self.text(inner).is_some_and(|text| fits(&text))
            };
            let holding = places
                .iter()
                .filter(|&&index| (index + 1..self.elements[index].end).any(is_in));
            holding.copied().collect()
        });
        self.innermost(&found)
    }

    /// The heading that a part of the page without a name begins with: snapshots of @playwright/mcp have no names that
    /// other elements give.
    fn heading_in(&self, index: usize) -> Option<&str> {
        let element = &self.elements[index];
        let is_named_so = element.name.is_empty()
            && matches!(
                element.role.as_str(),
                "dialog" | "alertdialog" | "form" | "region" | "group"
            );
        (index + 1..element.end)
            .map(|inner| &self.elements[inner])
            .find(|inner| is_named_so && inner.role == "heading")
            .map(|heading| heading.name.as_str())
    }

    /// What a row or an item of a list is called by its first cell or heading that has a text.
    fn row_name(&self, index: usize) -> Option<String> {
        let element = &self.elements[index];
        if !is_row(&element.role) {
            return None;
        }
        (index + 1..element.end)
            .filter(|&inner| {
                let role = self.elements[inner].role.as_str();
                is_cell(role) || role == "heading"
            })
            .find_map(|part| match self.elements[part].name.as_str() {
                "" => self.text(part),
                name => Some(name.to_owned()),
            })
    }

    /// What a row or an item of a list may be called: its first cell, or all that is in it.
    fn row_names(&self, index: usize) -> impl Iterator<Item = String> {
        let whole = is_row(&self.elements[index].role)
            .then(|| self.text(index))
            .flatten();
        self.row_name(index).into_iter().chain(whole)
    }

    /// What an element can be said to be in, innermost first.
    fn arounds(&self, index: usize) -> impl Iterator<Item = Around> {
        self.ancestors(index).filter_map(|outer| {
            let element = &self.elements[outer];
            let is_container =
                CONTAINERS.contains(&element.role.as_str()) || element.role == "iframe";
            if !is_container {
                return None;
            }
            // The name of a row is all that is in it, if it has no other.
            let name = self.row_name(outer).or_else(|| {
                Some(element.name.clone())
                    .filter(|name| !name.is_empty() && name.chars().nth(LONGEST_NAME).is_none())
            });
            Some(Around {
                role: Some(element.role.clone()),
                name: Some(name?),
                text: None,
            })
        })
    }

    /// What tells the first of several elements from the others.
    fn what_to_add(
        &self,
        wanted: &Wanted,
        found: &[usize],
        is_among: &dyn Fn(usize) -> bool,
    ) -> Option<String> {
        let &[first, _, ..] = found else {
            return None;
        };
        let tells_apart = |more: &Wanted| self.fitting(more, is_among) == [first];
        if wanted.role.is_none() && !self.elements[first].role.is_empty() {
            let role = &self.elements[first].role;
            let more = Wanted {
                role: Some(role.clone()),
                ..wanted.clone()
            };
            if tells_apart(&more) {
                return Some(format!("\"role\": {}", Json::from(role.as_str())));
            }
        }
        if wanted.within.is_none() {
            for around in self.arounds(first) {
                let written = format!("\"within\": {}", around.to_json());
                let more = Wanted {
                    within: Some(around),
                    ..wanted.clone()
                };
                if tells_apart(&more) {
                    return Some(written);
                }
            }
        }
        Some("\"nth\": 1".to_owned())
    }

    /// The elements that come near: those that are in something else, or else those with the name and another role,
    /// then names that hold it or its words, then what it may be a slip of.
    fn near(&self, wanted: &Wanted, is_among: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let mut elsewhere = match &wanted.within {
            None => Vec::new(),
            Some(_) => {
                let anywhere = Wanted {
                    within: None,
                    ..wanted.clone()
                };
                self.fitting(&anywhere, is_among)
            }
        };
        elsewhere.truncate(SHOWN);
        let Some(name) = wanted.name.as_ref().or(wanted.text.as_ref()) else {
            return elsewhere;
        };
        if !elsewhere.is_empty() {
            return elsewhere;
        }
        let sought = NameQuery::new(name);
        let lower = name.trim().to_lowercase();
        let mut found: Vec<usize> = Vec::new();
        let fits: [&dyn Fn(&str) -> bool; 3] = [
            &|name| sought.fits(name, NameMatch::Folded),
            &|name| !lower.is_empty() && name.to_lowercase().contains(&lower),
            &|name| sought.fits(name, NameMatch::Words),
        ];
        for fit in fits {
            for (index, element) in self.elements.iter().enumerate() {
                if found.len() == SHOWN {
                    return found;
                }
                let is_new = !found.iter().any(|&known| {
                    let known = &self.elements[known];
                    // Mere text repeats what an element says.
                    known.name == element.name
                        && (known.role == element.role || element.role.is_empty())
                });
                if is_new && is_named(element) && is_among(index) && fit(&element.name) {
                    found.push(index);
                }
            }
        }
        if found.is_empty() {
            let names = self
                .elements
                .iter()
                .filter(|element| {
                    is_named(element) && element.name.len().abs_diff(name.len()) <= MOST_SLIPS
                })
                .map(|element| element.name.as_str())
                .take(MOST_COMPARED);
            let slip = did_you_mean(name, names);
            found.extend(
                self.elements
                    .iter()
                    .position(|element| is_named(element) && Some(element.name.as_str()) == slip),
            );
        }
        found
    }

    /// An element as a message names it: what it is, what it is called, and what it is in.
    fn in_words(&self, index: usize) -> String {
        let own = self.elements[index].to_string();
        if let Some(around) = self.arounds(index).next() {
            return format!("{own} in {around}");
        }
        let around = self
            .ancestors(index)
            .map(|outer| &self.elements[outer])
            .find(|outer| is_named(outer) && outer.parent.is_some());
        match around {
            Some(outer) => format!("{own} in {outer}"),
            None => own,
        }
    }

    /// What an element is known by; of a text without an id the element that it is in.
    fn as_meant(&self, index: usize) -> Option<Match> {
        let holder = std::iter::once(index)
            .chain(self.ancestors(index))
            .find(|&outer| !self.elements[outer].id.is_empty())?;
        Some(Match {
            id: self.elements[holder].id.clone(),
            words: self.in_words(index),
        })
    }

    fn is_interactive(&self, index: usize) -> bool {
        INTERACTIVE.contains(&self.elements[index].role.as_str())
    }
}

/// Whether a line is more than the page itself or a piece of a line of text.
fn is_part_of_page(element: &Element) -> bool {
    !matches!(element.role.as_str(), "RootWebArea" | LINE_OF_TEXT)
}

fn is_named(element: &Element) -> bool {
    !element.name.is_empty() && is_part_of_page(element)
}

impl std::fmt::Display for Element {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let role = match self.role.as_str() {
            "" => "text",
            role => role,
        };
        match self.name.as_str() {
            "" => write!(formatter, "{role}"),
            name => write!(formatter, "{role} \"{}\"", cut(name, 60)),
        }
    }
}

#[cfg(test)]
mod tests;
