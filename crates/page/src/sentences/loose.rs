//! What a sentence asks that has none of the forms: a deed or a claim, and the words that say of what.

use super::Pool;
use super::assertion::{JOINTS, NUMBERS, STATES, expanded, saying, take_see, without_page};
use super::sentence::{Sentence, Token, after};
use super::verbs::{Verb, is_check_of_claim, take_value, take_verb, without_fillers, without_that};
use crate::{ActionKind, AssertKind};

/// What a sentence may ask that has none of the forms.
pub(super) enum LooseIntent<'t> {
    /// To do something: what, the word for it, and the rest. A verb that is not known may be the name of a button.
    Action {
        action: Option<(ActionKind, Option<bool>, Pool)>,
        verb: &'t Token,
        rest: &'t [Token],
    },
    /// That something holds.
    Claim {
        subject: &'t [Token],
        said: &'t [Token],
    },
    /// That something is to be seen.
    Visible { subject: &'t [Token] },
}

/// Verbs that only say that something is chosen.
const CHOICES: &[&str] = &[
    "answer", "filter", "follow", "group", "order", "show", "sort",
];

/// Verbs that say that something gets another value, if that is said.
const CHANGES: &[&str] = &[
    "adjust", "change", "increase", "lower", "raise", "reduce", "update",
];

/// What a sentence may ask, by its verb alone. None if that can't be done with an element.
pub(super) fn gist(sentence: &Sentence) -> Option<LooseIntent<'_>> {
    use ActionKind::{Click, DoubleClick, Hover, Input};
    let tokens = without_fillers(&sentence.tokens);
    let (first, rest) = tokens.split_first()?;
    let deed = |action| {
        Some(LooseIntent::Action {
            action,
            verb: first,
            rest,
        })
    };
    let claim = |tokens| match after(tokens, "there").or_else(|| after_see(tokens)) {
        Some(rest) => Some(LooseIntent::Visible {
            subject: there(rest)?,
        }),
        None => {
            let (subject, said) = split(tokens)?;
            Some(LooseIntent::Claim { subject, said })
        }
    };
    let Some((verb, rest)) = take_verb(tokens) else {
        return match claim(tokens) {
            Some(claim) => Some(claim),
            None if tokens.len() > 1 && is_state(&tokens[tokens.len() - 1]) => {
                let (subject, said) = tokens.split_at(tokens.len() - 1);
                Some(LooseIntent::Claim { subject, said })
            }
            // `Visitors: 24,812`
            None if first.as_str().is_some_and(|word| word.ends_with(':')) && tokens.len() > 1 => {
                Some(LooseIntent::Claim {
                    subject: &tokens[..1],
                    said: tokens,
                })
            }
            None if first.is_any(CHANGES) && rest.iter().any(|to| to.is("to")) => {
                deed(Some((Input, None, Pool::FieldsAndSelects)))
            }
            None if first.is_any(CHOICES) => deed(Some((Click, None, Pool::Interactive))),
            None => deed(None),
        };
    };
    let action = match verb {
        Verb::Check if is_check_of_claim(rest) || split(rest).is_some() => {
            return claim(without_that(rest));
        }
        Verb::Assert => return claim(without_that(rest)),
        Verb::See => return Some(LooseIntent::Visible { subject: rest }),
        Verb::Turn => {
            let (way, rest) = rest.split_last()?;
            let flag = way.is_any(&["on", "off"]).then(|| way.is("on"));
            return Some(LooseIntent::Action {
                action: Some(match flag {
                    Some(flag) => (Input, Some(flag), Pool::Checks),
                    None => (Input, None, Pool::FieldsAndSelects),
                }),
                verb: first,
                rest: if flag.is_some() { rest } else { &tokens[1..] },
            });
        }
        Verb::Close | Verb::Reload => return deed(None),
        Verb::Navigate => (Click, None, Pool::NotExpanded),
        Verb::Click | Verb::Press => (Click, None, Pool::Interactive),
        Verb::DoubleClick => (DoubleClick, None, Pool::Interactive),
        Verb::Hover => (Hover, None, Pool::Anything),
        Verb::Unfold(pool) => (Click, None, pool),
        Verb::Type | Verb::Fill => (Input, None, Pool::Fields),
        Verb::Set => (Input, None, Pool::FieldsAndSelects),
        Verb::Check => (Input, Some(true), Pool::Checks),
        Verb::Flag(flag) => (Input, Some(flag), Pool::Checks),
        Verb::Select => (Click, None, Pool::Options),
        // `go back to the previous month`
        Verb::History => (Click, None, Pool::Interactive),
        // Which files are read is known before a page is looked at.
        Verb::Upload
        | Verb::Clear
        | Verb::Search
        | Verb::Scroll
        | Verb::Wait
        | Verb::Extract
        | Verb::Refused(_) => return None,
    };
    Some(LooseIntent::Action {
        action: Some(action),
        verb: first,
        rest,
    })
}

