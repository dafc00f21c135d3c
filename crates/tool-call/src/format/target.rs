//! Reads `target` and `targets`: which elements of a page a step is about.

use super::fields;
use super::reader::{Object, Reader};
use super::template::{from_string, way};
use crate::model::{
    ParamTarget, PathSegment, Target, TargetPlace, Template, ToolName, is_role, roles,
};
use cuecard_source::Span;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::value::{Json, cut};

/// What servers call the parameter that names an element of a page.
const ID_PARAMS: &[&str] = &["uid", "ref", "target"];

/// A step has at most this many targets.
const MOST_TARGETS: usize = 100;

const EXAMPLE: &str = "\"target\": { \"role\": \"button\", \"name\": \"Sign in\" }";

pub(super) fn target(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    tool: Option<&ToolName>,
) -> Option<Target> {
    let node = reader.get(object, "target")?;
    let pointer = object.child_pointer("target");
    if is_builtin(reader, node, &pointer, tool) {
        return None;
    }
    let params = object.get("params");
    if let Some(param) = params
        .into_iter()
        .flat_map(Node::members)
        .find(|member| ID_PARAMS.contains(&member.key.as_str()))
    {
        let pointer = format!("{}/{}", object.child_pointer("params"), param.key);
        named_twice(reader, &param.key, param.key_span, "target", pointer);
    }
    one(reader, node, &pointer, "`target`")
}

pub(super) fn targets(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    tool: Option<&ToolName>,
) -> Vec<ParamTarget> {
    let Some(node) = reader.get(object, "targets") else {
        return Vec::new();
    };
    let pointer = object.child_pointer("targets");
    let NodeKind::Object(members) = &node.kind else {
        reader.wrong_type(
            node,
            &pointer,
            "`targets`",
            "an object of parameters and their targets",
        );
        return Vec::new();
    };
    if is_builtin(reader, node, &pointer, tool) {
        return Vec::new();
    }
    if members.is_empty() || members.len() > MOST_TARGETS {
        let message = match members.len() {
            0 => "`targets` is empty".to_owned(),
            count => format!("a step has {count} targets, more than {MOST_TARGETS}"),
        };
        let diagnostic = reader.error(codes::TARGET_INVALID, node.span, message);
        diagnostic.pointer = Some(pointer);
        diagnostic.help = Some(
            "give each parameter its element: \"targets\": { \"elements[0].uid\": { \"role\": \"textbox\", \"name\": \"E-mail\" } }"
                .to_owned(),
        );
        return Vec::new();
    }
    let below = Object {
        node,
        pointer: &pointer,
    };
    members
        .iter()
        .filter_map(|member| {
            let pointer = below.child_pointer(&member.key);
            let path = param(reader, object, &member.key, member.key_span, &pointer);
            let what = format!("`targets.{}`", cut(&member.key, 60));
            let target = one(reader, &member.value, &pointer, &what);
            Some(ParamTarget {
                written: member.key.clone(),
                path: path?,
                target: target?,
            })
        })
        .collect()
}

/// Whether the tool is one of the built-in ones, which is reported: they know no pages.
fn is_builtin(
    reader: &mut Reader<'_>,
    node: &Node,
    pointer: &str,
    tool: Option<&ToolName>,
) -> bool {
    let Some(ToolName::Builtin(tool)) = tool else {
        return false;
    };
    let message = format!("{} does not act on an element of a page", tool.name());
    let diagnostic = reader.error(codes::TARGET_INVALID, node.span, message);
    diagnostic.pointer = Some(pointer.to_owned());
    diagnostic.help = Some("only tools of a browser's MCP server accept targets".to_owned());
    true
}

