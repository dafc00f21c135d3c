//! The only place that reads the clock. Everything else counts from the run's start.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::time::Sleep;

/// Measures how long something took, apart from any run.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// A stopwatch that starts now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// A run's clock: monotonic since its start, with the wall-clock time of that start.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    started: Instant,
    started_at: Timestamp,
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
            started_at: Timestamp::now(),
        }
    }

    /// Time since the start.
    pub fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// The wall-clock time at `elapsed` after the start; it never runs backwards within a run.
    pub fn timestamp(&self, elapsed: Duration) -> Timestamp {
        self.started_at
            .checked_add(elapsed)
            .unwrap_or(Timestamp::MAX)
    }

    /// Sleeps until `elapsed` after the start; `Duration::MAX` is forever.
    pub async fn sleep_until(&self, elapsed: Duration) {
        match self.started.checked_add(elapsed) {
            Some(instant) => tokio::time::sleep_until(instant.into()).await,
            None => std::future::pending().await,
        }
    }

    /// An alarm at `elapsed` after the start.
    pub fn alarm(&self, elapsed: Duration) -> Alarm {
        Alarm {
            clock: *self,
            sleep: Box::pin(tokio::time::sleep_until(self.instant(elapsed))),
        }
    }

    fn instant(&self, elapsed: Duration) -> tokio::time::Instant {
        // Nobody waits for a century; some clocks can't count further.
        const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 3_600);
        self.started
            .checked_add(elapsed.min(FAR))
            .unwrap_or(self.started)
            .into()
    }
}

/// Goes off at a time of a run, and can be set again: for who waits often.
#[derive(Debug)]
pub struct Alarm {
    clock: Clock,
    sleep: Pin<Box<Sleep>>,
}

impl Alarm {
    /// Sets it to `elapsed` after the start, whether it has gone off or not.
    pub fn set(&mut self, elapsed: Duration) {
        let at = self.clock.instant(elapsed);
        self.sleep.as_mut().reset(at);
    }

    /// Whether it has gone off; else `context` is woken when it does.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.sleep.as_mut().poll(context)
    }
}
