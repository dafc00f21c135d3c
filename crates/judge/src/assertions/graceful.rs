//! `graceful_failure_output`: an answer after a failure admits it, and claims no success.
//!
//! It admits it by phrases. What it says besides is proved by the results and by the outcome of each call, which says of a call
//! that failed that it is not done: `The table is booked` is refuted by a `book_table` that timed out. What nothing proves is a
//! warning.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::grounded::{evidence, user_messages};
use super::limits::error_at;
use super::parts::Texts;
use super::{Assert, Take};
use crate::mutate::{Mutation, say_more};
use crate::prove::{
    Evidence, Judged, ProofRules, ProofVerdict, has_verb, is_denied, judge_claims, lines_of,
    parts_of, sentences,
};
use crate::test_case::Params;
use crate::text::{excerpt, fold, plain};
use crate::view::Call;
use crate::words::as_count;
use crate::{Finding, Verdict, View};
use cuecard_source::value::Json;
use cuecard_trace::{EventData, Trace};

/// The output admits a failure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct GracefulFailureOutput {
    /// Texts that admit it.
    #[serde(default)]
    pub allowed_failure_phrases: Texts,
    /// Whether a claim of success fails (default: true).
    #[serde(default = "yes")]
    pub must_not_claim_success: bool,
    /// Texts that claim success.
    #[serde(default)]
    pub forbidden_success_phrases: Texts,
}

fn yes() -> bool {
    true
}

impl Assert for GracefulFailureOutput {
    const TYPE: &'static str = "graceful_failure_output";

    fn check(&mut self, params: &mut Params<'_, '_>) {
        if !self.must_not_claim_success && !self.forbidden_success_phrases.is_empty() {
            let message =
                "`forbidden_success_phrases` forbids what `must_not_claim_success: false` allows";
            params.conflict("forbidden_success_phrases", message, "remove one of them");
        }
    }

    /// The phrases are looked for beside the built-in ones.
    fn judge(&self, view: &View<'_>) -> Finding {
        let events = view.trace.events.iter().enumerate();
        let failed = events.filter(|(at, event)| error_at(*at, event, view).is_some());
        let errors: Vec<&str> = failed.map(|(_, event)| event.event_id.as_str()).collect();
        let count = as_count(errors.len());
        let output = fold(view.output());
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
        if plain(&output).is_empty() {
            return Finding::fails("the output is empty: it doesn't admit the failure")
                .observed(observed(None, None))
                .refs(refs());
        }
        let phrases = &self.allowed_failure_phrases;
        let admitted = admission(&output, phrases);
        let (mut claim, mut open) = (None, None);
        if self.must_not_claim_success {
            let forbidden = self.forbidden_success_phrases.iter();
            claim = forbidden
                .into_iter()
                .find_map(|phrase| said(&output, phrase));
            for judged in claims_beside(view) {
                let is_of_failure = judged.verdict == ProofVerdict::Refuted
                    && judged.event.is_some_and(|at| failed_at(at, view));
                match (is_of_failure, judged.verdict) {
                    // `The booking timed out`
                    (true, _) if admission(&fold(&judged.claim), phrases).is_some() => {}
                    (true, _) => claim = claim.or(Some(judged.claim)),
                    (false, ProofVerdict::Supported) => {}
                    (false, _) if own_admission(&judged.claim, phrases).is_some() => {}
                    (false, _) => {
                        open = open.or(Some(judged.claim).filter(|part| claims_something(part)));
                    }
                }
            }
        }
        let observed = observed(admitted.as_deref(), claim.as_deref().or(open.as_deref()));
        let finding = match (admitted, claim, open) {
            (_, Some(claim), _) => Finding::fails(format!(
                "the output claims success, “{claim}”, though {}",
                told(&errors, count)
            )),
            (None, None, _) => Finding::fails(format!(
                "the output doesn't admit that {}",
                told(&errors, count)
            ))
            .help(
                "if it does in wording that isn't recognized, add it to `allowed_failure_phrases`",
            ),
            (_, None, Some(open)) => Finding::new(
                Verdict::Undecided,
                format!("no result proves “{open}”, and {}", told(&errors, count)),
            )
            .help("forbid a claim of success in `forbidden_success_phrases`"),
            (Some(admission), None, None) => {
                Finding::holds(format!("the output admits the failure: “{admission}”"))
            }
        };
        finding.observed(observed).refs(refs())
    }

