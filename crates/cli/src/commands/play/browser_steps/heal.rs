//! The patch beside the steps: taken in before a run that is to show that it is right, and written after one that
//! passed.

use std::path::{Path, PathBuf};

use cuecard_browser::replay::Replayed;
use cuecard_browser_steps::format::{HealPatch, heal, read_heal};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_tool_call::script::Verdict;
use cuecard_workspace::files;

use crate::args::HealMode;
use crate::inputs;

/// Keeps what a run learns of elements.
pub(crate) struct Healer {
    file: PathBuf,
    mode: HealMode,
    /// The text of the file as it is on the disk.
    original: Option<SourceFile>,
    /// Whether a patch was taken in.
    has_taken: bool,
}

/// What was kept.
pub(crate) enum Kept {
    /// Nothing was to be kept.
    Nothing,
    /// A patch was written.
    Proposed(PathBuf),
    /// The steps were written.
    Accepted(PathBuf),
    /// Something was healed, and is not kept: the run was of a part only, or its steps came from nowhere.
    Left(&'static str),
}

impl Healer {
    pub(crate) fn new(file: &Path, mode: HealMode) -> Self {
        Self {
            file: file.to_owned(),
            mode,
            original: None,
            has_taken: false,
        }
    }

    /// The patch of a file of steps: `steps.json` has `steps.heal.json`.
    fn patch_file(&self) -> PathBuf {
        self.file.with_extension("heal.json")
    }

    fn is_stdin(&self) -> bool {
        self.file == Path::new("-")
    }

    /// The steps with the patch that was proposed for them, if it is to be accepted and there is one.
    ///
    /// # Errors
    /// If the patch can't be read, or was made for another text.
    pub(crate) fn take_in(
        mut self,
        source: SourceFile,
    ) -> Result<(SourceFile, Self), Vec<Diagnostic>> {
        self.original = Some(source.clone());
        let path = self.patch_file();
        if self.mode != HealMode::Accept || self.is_stdin() || !path.exists() {
            return Ok((source, self));
        }
        let patch = inputs::read_source(&path).map_err(|error| vec![error])?;
        let patch = read_heal(&patch)?;
        let text = patch.apply(&source).map_err(|error| {
            let message = format!("`{}` was not applied: {}", path.display(), error.message);
            vec![Diagnostic { message, ..error }]
        })?;
        self.has_taken = true;
        Ok((SourceFile::new(source.name(), text), self))
    }

    /// Whether a patch was taken in before the run.
    pub(crate) fn has_taken(&self) -> bool {
        self.has_taken
    }

    /// Keeps what a run learned, if it passed. `played` is the text that it played.
    ///
    /// # Errors
    /// If a file can't be written, or the steps changed since.
    pub(crate) fn keep(&self, played: &SourceFile, run: &Replayed) -> Result<Kept, Diagnostic> {
        let is_any = !run.healed.is_empty() || self.has_taken;
        if run.verdict != Verdict::Passed || !is_any {
            return Ok(Kept::Nothing);
        }
        if self.is_stdin() {
            return Ok(Kept::Left("the steps were read from stdin"));
        }
        if !run.is_whole {
            return Ok(Kept::Left("not all steps were played"));
        }
        let patch = heal(played, &run.healed)?;
        match self.mode {
            HealMode::Off => Ok(Kept::Nothing),
            HealMode::Propose => {
                let path = self.patch_file();
                write(&path, &patch.to_text())?;
                Ok(Kept::Proposed(path))
            }
            HealMode::Accept => self.accept(played, &patch),
        }
    }

    fn accept(&self, played: &SourceFile, patch: &HealPatch) -> Result<Kept, Diagnostic> {
        let text = patch.apply(played)?;
        let now = inputs::read_source(&self.file)?;
        let original = self.original.as_ref().map(SourceFile::text);
        if original != Some(now.text()) {
            let message = format!(
                "`{}` changed during the run and was not overwritten",
                self.file.display()
            );
            return Err(Diagnostic::error(codes::BROWSER_HEAL, message)
                .with_help("play it again with --heal accept"));
        }
        write(&self.file, &text)?;
        if self.has_taken {
            // It is part of the steps now; left there, it would only be refused.
            let _ = std::fs::remove_file(self.patch_file());
        }
        Ok(Kept::Accepted(self.file.clone()))
    }
}

impl Kept {
    /// What is said of it.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Proposed(path) => Some(format!(
                "patch: {}   apply it with --heal accept",
                path.display()
            )),
            Self::Accepted(path) => Some(format!("healed: {}", path.display())),
            Self::Left(why) => Some(format!("healed elements were not saved: {why}")),
        }
    }

    /// The file that was written.
    pub(crate) fn file(&self) -> Option<String> {
        match self {
            Self::Proposed(path) | Self::Accepted(path) => Some(path.display().to_string()),
            Self::Nothing | Self::Left(_) => None,
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Diagnostic> {
    files::write(path, text).map(|_| ()).map_err(|error| {
        let mut diagnostic = Diagnostic::error(codes::FILE_WRITE, error.to_string());
        diagnostic.help = error.help();
        diagnostic
    })
}
