//! What assertions count or look up, made to be one too many or another.

use super::Mutant;
use super::changes::Maker;
use super::edits::alter_leaves;
use super::forbidden::{MOST_CALLS, before_answer};
use crate::document::document;
use crate::model::AssertionCheck;
use cuecard_source::value::{Json, split_pointer};
use cuecard_trace::{ErrorHappened, Event, EventData, Trace};

impl Maker<'_> {
    /// Takes one more than each limit allows.
    pub(super) fn exceed_limits(&self, take: &mut impl FnMut(Mutant)) {
        for assertion in self.watchers.iter().copied() {
            let mut trace = self.trace.clone();
            let Some(end) = trace.end.as_mut() else {
                continue;
            };
            let change = match &assertion.check {
                AssertionCheck::MaxDurationMs { limit } => {
                    end.metrics.timing_ms_total = limit + 1.0;
                    format!("the run took {} ms", limit + 1.0)
                }
                AssertionCheck::MaxTokens { limit } => {
                    let tokens = limit.saturating_add(1);
                    end.metrics.token_usage = Some(tokens);
                    format!("{tokens} tokens were used")
                }
                AssertionCheck::MaxErrors { limit } => {
                    let count = usize::try_from(*limit).unwrap_or(usize::MAX);
                    if count >= MOST_CALLS {
                        continue;
                    }
                    let at = before_answer(&trace);
                    let ts = trace.events.last().map(|event| event.ts);
                    let errors = (0..=count).map(|number| {
                        let error = ErrorHappened {
                            scope: "runtime".to_owned(),
                            tool: None,
                            call_id: None,
                            error_type: "one_too_many".to_owned(),
                            message: "something failed".to_owned(),
                            retryable: false,
                        };
                        let data = EventData::ErrorHappened(error);
                        let mut event = Event::live(0, ts.unwrap_or_default(), data);
                        event.event_id = format!("error-{number}");
                        event
                    });
                    trace.events.splice(at..at, errors);
                    format!("{} more errors happened", count + 1)
                }
                _ => continue,
            };
            self.of(assertion).give(change, None, trace, take);
        }
    }

    /// Changes what each path means, or takes it away where its value doesn't matter.
    pub(super) fn alter_values(&self, take: &mut impl FnMut(Mutant)) {
        for assertion in self.watchers.iter().copied() {
            let AssertionCheck::JsonPath { path, equals, .. } = &assertion.check else {
                continue;
            };
            let mut changed = document(self.trace);
            let located = path.query_located(&changed);
            let mut pointers: Vec<String> = located
                .locations()
                .map(serde_json_path::NormalizedPath::to_json_pointer)
                .collect();
            // From the last to the first, so that places stay what they are.
            pointers.sort_by(|one, other| place_of(other).cmp(&place_of(one)));
            pointers.dedup();
            let mut is_changed = false;
            for pointer in &pointers {
                is_changed |= match equals {
                    Some(_) => changed
                        .pointer_mut(pointer)
                        .is_some_and(|value| alter_leaves(value, 0)),
                    None => remove(&mut changed, pointer),
                };
            }
            let what = match equals {
                Some(_) => "has another value",
                None => "is missing",
            };
            // What is no trace any more is none that could be judged.
            let trace = is_changed.then(|| Trace::read(changed.to_string().as_bytes()).ok());
            if let Some(Some(trace)) = trace {
                let change = format!("`{path}` {what}");
                self.of(assertion).give(change, None, trace, take);
            }
        }
    }
}

/// The parts of a pointer, with places in lists as numbers.
fn place_of(pointer: &str) -> Vec<(Option<usize>, &str)> {
    let parts = pointer.split('/').skip(1);
    parts.map(|part| (part.parse().ok(), part)).collect()
}

/// Takes a value out of the list or object that it stands in.
fn remove(document: &mut Json, pointer: &str) -> bool {
    let Some((parent, name)) = split_pointer(pointer) else {
        return false;
    };
    match document.pointer_mut(parent) {
        Some(Json::Object(members)) => members.remove(&name).is_some(),
        Some(Json::Array(items)) => match name.parse::<usize>() {
            Ok(at) if at < items.len() => {
                items.remove(at);
                true
            }
            _ => false,
        },
        _ => false,
    }
}
