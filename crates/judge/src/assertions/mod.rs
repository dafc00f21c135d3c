//! The types of assertions, a file for each family. The struct of a type is its definition: its fields are the keys of
//! `params`, its comments are their meaning, and [`Assert`] is everything that it does.

pub mod parts;

pub mod citations;
pub mod combined;
pub mod command;
pub mod format;
pub mod graceful;
pub mod grounded;
pub mod limits;
pub mod memory;
pub mod order;
pub mod output;
pub mod player_checks;
pub mod questions;
pub mod recovery;
pub mod results;
pub mod scheduled_tasks;
pub mod snapshot;
pub mod tools;
pub mod trajectory;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Finding;
use crate::mutate::Mutation;
use crate::test_case::{Params, read_params};
use crate::view::View;
use cuecard_source::Span;
use cuecard_source::value::Json;
use cuecard_trace::Trace;
use parts::{TextPattern, ToolPattern};

/// A type of assertion.
pub(crate) trait Assert: DeserializeOwned + JsonSchema + Into<AssertionCheck> {
    /// `type`.
    const TYPE: &'static str;
    /// Capabilities that a trace must have, whatever the test case says.
    const NEEDS: &'static [&'static str] = &[];

    /// Reports parameters that don't fit together, or with which it would always or never hold.
    fn check(&mut self, params: &mut Params<'_, '_>);

    /// Judges a trace.
    fn judge(&self, view: &View<'_>) -> Finding;

    /// Returns whether it should notice such a change.
    fn watches(&self, mutation: Mutation) -> bool;

    /// Returns the tools whose calls it looks at, or `None` if it looks at all of them.
    fn tools(&self) -> Option<Vec<&ToolPattern>> {
        None
    }

    /// Makes the changes of a kind that depend on its parameters.
    fn break_trace(&self, _mutation: Mutation, _trace: &Trace, _take: &mut Take<'_>) {}

    /// Returns the patterns that [`Assert::break_trace`] can't meet, since it knows no text that they match.
    fn unmet(&self) -> Vec<&TextPattern> {
        Vec::new()
    }

    /// Returns the assertions that it is around.
    fn parts(&self) -> &[Assertion] {
        &[]
    }

    /// Returns the same to be changed.
    fn parts_mut(&mut self) -> &mut [Assertion] {
        &mut []
    }
}

/// What a reader and a schema need to know of a type.
#[derive(Debug)]
pub(crate) struct Kind {
    /// `type`.
    pub(crate) name: &'static str,
    /// Capabilities that a trace must have.
    pub(crate) needs: &'static [&'static str],
    /// Reads and checks the parameters.
    pub(crate) read: fn(&mut Params<'_, '_>) -> Option<AssertionCheck>,
    /// Returns the schema of the parameters.
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
}

impl Kind {
    pub(crate) fn of_name(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|kind| kind.name == name)
    }

    const fn of<A: Assert>() -> Self {
        Self {
            name: A::TYPE,
            needs: A::NEEDS,
            read: |params| read_params::<A>(params).map(Into::into),
            schema: A::json_schema,
        }
    }
}

/// Takes a changed trace, with the change in words and the id of the first event that was changed.
pub(crate) type Take<'t> = dyn FnMut(String, Option<String>, Trace) + 't;

/// What traces without tool calls lack.
pub(crate) const TOOL_TRACE: &[&str] = &["supports_tool_trace"];

