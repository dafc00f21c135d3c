//! A cassette, read: hostile input is bounded, and everything wrong with it is told at once.

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
    /// The replies in the order of the file; of several with one key the last counts.
    pub(super) replies: Vec<ReplyLine>,
    /// Where the last whole line ends, in bytes.
    pub(super) whole: usize,
}

impl Tape {
    /// Reads a cassette. A last line that was cut off, as by a crash, is left out with a warning.
    pub(super) fn read(source: &SourceFile) -> (Option<Self>, Vec<Diagnostic>) {
        let text = source.text();
        let mut tape = Self::default();
        let mut findings = Vec::new();
        let (mut has_header, mut start) = (false, 0);
        for piece in text.split_inclusive('\n') {
            let first = piece.chars().next().map_or(0, char::len_utf8);
            let place = Span::new(start, start + first);
            start += piece.len();
            let is_torn = start == text.len() && !piece.ends_with('\n');
            let read = match piece.trim() {
                "" => Ok(()),
                line => tape.line(line, &mut has_header),
            };
            match read {
                Ok(()) => tape.whole = start,
                Err(_) if is_torn && has_header => findings.push(
                    Diagnostic::warning(
                        codes::BROWSER_CASSETTE_INVALID,
                        "the last line is truncated and was skipped: the recording was interrupted",
                    )
                    .at(source, place),
                ),
                Err(what) => findings.push(
                    Diagnostic::error(codes::BROWSER_CASSETTE_INVALID, cut(&what, SHOWN))
                        .at(source, place)
                        .with_help("delete it, and record it again with `--record`"),
                ),
            }
            // What follows a wrong header may be anything.
            if findings.len() >= MOST_FINDINGS || (!has_header && any_error(&findings)) {
                break;
            }
        }
        if !has_header && !any_error(&findings) {
            findings.push(
                Diagnostic::error(
                    codes::BROWSER_CASSETTE_INVALID,
                    format!("not a cassette: the first line must be `{{\"kind\":\"cassette\",\"version\":\"{VERSION}\"}}`"),
                )
                .at(source, Span::new(0, 0)),
            );
        }
        (Some(tape).filter(|_| !any_error(&findings)), findings)
    }

    /// Takes over a line.
    ///
    /// # Errors
    /// What is wrong with it.
    fn line(&mut self, line: &str, has_header: &mut bool) -> Result<(), String> {
        let line = serde_json::from_str::<Line>(line)
            .map_err(|error| format!("not a valid cassette line: {error}"))?;
        match line {
            Line::Cassette { .. } if *has_header => Err("duplicate header".to_owned()),
            Line::Cassette { version } if version == VERSION => {
                *has_header = true;
                Ok(())
            }
            Line::Cassette { version } => Err(format!(
                "unsupported version `{version}`, expected `{VERSION}`"
            )),
            _ if !*has_header => Err("a cassette must start with its header".to_owned()),
            Line::Reply(reply) => {
                self.replies.push(*reply);
                Ok(())
            }
            Line::Older {} => Ok(()),
        }
    }

    /// The reply with a key.
    pub(super) fn reply(&self, key: &str) -> Option<&ReplyLine> {
        self.replies.iter().rfind(|line| line.key == key)
    }
}
