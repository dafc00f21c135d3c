//! Numbers that are written otherwise than in what was read before: `1,500.00` after `1500`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use cuecard_source::value::as_text;
use regex::Regex;
use serde_json::Value;

use super::build::Builder;
use super::leftovers::Origin;
use super::questions::Subject;
use super::values::each_leaf;

/// So many numbers are looked at, of all results, prompts and arguments, and of a text.
const MOST_AMOUNTS: usize = 100_000;
const MOST_OF_TEXT: usize = 2_000;

/// So many places of a number are followed.
const MOST_PLACES: usize = 50;

/// A number of fewer digits stands everywhere.
const FEWEST_DIGITS: usize = 3;

/// So many digits are the same number of a phone or an account, whatever groups they are written in.
const FEWEST_OF_CODE: usize = 8;

/// The numbers of everything that was read so far, by what they are worth.
#[derive(Debug, Default)]
pub(super) struct Amounts {
    /// Where each was read, and how it was written there.
    places: HashMap<String, Vec<(Origin, String)>>,
    n_amounts: usize,
}

impl Amounts {
    pub(super) fn add(&mut self, origin: Origin, value: &Value) {
        each_leaf(value, &mut |leaf| {
            if !(leaf.is_string() || leaf.is_number()) {
                return;
            }
            let text = as_text(leaf);
            for (range, worths) in amounts_in(&text) {
                for worth in worths {
                    if self.n_amounts >= MOST_AMOUNTS {
                        return;
                    }
                    self.n_amounts += 1;
                    let places = self.places.entry(worth).or_default();
                    let place = (origin, text[range.clone()].to_owned());
                    if places.len() < MOST_PLACES && !places.contains(&place) {
                        places.push(place);
                    }
                }
            }
        });
    }
}

impl Builder<'_, '_> {
    /// Asks of the first number in a text, outside of what is `covered`, that was read before in another form.
    pub(super) fn ask_of_amounts(&mut self, text: &str, covered: &[Range<usize>]) {
        let is_left = |range: &Range<usize>| {
            let mut covered = covered.iter();
            !covered.any(|part| range.start < part.end && part.start < range.end)
        };
        let found = amounts_in(text)
            .take(MOST_OF_TEXT)
            .filter(|(range, _)| is_left(range) && !self.asked_of(&text[range.clone()]))
            .find_map(|(range, worths)| {
                let written = &text[range];
                let (origin, other) = worths
                    .iter()
                    .find_map(|worth| self.read_as(worth, written))?;
                Some((written.to_owned(), origin, other))
            });
        let Some((written, origin, other)) = found else {
            return;
        };
        let key = &self.key;
        let (id, text) = match origin {
            Origin::Result(step) => {
                let id = self.ids[step].clone();
                let text = format!(
                    "`{key}` has `{written}`, and the result of `{id}` has `{other}`: is it copied from there, in another form?"
                );
                (id, text)
            }
            _ => {
                let text = format!(
                    "`{key}` has `{written}`, and the prompt has `{other}`: is it a variable, in another form?"
                );
                ("the prompt".to_owned(), text)
            }
        };
        self.ask_about(Subject::new(&other, &id, ""), text);
    }

    /// Where a number was read that the agent did not have from itself, if it was never written like this.
    fn read_as(&self, worth: &str, written: &str) -> Option<(Origin, String)> {
        let places = self.amounts.places.get(worth)?;
        let is_it = |(origin, other): &&(Origin, String)| match origin {
            Origin::Result(_) | Origin::Prompt => other != written,
            Origin::Quote | Origin::Day | Origin::Arguments(_) => false,
        };
        let (origin, other) = places.iter().find(is_it)?;
        let is_known = places.iter().any(|(known, other)| match (known, origin) {
            (Origin::Arguments(known), Origin::Result(step)) => known <= step,
            (Origin::Arguments(_), _) => false,
            _ => other == written,
        });
        (!is_known).then(|| (*origin, other.clone()))
    }
}

