//! The one normaliser: what differs from run to run becomes a word in angle brackets, or a `$NAME`.
//!
//! | what | becomes |
//! |---|---|
//! | the folders of the [`Context`] | `$DIR`, `$HOME`, `$REPO`, … |
//! | a run id, `20261121T231402-9f3a1c` | `<run>` |
//! | an RFC 3339 time of this run | `<time>` (older times were authored, and stay) |
//! | `412 ms`, `1.9 s`, `1 min 3 s` | `<duration>` (whole seconds such as `60 s` were asked for, and stay) |
//! | the number of a `duration`, `duration_ms`, `elapsed`, … in JSON, YAML or JUnit | `<duration>` |
//! | padding around a duration | two spaces before it in columns, none at the end of a line |
//! | a five-digit port of this machine | `<port>` |
//! | a process id after `pid` | `<pid>` |
//! | the program's version after its name | `<version>` |

use std::path::Path;
use std::sync::LazyLock;

use jiff::Timestamp;
use regex::{Captures, Regex};

/// What the normaliser must know of the run whose text it gets.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Longest first, so that a folder inside another one is named for itself.
    paths: Vec<(String, String)>,
    since: Option<Timestamp>,
    version: Option<String>,
}

impl Context {
    /// Writes `name` for the folder `path` and what is below it.
    #[must_use]
    pub fn path(mut self, path: impl AsRef<Path>, name: &str) -> Self {
        let path = path.as_ref().to_string_lossy();
        self.paths.push((path.into_owned(), name.to_owned()));
        self.paths
            .sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        self
    }

    /// Leaves times before this call as they are. Without it every time is replaced.
    #[must_use]
    pub fn since_now(mut self) -> Self {
        self.since = Some(Timestamp::now());
        self
    }

    /// The version to hide where the program names itself.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        self.version = Some(version.to_owned());
        self
    }
}

/// The text with everything replaced that another run would write differently. Doing it twice changes nothing.
pub fn normalise(text: &str, context: &Context) -> String {
    let mut text = text.to_owned();
    for (path, name) in &context.paths {
        text = replace_path(&text, path, name);
    }
    text = replace(&SCREENSHOT, &text, "${1}<time>${2}");
    text = replace(&RUN_ID, &text, "<run>");
    text = TIME
        .replace_all(&text, |found: &Captures<'_>| time(&found[0], context.since))
        .into_owned();
    for pattern in [&*KEYED_DURATION, &*DURATION_ATTRIBUTE] {
        text = replace(pattern, &text, "${1}<duration>");
    }
    text = replace(&DURATION, &text, "<duration>");
    text = replace(&PADDING_BEFORE, &text, "  <duration>");
    text = replace(&PADDING_AFTER, &text, "<duration>  ");
    text = replace(&PADDING_AT_END, &text, "<duration>");
    text = replace(&PORT, &text, "${1}:<port>");
    text = replace(&PROCESS_ID, &text, "${1}<pid>");
    if let Some(version) = &context.version {
        text = VERSION
            .replace_all(&text, |found: &Captures<'_>| {
                let number = if &found[2] == version {
                    "<version>"
                } else {
                    &found[2]
                };
                format!("{}{number}", &found[1])
            })
            .into_owned();
    }
    text
}

static SCREENSHOT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(step\d+_failure_)[0-9][0-9A-Za-z_.:+-]*?(\.png)\b"));
static RUN_ID: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b\d{8}T\d{6}Z?-[0-9a-f]{6}\b"));
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})")
});
static KEYED_DURATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?m)("(?:duration|elapsed|timing|started)(?:_[a-z]+)*"\s*:\s*|(?:^|[\s{,])(?:duration|elapsed|timing)(?:_[a-z]+)*:\s+)[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"#,
    )
});
static DURATION_ATTRIBUTE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(\b(?:time|duration)=")[0-9]+(?:\.[0-9]+)?"#));
static DURATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:\d+(?:\.\d+)? ?(?:ns|µs|us|ms)|\d+\.\d+ ?(?:s|secs?|seconds?)|\d+ ?min \d+(?:\.\d+)? ?s)\b",
    )
});
static PADDING_BEFORE: LazyLock<Regex> = LazyLock::new(|| pattern(r" {2,}<duration>"));
static PADDING_AFTER: LazyLock<Regex> = LazyLock::new(|| pattern(r"<duration> {2,}"));
static PADDING_AT_END: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)<duration> +$"));
static PORT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(\b127\.0\.0\.1|\blocalhost|\b0\.0\.0\.0|\[::1?\]):\d{5}\b"));
static PROCESS_ID: LazyLock<Regex> = LazyLock::new(|| pattern(r#"(\bpid"?\s*[:=]?\s*)\d+\b"#));
static VERSION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)(\bcuecard[^0-9\n]{1,24})(\d+\.\d+\.\d+(?:-[0-9a-z.]+)?)"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this file are literals that its tests compile")
}

fn replace(pattern: &Regex, text: &str, with: &str) -> String {
    pattern.replace_all(text, with).into_owned()
}

fn time(found: &str, since: Option<Timestamp>) -> String {
    let authored = match (found.parse::<Timestamp>(), since) {
        // Programs write whole milliseconds or seconds, which lie before the moment they name.
        (Ok(time), Some(since)) => time.as_second() < since.as_second(),
        (Err(_), Some(_)) => true,
        (_, None) => false,
    };
    if authored { found } else { "<time>" }.to_owned()
}

