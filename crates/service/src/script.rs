//! What a timeline is to a service: the events that its sessions tell, in order and with their times.

use std::sync::Arc;

use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::matching::changed_lines;
use cuecard_source::value::{Json, as_text, cut};
use cuecard_timeline::model::{
    AgentEdits, BlockKind, EventKind, ExpectedResult, PlanEntry, PlanStatus, ResponseElement,
    SessionStatus, Timeline, ToolExecutionKind, ToolStatus, ToolUse, UserInput,
};
use cuecard_timeline::script::{
    Act, EventPart, PlayerKind, PromptSegments, Schedule, block_text, parts,
};
use serde_json::json;

use super::awaited::AwaitedPrompt;

/// Longer texts of a diff are cut, in bytes.
const LONGEST_DIFF: usize = 64 << 10;
/// Texts with more lines are cut too.
const MOST_DIFF_LINES: usize = 2000;
/// So many lines stay at each end of such a text.
const KEPT_LINES: usize = 200;

/// A timeline as a service plays it.
#[derive(Debug)]
pub(crate) struct ServiceScript {
    pub(crate) timeline: Arc<Timeline>,
    /// What sessions tell, in order.
    pub(crate) steps: Vec<Step>,
    /// Its prompts: that of the task, and those that it waits for, if it does.
    pub(crate) prompts: Vec<AwaitedPrompt>,
    /// How many of them are history, which is there at once.
    pub(crate) n_history: usize,
    /// When what follows the history begins, in milliseconds.
    pub(crate) origin_ms: u64,
}

/// Something that happens in a session.
#[derive(Debug)]
pub(crate) struct Step {
    /// When, in milliseconds of the timeline.
    pub(crate) at_ms: u64,
    pub(crate) place: StepPlace,
    pub(crate) act: StepAct,
}

/// Where a step stands in its timeline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepPlace {
    /// The event that says so.
    pub(crate) event_idx: usize,
    /// How long after the start of that event, in milliseconds.
    pub(crate) into_ms: u64,
}

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StepAct {
    /// An event is told; it has no `ts` yet.
    Tell(Json),
    /// The user says something, which a service may wait for.
    Prompt(String),
    /// The status becomes another.
    Status(SessionStatus),
    /// The session is listed though it is completed.
    Merge,
}

/// Whether nothing follows this status.
pub(crate) fn is_final(status: SessionStatus) -> bool {
    matches!(
        status,
        SessionStatus::Stopped
            | SessionStatus::Completed
            | SessionStatus::Failed
            | SessionStatus::Cancelled
    )
}

