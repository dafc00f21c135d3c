//! Judging a trace that is not held in memory.
//!
//! Before the trace is read, the assertions say which of its events they may name or decide by: the first so many
//! calls of a tool, the first event that a selector means, the call whose arguments come nearest. Those are kept as a
//! trace with gaps. The others are looked at in passing, counted, and dropped. The same functions then judge the
//! trace with gaps; where they count, they ask the [`View`](super::View), which knows what was left out.

mod collector;
mod demand;
mod links;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::rc::Rc;

pub(super) use self::collector::CallNames;
use self::collector::{EventCollector, Kept, Look};
use self::demand::{EventDemand, keeps_whole};
use self::links::Links;
use super::words::as_count;
use crate::model::TestCase;
use cuecard_trace::{
    Event, EventData, EventSummary, Header, Line, MAX_IN_MEMORY, Trace, TraceError, TraceReader,
};

/// A trace that can be judged: the whole of it, or what its test case asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct FilteredTrace {
    /// The events that are there, in order.
    pub trace: Trace,
    /// What is known of the others; absent if there are none.
    pub left_out: Option<LeftOut>,
}

impl From<Trace> for FilteredTrace {
    fn from(trace: Trace) -> Self {
        Self {
            trace,
            left_out: None,
        }
    }
}

impl FilteredTrace {
    /// Tools that were called and how often, in order; one tool may come more than once.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&str, u64)> {
        let of_events = self
            .trace
            .events
            .iter()
            .filter_map(|event| match &event.data {
                EventData::ToolCall(call) => Some((&*call.tool, 1)),
                _ => None,
            });
        let left_out = self.left_out.as_ref();
        let of_rest = left_out.into_iter().flat_map(|left_out| &left_out.calls);
        of_events
            .filter(move |_| left_out.is_none())
            .chain(of_rest.map(|(names, count)| (names.tool.as_str(), as_count(*count))))
    }

    /// How many events the trace has, those that were left out included.
    pub fn event_count(&self) -> usize {
        match &self.left_out {
            Some(left_out) => left_out.events,
            None => self.trace.events.len(),
        }
    }
}

/// What is known of a trace beside the events of it that were kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LeftOut {
    /// How many events the whole trace has.
    pub(super) events: usize,
    /// The tools that were called, in the order of their first calls, and how often.
    pub(super) calls: Vec<(CallNames, usize)>,
    /// By the place of an event that was kept: the call that it answers.
    pub(super) answers: HashMap<usize, Answered>,
    /// By the place of an assertion: how many events it means.
    pub(super) counts: Vec<Option<u64>>,
}

/// A call that an event answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answered {
    pub names: CallNames,
    /// Whether the trace has an error of it.
    pub has_error: bool,
}

/// Reads a trace and keeps what a test case asks for.
#[derive(Debug)]
pub struct TraceFilter<'c> {
    case: &'c TestCase,
    wants: EventDemand<'c>,
    /// Events that are kept whoever asks: the first of each type, and the first call of each tool.
    firsts: Vec<Kept>,
    kinds: HashSet<String>,
    calls: Vec<(CallNames, usize)>,
    by_names: HashMap<String, usize>,
    links: Option<Links>,
    events: usize,
    /// Bytes of what is kept, at most.
    bytes: u64,
    /// The names of a call as a key, made in place.
    key: String,
}

impl<'c> TraceFilter<'c> {
    /// A filter for `case`.
    ///
    /// # Errors
    /// Why the case needs the whole of a trace.
    pub fn new(case: &'c TestCase) -> Result<Self, String> {
        match keeps_whole(case) {
            Some(reason) => Err(reason),
            None => Ok(Self {
                case,
                wants: EventDemand::default(),
                firsts: Vec::new(),
                kinds: HashSet::new(),
                calls: Vec::new(),
                by_names: HashMap::new(),
                links: None,
                events: 0,
                bytes: 0,
                key: String::new(),
            }),
        }
    }

    /// Reads all lines of a trace.
    ///
    /// # Errors
    /// As [`Trace::read`]; besides if what the case asks for is too large to be held in memory. Of an event that is
    /// left out only the frame is looked at.
    pub fn read(
        mut self,
        mut reader: TraceReader<impl BufRead>,
    ) -> Result<FilteredTrace, TraceError> {
        let mut trace = Trace::default();
        while reader.advance()? {
            let glance = reader.glance();
            if let Some(glance) = &glance
                && !self.wants(glance)
            {
                let seq = glance.seq;
                reader.pass(seq)?;
                continue;
            }
            let is_announced = glance.is_some();
            match reader.line()? {
                None => break,
                Some(Line::Header(header)) => {
                    self.begin(&header);
                    trace.header = header;
                }
                Some(Line::Event(event)) => {
                    if is_announced || self.wants(&EventSummary::of(&event)) {
                        self.keep(*event, as_count(reader.length()));
                    }
                }
                Some(Line::End(end)) => trace.end = Some(end),
            }
            if self.bytes > MAX_IN_MEMORY && self.kept_bytes() > MAX_IN_MEMORY {
                let what = "events that the assertions look at are longer";
                return Err(reader.too_large(what, MAX_IN_MEMORY, "bytes"));
            }
        }
        trace.header.must_be_there()?;
        Ok(self.end(trace))
    }

