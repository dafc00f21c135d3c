//! The form of a text: its lines outside code, its list items, its paragraphs.

/// A line that is not inside a fenced code block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Without the spaces on both sides.
    pub text: &'a str,
    /// Columns before the text; a tab reaches to the next multiple of four.
    pub indent: usize,
    /// Whether it opens a fenced code block, whose other lines are left out.
    pub is_fence: bool,
}

impl Line<'_> {
    fn is_blank(&self) -> bool {
        self.text.is_empty()
    }
}

/// The lines of `text`. A fenced code block is one line, its opening; one that never closes goes to the end.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let trimmed = line.trim();
        let fence = fence(trimmed);
        match (open, fence) {
            (Some((mark, length)), Some((other, longer))) => {
                let closes = mark == other && longer >= length;
                if closes && trimmed.chars().all(|character| character == mark) {
                    open = None;
                }
                continue;
            }
            (Some(_), None) => continue,
            (None, Some(fence)) => open = Some(fence),
            (None, None) => {}
        }
        lines.push(Line {
            text: trimmed,
            indent: indent(line),
            is_fence: fence.is_some(),
        });
    }
    lines
}

/// The mark and length of a line that opens or closes a fenced code block.
fn fence(trimmed: &str) -> Option<(char, usize)> {
    let mark = trimmed
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let length = trimmed.chars().take_while(|other| *other == mark).count();
    let info = &trimmed[length..];
    // A code span may stand in one line: ```like this```.
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

fn indent(line: &str) -> usize {
    let mut column = 0;
    for character in line.chars() {
        match character {
            '\t' => column = column / 4 * 4 + 4,
            other if other.is_whitespace() => column += 1,
            _ => break,
        }
    }
    column
}

/// How a list item is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// `-`, `*`, `+` or a bullet character.
    Bullet,
    /// A number with a dot or a parenthesis.
    Number(u64),
}

/// An item of a list.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub marker: Marker,
    /// How many items it is inside of.
    pub depth: usize,
    /// Its text; what follows a blank line or is broken stands in a line of its own.
    pub text: String,
}

/// The list items of a text, in order; one without a text is none. What stands below an item without a blank line, or is indented as its
/// text is, belongs to it.
pub(super) fn items(lines: &[Line<'_>]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    // Columns where the texts of the items around the current line begin.
    let mut around: Vec<usize> = Vec::new();
    let mut after_blank = false;
    for line in lines {
        if line.is_blank() {
            after_blank = true;
            continue;
        }
        let was_after_blank = std::mem::take(&mut after_blank);
        if !line.is_fence
            && let Some((marker, width, text)) = item(line.text)
        {
            while around.last().is_some_and(|column| line.indent < *column) {
                around.pop();
            }
            let says_something =
                |character: char| character.is_alphanumeric() || !character.is_ascii();
            if text.contains(says_something) {
                items.push(Item {
                    marker,
                    depth: around.len(),
                    text: text.to_owned(),
                });
                around.push(line.indent + width);
            } else {
                around.clear();
            }
            continue;
        }
        let is_inside = around.last().is_some_and(|column| line.indent >= *column);
        let ends = line.is_fence || is_heading(line.text) || is_rule(line.text) || was_after_blank;
        if ends && !is_inside {
            // A paragraph of an outer item goes on with that, not with the last.
            while around.last().is_some_and(|column| line.indent < *column) {
                around.pop();
            }
            continue;
        }
        if let Some(last) = items.last_mut()
            && !around.is_empty()
            && !line.is_fence
        {
            last.text.push(if was_after_blank { '\n' } else { ' ' });
            last.text.push_str(line.text);
        }
    }
    items
}

/// The marker of a list item, how many columns it takes with the space after it, and the text, which may be
/// missing.
pub(super) fn item(trimmed: &str) -> Option<(Marker, usize, &str)> {
    if is_rule(trimmed) {
        return None;
    }
    let first = trimmed.chars().next()?;
    let rest = &trimmed[first.len_utf8()..];
    let (marker, width, rest) = match first {
        '-' | '*' | '+' => (Marker::Bullet, 1, spaced(rest)?),
        '•' | '‣' | '◦' | '▪' | '●' | '∙' | '⁃' | '■' | '○' => {
            (Marker::Bullet, 1, rest)
        }
        '(' | '0'..='9' => {
            let inner = if first == '(' { rest } else { trimmed };
            let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
            let number = inner[..digits].parse().ok().filter(|_| digits <= 9)?;
            let after = &inner[digits..];
            let rest = match (first, after.chars().next()?) {
                ('(', ')') | ('0'..='9', '.' | ')') => spaced(&after[1..])?,
                _ => return None,
            };
            let width = if first == '(' { digits + 2 } else { digits + 1 };
            (Marker::Number(number), width, rest)
        }
        _ => return None,
    };
    let text = rest.trim_start();
    let spaces = rest.chars().count() - text.chars().count();
    let text = without_checkbox(text);
    Some((marker, width + spaces.clamp(1, 4), text))
}

/// What follows a marker, if a space or the end of the line separates them.
fn spaced(rest: &str) -> Option<&str> {
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(rest)
}

fn without_checkbox(text: &str) -> &str {
    ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|checkbox| text.strip_prefix(checkbox))
        .map_or(text, str::trim_start)
}

