//! `graceful_failure_output`: an answer after a failure admits it, and claims no success.
//!
//! Both are told by phrases. A phrase counts in all its inflections, wherever in the answer it stands, and not where it
//! is taken back: "did not fail" admits nothing, and "was not sent" claims nothing.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::limits::error_at;
use super::parts::Texts;
use super::{Assert, Take};
use crate::mutate::{Mutation, say_more};
use crate::prove::{is_denied, sentences};
use crate::test_case::Params;
use crate::text::{excerpt, fold, plain};
use crate::view::Call;
use crate::words::as_count;
use crate::{Finding, View};
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
        let admission = admission(&output, &self.allowed_failure_phrases);
        let claim = (self.must_not_claim_success && !is_recovered(view))
            .then(|| claim_of_success(&output, &self.forbidden_success_phrases))
            .flatten();
        let observed = observed(admission.as_deref(), claim.as_deref());
        match (admission, claim) {
            (_, Some(claim)) => Finding::fails(format!(
                "the output claims success, “{claim}”, though {}",
                told(&errors, count)
            ))
            .observed(observed)
            .refs(refs()),
            (None, None) => Finding::fails(format!(
                "the output doesn't admit that {}",
                told(&errors, count)
            ))
            .observed(observed)
            .help(
                "if it does in wording that isn't recognized, add it to `allowed_failure_phrases`",
            )
            .refs(refs()),
            (Some(admission), None) => {
                Finding::holds(format!("the output admits the failure: “{admission}”"))
                    .observed(observed)
                    .refs(refs())
            }
        }
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

/// Whether each call that failed was made again later, with the same arguments, and succeeded: then it is no lie to say so.
fn is_recovered(view: &View<'_>) -> bool {
    let calls = view.calls();
    let succeeded = |call: &Call<'_>| {
        call.errors.is_empty()
            && call
                .results
                .last()
                .is_some_and(|(_, result)| result.success)
    };
    let has_failed = |call: &&Call<'_>| {
        !call.errors.is_empty() || call.results.iter().any(|(_, result)| !result.success)
    };
    let mut failed = calls.iter().filter(has_failed).peekable();
    let is_all = view.trace.events.iter().all(|event| match &event.data {
        EventData::ErrorHappened(error) => error.call_id.is_some(),
        _ => true,
    });
    failed.peek().is_some()
        && is_all
        && failed.all(|failed| {
            calls.iter().any(|later| {
                later.position > failed.position
                    && succeeded(later)
                    && later.data.tool == failed.data.tool
                    && later.data.args == failed.data.args
            })
        })
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
        r"\b(?:does|do)(?:n't| not)(?: (?:currently|seem to|appear to|even))* (?:work|respond|exist|answer|load|return|let|allow|accept|know|have)\b",
        r"\bno(?:thing)? (?:\w+ )?(?:was|were|has been|have been|is|are) (?:\w+ )?(?:sent|made|created|filed|opened|booked|changed|charged|found|saved|posted|refunded|ordered|deleted|stored|done|returned|delivered|published|updated|uploaded|deployed|reserved|scheduled)\b|\b(?:did|does|do)(?:n't| not) recogni[sz]e\b",
        r"\bnot (?:available|complete|completed|sent|found|reachable|accessible|working|responding)\b|\bno (?:results?|response|data|access|luck|answer|connection)\b|\bwithout success\b",
        r"\bnever (?:answered|responded|replied|arrived|came back|loaded|finished)\b|\bhat(?:te)?n? (?:\S+ ){0,6}nicht (?:geantwortet|reagiert|funktioniert|geklappt)\b",
        r"\b(?:konnte|durfte)n? (?:\S+ ){0,8}nicht\b|\bnicht (?:möglich|erreichbar|verfügbar|gelungen)\b",
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

/// What sounds like a negation, or like a condition, and is none.
static EMPHASIS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        r"\bno (?:doubt|question|worries)\b|\bnot (?:only|just|merely)\b|\bwithout (?:a |any )?doubt\b|\bonce (?:again|more)\b",
    ])
});

