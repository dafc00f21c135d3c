//! What the user does, and the test executor in their place.

use super::content::blocks;
use super::entries::{INPUTS, entries};
use super::loader::{Loader, merged};
use super::pieces::invalid;
use super::settings::node_span;
use crate::model::{ApplyPatch, BlockKind, EventKind, UserCommand, UserInput, UserTarget};
use cuecard_source::checked;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::Json;

checked!(ApplyPatch, UserCommand);

const TARGETS: &[(&str, UserTarget)] = &[
    ("tui", UserTarget::Tui),
    ("webui", UserTarget::WebUi),
    ("cli", UserTarget::Cli),
];

/// `target` of an entry, an event or a wrapper.
pub(super) fn target(loader: &mut Loader<'_>, object: Object<'_>) -> Option<UserTarget> {
    loader.reader.one_of(object, "target", "`target`", TARGETS)
}

pub(super) fn inputs(
    loader: &mut Loader<'_>,
    body: &Node,
    pointer: &str,
    item: Object<'_>,
    inherited: Option<UserTarget>,
    meta: &Json,
) -> Option<EventKind> {
    let default = target(loader, item).or(inherited);
    let inputs = entries(loader, body, pointer, &INPUTS, |loader, timed| {
        let content = blocks(loader, timed.value, &timed.pointer);
        let (own, is_exact, expected, own_meta) = match timed.object {
            None => (None, false, Json::Null, Json::Null),
            Some((node, pointer)) => {
                let object = Object { node, pointer };
                (
                    target(loader, object),
                    loader.flag(object, "exact").unwrap_or(false),
                    prompt_response(loader, object),
                    loader.meta(object),
                )
            }
        };
        let (blocks, is_plain) = content?;
        let target = own.or(default);
        if is_plain
            && matches!(target, Some(UserTarget::Tui | UserTarget::Cli))
            && let Some(BlockKind::Text(text)) = blocks.first().map(|block| &block.kind)
        {
            super::keys::check(loader, timed.value, &timed.pointer, text);
        }
        Some(UserInput {
            when: timed.when,
            blocks,
            is_plain,
            target,
            is_exact,
            expected_response: expected,
            meta: merged(meta.clone(), own_meta),
            span: timed.span,
        })
    });
    if inputs.is_empty() {
        let is_empty = match &body.kind {
            NodeKind::Array(items) => items.is_empty(),
            NodeKind::Null => true,
            _ => false,
        };
        if is_empty {
            let message = "`userInputs` has no entries";
            loader.invalid(item.node.span, pointer, message);
        }
        return None;
    }
    Some(EventKind::UserInputs(inputs))
}

fn prompt_response(loader: &mut Loader<'_>, object: Object<'_>) -> Json {
    let node = loader.reader.get(object, "expectedResponse");
    let answer = node.and_then(|node| {
        let at = object.child_pointer("expectedResponse");
        super::acp::prompt_response(&mut loader.reader, node, &at)
    });
    answer.unwrap_or_default()
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