/// The numbers of a text, each with what it may be worth: `1.512` is over a thousand, or under two.
fn amounts_in(text: &str) -> impl Iterator<Item = (Range<usize>, Vec<String>)> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[0-9]+(?:[.,'’ \u{a0}\u{202f}][0-9]+)*").expect("it is fixed")
    });
    NUMBER.find_iter(text).flat_map(|found| {
        // Numbers beside each other may be one in groups, or several.
        let (mut parts, mut at) = (Vec::new(), found.start());
        for part in found.as_str().split_inclusive(' ') {
            parts.push(at..at + part.trim_end().len());
            at += part.len();
        }
        let whole = (parts.len() > 1).then(|| found.range());
        let all = whole.into_iter().chain(parts);
        all.filter_map(|range| {
            let goes_on = |letter: Option<char>| {
                letter.is_some_and(|letter| letter.is_alphanumeric() || "-_/:".contains(letter))
            };
            let before = text[..range.start].chars().next_back();
            let is_part = goes_on(before.filter(|before| *before != '-'))
                || goes_on(text[range.end..].chars().next());
            let number = &text[range.clone()];
            let mut worths = if is_part { Vec::new() } else { worths(number) };
            let digits = number.replace(' ', "");
            let is_code =
                digits.len() >= FEWEST_OF_CODE && digits.bytes().all(|byte| byte.is_ascii_digit());
            worths.extend(is_code.then(|| format!("#{digits}")));
            (!worths.is_empty()).then_some((range, worths))
        })
        .collect::<Vec<_>>()
    })
}

/// What a number may be worth, as the shortest decimals.
fn worths(number: &str) -> Vec<String> {
    let is_sign = |letter: char| !letter.is_ascii_digit();
    let signs: Vec<(usize, char)> = number
        .char_indices()
        .filter(|(_, it)| is_sign(*it))
        .collect();
    let whole = |text: &str| -> Option<String> {
        let groups: Vec<&str> = text.split(is_sign).collect();
        let mut signs = text.chars().filter(|letter| is_sign(*letter));
        let first = signs.next();
        let is_even = signs.all(|sign| Some(sign) == first);
        let has_groups = groups.len() == 1 || groups[0].len() <= 3;
        let are_thousands = groups.iter().skip(1).all(|group| group.len() == 3);
        (is_even && has_groups && are_thousands).then(|| groups.concat())
    };
    let mut found: Vec<String> = Vec::new();
    let mut add = |whole: Option<String>, fraction: &str| {
        let Some(whole) = whole else {
            return;
        };
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        let has_enough = whole.len() + fraction.len() >= FEWEST_DIGITS;
        found.extend(has_enough.then(|| format!("{whole}.{fraction}")));
    };
    add(whole(number), "");
    if let Some(&(at, sign)) = signs.last()
        && matches!(sign, '.' | ',')
        && signs.iter().filter(|(_, other)| *other == sign).count() == 1
    {
        add(whole(&number[..at]), &number[at + 1..]);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::amounts_in;

    #[test]
    fn numbers_are_worth_the_same_however_they_are_written() {
        let worths = |text: &str| {
            let all = amounts_in(text).flat_map(|(_, worths)| worths);
            all.collect::<Vec<String>>().join(" ")
        };
        for (text, expected) in [
            ("1500", "1500."),
            ("1,500.00 EUR", "1500."),
            ("€1.500,00", "1500."),
            ("1'500", "1500."),
            ("1.500", "1500."),
            ("1.512", "1512. 1.512"),
            ("about 12.50.", "12.5"),
            ("1,234,567", "1234567."),
            ("-1234.50", "1234.5"),
            ("12 000 pieces, 5 1500", "12000. 1500."),
            ("+49 30 12345678", "#493012345678 12345678. #12345678"),
            ("DE89 3704 0044 0532", "#89370400440532 3704. 532."),
            (
                "1.2.3 7 10.0 192.168.1.20 2026-05-03 10:30 v1500 1500/2",
                "#15001500",
            ),
        ] {
            assert_eq!(worths(text), expected, "{text}");
        }
    }
}
