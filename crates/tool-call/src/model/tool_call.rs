//! The tool-call scenario: steps in play order.

use std::collections::BTreeMap;
use std::ops::{Deref, RangeInclusive};
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;
use serde_json_path::JsonPath;

use super::{
    AnswerEntry, Condition, ParamTarget, Placeholder, Target, TargetPlace, Template, Text, ToolName,
};
use crate::format::{Literals, Outputs, members, outputs, seconds, targets, texts};
use cuecard_source::decode::{OneOrMany, Spanned, nullable, one_or_many};
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
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct Step {
    /// Number of the step: the order of play.
    #[serde(rename = "step")]
    pub number: u64,
    /// The tool: mcp__server__tool, or a built-in sandy__… or claude__… tool.
    pub tool: ToolName,
    /// The arguments of the call; references are substituted.
    #[serde(deserialize_with = "members")]
    #[schemars(with = "Map<String, Json>")]
    pub params: Template,
    /// Name by which other steps refer to this one.
    #[schemars(regex(pattern = r"^[\p{L}\p{N}_-]+$"))]
    pub id: Option<String>,
    /// Names for parts of the result, each with a JSONPath (RFC 9535), or a regular expression.
    #[serde(rename = "output", default, deserialize_with = "outputs")]
    #[schemars(with = "Option<Outputs>")]
    pub outputs: Vec<OutputRule>,
    /// If true, an output that matches nothing is absent instead of an error.
    #[serde(default)]
    pub output_optional: bool,
    /// What the step does.
    pub description: Option<Text>,
    /// Seconds to wait after the step.
    pub wait_after: Option<Number>,
    /// What to do on failure: stop the run, continue, or retry.
    #[serde(default)]
    pub on_error: OnError,
    /// Retry settings.
    pub retry: Option<Box<RetryRule>>,
    /// The step is skipped unless this condition is true.
    pub condition: Option<Box<Spanned<Condition>>>,
    /// The step runs once for each element of this array, or of the array that a reference gives.
    pub for_each: Option<Box<ForEach>>,
    /// Name of the element in references (default: item). Its index, from 0, is this name with _index.
    #[serde(rename = "as")]
    #[schemars(regex(pattern = r"^[\p{L}\p{N}_-]+$"))]
    pub(crate) element: Option<Box<str>>,
    /// Neighbouring steps with the same group start together; the next step waits for all of them.
    #[schemars(regex(pattern = r"^[\p{L}\p{N}_-]+$"))]
    pub group: Option<Box<str>>,
    /// Checks on the step's result.
    #[serde(rename = "expect", default, deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<Expectation>")]
    pub expectations: Vec<Expectation>,
    /// Timeout for each call of the step, in seconds.
    #[serde(default, deserialize_with = "seconds")]
    #[schemars(with = "Seconds")]
    pub timeout: Option<Duration>,
    /// The page element that the call acts on; the player looks up its id.
    pub target: Option<Box<Target>>,
    /// The same for a call about several elements, by the parameters that name them: "elements[0].uid".
    #[serde(default, deserialize_with = "targets")]
    #[schemars(with = "BTreeMap<String, Target>", extend("minProperties" = 1))]
    pub targets: Vec<ParamTarget>,
    /// Which part of the tool's response is the result.
    #[serde(default)]
    pub parse: Parse,
    /// The effect must not happen twice: the journal of the run is on the disk before its call, and before it is reported.
    pub effect: Option<Effect>,
    /// What of the parameters won't last.
    #[serde(skip)]
    pub(crate) literals: Option<Box<Literals>>,
    /// Where the tool's name stands.
    #[serde(skip)]
    pub tool_span: Span,
    /// Where the parameters stand.
    #[serde(skip)]
    pub params_span: Span,
    /// Where the step stands.
    #[serde(skip)]
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
        if let Some(condition) = &self.condition {
            condition.value.for_each_placeholder(visit);
        }
        self.params.for_each_placeholder(visit);
        let retry = self.retry_rule();
        for target in self.all_targets() {
            target.for_each_placeholder(visit);
        }
        let templates = [
            self.description.as_deref(),
            self.wait_after.as_deref(),
            Some(&*retry.count),
            Some(&*retry.delay),
            retry.max_ms.as_deref(),
        ];
        let conditions = retry.condition.iter().map(|text| &**text);
        for template in templates.into_iter().flatten().chain(conditions) {
            template.for_each_placeholder(visit);
        }
        for test in self.expectations.iter().flat_map(Expectation::tests) {
            test.for_each_placeholder(visit);
        }
    }
}

