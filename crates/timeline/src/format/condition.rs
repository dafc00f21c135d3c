//! The condition of a rule: `$name`, or `$name OP literal`.

use std::ops::Range;

use super::symbols::{Symbol, SymbolValue, is_name};

/// A condition after reading.
#[derive(Debug, PartialEq)]
pub(super) struct RuleCondition {
    pub name: String,
    /// Where the name stands in the text, `$` included.
    pub name_range: Range<usize>,
    pub comparison: Option<(Operator, SymbolValue)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Longer ones first.
const OPERATORS: &[(&str, Operator)] = &[
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// What is wrong with a condition, and where in its text.
#[derive(Debug, PartialEq)]
pub(super) struct Malformed {
    pub range: Range<usize>,
    pub message: String,
    pub help: &'static str,
}

const SHAPE: &str = "write `$name`, or `$name == value` with one of == != < <= > >=";
const SPLIT: &str = "write a rule for each: a condition compares one symbol";

/// Reads a condition.
pub(super) fn parse(text: &str) -> Result<RuleCondition, Malformed> {
    let malformed = |range: Range<usize>, message: &str, help| {
        Err(Malformed {
            range,
            message: message.to_owned(),
            help,
        })
    };
    let start = text.len() - text.trim_start().len();
    let whole = start..text.trim_end().len().max(start);
    if whole.is_empty() {
        return malformed(0..text.len(), "the condition is empty", SHAPE);
    }
    for word in ["&&", "||"] {
        if let Some(at) = outside_quotes(text, word) {
            let message = format!("conditions can't be combined with `{word}`");
            return malformed(at..at + 2, &message, SPLIT);
        }
    }
    let rest = &text[start..];
    if rest.starts_with('!') {
        let help = "swap the rule and its default, or compare: `$name == false`";
        return malformed(start..start + 1, "a condition can't be negated", help);
    }
    let Some(rest) = rest.strip_prefix('$') else {
        return malformed(
            whole,
            "a condition must start with a symbol, such as `$name`",
            SHAPE,
        );
    };
    let name_end = rest
        .find(|character: char| !character.is_ascii_alphanumeric() && character != '_')
        .unwrap_or(rest.len());
    let name = &rest[..name_end];
    let after = start + 1 + name_end;
    if !is_name(name) {
        let end = (after + usize::from(after == start + 1)).min(text.len());
        let end = (end..=text.len())
            .find(|&at| text.is_char_boundary(at))
            .unwrap_or(text.len());
        return malformed(start..end, "expected a symbol name after `$`", SHAPE);
    }
    let name_range = start..after;
    let rest = text[after..].trim_start();
    let at = text.len() - rest.len();
    if rest.trim_end().is_empty() {
        return Ok(RuleCondition {
            name: name.to_owned(),
            name_range,
            comparison: None,
        });
    }
    let operator = OPERATORS.iter().find(|(word, _)| rest.starts_with(word));
    let Some((word, operator)) = operator else {
        let end = whole.end.max(at);
        let message = format!(
            "unknown operator `{}`",
            cuecard_source::value::cut(&text[at..end], 40)
        );
        return malformed(at..end, &message, SHAPE);
    };
    let literal_text = rest[word.len()..].trim();
    let literal_at = text.len() - rest[word.len()..].trim_start().len();
    match literal(literal_text) {
        Some(value) => Ok(RuleCondition {
            name: name.to_owned(),
            name_range,
            comparison: Some((*operator, value)),
        }),
        None if literal_text.is_empty() => malformed(
            at..at + word.len(),
            "expected a value after the operator",
            SHAPE,
        ),
        None => {
            let message = format!(
                "`{}` is not a number, `true`, `false` or a quoted string",
                cuecard_source::value::cut(literal_text, 40)
            );
            malformed(
                literal_at..literal_at + literal_text.len(),
                &message,
                "quote strings: `$name == \"value\"`",
            )
        }
    }
}

/// Where a word stands outside of quotes.
fn outside_quotes(text: &str, word: &str) -> Option<usize> {
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None if matches!(character, '"' | '\'') => quote = Some(character),
            None if text[at..].starts_with(word) => return Some(at),
            None => {}
        }
    }
    None
}

