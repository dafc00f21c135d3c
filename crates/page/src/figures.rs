//! Texts that say little about what they stand beside.

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
    use super::is_figure;

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
