//! The recorder's adversary: answers with each field of each API present or absent, whole or as a stream, in
//! combinations that nobody thought of. What is recorded of them is played to the same client, which must see the same,
//! but for what the notes of the recording name. The client reads JSON only, and nothing of what the recorder knows.

mod client;
mod fields;
mod pairs;

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use cuecard_timeline::script::Endpoint;
use serde_json::{Value, json};

use super::*;
use client::{Client, Observed};
use fields::Field;

/// So many random combinations are tried in each style.
const N_RANDOM: usize = 15;
/// One field of so many is there.
const ONE_OF: u64 = 6;

/// An upstream that gives these answers, one after the other.
async fn upstream(answers: Vec<client::Answer>) -> String {
    let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
    let give = move || {
        let answer = answers.lock().expect("not poisoned").pop_front();
        async move {
            let answer = answer.expect("no more is asked for");
            axum::response::Response::builder()
                .status(answer.status)
                .header("content-type", answer.kind)
                .body(axum::body::Body::from(answer.body))
                .expect("an answer")
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("loopback is free");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let service = axum::Router::new().fallback(give);
    tokio::spawn(async move { axum::serve(listener, service).await });
    url
}

/// What a client saw, and what the notes say.
struct Case {
    recorded: Vec<Observed>,
    played: Vec<Observed>,
    notes: Vec<String>,
    /// How many answers were changed: the errors, and the one behind them.
    n_changed: usize,
}

/// How many answers a conversation has before it is recorded, if it began before.
const N_BEFORE: usize = 2;

/// How a client asks.
#[derive(Debug, Clone, Copy)]
struct RequestStyle {
    endpoint: Endpoint,
    streams: bool,
    /// Whether the conversation began before the recording.
    is_begun: bool,
}

impl RequestStyle {
    async fn converse(self, http: &reqwest::Client, url: String) -> Vec<Observed> {
        // Half of all clients ask for what the model thinks.
        let asks_for_thinking = self.streams != self.is_begun;
        let client = Client::new(
            http.clone(),
            url,
            self.endpoint,
            self.streams,
            asks_for_thinking,
        );
        match self.is_begun {
            true => client.begun().converse().await,
            false => client.converse().await,
        }
    }

    /// A conversation whose first answer has these fields, recorded and played: what is wrong with it.
    async fn try_fields(self, http: &reqwest::Client, fields: &[&Field]) -> Option<String> {
        let Self {
            endpoint, streams, ..
        } = self;
        let mut answers = Vec::new();
        let mut body = fields::plain(endpoint, "Let me look.");
        for field in fields {
            match field.error {
                Some(error) => answers.push(client::Answer::error(error(endpoint))),
                None => (field.change)(&mut body),
            }
        }
        answers.push(client::Answer::of(endpoint, streams, &body));
        for text in ["Done.", "And more.", "More."] {
            let body = fields::plain(endpoint, text);
            answers.push(client::Answer::of(endpoint, streams, &body));
        }
        let recording = Recorded::of(&upstream(answers).await).await;
        let recorded = self.converse(http, recording.url()).await;
        let ended = recording.end().await;
        let scenario = ended.text("r.yaml");
        let notes: Vec<String> = ended.notes().into_iter().map(str::to_owned).collect();
        let model = play(ended.folder.path(), &Buffer::default()).await;
        let played = self.converse(http, model.base_url()).await;
        let verdict = model.stop().await;
        // What was said before the recording needs nobody to play it.
        let n_before = if self.is_begun { N_BEFORE } else { 0 };
        let unplayed = verdict.unplayed.iter();
        let n_unplayed = unplayed.filter(|turn| turn.turn > n_before).count();
        let case = Case {
            recorded,
            played,
            notes,
            n_changed: 1 + fields.iter().filter(|field| field.error.is_some()).count(),
        };
        let problem = match ended.recording.files.len() {
            1 if n_unplayed > 0 => Some("turns are not played".to_owned()),
            1 if !verdict.passed => Some(format!("{:?}", verdict.findings)),
            1 => case.problem(),
            n_files => Some(format!("{n_files} files")),
        };
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        problem.map(|problem| {
            format!(
                "{self:?} {names:?}: {problem}\nnotes {:#?}\n{scenario}",
                case.notes
            )
        })
    }
}

impl Case {
    /// The answers that were changed must be the same but for what is named, the others altogether; and what is named
    /// must differ.
    fn problem(&self) -> Option<String> {
        let (recorded, played) = (
            self.without_named(&self.recorded),
            self.without_named(&self.played),
        );
        if recorded != played {
            return Some(format!(
                "it differs in more than is named:\n{recorded:#?}\n{played:#?}"
            ));
        }
        let false_note = self.notes.iter().find(|note| !self.is_true(note))?;
        let (recorded, played) = (&self.recorded, &self.played);
        Some(format!(
            "nothing differs for the note {false_note:?}:\n{recorded:#?}\n{played:#?}"
        ))
    }

    /// Whether something that a note names differs; those that name nothing are about texts and their order.
    fn is_true(&self, note: &str) -> bool {
        let named = named(note);
        if named.is_empty() {
            return self.recorded != self.played;
        }
        named.into_iter().any(|word| {
            let found = |observed: &[Observed]| {
                let mut found = Vec::new();
                for (at, answer) in observed.iter().take(self.n_changed).enumerate() {
                    find(&answer.0, word, &at.to_string(), &mut found);
                }
                found
            };
            found(&self.recorded) != found(&self.played)
        })
    }

    /// What a client observed, without what the notes name in the answers that were changed.
    fn without_named(&self, observed: &[Observed]) -> Vec<Value> {
        let named: BTreeSet<&str> = self.notes.iter().flat_map(|note| named(note)).collect();
        let says = |what: &str| self.notes.iter().any(|note| note.contains(what));
        let has_blank = says("whitespace-only") || says("without a character");
        let answers = observed.iter().enumerate().map(|(at, observed)| {
            let mut answer = observed.0.clone();
            if at < self.n_changed {
                take_out(&mut answer, &named, has_blank);
                client::clean(&mut answer);
                // The order of what is said, or how it is put together.
                if says("behind a") || says("of their own") {
                    client::regroup(&mut answer);
                    return json!(leaves(&answer));
                }
            }
            answer
        });
        answers.collect()
    }
}

/// What stands below a name, what is of that type, and each value that is the word itself, each with its place.
fn find(json: &Value, word: &str, place: &str, found: &mut Vec<(String, Value)>) {
    match json {
        Value::Object(members) => {
            if members.get("type").is_some_and(|kind| kind == word) {
                found.push((place.to_owned(), json.clone()));
            }
            for (name, member) in members {
                let place = format!("{place}/{name}");
                if word.strip_suffix("[1]").unwrap_or(word) == name {
                    found.push((place.clone(), member.clone()));
                }
                find(member, word, &place, found);
            }
        }
        Value::Array(items) => {
            for (idx, item) in items.iter().enumerate() {
                find(item, word, &format!("{place}/{idx}"), found);
            }
        }
        leaf if leaf == word => found.push((place.to_owned(), leaf.clone())),
        _ => {}
    }
}

/// What a note names, in backticks.
fn named(note: &str) -> BTreeSet<&str> {
    let words = note.split('`').skip(1).step_by(2);
    words
        .map(|word| word.rsplit('.').next().unwrap_or(word))
        .collect()
}

/// Takes out what is named: members, items of that type, and texts of white space.
fn take_out(json: &mut Value, named: &BTreeSet<&str>, has_blank: bool) {
    let is_blank = |text: &Value| has_blank && text.as_str().is_some_and(|it| it.trim().is_empty());
    match json {
        Value::Object(members) => {
            members.retain(|name, value| !named.contains(name.as_str()) && !is_blank(value));
            for (other, all) in [("choices[1]", "choices"), ("candidates[1]", "candidates")] {
                if named.contains(other)
                    && let Some(Value::Array(choices)) = members.get_mut(all)
                {
                    choices.truncate(1);
                }
            }
            for member in members.values_mut() {
                take_out(member, named, has_blank);
            }
        }
        Value::Array(items) => {
            items.retain(|item| !named.contains(item["type"].as_str().unwrap_or_default()));
            for item in items {
                take_out(item, named, has_blank);
            }
        }
        _ => {}
    }
}

/// All texts and numbers, in order of themselves.
fn leaves(json: &Value) -> Vec<String> {
    let mut found = match json {
        Value::Object(members) => members.values().flat_map(leaves).collect(),
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::Null => Vec::new(),
        leaf => vec![leaf.to_string()],
    };
    found.sort_unstable();
    found
}

/// A row of numbers that is the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

async fn check_all(endpoint: Endpoint) {
    let all = fields::of(endpoint);
    let http = super::client::http();
    let mut problems = Vec::new();
    let mut random = Random(0x5EED);
    for (streams, is_begun) in [(false, false), (false, true), (true, false), (true, true)] {
        let style = RequestStyle {
            endpoint,
            streams,
            is_begun,
        };
        let is_possible = |field: &&Field| field.streams.is_none_or(|required| required == streams);
        let possible: Vec<&Field> = all.iter().filter(is_possible).collect();
        let mut cases = vec![Vec::new()];
        if !is_begun {
            cases.extend(possible.iter().map(|field| vec![*field]));
        }
        cases.extend((0..N_RANDOM).map(|_| {
            let chosen = possible.iter().copied();
            chosen.filter(|_| random.below(ONE_OF) == 0).collect()
        }));
        for fields in cases {
            problems.extend(style.try_fields(&http, &fields).await);
        }
    }
    assert!(
        problems.is_empty(),
        "{} problems\n{}",
        problems.len(),
        problems.join("\n\n")
    );
}

/// Two answers to two requests, the first of which was changed.
fn case(recorded: [Value; 2], played: [Value; 2], note: &str) -> Case {
    Case {
        recorded: recorded.map(Observed).to_vec(),
        played: played.map(Observed).to_vec(),
        notes: [note]
            .into_iter()
            .filter(|note| !note.is_empty())
            .map(str::to_owned)
            .collect(),
        n_changed: 1,
    }
}

#[test]
fn only_what_is_named_may_differ_and_only_where_it_was_changed() {
    let said = |text: &str| json!({"content": text});
    let cited = json!({"content": "Hi", "citations": ["u"]});
    let is_right = |recorded, played, note| case(recorded, played, note).problem().is_none();
    let (hi, bye) = (said("Hi"), said("Bye"));
    let same = || [hi.clone(), bye.clone()];
    assert!(is_right(same(), same(), ""));
    assert!(is_right(
        [cited.clone(), bye.clone()],
        same(),
        "`citations` is left out"
    ));
    // Not named; named, and it does not differ; named, and more differs; named, and it differs elsewhere.
    assert!(!is_right([cited.clone(), bye.clone()], same(), ""));
    assert!(!is_right(same(), same(), "`citations` is left out"));
    assert!(!is_right(
        [cited.clone(), bye.clone()],
        [said("Ho"), bye.clone()],
        "`citations` is left out"
    ));
    assert!(!is_right(
        same(),
        [said("Ho"), said("")],
        "its `content` is a list of parts"
    ));
}

#[tokio::test]
async fn recordings_of_chat_play_the_same_but_for_what_is_named() {
    check_all(Endpoint::Chat).await;
}

#[tokio::test]
async fn recordings_of_messages_play_the_same_but_for_what_is_named() {
    check_all(Endpoint::Messages).await;
}

#[tokio::test]
async fn recordings_of_responses_play_the_same_but_for_what_is_named() {
    check_all(Endpoint::Responses).await;
}

#[tokio::test]
async fn recordings_of_gemini_play_the_same_but_for_what_is_named() {
    check_all(Endpoint::Gemini).await;
}
