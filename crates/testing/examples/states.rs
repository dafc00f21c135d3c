//! How long it takes to capture a large page, to read what was captured, to write it for a model, and to translate a
//! sentence by the rules, in milliseconds, for `benches/browser.py`:
//! `cargo run --release -p cuecard-testing --example states`. Needs Chromium and the test peers.
//!
//! Prints a line for each: the elements of the page, what was done, the median and the worst. With the argument `smoke`
//! everything is done once, on the smaller page.

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

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Extent {
    pages: &'static [usize],
    /// How often a page is loaded, and how often it is then looked at again.
    loads: usize,
    looks: usize,
    /// How often everything that needs no browser is done.
    times: usize,
}

const FULL: Extent = Extent {
    pages: &[1_000, 10_000],
    loads: 7,
    looks: 5,
    times: 51,
};

const SMOKE: Extent = Extent {
    pages: &[1_000],
    loads: 1,
    looks: 1,
    times: 1,
};

const PATIENCE: Duration = Duration::from_secs(60);

/// Sentences, and what becomes of them: one target, several, none; by its name, by its place, and in other words.
const SENTENCES: &[(&str, &str)] = &[
    ("click the 'Delete row 7' button", "step"),
    (
        "enter 'first' in the 'Note' field in the 'Row 12' section",
        "step",
    ),
    ("click the 'Delete' button", "not found"),
    ("enter 'first' in the 'Note' field", "ambiguous"),
    ("hover over the 'Open row 40' link", "step"),
    ("check 'Subscribe to everything'", "not found"),
    ("verify that 'Row 33' is visible", "step"),
    ("verify there are 4 'Note' fields", "step"),
    (
        "please arrange that somebody else does it",
        "not understood",
    ),
];

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let is_smoke = std::env::args().nth(1).is_some_and(|size| size == "smoke");
    runtime.block_on(measure(if is_smoke { SMOKE } else { FULL }));
}

async fn measure(extent: Extent) {
    let site = Site::start().expect("the site starts");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let tools = peers::browser_tools().expect("the peers are installed");
    let options = BrowserOptions::new(tools, folder.path().join("downloads"));
    let mut bridge = BrowserBridge::start(&options)
        .await
        .expect("the browser starts");
    for &elements in extent.pages {
        let to = Navigation::To(site.url(&format!("states/big.html?n={elements}")));
        let text = captures(&mut bridge, &to, elements, extent).await;
        states(&text, elements, extent.times);
    }
    bridge.stop().await;
}

/// Captures the page when it was just loaded, and again.
async fn captures(
    bridge: &mut BrowserBridge,
    to: &Navigation,
    elements: usize,
    extent: Extent,
) -> String {
    let options = CaptureOptions {
        test_id_attribute: TEST_ID.to_owned(),
        root: None,
    };
    let (mut first, mut again) = (Vec::new(), Vec::new());
    let mut text = String::new();
    for _ in 0..extent.loads {
        bridge.navigate(to, PATIENCE).await.expect("it is there");
        bridge.settle(WaitPolicy::Whole).await.expect("it settles");
        for look in 0..=extent.looks {
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
fn states(capture: &str, elements: usize, times: usize) {
    let (mut whole, mut reading) = (Vec::new(), Vec::new());
    let mut state = None;
    for _ in 0..times {
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
    sentences(&state, elements, times);
}

/// Translates each sentence, with a finder of its own, as a parse does.
fn sentences(state: &DomState, elements: usize, times: usize) {
    let mut slowest = Vec::new();
    for (sentence, expected) in SENTENCES {
        let translation = Finder::new(state, TEST_ID).translate(sentence);
        assert_eq!(told(&translation), *expected, "{sentence}: {translation:?}");
        let mut took: Vec<Duration> = (0..times)
            .map(|_| {
                let started = Instant::now();
                let _ = Finder::new(state, TEST_ID).translate(sentence);
                started.elapsed()
            })
            .collect();
        took.sort_unstable();
        slowest.push((took[times / 2], *sentence, took));
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
