//! Checks the parameters of built-in tools as far as they can be known before the run.

use super::reader::{Object, Reader};
use crate::model::{BuiltinTool, ParamKind, flag_of, number_of};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::Node;
use cuecard_source::value::{Json, pointer_steps};

pub(super) fn check(reader: &mut Reader<'_>, tool: BuiltinTool, object: Object<'_>) {
    let Json::Object(params) = object.node.to_value() else {
        return;
    };
    for mistake in tool.mistakes(&params, true) {
        let (mut node, mut span) = (object.node, object.node.span);
        for step in pointer_steps(&mistake.pointer) {
            let mut members = node.members().iter();
            if let Some(member) = members.find(|member| member.key == step) {
                node = &member.value;
                span = match mistake.is_name {
                    true => member.key_span,
                    false => node.span,
                };
            }
        }
        let pointer = format!("{}{}", object.pointer, mistake.pointer);
        let found = reader.error_at(mistake.code, span, &pointer, mistake.message);
        found.label = mistake.meant.map(|it| format!("did you mean `{it}`?"));
        found.help = mistake.help;
    }
    for member in object.node.members() {
        let mut known = tool.params().iter();
        let is_number = known.any(|it| it.name == member.key && it.kind == ParamKind::Number);
        // The shell tool's own timeout is in milliseconds, as its original's is.
        let seconds = number_of(&member.value.to_value());
        if let (true, Some(seconds)) = (is_number && tool != BuiltinTool::Bash, seconds) {
            maybe_milliseconds(reader, &member.key, &member.value, seconds);
        }
    }
    let is_background = params.get("run_in_background").and_then(flag_of);
    if let (Some(true), Some(node)) = (is_background, object.get("timeout")) {
        let message = "`timeout` has no effect with `run_in_background`";
        let found = reader.warning(codes::FIELD_VALUE, node.span, message);
        found.pointer = Some(object.child_pointer("timeout"));
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
