//! How a CSV file ends: with a whole record, with one that lacks its line end, or with a torn one.
//!
//! A line end may stand inside quotes, so the last line alone does not tell. The end of the file is read
//! twice at once, as if its first byte stood inside quotes and as if not; the wrong assumption soon meets a
//! quote or a number of fields that cannot be. Where it doesn't, more of the file is read; only where even
//! a large piece fits both ways is the file read from its start.

use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};

use super::csv_scan::{Scanner, State};
use super::grow::Growing;
use crate::WorkspaceError;
use crate::disk::io_failure;

/// The piece that is read first; it grows by `GROWTH` up to `LARGEST_PIECE`.
const FIRST_PIECE: u64 = 64 << 10;
const LARGEST_PIECE: u64 = 16 << 20;
const GROWTH: u64 = 4;

/// How a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Behind the line end of the last record.
    Clean,
    /// With a record of as many fields as the header, without its line end. It starts at the offset.
    Unterminated {
        /// In bytes from the start of the file.
        record: u64,
    },
    /// With a record that can't be whole: an open quote, too few fields, or the zeros of a lost block.
    Torn {
        /// In bytes from the start of the file.
        record: u64,
    },
}

/// Judges the end of a file whose records have `columns` fields.
pub(super) fn end_of(file: &Growing<'_>, columns: u64) -> Result<End, WorkspaceError> {
    let length = file.length();
    let mut size = FIRST_PIECE;
    while size < length && size <= LARGEST_PIECE {
        // One byte more, to see what the piece stands behind.
        let start = length - size;
        let mut piece = vec![0; size as usize + 1];
        file.read_at(&mut piece, start - 1)?;
        if let Some(end) = judge_piece(&piece, start, columns) {
            return Ok(end);
        }
        size *= GROWTH;
    }
    judge_whole(file, columns)
}

/// One reading of a piece of the file.
struct Reading {
    scanner: Scanner,
    /// Where the last record starts, if it starts in the piece.
    record: Option<u64>,
    /// Whether the last record holds a zero byte.
    has_zero: bool,
    /// Whole records that start in the piece, and those of them with another number of fields.
    records: u64,
    odd_records: u64,
}

impl Reading {
    fn at(state: State) -> Self {
        Self {
            scanner: Scanner::at(state),
            record: None,
            has_zero: false,
            records: 0,
            odd_records: 0,
        }
    }

    fn take(&mut self, byte: u8, offset: u64, columns: u64) {
        let was = self.scanner.state;
        let ended = self.scanner.take(byte);
        if was == State::RecordStart && self.scanner.state != State::RecordStart {
            self.record = Some(offset);
            self.has_zero = false;
        }
        self.has_zero |= byte == 0;
        if let (Some(fields), Some(_)) = (ended, self.record) {
            self.records += 1;
            self.odd_records += u64::from(fields != columns);
        }
    }

    /// `None` if the last record starts before the piece.
    fn end(&self, columns: u64) -> Option<End> {
        if self.scanner.state == State::RecordStart {
            return Some(End::Clean);
        }
        let record = self.record?;
        let is_torn =
            self.scanner.state == State::Quoted || self.scanner.fields() < columns || self.has_zero;
        Some(if is_torn {
            End::Torn { record }
        } else {
            End::Unterminated { record }
        })
    }
}

/// Judges a piece of the file, its first byte being the last one before it. `None` if it does not tell.
fn judge_piece(piece: &[u8], start: u64, columns: u64) -> Option<End> {
    let (before, piece) = piece.split_first()?;
    let mut outside = Reading::at(match before {
        b'\n' | b'\r' => State::RecordStart,
        b',' => State::FieldStart,
        // As far as this byte stands outside, it closes a field, or is half of a doubled quote.
        b'"' => State::QuoteInQuoted,
        _ => State::Plain,
    });
    let mut inside = Reading::at(State::Quoted);
    let mut has_quote = false;
    for (byte, offset) in piece.iter().zip(start..) {
        outside.take(*byte, offset, columns);
        inside.take(*byte, offset, columns);
        has_quote |= *byte == b'"';
    }
    let chosen = match (outside.scanner.is_malformed, inside.scanner.is_malformed) {
        (false, true) => outside,
        // Stray quotes could look like this too, but hardly with even rows.
        (true, false) if inside.odd_records == 0 => inside,
        // Even rows and not one quote: a quoted text of that size would not look like this.
        (false, false) if !has_quote && outside.records > 1 && outside.odd_records == 0 => outside,
        _ => return None,
    };
    chosen.end(columns)
}

/// Reads the whole file, in bounded memory.
fn judge_whole(file: &Growing<'_>, columns: u64) -> Result<End, WorkspaceError> {
    let failed = |source| io_failure(file.path(), "read", source);
    let mut reading = Reading::at(State::RecordStart);
    let mut handle = file.file();
    handle.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut reader = BufReader::with_capacity(64 << 10, handle);
    let mut offset = 0;
    while offset < file.length() {
        let piece = reader.fill_buf().map_err(failed)?;
        if piece.is_empty() {
            break;
        }
        for byte in piece {
            reading.take(*byte, offset, columns);
            offset += 1;
        }
        let length = piece.len();
        reader.consume(length);
    }
    // A reading from the start has seen the start of its last record.
    Ok(reading.end(columns).unwrap_or(End::Clean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the whole text, read from its start, says about its end.
    fn truth(text: &[u8], columns: u64) -> End {
        let mut reading = Reading::at(State::RecordStart);
        for (byte, offset) in text.iter().zip(0..) {
            reading.take(*byte, offset, columns);
        }
        reading.end(columns).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 3000, ..ProptestConfig::default() })]

        #[test]
        fn a_piece_never_contradicts_the_whole(
            rows in prop::collection::vec(prop::collection::vec("[a\",\n]{0,6}", 2), 2..8),
            torn in any::<prop::sample::Index>(),
            start in any::<prop::sample::Index>(),
        ) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let whole = writer.into_inner().unwrap();
            let text = &whole[..torn.index(whole.len()) + 1];
            let start = start.index(text.len()).max(1);
            // Small pieces without any quote are the one guess, and real pieces are large.
            prop_assume!(text[start.min(text.len() - 1)..].contains(&b'"'));
            if start < text.len()
                && let Some(end) = judge_piece(&text[start - 1..], start as u64, 2)
            {
                prop_assert_eq!(end, truth(text, 2));
            }
        }
    }

    #[test]
    fn plain_rows_are_told_from_a_piece() {
        let text = b"x\na,1\nb,2\nc,3\n";
        assert_eq!(judge_piece(&text[1..], 2, 2), Some(End::Clean));
        assert_eq!(
            judge_piece(&text[1..text.len() - 2], 2, 2),
            Some(End::Unterminated { record: 10 })
        );
        assert_eq!(
            judge_piece(&text[1..text.len() - 3], 2, 2),
            Some(End::Torn { record: 10 })
        );
        let zeros = b"\na,1\nb,2\nc,3\nd,\0\0";
        assert_eq!(judge_piece(zeros, 1, 2), Some(End::Torn { record: 13 }));
    }

    #[test]
    fn a_line_end_inside_quotes_is_no_end() {
        let text = b"\na,1\nb,\"two\nlines";
        assert_eq!(judge_piece(text, 1, 2), Some(End::Torn { record: 5 }));
        assert_eq!(
            judge_piece(&text[..text.len() - 5], 1, 2),
            Some(End::Torn { record: 5 })
        );
    }
}
