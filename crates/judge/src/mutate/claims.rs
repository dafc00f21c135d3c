//! Changes of what an answer claims: other units, denials, values in each other's place.

use std::ops::Range;

use crate::prove::{Sentence, SpanKind, claiming, fold, is_denied};
use crate::text::words;

/// At most so many changes of a kind are made to one answer.
const MOST: usize = 10;

/// An answer that was changed, and what was.
pub(super) type Changed = (String, String);

fn replaced(text: &str, range: &Range<usize>, with: &str) -> String {
    [&text[..range.start], with, &text[range.end..]].concat()
}

/// The digits of a number, without its sign, currency and unit.
fn digits(output: &str, number: &Range<usize>) -> Range<usize> {
    let is_digit = |character: char| character.is_ascii_digit();
    let text = &output[number.clone()];
    let start = text.find(is_digit).unwrap_or(0);
    let end = text.rfind(is_digit).map_or(text.len(), |last| last + 1);
    number.start + start..number.start + end
}

/// Answers in which a number has another unit.
pub(super) fn other_units(said: &str) -> Vec<Changed> {
    let output = fold(said);
    let claims = claiming(&output);
    let values = claims.iter().flat_map(|claim| &claim.values);
    let numbers = values.filter(|value| matches!(value.kind, SpanKind::Number(_)));
    numbers
        .take(MOST)
        .map(|number| {
            let unit = if number.kind.is_money() {
                "kilometres"
            } else {
                "EUR"
            };
            let with = format!("{} {unit}", &output[digits(&output, &number.range)]);
            let was = output[number.range.clone()].trim();
            let text = replaced(&output, &number.range, &with);
            (format!("`{was}` is `{with}`"), text)
        })
        .collect()
}

/// Answers in which a claim is denied, or is no more.
pub(super) fn denials(said: &str) -> Vec<Changed> {
    let output = fold(said);
    claiming(&output)
        .iter()
        .filter_map(|claim| {
            let denied = denied(claim.text)?;
            let range = claim.start..claim.start + claim.text.len();
            let change = format!("`{}` is negated: `{denied}`", claim.text);
            Some((change, replaced(&output, &range, &denied)))
        })
        .take(MOST)
        .collect()
}

/// The opposite of a claim.
fn denied(claim: &str) -> Option<String> {
    const AUXILIARIES: &[&str] = &[
        "is", "are", "was", "were", "has", "have", "had", "will", "can", "could", "would", "should",
    ];
    if claim.contains(" not ") {
        return Some(claim.replacen(" not ", " ", 1));
    }
    if is_denied(claim) {
        return None;
    }
    let auxiliary = words(claim).find(|word| AUXILIARIES.contains(&word.as_str()));
    Some(match auxiliary {
        Some(word) => [&claim[..word.end()], " not", &claim[word.end()..]].concat(),
        None => format!("It is not true that {claim}"),
    })
}

/// Answers in which two values of a kind stand in each other's claims.
pub(super) fn swaps(said: &str) -> Vec<Changed> {
    let output = fold(said);
    let claims = claiming(&output);
    let mut swaps = Vec::new();
    let places = |claim: &Sentence<'_>| {
        let values = claim.values.iter().map(|value| match value.kind {
            SpanKind::Number(_) => (value.kind, digits(&output, &value.range)),
            _ => (value.kind, value.range.clone()),
        });
        values.collect::<Vec<_>>()
    };
    for (at, one) in claims.iter().enumerate() {
        for other in &claims[at + 1..] {
            let theirs = places(other);
            for (kind, first) in places(one) {
                let was = &output[first.clone()];
                let differs = |(other, second): &&(SpanKind, Range<usize>)| {
                    *other == kind && output[second.clone()] != *was
                };
                if let Some((_, second)) = theirs.iter().find(differs)
                    && swaps.len() < MOST
                {
                    let is = &output[second.clone()];
                    let text = replaced(&replaced(&output, second, was), &first, is);
                    swaps.push((format!("`{was}` and `{is}` are swapped"), text));
                }
            }
        }
    }
    swaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_changed_where_they_stand() {
        let said = "- Plan A costs 10 EUR.\n- Plan B is used by 7 teams.\n- Plan C costs 30 EUR.";
        let texts = |changed: Vec<Changed>| -> Vec<String> {
            changed.into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(
            texts(other_units(said))[..2],
            [
                said.replace("10 EUR", "10 kilometres"),
                said.replace("7 teams", "7 EUR teams")
            ]
        );
        assert_eq!(
            texts(denials(said))[..2],
            [
                said.replace("Plan A", "It is not true that Plan A"),
                said.replace("is used", "is not used")
            ]
        );
        assert_eq!(
            texts(swaps(said)),
            ["- Plan A costs 30 EUR.\n- Plan B is used by 7 teams.\n- Plan C costs 10 EUR."]
        );
        assert_eq!(
            texts(denials("The shop is not open.")),
            ["The shop is open."]
        );
    }
}
