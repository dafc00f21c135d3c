//! The words, symbols and texts of a script.
//!
//! Data is in no script, only names for it are, so a token that is read wrong can't let data out: it makes a script that
//! is refused, or that fails. Where the language needs a parser to go on, the reader stops.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::super::source::is_in;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, a keyword or a number.
    Word,
    /// A string with its quotes.
    String,
    /// The text of a template up to its end or to `${`.
    Template,
    Regex,
    /// Anything else. A backtick is one, at both ends of a template.
    Symbol,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
    /// The token of the innermost bracket or template around it.
    pub(super) parent: Option<usize>,
    /// The token that closes this bracket or template, or that opens it.
    pub(super) partner: usize,
    /// Whether it is the first in its line.
    pub(super) is_line_start: bool,
}

/// What an expression can follow.
const OPERATOR_WORDS: &str =
    "return typeof instanceof in of void delete throw case do else new await yield default extends";

/// Whether an expression can end with a token.
pub(super) fn ends_value(kind: Kind, text: &str) -> bool {
    match kind {
        Kind::Word => !is_in(OPERATOR_WORDS, text),
        Kind::String | Kind::Regex => true,
        Kind::Symbol => matches!(text, ")" | "]" | "`"),
        Kind::Template => false,
    }
}

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a fixed pattern")
}

/// The tokens of a script, or why it can't be read.
pub(super) fn read(script: &str) -> Result<Vec<Token>, &'static str> {
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(?xs)\A(?:
              (?<space> [\s\u{feff}]+ | //[^\n\r\u{2028}\u{2029}]* | /\*.*?\*/ )
            | (?<string> "(?:[^"\\\n\r]|\\.)*" | '(?:[^'\\\n\r]|\\.)*' )
            | (?<word> [\w$\u{200c}\u{200d}]+ )
            | \.\.\. | => | \?\.  | <!-- | \+\+ | -- | (?:===?|!==?|<=|>=) | (?:\+|-|\*\*?|\|\|?|&&?|\?\?|%|\^|<<|>>>?)=?
            | [^"'\\] )"#,
        )
    });
    static REGEX: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"\A/(?:[^/\\\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+/\w*")
    });
    static TEMPLATE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?s)\A(?:[^`\\$]|\\.|\$+[^`\\${]|\$+\\.)*\$*?(?<end>`|\$\{)"));

    let mut tokens: Vec<Token> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut is_line_start = true;
    let mut at = 0;
    while at < script.len() {
        let rest = &script[at..];
        let text = |index: usize| &script[tokens[index].range.clone()];
        let is_template = open.last().is_some_and(|&bracket| text(bracket) == "`");
        let last = tokens
            .last()
            .map(|last| (last.kind, &script[last.range.clone()]));
        let is_after_value = last.is_some_and(|(kind, text)| ends_value(kind, text));
        let is_slash = rest.starts_with('/') && !rest.starts_with("//") && !rest.starts_with("/*");
        let (kind, length) = if is_template {
            let chunk = TEMPLATE.captures(rest).ok_or("a template isn't closed")?;
            let end = chunk["end"].len();
            match chunk[0].len() - end {
                0 => (Kind::Symbol, end),
                length => (Kind::Template, length),
            }
        } else if is_slash {
            if matches!(last, Some((Kind::Symbol, "}" | "++" | "--"))) {
                return Err("a `/` may begin a regular expression or divide");
            }
            match is_after_value {
                true => (Kind::Symbol, 1),
                false => {
                    let regex = REGEX.find(rest);
                    let regex = regex.ok_or("a regular expression isn't closed")?;
                    (Kind::Regex, regex.len())
                }
            }
        } else {
            let token = TOKEN.captures(rest);
            let token = token.ok_or("a string isn't closed, or a name has a backslash")?;
            let length = token[0].len();
            if token.name("space").is_some() {
                is_line_start |= token[0].contains(['\n', '\r', '\u{2028}', '\u{2029}']);
                at += length;
                continue;
            }
            match () {
                () if token.name("string").is_some() => (Kind::String, length),
                () if token.name("word").is_some() => (Kind::Word, length),
                () => (Kind::Symbol, length),
            }
        };
        let index = tokens.len();
        let symbol = if kind == Kind::Symbol {
            &rest[..length]
        } else {
            ""
        };
        let opened = match symbol {
            "<!--" => return Err("`<!--` may be a comment"),
            "`" if is_template => open.pop(),
            ")" | "]" | "}" => {
                let opened = open.pop().map(|opened| (opened, text(opened)));
                match (opened, symbol) {
                    (Some((at, "(")), ")") | (Some((at, "[")), "]") => Some(at),
                    (Some((at, "{" | "${")), "}") => Some(at),
                    _ => return Err("the brackets don't match"),
                }
            }
            _ => None,
        };
        tokens.push(Token {
            kind,
            range: at..at + length,
            parent: open.last().copied(),
            partner: opened.unwrap_or(index),
            is_line_start,
        });
        match opened {
            Some(opened) => tokens[opened].partner = index,
            None if matches!(symbol, "(" | "[" | "{" | "${" | "`") => open.push(index),
            None => {}
        }
        is_line_start = false;
        at += length;
    }
    match open.last() {
        None => Ok(tokens),
        Some(_) => Err("a bracket or a template isn't closed"),
    }
}
