//! The other end: frames go out in order, with the faults that hit them, and answers come back to who asked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuecard_runtime::fault::{Act, Frame, FrameFaults, FrameHit, FrameShape, NOBODYS_ID};
pub(super) use cuecard_runtime::fault_writer::WriterEnd;
use cuecard_runtime::fault_writer::{carry_out, flood_errors, flush, garbage};
use cuecard_runtime::scripted_faults::ScriptedFaults;
use cuecard_source::value::Json;
use cuecard_timeline::model::FaultKind;
use serde_json::json;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::rpc::{self, RpcError};

/// So many frames may wait to be written; who sends more waits too.
const QUEUE: usize = 1_024;

/// So many are written in one go.
const BATCH: usize = 256;

/// What the client answered.
pub(super) type Answer = Result<Json, RpcError>;

/// An answer that came.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) answer: Answer,
    /// Whether the turn that asked for it had been cancelled by then.
    pub(super) is_late: bool,
}

/// Who waits for an answer, and what cancels its turn.
type Waiting = (oneshot::Sender<Received>, Option<CancellationToken>);

/// A frame on its way out.
#[derive(Debug)]
pub(super) struct Outgoing {
    bytes: Vec<u8>,
    hit: Option<FrameHit>,
}

/// The client, as those see it who talk to it.
#[derive(Debug)]
pub(super) struct Peer {
    /// Until nothing more is sent.
    queue: Mutex<Option<mpsc::Sender<Outgoing>>>,
    /// Who waits for which answer.
    pending: Mutex<HashMap<u64, Waiting>>,
    next_id: AtomicU64,
}

impl Peer {
    /// A client, and what is to be written to it.
    pub(super) fn new() -> (Self, mpsc::Receiver<Outgoing>) {
        let (queue, frames) = mpsc::channel(QUEUE);
        let peer = Self {
            queue: Mutex::new(Some(queue)),
            pending: Mutex::default(),
            next_id: AtomicU64::new(1),
        };
        (peer, frames)
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<u64, Waiting>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a notification.
    pub(super) async fn notify(&self, method: &str, params: &Json, hit: Option<FrameHit>) {
        self.send(rpc::notification(method, params), hit).await;
    }

    /// Answers a request.
    pub(super) async fn answer(&self, id: &Json, result: &Answer) {
        self.send(rpc::response(id, result), None).await;
    }

    /// Sends a request. Its answer may never come: who waits for it says how long.
    pub(super) async fn request(
        &self,
        method: &str,
        params: &Json,
        hit: Option<FrameHit>,
        cancel: Option<CancellationToken>,
    ) -> oneshot::Receiver<Received> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.pending().insert(id, (sender, cancel));
        self.send(rpc::request(id, method, params), hit).await;
        receiver
    }

    /// An answer came; `false` if nobody asked for it.
    pub(super) fn answered(&self, id: &Json, answer: Answer) -> bool {
        let waiting = id.as_u64().and_then(|id| self.pending().remove(&id));
        let is_awaited = waiting.is_some();
        if let Some((waiting, cancel)) = waiting {
            let is_late = cancel.is_some_and(|cancel| cancel.is_cancelled());
            // Who gave up waiting needs it no more.
            let _ = waiting.send(Received { answer, is_late });
        }
        is_awaited
    }

    async fn send(&self, bytes: Vec<u8>, hit: Option<FrameHit>) {
        let queue = self
            .queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(queue) = queue {
            // The writer is gone once the client is.
            let _ = queue.send(Outgoing { bytes, hit }).await;
        }
    }

    /// No answer comes any more.
    pub(super) fn hang_up(&self) {
        self.pending().clear();
    }

    /// Nothing more is sent.
    pub(super) fn close(&self) {
        self.queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}

/// Writes frames until there are no more, each with its line end. Notes which faults have happened.
pub(super) async fn write<A>(
    mut frames: mpsc::Receiver<Outgoing>,
    mut out: impl AsyncWrite + Unpin,
    faults: &ScriptedFaults<A>,
) -> WriterEnd {
    let mut spoiled = FrameFaults::new(FrameShape {
        id_in: |_| None,
        garbage,
    });
    let mut batch = Vec::with_capacity(BATCH);
    let mut text = Vec::new();
    let mut noise = JoinSet::new();
    loop {
        let is_over = frames.recv_many(&mut batch, BATCH).await == 0;
        let mut parts = Vec::new();
        for Outgoing { mut bytes, hit } in batch.drain(..) {
            let hit = match hit {
                Some(hit) if hit.kind == FaultKind::WrongId => {
                    if let Some(other) = with_nobodys_id(&bytes) {
                        bytes = other;
                        faults.happened(hit.fault_idx);
                    }
                    None
                }
                hit => hit,
            };
            parts.extend(spoiled.frame(Frame { at_ms: 0, bytes }, hit));
        }
        if is_over {
            parts.extend(spoiled.finish());
        }
        for part in parts {
            for fault_idx in part.faults {
                faults.happened(fault_idx);
            }
            if let Act::FloodErrors(n_bytes) = part.act {
                // Who doesn't read it still gets what follows.
                noise.spawn(flood_errors(n_bytes));
                continue;
            }
            match carry_out(part.act, &mut text, &mut out).await {
                Ok(None) => {}
                Ok(Some(end)) => return end,
                Err(_) => return WriterEnd::Cut,
            }
        }
        if flush(&mut text, &mut out).await.is_err() {
            return WriterEnd::Cut;
        }
        if is_over {
            // Who reads knows then that nothing more comes.
            let _ = out.shutdown().await;
            noise.join_all().await;
            return WriterEnd::Finished;
        }
        if spoiled.is_over() {
            // Silence: what is sent goes nowhere.
            while frames.recv_many(&mut batch, BATCH).await > 0 {
                batch.clear();
            }
            return WriterEnd::Finished;
        }
    }
}

/// The same message about a call, a session or a request that nobody knows; `None` if it is about none.
fn with_nobodys_id(message: &[u8]) -> Option<Vec<u8>> {
    let mut json: Json = serde_json::from_slice(message).ok()?;
    let places = [
        "/params/update/toolCallId",
        "/params/toolCall/toolCallId",
        "/params/terminalId",
        "/params/sessionId",
    ];
    let mut places = places.into_iter();
    if let Some(place) = places.find(|place| json.pointer(place).is_some()) {
        *json.pointer_mut(place)? = json!(format!("nobody-{NOBODYS_ID}"));
    } else {
        *json.get_mut("id")? = json!(NOBODYS_ID);
    }
    Some(json.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_id_is_that_of_the_call_where_there_is_one() {
        let told = |message: Json| -> Json {
            let other = with_nobodys_id(message.to_string().as_bytes()).expect("it has an id");
            serde_json::from_slice(&other).expect("JSON")
        };
        let update = told(json!({"params": {"sessionId": "s", "update": {"toolCallId": "c"}}}));
        assert_eq!(update["params"]["sessionId"], "s");
        assert_eq!(update["params"]["update"]["toolCallId"], "nobody-987654321");
        assert_eq!(told(json!({"id": 1, "result": {}}))["id"], 987_654_321);
        let message = json!({"method": "_vendor/x", "params": {"a": 1}}).to_string();
        assert_eq!(with_nobodys_id(message.as_bytes()), None);
    }
}
