//! Numbers in texts, and texts that say little about what they stand beside.

use std::sync::LazyLock;

use regex::Regex;

use super::words::is_currency;

/// The only number in a text: `1,200 visitors`, `41,60 €`, `-€20.00`. None if there are more, or if its sign is not clear.
pub(crate) fn number_of(text: &str) -> Option<f64> {
    static FORMS: LazyLock<[(Regex, char); 2]> = LazyLock::new(|| {
        let pattern = |pattern| Regex::new(pattern).expect("the pattern is fixed");
        let english = r"^(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)$";
        let continental = r"^(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+)$";
        [(pattern(english), ','), (pattern(continental), '.')]
    });
    let text = text.trim();
    let first = text.find(|sign: char| sign.is_ascii_digit())?;
    let last = text.rfind(|sign: char| sign.is_ascii_digit())?;
    let start = first - usize::from(text[..first].ends_with('.'));
    let (digits, after) = (&text[start..=last], &text[last + 1..]);
    // `(20.00)` and `20.00-` are how books write what is owed.
    if (text.starts_with('(') && text.ends_with(')')) || after.starts_with(is_minus) {
        return None;
    }
    let is_negative = is_negative(&text[..start])?;
    let mut forms = FORMS.iter().filter(|(form, _)| form.is_match(digits));
    let (_, thousands) = forms.next()?;
    // `1.200` is a little more than one here, and more than a thousand there.
    let is_either = forms.next().is_some() && digits.contains('.') && !digits.starts_with('0');
    if is_either {
        return None;
    }
    let plain = digits.replace(*thousands, "").replace(',', ".");
    let number: f64 = plain.parse().ok()?;
    Some(if is_negative { -number } else { number })
}

/// Whether a number behind this is less than zero: `-`, `−€`. None if that is not clear, as behind `Room -`.
pub(crate) fn is_negative(before: &str) -> Option<bool> {
    let is_unit = |sign: char| sign.is_whitespace() || sign.is_uppercase() || is_currency(sign);
    let bare = before.trim_end_matches(is_unit);
    let Some(rest) = bare.strip_suffix(is_minus) else {
        return Some(false);
    };
    let is_beside = !before[bare.len()..].starts_with(char::is_whitespace);
    let is_sign = match is_beside {
        true => !rest.ends_with(char::is_alphanumeric),
        false => rest.trim().is_empty(),
    };
    is_sign.then_some(true)
}

fn is_minus(sign: char) -> bool {
    matches!(sign, '-' | '−' | '–')
}

/// Whether a text is a number, a date, a time or a price, which tell little about what it stands beside.
pub(super) fn is_figure(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "jan",
        "feb",
        "mar",
        "apr",
        "may",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "january",
        "february",
        "march",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "mon",
        "tue",
        "wed",
        "thu",
        "fri",
        "sat",
        "sun",
        "am",
        "pm",
        "eur",
        "usd",
        "gbp",
        "chf",
        "today",
        "yesterday",
        "ago",
        "st",
        "nd",
        "rd",
        "th",
        "no",
        "nr",
        "kb",
        "mb",
        "gb",
        "h",
        "min",
        "s",
        "ms",
        "kg",
        "g",
        "km",
        "m",
        "x",
        "pcs",
        "day",
        "days",
        "hour",
        "hours",
        "minute",
        "minutes",
        "week",
        "weeks",
        "month",
        "months",
        "year",
        "years",
    ];
    // A number of something: `5 tasks`.
    let count = text.split_once(' ').is_some_and(|(number, what)| {
        number
            .chars()
            .all(|sign| sign.is_ascii_digit() || matches!(sign, '.' | ','))
            && what.chars().all(char::is_lowercase)
    });
    if count {
        return true;
    }
    let lower = text.to_lowercase();
    lower
        .split(|sign: char| !sign.is_alphabetic())
        .filter(|word| !word.is_empty())
        .all(|word| WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::{is_figure, number_of};

    #[test]
    fn a_number_is_read_with_its_sign_or_not_at_all() {
        for (text, number) in [
            ("1,200 visitors", Some(1200.0)),
            ("€ 41.60", Some(41.6)),
            ("41,60 €", Some(41.6)),
            ("1.200,50 €", Some(1200.5)),
            ("1.234.567", Some(1_234_567.0)),
            ("1.200 €", None),
            ("0.125", Some(0.125)),
            ("2.75", Some(2.75)),
            ("Score: .5", Some(0.5)),
            ("−3 °C", Some(-3.0)),
            ("-€20.00", Some(-20.0)),
            ("Balance: –$7", Some(-7.0)),
            ("-EUR 5", Some(-5.0)),
            ("- 5", Some(-5.0)),
            ("€-20", Some(-20.0)),
            ("Cart (2)", Some(2.0)),
            // Less than zero, or not.
            ("(€20.00)", None),
            ("20.00-", None),
            ("Room - 12", None),
            ("A-100", None),
            ("3 of 5", None),
            ("1,2,3", None),
            ("none", None),
            ("2024-11-05", None),
        ] {
            assert_eq!(number_of(text), number, "{text}");
        }
    }

    #[test]
    fn figures_are_told_from_names() {
        for text in [
            "12",
            "$4.50",
            "2027-04-12",
            "12 Mar 2027",
            "3 days ago",
            "10:30 am",
            "#1042",
            "–",
            "5 tasks",
            "1,200 views",
        ] {
            assert!(is_figure(text), "{text}");
        }
        for text in [
            "Bob Brown",
            "Invoice 7",
            "7 Up",
            "INV-1042",
            "v2.4.0 beta",
            "Tea",
        ] {
            assert!(!is_figure(text), "{text}");
        }
    }
}
