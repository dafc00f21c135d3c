//! Every form loads to the model of its canonical form, and the conversion is that form.

use super::{codes, file, meaning, meaning_of, reading, said};

/// Two events, or lists of them, that mean the same; the codes of the second.
struct Pair {
    canonical: &'static str,
    other: &'static str,
    codes: &'static [&'static str],
    /// Whether the conversion makes the first of the second.
    converts: bool,
}

const fn pair(
    canonical: &'static str,
    other: &'static str,
    codes: &'static [&'static str],
) -> Pair {
    Pair {
        canonical,
        other,
        codes,
        converts: !codes.is_empty(),
    }
}

const EVENTS: &[Pair] = &[
    // Words that stand alone.
    pair("- sessionStart: {}", "- sessionStart", &[]),
    pair("- sessionStart: {}", "- sessionStart:", &[]),
    pair("- sessionStart: {}", "- sessionStart: true", &[]),
    pair("- complete: true", "- complete", &[]),
    pair("- complete: true", "- complete:", &[]),
    pair("- complete: true", "- complete: {}", &[]),
    pair("- merge: true", "- merge", &[]),
    pair("- merge: true", "- merge: {}", &[]),
    pair("- userCancelSession: {}", "- userCancelSession", &[]),
    pair("- userCancelSession: {}", "- userCancelSession: true", &[]),
    pair("- log: x", "- log: x\n- complete: false", &["T-LOAD-09"]),
    pair(
        "- log: x\n- log: y",
        "- merge: false\n- log: x\n# why\n- sessionStart: false\n- userCancelSession: false\n- log: y",
        &["T-LOAD-09", "T-LOAD-09", "T-LOAD-09"],
    ),
    pair(
        "- agentActions: []\n- userActions: [{log: x}]",
        "- agentActions: [{merge: false}]\n- userActions: [{merge: false}, {complete: false}, {log: x}, {merge: false}]",
        &["T-LOAD-09", "T-LOAD-09", "T-LOAD-09", "T-LOAD-09"],
    ),
    // Wrappers.
    pair(
        "- log: a\n- runCmd: {cmd: ls}\n- agentPlan: {entries: [{content: x, priority: low, status: pending}]}",
        "- agentActions:\n    - log: a\n    - agentActions: [{runCmd: {cmd: ls}}]\n    - agentPlan: {entries: [{content: x, priority: low, status: pending}]}",
        &[],
    ),
    pair(
        "- userInputs: [{relativeTime: 1, input: q, target: tui}, {relativeTime: 2, input: w, target: cli}]",
        "- userActions:\n    - userInputs: [{relativeTime: 1, input: q}, {relativeTime: 2, input: w, target: cli}]\n  target: tui",
        &[],
    ),
    // Shorthands.
    pair(
        "- agentToolUse: {toolName: runCmd, args: {cmd: ls}, result: a, status: error, progress: [[1, go]]}",
        "- runCmd: {cmd: ls, result: a, status: error, progress: [[1, go]]}",
        &[],
    ),
    pair(
        "- agentToolUse: {toolName: grep, args: {pattern: x}, result: {n: 1}, toolCallId: c9}",
        "- grep: {pattern: x}\n  result: {n: 1}\n  toolCallId: c9",
        &[],
    ),
    pair(
        "- agentToolUse: {toolName: sed, args: {expression: s/a/b/, path: f}, status: ok}",
        "- sed: {expression: s/a/b/, path: f}\n  status: ok",
        &[],
    ),
    pair(
        "- agentToolUse: {toolName: task, args: {description: d, prompt: p, subagent_type: s}, _meta: {a: 1}}",
        "- task: {description: d, prompt: p, subagent_type: s, _meta: {a: 1}}",
        &[],
    ),
    // Responses.
    pair(
        "- llmResponse:\n    - think: [[1, a]]\n    - assistant: [[2, b]]",
        "- llmResponse:\n    think: [[1, a]]\n    assistant: [[2, b]]",
        &["T-LOAD-16"],
    ),
    pair(
        "- llmResponse: [{think: [[1, a]]}, {assistant: [[2, b]]}]",
        "- llmResponse: {think: [[1, a]], assistant: [[2, b]]}",
        &["T-LOAD-16"],
    ),
    pair(
        "- llmResponse:\n    - assistant: [[2, b]]",
        "- assistant:\n    - [2, b]",
        &["T-LOAD-10"],
    ),
    pair(
        "- llmResponse:\n    - think: [[1, a]]\n    - assistant: [[2, b]]",
        "- think:\n    - [1, a]\n- assistant:\n    - [2, b]",
        &["T-LOAD-10", "T-LOAD-10"],
    ),
    pair(
        "- llmResponse:\n    - think: [[1, a]]\n- llmResponse:\n    - think: [[1, a]]\n- llmResponse:\n    - assistant: [[1, a]]\n- log: x\n- llmResponse:\n    - assistant: [[1, a]]",
        "- think: [[1, a]]\n- llmResponse:\n    - think: [[1, a]]\n- assistant: [[1, a]]\n- log: x\n- assistant: [[1, a]]",
        &["T-LOAD-10", "T-LOAD-10", "T-LOAD-10"],
    ),
    pair(
        "- llmResponse: []\n- agentToolUse: {toolName: runCmd, args: {cmd: ls}, result: a, delayMs: 5}\n- log: x",
        "- llmResponse:\n    - tool: [[5, Bash], {command: ls}, {result: a}, {status: completed}]\n- log: x",
        &["T-LOAD-11", "T-LOAD-13", "T-LOAD-13", "T-LOAD-15"],
    ),
    pair(
        "- llmResponse:\n    - assistant: [[1, a]]\n    - agentToolUse: {toolName: runCmd, args: {cmd: ls}}\n    - think: [[2, b]]\n  usage: {input_tokens: 1}\n- agentToolUse: {toolName: grep, args: {pattern: x}}",
        "- llmResponse:\n    - assistant: [[1, a]]\n    - agentToolUse:\n        toolName: Bash\n        args: {command: ls}\n    - think: [[2, b]]\n    - agentToolUse: {toolName: grep, args: {pattern: x}}\n  usage: {input_tokens: 1}",
        &["T-LOAD-13", "T-LOAD-13", "T-LOAD-11"],
    ),
    pair(
        "- llmResponse:\n    - assistant: [[1, a]]\n    - think: [[2, b]]\n- agentToolUse:\n    toolName: runCmd\n    args: {cmd: ls}\n- agentToolUse: {toolName: grep, args: {pattern: x}}",
        "- llmResponse:\n    - assistant: [[1, a]]\n    - think: [[2, b]]\n    - agentToolUse:\n        toolName: Bash\n        args: {command: ls}\n    - agentToolUse: {toolName: grep, args: {pattern: x}}",
        &["T-LOAD-11", "T-LOAD-13", "T-LOAD-13", "T-LOAD-11"],
    ),
    pair(
        "- agentActions: [{llmResponse: []}, {agentToolUse: {toolName: grep, args: {pattern: x}}}, {log: y}]",
        "- agentActions: [{llmResponse: [{agentToolUse: {toolName: grep, args: {pattern: x}}}]}, {log: y}]",
        &["T-LOAD-11"],
    ),
    pair(
        "- llmResponse:\n    - assistant: [[1, a]]\n- agentToolUse: {toolName: grep, args: {pattern: x}}",
        "- llmResponse:\n    assistant: [[1, a]]\n    agentToolUse: {toolName: grep, args: {pattern: x}}",
        &["T-LOAD-16", "T-LOAD-11"],
    ),
    pair(
        "- llmResponse: [{assistant: [[1, a]]}]\n- agentToolUse: {toolName: runCmd, args: {cmd: ls}, result: r, status: ok}",
        "- llmResponse: [{assistant: [[1, a]]}, {agentToolUse: {toolName: runCmd, args: {cmd: ls}, result: r, status: ok}}]",
        &["T-LOAD-11"],
    ),
    pair(
        "- agentActions:\n    - llmResponse: [{think: [[1, a]]}]\n- llmResponse: [{assistant: [[2, b]]}]",
        "- agentActions:\n    - think: [[1, a]]\n- assistant: [[2, b]]",
        &["T-LOAD-10", "T-LOAD-10"],
    ),
    // Entries.
    pair(
        "- llmResponse: [{assistant: [[0, hello]]}]",
        "- llmResponse: [{assistant: [hello]}]",
        &["T-LOAD-16"],
    ),
    pair(
        "- llmResponse: [{assistant: [[0, \"a: b\"]]}]",
        "- llmResponse: [{assistant: \"a: b\"}]",
        &["T-LOAD-16"],
    ),
    pair(
        "- llmResponse: [{think: [{relativeTime: 5, content: a}]}]",
        "- llmResponse: [{think: [{timestamp: 5, text: a}]}]",
        &["T-LOAD-12", "T-LOAD-12"],
    ),
    pair(
        "- runCmd: {cmd: ls, progress: [{relativeTime: 5, message: a}, {relativeTime: 6, message: b}]}",
        "- runCmd: {cmd: ls, progress: [{relativeTime: 5, text: a}, {relativeTime: 6, content: b}]}",
        &["T-LOAD-12", "T-LOAD-12"],
    ),
    pair(
        "- userInputs: [[0, hi]]",
        "- userInputs: hi",
        &["T-LOAD-16"],
    ),
    pair(
        "- userInputs: [[0, \"one\\ntwo\\n\"]]",
        "- userInputs: |\n    one\n    two",
        &["T-LOAD-16"],
    ),
    pair(
        "- userInputs: [{relativeTime: 1, input: a, target: cli}]",
        "- userInputs: [{relativeTime: 1, input: a}]\n  target: cli",
        &[],
    ),
    pair("- baseTimeDelta: 5", "- advanceMs: 5", &[]),
    // Type-tagged.
    pair(
        "- agentEdits:\n    path: a\n    linesAdded: 1",
        "- type: agentEdits\n  path: a\n  linesAdded: 1",
        &["T-LOAD-10"],
    ),
    pair("- complete: true", "- type: complete", &["T-LOAD-10"]),
    pair(
        "- runCmd: {cmd: ls, status: error}",
        "- {type: runCmd, cmd: ls, status: error}",
        &["T-LOAD-10"],
    ),
    pair(
        "- screenshot: a",
        "- type: screenshot\n  label: a",
        &["T-LOAD-10"],
    ),
    // Calls.
    pair(
        "- runCmd: {cmd: ls, status: ok}",
        "- runCmd: {cmd: ls, status: completed}",
        &["T-LOAD-15"],
    ),
    pair(
        "- runCmd: {cmd: ls, status: ok}",
        "- runCmd: {cmd: ls, status: success}",
        &["T-LOAD-15"],
    ),
    pair(
        "- runCmd: {cmd: ls, status: error}",
        "- runCmd: {cmd: ls, status: failed}",
        &["T-LOAD-15"],
    ),
    pair(
        "- agentToolUse: {toolName: runCmd, args: {cmd: ls}, toolCallId: c1}",
        "- agentToolUse: {toolName: runCmd, args: {cmd: ls, toolCallId: c1}}",
        &["T-LOAD-14"],
    ),
    pair(
        "- agentToolUse: {toolName: runCmd, args: {cmd: ls}}",
        "- agentToolUse: {toolName: Bash, args: {command: ls}}",
        &["T-LOAD-13", "T-LOAD-13"],
    ),
    pair(
        "- {\"runCmd\":{\"cmd\":\"ls\",\"status\":'ok'}}",
        "- {\"run_cmd\":{\"command\":\"ls\",\"status\":'completed'}}",
        &["T-LOAD-13", "T-LOAD-13", "T-LOAD-15"],
    ),
    pair(
        "- runCmd: {cmd: ls}",
        "- run_cmd: {command: ls}",
        &["T-LOAD-13", "T-LOAD-13"],
    ),
    pair(
        "- writeFile: {path: a, content: b}",
        "- write_file: {file_path: a, text: b}",
        &["T-LOAD-13", "T-LOAD-13", "T-LOAD-13"],
    ),
    pair(
        "- replaceInFile: {path: a, old_string: b, new_string: c}",
        "- replace_in_file: {path: a, old: b, new_str: c}",
        &["T-LOAD-13", "T-LOAD-13", "T-LOAD-13"],
    ),
    pair(
        "- editFile: {path: a, old_string: b, new_string: c}",
        "- Edit: {file_path: a, old_str: b, new: c}",
        &["T-LOAD-13", "T-LOAD-13", "T-LOAD-13", "T-LOAD-13"],
    ),
    pair(
        "- agentToolUse:\n    toolName: runCmd\n    toolCallId: c1\n    args:\n      cmd: ls",
        "- agentToolUse:\n    toolName: runCmd\n    args:\n      toolCallId: c1\n      cmd: ls",
        &["T-LOAD-14"],
    ),
    // Asserts.
    pair(
        "- assert: {git: {commit: [{messageContains: x}]}}",
        "- assert: {git: {commit: [{messageContains: x, ref: HEAD}]}}",
        &[],
    ),
    pair(
        "- assert:\n    git:\n      headMessageContains: x",
        "- assertGit:\n    headMessageContains: x",
        &["T-LOAD-12"],
    ),
    pair(
        "- assert: {git: {branch: {name: x}}}",
        "- assert: {git: {branch: x}}",
        &[],
    ),
    // `_meta`.
    pair(
        "- agentPlan: {entries: [{content: x, priority: low, status: pending}]}\n  _meta: {a: 1, b: {c: 3, d: 2}}",
        "- agentPlan: {entries: [{content: x, priority: low, status: pending}], _meta: {b: {c: 3}}}\n  _meta: {a: 1, b: {c: 1, d: 2}}",
        &[],
    ),
    pair(
        "- llmResponse: [{assistant: [[0, a]]}]\n  _meta: {a: 1}",
        "- llmResponse: [{_meta: {a: 1}}, {assistant: [[0, a]]}]",
        &[],
    ),
    pair(
        "- setMode: {modeId: ask}\n  _meta: {a: 1}",
        "- setMode: {modeId: ask}\n  meta: {a: 1}",
        &["T-LOAD-12"],
    ),
    pair(
        "- initialize: {protocolVersion: 1}\n  expectedResponse: {protocolVersion: 1}",
        "- initialize: {protocolVersion: 1, expectedResponse: {protocolVersion: 1}}",
        &[],
    ),
    // Blocks.
    pair(
        "- llmResponse: [{assistant: [[0, {type: resource_link, uri: a, name: b, mimeType: text/plain}]]}]",
        "- llmResponse: [{assistant: [[0, {type: resourceLink, uri: a, name: b, mime_type: text/plain}]]}]",
        &["T-LOAD-12", "T-LOAD-12"],
    ),
    pair(
        "- llmResponse: [{assistant: [[0, {type: diff, path: /a, oldText: b, newText: c}]]}]",
        "- llmResponse: [{assistant: [[0, {type: diff, path: /a, old_text: b, new_text: c}]]}]",
        &["T-LOAD-12", "T-LOAD-12"],
    ),
    pair(
        "- llmResponse: [{assistant: [[0, {type: text, text: a, annotations: {priority: 0.5, audience: [user]}}]]}]",
        "- llmResponse: [{assistant: [[0, {type: text, text: a, annotations: [{priority: 0.2, audience: [user]}, {priority: 0.5}]}]]}]",
        &["T-LOAD-16"],
    ),
    // Permission.
    pair(
        "- agentPermissionRequest: {toolCall: {kind: edit}, options: [{id: a, label: A, kind: allow_once}], granted: true}",
        "- agentPermissionRequest: {toolCall: {kind: edit}, options: [{optionId: a, name: A, kind: allow_once}], decision: {outcome: selected, optionId: a}}",
        &[],
    ),
    pair(
        "- userInputs: [{relativeTime: 0, input: a, expectedResponse: {stopReason: end_turn}}]",
        "- userInputs: [{relativeTime: 0, input: a, expectedResponse: {stopReason: completed}}]",
        &["T-ACP-10"],
    ),
];

