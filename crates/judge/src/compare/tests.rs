use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::samples::Events;
use cuecard_trace::{EventData, MemoryWrite, RunStatus};

/// A run that makes these calls, each with its result.
fn run(calls: &[(&str, i64, i64)]) -> Trace {
    let mut events = Events::new().user("please");
    for (number, (tool, argument, result)) in calls.iter().enumerate() {
        let call_id = format!("c{number}");
        events = events
            .call(tool, &call_id, json!({ "n": argument }))
            .result(tool, &call_id, true, json!({ "is": result }));
    }
    events.output("done").trace()
}

/// The differences in short: what, how, the tool, and what changed.
fn told(old: &Trace, new: &Trace) -> Vec<String> {
    let comparison = compare(old, new, &[]);
    let line = |difference: &Difference| {
        let place = difference.new.as_ref().or(difference.old.as_ref());
        let changes: Vec<String> = difference.changes.iter().map(Change::told).collect();
        let tool = place.and_then(|place| place.tool.clone());
        let words = [
            difference.part.as_str(),
            difference.how.as_str(),
            tool.as_deref().unwrap_or_default(),
            &changes.join("; "),
        ];
        words.join(" ").trim().to_owned()
    };
    comparison.differences.iter().map(line).collect()
}

const BASE: &[(&str, i64, i64)] = &[("a", 1, 1), ("b", 2, 2), ("c", 3, 3)];

#[test]
fn one_more_call_is_one_difference_wherever_it_stands() {
    for place in 0..=BASE.len() {
        let mut more = BASE.to_vec();
        more.insert(place, ("d", 4, 4));
        assert_eq!(told(&run(BASE), &run(&more)), ["call added d"]);
        assert_eq!(told(&run(&more), &run(BASE)), ["call removed d"]);
    }
    // Also if the call is one of several that are equal.
    let (three, two) = ([("a", 1, 1); 3], [("a", 1, 1); 2]);
    assert_eq!(told(&run(&two), &run(&three)), ["call added a"]);
}

#[test]
fn a_call_in_another_place_was_moved() {
    let moved = [("c", 3, 3), ("a", 1, 1), ("b", 2, 2)];
    assert_eq!(told(&run(BASE), &run(&moved)), ["call moved c"]);
    // What it answered goes with it.
    let answered = [("c", 3, 9), ("a", 1, 1), ("b", 2, 2)];
    assert_eq!(
        told(&run(BASE), &run(&answered)),
        [
            "call moved c",
            "result changed c `/events/2/data/result/is` is 9, was 3",
        ]
    );
}

#[test]
fn values_are_told_by_their_pointers() {
    let changed = [("a", 1, 1), ("b", 7, 8), ("c", 3, 3)];
    assert_eq!(
        told(&run(BASE), &run(&changed)),
        [
            "call changed b `/events/3/data/args/n` is 7, was 2",
            "result changed b `/events/4/data/result/is` is 8, was 2",
        ]
    );
    // An inserted call doesn't hide which call changed.
    let both = [("d", 0, 0), ("a", 1, 1), ("b", 2, 9), ("c", 3, 3)];
    assert_eq!(
        told(&run(BASE), &run(&both)),
        [
            "call added d",
            "result changed b `/events/6/data/result/is` is 9, was 2",
        ]
    );
}

#[test]
fn the_end_and_memories_count() {
    let old = run(BASE);
    let mut new = run(BASE);
    new.events.insert(
        1,
        cuecard_trace::Event::live(
            99,
            jiff::Timestamp::UNIX_EPOCH,
            EventData::MemoryWrite(MemoryWrite {
                source: "CLAUDE.md".into(),
                path: "groups/g/CLAUDE.md".into(),
                group_id: None,
                content: None,
                change_summary: None,
            }),
        ),
    );
    let end = new.end.as_mut().expect("it ended");
    end.status = RunStatus::Failed;
    assert_eq!(
        told(&old, &new),
        [
            "memory added",
            "status changed  `/status` is \"failed\", was \"success\"",
        ]
    );
    let other = Events::new().user("please").output("no").trace();
    let same = Events::new().user("please").output("yes").trace();
    assert_eq!(
        told(&other, &same),
        ["output changed  `/events/1/data/content` is \"yes\", was \"no\""]
    );
}

#[test]
fn an_answer_to_another_call_is_a_change() {
    let two = |second: i64, answered: &str| {
        Events::new()
            .call("a", "c1", json!({ "n": 1 }))
            .call("a", "c2", json!({ "n": second }))
            .result("a", answered, true, json!(1))
            .trace()
    };
    assert_eq!(
        told(&two(2, "c1"), &two(2, "c2")),
        ["result changed a `/events/2/data/call_id` is 2, was 1"]
    );
    // Of two equal calls the one that was answered comes later.
    assert_eq!(told(&two(1, "c1"), &two(1, "c2")), ["call moved a"]);
}

#[test]
fn long_traces_with_nothing_in_common_are_compared_in_time() {
    let many = |factor: i64| -> Vec<(&str, i64, i64)> {
        (0..5_000).map(|n| ("a", n * factor, n)).collect()
    };
    let (old, new) = (run(&many(2)), run(&many(-3)));
    assert!(compare(&old, &new, &[]).differences.len() >= 4_900);
}

fn call() -> impl Strategy<Value = (&'static str, i64, i64)> {
    let tool = prop_oneof![Just("a"), Just("b"), Just("c")];
    (tool, 0_i64..3, 0_i64..3)
}

fn calls() -> impl Strategy<Value = Vec<(&'static str, i64, i64)>> {
    prop::collection::vec(call(), 0..12)
}

proptest! {
    #[test]
    fn a_trace_equals_itself_and_no_other(one in calls(), other in calls()) {
        let (old, new) = (run(&one), run(&other));
        prop_assert_eq!(told(&old, &old), Vec::<String>::new());
        prop_assert_eq!(told(&old, &new).is_empty(), one == other);
        prop_assert_eq!(told(&new, &old).is_empty(), one == other);
    }

    #[test]
    fn what_was_cut_out_is_all_that_is_told(first in call(), others in calls(), at in 0_usize..12) {
        let all: Vec<_> = [first].into_iter().chain(others).collect();
        let mut less = all.clone();
        let gone = less.remove(at % all.len());
        let line = told(&run(&all), &run(&less));
        prop_assert_eq!(line, [format!("call removed {}", gone.0)]);
    }
}
