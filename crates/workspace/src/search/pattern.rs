//! Patterns: compiled within bounds, their errors with a reason and a place.

use globset::{ErrorKind, GlobBuilder, GlobSet, GlobSetBuilder};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::WorkspaceError;

const MAX_GLOB_BYTES: usize = 4_096;
const MAX_REGEX_BYTES: usize = 64 * 1024;
/// What one compiled regular expression may take, and its cache of states beside it.
const MAX_COMPILED_BYTES: usize = 16 * 1024 * 1024;

/// Compiles a glob. `*`, `?` and `[…]` never match a `/`.
pub(super) fn compile_glob(pattern: &str) -> Result<GlobSet, WorkspaceError> {
    let invalid = |reason: &str| {
        WorkspaceError::new(format!("the glob `{pattern}` is not valid: {reason}")).with_help(
            "`*` stays in one folder, `**` goes through all, `{a,b}` is either, `[ab]` one character",
        )
    };
    check_length("glob", pattern, MAX_GLOB_BYTES)?;
    if pattern.is_empty() {
        return Err(invalid("it is empty"));
    }
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        // The set of one reports what a single glob's matcher panics at: nesting too deep to compile.
        .and_then(|glob| GlobSetBuilder::new().add(glob).build())
        .map_err(|error| {
            invalid(&match error.kind() {
                ErrorKind::UnclosedClass => "unclosed `[`".to_owned(),
                ErrorKind::InvalidRange(from, to) => {
                    format!("the range `{from}-{to}` runs backwards")
                }
                ErrorKind::UnopenedAlternates => "unmatched `}`".to_owned(),
                ErrorKind::UnclosedAlternates => "unclosed `{`".to_owned(),
                ErrorKind::DanglingEscape => "a backslash at the end".to_owned(),
                ErrorKind::Regex(_) => "it is nested too deeply, or too large".to_owned(),
                other => other.to_string(),
            })
        })
}

/// Compiles a regular expression for the searcher. Without `multiline` a match stays within one line;
/// with it, `.` matches a line end too. `$` stands before `\r\n` as well as before `\n`.
pub(super) fn compile_regex(
    pattern: &str,
    case_insensitive: bool,
    multiline: bool,
) -> Result<RegexMatcher, WorkspaceError> {
    check_length("regular expression", pattern, MAX_REGEX_BYTES)?;
    // The engine draws a picture of what is wrong, with the reason behind it.
    let invalid = |text: &str| {
        let mut lines = text.lines().rev();
        let reason = lines.find_map(|line| line.strip_prefix("error: "));
        let reason = reason.unwrap_or(text).trim();
        let help = match reason.contains("\"\\n\"") {
            true => "with `multiline: true` a pattern may span lines",
            false => "a backslash before a special character takes it literally",
        };
        let message = format!("the regular expression `{pattern}` is not valid: {reason}");
        WorkspaceError::new(message).with_help(help)
    };
    // The matcher puts the pattern into a group before it parses it, which makes a pattern like `a)(b` valid; so the pattern
    // is read as it stands first.
    let as_it_stands = regex::bytes::RegexBuilder::new(pattern)
        .multi_line(true)
        .crlf(true)
        .size_limit(MAX_COMPILED_BYTES)
        .build();
    match as_it_stands {
        Err(regex::Error::Syntax(text)) => return Err(invalid(&text)),
        Err(regex::Error::CompiledTooBig(_)) => return Err(invalid("its expansion is too large")),
        _ => {}
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(case_insensitive)
        .multi_line(true)
        .dot_matches_new_line(multiline)
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_COMPILED_BYTES)
        .crlf(true);
    if multiline {
        builder.line_terminator(None);
    }
    builder
        .build(pattern)
        .map_err(|error| invalid(&error.to_string()))
}

fn check_length(kind: &str, pattern: &str, limit: usize) -> Result<(), WorkspaceError> {
    let length = pattern.len();
    match length <= limit {
        true => Ok(()),
        false => Err(WorkspaceError::new(format!(
            "the {kind} is {length} bytes long, at most {limit} are allowed"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob_error(pattern: &str) -> String {
        compile_glob(pattern)
            .expect_err("it is invalid")
            .to_string()
    }

    #[test]
    fn a_bad_glob_says_why() {
        assert_eq!(
            glob_error("src/[ab"),
            "the glob `src/[ab` is not valid: unclosed `[`"
        );
        assert_eq!(
            glob_error("ü/{a,{b}"),
            "the glob `ü/{a,{b}` is not valid: unclosed `{`"
        );
        assert_eq!(
            glob_error("a}b"),
            "the glob `a}b` is not valid: unmatched `}`"
        );
        assert_eq!(
            glob_error("a[!z-b]"),
            "the glob `a[!z-b]` is not valid: the range `z-b` runs backwards"
        );
        assert_eq!(
            glob_error("a\\"),
            "the glob `a\\` is not valid: a backslash at the end"
        );
        assert_eq!(glob_error(""), "the glob `` is not valid: it is empty");
    }

    #[test]
    fn patterns_have_a_bound() {
        let long = "a".repeat(MAX_GLOB_BYTES + 1);
        assert!(glob_error(&long).contains("at most 4096"));
        let deep = format!("{}a{}", "{".repeat(2_000), "}".repeat(2_000));
        let error = compile_glob(&deep).expect_err("too deep").to_string();
        assert!(
            error.ends_with("nested too deeply, or too large"),
            "{error}"
        );
        let long = "a".repeat(MAX_REGEX_BYTES + 1);
        let error = compile_regex(&long, false, false).expect_err("too long");
        assert!(error.to_string().contains("at most 65536"), "{error}");
        assert!(compile_regex("((a{1000}){1000}){1000}", false, false).is_err());
        assert!(compile_regex(&"(".repeat(60_000), false, false).is_err());
    }

    #[test]
    fn a_bad_regex_says_why() {
        let error = compile_regex("ü(b", false, false).expect_err("unclosed");
        assert_eq!(
            error.to_string(),
            "the regular expression `ü(b` is not valid: unclosed group"
        );
        assert!(compile_regex("a)(b", false, false).is_err());
        let error = compile_regex("a\\nb", false, false).expect_err("a line end");
        assert!(error.help().expect("help").contains("multiline"), "{error}");
        assert!(compile_regex("a\\nb", false, true).is_ok());
    }
}
