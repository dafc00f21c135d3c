//! A text made from another by edits, which remembers where each part came from.

use super::{SourceFile, Span};

/// A place of a text and what comes there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; an empty span is a place where something is inserted.
    pub at: Span,
    /// What comes there, in order.
    pub parts: Vec<Part>,
}

/// A part of what an edit puts in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text of the original, kept or moved.
    Kept(Span),
    /// New text.
    New {
        /// The text.
        text: String,
        /// What of the original it stands for: where a message about it points.
        about: Span,
    },
}

impl Part {
    /// New text that stands for `about`.
    pub fn new(text: impl Into<String>, about: Span) -> Self {
        Self::New {
            text: text.into(),
            about,
        }
    }
}

/// Where the parts of an edited text came from.
#[derive(Debug)]
pub(super) struct Origin {
    source: SourceFile,
    /// In the order of the edited text, without gaps.
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    /// Where it begins in the edited text.
    start: usize,
    /// What it was, or stands for, in the original.
    was: Span,
    is_kept: bool,
}

impl SourceFile {
    /// This text with `edits`, which may not overlap. The result has the same name, and what is said about a place
    /// of it is said about the place in this text that it came from: see [`SourceFile::origin_of`].
    #[must_use]
    pub fn edited(&self, mut edits: Vec<Edit>) -> Self {
        edits.sort_by_key(|edit| (edit.at.start, edit.at.end));
        let mut builder = Builder {
            source: self,
            text: String::with_capacity(self.text().len()),
            pieces: Vec::new(),
        };
        let mut done = 0;
        for edit in &edits {
            if edit.at.start > done {
                builder.keep(Span {
                    start: done,
                    end: edit.at.start,
                });
            }
            for part in &edit.parts {
                match part {
                    Part::Kept(span) => builder.keep(*span),
                    Part::New { text, about } => builder.push(text, *about, false),
                }
            }
            done = edit.at.end.max(done);
        }
        let end = u32::try_from(self.text().len()).unwrap_or(u32::MAX);
        if end > done {
            builder.keep(Span { start: done, end });
        }
        let Builder { text, pieces, .. } = builder;
        Self::with_origin(
            self.name().to_owned(),
            text,
            Some(Origin {
                source: self.clone(),
                pieces,
            }),
        )
    }

    /// The text that a person wrote and the place in it that `span` came from: this one, unless it was edited.
    pub fn origin_of(&self, span: Span) -> (Self, Span) {
        match self.origin() {
            None => (self.clone(), span),
            Some(origin) => origin.source.origin_of(origin.span(span)),
        }
    }
}

struct Builder<'a> {
    source: &'a SourceFile,
    text: String,
    pieces: Vec<Piece>,
}

impl Builder<'_> {
    fn keep(&mut self, span: Span) {
        let text = self.source.slice(span);
        self.push(text, span, true);
    }

    fn push(&mut self, text: &str, was: Span, is_kept: bool) {
        if !text.is_empty() {
            self.pieces.push(Piece {
                start: self.text.len(),
                was,
                is_kept,
            });
            self.text.push_str(text);
        }
    }
}

impl Origin {
    fn span(&self, span: Span) -> Span {
        let (start, end) = (span.start as usize, span.end as usize);
        let Some(first) = self.piece(start) else {
            return Span::default();
        };
        let at_start = match first.is_kept {
            true => first.was.start as usize + (start - first.start),
            false => first.was.start as usize,
        };
        if end <= start {
            return Span::new(at_start, at_start);
        }
        let Some(last) = self.piece(end - 1) else {
            return Span::new(at_start, at_start);
        };
        let at_end = match last.is_kept {
            true => last.was.start as usize + (end - last.start),
            false => last.was.end as usize,
        };
        // What was moved may end before it begins: then its beginning is the place.
        match at_end > at_start {
            true => Span::new(at_start, at_end),
            false => Span::new(at_start, first.was.end as usize),
        }
    }

    fn piece(&self, offset: usize) -> Option<&Piece> {
        let after = self.pieces.partition_point(|piece| piece.start <= offset);
        self.pieces.get(after.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span_of(source: &SourceFile, text: &str) -> Span {
        let start = source.text().find(text).expect("it is there");
        Span::new(start, start + text.len())
    }

    #[test]
    fn places_of_an_edited_text_are_those_they_came_from() {
        let source = SourceFile::new("x.json", "one two\nthree four");
        let (two, three) = (span_of(&source, "two"), span_of(&source, "three"));
        let edited = source.edited(vec![
            Edit {
                at: three,
                parts: vec![
                    Part::new("<", three),
                    Part::Kept(two),
                    Part::new(">", three),
                ],
            },
            Edit {
                at: Span::new(0, 0),
                parts: vec![Part::new("zero\n", two)],
            },
        ]);
        assert_eq!(edited.text(), "zero\none two\n<two> four");
        assert_eq!(edited.name(), "x.json");
        let came_from = |start: usize, text: &str| {
            assert_eq!(&edited.text()[start..start + text.len()], text);
            let (origin, span) = edited.origin_of(Span::new(start, start + text.len()));
            (origin.slice(span).to_owned(), origin.position(span.start))
        };
        assert_eq!(came_from(0, "zero").0, "two");
        assert_eq!(came_from(5, "one").0, "one");
        // Moved text with new text after it: the place is where the moved text was.
        let (moved, position) = came_from(14, "two>");
        assert_eq!(moved, "two\nthree");
        assert_eq!((position.line, position.column), (1, 5));
        assert_eq!(came_from(13, "<").0, "three");
        assert_eq!(came_from(19, "four").0, "four");
        // The line of the original, wherever the line is now.
        assert_eq!(edited.position(19).line, 2);
        // Out of range is no panic.
        let _ = edited.origin_of(Span::new(500, 900));
    }

    #[test]
    fn edits_of_edits_lead_to_the_first_text() {
        let source = SourceFile::new("x", "abc");
        let insert = |at: usize, text: &str| Edit {
            at: Span::new(at, at),
            parts: vec![Part::new(text, Span::new(at, at + 1))],
        };
        let twice = source
            .edited(vec![insert(0, "1")])
            .edited(vec![insert(0, "2")]);
        assert_eq!(twice.text(), "21abc");
        let (origin, span) = twice.origin_of(Span::new(3, 4));
        assert_eq!((origin.text(), origin.slice(span)), ("abc", "b"));
    }
}
