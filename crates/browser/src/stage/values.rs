//! The values of variables and secrets: filled in at the moment of use, and taken out of all that comes back.

use cuecard_browser_steps::format::references;
use cuecard_browser_steps::model::BrowserAssertion;
use cuecard_page::dom::Masks;
use cuecard_page::selector::Finder;
use cuecard_page::text::{PageText, TextOptions, TextTooLarge};
use cuecard_page::{with_references, without_references};
use cuecard_source::value::{Json, Origin, Piece, Redactor, Text};

/// Values by name.
#[derive(Clone, Default)]
pub struct Values {
    variables: Vec<(String, String)>,
    secrets: Vec<(String, String)>,
    masks: Masks,
}

/// Names only: values may be secret.
impl std::fmt::Debug for Values {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |values: &[(String, String)]| -> Vec<String> {
            values.iter().map(|(name, _)| name.clone()).collect()
        };
        formatter
            .debug_struct("Values")
            .field("variables", &names(&self.variables))
            .field("secrets", &names(&self.secrets))
            .finish()
    }
}

impl Values {
    /// Values of variables, and of secrets, each with its name.
    pub fn new(variables: Vec<(String, String)>, secrets: Vec<(String, String)>) -> Self {
        Self {
            masks: Masks::new(&secrets),
            variables,
            secrets,
        }
    }

    /// The names of all that have a value.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let all = self.variables.iter().chain(&self.secrets);
        all.map(|(name, _)| name.as_str())
    }

    /// Learns something that must not be told though it has no name, such as a password that stands in a sentence.
    pub fn hide(&mut self, text: &str) {
        self.masks.hide(text);
    }

    /// The variables, without the secrets.
    pub fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// What puts masks in the place of secrets.
    pub fn masks(&self) -> &Masks {
        &self.masks
    }

    /// What takes secrets out.
    pub fn redactor(&self) -> &Redactor {
        self.masks.redactor()
    }

    /// A text as it would stand on a page whose secrets are masked: with values for references, and the mask for
    /// secrets. For words that are compared with a state.
    pub fn in_words(&self, text: &str) -> String {
        self.mask(&self.fill(text))
    }

    /// An assertion with values for references.
    pub(crate) fn assertion(&self, assertion: &BrowserAssertion) -> BrowserAssertion {
        let expected = assertion.expected.as_ref().map(|expected| match expected {
            Json::String(text) => Json::String(self.in_words(text)),
            other => other.clone(),
        });
        BrowserAssertion {
            expected,
            ..assertion.clone()
        }
    }

    /// A text with every value in the place of its reference, to be typed or opened. It may hold secrets.
    pub fn fill(&self, text: &str) -> String {
        let all: Vec<(String, String)> = self
            .variables
            .iter()
            .chain(&self.secrets)
            .cloned()
            .collect();
        without_references(text, &all)
    }

    /// The same for the policy: what came from a secret is not shown in its messages.
    pub fn text(&self, text: &str) -> Text {
        Text::new(vec![Piece {
            text: self.fill(text),
            origin: match self.refers_to_secret(text) {
                true => Origin::Secret,
                false => Origin::Author,
            },
            is_string: true,
            reference: None,
        }])
    }

    /// Whether a text refers to a secret.
    pub fn refers_to_secret(&self, text: &str) -> bool {
        self.fill(text) != without_references(text, &self.variables)
    }

    /// A text that came from a page, with references where values of variables stand.
    pub fn with_references(&self, text: &str) -> String {
        with_references(text, &self.variables)
    }

    /// The same with references only to variables that a sentence names.
    pub fn with_references_of(&self, sentence: &str, text: &str) -> String {
        let named = references(sentence);
        let variables = self.variables.iter();
        let said: Vec<(String, String)> = variables
            .filter(|(name, _)| named.contains(&name.as_str()))
            .cloned()
            .collect();
        with_references(text, &said)
    }

    /// A text that an author wrote, with the reference to each secret whose value stands in it.
    pub fn named(&self, text: &str) -> String {
        let mut longest_first: Vec<&(String, String)> = self.secrets.iter().collect();
        longest_first.sort_by_key(|(name, value)| (std::cmp::Reverse(value.len()), name.clone()));
        let mut written = text.to_owned();
        for (name, value) in longest_first {
            if !value.is_empty() {
                written = written.replace(value.as_str(), &format!("{{{{{name}}}}}"));
            }
        }
        written
    }

    /// The page as a model sees it, with secrets masked, also those that stand in several elements.
    ///
    /// # Errors
    /// It is larger than the budget.
    pub fn page_text(
        &self,
        finder: Finder<'_>,
        options: &TextOptions<'_>,
    ) -> Result<PageText, TextTooLarge> {
        let page = finder.text_for_model(options)?;
        Ok(PageText {
            text: self.mask(&page.text),
            ..page
        })
    }

    /// A text that came from a page, with secrets masked.
    pub fn mask(&self, text: &str) -> String {
        self.masks.text(text).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        let pairs = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        Values::new(
            pairs(&[("USER", "ana")]),
            pairs(&[("PIN", "hunter2"), ("LONG", "hunter2-and-more")]),
        )
    }

    #[test]
    fn what_is_typed_has_values_and_what_is_compared_has_masks() {
        let values = values();
        assert_eq!(values.fill("{{USER}}:{{ PIN }}"), "ana:hunter2");
        assert_eq!(values.in_words("{{USER}}:{{PIN}}"), "ana:***PIN***");
        assert!(values.refers_to_secret("x{{PIN}}") && !values.refers_to_secret("{{USER}}"));
        assert_eq!(values.mask("say hunter2"), "say ***PIN***");
        assert_eq!(values.with_references("Hello ana"), "Hello {{USER}}");
        let of = |sentence| values.with_references_of(sentence, "Hello ana");
        assert_eq!(of("click '{{USER}}'"), "Hello {{USER}}");
        assert_eq!(of("click 'ana'"), "Hello ana");
        assert_eq!(values.named("hunter2-and-more hunter2"), "{{LONG}} {{PIN}}");
    }

    #[test]
    fn a_secret_is_shown_neither_for_debugging_nor_by_the_policy() {
        let mut values = values();
        values.hide("open sesame");
        assert_eq!(values.mask("open sesame!"), "***!");
        let shown = format!("{values:?}");
        assert!(
            shown.contains("PIN") && !shown.contains("hunter2"),
            "{shown}"
        );
        assert_eq!(
            values.text("http://{{PIN}}/").pieces()[0].origin,
            Origin::Secret
        );
        assert_eq!(values.text("http://a/").pieces()[0].origin, Origin::Author);
    }
}
