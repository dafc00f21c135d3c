//! Files of variables for `--env FILE`: one `NAME=value` a line, as dotenv files have it.
//!
//! Nothing is expanded. A value may stand in `'…'`, where every character is itself, or in `"…"`, where
//! `\n`, `\t`, `\"` and `\\` are escapes; both may go over several lines, whose ends count as `\n`. Without
//! quotes a value ends at the line's end or at a `#` after a blank.

use std::collections::HashMap;
use std::ops::Range;

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::{SourceFile, Span};

/// The longest file that is read.
const MAX_BYTES: usize = 1024 * 1024;
/// The longest name, in bytes.
const MAX_NAME: usize = 256;
/// After this many findings the rest is only counted.
const MAX_FINDINGS: usize = 100;

/// Reads a file of variables: the names in the order in which they first stand in the file, each with its
/// last value, and everything there is to say, in the order of the file. If any finding is an error, the
/// variables are a best effort and not to be used.
///
/// The findings point into a copy of the text in which everything but names is painted over, so that no
/// value is shown with them.
pub fn parse(source: &SourceFile) -> (Vec<(String, String)>, Vec<Diagnostic>) {
    let text = source.text();
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; the limit is 1 MiB", text.len());
        let place = SourceFile::new(source.name(), "");
        let diagnostic = Diagnostic::error(codes::ARGUMENT, message)
            .at(&place, Span::default())
            .with_help("a file for `--env` holds lines such as `NAME=value`");
        return (Vec::new(), vec![diagnostic]);
    }
    let mut parser = Parser::new(text);
    parser.read();
    parser.finish(source.name())
}

/// `text` with all visible characters in `hidden` painted over, each by one of the same length in bytes,
/// so that every offset, line and column stays what it is. The ranges must be in order.
pub fn painted(text: &str, hidden: &[Range<usize>]) -> String {
    let mut painted = String::with_capacity(text.len());
    let mut done = 0;
    for range in hidden {
        let start = range.start.max(done);
        let Some(covered) = text.get(start..range.end.max(start)) else {
            continue;
        };
        painted.push_str(&text[done..start]);
        painted.extend(covered.chars().map(paint));
        done = start + covered.len();
    }
    painted.push_str(&text[done..]);
    painted
}

fn paint(character: char) -> char {
    match character.len_utf8() {
        _ if character == ' ' || character.is_ascii_control() => character,
        1 => '*',
        2 => '·',
        3 => '•',
        _ => '\u{10101}',
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    variables: Vec<Variable<'t>>,
    /// The place of each name in `variables`.
    by_name: HashMap<&'t str, usize>,
    findings: Vec<Finding>,
    left_off: usize,
    /// What may be shown: names and the `=` after them.
    shown: Vec<Range<usize>>,
}

struct Variable<'t> {
    name: &'t str,
    value: String,
    /// Where the name stands first.
    at: usize,
}

struct Finding {
    is_error: bool,
    span: Range<usize>,
    message: String,
    /// The place of the earlier line that it is about.
    earlier: Option<usize>,
    help: &'static str,
}

