//! What servers are asked beside the calls of steps, such as snapshots in which elements are looked up: recorded as
//! it goes out and comes back, so that the trace holds everything that a server was sent.

use std::sync::Arc;
use std::time::Duration;

use cuecard_core::trace::{EventData, RequestSent, ResponseReceived};
use cuecard_core::value::cut;
use serde_json::{Map, Value as Json, json};

use crate::mcp::result::text_of;
use crate::mcp::{CallError, Session, ToolReply};
use crate::runtime::tap::Recorder;

/// The method of all of them.
const METHOD: &str = "tools/call";

/// This much of an answer is recorded, in characters.
const MOST_RECORDED: usize = 16_000;

/// The server that a call goes to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer<'a> {
    /// What the scenario calls it.
    pub server: &'a str,
    /// The session with it.
    pub session: &'a Session,
    /// The call that it is asked for, if there is one.
    pub call_id: Option<&'a Arc<str>>,
    /// How long an answer may take.
    pub timeout: Duration,
}

impl Peer<'_> {
    /// Asks for something that is no call of a step.
    pub(super) async fn ask(
        &self,
        tool: &str,
        arguments: Map<String, Json>,
        recorder: &mut Recorder<'_>,
    ) -> Result<ToolReply, CallError> {
        self.record_sent(tool, &arguments, recorder);
        recorder.settle();
        let reply = self.session.call(tool, arguments, self.timeout).await;
        let (text, error) = match &reply {
            Ok(reply) if reply.is_error => (None, Some(text_of(reply))),
            Ok(reply) => (Some(text_of(reply)), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let bounded =
            |text: Option<String>| text.map(|text| cut(&text, MOST_RECORDED).into_owned());
        recorder.record(EventData::ResponseReceived(ResponseReceived {
            server: self.server.to_owned(),
            method: METHOD.to_owned(),
            text: bounded(text),
            error: bounded(error),
            call_id: self.call_id.cloned(),
        }));
        reply
    }

    /// Records what is about to be sent.
    pub(super) fn record_sent(
        &self,
        tool: &str,
        arguments: &Map<String, Json>,
        recorder: &mut Recorder<'_>,
    ) {
        recorder.record(EventData::RequestSent(RequestSent {
            server: self.server.to_owned(),
            method: METHOD.to_owned(),
            params: json!({ "name": tool, "arguments": arguments }),
            call_id: self.call_id.cloned(),
        }));
    }
}
