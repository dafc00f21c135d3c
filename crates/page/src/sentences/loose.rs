//! What a sentence asks to do that has none of the forms, and the words that say with what.

use super::Pool;
use super::assertion::{JOINTS, is_claim, take_see};
use super::sentence::{Sentence, Token};
use super::verbs::{Verb, take_verb, without_fillers, without_that};
use crate::ActionKind;

/// What a sentence may ask to do: what, the word for it, and the rest. A verb that is not known may be the name of a
/// button.
pub(super) struct LooseAction<'t> {
    pub action: Option<(ActionKind, Option<bool>, Pool)>,
    pub verb: &'t Token,
    pub rest: &'t [Token],
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
pub(super) fn gist(sentence: &Sentence) -> Option<LooseAction<'_>> {
    use ActionKind::{Click, DoubleClick, Hover, Input};
    let tokens = without_fillers(&sentence.tokens);
    let (first, rest) = tokens.split_first()?;
    let deed = |action| {
        Some(LooseAction {
            action,
            verb: first,
            rest,
        })
    };
    let claims = |tokens: &[Token]| {
        let joins = |token: &Token| {
            let is_joint = token.is_any(JOINTS) || token.is_any(&["was", "were", "costs"]);
            is_joint && !token.is_any(&["to", "no"])
        };
        is_claim(tokens) || take_see(tokens).is_some() || tokens.iter().skip(1).any(joins)
    };
    let Some((verb, rest)) = take_verb(tokens) else {
        return match () {
            () if claims(tokens) => None,
            () if first.is_any(CHANGES) && rest.iter().any(|to| to.is("to")) => {
                deed(Some((Input, None, Pool::FieldsAndSelects)))
            }
            () if first.is_any(CHOICES) => deed(Some((Click, None, Pool::Interactive))),
            () => deed(None),
        };
    };
    let action = match verb {
        Verb::Check if without_that(rest).len() < rest.len() || claims(rest) => return None,
        Verb::Assert | Verb::See => return None,
        Verb::Turn => {
            let (way, rest) = rest.split_last()?;
            let flag = way.is_any(&["on", "off"]).then(|| way.is("on"));
            return Some(LooseAction {
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
        | Verb::Drag
        | Verb::RightClick
        | Verb::Refused(_) => return None,
    };
    Some(LooseAction {
        action: Some(action),
        verb: first,
        rest,
    })
}
