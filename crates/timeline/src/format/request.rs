//! What a request to a model must be like: `match`, and the parts of `assert.request`.

use super::asserts::mappings;
use super::loader::Alias;
use super::loader::Loader;
use super::model_fields;
use super::pieces::pattern_of;
use crate::model::{JsonTest, NameGlob, RequestCheck, RequestMatch, TextTest};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::Object;
use cuecard_source::value::cut;
use cuecard_source::value::fields::Field;
use serde_json_path::JsonPath;

pub(super) fn request_match(loader: &mut Loader<'_>, root: Object<'_>) -> Option<RequestMatch> {
    let known = model_fields::MATCH;
    section(loader, root, "match", known, &[], |loader, object| {
        let apis = [
            "chat",
            "responses",
            "messages",
            "gemini",
            "openai",
            "anthropic",
        ];
        let api = loader
            .reader
            .one_of(object, "api", "`match.api`", &apis.map(|api| (api, api)));
        let headers = object.get("header").map_or(&[][..], Node::members);
        let pointer = object.child_pointer("header");
        let inner = object.get("header").map(|node| Object {
            node,
            pointer: &pointer,
        });
        let headers = headers.iter().filter_map(|member| {
            let test = text_test(loader, inner?, &member.key)?;
            Some((member.key.to_ascii_lowercase(), test))
        });
        let headers = headers.collect();
        RequestMatch {
            api: api.map(str::to_owned),
            model: glob(loader, object, "model"),
            system: text_test(loader, object, "system"),
            tools: loader.texts(object, "tools"),
            headers,
            text: text_test(loader, object, "text"),
            json: json_checks(loader, object, "match"),
            span: object.node.span,
        }
    })
}

/// A name with `*` and `?`.
pub(super) fn glob(loader: &mut Loader<'_>, object: Object<'_>, key: &str) -> Option<NameGlob> {
    let text = loader.filled(object, key)?;
    let pattern = regex::escape(&text)
        .replace("\\*", ".*")
        .replace("\\?", ".");
    // What is escaped is always valid; only its size may not be.
    match regex::Regex::new(&format!("^(?s:{pattern})$")) {
        Ok(pattern) => Some(NameGlob { text, pattern }),
        Err(_) => {
            let at = object.child_pointer(key);
            loader.invalid(object.node.span, &at, format!("`{key}` is too long"));
            None
        }
    }
}

/// A text that must be contained, or a mapping with one test.
pub(super) fn text_test(
    loader: &mut Loader<'_>,
    object: Object<'_>,
    key: &str,
) -> Option<TextTest> {
    let node = loader.reader.get(object, key)?;
    let pointer = object.child_pointer(key);
    let what = format!("`{key}`");
    if !matches!(node.kind, NodeKind::Object(_)) {
        return loader.filled(object, key).map(TextTest::Contains);
    }
    let node = loader.mapping(node, &pointer, &what, model_fields::TEXT_TESTS, &[])?;
    let inner = Object {
        node: &node,
        pointer: &pointer,
    };
    match node.members() {
        [only] => test_of(loader, inner, &only.key),
        _ => {
            let message = format!("{what} needs one of `equals`, `contains` and `regex`");
            loader.invalid(node.span, &pointer, message);
            None
        }
    }
}

fn test_of(loader: &mut Loader<'_>, object: Object<'_>, key: &str) -> Option<TextTest> {
    match key {
        "equals" => loader.text(object, "equals").map(TextTest::Equals),
        "contains" => loader.filled(object, "contains").map(TextTest::Contains),
        "regex" => {
            let at = object.child_pointer("regex");
            pattern_of(&mut loader.reader, object.get("regex")?, &at, "`regex`")
                .map(TextTest::Regex)
        }
        _ => None,
    }
}

/// The checks under `json`, of what `whose` is about.
fn json_checks(loader: &mut Loader<'_>, object: Object<'_>, whose: &str) -> Vec<RequestCheck> {
    let known = model_fields::REQUEST_JSON;
    let items = mappings(loader, object, "json", whose, known);
    let checks = items.into_iter().filter_map(|(item, pointer, _)| {
        let object = Object {
            node: &item,
            pointer: &pointer,
        };
        json_check(loader, object, whose)
    });
    checks.collect()
}

/// An entry of `json`.
pub(super) fn json_check(
    loader: &mut Loader<'_>,
    object: Object<'_>,
    whose: &str,
) -> Option<RequestCheck> {
    let whose = format!("`{whose}.json`");
    let text = loader.required(object, "path", &whose, "path: $.temperature")?;
    let path = match JsonPath::parse(&text) {
        Ok(path) => path,
        Err(error) => {
            let span = object
                .get("path")
                .map_or(object.node.span, |node| node.span);
            let message = format!("`{}` is not a valid JSONPath: {error}", cut(&text, 60));
            loader.invalid(span, &object.child_pointer("path"), message);
            return None;
        }
    };
    let tests = ["equals", "contains", "regex", "exists"];
    let given: Vec<&str> = tests
        .into_iter()
        .filter(|key| object.get(key).is_some())
        .collect();
    let test = match given[..] {
        ["equals"] => JsonTest::Equals(object.get("equals")?.to_value()),
        ["exists"] => JsonTest::Exists(loader.flag(object, "exists")?),
        [key] => JsonTest::Text(test_of(loader, object, key)?),
        _ => {
            let message =
                format!("{whose} needs one of `equals`, `contains`, `regex` and `exists`");
            loader.invalid(object.node.span, object.pointer, message);
            return None;
        }
    };
    Some(RequestCheck::Json { path, test })
}

/// Reads the mapping under a key; `None` if it is absent or no mapping.
fn section<T>(
    loader: &mut Loader<'_>,
    parent: Object<'_>,
    key: &str,
    known: &'static [Field],
    aliases: &[Alias],
    read: impl FnOnce(&mut Loader<'_>, Object<'_>) -> T,
) -> Option<T> {
    let node = loader.reader.get(parent, key)?;
    let pointer = parent.child_pointer(key);
    let node = loader.mapping(node, &pointer, &format!("`{key}`"), known, aliases)?;
    let object = Object {
        node: &node,
        pointer: &pointer,
    };
    Some(read(loader, object))
}