fn literal(text: &str) -> Option<SymbolValue> {
    for quote in ['"', '\''] {
        let inner = text
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
            .filter(|inner| !inner.contains(quote));
        if let Some(inner) = inner {
            return Some(SymbolValue::Text(inner.to_owned()));
        }
    }
    match text {
        "true" => Some(SymbolValue::Flag(true)),
        "false" => Some(SymbolValue::Flag(false)),
        _ => match SymbolValue::infer(text) {
            number @ SymbolValue::Integer(_) => Some(number),
            _ => None,
        },
    }
}

impl RuleCondition {
    /// Whether it holds of a symbol that is defined. Fails, saying why, if the two can't be compared.
    pub(super) fn holds(&self, symbol: &Symbol) -> Result<bool, String> {
        let Some((operator, literal)) = &self.comparison else {
            return Ok(true);
        };
        let orders = match (&symbol.value, literal) {
            (SymbolValue::Integer(one), SymbolValue::Integer(other)) => {
                let ordering = one.cmp(other);
                return Ok(match operator {
                    Operator::Equal => ordering.is_eq(),
                    Operator::NotEqual => ordering.is_ne(),
                    Operator::Less => ordering.is_lt(),
                    Operator::LessOrEqual => ordering.is_le(),
                    Operator::Greater => ordering.is_gt(),
                    Operator::GreaterOrEqual => ordering.is_ge(),
                });
            }
            (SymbolValue::Text(one), SymbolValue::Text(other)) => one == other,
            (SymbolValue::Flag(one), SymbolValue::Flag(other)) => one == other,
            (value, literal) => {
                return Err(format!(
                    "`{}` is {} and is compared with {literal}, which is {}",
                    self.name,
                    value.kind(),
                    literal.kind()
                ));
            }
        };
        match operator {
            Operator::Equal => Ok(orders),
            Operator::NotEqual => Ok(!orders),
            _ => Err(format!(
                "`{}` is {}, which can't be ordered",
                self.name,
                symbol.value.kind()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str, value: &str) -> Result<bool, String> {
        let symbol = Symbol {
            value: SymbolValue::infer(value),
            origin: "--define".into(),
        };
        parse(text).expect(text).holds(&symbol)
    }

    #[test]
    fn conditions_compare_by_the_type_of_the_symbol() {
        for (text, value, expected) in [
            ("$n", "false", true),
            ("$n >= 3", "3", true),
            ("$n<3", "3", false),
            (" $n != -1 ", "-1", false),
            ("$n == \"prod\"", "prod", true),
            ("$n == 'prod'", "prod", true),
            ("$n != true", "false", true),
            ("$n == \"a && b\"", "a && b", true),
        ] {
            assert_eq!(holds(text, value), Ok(expected), "{text}");
        }
        for (text, value) in [
            ("$n == \"3\"", "3"),
            ("$n == 3", "\"3\""),
            ("$n < \"b\"", "a"),
            ("$n > true", "true"),
            ("$n == true", "yes"),
        ] {
            assert!(holds(text, value).is_err(), "{text}");
        }
    }

    #[test]
    fn malformed_conditions_say_where() {
        for (text, marked) in [
            ("$a && $b", "&&"),
            ("$a || $b", "||"),
            ("!$a", "!"),
            ("a == 1", "a == 1"),
            ("$", "$"),
            ("$1 == 2", "$1"),
            ("$a = 1", "= 1"),
            ("$a ==", "=="),
            ("$a == prod", "prod"),
            ("$a == 1.5", "1.5"),
            ("$a == \"x", "\"x"),
            ("$é", "$é"),
            ("$a b", "b"),
        ] {
            let malformed = parse(text).expect_err(text);
            assert_eq!(&text[malformed.range.clone()], marked, "{text}");
        }
        assert!(parse("  ").is_err());
    }
}