/// Whether a line is a heading of Markdown.
fn is_heading(trimmed: &str) -> bool {
    let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&level)
        && trimmed[level..]
            .chars()
            .next()
            .is_none_or(char::is_whitespace)
}

/// Whether a line only separates: `---`, `***`, `_ _ _`.
fn is_rule(trimmed: &str) -> bool {
    ['-', '*', '_'].into_iter().any(|mark| {
        trimmed
            .chars()
            .filter(|character| *character == mark)
            .count()
            >= 3
            && trimmed
                .chars()
                .all(|character| character == mark || character.is_whitespace())
    })
}

/// What lies between blank lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// Running text.
    Prose,
    /// List items.
    List,
    /// Nothing but headings.
    Heading,
    /// A table of Markdown.
    Table,
}

/// The blocks of a text, in order; code and lines that only separate are none.
pub(super) fn blocks(lines: &[Line<'_>]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut close = |open: &mut Vec<&str>| {
        if let Some(block) = block(open) {
            blocks.push(block);
        }
        open.clear();
    };
    for line in lines {
        if line.is_blank() || line.is_fence || is_rule(line.text) {
            close(&mut open);
        } else {
            open.push(line.text);
        }
    }
    close(&mut open);
    blocks
}

fn block(lines: &[&str]) -> Option<Block> {
    let first = lines.first()?;
    Some(if lines.iter().all(|line| is_heading(line)) {
        Block::Heading
    } else if item(first).is_some() {
        Block::List
    } else if lines
        .get(1)
        .is_some_and(|line| columns(line).is_some_and(|cells| is_delimiter(&cells)))
    {
        Block::Table
    } else {
        Block::Prose
    })
}

/// A table of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Table {
    pub columns: usize,
    pub rows: usize,
}

/// The tables of a text. A row with more cells than the heading breaks its table: they would be lost.
pub(super) fn tables(lines: &[Line<'_>]) -> Vec<Result<Table, String>> {
    let mut tables = Vec::new();
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        index += 1;
        let delimiter = lines.get(index).and_then(|line| columns(line.text));
        let (Some(heading), Some(delimiter)) = (columns(line.text), delimiter) else {
            continue;
        };
        if line.is_fence || !is_delimiter(&delimiter) {
            continue;
        }
        index += 1;
        if heading.len() != delimiter.len() {
            tables.push(Err(format!(
                "the heading has {} cells, the line below it {}",
                heading.len(),
                delimiter.len()
            )));
            continue;
        }
        let mut rows = 0;
        let mut too_long = None;
        while let Some(row) = lines.get(index).filter(|line| !line.is_fence) {
            let Some(cells) = columns(row.text) else {
                break;
            };
            index += 1;
            rows += 1;
            if cells.len() > heading.len() {
                too_long = too_long.or(Some((rows, cells.len())));
            }
        }
        tables.push(match too_long {
            Some((row, cells)) => Err(format!(
                "row {row} has {cells} cells, the heading {}",
                heading.len()
            )),
            None => Ok(Table {
                columns: heading.len(),
                rows,
            }),
        });
    }
    tables
}

/// The cells of a line that has a `|`, which `\` may escape.
fn columns(trimmed: &str) -> Option<Vec<&str>> {
    let mut cells = Vec::new();
    let mut start = 0;
    let mut escaped = false;
    for (at, character) in trimmed.char_indices() {
        if character == '|' && !escaped {
            cells.push(&trimmed[start..at]);
            start = at + 1;
        }
        escaped = character == '\\' && !escaped;
    }
    if cells.is_empty() {
        return None;
    }
    cells.push(&trimmed[start..]);
    if cells.first().is_some_and(|cell| cell.trim().is_empty()) {
        cells.remove(0);
    }
    if cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    (!cells.is_empty()).then_some(cells)
}

