//! Steps that can't be played, and patches that don't fit: said before any browser starts.

use cuecard_browser_steps::format::{HealedStep, heal};
use cuecard_browser_steps::model::{ActionKind, Fingerprint, StepsFile, TestStep};
use cuecard_source::SourceFile;
use cuecard_testing::scratch::Scratch;

use super::maker::file;
use crate::program::{run, scratch, told};

fn steps() -> StepsFile {
    let mut step = TestStep::new("st-1", "click 'Log in'", ActionKind::Click);
    step.selectors = vec!["role=button[name=\"Log in\"]".to_owned()];
    step.selector = step.selectors.first().cloned();
    step.fingerprint = Some(Fingerprint {
        role: "button".to_owned(),
        name: "Log in".to_owned(),
        tag: "button".to_owned(),
        alone: true,
        ..Fingerprint::default()
    });
    file("http://127.0.0.1:9/", vec![step])
}

/// What is said when `text` is played: the program ends with `exit`.
#[track_caller]
fn refused(scratch: &Scratch, text: &str, args: &[&str], exit: i32) -> String {
    scratch.write("steps.json", text).expect("writable");
    let args = [&["play", "steps.json"], args].concat();
    let finished = run(scratch, &args);
    assert_eq!(finished.code(), Some(exit), "{}", told(&finished));
    finished.stderr
}

#[test]
fn what_can_not_be_played_is_said_before_a_browser_starts() {
    let scratch = scratch();
    let text = steps().to_text();
    for (changed, args, message) in [
        (
            text.replace("steps/2", "steps/3"),
            &[][..],
            "unsupported version `cuecard-steps/3`",
        ),
        (
            text.replace("\"status\": \"success\"", "\"status\": \"partial\""),
            &[],
            "the steps are partial",
        ),
        (
            text.replace(
                "\"actionTimeoutMs\": 3000",
                "\"storageState\": \"../state.json\"",
            ),
            &[],
            "storage state",
        ),
        (
            text.replace("\"actionTimeoutMs\"", "\"actionTimeotMs\""),
            &["--strict"],
            "actionTimeotMs",
        ),
        (
            text.replace("\"fingerprint\"", "\"observedAs\""),
            &[],
            "a selector alone is not enough",
        ),
        (
            text.replace("role=button", "button"),
            &[],
            "is not a valid selector",
        ),
        (
            text.replace("127.0.0.1:9/\"", "127.0.0.1:9/{{WHERE}}\""),
            &[],
            "undefined variable `WHERE`",
        ),
        (text.clone(), &["--start", "2"], "no step is in the range"),
        (
            text.clone(),
            &["--report", "pdf:x"],
            "unknown report format `pdf`",
        ),
    ] {
        assert!(changed != text || !args.is_empty(), "{message}");
        let said = refused(&scratch, &changed, args, 3);
        assert!(said.contains(message), "{message}: {said}");
    }
    scratch.write("state.json", "{}").expect("writable");
    scratch
        .write(
            "login.yaml",
            "url: https://example.org\nactions: [click 'Log in']\n",
        )
        .expect("writable");
    let finished = run(&scratch, &["play", "login.yaml"]);
    assert_eq!(finished.code(), Some(3));
    assert!(
        finished.stderr.contains("cuecard parse"),
        "{}",
        told(&finished)
    );
}

#[test]
fn a_patch_for_another_text_is_refused() {
    let scratch = scratch();
    let source = SourceFile::new("steps.json", steps().to_text());
    let healed = HealedStep {
        place: 0,
        is_destination: false,
        id: "st-1".to_owned(),
        description: "click 'Log in'".to_owned(),
        reason: "it has the id `go`".to_owned(),
        selectors: vec!["css=#go".to_owned()],
        fingerprint: Fingerprint {
            tag: "button".to_owned(),
            ..Fingerprint::default()
        },
        index: None,
    };
    let patch = heal(&source, &[healed], &[]).expect("it fits").to_text();
    let accept = &["--heal", "accept"];
    scratch.write("steps.heal.json", &patch).expect("writable");
    let other = source.text().replace("click 'Log in'", "press 'Log in'");
    let said = refused(&scratch, &other, accept, 3);
    assert!(said.contains("was made for a different version"), "{said}");
    for (from, to, message) in [
        (
            "\"/testSteps/0/selector\"",
            "\"/testSteps/0/action\"",
            "would change `/testSteps/0/action`",
        ),
        ("cuecard-heal/1", "cuecard-heal/9", "unsupported version"),
    ] {
        scratch
            .write("steps.heal.json", patch.replace(from, to))
            .expect("writable");
        let said = refused(&scratch, source.text(), accept, 3);
        assert!(said.contains(message), "{said}");
        assert!(said.contains("B-heal_refused"), "{said}");
    }
    let played = run(&scratch, &["play", "steps.heal.json"]);
    assert_eq!(played.code(), Some(3));
    assert!(
        played.stderr.contains("a healing patch"),
        "{}",
        told(&played)
    );
}

#[test]
fn a_partial_file_needs_the_users_word_and_a_dry_run_no_browser() {
    let scratch = scratch();
    let partial = steps()
        .to_text()
        .replace("\"status\": \"success\"", "\"status\": \"partial\"");
    scratch.write("steps.json", partial).expect("writable");
    let finished = run(
        &scratch,
        &["play", "steps.json", "--allow-partial", "--dry-run"],
    );
    assert_eq!(finished.code(), Some(0), "{}", told(&finished));
    assert!(
        finished
            .stdout
            .contains("1 action in a browser on 127.0.0.1:9"),
        "{}",
        told(&finished)
    );
}
