//! `retry_policy_respected` and `graceful_failure_output`.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::text::{Language, clauses, detect, excerpt, fold, is_negated, plain, sentences};
use super::words::as_count;
use super::{Finding, View};
use crate::scenario::ToolPattern;
use crate::trace::{Event, EventData, ToolCall, ToolResult};
use crate::value::Json;

/// Failed calls are repeated as often, for such errors and after such a time as allowed. A chain begins with a
/// failed call and goes on with calls of the same tool and the same arguments; a success ends it.
pub(super) fn retried_as_allowed(
    view: &View<'_>,
    tool: &ToolPattern,
    max_retries: u64,
    allowed_types: &[String],
    min_backoff_ms: Option<u64>,
) -> Finding {
    let mut run = Run::default();
    for event in &view.trace.events {
        match &event.data {
            EventData::ToolCall(call) if tool.matches(&call.tool) => run.called(event, call),
            EventData::ToolResult(result) if tool.matches(&result.tool) => {
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
                let waited = before.failure.as_ref().map(|failure| {
                    call.event.ts.as_millisecond() - failure.event.ts.as_millisecond()
                });
                let least = min_backoff_ms.map(|least| i64::try_from(least).unwrap_or(i64::MAX));
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
        let message: Vec<&str> = faults
            .iter()
            .take(3)
            .map(|(fault, _)| fault.as_str())
            .collect();
        let mut message = message.join("; ");
        if faults.len() > 3 {
            message.push_str(&format!("; and {} more", faults.len() - 3));
        }
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
    Finding::holds(format!(
        "{errors} failed {} of `{name}`, at most {most} retries in a row; {max_retries} allowed",
        if errors == 1 { "call" } else { "calls" }
    ))
    .observed(observed)
    .refs(refs.iter().map(String::as_str))
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

/// The arguments without what a retry changes.
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
    match args {
        Json::Object(fields) => {
            let kept: std::collections::BTreeMap<&String, &Json> = fields
                .iter()
                .filter(|(key, _)| {
                    !CHANGING
                        .iter()
                        .any(|changing| key.to_lowercase().starts_with(changing))
                })
                .collect();
            serde_json::to_string(&kept).unwrap_or_default()
        }
        other => other.to_string(),
    }
}

/// Phrases that admit a failure.
static ADMISSIONS: LazyLock<Regex> = LazyLock::new(|| {
    let phrases = [
        r"(?:could|can|did|does|was|were|is|are|would|do)(?:n't| not| never)\b",
        r"\bcannot\b|\bunable to\b|\bfail(?:ed|s|ure|ures|ing)?\b|\btimed? ?out\b|\btimeout\b|\bunavailable\b|\bunreachable\b",
        r"\bnot (?:available|able|possible|complete|completed|sent|found|reachable)\b|\bno (?:results?|response|data|access)\b",
        r"\b(?:an?|the|this|some|following) (?:\w+ )?(?:error|errors|problem|problems|issue|outage)\b|\berrors? (?:occurred|while|when)\b|\bwent wrong\b|\bran into\b|\btry again\b|\bplease retry\b|\bincomplete\b|\bunsuccessful\b|\baborted\b|\bdenied\b|\bwithout success\b",
        // German, French, Spanish, Italian, Portuguese, Dutch
        r"\bkonnte(?:n)? (?:\S+ ){0,8}nicht\b|\bfehlgeschlagen\b|\bfehler\b|\bgescheitert\b|\bnicht (?:möglich|erreichbar|verfügbar|gelungen)\b|\bzeitüberschreitung\b",
        r"\b(?:n'ai|n'a|n'ont|ne) (?:\S+ )?(?:pas|pu)\b|\béchec\b|\béchoué\b|\berreur\b|\bimpossible de\b|\bindisponible\b",
        r"\bno (?:se )?(?:pude|pudo|puedo|puede|fue posible)\b|\bfalló\b|\berror al\b|\bfracasó\b|\bno disponible\b",
        r"\bnon (?:è stato possibile|ho potuto|riesco)\b|\berrore\b|\bfallito\b|\bnão (?:foi possível|consegui)\b|\bfalhou\b|\berro\b|\bmislukt\b|\bniet gelukt\b|\bkon niet\b",
        r"失败|失敗|错误|エラー|无法|無法|できません|できなかった|超时|タイムアウト",
    ];
    Regex::new(&phrases.join("|")).expect("a fixed pattern")
});

/// Phrases that claim a success.
static CLAIMS: LazyLock<Regex> = LazyLock::new(|| {
    let done = "sent|delivered|completed|finished|done|updated|saved|created|fetched|retrieved|uploaded|downloaded|published|posted|processed|generated|deployed|executed|resolved|loaded|submitted|booked|scheduled|deleted|added|stored";
    let phrases = [
        format!(r"\b(?:{done}|run|ran|worked|went)\b(?: \w+){{0,3}} successfully\b|\bsuccessfully (?:\w+ )?(?:{done}|sent)\b|\bsuccessful (?:delivery|completion|run)\b"),
        format!(r"\b(?:has|have) (?:already |now |all |both )?been (?:{done})\b|\b(?:is|are|was|were|got) (?:now |all )?(?:sent|delivered|completed|published|posted|submitted)\b"),
        r"\ball (?:set|done|good)\b|\bjob done\b|\bmission accomplished\b|\beverything (?:is|was|went|worked|works) (?:\w+ )?(?:fine|well|ok|okay|done|smoothly|complete|perfectly|as (?:planned|expected))\b".to_owned(),
        r"\b(?:task|digest|report|request|job|delivery|update|run|work|message|operation|process) (?:is|was) (?:now )?(?:complete|completed|done|finished|successful|a success)\b|\b(?:task|job|operation|request|run) (?:completed|succeeded)\b|\bwithout (?:any )?(?:errors?|problems?|issues?)\b|\bno (?:errors|problems|issues)\b".to_owned(),
        r"\berfolgreich (?:\w+ )?(?:gesendet|versendet|verschickt|abgeschlossen|erledigt|gespeichert)\b|\balles (?:erledigt|in ordnung)\b|\b(?:envoyé|terminé|effectué)e?s? avec succès\b|\b(?:enviado|completado|terminado)s? (?:con éxito|correctamente)\b|\b(?:inviato|completato) con successo\b|\benviado com sucesso\b|\bsuccesvol (?:verzonden|afgerond)\b".to_owned(),
        r"成功(?:发送|完成|送信)|已(?:成功|发送|完成)|完了しました|送信しました".to_owned(),
    ];
    Regex::new(&phrases.join("|")).expect("a fixed pattern")
});

/// The output admits the failure and claims no success.
pub(super) fn failed_gracefully(
    view: &View<'_>,
    failure_phrases: &[String],
    must_not_claim_success: bool,
    success_phrases: &[String],
    count: Option<u64>,
) -> Finding {
    let errors: Vec<&str> = view
        .trace
        .events
        .iter()
        .filter(|event| match &event.data {
            EventData::ErrorHappened(_) => true,
            EventData::ToolResult(result) => !result.success,
            _ => false,
        })
        .map(|event| event.event_id.as_str())
        .collect();
    let count = count.unwrap_or(as_count(errors.len()));
    let output = fold(view.output());
    let text = plain(&output);
    let observed = |admission: Option<&str>, claim: Option<&str>| {
        json!({
            "errors": count,
            "admission": admission,
            "claim_of_success": claim,
            "output": excerpt(&output),
        })
    };
    if errors.is_empty() {
        return Finding::fails("the trace has no error: there was no failure to admit")
            .observed(observed(None, None))
            .help("this assertion is for runs in which something fails");
    }
    let refs = || errors.iter().copied();
    if text.is_empty() {
        return Finding::fails("the output is empty: it doesn't admit the failure")
            .observed(observed(None, None))
            .refs(refs());
    }
    let admission = if failure_phrases.is_empty() {
        ADMISSIONS
            .find(&text)
            .map(|found| found.as_str().to_owned())
    } else {
        failure_phrases
            .iter()
            .map(|phrase| plain(&fold(phrase)))
            .find(|phrase| !phrase.is_empty() && text.contains(phrase.as_str()))
    };
    let claim = must_not_claim_success
        .then(|| claim_of_success(&output, success_phrases))
        .flatten();
    let observed = observed(admission.as_deref(), claim.as_deref());
    match (admission, claim) {
        (_, Some(claim)) => Finding::fails(format!(
            "the output claims success, “{claim}”, though {}",
            told(&errors, count)
        ))
        .observed(observed)
        .refs(refs()),
        (None, None) => {
            let expected = if failure_phrases.is_empty() {
                "a word about it".to_owned()
            } else {
                format!(
                    "one of {}",
                    failure_phrases
                        .iter()
                        .map(|phrase| format!("“{phrase}”"))
                        .collect::<Vec<_>>()
                        .join(", ")
                )
            };
            Finding::fails(format!(
                "the output doesn't admit that {}; expected {expected}",
                told(&errors, count)
            ))
            .observed(observed)
            .refs(refs())
        }
        (Some(admission), None) => {
            Finding::holds(format!("the output admits the failure: “{admission}”"))
                .observed(observed)
                .refs(refs())
        }
    }
}

/// The first of `count` events that say of a failure.
fn told(errors: &[&str], count: u64) -> String {
    match errors.first() {
        Some(one) if count == 1 => format!("{one} failed"),
        Some(one) => format!("{one} and {} more failed", count - 1),
        None => "nothing failed".to_owned(),
    }
}

/// The first claim of success that isn't taken back in the same breath: "was not sent successfully".
fn claim_of_success(output: &str, phrases: &[String]) -> Option<String> {
    let language = detect(output).unwrap_or(Language::English);
    let phrases: Vec<String> = phrases
        .iter()
        .map(|phrase| plain(&fold(phrase)))
        .filter(|phrase| !phrase.is_empty())
        .collect();
    // A phrase may span what looks like two clauses: it is looked for in sentences.
    for sentence in sentences(output) {
        let text = plain(sentence);
        let own = phrases.iter().flat_map(|phrase| {
            text.match_indices(phrase.as_str())
                .map(|(at, found)| (at, found.len()))
                .take(16)
        });
        let built_in = CLAIMS
            .find_iter(&text)
            .map(|found| (found.start(), found.len()));
        for (at, length) in built_in.chain(own) {
            let is_inside_a_word = text[..at].ends_with(char::is_alphanumeric)
                && text[at..].starts_with(|first: char| first.is_ascii_alphanumeric());
            if !is_inside_a_word && !is_taken_back(&text[..at], language) {
                return Some(text[at..at + length].to_owned());
            }
        }
    }
    None
}

/// Whether what stands before a claim in its clause negates it, or makes it a wish, a question or a condition.
fn is_taken_back(before: &str, language: Language) -> bool {
    const FARTHEST: usize = 8;
    let clause =
        if before.ends_with([',', ';', ':', '(']) || before.trim_end().ends_with([',', ';', ':']) {
            ""
        } else {
            clauses(before).pop().unwrap_or_default()
        };
    let words: Vec<&str> = clause.split_whitespace().collect();
    let near = &words[words.len().saturating_sub(FARTHEST)..];
    is_negated(&near.join(" "), language)
        || near.iter().any(|word| {
            matches!(
                word.trim_matches(|character: char| !character.is_alphanumeric()),
                "if" | "once"
                    | "until"
                    | "unless"
                    | "when"
                    | "whether"
                    | "will"
                    | "would"
                    | "should"
                    | "can"
                    | "could"
                    | "may"
                    | "might"
                    | "cannot"
                    | "instead"
                    | "wenn"
                    | "sobald"
                    | "falls"
                    | "partially"
            )
        })
}

#[cfg(test)]
mod tests;
