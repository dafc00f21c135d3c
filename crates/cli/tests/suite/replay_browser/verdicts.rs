//! The verdict table: each element of the test site's pages is clicked on their next release as a replay would, and
//! the pages tell what was clicked. The table of the last run is in `target/tmp/verdicts.txt`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use cuecard_core::page::selector::Finder;
use cuecard_core::scenario::browser::{ActionKind, BrowserOptions, StepsFile, TestStep};
use cuecard_core::source::SourceFile;
use cuecard_core::value::Redactor;
use cuecard_players::browser::replay::{Replay, Told, memories, play};
use cuecard_players::browser::stage::{Deadline, LiveStage, Stage, Values};
use cuecard_players::runtime::clock::Clock;
use cuecard_players::runtime::tap::Recorder;
use cuecard_testing::site::Site;
use tokio_util::sync::CancellationToken;

use super::maker::{TEST_ID, file, remember};
use super::with_stage;
use crate::bridge::PATIENCE;

/// Pages whose next release differs in elements.
const PAGES: &[&str] = &[
    "login.html",
    "shop.html",
    "table.html",
    "dialogs.html",
    "generated.html",
];

/// Rows that must be in the table: page, element, verdict, what was clicked.
const EXPECTED: &[(&str, &str, &str, &str)] = &[
    (
        "login.html",
        "button \"Show password\" in form \"Account\"",
        "gone",
        "",
    ),
    (
        "dialogs.html",
        "button \"Open settings\"",
        "healed",
        "button Open preferences",
    ),
    (
        "dialogs.html",
        "button \"Delete account\"",
        "same",
        "button Delete account",
    ),
];

/// How long a page may take to tell that it was clicked.
const TELLING: Duration = Duration::from_secs(5);

/// Of elements of one role that differ in a number only, so many are tried.
const ALIKE: usize = 2;

/// The elements that are tried on a page, each as a step that clicks it, with its words.
async fn steps_of(stage: &mut LiveStage, site: &Site, page: &str) -> Vec<(String, TestStep)> {
    let opened = stage
        .open(&site.url(page), None, Deadline::after(PATIENCE))
        .await;
    opened.unwrap_or_else(|failure| panic!("{page}: {failure}"));
    let scene = stage.look().await.expect("the page can be seen");
    let finder = Finder::new(&scene.state, TEST_ID);
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    let mut steps = Vec::new();
    for (id, element) in scene.state.elements() {
        // It opens dialogs for ever, and nothing can be opened after it.
        if element.highlight_index.is_none() || element.name == "Never stop" {
            continue;
        }
        let words = finder.in_words(id);
        let shape: String = words
            .chars()
            .filter(|sign| !sign.is_ascii_digit())
            .collect();
        let count = alike.entry(shape).or_default();
        *count += 1;
        if *count > ALIKE {
            continue;
        }
        let number = steps.len();
        let mut step = TestStep::new(format!("st-{number}"), words.clone(), ActionKind::Click);
        remember(&mut step, finder, id);
        steps.push((words, step));
    }
    steps
}

/// Plays one step on a page; the verdict, and what was clicked.
async fn played(
    stage: &mut LiveStage,
    site: &Site,
    page: &str,
    step: TestStep,
) -> (String, String) {
    let steps: StepsFile = file(&site.url(page), vec![step]);
    let source = SourceFile::new("steps.json", steps.to_text());
    let values = Values::default();
    let memories = memories(&steps, &values).expect("playable");
    let options = BrowserOptions {
        action_timeout_ms: 400,
        ..BrowserOptions::default()
    };
    let replay = Replay {
        source: &source,
        steps: &steps,
        memories: &memories,
        options: &options,
        values: &values,
        range: 1..=1,
        heals: true,
        is_pictured: false,
        run_dir: None,
    };
    let before = site.counts();
    let mut verdict = String::new();
    let mut has_passed = false;
    {
        let mut recorder = Recorder::new(Clock::start(), Redactor::default());
        let mut told = |step: cuecard_core::reports::browser_html::BrowserStep| {
            verdict = step.verdict.map(|verdict| verdict.word).unwrap_or_default();
            has_passed = step.error.is_none();
            if let Some(error) = step
                .error
                .filter(|_| verdict == "same" || verdict == "healed")
            {
                verdict = format!("{verdict}, {}", error.error_type);
            }
        };
        let told: &mut dyn Told = &mut told;
        play(
            &replay,
            stage,
            &mut recorder,
            told,
            &CancellationToken::new(),
        )
        .await;
    }
    let is_news =
        |what: &str, count: &u64| what.starts_with("click ") && before.get(what) != Some(count);
    if has_passed {
        // The page tells a moment later; of a list that opens it tells nothing.
        let is_told = |counts: &BTreeMap<String, u64>| {
            counts.iter().any(|(what, count)| is_news(what, count))
        };
        let _ = site.wait_until(TELLING, is_told);
    }
    let clicked: Vec<String> = site
        .counts()
        .into_iter()
        .filter(|(what, count)| is_news(what, count))
        .map(|(what, _)| what.trim_start_matches("click ").to_owned())
        .collect();
    (verdict, clicked.join(" + "))
}

#[test]
fn each_element_of_the_old_pages_has_its_verdict_on_the_new_ones() {
    let mut table = String::new();
    for page in PAGES {
        // Each has a browser of its own: some open tabs, in which the next would be looked for.
        with_stage(async |stage, site| {
            for (words, step) in steps_of(stage, site, page).await {
                let (verdict, clicked) = played(stage, site, &format!("next/{page}"), step).await;
                if !["same", "healed"]
                    .iter()
                    .any(|word| verdict.starts_with(word))
                {
                    assert_eq!(clicked, "", "{page}: {words} is {verdict}");
                }
                // What is the same has the name that it had.
                let name = words.split('"').nth(1).unwrap_or_default();
                if verdict == "same" && !clicked.is_empty() {
                    assert!(clicked.contains(name), "{page}: {words} is {clicked}");
                }
                table.push_str(&format!("{page} | {words} | {verdict} | {clicked}\n"));
            }
            // It is where the first row was.
            assert_eq!(
                site.count("delete-5"),
                0,
                "nothing of a row that is new was deleted"
            );
        });
    }
    if table.is_empty() {
        return;
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("verdicts.txt");
    std::fs::write(path, &table).expect("the table can be written");
    for (page, words, verdict, clicked) in EXPECTED {
        let row = format!("{page} | {words} | {verdict} | {clicked}\n");
        assert!(table.contains(&row), "no `{row}` in\n{table}");
    }
}

/// On pages that did not change everything is the same, whatever ids and classes they make up.
#[test]
fn what_did_not_change_is_the_same() {
    with_stage(async |stage, site| {
        for page in [
            "login.html",
            "generated.html",
            "table.html",
            "shadow.html",
            "frames.html",
        ] {
            for (words, step) in steps_of(stage, site, page).await {
                let (verdict, clicked) = played(stage, site, page, step).await;
                assert!(
                    verdict.starts_with("same"),
                    "{page}: {words} is {verdict} ({clicked})"
                );
            }
        }
    });
}
