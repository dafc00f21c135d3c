//! Clients whose last request has another past than the conversation had: any message of it, or any part of one, is
//! missing, is there twice or has changed places with the next one, or the user says something that was never said.

use cuecard_timeline::script::Endpoint;
use serde_json::{Value, json};

use super::super::*;
use super::{Case, Client, Message, cases};

/// What is made of the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Edit {
    Drop,
    Double,
    /// With the one behind it.
    Swap,
    /// The user says something before it.
    Insert,
}

const EDITS: [Edit; 4] = [Edit::Drop, Edit::Double, Edit::Swap, Edit::Insert];

impl Edit {
    /// Edits the item at `idx`; `false` if it can't.
    fn make(self, items: &mut Vec<Value>, idx: usize, foreign: impl FnOnce() -> Value) -> bool {
        match self {
            Self::Drop => {
                items.remove(idx);
            }
            Self::Double => items.insert(idx, items[idx].clone()),
            Self::Swap if items.get(idx + 1).is_none_or(|next| *next == items[idx]) => {
                return false;
            }
            Self::Swap => items.swap(idx, idx + 1),
            Self::Insert => items.insert(idx, foreign()),
        }
        true
    }
}

/// A message of the wire.
struct Item {
    /// The turn that it asks for, or that said it.
    turn_idx: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Results,
    Model,
}

impl Case {
    /// Whether a history shows every turn, and each result is awaited.
    fn is_remembered_whole(&self) -> bool {
        let live = self.live();
        let mut calls = live
            .iter()
            .flat_map(|&turn_idx| self.turn(turn_idx).calls());
        !self.script.timeline.server.any_prompt
            && live.iter().all(|&turn_idx| self.is_remembered(turn_idx))
            && calls.all(|call| call.needs_result)
    }

    /// Whether a turn takes whatever the user says.
    fn takes_anything(&self, turn_idx: usize) -> bool {
        self.input(turn_idx).is_none() && self.awaited(turn_idx).is_empty()
    }
}

