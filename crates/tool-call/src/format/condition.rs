//! Reads conditions: `{{issue.number}} != "" && !({{count}} >= 3)`.

use std::fmt;
use std::ops::Range;

use regex::Regex;

use super::reader::Reader;
use super::template::{Cursor, from_text, placeholder};
use crate::model::{Comparison, Condition, Template, TextPart};
use cuecard_source::Span;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::json::{Node, read_value};
use cuecard_source::matching::regex_reason;
use cuecard_source::value::{Json, as_text};

/// Parentheses and negations may nest this deep.
const MAX_DEPTH: usize = 64;

/// The condition that `node` holds as `text`, or `None` after reporting what is wrong.
pub(super) fn parse(
    reader: &mut Reader<'_>,
    node: &Node,
    text: &str,
    pointer: &str,
) -> Option<Condition> {
    let mut parser = Parser {
        reader,
        node,
        pointer,
        cursor: Cursor { text, at: 0 },
    };
    let result = parser.any(0).and_then(|condition| {
        parser.cursor.skip_spaces();
        match parser.cursor.rest() {
            "" => Ok(condition),
            _ => Err(parser.unreadable_rest()),
        }
    });
    match result {
        Ok(condition) => Some(condition),
        Err(problem) => {
            reader.diagnostics.push(problem);
            None
        }
    }
}

struct Parser<'p, 'r> {
    reader: &'p mut Reader<'r>,
    node: &'p Node,
    pointer: &'p str,
    cursor: Cursor<'p>,
}

