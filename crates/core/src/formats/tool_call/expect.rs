//! Reads `output`, JSONPaths and `expect`.

use regex::Regex;
use serde_json_path::JsonPath;

use super::fields;
use super::reader::{Object, Reader, article};
use super::template::{from_node, is_name};
use crate::diagnostic::codes;
use crate::scenario::{Expectation, ExpectedTest, OutputRule};
use crate::source::json::{Member, Node, NodeKind, string_span};

pub(super) fn outputs(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<OutputRule> {
    let Some(node) = object.get("output") else {
        return Vec::new();
    };
    let pointer = object.child_pointer("output");
    let NodeKind::Object(members) = &node.kind else {
        reader.wrong_type(
            node,
            &pointer,
            "`output`",
            "an object of names and JSONPaths",
        );
        return Vec::new();
    };
    members
        .iter()
        .filter_map(|member| output(reader, member, &format!("{pointer}/{}", member.key)))
        .collect()
}

fn output(reader: &mut Reader<'_>, member: &Member, pointer: &str) -> Option<OutputRule> {
    if member.key.is_empty() || !member.key.chars().all(is_name) {
        let diagnostic = reader.error(
            codes::ID_INVALID,
            member.key_span,
            format!("no reference can name the output `{}`", member.key),
        );
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic.help = Some("use letters, digits, `_` and `-`".to_owned());
        return None;
    }
    let (path, singular) = json_path(reader, &member.value, pointer)?;
    Some(OutputRule {
        name: member.key.clone(),
        path,
        singular,
        name_span: member.key_span,
        span: member.value.span,
    })
}

/// A JSONPath with whether it is singular: RFC 9535 lets only singular queries be compared, so the
/// library's own parser decides it.
fn json_path(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<(JsonPath, bool)> {
    let NodeKind::String(text) = &node.kind else {
        reader.wrong_type(node, pointer, "a JSONPath", "a string");
        return None;
    };
    match JsonPath::parse(text) {
        Ok(path) => {
            let singular = JsonPath::parse(&format!("$[?{} == 1]", text.trim())).is_ok();
            Some((path, singular))
        }
        Err(error) => {
            let at = error.position().min(text.len());
            let at = (0..=at)
                .rev()
                .find(|&at| text.is_char_boundary(at))
                .unwrap_or(0);
            let end = text[at..]
                .chars()
                .next()
                .map_or(at, |character| at + character.len_utf8());
            let span = if at == end {
                node.span
            } else {
                string_span(reader.source.text(), node.span, at..end)
            };
            let diagnostic = reader.error(
                codes::PATH_SYNTAX,
                span,
                format!("`{text}` is no JSONPath: {}", error.message()),
            );
            diagnostic.pointer = Some(pointer.to_owned());
            diagnostic.help = Some(if text.starts_with('$') {
                "examples: $.number  $.items[0].id  $.items[*].id  $.items[?@.price < 10]"
                    .to_owned()
            } else {
                format!(
                    "a JSONPath starts at the result, which is `$`: \"$.{}\"",
                    text.trim_start_matches('.')
                )
            });
            None
        }
    }
}

pub(super) fn expectations(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<Expectation> {
    let Some(node) = object.get("expect") else {
        return Vec::new();
    };
    let pointer = object.child_pointer("expect");
    match &node.kind {
        NodeKind::Object(_) => expectation(reader, node, &pointer).into_iter().collect(),
        NodeKind::Array(items) => items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| expectation(reader, item, &format!("{pointer}/{index}")))
            .collect(),
        _ => {
            reader.wrong_type(
                node,
                &pointer,
                "`expect`",
                "an object of checks, or an array of them",
            );
            Vec::new()
        }
    }
}

fn expectation(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Expectation> {
    let NodeKind::Object(members) = &node.kind else {
        reader.wrong_type(node, pointer, "an expectation", "an object of checks");
        return None;
    };
    let object = Object { node, pointer };
    reader.unknown_keys(object, &fields::names(fields::EXPECT), "this expectation");
    let mut json_path_rule = None;
    let mut tests = Vec::new();
    for member in members {
        let below = object.child_pointer(&member.key);
        match member.key.as_str() {
            "json_path" => {
                let (path, singular) = json_path(reader, &member.value, &below)?;
                json_path_rule = Some(OutputRule {
                    name: member.value.as_str().unwrap_or_default().to_owned(),
                    path,
                    singular,
                    name_span: member.key_span,
                    span: member.value.span,
                });
            }
            "equals" => tests.push(ExpectedTest::Equals(from_node(
                reader,
                &member.value,
                &below,
            ))),
            "contains" => tests.push(ExpectedTest::Contains(from_node(
                reader,
                &member.value,
                &below,
            ))),
            "matches" => {
                tests.extend(pattern(reader, &member.value, &below).map(ExpectedTest::Matches));
            }
            "json_schema" => {
                let schema = member.value.to_value();
                match jsonschema::validator_for(&schema) {
                    Ok(_) => tests.push(ExpectedTest::JsonSchema(schema)),
                    Err(error) => invalid(
                        reader,
                        &member.value,
                        &below,
                        format!("this is no JSON Schema: {error}"),
                    ),
                }
            }
            "max_ms" => match member.value.to_value().as_f64() {
                Some(limit) if limit >= 0.0 => tests.push(ExpectedTest::MaxMilliseconds(limit)),
                _ => reader.wrong_type(
                    &member.value,
                    &below,
                    "`max_ms`",
                    "a number of milliseconds",
                ),
            },
            _ => {}
        }
    }
    if tests.is_empty() {
        let diagnostic = reader.error(
            codes::EXPECT_INVALID,
            node.span,
            "this expectation checks nothing",
        );
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic.help =
            Some("give one of equals, contains, matches, json_schema, max_ms".to_owned());
        return None;
    }
    Some(Expectation {
        json_path: json_path_rule,
        tests,
        span: node.span,
    })
}

fn pattern(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Regex> {
    let NodeKind::String(text) = &node.kind else {
        reader.wrong_type(
            node,
            pointer,
            "`matches`",
            &format!(
                "a regular expression in a string, not {}",
                article(node.kind_name())
            ),
        );
        return None;
    };
    match Regex::new(text) {
        Ok(regex) => Some(regex),
        Err(error) => {
            invalid(
                reader,
                node,
                pointer,
                format!(
                    "`{text}` is no regular expression: {}",
                    crate::matching::regex_reason(&error)
                ),
            );
            None
        }
    }
}

fn invalid(reader: &mut Reader<'_>, node: &Node, pointer: &str, message: String) {
    let diagnostic = reader.error(codes::EXPECT_INVALID, node.span, message);
    diagnostic.pointer = Some(pointer.to_owned());
}
