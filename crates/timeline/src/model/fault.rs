//! What goes wrong on a wire on purpose, and at which events.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Timeline;
use super::event::{EventKind, TimelineEvent};
use crate::format::{filled, time};
use cuecard_source::{SourceFile, Span};

/// What goes wrong on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// Milliseconds after the event's start (default: its first frame).
    #[serde(rename = "at", default, deserialize_with = "time")]
    pub at_ms: Option<u64>,
}

words! {
    /// What goes wrong.
    pub enum FaultKind {
        /// The stream ends.
        Cut = "cut",
        /// Silence.
        Stall = "stall",
        /// Frames or lines in parts.
        Split = "split",
        /// Frames or lines at once.
        Merge = "merge",
        /// Invalid JSON.
        Garbage = "garbage",
        /// The same twice.
        Duplicate = "duplicate",
        /// The next one comes first.
        Reorder = "reorder",
        /// An id that nobody knows.
        WrongId = "wrong_id",
        /// Too much at once.
        Oversize = "oversize",
        /// The program ends.
        Crash = "crash",
        /// Noise on stderr.
        Stderr = "stderr",
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct FaultRule {
    /// Which events.
    #[serde(rename = "match")]
    pub fits: FaultMatch,
    /// What goes wrong.
    pub fault: Fault,
    /// Where it stands.
    #[serde(skip)]
    pub span: Span,
}

/// Which events a fault is for: all that is said must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(extend("minProperties" = 1))]
pub struct FaultMatch {
    /// The name of the event.
    pub event: Option<String>,
    /// The tool of a call, under its canonical name.
    #[serde(default, deserialize_with = "filled")]
    pub tool: Option<String>,
    /// The item of `timeline`, counted from 0 in the file as written.
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
