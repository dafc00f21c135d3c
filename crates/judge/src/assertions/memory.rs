//! `memory_recall_same_group`, `memory_update_on_correction` and `no_cross_group_memory_use`.

mod apart;
mod forms;
mod groups;

pub use apart::NoCrossGroupMemoryUse;

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use self::forms::{FormFinding, check_forms};
use self::groups::{group_of_path, groups_of, is_of_group, own_group, same_group};
use super::parts::{Patterns, Rules, Text, TextPattern};
use super::{Assert, Take};
use crate::mutate::{Mutation, output_id, with_output, without};
use crate::prove::{
    self, DROPPING, ProofVerdict, is_denied, mention, mentions, quotes, states, words_of,
};
use crate::test_case::Params;
use crate::text::{excerpt, fold};
use crate::{Finding, Verdict, View};
use cuecard_source::value::Json;
use cuecard_trace::{Event, EventData, Trace};

/// What traces of plain conversations lack.
const MEMORY_EVENTS: &str = "supports_memory_events";

/// A memory of the group was read and is honoured.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct MemoryRecallSameGroup {
    /// The group (default: the scenario's).
    pub group_id: Option<Text>,
    /// What is remembered.
    pub expected_memory_fact: Text,
    /// Regular expressions that show in the output that it is honoured.
    #[serde(default)]
    pub output_patterns: Patterns,
    /// Whether the memory must have been read or given (default: true).
    #[serde(default = "yes")]
    pub require_event: bool,
    /// Whether to match case (default: false).
    #[serde(default)]
    pub case_sensitive: bool,
}

fn yes() -> bool {
    true
}

impl Assert for MemoryRecallSameGroup {
    const TYPE: &'static str = "memory_recall_same_group";

    fn check(&mut self, params: &mut Params<'_, '_>) {
        self.output_patterns =
            params.patterns("output_patterns", Rules::by_line(self.case_sensitive));
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let Self {
            expected_memory_fact: fact,
            output_patterns,
            ..
        } = self;
        let group = self.group_id.as_deref().or_else(|| own_group(view));
        let output = fold(view.output());
        let last = last_output(view);
        let reads: Vec<&str> = view.trace.events[..last]
            .iter()
            .filter(|event| matches!(event.data, EventData::MemoryRead(_)))
            .filter(|event| is_of_group(event, group))
            .map(|event| event.event_id.as_str())
            .collect();
        let is_given = reads.is_empty() && holds_before(view, fact, group);
        let observed = json!({
            "group_id": group,
            "memory_reads": reads,
            "given_before": is_given,
            "output": excerpt(&output),
        });
        let refs = || reads.iter().copied();
        if self.require_event && reads.is_empty() && !is_given {
            if !view.has_capability(MEMORY_EVENTS) {
                return Finding::new(Verdict::Skipped, format!(
                "the trace lacks the capability `{MEMORY_EVENTS}`, so nothing shows whether the memory was read"
            ))
            .observed(observed)
            .help("set `require_event: false` to judge the output alone");
            }
            let group = group.unwrap_or("the group");
            return Finding::fails(format!(
            "no `memory_read` of `{group}` before the output, and neither `prior_messages` nor `memory_snapshot` hold the fact"
        ))
        .observed(observed)
        .help("set `require_event: false` if memory reaches the agent in a way that the trace doesn't show");
        }
        if output.trim().is_empty() {
            return Finding::fails("the output is empty, so it can't honour the memory")
                .observed(observed)
                .refs(refs());
        }
        let (verdict, message) = honours(&output, fact, output_patterns);
        let finding = Finding::new(verdict, message)
            .observed(observed)
            .refs(refs());
        match verdict {
            Verdict::Holds => finding,
            Verdict::Undecided => {
                finding.help("say in `output_patterns` how the output shows that it was remembered")
            }
            _ if output_patterns.is_empty() => finding
                .help("if the output honours it in other words, say how in `output_patterns`"),
            _ => finding,
        }
    }

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::DropOutput || (mutation == Mutation::DropMemory && self.require_event)
    }

    fn break_trace(&self, _: Mutation, trace: &Trace, take: &mut Take<'_>) {
        without(
            trace,
            "no memory is read",
            |data| matches!(data, EventData::MemoryRead(_)),
            take,
        );
    }
}

/// The part of a fact's words without which an output has nothing of it.
const LEAST_OVERLAP: f64 = 0.5;

