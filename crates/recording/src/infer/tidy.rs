//! The calls of a session that are steps of its task: without detours, and with each poll as one step.

use std::collections::VecDeque;
use std::time::Duration;

use cuecard_mcp::result::{failed_navigation, hidden_failure, of_recorded, text_of};
use cuecard_source::matching::likeness;
use cuecard_source::value::{as_text, cut};
use serde_json::{Value, json};

use super::Note;
use super::build::snake;
use super::targets::FoundTarget;
use super::values::{Weight, each_leaf, weight};
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
    /// How long it took, or the slowest of the calls that are one step now.
    pub(super) took: Option<Duration>,
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

/// Words in the names of tools that ask for a state, and of those that make one.
const READS: &str = "check describe fetch find get health list poll progress query read search show state status wait";
const WRITES: &str = "add change create delete post put save send set toggle update";

/// How the words begin with which a job says that it did not succeed.
const FAILURES: &str = "abort cancel denied error fail reject time";

/// A state is told in so many words.
const MOST_STATE_WORDS: usize = 4;

/// Shorter words of a text tell nothing, in bytes.
const SHORTEST_WORD: usize = 3;

/// The server and the name of a tool.
pub(super) type ToolKey = (Option<String>, String);

impl Tidy<'_> {
    /// The tools that were asked until something had come.
    pub(super) fn polled(&self) -> Vec<ToolKey> {
        let polls = self.kept.iter();
        let polls = polls.filter(|kept| matches!(kept.retry, Some((_, Some(_)))));
        let key = |kept: &Kept<'_>| (kept.call.server.clone(), kept.call.tool.clone());
        polls.map(key).collect()
    }
}

/// The steps of a session. What is known to be `polled` from another recording was it also where it was asked twice only.
pub(super) fn tidy<'r>(recording: &'r Recording, polled: &[ToolKey]) -> Tidy<'r> {
    let all: Vec<Kept<'_>> = recording.calls.iter().zip(1..).map(kept).collect();
    let mut tidy = Tidy::default();
    let mut rest: Vec<Kept<'_>> = Vec::new();
    for run in runs(all) {
        rest.extend(as_one(run, (recording, polled), &mut tidy));
    }
    let mut rest = VecDeque::from(rest);
    while let Some(first) = rest.pop_front() {
        let failed = first.failure.as_ref();
        match failed.and_then(|failure| Some((failure, successor(&first, &rest)?))) {
            Some((failure, next)) => {
                let number = next.number;
                if !has_same_values(&first, next) {
                    let text = format!(
                        "call {} failed ({failure}) with other values: was it for the same, or is it a step too?",
                        first.number
                    );
                    tidy.questions.push((number, text));
                }
                let text = format!("it failed ({failure}), and call {number} did its work");
                tidy.left_out.push(first.note(text));
            }
            None => tidy.kept.push(first),
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
        took: call.took(),
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
    // A transcript expects success of what succeeded.
    let arguments = |call: &Call| {
        let mut arguments = call.arguments.clone();
        arguments.remove("expect_exit");
        arguments
    };
    (&one.server, &one.tool) == (&other.server, &other.tool) && arguments(one) == arguments(other)
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
fn as_one<'r>(
    mut run: Vec<Kept<'r>>,
    (recording, polled): (&Recording, &[ToolKey]),
    tidy: &mut Tidy<'r>,
) -> Vec<Kept<'r>> {
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
    let is_other = |call: &&Kept<'_>| call.failure.is_none() && call.value != last.value;
    let all_other = before.iter().all(is_other);
    let key = (&last.call.server, &last.call.tool);
    let is_often = before.len() > 1 || polled.iter().any(|(server, tool)| (server, tool) == key);
    let mut news = Vec::new();
    if all_other {
        let olds = before.iter().map(|call| Some(&call.value));
        find_news("$".to_owned(), olds.collect(), &last.value, &mut news);
    }
    // By its name alone, a tool that gives something else each time may take what it gives.
    let is_told = says_it_reads(recording, last.call).is_some();
    let words = news
        .iter()
        .filter(|new| new.is_word() && (is_told || new.follows_equal_ones()));
    let mut checks: Vec<Value> = words.map(News::equals).collect();
    if checks.is_empty() && is_often {
        checks.extend(news.iter().filter_map(News::contains_word));
    }
    // Of several, any may be what was awaited.
    let change = checks.pop().filter(|_| checks.is_empty());
    let reads = only_reads(recording, last.call, is_often);
    let is_even = before.iter().all(|call| call.value == before[0].value);
    let has_state = news.iter().any(News::is_state);
    let may_be_wait = match all_other {
        true => is_even || reads || has_state || (change.is_some() && before.len() > 1),
        false => reads && before.iter().any(|call| call.value != last.value),
    };
    if !all_failed && !may_be_wait {
        return run;
    }
    let is_wait = |change: &Value| reads && !change["equals"].as_str().is_some_and(is_failure);
    if !all_failed && !change.as_ref().is_some_and(is_wait) {
        let text = format!(
            "calls {} to {} are the same, and the last one got another result: was this a wait? \
             `on_error: retry` with `expect` is one step for it",
            before[0].number, last.number
        );
        tidy.questions.push((last.number, text));
        return run;
    }
    // To do it again may do it twice.
    if all_failed && !only_reads(recording, last.call, true) {
        let text = format!(
            "it failed ({}) and was called again: may each failed call have had its effect?",
            before[0].failure.as_deref().unwrap_or_default()
        );
        tidy.questions.push((last.number, text));
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
    let took = calls.iter().filter_map(|call| call.took).max();
    let after = run.split_off(end + 1);
    let one = run.pop().map(|last| Kept {
        took,
        retry: Some((retry, change)),
        ..last
    });
    one.into_iter().chain(after).collect()
}

fn is_failure(text: &str) -> bool {
    let text = text.to_lowercase();
    FAILURES.split(' ').any(|word| text.starts_with(word))
}

/// What the last of several results has at a path, and none before it.
struct News<'v> {
    path: String,
    before: Vec<Option<&'v Value>>,
    after: &'v Value,
}

