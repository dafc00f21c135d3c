//! The piece of a file that looks most like a text that is not in it.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use cuecard_source::matching::likeness;
use cuecard_source::value::cut;

/// How much of a file is looked through.
const MOST_BYTES: usize = 4 << 20;
const MOST_LINES: usize = 50_000;
/// Lines of the wanted text that count, and bytes of a line.
const WANTED_LINES: usize = 40;
const LINE_BYTES: usize = 400;
/// How many places are compared closely, and how many characters of them.
const CANDIDATES: usize = 5;
const COMPARED_CHARS: usize = 1000;
/// Below this likeness (0 to 1) a place is not worth showing.
const LEAST_LIKENESS: f32 = 0.5;
/// What is shown of the place.
const SHOWN_LINES: usize = 5;
const SHOWN_CHARS: usize = 160;

/// The place in a file that looks most like a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Nearest {
    /// The line on which it starts, from 1.
    pub(super) line: u64,
    /// How many lines it has.
    pub(super) line_count: u64,
    /// Its first lines, long ones cut.
    pub(super) lines: Vec<String>,
    /// In what it differs.
    pub(super) difference: Difference,
}

/// In what two texts differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    /// Only in spaces, tabs and line ends.
    WhiteSpace,
    /// Also in the shape of quotation marks (`"` and `“`).
    Quotes,
    /// In more than that.
    Words,
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (1, [line]) = (self.line_count, &self.lines[..]) {
            return write!(f, "the closest match is line {}: `{line}`", self.line);
        }
        let last = self.line + self.line_count - 1;
        write!(f, "the closest match is lines {} to {last}", self.line)
    }
}

impl Nearest {
    /// The lines with their numbers, below each other; `None` if it is one line only.
    pub(super) fn block(&self) -> Option<String> {
        if self.line_count < 2 {
            return None;
        }
        let last = self.line + self.line_count - 1;
        let width = last.to_string().len();
        let mut block = format!("lines {} to {last}:", self.line);
        for (number, line) in (self.line..).zip(&self.lines) {
            block.push_str(&format!("\n  {number:>width$} │ {line}"));
        }
        if self.line_count > self.lines.len() as u64 {
            block.push_str(&format!("\n  {:>width$} │ …", ""));
        }
        Some(block)
    }
}

/// The place in `text` (with plain line ends) that looks most like `wanted`, if one does. The work is
/// bounded, whatever the sizes: of a large file only the start is looked through.
pub(super) fn nearest(text: &str, wanted: &str) -> Option<Nearest> {
    let text = &text[..text.floor_char_boundary(MOST_BYTES)];
    let lines: Vec<&str> = text.split('\n').take(MOST_LINES).collect();
    let wanted = wanted.replace("\r\n", "\n");
    for difference in [Difference::WhiteSpace, Difference::Quotes] {
        if let Some(place) = squeezed_match(&lines, &wanted, difference) {
            return Some(shown(&lines, place, difference));
        }
    }
    let wanted: Vec<&str> = wanted
        .trim_matches('\n')
        .split('\n')
        .take(WANTED_LINES)
        .collect();
    let place = most_alike(&lines, &wanted)?;
    Some(shown(&lines, place, Difference::Words))
}

/// Whether every line starts with a number and a tab or an arrow, as reading a file shows it.
pub(super) fn has_line_numbers(text: &str) -> bool {
    text.lines().all(|line| {
        let digits = line.trim_start_matches(' ');
        let rest = digits.trim_start_matches(|character: char| character.is_ascii_digit());
        rest.len() < digits.len() && rest.starts_with(['\t', '→'])
    })
}

fn shown(lines: &[&str], place: Range<usize>, difference: Difference) -> Nearest {
    Nearest {
        line: place.start as u64 + 1,
        line_count: place.len() as u64,
        lines: lines[place]
            .iter()
            .take(SHOWN_LINES)
            .map(|line| cut(line, SHOWN_CHARS).into_owned())
            .collect(),
        difference,
    }
}

/// The lines that hold `wanted` when white space (and the shape of quotes) doesn't count.
fn squeezed_match(lines: &[&str], wanted: &str, difference: Difference) -> Option<Range<usize>> {
    let squeeze = |text: &str, into: &mut String| {
        into.extend(
            text.chars()
                .filter(|character| !character.is_whitespace())
                .map(|character| match character {
                    '‘' | '’' if difference == Difference::Quotes => '\'',
                    '“' | '”' if difference == Difference::Quotes => '"',
                    _ => character,
                }),
        );
    };
    let mut needle = String::new();
    squeeze(wanted, &mut needle);
    if needle.is_empty() {
        return None;
    }
    let mut haystack = String::new();
    let mut ends = Vec::with_capacity(lines.len());
    for line in lines {
        squeeze(line, &mut haystack);
        ends.push(haystack.len());
    }
    let start = haystack.find(&needle)?;
    let line_of = |offset: usize| ends.partition_point(|end| *end <= offset);
    Some(line_of(start)..line_of(start + needle.len() - 1) + 1)
}

