//! Places in bytes: the parser counts characters, and its places are wider than what a person would mark.

use saphyr_parser::Marker;

/// Finds the bytes of characters.
pub(super) struct Offsets<'text> {
    text: &'text str,
    /// What stands before `text` in the file.
    base: usize,
    /// The byte of each 64th character; empty if each character is one byte.
    marks: Vec<u32>,
}

const STRIDE: usize = 64;

impl<'text> Offsets<'text> {
    /// The places of `text`, which begins `base` bytes after the beginning of its file.
    pub(super) fn new(text: &'text str, base: usize) -> Self {
        let marks = match text.is_ascii() {
            true => Vec::new(),
            false => text
                .char_indices()
                .step_by(STRIDE)
                .map(|(offset, _)| u32::try_from(offset).unwrap_or(u32::MAX))
                .collect(),
        };
        Self { text, base, marks }
    }

    /// The byte of the file at which the parser's mark stands.
    pub(super) fn byte(&self, mark: &Marker) -> usize {
        let within = if self.marks.is_empty() {
            mark.index().min(self.text.len())
        } else {
            match self.marks.get(mark.index() / STRIDE) {
                Some(&start) => self.text[start as usize..]
                    .char_indices()
                    .nth(mark.index() % STRIDE)
                    .map_or(self.text.len(), |(offset, _)| start as usize + offset),
                None => self.text.len(),
            }
        };
        self.base + within
    }
}

/// Where the quoted text that begins at `start` ends, its closing quote included.
pub(super) fn quoted_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = *bytes.get(start)?;
    let mut at = start + 1;
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        if byte == b'\\' && quote == b'"' {
            at += 1;
        } else if byte == quote {
            match (quote, bytes.get(at)) {
                (b'\'', Some(b'\'')) => at += 1,
                _ => return Some(at),
            }
        }
    }
}

/// Where a value begins whose anchor and tag begin at `start`.
pub(super) fn after_properties(text: &str, start: usize, end: usize) -> usize {
    let mut at = start;
    while let Some(rest) = text.get(at..end) {
        let skipped = match rest.as_bytes().first() {
            Some(b'&' | b'!') => rest.find(char::is_whitespace).unwrap_or(rest.len()),
            Some(b'#') => rest.find('\n').unwrap_or(rest.len()),
            Some(b' ' | b'\t' | b'\n' | b'\r') => 1,
            _ => break,
        };
        at += skipped;
    }
    at
}
