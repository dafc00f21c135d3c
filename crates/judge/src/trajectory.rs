//! The calls of a trace as a whole, against those that were expected.

use std::collections::VecDeque;

use serde_json::json;

use super::Finding;
use super::values::args_equal;
use super::view::{Call, View};
use super::words::{as_count, brief, count_of};
use crate::model::{ExpectedCall, TrajectoryMode};
use cuecard_source::value::Json;

/// So many calls are named in a message and in the evidence.
const SHOWN: usize = 20;

/// So many calls that are missing or too many are told with their arguments.
const TOLD: usize = 5;

pub(super) fn trajectory(
    mode: TrajectoryMode,
    expected: &[ExpectedCall],
    view: &View<'_>,
) -> Finding {
    let calls = view.calls();
    let total = calls.len();
    let missed = match mode {
        TrajectoryMode::Exact => exact(expected, calls, total),
        TrajectoryMode::InOrder => in_order(expected, calls),
        TrajectoryMode::AnyOrder => paired(expected, calls, total, true, true),
        TrajectoryMode::Superset => paired(expected, calls, total, true, false),
        TrajectoryMode::Subset => paired(expected, calls, total, false, true),
    };
    let names = |names: Vec<&str>| -> Json { names.into() };
    let observed = json!({
        "calls": names(calls.iter().take(SHOWN).map(|call| &*call.data.tool).collect()),
        "call_count": total,
        "expected_count": expected.len(),
    });
    let refs = calls.iter().map(Call::id);
    let Some(missed) = missed else {
        let finding = Finding::holds(format!(
            "{} as expected ({}; {})",
            count_of(as_count(total), "call"),
            word(mode),
            about_arguments(expected)
        ))
        .observed(observed)
        .refs(refs);
        let judges_nothing = match mode {
            TrajectoryMode::Exact | TrajectoryMode::AnyOrder => view.shows_nothing(),
            TrajectoryMode::InOrder | TrajectoryMode::Superset => expected.is_empty(),
            TrajectoryMode::Subset => calls.is_empty(),
        };
        return if judges_nothing {
            finding.vacuous()
        } else {
            finding
        };
    };
    Finding::fails(missed)
        .observed(observed)
        .refs(refs)
        .help(format!(
            "the trace calls {}; {}",
            if calls.is_empty() {
                "nothing".to_owned()
            } else {
                listed(calls.iter().map(|call| &*call.data.tool), total)
            },
            about_arguments(expected)
        ))
}

/// What is looked at of the arguments.
fn about_arguments(expected: &[ExpectedCall]) -> &'static str {
    match expected.iter().any(|call| !call.args.is_empty()) {
        true => "arguments not listed in `calls` are ignored",
        false => "arguments are ignored",
    }
}

fn word(mode: TrajectoryMode) -> &'static str {
    match mode {
        TrajectoryMode::Exact => "exact",
        TrajectoryMode::InOrder => "in order",
        TrajectoryMode::AnyOrder => "any order",
        TrajectoryMode::Superset => "superset",
        TrajectoryMode::Subset => "subset",
    }
}

/// The first of `total` names in their order, repeated as they are.
fn listed<'a>(names: impl Iterator<Item = &'a str>, total: usize) -> String {
    let names = names.map(|name| format!("`{name}`"));
    let mut text = names.take(SHOWN).collect::<Vec<_>>().join(", ");
    match total.saturating_sub(SHOWN) {
        0 => {}
        more => text.push_str(&format!(" and {more} more")),
    }
    text
}

fn is_met(expected: &ExpectedCall, call: &Call<'_>) -> bool {
    call.is_of(&expected.tool) && args_equal(&expected.args, &call.data.args)
}

fn described(expected: &ExpectedCall) -> String {
    let mut text = format!("`{}`", expected.tool.text());
    for (key, value) in expected.args.iter().take(5) {
        text.push_str(&format!(" with `{key}` {}", brief(value)));
    }
    text
}

fn shown(call: &Call<'_>) -> String {
    format!(
        "`{}` with {} (event {})",
        call.data.tool,
        brief(&call.data.args),
        call.event.seq
    )
}

