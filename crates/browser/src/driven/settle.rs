//! When is a page done with an action? Never, for some; so each wait has an end.

use std::time::Duration;

use serde_json::Value;

use super::bridge::BrowserBridge;
use super::events::Seen;
use crate::failure::Failure;
use crate::shapes::{WaitOutcome, WaitPolicy};
use cuecard_runtime::clock::Stopwatch;

/// A navigation that begins within this time after an action belongs to it.
const NAVIGATION_BEGINS: Duration = Duration::from_millis(100);
/// How long a navigation or a download may take.
const LOADING: Duration = Duration::from_secs(30);
/// A page that was not changed for so long is quiet.
const QUIET: Duration = Duration::from_millis(150);
/// The wait for requests and for quiet ends after this time.
const BOUND: Duration = Duration::from_secs(3);
/// A request that takes longer than this is not waited for.
const LONG_REQUEST: Duration = Duration::from_secs(2);
/// What happens within this time after an action happened at once.
const AT_ONCE: Duration = Duration::from_millis(50);
/// How often a page is asked whether it is quiet.
const BETWEEN: Duration = Duration::from_millis(30);

/// A moment since which nothing may have happened any more.
#[derive(Clone, Copy)]
struct Since {
    time: Stopwatch,
    /// How many requests the action had made, and how many pages it had opened.
    asked: usize,
    loads: usize,
    /// How it ended if so.
    settled: WaitOutcome,
}

/// How long a page has been as it is.
#[derive(Clone, Copy, Default)]
struct Stillness {
    time: Duration,
    /// Whether it has not changed at all since somebody watches: from its first look on.
    is_untouched: bool,
}

impl Since {
    /// Since the action.
    fn now() -> Self {
        Self {
            time: Stopwatch::start(),
            asked: 0,
            loads: 0,
            settled: WaitOutcome::Instant,
        }
    }

    /// Since the page that it opened was loaded.
    fn loaded(seen: &Seen) -> Self {
        Self {
            time: Stopwatch::start(),
            asked: seen.asked,
            loads: seen.loads,
            settled: WaitOutcome::Loaded,
        }
    }
}

impl BrowserBridge {
    /// Waits until the page is done with the last action: a navigation that it began is loaded, the requests that it
    /// started are answered, and nothing changes any more. The last two end after three seconds at most.
    ///
    /// # Errors
    /// When the page or the browser is gone.
    pub async fn settle(&mut self, settling: WaitPolicy) -> Result<WaitOutcome, Failure> {
        let happenings = self.happenings();
        let mut since = (settling != WaitPolicy::Unwatched).then(Since::now);
        let work = async {
            match settling {
                WaitPolicy::Whole | WaitPolicy::Unwatched => self.navigation_ends().await,
                WaitPolicy::Document => {}
                WaitPolicy::IfBusy => {
                    // It answers only after it did what the action made it do.
                    self.stillness().await;
                    if !self.is_busy() {
                        return Ok(WaitOutcome::Instant);
                    }
                    self.navigation_ends().await;
                }
                WaitPolicy::Load => {
                    self.navigation_ends().await;
                    if self.has_loaded() && self.is_answered() {
                        return Ok(WaitOutcome::Loaded);
                    }
                }
            }
            if self.has_loaded() {
                since = since.map(|_| Since::loaded(&happenings.seen()));
            }
            self.quiet(since).await
        };
        tokio::select! {
            biased;
            trouble = happenings.trouble() => Err(super::bridge::gone(&trouble)),
            settled = work => settled,
        }
    }

    /// Whether the action made the page load or ask for anything.
    fn is_busy(&self) -> bool {
        let happenings = self.happenings();
        let seen = happenings.seen();
        seen.navigations > 0 || seen.asked > 0 || seen.downloads_underway > 0
    }

    /// Waits for a navigation that the action began, and for downloads.
    async fn navigation_ends(&self) {
        let happenings = self.happenings();
        let began = Stopwatch::start();
        loop {
            let changed = happenings.changed();
            let (is_loading, is_downloading, has_navigated) = {
                let seen = happenings.seen();
                let done = seen.loads + seen.abandoned;
                (
                    seen.navigations > done,
                    seen.downloads_underway > 0,
                    seen.navigations > 0,
                )
            };
            let limit = match is_loading || is_downloading {
                true => LOADING,
                false if has_navigated => return,
                false => NAVIGATION_BEGINS,
            };
            let Some(left) = limit.checked_sub(began.elapsed()) else {
                return;
            };
            // Either something changed or the time is up; the loop looks which.
            let _ = tokio::time::timeout(left, changed).await;
        }
    }

    /// Whether the action opened another page, which is loaded.
    fn has_loaded(&self) -> bool {
        let happenings = self.happenings();
        let seen = happenings.seen();
        seen.loads > 0 && seen.downloads_underway == 0
    }

    /// Whether all requests of the action are answered, but for those that nobody waits for.
    fn is_answered(&self) -> bool {
        let happenings = self.happenings();
        let seen = happenings.seen();
        let action = seen.action;
        !seen.requests.values().any(|request| {
            request.counts
                && request.action == action
                && request.began.elapsed() < LONG_REQUEST
                && !request.has_arrived()
        })
    }

    /// Whether nothing happened after a moment, in a page that has been still for so long.
    fn is_as_it_was(&self, since: Since, stillness: Stillness) -> bool {
        let happenings = self.happenings();
        let seen = happenings.seen();
        let changed_after = since.time.elapsed().saturating_sub(stillness.time);
        (changed_after <= AT_ONCE || stillness.is_untouched)
            && since.asked == seen.asked
            && since.loads == seen.loads
            && seen.downloads_underway == 0
    }

    /// Waits for answers and for quiet. Only if it is known since when it is waited, all may have happened at once.
    async fn quiet(&mut self, since: Option<Since>) -> Result<WaitOutcome, Failure> {
        let began = Stopwatch::start();
        loop {
            let stillness = match self.is_answered() {
                true => self.stillness().await,
                false => Stillness::default(),
            };
            if stillness.time >= QUIET {
                return Ok(match since {
                    Some(since) if self.is_as_it_was(since, stillness) => since.settled,
                    _ => WaitOutcome::Quiet,
                });
            }
            if began.elapsed() >= BOUND {
                return Ok(WaitOutcome::Bounded);
            }
            tokio::time::sleep(BETWEEN).await;
        }
    }

    /// How long the top document has been as it is: not at all when it is just being replaced.
    async fn stillness(&mut self) -> Stillness {
        let Ok(world) = self.world().await else {
            return Stillness::default();
        };
        let answer = world.value("cuecard.quiet()").await.unwrap_or_default();
        let time = answer[0].as_f64().unwrap_or(0.0) / 1000.0;
        Stillness {
            time: Duration::try_from_secs_f64(time).unwrap_or_default(),
            is_untouched: answer[1] == Value::Bool(true),
        }
    }
}
