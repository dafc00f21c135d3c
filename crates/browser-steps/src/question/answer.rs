//! Whether a model's answer can be used.

use std::fmt;

use strum::VariantNames;

use super::allowed_values::{AllowedValues, in_browser};
use super::function::FUNCTION_NAME;
use crate::model::{
    ActionKind, AssertKind, BrowserAssertion, Direction, InputValue, IntermediateStep,
};
use cuecard_page::dom::NodeId;
use cuecard_page::selector::Finder;
use cuecard_page::sentences::{Pool, denies, given_texts};
use cuecard_source::value::{Json, as_text, cut};

/// The most candidates that are read.
const MOST_CANDIDATES: usize = 50;

/// Words of what can't be undone: deleting, paying, sending, publishing.
const DANGEROUS: &[&[&str]] = &[
    &[
        "delete",
        "remove",
        "erase",
        "destroy",
        "discard",
        "wipe",
        "purge",
        "reset",
        "deactivate",
        "terminate",
        "revoke",
        "trash",
        "unsubscribe",
    ],
    &[
        "pay",
        "buy",
        "purchase",
        "order",
        "checkout",
        "donate",
        "transfer",
        "subscribe",
        "upgrade",
        "refund",
    ],
    &["send", "submit", "invite"],
    &[
        "publish", "deploy", "release", "merge", "approve", "launch", "share",
    ],
];

/// The words of a text, in small letters.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|sign: char| !sign.is_alphanumeric());
    words.map(str::to_lowercase).collect()
}

/// Whether a word is another one or a form of it: `deletes`, `deleting`, `submitted`.
fn is_form_of(word: &str, known: &str) -> bool {
    let stem = known.trim_end_matches('e');
    word == known
        || word
            .strip_prefix(stem)
            .is_some_and(|end| ["s", "es", "ed", "ing", "ion", "ted", "ting"].contains(&end))
}

/// What a model was asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The page.
    pub finder: Finder<'a>,
    /// The sentence.
    pub action: &'a str,
    /// What the rules found to be possible, if they found several; empty if they found nothing.
    pub candidates: &'a [NodeId],
    /// How sure a model must be, from 0 to 1.
    pub min_confidence: f64,
}

/// A call of a function, as a model made it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The function.
    pub name: String,
    /// Its arguments, as the text that they came in or as JSON.
    pub arguments: Json,
}

/// An answer that can be used.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// This is to be done.
    Act {
        /// The action.
        step: Box<IntermediateStep>,
        /// Its element.
        target: Option<NodeId>,
        /// What that is dragged to.
        to: Option<NodeId>,
    },
    /// Nothing is to be done: it is not clear what is meant.
    Unclear {
        /// Why, in words.
        reason: String,
        /// The elements that could be meant.
        candidates: Vec<NodeId>,
    },
}

/// An answer that can't be used; the model is told why, on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidReply(pub String);

impl fmt::Display for InvalidReply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for InvalidReply {}

fn breach<T>(what: impl Into<String>) -> Result<T, InvalidReply> {
    // One line, whatever the model wrote.
    let line: Vec<String> = what.into().split_whitespace().map(str::to_owned).collect();
    Err(InvalidReply(line.join(" ")))
}

