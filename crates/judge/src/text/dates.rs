//! Dates, in the notations that people and programs use.

use std::ops::Range;
use std::sync::LazyLock;

use jiff::civil::{Date, Weekday};
use regex::{Captures, Regex};

/// A date or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct CalendarDate {
    /// The year, of the common era.
    pub year: Option<i16>,
    /// The month, from 1.
    pub month: i8,
    /// The day, from 1.
    pub day: Option<i8>,
}

impl CalendarDate {
    fn new(year: Option<i16>, month: i8, day: Option<i8>) -> Option<Self> {
        // A leap year stands for an unknown one.
        Date::new(year.unwrap_or(2000), month, day.unwrap_or(1)).ok()?;
        Some(Self { year, month, day })
    }
}

/// A date in a text: what it may mean, one reading at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundDate {
    pub range: Range<usize>,
    pub readings: Vec<CalendarDate>,
}

const MONTH: &str = r"(?P<month>jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|février|mar(?:ch|s|zo)?|märz|maart|apr(?:il|ile)?|avril|may|mai|mayo|maggio|maio|mei|june?|juni|juin|junio|giugno|junho|july?|juli|juillet|julio|luglio|julho|aug(?:ust|ustus)?|août|agosto|sept?(?:ember|embre|iembre)?|settembre|setembro|oct(?:ober|obre|ubre)?|okt(?:ober)?|ottobre|outubro|nov(?:ember|embre|iembre|embro)?|dec(?:ember)?|dez(?:ember|embro)?|décembre|dicembre|diciembre|enero|febrero|marzo|abril|gennaio|febbraio|janeiro|fevereiro|março|januari|februari|augusti)";

fn pattern(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){}", pattern.replace("MONTH", MONTH))).expect("a fixed pattern")
}

static PATTERNS: LazyLock<[Regex; 7]> = LazyLock::new(|| {
    [
        pattern(
            r"(?P<year>[0-9]{4})[-/](?P<n1>[0-9]{1,2})[-/](?P<n2>[0-9]{1,2})(?:T[0-9:.]+(?:Z|[+-][0-9:]+)?)?",
        ),
        pattern(
            r"(?P<year>[0-9]{4})\s?[年년]\s?(?P<n1>[0-9]{1,2})\s?[月월](?:\s?(?P<n2>[0-9]{1,2})\s?[日일])?",
        ),
        pattern(r"(?P<d1>[0-9]{1,2})\.\s?(?P<d2>[0-9]{1,2})\.\s?(?P<year>[0-9]{4})\b"),
        pattern(r"(?P<s1>[0-9]{1,2})/(?P<s2>[0-9]{1,2})/(?P<year>[0-9]{4})\b"),
        pattern(
            r"\b(?P<day>[0-9]{1,2})(?:st|nd|rd|th|er|\.|º)?[ \u{a0}-](?:(?:of|de|di)[ \u{a0}])?MONTH\b\.?(?:,?[ \u{a0}-](?:(?:de|del)[ \u{a0}])?(?P<year>[0-9]{4})\b)?",
        ),
        pattern(
            r"\bMONTH\b\.?[ \u{a0}-](?P<day>[0-9]{1,2})(?:st|nd|rd|th)?\b(?:,?[ \u{a0}-](?P<year>[0-9]{4})\b)?",
        ),
        pattern(r"\bMONTH\b\.?,?[ \u{a0}](?:(?:de|del|of)[ \u{a0}])?(?P<year>[0-9]{4})\b"),
    ]
});

/// The dates of a folded text, in order and without overlaps.
pub(crate) fn dates(folded: &str) -> Vec<FoundDate> {
    let mut found: Vec<FoundDate> = Vec::new();
    if !folded.contains(|character: char| character.is_ascii_digit()) {
        return found;
    }
    for pattern in PATTERNS.iter() {
        for captures in pattern.captures_iter(folded) {
            let range = captures.get(0).map_or(0..0, |whole| whole.range());
            // More digits around it make it something else.
            let is_cut = folded[..range.start].ends_with(|before: char| before.is_ascii_digit())
                || folded[range.end..].starts_with(|after: char| after.is_ascii_digit());
            let readings = if is_cut {
                Vec::new()
            } else {
                readings(&captures)
            };
            if !readings.is_empty() {
                found.push(FoundDate { range, readings });
            }
        }
    }
    found.extend(first_days(folded, &found));
    // Of overlapping ones the first and longest.
    found.sort_by_key(|date| (date.range.start, usize::MAX - date.range.end));
    let mut end = 0;
    found.retain(|date| {
        let is_free = date.range.start >= end;
        if is_free {
            end = date.range.end;
        }
        is_free
    });
    found
}

