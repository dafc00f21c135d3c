//! Where in a timeline a player is: a clock that can be held, moved and sped up. It is told the time, and asks nobody.

use super::speed::Speed;

/// Where a player is. Times of the timeline are milliseconds as written; those of the clock are milliseconds of the caller's.
#[derive(Debug, Clone, PartialEq)]
pub struct Playhead {
    speed: Speed,
    /// A time of the timeline …
    scripted_ms: u64,
    /// … and when it was, or the time at which it is held.
    since: Since,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Since {
    /// It goes on since then.
    Running(u64),
    /// It is held. What had passed of the time until the next point is kept.
    Held {
        /// How long, in milliseconds of the clock, it had gone on since `scripted_ms`.
        passed_ms: u64,
    },
}

impl Playhead {
    /// Begins at `origin_ms` of the timeline, now.
    pub fn begin(speed: Speed, origin_ms: u64, now_ms: u64) -> Self {
        Self {
            speed,
            scripted_ms: origin_ms,
            since: Since::Running(now_ms),
        }
    }

    /// When what is scheduled at `at_ms` is due; never while it is held.
    pub fn due_ms(&self, at_ms: u64) -> Option<u64> {
        match self.since {
            Since::Running(since_ms) => {
                Some(since_ms.saturating_add(self.speed.after(self.scripted_ms, at_ms)))
            }
            Since::Held { .. } => None,
        }
    }

    /// What was scheduled at `at_ms` has ended now, and was waited for: what follows keeps its distance from it.
    pub fn caught_up(&mut self, at_ms: u64, now_ms: u64) {
        if self.due_ms(at_ms).is_some_and(|due_ms| due_ms < now_ms) {
            self.scripted_ms = at_ms.max(self.scripted_ms);
            self.since = Since::Running(now_ms);
        }
    }

    /// Holds it; nothing is due until [`Self::resume`].
    pub fn pause(&mut self, now_ms: u64) {
        if let Since::Running(since_ms) = self.since {
            self.since = Since::Held {
                passed_ms: now_ms.saturating_sub(since_ms),
            };
        }
    }

    /// Goes on where it was held.
    pub fn resume(&mut self, now_ms: u64) {
        if let Since::Held { passed_ms } = self.since {
            self.since = Since::Running(now_ms.saturating_sub(passed_ms));
        }
    }

    /// Whether it is held.
    pub fn is_held(&self) -> bool {
        matches!(self.since, Since::Held { .. })
    }

    /// Goes on at another speed from where it is; a speed of 0 waits for nothing.
    pub fn set_speed(&mut self, speed: Speed, now_ms: u64) {
        self.scripted_ms = self.position(now_ms);
        self.since = match self.since {
            Since::Running(_) => Since::Running(now_ms),
            Since::Held { .. } => Since::Held { passed_ms: 0 },
        };
        self.speed = speed;
    }

    /// Which time of the timeline it is. At a speed of 0, at which no time passes, the time it began at.
    pub fn position(&self, now_ms: u64) -> u64 {
        let passed_ms = match self.since {
            Since::Running(since_ms) => now_ms.saturating_sub(since_ms),
            Since::Held { passed_ms } => passed_ms,
        };
        self.speed.scripted_after(self.scripted_ms, passed_ms)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn speed(factor: f64) -> Speed {
        Speed::new(factor, 0.0).expect("a speed")
    }

    #[test]
    fn what_took_longer_shifts_what_follows() {
        let mut playhead = Playhead::begin(Speed::AS_WRITTEN, 1_000, 0);
        assert_eq!(playhead.due_ms(1_500), Some(500));
        playhead.caught_up(1_500, 700);
        assert_eq!(playhead.due_ms(1_600), Some(800));
        playhead.caught_up(1_600, 750);
        assert_eq!(playhead.due_ms(1_600), Some(800), "it was early");
    }

    #[test]
    fn a_new_speed_counts_from_where_it_is() {
        let mut playhead = Playhead::begin(speed(2.0), 0, 0);
        assert_eq!(playhead.due_ms(1_000), Some(2_000));
        playhead.set_speed(speed(0.5), 1_000);
        assert_eq!(
            (playhead.position(1_000), playhead.due_ms(1_000)),
            (500, Some(1_250))
        );
        playhead.set_speed(speed(0.0), 1_000);
        assert_eq!(playhead.due_ms(1_000_000), Some(1_000));
    }

    proptest! {
        #[test]
        fn a_pause_at_any_point_moves_what_follows_by_its_length(
            origin in 0u64..1_000, factor in 0.0f64..4.0, pauses in prop::collection::vec((0u64..500, 0u64..500), 0..6),
            points in prop::collection::vec(1_000u64..5_000, 1..6),
        ) {
            let plain = Playhead::begin(speed(factor), origin, 10);
            let mut held = plain.clone();
            let (mut now, mut waited) = (10, 0);
            for (before, length) in pauses {
                now += before;
                held.pause(now);
                prop_assert!(held.is_held() && held.due_ms(points[0]).is_none());
                let position = held.position(now);
                now += length;
                prop_assert_eq!(held.position(now), position);
                held.resume(now);
                waited += length;
            }
            for &at in &points {
                prop_assert_eq!(held.due_ms(at), plain.due_ms(at).map(|due| due + waited));
            }
        }

        #[test]
        fn nothing_is_due_before_what_it_follows_whatever_the_speeds(
            factors in prop::collection::vec((0u64..400, 0.0f64..4.0), 1..8),
            first in 0u64..3_000, gap in 0u64..3_000,
        ) {
            let mut playhead = Playhead::begin(Speed::AS_WRITTEN, 0, 0);
            let (mut now, mut position) = (0, 0);
            for (later, factor) in factors {
                now += later;
                playhead.set_speed(speed(factor), now);
                prop_assert!(playhead.position(now) >= position);
                position = playhead.position(now);
                prop_assert!(playhead.due_ms(first) <= playhead.due_ms(first + gap));
            }
        }
    }
}
