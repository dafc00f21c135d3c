//! What an element is called: its name, or what has none by the text on it.

use std::borrow::Cow;
use std::collections::HashMap;

use super::fingerprint::LONGEST_TEXT;
use crate::Fingerprint;
use crate::describe::is_frame;
use crate::dom::{DomElement, DomKind, NodeId};
use crate::selector::{CONTAINERS, Finder};
use crate::snapshot::single_spaces;
use crate::words::{NameMatch, NameQuery, fold_name};
use cuecard_source::value::cut;

/// A text in an element with more nodes than this says nothing about what it is.
const MOST_INSIDE: usize = 100;

/// Elements whose text is none that people read on them.
const TEXTLESS: &[&str] = &["input", "select", "textarea", "body", "html"];

impl Finder<'_> {
    /// What an element is called, cut as it is remembered; empty if nothing is written on it.
    pub(crate) fn name_or_text<'e>(&self, id: NodeId, element: &'e DomElement) -> Cow<'e, str> {
        match element.name.is_empty() {
            true => Cow::Owned(self.text_for_name(id, element).unwrap_or_default()),
            false => cut(&element.name, LONGEST_TEXT),
        }
    }

    /// The text on an element without a name; empty if nothing is written on it. None of what has a name, of a field, of
    /// a container, and of what holds more than a label. Of elements of a kind inside each other with one text, only
    /// the one that people act on is called by it, else the innermost.
    pub(super) fn text_for_name(&self, id: NodeId, element: &DomElement) -> Option<String> {
        let is_nameable = element.name.is_empty()
            && !CONTAINERS.contains(&element.role.as_str())
            && !TEXTLESS.contains(&element.tag_name.as_str());
        let text = is_nameable.then(|| self.label_on(id)).flatten()?;
        if text.is_empty() {
            return Some(text);
        }
        let is_alike = |other: NodeId, around: &DomElement| {
            is_of_kind(around, element) && self.label_on(other).as_ref() == Some(&text)
        };
        let inside = || self.state.descendants(id);
        let around = || {
            let outer = self.state.ancestor_elements(id);
            // What is around holds as much at least: from the first that holds more on, none has this text.
            outer.take_while(|(other, _)| self.label_on(*other).as_ref() == Some(&text))
        };
        let is_label = match element.is_interactive {
            true => inside().any(|(other, inner)| inner.is_interactive && is_alike(other, inner)),
            false => {
                inside().any(|(other, inner)| is_alike(other, inner))
                    || around().any(|(other, outer)| outer.is_interactive && is_alike(other, outer))
            }
        };
        (!is_label).then_some(text)
    }

    /// The visible text in an element with few nodes, if it is no longer than a label.
    pub(super) fn label_on(&self, id: NodeId) -> Option<String> {
        let end = self.state.node(id).end as usize;
        if end - id.index() > MOST_INSIDE {
            return None;
        }
        if self.holds_frame(id) {
            return None;
        }
        let mut text = String::new();
        for node in &self.state.nodes[id.index()..end] {
            if let DomKind::Text(run) = &node.kind
                && run.is_visible
            {
                text.push_str(&run.text);
            }
        }
        let text = single_spaces(&text);
        match text.chars().nth(LONGEST_TEXT) {
            Some(_) => None,
            None => Some(text),
        }
    }

    /// Whether there is a frame in an element: what that shows is the text of something in the frame.
    pub(super) fn holds_frame(&self, id: NodeId) -> bool {
        let mut inside = self.state.descendants(id);
        inside.any(|(_, inner)| is_frame(&inner.tag_name))
    }

    /// Whether an element is called as what was remembered.
    pub(super) fn has_name(
        &self,
        id: NodeId,
        element: &DomElement,
        fingerprint: &Fingerprint,
    ) -> bool {
        let name = match fingerprint.is_called_by_text() {
            true => self.name_or_text(id, element),
            false => cut(&element.name, LONGEST_TEXT),
        };
        let called = fingerprint.called();
        NameQuery::new(called).fits(&name, NameMatch::Folded) || is_without_gaps(&name, called)
    }

    /// Whether an element is visible, of the kind of another one and called as that is.
    pub(super) fn is_twin(&self, id: NodeId, element: &DomElement, own: &Fingerprint) -> bool {
        element.is_visible
            && element.role == own.role
            && (!element.role.is_empty() || element.tag_name == own.tag)
            && self.has_name(id, element, own)
    }

    /// Which of the elements of its kind that are called as it is an element is, from 1, and how many there are.
    pub(super) fn ordinal(&self, id: NodeId, fingerprint: &Fingerprint) -> (usize, usize) {
        let (mut ordinal, mut of) = (0, 0);
        for (place, other) in self.state.elements() {
            if place == id || self.is_twin(place, other, fingerprint) {
                of += 1;
                if place <= id {
                    ordinal += 1;
                }
            }
        }
        (ordinal, of)
    }

    /// Which of its twins each visible element is, for a whole state at once.
    pub(super) fn ordinals(&self, fingerprint: &Fingerprint) -> HashMap<NodeId, usize> {
        let by_text = fingerprint.is_called_by_text();
        let mut counts: HashMap<(&str, &str, String), usize> = HashMap::new();
        let mut ordinals = HashMap::new();
        let visible = self
            .state
            .elements()
            .filter(|(_, element)| element.is_visible);
        for (id, element) in visible {
            let tag = match element.role.is_empty() {
                true => element.tag_name.as_str(),
                false => "",
            };
            let name = match by_text {
                true => self.name_or_text(id, element),
                false => cut(&element.name, LONGEST_TEXT),
            };
            let count = counts
                .entry((element.role.as_str(), tag, fold_name(&name)))
                .or_default();
            *count += 1;
            ordinals.insert(id, *count);
        }
        ordinals
    }
}

