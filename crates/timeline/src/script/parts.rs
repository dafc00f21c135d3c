//! What events are made of, part by part at their times: what a player goes through.

use std::ops::Range;

use super::schedule::Schedule;

/// A part of an event, and when it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduledPart {
    /// When, in milliseconds from the start of the timeline, as written.
    pub at_ms: u64,
    /// The event.
    pub event_idx: usize,
    /// What of it.
    pub part: EventPart,
}

/// A part of an event. Numbers are indices into the lists of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventPart {
    /// All of it: it has no points of its own.
    Whole,
    /// An entry of `think`.
    Think {
        /// The element of the response.
        element_idx: usize,
        /// The entry in it.
        entry_idx: usize,
    },
    /// An entry of `assistant`.
    Assistant {
        /// The element of the response.
        element_idx: usize,
        /// The entry in it.
        entry_idx: usize,
    },
    /// An `error` of a response, by its element.
    Error(usize),
    /// An entry of `userInputs`.
    Input(usize),
    /// A tool call begins.
    CallStart,
    /// An entry of `progress`.
    CallProgress(usize),
    /// An event of `toolExecution`.
    CallExecution(usize),
    /// A tool call ends.
    CallEnd,
}

/// The parts of these events by their times; what is due at the same time, in the order of the file.
pub fn parts(schedule: &Schedule, events: Range<usize>) -> Vec<ScheduledPart> {
    let scheduled = schedule.events.iter().enumerate();
    let scheduled = scheduled.skip(events.start).take(events.len());
    let parts = scheduled.flat_map(|(event_idx, times)| {
        let parts = times.parts.iter();
        parts.map(move |&(at_ms, part)| ScheduledPart {
            at_ms,
            event_idx,
            part,
        })
    });
    let mut parts: Vec<ScheduledPart> = parts.collect();
    parts.sort_by_key(|part| part.at_ms);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::testing::read;

    fn told(text: &str) -> Vec<String> {
        let timeline = read(text);
        let schedule = Schedule::compile(&timeline, false).schedule;
        let parts = parts(&schedule, 0..timeline.events.len());
        let told = parts.iter().map(|part| {
            let kind = timeline.events[part.event_idx].kind.as_str();
            format!("{} {kind} {:?}", part.at_ms, part.part)
        });
        told.collect()
    }

    #[test]
    fn all_points_are_parts_in_the_order_of_their_times() {
        let told = told(
            "
name: a
timeline:
  - userInputs: [[0, go]]
  - llmResponse:
      - think: [[100, hm]]
      - assistant: [[50, a], [50, b]]
  - agentToolUse:
      toolName: runCmd
      args: {cmd: make}
      progress: [[100, one]]
      result: ok
      status: ok
  - userCancelSession: {at: 160}
  - llmResponse: []
",
        );
        assert_eq!(
            told,
            [
                "0 userInputs Input(0)",
                "100 llmResponse Think { element_idx: 0, entry_idx: 0 }",
                "150 llmResponse Assistant { element_idx: 1, entry_idx: 0 }",
                "160 userCancelSession Whole",
                "200 llmResponse Assistant { element_idx: 1, entry_idx: 1 }",
                "200 agentToolUse CallStart",
                "300 agentToolUse CallProgress(0)",
                "300 agentToolUse CallEnd",
                "300 llmResponse Whole",
            ]
        );
    }
}
