//! How long it takes to capture a large page, to read what was captured, to write it for a model, and to translate a
//! sentence by the rules, in milliseconds, for `benches/browser.py`:
//! `cargo run --release -p cuecard-testing --example states`. Needs Chromium and the test peers.
//!
//! Prints a line for each: the elements of the page, what was done, the median and the worst.

use std::time::{Duration, Instant};

use cuecard_browser::{BrowserBridge, BrowserOptions, CaptureOptions, Navigation, WaitPolicy};
use cuecard_page::dom::{DomProcessor, DomState};
use cuecard_page::selector::Finder;
use cuecard_page::sentences::Translation;
use cuecard_page::text::TextOptions;
use cuecard_source::value::Redactor;
use cuecard_testing::peers;
use cuecard_testing::site::Site;

const TEST_ID: &str = "data-testid";

/// How often a page is loaded, and how often it is then looked at again.
const LOADS: usize = 7;
const LOOKS: usize = 5;

/// How often everything that needs no browser is done.
const TIMES: usize = 51;

const PATIENCE: Duration = Duration::from_secs(60);

/// Sentences, and what becomes of them: one target, several, none; by its name, by its place, and in other words.
const SENTENCES: &[(&str, &str)] = &[
    ("click the 'Delete row 7' button", "step"),
    (
        "enter 'first' in the 'Note' field in the 'Row 12' section",
        "step",
    ),
    ("click the 'Delete' button", "ambiguous"),
    ("hover over the 'Open row 40' link", "step"),
    ("check 'Subscribe to everything'", "not found"),
    ("verify that 'Row 33' is visible", "step"),
    ("verify there are 4 'Delete' buttons", "step"),
    (
        "please see to it that somebody else does it",
        "not understood",
    ),
];

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(measure());
}

async fn measure() {
    let site = Site::start().expect("the site starts");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let tools = peers::browser_tools().expect("the peers are installed");
    let options = BrowserOptions::new(tools, folder.path().join("downloads"));
    let mut bridge = BrowserBridge::start(&options)
        .await
        .expect("the browser starts");
    for elements in [1_000, 10_000] {
        let to = Navigation::To(site.url(&format!("states/big.html?n={elements}")));
        let text = captures(&mut bridge, &to, elements).await;
        states(&text, elements);
    }
    bridge.stop().await;
}

/// Captures the page when it was just loaded, and again.
async fn captures(bridge: &mut BrowserBridge, to: &Navigation, elements: usize) -> String {
    let options = CaptureOptions {
        test_id_attribute: TEST_ID.to_owned(),
        root: None,
    };
    let (mut first, mut again) = (Vec::new(), Vec::new());
    let mut text = String::new();
    for _ in 0..LOADS {
        bridge.navigate(to, PATIENCE).await.expect("it is there");
        bridge.settle(WaitPolicy::Whole).await.expect("it settles");
        for look in 0..=LOOKS {
            let started = Instant::now();
            text = bridge.capture(&options).await.expect("it is captured");
            let took = started.elapsed();
            match look {
                0 => first.push(took),
                _ => again.push(took),
            }
        }
    }
    print(elements, "captured when it was loaded", first);
    print(elements, "captured again", again);
    text
}

/// What is done with a capture.
fn states(capture: &str, elements: usize) {
    let (mut whole, mut reading) = (Vec::new(), Vec::new());
    let mut state = None;
    for _ in 0..TIMES {
        let started = Instant::now();
        // Anew each time: nothing is known from an earlier state of the page.
        let mut processor = DomProcessor::new(TEST_ID, Redactor::default());
        let read = processor.read(capture).expect("a capture");
        reading.push(started.elapsed());
        let finder = Finder::new(&read, TEST_ID);
        finder
            .text_for_model(&TextOptions::default())
            .expect("it fits");
        whole.push(started.elapsed());
        state = Some(read);
    }
    print(elements, "decoded and indexed", reading);
    print(elements, "decoded, indexed and written for a model", whole);
    let state = state.expect("it was read");
    assert!(
        state.elements().count() >= elements,
        "the page is not whole"
    );
    sentences(&state, elements);
}

/// Translates each sentence, with a finder of its own, as a parse does.
fn sentences(state: &DomState, elements: usize) {
    let mut slowest = Vec::new();
    for (sentence, expected) in SENTENCES {
        let translation = Finder::new(state, TEST_ID).translate(sentence);
        assert_eq!(told(&translation), *expected, "{sentence}: {translation:?}");
        let mut took: Vec<Duration> = (0..TIMES)
            .map(|_| {
                let started = Instant::now();
                let _ = Finder::new(state, TEST_ID).translate(sentence);
                started.elapsed()
            })
            .collect();
        took.sort_unstable();
        slowest.push((took[TIMES / 2], *sentence, took));
    }
    let (_, sentence, took) = slowest.into_iter().max().expect("there are sentences");
    let what = format!("rules, slowest of {}: {sentence}", SENTENCES.len());
    print(elements, &what, took);
}

fn told(translation: &Translation) -> &'static str {
    match translation {
        Translation::Step { .. } => "step",
        Translation::NotUnderstood { .. } => "not understood",
        Translation::Compound { .. } => "compound",
        Translation::Ambiguous { .. } => "ambiguous",
        Translation::NotFound(_) => "not found",
    }
}

#[expect(clippy::print_stdout, reason = "it is what it is for")]
fn print(elements: usize, what: &str, mut took: Vec<Duration>) {
    took.sort_unstable();
    let in_ms = |at: usize| took[at].as_secs_f64() * 1000.0;
    let (median, worst) = (in_ms(took.len() / 2), in_ms(took.len() - 1));
    println!("{elements}\t{what}\t{median:.2}\t{worst:.2}");
}
