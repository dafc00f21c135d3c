//! How the tools of a server have changed: narrower inputs break callers, wider ones don't.

use std::collections::BTreeSet;

use cuecard_source::matching::is_same_json;
use cuecard_source::value::{Json, cut};

use crate::Tool;

/// Deeper schemas are compared as a whole.
const MAX_DEPTH: usize = 16;

/// A change of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The tool.
    pub tool: String,
    /// What it means for callers.
    pub direction: Direction,
    /// What has changed.
    pub what: String,
}

/// What a change means for callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// The tool is gone.
    Removed,
    /// It takes less than before: calls that were right may fail.
    Narrower,
    /// It has changed in a way that may or may not matter to callers.
    Changed,
    /// It takes more than before.
    Wider,
    /// The tool is new.
    Added,
}

impl Direction {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Narrower => "narrower",
            Self::Changed => "changed",
            Self::Wider => "wider",
            Self::Added => "added",
        }
    }
}

/// Compares two lists of tools.
pub(super) fn compare_tools(old: &[Tool], new: &[Tool]) -> Vec<Change> {
    let mut changes = Vec::new();
    let find = |tools: &[Tool], name: &str| tools.iter().find(|tool| tool.name == name).cloned();
    for tool in old {
        let mut change = |direction, what: String| {
            changes.push(Change {
                tool: tool.name.clone(),
                direction,
                what,
            });
        };
        let Some(now) = find(new, &tool.name) else {
            change(
                Direction::Removed,
                "the server no longer lists it".to_owned(),
            );
            continue;
        };
        let (before, now) = (&tool.description, &now.description);
        for (direction, what) in compare_inputs(&before["inputSchema"], &now["inputSchema"]) {
            change(direction, what);
        }
        for key in ["description", "outputSchema", "annotations"] {
            if !is_same_json(&before[key], &now[key]) {
                change(Direction::Changed, format!("another `{key}`"));
            }
        }
    }
    for tool in new.iter().filter(|tool| find(old, &tool.name).is_none()) {
        changes.push(Change {
            tool: tool.name.clone(),
            direction: Direction::Added,
            what: "the server now lists it".to_owned(),
        });
    }
    changes
}

fn compare_inputs(old: &Json, new: &Json) -> Vec<(Direction, String)> {
    let mut changes = Vec::new();
    compare_schemas(old, new, "", 0, &mut changes);
    changes
}

fn compare_schemas(
    old: &Json,
    new: &Json,
    path: &str,
    depth: usize,
    changes: &mut Vec<(Direction, String)>,
) {
    if is_same_json(old, new) {
        return;
    }
    let before = changes.len();
    let named = |name: &str| match path {
        "" => cut(name, 100).into_owned(),
        path => format!("{path}.{}", cut(name, 100)),
    };
    let subject = match path {
        "" => "the arguments".to_owned(),
        path => format!("`{path}`"),
    };
    if depth < MAX_DEPTH {
        let empty = serde_json::Map::new();
        let properties = |schema: &Json| schema["properties"].as_object().cloned();
        let (was, is) = (properties(old), properties(new));
        let (was, is) = (
            was.as_ref().unwrap_or(&empty),
            is.as_ref().unwrap_or(&empty),
        );
        let (required_before, required) = (words(&old["required"]), words(&new["required"]));
        for (name, schema) in was {
            match is.get(name) {
                None => changes.push((
                    Direction::Narrower,
                    format!("no parameter `{}` any more", named(name)),
                )),
                Some(now) => compare_schemas(schema, now, &named(name), depth + 1, changes),
            }
        }
        for name in is
            .keys()
            .filter(|name| !was.contains_key(*name) && !required.contains(*name))
        {
            changes.push((
                Direction::Wider,
                format!("a new parameter `{}`", named(name)),
            ));
        }
        for name in required.difference(&required_before) {
            changes.push((
                Direction::Narrower,
                format!("`{}` is now required", named(name)),
            ));
        }
        for name in required_before
            .difference(&required)
            .filter(|name| is.contains_key(*name))
        {
            changes.push((
                Direction::Wider,
                format!("`{}` is no longer required", named(name)),
            ));
        }
        for (key, what) in [("type", "type"), ("enum", "value")] {
            let (was, is) = (words(&old[key]), words(&new[key]));
            if was == is {
                continue;
            }
            let listed = |words: &BTreeSet<String>| match words.is_empty() {
                true => "anything".to_owned(),
                false => words
                    .iter()
                    .map(|word| format!("`{word}`"))
                    .collect::<Vec<_>>()
                    .join(", "),
            };
            // Without a list everything goes.
            let takes_all_of = |wide: &BTreeSet<String>, narrow: &BTreeSet<String>| {
                wide.is_empty() || (!narrow.is_empty() && wide.is_superset(narrow))
            };
            let direction = match takes_all_of(&is, &was) {
                true => Direction::Wider,
                false => Direction::Narrower,
            };
            let what = format!(
                "{subject}: the {what} was {}, and is {}",
                listed(&was),
                listed(&is)
            );
            changes.push((direction, what));
        }
        if old["items"].is_object() && new["items"].is_object() {
            compare_schemas(
                &old["items"],
                &new["items"],
                &named("[]"),
                depth + 1,
                changes,
            );
        }
    }
    if changes.len() == before {
        let keys = [old, new].map(|schema| schema.as_object().into_iter().flatten());
        let keys: BTreeSet<_> = keys
            .into_iter()
            .flatten()
            .map(|(key, _)| key.as_str())
            .collect();
        let is_compared = |key: &str| match key {
            // Of lists of words the order means nothing.
            "properties" | "required" | "type" | "enum" => depth < MAX_DEPTH,
            "items" => depth < MAX_DEPTH && old[key].is_object() && new[key].is_object(),
            _ => false,
        };
        if !old.is_object() || !new.is_object() {
            changes.push((Direction::Changed, format!("{subject}: another schema")));
        }
        for key in keys.into_iter().filter(|key| !is_compared(key)) {
            if !is_same_json(&old[key], &new[key]) {
                let what = format!("{subject}: another `{}`", cut(key, 100));
                changes.push((Direction::Changed, what));
            }
        }
    }
}

