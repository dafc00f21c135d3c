//! Why an answer stops, in the words of each dialect.

/// Why an answer stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It is done.
    EndTurn,
    /// It calls tools.
    ToolUse,
    /// It has reached its length.
    MaxTokens,
    /// The model, or a filter, won't say it.
    Refusal,
    /// A stop sequence of the request was reached.
    StopSequence,
    /// It stops for a moment, and is asked to go on.
    PauseTurn,
    /// The context is full.
    ContextWindow,
}

/// The words of one reason: ours and Anthropic's, Chat's, those of an incomplete Responses answer, Gemini's.
struct Words {
    reason: StopReason,
    anthropic: &'static str,
    chat: &'static str,
    responses: Option<&'static str>,
    gemini: &'static str,
}

const WORDS: &[Words] = &[
    words(StopReason::EndTurn, "end_turn", "stop", None, "STOP"),
    words(StopReason::ToolUse, "tool_use", "tool_calls", None, "STOP"),
    words(
        StopReason::MaxTokens,
        "max_tokens",
        "length",
        Some("max_output_tokens"),
        "MAX_TOKENS",
    ),
    words(
        StopReason::Refusal,
        "refusal",
        "content_filter",
        Some("content_filter"),
        "SAFETY",
    ),
    words(
        StopReason::StopSequence,
        "stop_sequence",
        "stop",
        None,
        "STOP",
    ),
    words(StopReason::PauseTurn, "pause_turn", "stop", None, "STOP"),
    words(
        StopReason::ContextWindow,
        "model_context_window_exceeded",
        "length",
        Some("max_output_tokens"),
        "MAX_TOKENS",
    ),
];

const fn words(
    reason: StopReason,
    anthropic: &'static str,
    chat: &'static str,
    responses: Option<&'static str>,
    gemini: &'static str,
) -> Words {
    Words {
        reason,
        anthropic,
        chat,
        responses,
        gemini,
    }
}

impl StopReason {
    /// The reason with this word in any dialect, or `None`. A word of several reasons means the first.
    pub fn from_word(word: &str) -> Option<Self> {
        if word == "completed" {
            return Some(Self::EndTurn);
        }
        WORDS
            .iter()
            .find(|words| {
                [words.anthropic, words.chat, words.gemini].contains(&word)
                    || words.responses == Some(word)
            })
            .map(|words| words.reason)
    }

    /// `stop_reason` of Anthropic, which is our own word too.
    pub fn anthropic(self) -> &'static str {
        self.words().anthropic
    }

    /// `finish_reason` of Chat.
    pub fn chat(self) -> &'static str {
        self.words().chat
    }

    /// `incomplete_details.reason` of Responses; `None` if the answer is complete.
    pub fn responses(self) -> Option<&'static str> {
        self.words().responses
    }

    /// `finishReason` of Gemini.
    pub fn gemini(self) -> &'static str {
        self.words().gemini
    }

    fn words(self) -> &'static Words {
        WORDS
            .iter()
            .find(|words| words.reason == self)
            .expect("each reason has its row")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_row_and_its_word_is_read_back() {
        for words in WORDS {
            assert_eq!(
                StopReason::from_word(words.reason.anthropic()),
                Some(words.reason)
            );
        }
        assert_eq!(StopReason::from_word("length"), Some(StopReason::MaxTokens));
        assert_eq!(StopReason::from_word("STOP"), Some(StopReason::EndTurn));
        assert_eq!(
            StopReason::from_word("content_filter"),
            Some(StopReason::Refusal)
        );
        assert_eq!(StopReason::from_word("bored"), None);
    }
}
