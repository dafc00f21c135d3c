//! Which version a program is, as it says itself.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;

use cuecard_runtime::process::{ProcessGroup, ProcessSpec};

/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of what it says is read, in bytes.
const MOST: u64 = 4096;

/// What `PROGRAM --version` says, or nothing if it doesn't.
pub(super) async fn version_of(
    program: &Path,
    environment: &[(OsString, OsString)],
) -> Option<String> {
    let spec = ProcessSpec {
        program: program.into(),
        args: vec!["--version".into()],
        ..ProcessSpec::default()
    };
    let mut group = ProcessGroup::spawn(&spec, environment).ok()?;
    let stdout = group.stdout.take()?;
    let mut said = Vec::new();
    let mut beginning = stdout.take(MOST);
    let reading = beginning.read_to_end(&mut said);
    let read = tokio::time::timeout(PATIENCE, reading).await;
    group.kill().await;
    read.ok()?.ok()?;
    number_in(&String::from_utf8_lossy(&said))
}

/// The first word with a dot that begins with a digit, without a `v` before it.
fn number_in(said: &str) -> Option<String> {
    said.split(|character: char| character.is_whitespace() || character == ',')
        .map(|word| word.trim_start_matches('v'))
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.'))
        .map(|word| {
            let is_of_version =
                |character: &char| character.is_ascii_alphanumeric() || ".-+".contains(*character);
            word.chars().take_while(is_of_version).take(40).collect()
        })
}

/// Whether `version` is at least `wanted`, by their first two numbers.
pub(super) fn is_at_least(version: &str, wanted: (u64, u64)) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (said, version) in [
            ("v20.20.0\n", Some("20.20.0")),
            (
                "Chromium 131.0.6778.85 built on Debian",
                Some("131.0.6778.85"),
            ),
            ("Docker version 27.1.1, build 6312585", Some("27.1.1")),
            ("uv 0.5.0 (abc 2026-01-01)", Some("0.5.0")),
            ("no number 7", None),
            ("1.2\u{1b}[31m", Some("1.2")),
        ] {
            assert_eq!(number_in(said).as_deref(), version, "{said}");
        }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(is_at_least("20.19.0", (20, 19)));
        assert!(is_at_least("100.1", (20, 19)));
        assert!(!is_at_least("20.9.5", (20, 19)));
        assert!(!is_at_least("18.20", (20, 19)));
    }
}
