//! How the tools of a server have changed: narrower inputs break callers, wider ones don't.

use std::collections::BTreeSet;

use cuecard_source::matching::is_same_json;
use cuecard_source::value::{Json, cut};
use serde_json::json;

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
    let find = |tools: &[Tool], name: &str| tools.iter().find(|tool| tool.name == name).cloned();
    let mut changes = Vec::new();
    let mut add = |tool: &Tool, direction, what: &str| {
        let (tool, what) = (tool.name.clone(), what.to_owned());
        changes.push(Change {
            tool,
            direction,
            what,
        });
    };
    for tool in old {
        let Some(now) = find(new, &tool.name) else {
            add(tool, Direction::Removed, "the server no longer lists it");
            continue;
        };
        let (before, now) = (&tool.description, &now.description);
        for (direction, what) in compare_inputs(&before["inputSchema"], &now["inputSchema"]) {
            add(tool, direction, &what);
        }
        for key in ["description", "outputSchema", "annotations"] {
            if !is_same_json(&before[key], &now[key]) {
                add(tool, Direction::Changed, &format!("another `{key}`"));
            }
        }
    }
    for tool in new.iter().filter(|tool| find(old, &tool.name).is_none()) {
        add(tool, Direction::Added, "the server now lists it");
    }
    changes
}

fn compare_inputs(old: &Json, new: &Json) -> Vec<(Direction, String)> {
    let mut comparison = Comparison {
        roots: [old, new],
        seen: BTreeSet::new(),
        changes: Vec::new(),
    };
    comparison.schemas([old, new], "", 0);
    comparison.changes
}

struct Comparison<'s> {
    /// The schemas that references are into.
    roots: [&'s Json; 2],
    /// The references that were compared: each pair is once.
    seen: BTreeSet<[String; 2]>,
    changes: Vec<(Direction, String)>,
}

impl Comparison<'_> {
    fn schemas(&mut self, [old, new]: [&Json; 2], path: &str, depth: usize) {
        let targets = [old, new].map(|schema| schema["$ref"].to_string());
        let has_reference = targets.iter().any(|target| target != "null");
        if has_reference && !self.seen.insert(targets) {
            return;
        }
        let [old, new] = &[normal(old, self.roots[0], 0), normal(new, self.roots[1], 0)];
        let before = self.changes.len();
        let named = |name: &str| match path {
            "" => cut(name, 100).into_owned(),
            path => format!("{path}.{}", cut(name, 100)),
        };
        let subject = match path {
            "" => "the arguments".to_owned(),
            path => format!("`{path}`"),
        };
        let takes = |key: &str| {
            // Values say of what type they are.
            let is_told = |it: &Json| key == "type" && it[key].is_null() && !it["enum"].is_null();
            let sides = [(new, old), (old, new)];
            sides.map(|(wide, narrow)| match is_told(wide) || is_told(narrow) {
                true => Some(true),
                false => takes_all(key, &wide[key], &narrow[key]),
            })
        };
        if depth < MAX_DEPTH {
            self.properties([old, new], &named, depth);
            for key in LIMITS {
                let (was, is) = (&old[key], &new[key]);
                let direction = match takes(key) {
                    [Some(true), Some(true)] | [None, _] | [_, None] => continue,
                    [Some(true), _] => Direction::Wider,
                    [Some(false), _] => Direction::Narrower,
                };
                let what = match *key {
                    "type" => "the type",
                    "enum" => "the value",
                    key => &format!("`{key}`"),
                };
                let (was, is) = (listed(was), listed(is));
                self.add(
                    direction,
                    format!("{subject}: {what} was {was}, and is {is}"),
                );
            }
            if old["items"].is_object() && new["items"].is_object() {
                self.schemas([&old["items"], &new["items"]], &named("[]"), depth + 1);
            }
        }
        if self.changes.len() > before || is_same_json(old, new) {
            return;
        }
        if !old.is_object() || !new.is_object() {
            self.add(Direction::Changed, format!("{subject}: another schema"));
        }
        let keys = [old, new].map(|schema| schema.as_object().into_iter().flatten());
        let keys: BTreeSet<&String> = keys.into_iter().flatten().map(|(key, _)| key).collect();
        let is_compared = |key: &str| match key {
            // Of lists of words the order means nothing, and definitions are compared where they are meant.
            "properties" | "required" => depth < MAX_DEPTH,
            "$defs" | "definitions" => true,
            "items" => depth < MAX_DEPTH && old[key].is_object() && new[key].is_object(),
            key => depth < MAX_DEPTH && LIMITS.contains(&key) && takes(key) == [Some(true); 2],
        };
        for key in keys.into_iter().filter(|key| !is_compared(key)) {
            if !is_same_json(&old[key], &new[key]) {
                self.add(
                    Direction::Changed,
                    format!("{subject}: another `{}`", cut(key, 100)),
                );
            }
        }
    }

    fn properties(&mut self, [old, new]: [&Json; 2], named: &dyn Fn(&str) -> String, depth: usize) {
        let properties = |schema: &Json| schema["properties"].as_object().cloned();
        let (was, is) = (
            properties(old).unwrap_or_default(),
            properties(new).unwrap_or_default(),
        );
        let (required_before, required) = (words(&old["required"]), words(&new["required"]));
        for (name, schema) in &was {
            match is.get(name) {
                None => {
                    let text = format!("no parameter `{}` any more", named(name));
                    self.add(Direction::Narrower, text);
                }
                Some(now) => self.schemas([schema, now], &named(name), depth + 1),
            }
        }
        for name in is.keys() {
            if !was.contains_key(name) && !required.contains(name) {
                self.add(
                    Direction::Wider,
                    format!("a new parameter `{}`", named(name)),
                );
            }
        }
        for name in required.difference(&required_before) {
            self.add(
                Direction::Narrower,
                format!("`{}` is now required", named(name)),
            );
        }
        for name in required_before.difference(&required) {
            if is.contains_key(name) {
                self.add(
                    Direction::Wider,
                    format!("`{}` is no longer required", named(name)),
                );
            }
        }
    }

    fn add(&mut self, direction: Direction, what: String) {
        self.changes.push((direction, what));
    }
}