fn honours(output: &str, fact: &str, patterns: &[TextPattern]) -> (Verdict, String) {
    let told = excerpt(fact);
    if !patterns.is_empty() {
        let mut patterns = patterns.iter();
        return match patterns.find(|pattern| !pattern.regex.is_match(output)) {
            Some(missing) => {
                let message = format!("the output doesn't match `{}`", missing.text);
                (Verdict::Fails, message)
            }
            None => (
                Verdict::Holds,
                "the output matches every pattern".to_owned(),
            ),
        };
    }
    let open = |why: &str| {
        let message = format!("can't tell whether the output honours “{told}”: {why}");
        (Verdict::Undecided, message)
    };
    match check_forms(fact, output) {
        FormFinding::Honoured(forms) => {
            let message = format!("the output honours “{told}”: {}", forms.join(", "));
            return (Verdict::Holds, message);
        }
        FormFinding::Broken(reason) => {
            let message = format!("the output doesn't honour “{told}”: {reason}");
            return (Verdict::Fails, message);
        }
        FormFinding::Unknown(reason) => return open(&reason),
        FormFinding::NoForm => {}
    }
    if mention(fact, fact, "").is_none() {
        return open("it has no words to look for");
    }
    // What is forbidden is honoured by what is left out.
    let least = (!forbids(fact)).then_some(LEAST_OVERLAP);
    match states(output, fact, least) {
        (ProofVerdict::Unproven, _) if quotes(output, fact) => {
            (Verdict::Holds, format!("the output has “{told}”"))
        }
        (ProofVerdict::Supported, _) => {
            (Verdict::Holds, format!("the output has what “{told}” says"))
        }
        (ProofVerdict::Refuted, why) => {
            let message = format!("the output doesn't have what “{told}” says: {why}");
            (Verdict::Fails, message)
        }
        (ProofVerdict::Unproven, why) => open(&why),
    }
}

/// Whether a fact says what somebody may not have, or wants alone.
fn forbids(fact: &str) -> bool {
    const FORBIDDING: &str =
        "allergic allergy avoid avoids dislikes hates intolerant only vegan vegetarian";
    is_denied(fact) || words_of(fact, FORBIDDING).1
}

/// A correction is remembered.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct MemoryUpdateOnCorrection {
    /// The group (default: the scenario's).
    pub group_id: Option<Text>,
    /// What is right.
    pub corrected_fact: Text,
    /// What was wrong, and must not be in the output.
    pub stale_fact: Option<Text>,
}

