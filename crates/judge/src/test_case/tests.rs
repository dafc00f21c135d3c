use serde_json::json;

use super::*;
use crate::assertions::output::{OutputContains, OutputOmits};
use crate::assertions::tools::{MustCallTool, ToolArgsMatch, Which};
use crate::model::*;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Severity as Level, any_error};
use cuecard_source::document::read_document;

/// A test case with each type of assertion.
const EVERYTHING: &str = include_str!("everything.yaml");

fn reading(text: &str) -> Reading {
    read(&SourceFile::new("test.yaml", text))
}

#[track_caller]
fn case(text: &str) -> TestCase {
    let reading = reading(text);
    assert!(reading.diagnostics.is_empty(), "{:#?}", said(&reading));
    reading.case.expect("no errors, so a case")
}

/// Code, place and message of each finding.
fn said(reading: &Reading) -> Vec<String> {
    reading
        .diagnostics
        .iter()
        .map(|one| {
            let place = one.place.as_ref().expect("findings have a place");
            let at = place.source.position(place.span.start);
            format!("{} {}:{} {}", one.code, at.line, at.column, one.message)
        })
        .collect()
}

/// A test case with these assertions, which begin in line 5.
fn with_assertions(assertions: &str) -> String {
    format!(
        "schema_version: \"0.1\"\nid: one\nadapter: nanoclaw\nadapter_input: {{ replay_file: ./r.json }}\nassertions:\n{assertions}"
    )
}

/// What is said of an assertion with these params, on line 6.
#[track_caller]
fn said_of(kind: &str, params: &str) -> Vec<String> {
    let text = with_assertions(&format!(
        "  - {{ id: a, type: {kind}, params: {params} }}\n"
    ));
    said(&reading(&text))
        .into_iter()
        .map(|line| match line.split_once(" 6:") {
            Some((code, rest)) => format!("{code} {}", rest.split_once(' ').expect("a message").1),
            None => line,
        })
        .collect()
}

#[test]
fn every_type_is_read_with_its_parameters() {
    let case = case(EVERYTHING);
    let types: Vec<_> = case
        .assertions
        .iter()
        .map(|assertion| assertion.check.type_name())
        .collect();
    assert_eq!(types, AssertionCheck::TYPES);
    assert_eq!(
        (case.id.as_str(), case.title.as_str()),
        ("everything", "Every assertion there is")
    );
    assert_eq!(case.tags, ["news", "all"]);
    let TraceInput::ReplayBundle { file, span } = &case.input else {
        panic!("a bundle")
    };
    assert_eq!(file.to_str(), Some("./replay.json"));
    assert_eq!(case.source.slice(*span), "./replay.json");
    assert_eq!(case.context.group_id.as_deref(), Some("group-a"));
    assert_eq!(case.context.trigger(), Trigger::Scheduler);
    assert_eq!(case.context.scheduler_context["timezone"], "UTC");
    assert_eq!(case.context.input_messages[0]["content"], "What's new?");
    assert!(case.context.task_id.is_none());
    assert_eq!(
        case.tools.available.as_deref().map(<[String]>::len),
        Some(2)
    );
    assert_eq!(case.tools.fixtures[0].result, Some(json!({"items": []})));
    assert_eq!(case.tools.policy.max_calls, Some(5));
    assert!(case.tools.policy.forbidden[0].matches("shell.exec"));
    let expected = case.expected.as_ref().expect("given");
    assert_eq!(*expected.failure_categories, ["tool_usage"]);
    assert!(!case.save_trace);
    assert_eq!(case.redact_fields, ["token"]);
    let find = |name: &str| {
        case.assertions
            .iter()
            .find(|one| one.check.type_name() == name)
            .expect(name)
    };
    let one = find("must_call_tool");
    assert_eq!(one.severity, Severity::Critical);
    assert_eq!(
        one.requires_capabilities,
        ["supports_memory_events", "supports_tool_trace"]
    );
    assert_eq!(one.params, json!({"tool": "web_search"}));
    assert!(matches!(
        &one.check,
        AssertionCheck::MustCallTool(MustCallTool {
            min_calls: None,
            max_calls: None,
            ..
        })
    ));
    assert_eq!(find("must_not_call_tool").severity, Severity::Warning);
    let AssertionCheck::OutputOmits(OutputOmits { patterns, .. }) = &find("output_omits").check
    else {
        panic!("omits")
    };
    assert!(
        patterns[0].regex.is_match("first\nSorry, no"),
        "by line, whatever the case"
    );
    let AssertionCheck::OutputContains(OutputContains {
        regex,
        case_sensitive,
        ..
    }) = &find("output_contains").check
    else {
        panic!("contains")
    };
    assert!(*case_sensitive && regex[0].regex.is_match("News") && !regex[0].regex.is_match("news"));
    let AssertionCheck::ToolArgsMatch(ToolArgsMatch {
        which,
        r#match: matching,
        ..
    }) = &find("tool_args_match").check
    else {
        panic!("args")
    };
    assert_eq!(*which, Which::Nth(2));
    assert_eq!(json!(matching.args_equal.0), json!({ "limit": null }));
    let AssertionCheck::SchedulerOutboundCount(outbound) = &find("scheduler_outbound_count").check
    else {
        panic!("outbound")
    };
    assert_eq!(outbound.tool.text(), "outbound_send");
}

