//! Patterns: compiled within bounds, their errors with a reason and a place.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::{PatternKind, SearchError};

const MAX_GLOB_BYTES: usize = 4_096;
const MAX_REGEX_BYTES: usize = 64 * 1024;
/// What one compiled regular expression may take, and its cache of states beside it.
const MAX_COMPILED_BYTES: usize = 16 * 1024 * 1024;

/// Compiles a glob. `*`, `?` and `[…]` never match a `/`.
pub(super) fn compile_glob(pattern: &str) -> Result<GlobSet, SearchError> {
    let kind = PatternKind::Glob;
    if pattern.len() > MAX_GLOB_BYTES {
        return Err(SearchError::TooLong {
            kind,
            length: pattern.len(),
            limit: MAX_GLOB_BYTES,
        });
    }
    if pattern.is_empty() {
        return Err(SearchError::Pattern {
            kind,
            pattern: String::new(),
            position: None,
            reason: "it is empty".to_owned(),
        });
    }
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        // The set of one reports what a single glob's matcher panics at: nesting too deep to compile.
        .and_then(|glob| GlobSetBuilder::new().add(glob).build())
        .map_err(|error| SearchError::Pattern {
            kind,
            pattern: pattern.to_owned(),
            position: glob_error_position(pattern, error.kind()),
            reason: glob_error_reason(error.kind()),
        })
}

/// Compiles a regular expression for the searcher. Without `multiline` a match stays within one line;
/// with it, `.` matches a line end too. `$` stands before `\r\n` as well as before `\n`.
pub(super) fn compile_regex(
    pattern: &str,
    case_insensitive: bool,
    multiline: bool,
) -> Result<RegexMatcher, SearchError> {
    let kind = PatternKind::Regex;
    if pattern.len() > MAX_REGEX_BYTES {
        return Err(SearchError::TooLong {
            kind,
            length: pattern.len(),
            limit: MAX_REGEX_BYTES,
        });
    }
    let invalid = |(position, reason)| SearchError::Pattern {
        kind,
        pattern: pattern.to_owned(),
        position,
        reason,
    };
    // The matcher puts the pattern into a group before it parses it. That shifts all places, and makes
    // a pattern like `a)(b` valid; so the pattern is read as it stands first.
    let as_it_stands = regex::bytes::RegexBuilder::new(pattern)
        .multi_line(true)
        .crlf(true)
        .size_limit(MAX_COMPILED_BYTES)
        .build();
    match as_it_stands {
        Err(regex::Error::Syntax(text)) => return Err(invalid(split_regex_error(pattern, &text))),
        Err(regex::Error::CompiledTooBig(_)) => {
            return Err(invalid((None, "its expansion is too large".to_owned())));
        }
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
        .map_err(|error| invalid((None, split_regex_error(pattern, &error.to_string()).1)))
}

fn glob_error_reason(kind: &globset::ErrorKind) -> String {
    use globset::ErrorKind;
    match kind {
        ErrorKind::UnclosedClass => "unclosed `[`".to_owned(),
        ErrorKind::InvalidRange(from, to) => {
            format!("the range `{from}-{to}` runs backwards")
        }
        ErrorKind::UnopenedAlternates => "unmatched `}`".to_owned(),
        ErrorKind::UnclosedAlternates => "unclosed `{`".to_owned(),
        ErrorKind::DanglingEscape => "a backslash at the end".to_owned(),
        ErrorKind::Regex(_) => "it is nested too deeply, or too large".to_owned(),
        other => other.to_string(),
    }
}

/// The engine names the kind of error only; the place is found by reading the pattern as it does.
fn glob_error_position(pattern: &str, kind: &globset::ErrorKind) -> Option<usize> {
    use globset::ErrorKind;
    let characters: Vec<char> = pattern.chars().collect();
    let mut braces = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        match characters[at] {
            '\\' if at + 1 == characters.len() => {
                return matches!(kind, ErrorKind::DanglingEscape).then_some(at + 1);
            }
            '\\' => at += 1,
            '[' => {
                // A `]` that comes first, also after a `!` or `^`, is a member.
                let mut end = at + 1;
                if matches!(characters.get(end), Some('!' | '^')) {
                    end += 1;
                }
                end += 1;
                while end < characters.len() && characters[end] != ']' {
                    end += 1;
                }
                if end >= characters.len() && matches!(kind, ErrorKind::UnclosedClass) {
                    return Some(at + 1);
                }
                if let ErrorKind::InvalidRange(from, to) = kind {
                    let class = &characters[at..end.min(characters.len())];
                    if let Some(offset) = class
                        .windows(3)
                        .position(|range| range == [*from, '-', *to])
                    {
                        return Some(at + offset + 1);
                    }
                }
                at = end;
            }
            '{' => braces.push(at + 1),
            '}' if braces.pop().is_none() => {
                return matches!(kind, ErrorKind::UnopenedAlternates).then_some(at + 1);
            }
            _ => {}
        }
        at += 1;
    }
    matches!(kind, ErrorKind::UnclosedAlternates)
        .then(|| braces.pop())
        .flatten()
}