/// A number from 0, perhaps by a reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Number(pub Template);

impl Deref for Number {
    type Target = Template;

    fn deref(&self) -> &Template {
        &self.0
    }
}

/// A time above 0.
#[derive(Debug, Clone, Copy)]
pub struct Seconds(pub Duration);

/// A regular expression that not every text matches.
#[derive(Debug, Clone)]
pub struct Pattern(pub Regex);

/// A JSON Schema.
#[derive(Debug, Clone)]
pub struct ResultSchema(pub Json);

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

/// What happens when a step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// End the run.
    #[default]
    Stop,
    /// Record the failure as tolerated and go on.
    Skip,
    /// Try again by the retry rule.
    Retry,
}

/// What must not happen twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The effect of the call.
    Once,
}

/// How a call is tried again.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self", default)]
pub struct RetryRule {
    /// Maximum number of retries (default 3).
    pub count: Number,
    /// Delay before the first retry, in milliseconds (default 500).
    pub delay: Number,
    /// Retry only if the error contains this text, or one of these.
    #[serde(deserialize_with = "texts")]
    #[schemars(with = "OneOrMany<String>")]
    pub condition: Vec<Text>,
    /// No retry starts later than this many milliseconds after the first call.
    pub max_ms: Option<Number>,
    /// Whether the delay doubles each time, up to 30 s (default), or stays constant.
    pub backoff: Backoff,
    /// What to do when all retries have failed (default stop).
    pub then: RetryThen,
}

impl Default for RetryRule {
    fn default() -> Self {
        Self {
            count: Number(Template::Literal(3.into())),
            delay: Number(Template::Literal(500.into())),
            condition: Vec::new(),
            max_ms: None,
            backoff: Backoff::Exponential,
            then: RetryThen::Stop,
        }
    }
}

/// How the delay between retries grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Backoff {
    /// The delay doubles, up to 30 s.
    #[default]
    Exponential,
    /// The delay stays.
    Constant,
}

/// What happens when all retries have failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RetryThen {
    /// End the run.
    #[default]
    Stop,
    /// Record the failure as tolerated and go on.
    Skip,
}

/// Which part of a response is the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
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

/// Checks on one subject, all of which must hold.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct Expectation {
    /// The part of the result to look at (default: all of it).
    #[serde(alias = "!")]
    pub json_path: Option<OutputRule>,
    /// The value it must equal.
    #[serde(default, alias = "?equals", deserialize_with = "nullable")]
    pub equals: Option<Template>,
    /// A substring, array element or object key that it must contain.
    #[serde(default, alias = "?contains", deserialize_with = "nullable")]
    pub contains: Option<Template>,
    /// Whether `equals` and `contains` compare types too, so that 5 is not "5".
    #[serde(default, rename = "strict")]
    pub is_strict: bool,
    /// A regular expression its text must match.
    pub matches: Option<Pattern>,
    /// A JSON Schema it must satisfy.
    pub json_schema: Option<ResultSchema>,
    /// The maximum duration of the call, in milliseconds.
    #[schemars(range(min = 0))]
    pub max_ms: Option<f64>,
    /// A text that the page must show, if the result is a snapshot of one.
    pub shows: Option<Text>,
    /// A text that the page must not show, if the result is a snapshot of one.
    pub lacks: Option<Text>,
    /// Elements that the page must have, if the result is a snapshot of one.
    pub elements: Option<Box<ExpectedElements>>,
    /// Where it stands.
    #[serde(skip)]
    pub span: Span,
}

