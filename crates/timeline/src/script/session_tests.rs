//! Conversations: each request gets the turn that the script has for it, or a miss that says why.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::auxiliary_requests::AuxiliaryRequests;
use super::client::{Client, Play};
use super::llm_script::LlmScript;
use super::request::{Message, Part, PreviousAnswer, RequestedResult, Role};
use super::selection::DEFAULT_MAX_DISTANCE;
use super::session::{Decision, Session};
use super::testing::{
    answer, ask, call, error, respond, result, say, session_start, timeline, with_call,
};
use super::testing::{delay, inputs};
use crate::model::{EventKind, ServingCount, ToolStatus};

fn script(events: Vec<EventKind>) -> LlmScript {
    LlmScript::compile(Arc::new(timeline(events)), false).0
}

fn bash(id: &str) -> EventKind {
    call(id, "runCmd", json!({"cmd": "true"}))
}

fn turn_of(decision: &Decision) -> Option<usize> {
    match decision {
        Decision::Turn(served) => Some(served.turn_idx),
        _ => None,
    }
}

/// Two calls at once, one more, a text; a second input.
fn usual() -> LlmScript {
    script(vec![
        ask("Fix the test"),
        answer("I look"),
        bash("c1"),
        bash("c2"),
        respond(Vec::new()),
        bash("c3"),
        answer("Fixed"),
        ask("Thanks, now the docs"),
        answer("Done"),
    ])
}

fn walk_usual(play: &mut Play<'_>) {
    play.client.says("Fix the test");
    assert_eq!(play.gets(), 0);
    play.client.returns(&["c2", "c1"]);
    assert_eq!(play.gets(), 1);
    play.client.returns(&["c3"]);
    assert_eq!(play.gets(), 2);
    play.client.says("Thanks, now the docs");
    assert_eq!(play.gets(), 3);
}

#[test]
fn a_conversation_goes_from_turn_to_turn() {
    let script = usual();
    let mut play = Play::new(&script);
    walk_usual(&mut play);
    play.client.says("One more");
    let Decision::Miss(miss) = play.sends() else {
        panic!("the script has ended")
    };
    assert_eq!(miss.expected_turn, None);
    assert!(
        miss.message(&script).starts_with("script ended"),
        "{miss:?}"
    );
}

#[test]
fn a_conversation_begun_again_forked_or_continued_elsewhere_lands_where_it_belongs() {
    let script = usual();
    let mut play = Play::new(&script);
    walk_usual(&mut play);
    // Again from the beginning, in the same session.
    play.client = Client::default();
    play.client.says("Please: Fix the test");
    assert_eq!(play.gets(), 0);
    // Forked after the first results.
    let fork = play.client.clone();
    play.client.returns(&["c1", "c2"]);
    assert_eq!(play.gets(), 1);
    // The server was started anew: the session knows nothing.
    let mut other = Play::new(&script);
    other.client = fork;
    other.client.returns(&["c1", "c2"]);
    assert_eq!(other.gets(), 1);
    other.client.returns(&["c3"]);
    assert_eq!(other.gets(), 2);
}

#[test]
fn a_conversation_begins_with_the_first_prompt() {
    let mut script = usual();
    let misses = |script: &LlmScript, text: &str| {
        let mut play = Play::new(script);
        play.client.says(text);
        matches!(play.sends(), Decision::Miss(miss) if miss.expected_turn == Some(0))
    };
    assert!(misses(&script, "thanks, NOW the docs"), "it is the second");
    assert!(misses(&script, "Mend the test"), "it is only near");
    // What was played in the session needs not be in the history, but that is told.
    let mut play = Play::new(&script);
    walk_usual(&mut play);
    play.client = Client::default();
    play.client.says("thanks, NOW the docs");
    match play.sends() {
        Decision::Turn(served) => {
            let rejected = served.unaligned.expect("what was said is forgotten");
            assert_eq!((served.turn_idx, rejected[0].turn_idx), (3, 2));
        }
        other => panic!("{other:?}"),
    }
    // With the first prompt it would have to be.
    play.client = Client::default();
    play.client
        .says("Fix the test")
        .says("thanks, NOW the docs");
    assert!(matches!(play.sends(), Decision::Miss(_)));
    let mut timeline = (*script.timeline).clone();
    timeline.server.any_prompt = true;
    script = LlmScript::compile(Arc::new(timeline), false).0;
    let mut play = Play::new(&script);
    play.client.says("Mend the check");
    assert_eq!(play.gets(), 0);
    play.client.returns(&["c1", "c2"]);
    assert_eq!(play.gets(), 1);
}