impl<'p> Parser<'p, '_> {
    fn any(&mut self, depth: usize) -> Result<Condition, Diagnostic> {
        let mut left = self.all(depth)?;
        while self.eat("||") {
            left = Condition::Or(Box::new(left), Box::new(self.all(depth)?));
        }
        Ok(left)
    }

    fn all(&mut self, depth: usize) -> Result<Condition, Diagnostic> {
        let mut left = self.negation(depth)?;
        while self.eat("&&") {
            left = Condition::And(Box::new(left), Box::new(self.negation(depth)?));
        }
        Ok(left)
    }

    fn negation(&mut self, depth: usize) -> Result<Condition, Diagnostic> {
        self.cursor.skip_spaces();
        let open = self.cursor.at;
        if depth > MAX_DEPTH {
            return Err(self.problem(
                open..self.cursor.text.len(),
                format!("it is nested more than {MAX_DEPTH} levels deep"),
                "split the step in two",
            ));
        }
        if !self.cursor.rest().starts_with("!=") && self.eat("!") {
            return Ok(Condition::Not(Box::new(self.negation(depth + 1)?)));
        }
        if !self.eat("(") {
            return self.comparison();
        }
        let inner = self.any(depth + 1)?;
        if self.eat(")") {
            return Ok(inner);
        }
        Err(match self.cursor.rest() {
            "" => self.problem(open..open + 1, "this parenthesis is not closed", "add `)`"),
            _ => self.unreadable_rest(),
        })
    }

    fn comparison(&mut self) -> Result<Condition, Diagnostic> {
        let left = self.operand()?;
        let Some(comparison) = self.operator()? else {
            return Ok(Condition::Truth(left));
        };
        self.cursor.skip_spaces();
        let start = self.cursor.at;
        let right = self.operand()?;
        let regex = match (&right, comparison) {
            (Template::Literal(json), Comparison::Matches) => {
                let pattern = as_text(json);
                let regex = Regex::new(&pattern).map_err(|error| {
                    let reason = regex_reason(&error);
                    self.problem(
                        start..self.cursor.at,
                        format!("`{pattern}` is not a valid regular expression: {reason}"),
                        "the syntax is that of Rust's `regex` crate",
                    )
                });
                Some(regex?)
            }
            _ => None,
        };
        Ok(Condition::Compare {
            left,
            comparison,
            right,
            regex,
        })
    }

    /// What can't be read after a whole expression.
    fn unreadable_rest(&self) -> Diagnostic {
        let help = match self.word() {
            "and" => "write `&&` for and",
            "or" => "write `||` for or",
            word if word == "is" || word.starts_with('=') => "write `==` to compare",
            _ => "conditions support == != < <= > >= contains matches && || ! and parentheses",
        };
        self.problem(
            self.cursor.at..self.cursor.text.len(),
            "unexpected text after the end of the condition",
            help,
        )
    }

    fn operator(&mut self) -> Result<Option<Comparison>, Diagnostic> {
        use Comparison::{
            Contains, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Matches, NotEqual,
        };
        self.cursor.skip_spaces();
        let symbols = [Equal, NotEqual, LessOrEqual, GreaterOrEqual, Less, Greater];
        let mut symbols = symbols.into_iter();
        let word = self.word();
        let comparison = match word {
            "contains" => Some(Contains),
            "matches" => Some(Matches),
            _ => symbols.find(|known| word.starts_with(known.symbol())),
        };
        let Some(comparison) = comparison else {
            return Ok(None);
        };
        let (start, symbol) = (self.cursor.at, comparison.symbol());
        self.cursor.at += symbol.len();
        if self.cursor.peek() == Some('=') {
            let help = match comparison {
                Equal => "write `==` to compare".to_owned(),
                _ => format!("write `{symbol}`"),
            };
            let message = format!("unknown operator `{symbol}=`");
            return Err(self.problem(start..self.cursor.at + 1, message, help));
        }
        Ok(Some(comparison))
    }

    /// References, quoted texts and bare words that stand next to each other without a space are one side.
    fn operand(&mut self) -> Result<Template, Diagnostic> {
        self.cursor.skip_spaces();
        let start = self.cursor.at;
        let mut parts: Vec<Template> = Vec::new();
        let mut bare = "";
        while let Some(next) = self.cursor.peek() {
            let rest = self.cursor.rest();
            if rest.starts_with("{{") {
                parts.push(self.reference()?);
            } else if next == '"' || next == '\'' {
                parts.push(self.quoted()?);
            } else if is_bare(next) {
                let end = rest.find(|character| !is_bare(character));
                bare = &rest[..end.unwrap_or(rest.len())];
                self.cursor.at += bare.len();
                parts.push(Template::Literal(bare_value(bare)));
            } else {
                break;
            }
        }
        if parts.len() > 1 {
            return Ok(Template::Text(
                parts.into_iter().flat_map(into_parts).collect(),
            ));
        }
        let Some(part) = parts.pop() else {
            let found = self.cursor.peek();
            let message = match found {
                None => "expected a value, found the end of the condition".to_owned(),
                Some(found) => format!("expected a value, found `{found}`"),
            };
            return Err(self.problem(
                start..start + found.map_or(0, char::len_utf8),
                message,
                "a value is a reference, a text in quotes, a number, true, false or null",
            ));
        };
        if matches!(&part, Template::Literal(Json::String(text)) if text == bare && !bare.is_empty())
        {
            self.warn_bare(bare, start);
        }
        Ok(part)
    }

    /// Warns about a text without quotes.
    fn warn_bare(&mut self, bare: &str, start: usize) {
        let span = self.span(start..self.cursor.at);
        let message = format!("unquoted `{bare}` is read as text");
        let found = self
            .reader
            .warning(codes::CONDITION_BARE_WORD, span, message);
        found.pointer = Some(self.pointer.to_owned());
        let value = match bare.to_lowercase().as_str() {
            "true" | "yes" => "true",
            "false" | "no" => "false",
            "none" | "nil" | "undefined" => "null",
            _ => "",
        };
        found.help = Some(if !value.is_empty() {
            format!("write `{value}`, or put it in quotes")
        } else if bare.starts_with('[') {
            "a list can't be written here: compare a part of the value, or use `contains`"
                .to_owned()
        } else {
            let quotes = ['/', '\u{201c}', '\u{201d}', '\u{201e}'];
            format!("put it in quotes: \"{}\"", bare.trim_matches(quotes))
        });
    }

    fn reference(&mut self) -> Result<Template, Diagnostic> {
        let Cursor { text, at: start } = self.cursor;
        let end = match placeholder(text, start) {
            Ok((_, end)) => Some(end),
            // Braces inside of quotes don't close it.
            Err(_) => text[start..]
                .find("}}")
                .map(|at| start + at + 2)
                .filter(|end| text[start..*end].matches('"').count().is_multiple_of(2)),
        };
        let Some(end) = end else {
            let help = "close it with `}}`";
            return Err(self.problem(start..text.len(), "`{{` is not closed", help));
        };
        let braces = text[end..].bytes().take_while(|byte| *byte == b'}');
        let end = end + braces.count();
        self.cursor.at = end;
        Ok(self.template(&text[start..end], start..end))
    }

    fn quoted(&mut self) -> Result<Template, Diagnostic> {
        let Cursor { text, at: open } = self.cursor;
        // Regular expressions keep their other backslashes.
        let Some(decoded) = self.cursor.quoted(&[('n', '\n'), ('t', '\t')]) else {
            let quote = &text[open..=open];
            let help = format!("close it with `{quote}`");
            return Err(self.problem(open..text.len(), "unterminated string", help));
        };
        let inside = open + 1..self.cursor.at - 1;
        Ok(self.template(&decoded, inside))
    }

    /// The template of a text that is written under `range`. With escapes in it, a part of it has the place of the whole.
    fn template(&mut self, text: &str, range: Range<usize>) -> Template {
        let (written, node) = (self.cursor.text, self.node);
        let is_plain = written[range.clone()] == *text;
        let locate = |reader: &Reader<'_>, part: Range<usize>| match is_plain {
            true => reader.part(node, range.start + part.start..range.start + part.end),
            false => reader.part(node, range.clone()),
        };
        from_text(self.reader, text, &locate, self.pointer)
    }

    fn problem(
        &self,
        range: Range<usize>,
        message: impl fmt::Display,
        help: impl Into<String>,
    ) -> Diagnostic {
        let message = format!("the condition can't be read: {message}");
        Diagnostic::error(codes::CONDITION_SYNTAX, message)
            .at(self.reader.source, self.span(range))
            .with_pointer(self.pointer)
            .with_help(help)
    }

    fn span(&self, range: Range<usize>) -> Span {
        self.reader.part(self.node, range)
    }

    fn word(&self) -> &'p str {
        let rest = self.cursor.rest();
        &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())]
    }

    fn eat(&mut self, token: &str) -> bool {
        self.cursor.skip_spaces();
        let is_next = self.cursor.rest().starts_with(token);
        if is_next {
            self.cursor.at += token.len();
        }
        is_next
    }
}

