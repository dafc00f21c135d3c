//! Whether a model's answer can be used.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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

/// A call that a model made.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReplyCall")]
pub struct Call {
    /// Its id, as the model's side gave it; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The function.
    pub name: String,
    /// Its arguments: JSON, or the text that came if it is none.
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
        let arguments: Arguments = match serde_path_to_error::deserialize(arguments) {
            Ok(arguments) => arguments,
            // What is missing names itself.
            Err(error) if error.path().iter().len() == 0 => {
                return breach(error.inner().to_string());
            }
            Err(error) => return breach(format!("`{}`: {}", error.path(), error.inner())),
        };
        let action = arguments.action()?;
        let target = self.element(arguments.target_selector)?;
        let to = self.element(arguments.to_selector)?;
        let candidates = arguments.candidates.iter().flatten().take(MOST_CANDIDATES);
        let candidates = candidates
            .map(|&index| self.element(Some(HighlightIndex(index))))
            .collect::<Result<Vec<_>, InvalidReply>>()?;
        let candidates = candidates.into_iter().flatten().collect();
        if let Some(unclear) = self.unclear(&arguments, action, candidates, target, to)? {
            return Ok(unclear);
        }
        let step = arguments.step(action);
        self.check(&step, target)?;
        if step.action_type == ActionKind::Drag && (to.is_none() || to == target) {
            return breach("`drag` needs `toSelector`: another element");
        }
        self.is_said(&step, target, to)?;
        let danger = target.and_then(|id| self.finder.unsaid_danger(self.action, &step, id));
        if let Some(word) = danger {
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

    fn element(&self, index: Option<HighlightIndex>) -> Result<Option<NodeId>, InvalidReply> {
        let Some(HighlightIndex(index)) = index else {
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
        arguments: &Arguments,
        action: ActionKind,
        mut candidates: Vec<NodeId>,
        target: Option<NodeId>,
        to: Option<NodeId>,
    ) -> Result<Option<Answer>, InvalidReply> {
        let confidence = arguments.confidence()?;
        let is_candidate = |id: NodeId| self.candidates.contains(&id);
        let is_outside = !self.candidates.is_empty()
            && target.is_some_and(|target| !is_candidate(target))
            && !to.is_some_and(is_candidate);
        let reason = match () {
            () if action == ActionKind::Unknown => match &arguments.error {
                Some(error) => format!("the model could not read it: {}", cut(error, 200)),
                None => "the model could not read it".to_owned(),
            },
            () if arguments.is_ambiguous => "the model found more than one meaning".to_owned(),
            () if confidence < self.min_confidence => format!(
                "the model is sure to {confidence}, less than the {} of `minConfidence`",
                self.min_confidence
            ),
            () if is_outside => "the model chose an element that the words don't name".to_owned(),
            () => return Ok(None),
        };
        if candidates.is_empty() {
            candidates = match self.candidates.is_empty() {
                true => target.into_iter().collect(),
                false => self.candidates.to_vec(),
            };
        }
        Ok(Some(Answer::Unclear { reason, candidates }))
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

/// What a model calls the function with.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    action_type: String,
    target_selector: Option<HighlightIndex>,
    to_selector: Option<HighlightIndex>,
    input_value: Option<InputValue>,
    url: Option<String>,
    key: Option<String>,
    direction: Option<Direction>,
    assertion: Option<Assertion>,
    description: String,
    is_ambiguous: bool,
    candidates: Option<Vec<u32>>,
    confidence: Option<f64>,
    /// An older word for it.
    confidence_score: Option<f64>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Assertion {
    kind: AssertKind,
    expected: Option<InputValue>,
    negate: Option<bool>,
}

/// The index of an element, as `highlightIndex=N`.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct HighlightIndex(u32);

impl TryFrom<String> for HighlightIndex {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let index = text.strip_prefix("highlightIndex=");
        match index.and_then(|index| index.parse().ok()) {
            Some(index) => Ok(Self(index)),
            None => Err(format!(
                "it must be highlightIndex=N, not `{}`",
                cut(&text, 60)
            )),
        }
    }
}

impl Arguments {
    fn action(&self) -> Result<ActionKind, InvalidReply> {
        match ActionKind::of(&self.action_type) {
            Some(action) => Ok(action),
            None => breach(format!(
                "`actionType` must be one of {}, not `{}`",
                ActionKind::VARIANTS.join(", "),
                cut(&self.action_type, 60)
            )),
        }
    }

    fn confidence(&self) -> Result<f64, InvalidReply> {
        match self.confidence.or(self.confidence_score) {
            Some(confidence) if (0.0..=1.0).contains(&confidence) => Ok(confidence),
            _ => breach("`confidence` must be a number between 0 and 1"),
        }
    }

    fn step(self, action: ActionKind) -> IntermediateStep {
        IntermediateStep {
            input_value: self.input_value,
            url: self.url,
            key: self.key.filter(|key| !key.is_empty()),
            direction: self.direction,
            assertion: self.assertion.map(|own| BrowserAssertion {
                expected: own.expected.as_ref().map(InputValue::to_json),
                negate: own.negate.unwrap_or(false),
                ..BrowserAssertion::new(own.kind)
            }),
            ..IntermediateStep::new(action, self.description)
        }
    }
}
