//! Small traces and test cases for the tests of the families.

use std::path::PathBuf;

use jiff::Timestamp;
use regex::RegexBuilder;
use serde_json::json;

use super::{Beside, Finding, View};
use crate::assertions::parts::{Args, Selector, TextPattern, ToolPattern};
use crate::model::{
    Assertion, AssertionCheck, Severity, TestCase, TestContext, TestTools, TraceInput,
};
use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};
use cuecard_trace::{
    End, ErrorHappened, Event, EventData, FinalOutput, Header, Message, MessageReceived, Metrics,
    RunStatus, ToolCall, ToolResult, Trace,
};

/// The events of a trace, one after the other.
#[derive(Default)]
pub(super) struct Events {
    events: Vec<Event>,
    metrics: Metrics,
    output: Option<FinalOutput>,
}

impl Events {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn event(mut self, data: EventData) -> Self {
        let seq = self.events.len() as u64 + 1;
        let event = Event::live(seq, Timestamp::UNIX_EPOCH, data);
        self.events.push(event);
        self
    }

    pub(super) fn user(self, content: &str) -> Self {
        self.event(EventData::MessageReceived(MessageReceived {
            role: "user".into(),
            content: content.into(),
        }))
    }

    pub(super) fn says(self, content: &str) -> Self {
        self.event(EventData::Message(Message {
            role: "assistant".into(),
            content: content.into(),
        }))
    }

    pub(super) fn call(self, tool: &str, call_id: &str, args: Json) -> Self {
        self.event(EventData::ToolCall(ToolCall {
            tool: tool.to_owned().into(),
            call_id: call_id.into(),
            args: args.into(),
            native_tool: None,
            attempt: None,
        }))
    }

    pub(super) fn result(self, tool: &str, call_id: &str, success: bool, result: Json) -> Self {
        self.event(EventData::ToolResult(ToolResult {
            tool: tool.to_owned().into(),
            call_id: call_id.into(),
            success,
            result: result.into(),
            text: None,
            structured: None,
            fixture_id: None,
            duration_ms: Some(3.0),
        }))
    }

    /// What the agent says on the way.
    pub(super) fn message(self, content: &str) -> Self {
        self.event(EventData::Message(cuecard_trace::Message {
            role: "assistant".into(),
            content: content.into(),
        }))
    }

    pub(super) fn error(self, tool: &str, call_id: Option<&str>, error_type: &str) -> Self {
        self.event(EventData::ErrorHappened(ErrorHappened {
            scope: "tool".into(),
            tool: Some(tool.to_owned().into()),
            call_id: call_id.map(Into::into),
            error_type: error_type.into(),
            message: "it went wrong".into(),
            retryable: true,
        }))
    }

    /// The last answer, as an event and at the end.
    pub(super) fn output(self, content: &str) -> Self {
        let output = final_output(content);
        let mut events = self.event(EventData::FinalOutput(output.clone()));
        events.output = Some(output);
        events
    }

    pub(super) fn metrics(mut self, timing_ms_total: f64, token_usage: Option<u64>) -> Self {
        self.metrics.timing_ms_total = timing_ms_total;
        self.metrics.token_usage = token_usage;
        self
    }

    pub(super) fn trace(self) -> Trace {
        Trace {
            header: Header {
                schema_version: cuecard_trace::SCHEMA_VERSION.into(),
                trace_id: "t".into(),
                test_run_id: "r".into(),
                capabilities: json!({"supports_tool_trace": true}),
                ..Header::default()
            },
            events: self.events,
            end: Some(End {
                final_output: self.output,
                status: RunStatus::Success,
                metrics: self.metrics,
                artifacts: serde_json::Map::new(),
            }),
        }
    }
}

pub(super) fn final_output(content: &str) -> FinalOutput {
    FinalOutput {
        role: "assistant".into(),
        content: content.into(),
        format_hint: None,
    }
}

/// A trace that only answers.
pub(super) fn answer(content: &str) -> Trace {
    Events::new().user("please").output(content).trace()
}

pub(super) fn case() -> TestCase {
    TestCase {
        id: "case".into(),
        title: "case".into(),
        description: None,
        tags: Vec::new(),
        input: TraceInput::TraceFile {
            file: PathBuf::new(),
            span: Span::default(),
        },
        context: TestContext::default(),
        tools: TestTools::default(),
        assertions: Vec::new(),
        expected: None,
        save_trace: false,
        redact_fields: Vec::new(),
        source: SourceFile::new("test.yaml", ""),
    }
}

pub(super) fn assertion(check: impl Into<AssertionCheck>) -> Assertion {
    Assertion {
        id: "a1".into(),
        severity: Severity::Critical,
        requires_capabilities: Vec::new(),
        check: check.into(),
        params: Json::Null,
        span: Span::default(),
    }
}

/// What `check` finds in `trace` for the plainest test case.
pub(super) fn judged(check: impl Into<AssertionCheck>, trace: &Trace) -> Finding {
    judged_for(&case(), check, trace)
}

/// What `check` finds in `trace` for `case`.
pub(super) fn judged_for(
    case: &TestCase,
    check: impl Into<AssertionCheck>,
    trace: &Trace,
) -> Finding {
    let beside = Beside::default();
    let view = View::new(case, trace).with(&beside);
    check.into().judge(&view)
}

pub(super) fn tool(text: &str) -> ToolPattern {
    text.into()
}

pub(super) fn selector(event_type: &str) -> Selector {
    Selector {
        event_type: Some(event_type.into()),
        ..Selector::default()
    }
}

/// A selector of the events of a type and a tool.
pub(super) fn selects(event_type: &str, name: &str) -> Selector {
    Selector {
        tool: Some(tool(name)),
        ..selector(event_type)
    }
}

/// A regular expression as the reader of test cases makes it.
pub(super) fn pattern(text: &str) -> TextPattern {
    TextPattern {
        text: text.into(),
        regex: RegexBuilder::new(text)
            .case_insensitive(true)
            .multi_line(true)
            .build()
            .expect("a pattern"),
    }
}

/// Dotted keys and their values.
pub(super) fn args(pairs: &[(&str, Json)]) -> Args {
    let pairs = pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()));
    Args(pairs.collect())
}
