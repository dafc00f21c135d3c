//! When each event of a timeline is due, compiled once. Times are milliseconds from the start of the timeline, as
//! written: [`super::Speed`] scales them when they are played.
//!
//! There are two lanes. What the agent does comes one after the other, at the **cursor**. What the user does is
//! placed from the **base**, which only `baseTimeDelta` moves, and may overlap it. `assert` and its kind wait for
//! both.

use super::parts::EventPart;
use super::schedule_lanes::Lanes;
use crate::model::Timeline;
use cuecard_source::diagnostic::Diagnostic;

/// When each event of a timeline is due.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// One for each event of the timeline.
    pub events: Vec<EventTimes>,
    /// When the last event has ended.
    pub end_ms: u64,
}

/// When an event is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventTimes {
    /// Whose time it takes.
    pub lane: Lane,
    /// When it begins: for user events their first point, for all others never before the event above.
    pub start_ms: u64,
    /// When it has ended.
    pub end_ms: u64,
    /// The agent's cursor just before it.
    pub cursor_ms: u64,
    /// The base just before it.
    pub base_ms: u64,
    /// Whether its parts have times of their own.
    pub has_points: bool,
    /// Its parts by their times; all of it as one part, if it has no others.
    pub parts: Vec<(u64, EventPart)>,
}

/// Whose time an event takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The agent's: one after the other.
    Agent,
    /// The user's: beside the agent.
    User,
    /// After everything above.
    Barrier,
    /// The clock itself, or what takes no time.
    Clock,
}

/// What compiling a schedule gives.
#[derive(Debug)]
pub struct CompiledSchedule {
    /// The schedule: complete, whatever was found.
    pub schedule: Schedule,
    /// T-TIME-01, 02, 03 and 05.
    pub diagnostics: Vec<Diagnostic>,
}

impl Schedule {
    /// Works out when each event of `timeline` is due. With `is_strict`, a timeline whose written times would
    /// decrease is an error.
    pub fn compile(timeline: &Timeline, is_strict: bool) -> CompiledSchedule {
        let mut lanes = Lanes::new(timeline);
        let events = timeline
            .events
            .iter()
            .map(|event| lanes.place(event))
            .collect();
        let (end_ms, diagnostics) = lanes.finish();
        let diagnostics = diagnostics.into_iter();
        let diagnostics = diagnostics.map(|found| found.strictly(is_strict)).collect();
        CompiledSchedule {
            schedule: Self { events, end_ms },
            diagnostics,
        }
    }

    /// The time just before the events from `event_idx` on: what becomes *now* when their trigger arrives. It is
    /// where the agent's last event ended, or the user event right above them, if that comes later and still
    /// before them.
    pub fn origin_of(&self, event_idx: usize) -> u64 {
        let Some(event) = self.events.get(event_idx) else {
            return self.end_ms;
        };
        let first_ms = event.first_point();
        self.events[..event_idx]
            .iter()
            .rev()
            .take_while(|before| before.lane != Lane::Agent || !before.has_points)
            .filter(|before| before.lane == Lane::User)
            .map(|before| before.end_ms)
            .filter(|&trigger_ms| trigger_ms <= first_ms)
            .max()
            .map_or(event.cursor_ms, |trigger_ms| {
                trigger_ms.max(event.cursor_ms)
            })
    }
}

impl EventTimes {
    /// When the first thing in it happens.
    pub fn first_point(&self) -> u64 {
        self.parts
            .first()
            .map_or(self.start_ms, |(at_ms, _)| *at_ms)
    }
}
