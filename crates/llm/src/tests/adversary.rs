//! Clients that depart from a script by one thing: whatever it is, the run must fail.
//!
//! Each example and each timeline of the tests is played as scripted over every API, which must pass; then once for each
//! departure, over one of them. What is expected follows from how a case is made, not from the rules of the stand-in.

mod changes;
mod past;
mod wire;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuecard_source::diagnostic::{Severity, codes};
use cuecard_source::value::as_text;
use cuecard_timeline::model::{Block, EventKind, ExpectedResult, ServingCount};
use cuecard_timeline::script::{
    Endpoint, ExpectedBlock, LlmScript, RequestedBlock, Speed, Turn, TurnCall, normalise,
};
use serde_json::{Value, json};

use super::super::files;
use super::*;
use changes::Change;
use cuecard_wire::llm::answer::{CallInput, Element};
use cuecard_wire::llm::decode::read_body;

/// The only chance in here: the same cases each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        // A linear congruential generator, by Knuth.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % n.max(1)
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        (!all.is_empty()).then(|| all[self.below(all.len())].clone())
    }

    fn word(&mut self) -> String {
        (0..6)
            .map(|_| char::from(b'a' + u8::try_from(self.below(26)).expect("a letter")))
            .collect()
    }
}

/// What a client has said and heard.
#[derive(Debug, Clone)]
enum Message {
    /// Texts, and blocks beside them.
    User(Vec<String>, Vec<RequestedBlock>),
    Results(Vec<ToolResult>),
    /// Calls, and the texts around them: before the first one, behind it, and so on.
    Model {
        texts: Vec<String>,
        calls: Vec<(String, String, Value)>,
    },
}

#[derive(Debug, Clone)]
struct ToolResult {
    id: String,
    tool: String,
    text: String,
}

/// One thing that a client does otherwise.
#[derive(Debug, Clone, PartialEq)]
enum Departure {
    /// The input of this turn is another text.
    OtherPrompt(usize, String),
    /// The input of this turn comes in place of that of the other one.
    WrongOrder(usize, usize),
    /// One result before this turn is missing.
    MissingResult(usize),
    /// One result more comes before this turn, for a call with this id.
    ExtraResult(usize, String),
    /// A result before this turn is for a call that was never made.
    UnknownResult(usize),
    /// Before this turn, something is asked for that there isn't.
    UnknownRoute(usize, &'static str, &'static str),
    /// Before this turn, the path is asked by another method.
    WrongMethod(usize, &'static str),
    /// The client stops before this turn.
    Stops(usize),
    /// The client gives up at the first error of this turn, which has an answer behind it.
    GivesUp(usize),
    /// Two sessions play at once, and one of them stops before this turn.
    OtherStops(usize),
    /// The answer of the turn before the last is left out of the last request.
    ForgottenAnswer(usize),
    /// After the last turn, one more is asked for.
    OneTooMany,
    /// The input of this turn comes together with the next one.
    TwoAtOnce(usize, usize),
    /// The request for this turn has the body of another API.
    OtherBody(usize, Endpoint),
    /// A block of this turn's input is missing.
    MissingBlock(usize),
    /// A block of this turn's input holds something else.
    OtherBlock(usize),
    /// In the last request, the answer of this turn is not what it was.
    ChangedAnswer(usize, Change),
}

/// A timeline with the API that it is played over.
struct Case {
    path: PathBuf,
    script: Arc<LlmScript>,
    endpoint: Endpoint,
}

const APIS: [Endpoint; 4] = [
    Endpoint::Chat,
    Endpoint::Messages,
    Endpoint::Responses,
    Endpoint::Gemini,
];

fn path_of(endpoint: Endpoint) -> &'static str {
    match endpoint {
        Endpoint::Messages => "/v1/messages",
        Endpoint::Responses => "/v1/responses",
        Endpoint::Chat => CHAT,
        Endpoint::Gemini => "/v1beta/models/m:generateContent",
    }
}

