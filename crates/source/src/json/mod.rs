//! JSON with spans: a strict reader that finds several mistakes in one pass.
//!
//! [`parse`] accepts exactly RFC 8259, and refuses besides duplicate keys and numbers that no `f64` can hold. After a
//! mistake it goes on with what was most likely meant, so that a person sees all mistakes of a file at once; what it
//! then returns as `root` is a best effort for further checks, never something to act on.

mod comments;
mod error;
mod message;
mod node;
mod number;
#[cfg(test)]
mod properties;
mod reader;
mod recovery;
mod string;
mod surrogates;
mod trivia;
mod value;
mod word;

pub use comments::without_comments;
pub use error::{JsonError, JsonErrorKind, NumberProblem};
pub use node::{Member, Node, NodeKind};
pub use number::is_large_integer;
pub(crate) use number::is_out_of_range;
pub use string::string_span;
pub use surrogates::{lone_surrogate, without_lone_surrogates};
pub use value::{has_large_integer, read_value, with_large_integers_as_text};

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
    /// The value. With errors it is a best effort and may be missing.
    pub root: Option<Node>,
    /// All mistakes in the order of their places; empty means that the text is valid and `root` is there.
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
        return Parsed {
            root: None,
            errors: vec![JsonError {
                kind,
                span: super::Span::new(0, 0),
            }],
        };
    }
    reader::Reader::new(text, *limits).read()
}

/// Whether `character` takes no visible room, or only room: whitespace, controls, zero-width and direction marks.
fn is_invisible(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