/// The keywords of a schema that only limit what it takes.
const LIMITS: &[&str] = &[
    "type",
    "enum",
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
    "pattern",
    "multipleOf",
    "uniqueItems",
    "additionalProperties",
];

/// Whether a `wide` limit takes all that a `narrow` one takes; `None` if that can't be told.
fn takes_all(key: &str, wide: &Json, narrow: &Json) -> Option<bool> {
    // A schema without the limit takes everything.
    if wide.is_null() || is_same_json(wide, narrow) {
        return Some(true);
    }
    match key {
        "type" | "enum" => {
            let (wide, narrow) = (words(wide), words(narrow));
            let takes = |word: &String| {
                wide.contains(word) || (word == "integer" && wide.contains("number"))
            };
            Some(!narrow.is_empty() && narrow.iter().all(takes))
        }
        "uniqueItems" => Some(*wide == false),
        "additionalProperties" if *wide == true || *narrow == false => Some(true),
        _ if narrow.is_null() || *wide == false => Some(false),
        "additionalProperties" if *narrow == true => Some(false),
        _ => {
            let (wide, narrow) = (wide.as_f64()?, narrow.as_f64()?);
            match key {
                "multipleOf" => None,
                key if key.to_lowercase().contains("min") => Some(wide <= narrow),
                _ => Some(wide >= narrow),
            }
        }
    }
}

