//! How findings put counts, lists and values into words.

use std::borrow::Cow;

use cuecard_source::value::{Json, cut, kind_name};

/// `never called`, `called once`, `called 3 times`.
pub(super) fn times(count: usize) -> String {
    match count {
        0 => "never called".to_owned(),
        1 => "called once".to_owned(),
        count => format!("called {count} times"),
    }
}

/// `no call`, `1 call`, `3 calls`.
pub(super) fn count_of(count: u64, noun: &str) -> String {
    match count {
        0 => format!("no {noun}"),
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// The first three faults, and how many more there are.
pub(super) fn first_faults<'a>(faults: impl ExactSizeIterator<Item = &'a str>) -> String {
    let n_more = faults.len().saturating_sub(3);
    let mut told = faults.take(3).collect::<Vec<_>>().join("; ");
    if n_more > 0 {
        told.push_str(&format!("; and {n_more} more"));
    }
    told
}

/// A `usize` as a count of a trace.
pub(super) fn as_count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// `` `a`, `b` and 3 more ``.
pub(super) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 6;
    let mut names = names.into_iter();
    let mut text = String::new();
    for name in names.by_ref().take(SHOWN) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push('`');
        text.push_str(&cut(name, 80));
        text.push('`');
    }
    match names.count() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// A value in a message: short, and a text in its quotes.
pub(super) fn brief(json: &Json) -> String {
    const LONGEST: usize = 120;
    match json {
        Json::String(text) => format!("\"{}\"", cut(text, LONGEST).escape_debug()),
        Json::Array(items) if items.len() > 50 => format!("an array of {} elements", items.len()),
        Json::Object(members) if members.len() > 50 => {
            format!("an object with {} keys", members.len())
        }
        other => {
            let text = other.to_string();
            match cut(&text, LONGEST) {
                Cow::Borrowed(whole) => whole.to_owned(),
                Cow::Owned(part) => match other {
                    Json::Array(_) | Json::Object(_) => format!("{} {part}", kind_name(other)),
                    _ => part,
                },
            }
        }
    }
}

/// A value in the evidence: itself, or the beginning of its text if it is long.
pub(super) fn evidence(json: &Json) -> Json {
    const LONGEST: usize = 2000;
    let text = json.to_string();
    if text.len() <= LONGEST {
        json.clone()
    } else {
        cut(&text, LONGEST).into()
    }
}

/// The beginning of a text, as evidence.
pub(super) fn excerpt(text: &str) -> Json {
    cut(text, 200).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_and_lists_read_well() {
        assert_eq!(times(0), "never called");
        assert_eq!(times(2), "called 2 times");
        assert_eq!(count_of(1, "call"), "1 call");
        assert_eq!(quoted([]), "");
        assert_eq!(quoted(["a", "b"]), "`a`, `b`");
        assert_eq!(
            quoted(["1", "2", "3", "4", "5", "6", "7", "8"]),
            "`1`, `2`, `3`, `4`, `5`, `6` and 2 more"
        );
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(brief(&json!("a\n\"b\"")), r#""a\n\"b\"""#);
        assert_eq!(brief(&json!([1, 2])), "[1,2]");
        assert!(brief(&json!(vec!["x".repeat(99); 4])).starts_with("an array [\"xxx"));
        assert_eq!(brief(&json!(vec![0; 51])), "an array of 51 elements");
        assert_eq!(evidence(&json!({"a": 1})), json!({"a": 1}));
        assert!(evidence(&json!("x".repeat(3000))).is_string());
    }
}