impl Assert for MemoryUpdateOnCorrection {
    const TYPE: &'static str = "memory_update_on_correction";
    const NEEDS: &'static [&'static str] = &[MEMORY_EVENTS];

    fn check(&mut self, _: &mut Params<'_, '_>) {}

    fn judge(&self, view: &View<'_>) -> Finding {
        let (corrected, stale) = (&*self.corrected_fact, self.stale_fact.as_deref());
        let group = self.group_id.as_deref().or_else(|| own_group(view));
        let correction = correcting_message(view, corrected);
        let writes: Vec<(&Event, String)> = view.trace.events[correction..]
            .iter()
            .filter(|event| is_of_group(event, group))
            .filter_map(|event| match &event.data {
                EventData::MemoryWrite(write) => {
                    let texts = [write.change_summary.as_deref(), write.content.as_deref()];
                    Some((
                        event,
                        texts.into_iter().flatten().collect::<Vec<_>>().join("\n"),
                    ))
                }
                _ => None,
            })
            .collect();
        let output = fold(view.output());
        let stale_in = |text: &str| stale.and_then(|stale| stale_in(text, stale, corrected));
        let stale_unit = stale_in(&output);
        let observed = json!({
            "group_id": group,
            "memory_writes": writes.iter().map(|(event, text)| json!({ "event_id": event.event_id, "text": excerpt(text) })).collect::<Vec<_>>(),
            "stale_in_output": stale_unit.as_ref().map(|(_, sentence)| sentence),
        });
        let refs: Vec<&str> = writes
            .iter()
            .map(|(event, _)| event.event_id.as_str())
            .collect();
        let told = excerpt(corrected);
        let name = group.unwrap_or("the group");
        if writes.is_empty() {
            let elsewhere = view
                .trace
                .events
                .iter()
                .find(|event| matches!(event.data, EventData::MemoryWrite(_)));
            let finding = Finding::fails(format!(
                "no `memory_write` of `{name}` after the correcting message"
            ))
            .observed(observed);
            return match elsewhere {
                Some(event) if is_of_group(event, group) => finding
                    .refs([event.event_id.as_str()])
                    .help("the write came before the correction"),
                Some(event) => finding.refs([event.event_id.as_str()]).help(format!(
                    "there is one of `{}`",
                    groups_of(event).join("`, `")
                )),
                None => finding,
            };
        }
        let verdicts: Vec<ProofVerdict> = writes
            .iter()
            .map(|(_, text)| is_corrected(text, corrected, stale.unwrap_or_default()))
            .collect();
        // The last word in the memory counts.
        let kept = verdicts
            .iter()
            .rposition(|verdict| *verdict == ProofVerdict::Supported);
        if kept.is_none() {
            if verdicts.contains(&ProofVerdict::Unproven) {
                let message =
                    format!("can't tell whether a `memory_write` of `{name}` holds “{told}”");
                return Finding::new(Verdict::Undecided, message)
                    .observed(observed)
                    .refs(refs)
                    .help("give `corrected_fact` in the words in which it is written down");
            }
            let finding = Finding::fails(format!(
                "no `memory_write` of `{name}` after the correction holds “{told}”"
            ))
            .observed(observed)
            .refs(refs);
            return if writes.iter().all(|(_, text)| text.trim().is_empty()) {
                finding.help("the writes have neither `change_summary` nor `content`")
            } else {
                finding
            };
        }
        let later = writes[kept.map_or(0, |kept| kept + 1)..].iter();
        let undone = later
            .filter_map(|(event, text)| Some((event, stale_in(text)?)))
            .next_back();
        let fault = |(verdict, sentence): (Verdict, String), place: &str, refs: Vec<&str>| {
            let says = if verdict == Verdict::Fails {
                "says"
            } else {
                "may say"
            };
            Finding::new(
                verdict,
                format!("{place} still {says} what was corrected: “{sentence}”"),
            )
            .observed(observed.clone())
            .refs(refs)
        };
        if let Some((event, found)) = undone {
            let refs = vec![event.event_id.as_str()];
            return fault(found, &format!("the memory of `{name}`"), refs);
        }
        if let Some(found) = stale_unit {
            return fault(found, "the output", refs);
        }
        Finding::holds(format!("“{told}” was saved to the memory of `{name}`"))
            .observed(observed)
            .refs(refs)
    }

    fn watches(&self, mutation: Mutation) -> bool {
        mutation == Mutation::DropMemory
            || (mutation == Mutation::RepeatStale && self.stale_fact.is_some())
    }

    fn break_trace(&self, mutation: Mutation, trace: &Trace, take: &mut Take<'_>) {
        match (mutation, &self.stale_fact) {
            (Mutation::RepeatStale, Some(stale)) => {
                let changed = with_output(trace, &format!("{}\n\n{stale}.", trace.output()));
                take(
                    format!("the output repeats `{stale}`"),
                    output_id(trace),
                    changed,
                );
            }
            _ => without(
                trace,
                "no memory is written",
                |data| matches!(data, EventData::MemoryWrite(_)),
                take,
            ),
        }
    }
}

/// Where events after the correction begin: after the last message of the user that has the corrected fact, else
/// after the last message of the user; at the beginning, if the messages aren't among the events.
fn correcting_message(view: &View<'_>, fact: &str) -> usize {
    let messages: Vec<(usize, &str)> = view
        .trace
        .events
        .iter()
        .enumerate()
        .filter_map(|(at, event)| match &event.data {
            EventData::MessageReceived(message) => Some((at, message.content.as_str())),
            _ => None,
        })
        .collect();
    let has_fact = |content: &str| mention(content, fact, "").is_some();
    if let Some((at, _)) = messages.iter().rev().find(|(_, content)| has_fact(content)) {
        return at + 1;
    }
    let is_input = view
        .trace
        .header
        .input_messages
        .iter()
        .chain(view.case.context.input_messages.iter())
        .filter_map(|message| message.get("content").and_then(Json::as_str))
        .any(has_fact);
    if is_input {
        return 0;
    }
    messages.last().map_or(0, |(at, _)| at + 1)
}