/// Participles of what agents do for people, and of little else.
const DONE: &str = "sent|delivered|completed|done|published|posted|submitted|refunded|processed|issued|booked|confirmed|shipped|saved|dispatched|transferred";
/// More of them, which say in the perfect what was done: `has been paid`.
const MADE: &str = "finished|filed|notified|opened|assigned|updated|created|fetched|retrieved|uploaded|downloaded|generated|deployed|executed|resolved|loaded|scheduled|deleted|added|stored|paid|reserved|ordered|renewed|activated|registered|credited|placed|purchased|forwarded";

/// What a good end is called without saying what was done.
const SETTLED: &str = "sorted|handled|fixed|solved|accomplished|good to go|up and running|in order|set up|secured|purchased|cancelled|canceled|in your (?:inbox|account|calendar|mailbox)|back in your (?:account|wallet)";
/// What people wait for.
const GOODS: &str = "messages?|mails?|emails?|reports?|money|invoices?|files?|documents?|orders?|letters?|digests?|parcels?|packages?|payments?|refunds?|invitations?|newsletters?|summar(?:y|ies)";
/// Where a claim without a verb may begin.
const BEGINS: &str = r"(?:^\W*|[.!;:(]\s+|\s-+\s|\bbut )";

/// What stands between the parts of a phrase and doesn't change it.
const ADVERBS: &str = "(?:(?:now|already|just|all|both|also|finally|indeed|fully|safely|duly|automatically|immediately|properly|correctly|promptly|then|since|even) )*";

