//! What the arguments of a run mean, whatever it plays.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use cuecard_runtime::policy::Policy;
use cuecard_source::diagnostic::Diagnostic;

use super::reports::{Report, SharedPart};
use crate::args::{PlayArgs, VariableArgs};
use crate::context::{Problems, Stop};
use crate::inputs;

/// The arguments, checked.
#[derive(Clone)]
pub(super) struct Options {
    /// How long a step may take.
    pub timeout: Option<Duration>,
    /// The numbers of the steps to play.
    pub range: RangeInclusive<u64>,
    /// The reports to write.
    pub reports: Vec<Report>,
    /// What the common reports say of the run, if it is one of several.
    pub part: Option<SharedPart>,
    /// The variables that the user gave.
    pub variables: VariableArgs,
    /// What the run may do.
    pub policy: Policy,
    /// Where relative paths start.
    pub working_directory: PathBuf,
    /// What is doubtful.
    pub warnings: Vec<Diagnostic>,
}

impl Options {
    /// # Errors
    /// Everything that is wrong with them.
    pub(super) fn of(args: &PlayArgs) -> Result<Self, Stop> {
        let mut problems = Problems::default();
        let reports = args.reports.iter();
        let reports = reports.filter_map(|report| problems.take(Report::parse(report)));
        let reports = reports.collect();
        let working_directory = inputs::working_directory().map_err(Stop::could_not_run)?;
        let run_dir = Some(args.runs.run_dir.as_path());
        let policy = problems.take(inputs::policy(&args.safety, run_dir, &working_directory));
        let policy = problems.or(policy).map_err(Stop::invalid)?;
        let timeout = args.servers.timeout;
        Ok(Self {
            timeout,
            range: args.start.unwrap_or(0)..=args.end.unwrap_or(u64::MAX),
            reports,
            part: None,
            variables: args.variables.clone(),
            policy,
            working_directory,
            warnings: inputs::too_long("--timeout", timeout).into_iter().collect(),
        })
    }
}
