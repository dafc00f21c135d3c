//! The only place that reads the clock. Everything else counts from the run's start.

use std::time::{Duration, Instant};

use jiff::Timestamp;

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
}