/// Whether two elements are of one role, or without any of one tag.
pub(super) fn is_of_kind(one: &DomElement, other: &DomElement) -> bool {
    one.role == other.role && (!one.role.is_empty() || one.tag_name == other.tag_name)
}

/// Whether two names are the same but for gaps between their words: whether parts of a name stand apart is for the style
/// sheet to say, which is another one elsewhere. Between numbers a gap counts.
pub(super) fn is_without_gaps(name: &str, other: &str) -> bool {
    let count = |name: &str| name.chars().filter(|sign| sign.is_alphanumeric()).count();
    let squeezed = |name: &str| {
        let mut whole = String::new();
        for word in fold_name(name).split(' ') {
            let is_number = |sign: Option<char>| sign.is_some_and(char::is_numeric);
            if is_number(whole.chars().next_back()) && is_number(word.chars().next()) {
                whole.push(' ');
            }
            whole.push_str(word);
        }
        whole
    };
    count(name) > 0 && count(name) == count(other) && squeezed(name) == squeezed(other)
}

#[cfg(test)]
mod tests {
    use super::super::{Remembered, Verdict};
    use super::*;
    use crate::dom::DomState;
    use crate::dom::testing::page;

    /// The elements with a tag and a text, outermost first.
    fn showing(state: &DomState, tag: &str, text: &str) -> Vec<NodeId> {
        let elements = state.elements();
        elements
            .filter(|(id, element)| {
                element.tag_name == tag && single_spaces(&state.visible_text(*id)) == text
            })
            .map(|(id, _)| id)
            .collect()
    }

    fn identified(state: &DomState, id: NodeId) -> super::super::Identification {
        let finder = Finder::new(state, "data-testid");
        finder.identify(id, None).expect("an element")
    }

    const QUESTIONS: &str = "main\n  details\n    summary | What does it cost?\n  details\n    summary | Who are you?\n  div | + Add a list\n  div | Nothing yet";

