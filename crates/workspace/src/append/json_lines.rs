//! JSON lines: one value per line.

use std::path::Path;

use cuecard_source::value::cut;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::grow::Growing;
use crate::disk::Disk;
use crate::{WorkspaceError, bytes_in_words};

/// The largest JSON line, in bytes. A torn one must fit into memory to be judged.
const LARGEST_RECORD: usize = 64 << 20;

/// How much of the file's end is read at a time, in search of the start of its last line.
const PIECE: usize = 64 << 10;

/// Appends one line per item; returns the warnings.
pub(super) fn append(
    disk: &dyn Disk,
    path: &Path,
    items: &[Value],
) -> Result<Vec<String>, WorkspaceError> {
    let mut lines = Vec::new();
    for item in items {
        let line = item.to_string();
        if line.len() > LARGEST_RECORD {
            let largest = bytes_in_words(LARGEST_RECORD as u64);
            return Err(
                WorkspaceError::new(format!("one record is larger than {largest}"))
                    .with_help("write it to a file of its own with `claude__write`")
                    .at(path),
            );
        }
        lines.extend_from_slice(line.as_bytes());
        lines.push(b'\n');
    }
    let mut file = Growing::open(disk, path)?;
    if needs_line_end(&mut file)? {
        lines.insert(0, b'\n');
    }
    file.write(&lines)
}

/// Judges the last line. A torn one is given up; true if a whole one lacks its line end.
fn needs_line_end(file: &mut Growing<'_>) -> Result<bool, WorkspaceError> {
    let line = last_line(file)?;
    let text = line.trim_ascii_start();
    if text.is_empty() {
        return Ok(!line.is_empty());
    }
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if !is_json(text) {
        if !is_torn(text) || !begins_as_ours(file, line.len() as u64, text)? {
            let line = String::from_utf8_lossy(text);
            let line = cut(&line, 40);
            let problem = format!("the file does not end with a line of JSON: `{line}`");
            return Err(WorkspaceError::new(problem)
                .with_help("append to another file, or end this one with a newline")
                .at(file.path()));
        }
        file.give_up_behind(file.length() - line.len() as u64)?;
        return Ok(false);
    }
    if matches!(text[0], b'-' | b'0'..=b'9') {
        let shown = String::from_utf8_lossy(text);
        let shown = cut(&shown, 40);
        file.warnings.push(format!(
            "the last line of `{}` has no line ending: `{shown}` was kept, but it may be the start of a \
             longer number",
            file.path().display(),
        ));
    }
    Ok(true)
}

fn is_json(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

/// Whether a line is the beginning of JSON. A crash may leave zeros, and a part of a character.
fn is_torn(text: &[u8]) -> bool {
    let end = text.iter().position(|byte| *byte == 0);
    let text = &text[..end.unwrap_or(text.len())];
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let ends_early = |text: &str| {
        let read = serde_json::from_str::<IgnoredAny>(text);
        read.is_err_and(|error| error.is_eof())
    };
    // A number that was cut behind its sign or exponent is not called early by the reader.
    let with_digit = format!("{text}0");
    ends_early(text)
        || ends_early(&with_digit)
        || is_json(with_digit.as_bytes())
        || (end.is_some() && is_json(text.as_bytes()))
}

/// Whether a file with a torn line at its end is one of JSON lines: its first line is JSON, or, if it is the torn one,
/// begins an object or a list, as few texts do.
fn begins_as_ours(
    file: &Growing<'_>,
    torn_length: u64,
    torn: &[u8],
) -> Result<bool, WorkspaceError> {
    if file.length() == torn_length {
        return Ok(matches!(torn[0], b'{' | b'[' | 0));
    }
    let mut start = vec![0; file.length().min(PIECE as u64) as usize];
    file.read_at(&mut start, 0)?;
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start);
    let mut lines = start.split(|byte| *byte == b'\n');
    Ok(match (lines.next(), lines.next()) {
        (Some(first), Some(_)) => first.trim_ascii().is_empty() || is_json(first),
        // The first line is longer than what is read.
        _ => is_torn(start),
    })
}

/// What stands behind the last line end, which is empty in a file that ends as it should.
fn last_line(file: &Growing<'_>) -> Result<Vec<u8>, WorkspaceError> {
    let mut line = Vec::new();
    let mut start = file.length();
    // One byte tells that a file ends as it should, which nearly every file does.
    let mut size = 1;
    while start > 0 {
        let mut piece = vec![0; size.min(start) as usize];
        start -= piece.len() as u64;
        file.read_at(&mut piece, start)?;
        let line_end = piece.iter().rposition(|byte| *byte == b'\n');
        piece.drain(..line_end.map_or(0, |place| place + 1));
        line.extend(piece.into_iter().rev());
        if line_end.is_some() {
            break;
        }
        if line.len() > LARGEST_RECORD {
            let largest = bytes_in_words(LARGEST_RECORD as u64);
            let problem = format!("the file ends in an unfinished line larger than {largest}");
            return Err(WorkspaceError::new(problem)
                .with_help("terminate the last line of the file with a newline, or remove it")
                .at(file.path()));
        }
        size = PIECE as u64;
    }
    line.reverse();
    Ok(line)
}
