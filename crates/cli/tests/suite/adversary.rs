//! The adversary of replays: it makes next releases of pages by itself, and looks what is done on them.
//!
//! Sentences are read on a page as it is, and what a step would remember of their elements is kept. Then the page is
//! changed by one or two changes of `tests/site/adversary.js`, drawn by chance from a seed, and the step is played. The
//! page tells whether each click and each input went to the element that the change tracked. Anything else is a wrong
//! target: there must be none.
//!
//! `CUECARD_ADVERSARY_CASES` and `CUECARD_ADVERSARY_SEED` make it longer: `benches/adversary.sh`. What it found is looked at
//! with `CUECARD_ADVERSARY_TELL`, which prints every case, and `CUECARD_ADVERSARY_ONLY`, which tries a page and its changes
//! only: `users.html twin-before,drop-ids`.
#![allow(
    clippy::print_stdout,
    reason = "the figures are what a long run is for"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use cuecard_browser::replay::{PageErrors, PageInspector, Replay, memories, play};
use cuecard_browser::stage::{
    ActionTarget, Deadline, Failure, Limits, LiveStage, NoTargets, Outcome, PageState, Performed,
    Stage, StageAction, Targets, Values,
};
use cuecard_browser::{ElementAddress, WaitPolicy};
use cuecard_browser_steps::format::read as read_scenario;
use cuecard_browser_steps::model::{
    ActionKind, BrowserOptions, Observed, ParseStatus, StepsFile, TestStep, Translator, step_id,
};
use cuecard_page::selector::Finder;
use cuecard_page::sentences::{Intent, Translation, Understanding, understand};
use cuecard_report::browser_html::BrowserStep;
use cuecard_runtime::clock::Clock;
use cuecard_runtime::tap::Recorder;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;
use cuecard_testing::repository_root;
use cuecard_testing::site::Site;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::replay_browser::verdicts::table::TABLE;
use crate::replay_browser::with_site;

/// How many cases are tried, and from which seed they are drawn, unless the environment says otherwise.
const CASES: usize = 80;
const SEED: u64 = 17;

/// How many browsers there are at once. Most of a case is waiting: for what the page does late, and until it is quiet.
const BROWSERS: usize = 4;

/// How many changes are drawn until one can be made.
const DRAWS: usize = 12;

/// How many cases in a row may not be made.
const MOST_REFUSED: usize = 20;

/// How often the page of a browser may crash, besides once in fifty cases.
const MOST_CRASHES: usize = 5;

/// How long an element is looked for, in milliseconds: longer than the page holds back what is inserted late.
const BRIEFLY: u64 = 700;

/// How long one deed may take while steps are made: those that a slow machine left out would make other cases.
const PATIENCE: Duration = Duration::from_secs(20);

/// A step, and what must be done before its element is there.
struct Sentence {
    page: String,
    before: Vec<TestStep>,
    step: TestStep,
    address: ElementAddress,
    /// The text beside the element that the sentence names it by.
    beside: Option<String>,
}

/// Why there is no case.
enum Unmade {
    /// The changes can't be made on that page.
    Refused(String),
    /// The page is lost, and what it said last.
    Crashed(String),
}

/// What came of a case.
#[derive(Debug)]
struct Case {
    name: String,
    words: String,
    verdict: String,
    is_obvious: bool,
}

