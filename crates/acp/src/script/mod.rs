//! What a timeline means to a client of the protocol: what the agent says of itself, what it sends part by part, and
//! which calls it waits for. Does no I/O.

pub(super) mod content;
pub(super) mod file_effect;
pub(super) mod matching;
pub(super) mod protocol;
pub(super) mod updates;

use std::sync::Arc;

use cuecard_source::diagnostic::Diagnostic;
use cuecard_source::value::Json;
use cuecard_timeline::model::{AcpSettings, EventKind, Timeline, TimelineEvent};
use cuecard_timeline::script::{PromptSegments, Schedule};
use serde_json::{Map, json};

/// The revision of the protocol that is spoken.
pub(super) const PROTOCOL_VERSION: u64 = 1;

/// A timeline, compiled for a client of the protocol.
#[derive(Debug)]
pub(crate) struct AcpScript {
    pub(super) timeline: Arc<Timeline>,
    pub(super) schedule: Schedule,
    pub(super) segments: PromptSegments,
}

impl AcpScript {
    /// Compiles `timeline`, whose files of media have been read.
    pub(super) fn compile(timeline: Arc<Timeline>, is_strict: bool) -> (Self, Vec<Diagnostic>) {
        let compiled = Schedule::compile(&timeline, is_strict);
        let mut found = compiled.diagnostics;
        let (segments, notes) = PromptSegments::compile(&timeline, &compiled.schedule);
        found.extend(notes);
        let script = Self {
            timeline,
            schedule: compiled.schedule,
            segments,
        };
        (script, found)
    }

    fn settings(&self) -> &AcpSettings {
        &self.timeline.acp
    }

    pub(super) fn loads_sessions(&self) -> bool {
        self.settings().has_capability(&["loadSession"])
    }

    /// The event of an index, which is one of this timeline.
    pub(super) fn event(&self, event_idx: usize) -> &TimelineEvent {
        &self.timeline.events[event_idx]
    }

    /// The calls that the client must make of its own accord before the events from `end` on, by event.
    pub(super) fn awaited_calls(
        &self,
        end: usize,
    ) -> impl Iterator<Item = (usize, AwaitedCall<'_>)> {
        let start = self.segments.history.end;
        let events = self.timeline.events.iter().enumerate();
        events
            .take(end)
            .skip(start)
            .filter_map(|(event_idx, event)| Some((event_idx, AwaitedCall::of(&event.kind)?)))
    }

    /// Where the segment ends, and where its input stands.
    pub(super) fn bounds(&self, segment_idx: usize) -> (usize, usize) {
        let segment = &self.segments.live[segment_idx];
        let start = segment
            .input
            .map_or(segment.events.start, |input| input.event_idx);
        (start, segment.events.end)
    }

    /// The request of `initialize` that it expects, and the answer that it scripts; null where there is none.
    pub(super) fn initialize(&self) -> Option<(usize, &Json, &Json)> {
        let events = self.timeline.events.iter().enumerate();
        events
            .into_iter()
            .find_map(|(event_idx, event)| match &event.kind {
                EventKind::Initialize(initialize) => Some((
                    event_idx,
                    &initialize.request,
                    &initialize.expected_response,
                )),
                _ => None,
            })
    }
}

/// Whether an event is for other players than clients: none of it happens.
pub(super) fn is_for_others(event: &EventKind) -> bool {
    matches!(
        event,
        EventKind::UserEdits { .. } | EventKind::UserCommand(_) | EventKind::ApplyPatch(_)
    )
}

