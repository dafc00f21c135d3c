//! What a tool-call scenario asks.

mod answers;
mod condition;
mod target;
mod template;
mod tool_call;
mod tools;

pub use answers::{
    AnswerEntry, AnswerPlace, ElicitationAction, QuestionKind, QuestionMatch, Reply,
};
pub(crate) use answers::{Answers, ElicitationAnswer};
pub use condition::Condition;
pub use cuecard_page::{is_role, roles};
pub use cuecard_source::matching::Comparison;
pub use target::{ParamTarget, Target, TargetParam, TargetPlace, holder};
pub use template::{
    DuplicateKey, Found, PathSegment, Placeholder, Reference, Template, Text, TextPart,
};
pub use tool_call::{
    Backoff, Bounds, Count, Effect, Expectation, ExpectedElements, ExpectedTest, ForEach,
    MAX_ELEMENTS, MAX_GROUP, Number, OnError, OutputRule, Parse, Pattern, ResultSchema, RetryRule,
    RetryThen, Seconds, Step, ToolCallScenario, Variable,
};
pub use tools::{
    BuiltinTool, ParamKind, ParamMistake, ParamSpec, ToolName, flag_of, is_variable_name, number_of,
};
