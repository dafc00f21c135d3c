//! What an answer costs: as scripted, else by a fixed counter.

use cuecard_source::value::Json;
use cuecard_timeline::script::{Part, Request, ToolInput};

use super::answer::{Element, joined};

/// The tokens of what isn't looked into: an image, a file.
const OPAQUE: u64 = 256;

/// How many tokens an answer cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// All of the request, what was cached included.
    pub input: u64,
    /// What of the request was read from a cache.
    pub cached: u64,
    /// What of the request was written to a cache.
    pub cache_written: u64,
    /// All of the answer, thinking included.
    pub output: u64,
    /// What of the answer is thinking.
    pub reasoning: u64,
}

impl Usage {
    /// The usage of an answer with these elements to a request of `input` tokens. `scripted` is the `usage` of the
    /// script in the words of any dialect; what it doesn't say is counted, and null says nothing.
    ///
    /// ```
    /// use cuecard_wire::llm::usage::Usage;
    /// use serde_json::json;
    ///
    /// let usage = Usage::of(&json!({"output_tokens": 34}), 12, &[]);
    /// assert_eq!((usage.input, usage.output, usage.total()), (12, 34, 46));
    /// ```
    pub fn of(scripted: &Json, input: u64, elements: &[Element]) -> Self {
        let (thought, said) = counted(elements);
        if scripted.is_null() {
            return Self {
                input,
                output: thought.saturating_add(said),
                reasoning: thought,
                ..Self::default()
            };
        }
        let number = |names: &[&str]| {
            names.iter().find_map(|name| match name.split_once('.') {
                Some((outer, inner)) => scripted.get(outer)?.get(inner)?.as_u64(),
                None => scripted.get(name)?.as_u64(),
            })
        };
        // Anthropic counts what is cached beside the input, the others count it as a part of it.
        let beside_read = number(&["cache_read_input_tokens", "cacheReadInputTokens"]);
        let beside_written = number(&["cache_creation_input_tokens", "cacheCreationInputTokens"]);
        let inside_read = number(&[
            "input_tokens_details.cached_tokens",
            "prompt_tokens_details.cached_tokens",
            "cachedContentTokenCount",
            "cachedReadTokens",
        ]);
        let inside_written = number(&[
            "input_tokens_details.cache_write_tokens",
            "cachedWriteTokens",
        ]);
        let scripted_input = number(&[
            "input_tokens",
            "inputTokens",
            "prompt_tokens",
            "promptTokens",
            "promptTokenCount",
        ]);
        let beside = beside_read
            .unwrap_or(0)
            .saturating_add(beside_written.unwrap_or(0));
        let input = scripted_input.map_or(input, |input| input.saturating_add(beside));
        let reasoning = number(&[
            "output_tokens_details.reasoning_tokens",
            "completion_tokens_details.reasoning_tokens",
            "thoughtsTokenCount",
            "thoughtTokens",
        ]);
        let output = number(&[
            "output_tokens",
            "outputTokens",
            "completion_tokens",
            "completionTokens",
        ]);
        // Gemini counts thinking beside the candidates.
        let candidates = number(&["candidatesTokenCount"])
            .map(|count| count.saturating_add(reasoning.unwrap_or(thought)));
        let output = output
            .or(candidates)
            .unwrap_or(thought.saturating_add(said));
        Self {
            input,
            cached: beside_read.or(inside_read).unwrap_or(0).min(input),
            cache_written: beside_written.or(inside_written).unwrap_or(0).min(input),
            output,
            reasoning: reasoning.unwrap_or(thought).min(output),
        }
    }

    /// The usage as a script says it: [`Usage::of`] makes the same of it. What is nothing is left out.
    pub fn to_scripted(&self) -> Json {
        let mut scripted = serde_json::Map::new();
        let mut say = |name: &str, count: u64| {
            scripted.insert(name.to_owned(), count.into());
        };
        say("input_tokens", self.uncached());
        if self.cached > 0 {
            say("cache_read_input_tokens", self.cached);
        }
        if self.cache_written > 0 {
            say("cache_creation_input_tokens", self.cache_written);
        }
        say("output_tokens", self.output);
        if self.reasoning > 0 {
            let details = serde_json::json!({ "reasoning_tokens": self.reasoning });
            scripted.insert("output_tokens_details".to_owned(), details);
        }
        Json::Object(scripted)
    }

    /// Input and output.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// What of the input had nothing to do with a cache.
    pub(super) fn uncached(&self) -> u64 {
        self.input
            .saturating_sub(self.cached)
            .saturating_sub(self.cache_written)
    }
}

/// The tokens of the elements: those of thinking, and all others.
fn counted(elements: &[Element]) -> (u64, u64) {
    let (mut thought, mut said) = (0, 0);
    for element in elements {
        match element {
            Element::Thinking(pieces) => thought += count(&joined(pieces)),
            Element::Text(pieces) | Element::Refusal(pieces) => said += count(&joined(pieces)),
            Element::Call(call) => said += count(&call.name) + count(&call.input_text()),
        }
    }
    (thought, said)
}