#[test]
fn nothing_is_done_on_another_element_however_the_page_changes() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let count = number("CUECARD_ADVERSARY_CASES", CASES as u64) as usize;
    let seed = number("CUECARD_ADVERSARY_SEED", SEED);
    if cuecard_testing::peers::browser_tools().is_none() {
        return;
    }
    let parts: Vec<(Vec<Case>, BTreeMap<String, u64>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..BROWSERS)
            .map(|part| scope.spawn(move || cases(part, count.div_ceil(BROWSERS), seed)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a part"))
            .collect()
    });
    let wrong: Vec<String> = parts
        .iter()
        .flat_map(|(cases, counts)| wrong_targets(cases, counts))
        .collect();
    let cases: Vec<&Case> = parts.iter().flat_map(|(cases, _)| cases).collect();
    println!("{}", figures(&cases, &wrong));
    assert!(cases.len() >= count);
    assert!(
        wrong.is_empty(),
        "{} wrong targets\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The control: a harness that can't fail would prove nothing.
#[test]
fn a_click_on_another_element_is_told_from_one_on_the_right_one() {
    if cuecard_testing::peers::browser_tools().is_none() {
        return;
    }
    with_site(Site::start_with_adversary, async |stage, site| {
        let page = "components/board.html";
        let scene = opened(stage, site, page).await;
        let card = |name: &str| {
            let sentence = format!("click 'Edit' in the '{name}' card");
            understood(&scene, &sentence, &site.url(page), 0).expect("it is understood")
        };
        let (step, address) = card("Write the imprint");
        let (_, another) = card("Choose a font");
        let mut chance = Chance(1);
        for (meant, are_wrong) in [(address, false), (another, true)] {
            let sentence = Sentence {
                page: page.to_owned(),
                before: Vec::new(),
                step: step.clone(),
                address: meant,
                beside: None,
            };
            let mut found = Vec::new();
            while !found.iter().any(|case: &Case| case.verdict == "same") {
                let name = format!("{are_wrong}.{}", found.len());
                found.extend(case(stage, site, &sentence, name, &mut chance).await.ok());
            }
            found.retain(|case| case.verdict == "same");
            assert!(is_told(site, &found[0].name), "{found:?}");
            let wrong = wrong_targets(&found, &site.counts());
            assert_eq!(!wrong.is_empty(), are_wrong, "{found:?} {wrong:?}");
        }
    });
}

/// The cases of one browser, and what its pages told of them. Some changes crash the browser's page: then another browser
/// goes on behind them.
fn cases(part: usize, count: usize, seed: u64) -> (Vec<Case>, BTreeMap<String, u64>) {
    let mut found = (Vec::new(), BTreeMap::new());
    let mut chance = Chance(seed.wrapping_mul(31).wrapping_add(part as u64));
    let mut n_browsers = 0;
    while found.0.len() < count {
        n_browsers += 1;
        assert!(
            n_browsers <= MOST_CRASHES + count / 50,
            "the browsers crash"
        );
        with_site(Site::start_with_adversary, async |stage, site| {
            let sentences = sentences(stage, site, part).await;
            let mut refused = 0;
            while found.0.len() < count {
                let sentence = &sentences[chance.below(sentences.len())];
                let name = format!("{part}.{}", found.0.len());
                match case(stage, site, sentence, name, &mut chance).await {
                    Ok(case) => {
                        if std::env::var_os("CUECARD_ADVERSARY_TELL").is_some() {
                            println!("{}: {} → {}", case.name, case.words, case.verdict);
                            for wrong in wrong_targets(std::slice::from_ref(&case), &site.counts())
                            {
                                println!("{wrong}");
                            }
                        }
                        refused = 0;
                        // A page that opens dialogs for ever is left by no browser in its time.
                        let is_stuck = case.verdict.contains("dialog_blocked");
                        found.0.push(case);
                        if is_stuck {
                            break;
                        }
                    }
                    Err(Unmade::Crashed(after)) => {
                        println!("a page crashed: {} {after}", sentence.page);
                        break;
                    }
                    Err(Unmade::Refused(reason)) => {
                        refused += 1;
                        assert!(
                            only().is_some() || refused < MOST_REFUSED,
                            "{}: {reason}",
                            sentence.page
                        );
                    }
                }
            }
            if let Some(case) = found.0.last()
                && matches!(case.verdict.as_str(), "same" | "healed")
            {
                is_told(site, &case.name);
            }
            found.1.extend(site.counts());
        });
    }
    found
}

/// Waits until the page told of a case what was done, which may be after the step has ended.
fn is_told(site: &Site, name: &str) -> bool {
    let prefix = format!("{name}: ");
    site.wait_until(PATIENCE, |counts| {
        counts.keys().any(|what| what.starts_with(&prefix))
    })
}

/// Cases in which something was done on another element, with what it was.
fn wrong_targets(cases: &[Case], counts: &BTreeMap<String, u64>) -> Vec<String> {
    cases
        .iter()
        .filter_map(|case| {
            let prefix = format!("{}: ", case.name);
            let events: Vec<&str> = counts
                .keys()
                .filter_map(|what| what.strip_prefix(&prefix))
                .collect();
            events
                .iter()
                .any(|event| event.starts_with("WRONG "))
                .then(|| format!("{} → {}: {}", case.words, case.verdict, events.join(", ")))
        })
        .collect()
}

/// What came of all cases, in numbers.
fn figures(cases: &[&Case], wrong: &[String]) -> String {
    let mut by_verdict: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases {
        *by_verdict.entry(case.verdict.as_str()).or_default() += 1;
    }
    let is_refused = |case: &&&Case| !matches!(case.verdict.as_str(), "same" | "healed");
    let refused = cases.iter().filter(is_refused).count();
    let obvious: Vec<&&Case> = cases
        .iter()
        .filter(is_refused)
        .filter(|case| case.is_obvious)
        .collect();
    let mut text = format!(
        "{} cases: {by_verdict:?}; {} wrong targets; {refused} refused, {} of them obvious to a person ({:.1} % of all cases)",
        cases.len(),
        wrong.len(),
        obvious.len(),
        obvious.len() as f64 * 100.0 / cases.len() as f64,
    );
    let mut by_change: BTreeMap<String, usize> = BTreeMap::new();
    for case in &obvious {
        for change in case.words.split(" | ").skip(1) {
            let change = change.split(':').next().unwrap_or_default();
            *by_change.entry(change.to_owned()).or_default() += 1;
        }
    }
    let _ = write!(text, "\nobvious refusals by change: {by_change:?}");
    if std::env::var_os("CUECARD_ADVERSARY_TELL").is_some() {
        for case in obvious {
            let _ = write!(text, "\n  obvious: {} → {}", case.words, case.verdict);
        }
    }
    text
}

/// The sentences about elements of a part of the pages: those with components, those that people wrote sentences for, and
/// those of the test site.
async fn sentences(stage: &mut LiveStage, site: &Site, part: usize) -> Vec<Sentence> {
    let mut pages: Vec<(String, Vec<String>)> = Vec::new();
    let folder = repository_root().join("tests/site/components");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("pages")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a scenario");
        let reading = read_scenario(&SourceFile::new("scenario.yaml", text));
        let scenario = reading
            .scenario
            .unwrap_or_else(|| panic!("{file:?}: {:?}", reading.diagnostics));
        let stem = file.file_stem().expect("a name").to_string_lossy();
        let actions = scenario.actions.into_iter().map(|action| action.text);
        pages.push((format!("components/{stem}.html"), actions.collect()));
    }
    let text = repository_root().join("tests/scenarios/sentences/sentences.json");
    let text = std::fs::read_to_string(text).expect("the sentences");
    let written: Vec<Value> = serde_json::from_str(&text).expect("a list");
    for of_page in written.chunk_by(|one, next| one["page"] == next["page"]) {
        let page = of_page[0]["page"].as_str().expect("a page");
        let actions = of_page
            .iter()
            .filter(|entry| entry["means"].as_str().is_some_and(|css| css != "none"))
            .filter_map(|entry| entry["sentence"].as_str().map(str::to_owned));
        pages.push((format!("sentences/{page}"), actions.collect()));
    }
    for load in TABLE {
        let actions = load.rows.iter().map(|row| row.sentence.to_owned());
        pages.push((load.page.to_owned(), actions.collect()));
    }
    let mut sentences = Vec::new();
    match only() {
        Some((only, _)) => pages.retain(|(page, _)| page.ends_with(&only)),
        None => pages = pages.into_iter().skip(part).step_by(BROWSERS).collect(),
    }
    for (page, actions) in pages {
        record(stage, site, &page, &actions, &mut sentences).await;
    }
    sentences
}