/// The way to the parameter that a target is for: it must lead to where a value can be put.
fn param(
    reader: &mut Reader<'_>,
    step: Object<'_>,
    written: &str,
    span: Span,
    pointer: &str,
) -> Option<Vec<PathSegment>> {
    let path = match way(written) {
        Ok(path) => path,
        Err(reason) => {
            let message = format!(
                "`{}` is not a valid parameter path: {reason}",
                cut(written, 60)
            );
            let diagnostic = reader.error(codes::TARGET_INVALID, span, message);
            diagnostic.pointer = Some(pointer.to_owned());
            diagnostic.help =
                Some("write a path such as \"elements[0].uid\" or \"to_uid\"".to_owned());
            return None;
        }
    };
    let (last, before) = path.split_last()?;
    let mut node = step.get("params")?;
    for (depth, segment) in before.iter().enumerate() {
        let next = match (segment, &node.kind) {
            // What a reference stands for is known only in the run.
            (_, NodeKind::String(text)) if text.contains("{{") => return Some(path),
            (PathSegment::Key(key), NodeKind::Object(_)) => node.get(key),
            (PathSegment::Index(index), NodeKind::Array(items)) => items.get(*index),
            (PathSegment::FromEnd(index), NodeKind::Array(items)) => {
                items.len().checked_sub(*index).map(|idx| &items[idx])
            }
            _ => None,
        };
        let Some(next) = next else {
            let message = format!(
                "`{}` matches no parameter: `params` has no `{}`",
                cut(written, 60),
                cut(&written_way(&before[..=depth]), 60)
            );
            let diagnostic = reader.error(codes::TARGET_INVALID, span, message);
            diagnostic.pointer = Some(pointer.to_owned());
            diagnostic.help = Some(
                "write the parameters as they are without the ids of elements: \"elements\": [{ \"value\": \"…\" }]"
                    .to_owned(),
            );
            return None;
        };
        node = next;
    }
    match (last, &node.kind) {
        (PathSegment::Key(key), NodeKind::Object(members)) => {
            if let Some(member) = members.iter().find(|member| member.key == *key) {
                named_twice(
                    reader,
                    written,
                    member.key_span,
                    "targets",
                    pointer.to_owned(),
                );
            }
            Some(path)
        }
        (_, NodeKind::String(text)) if text.contains("{{") => Some(path),
        _ => {
            let message = format!(
                "`{}` does not lead to a key of an object in `params`",
                cut(written, 60)
            );
            let diagnostic = reader.error(codes::TARGET_INVALID, span, message);
            diagnostic.pointer = Some(pointer.to_owned());
            None
        }
    }
}

/// A way as `targets` write it.
fn written_way(way: &[PathSegment]) -> String {
    let mut written = String::new();
    for segment in way {
        match segment {
            PathSegment::Key(key) if written.is_empty() => written.push_str(key),
            PathSegment::Key(key) => written.push_str(&format!(".{key}")),
            PathSegment::Index(index) => written.push_str(&format!("[{index}]")),
            PathSegment::FromEnd(index) => written.push_str(&format!("[-{index}]")),
        }
    }
    written
}

fn named_twice(reader: &mut Reader<'_>, param: &str, span: Span, by: &str, pointer: String) {
    let message = format!(
        "the element is given twice, by `{}` in `params` and by `{by}`",
        cut(param, 60)
    );
    let diagnostic = reader.error(codes::TARGET_INVALID, span, message);
    diagnostic.pointer = Some(pointer);
    diagnostic.help = Some(format!(
        "remove it from `params`: the target gives the call its `{}`",
        cut(param, 60)
    ));
}

/// One target.
fn one(reader: &mut Reader<'_>, node: &Node, pointer: &str, what: &str) -> Option<Target> {
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(
            node,
            pointer,
            what,
            "an object with `role`, `name`, `text` or `selector`",
        );
        return None;
    }
    let object = Object { node, pointer };
    let names = fields::names(fields::TARGET);
    let says_something = ["role", "name", "text", "selector"]
        .iter()
        .any(|name| reader.get(object, name).is_some());
    if !says_something {
        // A mistyped key is said with what it was meant to be, and not a second time.
        let meant = node.members().iter().find_map(|member| {
            let is_known = names.contains(&member.key.as_str());
            let name = did_you_mean(&member.key, names.iter().copied())?;
            (!is_known).then_some((member.key_span, name))
        });
        let message = match node.members().is_empty() || meant.is_some() {
            true => "this target does not identify an element",
            false => "this target says where the element is, but not what it is",
        };
        let diagnostic = reader.error(
            codes::TARGET_INVALID,
            meant.map_or(node.span, |(span, _)| span),
            message,
        );
        diagnostic.pointer = Some(pointer.to_owned());
        diagnostic.label = meant.map(|(_, name)| format!("did you mean `{name}`?"));
        diagnostic.help = Some(format!(
            "give the element's role and name, its text, or a CSS selector: {EXAMPLE}"
        ));
        return None;
    }
    reader.unknown_keys(object, fields::TARGET, &[], what);
    Some(Target {
        role: role(reader, object, "target"),
        name: part(reader, object, "target", "name"),
        text: part(reader, object, "target", "text"),
        within: within(reader, object),
        nth: nth(reader, object),
        selector: part(reader, object, "target", "selector"),
        span: node.span,
    })
}

