//! Holds a player back until the run has done what stands above.

use cuecard_timeline::model::{EventKind, Timeline, TimelineEvent};
use tokio::sync::watch;

/// Says up to which event of a timeline a player may go: the next one at which the run itself has something to do.
pub(super) struct Hold {
    until: watch::Sender<usize>,
    is_ours: fn(&EventKind) -> bool,
}

impl Hold {
    /// A hold before the first event that is ours, and what the player looks at.
    pub(super) fn new(
        timeline: &Timeline,
        is_ours: fn(&EventKind) -> bool,
    ) -> (Self, watch::Receiver<usize>) {
        let (until, held) = watch::channel(0);
        let hold = Self { until, is_ours };
        hold.until.send_replace(hold.next(timeline, 0));
        (hold, held)
    }

    /// The run has done an event.
    pub(super) fn has_done(&self, timeline: &Timeline, event_idx: usize) {
        self.until.send_if_modified(|until| {
            let is_this = *until == event_idx;
            if is_this {
                *until = self.next(timeline, event_idx + 1);
            }
            is_this
        });
    }

    fn next(&self, timeline: &Timeline, from: usize) -> usize {
        let is_ours = |event: &TimelineEvent| (self.is_ours)(&event.kind);
        let below = timeline.events.iter().skip(from).position(is_ours);
        below.map_or(usize::MAX, |nth| from + nth)
    }
}
