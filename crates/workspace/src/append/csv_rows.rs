//! Rows appended to a CSV file, by its header.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead as _, Read as _};
use std::path::Path;

use serde_json::Value;

use super::OnNewColumn;
use super::csv_scan::{Scanner, State};
use super::grow::Growing;
use crate::disk::{Disk, io_failure, replace, too_large};
use crate::running::unfinished;
use crate::{WorkspaceError, bytes_in_words, listed};

/// Where the header must have ended, in bytes.
const LONGEST_HEADER: usize = 1 << 20;
/// The largest file that is rewritten with new columns, in bytes.
const LARGEST_EXTENDED: u64 = 256 << 20;
/// The column of items that are no objects.
const VALUE: &str = "value";
/// How many column names an error lists.
const COLUMNS_NAMED: usize = 20;

/// What rows to append must know of a file.
struct Table {
    /// The columns' names; bytes that are not UTF-8 are replaced.
    columns: Vec<String>,
    /// How the file ends its lines.
    line_end: &'static str,
    /// What must stand before the next row.
    joint: &'static str,
}

/// Appends one row per item; returns the warnings.
pub(super) fn append(
    disk: &dyn Disk,
    path: &Path,
    items: &[Value],
    on_new_column: OnNewColumn,
) -> Result<Vec<String>, WorkspaceError> {
    let mut file = Growing::open(disk, path)?;
    let Some(table) = read_table(&mut file)? else {
        let columns = columns_of(items);
        if columns.is_empty() {
            return Err(WorkspaceError::new(
                "the records have no columns, and the file has no header",
            )
            .with_help("give objects with at least one key")
            .at(path));
        }
        let rows = items.iter().map(|item| row_of(item, &columns, false));
        let records = encoded(path, [row_of_names(&columns)].into_iter().chain(rows), "\n")?;
        return file.write(&records);
    };
    let new = new_columns(path, items, &table.columns)?;
    if !new.is_empty() && on_new_column == OnNewColumn::Error {
        let quoted = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            listed(names.into_iter(), COLUMNS_NAMED)
        };
        let s = if new.len() == 1 { "" } else { "s" };
        let (new, existing) = (quoted(&new), quoted(&table.columns));
        let problem = format!("the file has no column{s} {new}; it has {existing}");
        let help = "`\"on_new_column\": \"extend\"` adds them to the header and to every row";
        return Err(WorkspaceError::new(problem).with_help(help).at(path));
    }
    let columns = [&table.columns[..], &new[..]].concat();
    let by_position = table.columns != [VALUE];
    let rows = items.iter().map(|item| {
        let by_position = by_position && fits(item, table.columns.len());
        row_of(item, &columns, by_position)
    });
    let rows = encoded(path, rows, table.line_end)?;
    let rows = [table.joint.as_bytes(), &rows].concat();
    if new.is_empty() {
        return file.write(&rows);
    }
    let extended = [extended(&file, &table, &new)?, rows].concat();
    replace(disk, path, &extended)?;
    Ok(file.warnings.clone())
}

