//! From the events of a timeline to its turns.

use std::sync::Arc;

use super::answer::{AnswerImage, Piece};
use super::block_text::block_text;
use super::parts::EventPart;
use super::schedule::{EventTimes, Schedule};
use super::schedule_lanes::is_keys;
use super::text::{normalise, squeeze};
use super::turns::{
    Attempt, CompiledTurns, ExpectedInput, Turn, TurnCall, TurnElement, TurnError, Turns,
};
use crate::model::{
    AgentEdits, ApiStyle, Block, BlockKind, Entry, EventKind, Media, MediaSource, Response,
    ResponseElement, StopReasons, Timeline, TimelineEvent, ToolStatus, ToolUse, UserInput,
};
use crate::profiles::AbstractCall;
use cuecard_source::Span;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Json;

pub(super) fn build(timeline: &Timeline, schedule: &Schedule) -> CompiledTurns {
    let mut builder = Builder {
        timeline,
        schedule,
        turns: Turns::default(),
        diagnostics: Vec::new(),
        is_turn_open: false,
        is_segment_open: false,
        is_history: timeline.boundary().is_some(),
        input: None,
        keys: None,
        checks: Vec::new(),
        was_cancelled: false,
    };
    for (event_idx, event) in timeline.events.iter().enumerate() {
        builder.event(event_idx, event);
    }
    builder.close_segment();
    for turn in &mut builder.turns.turns {
        finish(turn, timeline.server.coalesce_thinking);
    }
    CompiledTurns {
        turns: builder.turns,
        diagnostics: builder.diagnostics,
    }
}

struct Builder<'a> {
    timeline: &'a Timeline,
    schedule: &'a Schedule,
    turns: Turns,
    diagnostics: Vec<Diagnostic>,
    /// Whether a call would belong to the last turn.
    is_turn_open: bool,
    /// Whether a turn would belong to the last segment.
    is_segment_open: bool,
    is_history: bool,
    /// The input that no turn has answered yet, with its event.
    input: Option<(ExpectedInput, usize)>,
    /// Keys that were typed since the last turn.
    keys: Option<(ExpectedInput, usize)>,
    checks: Vec<usize>,
    was_cancelled: bool,
}

