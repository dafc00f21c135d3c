//! Whether a call, as an agent describes it, is a scripted one, and which call a scripted request for permission is for.
//! Does no I/O.

use std::collections::BTreeMap;
use std::ops::Range;

use cuecard_source::matching::{is_same_json, lack};
use cuecard_source::value::Json;
use cuecard_timeline::model::vocabulary::{AbstractTool, call_kind};
use cuecard_timeline::model::{
    AgentEdits, CallKind, EventKind, PermissionDecision, PermissionRequest, ToolStatus, ToolUse,
};
use serde_json::json;

use super::AcpScript;
use super::file_effect::FileEffect;
use super::updates::absolute;
use crate::found::shown;

/// Returns the call or edit that each request for permission among the events of a turn is for, by the events of both.
///
/// That is the one with the `toolCallId` of the request. Else it is the first one below that fits `toolCall`, and that no
/// other request is for; if the user refuses, it also must have `status: error`. Other requests are for a call that the
/// timeline does not have.
pub(crate) fn requested_calls(
    script: &AcpScript,
    events: Range<usize>,
    folder: &str,
) -> BTreeMap<usize, usize> {
    let mut calls = BTreeMap::new();
    let mut unnamed = Vec::new();
    for event_idx in events.clone() {
        let EventKind::PermissionRequest(request) = &script.event(event_idx).kind else {
            continue;
        };
        let id = request.tool_call["toolCallId"].as_str();
        let is_named = |idx: &usize| id.is_some() && call_id(&script.event(*idx).kind) == id;
        match events.clone().find(is_named) {
            Some(call_idx) => drop(calls.insert(event_idx, call_idx)),
            None => unnamed.push((event_idx, request)),
        }
    }
    for (event_idx, request) in unnamed {
        let mut described = request.tool_call.clone();
        if let Some(members) = described.as_object_mut() {
            // A title is for people.
            members.remove("title");
        }
        let fits = |idx: &usize| {
            let event = &script.event(*idx).kind;
            let may_be_refused =
                matches!(event, EventKind::ToolUse(call) if call.status == ToolStatus::Error);
            let is_taken = calls.values().any(|taken| taken == idx);
            !is_taken
                && (may_be_refused || !is_refusal(request))
                && mismatch(event, &described, folder).is_none()
        };
        let call = (event_idx..events.end).find(fits);
        calls.extend(call.map(|call_idx| (event_idx, call_idx)));
    }
    calls
}

/// The id of a call or an edit.
pub(crate) fn call_id(event: &EventKind) -> Option<&str> {
    match event {
        EventKind::ToolUse(call) => Some(&call.call_id),
        EventKind::AgentEdits(edit) => Some(&edit.call_id),
        _ => None,
    }
}

/// Whether the user of the script refuses a request.
pub(crate) fn is_refusal(request: &PermissionRequest) -> bool {
    match &request.decision {
        PermissionDecision::Cancelled => true,
        PermissionDecision::Selected(id) => {
            let mut options = request.options.iter();
            options.any(|option| option.id == *id && option.kind.as_str().starts_with("reject"))
        }
    }
}

/// Returns why a call that is described so can't be the call or edit of an event; `None` if it can: what is left out may
/// be anything.
pub(crate) fn mismatch(event: &EventKind, described: &Json, folder: &str) -> Option<String> {
    match event {
        EventKind::ToolUse(call) => call_mismatch(call, described, folder),
        EventKind::AgentEdits(edit) => edit_mismatch(edit, described, folder),
        _ => Some("it is no call".to_owned()),
    }
}

/// The same for a scripted call.
pub(crate) fn call_mismatch(call: &ToolUse, described: &Json, folder: &str) -> Option<String> {
    let diffs = diffs_of(described);
    let input = Input::partial(described, &diffs, folder);
    let kind = described["kind"].as_str();
    let has_name = !described["name"].is_null() || !described["title"].is_null();
    kind.and_then(|kind| other_kind(call, kind))
        .or_else(|| has_name.then(|| other_tool(call, described)).flatten())
        .or_else(|| input.difference(call))
        .or_else(|| file_mismatch(FileEffect::of_call(call)?, (described, &diffs), folder))
}

