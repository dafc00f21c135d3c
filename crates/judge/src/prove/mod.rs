//! Prove or refuse: whether what an answer claims is supported by results, refuted, or unproven.
//!
//! It understands little on purpose. A passage is what says one thing: a clause of a text, or a field of an object under what
//! names it. A claim is supported if one passage has every fact and every content word of it, with the same sign; refuted if a
//! fact of it stands nowhere, if the record that it names says something else, or if the passage has the other sign; else
//! unproven.

mod align;
mod claims;
mod data;
mod derived;
mod facts;
mod glue;
mod keys;
mod mixed;
mod names;
mod naming;
mod order;
mod outline;
mod pairs;
mod pieces;
mod proof;
mod reading;
mod records;
mod said;
mod same;
mod shapes;
mod signs;
mod sources;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashSet;

use cuecard_source::value::{Json, cut};
use regex::Regex;

use crate::assertions::parts::TextPattern;

use self::claims::claims;
use self::proof::{Proof, Prover};
use self::sources::{ResultOf, Sources};
use self::text::{Language, language};

pub(crate) use self::data::{is_function_word, month, number_word, weekday};
pub(crate) use self::keys::is_search;
pub(crate) use self::names::stands_in;
pub(crate) use self::proof::Verdict as ProofVerdict;
pub(crate) use self::reading::{
    DROPPING, Sentence, SpanKind, claiming, has_verb, is_denied, lines_of, mention, mentions,
    parts_of, quotes, states, words_of,
};
pub(crate) use self::text::{Language as ProofLanguage, fold, sentences};

/// A result that may prove something.
pub(crate) struct Evidence<'e> {
    /// The place of its event in the trace.
    pub(crate) event: usize,
    /// The tool that gave it.
    pub(crate) tool: &'e str,
    /// What the tool was called with; null if nobody knows.
    pub(crate) arguments: &'e Json,
    /// The result.
    pub(crate) result: &'e Json,
    /// The text beside it, if it says more.
    pub(crate) text: Option<&'e str>,
}

/// What became of a claim.
pub(crate) struct Judged {
    /// The claim, as the answer has it.
    pub(crate) claim: String,
    pub(crate) verdict: ProofVerdict,
    /// What shows it, or what is missing.
    pub(crate) why: String,
    /// The event that shows it.
    pub(crate) event: Option<usize>,
}

/// How claims are proved.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProofRules<'r> {
    /// Groups of words and phrases that mean the same.
    pub(crate) equivalents: &'r [Vec<String>],
    /// What calls were made with, whatever came of them.
    pub(crate) arguments: &'r [&'r Json],
    /// Sentences that are no claims.
    pub(crate) ignored: &'r [TextPattern],
    /// A claim is refuted if all results together have less than this part of its words, from 0 to 1.
    pub(crate) min_overlap: Option<f64>,
}

/// A longer answer, in bytes, is judged as far as this.
const LONGEST_ANSWER: usize = 200_000;

/// Judges every claim of an answer.
pub(crate) fn judge_claims(
    answer: &str,
    evidence: &[Evidence<'_>],
    said: &[&str],
    rules: ProofRules<'_>,
) -> Vec<Judged> {
    let same = |text: &str| with_equivalents(text, rules.equivalents);
    let answer = same(&cut(answer, LONGEST_ANSWER));
    let said: Vec<String> = said.iter().map(|text| same(text)).collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    let mut texts = String::new();
    let results: Vec<ResultOf<'_>> = evidence
        .iter()
        .flat_map(|evidence| {
            let own = std::iter::once(evidence.result.clone());
            let text = evidence.text.filter(|text| !says(evidence.result, text));
            own.chain(text.map(Json::from)).map(|value| {
                let value = if rules.equivalents.is_empty() {
                    value
                } else {
                    each_text(&value, &same)
                };
                ResultOf::new(evidence.event, evidence.tool, evidence.arguments, &value)
            })
        })
        .collect();
    for result in &results {
        sources::leaves("", &result.value, &mut |_, leaf| {
            texts.push_str(leaf.as_str().unwrap_or_default());
            texts.push(' ');
        });
    }
    let of_results = language(&texts, Some(Language::English));
    let of_user = language(&said.join(" "), of_results);
    let ignored: Vec<&Regex> = rules.ignored.iter().map(|pattern| &pattern.regex).collect();
    let sources = Sources::new(&results, &said, rules.arguments, language(&answer, of_user));
    let prover = Prover {
        sources: &sources,
        min_overlap: rules.min_overlap,
    };
    let mut proved = HashSet::new();
    let is_name = |text: &str| sources.is_name(text);
    let is_key = |text: &str| sources.begins_with_key(text);
    let judged = claims(&answer, &ignored, is_name, is_key)
        .into_iter()
        .map(|claim| {
            let Proof {
                verdict,
                why,
                event,
            } = prover.prove(&claim, &proved);
            if verdict == ProofVerdict::Supported {
                proved.insert(claim.line);
            }
            Judged {
                claim: claim.shown,
                verdict,
                why,
                event,
            }
        });
    judged.collect()
}

/// Whether a result says a text already.
fn says(result: &Json, text: &str) -> bool {
    let parsed = || serde_json::from_str::<Json>(text).ok();
    result.as_str() == Some(text) || parsed().is_some_and(|parsed| parsed == *result)
}

fn each_text(value: &Json, change: &dyn Fn(&str) -> String) -> Json {
    match value {
        Json::String(text) => change(text).into(),
        Json::Array(items) => items.iter().map(|item| each_text(item, change)).collect(),
        Json::Object(members) => {
            let members = members.iter();
            Json::Object(
                members
                    .map(|(key, value)| (key.clone(), each_text(value, change)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// The text with the first of the words that mean the same in place of each of them.
fn with_equivalents(text: &str, equivalents: &[Vec<String>]) -> String {
    let mut text = text.to_owned();
    for group in equivalents {
        let [first, others @ ..] = group.as_slice() else {
            continue;
        };
        for other in others.iter().filter(|other| !other.is_empty()) {
            if let Ok(pattern) = Regex::new(&format!(r"(?i)\b{}\b", regex::escape(other))) {
                text = pattern
                    .replace_all(&text, regex::NoExpand(first))
                    .into_owned();
            }
        }
    }
    text
}
