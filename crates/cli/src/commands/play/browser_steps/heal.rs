//! The patch beside the steps: taken in before a run that is to show that it is right, and written after one that
//! passed, or that found an element under a new name.

use std::path::{Path, PathBuf};

use cuecard_browser::replay::Replayed;
use cuecard_browser_steps::format::{HealPatch, ProposedRename, heal, no_rename, read_heal};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_tool_call::script::Verdict;

use crate::args::{HealArgs, HealMode};
use crate::inputs;
use crate::output_files::write_text;

/// Keeps what a run learns of elements.
pub(crate) struct Healer {
    file: PathBuf,
    mode: HealMode,
    /// The steps whose elements have new names, as the user says.
    accepted: Vec<String>,
    /// The text of the file as it is on the disk.
    original: Option<SourceFile>,
    /// The renames of the patch that was taken in, if one was.
    taken: Option<Vec<ProposedRename>>,
}

/// What was kept.
pub(crate) enum Kept {
    /// Nothing was to be kept.
    Nothing,
    /// A patch was written; with the steps whose renames it proposes.
    Proposed {
        path: PathBuf,
        has_healed: bool,
        renamed: Vec<String>,
    },
    /// The steps were written.
    Accepted(PathBuf),
    /// Something was healed, and is not kept: the run was of a part only, or its steps came from nowhere.
    Left(&'static str),
}

impl Healer {
    pub(crate) fn new(file: &Path, asked: &HealArgs) -> Self {
        Self {
            file: file.to_owned(),
            mode: asked.heal,
            accepted: asked.accept_rename.clone(),
            original: None,
            taken: None,
        }
    }

    /// The patch of a file of steps: `steps.json` has `steps.heal.json`.
    fn patch_file(&self) -> PathBuf {
        self.file.with_extension("heal.json")
    }

    fn is_stdin(&self) -> bool {
        self.file == Path::new("-")
    }

    /// The steps with what was proposed for them and is to be accepted: the patch if there is one, and renames.
    ///
    /// # Errors
    /// If the patch can't be read, or was made for another text, or a rename was not proposed.
    pub(crate) fn take_in(
        mut self,
        source: SourceFile,
    ) -> Result<(SourceFile, Self), Vec<Diagnostic>> {
        self.original = Some(source.clone());
        let path = self.patch_file();
        let is_there = !self.is_stdin() && path.exists();
        let is_whole = self.mode == HealMode::Accept;
        match self.accepted.first() {
            Some(id) if !is_there => return Err(vec![no_rename(id)]),
            None if !is_there || !is_whole => return Ok((source, self)),
            _ => {}
        }
        let patch = inputs::read_source(&path).map_err(|error| vec![error])?;
        let patch = read_heal(&patch)?
            .accepting(&self.accepted, is_whole)
            .map_err(|error| vec![error])?;
        let text = patch.apply(&source).map_err(|error| {
            let message = format!("`{}` was not applied: {}", path.display(), error.message);
            vec![Diagnostic { message, ..error }]
        })?;
        self.taken = Some(patch.renames);
        Ok((SourceFile::new(source.name(), text), self))
    }

    /// Whether a patch was taken in before the run.
    pub(crate) fn has_taken(&self) -> bool {
        self.taken.is_some()
    }

    /// Keeps what a run learned: of elements that are healed if it passed, of renamed ones in any case. `played` is the
    /// text that it played.
    ///
    /// # Errors
    /// If a file can't be written, or the steps changed since.
    pub(crate) fn keep(&self, played: &SourceFile, run: &Replayed) -> Result<Kept, Diagnostic> {
        let has_passed = run.verdict == Verdict::Passed;
        let is_proved = has_passed && run.is_whole;
        let is_any = has_passed && (!run.healed.is_empty() || self.has_taken());
        let renamed = match self.mode {
            HealMode::Off => &[][..],
            HealMode::Propose | HealMode::Accept => &run.renamed,
        };
        if self.is_stdin() && (is_any || !renamed.is_empty()) {
            return Ok(Kept::Left("the steps were read from stdin"));
        }
        if is_any && !is_proved && renamed.is_empty() {
            return Ok(Kept::Left("not all steps were played"));
        }
        let (accepted, proposed) = match (is_proved, self.mode) {
            (false, _) | (true, HealMode::Off) => (&[][..], &[][..]),
            (true, HealMode::Propose) => (&[][..], &run.healed[..]),
            (true, HealMode::Accept) => (&run.healed[..], &[][..]),
        };
        let written = match is_proved && (self.has_taken() || !accepted.is_empty()) {
            true => Some(self.write_steps(played, &heal(played, accepted, &[])?)?),
            false => None,
        };
        if proposed.is_empty() && renamed.is_empty() {
            return Ok(match written {
                Some(_) => Kept::Accepted(self.file.clone()),
                None => Kept::Nothing,
            });
        }
        let on_disk = written.as_ref().or(self.original.as_ref());
        let mut patch = heal(on_disk.unwrap_or(played), proposed, renamed)?;
        if written.is_none() {
            // What was accepted before something else failed can be accepted again.
            let again = self.taken.iter().flatten();
            let again = again.filter(|one| renamed.iter().all(|step| step.id != one.id));
            patch.renames.extend(again.cloned());
        }
        let path = self.patch_file();
        write_text(&path, &patch.to_text())?;
        Ok(Kept::Proposed {
            path,
            has_healed: !proposed.is_empty(),
            renamed: renamed.iter().map(|step| step.id.clone()).collect(),
        })
    }

    /// Writes the steps that were played with what was learned.
    fn write_steps(
        &self,
        played: &SourceFile,
        patch: &HealPatch,
    ) -> Result<SourceFile, Diagnostic> {
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
        write_text(&self.file, &text)?;
        if self.has_taken() {
            // It is part of the steps now; left there, it would only be refused.
            let _ = std::fs::remove_file(self.patch_file());
        }
        Ok(SourceFile::new(played.name(), text))
    }
}

impl Kept {
    /// What is said of it.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Proposed {
                path,
                has_healed,
                renamed,
            } => {
                let renames = renamed.iter().map(|id| format!("--accept-rename {id}"));
                let healed = has_healed.then(|| "--heal accept".to_owned());
                let flags: Vec<String> = healed.into_iter().chain(renames).collect();
                Some(format!(
                    "patch: {}   apply it with {}",
                    path.display(),
                    flags.join(" ")
                ))
            }
            Self::Accepted(path) => Some(format!("healed: {}", path.display())),
            Self::Left(why) => Some(format!("healed elements were not saved: {why}")),
        }
    }

    /// The file that was written.
    pub(crate) fn file(&self) -> Option<String> {
        match self {
            Self::Proposed { path, .. } | Self::Accepted(path) => Some(path.display().to_string()),
            Self::Nothing | Self::Left(_) => None,
        }
    }
}
