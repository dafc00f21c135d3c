//! Where steps are performed: a browser.
//!
//! A [`Stage`] opens a page, says what is on it, and performs one deed at a time. [`LiveStage`] is a browser: the only
//! place that turns steps into what a browser does.

#[cfg(not(feature = "browser"))]
mod absent;
#[cfg(feature = "browser")]
mod act;
mod action;
#[cfg(feature = "browser")]
mod assert;
#[cfg(feature = "browser")]
mod choose;
mod inspector;
#[cfg(feature = "browser")]
mod live;
mod outcome;
mod targets;
mod values;
mod visible_names;

pub use crate::failure::Failure;
#[cfg(not(feature = "browser"))]
pub use absent::LiveStage;
pub use action::{ActionTarget, Limits, StageAction};
pub use inspector::{PageErrors, PageInspector};
#[cfg(feature = "browser")]
pub use live::{LiveStage, StageSettings};
pub use outcome::{Outcome, PageState, Performed};
pub use targets::{ByIdentity, ByPhrase, ambiguous, choices, with_values};
pub use values::Values;

use std::sync::Arc;
use std::time::Duration;

use cuecard_page::dom::NodeId;
use cuecard_page::selector::Finder;

use crate::WaitPolicy;
use cuecard_runtime::clock::Stopwatch;

/// Performs steps on a page.
pub trait Stage: Send {
    /// Opens the first page, and waits for it as `settling` says. `url` may hold references.
    fn open(
        &mut self,
        url: &str,
        settling: WaitPolicy,
        deadline: Deadline,
    ) -> impl Future<Output = Result<Outcome, Failure>> + Send;

    /// The page as it is now, before a step: what is new on it is new since the last such look. Secrets are taken out
    /// of it.
    fn look(&mut self) -> impl Future<Output = Result<Arc<PageState>, Failure>> + Send;

    /// The page a moment later: for what is not there yet. None once the deadline is over.
    fn look_again(
        &mut self,
        deadline: Deadline,
    ) -> impl Future<Output = Result<Option<Arc<PageState>>, Failure>> + Send;

    /// Performs one deed, and waits until the page is done with it. What was dispatched is never dispatched again.
    ///
    /// An assertion, and a wait until something holds, is judged on each new state until it holds or its time is up;
    /// `targets` says on each which elements it is about. A scroll to an element goes on until `targets` finds one.
    fn perform(
        &mut self,
        deed: &StageAction<'_>,
        targets: &mut (dyn Targets + Send),
    ) -> impl Future<Output = Result<Performed, Failure>> + Send;
}

/// Finds the elements of a deed on each new state: by the words of a sentence, or by what is remembered of them.
pub trait Targets {
    /// The elements on this state.
    fn find(&mut self, finder: Finder<'_>) -> Lookup;

    /// Whether it looks like an element that was seen earlier in the run, by role and name. For what is asserted to
    /// be hidden.
    fn is_like(&self, role: &str, name: &str) -> bool;
}

/// What was found on one state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lookup {
    /// The elements that are meant: none if nothing fits, several only for a count.
    pub elements: Vec<NodeId>,
    /// What comes near, in words, if nothing fits.
    pub nearest: Vec<String>,
    /// Why nothing can be judged on this state, such as that several elements could be meant. It is the failure when
    /// it stays so.
    pub problem: Option<Box<Failure>>,
}

/// For deeds that are about no element.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTargets;

impl Targets for NoTargets {
    fn find(&mut self, _: Finder<'_>) -> Lookup {
        Lookup::default()
    }

    fn is_like(&self, _: &str, _: &str) -> bool {
        false
    }
}

/// How long something may still take.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    began: Stopwatch,
    limit: Duration,
}

impl Deadline {
    /// So long from now on.
    pub fn after(limit: Duration) -> Self {
        Self {
            began: Stopwatch::start(),
            limit,
        }
    }

    /// What is left; nothing once it is over.
    pub fn left(&self) -> Duration {
        self.limit.saturating_sub(self.began.elapsed())
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// The earlier of this one and so long from now on.
    pub fn and(&self, limit: Duration) -> Self {
        Self::after(self.left().min(limit))
    }

    /// The whole time that it gives, for messages.
    pub fn limit(&self) -> Duration {
        self.limit
    }
}