/// What something is said of, and what: at the first word that joins them.
pub(super) fn split(tokens: &[Token]) -> Option<(&[Token], &[Token])> {
    let joins = |token: &Token| {
        let is_joint = token.is_any(JOINTS) || token.is_any(&["was", "were", "costs"]);
        is_joint && !token.is_any(&["to", "no"])
    };
    let at = (1..tokens.len()).find(|&at| joins(&tokens[at]))?;
    Some((&tokens[..at], &tokens[at..]))
}

/// Whether a word alone is a state: `Vote button disabled`.
pub(super) fn is_state(token: &Token) -> bool {
    STATES
        .iter()
        .any(|(word, kind, _)| token.is(word) && *kind != AssertKind::Visible)
}

/// The verb that an element was pressed for, if that is what is said: `is starred`, `is not saved`.
pub(super) fn pressed(said: &[Token]) -> Option<(Vec<String>, bool)> {
    let (key, negate) = saying(&expanded(said))?;
    let stem = key.strip_suffix("ed")?;
    let is_double = stem.len() > 2 && stem.ends_with(&stem[stem.len() - 1..].repeat(2));
    let short = if is_double {
        &stem[..stem.len() - 1]
    } else {
        stem
    };
    (!key.contains(' ')).then(|| (vec![short.to_owned(), format!("{stem}e")], negate))
}

/// What is to be seen, behind `I should see`. None if it is not to be seen.
pub(super) fn after_see(tokens: &[Token]) -> Option<&[Token]> {
    take_see(tokens)
        .filter(|(_, negate)| !negate)
        .map(|(rest, _)| rest)
}

/// What is there, behind `there`, `there is` or `should be`. None if it is denied, or counted.
pub(super) fn there(mut tokens: &[Token]) -> Option<&[Token]> {
    while let [first, rest @ ..] = tokens
        && first.is_any(&["is", "are", "should", "must", "be", "also", "still"])
    {
        tokens = rest;
    }
    let first = tokens.first()?;
    let is_count = first.is_any(NUMBERS) || take_value(tokens).is_some_and(|_| !first.is_quoted());
    let is_denied = first.is_any(&[
        "not", "no", "at", "exactly", "more", "fewer", "less", "only",
    ]);
    (!is_count && !is_denied).then_some(tokens)
}

/// A state that is said.
pub(super) struct StatePhrase {
    pub kind: AssertKind,
    pub negate: bool,
    /// What can be in it.
    pub pool: Pool,
    /// What stands behind the word for it: `selected in the tree`, `the active tab`.
    pub rest: Vec<Token>,
}

