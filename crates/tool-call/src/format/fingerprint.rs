//! Tells whether a scenario is still what an earlier run has played.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::model::ToolCallScenario;
use cuecard_source::Span;

/// The salted hashes of what a scenario says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// Of each step, by its number.
    pub steps: BTreeMap<u64, String>,
    /// Of everything else.
    pub rest: String,
}

/// The hashes of a scenario. White space between tokens makes no difference.
pub fn fingerprint(scenario: &ToolCallScenario, salt: &str) -> Fingerprint {
    let source = &scenario.source;
    let steps = scenario.steps.iter();
    let hashes = steps.map(|step| (step.number, hash(salt, [source.slice(step.span)])));
    let spans = || scenario.steps.iter().map(|step| step.span);
    let before = Span {
        start: 0,
        end: spans().map(|span| span.start).min().unwrap_or_default(),
    };
    let behind = Span {
        start: spans().map(|span| span.end).max().unwrap_or_default(),
        ..Span::new(0, source.text().len())
    };
    Fingerprint {
        steps: hashes.collect(),
        rest: hash(salt, [source.slice(before), source.slice(behind)]),
    }
}

fn hash<const N: usize>(salt: &str, parts: [&str; N]) -> String {
    let mut hasher = Sha256::new_with_prefix(salt);
    for part in parts {
        let (mut in_text, mut is_escaped) = (false, false);
        let tokens: Vec<u8> = part
            .bytes()
            .filter(|byte| {
                in_text ^= *byte == b'"' && !is_escaped;
                is_escaped = in_text && *byte == b'\\' && !is_escaped;
                in_text || !byte.is_ascii_whitespace()
            })
            .collect();
        hasher.update(tokens);
    }
    let digest = hasher.finalize();
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn only_white_space_outside_of_texts_makes_no_difference() {
        let of = |text| hash("salt", [text]);
        assert_eq!(
            of(r#"{"a": "b c\" d", "e":1}"#),
            of("{\n\"a\":\"b c\\\" d\",\"e\":\t1 }")
        );
        assert_ne!(of(r#"{"a": "b c"}"#), of(r#"{"a": "bc"}"#));
        assert_ne!(
            of(r#"{"a": "\\", "b": " c"}"#),
            of(r#"{"a": "\\", "b": "c"}"#)
        );
        assert_ne!(of("1"), hash("other", ["1"]));
    }
}
