//! How good are the assertions of a test? Each change that an agent could have made is made to a passing trace,
//! and some assertion should notice it.
//!
//! A change is made only where an assertion of the test looks: a test that says nothing of the output gets no
//! invented numbers, and one that names a tool no changed calls of others. So a mutant that no
//! assertion notices tells of a weak assertion, and not of a missing one.

mod changes;
mod claims;
mod edits;

use std::collections::{BTreeMap, HashSet};

pub(crate) use edits::{
    MOST_CALLS, OTHER_TOOL, alter_leaves, call_more, name_for, output_id, say_more,
    with_before_answer, with_output, without,
};

use serde::Serialize;

use super::{Outcome, OutcomeStatus};
use crate::assertions::Assertion;
use crate::model::TestCase;
use crate::redact_fields::FieldRedactor;
use cuecard_trace::Trace;

/// At most so many mutants are made of one trace.
pub const MOST_MUTANTS: usize = 500;

macro_rules! mutations {
    ($($(#[$meta:meta])* $name:ident = $word:literal,)*) => {
        /// What is changed in a trace.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum Mutation {
            $($(#[$meta])* #[serde(rename = $word)] $name,)*
        }

        impl Mutation {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word in results.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

mutations! {
    /// The calls of a tool are missing.
    DropCall = "drop_call",
    /// A call is made once more.
    DuplicateCall = "duplicate_call",
    /// Two calls are made in the other order.
    SwapCalls = "swap_calls",
    /// A call goes to another tool.
    RetargetCall = "retarget_call",
    /// An argument of a call has another value.
    AlterArgument = "alter_argument",
    /// The results of a tool have other values.
    AlterResult = "alter_result",
    /// The calls of a tool failed.
    FlipStatus = "flip_status",
    /// The output has a number that nobody gave.
    InventNumber = "invent_number",
    /// The output has an address that nobody gave.
    InventUrl = "invent_url",
    /// The output cites a source that nobody named.
    InventCitation = "invent_citation",
    /// The memory of another group is used.
    LeakMemory = "leak_memory",
    /// No memory is read, or none is written.
    DropMemory = "drop_memory",
    /// The output repeats a fact that was corrected.
    RepeatStale = "repeat_stale",
    /// Something else triggered the run.
    OtherTrigger = "other_trigger",
    /// The output claims success.
    ClaimSuccess = "claim_success",
    /// A tool is called that must not be, or too often.
    CallForbidden = "call_forbidden",
    /// The output says what it must not.
    SayForbidden = "say_forbidden",
    /// A number in the output has another unit.
    OtherUnit = "other_unit",
    /// A claim in the output is denied.
    NegateClaim = "negate_claim",
    /// Two values in the output stand in each other's claims.
    SwapValues = "swap_values",
    /// A value that a path means is another one, or missing.
    AlterValue = "alter_value",
    /// The run took one more than it may.
    ExceedLimit = "exceed_limit",
    /// The output is missing.
    DropOutput = "drop_output",
}

/// An assertion that should notice a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Watcher {
    /// Its id.
    pub id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: &'static str,
}

impl Watcher {
    fn of(assertion: &Assertion) -> Self {
        Self {
            id: assertion.id.clone(),
            kind: assertion.check.type_name(),
        }
    }
}

/// A changed trace.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// What was changed.
    pub mutation: Mutation,
    /// What was changed, in words: `the calls of web_search are missing`.
    pub change: String,
    /// Id of the first event that was changed, where the change has a place.
    pub event: Option<String>,
    /// The assertions that should notice it, in the order of the test.
    pub watched_by: Vec<Watcher>,
    /// The trace as changed.
    pub trace: Trace,
}

/// A mutant that no assertion noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Survivor {
    /// What was changed.
    pub mutation: Mutation,
    /// What was changed, in words.
    pub change: String,
    /// Id of the first event that was changed, where the change has a place.
    pub event: Option<String>,
    /// The assertions that should have noticed it, in the order of the test.
    #[serde(rename = "assertions")]
    pub watched_by: Vec<Watcher>,
}

/// What no mutant concerned: nobody knows what it notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unexercised {
    /// The assertion.
    #[serde(flatten)]
    pub assertion: Watcher,
    /// One pattern of it that forbids a text, if the others were exercised: no text is known that it matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// What came of the mutants of one test, or of a suite.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mutations {
    /// Mutants by the type of the assertions that should notice them: how many there were, how many were noticed.
    pub by_type: BTreeMap<&'static str, Tally>,
    /// Mutants by what was changed.
    pub by_mutation: BTreeMap<Mutation, Tally>,
    /// All mutants, each once.
    pub total: Tally,
    /// Those that nobody noticed.
    pub survivors: Vec<Survivor>,
    /// What no mutant concerned, in the order of the test.
    pub unexercised: Vec<Unexercised>,
}

/// Counts of mutants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many there were.
    pub made: usize,
    /// How many were noticed.
    pub noticed: usize,
}

impl Tally {
    /// The noticed part in percent; nothing if there were none.
    pub fn score(self) -> Option<f64> {
        // Counts are far below the point where a float loses whole numbers.
        (self.made > 0).then(|| self.noticed as f64 * 100.0 / self.made as f64)
    }

    /// How many were not noticed.
    pub fn survived(self) -> usize {
        self.made - self.noticed
    }

    fn count(&mut self, noticed: bool) {
        self.made += 1;
        self.noticed += usize::from(noticed);
    }

    fn add(&mut self, other: Self) {
        self.made += other.made;
        self.noticed += other.noticed;
    }
}

impl Mutations {
    /// Adds those of another test.
    pub fn add(&mut self, other: Self) {
        for (kind, tally) in other.by_type {
            self.by_type.entry(kind).or_default().add(tally);
        }
        for (mutation, tally) in other.by_mutation {
            self.by_mutation.entry(mutation).or_default().add(tally);
        }
        self.total.add(other.total);
        self.survivors.extend(other.survivors);
        self.unexercised.extend(other.unexercised);
    }
}

/// Makes the mutants of `trace`, which passes `case`, one after another, and lets `judge` look at each, once it has
/// looked at `trace` itself. A mutant is noticed if some assertion comes out worse on it than on `trace`: a warning
/// is enough.
pub fn mutate(
    case: &TestCase,
    trace: &Trace,
    mut judge: impl FnMut(&Trace) -> Vec<Outcome>,
) -> Mutations {
    let mut mutations = Mutations::default();
    let unchanged = judge(trace);
    let (redactor, _) = FieldRedactor::of(case, trace);
    let mut exercised: HashSet<String> = HashSet::new();
    changes::each(case, trace, MOST_MUTANTS, &mut |mutant| {
        let outcomes = judge(&mutant.trace);
        let noticed = is_noticed(case.assertions.len(), &unchanged, &outcomes);
        let mut kinds: Vec<&'static str> = mutant
            .watched_by
            .iter()
            .map(|watcher| watcher.kind)
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            mutations.by_type.entry(kind).or_default().count(noticed);
        }
        let of_kind = mutations.by_mutation.entry(mutant.mutation).or_default();
        of_kind.count(noticed);
        mutations.total.count(noticed);
        let ids = mutant.watched_by.iter().map(|watcher| &watcher.id);
        exercised.extend(ids.cloned());
        if !noticed {
            mutations.survivors.push(Survivor {
                mutation: mutant.mutation,
                change: redactor.text(&mutant.change),
                event: mutant.event,
                watched_by: mutant.watched_by,
            });
        }
    });
    for assertion in &case.assertions {
        let unexercised = |pattern| Unexercised {
            assertion: Watcher::of(assertion),
            pattern,
        };
        if !exercised.contains(&assertion.id) {
            mutations.unexercised.push(unexercised(None));
        } else {
            let unmet = assertion.check.unmet().into_iter();
            let unmet = unmet.map(|pattern| unexercised(Some(pattern.text.clone())));
            mutations.unexercised.extend(unmet);
        }
    }
    mutations
}

/// Whether one of the first `asserted` outcomes comes out worse than before, or something is warned of that nobody was
/// warned of before.
fn is_noticed(asserted: usize, before: &[Outcome], after: &[Outcome]) -> bool {
    let rank = |status| match status {
        OutcomeStatus::Pass | OutcomeStatus::Skip => 0,
        OutcomeStatus::Warn => 1,
        OutcomeStatus::Fail => 2,
    };
    after.iter().enumerate().any(|(idx, outcome)| {
        let was = match idx < asserted {
            true => before.get(idx).map_or(0, |was| rank(was.status)),
            // What no assertion is about stands behind, and not always in the same place.
            false => before
                .iter()
                .filter(|was| was.kind == outcome.kind && was.observed == outcome.observed)
                .map(|was| rank(was.status))
                .max()
                .unwrap_or(0),
        };
        rank(outcome.status) > was
    })
}

#[cfg(test)]
mod tests;
