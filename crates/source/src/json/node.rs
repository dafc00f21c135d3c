//! The tree that the reader builds.

use std::fmt;

use super::number::number_value;
use crate::Span;
use crate::value::push_pointer;

/// A parsed value with the span of its whole text.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What the value is.
    pub kind: NodeKind,
    /// Where it stands, quotes and brackets included.
    pub span: Span,
}

/// The six kinds of JSON values.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it was written, such as `1.50`.
    Number(String),
    /// A string with its escapes decoded.
    String(String),
    /// The items in order.
    Array(Vec<Node>),
    /// The members in order, duplicate keys included.
    Object(Vec<Member>),
}

/// One key of an object with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The key with its escapes decoded.
    pub key: String,
    /// Where the key stands, quotes included.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl NodeKind {
    /// The value at a place.
    pub fn at(self, span: Span) -> Node {
        Node { kind: self, span }
    }
}

impl Member {
    /// A key with its value.
    pub fn new(key: impl Into<String>, key_span: Span, value: Node) -> Self {
        Self {
            key: key.into(),
            key_span,
            value,
        }
    }
}

impl Node {
    /// The kind in a word for messages: null, boolean, number, string, array or object.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            NodeKind::Null => "null",
            NodeKind::Bool(_) => "boolean",
            NodeKind::Number(_) => "number",
            NodeKind::String(_) => "string",
            NodeKind::Array(_) => "array",
            NodeKind::Object(_) => "object",
        }
    }

    /// The value under `key`; of duplicates, which are an error anyway, the first. `None` for anything but an object.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.members()
            .iter()
            .find(|member| member.key == key)
            .map(|member| &member.value)
    }

    /// The value under a key of an object, or at an index of an array, as a step of a JSON pointer names it.
    pub fn part(&self, step: &str) -> Option<&Node> {
        match &self.kind {
            NodeKind::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => self.get(step),
        }
    }

    /// Calls `visit` with this value and with each in it, and the pointer to it.
    pub fn walk<'n>(&'n self, pointer: &mut String, visit: &mut dyn FnMut(&'n Self, &str)) {
        visit(self, pointer);
        let length = pointer.len();
        let mut below = |step: &str, value: &'n Self| {
            push_pointer(pointer, step);
            value.walk(pointer, visit);
            pointer.truncate(length);
        };
        match &self.kind {
            NodeKind::Array(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(idx, item)| below(&idx.to_string(), item));
            }
            _ => {
                let members = self.members().iter();
                members.for_each(|member| below(&member.key, &member.value));
            }
        }
    }

    /// The members of an object, empty for anything else.
    pub fn members(&self) -> &[Member] {
        match &self.kind {
            NodeKind::Object(members) => members,
            _ => &[],
        }
    }

    /// The items of an array.
    pub fn as_array(&self) -> Option<&[Node]> {
        match &self.kind {
            NodeKind::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members of an object. Unlike [`Node::members`] it tells an empty object from something else.
    pub fn as_object(&self) -> Option<&[Member]> {
        match &self.kind {
            NodeKind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind {
            NodeKind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// A number as it was written.
    pub fn as_number_text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Number(text) => Some(text),
            _ => None,
        }
    }

    /// A number that is written as an integer and fits, so not `1.0`.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number_text()?.parse().ok()
    }

    /// A number that is written as an integer and fits, so not `1.0`.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number_text()?.parse().ok()
    }

    /// The nearest `f64` to a number.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number_text()?.parse().ok()
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, NodeKind::Null)
    }

    /// The same value without spans, members in order. Numbers become `i64` or `u64` where they are written as
    /// integers and fit, the text of a larger integer, else the nearest `f64`. In a tree that was parsed with errors the
    /// first of duplicate keys counts, and a number out of range becomes null.
    pub fn to_value(&self) -> serde_json::Value {
        match &self.kind {
            NodeKind::Null => serde_json::Value::Null,
            NodeKind::Bool(value) => serde_json::Value::Bool(*value),
            NodeKind::Number(text) => number_value(text),
            NodeKind::String(text) => serde_json::Value::String(text.clone()),
            NodeKind::Array(items) => {
                serde_json::Value::Array(items.iter().map(Node::to_value).collect())
            }
            NodeKind::Object(members) => {
                let mut map = serde_json::Map::with_capacity(members.len());
                for member in members {
                    map.entry(member.key.as_str())
                        .or_insert_with(|| member.value.to_value());
                }
                serde_json::Value::Object(map)
            }
        }
    }
}

