//! `claims_supported_by_fixtures`: what the output claims is proved by the tools' results.

use std::collections::HashSet;

use cuecard_source::value::{Json, cut};
use cuecard_trace::EventData;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::parts::{Equivalents, Patterns, Rules, Share, ToolPattern, Tools};
use super::{Assert, TOOL_TRACE};
use crate::evidence::{results, tools_that_count};
use crate::mutate::Mutation;
use crate::prove::{Evidence, Judged, ProofRules, ProofVerdict, judge_claims};
use crate::test_case::Params;
use crate::{Finding, Verdict, View};

/// So many claims are told, and named in the message.
const MOST_TOLD: usize = 20;
const MOST_IN_MESSAGE: usize = 3;

/// So much of a claim is shown, in characters.
const LONGEST_CLAIM: usize = 200;

/// What the output claims stands in the tools' results.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ClaimsSupportedByFixtures {
    /// Tools whose results count; globs are allowed.
    pub allowed_sources: Tools,
    /// A claim fails if all results together have less than this part of its content words.
    pub min_overlap: Option<Share>,
    /// What becomes of a claim that is neither supported nor refuted (default: warn).
    #[serde(default)]
    pub unproven: Unproven,
    /// Groups of words and phrases that mean the same here.
    #[serde(default)]
    pub equivalents: Equivalents,
    /// Regular expressions of sentences that are no claims.
    #[serde(default)]
    pub ignore: Patterns,
}

/// What becomes of a claim that is neither supported nor refuted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Unproven {
    /// It is a warning.
    #[default]
    Warn,
    /// It fails.
    Fail,
    /// It passes.
    Pass,
}

