//! The loop on a stage whose answers are written down: no browser.

use std::sync::Arc;

use cuecard_browser_steps::format::read;
use cuecard_browser_steps::model::{
    ActionKind, BrowserScenario, InputValue, IntermediateStep, ParseStatus, Translator,
};
use cuecard_browser_steps::question::{Answer, Prompt, Question};
use cuecard_page::dom::DomProcessor;
use cuecard_page::selector::Finder;
use cuecard_page::sentences::{Intent, Understanding};
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Code, codes};
use cuecard_source::value::Redactor;
use serde_json::{Value, json};

use super::*;
use crate::WaitPolicy;
use crate::stage::{Deadline, Outcome, PageState, Performed, Stage, StageAction, Targets, Values};

/// A stage that shows pages one after the other.
#[derive(Default)]
struct Scripted {
    /// The page at each look; the last one stays. Where the text is empty, nothing changes until the next plain look.
    pages: Vec<String>,
    looks: usize,
    /// What comes of each deed; then nothing goes wrong.
    outcomes: std::collections::VecDeque<Result<Outcome, Failure>>,
    done: Vec<Value>,
    opened: Option<Failure>,
}

impl Scripted {
    fn on(pages: &[&str]) -> Self {
        Self {
            pages: pages.iter().map(|page| (*page).to_owned()).collect(),
            ..Self::default()
        }
    }

    fn scene(&mut self) -> Arc<PageState> {
        let idx = self.looks.min(self.pages.len() - 1);
        self.looks += 1;
        let mut processor = DomProcessor::new("data-testid", Redactor::default());
        Arc::new(PageState {
            state: processor.read(&self.pages[idx]).expect("it is a capture"),
        })
    }
}

impl Stage for Scripted {
    async fn open(&mut self, url: &str, _: WaitPolicy, _: Deadline) -> Result<Outcome, Failure> {
        match self.opened.take() {
            Some(failure) => Err(failure),
            None => Ok(opened(url)),
        }
    }

    async fn look(&mut self) -> Result<Arc<PageState>, Failure> {
        Ok(self.scene())
    }

    async fn look_again(&mut self, _: Deadline) -> Result<Option<Arc<PageState>>, Failure> {
        let next = self.pages.get(self.looks);
        if next.is_some_and(String::is_empty) {
            self.looks += 1;
            return Ok(None);
        }
        Ok(next.is_some().then(|| self.scene()))
    }

    async fn perform(
        &mut self,
        deed: &StageAction<'_>,
        targets: &mut (dyn Targets + Send),
    ) -> Result<Performed, Failure> {
        self.done.push(in_json(deed));
        let outcome = self.outcomes.pop_front().unwrap_or(Ok(quiet()))?;
        if deed.step.assertion.is_none() {
            return Ok(Performed {
                outcome,
                scene: None,
            });
        }
        let scene = self.scene();
        let sought = targets.find(Finder::new(&scene.state, "data-testid"));
        match sought.problem {
            Some(problem) => Err(*problem),
            None => Ok(Performed {
                outcome,
                scene: Some(scene),
            }),
        }
    }
}

/// An interpreter with its answers written down: an index to click, or why nothing is done.
struct Told(Vec<Result<u32, Code>>, Vec<Prompt>);

impl Interpreter for Told {
    async fn interpret(
        &mut self,
        question: &Question<'_>,
        prompt: &Prompt,
    ) -> Result<Answer, Failure> {
        self.1.push(prompt.clone());
        let answer = match self.0.remove(0) {
            Err(code) => {
                return Err(Failure::new(code, "it says nothing").with_model_error("nothing"));
            }
            Ok(index) => {
                let (target, _) = question.finder.state.by_index(index).expect("it is there");
                let step = IntermediateStep::new(ActionKind::Click, "click it");
                match question.candidates.is_empty() || question.candidates.contains(&target) {
                    true => Answer::Act {
                        step: Box::new(step),
                        target: Some(target),
                        to: None,
                    },
                    false => Answer::Unclear {
                        reason: "it is outside".to_owned(),
                        candidates: question.candidates.to_vec(),
                    },
                }
            }
        };
        Ok(answer)
    }
}

