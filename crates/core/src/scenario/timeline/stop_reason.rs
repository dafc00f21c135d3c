//! Why an answer of a model stops, in the words of each dialect.

/// Why an answer stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It is done.
    EndTurn,
    /// It calls tools.
    ToolUse,
    /// It calls a function, as Chat said it before there were tools.
    FunctionCall,
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
    /// It repeats what it has read.
    Recitation,
    /// It is in a language that isn't supported.
    Language,
    /// It holds a term that is blocked.
    Blocklist,
    /// It may hold what is prohibited.
    ProhibitedContent,
    /// It may hold what is personal.
    PersonalData,
    /// The call that the model made can't be read.
    MalformedCall,
    /// The model made a call that no tool takes.
    UnexpectedCall,
    /// An image would not be safe.
    ImageSafety,
    /// Another reason.
    Other,
}

/// The words of one reason: Anthropic's, Chat's, those of an incomplete Responses answer, Gemini's. Where a dialect has
/// no word of its own, the nearest that it has.
struct Words {
    reason: StopReason,
    anthropic: &'static str,
    chat: &'static str,
    responses: Option<&'static str>,
    gemini: &'static str,
}

const FILTER: Option<&str> = Some("content_filter");
const LENGTH: Option<&str> = Some("max_output_tokens");

/// A word of several reasons means the first.
const WORDS: &[Words] = {
    use StopReason as Reason;
    &[
        words(Reason::EndTurn, "end_turn", "stop", None, "STOP"),
        words(Reason::ToolUse, "tool_use", "tool_calls", None, "STOP"),
        words(
            Reason::FunctionCall,
            "tool_use",
            "function_call",
            None,
            "STOP",
        ),
        words(
            Reason::MaxTokens,
            "max_tokens",
            "length",
            LENGTH,
            "MAX_TOKENS",
        ),
        words(
            Reason::Refusal,
            "refusal",
            "content_filter",
            FILTER,
            "SAFETY",
        ),
        words(Reason::StopSequence, "stop_sequence", "stop", None, "STOP"),
        words(Reason::PauseTurn, "pause_turn", "stop", None, "STOP"),
        words(
            Reason::ContextWindow,
            "model_context_window_exceeded",
            "length",
            LENGTH,
            "MAX_TOKENS",
        ),
        words(
            Reason::Recitation,
            "refusal",
            "content_filter",
            FILTER,
            "RECITATION",
        ),
        words(
            Reason::Language,
            "refusal",
            "content_filter",
            FILTER,
            "LANGUAGE",
        ),
        words(
            Reason::Blocklist,
            "refusal",
            "content_filter",
            FILTER,
            "BLOCKLIST",
        ),
        words(
            Reason::ProhibitedContent,
            "refusal",
            "content_filter",
            FILTER,
            "PROHIBITED_CONTENT",
        ),
        words(
            Reason::PersonalData,
            "refusal",
            "content_filter",
            FILTER,
            "SPII",
        ),
        words(
            Reason::MalformedCall,
            "end_turn",
            "stop",
            None,
            "MALFORMED_FUNCTION_CALL",
        ),
        words(
            Reason::UnexpectedCall,
            "end_turn",
            "stop",
            None,
            "UNEXPECTED_TOOL_CALL",
        ),
        words(
            Reason::ImageSafety,
            "refusal",
            "content_filter",
            FILTER,
            "IMAGE_SAFETY",
        ),
        words(Reason::Other, "end_turn", "stop", None, "OTHER"),
    ]
};

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
            .find(|words| words.all().any(|known| known == word))
            .map(|words| words.reason)
    }

    /// All words, each once.
    pub fn all_words() -> Vec<&'static str> {
        let mut all = vec!["completed"];
        for word in WORDS.iter().flat_map(Words::all) {
            if !all.contains(&word) {
                all.push(word);
            }
        }
        all
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

impl Words {
    fn all(&self) -> impl Iterator<Item = &'static str> {
        [
            Some(self.anthropic),
            Some(self.chat),
            self.responses,
            Some(self.gemini),
        ]
        .into_iter()
        .flatten()
    }
}

/// `stopReason` of a response: one for all dialects, or one for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StopReasons {
    /// For Messages.
    pub anthropic: Option<StopReason>,
    /// For Chat and Responses.
    pub openai: Option<StopReason>,
    /// For Gemini.
    pub gemini: Option<StopReason>,
}

impl StopReasons {
    /// The same for all dialects.
    pub fn all(reason: StopReason) -> Self {
        Self {
            anthropic: Some(reason),
            openai: Some(reason),
            gemini: Some(reason),
        }
    }

    /// Each that is missing is that of `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            anthropic: self.anthropic.or(other.anthropic),
            openai: self.openai.or(other.openai),
            gemini: self.gemini.or(other.gemini),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_read_back_as_what_the_dialect_says() {
        for word in StopReason::all_words() {
            let reason = StopReason::from_word(word).expect("a known word");
            let said = [
                Some(reason.anthropic()),
                Some(reason.chat()),
                reason.responses(),
                Some(reason.gemini()),
                Some("completed"),
            ];
            assert!(said.contains(&Some(word)), "{word}");
        }
        for words in WORDS {
            assert_eq!(words.reason.words().gemini, words.gemini);
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
