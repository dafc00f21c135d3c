//! The requests for permission of a turn, and the calls that they are for: of the script, and of the agent. Does no I/O.

use cuecard_source::diagnostic::codes;
use cuecard_source::matching::is_same_json;
use cuecard_source::value::Json;
use cuecard_timeline::model::ToolStatus;

use super::compare::{Compared, Comparing, Difference, permission_difference, told};
use super::effects::asked_late;
use super::expected::{ExpectedItem, Wanted};
use super::seen::{Came, SeenCall, SeenItem};
use crate::script::matching::{call_mismatch, is_refusal};

/// The requests that an agent sent in a turn.
#[derive(Debug, Default)]
pub(super) struct Requests {
    all: Vec<Request>,
}

/// A request that an agent sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// Which item it is.
    came_idx: usize,
    /// The scripted request that was answered.
    wanted_idx: Option<usize>,
    /// The scripted call that this is for.
    pub(super) target_idx: Option<usize>,
    /// The call that the agent told of under its id; else the refused one that it told of in the same words.
    call_idx: Option<usize>,
    /// The same call under another id: the user refused it, and the agent left the first one open.
    again_idx: Option<usize>,
    pub(super) is_refused: bool,
}

impl Requests {
    pub(super) fn new(expected: &[ExpectedItem<'_>], seen: &[SeenItem], folder: &str) -> Self {
        let call_at = |idx: usize| match &seen[idx].came {
            Came::Call(call) if !call.is_only_asked => Some(call),
            _ => None,
        };
        let mut all: Vec<Request> = Vec::new();
        for (came_idx, item) in seen.iter().enumerate() {
            let Came::Permission {
                params,
                outcome,
                scripted,
                ..
            } = &item.came
            else {
                continue;
            };
            let event_idx = scripted.as_ref().ok();
            let wanted_idx = event_idx.and_then(|event_idx| {
                let is_it = |item: &ExpectedItem<'_>| {
                    item.event_idx == *event_idx && matches!(item.wanted, Wanted::Permission(..))
                };
                expected.iter().position(is_it)
            });
            let asked = &params["toolCall"];
            let has_id =
                |idx: &usize| call_at(*idx).is_some_and(|call| asked["toolCallId"] == call.id);
            all.push(Request {
                came_idx,
                wanted_idx,
                target_idx: wanted_idx.and_then(|idx| target_of(expected, idx)),
                call_idx: (0..seen.len()).find(has_id),
                again_idx: None,
                is_refused: is_refused(params, outcome),
            });
        }
        // A refused call need not be in the script. One that is there is that of the last request which it fits.
        for idx in (0..all.len()).rev() {
            let request = all[idx];
            let (Some(wanted_idx), None) = (request.wanted_idx, request.target_idx) else {
                continue;
            };
            let (Wanted::Permission(scripted, _), Came::Permission { params, .. }) =
                (&expected[wanted_idx].wanted, &seen[request.came_idx].came)
            else {
                continue;
            };
            if !is_refusal(scripted) {
                continue;
            }
            let told = request.call_idx.and_then(call_at).map(|call| &call.now);
            // Its title is that of the call, once this was told.
            let asked = match told {
                Some(_) => without_title(&params["toolCall"]),
                None => params["toolCall"].clone(),
            };
            let scripted = without_title(&scripted.tool_call);
            let is_it = |idx: &usize| {
                let is_taken = all.iter().any(|other| other.target_idx == Some(*idx))
                    || (0..expected.len()).any(|other| target_of(expected, other) == Some(*idx));
                let wanted = &expected[*idx].wanted;
                let fits = |described: &Json| fits(wanted, described, folder);
                !is_taken
                    && is_to_fail(wanted)
                    && fits(&scripted)
                    && fits(&asked)
                    && told.is_none_or(fits)
            };
            all[idx].target_idx = (wanted_idx..expected.len()).find(is_it);
        }
        // A refused call may be told of under another id. Among equal ones, the earlier may never be told of.
        for (idx, item) in seen.iter().enumerate().rev() {
            let Some(call) = call_at(idx).filter(|call| call.status() != "completed") else {
                continue;
            };
            let is_named = all.iter().any(|request| request.call_idx == Some(idx));
            let is_its = |request: &&mut Request| {
                let told = request.call_idx.and_then(call_at);
                let is_left_open = told.is_none_or(|told| told.ended.is_none());
                let is_open = request.is_refused && is_left_open && request.again_idx.is_none();
                let is_behind = seen[request.came_idx].first <= item.first;
                let Came::Permission { params, .. } = &seen[request.came_idx].came else {
                    return false;
                };
                let asked = with_told(params, request.call_idx.map(|idx| &seen[idx].came));
                let target = request.target_idx.map(|idx| &expected[idx].wanted);
                let is_target = || target.is_some_and(|target| fits(target, &call.now, folder));
                is_open && is_behind && (is_same_call(&asked["toolCall"], call) || is_target())
            };
            if let Some(request) = all.iter_mut().rev().find(is_its).filter(|_| !is_named) {
                match request.call_idx {
                    None => request.call_idx = Some(idx),
                    Some(_) => request.again_idx = Some(idx),
                }
            }
        }
        Self { all }
    }