    #[test]
    fn what_has_no_name_is_known_by_the_text_that_is_on_it_alone() {
        let old = page(QUESTIONS);
        for (tag, text) in [("summary", "Who are you?"), ("div", "+ Add a list")] {
            let [id] = showing(&old, tag, text)[..] else {
                panic!("{text}");
            };
            let known = identified(&old, id);
            let own = &known.fingerprint;
            assert_eq!(
                (own.name.as_str(), own.text.as_deref(), own.of),
                ("", Some(text), 1)
            );
            assert_eq!((&known.warning, &own.by_position), (&None, &Vec::new()));
            // Others come and go, before it and behind it.
            for (from, to) in [
                ("details\n    summary | What does it cost?\n  ", ""),
                ("div | Nothing yet", "div | Bread\n  div | Butter"),
                ("main\n", "main\n  div | News\n"),
            ] {
                let new = page(&QUESTIONS.replace(from, to));
                let verdict = Finder::new(&new, "data-testid").verdict(Remembered {
                    selectors: &known.selectors,
                    fingerprint: own,
                });
                let found = showing(&new, tag, text)[0];
                assert_eq!(verdict, Verdict::Same(found), "{text}: {from:?}");
            }
            // Another text in its place is another element.
            let new = page(&QUESTIONS.replace(text, "Where are you?"));
            let verdict = Finder::new(&new, "data-testid").verdict(Remembered {
                selectors: &known.selectors,
                fingerprint: own,
            });
            assert_eq!(verdict.target(), None, "{verdict:?}");
        }
    }

    #[test]
    fn of_elements_inside_each_other_one_is_called_by_their_text() {
        for (lines, carrier) in [
            ("main\n  div\n    div\n      div | Add", 2),
            ("main\n  div\n    div ~listener\n      div | Add", 1),
        ] {
            let state = page(lines);
            let finder = Finder::new(&state, "data-testid");
            let nested = showing(&state, "div", "Add");
            let called: Vec<_> = nested
                .iter()
                .map(|&id| {
                    let element = state.element(id).expect("an element");
                    finder.text_for_name(id, element)
                })
                .collect();
            let mut expected = vec![None; 3];
            expected[carrier] = Some("Add".to_owned());
            assert_eq!(called, expected, "{lines}");
            let fingerprint = identified(&state, nested[carrier]).fingerprint;
            assert_eq!(fingerprint.of, 1, "{fingerprint:?}");
        }
    }

    #[test]
    fn no_text_of_what_holds_more_than_a_label_is_a_name() {
        let long = "word ".repeat(30);
        let many = "    i | x\n".repeat(MOST_INSIDE);
        for (lines, tag) in [
            (format!("main\n  div | {long}"), "div"),
            (format!("main\n  div\n{many}"), "div"),
            ("main\n  textarea | Dear all".to_owned(), "textarea"),
            ("section \"Cart\"\n  p | Tea".to_owned(), "section"),
        ] {
            let state = page(&lines);
            let mut found = state
                .elements()
                .filter(|(_, element)| element.tag_name == tag);
            let (id, element) = found.next().expect(tag);
            let finder = Finder::new(&state, "data-testid");
            assert_eq!(finder.text_for_name(id, element), None, "{tag}");
        }
        // Nothing but a sign or an icon is a text too, and each is another one.
        let state = page("main\n  span | \u{1f511}\n  span | \u{1f5d1}\n  span | \u{2026}");
        let icon = showing(&state, "span", "\u{1f511}")[0];
        let known = identified(&state, icon).fingerprint;
        assert_eq!((known.text.as_deref(), known.of), (Some("\u{1f511}"), 1));
    }

    #[test]
    fn what_is_asserted_is_not_what_an_element_is_called_by() {
        let state = page("main\n  p | Paid\n  p | Open");
        let id = showing(&state, "p", "Paid")[0];
        let finder = Finder::new(&state, "data-testid");
        let known = finder
            .identify_apart_from_text(id, None)
            .expect("an element");
        assert_eq!(known.fingerprint.text, None);
        assert!(!known.fingerprint.is_called_by_text());
    }

    #[test]
    fn gaps_are_for_the_style_sheet_to_say_but_between_numbers() {
        assert!(is_without_gaps("Drafts 12", "drafts12"));
        assert!(!is_without_gaps("Room 1 12", "Room 11 2"));
        assert!(!is_without_gaps("Drafts 12", "Drafts 13") && !is_without_gaps("⋯", "✎"));
    }
}
