//! Makes steps as a parse would: each of the page as it is, and then done on it.

use cuecard_browser::WaitPolicy;
use cuecard_browser::stage::{
    ActionTarget, Deadline, Limits, LiveStage, NoTargets, Stage, StageAction,
};
use cuecard_browser_steps::model::{
    ActionKind, AssertKind, BrowserAssertion, IntermediateStep, Observed, ParseStatus, StepsFile,
    TestStep, step_id,
};
use cuecard_page::dom::{DomState, NodeId};
use cuecard_page::selector::Finder;
use cuecard_source::value::Json;

use crate::bridge::{PATIENCE, SHORT};

/// The attribute of test ids.
pub(super) const TEST_ID: &str = "data-testid";

/// Steps in the making.
pub(super) struct Maker<'a> {
    stage: &'a mut LiveStage,
    pub(super) file: StepsFile,
}

impl<'a> Maker<'a> {
    /// Opens the first page.
    pub(super) async fn open(stage: &'a mut LiveStage, url: &str) -> Self {
        stage
            .open(url, WaitPolicy::Whole, Deadline::after(PATIENCE))
            .await
            .unwrap_or_else(|failure| panic!("{url}: {failure}"));
        Self {
            stage,
            file: file(url, Vec::new()),
        }
    }

    /// A step on the element of this role and name, which is then done.
    pub(super) async fn act(
        &mut self,
        action: ActionKind,
        words: &str,
        (role, name): (&str, &str),
        value: Option<&str>,
    ) -> &mut Self {
        let scene = self.stage.look().await.expect("the page can be seen");
        let finder = Finder::new(&scene.state, TEST_ID);
        let id = only(&scene.state, role, name);
        let mut step = self.step(action, words);
        remember(&mut step, finder, id);
        step.value = value.map(Json::from);
        let mut intent = IntermediateStep::new(action, words);
        intent.input_value = step.input_value();
        let aim = ActionTarget::at(finder, id);
        self.done(step, &intent, aim).await
    }

    /// A click on the element of this role and name.
    pub(super) async fn click(&mut self, role: &str, name: &str) -> &mut Self {
        let words = format!("click '{name}'");
        self.act(ActionKind::Click, &words, (role, name), None)
            .await
    }

    /// Text for the field of this name.
    pub(super) async fn fill(&mut self, name: &str, value: &str) -> &mut Self {
        let words = format!("type '{value}' into {name}");
        self.act(ActionKind::Input, &words, ("textbox", name), Some(value))
            .await
    }

    /// That the words can be seen.
    pub(super) async fn shows(&mut self, text: &str) -> &mut Self {
        let mut step = self.step(ActionKind::Assert, &format!("verify '{text}' is visible"));
        let mut assertion = BrowserAssertion::new(AssertKind::Text);
        assertion.expected = Some(text.into());
        step.assertion = Some(assertion);
        step.value = Some(text.into());
        self.push(step).await
    }

    /// That an element is in a state.
    pub(super) async fn is(&mut self, role: &str, name: &str, kind: AssertKind) -> &mut Self {
        let scene = self.stage.look().await.expect("the page can be seen");
        let finder = Finder::new(&scene.state, TEST_ID);
        let words = format!("verify the {name} {role} is {}", kind.as_str());
        let mut step = self.step(ActionKind::Assert, &words);
        remember(&mut step, finder, only(&scene.state, role, name));
        step.assertion = Some(BrowserAssertion::new(kind));
        self.push(step).await
    }

    fn step(&self, action: ActionKind, words: &str) -> TestStep {
        let ordinal = self.file.test_steps.len();
        TestStep::new(step_id(&self.file.url, ordinal, words), words, action)
    }

    async fn done(
        &mut self,
        mut step: TestStep,
        intent: &IntermediateStep,
        aim: Option<ActionTarget>,
    ) -> &mut Self {
        let deed = StageAction {
            step: intent,
            aim,
            to: None,
            limits: Limits {
                action: PATIENCE,
                assertion: SHORT,
            },
            wait_for: None,
            settling: WaitPolicy::Whole,
        };
        let performed = self.stage.perform(&deed, &mut NoTargets).await;
        let performed =
            performed.unwrap_or_else(|failure| panic!("{}: {failure}", step.description));
        step.observed = performed.outcome.observed.clone();
        self.file.test_steps.push(step);
        self
    }

    async fn push(&mut self, mut step: TestStep) -> &mut Self {
        let url = self.file.test_steps.last().map_or_else(
            || Some(self.file.url.clone()),
            |before| before.observed.url.clone(),
        );
        step.observed.url = url;
        self.file.test_steps.push(step);
        self
    }
}

/// A file of steps.
pub(super) fn file(url: &str, test_steps: Vec<TestStep>) -> StepsFile {
    StepsFile {
        test_steps,
        status: ParseStatus::Success,
        errors: Vec::new(),
        extracted_content: None,
        execution_time_ms: None,
        url: url.to_owned(),
        observed: Observed::default(),
        options: serde_json::json!({"actionTimeoutMs": 3000, "assertTimeoutMs": 3000}),
        variables: serde_json::Map::new(),
        secrets: Vec::new(),
    }
}

/// What a step knows its element by.
pub(super) fn remember(step: &mut TestStep, finder: Finder<'_>, id: NodeId) {
    let known = finder.identify(id, None).expect("an element");
    step.selectors = known.selectors.iter().map(ToString::to_string).collect();
    step.selector = step.selectors.first().cloned();
    step.fingerprint = Some(known.fingerprint);
    step.index = finder
        .state
        .element(id)
        .and_then(|element| element.highlight_index);
}

/// The only visible element of this role and name.
#[track_caller]
fn only(state: &DomState, role: &str, name: &str) -> NodeId {
    let found: Vec<NodeId> = state
        .elements()
        .filter(|(_, element)| element.is_visible && element.role == role && element.name == name)
        .map(|(id, _)| id)
        .collect();
    assert_eq!(found.len(), 1, "{role} {name:?}");
    found[0]
}
