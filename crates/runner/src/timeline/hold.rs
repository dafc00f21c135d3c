//! Holds a player back until the run has done what stands above.

use std::collections::BTreeSet;

use cuecard_timeline::model::{EventKind, Timeline};
use tokio::sync::watch;

/// Says up to which event of a timeline a player may go: the first one at which the run itself has still something to do.
pub(super) struct Hold {
    until: watch::Sender<usize>,
    /// The events of the run that it has not done.
    left: BTreeSet<usize>,
}

impl Hold {
    /// A hold before the first event that is the run's, and what the player looks at.
    pub(super) fn new(
        timeline: &Timeline,
        is_of_run: fn(&EventKind) -> bool,
    ) -> (Self, watch::Receiver<usize>) {
        let events = timeline.events.iter().enumerate();
        let left = events.filter(|(_, event)| is_of_run(&event.kind));
        let left: BTreeSet<usize> = left.map(|(event_idx, _)| event_idx).collect();
        let first = left.first().copied().unwrap_or(usize::MAX);
        let (until, held) = watch::channel(first);
        (Self { until, left }, held)
    }

    /// The run has done an event. They need not come in the order of the file: the user acts beside the agent.
    pub(super) fn has_done(&mut self, event_idx: usize) {
        if self.left.remove(&event_idx) {
            let first = self.left.first().copied();
            self.until.send_replace(first.unwrap_or(usize::MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_player_goes_as_far_as_all_above_is_done_in_any_order() {
        for order in [
            [1, 3, 4],
            [1, 4, 3],
            [3, 1, 4],
            [3, 4, 1],
            [4, 1, 3],
            [4, 3, 1],
        ] {
            let (until, held) = watch::channel(1);
            let left = BTreeSet::from([1, 3, 4]);
            let mut hold = Hold { until, left };
            for (nth, done) in order.iter().enumerate() {
                assert_eq!(
                    *held.borrow(),
                    [1, 3, 4]
                        .into_iter()
                        .find(|it| !order[..nth].contains(it))
                        .unwrap_or_default()
                );
                hold.has_done(*done);
                // What is done again, and what is none of ours, changes nothing.
                hold.has_done(*done);
                hold.has_done(2);
            }
            assert_eq!(*held.borrow(), usize::MAX);
        }
    }
}
