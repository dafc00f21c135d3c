//! What is typed on a terminal: secrets, and the keys of the mock agent.

use std::ffi::OsString;
use std::time::Duration;

use cuecard_runtime::process::{ProcessGroup, ProcessSpec};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::program::scratch;

const SCENARIO: &str = r#"{"version": "2.1", "metadata": {"name": "n"}, "variables": {"TOKEN": ""}, "steps": [
    {"step": 1, "tool": "mcp__demo__echo", "params": {"message": "it is {{TOKEN}}"}}]}"#;

/// What a terminal shows in which a secret is asked for and answered with `typed`; then how the program ended, and whether
/// the terminal shows what is typed.
async fn answered(typed: &[u8]) -> String {
    let command = r#""$0" play s.json --secret TOKEN; echo "ended with $?"; stty -a; echo over"#;
    in_terminal(("s.json", SCENARIO), command, &[("TOKEN: ", typed)]).await
}

/// What a terminal shows in which a command line is run, until it shows `over`. Each of the keys is pressed once the text
/// before them is shown.
async fn in_terminal(
    (file, text): (&str, &str),
    script: &str,
    mut keys: &[(&str, &[u8])],
) -> String {
    let scratch = scratch();
    scratch.write(file, text).expect("writable");
    let program = env!("CARGO_BIN_EXE_cuecard");
    let spec = ProcessSpec {
        program: "sh".into(),
        args: ["-c", script, program].map(OsString::from).to_vec(),
        env: [
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", scratch.home().display().to_string()),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into(),
        cwd: Some(scratch.work()),
    };
    let (mut group, mut pty) =
        ProcessGroup::spawn_in_terminal(&spec, (100, 30)).expect("a terminal");
    let mut shown = String::new();
    let mut from = 0;
    let mut buffer = [0; 4096];
    let reading = async {
        while !shown.contains("over") {
            let length = pty.read(&mut buffer).await.expect("readable");
            shown.push_str(&String::from_utf8_lossy(&buffer[..length]));
            while let [(awaited, typed), rest @ ..] = keys
                && let Some(at) = shown[from..].find(awaited)
            {
                (from, keys) = (from + at + awaited.len(), rest);
                pty.write_all(typed).await.expect("writable");
            }
        }
    };
    let is_over = tokio::time::timeout(Duration::from_secs(60), reading).await;
    group.signal_kill();
    assert!(is_over.is_ok(), "{shown}");
    shown
}

#[tokio::test]
async fn ctrl_c_at_the_prompt_for_a_secret_leaves_the_terminal_as_it_was() {
    let shown = answered(b"s3cr\x03").await;
    assert!(shown.contains("ended with 130"), "{shown}");
    let has = |mode: &str| shown.split_whitespace().any(|word| word == mode);
    assert!(has("echo") && has("isig"), "{shown}");
    assert!(!shown.contains("s3cr"), "{shown}");
}

#[tokio::test]
async fn a_signal_at_the_prompt_for_a_secret_leaves_the_terminal_as_it_was() {
    for signal in ["INT", "TERM", "HUP"] {
        let command = format!(
            r#"(until stty -a </dev/tty | grep -q -- "-echo "; do sleep 0.05; done; kill -{signal} "$(cat pid)") &
            sh -c 'echo $$ >pid; exec "$0" play s.json --secret TOKEN' "$0"; echo "ended with $?"; stty -a; echo over"#
        );
        let shown = in_terminal(("s.json", SCENARIO), &command, &[]).await;
        assert!(shown.contains("ended with 130"), "{signal}: {shown}");
        let has = |mode: &str| shown.split_whitespace().any(|word| word == mode);
        assert!(has("echo") && has("isig"), "{signal}: {shown}");
    }
}

#[tokio::test]
async fn a_secret_is_typed_and_not_shown() {
    let shown = answered(b"wrong\x15s3cret-1\n").await;
    assert!(
        shown.contains("ended with 0") && shown.contains(" echo "),
        "{shown}"
    );
    assert!(!shown.contains("s3cret-1"), "{shown}");
}

const TURNS: &str = "\
name: turns
timeline:
  - userInputs: [[0, First]]
  - runCmd: {cmd: 'echo begun; sleep 60'}
  - llmResponse: [{assistant: [[0, 'All of it.']]}]
  - userInputs: [[0, Second]]
  - llmResponse: [{assistant: [[0, 'Working.']]}]
  - agentToolUse:
      toolName: runCmd
      args: {cmd: 'sleep 60'}
      progress: [[0, 'under way'], [50000, 'never told']]
  - userCancelSession: {at: 10}
  - userInputs: [[20, Third]]
  - llmResponse: [{assistant: [[0, 'In the end.']]}]
";

/// The screen of the mock agent that plays `TURNS`.
async fn of_agent(keys: &[(&str, &[u8])]) -> String {
    let command = r#""$0" agent t.yaml; echo "ended with $?"; stty -a; echo over"#;
    in_terminal(("t.yaml", TURNS), command, keys).await
}

#[tokio::test]
async fn ctrl_c_interrupts_a_turn_and_the_agent_goes_on() {
    let shown = of_agent(&[
        ("> ", b"First\r"),
        ("echo begun", b"\x03"),
        ("Interrupted", b""),
        ("> ", b"Second\r"),
        // The timeline has this one.
        ("under way", b"\x03"),
        ("Interrupted", b""),
        ("> ", b"Third\r"),
    ])
    .await;
    assert!(shown.contains("In the end."), "{shown}");
    assert!(!shown.contains("All of it."), "{shown}");
    assert!(
        shown.contains("ended with 1") && shown.contains("T-TERM-10"),
        "{shown}"
    );
    assert_eq!(shown.matches("error[").count(), 1, "{shown}");
}

#[tokio::test]
async fn ctrl_c_clears_the_line_and_then_ends_the_agent() {
    let shown = of_agent(&[("> ", b"Rubbish"), ("Rubbish", b"\x03"), ("", b"\x03")]).await;
    assert!(shown.contains("ended with 130"), "{shown}");
    let shown = of_agent(&[
        ("> ", b"Rubbish\x03First\r"),
        ("echo begun", b"\x03"),
        ("Interrupted", b""),
        ("> ", b"\x03"),
    ])
    .await;
    assert!(shown.contains("ended with 130"), "{shown}");
}