impl Builder<'_> {
    fn event(&mut self, event_idx: usize, event: &TimelineEvent) {
        if event.kind.row().ends_turn {
            self.is_turn_open = false;
        }
        match &event.kind {
            EventKind::Response(response) => self.response(event_idx, event, response),
            EventKind::ToolUse(call) => self.tool_call(event_idx, call),
            EventKind::AgentEdits(edit) => self.edit(event_idx, event, edit),
            EventKind::UserInputs(inputs) => {
                for input in inputs {
                    self.user_input(event_idx, input);
                }
            }
            EventKind::SessionStart(_) => {
                self.close_segment();
                self.is_history = false;
            }
            EventKind::UserCancelSession { .. } => {
                self.was_cancelled = true;
                // With an input that nothing has answered, it is that input which is cancelled.
                if self.input.is_none()
                    && let Some(turn) = self.turns.turns.last_mut()
                {
                    turn.is_cancelled = true;
                }
            }
            EventKind::Assert(_) => self.checks.push(event_idx),
            // The others are no part of a turn.
            _ => {}
        }
    }

    fn user_input(&mut self, event_idx: usize, input: &UserInput) {
        if is_keys(input) {
            let text = input.prompt_text();
            let typed = without_tokens(text.as_deref().unwrap_or_default());
            let before = self.keys.take().and_then(|(keys, _)| keys.text);
            let text = before.unwrap_or_default() + &typed;
            let keys = ExpectedInput {
                normal: normalise(&text),
                text: Some(text),
                blocks: Vec::new(),
                is_exact: false,
                is_keys: true,
                span: input.span,
            };
            self.keys = Some((keys, event_idx));
            return;
        }
        self.close_segment();
        let mut expected = ExpectedInput::of(input);
        if let Some(blocks) = super::blocks::expected_alone(input) {
            (expected.text, expected.normal, expected.blocks) = (None, String::new(), blocks);
        }
        expected.is_exact |= self.timeline.server.exact_prompts;
        self.input = Some((expected, event_idx));
    }

    /// Ends the segment that is open. One that nothing answers is answered by an empty message.
    fn close_segment(&mut self) {
        self.is_turn_open = false;
        if let Some((input, event_idx)) = self.input.take() {
            let span = input.span;
            if !self.was_cancelled {
                let message = "no response to this user input";
                let found = Diagnostic::warning(codes::MODEL_EMPTY_SEGMENT, message).with_help(
                    "add an `llmResponse`; without one, the model answers with an empty message",
                );
                self.report(found, event_idx, span);
            }
            self.input = Some((input, event_idx));
            let is_cancelled = self.was_cancelled;
            let turn = self.begin_turn(event_idx);
            turn.attempts.push(Attempt::default());
            turn.is_cancelled = is_cancelled;
        }
        self.is_turn_open = false;
        self.is_segment_open = false;
        self.keys = None;
        self.was_cancelled = false;
    }

    fn begin_turn(&mut self, event_idx: usize) -> &mut Turn {
        let event = &self.timeline.events[event_idx];
        let trigger = self.input.take().or_else(|| self.keys.take());
        self.keys = None;
        let input = trigger.map(|(input, _)| input);
        let begins_segment = input.is_some() || !self.is_segment_open;
        self.is_segment_open = true;
        self.is_turn_open = true;
        self.was_cancelled = false;
        self.turns.turns.push(Turn {
            event_idx,
            path: event.path.clone(),
            span: event.span,
            begins_segment,
            is_history: self.is_history,
            input,
            checks: std::mem::take(&mut self.checks),
            attempts: Vec::new(),
            origin_ms: self.schedule.origin_of(event_idx),
            usage: Json::Null,
            stop_reason: StopReasons::default(),
            is_cancelled: false,
            squeezed: String::new(),
            squeezed_texts: Vec::new(),
        });
        let last_idx = self.turns.turns.len() - 1;
        &mut self.turns.turns[last_idx]
    }

    fn times(&self, event_idx: usize) -> Option<&EventTimes> {
        self.schedule.events.get(event_idx)
    }

    fn response(&mut self, event_idx: usize, event: &TimelineEvent, response: &Response) {
        let schedule = self.schedule;
        let times = schedule.events.get(event_idx);
        let parts = times.map_or(&[][..], |times| &times.parts);
        let points_of = |idx: usize| -> Vec<u64> {
            let own = parts.iter().filter(|(_, part)| match part {
                EventPart::Think { element_idx, .. }
                | EventPart::Assistant { element_idx, .. }
                | EventPart::Error(element_idx) => *element_idx == idx,
                _ => false,
            });
            own.map(|(at_ms, _)| *at_ms).collect()
        };
        let mut attempts = Vec::new();
        let mut attempt = Attempt::default();
        for (idx, element) in response.elements.iter().enumerate() {
            let points = &points_of(idx);
            match element {
                ResponseElement::Think(entries) => {
                    let pieces = pieces(entries, points, |text| (text.as_str().into(), None));
                    attempt.elements.push(TurnElement::Thinking(pieces));
                }
                ResponseElement::Assistant(entries) => {
                    let block = |block: &Block| (block_text(block).into(), image(block));
                    let pieces = pieces(entries, points, block);
                    attempt.elements.push(TurnElement::Text(pieces));
                    self.report_blocks(event_idx, entries);
                }
                ResponseElement::Error(error) => {
                    attempt.error = Some(TurnError {
                        at_ms: points.first().copied().unwrap_or_default(),
                        error: Arc::new(error.clone()),
                    });
                    attempts.push(std::mem::take(&mut attempt));
                }
            }
        }
        if let Some(refusal) = &response.refusal {
            let timed = parts.iter().filter(|(_, part)| *part != EventPart::Whole);
            let at_ms = timed.map(|(at_ms, _)| *at_ms).max();
            attempt.elements.push(TurnElement::Refusal(vec![Piece {
                at_ms: at_ms.unwrap_or_else(|| self.schedule.origin_of(event_idx)),
                text: refusal.as_str().into(),
                image: None,
            }]));
        }
        if !attempt.elements.is_empty() || attempts.is_empty() {
            attempts.push(attempt);
        }
        if response.continues && self.is_turn_open {
            let open = self.turns.turns.last_mut();
            if let Some(open) = open.and_then(|turn| turn.attempts.last_mut()) {
                let parts = attempts.into_iter().flat_map(|attempt| attempt.elements);
                open.elements.extend(parts);
            }
            return;
        }
        let turn = self.begin_turn(event_idx);
        turn.span = event.span;
        turn.attempts = attempts;
        turn.usage = response.usage.clone();
        turn.stop_reason = response.stop_reason;
    }

    fn report_blocks(&mut self, event_idx: usize, entries: &[Entry<Block>]) {
        let style = self.timeline.server.api_style.map(|style| style.value);
        let is_carried = |kind: &BlockKind| match kind {
            BlockKind::Text(_) => true,
            BlockKind::Image(_) => style == Some(ApiStyle::Gemini),
            _ => false,
        };
        for entry in entries {
            if !is_carried(&entry.value.kind) {
                let kind = entry.value.kind.as_str();
                let message = match entry.value.kind {
                    BlockKind::Image(_) => {
                        "only Gemini's API has images in a model's answer".to_owned()
                    }
                    _ => format!("a model's answer can't contain a block of type `{kind}`"),
                };
                let found = Diagnostic::warning(codes::MODEL_BLOCK_AS_TEXT, message).with_help(
                    "it is sent as text that describes it; write that text, if it matters",
                );
                self.report(found, event_idx, entry.span);
            }
        }
    }

    fn tool_call(&mut self, event_idx: usize, call: &ToolUse) {
        let at_ms = self.times(event_idx).map_or(0, |times| times.start_ms);
        self.push_call(TurnCall {
            id: call.call_id.clone(),
            at_ms,
            call: AbstractCall::of(call),
            event_idx,
            needs_result: call.status != ToolStatus::Open,
            scripted: Some(Arc::new(call.clone())),
        });
    }

    fn edit(&mut self, event_idx: usize, event: &TimelineEvent, edit: &AgentEdits) {
        let Some(call) = AbstractCall::of_edit(edit, event.span) else {
            let message = format!("the edit of `{}` only has line counts", edit.path);
            let found = Diagnostic::note(codes::MODEL_EDIT_COUNTS, message).with_help(
                "a model can't request such an edit; add `oldText` and `newText` if it should",
            );
            self.report(found, event_idx, event.span);
            return;
        };
        let at_ms = self.times(event_idx).map_or(0, |times| times.start_ms);
        self.push_call(TurnCall {
            id: edit.call_id.clone(),
            at_ms,
            call,
            event_idx,
            scripted: None,
            needs_result: true,
        });
    }

    fn push_call(&mut self, call: TurnCall) {
        if !self.is_turn_open {
            self.begin_turn(call.event_idx);
        }
        let Some(turn) = self.turns.turns.last_mut() else {
            return;
        };
        if turn.attempts.last().is_none_or(|last| last.error.is_some()) {
            turn.attempts.push(Attempt::default());
        }
        if let Some(attempt) = turn.attempts.last_mut() {
            attempt.elements.push(TurnElement::Call(call));
        }
    }

    fn report(&mut self, found: Diagnostic, event_idx: usize, span: Span) {
        let path = &self.timeline.events[event_idx].path;
        let found = found.at(&self.timeline.source, span).with_pointer(path);
        self.diagnostics.push(found);
    }
}

