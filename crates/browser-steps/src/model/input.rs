//! A URL with plain-language actions.

use std::path::PathBuf;

use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};

/// A browser script after reading.
#[derive(Debug, Clone)]
pub struct BrowserScenario {
    /// `url`: where it begins. May hold `{{references}}`.
    pub url: String,
    /// Where the URL stands.
    pub url_span: Span,
    /// `actions`, in order.
    pub actions: Vec<BrowserAction>,
    /// `options`.
    pub options: BrowserOptions,
    /// `variables` with their defaults; one without (null) must be given.
    pub variables: Vec<(String, Option<Json>)>,
    /// `secrets`: names whose values are never shown.
    pub secrets: Vec<String>,
    /// The text it was read from.
    pub source: SourceFile,
}

/// One action in plain words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserAction {
    /// The sentence.
    pub text: String,
    /// How long the action may take in milliseconds, in place of `options.actionTimeoutMs`.
    pub timeout_ms: Option<u64>,
    /// Whether its failure is only a warning.
    pub optional: bool,
    /// Where the sentence stands.
    pub span: Span,
}

/// `options`, with the default of what is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct BrowserOptions {
    /// `timeoutMs`: the whole parse.
    pub timeout_ms: u64,
    /// `actionTimeoutMs`: one action.
    pub action_timeout_ms: u64,
    /// `assertTimeoutMs`: how long an assertion may take to hold.
    pub assert_timeout_ms: u64,
    /// `viewport` in CSS pixels.
    pub viewport: Viewport,
    /// `locale`, a language tag.
    pub locale: String,
    /// `timezone`, a name such as `Europe/Berlin`.
    pub timezone: String,
    /// `storageState`: a file with cookies and local storage.
    pub storage_state: Option<PathBuf>,
    /// `testIdAttribute`: the attribute that tests name elements by.
    pub test_id_attribute: String,
    /// `translator`: what reads the sentences.
    pub translator: TranslatorChoice,
    /// `minConfidence`: what a model must be sure of, from 0 to 1.
    pub min_confidence: f64,
    /// `maxReplies`: so many replies of a model for one sentence.
    pub max_replies: u64,
    /// `promptBudget`: characters for the text of a page.
    pub prompt_budget: usize,
    /// `onFailure`.
    pub on_failure: OnFailure,
    /// `onDialog`.
    pub on_dialog: OnDialog,
    /// `includeAttributes`: printed too.
    pub include_attributes: Vec<String>,
    /// `llm`: which model.
    pub llm: Option<Provider>,
}

impl Default for BrowserOptions {
    fn default() -> Self {
        Self {
            timeout_ms: 300_000,
            action_timeout_ms: 30_000,
            assert_timeout_ms: 5_000,
            viewport: Viewport {
                width: 1280,
                height: 720,
            },
            locale: "en-US".to_owned(),
            timezone: "UTC".to_owned(),
            storage_state: None,
            test_id_attribute: "data-testid".to_owned(),
            translator: TranslatorChoice::RulesThenModel,
            min_confidence: 0.6,
            max_replies: 3,
            prompt_budget: 24_000,
            on_failure: OnFailure::Stop,
            on_dialog: OnDialog::Dismiss,
            include_attributes: Vec::new(),
            llm: None,
        }
    }
}

/// Width and height in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewport {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// What reads the sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranslatorChoice {
    /// The rules alone.
    Rules,
    /// A model alone.
    Model,
    /// The rules, and a model for what they don't understand.
    RulesThenModel,
}

/// What a failed action does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// It ends the parse.
    Stop,
    /// The next action is tried.
    Continue,
}

/// What becomes of dialogs that the page opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDialog {
    /// They are dismissed.
    Dismiss,
    /// They are accepted.
    Accept,
}

/// Which model, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// `provider`: the API it speaks.
    pub kind: ProviderKind,
    /// `model`.
    pub model: String,
    /// `baseUrl`.
    pub base_url: Option<String>,
    /// `apiKeyEnv`: the environment variable with the key.
    pub api_key_env: Option<String>,
}

/// The API that a model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    /// Chat completions.
    OpenAi,
    /// Messages.
    Anthropic,
}

impl ProviderKind {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }
}
