//! When each step is due: by the schedule, or when the executor says so.

use std::path::PathBuf;
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_timeline::script::Speed;

use crate::control::{Channel, FromAgent, FromExecutor};

/// The pace of a session.
pub(super) enum Pace {
    /// The agent's own.
    Schedule {
        clock: Clock,
        speed: Speed,
        /// When the time `origin_ms` of the timeline was.
        began: Duration,
        origin_ms: u64,
        next: usize,
    },
    /// The executor's.
    Executor(Box<Channel>),
}

impl Pace {
    /// The pace of the executor at `control`, if it answers; else the agent's own, and why.
    pub(super) async fn new(
        (clock, speed): (Clock, Speed),
        control: Option<&PathBuf>,
    ) -> (Self, Option<String>) {
        let own = Self::Schedule {
            clock,
            speed,
            began: clock.now(),
            origin_ms: 0,
            next: 0,
        };
        let Some(path) = control else {
            return (own, None);
        };
        match Channel::connect(path).await {
            Ok(channel) => (Self::Executor(Box::new(channel)), None),
            Err(error) => {
                let reason = cuecard_runtime::text_file::io_reason(&error);
                (own, Some(reason))
            }
        }
    }

    /// The number of the next step, of `count`; nothing when all are over.
    pub(super) async fn next(&mut self, count: usize) -> Option<usize> {
        match self {
            Self::Schedule { next, .. } => {
                let idx = *next;
                *next += 1;
                (idx < count).then_some(idx)
            }
            Self::Executor(channel) => match channel.next().await {
                Some(FromExecutor::Play(idx)) if idx < count => Some(idx),
                _ => None,
            },
        }
    }

    /// Waits until a time of the timeline. Who is told when a step is due has waited.
    pub(super) async fn wait_for(&self, at_ms: u64) {
        if let Self::Schedule {
            clock,
            speed,
            began,
            origin_ms,
            ..
        } = self
        {
            let after = Duration::from_millis(speed.after(*origin_ms, at_ms));
            clock.sleep_until(*began + after).await;
        }
    }

    /// This time of the timeline is now.
    pub(super) fn is_now(&mut self, at_ms: u64) {
        if let Self::Schedule {
            clock,
            began,
            origin_ms,
            ..
        } = self
        {
            *began = clock.now();
            *origin_ms = at_ms;
        }
    }

    /// Something took so long that all that follows is later.
    pub(super) fn delay(&mut self, by: Duration) {
        if let Self::Schedule { began, .. } = self {
            *began += by;
        }
    }

    /// Tells the executor, if there is one; `false` if it is gone.
    pub(super) async fn tell(&mut self, message: &FromAgent) -> bool {
        match self {
            Self::Schedule { .. } => true,
            Self::Executor(channel) => channel.send(message).await.is_ok(),
        }
    }

    /// Whether an executor says when steps are due.
    pub(super) fn is_controlled(&self) -> bool {
        matches!(self, Self::Executor(_))
    }
}
