//! Timelines written by hand, for the tests of this folder.

use std::sync::Arc;

use crate::model::{
    AgentEdits, Block, BlockKind, Entry, EventKind, ExpectedResult, Response, ResponseElement,
    ResponseError, ServingCount, SessionStart, StopReasons, Timeline, TimelineAssert,
    TimelineEvent, ToolExecution, ToolExecutionEvent, ToolExecutionKind, ToolStatus, ToolUse,
    UserInput, When,
};
use cuecard_source::value::Json;
use cuecard_source::{SourceFile, Span};

/// The timeline in a text.
pub(super) fn read(text: &str) -> Timeline {
    use crate::format::{Symbols, read};
    let source = SourceFile::new("test.yaml", text);
    let read = read(&source, &Symbols::new());
    read.timeline.expect("no errors")
}

/// A timeline with these events, of which each has a line of its own in the source.
pub(super) fn timeline(events: Vec<EventKind>) -> Timeline {
    let line = "- event\n";
    Timeline {
        source: SourceFile::new("test.yaml", line.repeat(events.len())),
        name: "test".into(),
        events: events
            .into_iter()
            .enumerate()
            .map(|(idx, kind)| TimelineEvent {
                kind,
                path: format!("timeline[{idx}]"),
                span: Span::new(idx * line.len(), (idx + 1) * line.len() - 1),
                meta: Json::Null,
                fault: None,
            })
            .collect(),
        ..Timeline::default()
    }
}

/// `[n, …]`.
pub(super) fn delay(ms: u64) -> When {
    When::Delay(ms)
}

/// `relativeTime: n`.
pub(super) fn offset(ms: u64) -> When {
    When::Offset(ms)
}

fn entry<T>(when: When, value: T) -> Entry<T> {
    Entry {
        when,
        value,
        span: Span::default(),
    }
}

fn text_block(text: &str) -> Block {
    Block {
        kind: BlockKind::Text(text.into()),
        annotations: Json::Null,
        meta: Json::Null,
        compares_kind: false,
        span: Span::default(),
    }
}

pub(super) fn think(entries: &[(When, &str)]) -> ResponseElement {
    let entries = entries.iter();
    ResponseElement::Think(
        entries
            .map(|&(when, text)| entry(when, text.into()))
            .collect(),
    )
}

pub(super) fn say(entries: &[(When, &str)]) -> ResponseElement {
    let entries = entries.iter();
    ResponseElement::Assistant(
        entries
            .map(|&(when, text)| entry(when, text_block(text)))
            .collect(),
    )
}

pub(super) fn error(status: u16, repeat: ServingCount) -> ResponseElement {
    ResponseElement::Error(ResponseError {
        error_type: None,
        status,
        message: format!("error {status}"),
        details: Json::Null,
        retry_after_seconds: None,
        headers: Vec::new(),
        repeat,
        is_in_stream: false,
        span: Span::default(),
    })
}

pub(super) fn respond(elements: Vec<ResponseElement>) -> EventKind {
    EventKind::Response(Response {
        elements,
        usage: Json::Null,
        stop_reason: StopReasons::default(),
        refusal: None,
        continues: false,
    })
}

/// A response with one text.
pub(super) fn answer(text: &str) -> EventKind {
    respond(vec![say(&[(delay(0), text)])])
}

/// A call of a tool; change the rest with [`with_call`].
pub(super) fn call(id: &str, tool: &str, args: Json) -> EventKind {
    EventKind::ToolUse(ToolUse {
        tool: tool.into(),
        written_tool: None,
        tool_span: Span::default(),
        args: Arc::new(args),
        written_args: None,
        args_span: Span::default(),
        call_id: id.into(),
        raw_input: None,
        raw_arguments: None,
        is_validated: true,
        kind: None,
        progress: Vec::new(),
        expected_output: Vec::new(),
        result: None,
        status: ToolStatus::Ok,
        execution: None,
        delay_ms: 0,
    })
}

/// The call with something changed.
pub(super) fn with_call(mut event: EventKind, change: impl FnOnce(&mut ToolUse)) -> EventKind {
    if let EventKind::ToolUse(call) = &mut event {
        change(call);
    }
    event
}

pub(super) fn result(event: EventKind, value: Json) -> EventKind {
    with_call(event, |call| {
        call.result = Some(ExpectedResult::Value(value));
    })
}

pub(super) fn progress(entries: &[(When, &str)]) -> Vec<Entry<String>> {
    let entries = entries.iter();
    entries
        .map(|&(when, text)| entry(when, text.into()))
        .collect()
}

/// `toolExecution` with output at `outputs_ms` and, if given, a completion.
pub(super) fn execution(
    start_ms: u64,
    outputs_ms: &[u64],
    completion_ms: Option<u64>,
) -> ToolExecution {
    let outputs = outputs_ms.iter().map(|&time_ms| ToolExecutionEvent {
        time_ms,
        kind: ToolExecutionKind::Stdout("out".into()),
        span: Span::default(),
    });
    let completion = completion_ms.map(|time_ms| ToolExecutionEvent {
        time_ms,
        kind: ToolExecutionKind::Completion {
            exit_code: 0,
            content: None,
        },
        span: Span::default(),
    });
    ToolExecution {
        start_ms,
        events: outputs.chain(completion).collect(),
    }
}

/// An edit with text.
pub(super) fn edit(id: &str, path: &str, old: Option<&str>, new: Option<&str>) -> EventKind {
    EventKind::AgentEdits(AgentEdits {
        path: path.into(),
        lines_added: Some(1),
        lines_removed: Some(0),
        old_text: old.map(str::to_owned),
        new_text: new.map(str::to_owned),
        description: None,
        call_id: id.into(),
    })
}

pub(super) fn input(when: When, text: &str) -> UserInput {
    UserInput {
        when,
        blocks: vec![text_block(text)],
        is_plain: true,
        target: None,
        is_exact: false,
        expected_response: Json::Null,
        meta: Json::Null,
        span: Span::default(),
    }
}

pub(super) fn inputs(entries: &[(When, &str)]) -> EventKind {
    let entries = entries.iter();
    EventKind::UserInputs(entries.map(|&(when, text)| input(when, text)).collect())
}

/// One input without delay.
pub(super) fn ask(text: &str) -> EventKind {
    inputs(&[(delay(0), text)])
}

pub(super) fn session_start() -> EventKind {
    EventKind::SessionStart(SessionStart::default())
}

pub(super) fn check() -> EventKind {
    EventKind::Assert(Box::new(TimelineAssert { checks: Vec::new() }))
}
