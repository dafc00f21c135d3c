//! Answers of which a browser does not say that they ended.
//!
//! Chromium reads the answer to a `fetch` of its own accord and then says so, unless it is not to be kept
//! (`cache-control: no-store`): such an answer ends for it only when a script has read it, which may be never. But whoever
//! says how long an answer is has all of it, so it is known when it should be here.

use std::time::Duration;

use serde_json::Value;

/// How long the rest of an answer takes after its head at least, so that a script that reads it can do so.
const AT_LEAST: Duration = Duration::from_millis(150);
/// How many bytes come in a millisecond at least: a megabit a second.
const BYTES: u64 = 128;

/// How long after its head an answer should be here, if the browser may never say that it is. `response` is what
/// Playwright says of it. None if it has to be waited for: it will be told, or it is not known how long it is.
pub(super) fn arrival(response: &Value) -> Option<Duration> {
    let is_kept = values(response, "cache-control").all(|value| !value.contains("no-store"));
    if is_kept {
        return None;
    }
    let length: u64 = values(response, "content-length").next()?.parse().ok()?;
    Some(AT_LEAST + Duration::from_millis(length / BYTES))
}

/// The values of a header, in lower case.
fn values<'a>(response: &'a Value, name: &str) -> impl Iterator<Item = String> + 'a {
    let name = name.to_owned();
    let headers = response["headers"].as_array().into_iter().flatten();
    headers
        .filter(move |header| {
            let found = header["name"].as_str();
            found.is_some_and(|found| found.eq_ignore_ascii_case(&name))
        })
        .filter_map(|header| Some(header["value"].as_str()?.trim().to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_an_answer_that_is_not_kept_and_of_known_length_is_known_to_be_here() {
        let arrives = |headers: &[(&str, &str)]| {
            let headers: Vec<Value> = headers
                .iter()
                .map(|(name, value)| json!({"name": name, "value": value}))
                .collect();
            arrival(&json!({"headers": headers}))
        };
        let unkept = ("Cache-Control", "no-cache, No-Store");
        let milliseconds = |count| Some(Duration::from_millis(count));
        assert_eq!(
            arrives(&[unkept, ("content-length", "11")]),
            milliseconds(150)
        );
        assert_eq!(
            arrives(&[unkept, ("Content-Length", "128000")]),
            milliseconds(1150)
        );
        for told in [
            &[("content-length", "11")][..],
            &[("cache-control", "max-age=1"), ("content-length", "11")],
            &[unkept],
            &[unkept, ("content-length", "many")],
            &[],
        ] {
            assert_eq!(arrives(told), None, "{told:?}");
        }
        assert_eq!(arrival(&Value::Null), None);
        assert!(arrives(&[unkept, ("content-length", "18446744073709551615")]).is_some());
    }
}
