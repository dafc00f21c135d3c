//! Rules: what is merged, what is spliced, and where findings point.

use super::{codes, meaning, reading, reading_with, said};
use crate::model::{EventKind, Timeline};
use cuecard_source::diagnostic::Severity;

/// The messages of the logs of a timeline.
fn logs(timeline: &Timeline) -> Vec<String> {
    timeline
        .events
        .iter()
        .map(|event| match &event.kind {
            EventKind::Log(log) => log.message.clone(),
            other => panic!("{other:?}"),
        })
        .collect()
}

const SPLICED: &str = "\
name: rules
timeline:
  - log: first
  - rules:
      - default: true
        config: [{log: default}]
      - when: '$a'
        config:
          - log: a1
          - rules:
              - {when: '$n >= 3', config: [{log: many}]}
              - {default: true, config: {log: few}}
      - when: \"$mode == 'fast'\"
        config: {log: fast}
  - log: last
";

#[test]
fn configs_are_spliced_in_the_order_of_the_rules() {
    for (definitions, expected) in [
        (&[][..], &["first", "default", "last"][..]),
        (&["a"], &["first", "a1", "few", "last"]),
        (&["a", "n=3"], &["first", "a1", "many", "last"]),
        (&["mode=fast"], &["first", "fast", "last"]),
        (
            &["a=1", "mode=fast"],
            &["first", "a1", "few", "fast", "last"],
        ),
        (&["mode=slow"], &["first", "default", "last"]),
    ] {
        let read = reading_with(SPLICED, definitions);
        let timeline = read
            .timeline
            .as_ref()
            .unwrap_or_else(|| panic!("{:#?}", said(&read)));
        assert_eq!(logs(timeline), expected, "{definitions:?}");
    }
}

#[test]
fn events_are_counted_as_they_are_written() {
    let read = reading_with(SPLICED, &["a"]);
    let paths: Vec<String> = read
        .timeline
        .unwrap()
        .events
        .into_iter()
        .map(|event| event.path)
        .collect();
    assert_eq!(
        paths,
        [
            "timeline[0]",
            "timeline[1].rules[1].config[0]",
            "timeline[1].rules[1].config[1].rules[1].config",
            "timeline[2]"
        ]
    );
}

#[test]
fn mappings_are_merged_and_everything_else_is_replaced() {
    let text = "\
name: merge
server:
  mode: none
  seed: {a: {x: 1, y: 2}, list: [1]}
  rules:
    - {when: '$a', config: {mode: mock, seed: {a: {y: 3}, list: [2]}}}
    - {when: '$b', config: {mode: real}}
    - {default: true, config: {llmApiStyle: openai}}
timeline: []
";
    let expected = "\
name: merge
server: {mode: real, seed: {a: {x: 1, y: 3}, list: [2]}}
timeline: []
";
    let read = reading_with(text, &["a", "b"]);
    assert_eq!(codes(&read), [""; 0]);
    let expected = meaning(&reading(expected).timeline.unwrap());
    assert_eq!(meaning(&read.timeline.unwrap()), expected);
}

#[test]
fn the_whole_timeline_may_come_of_rules() {
    let text = "name: x\nrules:\n  - {when: '$a', config: {timeline: [{log: a}]}}\n  - {default: true, config: {timeline: [{log: b}]}}\n";
    assert_eq!(logs(&reading_with(text, &["a"]).timeline.unwrap()), ["a"]);
    assert_eq!(logs(&reading(text).timeline.unwrap()), ["b"]);
}

