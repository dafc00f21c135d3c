//! Reads conditions: `{{issue.number}} != "" && !({{count}} >= 3)`.

use std::ops::Range;

use regex::Regex;

use super::reader::Reader;
use super::template::{Locate, from_text};
use crate::model::{Comparison, Condition, Operand, Template, TextPart};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::read_value;
use cuecard_source::value::Json;

/// Parentheses and negations may nest this deep.
const MAX_DEPTH: usize = 64;

/// The condition in `text`, or `None` after reporting what is wrong.
pub(super) fn parse(
    reader: &mut Reader<'_>,
    text: &str,
    locate: Locate<'_>,
    pointer: &str,
) -> Option<Condition> {
    let mut parser = Parser {
        reader,
        text,
        locate,
        pointer,
        at: 0,
    };
    let result = parser.any(0).and_then(|condition| {
        parser.skip_spaces();
        match parser.at < text.len() {
            true => Err(parser.unreadable_rest()),
            false => Ok(condition),
        }
    });
    match result {
        Ok(condition) => Some(condition),
        Err(problem) => {
            let diagnostic = reader.error(
                codes::CONDITION_SYNTAX,
                locate(problem.range),
                format!("the condition can't be read: {}", problem.message),
            );
            diagnostic.pointer = Some(pointer.to_owned());
            diagnostic.help = Some(problem.help);
            None
        }
    }
}

struct Problem {
    range: Range<usize>,
    message: String,
    help: String,
}

impl Problem {
    fn new(range: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            range,
            message: message.into(),
            help: help.into(),
        }
    }
}

struct Parser<'p, 'r> {
    reader: &'p mut Reader<'r>,
    text: &'p str,
    locate: Locate<'p>,
    pointer: &'p str,
    at: usize,
}

impl Parser<'_, '_> {
    fn any(&mut self, depth: usize) -> Result<Condition, Problem> {
        let mut left = self.all(depth)?;
        while self.eat("||") {
            left = Condition::Or(Box::new(left), Box::new(self.all(depth)?));
        }
        Ok(left)
    }

    fn all(&mut self, depth: usize) -> Result<Condition, Problem> {
        let mut left = self.negation(depth)?;
        while self.eat("&&") {
            left = Condition::And(Box::new(left), Box::new(self.negation(depth)?));
        }
        Ok(left)
    }

