//! A timeline as the rows of a table: each event with its time, the points in it, and what the players do.

use cuecard_source::Span;
use cuecard_timeline::script::{Cell, EXPECT, EventTimes, Lane, LlmScript, PlayerKind, Speed};

use super::describe::{describe, expectations, points};

/// One event.
pub(super) struct Row {
    /// Where it is, as people count: `timeline[7]`.
    pub path: String,
    /// Where it stands; `None` for what is expected in the end.
    pub span: Option<Span>,
    /// Its key.
    pub event: &'static str,
    /// What it says, in one line.
    pub what: String,
    /// When it begins, in milliseconds, at the speed that was asked for.
    pub at_ms: u64,
    /// When it has ended.
    pub end_ms: u64,
    /// Whose time it takes.
    pub lane: &'static str,
    /// The points in it: when, and what.
    pub points: Vec<(u64, String)>,
    /// What the players do, in the order of [`PlayerKind::ALL`].
    pub cells: [Cell; 5],
}

/// The rows of a script.
pub(super) fn rows(script: &LlmScript, speed: Speed) -> Vec<Row> {
    let timeline = &script.timeline;
    let mut rows: Vec<Row> = timeline
        .events
        .iter()
        .zip(&script.schedule.events)
        .map(|(event, times)| Row {
            path: event.path.clone(),
            span: Some(event.span),
            event: event.kind.as_str(),
            what: describe(event),
            at_ms: speed.at(times.first_point()),
            end_ms: speed.at(times.end_ms),
            lane: lane(times),
            points: points(event, times)
                .into_iter()
                .map(|(at_ms, what)| (speed.at(at_ms), what))
                .collect(),
            cells: PlayerKind::ALL.map(|face| face.cell(&event.kind)),
        })
        .collect();
    let expected = expectations(&timeline.expectations);
    if let Some(what) = expected {
        let end_ms = speed.at(script.schedule.end_ms);
        rows.push(Row {
            path: "expect".to_owned(),
            span: timeline.expectations.span,
            event: "expect",
            what,
            at_ms: end_ms,
            end_ms,
            lane: "end",
            points: Vec::new(),
            cells: EXPECT,
        });
    }
    rows
}

fn lane(times: &EventTimes) -> &'static str {
    match times.lane {
        Lane::Agent => "agent",
        Lane::User => "user",
        Lane::Barrier => "barrier",
        Lane::Clock => "clock",
    }
}
