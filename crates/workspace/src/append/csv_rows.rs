//! Rows of comma-separated values behind a header that the first append writes and all others follow.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::csv_extend::extend;
use super::csv_scan::{Scanner, State};
use super::csv_tail::{End, end_of};
use super::grow::Growing;
use super::{AppendProblem, LARGEST_RECORD, OnNewColumn, refused};
use crate::WorkspaceError;
use crate::disk::{Disk, io_failure};
use crate::text::Encoding;

/// Where the header must have ended, in bytes.
const LONGEST_HEADER: usize = 1 << 20;
/// The column of items that are no objects.
const VALUE: &str = "value";

/// The first record of a file.
pub(super) struct Header {
    /// The columns' names; bytes that are not UTF-8 are replaced.
    pub(super) columns: Vec<String>,
    /// How the file ends its lines.
    pub(super) line_end: &'static str,
    /// Where the next record may start; the length of the file if the header lacks its line end.
    end: u64,
    has_line_end: bool,
}

/// Appends one row per item; returns the warnings.
pub(super) fn append(
    disk: &dyn Disk,
    path: &Path,
    items: &[Value],
    on_new_column: OnNewColumn,
) -> Result<Vec<String>, WorkspaceError> {
    let mut file = Growing::open(disk, path)?;
    let Some(header) = read_header(&mut file, items)? else {
        let columns = columns_of(items);
        if columns.is_empty() {
            return Err(refused(path, AppendProblem::NoColumns));
        }
        let rows = items.iter().map(|item| row_of(item, &columns, false));
        let mut records = encoded(path, [row_of_names(&columns)].into_iter().chain(rows), "\n")?;
        if file.length() > 0 {
            // A byte order mark or empty lines: the header starts a line of its own, mark or not.
            let mut last = [0];
            file.read_at(&mut last, file.length() - 1)?;
            if last != *b"\n" && last != Encoding::Utf8Marked.mark()[2..] {
                records.insert(0, b'\n');
            }
        }
        return file.write(&records);
    };
    let new = new_columns(path, items, &header.columns)?;
    if !new.is_empty() && on_new_column == OnNewColumn::Error {
        return Err(refused(
            path,
            AppendProblem::NewColumns {
                columns: new,
                existing: header.columns,
            },
        ));
    }
    let joint = repair(&mut file, &header)?;
    let columns = [&header.columns[..], &new[..]].concat();
    let by_position = header.columns != [VALUE];
    let rows = items.iter().map(|item| {
        row_of(
            item,
            &columns,
            by_position && fits(item, header.columns.len()),
        )
    });
    let rows = encoded(path, rows, header.line_end)?;
    if new.is_empty() {
        return file.write(&[joint.as_bytes(), &rows].concat());
    }
    extend(file, &header, &new, joint, &rows)
}

/// The header of a file that has one. A torn one is given up.
fn read_header(file: &mut Growing<'_>, items: &[Value]) -> Result<Option<Header>, WorkspaceError> {
    let mut start = vec![0; file.length().min(LONGEST_HEADER as u64) as usize];
    file.read_at(&mut start, 0)?;
    let mark = match Encoding::of(&start) {
        Encoding::Utf8Marked => Encoding::Utf8Marked.mark().len(),
        _ => 0,
    };
    let mut scanner = Scanner::at(State::RecordStart);
    let line_end = (mark..start.len()).find(|index| scanner.take(start[*index]).is_some());
    let Some(end) = line_end else {
        if start.len() == LONGEST_HEADER {
            let limit = LONGEST_HEADER;
            return Err(refused(file.path(), AppendProblem::EndlessHeader { limit }));
        }
        if scanner.state == State::RecordStart {
            return Ok(None);
        }
        let text = start[mark..].trim_ascii_start();
        let ours = encoded(file.path(), [row_of_names(&columns_of(items))], "")?;
        let is_torn = scanner.state == State::Quoted
            || text.contains(&0)
            || (ours.len() > text.len() && ours.starts_with(text));
        if is_torn {
            if text.contains(&b'\n') {
                let start = (start.len() - text.len()) as u64;
                return Err(open_quote(file, start)?);
            }
            file.give_up_behind((start.len() - text.len()) as u64)?;
            return Ok(None);
        }
        return Ok(Some(Header {
            columns: names_in(file.path(), &start[mark..])?,
            line_end: "\n",
            end: file.length(),
            has_line_end: false,
        }));
    };
    let line_end = match (start[end], start.get(end + 1)) {
        (b'\r', Some(b'\n')) => "\r\n",
        (b'\r', _) => "\r",
        _ => "\n",
    };
    Ok(Some(Header {
        columns: names_in(file.path(), &start[mark..end])?,
        line_end,
        end: (end + line_end.len()) as u64,
        has_line_end: true,
    }))
}