    fn negation(&mut self, depth: usize) -> Result<Condition, Problem> {
        self.skip_spaces();
        if depth > MAX_DEPTH {
            return Err(Problem::new(
                self.at..self.text.len(),
                format!("it is nested more than {MAX_DEPTH} levels deep"),
                "split the step in two",
            ));
        }
        if self.rest().starts_with('!') && !self.rest().starts_with("!=") {
            self.at += 1;
            return Ok(Condition::Not(Box::new(self.negation(depth + 1)?)));
        }
        if self.rest().starts_with('(') {
            let open = self.at;
            self.at += 1;
            let inner = self.any(depth + 1)?;
            if !self.eat(")") {
                if self.at < self.text.len() {
                    return Err(self.unreadable_rest());
                }
                return Err(Problem::new(
                    open..open + 1,
                    "this parenthesis is not closed",
                    "add `)`",
                ));
            }
            return Ok(inner);
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Condition, Problem> {
        let left = self.operand()?;
        let Some(comparison) = self.operator()? else {
            return Ok(Condition::Truth(left));
        };
        self.skip_spaces();
        let start = self.at;
        let right = self.operand()?;
        let regex = match (&right.template, comparison) {
            (Template::Literal(json), Comparison::Matches) => {
                let pattern = cuecard_source::value::as_text(json);
                Some(Regex::new(&pattern).map_err(|error| {
                    Problem::new(
                        start..self.at,
                        format!(
                            "`{pattern}` is not a valid regular expression: {}",
                            cuecard_source::matching::regex_reason(&error)
                        ),
                        "the syntax is that of Rust's `regex` crate",
                    )
                })?)
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
    fn unreadable_rest(&self) -> Problem {
        let help = match self.as_str() {
            "and" => "write `&&` for and",
            "or" => "write `||` for or",
            "is" => "write `==` to compare",
            _ if self.rest().starts_with('=') => "write `==` to compare",
            _ => "conditions support == != < <= > >= contains matches && || ! and parentheses",
        };
        Problem::new(
            self.at..self.text.len(),
            "unexpected text after the end of the condition",
            help,
        )
    }

    fn operator(&mut self) -> Result<Option<Comparison>, Problem> {
        const SYMBOLS: [(&str, Comparison); 6] = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        self.skip_spaces();
        if let Some(&(symbol, comparison)) = SYMBOLS
            .iter()
            .find(|(symbol, _)| self.rest().starts_with(symbol))
        {
            let start = self.at;
            self.at += symbol.len();
            if self.rest().starts_with('=') {
                let written = format!("{symbol}=");
                return Err(Problem::new(
                    start..self.at + 1,
                    format!("unknown operator `{written}`"),
                    match written.as_str() {
                        "===" => "write `==` to compare".to_owned(),
                        _ => format!("write `{symbol}`"),
                    },
                ));
            }
            return Ok(Some(comparison));
        }
        let comparison = match self.as_str() {
            "contains" => Comparison::Contains,
            "matches" => Comparison::Matches,
            _ => return Ok(None),
        };
        self.at += comparison.symbol().len();
        Ok(Some(comparison))
    }

    /// References, quoted texts and bare words that stand next to each other without a space are one side.
    fn operand(&mut self) -> Result<Operand, Problem> {
        self.skip_spaces();
        let start = self.at;
        let mut parts: Vec<Template> = Vec::new();
        let mut bare = String::new();
        loop {
            let rest = self.rest();
            let Some(next) = rest.chars().next() else {
                break;
            };
            if rest.starts_with("{{") {
                parts.push(self.reference()?);
            } else if next == '"' || next == '\'' {
                parts.push(self.quoted(next)?);
            } else if is_bare(next) {
                let length = rest
                    .find(|character| !is_bare(character))
                    .unwrap_or(rest.len());
                bare = rest[..length].to_owned();
                self.at += length;
                parts.push(Template::Literal(bare_value(&bare)));
            } else {
                break;
            }
        }
        match parts.len() {
            0 => {
                let found = self.rest().chars().next();
                let message = found.map_or(
                    "expected a value, found the end of the condition".to_owned(),
                    |found| format!("expected a value, found `{found}`"),
                );
                let end = self.at + found.map_or(0, char::len_utf8);
                Err(Problem::new(
                    self.at..end,
                    message,
                    "a value is a reference, a text in quotes, a number, true, false or null",
                ))
            }
            1 => {
                let template = parts.remove(0);
                if matches!(&template, Template::Literal(Json::String(text)) if *text == bare && !bare.is_empty())
                {
                    let span = (self.locate)(start..self.at);
                    let diagnostic = self.reader.warning(
                        codes::CONDITION_BARE_WORD,
                        span,
                        format!("unquoted `{bare}` is read as text"),
                    );
                    diagnostic.pointer = Some(self.pointer.to_owned());
                    diagnostic.help = Some(match bare.to_lowercase().as_str() {
                        "true" | "yes" => "write `true`, or put it in quotes".to_owned(),
                        "false" | "no" => "write `false`, or put it in quotes".to_owned(),
                        "none" | "nil" | "undefined" => "write `null`, or put it in quotes".to_owned(),
                        _ if bare.starts_with(['[', '{']) => {
                            "a list or an object can't be written here: compare a part of the value, or use `contains`".to_owned()
                        }
                        _ => {
                            let quotes = ['/', '\u{201c}', '\u{201d}', '\u{201e}'];
                            format!("put it in quotes: \"{}\"", bare.trim_matches(quotes))
                        }
                    });
                }
                Ok(Operand { template })
            }
            _ => Ok(Operand {
                template: Template::Text(parts.into_iter().flat_map(into_parts).collect()),
            }),
        }
    }

    fn reference(&mut self) -> Result<Template, Problem> {
        let start = self.at;
        let Some(length) = placeholder_length(self.rest()) else {
            return Err(Problem::new(
                start..self.text.len(),
                "`{{` is not closed",
                "close it with `}}`",
            ));
        };
        self.at += length;
        let locate = self.locate;
        let inner = move |range: Range<usize>| locate(start + range.start..start + range.end);
        Ok(from_text(
            self.reader,
            &self.text[start..start + length],
            &inner,
            self.pointer,
        ))
    }

    fn quoted(&mut self, quote: char) -> Result<Template, Problem> {
        let open = self.at;
        self.at += 1;
        let mut decoded = String::new();
        // Where each decoded byte came from, so that a reference inside can be shown in its place.
        let mut origins = Vec::new();
        let mut characters = self.rest().char_indices();
        while let Some((offset, character)) = characters.next() {
            let at = self.at + offset;
            let literal = match character {
                '\\' => match characters.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, 't')) => '\t',
                    // Regular expressions keep their backslashes: only quotes and backslashes are escaped.
                    Some((_, escaped)) if escaped == quote || escaped == '\\' => escaped,
                    Some((_, other)) => {
                        decoded.push('\\');
                        origins.push(at);
                        other
                    }
                    None => break,
                },
                end if end == quote => {
                    self.at = at + 1;
                    origins.push(at);
                    let locate = self.locate;
                    let place = |index: usize| origins.get(index).copied().unwrap_or(at);
                    let inner = |range: Range<usize>| locate(place(range.start)..place(range.end));
                    return Ok(from_text(self.reader, &decoded, &inner, self.pointer));
                }
                other => other,
            };
            decoded.push(literal);
            origins.extend(std::iter::repeat_n(at, literal.len_utf8()));
        }
        Err(Problem::new(
            open..self.text.len(),
            "unterminated string",
            format!("close it with `{quote}`"),
        ))
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn as_str(&self) -> &str {
        let rest = self.rest();
        &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())]
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }
}

/// The length of the placeholder at the start of `text`; braces inside a quoted default don't end it.
fn placeholder_length(text: &str) -> Option<usize> {
    let mut in_quotes = false;
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(2) {
        match character {
            _ if escaped => escaped = false,
            '\\' if in_quotes => escaped = true,
            '"' => in_quotes = !in_quotes,
            '}' if !in_quotes && text[at..].starts_with("}}") && !text[at..].starts_with("}}}") => {
                return Some(at + 2);
            }
            _ => {}
        }
    }
    None
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
            vec![TextPart::Literal(
                cuecard_source::value::as_text(&json).into_owned(),
            )]
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
        assert_eq!(left.template, Template::Literal(Json::from("1")));
        assert_eq!(right.template, Template::Literal(Json::from(1.5)));
        let Condition::Compare { right, .. } = read("{{ENV}} == production") else {
            panic!("comparison")
        };
        assert_eq!(right.template, Template::Literal(Json::from("production")));
        let Condition::Truth(operand) = read("{{a}}-{{b}}") else {
            panic!("truth")
        };
        assert!(matches!(operand.template, Template::Text(parts) if parts.len() == 3));
    }

    #[test]
    fn quotes_inside_a_condition_are_escaped_and_regexes_keep_their_backslashes() {
        let Condition::Compare { right, .. } = read(r#"{{a}} == "say \"hi\"""#) else {
            panic!("comparison")
        };
        assert_eq!(right.template, Template::Literal(Json::from(r#"say "hi""#)));
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
