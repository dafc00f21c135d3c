//! What tells conversations apart that begin with the same words: the `match` of their scenarios.

use std::sync::Arc;

use serde_json::{Map, json};
use serde_json_path::JsonPath;

use super::super::request::Request;
use super::super::request_key::says_how_to_answer;
use cuecard_source::value::{Json, Redactor};

/// A longer text is told apart by a part of it, in characters.
const SHORT: usize = 200;
/// So long a part, where no line does it, in characters.
const PART: usize = 80;
/// Members of bodies that hold the conversation.
const CONVERSATIONS: &[&str] = &["messages", "input", "contents"];

/// What all requests of a conversation have in common, or should: the request without what was said in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    model: String,
    system: String,
    /// The body as far as the first answer.
    body: Arc<Json>,
}

impl Frame {
    /// The frame of a request; none if its body isn't known.
    pub(super) fn of(request: &Request) -> Option<Self> {
        let mut body = Json::clone(request.body.as_deref()?);
        let members = body.as_object_mut()?;
        members.retain(|name, _| !says_how_to_answer(name));
        for name in CONVERSATIONS {
            if let Some(Json::Array(items)) = members.get_mut(*name) {
                let is_said = |item: &Json| match item["role"].as_str() {
                    Some(role) => matches!(role, "assistant" | "model"),
                    None => item["type"].is_string(),
                };
                let end = items.iter().position(is_said).unwrap_or(items.len());
                items.truncate(end);
            }
        }
        Some(Self {
            model: request.model.clone(),
            system: request.system.clone(),
            body: Arc::new(body),
        })
    }
}

/// A part of requests that a `match` may be about.
#[derive(Debug, Clone, PartialEq)]
enum Aspect {
    Model,
    System,
    /// A JSONPath.
    Body(String),
}

impl Aspect {
    fn value(&self, frame: &Frame) -> Json {
        match self {
            Self::Model => frame.model.as_str().into(),
            Self::System => frame.system.as_str().into(),
            Self::Body(path) => {
                let path = JsonPath::parse(path).ok();
                let found = path.and_then(|path| path.query(&frame.body).first().cloned());
                // A value that is there and says nothing more.
                found.map_or(Json::Null, |found| match found {
                    Json::Object(_) | Json::Array(_) => Json::Array(Vec::new()),
                    found => json!([found]),
                })
            }
        }
    }

    /// Whether it is one thing in all requests of each conversation, and another one in the other.
    fn separates(&self, one: &[Frame], other: &[Frame]) -> bool {
        let constant = |frames: &[Frame]| {
            let mut values = frames.iter().map(|frame| self.value(frame));
            let first = values.next()?;
            values.all(|value| value == first).then_some(first)
        };
        let values = constant(one).zip(constant(other));
        values.is_some_and(|(one, other)| one != other)
    }
}

/// Whether conversations with these frames can be told apart.
pub(super) fn are_different(one: &[Frame], other: &[Frame]) -> bool {
    difference(one, other, &Redactor::default()).is_some()
}

/// The first aspect that tells two conversations apart, and can be written.
fn difference(one: &[Frame], other: &[Frame], redactor: &Redactor) -> Option<Aspect> {
    let (first, second) = (one.first()?, other.first()?);
    let mut paths = Vec::new();
    differences(&first.body, &second.body, "$", &mut paths);
    let bodies = paths.into_iter().map(Aspect::Body);
    let mut aspects = [Aspect::Model, Aspect::System].into_iter().chain(bodies);
    let is_open = |aspect: &Aspect| {
        let values = [first, second].map(|frame| aspect.value(frame).to_string());
        values.iter().all(|value| !redactor.finds(value))
    };
    aspects.find(|aspect| aspect.separates(one, other) && is_open(aspect))
}

/// The JSONPaths of what is different, the outermost that are enough.
fn differences(one: &Json, other: &Json, path: &str, found: &mut Vec<String>) {
    let is_conversation = CONVERSATIONS.iter().any(|name| path == format!("$.{name}"));
    match (one, other) {
        (Json::Object(own), Json::Object(others)) => {
            let names = own
                .keys()
                .chain(others.keys().filter(|name| !own.contains_key(*name)));
            for name in names.filter(|name| *name != "cache_control") {
                let is_plain = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
                let starts = name.starts_with(|sign: char| !sign.is_ascii_digit());
                let path = match starts && name.chars().all(is_plain) {
                    true => format!("{path}.{name}"),
                    false => format!("{path}[{}]", json!(name)),
                };
                match (own.get(name), others.get(name)) {
                    (Some(one), Some(other)) => differences(one, other, &path, found),
                    _ => found.push(path),
                }
            }
        }
        (Json::Array(own), Json::Array(others)) => {
            for (idx, (one, other)) in own.iter().zip(others).enumerate() {
                differences(one, other, &format!("{path}[{idx}]"), found);
            }
            // There is more of a conversation later.
            if own.len() != others.len() && !is_conversation {
                found.push(format!("{path}[{}]", own.len().min(others.len())));
            }
        }
        (one, other) if one == other => {}
        // Else what holds of one holds of the other, too.
        (Json::Object(_) | Json::Array(_), _) | (_, Json::Object(_) | Json::Array(_)) => {
            found.push(format!("{path}[*]"));
        }
        _ => found.push(path.to_owned()),
    }
}

