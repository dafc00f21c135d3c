//! The events of a canonical list, each read by its struct.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use super::normalise::{WRAPPERS, WrittenCall};
use super::pieces::{item_pointer, key_path, merged, meta};
use super::user;
use crate::model::{
    ApplyPatch, Block, BlockKind, EventKind, Fault, IncludePurpose, IncludedFile, MediaSource,
    TimelineEvent, ToolUse, UserTarget,
};
use cuecard_source::Span;
use cuecard_source::json::{Node, NodeKind};
use cuecard_source::reader::{Object, Reader};
use cuecard_source::value::Json;

/// Reads events.
pub(super) struct EventReader<'r, 'a> {
    pub reader: &'r mut Reader<'a>,
    /// Calls as they were written, by the place of the tool's name.
    pub written_calls: HashMap<Span, WrittenCall>,
    /// The events so far.
    pub events: Vec<TimelineEvent>,
    /// The files that the timeline refers to.
    pub included: Vec<IncludedFile>,
    n_calls: usize,
}

/// What stands beside an event.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Beside {
    #[serde(rename = "_meta", deserialize_with = "meta")]
    pub meta: Json,
    pub fault: Option<Fault>,
    pub target: Option<UserTarget>,
}

/// An object without its other keys.
pub(super) fn only(node: &Node, keys: &[&str]) -> Node {
    let members = node.members().iter();
    let members = members.filter(|member| keys.contains(&member.key.as_str()));
    NodeKind::Object(members.cloned().collect()).at(node.span)
}

impl<'r, 'a> EventReader<'r, 'a> {
    pub(super) fn new(
        reader: &'r mut Reader<'a>,
        written_calls: HashMap<Span, WrittenCall>,
    ) -> Self {
        Self {
            reader,
            written_calls,
            events: Vec::new(),
            included: Vec::new(),
            n_calls: 0,
        }
    }

    /// Reads a list, wrappers flattened. `target` is that of a wrapper around it.
    pub(super) fn list(&mut self, list: &Node, pointer: &str, target: Option<UserTarget>) {
        for (idx, node) in list.as_array().unwrap_or_default().iter().enumerate() {
            let pointer = &item_pointer(self.reader, node, pointer, idx);
            self.event(Object { node, pointer }, target);
        }
    }

    fn event(&mut self, item: Object<'_>, target: Option<UserTarget>) {
        let Some(event) = item.node.members().first() else {
            return;
        };
        let written = self.reader.source.slice(event.key_span);
        let written = written.trim_matches(['"', '\'']);
        let body = Object {
            node: &event.value,
            pointer: &item.child_pointer(written),
        };
        let takes_target = event.key == "userInputs" || WRAPPERS.contains(&event.key.as_str());
        let beside = match takes_target {
            true => only(item.node, &["_meta", "fault", "target"]),
            false => only(item.node, &["_meta", "fault"]),
        };
        let beside: Option<Beside> = self.reader.decode(&beside, item.pointer, "an event");
        let beside = beside.unwrap_or_default();
        let target = beside.target.or(target);
        match event.key.as_str() {
            key if WRAPPERS.contains(&key) => {
                let first = self.events.len();
                self.list(body.node, body.pointer, target);
                for event in self.events.iter_mut().skip(first) {
                    event.meta = merged(beside.meta.clone(), std::mem::take(&mut event.meta));
                    event.fault = event.fault.or(beside.fault);
                }
            }
            "llmResponse" => self.response(item, body, beside),
            "agentToolUse" => {
                let what = format!("`{written}`");
                if let Some((call, own)) = self.call(body, &what) {
                    let (meta, kind) = (merged(beside.meta, own), EventKind::ToolUse(call));
                    self.push(kind, item.pointer, item.node.span, meta, beside.fault);
                }
            }
            key => {
                let event = only(item.node, &[key]);
                let kind = self.reader.decode(&event, item.pointer, "an event");
                let own = self.meta(body);
                let meta = merged(beside.meta, own);
                let Some(mut kind) = kind else { return };
                self.finish(&mut kind, body, target, &meta);
                self.push(kind, item.pointer, item.node.span, meta, beside.fault);
            }
        }
    }

    pub(super) fn push(
        &mut self,
        kind: EventKind,
        pointer: &str,
        span: Span,
        meta: Json,
        fault: Option<Fault>,
    ) {
        self.events.push(TimelineEvent {
            kind,
            path: key_path(pointer),
            span,
            meta,
            fault,
        });
    }

    /// `_meta` of a mapping; null if there is none.
    pub(super) fn meta(&mut self, object: Object<'_>) -> Json {
        let own = only(object.node, &["_meta"]);
        let beside: Option<Beside> = match own.members() {
            [] => None,
            _ => self.reader.decode(&own, object.pointer, "an object"),
        };
        beside.unwrap_or_default().meta
    }

    /// Reads a call, which messages call `what`, and its `_meta`.
    pub(super) fn call(&mut self, call: Object<'_>, what: &str) -> Option<(ToolUse, Json)> {
        let counted = self.next_call_id();
        let mut tool: ToolUse = self.reader.decode(call.node, call.pointer, what)?;
        if tool.call_id.is_empty() {
            tool.call_id = counted;
        }
        let written = self.written_calls.get(&tool.tool_span).cloned();
        let (written_tool, written_args) = written.unwrap_or_default();
        tool.written_tool = written_tool;
        tool.written_args = written_args.map(Arc::new);
        Some((tool, self.meta(call)))
    }

    fn next_call_id(&mut self) -> String {
        self.n_calls += 1;
        format!("call_{}", self.n_calls)
    }

    /// What an event is by what stands elsewhere.
    fn finish(
        &mut self,
        kind: &mut EventKind,
        body: Object<'_>,
        target: Option<UserTarget>,
        meta: &Json,
    ) {
        match kind {
            EventKind::AgentEdits(edits) => edits.call_id = self.next_call_id(),
            EventKind::UserEdits { patch: path, .. }
            | EventKind::ApplyPatch(ApplyPatch { path, .. }) => {
                let node = body.get("patch").or(body.get("path"));
                self.include(
                    path.clone(),
                    node.unwrap_or(body.node),
                    IncludePurpose::Patch,
                );
            }
            EventKind::UserInputs(inputs) => {
                self.include_media(inputs.iter().flat_map(|input| &input.blocks));
                user::finish_inputs(self.reader, inputs, body, target, meta);
            }
            _ => {}
        }
    }

    /// Notes a file that the timeline refers to.
    pub(super) fn include(&mut self, path: PathBuf, node: &Node, purpose: IncludePurpose) {
        self.included.push(IncludedFile {
            path,
            span: node.span,
            purpose,
        });
    }

    /// Notes the files of blocks.
    pub(super) fn include_media<'b>(&mut self, blocks: impl Iterator<Item = &'b Block>) {
        for block in blocks {
            if let BlockKind::Image(media) | BlockKind::Audio(media) = &block.kind
                && let MediaSource::File(path) = &media.source
            {
                self.included.push(IncludedFile {
                    path: path.clone(),
                    span: media.span,
                    purpose: IncludePurpose::Media(media.mime_type.clone()),
                });
            }
        }
    }
}
