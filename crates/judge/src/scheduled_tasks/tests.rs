use serde_json::json;

use super::*;
use crate::Verdict;
use crate::trials::{Trial, tools};

fn scheduled() -> Trial {
    let mut trial = Trial::new("x").event(
        "tool_call",
        json!({ "tool": "t", "call_id": "c", "task_id": "task-a" }),
    );
    trial.trace.header.scenario = json!({ "trigger": "scheduler", "task_id": "task-a" });
    trial
}

#[test]
fn a_task_runs() {
    let trial = scheduled();
    assert_eq!(
        task_ran(&trial.view(), Some("task-a"), "scheduler").verdict,
        Verdict::Holds
    );
    assert_eq!(
        task_ran(&trial.view(), None, "scheduler").verdict,
        Verdict::Holds
    );
    assert_eq!(
        task_ran(&trial.view(), Some("task-b"), "scheduler").verdict,
        Verdict::Fails
    );
    assert_eq!(
        task_ran(&trial.view(), Some("task-a"), "user_message").verdict,
        Verdict::Fails
    );
    let mut silent = Trial::new("x");
    silent.trace.header.scenario = json!({ "trigger": "scheduler", "task_id": "task-a" });
    assert_eq!(
        task_ran(&silent.view(), Some("task-a"), "scheduler").verdict,
        Verdict::Fails
    );
    // Nothing was said, and that was all.
    let mut trial = Trial::new("").event(
        "final_output",
        json!({ "role": "assistant", "content": " ", "task_id": "task-a" }),
    );
    trial.trace.header.scenario = json!({ "trigger": "scheduler", "task_id": "task-a" });
    trial.trace.events[0].task_id = Some("task-a".into());
    let finding = task_ran(&trial.view(), None, "scheduler");
    assert_eq!(finding.verdict, Verdict::Fails);
    assert!(
        finding.message.starts_with("no event"),
        "{}",
        finding.message
    );
    let mut other = scheduled();
    other.trace.header.scenario["scheduler_context"] = json!({ "task_id": "task-c" });
    assert_eq!(
        task_ran(&other.view(), Some("task-a"), "scheduler").verdict,
        Verdict::Fails
    );
    let mut chat = Trial::new("x");
    chat.trace.header.scenario = json!({});
    chat.trace.header.capabilities = json!({ "supports_scheduler_context": false });
    assert_eq!(
        task_ran(&chat.view(), Some("task-a"), "scheduler").verdict,
        Verdict::Skipped
    );
    let untriggered = Trial::new("x");
    assert_eq!(
        task_ran(&untriggered.view(), None, "scheduler").verdict,
        Verdict::Fails
    );
}

fn sends(contents: &[(&str, bool)]) -> Trial {
    contents.iter().zip(0..).fold(Trial::new("x"), |trial, ((content, success), n)| {
        trial
            .event("tool_call", json!({ "tool": "outbound_send", "call_id": format!("c{n}"), "args": { "message": { "text": content } } }))
            .event("tool_result", json!({ "tool": "outbound_send", "call_id": format!("c{n}"), "success": success }))
    })
}

#[test]
fn successful_sends_are_counted() {
    let tool = tools(&["outbound_send"]).remove(0);
    let count = |contents: &[(&str, bool)], exact, min, max, key| {
        sent(&sends(contents).view(), &tool, exact, min, max, key)
    };
    assert_eq!(
        count(&[("a", true)], Some(1), None, None, None).verdict,
        Verdict::Holds
    );
    assert_eq!(
        count(&[("a", true), ("a", true)], Some(1), None, None, None).verdict,
        Verdict::Fails
    );
    assert_eq!(
        count(&[("a", false), ("a", true)], Some(1), None, None, None).verdict,
        Verdict::Holds
    );
    assert_eq!(
        count(&[("a", false)], Some(1), None, None, None).verdict,
        Verdict::Fails
    );
    assert_eq!(
        count(&[("a", true), ("b", true)], None, Some(1), Some(2), None).verdict,
        Verdict::Holds
    );
    assert_eq!(
        count(&[("a", true), ("b", true)], None, None, Some(1), None).verdict,
        Verdict::Fails
    );
    assert_eq!(
        count(
            &[("a", true), ("b", true)],
            None,
            None,
            None,
            Some("message.text")
        )
        .verdict,
        Verdict::Holds
    );
    let finding = count(
        &[("a", true), ("a", true)],
        None,
        None,
        Some(5),
        Some("message.text"),
    );
    assert_eq!(finding.verdict, Verdict::Fails);
    assert_eq!(
        finding.observed["duplicates"],
        json!([{ "key": "\"a\"", "events": ["e2", "e4"] }])
    );
    // However it is written, it is the same message.
    let again = [("Ann ", true), ("ann", true)];
    let finding = count(&again, None, None, None, Some("message.text"));
    assert_eq!(finding.verdict, Verdict::Fails, "{}", finding.message);
    // Nobody knows whether it was sent twice.
    let finding = count(&[("a", true)], None, None, None, Some("message.txt"));
    assert_eq!(finding.verdict, Verdict::Undecided, "{}", finding.message);
    let none = count(&[], Some(0), None, None, None);
    assert!(none.vacuous && none.verdict == Verdict::Holds);
    assert_eq!(count(&[], None, None, None, None).verdict, Verdict::Fails);
    // A result told twice is one send.
    let twice = sends(&[("a", true)]).event(
        "tool_result",
        json!({ "tool": "outbound_send", "call_id": "c0", "success": true }),
    );
    assert_eq!(
        sent(&twice.view(), &tool, Some(1), None, None, None).verdict,
        Verdict::Holds
    );
}

#[test]
fn a_tool_may_be_called_as_the_agent_calls_it() {
    let tool = tools(&["SendMessage"]).remove(0);
    let trial = Trial::new("x")
        .event("tool_call", json!({ "tool": "outbound_send", "native_tool": "SendMessage", "call_id": "c", "args": {} }))
        .event("tool_result", json!({ "tool": "outbound_send", "call_id": "c", "success": true }));
    let finding = sent(&trial.view(), &tool, Some(1), None, None, None);
    assert_eq!(finding.verdict, Verdict::Holds, "{}", finding.message);
}
