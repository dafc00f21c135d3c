//! The form that a sentence comes nearest to, to be shown when it has none.

use super::phrase::without_ignored;
use super::sentence::Sentence;
use super::verbs::{VERBS, take_form};
use cuecard_source::diagnostic::did_you_mean;

/// The forms that a sentence comes nearest to, by its verb; none if it comes near none.
pub fn nearest_form(sentence: &str) -> Option<&'static str> {
    let sentence = Sentence::read(sentence).ok()?;
    let tokens = without_ignored(&sentence.tokens);
    let known = take_form(tokens).map(|(_, forms, _)| forms);
    let slip = || {
        let first = tokens.first()?.as_str()?.to_lowercase();
        let all = VERBS.iter().flat_map(|(words, ..)| *words).copied();
        let word = did_you_mean(&first, all.filter(|words| !words.contains(' ')))?;
        let mut verbs = VERBS.iter();
        verbs
            .find(|(words, ..)| words.contains(&word))
            .map(|(.., forms)| *forms)
    };
    known.or_else(slip)
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
        for (.., forms) in VERBS {
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
