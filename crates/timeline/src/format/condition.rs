//! The condition of a rule: `$name`, or `$name OP literal`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::symbols::{Symbol, SymbolValue};

/// A condition after reading.
#[derive(Debug, PartialEq)]
pub(super) struct RuleCondition {
    pub name: String,
    /// Where the name stands in the text, `$` included.
    pub name_range: Range<usize>,
    /// The operator and what is compared with.
    pub comparison: Option<(String, SymbolValue)>,
}

/// What a condition is, for those who wrote something else.
pub(super) const HELP: &str = "write `$name`, or `$name == value` with one of == != < <= > >= and a number, true, false or a quoted string; conditions can't be combined or negated: write a rule for each";

static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    let literal = r#"true|false|[+-]?[0-9]+|"[^"]*"|'[^']*'"#;
    let comparison = format!(r"(==|!=|<=|>=|<|>)\s*({literal})\s*");
    let pattern = format!(r"^\s*(\$[A-Za-z_][A-Za-z0-9_]*)\s*(?:{comparison})?$");
    Regex::new(&pattern).expect("the pattern is fixed")
});

/// Reads a condition. `None` if it is none.
pub(super) fn parse(text: &str) -> Option<RuleCondition> {
    let found = CONDITION.captures(text)?;
    let name = found.get(1)?;
    let comparison = match (found.get(2), found.get(3)) {
        (Some(operator), Some(literal)) => {
            Some((operator.as_str().to_owned(), value(literal.as_str())?))
        }
        _ => None,
    };
    Some(RuleCondition {
        name: name.as_str()[1..].to_owned(),
        name_range: name.range(),
        comparison,
    })
}

/// The value of a literal. `None` if it is too large.
fn value(literal: &str) -> Option<SymbolValue> {
    Some(match literal {
        "true" => SymbolValue::Flag(true),
        "false" => SymbolValue::Flag(false),
        quoted if quoted.starts_with(['"', '\'']) => {
            SymbolValue::Text(quoted[1..quoted.len() - 1].to_owned())
        }
        number => SymbolValue::Integer(number.parse().ok()?),
    })
}

impl RuleCondition {
    /// Whether it holds of a symbol that is defined. Fails, saying why, if the two can't be compared.
    pub(super) fn holds(&self, symbol: &Symbol) -> Result<bool, String> {
        use SymbolValue::{Flag, Integer, Text};
        let Some((operator, literal)) = &self.comparison else {
            return Ok(true);
        };
        let is_equality = matches!(operator.as_str(), "==" | "!=");
        let (name, kind) = (&self.name, symbol.value.kind());
        let ordering = match (&symbol.value, literal) {
            (Integer(one), Integer(other)) => one.cmp(other),
            (Text(one), Text(other)) if is_equality => one.cmp(other),
            (Flag(one), Flag(other)) if is_equality => one.cmp(other),
            (_, literal) if literal.kind() == kind => {
                return Err(format!("`{name}` is {kind}, which can't be ordered"));
            }
            (_, literal) => {
                let other = literal.kind();
                return Err(format!(
                    "`{name}` is {kind} and is compared with {literal}, which is {other}"
                ));
            }
        };
        Ok(match operator.as_str() {
            "==" => ordering.is_eq(),
            "!=" => ordering.is_ne(),
            "<" => ordering.is_lt(),
            "<=" => ordering.is_le(),
            ">" => ordering.is_gt(),
            _ => ordering.is_ge(),
        })
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
    fn nothing_else_is_a_condition() {
        for text in [
            "  ",
            "$a && $b",
            "$a || $b",
            "!$a",
            "a == 1",
            "$",
            "$1 == 2",
            "$a = 1",
            "$a ==",
            "$a == prod",
            "$a == 1.5",
            "$a == 99999999999999999999",
            "$a == \"x",
            "$é",
            "$a b",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(" $ab ").expect("a condition").name_range, 1..4);
    }
}
