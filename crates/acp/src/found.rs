//! What a client did that the script does not say, as findings and as errors that the client gets.

use cuecard_source::diagnostic::{Code, Diagnostic, codes};
use cuecard_source::value::{Json, cut};
use cuecard_timeline::model::Timeline;
use serde_json::json;

use super::rpc::RpcError;

/// So much of a text is shown.
const SHOWN: usize = 300;

/// A finding with what the client is told of it.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) found: Box<Diagnostic>,
    pub(super) error: RpcError,
}

impl Refused {
    /// A call that the script does not expect (T-ACP-20).
    pub(super) fn unexpected(code: i64, message: impl Into<String>) -> Self {
        Self::of(codes::ACP_UNEXPECTED, code, message)
    }

    /// The same with another finding.
    pub(super) fn of(finding: Code, code: i64, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            found: Box::new(Diagnostic::error(finding, &message)),
            error: RpcError::new(code, message),
        }
    }

    /// What was expected instead, and where that stands.
    pub(super) fn expecting(
        mut self,
        timeline: &Timeline,
        event_idx: usize,
        expected: &str,
    ) -> Self {
        let event = &timeline.events[event_idx];
        let position = timeline.source.position(event.span.start);
        let place = format!("{}:{}", timeline.source.name(), position.line);
        *self.found = self
            .found
            .at(&timeline.source, event.span)
            .with_pointer(event.path.clone())
            .with_note(format!("expected: {}", cut(expected, SHOWN)));
        self.error.data =
            json!({"expected": cut(expected, SHOWN), "event": event.kind.as_str(), "place": place});
        self
    }

    /// A fact, for people and for the client.
    pub(super) fn noting(mut self, note: String) -> Self {
        if self.error.data.is_null() {
            self.error.data = json!({});
        }
        self.error.data["note"] = json!(cut(&note, SHOWN));
        *self.found = self.found.with_note(note);
        self
    }

    /// What to do about it.
    pub(super) fn with_help(mut self, help: &str) -> Self {
        *self.found = self.found.with_help(help);
        self
    }
}

/// Something that differs from the event that scripts it.
pub(super) fn differs(
    code: Code,
    timeline: &Timeline,
    event_idx: usize,
    message: impl Into<String>,
) -> Diagnostic {
    let event = &timeline.events[event_idx];
    Diagnostic::error(code, message.into())
        .at(&timeline.source, event.span)
        .with_pointer(event.path.clone())
}

/// A value for people.
pub(super) fn shown(value: &Json) -> String {
    cut(&value.to_string(), SHOWN).into_owned()
}