/// The engine draws a picture: the pattern, indented, a caret below it, then `error: …`. For a report in
/// one sentence the caret becomes a number.
fn split_regex_error(pattern: &str, text: &str) -> (Option<usize>, String) {
    const INDENT: usize = 4;
    let reason = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("error: "))
        .unwrap_or(text)
        .trim()
        .to_owned();
    let position = text
        .lines()
        .filter(|_| !pattern.contains('\n'))
        .find(|line| line.contains('^') && line.chars().all(|c| c == ' ' || c == '^'))
        .and_then(|line| line.find('^'))
        .and_then(|column| column.checked_sub(INDENT))
        .map(|column| column + 1);
    (position, reason)
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
    fn a_bad_glob_names_its_place() {
        assert_eq!(
            glob_error("src/[ab"),
            "the glob `src/[ab` is not valid at character 5: unclosed `[`"
        );
        assert_eq!(
            glob_error("ü/{a,{b}"),
            "the glob `ü/{a,{b}` is not valid at character 3: unclosed `{`"
        );
        assert_eq!(
            glob_error("a}b"),
            "the glob `a}b` is not valid at character 2: unmatched `}`"
        );
        assert_eq!(
            glob_error("a[!z-b]"),
            "the glob `a[!z-b]` is not valid at character 4: the range `z-b` runs backwards"
        );
        assert_eq!(
            glob_error("a\\"),
            "the glob `a\\` is not valid at character 2: a backslash at the end"
        );
        assert_eq!(glob_error(""), "the glob `` is not valid: it is empty");
    }

    #[test]
    fn patterns_have_a_bound() {
        let long = "a".repeat(MAX_GLOB_BYTES + 1);
        assert!(matches!(
            compile_glob(&long),
            Err(SearchError::TooLong { .. })
        ));
        let deep = format!("{}a{}", "{".repeat(2_000), "}".repeat(2_000));
        let error = compile_glob(&deep).expect_err("too deep").to_string();
        assert!(
            error.ends_with("nested too deeply, or too large"),
            "{error}"
        );
        let long = "a".repeat(MAX_REGEX_BYTES + 1);
        assert!(matches!(
            compile_regex(&long, false, false),
            Err(SearchError::TooLong { .. })
        ));
        assert!(compile_regex("((a{1000}){1000}){1000}", false, false).is_err());
        assert!(compile_regex(&"(".repeat(60_000), false, false).is_err());
    }

    #[test]
    fn a_bad_regex_names_its_place_and_reason() {
        let error = compile_regex("ü(b", false, false).expect_err("unclosed");
        assert_eq!(
            error.to_string(),
            "the regular expression `ü(b` is not valid at character 2: unclosed group"
        );
        assert!(compile_regex("a)(b", false, false).is_err());
        let error = compile_regex("a\\nb", false, false).expect_err("a line end");
        assert!(error.help().expect("help").contains("multiline"), "{error}");
        assert!(compile_regex("a\\nb", false, true).is_ok());
    }
}
