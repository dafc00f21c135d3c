//! A text as one tree of lines: each sentence, item, heading and cell knows the lines that it hangs under.

use std::collections::HashSet;
use std::sync::LazyLock;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex::Regex;

use super::data::month_names;
use super::text::{fixed, fold, pattern, plain, sentences};

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Paragraph,
    Item,
    Heading,
    Cell,
    /// The heading of a column, or the first cell of a row, which names the row.
    HeadCell,
}

/// A sentence, an item, a heading or a cell.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) kind: LineKind,
    pub(super) text: String,
    /// The places of the lines that it hangs under, the outermost first: headings, lead-ins, the first lines of items around it,
    /// a line such as `Name: Ann`, the heads of its row and its column.
    pub(super) over: Vec<usize>,
    /// The place of the sentence before it in its paragraph or item.
    pub(super) before: Option<usize>,
}

/// The place of a cell with nothing in it.
const EMPTY: usize = usize::MAX;

/// A list that is read.
struct List {
    /// The line that leads to it.
    lead: Option<usize>,
    /// The first line of the item that is read.
    first: Option<usize>,
    n_items: usize,
    is_numbered: bool,
}

#[derive(Default)]
struct Outline {
    lines: Vec<Line>,
    heads: Vec<(u8, usize)>,
    lead: Option<usize>,
    lists: Vec<List>,
    /// The line such as `Name: Ann` that names what the lines after it are of, and its key.
    card: Option<(LineKind, String, usize)>,
    columns: Vec<usize>,
    row: Vec<usize>,
    n_rows: usize,
    column: usize,
    /// First cells of several rows of the table: the second cells name these rows, too.
    repeated: HashSet<String>,
    /// Whether the first column has the numbers of the rows.
    is_ranked: bool,
    is_head: bool,
    /// The text of the paragraph, item, heading or cell that is read, and where it began.
    text: String,
    start: usize,
}

/// The lines of a Markdown text, in order; none with nothing in it.
pub(super) fn outline(text: &str) -> Vec<Line> {
    static DAY: LazyLock<Regex> = LazyLock::new(|| {
        let months = month_names().join("|");
        fixed(&format!(
            r"(?im)^([ \t]*(?:[-*+][ \t]+)?\d{{1,2}})\. +((?:{months})\b)"
        ))
    });
    pattern!(TAG, r"<[^>]*>");
    pattern!(
        EMPHASIS,
        r"(?i)</?(?:a|abbr|b|code|em|i|kbd|mark|small|span|strong|sub|sup|u)\b[^>]*>"
    );
    // `18. September` is no item of a list.
    let text = fold(text);
    let text = DAY.replace_all(&text, r"$1\. $2");
    let mut outline = Outline::default();
    let mut code = false;
    for (event, range) in Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::List(number)) => {
                outline.paragraph(&text, range.start);
                outline.lists.push(List {
                    lead: outline.lead.take(),
                    first: None,
                    n_items: 0,
                    is_numbered: number.is_some(),
                });
            }
            Event::End(TagEnd::List(_)) => {
                let list = outline.lists.pop();
                // `1. Open`, and a list below it.
                let leads = |list: &List| list.is_numbered && list.n_items == 1;
                let list = list.filter(|list| outline.lists.is_empty() && leads(list));
                outline.lead = list.and_then(|list| list.first);
            }
            Event::Start(Tag::Item) => {
                outline.paragraph(&text, range.start);
                outline.start = range.start;
                if let Some(list) = outline.lists.last_mut() {
                    (list.first, list.n_items) = (None, list.n_items + 1);
                }
            }
            Event::Start(Tag::Paragraph | Tag::Heading { .. } | Tag::TableCell) => {
                outline.paragraph(&text, range.start);
                outline.start = range.start;
            }
            Event::End(TagEnd::Item | TagEnd::Paragraph) => outline.paragraph(&text, range.end),
            Event::End(TagEnd::Heading(level)) => outline.heading(level as u8),
            Event::Start(Tag::Table(_)) => outline.table(&text[range]),
            Event::End(TagEnd::Table) => outline.end_table(),
            Event::End(TagEnd::TableHead) => outline.is_head = false,
            Event::Start(Tag::TableRow) => {
                outline.row.clear();
                outline.column = 0;
                outline.n_rows += 1;
                outline.is_ranked = false;
            }
            Event::End(TagEnd::TableCell) => outline.cell(),
            Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) => {
                outline.paragraph(&text, range.start);
                code = true;
            }
            Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock) => {
                code = false;
                let lines = std::mem::take(&mut outline.text);
                let lines = EMPHASIS.replace_all(&lines, "");
                for line in TAG.replace_all(&lines, "\n").lines() {
                    outline.push(LineKind::Paragraph, line, &[]);
                }
            }
            Event::InlineHtml(tag) if !EMPHASIS.is_match(&tag) => outline.text.push('\n'),
            Event::Text(part) | Event::Code(part) => outline.text.push_str(&part),
            Event::Html(part) if code => outline.text.push_str(&part),
            Event::SoftBreak => outline.text.push(match is_wrapped(&text, range.start) {
                true => ' ',
                false => '\n',
            }),
            Event::HardBreak => outline.text.push('\n'),
            _ => {}
        }
    }
    outline.paragraph(&text, text.len());
    outline.lines
}

