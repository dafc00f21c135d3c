//! A stage, recorded and played.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use cuecard_browser_steps::model::{ActionKind, IntermediateStep};
use cuecard_page::dom::DomState;
use cuecard_page::selector::Finder;
use cuecard_source::diagnostic::codes;
use proptest::prelude::*;
use serde_json::json;

use super::compact::compact;
use super::*;
use crate::WaitPolicy;
use crate::model::tests::login;
use crate::stage::{
    ActionTarget, Deadline, Failure, Limits, Lookup, NoTargets, Outcome, PageState, Performed,
    Stage, StageAction, Targets,
};

/// A stage whose answers are given beforehand.
#[derive(Default)]
struct ScriptedStage(VecDeque<Answer>);

#[derive(Debug, Clone)]
enum Answer {
    Outcome(Outcome),
    PageState(DomState),
    Judged(Outcome, DomState),
    Over,
    Failure(Failure),
}

impl ScriptedStage {
    fn next(&mut self) -> Answer {
        self.0.pop_front().expect("an answer is scripted")
    }
}

fn scene(state: DomState) -> Arc<PageState> {
    Arc::new(PageState { state })
}

impl Stage for ScriptedStage {
    async fn open(&mut self, _: &str, _: WaitPolicy, _: Deadline) -> Result<Outcome, Failure> {
        match self.next() {
            Answer::Outcome(outcome) => Ok(outcome),
            Answer::Failure(failure) => Err(failure),
            other => panic!("{other:?}"),
        }
    }

    async fn look(&mut self) -> Result<Arc<PageState>, Failure> {
        match self.next() {
            Answer::PageState(state) => Ok(scene(state)),
            Answer::Failure(failure) => Err(failure),
            other => panic!("{other:?}"),
        }
    }

    async fn look_again(&mut self, _: Deadline) -> Result<Option<Arc<PageState>>, Failure> {
        match self.next() {
            Answer::PageState(state) => Ok(Some(scene(state))),
            Answer::Over => Ok(None),
            Answer::Failure(failure) => Err(failure),
            other => panic!("{other:?}"),
        }
    }

    async fn perform(
        &mut self,
        _: &StageAction<'_>,
        _: &mut (dyn Targets + Send),
    ) -> Result<Performed, Failure> {
        match self.next() {
            Answer::Outcome(outcome) => Ok(Performed {
                outcome,
                scene: None,
            }),
            Answer::Judged(outcome, state) => Ok(Performed {
                outcome,
                scene: Some(scene(state)),
            }),
            Answer::Failure(failure) => Err(failure),
            other => panic!("{other:?}"),
        }
    }
}

/// What is asked of a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Question {
    Open,
    Look,
    LookAgain,
    Click(u32),
}

/// What came of a question, to be compared.
#[derive(Debug, PartialEq)]
enum Told {
    Outcome(Outcome, Option<DomState>),
    PageState(Option<DomState>),
    Failure(Failure),
}

fn far() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

async fn ask(stage: &mut impl Stage, question: Question) -> Told {
    let told = match question {
        Question::Open => {
            let opened = stage
                .open("https://shop.example/{{PATH}}", WaitPolicy::Whole, far())
                .await;
            opened.map(|outcome| Told::Outcome(outcome, None))
        }
        Question::Look => {
            let looked = stage.look().await;
            looked.map(|scene| Told::PageState(Some(scene.state.clone())))
        }
        Question::LookAgain => {
            let looked = stage.look_again(far()).await;
            looked.map(|scene| Told::PageState(scene.map(|scene| scene.state.clone())))
        }
        Question::Click(index) => {
            let step = IntermediateStep::new(ActionKind::Click, "");
            let state = login();
            let id = state.selector_map[index as usize];
            let deed = StageAction {
                step: &step,
                aim: ActionTarget::at(Finder::new(&state, "data-testid"), id),
                to: None,
                limits: Limits {
                    action: Duration::from_secs(1),
                    assertion: Duration::from_secs(1),
                },
                wait_for: None,
                settling: WaitPolicy::Whole,
            };
            let done = stage.perform(&deed, &mut NoTargets).await;
            done.map(|done| {
                let state = done.scene.map(|scene| scene.state.clone());
                Told::Outcome(done.outcome, state)
            })
        }
    };
    told.unwrap_or_else(Told::Failure)
}

