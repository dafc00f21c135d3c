//! Files of variables for `--env FILE`: one `NAME=value` a line, as dotenv files have it.
//!
//! Nothing is expanded. A value may stand in `'…'`, where every character is itself, or in `"…"`, where
//! `\n`, `\t`, `\"` and `\\` are escapes; both may go over several lines, whose ends count as `\n`. Without
//! quotes a value ends at the line's end or at a `#` after a blank.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::{SourceFile, Span};
use regex::Regex;

/// The longest file that is read.
const MAX_BYTES: usize = 1024 * 1024;
/// The longest name, in bytes.
const MAX_NAME: usize = 256;
/// After so many errors the rest of the file isn't read.
const MAX_ERRORS: usize = 100;

/// Reads a file of variables: the names in the order in which they first stand in the file, each with its
/// last value, and everything there is to say. If any finding is an error, the variables are a best effort and not to be
/// used.
///
/// The findings point into a copy of the text in which everything is painted over, so that no value is shown with them.
pub fn parse(source: &SourceFile) -> (Vec<(String, String)>, Vec<Diagnostic>) {
    static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r#"(?sx)\A\s*(?: export[\ \t][^\S\n]*(?<exported>[^=\s][^=\n]*) | (?<name>[^=\n]*) )=
            (?: [^\S\n]*'(?<single>[^']*)'(?<rest>[^\n]*) | [^\S\n]*"(?<double>(?:[^"\\]|\\.)*)"(?<end>[^\n]*) | (?<plain>[^\n]*) )"#;
        Regex::new(pattern).expect("a fixed pattern")
    });
    let text = source.text();
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; the limit is 1 MiB", text.len());
        let place = SourceFile::new(source.name(), "");
        let diagnostic = Diagnostic::error(codes::ARGUMENT, message)
            .at(&place, Span::default())
            .with_help("a file for `--env` holds lines such as `NAME=value`");
        return (Vec::new(), vec![diagnostic]);
    }
    let mut file = File::new(source);
    let mut at = text.len() - text.trim_start_matches('\u{feff}').len();
    while let Some(line) = text.get(at..).and_then(|rest| rest.split('\n').next())
        && file.n_errors < MAX_ERRORS
    {
        let start = at + line.len() - line.trim_start().len();
        let line = line.trim();
        let line_end = start + line.len();
        at = text[line_end..]
            .find('\n')
            .map_or(text.len() + 1, |end| line_end + end + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(parts) = ASSIGNMENT
            .captures(&text[start..])
            .filter(|_| line.contains('='))
        else {
            file.error(
                start..line_end,
                "this line has no `=`",
                "write `NAME=value`; comments start with `#`, and multi-line values must be quoted",
            );
            continue;
        };
        let part = |name: &str| {
            let part = parts.name(name)?;
            Some((part.as_str(), start + part.start()))
        };
        let (name, name_at) = part("exported").or(part("name")).unwrap_or_default();
        let equals = name_at + name.len();
        let name = name.trim();
        let name_span = name_at..name_at + name.len();
        let problem = name_problem(name);
        if let Some(problem) = &problem {
            let help = "a name consists of letters, digits, `_`, `-` and `.`, as in `NAME=value`";
            file.error(name_span.clone(), problem, help);
        }
        let value = match (part("single"), part("double")) {
            (Some((value, _)), _) => value.replace("\r\n", "\n"),
            (_, Some((value, value_at))) => file.unescaped(value, value_at),
            _ => {
                let (line, _) = part("plain").unwrap_or_default();
                let value = line.trim_start();
                if let Some(quote) = value.chars().next().filter(|it| matches!(it, '\'' | '"')) {
                    let open = equals + 1 + line.len() - value.len();
                    file.error(
                        open..open + 1,
                        &format!("unterminated `{quote}` at the start of this value"),
                        "end the value with the same quote",
                    );
                    continue;
                }
                let mut hashes = line.match_indices('#').map(|(hash, _)| &line[..hash]);
                let before = hashes.find(|before| before.ends_with([' ', '\t']));
                before.unwrap_or(line).trim().to_owned()
            }
        };
        if let Some((rest, rest_at)) = part("rest").or(part("end")) {
            at = rest_at + rest.len() + 1;
            let end = rest_at + rest.trim_end().len();
            let rest = rest.trim();
            if !rest.is_empty() && !rest.starts_with('#') {
                file.error(
                    end - rest.len()..end,
                    "unexpected text after the closing quote",
                    "put the whole value in quotes; a quote inside `\"…\"` is written `\\\"`",
                );
            }
        }
        if let Some(nul) = text[equals..].find('\0').filter(|_| value.contains('\0')) {
            let nul = equals + nul;
            let message = "a value can't contain the character U+0000";
            file.error(nul..nul + 1, message, "remove it");
        }
        if problem.is_none() {
            file.set(name, name_span, value);
        }
    }
    (file.variables, file.findings)
}

