//! Why an answer of a model stops, in the words of each dialect.

use serde::Deserialize;

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
    /// A filter won't let the prompt through to the model: it may hold what is prohibited.
    PromptBlocked,
    /// The same, since it is not safe.
    PromptUnsafe,
    /// The same, for a term that is blocked.
    PromptBlocklist,
    /// The same, for an image in it.
    PromptImageSafety,
    /// Another reason.
    Other,
    /// A filter won't let the prompt through, for another reason.
    PromptOther,
    /// It is done, and says nothing: of Gemini's, there is not even an empty content.
    NoContent,
    /// It has reached its length before it said anything, the same.
    MaxTokensNoContent,
}

/// Words that no dialect has for why an answer stops.
const OWN_WORDS: [(&str, StopReason); 8] = [
    ("completed", StopReason::EndTurn),
    ("prompt_blocked", StopReason::PromptBlocked),
    ("prompt_blocked_safety", StopReason::PromptUnsafe),
    ("prompt_blocked_blocklist", StopReason::PromptBlocklist),
    ("prompt_blocked_image_safety", StopReason::PromptImageSafety),
    ("prompt_blocked_other", StopReason::PromptOther),
    ("no_content", StopReason::NoContent),
    ("max_tokens_no_content", StopReason::MaxTokensNoContent),
];

const FILTER: Option<&str> = Some("content_filter");
const LENGTH: Option<&str> = Some("max_output_tokens");

/// Anthropic's word, Chat's, that of an incomplete Responses answer, Gemini's.
type Words = (
    &'static str,
    &'static str,
    Option<&'static str>,
    &'static str,
);

/// The words of each reason, in the order of the reasons. Where a dialect has none of its own, the nearest that it has; a
/// word of several reasons means the first.
#[rustfmt::skip]
const WORDS: [(StopReason, Words); 24] = [
    (StopReason::EndTurn, ("end_turn", "stop", None, "STOP")),
    (StopReason::ToolUse, ("tool_use", "tool_calls", None, "STOP")),
    (StopReason::FunctionCall, ("tool_use", "function_call", None, "STOP")),
    (StopReason::MaxTokens, ("max_tokens", "length", LENGTH, "MAX_TOKENS")),
    (StopReason::Refusal, ("refusal", "content_filter", FILTER, "SAFETY")),
    (StopReason::StopSequence, ("stop_sequence", "stop", None, "STOP")),
    (StopReason::PauseTurn, ("pause_turn", "stop", None, "STOP")),
    (StopReason::ContextWindow, ("model_context_window_exceeded", "length", LENGTH, "MAX_TOKENS")),
    (StopReason::Recitation, ("refusal", "content_filter", FILTER, "RECITATION")),
    (StopReason::Language, ("refusal", "content_filter", FILTER, "LANGUAGE")),
    (StopReason::Blocklist, ("refusal", "content_filter", FILTER, "BLOCKLIST")),
    (StopReason::ProhibitedContent, ("refusal", "content_filter", FILTER, "PROHIBITED_CONTENT")),
    (StopReason::PersonalData, ("refusal", "content_filter", FILTER, "SPII")),
    (StopReason::MalformedCall, ("end_turn", "stop", None, "MALFORMED_FUNCTION_CALL")),
    (StopReason::UnexpectedCall, ("end_turn", "stop", None, "UNEXPECTED_TOOL_CALL")),
    (StopReason::ImageSafety, ("refusal", "content_filter", FILTER, "IMAGE_SAFETY")),
    (StopReason::PromptBlocked, ("refusal", "content_filter", FILTER, "PROHIBITED_CONTENT")),
    (StopReason::PromptUnsafe, ("refusal", "content_filter", FILTER, "SAFETY")),
    (StopReason::PromptBlocklist, ("refusal", "content_filter", FILTER, "BLOCKLIST")),
    (StopReason::PromptImageSafety, ("refusal", "content_filter", FILTER, "IMAGE_SAFETY")),
    (StopReason::Other, ("end_turn", "stop", None, "OTHER")),
    (StopReason::PromptOther, ("refusal", "content_filter", FILTER, "OTHER")),
    (StopReason::NoContent, ("end_turn", "stop", None, "STOP")),
    (StopReason::MaxTokensNoContent, ("max_tokens", "length", LENGTH, "MAX_TOKENS")),
];

