//! What the user does, and the test executor in their place.

use super::pieces::{child, invalid, item_pointer, merged};
use super::settings::node_span;
use crate::model::keys::{KEYS, read_keys, without_modifiers};
use crate::model::{ApplyPatch, UserCommand, UserInput, UserTarget};
use cuecard_source::checked;
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::Node;
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::{Json, cut};

checked!(ApplyPatch, UserCommand);

/// Gives inputs what stands beside all of them, and looks at keys that are typed.
pub(super) fn finish_inputs(
    reader: &mut Reader<'_>,
    inputs: &mut [UserInput],
    body: Object<'_>,
    target: Option<UserTarget>,
    meta: &Json,
) {
    let items = body.node.as_array().unwrap_or_default();
    if items.is_empty() {
        let message = "`userInputs` has no entries";
        invalid(reader, body.node.span, body.pointer, message);
    }
    for input in inputs {
        input.target = input.target.or(target);
        input.meta = merged(meta.clone(), std::mem::take(&mut input.meta));
        let is_typed = matches!(input.target, Some(UserTarget::Tui | UserTarget::Cli));
        let idx = items.iter().position(|item| item.span == input.span);
        if let (true, Some(idx)) = (is_typed && input.is_plain, idx) {
            let item = &items[idx];
            let at = item_pointer(reader, item, body.pointer, idx);
            let (text, key) = match item.as_array() {
                Some(pair) => (pair.get(1), "1"),
                None => (item.get("input"), "input"),
            };
            if let Some((node, text)) = text.and_then(|node| Some((node, node.as_str()?))) {
                check_keys(reader, node, &child(&at, key), text);
            }
        }
    }
}

/// Reports each token of a text that names no key.
fn check_keys(reader: &mut Reader<'_>, node: &Node, pointer: &str, text: &str) {
    for token in read_keys(text).err().unwrap_or_default() {
        let written = &text[token.clone()];
        let name = written.trim_start_matches('<').trim_end_matches('>');
        let (_, key) = without_modifiers(name);
        let problem = match written.ends_with('>') {
            true => "unknown",
            false => "unterminated",
        };
        let message = format!("{problem} key `{}`", cut(written, 40));
        let span = reader.part(node, token);
        let found = reader.error_at(codes::TIMELINE_KEY_TOKEN, span, pointer, message);
        let near = did_you_mean(key, KEYS.iter().map(|(name, _)| *name));
        found.label = near.map(|name| format!("did you mean `<{name}>`?"));
        found.help = Some("write `<<` for the character `<`".to_owned());
    }
}

impl ApplyPatch {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        if let (false, Some(node)) = (self.is_committed, reader.get(object, "message")) {
            let message = "`message` requires `commit: true`";
            let at = object.child_pointer("message");
            reader.warning_at(codes::TIMELINE_UNKNOWN, node.span, &at, message);
        }
    }
}

impl UserCommand {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        let has = |reader: &Reader<'_>, key: &str| reader.get(object, key).is_some();
        let has_cmd = has(reader, "cmd");
        let first = ["program", "args", "env", "expect"]
            .into_iter()
            .find(|key| has(reader, key));
        if has_cmd && (has(reader, "program") || has(reader, "args")) {
            let message = "`userCommand` has both a shell line and a program";
            invalid(reader, object.node.span, object.pointer, message).help =
                Some("keep `cmd`, or `program` and `args`".to_owned());
        } else if let Some(key) = first {
            let message = format!("`{key}` is not part of the first version of the format");
            let span = node_span(object, key);
            let at = object.child_pointer(key);
            reader
                .warning_at(codes::TIMELINE_TOOL_ALIAS, span, &at, message)
                .help = Some("write `cmd: …`, and an `assert` for what must come of it".to_owned());
        } else if !has_cmd {
            reader.required(object, "cmd", "`userCommand`", "cmd: \"…\"");
        }
    }
}