/// Reads the header of a file and judges its end, without which no row can follow; `None` if it has no record.
fn read_table(file: &mut Growing<'_>) -> Result<Option<Table>, WorkspaceError> {
    let path = file.path();
    let failed = |source| io_failure(path, "read", source);
    let incomplete = |line: u64, what: &str| {
        WorkspaceError::new(format!("the row on line {line} {what}")).at(path)
    };
    let mut scanner = Scanner::at(State::RecordStart);
    // The bytes of the header, and the two behind it.
    let (mut header, mut behind, mut is_header) = (Vec::new(), Vec::new(), true);
    let (mut line, mut record_line) = (1, 1);
    let mut reader = file.reader().map_err(failed)?;
    loop {
        let piece = reader.fill_buf().map_err(failed)?;
        if piece.is_empty() {
            break;
        }
        for &byte in piece {
            if scanner.state == State::RecordStart {
                record_line = line;
            }
            line += u64::from(byte == b'\n');
            is_header &= scanner.take(byte).is_none();
            match is_header {
                true => header.push(byte),
                false if behind.len() < 2 => behind.push(byte),
                false => {}
            }
        }
        if is_header && header.len() >= LONGEST_HEADER {
            let longest = bytes_in_words(LONGEST_HEADER as u64);
            let problem = format!("the file's header does not end within {longest}");
            return Err(WorkspaceError::new(problem)
                .with_help("append to another file: this one is probably not CSV")
                .at(path));
        }
        let length = piece.len();
        reader.consume(length);
    }
    drop(reader);
    let is_ended = scanner.state == State::RecordStart;
    if is_header && is_ended {
        return Ok(None);
    }
    if scanner.state == State::Quoted {
        return Err(incomplete(record_line, "has a quote that is never closed")
            .with_help("close the quote, or write it twice if it is a part of the value"));
    }
    let columns = names_in(path, &header)?;
    let line_end = match behind[..] {
        [b'\r', b'\n'] => "\r\n",
        [b'\r', ..] => "\r",
        _ => "\n",
    };
    let n_last = file.length().min(3);
    let mut end = vec![0; n_last as usize];
    file.read_at(&mut end, file.length() - n_last)?;
    let joint = match is_ended {
        // A line end of two bytes may be torn.
        true if line_end == "\r\n" && end.ends_with(b"\r") => "\n",
        true => "",
        false if is_header => line_end,
        false if scanner.fields() < columns.len() as u64 || unfinished(&end) > 0 => {
            return Err(incomplete(record_line, "is incomplete")
                .with_help("complete the row, or remove it"));
        }
        false => {
            file.warnings.push(format!(
                "the last row of `{}` has no line ending: it was kept, but its last field may be truncated",
                path.display()
            ));
            line_end
        }
    };
    Ok(Some(Table {
        columns,
        line_end,
        joint,
    }))
}

/// The file's own rows with the columns `new`; each row gets as many fields as there are columns.
fn extended(file: &Growing<'_>, table: &Table, new: &[String]) -> Result<Vec<u8>, WorkspaceError> {
    let path = file.path();
    if file.length() > LARGEST_EXTENDED {
        let hint = "append to another file, or only the columns that this one has";
        return Err(too_large(path, LARGEST_EXTENDED, hint));
    }
    let mut old = Vec::new();
    let read = file
        .reader()
        .and_then(|mut reader| reader.read_to_end(&mut old));
    read.map_err(|source| io_failure(path, "read", source))?;
    let names = new.iter().map(|name| name.as_str().into()).collect();
    let names = [b",", &encoded(path, [names], "")?[..]].concat();
    let n_columns = table.columns.len() as u64;
    let mut written = file.mark().to_vec();
    let mut scanner = Scanner::at(State::RecordStart);
    let (mut n_records, mut line, mut record_line) = (0, 1, 1);
    for (at, byte) in old.iter().map(Some).chain([None]).enumerate() {
        if scanner.state == State::RecordStart {
            record_line = line;
        }
        line += u64::from(byte == Some(&b'\n'));
        let ended = match byte {
            Some(byte) => scanner.take(*byte),
            None => (scanner.state != State::RecordStart).then(|| scanner.fields()),
        };
        if let Some(fields) = ended {
            n_records += 1;
            let Some(missing) = n_columns.checked_sub(fields) else {
                let problem = format!(
                    "the row on line {record_line} has {fields} fields, but the header has {n_columns}"
                );
                return Err(WorkspaceError::new(problem)
                    .with_help("correct the row, or append to another file")
                    .at(path));
            };
            match n_records {
                1 => written.extend_from_slice(&names),
                _ => written.extend((0..missing + new.len() as u64).map(|_| b',')),
            }
        }
        written.extend(old.get(at));
    }
    Ok(written)
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
            Some(_) => {
                let problem = format!("the file has a duplicate column `{column}`");
                return Err(WorkspaceError::new(problem)
                    .with_help("rename one of the two columns in the file's header")
                    .at(path));
            }
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
fn encoded<'a>(
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