impl StopReason {
    /// The reason with this word in any dialect, or `None`. A word of several reasons means the first.
    pub fn from_word(word: &str) -> Option<Self> {
        if let Some((_, reason)) = OWN_WORDS.iter().find(|(own, _)| *own == word) {
            return Some(*reason);
        }
        let mut all = WORDS.iter().map(|(reason, _)| *reason);
        all.find(|reason| reason.each_word().any(|known| known == word))
    }

    /// The word that means this reason in a timeline, and no other reason.
    pub fn word(self) -> &'static str {
        let own = OWN_WORDS.iter().map(|(word, _)| *word);
        let mut words = self.each_word().chain(own);
        let found = words.find(|word| Self::from_word(word) == Some(self));
        found.unwrap_or(self.anthropic())
    }

    /// The reason why a prompt is blocked, by Gemini's word for that.
    pub fn from_block_reason(word: &str) -> Option<Self> {
        let mut all = WORDS.iter().map(|(reason, _)| *reason);
        all.find(|reason| reason.is_blocked_prompt() && reason.gemini() == word)
    }

    /// Whether there is no answer since the prompt is blocked.
    pub fn is_blocked_prompt(self) -> bool {
        OWN_WORDS
            .iter()
            .any(|(word, reason)| *reason == self && word.starts_with("prompt_blocked"))
    }

    /// Whether an answer of Gemini's that says nothing has no content then, not even an empty text.
    pub fn is_without_content(self) -> bool {
        matches!(self, Self::NoContent | Self::MaxTokensNoContent)
            || !matches!(self.gemini(), "STOP" | "MAX_TOKENS")
    }

    /// The same reason for an answer of Gemini's without a content.
    #[must_use]
    pub fn without_content(self) -> Self {
        match self {
            Self::EndTurn => Self::NoContent,
            Self::MaxTokens => Self::MaxTokensNoContent,
            other => other,
        }
    }

    /// All words, each once.
    pub fn all_words() -> Vec<&'static str> {
        let mut all: Vec<&str> = OWN_WORDS.iter().map(|(word, _)| *word).collect();
        for word in WORDS.iter().flat_map(|(reason, _)| reason.each_word()) {
            if !all.contains(&word) {
                all.push(word);
            }
        }
        all
    }

    /// `stop_reason` of Anthropic, which is our own word too.
    pub fn anthropic(self) -> &'static str {
        self.words().0
    }

    /// `finish_reason` of Chat.
    pub fn chat(self) -> &'static str {
        self.words().1
    }

    /// `incomplete_details.reason` of Responses; `None` if the answer is complete.
    pub fn responses(self) -> Option<&'static str> {
        self.words().2
    }

    /// `finishReason` of Gemini.
    pub fn gemini(self) -> &'static str {
        self.words().3
    }

    fn each_word(self) -> impl Iterator<Item = &'static str> {
        let (anthropic, chat, responses, gemini) = self.words();
        [Some(anthropic), Some(chat), responses, Some(gemini)]
            .into_iter()
            .flatten()
    }

    fn words(self) -> Words {
        WORDS[self as usize].1
    }
}

/// Why the model stopped: one reason for all dialects, or one for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(remote = "Self", default)]
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
            ];
            let is_own = OWN_WORDS.contains(&(word, reason));
            assert!(is_own || said.contains(&Some(word)), "{word}");
        }
        assert_eq!(StopReason::from_word("length"), Some(StopReason::MaxTokens));
        assert_eq!(StopReason::from_word("STOP"), Some(StopReason::EndTurn));
        assert_eq!(
            StopReason::from_word("content_filter"),
            Some(StopReason::Refusal)
        );
        assert_eq!(StopReason::from_word("bored"), None);
        for (idx, (reason, _)) in WORDS.into_iter().enumerate() {
            assert_eq!(reason as usize, idx);
            let again = StopReason::from_word(reason.word());
            assert_eq!(again.map(StopReason::words), Some(reason.words()));
            let is_own = again == Some(reason);
            assert!(is_own || !reason.is_blocked_prompt(), "{reason:?}");
        }
        assert_eq!(
            StopReason::from_block_reason("SAFETY").map(StopReason::word),
            Some("prompt_blocked_safety")
        );
    }
}
