//! What becomes of exchanges, and that the scenario answers them again.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::super::answer::{Call, Piece};
use super::super::request::{
    Endpoint, MediaKind, Message, RequestedBlock, RequestedCall, RequestedResult, Role,
};
use super::super::request_key::RequestKey;
use super::super::sessions::Address;
use super::*;
use crate::format::{Symbols, read};
use crate::model::{ResponseError, ServingCount};
use crate::profiles::AdvertisedTool;
use cuecard_source::{SourceFile, Span};

/// A client that keeps its history, and a recorder that sees what it asks and gets.
struct Recording {
    recorder: Recorder,
    history: Vec<Message>,
    system: String,
    tools: Vec<AdvertisedTool>,
    n_names: usize,
}

impl Recording {
    fn new() -> Self {
        Self {
            recorder: Recorder::new(Profiles::default(), ["hunter22".to_owned()]),
            history: Vec::new(),
            system: String::new(),
            tools: vec![
                AdvertisedTool::function("Bash", json!({})),
                AdvertisedTool::function("Read", json!({})),
                AdvertisedTool::function("get_weather", json!({})),
            ],
            n_names: 0,
        }
    }

    fn says(&mut self, text: &str) -> &mut Self {
        self.history.push(Message::user(text));
        self
    }

    /// Shows only an image.
    fn shows(&mut self, data: &str) -> &mut Self {
        self.history.push(Message {
            role: Role::User,
            parts: vec![Part::Block(RequestedBlock {
                name: "image".into(),
                kind: MediaKind::Image,
                mime_type: "image/png".into(),
                data: data.into(),
                title: String::new(),
                text: String::new(),
                content: Json::Null,
            })],
        });
        self
    }

    fn returns(&mut self, id: &str, text: &str) -> &mut Self {
        self.history.push(Message {
            role: Role::User,
            parts: vec![Part::Result(RequestedResult {
                call_id: id.into(),
                name: String::new(),
                text: text.into(),
                blocks: Vec::new(),
                is_error: false,
            })],
        });
        self
    }

    fn request(&self) -> Request {
        let history = self.history.clone();
        let whole = format!("{}{history:?}", self.system);
        Request {
            history,
            system: self.system.clone(),
            tools: self.tools.clone(),
            model: "m-1".into(),
            key: RequestKey::of("test", &Json::String(whole)),
            ..Request::new(Endpoint::Messages)
        }
    }

    /// Asks and gets this answer, which the client keeps unless it is an error.
    fn gets(&mut self, answer: &RecordedAnswer) -> Recorded {
        let request = self.request();
        let n_names = &mut self.n_names;
        let recorded = self.recorder.record(
            RecordedExchange {
                session: SessionKey::of(Address::default(), &request),
                request: &request,
                previous_id: None,
                answer,
            },
            &mut || {
                *n_names += 1;
                format!("recorded-{n_names}")
            },
        );
        if answer.error.is_none() && !answer.is_abandoned {
            self.keep(answer);
        }
        recorded
    }

    fn keep(&mut self, answer: &RecordedAnswer) {
        let parts = answer.elements.iter().filter_map(|element| match element {
            Element::Thinking(_) => None,
            Element::Text(pieces) | Element::Refusal(pieces) => Some(Part::Text(
                pieces.iter().map(|piece| &*piece.text).collect(),
            )),
            Element::Call(call) => Some(Part::Call(RequestedCall {
                id: call.id.clone(),
                name: call.name.clone(),
                args: match &call.input {
                    CallInput::Arguments(args) => Json::clone(args),
                    CallInput::Text(_) | CallInput::Raw(_) => json!({}),
                },
            })),
        });
        self.history.push(Message {
            role: Role::Assistant,
            parts: parts.collect(),
        });
    }

    /// Asks and gets a text, which must be recorded without a word.
    fn hears(&mut self, text: &str) -> &mut Self {
        let recorded = self.gets(&said(text));
        assert_eq!(recorded.notes, [] as [String; 0]);
        assert!(
            matches!(recorded.outcome, RecordedOutcome::Turn { .. }),
            "{recorded:?}"
        );
        self
    }

    /// The scenario without the lines that all have, which must be in order.
    fn text(&self, conversation: usize) -> String {
        let text = self.recorder.text(conversation);
        let source = SourceFile::new("recorded.yaml", text);
        let read = read(&source, &Symbols::new());
        let found: Vec<&str> = read
            .diagnostics
            .iter()
            .map(|found| found.message.as_str())
            .collect();
        assert_eq!(found, [] as [&str; 0], "{text}");
        let (_, timeline) = text.split_once("timeline:\n").expect("a timeline");
        timeline.to_owned()
    }
}

