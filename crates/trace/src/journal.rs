//! The journal of a run of tool calls: what a later run needs to go on where this one ended. JSON Lines, of which only a
//! line with its end counts: a run that is killed while it writes leaves a part of one.

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};

use serde::{Deserialize, Serialize};

use super::file::MAX_LINE;
use super::{Restored, StepFinished, StepStatus, TraceError};
use cuecard_source::value::Json;

/// The version this release writes, and the only one it reads.
pub const VERSION: u32 = 1;

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record<S = StepFinished> {
    /// The first: what is played.
    Run(Box<JournalHeader>),
    /// A step is about to make its first call.
    Begin {
        /// Its number.
        step: u64,
    },
    /// A step ended.
    End {
        /// How, and with which outputs.
        finished: S,
        /// The outputs that are left out, since they hold a secret or nobody knows them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        withheld: Vec<String>,
    },
    /// Everything before is the journal of an earlier run, which this run resumes.
    Resume {
        /// Its id.
        run: String,
    },
    /// The last: another run has resumed this one.
    ResumedBy {
        /// Its id.
        run: String,
    },
    /// The last: the run passed.
    Passed {},
}

/// What is played. Hashes are salted, since texts that are hashed may hold secrets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JournalHeader {
    /// Version of the format.
    pub journal: u32,
    /// The number of the first step that may be played.
    pub start: u64,
    /// The number of the last.
    pub end: u64,
    /// What stands before each text that is hashed.
    pub salt: String,
    /// The hash of each step, by its number.
    pub steps: BTreeMap<u64, String>,
    /// The hash of what stands beside the steps.
    pub rest: String,
    /// The values of the variables that are no secrets.
    pub variables: BTreeMap<String, Json>,
    /// The hashes of those that are.
    pub secrets: BTreeMap<String, String>,
}

/// What a run left.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Journal {
    /// What was played.
    pub header: JournalHeader,
    /// The steps that are done, from the first on without a gap.
    pub done: Vec<StepFinished>,
    /// Their outputs that are not known, by the number of the step.
    pub withheld: BTreeMap<u64, Vec<String>>,
    /// The step that was under way when the run ended: it may have had its effect.
    pub unknown: Option<u64>,
    /// Whether the run passed.
    pub has_passed: bool,
    /// The run that has resumed this one.
    pub resumed_by: Option<String>,
    /// The length of all whole lines, in bytes.
    pub length: u64,
    /// Whether a part of a line follows.
    pub is_torn: bool,
}

/// Where the run is, while its records are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    BetweenSteps,
    Within(u64),
    /// A step failed or was interrupted.
    Stopped,
    Over,
}

impl Journal {
    /// Reads a journal.
    ///
    /// # Errors
    /// If reading fails, or at the first line that is not what a run writes in its place.
    pub fn read(mut input: impl BufRead) -> Result<Self, TraceError> {
        let mut journal = Self::default();
        let mut position = Position::BetweenSteps;
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
            let read = input.by_ref().take(limit).read_until(b'\n', &mut text);
            read.map_err(TraceError::Io)?;
            let bad = |reason| TraceError::Line { line, reason };
            if text.len() >= MAX_LINE {
                return Err(bad(format!("the line is longer than {MAX_LINE} bytes")));
            }
            if !text.ends_with(b"\n") {
                journal.is_torn = !text.is_empty();
                break;
            }
            let record = serde_json::from_slice::<Record>(&text);
            let record = record.map_err(|error| bad(format!("not a record: {error}")))?;
            position = match (record, line) {
                (Record::Run(header), 1) if header.journal == VERSION => {
                    journal.header = *header;
                    position
                }
                (Record::Run(header), 1) => {
                    let version = header.journal;
                    return Err(bad(format!(
                        "the journal has version {version}; this release reads {VERSION}"
                    )));
                }
                (_, 1) => return Err(bad("a journal begins with `run`".to_owned())),
                (record, _) => journal.take(record, position).map_err(bad)?,
            };
            journal.length += text.len() as u64;
        }
        match journal.length {
            0 => Err(TraceError::Line {
                line: 1,
                reason: "the journal has no whole line".to_owned(),
            }),
            _ => Ok(journal),
        }
    }

    /// Takes the next record; where the run is behind it.
    fn take(&mut self, record: Record, position: Position) -> Result<Position, String> {
        let next = self.next_step();
        match (record, position) {
            (Record::Run(_), _) => Err("a second `run`".to_owned()),
            (_, Position::Over) => Err("a record after the last".to_owned()),
            (Record::Resume { .. }, _) => {
                self.unknown = None;
                Ok(Position::BetweenSteps)
            }
            (Record::ResumedBy { run }, _) => {
                self.resumed_by = Some(run);
                Ok(Position::Over)
            }
            (Record::Passed {}, Position::BetweenSteps) => {
                self.has_passed = true;
                Ok(Position::Over)
            }
            (Record::Begin { step }, Position::BetweenSteps) if next == Some(step) => {
                self.unknown = Some(step);
                Ok(Position::Within(step))
            }
            (Record::End { finished, withheld }, Position::BetweenSteps | Position::Within(_))
                if next == Some(finished.step)
                    && (finished.status != StepStatus::Passed
                        || finished.restored == Some(Restored::AssumedDone)
                        || position == Position::Within(finished.step)) =>
            {
                Ok(self.end(finished, withheld))
            }
            _ => Err("this record can't follow the one before it".to_owned()),
        }
    }

    fn end(&mut self, mut finished: StepFinished, withheld: Vec<String>) -> Position {
        match finished.status {
            StepStatus::Unknown => return Position::Stopped,
            StepStatus::Failed => {
                self.unknown = None;
                return Position::Stopped;
            }
            StepStatus::Passed | StepStatus::Tolerated | StepStatus::Skipped => {}
        }
        self.unknown = None;
        for name in &withheld {
            finished.outputs.shift_remove(name);
        }
        if !withheld.is_empty() {
            self.withheld.insert(finished.step, withheld);
        }
        self.done.push(finished);
        Position::BetweenSteps
    }

    /// The number of the first step that is not done; none if all are.
    pub fn next_step(&self) -> Option<u64> {
        let JournalHeader { start, end, .. } = self.header;
        let first = match self.done.last() {
            Some(last) => last.step.checked_add(1)?,
            None => start,
        };
        // A range that ends before it begins is none.
        let mut steps = (first <= end).then(|| self.header.steps.range(first..=end))?;
        steps.next().map(|(number, _)| *number)
    }
}
