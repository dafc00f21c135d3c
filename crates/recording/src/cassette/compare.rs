//! How the tools of a server have changed: narrower inputs break callers, wider ones don't.

use std::collections::{BTreeMap, BTreeSet};

use cuecard_source::matching::is_same_json;
use cuecard_source::value::{Json, cut};
use serde_json::json;

use crate::Tool;

/// So much of a schema is compared: one that refers to itself in many ways has no end.
const MAX_FACTS: usize = 10_000;

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

/// What a schema says of each parameter: its words by the parameter's path and the keyword.
type Facts = BTreeMap<(String, String), BTreeSet<String>>;

/// The keyword of the fact that there is such a parameter, which is the first of each.
const PARAMETER: &str = "";

fn compare_inputs(old: &Json, new: &Json) -> Vec<(Direction, String)> {
    let [old, new] = [old, new].map(|root| {
        let mut facts = Facts::new();
        add_facts(&mut facts, root, "", &mut vec![root]);
        facts
    });
    let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    // The parameters of one side only, each with a dot behind it.
    let (mut changes, mut single) = (Vec::new(), Vec::<String>::new());
    for key @ (path, keyword) in keys {
        let [was, is] = [&old, &new].map(|facts| facts.get(key).cloned().unwrap_or_default());
        let below = format!("{path}.");
        if was == is || single.iter().any(|single| below.starts_with(single)) {
            continue;
        }
        let subject = match path.as_str() {
            "" => "the arguments".to_owned(),
            path => format!("`{}`", cut(path, 100)),
        };
        let is_required = || new.contains_key(&(path.clone(), "required".to_owned()));
        let (direction, what) = match keyword.as_str() {
            PARAMETER => {
                single.push(below);
                match was.is_empty() {
                    false => (
                        Direction::Narrower,
                        format!("no parameter {subject} any more"),
                    ),
                    true if is_required() => {
                        (Direction::Narrower, format!("{subject} is now required"))
                    }
                    true => (Direction::Wider, format!("a new parameter {subject}")),
                }
            }
            "required" if was.is_empty() => {
                (Direction::Narrower, format!("{subject} is now required"))
            }
            "required" => (Direction::Wider, format!("{subject} is no longer required")),
            // Values say of what type they are.
            "type" if (was.is_empty() || is.is_empty()) && has_values([&old, &new], path) => {
                continue;
            }
            keyword => {
                let direction = match [takes_all(keyword, &is, &was), takes_all(keyword, &was, &is)]
                {
                    [Some(true), Some(true)] => continue,
                    [Some(true), _] => Direction::Wider,
                    [Some(false), Some(_)] => Direction::Narrower,
                    _ => Direction::Changed,
                };
                let keyword = cut(keyword, 100);
                let what = match direction {
                    Direction::Changed => format!("another `{keyword}`"),
                    _ => format!("`{keyword}` was {}, and is {}", listed(&was), listed(&is)),
                };
                (direction, format!("{subject}: {what}"))
            }
        };
        changes.push((direction, what));
    }
    changes
}

/// Adds what a schema says. References and single alternatives are written out, `const` is an `enum`; `around` are the
/// whole schema and those that are written out, which may refer to themselves.
fn add_facts<'s>(facts: &mut Facts, schema: &'s Json, path: &str, around: &mut Vec<&'s Json>) {
    let child = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        if facts.len() > MAX_FACTS {
            return;
        }
        let mut set = |path: String, keyword: &str, value: &Json| {
            facts
                .entry((path, keyword.to_owned()))
                .or_default()
                .extend(words(value));
        };
        let meant = match (keyword.as_str(), value) {
            ("$ref", Json::String(target)) => target
                .strip_prefix('#')
                .and_then(|path| around[0].pointer(path)),
            ("allOf", Json::Array(all)) if all.len() == 1 => Some(&all[0]),
            // Of a schema or nothing, nothing is one more type.
            ("anyOf" | "oneOf", Json::Array(all))
                if all.len() == 2 && all[1] == json!({"type": "null"}) =>
            {
                set(path.to_owned(), "type", &"null".into());
                Some(&all[0])
            }
            _ => None,
        };
        match (keyword.as_str(), value, meant) {
            (.., Some(meant)) if !around[1..].iter().any(|known| std::ptr::eq(*known, meant)) => {
                around.push(meant);
                add_facts(facts, meant, path, around);
                around.pop();
            }
            ("properties", Json::Object(properties), _) => {
                for (name, schema) in properties {
                    facts.insert((child(name), PARAMETER.to_owned()), words(&"there".into()));
                    add_facts(facts, schema, &child(name), around);
                }
            }
            ("required", Json::Array(names), _) => {
                for name in names.iter().filter_map(Json::as_str) {
                    set(child(name), "required", &"yes".into());
                }
            }
            ("items", Json::Object(_), _) => add_facts(facts, value, &child("[]"), around),
            // They are compared where they are meant.
            ("$defs" | "definitions" | "$schema", ..) => {}
            ("const", ..) => set(path.to_owned(), "enum", value),
            _ => set(path.to_owned(), keyword, value),
        }
    }
}

