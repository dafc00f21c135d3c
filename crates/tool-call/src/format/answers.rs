//! Reads `answers`: what servers are answered that ask something.

use super::expect::pattern;
use super::fields;
use super::reader::{Object, Reader};
use super::template::from_node;
use crate::model::{
    AnswerEntry, AnswerPlace, ElicitationAction, ExpectedTest, QuestionKind, QuestionMatch, Reply,
    Template, TextPart,
};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};

/// Answers of one kind are at most this many.
const MAX_ANSWERS: usize = 1_000;

pub(super) fn answers(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<AnswerEntry> {
    let Some(node) = reader.get(object, "answers") else {
        return Vec::new();
    };
    if !matches!(node.kind, NodeKind::Object(_)) {
        let wanted = "an object of lists, such as `elicitation`";
        reader.wrong_type(node, "/answers", "`answers`", wanted);
        return Vec::new();
    }
    let below = Object {
        node,
        pointer: "/answers",
    };
    reader.unknown_keys(below, fields::ANSWERS, &[], "`answers`");
    let kinds = QuestionKind::ALL.into_iter();
    kinds
        .flat_map(|kind| match kind {
            QuestionKind::Roots => roots(reader, below).into_iter().collect(),
            _ => entries(reader, below, kind),
        })
        .collect()
}

/// The list of the answers of a kind.
fn list<'n>(
    reader: &mut Reader<'_>,
    object: Object<'n>,
    kind: QuestionKind,
) -> Option<(&'n Node, &'n [Node])> {
    let node = reader.get(object, kind.key())?;
    let pointer = object.child_pointer(kind.key());
    let NodeKind::Array(items) = &node.kind else {
        let what = format!("`{}`", kind.key());
        reader.wrong_type(node, &pointer, &what, "an array of answers");
        return None;
    };
    if items.len() > MAX_ANSWERS {
        let message = format!(
            "there are {} answers, more than the limit of {MAX_ANSWERS}",
            items.len()
        );
        reader.error(codes::ANSWER_INVALID, node.span, message);
        return None;
    }
    Some((node, items))
}

fn roots(reader: &mut Reader<'_>, object: Object<'_>) -> Option<AnswerEntry> {
    let kind = QuestionKind::Roots;
    let (node, items) = list(reader, object, kind)?;
    let root = |(idx, item): (usize, &Node)| {
        let pointer = format!("/answers/roots/{idx}");
        let mut members = Vec::new();
        match &item.kind {
            NodeKind::String(_) => members.push(("uri", text(reader, item, &pointer))),
            NodeKind::Object(_) => {
                let root = Object {
                    node: item,
                    pointer: &pointer,
                };
                reader.unknown_keys(root, fields::ROOT_FOLDER, &[], "this root");
                reader.required(root, "uri", "this root", "\"uri\": \"PATH\"")?;
                members.extend(texts(reader, root, &["uri", "name"]));
            }
            _ => reader.wrong_type(item, &pointer, "a root", "a path, or an object with `uri`"),
        }
        Some(object_of(members))
    };
    let roots = items.iter().enumerate().filter_map(root).collect();
    Some(AnswerEntry {
        place: AnswerPlace { kind, idx: 0 },
        question: QuestionMatch::default(),
        reply: Reply::Roots(Template::Array(roots)),
        span: node.span,
    })
}

fn entries(reader: &mut Reader<'_>, object: Object<'_>, kind: QuestionKind) -> Vec<AnswerEntry> {
    let Some((_, items)) = list(reader, object, kind) else {
        return Vec::new();
    };
    let (keys, wanted) = match kind {
        QuestionKind::Sampling => (fields::SAMPLING, "an object with `reply`"),
        _ => (fields::ELICITATION, "an object with `content` or `action`"),
    };
    let entry = |(idx, node): (usize, &Node)| {
        let place = AnswerPlace { kind, idx };
        let pointer = place.pointer();
        if !matches!(node.kind, NodeKind::Object(_)) {
            reader.wrong_type(node, &pointer, "an answer", wanted);
            return None;
        }
        let object = Object {
            node,
            pointer: &pointer,
        };
        reader.unknown_keys(object, keys, &[], "this answer");
        let question = match reader.get(object, "match") {
            Some(node) => question(reader, node, &object.child_pointer("match"), kind)?,
            None => QuestionMatch::default(),
        };
        let reply = match kind {
            QuestionKind::Sampling => Reply::Sampling(response(reader, object)?),
            _ => elicitation(reader, object)?,
        };
        Some(AnswerEntry {
            place,
            question,
            reply,
            span: node.span,
        })
    };
    items.iter().enumerate().filter_map(entry).collect()
}

/// The result of a sampling request that has this entry's `reply`.
fn response(reader: &mut Reader<'_>, object: Object<'_>) -> Option<Template> {
    let node = reader.required(object, "reply", "this answer", "\"reply\": \"…\"")?;
    let pointer = object.child_pointer("reply");
    let mut members = vec![("role", Template::Literal("assistant".into()))];
    match &node.kind {
        NodeKind::String(_) => members.push(("content", content(reader, node, &pointer)?)),
        NodeKind::Object(_) => {
            let reply = Object {
                node,
                pointer: &pointer,
            };
            reader.unknown_keys(reply, fields::REPLY, &[], "`reply`");
            let node = reader.required(reply, "content", "`reply`", "\"content\": \"…\"")?;
            let below = reply.child_pointer("content");
            members.push(("content", content(reader, node, &below)?));
            members.extend(texts(reader, reply, &["model", "stopReason"]));
        }
        _ => {
            let wanted = "a string, or an object with `content`";
            reader.wrong_type(node, &pointer, "`reply`", wanted);
            return None;
        }
    }
    for (key, default) in [("model", "mock"), ("stopReason", "endTurn")] {
        if members.iter().all(|(name, _)| *name != key) {
            members.push((key, Template::Literal(default.into())));
        }
    }
    Some(object_of(members))
}

