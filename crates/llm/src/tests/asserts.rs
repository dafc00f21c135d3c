//! Asserts between turns: each kind, where it holds and where it doesn't.

use std::ffi::OsString;
use std::path::Path;

use super::*;
use cuecard_runtime::process::{ProcessGroup, ProcessSpec};

/// The environment that `git` runs in.
fn environment() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// Runs `git` in a folder, as nobody in particular and without the machine's own settings.
async fn git(folder: &Path, args: &[&str]) {
    let variables = [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_AUTHOR_NAME", "a"),
        ("GIT_AUTHOR_EMAIL", "a@example.org"),
        ("GIT_COMMITTER_NAME", "a"),
        ("GIT_COMMITTER_EMAIL", "a@example.org"),
    ];
    let spec = ProcessSpec {
        program: "git".into(),
        args: args.iter().map(Into::into).collect(),
        env: variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        cwd: Some(folder.to_owned()),
    };
    let mut git = ProcessGroup::spawn(&spec, &environment()).expect("git starts");
    let status = git.wait().await.expect("git ends");
    assert!(status.success(), "git {args:?}");
}

/// A repository with two commits on `work`, one of which `main` has too.
async fn repository(folder: &Path) {
    git(folder, &["init", "-q", "-b", "main"]).await;
    git(folder, &["commit", "-q", "--allow-empty", "-m", "Begin"]).await;
    git(folder, &["checkout", "-q", "-b", "work"]).await;
    git(
        folder,
        &["commit", "-q", "--allow-empty", "-m", "Mend the gate"],
    )
    .await;
    git(folder, &["remote", "add", "origin", "/nowhere"]).await;
    // As after a push.
    git(
        folder,
        &["update-ref", "refs/remotes/origin/work", "refs/heads/work"],
    )
    .await;
}

