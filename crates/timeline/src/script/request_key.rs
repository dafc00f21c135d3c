//! What a request is recognised by when it comes again: the same for recording and for matching.

use std::fmt;

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
        let mut body = body.clone();
        let at_top = Place {
            is_top: true,
            is_of_tool: false,
        };
        at_top.strip(&mut body);
        body.sort_all_objects();
        let mut hasher = Hasher::new();
        hasher.text(route.as_bytes());
        hasher.text(body.to_string().as_bytes());
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
    is_top: bool,
    is_of_tool: bool,
}

impl Place {
    /// Leaves out of a value what does not count.
    fn strip(self, value: &mut Json) {
        let inside = Self {
            is_top: false,
            ..self
        };
        match value {
            Json::Array(items) => items.iter_mut().for_each(|item| inside.strip(item)),
            Json::Object(members) => {
                members.retain(|name, _| !self.ignores(name));
                for (name, member) in members {
                    // `input` at the top is the conversation of the Responses API, and `input` of a call its arguments.
                    let is_conversation = self.is_top && name == "input" && member.is_array();
                    let is_of_tool = OF_TOOLS.contains(&name.as_str()) && !is_conversation;
                    Self {
                        is_of_tool: self.is_of_tool || is_of_tool,
                        ..inside
                    }
                    .strip(member);
                }
            }
            _ => {}
        }
    }

    fn ignores(self, name: &str) -> bool {
        (self.is_top && says_how_to_answer(name)) || (!self.is_of_tool && name == CACHE_HINT)
    }
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