/// A page that differs by its title.
fn page(title: u8) -> DomState {
    let mut state = login();
    state.page.title = format!("page {title}");
    state.page.scroll = (0.1 + 0.2 * f64::from(title), 0.0);
    for node in &mut state.nodes {
        if let cuecard_page::dom::DomKind::Element(element) = &mut node.kind {
            element.node_id = Some(7);
        }
    }
    state
}

fn outcome(title: u8) -> Outcome {
    Outcome {
        url: "https://shop.example/home".to_owned(),
        title: format!("page {title}"),
        settle: Some("quiet".to_owned()),
        warnings: vec!["a dialog was dismissed".to_owned()],
        ..Outcome::default()
    }
}

fn failure() -> Failure {
    Failure {
        candidates: vec!["button \"A\"".to_owned()],
        has_acted: true,
        ..Failure::new(codes::BROWSER_COVERED, "it is covered").help("scroll")
    }
}

fn any_exchange() -> impl Strategy<Value = (Question, Answer)> {
    let failed = |question| Just((question, Answer::Failure(failure())));
    prop_oneof![
        (0..3_u8).prop_map(|title| (Question::Open, Answer::Outcome(outcome(title)))),
        (0..3_u8).prop_map(|title| (Question::Look, Answer::PageState(page(title)))),
        (0..3_u8).prop_map(|title| (Question::LookAgain, Answer::PageState(page(title)))),
        Just((Question::LookAgain, Answer::Over)),
        (0..3_u32, 0..3_u8)
            .prop_map(|(index, title)| (Question::Click(index), Answer::Outcome(outcome(title)))),
        (0..3_u32, 0..3_u8).prop_map(|(index, title)| (
            Question::Click(index),
            Answer::Judged(outcome(title), page(title))
        )),
        failed(Question::Open),
        failed(Question::Look),
        failed(Question::LookAgain),
        failed(Question::Click(0)),
    ]
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
        .block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whoever asks the recording the same gets the same.
    #[test]
    fn a_recorded_stage_answers_as_the_real_one_did(exchanges in prop::collection::vec(any_exchange(), 0..12)) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        let answers = exchanges.iter().map(|(_, answer)| answer.clone()).collect();
        let (cassette, _) = Cassette::open(&path, CassetteMode::Record, Redactor::default()).expect("writable");
        cassette.begin_run(None);
        let mut recording = RecordingStage::new(ScriptedStage(answers), cassette.clone());
        let live: Vec<Told> = block_on(async {
            let mut told = Vec::new();
            for (question, _) in &exchanges {
                told.push(ask(&mut recording, *question).await);
            }
            told
        });
        cassette.finish(true).expect("it is written");

        let (cassette, findings) = Cassette::open(&path, CassetteMode::Offline, Redactor::default()).expect("readable");
        prop_assert!(findings.is_empty());
        let mut recorded = RecordedStage::new(&cassette, "data-testid");
        let played: Vec<Told> = block_on(async {
            let mut told = Vec::new();
            for (question, _) in &exchanges {
                told.push(ask(&mut recorded, *question).await);
            }
            told
        });
        prop_assert_eq!(played, live);
        let after = block_on(ask(&mut recorded, Question::Look));
        let is_miss = matches!(&after, Told::Failure(failure) if failure.is(codes::BROWSER_CASSETTE));
        prop_assert!(is_miss, "{:?}", after);
    }
}

#[tokio::test]
async fn another_question_is_a_miss_that_shows_both() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let (cassette, _) =
        Cassette::open(&path, CassetteMode::Record, Redactor::default()).expect("writable");
    cassette.begin_run(None);
    let answers = VecDeque::from([Answer::Outcome(outcome(0))]);
    let mut recording = RecordingStage::new(ScriptedStage(answers), cassette.clone());
    ask(&mut recording, Question::Click(0)).await;
    cassette.finish(true).expect("it is written");

    let (cassette, _) =
        Cassette::open(&path, CassetteMode::Offline, Redactor::default()).expect("readable");
    let mut recorded = RecordedStage::new(&cassette, "data-testid");
    let Told::Failure(failure) = ask(&mut recorded, Question::Click(1)).await else {
        panic!("it was not recorded");
    };
    let lines: Vec<&str> = failure.message.lines().collect();
    assert!(lines[0].ends_with("took a different path"), "{failure}");
    assert!(
        lines[1].starts_with("- perform ") && lines[1].contains("/html/body/input"),
        "{failure}"
    );
    assert!(
        lines[2].starts_with("+ perform ") && lines[2].contains("/html/body/button[1]"),
        "{failure}"
    );
    // What was recorded is still there for who asks it.
    assert!(matches!(
        ask(&mut recorded, Question::Click(0)).await,
        Told::Outcome(..)
    ));
}

