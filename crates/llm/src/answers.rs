//! From a turn of the script to the elements of an answer: times become delays, abstract calls become those of the
//! agent.

use std::cell::OnceCell;
use std::sync::Arc;

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::json::read_value;
use cuecard_source::matching::is_same_json;
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::StopReasons;
use cuecard_timeline::profiles::{
    AbstractCall, AgentName, Mapped, NativeCall, Profile, ProfileChoice, Profiles, check_call,
    native_call,
};
use cuecard_timeline::script::{
    Attempt, Disobedience, GivenAnswer, LlmScript, Request, RequestedCall, Speed, Turn, TurnCall,
    TurnElement, disobediences,
};

use cuecard_wire::llm::answer::{Call, CallInput, Element, Piece};

/// What calls are made with.
#[derive(Debug)]
pub(super) struct ToolMapping {
    pub(super) profiles: Profiles,
    pub(super) agent: Option<AgentName>,
    /// Types and unknown arguments count too.
    pub(super) is_strict: bool,
    /// The folder that relative paths of a timeline are in, for agents that take absolute ones only.
    pub(super) folder: String,
}

impl ToolMapping {
    /// How calls are made for the agent that sent the request.
    pub(super) fn of<'a>(&'a self, request: &'a Request) -> AgentMapping<'a> {
        AgentMapping {
            calling: self,
            request,
            choice: OnceCell::new(),
        }
    }
}

/// How calls are made for the agent that sent a request, found out once, when there is a call.
pub(super) struct AgentMapping<'a> {
    calling: &'a ToolMapping,
    request: &'a Request,
    choice: OnceCell<ProfileChoice<'a>>,
}

impl<'a> AgentMapping<'a> {
    fn choice(&self) -> ProfileChoice<'a> {
        *self.choice.get_or_init(|| {
            let Self {
                calling, request, ..
            } = self;
            let endpoint = request.endpoint.as_str();
            let named = calling.agent.as_ref();
            calling.profiles.choose(&request.tools, named, endpoint)
        })
    }

    pub(super) fn profile(&self) -> Option<&'a Profile> {
        self.choice().profile
    }

    /// Whether the request or the user says which agent it is, and there is a profile for it.
    fn is_known(&self) -> bool {
        self.choice().is_told && self.profile().is_some()
    }
}

/// An answer, ready for the wire.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    pub(super) elements: Vec<Element>,
    /// What is doubtful about it.
    pub(super) warnings: Vec<Diagnostic>,
}

