//! Faults on purpose: what goes wrong with the answers of a server on standard input and output.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cuecard_runtime::fault::{Act, Frame, FrameFaults, FrameHit, FrameShape, NOBODYS_ID};
use cuecard_runtime::fault_writer::{WriterEnd, carry_out, flood_errors, flush, garbage};
use cuecard_timeline::model::FaultKind;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

use super::handler::with_result;

/// The faults of answers that are on their way, by the ids of their requests. Clones are the same ones.
#[derive(Debug, Clone, Default)]
pub struct PlannedFaults(Arc<Mutex<HashMap<String, FaultKind>>>);

impl PlannedFaults {
    /// Has something go wrong with the answer to a request.
    pub fn plan(&self, request_id: &Value, kind: FaultKind) {
        let mut planned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        planned.insert(request_id.to_string(), kind);
    }

    /// The fault of an answer, if it has one.
    fn take(&self, answer: &[u8]) -> Option<FaultKind> {
        let mut planned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if planned.is_empty() {
            return None;
        }
        let answer: Value = serde_json::from_slice(answer).ok()?;
        let is_answer = answer.get("result").is_some() || answer.get("error").is_some();
        planned.remove(&answer.get("id").filter(|_| is_answer)?.to_string())
    }
}

/// Copies lines, with the results that they carry, until there are no more, or a fault is the end of it.
pub(super) async fn copy(
    from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    faults: &PlannedFaults,
) -> WriterEnd {
    let mut lines = BufReader::new(from);
    let mut spoiled = FrameFaults::new(FrameShape {
        id_in: |_| None,
        garbage,
    });
    let (mut line, mut text) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        let is_over = !matches!(lines.read_until(b'\n', &mut line).await, Ok(1..));
        let parts = match is_over {
            true => spoiled.finish().into_iter().collect(),
            false => {
                let mut bytes = line.trim_ascii_end().to_vec();
                let mut kind = faults.take(&bytes);
                if kind == Some(FaultKind::WrongId) {
                    let mut answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
                    answer["id"] = json!(NOBODYS_ID);
                    bytes = answer.to_string().into_bytes();
                    kind = None;
                }
                let bytes = with_result(bytes.into()).into();
                if kind == Some(FaultKind::Merge) {
                    // The next answer may be long in coming: a client that asks one by one waits for this one.
                    let beside = json!({"jsonrpc": "2.0", "method": "notifications/message",
                        "params": {"level": "debug", "data": "beside the answer"}});
                    text.extend_from_slice(format!("{beside}\n").as_bytes());
                    kind = None;
                }
                let hit = kind.map(|kind| FrameHit {
                    fault_idx: 0,
                    kind,
                    id: None,
                });
                spoiled.frame(Frame { at_ms: 0, bytes }, hit)
            }
        };
        for part in parts {
            if let Act::FloodErrors(n_bytes) = part.act {
                let _ = flood_errors(n_bytes).await;
                continue;
            }
            match carry_out(part.act, &mut text, &mut to).await {
                Ok(None) => {}
                Ok(Some(end)) => return end,
                Err(_) => return WriterEnd::Cut,
            }
        }
        if flush(&mut text, &mut to).await.is_err() {
            return WriterEnd::Cut;
        }
        if is_over {
            let _ = to.shutdown().await;
            return WriterEnd::Finished;
        }
    }
}
