//! Sessions and selection: which scenario a request gets, and for how long.

use std::sync::Arc;

use super::client::Client;
use super::llm_script::LlmScript;
use super::request::{Endpoint, Message, PreviousAnswer, Request};
use super::request_key::RequestKey;
use super::selection::{DEFAULT_MAX_DISTANCE, SelectionReason, Selector, Wanted};
use super::session::Decision;
use super::sessions::{Address, Answered, SessionKey, Sessions, UnmatchedRequest};
use super::testing::{answer, ask, respond, session_start, timeline};
use crate::model::{EventKind, OnRepeat, SessionStart, Timeline};
use cuecard_source::diagnostic::Diagnostic;

fn named(name: &str, events: Vec<EventKind>) -> Timeline {
    Timeline {
        name: name.into(),
        ..timeline(events)
    }
}

fn simple(name: &str, prompt: &str) -> Timeline {
    named(
        name,
        vec![ask(prompt), answer(name), ask("next"), answer("b")],
    )
}

fn reply(
    sessions: &mut Sessions,
    address: Address<'_>,
    request: &Request,
    now_ms: u64,
) -> Result<Answered, UnmatchedRequest> {
    let key = SessionKey::of(address, request);
    sessions.answer(key, address, request, now_ms)
}

fn selector(timelines: &[Timeline]) -> Selector {
    Selector::new(timelines, DEFAULT_MAX_DISTANCE)
}

/// The chosen scenario and why, or what is said: message, notes, help.
fn by_prompt(
    selector: &Selector,
    prompts: &[&str],
) -> Result<(usize, SelectionReason), Vec<String>> {
    let wanted = Wanted {
        prompts,
        ..Wanted::default()
    };
    let chosen = selector.select(wanted);
    let chosen = chosen.map(|found| (found.scenario_idx, found.reason));
    chosen.map_err(|found| explained(&found))
}

fn explained(found: &Diagnostic) -> Vec<String> {
    let mut said = vec![format!("{}: {}", found.code, found.message)];
    said.extend(found.notes.iter().chain(&found.help).cloned());
    said
}

