//! What a player of a whole session goes through: the history, then a segment for each prompt.

use std::ops::Range;

use super::parts::EventPart;
use super::schedule::{Lane, Schedule};
use super::schedule_lanes::is_keys;
use super::text::normalise;
use super::turns::ExpectedInput;
use crate::model::{EventKind, Timeline, UserInput};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Json;

/// A timeline cut at its prompts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSegments {
    /// The events before `sessionStart`, which are told again when a session is loaded.
    pub history: Range<usize>,
    /// What the session consists of, in order.
    pub live: Vec<PromptSegment>,
}

/// What follows a prompt up to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSegment {
    /// The prompt that opens it. `None` only for the first: the agent acts of its own accord.
    pub input: Option<PromptInput>,
    /// What is played once the prompt has come.
    pub events: Range<usize>,
    /// When the prompt is due, in milliseconds of the timeline.
    pub prompt_ms: u64,
    /// The time of the agent's lane that is *now* when the prompt has come.
    pub origin_ms: u64,
}

impl PromptSegment {
    /// The time of the timeline that is *now* for an event of `lane` when the prompt has come; `None` for what happens as
    /// soon as all above it has.
    pub fn origin_of(&self, lane: Lane) -> Option<u64> {
        match lane {
            Lane::Agent => Some(self.origin_ms),
            Lane::User => Some(self.prompt_ms),
            Lane::Barrier | Lane::Clock => None,
        }
    }
}

/// A prompt that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptInput {
    /// Its `userInputs`.
    pub event_idx: usize,
    /// Its entry.
    pub entry_idx: usize,
}

impl PromptSegments {
    /// Cuts `timeline`; T-ACP-25 of a segment that no prompt opens.
    pub fn compile(timeline: &Timeline, schedule: &Schedule) -> (Self, Vec<Diagnostic>) {
        let start = timeline.boundary().map_or(0, |boundary| boundary + 1);
        let mut live: Vec<PromptSegment> = Vec::new();
        let origin_ms = schedule.origin_of(start);
        let mut open = PromptSegment {
            input: None,
            events: start..start,
            prompt_ms: origin_ms,
            origin_ms,
        };
        for (event_idx, event) in timeline.events.iter().enumerate().skip(start) {
            if !matches!(event.kind, EventKind::UserInputs(_)) {
                open.events.end = event_idx + 1;
                continue;
            }
            for &(prompt_ms, part) in &schedule.events[event_idx].parts {
                let EventPart::Input(entry_idx) = part else {
                    continue;
                };
                live.push(std::mem::replace(
                    &mut open,
                    PromptSegment {
                        input: Some(PromptInput {
                            event_idx,
                            entry_idx,
                        }),
                        events: event_idx + 1..event_idx + 1,
                        prompt_ms,
                        origin_ms: schedule.origin_of(event_idx + 1),
                    },
                ));
            }
        }
        live.push(open);
        let is_of_agent = |event_idx: &usize| schedule.events[*event_idx].lane == Lane::Agent;
        let unopened = live[0].events.clone().find(is_of_agent);
        if unopened.is_none() {
            // What stands there is for the client, and belongs before the first prompt.
            live.remove(0);
        }
        let found = unopened.map(|event_idx| {
            let event = &timeline.events[event_idx];
            let message = "no user input opens these events";
            Diagnostic::note(codes::TIMELINE_ACP_NO_INPUT, message)
                .at(&timeline.source, event.span)
                .with_pointer(event.path.clone())
                .with_help("an ACP session that is loaded plays them after its history, another one with its first prompt, whatever that is")
        });
        let history = 0..timeline.boundary().unwrap_or(0);
        (Self { history, live }, found.into_iter().collect())
    }

