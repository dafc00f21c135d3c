//! Which element a text means: the one whose whole name or text it is.

use super::carriers::carriers;
use super::snapshot::{Element, Snapshot, single_spaces};
use crate::diagnostic::did_you_mean;
use crate::value::cut;

/// How many elements a message lists.
const SHOWN: usize = 8;

/// How many names are looked at as what a text may be a slip of, and by how many bytes they may differ in length.
const MOST_COMPARED: usize = 2_000;
const MOST_SLIPS: usize = 8;

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

/// Not exactly one element fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotOne {
    /// How many fit.
    pub count: usize,
    /// Those that fit, or those that come near if none fits: the first few, in words.
    pub candidates: Vec<String>,
}

impl Snapshot {
    /// The one element whose name is `text`, apart from spaces. Of an element and the text or heading inside it that
    /// gives it its name, the one that people act on counts; and if any such element has the name, what is mere
    /// text doesn't count.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn by_text(&self, text: &str) -> Result<&Element, NotOne> {
        let wanted = single_spaces(text);
        let named: Vec<usize> = (0..self.elements.len())
            .filter(|&index| {
                let element = &self.elements[index];
                element.name == wanted && is_element(element)
            })
            .collect();
        let carriers = carriers(
            &named,
            |&index| self.ancestors(index),
            |&index| self.is_interactive(index),
            |&index| self.elements[index].role.is_empty(),
        );
        match carriers.as_slice() {
            [one] => Ok(&self.elements[*one]),
            [] => Err(NotOne {
                count: 0,
                candidates: self.near(&wanted),
            }),
            several => Err(NotOne {
                count: several.len(),
                candidates: several
                    .iter()
                    .take(SHOWN)
                    .map(|&index| self.in_words(index))
                    .collect(),
            }),
        }
    }

    /// The elements whose names come near: the same but for capital letters, then those that hold it, then what it
    /// may be a slip of.
    fn near(&self, wanted: &str) -> Vec<String> {
        let lower = wanted.to_lowercase();
        let mut found: Vec<usize> = Vec::new();
        let fits: [&dyn Fn(&str) -> bool; 2] =
            [&|name| name == lower, &|name| name.contains(&lower)];
        for fit in fits {
            for (index, element) in self.elements.iter().enumerate() {
                let is_new = !found
                    .iter()
                    .any(|&known| self.elements[known].name == element.name);
                if is_new && is_element(element) && fit(&element.name.to_lowercase()) {
                    found.push(index);
                }
                if found.len() == SHOWN {
                    break;
                }
            }
        }
        if found.is_empty() {
            let names = self.elements.iter().filter(|element| {
                is_element(element) && element.name.len().abs_diff(wanted.len()) <= MOST_SLIPS
            });
            let names = names
                .map(|element| element.name.as_str())
                .take(MOST_COMPARED);
            let name = did_you_mean(wanted, names);
            found.extend(
                self.elements
                    .iter()
                    .position(|element| is_element(element) && Some(element.name.as_str()) == name),
            );
        }
        found
            .into_iter()
            .map(|index| self.in_words(index))
            .collect()
    }

    /// An element as a message names it: what it is, what it is called, and what it is in.
    fn in_words(&self, index: usize) -> String {
        let own = self.elements[index].to_string();
        let around = self
            .ancestors(index)
            .map(|outer| &self.elements[outer])
            .find(|outer| !outer.name.is_empty() && outer.parent.is_some());
        match around {
            Some(outer) => format!("{own} in {outer}"),
            None => own,
        }
    }

    fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.elements[index].parent, |&outer| {
            self.elements[outer].parent
        })
    }

    fn is_interactive(&self, index: usize) -> bool {
        INTERACTIVE.contains(&self.elements[index].role.as_str())
    }
}

/// Whether a line is more than the page itself or a piece of a line of text.
fn is_element(element: &Element) -> bool {
    !element.name.is_empty() && !matches!(element.role.as_str(), "RootWebArea" | "InlineTextBox")
}

impl std::fmt::Display for Element {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let role = match self.role.as_str() {
            "" => "text",
            role => role,
        };
        write!(formatter, "{role} \"{}\"", cut(&self.name, 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(lines: &str) -> Snapshot {
        Snapshot::read(lines).expect("it is small")
    }

    #[track_caller]
    fn found(lines: &str, text: &str) -> String {
        let snapshot = snapshot(lines);
        snapshot.by_text(text).expect("one fits").uid.clone()
    }

    #[test]
    fn the_element_that_people_act_on_is_meant() {
        let page = include_str!("snapshots/newer.txt");
        for (text, uid) in [
            // The heading has the same name.
            ("Log in", "1_5"),
            // The label is text.
            ("Name", "1_4"),
            // The heading is inside the link.
            ("Home", "1_6"),
            ("  Plain \n words ", "1_2"),
            ("One", "1_13"),
        ] {
            assert_eq!(found(page, text), uid, "{text}");
        }
    }

    #[test]
    fn what_gives_an_element_its_name_is_not_another_one() {
        let nested = "uid=0 RootWebArea \"Buy\"\n  uid=1 row \"Buy\"\n    uid=2 button \"Buy\"\n      uid=3 StaticText \"Buy\"\n        uid=4 InlineTextBox \"Buy\"";
        assert_eq!(found(nested, "Buy"), "2");
        let heading = "uid=1 listitem \"Tea\"\n  uid=2 heading \"Tea\"\n    uid=3 \"Tea\"";
        assert_eq!(found(heading, "Tea"), "2");
    }

    #[test]
    fn several_are_listed_with_what_they_are_in() {
        let rows = "uid=0 RootWebArea \"Delete\"\n  uid=1 dialog \"Delete\"\n    uid=2 row \"Milk\"\n      uid=3 button \"Delete\"\n    uid=4 row \"Tea\"\n      uid=5 button \"Delete\"";
        let error = snapshot(rows).by_text("Delete").expect_err("two fit");
        assert_eq!(error.count, 2);
        assert_eq!(
            error.candidates,
            [
                "button \"Delete\" in row \"Milk\"",
                "button \"Delete\" in row \"Tea\""
            ]
        );
        let many = "uid=1 button \"x\"\n".repeat(50);
        let error = snapshot(&many).by_text("x").expect_err("fifty fit");
        assert_eq!((error.count, error.candidates.len()), (50, SHOWN));
    }

    #[test]
    fn what_comes_near_is_said() {
        let page =
            "uid=1 button \"Sign in\"\nuid=2 \"Sign in to read on\"\nuid=3 link \"Registre\"";
        let near = |text: &str| {
            snapshot(page)
                .by_text(text)
                .expect_err("none fits")
                .candidates
        };
        assert_eq!(
            near("sign In"),
            ["button \"Sign in\"", "text \"Sign in to read on\""]
        );
        assert_eq!(near("Register"), ["link \"Registre\""]);
        assert_eq!(near("Zebra"), [] as [&str; 0]);
    }
}