impl Question<'_> {
    /// Checks the calls of one reply.
    ///
    /// # Errors
    /// With what was wrong, for the model.
    pub fn judge(&self, calls: &[Call]) -> Result<Answer, InvalidReply> {
        let call = match calls {
            [call] => call,
            [] => return breach(format!("you made no call: call {FUNCTION_NAME} once")),
            several => {
                let count = several.len();
                return breach(format!("you made {count} calls: call {FUNCTION_NAME} once"));
            }
        };
        if call.name != FUNCTION_NAME {
            let name = cut(&call.name, 60);
            return breach(format!(
                "there is no function `{name}`: call {FUNCTION_NAME}"
            ));
        }
        let parsed;
        let arguments = match &call.arguments {
            Json::String(text) => {
                parsed = serde_json::from_str::<Json>(text).unwrap_or(Json::Null);
                &parsed
            }
            other => other,
        };
        if !arguments.is_object() {
            return breach("the arguments are no JSON object");
        }
        let step = read(arguments)?;
        let target = self.element(step.target)?;
        let to = self.element(step.to)?;
        for &candidate in &step.candidates {
            if self.finder.state.by_index(candidate).is_none() {
                return breach(format!("`candidates`: there is no element [{candidate}]"));
            }
        }
        if let Some(unclear) = self.unclear(&step, target, to) {
            return Ok(unclear);
        }
        self.check(&step, target)?;
        if step.action_type == ActionKind::Drag && (to.is_none() || to == target) {
            return breach("`drag` needs `toSelector`: another element");
        }
        self.is_said(&step, target, to)?;
        if let Some(word) = target.and_then(|target| self.unsaid_danger(&step, target)) {
            return Ok(Answer::Unclear {
                reason: format!("the sentence does not say `{word}`, which the element does"),
                candidates: target.into_iter().collect(),
            });
        }
        Ok(Answer::Act {
            step: Box::new(step),
            target,
            to,
        })
    }

    fn element(&self, index: Option<u32>) -> Result<Option<NodeId>, InvalidReply> {
        let Some(index) = index else {
            return Ok(None);
        };
        match self.finder.state.by_index(index) {
            Some((id, _)) => Ok(Some(id)),
            None => breach(format!("there is no element [{index}] on the page")),
        }
    }

    /// Whether nothing is to be done.
    fn unclear(
        &self,
        step: &IntermediateStep,
        target: Option<NodeId>,
        to: Option<NodeId>,
    ) -> Option<Answer> {
        let is_candidate = |id: NodeId| self.candidates.contains(&id);
        let is_outside = !self.candidates.is_empty()
            && target.is_some_and(|target| !is_candidate(target))
            && !to.is_some_and(is_candidate);
        let reason = match () {
            () if step.action_type == ActionKind::Unknown => match &step.error {
                Some(error) => format!("the model could not read it: {}", cut(error, 200)),
                None => "the model could not read it".to_owned(),
            },
            () if step.is_ambiguous => "the model found more than one meaning".to_owned(),
            () if step.confidence < self.min_confidence => format!(
                "the model is sure to {}, less than the {} of `minConfidence`",
                step.confidence, self.min_confidence
            ),
            () if is_outside => "the model chose an element that the words don't name".to_owned(),
            () => return None,
        };
        let mut candidates: Vec<NodeId> = step
            .candidates
            .iter()
            .filter_map(|&index| self.finder.state.by_index(index))
            .map(|(id, _)| id)
            .collect();
        if candidates.is_empty() {
            candidates = match self.candidates.is_empty() {
                true => target.into_iter().collect(),
                false => self.candidates.to_vec(),
            };
        }
        Some(Answer::Unclear { reason, candidates })
    }

    /// Whether everything is there that the action needs, and nothing is invented.
    fn check(&self, step: &IntermediateStep, target: Option<NodeId>) -> Result<(), InvalidReply> {
        let action = step.action_type;
        let kind = action.as_str();
        let grounds = AllowedValues::of(self.action);
        if action.needs_target() && target.is_none() {
            return breach(format!("`{kind}` needs `targetSelector`"));
        }
        if action.needs_value() && step.input_value.is_none() {
            return breach(format!("`{kind}` needs `inputValue`"));
        }
        if let Some(target) = target {
            self.is_usable(step, target)?;
        }
        if let Some(value) = step.input_value.as_ref().filter(|_| action.needs_value()) {
            grounds.value("inputValue", value)?;
        }
        match (action, &step.url) {
            (ActionKind::Navigate, None) => return breach("`navigate` needs `url`"),
            (ActionKind::Navigate, Some(url)) => {
                let is_known = in_browser(url) || grounds.holds(url) || self.is_link_on_page(url);
                if !is_known {
                    let url = cut(url, 200);
                    return breach(format!("the sentence does not name the address `{url}`"));
                }
            }
            _ => {}
        }
        match action {
            ActionKind::Press if step.key.is_none() => breach("`press` needs `key`"),
            ActionKind::Scroll if step.direction.is_none() && target.is_none() => {
                breach("`scroll` needs `direction` or `targetSelector`")
            }
            ActionKind::Assert => match &step.assertion {
                None => breach("`assert` needs `assertion`"),
                Some(assertion) => self.check_assertion(assertion, target, &grounds),
            },
            ActionKind::Wait if step.assertion.is_none() => {
                breach("`wait` needs `assertion`: what is waited for")
            }
            _ => Ok(()),
        }
    }

    fn check_assertion(
        &self,
        assertion: &BrowserAssertion,
        target: Option<NodeId>,
        grounds: &AllowedValues<'_>,
    ) -> Result<(), InvalidReply> {
        let kind = assertion.kind.as_str();
        // What must not be there has no index; of what is counted one has.
        let needs_index = assertion.kind == AssertKind::Count || !assertion.may_lack_element();
        if assertion.kind.needs_target() && target.is_none() && needs_index {
            return breach(format!("an assertion of `{kind}` needs `targetSelector`"));
        }
        match &assertion.expected {
            None if assertion.kind.needs_expected() => {
                breach(format!("an assertion of `{kind}` needs `expected`"))
            }
            Some(expected) if assertion.kind.needs_expected() => {
                let text = InputValue::Text(as_text(expected).into_owned());
                grounds.value("expected", &text)
            }
            _ => Ok(()),
        }
    }

    /// Whether the element can be used so.
    fn is_usable(&self, step: &IntermediateStep, target: NodeId) -> Result<(), InvalidReply> {
        let pool = match (step.action_type, &step.input_value) {
            (ActionKind::Input, Some(InputValue::Flag(_))) => Pool::Checks,
            (ActionKind::Input, _) => Pool::Fields,
            (ActionKind::Select, _) => Pool::Selects,
            (ActionKind::Upload, _) => Pool::Files,
            _ => return Ok(()),
        };
        if self.finder.is_in_pool(target, pool) {
            return Ok(());
        }
        let what = match pool {
            Pool::Checks => "can't be checked",
            Pool::Selects => "has no options",
            Pool::Files => "takes no file",
            _ => "can't be typed into",
        };
        let words = self.finder.in_words(target);
        breach(format!("{words} {what}"))
    }

    /// Whether each text in quotes is used, as a value or as the whole name of the element or of what that stands in, and
    /// nothing is done that the sentence denies.
    fn is_said(
        &self,
        step: &IntermediateStep,
        target: Option<NodeId>,
        to: Option<NodeId>,
    ) -> Result<(), InvalidReply> {
        let assertion = step.assertion.as_ref();
        let values = [
            step.input_value.as_ref().map(InputValue::to_json),
            assertion.and_then(|assertion| assertion.expected.clone()),
            step.url.clone().map(Json::String),
            step.key.clone().map(Json::String),
        ];
        let is_value = |text: &String| {
            let mut values = values.iter().flatten();
            values.any(|value| as_text(value) == text.as_str())
        };
        for text in given_texts(self.action) {
            // What a reference stands for is not known here. What is absent has no element.
            let is_open = text.contains("{{")
                || (target.is_none() && assertion.is_some_and(|own| own.kind.needs_target()));
            let mut elements = target.into_iter().chain(to);
            let mut is_name = || elements.any(|id| self.finder.is_named(id, &text));
            if !is_open && !is_value(&text) && !is_name() {
                let words = target.map_or_else(
                    || "what you chose".to_owned(),
                    |target| self.finder.in_words(target),
                );
                let text = cut(&text, 100);
                return breach(format!("the sentence says `{text}`, and {words} does not"));
            }
        }
        let denial = denies(self.action);
        match assertion {
            None if denial => {
                // `click Not now`, `no newsletter`
                let element = target.and_then(|target| self.finder.state.element(target));
                let is_so = element.is_some_and(|element| denies(&element.name))
                    || step.input_value == Some(InputValue::Flag(false));
                match is_so {
                    true => Ok(()),
                    false => breach("the sentence says what is not to be done"),
                }
            }
            Some(assertion) if denial && !assertion.is_negative() => {
                breach("the sentence denies what the assertion says: `negate` must be true")
            }
            _ => Ok(()),
        }
    }

    /// The word of an element's name that says what can't be undone, if the sentence has none of its kind. Where links,
    /// tabs and fields lead to, something else is pressed.
    fn unsaid_danger(&self, step: &IntermediateStep, target: NodeId) -> Option<String> {
        let element = self.finder.state.element(target)?;
        let is_pressed = matches!(
            step.action_type,
            ActionKind::Click | ActionKind::DoubleClick | ActionKind::Press
        );
        let is_harmless = matches!(element.role.as_str(), "tab")
            || (element.role == "link" && element.attribute("href").is_some())
            || self.finder.is_in_pool(target, Pool::FieldsAndSelects);
        if !is_pressed || is_harmless {
            return None;
        }
        let said = words(self.action);
        DANGEROUS.iter().find_map(|class| {
            let is_of_class = |word: &String| class.iter().any(|known| is_form_of(word, known));
            let unsaid = words(&element.name).into_iter().find(&is_of_class)?;
            (!said.iter().any(is_of_class)).then_some(unsaid)
        })
    }

    /// Whether a link to another place of this page leads there.
    fn is_link_on_page(&self, url: &str) -> bool {
        let own = self.finder.state.page.url.split('#').next();
        let is_own = url.starts_with('#') || (url.contains('#') && url.split('#').next() == own);
        is_own
            && self.finder.state.elements().any(|(_, element)| {
                element.tag_name == "a" && element.attribute("href") == Some(url)
            })
    }
}