#[test]
fn the_nearest_prompt_is_chosen() {
    let selector = selector(&[
        simple("a", "Fix the failing test"),
        simple("b", "Write the docs"),
        simple("c", "Write the docs for the parser"),
        simple("d", "Write the test"),
    ]);
    let prompt = SelectionReason::Prompt;
    assert_eq!(
        by_prompt(&selector, &["fix  THE failing test"]),
        Ok((0, prompt(0.0)))
    );
    assert_eq!(
        by_prompt(&selector, &["write the docs"]),
        Ok((1, prompt(0.0)))
    );
    // A text that holds two prompts: the longer one.
    let both = "Please write the docs for the parser";
    assert_eq!(by_prompt(&selector, &[both]), Ok((2, prompt(0.0))));
    // One that is a prompt goes before one that holds a longer one.
    assert_eq!(
        by_prompt(&selector, &[both, "Write the docs"]),
        Ok((1, prompt(0.0)))
    );
    assert_eq!(
        by_prompt(&selector, &["Fix the failing tests"]).map(|found| found.0),
        Ok(0)
    );
    match by_prompt(&selector, &["zzz"]) {
        Err(said) => assert_eq!(said.len(), 5, "{said:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn conversations_that_begin_with_the_same_examples_are_told_apart() {
    let one = |name: &str, prompt: &str| {
        let examples = [ask("2+2"), answer("4"), session_start()];
        let own = [ask(prompt), answer(name), ask("next"), answer("last")];
        named(name, examples.into_iter().chain(own).collect())
    };
    let timelines = [one("six", "3+3"), one("ten", "5+5")];
    let mut sessions = sessions(timelines.to_vec(), 100);
    let mut turn = |texts: &[&str]| {
        let mut client = Client::default();
        client.says("2+2").history.push(Message::assistant("4"));
        for (nth, text) in texts.iter().enumerate() {
            match nth % 2 {
                0 => {
                    client.says(text);
                }
                _ => client.history.push(Message::assistant(*text)),
            }
        }
        let answered = reply(&mut sessions, Address::default(), &client.request(), 0);
        let answered = answered.expect("it is one of them");
        match answered.decision {
            Decision::Turn(served) => (answered.scenario_idx, Some(served.turn_idx)),
            _ => (answered.scenario_idx, None),
        }
    };
    assert_eq!(turn(&["3+3"]), (0, Some(1)));
    assert_eq!(turn(&["5+5"]), (1, Some(1)));
    assert_eq!(turn(&["3+3", "six", "next"]), (0, Some(2)));
    assert_eq!(turn(&["5+5", "ten", "next"]), (1, Some(2)));
    assert_eq!(turn(&["7+7"]), (0, None));
    assert_eq!(sessions.progress().len(), 2);
}

#[test]
fn an_empty_answer_that_a_client_leaves_out_begins_no_other_session() {
    let mut sessions = sessions(
        vec![named(
            "a",
            vec![
                ask("Go"),
                respond(Vec::new()),
                ask("Please continue"),
                answer("two"),
            ],
        )],
        100,
    );
    let mut client = Client::default();
    for text in ["Go", "Please continue"] {
        let request = client.says(text).request();
        let answered = answered(reply(&mut sessions, Address::default(), &request, 0));
        assert!(matches!(answered.decision, Decision::Turn(_)), "{text}");
    }
    let turns = &sessions.scripts()[0].turns.turns;
    let unplayed: Vec<usize> = sessions
        .progress()
        .iter()
        .map(|it| it.unplayed(turns).count())
        .collect();
    assert_eq!(unplayed, [0]);
}

#[test]
fn the_next_three_are_told() {
    let timelines: Vec<_> = (0..9)
        .map(|n| simple(&format!("s{n}"), &format!("Fix test {n}")))
        .collect();
    let wanted = Wanted {
        prompts: &["Fix test 4"],
        ..Wanted::default()
    };
    let found = selector(&timelines).select(wanted).expect("one is equal");
    assert_eq!(found.scenario_idx, 4);
    let others: Vec<_> = found.others.iter().map(ToString::to_string).collect();
    assert_eq!(
        others,
        [
            r#"`s0`: distance 0.10 from "Fix test 0" (test.yaml:1)"#,
            r#"`s1`: distance 0.10 from "Fix test 1" (test.yaml:1)"#,
            r#"`s2`: distance 0.10 from "Fix test 2" (test.yaml:1)"#
        ]
    );
}

#[test]
fn a_name_never_falls_through() {
    let start = SessionStart {
        session_id: Some("sess-1".into()),
        ..SessionStart::default()
    };
    let timelines = [
        simple("fix_test", "Fix the test"),
        named("loaded", vec![EventKind::SessionStart(start), ask("Go")]),
        named("fix_test", vec![ask("another file with the same name")]),
    ];
    let selector = selector(&timelines);
    let select = |wanted: Wanted<'_>| {
        let chosen = selector.select(wanted);
        chosen
            .map(|found| found.scenario_idx)
            .map_err(|found| explained(&found))
    };
    let by_name = Wanted {
        name: Some("fix_test"),
        prompts: &["Go"],
        ..Wanted::default()
    };
    assert_eq!(select(by_name), Ok(0));
    let by_id = Wanted {
        session_id: Some("sess-1"),
        ..Wanted::default()
    };
    assert_eq!(select(by_id), Ok(1));
    let unknown = Wanted {
        name: Some("fix_tset"),
        prompts: &["Go"],
        ..Wanted::default()
    };
    let said = select(unknown).expect_err("it is misspelt");
    assert!(said[0].starts_with("T-SEL-01"), "{said:?}");
    assert_eq!(said[2], "did you mean `fix_test`?");
}

#[test]
fn the_only_scenario_must_be_meant_too() {
    let mut only = [simple("a", "Fix the failing test")];
    match by_prompt(&selector(&only), &["zzz"]) {
        Err(found) => {
            let expected = r#"`a`: distance 1.00 from "Fix the failing test" (test.yaml:1)"#;
            assert_eq!(found[1], expected);
        }
        other => panic!("{other:?}"),
    }
    only[0].server.any_prompt = true;
    let wanted = Wanted {
        prompts: &["zzz"],
        ..Wanted::default()
    };
    let found = selector(&only).select(wanted).expect("it takes any");
    assert_eq!(found.reason, SelectionReason::Any);
    let doubt = found.doubt(&only[0]).expect("it is far");
    assert_eq!(doubt.code.name(), "T-SEL-03");
    let silent = [named("a", vec![answer("Hello")])];
    assert_eq!(
        by_prompt(&selector(&silent), &["zzz"]),
        Ok((0, SelectionReason::Only)),
        "it scripts no prompt"
    );
}

#[test]
fn two_scenarios_with_the_same_prompt_are_an_error() {
    let timelines = [
        simple("a", "Fix the test"),
        simple("b", "Write the docs"),
        simple("c", " fix  THE test"),
    ];
    let found = Selector::same_prompt(&timelines);
    assert!(
        matches!(&found[..], [found] if found.code.name() == "T-SEL-04" && found.message.contains("`c`")),
        "{found:?}"
    );
    assert!(Selector::same_prompt(&timelines[..2]).is_empty());
    let mut by_name = timelines;
    by_name[2].server.is_by_name = true;
    assert!(Selector::same_prompt(&by_name).is_empty());
    let chosen = by_prompt(&selector(&by_name), &["Fix the test"]);
    assert!(matches!(chosen, Ok((0, _))), "{chosen:?}");
}

#[test]
fn the_prompt_of_two_scenarios_chooses_neither() {
    let with_session = |name: &str, id: Option<&str>| {
        let begun = EventKind::SessionStart(SessionStart {
            session_id: id.map(str::to_owned),
            ..SessionStart::default()
        });
        named(name, vec![begun, ask("Fix the test"), answer(name)])
    };
    let timelines = [with_session("a", Some("1")), with_session("b", Some("2"))];
    assert!(Selector::same_prompt(&timelines).is_empty());
    for id in [None, Some("1")] {
        let timelines = [with_session("a", Some("1")), with_session("b", id)];
        assert_eq!(Selector::same_prompt(&timelines).len(), 1, "{id:?}");
    }
    let selector = selector(&timelines);
    let ambiguous = by_prompt(&selector, &["Fix the test"]).expect_err("either");
    assert_eq!(
        ambiguous[0],
        "T-SEL-02: several timelines have the prompt \"Fix the test\""
    );
    let wanted = Wanted {
        session_id: Some("2"),
        ..Wanted::default()
    };
    assert_eq!(selector.select(wanted).expect("one").scenario_idx, 1);
}

#[test]
fn a_history_tells_which_scenario_goes_on() {
    let timelines = vec![
        simple("a", "Fix the failing test of the parser"),
        named("b", vec![ask("next"), answer("b")]),
    ];
    let mut sessions = sessions(timelines, 100);
    let mut client = Client::default();
    let history = client
        .says("Fix the failing test of the parser")
        .history
        .clone();
    client.history = history;
    client.history.push(Message::assistant("a"));
    client.says("next");
    let found = answered(reply(&mut sessions, key_of("k"), &client.request(), 0));
    assert_eq!(
        (found.scenario_idx, found.reason),
        (0, SelectionReason::History)
    );
    assert!(matches!(found.decision, Decision::Turn(served) if served.turn_idx == 1));
    // Without it, what is said is the second prompt of one and the first of the other.
    let found = answered(reply(&mut sessions, key_of("k"), &said("next"), 0));
    assert_eq!(found.scenario_idx, 1);
}

#[test]
fn what_stands_before_the_session_needs_not_be_asked_for() {
    let history = named(
        "a",
        vec![
            ask("Before"),
            answer("Then"),
            session_start(),
            ask("Now"),
            answer("Done"),
        ],
    );
    let mut sessions = sessions(vec![history], 100);
    assert_eq!(sessions.unplayed().collect::<Vec<_>>(), [(0, 1)]);
    answered(reply(&mut sessions, key_of("k"), &said("Now"), 0));
    assert_eq!(sessions.unplayed().count(), 0);
}

#[test]
fn an_equal_request_can_take_the_next_turn() {
    let mut polled = named(
        "a",
        vec![ask("Is it done?"), answer("Not yet."), answer("Now it is.")],
    );
    polled.server.on_repeat = OnRepeat::Next;
    let mut sessions = sessions(vec![polled], 100);
    let mut send = |now_ms: u64| {
        answered(reply(
            &mut sessions,
            key_of("k"),
            &said("Is it done?"),
            now_ms,
        ))
        .decision
    };
    assert!(matches!(send(0), Decision::Turn(served) if served.turn_idx == 0));
    assert!(matches!(send(90_000), Decision::Turn(served) if served.turn_idx == 1));
    assert!(matches!(send(90_001), Decision::Miss(miss) if miss.expected_turn.is_none()));
}

#[test]
fn a_scenario_without_a_prompt_is_chosen_by_name_only() {
    let timelines = [
        named("without", vec![session_start(), answer("a")]),
        simple("with", "Fix it"),
    ];
    let selector = selector(&timelines);
    assert!(matches!(by_prompt(&selector, &["Fix it"]), Ok((1, _))));
    let found = by_prompt(&selector, &[""]).expect_err("it says nothing");
    assert!(found[0].starts_with("T-SEL-02"), "{found:?}");
    let doubts = Selector::without_prompt(&timelines);
    assert!(matches!(&doubts[..], [found] if found.code.name() == "T-SEL-03"));
    assert!(Selector::without_prompt(&timelines[..1]).is_empty());
}

#[test]
fn a_megabyte_is_compared_in_no_time() {
    let timelines: Vec<_> = (0..50)
        .map(|n| simple("s", &format!("Fix test {n}")))
        .collect();
    let huge = "lorem ipsum ".repeat(100_000);
    let selector = selector(&timelines);
    assert!(by_prompt(&selector, &[&huge]).is_err());
}

fn sessions(timelines: Vec<Timeline>, max_sessions: usize) -> Sessions {
    let selector = selector(&timelines);
    let scripts = timelines
        .into_iter()
        .map(|timeline| Arc::new(LlmScript::compile(Arc::new(timeline), false).0))
        .collect();
    Sessions::new(scripts, selector, max_sessions)
}

fn two() -> Sessions {
    sessions(
        vec![simple("a", "Fix the test"), simple("b", "Write the docs")],
        100,
    )
}

fn said(text: &str) -> Request {
    Client::default().says(text).request()
}

fn key_of<'a>(api_key: &'a str) -> Address<'a> {
    Address {
        api_key: Some(api_key),
        ..Address::default()
    }
}

