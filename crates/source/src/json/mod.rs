//! JSON with spans: `serde_json` judges the grammar, and what it lets through becomes a tree.
//!
//! [`parse`] accepts exactly RFC 8259, and refuses besides duplicate keys and numbers that no `f64` can hold. The first
//! mistake in the grammar ends the reading; of the others all are told.

mod comments;
mod error;
mod node;
mod number;
#[cfg(test)]
mod properties;
mod string;
mod surrogates;
mod syntax;
#[cfg(test)]
mod tests;
mod tree;
mod value;

pub use comments::without_comments;
pub use error::{JsonError, JsonErrorKind};
pub use node::{Member, Node, NodeKind};
pub use number::is_large_integer;
pub(crate) use number::is_out_of_range;
pub use string::string_span;
pub use surrogates::{
    has_lone_surrogate, lone_surrogate, may_have_surrogates, without_lone_surrogates,
};
pub use value::{changes, has_inexact_number, mended, read_numbers_as_texts, read_value};

/// Bounds on what [`parse`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// An array or object inside this many others, itself included, is refused; so 128 allows 127 levels, as
    /// `serde_json` does. Values above [`Limits::DEEPEST`] count as that.
    pub max_depth: usize,
    /// Longest text in bytes. Values above 4 GiB count as that, since spans reach no further.
    pub max_bytes: usize,
    /// After this many errors one more, [`JsonErrorKind::TooManyErrors`], ends the reading.
    pub max_errors: usize,
}

impl Limits {
    /// The most that `max_depth` can ask for: what walks a tree of [`Node`]s recursively relies on it.
    pub const DEEPEST: usize = 512;
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

/// What [`parse`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The value; `None` if the grammar or a limit is broken. With other errors it is a best effort.
    pub root: Option<Node>,
    /// The mistakes in the order of their places; empty means that the text is valid and `root` is there.
    pub errors: Vec<JsonError>,
}

/// Reads one JSON text. Takes time linear in its length, whatever it holds.
pub fn parse(text: &str, limits: &Limits) -> Parsed {
    let longest = limits.max_bytes.min(u32::MAX as usize);
    if text.len() > longest {
        let kind = JsonErrorKind::TooLarge {
            bytes: text.len(),
            limit: longest,
        };
        let span = super::Span::new(0, 0);
        return Parsed {
            root: None,
            errors: vec![JsonError { kind, span }],
        };
    }
    let start = super::byte_order_mark(text);
    let mark = (start > 0).then(|| JsonError {
        kind: JsonErrorKind::ByteOrderMark,
        span: super::Span::new(0, start),
    });
    let mut errors = Vec::from_iter(mark);
    if let Some(mistake) = syntax::first_mistake(text, start) {
        errors.push(mistake);
        return Parsed { root: None, errors };
    }
    let mut builder = tree::Builder::new(text, start, *limits);
    let root = builder.build();
    // Duplicate keys are found at an object's end, so after what is wrong inside it.
    builder.errors.sort_by_key(|error| {
        let is_last = matches!(error.kind, JsonErrorKind::TooManyErrors { .. });
        (is_last, error.span.start)
    });
    errors.append(&mut builder.errors);
    Parsed { root, errors }
}

/// Whether `character` takes no visible room, or only room.
fn is_invisible(character: char) -> bool {
    character.is_whitespace() || character.is_control() || crate::value::is_invisible(character)
}
