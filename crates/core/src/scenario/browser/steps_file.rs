//! What parsing a browser scenario gives: validated steps, which can be played again.

use sha2::{Digest, Sha256};

use super::{ActionKind, BrowserAssertion, Direction, InputValue, Observed};
use crate::value::Json;

/// The version that is written.
pub const STEPS_VERSION: &str = "cuecard-steps/1";

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
    pub fn word(self) -> &'static str {
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
    pub fn word(self) -> &'static str {
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
    pub fn word(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::NetworkIdle => "networkidle",
            Self::DomContentLoaded => "domcontentloaded",
            Self::Load => "load",
        }
    }
}

/// What an element is, to know it again. Secret values are never part of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fingerprint {
    /// Its role; empty if it has none.
    pub role: String,
    /// Its accessible name.
    pub name: String,
    /// The text on it, if it has no name and is known by that; empty if nothing was written on it.
    pub text: Option<String>,
    /// Its tag.
    pub tag: String,
    /// The type of an `input`.
    pub input_type: Option<String>,
    /// Its test id.
    pub test_id: Option<String>,
    /// Up to five named or landmark elements around it, innermost first, as `role "name"`.
    pub path: Vec<String>,
    /// Its label, or the heading or text before it.
    pub near: String,
    /// Its place among the elements of its role that are called so, from 1.
    pub ordinal: usize,
    /// How many of them there are.
    pub of: usize,
    /// The frames and shadow hosts that it is in, as `frame=XPATH` and `shadow=XPATH`.
    pub scope: Vec<String>,
    /// The containers that tell it from its twins, innermost first: as the sentence named them, or the item of a list
    /// or table that it stands in. It may be in no other place.
    pub within: Vec<Container>,
    /// Whether it is the innermost of these containers itself: then whatever else stands in it may change.
    pub is_container: bool,
    /// `position`, if the sentence named one: 1 is the first of its twins, -1 the last.
    pub position: Option<i32>,
    /// `byPosition`: what stands around each of its twins, in the order of the page, where no text tells it apart.
    pub by_position: Vec<String>,
    /// What the elements of its role in the nearest container around it are called, at most 40.
    pub likes: Vec<String>,
}

/// A container that tells an element from its twins, known by a text in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Container {
    /// What it is.
    pub kind: ContainerKind,
    /// The text that it is known by; none of a dialog that nobody named.
    pub text: Option<String>,
    /// Where in it the text stands.
    pub at: TextPlace,
    /// The heading of the column that the text stands in, if it is in a cell.
    pub column: Option<String>,
    /// What an item is made of: its role, else its tag and class. What is around it has the text too.
    pub made: Option<String>,
    /// How many nodes were in it.
    pub nodes: Option<u32>,
    /// The heading that an item stands below.
    pub below: Option<String>,
}

/// A kind of container, as people call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "each is the word for it")]
pub enum ContainerKind {
    #[default]
    Section,
    Dialog,
    Row,
    Item,
    Card,
    Post,
    List,
    Table,
    Form,
    Header,
    Footer,
    Navigation,
    Sidebar,
    Frame,
}

impl ContainerKind {
    /// Every kind with the word for it.
    pub const ALL: &[(&'static str, Self)] = &[
        ("section", Self::Section),
        ("dialog", Self::Dialog),
        ("row", Self::Row),
        ("item", Self::Item),
        ("card", Self::Card),
        ("post", Self::Post),
        ("list", Self::List),
        ("table", Self::Table),
        ("form", Self::Form),
        ("header", Self::Header),
        ("footer", Self::Footer),
        ("navigation", Self::Navigation),
        ("sidebar", Self::Sidebar),
        ("frame", Self::Frame),
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("section", |(word, _)| word)
    }

    /// The ARIA role that says it; a frame has none.
    pub fn role(self) -> Option<&'static str> {
        Some(match self {
            Self::Section => "region",
            Self::Item => "listitem",
            Self::Card | Self::Post => "article",
            Self::Header => "banner",
            Self::Footer => "contentinfo",
            Self::Sidebar => "complementary",
            Self::Frame => return None,
            Self::Dialog | Self::Row | Self::List | Self::Table | Self::Form | Self::Navigation => {
                self.as_str()
            }
        })
    }

    /// The kind of container that an element of this role is.
    pub fn of_role(role: &str) -> Self {
        match role {
            "dialog" | "alertdialog" => Self::Dialog,
            "form" => Self::Form,
            "frame" => Self::Frame,
            "row" => Self::Row,
            "article" => Self::Post,
            "listitem" | "treeitem" => Self::Item,
            _ => Self::Section,
        }
    }

    /// Whether it is one of several alike: a row of a table, an item of a list, a card, a post.
    pub fn is_item(self) -> bool {
        matches!(self, Self::Row | Self::Item | Self::Card | Self::Post)
    }
}

/// Where in a container the text stands that it is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TextPlace {
    /// It is its accessible name.
    #[default]
    Name,
    /// It is a heading in it, or the one above it.
    Heading,
    /// It is a cell of it.
    Cell,
    /// It is a line of its text.
    Text,
}

impl TextPlace {
    /// Every place with the word for it.
    pub const ALL: &[(&'static str, Self)] = &[
        ("name", Self::Name),
        ("heading", Self::Heading),
        ("cell", Self::Cell),
        ("text", Self::Text),
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, place)| *place == self)
            .map_or("name", |(word, _)| word)
    }
}

impl Fingerprint {
    /// What it was called: its name, or the text on it.
    pub fn called(&self) -> &str {
        match self.name.is_empty() {
            true => self.text.as_deref().unwrap_or_default(),
            false => &self.name,
        }
    }

    /// Whether of what has no name the text counts: not if the text is what is asserted.
    pub fn is_called_by_text(&self) -> bool {
        !self.name.is_empty() || self.text.is_some()
    }

    /// The same with every text of the page changed; what the page is built of stays.
    pub fn with_texts(&self, change: impl Fn(&str) -> String) -> Self {
        Self {
            name: change(&self.name),
            text: self.text.as_deref().map(&change),
            test_id: self.test_id.as_deref().map(&change),
            path: self.path.iter().map(|entry| change(entry)).collect(),
            near: change(&self.near),
            within: self
                .within
                .iter()
                .map(|container| Container {
                    text: container.text.as_deref().map(&change),
                    column: container.column.as_deref().map(&change),
                    below: container.below.as_deref().map(&change),
                    ..container.clone()
                })
                .collect(),
            by_position: self.by_position.iter().map(|text| change(text)).collect(),
            likes: self.likes.iter().map(|name| change(name)).collect(),
            ..self.clone()
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
