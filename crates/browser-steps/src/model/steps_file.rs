//! What parsing a browser script gives: validated steps, which can be played again.

use sha2::{Digest, Sha256};

use super::{ActionKind, BrowserAssertion, Direction, Fingerprint, InputValue, Observed};
use cuecard_page::sentences::wanted_open;
use cuecard_page::words::fold_name;
use cuecard_source::value::Json;

/// The version that is written.
pub const STEPS_VERSION: &str = "cuecard-steps/2";

/// The older version that is read: its fingerprints say other things.
pub const OLDER_VERSION: &str = "cuecard-steps/1";

/// The result of a parse, and the file that `play` reads.
#[derive(Debug, Clone, PartialEq)]
pub struct StepsFile {
    /// `testSteps`: what succeeded, in the order of the actions.
    pub test_steps: Vec<TestStep>,
    /// `status`.
    pub status: ParseStatus,
    /// `errors`; a failed optional action is there as a warning.
    pub errors: Vec<ErrorInfo>,
    /// `extractedContent`: the text that was read last.
    pub extracted_content: Option<String>,
    /// `executionTimeMs`, only if it was asked for.
    pub execution_time_ms: Option<u64>,
    /// `url`: where it begins; may hold references.
    pub url: String,
    /// `observed`: what was seen when `url` was opened.
    pub observed: Observed,
    /// `options` as written by the author.
    pub options: Json,
    /// `variables` with their defaults.
    pub variables: serde_json::Map<String, Json>,
    /// `secrets`: names whose values are never shown.
    pub secrets: Vec<String>,
}

/// `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseStatus {
    /// Every action gave a step.
    Success,
    /// Some did.
    Partial,
    /// None did, or the page could not be opened.
    Failed,
}

impl ParseStatus {
    /// Every status with the word for it.
    pub const ALL: &[(&'static str, Self)] = &[
        ("success", Self::Success),
        ("partial", Self::Partial),
        ("failed", Self::Failed),
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Failed => "failed",
        }
    }
}

/// One validated step.
#[derive(Debug, Clone, PartialEq)]
pub struct TestStep {
    /// `id`, the same for the same URL, place and sentence.
    pub id: String,
    /// `description`: the sentence.
    pub description: String,
    /// `action`.
    pub action: ActionKind,
    /// `selector`: the first of `selectors`.
    pub selector: Option<String>,
    /// `value`: what is typed or chosen; of an assertion what is expected.
    pub value: Option<Json>,
    /// `url`, on navigate only.
    pub url: Option<String>,
    /// `context.domStructureSnapshot`: the page as text, before the step.
    pub dom_structure_snapshot: String,
    /// `context.fullDomSnapshot`, only if it was asked for.
    pub full_dom_snapshot: Option<Json>,
    /// `selectors`, the most lasting first.
    pub selectors: Vec<String>,
    /// `fingerprint` of the element.
    pub fingerprint: Option<Fingerprint>,
    /// `translator`: who read the sentence.
    pub translator: Option<Translator>,
    /// `index`: the highlight index that the element had.
    pub index: Option<u32>,
    /// `to`, on drag: the element that it is dragged to.
    pub to: Option<StepElement>,
    /// `assertion`, on assert and on waits until something holds.
    pub assertion: Option<BrowserAssertion>,
    /// `key`, on press.
    pub key: Option<String>,
    /// `direction`, on scroll.
    pub direction: Option<Direction>,
    /// `durationMs`, on wait.
    pub duration_ms: Option<u64>,
    /// `tab`: the tab it acts in, if not the first.
    pub tab: Option<usize>,
    /// `timeout` in milliseconds, in place of `actionTimeoutMs`.
    pub timeout_ms: Option<u64>,
    /// `waitFor`.
    pub wait_for: Option<WaitFor>,
    /// `maxRetries`: of what failed before anything was done.
    pub max_retries: Option<u32>,
    /// `optional`: a failure is only a warning.
    pub optional: bool,
    /// `observed`: what was seen when it ran.
    pub observed: Observed,
}

