//! Texts of screens, without what differs from run to run.

use std::path::Path;
use std::sync::LazyLock;

use cuecard_timeline::model::TerminalConfig;
use regex::{Captures, Regex};

/// Where a run takes place: what stands in texts as `[WORKSPACE]`, `[HOME]` and `[TMP]`.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// The workspace.
    pub workspace: &'a Path,
    /// The home of the program under test.
    pub home: &'a Path,
    /// The folder for temporary files.
    pub temporary: &'a Path,
}

/// What is replaced by what, in this order; first its name among the built-in replacements.
const REPLACED: &[(&str, &str, &str)] = &[
    (
        "timestamp",
        r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?Z| ?[+-]\d\d:?\d\d)?",
        "[TIMESTAMP]",
    ),
    (
        "uuid",
        r"(\b|_)[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
        "${1}[UUID]",
    ),
    (
        "time",
        // No line and column behind the name of a file. Two numbers alone are a time if they look like nothing else: no
        // ratio, no verse, no place.
        r"(^|[^\w:.])(?:\d{1,2}:[0-5]\d(?::[0-5]\d(?:\.\d+)?(?: ?[AaPp][Mm])?| ?[AaPp][Mm])|(?:[01]\d|2[0-3]|0):[0-5]\d)\b",
        "$1[TIME]",
    ),
    (
        "port",
        r"((?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])):\d{1,5}\b",
        "$1:[PORT]",
    ),
    ("port", r"(?i)\b(port)([ =:]+)\d{1,5}\b", "$1$2[PORT]"),
    ("pid", r"(?i)\b(pg?id)([ =:]+)\d+\b", "$1$2[PID]"),
    (
        "duration",
        r"\b\d+(?:\.\d+)?(?:ns|µs|us|ms|s|m|h|min|sec| ns| µs| ms| s| min| sec| seconds?| minutes?| hours?)\b(?: \d+(?:\.\d+)?(?:ms|s|m|min)\b)*",
        "[DURATION]",
    ),
];

static PATTERNS: LazyLock<Vec<(&str, Regex, &str)>> = LazyLock::new(|| {
    let compiled = REPLACED.iter();
    compiled
        .filter_map(|(name, pattern, with)| Some((*name, Regex::new(pattern).ok()?, *with)))
        .collect()
});

static HASH: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b(?:[0-9a-f]{40}|[0-9a-f]{7,12})\b").ok());

/// `text` as it is compared: without trailing white space, and with words for what differs from run to run.
pub fn normalised(text: &str, config: &TerminalConfig, places: Places<'_>) -> String {
    let mut text = text.to_owned();
    let is_replaced = |name: &str| {
        let kept = config.normalize.builtin.as_ref();
        kept.is_none_or(|kept| kept.iter().any(|kept| kept.as_str() == name))
    };
    let mut named = [
        (places.workspace, "[WORKSPACE]"),
        (places.home, "[HOME]"),
        (places.temporary, "[TMP]"),
    ];
    // What lies in another first.
    named.sort_by_key(|(path, _)| std::cmp::Reverse(path.as_os_str().len()));
    for (path, name) in named {
        let path = path.to_string_lossy();
        if path.len() > 1 && is_replaced("paths") {
            text = without_path(&text, &path, name);
        }
    }
    for (_, pattern, with) in PATTERNS.iter().filter(|(name, ..)| is_replaced(name)) {
        text = pattern.replace_all(&text, *with).into_owned();
    }
    if let Some(hash) = HASH.as_ref().filter(|_| is_replaced("hash")) {
        // A word or a number is no hash.
        let replaced = |found: &Captures<'_>| match &found[0] {
            short if short.len() < 40 && !short.contains(|c: char| c.is_ascii_digit()) => {
                short.to_owned()
            }
            short if short.len() < 40 && !short.contains(|c: char| c.is_ascii_alphabetic()) => {
                short.to_owned()
            }
            _ => "[HASH]".to_owned(),
        };
        text = hash.replace_all(&text, replaced).into_owned();
    }
    if is_replaced("spinner") {
        text = text.chars().map(still).collect();
    }
    for replacement in &config.normalize.replace {
        let with = replacement.with.as_str();
        text = replacement.pattern.replace_all(&text, with).into_owned();
    }
    if !config.rendering.normalize_whitespace {
        return text;
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// `text` with `name` for a path, also where that goes on in the next row.
fn without_path(text: &str, path: &str, name: &str) -> String {
    let characters = path
        .chars()
        .map(|character| regex::escape(&character.to_string()));
    let pattern = characters.collect::<Vec<_>>().join("\n?");
    let Ok(pattern) = Regex::new(&pattern) else {
        return text.replace(path, name);
    };
    let replaced = |found: &Captures<'_>| match found[0].contains('\n') {
        true => format!("{name}\n"),
        false => name.to_owned(),
    };
    pattern.replace_all(text, replaced).into_owned()
}