/// The JSON text without spaces, with each number as it was written.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = |idx: usize| if idx == 0 { "" } else { "," };
        match &self.kind {
            NodeKind::Number(text) => f.write_str(text),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::String(_) => {
                write!(f, "{}", self.to_value())
            }
            NodeKind::Array(items) => {
                f.write_str("[")?;
                for (idx, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", separator(idx))?;
                }
                f.write_str("]")
            }
            NodeKind::Object(members) => {
                f.write_str("{")?;
                for (idx, member) in members.iter().enumerate() {
                    let key = serde_json::Value::from(member.key.as_str());
                    write!(f, "{}{key}:{}", separator(idx), member.value)?;
                }
                f.write_str("}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, parse};
    use super::*;

    fn root(text: &str) -> Node {
        let parsed = parse(text, &Limits::default());
        assert_eq!(parsed.errors, []);
        parsed.root.expect("a valid text has a root")
    }

    #[test]
    fn the_text_has_numbers_as_they_were_written() {
        let text = r#" { "a\n" : [ 1.50 , 18446744073709551616, 1e3, -0 ] , "b": {"c": [null, true, "é"]} } "#;
        let expected = r#"{"a\n":[1.50,18446744073709551616,1e3,-0],"b":{"c":[null,true,"é"]}}"#;
        assert_eq!(root(text).to_string(), expected);
    }

    #[test]
    fn spans_cover_keys_and_values() {
        let text = r#" { "a" : [ 1 , "é" ] , "b":null } "#;
        let node = root(text);
        let slice = |span: Span| &text[span.range()];
        assert_eq!(node.span, Span::new(1, text.len() - 1));
        assert_eq!(slice(node.members()[0].key_span), r#""a""#);
        let array = node.get("a").expect("it is there");
        assert_eq!(slice(array.span), r#"[ 1 , "é" ]"#);
        assert_eq!(slice(array.as_array().expect("an array")[1].span), r#""é""#);
        assert_eq!(slice(node.get("b").expect("it is there").span), "null");
    }

    #[test]
    fn accessors_answer_only_for_their_kind() {
        let node = root(r#"{"n":null,"t":true,"i":-3,"f":2.50,"s":"x","a":[],"o":{}}"#);
        let names: Vec<_> = node
            .members()
            .iter()
            .map(|member| member.value.kind_name())
            .collect();
        assert_eq!(
            names,
            [
                "null", "boolean", "number", "number", "string", "array", "object"
            ]
        );
        let get = |key: &str| node.get(key).expect("it is there");
        assert!(get("n").is_null() && !get("t").is_null());
        assert_eq!((get("t").as_bool(), get("s").as_bool()), (Some(true), None));
        assert_eq!(
            (get("i").as_i64(), get("i").as_u64(), get("i").as_f64()),
            (Some(-3), None, Some(-3.0))
        );
        assert_eq!(
            (get("f").as_number_text(), get("f").as_i64()),
            (Some("2.50"), None)
        );
        assert_eq!((get("s").as_str(), get("s").as_f64()), (Some("x"), None));
        assert_eq!(
            (get("a").as_array(), get("o").as_array()),
            (Some(&[][..]), None)
        );
        assert_eq!(
            (get("o").as_object(), get("a").as_object()),
            (Some(&[][..]), None)
        );
        assert!(get("a").members().is_empty());
        assert_eq!(node.get("missing"), None);
    }

    #[test]
    fn of_duplicate_keys_the_first_counts() {
        let node = parse(r#"{"a":1,"a":2}"#, &Limits::default())
            .root
            .expect("a best effort");
        assert_eq!(node.members().len(), 2);
        assert_eq!(node.get("a").and_then(Node::as_i64), Some(1));
        assert_eq!(node.to_value(), serde_json::json!({"a": 1}));
    }

    #[test]
    fn the_deepest_tree_survives_what_walks_it() {
        let limits = Limits {
            max_depth: usize::MAX,
            ..Limits::default()
        };
        let text = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(parse(&text(Limits::DEEPEST), &limits).errors.len(), 1);
        let parsed = parse(&text(Limits::DEEPEST - 1), &limits);
        assert_eq!(parsed.errors, []);
        let node = parsed.root.expect("a valid text has a root");
        assert_eq!(node.clone(), node);
        assert_eq!(node.to_value().to_string(), text(Limits::DEEPEST - 1));
        assert!(format!("{node:?}").len() > Limits::DEEPEST);
    }
}