/// Makes the elements of an attempt.
///
/// # Errors
/// All calls that the agent can't take: T-TOOL-04 and T-LLM-03.
pub(super) fn prepare(
    script: &LlmScript,
    turn: &Turn,
    attempt: &Attempt,
    speed: Speed,
    agent: &AgentMapping<'_>,
) -> Result<Prepared, Vec<Diagnostic>> {
    let AgentMapping {
        calling, request, ..
    } = agent;
    let mut prepared = Prepared::default();
    let mut failures = Vec::new();
    let has = |is_it: fn(&TurnElement) -> bool| attempt.elements.iter().any(is_it);
    let has_calls = has(|element| element.call().is_some());
    let leaves_thinking_out = has_calls && !script.timeline.server.coalesce_thinking;
    let choice = has_calls.then(|| agent.choice());
    prepared
        .warnings
        .extend(choice.and_then(|choice| choice.diagnostic()));
    let profile = choice.and_then(|choice| choice.profile);
    if calling.is_strict
        && let Some(choice) = choice.filter(|choice| choice.is_told)
        && let Some(profile) = choice.profile
    {
        for name in profile.unknown_tools(&request.tools) {
            let message = format!(
                "the request advertises `{name}`, which is not in the profile `{}`",
                profile.title()
            );
            failures.push(
                Diagnostic::error(codes::MODEL_CALL_INVALID, message)
                    .at(&script.timeline.source, turn.span)
                    .with_help(
                        "`cuecard profile capture` creates a profile from the advertised tools",
                    ),
            );
        }
    }
    let timed = |pieces: &[Piece]| -> Vec<Piece> {
        let timed = pieces.iter().map(|piece| Piece {
            at_ms: turn.delay_of(piece.at_ms, speed),
            ..piece.clone()
        });
        timed.collect()
    };
    let mut native_names = Vec::new();
    for element in &attempt.elements {
        match element {
            TurnElement::Thinking(_) if leaves_thinking_out => {}
            TurnElement::Thinking(pieces) => {
                prepared.elements.push(Element::Thinking(timed(pieces)));
            }
            TurnElement::Text(pieces) => prepared.elements.push(Element::Text(timed(pieces))),
            TurnElement::Refusal(pieces) => prepared.elements.push(Element::Refusal(timed(pieces))),
            TurnElement::Call(call) => {
                let placed =
                    profile.and_then(|profile| profile.placed(&call.call, &calling.folder));
                let abstract_call = placed.as_ref().unwrap_or(&call.call);
                let scripted = call.scripted.as_deref();
                let is_validated = scripted.is_none_or(|call| call.is_validated);
                let has_raw = scripted.is_some_and(|call| call.raw_arguments.is_some());
                let mapped = match native_call(profile, abstract_call, &request.tools) {
                    Ok(mapped) => mapped,
                    // Made on purpose, in its own words.
                    Err(_) if !is_validated => as_written(abstract_call),
                    Err(unmapped) => {
                        let found = Diagnostic::error(codes::TOOL_UNMAPPED, unmapped.to_string());
                        failures.push(
                            at(script, call, found)
                                .with_note(choice.map_or_else(String::new, |it| it.describe()))
                                .with_note(advertised(request))
                                .with_help(
                                    "`cuecard profile capture` drafts a profile from the advertised tools",
                                ),
                        );
                        continue;
                    }
                };
                let problems = match is_validated && !has_raw {
                    true => check_call(&mapped.call, &request.tools, calling.is_strict),
                    false => Vec::new(),
                };
                for problem in problems {
                    let found = Diagnostic::error(codes::MODEL_CALL_INVALID, problem);
                    failures.push(at(script, call, found).with_note(advertised(request)));
                }
                for argument in &mapped.dropped {
                    let message = format!(
                        "`{}` does not accept the argument `{argument}`, which is dropped",
                        mapped.call.name
                    );
                    let found = Diagnostic::warning(codes::TOOL_ARGUMENT_DROPPED, message);
                    prepared.warnings.push(at(script, call, found));
                }
                native_names.push((call, mapped.call.name.clone()));
                let at_ms = turn.delay_of(call.at_ms, speed);
                let made = wire_call(call, mapped, at_ms);
                prepared.elements.push(Element::Call(made));
            }
        }
    }
    let wants_json = request.response_schema.is_some();
    let text = if wants_json {
        turn.text()
    } else {
        String::new()
    };
    let names: Vec<&str> = native_names.iter().map(|(_, name)| name.as_str()).collect();
    let answer = GivenAnswer {
        calls: &names,
        text: &text,
        is_refusal: has(|element| matches!(element, TurnElement::Refusal(_))),
    };
    // Calls and ends that are scripted as they are, and errors, obey nothing.
    let is_validated =
        |call: &TurnCall| call.scripted.as_ref().is_none_or(|call| call.is_validated);
    let is_free = turn.stop_reason != StopReasons::default() || attempt.error.is_some();
    for found in disobediences(request, answer) {
        let call = match &found {
            Disobedience::Call { call_idx, .. } => Some(native_names[*call_idx].0),
            _ => None,
        };
        let is_meant = match &found {
            Disobedience::Call { .. } => call.is_some_and(|call| !is_validated(call)),
            Disobedience::NoCall | Disobedience::NotJson(_) => has_calls || is_free,
            // One timeline is played to many agents, and those that are known take several calls though they ask for one.
            Disobedience::Parallel(_) => {
                agent.is_known() || native_names.iter().any(|(call, _)| !is_validated(call))
            }
        };
        if !is_meant {
            let found = Diagnostic::error(codes::MODEL_CALL_INVALID, found.to_string());
            failures.push(match call {
                Some(call) => at(script, call, found),
                None => found.at(&script.timeline.source, turn.span),
            });
        }
    }
    if failures.is_empty() {
        Ok(prepared)
    } else {
        Err(failures)
    }
}

fn wire_call(call: &TurnCall, mapped: Mapped, at_ms: u64) -> Call {
    let scripted = call.scripted.as_ref();
    let raw = scripted.and_then(|scripted| scripted.raw_arguments.as_ref());
    let input = match raw {
        Some(raw) => CallInput::Raw(raw.clone()),
        None => match &*mapped.call.args {
            Json::String(text) => CallInput::Text(text.clone()),
            _ => CallInput::Arguments(mapped.call.args),
        },
    };
    Call {
        id: call.id.clone(),
        name: mapped.call.name,
        namespace: mapped.namespace,
        input,
        at_ms,
    }
}

/// A call as its author wrote it.
fn as_written(call: &AbstractCall) -> Mapped {
    let (tool, args) = match &call.written {
        Some(written) => (&written.tool, &written.args),
        None => (&call.tool, &call.args),
    };
    Mapped {
        call: NativeCall {
            name: tool.clone(),
            args: args.clone(),
        },
        namespace: None,
        dropped: Vec::new(),
    }
}