/// The state that is said, if it is one.
pub(super) fn state_said(said: &[Token]) -> Option<StatePhrase> {
    let said = expanded(said);
    let (at, key, negate) = (1..=said.len()).rev().find_map(|at| {
        let (key, negate) = saying(&said[..at])?;
        let key = key.strip_prefix("pre").unwrap_or(&key).to_owned();
        STATES
            .iter()
            .any(|(word, ..)| *word == key)
            .then_some((at, key, negate))
    })?;
    let (_, kind, is_opposite) = STATES.iter().find(|(word, ..)| *word == key)?;
    let pool = match kind {
        AssertKind::Visible => return None,
        AssertKind::Checked | AssertKind::Unchecked => Pool::Selectable,
        AssertKind::Value => Pool::FieldsAndSelects,
        _ => Pool::Interactive,
    };
    let is_said = |token: &&Token| !token.is_any(&["default", "yet", "already"]);
    Some(StatePhrase {
        kind: *kind,
        negate: negate != *is_opposite,
        pool,
        rest: said[at..].iter().filter(is_said).cloned().collect(),
    })
}

/// Whether it is said that something is to be seen.
pub(super) fn is_seen(said: &[Token]) -> bool {
    let said = expanded(without_page(said));
    saying(&said).is_some_and(|(key, negate)| {
        let mut states = STATES.iter();
        let state = states.find(|(word, ..)| *word == key);
        state.is_some_and(|(_, kind, is_opposite)| {
            *kind == AssertKind::Visible && negate == *is_opposite && !negate
        })
    })
}

/// Words before a text that say that it is there, and behind it what it is.
const BEFORE_TEXT: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "should",
    "must",
    "to",
    "have",
    "has",
    "set",
    "marked",
    "as",
    "the",
    "a",
    "an",
    "dated",
    "due",
    "on",
    "assigned",
    "labelled",
    "labeled",
    "tagged",
    "costs",
    "says",
    "say",
    "shows",
    "show",
    "displays",
    "display",
    "reads",
    "read",
    "equals",
    "contains",
    "contain",
    "includes",
    "still",
    "now",
    "currently",
    "already",
    "label",
    "badge",
    "status",
    "value",
    "text",
    "from",
    "of",
    "with",
    "up",
    "down",
    "by",
    "called",
    "named",
    "equal",
    "modified",
    "created",
    "updated",
];
const AFTER_TEXT: &[&str] = &["badge", "label", "tag", "status", "icon", "mark"];

/// The texts that may be said to be there, the longest first, each with the words that say which one it is: in `a score of
/// 26` that is a score. None of what is denied.
pub(super) fn texts_said(said: &[Token]) -> Vec<(String, Vec<Token>)> {
    let said = expanded(said);
    let is_denied = |token: &Token| token.is_any(&["not", "no", "nothing", "never", "without"]);
    // `the last login is Never`
    if said
        .split_last()
        .is_some_and(|(_, rest)| rest.iter().any(is_denied))
    {
        return Vec::new();
    }
    let end = match said.split_last() {
        Some((last, rest)) if last.is_any(AFTER_TEXT) && rest.len() > 1 => said.len() - 1,
        _ => said.len(),
    };
    let mut texts: Vec<(String, Vec<Token>)> = Vec::new();
    let mut add = |words: &[Token], more: &[Token]| {
        let text: Option<Vec<&str>> = words.iter().map(Token::text).collect();
        let text = text.unwrap_or_default().join(" ");
        if !text.is_empty() && !texts.iter().any(|(known, _)| *known == text) {
            texts.push((text, more.to_vec()));
        }
    };
    for start in 1..said.len() {
        add(&said[start..], &[]);
        add(&said[start..end], &[]);
        // `has 128 likes`
        let is_figure = |token: &Token| {
            token
                .as_str()
                .is_some_and(|word| word.starts_with(|sign: char| sign.is_ascii_digit()))
        };
        if is_figure(&said[start]) {
            add(&said[start..=start], &said[start + 1..]);
        }
        if !said[start].is_any(BEFORE_TEXT) {
            break;
        }
    }
    if let Some(of) = said.iter().position(|token| token.is("of"))
        && let Some(text) = said[of + 1..]
            .iter()
            .map(Token::text)
            .collect::<Option<Vec<&str>>>()
        && !text.is_empty()
    {
        let is_said = |token: &&Token| !token.is_any(BEFORE_TEXT);
        let more = said[..of].iter().filter(is_said).cloned().collect();
        texts.push((text.join(" "), more));
    }
    texts
}
