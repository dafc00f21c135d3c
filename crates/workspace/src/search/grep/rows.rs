//! Matches as rows: each with its own context, all within bounds.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use grep_matcher::{Match, Matcher as _};
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::{GrepMatch, OutputMode};

/// The most characters of a line that are kept.
const MAX_LINE_CHARS: usize = 10_000;
/// The most text all rows together keep; beyond it matches are counted only.
const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;

/// The rows of all files.
pub(super) struct Rows {
    max_rows: usize,
    offset: usize,
    before: usize,
    after: usize,
    matches: Vec<GrepMatch>,
    total: usize,
    kept_bytes: usize,
    lost_context: bool,
}

impl Rows {
    pub(super) fn new(max_rows: usize, offset: usize, [before, after]: [usize; 2]) -> Self {
        Self {
            max_rows,
            offset,
            before,
            after,
            matches: Vec::new(),
            total: 0,
            kept_bytes: 0,
            lost_context: false,
        }
    }

    /// How many matches were met, kept or not.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    pub(super) fn truncated(&self) -> bool {
        self.lost_context || self.matches.len() < self.total.saturating_sub(self.offset)
    }

    pub(super) fn into_matches(self) -> Vec<GrepMatch> {
        self.matches
    }

    fn has_room(&self) -> bool {
        self.total > self.offset
            && self.matches.len() < self.max_rows
            && self.kept_bytes < MAX_KEPT_BYTES
    }
}

/// Takes what the searcher finds in one file.
pub(super) struct FileSink<'a> {
    file: &'a str,
    mode: OutputMode,
    rows: &'a mut Rows,
    /// Finds the parts of a line that are to be rows, if these are wanted.
    pub(super) parts: Option<&'a RegexMatcher>,
    cancel: &'a AtomicBool,
    found: usize,
    /// The last lines delivered, without a gap, as many as are asked for before a match.
    recent: VecDeque<String>,
    /// The number of the line that would come next without a gap.
    next_line: u64,
    /// Rows that still want lines after them: index and how many. The first is the first to be full.
    open: VecDeque<(usize, usize)>,
}

impl<'a> FileSink<'a> {
    pub(super) fn new(
        file: &'a str,
        mode: OutputMode,
        rows: &'a mut Rows,
        cancel: &'a AtomicBool,
    ) -> Self {
        Self {
            file,
            mode,
            rows,
            parts: None,
            cancel,
            found: 0,
            recent: VecDeque::new(),
            next_line: 0,
            open: VecDeque::new(),
        }
    }

    /// How many matches the file held.
    pub(super) fn finish(self) -> usize {
        self.found
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Notes that the line `number` comes now; a gap before it ends all context.
    fn arrive_at(&mut self, number: u64) {
        if number != self.next_line {
            self.recent.clear();
            self.open.clear();
        }
    }

    /// One line: context after the rows before it, and before the rows after it.
    fn deliver(&mut self, number: u64, bytes: &[u8]) {
        self.next_line = number + 1;
        if self.rows.before == 0 && self.rows.after == 0 {
            return;
        }
        let line = text_of(bytes);
        for (row, wanted) in &mut self.open {
            if self.rows.kept_bytes >= MAX_KEPT_BYTES {
                self.rows.lost_context = true;
                break;
            }
            self.rows.kept_bytes += line.len();
            self.rows.matches[*row].context_after.push(line.clone());
            *wanted -= 1;
        }
        while self.open.front().is_some_and(|(_, wanted)| *wanted == 0) {
            self.open.pop_front();
        }
        self.recent.push_back(line);
        if self.recent.len() > self.rows.before {
            self.recent.pop_front();
        }
    }

    /// Every part of these lines that matches, as a row.
    fn keep_parts(&mut self, matcher: &RegexMatcher, first: u64, lines: &[u8]) -> io::Result<()> {
        let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
        let lines = lines.strip_suffix(b"\r").unwrap_or(lines);
        let each = |part: Match| {
            if !part.is_empty() {
                let before = lines[..part.start()].iter();
                let number = first + before.map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
                self.rows.total += 1;
                self.keep(number, &lines[part]);
            }
            true
        };
        matcher.find_iter(lines, each).map_err(io::Error::other)
    }

    fn keep(&mut self, number: u64, bytes: &[u8]) -> Option<usize> {
        if !self.rows.has_room() {
            return None;
        }
        let line = text_of(bytes);
        let context_before: Vec<String> = self.recent.iter().cloned().collect();
        self.rows.kept_bytes +=
            self.file.len() + line.len() + context_before.iter().map(String::len).sum::<usize>();
        self.rows.matches.push(GrepMatch {
            file: self.file.to_owned(),
            line_num: number,
            line,
            context_before,
            context_after: Vec::new(),
        });
        Some(self.rows.matches.len() - 1)
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.cancelled() {
            return Ok(false);
        }
        self.found += 1;
        if let (OutputMode::Content, Some(matcher)) = (self.mode, self.parts) {
            let first = found.line_number().unwrap_or(1);
            self.keep_parts(matcher, first, found.bytes())?;
            return Ok(true);
        }
        self.rows.total += 1;
        match self.mode {
            OutputMode::FilesWithMatches => return Ok(false),
            OutputMode::Count => return Ok(true),
            OutputMode::Content => {}
        }
        let first = found.line_number().unwrap_or(1);
        self.arrive_at(first);
        let row = self.keep(first, found.bytes());
        for (number, line) in (first..).zip(found.lines()) {
            self.deliver(number, line);
        }
        if let Some(row) = row
            && self.rows.after > 0
        {
            self.open.push_back((row, self.rows.after));
        }
        Ok(true)
    }

    fn context(
        &mut self,
        _searcher: &Searcher,
        context: &SinkContext<'_>,
    ) -> Result<bool, io::Error> {
        let number = context.line_number().unwrap_or(1);
        self.arrive_at(number);
        self.deliver(number, context.bytes());
        Ok(!self.cancelled())
    }
}

/// A line without its end, cut if it is too long. What is far beyond the cut is never decoded.
fn text_of(bytes: &[u8]) -> String {
    /// No character takes more bytes.
    const WIDEST: usize = 4;
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let start = &bytes[..bytes.len().min((MAX_LINE_CHARS + 1) * WIDEST)];
    let text = String::from_utf8_lossy(start);
    let Some((cut, _)) = text.char_indices().nth(MAX_LINE_CHARS) else {
        return text.into_owned();
    };
    let kept = &text[..cut];
    format!("{kept} […{} more bytes]", bytes.len().saturating_sub(cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_just_the_bound_is_whole() {
        let line = "é".repeat(MAX_LINE_CHARS);
        assert_eq!(text_of(format!("{line}\r\n").as_bytes()), line);
        let cut = text_of(format!("{line}é\n").as_bytes());
        assert_eq!(cut, format!("{line} […2 more bytes]"));
    }
}
