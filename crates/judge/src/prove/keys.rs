//! Keys of records: their words, the unit in them, whether they name.

use cuecard_source::value::Json;

use super::data::{CURRENCIES, multiplier, unit_of};
use super::facts::is_number;
use super::text::pattern;

/// Words of a key: `orderTotal` as `order Total`.
pub(super) fn key_text(key: &str) -> String {
    pattern!(BETWEEN, r"[_.-]|(?P<end>[a-z0-9])(?P<next>[A-Z])");
    if is_date(key) {
        return key.to_owned();
    }
    BETWEEN.replace_all(key, "$end $next").into_owned()
}

/// Whether a key is a month or a day: `2025-11`.
fn is_date(key: &str) -> bool {
    pattern!(DATE, r"^\d{4}-\d\d(?:-\d\d)?$");
    DATE.is_match(key)
}

/// Whether a key is one whose value names a thing.
pub(super) fn is_naming(key: &str) -> bool {
    pattern!(
        NAMING,
        r"(?i)(?:^|_|\b)(?:id|name|title|date|key|code|sku|number|no|email|label|day|slug|file|path|about|city|order|item|product|job|drug)$"
    );
    NAMING.is_match(key)
}

/// Whether a key names only what has no other name: the city of weather, but not that of a person.
pub(super) fn is_weak_name(key: &str) -> bool {
    pattern!(
        WEAK,
        r"(?i)(?:^|_|\b)(?:date|email|label|day|about|city|order|item|product|job)$"
    );
    WEAK.is_match(key)
}

/// Whether an argument is what was searched for, and says nothing of what was found.
pub(crate) fn is_search(key: &str) -> bool {
    pattern!(
        SEARCH,
        r"(?i)^(?:q|query|search|search_term|term|question|prompt|text|keywords?|suche|command|cmd|limit|max_results|page|page_size|per_page|offset|top_k)$"
    );
    SEARCH.is_match(key)
}

/// `price_usd: 5`, and `price: 5` beside `currency: USD`, as `price: 5 USD`.
pub(super) fn with_unit(
    key: &str,
    value: &Json,
    written: &str,
    unit: Option<&str>,
    has_maximum: bool,
) -> String {
    pattern!(
        TEMPERATURE,
        r"(?i)temp|high|low|max|min|feels|value|reading|current"
    );
    pattern!(
        MONEY,
        r"(?i)price|cost|total|amount|fee|balance|fare|rate|tax|paid|due|value|sum|salary|budget|revenue|profit|refund|planned|spent|earned|income|expense|net|gross|deposit|discount|preis|betrag|summe"
    );
    let words = key_text(key);
    let mut parts: Vec<&str> = words.split_whitespace().collect();
    if parts.is_empty() {
        parts.push("value");
    }
    let is_numeric = value.is_number() || value.as_str().is_some_and(|text| is_number(text.trim()));
    let plain = format!("{}: {written}", parts.join(" "));
    if !is_numeric {
        return plain;
    }
    let bare = |part: &&str| part.trim_matches(['(', ')']).to_lowercase();
    let lower: Vec<String> = parts.iter().map(bare).collect();
    let money = |part: &String| unit_of(part).filter(|unit| CURRENCIES.contains(&unit.dimension));
    let others = |taken: [usize; 2]| {
        let left = (0..parts.len()).filter(|at| !taken.contains(at));
        left.map(|at| parts[at]).collect::<Vec<&str>>().join(" ")
    };
    // `revenue_m_usd`, `amount_cents` beside a currency
    let pairs = (1..lower.len()).flat_map(|at| [(at - 1, at), (at, at - 1)]);
    for (times, of) in pairs {
        if let (Some(factor), Some(_)) = (multiplier(&lower[times]), money(&lower[of])) {
            let number = value.as_f64().unwrap_or_default() * factor;
            return format!("{}: {number} {}", others([times, of]), parts[of]);
        }
    }
    if let (Some("cent" | "cents"), Some(unit), Some(cents)) =
        (lower.last().map(String::as_str), unit, value.as_f64())
    {
        let last = parts.len() - 1;
        return format!("{}: {} {unit}", others([last, last]), cents / 100.0);
    }
    // `price_eur_per_month`, `price_per_month_eur`, but `times_per_day`
    let per = lower
        .iter()
        .position(|part| matches!(part.as_str(), "per" | "pro"));
    if let Some(at) = per.filter(|at| at + 1 < parts.len()) {
        let told = with_unit(&others([at, at + 1]), value, written, unit, has_maximum);
        return match parts.len() > 2 && !told.ends_with(&format!(": {written}")) {
            true => format!("{told} per {}", parts[at + 1]),
            false => plain,
        };
    }
    let last = lower.last().map(String::as_str).unwrap_or_default();
    let before = || parts[..(parts.len() - 1).max(1)].join(" ");
    let is_least = last == "min" && has_maximum;
    // `celsius: 12`; a letter alone is a name of many things, and so are `min` and `in`; `year: 2026` is which one.
    const CALENDAR: &str =
        "min in year month week day hour minute second jahr monat woche tag stunde";
    let is_unit_alone =
        parts.len() == 1 && last.len() > 1 && !CALENDAR.split(' ').any(|word| word == last);
    if (parts.len() > 1 || is_unit_alone) && unit_of(last).is_some() && !is_least {
        return format!("{}: {written} {last}", before());
    }
    if parts.len() > 1 && matches!(last, "c" | "f") && TEMPERATURE.is_match(key) {
        return format!("{}: {written} °{last}", before());
    }
    // `km_left`, but no `min_age`.
    let is_unit = |at: &usize| {
        let part = lower[*at].as_str();
        part.len() > 1 && unit_of(part).is_some() && !CALENDAR.split(' ').any(|word| word == part)
    };
    if let (Some(at), true) = ((0..lower.len()).find(is_unit), parts.len() > 1 && !is_least) {
        return format!("{}: {written} {}", others([at, at]), parts[at]);
    }
    // The degrees beside a temperature are none of the humidity.
    let may_have = |dimension: &str| match dimension {
        "celsius" | "fahrenheit" => TEMPERATURE.is_match(key),
        currency if CURRENCIES.contains(&currency) => MONEY.is_match(key) || is_date(key),
        _ => true,
    };
    let unit = unit.and_then(|name| Some((name, unit_of(name)?)));
    match unit {
        Some((name, unit)) if may_have(unit.dimension) => format!("{plain} {name}"),
        _ => plain,
    }
}
