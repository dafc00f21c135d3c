//! Facts that no source has: invented, or reckoned from others.

use std::collections::HashMap;

use cuecard_source::value::Json;

use super::facts::{Fact, Value};
use super::names::stands_in;
use super::pieces::Piece;
use super::proof::{Proof, Verdict};
use super::same::{Same, decimals, near, same};
use super::sources::{Sources, leaves, shown};
use super::text::{part, pattern};

/// So many facts of results are dates to reckon from.
const MOST_KNOWN: usize = 2_000;

/// So many numbers of a result are reckoned with.
const MOST_NUMBERS: usize = 40;

/// What is to be said about a fact of a claim that stands in no source.
pub(super) fn invented(fact: &Fact, claim: &Piece, sources: &Sources) -> Option<Proof> {
    let refuted = |why: String| Some(Proof::new(Verdict::Refuted, why));
    let unproven = |why: String| Some(Proof::new(Verdict::Unproven, why));
    let text = &fact.text;
    match &fact.value {
        Value::Quote(quote) => {
            if stands_in(quote, &sources.all_text) {
                return None;
            }
            return refuted(format!("the quotation “{text}” is nowhere"));
        }
        Value::Name(stem) => {
            let has_stem = |words: &std::collections::BTreeSet<String>| words.contains(stem);
            let is_known = stands_in(&text.to_lowercase(), &sources.all_text)
                || sources.known_names.contains(stem)
                || sources
                    .passages
                    .iter()
                    .any(|passage| passage.piece.has_word(stem) || has_stem(&passage.header.words))
                || sources.records.iter().any(|record| {
                    let mut fields = record.fields.iter();
                    has_stem(&record.header.words)
                        || fields.any(|field| has_stem(&field.words) || has_stem(&field.keys))
                });
            if is_known {
                return None;
            }
            return match text.chars().any(char::is_lowercase) {
                true => refuted(format!("the name {text} is nowhere")),
                false => unproven(format!("not proved: `{text}`")),
            };
        }
        _ => {}
    }
    let best = sources
        .facts()
        .map(|source| same(fact, source))
        .max()
        .unwrap_or(Same::No);
    if best == Same::Yes || fact.is_zero() || fact.is_in(&sources.known) {
        return None;
    }
    if let Value::Id(id) | Value::Url(id) = &fact.value {
        // `DE89 3704 0044` is written in one, too.
        const LONG: usize = 8;
        if id.len() >= LONG && sources.all_text.replace(' ', "").contains(id.as_str()) {
            return unproven(format!("the results write {text} in another way"));
        }
        let spaced = id.replace(['-', '_', '/'], " ");
        if stands_in(id, &sources.all_text) || stands_in(&spaced, &sources.all_text) {
            return None;
        }
    }
    if let Some(how) = moved(fact, sources) {
        return unproven(format!("{text} is in no result; it could be {how}"));
    }
    if let Value::Date([_, Some(month), Some(day)]) = fact.value
        && stands_in(&format!("{month:02}-{day:02}"), &sources.all_text)
    {
        return unproven(format!("the results say no year of {text}"));
    }
    // A day is written as its first moment.
    if let Value::Time([Some(0), Some(0), _]) = fact.value {
        return unproven(format!("not proved: `{text}`"));
    }
    if let Some(number) = fact.number() {
        let turned = Fact {
            value: Value::Number(-number),
            ..fact.clone()
        };
        if turned.is_in(sources.facts()) {
            return unproven(format!("the results have {text} with the other sign"));
        }
    }
    if best == Same::NoUnit {
        return unproven(format!(
            "the results say no unit for {text}, or another reading"
        ));
    }
    if let Some(number) = fact.number() {
        if best == Same::Other {
            return refuted(format!("{text} has another unit in the results"));
        }
        let rounded = Fact {
            about: Some("about".to_owned()),
            ..fact.clone()
        };
        let is_rounded = |source: &Fact| same(&rounded, source) >= Same::NoUnit;
        let may_be_rounded = decimals(text) > 0 || text.contains("000") || fact.unit.is_some();
        if let Some(source) = sources
            .facts()
            .find(|source| may_be_rounded && is_rounded(source))
        {
            return unproven(format!(
                "{text} could be {} rounded, which no word of it says",
                source.text
            ));
        }
        // What the claim reckons with may be reckoned, too.
        let others = claim.facts.iter().filter(|other| other.at != fact.at);
        let reckoned = others.filter(|other| {
            let number = other.number();
            let how = |number| {
                derived(other, number, sources).or_else(|| across(other, number, &[], &[], sources))
            };
            other.is_in(&sources.known) || number.and_then(how).is_some()
        });
        let reckoned: Vec<&Fact> = reckoned.collect();
        let how = derived(fact, number, sources);
        if let Some(how) = how.or_else(|| across(fact, number, &claim.facts, &reckoned, sources)) {
            return unproven(format!("{text} is in no result; it could be {how}"));
        }
        if fact.unit.is_none() {
            let is_part = |source: &Fact| match source.value {
                Value::Date(parts) | Value::Time(parts) => parts
                    .iter()
                    .flatten()
                    .any(|part| f64::from(*part) == number),
                _ => false,
            };
            if sources.facts().any(is_part) {
                return unproven(format!("{text} may be a part of a date"));
            }
            if stands_in(&text.to_lowercase(), &sources.all_text) {
                return unproven(format!("{text} is a part of a longer value"));
            }
            // `I picked three stories` counts what the agent did, and not what it got.
            let may_be_chosen = |(result, _): &(std::rc::Rc<Json>, bool)| {
                longest(result).is_none_or(|most| number <= most as f64)
            };
            if number.fract() == 0.0
                && is_of_agent(claim, fact)
                && sources.results.iter().any(may_be_chosen)
            {
                return unproven(format!(
                    "{text} is what the agent did, which no result says"
                ));
            }
            let has_lines = |(result, _): &(std::rc::Rc<Json>, bool)| {
                let n_lines = result.as_str().map_or(0, |text| text.lines().count());
                n_lines > 1 && number.fract() == 0.0 && (1.0..=n_lines as f64).contains(&number)
            };
            if sources.results.iter().any(has_lines) {
                return unproven(format!("{text} may be a count of lines"));
            }
        }
    }
    let kind = match fact.value {
        Value::Number(_) => "number",
        Value::Date(_) => "date",
        Value::Time(..) => "time",
        Value::Url(_) => "address",
        _ => "identifier",
    };
    refuted(format!("the {kind} {text} is nowhere"))
}