/// The page and the changes that alone are tried.
fn only() -> Option<(String, Vec<String>)> {
    let only = std::env::var("CUECARD_ADVERSARY_ONLY").ok()?;
    let (page, changes) = only.split_once(' ').expect("a page and changes");
    Some((
        page.to_owned(),
        changes.split(',').map(str::to_owned).collect(),
    ))
}

/// The steps that the sentences of a page become. Those whose element is there from the beginning need no other before.
async fn record(
    stage: &mut LiveStage,
    site: &Site,
    page: &str,
    actions: &[String],
    sentences: &mut Vec<Sentence>,
) {
    let mut scene = opened(stage, site, page).await;
    let url = site.url(page);
    let mut known = vec![false; actions.len()];
    for (place, action) in actions.iter().enumerate() {
        if let Some((step, address)) = understood(&scene, action, &url, place) {
            known[place] = true;
            let more = by_surroundings(&scene, &step, &address);
            let more = more
                .into_iter()
                .enumerate()
                .filter_map(|(at, (action, text))| {
                    let place = actions.len() + place * MOST_BESIDE + at;
                    let (step, found) = understood(&scene, &action, &url, place)?;
                    (found == address).then_some((step, Some(text)))
                });
            for (step, beside) in std::iter::once((step, None)).chain(more) {
                sentences.push(Sentence {
                    page: page.to_owned(),
                    before: Vec::new(),
                    step,
                    address: address.clone(),
                    beside,
                });
            }
        }
    }
    if known.iter().all(|known| *known) {
        return;
    }
    let mut before = Vec::new();
    for (place, action) in actions.iter().enumerate() {
        let Some((step, address)) = understood(&scene, action, &url, place) else {
            continue;
        };
        let intent = match understand(action) {
            Understanding::Understood(intent) => intent.step,
            _ => continue,
        };
        let aim = {
            let finder = Finder::new(&scene.state, TEST_ID);
            finder
                .state
                .elements()
                .find(|(_, element)| ElementAddress::of(element) == address)
                .and_then(|(id, _)| ActionTarget::at(finder, id))
        };
        let deed = StageAction {
            step: &intent,
            aim,
            to: None,
            limits: Limits {
                action: PATIENCE,
                assertion: PATIENCE,
            },
            wait_for: None,
            settling: WaitPolicy::Whole,
        };
        if stage.perform(&deed, &mut NoTargets).await.is_err() {
            break;
        }
        if !known[place] {
            sentences.push(Sentence {
                page: page.to_owned(),
                before: before.clone(),
                step: step.clone(),
                address,
                beside: None,
            });
        }
        before.push(TestStep {
            // What the page does after it, such as a search that waits for more letters, is done before the change.
            observed: Observed {
                settle: Some("loaded".to_owned()),
                ..step.observed.clone()
            },
            ..step
        });
        scene = stage.look().await.expect("the page can be seen");
    }
}

