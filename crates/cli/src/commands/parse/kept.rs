//! What a parse has given so far, kept for the case that it is broken off.

use std::path::{Path, PathBuf};

use cuecard_browser_steps::model::StepsFile;
use cuecard_workspace::files;

/// What the run directory calls the steps that were kept last.
pub(super) const STEPS: &str = "steps.json";

/// Keeps in the run directory what a parse has given so far: whatever becomes of it, what was told to be done is there.
pub(super) struct Kept {
    /// Until it can't be written.
    path: Option<PathBuf>,
    /// How many steps are in it.
    pub(super) n_steps: usize,
}

impl Kept {
    /// Keeps below `run_dir`.
    pub(super) fn new(run_dir: &Path) -> Self {
        Self {
            path: Some(run_dir.join(STEPS)),
            n_steps: 0,
        }
    }

    /// Keeps `file` in the place of what was kept before.
    ///
    /// # Errors
    /// Why it can't be kept, in words, once.
    pub(super) fn keep(&mut self, file: &StepsFile) -> Result<(), String> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        if let Err(error) = files::write(path, &file.to_text()) {
            self.path = None;
            return Err(format!(
                "steps will be lost if the run is interrupted: {error}"
            ));
        }
        self.n_steps = file.test_steps.len();
        Ok(())
    }
}