fn is_bare(character: char) -> bool {
    !character.is_whitespace()
        && !matches!(
            character,
            '(' | ')' | '!' | '=' | '<' | '>' | '&' | '|' | '"' | '\'' | '{' | '}'
        )
}

fn bare_value(word: &str) -> Json {
    match word {
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        "null" => Json::Null,
        _ => match read_value(word) {
            Ok(number @ Json::Number(_)) => number,
            _ => Json::String(word.to_owned()),
        },
    }
}

fn into_parts(template: Template) -> Vec<TextPart> {
    match template {
        Template::Literal(json) => {
            vec![TextPart::Literal(as_text(&json).into_owned())]
        }
        Template::Reference(placeholder) => vec![TextPart::Reference(*placeholder)],
        Template::Text(parts) => parts,
        Template::Array(_) | Template::Object(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::format::read_condition;
    use crate::model::{Comparison, Condition, Template};
    use cuecard_source::value::Json;

    fn read(text: &str) -> Condition {
        read_condition(text).unwrap_or_else(|diagnostics| panic!("{text}: {diagnostics:?}"))
    }

    fn error(text: &str) -> String {
        read_condition(text).expect_err(text)[0].message.clone()
    }

    #[test]
    fn operators_bind_as_usual() {
        let Condition::Or(left, right) = read(r#"{{a}} == 1 && !{{b.c}} || ({{d}} contains "x")"#)
        else {
            panic!("or is the outermost")
        };
        assert!(matches!(*left, Condition::And(..)));
        assert!(matches!(
            *right,
            Condition::Compare {
                comparison: Comparison::Contains,
                ..
            }
        ));
    }

    #[test]
    fn sides_keep_their_types() {
        let Condition::Compare { left, right, .. } = read(r#""1" != 1.5"#) else {
            panic!("comparison")
        };
        assert_eq!(left, Template::Literal(Json::from("1")));
        assert_eq!(right, Template::Literal(Json::from(1.5)));
        let Condition::Compare { right, .. } = read("{{ENV}} == production") else {
            panic!("comparison")
        };
        assert_eq!(right, Template::Literal(Json::from("production")));
        let Condition::Truth(operand) = read("{{a}}-{{b}}") else {
            panic!("truth")
        };
        assert!(matches!(operand, Template::Text(parts) if parts.len() == 3));
    }

    #[test]
    fn quotes_inside_a_condition_are_escaped_and_regexes_keep_their_backslashes() {
        let Condition::Compare { right, .. } = read(r#"{{a}} == "say \"hi\"""#) else {
            panic!("comparison")
        };
        assert_eq!(right, Template::Literal(Json::from(r#"say "hi""#)));
        let Condition::Compare { regex, .. } = read(r"{{a}} matches '^\d+$'") else {
            panic!("comparison")
        };
        assert!(regex.expect("compiled").is_match("123"));
        assert!(matches!(
            read(r#"{{a | default("}}")}} == """#),
            Condition::Compare { .. }
        ));
    }

    #[test]
    fn problems_are_named() {
        assert!(error("{{a}} ==").contains("expected a value, found the end of the condition"));
        assert!(error("({{a}}").contains("not closed"));
        assert!(error("{{a}} == \"x").contains("unterminated string"));
        assert!(
            error("{{a}} and {{b}}").contains("unexpected text after the end of the condition")
        );
        assert!(error("{{a}} = 1").contains("unexpected text after the end of the condition"));
        assert!(error("{{a}} matches \"(\"").contains("not a valid regular expression"));
        assert!(error("").contains("expected a value, found the end of the condition"));
        assert!(error(&"(".repeat(100)).contains("nested more than"));
    }

    #[test]
    fn comparisons_of_other_languages_are_translated() {
        let help = |text: &str| read_condition(text).expect_err(text)[0].help.clone();
        for (text, wanted) in [
            ("{{a}} === 1", "write `==` to compare"),
            ("{{a}} !== 1", "write `!=`"),
            ("{{a}} = 1", "write `==` to compare"),
            ("{{a}}=1", "write `==` to compare"),
            ("{{a}} is 1", "write `==` to compare"),
            ("{{a}} and {{b}}", "write `&&` for and"),
            ("({{a}} or {{b}})", "write `||` for or"),
        ] {
            assert_eq!(help(text).as_deref(), Some(wanted), "{text}");
        }
        assert_eq!(
            error("{{a}} === 1"),
            "the condition can't be read: unknown operator `===`"
        );
    }
}