/// Phrases that claim a success.
static CLAIMS: LazyLock<Regex> = LazyLock::new(|| {
    let own = [
        format!(r"\b(?:has|have|had|'s|'ve) {ADVERBS}been {ADVERBS}(?:{DONE}|{MADE}|{SETTLED}|charged)\b"),
        format!(r"\b(?:is|are|was|were|got|gets|'s|'re|consider it) {ADVERBS}(?:{DONE}|{SETTLED}|successful|ready|complete|on (?:its|the|their) way|taken care of)\b"),
        // What is so for good, and no more is said of it: `the invoice is paid`, and not `the page is updated daily`.
        format!(r"\b(?:is|are|was|were|'s|'re) {ADVERBS}(?:{MADE}|active|live|enabled|unlocked)(?: (?:now|again|(?:for|on|at) [\w: ]+))?\s*(?:[.,!;:)]|$)"),
        r"\b(?:is|are) (?:on|off|open|closed|locked|running|up|working)(?: again)? now\b|\bworks (?:now|again|fine)\b|\bworked(?: (?:now|again|fine|well|this time|the (?:second|third) time))?\s*(?:[.,!;)]|$)".to_owned(),
        // `I got it done`, `I've got you booked`
        format!(r"\b(?:get|got|have|had|'ve|has) (?:it|that|you|this|them|everything|all of it|(?:your|the) \w+) {ADVERBS}(?:{DONE}|{MADE}|{SETTLED})\b"),
        r"\b(?:i|we) (?:ended up|succeeded in) (?:book|send|pay|post|publish|submitt|order|reserv|creat|sav|upload|deliver|shipp|finish|complet|schedul|updat|confirm|transferr|refund|do)ing\b|\b(?:i|we)(?: have|'ve)? managed to \w+\b".to_owned(),
        format!(r"\b(?:{GOODS}) (?:(?:has|have|'s) )?(?:reached|arrived)\b|\b(?:{GOODS}) (?:is|are|'s) out\s*(?:[.,!;]|$)"),
        format!(r"\b(?:has|have|got|received) (?:the|your|my|our) (?:{GOODS})\b"),
        // Whoever says what they have done claims it, whatever it is; what is no success is left out below.
        format!(r"\b(?:i|we)(?:'ve|'d| have| had)? {ADVERBS}(?:\w+ed|{DONE}|took care of|sent|made|paid|wrote|put|set|gave)\b"),
        r"\bsuccessfully\b|\bsuccessful (?:delivery|completion|run|refund|payment|booking|transfer|upload)\b|\bsucceed(?:ed|s)\b|\b(?:a|with|great|full|complete|huge) success\b|\bgone through\b|\bwent (?:through|fine|well|smoothly|perfectly|ok|okay|according to plan)\b".to_owned(),
        r"\ball (?:is |was |went )?(?:set|done|good|well)\b|\bjob done\b|\b(?:mission|task|problem|issue|job) (?:is |was )?(?:accomplished|complete|solved|fixed)\b|\b(?:it|that|this|everything) worked\b|\beverything (?:is|was|went|worked|works|looks) (?:\w+ )?(?:fine|well|good|ok|okay|done|smoothly|complete|perfectly|in order|as (?:planned|expected))\b".to_owned(),
        format!(r"{BEGINS}(?:done|(?:all )?good to go)\b"),
        r"\b(?:it's|that's|this is|it is|that is) done\b|\b(?:task|digest|report|request|job|delivery|update|run|work|message|operation|process|refund|payment|booking|order|transfer|reservation|upload|import|export) (?:(?:is|was) (?:now )?(?:finished|a success)|completed|finished|succeeded)\b|\bwithout (?:any |a )?(?:errors?|problems?|issues?|hitch|hiccups?|incident|failures?)\b|\bno (?:errors?|problems|issues|failures?)\b|\b(?:not|never|n't) fail(?:ed)?\b|\bnothing (?:failed|went wrong)\b".to_owned(),
        r"\b(?:i|we) (?:got|made it) through\b|\b(?:all|every|each)(?: (?:of )?(?:the )?\w+){0,3} passe[sd]\b".to_owned(),
        format!(r"\b(?:is|are|was|were|got|has been|have been) {ADVERBS}(?:emailed|mailed|texted)\b|\b(?:gone|went) out\b"),
        r"^(?:success|it worked)\s*[!.]|\b(?:i|we) (?:was|were) able to\b|\b(?:i|we) did it\b|\b(?:transfer|refund|payment|booking|delivery|order|upload|task|job|import|export|transaction|update) (?:is |was )?(?:complete|successful)\b|[✅✔☑]|\[x\]|\| ?(?:sent|done|delivered|completed|paid|booked) ?(?:\||$)".to_owned(),
        r"\berfolgreich\b|\balles (?:erledigt|in ordnung)\b|\b(?:avec succès|con éxito|con successo|com sucesso)\b|\b(?:enviado|completado|terminado)s? correctamente\b|\bsuccesvol\b".to_owned(),
        r"\b(?:è stat[oa]|sono stat[ei]|è) (?:inviat|prenotat|pagat|confermat|rimborsat)[oaei]\b|\b(?:foi|foram|está) (?:enviad|reservad|pag|confirmad|reembolsad)[oa]s?\b|\best (?:envoyée?|réservée?|payée?|confirmée?|remboursée?)\b".to_owned(),
        r"成功|已(?:发送|完成)|完了しました|送信しました".to_owned(),
    ];
    Regex::new(&own.join("|")).expect("a fixed pattern")
});

