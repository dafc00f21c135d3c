//! `retry_policy_respected`.

use std::collections::{BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::parts::{Texts, ToolPattern};
use super::{Assert, TOOL_TRACE};
use crate::mutate::Mutation;
use crate::test_case::Params;
use crate::view::Call;
use crate::words::first_faults;
use crate::{Finding, Verdict, View};
use cuecard_source::value::Json;
use cuecard_trace::{Event, EventData};

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
        let (attempts, loose_errors) = attempts(tool, view);
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
        for attempt in &attempts {
            let Some(before) = attempt.repeats.map(|before| &attempts[before]) else {
                continue;
            };
            let event = attempt.call.event;
            let id = event.event_id.as_str();
            retries += 1;
            let retry = attempt.retry;
            most = most.max(retry);
            // Each chain is told once, where it goes too far.
            if retry == max_retries.saturating_add(1) {
                faults.push((
                    format!("retry {retry} of `{name}` at {id}, at most {max_retries} allowed"),
                    id,
                ));
            }
            let failure = before.failure.as_ref();
            match failure.filter(|(failure, _)| failure.seq < event.seq) {
                None => faults.push((
                    format!(
                        "`{name}` was called again at {id} before {} had failed",
                        before.call.id()
                    ),
                    id,
                )),
                Some((_, kind)) if !allows(kind) => {
                    let kind = if kind.is_empty() { "unknown" } else { kind };
                    faults.push((
                    format!(
                        "`{name}` was retried at {id} after an error of type `{kind}`; allowed: {}",
                        allowed_types.join(", ")
                    ),
                    id,
                ));
                }
                Some((failure, _)) => {
                    let is_measured = !event.ts_synthesized && !failure.ts_synthesized;
                    unmeasured |= !is_measured && min_backoff_ms.is_some();
                    let waited = event.ts.as_millisecond() - failure.ts.as_millisecond();
                    let least =
                        min_backoff_ms.map(|least| i64::try_from(least).unwrap_or(i64::MAX));
                    if let Some(least) = least.filter(|least| is_measured && waited < *least) {
                        faults.push((format!("`{name}` was retried at {id} after {waited} ms, at least {least} ms expected"), id));
                    }
                }
            }
        }
        let failures = || {
            attempts
                .iter()
                .filter_map(|attempt| attempt.failure.as_ref())
        };
        let errors = failures().count() + loose_errors;
        let types: BTreeSet<&str> = failures().map(|(_, kind)| kind.as_str()).collect();
        let observed = json!({
            "calls": attempts.len(),
            "errors": errors,
            "retries": retries,
            "most_retries_in_a_row": most,
            "error_types": types,
        });
        let told = attempts
            .iter()
            .filter(|attempt| attempt.failure.is_some() || attempt.repeats.is_some());
        let refs = told.flat_map(|attempt| {
            let failure = attempt
                .failure
                .iter()
                .map(|(event, _)| event.event_id.as_str());
            std::iter::once(attempt.call.id()).chain(failure)
        });
        let refs: Vec<&str> = refs.collect();
        if !faults.is_empty() {
            let message = first_faults(faults.iter().map(|(fault, _)| &**fault));
            return Finding::fails(message).observed(observed).refs(refs);
        }
        if errors == 0 {
            return Finding::holds(format!("`{name}` had no error to judge"))
                .observed(observed)
                .vacuous();
        }
        if unmeasured {
            return Finding::new(
            Verdict::Undecided,
            format!(
                "the wait of `{name}` before a retry was not measured: the times are synthesized"
            ),
        )
        .observed(observed)
        .refs(refs)
        .help("add `ts` to the steps of the bundle, or remove `min_backoff_ms`");
        }
        Finding::holds(format!(
        "{errors} failed {} of `{name}`, at most {most} retries in a row; {max_retries} allowed",
        if errors == 1 { "call" } else { "calls" }
    ))
    .observed(observed)
    .refs(refs)
    }

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::DuplicateCall
    }

    fn tools(&self) -> Option<Vec<&ToolPattern>> {
        Some(vec![&self.tool])
    }
}

/// A call, and what it repeats.
struct Attempt<'v> {
    call: &'v Call<'v>,
    /// The attempt that it repeats.
    repeats: Option<usize>,
    /// How many times it was repeated by then, this one included.
    retry: u64,
    /// The first event that says that it failed, and the type of the error.
    failure: Option<(&'v Event, String)>,
}

/// The calls of a tool in order, and how many errors of it belong to no call.
fn attempts<'v>(tool: &ToolPattern, view: &'v View<'v>) -> (Vec<Attempt<'v>>, usize) {
    let mut attempts: Vec<Attempt<'v>> = Vec::new();
    let mut latest: HashMap<(&str, String), usize> = HashMap::new();
    for call in view.calls_of(tool) {
        let key = (&*call.data.tool, same_call_key(&call.data.args));
        let repeats = latest.insert(key, attempts.len()).filter(|before| {
            let mut results = attempts[*before].call.results.iter();
            !results.any(|(event, result)| result.success && event.seq < call.event.seq)
        });
        attempts.push(Attempt {
            call,
            repeats,
            retry: repeats.map_or(0, |before| attempts[before].retry + 1),
            failure: failure(call),
        });
    }
    let mut n_loose = 0;
    for (position, event) in view.events().enumerate() {
        let EventData::ErrorHappened(error) = &event.data else {
            continue;
        };
        let is_of_tool = error.tool.as_deref().is_some_and(|name| tool.matches(name));
        if !is_of_tool || view.call_at(position).is_some() {
            continue;
        }
        // It is of the latest call without an answer.
        let is_open = |attempt: &Attempt<'_>| {
            let mut results = attempt.call.results.iter();
            attempt.call.position < position
                && attempt.failure.is_none()
                && !results.any(|(result, _)| result.seq < event.seq)
        };
        match attempts.iter().rposition(is_open) {
            Some(at) => attempts[at].failure = Some((event, error.error_type.clone())),
            None => n_loose += 1,
        }
    }
    (attempts, n_loose)
}

/// How a call failed. A failed result and its error are one failure, and the error names the type.
fn failure<'v>(call: &Call<'v>) -> Option<(&'v Event, String)> {
    let failed = call.results.iter().find(|(_, result)| !result.success);
    let error = call.errors.first();
    let events = failed.map(|(event, _)| *event).into_iter();
    let event = events
        .chain(error.map(|(event, _)| *event))
        .min_by_key(|event| event.seq)?;
    let of_result = || {
        let (_, result) = failed?;
        let error = result.result.get("error").unwrap_or(&result.result);
        let mut names = ["error_type", "type", "code"].into_iter();
        let named = names.find_map(|key| error.get(key).and_then(Json::as_str));
        named.or_else(|| error.as_str().filter(|text| !text.contains(' ')))
    };
    let kind = error
        .map(|(_, error)| error.error_type.as_str())
        .or_else(of_result);
    Some((event, kind.unwrap_or_default().to_owned()))
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