impl Client<'_> {
    /// What each message of the last request is.
    fn items(&self, said: &[Message]) -> Vec<Item> {
        let mut turns = self.case.live().into_iter();
        let mut turn_idx = turns.next().unwrap_or_default();
        let mut items = Vec::new();
        for message in said {
            let kind = match message {
                Message::User(..) => Kind::User,
                Message::Results(_) => Kind::Results,
                Message::Model { .. } => Kind::Model,
            };
            let n_items = self
                .messages(self.case.endpoint, std::slice::from_ref(message))
                .len();
            items.extend((0..n_items).map(|_| Item { turn_idx, kind }));
            if kind == Kind::Model {
                turn_idx = turns.next().unwrap_or(turn_idx);
            }
        }
        items
    }

    /// All pasts that are not what was said, with their names.
    fn other_pasts(&self) -> Vec<(Edit, String, Vec<Value>)> {
        let endpoint = self.case.endpoint;
        let n_past = self
            .said
            .iter()
            .rposition(|it| matches!(it, Message::Model { .. }));
        let said = &self.said[..n_past.unwrap_or_default()];
        let list = self.messages(endpoint, said);
        let items = self.items(said);
        let last = items.iter().rposition(|item| item.kind == Kind::Model);
        let mut found = Vec::new();
        for idx in 0..last.map_or(0, |last| last + 1) {
            let Item { turn_idx, kind } = items[idx];
            let is_free = kind == Kind::User && self.case.takes_anything(turn_idx);
            for edit in EDITS {
                let begins = idx == 0 || items[idx - 1].kind == Kind::Model;
                let is_harmless = match edit {
                    // Whatever the user says next may hold the prompt.
                    Edit::Drop if kind == Kind::Model => items
                        .get(idx + 1)
                        .is_some_and(|next| self.case.takes_anything(next.turn_idx)),
                    Edit::Drop | Edit::Double => is_free,
                    Edit::Swap => {
                        let next = items.get(idx + 1).map(|item| item.kind);
                        let is_order_free = match (kind, next) {
                            (Kind::Results, Some(Kind::Results)) => true,
                            // Items of Responses are tied by their ids alone.
                            (Kind::Results | Kind::User, Some(Kind::Results | Kind::User)) => {
                                endpoint == Endpoint::Responses
                            }
                            _ => false,
                        };
                        let ids = [&list[idx], list.get(idx + 1).unwrap_or(&Value::Null)];
                        let [one, other] = ids.map(|item| &item["call_id"]);
                        let are_apart = endpoint == Endpoint::Responses
                            && (kind, next) == (Kind::Model, Some(Kind::Results))
                            && one.is_string()
                            && one != other;
                        is_order_free || are_apart || idx + 1 > last.unwrap_or_default()
                    }
                    // Between the parts of an answer too.
                    Edit::Insert => {
                        (begins || kind == Kind::User) && self.case.takes_anything(turn_idx)
                    }
                };
                let mut other = list.clone();
                let foreign =
                    || cuecard_wire::llm::media::user_message(endpoint, &["And a pony"], &[]);
                if !is_harmless && edit.make(&mut other, idx, foreign) {
                    found.push((edit, format!("{edit:?} {idx}"), other));
                }
            }
            for key in ["content", "parts", "tool_calls"] {
                let n_parts = list[idx][key].as_array().map_or(0, Vec::len);
                for part_idx in 0..n_parts {
                    for edit in EDITS {
                        // In Gemini without ids, results of one tool go by their order: tested apart.
                        let is_harmless = match edit {
                            Edit::Drop | Edit::Double => is_free,
                            Edit::Swap => kind != Kind::Model,
                            Edit::Insert => true,
                        };
                        let mut other = list.clone();
                        let parts = other[idx][key].as_array_mut().expect("counted");
                        let changed = !is_harmless && edit.make(parts, part_idx, || json!(null));
                        // An empty content is another mistake.
                        if changed && !other[idx][key].as_array().is_some_and(Vec::is_empty) {
                            found.push((edit, format!("{edit:?} {idx}.{key}.{part_idx}"), other));
                        }
                    }
                }
            }
        }
        found
    }
}

/// How many requests with another past were tried; those that passed, with their names. `None` if a strict run can't
/// play the timeline.
async fn passing(case: &Case, client: &reqwest::Client) -> Option<(usize, Vec<String>)> {
    let folder = tempfile::tempdir().expect("a folder");
    let strict = MockLlm::from_file(&case.path).with(|options| {
        options.workspace = folder.path().to_owned();
        options.play.speed = super::Speed::new(0.0, 0.0).expect("a speed");
        options.play.is_strict = true;
        options.keep_going = true;
    });
    let running = strict.start().await.ok()?;
    let played = Played {
        folder,
        running,
        client: client.clone(),
    };
    let mut client = Client {
        case,
        played: &played,
        said: Vec::new(),
        session: "one",
        sends_ids: false,
    };
    client.play(None).await;
    let n_failures = || played.running.verdict().n_failures;
    if n_failures() > 0 || client.said.len() < 3 {
        return None;
    }
    let others = client.other_pasts();
    let n_tried = others.len();
    let mut passed = Vec::new();
    for (_, name, list) in others {
        let before = n_failures();
        let body = client.body_of(case.endpoint, list);
        client.post(&body).await;
        if n_failures() == before {
            passed.push(format!(
                "{}: {:?} {name}",
                case.path.display(),
                case.endpoint
            ));
        }
    }
    Some((n_tried, passed))
}

#[tokio::test]
async fn another_past_than_the_conversation_had_fails_a_strict_run() {
    let client = client();
    let (mut n_cases, mut n_tried, mut wrong) = (0, 0, Vec::new());
    for case in cases().iter().filter(|case| case.is_remembered_whole()) {
        if let Some((tried, passed)) = passing(case, &client).await {
            n_cases += 1;
            n_tried += tried;
            wrong.extend(passed);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {n_tried} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        n_cases >= 40 && n_tried >= 800,
        "{n_cases} timelines, {n_tried} pasts"
    );
}