#[test]
fn json_reads_as_yaml_does() {
    let document = read_document(&SourceFile::new("test.yaml", EVERYTHING));
    let json = document.root.expect("valid").to_value();
    for text in [json.to_string(), format!("{json:#}")] {
        let reading = read(&SourceFile::new("test.json", text.as_str()));
        assert!(reading.diagnostics.is_empty(), "{:#?}", said(&reading));
        let (ours, theirs) = (reading.case.expect("a case"), case(EVERYTHING));
        assert_eq!(ours.assertions.len(), theirs.assertions.len());
        for (ours, theirs) in ours.assertions.iter().zip(&theirs.assertions) {
            assert_eq!(ours.params, theirs.params);
        }
    }
}

#[test]
fn the_schema_takes_what_the_reader_takes() {
    let schema = schema();
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let document = read_document(&SourceFile::new("test.yaml", EVERYTHING));
    let good = document.root.expect("valid").to_value();
    let errors: Vec<_> = validator
        .iter_errors(&good)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    for (pointer, bad) in [
        ("/schema_version", json!("9")),
        ("/adapter", json!("x")),
        ("/assertions", json!({})),
        ("/assertions/0/type", json!("must_call_tol")),
        ("/assertions/0/params", json!({})),
        ("/assertions/0/params", json!({"tool": "x", "min_call": 2})),
        ("/assertions/1/severity", json!("fatal")),
        ("/scenario/trigger", json!("x")),
        ("/tools/fixtures/0", json!({})),
    ] {
        let mut document = good.clone();
        *document.pointer_mut(pointer).expect(pointer) = bad;
        assert!(!validator.is_valid(&document), "{pointer}");
    }
}