#[test]
fn every_form_of_an_event_means_what_its_canonical_form_does() {
    for pair in EVENTS {
        check(&file(pair.canonical), &file(pair.other), pair);
    }
}

/// What a scenario is chosen by, and what its events are.
fn chosen_by(text: &str) -> (Option<String>, usize) {
    let timeline = reading(text).timeline.expect(text);
    (timeline.effective_prompt(), timeline.events.len())
}

#[test]
fn an_initial_prompt_becomes_the_first_input() {
    for (text, converted) in [
        (
            "name: a\ninitialPrompt: |\n  Do\n  it\ntimeline:\n  # first\n  - log: x\n",
            "name: a\ntimeline:\n  # first\n  - userInputs: [[0, \"Do\\nit\\n\"]]\n  - log: x\n",
        ),
        (
            "timeline:\n- log: x\n- sessionStart\n- log: y\nname: a\ninitialPrompt: Do it",
            "timeline:\n- log: x\n- sessionStart\n- userInputs: [[0, \"Do it\"]]\n- log: y\nname: a\n",
        ),
        (
            "name: a\ninitialPrompt: Never\ntimeline:\n  - userInputs: [[0, Do it]]\n",
            "name: a\ntimeline:\n  - userInputs: [[0, Do it]]\n",
        ),
    ] {
        let read = reading(text);
        assert_eq!(codes(&read), ["T-LOAD-12"], "{:#?}", said(&read));
        let found = read.converted.expect(text);
        assert_eq!(found.text(), converted);
        let again = reading(converted);
        assert_eq!(codes(&again), [""; 0], "{converted}");
        assert!(again.converted.is_none());
        assert_eq!(chosen_by(text).0, chosen_by(converted).0, "{text}");
    }
    for kept in [
        "name: a\ninitialPrompt: Do it\nacp: {}\ntimeline: []\n",
        "name: a\ninitialPrompt: Do it\ntimeline:\n  - rules: [{default: true, config: []}]\n",
        "{name: a, initialPrompt: Do it, timeline: []}\n",
        "name: a\ninitialPrompt: Do it # so\ntimeline:\n  - log: x\n",
        "name: a\ninitialPrompt: Do it\ntimeline: [{log: x}]\n",
    ] {
        assert!(reading(kept).converted.is_none(), "{kept}");
    }
}