impl TestStep {
    /// Whether a click is to leave its element open, or closed: `expand X`, unless the element is called so itself. None
    /// if it is just clicked.
    pub fn wants_open(&self) -> Option<bool> {
        let is_by_rules = matches!(self.translator, None | Some(Translator::Rules));
        let called = self
            .fingerprint
            .as_ref()
            .map(|known| fold_name(known.called()));
        let is_name = called == Some(fold_name(&self.description));
        (is_by_rules && !is_name && self.action == ActionKind::Click)
            .then(|| wanted_open(&self.description))
            .flatten()
    }

    /// The same step about the element that it drags to.
    pub fn about_destination(&self) -> Option<Self> {
        let to = self.to.clone()?;
        Some(Self {
            selector: to.selectors.first().cloned(),
            selectors: to.selectors,
            fingerprint: to.fingerprint,
            index: to.index,
            to: None,
            ..self.clone()
        })
    }

    /// A step about which nothing else is known.
    pub fn new(id: impl Into<String>, description: impl Into<String>, action: ActionKind) -> Self {
        Self {
            id: id.into(),
            description: description.into(),
            action,
            selector: None,
            value: None,
            url: None,
            dom_structure_snapshot: String::new(),
            full_dom_snapshot: None,
            selectors: Vec::new(),
            fingerprint: None,
            translator: None,
            index: None,
            to: None,
            assertion: None,
            key: None,
            direction: None,
            duration_ms: None,
            tab: None,
            timeout_ms: None,
            wait_for: None,
            max_retries: None,
            optional: false,
            observed: Observed::default(),
        }
    }

    /// What is typed or chosen.
    pub fn input_value(&self) -> Option<InputValue> {
        InputValue::of(self.value.as_ref()?)
    }
}

/// The second element of a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepElement {
    /// `selectors`, the most lasting first.
    pub selectors: Vec<String>,
    /// `fingerprint`.
    pub fingerprint: Option<Fingerprint>,
    /// `index`: the highlight index that it had.
    pub index: Option<u32>,
}

/// Who read a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Translator {
    /// The rules, in one of their forms.
    Rules,
    /// The rules, by all words of a sentence that has none of the forms on its page: each must still say which element
    /// it is.
    Words,
    /// A model.
    Model,
}

impl Translator {
    /// All with the words for them.
    pub const ALL: &[(&'static str, Self)] = &[
        ("rules", Self::Rules),
        ("words", Self::Words),
        ("model", Self::Model),
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Words => "words",
            Self::Model => "model",
        }
    }
}

/// What a step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitFor {
    /// That its element can be acted on.
    Visible,
    /// Bounded settling.
    NetworkIdle,
    /// That a navigation has its document.
    DomContentLoaded,
    /// That a navigation has loaded everything.
    Load,
}

impl WaitFor {
    /// Every one with the word for it.
    pub const ALL: &[(&'static str, Self)] = &[
        ("visible", Self::Visible),
        ("networkidle", Self::NetworkIdle),
        ("domcontentloaded", Self::DomContentLoaded),
        ("load", Self::Load),
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::NetworkIdle => "networkidle",
            Self::DomContentLoaded => "domcontentloaded",
            Self::Load => "load",
        }
    }
}

/// Why an action gave no step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorInfo {
    /// `stepId`: the id that the step would have had.
    pub step_id: Option<String>,
    /// `message`.
    pub message: String,
    /// `action`: the sentence.
    pub action: Option<String>,
    /// `playwrightAction`: the call that failed.
    pub playwright_action: Option<String>,
    /// `llmError`: what the model's side said.
    pub llm_error: Option<String>,
    /// `selector` that was used.
    pub selector: Option<String>,
    /// `stack`, only if it was asked for.
    pub stack: Option<String>,
    /// `code`, such as `B-ambiguous_action`.
    pub code: String,
    /// `candidates`: the elements that could be meant, in words.
    pub candidates: Vec<String>,
    /// `help`: what to do, such as a wording that would be clear.
    pub help: Option<String>,
    /// `severity`: whether it is only a warning.
    pub is_warning: bool,
}

/// The id of the step that an action becomes: of the URL, the place (from 0) and the sentence, all unresolved.
pub fn step_id(url: &str, ordinal: usize, action: &str) -> String {
    let mut hasher = Sha256::new();
    for part in [url, &ordinal.to_string(), action] {
        hasher.update(part.as_bytes());
        hasher.update([0]);
    }
    let digest = hasher.finalize();
    let hex: String = digest
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("st-{hex}")
}