/// Whether a claim says a number of what the agent itself did.
fn is_of_agent(claim: &Piece, number: &Fact) -> bool {
    pattern!(AGENT, r"(?i)\b(?:i|we|ich|wir)\b");
    AGENT.is_match(part(&claim.text, 0, number.at).1)
}

/// The length of the longest list of a result; `None` if it has none.
fn longest(result: &Json) -> Option<usize> {
    match result {
        Json::Array(items) => items.iter().filter_map(longest).chain([items.len()]).max(),
        Json::Object(members) => members.values().filter_map(longest).max(),
        _ => None,
    }
}

/// How a number could be reckoned from those of one result.
fn derived(fact: &Fact, number: f64, sources: &Sources) -> Option<String> {
    let results = sources.results.iter().filter(|(_, is_stale)| !is_stale);
    for (result, _) in results {
        if let Some(how) = counted(result, number) {
            return Some(how);
        }
        let mut columns: Vec<(&str, Vec<f64>)> = Vec::new();
        let mut numbers: Vec<f64> = Vec::new();
        leaves("", result, &mut |key, leaf| {
            if let Some(value) = leaf.as_f64() {
                match columns.iter().position(|(known, _)| *known == key) {
                    Some(at) => columns[at].1.push(value),
                    None if columns.len() < 1_000 => columns.push((key, vec![value])),
                    None => {}
                }
                add(&mut numbers, value);
            }
        });
        if result.is_string() {
            let passages = sources.passages.iter();
            let facts = passages.flat_map(|passage| &passage.piece.facts);
            let values = facts.filter_map(Fact::number);
            values.for_each(|value| add(&mut numbers, value));
        }
        for (key, values) in columns.iter().filter(|(_, values)| values.len() > 1) {
            let sum: f64 = values.iter().sum();
            let sums = [sum, -sum, sum / values.len() as f64];
            if sums.iter().any(|sum| near(fact, number, *sum)) {
                return Some(format!("the sum or the mean of `{key}`"));
            }
            if values.len() <= MOST_NUMBERS && parts_of(values).any(|sum| near(fact, number, sum)) {
                return Some(format!("a sum of some `{key}`"));
            }
        }
        if let Some(unit) = fact.unit.filter(|unit| unit.dimension == "time") {
            let moments = moments(result);
            // `00:32:12` may be a duration.
            let is_it = |source: &Fact| {
                matches!(source.value, Value::Time([Some(hour), Some(minute), second])
                    if f64::from(3600 * hour + 60 * minute + second.unwrap_or(0)) == number * unit.factor)
            };
            if let Some(source) = sources.facts().find(|source| is_it(source)) {
                return Some(source.text.clone());
            }
            let is_between = |one: &f64, other: &f64| {
                one != other && near(fact, number * unit.factor, (one - other).abs())
            };
            let mut first = moments.iter();
            if first.any(|one| moments.iter().any(|other| is_between(one, other))) {
                return Some("the difference of two times".to_owned());
            }
        }
        let how = numbers.iter().enumerate().find_map(|(idx, one)| {
            let mut others = numbers[idx + 1..].iter();
            others.find_map(|other| reckoned(fact, number, *one, *other, "+-×/%m"))
        });
        if how.is_some() {
            return how;
        }
    }
    None
}