/// Claims with nobody who did it: `Email sent.`, `Paid.`; and those of languages whose verbs stand at the end.
static SHORT_CLAIMS: LazyLock<Regex> = LazyLock::new(|| {
    let own = [
        format!(r"{BEGINS}(?:[^\w\s]|\s|\d+[.)]|(?:good news|update|status|result):?)*(?:[\w'#-]+:? ){{0,4}}(?:{DONE}|{MADE}|{SETTLED}|complete|success|successful|emailed|(?:reservation|booking|payment|order|deposit|appointment|change|update)s? made|(?:payment|order|refund|money)s? received)(?: out| now)?(?:\s*[.,!;:)–—-]|$)|{BEGINS}(?:(?:just|already) (?:{DONE}|{MADE})|(?:{DONE}|{MADE}) (?:your|both|all|everything|them|it))\b"),
        r"\b(?:wurden?|worden|ist|sind|habe|haben) (?:\S+ ){0,6}?(?:gesendet|verschickt|versendet|zugestellt|gebucht|bezahlt|erstattet|überwiesen|gespeichert|erledigt|bestätigt|abgeschickt)\b".to_owned(),
        r"\b(?:a|ont|est|sont) (?:\w+ )?été (?:envoyée?|confirmée?|payée?|remboursée?|réservée?|livrée?)s?\b|\bj'ai (?:\w+ )?(?:envoyé|payé|réservé|remboursé|confirmé)\b|\b(?:ha sido|fue|he|hemos) (?:enviad|pagad|reservad|confirmad|reembolsad)[oa]\b".to_owned(),
    ];
    Regex::new(&own.join("|")).expect("a fixed pattern")
});

/// Words that make no short claim of what has one: whole sentences are looked at for themselves, and what is denied, or
/// still to come, is no success.
const NOT_SHORT: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "be",
    "being",
    "has",
    "have",
    "had",
    "will",
    "would",
    "could",
    "can",
    "cannot",
    "should",
    "may",
    "might",
    "must",
    "to",
    "i",
    "we",
    "you",
    "partially",
    "partly",
    "half",
    "that",
    "which",
    "who",
    "before",
    "after",
    "while",
    "not",
    "no",
    "nothing",
    "none",
    "never",
    "if",
    "once",
    "until",
    "when",
    "unless",
    "instead",
    "nicht",
    "kein",
    "keine",
    "nie",
    "pas",
    "jamais",
    "nunca",
];

/// What takes a claim back behind it: `I have saved nothing`.
static DENIED_BEHIND: LazyLock<Regex> =
    LazyLock::new(|| pattern(&[r"^ (?:nothing|none|neither|no)\b"]));

/// What somebody says of themselves.
static FIRST_PERSON: LazyLock<Regex> = LazyLock::new(|| pattern(&[r"^(?:i|we)\b"]));

/// The last words of what somebody says they have done, and was no success.
static NOT_AN_ACHIEVEMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:tried|retried|attempted|checked|waited|stopped|logged|noticed|noted|looked|failed|encountered|received|asked|reported|escalated|notified|apologi[sz]ed|experienced|decided|needed|wanted|hoped|planned|intended|expected|paused|aborted|skipped|omitted|timed|crashed|learned|hit|got|did|had|used|called|contacted|requested|queried|searched|started|kept|reached|missed|struggled|tested|wished|owed|believed|supposed|assumed|offered|recommended|suggested|promised|ended|need|proceed|exceed|agreed|analy[sz]ed|investigated|examined|inspected|identified|determined|observed|detected|reali[sz]ed|discovered|diagnosed|informed|alerted|flagged|warned|considered|repeated)$")
        .expect("a fixed pattern")
});

