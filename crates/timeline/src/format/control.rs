//! The client's calls, the session's boundary, and what the test itself does.

use super::acp;
use super::fields;
use super::loader::{Loader, child};
use crate::model::{Authenticate, EventKind, Initialize, LogLine, SessionStart, SessionStatus};
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::Object;
use cuecard_source::value::Json;

/// `expectedResponse`, inside of an event or beside it.
fn expected(loader: &mut Loader<'_>, body: Object<'_>, item: Object<'_>) -> Json {
    let inside = body.get("expectedResponse");
    let beside = item.get("expectedResponse");
    if let (Some(_), Some(second)) = (inside, beside) {
        let at = item.child_pointer("expectedResponse");
        let message = "`expectedResponse` is given both inside and next to the event";
        loader.invalid(second.span, &at, message);
    }
    match inside {
        Some(_) => loader.object(body, "expectedResponse"),
        None => loader.object(item, "expectedResponse"),
    }
}

pub(super) fn initialize(
    loader: &mut Loader<'_>,
    body: &Node,
    pointer: &str,
    item: Object<'_>,
) -> Option<EventKind> {
    let body = loader.mapping(body, pointer, "`initialize`", fields::INITIALIZE, &[])?;
    let object = Object {
        node: &body,
        pointer,
    };
    let expected_response = expected(loader, object, item);
    let mut request = body.to_value();
    if let Json::Object(members) = &mut request {
        members.shift_remove("expectedResponse");
        members.shift_remove("_meta");
    }
    Some(EventKind::Initialize(Initialize {
        request,
        expected_response,
    }))
}

pub(super) fn authenticate(
    loader: &mut Loader<'_>,
    body: &Node,
    pointer: &str,
    item: Object<'_>,
) -> Option<EventKind> {
    let what = "`authenticate`";
    let body = loader.mapping(body, pointer, what, fields::AUTHENTICATE, &[])?;
    let object = Object {
        node: &body,
        pointer,
    };
    let expected_response = expected(loader, object, item);
    let method_id = loader.required(object, "methodId", what, "methodId: …")?;
    Some(EventKind::Authenticate(Authenticate {
        method_id,
        error: loader.any(object, "error"),
        expected_response,
    }))
}

pub(super) fn set_mode(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Option<EventKind> {
    let body = loader.mapping(body, pointer, "`setMode`", fields::SET_MODE, &[])?;
    let object = Object {
        node: &body,
        pointer,
    };
    let mode_id = loader.required(object, "modeId", "`setMode`", "modeId: …")?;
    Some(EventKind::SetMode { mode_id })
}

pub(super) fn set_model(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Option<EventKind> {
    let body = loader.mapping(body, pointer, "`setModel`", fields::SET_MODEL, &[])?;
    let object = Object {
        node: &body,
        pointer,
    };
    let model_id = loader.required(object, "modelId", "`setModel`", "modelId: …")?;
    Some(EventKind::SetModel { model_id })
}

pub(super) fn session_start(
    loader: &mut Loader<'_>,
    body: &Node,
    pointer: &str,
) -> Option<EventKind> {
    if !matches!(body.kind, NodeKind::Object(_)) {
        return is_on(loader, body, pointer, "sessionStart")
            .then(|| EventKind::SessionStart(SessionStart::default()));
    }
    let what = "`sessionStart`";
    let body = loader.mapping(body, pointer, what, fields::SESSION_START, &[])?;
    let object = Object {
        node: &body,
        pointer,
    };
    let session_id = loader.filled(object, "sessionId");
    let key = "expectedPromptResponse";
    let expected = acp::prompt_response(loader, object, key);
    Some(EventKind::SessionStart(SessionStart {
        session_id,
        expected_prompt_response: expected.is_object().then_some(expected),
    }))
}

/// Whether an event that has no fields happens: `true`, null or an empty mapping.
pub(super) fn marker(loader: &mut Loader<'_>, key: &Member, pointer: &str) -> bool {
    if let NodeKind::Object(members) = &key.value.kind {
        for member in members {
            if member.key != "_meta" {
                let at = child(pointer, &member.key);
                let message = format!("`{}` does not take any fields", key.key);
                loader.warning(codes::TIMELINE_UNKNOWN, member.key_span, &at, message);
            }
        }
        return true;
    }
    is_on(loader, &key.value, pointer, &key.key)
}

/// Whether a value is `true` or null. Warns about `false`, which does nothing.
pub(super) fn is_on(loader: &mut Loader<'_>, body: &Node, pointer: &str, name: &str) -> bool {
    match body.kind {
        NodeKind::Null | NodeKind::Bool(true) => true,
        NodeKind::Bool(false) => {
            let code = codes::TIMELINE_MARKER_OFF;
            let message = format!("`{name}: false` does nothing");
            loader.legacy(code, body.span, pointer, message, "remove the event");
            false
        }
        _ => {
            let what = format!("`{name}`");
            loader
                .reader
                .wrong_type(body, pointer, &what, "true, or nothing");
            false
        }
    }
}

pub(super) fn screenshot(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Option<EventKind> {
    let label = loader.reader.text_of(body, pointer, "`screenshot`")?;
    if label.trim().is_empty() {
        loader.invalid(body.span, pointer, "the label of a screenshot is empty");
        return None;
    }
    Some(EventKind::Screenshot(label.to_owned()))
}

pub(super) fn log(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Option<EventKind> {
    if let NodeKind::String(message) = &body.kind {
        return Some(EventKind::Log(LogLine {
            level: "info".to_owned(),
            message: message.clone(),
        }));
    }
    let body = loader.mapping(body, pointer, "`log`", fields::LOG, &[])?;
    let object = Object {
        node: &body,
        pointer,
    };
    let words = ["debug", "info", "warn", "warning", "error"].map(|word| (word, word));
    let level = loader.reader.one_of(object, "level", "`level`", &words);
    let example = "message: \"…\"";
    loader
        .reader
        .required(object, "message", "`log`", example)?;
    Some(EventKind::Log(LogLine {
        level: level.unwrap_or("info").to_owned(),
        message: loader.text(object, "message")?,
    }))
}

const STATUSES: &[(&str, SessionStatus)] = &[
    ("queued", SessionStatus::Queued),
    ("provisioning", SessionStatus::Provisioning),
    ("running", SessionStatus::Running),
    ("pausing", SessionStatus::Pausing),
    ("paused", SessionStatus::Paused),
    ("resuming", SessionStatus::Resuming),
    ("stopping", SessionStatus::Stopping),
    ("stopped", SessionStatus::Stopped),
    ("completed", SessionStatus::Completed),
    ("failed", SessionStatus::Failed),
    ("cancelled", SessionStatus::Cancelled),
];

pub(super) fn status(loader: &mut Loader<'_>, body: &Node, pointer: &str) -> Option<EventKind> {
    let whole = Node {
        kind: NodeKind::Object(vec![Member {
            key: "status".to_owned(),
            key_span: body.span,
            value: body.clone(),
        }]),
        span: body.span,
    };
    let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
    let object = Object {
        node: &whole,
        pointer: parent,
    };
    if body.is_null() {
        loader
            .reader
            .wrong_type(body, pointer, "`status`", "a word such as `running`");
        return None;
    }
    let status = loader
        .reader
        .one_of(object, "status", "`status`", STATUSES)?;
    Some(EventKind::Status(status))
}