/// Whether a line that ends at `end` goes on in the next one: it is long, or goes on with a small letter.
fn is_wrapped(text: &str, end: usize) -> bool {
    const SHORTEST: usize = 40;
    const LONG: usize = 60;
    let length = end - text[..end].rfind('\n').map_or(0, |start| start + 1);
    let next = text[end..].trim_start().chars().next();
    // The lines of a log begin with their times.
    let is_entry = next.is_some_and(|next| next.is_ascii_digit() || next == '[');
    !is_entry && (length >= LONG || (length >= SHORTEST && next.is_some_and(char::is_lowercase)))
}

/// The key of a line such as `City: Porto`.
pub(super) fn key_of(line: &str) -> Option<&str> {
    pattern!(FIELD, r"^\W*([^:\n]{1,40}):\W*\s.*\S\s*$");
    let field = FIELD.captures(line)?;
    field.get(1).map(|key| key.as_str())
}

impl Outline {
    /// Adds the sentences of a line of text, and returns the place of the first.
    fn push(&mut self, kind: LineKind, text: &str, over: &[usize]) -> Option<usize> {
        let first = self.lines.len();
        for sentence in sentences(text) {
            let before = (self.lines.len() > first).then(|| self.lines.len() - 1);
            self.lines.push(Line {
                kind,
                text: sentence.to_owned(),
                over: over.to_vec(),
                before,
            });
        }
        (self.lines.len() > first).then_some(first)
    }

    /// The headings, lead-ins and items around what is read.
    fn over(&self) -> Vec<usize> {
        let heads = self.heads.iter().map(|(_, head)| *head);
        let items = self.lists.iter().flat_map(|list| [list.lead, list.first]);
        heads.chain(items.flatten()).collect()
    }