/// The lines most like `wanted`: those around the lines that share most pairs of bytes with its longest
/// line are compared as a whole.
fn most_alike(lines: &[&str], wanted: &[&str]) -> Option<Range<usize>> {
    let (anchor, anchor_line) = wanted
        .iter()
        .enumerate()
        .map(|(index, line)| (index, clipped(line)))
        .rev()
        .max_by_key(|(_, line)| line.len())
        .filter(|(_, line)| !line.is_empty())?;
    let wanted_pairs = pairs(anchor_line);
    let mut candidates: Vec<(f32, usize)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let pairs = pairs(clipped(line));
        let shared = pairs.intersection(&wanted_pairs).count();
        // Dice's coefficient, 0 to 1.
        let likeness = 2.0 * shared as f32 / (pairs.len() + wanted_pairs.len()).max(1) as f32;
        let worst = candidates.last().map_or(0.0, |(likeness, _)| *likeness);
        if likeness > worst || (likeness > 0.0 && candidates.len() < CANDIDATES) {
            let at = candidates.partition_point(|(other, _)| *other >= likeness);
            candidates.insert(at, (likeness, index));
            candidates.truncate(CANDIDATES);
        }
    }
    let wanted_text = compared(wanted);
    let mut best: Option<(f32, Range<usize>)> = None;
    for (_, index) in candidates {
        let start = index.saturating_sub(anchor);
        let place = start..(start + wanted.len()).min(lines.len());
        let text = compared(&lines[place.clone()]);
        let alike = likeness(wanted_text.chars(), text.chars());
        if alike >= LEAST_LIKENESS && best.as_ref().is_none_or(|(other, _)| alike > *other) {
            best = Some((alike, place));
        }
    }
    best.map(|(_, place)| place)
}

fn clipped(line: &str) -> &[u8] {
    let line = line.trim().as_bytes();
    &line[..line.len().min(LINE_BYTES)]
}

fn compared(lines: &[&str]) -> String {
    lines
        .iter()
        .flat_map(|line| line.trim().chars().chain(['\n']))
        .take(COMPARED_CHARS)
        .collect()
}

/// The pairs of neighbouring bytes of a line.
fn pairs(line: &[u8]) -> HashSet<&[u8]> {
    line.windows(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_block_is_found() {
        let text = "fn a() {\n    one();\n}\n\nfn b() {\n    two(1, 2);\n}\n";
        let nearest = nearest(text, "fn b() {\n    two(1, 3);\n}").unwrap();
        assert_eq!((nearest.line, nearest.line_count), (5, 3));
        assert_eq!(nearest.difference, Difference::Words);
        assert_eq!(
            nearest.block().unwrap(),
            "lines 5 to 7:\n  5 │ fn b() {\n  6 │     two(1, 2);\n  7 │ }"
        );
        assert_eq!(nearest.to_string(), "the closest match is lines 5 to 7");
    }

    #[test]
    fn white_space_and_quotes_are_told_apart_from_words() {
        let found = nearest("a\n  x =  1;\nb\n", "x = 1;").unwrap();
        assert_eq!((found.line, found.difference), (2, Difference::WhiteSpace));
        let found = nearest("say “hello”\n", "say \"hello\"").unwrap();
        assert_eq!((found.line, found.difference), (1, Difference::Quotes));
        let found = nearest("a\nb\n\nc\nd", "b\nc").unwrap();
        assert_eq!((found.line, found.line_count), (2, 3));
    }

    #[test]
    fn nothing_alike_is_nothing() {
        assert_eq!(nearest("1 2 3\n4 5 6\n", "completely different text"), None);
        assert_eq!(nearest("", "text"), None);
        assert_eq!(nearest("text", "\n\n"), None);
    }

    #[test]
    fn line_numbers_are_recognised_in_both_spellings() {
        assert!(has_line_numbers("     1\tfn a() {\n     2\t}"));
        assert!(has_line_numbers("    10→x"));
        assert!(!has_line_numbers("1 + 1"));
        assert!(!has_line_numbers("fn a() {"));
    }

    #[test]
    fn huge_texts_are_looked_through_in_bounded_work() {
        let text = "xy".repeat(MOST_BYTES);
        let wanted = "yx".repeat(MOST_BYTES / 4) + "z";
        let found = nearest(&text, &wanted).unwrap();
        assert_eq!(found.lines[0].chars().count(), SHOWN_CHARS + 1);
    }
}