/// A page of these elements: tag, role, name.
fn page(elements: &[(&str, &str, &str)]) -> String {
    let mut nodes = vec![json!({"tagName": "body", "path": "/html/body", "isVisible": true})];
    for (number, (tag, role, name)) in elements.iter().enumerate() {
        nodes.push(json!({
            "parent": 0, "tagName": tag, "path": format!("{tag}[{}]", number + 1), "role": role, "name": name,
            "isVisible": true, "isInteractive": true, "interactiveBy": "native", "isInViewport": true,
        }));
    }
    json!({"version": 1, "owners": [null], "documents": [{
        "url": "https://shop.example/", "title": "Shop", "documentId": "1",
        "viewport": [1280, 720], "scroll": [0, 0], "size": [1280, 720], "nodes": nodes,
    }]})
    .to_string()
}

fn scenario(actions: &Value, options: &Value) -> BrowserScenario {
    let text = json!({"url": "https://shop.example/", "actions": actions, "options": options,
        "variables": {"WHO": "Milk"}, "secrets": ["PIN"]});
    let reading = read(&SourceFile::new("a.json", text.to_string()));
    reading.scenario.expect("it can be read")
}

async fn parsed_with<I: Interpreter>(
    stage: &mut Scripted,
    interpreter: Option<&mut I>,
    actions: &Value,
    options: Value,
) -> Parsed {
    let scenario = scenario(actions, &options);
    let request = ParseRequest {
        scenario: &scenario,
        options,
        values: Values::new(
            vec![("WHO".to_owned(), "Milk".to_owned())],
            vec![("PIN".to_owned(), "hunter2".to_owned())],
        ),
        secrets: vec!["PIN".to_owned()],
        full_dom: false,
        timings: false,
        is_verbose: false,
    };
    parse(&request, stage, interpreter, &mut ()).await
}

async fn parsed(stage: &mut Scripted, actions: Value) -> Parsed {
    parsed_with::<NoInterpreter>(stage, None, &actions, json!({})).await
}

const LOGIN: &[(&str, &str, &str)] = &[
    ("input", "textbox", "E-mail"),
    ("button", "button", "Log in"),
];

#[tokio::test]
async fn each_sentence_becomes_a_step_with_what_finds_its_element_again() {
    let mut stage = Scripted::on(&[&page(LOGIN)]);
    let actions = json!([
        "type '{{PIN}}' into the E-mail field",
        "click 'Log in'",
        "go back"
    ]);
    let parsed = parsed(&mut stage, actions).await;
    let file = parsed.file;
    assert_eq!((file.status, file.errors.len()), (ParseStatus::Success, 0));
    assert_eq!(file.test_steps.len(), 3);
    let typed = &file.test_steps[0];
    assert_eq!(typed.value, Some(json!("{{PIN}}")));
    assert_eq!(typed.translator, Some(Translator::Rules));
    assert_eq!(typed.index, Some(0));
    let click = &file.test_steps[1];
    assert_eq!(
        click.selector.as_deref(),
        Some("role=button[name=\"Log in\"]")
    );
    assert_eq!(click.fingerprint.as_ref().expect("one").name, "Log in");
    assert!(
        click
            .context
            .dom_structure_snapshot
            .contains("[1] button \"Log in\"")
    );
    assert_eq!(click.observed.settle.as_deref(), Some("quiet"));
    assert_eq!(file.test_steps[2].url.as_deref(), Some("back"));
    // The stage fills in values; what it is told has none.
    assert_eq!(stage.done[0]["value"], "{{PIN}}");
    assert!(!file.to_text().contains("hunter2"));
}

#[tokio::test]
async fn the_same_page_gives_the_same_bytes() {
    let actions = json!(["click 'Log in'", "verify 'Log in' is visible"]);
    let mut texts = Vec::new();
    for _ in 0..2 {
        let mut stage = Scripted::on(&[&page(LOGIN)]);
        texts.push(parsed(&mut stage, actions.clone()).await.file.to_text());
    }
    assert_eq!(texts[0], texts[1]);
}

#[tokio::test]
async fn several_candidates_are_listed_and_nothing_is_done() {
    let twins = &[
        ("button", "button", "Delete"),
        ("button", "button", "Delete"),
    ];
    let mut stage = Scripted::on(&[&page(twins)]);
    let actions = json!(["click 'Delete'", "click 'Other'"]);
    let parsed = parsed(&mut stage, actions).await;
    let file = parsed.file;
    assert_eq!(file.status, ParseStatus::Failed);
    assert_eq!(file.errors[0].code, codes::BROWSER_AMBIGUOUS.name());
    assert_eq!(file.errors[0].candidates.len(), 2);
    // What was not tried is listed.
    assert!(file.errors[1].is_warning() && file.errors[1].message.contains("not tried"));
    assert!(stage.done.is_empty());
}