fn answered(outcome: Result<Answered, UnmatchedRequest>) -> Answered {
    match outcome {
        Ok(answered) => answered,
        Err(outside) => panic!("{outside:?}"),
    }
}

#[test]
fn one_name_holds_a_conversation_of_each_scenario() {
    let one = |name: &str, prompt: &str| {
        named(
            name,
            vec![ask(prompt), answer(name), ask("Go on"), answer("b")],
        )
    };
    let scripts = [one("main", "Plan the trip"), one("sub", "Find hotels near")];
    let address = Address {
        session: Some("one"),
        ..Address::default()
    };
    let main: &[&str] = &["Plan the trip"];
    let main_2: &[&str] = &["Plan the trip", "main", "Go on"];
    let sub: &[&str] = &["Find hotels near"];
    let sub_2: &[&str] = &["Find hotels near", "sub", "Go on"];
    let played = |requests: &[&[&str]]| -> (Vec<String>, usize) {
        let mut sessions = sessions(scripts.to_vec(), 100);
        let mut of = |texts: &[&str]| {
            let mut client = Client::default();
            for (nth, text) in texts.iter().enumerate() {
                client.history.push(match nth % 2 {
                    0 => Message::user(*text),
                    _ => Message::assistant(*text),
                });
            }
            let answered = answered(reply(&mut sessions, address, &client.request(), 0));
            let how = match answered.decision {
                Decision::Turn(served) if served.unaligned.is_some() => "told",
                Decision::Turn(_) => "turn",
                Decision::Repeat(_) => "again",
                _ => "miss",
            };
            format!("{} {how}", answered.scenario_idx)
        };
        let all = requests.iter().map(|texts| of(texts)).collect();
        let progress = sessions.progress();
        let turns = &sessions.scripts()[0].turns.turns;
        let unplayed = progress.iter().map(|it| it.unplayed(turns).count());
        (all, unplayed.sum())
    };
    let whole = ["0 turn", "1 turn", "0 turn", "1 turn"];
    for (requests, expected, n_unplayed) in [
        (&[main, sub, main_2, sub_2][..], &whole[..], 0),
        (
            &[main, sub, sub_2, main_2],
            &["0 turn", "1 turn", "1 turn", "0 turn"],
            0,
        ),
        (
            &[main, main_2, sub, sub, sub_2],
            &["0 turn", "0 turn", "1 turn", "1 again", "1 turn"],
            0,
        ),
        // What goes on without its history, and what no scenario says, stays where it is.
        (
            &[main, sub, &["Go on"], sub_2],
            &["0 turn", "1 turn", "0 told", "1 turn"],
            0,
        ),
        (
            &[main, sub, &["Find hotels near", "sub", "Stop"]],
            &["0 turn", "1 turn", "0 miss"],
            2,
        ),
        (&[main, &["Find a hotel near"]], &["0 turn", "0 miss"], 1),
    ] {
        let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
        assert_eq!(played(requests), (expected, n_unplayed), "{requests:?}");
    }
}

