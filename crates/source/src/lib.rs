//! Text and what it says: JSON, YAML and TOML read into one tree in which every value knows its place; diagnostics with
//! their codes; values that know where they came from; secrets and how they are taken out; the predicates that say
//! whether what arrived is what was expected.
//!
//! Takes text, gives trees, values and findings. Knows no format of ours, and does no I/O.

pub mod decode;
pub mod detect;
pub mod diagnostic;
pub mod document;
mod edited;
mod effects;
pub mod json;
pub mod matching;
mod mistake;
pub mod reader;
pub mod toml;
pub mod value;
pub mod values;
pub mod yaml;

pub use edited::Edit;
pub use effects::Effects;
pub use mistake::{Mistake, MistakeKind, Parsed};

use std::sync::Arc;

/// A byte range `start..end` of one source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span `start..end`; offsets beyond 4 GiB are clamped, and the readers refuse such files.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self {
            start: clamp(start),
            end: clamp(end),
        }
    }

    /// The span as a range of byte offsets.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A place as people count it: both numbers start at 1, columns are characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// One text with the name it is shown under. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SourceFile {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: String,
    text: String,
    line_starts: Vec<u32>,
    /// What it was made from, if it is not what a person wrote.
    origin: Option<edited::Origin>,
    is_withheld: bool,
}

impl Default for SourceFile {
    fn default() -> Self {
        Self::new("", "")
    }
}

impl SourceFile {
    /// A source called `name` (a path as the user wrote it, or `<standard input>`).
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::with_origin(name.into(), text.into(), None)
    }

    fn with_origin(name: String, text: String, origin: Option<edited::Origin>) -> Self {
        let line_starts = std::iter::once(0)
            .chain(
                text.bytes()
                    .enumerate()
                    .filter(|&(_, byte)| byte == b'\n')
                    .map(|(offset, _)| u32::try_from(offset + 1).unwrap_or(u32::MAX)),
            )
            .collect();
        Self {
            inner: Arc::new(Inner {
                name,
                text,
                line_starts,
                origin,
                is_withheld: false,
            }),
        }
    }

    /// A source that may hold secrets, so that nothing of it is shown but where something stands: its text is painted
    /// over, and every place in it stays what it is.
    pub fn withheld(name: impl Into<String>, text: &str) -> Self {
        let mut source = Self::new(name, text.chars().map(paint).collect::<String>());
        if let Some(inner) = Arc::get_mut(&mut source.inner) {
            inner.is_withheld = true;
        }
        source
    }

    /// Whether [`Self::withheld`] made it.
    pub fn is_withheld(&self) -> bool {
        self.inner.is_withheld
    }

    /// The name shown in messages.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// The text under `span`, empty where the span is out of range or cuts a character.
    pub fn slice(&self, span: Span) -> &str {
        self.inner.text.get(span.range()).unwrap_or("")
    }

    fn origin(&self) -> Option<&edited::Origin> {
        self.inner.origin.as_ref()
    }

    /// Line and column of a byte offset, in the text that a person wrote; an offset past the end is the end.
    pub fn position(&self, offset: u32) -> Position {
        if self.origin().is_some() {
            let (origin, span) = self.origin_of(Span {
                start: offset,
                end: offset,
            });
            return origin.position(span.start);
        }
        let offset = (offset as usize).min(self.inner.text.len());
        let line_idx = self
            .inner
            .line_starts
            .partition_point(|&start| start as usize <= offset)
            .saturating_sub(1);
        // A byte order mark takes no column.
        let line_start = match line_idx {
            0 => byte_order_mark(&self.inner.text).min(offset),
            _ => self.inner.line_starts[line_idx] as usize,
        };
        let column = self
            .inner
            .text
            .get(line_start..offset)
            .map_or(offset - line_start, |before| before.chars().count());
        Position {
            line: line_idx + 1,
            column: column + 1,
        }
    }
}

/// A character of as many bytes that says nothing; what separates words and lines stays.
pub fn paint(character: char) -> char {
    match character.len_utf8() {
        _ if character == ' ' || character.is_ascii_control() => character,
        1 => '*',
        2 => '·',
        3 => '•',
        _ => '\u{10101}',
    }
}

/// Length in bytes of the byte order mark at the start of `text`, 0 without one.
pub fn byte_order_mark(text: &str) -> usize {
    match text.starts_with('\u{feff}') {
        true => '\u{feff}'.len_utf8(),
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let source = SourceFile::new("x.json", "{\n  \"é\": 1\n}");
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        let one = source.text().find('1').expect("the digit is there");
        let at = source.position(u32::try_from(one).expect("small"));
        assert_eq!(at, Position { line: 2, column: 8 });
        assert_eq!(source.position(999).line, 3);
        assert_eq!(
            SourceFile::new("e", "").position(0),
            Position { line: 1, column: 1 }
        );
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let source = SourceFile::new("x.json", "\u{feff}{\n}");
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.position(3), Position { line: 1, column: 1 });
        assert_eq!(source.position(4), Position { line: 1, column: 2 });
        assert_eq!(source.position(5), Position { line: 2, column: 1 });
    }

    #[test]
    fn a_slice_out_of_range_is_empty() {
        let source = SourceFile::new("x", "é");
        assert_eq!(source.slice(Span::new(0, 2)), "é");
        assert_eq!(source.slice(Span::new(0, 1)), "");
        assert_eq!(source.slice(Span::new(5, 9)), "");
    }
}