#[tokio::test]
async fn what_is_not_there_yet_is_waited_for() {
    let empty = page(&[]);
    let mut stage = Scripted::on(&[&empty, &empty, &page(LOGIN)]);
    let parsed = parsed(&mut stage, json!(["click 'Log in'"])).await;
    assert_eq!(parsed.file.status, ParseStatus::Success);
    assert_eq!(stage.looks, 3);
}

#[tokio::test]
async fn what_never_comes_fails_with_what_is_near() {
    let mut stage = Scripted::on(&[&page(LOGIN)]);
    let parsed = parsed(&mut stage, json!(["click 'Log out'"])).await;
    let error = &parsed.file.errors[0];
    assert_eq!(error.code, codes::BROWSER_NOT_FOUND.name());
    assert_eq!(error.candidates, ["button \"Log in\""]);
    assert_eq!(error.step_id.as_ref().map(String::len), Some(15));
}

#[tokio::test]
async fn names_from_variables_become_references() {
    let mut stage = Scripted::on(&[&page(&[("button", "button", "Buy Milk")])]);
    let parsed = parsed(&mut stage, json!(["click 'Buy {{WHO}}'"])).await;
    let step = &parsed.file.test_steps[0];
    assert_eq!(step.description, "click 'Buy {{WHO}}'");
    assert_eq!(
        step.selector.as_deref(),
        Some("role=button[name=\"Buy {{WHO}}\"]")
    );
    assert_eq!(step.fingerprint.as_ref().expect("one").name, "Buy {{WHO}}");
}

#[tokio::test]
async fn an_optional_action_may_fail_and_others_stop_or_not() {
    let covered = || {
        Err(Failure::new(
            codes::BROWSER_COVERED,
            "a banner lies over it",
        ))
    };
    let optional = json!([{"action": "click 'Log in'", "optional": true}, "click 'Log in'"]);
    let mut stage = Scripted::on(&[&page(LOGIN)]);
    stage.outcomes = [covered()].into();
    let parsed_optional = parsed(&mut stage, optional).await.file;
    assert_eq!(parsed_optional.status, ParseStatus::Success);
    assert!(parsed_optional.errors[0].is_warning());
    assert_eq!(parsed_optional.test_steps.len(), 1);

    let actions = json!(["click 'Log in'", "click 'Log in'"]);
    for (options, done, status) in [
        (json!({"onFailure": "continue"}), 2, ParseStatus::Partial),
        (json!({"onFailure": "stop"}), 1, ParseStatus::Failed),
    ] {
        let mut stage = Scripted::on(&[&page(LOGIN)]);
        stage.outcomes = [covered()].into();
        let parsed = parsed_with::<NoInterpreter>(&mut stage, None, &actions, options).await;
        assert_eq!((stage.done.len(), parsed.file.status), (done, status));
    }
}

#[tokio::test]
async fn a_lost_browser_ends_everything() {
    let mut stage = Scripted::on(&[&page(LOGIN)]);
    stage.outcomes = [Err(Failure::new(codes::BROWSER_LOST, "it is gone"))].into();
    let actions = json!([{"action": "click 'Log in'", "optional": true}, "click 'Log in'"]);
    let options = json!({"onFailure": "continue"});
    let parsed = parsed_with::<NoInterpreter>(&mut stage, None, &actions, options).await;
    assert_eq!(stage.done.len(), 1);
    assert!(parsed.ended_by.expect("it ended").is(codes::BROWSER_LOST));
    assert!(!parsed.file.errors[0].is_warning());
}

#[tokio::test]
async fn a_page_that_does_not_open_leaves_all_actions_untried() {
    let mut stage = Scripted::on(&[&page(LOGIN)]);
    stage.opened = Some(Failure::new(codes::BROWSER_NAVIGATION, "status 404"));
    let parsed = parsed(&mut stage, json!(["click 'Log in'"])).await;
    assert_eq!(parsed.file.status, ParseStatus::Failed);
    assert_eq!(parsed.file.errors.len(), 2);
    assert_eq!(stage.looks, 0);
}

#[tokio::test]
async fn a_compound_sentence_is_never_done_and_shows_its_parts() {
    let mut stage = Scripted::on(&[&page(LOGIN)]);
    let parsed = parsed(&mut stage, json!(["click 'Log in' and press Enter"])).await;
    let error = &parsed.file.errors[0];
    assert_eq!(error.code, codes::BROWSER_COMPOUND.name());
    let help = error.help.as_deref().expect("help");
    assert!(help.contains("- click 'Log in'\n- press Enter"), "{help}");
    assert!(stage.done.is_empty());
}