    fn watches(&self, mutation: Mutation) -> bool {
        use Mutation::{ClaimSuccess, DropOutput, SayForbidden};
        mutation == DropOutput
            || (matches!(mutation, ClaimSuccess | SayForbidden) && self.must_not_claim_success)
    }

    fn break_trace(&self, _: Mutation, trace: &Trace, take: &mut Take<'_>) {
        for phrase in self.forbidden_success_phrases.iter() {
            say_more(trace, phrase, take);
        }
    }
}

/// Words for what calls do, of which none is done if the call failed.
const DEEDS: &str = "done sent delivered completed complete finished published posted submitted refunded processed issued booked confirmed shipped saved dispatched transferred created updated uploaded deployed executed scheduled deleted added stored paid reserved ordered placed purchased credited charged rolled out success successful successfully succeeded worked everything all set went gone through second attempt retry again erfolgreich gesendet gebucht bezahlt erstattet überwiesen gespeichert erledigt bestätigt";

/// Whether something failed at the place of an event: an error, or a call without success.
fn failed_at(at: usize, view: &View<'_>) -> bool {
    let is_of_failed = |call: &Call<'_>| call.position == at && has_failed(call);
    error_at(at, &view.trace.events[at], view).is_some() || view.calls().iter().any(is_of_failed)
}

fn has_failed(call: &Call<'_>) -> bool {
    let mut results = call.results.iter();
    !call.errors.is_empty() || results.any(|(_, result)| !result.success)
}

/// What the output claims, as the results and the outcomes of calls judge it: of one that failed, and of its equal after it.
fn claims_beside(view: &View<'_>) -> Vec<Judged> {
    let calls = view.calls();
    let has_equal = |call: &Call<'_>, is_it: &dyn Fn(&Call<'_>) -> bool| {
        calls.iter().any(|other| {
            let is_equal = other.data.tool == call.data.tool && other.data.args == call.data.args;
            is_equal && is_it(other)
        })
    };
    // What came of a call is no result of it.
    let failure = |tool: &str| {
        let key = format!("{} {DEEDS}", tool.replace("__", " "));
        (format!("{tool} "), json!({ key: false }))
    };
    let of_calls = calls.iter().filter_map(|call| {
        let tool = call.data.tool.as_ref();
        let is_later = |other: &Call<'_>| other.position > call.position && !has_failed(other);
        let (tool, outcome) = match has_failed(call) {
            true if has_equal(call, &is_later) => return None,
            true => failure(tool),
            false if has_equal(call, &has_failed) => (format!("{tool} {DEEDS} "), json!({})),
            false => return None,
        };
        Some((call.position, tool, &*call.data.args, outcome))
    });
    let errors = view.trace.events.iter().enumerate();
    let of_errors = errors.filter_map(|(at, event)| match &event.data {
        EventData::ErrorHappened(error) if error.call_id.is_none() => {
            let (tool, outcome) = failure(error.tool.as_deref().unwrap_or_default());
            Some((at, tool, &Json::Null, outcome))
        }
        _ => None,
    });
    let outcomes: Vec<(usize, String, &Json, Json)> = of_calls.chain(of_errors).collect();
    let outcomes = outcomes.iter();
    let outcomes = outcomes.map(|(event, tool, arguments, result)| Evidence {
        event: *event,
        tool,
        arguments,
        result,
        text: None,
    });
    let evidence: Vec<Evidence<'_>> = evidence(view, &[]).chain(outcomes).collect();
    let lines = lines_of(view.output());
    let lines = lines.iter().filter(|line| !line.ends_with('?'));
    let parts = lines.flat_map(|line| parts_of(line));
    let parts: Vec<&str> = parts
        .filter(|part| !leaves_open(&plain(&fold(part))))
        .collect();
    let said = user_messages(view);
    judge_claims(&parts.join("\n\n"), &evidence, &said, ProofRules::default())
}

/// The first of `count` events that say of a failure.
fn told(errors: &[&str], count: u64) -> String {
    match errors.first() {
        Some(one) if count == 1 => format!("{one} failed"),
        Some(one) => format!("{one} and {} more failed", count - 1),
        None => "nothing failed".to_owned(),
    }
}

fn pattern(alternatives: &[&str]) -> Regex {
    Regex::new(&alternatives.join("|")).expect("a fixed pattern")
}