/// What was read so far.
struct File {
    /// The text without its values.
    painted: SourceFile,
    variables: Vec<(String, String)>,
    /// The place of each name in `variables`.
    by_name: HashMap<String, usize>,
    findings: Vec<Diagnostic>,
    n_errors: usize,
}

impl File {
    fn new(source: &SourceFile) -> Self {
        // Each character by one of the same length, so that every offset, line and column stays what it is.
        let painted: String = source.text().chars().map(cuecard_source::paint).collect();
        Self {
            painted: SourceFile::new(source.name(), painted),
            variables: Vec::new(),
            by_name: HashMap::new(),
            findings: Vec::new(),
            n_errors: 0,
        }
    }

    fn error(&mut self, span: Range<usize>, message: &str, help: &str) {
        self.n_errors += 1;
        let error = Diagnostic::error(codes::ARGUMENT, message).with_help(help);
        self.find(span, error);
    }

    fn find(&mut self, span: Range<usize>, found: Diagnostic) {
        let span = Span::new(span.start, span.end);
        self.findings.push(found.at(&self.painted, span));
    }

    /// What stands in double quotes, from `at` on.
    fn unescaped(&mut self, written: &str, at: usize) -> String {
        let mut value = String::new();
        let mut rest = written;
        while let Some((before, escaped)) = rest.split_once('\\') {
            value.push_str(&before.replace("\r\n", "\n"));
            let meaning = match escaped.chars().next() {
                Some('n') => Some('\n'),
                Some('t') => Some('\t'),
                Some(itself @ ('"' | '\\')) => Some(itself),
                _ => None,
            };
            value.extend(meaning);
            // These are ASCII.
            rest = &escaped[meaning.iter().len()..];
            if meaning.is_none() {
                let backslash = at + written.len() - escaped.len() - 1;
                self.error(
                    backslash..backslash + 1,
                    "`\\` without a valid escape",
                    "write `\\\\` for a backslash, or put the value in `'`; the escapes are `\\n`, `\\t`, `\\\"` and `\\\\`",
                );
            }
        }
        value + &rest.replace("\r\n", "\n")
    }

    fn set(&mut self, name: &str, span: Range<usize>, value: String) {
        let new = self.variables.len();
        let idx = *self.by_name.entry(name.to_owned()).or_insert(new);
        if idx == new {
            self.variables.push((name.to_owned(), value));
            return;
        }
        self.variables[idx].1 = value;
        let message = format!("duplicate `{name}`: the last value is used");
        let found = Diagnostic::warning(codes::ARGUMENT, message);
        self.find(span, found.with_help("remove one of the two"));
    }
}

