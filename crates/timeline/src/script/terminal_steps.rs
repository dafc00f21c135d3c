//! In which order an agent in a terminal and the executor around it go through a timeline.

use super::parts::{EventPart, ScheduledPart, parts};
use super::schedule::{Lane, Schedule};
use super::schedule_lanes::is_keys;
use crate::model::{EventKind, Timeline, UserInput, UserTarget};

/// A part of a timeline that is played in a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalStep {
    /// What is due.
    pub scheduled: ScheduledPart,
    /// When it is due, in milliseconds from the end of the history: what the agent does follows its prompt, however long
    /// that is waited for.
    pub due_ms: u64,
    /// What it is to the session.
    pub role: StepRole,
}

/// What a step is to the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepRole {
    /// It happened before the session: it is only shown.
    History,
    /// A prompt, for which the turn before has ended.
    Prompt,
    /// Anything else.
    Live,
}

/// The steps of a timeline in the order of their times, but that a prompt waits for the end of the turn above it, and
/// nothing below it comes before it.
pub fn terminal_steps(timeline: &Timeline, schedule: &Schedule) -> Vec<TerminalStep> {
    let boundary = timeline.boundary().unwrap_or(0);
    let mut steps: Vec<TerminalStep> = Vec::new();
    let (mut floor_ms, mut agent_ms) = (0, 0);
    // What of the agent's schedule has passed when this time is counted from.
    let (mut passed_ms, mut from_ms) = (0, 0);
    for event_idx in 0..timeline.events.len() {
        let times = &schedule.events[event_idx];
        if event_idx == boundary {
            passed_ms = schedule.origin_of(boundary);
        }
        for scheduled in parts(schedule, event_idx..event_idx + 1) {
            let input = input_of(timeline, scheduled);
            if input.is_some_and(|input| input.target == Some(UserTarget::WebUi)) {
                continue;
            }
            let lane = times.lane;
            let mut due_ms = scheduled.at_ms.max(floor_ms);
            let mut role = StepRole::Live;
            if event_idx < boundary {
                role = StepRole::History;
            } else if input.is_some_and(|input| !is_keys(input)) {
                role = StepRole::Prompt;
                due_ms = due_ms.max(agent_ms);
                floor_ms = due_ms;
                (passed_ms, from_ms) = (schedule.origin_of(event_idx + 1), due_ms);
            } else if matches!(lane, Lane::Agent | Lane::Clock) {
                due_ms = from_ms.saturating_add(scheduled.at_ms.saturating_sub(passed_ms));
                agent_ms = agent_ms.max(due_ms);
            } else if lane == Lane::Barrier {
                due_ms = due_ms.max(agent_ms);
            }
            steps.push(TerminalStep {
                scheduled,
                due_ms,
                role,
            });
        }
    }
    let n_history = steps.partition_point(|step| step.role == StepRole::History);
    steps[n_history..].sort_by_key(|step| step.due_ms);
    for at in 1..steps.len() {
        let step = steps[at];
        let kind = &timeline.events[step.scheduled.event_idx].kind;
        if matches!(kind, EventKind::UserCancelSession { .. }) {
            // It may come while commands run whose end has no time of its own.
            let above = steps[..at].iter().rev();
            let open =
                above.take_while(|open| open.due_ms < step.due_ms && is_own_end(timeline, **open));
            let n_open = open.count();
            steps[at - n_open..=at].rotate_right(1);
        }
    }
    steps
}

/// Whether a step is the end of a command that ends when it ends.
fn is_own_end(timeline: &Timeline, step: TerminalStep) -> bool {
    let is_end = step.scheduled.part == EventPart::CallEnd && step.role == StepRole::Live;
    match &timeline.events[step.scheduled.event_idx].kind {
        EventKind::ToolUse(call) => is_end && call.has_own_end(),
        _ => false,
    }
}

