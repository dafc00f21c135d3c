//! Agents that ask for permission in all ways, honest ones and others.

use serde_json::json;

use super::lies::{Action, found_with, script};
use super::*;

/// A call of the script, and how the agent asks for it.
#[derive(Debug, Clone)]
struct Asked {
    kind: u8,
    word: u8,
    permission: Permission,
    /// Whether the request of the script names the call by its id.
    is_named: bool,
    /// Whether the request of the agent says no more than an id.
    is_bare: bool,
    /// Whether the agent tells of the call under another id than it asked for.
    has_new_id: bool,
    /// Whether the agent tells of a call that was refused.
    is_told: bool,
    /// Whether the user allows it always, or cancels the request in place of a refusal.
    is_other: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Permission {
    None,
    Granted,
    /// The script has the failed call.
    Refused,
    /// The script has only the request.
    RefusedAlone,
}

/// When the agent tells of its calls.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Opening {
    TellsFirst,
    AsksFirst,
    AsksFirstWithTitle,
}

/// How the agent does something else than it asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lie {
    DoesWhatWasRefused,
    DoesWhatWasRefusedUnderAnotherId,
    WritesWhatWasRefused,
    AsksForSomethingElse,
    AsksForAnotherCall,
    AsksTwice,
    AsksNever,
    AsksLate,
}

const LIES: [Lie; 8] = [
    Lie::DoesWhatWasRefused,
    Lie::DoesWhatWasRefusedUnderAnotherId,
    Lie::WritesWhatWasRefused,
    Lie::AsksForSomethingElse,
    Lie::AsksForAnotherCall,
    Lie::AsksTwice,
    Lie::AsksNever,
    Lie::AsksLate,
];

impl Asked {
    fn is_refused(&self) -> bool {
        matches!(
            self.permission,
            Permission::Refused | Permission::RefusedAlone
        )
    }

    fn kind(&self) -> &'static str {
        ["edit", "execute", "search"][usize::from(self.kind)]
    }

    fn input(&self) -> Json {
        let word = self.word;
        match self.kind {
            0 => json!({"path": format!("new{word}.txt"), "content": format!("{word}\n")}),
            1 => json!({"cmd": format!("run {word}")}),
            _ => json!({"pattern": format!("word{word}"), "path": "."}),
        }
    }

    fn event(&self, idx: usize) -> String {
        let tool = ["writeFile", "runCmd", "grep"][usize::from(self.kind)];
        let status = if self.is_refused() { "error" } else { "ok" };
        let input = self.input();
        format!("  - {tool}: {input}\n    toolCallId: k{idx}\n    status: {status}\n")
    }

    fn request(&self, idx: usize) -> String {
        let call = match self.permission {
            Permission::RefusedAlone => json!({"kind": self.kind(), "rawInput": self.input()}),
            _ if self.is_named => json!({"toolCallId": format!("k{idx}")}),
            _ => json!({"kind": self.kind()}),
        };
        let selected = |id: &str| json!({"outcome": "selected", "optionId": id});
        let decision = match (self.is_refused(), self.is_other) {
            (false, false) => selected("y"),
            (false, true) => selected("a"),
            (true, false) => selected("n"),
            (true, true) => json!({"outcome": "cancelled"}),
        };
        format!(
            "  - agentPermissionRequest: {{toolCall: {call}, options: [{{id: y, label: Y, kind: allow_once}}, {{id: a, label: A, kind: allow_always}}, {{id: n, label: N, kind: reject_once}}], decision: {decision}}}\n"
        )
    }

    /// Whether the request of the agent need not say what it is for: its id does, since the script names the call, or the
    /// agent tells of it.
    fn may_be_bare(&self, opening: Opening) -> bool {
        let is_told = opening == Opening::TellsFirst;
        let is_known = match self.permission {
            Permission::RefusedAlone => self.is_told,
            _ => self.is_named,
        };
        self.is_bare && (is_told || !self.has_new_id && is_known)
    }
}