    fn begin(&mut self, header: &Header) {
        self.wants = EventDemand::of(self.case, header);
        self.links = self.wants.follows_calls.then(Links::default);
    }

    /// Takes note of an event, and says whether it is to be seen.
    fn wants(&mut self, glance: &EventSummary<'_>) -> bool {
        self.events += 1;
        let is_call = glance.kind == "tool_call";
        let mut is_first = false;
        if !self.kinds.contains(&*glance.kind) || !EventData::TYPES.contains(&&*glance.kind) {
            // Nothing is known of a type that is not ours, not even who does it.
            is_first = self
                .kinds
                .insert(format!("{} {}", glance.kind, glance.actor));
            self.kinds.insert(glance.kind.clone().into_owned());
            if is_first {
                self.bytes += as_count(glance.kind.len() + glance.actor.len());
            }
        }
        let mut names = None;
        if is_call {
            self.key.clear();
            self.key
                .push_str(glance.tool.as_deref().unwrap_or_default());
            if let Some(native) = &glance.native_tool {
                self.key.push('\0');
                self.key.push_str(native);
            }
            let index = match self.by_names.get(&self.key) {
                Some(&index) => index,
                None => {
                    is_first = true;
                    self.bytes += as_count(self.key.len());
                    self.by_names.insert(self.key.clone(), self.calls.len());
                    let names = CallNames {
                        tool: glance.tool.clone().unwrap_or_default().into_owned(),
                        native_tool: glance.native_tool.clone().map(Cow::into_owned),
                    };
                    self.calls.push((names, 0));
                    self.calls.len() - 1
                }
            };
            self.calls[index].1 += 1;
            names = Some(index);
        }
        let mut answered = None;
        if let Some(links) = &mut self.links {
            match (&*glance.kind, names) {
                ("tool_call", Some(names)) => links.called(glance, names),
                ("tool_result", _) => {
                    answered = links
                        .find(glance)
                        .map(|call| &self.calls[links.names(call)].0);
                }
                ("error", _) => {
                    if let Some(call) = links.find(glance) {
                        links.failed(call);
                    }
                }
                _ => {}
            }
        }
        let look = Look { glance, answered };
        self.wants.is_first = is_first;
        // Each keeper is asked, since each may count.
        self.wants.ask(&look) || is_first
    }

    /// Gives an event that is to be seen to those who asked for it.
    fn keep(&mut self, event: Event, bytes: u64) {
        let call = match (&mut self.links, &event.data) {
            (Some(links), EventData::ToolResult(_)) => links.find(&EventSummary::of(&event)),
            _ => None,
        };
        let kept = Kept {
            position: self.events - 1,
            event: Rc::new(event),
            bytes,
            call,
        };
        if self.wants.is_first {
            self.firsts.push(kept.clone());
        }
        self.wants.see(&kept);
        if Rc::strong_count(&kept.event) > 1 {
            self.bytes += bytes;
        }
    }

    fn all_kept(&self) -> impl Iterator<Item = &Kept> {
        self.firsts
            .iter()
            .chain(self.wants.keepers().flat_map(EventCollector::kept))
    }

    /// Bytes of what is kept now: much of it may have been dropped again.
    fn kept_bytes(&mut self) -> u64 {
        let mut seen = HashSet::new();
        let kept = self.all_kept().filter(|kept| seen.insert(kept.position));
        let events: u64 = kept.map(|kept| kept.bytes).sum();
        let names: usize = self
            .by_names
            .keys()
            .chain(&self.kinds)
            .map(String::len)
            .sum();
        self.bytes = events + as_count(names);
        self.bytes
    }

    fn end(self, mut trace: Trace) -> FilteredTrace {
        let mut all: Vec<Kept> = self.all_kept().cloned().collect();
        all.sort_by_key(|kept| kept.position);
        all.dedup_by_key(|kept| kept.position);
        let counts = self.wants.counts();
        let mut answers = HashMap::new();
        for (place, kept) in all.iter().enumerate() {
            if let (Some(call), Some(links)) = (kept.call, &self.links) {
                let names = self.calls[links.names(call)].0.clone();
                let has_error = links.has_error(call);
                answers.insert(place, Answered { names, has_error });
            }
        }
        drop((self.firsts, self.wants));
        trace.events = all
            .into_iter()
            .map(|kept| Rc::unwrap_or_clone(kept.event))
            .collect();
        let left_out = LeftOut {
            events: self.events,
            calls: self.calls,
            answers,
            counts,
        };
        FilteredTrace {
            trace,
            left_out: Some(left_out),
        }
    }
}
