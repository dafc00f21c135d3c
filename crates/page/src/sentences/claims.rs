//! What a sentence waits for, or asserts.

use super::Pool;
use super::assertion::{claim, is_claim};
use super::keys::milliseconds;
use super::sentence::{Token, after};
use super::verbs::{Read, Reader, without_that};
use crate::{ActionKind, AssertKind, TextMatch};

impl Reader<'_> {
    pub(super) fn wait(&self, rest: &[Token]) -> Read {
        let form = || "write wait 2 s, or wait until …".to_owned();
        if let Some(rest) = after(rest, "until") {
            return self.wait_until(rest);
        }
        let rest = after(rest, "for").unwrap_or(rest);
        let duration = match rest {
            [one] => one.as_str().and_then(|word| {
                let at = word.find(|sign: char| sign.is_ascii_alphabetic())?;
                milliseconds(&word[..at], &word[at..])
            }),
            [half, a, unit] if half.is("half") && a.is("a") => {
                unit.as_str().and_then(|unit| milliseconds("0.5", unit))
            }
            [number, unit] => number
                .as_str()
                .zip(unit.as_str())
                .and_then(|(number, unit)| {
                    let figure = super::counts::figure(number);
                    milliseconds(
                        &figure.map_or_else(|| number.to_owned(), |figure| figure.to_string()),
                        unit,
                    )
                }),
            _ => None,
        };
        let Some(duration) = duration else {
            let is_named = rest.iter().any(|token| token.as_str().is_none());
            let has_infinitive = rest.iter().any(|token| token.is("to"));
            return match is_named || has_infinitive {
                true => self.wait_until(rest).map_err(|_| form()),
                false => Err(form()),
            };
        };
        let mut step = self.step(ActionKind::Wait);
        step.duration_ms = Some(duration);
        Ok(self.intent(step, None, Pool::Anything))
    }

    /// `wait until 'X' is visible`, `wait for 'X'`
    fn wait_until(&self, rest: &[Token]) -> Read {
        let mut intent = match is_claim(without_that(rest)) {
            true => self.assertion(rest),
            false => self.seen(rest),
        }?;
        intent.step.action_type = ActionKind::Wait;
        Ok(intent)
    }

    pub(super) fn assertion(&self, tokens: &[Token]) -> Read {
        let (assertion, words) = claim(without_that(tokens))?;
        let mut step = self.step(ActionKind::Assert);
        let pool = match assertion.kind {
            AssertKind::Checked | AssertKind::Unchecked => Pool::Selectable,
            AssertKind::Value => Pool::FieldsAndSelects,
            // `Total is '5'`, `the status of Erik Lund is 'Active'`
            AssertKind::Text
                if assertion.matching == TextMatch::Equals
                    && words.as_ref().is_some_and(|(phrase, _)| phrase.is_label()) =>
            {
                Pool::Labelled
            }
            _ => Pool::Anything,
        };
        step.assertion = Some(assertion);
        Ok(self.intent(step, words, pool))
    }

    /// An assertion that something is to be seen.
    fn seen(&self, tokens: &[Token]) -> Read {
        let (assertion, words) = super::assertion::visible(tokens, false)?;
        let mut step = self.step(ActionKind::Assert);
        step.assertion = Some(assertion);
        Ok(self.intent(step, words, Pool::Anything))
    }
}
