//! Whose memory it is: the groups that events and paths name.

use crate::View;
use cuecard_source::value::Json;
use cuecard_trace::{Event, EventData};

pub(super) fn own_group<'a>(view: &View<'a>) -> Option<&'a str> {
    let of_trace = view
        .trace
        .header
        .scenario
        .get("group_id")
        .and_then(Json::as_str);
    view.case
        .context
        .group_id
        .as_deref()
        .or(of_trace)
        .filter(|group| !group.is_empty())
}

pub(super) fn memory_path(event: &Event) -> &str {
    match &event.data {
        EventData::MemoryRead(read) => &read.path,
        EventData::MemoryWrite(write) => &write.path,
        _ => "",
    }
}

/// Every group that a memory event names: its own, and that of its path. The group of the event itself counts
/// only if its data names none: it may be that of the scenario.
pub(super) fn groups_of(event: &Event) -> Vec<String> {
    let named = match &event.data {
        EventData::MemoryRead(read) => read.group_id.clone(),
        EventData::MemoryWrite(write) => write.group_id.clone(),
        _ => None,
    };
    let of_path = group_of_path(memory_path(event));
    let mut groups: Vec<String> = named.into_iter().chain(of_path).collect();
    groups.extend(event.group_id.clone());
    groups.retain(|group| !group.is_empty());
    groups.dedup();
    groups
}

/// Whether a memory event is of a group, and of no other.
pub(super) fn is_of_group(event: &Event, group: Option<&str>) -> bool {
    let Some(group) = group else { return true };
    let groups = groups_of(event);
    !groups.is_empty() && groups.iter().all(|known| same_group(known, group))
}

pub(super) fn same_group(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

/// `group-a` of `groups/group-a/CLAUDE.md`, however it is reached.
pub(super) fn group_of_path(path: &str) -> Option<String> {
    let parts = path_parts(path);
    let at = parts
        .iter()
        .rposition(|part| matches!(part.to_lowercase().as_str(), "groups" | "group"))?;
    // The last part is a file.
    (at + 2 < parts.len() || (at + 2 == parts.len() && !parts[at + 1].contains('.')))
        .then(|| parts[at + 1].clone())
}

/// A forbidden group that is a part of a path.
pub(super) fn segment_of<'a>(path: &str, forbidden: &'a [String]) -> Option<&'a String> {
    let parts = path_parts(path);
    forbidden
        .iter()
        .find(|group| parts.iter().any(|part| same_group(part, group)))
}

fn path_parts(path: &str) -> Vec<String> {
    let decoded = path
        .replace("%2F", "/")
        .replace("%2f", "/")
        .replace('\\', "/");
    let mut parts: Vec<String> = Vec::new();
    for part in decoded.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part.to_owned()),
        }
    }
    parts
}
