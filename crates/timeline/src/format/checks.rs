//! What holds between the parts of a timeline, as far as it shows without a peer.

use crate::model::{Block, BlockKind, EventKind, Timeline, TimelineEvent, file_safe};
use cuecard_source::diagnostic::{any_error, codes};
use cuecard_source::reader::{Reader, first_character};
use cuecard_source::value::Json;

/// Looks at a timeline as a whole.
pub(super) fn check(reader: &mut Reader<'_>, timeline: &Timeline) {
    if timeline.acp.span.is_some() {
        boundary(reader, timeline);
        prompts(reader, timeline);
        initialize(reader, timeline);
    }
    several_boundaries(reader, timeline);
    models(reader, timeline);
    history(reader, timeline);
    session_ids(reader, timeline);
    screenshots(reader, timeline);
}

fn pointer(event: &TimelineEvent) -> String {
    let path = event.path.replace(['[', '.'], "/").replace(']', "");
    format!("/{path}")
}

/// Each screenshot has a file of its own.
fn screenshots(reader: &mut Reader<'_>, timeline: &Timeline) {
    let mut known: Vec<(String, &str)> = Vec::new();
    for event in &timeline.events {
        let EventKind::Screenshot(label) = &event.kind else {
            continue;
        };
        let file = file_safe(label);
        if let Some((_, other)) = known.iter().find(|(known, _)| *known == file) {
            let message = match other == label {
                true => format!("two screenshots are called `{label}`"),
                false => {
                    format!("the screenshots `{other}` and `{label}` have the same file, `{file}`")
                }
            };
            reader.error_at(codes::TERMINAL_LABEL, event.span, &pointer(event), message);
        }
        known.push((file, label));
    }
}

/// `loadSession` and `sessionStart` belong together.
fn boundary(reader: &mut Reader<'_>, timeline: &Timeline) {
    let loads = timeline.acp.has_capability(&["loadSession"]);
    match (loads, timeline.boundary()) {
        (true, None) if !any_error(&reader.diagnostics) => {
            let span = timeline.acp.span.unwrap_or(timeline.name_span);
            let at = first_character(reader.source, span);
            let message =
                "sessions can be loaded, but no `sessionStart` marks the end of the history";
            let pointer = "/acp/capabilities/loadSession";
            reader
                .error_at(codes::TIMELINE_ACP_NO_BOUNDARY, at, pointer, message)
                .help = Some(
                "add `- sessionStart` after the history, or set loadSession: false".to_owned(),
            );
        }
        (false, Some(idx)) if timeline.events[..idx].iter().any(is_replayable) => {
            let event = &timeline.events[idx];
            let message = "there is history before `sessionStart`, but sessions can't be loaded";
            reader
                .warning_at(
                    codes::TIMELINE_ACP_HISTORY,
                    event.span,
                    &pointer(event),
                    message,
                )
                .help = Some(
                "set capabilities.loadSession: true; else the history plays when a session begins"
                    .to_owned(),
            );
        }
        _ => {}
    }
}

fn is_replayable(event: &TimelineEvent) -> bool {
    matches!(
        event.kind,
        EventKind::Response(_)
            | EventKind::ToolUse(_)
            | EventKind::AgentEdits(_)
            | EventKind::AgentPlan(_)
            | EventKind::UserInputs(_)
    )
}

fn several_boundaries(reader: &mut Reader<'_>, timeline: &Timeline) {
    let boundaries = timeline
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::SessionStart(_)));
    for event in boundaries.skip(1) {
        let message = "duplicate `sessionStart`: only one can end the history";
        let code = codes::TIMELINE_ACP_BOUNDARIES;
        reader.error_at(code, event.span, &pointer(event), message);
    }
}

fn models(reader: &mut Reader<'_>, timeline: &Timeline) {
    if timeline.acp.is_unstable {
        return;
    }
    for event in &timeline.events {
        if matches!(event.kind, EventKind::SetModel { .. }) {
            let message = "`setModel` is a part of the protocol that may change";
            let code = codes::TIMELINE_ACP_UNSTABLE;
            reader
                .error_at(code, event.span, &pointer(event), message)
                .help = Some("set unstable: true under `acp`".to_owned());
        }
    }
}

