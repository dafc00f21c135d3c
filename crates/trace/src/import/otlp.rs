//! OpenTelemetry spans as JSON, with the conventions for generative AI, or those of OpenInference.
//!
//! A file holds one export request or several, one after the other, in any order of their spans. Spans with the
//! attributes of neither are others' business.

mod messages;
mod openinference;
mod span;
#[cfg(test)]
pub(super) mod tests;

use std::collections::{HashMap, HashSet};

use super::builder::to_time;
use super::lines::{self, LeftOut, refused};
use super::results::{By, Run};
use super::{Imported, otlp::messages::Part};
use cuecard_source::SourceFile;
use cuecard_source::value::Json;
use span::{Operation, Span};

pub(super) fn import(source: &SourceFile) -> Imported {
    let documents = match lines::documents(source) {
        Ok(documents) => documents,
        Err(error) => return refused(error),
    };
    let mut left_out = LeftOut::default();
    let spans = span::spans(&documents, &mut left_out);
    if !spans.iter().any(|span| span.operation != Operation::Other) {
        let message = match spans.is_empty() {
            true => "no spans found: `resourceSpans` is missing or empty",
            false => {
                "no span of the file has an attribute `gen_ai.operation.name` or `openinference.span.kind`"
            }
        };
        return refused(lines::unreadable(source, message));
    }
    let mut reader = Reader::new(&spans, left_out);
    for moment in moments(&spans) {
        reader.moment(moment);
    }
    if reader.run.is_empty() {
        let message = "the spans show model requests, but neither messages nor tool calls";
        return refused(lines::unreadable(source, message));
    }
    let Reader {
        mut run,
        left_out,
        knows_messages,
        ..
    } = reader;
    let in_order = |pick: fn(&Span) -> u64| spans.iter().filter(|span| span.is_ours()).map(pick);
    let start = in_order(|span| span.start).min().unwrap_or(0);
    let end = in_order(|span| span.end).max().unwrap_or(0);
    run.timing_ms_total = Some(end.saturating_sub(start) as f64 / 1e6);
    if !knows_messages && !spans.iter().any(|span| span.operation == Operation::Tool) {
        run.flags.insert("supports_tool_trace".into(), false.into());
    }
    let attribute = |name: &str| spans.iter().find_map(|span| span.text(name));
    run.session(attribute("gen_ai.conversation.id").or(Some(&spans[0].trace_id)));
    let name = attribute("gen_ai.agent.name").or_else(|| attribute("service.name"));
    let trace = run.finish(name.unwrap_or("otlp"), attribute("service.version"));
    lines::imported(source, trace, &left_out)
}

/// The start or the end of a span.
struct Moment<'a> {
    span: &'a Span,
    is_end: bool,
}

/// Starts and ends in the order of time. At the same time a tool ends before a model is asked, and is called after
/// a model was.
fn moments(spans: &[Span]) -> Vec<Moment<'_>> {
    let mut moments: Vec<_> = spans
        .iter()
        .filter(|span| span.is_ours())
        .flat_map(|span| {
            let rank = match span.operation {
                Operation::Agent => (0, 6),
                Operation::Tool if span.end <= span.start => (4, 5),
                Operation::Tool => (4, 1),
                Operation::Model | Operation::Other => (2, 3),
            };
            let moment = |is_end| Moment { span, is_end };
            [
                ((span.start, rank.0), moment(false)),
                ((span.end.max(span.start), rank.1), moment(true)),
            ]
        })
        .collect();
    moments.sort_by_key(|(place, _)| *place);
    moments.into_iter().map(|(_, moment)| moment).collect()
}

/// A call as a model told of it.
struct ToldCall<'a> {
    span: &'a Span,
    id: String,
    name: String,
    args: Json,
}

/// So many calls before one are compared with it.
const MOST_AT_ONCE: usize = 1000;

/// The traces with an agent or a tool, if there is one with an agent.
fn agent_traces(spans: &[Span]) -> HashSet<&str> {
    let of = |operation| {
        let spans = spans.iter().filter(move |span| span.operation == operation);
        spans.map(|span| span.trace_id.as_str())
    };
    match of(Operation::Agent).next() {
        Some(_) => of(Operation::Agent).chain(of(Operation::Tool)).collect(),
        None => HashSet::new(),
    }
}

struct Reader<'a> {
    run: Run,
    left_out: LeftOut,
    by_id: HashMap<&'a str, &'a Span>,
    /// Calls that have a span of their own, by id.
    executed_ids: HashSet<&'a str>,
    /// Tools whose spans don't say which call they are.
    executed_names: HashSet<&'a str>,
    answered: HashSet<String>,
    /// Calls that models told of, each with the span that did.
    told: Vec<ToldCall<'a>>,
    /// What models asked for that has a span of its own, and was not run yet: id, tool and arguments.
    asked: Vec<(String, String, Json)>,
    /// The calls that an agent's models gave an id, or none, in order.
    given_ids: HashMap<(Option<String>, String), Vec<String>>,
    /// Traces in which an agent was asked or a tool was run, if any of them has an agent.
    agent_traces: HashSet<&'a str>,
    /// How often an agent was told the same.
    received: HashMap<(Option<String>, String), u64>,
    /// What each agent said last.
    last_said: HashMap<Option<String>, String>,
    knows_messages: bool,
}

