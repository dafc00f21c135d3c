//! The journal of a run of tool calls: what a later run needs to go on where this one ended. JSON Lines, of which only a
//! line with its end counts: a run that is killed while it writes leaves a part of one.

use std::collections::{BTreeMap, BTreeSet};
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
    /// A step, or an element of one with `for_each`, is about to make its first call.
    Begin {
        /// The number of the step.
        step: u64,
        /// The index of the element.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<u64>,
    },
    /// A step or an element of one ended.
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
    /// The numbers of the first and the last step of each group, by the first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<u64, u64>,
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
    /// The steps that are done, in play order: from the first on without a gap, but for those of the last group.
    pub done: Vec<StepFinished>,
    /// The elements that are done of the step behind them, from the first on without a gap.
    pub elements: Vec<StepFinished>,
    /// The outputs of all these that are not known, by the number of the step.
    pub withheld: BTreeMap<u64, Vec<String>>,
    /// The steps that were under way when the run ended: they may have had their effect. Several are of one group.
    pub unknown: BTreeSet<u64>,
    /// The index of its element that was.
    pub unknown_element: Option<u64>,
    /// Whether the run passed.
    pub has_passed: bool,
    /// The run that has resumed this one.
    pub resumed_by: Option<String>,
    /// The length of all whole lines, in bytes.
    pub length: u64,
    /// Whether a part of a line follows.
    pub is_torn: bool,
    /// The steps of the group under way that ended.
    ended: BTreeSet<u64>,
}

/// Where the run is, while its records are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    BetweenSteps,
    Within(u64),
    /// An element ended the run: the end of its step follows.
    AtEnd,
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
                self.unknown.clear();
                self.ended.clear();
                Ok(Position::BetweenSteps)
            }
            (Record::ResumedBy { run }, _) => {
                self.resumed_by = Some(run);
                Ok(Position::Over)
            }
            (Record::Passed {}, Position::BetweenSteps) if next.is_none() => {
                self.has_passed = true;
                Ok(Position::Over)
            }
            (
                Record::Begin {
                    step,
                    element: None,
                },
                _,
            ) if self.is_in_group(step) => {
                self.unknown_element = None;
                match self.is_over(step) || !self.unknown.insert(step) {
                    true => Err("this step has begun before".to_owned()),
                    false => Ok(position),
                }
            }
            (Record::End { finished, withheld }, _) if self.is_in_group(finished.step) => {
                let step = finished.step;
                let may_end = self.unknown.contains(&step) || may_end_without_call(&finished);
                if self.is_over(step) || !may_end {
                    return Err("this step can't end here".to_owned());
                }
                self.ended.insert(step);
                self.end(finished, withheld);
                Ok(position)
            }
            (Record::Begin { step, element }, Position::BetweenSteps)
                if next == Some(step) && element.unwrap_or(0) == self.elements.len() as u64 =>
            {
                self.unknown.insert(step);
                self.unknown_element = element;
                Ok(Position::Within(step))
            }
            (
                Record::End { finished, withheld },
                Position::BetweenSteps | Position::Within(_) | Position::AtEnd,
            ) if next == Some(finished.step) && self.may_end(&finished, position) => {
                Ok(self.end(finished, withheld))
            }
            _ => Err("this record can't follow the one before it".to_owned()),
        }
    }

    /// Whether this may be the end of the next step, or of its next element.
    fn may_end(&self, finished: &StepFinished, position: Position) -> bool {
        let n_elements = self.elements.len() as u64;
        let has_stopped = matches!(finished.status, StepStatus::Failed | StepStatus::Unknown);
        let may_have_called =
            position == Position::Within(finished.step) || may_end_without_call(finished);
        match (finished.element, finished.elements) {
            _ if position == Position::AtEnd => finished.element.is_none() && has_stopped,
            (Some(index), _) => index == n_elements && may_have_called,
            (None, Some(count)) => has_stopped || count == n_elements,
            (None, None) => n_elements == 0 && may_have_called,
        }
    }

    /// Whether a step belongs to the group that is under way, or is the next to begin.
    fn is_in_group(&self, step: u64) -> bool {
        let next = self.next_step();
        let group = next.and_then(|next| self.header.groups.range(..=next).next_back());
        group.is_some_and(|(first, last)| {
            let is_member = |number| (*first..=*last).contains(&number);
            let range = self.header.start..=self.header.end;
            next.is_some_and(is_member)
                && is_member(step)
                && range.contains(&step)
                && self.header.steps.contains_key(&step)
        })
    }

    /// Whether a step of the group that is under way is done, or has ended otherwise.
    fn is_over(&self, step: u64) -> bool {
        self.ended.contains(&step) || self.place(step).is_ok()
    }

    /// Where a step is among those that are done, or belongs.
    fn place(&self, step: u64) -> Result<usize, usize> {
        self.done.binary_search_by_key(&step, |done| done.step)
    }

    fn end(&mut self, mut finished: StepFinished, mut withheld: Vec<String>) -> Position {
        match (finished.status, finished.element) {
            (StepStatus::Unknown, None) => return Position::Stopped,
            (StepStatus::Unknown, Some(_)) => return Position::AtEnd,
            (StepStatus::Failed, element) => {
                self.unknown.remove(&finished.step);
                return element.map_or(Position::Stopped, |_| Position::AtEnd);
            }
            (StepStatus::Passed | StepStatus::Tolerated | StepStatus::Skipped, _) => {}
        }
        for name in &withheld {
            finished.outputs.shift_remove(name);
        }
        let step = finished.step;
        self.unknown.remove(&step);
        // Those of the step replace those of its elements.
        let before = self.withheld.remove(&step);
        if finished.element.is_some() {
            withheld.extend(before.into_iter().flatten());
            self.elements.push(finished);
        } else {
            self.elements.clear();
            let (Ok(place) | Err(place)) = self.place(step);
            self.done.insert(place, finished);
        }
        if !withheld.is_empty() {
            self.withheld.insert(step, withheld);
        }
        Position::BetweenSteps
    }

    /// The number of the first step that is not done; none if all are.
    pub fn next_step(&self) -> Option<u64> {
        let JournalHeader { start, end, .. } = self.header;
        let last = self.done.last().map(|last| last.step);
        let behind = last.map_or(Some(start), |last| last.checked_add(1));
        // Only steps of a group end before one that stands before them.
        let groups = last.and_then(|last| self.header.groups.range(..=last).next_back());
        let group = groups.filter(|(_, end)| last.is_some_and(|last| last <= **end));
        let from = group.map_or(behind, |(first, _)| Some(start.max(*first)))?;
        // A range that ends before it begins is none.
        let steps = (from <= end).then(|| self.header.steps.range(from..=end))?;
        let mut numbers = steps.map(|(number, _)| *number);
        numbers.find(|number| self.place(*number).is_err())
    }
}

