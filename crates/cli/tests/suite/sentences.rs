//! Sentences as people write them, on pages that they were written for: what the rules understand, and that they never
//! take another element for the one that is meant.
#![allow(
    clippy::print_stdout,
    reason = "the figures are what it is run by hand for"
)]

use std::fmt::Write as _;
use std::path::Path;

use cuecard_core::page::dom::{DomProcessor, DomState, NodeId};
use cuecard_core::page::rules::Translation;
use cuecard_core::page::selector::Finder;
use cuecard_core::value::{Json, Redactor};
use cuecard_players::browser::{CaptureOptions, Navigation, Settling};

use crate::bridge::{PATIENCE, with_browser};

const TEST_ID: &str = "data-testid";

/// The share of the sentences that mean something which must be understood as they are, in percent: what is reached. The
/// goal is 70.
const UNDERSTOOD: usize = 68;

/// A sentence, and the CSS selector of what it means: `none` if it is to be refused, nothing if it is about no element.
struct Sentence {
    page: String,
    sentence: String,
    means: Option<String>,
}

#[derive(Default)]
struct Counts {
    meaningful: usize,
    understood: usize,
    proposed: usize,
    report: String,
    wrong: Vec<String>,
}

#[test]
fn sentences_mean_what_people_mean() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios/sentences");
    let text = std::fs::read_to_string(folder.join("sentences.json")).expect("the sentences");
    let entries: Vec<Json> = serde_json::from_str(&text).expect("a list");
    let text = |entry: &Json, key: &str| entry[key].as_str().map(str::to_owned);
    let sentences: Vec<Sentence> = entries
        .iter()
        .map(|entry| Sentence {
            page: text(entry, "page").expect("a page"),
            sentence: text(entry, "sentence").expect("a sentence"),
            means: text(entry, "means"),
        })
        .collect();
    with_browser(async |lab| {
        let mut counts = Counts::default();
        for of_page in sentences.chunk_by(|one, next| one.page == next.page) {
            let html = std::fs::read_to_string(folder.join(&of_page[0].page)).expect("a page");
            let page = lab.folder.path().join(&of_page[0].page);
            std::fs::write(&page, html + &marks(of_page)).expect("a copy of it");
            let to = Navigation::To(format!("file://{}", page.display()));
            lab.bridge.navigate(&to, PATIENCE).await.expect("it opens");
            lab.bridge
                .settle(Settling::Whole)
                .await
                .expect("it settles");
            let options = CaptureOptions {
                test_id_attribute: TEST_ID.to_owned(),
                root: None,
            };
            let capture = lab.bridge.capture(&options).await.expect("a capture");
            if let Some(folder) = std::env::var_os("CUECARD_KEEP_CAPTURES") {
                let file = Path::new(&folder).join(&of_page[0].page);
                std::fs::write(file, &capture).expect("it is kept");
            }
            let state = DomProcessor::new(TEST_ID, Redactor::default()).read(&capture);
            let state = state.expect("a state");
            for (number, sentence) in of_page.iter().enumerate() {
                judge(&state, number, sentence, &mut counts);
            }
        }
        println!(
            "{}{} of {} sentences are understood as they are, {} refusals propose a sentence",
            counts.report, counts.understood, counts.meaningful, counts.proposed
        );
        assert!(counts.wrong.is_empty(), "{}", counts.wrong.join("\n"));
        assert!(counts.understood * 100 >= counts.meaningful * UNDERSTOOD);
    });
}

/// A script that marks what each sentence means by a class.
fn marks(sentences: &[Sentence]) -> String {
    let means: Vec<(&str, String)> = sentences
        .iter()
        .enumerate()
        .filter_map(|(number, sentence)| Some((sentence.means.as_deref()?, mark(number))))
        .filter(|(css, _)| *css != "none")
        .collect();
    let means = serde_json::to_string(&means).expect("texts");
    format!(
        "<script>{means}.forEach(([css, mark]) => \
         document.querySelectorAll(css).forEach((element) => element.classList.add(mark)))</script>"
    )
}

/// The class that marks what a sentence means. In letters: a number could be a part of the sentence.
fn mark(number: usize) -> String {
    let letters = number.to_string().into_bytes().into_iter();
    letters
        .map(|digit| char::from(digit - b'0' + b'p'))
        .collect()
}

fn judge(state: &DomState, number: usize, sentence: &Sentence, counts: &mut Counts) {
    let finder = Finder::new(state, TEST_ID);
    let means_none = sentence.means.as_deref() == Some("none");
    counts.meaningful += usize::from(!means_none);
    let class = mark(number);
    let is_marked = |id: NodeId| {
        let classes = state
            .element(id)
            .and_then(|element| element.attribute("class"));
        classes.is_some_and(|classes| classes.split(' ').any(|known| known == class))
    };
    let name = format!("{}: {}", sentence.page, sentence.sentence);
    let (outcome, say) = match finder.translate(&sentence.sentence) {
        Translation::Step { target, step } => {
            // A count is about several; what is in what is meant does its job, and what it labels.
            let is_right = match (&sentence.means, target) {
                (None, None) => true,
                (None, Some(_)) => step.assertion.is_some() || step.direction.is_none(),
                (Some(_), None) => step.assertion.is_some(),
                (Some(_), Some(id)) => {
                    !means_none
                        && (is_marked(id)
                            || state.ancestors(id).any(&is_marked)
                            || state.descendants(id).any(|(inner, _)| is_marked(inner)))
                }
            };
            let words = target.map_or_else(String::new, |id| finder.in_words(id));
            match is_right {
                true => counts.understood += 1,
                false => counts.wrong.push(format!(
                    "{name}\n    means {:?}, not {words}",
                    sentence.means
                )),
            }
            (format!("= {words}"), None)
        }
        Translation::NotUnderstood { reason } => (format!("- {reason}"), None),
        Translation::Compound { .. } => ("- compound".to_owned(), None),
        Translation::Ambiguous { words, say, .. } => (format!("? {}", words.join(", ")), say),
        Translation::NotFound(found) => {
            let near = found.nearest.join(", ");
            (format!("0 no {}, near {near}", found.phrase), found.say)
        }
    };
    let refused = if outcome.starts_with('=') {
        ""
    } else {
        "refused "
    };
    let none = if means_none { "none " } else { "" };
    let _ = writeln!(counts.report, "{none}{refused}{name}\n    {outcome}");
    if let Some(say) = say {
        counts.proposed += 1;
        let _ = writeln!(counts.report, "    say {say}");
        if !matches!(
            finder.translate(&say),
            Translation::Step {
                target: Some(_),
                ..
            }
        ) {
            counts.wrong.push(format!(
                "{name}\n    what is proposed is not understood: {say}"
            ));
        }
    }
}
