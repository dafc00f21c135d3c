//! JSON Patch (RFC 6902): how one document becomes another, as a list that other tools can read and apply too.

use std::fmt;

use serde_json::json;

use super::{Json, push_pointer, split_pointer};

/// The most operations of a patch, and the longest pointer in bytes.
const MOST_OPERATIONS: usize = 20_000;
const LONGEST_POINTER: usize = 4_000;

/// One change of a document. A pointer is a JSON pointer (RFC 6901).
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// The value must be there already; else nothing is changed.
    Test(String, Json),
    /// A member or an item is added.
    Add(String, Json),
    /// A member or an item is removed.
    Remove(String),
    /// A value takes the place of another.
    Replace(String, Json),
}

/// Why a patch can't be read or applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchError {
    /// Which operation, from 0.
    pub operation: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for PatchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "operation {} of the patch: {}",
            self.operation + 1,
            self.message
        )
    }
}

impl std::error::Error for PatchError {}

impl Operation {
    /// The pointer to what it changes.
    pub fn pointer(&self) -> &str {
        match self {
            Self::Test(pointer, _)
            | Self::Add(pointer, _)
            | Self::Remove(pointer)
            | Self::Replace(pointer, _) => pointer,
        }
    }

    /// The same for a document that stands at a pointer inside a larger one.
    #[must_use]
    pub fn below(self, place: &str) -> Self {
        let moved = |pointer: String| format!("{place}{pointer}");
        match self {
            Self::Test(pointer, value) => Self::Test(moved(pointer), value),
            Self::Add(pointer, value) => Self::Add(moved(pointer), value),
            Self::Remove(pointer) => Self::Remove(moved(pointer)),
            Self::Replace(pointer, value) => Self::Replace(moved(pointer), value),
        }
    }

    /// As it is written.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Test(path, value) => json!({"op": "test", "path": path, "value": value}),
            Self::Add(path, value) => json!({"op": "add", "path": path, "value": value}),
            Self::Remove(path) => json!({"op": "remove", "path": path}),
            Self::Replace(path, value) => json!({"op": "replace", "path": path, "value": value}),
        }
    }
}

/// Reads a patch: a list of operations.
///
/// # Errors
/// The first operation that is none, or not one of test, add, remove and replace.
pub fn read_patch(patch: &Json) -> Result<Vec<Operation>, PatchError> {
    let whole = |message: &str| PatchError {
        operation: 0,
        message: message.to_owned(),
    };
    let Some(items) = patch.as_array() else {
        return Err(whole("the patch is not an array"));
    };
    if items.len() > MOST_OPERATIONS {
        return Err(whole("the patch has more than 20,000 operations"));
    }
    let read = |(operation, item): (usize, &Json)| {
        read_operation(item).map_err(|message| PatchError { operation, message })
    };
    items.iter().enumerate().map(read).collect()
}

fn read_operation(item: &Json) -> Result<Operation, String> {
    let text = |key: &str| item.get(key).and_then(Json::as_str);
    let Some(path) = text("path")
        .filter(|path| is_pointer(path))
        .map(str::to_owned)
    else {
        return Err("its `path` is not a valid JSON pointer".to_owned());
    };
    let value = || {
        item.get("value")
            .cloned()
            .ok_or("it has no `value`".to_owned())
    };
    match text("op") {
        Some("test") => Ok(Operation::Test(path, value()?)),
        Some("add") => Ok(Operation::Add(path, value()?)),
        Some("remove") => Ok(Operation::Remove(path)),
        Some("replace") => Ok(Operation::Replace(path, value()?)),
        _ => Err("its `op` must be one of test, add, remove and replace".to_owned()),
    }
}

fn is_pointer(path: &str) -> bool {
    path.len() <= LONGEST_POINTER && (path.is_empty() || path.starts_with('/'))
}

/// What makes `after` of `before`. Members that both have are compared; of lists of one length each item, another
/// list is replaced as a whole.
pub fn difference(before: &Json, after: &Json) -> Vec<Operation> {
    let mut operations = Vec::new();
    compare(before, after, &mut String::new(), &mut operations);
    operations
}

/// Values nest no deeper than their reader lets them.
fn compare(before: &Json, after: &Json, pointer: &mut String, operations: &mut Vec<Operation>) {
    match (before, after) {
        (Json::Object(before), Json::Object(after)) => {
            for (key, value) in before {
                inside(pointer, key, |pointer| match after.get(key) {
                    Some(now) => compare(value, now, pointer, operations),
                    None => operations.push(Operation::Remove(pointer.clone())),
                });
            }
            for (key, value) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
                inside(pointer, key, |pointer| {
                    operations.push(Operation::Add(pointer.clone(), value.clone()));
                });
            }
        }
        (Json::Array(before), Json::Array(after)) if before.len() == after.len() => {
            for (at, (value, now)) in before.iter().zip(after).enumerate() {
                inside(pointer, &at.to_string(), |pointer| {
                    compare(value, now, pointer, operations);
                });
            }
        }
        _ if before == after => {}
        _ => operations.push(Operation::Replace(pointer.clone(), after.clone())),
    }
}

/// Runs `work` with the pointer of a member or an item.
fn inside(pointer: &mut String, key: &str, work: impl FnOnce(&mut String)) {
    let length = pointer.len();
    push_pointer(pointer, key);
    work(pointer);
    pointer.truncate(length);
}

