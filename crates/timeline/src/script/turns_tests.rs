//! Turns and segments: what separates, what belongs together.

use serde_json::json;

use super::Speed;
use super::answer::joined;
use super::schedule::Schedule;
use super::testing::{
    answer, ask, call, check, delay, edit, error, input, inputs, offset, respond, say,
    session_start, think, timeline, with_call,
};
use super::turns::{CompiledTurns, Turn, TurnElement, Turns};
use crate::model::{
    AgentPlan, Block, BlockKind, Entry, EventKind, LogLevel, LogLine, ResponseElement,
    ServingCount, SessionStatus, Timeline, ToolStatus, UserTarget,
};
use cuecard_source::Span;
use cuecard_source::value::Json;

fn compile_of(timeline: &Timeline) -> CompiledTurns {
    let scheduled = Schedule::compile(timeline, false);
    Turns::compile(timeline, &scheduled.schedule)
}

fn compile(events: Vec<EventKind>) -> CompiledTurns {
    compile_of(&timeline(events))
}

fn codes(reading: &CompiledTurns) -> Vec<&str> {
    let found = reading.diagnostics.iter();
    found.map(|found| found.code.name()).collect()
}

/// Each turn as `text|call,call`, thinking in brackets, errors with an exclamation mark.
fn shown(reading: &CompiledTurns) -> Vec<String> {
    reading.turns.turns.iter().map(show).collect()
}

fn show(turn: &Turn) -> String {
    let attempts = turn.attempts.iter().map(|attempt| {
        let mut shown = String::new();
        for element in &attempt.elements {
            match element {
                TurnElement::Thinking(pieces) => {
                    let texts: Vec<&str> = pieces.iter().map(|piece| &*piece.text).collect();
                    shown += &format!("({})", texts.concat());
                }
                TurnElement::Text(pieces) => {
                    shown.extend(pieces.iter().map(|piece| &*piece.text));
                }
                TurnElement::Refusal(pieces) => shown += &format!("!{}", joined(pieces)),
                TurnElement::Call(call) => shown += &format!("|{}", call.id),
            }
        }
        if let Some(error) = &attempt.error {
            shown += &format!("!{}", error.error.status);
        }
        shown
    });
    attempts.collect::<Vec<_>>().join(" ")
}

/// The turns that begin segments.
fn openings(reading: &CompiledTurns) -> Vec<usize> {
    let turns = reading.turns.turns.iter().enumerate();
    let openings = turns.filter(|(_, turn)| turn.begins_segment);
    openings.map(|(idx, _)| idx).collect()
}

fn bash(id: &str) -> EventKind {
    call(id, "runCmd", json!({"cmd": "true"}))
}

fn log() -> EventKind {
    EventKind::Log(LogLine {
        level: LogLevel::Info,
        message: "x".into(),
    })
}

#[test]
fn calls_right_after_a_response_belong_to_it_and_are_parallel() {
    let reading = compile(vec![
        ask("go"),
        respond(vec![think(&[(delay(0), "hm")]), say(&[(delay(0), "a")])]),
        bash("c1"),
        log(),
        EventKind::Status(SessionStatus::Running),
        EventKind::Screenshot("s".into()),
        EventKind::Merge,
        EventKind::BaseTimeDelta(10),
        EventKind::AgentPlan(AgentPlan {
            entries: Vec::new(),
            replaces: true,
        }),
        EventKind::SetMode {
            mode_id: "m".into(),
        },
        edit("none", "a.txt", None, None),
        bash("c2"),
        edit("c3", "a.txt", Some("x"), Some("y")),
        answer("b"),
    ]);
    assert_eq!(shown(&reading), ["(hm)a|c1|c2|c3", "b"]);
    assert_eq!(codes(&reading), ["T-LLM-04"]);
    assert_eq!(openings(&reading), [0]);
}