/// Replaces `path` where it is a whole path or the beginning of one: `/a/b` isn't in `/a/bc`.
fn replace_path(text: &str, path: &str, name: &str) -> String {
    if path.is_empty() {
        return text.to_owned();
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(path) {
        let (before, found) = rest.split_at(start);
        let after = &found[path.len()..];
        let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        result.push_str(before);
        result.push_str(if after.starts_with(goes_on) {
            path
        } else {
            name
        });
        rest = after;
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        normalise(text, &Context::default())
    }

    #[test]
    fn folders_are_named_the_inner_one_first_and_only_as_whole_paths() {
        let context = Context::default()
            .path("/repo", "$REPO")
            .path("/repo/tests/golden/a/b", "$CASE")
            .path("/tmp/x1/work", "$DIR");
        let text =
            "/repo/src /repo/tests/golden/a/b/args \"/tmp/x1/work\" /repository /repo. /repo-2";
        assert_eq!(
            normalise(text, &context),
            "$REPO/src $CASE/args \"$DIR\" /repository $REPO. /repo-2"
        );
    }

    #[test]
    fn measured_durations_go_and_asked_for_seconds_stay() {
        for (text, expected) in [
            (
                "no answer within 60 s, after 0.3 s",
                "no answer within 60 s, after <duration>",
            ),
            (
                "took 412 ms or 1.5ms or 90 µs",
                "took <duration> or <duration> or <duration>",
            ),
            ("2 passed · 2.4 s", "2 passed · <duration>"),
            ("1 min 3 s", "<duration>"),
            (
                "version 2.1 says 3 steps, 4 msgs, v1.2",
                "version 2.1 says 3 steps, 4 msgs, v1.2",
            ),
            ("after 0.25 seconds", "after <duration>"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn durations_in_json_yaml_and_junit_go() {
        for (text, expected) in [
            (
                r#"{"duration": 0.123, "n": 1}"#,
                r#"{"duration": <duration>, "n": 1}"#,
            ),
            (r#"{"duration_ms":12}"#, r#"{"duration_ms":<duration>}"#),
            (r#"{"elapsed":1e-3}"#, r#"{"elapsed":<duration>}"#),
            (
                r#"{"timing_ms_total":7}"#,
                r#"{"timing_ms_total":<duration>}"#,
            ),
            (
                r#"{"max_duration":7,"durations":3}"#,
                r#"{"max_duration":7,"durations":3}"#,
            ),
            ("  duration_ms: 12.5\n", "  duration_ms: <duration>\n"),
            (
                r#"<testcase name="a" time="0.004">"#,
                r#"<testcase name="a" time="<duration>">"#,
            ),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn columns_do_not_depend_on_the_width_of_a_duration() {
        let fast =
            "  1 ✓ create issue    mcp__github__create_issue     60 ms\n  2 ✓ wait   1.9 s   x\n";
        let slow =
            "  1 ✓ create issue    mcp__github__create_issue   1412 ms\n  2 ✓ wait  12.9 s  x\n";
        assert_eq!(plain(fast), plain(slow));
        assert!(
            plain(fast).contains("create_issue  <duration>\n"),
            "{}",
            plain(fast)
        );
        assert_eq!(
            plain("a 60 ms    \nb 412 ms\n"),
            "a <duration>\nb <duration>\n"
        );
    }

    #[test]
    fn runs_screenshots_ports_and_process_ids_go() {
        for (text, expected) in [
            (
                ".cuecard/runs/20261121T231402-9f3a1c/trace.jsonl",
                ".cuecard/runs/<run>/trace.jsonl",
            ),
            (
                "screenshots/step3_failure_20261121_231402.png!",
                "screenshots/step3_failure_<time>.png!",
            ),
            (
                "http://127.0.0.1:41873/v1 localhost:41873 [::1]:41873",
                "http://127.0.0.1:<port>/v1 localhost:<port> [::1]:<port>",
            ),
            (
                "127.0.0.1:9 and 10.0.0.1:41873",
                "127.0.0.1:9 and 10.0.0.1:41873",
            ),
            (
                r#"{"pid":123} pid 99, rapid 5"#,
                r#"{"pid":<pid>} pid <pid>, rapid 5"#,
            ),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn times_of_this_run_go_and_authored_ones_stay() {
        let context = Context {
            since: Some("2026-11-21T23:14:02.5Z".parse().expect("a time")),
            ..Context::default()
        };
        let text = "2025-02-03T12:00:00Z 2026-11-21T23:14:02Z 2026-11-22T00:14:03.123+01:00 9999-99-99T00:00:00Z";
        assert_eq!(
            normalise(text, &context),
            "2025-02-03T12:00:00Z <time> <time> 9999-99-99T00:00:00Z"
        );
        assert_eq!(plain("2025-02-03T12:00:00Z"), "<time>");
    }

    #[test]
    fn the_version_goes_where_the_program_names_itself() {
        let context = Context::default().version("0.1.0");
        let text = "cuecard 0.1.0\n{\"name\":\"cuecard\",\"version\":\"0.1.0\"} cuecard/0.1.0 other 0.1.0 cuecard 0.2.0";
        assert_eq!(
            normalise(text, &context),
            "cuecard <version>\n{\"name\":\"cuecard\",\"version\":\"<version>\"} cuecard/<version> other 0.1.0 cuecard 0.2.0"
        );
    }

    #[test]
    fn normalising_twice_changes_nothing() {
        let text = "pid 7 took   412 ms  at 2026-11-21T23:14:02Z in /r/20261121T231402-9f3a1c: \"duration\": 3, time=\"2\"";
        let context = Context::default().path("/r", "$DIR");
        let once = normalise(text, &context);
        assert_eq!(normalise(&once, &context), once);
        assert!(!once.contains(char::is_numeric), "{once}");
    }
}
