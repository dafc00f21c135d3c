//! Plays browser steps again, without any model: before anything is touched, the page must have the element that was
//! meant, and what is not the same, or healed without doubt, is not acted on.

mod evidence;
mod intent;
mod meant;
mod memory;
mod play;
mod seek;
mod step;
mod targets;
#[cfg(test)]
mod tests;
mod told;
mod verify;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use cuecard_browser_steps::format::HealedStep;
use cuecard_browser_steps::model::{BrowserOptions, ParseStatus, StepsFile, TestStep};
use cuecard_report::browser_html::BrowserStep;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::Diagnostic;
use cuecard_tool_call::script::{Summary, Verdict};
use cuecard_trace::StepStatus;

pub use crate::stage::{PageErrors, PageInspector};
pub use memory::{Memories, memories};
pub use play::play;
pub use verify::{Verified, VerifiedStep, verify};

use super::stage::{Failure, Values};
use cuecard_runtime::run_dir::RunDir;
use play::diagnostic;
use step::Ended;

/// What to play.
#[derive(Debug, Clone)]
pub struct Replay<'a> {
    /// The text of the steps, for messages.
    pub source: &'a SourceFile,
    /// The steps.
    pub steps: &'a StepsFile,
    /// What each remembers.
    pub memories: &'a Memories,
    /// Their options.
    pub options: &'a BrowserOptions,
    /// Values of variables and secrets.
    pub values: &'a Values,
    /// The numbers of the steps to play, from 1.
    pub range: RangeInclusive<u64>,
    /// Whether an element that is not as it was may be taken if there is no doubt.
    pub heals: bool,
    /// Whether a picture is taken before each step.
    pub is_pictured: bool,
    /// Whether a picture is kept after each step, too.
    pub keeps_each: bool,
    /// Where pages are kept.
    pub run_dir: Option<&'a RunDir>,
}

/// How it went.
#[derive(Debug)]
pub struct Replayed {
    /// The verdict.
    pub verdict: Verdict,
    /// Counts.
    pub summary: Summary,
    /// Why it failed or could not go on.
    pub failure: Option<Diagnostic>,
    /// The steps whose elements were not as they were.
    pub healed: Vec<HealedStep>,
    /// The steps that were not done since their elements may have another name by now.
    pub renamed: Vec<HealedStep>,
    /// Whether these were all the steps that there should be: only then may be kept what was learned of elements.
    pub is_whole: bool,
    /// Wall-clock time.
    pub took: Duration,
    /// What was kept of pages.
    pub screenshots: Vec<PathBuf>,
}

impl Replayed {
    /// A run for which there is no browser.
    pub fn blocked(failure: Diagnostic, total: usize, took: Duration) -> Self {
        Self {
            verdict: Verdict::Blocked,
            failure: Some(failure),
            took,
            ..Self::begun(total, false)
        }
    }

    /// A run of so many steps, of which none was played yet.
    fn begun(total: usize, is_whole: bool) -> Self {
        Self {
            verdict: Verdict::Passed,
            summary: Summary {
                total,
                ..Summary::default()
            },
            failure: None,
            healed: Vec::new(),
            renamed: Vec::new(),
            is_whole,
            took: Duration::ZERO,
            screenshots: Vec::new(),
        }
    }

    /// Takes over how the step at a place ended; false if nothing can be done after it.
    fn add(&mut self, replay: &Replay<'_>, place: usize, ended: Ended) -> bool {
        self.summary.healed += usize::from(!ended.healed.is_empty());
        self.healed.extend(ended.healed);
        self.renamed.extend(ended.renamed);
        self.screenshots.extend(ended.screenshots);
        match ended.status {
            StepStatus::Passed | StepStatus::Skipped => self.summary.passed += 1,
            StepStatus::Tolerated => self.summary.tolerated += 1,
            StepStatus::Failed => self.summary.failed += 1,
            StepStatus::Unknown => self.summary.unknown += 1,
        }
        if ended.is_interrupted {
            self.verdict = Verdict::Interrupted;
            return false;
        }
        let failed = ended.status == StepStatus::Failed;
        let Some(failure) = ended.failure.filter(|_| failed) else {
            return true;
        };
        self.fail(replay, Some(place), &failure);
        !failure.is_final()
    }

    /// Something failed: the step at a place, or what is about none.
    fn fail(&mut self, replay: &Replay<'_>, place: Option<usize>, failure: &Failure) {
        self.verdict = match failure.is_final() {
            true => Verdict::Blocked,
            false => Verdict::Failed,
        };
        self.failure
            .get_or_insert_with(|| diagnostic(replay, place, failure));
    }
}

/// Hears of each step that ended, or did not run.
pub trait ReplayObserver {
    /// A step ended.
    fn step(&mut self, step: BrowserStep);
}

impl<F: FnMut(BrowserStep)> ReplayObserver for F {
    fn step(&mut self, step: BrowserStep) {
        self(step);
    }
}

impl Replay<'_> {
    /// The steps in range with their numbers.
    fn in_range(&self) -> impl Iterator<Item = (u64, usize, &TestStep)> {
        numbered(self.steps)
            .enumerate()
            .filter(|(_, (number, _))| self.range.contains(number))
            .map(|(place, (number, step))| (number, place, step))
    }

    /// The run before its first step.
    fn begun(&self) -> Replayed {
        Replayed::begun(self.in_range().count(), self.is_whole())
    }

    /// Whether these are all the steps that there should be: then what was learned of elements may be kept.
    fn is_whole(&self) -> bool {
        self.steps.status == ParseStatus::Success
            && self.in_range().count() == self.steps.test_steps.len()
    }
}

/// The steps of a file with their numbers, from 1.
pub fn numbered(steps: &StepsFile) -> impl Iterator<Item = (u64, &TestStep)> {
    (1..).zip(&steps.test_steps)
}
