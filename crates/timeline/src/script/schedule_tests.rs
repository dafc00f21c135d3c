//! The schedule: worked examples to the millisecond, and what holds for every timeline.

use proptest::prelude::*;
use serde_json::json;

use super::Speed;
use super::schedule::{CompiledSchedule, EventTimes, Lane, Schedule};
use super::testing::{
    answer, ask, call, check, delay, edit, execution, inputs, offset, progress, respond, say,
    session_start, think, with_call,
};
use crate::model::{EventKind, UserTarget, When};
use cuecard_source::diagnostic::{Severity, any_error};

fn compile(events: Vec<EventKind>) -> CompiledSchedule {
    Schedule::compile(&timeline(events), false)
}

use super::testing::timeline;

/// Each code with the index of the event it is about.
fn found(reading: &CompiledSchedule) -> Vec<(&str, &str)> {
    let diagnostics = reading.diagnostics.iter();
    diagnostics
        .map(|found| {
            (
                found.code.name(),
                found.pointer.as_deref().unwrap_or_default(),
            )
        })
        .collect()
}

/// When the parts of an event are due.
fn points(event: &EventTimes) -> Vec<u64> {
    event.parts.iter().map(|(at_ms, _)| *at_ms).collect()
}

#[test]
fn offsets_that_lie_before_the_cursor_are_delays() {
    let reading = compile(vec![
        respond(vec![
            think(&[(offset(500), "a"), (offset(300), "b")]),
            say(&[(offset(200), "c")]),
        ]),
        with_call(call("c1", "grep", json!({})), |call| {
            call.progress = progress(&[(delay(200), "p")]);
            call.execution = Some(execution(0, &[50, 150], Some(200)));
        }),
        inputs(&[(delay(200), "x"), (delay(400), "y")]),
        check(),
        EventKind::Screenshot("shot".into()),
        EventKind::BaseTimeDelta(1000),
        EventKind::AgentPlan(crate::model::AgentPlan {
            entries: Vec::new(),
            replaces: true,
        }),
    ]);
    let events = &reading.schedule.events;
    assert_eq!(points(&events[0]), [500, 800, 1000]);
    assert_eq!((events[1].start_ms, events[1].end_ms), (1000, 1200));
    assert_eq!(points(&events[1]), [1000, 1050, 1150, 1200, 1200, 1200]);
    assert_eq!(points(&events[2]), [200, 600]);
    assert_eq!((events[3].start_ms, events[4].start_ms), (1200, 1200));
    assert_eq!((events[6].base_ms, events[6].start_ms), (1000, 1200));
    assert_eq!(
        found(&reading),
        [
            ("T-TIME-01", "timeline[0]"),
            ("T-TIME-01", "timeline[0]"),
            ("T-TIME-05", "timeline[2]"),
            ("T-TIME-03", "timeline[5]"),
        ]
    );
}

#[test]
fn pairs_are_delays() {
    let reading = compile(vec![
        respond(vec![think(&[(delay(500), "a"), (delay(800), "b")])]),
        with_call(call("c1", "runCmd", json!({})), |call| {
            call.progress = progress(&[(delay(300), "p"), (delay(100), "q")]);
        }),
        edit("c2", "a.txt", None, None),
        EventKind::Screenshot("shot".into()),
        EventKind::BaseTimeDelta(50),
        check(),
    ]);
    let events = &reading.schedule.events;
    assert_eq!(points(&events[0]), [500, 1300]);
    assert_eq!((events[1].start_ms, events[1].end_ms), (1300, 1700));
    assert_eq!(points(&events[1]), [1300, 1600, 1700, 1700]);
    assert_eq!((events[2].start_ms, events[3].start_ms), (1700, 1700));
    assert_eq!((events[5].base_ms, events[5].cursor_ms), (50, 1700));
    assert_eq!(events[5].start_ms, 1700);
    assert_eq!(found(&reading), [("T-TIME-03", "timeline[4]")]);
}

