//! The result of `play` as one JSON document, written as a stream: steps as they end, totals last.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, json};

use cuecard_source::value::Json;
use cuecard_tool_call::script::{Verdict, step_of_call};
use cuecard_trace::{Attempt, Event, EventData, Milliseconds, Restored, StepFinished, StepStatus};

use super::PlayTotals;

/// Which results stand in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IncludeResults {
    /// None.
    #[default]
    Never,
    /// Those of steps that failed, tolerated or not.
    OnFailure,
    /// All.
    Always,
}

/// Writes the document. Holds the call and the result of the steps under way, the numbers of the steps and the outputs.
#[derive(Debug)]
pub struct PlayJson<W> {
    out: W,
    /// The entry being written: many small writes are cheaper into memory.
    entry: Vec<u8>,
    include: IncludeResults,
    steps: usize,
    /// The steps under way: several only of a group.
    under_way: BTreeMap<u64, UnderWay>,
    /// When the step began whose elements follow.
    step_started: Option<jiff::Timestamp>,
    /// Their entries so far, with commas between them.
    elements: Vec<u8>,
    /// How many of their calls repeated a failed one.
    retries: usize,
    /// Numbers of the steps that let the run go on.
    completed: Vec<u64>,
    outputs: Map<String, Json>,
    failed: Option<Failed>,
}

/// What is known of a step that has begun, or of the element that it runs for.
#[derive(Debug, Default)]
struct UnderWay {
    started: Option<jiff::Timestamp>,
    params: Arc<Json>,
    result: Arc<Json>,
    text: Option<String>,
    structured: Option<Json>,
}

#[derive(Debug)]
struct Failed {
    step: u64,
    error: Json,
    result: Arc<Json>,
}

impl<W: Write> PlayJson<W> {
    /// Begins the document.
    ///
    /// # Errors
    /// Those of `out`, here and in the other methods.
    pub fn begin(
        mut out: W,
        include: IncludeResults,
        scenario_name: &str,
        total_steps: usize,
    ) -> io::Result<Self> {
        write!(
            out,
            "{{\n  \"scenario_name\": {},\n  \"total_steps\": {total_steps},\n  \"step_results\": [",
            Json::from(scenario_name)
        )?;
        Ok(Self {
            out,
            entry: Vec::new(),
            include,
            steps: 0,
            under_way: BTreeMap::new(),
            step_started: None,
            elements: Vec::new(),
            retries: 0,
            completed: Vec::new(),
            outputs: Map::new(),
            failed: None,
        })
    }

