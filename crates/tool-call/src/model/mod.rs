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
pub use condition::{Condition, Operand};
pub use cuecard_page::{is_role, roles};
pub use cuecard_source::matching::Comparison;
pub use target::{ParamTarget, Target, TargetPlace};
pub use template::{MemberRef, PathSegment, Placeholder, Reference, Template, TextPart};
pub use tool_call::{
    Backoff, Expectation, ExpectedElements, ExpectedTest, ForEach, MAX_ELEMENTS, MAX_GROUP,
    OnError, OutputRule, Parse, RetryRule, RetryThen, Step, ToolCallScenario, Variable,
};
pub use tools::{BuiltinTool, ParamKind, ParamSpec, ToolName, is_variable_name};