impl<'a> Reader<'a> {
    fn new(spans: &'a [Span], left_out: LeftOut) -> Self {
        let tools = || {
            spans
                .iter()
                .filter(|span| span.operation == Operation::Tool)
        };
        Self {
            run: Run::default(),
            left_out,
            by_id: spans.iter().map(|span| (span.id.as_str(), span)).collect(),
            executed_ids: tools().filter_map(Span::own_call_id).collect(),
            executed_names: tools()
                .filter(|span| span.own_call_id().is_none())
                .map(Span::tool)
                .collect(),
            answered: HashSet::new(),
            told: Vec::new(),
            asked: Vec::new(),
            given_ids: HashMap::new(),
            agent_traces: agent_traces(spans),
            received: HashMap::new(),
            last_said: HashMap::new(),
            knows_messages: false,
        }
    }

    fn moment(&mut self, moment: Moment<'a>) {
        let Moment { span, is_end } = moment;
        let nanoseconds = if is_end {
            span.end.max(span.start)
        } else {
            span.start
        };
        let milliseconds = i64::try_from(nanoseconds / 1_000_000).unwrap_or(i64::MAX);
        let by = By {
            ts: Some(to_time(milliseconds)),
            agent_id: self.agent(span),
            event_id: None,
        };
        match (span.operation, is_end) {
            (Operation::Tool, _) if self.is_within_same_tool(span) => {}
            (Operation::Tool, false) => self.tool_start(span, by),
            (Operation::Tool, true) => self.tool_end(span, by),
            (Operation::Model | Operation::Agent, false) => self.input(span, &by),
            (Operation::Model, true) => self.model_end(span, &by),
            (Operation::Agent, true) => self.agent_end(span, &by),
            (Operation::Other, _) => {}
        }
    }

    fn tool_start(&mut self, span: &Span, by: By) {
        let told = span.json("gen_ai.tool.call.arguments").unwrap_or_default();
        let asked = self.asked_args(span);
        let args = match told.is_object() {
            true => told,
            // A text is the only argument, or how a language prints them: the model's span has them as they are.
            false => asked.unwrap_or(told),
        };
        self.run.called(by, span.tool(), span.call_id(), args);
    }

    /// The arguments with which a model asked for the call of a span that has none: by its id, else in the order in which
    /// calls of the tool were asked for.
    fn asked_args(&mut self, span: &Span) -> Option<Json> {
        let (id, tool) = (span.own_call_id(), span.tool());
        let is_it = |asked: &(String, String, Json)| match id {
            Some(id) => asked.0 == id,
            None => asked.1 == tool,
        };
        let idx = self.asked.iter().position(is_it)?;
        Some(self.asked.remove(idx).2)
    }

    fn tool_end(&mut self, span: &Span, by: By) {
        let result = span.get("gen_ai.tool.call.result").unwrap_or(&Json::Null);
        let mut answer = messages::answer(result, span.error.is_none());
        answer.duration_ms = Some(span.end.saturating_sub(span.start) as f64 / 1e6);
        if let Some(error) = &span.error {
            answer.error_type = error.kind.clone();
            answer.message.clone_from(&error.message);
        }
        self.answered.insert(span.call_id().to_owned());
        self.run.answered(by, span.call_id(), answer);
    }

