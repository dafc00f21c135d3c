//! What the agent does beside answers and calls: edits, plans, reads, requests for permission.

use super::content::{is_absolute, plan_entries};
use super::fields;
use super::loader::{Alias, Loader, alias, also};
use crate::model::{
    AgentEdits, AgentPlan, EventKind, FileRead, Notify, PermissionDecision, PermissionOption,
    PermissionRequest,
};
use cuecard_source::diagnostic::{codes, did_you_mean};
use cuecard_source::json::Node;
use cuecard_source::reader::{Object, either, found};
use cuecard_source::value::cut;

const EDIT_ALIASES: &[Alias] = &[alias("old_text", "oldText"), alias("new_text", "newText")];

pub(super) fn edits(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Option<EventKind> {
    loader.n_calls += 1;
    let call_id = format!("call_{}", loader.n_calls);
    let what = "`agentEdits`";
    let body = loader.mapping(body, pointer, what, fields::AGENT_EDITS, EDIT_ALIASES)?;
    let object = Object {
        node: &body,
        pointer,
    };
    let path = loader.required(object, "path", what, "path: …");
    let lines_added = loader.count(object, "linesAdded");
    let lines_removed = loader.count(object, "linesRemoved");
    let old_text = loader.text(object, "oldText");
    let new_text = loader.text(object, "newText");
    let description = loader.text(object, "description");
    if old_text.is_some() && loader.reader.get(object, "newText").is_none() {
        let message = "`agentEdits` has `oldText` and no `newText`";
        loader
            .error(codes::TIMELINE_SHAPE, body.span, pointer, message)
            .help = Some("add newText: \"\" if the text is removed".to_owned());
        return None;
    }
    let says_nothing = new_text.is_none() && lines_added.is_none() && lines_removed.is_none();
    if says_nothing && loader.reader.get(object, "newText").is_none() {
        loader.reader.required(
            object,
            "linesAdded",
            what,
            "linesAdded and linesRemoved, or newText",
        );
        return None;
    }
    Some(EventKind::AgentEdits(AgentEdits {
        path: path?,
        lines_added,
        lines_removed,
        old_text,
        new_text,
        description,
        call_id,
    }))
}

pub(super) fn plan(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Option<EventKind> {
    let body = loader.mapping(body, pointer, "`agentPlan`", fields::AGENT_PLAN, &[])?;
    let object = Object {
        node: &body,
        pointer,
    };
    let replaces = loader.flag(object, "planUpdate").unwrap_or(true);
    let entries = plan_entries(loader, object, "`agentPlan`")?;
    Some(EventKind::AgentPlan(AgentPlan { entries, replaces }))
}

pub(super) fn file_reads(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Option<EventKind> {
    let what = "`agentFileReads`";
    let body = loader.mapping(body, pointer, what, fields::FILE_READS, &[])?;
    let object = Object {
        node: &body,
        pointer,
    };
    loader
        .reader
        .required(object, "files", what, "files: [{path: /…}]")?;
    let items = loader.list(object, "files");
    let n_items = items.len();
    if n_items == 0 {
        let is_list = body
            .get("files")
            .is_some_and(|node| node.as_array().is_some());
        if is_list {
            loader.invalid(body.span, pointer, "`agentFileReads` has no files");
        }
        return None;
    }
    let files: Vec<FileRead> = items
        .into_iter()
        .filter_map(|(item, pointer)| {
            let what = "an entry of `files`";
            let node = loader.mapping(item, &pointer, what, fields::FILE_READ, &[])?;
            let object = Object {
                node: &node,
                pointer: &pointer,
            };
            let path = loader.required(object, "path", what, "path: /…")?;
            let expected_content = loader.text(object, "expectedContent");
            if !is_absolute(&path) {
                let at = object.child_pointer("path");
                let span = object.get("path").map_or(node.span, |node| node.span);
                let message = format!(
                    "the protocol requires absolute paths, and `{}` is relative",
                    cut(&path, 60)
                );
                loader.error(codes::TIMELINE_ACP_PATH, span, &at, message);
                return None;
            }
            Some(FileRead {
                path,
                expected_content,
                span: node.span,
            })
        })
        .collect();
    (files.len() == n_items).then_some(EventKind::AgentFileReads(files))
}

pub(super) fn notify(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Option<EventKind> {
    let body = loader.mapping(body, pointer, "`notify`", fields::NOTIFY, &[])?;
    let object = Object {
        node: &body,
        pointer,
    };
    let method = loader.required(object, "method", "`notify`", "method: _vendor/name")?;
    if !method.starts_with('_') {
        let at = object.child_pointer("method");
        let span = object.get("method").map_or(body.span, |node| node.span);
        let message = format!(
            "an extension notification must start with an underscore, and `{}` does not",
            cut(&method, 60)
        );
        loader
            .error(codes::TIMELINE_ACP_NOTIFY, span, &at, message)
            .help = Some(format!("write `_{}`", cut(&method, 60)));
        return None;
    }
    Some(EventKind::Notify(Notify {
        method,
        params: loader.any(object, "params"),
    }))
}

const OPTION_ALIASES: &[Alias] = &[also("optionId", "id"), also("name", "label")];

const OPTION_KINDS: &[&str] = &["allow_once", "allow_always", "reject_once", "reject_always"];

pub(super) fn permission(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Option<EventKind> {
    let what = "`agentPermissionRequest`";
    let body = loader.mapping(body, pointer, what, fields::PERMISSION, &[])?;
    let object = Object {
        node: &body,
        pointer,
    };
    let session_id = loader.filled(object, "sessionId");
    let tool_call = match loader.reader.get(object, "toolCall") {
        Some(node) => {
            let read_as = kind(loader, node, &object.child_pointer("toolCall"));
            let mut json = loader.object(object, "toolCall");
            if let Some(kind) = read_as {
                json["kind"] = kind.into();
            }
            json.is_object().then_some(json)
        }
        None => {
            let message = format!("{what} has no `toolCall`: it applies to the next call");
            let code = codes::TIMELINE_ACP_PERMISSION;
            loader.warning(code, body.span, pointer, message).help =
                Some("add toolCall: {toolCallId: …, title: …, kind: edit}".to_owned());
            Some(cuecard_source::value::Json::Null)
        }
    };
    let options = options(loader, object, &body)?;
    let decision = decision(loader, object, &body, &options)?;
    Some(EventKind::PermissionRequest(PermissionRequest {
        session_id,
        tool_call: tool_call?,
        options,
        decision,
    }))
}

/// What is sent as the kind of the call, if the protocol doesn't know the one that is written.
fn kind(loader: &mut Loader<'_>, call: &Node, pointer: &str) -> Option<&'static str> {
    let node = call.get("kind")?;
    let Some(kind) = node.as_str() else {
        let at = format!("{pointer}/kind");
        loader
            .reader
            .wrong_type(node, &at, "`kind` of a call", "a string");
        return None;
    };
    let is_known = super::tool::KINDS.contains(&kind);
    (!is_known).then(|| {
        let read_as = permission_kind(kind);
        let message = format!(
            "unknown tool call kind `{}`: `{read_as}` is sent instead",
            cut(kind, 40)
        );
        let at = format!("{pointer}/kind");
        loader
            .warning(codes::TIMELINE_ACP_KIND, node.span, &at, message)
            .help = Some(format!("write `{read_as}`"));
        read_as
    })
}

/// The kind of the protocol that another word means.
fn permission_kind(kind: &str) -> &'static str {
    let kind = kind.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    if has(&["write", "edit", "patch", "create"]) {
        "edit"
    } else if has(&["read", "open"]) {
        "read"
    } else if has(&["terminal", "run", "exec", "command", "shell", "bash"]) {
        "execute"
    } else {
        "other"
    }
}

fn options(
    loader: &mut Loader<'_>,
    object: Object<'_>,
    body: &Node,
) -> Option<Vec<PermissionOption>> {
    let what = "`agentPermissionRequest`";
    let example = "options: [{id: allow, label: Allow, kind: allow_once}]";
    loader.reader.required(object, "options", what, example)?;
    let items = loader.list(object, "options");
    let n_items = items.len();
    let code = codes::TIMELINE_ACP_PERMISSION;
    if n_items == 0 {
        if body
            .get("options")
            .is_some_and(|node| node.as_array().is_some())
        {
            let pointer = object.pointer.to_owned();
            loader.error(code, body.span, &pointer, "`options` is empty");
        }
        return None;
    }
    let mut options: Vec<PermissionOption> = Vec::with_capacity(n_items);
    for (item, pointer) in items {
        let what = "an option";
        let fields = fields::PERMISSION_OPTION;
        let Some(node) = loader.mapping(item, &pointer, what, fields, OPTION_ALIASES) else {
            continue;
        };
        let object = Object {
            node: &node,
            pointer: &pointer,
        };
        let id = loader.required(object, "id", what, "id: allow");
        let label = loader.required(object, "label", what, "label: Allow once");
        let kind = loader.required(object, "kind", what, "kind: allow_once");
        let (Some(id), Some(label), Some(kind)) = (id, label, kind) else {
            continue;
        };
        let span = |key: &str| object.get(key).map_or(node.span, |node| node.span);
        if !OPTION_KINDS.contains(&kind.as_str()) {
            let listed: Vec<String> = OPTION_KINDS
                .iter()
                .map(|word| format!("`{word}`"))
                .collect();
            let message = format!(
                "`kind` of an option must be {}, not `{}`",
                either(&listed),
                cut(&kind, 40)
            );
            let near = did_you_mean(&kind, OPTION_KINDS.iter().copied());
            let at = object.child_pointer("kind");
            loader.error(code, span("kind"), &at, message).label =
                near.map(|word| format!("did you mean `{word}`?"));
            continue;
        }
        if options.iter().any(|known| known.id == id) {
            let at = object.child_pointer("id");
            let message = format!("duplicate option id `{}`", cut(&id, 40));
            loader.error(code, span("id"), &at, message);
            continue;
        }
        options.push(PermissionOption { id, label, kind });
    }
    (options.len() == n_items).then_some(options)
}

fn decision(
    loader: &mut Loader<'_>,
    object: Object<'_>,
    body: &Node,
    options: &[PermissionOption],
) -> Option<PermissionDecision> {
    let code = codes::TIMELINE_ACP_PERMISSION;
    let decision = loader.reader.get(object, "decision");
    let granted = loader.reader.get(object, "granted");
    let pointer = object.pointer.to_owned();
    match (decision, granted) {
        (Some(_), Some(node)) => {
            let at = object.child_pointer("granted");
            let message = "`decision` and `granted` can't be combined";
            loader.error(code, node.span, &at, message).help = Some("keep one of them".to_owned());
            None
        }
        (None, None) => {
            let message = "`agentPermissionRequest` has neither `granted` nor `decision`";
            loader.error(code, body.span, &pointer, message).help =
                Some("add granted: true, or decision: {outcome: selected, optionId: …}".to_owned());
            None
        }
        (None, Some(node)) => {
            let granted = loader.flag(object, "granted")?;
            let kind = if granted { "allow_once" } else { "reject_once" };
            let chosen = options.iter().find(|option| option.kind == kind);
            if chosen.is_none() {
                let at = object.child_pointer("granted");
                let message = format!(
                    "`granted: {granted}` chooses the first option of kind `{kind}`, and there is none"
                );
                loader.error(code, node.span, &at, message);
            }
            Some(PermissionDecision::Selected(chosen?.id.clone()))
        }
        (Some(node), None) => {
            let at = object.child_pointer("decision");
            outcome(loader, node, &at, options)
        }
    }
}

fn outcome(
    loader: &mut Loader<'_>,
    node: &Node,
    pointer: &str,
    options: &[PermissionOption],
) -> Option<PermissionDecision> {
    let code = codes::TIMELINE_ACP_PERMISSION;
    let node = loader.mapping(node, pointer, "`decision`", fields::DECISION, &[])?;
    let object = Object {
        node: &node,
        pointer,
    };
    let outcome = loader
        .reader
        .required(object, "outcome", "`decision`", "outcome: selected")?;
    let at = object.child_pointer("outcome");
    match outcome.as_str() {
        Some("cancelled") => Some(PermissionDecision::Cancelled),
        Some("selected") => {
            let id = loader.required(object, "optionId", "`decision`", "optionId: …")?;
            if options.iter().any(|option| option.id == id) {
                return Some(PermissionDecision::Selected(id));
            }
            let span = node.get("optionId").map_or(node.span, |node| node.span);
            let near = did_you_mean(&id, options.iter().map(|option| option.id.as_str()));
            let message = format!("no option has the id `{}`", cut(&id, 40));
            let label = near.map(|id| format!("did you mean `{id}`?"));
            let at = object.child_pointer("optionId");
            loader.error(code, span, &at, message).label = label;
            None
        }
        text => {
            let near = text.and_then(|text| did_you_mean(text, ["selected", "cancelled"]));
            let message = format!(
                "`outcome` must be `selected` or `cancelled`, not {}",
                found(outcome)
            );
            loader.error(code, outcome.span, &at, message).label =
                near.map(|word| format!("did you mean `{word}`?"));
            None
        }
    }
}