/// All timelines of the repository that a model's stand-in can play. A fault needs more than an honest client, and an
/// error without an end can't be passed.
fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in [
        "examples",
        "tests/timelines/seed",
        "tests/llm",
        "tests/golden",
    ] {
        found.extend(
            ignore::WalkBuilder::new(root.join(folder))
                .standard_filters(false)
                .build()
                .filter_map(Result::ok)
                .map(ignore::DirEntry::into_path)
                .filter(|path| {
                    path.extension()
                        .is_some_and(|end| end == "yaml" || end == "yml")
                }),
        );
    }
    found.sort();
    let scripts = found.into_iter().filter_map(|path| {
        let (loaded, _) = files::load(std::slice::from_ref(&path), &LlmOptions::default());
        let is_bad = loaded.is_bad(false);
        let script = loaded.scripts.into_iter().next().filter(|_| !is_bad)?;
        let turns = &script.turns.turns;
        let is_playable = turns.iter().any(|turn| !turn.is_history)
            && script
                .timeline
                .events
                .iter()
                .all(|event| event.fault.is_none())
            && turns.iter().all(ends);
        is_playable.then_some((path, script))
    });
    let cases = scripts.flat_map(|(path, script)| {
        APIS.map(|endpoint| Case {
            path: path.clone(),
            script: script.clone(),
            endpoint,
        })
    });
    cases.collect()
}

fn ends(turn: &Turn) -> bool {
    let mut errors = turn
        .attempts
        .iter()
        .filter_map(|attempt| attempt.error.as_ref());
    errors.all(|error| error.error.repeat != ServingCount::Always)
}

impl Case {
    /// The turns to play.
    fn live(&self) -> Vec<usize> {
        let turns = self.script.turns.turns.iter().enumerate();
        turns
            .filter(|(_, turn)| !turn.is_history)
            .map(|(turn_idx, _)| turn_idx)
            .collect()
    }

    fn turn(&self, turn_idx: usize) -> &Turn {
        &self.script.turns.turns[turn_idx]
    }

    /// The text that must come for a turn, if another one would not do.
    fn input(&self, turn_idx: usize) -> Option<&str> {
        let input = self.turn(turn_idx).input.as_ref()?;
        let text = input
            .text
            .as_deref()
            .filter(|text| !text.trim().is_empty())?;
        (!input.is_keys).then_some(text)
    }

    /// The blocks of a turn's input.
    fn all_blocks(&self, turn_idx: usize) -> &[Block] {
        let input = self.turn(turn_idx).input.as_ref();
        let events = self.script.timeline.events.iter();
        let inputs = events.filter_map(|event| match &event.kind {
            EventKind::UserInputs(inputs) => Some(inputs),
            _ => None,
        });
        let mut inputs = inputs.flatten();
        let own = inputs.find(|own| input.is_some_and(|input| own.span == input.span));
        own.map_or(&[], |own| &own.blocks)
    }

    /// Those that are no text, as a client sends them.
    fn blocks(&self, turn_idx: usize) -> Vec<RequestedBlock> {
        let input = self.turn(turn_idx).input.as_ref();
        let blocks = input.into_iter().flat_map(|input| &input.blocks);
        blocks.map(ExpectedBlock::to_requested).collect()
    }

    /// The calls before a turn whose results it waits for.
    fn awaited(&self, turn_idx: usize) -> Vec<ToolResult> {
        if turn_idx == 0 || self.turn(turn_idx - 1).is_history != self.turn(turn_idx).is_history {
            return Vec::new();
        }
        let calls = self.turn(turn_idx - 1).calls();
        calls
            .filter(|call| call.needs_result)
            .map(|call| {
                let result = call.scripted.as_ref().and_then(|call| call.result.as_ref());
                let text = match result {
                    Some(ExpectedResult::Value(json) | ExpectedResult::Json(json)) => {
                        as_text(json).into_owned()
                    }
                    _ => "done".to_owned(),
                };
                ToolResult {
                    id: call.id.clone(),
                    tool: tool_of(call),
                    text,
                }
            })
            .collect()
    }

    /// Whether a history shows that the turn was answered.
    fn is_remembered(&self, turn_idx: usize) -> bool {
        let turn = self.turn(turn_idx);
        !turn.is_only_errors() && !turn.is_silent() && !turn.is_cancelled
    }