#[test]
fn an_answer_that_a_history_leaves_out_is_a_miss() {
    let script = script(vec![
        ask("one"),
        answer("first answer"),
        ask("two"),
        answer("second answer"),
        ask("three"),
        answer("third answer"),
    ]);
    let mut play = Play::new(&script);
    play.client.says("one");
    play.gets();
    play.client.says("two");
    play.gets();
    let whole = play.client.clone();
    // Without the first answer, and what the user said after it or not.
    for left_out in [1..2, 1..3] {
        play.client = whole.clone();
        play.client.history.drain(left_out);
        play.client.says("three");
        let Decision::Miss(miss) = play.sends() else {
            panic!("an answer is left out")
        };
        assert_eq!(miss.expected_turn, Some(0));
        let message = miss.message(&script);
        assert!(
            message.contains("continues with that of turn 2"),
            "{message}"
        );
    }
}

#[test]
fn a_history_that_was_edited_says_what_differs() {
    let script = script(vec![
        ask("one"),
        answer("The capital of France is Paris."),
        ask("two"),
        answer("b"),
    ]);
    let mut play = Play::new(&script);
    play.client.says("one");
    play.gets();
    let whole = play.client.clone();
    play.client.history.pop();
    play.client
        .history
        .push(Message::assistant("The capital of France is Rome."));
    play.client.says("two");
    let Decision::Turn(served) = play.sends() else {
        panic!("the session goes on")
    };
    assert_eq!(
        served.unaligned.as_ref().expect("unaligned")[0].explain(&script),
        "not turn 1 (test.yaml:2): the history holds another text: \"capital of France is Rome.\" in place of \
         \"capital of France is Paris.\""
    );
    let mut play = Play::new(&script);
    play.client.says("one");
    play.gets();
    play.client = whole;
    play.client.history[0] = Message::user("another");
    play.client.says("two");
    let (Decision::Repeat(served) | Decision::Turn(served)) = play.sends() else {
        panic!("the session goes on")
    };
    assert!(
        served.unaligned.as_ref().expect("unaligned")[0]
            .why
            .contains("\"another\" in place of \"one\"")
    );
}

#[test]
fn what_a_later_turn_waits_for_must_not_come_too_early() {
    let script = usual();
    let two_at_once = |text: &[&str]| {
        let mut play = Play::new(&script);
        for text in text {
            play.client.says(text);
        }
        matches!(play.sends(), Decision::Miss(_))
    };
    assert!(two_at_once(&["Fix the test", "Thanks, now the docs"]));
    assert!(two_at_once(&["Fix the test\n\nThanks, now the docs"]));
    assert!(!two_at_once(&["Fix the test", "Be brief"]));
    let mut play = Play::new(&script);
    play.client.says("Fix the test");
    play.gets();
    play.client
        .returns(&["c1", "c2"])
        .says("Thanks, now the docs");
    assert!(matches!(play.sends(), Decision::Miss(_)));
}

#[test]
fn an_equal_text_goes_before_one_that_is_contained() {
    let script = script(vec![
        ask("docs"),
        answer("a"),
        ask("now the docs"),
        answer("b"),
    ]);
    let mut play = Play::new(&script);
    play.client.says("write docs");
    assert_eq!(play.gets(), 0);
    play.client = Client::default();
    play.client.says("now the docs");
    assert_eq!(play.gets(), 1);
}

#[test]
fn reminders_are_passed_over() {
    let script = usual();
    let mut play = Play::new(&script);
    play.client
        .says("<environment_context>thanks, now the docs</environment_context>");
    play.client.says("Fix the test");
    play.client
        .says("<system-reminder>Be brief</system-reminder>");
    assert_eq!(play.gets(), 0);
    play.client.returns(&["c1", "c2"]);
    play.client.says("<system-reminder>todo</system-reminder>");
    assert_eq!(play.gets(), 1);
}

