//! Groundedness, memory, recovery and scheduler: which function judges which type.

use super::{
    Finding, Verdict, View, citations, graceful, grounded, memory, recovery, scheduled_tasks,
};
use crate::model::AssertionCheck;

/// What is found of a type of these families; the others are not looked at here.
pub(super) fn find(check: &AssertionCheck, view: &View<'_>) -> Finding {
    match check {
        AssertionCheck::ClaimsSupportedByFixtures {
            allowed_sources,
            proof,
        } => grounded::supported(view, allowed_sources, proof),
        AssertionCheck::NoFabricatedSourceOrCitation {
            allowed_sources,
            citation_patterns,
        } => citations::real(view, allowed_sources, citation_patterns),
        AssertionCheck::MemoryRecallSameGroup {
            group_id,
            expected_memory_fact,
            output_patterns,
            require_event,
        } => memory::recalled(
            view,
            group_id.as_deref(),
            expected_memory_fact,
            output_patterns,
            *require_event,
        ),
        AssertionCheck::MemoryUpdateOnCorrection {
            group_id,
            corrected_fact,
            stale_fact,
        } => memory::updated(
            view,
            group_id.as_deref(),
            corrected_fact,
            stale_fact.as_deref(),
        ),
        AssertionCheck::NoCrossGroupMemoryUse {
            current_group_id,
            forbidden_group_ids,
            canaries,
            require_event_level_proof,
        } => memory::kept_apart(
            view,
            current_group_id.as_deref(),
            forbidden_group_ids,
            canaries,
            *require_event_level_proof,
        ),
        AssertionCheck::RetryPolicyRespected {
            tool,
            max_retries,
            retry_on_error_types,
            min_backoff_ms,
        } => recovery::retried_as_allowed(
            view,
            tool,
            *max_retries,
            retry_on_error_types,
            *min_backoff_ms,
        ),
        AssertionCheck::GracefulFailureOutput {
            allowed_failure_phrases,
            must_not_claim_success,
            forbidden_success_phrases,
        } => graceful::failed_gracefully(
            view,
            allowed_failure_phrases,
            *must_not_claim_success,
            forbidden_success_phrases,
        ),
        AssertionCheck::SchedulerTaskRuns {
            task_id,
            trigger_must_equal,
        } => scheduled_tasks::task_ran(view, task_id.as_deref(), trigger_must_equal),
        AssertionCheck::SchedulerOutboundCount {
            tool,
            exact,
            min,
            max,
            dedupe_by,
        } => scheduled_tasks::sent(view, tool, *exact, *min, *max, dedupe_by.as_deref()),
        _ => Finding::new(Verdict::Skipped, "this type is judged elsewhere"),
    }
}