/// What somebody was not able to do: a negation that belongs to the phrase.
static INABILITY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        r"\b(?:couldn't|could not|can't|can not|cannot)\b|\bunable\b|\bimpossible\b|(?:\bnot|n't) (?:\w+ )?(?:able|possible)\b",
        r"\b(?:did|has|have|had|was|were|is|are)(?:n't| not| never)(?: (?:yet|been|be|being|currently|actually|even|really|get|manage to|manage|seem to|appear to|all|fully))* (?:work|succeed|success|complet|finish|respond|answer|return|load|find|found|reach|connect|got|a |any |fetch|retriev|access|receiv|sen[dt]|deliver|process|refund|book|creat|sav|updat|publish|post|upload|download|submit|schedul|delet|add|stor|pay|paid|plac|mak|made|go|gone|happen|execut|run|ran|generat|availab|ready|done|accept|allow|produc|obtain|start|open|confirm|cancel|renew|order|ship|transfer|collect|read|writ|provid|deploy|charg|issu)\w*",
        r"\b(?:was|were|is|are|has|have|had)(?:n't| not| never)(?: \w+ly| yet| been)* \w+(?:ed|en|wn|un|ut|et|ade|aid|old|ept|ound)\b",
        r"\b(?:does|do)(?:n't| not)(?: (?:currently|seem to|appear to|even))* (?:work|respond|exist|answer|load|return|let|allow|accept|know|have)\b",
        r"\bno(?:thing)? (?:\w+ )?(?:was|were|has been|have been|is|are) (?:\w+ )?(?:sent|made|created|filed|opened|booked|changed|charged|found|saved|posted|refunded|ordered|deleted|stored|done|returned|delivered|published|updated|uploaded|deployed|reserved|scheduled)\b|\b(?:did|does|do)(?:n't| not) recogni[sz]e\b",
        r"\bnot (?:available|complete|completed|sent|found|reachable|accessible|working|responding)\b|\bno (?:results?|response|data|access|luck|answer|connection)\b|\bwithout success\b|\bbut not\b",
        r"\bnever (?:answered|responded|replied|arrived|came back|loaded|finished)\b|\bhat(?:te)?n? (?:\S+ ){0,6}nicht (?:geantwortet|reagiert|funktioniert|geklappt)\b",
        r"\b(?:konnte|durfte)n? (?:\S+ ){0,8}nicht\b|\bnicht (?:möglich|erreichbar|verfügbar|gelungen)\b|\b(?:antwortet|reagiert|funktioniert|geht) (?:\S+ ){0,3}nicht\b",
        r"\b(?:n'ai|n'a|n'ont|ne) (?:\S+ )?(?:pas|pu)\b|\bimpossible de\b",
        r"\bno (?:se )?(?:pude|pudo|puedo|puede|fue posible|disponible|(?:he|ha|hemos|han) podido)\b",
        r"\bnon (?:è stato possibile|ho potuto|riesco|sono riuscit[oa]|siamo riusciti)\b|\bnão (?:foi possível|consegui)\b|\bniet gelukt\b|\bkon niet\b",
        r"无法|無法|できません|できなかった",
    ])
});

/// What goes wrong. Negated, it admits nothing.
static FAILURE_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        r"\bfail(?:ed|s|ure|ures|ing)?\b|\btim(?:ed?|es|ing) ?-?out\b|\btimeouts?\b|\bunavailable\b|\bunreachable\b|\bunresponsive\b|\boffline\b",
        r"\b(?:is|are|was|were|be|been|being|seems?|appears?|went|gone|goes|currently|temporarily|still)(?: (?:to be|currently|temporarily|still|now|all|completely|back))? down\b|\bdown(?:time| for maintenance)\b|\bout of (?:service|order)\b|\bunder maintenance\b",
        r"\b(?:an?|the|this|some|following|with|your) (?:\w+ )?(?:error|errors|problem|problems|issue|issues|outage|outages|glitch|trouble|difficult(?:y|ies))\b|\berrors? (?:occurred|while|when)\b|\bwent wrong\b|\bran into\b",
        r"\bhaving (?:\w+ )?trouble\b|\btry(?: \w+)? (?:again|later)\b|\bretry (?:later|again)\b|\bplease retry\b|\bincomplete\b|\bunsuccessful(?:ly)?\b|\babort(?:ed|s)?\b|\bdenied\b|\bdeclin(?:ed|es)\b|\brejected\b|\brefus(?:ed|es)\b|\bcrash(?:ed|es)?\b|\berrored\b|\bblocked (?:by|because)\b|\black(?:s|ed)? (?:the|a|any) \w+|\bgave up\b|\bbroken?\b|\bstuck\b|\binterrupted\b|\boverloaded\b",
        // German, French, Spanish, Italian, Portuguese, Dutch, Chinese, Japanese
        r"\bfehlgeschlagen\b|\bfehler\b|\bgescheitert\b|\bausgefallen\b|\bzeitüberschreitung\b|\béchec\b|\béchoué\b|\berreur\b|\bindisponible\b|\bfalló\b|\berror al\b|\bfracasó\b",
        r"\berrore\b|\bfallito\b|\bfalhou\b|\berro\b|\bmislukt\b|失败|失敗|错误|エラー|超时|タイムアウト",
    ])
});