impl Assert for ClaimsSupportedByFixtures {
    const TYPE: &'static str = "claims_supported_by_fixtures";
    const NEEDS: &'static [&'static str] = TOOL_TRACE;

    fn check(&mut self, params: &mut Params<'_, '_>) {
        params.some_sources();
        self.ignore = params.patterns("ignore", Rules::by_line(false));
    }

    fn judge(&self, view: &View<'_>) -> Finding {
        let allowed = &self.allowed_sources;
        let rules = ProofRules {
            equivalents: &self.equivalents,
            ignored: &self.ignore,
            min_overlap: self.min_overlap.as_deref().copied(),
            ..ProofRules::default()
        };
        if view.output().trim().is_empty() {
            return Finding::holds("the output is empty: nothing is claimed").vacuous();
        }
        let evidence: Vec<Evidence<'_>> = evidence(view, allowed).collect();
        let arguments = view.calls().iter().map(|call| &*call.data.args);
        let arguments: Vec<&Json> = arguments.collect();
        let rules = ProofRules {
            arguments: &arguments,
            ..rules
        };
        let judged = judge_claims(view.output(), &evidence, &user_messages(view), rules);
        if judged.is_empty() {
            return Finding::holds("the output claims nothing").vacuous();
        }
        let of = |verdict| {
            judged
                .iter()
                .filter(move |judged| judged.verdict == verdict)
        };
        let refuted: Vec<&Judged> = of(ProofVerdict::Refuted).collect();
        let unproven: Vec<&Judged> = of(ProofVerdict::Unproven).collect();
        let event_id = |at: usize| {
            view.trace
                .events
                .get(at)
                .map(|event| event.event_id.as_str())
        };
        let told = |judged: &&Judged| {
            json!({
                "claim": judged.claim,
                "verdict": match judged.verdict {
                    ProofVerdict::Supported => "supported",
                    ProofVerdict::Refuted => "refuted",
                    ProofVerdict::Unproven => "unproven",
                },
                "why": judged.why,
                "event": judged.event.and_then(event_id),
            })
        };
        let open = || refuted.iter().chain(&unproven);
        let observed = json!({
            "claims": judged.len(),
            "supported": of(ProofVerdict::Supported).count(),
            "refuted": refuted.len(),
            "unproven": unproven.len(),
            "results": evidence.len(),
            "not_supported": open().take(MOST_TOLD).map(told).collect::<Vec<Json>>(),
        });
        let tools = tools_that_count(allowed);
        let (verdict, named) = match (refuted.is_empty(), unproven.is_empty(), self.unproven) {
            (false, ..) => (Verdict::Fails, &refuted),
            (true, false, Unproven::Fail) => (Verdict::Fails, &unproven),
            (true, false, Unproven::Warn) => (Verdict::Undecided, &unproven),
            _ => (Verdict::Holds, &unproven),
        };
        let refs = open()
            .take(MOST_TOLD)
            .filter_map(|judged| event_id(judged.event?));
        let mut refs: Vec<&str> = refs.collect();
        if refs.is_empty() {
            refs = evidence
                .iter()
                .filter_map(|evidence| event_id(evidence.event))
                .collect();
        }
        if verdict == Verdict::Holds {
            let count = of(ProofVerdict::Supported).count();
            let all = judged.len();
            let claims = if all == 1 { "claim" } else { "claims" };
            return Finding::holds(format!(
                "{count} of {all} {claims} of the output are proved by results of {tools}"
            ))
            .observed(observed)
            .refs(refs);
        }
        if evidence.is_empty() {
            return Finding::new(verdict, format!("no successful result of {tools} could support the output"))
            .observed(observed)
            .help("list the supporting tools in `allowed_sources`, or check that they were called and succeeded");
        }
        let mut message: Vec<String> = named
            .iter()
            .take(MOST_IN_MESSAGE)
            .map(|judged| format!("“{}”: {}", cut(&judged.claim, LONGEST_CLAIM), judged.why))
            .collect();
        if let Some(more) = named.len().checked_sub(MOST_IN_MESSAGE + 1) {
            message.push(format!("and {} more", more + 1));
        }
        if verdict == Verdict::Fails && !refuted.is_empty() && !unproven.is_empty() {
            message.push(format!("{} not proved", unproven.len()));
        }
        let help = match refuted.is_empty() {
            false => "the answer must say only what the results say",
            true => {
                "the words are in no result: say it in the words of the results, name words that mean the same in `equivalents`, or sentences that claim nothing in `ignore`"
            }
        };
        Finding::new(verdict, message.join("; "))
            .observed(observed)
            .refs(refs)
            .help(help)
    }

    fn watches(&self, mutation: Mutation) -> bool {
        use Mutation::{DropOutput, InventNumber, InventUrl, NegateClaim, OtherUnit, SwapValues};
        matches!(
            mutation,
            InventNumber | InventUrl | OtherUnit | NegateClaim | SwapValues | DropOutput
        )
    }
}

/// The results of tools that count, each with its call.
pub(super) fn evidence<'v>(
    view: &'v View<'_>,
    allowed: &'v [ToolPattern],
) -> impl Iterator<Item = Evidence<'v>> {
    results(view, allowed).map(|(position, result)| Evidence {
        event: position,
        tool: result.tool.as_ref(),
        arguments: view
            .call_at(position)
            .map_or(&Json::Null, |call| &*call.data.args),
        result: &result.result,
        text: result.text.as_deref(),
    })
}

/// What the user said, each message once.
pub(super) fn user_messages<'v>(view: &View<'v>) -> Vec<&'v str> {
    let context = &view.case.context;
    let listed = context
        .input_messages
        .iter()
        .chain(context.prior_messages.iter())
        .chain(&view.trace.header.input_messages)
        .filter(|message| {
            let role = message.get("role").and_then(Json::as_str);
            role.is_none_or(|role| role == "user")
        })
        .filter_map(|message| message.get("content").and_then(Json::as_str));
    let received = view.events().filter_map(|event| match &event.data {
        EventData::MessageReceived(message) if message.role == "user" => {
            Some(message.content.as_str())
        }
        _ => None,
    });
    let mut seen = HashSet::new();
    listed
        .chain(received)
        .filter(|content| seen.insert(*content))
        .collect()
}

#[cfg(test)]
mod tests;
