//! A piece of text in a file replaced by another.

use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::disk::{RealDisk, io_failure, read_whole, replace, target_of, too_large};
use super::text::Encoding;
use super::{WorkspaceError, listed};
use matching::Found;

mod matching;
mod nearest;

use nearest::Difference;

/// The largest file that is edited, before and after, in bytes.
const LARGEST_FILE: u64 = 64 << 20;
const TOO_LARGE: &str = "use `claude__bash`, for example with `sed`";
/// How many line numbers an error lists.
const LINES_NAMED: usize = 20;

/// What [`edit`] did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edited {
    /// The path as it was given.
    pub path: String,
    /// How often the text was replaced; 1 for a new file.
    pub replacements: u64,
}

/// The error of an edit that changes nothing.
pub const SAME_TEXT: &str = "`old_string` and `new_string` are the same";

/// Replaces `old` by `new` in a file: its only occurrence, or with `replace_all` each one, from left to
/// right without overlap. An empty `old` creates a file that doesn't exist or is empty.
///
/// The text is matched exactly, with one exception: in a file with Windows line ends (`\r\n`) a `\n` of
/// `old` matches them, and the line ends of `new` become those of the text that is replaced. Bytes that are
/// not UTF-8 stay as they are; UTF-16 with a byte order mark is edited as text. The file is replaced as a
/// whole and keeps its mode.
///
/// # Errors
/// The file is missing or too large, `old` does not occur or not once, or nothing would change. The file is
/// then as it was.
pub fn edit(
    path: &Path,
    old: &str,
    new: &str,
    replace_all: bool,
) -> Result<Edited, WorkspaceError> {
    if old == new {
        return Err(WorkspaceError::new(SAME_TEXT).at(path));
    }
    let edited = |replacements| Edited {
        path: path.display().to_string(),
        replacements,
    };
    if old.is_empty() {
        if has_content(path)? {
            let problem = "`old_string` is empty, which creates a file, but this one has content";
            let help = "write the whole file with `claude__write`, or give the text to replace";
            return Err(WorkspaceError::new(problem).with_help(help).at(path));
        }
        replace(&RealDisk, path, new.as_bytes())?;
        return Ok(edited(1));
    }
    let bytes = read_whole(path, LARGEST_FILE, TOO_LARGE)?;
    let encoding = Encoding::of(&bytes);
    let text = encoding.decode(bytes).ok_or_else(|| {
        WorkspaceError::new("the file is marked as UTF-16 but is not valid UTF-16").at(path)
    })?;
    let replaced = replaced(&text, old, new, replace_all).map_err(|problem| problem.at(path))?;
    let (text, count) = replaced.ok_or_else(|| too_large(path, LARGEST_FILE, TOO_LARGE))?;
    replace(&RealDisk, path, &encoding.encode(text))?;
    Ok(edited(count))
}