/// A value as it was read.
struct Value {
    text: String,
    /// Where it ends, its closing quote included. What follows on the line is a comment or a mistake.
    end: usize,
    is_quoted: bool,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            at: text.len() - text.trim_start_matches('\u{feff}').len(),
            variables: Vec::new(),
            by_name: HashMap::new(),
            findings: Vec::new(),
            left_off: 0,
            shown: Vec::new(),
        }
    }

    fn read(&mut self) {
        while self.at < self.text.len() {
            let line = self.trimmed(self.at..self.line_end(self.at));
            self.at = self.line_end(line.end) + 1;
            if !line.is_empty() && !self.text[line.start..].starts_with('#') {
                self.assignment(line);
            }
        }
    }

    /// Reads the variable that begins on `line` and may go on after it.
    fn assignment(&mut self, line: Range<usize>) {
        let start = self.after_export(&line);
        let Some(length) = self.text[start..line.end].find('=') else {
            self.error(
                line,
                "this line has no `=`",
                "write `NAME=value`; comments start with `#`, and multi-line values must be quoted",
            );
            return;
        };
        let equals = start + length;
        let name_span = self.trimmed(start..equals);
        let name = &self.text[name_span.clone()];
        let problem = name_problem(name);
        match &problem {
            None => self.shown.push(line.start..equals + 1),
            Some(problem) => self.error(
                name_span.clone(),
                problem,
                "a name consists of letters, digits, `_`, `-` and `.`, as in `NAME=value`",
            ),
        }
        let Some(value) = self.value(equals + 1, line.end) else {
            return;
        };
        self.rest_of_line(&value);
        if let Some(nul) = value
            .text
            .contains('\0')
            .then(|| self.text[equals..].find('\0'))
            .flatten()
        {
            let at = equals + nul;
            self.error(
                at..at + 1,
                "a value can't contain the character U+0000",
                "remove it",
            );
        }
        if problem.is_none() {
            self.set(name, name_span, value.text);
        }
    }

    /// Where the name begins: `export NAME=value` is what a shell reads.
    fn after_export(&self, line: &Range<usize>) -> usize {
        let content = &self.text[line.clone()];
        match content.strip_prefix("export") {
            Some(rest) if rest.starts_with([' ', '\t']) && !rest.trim_start().starts_with('=') => {
                line.end - rest.trim_start().len()
            }
            _ => line.start,
        }
    }

    /// Reads the value that stands between `start` and the end of its line, or goes on after it in quotes.
    /// `None` if there is no telling what it was meant to be.
    fn value(&mut self, start: usize, line_end: usize) -> Option<Value> {
        let content = self.trimmed(start..line_end);
        match self.text[content.clone()].chars().next() {
            Some('\'') => self.single_quoted(content.start),
            Some('"') => self.double_quoted(content.start),
            _ => {
                let end = self.comment_in(start..line_end).unwrap_or(content.end);
                let content = self.trimmed(start..end);
                Some(Value {
                    text: self.text[content.clone()].to_owned(),
                    end: content.end,
                    is_quoted: false,
                })
            }
        }
    }

    /// The first `#` after a blank.
    fn comment_in(&self, range: Range<usize>) -> Option<usize> {
        let bytes = self.text.as_bytes();
        range
            .clone()
            .skip(1)
            .find(|&at| bytes[at] == b'#' && matches!(bytes[at - 1], b' ' | b'\t'))
    }

    fn single_quoted(&mut self, open: usize) -> Option<Value> {
        let Some(length) = self.text[open + 1..].find('\'') else {
            self.unclosed(open, "unterminated `'` at the start of this value");
            return None;
        };
        let close = open + 1 + length;
        Some(Value {
            text: self.text[open + 1..close].replace("\r\n", "\n"),
            end: close + 1,
            is_quoted: true,
        })
    }

    fn double_quoted(&mut self, open: usize) -> Option<Value> {
        let mut text = String::new();
        let mut bad_escapes = Vec::new();
        let mut characters = self.text[open + 1..].char_indices().peekable();
        while let Some((offset, character)) = characters.next() {
            let next = characters.peek().map(|&(_, next)| next);
            match character {
                '"' => {
                    for span in bad_escapes {
                        self.bad_escape(span);
                    }
                    return Some(Value {
                        text,
                        end: open + 1 + offset + 1,
                        is_quoted: true,
                    });
                }
                '\\' => {
                    let meaning = match next {
                        Some('n') => Some('\n'),
                        Some('t') => Some('\t'),
                        Some('"') => Some('"'),
                        Some('\\') => Some('\\'),
                        _ => None,
                    };
                    if let Some(meaning) = meaning {
                        characters.next();
                        text.push(meaning);
                    } else {
                        let at = open + 1 + offset;
                        bad_escapes.push(at..at + 1 + next.map_or(0, char::len_utf8));
                    }
                }
                '\r' if next == Some('\n') => {}
                other => text.push(other),
            }
        }
        self.unclosed(open, "unterminated `\"` at the start of this value");
        None
    }

    fn unclosed(&mut self, open: usize, message: &str) {
        self.error(open..open + 1, message, "end the value with the same quote");
    }

    fn bad_escape(&mut self, span: Range<usize>) {
        let escape = &self.text[span.clone()];
        let message = match escape.chars().nth(1) {
            Some(character) if !character.is_whitespace() && !character.is_control() => {
                format!("invalid escape `{escape}`")
            }
            _ => "`\\` without a valid escape".to_owned(),
        };
        let help = "write `\\\\` for a backslash, or put the value in `'`; the escapes are `\\n`, `\\t`, `\\\"` and `\\\\`";
        self.error(span, &message, help);
    }

    /// Goes on at the line after `value`. Between them stands nothing, or a comment.
    fn rest_of_line(&mut self, value: &Value) {
        let line_end = self.line_end(value.end);
        self.at = self.at.max(line_end + 1);
        let rest = self.trimmed(value.end..line_end);
        if value.is_quoted && !rest.is_empty() && !self.text[rest.start..].starts_with('#') {
            self.error(
                rest,
                "unexpected text after the closing quote",
                "put the whole value in quotes; a quote inside `\"…\"` is written `\\\"`",
            );
        }
    }

    fn set(&mut self, name: &'t str, span: Range<usize>, value: String) {
        match self.by_name.get(name) {
            None => {
                self.by_name.insert(name, self.variables.len());
                let at = span.start;
                self.variables.push(Variable { name, value, at });
            }
            Some(&idx) => {
                let variable = &mut self.variables[idx];
                variable.value = value;
                let finding = Finding {
                    is_error: false,
                    span,
                    message: format!("duplicate `{name}`: the last value is used"),
                    earlier: Some(variable.at),
                    help: "remove one of the two",
                };
                self.find(finding);
            }
        }
    }

    fn error(&mut self, span: Range<usize>, message: &str, help: &'static str) {
        self.find(Finding {
            is_error: true,
            span,
            message: message.to_owned(),
            earlier: None,
            help,
        });
    }

    fn find(&mut self, finding: Finding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else {
            self.left_off += usize::from(finding.is_error);
        }
    }

    fn finish(mut self, file_name: &str) -> (Vec<(String, String)>, Vec<Diagnostic>) {
        let mut hidden = Vec::with_capacity(self.shown.len() + 1);
        let mut done = 0;
        for shown in &self.shown {
            hidden.push(done..shown.start);
            done = shown.end;
        }
        hidden.push(done..self.text.len());
        let source = SourceFile::new(file_name, painted(self.text, &hidden));
        self.findings.sort_by_key(|finding| finding.span.start);
        let mut diagnostics: Vec<_> = self
            .findings
            .into_iter()
            .map(|finding| finding.into_diagnostic(&source))
            .collect();
        if self.left_off > 0 {
            let message = format!("the file has {} more errors", self.left_off);
            let end = Span::new(self.text.len(), self.text.len());
            diagnostics.push(
                Diagnostic::error(codes::ARGUMENT, message)
                    .at(&source, end)
                    .with_help("correct the first ones; perhaps the file isn't meant for `--env`"),
            );
        }
        let variables = self
            .variables
            .into_iter()
            .map(|variable| (variable.name.to_owned(), variable.value))
            .collect();
        (variables, diagnostics)
    }

    fn line_end(&self, at: usize) -> usize {
        self.text[at..]
            .find('\n')
            .map_or(self.text.len(), |length| at + length)
    }

    /// `range` without the whitespace at its ends; of no length at its start if there is nothing else.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let content = &self.text[range.clone()];
        let end = range.start + content.trim_end().len();
        let start = (range.end - content.trim_start().len()).min(end);
        start..end
    }
}

