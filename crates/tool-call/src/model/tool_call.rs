//! The tool-call scenario: steps in play order.

use std::ops::RangeInclusive;
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use serde_json_path::JsonPath;

use super::{AnswerEntry, Condition, ParamTarget, Placeholder, Target, Template, ToolName};
use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};

/// A tool-call scenario after reading: valid, ordered, with spans back into its text.
#[derive(Debug, Clone)]
pub struct ToolCallScenario {
    /// The text it was read from.
    pub source: SourceFile,
    /// `metadata.name`.
    pub name: String,
    /// `metadata`, as written.
    pub metadata: Json,
    /// `environment`, as written; null if absent.
    pub environment: Json,
    /// Where `environment` stands.
    pub environment_span: Option<Span>,
    /// The declared variables, in order.
    pub variables: Vec<Variable>,
    /// What it answers to requests of its servers.
    pub answers: Vec<AnswerEntry>,
    /// The steps, in play order.
    pub steps: Vec<Step>,
}

impl ToolCallScenario {
    /// The steps with a number in `range`: neighbours, since steps are in the order of their numbers.
    pub fn steps_in(&self, range: &RangeInclusive<u64>) -> &[Step] {
        let start = self
            .steps
            .partition_point(|step| step.number < *range.start());
        let end = self
            .steps
            .partition_point(|step| step.number <= *range.end());
        self.steps.get(start..end).unwrap_or_default()
    }

    /// The steps of each group.
    pub fn groups(&self) -> impl Iterator<Item = &[Step]> {
        let groups = self.steps.chunk_by(Step::is_grouped_with);
        groups.filter(|group| group[0].group.is_some())
    }

    /// Calls `visit` with every reference of the answers and the steps.
    pub fn for_each_placeholder<'a>(&'a self, visit: &mut impl FnMut(&'a Placeholder)) {
        for entry in &self.answers {
            entry.for_each_placeholder(visit);
        }
        for step in &self.steps {
            step.for_each_placeholder(visit);
        }
    }
}

/// A declared variable.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its default; the empty string means that the user must give one.
    pub default: Json,
    /// Where its name stands.
    pub span: Span,
}

impl Variable {
    /// Whether the user must give a value.
    pub fn is_required(&self) -> bool {
        self.default.as_str() == Some("")
    }
}

/// One step.
#[derive(Debug, Clone)]
pub struct Step {
    /// `step`: its number, unique.
    pub number: u64,
    /// `id`: what others refer to it by.
    pub id: Option<String>,
    /// `tool`.
    pub tool: ToolName,
    /// Where the tool's name stands.
    pub tool_span: Span,
    /// `params`: always an object.
    pub params: Template,
    /// Where the parameters stand.
    pub params_span: Span,
    /// `target`: which element of a page the call is about.
    pub target: Option<Box<Target>>,
    /// `targets`: the same for parameters anywhere, in the order of the file.
    pub targets: Vec<ParamTarget>,
    /// `output`, in order.
    pub outputs: Vec<OutputRule>,
    /// `output_optional`: an output that matches nothing is absent, not an error.
    pub output_optional: bool,
    /// `description`.
    pub description: Option<Template>,
    /// `wait_after`: seconds.
    pub wait_after: Option<Template>,
    /// `on_error`.
    pub on_error: OnError,
    /// `retry`, with its defaults filled in; what most steps don't have takes no room in them.
    pub retry: Option<Box<RetryRule>>,
    /// `condition`.
    pub condition: Option<Box<(Condition, Span)>>,
    /// `for_each`.
    pub for_each: Option<Box<ForEach>>,
    /// `group`: neighbours with the same name start together.
    pub group: Option<Box<str>>,
    /// `expect`.
    pub expectations: Vec<Expectation>,
    /// `timeout`: how long the step's call may take, whatever else is said.
    pub timeout: Option<Duration>,
    /// `parse`: which part of the tool's answer is the value.
    pub parse: Parse,
    /// `effect: once`: the journal is on the disk before the call, and before the step is reported.
    pub has_effect_once: bool,
    /// Where the step stands.
    pub span: Span,
}

