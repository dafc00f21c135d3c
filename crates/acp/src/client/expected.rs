//! What a script wants of an agent in a turn: what the stand-in would send, in its order. Does no I/O.

use std::ops::Range;

use cuecard_source::value::Json;
use cuecard_timeline::model::{
    Block, BlockKind, EventKind, FileRead, Notify, PermissionRequest, PlanEntry, ResponseElement,
    ResponseError, ToolStatus, ToolUse,
};
use cuecard_timeline::script::{EventPart, parts};

use super::seen::{Piece, Said, is_blank, join, length};
use crate::script::file_effect::FileEffect;
use crate::script::matching::{call_id, is_refusal, requested_calls};
use crate::script::updates::Speaker;
use crate::script::{AcpScript, content};

/// What a script wants of an agent, up to the end of a turn.
#[derive(Debug)]
pub(super) struct Expected<'s> {
    pub(super) items: Vec<ExpectedItem<'s>>,
    pub(super) end: TurnEnd<'s>,
    /// How much each one has said so far.
    said: Said,
}

/// How a turn ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum TurnEnd<'s> {
    /// With an answer.
    Answer,
    /// With an error.
    Error {
        event_idx: usize,
        error: &'s ResponseError,
    },
    /// The client cancels it, at this time of the timeline or as soon as all before it has come.
    Cancel { event_idx: usize, at_ms: u64 },
}

/// Something that the agent is to do.
#[derive(Debug)]
pub(super) struct ExpectedItem<'s> {
    pub(super) event_idx: usize,
    /// The parts of the script with which it begins and ends.
    pub(super) first: usize,
    pub(super) last: usize,
    /// How much each one has said by then.
    pub(super) said: Said,
    pub(super) wanted: Wanted<'s>,
}

