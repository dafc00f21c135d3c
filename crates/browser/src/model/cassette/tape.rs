//! A cassette, read: hostile input is bounded, and everything wrong with it is told at once.

use std::collections::HashMap;

use cuecard_source::diagnostic::{Diagnostic, any_error, codes};
use cuecard_source::value::cut;
use cuecard_source::{SourceFile, Span};

use super::line::{Line, ReplyLine, VERSION};

/// More findings are not told.
const MOST_FINDINGS: usize = 50;
/// How much of what is wrong is shown, in characters.
const SHOWN: usize = 200;

/// What a cassette holds.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) replies: HashMap<String, ReplyLine>,
    /// The keys of the replies in the order of the file, the later one first when two are as near.
    pub(super) order: Vec<String>,
    /// Where the last whole line ends, in bytes.
    pub(super) whole: usize,
}

impl Tape {
    /// Reads a cassette. A last line that was cut off, as by a crash, is left out with a warning.
    pub(super) fn read(source: &SourceFile) -> (Option<Self>, Vec<Diagnostic>) {
        let mut reader = Reader {
            source,
            tape: Self::default(),
            findings: Vec::new(),
            has_header: false,
        };
        reader.read();
        let Reader {
            tape,
            mut findings,
            has_header,
            ..
        } = reader;
        if !has_header && !any_error(&findings) {
            findings.push(
                Diagnostic::error(
                    codes::BROWSER_CASSETTE_INVALID,
                    format!("not a cassette: the first line must be `{{\"kind\":\"cassette\",\"version\":\"{VERSION}\"}}`"),
                )
                .at(source, Span::new(0, 0)),
            );
        }
        match any_error(&findings) {
            true => (None, findings),
            false => (Some(tape), findings),
        }
    }
}

struct Reader<'a> {
    source: &'a SourceFile,
    tape: Tape,
    findings: Vec<Diagnostic>,
    has_header: bool,
}

impl Reader<'_> {
    fn read(&mut self) {
        let text = self.source.text();
        let mut start = 0;
        for piece in text.split_inclusive('\n') {
            let first = piece.chars().next().map_or(0, char::len_utf8);
            let place = Span::new(start, start + first);
            start += piece.len();
            let is_torn = start == text.len() && !piece.ends_with('\n');
            if piece.trim().is_empty() {
                self.tape.whole = start;
                continue;
            }
            match serde_json::from_str::<Line>(piece) {
                Ok(line) => {
                    self.line(line, place);
                    self.tape.whole = start;
                }
                Err(_) if is_torn && self.has_header => {
                    self.findings.push(
                        Diagnostic::warning(
                            codes::BROWSER_CASSETTE_INVALID,
                            "the last line is truncated and was skipped: the recording was interrupted",
                        )
                        .at(self.source, place),
                    );
                }
                Err(error) => self.wrong(place, &format!("not a valid cassette line: {error}")),
            }
            // What follows a wrong version may be anything.
            if self.findings.len() >= MOST_FINDINGS
                || (!self.has_header && any_error(&self.findings))
            {
                return;
            }
        }
    }

    fn wrong(&mut self, place: Span, what: &str) {
        let what = cut(what, SHOWN).into_owned();
        self.findings.push(
            Diagnostic::error(codes::BROWSER_CASSETTE_INVALID, what)
                .at(self.source, place)
                .with_help("delete it, and record it again with `--record`"),
        );
    }

    fn line(&mut self, line: Line, place: Span) {
        if let Line::Cassette { version } = &line {
            match (self.has_header, version == VERSION) {
                (true, _) => self.wrong(place, "duplicate header"),
                (false, true) => self.has_header = true,
                (false, false) => self.wrong(
                    place,
                    &format!("unsupported version `{version}`, expected `{VERSION}`"),
                ),
            }
            return;
        }
        if !self.has_header {
            return self.wrong(place, "a cassette must start with its header");
        }
        if let Line::Reply(reply) = line {
            self.tape.order.push(reply.key.clone());
            self.tape.replies.insert(reply.key.clone(), *reply);
        }
    }
}