#[test]
fn a_miss_says_what_was_expected_and_what_arrived() {
    let script = usual();
    let mut play = Play::new(&script);
    play.client.says("Fix the test");
    play.gets();
    play.client.returns(&["c1", "c3"]);
    let Decision::Miss(miss) = play.sends() else {
        panic!("c2 is missing")
    };
    assert_eq!(miss.expected_turn, Some(1));
    assert_eq!(
        miss.message(&script),
        "expected turn 2 (test.yaml:5): results for `c1`, `c2`\n\
         received: results for `c1`, `c3`\n\
         results: expected `c1`, `c2`, received `c1`, `c3`"
    );
    assert_eq!(miss.diagnostic(&script).code.name(), "T-LLM-02");

    play.client.history.pop();
    play.client.returns(&["c1", "c2"]);
    play.gets();
    play.client.returns(&["c3"]);
    play.gets();
    play.client.says("Fix the tests");
    let Decision::Miss(miss) = play.sends() else {
        panic!("another text is expected")
    };
    assert_eq!(miss.differences[0].field, "user text");
    assert_eq!(miss.nearest_turn, Some(0));
}

#[test]
fn a_turn_without_input_fits_any_text() {
    let script = script(vec![ask("a"), answer("one"), answer("two")]);
    let mut play = Play::new(&script);
    play.client.says("a");
    assert_eq!(play.gets(), 0);
    play.client.says("whatever");
    assert_eq!(play.gets(), 1);
}

