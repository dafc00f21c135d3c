//! The elements of pages that calls acted on: what a browser's server knew them by lives for one snapshot only.

use cuecard_page::{Snapshot, Wanted, is_role};
use serde_json::{Map, Value};

use super::tidy::Kept;

/// How the names of parameters end that name an element.
const ENDINGS: &[&str] = &["uid", "ref", "target"];

/// The list of elements that a script of chrome-devtools-mcp gets.
const ARGUMENTS: &str = "args";

/// An element that a call acted on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundTarget {
    /// The parameter, as `targets` names it; empty for the tool's own, which is `target`.
    pub(super) parameter: String,
    /// How it is found again; nothing if no snapshot tells.
    pub(super) wanted: Option<Value>,
    /// What can't be told.
    pub(super) question: Option<String>,
}

/// A step of the way to a parameter.
#[derive(Clone)]
enum Part {
    Key(String),
    Index(usize),
}

/// Finds the elements of all calls, and says which calls only gave the snapshots for it.
pub(super) fn find(kept: &mut [Kept<'_>]) -> Vec<usize> {
    let mut looks = Vec::new();
    // The snapshots so far, with the calls that gave them: those of a session are few megabytes at most.
    let mut snapshots: Vec<(usize, Option<String>, Snapshot)> = Vec::new();
    for (idx, kept) in kept.iter_mut().enumerate() {
        let call = kept.call;
        let mut found = Vec::new();
        let mut ids = Vec::new();
        collect(
            &Value::Object(call.arguments.clone()),
            &mut Vec::new(),
            &mut ids,
        );
        let of_server = |server: &Option<String>| *server == call.server && server.is_some();
        let is_browser = snapshots.iter().any(|(_, server, _)| of_server(server));
        for (way, id) in ids.into_iter().filter(|_| is_browser) {
            let of_page = snapshots
                .iter()
                .rev()
                .filter(|(_, server, _)| of_server(server));
            let mut holding = of_page.filter(|(_, _, snapshot)| snapshot.by_id(&id).is_some());
            let snapshot = holding.next();
            looks.extend(snapshot.map(|(look, _, _)| *look));
            found.extend(target(&way, &id, snapshot.map(|(_, _, snapshot)| snapshot)));
        }
        kept.targets = found;
        let text = &kept.text;
        let may_be = call.server.is_some() && (text.contains("uid=") || text.contains("[ref="));
        if let Some(snapshot) = may_be.then(|| Snapshot::read(text).ok()).flatten()
            && !snapshot.elements.is_empty()
        {
            snapshots.push((idx, call.server.clone(), snapshot));
        }
    }
    looks.retain(|look| kept[*look].call.tool.ends_with("snapshot"));
    looks.sort_unstable();
    looks.dedup();
    looks
}

/// The texts that may name an element, with the ways to them.
fn collect(value: &Value, way: &mut Vec<Part>, ids: &mut Vec<(Vec<Part>, String)>) {
    let mut below = |part: Part, value: &Value| {
        way.push(part);
        collect(value, way, ids);
        way.pop();
    };
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                below(Part::Key(key.clone()), value);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                below(Part::Index(index), item);
            }
        }
        Value::String(id) => {
            let is_named = match way.as_slice() {
                [Part::Key(list), Part::Index(0)] => list == ARGUMENTS,
                [.., Part::Key(key)] => names_element(key),
                _ => false,
            };
            let is_plain = |part: &Part| match part {
                Part::Key(key) => key
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
                Part::Index(_) => true,
            };
            if is_named && way.iter().all(is_plain) {
                ids.push((way.clone(), id.clone()));
            }
        }
        _ => {}
    }
}

/// Whether a parameter may name an element, by its own name.
pub(super) fn names_element(parameter: &str) -> bool {
    let parameter = parameter.to_lowercase();
    ENDINGS.iter().any(|ending| parameter.ends_with(ending))
}

/// The target of a parameter; nothing if it is none by its looks: a selector is no id.
fn target(way: &[Part], id: &str, snapshot: Option<&Snapshot>) -> Option<FoundTarget> {
    let parameter = parameter(way);
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
        wanted: wanted.map(|wanted| wanted.to_json()),
        question,
    })
}

/// A way as `targets` write it; empty for a tool's own parameter.
fn parameter(way: &[Part]) -> String {
    match way {
        [Part::Key(key)] if ENDINGS.contains(&key.as_str()) => return String::new(),
        [Part::Key(list), Part::Index(0)] if list == ARGUMENTS => return String::new(),
        _ => {}
    }
    let mut written = String::new();
    for part in way {
        match part {
            Part::Key(key) if written.is_empty() => written.push_str(key),
            Part::Key(key) => written.push_str(&format!(".{key}")),
            Part::Index(index) => written.push_str(&format!("[{index}]")),
        }
    }
    written
}

/// Takes out of the arguments what the server knew the elements by.
pub(super) fn remove(arguments: &mut Map<String, Value>, targets: &[FoundTarget]) {
    let parameters: Vec<&str> = targets
        .iter()
        .filter(|target| target.wanted.is_some())
        .map(|target| target.parameter.as_str())
        .collect();
    let mut whole = Value::Object(std::mem::take(arguments));
    strip(&mut whole, &mut Vec::new(), &parameters);
    if let Value::Object(rest) = whole {
        *arguments = rest;
    }
}

fn strip(value: &mut Value, way: &mut Vec<Part>, parameters: &[&str]) {
    let is_target = |way: &[Part], value: &Value| {
        value.is_string() && parameters.contains(&parameter(way).as_str())
    };
    match value {
        Value::Object(members) => members.retain(|key, value| {
            way.push(Part::Key(key.clone()));
            let is_target = is_target(way, value);
            strip(value, way, parameters);
            way.pop();
            !is_target
        }),
        Value::Array(items) => {
            let mut index = 0;
            items.retain_mut(|value| {
                way.push(Part::Index(index));
                let is_target = is_target(way, value);
                strip(value, way, parameters);
                way.pop();
                index += 1;
                !is_target
            });
        }
        _ => {}
    }
}