pub(super) fn within(reader: &mut Reader<'_>, object: Object<'_>) -> Option<TargetPlace> {
    let node = reader.get(object, "within")?;
    let pointer = object.child_pointer("within");
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(
            node,
            &pointer,
            "`within`",
            "an object with `role`, `name` or `text`",
        );
        return None;
    }
    let below = Object {
        node,
        pointer: &pointer,
    };
    reader.unknown_keys(below, fields::PLACE, &[], "`within`");
    let place = TargetPlace {
        role: role(reader, below, "within"),
        name: part(reader, below, "within", "name"),
        text: part(reader, below, "within", "text"),
    };
    if ["role", "name", "text"]
        .iter()
        .all(|key| reader.get(below, key).is_none())
    {
        let diagnostic = reader.error(
            codes::TARGET_INVALID,
            node.span,
            "`within` does not identify a container",
        );
        diagnostic.pointer = Some(pointer.clone());
        diagnostic.help = Some(
            "give its role, its name, or both: \"within\": { \"role\": \"row\", \"name\": \"Invoice 1\" }"
                .to_owned(),
        );
    }
    Some(place)
}

fn nth(reader: &mut Reader<'_>, object: Object<'_>) -> Option<usize> {
    let node = reader.get(object, "nth")?;
    let number = node
        .as_u64()
        .and_then(|number| usize::try_from(number).ok())
        .filter(|number| *number > 0);
    if number.is_none() {
        let pointer = object.child_pointer("nth");
        reader.wrong_type(node, &pointer, "`nth`", "a positive integer");
        let is_zero = node.as_u64() == Some(0);
        if let Some(diagnostic) = reader.diagnostics.last_mut().filter(|_| is_zero) {
            diagnostic.help = Some("`nth` counts from 1".to_owned());
        }
    }
    number
}

/// A role: if it is known before the run, it must be one.
pub(super) fn role(reader: &mut Reader<'_>, object: Object<'_>, whose: &str) -> Option<Template> {
    let template = part(reader, object, whose, "role")?;
    if let (Template::Literal(Json::String(role)), Some(node)) = (&template, object.get("role"))
        && !is_role(role)
    {
        let proposal = did_you_mean(&role.to_lowercase(), roles().iter().copied());
        let message = format!("unknown role `{}`", cut(role, 40));
        let diagnostic = reader.error(codes::TARGET_INVALID, node.span, message);
        diagnostic.pointer = Some(object.child_pointer("role"));
        diagnostic.label = proposal.map(|role| format!("did you mean `{role}`?"));
        diagnostic.help = Some(
            "use an ARIA role, such as button, link, textbox, checkbox, combobox, heading, row"
                .to_owned(),
        );
    }
    Some(template)
}

pub(super) fn part(
    reader: &mut Reader<'_>,
    object: Object<'_>,
    whose: &str,
    key: &str,
) -> Option<Template> {
    let what = format!("`{whose}.{key}`");
    let (text, node) = reader.text(object, key, &what)?;
    let pointer = object.child_pointer(key);
    if text.trim().is_empty() {
        let diagnostic = reader.error(codes::TARGET_INVALID, node.span, format!("{what} is empty"));
        diagnostic.pointer = Some(pointer);
        return None;
    }
    Some(from_string(reader, text, node.span, &pointer))
}