#[test]
fn all_mistakes_of_a_file_are_found_at_once_with_their_places() {
    let text = "schema_version: 0.7
id: a/b
titel: x
adapter: nanoclaw-replay
adapter_input: { replay_fil: x }
scenario: { trigger: sometimes, input_messages: [hello, { role: user }], group_id: 12 }
reporting: { save_trace: yes }
assertions:
  - { id: a, type: must_call_tol, params: {} }
  - { id: a, type: must_call_tool, params: { tool: x, min_calls: three } }
  - { type: max_errors, params: { limit: 0 }, severity: fatal }
  - nothing
";
    let reading = reading(text);
    assert!(reading.case.is_none());
    assert_eq!(
        said(&reading),
        [
            "J-CASE-05 1:17 unsupported version `0.7`",
            "J-CASE-04 2:5 the id `a/b` can't be part of a file name",
            "J-CASE-03 3:1 unknown key `titel` in the test case",
            "J-CASE-04 4:10 `adapter` must be `nanoclaw` or `cuecard`, not `nanoclaw-replay`",
            "J-CASE-03 5:18 unknown key `replay_fil` in `adapter_input`",
            "J-CASE-04 6:22 `trigger` must be `user_message` or `scheduler`, not `sometimes`",
            "J-CASE-02 6:50 a message must be an object, not the string `hello`",
            "J-CASE-01 6:57 a message has no `content`",
            "J-CASE-02 6:84 `group_id` must be a string, not 12",
            "J-CASE-02 7:26 `save_trace` must be true or false, not the string `yes`",
            "J-ASSERT-01 9:20 unknown assertion type `must_call_tol`",
            "J-CASE-06 10:11 two assertions have the id `a`",
            "J-CASE-02 10:66 `min_calls` must be a non-negative integer, not the string `three`",
            "J-CASE-04 11:57 `severity` must be `critical` or `warning`, not `fatal`",
            "J-CASE-02 12:5 this assertion must be an object, not the string `nothing`",
        ]
    );
    let help = |code: &str, message: &str| {
        let found = reading
            .diagnostics
            .iter()
            .find(|one| one.code.name() == code && one.message.contains(message));
        found.and_then(|one| one.help.clone().or_else(|| one.label.clone()))
    };
    assert_eq!(
        help("J-CASE-02", "group_id").as_deref(),
        Some("put it in quotes: \"12\"")
    );
    let yes = help("J-CASE-02", "save_trace").expect("help");
    assert!(yes.starts_with("write `true`"), "{yes}");
    let found = reading
        .diagnostics
        .iter()
        .find(|one| one.code.name() == "J-ASSERT-01");
    assert_eq!(
        found.and_then(|one| one.label.as_deref()),
        Some("did you mean `must_call_tool`?")
    );
    assert_eq!(
        found.and_then(|one| one.pointer.as_deref()),
        Some("/assertions/0/type")
    );
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    for (kind, params, expected) in [
        (
            "must_call_tool",
            "{}",
            "J-CASE-01 `must_call_tool` has no `tool`",
        ),
        (
            "must_call_tool",
            "{ tol: x }",
            "J-CASE-01 `must_call_tool` has no `tool`",
        ),
        (
            "must_call_tool",
            "{ tool: '' }",
            "J-CASE-04 `tool` is empty",
        ),
        (
            "must_call_tool",
            "{ tool: x, min_calls: 3, max_calls: 2 }",
            "J-ASSERT-02 `must_call_tool`: `min_calls` is greater than `max_calls`, so this can never hold",
        ),
        (
            "must_call_tool",
            "{ tool: x, max_calls: 0 }",
            "J-ASSERT-02 `must_call_tool`: `max_calls` is 0, and `min_calls` is 1 where nothing is said",
        ),
        (
            "tool_args_match",
            "{ tool: x, match: {} }",
            "J-ASSERT-02 `tool_args_match`: `match` has no condition on the arguments",
        ),
        (
            "tool_args_match",
            "{ tool: x, match: { regex: { a: '(' } } }",
            "J-ASSERT-03 `(` is not a valid regular expression: unclosed group",
        ),
        (
            "tool_args_match",
            "{ tool: x, which: 0, match: { required_keys: a } }",
            "J-CASE-02 `which` must be `any`, `all`, or the number of a call from 1, not 0",
        ),
        (
            "max_tool_calls",
            "{ max: 1 }",
            "J-ASSERT-02 `max_tool_calls`: `max` requires `tool`",
        ),
        (
            "max_tool_calls",
            "{}",
            "J-ASSERT-02 `max_tool_calls`: no limit is given",
        ),
        (
            "tool_call_order",
            "{ before: {}, after: { event_type: final_output } }",
            "J-ASSERT-02 this selector matches every event",
        ),
        (
            "stop_after_success",
            "{ success_event: { success: true }, forbid_following: [] }",
            "J-ASSERT-02 `stop_after_success`: `forbid_following` forbids nothing",
        ),
        (
            "output_contains",
            "{}",
            "J-ASSERT-02 `output_contains`: no requirement on the output",
        ),
        (
            "output_contains",
            "{ any_of: [] }",
            "J-ASSERT-02 `output_contains`: `any_of` is empty",
        ),
        (
            "output_contains",
            "{ any_of: [''] }",
            "J-CASE-04 an item of `any_of` is empty",
        ),
        (
            "output_omits",
            "{ patterns: [] }",
            "J-ASSERT-02 `output_omits`: `patterns` is empty, so nothing is forbidden",
        ),
        (
            "output_matches_format",
            "{ format: paragraphs, min_bullets: 1 }",
            "J-ASSERT-02 `output_matches_format`: `min_bullets` belongs to format `bullet_list`, not `paragraphs`",
        ),
        (
            "output_matches_format",
            "{ format: paragraphs, exact_paragraphs: 2, max_paragraphs: 3 }",
            "J-ASSERT-02 `output_matches_format`: `exact_paragraphs` and `max_paragraphs` are redundant",
        ),
        (
            "output_matches_format",
            "{ format: json, json_schema: { type: objekt } }",
            "J-ASSERT-03 invalid JSON Schema: `type` can't be \"objekt\"",
        ),
        (
            "claims_supported_by_fixtures",
            "{ allowed_sources: [], min_overlap: 0.5 }",
            "J-ASSERT-02 `claims_supported_by_fixtures`: `allowed_sources` is empty, so nothing could be supported",
        ),
        (
            "claims_supported_by_fixtures",
            "{ allowed_sources: [a], min_overlap: 2 }",
            "J-CASE-02 `min_overlap` must be a number between 0 and 1, not 2",
        ),
        (
            "no_cross_group_memory_use",
            "{ current_group_id: a, forbidden_group_ids: [a] }",
            "J-ASSERT-02 `no_cross_group_memory_use`: the current group is among the forbidden ones",
        ),
        (
            "scheduler_outbound_count",
            "{ tool: send }",
            "J-ASSERT-02 `scheduler_outbound_count`: no message count is given",
        ),
        (
            "trajectory",
            "{ mode: superset, calls: [] }",
            "J-ASSERT-02 `trajectory`: `calls` is empty, so this always holds",
        ),
        (
            "tool_result_matches",
            "{ tool: x, json_path: items, equals: 1 }",
            "J-ASSERT-03 `items` is not a valid JSONPath: unexpected text from here on",
        ),
        (
            "json_path",
            "{ path: $.events, exists: false, count: 2 }",
            "J-ASSERT-02 `json_path`: `exists: false` contradicts the other requirements",
        ),
        (
            "trace_snapshot",
            "{ file: x, ignore: [ts] }",
            "J-ASSERT-03 `ts` is not a valid JSON pointer: it must start with `/`",
        ),
        (
            "max_tokens",
            "{ limit: -1 }",
            "J-CASE-02 `limit` must be a non-negative integer, not -1",
        ),
        (
            "max_duration_ms",
            "{}",
            "J-CASE-01 `max_duration_ms` has no `limit`",
        ),
        (
            "screen",
            "{}",
            "J-ASSERT-02 `screen`: no check is specified",
        ),
        // What always holds.
        (
            "tool_args_match",
            "{ tool: a, match: { args_contains: { q: '' } } }",
            "J-ASSERT-02 `tool_args_match`: every value of `q` holds that",
        ),
        (
            "tool_args_match",
            "{ tool: a, match: { json_schema: { title: x } } }",
            "J-ASSERT-02 `tool_args_match`: all arguments satisfy this schema",
        ),
        (
            "tool_args_match",
            "{ tool: a, match: { regex: { q: 'x*' } } }",
            "J-ASSERT-03 `regex.q` matches any text",
        ),
        (
            "tool_result_matches",
            "{ tool: a, contains: {} }",
            "J-ASSERT-02 `tool_result_matches`: every result holds that",
        ),
        (
            "tool_result_matches",
            "{ tool: a, json_schema: true }",
            "J-ASSERT-02 `tool_result_matches`: every result satisfies this schema",
        ),
        (
            "tool_result_matches",
            "{ tool: a, regex: '' }",
            "J-ASSERT-03 `regex` matches any text",
        ),
        (
            "output_contains",
            "{ regex: '.*' }",
            "J-ASSERT-03 an item of `regex` matches any text",
        ),
        (
            "output_contains",
            "{ any_of: [\"\\u200b\"] }",
            "J-CASE-04 an item of `any_of` is empty",
        ),
        (
            "json_path",
            "{ path: \"$.events[?match(@.type, '(')]\", count: 0 }",
            "J-ASSERT-03 the regular expression `(` in the path is invalid, so it matches nothing",
        ),
        (
            "must_call_tool",
            "{ tool: x, min_call: 2 }",
            "J-ASSERT-02 unknown key `min_call` in `must_call_tool`",
        ),
        (
            "output_omits",
            "{ patterns: [x], ignore_case: true }",
            "J-ASSERT-02 unknown key `ignore_case` in `output_omits`",
        ),
        (
            "tool_args_match",
            "{ tool: x, match: { required_keys: a, arg_equal: { a: 1 } } }",
            "J-ASSERT-02 unknown key `arg_equal` in `match`",
        ),
        (
            "tool_call_order",
            "{ before: { tool: a, argz: { a: 1 } }, after: { event_type: final_output } }",
            "J-ASSERT-02 unknown key `argz` in `before`",
        ),
        (
            "trajectory",
            "{ mode: exact, calls: [ { tool: x, argz: { a: 1 } } ] }",
            "J-ASSERT-02 unknown key `argz` in `calls[0]`",
        ),
    ] {
        assert_eq!(said_of(kind, params), [expected], "{kind} {params}");
    }
    let note = said_of("must_call_tool", "{ tool: x, x-note: because, _todo: 1 }");
    assert_eq!(note, [] as [&str; 0], "notes of one's own pass");
    let null = said_of("json_path", "{ path: $.status, equals: null }");
    assert_eq!(null, [] as [&str; 0], "null is a value here");
}