impl Expectation {
    /// The checks that there are.
    pub fn tests(&self) -> impl Iterator<Item = ExpectedTest<'_>> {
        use ExpectedTest as Test;
        let tests = [
            self.equals.as_ref().map(Test::Equals),
            self.contains.as_ref().map(Test::Contains),
            self.matches.as_ref().map(|it| Test::Matches(&it.0)),
            self.json_schema.as_ref().map(|it| Test::JsonSchema(&it.0)),
            self.max_ms.map(Test::MaxMilliseconds),
            self.shows.as_deref().map(Test::Shows),
            self.lacks.as_deref().map(Test::Lacks),
            self.elements.as_deref().map(Test::Elements),
        ];
        tests.into_iter().flatten()
    }
}

/// One check of an expectation.
#[derive(Debug, Clone, Copy)]
pub enum ExpectedTest<'a> {
    /// `equals`, typed as conditions compare.
    Equals(&'a Template),
    /// `contains`: a text part, an array element or an object key.
    Contains(&'a Template),
    /// `matches`: a regular expression.
    Matches(&'a Regex),
    /// `json_schema`.
    JsonSchema(&'a Json),
    /// `max_ms`: the longest the call may have taken.
    MaxMilliseconds(f64),
    /// `shows`: the result is a snapshot of a page, which shows this text.
    Shows(&'a Template),
    /// `lacks`: the result is a snapshot of a page, which does not show this text.
    Lacks(&'a Template),
    /// `elements`: the result is a snapshot of a page, of whose elements so many fit.
    Elements(&'a ExpectedElements),
}

/// Which elements of a page there must be, and how many.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct ExpectedElements {
    /// The role of each, such as "button".
    pub role: Option<Text>,
    /// The accessible name of each; if no element has exactly this name, all of its words must match.
    pub name: Option<Text>,
    /// The whole name or text of each.
    pub text: Option<Text>,
    /// What each of them is in.
    pub within: Option<TargetPlace>,
    /// How many there must be (default: at least one).
    #[serde(default)]
    pub count: Count,
}

impl ExpectedElements {
    /// What each of them is.
    pub fn target(&self) -> Target {
        Target {
            role: self.role.clone(),
            name: self.name.clone(),
            text: self.text.clone(),
            within: self.within.clone(),
            ..Target::default()
        }
    }
}

/// A number, or its bounds.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename = "$Kind", rename_all = "lowercase")]
#[schemars(rename = "Count", untagged)]
pub enum Count {
    /// As many as that.
    Number(usize),
    /// From one number to another.
    Object(Bounds),
}

/// Bounds of a number.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub struct Bounds {
    /// The minimum.
    pub min: Option<usize>,
    /// The maximum.
    pub max: Option<usize>,
}

impl Default for Count {
    fn default() -> Self {
        Self::Object(Bounds {
            min: Some(1),
            max: None,
        })
    }
}

impl Count {
    /// The least and the most.
    pub fn bounds(self) -> (usize, Option<usize>) {
        match self {
            Self::Number(count) => (count, Some(count)),
            Self::Object(Bounds { min, max }) => (min.unwrap_or(0), max),
        }
    }
}

impl<'a> ExpectedTest<'a> {
    /// Calls `visit` with every reference of the check.
    pub fn for_each_placeholder(self, visit: &mut impl FnMut(&'a Placeholder)) {
        match self {
            Self::Equals(template)
            | Self::Contains(template)
            | Self::Shows(template)
            | Self::Lacks(template) => template.for_each_placeholder(visit),
            Self::Elements(elements) => {
                let within = elements.within.as_ref();
                let within = within.map(|it| [&it.role, &it.name, &it.text]);
                let own = [&elements.role, &elements.name, &elements.text];
                for text in own
                    .into_iter()
                    .chain(within.into_iter().flatten())
                    .flatten()
                {
                    text.for_each_placeholder(visit);
                }
            }
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