/// A call that a client makes of its own accord.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum AwaitedCall<'a> {
    Authenticate { method_id: &'a str },
    SetMode { mode_id: &'a str },
    SetModel { model_id: &'a str },
    Cancel,
}

impl<'a> AwaitedCall<'a> {
    fn of(kind: &'a EventKind) -> Option<Self> {
        Some(match kind {
            EventKind::Authenticate(authenticate) => Self::Authenticate {
                method_id: &authenticate.method_id,
            },
            EventKind::SetMode { mode_id } => Self::SetMode { mode_id },
            EventKind::SetModel { model_id } => Self::SetModel { model_id },
            EventKind::UserCancelSession { .. } => Self::Cancel,
            _ => return None,
        })
    }

    /// It in words: `session/set_mode` with `plan`.
    pub(super) fn words(self) -> String {
        match self {
            Self::Authenticate { method_id } => format!("`authenticate` with `{method_id}`"),
            Self::SetMode { mode_id } => format!("`session/set_mode` with `{mode_id}`"),
            Self::SetModel { model_id } => format!("`session/set_model` with `{model_id}`"),
            Self::Cancel => "`session/cancel`".to_owned(),
        }
    }
}

/// What an agent that plays these scripts answers to `initialize`.
pub(super) fn initialized(scripts: &[Arc<AcpScript>], requested: u64) -> Json {
    let mut capabilities = json!({"loadSession": false});
    let mut methods: Vec<Json> = Vec::new();
    for script in scripts {
        merge(
            &mut capabilities,
            &wire_capabilities(&script.settings().capabilities),
        );
        let offered =
            advertised(
                script,
                script.settings().auth_methods.as_deref(),
                |call| match call {
                    AwaitedCall::Authenticate { method_id } => Some(method_id),
                    _ => None,
                },
            );
        for method in offered {
            if !methods.iter().any(|known| known["id"] == method["id"]) {
                methods.push(method);
            }
        }
    }
    let mut answer = json!({
        "protocolVersion": requested.clamp(1, PROTOCOL_VERSION),
        "agentCapabilities": capabilities,
        "agentInfo": {"name": "cuecard", "title": "Cuecard", "version": env!("CARGO_PKG_VERSION")},
        "authMethods": methods,
    });
    for script in scripts {
        if let Some((_, _, expected)) = script.initialize() {
            merge(&mut answer, expected);
        }
    }
    answer
}

/// Capabilities of a file as the wire has them: those of sessions are objects there.
fn wire_capabilities(written: &Json) -> Json {
    let mut capabilities = written.clone();
    if let Some(sessions) = capabilities
        .get_mut("sessionCapabilities")
        .and_then(Json::as_object_mut)
    {
        sessions.retain(|_, value| *value != Json::Bool(false));
        for value in sessions.values_mut().filter(|value| value.is_boolean()) {
            *value = json!({});
        }
    }
    capabilities
}

/// Lays `over` over `under`: objects member by member; a flag that is on stays on.
fn merge(under: &mut Json, over: &Json) {
    match (under, over) {
        (_, Json::Null) => {}
        (under @ Json::Bool(true), Json::Bool(false)) => *under = Json::Bool(true),
        (Json::Object(under), Json::Object(over)) => {
            for (key, value) in over {
                merge(under.entry(key).or_insert(Json::Null), value);
            }
        }
        (under, over) => *under = over.clone(),
    }
}

/// The ids that a file advertises: those that it lists, else those that its events use.
fn advertised<'s>(
    script: &'s AcpScript,
    listed: Option<&'s [Json]>,
    used: impl Fn(AwaitedCall<'s>) -> Option<&'s str>,
) -> Vec<Json> {
    if let Some(listed) = listed {
        return listed.to_vec();
    }
    let mut ids: Vec<&str> = Vec::new();
    for (_, call) in script.awaited_calls(usize::MAX) {
        ids.extend(used(call).filter(|id| !ids.contains(id)));
    }
    ids.iter().map(|id| json!({"id": id, "name": id})).collect()
}

/// Returns an entry of `acp.models` as agents send it: known by `modelId`.
pub(crate) fn model_with_id(model: &Json) -> Json {
    let mut model = model.clone();
    if let Some(members) = model.as_object_mut()
        && let Some(id) = members.remove("id")
    {
        members.entry("modelId").or_insert(id);
    }
    model
}

/// What a session that plays a script begins with, beside its id: its modes and models.
pub(super) fn opened(script: &AcpScript) -> Map<String, Json> {
    let mut answer = Map::new();
    let modes = advertised(
        script,
        script.settings().modes.as_deref(),
        |call| match call {
            AwaitedCall::SetMode { mode_id } => Some(mode_id),
            _ => None,
        },
    );
    if let Some(first) = modes.first() {
        let current = first["id"].clone();
        answer.insert(
            "modes".to_owned(),
            json!({"currentModeId": current, "availableModes": modes}),
        );
    }
    let models = advertised(
        script,
        script.settings().models.as_deref(),
        |call| match call {
            AwaitedCall::SetModel { model_id } => Some(model_id),
            _ => None,
        },
    );
    if let Some(first) = models.first().filter(|_| script.settings().is_unstable) {
        let id_of = |model: &Json| model.get("modelId").or(model.get("id")).cloned();
        let current = id_of(first);
        let models: Vec<Json> = models.iter().map(model_with_id).collect();
        answer.insert(
            "models".to_owned(),
            json!({"currentModelId": current, "availableModels": models}),
        );
    }
    let meta = script
        .timeline
        .boundary()
        .map(|idx| &script.timeline.events[idx].meta);
    if let Some(meta) = meta.filter(|meta| !meta.is_null()) {
        answer.insert("_meta".to_owned(), meta.clone());
    }
    answer
}

/// What a prompt is answered when its segment was played to its end.
pub(super) fn scripted_answer(script: &AcpScript, segment_idx: usize) -> Json {
    let mut answer = match script
        .segments
        .expected_response(&script.timeline, segment_idx)
    {
        answer if answer.is_object() => answer.clone(),
        _ => json!({}),
    };
    if let Some(members) = answer.as_object_mut() {
        members.remove("sessionId");
        members
            .entry("stopReason")
            .or_insert_with(|| json!("end_turn"));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_are_on_stay_on_and_members_are_laid_over_each_other() {
        let mut under = json!({"a": true, "b": {"c": 1}, "d": 2});
        merge(&mut under, &json!({"a": false, "b": {"e": 3}, "d": null}));
        assert_eq!(under, json!({"a": true, "b": {"c": 1, "e": 3}, "d": 2}));
    }

    #[test]
    fn capabilities_of_sessions_are_objects_on_the_wire() {
        let written =
            json!({"loadSession": true, "sessionCapabilities": {"list": true, "close": false}});
        let wire = json!({"loadSession": true, "sessionCapabilities": {"list": {}}});
        assert_eq!(wire_capabilities(&written), wire);
    }
}
