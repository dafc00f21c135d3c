//! Assertions on failures and scheduled tasks.

use super::{Kind, Params, TOOL_TRACE, values};
use crate::model::{AssertionCheck, ToolPattern};
use crate::test_case::fields::{COUNT, FLAG, TEXTS};
use cuecard_source::reader::Reader;
use cuecard_source::value::fields::{TEXT, field, required};

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "retry_policy_respected",
        meaning: "Failed calls are repeated as allowed.",
        params: &[
            required("tool", TEXT, "The tool; a glob is allowed."),
            required("max_retries", COUNT, "The most retries in a row."),
            field(
                "retry_on_error_types",
                TEXTS,
                "Errors after which a retry is allowed (default: every one).",
            ),
            field("min_backoff_ms", COUNT, "The shortest wait before a retry."),
        ],
        capabilities: TOOL_TRACE,
        read: retry_policy,
    },
    Kind {
        name: "graceful_failure_output",
        meaning: "The output admits a failure.",
        params: &[
            field("allowed_failure_phrases", TEXTS, "Texts that admit it."),
            field(
                "must_not_claim_success",
                FLAG,
                "Whether a claim of success fails (default: true).",
            ),
            field(
                "forbidden_success_phrases",
                TEXTS,
                "Texts that claim success.",
            ),
        ],
        capabilities: &[],
        read: graceful_failure,
    },
    Kind {
        name: "scheduler_task_runs",
        meaning: "A scheduled task ran.",
        params: &[
            field("task_id", TEXT, "The task (default: the scenario's)."),
            field(
                "trigger_must_equal",
                r#"{"enum": ["scheduler", "user_message"]}"#,
                "What must have made the agent act (default: scheduler).",
            ),
        ],
        capabilities: &[],
        read: task_runs,
    },
    Kind {
        name: "scheduler_outbound_count",
        meaning: "A scheduled task sent so many messages.",
        params: &[
            field(
                "tool",
                TEXT,
                "The tool that sends (default: outbound_send).",
            ),
            field("exact", COUNT, "The number of messages."),
            field("min", COUNT, "The fewest messages."),
            field("max", COUNT, "The most messages."),
            field(
                "dedupe_by",
                TEXT,
                "The dotted key of the arguments that makes two messages the same.",
            ),
        ],
        capabilities: TOOL_TRACE,
        read: outbound_count,
    },
];

fn retry_policy(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let tool = params.tool(reader);
    params.need(reader, "max_retries", "max_retries: 2");
    let max_retries = values::count(reader, params.object, "max_retries");
    let retry_on_error_types = values::texts(reader, params.object, "retry_on_error_types");
    let min_backoff_ms = values::count(reader, params.object, "min_backoff_ms");
    Some(AssertionCheck::RetryPolicyRespected {
        tool: tool?,
        max_retries: max_retries?,
        retry_on_error_types,
        min_backoff_ms,
    })
}

fn graceful_failure(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let object = params.object;
    let allowed_failure_phrases = values::texts(reader, object, "allowed_failure_phrases");
    let must_not = reader.flag(object, "must_not_claim_success", "`must_not_claim_success`");
    let forbidden_success_phrases = values::texts(reader, object, "forbidden_success_phrases");
    if must_not == Some(false) && !forbidden_success_phrases.is_empty() {
        let message =
            "`forbidden_success_phrases` forbids what `must_not_claim_success: false` allows";
        params.conflict(
            reader,
            "forbidden_success_phrases",
            message,
            "remove one of them",
        );
    }
    Some(AssertionCheck::GracefulFailureOutput {
        allowed_failure_phrases,
        must_not_claim_success: must_not.unwrap_or(true),
        forbidden_success_phrases,
    })
}

const TRIGGERS: &[(&str, &str)] = &[("scheduler", "scheduler"), ("user_message", "user_message")];

fn task_runs(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let task_id = values::text(reader, params.object, "task_id");
    let key = "trigger_must_equal";
    let trigger = reader.one_of(params.object, key, "`trigger_must_equal`", TRIGGERS);
    Some(AssertionCheck::SchedulerTaskRuns {
        task_id,
        trigger_must_equal: trigger.unwrap_or("scheduler").to_owned(),
    })
}

fn outbound_count(reader: &mut Reader<'_>, params: Params<'_>) -> Option<AssertionCheck> {
    let object = params.object;
    let tool = match reader.get(object, "tool") {
        Some(_) => values::tool(reader, object, "tool"),
        None => ToolPattern::new("outbound_send").ok(),
    };
    let exact = values::count(reader, object, "exact");
    let (min, max) = (
        values::count(reader, object, "min"),
        values::count(reader, object, "max"),
    );
    params.ordered(reader, ("min", min), ("max", max));
    params.exact_alone(reader, "exact", &["min", "max"]);
    let dedupe_by = values::text(reader, object, "dedupe_by");
    let keys = ["exact", "min", "max", "dedupe_by"];
    if !keys.iter().any(|key| params.has(reader, key)) {
        let message = "no message count is given";
        params.conflict(
            reader,
            "",
            message,
            "add `exact`, `min`, `max` or `dedupe_by`",
        );
    }
    Some(AssertionCheck::SchedulerOutboundCount {
        tool: tool?,
        exact,
        min,
        max,
        dedupe_by,
    })
}
