//! A client of ACP in the terminal, whose agent plays the timeline together with the run.

use cuecard_testing::{peers, repository_root};

use super::{codes, run};
use crate::program;

const TIMELINE: &str = r#"
name: both
repo: {files: [{path: notes.txt, contents: "one\n"}]}
timeline:
  - userInputs: [[0, "Change the notes"]]
  - llmResponse: [{assistant: [[50, "I change them."]]}]
  - agentPermissionRequest:
      toolCall: {toolCallId: edit, title: Write notes.txt, kind: edit}
      options:
        - {id: once, label: This time, kind: allow_once}
        - {id: never, label: No, kind: reject_once}
      decision: {outcome: selected, optionId: once}
  - agentEdits: {path: notes.txt, oldText: "one\n", newText: "two\n"}
  - assert: {fs: {contains: [{path: notes.txt, substring: two}]}}
  - llmResponse: [{assistant: [[50, "They are changed."]]}]
  - screenshot: changed
  - assert:
      screen: {label: changed, contains: ["agent: They are changed.", "allow Write notes.txt"]}
      acp: {session: [{stopReason: end_turn}]}
  - userInputs: [[200, "Thanks"]]
  - llmResponse: [{assistant: [[50, "Gladly."]]}]
  - assert: {text: {contains: ["Gladly."]}}
"#;

/// From the model's words to the frame on the screen, in order, and each from what was asked.
const CASE: &str = r#"
schema_version: "0.1"
id: run.acp
title: What is asked for is allowed, written, said and shown
adapter: cuecard
adapter_input: { play: ./both.yaml }
assertions:
  - id: said-before-allowed
    type: tool_call_order
    params:
      before: { event_type: message, data: { content: I change them. } }
      after: { event_type: permission, caused_by: { event_type: message_received, data: { content: Change the notes } } }
  - id: allowed-before-written
    type: tool_call_order
    params:
      before: { event_type: permission }
      after: { event_type: file_edit, data: { path: notes.txt, lines_added: 1, lines_removed: 1 } }
  - id: written-before-shown
    type: tool_call_order
    params:
      before: { event_type: file_edit, caused_by: { event_type: message_received, data: { content: Change the notes } } }
      after: { event_type: screenshot, data: { label: changed } }
  - id: said-before-shown
    type: tool_call_order
    params:
      before: { event_type: message, data: { content: They are changed. } }
      after: { event_type: screenshot, data: { label: changed } }
  - id: shown-before-thanked
    type: tool_call_order
    params:
      before: { event_type: screenshot }
      after: { event_type: message, caused_by: { event_type: message_received, data: { content: Thanks } } }
"#;

#[test]
fn an_agent_of_acp_plays_together_with_the_run() {
    let Some(python) = peers::require_program("python3") else {
        return;
    };
    let scratch = program::scratch();
    let client = format!(
        "#!/bin/sh\nexec {} {} {} acp {}/both.yaml --run-dir \"$TMPDIR/acp\"\n",
        python.display(),
        repository_root().join("tests/run/acp_client.py").display(),
        env!("CARGO_BIN_EXE_cuecard"),
        scratch.work().display()
    );
    scratch.write("client.sh", &client).expect("writable");
    scratch.write("both.yaml", TIMELINE).expect("writable");
    scratch.write("both.test.yaml", CASE).expect("writable");
    let program = ["--program", "./client.sh"];
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(scratch.work().join("client.sh"), mode).expect("it can be run");
    let played = run(&scratch, &[&["both.yaml"], &program[..]].concat(), 0);
    assert_eq!(codes(&played), ["T-TERM-08"], "{played:#}");
    let tested = program::run(
        &scratch,
        &[&["test", "both.test.yaml"], &program[..]].concat(),
    );
    assert_eq!(tested.code(), Some(0), "{}", program::told(&tested));
    // What is said later is no cause, and another order is found out.
    let other = CASE.replace("content: Thanks", "content: Change the notes");
    scratch.write("both.test.yaml", &other).expect("writable");
    let tested = program::run(
        &scratch,
        &[&["test", "both.test.yaml"], &program[..]].concat(),
    );
    assert_eq!(tested.code(), Some(1), "{}", program::told(&tested));
    // What the client does not do is not told as done.
    let without = client.replace("acp_client.py", "acp_client.py --no-files");
    scratch.write("client.sh", &without).expect("writable");
    let shown = run(&scratch, &[&["both.yaml"], &program[..]].concat(), 1);
    assert_eq!(
        codes(&shown),
        ["T-TOOL-06", "T-ASRT-10", "T-TERM-08"],
        "{shown:#}"
    );
    let trace = format!("{}/trace.jsonl", shown["run"].as_str().expect("a folder"));
    let trace = std::fs::read_to_string(trace).expect("a trace");
    assert!(!trace.contains("file_edit"), "{trace}");
    scratch.write("client.sh", &client).expect("writable");
    // What the agent finds is found in the run.
    let other = TIMELINE.replace(
        "decision: {outcome: selected, optionId: once}",
        "decision: {outcome: selected, optionId: never}",
    );
    scratch.write("both.yaml", &other).expect("writable");
    let failed = run(&scratch, &[&["both.yaml"], &program[..]].concat(), 1);
    assert!(codes(&failed).contains(&"T-ACP-23"), "{failed:#}");
    let other = TIMELINE.replace("stopReason: end_turn", "stopReason: refusal");
    scratch.write("both.yaml", &other).expect("writable");
    let failed = run(&scratch, &[&["both.yaml"], &program[..]].concat(), 1);
    assert!(codes(&failed).contains(&"T-ASRT-10"), "{failed:#}");
    // The answer to the last prompt is judged, too, and that of an agent that comes with the first one.
    let late = client.replace("acp_client.py", "acp_client.py --late");
    for client in [&client, &late] {
        scratch.write("client.sh", client).expect("writable");
        for (reason, exit) in [("end_turn", 0), ("refusal", 1)] {
            let last = format!("  - assert: {{acp: {{session: [{{stopReason: {reason}}}]}}}}\n");
            let timeline = format!("{TIMELINE}{last}");
            scratch.write("both.yaml", &timeline).expect("writable");
            let ended = run(&scratch, &[&["both.yaml"], &program[..]].concat(), exit);
            let judged: &[&str] = if exit == 0 {
                &["T-TERM-08"]
            } else {
                &["T-TERM-08", "T-ASRT-10"]
            };
            assert_eq!(codes(&ended), judged, "{ended:#}");
        }
    }
    // Without such an agent nobody judges it.
    scratch
        .write("client.sh", "#!/bin/sh\ncat\n")
        .expect("writable");
    let alone = run(&scratch, &[&["both.yaml"], &program[..]].concat(), 1);
    assert!(codes(&alone).contains(&"T-TERM-09"), "{alone:#}");
    let unjudged = alone["findings"].to_string();
    assert!(unjudged.contains("nobody judged it"), "{unjudged}");
}
