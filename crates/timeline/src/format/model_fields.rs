//! The keys of what stands in for the API of a model, and of what it answers.

use cuecard_source::value::fields::{COUNT, Field, OBJECT, TEXT, field};

/// A count of tokens.
const fn tokens(name: &'static str) -> Field {
    field(
        name,
        COUNT,
        "Tokens, as the dialect with this word counts them.",
    )
}

/// What an answer costs, in the words of any dialect.
pub(super) const USAGE: &[Field] = &[
    tokens("input_tokens"),
    tokens("inputTokens"),
    tokens("prompt_tokens"),
    tokens("promptTokens"),
    tokens("promptTokenCount"),
    tokens("output_tokens"),
    tokens("outputTokens"),
    tokens("completion_tokens"),
    tokens("completionTokens"),
    tokens("candidatesTokenCount"),
    tokens("thoughtsTokenCount"),
    tokens("thoughtTokens"),
    tokens("cache_read_input_tokens"),
    tokens("cacheReadInputTokens"),
    tokens("cache_creation_input_tokens"),
    tokens("cacheCreationInputTokens"),
    tokens("cachedContentTokenCount"),
    tokens("cachedReadTokens"),
    tokens("cachedWriteTokens"),
    field(
        "input_tokens_details",
        OBJECT,
        "`cached_tokens` and `cache_write_tokens` of the input.",
    ),
    field(
        "prompt_tokens_details",
        OBJECT,
        "`cached_tokens` of the input.",
    ),
    field(
        "output_tokens_details",
        OBJECT,
        "`reasoning_tokens` of the output.",
    ),
    field(
        "completion_tokens_details",
        OBJECT,
        "`reasoning_tokens` of the output.",
    ),
    tokens("total_tokens"),
    tokens("totalTokens"),
    tokens("totalTokenCount"),
];

/// Parts of a count.
pub(super) const USAGE_DETAILS: &[Field] = &[
    tokens("cached_tokens"),
    tokens("cache_write_tokens"),
    tokens("reasoning_tokens"),
];

/// Keys of an answer as a whole.
pub(super) const RESPONSE_SIBLINGS: &[Field] = &[
    field("usage", OBJECT, "Tokens, instead of a count."),
    field(
        "stopReason",
        r#"{"type": ["string", "object"]}"#,
        "Why the model stopped: a word of any dialect, or one for each of `anthropic`, `openai`, `gemini`.",
    ),
    field("refusal", TEXT, "The text with which the model refuses."),
];

/// Reasons to stop by dialect.
pub(super) const STOP_REASONS: &[Field] = &[
    field("anthropic", TEXT, "For Messages."),
    field("openai", TEXT, "For Chat and Responses."),
    field("gemini", TEXT, "For Gemini."),
];
