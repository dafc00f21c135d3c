//! Writes JSON as YAML that people like to read: blocks, short values in one line, texts of several lines as they are.

use serde_json::Value as Json;

/// A value that is no longer than this stands in one line, in characters with its indentation.
const WIDTH: usize = 110;
/// A value that is nested deeper than this stands in a block.
const FLOW_DEPTH: usize = 4;
/// Words that readers of YAML take for something else than text.
const WORDS: &[&str] = &[
    "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf",
];

/// The text of `value`, which ends with a line feed. [`parse`](super::parse) reads the same value back.
pub fn write(value: &Json) -> String {
    let mut text = String::new();
    match value {
        Json::Object(_) | Json::Array(_) if !is_empty(value) => block(&mut text, value, 0, true),
        _ => {
            scalar(&mut text, value, 0);
            text.push('\n');
        }
    }
    text
}

/// A mapping or a list in a block. With `is_indented` its first line is to be indented too.
fn block(text: &mut String, value: &Json, indent: usize, is_indented: bool) {
    let mut is_first = !is_indented;
    let mut begin = |text: &mut String| {
        if !std::mem::take(&mut is_first) {
            push_spaces(text, indent);
        }
    };
    match value {
        Json::Object(members) => {
            for (key, member) in members {
                begin(text);
                key_text(text, key);
                text.push(':');
                after_key(text, member, indent, key.chars().count() + 2);
            }
        }
        Json::Array(items) => {
            for item in items {
                begin(text);
                text.push_str("- ");
                match item {
                    // A mapping in a list reads better without braces.
                    Json::Object(_) if !is_empty(item) => block(text, item, indent + 2, false),
                    Json::Array(_) if !is_empty(item) && !fits(item, indent + 2) => {
                        block(text, item, indent + 2, false);
                    }
                    _ => {
                        scalar(text, item, indent + 2);
                        text.push('\n');
                    }
                }
            }
        }
        _ => {}
    }
}

fn after_key(text: &mut String, member: &Json, indent: usize, key_length: usize) {
    let is_list_of_mappings = member
        .as_array()
        .is_some_and(|items| items.iter().any(Json::is_object));
    let is_nested = matches!(member, Json::Object(_) | Json::Array(_)) && !is_empty(member);
    if is_nested && (is_list_of_mappings || !fits(member, indent + key_length)) {
        text.push('\n');
        block(text, member, indent + 2, true);
    } else {
        text.push(' ');
        scalar(text, member, indent + 2);
        text.push('\n');
    }
}

/// Whether it can stand in one line.
fn fits(value: &Json, column: usize) -> bool {
    if depth(value) > FLOW_DEPTH || has_lines(value) {
        return false;
    }
    let mut line = String::new();
    flow(&mut line, value);
    column + line.chars().count() <= WIDTH
}