impl ServiceScript {
    /// Reads a timeline, with what is doubtful about it. A service that `waits` for prompts tells what follows one after
    /// all that comes before it, whenever it was due.
    pub(crate) fn compile(
        timeline: Arc<Timeline>,
        waits: bool,
        is_strict: bool,
    ) -> (Self, Vec<Diagnostic>) {
        let compiled = Schedule::compile(&timeline, is_strict);
        let (schedule, mut found) = (compiled.schedule, compiled.diagnostics);
        let n_events = timeline.events.len();
        let boundary = timeline.boundary().unwrap_or(0);
        let steps_of = |events| {
            let parts = parts(&schedule, events).into_iter();
            parts.flat_map(|part| {
                let acts = acts_of(&timeline.events[part.event_idx].kind, part.part);
                let start_ms = schedule.events[part.event_idx].start_ms;
                let act_of = move |mut act: StepAct| {
                    // The pieces of a response are told apart from those of the next one.
                    if let StepAct::Tell(event) = &mut act
                        && matches!(
                            part.part,
                            EventPart::Think { .. } | EventPart::Assistant { .. }
                        )
                        && matches!(event["type"].as_str(), Some("message" | "thought"))
                    {
                        event["response_id"] = json!(format!("response_{}", part.event_idx));
                    }
                    act
                };
                acts.into_iter().map(act_of).map(move |act| Step {
                    at_ms: part.at_ms,
                    place: StepPlace {
                        event_idx: part.event_idx,
                        into_ms: part.at_ms.saturating_sub(start_ms),
                    },
                    act,
                })
            })
        };
        let mut steps: Vec<Step> = steps_of(0..boundary).collect();
        let n_history = steps.len();
        // A prompt comes when the turn before it has ended, whenever it was due.
        let (segments, _) = PromptSegments::compile(&timeline, &schedule);
        let now_ms = schedule.origin_of(boundary);
        let mut end_ms = 0;
        let first = segments.live.first().and_then(|segment| segment.input);
        if let Some(first) = first {
            for step in steps_of(boundary..first.event_idx) {
                let at_ms = step.at_ms.saturating_sub(now_ms);
                end_ms = end_ms.max(at_ms);
                steps.push(Step { at_ms, ..step });
            }
        }
        for (segment_idx, segment) in segments.live.iter().enumerate() {
            let mut begins_ms = end_ms;
            if let (Some(input), Some(at)) = (segments.input(&timeline, segment_idx), segment.input)
            {
                if !waits {
                    begins_ms = begins_ms.max(segment.prompt_ms.saturating_sub(now_ms));
                }
                let text = input.prompt_text().unwrap_or_default();
                steps.push(Step {
                    at_ms: begins_ms,
                    place: StepPlace {
                        event_idx: at.event_idx,
                        into_ms: 0,
                    },
                    act: StepAct::Prompt(text),
                });
            }
            end_ms = begins_ms;
            for step in steps_of(segment.events.clone()) {
                let lane = schedule.events[step.place.event_idx].lane;
                let at_ms = segment.origin_of(lane).map_or(end_ms, |origin_ms| {
                    begins_ms + step.at_ms.saturating_sub(origin_ms)
                });
                end_ms = end_ms.max(at_ms);
                steps.push(Step { at_ms, ..step });
            }
        }
        let origin_ms = 0;
        let after_all = |at_ms, act| Step {
            at_ms,
            place: StepPlace {
                event_idx: n_events,
                into_ms: 0,
            },
            act,
        };
        let ends = steps
            .iter()
            .position(|step| matches!(step.act, StepAct::Status(status) if is_final(status)));
        match ends {
            None => {
                let fails = matches!(
                    steps.last(),
                    Some(Step { act: StepAct::Tell(event), .. }) if event["type"] == "error"
                );
                let status = match fails {
                    true => SessionStatus::Failed,
                    false => SessionStatus::Completed,
                };
                let message = format!(
                    "the timeline ends without a final status: its sessions are {} then",
                    status.as_str()
                );
                let note = Diagnostic::note(codes::TIMELINE_REST_NO_END, message);
                let last = timeline.events.last();
                found.push(match last {
                    Some(event) => note.at(&timeline.source, event.span),
                    None => note,
                });
                steps.push(after_all(end_ms, StepAct::Status(status)));
            }
            Some(end) => {
                let merges = steps[end..].iter().any(|step| step.act == StepAct::Merge);
                let late = steps[end + 1..]
                    .iter()
                    .find(|step| step.act != StepAct::Merge);
                if let Some(late) = late {
                    let message = "this comes after a final status: no session tells it";
                    let event = &timeline.events[late.place.event_idx];
                    let warning = Diagnostic::warning(codes::TIMELINE_REST_LATE, message)
                        .at(&timeline.source, event.span)
                        .with_pointer(event.path.clone());
                    found.push(warning.strictly(is_strict));
                }
                steps.truncate(end + 1);
                if merges {
                    let merge = after_all(steps[end].at_ms, StepAct::Merge);
                    steps.insert(end, merge);
                }
            }
        }
        for event in &timeline.events {
            if PlayerKind::Rest.cell(&event.kind).act == Act::NotEvaluated {
                let message = format!("`{}` is not evaluated by a service", event.kind.as_str());
                let note = Diagnostic::note(codes::MODEL_ASSERT_UNJUDGED, message);
                found.push(note.at(&timeline.source, event.span));
            }
        }
        let prompts = steps[n_history.min(steps.len())..].iter();
        let n_prompts = prompts
            .filter(|step| matches!(step.act, StepAct::Prompt(_)))
            .count();
        let inputs = (0..segments.live.len()).filter_map(|idx| segments.input(&timeline, idx));
        let prompts = inputs.take(n_prompts).map(AwaitedPrompt::of);
        let script = Self {
            prompts: prompts.collect(),
            origin_ms,
            steps,
            n_history,
            timeline,
        };
        (script, found)
    }

