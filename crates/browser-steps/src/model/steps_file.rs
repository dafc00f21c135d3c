//! What parsing a browser script gives: validated steps, which can be played again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest, Sha256};
use strum::IntoStaticStr;

use super::{ActionKind, BrowserAssertion, Direction, Fingerprint, InputValue, Observed};
use cuecard_page::sentences::wanted_open;
use cuecard_page::words::fold_name;
use cuecard_source::value::Json;
use cuecard_source::values::integer;

/// The longest time of a step in milliseconds, the most retries and tabs.
const LONGEST: i64 = 600_000;
const MOST_RETRIES: i64 = 10;
const MOST_TABS: i64 = 1_000;

/// The version that is written.
pub const STEPS_VERSION: &str = "cuecard-steps/2";

/// The older version that is read: its fingerprints say other things.
pub const OLDER_VERSION: &str = "cuecard-steps/1";

/// The result of a parse, and the file that `play` reads.
#[derive(Debug, Clone, PartialEq, Default)]
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

/// How many actions gave a step.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ParseStatus {
    /// Every action gave a step.
    Success,
    /// Some did.
    #[default]
    Partial,
    /// None did, or the page could not be opened.
    Failed,
}

impl ParseStatus {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One validated step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct TestStep {
    /// Its id, unique in the file: the same for the same URL, place and sentence.
    pub id: String,
    /// The sentence.
    pub description: String,
    /// What it does.
    pub action: ActionKind,
    /// The selector of its element: the first of `selectors`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// What is typed, chosen or expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["string", "number", "boolean"]))]
    pub value: Option<Json>,
    /// Where to navigate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The page before it.
    #[serde(default)]
    pub context: StepContext,
    /// How long it may take in milliseconds, in place of `actionTimeoutMs`.
    #[serde(
        rename = "timeout",
        default,
        deserialize_with = "integer::<1, LONGEST, _, _>",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout_ms: Option<u64>,
    /// What it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_for: Option<WaitFor>,
    /// Retries of what failed before anything was done.
    #[serde(
        default,
        deserialize_with = "integer::<0, MOST_RETRIES, _, _>",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 0, max = 10))]
    pub max_retries: Option<u32>,
    /// Selectors of its element, the most lasting first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selectors: Vec<String>,
    /// What its element was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// Who read the sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translator: Option<Translator>,
    /// The highlight index that its element had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// The element that it is dragged to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<StepElement>,
    /// What must hold: of an assertion, and of a wait until something does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertion: Option<BrowserAssertion>,
    /// The key that is pressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Where to scroll.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// How long to wait, in milliseconds.
    #[serde(
        default,
        deserialize_with = "integer::<1, LONGEST, _, _>",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 1, max = 600_000))]
    pub duration_ms: Option<u64>,
    /// The tab it acts in, from 0, if not the first.
    #[serde(
        default,
        deserialize_with = "integer::<0, MOST_TABS, _, _>",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 0, max = 1_000))]
    pub tab: Option<usize>,
    /// Whether its failure is only a warning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// Kept as it is, and without effect: it follows from the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_last_step: Option<bool>,
    /// What was seen when it ran.
    #[serde(default, skip_serializing_if = "is_default")]
    pub observed: Observed,
}

impl Serialize for TestStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// The page before a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct StepContext {
    /// The page as text.
    pub dom_structure_snapshot: String,
    /// All of the page, only if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_dom_snapshot: Option<Json>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
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
            ..Self::default()
        }
    }

    /// What is typed or chosen.
    pub fn input_value(&self) -> Option<InputValue> {
        InputValue::of(self.value.as_ref()?)
    }
}

/// The second element of a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct StepElement {
    /// Its selectors, the most lasting first.
    pub selectors: Vec<String>,
    /// What it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// The highlight index that it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
}

/// Who read a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Translator {
    /// The rules.
    // Older files say so of sentences without a form.
    #[serde(alias = "words")]
    Rules,
    /// A model.
    Model,
}

impl Translator {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
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

/// Why an action gave no step.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorInfo {
    /// The id that the step would have had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    /// What went wrong.
    pub message: String,
    /// The sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The call that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub playwright_action: Option<String>,
    /// What the model's side said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llm_error: Option<String>,
    /// The selector that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// More than most readers want, only if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// The code, such as `B-ambiguous_action`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// The elements that could be meant, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// What to do, such as a wording that would be clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// How bad it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub severity: Severity,
}

impl ErrorInfo {
    /// Whether it is only a warning.
    pub fn is_warning(&self) -> bool {
        self.severity == Severity::Warning
    }
}

/// Whether an error is only a warning: that of an optional action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "each is the word for it")]
pub enum Severity {
    #[default]
    Error,
    Warning,
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
