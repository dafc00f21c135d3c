//! What a test case asks.

mod assertion;
mod test_case;

pub use assertion::{
    ArgsMatch, Assertion, AssertionCheck, ExpectedCall, OutputFormat, ProofRules, Selector,
    Severity, TextPattern, TrajectoryMode, Unproven, ValueTest, Which,
};
pub use cuecard_trace::import::{CAPABILITIES, Fixture, TranscriptFormat};
pub use test_case::{
    DEFAULT_CASE_TIMEOUT, ExpectedOutcome, TestCase, TestContext, TestTools, ToolPattern,
    TraceInput, Trigger,
};