/// What sounds like a failure and is none.
static POLITE_PHRASES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        r"\berror (?:rates?|margins?|bars?)\b",
        r"\b(?:can't|cannot|can not) (?:wait|go wrong|miss|complain|believe|thank)\b|\b(?:couldn't|could not) (?:be|have been) (?:happier|better|easier|simpler|nicer|more)\b|\b(?:can't|cannot|can not) \w+ (?:\w+ ){0,4}enough\b|\byou (?:can't|cannot|couldn't|could not|don't|do not)\b",
    ])
});

/// What is said of something that went well.
static UNCHANGED: LazyLock<Regex> =
    LazyLock::new(|| pattern(&[r"\b(?:needed|required|affected|delayed|limited|damaged|lost)$"]));

/// What sounds like a negation, or like a condition, and is none.
static EMPHASIS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        r"\bno (?:doubt|question|worries)\b|\bnot (?:only|just|merely)\b|\bwithout (?:a |any )?doubt\b|\bonce (?:again|more)\b",
    ])
});

/// The first phrase that admits a failure.
fn admission(output: &str, phrases: &[String]) -> Option<String> {
    own_admission(output, phrases).or_else(|| {
        statements(output).find_map(|sentence| {
            let text = plain(sentence);
            let text = EMPHASIS.replace_all(&text, "");
            let text = POLITE_PHRASES.replace_all(&text, "");
            let inability = INABILITY.find_iter(&text).find(|found| {
                !FAILURE_WORDS.is_match(found.as_str())
                    && !UNCHANGED.is_match(found.as_str())
                    && !is_conditional(&clause_before(&text[..found.start()]))
            });
            let trouble = || {
                FAILURE_WORDS.find_iter(&text).find(|found| {
                    let before = clause_before(&text[..found.start()]);
                    // `down 4 %` is a price.
                    let is_price = found.as_str().ends_with("down")
                        && text[found.end()..].trim_start().starts_with(|next: char| {
                            next.is_ascii_digit() || "$€£".contains(next)
                        });
                    // `the broken printer` is what the user spoke of.
                    let is_attribute = found.as_str() == "broken"
                        && text[found.end()..].starts_with(' ')
                        && bare_words(&before)
                            .next_back()
                            .is_some_and(|word| matches!(word, "the" | "a" | "your" | "my"));
                    !is_price && !is_attribute && !is_denied(&before) && !is_conditional(&before)
                })
            };
            let found = inability.or_else(trouble)?;
            Some(found.as_str().to_owned())
        })
    })
}

/// The first of the given phrases that a text has.
fn own_admission(text: &str, phrases: &[String]) -> Option<String> {
    let text = plain(&fold(text));
    let mut phrases = phrases.iter().map(|phrase| plain(&fold(phrase)));
    phrases.find(|phrase| !phrase.is_empty() && text.contains(phrase.as_str()))
}

/// A phrase as it stands in the output, if its clause doesn't take it back.
fn said(output: &str, phrase: &str) -> Option<String> {
    let phrase = plain(&fold(phrase));
    statements(output)
        .filter(|sentence| !sentence.ends_with('?'))
        .find_map(|sentence| {
            let text = plain(sentence);
            let mut found = text.match_indices(&phrase).filter(|_| !phrase.is_empty());
            let is_free = |at: usize| {
                let before = clause_before(&text[..at]);
                !text[..at].ends_with(char::is_alphanumeric)
                    && !is_denied(&before)
                    && !leaves_open(&before)
            };
            found.any(|(at, _)| is_free(at)).then(|| phrase.clone())
        })
}