impl Step {
    /// How the step is called in messages: `step 3` or ``step 3 (`create_issue`)``.
    pub fn label(&self) -> String {
        match &self.id {
            Some(id) => format!("step {} (`{id}`)", self.number),
            None => format!("step {}", self.number),
        }
    }

    /// Whether it starts together with `other`, another step.
    pub fn is_grouped_with(&self, other: &Self) -> bool {
        self.group.is_some() && self.group == other.group && self.number != other.number
    }

    /// Its `target` and those of its `targets`.
    pub fn all_targets(&self) -> impl Iterator<Item = &Target> {
        let named = self.targets.iter().map(|named| &named.target);
        self.target.as_deref().into_iter().chain(named)
    }

    /// How to try again.
    pub fn retry_rule(&self) -> &RetryRule {
        static DEFAULT: LazyLock<RetryRule> = LazyLock::new(RetryRule::default);
        self.retry.as_deref().unwrap_or(&DEFAULT)
    }

    /// Whether a reference is to the element that the step runs for, or to its index.
    pub fn is_element(&self, placeholder: &Placeholder) -> bool {
        self.for_each.as_ref().is_some_and(|it| {
            let is_in_list = (it.span.start..it.span.end).contains(&placeholder.span.start);
            it.defines(&placeholder.reference.name) && !is_in_list
        })
    }

    /// Calls `visit` with every reference of the step.
    pub fn for_each_placeholder<'a>(&'a self, visit: &mut impl FnMut(&'a Placeholder)) {
        if let Some(for_each) = &self.for_each {
            for_each.list.for_each_placeholder(visit);
        }
        if let Some((condition, _)) = self.condition.as_deref() {
            condition.for_each_placeholder(visit);
        }
        self.params.for_each_placeholder(visit);
        let retry = self.retry_rule();
        for target in self.all_targets() {
            target.for_each_placeholder(visit);
        }
        let templates = [
            self.description.as_ref(),
            self.wait_after.as_ref(),
            Some(&retry.count),
            Some(&retry.delay),
            retry.max_ms.as_ref(),
        ];
        for template in templates.into_iter().flatten().chain(&retry.condition) {
            template.for_each_placeholder(visit);
        }
        for test in self
            .expectations
            .iter()
            .flat_map(|expectation| &expectation.tests)
        {
            test.for_each_placeholder(visit);
        }
    }
}

/// A group has at most this many steps, whose calls are made at the same time.
pub const MAX_GROUP: usize = 32;

/// A list of `for_each` has at most this many elements.
pub const MAX_ELEMENTS: usize = 10_000;

/// `for_each` and `as`: the step runs once for each element of a list.
#[derive(Debug, Clone)]
pub struct ForEach {
    /// The list: an array, or a reference to one.
    pub list: Template,
    /// What references call the element; its index, from 0, is this with `_index`.
    pub name: String,
    /// Where the list stands.
    pub span: Span,
    /// Where the name stands, or the list if it has the default name.
    pub name_span: Span,
}

impl ForEach {
    /// Whether `name` refers to the element or to its index.
    pub fn defines(&self, name: &str) -> bool {
        name == self.name || name.strip_suffix("_index") == Some(&self.name)
    }

    /// The names of the element and its index.
    pub fn names(&self) -> [String; 2] {
        [self.name.clone(), format!("{}_index", self.name)]
    }
}

/// One entry of `output`.
#[derive(Debug, Clone)]
pub struct OutputRule {
    /// The name others refer to.
    pub name: String,
    /// Where to look in the result.
    pub path: JsonPath,
    /// Whether the path can match one value at most, and so gives that value and not an array.
    pub singular: bool,
    /// What the text of the value must match: then its first group is the output, or the whole match if it has none.
    pub regex: Option<Regex>,
    /// Where the entry's name stands.
    pub name_span: Span,
    /// Where the path stands.
    pub span: Span,
}