    /// Departures that this timeline has room for, one of each kind.
    fn departures(&self, random: &mut Random) -> Vec<Departure> {
        let live = self.live();
        let with_input: Vec<usize> = live
            .iter()
            .copied()
            .filter(|&turn_idx| self.input(turn_idx).is_some())
            .collect();
        let mut found = Vec::new();
        if let Some(turn_idx) = random.pick(&with_input) {
            let said = self.input(turn_idx).unwrap_or_default();
            found.push(Departure::OtherPrompt(turn_idx, random.word()));
            found.push(Departure::OtherPrompt(
                turn_idx,
                other_last_word(said, random),
            ));
            let shorter = normalise(said);
            let shorter: String = shorter.chars().take(shorter.chars().count() - 1).collect();
            found.push(Departure::OtherPrompt(turn_idx, shorter));
        }
        // Two inputs of which neither holds the other.
        let distinct = |one: usize, other: usize| {
            let (one, other) = (self.input(one), self.input(other));
            let (one, other) = (
                normalise(one.unwrap_or_default()),
                normalise(other.unwrap_or_default()),
            );
            !one.contains(&other) && !other.contains(&one)
        };
        let next: Vec<(usize, usize)> = with_input
            .windows(2)
            .map(|pair| (pair[0], pair[1]))
            .filter(|&(one, other)| distinct(one, other))
            .collect();
        if let Some((one, other)) = random.pick(&next) {
            found.push(Departure::WrongOrder(one, other));
            if self.is_remembered(one) {
                found.push(Departure::TwoAtOnce(one, other));
            }
        }
        let with_results: Vec<usize> = live
            .iter()
            .copied()
            .filter(|&turn_idx| !self.awaited(turn_idx).is_empty())
            .collect();
        let with_blocks: Vec<usize> = live
            .iter()
            .copied()
            .filter(|&turn_idx| !self.blocks(turn_idx).is_empty())
            .collect();
        if let Some(turn_idx) = random.pick(&with_blocks) {
            found.push(Departure::MissingBlock(turn_idx));
            let compares = |block: &Block| !block.compares_kind;
            let compares_all = self.all_blocks(turn_idx).iter().all(compares);
            found.extend(compares_all.then_some(Departure::OtherBlock(turn_idx)));
        }
        if let Some(turn_idx) = random.pick(&with_results) {
            found.push(Departure::MissingResult(turn_idx));
            found.push(Departure::UnknownResult(turn_idx));
            found.push(Departure::ExtraResult(turn_idx, random.word()));
            let others = self.script.turns.turns.iter().enumerate();
            let others: Vec<String> = others
                .filter(|&(other, _)| other + 1 != turn_idx)
                .flat_map(|(_, turn)| turn.calls().map(|call| call.id.clone()))
                .collect();
            found.extend(
                random
                    .pick(&others)
                    .map(|id| Departure::ExtraResult(turn_idx, id)),
            );
        }
        let any = random.pick(&live).unwrap_or_default();
        let routes = [
            ("POST", "/v1/embeddings"),
            ("GET", "/"),
            ("POST", "/chat/completions"),
            ("GET", "/v1/files"),
        ];
        let (method, path) = routes[random.below(routes.len())];
        found.push(Departure::UnknownRoute(any, method, path));
        found.push(Departure::WrongMethod(
            any,
            ["GET", "PUT", "DELETE"][random.below(3)],
        ));
        found.push(Departure::Stops(any));
        let fails_first = |turn_idx: &&usize| {
            let turn = self.turn(**turn_idx);
            turn.attempts.len() > 1 && !turn.is_cancelled
        };
        let failing = live.iter().rev().find(fails_first);
        found.extend(failing.copied().map(Departure::GivesUp));
        let later = random.pick(live.get(1..).unwrap_or_default());
        found.extend(later.map(Departure::OtherStops));
        let answered = live.windows(2).map(|pair| pair[0]);
        let answered: Vec<usize> = answered
            .filter(|&turn_idx| {
                // Its answer is followed by one that is no part of it.
                self.is_remembered(turn_idx)
                    && live
                        .iter()
                        .any(|&later| later > turn_idx && self.is_remembered(later))
                    && live.last() != Some(&(turn_idx + 1))
                    && self.is_remembered(turn_idx + 1)
            })
            .collect();
        found.extend(random.pick(&answered).map(Departure::ForgottenAnswer));
        // Errors leave no trace: without an answer, another request begins the conversation again.
        if live
            .iter()
            .any(|&turn_idx| !self.turn(turn_idx).is_only_errors())
        {
            found.push(Departure::OneTooMany);
        }
        found.extend(self.changed_answers(&live, random));
        let others: Vec<Endpoint> = APIS
            .into_iter()
            .filter(|&endpoint| endpoint != self.endpoint)
            .collect();
        let other = random.pick(&others).unwrap_or(Endpoint::Chat);
        found.push(Departure::OtherBody(any, other));
        found
    }
}

