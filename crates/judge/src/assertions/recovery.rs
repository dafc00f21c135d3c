//! `retry_policy_respected`.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::parts::{Texts, ToolPattern};
use super::{Assert, TOOL_TRACE};
use crate::mutate::Mutation;
use crate::test_case::Params;
use crate::view::names_tool;
use crate::words::first_faults;
use crate::{Finding, Verdict, View};
use cuecard_source::value::Json;
use cuecard_trace::{Event, EventData, ToolCall, ToolResult};

/// Failed calls are repeated as allowed.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct RetryPolicyRespected {
    /// The tool; a glob is allowed.
    pub tool: ToolPattern,
    /// The most retries in a row.
    pub max_retries: u64,
    /// Errors after which a retry is allowed (default: every one).
    #[serde(default)]
    pub retry_on_error_types: Texts,
    /// The shortest wait before a retry.
    pub min_backoff_ms: Option<u64>,
}

impl Assert for RetryPolicyRespected {
    const TYPE: &'static str = "retry_policy_respected";
    const NEEDS: &'static [&'static str] = TOOL_TRACE;

    fn check(&mut self, _: &mut Params<'_, '_>) {}

    /// A chain begins with a failed call and goes on with calls of the same tool and the same arguments; a success ends it.
    fn judge(&self, view: &View<'_>) -> Finding {
        let Self {
            tool,
            max_retries,
            retry_on_error_types: allowed_types,
            min_backoff_ms,
        } = self;
        let (max_retries, min_backoff_ms) = (*max_retries, *min_backoff_ms);
        let mut run = Run::default();
        for (position, event) in view.events().enumerate() {
            match &event.data {
                EventData::ToolCall(call) if names_tool(tool, call) => run.called(event, call),
                EventData::ToolResult(result) if view.is_result_of(position, result, tool) => {
                    run.answered(event, result);
                }
                EventData::ErrorHappened(error) => {
                    let is_of_tool = error.tool.as_deref().is_some_and(|name| tool.matches(name));
                    let of_call = error
                        .call_id
                        .as_deref()
                        .and_then(|id| run.by_id.get(id).copied());
                    let at = of_call.or_else(|| is_of_tool.then(|| run.last_open()).flatten());
                    if let Some(at) = at {
                        run.failed(at, event, &error.error_type);
                    } else if is_of_tool {
                        run.loose_errors += 1;
                    }
                }
                _ => {}
            }
        }
        let allows = |kind: &str| {
            allowed_types.is_empty()
                || allowed_types
                    .iter()
                    .any(|allowed| allowed.eq_ignore_ascii_case(kind))
        };
        let name = tool.text();
        let mut faults: Vec<(String, &str)> = Vec::new();
        let mut most = 0_u64;
        let mut retries = 0_u64;
        // Whether somebody asks for a time that nobody measured.
        let mut unmeasured = false;
        for call in &run.calls {
            let Some(before) = call.repeats.map(|before| &run.calls[before]) else {
                continue;
            };
            let id = call.event.event_id.as_str();
            retries += 1;
            most = most.max(call.retry);
            let retry = call.retry;
            // Each chain is told once, where it goes too far.
            if retry == max_retries.saturating_add(1) {
                faults.push((
                    format!("retry {retry} of `{name}` at {id}, at most {max_retries} allowed"),
                    id,
                ));
            }
            match &before.state_at(call) {
                StateThen::Open => faults.push((
                    format!(
                        "`{name}` was called again at {id} before {} had failed",
                        before.event.event_id
                    ),
                    id,
                )),
                StateThen::Failed(kind) if !allows(kind) => {
                    let kind = if kind.is_empty() { "unknown" } else { kind };
                    faults.push((
                    format!(
                        "`{name}` was retried at {id} after an error of type `{kind}`; allowed: {}",
                        allowed_types.join(", ")
                    ),
                    id,
                ));
                }
                StateThen::Failed(_) => {
                    let measured = before.failure.as_ref().filter(|failure| {
                        !call.event.ts_synthesized && !failure.event.ts_synthesized
                    });
                    unmeasured |= measured.is_none() && min_backoff_ms.is_some();
                    let waited = measured.map(|failure| {
                        call.event.ts.as_millisecond() - failure.event.ts.as_millisecond()
                    });
                    let least =
                        min_backoff_ms.map(|least| i64::try_from(least).unwrap_or(i64::MAX));
                    if let (Some(waited), Some(least)) = (waited, least)
                        && waited < least
                    {
                        faults.push((format!("`{name}` was retried at {id} after {waited} ms, at least {least} ms expected"), id));
                    }
                }
            }
        }
        let errors = run
            .calls
            .iter()
            .filter(|call| call.failure.is_some())
            .count()
            + run.loose_errors;
        let observed = json!({
            "calls": run.calls.len(),
            "errors": errors,
            "retries": retries,
            "most_retries_in_a_row": most,
            "error_types": run.error_types(),
        });
        let events_of = |calls: &[Call<'_>]| -> Vec<String> {
            calls
                .iter()
                .filter(|call| call.failure.is_some() || call.repeats.is_some())
                .flat_map(|call| {
                    let failure = call
                        .failure
                        .as_ref()
                        .map(|failure| failure.event.event_id.clone());
                    std::iter::once(call.event.event_id.clone()).chain(failure)
                })
                .collect()
        };
        if !faults.is_empty() {
            let message = first_faults(faults.iter().map(|(fault, _)| &**fault));
            let refs = events_of(&run.calls);
            return Finding::fails(message)
                .observed(observed)
                .refs(refs.iter().map(String::as_str));
        }
        if errors == 0 {
            return Finding::holds(format!("`{name}` had no error to judge"))
                .observed(observed)
                .vacuous();
        }
        let refs = events_of(&run.calls);
        if unmeasured {
            return Finding::new(
            Verdict::Undecided,
            format!(
                "the wait of `{name}` before a retry was not measured: the times are synthesized"
            ),
        )
        .observed(observed)
        .refs(refs.iter().map(String::as_str))
        .help("add `ts` to the steps of the bundle, or remove `min_backoff_ms`");
        }
        Finding::holds(format!(
        "{errors} failed {} of `{name}`, at most {most} retries in a row; {max_retries} allowed",
        if errors == 1 { "call" } else { "calls" }
    ))
    .observed(observed)
    .refs(refs.iter().map(String::as_str))
    }

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::DuplicateCall
    }

    fn tools(&self) -> Option<Vec<&ToolPattern>> {
        Some(vec![&self.tool])
    }
}

