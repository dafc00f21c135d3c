//! What the user does, and the test executor in their place.

use super::loader::{Loader, child, merged};
use super::pieces::invalid;
use super::settings::node_span;
use crate::model::{ApplyPatch, UserCommand, UserInput, UserTarget};
use cuecard_source::checked;
use cuecard_source::diagnostic::codes;
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::Json;

checked!(ApplyPatch, UserCommand);

/// `target` of an event or a wrapper.
pub(super) fn target(loader: &mut Loader<'_>, object: Object<'_>) -> Option<UserTarget> {
    let node = loader.reader.get(object, "target")?;
    loader.decode(node, &object.child_pointer("target"), "`target`")
}

/// Gives inputs what stands beside all of them, and looks at keys that are typed.
pub(super) fn finish_inputs(
    loader: &mut Loader<'_>,
    inputs: &mut [UserInput],
    body: Object<'_>,
    target: Option<UserTarget>,
    meta: &Json,
) {
    let items = body.node.as_array().unwrap_or_default();
    if items.is_empty() {
        loader.invalid(body.node.span, body.pointer, "`userInputs` has no entries");
    }
    for input in inputs {
        input.target = input.target.or(target);
        input.meta = merged(meta.clone(), std::mem::take(&mut input.meta));
        let is_typed = matches!(input.target, Some(UserTarget::Tui | UserTarget::Cli));
        let idx = items.iter().position(|item| item.span == input.span);
        if let (true, Some(idx)) = (is_typed && input.is_plain, idx) {
            let item = &items[idx];
            let at = loader.item_pointer(item, body.pointer, idx);
            let (text, key) = match item.as_array() {
                Some(pair) => (pair.get(1), "1"),
                None => (item.get("input"), "input"),
            };
            if let Some((node, text)) = text.and_then(|node| Some((node, node.as_str()?))) {
                super::keys::check(loader, node, &child(&at, key), text);
            }
        }
    }
}

impl ApplyPatch {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        if let (false, Some(node)) = (self.is_committed, reader.get(object, "message")) {
            let message = "`message` requires `commit: true`";
            let found = reader.warning(codes::TIMELINE_UNKNOWN, node.span, message);
            found.pointer = Some(object.child_pointer("message"));
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
            let found = reader.warning(codes::TIMELINE_TOOL_ALIAS, span, message);
            found.pointer = Some(object.child_pointer(key));
            found.help =
                Some("write `cmd: …`, and an `assert` for what must come of it".to_owned());
        } else if !has_cmd {
            reader.required(object, "cmd", "`userCommand`", "cmd: \"…\"");
        }
    }
}
