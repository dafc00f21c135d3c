//! Which messages are hit, and what arrives in their place.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Fault, FaultPlan, OVERSIZE};

/// The size of a flood on standard error, in bytes.
pub const STDERR_FLOOD: usize = 8 * 1024 * 1024;

/// The most calls that are open at a time and can be hit.
const MOST_OPEN: usize = 10_000;
/// An id that no client counts up to.
pub const NOBODYS_ID: u64 = 987_654_321;
/// No JSON, and no UTF-8 either.
const GARBAGE: &[u8] = b"\xff\xfe<html>502 Bad Gateway</html>";

/// What is to arrive at the client. A message is the bytes of its JSON text, without the framing of its
/// transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// A message, in one piece.
    Send(Vec<u8>),
    /// A message, in many small pieces.
    SendSplit(Vec<u8>),
    /// Several messages, in one piece.
    SendTogether(Vec<Vec<u8>>),
    /// The first half of a message; then the connection ends.
    SendHalf(Vec<u8>),
    /// Nothing any more on this connection, which stays.
    Stall,
    /// The server is no more.
    Crash,
    /// So many bytes on standard error, where the server has one.
    FloodErrors(usize),
}

/// Disturbs what one server says, as planned. The connections to the server may follow each other.
#[derive(Debug)]
pub struct FaultInjector {
    plan: FaultPlan,
    /// The ids of calls that wait for their answers, as JSON.
    open: HashSet<String>,
    answered: u64,
    /// The answer that waits for another one to pass.
    held: Option<Vec<u8>>,
}

impl FaultInjector {
    /// Disturbs by this plan.
    pub fn new(plan: FaultPlan) -> Self {
        Self {
            plan,
            open: HashSet::new(),
            answered: 0,
            held: None,
        }
    }

    /// The client sent this message.
    pub fn asked(&mut self, message: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(message) else {
            return;
        };
        if is_call(&message) && self.open.len() < MOST_OPEN {
            self.open.insert(message["id"].to_string());
        }
    }

