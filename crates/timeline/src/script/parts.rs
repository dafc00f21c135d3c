//! What events are made of, part by part at their times: what a player goes through.

use std::ops::Range;

use super::schedule::{EventTimes, Points, Schedule};
use crate::model::{EventKind, ResponseElement, Timeline, TimelineEvent};

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

/// The parts of the `events` of a timeline by their times; what is due at the same time, in the order of the file.
pub fn parts(timeline: &Timeline, schedule: &Schedule, events: Range<usize>) -> Vec<ScheduledPart> {
    let mut parts = Vec::new();
    for event_idx in events {
        let (Some(event), Some(times)) = (
            timeline.events.get(event_idx),
            schedule.events.get(event_idx),
        ) else {
            break;
        };
        let of_event = parts_of(event, times).into_iter();
        parts.extend(of_event.map(|(at_ms, part)| ScheduledPart {
            at_ms,
            event_idx,
            part,
        }));
    }
    parts.sort_by_key(|part| part.at_ms);
    parts
}

/// The parts of one event, by their times.
pub fn parts_of(event: &TimelineEvent, times: &EventTimes) -> Vec<(u64, EventPart)> {
    let mut parts: Vec<(u64, EventPart)> = match (&event.kind, &times.points) {
        (EventKind::Response(response), Points::Response(elements)) => {
            let elements = response.elements.iter().zip(elements).enumerate();
            elements
                .flat_map(|(element_idx, (element, points))| {
                    let entries = points.iter().copied().enumerate();
                    entries.map(move |(entry_idx, at_ms)| {
                        let part = match element {
                            ResponseElement::Think(_) => EventPart::Think {
                                element_idx,
                                entry_idx,
                            },
                            ResponseElement::Assistant(_) => EventPart::Assistant {
                                element_idx,
                                entry_idx,
                            },
                            ResponseElement::Error(_) => EventPart::Error(element_idx),
                        };
                        (at_ms, part)
                    })
                })
                .collect()
        }
        (EventKind::UserInputs(_), Points::Inputs(points)) => {
            let points = points.iter().copied().enumerate();
            points
                .map(|(idx, at_ms)| (at_ms, EventPart::Input(idx)))
                .collect()
        }
        (
            EventKind::ToolUse(_),
            Points::Tool {
                progress,
                execution,
            },
        ) => {
            let progress = progress.iter().copied().enumerate();
            let execution = execution.iter().copied().enumerate();
            std::iter::once((times.start_ms, EventPart::CallStart))
                .chain(progress.map(|(idx, at_ms)| (at_ms, EventPart::CallProgress(idx))))
                .chain(execution.map(|(idx, at_ms)| (at_ms, EventPart::CallExecution(idx))))
                .chain([(times.end_ms, EventPart::CallEnd)])
                .collect()
        }
        _ => Vec::new(),
    };
    if parts.is_empty() {
        parts.push((times.start_ms, EventPart::Whole));
    }
    parts.sort_by_key(|(at_ms, _)| *at_ms);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::testing::read;

    fn told(text: &str) -> Vec<String> {
        let timeline = read(text);
        let schedule = Schedule::compile(&timeline, false).schedule;
        let parts = parts(&timeline, &schedule, 0..timeline.events.len());
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
