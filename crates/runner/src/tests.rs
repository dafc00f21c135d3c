#[cfg(unix)]
mod hostile;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use cuecard_judge::TestStatus;
use cuecard_source::diagnostic::codes;
use tokio_util::sync::CancellationToken;

use super::*;
use cuecard_runtime::policy::PolicyOptions;

/// A setup in `folder`, which must exist.
pub(super) fn setup(folder: &Path) -> Setup {
    Setup {
        run_id: "run".to_owned(),
        strict: false,
        unproven: None,
        timeout: Duration::from_secs(60),
        working_directory: folder.to_owned(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        live_environment: Vec::new(),
        config: None,
        config_environment: BTreeMap::new(),
        defaults: Vec::new(),
        given: Vec::new(),
        secrets: Vec::new(),
        unknown: Mutex::default(),
        policy: Policy::new(PolicyOptions {
            root: folder.to_owned(),
            working_directory: folder.to_owned(),
            ..PolicyOptions::default()
        })
        .expect("a policy"),
        safety: PolicyOptions::default(),
        own_program: PathBuf::from("cuecard"),
        agent: WhichAgent::default(),
        speed: 1.0,
        update: false,
        mutate: false,
        servers: OnceLock::new(),
    }
}

const BUNDLE: &str = r#"{"schema_version": "0.1", "adapter": "nanoclaw-replay",
    "scenario": {"group_id": "g", "trigger": "user_message"}, "input_messages": [{"role": "user", "content": "hi"}],
    "script": [], "final_output": {"role": "assistant", "content": "hello there"}, "status": "success",
    "metrics": {"timing_ms_total": 1}}"#;

fn case(id: &str, input: &str, expected: &str) -> String {
    format!(
        "schema_version: \"0.1\"\nid: {id}\ntags: [t-{id}]\n{input}\nassertions:\n  - id: a\n    type: output_contains\n    params: {{ any_of: [{expected}] }}\n"
    )
}

const REPLAY: &str =
    "adapter: nanoclaw\nmode: replay\nadapter_input: { replay_file: ./replay.json }";

fn live(script: &str) -> String {
    format!(
        "adapter: nanoclaw\nmode: live\nadapter_input: {{ command: [/bin/sh, -c, {script:?}] }}"
    )
}

/// Judges everything below `folder`.
fn judged(folder: &Path, setup: Setup, jobs: usize) -> Vec<Judged> {
    let mut all = Vec::new();
    let files = collect(&[folder.to_owned()]).files;
    let stop = CancellationToken::new();
    let run = run(
        files,
        Selection::default(),
        Arc::new(setup),
        jobs,
        &stop,
        |judged| {
            all.push(judged);
            ControlFlow::Continue(())
        },
    );
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
        .block_on(run)
        .expect("threads");
    all
}

/// Judges the one case in `input`, beside a replay bundle.
fn one(input: &str, expected: &str, change: impl FnOnce(&mut Setup)) -> Judged {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("replay.json"), BUNDLE).expect("written");
    fs::write(
        folder.path().join("test.yaml"),
        case("one", input, expected),
    )
    .expect("written");
    let mut setup = setup(folder.path());
    change(&mut setup);
    judged(folder.path(), setup, 1).pop().expect("one case")
}

fn message(judged: &Judged) -> String {
    let messages: Vec<&str> = judged
        .result
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.message.as_str())
        .collect();
    messages.join("; ")
}

#[test]
fn results_come_in_the_order_of_the_files_and_bad_ones_stop_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..600 {
        let below = folder.path().join(format!("{number:03}"));
        fs::create_dir(&below).expect("made");
        let text = match number % 5 {
            0 => "assertions: [".to_owned(),
            1 => case(&format!("c{number}"), REPLAY, "goodbye"),
            _ => case(&format!("c{number}"), REPLAY, "hello"),
        };
        fs::write(below.join("test.yaml"), text).expect("written");
        let bundle = if number % 5 == 2 { "{" } else { BUNDLE };
        fs::write(below.join("replay.json"), bundle).expect("written");
    }
    let all = judged(folder.path(), setup(folder.path()), 4);
    let seen: Vec<(String, TestStatus, Option<Problem>)> = all
        .iter()
        .map(|judged| {
            let file = Path::new(&judged.result.run.file);
            let below = file.strip_prefix(folder.path()).expect("below");
            (
                below.display().to_string(),
                judged.result.status,
                judged.problem,
            )
        })
        .collect();
    let expected: Vec<(String, TestStatus, Option<Problem>)> = (0..600)
        .map(|number| {
            let (status, problem) = match number % 5 {
                0 => (TestStatus::Error, Some(Problem::Invalid)),
                1 => (TestStatus::Fail, None),
                2 => (TestStatus::Error, Some(Problem::CouldNotRun)),
                _ => (TestStatus::Pass, None),
            };
            (format!("{number:03}/test.yaml"), status, problem)
        })
        .collect();
    assert_eq!(seen, expected);
}

#[test]
fn whoever_is_told_can_end_it() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("replay.json"), BUNDLE).expect("written");
    for number in 0..50 {
        let name = format!("{number:02}.test.yaml");
        let text = case(&format!("c{number}"), REPLAY, "hello");
        fs::write(folder.path().join(name), text).expect("written");
    }
    let stop = CancellationToken::new();
    let mut told = 0;
    let files = collect(&[folder.path().to_owned()]).files;
    let run = run(
        files,
        Selection::default(),
        Arc::new(setup(folder.path())),
        2,
        &stop,
        |_| {
            told += 1;
            match told {
                3 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        },
    );
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
        .block_on(run)
        .expect("threads");
    assert_eq!(told, 3);
}