#[derive(Default)]
struct Run<'a> {
    calls: Vec<Call<'a>>,
    by_id: HashMap<&'a str, usize>,
    /// The latest call of a tool with these arguments.
    latest: HashMap<(&'a str, String), usize>,
    /// Errors of the tool that belong to no call.
    loose_errors: usize,
}

struct Call<'a> {
    event: &'a Event,
    /// The call that it repeats.
    repeats: Option<usize>,
    /// How many times it was repeated by then, this one included.
    retry: u64,
    failure: Option<Failure<'a>>,
    succeeded: bool,
}

struct Failure<'a> {
    event: &'a Event,
    kind: String,
}

enum StateThen {
    Open,
    Failed(String),
}

impl Call<'_> {
    /// How it stood when `later` was made.
    fn state_at(&self, later: &Call<'_>) -> StateThen {
        match &self.failure {
            Some(failure) if failure.event.seq < later.event.seq => {
                StateThen::Failed(failure.kind.clone())
            }
            _ => StateThen::Open,
        }
    }
}

impl<'a> Run<'a> {
    fn called(&mut self, event: &'a Event, call: &'a ToolCall) {
        let at = self.calls.len();
        let key = (call.tool.as_ref(), same_call_key(&call.args));
        let repeats = self
            .latest
            .insert(key, at)
            .filter(|before| !self.calls[*before].succeeded);
        let retry = repeats.map_or(0, |before| self.calls[before].retry + 1);
        self.calls.push(Call {
            event,
            repeats,
            retry,
            failure: None,
            succeeded: false,
        });
        self.by_id.insert(&call.call_id, at);
    }

    fn answered(&mut self, event: &'a Event, result: &'a ToolResult) {
        let Some(at) = self.by_id.get(result.call_id.as_ref()).copied() else {
            return;
        };
        if result.success {
            self.calls[at].succeeded = true;
        } else {
            let error = result.result.get("error").unwrap_or(&result.result);
            let kind = ["error_type", "type", "code"]
                .iter()
                .find_map(|key| error.get(key).and_then(Json::as_str))
                .or_else(|| error.as_str().filter(|text| !text.contains(' ')))
                .unwrap_or_default();
            self.failed(at, event, kind);
        }
    }

    fn failed(&mut self, at: usize, event: &'a Event, kind: &str) {
        match &mut self.calls[at].failure {
            // A failed result and its error are one failure, and the error names the type.
            Some(failure) => {
                if failure.kind.is_empty() || matches!(event.data, EventData::ErrorHappened(_)) {
                    kind.clone_into(&mut failure.kind);
                }
            }
            none => {
                *none = Some(Failure {
                    event,
                    kind: kind.to_owned(),
                });
            }
        }
    }

    /// The latest call without an answer: an error without a `call_id` is of it.
    fn last_open(&self) -> Option<usize> {
        self.calls
            .iter()
            .rposition(|call| call.failure.is_none() && !call.succeeded)
    }

    fn error_types(&self) -> Vec<&str> {
        let mut types: Vec<&str> = self
            .calls
            .iter()
            .filter_map(|call| call.failure.as_ref().map(|failure| failure.kind.as_str()))
            .collect();
        types.sort_unstable();
        types.dedup();
        types
    }
}

/// The arguments without what a retry changes, as one text: neither the order of keys nor how a number is written makes
/// other arguments, and none are no arguments.
fn same_call_key(args: &Json) -> String {
    const CHANGING: &[&str] = &[
        "timeout",
        "attempt",
        "retry",
        "retries",
        "request_id",
        "idempotency_key",
        "nonce",
    ];
    let is_kept = |key: &String| {
        let key = key.to_lowercase();
        !CHANGING.iter().any(|changing| key.starts_with(changing))
    };
    match args {
        Json::Null => sorted(&Json::Object(serde_json::Map::new())).to_string(),
        Json::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| is_kept(key));
            let kept = kept.map(|(key, value)| (key.clone(), value.clone()));
            sorted(&Json::Object(kept.collect())).to_string()
        }
        other => sorted(other).to_string(),
    }
}

/// The same value with its keys in order, and whole numbers written as such.
pub(super) fn sorted(value: &Json) -> Json {
    match value {
        Json::Object(fields) => {
            let in_order: std::collections::BTreeMap<&String, &Json> = fields.iter().collect();
            let fields = in_order
                .into_iter()
                .map(|(key, value)| (key.clone(), sorted(value)));
            Json::Object(fields.collect())
        }
        Json::Array(items) => items.iter().map(sorted).collect(),
        Json::Number(number) => number
            .as_f64()
            .filter(|value| number.is_f64() && value.fract() == 0.0 && value.abs() < 9e15)
            .map_or_else(|| value.clone(), |value| Json::from(value as i64)),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
