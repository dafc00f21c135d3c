//! A URL with plain-language actions.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use strum::IntoStaticStr;

use cuecard_source::decode::by_hand;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::Node;
use cuecard_source::reader::{Object, Reader, found};
use cuecard_source::value::Json;
use cuecard_source::values::integer;
use cuecard_source::{SourceFile, Span, checked};

checked!(always BrowserOptions, Provider);

/// The longest times, in milliseconds.
const LONGEST_PARSE: i64 = 3_600_000;
pub(crate) const LONGEST_ACTION_MS: i64 = 600_000;

/// How many attributes a model may see too, and how long a word is at most.
const MOST_ATTRIBUTES: usize = 50;
const LONGEST_WORD: usize = 64;

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
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, remote = "Self")]
#[schemars(rename = "Options")]
pub struct BrowserOptions {
    /// How long the whole parse may take, in milliseconds (default: 300000).
    #[serde(deserialize_with = "integer::<1, LONGEST_PARSE, _, _>")]
    #[schemars(range(min = 1, max = 3_600_000))]
    pub timeout_ms: u64,
    /// How long an action may take, in milliseconds (default: 30000).
    #[serde(deserialize_with = "integer::<1, LONGEST_ACTION_MS, _, _>")]
    #[schemars(range(min = 1, max = 600_000))]
    pub action_timeout_ms: u64,
    /// How long an assertion may take to hold, in milliseconds (default: 5000).
    #[serde(deserialize_with = "integer::<1, LONGEST_ACTION_MS, _, _>")]
    #[schemars(range(min = 1, max = 600_000))]
    pub assert_timeout_ms: u64,
    /// The size of the page in CSS pixels (default: 1280 × 720).
    pub viewport: Viewport,
    /// The language of the browser (default: en-US).
    pub locale: String,
    /// The time zone of the browser, such as `Europe/Berlin` (default: UTC).
    pub timezone: String,
    /// A file with cookies and local storage.
    pub storage_state: Option<PathBuf>,
    /// The attribute that tests name elements by (default: data-testid).
    pub test_id_attribute: String,
    /// What reads the sentences (default: rules+model).
    pub translator: TranslatorChoice,
    /// How sure a model must be, from 0 to 1 (default: 0.6).
    #[serde(deserialize_with = "confidence")]
    #[schemars(range(min = 0, max = 1))]
    pub min_confidence: f64,
    /// Replies of a model for one sentence (default: 3).
    #[serde(deserialize_with = "integer::<1, 10, _, _>")]
    #[schemars(range(min = 1, max = 10))]
    pub max_replies: u64,
    /// Characters for the text of a page (default: 24000).
    #[serde(deserialize_with = "integer::<500, 1_000_000, _, _>")]
    #[schemars(range(min = 500, max = 1_000_000))]
    pub prompt_budget: usize,
    /// What a failed action does (default: stop).
    pub on_failure: OnFailure,
    /// What becomes of dialogs (default: dismiss).
    pub on_dialog: OnDialog,
    /// Attributes that the model sees too.
    pub include_attributes: Vec<String>,
    /// Which model.
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

/// Reads a number from 0 to 1.
fn confidence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    by_hand(deserializer, Some(0.0), |reader, node, pointer| {
        let number = node.as_f64().filter(|number| (0.0..=1.0).contains(number));
        if number.is_none() {
            let what = "`minConfidence` must be a number between 0 and 1";
            invalid(
                reader,
                node,
                pointer,
                format!("{what}, not {}", found(node)),
            );
        }
        number
    })
}

fn invalid(reader: &mut Reader<'_>, node: &Node, pointer: &str, message: String) {
    reader.error_at(codes::BROWSER_OPTION, node.span, pointer, message);
}

/// Reports a word that has other characters than it may.
fn check_word(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    key: &str,
    is_allowed: impl Fn(char) -> bool,
) {
    let node = object.get(key);
    if let Some((node, text)) = node.and_then(|node| Some((node, node.as_str()?)))
        && !is_word(text, is_allowed)
    {
        let message = format!("`{key}` can't be {}", found(node));
        invalid(reader, node, &object.child_pointer(key), message);
    }
}

fn is_word(text: &str, is_allowed: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.len() <= LONGEST_WORD && text.chars().all(is_allowed)
}

impl BrowserOptions {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        let with = |more: &'static str| {
            move |sign: char| sign.is_ascii_alphanumeric() || more.contains(sign)
        };
        check_word(reader, object, "locale", with("-"));
        check_word(reader, object, "timezone", with("/_-+"));
        let is_attribute = with("-_:.");
        check_word(reader, object, "testIdAttribute", is_attribute);
        if let Some((node, text)) = object
            .get("storageState")
            .and_then(|it| Some((it, it.as_str()?)))
            && (text.trim().is_empty() || text.contains('\0'))
        {
            let message = "`storageState` is not a valid file name".to_owned();
            invalid(reader, node, &object.child_pointer("storageState"), message);
        }
        let pointer = object.child_pointer("includeAttributes");
        let Some(node) = object.get("includeAttributes") else {
            return;
        };
        let names = node.as_array().unwrap_or_default();
        if names.len() > MOST_ATTRIBUTES {
            let message = format!("`includeAttributes` has more than {MOST_ATTRIBUTES} names");
            return invalid(reader, node, &pointer, message);
        }
        for (idx, name) in names.iter().enumerate() {
            if name
                .as_str()
                .is_some_and(|text| !is_word(text, is_attribute))
            {
                let message = format!("{} is not a valid attribute name", found(name));
                invalid(reader, name, &format!("{pointer}/{idx}"), message);
            }
        }
    }
}

impl Provider {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        let is_allowed = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
        check_word(reader, object, "apiKeyEnv", is_allowed);
    }
}

/// Width and height in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Viewport {
    /// Width in CSS pixels.
    #[serde(deserialize_with = "integer::<1, 10_000, _, _>")]
    #[schemars(range(min = 1, max = 10_000))]
    pub width: u32,
    /// Height in CSS pixels.
    #[serde(deserialize_with = "integer::<1, 10_000, _, _>")]
    #[schemars(range(min = 1, max = 10_000))]
    pub height: u32,
}

/// What reads the sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TranslatorChoice {
    /// The rules alone.
    Rules,
    /// A model alone.
    Model,
    /// The rules, and a model for what they don't understand.
    #[serde(rename = "rules+model")]
    RulesThenModel,
}

/// What a failed action does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// It ends the parse.
    Stop,
    /// The next action is tried.
    Continue,
}

/// What becomes of dialogs that the page opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnDialog {
    /// They are dismissed.
    Dismiss,
    /// They are accepted.
    Accept,
}

/// Which model, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct Provider {
    /// The API that it speaks.
    #[serde(rename = "provider")]
    pub kind: ProviderKind,
    /// Its name.
    pub model: String,
    /// Where it is.
    pub base_url: Option<String>,
    /// The environment variable with the key.
    pub api_key_env: Option<String>,
}

/// The API that a model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ProviderKind {
    /// Chat completions.
    OpenAi,
    /// Messages.
    Anthropic,
}

impl ProviderKind {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
