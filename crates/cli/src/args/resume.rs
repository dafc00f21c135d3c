//! Which run is resumed.

use clap::Args;

/// Which run is resumed, and what becomes of a step that may have had its effect.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to play")]
pub(crate) struct ResumeArgs {
    /// Resume a run from its first unfinished step: `last`, or the id of a run
    #[arg(long = "resume", value_name = "RUN", conflicts_with_all = ["start", "end", "dry_run"])]
    pub run: Option<String>,
    /// With --resume: play the step again during which the run ended
    #[arg(long, value_name = "STEP", num_args = 0..=1, requires = "run", conflicts_with = "assume_done")]
    pub redo: Option<Option<u64>>,
    /// With --resume: go on behind the step during which the run ended
    #[arg(long, value_name = "STEP", num_args = 0..=1, requires = "run")]
    pub assume_done: Option<Option<u64>>,
}
