//! Small test cases and traces for the tests of the families.

use serde_json::json;

use crate::View;
use crate::assertions::parts::{Patterns, TextPattern, Texts, Tools};
use crate::model::{TestCase, TestContext, TestTools, TraceInput};
use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};
use cuecard_trace::{Event, Trace};

/// A run to be judged.
pub(super) struct Trial {
    pub case: TestCase,
    pub trace: Trace,
}

impl Trial {
    /// A run without events that ended with `output`.
    pub(super) fn new(output: &str) -> Self {
        let case = TestCase {
            id: "case".to_owned(),
            title: "case".to_owned(),
            description: None,
            tags: Vec::new(),
            input: TraceInput::TraceFile {
                file: "x.trace.json".into(),
                span: Span::default(),
            },
            context: TestContext::default(),
            tools: TestTools::default(),
            assertions: Vec::new(),
            expected: None,
            save_trace: false,
            redact_fields: Vec::new(),
            source: SourceFile::new("test.yaml", String::new()),
        };
        let mut trace = Trace::default();
        trace.header.scenario = json!({ "group_id": "group-a", "trigger": "user_message" });
        trace.header.capabilities =
            json!({ "supports_memory_events": true, "supports_scheduler_context": true });
        Self { case, trace }.event(
            "final_output",
            json!({ "role": "assistant", "content": output }),
        )
    }

    /// The same with one more event before the output; its `ts` counts milliseconds.
    pub(super) fn event(mut self, kind: &str, data: Json) -> Self {
        let at = self.trace.events.len().saturating_sub(1);
        let mut event: Event = serde_json::from_value(json!({
            "event_id": "", "seq": 0, "ts": "2026-02-24T10:00:00.000Z", "type": kind, "data": data,
            "group_id": data.get("group_id"), "task_id": data.get("task_id"),
        }))
        .expect("an event");
        if let Some(after) = data.get("at_ms").and_then(Json::as_i64) {
            event.ts = jiff::Timestamp::from_millisecond(after).expect("in range");
        }
        self.trace.events.insert(at, event);
        for (event, seq) in self.trace.events.iter_mut().zip(1..) {
            event.seq = seq;
            event.event_id = format!("e{seq}");
        }
        self
    }

    /// The same with one more event after the output.
    pub(super) fn late_event(self, kind: &str, data: Json) -> Self {
        let mut trial = self.event(kind, data);
        let last = trial.trace.events.len() - 1;
        trial.trace.events.swap(last - 1, last);
        for (event, seq) in trial.trace.events.iter_mut().zip(1..) {
            event.seq = seq;
            event.event_id = format!("e{seq}");
        }
        trial
    }

    /// The same with a call and its result.
    pub(super) fn result(self, tool: &str, result: Json) -> Self {
        let id = format!("call-{}", self.trace.events.len());
        self.event(
            "tool_call",
            json!({ "tool": tool, "call_id": id, "args": {} }),
        )
        .event(
            "tool_result",
            json!({ "tool": tool, "call_id": id, "success": true, "result": result }),
        )
    }

    pub(super) fn view(&self) -> View<'_> {
        View::new(&self.case, &self.trace)
    }
}

pub(super) fn tools(names: &[&str]) -> Tools {
    Tools(names.iter().map(|name| (*name).into()).collect())
}

pub(super) fn texts(texts: &[&str]) -> Texts {
    Texts(texts.iter().map(|text| (*text).to_owned()).collect())
}

pub(super) fn patterns(texts: &[&str]) -> Patterns {
    let patterns = texts.iter().map(|text| TextPattern {
        text: (*text).to_owned(),
        regex: regex::Regex::new(&format!("(?im){text}")).expect("a pattern"),
    });
    Patterns(patterns.collect())
}