/// Whether the cells are those of the line between heading and rows: `---`, `:--:`.
fn is_delimiter(cells: &[&str]) -> bool {
    cells.iter().all(|cell| {
        let cell = cell.trim();
        let inner = cell.strip_prefix(':').unwrap_or(cell);
        let inner = inner.strip_suffix(':').unwrap_or(inner);
        !inner.is_empty() && inner.bytes().all(|byte| byte == b'-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(usize, String)> {
        items(&lines(text))
            .into_iter()
            .map(|item| (item.depth, item.text))
            .collect()
    }

    fn some(all: &[(usize, &str)]) -> Vec<(usize, String)> {
        all.iter()
            .map(|(depth, text)| (*depth, (*text).to_owned()))
            .collect()
    }

    #[test]
    fn items_have_marks_texts_and_depths() {
        for (text, expected) in [
            (
                "- a\n* b\n+ c\n• d\n•e",
                &[(0, "a"), (0, "b"), (0, "c"), (0, "d"), (0, "e")][..],
            ),
            ("1. a\n2) b\n(3) c", &[(0, "a"), (0, "b"), (0, "c")]),
            (
                "- a\n  - b\n    - c\n- d",
                &[(0, "a"), (1, "b"), (2, "c"), (0, "d")],
            ),
            ("1. a\n   - b\n2. c", &[(0, "a"), (1, "b"), (0, "c")]),
            ("\t- a\n- b", &[(0, "a"), (0, "b")]),
            ("  - a\n- b\n  - c", &[(0, "a"), (0, "b"), (1, "c")]),
            ("- a\n  goes on\nlazily\n\nend", &[(0, "a goes on lazily")]),
            ("- a\n\n  second\n\n- b", &[(0, "a\nsecond"), (0, "b")]),
            ("- [ ] a\n- [x] b\n- [ ]", &[(0, "a"), (0, "b")]),
            ("-a\n*b*\n**c**\n- \n--- \n* * *\n1.5 x\n2024 y\n-5 z", &[]),
            (
                "```\n- a\n```\n- b\n~~~md\n- c\n```\n~~~\n- d",
                &[(0, "b"), (0, "d")],
            ),
            ("- a\n```\n- b", &[(0, "a")]),
            ("- a\n# Heading\ntext", &[(0, "a")]),
            ("- a\n-\n- b\n1.\nend", &[(0, "a"), (0, "b")]),
            ("- 🎉\n- 中文", &[(0, "🎉"), (0, "中文")]),
            ("", &[]),
        ] {
            assert_eq!(told(text), some(expected), "{text:?}");
        }
    }

    #[test]
    fn blocks_are_what_blank_lines_separate() {
        use Block::{Heading, List, Prose, Table};
        for (text, expected) in [
            ("a\nb\n\n\nc", &[Prose, Prose][..]),
            ("# T\n\na\n\n- b\n- c", &[Heading, Prose, List]),
            ("# T\na", &[Prose]),
            ("Here:\n- a", &[Prose]),
            ("a\n```\nx\n\ny\n```\nb", &[Prose, Prose]),
            ("a\n\n---\n\nb\n", &[Prose, Prose]),
            ("| a | b |\n|---|---|\n| 1 | 2 |", &[Table]),
            (" \n\t\n", &[]),
        ] {
            assert_eq!(blocks(&lines(text)), expected, "{text:?}");
        }
    }

    #[test]
    fn tables_have_a_heading_and_rows() {
        let table = |columns, rows| Ok(Table { columns, rows });
        for (text, expected) in [
            ("| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 |", vec![table(2, 2)]),
            ("a | b\n--|--\n1 | x\\|y", vec![table(2, 1)]),
            ("|a|\n|-|\n\ntext", vec![table(1, 0)]),
            ("| a | b |\n| 1 | 2 |", vec![]),
            ("```\n|a|\n|-|\n|1|\n```", vec![]),
            (
                "text\n\n|a|\n|-|\n|1|\n\n|b|\n|-|\n|1|\n|2|",
                vec![table(1, 1), table(1, 2)],
            ),
        ] {
            assert_eq!(tables(&lines(text)), expected, "{text:?}");
        }
        assert!(tables(&lines("|a|b|\n|-|\n|1|"))[0].is_err());
        assert!(tables(&lines("|a|\n|-|\n|1|2|"))[0].is_err());
    }
}
