//! What goes wrong on a wire on purpose, and at which events.

use super::Timeline;
use super::event::{EventKind, TimelineEvent};
use cuecard_source::{SourceFile, Span};

/// `fault`: something that goes wrong on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// `kind`.
    pub kind: FaultKind,
    /// `at`: milliseconds after the event's start; by default its first frame.
    pub at_ms: Option<u64>,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// `cut`: the stream ends.
    Cut,
    /// `stall`: silence.
    Stall,
    /// `garbage`: invalid JSON.
    Garbage,
    /// `split` of frames or lines.
    Split,
    /// `merge` of frames or lines.
    Merge,
    /// `duplicate`.
    Duplicate,
    /// `reorder` with the next.
    Reorder,
    /// `wrong_id`.
    WrongId,
    /// `crash`.
    Crash,
    /// `oversize`.
    Oversize,
    /// `stderr`: noise there.
    Stderr,
}

impl FaultKind {
    /// Each kind with the word it is written with.
    pub const NAMED: &[(&str, Self)] = &[
        ("cut", Self::Cut),
        ("stall", Self::Stall),
        ("split", Self::Split),
        ("merge", Self::Merge),
        ("garbage", Self::Garbage),
        ("duplicate", Self::Duplicate),
        ("reorder", Self::Reorder),
        ("wrong_id", Self::WrongId),
        ("oversize", Self::Oversize),
        ("crash", Self::Crash),
        ("stderr", Self::Stderr),
    ];

    /// The word it is written with.
    pub fn as_str(self) -> &'static str {
        let named = Self::NAMED.iter().find(|(_, kind)| *kind == self);
        named.map_or("", |(word, _)| word)
    }
}

/// A file of faults that are laid over timelines.
#[derive(Debug, Clone)]
pub struct FaultRules {
    /// The text it was read from.
    pub source: SourceFile,
    /// Its rules, in order.
    pub rules: Vec<FaultRule>,
}

/// A fault for all events that fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultRule {
    /// `match`.
    pub fits: FaultMatch,
    /// `fault`.
    pub fault: Fault,
    /// Where it stands.
    pub span: Span,
}

/// Which events a fault is for. All that is said must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultMatch {
    /// `event`: its name.
    pub event: Option<String>,
    /// `tool`: the canonical name of the tool of a call.
    pub tool: Option<String>,
    /// `index`: the item of `timeline`, counted from 0 in the file as written.
    pub index: Option<u64>,
}

impl FaultMatch {
    /// Whether it fits an event.
    pub fn fits(&self, event: &TimelineEvent) -> bool {
        let tool = match &event.kind {
            EventKind::ToolUse(call) => Some(call.tool.as_str()),
            _ => None,
        };
        self.event
            .as_deref()
            .is_none_or(|name| name == event.kind.as_str())
            && self.tool.as_deref().is_none_or(|name| tool == Some(name))
            && self
                .index
                .is_none_or(|index| index_of(&event.path) == Some(index))
    }
}

/// 7 for `timeline[7].agentActions[1]`.
fn index_of(path: &str) -> Option<u64> {
    let (number, _) = path.strip_prefix("timeline[")?.split_once(']')?;
    number.parse().ok()
}

impl FaultRules {
    /// Lays the faults over a timeline: over those that stand in it, and a later rule over an earlier one. Gives the
    /// indexes of the rules that fit an event.
    pub fn lay_over(&self, timeline: &mut Timeline) -> Vec<usize> {
        let mut fitting = Vec::new();
        for (rule_idx, rule) in self.rules.iter().enumerate() {
            let mut fits_any = false;
            for event in &mut timeline.events {
                if rule.fits.fits(event) {
                    event.fault = Some(rule.fault);
                    fits_any = true;
                }
            }
            if fits_any {
                fitting.push(rule_idx);
            }
        }
        fitting
    }
}