macro_rules! assertions {
    ($($family:ident::$name:ident,)*) => {
        /// `type` and `params` of an assertion.
        #[derive(Debug, Clone)]
        pub enum AssertionCheck {
            $(#[allow(missing_docs)] $name($family::$name),)*
        }

        $(impl From<$family::$name> for AssertionCheck {
            fn from(check: $family::$name) -> Self {
                Self::$name(check)
            }
        })*

        impl Kind {
            /// All types.
            pub(crate) const ALL: &'static [Self] = &[$(Self::of::<$family::$name>(),)*];
        }

        impl AssertionCheck {
            /// Every type as it is written.
            pub const TYPES: &'static [&'static str] = &[$($family::$name::TYPE,)*];

            /// The type as it is written.
            pub fn type_name(&self) -> &'static str {
                match self { $(Self::$name(_) => $family::$name::TYPE,)* }
            }

            pub(crate) fn judge(&self, view: &View<'_>) -> Finding {
                match self { $(Self::$name(check) => check.judge(view),)* }
            }

            pub(crate) fn watches(&self, mutation: Mutation) -> bool {
                match self { $(Self::$name(check) => check.watches(mutation),)* }
            }

            pub(crate) fn tools(&self) -> Option<Vec<&ToolPattern>> {
                match self { $(Self::$name(check) => check.tools(),)* }
            }

            pub(crate) fn break_trace(&self, mutation: Mutation, trace: &Trace, take: &mut Take<'_>) {
                match self { $(Self::$name(check) => check.break_trace(mutation, trace, take),)* }
            }

            pub(crate) fn unmet(&self) -> Vec<&TextPattern> {
                match self { $(Self::$name(check) => check.unmet(),)* }
            }

            /// The assertions that it is around.
            pub fn parts(&self) -> &[Assertion] {
                match self { $(Self::$name(check) => check.parts(),)* }
            }

            fn parts_mut(&mut self) -> &mut [Assertion] {
                match self { $(Self::$name(check) => check.parts_mut(),)* }
            }
        }
    };
}

assertions! {
    tools::MustCallTool,
    tools::MustNotCallTool,
    order::ToolCallOrder,
    tools::ToolArgsMatch,
    tools::MaxToolCalls,
    order::StopAfterSuccess,
    output::OutputContains,
    output::OutputOmits,
    format::OutputMatchesFormat,
    questions::AskClarifyingWhenAmbiguous,
    grounded::ClaimsSupportedByFixtures,
    citations::NoFabricatedSourceOrCitation,
    memory::MemoryRecallSameGroup,
    memory::MemoryUpdateOnCorrection,
    memory::NoCrossGroupMemoryUse,
    recovery::RetryPolicyRespected,
    graceful::GracefulFailureOutput,
    scheduled_tasks::SchedulerTaskRuns,
    scheduled_tasks::SchedulerOutboundCount,
    trajectory::Trajectory,
    results::ToolResultMatches,
    results::JsonPath,
    snapshot::TraceSnapshot,
    limits::MaxDurationMs,
    limits::MaxTokens,
    limits::MaxErrors,
    player_checks::File,
    player_checks::Git,
    player_checks::ExitCode,
    player_checks::Screen,
    command::Command,
    combined::AnyOf,
    combined::AllOf,
    combined::Not,
}

impl AssertionCheck {
    /// Whether it forbids calls, and must know which tools there are to say that one is unknown.
    pub fn forbids_calls(&self) -> bool {
        self.watches(Mutation::CallForbidden)
            || self.parts().iter().any(|part| part.check.forbids_calls())
    }
}

impl Assertion {
    /// The assertion and all that it is around.
    pub fn each(&self) -> impl Iterator<Item = &Self> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let next = open.pop()?;
            open.extend(next.check.parts().iter().rev());
            Some(next)
        })
    }

    /// Changes the assertion and all that it is around.
    pub(crate) fn change(&mut self, how: &impl Fn(&mut AssertionCheck)) {
        how(&mut self.check);
        for part in self.check.parts_mut() {
            part.change(how);
        }
    }
}

/// An entry of `assertions`.
#[derive(Debug, Clone)]
pub struct Assertion {
    /// `id`, unique in its test case.
    pub id: String,
    /// `severity`.
    pub severity: Severity,
    /// `requires_capabilities`, and those that the type needs anyway.
    pub requires_capabilities: Vec<String>,
    /// `type` and `params`.
    pub check: AssertionCheck,
    /// `params` as written, for the result.
    pub params: Json,
    /// Where it stands.
    pub span: Span,
}

/// `severity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Severity {
    /// A failure fails the test.
    #[default]
    Critical,
    /// A failure is a warning.
    Warning,
}

impl Severity {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
        }
    }
}
