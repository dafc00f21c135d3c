//! Checks the parameters of built-in tools as far as they can be known before the run.

use super::reader::{Object, Reader};
use crate::model::{BuiltinTool, ParamKind, ParamSpec, is_variable_name};
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::value::{cut, push_pointer};

pub(super) fn check(reader: &mut Reader<'_>, tool: BuiltinTool, object: Object<'_>) {
    let mut mistyped: Vec<&str> = Vec::new();
    for member in object.node.members() {
        if member.key.contains("{{") {
            continue;
        }
        let pointer = object.child_pointer(&member.key);
        match tool.params().iter().find(|param| param.name == member.key) {
            Some(param) => kind(reader, tool, param, &member.value, &pointer),
            None => {
                let names: Vec<&str> = tool.params().iter().map(|param| param.name).collect();
                let proposal = did_you_mean(&member.key, names.iter().copied());
                mistyped.extend(proposal);
                let diagnostic = reader.error(
                    codes::PARAM_UNKNOWN,
                    member.key_span,
                    format!("{} has no parameter `{}`", tool.name(), member.key),
                );
                diagnostic.pointer = Some(pointer);
                diagnostic.label = proposal.map(|name| format!("did you mean `{name}`?"));
                diagnostic
                    .notes
                    .push(format!("its parameters are: {}", names.join(", ")));
            }
        }
    }
    let has_computed_keys = object
        .node
        .members()
        .iter()
        .any(|member| member.key.contains("{{"));
    if has_computed_keys {
        return;
    }
    for param in tool.params().iter().filter(|param| param.required) {
        // A mistyped name was reported with the right one.
        if object.get(param.name).is_none() && !mistyped.contains(&param.name) {
            missing(
                reader,
                object,
                format!("{} needs `{}` ({})", tool.name(), param.name, param.meaning),
            );
        }
    }
    if let Some(names @ [name, _]) = tool.needs_one_of()
        && names
            .iter()
            .all(|name| object.get(name).is_none() && !mistyped.contains(name))
    {
        let meaning = tool.params().iter().find(|param| param.name == name);
        let meaning = meaning.map_or("", |param| param.meaning);
        missing(
            reader,
            object,
            format!("{} needs `{name}` ({meaning})", tool.name()),
        );
    }
    match tool {
        BuiltinTool::Bash => background(reader, tool, object),
        BuiltinTool::NotebookEdit => notebook(reader, tool, object, &mistyped),
        _ => {}
    }
}

/// A command in the background has no exit code yet when its step passes.
fn background(reader: &mut Reader<'_>, tool: BuiltinTool, object: Object<'_>) {
    let is_background = object.get("run_in_background").is_some_and(|node| {
        matches!(node.kind, NodeKind::Bool(true)) || node.as_str() == Some("true")
    });
    if let (true, Some(node)) = (is_background, object.get("timeout")) {
        let message = "`timeout` has no effect with `run_in_background`";
        let diagnostic = reader.warning(codes::FIELD_VALUE, node.span, message);
        diagnostic.pointer = Some(object.child_pointer("timeout"));
    }
    if let (true, Some(node)) = (is_background, object.get("expect_exit")) {
        let message = format!(
            "{}: `expect_exit` can't be checked with `run_in_background`",
            tool.name()
        );
        let diagnostic = reader.error(codes::FIELD_VALUE, node.span, message);
        diagnostic.pointer = Some(object.child_pointer("expect_exit"));
        diagnostic.help =
            Some("remove it, and read `exit_code` with claude__bash_output".to_owned());
    }
}

/// The names are the author's; the values can be anything that is text.
fn environment(reader: &mut Reader<'_>, node: &Node, pointer: &str) {
    if !matches!(node.kind, NodeKind::Object(_)) {
        reader.wrong_type(node, pointer, "`env`", "an object");
        return;
    }
    for member in node.members() {
        if !is_variable_name(&member.key) {
            let message = format!(
                "`{}` is not a valid name of a variable",
                cut(&member.key, 100)
            );
            let diagnostic = reader.error(codes::PARAM_TYPE, member.key_span, message);
            let mut place = pointer.to_owned();
            push_pointer(&mut place, &member.key);
            diagnostic.pointer = Some(place);
            diagnostic.help =
                Some("use letters, digits and `_`; references can stand in the value".to_owned());
        }
    }
}

