//! A CSV file rewritten with further columns. Every byte of the old rows stays; each gets empty fields.

use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};

use super::csv_rows::{Header, encoded};
use super::csv_scan::{Scanner, State};
use super::grow::Growing;
use super::{AppendProblem, refused};
use crate::WorkspaceError;
use crate::disk::{Replacement, io_failure};
use crate::text::Encoding;

/// Replaces the file by its own rows with the columns `new`, what must stand before the next row (`joint`),
/// and the rows that are appended. Returns the warnings.
pub(super) fn extend(
    mut file: Growing<'_>,
    header: &Header,
    new: &[String],
    joint: &str,
    rows: &[u8],
) -> Result<Vec<String>, WorkspaceError> {
    let path = file.path();
    let names = new.iter().map(|name| name.as_str().into()).collect();
    let names = [b",", &encoded(path, [names], "")?[..]].concat();
    let mut widened = Widened {
        out: BufWriter::new(Replacement::begin(file.disk(), path)?),
        scanner: Scanner::at(State::RecordStart),
        names,
        new_columns: new.len() as u64,
        columns: header.columns.len() as u64,
        records: 0,
        line: 1,
        record_line: 1,
    };
    let copied = widened.copy(&file).and_then(|()| {
        widened.out.write_all(joint.as_bytes())?;
        widened.out.write_all(rows)?;
        Ok(widened
            .out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?)
    });
    match copied {
        Ok(replacement) => replacement.commit()?,
        Err(Stopped::Io(source)) => return Err(io_failure(path, "write", source)),
        Err(Stopped::Wide { line, fields }) => {
            let columns = header.columns.len() as u64;
            return Err(refused(
                path,
                AppendProblem::WideRow {
                    line,
                    fields,
                    columns,
                },
            ));
        }
    }
    Ok(std::mem::take(&mut file.warnings))
}

enum Stopped {
    Io(io::Error),
    Wide { line: u64, fields: u64 },
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

struct Widened<'a> {
    out: BufWriter<Replacement<'a>>,
    scanner: Scanner,
    /// The new names with a comma before each.
    names: Vec<u8>,
    new_columns: u64,
    /// The old columns.
    columns: u64,
    records: u64,
    line: u64,
    record_line: u64,
}

impl Widened<'_> {
    fn copy(&mut self, file: &Growing<'_>) -> Result<(), Stopped> {
        let mut handle = file.file();
        handle.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::with_capacity(64 << 10, handle.take(file.length()));
        let mark = Encoding::of(reader.fill_buf()?).mark();
        self.out.write_all(mark)?;
        reader.consume(mark.len());
        loop {
            let piece = reader.fill_buf()?;
            if piece.is_empty() {
                break;
            }
            for byte in piece {
                self.take(*byte)?;
            }
            let length = piece.len();
            reader.consume(length);
        }
        if self.scanner.state != State::RecordStart {
            self.end_record(self.scanner.fields())?;
        }
        Ok(())
    }

    fn take(&mut self, byte: u8) -> Result<(), Stopped> {
        if self.scanner.state == State::RecordStart {
            self.record_line = self.line;
        }
        self.line += u64::from(byte == b'\n');
        if let Some(fields) = self.scanner.take(byte) {
            self.end_record(fields)?;
        }
        self.out.write_all(&[byte])?;
        Ok(())
    }

    /// Writes what a record gets before its line end.
    fn end_record(&mut self, fields: u64) -> Result<(), Stopped> {
        self.records += 1;
        if self.records == 1 {
            self.out.write_all(&self.names)?;
            return Ok(());
        }
        let Some(missing) = self.columns.checked_sub(fields) else {
            let line = self.record_line;
            return Err(Stopped::Wide { line, fields });
        };
        for _ in 0..missing + self.new_columns {
            self.out.write_all(b",")?;
        }
        Ok(())
    }
}