fn pieces(pieces: &[(u64, &str)]) -> Vec<Piece> {
    let piece = |&(at_ms, text): &(u64, &str)| Piece {
        at_ms,
        text: text.into(),
        image: None,
    };
    pieces.iter().map(piece).collect()
}

fn said(text: &str) -> RecordedAnswer {
    RecordedAnswer {
        elements: vec![Element::Text(pieces(&[(40, text)]))],
        ..RecordedAnswer::default()
    }
}

fn call(id: &str, name: &str, args: Json, at_ms: u64) -> Element {
    Element::Call(Call {
        id: id.into(),
        name: name.into(),
        namespace: None,
        input: CallInput::Arguments(Arc::new(args)),
        at_ms,
    })
}

fn failed(status: u16) -> RecordedAnswer {
    RecordedAnswer {
        error: Some(ResponseError {
            status,
            message: "wait".into(),
            retry_after_seconds: Some(1),
            error_type: None,
            details: Json::Null,
            headers: Vec::new(),
            repeat: ServingCount::Times(1),
            is_in_stream: false,
            span: Span::default(),
        }),
        ..RecordedAnswer::default()
    }
}

#[test]
fn what_comes_without_a_text_is_an_input_too() {
    let (one, other) = ("iVBORw0KGgoA", "iVBORw0KGgoB");
    let mut recording = Recording::new();
    recording.shows(one);
    let failed = recording.gets(&failed(529));
    assert_eq!(failed.outcome, RecordedOutcome::Error { turn: 1 });
    recording.hears("A dot.").says("And now?").hears("Still.");
    recording.shows(other).hears("A line.");
    let text = recording.text(0);
    assert_eq!(text.matches("userInputs").count(), 3, "{text}");
    for data in [one, other] {
        assert_eq!(text.matches(data).count(), 1, "{text}");
    }
}

#[test]
fn a_conversation_becomes_a_timeline() {
    let mut recording = Recording::new();
    recording
        .says("<system-reminder>today</system-reminder>")
        .says("Fix the test");
    let answer = RecordedAnswer {
        elements: vec![
            Element::Thinking(pieces(&[(300, "Hm. "), (310, "A test.")])),
            Element::Text(pieces(&[(400, "I'll look.")])),
            call("toolu_1", "Bash", json!({"command": "make test"}), 600),
            call("toolu_2", "get_weather", json!({"city": "Rome"}), 620),
        ],
        usage: json!({"input_tokens": 5, "output_tokens": 7}),
        ..RecordedAnswer::default()
    };
    let recorded = recording.gets(&answer);
    assert_eq!(
        (recorded.outcome, recorded.notes),
        (RecordedOutcome::Turn { turn: 1 }, vec![])
    );
    recording
        .returns("toolu_2", "sunny")
        .returns("toolu_1", "one\ntwo failed\n")
        .hears("Done.");
    recording.says("Thanks").hears("You are welcome.");
    assert_eq!(
        recording.text(0),
        r#"  - userInputs: [[0, "Fix the test"]]
  - llmResponse:
      - think: [[310, "Hm. A test."]]
      - assistant: [[90, "I'll look."]]
    usage: { input_tokens: 5, output_tokens: 7 }
  - baseTimeDelta: 600
  - runCmd: { cmd: "make test" }
    result: |
      one
      two failed
  - baseTimeDelta: 20
  - agentToolUse: { toolName: get_weather, args: { city: Rome }, result: sunny }
  - llmResponse:
      - assistant: [[40, "Done."]]
  - userInputs: [[40, "Thanks"]]
  - llmResponse:
      - assistant: [[40, "You are welcome."]]
"#
    );
    let head = recording.recorder.text(0);
    assert!(
        head.starts_with("# Recorded by `cuecard record llm`.\nname: recorded-1\nserver: { llmApiStyle: anthropic, models: [\"m-1\"] }\n"),
        "{head}"
    );
}