impl Finding {
    fn into_diagnostic(self, source: &SourceFile) -> Diagnostic {
        let span = Span::new(self.span.start, self.span.end);
        let diagnostic = if self.is_error {
            Diagnostic::error(codes::ARGUMENT, self.message)
        } else {
            Diagnostic::warning(codes::ARGUMENT, self.message)
        };
        let mut diagnostic = diagnostic.at(source, span).with_help(self.help);
        diagnostic.label = self.earlier.map(|at| {
            let line = source.position(u32::try_from(at).unwrap_or(u32::MAX)).line;
            format!("first defined on line {line}")
        });
        diagnostic
    }
}

/// What keeps `name` from being the name of a variable. Repeats no more of it than one character, since a
/// line of a key that lost its quotes ends up here too.
fn name_problem(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("expected a name before `=`".to_owned());
    }
    if name.len() > MAX_NAME {
        return Some(format!("a name has at most {MAX_NAME} bytes"));
    }
    let stray =
        |character: char| !character.is_alphanumeric() && !matches!(character, '_' | '-' | '.');
    match name.chars().find(|&character| stray(character)) {
        None => None,
        Some(character) if character.is_whitespace() => {
            Some("a name can't contain spaces".to_owned())
        }
        Some(character) => Some(format!(
            "a name can't contain `{}`",
            character.escape_debug()
        )),
    }
}
