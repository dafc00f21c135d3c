//! TOML: the same tree as of JSON, with spans into the TOML.

use std::ops::Range;

use ::toml::Spanned;
use ::toml::de::{DeInteger, DeTable, DeValue};

use super::Span;
use super::json::{Member, Node, NodeKind};
use super::mistake::{Mistake, MistakeKind, Parsed};

/// Reads one TOML text. What JSON has not is null in the value. The syntax bounds how deep it is nested.
pub fn parse(text: &str) -> Parsed {
    let (root, errors) = DeTable::parse_recoverable(text);
    let mut errors: Vec<Mistake> = errors
        .iter()
        .map(|error| {
            let span = error.span().map_or_else(Span::default, span);
            Mistake::new(MistakeKind::Syntax, span, error.message(), "")
        })
        .collect();
    if !errors.is_empty() {
        return Parsed::new(None, errors);
    }
    let whole = span(root.span());
    let root = Node {
        kind: table(root.into_inner(), &mut errors),
        span: whole,
    };
    Parsed::new(Some(root), errors)
}

fn table(table: DeTable<'_>, errors: &mut Vec<Mistake>) -> NodeKind {
    let mut members: Vec<Member> = table
        .into_iter()
        .map(|(key, value)| Member {
            key_span: span(key.span()),
            key: key.into_inner().into_owned(),
            value: node(value, errors),
        })
        .collect();
    members.sort_by_key(|member| member.key_span.start);
    NodeKind::Object(members)
}

fn node(value: Spanned<DeValue<'_>>, errors: &mut Vec<Mistake>) -> Node {
    let span = span(value.span());
    let mut refuse = |message: &str, help: &str| {
        errors.push(Mistake::new(MistakeKind::NotJson, span, message, help));
        NodeKind::Null
    };
    let kind = match value.into_inner() {
        DeValue::String(text) => NodeKind::String(text.into_owned()),
        DeValue::Boolean(value) => NodeKind::Bool(value),
        DeValue::Integer(integer) => match decimal(&integer) {
            Some(text) => NodeKind::Number(text),
            None => refuse("this number is too large", "write a smaller one"),
        },
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => NodeKind::Number(format!("{number:?}")),
            _ => refuse(
                "nothing in a config is infinite or no number",
                "write a number",
            ),
        },
        DeValue::Datetime(_) => refuse(
            "nothing in a config is a date or a time",
            "write it in quotes, if it is meant as a text",
        ),
        DeValue::Array(items) => {
            NodeKind::Array(items.into_iter().map(|item| node(item, errors)).collect())
        }
        DeValue::Table(members) => table(members, errors),
    };
    Node { kind, span }
}

/// An integer as JSON writes it.
fn decimal(integer: &DeInteger<'_>) -> Option<String> {
    let number = i128::from_str_radix(integer.as_str(), integer.radix()).ok()?;
    Some(number.to_string())
}

fn span(range: Range<usize>) -> Span {
    Span::new(range.start, range.end)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mistakes(text: &str) -> Vec<(String, String)> {
        let found = parse(text).errors.into_iter();
        found
            .map(|mistake| (mistake.message, text[mistake.span.range()].to_owned()))
            .collect()
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let text = "a = 'x'\nb = [1_000, 0x1F, +2, 0.5, true]\n[c.d]\n\"e f\" = { g = \"h\\n\" }\n";
        let root = parse(text).root.expect("it is valid");
        assert_eq!(
            root.to_value(),
            json!({"a": "x", "b": [1000, 31, 2, 0.5, true], "c": {"d": {"e f": {"g": "h\n"}}}})
        );
        let key = &root.members()[2].value.members()[0].value.members()[0];
        assert_eq!(&text[key.key_span.range()], "\"e f\"");
        assert_eq!(&text[key.value.members()[0].value.span.range()], "\"h\\n\"");
    }

    #[test]
    fn members_stand_in_the_order_of_the_file() {
        let root = parse("[z]\n[b]\n[a]\n").root.expect("it is valid");
        let keys: Vec<&str> = root
            .members()
            .iter()
            .map(|member| member.key.as_str())
            .collect();
        assert_eq!(keys, ["z", "b", "a"]);
    }

    #[test]
    fn what_json_has_not_is_refused_at_its_place() {
        let found = mistakes("a = 1979-05-27\nb = [inf, nan]\nc = 07:32:00");
        let places: Vec<&str> = found.iter().map(|(_, place)| place.as_str()).collect();
        assert_eq!(places, ["1979-05-27", "inf", "nan", "07:32:00"]);
    }

    #[test]
    fn mistakes_have_their_place() {
        let found = mistakes("[servers.a]\ncommand = npx\n[servers.a]\n");
        assert!(found.iter().any(|(_, place)| place == "npx"), "{found:?}");
        assert!(parse(&"[".repeat(100_000)).root.is_none());
        assert!(
            parse(&format!("a = {}", "[".repeat(100_000)))
                .root
                .is_none()
        );
        assert!(
            parse(&format!("{} = 1", vec!["a"; 100_000].join(".")))
                .root
                .is_none()
        );
    }
}
