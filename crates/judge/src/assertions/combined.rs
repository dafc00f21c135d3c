//! Assertions around assertions: one of several, all of them, not this one. What nobody can tell of a part, since it is
//! unproven, skipped or had nothing to judge, stays unknown in the whole.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Assert, Assertion, Take, parts};
use crate::mutate::Mutation;
use crate::test_case::{Params, read_part, read_parts};
use crate::view::View;
use crate::{Finding, Verdict, finding};
use cuecard_source::value::Json;
use cuecard_trace::Trace;
use parts::{TextPattern, ToolPattern};

parts::parts! {
    /// Assertions, one or more.
    pub Parts(Vec<Assertion>) as [Assertion],
        { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/assertion" } }, read_parts;
    /// An assertion.
    pub Part(Vec<Assertion>) as [Assertion], { "$ref": "#/$defs/assertion" }, read_part;
}

/// What asks the same of all parts.
macro_rules! asks_parts {
    () => {
        fn tools(&self) -> Option<Vec<&ToolPattern>> {
            let tools: Option<Vec<_>> = self.0.iter().map(|part| part.check.tools()).collect();
            tools.map(|tools| tools.concat())
        }

        fn break_trace(&self, mutation: Mutation, trace: &Trace, take: &mut Take<'_>) {
            for part in self.0.iter() {
                part.check.break_trace(mutation, trace, take);
            }
        }

        fn unmet(&self) -> Vec<&TextPattern> {
            self.0.iter().flat_map(|part| part.check.unmet()).collect()
        }
    };
}

/// What gives the parts.
macro_rules! has_parts {
    () => {
        fn check(&mut self, _: &mut Params<'_, '_>) {}

        fn parts(&self) -> &[Assertion] {
            &self.0
        }

        fn parts_mut(&mut self) -> &mut [Assertion] {
            &mut self.0.0
        }
    };
}

/// One of these holds.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct AnyOf(pub Parts);

/// All of these hold.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct AllOf(pub Parts);

/// This does not hold.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Not(pub Part);

impl Assert for AnyOf {
    const TYPE: &'static str = "any_of";

    fn judge(&self, view: &View<'_>) -> Finding {
        let judged = Judged::new(&self.0, view);
        let n_parts = judged.0.len();
        if let Some((name, held)) = judged.first(Some(true)) {
            return judged.found(Verdict::Holds, format!("`{name}` holds: {}", held.message));
        }
        match judged.first(None) {
            Some(unknown) => judged.unknown(unknown),
            None => judged.found(
                Verdict::Fails,
                format!("none of {n_parts} holds: {}", judged.messages()),
            ),
        }
    }

    fn watches(&self, mutation: Mutation) -> bool {
        self.0.iter().all(|part| part.check.watches(mutation))
    }

    asks_parts!();
    has_parts!();
}

impl Assert for AllOf {
    const TYPE: &'static str = "all_of";

    fn judge(&self, view: &View<'_>) -> Finding {
        let judged = Judged::new(&self.0, view);
        let n_parts = judged.0.len();
        if let Some((name, failed)) = judged.first(Some(false)) {
            let message = format!("`{name}` does not hold: {}", failed.message);
            return judged.found(Verdict::Fails, message);
        }
        match judged.first(None) {
            Some(unknown) => judged.unknown(unknown),
            None => judged.found(Verdict::Holds, format!("all {n_parts} hold")),
        }
    }

    fn watches(&self, mutation: Mutation) -> bool {
        self.0.iter().any(|part| part.check.watches(mutation))
    }

    asks_parts!();
    has_parts!();
}

impl Assert for Not {
    const TYPE: &'static str = "not";

    fn judge(&self, view: &View<'_>) -> Finding {
        let judged = Judged::new(&self.0, view);
        if let Some((name, failed)) = judged.first(Some(false)) {
            let message = format!("`{name}` does not hold: {}", failed.message);
            return judged.found(Verdict::Holds, message);
        }
        match (judged.first(None), judged.first(Some(true))) {
            (None, Some((name, held))) => {
                let message = format!("`{name}` holds: {}", held.message);
                judged.found(Verdict::Fails, message)
            }
            (Some(unknown), _) => judged.unknown(unknown),
            (None, None) => judged.found(Verdict::Undecided, String::new()),
        }
    }

    // A change that breaks its part makes it hold.
    fn watches(&self, _: Mutation) -> bool {
        false
    }

    has_parts!();
}

/// What was found of each part, under its id.
struct Judged<'a>(Vec<(&'a str, Finding)>);

impl<'a> Judged<'a> {
    fn new(parts: &'a [Assertion], view: &View<'_>) -> Self {
        let judged = parts.iter().map(|part| (&*part.id, finding(part, view)));
        Self(judged.collect())
    }

    /// The first part that holds, that does not, or of which nobody can tell.
    fn first(&self, holds: Option<bool>) -> Option<&(&'a str, Finding)> {
        self.0.iter().find(|(_, finding)| truth(finding) == holds)
    }

    fn messages(&self) -> String {
        let messages = self.0.iter();
        let messages: Vec<String> = messages
            .map(|(name, finding)| format!("`{name}`: {}", finding.message))
            .collect();
        messages.join("; ")
    }

    /// Nobody can tell: nothing was asked if no part could ask anything.
    fn unknown(&self, (name, unknown): &(&str, Finding)) -> Finding {
        let is_skipped = |(_, finding): &(&str, Finding)| finding.verdict == Verdict::Skipped;
        let verdict = match self.0.iter().all(is_skipped) {
            true => Verdict::Skipped,
            false => Verdict::Undecided,
        };
        let message = format!("nobody can tell of `{name}`: {}", unknown.message);
        let finding = self.found(verdict, message);
        match unknown.vacuous {
            true => finding.vacuous(),
            false => finding,
        }
    }

    fn found(&self, verdict: Verdict, message: String) -> Finding {
        let observed: Vec<Json> = self
            .0
            .iter()
            .map(|(name, finding)| {
                json!({
                    "id": name,
                    "holds": truth(finding),
                    "message": finding.message,
                    "observed": finding.observed,
                })
            })
            .collect();
        let refs = self.0.iter().flat_map(|(_, finding)| &finding.event_refs);
        let helps = self
            .0
            .iter()
            .filter_map(|(_, finding)| finding.help.as_ref());
        let finding = Finding::new(verdict, message)
            .observed(observed)
            .refs(refs.map(String::as_str));
        match helps.into_iter().next() {
            Some(help) if verdict != Verdict::Holds => finding.help(help),
            _ => finding,
        }
    }
}

/// Whether it holds, as far as anybody can tell.
fn truth(finding: &Finding) -> Option<bool> {
    match finding.verdict {
        Verdict::Holds if !finding.vacuous => Some(true),
        Verdict::Fails => Some(false),
        Verdict::Holds | Verdict::Undecided | Verdict::Skipped => None,
    }
}