    /// Ends the paragraph or item that is read, if it has a text.
    fn paragraph(&mut self, source: &str, end: usize) {
        /// A bold line is a heading below all others.
        const BOLD_LEVEL: u8 = 7;
        /// A name has no more words.
        const LONGEST_NAME: usize = 6;
        pattern!(BOLD, r"^\s*(?:\*\*.+\*\*|__.+__):?\s*$");
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return;
        }
        let written = source.get(self.start..end).unwrap_or_default();
        let rest = source.get(end..).unwrap_or_default();
        pattern!(LIST, r"^\s*(?:[-*+]|\d+[.)])\s");
        let is_list = LIST.is_match(rest);
        let is_item = !self.lists.is_empty();
        let is_bold = !is_item && BOLD.is_match(written.lines().next().unwrap_or_default());
        let lines: Vec<&str> = text.split('\n').collect();
        let is_name = |line: &str| {
            let is_short = line.split_whitespace().count() <= LONGEST_NAME;
            is_short && !line.trim_end().ends_with(['.', '!'])
        };
        // What stands in lines of its own under a name is of that.
        let names_others = lines.len() > 1
            && key_of(lines[0]).is_none()
            && is_name(lines[0])
            && (lines[0].trim_end().ends_with(':')
                || lines[1..].iter().all(|line| key_of(line).is_some()));
        let kind = match is_item {
            true => LineKind::Item,
            false => LineKind::Paragraph,
        };
        if is_bold {
            self.heads.retain(|(above, _)| *above < BOLD_LEVEL);
        }
        let mut over = self.over();
        let mut last = None;
        for (nth, line) in lines.iter().enumerate() {
            let kind = if is_bold && nth == 0 {
                LineKind::Heading
            } else {
                kind
            };
            let card = self.card(kind, line);
            let own: Vec<usize> = over.iter().copied().chain(card).collect();
            let Some(first) = self.push(kind, line, &own) else {
                continue;
            };
            last = Some(self.lines.len() - 1);
            if is_bold && nth == 0 {
                self.heads.push((BOLD_LEVEL, first));
                over.push(first);
            } else if names_others && nth == 0 && !is_item {
                over.push(first);
            }
            if let Some(list) = self.lists.last_mut()
                && list.first.is_none()
            {
                list.first = Some(first);
                over.push(first);
            }
        }
        let is_lead = |last: &usize| {
            let text = self.lines[*last].text.trim_end();
            text.ends_with(':') || (is_list && is_name(text))
        };
        let may_lead = !is_item && (!is_bold || lines.len() > 1);
        self.lead = last.filter(|last| may_lead && is_lead(last));
        self.start = end;
    }

    /// The line that names what the field of a line is of.
    fn card(&mut self, kind: LineKind, line: &str) -> Option<usize> {
        pattern!(
            NAMES,
            r"(?i)(?:^|\b|_)(?:id|name|title|order|city|product|sku|code)$"
        );
        let card = self.card.take();
        let key = key_of(line)?.to_owned();
        match card.filter(|(known, name, _)| *known == kind && *name != key) {
            Some(card) => {
                let (.., at) = self.card.insert(card);
                Some(*at)
            }
            None => {
                self.card = NAMES
                    .is_match(&key)
                    .then_some((kind, key, self.lines.len()));
                None
            }
        }
    }

    fn heading(&mut self, level: u8) {
        let text = std::mem::take(&mut self.text);
        self.heads.retain(|(above, _)| *above < level);
        let over = self.over();
        if let Some(first) = self.push(LineKind::Heading, &text, &over) {
            self.heads.push((level, first));
        }
        (self.lead, self.card) = (None, None);
    }

    fn table(&mut self, written: &str) {
        let first = |row: &str| {
            let mut cells = row.trim().trim_start_matches('|').split('|');
            cells.next().map(plain)
        };
        let mut seen = HashSet::new();
        let firsts = written.lines().filter_map(first);
        self.repeated = firsts
            .filter(|cell: &String| !seen.insert(cell.clone()))
            .collect();
        self.columns.clear();
        self.row.clear();
        (self.n_rows, self.is_head, self.card) = (0, true, None);
    }

    fn end_table(&mut self) {
        self.lead = None;
        // A table of a head is a row.
        if let (0, [first, rest @ ..]) = (self.n_rows, self.columns.as_slice()) {
            for cell in rest {
                if let Some(line) = self.lines.get_mut(*cell) {
                    line.kind = LineKind::Cell;
                    line.over.push(*first);
                }
            }
        }
    }

    fn cell(&mut self) {
        let text = std::mem::take(&mut self.text);
        let mut over = self.over();
        over.extend(self.lead);
        if self.is_head {
            let at = self.push(LineKind::HeadCell, &text, &over);
            self.columns.push(at.unwrap_or(EMPTY));
            return;
        }
        pattern!(RANK, r"(?i)^\W*(?:no|nr)?\W*$");
        let head = |column: usize| self.columns.get(column).copied();
        let head_text = head(0).and_then(|head| self.lines.get(head));
        let is_rank_head = head_text.is_none_or(|head| RANK.is_match(&head.text));
        let is_number = text.trim_matches(['.', ' ', '#']) == self.n_rows.to_string();
        if self.column == 0 && is_rank_head && is_number {
            (self.is_ranked, self.column) = (true, 1);
            return;
        }
        let n_columns = self.columns.len() - usize::from(self.is_ranked);
        let names_row = self.row.is_empty() && n_columns >= 2;
        match self.row.first() {
            Some(first) => {
                over.push(*first);
                let first = self.lines.get(*first).map(|first| plain(&first.text));
                if first.is_some_and(|first| self.repeated.contains(&first)) {
                    over.extend(self.row.get(1));
                }
                over.extend(head(self.column));
            }
            None => over.extend(head(usize::from(self.is_ranked))),
        }
        over.retain(|at| *at != EMPTY);
        let kind = match names_row {
            true => LineKind::HeadCell,
            false => LineKind::Cell,
        };
        let at = self.push(kind, &text, &over);
        self.row.push(at.unwrap_or(EMPTY));
        self.column += 1;
    }
}