/// A fork has the conversation that it comes from as its history, and either may ask first.
#[test]
fn a_fork_and_its_origin_are_played_in_any_order() {
    let before = || vec![ask("One"), answer("1"), ask("Two"), answer("2")];
    let fork = |mut events: Vec<EventKind>, prompt: &str| {
        events.extend([session_start(), ask(prompt), answer(prompt)]);
        named(prompt, events)
    };
    let timelines = || {
        vec![
            fork(before(), "Tea"),
            named("origin", before()),
            fork(vec![ask("One"), answer("1")], "Milk"),
        ]
    };
    let requests: [(&[&str], usize); 4] = [
        (&["One", "1", "Two", "2", "Tea"], 0),
        (&["One"], 1),
        (&["One", "1", "Two"], 1),
        (&["One", "1", "Milk"], 2),
    ];
    let orders = (0..4usize.pow(4)).map(|n| [0, 1, 2, 3].map(|at| n / 4usize.pow(at) % 4));
    let is_order = |order: &[usize; 4]| {
        let place = |idx: usize| order.iter().position(|other| *other == idx);
        (0..4).all(|idx| place(idx).is_some()) && place(1) < place(2)
    };
    for order in orders.filter(is_order) {
        let mut sessions = sessions(timelines(), 100);
        for idx in order {
            let (texts, scenario_idx) = requests[idx];
            let mut client = Client::default();
            let roles = [Message::user, Message::assistant].into_iter().cycle();
            client.history = texts
                .iter()
                .copied()
                .zip(roles)
                .map(|(text, of)| of(text))
                .collect();
            let found = answered(reply(&mut sessions, key_of("k"), &client.request(), 0));
            assert_eq!(found.scenario_idx, scenario_idx, "{order:?}: {texts:?}");
            assert!(
                matches!(found.decision, Decision::Turn(_)),
                "{order:?}: {texts:?}"
            );
        }
        assert_eq!(sessions.unplayed().count(), 0, "{order:?}");
        let scripts = sessions.scripts().to_vec();
        for progress in sessions.progress() {
            let turns = &scripts[progress.scenario_idx].turns.turns;
            assert_eq!(progress.unplayed(turns).count(), 0, "{order:?}");
        }
    }
}