fn edit_mismatch(edit: &AgentEdits, described: &Json, folder: &str) -> Option<String> {
    let kind = described["kind"].as_str().unwrap_or("other");
    if !matches!(kind, "edit" | "other") {
        return Some(format!("expected the kind `edit`, got `{kind}`"));
    }
    let counts = (edit.lines_added, edit.lines_removed);
    let (path, old, new) = (
        &*edit.path,
        edit.old_text.as_deref(),
        edit.new_text.as_deref(),
    );
    let (tool, args) = match (old, new) {
        (Some(old), Some(new)) => (
            "editFile",
            json!({"path": path, "old_string": old, "new_string": new}),
        ),
        (_, Some(new)) => ("writeFile", json!({"path": path, "content": new})),
        _ => ("editFile", json!({"path": path})),
    };
    let diffs = diffs_of(described);
    let input = Input::partial(described, &diffs, folder);
    let effect = FileEffect::of_edit(old, new, counts);
    input
        .argument_difference(AbstractTool::named(tool), &args)
        .or_else(|| file_mismatch((path, effect), (described, &diffs), folder))
}

/// Why a call that is described so, with these diffs, is not for this file, or changes it in another way.
fn file_mismatch(
    (path, effect): (&str, FileEffect<'_>),
    (described, diffs): (&Json, &[Json]),
    folder: &str,
) -> Option<String> {
    let path = absolute(path, folder);
    let is_path = |place: &Json| {
        let told = place["path"].as_str();
        told.is_none_or(|told| absolute(told, folder) == path)
    };
    let locations = described["locations"].as_array().map_or(&[][..], |all| all);
    if !locations.is_empty() && !locations.iter().any(is_path) {
        let got = shown(&described["locations"]);
        return Some(format!("expected the file `{path}`, got {got}"));
    }
    let is_counted = matches!(effect, FileEffect::Counts(..));
    let differs = |diff: &&Json| {
        let text = |key: &str| diff[key].as_str();
        let is_told = is_counted || effect.is_told(text("oldText"), text("newText").unwrap_or(""));
        !is_path(diff) || !is_told
    };
    let diff = diffs.iter().find(differs)?;
    Some(format!("its diff: {}", shown(diff)))
}

/// The diffs in the content of a call.
fn diffs_of(described: &Json) -> Vec<Json> {
    let content = described["content"].as_array().into_iter().flatten();
    content
        .filter(|part| part["type"] == "diff")
        .cloned()
        .collect()
}

/// Returns why a call is of another tool than the scripted one.
pub(crate) fn other_call(wanted: &ToolUse, described: &Json) -> Option<String> {
    let kind = described["kind"].as_str().unwrap_or("other");
    other_kind(wanted, kind).or_else(|| other_tool(wanted, described))
}

fn other_kind(wanted: &ToolUse, described: &str) -> Option<String> {
    let is_known = AbstractTool::named(&wanted.tool).is_some();
    let of_tool = || is_known.then(|| call_kind(&wanted.tool, &wanted.args));
    let kind = wanted.kind.map(CallKind::as_str).or_else(of_tool)?;
    // An agent need not say it, unless the author does.
    let is_said = wanted.kind.is_some() || described != "other";
    let is_other = kind != described && is_said;
    is_other.then(|| format!("expected the kind `{kind}`, got `{described}`"))
}

fn other_tool(wanted: &ToolUse, described: &Json) -> Option<String> {
    let is_known = AbstractTool::named(&wanted.tool).is_some();
    let Some(name) = described["name"].as_str() else {
        // For want of anything better, the title has to tell which tool it is.
        let title = described["title"].as_str().unwrap_or_default();
        let last = wanted.tool.rsplit("__").next().unwrap_or_default();
        let is_it = match title.starts_with("mcp__") {
            true => title == wanted.tool,
            false => is_known || letters(title).contains(&letters(last)),
        };
        return (!is_it).then(|| format!("its title does not tell of `{last}`"));
    };
    let is_it = match AbstractTool::meant_by(name) {
        Some(meant) => meant.name == wanted.tool,
        // Agents spell the names of servers and tools in their own way.
        None => !is_known && letters(&wanted.tool).ends_with(&letters(name)),
    };
    // An agent's own name for a tool of the vocabulary is for its kind and input to tell.
    let is_own = is_known && AbstractTool::meant_by(name).is_none();
    (!is_it && !is_own).then(|| format!("it calls `{name}`"))
}

/// The input of a call, as an agent tells it.
pub(crate) struct Input<'i> {
    /// `rawInput`.
    pub(crate) now: &'i Json,
    pub(crate) diffs: &'i [Json],
    /// The folder of the session.
    pub(crate) folder: &'i str,
    /// Whether it must have all that the script has.
    pub(crate) is_whole: bool,
}