/// Whether there is something at `path` that must not be overwritten.
fn has_content(path: &Path) -> Result<bool, WorkspaceError> {
    match fs::symlink_metadata(target_of(path, "write")?) {
        Ok(metadata) => Ok(metadata.is_file() && metadata.len() > 0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(io_failure(path, "write", source)),
    }
}

/// The text with `new` in place of `old`, and how often; `None` if it would be too large.
fn replaced(
    text: &[u8],
    old: &str,
    new: &str,
    replace_all: bool,
) -> Result<Option<(Vec<u8>, u64)>, WorkspaceError> {
    let found = Found::search(text, old);
    let mut count = 0_u64;
    let mut lines = Vec::new();
    for line in found.lines() {
        count += 1;
        if lines.len() < LINES_NAMED {
            lines.push(line.to_string());
        }
    }
    if count == 0 {
        return Err(not_found(&found.text_for_people(), old));
    }
    if count > 1 && !replace_all {
        let lines = match usize::try_from(count).unwrap_or(usize::MAX) - lines.len() {
            0 => listed(lines.into_iter(), LINES_NAMED),
            rest => format!("{} and {rest} more", lines.join(", ")),
        };
        let problem = format!("`old_string` occurs {count} times, on lines {lines}");
        let help = "add lines around it to `old_string`, or set `replace_all` to true";
        return Err(WorkspaceError::new(problem).with_help(help));
    }
    // Each line end of the new text may become one byte longer.
    let longest = new.len() + new.bytes().filter(|byte| *byte == b'\n').count();
    let growth = (longest as u64).saturating_mul(count);
    if growth.saturating_add(text.len() as u64) > LARGEST_FILE.saturating_mul(4) {
        return Ok(None);
    }
    let edited = found.replace(new);
    if edited == text {
        return Err(WorkspaceError::new(SAME_TEXT));
    }
    Ok((edited.len() as u64 <= LARGEST_FILE).then_some((edited, count)))
}

/// The text does not occur: what looks most like it stands in the message, or below it if it has several lines.
fn not_found(text: &str, old: &str) -> WorkspaceError {
    let nearest = nearest::nearest(text, old);
    let help = match nearest.as_ref().map(|nearest| nearest.difference) {
        _ if nearest::has_line_numbers(old) => {
            "`old_string` starts with line numbers as `claude__read` prints them: leave them out"
        }
        Some(Difference::WhiteSpace) => "only white space differs",
        Some(Difference::Quotes) => "only quotation marks and white space differ",
        Some(Difference::Words) => "`old_string` must match the file exactly",
        None => "nothing similar in the file; is it the right file?",
    };
    let like = nearest.as_ref().map(|nearest| format!("; {nearest}"));
    let message = format!("`old_string` does not occur{}", like.unwrap_or_default());
    WorkspaceError {
        note: nearest.and_then(|nearest| nearest.block()),
        ..WorkspaceError::new(message).with_help(help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn apply(text: &str, old: &str, new: &str) -> Result<String, WorkspaceError> {
        run(text, old, new, false)
    }

    /// It takes minutes if the work grows with the square of the length.
    #[test]
    fn a_long_text_of_equal_characters_is_sought_at_once() {
        let old = "x".repeat(400_000);
        let problem = apply("alpha\nbeta\n", &old, "y").unwrap_err();
        assert!(
            problem
                .to_string()
                .starts_with("`old_string` does not occur")
        );
        assert_eq!(apply(&format!("a{old}b"), &old, "y").unwrap(), "ayb");
    }

    fn run(text: &str, old: &str, new: &str, all: bool) -> Result<String, WorkspaceError> {
        let replaced = replaced(text.as_bytes(), old, new, all)?;
        let (bytes, _) = replaced.expect("it is not too large");
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn one_place_is_replaced_and_several_are_refused() {
        assert_eq!(apply("a b c", "b", "x").unwrap(), "a x c");
        let problem = apply("a\nb a\na\n", "a", "x").unwrap_err();
        assert_eq!(
            problem.to_string(),
            "`old_string` occurs 3 times, on lines 1, 2 and 3"
        );
        let problem = apply(&"a\n".repeat(25), "a", "x").unwrap_err();
        assert!(
            problem.to_string().ends_with("19, 20 and 5 more"),
            "{problem}"
        );
        assert_eq!(run("a\nb a\n", "a", "x", true).unwrap(), "x\nb x\n");
        assert_eq!(run("aaa", "aa", "b", true).unwrap(), "ba");
    }

    #[test]
    fn line_ends_of_the_file_are_kept() {
        assert_eq!(
            apply("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz").unwrap(),
            "x\r\ny\r\nz\r\nc\r\n"
        );
        assert_eq!(apply("a\r\nb\r\n", "b", "x\ny").unwrap(), "a\r\nx\r\ny\r\n");
        assert_eq!(apply("a\r\nb\r\n", "a\r\n", "x\r\n").unwrap(), "x\r\nb\r\n");
        assert_eq!(apply("a\r\nb", "\nb", "!").unwrap(), "a!");
        assert_eq!(apply("a\r\nb", "a\n", "").unwrap(), "b");
        assert_eq!(apply("a\nb\n", "b", "x\r\ny").unwrap(), "a\nx\r\ny\n");
        assert_eq!(
            apply("a\r\nb\r\n", "a\n", "a\r\n"),
            Err(WorkspaceError::new(SAME_TEXT))
        );
    }

    #[test]
    fn a_file_with_both_line_ends_keeps_each_where_it_is() {
        let mixed = "a\r\nb\nc\nd\n";
        assert_eq!(apply(mixed, "a\nb", "x\ny").unwrap(), "x\r\ny\nc\nd\n");
        assert_eq!(apply(mixed, "b\nc", "x\ny").unwrap(), "a\r\nx\ny\nd\n");
        assert_eq!(apply(mixed, "d", "x\ny").unwrap(), "a\r\nb\nc\nx\ny\n");
    }

    #[test]
    fn what_does_not_occur_is_shown_with_what_looks_like_it() {
        let text = "import os\n\ndef old_functions():\n    pass\n";
        let problem = apply(text, "def old_function():", "x").unwrap_err();
        assert_eq!(
            problem.to_string(),
            "`old_string` does not occur; the closest match is line 3: `def old_functions():`"
        );
        assert_eq!(problem.note, None);
        assert!(problem.help().unwrap().contains("match the file exactly"));
        let problem = apply(text, "def old_functions():\n  pass", "x").unwrap_err();
        assert_eq!(
            problem.to_string(),
            "`old_string` does not occur; the closest match is lines 3 to 4"
        );
        assert_eq!(
            problem.note.as_deref(),
            Some("lines 3 to 4:\n  3 │ def old_functions():\n  4 │     pass")
        );
        assert_eq!(problem.help().as_deref(), Some("only white space differs"));
        let problem = apply(text, "     3\tdef old_functions():", "x").unwrap_err();
        assert!(
            problem.help().unwrap().contains("line numbers"),
            "{problem:?}"
        );
        let problem = apply("entirely other\n", "xyzzy", "x").unwrap_err();
        assert_eq!(problem.to_string(), "`old_string` does not occur");
    }

    #[test]
    fn bytes_that_are_not_utf8_stay() {
        let (bytes, _) = replaced(b"\xff a \xfe\r\n", "a", "\u{e4}", false)
            .unwrap()
            .unwrap();
        assert_eq!(bytes, b"\xff \xc3\xa4 \xfe\r\n");
    }

    #[test]
    fn growth_is_bounded_before_it_happens() {
        let new = "y".repeat(1 << 20);
        let result = replaced(&b"x".repeat(1000), "x", &new, true);
        assert_eq!(result, Ok(None));
    }

    #[test]
    fn an_empty_old_text_creates_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/file");
        let edited = edit(&path, "", "text", false).unwrap();
        assert_eq!(
            serde_json::to_value(edited).unwrap(),
            json!({"path": path.display().to_string(), "replacements": 1})
        );
        let error = edit(&path, "", "other", false).unwrap_err();
        assert!(
            error.to_string().ends_with("but this one has content"),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"text");
        fs::write(&path, "").unwrap();
        edit(&path, "", "other", false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"other");
    }

    #[test]
    fn files_are_edited_in_their_encoding() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, b"\xff\xfea\0\r\0\n\0b\0").unwrap();
        edit(&path, "a\nb", "\u{e4}", false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"\xff\xfe\xe4\0");
        fs::write(&path, b"\xff\xfea\0b").unwrap();
        let error = edit(&path, "a", "b", false).unwrap_err();
        assert!(error.to_string().contains("UTF-16"), "{error}");
        let error = edit(&path.with_file_name("none"), "a", "b", false).unwrap_err();
        assert!(error.to_string().ends_with("no such file"), "{error}");
        fs::write(&path, "one\n  two\n").unwrap();
        let error = edit(&path, "one\ntwo", "b", false).unwrap_err();
        assert_eq!(error.notes(), ["lines 1 to 2:\n  1 │ one\n  2 │   two"]);
        let error = edit(&path, "a", "a", false).unwrap_err();
        assert_eq!(error.notes(), [""; 0]);
        assert!(error.to_string().ends_with("are the same"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn without_windows_line_ends_it_is_str_replace(
            text in "[ab\né]{0,40}", old in "[ab\né]{1,4}", new in "[ab\né]{0,6}",
        ) {
            prop_assume!(old != new);
            match run(&text, &old, &new, true) {
                Ok(edited) => prop_assert_eq!(edited, text.replace(&old, &new)),
                Err(problem) if problem.to_string() == SAME_TEXT => {
                    prop_assert_eq!(text.replace(&old, &new), text);
                }
                Err(_) => prop_assert!(!text.contains(&old)),
            }
        }

        #[test]
        fn with_windows_line_ends_it_is_the_same_edit_of_the_same_lines(
            text in "[ab\n]{0,40}", old in "[ab\n]{1,4}", new in "[ab\n]{0,6}",
        ) {
            prop_assume!(old != new);
            let windows = text.replace('\n', "\r\n");
            let unix = run(&text, &old, &new, true).ok();
            // One line end without its carriage return would be a file of both kinds.
            let expected = unix.map(|edited| edited.replace('\n', "\r\n"));
            prop_assume!(text.contains('\n'));
            prop_assert_eq!(run(&windows, &old, &new, true).ok(), expected);
        }
    }
}