#[test]
fn a_base_moves_what_is_counted_from_it() {
    let reading = compile(vec![
        EventKind::BaseTimeDelta(2000),
        respond(vec![think(&[(offset(100), "a"), (offset(400), "b")])]),
        inputs(&[(offset(250), "x")]),
        respond(vec![say(&[(offset(900), "c")])]),
        with_call(call("c1", "runCmd", json!({})), |call| {
            call.execution = Some(execution(100, &[50], Some(300)));
        }),
        EventKind::BaseTimeDelta(1500),
        respond(vec![say(&[(offset(0), "d")])]),
    ]);
    let events = &reading.schedule.events;
    assert_eq!(events[1].base_ms, 2000);
    assert_eq!(points(&events[1]), [2100, 2400]);
    assert_eq!(points(&events[2]), [2250]);
    assert_eq!(points(&events[3]), [2900]);
    assert_eq!((events[4].start_ms, events[4].end_ms), (2900, 3300));
    assert_eq!(points(&events[4]), [2900, 3050, 3300, 3300]);
    assert_eq!((events[6].base_ms, events[6].cursor_ms), (3500, 3500));
    assert_eq!(points(&events[6]), [3500]);
    let half = Speed::new(0.5, 0.0).expect("a speed");
    assert_eq!(half.at(events[6].start_ms), 1750);
    assert_eq!(found(&reading), [("T-TIME-05", "timeline[2]")]);
    assert_eq!(reading.diagnostics[0].severity, Severity::Note);
}

#[test]
fn a_strict_reading_refuses_times_that_fall_and_only_those() {
    let falling = || {
        timeline(vec![respond(vec![think(&[
            (delay(500), "a"),
            (offset(1), "b"),
        ])])])
    };
    assert!(!any_error(
        &Schedule::compile(&falling(), false).diagnostics
    ));
    assert!(any_error(&Schedule::compile(&falling(), true).diagnostics));
    let inside = timeline(vec![
        respond(vec![say(&[(delay(500), "a")])]),
        inputs(&[(offset(100), "b")]),
    ]);
    let reading = Schedule::compile(&inside, true);
    assert_eq!(found(&reading), [("T-TIME-05", "timeline[1]")]);
    assert!(!any_error(&reading.diagnostics));
}

#[test]
fn keys_are_typed_inside_a_turn_and_nobody_minds() {
    let mut keys = super::testing::input(offset(100), "y<Enter>");
    keys.target = Some(UserTarget::Tui);
    let reading = compile(vec![
        respond(vec![say(&[(delay(500), "a")])]),
        EventKind::UserInputs(vec![keys]),
    ]);
    assert_eq!(found(&reading), []);
}

#[test]
fn decreasing_execution_times_are_pulled_up() {
    let reading = compile(vec![with_call(call("c1", "runCmd", json!({})), |call| {
        call.execution = Some(execution(10, &[50, 20, 60], None));
    })]);
    assert_eq!(points(&reading.schedule.events[0]), [0, 60, 60, 70, 70]);
    assert_eq!(reading.schedule.events[0].end_ms, 70);
    assert_eq!(found(&reading), [("T-TIME-02", "timeline[0]")]);
}

#[test]
fn time_in_the_users_lane_never_falls() {
    let reading = compile(vec![
        inputs(&[(offset(500), "a")]),
        EventKind::UserCancelSession { at_ms: Some(100) },
        EventKind::UserCancelSession { at_ms: None },
    ]);
    let starts: Vec<_> = reading
        .schedule
        .events
        .iter()
        .map(|event| event.start_ms)
        .collect();
    assert_eq!(starts, [500, 600, 600]);
    assert_eq!(found(&reading), [("T-TIME-01", "timeline[1]")]);
    let help = reading.diagnostics[0].help.as_deref().unwrap_or_default();
    assert!(help.ends_with("write 500 or more"), "{help}");
}

#[test]
fn a_call_may_start_late() {
    let reading = compile(vec![
        answer("a"),
        with_call(call("c1", "runCmd", json!({})), |call| call.delay_ms = 40),
    ]);
    assert_eq!(reading.schedule.events[1].start_ms, 40);
    assert_eq!(reading.schedule.end_ms, 40);
}

#[test]
fn a_triggers_moment_becomes_now() {
    let reading = compile(vec![
        inputs(&[(offset(5000), "a")]),
        respond(vec![say(&[(offset(5200), "b")])]),
        inputs(&[(offset(5210), "c")]),
        EventKind::AgentPlan(crate::model::AgentPlan {
            entries: Vec::new(),
            replaces: true,
        }),
        respond(vec![say(&[(delay(100), "d")])]),
        inputs(&[(offset(9000), "late")]),
        respond(vec![say(&[(delay(100), "e")])]),
        session_start(),
    ]);
    let schedule = &reading.schedule;
    assert_eq!(schedule.origin_of(1), 5000);
    assert_eq!(schedule.origin_of(4), 5210);
    assert_eq!(
        schedule.origin_of(6),
        5300,
        "a prompt that comes later does not count"
    );
    assert_eq!(schedule.origin_of(99), schedule.end_ms);
    let half = Speed::new(0.5, 0.0).expect("a speed");
    assert_eq!(half.after(5000, 5200), 100);
    assert_eq!(half.after(5200, 5000), 0);
}

