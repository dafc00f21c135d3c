//! The form that a sentence comes nearest to, to be shown when it has none.

use super::phrase::without_ignored;
use super::sentence::Sentence;
use super::verbs::{VERBS, Verb, take_verb};
use cuecard_source::diagnostic::did_you_mean;

impl Verb {
    /// The forms of sentences that begin with it.
    fn forms(self) -> Option<&'static str> {
        Some(match self {
            Self::Navigate | Self::History => "go to URL-or-path, go back, go forward, or open X",
            Self::Reload => "reload",
            Self::Click => "click X",
            Self::DoubleClick => "double-click X",
            Self::RightClick => "right-click X",
            Self::Hover => "hover X",
            Self::Press => "press KEY, or press KEY in X",
            Self::Unfold(_) => "expand X, collapse X",
            Self::Close => "close X, or close the dialog",
            Self::Type => "type 'text' into X",
            Self::Fill => "fill X with 'text'",
            Self::Set => "set X to 'text'",
            Self::Clear => "clear X",
            Self::Search => "search for 'text'",
            Self::Check => "check X, or check that X is visible",
            Self::Flag(true) => "tick X, or turn on X",
            Self::Flag(false) => "uncheck X, or turn off X",
            Self::Turn => "turn on X, turn off X",
            Self::Select => "select 'option' from X",
            Self::Scroll => "scroll up, scroll down, or scroll to X",
            Self::Wait => "wait 2 s, or wait until X is visible",
            Self::Upload => "upload 'file' to X",
            Self::Extract => "extract X",
            Self::Drag => "drag X to Y",
            Self::Assert | Self::See => "verify X is visible",
            Self::Refused(_) => return None,
        })
    }
}

/// The forms that a sentence comes nearest to, by its verb; none if it comes near none.
pub fn nearest_form(sentence: &str) -> Option<&'static str> {
    let sentence = Sentence::read(sentence).ok()?;
    let tokens = without_ignored(&sentence.tokens);
    let verb = take_verb(tokens).map(|(verb, _)| verb);
    let slip = || {
        let first = tokens.first()?.as_str()?.to_lowercase();
        let known = || VERBS.iter().filter(|(words, _)| !words.contains(' '));
        let word = did_you_mean(&first, known().map(|(word, _)| *word))?;
        known()
            .find(|(known, _)| *known == word)
            .map(|(_, verb)| *verb)
    };
    verb.or_else(slip)?.forms()
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
        for (_, verb) in VERBS {
            for form in verb.forms().unwrap_or("click X").split(", ") {
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