/// The arguments as a step.
fn read(arguments: &Json) -> Result<IntermediateStep, InvalidReply> {
    let text = |key: &str| -> Result<Option<String>, InvalidReply> {
        match &arguments[key] {
            Json::Null => Ok(None),
            Json::String(text) => Ok(Some(text.clone())),
            _ => breach(format!("`{key}` must be a text")),
        }
    };
    let Some(word) = text("actionType")? else {
        return breach("`actionType` is missing");
    };
    let Some(action) = ActionKind::of(&word) else {
        return breach(format!(
            "`actionType` must be one of {}, not `{}`",
            ActionKind::VARIANTS.join(", "),
            cut(&word, 60)
        ));
    };
    let Some(description) = text("description")? else {
        return breach("`description` is missing");
    };
    let mut step = IntermediateStep::new(action, description);
    step.is_ambiguous = match &arguments["isAmbiguous"] {
        Json::Bool(flag) => *flag,
        Json::Null => return breach("`isAmbiguous` is missing"),
        _ => return breach("`isAmbiguous` must be true or false"),
    };
    let confidence = match &arguments["confidence"] {
        Json::Null => &arguments["confidenceScore"],
        confidence => confidence,
    };
    step.confidence = match confidence.as_f64() {
        Some(confidence) if (0.0..=1.0).contains(&confidence) => confidence,
        _ => return breach("`confidence` must be a number between 0 and 1"),
    };
    let index = |key: &str| match text(key)? {
        None => Ok(None),
        Some(selector) => {
            let index = selector.strip_prefix("highlightIndex=");
            match index.and_then(|index| index.parse::<u32>().ok()) {
                None => breach(format!(
                    "`{key}` must be highlightIndex=N, not `{}`",
                    cut(&selector, 60)
                )),
                index => Ok(index),
            }
        }
    };
    step.target = index("targetSelector")?;
    step.to = index("toSelector")?;
    step.input_value = match &arguments["inputValue"] {
        Json::Null => None,
        value => match InputValue::of(value) {
            Some(value) => Some(value),
            None => return breach("`inputValue` must be a text, a number, true or false"),
        },
    };
    step.url = text("url")?;
    step.error = text("error")?;
    step.key = text("key")?.filter(|key| !key.is_empty());
    step.direction = match text("direction")?.as_deref() {
        None => None,
        Some("up") => Some(Direction::Up),
        Some("down") => Some(Direction::Down),
        Some(_) => return breach("`direction` must be up or down"),
    };
    step.assertion = assertion(&arguments["assertion"])?;
    step.candidates = match &arguments["candidates"] {
        Json::Null => Vec::new(),
        Json::Array(items) => {
            let indexes: Option<Vec<u32>> = items
                .iter()
                .take(MOST_CANDIDATES)
                .map(|item| item.as_u64().and_then(|index| u32::try_from(index).ok()))
                .collect();
            match indexes {
                Some(indexes) => indexes,
                None => return breach("`candidates` must be a list of indexes"),
            }
        }
        _ => return breach("`candidates` must be a list of indexes"),
    };
    Ok(step)
}

fn assertion(json: &Json) -> Result<Option<BrowserAssertion>, InvalidReply> {
    if json.is_null() {
        return Ok(None);
    }
    let word = json["kind"].as_str().unwrap_or_default();
    let Ok(kind) = word.parse() else {
        return breach(format!(
            "`assertion.kind` must be one of {}",
            AssertKind::VARIANTS.join(", ")
        ));
    };
    let mut assertion = BrowserAssertion::new(kind);
    assertion.negate = match &json["negate"] {
        Json::Null => false,
        Json::Bool(flag) => *flag,
        _ => return breach("`assertion.negate` must be true or false"),
    };
    assertion.expected = match &json["expected"] {
        Json::Null => None,
        value @ (Json::String(_) | Json::Number(_) | Json::Bool(_)) => Some(value.clone()),
        _ => return breach("`assertion.expected` must be a text, a number, true or false"),
    };
    Ok(Some(assertion))
}