#[test]
fn one_key_holds_any_number_of_conversations() {
    let mut sessions = two();
    let one = answered(reply(&mut sessions, key_of("k"), &said("Fix the test"), 0));
    let other = answered(reply(
        &mut sessions,
        key_of("k"),
        &said("Write the docs"),
        0,
    ));
    let stranger = answered(reply(&mut sessions, key_of("l"), &said("Fix the test"), 0));
    assert_eq!((one.scenario_idx, other.scenario_idx), (0, 1));
    assert_eq!(sessions.len(), 3);
    assert_ne!(one.session, stranger.session);
    // What follows belongs to the conversation it holds.
    let mut client = Client::default();
    client.says("Fix the test");
    let Decision::Turn(served) = &one.decision else {
        panic!("{one:?}")
    };
    client
        .keeps(&sessions.scripts()[0].clone(), served)
        .says("next");
    let next = answered(reply(&mut sessions, key_of("k"), &client.request(), 5));
    assert_eq!(next.session, one.session);
    assert!(matches!(next.decision, Decision::Turn(served) if served.turn_idx == 1));
}

#[test]
fn a_first_request_that_comes_again_is_a_retry_for_a_minute() {
    let mut sessions = two();
    let first = said("Fix the test");
    let mut send = |request: &Request, now_ms: u64| {
        answered(reply(&mut sessions, key_of("k"), request, now_ms)).decision
    };
    assert!(matches!(send(&first, 0), Decision::Turn(_)));
    assert!(matches!(send(&first, 59_999), Decision::Repeat(_)));
    assert!(matches!(send(&first, 60_000), Decision::Turn(_)));
    assert!(matches!(send(&first, 60_001), Decision::Repeat(_)));
}

