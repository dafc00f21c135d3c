//! The clockwork of the schedule: base, cursor and the user's last point, moved by one event after the other.

use super::parts::EventPart;
use super::schedule::{EventTimes, Lane};
use crate::model::{
    Entry, EventKind, Response, ResponseElement, Timeline, TimelineEvent, ToolUse, UserInput, When,
};
use cuecard_source::Span;
use cuecard_source::diagnostic::{Diagnostic, codes};

/// Where the lanes are.
pub(super) struct Lanes<'a> {
    timeline: &'a Timeline,
    base_ms: u64,
    cursor_ms: u64,
    /// The user's last point, once there is one.
    user_ms: Option<u64>,
    /// Whether the agent has done something since the last prompt.
    is_turn_open: bool,
    end_ms: u64,
    diagnostics: Vec<Diagnostic>,
    /// The parts of the event at hand.
    parts: Vec<(u64, EventPart)>,
}

/// A point in the user's lane as it was written.
#[derive(Clone, Copy)]
enum UserPoint {
    /// After the entry before in the same list.
    AfterEntry(u64),
    /// From the base.
    FromBase(u64),
    /// Not at all: at the cursor.
    Unwritten,
}

impl<'a> Lanes<'a> {
    pub(super) fn new(timeline: &'a Timeline) -> Self {
        Self {
            timeline,
            base_ms: 0,
            cursor_ms: 0,
            user_ms: None,
            is_turn_open: false,
            end_ms: 0,
            diagnostics: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// When everything has ended, and what was found.
    pub(super) fn finish(self) -> (u64, Vec<Diagnostic>) {
        (self.end_ms, self.diagnostics)
    }

    /// Places the next event and moves the lanes past it.
    pub(super) fn place(&mut self, event: &TimelineEvent) -> EventTimes {
        let (base_ms, cursor_ms) = (self.base_ms, self.cursor_ms);
        let lane = event.kind.row().lane;
        let (start_ms, end_ms) = match lane {
            Lane::Agent => self.agent(event),
            Lane::User => self.user(event),
            Lane::Barrier => (self.consumed_ms(), self.consumed_ms()),
            Lane::Clock => {
                if let EventKind::BaseTimeDelta(delta_ms) = event.kind {
                    self.move_base(event, delta_ms);
                }
                (self.cursor_ms, self.cursor_ms)
            }
        };
        self.end_ms = self.end_ms.max(end_ms);
        let mut parts = std::mem::take(&mut self.parts);
        if parts.is_empty() {
            parts.push((start_ms, EventPart::Whole));
        }
        parts.sort_by_key(|(at_ms, _)| *at_ms);
        EventTimes {
            lane,
            start_ms,
            end_ms,
            cursor_ms,
            base_ms,
            has_points: matches!(
                event.kind,
                EventKind::Response(_) | EventKind::ToolUse(_) | EventKind::UserInputs(_)
            ),
            parts,
        }
    }

    fn consumed_ms(&self) -> u64 {
        self.cursor_ms.max(self.user_ms.unwrap_or(0))
    }

    fn move_base(&mut self, event: &TimelineEvent, delta_ms: u64) {
        let consumed_ms = self.consumed_ms();
        self.base_ms = self.base_ms.saturating_add(delta_ms);
        self.cursor_ms = self.cursor_ms.max(self.base_ms);
        if self.base_ms < consumed_ms {
            let message = format!(
                "the base moves to {} ms, and the events above already take until {consumed_ms} ms",
                self.base_ms
            );
            let missing_ms = consumed_ms - self.base_ms;
            self.report(
                Diagnostic::warning(codes::TIMELINE_TIME_BASE, message)
                    .with_help(format!("what follows starts at {} ms; add {missing_ms} to the delta, if a gap is meant", self.cursor_ms)),
                event.span,
                event,
            );
        }
    }

    fn agent(&mut self, event: &TimelineEvent) -> (u64, u64) {
        self.is_turn_open = true;
        let start_ms = self.cursor_ms;
        match &event.kind {
            EventKind::Response(response) => self.response(event, response),
            EventKind::ToolUse(call) => return self.tool_call(event, call),
            _ => {}
        }
        (start_ms, self.cursor_ms)
    }

    fn response(&mut self, event: &TimelineEvent, response: &Response) {
        for (element_idx, element) in response.elements.iter().enumerate() {
            let from_ms = self.cursor_ms;
            self.cursor_ms = match element {
                ResponseElement::Think(entries) => {
                    let part = |entry_idx| EventPart::Think {
                        element_idx,
                        entry_idx,
                    };
                    self.entries(event, entries, from_ms, part)
                }
                ResponseElement::Assistant(entries) => {
                    let part = |entry_idx| EventPart::Assistant {
                        element_idx,
                        entry_idx,
                    };
                    self.entries(event, entries, from_ms, part)
                }
                ResponseElement::Error(_) => {
                    self.parts.push((from_ms, EventPart::Error(element_idx)));
                    from_ms
                }
            };
        }
    }

    /// Places the entries of a list that starts at `start_ms`; where it ends.
    fn entries<T>(
        &mut self,
        event: &TimelineEvent,
        entries: &[Entry<T>],
        start_ms: u64,
        part: impl Fn(usize) -> EventPart,
    ) -> u64 {
        let mut cursor_ms = start_ms;
        let mut early: Option<(Span, u64, u64)> = None;
        for (idx, entry) in entries.iter().enumerate() {
            cursor_ms = match entry.when {
                When::Delay(delay_ms) => cursor_ms.saturating_add(delay_ms),
                When::Offset(offset_ms) => {
                    let point_ms = self.base_ms.saturating_add(offset_ms);
                    if point_ms < cursor_ms {
                        early = early.or(Some((entry.span, point_ms, cursor_ms)));
                        cursor_ms.saturating_add(offset_ms)
                    } else {
                        point_ms
                    }
                }
            };
            self.parts.push((cursor_ms, part(idx)));
        }
        if let Some((span, point_ms, before_ms)) = early {
            self.report_early(event, span, point_ms, before_ms, "the entry before it ends");
        }
        cursor_ms
    }

    fn tool_call(&mut self, event: &TimelineEvent, call: &ToolUse) -> (u64, u64) {
        let start_ms = self.cursor_ms.saturating_add(call.delay_ms);
        self.parts.push((start_ms, EventPart::CallStart));
        let part = EventPart::CallProgress;
        let mut end_ms = self.entries(event, &call.progress, start_ms, part);
        if let Some(scripted) = &call.execution {
            let began_ms = start_ms.saturating_add(scripted.start_ms);
            let mut time_ms = 0;
            let mut decreasing = None;
            for (idx, step) in scripted.events.iter().enumerate() {
                if step.time_ms < time_ms {
                    decreasing = decreasing.or(Some((step.span, step.time_ms, time_ms)));
                }
                time_ms = time_ms.max(step.time_ms);
                let at_ms = began_ms.saturating_add(time_ms);
                self.parts.push((at_ms, EventPart::CallExecution(idx)));
                end_ms = end_ms.max(at_ms);
            }
            if let Some((span, found_ms, before_ms)) = decreasing {
                let message = format!(
                    "`timeMs` decreases to {found_ms}, after {before_ms} in the previous event"
                );
                self.report(
                    Diagnostic::warning(codes::TIMELINE_TIME_DECREASING, message).with_help(
                        format!("it is read as {before_ms}; times must not decrease"),
                    ),
                    span,
                    event,
                );
            }
        }
        self.parts.push((end_ms, EventPart::CallEnd));
        self.cursor_ms = end_ms;
        (start_ms, end_ms)
    }

    fn user(&mut self, event: &TimelineEvent) -> (u64, u64) {
        let from_base =
            |at_ms: Option<u64>| at_ms.map_or(UserPoint::Unwritten, UserPoint::FromBase);
        let at = match &event.kind {
            EventKind::UserInputs(inputs) => return self.inputs(event, inputs),
            EventKind::UserEdits { at_ms, .. } | EventKind::UserCancelSession { at_ms } => {
                from_base(*at_ms)
            }
            EventKind::UserCommand(command) => from_base(command.at_ms),
            EventKind::ApplyPatch(patch) => from_base(patch.at_ms),
            _ => UserPoint::Unwritten,
        };
        let (point_ms, early) = self.user_point(at);
        if let Some((written_ms, before_ms)) = early {
            self.report_early(event, event.span, written_ms, before_ms, USER_BEFORE);
        }
        (point_ms, point_ms)
    }

    fn inputs(&mut self, event: &TimelineEvent, inputs: &[UserInput]) -> (u64, u64) {
        let mut early: Option<(Span, u64, u64)> = None;
        let mut inside: Option<(Span, u64)> = None;
        for (idx, input) in inputs.iter().enumerate() {
            let at = match input.when {
                When::Delay(delay_ms) if idx > 0 => UserPoint::AfterEntry(delay_ms),
                When::Delay(offset_ms) | When::Offset(offset_ms) => UserPoint::FromBase(offset_ms),
            };
            let (point_ms, found) = self.user_point(at);
            if let Some((written_ms, before_ms)) = found {
                early = early.or(Some((input.span, written_ms, before_ms)));
            }
            let is_prompt = !is_keys(input);
            if is_prompt && self.is_turn_open && point_ms < self.cursor_ms {
                inside = inside.or(Some((input.span, point_ms)));
            }
            self.parts.push((point_ms, EventPart::Input(idx)));
        }
        if let Some((span, written_ms, before_ms)) = early {
            self.report_early(event, span, written_ms, before_ms, USER_BEFORE);
        }
        if let Some((span, point_ms)) = inside {
            let message = format!(
                "this prompt is due at {point_ms} ms, inside the turn before it, which ends at {} ms",
                self.cursor_ms
            );
            self.report(
                Diagnostic::note(codes::TIMELINE_TIME_PROMPT, message).with_help(
                    "in protocols with one prompt at a time, it waits until that turn has ended",
                ),
                span,
                event,
            );
        }
        if inputs.iter().any(|input| !is_keys(input)) {
            self.is_turn_open = false;
        }
        let first_ms = self.parts.first().map_or(self.cursor_ms, |part| part.0);
        let last_ms = self.parts.last().map_or(first_ms, |part| part.0);
        (first_ms, last_ms)
    }

    /// The next point of the user's lane; with what it was written as, and the point before, if it was too early.
    fn user_point(&mut self, at: UserPoint) -> (u64, Option<(u64, u64)>) {
        let before_ms = self.user_ms.unwrap_or(0);
        let (point_ms, early) = match at {
            UserPoint::AfterEntry(delay_ms) => (before_ms.saturating_add(delay_ms), None),
            UserPoint::Unwritten => (self.cursor_ms.max(before_ms), None),
            UserPoint::FromBase(offset_ms) => {
                let written_ms = self.base_ms.saturating_add(offset_ms);
                if written_ms < before_ms {
                    let point_ms = before_ms.saturating_add(offset_ms);
                    (point_ms, Some((written_ms, before_ms)))
                } else {
                    (written_ms, None)
                }
            }
        };
        self.user_ms = Some(point_ms);
        (point_ms, early)
    }

    fn report_early(
        &mut self,
        event: &TimelineEvent,
        span: Span,
        written_ms: u64,
        before_ms: u64,
        before: &str,
    ) {
        let message = format!(
            "`{}` has a time that lies at {written_ms} ms, before {before} at {before_ms} ms",
            event.kind.as_str()
        );
        let help = match before {
            USER_BEFORE => format!(
                "it is read as a delay from there; the first time of an event of the user's counts from the base: write {} or more",
                before_ms.saturating_sub(self.base_ms)
            ),
            _ => {
                "it is read as a delay from there; write `[delay, …]`, or a time that lies after it"
                    .to_owned()
            }
        };
        self.report(
            Diagnostic::warning(codes::TIMELINE_TIME_BEFORE, message)
                .with_label("counted from the base")
                .with_help(help),
            span,
            event,
        );
    }

    fn report(&mut self, diagnostic: Diagnostic, span: Span, event: &TimelineEvent) {
        self.diagnostics.push(
            diagnostic
                .at(&self.timeline.source, span)
                .with_pointer(&event.path),
        );
    }
}

const USER_BEFORE: &str = "the user event before it";

/// Whether an input is typed into a terminal, whatever goes on there.
pub(super) fn is_keys(input: &UserInput) -> bool {
    use crate::model::UserTarget;
    matches!(input.target, Some(UserTarget::Tui | UserTarget::Cli))
}
