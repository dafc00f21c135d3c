//! Where the records of CSV text end, byte by byte, as the `csv` crate reads it: comma, double quote, and
//! any of the three line ends.

/// Where in a record the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Before a record; empty lines are none.
    RecordStart,
    /// Behind a comma.
    FieldStart,
    /// In a field without quotes.
    Plain,
    /// Behind an opening quote.
    Quoted,
    /// Behind a quote inside a quoted field: its end, or the first half of a doubled one.
    QuoteInQuoted,
}

/// Walks over CSV text and counts what matters.
#[derive(Debug, Clone)]
pub(super) struct Scanner {
    pub(super) state: State,
    /// Commas of the current record so far.
    commas: u64,
}

impl Scanner {
    /// A scanner in the middle of something.
    pub(super) fn at(state: State) -> Self {
        Self { state, commas: 0 }
    }

    /// Takes the next byte. If it ends a record, that record's number of fields.
    pub(super) fn take(&mut self, byte: u8) -> Option<u64> {
        use State::{FieldStart, Plain, QuoteInQuoted, Quoted, RecordStart};
        match (self.state, byte) {
            (Quoted, b'"') => self.state = QuoteInQuoted,
            (Quoted, _) => {}
            (QuoteInQuoted, b'"') | (RecordStart | FieldStart, b'"') => self.state = Quoted,
            (RecordStart, b'\r' | b'\n') => {}
            (_, b'\r' | b'\n') => {
                let fields = self.fields();
                self.commas = 0;
                self.state = RecordStart;
                return Some(fields);
            }
            (_, b',') => {
                self.commas += 1;
                self.state = FieldStart;
            }
            _ => self.state = Plain,
        }
        None
    }

    /// The fields of the current record so far, the one that is being read included.
    pub(super) fn fields(&self) -> u64 {
        self.commas + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The number of fields of each record, with whether the last one lacks its line end.
    fn scan(text: &[u8]) -> (Vec<u64>, bool) {
        let mut scanner = Scanner::at(State::RecordStart);
        let mut records: Vec<u64> = text.iter().filter_map(|byte| scanner.take(*byte)).collect();
        let is_open = scanner.state != State::RecordStart;
        if is_open {
            records.push(scanner.fields());
        }
        (records, is_open)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn any_text_has_the_records_that_the_csv_crate_reads(text in "[a,\"\n\r]{0,16}") {
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .from_reader(text.as_bytes());
            let expected: Vec<u64> = reader
                .byte_records()
                .map(|record| record.unwrap().len() as u64)
                .collect();
            prop_assert_eq!(scan(text.as_bytes()).0, expected);
        }

        #[test]
        fn written_csv_is_well_formed(
            rows in prop::collection::vec(prop::collection::vec("[a,\"\n\r]{0,5}", 3), 1..5),
        ) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let text = writer.into_inner().unwrap();
            let mut scanner = Scanner::at(State::RecordStart);
            let records = text.iter().filter_map(|byte| scanner.take(*byte)).count();
            prop_assert_eq!(records, rows.len());
            prop_assert_eq!(scanner.state, State::RecordStart);
        }
    }
}