#[test]
fn errors_are_attempts_and_abandoned_answers_are_replaced() {
    let mut recording = Recording::new();
    recording.says("Go");
    assert_eq!(
        recording.gets(&failed(429)).outcome,
        RecordedOutcome::Error { turn: 1 }
    );
    assert_eq!(
        recording.gets(&failed(529)).outcome,
        RecordedOutcome::Error { turn: 1 }
    );
    let broken = RecordedAnswer {
        is_abandoned: true,
        ..said("On")
    };
    let recorded = recording.gets(&broken);
    assert!(recorded.notes[0].contains("broke off"), "{recorded:?}");
    assert!(recording.text(0).contains("userCancelSession"));
    recording.hears("Once upon a time.");
    let text = recording.text(0);
    assert_eq!(
        text,
        r#"  - userInputs: [[0, "Go"]]
  - llmResponse:
      - error: { statusCode: 429, message: wait, retryAfterSeconds: 1 }
      - error: { statusCode: 529, message: wait, retryAfterSeconds: 1 }
      - assistant: [[40, "Once upon a time."]]
"#
    );
}

#[test]
fn an_error_before_an_answer_stays() {
    let mut recording = Recording::new();
    recording.says("Go");
    recording.gets(&failed(429));
    recording.hears("Gone.");
    assert_eq!(
        recording.text(0),
        r#"  - userInputs: [[0, "Go"]]
  - llmResponse:
      - error: { statusCode: 429, message: wait, retryAfterSeconds: 1 }
      - assistant: [[40, "Gone."]]
"#
    );
    // Given up, and asked otherwise.
    recording.says("More");
    recording.gets(&failed(500));
    recording.says("Anything else").hears("No.");
    let text = recording.text(0);
    assert!(text.contains("statusCode: 500"), "{text}");
    assert!(text.contains("\"Anything else\""), "{text}");
}

#[test]
fn the_same_again_is_not_recorded_and_other_conversations_have_files_of_their_own() {
    let mut recording = Recording::new();
    recording.says("Go").hears("Gone.");
    let mut again = Recording::new();
    std::mem::swap(&mut again.recorder, &mut recording.recorder);
    let recorded = again.says("Go").gets(&said("Gone away."));
    assert_eq!(recorded.outcome, RecordedOutcome::Again);
    assert!(
        recorded.notes[0].starts_with("the same was asked before: "),
        "{recorded:?}"
    );
    assert!(recorded.notes[0].contains("turn 1"), "{recorded:?}");
    again.history.clear();
    again.system = "Another agent.".into();
    again.says("Stay").hears("Here.");
    assert_eq!(again.recorder.n_conversations(), 2);
    again.says("Still?").hears("Yes.");
    assert_eq!(again.recorder.counts(1), (2, 0));
}

#[test]
fn an_empty_answer_that_the_client_leaves_out_ends_no_conversation() {
    let mut recording = Recording::new();
    recording.says("Go").gets(&RecordedAnswer::default());
    recording.history.pop();
    recording.says("Please continue").hears("two");
    // Another one begins otherwise.
    recording.history.clear();
    recording
        .says("Begin")
        .says("Please continue")
        .hears("three");
    assert_eq!(recording.recorder.n_conversations(), 2);
    assert_eq!(recording.recorder.counts(0).0, 2);
    assert!(!recording.text(0).contains("three"));
}

#[test]
fn what_was_said_before_the_recording_is_history() {
    let mut recording = Recording::new();
    recording.says("Look");
    let before = RecordedAnswer {
        elements: vec![call("toolu_7", "Read", json!({"file_path": "a.rs"}), 0)],
        ..RecordedAnswer::default()
    };
    recording.keep(&before);
    recording
        .returns("toolu_7", "fn main() {}")
        .hears("It is empty.");
    recording.says("Thanks").hears("Any time.");
    assert_eq!(
        recording.text(0),
        r#"  - userInputs: [[0, "Look"]]
  - llmResponse: []
  - readFile: { path: a.rs }
    toolCallId: toolu_7
    result: "fn main() {}"
  - sessionStart: true
  - llmResponse:
      - assistant: [[40, "It is empty."]]
  - userInputs: [[40, "Thanks"]]
  - llmResponse:
      - assistant: [[40, "Any time."]]
"#
    );
}