/// A schema in the form that is compared: references and single alternatives are written out, and `const` is an `enum`.
fn normal(schema: &Json, root: &Json, depth: usize) -> Json {
    let Some(members) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
        return schema.clone();
    };
    let mut members = members.clone();
    let mut parts = Vec::new();
    if let Some(target) = members.get("$ref").and_then(Json::as_str)
        && let Some(target) = target.strip_prefix('#').and_then(|path| root.pointer(path))
    {
        parts.push(normal(target, root, depth + 1));
        members.remove("$ref");
    }
    if let Some([only]) = members
        .get("allOf")
        .and_then(Json::as_array)
        .map(Vec::as_slice)
    {
        parts.push(normal(only, root, depth + 1));
        members.remove("allOf");
    }
    for key in ["anyOf", "oneOf"] {
        let alternatives = members.get(key).and_then(Json::as_array);
        let alternatives = alternatives.into_iter().flatten();
        let alternatives = alternatives.map(|schema| normal(schema, root, depth + 1));
        let (plain, others): (Vec<Json>, Vec<Json>) = alternatives.partition(is_plain);
        let mut types: BTreeSet<String> = plain.iter().flat_map(|it| words(&it["type"])).collect();
        let mut one = match others.as_slice() {
            [] if !plain.is_empty() => json!({}),
            // `null` beside it is one more value.
            [one] if types.iter().all(|kind| kind == "null") && one.is_object() => one.clone(),
            _ => continue,
        };
        if let Some(values) = one["enum"].as_array_mut()
            && !types.is_empty()
        {
            values.push(Json::Null);
        }
        let has_type = others.is_empty() || !one["type"].is_null();
        types.extend(words(&one["type"]));
        if has_type {
            one["type"] = types.into_iter().collect();
        }
        parts.push(one);
        members.remove(key);
    }
    if let Some(value) = members.remove("const") {
        members.insert("enum".to_owned(), json!([value]));
    }
    for part in parts {
        for (key, value) in part.as_object().into_iter().flatten() {
            members.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    members.into()
}

/// Whether a schema says nothing but the type.
fn is_plain(schema: &Json) -> bool {
    let keys = schema.as_object().into_iter().flatten();
    let mut keys = keys.map(|(key, _)| key.as_str());
    !schema["type"].is_null() && keys.all(|key| matches!(key, "type" | "title" | "description"))
}

/// A limit as people read it.
fn listed(limit: &Json) -> String {
    let words = words(limit).into_iter();
    let words: Vec<String> = words.map(|word| format!("`{}`", cut(&word, 100))).collect();
    match words.is_empty() {
        true => "anything".to_owned(),
        false => words.join(", "),
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
    use super::*;

    #[test]
    fn the_order_of_words_is_no_change() {
        let schema = |words: [&str; 2]| json!({"properties": {"a": {"enum": words}, "b": {}}, "required": words});
        let changes = compare_inputs(&schema(["a", "b"]), &schema(["b", "a"]));
        assert_eq!(changes, []);
    }

    #[test]
    fn another_way_to_write_a_schema_is_no_change() {
        let named = json!({"properties": {"a": {"$ref": "#/$defs/A"}, "b": {"allOf": [{"$ref": "#/$defs/A"}]}}, "$defs": {"A": {"enum": ["x"]}}});
        let plain =
            json!({"properties": {"a": {"const": "x", "type": "string"}, "b": {"const": "x"}}});
        assert_eq!(compare_inputs(&named, &plain), []);
        let endless = json!({"$ref": "#"});
        assert_eq!(compare_inputs(&endless, &endless), []);
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
                (D::Narrower, "`a`: `minimum` was `1`, and is `2`"),
            ),
            (
                object(json!({"a": {"type": "string"}}), json!([])),
                object(json!({"a": {"type": "string", "pattern": "^x"}}), json!([])),
                (D::Narrower, "`a`: `pattern` was anything, and is `^x`"),
            ),
            (
                object(json!({"a": {"pattern": "^y"}}), json!([])),
                object(json!({"a": {"pattern": "^x"}}), json!([])),
                (D::Changed, "`a`: another `pattern`"),
            ),
            (
                object(json!({"a": {"maxLength": 5}}), json!([])),
                object(json!({"a": {"maxLength": 9}}), json!([])),
                (D::Wider, "`a`: `maxLength` was `5`, and is `9`"),
            ),
            (
                json!({"type": "object"}),
                json!({"type": "object", "additionalProperties": false}),
                (
                    D::Narrower,
                    "the arguments: `additionalProperties` was anything, and is `false`",
                ),
            ),
            (
                object(
                    json!({"a": {"enum": ["x", "y"], "type": "string"}}),
                    json!([]),
                ),
                object(json!({"a": {"const": "x", "type": "string"}}), json!([])),
                (D::Narrower, "`a`: the value was `x`, `y`, and is `x`"),
            ),
            (
                object(json!({"a": {"const": "x"}}), json!([])),
                object(
                    json!({"a": {"enum": ["x", "y"], "type": "string"}}),
                    json!([]),
                ),
                (D::Wider, "`a`: the value was `x`, and is `x`, `y`"),
            ),
            (
                object(json!({"a": {"items": {"type": "integer"}}}), json!([])),
                object(json!({"a": {"items": {"type": "number"}}}), json!([])),
                (D::Wider, "`a.[]`: the type was `integer`, and is `number`"),
            ),
            (
                object(json!({"a": {"anyOf": [a, {"type": "null"}]}}), json!([])),
                object(json!({"a": a}), json!([])),
                (
                    D::Narrower,
                    "`a`: the type was `null`, `string`, and is `string`",
                ),
            ),
            (
                json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"maxLength": 3, "items": {"$ref": "#/$defs/A"}}}}),
                json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"maxLength": 2, "items": {"$ref": "#/$defs/A"}}}}),
                (D::Narrower, "`a`: `maxLength` was `3`, and is `2`"),
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
