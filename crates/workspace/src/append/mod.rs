//! Records appended to a file of JSON lines, to a CSV file or to a JSON array.
//!
//! What a step has appended is complete and on disk when the step passes. JSON lines and CSV grow by one
//! write under an advisory lock, so that several processes may append to one file; a record that a dying
//! machine tore is cut off by the next append, which says so. A JSON array is replaced as a whole: at any
//! moment the file holds the old array or the new one.

use std::fmt;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::disk::{Disk, RealDisk};
use super::{WorkspaceError, bytes_in_words, io_reason, listed};

mod csv_extend;
mod csv_rows;
mod csv_scan;
mod csv_tail;
mod grow;
mod json_array;
mod json_lines;

/// The largest JSON line, in bytes. A torn one must fit into memory to be judged.
const LARGEST_RECORD: usize = 64 << 20;

/// What kind of file the records go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// One JSON value per line.
    #[default]
    Jsonl,
    /// Comma-separated values behind a header.
    Csv,
    /// One JSON array.
    Json,
}

impl Format {
    /// The names that [`Format::from_name`] knows.
    pub const NAMES: [&'static str; 3] = ["jsonl", "csv", "json"];

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "jsonl" => Some(Self::Jsonl),
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// What happens to a value whose column a CSV file doesn't have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnNewColumn {
    /// Nothing is appended, and the columns are named.
    #[default]
    Error,
    /// The file is rewritten with the new columns behind the old ones.
    Extend,
}

impl OnNewColumn {
    /// The names that [`OnNewColumn::from_name`] knows.
    pub const NAMES: [&'static str; 2] = ["error", "extend"];

    /// The behaviour of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "error" => Some(Self::Error),
            "extend" => Some(Self::Extend),
            _ => None,
        }
    }
}

/// What [`append`] did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Appended {
    /// How many records were appended.
    pub appended: u64,
    /// The path as it was given.
    pub path: String,
    /// How many records a JSON array has now; absent for the other formats, which are not read whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// What the reader should be told, such as a torn record that was removed.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// Why nothing was appended. The file is as it was, unless the text says otherwise.
#[derive(Debug)]
pub enum AppendProblem {
    /// The write failed half-way.
    Failed {
        /// What the operating system said.
        source: io::Error,
        /// Whether what had been written could be taken back.
        undone: bool,
        /// What had been repaired before.
        warnings: Vec<String>,
    },
    /// Another process has held the lock for too long.
    Locked,
    /// The file is UTF-16, and records are UTF-8.
    Utf16,
    /// One record is larger than can be repaired if it is torn.
    RecordTooLarge,
    /// The end of the file is one unfinished line, longer than any record.
    EndlessLine,
    /// The last line has no line end, and is neither JSON nor the beginning of it.
    NotJsonLine {
        /// Its beginning.
        line: String,
    },
    /// The file should hold a JSON array and is no JSON.
    NotJson {
        /// The reader's words, with line and column.
        reason: String,
    },
    /// The file holds JSON, but no array.
    NotAnArray {
        /// What it holds: `an object`, `a string`, …
        found: &'static str,
    },
    /// Values for columns that the CSV file doesn't have.
    NewColumns {
        /// The columns, in the order in which they occur.
        columns: Vec<String>,
        /// Those of the file.
        existing: Vec<String>,
    },
    /// There is neither a header nor anything to make one from.
    NoColumns,
    /// The CSV file has a column twice, so that a value has two places.
    SameColumn {
        /// Its name.
        column: String,
    },
    /// The CSV file's header is longer than any header.
    EndlessHeader {
        /// The bound in bytes.
        limit: usize,
    },
    /// A quote in the CSV file is never closed, and rows stand behind it.
    OpenQuote {
        /// The line on which the record with the quote starts, from 1.
        line: u64,
    },
    /// A row has more fields than the header, so that no column can be added.
    WideRow {
        /// The line on which the row starts, from 1.
        line: u64,
        /// Its fields.
        fields: u64,
        /// The header's.
        columns: u64,
    },
}

impl AppendProblem {
    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::Utf16 => "convert the file to UTF-8 first, for example with `iconv`",
            Self::NotJson { .. } | Self::NotAnArray { .. } => {
                "use another path, or `\"format\": \"jsonl\"` for a JSON Lines file"
            }
            Self::NewColumns { .. } => {
                "`\"on_new_column\": \"extend\"` adds them to the header and to every row"
            }
            Self::NoColumns => "give objects with at least one key",
            Self::SameColumn { .. } => "rename one of the two columns in the file's header",
            Self::OpenQuote { .. } => {
                "close the quote, or write it twice if it is a part of the value"
            }
            Self::WideRow { .. } => "correct the row, or append to another file",
            Self::NotJsonLine { .. } => "append to another file, or end this one with a newline",
            Self::EndlessLine => "terminate the last line of the file with a newline, or remove it",
            Self::EndlessHeader { .. } => "append to another file: this one is probably not CSV",
            Self::RecordTooLarge => "write it to a file of its own with `claude__write`",
            Self::Failed { .. } | Self::Locked => return None,
        };
        Some(help.to_owned())
    }
}

