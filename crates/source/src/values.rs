//! Values that several formats have: JSONPaths, regular expressions, JSON Schemas.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use jsonschema::error::ValidationErrorKind;
use referencing::meta;
use regex::Regex;
use serde::Deserializer;
use serde_json::Map;
use serde_json_path::JsonPath;

use super::reader::{Reader, found};
use crate::decode::by_hand;
use crate::diagnostic::did_you_mean;
use crate::json::{Node, NodeKind};
use crate::matching::schema_validator;
use crate::value::{Json, cut, pointer_steps, push_pointer};

/// A type of integers, or of those that may be absent.
pub trait Integer: Sized + 'static {
    /// The number, if it fits.
    fn of(number: i64) -> Option<Self>;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Integer for $type {
            fn of(number: i64) -> Option<Self> {
                Self::try_from(number).ok()
            }
        }
    )*};
}

integers! { u8 u16 u32 u64 usize i32 i64 }

impl<T: Integer> Integer for Option<T> {
    fn of(number: i64) -> Option<Self> {
        T::of(number).map(Some)
    }
}

/// Reads an integer from `LEAST` to `MOST`, but for 0 if it may be negative: for `#[serde(deserialize_with)]`.
///
/// # Errors
/// It is none.
pub fn integer<'de, const LEAST: i64, const MOST: i64, D: Deserializer<'de>, T: Integer>(
    deserializer: D,
) -> Result<T, D::Error> {
    by_hand(deserializer, T::of(LEAST), |reader, node, pointer| {
        integer_of(reader, node, pointer, LEAST..=MOST).and_then(T::of)
    })
}

/// The integer that a value must be. Reports if it is none of these.
pub fn integer_of(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    range: RangeInclusive<i64>,
) -> Option<i64> {
    let (least, most) = (*range.start(), *range.end());
    let number = node.to_value().as_i64();
    let number = number.filter(|number| range.contains(number) && (least >= 0 || *number != 0));
    if number.is_none() {
        let key = pointer_steps(pointer).last().unwrap_or_default();
        let sign = if least < 0 { ", but for 0" } else { "" };
        let found = found(node);
        let message = format!(
            "`{}` must be an integer from {least} to {most}{sign}, not {found}",
            cut(&key, 100)
        );
        let code = reader.format().value;
        reader.error_at(code, node.span, pointer, message);
    }
    number
}