    /// The server said this: what is to arrive instead.
    pub fn said(&mut self, message: Vec<u8>) -> Vec<Act> {
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
        if !self.plan.calls.contains(&self.answered) {
            let late = self.held.take().map(Act::Send);
            return std::iter::once(Act::Send(message)).chain(late).collect();
        }
        match self.plan.fault {
            Fault::Cut => vec![Act::SendHalf(message)],
            Fault::Stall => vec![Act::Stall],
            Fault::Split => vec![Act::SendSplit(message)],
            Fault::Merge => {
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
            Fault::Garbage => vec![Act::Send(GARBAGE.to_vec())],
            Fault::Duplicate => vec![Act::Send(message.clone()), Act::Send(message)],
            Fault::Reorder => {
                let before = self.held.replace(message);
                before.map(Act::Send).into_iter().collect()
            }
            Fault::WrongId => {
                answer["id"] = NOBODYS_ID.into();
                vec![Act::Send(answer.to_string().into_bytes())]
            }
            Fault::Oversize => vec![Act::Send(padded(message, OVERSIZE))],
            Fault::Crash => vec![Act::Crash],
            Fault::StderrFlood => vec![Act::FloodErrors(STDERR_FLOOD), Act::Send(message)],
        }
    }

    /// The connection is over, and with it what was still to come.
    pub fn disconnected(&mut self) {
        self.open.clear();
        self.held = None;
    }
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

/// The same message with blanks behind its first brace, `size` bytes in all.
pub fn padded(message: Vec<u8>, size: usize) -> Vec<u8> {
    let blanks = size.saturating_sub(message.len());
    let mut padded = Vec::with_capacity(message.len() + blanks);
    let brace = message.iter().position(|byte| *byte == b'{');
    let (brace, rest) = message.split_at(brace.map_or(0, |at| at + 1));
    padded.extend_from_slice(brace);
    padded.resize(padded.len() + blanks, b' ');
    padded.extend_from_slice(rest);
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(value: &Value) -> Vec<u8> {
        value.to_string().into_bytes()
    }

    fn answer(id: u64) -> Vec<u8> {
        bytes(&json!({"jsonrpc": "2.0", "id": id, "result": {}}))
    }

    /// A disturber with `calls` calls open, whose ids count from 1.
    fn disturber(plan: &str, calls: u64) -> FaultInjector {
        let mut disturber = FaultInjector::new(plan.parse().expect("a plan"));
        for id in 1..=calls {
            disturber.asked(&bytes(&json!({"id": id, "method": "tools/call"})));
        }
        disturber
    }

    #[test]
    fn only_answers_to_calls_count_and_only_those_of_the_plan_are_hit() {
        let mut disturber = disturber("stall@2", 0);
        let passes = |disturber: &mut FaultInjector, message: Vec<u8>| {
            assert_eq!(disturber.said(message.clone()), [Act::Send(message)]);
        };
        for (id, method) in ["initialize", "tools/list"].into_iter().enumerate() {
            disturber.asked(&bytes(&json!({"id": id, "method": method})));
            passes(&mut disturber, answer(id as u64));
        }
        passes(&mut disturber, b"no JSON".to_vec());
        passes(&mut disturber, bytes(&json!({"id": 7, "method": "ping"})));
        let call = |disturber: &mut FaultInjector, id: u64, params: Value| {
            let call = json!({"id": id, "method": "execute_tool", "params": params});
            disturber.asked(&bytes(&call));
            disturber.said(answer(id))
        };
        let sent = |id| vec![Act::Send(answer(id))];
        let tab = json!({"tool": "tabs_context_mcp"});
        assert_eq!(call(&mut disturber, 7, tab), sent(7));
        let find = json!({"tool": "find"});
        assert_eq!(call(&mut disturber, 8, find.clone()), sent(8));
        assert_eq!(call(&mut disturber, 9, find.clone()), [Act::Stall]);
        assert_eq!(call(&mut disturber, 10, find), sent(10));
    }

    #[test]
    fn a_held_answer_comes_after_the_next_one_unless_the_connection_ended() {
        let mut reordered = disturber("reorder", 2);
        assert_eq!(reordered.said(answer(2)), []);
        assert_eq!(
            reordered.said(answer(1)),
            [Act::Send(answer(1)), Act::Send(answer(2))]
        );
        let mut ended = disturber("reorder", 1);
        assert_eq!(ended.said(answer(1)), []);
        ended.disconnected();
        ended.asked(&bytes(&json!({"id": 2, "method": "tools/call"})));
        assert_eq!(ended.said(answer(2)), [Act::Send(answer(2))]);
    }

    #[test]
    fn an_oversized_answer_is_the_same_answer() {
        let acts = disturber("oversize", 1).said(answer(1));
        let [Act::Send(message)] = &acts[..] else {
            panic!("one message");
        };
        assert_eq!(message.len(), OVERSIZE);
        let read: Value = serde_json::from_slice(message).expect("JSON");
        assert_eq!(bytes(&read), answer(1));
    }

    #[test]
    fn each_fault_is_what_it_is_called() {
        let acts = |plan| disturber(plan, 1).said(answer(1));
        assert_eq!(acts("cut"), [Act::SendHalf(answer(1))]);
        assert_eq!(acts("split"), [Act::SendSplit(answer(1))]);
        assert_eq!(acts("crash"), [Act::Crash]);
        assert_eq!(
            acts("duplicate"),
            [Act::Send(answer(1)), Act::Send(answer(1))]
        );
        assert_eq!(
            acts("stderr-flood"),
            [Act::FloodErrors(STDERR_FLOOD), Act::Send(answer(1))]
        );
        assert!(
            matches!(&acts("merge")[..], [Act::SendTogether(both)] if both.len() == 2 && both[1] == answer(1))
        );
        for plan in ["garbage", "wrong-id"] {
            assert!(
                matches!(&acts(plan)[..], [Act::Send(message)] if *message != answer(1)),
                "{plan}"
            );
        }
    }
}
