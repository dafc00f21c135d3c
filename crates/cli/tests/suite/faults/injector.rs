//! Which answers of a server of MCP are hit, and what arrives in their place.

use std::collections::HashSet;

use cuecard_runtime::fault::{Act, Frame, FrameFaults, FrameHit, FrameShape, NOBODYS_ID};
use cuecard_timeline::model::FaultKind;
use serde_json::{Value, json};

/// The most calls that are open at a time and can be hit.
const MOST_OPEN: usize = 10_000;
/// No JSON, and no UTF-8 either.
const GARBAGE: &[u8] = b"\xff\xfe<html>502 Bad Gateway</html>";

/// A fault, and the calls whose answers it hits.
#[derive(Debug, Clone)]
pub(super) struct FaultPlan {
    pub(super) fault: FaultKind,
    /// The calls, counted from 1 in the order of their answers.
    pub(super) calls: Vec<u64>,
}

/// Spoils what one server says, as planned. The connections to the server may follow each other.
pub(super) struct FaultInjector {
    plan: FaultPlan,
    /// The ids of calls that wait for their answers, as JSON.
    open: HashSet<String>,
    answered: u64,
    faults: FrameFaults,
}

impl FaultInjector {
    /// Spoils by this plan.
    pub(super) fn new(plan: FaultPlan) -> Self {
        Self {
            plan,
            open: HashSet::new(),
            answered: 0,
            faults: frame_faults(),
        }
    }

    /// The client sent this message.
    pub(super) fn asked(&mut self, message: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(message) else {
            return;
        };
        if is_call(&message) && self.open.len() < MOST_OPEN {
            self.open.insert(message["id"].to_string());
        }
    }

    /// The server said this: what is to arrive instead.
    pub(super) fn said(&mut self, message: Vec<u8>) -> Vec<Act> {
        let Ok(mut answer) = serde_json::from_slice::<Value>(&message) else {
            return vec![Act::Send(message)];
        };
        let is_answer = answer.get("method").is_none()
            && answer
                .get("id")
                .is_some_and(|id| self.open.remove(&id.to_string()));
        if !is_answer {
            return vec![Act::Send(message)];
        }
        self.answered += 1;
        let hit = self.plan.calls.contains(&self.answered);
        match self.plan.fault {
            // The next answer comes only after this one.
            FaultKind::Merge if hit => {
                let log = json!({
                    "jsonrpc": "2.0",
                    "method": "notifications/message",
                    "params": { "level": "info", "data": "an answer follows" },
                });
                vec![Act::SendTogether(vec![
                    log.to_string().into_bytes(),
                    message,
                ])]
            }
            // Ids are numbers here.
            FaultKind::WrongId if hit => {
                answer["id"] = NOBODYS_ID.into();
                vec![Act::Send(answer.to_string().into_bytes())]
            }
            kind => {
                let frame = Frame {
                    at_ms: 0,
                    bytes: message,
                };
                let hit = hit.then_some(FrameHit {
                    fault_idx: 0,
                    kind,
                    id: None,
                });
                let parts = self.faults.frame(frame, hit);
                // The next answer may come on another connection.
                if self.faults.is_over() {
                    self.faults = frame_faults();
                }
                parts.into_iter().map(|part| part.act).collect()
            }
        }
    }

    /// The connection is over, and with it what was still to come.
    pub(super) fn disconnected(&mut self) {
        self.open.clear();
        self.faults = frame_faults();
    }
}

fn frame_faults() -> FrameFaults {
    FrameFaults::new(FrameShape {
        id_in: |_| None,
        garbage: |_| GARBAGE.to_vec(),
    })
}

/// Whether a message calls a tool, in the words of MCP or in those of Claude in Chrome, where the questions
/// for a tab to work in belong to the connection and not to a step.
fn is_call(message: &Value) -> bool {
    match message["method"].as_str() {
        Some("tools/call") => true,
        Some("execute_tool") => !matches!(
            message["params"]["tool"].as_str(),
            Some("tabs_context_mcp" | "tabs_create_mcp")
        ),
        _ => false,
    }
}
