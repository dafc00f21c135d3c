//! The model: what a scenario asks, whatever file it was read from.

mod answers;
mod assertion;
pub mod browser;
mod condition;
mod roles;
mod target;
mod template;
mod test_case;
pub mod timeline;
mod tool_call;
mod tools;

pub use answers::{Answers, ElicitationAction, ElicitationAnswer, QuestionMatch};
pub use assertion::{
    ArgsMatch, Assertion, AssertionCheck, CAPABILITIES, ExpectedCall, OutputFormat, Selector,
    Severity, TextPattern, TrajectoryMode, ValueTest, Which,
};
pub use condition::{Comparison, Condition, Operand};
pub use roles::{is_role, roles};
pub use target::{ParamTarget, Target, TargetPlace};
pub use template::{MemberRef, PathSegment, Placeholder, Reference, Template, TextPart};
pub use test_case::{
    DEFAULT_CASE_TIMEOUT, ExpectedOutcome, Fixture, TestCase, TestContext, TestTools, ToolPattern,
    TraceInput, TranscriptFormat, Trigger,
};
pub use tool_call::{
    Backoff, Expectation, ExpectedElements, ExpectedTest, OnError, OutputRule, Parse, RetryRule,
    RetryThen, Step, ToolCallScenario, Variable,
};
pub use tools::{BuiltinTool, ParamKind, ParamSpec, ToolName};