fn ask(call: Json) -> Action {
    let options = json!([
        {"optionId": "y", "name": "Y", "kind": "allow_once"},
        {"optionId": "a", "name": "A", "kind": "allow_always"},
        {"optionId": "n", "name": "N", "kind": "reject_once"},
    ]);
    let params = json!({"toolCall": call, "options": options});
    Action::Ask("session/request_permission", params)
}

/// The script, and what an agent does that lies about the call `liar`, or doesn't lie. A script `at_once` has all
/// requests before all calls.
fn played(
    calls: &[Asked],
    (opening, at_once): (Opening, bool),
    lie: Option<(Lie, usize)>,
) -> (String, Vec<Action>) {
    let (mut requests, mut ends) = (Vec::new(), Vec::new());
    for (idx, call) in calls.iter().enumerate() {
        let lie = lie.filter(|(_, liar)| *liar == idx).map(|(lie, _)| lie);
        let is_asked = call.permission != Permission::None;
        let mut event = (String::new(), String::new());
        if is_asked {
            event.0 = call.request(idx);
        }
        if call.permission != Permission::RefusedAlone {
            event.1 = call.event(idx);
        }
        let id = format!("c{idx}");
        let told = |id: &str, status: &str| {
            json!({
                "sessionUpdate": "tool_call", "toolCallId": id, "title": "Call", "kind": call.kind(),
                "status": status, "rawInput": call.input(),
            })
        };
        let mut request = json!({"toolCallId": id});
        let is_first = opening == Opening::TellsFirst;
        if !call.may_be_bare(opening) {
            request["kind"] = json!(call.kind());
            request["rawInput"] = call.input();
        }
        if opening == Opening::AsksFirstWithTitle {
            request["title"] = json!("May I?");
        }
        match lie {
            Some(Lie::AsksForSomethingElse) => {
                request["kind"] = json!(call.kind());
                request["rawInput"] = json!({"path": "else", "cmd": "else", "pattern": "else"});
            }
            Some(Lie::AsksForAnotherCall) => request["toolCallId"] = json!("other"),
            _ => {}
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        if is_first {
            before.push(Action::Tell(told(&id, "pending")));
        }
        if is_asked && !matches!(lie, Some(Lie::AsksNever | Lie::AsksLate)) {
            before.push(ask(request.clone()));
            before.extend((lie == Some(Lie::AsksTwice)).then(|| ask(request.clone())));
        }
        let is_done = match lie {
            Some(Lie::DoesWhatWasRefused | Lie::DoesWhatWasRefusedUnderAnotherId) => true,
            _ => !call.is_refused(),
        };
        if call.kind == 0 && (is_done || lie == Some(Lie::WritesWhatWasRefused)) {
            let path = ["new0.txt", "new1.txt", "new2.txt"][usize::from(call.word)];
            after.push(Action::Write(path, format!("{}\n", call.word)));
        }
        let status = if is_done { "completed" } else { "failed" };
        let has_new_id = match is_first {
            // It leaves the first one open.
            true => call.has_new_id && call.is_refused() && lie.is_none(),
            false => call.has_new_id && is_asked && !call.may_be_bare(opening),
        };
        let id = match has_new_id || lie == Some(Lie::DoesWhatWasRefusedUnderAnotherId) {
            true => format!("d{idx}"),
            false => id,
        };
        if is_done || call.is_told {
            let update = match is_first && id.starts_with('c') {
                true => json!({
                    "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status,
                }),
                false => told(&id, status),
            };
            after.push(Action::Tell(update));
        }
        after.extend((lie == Some(Lie::AsksLate)).then(|| ask(request)));
        requests.push((event.0, before));
        ends.push((event.1, after));
    }
    let mut parts: Vec<(String, Vec<Action>)> = Vec::new();
    match at_once {
        true => parts.extend(requests.into_iter().chain(ends)),
        false => {
            for (request, end) in requests.into_iter().zip(ends) {
                parts.extend([request, end]);
            }
        }
    }
    let events: String = parts.iter().map(|(event, _)| event.as_str()).collect();
    let mut actions: Vec<Action> = parts.into_iter().flat_map(|(_, actions)| actions).collect();
    if matches!(lie, Some((Lie::AsksForAnotherCall, _))) {
        // A call that nobody scripted has this id.
        actions.insert(0, Action::Tell(other_call()));
    }
    (script(&events), actions)
}

/// A call that the user refused in the first place.
fn other_call() -> Json {
    json!({
        "sessionUpdate": "tool_call", "toolCallId": "other", "title": "Other", "kind": "delete",
        "status": "pending", "rawInput": {"path": "everything"},
    })
}

prop_compose! {
    fn asked()(
        kind in 0..3_u8, word in 0..3_u8, permission in 0..4_usize,
        (is_named, is_bare, has_new_id, is_told, is_other) in any::<(bool, bool, bool, bool, bool)>(),
    ) -> Asked {
        let permission = [
            Permission::None, Permission::Granted, Permission::Refused, Permission::RefusedAlone,
        ][permission];
        Asked { kind, word, permission, is_named, is_bare, has_new_id, is_told, is_other }
    }
}

/// Whether a lie about a call can't be told from the truth, or is none.
fn is_hidden(lie: Lie, call: &Asked, calls: &[Asked]) -> bool {
    match lie {
        Lie::DoesWhatWasRefused | Lie::DoesWhatWasRefusedUnderAnotherId => !call.is_refused(),
        // A command may have written it.
        Lie::WritesWhatWasRefused => {
            let runs = |call: &Asked| call.kind == 1;
            let writes =
                |other: &Asked| other.kind == 0 && other.word == call.word && !other.is_refused();
            !call.is_refused()
                || call.kind != 0
                || calls.iter().any(|call| runs(call) || writes(call))
        }
        Lie::AsksLate => call.permission != Permission::Granted,
        // The script says no more of its request than that of another one which it refuses alone.
        Lie::AsksForSomethingElse if call.permission == Permission::Refused && !call.is_named => {
            calls.iter().any(|other| {
                other.permission == Permission::RefusedAlone
                    && (other.kind, other.word) == (call.kind, call.word)
            })
        }
        _ => call.permission == Permission::None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whoever_asks_for_what_it_does_passes_and_nobody_else(
        calls in proptest::collection::vec(asked(), 1..5),
        opening in 0..3_usize,
        at_once in any::<bool>(),
        liar in any::<prop::sample::Index>(),
        lie in 0..LIES.len(),
    ) {
        let openings = [Opening::TellsFirst, Opening::AsksFirst, Opening::AsksFirstWithTitle];
        // Calls are told in the order of the script: those that are told by their request, too.
        let at_once = at_once && opening < 2;
        let how = (openings[opening], at_once);
        let mut calls = calls;
        let unasked: Vec<u8> = calls
            .iter()
            .filter(|call| call.permission == Permission::None)
            .map(|call| call.kind)
            .collect();
        // A request above several calls names its own if another one fits.
        for call in calls.iter_mut().filter(|call| at_once && unasked.contains(&call.kind)) {
            call.is_named = true;
        }
        let (script, actions) = played(&calls, how, None);
        let found = runs(found_with(&script, actions.clone()));
        prop_assert_eq!(&found, "", "{}\n{:#?}", script, actions);
        let (lie, liar) = (LIES[lie], liar.index(calls.len()));
        if is_hidden(lie, &calls[liar], &calls) {
            return Ok(());
        }
        let (script, actions) = played(&calls, how, Some((lie, liar)));
        let found = runs(found_with(&script, actions.clone()));
        prop_assert!(!found.is_empty(), "{:?} {}\n{}\n{:#?}", lie, liar, script, actions);
    }
}