#[test]
fn a_first_request_that_comes_again_later_begins_anew() {
    let mut sessions = two();
    let address = Address {
        session: Some("one"),
        ..Address::default()
    };
    let mut send = |text: &str| answered(reply(&mut sessions, address, &said(text), 0)).decision;
    assert!(matches!(send("Fix the test"), Decision::Turn(_)));
    assert!(matches!(send("next"), Decision::Turn(_)));
    assert!(matches!(send("Fix the test"), Decision::Turn(_)));
}

#[test]
fn what_is_beside_every_conversation_opens_no_session() {
    let mut sessions = two();
    let title = Request {
        system: "You are a title generator.".into(),
        tools: Vec::new(),
        ..said("Generate a title for this conversation:\nFix the test")
    };
    assert!(matches!(
        reply(&mut sessions, key_of("k"), &title, 0),
        Err(UnmatchedRequest::Side(_))
    ));
    assert!(sessions.is_empty());
    assert!(matches!(
        reply(&mut sessions, key_of("k"), &said("zzz"), 0),
        Err(UnmatchedRequest::Unselected(_))
    ));
    assert!(sessions.is_empty());
}

#[test]
fn the_least_recently_used_session_goes_first() {
    let mut sessions = sessions(vec![simple("a", "Fix the test")], 2);
    let mut send = |session: &str| {
        let address = Address {
            session: Some(session),
            ..Address::default()
        };
        answered(reply(&mut sessions, address, &said("Fix the test"), 0)).decision
    };
    assert!(matches!(send("one"), Decision::Turn(_)));
    assert!(matches!(send("two"), Decision::Turn(_)));
    assert!(matches!(send("one"), Decision::Repeat(_)));
    assert!(matches!(send("three"), Decision::Turn(_)));
    assert!(matches!(send("one"), Decision::Repeat(_)));
    assert!(matches!(send("two"), Decision::Turn(_)), "it was forgotten");
    assert_eq!(sessions.len(), 2);
}

#[test]
fn a_previous_answer_names_scenario_and_session() {
    let mut sessions = two();
    let scenario = sessions.scripts()[1].fingerprint;
    let previous = |scenario: u64| Request {
        previous: Some(PreviousAnswer {
            id: "resp_1".into(),
            scenario,
            turn_idx: 0,
            session: 7,
        }),
        history: Client::default().says("next").history.clone(),
        ..Request::new(Endpoint::Responses)
    };
    let found = answered(reply(&mut sessions, key_of("k"), &previous(scenario), 0));
    assert_eq!((found.session, found.scenario_idx), (SessionKey(7), 1));
    assert!(matches!(found.decision, Decision::Turn(served) if served.turn_idx == 1));
    let mut foreign = previous(scenario ^ 1);
    if let Some(previous) = &mut foreign.previous {
        previous.session = 8;
    }
    assert!(matches!(
        reply(&mut sessions, key_of("k"), &foreign, 0),
        Err(UnmatchedRequest::ForeignAnswer { .. })
    ));
}

#[test]
fn what_no_session_got_is_told() {
    let mut sessions = two();
    answered(reply(&mut sessions, key_of("k"), &said("Fix the test"), 0));
    let unplayed: Vec<_> = sessions.unplayed().collect();
    assert_eq!(unplayed, [(0, 1), (1, 0), (1, 1)]);
}

