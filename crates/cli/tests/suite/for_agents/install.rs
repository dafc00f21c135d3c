//! Places in which nothing can be installed.

use std::os::unix::fs::symlink;

use cuecard_testing::scratch::Scratch;

use super::*;

/// Nothing is installed, the message has `words`, and every file is as it was.
#[track_caller]
fn is_refused(scratch: &Scratch, args: &[&str], words: &str) {
    let before: Vec<(String, String)> = contents(scratch);
    let finished = program::run(scratch, &[&["skill", "install"], args].concat());
    let told = program::told(&finished);
    assert_eq!(finished.code(), Some(2), "{told}");
    assert!(finished.stderr.contains(words), "{words}\n{told}");
    assert!(finished.stderr.contains("help: "), "{told}");
    assert_eq!(contents(scratch), before, "{told}");
}

fn contents(scratch: &Scratch) -> Vec<(String, String)> {
    let root = scratch.work();
    let root = root.parent().expect("a folder");
    let text = |file: &String| fs::read_to_string(root.join(file)).unwrap_or_default();
    files_below(root)
        .into_iter()
        .map(|file| (file.clone(), text(&file)))
        .collect()
}

#[test]
fn links_that_lead_out_of_a_project_are_refused() {
    for link in [".claude", ".mcp.json"] {
        let scratch = program::scratch();
        symlink(scratch.home().join("elsewhere"), scratch.work().join(link)).expect("linked");
        is_refused(
            &scratch,
            &["--project", "--agent", "claude-code"],
            "is outside of",
        );
    }
}

#[test]
fn a_link_in_the_home_is_followed() {
    let scratch = program::scratch();
    let dotfiles = scratch.home().join("dotfiles");
    fs::create_dir_all(&dotfiles).expect("writable");
    fs::write(dotfiles.join("claude.json"), "{\"a\": 1}").expect("writable");
    symlink(
        dotfiles.join("claude.json"),
        scratch.home().join(".claude.json"),
    )
    .expect("linked");
    let finished = program::run(&scratch, &["skill", "install", "--agent", "claude-code"]);
    assert_eq!(finished.code(), Some(0), "{}", program::told(&finished));
    assert!(scratch.home().join(".claude.json").is_symlink());
    let text = fs::read_to_string(dotfiles.join("claude.json")).expect("text");
    assert!(
        text.starts_with("{\"a\": 1,") && text.contains("\"cuecard\""),
        "{text}"
    );
}

#[test]
fn a_config_that_is_no_file_is_refused() {
    let scratch = program::scratch();
    fs::create_dir_all(scratch.work().join(".mcp.json")).expect("writable");
    is_refused(
        &scratch,
        &["--project", "--agent", "claude-code"],
        "not a regular file",
    );
}

#[test]
fn a_config_that_is_no_text_is_refused() {
    let scratch = program::scratch();
    fs::write(scratch.work().join(".mcp.json"), b"{\"a\": \"\xff\"}").expect("writable");
    is_refused(
        &scratch,
        &["--project", "--agent", "claude-code"],
        ".mcp.json` can't be read",
    );
}

/// The last of several files can't be written: those before it are taken back.
#[cfg(target_os = "linux")]
#[test]
fn what_was_written_is_taken_back() {
    let scratch = program::scratch();
    fs::write(scratch.home().join(".claude.json"), "{}").expect("writable");
    // Not even root makes files there.
    symlink("/proc/self", scratch.home().join(".gemini")).expect("linked");
    is_refused(
        &scratch,
        &["--agent", "claude-code", "--agent", "gemini"],
        ".gemini",
    );
}