/// Calls of the client make no sense in a history that is only told.
fn history(reader: &mut Reader<'_>, timeline: &Timeline) {
    let Some(idx) = timeline.boundary() else {
        return;
    };
    for event in &timeline.events[..idx] {
        let is_call = matches!(
            event.kind,
            EventKind::AgentFileReads(_) | EventKind::PermissionRequest(_)
        );
        if is_call {
            let message = format!(
                "`{}` before `sessionStart` is not replayed when the history is loaded",
                event.kind.as_str()
            );
            let code = codes::TIMELINE_ACP_CALL_IN_HISTORY;
            reader.warning_at(code, event.span, &pointer(event), message);
        }
    }
}

/// What a prompt holds must be something that the agent says it takes.
fn prompts(reader: &mut Reader<'_>, timeline: &Timeline) {
    let required = |block: &Block| match block.kind {
        BlockKind::Image(_) => Some("image"),
        BlockKind::Audio(_) => Some("audio"),
        BlockKind::Resource { .. } => Some("embeddedContext"),
        _ => None,
    };
    for event in &timeline.events {
        let EventKind::UserInputs(inputs) = &event.kind else {
            continue;
        };
        for block in inputs.iter().flat_map(|input| &input.blocks) {
            let Some(capability) = required(block) else {
                continue;
            };
            if timeline
                .acp
                .has_capability(&["promptCapabilities", capability])
            {
                continue;
            }
            let message = format!(
                "a prompt contains {} `{}` block, but the agent does not advertise support for them",
                if block.kind.as_str().starts_with(['a', 'i']) {
                    "an"
                } else {
                    "a"
                },
                block.kind.as_str()
            );
            let code = codes::TIMELINE_ACP_BLOCK;
            let at = first_character(reader.source, block.span);
            reader.error_at(code, at, &pointer(event), message).help = Some(format!(
                "set capabilities.promptCapabilities.{capability}: true"
            ));
        }
    }
}

/// What `initialize` is answered with must not contradict the capabilities.
fn initialize(reader: &mut Reader<'_>, timeline: &Timeline) {
    for event in &timeline.events {
        let EventKind::Initialize(call) = &event.kind else {
            continue;
        };
        let answered = &call.expected_response["agentCapabilities"];
        let mut contradictions = Vec::new();
        contradicts(
            answered,
            &timeline.acp.capabilities,
            "agentCapabilities",
            &mut contradictions,
        );
        for (path, answered, scripted) in contradictions {
            let message =
                format!("`{path}` is {answered} here and {scripted} in `acp.capabilities`");
            let at = first_character(reader.source, event.span);
            let code = codes::TIMELINE_ACP_CONTRADICTION;
            reader.error_at(code, at, &pointer(event), message).help =
                Some("make the two equal, or leave one out".to_owned());
        }
    }
}

fn contradicts(
    answered: &Json,
    scripted: &Json,
    path: &str,
    found: &mut Vec<(String, String, String)>,
) {
    match (answered, scripted) {
        (Json::Object(answered), Json::Object(scripted)) => {
            for (key, value) in answered.iter().filter(|(key, _)| *key != "_meta") {
                if let Some(other) = scripted.get(key) {
                    contradicts(value, other, &format!("{path}.{key}"), found);
                }
            }
        }
        (Json::Null, _) | (_, Json::Null) => {}
        (one, other) if one != other => {
            found.push((path.to_owned(), one.to_string(), other.to_string()));
        }
        _ => {}
    }
}

/// A session has one id, wherever it is named.
fn session_ids(reader: &mut Reader<'_>, timeline: &Timeline) {
    let Some(wanted) = timeline.session_id().map(str::to_owned) else {
        return;
    };
    let live = timeline.boundary().unwrap_or(0);
    for event in &timeline.events[live..] {
        let mut ids: Vec<&Json> = Vec::new();
        match &event.kind {
            EventKind::SessionStart(start) => {
                let expected = start.expected_prompt_response.as_ref();
                ids.extend(expected.and_then(|json| json.get("sessionId")));
            }
            EventKind::UserInputs(inputs) => {
                let expected = inputs.iter().map(|input| &input.expected_response);
                ids.extend(expected.filter_map(|json| json.get("sessionId")));
            }
            _ => {}
        }
        for id in ids.into_iter().filter_map(Json::as_str) {
            if id != wanted {
                let message = format!("the session is `{wanted}`, and here it is `{id}`");
                let at = first_character(reader.source, event.span);
                let code = codes::TIMELINE_ACP_CONTRADICTION;
                reader.error_at(code, at, &pointer(event), message);
            }
        }
    }
}