/// The name of a call's tool, as the timeline writes it.
fn tool_of(call: &TurnCall) -> String {
    match &call.call.written {
        Some(written) => written.tool.clone(),
        None => call.call.tool.clone(),
    }
}

fn other_last_word(text: &str, random: &mut Random) -> String {
    match text.trim_end().rsplit_once(char::is_whitespace) {
        Some((before, _)) => format!("{before} {}", random.word()),
        None => random.word(),
    }
}

/// A client in the middle of a conversation.
struct Client<'a> {
    case: &'a Case,
    played: &'a Played,
    said: Vec<Message>,
    session: &'static str,
    /// Whether it sends the ids of calls, as some clients of Gemini don't.
    sends_ids: bool,
}

impl Client<'_> {
    /// Plays the timeline, but for the departure. Ends when it gets an error that is not scripted.
    async fn play(&mut self, departure: Option<&Departure>) {
        let live = self.case.live();
        for &turn_idx in &live {
            match departure {
                Some(Departure::Stops(at)) if *at == turn_idx => return,
                Some(Departure::UnknownRoute(at, method, path)) if *at == turn_idx => {
                    self.ask(method, path).await;
                }
                Some(Departure::WrongMethod(at, method)) if *at == turn_idx => {
                    self.ask(method, path_of(self.case.endpoint)).await;
                }
                _ => {}
            }
            self.say(turn_idx, departure);
            if departure == Some(&Departure::GivesUp(turn_idx)) {
                let body = self.body(self.case.endpoint, &self.said);
                self.post(&body).await;
                return;
            }
            let mut said = self.said.clone();
            if let Some(Departure::ForgottenAnswer(at)) = departure
                && live.last() == Some(&turn_idx)
            {
                let answer = self.place_of_answer(*at);
                said.remove(answer);
            }
            if let Some(Departure::ChangedAnswer(at, change)) = departure
                && live.last() == Some(&turn_idx)
            {
                let answer = self.place_of_answer(*at);
                if let Message::Model { texts, calls } = &mut said[answer] {
                    change.make(texts, calls);
                }
                if let (Change::FewerCalls, Some(Message::Results(results))) =
                    (change, said.get_mut(answer + 1))
                {
                    results.pop();
                }
            }
            let body_of = match departure {
                Some(Departure::OtherBody(at, other)) if *at == turn_idx => *other,
                _ => self.case.endpoint,
            };
            if !self.gets(turn_idx, &said, body_of).await {
                return;
            }
        }
        if departure == Some(&Departure::OneTooMany) {
            self.said.push(Message::User(
                vec!["And one thing more".to_owned()],
                Vec::new(),
            ));
            let said = self.said.clone();
            let body = self.body(self.case.endpoint, &said);
            self.post(&body).await;
        }
    }

    async fn ask(&self, method: &str, path: &str) {
        let method = method.parse().expect("a method");
        let request = self.played.client.request(method, self.played.url(path));
        Answer::of(request.body("{}")).await;
    }

    /// Where the answer of a turn is in what was said.
    fn place_of_answer(&self, turn_idx: usize) -> usize {
        let nth = self
            .case
            .live()
            .iter()
            .filter(|&&before| before < turn_idx && !self.case.turn(before).is_only_errors())
            .count();
        let answers = self.said.iter().enumerate();
        let mut answers = answers.filter(|(_, said)| matches!(said, Message::Model { .. }));
        answers.nth(nth).expect("it was answered").0
    }

    /// What must be said for a turn.
    fn say(&mut self, turn_idx: usize, departure: Option<&Departure>) {
        let case = self.case;
        let mut results = case.awaited(turn_idx);
        match departure {
            Some(Departure::MissingResult(at)) if *at == turn_idx => {
                results.pop();
            }
            Some(Departure::UnknownResult(at)) if *at == turn_idx => {
                results[0].id = "call_that_nobody_made".to_owned();
            }
            Some(Departure::ExtraResult(at, id)) if *at == turn_idx => {
                results.push(ToolResult {
                    id: id.clone(),
                    tool: "tool".to_owned(),
                    text: "done".to_owned(),
                });
            }
            _ => {}
        }
        let has_results = !results.is_empty();
        if has_results {
            self.said.push(Message::Results(results));
        }
        let turn = case.turn(turn_idx);
        let input = turn
            .input
            .as_ref()
            .map(|input| input.text.clone().unwrap_or_default());
        let texts = match (departure, input) {
            (Some(Departure::OtherPrompt(at, text)), _) if *at == turn_idx => vec![text.clone()],
            (Some(Departure::WrongOrder(one, other)), _) if *one == turn_idx => {
                vec![case.input(*other).unwrap_or_default().to_owned()]
            }
            (Some(Departure::TwoAtOnce(one, other)), Some(text)) if *one == turn_idx => {
                vec![text, case.input(*other).unwrap_or_default().to_owned()]
            }
            (_, Some(text)) => vec![text],
            (_, None) if has_results || matches!(self.said.last(), Some(Message::User(..))) => {
                Vec::new()
            }
            (Some(Departure::MissingResult(at)), None) if *at == turn_idx => Vec::new(),
            // Without an input of its own, a turn waits for any; the first request chooses the scenario.
            (_, None) => {
                let prompt = case.script.timeline.effective_prompt();
                let prompt = prompt.filter(|_| self.said.is_empty());
                vec![prompt.unwrap_or_else(|| "Go on".to_owned())]
            }
        };
        let mut blocks = case.blocks(turn_idx);
        match departure {
            Some(Departure::MissingBlock(at)) if *at == turn_idx => {
                blocks.remove(0);
            }
            Some(Departure::OtherBlock(at)) if *at == turn_idx => {
                blocks[0].data = "b3RoZXI=".to_owned();
            }
            _ => {}
        }
        if !texts.is_empty() {
            self.said.push(Message::User(texts, blocks));
        }
    }

    /// Asks until the turn is answered, past its scripted errors. `false` if it gets something else.
    async fn gets(&mut self, turn_idx: usize, said: &[Message], body_of: Endpoint) -> bool {
        let errors: usize = self
            .case
            .turn(turn_idx)
            .attempts
            .iter()
            .filter_map(|attempt| match attempt.error.as_ref()?.error.repeat {
                ServingCount::Times(times) => Some(times.max(1) as usize),
                ServingCount::Always => None,
            })
            .sum();
        let body = self.body(body_of, said);
        for _ in 0..errors {
            let answer = self.post(&body).await;
            if answer.status.is_success() {
                return false;
            }
        }
        if self.case.turn(turn_idx).is_only_errors() {
            return true;
        }
        let answer = self.post(&body).await;
        if !answer.status.is_success() {
            return false;
        }
        let mut texts = vec![String::new()];
        let mut calls = Vec::new();
        let say = |texts: &mut Vec<String>, said: &str| {
            texts.last_mut().expect("never empty").push_str(said);
        };
        if self.case.endpoint == Endpoint::Gemini {
            let content = &answer.json()["candidates"][0]["content"];
            for part in content["parts"].as_array().into_iter().flatten() {
                if part["thought"] == true {
                    continue;
                }
                say(&mut texts, part["text"].as_str().unwrap_or_default());
                let call = &part["functionCall"];
                if let (Some(id), Some(name)) = (call["id"].as_str(), call["name"].as_str()) {
                    calls.push((id.to_owned(), name.to_owned(), call["args"].clone()));
                    texts.push(String::new());
                }
            }
            self.said.push(Message::Model { texts, calls });
            return true;
        }
        let decoded = read_body(self.case.endpoint, answer.text.as_bytes(), 0)
            .unwrap_or_else(|error| panic!("{error}"));
        for element in decoded.elements {
            match element {
                Element::Text(pieces) | Element::Refusal(pieces) => {
                    for piece in &pieces {
                        say(&mut texts, &piece.text);
                    }
                }
                Element::Thinking(_) => {}
                Element::Call(call) => {
                    let args = match call.input {
                        CallInput::Arguments(args) => Value::clone(&args),
                        CallInput::Text(text) | CallInput::Raw(text) => json!({"input": text}),
                    };
                    calls.push((call.id, call.name, args));
                    texts.push(String::new());
                }
            }
        }
        self.said.push(Message::Model { texts, calls });
        true
    }

    async fn post(&self, body: &Value) -> Answer {
        let session = [("x-cuecard-session", self.session)];
        let path = path_of(self.case.endpoint);
        self.played.post_with(path, body, &session).await
    }

    /// The names of the tools that the timeline calls, as it writes them.
    fn tools(&self) -> Vec<String> {
        let turns = self.case.script.turns.turns.iter();
        let mut names: Vec<String> = turns.flat_map(Turn::calls).map(tool_of).collect();
        names.sort();
        names.dedup();
        names
    }

    /// What was said as the messages of an API.
    fn messages(&self, endpoint: Endpoint, said: &[Message]) -> Vec<Value> {
        let said = said.iter().flat_map(|said| wire::messages(endpoint, said));
        let mut said: Vec<Value> = said.collect();
        if endpoint == Endpoint::Gemini && !self.sends_ids {
            let parts = said
                .iter_mut()
                .filter_map(|content| content["parts"].as_array_mut());
            for part in parts.flatten() {
                for kind in ["functionCall", "functionResponse"] {
                    if let Some(call) = part.get_mut(kind).and_then(Value::as_object_mut) {
                        call.remove("id");
                    }
                }
            }
        }
        said
    }

    fn body(&self, endpoint: Endpoint, said: &[Message]) -> Value {
        self.body_of(endpoint, self.messages(endpoint, said))
    }

    /// A request with these messages.
    fn body_of(&self, endpoint: Endpoint, said: Vec<Value>) -> Value {
        let schema = json!({"type": "object"});
        let tools: Vec<Value> = self
            .tools()
            .into_iter()
            .map(|name| match endpoint {
                Endpoint::Messages => json!({"name": name, "input_schema": schema}),
                Endpoint::Responses => {
                    json!({"type": "function", "name": name, "parameters": schema})
                }
                Endpoint::Chat => {
                    json!({"type": "function", "function": {"name": name, "parameters": schema}})
                }
                Endpoint::Gemini => {
                    json!({"functionDeclarations": [{"name": name, "parameters": schema}]})
                }
            })
            .collect();
        let mut body = match endpoint {
            Endpoint::Messages => {
                json!({"model": "m", "max_tokens": 1000, "system": "Be brief.", "messages": said})
            }
            Endpoint::Responses => json!({"model": "m", "input": said}),
            Endpoint::Chat => json!({"model": "m", "messages": said}),
            Endpoint::Gemini => json!({"contents": said}),
        };
        if !tools.is_empty() {
            body["tools"] = tools.into();
        }
        body
    }
}

