//! What a sentence gives: values that a model may use, and no others.

use super::answer::InvalidReply;
use crate::model::InputValue;
use cuecard_page::sentences::given_texts;
use cuecard_source::value::{as_text, cut};

/// What a sentence gives.
pub(super) struct AllowedValues<'a> {
    sentence: &'a str,
    /// What stands in quotes, and references.
    given: Vec<String>,
}

/// Whether a navigation goes through the pages that were seen.
pub(super) fn in_browser(url: &str) -> bool {
    matches!(url, "back" | "forward" | "reload")
}

impl<'a> AllowedValues<'a> {
    pub(super) fn of(sentence: &'a str) -> Self {
        Self {
            sentence,
            given: given_texts(sentence),
        }
    }

    /// Whether a text stands in the sentence, as it is.
    pub(super) fn holds(&self, text: &str) -> bool {
        !text.is_empty() && self.sentence.contains(text)
    }

    /// Whether a value comes from the sentence, unchanged: one in quotes or a reference if there are any, else one
    /// of its words.
    pub(super) fn value(&self, key: &str, value: &InputValue) -> Result<(), InvalidReply> {
        let text = match value {
            InputValue::Flag(_) => return Ok(()),
            other => as_text(&other.to_json()).into_owned(),
        };
        let is_given = self.given.contains(&text);
        let is_word = self.given.is_empty() && (text.is_empty() || self.holds(&text));
        // A number needs no quotes, and a field is emptied without any.
        let is_number = text.parse::<f64>().is_ok() && self.holds(&text);
        if is_given || is_word || is_number || (text.is_empty() && self.clears()) {
            return Ok(());
        }
        let shown: String = cut(&text, 100)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let what = match self.given.is_empty() {
            true => "the sentence does not have it".to_owned(),
            false => {
                let given: Vec<String> =
                    self.given.iter().map(|text| format!("`{text}`")).collect();
                format!("the sentence gives {}", cut(&given.join(", "), 300))
            }
        };
        Err(InvalidReply(format!("`{key}` can't be `{shown}`: {what}")))
    }

    fn clears(&self) -> bool {
        let sentence = self.sentence.to_lowercase();
        ["clear", "empty", "delete", "remove"]
            .iter()
            .any(|word| sentence.contains(word))
    }
}
