//! Whether a fact of a claim is one of a source.

use super::data::{DOWNWARD, UPWARD, Unit};
use super::facts::{Fact, RANGE_END, Value};
use super::text::Language;

/// Whether a fact of a claim is one of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Same {
    No,
    /// The value, with another unit.
    Other,
    /// The value; the source says no unit, or is not sure.
    NoUnit,
    Yes,
}

pub(super) fn same(claim: &Fact, source: &Fact) -> Same {
    let equal = |is_it: bool| if is_it { Same::Yes } else { Same::No };
    match (&claim.value, &source.value) {
        (Value::Number(one), Value::Number(other)) => {
            let found = same_number(claim, source, *one, *other);
            // `About 500` is not 500.
            match source.about.is_some() && claim.about.is_none() {
                true => found.min(Same::NoUnit),
                false => found,
            }
        }
        (Value::Date(one), Value::Date(other)) | (Value::Time(one), Value::Time(other)) => {
            let parts = || one.iter().zip(other);
            if parts().any(
                |(one, other)| matches!((one, other), (Some(one), Some(other)) if one != other),
            ) {
                return Same::No;
            }
            let is_vague = parts().any(|(one, other)| one.is_some() && other.is_none());
            match claim.is_ambiguous || source.is_ambiguous || is_vague {
                true => Same::NoUnit,
                false => Same::Yes,
            }
        }
        (Value::Id(one), Value::Id(other)) => {
            let is_hash = one.len() >= 7
                && one
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            equal(one == other || (is_hash && other.starts_with(one.as_str())))
        }
        (one, other) => equal(one == other),
    }
}

fn same_number(claim: &Fact, source: &Fact, one: f64, other: f64) -> Same {
    if claim.is_ambiguous || source.is_ambiguous {
        return match near(claim, one, other) {
            true => Same::NoUnit,
            false => Same::No,
        };
    }
    if let (Some(unit), Some(their)) = (claim.unit, source.unit) {
        let celsius = |unit: Unit, degrees: f64| match unit.dimension {
            "celsius" => Some(degrees),
            "fahrenheit" => Some((degrees - 32.0) / 1.8),
            _ => None,
        };
        if let (Some(mine), Some(theirs)) = (celsius(unit, one), celsius(their, other))
            && unit != their
            && (mine - theirs).abs() < 0.5 * 10_f64.powi(-decimals(&claim.text))
        {
            return Same::Yes;
        }
        let converted = other * their.factor / unit.factor;
        // 251 km are 156 miles as exactly as one says it; 90 minutes are not 2 hours.
        let is_rounded = || {
            const MOST: f64 = 0.01;
            let written = 0.500_000_1 * 10_f64.powi(-decimals(&claim.text));
            unit != their && (one - converted).abs() < written.min(MOST * converted.abs())
        };
        if unit.dimension == their.dimension && (near(claim, one, converted) || is_rounded()) {
            return match (&claim.rate, &source.rate) {
                (None, _) => Same::Yes,
                (one, other) if one == other => Same::Yes,
                (_, None) => Same::NoUnit,
                _ => Same::Other,
            };
        }
        if near(claim, one, other) && unit != their {
            if is_some_dollar(claim, source) || is_some_dollar(source, claim) {
                return Same::NoUnit;
            }
            // `52w` are weeks as well as watts.
            let letter = source.text.chars().last();
            let is_letter = letter.is_some_and(|letter| {
                let own = claim
                    .text
                    .trim_start_matches(|sign: char| !sign.is_alphabetic());
                let is_unit = source
                    .text
                    .chars()
                    .filter(|sign| sign.is_alphabetic())
                    .count()
                    == 1;
                is_unit && own.starts_with(letter)
            });
            if is_letter {
                return Same::NoUnit;
            }
            let is_degree =
                unit.dimension == "angle" && matches!(their.dimension, "celsius" | "fahrenheit");
            return if is_degree { Same::Yes } else { Same::Other };
        }
        return Same::No;
    }
    let is_percent = claim.unit.is_some_and(|unit| unit.dimension == "percent");
    if is_percent && near(claim, one / 100.0, other) && other.abs() <= 1.0 {
        return Same::Yes;
    }
    // `df` writes `21M`.
    let is_size = claim
        .unit
        .is_some_and(|unit| unit.dimension == "data" && near(claim, one * unit.factor, other));
    match (near(claim, one, other) || is_size, claim.unit) {
        (false, _) => Same::No,
        (true, Some(_)) => Same::NoUnit,
        (true, None) => Same::Yes,
    }
}

