//! Values that the parts of a test case have in common.

use crate::assertions::parts::{filled, items};
use crate::model::ToolPattern;
use cuecard_source::Span;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, Reader};

/// Reports a value that has the right type and makes no sense.
pub(super) fn invalid(reader: &mut Reader<'_>, span: Span, pointer: &str, message: String) {
    reader.error_at(codes::CASE_FIELD_VALUE, span, pointer, message);
}

/// The texts of a field that is a list of them. None of them is empty.
pub(super) fn texts(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Vec<String> {
    let node = reader.get(object, key);
    let pointer = object.child_pointer(key);
    node.map(|node| items(reader, node, &pointer, filled))
        .unwrap_or_default()
}

/// A text that may be absent, and is not empty.
pub(super) fn text(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Option<String> {
    let node = reader.get(object, key)?;
    let text = filled(
        reader,
        node,
        &object.child_pointer(key),
        &format!("`{key}`"),
    )?;
    Some(text)
}

/// A whole number from 0.
pub(super) fn count(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Option<u64> {
    let node = reader.get(object, key)?;
    let count = node.as_u64();
    if count.is_none() {
        let pointer = object.child_pointer(key);
        reader.wrong_type(
            node,
            &pointer,
            &format!("`{key}`"),
            "a non-negative integer",
        );
    }
    count
}

/// Names of tools, or globs.
pub(super) fn tools(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Vec<ToolPattern> {
    let names = texts(reader, object, key);
    names.iter().map(|name| name.as_str().into()).collect()
}

/// A field that is an object, with its pointer.
pub(super) fn map<'n>(
    reader: &mut Reader<'_>,
    object: Object<'n>,
    key: &str,
) -> Option<(&'n Node, String)> {
    let node = reader.get(object, key)?;
    let pointer = object.child_pointer(key);
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, &pointer, &format!("`{key}`"), "an object");
        return None;
    }
    Some((node, pointer))
}
