//! Which assertion should notice which change, and of which tools.

use super::Mutation;
use crate::model::{AssertionCheck, Selector, ToolPattern};

/// Whether an assertion of this type should notice such a change somewhere.
pub(super) fn watches(check: &AssertionCheck, mutation: Mutation) -> bool {
    use AssertionCheck as Check;
    use Mutation as M;
    match check {
        Check::MustCallTool { max_calls, .. } => {
            matches!(mutation, M::DropCall | M::RetargetCall)
                || (mutation == M::DuplicateCall && max_calls.is_some())
        }
        Check::ToolCallOrder { .. } => matches!(mutation, M::SwapCalls | M::DropCall),
        Check::ToolArgsMatch { .. } => matches!(mutation, M::AlterArgument | M::DropCall),
        Check::Trajectory { .. } => {
            matches!(mutation, M::DropCall | M::RetargetCall)
        }
        Check::ToolResultMatches { .. } => matches!(mutation, M::DropCall | M::AlterResult),
        Check::MustNotCallTool { .. } => mutation == M::CallForbidden,
        Check::StopAfterSuccess { .. } => matches!(
            mutation,
            M::FlipStatus | M::DuplicateCall | M::CallForbidden
        ),
        Check::MaxToolCalls { .. } => matches!(mutation, M::DuplicateCall | M::CallForbidden),
        Check::RetryPolicyRespected { .. } => mutation == M::DuplicateCall,
        Check::MaxErrors { limit: 0 } => matches!(mutation, M::FlipStatus | M::ExceedLimit),
        Check::MaxErrors { .. } | Check::MaxDurationMs { .. } | Check::MaxTokens { .. } => {
            mutation == M::ExceedLimit
        }
        Check::JsonPath { .. } => mutation == M::AlterValue,
        Check::SchedulerOutboundCount { exact, max, .. } => {
            matches!(mutation, M::DropCall | M::FlipStatus)
                || (mutation == M::DuplicateCall && (exact.is_some() || max.is_some()))
        }
        Check::OutputContains { .. } | Check::OutputMatchesFormat { .. } => {
            mutation == M::DropOutput
        }
        Check::AskClarifyingWhenAmbiguous {
            forbidden_tools, ..
        } => {
            mutation == M::DropOutput
                || (mutation == M::CallForbidden && !forbidden_tools.is_empty())
        }
        Check::OutputOmits { .. } => mutation == M::SayForbidden,
        Check::ClaimsSupportedByFixtures { .. } => matches!(
            mutation,
            M::InventNumber
                | M::InventUrl
                | M::OtherUnit
                | M::NegateClaim
                | M::SwapValues
                | M::DropOutput
        ),
        Check::NoFabricatedSourceOrCitation { .. } => {
            matches!(mutation, M::InventUrl | M::InventCitation)
        }
        Check::NoCrossGroupMemoryUse { .. } => mutation == M::LeakMemory,
        Check::MemoryRecallSameGroup { require_event, .. } => {
            mutation == M::DropOutput || (mutation == M::DropMemory && *require_event)
        }
        Check::MemoryUpdateOnCorrection { stale_fact, .. } => {
            mutation == M::DropMemory || (mutation == M::RepeatStale && stale_fact.is_some())
        }
        Check::SchedulerTaskRuns { .. } => mutation == M::OtherTrigger,
        Check::GracefulFailureOutput {
            must_not_claim_success,
            ..
        } => {
            mutation == M::DropOutput
                || (matches!(mutation, M::ClaimSuccess | M::SayForbidden)
                    && *must_not_claim_success)
        }
        Check::TraceSnapshot { .. } => matches!(
            mutation,
            M::DropCall
                | M::DuplicateCall
                | M::RetargetCall
                | M::AlterArgument
                | M::AlterResult
                | M::FlipStatus
        ),
        _ => false,
    }
}

/// The tools whose calls an assertion looks at; nothing if it looks at all of them.
pub(super) fn tools_of(check: &AssertionCheck) -> Option<Vec<&ToolPattern>> {
    use AssertionCheck as Check;
    let of_selectors =
        |selectors: &[&'_ Selector]| selectors.iter().all(|selector| selector.tool.is_some());
    match check {
        Check::MustCallTool { tool, .. }
        | Check::ToolArgsMatch { tool, .. }
        | Check::ToolResultMatches { tool, .. }
        | Check::RetryPolicyRespected { tool, .. }
        | Check::MaxToolCalls {
            tool: Some((tool, _)),
            ..
        }
        | Check::SchedulerOutboundCount { tool, .. } => Some(vec![tool]),
        Check::StopAfterSuccess { success_event, .. } => {
            success_event.tool.as_ref().map(|tool| vec![tool])
        }
        Check::ToolCallOrder { before, after, .. } if of_selectors(&[before, after]) => Some(
            [before, after]
                .into_iter()
                .filter_map(|selector| selector.tool.as_ref())
                .collect(),
        ),
        Check::Trajectory { calls, .. } => Some(calls.iter().map(|call| &call.tool).collect()),
        _ => None,
    }
}