/// The sums of three and more numbers that follow each other.
fn parts_of(values: &[f64]) -> impl Iterator<Item = f64> {
    (0..values.len()).flat_map(|from| {
        let sums = values[from..].iter().scan(0.0, |sum, value| {
            *sum += value;
            Some(*sum)
        });
        sums.skip(2)
    })
}

/// How a date could be some time before or after one of a result.
fn moved(fact: &Fact, sources: &Sources) -> Option<String> {
    const DAY: f64 = 86_400.0;
    let day_of = |fact: &Fact| match fact.value {
        Value::Date([Some(year), Some(month), Some(day)]) => {
            let [month, day] = [month, day].map(i8::try_from);
            jiff::civil::Date::new(year.try_into().ok()?, month.ok()?, day.ok()?).ok()
        }
        _ => None,
    };
    let date = day_of(fact)?;
    let known = || sources.facts().chain(&sources.known);
    let spans: Vec<(f64, &str, &str)> = known()
        .filter_map(|fact| {
            let unit = fact.unit?;
            let is_span = matches!(unit.dimension, "time" | "month");
            let number = fact.number().filter(|_| is_span)?;
            Some((
                number.abs() * unit.factor,
                unit.dimension,
                fact.text.as_str(),
            ))
        })
        .collect();
    known().take(MOST_KNOWN).find_map(|source| {
        let day = day_of(source)?;
        let days = f64::from((date - day).get_days());
        let month_of = |day: jiff::civil::Date| 12 * i32::from(day.year()) + i32::from(day.month());
        let months = f64::from(month_of(date) - month_of(day));
        let is_day = day.day() == date.day();
        let (_, _, span) = spans.iter().find(|(span, dimension, _)| match *dimension {
            "time" => *span == days.abs() * DAY && days != 0.0,
            _ => is_day && *span == months.abs() && months != 0.0,
        })?;
        Some(format!("{} and {span}", source.text))
    })
}

/// Adds a number that is not there yet, unless there are many.
fn add(numbers: &mut Vec<f64>, number: f64) {
    if numbers.len() < MOST_NUMBERS && !numbers.contains(&number) {
        numbers.push(number);
    }
}