    /// The entry that opens a segment.
    pub fn input<'t>(&self, timeline: &'t Timeline, segment_idx: usize) -> Option<&'t UserInput> {
        let input = self.live.get(segment_idx)?.input?;
        match &timeline.events.get(input.event_idx)?.kind {
            EventKind::UserInputs(inputs) => inputs.get(input.entry_idx),
            _ => None,
        }
    }

    /// What the answer to the prompt of a segment is to say; null if nothing is scripted.
    pub fn expected_response<'t>(&self, timeline: &'t Timeline, segment_idx: usize) -> &'t Json {
        let of_start = || {
            let boundary = timeline.boundary().filter(|_| segment_idx == 0)?;
            match &timeline.events.get(boundary)?.kind {
                EventKind::SessionStart(start) => start.expected_prompt_response.as_ref(),
                _ => None,
            }
        };
        let of_input = self.input(timeline, segment_idx);
        of_input
            .map(|input| &input.expected_response)
            .filter(|response| !response.is_null())
            .or_else(of_start)
            .unwrap_or(&Json::Null)
    }
}

impl ExpectedInput {
    /// What an entry of `userInputs` waits for.
    pub fn of(input: &UserInput) -> Self {
        let text = input.prompt_text();
        Self {
            normal: normalise(text.as_deref().unwrap_or_default()),
            text,
            blocks: super::blocks::expected(input),
            is_exact: input.is_exact,
            is_keys: is_keys(input),
            span: input.span,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::testing::read;

    /// Each segment as the input's text and its events, and the codes found.
    #[allow(clippy::type_complexity, reason = "of a test")]
    fn cut(
        events: &str,
    ) -> (
        Vec<(Option<String>, Range<usize>)>,
        Range<usize>,
        Vec<&'static str>,
    ) {
        let timeline = read(&format!("name: a\ntimeline:\n{events}"));
        let schedule = Schedule::compile(&timeline, false).schedule;
        let (segments, found) = PromptSegments::compile(&timeline, &schedule);
        let live = segments.live.iter().enumerate().map(|(idx, segment)| {
            let input = segments.input(&timeline, idx);
            (
                input.and_then(UserInput::prompt_text),
                segment.events.clone(),
            )
        });
        let codes = found.iter().map(|found| found.code.name());
        (live.collect(), segments.history, codes.collect())
    }

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn each_entry_opens_a_segment_and_events_belong_to_the_last() {
        let (live, history, codes) = cut("
  - initialize: {protocolVersion: 1}
  - userInputs: [[0, one], [10, two]]
  - llmResponse: [{assistant: [[0, b]]}]
  - userCancelSession: {at: 50}
  - userInputs: [[0, three]]
");
        assert_eq!(
            live,
            [
                (text("one"), 2..2),
                (text("two"), 2..4),
                (text("three"), 5..5)
            ]
        );
        assert_eq!((history, codes), (0..0, vec![]));
    }

    #[test]
    fn what_stands_before_the_session_is_history() {
        let (live, history, codes) = cut("
  - userInputs: [[0, old]]
  - llmResponse: [{assistant: [[0, a]]}]
  - sessionStart: {sessionId: s}
  - llmResponse: [{assistant: [[0, b]]}]
  - userInputs: [[0, new]]
  - llmResponse: [{assistant: [[0, c]]}]
");
        assert_eq!(live, [(None, 3..4), (text("new"), 5..6)]);
        assert_eq!((history, codes), (0..2, vec!["T-ACP-25"]));
    }

    #[test]
    fn the_answer_is_scripted_by_the_entry_or_by_the_start() {
        let timeline = read(
            "
name: a
timeline:
  - sessionStart: {expectedPromptResponse: {stopReason: end_turn}}
  - userInputs:
      - relativeTime: 0
        input: one
      - relativeTime: 5
        input: two
        expectedResponse: {stopReason: cancelled}
",
        );
        let schedule = Schedule::compile(&timeline, false).schedule;
        let (segments, _) = PromptSegments::compile(&timeline, &schedule);
        let reasons =
            [0, 1].map(|idx| segments.expected_response(&timeline, idx)["stopReason"].clone());
        assert_eq!(reasons, ["end_turn", "cancelled"]);
    }
}
