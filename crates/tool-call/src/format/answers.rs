//! Reads `answers`: what servers are answered that ask something.

use super::expect::pattern;
use super::fields;
use super::read::later;
use super::reader::{Object, Reader};
use super::template::from_node;
use crate::model::{Answers, ElicitationAction, ElicitationAnswer, ExpectedTest, QuestionMatch};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};

/// Answers of one kind are at most this many.
const MAX_ANSWERS: usize = 1_000;

pub(super) fn answers(reader: &mut Reader<'_>, object: Object<'_>) -> Answers {
    let Some(node) = reader.get(object, "answers") else {
        return Answers::default();
    };
    if !matches!(node.kind, NodeKind::Object(_)) {
        let wanted = "an object of lists, such as `elicitation`";
        reader.wrong_type(node, "/answers", "`answers`", wanted);
        return Answers::default();
    }
    let below = Object {
        node,
        pointer: "/answers",
    };
    reader.unknown_keys(below, fields::ANSWERS, fields::LATER_ANSWERS, "`answers`");
    later(reader, below, fields::LATER_ANSWERS);
    Answers {
        elicitation: elicitation(reader, below),
    }
}

fn elicitation(reader: &mut Reader<'_>, object: Object<'_>) -> Vec<ElicitationAnswer> {
    let Some(node) = reader.get(object, "elicitation") else {
        return Vec::new();
    };
    let pointer = object.child_pointer("elicitation");
    let NodeKind::Array(items) = &node.kind else {
        reader.wrong_type(node, &pointer, "`elicitation`", "an array of answers");
        return Vec::new();
    };
    if items.len() > MAX_ANSWERS {
        let message = format!(
            "there are {} answers, more than the limit of {MAX_ANSWERS}",
            items.len()
        );
        reader.error(codes::ANSWER_INVALID, node.span, message);
        return Vec::new();
    }
    items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| answer(reader, item, &format!("{pointer}/{index}")))
        .collect()
}

fn answer(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<ElicitationAnswer> {
    const ACTIONS: &[(&str, ElicitationAction)] = &[
        ("accept", ElicitationAction::Accept),
        ("decline", ElicitationAction::Decline),
        ("cancel", ElicitationAction::Cancel),
    ];
    if !matches!(node.kind, NodeKind::Object(_)) {
        let wanted = "an object with `content` or `action`";
        reader.wrong_type(node, pointer, "an answer", wanted);
        return None;
    }
    let object = Object { node, pointer };
    reader.unknown_keys(object, fields::ELICITATION, &[], "this answer");
    let question = match reader.get(object, "match") {
        Some(node) => question(reader, node, &object.child_pointer("match"))?,
        None => QuestionMatch::default(),
    };
    let action = reader.one_of(object, "action", "`action`", ACTIONS);
    let content = reader.get(object, "content");
    if content.is_none() && reader.get(object, "action").is_none() {
        let message = "this answer has neither `content` nor `action`";
        let diagnostic = reader.error(codes::ANSWER_INVALID, node.span, message);
        diagnostic.pointer = Some(pointer.to_owned());
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
            let diagnostic = reader.error(codes::ANSWER_INVALID, content.span, message);
            diagnostic.pointer = Some(below);
            diagnostic.help = Some("remove `content`, or write \"action\": \"accept\"".to_owned());
            return None;
        }
    }
    Some(ElicitationAnswer {
        question,
        action,
        content: content.map(|content| from_node(reader, content, &below)),
        span: node.span,
    })
}

/// A text that the message contains, or an object of checks.
fn question(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<QuestionMatch> {
    match &node.kind {
        NodeKind::String(_) => {
            return Some(QuestionMatch {
                tests: vec![ExpectedTest::Contains(from_node(reader, node, pointer))],
                server: None,
            });
        }
        NodeKind::Object(_) => {}
        _ => {
            let wanted = "a string that the question contains, or an object of checks";
            reader.wrong_type(node, pointer, "`match`", wanted);
            return None;
        }
    }
    let object = Object { node, pointer };
    reader.unknown_keys(object, fields::MATCH, &[], "`match`");
    let server = reader.text(object, "server", "`server`");
    let mut tests = Vec::new();
    for member in node.members() {
        let below = object.child_pointer(&member.key);
        let is_text = matches!(member.value.kind, NodeKind::String(_));
        match member.key.as_str() {
            "contains" | "equals" if !is_text => {
                let what = format!("`{}`", member.key);
                reader.wrong_type(
                    &member.value,
                    &below,
                    &what,
                    "a string that the question contains",
                );
                return None;
            }
            "contains" => tests.push(ExpectedTest::Contains(from_node(
                reader,
                &member.value,
                &below,
            ))),
            "equals" => tests.push(ExpectedTest::Equals(from_node(
                reader,
                &member.value,
                &below,
            ))),
            "matches" => {
                tests.push(ExpectedTest::Matches(pattern(
                    reader,
                    &member.value,
                    &below,
                )?));
            }
            _ => {}
        }
    }
    if tests.is_empty() && object.get("server").is_none() {
        let message = "this `match` checks nothing";
        let diagnostic = reader.error(codes::ANSWER_INVALID, node.span, message);
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic.help = Some(
            "add one of contains, equals, matches, server, or omit `match` to match every question"
                .to_owned(),
        );
        return None;
    }
    Some(QuestionMatch {
        tests,
        server: server.map(|(text, _)| text.to_owned()),
    })
}