/// Plays a timeline with or without a departure, and gives what failed. The client runs no tools, so that asserts about
/// their effects don't count.
async fn failures(
    case: &Case,
    client: &reqwest::Client,
    departure: Option<&Departure>,
) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let running = MockLlm::from_file(&case.path)
        .with(|options| {
            options.workspace = folder.path().to_owned();
            options.play.speed = Speed::new(0.0, 0.0).expect("a speed");
            options.play.require_complete = true;
            options.keep_going = true;
        })
        .start()
        .await
        .unwrap_or_else(|error| panic!("{}: {error}", case.path.display()));
    let played = Played {
        folder,
        running,
        client: client.clone(),
    };
    let client = |session| Client {
        case,
        played: &played,
        said: Vec::new(),
        session,
        sends_ids: departure.is_some_and(|it| !matches!(it, Departure::ChangedAnswer(..))),
    };
    let (mut client, mut other) = (client("one"), client("other"));
    match departure {
        Some(Departure::OtherStops(at)) => {
            let stops = Departure::Stops(*at);
            tokio::join!(client.play(None), other.play(Some(&stops)));
        }
        _ => client.play(departure).await,
    }
    let verdict = played.running.stop().await;
    // That a turn was not played says nothing of why: only of who stops early no more can be said.
    let may_be_incomplete = matches!(
        departure,
        None | Some(Departure::Stops(_) | Departure::OtherStops(_) | Departure::GivesUp(_))
    );
    // A history that is not word for word what was said is a note, which `--strict` makes a failure.
    let is_about_history = matches!(departure, None | Some(Departure::ChangedAnswer(..)));
    let failed = verdict.findings.into_iter().filter(|found| {
        (found.severity == Severity::Error
            || (is_about_history && found.code == codes::MODEL_UNALIGNED))
            && ![codes::MODEL_ASSERT_FAILED, codes::EXPECTATION_FAILED].contains(&found.code)
            && (may_be_incomplete || found.code != codes::MODEL_UNPLAYED)
    });
    failed.map(|found| found.message).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_departure_from_a_script_fails_the_run() {
    let client = client();
    let mut random = Random(18);
    let (mut kinds, mut wrong) = (std::collections::HashSet::new(), Vec::new());
    let (mut n_changed, mut n_moved) = (0, 0);
    let cases: Arc<[Case]> = cases().into();
    let mut departures = Vec::new();
    for case in &*cases {
        let of_case = case.departures(&mut random);
        for departure in &of_case {
            kinds.insert(std::mem::discriminant(departure));
            n_changed += usize::from(matches!(departure, Departure::ChangedAnswer(..)));
            let is_moved =
                matches!(departure, Departure::ChangedAnswer(_, it) if it.is_about_order());
            n_moved += usize::from(is_moved);
        }
        departures.push(of_case);
    }
    let departures: Arc<[Vec<Departure>]> = departures.into();
    let mut parts = tokio::task::JoinSet::new();
    for part in 0..PARTS {
        let (cases, departures, client) = (cases.clone(), departures.clone(), client.clone());
        parts.spawn(async move {
            let mut wrong = Vec::new();
            let all = cases.iter().zip(&*departures);
            for (case, departures) in all.skip(part).step_by(PARTS) {
                wrong.extend(wrong_verdicts(case, departures, &client).await);
            }
            wrong
        });
    }
    while let Some(found) = parts.join_next().await {
        wrong.extend(found.expect("a part"));
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let examples = cases
        .iter()
        .filter(|case| case.path.to_string_lossy().contains("examples"))
        .count();
    assert!(
        cases.len() >= 100 && examples >= 20,
        "{} timelines",
        cases.len()
    );
    assert_eq!(kinds.len(), 17, "each kind of departure was tried");
    assert!(n_changed >= 200, "{n_changed} histories were changed");
    assert!(n_moved >= 9, "{n_moved} texts were moved");
}

/// How many scripts are played at once.
const PARTS: usize = 4;

/// What is judged otherwise than it should be: the script as it is, and each departure from it.
async fn wrong_verdicts(
    case: &Case,
    departures: &[Departure],
    client: &reqwest::Client,
) -> Vec<String> {
    let (name, by) = (case.path.display(), case.endpoint);
    let right = failures(case, client, None).await;
    if !right.is_empty() {
        return vec![format!(
            "{name}: played as scripted by {by:?}, it fails: {right:?}"
        )];
    }
    let mut wrong = Vec::new();
    for departure in departures {
        if failures(case, client, Some(departure)).await.is_empty() {
            wrong.push(format!("{name}: {by:?} passes with {departure:?}"));
        }
    }
    wrong
}