    /// T-REST-03: `who` got a prompt that is not the one of this number, from 0. `why` says what differs beside the text.
    pub(crate) fn unscripted(
        &self,
        who: &str,
        text: &str,
        prompt_idx: usize,
        why: Option<String>,
    ) -> Diagnostic {
        let message = format!("{who} got a prompt that is not the scripted one");
        let found = Diagnostic::error(codes::TIMELINE_REST_PROMPT, message);
        let quoted = |text: &str| format!("{:?}", cut(text, 200));
        let (found, expected) = match self.prompts.get(prompt_idx) {
            Some(prompt) => (
                found.at(&self.timeline.source, prompt.input.span),
                quoted(prompt.input.text.as_deref().unwrap_or_default()),
            ),
            None => (found, "no further prompt".to_owned()),
        };
        let mut found = found
            .with_note(format!("expected {expected}"))
            .with_note(format!("arrived  {}", quoted(text)));
        found.notes.extend(why);
        found
    }
}

/// What a part of an event is to a session.
fn acts_of(kind: &EventKind, part: EventPart) -> Vec<StepAct> {
    let log = |message: String| vec![StepAct::Tell(log_event("info", &message))];
    let told = |event: Json| vec![StepAct::Tell(event)];
    match (kind, part) {
        (EventKind::Response(response), part) => match part {
            EventPart::Think {
                element_idx,
                entry_idx,
            } => match response.elements.get(element_idx) {
                Some(ResponseElement::Think(entries)) => {
                    told(json!({"type": "thought", "thought": entries[entry_idx].value}))
                }
                _ => Vec::new(),
            },
            EventPart::Assistant {
                element_idx,
                entry_idx,
            } => match response.elements.get(element_idx) {
                Some(ResponseElement::Assistant(entries)) => {
                    let block = &entries[entry_idx].value;
                    match &block.kind {
                        BlockKind::Diff {
                            path,
                            old_text,
                            new_text,
                        } => told(diff(None, path, old_text.as_deref(), new_text)),
                        BlockKind::Plan(entries) => log(plan(entries)),
                        _ => told(message("assistant", &block_text(block))),
                    }
                }
                _ => Vec::new(),
            },
            EventPart::Error(element_idx) => match response.elements.get(element_idx) {
                Some(ResponseElement::Error(error)) => {
                    told(json!({"type": "error", "message": error.message}))
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        },
        (EventKind::ToolUse(call), part) => {
            of_call(call, part).into_iter().map(StepAct::Tell).collect()
        }
        (EventKind::AgentEdits(edit), _) => of_edit(edit).into_iter().map(StepAct::Tell).collect(),
        (EventKind::UserInputs(inputs), EventPart::Input(idx)) => {
            let text = inputs.get(idx).and_then(UserInput::prompt_text);
            vec![StepAct::Prompt(text.unwrap_or_default())]
        }
        (EventKind::Log(line), _) => told(log_event(line.level.as_str(), &line.message)),
        (EventKind::Status(status), _) => vec![StepAct::Status(*status)],
        (EventKind::Complete, _) => vec![StepAct::Status(SessionStatus::Completed)],
        (EventKind::Merge, _) => vec![StepAct::Merge],
        (EventKind::AgentPlan(update), _) => log(plan(&update.entries)),
        (EventKind::UserEdits { patch, .. }, _) => log(format!("user edit: {}", patch.display())),
        (EventKind::UserCommand(command), _) => {
            let program = command.program.as_deref().unwrap_or_default();
            let words: Vec<&str> = [program]
                .into_iter()
                .chain(command.args.iter().map(String::as_str))
                .collect();
            let line = command
                .shell_line
                .clone()
                .unwrap_or_else(|| words.join(" "));
            log(format!("user command: {}", line.trim()))
        }
        (EventKind::ApplyPatch(patch), _) => log(format!("patch: {}", patch.path.display())),
        (EventKind::UserCancelSession { .. }, _) => log("the user cancels".to_owned()),
        (EventKind::Initialize(_), _) => log("initialize".to_owned()),
        (EventKind::Authenticate(method), _) => log(format!("authenticate: {}", method.method_id)),
        (EventKind::SetMode { mode_id }, _) => log(format!("mode: {mode_id}")),
        (EventKind::SetModel { model_id }, _) => log(format!("model: {model_id}")),
        (EventKind::PermissionRequest(request), _) => {
            let title = request.tool_call["title"].as_str().unwrap_or("a tool call");
            log(format!("permission requested: {title}"))
        }
        (EventKind::AgentFileReads(reads), _) => {
            let paths: Vec<&str> = reads.iter().map(|read| read.path.as_str()).collect();
            log(format!("read: {}", paths.join(", ")))
        }
        (kind, EventPart::Whole) if PlayerKind::Rest.cell(kind).act == Act::Acts => {
            log(format!("{}: {}", kind.as_str(), kind.summary()))
        }
        _ => Vec::new(),
    }
}

/// What the user or the agent says.
pub(crate) fn message(role: &str, content: &str) -> Json {
    json!({"type": "message", "role": role, "content": content})
}

fn log_event(level: &str, message: &str) -> Json {
    json!({"type": "log", "level": level, "message": message})
}

fn plan(entries: &[PlanEntry]) -> String {
    let lines = entries
        .iter()
        .map(|entry| format!("\n- [{}] {}", mark_of(entry.status), entry.content));
    format!("plan:{}", lines.collect::<String>())
}

fn mark_of(status: PlanStatus) -> char {
    match status {
        PlanStatus::Pending => ' ',
        PlanStatus::InProgress => '~',
        PlanStatus::Completed => 'x',
    }
}

fn of_call(call: &ToolUse, part: EventPart) -> Vec<Json> {
    let id = &call.call_id;
    let output = |level: &str, message: &str, stream: Option<&str>| {
        let mut event = log_event(level, message);
        event["tool_execution_id"] = json!(id);
        if let Some(stream) = stream {
            event["stream"] = json!(stream);
        }
        vec![event]
    };
    match part {
        EventPart::CallStart => vec![json!({
            "type": "tool_use",
            "tool_name": call.tool,
            "tool_args": call.args,
            "tool_execution_id": id,
            "status": "started",
        })],
        EventPart::CallProgress(idx) => match call.progress.get(idx) {
            Some(entry) => output("info", &entry.value, None),
            None => Vec::new(),
        },
        EventPart::CallExecution(idx) => {
            let event = call
                .execution
                .as_ref()
                .and_then(|execution| execution.events.get(idx));
            match event.map(|event| &event.kind) {
                Some(ToolExecutionKind::Stdout(text)) => output("info", text, Some("stdout")),
                Some(ToolExecutionKind::Stderr(text)) => output("warn", text, Some("stderr")),
                Some(ToolExecutionKind::Progress(text)) => output("info", text, None),
                Some(ToolExecutionKind::Completion { .. }) | None => Vec::new(),
            }
        }
        EventPart::CallEnd if call.status != ToolStatus::Open => {
            let status = match call.status {
                ToolStatus::Error => "failed",
                _ => "completed",
            };
            let mut event = json!({
                "type": "tool_result",
                "tool_name": call.tool,
                "tool_output": result_of(call),
                "tool_execution_id": id,
                "status": status,
            });
            if let Some(code) = exit_code_of(call) {
                event["exit_code"] = json!(code);
            }
            vec![event]
        }
        _ => Vec::new(),
    }
}

/// The exit code that a simulated call ends with.
fn exit_code_of(call: &ToolUse) -> Option<i64> {
    let events = call
        .execution
        .iter()
        .flat_map(|execution| &execution.events);
    events.rev().find_map(|event| match &event.kind {
        ToolExecutionKind::Completion { exit_code, .. } => Some(*exit_code),
        _ => None,
    })
}

/// The text that a call ends with: what is scripted, else what it printed.
fn result_of(call: &ToolUse) -> String {
    match &call.result {
        Some(ExpectedResult::Value(value) | ExpectedResult::Json(value)) => {
            return as_text(value).into_owned();
        }
        Some(ExpectedResult::Contains(_) | ExpectedResult::Regex(_)) | None => {}
    }
    let events = call
        .execution
        .iter()
        .flat_map(|execution| &execution.events);
    let mut printed = String::new();
    for event in events {
        match &event.kind {
            ToolExecutionKind::Completion {
                content: Some(content),
                ..
            } => return content.clone(),
            ToolExecutionKind::Stdout(text) => printed.push_str(text),
            _ => {}
        }
    }
    printed
}

fn of_edit(edit: &AgentEdits) -> Vec<Json> {
    let counted = edit
        .new_text
        .as_deref()
        .map(|new| changed_lines(edit.old_text.as_deref().unwrap_or_default(), new));
    let (added, removed) = counted.unwrap_or_default();
    let mut told = json!({
        "type": "file_edit",
        "file_path": edit.path,
        "lines_added": edit.lines_added.unwrap_or(added),
        "lines_removed": edit.lines_removed.unwrap_or(removed),
    });
    if let Some(description) = &edit.description {
        told["description"] = json!(description);
    }
    let mut events = vec![told];
    if let Some(new) = &edit.new_text {
        events.push(diff(
            Some(&edit.call_id),
            &edit.path,
            edit.old_text.as_deref(),
            new,
        ));
    }
    events
}

fn diff(call_id: Option<&str>, path: &str, old: Option<&str>, new: &str) -> Json {
    let (old, new) = (old.unwrap_or_default(), new);
    let mut event = json!({"type": "diff", "path": path});
    if let Some(id) = call_id {
        event["tool_execution_id"] = json!(id);
    }
    let (shown_old, shown_new) = (shortened(old), shortened(new));
    let is_cut = shown_old.is_some() || shown_new.is_some();
    event["oldText"] = json!(shown_old.as_deref().unwrap_or(old));
    event["newText"] = json!(shown_new.as_deref().unwrap_or(new));
    if is_cut {
        event["truncated"] = json!(true);
    }
    event
}

/// Head and tail of a text that is too long to be shown whole.
fn shortened(text: &str) -> Option<String> {
    let n_lines = text.lines().count();
    if text.len() <= LONGEST_DIFF && n_lines <= MOST_DIFF_LINES {
        return None;
    }
    let limit = LONGEST_DIFF / 2;
    let head: String = text
        .lines()
        .take(KEPT_LINES)
        .map(|line| format!("{line}\n"))
        .collect();
    let mut tail: Vec<&str> = text.lines().rev().take(KEPT_LINES).collect();
    tail.reverse();
    let tail = tail.join("\n");
    let head = &head[..floor(&head, limit)];
    let from = tail.len().saturating_sub(limit);
    let tail = &tail[(from..=tail.len())
        .find(|at| tail.is_char_boundary(*at))
        .unwrap_or(tail.len())..];
    Some(format!("{head}…\n{tail}"))
}

/// The nearest place at or before `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}