/// `on_error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// End the run.
    #[default]
    Stop,
    /// Record the failure as tolerated and go on.
    Skip,
    /// Try again by the retry rule.
    Retry,
}

/// `retry`.
#[derive(Debug, Clone)]
pub struct RetryRule {
    /// How many more calls after the first.
    pub count: Template,
    /// Milliseconds before the first of them.
    pub delay: Template,
    /// Only while the error contains one of these texts, if there are any.
    pub condition: Vec<Template>,
    /// The milliseconds from the first call after which none begins.
    pub max_ms: Option<Template>,
    /// How the delay grows.
    pub backoff: Backoff,
    /// What happens when all are used up.
    pub then: RetryThen,
}

impl Default for RetryRule {
    fn default() -> Self {
        Self {
            count: Template::Literal(Json::from(3)),
            delay: Template::Literal(Json::from(500)),
            condition: Vec::new(),
            max_ms: None,
            backoff: Backoff::Exponential,
            then: RetryThen::Stop,
        }
    }
}

/// `retry.backoff`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backoff {
    /// The delay doubles, up to 30 s.
    #[default]
    Exponential,
    /// The delay stays.
    Constant,
}

/// `retry.then`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RetryThen {
    /// End the run.
    #[default]
    Stop,
    /// Record the failure as tolerated and go on.
    Skip,
}

/// `parse`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parse {
    /// JSON where it is JSON, else text.
    #[default]
    Auto,
    /// It must be JSON.
    Json,
    /// Never JSON.
    Text,
    /// The structured content beside the text.
    Structured,
    /// The list of the content blocks.
    Content,
}

/// One object of `expect`: checks on one subject, all of which must hold.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// The part of the result that is looked at; the whole result if absent.
    pub json_path: Option<OutputRule>,
    /// The checks.
    pub tests: Vec<ExpectedTest>,
    /// Whether `equals` and `contains` tell a number, a boolean and null from the texts that spell them.
    pub is_strict: bool,
    /// Where it stands.
    pub span: Span,
}

/// One check of an expectation.
#[derive(Debug, Clone)]
pub enum ExpectedTest {
    /// `equals`, typed as conditions compare.
    Equals(Template),
    /// `contains`: a text part, an array element or an object key.
    Contains(Template),
    /// `matches`: a regular expression.
    Matches(Regex),
    /// `json_schema`.
    JsonSchema(Json),
    /// `max_ms`: the longest the call may have taken.
    MaxMilliseconds(f64),
    /// `shows`: the result is a snapshot of a page, which shows this text.
    Shows(Template),
    /// `lacks`: the result is a snapshot of a page, which does not show this text.
    Lacks(Template),
    /// `elements`: the result is a snapshot of a page, of whose elements so many fit.
    Elements(Box<ExpectedElements>),
}

/// `elements`: which elements of a page there must be, and how many.
#[derive(Debug, Clone)]
pub struct ExpectedElements {
    /// What each of them is. It has no `selector` and no `nth`.
    pub target: Target,
    /// How many there must be at least.
    pub least: usize,
    /// How many there may be at most; any number if absent.
    pub most: Option<usize>,
}

impl ExpectedTest {
    /// Calls `visit` with every reference of the check.
    pub fn for_each_placeholder<'a>(&'a self, visit: &mut impl FnMut(&'a Placeholder)) {
        match self {
            Self::Equals(template)
            | Self::Contains(template)
            | Self::Shows(template)
            | Self::Lacks(template) => template.for_each_placeholder(visit),
            Self::Elements(elements) => elements.target.for_each_placeholder(visit),
            Self::Matches(_) | Self::JsonSchema(_) | Self::MaxMilliseconds(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Step;

    #[test]
    fn a_step_takes_room_for_what_most_steps_have() {
        // A scenario may have a million of them.
        let room = size_of::<Step>();
        assert!(room <= 512, "a step takes {room} bytes");
    }
}
