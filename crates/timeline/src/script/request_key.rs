//! What a request is recognised by when it comes again: the same for recording and for matching.

use std::fmt;

use smallvec::SmallVec;

use super::hashing::Hasher;
use cuecard_source::value::Json;

/// Members at the top of a body that say how to answer, or for whom, and not what.
const IGNORED_AT_TOP: &[&str] = &[
    "stream",
    "stream_options",
    "metadata",
    "user",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
];

/// The cache hint of a block, a tool or a message.
const CACHE_HINT: &str = "cache_control";

/// Members whose contents belong to a tool: nothing in them is a hint for the provider.
const OF_TOOLS: &[&str] = &[
    "input",
    "arguments",
    "args",
    "input_schema",
    "parameters",
    "parametersJsonSchema",
    "response",
];

/// Deeper values are taken as their text. The readers of bodies allow less.
const MAX_DEPTH: usize = 128;

/// Whether the member at the top of a body says how to answer, or for whom, and not what.
pub(super) fn says_how_to_answer(name: &str) -> bool {
    IGNORED_AT_TOP.contains(&name)
}

/// The fingerprint of a request without `stream`, `stream_options`, `metadata`, `user` and cache hints.
/// Neither the order of an object's members nor white space counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RequestKey(pub [u8; 16]);

impl RequestKey {
    /// The key of a request to `route` (the path without its query, with the model where that is in the path).
    pub fn of(route: &str, body: &Json) -> Self {
        let mut hasher = Hasher::new();
        hasher.text(route.as_bytes());
        let at_top = Place {
            depth: 0,
            is_of_tool: false,
        };
        hash(&mut hasher, body, at_top);
        let digest = hasher.finish();
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        Self(key)
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    is_of_tool: bool,
}

impl Place {
    fn ignores(self, name: &str) -> bool {
        (self.depth == 0 && says_how_to_answer(name)) || (!self.is_of_tool && name == CACHE_HINT)
    }

    fn inside(self, name: &str, value: &Json) -> Self {
        // `input` at the top is the conversation of the Responses API, and `input` of a call its arguments.
        let is_conversation = self.depth == 0 && name == "input" && value.is_array();
        Self {
            depth: self.depth + 1,
            is_of_tool: self.is_of_tool || (OF_TOOLS.contains(&name) && !is_conversation),
        }
    }
}

/// Each value begins with a byte for its type, and texts with their length, so that no two values read the same.
fn hash(hasher: &mut Hasher, value: &Json, place: Place) {
    if place.depth > MAX_DEPTH {
        return hasher.text(value.to_string().as_bytes());
    }
    match value {
        Json::Null => hasher.bytes(b"n"),
        Json::Bool(true) => hasher.bytes(b"t"),
        Json::Bool(false) => hasher.bytes(b"f"),
        Json::Number(number) => {
            hasher.bytes(b"d");
            hasher.text(number.to_string().as_bytes());
        }
        Json::String(text) => {
            hasher.bytes(b"s");
            hasher.text(text.as_bytes());
        }
        Json::Array(items) => {
            hasher.bytes(b"[");
            let inside = Place {
                depth: place.depth + 1,
                ..place
            };
            for item in items {
                hash(hasher, item, inside);
            }
            hasher.bytes(b"]");
        }
        Json::Object(members) => {
            hasher.bytes(b"{");
            let mut members: SmallVec<[_; 16]> = members
                .iter()
                .filter(|(name, _)| !place.ignores(name))
                .collect();
            members.sort_unstable_by_key(|(name, _)| name.as_str());
            for (name, member) in members {
                hasher.text(name.as_bytes());
                hash(hasher, member, place.inside(name, member));
            }
            hasher.bytes(b"}");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use sha2::{Digest, Sha256};

    use super::*;

    fn key(body: Json) -> RequestKey {
        RequestKey::of("/v1/messages", &body)
    }

    #[test]
    fn what_says_how_to_answer_does_not_count() {
        let plain = json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]});
        let dressed = json!({
            "stream": true, "stream_options": {"include_usage": true}, "metadata": {"user_id": "u"}, "user": "u",
            "messages": [{"content": [{"cache_control": {"type": "ephemeral"}, "text": "hi", "type": "text"}], "role": "user"}],
            "model": "m", "prompt_cache_key": "k",
        });
        assert_eq!(key(plain.clone()), key(dressed));
        assert_ne!(
            key(plain.clone()),
            RequestKey::of("/v1/chat/completions", &plain)
        );
    }

    #[test]
    fn what_is_asked_counts() {
        let with = |input: Json| {
            key(json!({"messages": [{"content": [{"type": "tool_use", "input": input}]}]}))
        };
        assert_ne!(with(json!({"cache_control": 1})), with(json!({})));
        assert_ne!(with(json!({"user": "a"})), with(json!({"user": "b"})));
        assert_ne!(key(json!(["ab", "c"])), key(json!(["a", "bc"])));
        assert_ne!(key(json!(1)), key(json!("1")));
        assert_ne!(key(json!([[], []])), key(json!([[[]]])));
        assert_eq!(
            key(json!({"input": [{"cache_control": 1}]})),
            key(json!({"input": [{}]}))
        );
    }

    #[test]
    fn a_key_is_the_same_in_every_version() {
        // Recordings hold keys. Long texts and short ones are hashed in different ways.
        let body = json!({"model": "m", "messages": [{"content": "x".repeat(10_000)}, {"content": "hi"}], "n": 1.5});
        let expected = {
            let mut plain = Sha256::new();
            let mut text = |text: &str| {
                plain.update((text.len() as u64).to_le_bytes());
                plain.update(text.as_bytes());
            };
            text("/v1/messages");
            let long = "x".repeat(10_000);
            let parts = [
                "{", "messages", "[", "{", "content", "s", &long, "}", "{", "content", "s", "hi",
                "}", "]",
            ];
            let more = ["model", "s", "m", "n", "d", "1.5", "}"];
            let (mut bytes, is_mark) = (Vec::new(), |part: &str| {
                matches!(part, "{" | "}" | "[" | "]" | "s" | "d")
            });
            for part in parts.iter().chain(&more) {
                if !is_mark(part) {
                    bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
                }
                bytes.extend_from_slice(part.as_bytes());
            }
            plain.update(&bytes);
            let digest: [u8; 32] = plain.finalize().into();
            digest
        };
        assert_eq!(key(body).0, expected[..16]);
    }

    #[test]
    fn a_key_is_shown_as_hexadecimal() {
        assert_eq!(RequestKey([0xab; 16]).to_string(), "ab".repeat(16));
    }

    proptest! {
        #[test]
        fn the_order_of_members_does_not_count(names in proptest::collection::btree_map("[a-z]{1,8}", any::<u32>(), 0..8)) {
            let forward: serde_json::Map<_, _> = names.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            let backward: serde_json::Map<_, _> = names.iter().rev().map(|(name, value)| (name.clone(), json!(value))).collect();
            prop_assert_eq!(key(Json::Object(forward)), key(Json::Object(backward)));
        }
    }
}
