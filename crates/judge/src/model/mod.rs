//! What a test case asks.

mod test_case;

pub use crate::assertions::grounded::Unproven;
pub use crate::assertions::parts::ToolPattern;
pub use crate::assertions::{Assertion, AssertionCheck, Severity};
pub use cuecard_trace::import::{CAPABILITIES, TranscriptFormat};
pub use test_case::{
    DEFAULT_CASE_TIMEOUT, ExpectedOutcome, TestCase, TestContext, TestTools, ToolPolicy,
    TraceInput, Trigger,
};
