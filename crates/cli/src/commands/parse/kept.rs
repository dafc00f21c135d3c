//! What a parse has given so far, kept for the case that it is broken off.

use std::path::{Path, PathBuf};

use cuecard_browser_steps::model::StepsFile;
use cuecard_workspace::files;

/// What the run directory calls the steps that were kept last.
pub(super) const STEPS: &str = "steps.json";

/// Keeps in the run directory what a parse has given so far: whatever becomes of it, what was told to be done is there.
pub(super) struct Kept {
    path: PathBuf,
    /// How many steps are in it.
    n_steps: usize,
    has_failed: bool,
}

impl Kept {
    /// Keeps below `run_dir`.
    pub(super) fn new(run_dir: &Path) -> Self {
        Self {
            path: run_dir.join(STEPS),
            n_steps: 0,
            has_failed: false,
        }
    }

    /// How many steps are kept.
    pub(super) fn n_steps(&self) -> usize {
        self.n_steps
    }

    /// Keeps `file` in the place of what was kept before.
    ///
    /// # Errors
    /// Why it can't be kept, in words, once.
    pub(super) fn keep(&mut self, file: &StepsFile) -> Result<(), String> {
        if self.has_failed {
            return Ok(());
        }
        match files::write(&self.path, &file.to_text()) {
            Ok(_) => {
                self.n_steps = file.test_steps.len();
                Ok(())
            }
            Err(error) => {
                self.has_failed = true;
                Err(format!(
                    "steps will be lost if the run is interrupted: {error}"
                ))
            }
        }
    }
}