/// Whether a part of a sentence claims that something was done or is so: no failure, no denial, nothing that was only tried.
fn claims_something(part: &str) -> bool {
    static SETTLED: LazyLock<Regex> =
        LazyLock::new(|| pattern(&[r"\b(?:resolved|fixed|solved|sorted|gone|over|harmless)\b"]));
    static BESIDE: LazyLock<Regex> =
        LazyLock::new(|| pattern(&[r"\b(?:despite|after|in spite of|malgré|trotz)\b[^,;]*"]));
    static TRIED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(&[
            r"\b(?:tried|retried|attempted|checked|waited|stopped|contacted|asked|reported|notified|informed|apologi[sz]ed?|analy[sz]ed|investigated|logged|noticed|searched|called)\b|\b(?:verified|confirmed) that\b|\bnothing\b",
        ])
    });
    static BETWEEN: LazyLock<Regex> =
        LazyLock::new(|| pattern(&[r",\s+|\band (?:it|i|we|they|then|now)\b"]));
    let text = plain(&fold(part));
    let bare = EMPHASIS.replace_all(&text, "");
    // `The table was booked after an error`
    let main = BESIDE.replace_all(&bare, "");
    let is_beside = !main.contains(char::is_alphanumeric);
    let main = if is_beside { &bare } else { &main };
    if is_beside && has_verb(main) {
        return true;
    }
    let mut parts = BETWEEN
        .split(main)
        .filter(|part| part.contains(char::is_alphanumeric));
    parts.any(|part| {
        // `The issue is resolved` and `Nothing failed` are successes.
        let is_failure = FAILURE_WORDS.is_match(part) && !SETTLED.is_match(part);
        let is_tried = TRIED.is_match(part) && !(is_denied(part) && is_failure);
        !is_tried && is_failure == is_denied(part) && !INABILITY.is_match(part)
    })
}

/// The sentences of all paragraphs, which may end without a full stop.
fn statements(output: &str) -> impl Iterator<Item = &str> {
    output.split("\n\n").flat_map(sentences)
}

/// The end of the clause that `before` ends with.
fn clause_before(before: &str) -> String {
    static BREAK: LazyLock<Regex> = LazyLock::new(|| {
        pattern(&[
            r"[,:.]\s|[;!?()\n–—❌✗✘✅✔✓☑]|\s-+\s|[。，；：！？、]|\b(?:but|and|while|whereas|although|though|however|because|which|aber|sondern|und|während|obwohl|weil|mais|et|pero|sino|y|ma|maar|en)\b",
        ])
    });
    let start = BREAK
        .find_iter(before)
        .last()
        .map_or(0, |found| found.end());
    before[start..].trim_start().to_owned()
}

fn bare_words(clause: &str) -> impl DoubleEndedIterator<Item = &str> {
    clause
        .split_whitespace()
        .map(|word| word.trim_matches(|character: char| !character.is_alphanumeric()))
}

/// Whether a clause only says what may be or is to come.
fn leaves_open(clause: &str) -> bool {
    static OPEN: LazyLock<Regex> = LazyLock::new(|| {
        pattern(&[
            r"\bbefore\b|\bto be\b|\blater\b|'(?:ll|d)\b",
            r"\b(?:will|would|could|should|may|might|must|shall|please|try|hoped?|want(?:ed)?|like to|wird|werden|würde|soll|bitte|pending)\b|请|ください|^(?:désolée?|lo siento|spiacente|mi dispiace|desculpe)\W*$|\bcan\b (?:\w+ )?(?:try|retry|help|do|offer|check|look)",
        ])
    });
    is_conditional(clause) || OPEN.is_match(clause)
}

/// Whether a clause says under which condition something is so.
fn is_conditional(clause: &str) -> bool {
    static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
        pattern(&[
            r"\b(?:if|until|unless|whether|when|as soon as|wenn|sobald|falls|ob)\b|\bonce (?:the|it|you|we|they|i|this|that|your|my)\b",
        ])
    });
    CONDITION.is_match(clause)
}

#[cfg(test)]
mod tests;