/// The first days of ranges that name their month once: `8–10 May`, `from 26 to 28 March`.
fn first_days(folded: &str, found: &[FoundDate]) -> Vec<FoundDate> {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)(?:^|[^0-9.,:/-])(?P<day>[0-9]{1,2})(?:st|nd|rd|th|\.)?\s?(?:[-\u{2013}]|to|and|or|und|bis)\s?$")
            .expect("a fixed pattern")
    });
    let begins_with_day = |date: &FoundDate| {
        let text = &folded[date.range.clone()];
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        (1..=2).contains(&digits) && text.contains(char::is_alphabetic)
    };
    found
        .iter()
        .filter(|date| begins_with_day(date))
        .filter_map(|date| {
            let captures = BEFORE.captures(&folded[..date.range.start])?;
            let day = captures.name("day")?;
            let number = day.as_str().parse().ok();
            let readings: Vec<CalendarDate> = date
                .readings
                .iter()
                .filter_map(|last| CalendarDate::new(last.year, last.month, number))
                .collect();
            (!readings.is_empty()).then(|| FoundDate {
                range: day.range(),
                readings,
            })
        })
        .collect()
}

fn readings(captures: &Captures<'_>) -> Vec<CalendarDate> {
    let number = |name: &str| -> Option<i8> { captures.name(name)?.as_str().parse().ok() };
    let year: Option<i16> = captures
        .name("year")
        .and_then(|year| year.as_str().parse().ok());
    let mut readings = Vec::new();
    if let Some(month) = captures.name("month") {
        // "only 5 may attend", "we march 10 miles"
        if matches!(
            month.as_str(),
            "may" | "march" | "mar" | "mars" | "mai" | "mei" | "sept" | "jan" | "dec"
        ) && year.is_none()
        {
            return readings;
        }
        if let Some(month) = month_of(month.as_str()) {
            readings.extend(CalendarDate::new(year, month, number("day")));
        }
    } else if let (Some(first), Some(second)) = (number("s1"), number("s2")) {
        readings.extend(CalendarDate::new(year, first, Some(second)));
        readings.extend(CalendarDate::new(year, second, Some(first)).filter(|_| first != second));
    } else if let (Some(day), Some(month)) = (number("d1"), number("d2")) {
        readings.extend(CalendarDate::new(year, month, Some(day)));
    } else if let Some(month) = number("n1") {
        readings.extend(CalendarDate::new(year, month, number("n2")));
    }
    readings
}

/// The number of a month by its name or the beginning of it.
pub(crate) fn month_of(name: &str) -> Option<i8> {
    let name = name.to_lowercase();
    let by_beginning: [&[&str]; 12] = [
        &["jan", "ene", "gen"],
        &["feb", "fév", "fev"],
        &["mar", "mär", "maa"],
        &["apr", "avr", "abr"],
        &["may", "mai", "mag", "mei"],
        &["jun", "juin", "giu"],
        &["jul", "juil", "lug"],
        &["aug", "aoû", "ago"],
        &["sep", "set"],
        &["oct", "okt", "ott", "out"],
        &["nov"],
        &["dec", "dez", "déc", "dic"],
    ];
    let at = by_beginning.iter().position(|beginnings| {
        beginnings
            .iter()
            .any(|beginning| name.starts_with(beginning))
    })?;
    i8::try_from(at + 1).ok()
}

/// The day of the week that a word names.
pub(crate) fn weekday_of(word: &str) -> Option<Weekday> {
    Some(match word.to_lowercase().as_str() {
        "monday" | "mondays" | "montag" => Weekday::Monday,
        "tuesday" | "tuesdays" | "dienstag" => Weekday::Tuesday,
        "wednesday" | "wednesdays" | "mittwoch" => Weekday::Wednesday,
        "thursday" | "thursdays" | "donnerstag" => Weekday::Thursday,
        "friday" | "fridays" | "freitag" => Weekday::Friday,
        "saturday" | "saturdays" | "samstag" => Weekday::Saturday,
        "sunday" | "sundays" | "sonntag" => Weekday::Sunday,
        _ => return None,
    })
}
