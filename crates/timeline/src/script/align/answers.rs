//! Whether what a client remembers of an answer is that of a turn.

use super::super::llm_script::LlmScript;
use super::super::request::Request;
use super::super::rounds::{Said, quote};
use super::super::turns::Turn;
use super::{AlignmentError, FieldDifference, rounds_along};

impl AlignmentError {
    /// The same of a conversation that nobody played from its beginning on.
    pub(in super::super) fn of_own_history(self, script: &LlmScript, request: &Request) -> Self {
        let rounds = rounds_along(script, request);
        let n_followed = self.rejected.iter().map(|it| it.n_followed).max();
        let round = rounds.answered.get(n_followed.unwrap_or_default() / 2);
        let history = round.map(|(side, said)| FieldDifference {
            field: "history",
            expected: "none but that of the script: what was said before stands in it above `sessionStart`".into(),
            arrived: match (side.texts.last(), said.calls.is_empty()) {
                (_, false) => "an answer with calls".into(),
                (None, true) => format!("the answer {}", quote(&said.text)),
                (Some(text), true) => format!("{} with the answer {}", quote(text), quote(&said.text)),
            },
        });
        Self {
            expected: self.rejected.first().map(|rejection| rejection.turn_idx),
            differences: history.into_iter().collect(),
            ..self
        }
    }
}

/// Whether `said` is the answer of `turn`, or else why it isn't.
pub(super) fn answers_so(turn: &Turn, said: &Said<'_>) -> Result<(), String> {
    let n_calls = turn.calls().count();
    if !said.calls.is_empty() {
        if n_calls == 0 {
            return Err("the history holds calls, and the script has none there".into());
        }
        let stray = said
            .calls
            .iter()
            .filter(|call| !call.id.is_empty())
            .find(|call| turn.calls().all(|scripted| scripted.id != call.id));
        if let Some(call) = stray {
            return Err(format!(
                "the history holds the call `{}`, which this turn does not make",
                call.id
            ));
        }
        return match said.calls.len() <= n_calls {
            true => Ok(()),
            false => Err(format!(
                "the history holds {} calls, and the script has {n_calls}",
                said.calls.len()
            )),
        };
    }
    if turn.is_only_errors() {
        return Err("the script has only errors at this turn".into());
    }
    if turn.is_cancelled && turn.squeezed.starts_with(&said.squeezed) {
        return Ok(());
    }
    if n_calls > 0 {
        return Err("the script has calls, and the history holds none there".into());
    }
    if is_like(&turn.squeezed, &said.squeezed) {
        return Ok(());
    }
    let scripted = turn.text();
    let (expected, arrived) = around_difference(&scripted, &said.text);
    Err(format!(
        "the history holds another text: {} in place of {}",
        quote(arrived),
        quote(expected)
    ))
}

/// Two texts from shortly before where they begin to differ.
fn around_difference<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str) {
    const SHOWN_BEFORE: usize = 20;
    let n_same = one
        .chars()
        .zip(other.chars())
        .take_while(|(one, other)| one == other)
        .count();
    let from = n_same.saturating_sub(SHOWN_BEFORE);
    let same = one
        .char_indices()
        .nth(from)
        .map_or(one, |(at, _)| &one[..at]);
    // From the beginning of a word.
    let start = same.rfind(char::is_whitespace).unwrap_or(0);
    (&one[start..], &other[start..])
}

/// Whether a client's memory of a text shows where it is in the script: it is equal, or has little cut off or added.
pub(in super::super) fn is_like(scripted: &str, remembered: &str) -> bool {
    let (shorter, longer) = match scripted.len() <= remembered.len() {
        true => (scripted, remembered),
        false => (remembered, scripted),
    };
    scripted == remembered || (shorter.len() * 2 > longer.len() && longer.contains(shorter))
}