#[test]
fn requests_beside_the_conversation_are_side_calls() {
    let mut recording = Recording::new();
    recording.tools.clear();
    recording.system = "You are a title generator.\nBe short.".into();
    recording.says("Fix the test");
    // As long as nothing else has come, it may be an application that writes titles.
    let recorded = recording.gets(&said("Fixing a test"));
    assert_eq!(
        (recorded.outcome, recorded.changed),
        (RecordedOutcome::Turn { turn: 1 }, vec![0])
    );
    recording.history.clear();
    recording.system = String::new();
    recording.says("Fix the test").hears("It is fixed.");
    assert_eq!(recording.recorder.n_conversations(), 1);
    assert_eq!(recording.recorder.counts(0), (1, 1));
    let side = "sideCalls:\n    - match: \"You are a title generator\\\\.\"\n      model: m-1\n      reply: \"Fixing a test\"\n";
    let text = recording.recorder.text(0);
    assert!(text.contains(side) && !text.contains("contains:"), "{text}");
    // The same behind the conversation's first request.
    let mut other = Recording::new();
    other.says("Fix the test").gets(&RecordedAnswer {
        elements: vec![call("toolu_1", "Bash", json!({"command": "make"}), 0)],
        ..RecordedAnswer::default()
    });
    other.history.clear();
    other.tools.clear();
    other.system = "You are a title generator.\nBe short.".into();
    let recorded = other.says("Fix the test").gets(&said("Fixing a test"));
    assert_eq!(recorded.outcome, RecordedOutcome::Side);
    assert!(other.recorder.text(0).contains(side));
    // Of the next conversation's, which comes first again, a player gives the same: that is told.
    other.history.clear();
    let recorded = other.says("Add the docs").gets(&said("Adding docs"));
    assert_eq!(recorded.outcome, RecordedOutcome::Side);
    assert!(
        recorded.notes[0].contains("answered otherwise before"),
        "{recorded:?}"
    );
}

#[test]
fn an_application_that_writes_titles_has_conversations() {
    let mut recording = Recording::new();
    recording.tools.clear();
    recording.system = "You are a title generator. Write a title for the conversation.".into();
    for (idx, (prompt, title)) in [("cats and dogs", "Pets"), ("birds", "Wings")]
        .iter()
        .enumerate()
    {
        recording.history.clear();
        let recorded = recording.says(prompt).gets(&said(title));
        assert_eq!(recorded.outcome, RecordedOutcome::Turn { turn: 1 });
        assert_eq!((recorded.conversation, recorded.notes), (Some(idx), vec![]));
        assert!(
            recording
                .recorder
                .text(idx)
                .contains("match: { system: { contains: \"You are a title")
        );
    }
    // Nor is one of them beside a conversation that begins with the same words.
    recording.history.clear();
    recording.system = String::new();
    recording.says("birds").gets(&said("They fly."));
    assert_eq!(recording.recorder.n_conversations(), 3);
    recording.history.clear();
    recording.system = "You are a title generator. Write a title for the conversation.".into();
    recording.says("They say: birds").gets(&said("Rumours"));
    assert_eq!(recording.recorder.n_conversations(), 4);
}

#[test]
fn other_examples_make_another_conversation_though_the_prompt_is_equal() {
    let mut recording = Recording::new();
    for (example, answer) in [
        ("One", "ok"),
        ("Another", "ok"),
        ("Another", "what was meant is no"),
        ("Another one", "ok"),
    ] {
        recording.history = vec![Message::user(example), Message::assistant(answer)];
        let recorded = recording
            .says("Sum it up")
            .gets(&said(&format!("{example} {answer}")));
        assert_eq!(recorded.notes, Vec::<String>::new());
    }
    recording.history.clear();
    recording.says("Sum it up").hears("Of what?");
    assert_eq!(recording.recorder.n_conversations(), 5);
    // Without other examples, it is the same again.
    recording.history = vec![Message::user("One"), Message::assistant("ok")];
    let recorded = recording.says("Sum it up").gets(&said("Again"));
    assert_eq!(recorded.outcome, RecordedOutcome::Again);
}