#[test]
fn an_answer_says_and_calls_in_the_order_of_its_list() {
    let timeline = super::testing::read(
        "
name: a
timeline:
  - userInputs: [[0, go]]
  - llmResponse:
      - think: [[0, hm]]
      - agentToolUse: {toolName: runCmd, args: {cmd: one}, delayMs: 30}
      - agentToolUse: {toolName: runCmd, args: {cmd: two}}
      - assistant: [[10, a]]
      - agentToolUse: {toolName: runCmd, args: {cmd: three}}
      - think: [[0, so]]
      - assistant: [[0, b]]
    usage: {output_tokens: 7}
    stopReason: max_tokens
    refusal: c
  - runCmd: {cmd: four}
  - llmResponse: []
",
    );
    let reading = compile_of(&timeline);
    assert_eq!(
        shown(&reading),
        ["(hm)|call_1|call_2a|call_3(so)b!c|call_4", ""]
    );
    let turn = &reading.turns.turns[0];
    assert_eq!(turn.texts(), ["", "", "a", "bc", ""]);
    assert_eq!(turn.usage, json!({"output_tokens": 7}));
    assert!(turn.stop_reason.openai.is_some());
    let at: Vec<u64> = turn.calls().map(|call| call.at_ms).collect();
    assert_eq!(at, [30, 30, 40, 40]);
    let paths = timeline.events.iter().map(|event| event.path.as_str());
    assert_eq!(
        paths.take(5).skip(1).collect::<Vec<_>>(),
        [
            "timeline[1]",
            "timeline[1].llmResponse[1].agentToolUse",
            "timeline[1].llmResponse[2].agentToolUse",
            "timeline[1].llmResponse[3].assistant",
        ]
    );
}

#[test]
fn what_the_user_does_separates() {
    let separators = [
        ask("next"),
        EventKind::UserCancelSession { at_ms: None },
        check(),
        EventKind::UserEdits {
            patch: "p".into(),
            at_ms: None,
        },
        session_start(),
        EventKind::Complete,
        respond(Vec::new()),
    ];
    for separator in separators {
        let word = separator.as_str();
        let reading = compile(vec![answer("a"), bash("c1"), separator, bash("c2")]);
        assert_eq!(shown(&reading), ["a|c1", "|c2"], "{word}");
    }
}

#[test]
fn calls_without_a_response_are_a_turn_of_their_own() {
    let reading = compile(vec![
        ask("go"),
        bash("c1"),
        bash("c2"),
        respond(vec![think(&[(delay(0), "so")])]),
        bash("c3"),
        respond(Vec::new()),
        edit("c4", "new.txt", None, Some("text")),
    ]);
    assert_eq!(shown(&reading), ["|c1|c2", "(so)|c3", "|c4"]);
    let edits: Vec<_> = reading.turns.turns[2].calls().collect();
    assert_eq!(edits[0].call.tool, "writeFile");
    assert_eq!(
        *edits[0].call.args,
        json!({"path": "new.txt", "content": "text"})
    );
}

#[test]
fn each_input_opens_a_segment_and_an_empty_one_is_answered_empty() {
    let reading = compile(vec![
        inputs(&[(delay(0), "one"), (delay(0), "two")]),
        answer("a"),
        answer("b"),
        ask("three"),
    ]);
    assert_eq!(shown(&reading), ["", "a", "b", ""]);
    assert_eq!(codes(&reading), ["T-LLM-10", "T-LLM-10"]);
    let turns = &reading.turns.turns;
    let texts: Vec<_> = turns
        .iter()
        .map(|turn| turn.input.as_ref().and_then(|input| input.text.as_deref()))
        .collect();
    assert_eq!(texts, [Some("one"), Some("two"), None, Some("three")]);
    assert!(turns[0].is_silent() && !turns[1].is_silent());
    assert_eq!(openings(&reading), [0, 1, 3]);
}

#[test]
fn the_boundary_divides_history_from_what_is_live() {
    let reading = compile(vec![
        ask("old"),
        answer("a"),
        session_start(),
        answer("b"),
        ask("new"),
        answer("c"),
    ]);
    let history: Vec<_> = reading
        .turns
        .turns
        .iter()
        .map(|turn| turn.is_history)
        .collect();
    assert_eq!(history, [true, false, false]);
    assert_eq!(reading.turns.first_live(), Some(1));
    assert!(reading.turns.turns[1].input.is_none());
}

