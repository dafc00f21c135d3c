//! What a machine number can hold.

/// Whether `text` is an integer that fits neither `i64` nor `u64`. Such a number identifies something, so it is read as the
/// text of its digits, wherever JSON comes from: as an `f64` it would be another one.
pub fn is_large_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && text.parse::<i64>().is_err()
        && text.parse::<u64>().is_err()
}

/// The `f64` that a number with a fraction or an exponent is read as, if that is another number: `1e-400`. `None` for one
/// that is out of range, which is an error.
pub(super) fn rounded(text: &str) -> Option<f64> {
    // An `f64` keeps 15 digits.
    if text.len() <= 15 && !text.contains(['e', 'E']) {
        return None;
    }
    let nearest = text.parse::<f64>().ok().filter(|it| it.is_finite())?;
    let is_other = || decimal(text) != decimal(&format!("{nearest:e}"));
    (text.contains(['.', 'e', 'E']) && is_other()).then_some(nearest)
}

/// The digits of a number without zeros around them, and the power of ten that they are multiplied with.
fn decimal(text: &str) -> (String, i64) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let n_zeros = digits.len() - significant.len();
    let places = i64::try_from(n_zeros).unwrap_or_default()
        - i64::try_from(fraction.len()).unwrap_or_default();
    match significant.trim_start_matches(['-', '0']) {
        "" => (String::new(), 0),
        // An exponent that is no `i64` is that of no `f64`.
        digits => (
            digits.to_owned(),
            exponent.parse().unwrap_or(i64::MIN / 2) + places,
        ),
    }
}

/// The machine form of a number: `i64` or `u64` where it is written as an integer and fits, the text of a larger integer,
/// else an `f64`. Null where it is out of range or no number, which only happens in a tree that was parsed with errors.
pub(super) fn number_value(text: &str) -> serde_json::Value {
    // Minus zero has no integer form.
    if text != "-0" {
        if let Ok(integer) = text.parse::<u64>() {
            return integer.into();
        }
        if let Ok(integer) = text.parse::<i64>() {
            return integer.into();
        }
    }
    if is_large_integer(text) {
        return text.into();
    }
    let nearest = text.parse::<f64>().ok();
    nearest
        .and_then(serde_json::Number::from_f64)
        .map_or(serde_json::Value::Null, serde_json::Value::Number)
}

/// Whether a number is too large for an `f64`.
pub(crate) fn is_out_of_range(text: &str) -> bool {
    // The largest `f64` has 309 digits, so most numbers need no look.
    let may_be = text.len() >= 309 || text.bytes().any(|byte| matches!(byte, b'e' | b'E'));
    may_be && text.parse::<f64>().is_ok_and(f64::is_infinite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_integers_are_large() {
        for small in [
            "0",
            "-0",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615",
            "1.5",
            "1e400",
            "",
            "-",
            "x",
        ] {
            assert!(!is_large_integer(small), "{small}");
        }
        for large in [
            "18446744073709551616",
            "-9223372036854775809",
            &"9".repeat(400),
        ] {
            assert!(is_large_integer(large), "{large}");
        }
    }

    #[test]
    fn a_number_that_no_double_is_becomes_another_one() {
        for (text, expected) in [
            ("1e-400", Some(0.0)),
            ("-1e-99999999999999999999", Some(-0.0)),
            ("0.1000000000000000055511151231257827", Some(0.1)),
            ("12345678901234567.25", Some(12_345_678_901_234_568.0)),
            ("0.30000000000000004", None),
            ("1.0000000000000000000000", None),
            ("-00.5e+3", None),
            ("1e30", None),
            ("0e-400", None),
            ("1.5E2", None),
            ("1e400", None),
            ("123456789012345678", None),
            ("2.2250738585072014e-308", None),
        ] {
            assert_eq!(rounded(text), expected, "{text}");
        }
    }

    #[test]
    fn the_machine_form_is_the_narrowest() {
        assert_eq!(
            number_value("-9223372036854775808"),
            serde_json::json!(i64::MIN)
        );
        assert_eq!(
            number_value("18446744073709551615"),
            serde_json::json!(u64::MAX)
        );
        assert_eq!(
            number_value("18446744073709551616"),
            serde_json::json!("18446744073709551616")
        );
        assert_eq!(
            number_value("1e20"),
            serde_json::json!(100_000_000_000_000_000_000.0_f64)
        );
        assert_eq!(number_value("-0").to_string(), "-0.0");
        assert_eq!(number_value("1e400"), serde_json::Value::Null);
    }
}
