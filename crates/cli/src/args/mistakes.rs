//! What is said of a command line that can't be understood.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit_code::ExitCode;

/// What an option that other tools have is called here, if `command` has it.
fn habit(error: &clap::Error, command: &str) -> Option<String> {
    /// Options of `test`, which plays the same files.
    const OF_TEST: &[&str] = &[
        "-k",
        "-x",
        "-j",
        "--grep",
        "--filter",
        "--tag",
        "--bail",
        "--exitfirst",
        "--maxfail",
        "--fail-fast",
        "--workers",
        "--parallel",
        "--jobs",
        "--watch",
        "--list",
    ];
    const HABITS: &[(&[&str], &str)] = &[
        (
            &["--junitxml", "--junit", "--junit-xml"],
            "to write a JUnit report, use `--report junit:FILE`",
        ),
        (
            &["--html"],
            "to write an HTML report, use `--report html:FILE`",
        ),
        (
            &["--reporter", "--format"],
            "reports are written with `--report KIND:FILE`",
        ),
        (&["--headless"], "browsers have no window by default"),
        (
            &["-q", "--quiet", "--silent"],
            "progress goes to standard error: `2>/dev/null` hides it",
        ),
        (
            &["--retries", "--retry"],
            "a step says itself how often it is tried: `\"retry\": {\"count\": 2}`",
        ),
        (
            &["--bail", "--exitfirst", "--maxfail"],
            "to stop after the first failing test, use `--fail-fast`",
        ),
        (
            &["--workers", "--parallel"],
            "tests run in parallel; `--jobs N` sets how many",
        ),
        (
            &["--update-snapshots", "--bless"],
            "to update stored traces, use `--update`",
        ),
        (
            &["--variable", "--set"],
            "to set a variable, use `--var NAME=VALUE`",
        ),
        (
            &["--mcp-config", "--servers"],
            "to read servers from a file, use `--config FILE`",
        ),
    ];
    let ContextValue::String(given) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    if command == "play" && OF_TEST.contains(&given.as_str()) {
        let tip = "`cuecard test FILES` plays scenarios too: -k TEXT and --tag TAG select, -x stops after a failure, --jobs N plays in parallel, --watch plays again after a change";
        return Some(tip.to_owned());
    }
    let (_, tip) = HABITS
        .iter()
        .find(|(names, _)| names.contains(&given.as_str()))?;
    Some((*tip).to_owned())
}

/// Shows what clap has to say; help and version are no errors.
pub(crate) fn report(mut error: clap::Error, arguments: &[OsString]) -> ExitCode {
    let command = arguments.get(1).and_then(|word| word.to_str());
    if error.kind() == ErrorKind::InvalidSubcommand && command == Some("help") {
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![
                "`cuecard COMMAND --help` shows the help of a command".into(),
            ]),
        );
    }
    if let Some(tip) = habit(&error, command.unwrap_or_default()) {
        error.remove(ContextKind::SuggestedArg);
        // It would name whatever option is most alike.
        error.remove(ContextKind::Usage);
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    // What stands behind the name of a secret may be its value.
    let is_of_secret = |it: &ContextValue| it.to_string().starts_with("--secret");
    if error.get(ContextKind::InvalidArg).is_some_and(is_of_secret)
        && let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue)
    {
        let name = value
            .split(|it: char| !it.is_alphanumeric() && it != '_')
            .next();
        let shown = format!("{}…", name.unwrap_or_default());
        error.insert(ContextKind::InvalidValue, ContextValue::String(shown));
    }
    // A closed pipe is the reader's wish.
    let _ = error.print();
    if !error.use_stderr() {
        return ExitCode::Passed;
    }
    if arguments.iter().any(|argument| argument == "--json") {
        let message = error.to_string();
        let first = message
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        let line = serde_json::json!({"severity": "error", "code": "X-ARG-01", "message": first});
        crate::output::stderr_line(&line.to_string());
    }
    ExitCode::Invalid
}