/// What keeps `name` from being the name of a variable. Repeats no more of it than one character, since a
/// line of a key that lost its quotes ends up here too.
fn name_problem(name: &str) -> Option<String> {
    let is_stray = |letter: &char| !letter.is_alphanumeric() && !"_-.".contains(*letter);
    match name.chars().find(is_stray) {
        _ if name.is_empty() => Some("expected a name before `=`".to_owned()),
        _ if name.len() > MAX_NAME => Some(format!("a name has at most {MAX_NAME} bytes")),
        Some(stray) if stray.is_whitespace() => Some("a name can't contain spaces".to_owned()),
        Some(stray) => Some(format!("a name can't contain `{}`", stray.escape_debug())),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> (Vec<(String, String)>, Vec<Diagnostic>) {
        parse(&SourceFile::new(".env", text))
    }

    /// The variables of a text without any finding, as `NAME=value` each.
    fn variables(text: &str) -> Vec<String> {
        let (variables, diagnostics) = read(text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        variables
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    /// The findings as `severity line:column-column message`, the code checked.
    fn findings(text: &str) -> Vec<String> {
        let (_, diagnostics) = read(text);
        diagnostics.iter().map(shown).collect()
    }

    fn shown(diagnostic: &Diagnostic) -> String {
        assert_eq!(diagnostic.code, codes::ARGUMENT);
        assert!(diagnostic.help.is_some());
        let place = diagnostic
            .place
            .as_ref()
            .expect("every finding has a place");
        let start = place.source.position(place.span.start);
        let end = place.source.position(place.span.end);
        format!(
            "{} {}:{}-{}:{} {}",
            diagnostic.severity.as_str(),
            start.line,
            start.column,
            end.line,
            end.column,
            diagnostic.message
        )
    }

    #[test]
    fn plain_lines_comments_and_blanks() {
        let text = "# a comment\n\nA=1\n  B = two words \t\nexport C=3\nexport\tD = 4\n\t# more\nexport=5\nE=\nF = # nothing";
        assert_eq!(
            variables(text),
            ["A=1", "B=two words", "C=3", "D=4", "export=5", "E=", "F="]
        );
    }

    #[test]
    fn a_comment_needs_a_blank_before_it() {
        let text = "A=x # note\nB=x#y\nC=#z\nD=http://h/#part #note\nE=a\t#b\nF='x'#y\nG=\"x\" # y";
        assert_eq!(
            variables(text),
            [
                "A=x",
                "B=x#y",
                "C=#z",
                "D=http://h/#part",
                "E=a",
                "F=x",
                "G=x"
            ]
        );
    }

    #[test]
    fn nothing_is_expanded() {
        assert_eq!(
            variables("A=$HOME/${X}\nB=\"$HOME\"\nC=`id`\nD=it's\nE=a=b"),
            ["A=$HOME/${X}", "B=$HOME", "C=`id`", "D=it's", "E=a=b"]
        );
    }

    #[test]
    fn quotes_keep_blanks_and_comments() {
        assert_eq!(
            variables("A=' x # y '\nB=\" x # y \"\nC=''\nD=\"\"\nE='a\"b'\nF=\"it's\""),
            ["A= x # y ", "B= x # y ", "C=", "D=", "E=a\"b", "F=it's"]
        );
    }

    #[test]
    fn escapes_count_in_double_quotes_only() {
        assert_eq!(
            variables(
                r#"A="a\nb\tc\"d\\e"
B='a\nb\'
C=a\nb\"#
            ),
            ["A=a\nb\tc\"d\\e", r"B=a\nb\", r"C=a\nb\"]
        );
    }

    #[test]
    fn quoted_values_go_over_lines_and_line_ends_are_one_character() {
        let text = "KEY=\"-----BEGIN\r\nabc=\r\n\r\n-----END\"\r\nB='x\r\ny' # done\r\nC=3\r\n";
        assert_eq!(
            variables(text),
            ["KEY=-----BEGIN\nabc=\n\n-----END", "B=x\ny", "C=3"]
        );
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert_eq!(variables("\u{feff}A=1\r\nB=2"), ["A=1", "B=2"]);
        assert!(variables("\u{feff}").is_empty());
        assert!(variables("").is_empty());
    }

    #[test]
    fn names_may_be_those_of_variables_of_scenarios() {
        assert_eq!(
            variables("straße-1=x\na.b=y\n1=z"),
            ["straße-1=x", "a.b=y", "1=z"]
        );
    }

    #[test]
    fn of_duplicates_the_last_counts() {
        let (variables, diagnostics) = read("A=1\nB=2\n A = 3\nA=4");
        assert_eq!(
            variables,
            [
                ("A".to_owned(), "4".to_owned()),
                ("B".to_owned(), "2".to_owned())
            ]
        );
        let shown: Vec<_> = diagnostics.iter().map(shown).collect();
        assert_eq!(
            shown,
            [
                "warning 3:2-3:3 duplicate `A`: the last value is used",
                "warning 4:1-4:2 duplicate `A`: the last value is used",
            ]
        );
    }

    #[test]
    fn all_bad_lines_are_reported_at_their_places() {
        let text =
            "A\n  export B\n=1\nmy name=2\nK+Y=3\né = \"x\" y\nD=\"a\\qb\\\"\nF=\"\nG='\nH=1";
        assert_eq!(
            findings(text),
            [
                "error 1:1-1:2 this line has no `=`",
                "error 2:3-2:11 this line has no `=`",
                "error 3:1-3:1 expected a name before `=`",
                "error 4:1-4:8 a name can't contain spaces",
                "error 5:1-5:4 a name can't contain `+`",
                "error 6:9-6:10 unexpected text after the closing quote",
                "error 7:5-7:6 `\\` without a valid escape",
                "error 9:3-9:4 unterminated `'` at the start of this value",
            ]
        );
        let (variables, _) = read(text);
        let names: Vec<_> = variables.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["é", "D", "H"]);
    }

    #[test]
    fn after_an_unclosed_quote_the_next_line_is_read() {
        assert_eq!(
            findings("A=\"x\\q\nB=1\nbad\nC=2"),
            [
                "error 1:3-1:4 unterminated `\"` at the start of this value",
                "error 3:1-3:4 this line has no `=`",
            ]
        );
        assert_eq!(read("A='x\nB=1").0, [("B".to_owned(), "1".to_owned())]);
    }

    #[test]
    fn a_backslash_before_a_line_end_is_no_escape() {
        assert_eq!(
            findings("A=\"x\\\ny\""),
            ["error 1:5-1:6 `\\` without a valid escape"]
        );
    }

    #[test]
    fn a_nul_can_be_in_no_value() {
        assert_eq!(
            findings("A=x\0y"),
            ["error 1:4-1:5 a value can't contain the character U+0000"]
        );
        assert_eq!(
            findings("A=\"x\0y\""),
            ["error 1:5-1:6 a value can't contain the character U+0000"]
        );
        assert_eq!(
            findings("A\0=x"),
            ["error 1:1-1:3 a name can't contain `\\0`"]
        );
    }

    #[test]
    fn the_file_is_bounded() {
        let fits = format!("A={}", "x".repeat(MAX_BYTES - 2));
        assert_eq!(read(&fits).0.len(), 1);
        let (variables, diagnostics) = read(&format!("{fits}x"));
        assert!(variables.is_empty());
        assert_eq!(
            shown(&diagnostics[0]),
            "error 1:1-1:1 the file has 1048577 bytes; the limit is 1 MiB"
        );
        let name = "N".repeat(MAX_NAME + 1);
        assert_eq!(
            findings(&format!("{name}=1")),
            ["error 1:1-1:258 a name has at most 256 bytes"]
        );
    }

    #[test]
    fn after_many_errors_the_rest_is_not_read() {
        let (variables, diagnostics) = read(&format!("{}A=1", "bad\n".repeat(150)));
        assert_eq!((variables.len(), diagnostics.len()), (0, MAX_ERRORS));
    }

    #[test]
    fn no_value_is_shown_with_a_finding() {
        let text = "export TOKEN='sekret one' sekrét\nA=1\nA=sekret2\nMIIsekret/3==\nlone sekret4 # sekret5";
        let (_, diagnostics) = read(text);
        let place = diagnostics[0].place.as_ref().expect("a place");
        let painted = place.source.text();
        assert_eq!(painted.len(), text.len());
        assert_eq!(
            painted.lines().next(),
            Some("****** ************* **** ****·*")
        );
        assert!(!painted.contains("sekret"));
        let texts = format!(
            "{:?}",
            diagnostics
                .iter()
                .map(|found| (&found.message, &found.help))
                .collect::<Vec<_>>()
        );
        assert!(
            !texts.contains("sekret") && diagnostics.len() == 4,
            "{texts}"
        );
    }

    fn double_quoted(value: &str) -> String {
        let escaped = value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
            .replace('\t', "\\t");
        format!("\"{escaped}\"")
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_printed_in_quotes_reads_back(
            values in proptest::collection::vec(any::<String>(), 0..8),
            is_single in any::<bool>(),
        ) {
            let mut text = String::new();
            let mut expected = Vec::new();
            for (idx, value) in values.iter().enumerate() {
                let value = value.replace('\0', "");
                let fits_single = !value.contains('\'') && !value.contains("\r\n");
                let quoted = if is_single && fits_single { format!("'{value}'") } else { double_quoted(&value) };
                text.push_str(&format!("N{idx}={quoted}\n"));
                expected.push((format!("N{idx}"), value));
            }
            let (variables, diagnostics) = read(&text);
            prop_assert!(diagnostics.is_empty(), "{diagnostics:?}");
            prop_assert_eq!(variables, expected);
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "[AB=#'\"\\\\ \t\r\nné\u{feff}\0]{0,60}") {
            let (variables, diagnostics) = read(&text);
            for diagnostic in &diagnostics {
                let place = diagnostic.place.as_ref().expect("a place");
                prop_assert!(place.span.start <= place.span.end && place.span.range().end <= text.len());
                prop_assert_eq!(place.source.text().len(), text.len());
            }
            let mut names: Vec<_> = variables.iter().map(|(name, _)| name).collect();
            names.sort();
            names.dedup();
            prop_assert_eq!(names.len(), variables.len());
            prop_assert!(variables.iter().all(|(_, value)| !value.contains('\0') || !diagnostics.is_empty()));
        }
    }
}
