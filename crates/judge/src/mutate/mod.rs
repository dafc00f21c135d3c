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
    MOST_CALLS, OTHER_TOOL, alter_leaves, before_answer, call_more, name_for, output_id, say_more,
    with_output, without,
};

use super::{Outcome, OutcomeStatus};
use crate::assertions::Assertion;
use crate::model::TestCase;
use crate::redact_fields::FieldRedactor;
use cuecard_trace::Trace;

/// At most so many mutants are made of one trace.
pub const MOST_MUTANTS: usize = 500;

/// What is changed in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mutation {
    /// The calls of a tool are missing.
    DropCall,
    /// A call is made once more.
    DuplicateCall,
    /// Two calls are made in the other order.
    SwapCalls,
    /// A call goes to another tool.
    RetargetCall,
    /// An argument of a call has another value.
    AlterArgument,
    /// The results of a tool have other values.
    AlterResult,
    /// The calls of a tool failed.
    FlipStatus,
    /// The output has a number that nobody gave.
    InventNumber,
    /// The output has an address that nobody gave.
    InventUrl,
    /// The output cites a source that nobody named.
    InventCitation,
    /// The memory of another group is used.
    LeakMemory,
    /// No memory is read, or none is written.
    DropMemory,
    /// The output repeats a fact that was corrected.
    RepeatStale,
    /// Something else triggered the run.
    OtherTrigger,
    /// The output claims success.
    ClaimSuccess,
    /// A tool is called that must not be, or too often.
    CallForbidden,
    /// The output says what it must not.
    SayForbidden,
    /// A number in the output has another unit.
    OtherUnit,
    /// A claim in the output is denied.
    NegateClaim,
    /// Two values in the output stand in each other's claims.
    SwapValues,
    /// A value that a path means is another one, or missing.
    AlterValue,
    /// The run took one more than it may.
    ExceedLimit,
    /// The output is missing.
    DropOutput,
}

impl Mutation {
    /// Every kind.
    pub const ALL: &'static [Self] = &[
        Self::DropCall,
        Self::DuplicateCall,
        Self::SwapCalls,
        Self::RetargetCall,
        Self::AlterArgument,
        Self::AlterResult,
        Self::FlipStatus,
        Self::InventNumber,
        Self::InventUrl,
        Self::InventCitation,
        Self::LeakMemory,
        Self::DropMemory,
        Self::RepeatStale,
        Self::OtherTrigger,
        Self::ClaimSuccess,
        Self::CallForbidden,
        Self::SayForbidden,
        Self::OtherUnit,
        Self::NegateClaim,
        Self::SwapValues,
        Self::AlterValue,
        Self::ExceedLimit,
        Self::DropOutput,
    ];

    /// The word in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DropCall => "drop_call",
            Self::DuplicateCall => "duplicate_call",
            Self::SwapCalls => "swap_calls",
            Self::RetargetCall => "retarget_call",
            Self::AlterArgument => "alter_argument",
            Self::AlterResult => "alter_result",
            Self::FlipStatus => "flip_status",
            Self::InventNumber => "invent_number",
            Self::InventUrl => "invent_url",
            Self::InventCitation => "invent_citation",
            Self::LeakMemory => "leak_memory",
            Self::DropMemory => "drop_memory",
            Self::RepeatStale => "repeat_stale",
            Self::OtherTrigger => "other_trigger",
            Self::ClaimSuccess => "claim_success",
            Self::CallForbidden => "call_forbidden",
            Self::SayForbidden => "say_forbidden",
            Self::OtherUnit => "other_unit",
            Self::NegateClaim => "negate_claim",
            Self::SwapValues => "swap_values",
            Self::AlterValue => "alter_value",
            Self::ExceedLimit => "exceed_limit",
            Self::DropOutput => "drop_output",
        }
    }
}

/// An assertion that should notice a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watcher {
    /// Its id.
    pub id: String,
    /// Its type.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// What was changed.
    pub mutation: Mutation,
    /// What was changed, in words.
    pub change: String,
    /// Id of the first event that was changed, where the change has a place.
    pub event: Option<String>,
    /// The assertions that should have noticed it, in the order of the test.
    pub watched_by: Vec<Watcher>,
}

/// What no mutant concerned: nobody knows what it notices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unexercised {
    /// The assertion.
    pub assertion: Watcher,
    /// One pattern of it that forbids a text, if the others were exercised: no text is known that it matches.
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