/// The sum or the difference of two amounts of any results, or so many of one.
fn across(
    fact: &Fact,
    number: f64,
    said: &[Fact],
    reckoned_before: &[&Fact],
    sources: &Sources,
) -> Option<String> {
    let dimension = |fact: &Fact| fact.unit.map(|unit| unit.dimension);
    let mut amounts: Vec<f64> = Vec::new();
    let alike = reckoned_before
        .iter()
        .copied()
        .chain(sources.facts())
        .filter(|source| dimension(source) == dimension(fact));
    let values = alike.filter_map(Fact::number);
    values.for_each(|value| add(&mut amounts, value));
    let is_count = |count: &&Fact| count.unit.is_none() && count.at != fact.at;
    let counts = said.iter().filter(is_count);
    let counts: Vec<f64> = counts.filter_map(Fact::number).collect();
    amounts.iter().enumerate().find_map(|(idx, one)| {
        let mut counts = counts.iter();
        let several = counts.find_map(|count| reckoned(fact, number, *count, *one, "×"));
        let mut others = amounts[idx + 1..].iter();
        several.or_else(|| others.find_map(|other| reckoned(fact, number, *one, *other, "+-")))
    })
}

/// How a number could be reckoned from two others, in one of these ways.
fn reckoned(fact: &Fact, number: f64, one: f64, other: f64, ways: &str) -> Option<String> {
    let places = 0.5 * 10_f64.powi(-decimals(&fact.text));
    let is_it = |value: f64, sign: char| {
        near(fact, number, value) || ("/%".contains(sign) && (number - value).abs() < places)
    };
    let all = [
        (one + other, '+'),
        (-one - other, '+'),
        (one.max(other) - one.min(other), '-'),
        (one * other, '×'),
        (one / other, '/'),
        (other / one, '/'),
        (100.0 * one / other, '%'),
        (100.0 * other / one, '%'),
        (f64::midpoint(one, other), 'm'),
    ];
    let mut known = all.into_iter().filter(|(_, sign)| ways.contains(*sign));
    let (_, sign) = known.find(|(value, sign)| value.is_finite() && is_it(*value, *sign))?;
    Some(match sign {
        'm' => format!("the mean of {one} and {other}"),
        '%' => format!("the share of {one} and {other}"),
        '-' => format!("{} - {}", one.max(other), one.min(other)),
        sign => format!("{one} {sign} {other}"),
    })
}

/// Whether a number is that of entries of a list, or of those with some value; lists of one key are one.
fn counted(value: &Json, number: f64) -> Option<String> {
    let (mut lists, mut entries) = (HashMap::new(), HashMap::new());
    count("", value, number, &mut lists, &mut entries).or_else(|| {
        let is_it = |count: &usize| *count as f64 == number;
        match (lists.values().any(is_it), entries.values().any(is_it)) {
            (true, _) => Some("the number of entries".to_owned()),
            (false, true) => Some("the number of entries with a value".to_owned()),
            (false, false) => None,
        }
    })
}

/// Counts the entries of all lists by their keys, and those with the same value.
fn count<'v>(
    key: &'v str,
    value: &'v Json,
    number: f64,
    lists: &mut HashMap<&'v str, usize>,
    entries: &mut HashMap<(&'v str, &'v str, String), usize>,
) -> Option<String> {
    match value {
        Json::Array(items) => {
            if items.len() as f64 == number {
                return Some("the number of entries".to_owned());
            }
            *lists.entry(key).or_default() += items.len();
            for (own, value) in items.iter().filter_map(Json::as_object).flatten() {
                if !value.is_array() && !value.is_object() {
                    *entries.entry((key, own, shown(value))).or_default() += 1;
                }
            }
            let mut items = items.iter();
            items.find_map(|item| count(key, item, number, lists, entries))
        }
        Json::Object(members) => {
            let mut members = members.iter();
            members.find_map(|(key, value)| count(key, value, number, lists, entries))
        }
        _ => None,
    }
}

/// The points in time of a result, in seconds.
fn moments(result: &Json) -> Vec<f64> {
    /// No time is longer, in bytes.
    const LONGEST: usize = 40;
    let mut found = Vec::new();
    leaves("", result, &mut |_, leaf| {
        let text = leaf.as_str().unwrap_or_default();
        if text.len() > LONGEST || found.len() >= MOST_NUMBERS {
            return;
        }
        // With a zone, without one, and the time alone.
        let forms = [
            text.to_owned(),
            format!("{text}Z"),
            format!("1970-01-01T{text}Z"),
        ];
        let time = forms.iter().find_map(|form| form.parse().ok());
        found.extend(time.map(|time: jiff::Timestamp| time.as_second() as f64));
    });
    found
}
