//! The verdict table: each element of the test site's pages is clicked on their next release as a replay would, and
//! the pages tell what was clicked.
//!
//! `verdicts.txt` has a line for each element: the page, the element, the verdict, and what was clicked. Rewrite it
//! with `CUECARD_BLESS=1`, and read each line that changed: what was clicked must be what was meant.

use std::collections::BTreeMap;
use std::path::Path;

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

/// The pages whose next release differs in elements.
const PAGES: &[&str] = &[
    "login.html",
    "shop.html",
    "table.html",
    "dialogs.html",
    "tabs.html",
    "generated.html",
    "frames.html",
    "shadow.html",
    "sticky.html",
    "list.html",
    "busy.html",
];

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
        if element.highlight_index.is_none() {
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
    {
        let mut recorder = Recorder::new(Clock::start(), Redactor::default());
        let mut told = |step: cuecard_core::reports::browser_html::BrowserStep| {
            verdict = step.verdict.map(|verdict| verdict.word).unwrap_or_default();
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
    let clicked: Vec<String> = site
        .counts()
        .into_iter()
        .filter(|(what, count)| what.starts_with("click ") && before.get(what) != Some(count))
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
    compare(&table);
}

/// Compares the table with the one that was read and found right.
fn compare(table: &str) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/replay_browser/verdicts.txt");
    if std::env::var_os(cuecard_testing::golden::BLESS).is_some_and(|value| value == "1") {
        std::fs::write(&path, table).expect("the table can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(table, expected);
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