#[test]
fn a_misspelt_capability_is_warned_about() {
    let said = |name: &str| {
        let text = with_assertions(&format!(
            "  - {{ id: a, type: must_call_tool, requires_capabilities: [{name}], params: {{ tool: x }} }}\n"
        ));
        reading(&text).diagnostics.len()
    };
    assert_eq!(said("supports_tol_trace"), 1);
    assert_eq!(said("supports_tool_trace"), 0);
    assert_eq!(said("sees_the_future"), 0);
}

#[test]
fn selectors_that_never_match_are_warned_about() {
    let order = |before: &str| {
        let params = format!("{{ before: {before}, after: {{ event_type: final_output }} }}");
        said_of("tool_call_order", &params)
    };
    for (before, expected) in [
        (
            "{ event_type: tool_cal }",
            "J-ASSERT-04 no player emits events of type `tool_cal`",
        ),
        (
            "{ event_type: tool_call, success: true }",
            "J-ASSERT-04 events of type `tool_call` have no `success`",
        ),
        (
            "{ event_type: final_output, tool: x }",
            "J-ASSERT-04 events of type `final_output` have no `tool`",
        ),
        (
            "{ event_type: file_edit, data: { lines_added: 1, file: a.txt } }",
            "J-ASSERT-04 the data of `file_edit` has no `file`, but path, lines_added, lines_removed, hash_before, hash_after",
        ),
    ] {
        assert_eq!(order(before), [expected], "{before}");
    }
    for before in [
        "{ event_type: tool_result, tool: x, success: false }",
        "{ event_type: tool_result, args: { a: 1 } }",
        "{ event_type: step_started, tool: x }",
        "{ success: true, args: { a: 1 } }",
    ] {
        assert!(order(before).is_empty(), "{before}");
    }
    assert!(order("{ event_type: tool_result, data: { result.items.0: a } }").is_empty());
    assert_eq!(
        order("{ tool: x, data: { content: a } }"),
        ["J-ASSERT-02 `data` needs an `event_type`"]
    );
}

