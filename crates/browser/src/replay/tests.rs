use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use cuecard_browser_steps::model::{
    ActionKind, AssertKind, BrowserAssertion, OnFailure, StepElement,
};
use cuecard_page::dom::DomProcessor;
use cuecard_page::selector::Finder;
use cuecard_source::diagnostic::codes;
use cuecard_source::value::{Json, Redactor};
use cuecard_trace::{Event, StepStatus};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::stage::{Deadline, Failure, Outcome, PageState, Performed, Stage, StageAction, Targets};
use crate::{ElementAddress, WaitPolicy};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::tap::{Listener, Recorder};

const URL: &str = "https://shop.example/";

/// A page of buttons: name and id of each.
fn page(buttons: &[(&str, &str)]) -> Arc<PageState> {
    let mut nodes = vec![json!({
        "tagName": "body", "path": "/html/body", "isVisible": true, "rect": [0, 0, 1280, 720],
    })];
    for (place, (name, id)) in buttons.iter().enumerate() {
        let attributes = match *id {
            "" => json!({}),
            id => json!({"id": id}),
        };
        nodes.push(json!({
            "parent": 0, "tagName": "button", "path": format!("button[{}]", place + 1), "role": "button",
            "name": name, "attributes": attributes, "isVisible": true, "isInteractive": true,
            "isTopElement": true, "isInViewport": true, "interactiveBy": "native",
            "rect": [10, 30 * place, 80, 20],
        }));
    }
    let capture = json!({
        "version": 1, "tabs": [], "owners": [null], "patches": [],
        "documents": [{
            "url": URL, "title": "Shop", "documentId": "d", "viewport": [1280, 720], "scroll": [0, 0],
            "size": [1280, 720], "nodes": nodes,
        }],
    });
    let mut processor = DomProcessor::new("data-testid", Redactor::default());
    let state = processor.read(&capture.to_string()).expect("a capture");
    Arc::new(PageState { state })
}

/// A step that clicks the button of this name on a page.
fn click(scene: &PageState, name: &str, number: usize) -> TestStep {
    let finder = Finder::new(&scene.state, "data-testid");
    let (id, _) = scene
        .state
        .elements()
        .find(|(_, element)| element.name == name)
        .expect(name);
    let mut step = TestStep::new(
        format!("st-{number}"),
        format!("click '{name}'"),
        ActionKind::Click,
    );
    let known = finder.identify(id, None).expect("an element");
    step.selectors = known.selectors.iter().map(ToString::to_string).collect();
    step.fingerprint = Some(known.fingerprint);
    step.observed.url = Some(URL.to_owned());
    step
}

/// A stage on which pages follow each other: the next with each second look, and after each deed.
#[derive(Default)]
struct Scripted {
    /// The pages; the first is the one that is there.
    pages: VecDeque<Arc<PageState>>,
    /// What comes of deeds; all is well once it is empty.
    outcomes: VecDeque<Result<Outcome, Failure>>,
    /// Pages that come of deeds.
    after: VecDeque<Arc<PageState>>,
    done: Vec<String>,
    opened: Vec<String>,
}

impl Scripted {
    fn on(pages: &[&Arc<PageState>]) -> Self {
        Self {
            pages: pages.iter().map(|&page| Arc::clone(page)).collect(),
            ..Self::default()
        }
    }

    fn current(&self) -> Arc<PageState> {
        Arc::clone(self.pages.front().expect("a page"))
    }
}

impl Stage for Scripted {
    async fn open(&mut self, url: &str, _: WaitPolicy, _: Deadline) -> Result<Outcome, Failure> {
        self.opened.push(url.to_owned());
        Ok(Outcome::default())
    }

    async fn look(&mut self) -> Result<Arc<PageState>, Failure> {
        Ok(self.current())
    }

    async fn look_again(&mut self, _: Deadline) -> Result<Option<Arc<PageState>>, Failure> {
        if self.pages.len() < 2 {
            return Ok(None);
        }
        self.pages.pop_front();
        Ok(Some(self.current()))
    }

