//! Changes of what an answer claims: other units, denials, values in each other's place.

use std::ops::Range;

use crate::evidence::Spans;
use crate::text::{
    FoundNumber, Language, Measure, NumberStyle, UnitKind, detect, fold, is_negated, units, words,
};

/// At most so many changes of a kind are made to one answer.
const MOST: usize = 10;

/// An answer that was changed, and what was.
pub(super) type Changed = (String, String);

/// A claim of an answer, with the values in it; places are those of the answer.
struct Claim<'a> {
    text: &'a str,
    start: usize,
    numbers: Vec<FoundNumber>,
    dates: Vec<Range<usize>>,
    urls: Vec<Range<usize>>,
}

fn claims(output: &str) -> Vec<Claim<'_>> {
    let style = NumberStyle {
        language: detect(output),
        is_source: false,
    };
    units(output)
        .into_iter()
        .filter(|unit| unit.kind == UnitKind::Claim)
        .map(|unit| {
            let start = unit.text.as_ptr() as usize - output.as_ptr() as usize;
            let spans = Spans::of(unit.text, style);
            let moved = |range: &Range<usize>| range.start + start..range.end + start;
            Claim {
                text: unit.text,
                start,
                dates: spans.dates.iter().map(|date| moved(&date.range)).collect(),
                urls: spans
                    .url_ranges
                    .iter()
                    .map(|(range, _)| moved(range))
                    .collect(),
                numbers: spans
                    .numbers
                    .into_iter()
                    .filter(|number| !number.is_word && !number.readings.is_empty())
                    .map(|number| FoundNumber {
                        range: moved(&number.range),
                        ..number
                    })
                    .collect(),
            }
        })
        .collect()
}

fn replaced(text: &str, range: &Range<usize>, with: &str) -> String {
    [&text[..range.start], with, &text[range.end..]].concat()
}

/// The digits of a number, without its sign, currency and unit.
fn digits(output: &str, number: &FoundNumber) -> Range<usize> {
    let is_digit = |character: char| character.is_ascii_digit();
    let text = &output[number.range.clone()];
    let start = text.find(is_digit).unwrap_or(0);
    let end = text.rfind(is_digit).map_or(text.len(), |last| last + 1);
    number.range.start + start..number.range.start + end
}

/// Answers in which a number has another unit.
pub(super) fn other_units(said: &str) -> Vec<Changed> {
    let output = fold(said);
    claims(&output)
        .iter()
        .flat_map(|claim| &claim.numbers)
        .take(MOST)
        .map(|number| {
            let unit = match number.measure {
                Measure::Money(_) => "kilometres",
                _ => "EUR",
            };
            let bare = &output[digits(&output, number)];
            let with = format!("{bare} {unit}");
            let text = replaced(&output, &number.range, &with);
            let was = output[number.range.clone()].trim();
            (format!("`{was}` is `{with}`"), text)
        })
        .collect()
}

/// Answers in which a claim is denied, or is no more.
pub(super) fn denials(said: &str) -> Vec<Changed> {
    let output = fold(said);
    let language = detect(&output).unwrap_or(Language::English);
    claims(&output)
        .iter()
        .filter_map(|claim| {
            let denied = denied(claim.text, language)?;
            let range = claim.start..claim.start + claim.text.len();
            let change = format!("`{}` is negated: `{denied}`", claim.text);
            Some((change, replaced(&output, &range, &denied)))
        })
        .take(MOST)
        .collect()
}

/// The opposite of a claim.
fn denied(claim: &str, language: Language) -> Option<String> {
    const AUXILIARIES: &[&str] = &[
        "is", "are", "was", "were", "has", "have", "had", "will", "can", "could", "would", "should",
    ];
    if claim.contains(" not ") {
        return Some(claim.replacen(" not ", " ", 1));
    }
    if is_negated(claim, language) {
        return None;
    }
    let auxiliary = words(claim).find(|word| AUXILIARIES.contains(&word.text));
    Some(match auxiliary {
        Some(word) => [&claim[..word.end()], " not", &claim[word.end()..]].concat(),
        None => format!("It is not true that {claim}"),
    })
}

/// Answers in which two values of a kind stand in each other's claims.
pub(super) fn swaps(said: &str) -> Vec<Changed> {
    let output = fold(said);
    let claims = claims(&output);
    let mut swaps = Vec::new();
    for (at, one) in claims.iter().enumerate() {
        for other in &claims[at + 1..] {
            let numbers = one.numbers.iter().flat_map(|first| {
                let second = other.numbers.iter().find(|second| {
                    second.measure == first.measure && second.readings != first.readings
                })?;
                Some((digits(&output, first), digits(&output, second)))
            });
            let dates = one.dates.first().zip(other.dates.first());
            let urls = one.urls.first().zip(other.urls.first());
            let addresses = [dates, urls].into_iter().flatten();
            let addresses = addresses.map(|(first, second)| (first.clone(), second.clone()));
            for (first, second) in numbers.chain(addresses) {
                let (was, is) = (&output[first.clone()], &output[second.clone()]);
                if swaps.len() < MOST && was != is {
                    let text = replaced(&replaced(&output, &second, was), &first, is);
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