/// Judges the end of a file. A torn row is given up; what must stand before the next row is returned.
fn repair(file: &mut Growing<'_>, header: &Header) -> Result<&'static str, WorkspaceError> {
    if !header.has_line_end {
        return Ok(header.line_end);
    }
    if file.length() > header.end {
        match end_of(file, header.columns.len() as u64)? {
            End::Clean => {}
            End::Torn { record } => {
                if holds_a_row(file, record, header.columns.len() as u64)? {
                    return Err(open_quote(file, record)?);
                }
                file.give_up_behind(record)?;
                return Ok("");
            }
            End::Unterminated { record } if ends_in_half_a_character(file, record)? => {
                file.give_up_behind(record)?;
                return Ok("");
            }
            End::Unterminated { .. } => {
                file.warnings.push(format!(
                    "the last row of `{}` has no line ending: it was kept, but its last field may be truncated",
                    file.path().display()
                ));
                return Ok(header.line_end);
            }
        }
    }
    // A line end of two bytes may be torn too.
    let mut last = [0];
    file.read_at(&mut last, file.length() - 1)?;
    let is_half = header.line_end == "\r\n" && last == *b"\r";
    Ok(if is_half { "\n" } else { "" })
}

/// Whether a line after the first of a torn record is a row of its own: then a quote was never closed, and nothing is torn.
fn holds_a_row(file: &Growing<'_>, record: u64, columns: u64) -> Result<bool, WorkspaceError> {
    let length = file.length() - record;
    if length > LARGEST_RECORD as u64 {
        return Ok(true);
    }
    let mut text = vec![0; length as usize];
    file.read_at(&mut text, record)?;
    let mut lines = text.split(|byte| *byte == b'\n').skip(1);
    Ok(lines.any(|line| {
        let mut scanner = Scanner::at(State::RecordStart);
        let fields = line
            .iter()
            .chain(b"\n")
            .find_map(|byte| scanner.take(*byte));
        fields == Some(columns) && !scanner.is_malformed
    }))
}

/// What is said of a quote that opens a record and is never closed.
fn open_quote(file: &Growing<'_>, record: u64) -> Result<WorkspaceError, WorkspaceError> {
    let mut line = 1;
    let mut at = 0;
    let mut piece = vec![0; 1 << 16];
    while at < record {
        let size = piece.len().min((record - at) as usize);
        file.read_at(&mut piece[..size], at)?;
        line += piece[..size].iter().filter(|byte| **byte == b'\n').count() as u64;
        at += size as u64;
    }
    Ok(refused(file.path(), AppendProblem::OpenQuote { line }))
}

/// Whether the file's last character lacks bytes, as that of a torn row may.
fn ends_in_half_a_character(file: &Growing<'_>, record: u64) -> Result<bool, WorkspaceError> {
    let size = (file.length() - record).min(4);
    let mut end = vec![0; size as usize];
    file.read_at(&mut end, file.length() - size)?;
    let continuing = end
        .iter()
        .rev()
        .take_while(|byte| (0x80..0xc0).contains(*byte))
        .count();
    let expected = match end.iter().rev().nth(continuing) {
        Some(0xc0..0xe0) => 1,
        Some(0xe0..0xf0) => 2,
        Some(0xf0..) => 3,
        _ => 0,
    };
    Ok(continuing < expected)
}

/// The keys of all items in the order in which they first occur.
fn columns_of(items: &[Value]) -> Vec<String> {
    let mut places = HashMap::new();
    let mut columns = Vec::new();
    let mut add = |name: &str| {
        places
            .entry(name.to_owned())
            .or_insert_with(|| columns.push(name.to_owned()));
    };
    for item in items {
        match item {
            Value::Object(fields) => fields.keys().for_each(|key| add(key)),
            _ => add(VALUE),
        }
    }
    columns
}

/// The columns that the items need and the file does not have.
fn new_columns(
    path: &Path,
    items: &[Value],
    existing: &[String],
) -> Result<Vec<String>, WorkspaceError> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in existing {
        *counts.entry(name).or_default() += 1;
    }
    let by_name: Vec<Value> = items
        .iter()
        .filter(|item| item.is_object() || existing == [VALUE] || !fits(item, existing.len()))
        .cloned()
        .collect();
    let mut new = Vec::new();
    for column in columns_of(&by_name) {
        match counts.get(column.as_str()) {
            None => new.push(column),
            Some(1) => {}
            Some(_) => return Err(refused(path, AppendProblem::SameColumn { column })),
        }
    }
    Ok(new)
}

