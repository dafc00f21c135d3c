//! A prefill: the client itself begins the answer, and the model goes on with it.

use super::super::llm_script::LlmScript;
use super::super::request::Request;
use super::super::rounds::{Rounds, Said, UserSide};
use super::answers::answers_so;

/// The rounds of a history along `script`. What the script has as an answer above `sessionStart` with no input behind it,
/// a client may hold in one message with the answer that goes on from it: that is two rounds here.
pub(in super::super) fn rounds_along<'r>(script: &LlmScript, request: &'r Request) -> Rounds<'r> {
    let mut rounds = Rounds::of(request);
    if let Some((round_idx, begun, rest)) = split(script, &rounds) {
        rounds.answered[round_idx].1 = begun;
        let behind = (UserSide::default(), rest);
        rounds.answered.insert(round_idx + 1, behind);
    }
    rounds
}

/// The round that holds the prefill of `script` and the answer behind it, and these two.
fn split<'r>(script: &LlmScript, rounds: &Rounds<'r>) -> Option<(usize, Said<'r>, Said<'r>)> {
    let live_idx = script.turns.first_live()?;
    let live = script.turn(live_idx).filter(|turn| turn.input.is_none())?;
    let prefill = script.turn(live_idx.checked_sub(1)?)?;
    let prompt = prefill
        .input
        .as_ref()
        .filter(|input| input.text.is_some())?;
    if prefill.squeezed.is_empty() || prefill.calls().next().is_some() {
        return None;
    }
    let answered = rounds.answered.iter().enumerate();
    let mut found = answered.filter_map(|(round_idx, (side, said))| {
        let (open, between) = said.texts.split_first()?;
        let mut behind = open.as_str();
        for sign in prefill.squeezed.chars() {
            behind = behind.trim_start().strip_prefix(sign)?;
        }
        let begun = open[..open.len() - behind.len()].to_owned();
        let texts = std::iter::once(behind.to_owned()).chain(between.iter().cloned());
        let rest = Said::new(texts.collect(), said.calls.clone());
        let is_more = !rest.squeezed.is_empty() || !rest.calls.is_empty();
        let goes_on = is_more && answers_so(live, &rest).is_ok();
        side.normal_texts().find(&prompt.normal, 0)?;
        goes_on.then(|| (round_idx, Said::new(vec![begun], Vec::new()), rest))
    });
    found.next()
}