#[test]
fn the_same_request_gets_the_same_answer() {
    let script = usual();
    let mut play = Play::new(&script);
    play.client.says("Fix the test");
    let first = play.sends();
    let again = play.sends();
    match (first, again) {
        (Decision::Turn(first), Decision::Repeat(again)) => assert_eq!(first, again),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_error_is_served_as_often_as_it_says() {
    let script = script(vec![
        ask("a"),
        respond(vec![
            error(500, ServingCount::Times(2)),
            say(&[(delay(0), "one")]),
        ]),
        ask("b"),
        respond(vec![error(429, ServingCount::Times(1))]),
        answer("two"),
        ask("c"),
        respond(vec![error(503, ServingCount::Always)]),
    ]);
    let mut play = Play::new(&script);
    play.client.says("a");
    for _ in 0..2 {
        assert!(matches!(play.sends(), Decision::Error(served) if served.turn_idx == 0));
    }
    assert_eq!(play.gets(), 0);
    play.client.says("b");
    assert!(matches!(play.sends(), Decision::Error(served) if served.turn_idx == 1));
    assert_eq!(play.gets(), 2);
    play.client.says("c");
    for _ in 0..5 {
        assert!(matches!(play.sends(), Decision::Error(served) if served.turn_idx == 3));
    }
}

#[test]
fn errors_leave_no_trace() {
    let script = script(vec![
        ask("a"),
        respond(vec![error(500, ServingCount::Times(1))]),
        ask("b"),
        answer("one"),
        ask("c"),
        answer("two"),
    ]);
    let mut play = Play::new(&script);
    play.client.says("a");
    assert!(matches!(play.sends(), Decision::Error(_)));
    play.client.says("b");
    assert_eq!(play.gets(), 1);
    play.client.says("c");
    assert_eq!(play.gets(), 2);
    // The error again and again, though it is to be served once, is no turn.
    let mut play = Play::new(&script);
    play.client.says("a");
    assert!(matches!(play.sends(), Decision::Error(_)));
    assert!(matches!(play.sends(), Decision::Miss(_)));
}

#[test]
fn empty_answers_may_be_left_out_of_a_history() {
    let script = script(vec![
        inputs(&[(delay(0), "a"), (delay(0), "b")]),
        answer("one"),
        respond(Vec::new()),
        answer("two"),
    ]);
    let mut play = Play::new(&script);
    for (said, turn_idx) in [("a", 0), ("b", 1), ("x", 2), ("y", 3)] {
        play.client.says(said);
        assert_eq!(play.gets(), turn_idx);
        if play
            .client
            .history
            .last()
            .is_some_and(|last| last.parts.is_empty())
        {
            play.client.history.pop();
        }
    }
}

#[test]
fn an_empty_answer_leaves_out_no_prompt() {
    let (one, go_on, two) = ("question one", "Please continue", "two");
    for has_answer_before in [false, true] {
        let mut events = vec![
            ask(one),
            respond(Vec::new()),
            ask(go_on),
            answer(two),
            ask("third"),
            answer("three"),
        ];
        let mut before = Vec::new();
        if has_answer_before {
            events.splice(0..0, [ask("zero"), answer("null")]);
            before = vec![Message::user("zero"), Message::assistant("null")];
        }
        let script = script(events);
        let n_before = usize::from(has_answer_before);
        for (prompts, is_whole) in [
            (&[one, go_on][..], true),
            (&["question two", go_on], false),
            (&["question", go_on], false),
            (&[go_on], false),
            (&[go_on, one], false),
        ] {
            // In the session that gave the empty answer, and in a new one; behind it, and one answer later.
            for (is_played, is_later) in
                [(true, false), (true, true), (false, false), (false, true)]
            {
                let mut play = Play::new(&script);
                for turn_idx in 0..=n_before + usize::from(is_later) {
                    let texts = ["zero", one, go_on];
                    play.client.says(texts[turn_idx + 1 - n_before]);
                    if is_played {
                        assert_eq!(play.gets(), turn_idx);
                        play.client
                            .history
                            .retain(|message| !message.parts.is_empty());
                    }
                }
                play.client.history = before.clone();
                play.client
                    .history
                    .extend(prompts.iter().map(|text| Message::user(*text)));
                if is_later {
                    play.client.history.push(Message::assistant(two));
                    play.client.says("third");
                }
                let is_served = match play.sends() {
                    Decision::Turn(served) => {
                        assert_eq!(served.turn_idx, n_before + 1 + usize::from(is_later));
                        served.unaligned.is_none()
                    }
                    _ => false,
                };
                assert_eq!(is_served, is_whole, "{prompts:?} {is_played} {is_later}");
            }
        }
    }
}

#[test]
fn of_a_wrong_history_only_what_is_wrong_is_told() {
    let script = script(vec![
        ask("bad"),
        answer("negative"),
        ask("fine"),
        answer("positive"),
        session_start(),
        ask("sunny"),
        answer("pos"),
    ]);
    let right = ["bad", "negative", "fine", "positive", "sunny"];
    let with = |idx: usize, text| {
        let mut texts = right.to_vec();
        texts[idx] = text;
        texts
    };
    let more = [&right[..4], &["meh", "neutral", "sunny"]].concat();
    for (texts, expected) in [
        (with(3, "good"), &["\"good\" in place of \"positive\""][..]),
        (with(1, "good"), &["\"good\" in place of \"negative\""]),
        (with(0, "poor"), &["\"poor\" in place of \"bad\""]),
        (more, &["\"neutral\" in place of \"pos\""]),
        (with(4, "rainy"), &[]),
    ] {
        let mut play = Play::new(&script);
        for (idx, text) in texts.iter().enumerate() {
            let message = match idx % 2 {
                0 => Message::user(*text),
                _ => Message::assistant(*text),
            };
            play.client.history.push(message);
        }
        let Decision::Miss(miss) = play.sends() else {
            panic!("{texts:?}")
        };
        let whys = miss.rejected.iter().map(|it| &*it.why);
        let told: Vec<&str> = whys
            .map(|why| why.rsplit(": ").next().unwrap_or_default())
            .collect();
        assert_eq!(told, expected, "{texts:?}");
    }
}

#[test]
fn results_may_come_one_after_the_other() {
    // As items: a call, its result, the other call, its result.
    let script = usual();
    let mut play = Play::new(&script);
    play.client.says("Fix the test");
    play.gets();
    let said = play.client.history.pop().expect("the answer");
    let [text, first, second] = &said.parts[..] else {
        panic!("{said:?}")
    };
    for (parts, id) in [
        (vec![text.clone(), first.clone()], "c1"),
        (vec![second.clone()], "c2"),
    ] {
        play.client.history.push(Message {
            role: Role::Assistant,
            parts,
        });
        play.client.returns(&[id]);
    }
    assert_eq!(play.gets(), 1);
}

/// A client of an API without ids: calls and results have names only.
fn take_ids_away(client: &mut Client, results: &[(&str, &str)]) {
    let parts = results.iter().map(|&(name, text)| {
        Part::Result(RequestedResult {
            call_id: String::new(),
            name: name.into(),
            text: text.into(),
            blocks: Vec::new(),
            is_error: false,
        })
    });
    client.history.push(Message {
        role: Role::User,
        parts: parts.collect(),
    });
    let mut names = ["Read", "Grep"].iter().cycle();
    for part in client
        .history
        .iter_mut()
        .flat_map(|message| &mut message.parts)
    {
        if let Part::Call(call) = part {
            call.id.clear();
            call.name = (*names.next().expect("they go round")).into();
        }
    }
}

#[test]
fn each_result_for_a_call_must_be_the_scripted_one() {
    let script = script(vec![
        ask("a"),
        result(bash("c1"), json!({"celsius": 3})),
        answer("done"),
    ]);
    for (text, is_error, differs) in [
        ("{\"celsius\": 3.0}", false, false),
        ("{\"celsius\": \"3\"}", false, true),
        ("{\"celsius\": 3}", true, true),
    ] {
        let mut play = Play::new(&script);
        play.client.says("a");
        play.gets();
        play.client.returns(&["c1"]);
        let parts = &mut play.client.history.last_mut().expect("results").parts;
        if let [Part::Result(result)] = &mut parts[..] {
            (result.text, result.is_error) = (text.into(), is_error);
        }
        let Decision::Turn(served) = play.sends() else {
            panic!("a turn")
        };
        assert_eq!(!served.differing_results.is_empty(), differs, "{text}");
    }
}

#[test]
fn what_comes_for_calls_is_one_result_each_and_nothing_beside() {
    let script = script(vec![
        ask("a"),
        result(bash("c1"), json!("one")),
        result(bash("c2"), json!("two")),
        answer("done"),
    ]);
    let arrived = |change: fn(&mut Vec<Part>)| {
        let mut play = Play::new(&script);
        play.client.says("a");
        play.gets();
        play.client.returns(&["c1", "c2"]);
        change(&mut play.client.history.last_mut().expect("results").parts);
        match play.sends() {
            Decision::Miss(miss) => miss.arrived,
            _ => "a turn".to_owned(),
        }
    };
    let again = |parts: &mut Vec<Part>| {
        let first = parts[0].clone();
        parts.insert(1, first);
    };
    assert_eq!(arrived(again), "results for `c1`, `c1`, `c2`");
    assert_eq!(arrived(|parts| parts.reverse()), "a turn");
    let contradicts = |parts: &mut Vec<Part>| {
        let mut first = parts[0].clone();
        if let Part::Result(result) = &mut first {
            result.text.push('!');
        }
        parts.push(first);
    };
    assert_eq!(arrived(contradicts), "results for `c1`, `c2`, `c1`");
    let renames = |parts: &mut Vec<Part>| {
        if let Part::Result(result) = &mut parts[0] {
            result.name = "Other".to_owned();
        }
    };
    assert_eq!(arrived(renames), "results for `c1`, `c2`");
    let says_more = |parts: &mut Vec<Part>| parts.push(Part::Text("and more".into()));
    assert_eq!(
        arrived(says_more),
        "results for `c1`, `c2`, and the user's text \"and more\""
    );
    let reminds = |parts: &mut Vec<Part>| {
        parts.push(Part::Text("<system-reminder>b</system-reminder>".into()));
    };
    assert_eq!(arrived(reminds), "a turn");
}

#[test]
fn an_empty_message_stands_for_no_answer() {
    let script = script(vec![ask("one"), answer("Paris."), ask("two"), answer("b")]);
    let mut play = Play::new(&script);
    play.client.says("one");
    play.gets();
    *play.client.history.last_mut().expect("an answer") = Message::assistant("");
    play.client.says("two");
    assert!(matches!(play.sends(), Decision::Miss(_)));
}

#[test]
fn results_without_ids_go_by_their_names() {
    let script = script(vec![
        ask("a"),
        result(bash("c1"), json!("one")),
        result(bash("c2"), json!("two")),
        answer("done"),
    ]);
    let send = |results: &[(&str, &str)]| {
        let mut play = Play::new(&script);
        play.client.says("a");
        play.gets();
        take_ids_away(&mut play.client, results);
        play.sends()
    };
    match send(&[("Grep", "two"), ("Read", "other")]) {
        Decision::Turn(served) => {
            assert_eq!(served.turn_idx, 1);
            let differing = &served.differing_results[..];
            assert!(
                matches!(differing, [found] if found.call_id == "c1"),
                "{differing:?}"
            );
        }
        other => panic!("{other:?}"),
    }
    for wrong in [&[("Grep", "two")][..], &[("Read", "one"), ("Bash", "two")]] {
        assert!(matches!(send(wrong), Decision::Miss(_)), "{wrong:?}");
    }
}

#[test]
fn results_further_back_are_compared_without_ids_too() {
    let script = script(vec![
        ask("a"),
        result(bash("c1"), json!("one")),
        result(bash("c2"), json!("two")),
        answer("done"),
        ask("b"),
        answer("end"),
    ]);
    let mut play = Play::new(&script);
    play.client.says("a");
    play.gets();
    take_ids_away(&mut play.client, &[("Read", "two"), ("Grep", "two")]);
    assert_eq!(play.gets(), 1);
    play.client.says("b");
    let Decision::Turn(served) = play.sends() else {
        panic!("the names fit")
    };
    let differing = &served.differing_results[..];
    assert!(
        matches!(differing, [found] if found.call_id == "c1"),
        "{differing:?}"
    );
}

#[test]
fn calls_that_were_cancelled_need_no_results_further_back() {
    let script = script(vec![
        ask("a"),
        bash("c1"),
        bash("c2"),
        EventKind::UserCancelSession { at_ms: None },
        ask("b"),
        answer("two"),
        ask("c"),
        answer("three"),
    ]);
    for returned in [&[][..], &["c1"]] {
        let mut play = Play::new(&script);
        play.client.says("a");
        play.gets();
        if !returned.is_empty() {
            play.client.returns(returned);
        }
        play.client.says("b");
        assert_eq!(play.gets(), 1);
        play.client.says("c");
        match play.sends() {
            Decision::Turn(served) => assert_eq!(served.user_differences, []),
            other => panic!("{returned:?}: {other:?}"),
        }
    }
}

#[test]
fn a_cancelled_answer_may_be_cut_or_missing() {
    let script = script(vec![
        ask("a"),
        answer("A long story"),
        bash("c1"),
        EventKind::UserCancelSession { at_ms: None },
        ask("b"),
        answer("two"),
    ]);
    for remembered in [None, Some(""), Some("A long")] {
        let mut play = Play::new(&script);
        play.client.says("a");
        assert_eq!(turn_of(&play.sends()), Some(0));
        if let Some(text) = remembered {
            play.client.history.push(Message::assistant(text));
        }
        play.client.says("b");
        assert_eq!(play.gets(), 1, "{remembered:?}");
    }
}

#[test]
fn an_open_call_needs_no_result() {
    let script = script(vec![
        ask("a"),
        with_call(bash("c1"), |call| call.status = ToolStatus::Open),
        ask("b"),
        answer("two"),
    ]);
    for returned in [&[][..], &["c1"]] {
        let mut play = Play::new(&script);
        play.client.says("a");
        play.gets();
        if !returned.is_empty() {
            play.client.returns(returned);
        }
        play.client.says("b");
        assert_eq!(play.gets(), 1);
    }
}

#[test]
fn history_from_before_the_session_is_walked_from_the_top() {
    let script = script(vec![
        ask("old"),
        answer("one"),
        session_start(),
        ask("new"),
        answer("two"),
    ]);
    let mut play = Play::new(&script);
    play.client.says("old");
    play.client.history.push(Message::assistant("one"));
    play.client.says("new");
    assert_eq!(play.gets(), 1);
    let mut play = Play::new(&script);
    play.client.says("old");
    assert!(
        matches!(play.sends(), Decision::Miss(_)),
        "it has been said"
    );
}

#[test]
fn a_prefill_is_one_message_with_the_answer_behind_it_or_two_and_is_not_forgotten() {
    for (prefill, rest) in [("{", "\"a\": 1}"), ("The correct answer is ( ", "B)")] {
        let script = script(vec![
            ask("2+2"),
            answer("4"),
            ask("Which?"),
            answer(prefill),
            session_start(),
            answer(rest),
            ask("More"),
            answer("Done"),
        ]);
        let joined = format!("{}{rest}", prefill.trim());
        for (held, is_whole) in [
            (vec![&*joined], true),
            (vec![prefill, rest], true),
            (vec![rest], false),
            (vec![prefill], false),
        ] {
            let mut play = Play::new(&script);
            play.client.says("2+2");
            play.client.history.push(Message::assistant("4"));
            play.client.says("Which?");
            let mut asked = play.client.clone();
            asked.history.push(Message::assistant(prefill));
            let begun = std::mem::replace(&mut play.client, asked);
            assert_eq!(play.gets(), 2);
            play.client = begun;
            let messages = held.iter().map(|&text| Message::assistant(text));
            play.client.history.extend(messages);
            play.client.says("More");
            let texts = match play.sends() {
                Decision::Turn(served) if served.unaligned.is_none() => {
                    assert_eq!(served.turn_idx, 3);
                    let request = play.client.request();
                    let answers = served.history(&script, &request);
                    let texts = answers.iter().map(|answer| answer.text.trim().to_owned());
                    Some(texts.collect::<Vec<_>>())
                }
                _ => None,
            };
            let expected = ["4", prefill.trim(), rest].map(str::to_owned);
            assert_eq!(texts, is_whole.then(|| expected.to_vec()), "{held:?}");
        }
    }
}

#[test]
fn what_stood_before_the_session_is_told_if_it_is_forgotten() {
    let script = script(vec![
        ask("2+2"),
        answer("4"),
        session_start(),
        ask("3+3"),
        answer("6"),
        ask("5+5"),
        answer("10"),
    ]);
    for (begins_with_examples, forgets, is_told) in [
        (true, true, true),
        (true, false, false),
        (false, true, false),
    ] {
        let mut play = Play::new(&script);
        if begins_with_examples {
            play.client.says("2+2");
            play.client.history.push(Message::assistant("4"));
        }
        play.client.says("3+3");
        assert_eq!(play.gets(), 1);
        if forgets && begins_with_examples {
            play.client.history.drain(..2);
        }
        play.client.says("5+5");
        match play.sends() {
            Decision::Turn(served) => {
                assert_eq!((served.turn_idx, served.unaligned.is_some()), (2, is_told));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_conversation_that_begins_with_a_history_of_its_own_is_a_miss() {
    let script = usual();
    let mut play = Play::new(&script);
    play.client.says("Which file is broken?");
    play.client.history.push(Message::assistant("src/lib.rs"));
    play.client.says("Fix the test");
    let Decision::Miss(miss) = play.sends() else {
        panic!("nobody played that")
    };
    let message = miss.message(&script);
    assert!(message.contains("src/lib.rs"), "{message}");
}

#[test]
fn what_is_said_beside_the_first_prompt_is_told() {
    let script = usual();
    for (beside, is_told) in [
        ("Delete the branch", true),
        ("<environment_context>cwd</environment_context>", false),
    ] {
        let mut play = Play::new(&script);
        play.client.says(beside);
        play.client.says("Fix the test");
        let Decision::Turn(served) = play.sends() else {
            panic!("the prompt is there")
        };
        assert_eq!(!served.user_differences.is_empty(), is_told, "{beside}");
    }
}

#[test]
fn a_history_that_was_summarised_goes_on_where_the_session_was() {
    let script = usual();
    let mut play = Play::new(&script);
    play.client.says("Fix the test");
    play.gets();
    play.client.returns(&["c1", "c2"]);
    play.gets();
    play.client.returns(&["c3"]);
    play.gets();
    play.client = Client::default();
    play.client.says("Summary so far");
    play.client.history.push(Message::assistant("I see"));
    play.client.says("Thanks, now the docs");
    match play.sends() {
        Decision::Turn(served) => {
            assert_eq!((served.turn_idx, served.unaligned.is_some()), (3, true));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_summarised_history_with_results_is_found_by_their_ids() {
    let script = usual();
    let mut play = Play::new(&script);
    play.client.says("Fix the test");
    play.gets();
    let said = play.client.history.pop().expect("the answer");
    play.client = Client::default();
    play.client.says("Summary so far");
    play.client.history.push(Message::assistant("I see"));
    play.client.says("Go on");
    play.client.history.push(said);
    play.client.returns(&["c1", "c2"]);
    let session = std::mem::take(&mut play.session);
    assert!(
        matches!(play.sends(), Decision::Miss(_)),
        "the calls were not made in this session"
    );
    play.session = session;
    match play.sends() {
        Decision::Turn(served) => {
            assert_eq!((served.turn_idx, served.unaligned.is_some()), (1, true));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_previous_answer_stands_for_the_history() {
    let script = usual();
    let mut client = Client::default();
    client.returns(&["c2", "c1"]);
    let mut request = client.request();
    request.previous = Some(PreviousAnswer {
        id: "resp_1".into(),
        scenario: script.fingerprint,
        turn_idx: 0,
        session: 1,
    });
    let side = AuxiliaryRequests::new([], DEFAULT_MAX_DISTANCE);
    let decision = Session::default().answer(&script, &side, &request);
    assert_eq!(turn_of(&decision), Some(1));
    request.history.clear();
    request.key.0[0] ^= 1;
    let decision = Session::default().answer(&script, &side, &request);
    assert!(matches!(decision, Decision::Miss(_)));
}

#[test]
fn results_are_compared_with_the_script() {
    let script = script(vec![
        ask("a"),
        result(bash("c1"), json!("ok\n")),
        answer("one"),
    ]);
    let mut play = Play::new(&script);
    play.client.says("a");
    play.gets();
    play.client.returns(&["c1"]);
    match play.sends() {
        Decision::Turn(served) => {
            assert_eq!(served.differing_results[0].arrived, "done");
            assert_eq!(served.after, Some(0));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_script_without_turns_answers_nothing() {
    let script = script(vec![]);
    let mut play = Play::new(&script);
    play.client.says("a");
    assert!(matches!(play.sends(), Decision::Miss(_)));
}

/// A conversation: for each input its answers, each with so many calls. The last answer before an input makes none.
fn any_conversation() -> impl Strategy<Value = Vec<Vec<usize>>> {
    let answers = proptest::collection::vec(0..4_usize, 0..4);
    proptest::collection::vec(answers, 1..5)
}

struct Built {
    script: LlmScript,
    /// What the client sends before each turn.
    before: Vec<Sent>,
}

enum Sent {
    Says(String),
    Returns(Vec<String>),
}

fn build(conversation: &[Vec<usize>], texts: &[u8]) -> Built {
    let mut events = Vec::new();
    let mut before = Vec::new();
    let mut n_calls = 0;
    let mut text = texts.iter().cycle();
    let mut next_text = |prefix: &str| format!("{prefix} {}", text.next().unwrap_or(&0));
    for (segment_idx, answers) in conversation.iter().enumerate() {
        let said = format!("input {segment_idx} end");
        events.push(ask(&said));
        let mut sent = Sent::Says(said);
        for &n_parallel in answers.iter().filter(|&&n| n > 0).chain([&0]) {
            before.push(sent);
            events.push(answer(&next_text("text")));
            let ids: Vec<String> = (0..n_parallel)
                .map(|_| {
                    n_calls += 1;
                    format!("call_{n_calls}")
                })
                .collect();
            events.extend(ids.iter().map(|id| bash(id)));
            sent = Sent::Returns(ids);
        }
    }
    Built {
        script: script(events),
        before,
    }
}

fn send(client: &mut Client, sent: &Sent, turned: usize) {
    match sent {
        Sent::Says(text) => client.says(text),
        Sent::Returns(ids) => {
            let mut ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let turned = turned % ids.len().max(1);
            ids.rotate_left(turned);
            if turned % 2 == 1 {
                ids.reverse();
            }
            client.returns(&ids)
        }
    };
}

proptest! {
    #[test]
    fn an_honest_client_gets_turn_after_turn(
        conversation in any_conversation(),
        texts in proptest::collection::vec(0..3_u8, 1..8),
        turned in 0..5_usize,
        fork_at in 0..20_usize,
    ) {
        let Built { script, before } = build(&conversation, &texts);
        prop_assert_eq!(before.len(), script.turns.turns.len());
        let mut play = Play::new(&script);
        let mut forked = None;
        for (turn_idx, sent) in before.iter().enumerate() {
            send(&mut play.client, sent, turned);
            if turn_idx == fork_at {
                forked = Some(play.client.clone());
            }
            let request = play.client.request();
            prop_assert_eq!(play.gets(), turn_idx);
            // A request that was answered matches itself.
            let side = AuxiliaryRequests::new([&*script.timeline], DEFAULT_MAX_DISTANCE);
            let again = play.session.answer(&script, &side, &request);
            prop_assert!(matches!(again, Decision::Repeat(served) if served.turn_idx == turn_idx));
        }
        // From anywhere again, in a session that knows nothing and in one that has gone on.
        if let Some(client) = forked {
            let mut fresh = Play::new(&script);
            fresh.client = client.clone();
            prop_assert_eq!(fresh.gets(), fork_at);
            play.client = client;
            let again = play.sends();
            prop_assert!(matches!(again, Decision::Repeat(served) if served.turn_idx == fork_at));
        }
        // From the beginning.
        let mut restarted = Play { session: play.session, ..Play::new(&script) };
        for (turn_idx, sent) in before.iter().enumerate() {
            send(&mut restarted.client, sent, turned + 1);
            match restarted.sends() {
                Decision::Turn(served) | Decision::Repeat(served) => {
                    prop_assert_eq!(served.turn_idx, turn_idx);
                    restarted.client.keeps(&script, &served);
                }
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }

    #[test]
    fn a_result_that_is_missing_is_a_miss(conversation in any_conversation(), drop_at in 0..20_usize) {
        let Built { script, before } = build(&conversation, &[1]);
        let mut play = Play::new(&script);
        for (turn_idx, sent) in before.iter().enumerate() {
            if let Sent::Returns(ids) = sent && turn_idx >= drop_at {
                let mut client = play.client.clone();
                std::mem::swap(&mut client, &mut play.client);
                let kept: Vec<&str> = ids.iter().skip(1).map(String::as_str).collect();
                play.client.returns(&kept);
                prop_assert!(matches!(play.sends(), Decision::Miss(_)));
                play.client = client;
            }
            send(&mut play.client, sent, 0);
            prop_assert_eq!(play.gets(), turn_idx);
        }
    }
}