fn check(canonical: &str, other: &str, pair: &Pair) {
    let expected = reading(canonical);
    assert_eq!(
        codes(&expected),
        [""; 0],
        "{canonical}\n{:#?}",
        said(&expected)
    );
    let read = reading(other);
    assert_eq!(codes(&read), pair.codes, "{other}\n{:#?}", said(&read));
    let expected = meaning(&expected.timeline.unwrap());
    let found = read.timeline.as_ref().map(meaning);
    assert_eq!(found.as_ref(), Some(&expected), "{other}");
    match read.converted {
        Some(converted) => {
            assert!(pair.converts, "{other}\n{}", converted.text());
            let again = reading(converted.text());
            assert_eq!(codes(&again), [""; 0], "{}", converted.text());
            assert!(again.converted.is_none());
            assert_eq!(
                meaning_of(converted.text()),
                expected,
                "{}",
                converted.text()
            );
        }
        None => assert!(!pair.converts, "not converted: {other}"),
    }
}

#[test]
fn every_form_of_a_setting_means_what_its_canonical_form_does() {
    for pair in [
        pair(
            "repo: {files: [{path: a, contents: b}]}",
            "repo: {files: [{path: a, content: b}]}",
            &["T-LOAD-12"],
        ),
        pair(
            "repo: {files: [{path: a, contents: hello}]}",
            "repo: {files: [{path: a, contents: {base64: aGVsbG8=}}]}",
            &[],
        ),
        pair(
            "expect: {exitCode: 3}",
            "expect: {exit_code: 3}",
            &["T-LOAD-12"],
        ),
        pair(
            "expect: {artifacts: [{type: taskFile, pattern: a}]}",
            "expect: {artifacts: [{type: file, pattern: a}]}",
            &[],
        ),
        pair(
            "acp: {mcpServers: [{name: a, command: b, env: [{name: C, value: d}]}]}",
            "acp: {mcpServers: [{name: a, command: b, env: {C: d}}]}",
            &["T-LOAD-16"],
        ),
        pair(
            "acp: {mcpServers: [{name: a, command: b, env: []}]}",
            "acp: {mcpServers: [{name: a, command: b, env: {}}]}",
            &[],
        ),
        pair(
            "acp: {mcpServers: [{name: a, type: stdio, command: b}]}",
            "acp: {mcpServers: [{name: a, command: b}]}",
            &[],
        ),
        pair(
            "ah: {env: {A: '1', B: 'true'}}",
            "ah: {env: {A: 1, B: true}}",
            &[],
        ),
    ] {
        let text = |setting: &str| format!("name: test\n{setting}\ntimeline: []\n");
        check(&text(pair.canonical), &text(pair.other), &pair);
    }
}