/// The words of a list, or the only one. Other values stand as JSON.
fn words(json: &Json) -> BTreeSet<String> {
    let word = |json: &Json| {
        json.as_str()
            .map_or_else(|| json.to_string(), str::to_owned)
    };
    match json {
        Json::Null => BTreeSet::new(),
        Json::Array(items) => items.iter().map(word).collect(),
        json => [word(json)].into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_words_is_no_change() {
        let schema = |words: [&str; 2]| json!({"properties": {"a": {"enum": words}, "b": {}}, "required": words});
        let changes = compare_inputs(&schema(["a", "b"]), &schema(["b", "a"]));
        assert_eq!(changes, []);
    }

    #[test]
    fn narrower_inputs_are_told_from_wider_ones() {
        use Direction as D;
        let object = |properties: Json, required: Json| json!({"type": "object", "properties": properties, "required": required});
        let a = json!({"type": "string"});
        for (old, new, expected) in [
            (
                object(json!({"a": a}), json!([])),
                object(json!({"a": a}), json!(["a"])),
                (D::Narrower, "`a` is now required"),
            ),
            (
                object(json!({"a": a}), json!(["a"])),
                object(json!({"a": a}), json!([])),
                (D::Wider, "`a` is no longer required"),
            ),
            (
                object(json!({"a": a}), json!([])),
                object(json!({}), json!([])),
                (D::Narrower, "no parameter `a` any more"),
            ),
            (
                object(json!({}), json!([])),
                object(json!({"a": a}), json!([])),
                (D::Wider, "a new parameter `a`"),
            ),
            (
                object(json!({}), json!([])),
                object(json!({"a": a}), json!(["a"])),
                (D::Narrower, "`a` is now required"),
            ),
            (
                object(json!({"a": {"type": ["string", "null"]}}), json!([])),
                object(json!({"a": a}), json!([])),
                (
                    D::Narrower,
                    "`a`: the type was `null`, `string`, and is `string`",
                ),
            ),
            (
                object(json!({"a": {"enum": ["x"]}}), json!([])),
                object(json!({"a": {"enum": ["x", "y"]}}), json!([])),
                (D::Wider, "`a`: the value was `x`, and is `x`, `y`"),
            ),
            (
                object(json!({"a": {"enum": ["x"]}}), json!([])),
                object(json!({"a": {}}), json!([])),
                (D::Wider, "`a`: the value was `x`, and is anything"),
            ),
            (
                object(json!({"a": {"items": a}}), json!([])),
                object(json!({"a": {"items": {"type": "number"}}}), json!([])),
                (
                    D::Narrower,
                    "`a.[]`: the type was `string`, and is `number`",
                ),
            ),
            (
                object(json!({"a": {"minimum": 1}}), json!([])),
                object(json!({"a": {"minimum": 2}}), json!([])),
                (D::Changed, "`a`: another `minimum`"),
            ),
        ] {
            let changes = compare_inputs(&old, &new);
            assert_eq!(
                changes,
                [(expected.0, expected.1.to_owned())],
                "{old} {new}"
            );
            assert_eq!(compare_inputs(&new, &new), []);
        }
    }
}