#[test]
fn each_session_that_began_is_judged_for_itself() {
    let mut sessions = sessions(vec![simple("a", "Begin")], 100);
    let whole = |system: &str| {
        let mut request = said("Begin");
        request.system = system.to_owned();
        let goes_on = Request {
            history: [
                request.history.clone(),
                vec![Message::assistant("a"), Message::user("next")],
            ]
            .concat(),
            key: crate::script::RequestKey([7; 16]),
            ..request.clone()
        };
        (request, goes_on)
    };
    let lacking = |sessions: &Sessions| -> Vec<usize> {
        let turns = &sessions.scripts()[0].turns.turns;
        let all = sessions.progress();
        all.iter().map(|it| it.unplayed(turns).count()).collect()
    };
    let (first, goes_on) = whole("It is Monday");
    answered(reply(&mut sessions, key_of("one"), &first, 0));
    answered(reply(&mut sessions, key_of("one"), &goes_on, 0));
    answered(reply(&mut sessions, key_of("other"), &first, 0));
    assert_eq!(lacking(&sessions), [0, 1]);
    // The conversation of the other one goes on under another system text.
    let (_, goes_on) = whole("It is Tuesday");
    answered(reply(&mut sessions, key_of("other"), &goes_on, 0));
    assert_eq!(lacking(&sessions), [0, 0]);
    // What a session that is named has played is no other session's.
    let named = |session| Address {
        session: Some(session),
        ..Address::default()
    };
    answered(reply(&mut sessions, named("a"), &first, 0));
    answered(reply(&mut sessions, named("b"), &goes_on, 0));
    assert_eq!(lacking(&sessions), [0, 0, 1, 1]);
}

/// Files with one prompt are told apart by what stands above `sessionStart`; the one without a history is for requests
/// without one.
#[test]
fn timelines_with_one_prompt_are_told_apart_by_their_histories() {
    let history = |prompt: &str, said: &str, name: &str| {
        let live = [session_start(), ask("Sum it up"), answer(name)];
        let events = [ask(prompt), answer(said)].into_iter().chain(live);
        named(name, events.collect())
    };
    let timelines = || {
        vec![
            history("One", "ok", "a"),
            history("One", "what was meant is no", "b"),
            history("One more", "ok", "c"),
            named("d", vec![ask("Sum it up"), answer("d")]),
        ]
    };
    assert!(Selector::same_prompt(&timelines()).is_empty());
    let twice = timelines().into_iter().chain(timelines());
    assert_eq!(Selector::same_prompt(&twice.collect::<Vec<_>>()).len(), 4);
    let timelines = timelines();
    let selector = Selector::new(&timelines, DEFAULT_MAX_DISTANCE);
    let scripts = timelines
        .into_iter()
        .map(|timeline| Arc::new(LlmScript::compile(Arc::new(timeline), false).0));
    let mut sessions = Sessions::new(scripts.collect(), selector, 10);
    for (idx, before) in [
        Some(("One", "ok")),
        Some(("One", "what was meant is no")),
        Some(("One more", "ok")),
        None,
    ]
    .iter()
    .enumerate()
    {
        let before = before
            .iter()
            .flat_map(|(prompt, answer)| [Message::user(*prompt), Message::assistant(*answer)]);
        let request = Request {
            history: before.chain([Message::user("Sum it up")]).collect(),
            key: RequestKey([u8::try_from(idx).expect("small"); 16]),
            ..Request::new(Endpoint::Chat)
        };
        let key = SessionKey::of(Address::default(), &request);
        let answered = sessions
            .answer(key, Address::default(), &request, 0)
            .expect("one is meant");
        assert_eq!(answered.scenario_idx, idx);
        assert!(
            matches!(answered.decision, Decision::Turn(_)),
            "{answered:?}"
        );
    }
}

#[test]
fn a_session_that_is_begun_again_is_listed_beside_the_new_one() {
    let mut sessions = sessions(vec![simple("a", "Go")], 10);
    for (n_asked, now_ms) in [(2, 0), (1, 100_000)] {
        let mut client = Client::default();
        for said in [("Go", "a"), ("next", "b")].iter().take(n_asked) {
            let request = client.says(said.0).request();
            answered(reply(&mut sessions, Address::default(), &request, now_ms));
            client.history.push(Message::assistant(said.1));
        }
    }
    let turns = &sessions.scripts()[0].turns.turns;
    let progress = sessions.progress();
    let unplayed = progress.iter().map(|it| it.unplayed(turns).count());
    assert_eq!(unplayed.collect::<Vec<_>>(), [0, 1]);
}