#[test]
fn doubtful_words_are_asked_about_where_any_value_may_stand() {
    let found = said_of(
        "tool_args_match",
        "{ tool: x, match: { args_equal: { a: yes, b: 1_000 } } }",
    );
    assert_eq!(
        found,
        [
            "J-YAML-05 `yes` is read as a string here",
            "J-YAML-05 `1_000` is read as a string here"
        ]
    );
    assert!(said_of("output_contains", "{ any_of: [yes, no, 1_000] }").is_empty());
}

#[test]
fn the_source_of_the_trace_must_be_clear() {
    let said_of = |input: &str| {
        let text = format!(
            "schema_version: '0.1'\nid: a\n{input}\nassertions: [{{ id: e, type: max_errors, params: {{ limit: 0 }} }}]\n"
        );
        let reading = reading(&text);
        assert_eq!(
            reading.case.is_some(),
            !any_error(&reading.diagnostics),
            "{input}"
        );
        said(&reading)
    };
    for input in [
        "adapter: nanoclaw\nmode: live\nadapter_input: { command: [node, run.js] }",
        "adapter: cuecard\nadapter_input: { play: s.json, variables: { A: 1 } }",
        "adapter: cuecard\nadapter_input: { trace_file: a.trace.json }",
        "adapter: cuecard\nadapter_input: { transcript: s.jsonl, format: claude-code }",
        "adapter_input: { transcript: s.jsonl }",
        "adapter_input: { command: [node, run.js] }",
    ] {
        assert!(said_of(input).is_empty(), "{input}");
    }
    for (input, expected) in [
        (
            "adapter: nanoclaw\nadapter_input: {}",
            "J-CASE-01 4:16 `adapter_input` has no `replay_file`",
        ),
        (
            "adapter: cuecard\nadapter_input: {}",
            "J-CASE-01 4:16 `adapter_input` has none of `play`, `trace_file` or `transcript`",
        ),
        (
            "adapter: nanoclaw\nadapter_input: { play: s.json }",
            "J-CASE-08 4:18 `play` can't be used with `adapter: nanoclaw` with `mode: replay`",
        ),
        (
            "adapter: cuecard\nadapter_input: { play: s.json, trace_file: b }",
            "J-CASE-08 4:32 `play` and `trace_file` are conflicting sources for the trace",
        ),
        (
            "adapter: cuecard\nadapter_input: { run: s.yaml }",
            "J-CASE-08 4:18 `run` is part of the format, but this release doesn't run timelines",
        ),
        (
            "adapter: nanoclaw\nmode: live\nadapter_input: { command: node run.js }",
            "J-CASE-02 5:27 `command` must be a list of a program and its arguments, not the string `node run.js`",
        ),
        (
            "adapter: cuecard\nadapter_input: { trace_file: a, variables: {} }",
            "J-CASE-03 4:33 `variables` requires `play`",
        ),
    ] {
        assert_eq!(said_of(input), [expected], "{input}");
    }
}