#[test]
fn mistakes_in_rules_are_marked_where_they_are() {
    for (rule, code, marked) in [
        ("{when: '$a', default: true, config: {}}", "T-RULE-01", "{"),
        ("{config: {}}", "T-RULE-01", "{"),
        ("{default: true}", "T-RULE-01", "{"),
        ("{default: maybe, config: {}}", "T-RULE-01", "maybe"),
        ("{when: '$a && $b', config: {}}", "T-RULE-02", "$a && $b"),
        ("{when: 5, config: {}}", "T-RULE-02", "5"),
        (
            "{when: '$n == \"3\"', config: {}}",
            "T-RULE-03",
            "$n == \"3\"",
        ),
        ("{default: true, config: [a]}", "T-RULE-04", "[a]"),
    ] {
        let text = format!("name: x\ntimeline: []\nserver:\n  rules:\n    - {rule}\n");
        let read = reading_with(&text, &["n=3"]);
        assert_eq!(codes(&read), [code], "{rule}\n{:#?}", said(&read));
        let place = read.diagnostics[0].place.as_ref().unwrap();
        assert_eq!(place.source.slice(place.span), marked, "{rule}");
    }
}

#[test]
fn doubts_about_rules_are_told() {
    let text =
        "name: x\ntimeline: []\nserver:\n  rules:\n    - {when: '$flag', config: {mode: mock}}\n";
    let read = reading_with(text, &["flag=false"]);
    assert_eq!(codes(&read), ["T-RULE-06"]);
    assert_eq!(read.diagnostics[0].severity, Severity::Note);
    let mode = read.timeline.unwrap().server.mode;
    assert_eq!(mode, Some(crate::model::ServerMode::Mock));
    let text =
        "name: x\ntimeline: []\nserver:\n  rules:\n    - {default: false, config: {mode: mock}}\n";
    let read = reading(text);
    assert_eq!(codes(&read), ["T-RULE-08"]);
    assert_eq!(read.timeline.unwrap().server.mode, None);
}

#[test]
fn symbols_that_are_not_defined_are_listed() {
    let text = "name: x\ntimeline:\n  - rules:\n      - {when: '$verson >= 2', config: [{log: a}]}\n      - {when: '$version != 2', config: [{log: b}]}\n";
    let read = reading_with(text, &["version=1"]);
    let uses: Vec<(&str, bool, Option<&str>)> = read
        .symbols
        .iter()
        .map(|used| {
            (
                used.name.as_str(),
                used.is_defined,
                used.proposal.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        uses,
        [("verson", false, Some("version")), ("version", true, None)]
    );
    assert_eq!(logs(&read.timeline.unwrap()), ["b"]);
    assert!(logs(&reading(text).timeline.unwrap()).is_empty());
}

#[test]
fn branches_that_are_not_taken_are_looked_at() {
    let text = "\
name: x
timeline:
  - rules:
      - when: '$a'
        config:
          - statu: running
          - rules:
              - {when: '$b', config: [{status: runing}]}
              - {default: true, config: [{log: fine}]}
          - think: [[1, x]]
      - {default: true, config: [{log: y}]}
";
    let read = reading(text);
    assert_eq!(
        codes(&read),
        ["T-RULE-07", "T-RULE-07", "T-LOAD-10"],
        "{:#?}",
        said(&read)
    );
    assert!(read.timeline.is_some());
    assert!(
        read.diagnostics
            .iter()
            .all(|found| found.severity == Severity::Warning)
    );
    assert!(
        read.diagnostics[0]
            .notes
            .contains(&"T-LOAD-06 if the rule applies".to_owned())
    );
    let converted = read.converted.unwrap();
    assert!(
        converted.text().contains("llmResponse:"),
        "{}",
        converted.text()
    );
    let taken = reading_with(text, &["a"]);
    assert_eq!(
        codes(&taken),
        ["T-LOAD-06", "T-RULE-07", "T-LOAD-10"],
        "{:#?}",
        said(&taken)
    );
}

#[test]
fn arguments_may_have_a_key_that_is_called_rules() {
    let text =
        "name: x\ntimeline:\n  - agentToolUse: {toolName: mcp__a__b, args: {rules: [one, two]}}\n";
    let read = reading(text);
    assert_eq!(codes(&read), [""; 0], "{:#?}", said(&read));
    let EventKind::ToolUse(tool) = &read.timeline.as_ref().unwrap().events[0].kind else {
        panic!("a call");
    };
    assert_eq!(*tool.args, serde_json::json!({"rules": ["one", "two"]}));
}
