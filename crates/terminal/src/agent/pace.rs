//! When each step is due: by the schedule, or when the executor says so.

use std::path::PathBuf;
use std::time::Duration;

use cuecard_runtime::clock::Clock;
use cuecard_timeline::script::Speed;

use crate::control::{Channel, Fingerprint, FromAgent, FromExecutor};

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
    Executor(Box<Executor>),
}

/// The executor that says when steps are due.
pub(super) struct Executor {
    socket: PathBuf,
    /// `None` once it is gone.
    channel: Option<Channel>,
    /// What it has said that was not looked at.
    said: Option<FromExecutor>,
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
            Ok(channel) => {
                let executor = Executor {
                    socket: path.clone(),
                    channel: Some(channel),
                    said: None,
                };
                (Self::Executor(Box::new(executor)), None)
            }
            Err(error) => {
                let reason = cuecard_runtime::text_file::io_reason(&error);
                (own, Some(reason))
            }
        }
    }

    /// Offers the executor, if there is one, to play a timeline; `false` if it sends who plays that away.
    pub(super) async fn offer(&mut self, timeline: Fingerprint) -> bool {
        let Self::Executor(executor) = self else {
            return true;
        };
        // Who was sent away comes again.
        if executor.channel.is_none() {
            executor.channel = Channel::connect(&executor.socket).await.ok();
        }
        if let Some(channel) = &mut executor.channel
            && channel.send(&FromAgent::Hello(timeline)).await.is_ok()
        {
            executor.said = channel.next().await;
        }
        if executor.said.is_none() {
            executor.channel = None;
        }
        executor.said.is_some()
    }

    /// The number of the next step, of `count`; nothing when all are over, or if the executor is gone.
    pub(super) async fn next(&mut self, count: usize) -> Option<usize> {
        match self {
            Self::Schedule { next, .. } => {
                let idx = *next;
                *next += 1;
                (idx < count).then_some(idx)
            }
            Self::Executor(executor) => {
                let said = match (executor.said.take(), &mut executor.channel) {
                    (None, Some(channel)) => channel.next().await,
                    (said, _) => said,
                };
                match said {
                    Some(FromExecutor::Play(idx)) if idx < count => return Some(idx),
                    Some(FromExecutor::End) => {}
                    _ => executor.channel = None,
                }
                None
            }
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

    /// Tells the executor, if there is one. Whether it is gone, the next step says.
    pub(super) async fn tell(&mut self, message: &FromAgent) {
        if let Self::Executor(executor) = self
            && let Some(channel) = &mut executor.channel
        {
            let _ = channel.send(message).await;
        }
    }

    /// Whether there was an executor, and it has gone before the timeline was over.
    pub(super) fn is_abandoned(&self) -> bool {
        matches!(self, Self::Executor(executor) if executor.channel.is_none())
    }

    /// Whether an executor says when steps are due.
    pub(super) fn is_controlled(&self) -> bool {
        matches!(self, Self::Executor(_))
    }
}

#[cfg(test)]
mod tests {
    use cuecard_source::SourceFile;
    use cuecard_timeline::format::{Symbols, read};
    use tokio::net::UnixListener;

    use super::*;

    #[test]
    fn timelines_are_offered_until_one_is_taken_and_an_executor_that_goes_is_missed() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let folder = tempfile::tempdir().expect("a folder");
            let socket = folder.path().join("control");
            let listener = UnixListener::bind(&socket).expect("a socket");
            let fingerprint = |name: &str| {
                let text = format!("name: {name}\ntimeline:\n  - userInputs: [[0, Go]]\n");
                let source = SourceFile::new("a.yaml", text);
                let read = read(&source, &Symbols::new());
                Fingerprint::of(&read.timeline.expect("a timeline"))
            };
            let agent = async {
                let time = (Clock::start(), Speed::AS_WRITTEN);
                let (mut pace, _) = Pace::new(time, Some(&socket)).await;
                let taken = [
                    pace.offer(fingerprint("b")).await,
                    pace.offer(fingerprint("a")).await,
                ];
                (taken, pace.next(8).await, pace.next(8).await, pace)
            };
            let executor = async {
                loop {
                    let (stream, _) = listener.accept().await.expect("an agent");
                    let mut channel = Channel::new(stream);
                    if channel.next().await == Some(FromAgent::Hello(fingerprint("a"))) {
                        let play = FromExecutor::Play(7);
                        return channel.send(&play).await.expect("it is there");
                    }
                }
            };
            let ((taken, first, second, pace), ()) = tokio::join!(agent, executor);
            assert_eq!((taken, first, second), ([false, true], Some(7), None));
            assert!(pace.is_abandoned());
        });
    }
}
