//! Reads `output`, JSONPaths and `expect`.

use super::elements::elements;
use super::fields;
use super::reader::{Object, Reader};
use super::template::{from_node, from_string, holds_reference, is_name};
use crate::model::{Expectation, ExpectedTest, OutputRule, Template};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::matching::{regex_reason, takes_all};
use cuecard_source::value::cut;
use cuecard_source::values::{self, schema};
use regex::Regex;
use serde_json_path::JsonPath;

pub(super) fn outputs(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<OutputRule> {
    let Some(node) = reader.get(object, "output") else {
        return Vec::new();
    };
    let pointer = object.child_pointer("output");
    let NodeKind::Object(members) = &node.kind else {
        reader.wrong_type(
            node,
            &pointer,
            "`output`",
            "an object of names and JSONPaths or regular expressions",
        );
        return Vec::new();
    };
    let below = Object {
        node,
        pointer: &pointer,
    };
    members
        .iter()
        .filter_map(|member| output(reader, member, &below.child_pointer(&member.key)))
        .collect()
}

/// A JSONPath with whether it is singular.
fn json_path(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<(JsonPath, bool)> {
    let help = "write the path literally; references are filled in in `equals` and `contains`";
    match holds_reference(reader, node, pointer, "a JSONPath", help) {
        true => None,
        false => values::json_path(reader, node, pointer),
    }
}

/// The regular expression of `matches`.
pub(super) fn pattern(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Regex> {
    let help = "use `equals` or `contains`, where references are filled in";
    match holds_reference(reader, node, pointer, "a regular expression", help) {
        true => None,
        false => values::pattern(reader, node, pointer),
    }
}

fn output(reader: &mut Reader<'_>, member: &Member, pointer: &str) -> Option<OutputRule> {
    if member.key.is_empty() || !member.key.chars().all(is_name) {
        let message = match member.key.is_empty() {
            true => "the output's name is empty".to_owned(),
            false => format!("`{}` is not a valid output name", cut(&member.key, 100)),
        };
        let diagnostic = reader.error(codes::ID_INVALID, member.key_span, message);
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic.help = Some("use letters, digits, `_` and `-`".to_owned());
        return None;
    }
    let (path, singular, regex) = match &member.value.kind {
        NodeKind::Object(_) => by_regex(reader, member, pointer)?,
        _ => {
            let (path, singular) = json_path(reader, &member.value, pointer)?;
            (path, singular, None)
        }
    };
    Some(OutputRule {
        name: member.key.clone(),
        path,
        singular,
        regex,
        name_span: member.key_span,
        span: member.value.span,
    })
}

/// An output by a regular expression: `{"regex": "#(\\d+)", "from": "$.text"}`.
fn by_regex(
    reader: &mut Reader<'_>,
    member: &Member,
    pointer: &str,
) -> Option<(JsonPath, bool, Option<Regex>)> {
    let node = &member.value;
    let object = Object { node, pointer };
    reader.only_keys(object, fields::OUTPUT, codes::FIELD_UNKNOWN, "this output");
    let (path, singular) = match reader.get(object, "from") {
        Some(from) => json_path(reader, from, &object.child_pointer("from"))?,
        None => (JsonPath::parse("$").ok()?, true),
    };
    let regex = reader.required(object, "regex", "the output", "a regular expression")?;
    let below = object.child_pointer("regex");
    let NodeKind::String(text) = &regex.kind else {
        let what = "a regular expression in a string";
        reader.wrong_type(regex, &below, "`regex`", what);
        return None;
    };
    let help = "write the expression literally";
    if holds_reference(reader, regex, &below, "a regular expression", help) {
        return None;
    }
    let (problem, help) = match Regex::new(text) {
        // `^(.*)$` takes a whole text, also an empty one; `\d*` takes nothing of any.
        Ok(pattern) if pattern.find("\u{1}").is_none_or(|it| !it.is_empty()) => {
            return Some((path, singular, Some(pattern)));
        }
        Ok(_) => (
            "matches the empty text, so it matches everything".to_owned(),
            "use `+` instead of `*`",
        ),
        Err(error) => (
            format!(
                "is not a valid regular expression: {}",
                regex_reason(&error)
            ),
            "a literal `(` is written \"\\\\(\"; look-around is not supported",
        ),
    };
    let message = format!("`regex` of the output `{}` {problem}", member.key);
    let diagnostic = reader.error(codes::FIELD_VALUE, regex.span, message);
    diagnostic.pointer = Some(below);
    diagnostic.help = Some(help.to_owned());
    None
}

pub(super) fn expectations(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<Expectation> {
    let Some(node) = reader.get(object, "expect") else {
        return Vec::new();
    };
    let pointer = object.child_pointer("expect");
    match &node.kind {
        NodeKind::Object(_) => expectation(reader, node, &pointer).into_iter().collect(),
        NodeKind::Array(items) if items.is_empty() => {
            checks_nothing(reader, node, &pointer);
            Vec::new()
        }
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
    reader.only_keys(
        object,
        fields::EXPECT,
        codes::FIELD_UNKNOWN,
        "this expectation",
    );
    let mut json_path_rule = None;
    let is_strict = reader.flag(object, "strict", "`strict`").unwrap_or(false);
    let mut tests = Vec::new();
    let mut is_broken = false;
    for member in members {
        let below = object.child_pointer(&member.key);
        if let Some(what) = allows_anything(member) {
            let message = format!("`{}` is {what}: it matches everything", member.key);
            let diagnostic = reader.error(codes::EXPECT_INVALID, member.value.span, message);
            diagnostic.pointer = Some(below);
            diagnostic.help = Some("remove it, or say what is expected".to_owned());
            is_broken = true;
            continue;
        }
        match member.key.as_str() {
            // Null is a value only where a value is compared.
            key if member.value.is_null() && !matches!(key, "equals" | "contains") => {}
            "json_path" => {
                json_path_rule =
                    json_path(reader, &member.value, &below).map(|(path, singular)| OutputRule {
                        name: member.value.as_str().unwrap_or_default().to_owned(),
                        path,
                        singular,
                        regex: None,
                        name_span: member.key_span,
                        span: member.value.span,
                    });
                is_broken |= json_path_rule.is_none();
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
            "matches" => match pattern(reader, &member.value, &below) {
                Some(regex) if matches_everything(&regex) => {
                    let span = member.value.span;
                    let message = "`matches` matches every text";
                    let diagnostic = reader.error(codes::EXPECT_INVALID, span, message);
                    diagnostic.pointer = Some(below);
                    diagnostic.help = Some(
                        "say what is expected; `+` instead of `*` wants at least one character"
                            .to_owned(),
                    );
                    is_broken = true;
                }
                Some(regex) => tests.push(ExpectedTest::Matches(regex)),
                None => is_broken = true,
            },
            "json_schema" => {
                let help = "use `equals` or `contains`, where references are filled in";
                let node = &member.value;
                let schema = match holds_reference(reader, node, &below, "a JSON Schema", help) {
                    true => None,
                    false => schema(reader, node, &below),
                };
                match schema {
                    Some(schema) => tests.push(ExpectedTest::JsonSchema(schema)),
                    None => is_broken = true,
                }
            }
            "max_ms" => match member.value.as_f64() {
                Some(limit) if limit >= 0.0 => tests.push(ExpectedTest::MaxMilliseconds(limit)),
                _ => {
                    is_broken = true;
                    reader.wrong_type(
                        &member.value,
                        &below,
                        "`max_ms`",
                        "a non-negative number of milliseconds",
                    );
                }
            },
            "shows" | "lacks" => match shown_text(reader, object, &member.key) {
                Some(text) if member.key == "shows" => tests.push(ExpectedTest::Shows(text)),
                Some(text) => tests.push(ExpectedTest::Lacks(text)),
                None => is_broken = true,
            },
            "elements" => match elements(reader, &member.value, &below) {
                Some(elements) => tests.push(ExpectedTest::Elements(Box::new(elements))),
                None => is_broken = true,
            },
            _ => {}
        }
    }
    if is_broken {
        return None;
    }
    if tests.is_empty() {
        checks_nothing(reader, node, pointer);
        return None;
    }
    Some(Expectation {
        json_path: json_path_rule,
        tests,
        is_strict,
        span: node.span,
    })
}

fn checks_nothing(reader: &mut Reader<'_>, node: &Node, pointer: &str) {
    let message = "this expectation checks nothing";
    let diagnostic = reader.error(codes::EXPECT_INVALID, node.span, message);
    diagnostic.pointer = Some(pointer.to_owned());
    diagnostic.help = Some(
        "add one of equals, contains, matches, json_schema, max_ms, shows, lacks, elements"
            .to_owned(),
    );
}

/// Whether a pattern matches texts that have nothing in common.
fn matches_everything(regex: &Regex) -> bool {
    let long = "x".repeat(100_000);
    let texts = [
        "",
        "a",
        "7",
        "\n\n",
        " \t",
        "§ \u{1}",
        "\"{}\"",
        long.as_str(),
    ];
    texts.iter().all(|text| regex.is_match(text))
}

/// What is wrong with a check that no result can fail.
fn allows_anything(check: &Member) -> Option<&'static str> {
    match (check.key.as_str(), &check.value.kind) {
        ("contains" | "matches", _) if check.value.as_str() == Some("") => Some("empty"),
        ("json_schema", NodeKind::Object(members)) if members.is_empty() => Some("empty"),
        ("json_schema", NodeKind::Bool(true)) => Some("true"),
        ("json_schema", NodeKind::Object(_)) if takes_all(&check.value.to_value()) => {
            Some("without a requirement")
        }
        _ => None,
    }
}

/// A text that a page must show, or must not.
fn shown_text(reader: &mut Reader<'_>, object: Object<'_>, key: &str) -> Option<Template> {
    let what = format!("`{key}`");
    let (text, node) = reader.text(object, key, &what)?;
    let pointer = object.child_pointer(key);
    if text.trim().is_empty() {
        let diagnostic = reader.error(codes::EXPECT_INVALID, node.span, format!("{what} is empty"));
        diagnostic.pointer = Some(pointer);
        diagnostic.help = Some("write a text from the page: \"shows\": \"Saved\"".to_owned());
        return None;
    }
    Some(from_string(reader, text, node.span, &pointer))
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use cuecard_source::SourceFile;
    use cuecard_source::diagnostic::Diagnostic;

    fn findings(more: &str) -> Vec<Diagnostic> {
        let text = format!(
            r#"{{"version": "2.1", "metadata": {{"name": "x"}}, "steps": [{{"step": 1, "id": "a", "tool": "mcp__s__t", "params": {{}}, {more}}}]}}"#
        );
        read(&SourceFile::new("scenario.json", text)).diagnostics
    }

    /// The one finding: message and marked text.
    fn only(more: &str) -> (String, String) {
        let found = findings(more);
        assert_eq!(found.len(), 1, "{found:?}");
        let place = found[0].place.as_ref().expect("a place");
        (
            found[0].message.clone(),
            place.source.slice(place.span).to_owned(),
        )
    }

    #[test]
    fn a_check_that_cannot_be_read_is_not_called_absent() {
        for (expect, message) in [
            (
                r#"{"matches": "("}"#,
                "`(` is not a valid regular expression: unclosed group",
            ),
            (
                r#"{"matches": 5}"#,
                "`matches` must be a regular expression in a string, not 5",
            ),
            (
                r#"{"max_ms": "fast"}"#,
                "`max_ms` must be a non-negative number of milliseconds, not the string `fast`",
            ),
            (r#"{"json_path": "$.a"}"#, "this expectation checks nothing"),
            ("{}", "this expectation checks nothing"),
            ("[]", "this expectation checks nothing"),
            (
                r#"{"contains": ""}"#,
                "`contains` is empty: it matches everything",
            ),
            (
                r#"{"matches": ""}"#,
                "`matches` is empty: it matches everything",
            ),
            (r#"{"matches": ".*"}"#, "`matches` matches every text"),
            (r#"{"matches": "^x*"}"#, "`matches` matches every text"),
            (
                r#"{"json_schema": {}}"#,
                "`json_schema` is empty: it matches everything",
            ),
        ] {
            assert_eq!(only(&format!("\"expect\": {expect}")).0, message);
        }
        let both = findings(r#""expect": {"json_path": "$[", "matches": "("}"#);
        assert_eq!(both.len(), 2, "{both:?}");
    }

    #[test]
    fn a_regex_may_take_an_empty_text_but_not_nothing_of_any() {
        for (regex, is_valid) in [
            (r"^(.*)$", true),
            (r"(?s)^(.*?)\r?\n?$", true),
            (r"([\s\S]*?)\n?$", true),
            (r"(\d*)", false),
            (".*?", false),
        ] {
            let more = format!(
                r#""output": {{"x": {{"regex": {}}}}}"#,
                serde_json::Value::from(regex)
            );
            assert_eq!(findings(&more).is_empty(), is_valid, "{regex}");
        }
    }

    #[test]
    fn a_reference_where_none_is_filled_in_is_an_error() {
        for (more, reference, what) in [
            (
                r#""expect": {"json_path": "$.a[?@.id == '{{d.id}}']", "equals": []}"#,
                "{{d.id}}",
                "a JSONPath",
            ),
            (
                r#""output": {"x": "$.a[?@.t == '{{ T }}']"}"#,
                "{{ T }}",
                "a JSONPath",
            ),
            (
                r#""output": {"x": {"regex": "x", "from": "$['{{T}}']"}}"#,
                "{{T}}",
                "a JSONPath",
            ),
            (
                r#""output": {"x": {"regex": "{{T}}"}}"#,
                "{{T}}",
                "a regular expression",
            ),
            (
                r#""expect": {"matches": "id {{T}}|"}"#,
                "{{T}}",
                "a regular expression",
            ),
            (
                r#""expect": {"json_schema": {"not": {"const": "{{d.t}}"}}}"#,
                "{{d.t}}",
                "a JSON Schema",
            ),
        ] {
            let (message, marked) = only(more);
            let expected =
                format!("`{reference}` stands in {what}, where no reference is filled in");
            assert_eq!(
                (message, marked),
                (expected, reference.to_owned()),
                "{more}"
            );
        }
        // Other braces are text.
        for more in [
            r#""expect": {"json_path": "$[?@.t == '{{#each x}}']", "equals": []}"#,
            r#""expect": {"matches": "\\{\\{T\\}\\}"}"#,
        ] {
            assert!(findings(more).is_empty(), "{more}");
        }
    }

    #[test]
    fn a_name_with_a_dash_is_shown_in_brackets() {
        for (path, help) in [
            (
                "$.content-type",
                "a name with a `-` needs brackets and quotes: $[\"content-type\"]",
            ),
            (
                "$.a[0].é-b-c.d",
                "a name with a `-` needs brackets and quotes: $.a[0][\"é-b-c\"].d",
            ),
            (
                "$.a[0]-b",
                "examples: $.number  $.items[0].id  $.items[*].id  $.items[?@.price < 10]",
            ),
        ] {
            let found = findings(&format!(r#""output": {{"x": "{path}"}}"#));
            assert_eq!(found[0].help.as_deref(), Some(help), "{path}");
        }
    }

    #[test]
    fn a_keyword_that_is_misspelt_is_no_remark() {
        let of = |schema: &str| only(&format!("\"expect\": {{\"json_schema\": {schema}}}"));
        for (schema, keyword) in [
            (r#"{"typ": "string"}"#, "typ"),
            (r#"{"require": ["a"]}"#, "require"),
            (r#"{"properties": {"a": {"minimun": 1}}}"#, "minimun"),
            (
                r#"{"anyOf": [{"type": "string"}, {"Type": "null"}]}"#,
                "Type",
            ),
        ] {
            let (message, marked) = of(schema);
            assert_eq!(message, format!("unknown JSON Schema keyword `{keyword}`"));
            assert_eq!(marked, format!("{keyword:?}"));
        }
        // Names of properties are free, and so are notes.
        for schema in [
            r#"{"properties": {"typ": {"type": "string", "x-note": 1}}, "required": ["typ"]}"#,
            r#"{"enum": [{"requird": 1}]}"#,
        ] {
            let found = findings(&format!("\"expect\": {{\"json_schema\": {schema}}}"));
            assert!(found.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn a_broken_schema_is_marked_where_it_is_broken() {
        let of = |schema: &str| only(&format!("\"expect\": {{\"json_schema\": {schema}}}"));
        assert_eq!(
            of(r#"{"properties": {"id": {"type": "strin"}}}"#),
            (
                "invalid JSON Schema: unknown type \"strin\"".to_owned(),
                "\"strin\"".to_owned()
            )
        );
        assert_eq!(
            of(r#"{"type": ["string", "nul"]}"#).0,
            "invalid JSON Schema: unknown type \"nul\""
        );
        assert_eq!(
            of(r#"{"type": 5}"#),
            (
                "invalid JSON Schema: `type` can't be 5".to_owned(),
                "5".to_owned()
            )
        );
        let (message, marked) = of(r#"{"minLength": -1}"#);
        assert!(
            message.starts_with("invalid JSON Schema: `minLength`: -1 is less"),
            "{message}"
        );
        assert_eq!(marked, "-1");
        assert!(of("5").0.starts_with("invalid JSON Schema: 5 is not"));
        let found = findings(r#""expect": {"json_schema": {"type": "strin"}}"#);
        assert_eq!(found[0].label.as_deref(), Some("did you mean `string`?"));
        assert_eq!(
            found[0].pointer.as_deref(),
            Some("/steps/0/expect/json_schema/type")
        );
    }

    #[test]
    fn a_path_without_its_beginning_is_completed() {
        let of = |path: &str| {
            let found = findings(&format!("\"output\": {{\"x\": \"{path}\"}}"));
            (
                found[0].message.clone(),
                found[0].help.clone().unwrap_or_default(),
            )
        };
        assert_eq!(
            of("number"),
            (
                "`number` is not a valid JSONPath: it must start with `$`".to_owned(),
                "a JSONPath starts at the result, which is `$`: \"$.number\"".to_owned()
            )
        );
        assert!(of("[0]").1.ends_with("\"$[0]\""));
        assert_eq!(
            of(""),
            (
                "the path is empty".to_owned(),
                "the whole result is \"$\"".to_owned()
            )
        );
        assert_eq!(of(".").1, "the whole result is \"$\"");
        assert_eq!(
            of("$.a[").0,
            "`$.a[` is not a valid JSONPath: unexpected text from here on"
        );
    }
}
