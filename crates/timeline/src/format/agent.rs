//! What the agent does beside answers and calls: edits, plans, reads, requests for permission.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::FORMAT;
use super::pieces::{filled, invalid, object};
use super::settings::node_span;
use crate::model::{
    AgentEdits, AgentPlan, CallKind, FileRead, Notify, PermissionDecision, PermissionKind,
    PermissionOption, PermissionRequest, PlanEntry,
};
use cuecard_source::checked;
use cuecard_source::decode::{Spanned, by_hand};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::Node;
use cuecard_source::reader::{Format, Object, Reader};
use cuecard_source::value::{Json, cut};

checked!(AgentPlan, FileRead, FileReads, Notify);
checked!(always AgentEdits);

impl AgentEdits {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        let what = "`agentEdits`";
        let has = |key: &str| reader.get(object, key).is_some();
        if has("oldText") && !has("newText") {
            let message = "`agentEdits` has `oldText` and no `newText`";
            invalid(reader, object.node.span, object.pointer, message).help =
                Some("add newText: \"\" if the text is removed".to_owned());
        } else if !["newText", "linesAdded", "linesRemoved"]
            .into_iter()
            .any(has)
        {
            let example = "linesAdded and linesRemoved, or newText";
            reader.required(object, "linesAdded", what, example);
        }
    }
}

/// What a plan's mistakes are called.
static PLAN: Format = Format {
    missing: codes::TIMELINE_PLAN,
    wrong_type: codes::TIMELINE_PLAN,
    value: codes::TIMELINE_PLAN,
    ..FORMAT
};

/// Reads the entries of a plan.
pub(crate) fn plan_entries<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<PlanEntry>, D::Error> {
    by_hand(deserializer, Some(Vec::new()), plan)
}

/// The entries of a plan.
pub(super) fn plan(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<Vec<PlanEntry>> {
    reader.with_format(&PLAN, |reader| reader.decode(node, pointer, "`entries`"))
}

/// Reports a plan without entries.
pub(super) fn check_plan(reader: &mut Reader<'_>, object: Object<'_>, whose: &str) {
    let entries = reader.get(object, "entries");
    if entries.is_none_or(|entries| entries.as_array() == Some(&[])) {
        let message = format!("{whose} has no entries");
        let (span, pointer) = (object.node.span, object.pointer);
        reader.error_at(codes::TIMELINE_PLAN, span, pointer, message);
    }
}

impl AgentPlan {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        check_plan(reader, object, "`agentPlan`");
    }
}

/// Files that the agent reads through the client.
#[derive(Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub(crate) struct FileReads {
    /// The files.
    files: Vec<FileRead>,
}

/// Reads the files that an agent reads.
pub(crate) fn file_reads<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<FileRead>, D::Error> {
    <FileReads as Deserialize>::deserialize(deserializer).map(|reads| reads.files)
}

impl FileReads {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        if object.get("files").and_then(Node::as_array) == Some(&[]) {
            let message = "`agentFileReads` has no files";
            invalid(reader, object.node.span, object.pointer, message);
        }
    }
}

impl FileRead {
    fn check(&mut self, _: &mut Reader<'_>, object: Object<'_>) {
        self.span = object.node.span;
    }
}

impl Notify {
    fn check(&mut self, reader: &mut Reader<'_>, object: Object<'_>) {
        if self.method.starts_with('_') || reader.get(object, "method").is_none() {
            return;
        }
        let method = cut(&self.method, 60);
        let message = format!(
            "an extension notification must start with an underscore, and `{method}` does not"
        );
        let (span, at) = (node_span(object, "method"), object.child_pointer("method"));
        reader
            .error_at(codes::TIMELINE_ACP_NOTIFY, span, &at, message)
            .help = Some(format!("write `_{method}`"));
    }
}

/// What the mistakes of a request for permission are called.
static PERMISSION: Format = Format {
    value: codes::TIMELINE_ACP_PERMISSION,
    ..FORMAT
};

/// The agent asks for permission.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PermissionForm {
    /// The session (default: the current one).
    #[serde(default, deserialize_with = "filled")]
    session_id: Option<String>,
    /// The call that needs permission (default: the next one).
    #[serde(default, deserialize_with = "object")]
    #[schemars(with = "BTreeMap<String, Json>")]
    tool_call: Option<Json>,
    /// What can be chosen.
    options: Vec<PermissionOption>,
    /// What the user decides.
    decision: Option<Decision>,
    /// The first option that allows, or rejects, once.
    granted: Option<Spanned<bool>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Decision {
    /// What happens.
    outcome: Outcome,
    /// The option that is selected.
    option_id: Option<Spanned<String>>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Selected,
    Cancelled,
}

impl<'de> Deserialize<'de> for PermissionRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(deserializer, None, |reader, node, pointer| {
            reader.with_format(&PERMISSION, |reader| permission(reader, node, pointer))
        })
    }
}