    async fn perform(
        &mut self,
        deed: &StageAction<'_>,
        targets: &mut (dyn Targets + Send),
    ) -> Result<Performed, Failure> {
        let scene = self.current();
        if let Some(assertion) = &deed.step.assertion {
            let finder = Finder::new(&scene.state, "data-testid");
            let sought = targets.find(finder);
            if let Some(problem) = sought.problem {
                return Err(*problem);
            }
            if !finder.holds(assertion, &sought.elements).holds {
                return Err(Failure::new(codes::BROWSER_ASSERTION, "it does not hold"));
            }
        }
        let outcome = self
            .outcomes
            .pop_front()
            .unwrap_or_else(|| Ok(Outcome::default()))?;
        let words = deed.aim.as_ref().map(|aim| aim.words.clone());
        self.done
            .push(words.unwrap_or_else(|| deed.step.description.clone()));
        if let Some(next) = self.after.pop_front() {
            self.pages = [next].into();
        }
        Ok(Performed {
            outcome,
            scene: None,
        })
    }
}

impl PageInspector for Scripted {
    async fn screenshot(&mut self) -> Option<Vec<u8>> {
        Some(b"PNG".to_vec())
    }

    async fn show(&mut self, _: &ElementAddress, _: Deadline) {}

    fn console(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn complaints(&mut self) -> PageErrors {
        PageErrors::default()
    }
}

struct Heard(Rc<RefCell<Vec<String>>>);

impl Listener for Heard {
    fn event(&mut self, event: &Event) {
        self.0.borrow_mut().push(event.data.type_name().to_owned());
    }
}

struct Outcomes {
    played: Replayed,
    told: Vec<BrowserStep>,
    events: Vec<String>,
}

fn file(test_steps: Vec<TestStep>) -> StepsFile {
    StepsFile {
        test_steps,
        status: ParseStatus::Success,
        url: URL.to_owned(),
        options: json!({}),
        ..StepsFile::default()
    }
}

/// Calls `work` with a replay of these steps, changed by `change`.
fn with_replay<T>(
    steps: &StepsFile,
    change: impl FnOnce(&mut Replay<'_>),
    work: impl FnOnce(&Replay<'_>) -> T,
) -> T {
    let values = Values::default();
    let source = SourceFile::new("steps.json", steps.to_text());
    let memories = memories(steps, &values).expect("playable");
    let options = BrowserOptions::default();
    let mut replay = Replay {
        source: &source,
        steps,
        memories: &memories,
        options: &options,
        values: &values,
        range: 0..=u64::MAX,
        heals: true,
        is_pictured: false,
        keeps_each: false,
        run_dir: None,
    };
    change(&mut replay);
    work(&replay)
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(work)
}

fn played(
    steps: &StepsFile,
    stage: &mut Scripted,
    change: impl FnOnce(&mut Replay<'_>),
) -> Outcomes {
    with_replay(steps, change, |replay| {
        let events = Rc::new(RefCell::new(Vec::new()));
        let mut told = Vec::new();
        let played = {
            let mut recorder = Recorder::new(Clock::start(), Redactor::default());
            recorder.tell(Box::new(Heard(events.clone())));
            let mut tell = |step: BrowserStep| told.push(step);
            let stop = CancellationToken::new();
            block_on(play(replay, stage, &mut recorder, &mut tell, &stop))
        };
        let events = events.borrow().clone();
        Outcomes {
            played,
            told,
            events,
        }
    })
}

fn word(step: &BrowserStep) -> &str {
    step.verdict.as_ref().map_or("", |verdict| &verdict.word)
}

#[test]
fn what_is_the_same_is_done_and_recorded_before() {
    let shop = page(&[("Buy", ""), ("Sell", "")]);
    let steps = file(vec![click(&shop, "Buy", 1), click(&shop, "Sell", 2)]);
    let mut stage = Scripted::on(&[&shop]);
    let outcomes = played(&steps, &mut stage, |replay| replay.is_pictured = true);
    assert_eq!(outcomes.played.verdict, Verdict::Passed);
    assert_eq!(outcomes.played.summary.passed, 2);
    assert!(outcomes.played.is_whole && outcomes.played.healed.is_empty());
    assert_eq!(stage.done, ["button \"Buy\"", "button \"Sell\""]);
    assert_eq!(
        outcomes.events[2..6],
        ["step_started", "tool_call", "tool_result", "step_finished"]
    );
    assert_eq!(word(&outcomes.told[1]), "same");
    let picture = outcomes.told[1].picture.as_ref().expect("a picture");
    assert_eq!(picture.target, Some([10.0, 30.0, 80.0, 20.0]));
}

#[test]
fn what_may_still_appear_is_waited_for() {
    let (empty, shop) = (page(&[]), page(&[("Buy", "")]));
    let steps = file(vec![click(&shop, "Buy", 1)]);
    let mut stage = Scripted::on(&[&empty, &empty, &shop]);
    let outcomes = played(&steps, &mut stage, |_| ());
    assert_eq!(outcomes.played.verdict, Verdict::Passed);
    // What comes near is not taken as long as the real one may come.
    let old = page(&[("Buy", "buy")]);
    let steps = file(vec![click(&old, "Buy", 1)]);
    let mut stage = Scripted::on(&[&page(&[("Wait", "buy")]), &old]);
    let outcomes = played(&steps, &mut stage, |_| ());
    assert_eq!((word(&outcomes.told[0]), stage.done.len()), ("same", 1));
}

#[test]
fn what_is_healed_is_done_and_told_unless_that_is_off() {
    let (old, new) = (
        page(&[("Buy", "buy"), ("Sell", "")]),
        page(&[("Buy", "order"), ("Sell", "")]),
    );
    let mut step = click(&old, "Buy", 1);
    // The section in which it was is gone.
    let known = step.fingerprint.as_mut().expect("it has one");
    known.outline.push(cuecard_page::Container {
        text: Some("Orders".to_owned()),
        ..cuecard_page::Container::default()
    });
    let steps = file(vec![step]);
    let mut stage = Scripted::on(&[&new]);
    let outcomes = played(&steps, &mut stage, |_| ());
    assert_eq!(
        outcomes.played.verdict,
        Verdict::Passed,
        "{:?}",
        outcomes.played
    );
    assert_eq!(outcomes.played.summary.healed, 1);
    assert_eq!(stage.done, ["button \"Buy\""]);
    let healed = &outcomes.played.healed[0];
    assert!(healed.reason.contains("\"Orders\""), "{}", healed.reason);
    assert!(outcomes.events.contains(&"log".to_owned()));

    let mut stage = Scripted::on(&[&new]);
    let outcomes = played(&steps, &mut stage, |replay| replay.heals = false);
    assert_eq!(outcomes.played.verdict, Verdict::Failed);
    assert!(stage.done.is_empty() && outcomes.played.healed.is_empty());
    let failure = outcomes.played.failure.expect("it failed");
    assert_eq!(failure.code, codes::BROWSER_TARGET);
    assert!(failure.place.is_some(), "the step stands in the file");
}

#[test]
fn what_has_another_name_is_proposed_and_not_acted_on() {
    let (old, new) = (
        page(&[("Save draft", "save"), ("Sell", "")]),
        page(&[("Publish", "save"), ("Sell", "")]),
    );
    for action in [
        ActionKind::Click,
        ActionKind::Input,
        ActionKind::Select,
        ActionKind::Press,
        ActionKind::Hover,
        ActionKind::Upload,
        ActionKind::Extract,
    ] {
        let mut step = click(&old, "Save draft", 1);
        step.action = action;
        let steps = file(vec![step]);
        let mut stage = Scripted::on(&[&new]);
        let outcomes = played(&steps, &mut stage, |_| ());
        assert_eq!(outcomes.played.verdict, Verdict::Failed);
        assert!(stage.done.is_empty(), "{:?}", stage.done);
        assert_eq!(word(&outcomes.told[0]), "renamed");
        let failure = outcomes.played.failure.expect("it failed");
        assert_eq!(failure.code, codes::BROWSER_TARGET);
        for words in ["'Save draft'", "\"Publish\"", "the id `save`"] {
            assert!(failure.message.contains(words), "{}", failure.message);
        }
        let help = failure.help.expect("help");
        assert!(
            help.contains("cuecard play steps.json --accept-rename st-1"),
            "{help}"
        );
        let [renamed] = outcomes.played.renamed.as_slice() else {
            panic!("{:?}", outcomes.played.renamed);
        };
        assert_eq!(renamed.fingerprint.name, "Publish");
        let verified = verified(&steps, &mut Scripted::on(&[&new]));
        assert_eq!(verified.replayed.renamed.len(), 1);
    }
    // It may still become what it was.
    let steps = file(vec![click(&old, "Save draft", 1)]);
    let mut stage = Scripted::on(&[&new, &old]);
    let outcomes = played(&steps, &mut stage, |_| ());
    assert_eq!(stage.done, ["button \"Save draft\""]);
    assert!(outcomes.played.renamed.is_empty());
}

#[test]
fn nothing_else_is_ever_acted_on() {
    let old = page(&[("Buy", ""), ("Sell", "")]);
    let gone = page(&[("Sell", ""), ("Keep", "")]);
    let twice = page(&[("Buy", ""), ("Buy", "")]);
    for (now, expected, code) in [
        (&gone, "gone", codes::BROWSER_NOT_FOUND),
        (&twice, "ambiguous", codes::BROWSER_AMBIGUOUS),
    ] {
        let steps = file(vec![click(&old, "Buy", 1), click(&old, "Sell", 2)]);
        let mut stage = Scripted::on(&[now]);
        let outcomes = played(&steps, &mut stage, |_| ());
        let first = word(&outcomes.told[0]).to_owned();
        if expected == "ambiguous" && first == "healed" {
            // Its place alone tells twins apart: then the one in that place is taken.
            assert_eq!(stage.done[0], "button \"Buy\"");
            continue;
        }
        assert_eq!(first, expected);
        assert_eq!(outcomes.played.failure.expect("it failed").code, code);
        assert!(stage.done.is_empty(), "{:?}", stage.done);
        assert!(!outcomes.told[0].candidates.is_empty());
        assert_eq!(outcomes.told.len(), 2, "also what was not reached is told");
        assert_eq!(outcomes.told[1].status, None);
    }
}

#[test]
fn nothing_is_dragged_if_one_of_the_two_elements_is_not_the_same() {
    let old = page(&[("Tea", ""), ("Done", ""), ("Bin", "bin")]);
    let mut drag = click(&old, "Tea", 1);
    let to = click(&old, "Done", 1);
    drag.action = ActionKind::Drag;
    drag.description = "drag 'Tea' to 'Done'".to_owned();
    drag.to = Some(StepElement {
        selectors: to.selectors,
        fingerprint: to.fingerprint,
        index: None,
    });
    let steps = file(vec![drag]);
    for (now, expected, message) in [
        (old, "same", ""),
        (
            page(&[("Tea", ""), ("Bin", "bin")]),
            "gone",
            "'Done' button not found: no element is button \"Done\"",
        ),
        (
            page(&[("Tea", ""), ("Done", ""), ("Done", "")]),
            "ambiguous",
            "can't determine which element is the 'Done' button: 2 elements are button \"Done\"",
        ),
        (
            page(&[("Done", ""), ("Bin", "bin")]),
            "gone",
            "'Tea' button not found: no element is button \"Tea\"",
        ),
    ] {
        let mut stage = Scripted::on(&[&now]);
        let outcomes = played(&steps, &mut stage, |_| ());
        assert_eq!(word(&outcomes.told[0]), expected);
        let done: &[&str] = if message.is_empty() {
            &["button \"Tea\""]
        } else {
            &[]
        };
        assert_eq!(stage.done, done);
        let failure = outcomes.played.failure.map(|failure| failure.message);
        let failure = failure.unwrap_or_default();
        assert!(failure.ends_with(message), "{failure}");
    }
}

#[test]
fn only_what_did_nothing_is_tried_again() {
    let shop = page(&[("Buy", "")]);
    let mut step = click(&shop, "Buy", 1);
    step.max_retries = Some(2);
    let steps = file(vec![step]);
    let covered = || Failure::new(codes::BROWSER_COVERED, "something is over it");
    let mut stage = Scripted::on(&[&shop]);
    stage.outcomes = [Err(covered()), Ok(Outcome::default())].into();
    let outcomes = played(&steps, &mut stage, |_| ());
    assert_eq!(outcomes.played.verdict, Verdict::Passed);
    assert_eq!(
        (
            outcomes.played.summary.calls,
            outcomes.played.summary.retries
        ),
        (2, 1)
    );

    let mut stage = Scripted::on(&[&shop]);
    let acted = Failure {
        has_acted: true,
        ..covered()
    };
    stage.outcomes = [Err(acted)].into();
    let outcomes = played(&steps, &mut stage, |_| ());
    assert_eq!(outcomes.played.verdict, Verdict::Failed);
    assert_eq!(outcomes.played.summary.calls, 1);
}

#[test]
fn what_may_fail_does_and_what_is_over_is_over() {
    let shop = page(&[("Buy", ""), ("Sell", "")]);
    let mut optional = click(&page(&[("Close", "")]), "Close", 1);
    optional.optional = true;
    let steps = file(vec![optional, click(&shop, "Buy", 2)]);
    let mut stage = Scripted::on(&[&shop]);
    let outcomes = played(&steps, &mut stage, |_| ());
    assert_eq!(outcomes.played.verdict, Verdict::Passed);
    assert_eq!(outcomes.played.summary.tolerated, 1);
    assert_eq!(outcomes.told[0].status, Some(StepStatus::Tolerated));

    let steps = file(vec![click(&shop, "Buy", 1), click(&shop, "Sell", 2)]);
    let mut stage = Scripted::on(&[&shop]);
    stage.outcomes = [Err(Failure::new(codes::BROWSER_LOST, "the browser exited"))].into();
    let outcomes = played(&steps, &mut stage, |_| ());
    assert_eq!(outcomes.played.verdict, Verdict::Blocked);

    let go_on = BrowserOptions {
        on_failure: OnFailure::Continue,
        ..BrowserOptions::default()
    };
    let mut stage = Scripted::on(&[&shop]);
    stage.outcomes = [Err(Failure::new(codes::BROWSER_COVERED, "covered"))].into();
    let values = Values::default();
    let memories = memories(&steps, &values).expect("playable");
    let source = SourceFile::new("steps.json", steps.to_text());
    let replay = Replay {
        source: &source,
        steps: &steps,
        memories: &memories,
        options: &go_on,
        values: &values,
        range: 0..=u64::MAX,
        heals: true,
        is_pictured: false,
        keeps_each: false,
        run_dir: None,
    };
    let mut recorder = Recorder::new(Clock::start(), Redactor::default());
    let mut nobody = |_: BrowserStep| {};
    let stop = CancellationToken::new();
    let run = block_on(play(&replay, &mut stage, &mut recorder, &mut nobody, &stop));
    assert_eq!((run.summary.failed, run.summary.passed), (1, 1));
    assert_eq!(run.verdict, Verdict::Failed);
}

#[test]
fn a_part_begins_where_the_step_before_it_ended_and_keeps_nothing() {
    let shop = page(&[("Buy", ""), ("Sell", "")]);
    let mut first = click(&shop, "Buy", 1);
    first.observed.url = Some("https://shop.example/cart".to_owned());
    let steps = file(vec![first, click(&shop, "Sell", 2)]);
    let mut stage = Scripted::on(&[&shop]);
    let outcomes = played(&steps, &mut stage, |replay| replay.range = 2..=9);
    assert_eq!(stage.opened, ["https://shop.example/cart"]);
    assert_eq!(stage.done, ["button \"Sell\""]);
    assert!(!outcomes.played.is_whole);
}

#[test]
fn the_element_of_an_assertion_is_never_healed() {
    let (old, new) = (page(&[("Buy", "buy")]), page(&[("Order", "buy")]));
    let mut step = click(&old, "Buy", 1);
    step.action = ActionKind::Assert;
    step.assertion = Some(BrowserAssertion::new(AssertKind::Visible));
    let steps = file(vec![step.clone()]);
    let outcomes = played(&steps, &mut Scripted::on(&[&old]), |_| ());
    assert_eq!(outcomes.played.verdict, Verdict::Passed);
    let outcomes = played(&steps, &mut Scripted::on(&[&new]), |_| ());
    assert_eq!(outcomes.played.verdict, Verdict::Failed);
    assert_eq!(word(&outcomes.told[0]), "renamed");
    assert!(outcomes.played.renamed.is_empty(), "nothing is proposed");
    let failure = outcomes.played.failure.expect("it failed");
    assert!(failure.help.expect("help").contains("never healed"));

    // That it is hidden holds when it is gone, and not when it is only called otherwise.
    step.assertion = Some(BrowserAssertion::new(AssertKind::Hidden));
    let steps = file(vec![step]);
    let gone = page(&[("Order", "")]);
    for (now, verdict) in [
        (&gone, Verdict::Passed),
        (&new, Verdict::Failed),
        (&old, Verdict::Failed),
    ] {
        let outcomes = played(&steps, &mut Scripted::on(&[now]), |_| ());
        assert_eq!(outcomes.played.verdict, verdict);
    }
}

#[test]
fn a_step_that_does_not_remember_its_element_is_not_played() {
    let shop = page(&[("Buy", "")]);
    let mut short = click(&shop, "Buy", 1);
    short.fingerprint = None;
    let mut wrong = click(&shop, "Buy", 2);
    wrong.selectors = vec!["button".to_owned()];
    let found = memories(&file(vec![short, wrong]), &Values::default()).expect_err("two errors");
    assert_eq!(found.len(), 2);
    assert!(found[0].message.contains("a selector alone is not enough"));
    assert_eq!(found[1].pointer.as_deref(), Some("/testSteps/1/selectors"));
}

#[test]
fn references_stand_for_values_in_what_is_remembered_and_what_is_proposed() {
    let shop = page(&[("Hello Anabel", "buy")]);
    let mut step = click(&shop, "Hello Anabel", 1);
    let known = step.fingerprint.as_mut().expect("it has one");
    known.name = "Hello {{USER}}".to_owned();
    step.selectors = vec![
        "role=button[name=\"Hello {{USER}}\"]".to_owned(),
        "css=#buy".to_owned(),
    ];
    let values = Values::new(vec![("USER".to_owned(), "Barbara".to_owned())], Vec::new());
    let steps = file(vec![step]);
    let memories = memories(&steps, &values).expect("playable");
    let memory = memories.of(0).expect("one");
    let proposed = |name: &str| {
        let now = page(&[(name, "buy")]);
        let finder = Finder::new(&now.state, "data-testid");
        let judged = memory.judge(finder).expect("a verdict");
        let cuecard_page::identity::Verdict::Renamed { id, check } = &judged.verdict else {
            panic!("{judged:?}");
        };
        memory.renamed(finder, (*id, check), &steps.test_steps[0], 0, &values)
    };
    let renamed = proposed("Bye Barbara").expect("an element");
    assert_eq!(renamed.fingerprint.name, "Bye {{USER}}");
    assert_eq!(renamed.selectors[0], "role=button[name=\"Bye {{USER}}\"]");
    // With another value it would be called otherwise.
    assert_eq!(proposed("Pay now"), None);
}

fn verified(steps: &StepsFile, stage: &mut Scripted) -> Verified {
    with_replay(
        steps,
        |_| (),
        |replay| {
            let mut recorder = Recorder::new(Clock::start(), Redactor::default());
            let stop = CancellationToken::new();
            block_on(verify(replay, stage, &mut recorder, &stop, true))
        },
    )
}

#[test]
fn looking_does_no_more_than_it_must() {
    let shop = page(&[("Buy", ""), ("Sell", "")]);
    let cart = page(&[("Pay", ""), ("Back", "")]);
    let mut first = click(&shop, "Buy", 1);
    first.observed.url = Some(URL.to_owned());
    let mut leads_on = click(&shop, "Sell", 2);
    let on_cart = |name: &str, number: usize| {
        let mut step = click(&cart, name, number);
        step.observed.url = Some("https://shop.example/cart".to_owned());
        step
    };
    leads_on.observed.url = Some("https://shop.example/cart".to_owned());
    let steps = file(vec![first, leads_on, on_cart("Pay", 3), on_cart("Back", 4)]);
    let mut stage = Scripted::on(&[&shop]);
    stage.after = [Arc::clone(&shop), Arc::clone(&cart)].into();
    let verified = verified(&steps, &mut stage);
    assert_eq!(
        stage.done,
        ["button \"Buy\"", "button \"Sell\"", "button \"Pay\""]
    );
    let words: Vec<&str> = verified.steps.iter().map(|step| word(&step.told)).collect();
    assert_eq!(words, ["same"; 4]);
    let done: Vec<bool> = verified.steps.iter().map(|step| step.was_done).collect();
    assert_eq!(done, [true, true, true, false]);
    assert_eq!(verified.replayed.verdict, Verdict::Passed);
    assert_eq!(verified.replayed.summary.passed, 4);
}

#[test]
fn looking_says_what_is_gone_and_goes_on_where_it_can() {
    let old = page(&[("Buy", ""), ("Sell", ""), ("Keep", "k")]);
    let new = page(&[("Sell", ""), ("Hold", "k")]);
    let steps = file(vec![
        click(&old, "Buy", 1),
        click(&old, "Sell", 2),
        click(&old, "Keep", 3),
    ]);
    let mut stage = Scripted::on(&[&new]);
    let verified = verified(&steps, &mut stage);
    assert!(stage.done.is_empty());
    assert_eq!(verified.replayed.verdict, Verdict::Failed);
    assert_eq!(word(&verified.steps[0].told), "gone");
    assert_eq!(word(&verified.steps[1].told), "same");
    let entry: Json = json!(verified.steps[2].told.status.map(StepStatus::as_str));
    assert_eq!(entry, Json::Null, "what can't be told is not told");
}
