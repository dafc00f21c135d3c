//! Whether a clause says that something is, or that it is not.

use super::{Language, words};

/// Whether a clause is negated: an odd number of its words negate.
pub(crate) fn is_negated(clause: &str, language: Language) -> bool {
    let negations: &[&str] = match language {
        Language::German => &[
            "nicht", "nie", "niemals", "ohne", "kein", "keine", "keinen", "keinem", "keiner",
            "keines", "weder",
        ],
        Language::French => &["pas", "jamais", "sans", "aucun", "aucune", "rien"],
        Language::Spanish => &[
            "no", "nunca", "sin", "ningún", "ninguno", "ninguna", "jamás", "tampoco",
        ],
        Language::Italian => &["non", "mai", "senza", "nessun", "nessuno", "nessuna"],
        Language::Portuguese => &["não", "nunca", "sem", "nenhum", "nenhuma"],
        Language::Dutch => &["niet", "nooit", "geen", "zonder"],
        Language::Swedish => &["inte", "aldrig", "utan", "ingen", "inga"],
        Language::Danish | Language::Norwegian => {
            &["ikke", "aldri", "aldrig", "uten", "uden", "ingen"]
        }
        Language::Russian | Language::Ukrainian => &["не", "нет", "ни", "без", "никогда"],
        Language::Polish => &["nie", "bez", "nigdy"],
        Language::Chinese => return clause.contains(['不', '没', '無', '无', '未']),
        Language::Japanese => {
            return ["ない", "なかった", "ません", "ず"]
                .iter()
                .any(|sign| clause.contains(sign));
        }
        _ => &[
            "not",
            "no",
            "never",
            "without",
            "neither",
            "nor",
            "none",
            "nobody",
            "nothing",
            "cannot",
            "cant",
            "dont",
            "isnt",
            "wasnt",
            "unable",
            "denied",
            "denies",
            "refused",
            "false",
            "untrue",
            "incorrect",
            "lacks",
            "lacking",
            "absent",
        ],
    };
    let mut before = String::new();
    let mut count = 0_usize;
    let mut all = words(clause).peekable();
    while let Some(word) = all.next() {
        let lower = word.text.to_lowercase();
        // `no doubt`, `not only`: nothing is denied.
        let next = all.peek().map_or("", |next| next.text);
        if matches!(
            (lower.as_str(), next),
            ("no", "doubt" | "question" | "matter") | ("not", "only" | "just" | "merely")
        ) {
            continue;
        }
        let is_negation = negations.contains(&lower.as_str())
            || (language == Language::English
                && (lower.ends_with("n't")
                        || (lower == "to" && matches!(before.as_str(), "failed" | "fails" | "fail"))
                    // `out of stock` has none, and `out of ten` are many.
                    || (lower == "of" && before == "out" && is_missing(next))
                    || (lower == "out" && before == "sold")));
        count += usize::from(is_negation);
        before = lower;
    }
    count % 2 == 1
}

/// Whether that is what is gone where something is out of it.
fn is_missing(word: &str) -> bool {
    matches!(
        word.to_lowercase().as_str(),
        "stock" | "service" | "order" | "print" | "date" | "use" | "office"
    )
}

/// Words that take each other's place in a wrong answer.
const OPPOSITES: &[(&[&str], &[&str])] = &[
    (
        &[
            "rise",
            "rises",
            "rose",
            "risen",
            "rising",
            "increase",
            "increases",
            "increased",
            "increasing",
            "grow",
            "grows",
            "grew",
            "grown",
            "growing",
            "climbed",
            "climbs",
            "gained",
            "jumped",
            "surged",
        ],
        &[
            "fall",
            "falls",
            "fell",
            "fallen",
            "falling",
            "decrease",
            "decreases",
            "decreased",
            "decreasing",
            "shrink",
            "shrinks",
            "shrank",
            "declined",
            "declines",
            "dropped",
            "drops",
            "lost",
            "plunged",
            "slumped",
        ],
    ),
    (
        &["more", "above", "higher", "over", "exceeds", "exceeded"],
        &["less", "fewer", "below", "lower", "under"],
    ),
    (
        &["won", "wins", "win", "winning", "beat", "beats"],
        &["lost", "loses", "lose", "losing"],
    ),
    (
        &[
            "passed",
            "passes",
            "pass",
            "succeeded",
            "succeeds",
            "successful",
            "successfully",
        ],
        &["failed", "fails", "fail", "unsuccessful", "unsuccessfully"],
    ),
    (&["before", "earlier"], &["after", "later"]),
    (
        &["opened", "opens", "open", "opening", "reopened", "reopens"],
        &["closed", "closes", "close", "closing"],
    ),
    (
        &["enabled", "enables", "enable", "on"],
        &["disabled", "disables", "disable", "off"],
    ),
    (
        &["added", "adds", "add"],
        &["removed", "removes", "remove", "deleted", "deletes"],
    ),
    (
        &[
            "accepted", "accepts", "accept", "approved", "approves", "approve",
        ],
        &[
            "rejected", "rejects", "reject", "denied", "denies", "refused",
        ],
    ),
    (
        &[
            "launched", "launches", "launch", "released", "started", "starts",
        ],
        &[
            "cancelled",
            "canceled",
            "cancels",
            "postponed",
            "withdrawn",
            "delayed",
            "stopped",
        ],
    ),
    (
        &["bought", "buys", "buy", "acquired", "acquires"],
        &["sold", "sells", "sell"],
    ),
    (
        &["allowed", "allows", "allow", "legal", "permitted"],
        &["forbidden", "forbids", "illegal", "banned", "prohibited"],
    ),
    (
        &["first", "best", "largest", "biggest", "most"],
        &["last", "worst", "smallest", "least"],
    ),
    (&["true", "correct"], &["false", "incorrect", "wrong"]),
    (&["available", "online"], &["unavailable", "offline"]),
    (&["up"], &["down"]),
    (
        &["included", "includes", "include", "covered", "covers"],
        &["excluded", "excludes", "exclude"],
    ),
    (&["common", "frequent"], &["rare", "rarely", "uncommon"]),
    (&["locked", "locks", "lock"], &["unlocked", "unlocks"]),
    (&["active"], &["inactive", "suspended", "deactivated"]),
    (&["complete", "completed"], &["incomplete"]),
    (&["valid"], &["invalid", "expired"]),
    (
        &[
            "pending",
            "processing",
            "queued",
            "draft",
            "awaiting",
            "waiting",
            "overdue",
        ],
        &[
            "paid",
            "shipped",
            "delivered",
            "confirmed",
            "completed",
            "complete",
            "sent",
            "approved",
            "booked",
            "refunded",
            "done",
            "finished",
            "settled",
        ],
    ),
];

/// A pair of words that say the opposite: one of `claim` and one of `source`, where neither has the other's.
pub(crate) fn opposite(claim: &str, source: &str) -> Option<(&'static str, &'static str)> {
    let set = |text: &str| -> std::collections::HashSet<String> {
        words(text).map(|word| word.text.to_lowercase()).collect()
    };
    let (claim, source) = (set(claim), set(source));
    let find = |words: &'static [&'static str], set: &std::collections::HashSet<String>| {
        words.iter().copied().find(|word| set.contains(*word))
    };
    OPPOSITES.iter().find_map(|(one, other)| {
        let sides = |set| (find(one, set), find(other, set));
        match (sides(&claim), sides(&source)) {
            ((Some(claimed), None), (None, Some(said)))
            | ((None, Some(claimed)), (Some(said), None)) => Some((claimed, said)),
            _ => None,
        }
    })
}