fn notebook(reader: &mut Reader<'_>, tool: BuiltinTool, object: Object<'_>, mistyped: &[&str]) {
    let mode = object
        .get("edit_mode")
        .map_or("replace", |node| node.as_str().unwrap_or_default());
    let default = match object.get("edit_mode") {
        Some(_) => "",
        None => " (the default)",
    };
    let required: &[&str] = match mode {
        "replace" => &["cell_id", "new_source"],
        "insert" => &["cell_type", "new_source"],
        "delete" => &["cell_id"],
        _ => &[],
    };
    for name in required {
        if object.get(name).is_none() && !mistyped.contains(name) {
            let message = format!(
                "{}: `edit_mode` \"{mode}\"{default} needs `{name}`",
                tool.name()
            );
            missing(reader, object, message);
        }
    }
}

fn missing(reader: &mut Reader<'_>, object: Object<'_>, message: String) {
    let span = object.node.span;
    let diagnostic = reader.error(codes::PARAM_MISSING, span, message);
    diagnostic.pointer = Some(object.pointer.to_owned());
}

fn kind(reader: &mut Reader<'_>, tool: BuiltinTool, param: &ParamSpec, node: &Node, pointer: &str) {
    let text = match &node.kind {
        NodeKind::String(text) if text.contains("{{") && param.kind != ParamKind::Environment => {
            return;
        }
        NodeKind::String(text) => Some(text.as_str()),
        _ => None,
    };
    let number = node
        .to_value()
        .as_f64()
        .or_else(|| text.and_then(|text| text.trim().parse().ok()));
    let wanted = match param.kind {
        ParamKind::Any => return,
        ParamKind::Environment => return environment(reader, node, pointer),
        ParamKind::Text => match node.kind {
            NodeKind::String(_) | NodeKind::Number(_) | NodeKind::Bool(_) => return,
            _ => "a string",
        },
        ParamKind::Content => match node.kind {
            NodeKind::Null => "a string",
            _ => return,
        },
        ParamKind::Number => match number {
            Some(number) if number >= 0.0 => {
                very_long(reader, tool, param, node, number);
                return;
            }
            _ => "a non-negative number",
        },
        ParamKind::Count => match number {
            Some(number) if number >= 0.0 && number.fract() == 0.0 => return,
            _ => "a non-negative integer",
        },
        ParamKind::Flag => match &node.kind {
            NodeKind::Bool(_) => return,
            NodeKind::String(text) if text == "true" || text == "false" => return,
            _ => "true or false",
        },
        ParamKind::OneOf(words) => match text {
            Some(text) if words.contains(&text) => return,
            Some(text) => {
                let proposal = did_you_mean(text, words.iter().copied());
                let diagnostic = reader.error(
                    codes::PARAM_TYPE,
                    node.span,
                    format!(
                        "`{}` of {} must be one of {}, not `{}`",
                        param.name,
                        tool.name(),
                        words.join(", "),
                        cut(text, 40)
                    ),
                );
                diagnostic.pointer = Some(pointer.to_owned());
                diagnostic.label = proposal.map(|word| format!("did you mean `{word}`?"));
                return;
            }
            None => "a string",
        },
    };
    let found = super::reader::found(node);
    let diagnostic = reader.error(
        codes::PARAM_TYPE,
        node.span,
        format!(
            "`{}` of {} must be {wanted}, not {found}",
            param.name,
            tool.name()
        ),
    );
    diagnostic.pointer = Some(pointer.to_owned());
}

fn very_long(
    reader: &mut Reader<'_>,
    tool: BuiltinTool,
    param: &ParamSpec,
    node: &Node,
    seconds: f64,
) {
    // The shell tool's own timeout is in milliseconds, as its original's is.
    if tool != BuiltinTool::Bash {
        maybe_milliseconds(reader, param.name, node, seconds);
    }
}

/// Warns about a time in seconds that was probably meant in milliseconds.
pub(super) fn maybe_milliseconds(reader: &mut Reader<'_>, what: &str, node: &Node, seconds: f64) {
    if seconds > 3600.0 {
        let diagnostic = reader.warning(
            codes::TIME_MILLISECONDS,
            node.span,
            format!("`{what}` is {seconds} seconds, which is more than an hour: did you mean milliseconds?"),
        );
        diagnostic.help = Some(format!(
            "`{what}` is in seconds: write {} if you meant milliseconds",
            seconds / 1000.0
        ));
    }
}