fn has_values(sides: [&Facts; 2], path: &str) -> bool {
    sides
        .iter()
        .any(|facts| facts.contains_key(&(path.to_owned(), "enum".to_owned())))
}

/// The keywords that only limit what a schema takes, so that it takes everything without them.
const LIMITS: &str = "additionalProperties enum exclusiveMaximum exclusiveMinimum maxItems maxLength maxProperties maximum \
    minItems minLength minProperties minimum multipleOf pattern type uniqueItems";

/// Whether a `wide` limit takes all that a `narrow` one takes; `None` if that can't be told.
fn takes_all(keyword: &str, wide: &BTreeSet<String>, narrow: &BTreeSet<String>) -> Option<bool> {
    LIMITS.split_whitespace().find(|known| *known == keyword)?;
    let one = |words: &BTreeSet<String>| words.first().cloned().unwrap_or_default();
    let takes =
        |word: &String| wide.contains(word) || (word == "integer" && wide.contains("number"));
    match (keyword, one(wide).as_str(), one(narrow).as_str()) {
        (_, "", _) | ("additionalProperties", "true", _) | ("additionalProperties", _, "false") => {
            Some(true)
        }
        (_, _, "") | ("additionalProperties", "false", _) | ("additionalProperties", _, "true") => {
            Some(false)
        }
        ("type" | "enum", ..) => Some(narrow.iter().all(takes)),
        ("uniqueItems", wide, _) => Some(wide == "false"),
        (keyword, wide, narrow) => {
            let (wide, narrow) = (wide.parse::<f64>().ok()?, narrow.parse::<f64>().ok()?);
            match keyword.to_lowercase() {
                keyword if keyword.contains("min") => Some(wide <= narrow),
                keyword if keyword.contains("max") => Some(wide >= narrow),
                _ => None,
            }
        }
    }
}

/// A limit as people read it.
fn listed(words: &BTreeSet<String>) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| format!("`{}`", cut(word, 100)))
        .collect();
    match words.is_empty() {
        true => "anything".to_owned(),
        false => words.join(", "),
    }
}

/// The words of a list, or the only one. Other values stand as JSON.
fn words(json: &Json) -> BTreeSet<String> {
    let word = |json: &Json| {
        let mut json = json.clone();
        json.sort_all_objects();
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
                object(json!({"a": a, "b": a}), json!(["a", "b"])),
                object(json!({"a": a, "b": a}), json!(["b"])),
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
                    "`a`: `type` was `null`, `string`, and is `string`",
                ),
            ),
            (
                object(json!({"a": {"enum": ["x"]}}), json!([])),
                object(json!({"a": {"enum": ["x", "y"]}}), json!([])),
                (D::Wider, "`a`: `enum` was `x`, and is `x`, `y`"),
            ),
            (
                object(json!({"a": {"enum": ["x"]}}), json!([])),
                object(json!({"a": {}}), json!([])),
                (D::Wider, "`a`: `enum` was `x`, and is anything"),
            ),
            (
                object(json!({"a": {"items": a}}), json!([])),
                object(json!({"a": {"items": {"type": "number"}}}), json!([])),
                (D::Narrower, "`a.[]`: `type` was `string`, and is `number`"),
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
                (D::Narrower, "`a`: `enum` was `x`, `y`, and is `x`"),
            ),
            (
                object(json!({"a": {"const": "x"}}), json!([])),
                object(
                    json!({"a": {"enum": ["x", "y"], "type": "string"}}),
                    json!([]),
                ),
                (D::Wider, "`a`: `enum` was `x`, and is `x`, `y`"),
            ),
            (
                object(json!({"a": {"items": {"type": "integer"}}}), json!([])),
                object(json!({"a": {"items": {"type": "number"}}}), json!([])),
                (D::Wider, "`a.[]`: `type` was `integer`, and is `number`"),
            ),
            (
                object(json!({"a": {"anyOf": [a, {"type": "null"}]}}), json!([])),
                object(json!({"a": a}), json!([])),
                (
                    D::Narrower,
                    "`a`: `type` was `null`, `string`, and is `string`",
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
