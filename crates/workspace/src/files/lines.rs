//! One pass over a text that keeps the wanted lines and counts the rest, in bounded memory.

use std::fmt::Write as _;
use std::io::{self, BufRead};

/// Which lines, and how much of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// The first line, from 1.
    pub(super) first: u64,
    pub(super) count: u64,
    /// A longer line is cut.
    pub(super) line_chars: usize,
    /// More than this together is an error.
    pub(super) content_bytes: usize,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) content: String,
    pub(super) total_lines: u64,
    pub(super) lines_read: u64,
    /// The first returned line with bytes that were replaced, and how many such lines there are.
    pub(super) invalid_lines: Option<(u64, u64)>,
}

#[derive(Debug)]
pub(super) enum PageError {
    Io(io::Error),
    TooMuch { last_fitting: u64 },
}

/// The wanted lines with their numbers.
pub(super) fn page(reader: &mut dyn BufRead, wanted: &Wanted) -> Result<Page, PageError> {
    collect(reader, wanted, true)
}

/// The wanted lines as they are.
pub(super) fn page_unnumbered(text: &str, wanted: &Wanted) -> Result<Page, PageError> {
    collect(&mut text.as_bytes(), wanted, false)
}

fn collect(reader: &mut dyn BufRead, wanted: &Wanted, numbered: bool) -> Result<Page, PageError> {
    let mut pages = Collector {
        wanted,
        numbered,
        page: Page::default(),
        line: Vec::new(),
        overlong: false,
        open: false,
    };
    loop {
        let chunk = match reader.fill_buf() {
            Ok([]) => break,
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(PageError::Io(error)),
        };
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(part) => {
                    pages.take(part);
                    pages.end_line()?;
                }
                None => pages.take(part),
            }
        }
        let length = chunk.len();
        reader.consume(length);
    }
    if pages.open {
        pages.end_line()?;
    }
    Ok(pages.page)
}

struct Collector<'a> {
    wanted: &'a Wanted,
    numbered: bool,
    page: Page,
    /// The bytes of the current line, if it is wanted, up to what can matter.
    line: Vec<u8>,
    overlong: bool,
    /// Whether the current line has begun.
    open: bool,
}

impl Collector<'_> {
    fn is_wanted(&self) -> bool {
        let number = self.page.total_lines + 1;
        number >= self.wanted.first && number - self.wanted.first < self.wanted.count
    }

    fn take(&mut self, part: &[u8]) {
        self.open = true;
        if !self.is_wanted() {
            return;
        }
        // Four bytes are the longest character, so this holds one more than is shown.
        let most = self.wanted.line_chars.saturating_add(1).saturating_mul(4);
        let fits = part.len().min(most - self.line.len().min(most));
        self.line.extend_from_slice(&part[..fits]);
        self.overlong |= fits < part.len();
    }

    /// Whether the current line holds bytes that are not UTF-8. A character at the end of what was kept of
    /// an overlong line may be cut, which is no fault of the file's.
    fn is_damaged(&self) -> bool {
        std::str::from_utf8(&self.line)
            .is_err_and(|error| !(self.overlong && error.error_len().is_none()))
    }

    fn end_line(&mut self) -> Result<(), PageError> {
        if self.is_wanted() {
            let number = self.page.total_lines + 1;
            if !self.overlong && self.line.ends_with(b"\r") {
                self.line.pop();
            }
            let text = String::from_utf8_lossy(&self.line);
            let cut = text.char_indices().nth(self.wanted.line_chars);
            let shown = cut.map_or(&*text, |(end, _)| &text[..end]);
            if self.is_damaged() {
                let (first, count) = self.page.invalid_lines.unwrap_or((number, 0));
                self.page.invalid_lines = Some((first, count + 1));
            }
            let content = &mut self.page.content;
            if self.page.lines_read > 0 {
                content.push('\n');
            }
            if self.numbered {
                // Writing to a string cannot fail.
                let _ = write!(content, "{number:>6}\t");
            }
            content.push_str(shown);
            if cut.is_some() {
                content.push_str("... [truncated]");
            }
            if content.len() > self.wanted.content_bytes {
                return Err(PageError::TooMuch {
                    last_fitting: number - 1,
                });
            }
            self.page.lines_read += 1;
        }
        self.page.total_lines += 1;
        self.line.clear();
        self.overlong = false;
        self.open = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::BufReader;

    const ALL: Wanted = Wanted {
        first: 1,
        count: u64::MAX,
        line_chars: 5,
        content_bytes: 1 << 20,
    };

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn pieces_of_any_size_give_the_same_page(text in "[ab\né😀\r]{0,60}", size in 1_usize..9) {
            let whole = page(&mut text.as_bytes(), &ALL).unwrap();
            let pieces = page(&mut BufReader::with_capacity(size, text.as_bytes()), &ALL).unwrap();
            prop_assert_eq!(&whole.content, &pieces.content);
            let expected: Vec<String> = text
                .lines()
                .enumerate()
                .map(|(index, line)| {
                    let shown: String = line.chars().take(5).collect();
                    let mark = if line.chars().count() > 5 { "... [truncated]" } else { "" };
                    format!("{:>6}\t{shown}{mark}", index + 1)
                })
                .collect();
            // `str::lines` leaves a carriage return where no line feed follows it.
            if !text.ends_with('\r') {
                prop_assert_eq!(whole.content, expected.join("\n"));
            }
            prop_assert_eq!(whole.total_lines, expected.len() as u64);
        }
    }

    #[test]
    fn one_endless_line_is_not_held() {
        let wanted = Wanted {
            line_chars: 3,
            ..ALL
        };
        let mut reader = BufReader::new(io::Read::take(io::repeat(b'x'), 1 << 20));
        let page = page(&mut reader, &wanted).unwrap();
        assert_eq!(page.content, "     1\txxx... [truncated]");
    }

    #[test]
    fn a_character_cut_by_the_bound_is_no_damage() {
        let wanted = Wanted {
            line_chars: 1,
            ..ALL
        };
        let page = page(&mut "aaaaaaaé\n".as_bytes(), &wanted).unwrap();
        assert_eq!(
            (page.content.as_str(), page.invalid_lines),
            ("     1\ta... [truncated]", None)
        );
    }

    #[test]
    fn a_replacement_character_in_the_text_is_not_an_error() {
        let page = page(&mut "\u{fffd}\n".as_bytes(), &ALL).unwrap();
        assert_eq!(page.invalid_lines, None);
    }
}
