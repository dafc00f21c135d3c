//! Sentences as people write them, on pages that they were written for: what the rules understand, and that they never
//! take another element for the one that is meant.
#![allow(
    clippy::print_stdout,
    reason = "the figures are what it is run by hand for"
)]

use std::fmt::Write as _;
use std::path::Path;

use cuecard_browser::{CaptureOptions, Navigation, WaitPolicy};
use cuecard_browser_steps::model::{AssertKind, TextMatch};
use cuecard_page::dom::{DomKind, DomProcessor, DomState, NodeId};
use cuecard_page::selector::Finder;
use cuecard_page::sentences::{Translation, Understanding, understand};
use cuecard_source::value::{Json, Redactor};

use crate::bridge::{PATIENCE, with_browser};

const TEST_ID: &str = "data-testid";

/// The share of the sentences that mean something which must be understood as they are, in percent.
const UNDERSTOOD: usize = 60;

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
    /// Sentences with a word too many that were tried.
    too_many: usize,
    /// Pages on which a claim is no longer true.
    changed: usize,
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
                .settle(WaitPolicy::Whole)
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
                says_too_much(&state, &sentence.sentence, &mut counts);
                is_no_longer_true(&state, &capture, &sentence.sentence, &mut counts);
            }
        }
        println!(
            "{} sentences with a word too many, and {} pages on which a claim is no longer true",
            counts.too_many, counts.changed
        );
        assert!(counts.too_many > 500 && counts.changed > 10);
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
        Translation::Step { target, step, .. } => {
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
            let in_full = step.in_full.filter(|sentence| !sentence.is_empty());
            (format!("= {words}"), in_full.into_iter().collect())
        }
        Translation::NotUnderstood { reason } => (format!("- {reason}"), Vec::new()),
        Translation::Compound { parts } => {
            let is_read = |part: &&String| matches!(understand(part), Understanding::Understood(_));
            let unread = parts.iter().filter(|part| !is_read(part));
            counts
                .wrong
                .extend(unread.map(|part| format!("{name}\n    no action: {part}")));
            ("- compound".to_owned(), Vec::new())
        }
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
    counts.proposed += usize::from(!say.is_empty());
    for say in say {
        let _ = writeln!(counts.report, "    say {say}");
        let is_clear = match finder.translate(&say) {
            Translation::Step {
                target: Some(_),
                step,
                ..
            } => step.in_full.is_none(),
            _ => false,
        };
        if !is_clear {
            counts.wrong.push(format!(
                "{name}\n    what is proposed is not understood: {say}"
            ));
        }
    }
}

/// A sentence that names its element in part means nothing with one more that is nowhere on the page, wherever it
/// stands.
fn says_too_much(state: &DomState, sentence: &str, counts: &mut Counts) {
    let finder = Finder::new(state, TEST_ID);
    if !matches!(finder.read_partially(sentence), Some(Ok(_))) {
        return;
    }
    let is_quote = |sign: char| matches!(sign, '\'' | '"' | '“' | '”');
    let mut is_quoted = false;
    for (at, sign) in sentence.char_indices() {
        let next = sentence[at + sign.len_utf8()..].chars().next();
        if is_quote(sign) && (is_quoted || next.is_some_and(char::is_alphanumeric)) {
            is_quoted = !is_quoted;
        }
        if sign != ' ' || is_quoted {
            continue;
        }
        let longer = format!("{} zebra{}", &sentence[..at], &sentence[at..]);
        counts.too_many += 1;
        if let Some(Ok(meant)) = finder.read_partially(&longer) {
            let words = meant.step.in_full.unwrap_or_default();
            counts
                .wrong
                .push(format!("{longer}\n    is taken for {words}"));
        }
    }
}

/// A claim about a text does not hold on a page where another text stands in its place, or where it changed places with
/// one near it.
fn is_no_longer_true(state: &DomState, capture: &str, sentence: &str, counts: &mut Counts) {
    let finder = Finder::new(state, TEST_ID);
    let Translation::Step {
        step,
        target: Some(_),
        ..
    } = finder.translate(sentence)
    else {
        return;
    };
    let Some(assertion) = step.assertion else {
        return;
    };
    let Some(text) = assertion.expected.as_ref().and_then(Json::as_str) else {
        return;
    };
    if assertion.kind != AssertKind::Text || assertion.negate {
        return;
    }
    let is_red = |changed: &str| {
        let state = DomProcessor::new(TEST_ID, Redactor::default()).read(changed);
        let state = state.expect("a state");
        let finder = Finder::new(&state, TEST_ID);
        match finder.translate(sentence) {
            Translation::Step { target, .. } => {
                let targets: Vec<NodeId> = target.into_iter().collect();
                targets.is_empty() || !finder.holds(&assertion, &targets).holds
            }
            _ => true,
        }
    };
    let fault = |what: &str| format!("{sentence}\n    is green on a page where {what}");
    counts.changed += 1;
    let whole: Json = serde_json::from_str(capture).expect("a capture");
    let pattern = |text: &str| {
        let mut pattern = regex::RegexBuilder::new(&regex::escape(text));
        pattern.case_insensitive(true).build().expect("a pattern")
    };
    let claimed = pattern(text);
    let with_another = |known: &str| claimed.replace_all(known, "Zebra").into_owned();
    if !is_red(&with_texts(&whole, &with_another)) {
        counts.wrong.push(fault("another text stands there"));
    }
    // Of what a place has somewhere in it nobody says where.
    if assertion.matching != TextMatch::Equals {
        return;
    }
    let texts: Vec<&str> = state
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            DomKind::Text(run) if run.is_visible => Some(run.text.trim()),
            _ => None,
        })
        .filter(|text| !text.is_empty())
        .collect();
    let Some(at) = texts.iter().position(|known| *known == text) else {
        return;
    };
    let near = &texts[at.saturating_sub(NEAR)..(at + NEAR + 1).min(texts.len())];
    // What the sentence says of it may stand on either side of it.
    let is_said = |other: &str| pattern(other).is_match(sentence) || pattern(text).is_match(other);
    for other in near.iter().filter(|other| !is_said(other)) {
        let swapped = |known: &str| {
            let held = known.replace(text, "\u{1}").replace(other, text);
            held.replace('\u{1}', other)
        };
        counts.changed += 1;
        if !is_red(&with_texts(&whole, &swapped)) {
            counts
                .wrong
                .push(fault(&format!("it changed places with `{other}`")));
        }
    }
}

/// How many texts before and behind another one change places with it.
const NEAR: usize = 4;

/// A capture whose texts and names are changed.
fn with_texts(capture: &Json, change: &dyn Fn(&str) -> String) -> String {
    fn walk(json: &mut Json, change: &dyn Fn(&str) -> String) {
        match json {
            Json::Array(all) => all.iter_mut().for_each(|one| walk(one, change)),
            Json::Object(fields) => {
                for (key, value) in fields.iter_mut() {
                    match value {
                        Json::String(text) if ["text", "name", "label"].contains(&key.as_str()) => {
                            *text = change(text);
                        }
                        value => walk(value, change),
                    }
                }
            }
            _ => {}
        }
    }
    let mut changed = capture.clone();
    walk(&mut changed, change);
    changed.to_string()
}