impl<'i> Input<'i> {
    /// What is said of the input of a call, as far as it is.
    fn partial(described: &'i Json, diffs: &'i [Json], folder: &'i str) -> Self {
        Self {
            now: &described["rawInput"],
            diffs,
            folder,
            is_whole: false,
        }
    }

    /// Returns what differs in the input of a call.
    pub(crate) fn difference(&self, wanted: &ToolUse) -> Option<String> {
        match &wanted.raw_input {
            Some(raw) if self.is_whole => {
                lack(raw, self.now).map(|lack| format!("`rawInput` differs at {lack}"))
            }
            Some(raw) => raw.as_object()?.iter().find_map(|(name, wanted)| {
                let found = self.now.get(name).filter(|found| !found.is_null())?;
                lack(wanted, found).map(|lack| format!("`rawInput` differs at {lack}"))
            }),
            None => self.argument_difference(AbstractTool::named(&wanted.tool), &wanted.args),
        }
    }

    fn argument_difference(&self, tool: Option<&AbstractTool>, wanted: &Json) -> Option<String> {
        let input = self.now.as_object()?;
        // What an edit changes, agents tell as a diff.
        let in_diff = |name: &str, wanted: &str| {
            self.diffs.iter().any(|diff| {
                let has = |key: &str| diff[key].as_str().is_some_and(|text| text.contains(wanted));
                match name {
                    "old_string" => has("oldText"),
                    "new_string" | "content" => has("newText"),
                    _ => false,
                }
            })
        };
        let by_name = |name: &str| {
            input.iter().find_map(|(key, value)| {
                let key = snake_case(key);
                let alias = tool.and_then(|tool| tool.argument_alias(&key));
                (alias.unwrap_or(&key) == name).then_some(value)
            })
        };
        let place = |path: &str| place(path, self.folder);
        wanted.as_object()?.iter().find_map(|(name, wanted)| {
            let found = input
                .get(name)
                .or_else(|| by_name(name))
                .unwrap_or(&Json::Null);
            let is_it = match (wanted, found) {
                (_, Json::Null) if !self.is_whole => true,
                (Json::Bool(false), Json::Null) => true,
                (Json::String(wanted), Json::Null) if in_diff(name, wanted) => true,
                (Json::String(wanted), Json::String(found)) => {
                    wanted == found || place(wanted) == place(found)
                }
                // A command line that a shell is given.
                (Json::String(wanted), Json::Array(words)) => {
                    words.last().and_then(Json::as_str) == Some(wanted)
                }
                (wanted, found) => is_same_json(wanted, found),
            };
            (!is_it).then(|| format!("`{name}`: expected {}, got {}", shown(wanted), shown(found)))
        })
    }
}

/// A path of a session in `folder`: a folder by one name, whatever stands at its end.
pub(crate) fn place(path: &str, folder: &str) -> String {
    let path = absolute(path, folder);
    path.trim_end_matches("/.").trim_end_matches('/').to_owned()
}

/// The letters and digits of a name.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|character| character.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// `filePath` as `file_path`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}