/// A JSONPath with whether it is singular: RFC 9535 lets only singular queries be compared, so the
/// library's own parser decides it.
pub fn json_path(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<(JsonPath, bool)> {
    let NodeKind::String(text) = &node.kind else {
        reader.wrong_type(node, pointer, "a JSONPath", "a string");
        return None;
    };
    match JsonPath::parse(text) {
        Ok(path) => {
            if let Some(pattern) = unreadable_pattern(text) {
                let message = format!(
                    "the regular expression `{}` in the path is invalid, so it matches nothing",
                    cut(&pattern, 60)
                );
                let diagnostic = reader.error(reader.format().path, node.span, message);
                diagnostic.pointer = Some(pointer.to_owned());
                return None;
            }
            let singular = is_singular(text);
            Some((path, singular))
        }
        Err(error) => {
            let at = text.floor_char_boundary(error.position());
            let span = match text[at..].chars().next() {
                Some(first) => reader.part(node, at..at + first.len_utf8()),
                None => node.span,
            };
            // Where the library has no word for it, its place must do.
            let reason = match error.message().rsplit(", ").next() {
                None | Some("parser error") => "unexpected text from here on",
                Some(reason) => reason,
            };
            let message = format!("`{}` is not a valid JSONPath: {reason}", cut(text, 100));
            let help = match with_quotes(text, at) {
                Some(quoted) => format!("a name with a `-` needs brackets and quotes: {quoted}"),
                None => "a JSONPath starts at the result, which is `$`: $.number  $.items[0].id  $.items[*].id  $.items[?@.price < 10]".to_owned(),
            };
            let diagnostic = reader.error(reader.format().path, span, message);
            diagnostic.pointer = Some(pointer.to_owned());
            diagnostic.help = Some(help);
            None
        }
    }
}

/// The path with the name in brackets that breaks off at `at`, because it has a `-`.
fn with_quotes(path: &str, at: usize) -> Option<String> {
    let is_part = |character: char| character.is_alphanumeric() || "_-".contains(character);
    let rest = path[at..].strip_prefix('-')?;
    let (before, first) = path[..at].rsplit_once('.')?;
    let end = rest
        .find(|character| !is_part(character))
        .unwrap_or(rest.len());
    let (rest, after) = rest.split_at(end);
    let is_name = !first.is_empty() && first.chars().all(is_part);
    is_name.then(|| format!("{before}[\"{first}-{rest}\"]{after}"))
}

/// The part of a path that stands before its first wildcard, filter or slice.
pub fn before_wildcard(path: &JsonPath) -> JsonPath {
    let text = path.to_string();
    text.char_indices()
        .rev()
        .filter(|(_, sign)| matches!(sign, '.' | '['))
        .filter(|(at, _)| is_singular(&text[..*at]))
        .find_map(|(at, _)| JsonPath::parse(&text[..at]).ok())
        .unwrap_or_default()
}

/// Whether a path can match one value at most.
fn is_singular(path: &str) -> bool {
    JsonPath::parse(&format!("$[?{} == 1]", path.trim())).is_ok()
}

/// The first regular expression in a path that can't be read: to `match` and `search` nothing matches it.
fn unreadable_pattern(path: &str) -> Option<String> {
    static CALLS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(?s)\b(?:match|search)\s*\(.*?,\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\)"#,
        )
        .expect("a fixed pattern")
    });
    let texts = CALLS.captures_iter(path);
    let mut patterns = texts.filter_map(|call| {
        let (is_double, text) = match (call.get(1), call.get(2)) {
            (Some(single), _) => (false, single.as_str()),
            (None, double) => (true, double?.as_str()),
        };
        let text = match is_double {
            true => text.to_owned(),
            false => text.replace("\\'", "'").replace('"', "\\\""),
        };
        serde_json::from_str::<String>(&format!("\"{text}\"")).ok()
    });
    patterns.find(|pattern| Regex::new(pattern).is_err())
}