/// Whether a text says what is new in a fact, in place of what was said before: `Meeting moved from 5 pm to 6 pm`.
fn is_corrected(text: &str, fact: &str, stale: &str) -> ProofVerdict {
    /// Words for the change itself.
    const CHANGE: &str =
        "changed changes corrected correction moved set updated update new now instead";
    static PAST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:was|were|had been|war|waren)\b").expect("a fixed pattern")
    });
    // `The fee was 25 euros` is over, but not `The fee was changed to 25 euros`.
    static PRESENT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)\b(?:is|are|ist|sind)\b").expect("a fixed pattern"));
    let is_over = |sentence: &&str| {
        let is_past = PAST.is_match(sentence) && !PRESENT.is_match(sentence);
        is_past && !PAST.is_match(fact) && !words_of(sentence, CHANGE).1
    };
    let folded = prove::fold(text);
    let mut kept = prove::sentences(&folded);
    kept.retain(|sentence| !is_over(sentence));
    let text = kept.join("\n");
    let text = text.as_str();
    let verdict = states(text, fact, None).0;
    if verdict == ProofVerdict::Supported {
        return verdict;
    }
    match mention(text, fact, stale) {
        Some(found) if found.role.as_deref() != Some("from") && !found.is_denied => {
            if words_of(text, DROPPING).1 && !words_of(fact, DROPPING).1 {
                ProofVerdict::Refuted
            } else if quotes(text, fact) || words_of(text, &format!("{fact} {stale} {CHANGE}")).0 {
                ProofVerdict::Supported
            } else {
                ProofVerdict::Unproven
            }
        }
        _ => ProofVerdict::Refuted,
    }
}

/// The sentence of a text that still says a stale fact, and whether it says that for certain.
fn stale_in(text: &str, stale: &str, corrected: &str) -> Option<(Verdict, String)> {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:not|no longer|instead of|rather than|previously|formerly|from|old|was|used to be|nicht mehr|statt)(?: (?:at|on|in|the|a|um|am|der|die|das))*\W*$")
            .expect("a fixed pattern")
    });
    const PAST: &str = "earlier previously formerly used old replaced anymore früher";
    let text = prove::fold(text);
    let found = mentions(&text, stale, corrected)
        .into_iter()
        .filter_map(|found| {
            let sentence = found.sentence;
            let before = sentence.get(..found.at).unwrap_or_default();
            let is_past =
                found.is_denied || found.role.as_deref() == Some("from") || BEFORE.is_match(before);
            let is_other = found.is_bare && !words_of(sentence, stale).1;
            if is_past || is_other {
                return None;
            }
            let is_certain = !words_of(sentence, PAST).1
                || states(sentence, stale, None).0 == ProofVerdict::Supported;
            let verdict = match is_certain {
                true => Verdict::Fails,
                false => Verdict::Undecided,
            };
            Some((verdict, excerpt(sentence)))
        });
    let found: Vec<(Verdict, String)> = found.collect();
    let certain = found.iter().find(|(verdict, _)| *verdict == Verdict::Fails);
    certain.or(found.first()).cloned()
}

/// How many events come before the last output, or all of them.
fn last_output(view: &View<'_>) -> usize {
    view.trace
        .events
        .iter()
        .rposition(|event| matches!(event.data, EventData::FinalOutput(_)))
        .unwrap_or(view.trace.events.len())
}

/// Whether what was there before the run holds the fact, apart from memories of other groups.
fn holds_before(view: &View<'_>, fact: &str, group: Option<&str>) -> bool {
    let context = &view.case.context;
    let mut rest: Vec<&Json> = context.prior_messages.iter().collect();
    rest.push(&context.memory_snapshot);
    while let Some(value) = rest.pop() {
        match value {
            Json::String(text)
                if mention(text, fact, "").is_some()
                    && states(text, fact, None).0 != ProofVerdict::Refuted =>
            {
                return true;
            }
            Json::Array(items) => rest.extend(items),
            Json::Object(fields) => {
                let is_others = |of: Option<String>| {
                    of.is_some_and(|of| group.is_some_and(|group| !same_group(group, &of)))
                };
                let named = fields
                    .get("group_id")
                    .and_then(Json::as_str)
                    .map(str::to_owned);
                let path = fields
                    .get("path")
                    .and_then(Json::as_str)
                    .and_then(group_of_path);
                if is_others(named) || is_others(path) {
                    continue;
                }
                rest.extend(
                    fields
                        .iter()
                        .filter(|(key, _)| !is_others(group_of_path(key)))
                        .map(|(_, value)| value),
                );
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