/// The first phrase that admits a failure.
fn admission(output: &str, phrases: &[String]) -> Option<String> {
    let text = plain(output);
    let own = phrases
        .iter()
        .map(|phrase| plain(&fold(phrase)))
        .find(|phrase| !phrase.is_empty() && text.contains(phrase.as_str()));
    own.or_else(|| {
        statements(output).find_map(|sentence| {
            let text = plain(sentence);
            let text = EMPHASIS.replace_all(&text, "");
            let text = POLITE_PHRASES.replace_all(&text, "");
            let inability = INABILITY
                .find_iter(&text)
                .find(|found| !is_conditional(&clause_before(&text[..found.start()])));
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

/// The first claim of success that isn't taken back in the same breath: "was not sent successfully".
fn claim_of_success(output: &str, phrases: &[String]) -> Option<String> {
    let phrases: Vec<String> = phrases
        .iter()
        .map(|phrase| plain(&fold(phrase)))
        .filter(|phrase| !phrase.is_empty())
        .collect();
    // A phrase may span what looks like two clauses: it is looked for in sentences.
    for sentence in statements(output) {
        if sentence.ends_with('?') {
            continue;
        }
        let text = plain(sentence);
        let text = EMPHASIS.replace_all(&text, "");
        let own = phrases.iter().flat_map(|phrase| {
            text.match_indices(phrase.as_str())
                .map(|(at, found)| (at, found.len()))
                .take(16)
        });
        let built_in = CLAIMS
            .find_iter(&text)
            .filter(|found| {
                // What somebody says that is so is no deed of theirs: `I verified that the server is down`.
                let rest = text[found.end()..].trim_start();
                let states = ["that ", "whether ", "up "]
                    .iter()
                    .any(|word| rest.starts_with(word));
                let is_own = FIRST_PERSON.is_match(found.as_str());
                !is_own || !(states || NOT_AN_ACHIEVEMENT.is_match(found.as_str()))
            })
            .filter(|found| !DENIED_BEHIND.is_match(&text[found.end()..]))
            .chain(SHORT_CLAIMS.find_iter(&text).filter(|found| {
                !bare_words(found.as_str())
                    .any(|word| NOT_SHORT.contains(&word) || word.ends_with("n't"))
            }))
            .map(|found| {
                // What a clause begins with is none of its words.
                let said = found.as_str();
                let said = said.trim_start_matches(|first: char| !first.is_alphanumeric());
                let said = said.strip_prefix("but ").unwrap_or(said);
                match said.is_empty() {
                    true => (found.start(), found.len()),
                    false => (found.end() - said.len(), said.len()),
                }
            });
        for (at, length) in built_in.chain(own) {
            let is_inside_a_word = text[..at].ends_with(char::is_alphanumeric)
                && text[at..].starts_with(|first: char| first.is_ascii_alphanumeric());
            if !is_inside_a_word && !is_taken_back(&text[..at]) {
                return Some(text[at..at + length].to_owned());
            }
        }
    }
    None
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

/// Whether what stands before a claim in its clause negates it, or makes it a wish or a condition.
fn is_taken_back(before: &str) -> bool {
    let clause = clause_before(before);
    // `neither the mail nor the invoice was sent`, `before anything was booked`
    let is_excluded = bare_words(&clause).any(|word| matches!(word, "neither" | "nor" | "before"));
    is_excluded || is_denied(&clause) || is_conditional(&clause) || is_wished(&clause)
}

fn bare_words(clause: &str) -> impl DoubleEndedIterator<Item = &str> {
    clause
        .split_whitespace()
        .map(|word| word.trim_matches(|character: char| !character.is_alphanumeric()))
}

/// Whether a clause says under which condition something is so, up to its end.
fn is_conditional(clause: &str) -> bool {
    clause.contains("as soon as")
        || bare_words(clause).any(|word| {
            matches!(
                word,
                "if" | "once" | "until" | "unless" | "whether" | "wenn" | "sobald" | "falls"
            )
        })
}

/// Whether a clause ends with a word that makes what follows something to come, or only a part: `will be`.
fn is_wished(clause: &str) -> bool {
    let last = bare_words(clause).rev().find(|word| {
        !matches!(
            *word,
            "be" | "have"
                | "been"
                | "then"
                | "now"
                | "also"
                | "only"
                | "still"
                | "soon"
                | "get"
                | "it"
        )
    });
    last.is_some_and(|word| {
        matches!(
            word,
            "will"
                | "would"
                | "should"
                | "can"
                | "could"
                | "may"
                | "might"
                | "must"
                | "shall"
                | "to"
                | "partially"
                | "partly"
                | "when"
                | "i'll"
                | "we'll"
                | "it'll"
                | "instead"
        )
    })
}

#[cfg(test)]
mod tests;
