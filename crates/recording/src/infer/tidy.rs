//! The calls of a session that are steps of its task: without detours, and with each poll as one step.

use cuecard_mcp::result::{failed_navigation, hidden_failure, of_recorded, text_of};
use cuecard_source::matching::likeness;
use cuecard_source::value::cut;
use serde_json::{Value, json};

use super::Note;
use super::targets::FoundTarget;
use super::values::{Weight, weight};
use crate::{Call, Outcome, Recording};

/// A call that is a step.
#[derive(Debug)]
pub(super) struct Kept<'r> {
    pub(super) call: &'r Call,
    /// Its place in the recording, from 1.
    pub(super) number: usize,
    /// The value of its result, as a scenario sees it; null without one.
    pub(super) value: Value,
    /// The text of its result.
    pub(super) text: String,
    /// Why it failed.
    pub(super) failure: Option<String>,
    /// How it is tried again, and what is waited for.
    pub(super) retry: Option<(Value, Option<Value>)>,
    /// The elements that it acts on, in place of what the server knew them by.
    pub(super) targets: Vec<FoundTarget>,
}

impl Kept<'_> {
    /// A remark about the call.
    pub(super) fn note(&self, text: String) -> Note {
        Note {
            call: Some(self.number),
            tool: crate::scenario::tool_name(self.call),
            text,
            ..Note::default()
        }
    }
}

/// What is left of a session.
#[derive(Debug, Default)]
pub(super) struct Tidy<'r> {
    pub(super) kept: Vec<Kept<'r>>,
    pub(super) left_out: Vec<Note>,
    pub(super) questions: Vec<(usize, String)>,
}

/// How much of its arguments a call must share with a failed one to have done its work.
const ALIKE: f32 = 0.5;

/// The longest arguments that are compared, in characters.
const MOST_COMPARED: usize = 2_000;

pub(super) fn tidy(recording: &Recording) -> Tidy<'_> {
    let all: Vec<Kept<'_>> = recording.calls.iter().zip(1..).map(kept).collect();
    let mut tidy = Tidy::default();
    let mut rest: Vec<Kept<'_>> = Vec::new();
    for run in runs(all) {
        rest.extend(as_one(run, recording, &mut tidy));
    }
    while !rest.is_empty() {
        let first = rest.remove(0);
        match (&first.failure, successor(&first, &rest)) {
            (Some(failure), Some(number)) => {
                let text = format!("it failed ({failure}), and call {number} did its work");
                tidy.left_out.push(first.note(text));
            }
            _ => tidy.kept.push(first),
        }
    }
    tidy
}

fn kept((call, number): (&Call, usize)) -> Kept<'_> {
    let mut kept = Kept {
        call,
        number,
        value: Value::Null,
        text: String::new(),
        failure: None,
        retry: None,
        targets: Vec::new(),
    };
    let failure = match &call.outcome {
        Outcome::Error(error) => Some(error.message.clone()),
        Outcome::Missing => Some("no answer came".to_owned()),
        Outcome::BuiltIn(value) => {
            kept.value = value.clone();
            let code = value.get("exit_code").and_then(Value::as_i64);
            code.filter(|code| *code != 0)
                .map(|code| format!("exit code {code}"))
        }
        Outcome::Result(result) => match of_recorded(&call.tool, result) {
            None => Some("the answer breaks the protocol".to_owned()),
            Some((reply, value)) => {
                kept.text = text_of(&reply);
                kept.value = value;
                let hidden = || {
                    let failed = failed_navigation(&call.tool, &kept.text);
                    hidden_failure(&kept.text).or_else(|| failed.map(str::to_owned))
                };
                match reply.is_error {
                    true => Some(kept.text.clone()),
                    false => hidden(),
                }
            }
        },
    };
    kept.failure = failure.map(|text| {
        let line = text.trim().lines().next().unwrap_or("it says nothing");
        cut(line, 160).into_owned()
    });
    kept
}

fn is_same(one: &Kept<'_>, other: &Kept<'_>) -> bool {
    let (one, other) = (one.call, other.call);
    (&one.server, &one.tool, &one.arguments) == (&other.server, &other.tool, &other.arguments)
}

fn is_wait(kept: &Kept<'_>) -> bool {
    kept.call.server.is_none() && kept.call.tool == "sandy__wait"
}