/// Whether an item is a row by position in a file of so many columns.
fn fits(item: &Value, columns: usize) -> bool {
    match item {
        Value::Object(_) => false,
        Value::Array(elements) => elements.len() == columns,
        _ => columns == 1,
    }
}

fn row_of_names(columns: &[String]) -> Vec<Cow<'_, str>> {
    columns
        .iter()
        .map(|name| Cow::Borrowed(name.as_str()))
        .collect()
}

fn row_of<'a>(item: &'a Value, columns: &[String], by_position: bool) -> Vec<Cow<'a, str>> {
    let empty = || Cow::Borrowed("");
    let mut row: Vec<Cow<'a, str>> = match item {
        Value::Object(fields) => columns
            .iter()
            .map(|column| fields.get(column).map_or_else(empty, cell))
            .collect(),
        Value::Array(elements) if by_position => elements.iter().map(cell).collect(),
        _ if by_position => vec![cell(item)],
        _ => columns
            .iter()
            .map(|column| if column == VALUE { cell(item) } else { empty() })
            .collect(),
    };
    // A row by position knows nothing of columns that other items bring along.
    row.resize_with(columns.len(), empty);
    row
}

fn cell(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Rows as CSV text. With an empty `line_end` it is one row without any.
pub(super) fn encoded<'a>(
    path: &Path,
    rows: impl IntoIterator<Item = Vec<Cow<'a, str>>>,
    line_end: &str,
) -> Result<Vec<u8>, WorkspaceError> {
    let terminator = match line_end {
        "\r\n" => csv::Terminator::CRLF,
        "\r" => csv::Terminator::Any(b'\r'),
        _ => csv::Terminator::Any(b'\n'),
    };
    let encode = || -> io::Result<Vec<u8>> {
        let mut writer = csv::WriterBuilder::new()
            .terminator(terminator)
            .flexible(true)
            .from_writer(Vec::new());
        for row in rows {
            writer.write_record(row.iter().map(|cell| cell.as_bytes()))?;
        }
        let mut text = writer
            .into_inner()
            .map_err(csv::IntoInnerError::into_error)?;
        if line_end.is_empty() {
            text.pop();
        }
        Ok(text)
    };
    encode().map_err(|source| io_failure(path, "append to", source))
}

fn names_in(path: &Path, header: &[u8]) -> Result<Vec<String>, WorkspaceError> {
    let mut record = csv::ByteRecord::new();
    csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(header)
        .read_byte_record(&mut record)
        .map_err(|error| io_failure(path, "read", error.into()))?;
    Ok(record
        .iter()
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect())
}