const TEST_ID: &str = "data-testid";

/// For how many texts beside an element sentences are made.
const MOST_BESIDE: usize = 4;

/// More sentences about what is clicked, each with the text beside it that it is named by, in words that have none of the
/// forms.
fn by_surroundings(
    scene: &PageState,
    step: &TestStep,
    address: &ElementAddress,
) -> Vec<(String, String)> {
    let state = &scene.state;
    let mut elements = state.elements();
    let Some((id, element)) = elements.find(|(_, element)| ElementAddress::of(element) == *address)
    else {
        return Vec::new();
    };
    let own = state.visible_text(id);
    let name = match element.name.trim() {
        "" => own.trim(),
        name => name,
    };
    if step.action != ActionKind::Click || name.is_empty() {
        return Vec::new();
    }
    let is_plain = |text: &str| {
        (2..=30).contains(&text.chars().count())
            && text.chars().any(char::is_alphabetic)
            && !text.contains(['\'', '"', '\n'])
            && text != own.trim()
    };
    let mut texts: Vec<String> = Vec::new();
    for (outer, _) in state.ancestor_elements(id).take(4) {
        let beside = state
            .descendants(outer)
            .filter(|(_, inner)| !inner.is_interactive);
        let beside = beside.map(|(inner, _)| state.visible_text(inner).trim().to_owned());
        texts.extend(beside.filter(|text| is_plain(text)));
        texts.sort();
        texts.dedup();
        if !texts.is_empty() {
            break;
        }
    }
    texts.truncate(MOST_BESIDE / 2);
    let said = |text: String| {
        [
            (
                format!("click {name} in the item with '{text}'"),
                text.clone(),
            ),
            (format!("click {name} next to {text}"), text),
        ]
    };
    texts.into_iter().flat_map(said).collect()
}

