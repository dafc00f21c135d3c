//! The elements of pages that calls acted on: what a browser's server knew them by lives for one snapshot only.

use std::collections::HashSet;

use cuecard_page::{Snapshot, Wanted, is_role};
use serde_json::{Map, Value, json};

use super::Note;
use super::fields::snapshot_in;
use super::tidy::Kept;
use super::values::each_leaf_at;

/// How the names of parameters end that name an element.
const ENDINGS: &[&str] = &["uid", "ref", "target"];

/// The first of the elements that a script of chrome-devtools-mcp gets.
const FIRST_ARGUMENT: &str = "args[0]";

/// An element that a call acted on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundTarget {
    /// The parameter, as `targets` names it; empty for the tool's own, which is `target`.
    pub(super) parameter: String,
    /// Where it stands in the arguments, as a JSON pointer. The key is a plain one.
    pointer: String,
    /// How it is found again; nothing if no snapshot tells.
    pub(super) wanted: Option<Value>,
    /// What can't be told.
    pub(super) question: Option<String>,
}

/// Finds the elements of all calls, and leaves out the calls that only gave the snapshots for it.
pub(super) fn find(kept: &mut Vec<Kept<'_>>) -> Vec<Note> {
    let mut looks = HashSet::new();
    // The snapshots so far, with the calls that gave them: those of a session are few megabytes at most.
    let mut snapshots: Vec<(usize, Option<String>, Snapshot)> = Vec::new();
    for (idx, kept) in kept.iter_mut().enumerate() {
        let call = kept.call;
        let of_server = |server: &Option<String>| *server == call.server && server.is_some();
        if snapshots.iter().any(|(_, server, _)| of_server(server)) {
            each_leaf_at(&json!(call.arguments), &mut |path, id| {
                let Some((parameter, id)) = parameter(&path.to_string()).zip(id.as_str()) else {
                    return;
                };
                let of_page = snapshots.iter().rev();
                let mut holding = of_page.filter(|(_, server, snapshot)| {
                    of_server(server) && snapshot.by_id(id).is_some()
                });
                let holding = holding.next();
                looks.extend(holding.map(|(look, _, _)| *look));
                let snapshot = holding.map(|(_, _, snapshot)| snapshot);
                kept.targets
                    .extend(target(parameter, &path.pointer, id, snapshot));
            });
        }
        if call.server.is_some()
            && let Some(snapshot) = snapshot_in(&kept.text)
            && !snapshot.elements.is_empty()
        {
            snapshots.push((idx, call.server.clone(), snapshot));
        }
    }
    let all = std::mem::take(kept).into_iter().enumerate();
    let only_looks = |(idx, kept): &(usize, Kept<'_>)| {
        looks.contains(idx) && kept.call.tool.ends_with("snapshot")
    };
    let (gone, left): (Vec<_>, Vec<_>) = all.partition(only_looks);
    *kept = left.into_iter().map(|(_, kept)| kept).collect();
    let why = "it gave the ids of elements, which the player looks up itself";
    gone.iter()
        .map(|(_, look)| look.note(why.to_owned()))
        .collect()
}

/// The parameter at a path that may name an element, as `targets` write it; empty for a tool's own.
fn parameter(path: &str) -> Option<String> {
    let way = path.strip_prefix("$.").filter(|way| !way.contains('\''))?;
    let key = way.rsplit('.').next()?;
    match way {
        FIRST_ARGUMENT => Some(String::new()),
        way if ENDINGS.contains(&way) => Some(String::new()),
        way => (names_element(key) && !key.ends_with(']')).then(|| way.to_owned()),
    }
}

/// Whether a parameter may name an element, by its own name.
pub(super) fn names_element(parameter: &str) -> bool {
    let parameter = parameter.to_lowercase();
    ENDINGS.iter().any(|ending| parameter.ends_with(ending))
}

/// The target of a parameter; nothing if it is none by its looks: a selector is no id.
fn target(
    parameter: String,
    pointer: &str,
    id: &str,
    snapshot: Option<&Snapshot>,
) -> Option<FoundTarget> {
    let lasts = |wanted: &Wanted| {
        let within = wanted
            .within
            .as_ref()
            .and_then(|around| around.role.as_ref());
        wanted.role.iter().chain(within).all(|role| is_role(role))
    };
    let wanted = snapshot
        .and_then(|snapshot| snapshot.lasting(id))
        .filter(lasts);
    let looks_like_id = id.len() < 16
        && id.bytes().any(|byte| byte.is_ascii_digit())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let question = match (&wanted, snapshot) {
        (None, None) if !looks_like_id => return None,
        (None, None) => Some(format!(
            "no snapshot before it has the element `{id}`: give the step a `target`"
        )),
        (None, Some(_)) => Some(format!(
            "the element `{id}` has nothing by which it is found again: give the step a `target`"
        )),
        (Some(wanted), _) => wanted.nth.map(|nth| {
            format!(
                "several elements were alike, and this is number {nth} of them: what tells it from the others?"
            )
        }),
    };
    Some(FoundTarget {
        parameter,
        pointer: pointer.to_owned(),
        wanted: wanted.map(|wanted| wanted.to_json()),
        question,
    })
}

/// Takes out of the arguments what the server knew the elements by.
pub(super) fn remove(arguments: &mut Map<String, Value>, targets: &[FoundTarget]) {
    let mut whole = Value::Object(std::mem::take(arguments));
    // The last first, so that the items before it stay where they are.
    for target in targets
        .iter()
        .rev()
        .filter(|target| target.wanted.is_some())
    {
        let (parent, key) = target.pointer.rsplit_once('/').unwrap_or_default();
        match whole.pointer_mut(parent) {
            Some(Value::Object(members)) => {
                members.shift_remove(key);
            }
            Some(Value::Array(items)) => {
                items.remove(key.parse().unwrap_or(0));
            }
            _ => {}
        }
    }
    if let Value::Object(rest) = whole {
        *arguments = rest;
    }
}
