use crate::format::read;
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
            "`max_ms` must be a number, not the string `fast`",
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
        (
            r#"{"matches": ".*"}"#,
            "`matches` needs no character: it matches everything",
        ),
        (
            r#"{"matches": "^x*"}"#,
            "`matches` needs no character: it matches everything",
        ),
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
        let expected = format!("`{reference}` stands in {what}, where no reference is filled in");
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
            "a JSONPath starts at the result, which is `$`: $.number  $.items[0].id  $.items[*].id  $.items[?@.price < 10]",
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
            "invalid JSON Schema: `type` can't be \"strin\"".to_owned(),
            "\"strin\"".to_owned()
        )
    );
    assert_eq!(
        of(r#"{"type": ["string", "nul"]}"#).0,
        "invalid JSON Schema: `type` can't be [\"string\",\"nul\"]"
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
