//! The verbs that sentences begin with, and the form that one comes nearest to, to be shown when it has none.

use super::Pool;
use super::phrase::without_ignored;
use super::sentence::{Sentence, Token, after};
use cuecard_source::diagnostic::did_you_mean;

/// What a sentence begins with, and the forms of sentences that do.
const VERBS: &[(&[&str], Verb, &str)] = &[
    (
        &["go to", "navigate to", "switch to", "open", "visit"],
        Verb::Navigate,
        "go to URL-or-path, go back, go forward, or open X",
    ),
    (
        &["go"],
        Verb::History,
        "go to URL-or-path, go back, go forward, or open X",
    ),
    (&["reload", "refresh"], Verb::Reload, "reload"),
    (&["click", "tap", "push"], Verb::Click, "click X"),
    (
        &["double click", "double-click", "doubleclick"],
        Verb::DoubleClick,
        "double-click X",
    ),
    (
        &["right click", "right-click"],
        Verb::RightClick,
        "right-click X",
    ),
    (&["hover over", "hover"], Verb::Hover, "hover X"),
    (
        &["press", "hit"],
        Verb::Press,
        "press KEY, or press KEY in X",
    ),
    (&["expand"], Verb::Unfold(Pool::NotExpanded), "expand X"),
    (&["collapse"], Verb::Unfold(Pool::Expanded), "collapse X"),
    (
        &["close", "dismiss"],
        Verb::Close,
        "close X, or close the dialog",
    ),
    (
        &["type", "enter", "write", "put", "input"],
        Verb::Type,
        "type 'text' into X",
    ),
    (&["fill"], Verb::Fill, "fill X with 'text'"),
    (&["set"], Verb::Set, "set X to 'text'"),
    (&["clear", "empty"], Verb::Clear, "clear X"),
    (&["search"], Verb::Search, "search for 'text'"),
    (
        &["check"],
        Verb::Check,
        "check X, or check that X is visible",
    ),
    (
        &[
            "turn on",
            "switch on",
            "check off",
            "tick off",
            "tick",
            "enable",
        ],
        Verb::Flag(true),
        "tick X, or turn on X",
    ),
    (
        &["turn off", "switch off", "disable", "deselect"],
        Verb::Flag(false),
        "uncheck X, or turn off X",
    ),
    (
        &["uncheck", "untick", "unselect"],
        Verb::Flag(false),
        "uncheck X, or turn off X",
    ),
    (&["turn", "switch"], Verb::Turn, "turn on X, turn off X"),
    (
        &["toggle"],
        Verb::Refused("`toggle` is ambiguous: write turn on X, or turn off X"),
        "turn on X, turn off X",
    ),
    (
        &["select", "choose", "pick"],
        Verb::Select,
        "select 'option' from X",
    ),
    (
        &["scroll"],
        Verb::Scroll,
        "scroll up, scroll down, or scroll to X",
    ),
    (
        &["wait", "pause for"],
        Verb::Wait,
        "wait 2 s, or wait until X is visible",
    ),
    (&["upload", "attach"], Verb::Upload, "upload 'file' to X"),
    (&["extract"], Verb::Extract, "extract X"),
    (&["drag and drop", "drag"], Verb::Drag, "drag X to Y"),
    (
        &["verify", "assert", "expect", "ensure", "make sure"],
        Verb::Assert,
        "verify X is visible",
    ),
    (&["confirm", "should"], Verb::Assert, "verify X is visible"),
    (&["see"], Verb::See, "verify X is visible"),
];

#[derive(Debug, Clone, Copy)]
pub(super) enum Verb {
    Navigate,
    History,
    Reload,
    Click,
    DoubleClick,
    RightClick,
    Hover,
    Press,
    Unfold(Pool),
    Close,
    Type,
    Fill,
    Set,
    Clear,
    Search,
    Check,
    Flag(bool),
    Turn,
    Select,
    Scroll,
    Wait,
    Upload,
    Extract,
    Drag,
    Assert,
    See,
    /// It can't be done, and why.
    Refused(&'static str),
}

/// Takes the verb from the beginning, also in the third person.
pub(super) fn take_verb(tokens: &[Token]) -> Option<(Verb, &[Token])> {
    take_form(tokens).map(|(verb, _, rest)| (verb, rest))
}

/// The same with its forms. Of verbs that begin alike the longest counts.
fn take_form(tokens: &[Token]) -> Option<(Verb, &'static str, &[Token])> {
    let first = tokens.first()?.as_str()?.to_lowercase();
    let stems = [
        Some(first.as_str()),
        first.strip_suffix('s'),
        first.strip_suffix("es"),
    ];
    let behind = |words: &str| {
        let (word, more) = words.split_once(' ').unwrap_or((words, ""));
        match more {
            _ if !stems.contains(&Some(word)) => None,
            "" => Some(&tokens[1..]),
            more => after(&tokens[1..], more),
        }
    };
    let found = VERBS.iter().flat_map(|(all, verb, forms)| {
        let behind = all.iter().filter_map(|words| behind(words));
        behind.map(move |rest| (*verb, *forms, rest))
    });
    found.min_by_key(|(_, _, rest)| rest.len())
}

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