/// The regular expression of `matches`.
pub fn pattern(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Regex> {
    regular_expression(reader, node, pointer, "`matches`", Regex::new)
}

/// A regular expression, compiled by `compile`.
pub fn regular_expression(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    what: &str,
    compile: impl FnOnce(&str) -> Result<Regex, regex::Error>,
) -> Option<Regex> {
    let NodeKind::String(text) = &node.kind else {
        reader.wrong_type(node, pointer, what, "a regular expression in a string");
        return None;
    };
    match compile(text) {
        Ok(regex) => Some(regex),
        Err(error) => {
            invalid(
                reader,
                node,
                pointer,
                format!(
                    "`{}` is not a valid regular expression: {}",
                    cut(text, 100),
                    crate::matching::regex_reason(&error)
                ),
            );
            None
        }
    }
}

/// A schema as JSON, after a look at whether it is one.
pub fn schema(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Json> {
    let schema = node.to_value();
    let error = match schema_validator(&schema) {
        Ok(_) if unknown_keywords(reader, node, pointer) => return None,
        Ok(_) => return Some(schema),
        Err(error) => error,
    };
    let path = error.instance_path().as_str().to_owned();
    let place = below(node, &path);
    let value = place.to_value();
    let keyword = cut(path.rsplit('/').next().unwrap_or_default(), 40);
    let reason = match error.kind() {
        // Its own words are those of the schema of schemas.
        ValidationErrorKind::AnyOf { .. } => {
            format!("`{keyword}` can't be {}", cut(&value.to_string(), 60))
        }
        _ if path.is_empty() => cut(&error.to_string(), 200).into_owned(),
        _ => format!("`{keyword}`: {}", cut(&error.to_string(), 200)),
    };
    let types = value
        .as_array()
        .map_or(std::slice::from_ref(&value), |all| all);
    let mut types = types.iter().filter_map(Json::as_str);
    let unknown = types.find(|word| keyword == "type" && !TYPES.contains(word));
    let proposal = unknown.and_then(|word| did_you_mean(word, TYPES.iter().copied()));
    let message = format!("invalid JSON Schema: {reason}");
    let pointer = format!("{pointer}{path}");
    let code = reader.format().check;
    let found = reader.error_at(code, place.span, &pointer, message);
    found.label = proposal.map(|word| format!("did you mean `{word}`?"));
    None
}

/// Refuses keywords that are misspelt, since a schema takes what it does not know for a remark, and any value with it.
/// Whether there are any.
fn unknown_keywords(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> bool {
    let mut is_any = false;
    for member in node.members() {
        let (key, pointer) = (member.key.as_str(), pointer_to(pointer, &member.key));
        // `note` is no misspelt `not`.
        let proposal = did_you_mean(key, KEYWORDS.iter().copied()).filter(|word| word.len() > 3);
        if let (Some(proposal), false) = (proposal, KEYWORDS.contains(&key)) {
            let diagnostic = reader.error(
                reader.format().check,
                member.key_span,
                format!("unknown JSON Schema keyword `{}`", cut(key, 40)),
            );
            diagnostic.pointer = Some(pointer.clone());
            diagnostic.label = Some(format!("did you mean `{proposal}`?"));
            is_any = true;
        }
        let inner = &member.value;
        if OF_NAMES.contains(&key) {
            for named in inner.members() {
                is_any |= unknown_keywords(reader, &named.value, &pointer_to(&pointer, &named.key));
            }
        } else if OF_SCHEMAS.contains(&key) {
            is_any |= unknown_keywords(reader, inner, &pointer);
            for (at, item) in inner.as_array().unwrap_or_default().iter().enumerate() {
                is_any |= unknown_keywords(reader, item, &format!("{pointer}/{at}"));
            }
        }
    }
    is_any
}

fn pointer_to(outer: &str, key: &str) -> String {
    let mut pointer = outer.to_owned();
    push_pointer(&mut pointer, key);
    pointer
}

/// Keywords with a schema for each of several names.
const OF_NAMES: &[&str] = &[
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// Keywords with a schema, or a list of them.
const OF_SCHEMAS: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The keywords of JSON Schema, drafts 4 to 2020-12, and what OpenAPI adds.
static KEYWORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let drafts = [
        &meta::DRAFT4,
        &meta::DRAFT7,
        &meta::DRAFT201909_CORE,
        &meta::DRAFT201909_APPLICATOR,
        &meta::DRAFT201909_VALIDATION,
        &meta::DRAFT202012_CORE,
        &meta::DRAFT202012_APPLICATOR,
        &meta::DRAFT202012_UNEVALUATED,
        &meta::DRAFT202012_VALIDATION,
        &meta::DRAFT202012_META_DATA,
        &meta::DRAFT202012_CONTENT,
    ];
    let keywords = drafts
        .into_iter()
        .filter_map(|draft| draft["properties"].as_object());
    let keywords = keywords.flat_map(Map::keys).map(String::as_str);
    let of_openapi = [
        "discriminator",
        "example",
        "externalDocs",
        "nullable",
        "xml",
    ];
    keywords.chain(of_openapi).collect()
});

/// The types that JSON Schema knows.
const TYPES: &[&str] = &[
    "null", "boolean", "integer", "number", "string", "array", "object",
];

/// The node at a JSON pointer, as far as there is one.
fn below<'n>(node: &'n Node, pointer: &str) -> &'n Node {
    let mut node = node;
    for step in pointer_steps(pointer) {
        match node.part(&step) {
            Some(next) => node = next,
            None => break,
        }
    }
    node
}

fn invalid(reader: &mut Reader<'_>, node: &Node, pointer: &str, message: String) {
    let diagnostic = reader.error(reader.format().check, node.span, message);
    diagnostic.pointer = Some(pointer.to_owned());
}