/// A spinner that stands still.
fn still(character: char) -> char {
    match character {
        '\u{2800}'..='\u{28ff}' | '◐' | '◓' | '◑' | '◒' | '✢' | '✳' | '✶' | '✻' | '✽' => {
            '*'
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuecard_timeline::model::{BuiltIn, Normalize};

    fn normal(text: &str) -> String {
        normal_with(text, &TerminalConfig::default())
    }

    fn normal_with(text: &str, config: &TerminalConfig) -> String {
        let places = Places {
            workspace: Path::new("/tmp/run-x1/work"),
            home: Path::new("/tmp/run-x1"),
            temporary: Path::new("/tmp"),
        };
        normalised(text, config, places)
    }

    #[test]
    fn what_differs_from_run_to_run_has_a_name() {
        for (text, wanted) in [
            (
                "in /tmp/run-x1/work/a of /tmp/run-x1, /tmp/y",
                "in [WORKSPACE]/a of [HOME], [TMP]/y",
            ),
            (
                "2026-11-27T18:03:13.5Z | 2026-11-27 18:03:13 +0100",
                "[TIMESTAMP] | [TIMESTAMP]",
            ),
            ("at 18:03:13 or 6:03 pm", "at [TIME] or [TIME]"),
            ("at 18:03, after 0:42", "at [TIME], after [TIME]"),
            ("1:02:03 6:03PM 9:15:00.25 am", "[TIME] [TIME] [TIME]"),
            (
                "John 3:16, 4:12, 16:90, 99:99, 6:03 pages",
                "John 3:16, 4:12, 16:90, 99:99, 6:03 pages",
            ),
            (
                "took 1.25s, 300 ms and 1m 3s",
                "took [DURATION], [DURATION] and [DURATION]",
            ),
            (
                "http://127.0.0.1:40123/x on port 8080",
                "http://127.0.0.1:[PORT]/x on port [PORT]",
            ),
            ("in /tmp/run-\nx1/work/a", "in [WORKSPACE]\n/a"),
            ("PID 4711, pid=3", "PID [PID], pid=[PID]"),
            ("[main 1a2b3c4] Begin", "[main [HASH]] Begin"),
            ("0ba1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9", "[HASH]"),
            ("6f1ed002-ab5c-4f2e-9d3b-1c0f3c6b9a11", "[UUID]"),
            ("msg_6f1ed002-ab5c-4f2e-9d3b-1c0f3c6b9a11", "msg_[UUID]"),
            ("⠙ working ✻ thinking", "* working * thinking"),
            ("  a  \n\nb \n\n", "  a\n\nb"),
        ] {
            assert_eq!(normal(text), wanted, "{text}");
        }
    }

    #[test]
    fn built_in_replacements_can_be_turned_off() {
        let text = "took 300 ms in /tmp, 1a2b3c4 ⠙ at 6:03 pm";
        for (kept, wanted) in [
            (&[][..], text),
            (
                &[BuiltIn::Paths, BuiltIn::Spinner],
                "took 300 ms in [TMP], 1a2b3c4 * at 6:03 pm",
            ),
            (
                &[BuiltIn::Duration, BuiltIn::Hash],
                "took [DURATION] in /tmp, [HASH] ⠙ at 6:03 pm",
            ),
        ] {
            let config = TerminalConfig {
                normalize: Normalize {
                    builtin: Some(kept.to_vec()),
                    ..Normalize::default()
                },
                ..TerminalConfig::default()
            };
            assert_eq!(normal_with(text, &config), wanted);
        }
    }

    #[test]
    fn plain_words_and_numbers_stay() {
        for text in [
            "defaced 1234567 decade",
            "3 files, 12 lines, v1.2.3",
            "a:1:2 main.py:12: x:17:18",
            "100 points",
        ] {
            assert_eq!(normal(text), text);
        }
    }
}