/// Finds what is new in a value at a path.
fn find_news<'v>(
    path: String,
    before: Vec<Option<&'v Value>>,
    after: &'v Value,
    news: &mut Vec<News<'v>>,
) {
    for (key, value) in after.as_object().into_iter().flatten() {
        let is_plain = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
        if key.chars().all(is_plain) {
            let olds = before.iter().map(|old| old.and_then(|old| old.get(key)));
            find_news(format!("{path}.{key}"), olds.collect(), value, news);
        }
    }
    if !before.contains(&Some(after)) {
        news.push(News {
            path,
            before,
            after,
        });
    }
}

impl News<'_> {
    fn is_word(&self) -> bool {
        let after = self.after;
        after.is_boolean() || (after.is_string() && weight(after) == Weight::Weak)
    }

    fn follows_equal_ones(&self) -> bool {
        self.before.iter().all(|value| *value == self.before[0])
    }

    fn equals(&self) -> Value {
        json!({ "json_path": self.path, "equals": self.after })
    }

    /// Whether a few plain words became others, as of a job that is `queued`, `running` and then `done`.
    fn is_state(&self) -> bool {
        let is_state = |value: &Value| {
            let text = value.as_str().unwrap_or_default().trim();
            let has_words = text.split_whitespace().count() <= MOST_STATE_WORDS;
            let is_plain = |letter: char| letter.is_alphabetic() || " _-.:".contains(letter);
            !text.is_empty() && has_words && text.chars().all(is_plain)
        };
        is_state(self.after) && self.before.iter().all(|old| old.is_some_and(is_state))
    }

    /// The check for the one new word in a text, if the texts before have all the same words, whatever they count:
    /// `running (30%)`.
    fn contains_word(&self) -> Option<Value> {
        fn words(text: &Value) -> Option<Vec<&str>> {
            let words = text.as_str()?.split(|letter: char| !letter.is_alphabetic());
            Some(words.filter(|word| word.len() >= SHORTEST_WORD).collect())
        }
        let olds: Option<Vec<_>> = self.before.iter().map(|old| old.and_then(words)).collect();
        let olds = olds.filter(|olds| olds.iter().all(|old| *old == olds[0]))?;
        let mut new = words(self.after)?;
        new.retain(|word| !olds[0].contains(word));
        let [word] = new.as_slice() else {
            return None;
        };
        let is_end = !is_failure(word);
        is_end.then(|| super::shape::matches(&self.path, &format!(r"\b{word}\b")))
    }
}

/// Whether a tool changes nothing, as the server says, or else the tool's name if it was called `often`.
fn only_reads(recording: &Recording, call: &Call, often: bool) -> bool {
    if let Some(reads) = says_it_reads(recording, call) {
        return reads;
    }
    let name = snake(&call.tool).to_lowercase();
    let words: Vec<&str> = name
        .split(|letter: char| !letter.is_alphanumeric())
        .collect();
    let is_of = |table: &str, word: &str| table.split(' ').any(|known| known == word);
    let reads = is_of(READS, words[0]) || is_of(READS, words[words.len() - 1]);
    often && reads && !words.iter().any(|word| is_of(WRITES, word))
}

/// What the server says of a tool.
fn says_it_reads(recording: &Recording, call: &Call) -> Option<bool> {
    let annotations = tool_of(recording, call)?.get("annotations")?;
    if annotations.get("destructiveHint") == Some(&true.into()) {
        return Some(false);
    }
    annotations.get("readOnlyHint")?.as_bool()
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

/// The next call of the same tool that succeeded, if its arguments are much like those of a failed one.
fn successor<'k, 'r>(failed: &Kept<'_>, rest: &'k VecDeque<Kept<'r>>) -> Option<&'k Kept<'r>> {
    let is_it = |other: &&Kept<'_>| {
        other.failure.is_none()
            && (&other.call.server, &other.call.tool) == (&failed.call.server, &failed.call.tool)
    };
    let next = rest.iter().find(is_it)?;
    let letters = |kept: &Kept<'_>| {
        let text = values(kept).join(" ");
        text.chars().take(MOST_COMPARED).collect::<Vec<char>>()
    };
    (likeness(letters(failed), letters(next)) >= ALIKE).then_some(next)
}

/// Whether the values of one call's arguments are among those of the other's, whatever they are called.
fn has_same_values(one: &Kept<'_>, other: &Kept<'_>) -> bool {
    let (ones, others) = (values(one), values(other));
    ones.iter().all(|value| others.contains(value))
        || others.iter().all(|value| ones.contains(value))
}

/// The values of a call's arguments in lower case.
fn values(kept: &Kept<'_>) -> Vec<String> {
    let mut values = Vec::new();
    each_leaf(&json!(kept.call.arguments), &mut |leaf| {
        values.push(as_text(leaf).to_lowercase());
    });
    values
}