fn permission(reader: &mut Reader<'_>, node: &Node, pointer: &str) -> Option<PermissionRequest> {
    let what = "`agentPermissionRequest`";
    let request = Object { node, pointer };
    let form: Option<PermissionForm> = reader.decode(node, pointer, what);
    let read_as = match reader.get(request, "toolCall") {
        Some(call) => kind(reader, call, &request.child_pointer("toolCall")),
        None if node.as_object().is_none() => None,
        None => {
            let message = format!("{what} has no `toolCall`: it applies to the next call");
            let found =
                reader.warning_at(codes::TIMELINE_ACP_PERMISSION, node.span, pointer, message);
            found.help = Some("add toolCall: {toolCallId: …, title: …, kind: edit}".to_owned());
            None
        }
    };
    let form = form?;
    let mut tool_call = form.tool_call.clone().unwrap_or_default();
    if let Some(kind) = read_as {
        tool_call["kind"] = kind.into();
    }
    let items = node.get("options").and_then(Node::as_array);
    let items = items.unwrap_or_default();
    if items.is_empty() {
        invalid(reader, node.span, pointer, "`options` is empty");
        return None;
    }
    for (idx, (option, item)) in form.options.iter().zip(items).enumerate() {
        if form.options[..idx]
            .iter()
            .any(|known| known.id == option.id)
        {
            let at = format!("{}/{idx}/id", request.child_pointer("options"));
            let id = item.get("id").or(item.get("optionId")).unwrap_or(item);
            let message = format!("duplicate option id `{}`", cut(&option.id, 40));
            invalid(reader, id.span, &at, message);
        }
    }
    // What is decided may be an option that is wrong.
    if form.options.len() < items.len() {
        return None;
    }
    let decision = decision(reader, request, &form)?;
    Some(PermissionRequest {
        session_id: form.session_id,
        tool_call,
        options: form.options,
        decision,
    })
}

/// What is sent as the kind of the call, if the protocol doesn't know the one that is written.
fn kind(reader: &mut Reader<'_>, call: &Node, pointer: &str) -> Option<&'static str> {
    let node = call.get("kind")?;
    let Some(kind) = node.as_str() else {
        let at = format!("{pointer}/kind");
        reader.wrong_type(node, &at, "`kind` of a call", "a string");
        return None;
    };
    let is_known = CallKind::NAMED.iter().any(|(word, _)| *word == kind);
    (!is_known).then(|| {
        let read_as = permission_kind(kind);
        let message = format!(
            "unknown tool call kind `{}`: `{read_as}` is sent instead",
            cut(kind, 40)
        );
        let at = format!("{pointer}/kind");
        let found = reader.warning_at(codes::TIMELINE_ACP_KIND, node.span, &at, message);
        found.help = Some(format!("write `{read_as}`"));
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

fn decision(
    reader: &mut Reader<'_>,
    request: Object<'_>,
    form: &PermissionForm,
) -> Option<PermissionDecision> {
    let id = match (&form.decision, form.granted) {
        (Some(_), Some(granted)) => {
            let at = request.child_pointer("granted");
            let message = "`decision` and `granted` can't be combined";
            invalid(reader, granted.span, &at, message).help = Some("keep one of them".to_owned());
            return None;
        }
        (None, None) => {
            // What is wrong with one of them is reported.
            let is_absent = ["decision", "granted"].map(|key| reader.get(request, key).is_none());
            if is_absent == [true, true] {
                let message = "`agentPermissionRequest` has neither `granted` nor `decision`";
                invalid(reader, request.node.span, request.pointer, message).help = Some(
                    "add granted: true, or decision: {outcome: selected, optionId: …}".to_owned(),
                );
            }
            return None;
        }
        (None, Some(granted)) => {
            let kind = match granted.value {
                true => PermissionKind::AllowOnce,
                false => PermissionKind::RejectOnce,
            };
            let chosen = form.options.iter().find(|option| option.kind == kind);
            if chosen.is_none() {
                let at = request.child_pointer("granted");
                let message = format!(
                    "`granted: {}` chooses the first option of kind `{}`, and there is none",
                    granted.value,
                    kind.as_str()
                );
                invalid(reader, granted.span, &at, message);
            }
            return Some(PermissionDecision::Selected(chosen?.id.clone()));
        }
        (Some(decision), None) if decision.outcome == Outcome::Cancelled => {
            return Some(PermissionDecision::Cancelled);
        }
        (Some(decision), None) => &decision.option_id,
    };
    let at = request.child_pointer("decision");
    let Some(id) = id else {
        let node = request.get("decision")?;
        let decision = Object { node, pointer: &at };
        reader.required(decision, "optionId", "`decision`", "optionId: …");
        return None;
    };
    if !form.options.iter().any(|option| option.id == id.value) {
        let known = form.options.iter().map(|option| option.id.as_str());
        let message = format!("no option has the id `{}`", cut(&id.value, 40));
        invalid(reader, id.span, &format!("{at}/optionId"), message).suggest(&id.value, known);
        return None;
    }
    Some(PermissionDecision::Selected(id.value.clone()))
}
