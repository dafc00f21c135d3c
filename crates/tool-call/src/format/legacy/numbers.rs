//! Numbers of version 1.x: literal, as text, or filled in when the step is played.

use super::super::reader::{Reader, found};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::value::cut;
use cuecard_source::{Part, Span};

/// A number that goes into a script.
pub(super) enum Number {
    /// Known now.
    Known(f64),
    /// One reference, with braces, as it stands in the string.
    Reference(Span),
}

impl Number {
    /// The number under `what`, if it is one; if not, that is reported.
    pub(super) fn read(
        reader: &mut Reader<'_>,
        node: &Node,
        pointer: &str,
        what: &str,
    ) -> Option<Self> {
        let number = match &node.kind {
            NodeKind::Number(_) => node.as_f64(),
            NodeKind::String(text) if is_reference(text) => {
                return Some(Self::Reference(inside(node)));
            }
            NodeKind::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number.filter(|number: &f64| number.is_finite()) {
            Some(number) => Some(Self::Known(number)),
            None => {
                let wanted = "a number, or one reference to a number";
                let diagnostic = reader.error(
                    codes::PARAM_TYPE,
                    node.span,
                    format!("{what} must be {wanted}, not {}", found(node)),
                );
                diagnostic.pointer = Some(pointer.to_owned());
                None
            }
        }
    }

    /// The number times `factor`, in a script.
    pub(super) fn script(&self, factor: f64, about: Span) -> Vec<Part> {
        match self {
            Self::Known(number) => vec![Part::new(shown(number * factor), about)],
            Self::Reference(span) if factor == 1.0 => vec![
                Part::new("(", about),
                Part::Kept(*span),
                Part::new(")", about),
            ],
            Self::Reference(span) => vec![
                Part::new(format!("{} * (", shown(factor)), about),
                Part::Kept(*span),
                Part::new(")", about),
            ],
        }
    }
}

/// To the thousandth, without what binary fractions add.
pub(super) fn shown(number: f64) -> String {
    let rounded = (number * 1000.0).round() / 1000.0;
    // Adding makes a zero of the negative zero.
    format!("{}", rounded + 0.0)
}

/// Whether a text is one reference and nothing else.
pub(super) fn is_reference(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("{{")
        && text.find("}}") == Some(text.len() - 2)
        && text.matches("{{").count() == 1
}

/// A string without its quotes, escapes as they are written.
pub(super) fn inside(node: &Node) -> Span {
    Span {
        start: node.span.start + 1,
        end: node.span.end - 1,
    }
}

/// The beginning of a text for messages.
pub(super) fn brief(text: &str) -> String {
    cut(text, 40).into_owned()
}
