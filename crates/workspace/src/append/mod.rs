//! Records appended to a file of JSON lines, to a CSV file or to a JSON array.
//!
//! What a step has appended is complete and on disk when the step passes. JSON lines and CSV grow by one
//! write under an advisory lock, so that several processes may append to one file; a record that a dying
//! machine tore is cut off by the next append, which says so. A JSON array is replaced as a whole: at any
//! moment the file holds the old array or the new one.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use strum::EnumString;

use super::WorkspaceError;
use super::disk::{Disk, RealDisk};

mod csv_rows;
mod csv_scan;
mod grow;
mod json_array;
mod json_lines;

/// What kind of file the records go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Format {
    /// One JSON value per line.
    #[default]
    Jsonl,
    /// Comma-separated values behind a header.
    Csv,
    /// One JSON array.
    Json,
}

/// What happens to a value whose column a CSV file doesn't have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum OnNewColumn {
    /// Nothing is appended, and the columns are named.
    #[default]
    Error,
    /// The file is rewritten with the new columns behind the old ones.
    Extend,
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

/// Appends `data` to the file at `path`: each item of an array, or the one value. Missing folders and the
/// file are created. Without items nothing is touched, except that a missing JSON array becomes `[]`.
///
/// `on_new_column` matters for CSV only. There an object gives a value per column, by the file's header, or
/// by the keys in the order in which they first occur if there is no header yet; what is missing or null
/// stays empty, arrays and objects are compact JSON. Any other item goes to the column `value`, or is a row
/// by position if the file's header has as many columns as the item has elements (a scalar being one).
///
/// A last line without line end is completed if it holds a whole record. If it is the beginning of JSON, it is removed, with
/// a warning; an incomplete row of CSV is an error.
///
/// A file that another process keeps locked is waited for, at most half a minute.
///
/// # Errors
/// The file can't be written, or is not of the format; what was appended is taken back.
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

#[cfg(test)]
mod tests;