    /// Takes note of an event.
    ///
    /// # Errors
    /// See [`Self::begin`].
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.data {
            EventData::StepStarted(step) | EventData::ElementStarted(step) => {
                let mut begun = UnderWay::default();
                match (step.element, step.elements) {
                    (None, Some(_)) => self.step_started = Some(event.ts),
                    _ => begun.started = Some(event.ts),
                }
                self.under_way.insert(step.step, begun);
            }
            EventData::ToolCall(call) => {
                if let Some(step) = self.caller(&call.call_id) {
                    step.params = call.args.clone();
                }
            }
            EventData::ToolResult(result) => {
                if let Some(step) = self.caller(&result.call_id) {
                    step.result = result.result.clone();
                    step.text.clone_from(&result.text);
                    step.structured.clone_from(&result.structured);
                }
            }
            EventData::StepFinished(step) => self.step(event, step)?,
            EventData::ElementFinished(step) => {
                self.retries += step.attempts.len().saturating_sub(1);
                self.fill_entry(event, step)?;
                self.elements
                    .extend_from_slice(if self.elements.is_empty() { b"" } else { b"," });
                self.elements.extend_from_slice(&self.entry);
            }
            _ => {}
        }
        Ok(())
    }

    /// The step that made a call; that of a step in a browser is the only one under way.
    fn caller(&mut self, call_id: &str) -> Option<&mut UnderWay> {
        match step_of_call(call_id) {
            Some(step) => self.under_way.get_mut(&step),
            None => self.under_way.values_mut().next_back(),
        }
    }

    fn step(&mut self, event: &Event, step: &StepFinished) -> io::Result<()> {
        if let (Some(id), false) = (&step.id, step.outputs.is_empty()) {
            self.outputs
                .insert(id.clone(), Json::Object(step.outputs.clone()));
        }
        if !matches!(step.status, StepStatus::Failed | StepStatus::Unknown) {
            self.completed.push(step.step);
        }
        if step.status == StepStatus::Failed && self.failed.is_none() {
            let under_way = self.under_way.get(&step.step);
            self.failed = Some(Failed {
                step: step.step,
                error: step
                    .error
                    .as_ref()
                    .map(|error| error.message.as_str())
                    .into(),
                result: under_way.map(|it| it.result.clone()).unwrap_or_default(),
            });
        }
        self.fill_entry(event, step)?;
        if step.elements.is_some() {
            self.entry.pop();
            self.entry.extend_from_slice(b",\"elements\":[");
            self.entry.append(&mut self.elements);
            self.entry.extend_from_slice(b"]}");
        }
        self.out.write_all(match self.steps {
            0 => b"\n    ",
            _ => b",\n    ",
        })?;
        self.out.write_all(&self.entry)?;
        self.steps += 1;
        self.retries = 0;
        Ok(())
    }

    /// Replaces `entry` by that of a step, or of an element of one. What was called and returned stands in the elements.
    fn fill_entry(&mut self, event: &Event, step: &StepFinished) -> io::Result<()> {
        let failed = matches!(step.status, StepStatus::Failed | StepStatus::Tolerated);
        let is_whole = step.elements.is_some() && step.element.is_none();
        let included = match self.include {
            _ if is_whole => false,
            IncludeResults::Never => false,
            IncludeResults::OnFailure => failed,
            IncludeResults::Always => true,
        };
        let mut begun = self.under_way.remove(&step.step).unwrap_or_default();
        if step.element.is_some() {
            // The step may fail with it.
            let result = begun.result.clone();
            self.under_way.entry(step.step).or_default().result = result;
        }
        let started = match is_whole {
            true => self.step_started.take(),
            false => begun.started,
        };
        let entry = StepEntry {
            step: step.step,
            element: step.element,
            id: step.id.as_deref(),
            tool: &step.tool,
            status: step.status.as_str(),
            success: matches!(step.status, StepStatus::Passed | StepStatus::Skipped),
            skipped: step.status == StepStatus::Skipped,
            started_at: Milliseconds(started.unwrap_or(event.ts)),
            duration: seconds(step.duration_ms),
            params: begun.params,
            result: included.then_some(&begun.result),
            text: begun.text.take().filter(|_| included),
            structured: begun.structured.take().filter(|_| included),
            description: step.description.as_deref(),
            error: step.error.as_ref().map(|error| error.message.as_str()),
            healed: step.healed.as_deref(),
            group: step.group.as_deref(),
            restored: step.restored,
            code: step.error.as_ref().map(|error| error.code.as_str()),
            retries: match is_whole {
                true => self.retries,
                false => step.attempts.len().saturating_sub(1),
            },
            attempts: step.attempts.iter().map(AttemptEntry::of).collect(),
        };
        self.entry.clear();
        serde_json::to_writer(&mut self.entry, &entry)?;
        Ok(())
    }

    /// Writes what there is so far, for readers that don't wait for the end.
    ///
    /// # Errors
    /// See [`Self::begin`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Ends the document.
    ///
    /// # Errors
    /// See [`Self::begin`].
    pub fn end(mut self, totals: &PlayTotals) -> io::Result<W> {
        let summary = totals.summary;
        let (failed_step, error, result) = match self.failed {
            Some(failed) => (Json::from(failed.step), failed.error, failed.result),
            None => (Json::Null, Json::Null, Arc::default()),
        };
        let context_result = if self.include == IncludeResults::Never {
            &Json::Null
        } else {
            &*result
        };
        let fields = [
            ("success", Json::from(totals.verdict == Verdict::Passed)),
            ("status", Json::from(totals.verdict.as_str())),
            ("passed_steps", Json::from(summary.passed)),
            ("completed_steps", Json::from(self.completed)),
            ("not_run_steps", summary.not_run().into()),
            ("failed_step", failed_step),
            (
                "duration",
                Json::from(seconds(totals.took.as_secs_f64() * 1000.0)),
            ),
            ("error", totals.error.clone().into()),
            ("outputs", Json::Object(self.outputs)),
            (
                "context",
                json!({"failed_step_error": error, "failed_step_result": context_result}),
            ),
            ("run_dir", totals.run_dir.clone().into()),
            ("trace_path", totals.trace_path.clone().into()),
            ("screenshots", totals.screenshots.clone().into()),
        ];
        self.out
            .write_all(if self.steps == 0 { b"]" } else { b"\n  ]" })?;
        for (name, value) in fields.into_iter().chain(totals.more.clone()) {
            write!(self.out, ",\n  \"{name}\": {value}")?;
        }
        self.out.write_all(b"\n}\n")?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Field names are the contract of the result.
#[derive(Serialize)]
struct StepEntry<'a> {
    step: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<u64>,
    id: Option<&'a str>,
    tool: &'a str,
    status: &'a str,
    success: bool,
    skipped: bool,
    started_at: Milliseconds,
    duration: f64,
    params: Arc<Json>,
    result: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<Json>,
    description: Option<&'a str>,
    error: Option<&'a str>,
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    healed: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    restored: Option<Restored>,
    retries: usize,
    attempts: Vec<AttemptEntry<'a>>,
}

#[derive(Serialize)]
struct AttemptEntry<'a> {
    attempt: u32,
    duration: f64,
    error: Option<&'a str>,
}

impl<'a> AttemptEntry<'a> {
    fn of(attempt: &'a Attempt) -> Self {
        Self {
            attempt: attempt.attempt,
            duration: seconds(attempt.duration_ms),
            error: attempt.error.as_deref(),
        }
    }
}

/// Seconds to the microsecond.
fn seconds(milliseconds: f64) -> f64 {
    (milliseconds * 1000.0).round() / 1_000_000.0
}
