//! JSON with spans.
//!
//! [`parse`] accepts exactly RFC 8259, and refuses besides duplicate keys, halves of surrogate pairs and numbers that no `f64`
//! can hold. The first mistake in the grammar ends the reading; of the others all are told.

mod node;
mod number;
#[cfg(test)]
mod properties;
mod string;
mod surrogates;
#[cfg(test)]
mod tests;
mod tree;
mod value;

pub use node::{Member, Node, NodeKind};
pub use number::is_large_integer;
pub(crate) use number::is_out_of_range;
pub use string::string_span;
pub use surrogates::{
    has_lone_surrogate, lone_surrogate, may_have_surrogates, without_lone_surrogates,
};
pub use value::{
    changes, has_inexact_number, mended, read_exact, read_numbers_as_texts, read_value, write_exact,
};

use crate::Span;
use crate::mistake::{Mistake, MistakeKind, Parsed};

/// Bounds on what [`parse`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// An array or object inside this many others, itself included, is refused; so 128 allows 127 levels, as
    /// `serde_json` does. Values above [`Limits::DEEPEST`] count as that.
    pub max_depth: usize,
    /// Longest text in bytes. Values above 4 GiB count as that, since spans reach no further.
    pub max_bytes: usize,
    /// After this many mistakes one more, [`MistakeKind::TooMany`], ends the reading.
    pub max_errors: usize,
}

impl Limits {
    /// The most that `max_depth` can ask for: what walks a tree of [`Node`]s recursively relies on it.
    pub const DEEPEST: usize = 255;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_depth: 128,
            max_bytes: 256 * 1024 * 1024,
            max_errors: 100,
        }
    }
}

/// Reads one JSON text. Takes time linear in its length, whatever it holds.
pub fn parse(text: &str, limits: &Limits) -> Parsed {
    read(text, limits, false)
}

/// As [`parse`], of a part of a text, such as a line of JSON Lines; the places are those in the whole.
pub fn parse_part(text: &str, part: Span, limits: &Limits) -> Parsed {
    let end = part.range().end.min(text.len());
    let mut builder = tree::Builder::new(&text[..end], part.range().start, *limits);
    let root = builder.build(false);
    let errors = builder.mistakes.sorted();
    Parsed::new(root, errors)
}

/// As [`parse`], of a text in which editors allow comments, and commas before closing brackets.
pub fn parse_with_comments(text: &str, limits: &Limits) -> Parsed {
    read(text, limits, true)
}

fn read(text: &str, limits: &Limits, has_comments: bool) -> Parsed {
    let longest = limits.max_bytes.min(u32::MAX as usize);
    if text.len() > longest {
        return Parsed::too_large(text, longest, "split the file");
    }
    let start = super::byte_order_mark(text);
    let mut builder = tree::Builder::new(text, start, *limits);
    let root = builder.build(has_comments);
    let mut errors = builder.mistakes.sorted();
    if start > 0 {
        let (message, help) = (
            "the text begins with a byte order mark",
            "save the file as UTF-8 without a byte order mark",
        );
        let span = Span::new(0, start);
        errors.insert(
            0,
            Mistake::new(MistakeKind::ByteOrderMark, span, message, help),
        );
    }
    Parsed::new(root, errors)
}