impl fmt::Display for AppendProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// How many column names are listed.
        const NAMED: usize = 20;
        let quoted = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            listed(names.into_iter(), NAMED)
        };
        match self {
            Self::Failed {
                source,
                undone,
                warnings,
            } => {
                f.write_str(if *undone {
                    "nothing was appended: "
                } else {
                    "part of the records may be at the end of the file: "
                })?;
                f.write_str(&io_reason(source))?;
                for warning in warnings {
                    write!(f, " (before that, {warning})")?;
                }
                Ok(())
            }
            Self::Locked => f.write_str("another process keeps the file locked"),
            Self::Utf16 => f.write_str("the file is UTF-16, and records are appended as UTF-8"),
            Self::RecordTooLarge => {
                write!(
                    f,
                    "one record is larger than {}",
                    bytes_in_words(LARGEST_RECORD as u64)
                )
            }
            Self::EndlessLine => write!(
                f,
                "the file ends in an unfinished line larger than {}",
                bytes_in_words(LARGEST_RECORD as u64)
            ),
            Self::NotJsonLine { line } => {
                write!(f, "the file does not end with a line of JSON: `{line}`")
            }
            Self::NotJson { reason } => write!(f, "the file is not a JSON array: {reason}"),
            Self::NotAnArray { found } => {
                write!(f, "the file is not a JSON array but contains {found}")
            }
            Self::NewColumns { columns, existing } => {
                let s = if columns.len() == 1 { "" } else { "s" };
                write!(
                    f,
                    "the file has no column{s} {}; it has {}",
                    quoted(columns),
                    quoted(existing)
                )
            }
            Self::NoColumns => {
                f.write_str("the records have no columns, and the file has no header")
            }
            Self::SameColumn { column } => write!(f, "the file has a duplicate column `{column}`"),
            Self::EndlessHeader { limit } => {
                write!(
                    f,
                    "the file's header does not end within {}",
                    bytes_in_words(*limit as u64)
                )
            }
            Self::OpenQuote { line } => write!(
                f,
                "the row on line {line} has a quote that is never closed, and more rows behind it"
            ),
            Self::WideRow {
                line,
                fields,
                columns,
            } => write!(
                f,
                "the row on line {line} has {fields} fields, but the header has {columns}"
            ),
        }
    }
}

/// Appends `data` to the file at `path`: each item of an array, or the one value. Missing folders and the
/// file are created. Without items nothing is touched, except that a missing JSON array becomes `[]`.
///
/// `on_new_column` matters for CSV only. There an object gives a value per column, by the file's header, or
/// by the keys in the order in which they first occur if there is no header yet; what is missing or null
/// stays empty, arrays and objects are compact JSON. Any other item goes to the column `value`, or is a row
/// by position if the file's header has as many columns as the item has elements (a scalar being one).
///
/// A last line without line end is completed if it holds a whole record. It is removed, with a warning, if
/// it is torn: the beginning of JSON, an open quote, too few fields.
///
/// A file that another process keeps locked is waited for, at most half a minute.
///
/// # Errors
/// See [`AppendProblem`]; what was appended is taken back.
pub fn append(
    path: &Path,
    format: Format,
    data: &Value,
    on_new_column: OnNewColumn,
) -> Result<Appended, WorkspaceError> {
    append_on(&RealDisk, path, format, data, on_new_column)
}

fn append_on(
    disk: &dyn Disk,
    path: &Path,
    format: Format,
    data: &Value,
    on_new_column: OnNewColumn,
) -> Result<Appended, WorkspaceError> {
    let items = match data {
        Value::Array(items) => items.as_slice(),
        other => std::slice::from_ref(other),
    };
    let mut appended = Appended {
        appended: items.len() as u64,
        path: path.display().to_string(),
        total: None,
        warnings: Vec::new(),
    };
    match format {
        Format::Json => appended.total = Some(json_array::append(disk, path, items)?),
        _ if items.is_empty() => {}
        Format::Jsonl => appended.warnings = json_lines::append(disk, path, items)?,
        Format::Csv => appended.warnings = csv_rows::append(disk, path, items, on_new_column)?,
    }
    Ok(appended)
}

fn refused(path: &Path, problem: AppendProblem) -> WorkspaceError {
    WorkspaceError::Append {
        path: path.to_owned(),
        problem,
    }
}

#[cfg(test)]
mod tests;
