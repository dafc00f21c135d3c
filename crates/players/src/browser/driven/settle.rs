//! When is a page done with an action? Never, for some; so each wait has an end.

use std::time::Duration;

use super::bridge::BrowserBridge;
use crate::browser::error::BrowserError;
use crate::browser::shapes::{Settled, Settling};
use crate::runtime::clock::Stopwatch;

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

impl BrowserBridge {
    /// Waits until the page is done with the last action: a navigation that it began is loaded, the requests that it
    /// started are answered, and nothing changes any more. The last two end after three seconds at most.
    ///
    /// # Errors
    /// When the page or the browser is gone.
    pub async fn settle(&mut self, settling: Settling) -> Result<Settled, BrowserError> {
        let happenings = self.happenings();
        let done = Stopwatch::start();
        let work = async {
            match settling {
                Settling::Whole => self.navigation_ends().await,
                Settling::Document => {}
                Settling::IfBusy => {
                    // It answers only after it did what the action made it do.
                    self.quiet_for().await;
                    if !self.is_busy() {
                        return Ok(Settled::Instant);
                    }
                    self.navigation_ends().await;
                }
            }
            self.quiet(done).await
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

    async fn quiet(&mut self, done: Stopwatch) -> Result<Settled, BrowserError> {
        let began = Stopwatch::start();
        loop {
            let is_answered = {
                let happenings = self.happenings();
                let seen = happenings.seen();
                let action = seen.action;
                !seen.requests.values().any(|request| {
                    request.counts
                        && request.action == action
                        && request.began.elapsed() < LONG_REQUEST
                })
            };
            let quiet = match is_answered {
                true => self.quiet_for().await,
                false => Duration::ZERO,
            };
            if quiet >= QUIET {
                let is_instant = done.elapsed().saturating_sub(quiet) <= AT_ONCE && !self.is_busy();
                return Ok(match is_instant {
                    true => Settled::Instant,
                    false => Settled::Quiet,
                });
            }
            if began.elapsed() >= BOUND {
                return Ok(Settled::Bounded);
            }
            tokio::time::sleep(BETWEEN).await;
        }
    }

    /// How long the top document has been as it is. Nothing when it is just being replaced.
    async fn quiet_for(&mut self) -> Duration {
        let Ok(world) = self.world().await else {
            return Duration::ZERO;
        };
        let answer = world.value("cuecard.quiet()").await;
        let milliseconds = answer.ok().and_then(|answer| answer.as_f64());
        milliseconds
            .and_then(|value| Duration::try_from_secs_f64(value / 1000.0).ok())
            .unwrap_or(Duration::ZERO)
    }
}
