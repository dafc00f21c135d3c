//! The calls that a test case's `tools` does not provide for: warnings of their own.

use serde_json::json;

use super::view::{Call, View};
use super::words::{as_count, brief, count_of, quoted};
use super::{MOST_REFS, Outcome, OutcomeStatus};
use crate::model::ToolPattern;
use cuecard_source::diagnostic::did_you_mean;
use cuecard_source::value::Json;

/// One warning for each part of `tools.available` and `tools.policy` that the calls don't keep to.
pub(super) fn warnings(view: &View<'_>) -> Vec<Outcome> {
    let tools = &view.case.tools;
    let mut warnings = Vec::new();
    if let Some(available) = &tools.available {
        let patterns: Vec<ToolPattern> = available
            .iter()
            .filter_map(|name| ToolPattern::new(name).ok())
            .collect();
        let outside = calls_where(view, |call| !patterns.iter().any(|tool| call.is_of(tool)));
        if let Some(first) = outside.first() {
            let help = match did_you_mean(&first.data.tool, available.iter().map(String::as_str)) {
                Some(name) => format!("did you mean `{name}` in `tools.available`?"),
                None if available.is_empty() => "`tools.available` lists no tool".to_owned(),
                None => format!(
                    "available tools: {}",
                    quoted(available.iter().map(String::as_str))
                ),
            };
            let count = outside.len();
            let message = format!(
                "{} of tools that are not available: {}",
                count_of(as_count(count), "call"),
                names(&outside)
            );
            warnings.push(warning(
                "tools.available",
                message,
                help,
                json!(available),
                count,
                &outside,
            ));
        }
    }
    let forbidden = calls_where(view, |call| {
        let native = call.data.native_tool.as_deref();
        let is_in = |tool: &ToolPattern| {
            let is_it = |name: &str| name.eq_ignore_ascii_case(tool.text());
            call.is_of(tool) || is_it(&call.data.tool) || native.is_some_and(is_it)
        };
        tools.forbidden.iter().any(is_in)
    });
    if let Some(first) = forbidden.first() {
        let count = forbidden.len();
        let message = format!(
            "{} of forbidden tools: {}",
            count_of(as_count(count), "call"),
            names(&forbidden)
        );
        let help = format!(
            "the first is event {} with {}",
            first.event.seq,
            brief(&first.data.args)
        );
        let params: Vec<&str> = tools.forbidden.iter().map(ToolPattern::text).collect();
        warnings.push(warning(
            "tools.policy.forbidden",
            message,
            help,
            json!(params),
            count,
            &forbidden,
        ));
    }
    if let Some(max) = tools.max_calls {
        let total = view.calls().len();
        let count = as_count(total);
        if count > max {
            let all = calls_where(view, |_| true);
            warnings.push(warning(
                "tools.policy.max_calls",
                format!("{}, at most {max} allowed", count_of(count, "tool call")),
                format!("called tools: {}", names(&all)),
                json!(max),
                total,
                &all,
            ));
        }
    }
    warnings
}

fn calls_where<'v, 'a>(
    view: &'v View<'a>,
    is_meant: impl Fn(&Call<'_>) -> bool,
) -> Vec<&'v Call<'a>> {
    view.calls().iter().filter(|call| is_meant(call)).collect()
}

/// The tools called, each once.
fn names(calls: &[&Call<'_>]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for call in calls {
        if names.len() < 50 && !names.contains(&&*call.data.tool) {
            names.push(&call.data.tool);
        }
    }
    quoted(names)
}

fn warning(
    id: &str,
    message: String,
    help: String,
    params: Json,
    count: usize,
    calls: &[&Call<'_>],
) -> Outcome {
    Outcome {
        help: Some(help),
        params,
        observed: json!({"calls": count}),
        event_refs: calls
            .iter()
            .take(MOST_REFS)
            .map(|call| call.id().to_owned())
            .collect(),
        ..Outcome::of_run(id, id, OutcomeStatus::Warn, message)
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::samples::{Events, case, tool};
    use super::*;
    use crate::model::Severity;

    fn told(change: impl Fn(&mut crate::model::TestTools)) -> Vec<(String, String)> {
        let trace = Events::new()
            .call("web_search", "c1", json!({"q": 1}))
            .call("web_fetch", "c2", json!({}))
            .call("web_fetch", "c3", json!({}))
            .trace();
        let mut case = case();
        change(&mut case.tools);
        let outcomes = judge(&case, &trace);
        for outcome in &outcomes {
            assert_eq!(outcome.status, OutcomeStatus::Warn);
            assert_eq!(outcome.severity, Severity::Warning);
        }
        outcomes
            .into_iter()
            .map(|outcome| (outcome.id, outcome.message))
            .collect()
    }

    #[test]
    fn calls_outside_what_is_provided_are_warnings() {
        assert_eq!(told(|_| {}), []);
        assert_eq!(
            told(|tools| tools.available = Some(vec!["web_*".into()])),
            []
        );
        let one = |id: &str, message: &str| vec![(id.to_owned(), message.to_owned())];
        assert_eq!(
            told(|tools| tools.available = Some(vec!["web_search".into()])),
            one(
                "tools.available",
                "2 calls of tools that are not available: `web_fetch`"
            )
        );
        assert_eq!(
            told(|tools| tools.available = Some(Vec::new())),
            one(
                "tools.available",
                "3 calls of tools that are not available: `web_search`, `web_fetch`"
            )
        );
        assert_eq!(
            told(|tools| tools.forbidden = vec![tool("*_search")]),
            one(
                "tools.policy.forbidden",
                "1 call of forbidden tools: `web_search`"
            )
        );
        assert_eq!(
            told(|tools| tools.forbidden = vec![tool("Web_Search")]).len(),
            1
        );
        assert_eq!(
            told(|tools| tools.max_calls = Some(2)),
            one("tools.policy.max_calls", "3 tool calls, at most 2 allowed")
        );
        assert_eq!(told(|tools| tools.max_calls = Some(3)), []);
    }
}
