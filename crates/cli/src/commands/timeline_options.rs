//! What the arguments of every stand-in mean that plays timelines.

use std::ffi::OsString;

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_timeline::format::{Symbols, read_faults};
use cuecard_timeline::model::FaultRules;
use cuecard_timeline::script::Speed;

use crate::args::{PlayTimelineArgs, WhichTimelineArgs};
use crate::inputs::{read_source, symbols};

/// The arguments, checked.
pub(super) struct TimelineOptions {
    pub(super) speed: Speed,
    pub(super) symbols: Symbols,
    pub(super) faults: Option<FaultRules>,
    /// What is doubtful about the files that they name.
    pub(super) doubts: Vec<Diagnostic>,
    /// Everything that is wrong with them.
    pub(super) problems: Vec<Diagnostic>,
}

impl TimelineOptions {
    pub(super) fn of(
        which: &WhichTimelineArgs,
        how: &PlayTimelineArgs,
        environment: &[(OsString, OsString)],
    ) -> Self {
        let (mut problems, mut doubts) = (Vec::new(), Vec::new());
        let argument = |message: &str| Diagnostic::error(codes::ARGUMENT, message);
        let speed = Speed::new(how.speed, how.min_speed).unwrap_or_else(|| {
            problems.push(argument("`--speed` and `--min-speed` must be 0 or more"));
            Speed::AS_WRITTEN
        });
        if !(0.0..=1.0).contains(&which.max_distance) {
            problems.push(argument("`--max-distance` must be between 0 and 1"));
        }
        let faults = how.fault.as_deref().and_then(|path| {
            let read = read_source(path).map_err(|problem| vec![problem]);
            match read.and_then(|source| read_faults(&source)) {
                Ok((faults, found)) => {
                    doubts.extend(found);
                    Some(faults)
                }
                Err(found) => {
                    problems.extend(found);
                    None
                }
            }
        });
        let symbols = symbols(&which.symbols, environment).unwrap_or_else(|found| {
            problems.extend(found);
            Symbols::new()
        });
        Self {
            speed,
            symbols,
            faults,
            doubts,
            problems,
        }
    }
}