/// The tokens of a request: of its system text, its conversation and its tools.
pub fn count_request(request: &Request) -> u64 {
    let parts = request.history.iter().flat_map(|message| &message.parts);
    let said = parts.map(|part| match part {
        Part::Text(text) | Part::Thinking(text) => count(text),
        Part::Call(call) => count(&call.name) + count_json(&call.args),
        Part::Result(result) => {
            count(&result.text) + result.blocks.iter().map(|_| OPAQUE).sum::<u64>()
        }
        // An image, a file: it costs, and how much isn't looked into.
        Part::Block(_) => OPAQUE,
    });
    let tools = request.tools.iter().map(|tool| {
        let schema = match &tool.input {
            ToolInput::Schema(schema) => count_json(schema),
            ToolInput::Text | ToolInput::Opaque => 0,
        };
        count(&tool.name) + count(&tool.description) + schema
    });
    count(&request.system) + said.sum::<u64>() + tools.sum::<u64>()
}

/// The tokens of JSON: those of its names and values, and one for each other value.
fn count_json(json: &Json) -> u64 {
    match json {
        Json::Null | Json::Bool(_) | Json::Number(_) => 1,
        Json::String(text) => count(text),
        Json::Array(items) => 1 + items.iter().map(count_json).sum::<u64>(),
        Json::Object(members) => {
            let inner = members
                .iter()
                .map(|(name, value)| count(name) + count_json(value));
            1 + inner.sum::<u64>()
        }
    }
}

/// The tokens of a text by a fixed rule that is near what tokenizers say: a run of letters and digits counts one for
/// each four characters begun, every other character that isn't white space counts one, as does each character
/// outside of the Latin, Greek and Cyrillic scripts.
///
/// ```
/// use cuecard_wire::llm::usage::count;
///
/// assert_eq!(count("Hello, world!"), 6);
/// assert_eq!(count(""), 0);
/// ```
pub fn count(text: &str) -> u64 {
    let (mut tokens, mut run) = (0, 0_u64);
    for character in text.chars() {
        if character < '\u{530}' && character.is_alphanumeric() {
            tokens += u64::from(run.is_multiple_of(4));
            run += 1;
        } else {
            tokens += u64::from(!character.is_whitespace());
            run = 0;
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::super::answer::Piece;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn elements() -> Vec<Element> {
        let pieces = |text: &str| {
            vec![Piece {
                text: text.into(),
                ..Piece::default()
            }]
        };
        vec![
            Element::Thinking(pieces("one two")),
            Element::Text(pieces("three")),
        ]
    }

    #[test]
    fn what_is_not_scripted_is_counted() {
        let usage = Usage::of(&Json::Null, 9, &elements());
        assert_eq!(
            usage,
            Usage {
                input: 9,
                output: 4,
                reasoning: 2,
                ..Usage::default()
            }
        );
    }

    #[test]
    fn each_dialects_words_are_understood() {
        let expected = Usage {
            input: 12,
            cached: 2,
            cache_written: 0,
            output: 34,
            reasoning: 4,
        };
        for scripted in [
            json!({"input_tokens": 10, "cache_read_input_tokens": 2, "output_tokens": 34,
                "output_tokens_details": {"reasoning_tokens": 4}}),
            json!({"prompt_tokens": 12, "completion_tokens": 34, "prompt_tokens_details": {"cached_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 4}}),
            json!({"input_tokens": 12, "output_tokens": 34, "input_tokens_details": {"cached_tokens": 2},
                "output_tokens_details": {"reasoning_tokens": 4}}),
            json!({"promptTokenCount": 12, "candidatesTokenCount": 30, "cachedContentTokenCount": 2,
                "thoughtsTokenCount": 4}),
            json!({"inputTokens": 12, "outputTokens": 34, "cachedReadTokens": 2, "thoughtTokens": 4}),
        ] {
            assert_eq!(Usage::of(&scripted, 0, &elements()), expected, "{scripted}");
        }
    }

    #[test]
    fn nonsense_counts_as_nothing_said() {
        let usage = Usage::of(
            &json!({"input_tokens": "many", "output_tokens": -1}),
            3,
            &[],
        );
        assert_eq!(
            usage,
            Usage {
                input: 3,
                ..Usage::default()
            }
        );
        let usage = Usage::of(
            &json!({"input_tokens": u64::MAX, "cache_read_input_tokens": u64::MAX}),
            0,
            &[],
        );
        assert_eq!((usage.total(), usage.uncached()), (u64::MAX, 0));
    }

    proptest! {
        #[test]
        fn the_parts_are_never_more_than_the_whole(
            text in ".{0,60}", input in 0..1000_u64, scripted in 0..1000_u64
        ) {
            let elements = [Element::Thinking(vec![Piece { text: text.into(), ..Piece::default() }])];
            let usage = Usage::of(&json!({"cache_read_input_tokens": scripted, "output_tokens": scripted}), input, &elements);
            prop_assert!(usage.reasoning <= usage.output && usage.cached <= usage.input);
            prop_assert!(usage.uncached() <= usage.input);
        }

        #[test]
        fn what_is_scripted_means_the_same(
            uncached in 0..1000_u64, cached in 0..1000_u64, cache_written in 0..1000_u64,
            said in 0..1000_u64, reasoning in 0..1000_u64,
        ) {
            let usage = Usage {
                input: uncached + cached + cache_written, cached, cache_written, output: said + reasoning, reasoning,
            };
            prop_assert_eq!(Usage::of(&usage.to_scripted(), 7, &[]), usage);
        }

        #[test]
        fn a_count_never_exceeds_the_characters(text in ".{0,200}") {
            prop_assert!(count(&text) <= text.chars().count() as u64);
        }
    }
}
