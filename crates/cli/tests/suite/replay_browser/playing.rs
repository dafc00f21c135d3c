//! `cuecard play` and `cuecard verify` of steps on the test site, and test cases that play them.

use cuecard_browser::replay::{Replay, ReplayObserver, memories, play};
use cuecard_browser::stage::Values;
use cuecard_browser_steps::model::{AssertKind, StepsFile};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::tap::Recorder;
use cuecard_source::SourceFile;
use cuecard_source::value::Redactor;
use cuecard_testing::scratch::Scratch;
use cuecard_testing::site::Site;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::maker::Maker;
use super::{place, run_files, with_stage};
use crate::program::{self, run, told};
use crate::schemas::{assert_fits, validator};

/// Who may sign in.
const USER: &str = "ana@example.org";
/// With what.
const PASSWORD: &str = "correct horse";

/// Steps that `make` makes on a site of their own; they begin at `page` of any.
pub(super) fn made(page: &str, make: impl AsyncFnOnce(&mut Maker<'_>)) -> StepsFile {
    let mut made = None;
    with_stage(async |stage, site| {
        let mut maker = Maker::open(stage, &site.url(page)).await;
        make(&mut maker).await;
        made = Some((maker.file, site.url("")));
    });
    let (mut file, site) = made.expect("the browser is here");
    // Another run has the site at another port.
    let text = file
        .to_text()
        .replace(site.trim_end_matches('/'), "http://SITE");
    let read = cuecard_browser_steps::format::read_steps(&SourceFile::new("steps.json", text));
    file = read.steps.expect("what is written can be read");
    file
}

/// Writes steps for this site, beginning at `page` of it.
pub(super) fn write(scratch: &Scratch, site: &Site, file: &StepsFile, page: &str) {
    let origin = site.url("");
    let mut file = file.clone();
    file.url = site.url(page);
    let text = file
        .to_text()
        .replace("http://SITE", origin.trim_end_matches('/'));
    scratch.write("steps.json", text).expect("writable");
}

/// Signing in, with a variable and a secret.
fn login() -> StepsFile {
    let mut file = made("login.html", async |maker| {
        maker.fill("E-mail", USER).await;
        maker.fill("Password", PASSWORD).await;
        maker.click("checkbox", "Remember me").await;
        maker.click("button", "Log in").await;
        maker.shows("You are signed in.").await;
        maker.is("heading", "Welcome", AssertKind::Visible).await;
    });
    for (step, name) in file.test_steps.iter_mut().zip(["USER", "PASSWORD"]) {
        step.value = Some(format!("{{{{{name}}}}}").into());
        step.description = format!("type {{{{{name}}}}} into the field");
    }
    file.variables.insert("USER".to_owned(), USER.into());
    file.secrets = vec!["PASSWORD".to_owned()];
    file
}

#[test]
fn signing_in_plays_again_and_again_and_its_secret_stays_one() {
    let Some((mut scratch, site)) = place() else {
        return;
    };
    scratch.set("CUECARD_VAR_PASSWORD", PASSWORD);
    write(&scratch, &site, &login(), "login.html");
    for round in 1..=2 {
        let played = program::play(&scratch, &["steps.json", "--report", "html:report.html"], 0);
        assert_eq!(played.statuses(), ["passed"; 6], "{}", played.stderr);
        assert_eq!(played.json["healed_steps"], 0);
        assert_eq!(played.step(4)["result"]["verdict"], "same");
        assert_eq!(site.count("login"), round);
        let report = program::read(&scratch, "report.html");
        let trace = played.json["trace_path"].as_str().expect("a trace");
        for text in [
            &report,
            &program::read(&scratch, trace),
            &played.json.to_string(),
        ] {
            assert!(!text.contains(PASSWORD));
        }
        assert!(report.contains("data:") || report.contains("\"picture\":{"));
    }
    let wrong = run(
        &scratch,
        &[
            "play",
            "steps.json",
            "--var",
            "USER=bob@example.org",
            "--json",
        ],
    );
    assert_eq!(wrong.code(), Some(1), "{}", told(&wrong));
}

#[test]
fn a_failure_keeps_the_page_and_names_what_is_near() {
    let Some((scratch, site)) = place() else {
        return;
    };
    let file = made("login.html", async |maker| {
        maker.click("button", "Show password").await;
    });
    write(&scratch, &site, &file, "next/login.html");
    let played = program::play(&scratch, &["steps.json", "--report", "junit:report.xml"], 1);
    assert_eq!(played.step(1)["code"], "B-element_not_found");
    assert_eq!(played.step(1)["result"]["verdict"], "gone");
    assert!(played.stderr.contains("steps.json:"), "{}", played.stderr);
    assert!(played.stderr.contains("similar: "), "{}", played.stderr);
    for words in [
        "step 1 failed: 'Show password' button not found",
        "searched by `",
    ] {
        assert!(played.stderr.contains(words), "{}", played.stderr);
    }
    let names: Vec<String> = run_files(&scratch)
        .iter()
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    for name in ["step-1.png", "step-1.page.txt"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    assert!(program::read(&scratch, "report.xml").contains("B-element_not_found"));
}

#[test]
fn what_is_healed_is_proposed_and_can_be_taken_in() {
    let Some((scratch, site)) = place() else {
        return;
    };
    let file = made("dialogs.html", async |maker| {
        maker.click("button", "Open settings").await;
        maker.click("button", "Save").await;
        maker.shows("Settings: save").await;
    });
    write(&scratch, &site, &file, "next/dialogs.html");
    let before = program::read(&scratch, "steps.json");
    let off = program::play(&scratch, &["steps.json", "--heal", "off"], 1);
    assert_eq!(off.step(1)["code"], "B-wrong_target");
    assert!(!scratch.work().join("steps.heal.json").exists());
    let part = program::play(&scratch, &["steps.json", "--end", "1"], 4);
    assert!(
        part.stderr.contains("healed elements were not saved"),
        "{}",
        part.stderr
    );
    assert!(!scratch.work().join("steps.heal.json").exists());

    let healed = program::play(&scratch, &["steps.json"], 4);
    assert_eq!(healed.statuses(), ["passed"; 3]);
    assert_eq!(healed.json["heal_file"], "steps.heal.json");
    let reason = healed.step(1)["healed"].as_str().expect("a reason");
    assert!(reason.contains("section \"Your settings\""), "{reason}");
    assert_eq!(program::read(&scratch, "steps.json"), before);
    let patch: Value =
        serde_json::from_str(&program::read(&scratch, "steps.heal.json")).expect("JSON");
    assert_fits(&validator("heal"), &patch, "the patch");
    assert_eq!(patch["changes"][0]["description"], "click 'Open settings'");
    assert_eq!(patch["patch"][0]["op"], "test");

    let accepted = program::play(&scratch, &["steps.json", "--heal", "accept"], 4);
    assert_eq!(accepted.json["heal_file"], "steps.json");
    assert!(!scratch.work().join("steps.heal.json").exists());
    assert_ne!(program::read(&scratch, "steps.json"), before);
    let same = program::play(&scratch, &["steps.json"], 0);
    assert_eq!(same.json["healed_steps"], 0);
}

#[test]
fn a_new_name_is_proposed_and_taken_in_only_for_its_step() {
    let Some((scratch, site)) = place() else {
        return;
    };
    let file = made("tabs.html", async |maker| {
        maker.click("tab", "Security").await;
        maker.click("button", "Open chat").await;
    });
    let [tab, chat] = file.test_steps.as_slice() else {
        panic!("two steps");
    };
    write(&scratch, &site, &file, "next/tabs.html");
    let before = program::read(&scratch, "steps.json");
    let proposed = || -> Vec<(Value, Value, Value)> {
        let patch: Value =
            serde_json::from_str(&program::read(&scratch, "steps.heal.json")).expect("JSON");
        assert_fits(&validator("heal"), &patch, "the patch");
        assert_eq!(patch["patch"], serde_json::json!([]));
        let renames = patch["renames"].as_array().expect("renames");
        let parts = |one: &Value| {
            let [id, from, to] = ["stepId", "from", "to"].map(|key| one[key].clone());
            (id, from, to)
        };
        renames.iter().map(parts).collect()
    };
    let play = |flags: &[&str], exit: i32| {
        program::play(&scratch, &[&["steps.json"], flags].concat(), exit)
    };
    // A patch that is accepted as a whole renames nothing.
    for flags in [&[][..], &["--heal", "accept"]] {
        let played = play(flags, 1);
        assert_eq!(played.step(1)["result"]["verdict"], "renamed");
        assert_eq!(played.json["renamed_steps"], 1);
        let accept = format!("cuecard play steps.json --accept-rename {}", tab.id);
        for words in ["\"Keys and passwords\"", "'Security'", accept.as_str()] {
            assert!(played.stderr.contains(words), "{words}: {}", played.stderr);
        }
        let expected = (
            tab.id.as_str().into(),
            "Security".into(),
            "Keys and passwords".into(),
        );
        assert_eq!(proposed(), [expected]);
    }
    let unknown = run(
        &scratch,
        &["play", "steps.json", "--accept-rename", &chat.id],
    );
    assert_eq!(unknown.code(), Some(3), "{}", told(&unknown));

    let first = ["--accept-rename", tab.id.as_str()];
    let played = play(&first, 1);
    assert_eq!(played.step(2)["result"]["verdict"], "renamed");
    assert_eq!(
        proposed().len(),
        2,
        "what was accepted can be accepted again"
    );
    assert_eq!(program::read(&scratch, "steps.json"), before);
    let both = [first, ["--accept-rename", chat.id.as_str()]].concat();
    let accepted = play(&both, 4);
    assert_eq!(accepted.json["heal_file"], "steps.json");
    assert!(!scratch.work().join("steps.heal.json").exists());
    assert!(program::read(&scratch, "steps.json").contains("Talk to us"));
    assert_eq!(play(&[], 0).json["renamed_steps"], 0);
}

#[test]
fn a_browser_that_ends_under_way_blocks_the_run() {
    let mut played = None;
    with_stage(async |stage, site| {
        let file = {
            let mut maker = Maker::open(stage, &site.url("dialogs.html")).await;
            maker.click("button", "Say hello").await;
            maker.shows("Hello was said").await;
            maker.file
        };
        let source = SourceFile::new("steps.json", file.to_text());
        let values = Values::default();
        let memories = memories(&file, &values).expect("playable");
        let options = cuecard_browser_steps::model::BrowserOptions::default();
        let replay = Replay {
            source: &source,
            steps: &file,
            memories: &memories,
            options: &options,
            values: &values,
            range: 0..=u64::MAX,
            heals: true,
            is_pictured: false,
            keeps_each: false,
            run_dir: None,
        };
        let driver = Pid::from_raw(stage.bridge().driver_process()).expect("a process");
        let mut told = |step: cuecard_report::browser_html::BrowserStep| {
            if step.number == 1 {
                kill_process(driver, Signal::KILL).expect("it is there");
            }
        };
        let told: &mut dyn ReplayObserver = &mut told;
        let mut recorder = Recorder::new(Clock::start(), Redactor::default());
        let stop = CancellationToken::new();
        played = Some(play(&replay, stage, &mut recorder, told, &stop).await);
    });
    let Some(played) = played else { return };
    assert_eq!(played.verdict, cuecard_tool_call::script::Verdict::Blocked);
    let failure = played.failure.expect("it says why");
    assert_eq!(failure.code.name(), "B-browser_lost");
    assert_eq!(played.summary.passed, 1);
}

#[test]
fn verify_looks_and_does_no_more_than_it_must() {
    let Some((mut scratch, site)) = place() else {
        return;
    };
    scratch.set("CUECARD_VAR_PASSWORD", PASSWORD);
    write(&scratch, &site, &login(), "login.html");
    let verify = |args: &[&str], exit: i32| -> Value {
        let args = [&["verify", "steps.json", "--json"], args].concat();
        let finished = run(&scratch, &args);
        assert_eq!(finished.code(), Some(exit), "{}", told(&finished));
        serde_json::from_str(&finished.stdout).expect("one document")
    };
    let column = |document: &Value, key: &str| -> Vec<Value> {
        let entries = document["steps"].as_array().expect("entries");
        entries.iter().map(|one| one[key].clone()).collect()
    };
    let looked = verify(&[], 0);
    assert_eq!(
        column(&looked, "verdict"),
        ["same", "same", "same", "same", "not checked", "not checked"]
    );
    assert_eq!(site.count("login"), 0);
    // What leads to the next page is done if that is asked for, and nothing besides.
    let acted = verify(&["--act"], 0);
    assert_eq!(
        column(&acted, "verdict"),
        ["same", "same", "same", "same", "not checked", "same"]
    );
    assert_eq!(
        column(&acted, "done"),
        [true, true, true, true, false, false]
    );
    assert_eq!(site.count("login"), 1);

    let file = made("dialogs.html", async |maker| {
        maker.click("button", "Open settings").await;
        maker.click("button", "Save").await;
    });
    write(&scratch, &site, &file, "next/dialogs.html");
    let document = verify(&[], 4);
    assert_eq!(document["steps"][0]["verdict"], "healed");
    assert_eq!(document["heal_file"], "steps.heal.json");
    verify(&["--heal", "off"], 1);
    let document = verify(&["--heal", "accept"], 4);
    assert_eq!(document["heal_file"], "steps.json");
    assert_eq!(verify(&[], 0)["steps"][0]["verdict"], "same");
}

#[test]
fn steps_are_test_cases() {
    let Some((mut scratch, site)) = place() else {
        return;
    };
    scratch.set("CUECARD_VAR_PASSWORD", PASSWORD);
    write(&scratch, &site, &login(), "login.html");
    scratch
        .write(
            "login.test.yaml",
            "schema_version: '0.1'\nid: shop.login\ntitle: Signing in\nadapter: cuecard\n\
             adapter_input:\n  play: steps.json\nassertions:\n\
             - id: presses\n  type: must_call_tool\n  params: {tool: browser.click}\n\
             - id: never-navigates\n  type: must_not_call_tool\n  params: {tool: browser.upload}\n",
        )
        .expect("writable");
    let finished = run(&scratch, &["test", "login.test.yaml", "--json"]);
    assert_eq!(finished.code(), Some(0), "{}", told(&finished));
    let itself = run(&scratch, &["test", "steps.json", "--json"]);
    assert_eq!(itself.code(), Some(0), "{}", told(&itself));
    scratch.set("CUECARD_VAR_PASSWORD", "wrong one");
    let failed = run(&scratch, &["test", "login.test.yaml", "--json"]);
    assert_eq!(failed.code(), Some(1), "{}", told(&failed));
    assert!(!failed.stdout.contains("wrong one"));
}