#[test]
fn a_command_gives_its_bundle_in_a_file_or_on_its_output() {
    for script in [
        format!("cat > /dev/null; cat > $CUECARD_BUNDLE <<'X'\n{BUNDLE}\nX\necho noise"),
        format!("cat <<'X'\n{BUNDLE}\nX"),
    ] {
        let judged = one(&live(&script), "hello", |_| {});
        assert_eq!(
            judged.result.status,
            TestStatus::Pass,
            "{}",
            message(&judged)
        );
    }
}

#[test]
fn a_command_is_told_the_scenario() {
    let input = format!(
        "{}\nscenario: {{ group_id: g7, input_messages: [{{ role: user, content: what }}] }}",
        live("cat > seen.json; cat replay.json")
    );
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("replay.json"), BUNDLE).expect("written");
    fs::write(
        folder.path().join("test.yaml"),
        case("one", &input, "hello"),
    )
    .expect("written");
    let judged = judged(folder.path(), setup(folder.path()), 1)
        .pop()
        .expect("one");
    assert_eq!(
        judged.result.status,
        TestStatus::Pass,
        "{}",
        message(&judged)
    );
    let seen = fs::read(folder.path().join("seen.json")).expect("in the folder of the test");
    let seen: serde_json::Value = serde_json::from_slice(&seen).expect("JSON");
    assert_eq!(
        seen,
        serde_json::json!({
            "group_id": "g7", "session_id": null, "task_id": null, "trigger": "user_message", "scheduler_context": null,
            "input_messages": [{"role": "user", "content": "what"}],
        })
    );
}

#[test]
fn a_command_that_fails_says_so() {
    for (script, expected) in [
        (
            "echo broken >&2; exit 3",
            "`/bin/sh` exited with exit code 3",
        ),
        ("true", "`/bin/sh` succeeded but produced no bundle"),
        (
            "cat replay.json; exit 1",
            "`/bin/sh` exited with exit code 1",
        ),
        ("echo '{'", "unterminated object"),
    ] {
        let judged = one(&live(script), "hello", |_| {});
        assert_eq!(judged.problem, Some(Problem::CouldNotRun));
        assert!(message(&judged).contains(expected), "{}", message(&judged));
    }
    let judged = one(
        "adapter: nanoclaw\nmode: live\nadapter_input: { command: [./no-such-program] }",
        "hello",
        |_| {},
    );
    assert!(
        message(&judged).contains("failed to start `./no-such-program`"),
        "{}",
        message(&judged)
    );
}

#[test]
fn a_command_beyond_its_time_is_ended() {
    let judged = one(&live("sleep 600"), "hello", |setup| {
        setup.timeout = Duration::from_millis(50);
    });
    assert_eq!(judged.result.diagnostics[0].code, codes::TEST_TIMEOUT);
    assert_eq!(judged.problem, Some(Problem::CouldNotRun));
}

#[test]
fn a_command_is_subject_to_the_policy() {
    let judged = one(&live("cat replay.json"), "hello", |setup| {
        setup.policy = Policy::new(PolicyOptions {
            root: setup.working_directory.clone(),
            working_directory: setup.working_directory.clone(),
            read_only: true,
            ..PolicyOptions::default()
        })
        .expect("a policy");
    });
    assert_eq!(
        judged.result.diagnostics[0].code,
        codes::SAFETY_COMMAND,
        "{}",
        message(&judged)
    );
}

#[test]
fn a_secret_of_the_env_file_is_not_in_the_trace() {
    let script = "sed s/there/$TOKEN/ replay.json";
    let judged = one(&live(script), "hello", |setup| {
        setup.live_environment = vec![("TOKEN".into(), "hunter2hunter2".into())];
    });
    assert_eq!(
        judged.result.status,
        TestStatus::Pass,
        "{}",
        message(&judged)
    );
    let trace = format!("{:?}", judged.trace);
    assert!(!trace.contains("hunter2"), "{trace}");
    assert!(trace.contains("hello [redacted]"), "{trace}");
}

#[test]
fn a_stored_trace_is_written_without_what_is_redacted_and_then_equal() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("replay.json"), BUNDLE).expect("written");
    let text = format!(
        "schema_version: \"0.1\"\nid: one\n{REPLAY}\nassertions:\n  - id: a\n    type: trace_snapshot\n    params: {{ file: ./kept/stored.trace.json }}\nreporting: {{ redact_fields: [content] }}\n"
    );
    fs::write(folder.path().join("test.yaml"), text).expect("written");
    let judge = |update| {
        let mut setup = setup(folder.path());
        setup.update = update;
        judged(folder.path(), setup, 1).pop().expect("one")
    };
    assert_eq!(
        judge(false).result.status,
        TestStatus::Fail,
        "nothing is stored"
    );
    let updated = judge(true);
    assert_eq!(updated.result.status, TestStatus::Pass);
    assert_eq!(updated.updated.len(), 1);
    let stored = fs::read_to_string(folder.path().join("kept/stored.trace.json")).expect("written");
    assert!(!stored.contains("hello there"), "{stored}");
    assert_eq!(judge(false).result.status, TestStatus::Pass);
    assert!(judge(true).updated.is_empty(), "nothing changed");
}

#[test]
fn warnings_about_files_are_errors_when_strict() {
    let odd = format!("colour: red\n{REPLAY}");
    let judged = one(&odd, "hello", |_| {});
    assert_eq!(
        (judged.result.status, judged.warnings.len()),
        (TestStatus::Pass, 1)
    );
    let judged = one(&odd, "hello", |setup| setup.strict = true);
    assert_eq!(judged.problem, Some(Problem::Invalid));
    assert_eq!(judged.result.status, TestStatus::Error);
}