#[tokio::test]
async fn a_sentence_that_nothing_reads_gets_the_nearest_form() {
    let mut stage = Scripted::on(&[&page(LOGIN)]);
    let parsed = parsed(&mut stage, json!(["clik the thing"])).await;
    let error = &parsed.file.errors[0];
    assert_eq!(error.code, codes::BROWSER_NOT_UNDERSTOOD.name());
    assert_eq!(error.help.as_deref(), Some("the closest form is: click X"));
}

#[tokio::test]
async fn a_model_is_asked_only_about_what_the_rules_cannot_read() {
    let mut stage = Scripted::on(&[&page(LOGIN)]);
    stage.pages.push(page(LOGIN));
    stage.pages.push(page(LOGIN));
    let mut told = Told(vec![Ok(1)], Vec::new());
    let actions = json!(["click 'Log in'", "enter the shop"]);
    let parsed = parsed_with(&mut stage, Some(&mut told), &actions, json!({})).await;
    assert_eq!(parsed.file.status, ParseStatus::Success);
    assert_eq!(told.1.len(), 1);
    assert_eq!(told.1[0].action, "enter the shop");
    assert!(told.1[0].previous.contains("succeeded"));
    let step = &parsed.file.test_steps[1];
    assert_eq!(step.translator, Some(Translator::Model));
    assert_eq!(step.context.dom_structure_snapshot, told.1[0].page);
}

#[tokio::test]
async fn the_element_that_a_model_chose_is_looked_for_again_before_it_is_used() {
    // While the model thinks, the page changes: the index leads elsewhere.
    let after = page(&[
        ("a", "link", "News"),
        ("input", "textbox", "E-mail"),
        ("button", "button", "Log out"),
    ]);
    let mut stage = Scripted::on(&[&page(LOGIN), "", &after]);
    let mut told = Told(vec![Ok(1)], Vec::new());
    let actions = json!(["enter the shop"]);
    // The rules would wait for the words to appear, and see the change before the model is asked.
    let options = json!({"translator": "model"});
    let parsed = parsed_with(&mut stage, Some(&mut told), &actions, options).await;
    assert!(stage.done.is_empty());
    assert_eq!(parsed.file.errors[0].code, codes::BROWSER_NOT_FOUND.name());
}

#[tokio::test]
async fn a_model_may_not_choose_outside_of_what_the_words_name() {
    let page = page(&[
        ("button", "button", "Delete"),
        ("button", "button", "Delete"),
        ("button", "button", "Keep"),
    ]);
    let mut stage = Scripted::on(&[&page]);
    let mut told = Told(vec![Ok(2)], Vec::new());
    let actions = json!(["click 'Delete'"]);
    let parsed = parsed_with(&mut stage, Some(&mut told), &actions, json!({})).await;
    assert_eq!(parsed.file.errors[0].code, codes::BROWSER_AMBIGUOUS.name());
    assert_eq!(parsed.file.errors[0].candidates.len(), 2);
    assert!(stage.done.is_empty());
}

#[tokio::test]
async fn what_a_models_side_says_stands_in_the_error() {
    let mut stage = Scripted::on(&[&page(LOGIN)]);
    let mut told = Told(vec![Err(codes::BROWSER_MODEL)], Vec::new());
    let actions = json!(["enter the shop"]);
    let options = json!({"translator": "model"});
    let parsed = parsed_with(&mut stage, Some(&mut told), &actions, options).await;
    let error = &parsed.file.errors[0];
    assert_eq!(error.code, codes::BROWSER_MODEL.name());
    assert_eq!(error.llm_error.as_deref(), Some("nothing"));
}

#[tokio::test]
async fn what_must_not_be_there_needs_no_element() {
    let mut stage = Scripted::on(&[&page(LOGIN)]);
    let actions = json!([
        "verify the 'Loading' button is not visible",
        "there are no 'Other' buttons",
        "there are 1 'Log in' buttons"
    ]);
    let parsed = parsed(&mut stage, actions).await;
    assert_eq!(
        parsed.file.status,
        ParseStatus::Success,
        "{:?}",
        parsed.file.errors
    );
    let selectors: Vec<&str> = parsed
        .file
        .test_steps
        .iter()
        .map(|step| step.selector.as_deref().expect("each can be looked for"))
        .collect();
    assert_eq!(
        selectors[1..],
        [
            "role=button[name=\"Other\"]",
            "role=button[name=\"Log in\"]"
        ]
    );
}