/// The `match` of each of these conversations, so that no two of them fit one request. Secrets are no conditions.
pub(super) fn conditions(group: &[&[Frame]], redactor: &Redactor) -> Vec<Map<String, Json>> {
    let mut aspects: Vec<Aspect> = Vec::new();
    for (idx, one) in group.iter().enumerate() {
        for other in &group[..idx] {
            if !aspects.iter().any(|aspect| aspect.separates(one, other)) {
                aspects.extend(difference(one, other, redactor));
            }
        }
    }
    let condition = |own: &&[Frame]| {
        let mut condition = Map::new();
        let mut checks = Vec::new();
        for aspect in &aspects {
            let values = group.iter().filter_map(|frames| frames.first());
            let values: Vec<Json> = values.map(|frame| aspect.value(frame)).collect();
            let Some(value) = own.first().map(|frame| aspect.value(frame)) else {
                continue;
            };
            // What is not the same in all of its requests is no condition.
            if own.iter().any(|frame| aspect.value(frame) != value) {
                continue;
            }
            match (aspect, &value) {
                (Aspect::Model, _) => {
                    condition.insert("model".to_owned(), value);
                }
                (Aspect::System, Json::String(text)) => {
                    let others = values.iter().filter_map(Json::as_str);
                    condition.insert("system".to_owned(), text_test(text, others));
                }
                (Aspect::System, _) => {}
                (Aspect::Body(path), Json::Array(found)) => {
                    let mut check = match found.first() {
                        None => json!({"exists": true}),
                        Some(Json::String(text)) => {
                            text_test(text, values.iter().filter_map(|value| value[0].as_str()))
                        }
                        Some(leaf) => json!({ "equals": leaf }),
                    };
                    check["path"] = path.as_str().into();
                    checks.push(check);
                }
                (Aspect::Body(path), _) => checks.push(json!({"path": path, "exists": false})),
            }
        }
        if !checks.is_empty() {
            condition.insert("json".to_owned(), Json::Array(checks));
        }
        condition
    };
    group.iter().map(condition).collect()
}

/// A condition that holds of `text` and of none of the others: all of it if it is short, else a line or a part that only
/// it has, best one without numbers and paths, which may be others in the next run.
fn text_test<'t>(text: &str, others: impl Iterator<Item = &'t str>) -> Json {
    let others: Vec<&str> = others.filter(|other| *other != text).collect();
    let is_own =
        |part: &&str| !part.trim().is_empty() && !others.iter().any(|it| it.contains(part));
    let is_short = |part: &&str| part.chars().count() <= SHORT;
    if is_short(&text) && !text.contains('\n') {
        return json!({ "equals": text });
    }
    let lines = || text.lines().map(str::trim).filter(is_short).filter(is_own);
    let is_steady = |line: &&str| !line.contains(|sign: char| sign.is_ascii_digit() || sign == '/');
    let n_common = |other: &&str| {
        let same = text.chars().zip(other.chars());
        same.take_while(|(one, other)| one == other).count()
    };
    let from = others.iter().map(n_common).max().unwrap_or(0);
    let part: String = text.chars().skip(from).take(PART).collect();
    let found = lines().find(is_steady).or_else(|| lines().next());
    match found.or(Some(part.as_str()).filter(is_own)) {
        Some(part) => json!({ "contains": part }),
        None => json!({ "equals": text }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_long_text_tells_it_apart() {
        let long = |name: &str| {
            format!(
                "You are an agent.\nToday is 2026-11-2{}.\nYou {name}.\n",
                name.len()
            )
        };
        let (plan, write) = (long("plan"), long("write"));
        let both = || [plan.as_str(), write.as_str()].into_iter();
        assert_eq!(text_test(&plan, both()), json!({"contains": "You plan."}));
        let (one, other) = ("A".repeat(500) + "x", "A".repeat(500));
        let both = || [one.as_str(), other.as_str()].into_iter();
        assert_eq!(text_test(&one, both()), json!({"contains": "x"}));
        assert_eq!(text_test(&other, both()), json!({ "equals": other }));
        assert_eq!(text_test("a", ["ab"].into_iter()), json!({"equals": "a"}));
    }

    #[test]
    fn a_secret_is_no_condition() {
        let frame = |token: &str, n: u64| Frame {
            model: "m".to_owned(),
            system: String::new(),
            body: Arc::new(json!({"a": {"token": token}, "n": n})),
        };
        let (one, other) = ([frame("s3cret-one", 1)], [frame("s3cret-two", 2)]);
        let redactor = Redactor::new(["s3cret-one".to_owned()]);
        let found = conditions(&[&one, &other], &redactor);
        let expected = [1, 2].map(|n| json!({"json": [{"path": "$.n", "equals": n}]}));
        assert_eq!(
            found.into_iter().map(Json::Object).collect::<Vec<_>>(),
            expected
        );
    }
}