fn pieces<T>(
    entries: &[Entry<T>],
    points: &[u64],
    content: impl Fn(&T) -> (Arc<str>, Option<Arc<AnswerImage>>),
) -> Vec<Piece> {
    let pieces = entries.iter().enumerate().map(|(idx, entry)| {
        let (text, image) = content(&entry.value);
        Piece {
            text,
            at_ms: points.get(idx).copied().unwrap_or_default(),
            image,
        }
    });
    pieces.collect()
}

/// The image of a block, if its bytes are known.
fn image(block: &Block) -> Option<Arc<AnswerImage>> {
    match &block.kind {
        BlockKind::Image(Media {
            mime_type,
            source: MediaSource::Data(data),
            ..
        }) => Some(Arc::new(AnswerImage {
            mime_type: mime_type.clone(),
            data: data.clone(),
        })),
        _ => None,
    }
}

/// What is known of a turn once all of it is there.
fn finish(turn: &mut Turn, coalesces_thinking: bool) {
    if !coalesces_thinking {
        for attempt in &mut turn.attempts {
            if attempt.elements.iter().any(|it| it.call().is_some()) {
                attempt
                    .elements
                    .retain(|element| !matches!(element, TurnElement::Thinking(_)));
            }
        }
    }
    turn.squeezed = squeeze(&turn.text());
    turn.squeezed_texts = turn.texts().iter().map(|text| squeeze(text)).collect();
}

/// Typed text without the tokens for keys: `Fix it<Enter>` is `Fix it`, and `<<` is `<`.
fn without_tokens(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(after) = after.strip_prefix('<') {
            plain.push('<');
            rest = after;
        } else if let Some(end) = after.find('>') {
            if let Some(pasted) = after[..end].strip_prefix("Paste:") {
                plain.push_str(pasted);
            }
            rest = &after[end + 1..];
        } else {
            plain.push('<');
            rest = after;
        }
    }
    plain + rest
}