/// Words that name an order.
const ORDERS: &[&str] = &["first", "second", "third", "last", "top "];

async fn opened(stage: &mut LiveStage, site: &Site, page: &str) -> Arc<PageState> {
    let url = site.url(page);
    let opened = stage.open(&url, WaitPolicy::Whole, Deadline::after(PATIENCE));
    opened
        .await
        .unwrap_or_else(|failure| panic!("{page}: {failure}"));
    stage.look().await.expect("the page can be seen")
}

/// The step that a sentence is on a page, and where its element is. None of what acts on no element, or of what names an
/// order, which the changes don't keep.
fn understood(
    scene: &PageState,
    action: &str,
    url: &str,
    place: usize,
) -> Option<(TestStep, ElementAddress)> {
    let finder = Finder::new(&scene.state, TEST_ID);
    let meant = |intent: Intent| match finder.resolve(&intent) {
        Translation::Step {
            step,
            target: Some(id),
            ..
        } => Some(Ok((*step, id, intent.phrase))),
        Translation::NotFound(_) => None,
        _ => Some(Err(())),
    };
    let read = match understand(action) {
        Understanding::Understood(intent) => meant(*intent),
        Understanding::NotUnderstood { .. } => None,
        Understanding::Compound { .. } => return None,
    };
    let (step, id, phrase) = match read {
        Some(read) => read.ok()?,
        None => meant(finder.read_partially(action)?.ok()?)?.ok()?,
    };
    let is_ordered = phrase
        .as_ref()
        .is_some_and(|phrase| phrase.position.is_some())
        || ORDERS
            .iter()
            .any(|word| action.to_lowercase().contains(word));
    if step.assertion.is_some() || is_ordered {
        return None;
    }
    let known = finder.identify(id, phrase.as_ref())?;
    let mut kept = TestStep::new(step_id(url, place, action), action, step.action_type);
    kept.selectors = known.selectors.iter().map(ToString::to_string).collect();
    kept.selector = kept.selectors.first().cloned();
    kept.translator = Some(Translator::Rules);
    kept.fingerprint = Some(known.fingerprint);
    kept.value = step
        .input_value
        .as_ref()
        .map(cuecard_browser_steps::model::InputValue::to_json);
    kept.key.clone_from(&step.key);
    kept.observed.settle = Some("instant".to_owned());
    let element = finder.state.element(id)?;
    Some((kept, ElementAddress::of(element)))
}