#[test]
fn compat_silences_the_forms_it_allows() {
    let typed = "name: t\ncompat: {allowTypeSteps: true}\ntimeline:\n  - {type: log, message: a}\n";
    assert_eq!(codes(&reading(typed)), [""; 0]);
    let inline = "name: t\nterminalRef: {width: 80}\ntimeline: []\n";
    assert_eq!(codes(&reading(inline)), ["T-LOAD-16"]);
    let allowed = format!("{inline}compat: {{allowInlineTerminal: true}}\n");
    assert_eq!(codes(&reading(&allowed)), [""; 0]);
}

#[test]
fn an_item_with_more_than_its_values_stays_and_so_does_what_is_around_others() {
    let text = "\
name: kept   # the name
timeline:
  # what it thinks
  - think:
      - [5, 'a  b']   # first

      - {timestamp: 7, text: \"c\"}
  - assistant: [[1, d]] # x
  - log:   'e'  # y
  - {type: log, message: 'a # b'}
  - &f userInputs: |
      # a title
      two lines
  - merge: false # not yet
  - complete: false
  - assistant: &g [[1, d]]
  - runCmd: {cmd: ls, progress: '#1'}
  - log: h
";
    let read = reading(text);
    let converted = read.converted.expect("older forms");
    let expected = "\
name: kept   # the name
timeline:
  # what it thinks
  - think:
      - [5, 'a  b']   # first

      - {relativeTime: 7, content: \"c\"}
  - assistant: [[1, d]] # x
  - log:   'e'  # y
  - log: { message: \"a # b\" }
  - &f userInputs: |
      # a title
      two lines
  - merge: false # not yet
  - assistant: &g [[1, d]]
  - agentToolUse: { toolName: runCmd, args: { cmd: ls }, progress: [[0, \"#1\"]] }
  - log: h
";
    assert_eq!(converted.text(), expected);
}

#[test]
fn calls_are_counted_over_the_file() {
    let read = reading(&file(
        "- runCmd: {cmd: a}\n- agentEdits: {path: a, linesAdded: 1}\n- grep: {pattern: x, toolCallId: own}\n- agentActions: [{runCmd: {cmd: b}}]",
    ));
    let timeline = read.timeline.unwrap();
    let ids: Vec<&str> = timeline
        .events
        .iter()
        .map(|event| match &event.kind {
            crate::model::EventKind::ToolUse(tool) => tool.call_id.as_str(),
            crate::model::EventKind::AgentEdits(edits) => edits.call_id.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids, ["call_1", "call_2", "own", "call_4"]);
}

#[test]
fn words_of_older_yaml_are_text() {
    let read = reading(&file("- log: yes\n- screenshot: on"));
    assert_eq!(codes(&read), [""; 0], "{:#?}", said(&read));
}