/// What the agent is to do.
#[derive(Debug)]
pub(super) enum Wanted<'s> {
    Text(Speaker, Vec<Piece<&'s Block>>),
    /// A call, and whether its end is waited for.
    Call(&'s ToolUse, bool),
    Edit(WantedEdit<'s>),
    /// All entries of the plan.
    Plan(Json),
    /// A request for permission, and the event of the call that it is for. One that the user refuses is only known to be
    /// for a call that it names: the script need not have it.
    Permission(&'s PermissionRequest, Option<usize>),
    Read(&'s FileRead),
    Notify(&'s Notify),
}

/// An edit of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedEdit<'s> {
    pub(super) path: &'s str,
    pub(super) old_text: Option<&'s str>,
    pub(super) new_text: Option<&'s str>,
    /// How many lines it adds and removes, as far as that is said.
    pub(super) counts: (Option<u64>, Option<u64>),
}

impl<'s> Expected<'s> {
    /// What `events` want of an agent in `folder`, after a plan of these entries; after the history, if the agent tells it
    /// then.
    pub(super) fn of_turn(
        (script, folder): (&'s AcpScript, &str),
        events: Range<usize>,
        has_history: bool,
        plan: &mut Vec<PlanEntry>,
    ) -> Self {
        let (mut expected, mut step) = match has_history {
            true => Self::history(script, plan),
            false => (Self::nothing(), 0),
        };
        let calls = requested_calls(script, events.clone(), folder);
        for part in parts(&script.schedule, events) {
            step += 1;
            let event_idx = part.event_idx;
            match &script.event(event_idx).kind {
                EventKind::UserCancelSession { .. } => {
                    let at_ms = part.at_ms;
                    expected.end = TurnEnd::Cancel { event_idx, at_ms };
                    break;
                }
                EventKind::Response(response) => {
                    if let EventPart::Error(idx) = part.part
                        && let Some(ResponseElement::Error(error)) = response.elements.get(idx)
                    {
                        expected.end = TurnEnd::Error { event_idx, error };
                        break;
                    }
                }
                EventKind::PermissionRequest(request) => {
                    let id = request.tool_call["toolCallId"].as_str();
                    let is_known = |idx: &&usize| {
                        !is_refusal(request) || id == call_id(&script.event(**idx).kind)
                    };
                    let call_idx = calls.get(&event_idx).filter(is_known).copied();
                    expected.push(event_idx, step, Wanted::Permission(request, call_idx));
                }
                EventKind::AgentFileReads(reads) => {
                    for read in reads {
                        expected.push(event_idx, step, Wanted::Read(read));
                    }
                }
                EventKind::Notify(notify) => expected.push(event_idx, step, Wanted::Notify(notify)),
                _ => {}
            }
            expected.told(script, (event_idx, part.part), step, plan);
        }
        expected
    }

    /// What an agent tells of the history when it loads the session: what was said and done, and nothing is asked.
    pub(super) fn of_history(script: &'s AcpScript, plan: &mut Vec<PlanEntry>) -> Self {
        Self::history(script, plan).0
    }

    /// The same, and how many parts it has.
    fn history(script: &'s AcpScript, plan: &mut Vec<PlanEntry>) -> (Self, usize) {
        let mut expected = Self::nothing();
        let mut step = 0;
        for event_idx in script.segments.history.clone() {
            for &(_, part) in &script.schedule.events[event_idx].parts {
                step += 1;
                expected.told(script, (event_idx, part), step, plan);
            }
        }
        (expected, step)
    }

    fn nothing() -> Self {
        Self {
            items: Vec::new(),
            end: TurnEnd::Answer,
            said: Said::default(),
        }
    }

    /// What updates tell.
    fn told(
        &mut self,
        script: &'s AcpScript,
        (event_idx, part): (usize, EventPart),
        step: usize,
        plan: &mut Vec<PlanEntry>,
    ) {
        match (&script.event(event_idx).kind, part) {
            (EventKind::UserInputs(inputs), EventPart::Input(idx)) => {
                for block in &inputs[idx].blocks {
                    self.say(event_idx, step, Speaker::User, block, plan);
                }
            }
            (EventKind::Response(response), part) => {
                let entries = match part {
                    EventPart::Think {
                        element_idx,
                        entry_idx,
                    }
                    | EventPart::Assistant {
                        element_idx,
                        entry_idx,
                    } => Some((response.elements.get(element_idx), entry_idx)),
                    _ => None,
                };
                match entries {
                    Some((Some(ResponseElement::Think(entries)), idx)) => {
                        let text = Piece::Text(entries[idx].value.clone());
                        self.text(event_idx, step, Speaker::Thought, text);
                    }
                    Some((Some(ResponseElement::Assistant(entries)), idx)) => {
                        self.say(event_idx, step, Speaker::Agent, &entries[idx].value, plan);
                    }
                    _ => {}
                }
            }
            (EventKind::ToolUse(call), EventPart::CallStart) => {
                self.push(event_idx, step, Wanted::Call(call, false));
            }
            (EventKind::ToolUse(call), EventPart::CallEnd) => {
                let mut items = self.items.iter_mut().rev();
                if let Some(item) = items.find(|item| item.event_idx == event_idx) {
                    item.last = step;
                    if let Wanted::Call(_, is_ended) = &mut item.wanted {
                        *is_ended = call.status != ToolStatus::Open;
                    }
                }
            }
            (EventKind::AgentEdits(edit), _) => {
                let edit = WantedEdit {
                    path: &edit.path,
                    old_text: edit.old_text.as_deref(),
                    new_text: edit.new_text.as_deref(),
                    counts: (edit.lines_added, edit.lines_removed),
                };
                self.push(event_idx, step, Wanted::Edit(edit));
            }
            (EventKind::AgentPlan(update), _) => {
                if update.replaces {
                    plan.clear();
                }
                plan.extend(update.entries.iter().cloned());
                self.push(event_idx, step, Wanted::Plan(content::plan(plan)));
            }
            _ => {}
        }
    }

    fn say(
        &mut self,
        event_idx: usize,
        step: usize,
        speaker: Speaker,
        block: &'s Block,
        plan: &mut Vec<PlanEntry>,
    ) {
        match &block.kind {
            BlockKind::Text(text) => self.text(event_idx, step, speaker, Piece::Text(text.clone())),
            BlockKind::Plan(entries) => {
                plan.clone_from(entries);
                self.push(event_idx, step, Wanted::Plan(content::plan(plan)));
            }
            BlockKind::Diff {
                path,
                old_text,
                new_text,
            } => {
                let edit = WantedEdit {
                    path,
                    old_text: old_text.as_deref(),
                    new_text: Some(new_text),
                    counts: (None, None),
                };
                self.push(event_idx, step, Wanted::Edit(edit));
            }
            _ => self.text(event_idx, step, speaker, Piece::Other(block)),
        }
    }

    /// Puts what is said to what the same one said just before.
    fn text(&mut self, event_idx: usize, step: usize, speaker: Speaker, piece: Piece<&'s Block>) {
        let is_message = |item: &&mut ExpectedItem<'_>| item.wanted.is_message();
        let length = length(&piece);
        match self.items.iter_mut().rev().find(is_message) {
            Some(ExpectedItem {
                last,
                wanted: Wanted::Text(by, pieces),
                ..
            }) if *by == speaker => {
                *last = step;
                join(pieces, piece);
            }
            _ if is_blank(&piece) => {}
            _ => self.push(event_idx, step, Wanted::Text(speaker, vec![piece])),
        }
        self.said[speaker as usize] += length;
    }

    fn push(&mut self, event_idx: usize, step: usize, wanted: Wanted<'s>) {
        self.items.push(ExpectedItem {
            event_idx,
            first: step,
            last: step,
            said: self.said,
            wanted,
        });
    }
}

impl Wanted<'_> {
    /// The file that it changes, and how.
    pub(super) fn file_effect(&self) -> Option<(&str, FileEffect<'_>)> {
        match self {
            Self::Edit(edit) => {
                let effect = FileEffect::of_edit(edit.old_text, edit.new_text, edit.counts);
                Some((edit.path, effect))
            }
            Self::Call(call, _) => FileEffect::of_call(call),
            _ => None,
        }
    }

    /// Whether it is said or called: such things keep their order among themselves.
    pub(super) fn is_message(&self) -> bool {
        matches!(self, Self::Text(..) | Self::Call(..) | Self::Edit(_))
    }
}
