//! JSON and YAML.

use cuecard_source::MistakeKind;
use cuecard_source::json::{self, Limits, Node, NodeKind, string_span};
use cuecard_source::yaml;
use serde_json::Value;

/// The JSON reader against `serde_json`: both accept the same texts and read the same values, apart from duplicate
/// keys, which only ours refuses, and integers of more than 64 bits, which become texts. All its places lie on characters
/// of the text.
///
/// # Panics
/// If that does not hold, here and in the other functions.
pub fn json(text: &str) {
    let parsed = json::parse(text, &Limits::default());
    let theirs = serde_json::from_str::<Value>(text);
    if parsed.errors.is_empty() {
        let root = parsed.root.as_ref().expect("no errors, so a value");
        let theirs = theirs.expect("what we accept, it accepts");
        let ours = root.to_value();
        let is_large = |node: &Node| {
            let NodeKind::Number(digits) = &node.kind else {
                return false;
            };
            digits.len() > 18
                && digits
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'-')
        };
        let theirs = match nodes(root).into_iter().any(is_large) {
            true => json::read_value(text).expect("it was read"),
            false => theirs,
        };
        assert_eq!(ours, theirs);
        assert_eq!(ours.to_string(), theirs.to_string(), "the order of members");
    } else if theirs.is_ok() {
        let errors = &parsed.errors;
        let is_duplicate = errors
            .iter()
            .all(|error| error.kind == MistakeKind::DuplicateKey);
        assert!(is_duplicate, "{errors:?}");
    }
    for error in &parsed.errors {
        assert!(text.get(error.span.range()).is_some(), "{error:?}");
        assert_plain(&error.message, error.help.as_deref());
    }
    let Some(root) = &parsed.root else { return };
    assert_places(text, root);
    for node in nodes(root) {
        if let Some(string) = node.as_str() {
            let span = string_span(text, node.span, 0..string.len());
            assert!(text.get(span.range()).is_some(), "{node:?}");
        }
    }
}

/// The YAML reader against the JSON reader: what both accept, both read to the same tree. All its places lie on
/// characters of the text.
///
/// # Panics
/// See [`json`].
pub fn yaml(text: &str) {
    let parsed = yaml::parse(text, &Limits::default());
    if parsed.errors.is_empty() {
        let root = parsed.root.as_ref().expect("no errors, so a value");
        let theirs = json::parse(text, &Limits::default());
        if theirs.errors.is_empty() {
            assert_eq!(Some(root), theirs.root.as_ref());
        }
    }
    for error in &parsed.errors {
        assert!(text.get(error.span.range()).is_some(), "{error:?}");
        assert_plain(&error.message, error.help.as_deref());
    }
    if let Some(root) = &parsed.root {
        assert_places(text, root);
    }
}

fn assert_plain(message: &str, help: Option<&str>) {
    assert!(!message.contains(char::is_control), "{message:?}");
    assert!(
        !help.unwrap_or_default().contains(char::is_control),
        "{help:?}"
    );
}

fn assert_places(text: &str, root: &Node) {
    for node in nodes(root) {
        assert!(text.get(node.span.range()).is_some(), "{node:?}");
        for member in node.members() {
            assert!(text.get(member.key_span.range()).is_some(), "{member:?}");
        }
    }
}

/// A value and everything in it.
fn nodes(root: &Node) -> Vec<&Node> {
    let mut nodes = vec![root];
    let mut next = 0;
    while let Some(&node) = nodes.get(next) {
        nodes.extend(node.as_array().unwrap_or_default());
        nodes.extend(node.members().iter().map(|member| &member.value));
        next += 1;
    }
    nodes
}
