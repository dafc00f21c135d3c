//! What an element is called: its name, or what has none by the text on it.

use std::borrow::Cow;

use super::fingerprint::LONGEST_TEXT;
use crate::containers::holds_value;
use crate::describe::is_frame;
use crate::dom::{DomElement, DomKind, NodeId};
use crate::selector::{CONTAINERS, Finder};
use crate::snapshot::single_spaces;
use crate::words::fold_name;
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
            && !holds_value(element)
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

    /// The name of an element before a count that stands in an element of its own; `None` if it has no such count.
    pub(super) fn name_before_badge(&self, id: NodeId, element: &DomElement) -> Option<String> {
        let name = self.name_or_text(id, element);
        let bare = name.trim_end_matches(|char: char| char.is_ascii_digit());
        let count = &name[bare.len()..];
        let bare = bare.trim_end();
        if count.is_empty() || bare.is_empty() {
            return None;
        }
        let mut inside = self.state.descendants(id);
        inside
            .any(|(inner, _)| self.state.visible_text(inner).trim() == count)
            .then(|| bare.to_owned())
    }
}

/// Whether two elements are of one role, or without any of one tag.
fn is_of_kind(one: &DomElement, other: &DomElement) -> bool {
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