/// Applies a patch: all of it, or none.
///
/// # Errors
/// The first operation that does not fit the document, which then is as it was.
pub fn apply(document: &mut Json, patch: &[Operation]) -> Result<(), PatchError> {
    let mut changed = document.clone();
    for (operation, change) in patch.iter().enumerate() {
        apply_one(&mut changed, change).map_err(|message| PatchError { operation, message })?;
    }
    *document = changed;
    Ok(())
}

fn apply_one(document: &mut Json, operation: &Operation) -> Result<(), String> {
    let pointer = operation.pointer();
    let missing = || format!("no value at `{pointer}`");
    match operation {
        Operation::Test(_, expected) => match document.pointer(pointer) {
            Some(value) if value == expected => Ok(()),
            Some(_) => Err(format!("the value at `{pointer}` has changed")),
            None => Err(missing()),
        },
        Operation::Replace(_, value) => {
            *document.pointer_mut(pointer).ok_or_else(missing)? = value.clone();
            Ok(())
        }
        Operation::Add(_, value) => add(document, pointer, value.clone()),
        Operation::Remove(_) => {
            let (parent, key) = split_pointer(pointer).ok_or_else(missing)?;
            let removed = match document.pointer_mut(parent) {
                Some(Json::Object(members)) => members.shift_remove(&key),
                Some(Json::Array(items)) => {
                    index(&key, items.len()).map(|index| items.remove(index))
                }
                _ => None,
            };
            removed.map(|_| ()).ok_or_else(missing)
        }
    }
}

fn add(document: &mut Json, pointer: &str, value: Json) -> Result<(), String> {
    let nowhere = || format!("can't add a value at `{pointer}`");
    let Some((parent, key)) = split_pointer(pointer) else {
        *document = value;
        return Ok(());
    };
    match document.pointer_mut(parent) {
        Some(Json::Object(members)) => {
            members.insert(key, value);
            Ok(())
        }
        Some(Json::Array(items)) => {
            let at = match key.as_str() {
                "-" => items.len(),
                // Behind the last one too.
                key => index(key, items.len() + 1).ok_or_else(nowhere)?,
            };
            items.insert(at, value);
            Ok(())
        }
        _ => Err(nowhere()),
    }
}

fn index(key: &str, length: usize) -> Option<usize> {
    let is_plain = key == "0" || !key.starts_with(['0', '+']);
    key.parse().ok().filter(|index| is_plain && *index < length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            (-5_i64..5).prop_map(Json::from),
            "[a/~é]{0,3}".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
                proptest::collection::vec(("[a-c/~]{0,2}", inner), 0..4)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_patch_makes_one_document_of_another(before in any_json(), after in any_json()) {
            let patch = difference(&before, &after);
            let mut document = before.clone();
            prop_assert_eq!(apply(&mut document, &patch), Ok(()));
            prop_assert_eq!(&document, &after);
            let written = Json::Array(patch.iter().map(Operation::to_json).collect());
            prop_assert_eq!(read_patch(&written), Ok(patch));
            prop_assert_eq!(difference(&before, &before), vec![]);
        }

        #[test]
        fn what_is_not_changed_keeps_its_place(before in any_json(), after in any_json()) {
            let mut document = before.clone();
            apply(&mut document, &difference(&before, &after)).expect("it fits");
            if let (Json::Object(before), Json::Object(now)) = (&before, &document) {
                let kept: Vec<_> = before.keys().filter(|key| now.contains_key(*key)).collect();
                let places: Vec<_> = now.keys().filter(|key| before.contains_key(*key)).collect();
                prop_assert_eq!(kept, places);
            }
        }

        #[test]
        fn hostile_patches_are_answered(document in any_json(), patch in any_json(), path in "[/a-c0-2~-]{0,6}") {
            let _ = read_patch(&patch);
            for operation in [
                Operation::Add(path.clone(), json!(1)),
                Operation::Remove(path.clone()),
                Operation::Replace(path.clone(), json!([])),
                Operation::Test(path, json!({})),
            ] {
                let mut changed = document.clone();
                if apply(&mut changed, &[operation]).is_err() {
                    prop_assert_eq!(&changed, &document);
                }
            }
        }
    }

    #[test]
    fn a_patch_is_applied_as_a_whole_or_not() {
        let before = json!({"a": [1, 2], "b": {"c/d": "x"}});
        let mut document = before.clone();
        let error = apply(
            &mut document,
            &[
                Operation::Add("/a/-".to_owned(), json!(3)),
                Operation::Test("/b/c~1d".to_owned(), json!("y")),
            ],
        )
        .expect_err("another value");
        assert_eq!(
            error.to_string(),
            "operation 2 of the patch: the value at `/b/c~1d` has changed"
        );
        assert_eq!(document, before);
        let patch = [
            Operation::Test("/b/c~1d".to_owned(), json!("x")),
            Operation::Add("/a/0".to_owned(), json!(0)),
            Operation::Remove("/a/2".to_owned()),
            Operation::Add("/a/-".to_owned(), json!(9)),
        ];
        apply(&mut document, &patch).expect("it fits");
        assert_eq!(document["a"], json!([0, 1, 9]));
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        for (patch, message) in [
            (json!({}), "the patch is not an array"),
            (
                json!([{"op": "add", "path": "a", "value": 1}]),
                "not a valid JSON pointer",
            ),
            (json!([{"op": "add", "path": "/a"}]), "no `value`"),
            (
                json!([{"op": "move", "path": "/a", "from": "/b"}]),
                "its `op`",
            ),
        ] {
            let error = read_patch(&patch).expect_err("no patch");
            assert!(error.message.contains(message), "{error}");
        }
    }
}