/// The first place where the two differ.
fn exact(expected: &[ExpectedCall], calls: &[Call<'_>], count: usize) -> Option<String> {
    let differing = expected
        .iter()
        .zip(calls)
        .enumerate()
        .find(|(_, (expected, call))| !is_met(expected, call));
    if let Some((index, (expected, call))) = differing {
        return Some(format!(
            "call {}: expected {}, found {}",
            index + 1,
            described(expected),
            shown(call)
        ));
    }
    if let Some(next) = expected.get(count) {
        return Some(format!(
            "{}, expected {}; next should be {}",
            count_of(as_count(count), "call"),
            expected.len(),
            described(next)
        ));
    }
    calls.get(expected.len()).map(|extra| {
        format!(
            "{}, expected {}; the first too many is {}",
            count_of(as_count(count), "call"),
            expected.len(),
            shown(extra)
        )
    })
}

/// The first expected call that comes no more. Taking the earliest call each time never loses a solution.
fn in_order(expected: &[ExpectedCall], calls: &[Call<'_>]) -> Option<String> {
    let mut calls = calls.iter();
    let mut last: Option<&Call<'_>> = None;
    for (index, wanted) in expected.iter().enumerate() {
        match calls.find(|call| is_met(wanted, call)) {
            Some(call) => last = Some(call),
            None => {
                let after = match last {
                    Some(call) => format!(" after event {}", call.event.seq),
                    None => String::new(),
                };
                return Some(format!(
                    "expected call {}, {}, is missing{after}",
                    index + 1,
                    described(wanted)
                ));
            }
        }
    }
    None
}

/// Pairs each expected call with a call of its own, as many as can be; says which of either side, if it must
/// be whole, stays alone.
fn paired(
    expected: &[ExpectedCall],
    calls: &[Call<'_>],
    total: usize,
    all_expected: bool,
    all_calls: bool,
) -> Option<String> {
    let pairs = pair(expected, calls);
    let missing: Vec<String> = expected
        .iter()
        .zip(&pairs.of_expected)
        .filter(|(_, pair)| all_expected && pair.is_none())
        .map(|(expected, _)| described(expected))
        .collect();
    let alone = calls.iter().zip(&pairs.of_calls);
    let extra: Vec<String> = alone
        .filter(|(_, pair)| all_calls && pair.is_none())
        .take(TOLD)
        .map(|(call, _)| shown(call))
        .collect();
    let extra_count = total - pairs.of_calls.iter().flatten().count();
    let mut parts = Vec::new();
    for (what, count, all) in [
        ("missing", missing.len(), missing),
        ("unexpected", extra_count, extra),
    ] {
        if !all.is_empty() {
            let more = count.saturating_sub(TOLD);
            let first: Vec<&str> = all.iter().take(TOLD).map(String::as_str).collect();
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            parts.push(format!("{what}: {}{more}", first.join(", ")));
        }
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

struct Pairs {
    of_expected: Vec<Option<usize>>,
    of_calls: Vec<Option<usize>>,
}

/// A largest pairing: each expected call takes a free call, or makes those before it move on.
fn pair(expected: &[ExpectedCall], calls: &[Call<'_>]) -> Pairs {
    let mut pairs = Pairs {
        of_expected: vec![None; expected.len()],
        of_calls: vec![None; calls.len()],
    };
    for start in 0..expected.len() {
        // Breadth first over expected calls; `reached_from` tells which of them asked for a call.
        let mut reached_from: Vec<Option<usize>> = vec![None; calls.len()];
        let mut queue = VecDeque::from([start]);
        let mut free = None;
        'search: while let Some(asking) = queue.pop_front() {
            for (index, call) in calls.iter().enumerate() {
                if reached_from[index].is_some() || !is_met(&expected[asking], call) {
                    continue;
                }
                reached_from[index] = Some(asking);
                match pairs.of_calls[index] {
                    Some(holder) => queue.push_back(holder),
                    None => {
                        free = Some(index);
                        break 'search;
                    }
                }
            }
        }
        while let Some(index) = free {
            let Some(asking) = reached_from[index] else {
                break;
            };
            pairs.of_calls[index] = Some(asking);
            free = pairs.of_expected[asking].replace(index);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fails, Holds};
    use super::super::samples::{Events, answer, judged, tool};
    use super::*;
    use crate::model::AssertionCheck;
    use cuecard_trace::Trace;

    fn calls(names: &[&str]) -> Trace {
        names
            .iter()
            .zip(0..)
            .fold(Events::new(), |events, (name, n)| {
                events.call(name, &format!("c{n}"), json!({"n": n, "deep": {"k": "v"}}))
            })
            .output("done")
            .trace()
    }

    fn expects(names: &[&str]) -> Vec<ExpectedCall> {
        names
            .iter()
            .map(|name| ExpectedCall {
                tool: tool(name),
                args: Vec::new(),
            })
            .collect()
    }

    #[test]
    fn modes_are_those_of_other_tools() {
        use TrajectoryMode::{AnyOrder, Exact, InOrder, Subset, Superset};
        let abc = &["a", "b", "c"][..];
        for (mode, expected, got, holds, vacuous) in [
            (Exact, abc, abc, true, false),
            (Exact, abc, &["a", "b"][..], false, false),
            (Exact, &["a", "b"], abc, false, false),
            (Exact, &["a", "c", "b"], abc, false, false),
            (Exact, &["*", "b", "?"], abc, true, false),
            (Exact, &[], &[], true, false),
            (InOrder, &["a", "c"], abc, true, false),
            (InOrder, &["c", "a"], abc, false, false),
            (InOrder, &["a", "a"], abc, false, false),
            (InOrder, &[], abc, true, true),
            (AnyOrder, &["c", "a", "b"], abc, true, false),
            (AnyOrder, &["c", "a"], abc, false, false),
            (AnyOrder, &["c", "a", "b", "b"], abc, false, false),
            // The glob must leave `a` to the second.
            (AnyOrder, &["*", "a", "b"], abc, true, false),
            (AnyOrder, &["*", "*", "a"], abc, true, false),
            (AnyOrder, &["?", "a", "a"], abc, false, false),
            (Superset, &["c"], abc, true, false),
            (Superset, &["c", "c"], abc, false, false),
            (Superset, &["d"], abc, false, false),
            (Superset, &[], abc, true, true),
            (Subset, &["a", "b", "c", "d"], abc, true, false),
            (Subset, &["a", "b"], abc, false, false),
            (Subset, &["a"], &["a", "a"], false, false),
            (Subset, &["a"], &[], true, true),
        ] {
            let check = AssertionCheck::Trajectory {
                mode,
                calls: expects(expected),
            };
            let finding = judged(check, &calls(got));
            let verdict = if holds { Holds } else { Fails };
            assert_eq!(
                (finding.verdict, finding.vacuous),
                (verdict, vacuous),
                "{mode:?} {expected:?} {got:?}: {}",
                finding.message
            );
        }
    }

    #[test]
    fn arguments_count_where_they_are_given() {
        let expected = |value: Json| {
            vec![ExpectedCall {
                tool: tool("a"),
                args: vec![("deep.k".into(), value)],
            }]
        };
        let check = |value| AssertionCheck::Trajectory {
            mode: TrajectoryMode::Exact,
            calls: expected(value),
        };
        assert_eq!(judged(check(json!("v")), &calls(&["a"])).verdict, Holds);
        let finding = judged(check(json!("w")), &calls(&["a"]));
        assert_eq!(
            finding.message,
            "call 1: expected `a` with `deep.k` \"w\", found `a` with {\"n\":0,\"deep\":{\"k\":\"v\"}} (event 1)"
        );
    }

    #[test]
    fn failures_name_what_is_missing_and_what_is_too_much() {
        let told = |mode, expected: &[&str], got: &[&str]| {
            let check = AssertionCheck::Trajectory {
                mode,
                calls: expects(expected),
            };
            judged(check, &calls(got)).message
        };
        assert!(
            told(TrajectoryMode::AnyOrder, &["a", "x"], &["a", "b"])
                .starts_with("missing: `x`; unexpected: `b` with")
        );
        assert_eq!(
            told(TrajectoryMode::InOrder, &["b", "a"], &["a", "b"]),
            "expected call 2, `a`, is missing after event 2"
        );
        assert_eq!(
            told(TrajectoryMode::Exact, &["a"], &[]),
            "no call, expected 1; next should be `a`"
        );
    }

    #[test]
    fn an_empty_trace_is_said_out_loud() {
        let check = || AssertionCheck::Trajectory {
            mode: TrajectoryMode::Exact,
            calls: Vec::new(),
        };
        assert!(judged(check(), &Events::new().trace()).vacuous);
        assert!(!judged(check(), &answer("hello")).vacuous);
    }
}