fn at(script: &LlmScript, call: &TurnCall, diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.at(&script.timeline.source, call.call.span)
}

fn advertised(request: &Request) -> String {
    const SHOWN: usize = 30;
    if request.tools.is_empty() {
        return "the request advertises no tools".to_owned();
    }
    let names: Vec<String> = request
        .tools
        .iter()
        .take(SHOWN)
        .map(|tool| format!("`{}`", cuecard_source::value::cut(&tool.name, 60)))
        .collect();
    let more = request.tools.len().saturating_sub(SHOWN);
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("the request advertises {}{more}", names.join(", "))
}

/// What is different about the calls `held` in a history, which were made in an answer with these `elements`; one
/// sentence each.
pub(super) fn changed(
    elements: &[Element],
    held: &[&RequestedCall],
    profile: Option<&Profile>,
) -> Vec<String> {
    let made: Vec<&Call> = elements.iter().filter_map(Element::call).collect();
    // Where the wire has no ids, calls are known by their place.
    let idx_of = |(place, held): (usize, &&RequestedCall)| match held.id.as_str() {
        "" => Some(place),
        id => made.iter().position(|call| call.id == id),
    };
    let places: Vec<Option<usize>> = held.iter().enumerate().map(idx_of).collect();
    let mut changed = Vec::new();
    for (held, place) in held.iter().zip(&places) {
        let Some(made) = place.and_then(|idx| made.get(idx)) else {
            continue;
        };
        let is_same_object = |args: &Json| {
            let without_own =
                profile.map(|profile| profile.without_filled_in(&held.name, args, &held.args));
            is_same_json(args, without_own.as_ref().unwrap_or(&held.args))
        };
        let (is_same, args) = match &made.input {
            CallInput::Arguments(args) => (is_same_object(args), args.to_string()),
            CallInput::Text(text) => (held.args == text.as_str(), text.clone()),
            // Of what is no object, a client may have made anything.
            CallInput::Raw(text) => {
                let args = read_value(text).ok().filter(Json::is_object);
                (args.is_none_or(|args| is_same_object(&args)), text.clone())
            }
        };
        if held.name != made.name || !is_same {
            changed.push(format!(
                "`{}` was `{}` {}, and is `{}` {}",
                made.id,
                made.name,
                cut(&args, 200),
                cut(&held.name, 60),
                cut(&held.args.to_string(), 200)
            ));
        }
    }
    if !places.is_sorted() {
        let ids: Vec<&str> = held.iter().map(|call| call.id.as_str()).collect();
        changed.push(format!("the calls are in the order {}", ids.join(", ")));
    }
    if held.len() < made.len() {
        changed.push(format!("{} of {} calls are left", held.len(), made.len()));
    }
    changed
}

/// When the last element is complete, in milliseconds.
pub(super) fn ends_at(elements: &[Element]) -> u64 {
    let times = elements.iter().flat_map(|element| {
        let pieces = element.pieces().iter().map(|piece| piece.at_ms);
        pieces.chain(element.call().map(|call| call.at_ms))
    });
    times.max().unwrap_or(0)
}

/// The ids of the calls, in order.
pub(super) fn call_ids(elements: &[Element]) -> impl Iterator<Item = String> {
    let calls = elements.iter().filter_map(Element::call);
    calls.map(|call| call.id.clone())
}

/// An answer that is only a text, at once.
pub(super) fn text(text: impl Into<Arc<str>>) -> Vec<Element> {
    vec![Element::Text(vec![Piece {
        text: text.into(),
        ..Piece::default()
    }])]
}

/// An answer in a few words: `text + 2 calls`.
pub(super) fn describe(elements: &[Element]) -> String {
    let count = |is: fn(&Element) -> bool| elements.iter().filter(|element| is(element)).count();
    let thinking = count(|element| matches!(element, Element::Thinking(_)));
    let text = count(|element| matches!(element, Element::Text(_)));
    let calls = count(|element| matches!(element, Element::Call(_)));
    let mut parts = Vec::new();
    if thinking > 0 {
        parts.push("thinking".to_owned());
    }
    if text > 0 {
        parts.push("text".to_owned());
    }
    if count(|element| matches!(element, Element::Refusal(_))) > 0 {
        parts.push("a refusal".to_owned());
    }
    match calls {
        0 => {}
        1 => parts.push("1 call".to_owned()),
        more => parts.push(format!("{more} calls")),
    }
    if parts.is_empty() {
        parts.push("an empty message".to_owned());
    }
    parts.join(" + ")
}