/// The entry of `userInputs` that a part is.
fn input_of(timeline: &Timeline, part: ScheduledPart) -> Option<&UserInput> {
    match (&timeline.events[part.event_idx].kind, part.part) {
        (EventKind::UserInputs(inputs), EventPart::Input(idx)) => inputs.get(idx),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::testing::read;

    fn told(text: &str) -> Vec<String> {
        let timeline = read(text);
        let schedule = Schedule::compile(&timeline, false).schedule;
        let steps = terminal_steps(&timeline, &schedule);
        let told = steps.iter().map(|step| {
            let kind = timeline.events[step.scheduled.event_idx].kind.as_str();
            let said = input_of(&timeline, step.scheduled).and_then(UserInput::prompt_text);
            format!(
                "{} {kind} {} {:?}",
                step.due_ms,
                said.unwrap_or_default(),
                step.role
            )
        });
        told.collect()
    }

    #[test]
    fn prompts_wait_for_the_turn_before_and_keys_do_not() {
        let told = told(
            "
name: a
timeline:
  - userInputs: [[0, old]]
  - llmResponse: [{assistant: [[10, answer]]}]
  - sessionStart: {}
  - userInputs: [[0, one]]
  - llmResponse: [{assistant: [[500, first], [500, second]]}]
  - userInputs:
      - {relativeTime: 700, input: '<Esc>', target: tui}
      - {relativeTime: 800, input: two}
      - {relativeTime: 800, input: web, target: webui}
  - llmResponse: [{assistant: [[10, third]]}]
",
        );
        assert_eq!(
            told,
            [
                "0 userInputs old History",
                "10 llmResponse  History",
                "0 sessionStart  Live",
                "0 userInputs one Prompt",
                "500 llmResponse  Live",
                "700 userInputs <Esc> Live",
                "1000 llmResponse  Live",
                "1000 userInputs two Prompt",
                "1010 llmResponse  Live",
            ]
        );
    }

    #[test]
    fn what_the_agent_does_follows_a_prompt_that_is_waited_for() {
        let told = told(
            "
name: a
timeline:
  - userInputs: [[0, one]]
  - llmResponse: [{assistant: [[100, first]]}]
  - userInputs: [[1000, two]]
  - llmResponse: [{assistant: [[100, second], [500, third]]}]
  - userInputs: [{relativeTime: 1300, input: '<Esc>', target: tui}]
  - log: done
  - userInputs: [[3000, three]]
  - llmResponse: [{assistant: [[100, fourth]]}]
  - complete
",
        );
        assert_eq!(
            told,
            [
                "0 userInputs one Prompt",
                "100 llmResponse  Live",
                "1000 userInputs two Prompt",
                "1100 llmResponse  Live",
                "1300 userInputs <Esc> Live",
                "1600 llmResponse  Live",
                "1600 log  Live",
                "3000 userInputs three Prompt",
                "3100 llmResponse  Live",
                "3100 complete  Live",
            ]
        );
    }

    #[test]
    fn a_command_can_be_cancelled_while_it_runs() {
        let of = |call: &str, cancel: &str| {
            told(&format!(
                "
name: a
timeline:
  - userInputs: [[0, one]]
  - agentToolUse: {call}
  - userCancelSession: {cancel}
"
            ))
        };
        let cancelled_first = [
            "0 userInputs one Prompt",
            "0 agentToolUse  Live",
            "500 userCancelSession  Live",
            "0 agentToolUse  Live",
        ];
        let run = "{toolName: runCmd, args: {cmd: sleep 9}}";
        assert_eq!(of(run, "{at: 500}"), cancelled_first);
        // At the same time, or where the script says when a call ends, that comes first.
        for (call, cancel) in [
            (run, "{}"),
            ("{toolName: readFile, args: {path: a}}", "{at: 500}"),
            (
                "{toolName: runCmd, args: {cmd: ls}, progress: [[100, half]]}",
                "{at: 500}",
            ),
        ] {
            let last = of(call, cancel).pop().unwrap_or_default();
            assert!(
                last.contains("userCancelSession"),
                "{call} {cancel}: {last}"
            );
        }
    }
}