#[tokio::test]
async fn a_person_decides_what_is_done() {
    struct Person(Vec<Choice>, Vec<Proposal>);
    impl ParseObserver for Person {
        fn hear(&mut self, _: &ParseEvent<'_>) {}
        async fn decide(&mut self, proposal: &Proposal) -> Choice {
            self.1.push(proposal.clone());
            self.0.remove(0)
        }
    }
    let twins = &[
        ("button", "button", "Delete"),
        ("button", "button", "Delete"),
        ("button", "button", "Keep"),
    ];
    let mut stage = Scripted::on(&[&page(twins)]);
    let actions = json!([
        "click 'Delete'",
        "click 'Keep'",
        "click 'Keep'",
        "click 'Keep'"
    ]);
    let scenario = scenario(&actions, &json!({}));
    let request = ParseRequest {
        scenario: &scenario,
        options: json!({}),
        values: Values::default(),
        secrets: Vec::new(),
        full_dom: false,
        timings: false,
        is_verbose: false,
    };
    let choices = vec![Choice::Pick(1), Choice::Skip, Choice::Go, Choice::Quit];
    let mut person = Person(choices, Vec::new());
    let parsed = parse::<_, NoInterpreter, _>(&request, &mut stage, None, &mut person).await;
    assert_eq!(stage.done.len(), 2);
    assert!(
        stage.done[0]["target"]
            .as_str()
            .expect("one")
            .contains("button[2]")
    );
    assert_eq!(person.1[0].candidates.len(), 2);
    assert_eq!(person.1[1].understood.as_deref(), Some("button \"Keep\""));
    assert_eq!(parsed.file.status, ParseStatus::Partial);
    assert_eq!(parsed.file.test_steps.len(), 2);
}

#[test]
fn the_rules_read_what_these_tests_take_for_read() {
    let read = |sentence: &str| {
        matches!(
            cuecard_page::sentences::understand(sentence),
            Understanding::Understood(intent) if matches!(*intent, Intent { .. })
        )
    };
    assert!(read("click 'Log in'"));
    assert!(!read("enter the shop"));
}

#[tokio::test]
async fn a_model_is_asked_about_a_page_that_is_at_rest() {
    let skeleton = page(&[("div", "", "")]).replace(
        "\"isVisible\":true,\"",
        "\"class\":\"skeleton\",\"isVisible\":true,\"",
    );
    let half = page(&LOGIN[..1]);
    let whole = page(LOGIN);
    let mut stage = Scripted::on(&[&skeleton, &skeleton, &half, &whole, &whole]);
    let mut interpreter = Told(vec![Ok(1)], Vec::new());
    let options = json!({"translator": "model"});
    let actions = json!(["send the form"]);
    let parsed = parsed_with(&mut stage, Some(&mut interpreter), &actions, options).await;
    assert_eq!(
        parsed.file.status,
        ParseStatus::Success,
        "{:?}",
        parsed.file.errors
    );
    let asked = format!("{:?}", interpreter.1[0]);
    assert!(asked.contains("Log in"), "{asked}");
    assert_eq!(stage.looks, 5);
}

/// What is done, with references instead of values.
fn in_json(deed: &StageAction<'_>) -> Json {
    let step = deed.step;
    let mut told = json!({"action": step.action_type.as_str()});
    let mut put = |key: &str, value: Option<Json>| {
        if let Some(value) = value {
            told[key] = value;
        }
    };
    put(
        "target",
        deed.aim.as_ref().map(|aim| json!(aim.address.selector())),
    );
    put(
        "to",
        deed.to.as_ref().map(|to| json!(to.address.selector())),
    );
    put("value", step.input_value.as_ref().map(InputValue::to_json));
    put("url", step.url.as_ref().map(|url| json!(url)));
    put("key", step.key.as_ref().map(|key| json!(key)));
    put("direction", step.direction.map(|way| json!(way.as_str())));
    put("durationMs", step.duration_ms.map(|time| json!(time)));
    put(
        "assertion",
        step.assertion.as_ref().map(|assertion| {
            json!({
                "kind": assertion.kind.as_str(),
                "expected": assertion.expected,
                "negate": assertion.negate,
                "match": assertion.matching,
                "compare": assertion.compare,
            })
        }),
    );
    told
}

fn opened(url: &str) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.observed.url = Some(url.to_owned());
    outcome
}

fn quiet() -> Outcome {
    let mut outcome = opened("https://shop.example/");
    outcome.observed.settle = Some("quiet".to_owned());
    outcome
}
