//! The forms of sentences, to be shown when a sentence has none of them.

use super::sentence::Sentence;
use cuecard_source::diagnostic::did_you_mean;

/// A word that a form is known by, and the form.
const FORMS: &[(&str, &str)] = &[
    ("go", "go to URL-or-path, go back, go forward"),
    ("navigate", "navigate to URL-or-path"),
    ("open", "open URL-or-path"),
    ("visit", "visit URL-or-path"),
    ("reload", "reload"),
    ("refresh", "reload"),
    ("click", "click X"),
    ("tap", "tap X"),
    ("push", "click X"),
    ("double-click", "double-click X"),
    ("right-click", "right-click X"),
    ("press", "press KEY, or press KEY in X"),
    ("hover", "hover X"),
    ("drag", "drag X to Y"),
    ("type", "type 'text' into X"),
    ("enter", "enter 'text' into X"),
    ("write", "type 'text' into X"),
    ("input", "type 'text' into X"),
    ("fill", "fill X with 'text'"),
    ("set", "set X to 'text'"),
    ("clear", "clear X"),
    ("check", "check X, or check that X is visible"),
    ("tick", "tick X"),
    ("uncheck", "uncheck X"),
    ("select", "select 'option' from X"),
    ("choose", "choose 'option' from X"),
    ("pick", "select 'option' from X"),
    ("scroll", "scroll up, scroll down, or scroll to X"),
    ("wait", "wait 2 s, or wait until X is visible"),
    ("upload", "upload 'file' to X"),
    ("attach", "upload 'file' to X"),
    ("extract", "extract X"),
    ("read", "extract X"),
    ("verify", "verify X is visible"),
    ("assert", "assert X is visible"),
    ("expect", "expect X is visible"),
    ("see", "verify 'text' is visible"),
    ("ensure", "verify X is visible"),
];

/// The form that a sentence comes nearest to, by its first word; none if it comes near none.
pub fn nearest_form(sentence: &str) -> Option<&'static str> {
    let sentence = Sentence::read(sentence).ok()?;
    let mut words = sentence
        .tokens
        .iter()
        .filter_map(|token| token.as_str())
        .skip_while(|word| {
            super::sentence::IGNORED
                .iter()
                .any(|ignored| word.eq_ignore_ascii_case(ignored))
        });
    let first = words.next()?.to_lowercase();
    let known = || FORMS.iter().map(|(word, _)| *word);
    let word = known()
        .find(|word| *word == first)
        .or_else(|| did_you_mean(&first, known()))?;
    FORMS
        .iter()
        .find(|(known, _)| *known == word)
        .map(|(_, form)| *form)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences::{Understanding, understand};

    #[test]
    fn the_nearest_form_is_found_by_the_first_word() {
        for (sentence, form) in [
            ("clik on 'Log in'", Some("click X")),
            ("please type something", Some("type 'text' into X")),
            ("Write 'x' somewhere", Some("type 'text' into X")),
            ("log in as ana", None),
            // What stands in quotes is no verb.
            ("'click'", None),
            ("", None),
        ] {
            assert_eq!(nearest_form(sentence), form, "{sentence}");
        }
    }

    #[test]
    fn every_form_is_one_that_the_rules_read() {
        for (_, forms) in FORMS {
            for form in forms.split(", ") {
                let sentence = form
                    .trim_start_matches("or ")
                    .replace("URL-or-path", "/a")
                    .replace("KEY", "Enter")
                    .replace('X', "'Name'")
                    .replace('Y', "'Place'");
                let read = understand(&sentence);
                assert!(
                    matches!(read, Understanding::Understood(_)),
                    "{sentence}: {read:?}"
                );
            }
        }
    }
}
