//! What a request is recognised by when it comes again: the same for recording and for matching.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::value::Json;

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

/// The fingerprint of a request without `stream`, `stream_options`, `metadata`, `user` and cache hints.
/// Neither the order of an object's members nor white space counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RequestKey(pub [u8; 16]);

impl RequestKey {
    /// The key of a request to `route` (the path without its query, with the model where that is in the path).
    pub fn of(route: &str, body: &Json) -> Self {
        let mut hasher = Sha256::new();
        hash_text(&mut hasher, route);
        let at_top = Place {
            depth: 0,
            is_of_tool: false,
        };
        hash(&mut hasher, body, at_top);
        let digest: [u8; 32] = hasher.finalize().into();
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
        (self.depth == 0 && IGNORED_AT_TOP.contains(&name))
            || (!self.is_of_tool && name == CACHE_HINT)
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
fn hash(hasher: &mut Sha256, value: &Json, place: Place) {
    if place.depth > MAX_DEPTH {
        return hash_text(hasher, &value.to_string());
    }
    match value {
        Json::Null => hasher.update(b"n"),
        Json::Bool(true) => hasher.update(b"t"),
        Json::Bool(false) => hasher.update(b"f"),
        Json::Number(number) => {
            hasher.update(b"d");
            hash_text(hasher, &number.to_string());
        }
        Json::String(text) => {
            hasher.update(b"s");
            hash_text(hasher, text);
        }
        Json::Array(items) => {
            hasher.update(b"[");
            let inside = Place {
                depth: place.depth + 1,
                ..place
            };
            for item in items {
                hash(hasher, item, inside);
            }
            hasher.update(b"]");
        }
        Json::Object(members) => {
            hasher.update(b"{");
            let mut members: Vec<_> = members
                .iter()
                .filter(|(name, _)| !place.ignores(name))
                .collect();
            members.sort_unstable_by_key(|(name, _)| name.as_str());
            for (name, member) in members {
                hash_text(hasher, name);
                hash(hasher, member, place.inside(name, member));
            }
            hasher.update(b"}");
        }
    }
}

fn hash_text(hasher: &mut Sha256, text: &str) {
    hasher.update((text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

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
