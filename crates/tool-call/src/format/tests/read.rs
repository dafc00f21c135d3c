use crate::format::read;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Code, Diagnostic, Severity, any_error, codes};

fn findings(text: &str) -> Vec<Diagnostic> {
    read(&SourceFile::new("scenario.json", text)).diagnostics
}

/// Reads a scenario with this one step and gives what is wrong with it: code, message, marked text.
fn step_findings(step: &str) -> Vec<(Code, String, String)> {
    let text = format!(r#"{{"version": "2.1", "metadata": {{"name": "x"}}, "steps": [{step}]}}"#);
    findings(&text).iter().map(finding).collect()
}

fn finding(diagnostic: &Diagnostic) -> (Code, String, String) {
    let place = diagnostic.place.as_ref().expect("a place");
    (
        diagnostic.code,
        diagnostic.message.clone(),
        place.source.slice(place.span).to_owned(),
    )
}

#[test]
fn a_byte_order_mark_is_a_warning_and_places_stay_right() {
    let text = "\u{feff}{\"version\": \"2.1\", \"metadata\": {\"name\": \"x\"}, \"steps\": [{\"step\": 1, \"tool\": \"sandy__log\", \"params\": {\"message\": \"{{A}}\"}}]}";
    let reading = read(&SourceFile::new("scenario.json", text));
    let scenario = reading.scenario.expect("it is read");
    assert_eq!(reading.diagnostics.len(), 1);
    assert_eq!(reading.diagnostics[0].severity, Severity::Warning);
    assert_eq!(
        scenario.source.slice(scenario.steps[0].tool_span),
        "\"sandy__log\""
    );
    let broken = findings("\u{feff}{\"version\": }");
    assert_eq!(broken.len(), 2, "{broken:?}");
    assert!(any_error(&broken));
}

#[test]
fn an_empty_file_is_called_empty() {
    for text in ["", " \n", "\u{feff}\n"] {
        let found = findings(text);
        let error = found.last().expect("an error");
        assert_eq!(error.message, "the file is empty", "{text:?}");
    }
}

#[test]
fn a_file_that_is_no_scenario_gives_one_error() {
    for (text, message) in [
        (
            r#"{"name": "shop", "version": "1.0.0", "scripts": {}}"#,
            "this is not a scenario: it has neither `steps` nor `metadata`",
        ),
        (
            "{}",
            "this is not a scenario: it has neither `steps` nor `metadata`",
        ),
        (
            r#"{"mcpServers": {}}"#,
            "this is an MCP config, not a tool-call scenario",
        ),
    ] {
        let found = findings(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].code, codes::FILE_KIND);
        assert_eq!(found[0].message, message);
        assert!(found[0].help.is_some());
    }
    let started = findings(r#"{"version": "2.1"}"#);
    assert_eq!(started.len(), 2, "{started:?}");
}

#[test]
fn a_duplicate_id_is_marked_where_it_stands() {
    let found = findings(
        "{\"version\": \"2.1\", \"metadata\": {\"name\": \"x\"}, \"steps\": [\n{\"step\": 1, \"id\": \"a\", \"tool\": \"mcp__s__t\", \"params\": {}},\n{\"step\": 2, \"id\":  \"a\", \"tool\": \"mcp__s__t\", \"params\": {}}]}",
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, codes::ID_DUPLICATE);
    assert_eq!(found[0].notes, ["the other one is on line 2"]);
    let place = found[0].place.as_ref().expect("a place");
    assert_eq!(place.source.slice(place.span), "\"a\"");
    assert_eq!(place.source.position(place.span.start).line, 3);
}

#[test]
fn a_mistyped_key_is_one_finding() {
    let found = step_findings(r#"{"step": 1, "tol": "mcp__s__t", "params": {}}"#);
    assert_eq!(
        found,
        [(
            codes::FIELD_MISSING,
            "`steps[0]` has no `tool`".to_owned(),
            "\"tol\"".to_owned()
        )]
    );
    let two = step_findings(r#"{"step": 1, "tol": "x", "toool": "y", "params": {}}"#);
    let codes_found: Vec<Code> = two.iter().map(|(code, ..)| *code).collect();
    assert_eq!(codes_found, [codes::FIELD_MISSING, codes::FIELD_UNKNOWN]);
    let param = step_findings(r#"{"step": 1, "tool": "sandy__log", "params": {"mesage": "hi"}}"#);
    assert_eq!(param.len(), 1, "{param:?}");
    assert_eq!(param[0].0, codes::PARAM_UNKNOWN);
    let name = findings(
        r#"{"version": "2.1", "metadata": {"nam": "x"}, "steps": [{"step": 1, "tool": "mcp__s__t", "params": {}}]}"#,
    );
    assert_eq!(name.len(), 1, "{name:?}");
    assert_eq!(name[0].label.as_deref(), Some("did you mean `name`?"));
}

#[test]
fn values_that_do_not_fit_are_shown() {
    for (step, message) in [
        (
            r#"{"step": -1, "tool": "mcp__s__t", "params": {}}"#,
            "`step` must be a non-negative integer, not -1",
        ),
        (
            r#"{"step": 1, "tool": "sandy__wait", "params": {"duration": -2}}"#,
            "`duration` of sandy__wait must be a non-negative number, not -2",
        ),
        (
            r#"{"step": 1, "tool": "claude__read", "params": {"file_path": "x", "limit": 1.5}}"#,
            "`limit` of claude__read must be a non-negative integer, not 1.5",
        ),
        (
            r#"{"step": 1, "tool": "mcp__s__t", "params": {}, "on_error": "retry", "retry": {"delay": -1}}"#,
            "`delay` must be a non-negative number, not -1",
        ),
        (
            r#"{"step": 1, "tool": "mcp__s__t", "params": {}, "on_error": "retry", "retry": {"then": "go"}}"#,
            "`then` must be `stop` or `skip`, not `go`",
        ),
        (
            r#"{"step": 1, "id": "", "tool": "mcp__s__t", "params": {}}"#,
            "`` is not a valid name for `id`",
        ),
        (
            r#"{"step": 1, "tool": "", "params": {}}"#,
            "the tool's name is empty",
        ),
        (
            r#"{"step": 1, "tool": "claude__notebook_edit", "params": {"notebook_path": "n", "new_source": "", "edit_mode": "insert"}}"#,
            "claude__notebook_edit: `edit_mode` \"insert\" needs `cell_type`",
        ),
    ] {
        let found = step_findings(step);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].1, message);
    }
}

#[test]
fn what_stands_in_the_place_of_a_secret_is_no_value() {
    let found = step_findings(
        r#"{"step": 1, "tool": "claude__bash", "params": {"command": "mysql -p[redacted] -e 1 [redacted]", "expect_exit": 0}}"#,
    );
    let text = "a parameter contains `[redacted]`, which stands where a secret was";
    assert_eq!(
        found,
        [(codes::FIELD_VALUE, text.to_owned(), "[redacted]".to_owned())]
    );
}

#[test]
fn a_step_with_a_tool_and_an_action_calls_the_tool() {
    let found =
        step_findings(r#"{"step": 1, "tool": "mcp__s__t", "action": "click", "params": {}}"#);
    assert_eq!(
        found,
        [(
            codes::FIELD_UNKNOWN,
            "unknown key `action` in `steps[0]`".to_owned(),
            "\"action\"".to_owned()
        )]
    );
}

#[test]
fn a_version_names_the_type_it_was_written_in() {
    let message = |version: &str| {
        findings(&format!(r#"{{"version": {version}, "metadata": {{"name": "x"}}, "steps": [{{"step": 1, "tool": "mcp__s__t", "params": {{}}}}]}}"#))[0].message.clone()
    };
    assert_eq!(message("2.1"), "the number 2.1 is read as the text \"2.1\"");
    assert_eq!(message("\"2.0\""), "version \"2.0\" is read as \"2.1\"");
}
