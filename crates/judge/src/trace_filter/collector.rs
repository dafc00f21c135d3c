//! What is kept of a trace for one question about it.

use std::fmt;
use std::rc::Rc;

use crate::model::ToolPattern;
use crate::view::names;
use cuecard_trace::{Event, EventSummary};

/// An event at a glance, and the names of the tool of the call that it answers.
pub(super) struct Look<'l> {
    pub glance: &'l EventSummary<'l>,
    pub answered: Option<&'l CallNames>,
}

impl Look<'_> {
    pub(super) fn is(&self, kind: &str) -> bool {
        self.glance.kind == kind
    }

    /// Whether it is a call of `tool`.
    pub(super) fn calls(&self, tool: &ToolPattern) -> bool {
        self.is("tool_call") && self.is_about(tool)
    }

    /// Whether it is a result of a call that is of `tool`; where no call is known, of `tool` itself.
    pub(super) fn is_result_of(&self, tool: &ToolPattern) -> bool {
        self.is("tool_result")
            && match self.answered {
                Some(call) => call.is_of(tool),
                None => self.is_about(tool),
            }
    }

    /// Whether the event itself names `tool`; a call may name it as the agent does.
    pub(super) fn is_about(&self, tool: &ToolPattern) -> bool {
        let names = |name: Option<&str>| name.is_some_and(|name| tool.matches(name));
        names(self.glance.tool.as_deref())
            || self.is("tool_call") && names(self.glance.native_tool.as_deref())
    }
}

/// The names of a tool that was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallNames {
    pub tool: String,
    pub native_tool: Option<String>,
}

impl CallNames {
    /// Whether `tool` means it.
    pub(crate) fn is_of(&self, tool: &ToolPattern) -> bool {
        names(tool, &self.tool, self.native_tool.as_deref())
    }
}

/// An event that is kept.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    /// Its place in the whole trace, from 0.
    pub position: usize,
    pub event: Rc<Event>,
    /// The length of its line in bytes.
    pub bytes: u64,
    /// The call that it belongs to, where calls are followed.
    pub call: Option<usize>,
}

type May<'c> = Box<dyn FnMut(&Look<'_>) -> bool + 'c>;
/// What is looked for has this rank.
const NONE_NEARER: f64 = 0.0;

type Rank<'c> = Box<dyn FnMut(&Event) -> Option<f64> + 'c>;

/// Keeps events of one kind, as many as an assertion may name or decide by, and counts the others.
pub(super) struct EventCollector<'c> {
    may: May<'c>,
    /// How near an event comes to what is looked for, less being nearer; `None` if it is not meant.
    rank: Option<Rank<'c>>,
    how: How,
    least: f64,
    is_counting: bool,
    count: u64,
    /// What settles the count, if it comes, and the count when it came last.
    settling: Option<&'static str>,
    settled: Option<u64>,
    kept: Vec<Kept>,
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    First(usize),
    Last,
    /// The first of those with the least rank.
    Nearest,
    All,
}

impl fmt::Debug for EventCollector<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Keeper")
            .field("kept", &self.kept)
            .finish_non_exhaustive()
    }
}

impl<'c> EventCollector<'c> {
    /// Keeps the first `limit` events that may be meant.
    pub(super) fn first(limit: usize, may: impl FnMut(&Look<'_>) -> bool + 'c) -> Self {
        Self::new(How::First(limit), may)
    }

    /// Keeps the last.
    pub(super) fn last(may: impl FnMut(&Look<'_>) -> bool + 'c) -> Self {
        Self::new(How::Last, may)
    }

    /// Keeps the one that comes nearest, which none with a rank of 0 ever loses to another.
    pub(super) fn nearest(
        may: impl FnMut(&Look<'_>) -> bool + 'c,
        rank: impl FnMut(&Event) -> Option<f64> + 'c,
    ) -> Self {
        Self {
            rank: Some(Box::new(rank)),
            ..Self::new(How::Nearest, may)
        }
    }

    /// Keeps all of them: there are few, or each of them decides.
    pub(super) fn all(may: impl FnMut(&Look<'_>) -> bool + 'c) -> Self {
        Self::new(How::All, may)
    }

    fn new(how: How, may: impl FnMut(&Look<'_>) -> bool + 'c) -> Self {
        Self {
            may: Box::new(may),
            rank: None,
            how,
            least: f64::INFINITY,
            is_counting: false,
            count: 0,
            settling: None,
            settled: None,
            kept: Vec::new(),
        }
    }

    /// Of those that may be meant only those that `is`, which is asked of each in order.
    pub(super) fn that(self, mut is: impl FnMut(&Event) -> bool + 'c) -> Self {
        Self {
            rank: Some(Box::new(move |event| is(event).then_some(0.0))),
            ..self
        }
    }

    /// Counts all that are meant, kept or not.
    pub(super) fn counting(self) -> Self {
        Self {
            is_counting: true,
            ..self
        }
    }

    /// Counts all that are meant before the last event of a type, or all if there is none.
    pub(super) fn counting_before(self, kind: &'static str) -> Self {
        Self {
            settling: Some(kind),
            ..self.counting()
        }
    }

    /// How many are meant, if that is counted.
    pub(super) fn count(&self) -> Option<u64> {
        self.is_counting
            .then_some(self.settled.unwrap_or(self.count))
    }

    /// What it kept.
    pub(super) fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Whether it has to see the event. One that is only to be counted is counted here.
    pub(super) fn wants(&mut self, look: &Look<'_>) -> bool {
        if self.settling.is_some_and(|kind| look.is(kind)) {
            self.settled = Some(self.count);
        }
        let is_full = match self.how {
            How::First(limit) => self.kept.len() >= limit,
            How::Nearest => self.least <= NONE_NEARER,
            How::Last | How::All => false,
        };
        if (is_full && !self.is_counting) || !(self.may)(look) {
            return false;
        }
        if is_full && self.rank.is_none() {
            self.count += 1;
            return false;
        }
        true
    }

    /// Looks at an event that it wanted.
    pub(super) fn see(&mut self, seen: &Kept) {
        let rank = match &mut self.rank {
            None => 0.0,
            Some(rank) => match rank(&seen.event) {
                Some(rank) => rank,
                None => return,
            },
        };
        self.count += 1;
        match self.how {
            How::First(limit) if self.kept.len() >= limit => return,
            How::First(_) | How::All => {}
            How::Nearest if !self.kept.is_empty() && rank >= self.least => return,
            How::Last | How::Nearest => self.kept.clear(),
        }
        self.least = rank;
        self.kept.push(seen.clone());
    }
}
