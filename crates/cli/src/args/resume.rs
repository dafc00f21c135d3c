//! Which run is resumed.

use clap::Args;

/// Which run is resumed, and what becomes of a step that may have had its effect.
#[derive(Debug, Args)]
#[command(next_help_heading = "Playback")]
pub(crate) struct ResumeArgs {
    /// Resume a run at its first unfinished step: `last`, or its id
    #[arg(long = "resume", value_name = "RUN", conflicts_with_all = ["start", "end", "dry_run"])]
    pub run: Option<String>,
    /// With --resume: play the step again in which the run ended
    #[arg(long, value_name = "STEP", num_args = 0..=1, value_delimiter = ',', requires = "run")]
    pub redo: Option<Vec<u64>>,
    /// With --resume: continue after the step in which the run ended
    #[arg(long, value_name = "STEP", num_args = 0..=1, value_delimiter = ',', requires = "run")]
    pub assume_done: Option<Vec<u64>>,
}
