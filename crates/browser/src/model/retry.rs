//! How long a model's side asks to be left alone.

use std::time::Duration;

use axum::http::{HeaderMap, header};
use jiff::fmt::rfc2822;

use cuecard_runtime::clock::Clock;

/// Who asks for more than this is not waited for.
const LONGEST: Duration = Duration::from_secs(60);

/// How long to wait before the next try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// So long.
    For(Duration),
    /// Longer than anybody waits: so many seconds.
    TooLong(u64),
    /// It was not said.
    Unsaid,
}

/// What the headers of an answer ask for: milliseconds, seconds, or a time of the day.
pub(super) fn pause_of(headers: &HeaderMap) -> Pause {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    let after = text(header::RETRY_AFTER.as_str());
    let seconds = milliseconds
        .map(|time| time / 1000.0)
        .or_else(|| after?.parse::<f64>().ok())
        .or_else(|| until(after?));
    match seconds {
        Some(seconds) if seconds.is_finite() => {
            let seconds = seconds.max(0.0);
            match Duration::try_from_secs_f64(seconds) {
                Ok(time) if time <= LONGEST => Pause::For(time),
                // Rounded down: at most what fits.
                _ => Pause::TooLong(seconds as u64),
            }
        }
        _ => Pause::Unsaid,
    }
}

/// The seconds until a time of the day.
fn until(text: &str) -> Option<f64> {
    let then = rfc2822::parse(text).ok()?.timestamp();
    let now = Clock::start().timestamp(Duration::ZERO);
    Some(then.duration_since(now).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn pause(name: &'static str, value: &'static str) -> Pause {
        let mut headers = HeaderMap::new();
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
        pause_of(&headers)
    }

    #[test]
    fn seconds_milliseconds_and_times_are_read() {
        let seconds = |seconds| Pause::For(Duration::from_secs_f64(seconds));
        assert_eq!(pause("retry-after", " 2 "), seconds(2.0));
        assert_eq!(pause("retry-after", "-5"), seconds(0.0));
        assert_eq!(pause("retry-after-ms", "250"), seconds(0.25));
        assert_eq!(
            pause("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
            seconds(0.0)
        );
        assert_eq!(pause("retry-after", "3600"), Pause::TooLong(3600));
        let far = pause("retry-after", "Mon, 21 Oct 2999 07:28:00 GMT");
        assert!(matches!(far, Pause::TooLong(_)), "{far:?}");
    }

    #[test]
    fn what_says_nothing_asks_for_nothing() {
        for value in ["soon", "NaN", "inf", ""] {
            assert_eq!(pause("retry-after", value), Pause::Unsaid, "{value}");
        }
        assert_eq!(pause_of(&HeaderMap::new()), Pause::Unsaid);
    }
}
