//! The client's calls, the session's boundary, and what the test itself does.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::acp;
use super::fields;
use super::loader::{Loader, child};
use super::pieces::object;
use crate::model::{EventKind, Initialize, SessionStart};
use cuecard_source::decode::by_hand;
use cuecard_source::diagnostic::codes;
use cuecard_source::json::{Member, Node, NodeKind};
use cuecard_source::reader::Object;
use cuecard_source::value::Json;

/// The client opens the connection.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[allow(
    dead_code,
    reason = "it is a form to check by; the client sends what is written"
)]
pub(crate) struct InitializeForm {
    /// Version of the protocol.
    protocol_version: Json,
    /// What the client can do.
    client_capabilities: Json,
    /// What the client is.
    client_info: Json,
    /// What it is answered with.
    #[serde(deserialize_with = "object")]
    #[schemars(with = "BTreeMap<String, Json>")]
    expected_response: Json,
}

impl<'de> Deserialize<'de> for Initialize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_hand(deserializer, None, |reader, node, pointer| {
            let form: InitializeForm = reader.decode(node, pointer, "`initialize`")?;
            let mut request = node.to_value();
            if let Json::Object(members) = &mut request {
                members.shift_remove("expectedResponse");
                members.shift_remove("_meta");
            }
            Some(Self {
                request,
                expected_response: form.expected_response,
            })
        })
    }
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

words! {
    /// How important a line of the log is.
    pub(crate) enum LogLevel {
        /// For those who look for a mistake.
        Debug = "debug",
        /// What happens.
        Info = "info",
        /// What may be wrong.
        Warn = "warn",
        /// The same.
        Warning = "warning",
        /// What is wrong.
        Error = "error",
    }
}

/// Reads the level of a line of the log.
pub(crate) fn level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    LogLevel::deserialize(deserializer).map(|level| level.as_str().to_owned())
}