#[tokio::test]
async fn who_finds_targets_sees_the_page_that_counted() {
    struct Noted(Vec<String>);
    impl Targets for Noted {
        fn find(&mut self, finder: Finder<'_>) -> Lookup {
            self.0.push(finder.state.page.title.clone());
            Lookup::default()
        }

        fn is_like(&self, _: &str, _: &str) -> bool {
            false
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let (cassette, _) =
        Cassette::open(&path, CassetteMode::Record, Redactor::default()).expect("writable");
    cassette.begin_run(None);
    let answers = VecDeque::from([Answer::Judged(outcome(2), page(2))]);
    let step = IntermediateStep::new(ActionKind::Assert, "");
    let deed = StageAction {
        step: &step,
        aim: None,
        to: None,
        limits: Limits {
            action: Duration::ZERO,
            assertion: Duration::ZERO,
        },
        wait_for: None,
        settling: WaitPolicy::Whole,
    };
    RecordingStage::new(ScriptedStage(answers), cassette.clone())
        .perform(&deed, &mut NoTargets)
        .await
        .expect("it holds");
    cassette.finish(true).expect("it is written");
    let (cassette, _) =
        Cassette::open(&path, CassetteMode::Offline, Redactor::default()).expect("readable");
    let mut noted = Noted(Vec::new());
    RecordedStage::new(&cassette, "data-testid")
        .perform(&deed, &mut noted)
        .await
        .expect("it holds");
    assert_eq!(noted.0, ["page 2"]);
}

#[test]
fn the_last_run_that_ended_is_played() {
    let state = login().to_recorded();
    let run = |title: &str, end: &str| {
        let mut state = state.clone();
        state["page"]["title"] = json!(title);
        format!("{{\"kind\":\"run\"}}\n{{\"kind\":\"look\",\"state\":{state}}}\n{end}")
    };
    let end = "{\"kind\":\"end\",\"complete\":false}\n";
    let header = "{\"kind\":\"cassette\",\"version\":\"cuecard-cassette/1\"}\n";
    for (runs, expected) in [
        (vec![run("a", end), run("b", end)], "b"),
        (vec![run("a", end), run("b", "")], "a"),
        (vec![run("a", ""), run("b", "")], "b"),
    ] {
        let source = SourceFile::new("a.jsonl", format!("{header}{}", runs.concat()));
        let (tape, findings) = Tape::read(&source);
        let tape = tape.unwrap_or_else(|| panic!("{findings:?}"));
        let scene = tape.run.calls[0]
            .came
            .as_ref()
            .expect("a page")
            .scene
            .clone();
        assert_eq!(scene.expect("a page").state.page.title, expected);
    }
}

#[test]
fn a_compacted_cassette_has_one_run_and_each_key_once() {
    let text = "{\"kind\":\"cassette\",\"version\":\"v\"}\n{\"kind\":\"run\"}\n{\"kind\":\"reply\",\"key\":\"a\"}\n{\"kind\":\"look\"}\n\
                {\"kind\":\"run\"}\n{\"kind\":\"reply\",\"key\":\"b\"}\n{\"kind\":\"person\",\"key\":\"c\"}\n{\"kind\":\"reply\",\"key\":\"b\"}\n{\"kind\":\"end\"}\n";
    let lines = |text: &str| -> Vec<String> {
        let json = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
        text.lines()
            .map(|line| {
                let line = json(line);
                format!(
                    "{}{}",
                    line["kind"].as_str().unwrap_or_default(),
                    line["key"].as_str().unwrap_or_default()
                )
            })
            .collect()
    };
    assert_eq!(
        lines(&compact(text, None)),
        ["cassette", "replya", "run", "personc", "replyb", "end"]
    );
    let used = HashSet::from(["b".to_owned()]);
    assert_eq!(
        lines(&compact(text, Some(&used))),
        ["cassette", "run", "replyb", "end"]
    );
    assert_eq!(compact(&compact(text, None), None), compact(text, None));
}
