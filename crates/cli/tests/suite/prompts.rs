//! Secrets that are typed on a terminal.

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
    let scratch = scratch();
    scratch.write("s.json", SCENARIO).expect("writable");
    let script = r#""$0" play s.json --secret TOKEN; echo "ended with $?"; stty -a; echo over"#;
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
    let mut is_asked = false;
    let mut buffer = [0; 4096];
    let reading = async {
        while !shown.contains("over") {
            let length = pty.read(&mut buffer).await.expect("readable");
            shown.push_str(&String::from_utf8_lossy(&buffer[..length]));
            if !is_asked && shown.contains("TOKEN: ") {
                is_asked = true;
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
async fn a_secret_is_typed_and_not_shown() {
    let shown = answered(b"wrong\x15s3cret-1\n").await;
    assert!(
        shown.contains("ended with 0") && shown.contains(" echo "),
        "{shown}"
    );
    assert!(!shown.contains("s3cret-1"), "{shown}");
}