fn depth(value: &Json) -> usize {
    match value {
        Json::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Json::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Whether it holds a text that is better written in several lines.
fn has_lines(value: &Json) -> bool {
    match value {
        Json::String(text) => is_literal(text),
        Json::Array(items) => items.iter().any(has_lines),
        Json::Object(members) => members.values().any(has_lines),
        _ => false,
    }
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// A value that needs no block, but for a text of several lines, which is indented by `indent`.
fn scalar(text: &mut String, value: &Json, indent: usize) {
    match value {
        Json::String(said) if is_literal(said) => {
            text.push_str(if said.ends_with('\n') { "|" } else { "|-" });
            for line in said.lines() {
                text.push('\n');
                if !line.is_empty() {
                    push_spaces(text, indent.max(2));
                    text.push_str(line);
                }
            }
        }
        _ => flow(text, value),
    }
}

fn flow(text: &mut String, value: &Json) {
    match value {
        Json::Array(items) => {
            text.push('[');
            for (idx, item) in items.iter().enumerate() {
                if idx > 0 {
                    text.push_str(", ");
                }
                match item {
                    // Beside other values a text is best told by its quotes.
                    Json::String(said) => quoted(text, said),
                    _ => flow(text, item),
                }
            }
            text.push(']');
        }
        Json::Object(members) if members.is_empty() => text.push_str("{}"),
        Json::Object(members) => {
            text.push_str("{ ");
            for (idx, (key, member)) in members.iter().enumerate() {
                if idx > 0 {
                    text.push_str(", ");
                }
                key_text(text, key);
                text.push_str(": ");
                flow(text, member);
            }
            text.push_str(" }");
        }
        Json::String(said) if is_plain(said) => text.push_str(said),
        Json::String(said) => quoted(text, said),
        Json::Null | Json::Bool(_) | Json::Number(_) => text.push_str(&value.to_string()),
    }
}

fn key_text(text: &mut String, key: &str) {
    match is_plain(key) {
        true => text.push_str(key),
        false => quoted(text, key),
    }
}

/// Whether a text means itself without quotes: one word that begins with a letter and is none of the known words.
fn is_plain(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    text.len() <= WIDTH
        && text
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && text.bytes().all(is_word)
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a text can stand as it is, line by line: nothing at the ends of its lines is lost, and nothing in it is
/// invisible.
fn is_literal(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    body.contains('\n')
        && !body.ends_with('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && body
            .split('\n')
            .all(|line| !line.ends_with([' ', '\t']) && !line.starts_with('\t'))
        && text
            .chars()
            .all(|character| character == '\n' || character == '\t' || !is_hidden(character))
}

/// Whether a character is to be written by its number.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

/// A text in quotes, with the escapes of JSON.
fn quoted(text: &mut String, said: &str) {
    for character in Json::from(said).to_string().chars() {
        match is_hidden(character) {
            true => text.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => text.push(character),
        }
    }
}

fn push_spaces(text: &mut String, count: usize) {
    text.extend(std::iter::repeat_n(' ', count));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::parse;
    use super::*;
    use crate::json::Limits;

    fn read(text: &str) -> Json {
        let parsed = parse(text, &Limits::default());
        assert!(parsed.errors.is_empty(), "{:?}\n{text}", parsed.errors);
        assert!(parsed.doubts.is_empty(), "{:?}\n{text}", parsed.doubts);
        parsed.root.expect("a value").to_value()
    }

    #[test]
    fn it_is_written_as_people_write_it() {
        let value = json!({
            "name": "fix the test",
            "server": {"models": ["m-1"]},
            "timeline": [
                {"userInputs": [[0, "Fix it"]]},
                {"llmResponse": [{"think": [[300, "Hm."]]}, {"assistant": [[12, "One\nTwo"]]}], "usage": {"input_tokens": 3}},
                {"runCmd": {"cmd": "make\nmake test\n"}, "status": "error"},
                {"llmResponse": []},
            ],
        });
        let expected = r#"name: "fix the test"
server: { models: ["m-1"] }
timeline:
  - userInputs: [[0, "Fix it"]]
  - llmResponse:
      - think: [[300, "Hm."]]
      - assistant:
          - - 12
            - |-
              One
              Two
    usage: { input_tokens: 3 }
  - runCmd:
      cmd: |
        make
        make test
    status: error
  - llmResponse: []
"#;
        assert_eq!(write(&value), expected);
        assert_eq!(read(expected), value);
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            any::<f64>().prop_filter_map("finite", |number| {
                serde_json::Number::from_f64(number).map(Json::Number)
            }),
            any::<String>().prop_map(Json::from),
            "[ a-c\n\t:#'\"|>\\-\\[{,%@`!&*?~0-9.\r\u{85}\u{2028}]{0,12}".prop_map(Json::from),
            prop::sample::select(vec![
                "yes", "0x1f", "1_000", "null", "~", "-", ".5", "1e3", "a: b", "a #b", "=", "<<"
            ])
            .prop_map(Json::from),
        ];
        leaf.prop_recursive(6, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
                prop::collection::vec(("[a-z \n.:0-9<~]{0,6}", inner), 0..5)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in any_json()) {
            let text = write(&value);
            prop_assert_eq!(read(&text), value, "{}", text);
        }
    }
}