#[test]
fn a_test_case_that_asserts_nothing_is_said_out_loud() {
    let reading = reading(&with_assertions("  []\n"));
    assert!(reading.case.is_some());
    assert_eq!(reading.diagnostics.len(), 1);
    assert_eq!(
        reading.diagnostics[0].code,
        cuecard_source::diagnostic::codes::CASE_EMPTY
    );
    assert_eq!(reading.diagnostics[0].severity, Level::Warning);
}

#[test]
fn patterns_are_bounded_in_number_and_size() {
    let many = vec!["x"; 2_000].join(", ");
    let found = said_of("output_omits", &format!("{{ patterns: [{many}] }}"));
    assert_eq!(
        found,
        ["J-ASSERT-03 a test case can have at most 1000 patterns"]
    );
    let found = said_of("output_contains", "{ regex: ['(\\w{100}){100}'] }");
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("J-ASSERT-03 `(\\w{100}){100}` is not a valid regular expression"),
        "{found:?}"
    );
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let first = |text: &str| said(&reading(text)).remove(0);
    assert_eq!(
        first("{\"version\": \"2.1\", \"steps\": []}"),
        "X-FILE-01 1:1 this is a tool-call scenario, not a test case"
    );
    assert_eq!(
        first("a: 1"),
        "X-FILE-01 1:1 this is not a test case: it has neither `assertions` nor `adapter_input`"
    );
    assert_eq!(
        first("- 1"),
        "J-CASE-02 1:1 a test case must be an object, not an array"
    );
    assert_eq!(first(""), "J-YAML-01 1:1 the file is empty");
    assert_eq!(first("a: 1\na: 2"), "J-YAML-02 2:1 duplicate key `a`");
}

#[test]
fn a_test_case_without_a_part_that_it_needs_is_refused() {
    for key in ["adapter_input", "assertions"] {
        let document = read_document(&SourceFile::new("test.yaml", EVERYTHING));
        let mut json = document.root.expect("valid").to_value();
        json.as_object_mut().expect("an object").shift_remove(key);
        let reading = read(&SourceFile::new("test.json", json.to_string()));
        assert!(reading.case.is_none());
        let found = said(&reading);
        let expected = format!("the test case has no `{key}`");
        assert!(
            found.iter().any(|line| line.ends_with(&expected)),
            "{found:?}"
        );
    }
}
