//! What servers are asked beside the calls of steps, such as snapshots in which elements are looked up: recorded as
//! it goes out and comes back, so that the trace holds everything that a server was sent.

use std::sync::Arc;
use std::time::Duration;

use cuecard_source::value::cut;
use cuecard_trace::{EventData, RequestSent, ResponseReceived};
use serde_json::{Map, Value as Json, json};

use cuecard_mcp::result::text_of;
use cuecard_mcp::{ServerError, Session, ToolReply};
use cuecard_runtime::tap::Recorder;

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
    ) -> Result<ToolReply, ServerError> {
        let arguments = self.complete(arguments);
        self.record_sent(tool, &arguments, recorder);
        recorder.settle();
        let reply = self.session.call(tool, arguments, self.timeout).await;
        recorder.record(self.received(&reply, recorder));
        reply
    }

    /// The arguments with what the connection adds to them, so that they are recorded as they are sent.
    pub(super) fn complete(&self, mut arguments: Map<String, Json>) -> Map<String, Json> {
        for (name, value) in self.session.added_arguments() {
            arguments.entry(name).or_insert(value);
        }
        arguments
    }

    /// What came back, for the trace.
    fn received(
        &self,
        reply: &Result<ToolReply, ServerError>,
        recorder: &Recorder<'_>,
    ) -> EventData {
        // Before the cut, behind which the rest of a secret would be missing.
        let bounded =
            |text: &str| Some(cut(&recorder.redactor().text(text), MOST_RECORDED).into_owned());
        let (text, error) = match reply {
            Ok(reply) if reply.is_error => (None, bounded(&text_of(reply))),
            Ok(reply) => (bounded(&text_of(reply)), None),
            Err(error) => (None, bounded(&error.to_string())),
        };
        EventData::ResponseReceived(ResponseReceived {
            server: self.server.to_owned(),
            method: METHOD.to_owned(),
            text,
            error,
            call_id: self.call_id.cloned(),
        })
    }

    /// Records what is about to be sent.
    pub(super) fn record_sent(
        &self,
        tool: &str,
        arguments: &Map<String, Json>,
        recorder: &mut Recorder<'_>,
    ) {
        recorder.record(self.sent(tool, arguments));
    }

    fn sent(&self, tool: &str, arguments: &Map<String, Json>) -> EventData {
        EventData::RequestSent(RequestSent {
            server: self.server.to_owned(),
            method: METHOD.to_owned(),
            params: json!({ "name": tool, "arguments": arguments }),
            call_id: self.call_id.cloned(),
        })
    }
}

/// The same question, asked again and again. Recorded are the first time, each with another answer than the time
/// before, and the last.
#[derive(Default)]
pub(super) struct Polling {
    answered: Option<EventData>,
    /// What was sent and came back last, if it is not recorded.
    unrecorded: Option<[(Duration, EventData); 2]>,
}

impl Polling {
    pub(super) async fn ask(
        &mut self,
        peer: Peer<'_>,
        tool: &str,
        arguments: Map<String, Json>,
        recorder: &mut Recorder<'_>,
    ) -> Result<ToolReply, ServerError> {
        let clock = recorder.clock();
        let sent = (clock.now(), peer.sent(tool, &arguments));
        let is_first = self.answered.is_none();
        if is_first {
            recorder.record_at(sent.0, sent.1.clone());
            recorder.settle();
        }
        let reply = peer.session.call(tool, arguments, peer.timeout).await;
        let received = (clock.now(), peer.received(&reply, recorder));
        let before = self.answered.replace(received.1.clone());
        if is_first {
            recorder.record_at(received.0, received.1);
        } else {
            let is_same = before.as_ref() == Some(&received.1);
            self.unrecorded = Some([sent, received]);
            if !is_same {
                self.record_last(recorder);
            }
        }
        reply
    }

    /// Records the last time, if it is not recorded yet.
    pub(super) fn record_last(&mut self, recorder: &mut Recorder<'_>) {
        for (at, data) in self.unrecorded.take().into_iter().flatten() {
            recorder.record_at(at, data);
        }
    }
}