/// Blocks of content as they are written; of a text its block.
fn content(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Template> {
    match &node.kind {
        NodeKind::String(_) => Some(object_of(vec![
            ("type", Template::Literal("text".into())),
            ("text", text(reader, node, pointer)),
        ])),
        NodeKind::Object(_) | NodeKind::Array(_) => Some(from_node(reader, node, pointer)),
        _ => {
            let wanted = "a string, a content block or an array of content blocks";
            reader.wrong_type(node, pointer, "`content`", wanted);
            None
        }
    }
}

/// The template of a string, which stays a string whatever it refers to.
fn text(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Template {
    match from_node(reader, node, pointer) {
        Template::Reference(placeholder) => Template::Text(vec![TextPart::Reference(*placeholder)]),
        template => template,
    }
}

/// Those of the keys that are there, each of which must be a string.
fn texts(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    keys: &[&'static str],
) -> Vec<(&'static str, Template)> {
    let member = |key: &&'static str| {
        let (_, node) = reader.text(object, key, &format!("`{key}`"))?;
        Some((*key, text(reader, node, &object.child_pointer(key))))
    };
    keys.iter().filter_map(member).collect()
}

fn object_of(members: Vec<(&str, Template)>) -> Template {
    let member = |(key, value): (&str, Template)| (Template::Literal(key.into()), value);
    Template::Object(members.into_iter().map(member).collect())
}

fn elicitation(reader: &mut Reader<'_>, object: Object<'_>) -> Option<Reply> {
    const ACTIONS: &[(&str, ElicitationAction)] = &[
        ("accept", ElicitationAction::Accept),
        ("decline", ElicitationAction::Decline),
        ("cancel", ElicitationAction::Cancel),
    ];
    let action = reader.one_of(object, "action", "`action`", ACTIONS);
    let content = reader.get(object, "content");
    if content.is_none() && reader.get(object, "action").is_none() {
        let message = "this answer has neither `content` nor `action`";
        let span = object.node.span;
        let diagnostic = reader.error_at(codes::ANSWER_INVALID, span, object.pointer, message);
        diagnostic.help = Some(
            "\"action\": \"accept\" sends the form's defaults, \"content\": { … } sends those values"
                .to_owned(),
        );
        return None;
    }
    let action = action.unwrap_or_default();
    let below = object.child_pointer("content");
    if let Some(content) = content {
        if !matches!(content.kind, NodeKind::Object(_)) {
            let wanted = "an object of the form's fields";
            reader.wrong_type(content, &below, "`content`", wanted);
            return None;
        }
        if action != ElicitationAction::Accept {
            let message = format!(
                "an answer with the action `{}` can't have content",
                action.as_str()
            );
            let diagnostic = reader.error_at(codes::ANSWER_INVALID, content.span, &below, message);
            diagnostic.help = Some("remove `content`, or write \"action\": \"accept\"".to_owned());
            return None;
        }
    }
    Some(Reply::Elicitation {
        action,
        content: content.map(|content| from_node(reader, content, &below)),
    })
}

/// A text that the message contains, or an object of checks.
fn question(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    kind: QuestionKind,
) -> Option<QuestionMatch> {
    let keys = match kind {
        QuestionKind::Sampling => fields::SAMPLING_MATCH,
        _ => fields::ELICITATION_MATCH,
    };
    let mut question = QuestionMatch::default();
    match &node.kind {
        NodeKind::String(_) => {
            let part = ExpectedTest::Contains(from_node(reader, node, pointer));
            question.tests.push(part);
            return Some(question);
        }
        NodeKind::Object(_) => {}
        _ => {
            let wanted = "a string that the question contains, or an object of checks";
            reader.wrong_type(node, pointer, "`match`", wanted);
            return None;
        }
    }
    let object = Object { node, pointer };
    reader.unknown_keys(object, keys, &[], "`match`");
    let server = reader.text(object, "server", "`server`");
    question.server = server.map(|(text, _)| text.to_owned());
    if kind == QuestionKind::Sampling {
        let model = reader.text(object, "model", "`model`");
        question.model = model.map(|(text, _)| text.to_owned());
    }
    for member in node.members() {
        let below = object.child_pointer(&member.key);
        let is_text = matches!(member.value.kind, NodeKind::String(_));
        let test = match member.key.as_str() {
            key @ ("contains" | "equals") if !is_text => {
                let what = format!("`{key}`");
                let wanted = "a string that the question contains";
                reader.wrong_type(&member.value, &below, &what, wanted);
                return None;
            }
            "contains" => ExpectedTest::Contains(from_node(reader, &member.value, &below)),
            "equals" => ExpectedTest::Equals(from_node(reader, &member.value, &below)),
            "matches" => ExpectedTest::Matches(pattern(reader, &member.value, &below)?),
            _ => continue,
        };
        question.tests.push(test);
    }
    let keys = fields::names(keys);
    if keys.iter().all(|key| object.get(key).is_none()) {
        let message = "this `match` checks nothing";
        let diagnostic = reader.error_at(codes::ANSWER_INVALID, node.span, pointer, message);
        diagnostic.help = Some(format!(
            "add one of {}, or omit `match` to match every question",
            keys.join(", ")
        ));
        return None;
    }
    Some(question)
}
