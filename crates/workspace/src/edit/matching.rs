//! Where a text occurs in a file, with Windows line ends matched by plain ones, and what it becomes.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::Finder;

/// The places of a text in a file.
pub(super) struct Found<'a> {
    original: &'a [u8],
    /// The original with plain line ends; borrowed if it has no others.
    plain: Cow<'a, [u8]>,
    finder: Finder<'static>,
}

impl<'a> Found<'a> {
    /// Prepares the search for `old`, which is not empty.
    pub(super) fn search(original: &'a [u8], old: &str) -> Self {
        let plain = plain_line_ends(original);
        let old = match plain {
            Cow::Borrowed(_) => Cow::Borrowed(old),
            Cow::Owned(_) => Cow::Owned(old.replace("\r\n", "\n")),
        };
        Self {
            original,
            plain,
            finder: Finder::new(old.as_bytes()).into_owned(),
        }
    }

    /// Where it occurs, none inside another.
    fn places(&self) -> impl Iterator<Item = Range<usize>> {
        let length = self.finder.needle().len();
        let mut from = 0;
        std::iter::from_fn(move || {
            let start = from + self.finder.find(self.plain.get(from..)?)?;
            from = start + length;
            Some(start..from)
        })
    }

    /// The lines, from 1, on which the occurrences start.
    pub(super) fn lines(&self) -> impl Iterator<Item = u64> {
        let mut line = 1;
        let mut counted = 0;
        self.places().map(move |found| {
            let between = &self.plain[counted..found.start];
            line += between.iter().filter(|byte| **byte == b'\n').count() as u64;
            counted = found.start;
            line
        })
    }

    /// The original with `new` in the place of every occurrence.
    pub(super) fn replace(&self, new: &str) -> Vec<u8> {
        let mut edited = Vec::with_capacity(self.original.len() + new.len());
        let mut place = Place::default();
        let mut copied = 0;
        let (unix, windows) = match self.plain {
            Cow::Borrowed(_) => (new.to_owned(), new.to_owned()),
            Cow::Owned(_) => {
                let unix = new.replace("\r\n", "\n");
                let windows = unix.replace('\n', "\r\n");
                (unix, windows)
            }
        };
        let mostly_windows = self.is_mostly_windows();
        for found in self.places() {
            let start = place.advance(self.original, found.start);
            let end = place.advance(self.original, found.end);
            let is_windows = match first_line_end(&self.original[start..end]) {
                Some(is_windows) => is_windows,
                None => mostly_windows,
            };
            edited.extend_from_slice(&self.original[copied..start]);
            edited.extend_from_slice(if is_windows {
                windows.as_bytes()
            } else {
                unix.as_bytes()
            });
            copied = end;
        }
        edited.extend_from_slice(&self.original[copied..]);
        edited
    }

    /// The text with plain line ends and without what is not UTF-8.
    pub(super) fn text_for_people(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.plain)
    }

    fn is_mostly_windows(&self) -> bool {
        let line_ends = self.plain.iter().filter(|byte| **byte == b'\n').count();
        let windows = self.original.len() - self.plain.len();
        windows * 2 > line_ends
    }
}

/// Walks the original in step with its copy with plain line ends.
#[derive(Default)]
struct Place {
    original: usize,
    plain: usize,
}

impl Place {
    /// The place in the original of the byte `plain` of the copy. The line end `\r\n` starts at its `\r`.
    fn advance(&mut self, original: &[u8], plain: usize) -> usize {
        while self.plain < plain {
            if original[self.original..].starts_with(b"\r\n") {
                self.original += 1;
            }
            self.original += 1;
            self.plain += 1;
        }
        self.original
    }
}

fn plain_line_ends(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.windows(2).any(|pair| pair == b"\r\n") {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    for (index, byte) in text.iter().enumerate() {
        if *byte != b'\r' || text.get(index + 1) != Some(&b'\n') {
            plain.push(*byte);
        }
    }
    Cow::Owned(plain)
}

/// Whether the first line end is a Windows one, if there is any.
fn first_line_end(text: &[u8]) -> Option<bool> {
    let place = text.iter().position(|byte| *byte == b'\n')?;
    Some(place > 0 && text[place - 1] == b'\r')
}
