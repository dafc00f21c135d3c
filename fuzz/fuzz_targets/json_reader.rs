//! The JSON reader against `serde_json`: both accept the same texts and read the same values, apart from duplicate
//! keys, which only our reader refuses. All spans lie on characters of the text.

#![no_main]

use cuecard_core::source::json::{JsonErrorKind, Limits, Node, parse, string_span};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &str| {
    let parsed = parse(text, &Limits::default());
    let theirs = serde_json::from_str::<Value>(text);
    if parsed.errors.is_empty() {
        let ours = parsed
            .root
            .as_ref()
            .map(Node::to_value)
            .expect("no errors, so a value");
        let theirs = theirs.expect("we accept what serde_json accepts");
        assert_eq!(ours, theirs);
        assert_eq!(ours.to_string(), theirs.to_string(), "the order of members");
    } else if theirs.is_ok() {
        let is_duplicate =
            |kind: &JsonErrorKind| matches!(kind, JsonErrorKind::DuplicateKey { .. });
        assert!(
            parsed.errors.iter().all(|error| is_duplicate(&error.kind)),
            "{:?}",
            parsed.errors
        );
    }
    for error in &parsed.errors {
        assert!(text.get(error.span.range()).is_some(), "{error:?}");
        assert!(!error.message().contains(char::is_control));
        assert!(!error.help().unwrap_or_default().contains(char::is_control));
    }
    let mut nodes: Vec<&Node> = parsed.root.iter().collect();
    while let Some(node) = nodes.pop() {
        assert!(text.get(node.span.range()).is_some(), "{node:?}");
        if let Some(string) = node.as_str() {
            let span = string_span(text, node.span, 0..string.len());
            assert!(text.get(span.range()).is_some(), "{node:?}");
        }
        nodes.extend(node.as_array().unwrap_or_default());
        nodes.extend(node.members().iter().map(|member| &member.value));
    }
});