/// Whether a step may end that made no call.
fn may_end_without_call(finished: &StepFinished) -> bool {
    !matches!(finished.status, StepStatus::Passed | StepStatus::Unknown)
        || finished.restored == Some(Restored::AssumedDone)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn header(n_steps: u64) -> JournalHeader {
        JournalHeader {
            journal: VERSION,
            start: 2,
            end: u64::MAX,
            salt: "salt".to_owned(),
            // Numbers may have gaps, and the first may be out of range.
            steps: (0..=n_steps)
                .map(|idx| (idx * 2, format!("hash {idx}")))
                .collect(),
            variables: [("V".to_owned(), json!({"b": [1.5, "\n"], "a": null}))].into(),
            ..JournalHeader::default()
        }
    }

    fn finished(step: u64, status: StepStatus, outputs: &Json) -> StepFinished {
        StepFinished {
            step,
            id: None,
            tool: "t".into(),
            description: None,
            status,
            duration_ms: 1.5,
            attempts: Vec::new(),
            error: None,
            skipped_by: None,
            group: None,
            healed: None,
            outputs: outputs.as_object().cloned().unwrap_or_default(),
            restored: None,
            element: None,
            elements: None,
        }
    }

    fn line(record: &Record) -> Vec<u8> {
        let mut line = serde_json::to_vec(record).expect("it can be written");
        line.push(b'\n');
        line
    }

    /// How a step goes, and what the user decides if the run ends in it.
    #[derive(Debug, Clone, Copy)]
    enum Course {
        Ends(StepStatus),
        FailsThenPasses,
        DiesThenRedone,
        DiesThenAssumed,
        InterruptedThenRedone,
        /// Of three elements, the last is skipped.
        HasElements,
        FailsInSecondElement,
        InterruptedBeforeSecondElement,
        DiesInSecondElementThenAssumed,
    }

    /// What a journal says up to some record.
    #[derive(Debug, Clone, PartialEq)]
    struct Expected {
        length: usize,
        done: usize,
        elements: usize,
        unknown: Option<u64>,
    }

    /// The lines of a run with all its resumptions, and what is expected behind each.
    fn journal_of(courses: &[Course], outputs: &Json) -> (Vec<u8>, Vec<Expected>) {
        let mut text = Vec::new();
        let mut expected = Vec::new();
        let (mut done, mut elements, mut unknown) = (0, 0, None);
        let mut write = |record: &Record, ends: usize, under_way: Option<u64>| {
            text.extend(line(record));
            done += ends;
            unknown = under_way;
            elements = match record {
                Record::End { finished, .. } if finished.element.is_some() => {
                    elements + usize::from(finished.status != StepStatus::Failed)
                }
                _ if ends > 0 => 0,
                _ => elements,
            };
            expected.push(Expected {
                length: text.len(),
                done,
                elements,
                unknown,
            });
        };
        let run = || Record::Run(Box::new(header(courses.len() as u64)));
        let resume = || Record::Resume {
            run: "earlier".to_owned(),
        };
        let end = |step, status| Record::End {
            finished: finished(step, status, outputs),
            withheld: Vec::new(),
        };
        let of_element = |step, element, status| Record::End {
            finished: StepFinished {
                element,
                elements: Some(3),
                ..finished(step, status, outputs)
            },
            withheld: Vec::new(),
        };
        write(&run(), 0, None);
        for (course, step) in courses.iter().zip((2..).step_by(2)) {
            let begin = Record::Begin {
                step,
                element: None,
            };
            match *course {
                Course::Ends(StepStatus::Skipped) => {
                    write(&end(step, StepStatus::Skipped), 1, None);
                }
                Course::Ends(status) => {
                    write(&begin, 0, Some(step));
                    write(&end(step, status), 1, None);
                }
                Course::FailsThenPasses => {
                    write(&begin, 0, Some(step));
                    write(&end(step, StepStatus::Failed), 0, None);
                    write(&resume(), 0, None);
                    write(&begin, 0, Some(step));
                    write(&end(step, StepStatus::Passed), 1, None);
                }
                Course::DiesThenRedone => {
                    write(&begin, 0, Some(step));
                    write(&resume(), 0, None);
                    write(&begin, 0, Some(step));
                    write(&end(step, StepStatus::Passed), 1, None);
                }
                Course::DiesThenAssumed => {
                    write(&begin, 0, Some(step));
                    write(&resume(), 0, None);
                    let mut finished = finished(step, StepStatus::Passed, &Json::Null);
                    finished.restored = Some(Restored::AssumedDone);
                    let withheld = vec!["o".to_owned()];
                    write(&Record::End { finished, withheld }, 1, None);
                }
                Course::HasElements
                | Course::FailsInSecondElement
                | Course::InterruptedBeforeSecondElement
                | Course::DiesInSecondElementThenAssumed => {
                    use StepStatus::{Failed, Passed, Skipped, Unknown};
                    let begin = |element| Record::Begin {
                        step,
                        element: Some(element),
                    };
                    write(&begin(0), 0, Some(step));
                    write(&of_element(step, Some(0), Passed), 0, None);
                    if matches!(course, Course::InterruptedBeforeSecondElement) {
                        write(&of_element(step, None, Unknown), 0, None);
                        write(&resume(), 0, None);
                    }
                    write(&begin(1), 0, Some(step));
                    match course {
                        Course::FailsInSecondElement => {
                            write(&of_element(step, Some(1), Failed), 0, None);
                            write(&of_element(step, None, Failed), 0, None);
                            write(&resume(), 0, None);
                            write(&begin(1), 0, Some(step));
                            write(&of_element(step, Some(1), Passed), 0, None);
                        }
                        Course::HasElements | Course::InterruptedBeforeSecondElement => {
                            write(&of_element(step, Some(1), Passed), 0, None);
                        }
                        _ => {
                            write(&resume(), 0, None);
                            let mut assumed = finished(step, Passed, &Json::Null);
                            assumed.element = Some(1);
                            assumed.restored = Some(Restored::AssumedDone);
                            let finished = assumed;
                            let withheld = vec!["o".to_owned()];
                            write(&Record::End { finished, withheld }, 0, None);
                        }
                    }
                    write(&of_element(step, Some(2), Skipped), 0, None);
                    write(&of_element(step, None, Passed), 1, None);
                }
                Course::InterruptedThenRedone => {
                    write(&begin, 0, Some(step));
                    write(&end(step, StepStatus::Unknown), 0, Some(step));
                    write(&resume(), 0, None);
                    write(&begin, 0, Some(step));
                    write(&end(step, StepStatus::Tolerated), 1, None);
                }
            }
        }
        write(&Record::Passed {}, 0, None);
        (text, expected)
    }

    fn courses() -> impl Strategy<Value = Vec<Course>> {
        let course = prop_oneof![
            Just(Course::Ends(StepStatus::Passed)),
            Just(Course::Ends(StepStatus::Tolerated)),
            Just(Course::Ends(StepStatus::Skipped)),
            Just(Course::FailsThenPasses),
            Just(Course::DiesThenRedone),
            Just(Course::DiesThenAssumed),
            Just(Course::InterruptedThenRedone),
            Just(Course::HasElements),
            Just(Course::FailsInSecondElement),
            Just(Course::InterruptedBeforeSecondElement),
            Just(Course::DiesInSecondElementThenAssumed),
        ];
        prop::collection::vec(course, 1..8)
    }

    proptest! {
        #[test]
        fn cut_anywhere_a_journal_says_where_the_run_was(
            courses in courses(),
            output in "\\PC*",
            at in any::<prop::sample::Index>(),
        ) {
            let outputs = json!({"o": output, "n": {"x": [0.1, 9_007_199_254_740_993_u64]}});
            let (text, expected) = journal_of(&courses, &outputs);
            let cut = at.index(text.len() + 1);
            let read = Journal::read(&text[..cut]);
            let Some(whole) = expected.iter().rev().find(|state| state.length <= cut) else {
                prop_assert!(read.is_err());
                return Ok(());
            };
            let read = read.expect("it is what a run writes");
            prop_assert_eq!(read.length, whole.length as u64);
            prop_assert_eq!(read.is_torn, whole.length < cut);
            let unknown = read.unknown.first().copied();
            prop_assert_eq!((read.done.len(), unknown), (whole.done, whole.unknown));
            prop_assert_eq!(read.elements.len(), whole.elements);
            prop_assert_eq!(read.has_passed, cut == text.len());
            prop_assert_eq!(&read.header, &header(courses.len() as u64));
            let numbers: Vec<u64> = read.done.iter().map(|step| step.step).collect();
            let first: Vec<u64> = (2..).step_by(2).take(whole.done).collect();
            prop_assert_eq!(numbers, first);
            for step in &read.done {
                let is_known = step.restored.is_none();
                prop_assert_eq!(is_known, !read.withheld.contains_key(&step.step));
                prop_assert_eq!(is_known, Json::from(step.outputs.clone()) == outputs);
            }
        }

        #[test]
        fn a_record_that_is_left_out_doubled_or_broken_is_noticed(
            courses in courses(),
            at in any::<prop::sample::Index>(),
            how in 0..3,
        ) {
            let (text, _) = journal_of(&courses, &Json::Null);
            let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
            let last = lines.len() - 1;
            let at = at.index(last);
            let is_end = lines[at].starts_with(b"{\"end\"");
            match how {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[at]),
                _ => lines[at] = b"{\"begin\": {\"step\": \"one\"}}\n",
            }
            let read = Journal::read(lines.concat().as_slice());
            let was = |at: usize| text.split_inclusive(|byte| *byte == b'\n').nth(at).unwrap_or_default();
            // Two resumptions in a row are one.
            let is_resume = how < 2 && was(at).starts_with(b"{\"resume\"");
            // A step may fail before its call; and what ended a run may have been lost with the power.
            let next = String::from_utf8_lossy(was(at + 1));
            let ends_run = next.starts_with("{\"resume\"");
            let may_fail = ends_run || next.contains("tolerated") || next.contains("failed");
            let may_be_lost = how == 0 && (is_end || may_fail);
            prop_assert!(read.is_err() || is_resume || may_be_lost, "{read:?}");
        }
    }

    /// A journal of a group of the steps 2, 4 and 6, and what it says.
    fn of_group(records: &[Record]) -> Result<Journal, TraceError> {
        let header = JournalHeader {
            groups: [(2, 6)].into(),
            ..header(4)
        };
        let run = Record::Run(Box::new(header));
        let lines = std::iter::once(&run).chain(records).map(line);
        Journal::read(&*lines.collect::<Vec<_>>().concat())
    }

    fn begins(step: u64) -> Record {
        let element = None;
        Record::Begin { step, element }
    }

    fn ends(step: u64, status: StepStatus) -> Record {
        Record::End {
            finished: finished(step, status, &Json::Null),
            withheld: Vec::new(),
        }
    }

    #[test]
    fn steps_of_a_group_may_end_in_any_order_and_several_may_be_unknown() {
        use StepStatus::{Failed, Passed, Skipped, Unknown};
        let run = "r".to_owned();
        let resume = || Record::Resume { run: run.clone() };
        let all = [
            begins(2),
            begins(4),
            ends(6, Skipped),
            ends(4, Passed),
            resume(),
            begins(2),
            ends(2, Failed),
            resume(),
            begins(2),
            ends(2, Passed),
            begins(8),
        ];
        for (count, done, unknown, next) in [
            (2, &[][..], &[2, 4][..], 2),
            (3, &[6], &[2, 4], 2),
            (4, &[4, 6], &[2], 2),
            (5, &[4, 6], &[], 2),
            (6, &[4, 6], &[2], 2),
            (7, &[4, 6], &[], 2),
            (10, &[2, 4, 6], &[], 8),
            (11, &[2, 4, 6], &[8], 8),
        ] {
            let read = of_group(&all[..count]).expect("it is what a run writes");
            let numbers: Vec<u64> = read.done.iter().map(|step| step.step).collect();
            let under_way: Vec<u64> = read.unknown.iter().copied().collect();
            assert_eq!((&*numbers, &*under_way), (done, unknown), "{count}");
            assert_eq!(read.next_step(), Some(next), "{count}");
        }
        let stopped = [begins(2), begins(4), ends(2, Unknown), ends(4, Unknown)];
        let read = of_group(&stopped).expect("it is what a run writes");
        assert_eq!(read.unknown, [2, 4].into());
        for bad in [
            vec![begins(2), begins(2)],
            vec![ends(2, Passed)],
            vec![begins(2), ends(2, Failed), begins(2)],
            vec![begins(2), ends(2, Passed), ends(2, Passed)],
            vec![begins(2), begins(8)],
            vec![begins(0)],
            vec![
                begins(2),
                ends(2, Failed),
                ends(4, Skipped),
                ends(6, Skipped),
                begins(8),
            ],
            vec![begins(2), Record::Passed {}],
        ] {
            assert!(of_group(&bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_line_that_no_run_writes_is_refused_with_its_number() {
        let run = String::from_utf8(line(&Record::Run(Box::new(header(2))))).expect("UTF-8");
        let none = String::from_utf8(line(&Record::Run(Box::new(header(0))))).expect("UTF-8");
        let later = run.replace("\"journal\":1", "\"journal\":2");
        for (text, said) in [
            ("".to_owned(), "line 1: the journal has no whole line"),
            ("{}\n".to_owned(), "line 1: not a record"),
            (
                "{\"passed\":{}}\n".to_owned(),
                "line 1: a journal begins with `run`",
            ),
            (
                later,
                "line 1: the journal has version 2; this release reads 1",
            ),
            (format!("{run}{run}"), "line 2: a second `run`"),
            (format!("{run}\n"), "line 2: not a record"),
            (
                format!("{run}{{\"begin\":{{\"step\":4}}}}\n"),
                "line 2: this record can't follow",
            ),
            (
                format!("{none}{{\"passed\":{{}}}}\n{{\"begin\":{{\"step\":2}}}}\n"),
                "line 3: a record after the last",
            ),
        ] {
            let error = Journal::read(text.as_bytes()).expect_err(said).to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
