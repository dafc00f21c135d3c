//! A text made from another by edits, which remembers where each part came from.

use super::{SourceFile, Span};

/// A place of a text, and the text that comes there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced, and what a message about the new text points at; an empty span is a place where something is
    /// inserted.
    pub at: Span,
    /// The new text.
    pub text: String,
}

impl Edit {
    /// An edit of what stands at `at`.
    pub fn new(at: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { at, text }
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
        let length = self.text().len();
        edits.push(Edit::new(Span::new(length, length), ""));
        let (mut text, mut pieces) = (String::with_capacity(length), Vec::new());
        let mut push = |part: &str, was: Span, is_kept: bool| {
            if !part.is_empty() {
                let start = text.len();
                text.push_str(part);
                pieces.push(Piece {
                    start,
                    was,
                    is_kept,
                });
            }
        };
        let mut done = 0;
        for edit in &edits {
            let kept = Span {
                start: done,
                end: edit.at.start,
            };
            push(self.slice(kept), kept, true);
            push(&edit.text, edit.at, false);
            done = edit.at.end.max(done);
        }
        let source = self.clone();
        let origin = Origin { source, pieces };
        Self::with_origin(self.name().to_owned(), text, Some(origin))
    }

    /// The text that a person wrote and the place in it that `span` came from: this one, unless it was edited.
    pub fn origin_of(&self, span: Span) -> (Self, Span) {
        match self.origin() {
            None => (self.clone(), span),
            Some(origin) => origin.source.origin_of(origin.span(span)),
        }
    }
}

impl Origin {
    fn span(&self, span: Span) -> Span {
        let (start, end) = (span.start as usize, span.end as usize);
        let Some(first) = self.piece(start) else {
            return Span::default();
        };
        let within = |piece: &Piece, offset: usize| match piece.is_kept {
            true => offset - piece.start,
            false => 0,
        };
        let at_start = first.was.start as usize + within(first, start);
        let last = end.checked_sub(1).filter(|last| *last >= start);
        let at_end = match last.and_then(|last| self.piece(last)) {
            Some(last) if last.is_kept => last.was.start as usize + within(last, end),
            Some(last) => last.was.end as usize,
            None => at_start,
        };
        Span::new(at_start, at_end)
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
        let three = span_of(&source, "three");
        let edited = source.edited(vec![
            Edit::new(three, "<new>"),
            Edit::new(Span::new(0, 0), "zero\n"),
        ]);
        assert_eq!(edited.text(), "zero\none two\n<new> four");
        assert_eq!(edited.name(), "x.json");
        let came_from = |start: usize, text: &str| {
            assert_eq!(&edited.text()[start..start + text.len()], text);
            let (origin, span) = edited.origin_of(Span::new(start, start + text.len()));
            origin.slice(span).to_owned()
        };
        assert_eq!(came_from(0, "zero"), "");
        assert_eq!(came_from(5, "one"), "one");
        assert_eq!(came_from(13, "<"), "three");
        assert_eq!(came_from(16, "w> four"), "three four");
        assert_eq!(came_from(9, "two\n<"), "two\nthree");
        assert_eq!(came_from(19, "four"), "four");
        // The line of the original, wherever the line is now.
        assert_eq!(edited.position(19).line, 2);
        // Out of range is no panic.
        let _ = edited.origin_of(Span::new(500, 900));
    }

    #[test]
    fn edits_of_edits_lead_to_the_first_text() {
        let source = SourceFile::new("x", "abc");
        let insert = |text: &str| vec![Edit::new(Span::new(0, 0), text)];
        let twice = source.edited(insert("1")).edited(insert("2"));
        assert_eq!(twice.text(), "21abc");
        let (origin, span) = twice.origin_of(Span::new(3, 4));
        assert_eq!((origin.text(), origin.slice(span)), ("abc", "b"));
    }
}