#[test]
fn errors_divide_a_response_into_attempts() {
    let once = ServingCount::Times(1);
    let reading = compile(vec![
        respond(vec![
            error(500, once),
            say(&[(delay(0), "a")]),
            error(429, once),
        ]),
        bash("c1"),
        respond(vec![error(503, once)]),
    ]);
    assert_eq!(shown(&reading), ["!500 a!429 |c1", "!503"]);
    assert!(!reading.turns.turns[0].is_only_errors());
    assert!(reading.turns.turns[1].is_only_errors());
}

#[test]
fn thinking_is_left_out_beside_calls_where_the_file_says_so() {
    let mut scripted = timeline(vec![
        respond(vec![think(&[(delay(0), "hm")]), say(&[(delay(0), "a")])]),
        bash("c1"),
        respond(vec![think(&[(delay(0), "hm")])]),
    ]);
    scripted.server.coalesce_thinking = false;
    assert_eq!(shown(&compile_of(&scripted)), ["a|c1", "(hm)"]);
}

#[test]
fn times_count_from_the_moment_the_request_arrives() {
    let reading = compile(vec![
        inputs(&[(offset(1000), "go")]),
        respond(vec![say(&[(offset(1300), "a"), (delay(100), "b")])]),
        with_call(bash("c1"), |call| call.delay_ms = 50),
    ]);
    let turn = &reading.turns.turns[0];
    let delays = |speed: Speed| -> Vec<u64> {
        let points = turn.attempts[0]
            .elements
            .iter()
            .flat_map(|element| match element {
                TurnElement::Thinking(pieces)
                | TurnElement::Text(pieces)
                | TurnElement::Refusal(pieces) => pieces.iter().map(|piece| piece.at_ms).collect(),
                TurnElement::Call(call) => vec![call.at_ms],
            });
        points.map(|at_ms| turn.delay_of(at_ms, speed)).collect()
    };
    assert_eq!(delays(Speed::AS_WRITTEN), [300, 400, 450]);
    assert_eq!(delays(Speed::new(0.1, 0.0).expect("a speed")), [30, 40, 45]);
}

#[test]
fn keys_open_a_segment_only_if_something_follows() {
    let keys = |text: &str| {
        let mut keys = input(delay(0), text);
        keys.target = Some(UserTarget::Tui);
        EventKind::UserInputs(vec![keys])
    };
    let reading = compile(vec![
        keys("Fix it"),
        keys("<Enter>"),
        answer("a"),
        keys("a << b<Paste:c><C-c>"),
        ask("next"),
        answer("b"),
    ]);
    assert_eq!(shown(&reading), ["a", "b"]);
    assert_eq!(codes(&reading), [] as [&str; 0]);
    let first = reading.turns.turns[0].input.as_ref().expect("keys");
    assert!(first.is_keys);
    assert_eq!(first.text.as_deref(), Some("Fix it"));
}

#[test]
fn asserts_and_cancels_are_known_to_the_turns_around_them() {
    let reading = compile(vec![
        answer("a"),
        check(),
        check(),
        answer("b"),
        EventKind::UserCancelSession { at_ms: None },
        ask("again"),
        EventKind::UserCancelSession { at_ms: None },
        ask("and again"),
        with_call(bash("c1"), |call| call.status = ToolStatus::Open),
    ]);
    let turns = &reading.turns.turns;
    assert_eq!(turns[1].checks, [1, 2]);
    let cancelled: Vec<_> = turns.iter().map(|turn| turn.is_cancelled).collect();
    assert_eq!(cancelled, [false, true, true, false]);
    assert_eq!(codes(&reading), [] as [&str; 0]);
    assert!(turns[3].calls().all(|call| !call.needs_result));
}

#[test]
fn other_blocks_are_sent_as_text() {
    let block = Block {
        kind: BlockKind::Diff {
            path: "/a.txt".into(),
            old_text: Some("one\n".into()),
            new_text: "two\n".into(),
        },
        annotations: Json::Null,
        meta: Json::Null,
        compares_kind: false,
        span: Span::default(),
    };
    let reading = compile(vec![respond(vec![ResponseElement::Assistant(vec![
        Entry {
            when: delay(0),
            value: block,
            span: Span::default(),
        },
    ])])]);
    assert_eq!(shown(&reading), ["/a.txt\n-one\n+two"]);
    assert_eq!(codes(&reading), ["T-LLM-08"]);
}