    /// What a model or agent was given: each request repeats the whole conversation, so only what is new counts.
    fn input(&mut self, span: &'a Span, by: &By) {
        let messages = messages::input(span);
        self.knows_messages |= !messages.is_empty();
        let mut told: HashMap<String, u64> = HashMap::new();
        let mut responses: HashMap<String, usize> = HashMap::new();
        for message in messages {
            for part in message.parts {
                match part {
                    Part::Text(text) if message.role == "user" => {
                        let here = told.entry(text.clone()).or_default();
                        *here += 1;
                        let key = (by.agent_id.clone(), text.clone());
                        let before = self.received.entry(key).or_default();
                        if *here > *before {
                            *before += 1;
                            self.run.received(by.clone(), text);
                        }
                    }
                    Part::Response { id, response } => {
                        let nth = responses.entry(id.clone()).or_default();
                        let of_id = self.given_ids.get(&(by.agent_id.clone(), id.clone()));
                        let call_id = of_id.and_then(|ids| ids.get(*nth)).cloned();
                        *nth += 1;
                        if let Some(call_id) = call_id
                            && !self.executed_ids.contains(id.as_str())
                            && self.answered.insert(call_id.clone())
                        {
                            let answer = messages::answer(&response, true);
                            self.run.answered(by.clone(), &call_id, answer);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn model_end(&mut self, span: &'a Span, by: &By) {
        if let Some(error) = &span.error {
            let kind = error.kind.as_deref().unwrap_or("error");
            let message = error.message.as_deref().unwrap_or_default();
            self.run.failed(by.clone(), "model", kind, message);
        }
        for count in span.tokens() {
            let sum = self.run.token_usage.unwrap_or(0);
            self.run.token_usage = Some(sum.saturating_add(count));
        }
        self.output(span, by);
    }

    fn agent_end(&mut self, span: &'a Span, by: &By) {
        if let Some(error) = &span.error {
            if by.agent_id.is_none() {
                self.run.is_failed = true;
            }
            // Usually it failed because something in it did, which is told there.
            let is_told = self.by_id.values().any(|inner| {
                inner.error.is_some()
                    && inner.is_ours()
                    && self.line_up(inner).skip(1).any(|above| above.id == span.id)
            });
            if !is_told {
                let kind = error.kind.as_deref().unwrap_or("error");
                let message = error.message.as_deref().unwrap_or_default();
                self.run.failed(by.clone(), "model", kind, message);
            }
        }
        self.output(span, by);
    }

    fn output(&mut self, span: &'a Span, by: &By) {
        let messages = messages::output(span);
        self.knows_messages |= !messages.is_empty();
        for part in messages.into_iter().flat_map(|message| message.parts) {
            match part {
                // An agent repeats what its model said last. If another of its models spoke since, to name the
                // conversation for instance, the agent's word is its answer.
                Part::Text(text)
                    if span.operation == Operation::Agent
                        && self.last_said.get(&by.agent_id) == Some(&text) => {}
                Part::Text(text) => {
                    self.last_said.insert(by.agent_id.clone(), text.clone());
                    self.run.said(by.clone(), text, Some(&span.id));
                }
                Part::Thought(_) if span.operation == Operation::Agent => {}
                Part::Thought(text) => self.run.thought(by.clone(), text),
                Part::Call { id, name, args } => self.told_call(span, by, id, name, args),
                Part::Response { .. } => {}
                Part::Unknown(kind) => self.left_out.add(&format!("part: {kind}")),
            }
        }
    }

    /// A model asked for a call. Ids may be missing, or begin anew with each answer: then it is another call.
    fn told_call(&mut self, span: &'a Span, by: &By, id: String, name: String, args: Json) {
        let is_executed =
            self.executed_ids.contains(id.as_str()) || self.executed_names.contains(name.as_str());
        let is_same = |told: &ToldCall<'_>| {
            let is_same_call = told.id == id && told.name == name && told.args == args;
            // The same answer in two choices, or seen by two instruments at once.
            is_same_call
                && match std::ptr::eq(told.span, span) {
                    true => !id.is_empty(),
                    false => span.start < told.span.end && told.span.start < span.end,
                }
        };
        if is_executed {
            self.asked.push((id.clone(), name.clone(), args.clone()));
        }
        if is_executed || self.told.iter().rev().take(MOST_AT_ONCE).any(is_same) {
            return;
        }
        let mut call_id = id.clone();
        if id.is_empty() || self.run.has_call(&id) {
            call_id = format!("{}-{}", span.id, self.told.len() + 1);
        }
        self.run.called(by.clone(), &name, &call_id, args.clone());
        let key = (by.agent_id.clone(), id.clone());
        self.given_ids.entry(key).or_default().push(call_id);
        self.told.push(ToldCall {
            span,
            id,
            name,
            args,
        });
    }

    /// The agent that did it, if it is one that another agent called.
    fn agent(&self, span: &Span) -> Option<String> {
        let mut agents = self
            .line_up(span)
            .filter(|span| span.operation == Operation::Agent);
        let Some(nearest) = agents.next() else {
            // Where agents are recorded, a model that is asked in a trace without any is nobody's turn.
            let is_beside = span.operation == Operation::Model
                && !self.agent_traces.is_empty()
                && !self.agent_traces.contains(span.trace_id.as_str());
            return is_beside.then(|| span.name.clone());
        };
        agents.next()?;
        let name = nearest
            .text("gen_ai.agent.name")
            .or_else(|| nearest.text("gen_ai.agent.id"));
        Some(name.unwrap_or(&nearest.id).to_owned())
    }

    /// Whether a span is the same call seen from nearer to the tool: an MCP client within an agent's framework.
    fn is_within_same_tool(&self, span: &Span) -> bool {
        self.line_up(span)
            .skip(1)
            .any(|above| above.operation == Operation::Tool && above.tool() == span.tool())
    }

    /// The span and those around it, from the inside.
    fn line_up<'s>(&'s self, span: &'s Span) -> impl Iterator<Item = &'s Span> {
        const DEEPEST: usize = 128;
        std::iter::successors(Some(span), |span| {
            span.parent_id
                .as_deref()
                .and_then(|parent| self.by_id.get(parent).copied())
        })
        .take(DEEPEST)
    }
}
