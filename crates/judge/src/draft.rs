//! A first test case for a run that was recorded: what can be asserted of it, each with a word on why, as YAML to be
//! edited. What does not hold of the run itself is not in it.

use serde_json::json;

use crate::words::{as_count, count_of};
use crate::{OutcomeStatus, judge, test_case};
use cuecard_source::SourceFile;
use cuecard_source::value::Json;
use cuecard_source::yaml;
use cuecard_trace::{EventData, Trace};

/// More calls are not listed one by one.
const MOST_CALLS: usize = 20;
/// Of limits that differ from run to run: so many times what this run took.
const ROOM: f64 = 2.0;

/// An assertion with a comment.
struct Proposal {
    why: String,
    entry: Json,
}

/// Drafts a test case. `key` and `file` are what `adapter_input` says of the run, `tools` those that its agent had.
pub fn draft(key: &str, file: &str, trace: &Trace, tools: &[String]) -> String {
    let input = json!({"adapter_input": {key: file}});
    let head = yaml::write(&input);
    let holds = |proposal: &Proposal| {
        let assertions = yaml::write(&json!({"assertions": [proposal.entry]}));
        let source = SourceFile::new("draft.test.yaml", format!("{head}{assertions}"));
        let case = test_case::read(&source).case;
        let outcomes = case.map(|case| judge(&case, trace)).unwrap_or_default();
        let holds = |outcome: &crate::Outcome| {
            !outcome.vacuous && matches!(outcome.status, OutcomeStatus::Pass | OutcomeStatus::Warn)
        };
        outcomes.first().is_some_and(holds)
    };
    let n_calls = count_of(as_count(calls(trace).count()), "call");
    let mut text = format!(
        "# A draft from one run ({n_calls}): all of this holds for it. Keep what must hold for every run.\n{head}assertions:\n"
    );
    for proposal in proposals(trace).into_iter().filter(holds) {
        text.push_str(&format!("  # {}\n", proposal.why));
        for line in yaml::write(&json!([proposal.entry])).lines() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    let unused: Vec<&String> = tools
        .iter()
        .filter(|tool| !calls(trace).any(|called| called == tool.as_str()))
        .take(MOST_CALLS)
        .collect();
    if !unused.is_empty() {
        text.push_str("  # The agent had these and did not call them. Forbid those that it must never call:\n");
        for tool in unused {
            let entry = json!([{"type": "must_not_call_tool", "params": {"tool": tool}}]);
            for line in yaml::write(&entry).lines() {
                text.push_str(&format!("  # {line}\n"));
            }
        }
    }
    text
}

fn calls(trace: &Trace) -> impl Iterator<Item = &str> {
    trace.events.iter().filter_map(|event| match &event.data {
        EventData::ToolCall(call) => Some(&*call.tool),
        _ => None,
    })
}

fn proposals(trace: &Trace) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    let mut propose = |why: &str, kind: &str, params: Json| {
        proposals.push(Proposal {
            why: why.to_owned(),
            entry: json!({"type": kind, "params": params}),
        });
    };
    let called: Vec<&str> = calls(trace).collect();
    let mut listed = called.clone();
    listed.dedup();
    match called.is_empty() {
        true => propose(
            "It called no tool.",
            "max_tool_calls",
            json!({"max_total": 0}),
        ),
        false => {
            let listed: Vec<Json> = listed
                .iter()
                .take(MOST_CALLS)
                .map(|tool| json!({"tool": tool}))
                .collect();
            propose(
                "Its calls, in this order; others may stand between them. `any_order` leaves the order open, `exact` allows no other.",
                "trajectory",
                json!({"mode": "in_order", "calls": listed}),
            );
            propose(
                "No more calls than this run made.",
                "max_tool_calls",
                json!({"max_total": called.len()}),
            );
        }
    }
    let errors = trace.events.iter();
    let n_errors = errors
        .filter(|event| matches!(event.data, EventData::ErrorHappened(_)))
        .count();
    propose(
        "Calls that fail, and errors of the model.",
        "max_errors",
        json!({"limit": n_errors}),
    );
    let metrics = trace.end.as_ref().map(|end| &end.metrics);
    if let Some(tokens) = metrics.and_then(|metrics| metrics.token_usage) {
        let limit = (tokens as f64 * ROOM).ceil() as u64;
        propose(
            &format!("It took {tokens} tokens: twice as many are too many."),
            "max_tokens",
            json!({"limit": limit}),
        );
    }
    if n_errors > 0 {
        propose(
            "Something failed: the answer admits it, and claims no success of it.",
            "graceful_failure_output",
            json!({}),
        );
    }
    if !called.is_empty() {
        let mut sources = called;
        sources.sort_unstable();
        sources.dedup();
        propose(
            "Each claim of the answer is in a result of these tools. What can't be proved is a warning.",
            "claims_supported_by_fixtures",
            json!({"allowed_sources": sources}),
        );
        propose(
            "Each source that the answer names is in a result of these tools, or was named by the user.",
            "no_fabricated_source_or_citation",
            json!({"allowed_sources": sources}),
        );
    }
    proposals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Events;

    #[test]
    fn a_draft_holds_for_the_run_it_is_of() {
        let trace = Events::new()
            .user("How many tickets are open?")
            .call("tickets", "c", json!({"state": "open"}))
            .result("tickets", "c", true, json!({"open": 3}))
            .output("There are 3 open tickets.")
            .trace();
        let tools = ["tickets".to_owned(), "delete_ticket".to_owned()];
        let text = draft("trace_file", "run.trace.jsonl", &trace, &tools);
        let read = test_case::read(&SourceFile::new("run.test.yaml", &*text));
        assert!(
            read.diagnostics.is_empty(),
            "{:?}\n{text}",
            read.diagnostics
        );
        let case = read.case.expect("a case");
        assert_eq!(case.id, "run");
        let ids: Vec<&str> = case.assertions.iter().map(|one| &*one.id).collect();
        assert!(
            ids.starts_with(&["trajectory", "max_tool_calls"])
                && ids.contains(&"claims_supported_by_fixtures"),
            "{text}"
        );
        for outcome in judge(&case, &trace) {
            assert_eq!(outcome.status, OutcomeStatus::Pass, "{outcome:?}");
        }
        assert!(text.contains("  # - type: must_not_call_tool\n"), "{text}");
        assert!(
            !text.contains("must_not_call_tool\n  #   params: { tool: tickets }"),
            "{text}"
        );
    }
}
