//! Times of day.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A time of day in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moment {
    pub range: Range<usize>,
    /// Minutes since midnight.
    pub minutes: u16,
    /// Seconds, if it has any.
    pub seconds: Option<u8>,
    /// Whether morning or afternoon is known.
    pub is_certain: bool,
}

impl Moment {}

/// The times of day of a folded text.
pub(crate) fn moments(folded: &str) -> Vec<Moment> {
    static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,][0-9]+)?)?(?:\s?(?P<half>[ap])\.?m\b\.?)?|\b(?P<hour12>[0-9]{1,2})\s?(?P<half12>[ap])\.?m\b\.?|\b(?P<hour24>[0-9]{1,2})\s?(?:uhr|o'clock)\b")
            .expect("a fixed pattern")
    });
    if !folded.contains(|character: char| character.is_ascii_digit()) {
        return Vec::new();
    }
    CLOCK
        .captures_iter(folded)
        .filter_map(|captures| {
            let range = captures.get(0)?.range();
            let is_digit = |sign: char| sign.is_ascii_digit();
            let after = &folded[range.end..];
            let is_cut = folded[..range.start]
                .ends_with(|before| is_digit(before) || before == ':')
                || after
                    .strip_prefix(':')
                    .unwrap_or(after)
                    .starts_with(is_digit);
            if is_cut {
                return None;
            }
            let number = |name: &str| {
                captures
                    .name(name)
                    .and_then(|found| found.as_str().parse::<u16>().ok())
            };
            let hour = number("hour")
                .or_else(|| number("hour12"))
                .or_else(|| number("hour24"))?;
            let minute = number("minute").unwrap_or(0);
            let half = captures
                .name("half")
                .or_else(|| captures.name("half12"))
                .map(|half| half.as_str().to_lowercase());
            let hour = match half.as_deref() {
                Some("p") if hour < 12 => hour + 12,
                Some("a") if hour == 12 => 0,
                _ => hour,
            };
            let seconds = number("second").and_then(|seconds| u8::try_from(seconds).ok());
            let has_leading_zero = captures
                .name("hour")
                .is_some_and(|hour| hour.as_str().starts_with('0'));
            (hour < 24 && minute < 60 && seconds.unwrap_or(0) < 60).then(|| Moment {
                range,
                minutes: hour * 60 + minute,
                seconds,
                is_certain: half.is_some() || hour > 12 || has_leading_zero,
            })
        })
        .collect()
}