#[test]
fn secrets_are_nowhere_and_what_is_left_still_matches() {
    let key = format!("sk-ant-{}", "a1".repeat(20));
    let mut alone = Recording::new();
    let recorded = alone.says("hunter22").gets(&said("Stored"));
    assert_eq!(
        recorded.notes,
        ["the user's text is only a secret: a player takes any text in its place"]
    );
    let mut recording = Recording::new();
    recording.says(&format!("Use hunter22 and the key {key} to log in"));
    let recorded = recording.gets(&said("With hunter22?"));
    assert_eq!(
        recorded.notes,
        ["a secret in the model's answer is played as `[redacted]`"]
    );
    let answer = RecordedAnswer {
        elements: vec![call(
            "t1",
            "Bash",
            json!({"command": "login", "password": "c0rrect-horse", "more": {"api_key": "abcd"}}),
            0,
        )],
        ..RecordedAnswer::default()
    };
    recording.says("Yes");
    recording.gets(&answer);
    recording
        .returns("t1", "logged in with c0rrect-horse as ann")
        .hears("Done.");
    let text = recording.recorder.text(0);
    for secret in ["hunter22", &key, "c0rrect-horse", "abcd"] {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(text.contains("[[0, \"and the key\"]]"), "{text}");
    assert!(text.contains("With [redacted]?"), "{text}");
    assert!(text.contains("{ contains: \"logged in with\" }"), "{text}");
}

#[test]
fn a_result_that_an_agent_wraps_in_prose_is_taken_apart() {
    let mut recording = Recording::new();
    recording.says("Show the settings");
    let answer = RecordedAnswer {
        elements: vec![call("t1", "Bash", json!({"command": "settings"}), 0)],
        ..RecordedAnswer::default()
    };
    recording.gets(&answer);
    let result = "Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{\"user\": \"ann\", \"password\": \"first-s3cret\"}\n\
        API_TOKEN=second-s3cret\nAuthorization: Bearer third-s3cret\nsee https://ann:fourth-s3cret@h.example/?token=fifth-s3cret\n";
    recording.returns("t1", result).hears("Done.");
    let text = recording.recorder.text(0);
    assert!(!text.contains("s3cret"), "{text}");
    assert!(text.contains("Process exited with code 0"), "{text}");
}

#[test]
fn what_a_model_refuses_and_calls_wrongly_is_kept_as_it_came() {
    let mut recording = Recording::new();
    recording.tools[2] = AdvertisedTool::function(
        "get_weather",
        json!({"type": "object", "required": ["city"]}),
    );
    recording.says("Go");
    let mut broken = call("t1", "get_weather", json!({}), 0);
    if let Element::Call(call) = &mut broken {
        call.input = CallInput::Raw("{\"city\": \"Pa".into());
    }
    let answer = RecordedAnswer {
        elements: vec![
            Element::Thinking(pieces(&[(0, "Hm.")])),
            Element::Refusal(pieces(&[(0, "I "), (0, "won't.")])),
            broken,
            call("t2", "get_weather", json!({"days": 2}), 0),
        ],
        has_unrequested_thinking: true,
        ..RecordedAnswer::default()
    };
    assert_eq!(recording.gets(&answer).notes, [] as [String; 0]);
    recording
        .returns("t1", "no")
        .returns("t2", "no")
        .hears("Done.");
    assert_eq!(
        recording.text(0),
        r#"  - userInputs: [[0, "Go"]]
  - llmResponse:
      - think: [[0, "Hm."]]
    refusal: "I won't."
  - agentToolUse: { toolName: get_weather, args: {}, rawArguments: "{\"city\": \"Pa", result: "no" }
  - agentToolUse: { toolName: get_weather, args: { days: 2 }, validate: false, result: "no" }
  - llmResponse:
      - assistant: [[40, "Done."]]
"#
    );
    assert!(recording.recorder.text(0).contains("thinking: always"));
}

#[test]
fn results_without_ids_belong_to_the_calls_in_their_order() {
    let mut recording = Recording::new();
    recording.says("Go");
    let answer = RecordedAnswer {
        elements: vec![
            call("", "get_weather", json!({"city": "Rome"}), 0),
            call("", "get_weather", json!({"city": "Oslo"}), 0),
        ],
        ..RecordedAnswer::default()
    };
    recording.gets(&answer);
    recording
        .returns("", "warm")
        .returns("", "cold")
        .hears("Done.");
    let text = recording.text(0);
    assert!(
        text.contains("args: { city: Rome }, result: warm"),
        "{text}"
    );
    assert!(
        text.contains("args: { city: Oslo }, result: cold"),
        "{text}"
    );
}

#[test]
fn results_of_clients_that_leave_out_ids_go_by_their_names() {
    let mut recording = Recording::new();
    recording.says("Compare");
    recording.gets(&RecordedAnswer {
        elements: vec![
            call("fc-1", "get_weather", json!({"city": "Rome"}), 0),
            call("fc-2", "Read", json!({"file_path": "a"}), 0),
        ],
        ..RecordedAnswer::default()
    });
    for part in &mut recording.history[1].parts {
        if let Part::Call(call) = part {
            call.id.clear();
        }
    }
    recording.returns("", "a file").returns("", "warm");
    let names = [(2, "Read"), (3, "get_weather")];
    for (idx, name) in names {
        if let Part::Result(result) = &mut recording.history[idx].parts[0] {
            result.name = name.into();
        }
    }
    recording.hears("Done.");
    let text = recording.text(0);
    let (weather, file) = (text.find("result: warm"), text.find("a file"));
    assert!(weather.is_some() && weather < file, "{text}");
}

#[test]
fn conversations_that_begin_alike_are_told() {
    let mut recording = Recording::new();
    recording.says("List files").hears("None.");
    recording.history.clear();
    recording.system = "You are a pirate.".into();
    let recorded = recording.says("list  FILES").gets(&said("Arr."));
    assert!(
        recorded.notes[0].contains("the same first as in `recorded-1`"),
        "{recorded:?}"
    );
}

#[test]
fn a_response_goes_on_from_its_answer() {
    let mut recorder = Recorder::new(Profiles::default(), []);
    let mut ask = |text: &str, previous_id: Option<&str>, id: &str, says: &str| {
        let request = Request {
            history: vec![Message::user(text)],
            key: RequestKey::of("test", &json!([text, previous_id])),
            ..Request::new(Endpoint::Responses)
        };
        let answer = RecordedAnswer {
            id: Some(id.into()),
            ..said(says)
        };
        let exchange = RecordedExchange {
            session: SessionKey::of(Address::default(), &request),
            request: &request,
            previous_id,
            answer: &answer,
        };
        recorder.record(exchange, &mut || "r".into())
    };
    assert_eq!(
        ask("My name is Ada", None, "resp_a", "Hello").notes,
        [] as [String; 0]
    );
    let second = ask("Who am I?", Some("resp_a"), "resp_b", "Ada");
    assert_eq!(
        (second.outcome, second.notes),
        (RecordedOutcome::Turn { turn: 2 }, vec![])
    );
    let third = ask("Sure?", Some("resp_b"), "resp_c", "Yes");
    assert_eq!(
        (third.outcome, third.notes),
        (RecordedOutcome::Turn { turn: 3 }, vec![])
    );
    let branch = ask("Who are you?", Some("resp_a"), "resp_d", "Bob");
    assert!(branch.notes[0].contains("earlier answer"), "{branch:?}");
    let foreign = ask("And then?", Some("resp_x"), "resp_y", "Nothing");
    assert!(foreign.notes[0].contains("not recorded"), "{foreign:?}");
}

proptest! {
    /// Each request of a conversation is answered by the scenario that it becomes, whatever is said in it.
    #[test]
    fn every_recorded_request_matches_itself(
        turns in prop::collection::vec((
            prop::option::weighted(0.7, "[A-Za-z :#\n]{1,20}"), "[a-z .\n]{0,20}", 0..3_usize, prop::bool::weighted(0.2),
        ), 1..8)
    ) {
        let mut recording = Recording::new();
        let mut n_calls = 0;
        let mut open: Vec<String> = Vec::new();
        for (idx, (text, answer, calls, fails)) in turns.into_iter().enumerate() {
            for id in std::mem::take(&mut open) {
                recording.returns(&id, "done");
            }
            let is_mid_loop = recording.history.last().is_some_and(|last| last.role == Role::User);
            if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
                recording.says(&format!("{idx} {text}"));
            } else if !is_mid_loop {
                recording.says(&format!("{idx} again"));
            }
            if fails {
                let recorded = recording.gets(&failed(500));
                prop_assert_eq!(recorded.notes, Vec::<String>::new(), "{}", recording.recorder.text(0));
            }
            let mut elements = vec![Element::Text(pieces(&[(5, &answer)]))];
            for _ in 0..calls {
                n_calls += 1;
                let id = format!("toolu_{n_calls}");
                elements.push(call(&id, "Bash", json!({"command": "true"}), 10));
                open.push(id);
            }
            let recorded = recording.gets(&RecordedAnswer { elements, ..RecordedAnswer::default() });
            let is_blank = !answer.is_empty() && answer.trim().is_empty();
            let expected = is_blank.then_some("whitespace-only text is left out");
            prop_assert_eq!(recorded.notes, Vec::from_iter(expected), "{}", recording.recorder.text(0));
        }
        prop_assert_eq!(recording.recorder.n_conversations(), 1);
    }
}