/// Changes the page of a sentence by chance and plays it.
///
/// # Errors
/// If the changes can't be made there.
async fn case(
    stage: &mut LiveStage,
    site: &Site,
    sentence: &Sentence,
    name: String,
    chance: &mut Chance,
) -> Result<Case, Unmade> {
    let mut steps = sentence.before.clone();
    steps.push(sentence.step.clone());
    let file = StepsFile {
        test_steps: steps,
        status: ParseStatus::Success,
        errors: Vec::new(),
        extracted_content: None,
        execution_time_ms: None,
        url: site.url(&sentence.page),
        observed: Observed {
            settle: Some("loaded".to_owned()),
            ..Observed::default()
        },
        options: json!({}),
        variables: serde_json::Map::new(),
        secrets: Vec::new(),
    };
    let values = Values::default();
    let source = SourceFile::new("steps.json", file.to_text());
    let memories = memories(&file, &values).expect("steps that can be played");
    let options = BrowserOptions {
        action_timeout_ms: BRIEFLY,
        ..BrowserOptions::default()
    };
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
    let mut changing = Changing {
        stage,
        left: sentence.before.len(),
        request: request(sentence, &name, chance),
        answer: Value::Null,
    };
    let mut recorder = Recorder::new(Clock::start(), Redactor::default());
    let mut last = None;
    let mut tell = |step: BrowserStep| last = Some(step);
    let played = play(
        &replay,
        &mut changing,
        &mut recorder,
        &mut tell,
        &CancellationToken::new(),
    )
    .await;
    let Changing {
        answer, request, ..
    } = changing;
    if answer["ok"] != true {
        // A page that is not even loaded is lost too.
        let is_lost =
            |failure: &Diagnostic| failure.code == codes::BROWSER_CRASHED || last.is_none();
        return Err(match played.failure.as_ref().is_some_and(is_lost) {
            true => Unmade::Crashed(format!("{request} {answer}")),
            false => Unmade::Refused(format!("{answer} {played:?}")),
        });
    }
    let last = last.unwrap_or_default();
    let verdict = match (&last.verdict, &last.error) {
        (Some(verdict), None) => verdict.word.clone(),
        (Some(verdict), Some(error)) if matches!(verdict.word.as_str(), "same" | "healed") => {
            format!("not done: {}", error.error_type)
        }
        (Some(verdict), Some(_)) => verdict.word.clone(),
        (None, _) => format!("{:?}", played.verdict),
    };
    let applied: Vec<&str> = answer["applied"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    Ok(Case {
        words: format!(
            "{} \"{}\" | {}",
            sentence.page,
            sentence.step.description,
            applied.join(" | ")
        ),
        name,
        verdict,
        is_obvious: answer["obvious"] == true,
    })
}

/// What the page is asked for: one change, or a pair of them; others if those can't be made there.
fn request(sentence: &Sentence, name: &str, chance: &mut Chance) -> String {
    let scope: Vec<Value> = sentence
        .address
        .scope
        .iter()
        .map(|hop| json!({"kind": hop.kind.as_str(), "xpath": hop.xpath}))
        .collect();
    let mut draw = || -> Value {
        let n_changes = if chance.below(5) < 3 { 1 } else { 2 };
        (0..n_changes).map(|_| chance.below(10_000)).collect()
    };
    let draws: Value = match only() {
        Some((_, changes)) => json!([changes]),
        None => (0..DRAWS).map(|_| draw()).collect(),
    };
    let fingerprint = sentence.step.fingerprint.as_ref();
    let places = fingerprint.into_iter().flat_map(|known| &known.outline);
    let said: Vec<&str> = places
        .filter_map(|place| place.text.as_deref())
        .chain(sentence.beside.as_deref())
        .collect();
    let asked = json!({
        "address": {"scope": scope, "xpath": sentence.address.xpath},
        "said": said,
        "seed": chance.below(1 << 31),
        "case": name,
    });
    format!("__adversary.applyOne({asked}, {draws})")
}

/// A browser whose page is changed right before the last step.
struct Changing<'s> {
    stage: &'s mut LiveStage,
    /// The steps before that one.
    left: usize,
    request: String,
    answer: Value,
}

impl Changing<'_> {
    async fn change(&mut self) {
        if self.left == 0 && self.answer.is_null() {
            let answer = self.stage.bridge().evaluate(&self.request).await;
            self.answer =
                answer.unwrap_or_else(|error| json!({"ok": false, "reason": error.to_string()}));
        }
    }
}

impl Stage for Changing<'_> {
    async fn open(
        &mut self,
        url: &str,
        settling: WaitPolicy,
        deadline: Deadline,
    ) -> Result<Outcome, Failure> {
        self.stage.open(url, settling, deadline).await
    }

    async fn look(&mut self) -> Result<Arc<PageState>, Failure> {
        self.change().await;
        if self.answer["ok"] == false {
            return Err(Failure {
                message: "not changed".to_owned(),
                has_acted: true,
                ..Failure::default()
            });
        }
        self.stage.look().await
    }

    async fn look_again(&mut self, deadline: Deadline) -> Result<Option<Arc<PageState>>, Failure> {
        self.stage.look_again(deadline).await
    }

    async fn perform(
        &mut self,
        deed: &StageAction<'_>,
        targets: &mut (dyn Targets + Send),
    ) -> Result<Performed, Failure> {
        let performed = self.stage.perform(deed, targets).await;
        self.left = self.left.saturating_sub(1);
        performed
    }
}

impl PageInspector for Changing<'_> {
    async fn screenshot(&mut self) -> Option<Vec<u8>> {
        None
    }

    async fn show(&mut self, _: &ElementAddress, _: Deadline) {}

    fn console(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn complaints(&mut self) -> PageErrors {
        PageErrors::default()
    }
}

/// Numbers by chance, the same for the same seed (SplitMix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}