/// Equal calls one after the other, with the waits between them.
fn runs(all: Vec<Kept<'_>>) -> Vec<Vec<Kept<'_>>> {
    let mut runs: Vec<Vec<Kept<'_>>> = Vec::new();
    for kept in all {
        let last = runs.last_mut();
        match last {
            Some(run) if !is_wait(&run[0]) && (is_wait(&kept) || is_same(&run[0], &kept)) => {
                run.push(kept);
            }
            _ => runs.push(vec![kept]),
        }
    }
    runs
}

/// The one call that a poll or a repeated attempt is, or the run as it is.
fn as_one<'r>(mut run: Vec<Kept<'r>>, recording: &Recording, tidy: &mut Tidy<'r>) -> Vec<Kept<'r>> {
    let is_call = |kept: &&Kept<'_>| !is_wait(kept);
    let Some(end) = run.iter().rposition(|kept| !is_wait(kept)) else {
        return run;
    };
    let calls: Vec<&Kept<'_>> = run[..=end].iter().filter(is_call).collect();
    let [before @ .., last] = calls.as_slice() else {
        return run;
    };
    if before.is_empty() || last.failure.is_some() {
        return run;
    }
    let all_failed = before.iter().all(|call| call.failure.is_some());
    let is_poll = before
        .iter()
        .all(|call| call.failure.is_none() && call.value == before[0].value)
        && last.value != before[0].value;
    if !all_failed && !is_poll {
        return run;
    }
    let change = is_poll
        .then(|| change(&before[0].value, &last.value))
        .flatten();
    let is_safe = before.len() > 1 || only_reads(recording, last.call);
    if is_poll && (change.is_none() || !is_safe) {
        let text = format!(
            "calls {} to {} are the same, and the last one got another result: was this a wait? \
             `on_error: retry` with `expect` is one step for it",
            before[0].number, last.number
        );
        tidy.questions.push((last.number, text));
        return run;
    }
    let pause = before[0].call.started.zip(last.call.started);
    let pause = pause.and_then(|(first, last)| last.checked_sub(first));
    let n_before = u32::try_from(before.len()).unwrap_or(u32::MAX);
    let delay = pause.map_or(1_000, |pause| {
        (pause / n_before).as_millis().clamp(500, 30_000)
    });
    let retry = json!({
        "count": before.len().saturating_mul(3).max(10),
        "delay": u64::try_from(delay).unwrap_or(1_000),
        "backoff": "constant",
    });
    for call in before {
        let text = match &call.failure {
            Some(failure) => format!(
                "it failed ({failure}), and call {} tried again",
                last.number
            ),
            None => format!("it waited for what call {} got", last.number),
        };
        tidy.left_out.push(call.note(text));
    }
    let after = run.split_off(end + 1);
    let one = run.pop().map(|last| Kept {
        retry: Some((retry, change)),
        ..last
    });
    one.into_iter().chain(after).collect()
}

/// The check that holds for the second result and not for the first, if one value tells them apart.
fn change(before: &Value, after: &Value) -> Option<Value> {
    let mut changed = Vec::new();
    changes("$".to_owned(), Some(before), after, &mut changed)?;
    let [(path, value)] = changed.as_slice() else {
        return None;
    };
    let is_word = value.is_boolean() || (value.is_string() && weight(value) == Weight::Weak);
    is_word.then(|| json!({ "json_path": path, "equals": value }))
}

fn changes(
    path: String,
    before: Option<&Value>,
    after: &Value,
    changed: &mut Vec<(String, Value)>,
) -> Option<()> {
    if before == Some(after) || changed.len() > 1 {
        return Some(());
    }
    match (before, after) {
        (Some(Value::Object(old)), Value::Object(new)) => {
            new.iter().try_for_each(|(key, value)| {
                let is_plain = key
                    .chars()
                    .all(|letter| letter.is_ascii_alphabetic() || letter == '_');
                is_plain.then_some(())?;
                changes(format!("{path}.{key}"), old.get(key), value, changed)
            })
        }
        (_, Value::Object(_) | Value::Array(_)) => None,
        _ => {
            changed.push((path, after.clone()));
            Some(())
        }
    }
}

/// Whether the server says that a tool changes nothing.
fn only_reads(recording: &Recording, call: &Call) -> bool {
    let tool = tool_of(recording, call);
    tool.and_then(|tool| tool.pointer("/annotations/readOnlyHint")) == Some(&Value::Bool(true))
}

/// The entry of `tools/list` for the tool of a call.
pub(super) fn tool_of<'r>(recording: &'r Recording, call: &Call) -> Option<&'r Value> {
    let name = call.server.as_ref()?;
    let server = recording
        .servers
        .iter()
        .find(|server| server.name == *name)?;
    let tool = server.tools.iter().find(|tool| tool.name == call.tool)?;
    Some(&tool.description)
}

/// The number of the next call of the same tool that succeeded, if its arguments are much like those of a failed one.
fn successor(failed: &Kept<'_>, rest: &[Kept<'_>]) -> Option<usize> {
    let is_it = |other: &&Kept<'_>| {
        other.failure.is_none()
            && (&other.call.server, &other.call.tool) == (&failed.call.server, &failed.call.tool)
    };
    let next = rest.iter().find(is_it)?;
    let letters = |kept: &Kept<'_>| {
        let text = Value::Object(kept.call.arguments.clone()).to_string();
        text.chars().take(MOST_COMPARED).collect::<Vec<char>>()
    };
    (likeness(letters(failed), letters(next)) >= ALIKE).then_some(next.number)
}
