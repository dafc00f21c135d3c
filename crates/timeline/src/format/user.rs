//! What the user does, and the test executor in their place.

use std::path::PathBuf;

use super::acp;
use super::content::blocks;
use super::entries::{INPUTS, entries};
use super::fields;
use super::loader::{Loader, merged};
use crate::model::{
    ApplyPatch, BlockKind, CommandExpectation, EventKind, IncludePurpose, UserCommand, UserInput,
    UserTarget,
};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::Object;
use cuecard_source::value::Json;

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
                    acp::prompt_response(loader, object, "expectedResponse"),
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

/// `at`, beside the event or inside of it.
fn at(loader: &mut Loader<'_>, body: Option<Object<'_>>, item: Object<'_>) -> Option<u64> {
    let inside = body.and_then(|body| loader.time_of(body, "at"));
    let beside = loader.time_of(item, "at");
    inside.or(beside)
}

/// The path of a patch.
fn patch(loader: &mut Loader<'_>, object: Object<'_>, key: &str, whose: &str) -> Option<PathBuf> {
    let example = format!("{key}: patches/change.patch");
    let node = loader.reader.required(object, key, whose, &example)?;
    let pointer = object.child_pointer(key);
    let text = loader.reader.text_of(node, &pointer, &format!("`{key}`"))?;
    loader.include(text, node.span, &pointer, IncludePurpose::Patch)
}

pub(super) fn apply_patch(
    loader: &mut Loader<'_>,
    body: &Node,
    pointer: &str,
    item: Object<'_>,
) -> Option<EventKind> {
    let body = loader.mapping(body, pointer, "`applyPatch`", fields::APPLY_PATCH, &[])?;
    let object = Object {
        node: &body,
        pointer,
    };
    let at_ms = at(loader, Some(object), item);
    let message = loader.text(object, "message");
    let commit = loader.flag(object, "commit").unwrap_or(false);
    let path = patch(loader, object, "path", "`applyPatch`");
    if let (false, Some(node)) = (commit, object.get("message").filter(|node| !node.is_null())) {
        let at = object.child_pointer("message");
        let message = "`message` requires `commit: true`";
        loader.warning(codes::TIMELINE_UNKNOWN, node.span, &at, message);
    }
    let path = path?;
    let default = || {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        format!("Apply {}", name.unwrap_or_default())
    };
    Some(EventKind::ApplyPatch(ApplyPatch {
        commit: commit.then(|| message.unwrap_or_else(default)),
        path,
        at_ms,
    }))
}

pub(super) fn command(
    loader: &mut Loader<'_>,
    body: &Node,
    pointer: &str,
    item: Object<'_>,
) -> Option<EventKind> {
    let body = loader.mapping(body, pointer, "`userCommand`", fields::USER_COMMAND, &[])?;
    let object = Object {
        node: &body,
        pointer,
    };
    let at_ms = at(loader, Some(object), item);
    let shell_line = loader.filled(object, "cmd");
    let program = loader.filled(object, "program");
    let args = loader.texts(object, "args");
    let env = loader.pairs(object, "env");
    let cwd = loader.reader.get(object, "cwd").and_then(|node| {
        let at = object.child_pointer("cwd");
        let text = loader.reader.text_of(node, &at, "`cwd`")?;
        loader.inner_path(text, node.span, &at, "the workspace")
    });
    let expect = command_expect(loader, object);
    let of_program: Vec<&str> = ["program", "args", "env", "expect"]
        .into_iter()
        .filter(|key| object.get(key).is_some())
        .collect();
    let has_cmd = object.get("cmd").is_some_and(|node| !node.is_null());
    match (has_cmd, of_program.as_slice()) {
        (true, keys) if keys.iter().any(|key| ["program", "args"].contains(key)) => {
            let message = "`userCommand` has both a shell line and a program";
            loader
                .error(codes::TIMELINE_SHAPE, body.span, pointer, message)
                .help = Some("keep `cmd`, or `program` and `args`".to_owned());
            return None;
        }
        (false, []) => {
            loader
                .reader
                .required(object, "cmd", "`userCommand`", "cmd: \"…\"");
            return None;
        }
        (_, []) => {}
        (_, [first, ..]) => loader.legacy(
            codes::TIMELINE_TOOL_ALIAS,
            object.get(first).map_or(body.span, |node| node.span),
            &object.child_pointer(first),
            format!("`{first}` is not part of the first version of the format"),
            "write `cmd: …`, and an `assert` for what must come of it",
        ),
    }
    if has_cmd && shell_line.is_none() {
        return None;
    }
    Some(EventKind::UserCommand(UserCommand {
        shell_line,
        program,
        args,
        env,
        cwd,
        expect,
        at_ms,
    }))
}

/// `expect` of a command, with its keys looked at.
fn command_expect(loader: &mut Loader<'_>, object: Object<'_>) -> Option<CommandExpectation> {
    let node = loader.reader.get(object, "expect")?;
    let pointer = object.child_pointer("expect");
    let aliases = [super::loader::alias("exit_code", "exitCode")];
    let what = "`expect` of a command";
    let node = loader.mapping(node, &pointer, what, fields::COMMAND_EXPECT, &aliases)?;
    let inner = Object {
        node: &node,
        pointer: &pointer,
    };
    let exit_code = loader.integer(inner, "exitCode");
    let [stdout, stderr] = ["stdoutContains", "stderrContains"].map(|key| {
        let items = loader.one_or_more(inner, key);
        let texts = loader.texts_of(items, &format!("`{key}`"));
        if let Some(node) = inner.get(key)
            && texts.iter().any(String::is_empty)
        {
            let message = format!("an entry of `{key}` is empty");
            loader.invalid(node.span, &inner.child_pointer(key), message);
        }
        texts
    });
    let files = match loader.reader.get(inner, "fs") {
        Some(fs) => super::asserts::fs(loader, fs, &inner.child_pointer("fs")),
        None => Vec::new(),
    };
    Some(CommandExpectation {
        exit_code,
        stdout,
        stderr,
        files,
    })
}

pub(super) fn cancel(
    loader: &mut Loader<'_>,
    body: &Node,
    pointer: &str,
    item: Object<'_>,
) -> Option<EventKind> {
    let inside = match &body.kind {
        NodeKind::Object(_) => {
            let body = loader.mapping(body, pointer, "`userCancelSession`", fields::AT, &[])?;
            let object = Object {
                node: &body,
                pointer,
            };
            loader.time_of(object, "at")
        }
        _ if !super::control::is_on(loader, body, pointer, "userCancelSession") => return None,
        _ => None,
    };
    let at_ms = inside.or_else(|| loader.time_of(item, "at"));
    Some(EventKind::UserCancelSession { at_ms })
}
