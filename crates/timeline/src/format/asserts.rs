//! `assert`: each entry is a check of its own.

use super::loader::{Loader, child};
use super::pieces::pattern_of;
use super::{fields, model_fields};
use crate::model::{
    EventKind, FileText, LocatedCheck, RequestCheck, TimelineAssert, TimelineCheck,
};
use cuecard_source::Span;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::Object;
use cuecard_source::value::{Json, cut};

/// The checks found so far.
type Checks = Vec<LocatedCheck>;

fn add(checks: &mut Checks, check: TimelineCheck, key: &str, span: Span) {
    checks.push(LocatedCheck {
        check,
        key: key.to_owned(),
        span,
    });
}

pub(super) fn assert(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Option<EventKind> {
    let errors = n_errors(loader);
    let body = mapping(loader, body, pointer, "`assert`", fields::ASSERT)?;
    let object = Object {
        node: &body,
        pointer,
    };
    let mut checks = Vec::new();
    for member in body.members() {
        let at = child(pointer, &member.key);
        let node = &member.value;
        match member.key.as_str() {
            "fs" => checks.extend(fs(loader, node, &at)),
            "text" => text(loader, &mut checks, node, &at),
            "json" => json(loader, &mut checks, node, &at),
            "git" => git(loader, &mut checks, node, &at),
            "acp" => acp(loader, &mut checks, node, &at),
            "exitCode" => {
                if let Some(code) = loader.integer(object, "exitCode") {
                    add(
                        &mut checks,
                        TimelineCheck::ExitCode(code),
                        "exitCode",
                        node.span,
                    );
                }
            }
            "screen" => screen(loader, &mut checks, node, &at),
            "request" => request(loader, &mut checks, node, &at),
            _ => {}
        }
    }
    finish(loader, checks, errors, &body, pointer)
}

/// `assertGit`: what belongs under `git`.
pub(super) fn git_alone(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Option<EventKind> {
    let errors = n_errors(loader);
    let mut checks = Vec::new();
    git(loader, &mut checks, body, pointer);
    finish(loader, checks, errors, body, pointer)
}

fn n_errors(loader: &Loader<'_>) -> usize {
    loader
        .reader
        .diagnostics
        .iter()
        .filter(|found| found.severity == cuecard_source::diagnostic::Severity::Error)
        .count()
}

fn finish(
    loader: &mut Loader<'_>,
    checks: Checks,
    errors: usize,
    body: &Node,
    pointer: &str,
) -> Option<EventKind> {
    if checks.is_empty() && n_errors(loader) == errors {
        let message = "this assert is empty";
        loader
            .error(codes::TIMELINE_ASSERT_NOTHING, body.span, pointer, message)
            .help = Some("add a key such as fs: {exists: [README.md]}".to_owned());
    }
    if checks.is_empty() {
        return None;
    }
    Some(EventKind::Assert(Box::new(TimelineAssert { checks })))
}

/// A mapping of checks; keys that nothing reads are warnings with a code of their own.
fn mapping(
    loader: &mut Loader<'_>,
    node: &Node,
    pointer: &str,
    whose: &str,
    known: &'static [cuecard_source::value::fields::Field],
) -> Option<Node> {
    let before = loader.reader.diagnostics.len();
    let node = loader
        .mapping(node, pointer, whose, known, &[])?
        .into_owned();
    for diagnostic in loader.reader.diagnostics.iter_mut().skip(before) {
        if diagnostic.code == codes::TIMELINE_UNKNOWN {
            diagnostic.code = codes::TIMELINE_ASSERT_UNKNOWN;
        }
    }
    Some(node)
}

/// What a key holds, which is one thing or a list of them: each with its pointer and the key path of its check.
fn parts<'n>(
    loader: &mut Loader<'_>,
    object: Object<'n>,
    key: &str,
    prefix: &str,
) -> Vec<(&'n Node, String, String)> {
    let is_list = object
        .get(key)
        .is_some_and(|node| node.as_array().is_some());
    let items = loader.one_or_more(object, key).into_iter().enumerate();
    items
        .map(|(idx, (item, pointer))| {
            let path = match is_list {
                true => format!("{prefix}.{key}[{idx}]"),
                false => format!("{prefix}.{key}"),
            };
            (item, pointer, path)
        })
        .collect()
}

/// The texts of a key, each with the key path of its check.
fn each(
    loader: &mut Loader<'_>,
    object: Object<'_>,
    key: &str,
    prefix: &str,
) -> Vec<(String, String, Span)> {
    let what = format!("`{prefix}.{key}`");
    parts(loader, object, key, prefix)
        .into_iter()
        .filter_map(|(item, pointer, path)| {
            let text = loader.reader.text_of(item, &pointer, &what)?;
            if text.is_empty() {
                loader.invalid(item.span, &pointer, format!("an entry of {what} is empty"));
                return None;
            }
            Some((text.to_owned(), path, item.span))
        })
        .collect()
}

/// The mappings of a key, each with its pointer and the key path of its check.
pub(super) fn mappings(
    loader: &mut Loader<'_>,
    object: Object<'_>,
    key: &str,
    prefix: &str,
    known: &'static [cuecard_source::value::fields::Field],
) -> Vec<(Node, String, String)> {
    let whose = format!("`{prefix}.{key}`");
    parts(loader, object, key, prefix)
        .into_iter()
        .filter_map(|(item, pointer, path)| {
            let node = mapping(loader, item, &pointer, &whose, known)?;
            Some((node, pointer, path))
        })
        .collect()
}

pub(super) fn fs(loader: &mut Loader<'_>, node: &Node, pointer: &str) -> Checks {
    let mut checks = Vec::new();
    let Some(node) = mapping(loader, node, pointer, "`fs`", fields::ASSERT_FS) else {
        return checks;
    };
    let object = Object {
        node: &node,
        pointer,
    };
    for (path, key, span) in each(loader, object, "exists", "fs") {
        add(&mut checks, TimelineCheck::FileExists(path), &key, span);
    }
    for (path, key, span) in each(loader, object, "notExists", "fs") {
        add(&mut checks, TimelineCheck::FileAbsent(path), &key, span);
    }
    let known = fields::FILE_CONTAINS;
    for (item, pointer, key) in mappings(loader, object, "contains", "fs", known) {
        let object = Object {
            node: &item,
            pointer: &pointer,
        };
        let path = loader.required(object, "path", "`fs.contains`", "path: …");
        let substring = match object.get("substring").and_then(Node::as_str) {
            // White space may be what is looked for.
            Some(text) if !text.is_empty() => Some(text.to_owned()),
            _ => loader.filled(object, "substring"),
        };
        let pattern = match loader.reader.get(object, "regex") {
            Some(node) => pattern_of(
                &mut loader.reader,
                node,
                &object.child_pointer("regex"),
                "`regex`",
            ),
            None => None,
        };
        let given = ["substring", "regex"].map(|key| loader.reader.get(object, key).is_some());
        if given[0] == given[1] {
            let problem = match given[0] {
                true => "both `substring` and `regex`",
                false => "neither `substring` nor `regex`",
            };
            let message = format!("`fs.contains` has {problem}");
            loader.invalid(item.span, &pointer, message);
            continue;
        }
        let test = substring
            .map(FileText::Substring)
            .or(pattern.map(FileText::Regex));
        if let (Some(path), Some(test)) = (path, test) {
            let check = TimelineCheck::FileContains { path, test };
            add(&mut checks, check, &key, item.span);
        }
    }
    checks
}

fn text(loader: &mut Loader<'_>, checks: &mut Checks, node: &Node, pointer: &str) {
    let Some(node) = mapping(loader, node, pointer, "`text`", fields::ASSERT_TEXT) else {
        return;
    };
    let object = Object {
        node: &node,
        pointer,
    };
    for (text, key, span) in each(loader, object, "contains", "text") {
        add(checks, TimelineCheck::ScreenContains(text), &key, span);
    }
    for (text, key, span) in each(loader, object, "notContains", "text") {
        add(checks, TimelineCheck::ScreenOmits(text), &key, span);
    }
}

fn json(loader: &mut Loader<'_>, checks: &mut Checks, node: &Node, pointer: &str) {
    let Some(node) = mapping(loader, node, pointer, "`json`", fields::ASSERT_JSON) else {
        return;
    };
    let object = Object {
        node: &node,
        pointer,
    };
    for (item, pointer, key) in mappings(loader, object, "file", "json", fields::JSON_FILE) {
        let object = Object {
            node: &item,
            pointer: &pointer,
        };
        let whose = "`json.file`";
        let path = loader.required(object, "path", whose, "path: …");
        let example = "pointer: /key";
        let place = loader.reader.required(object, "pointer", whose, example);
        let place = place.and_then(|node| {
            let at = object.child_pointer("pointer");
            let text = loader.reader.text_of(node, &at, "`pointer`")?;
            if !text.is_empty() && !text.starts_with('/') {
                let message = format!(
                    "`{}` is not a valid JSON pointer: it must be empty or start with `/`",
                    cut(text, 60)
                );
                loader.invalid(node.span, &at, message);
                return None;
            }
            Some(text.to_owned())
        });
        // Null is a value here.
        let equals = item.get("equals").map(Node::to_value);
        if equals.is_none() {
            loader.reader.required(object, "equals", whose, "equals: …");
        }
        if let (Some(path), Some(pointer), Some(equals)) = (path, place, equals) {
            let check = TimelineCheck::JsonFile {
                path,
                pointer,
                equals,
            };
            add(checks, check, &key, item.span);
        }
    }
}

fn request(loader: &mut Loader<'_>, checks: &mut Checks, node: &Node, pointer: &str) {
    let Some(node) = mapping(
        loader,
        node,
        pointer,
        "`request`",
        model_fields::ASSERT_REQUEST,
    ) else {
        return;
    };
    let object = Object {
        node: &node,
        pointer,
    };
    let mut found = |check, key: &str, span| add(checks, TimelineCheck::Request(check), key, span);
    let span_of = |key: &str| node.get(key).map_or(node.span, |node| node.span);
    if let Some(model) = super::request::glob(loader, object, "model") {
        found(
            RequestCheck::Model(model),
            "request.model",
            span_of("model"),
        );
    }
    if let Some(test) = super::request::text_test(loader, object, "system") {
        found(
            RequestCheck::System(test),
            "request.system",
            span_of("system"),
        );
    }
    if let Some(tools) = object.get("tools") {
        let at = object.child_pointer("tools");
        let known = model_fields::REQUEST_TOOLS;
        let tools = mapping(loader, tools, &at, "`request.tools`", known);
        for (key, is_there) in [("has", true), ("hasNot", false)] {
            let Some(tools) = &tools else { break };
            let object = Object {
                node: tools,
                pointer: &at,
            };
            for (name, key, span) in each(loader, object, key, "request.tools") {
                found(RequestCheck::Tool { name, is_there }, &key, span);
            }
        }
    }
    let known = model_fields::REQUEST_JSON;
    for (item, pointer, key) in mappings(loader, object, "json", "request", known) {
        let object = Object {
            node: &item,
            pointer: &pointer,
        };
        if let Some(check) = super::request::json_check(loader, object, "request") {
            found(check, &key, item.span);
        }
    }
}

/// A name: text, or a mapping with `name`.
fn name(
    loader: &mut Loader<'_>,
    object: Object<'_>,
    key: &str,
    known: &'static [cuecard_source::value::fields::Field],
) -> Option<(String, Option<bool>, Span)> {
    let node = loader.reader.get(object, key)?;
    let pointer = object.child_pointer(key);
    if !matches!(node.kind, NodeKind::Object(_)) {
        return Some((loader.filled(object, key)?, None, node.span));
    }
    let whose = format!("`git.{key}`");
    let inner = mapping(loader, node, &pointer, &whose, known)?;
    let object = Object {
        node: &inner,
        pointer: &pointer,
    };
    let name = loader.required(object, "name", &whose, "name: …");
    let exists = loader.flag(object, "exists");
    Some((name?, exists, node.span))
}

fn git(loader: &mut Loader<'_>, checks: &mut Checks, node: &Node, pointer: &str) {
    let Some(node) = mapping(loader, node, pointer, "`git`", fields::ASSERT_GIT) else {
        return;
    };
    let object = Object {
        node: &node,
        pointer,
    };
    let outer_exists = loader.flag(object, "exists");
    let branch = name(loader, object, "branch", fields::GIT_BRANCH);
    if let Some((name, exists, span)) = &branch {
        let check = TimelineCheck::GitBranch {
            name: name.clone(),
            exists: exists.or(outer_exists).unwrap_or(true),
        };
        add(checks, check, "git.branch", *span);
    } else if let (Some(_), Some(node)) = (outer_exists, node.get("exists")) {
        let at = object.child_pointer("exists");
        let message = "`git.exists` requires `branch`";
        let code = codes::TIMELINE_ASSERT_UNKNOWN;
        loader.warning(code, node.span, &at, message);
    }
    let remote = loader.reader.get(object, "remoteExists");
    if let Some(exists) = remote.and_then(Node::as_bool) {
        let span = remote.map_or(node.span, |remote| remote.span);
        if let Some((name, ..)) = &branch {
            let name = name.clone();
            let check = TimelineCheck::GitRemoteBranch { name, exists };
            add(checks, check, "git.remoteExists", span);
        } else {
            let at = object.child_pointer("remoteExists");
            let message = format!("`git.remoteExists: {exists}` requires `branch`");
            loader.warning(codes::TIMELINE_ASSERT_UNKNOWN, span, &at, message);
        }
    } else if let Some((name, _, span)) = name(loader, object, "remoteExists", fields::GIT_REMOTE) {
        let check = TimelineCheck::GitRemoteExists(name);
        add(checks, check, "git.remoteExists", span);
    }
    let tip = branch.map_or("HEAD".to_owned(), |(name, ..)| name);
    let base = loader.filled(object, "commitsAheadOf");
    let count = loader.count(object, "commitCount");
    let ahead = node.get("commitsAheadOf").or(node.get("commitCount"));
    if let Some(at) = ahead.filter(|node| !node.is_null()) {
        let check = TimelineCheck::GitCommitsAhead {
            base: base.unwrap_or_else(|| "main".to_owned()),
            branch: tip.clone(),
            count,
        };
        add(checks, check, "git.commitsAheadOf", at.span);
    }
    for (item, pointer, key) in mappings(loader, object, "commit", "git", fields::GIT_COMMIT) {
        let object = Object {
            node: &item,
            pointer: &pointer,
        };
        let example = "messageContains: …";
        let message = loader.required(object, "messageContains", "`git.commit`", example);
        let reference = loader.filled(object, "ref");
        if let Some(message_contains) = message {
            let check = TimelineCheck::GitCommit {
                reference: reference.unwrap_or_else(|| "HEAD".to_owned()),
                message_contains,
            };
            add(checks, check, &key, item.span);
        }
    }
    if let Some(message_contains) = loader.filled(object, "headMessageContains") {
        let span = node
            .get("headMessageContains")
            .map_or(node.span, |node| node.span);
        let check = TimelineCheck::GitCommit {
            reference: tip,
            message_contains,
        };
        add(checks, check, "git.headMessageContains", span);
    }
}

fn acp(loader: &mut Loader<'_>, checks: &mut Checks, node: &Node, pointer: &str) {
    let Some(node) = mapping(loader, node, pointer, "`acp`", fields::ASSERT_ACP) else {
        return;
    };
    let object = Object {
        node: &node,
        pointer,
    };
    let entries = mappings(loader, object, "session", "acp", fields::ACP_SESSION);
    for (prompt_idx, (item, pointer, key)) in entries.into_iter().enumerate() {
        let object = Object {
            node: &item,
            pointer: &pointer,
        };
        let mut wanted = item.to_value();
        if let Some(node) = loader.reader.get(object, "stopReason") {
            let at = object.child_pointer("stopReason");
            match super::acp::stop_reason(loader, node, &at) {
                Some(reason) => wanted["stopReason"] = Json::String(reason),
                None => continue,
            }
        }
        loader.object(object, "usage");
        let check = TimelineCheck::AcpSession {
            prompt_idx,
            fields: wanted,
        };
        add(checks, check, &key, item.span);
    }
}

fn screen(loader: &mut Loader<'_>, checks: &mut Checks, node: &Node, pointer: &str) {
    let Some(node) = mapping(loader, node, pointer, "`screen`", fields::ASSERT_SCREEN) else {
        return;
    };
    let object = Object {
        node: &node,
        pointer,
    };
    let label = loader.required(object, "label", "`screen`", "label: …");
    let contains: Vec<String> = each(loader, object, "contains", "screen")
        .into_iter()
        .map(|(text, ..)| text)
        .collect();
    if let Some(label) = label {
        let check = TimelineCheck::Screenshot { label, contains };
        add(checks, check, "screen", node.span);
    }
}