/// What is found when this assert stands between two turns: the status of the second one, and codes with messages.
async fn asserted(assert: &str) -> (u16, Vec<(&'static str, String)>) {
    let timeline = format!(
        "  - userInputs: [[0, \"Begin\"]]
  - llmResponse: [{{assistant: [[0, \"One\"]]}}]
  - assert: {assert}
  - userInputs: [[0, \"Go on\"]]
  - llmResponse: [{{assistant: [[0, \"Two\"]]}}]
"
    );
    let played = Played::with(&timeline, |options| options.environment = environment()).await;
    let work = played.folder.path().join("work");
    repository(&work).await;
    for (name, text) in [
        ("notes.txt", "All is well.\n"),
        ("a.json", "{\"list\": [1, {\"x\": 2.0}]}"),
        ("a.yaml", "list:\n  - 1\n  - x: 2\n"),
        ("a.toml", "list = [1, {x = 2}]\n"),
    ] {
        std::fs::write(work.join(name), text).expect("writable");
    }
    assert_eq!(played.chat(said("Begin")).await.content(), "One");
    let history = json!([
        {"role": "user", "content": "Begin"}, {"role": "assistant", "content": "One"},
        {"role": "user", "content": "Go on"},
    ]);
    let status = played.chat(history).await.status.as_u16();
    let verdict = played.running.stop().await;
    let found = verdict.findings.into_iter();
    let found = found
        .map(|found| (found.code.name(), found.message))
        .collect();
    (status, found)
}

#[tokio::test]
async fn what_holds_lets_the_next_turn_through() {
    for assert in [
        "{git: {branch: work}}",
        "{git: {branch: {name: other, exists: false}}}",
        "{git: {remoteExists: origin}}",
        "{git: {branch: work, remoteExists: true}}",
        "{git: {branch: main, remoteExists: false}}",
        "{git: {commitsAheadOf: main, commitCount: 1}}",
        "{git: {commitsAheadOf: main}}",
        "{git: {commit: {messageContains: gate}}}",
        "{git: {commit: [{messageContains: Begin, ref: main}]}}",
        "{git: {headMessageContains: Mend}}",
        "{json: {file: {path: a.json, pointer: /list/1/x, equals: 2}}}",
        "{json: {file: {path: a.yaml, pointer: /list/1/x, equals: 2}}}",
        "{json: {file: {path: a.toml, pointer: /list/1, equals: {x: 2}}}}",
        "{fs: {contains: [{path: notes.txt, substring: well}, {path: notes.txt, regex: '^All'}]}}",
        "{fs: {exists: ['*.txt'], notExists: ['*.md']}}",
    ] {
        assert_eq!(asserted(assert).await, (200, Vec::new()), "{assert}");
    }
}

#[tokio::test]
async fn what_fails_is_told_with_what_was_found() {
    for (assert, evidence) in [
        (
            "{git: {branch: other}}",
            "the branch `other` does not exist",
        ),
        (
            "{git: {branch: {name: work, exists: false}}}",
            "the branch `work` exists",
        ),
        ("{git: {remoteExists: upstream}}", "the remotes are: origin"),
        (
            "{git: {branch: main, remoteExists: true}}",
            "the branch `main` does not exist on a remote",
        ),
        (
            "{git: {commitsAheadOf: main, commitCount: 2}}",
            "`HEAD` is 1 commits ahead of `main`",
        ),
        ("{git: {commitsAheadOf: work}}", "is 0 commits ahead"),
        (
            "{git: {commit: {messageContains: door}}}",
            "\"Mend the gate\"",
        ),
        ("{git: {headMessageContains: door}}", "\"Mend the gate\""),
        ("{git: {commitsAheadOf: nowhere}}", "git rev-list: "),
        (
            "{json: {file: {path: a.yaml, pointer: /list/0, equals: 2}}}",
            "1",
        ),
        (
            "{json: {file: {path: a.toml, pointer: /none, equals: 2}}}",
            "/none",
        ),
        (
            "{json: {file: {path: notes.txt, pointer: /a, equals: 2}}}",
            "notes.txt",
        ),
        (
            "{fs: {contains: [{path: notes.txt, substring: ill}]}}",
            "notes.txt",
        ),
        (
            "{fs: {contains: [{path: none.txt, substring: ill}]}}",
            "none.txt",
        ),
    ] {
        let (status, found) = asserted(assert).await;
        assert_eq!(status, 400, "{assert}");
        assert!(
            matches!(&found[..], [("T-ASRT-10", message)] if message.contains(evidence)),
            "{assert}: {found:?}"
        );
    }
}

#[tokio::test]
async fn what_the_program_judges_itself_is_left_to_it() {
    for (request, expected) in [("m*", vec![]), ("x*", vec!["T-ASRT-10"])] {
        let timeline = format!(
            "  - userInputs: [[0, Begin]]
  - assert: {{fs: {{exists: [none.txt]}}, exitCode: 0, request: {{model: '{request}'}}}}
  - llmResponse: [{{assistant: [[0, One]]}}]
  - assert: {{fs: {{exists: [none.txt]}}}}
expect: {{artifacts: [{{pattern: none.txt}}]}}
"
        );
        let played = Played::with(&timeline, |options| options.leaves_asserts = true).await;
        let answer = played.chat(said("Begin")).await;
        assert_eq!(answer.status.is_success(), expected.is_empty());
        let verdict = played.running.stop().await;
        let codes: Vec<_> = verdict.findings.iter().map(|it| it.code.name()).collect();
        assert_eq!(codes, expected);
    }
}

#[tokio::test]
async fn each_of_several_has_its_own_outcome() {
    let both =
        "{git: {branch: other}, fs: {exists: [none.txt], notExists: [notes.txt]}, exitCode: 0}";
    let (status, found) = asserted(both).await;
    assert_eq!(status, 400);
    let mut codes: Vec<&str> = found.iter().map(|(code, _)| *code).collect();
    codes.sort_unstable();
    assert_eq!(codes, ["T-ASRT-03", "T-ASRT-10", "T-ASRT-10", "T-ASRT-10"]);
}

#[tokio::test]
async fn what_needs_a_terminal_or_a_command_is_not_judged() {
    for assert in [
        "{text: {contains: [x]}}",
        "{text: {notContains: [One]}}",
        "{exitCode: 0}",
        "{screen: {label: a, contains: x}}",
    ] {
        let (status, found) = asserted(assert).await;
        assert_eq!(status, 200, "{assert}");
        assert!(
            matches!(&found[..], [("T-ASRT-03", _)]),
            "{assert}: {found:?}"
        );
    }
}