/// Whether a fact is in dollars of no country, and the other one in those of some.
fn is_some_dollar(plain: &Fact, other: &Fact) -> bool {
    const DOLLARS: &[&str] = &["AUD", "CAD", "HKD", "MXN", "NZD", "SGD", "USD"];
    let is_dollar = |fact: &Fact| {
        fact.unit
            .is_some_and(|unit| DOLLARS.contains(&unit.dimension))
    };
    let is_plain = !plain.text.to_uppercase().contains("US");
    is_plain && plain.unit.is_some_and(|unit| unit.dimension == "USD") && is_dollar(other)
}

/// How many digits a number has behind the point.
pub(super) fn decimals(text: &str) -> i32 {
    let behind = text.split_once('.').map_or("", |(_, behind)| behind);
    let count = behind.bytes().take_while(u8::is_ascii_digit).count();
    i32::try_from(count).unwrap_or_default()
}

/// Whether a number of a claim is one of a source, rounded as its words say.
pub(super) fn near(claim: &Fact, one: f64, other: f64) -> bool {
    let are_whole = one.fract() == 0.0 && other.fract() == 0.0;
    let is_short_of = |about: &str| matches!(about, "nearly" | "almost" | "fast" | "knapp");
    if one == other || (!are_whole && (one - other).abs() <= 1e-9 * other.abs().max(1.0)) {
        return !claim.about.as_deref().is_some_and(is_short_of);
    }
    let about = claim.about.as_deref().filter(|about| *about != RANGE_END);
    let Some(about) = about.filter(|_| one != 0.0) else {
        return false;
    };
    let written = format!("{}", claim.number().unwrap_or_default().abs());
    let bare = written.replace('.', "");
    let digits = match written.contains('.') {
        true => bare.trim_start_matches('0').len(),
        false => bare.trim_start_matches('0').trim_end_matches('0').len(),
    };
    let digits = i32::try_from(digits.max(1)).unwrap_or(1);
    let step = match one.abs() >= 1.0 {
        true => {
            let length = format!("{}", one.abs().trunc()).len();
            10_f64.powi(i32::try_from(length).unwrap_or(1) - digits)
        }
        false => 10_f64.powi(-digits),
    };
    let is_cut = |cut: f64| (cut - one).abs() < 1e-9 * step + 1e-9;
    if UPWARD.contains(about) {
        return other > one && is_cut((other / step).floor() * step);
    }
    if DOWNWARD.contains(about) {
        let is_close = about == "under" || one - other <= 0.15 * one.abs();
        return other < one && is_close && is_cut((other / step).ceil() * step);
    }
    (one - other).abs() <= step / 2.0 * 1.0001
}

/// All readings of a numeral: one, or two if it is ambiguous.
pub(super) fn readings(text: &str, language: Option<Language>) -> Vec<f64> {
    let text: String = text
        .chars()
        .filter(|letter| !"' ".contains(*letter))
        .collect();
    let parsed = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
    let digits = text.trim_start_matches(['-', '+']);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return vec![parsed(&text)];
    }
    let point = text.replace(',', "");
    let comma = text.replace('.', "").replace(',', ".");
    if let (Some(point_at), Some(comma_at)) = (text.rfind('.'), text.rfind(',')) {
        return vec![parsed(if point_at > comma_at { &point } else { &comma })];
    }
    let sign = if text.contains('.') { '.' } else { ',' };
    if text.matches(sign).count() > 1 {
        return vec![parsed(&text.replace(sign, ""))];
    }
    let (whole, fraction) = digits.split_once(sign).unwrap_or((digits, ""));
    if fraction.len() != 3 || !(1..=3).contains(&whole.len()) {
        return vec![parsed(&text.replace(',', "."))];
    }
    match language {
        Some(Language::German) => vec![parsed(&comma)],
        Some(Language::English) => vec![parsed(&point)],
        None => vec![parsed(&point), parsed(&comma)],
    }
}