#[test]
fn a_speed_is_a_number_that_makes_sense() {
    assert_eq!(Speed::new(-1.0, 0.0), None);
    assert_eq!(Speed::new(f64::NAN, 0.0), None);
    assert_eq!(Speed::new(f64::INFINITY, 0.0), None);
    let clamped = Speed::new(0.0, 0.01).expect("a speed");
    assert_eq!(clamped.at(1000), 10);
    let none = Speed::new(0.0, 0.0).expect("a speed");
    assert_eq!(none.at(u64::MAX), 0);
    assert_eq!(Speed::default().at(u64::MAX), u64::MAX);
}

fn any_ms() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..5000_u64, 1 => any::<u64>()]
}

fn any_when() -> impl Strategy<Value = When> {
    prop_oneof![
        any_ms().prop_map(When::Delay),
        any_ms().prop_map(When::Offset)
    ]
}

fn any_event() -> impl Strategy<Value = EventKind> {
    let whens = || proptest::collection::vec(any_when(), 1..4);
    let texts = |whens: &[When]| whens.iter().map(|&when| (when, "x")).collect::<Vec<_>>();
    prop_oneof![
        (whens(), whens()).prop_map(move |(first, second)| respond(vec![
            think(&texts(&first)),
            say(&texts(&second))
        ])),
        (
            whens(),
            any_ms(),
            proptest::collection::vec(any_ms(), 0..4),
            any_ms()
        )
            .prop_map(move |(whens, start_ms, outputs_ms, delay_ms)| with_call(
                call("c", "runCmd", json!({})),
                |call| {
                    call.progress = progress(&texts(&whens));
                    call.execution = Some(execution(start_ms, &outputs_ms, None));
                    call.delay_ms = delay_ms;
                }
            )),
        whens().prop_map(move |whens| inputs(&texts(&whens))),
        proptest::option::of(any_ms()).prop_map(|at_ms| EventKind::UserCancelSession { at_ms }),
        any_ms().prop_map(EventKind::BaseTimeDelta),
        Just(check()),
        Just(ask("x")),
    ]
}

/// All points of a lane in file order.
fn points_of(schedule: &Schedule, lane: Lane) -> Vec<u64> {
    let of_lane = schedule.events.iter().filter(|event| event.lane == lane);
    let all = of_lane.flat_map(|event| {
        let parts = points(event).into_iter();
        [event.start_ms]
            .into_iter()
            .chain(parts)
            .chain([event.end_ms])
    });
    all.collect()
}

proptest! {
    #[test]
    fn each_lane_only_goes_on(events in proptest::collection::vec(any_event(), 0..30)) {
        let reading = Schedule::compile(&timeline(events), false);
        for lane in [Lane::Agent, Lane::User, Lane::Barrier] {
            let points = points_of(&reading.schedule, lane);
            prop_assert!(points.is_sorted(), "{lane:?}: {points:?}");
        }
        for event in &reading.schedule.events {
            prop_assert!(event.end_ms <= reading.schedule.end_ms);
        }
    }

    #[test]
    fn agent_events_never_overlap(events in proptest::collection::vec(any_event(), 0..30)) {
        let reading = Schedule::compile(&timeline(events), false);
        let mut ended_ms = 0;
        for event in reading.schedule.events.iter().filter(|event| event.lane == Lane::Agent) {
            prop_assert!(event.start_ms >= ended_ms);
            prop_assert!(event.cursor_ms >= ended_ms);
            ended_ms = event.end_ms;
        }
    }

    #[test]
    fn a_speed_keeps_the_order_and_adds_up_no_errors(mut points in proptest::collection::vec(0..1_000_000_000_u64, 2..30), factor in 0.0..4.0_f64) {
        points.sort_unstable();
        let speed = Speed::new(factor, 0.0).expect("a speed");
        let scaled: Vec<_> = points.iter().map(|&at| speed.at(at)).collect();
        prop_assert!(scaled.is_sorted());
        let gaps: u64 = scaled.windows(2).map(|pair| pair[1] - pair[0]).sum();
        let (first, last) = (points[0], points[points.len() - 1]);
        prop_assert_eq!(gaps, speed.after(first, last));
        prop_assert!((gaps as f64 - (last - first) as f64 * factor).abs() <= 1.0);
    }
}