    /// The last request for a call that the agent told of.
    pub(super) fn of_call(&self, came_idx: usize) -> Option<&Request> {
        let mut last_first = self.all.iter().rev();
        last_first.find(|request| [request.call_idx, request.again_idx].contains(&Some(came_idx)))
    }

    /// The requests for a scripted call: which items they are in the script, and of the agent's.
    pub(super) fn for_target(&self, target_idx: usize) -> impl Iterator<Item = (usize, usize)> {
        let of_target = move |request: &&Request| request.target_idx == Some(target_idx);
        self.all
            .iter()
            .filter(of_target)
            .filter_map(|request| Some((request.wanted_idx?, request.came_idx)))
    }

    /// Whether the user refused a call that the script expects to fail: the agent need not tell of it.
    pub(super) fn may_be_untold(&self, expected: &[ExpectedItem<'_>], wanted_idx: usize) -> bool {
        let mut last_first = self.all.iter().rev();
        let last = last_first.find(|request| request.target_idx == Some(wanted_idx));
        last.is_some_and(|request| request.is_refused) && is_to_fail(&expected[wanted_idx].wanted)
    }
}

impl Comparing<'_> {
    /// Pairs the requests with those of the script, and compares the calls that both are for.
    pub(super) fn requests(
        &self,
        requests: &Requests,
        expected: &[ExpectedItem<'_>],
        seen: &[SeenItem],
        compared: &mut Compared,
    ) {
        for idx in described_calls(expected, self.folder) {
            let is_called = compared.pairs.iter().any(|(wanted, _)| *wanted == idx);
            if is_called && requests.for_target(idx).next().is_none() {
                let message = "the agent did not ask for permission for this call";
                let found = Difference::new(codes::ACP_MISSING, message);
                compared.differences.push(found.at(expected[idx].event_idx));
            }
        }
        for request in &requests.all {
            let Some(wanted_idx) = request.wanted_idx else {
                continue;
            };
            compared.pairs.push((wanted_idx, request.came_idx));
            let item = &expected[wanted_idx];
            let (
                Wanted::Permission(wanted, _),
                Came::Permission {
                    params, is_done, ..
                },
            ) = (&item.wanted, &seen[request.came_idx].came)
            else {
                continue;
            };
            let differs = match is_done {
                true => Some(asked_late()),
                false => {
                    let told = request.call_idx.map(|idx| &seen[idx].came);
                    permission_difference(wanted, &with_told(params, told))
                }
            };
            compared.keep(item, differs);
            let of_call = request.call_idx.and_then(|came_idx| {
                let mut pairs = compared.pairs.iter();
                let pair = pairs.find(|(_, came)| *came == came_idx)?;
                Some((pair.0, came_idx))
            });
            let Some((of_call, came_idx)) = of_call else {
                let asked = &params["toolCall"];
                let says_nothing = says_nothing(asked) && asked["title"].is_null();
                let mut pairs = compared.pairs.iter();
                let is_called = pairs.any(|(idx, _)| Some(*idx) == request.target_idx);
                if request.call_idx.is_none() && says_nothing && is_called {
                    let message = "the request for permission does not say which call it is for";
                    let mut doubt = Difference::new(codes::ACP_CONTENT, message).at(item.event_idx);
                    doubt.is_doubt = true;
                    compared.differences.push(doubt);
                }
                continue;
            };
            if Some(of_call) == request.target_idx {
                continue;
            }
            let call = &seen[came_idx].came;
            let is_completed = matches!(call, Came::Call(call) if call.status() == "completed");
            let message = match (is_refusal(wanted), request.target_idx) {
                (true, _) if is_completed => "the agent did what it was not allowed to do",
                (_, Some(_)) => "the agent asked for permission for another call",
                (_, None) => continue,
            };
            let found = Difference::new(codes::ACP_UNEXPECTED, message).at(item.event_idx);
            compared
                .differences
                .push(found.noting(format!("its request names {}", told(call))));
        }
    }
}

/// The calls that the script has for its refused requests that do not name them, but describe them.
fn described_calls(expected: &[ExpectedItem<'_>], folder: &str) -> Vec<usize> {
    let mut calls = Vec::new();
    for (wanted_idx, item) in expected.iter().enumerate() {
        let Wanted::Permission(request, None) = &item.wanted else {
            continue;
        };
        let scripted = without_title(&request.tool_call);
        if !is_refusal(request) || says_nothing(&scripted) {
            continue;
        }
        let is_it = |idx: &usize| {
            let wanted = &expected[*idx].wanted;
            !calls.contains(idx) && is_to_fail(wanted) && fits(wanted, &scripted, folder)
        };
        calls.extend((wanted_idx..expected.len()).find(is_it));
    }
    calls
}

/// The item that a scripted request is for.
fn target_of(expected: &[ExpectedItem<'_>], wanted_idx: usize) -> Option<usize> {
    let Wanted::Permission(_, event_idx) = &expected[wanted_idx].wanted else {
        return None;
    };
    let is_call =
        |item: &ExpectedItem<'_>| matches!(item.wanted, Wanted::Call(..) | Wanted::Edit(_));
    let mut items = expected.iter();
    items.position(|item| Some(item.event_idx) == *event_idx && is_call(item))
}

/// Whether nothing but a title says what a call does.
fn says_nothing(described: &Json) -> bool {
    ["kind", "rawInput", "locations", "content"]
        .iter()
        .all(|key| described[*key].is_null())
}

fn without_title(described: &Json) -> Json {
    let mut described = described.clone();
    if let Some(members) = described.as_object_mut() {
        members.remove("title");
    }
    described
}

/// A request with what it leaves out of the call that the agent told of: a request is an update of that.
fn with_told(params: &Json, told: Option<&Came>) -> Json {
    let mut whole = params.clone();
    if let Some(Came::Call(call)) = told {
        for key in ["kind", "rawInput", "locations", "content"] {
            if whole["toolCall"].is_object() && whole["toolCall"][key].is_null() {
                whole["toolCall"][key] = call.now[key].clone();
            }
        }
    }
    whole
}

/// Whether the user did not select an option that allows it.
fn is_refused(params: &Json, outcome: &Json) -> bool {
    let mut options = params["options"].as_array().into_iter().flatten();
    let is_rejected = options.any(|option| {
        let kind = option["kind"].as_str().unwrap_or_default();
        option["optionId"] == outcome["optionId"] && kind.starts_with("reject")
    });
    is_rejected || outcome["outcome"] == "cancelled"
}

pub(super) fn is_to_fail(wanted: &Wanted<'_>) -> bool {
    matches!(wanted, Wanted::Call(call, _) if call.status == ToolStatus::Error)
}

/// Whether a call that is described so can be the scripted one.
pub(super) fn fits(wanted: &Wanted<'_>, described: &Json, folder: &str) -> bool {
    matches!(wanted, Wanted::Call(call, _) if call_mismatch(call, described, folder).is_none())
}

/// Whether a request and a call say the same.
fn is_same_call(asked: &Json, call: &SeenCall) -> bool {
    let is_said = |key: &&&str| !asked[**key].is_null() && !call.now[**key].is_null();
    let is_same = |key: &str| is_same_json(&asked[key], &call.now[key]);
    let mut said = ["kind", "rawInput", "locations"].iter().filter(is_said);
    let tells_apart = ["title", "rawInput", "locations"];
    said.all(|key| is_same(key)) && tells_apart.iter().filter(is_said).any(|key| is_same(key))
}
