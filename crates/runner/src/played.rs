//! Plays a scenario for its trace, as `play` does: here tool calls, and browser steps beside it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::mem;
use std::path::PathBuf;
use std::rc::Rc;

use cuecard_judge::model::{TestCase, TestContext, TestTools, TraceInput};
use cuecard_judge::{Outcome, OutcomeStatus};
use cuecard_source::detect::{FileKind, kind_of};
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::document::read_document;
use cuecard_source::value::{Json, Redactor, is_credential};
use cuecard_source::{SourceFile, Span};
use cuecard_tool_call::format as tool_call;
use cuecard_tool_call::model::ToolCallScenario;
use cuecard_tool_call::script::{Given, Verdict, short_secret};
use cuecard_trace::{Event, EventData, Header, StepStatus, Trace};
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;

use super::prepare::{CallsContext, CallsRequest, PreparedCalls, prepare_calls, redacted};
use super::sources::Recorded;
use super::timeline::tested;
use super::{Setup, Stop, browser};
use cuecard_mcp::config::{Config, ConfigSearch};
use cuecard_replay::{self as replay, Played, prepare};
use cuecard_runtime::clock::{Clock, Stopwatch};
use cuecard_runtime::tap::{Listener, Recorder};

/// More events are not kept: a trace that is judged is held in memory.
const MOST_EVENTS: usize = 2_000_000;

/// Plays the scenario in `source` with the variables of `case`.
pub(super) fn play(
    source: SourceFile,
    variables: &Map<String, Json>,
    case: &TestCase,
    setup: &Setup,
    stop: &CancellationToken,
) -> Result<Recorded, Stop> {
    match kind_of(&source) {
        Some(FileKind::BrowserSteps) => {
            return browser::play(source, variables, case, setup, stop);
        }
        Some(FileKind::Timeline) => return tested::play(&source, case, setup, stop),
        _ => {}
    }
    let mut ready = ready(&source, variables, setup)?;
    let warnings = mem::take(&mut ready.warnings);
    let header = header(&ready.scenario, case, setup);
    let performed = block_on(perform(ready, header, case, setup, stop))?;
    outcome_of(performed, warnings, case, setup)
}

/// What a run that is over says of its case.
pub(super) fn outcome_of(
    performed: Performed,
    warnings: Vec<Diagnostic>,
    case: &TestCase,
    setup: &Setup,
) -> Result<Recorded, Stop> {
    let Performed {
        trace,
        played,
        redactor,
        offered,
        is_too_late,
        is_too_long,
    } = performed;
    if is_too_long {
        let error = Diagnostic::error(
            codes::TEST_RUN,
            format!("the run has more than {MOST_EVENTS} events"),
        );
        return Err(Stop::could_not_run(error));
    }
    if is_too_late {
        let span = input_span(&case.input);
        return Err(Stop::could_not_run(too_late(case, span, setup)));
    }
    match played.verdict {
        Verdict::Interrupted => Err(Stop::interrupted()),
        Verdict::Blocked => {
            let failure = played.failure.map(|failure| redacted(failure, &redactor));
            Err(Stop::could_not_run(failure.into_iter().collect::<Vec<_>>()))
        }
        Verdict::Passed => Ok(Recorded {
            trace,
            offered,
            warnings,
            failure: None,
        }),
        Verdict::Failed => {
            let failure = played.failure.map(|failure| redacted(failure, &redactor));
            Ok(Recorded {
                failure: Some(failed(failure, &trace)),
                trace,
                offered,
                warnings,
            })
        }
    }
}

fn ready(
    source: &SourceFile,
    variables: &Map<String, Json>,
    setup: &Setup,
) -> Result<PreparedCalls, Stop> {
    let asked = CallsRequest {
        given: &mut |scenario| {
            let declared = || scenario.variables.iter();
            setup.know(declared().map(|variable| variable.name.as_str()));
            let defaults = declared().map(|variable| (&variable.name, &variable.default));
            (given(variables, defaults, setup), Vec::new())
        },
        secrets: &setup.secrets,
        range: 0..=u64::MAX,
        strict: false,
        found: Vec::new(),
        has_config: setup.config.is_some(),
        config: &|| config(setup),
        resumed: None,
    };
    prepare_calls(source, asked)
}

/// The values that the user gave, weakest first; `variables` are those of the case. Of the values that the file itself
/// has, only those that the user says are secret.
pub(super) fn given<'a>(
    variables: &Map<String, Json>,
    of_file: impl Iterator<Item = (&'a String, &'a Json)>,
    setup: &Setup,
) -> Vec<Given> {
    let is_marked = |name: &String, value: &Json| {
        let is_given = !value.is_null() && value != "";
        setup.secrets.contains(name) && is_given && short_secret(name, value).is_none()
    };
    let given = |name: &String, value: &Json, from: &str, may_be_unknown: bool| Given {
        name: name.clone(),
        value: value.clone(),
        from: from.to_owned(),
        secret: is_credential(name, value) || is_marked(name, value),
        may_be_unknown,
    };
    let of_file = of_file
        .filter(|(name, value)| is_marked(name, value))
        .map(|(name, value)| given(name, value, "the scenario", true));
    let of_case = variables
        .iter()
        .map(|(name, value)| given(name, value, "the test", false));
    of_file
        .chain(setup.defaults.iter().cloned())
        .chain(of_case)
        .chain(setup.given.iter().cloned())
        .collect()
}

/// The servers, which are looked up once for all cases.
fn config(setup: &Setup) -> Result<Config, Vec<Diagnostic>> {
    let found = setup.servers.get_or_init(|| {
        Config::find(&ConfigSearch {
            explicit: setup.config.as_deref(),
            working_directory: &setup.working_directory,
            environment: &setup.config_environment,
        })
    });
    found.clone()
}

fn header(scenario: &ToolCallScenario, case: &TestCase, setup: &Setup) -> Header {
    case_header(prepare::header(scenario, &setup.run_id), case, setup)
}

/// A header with what is known of the case.
pub(super) fn case_header(mut header: Header, case: &TestCase, setup: &Setup) -> Header {
    header.trace_id = format!("{}-{}", setup.run_id, case.id);
    header.test_case_id = Some(case.id.clone());
    header
        .input_messages
        .clone_from(&case.context.input_messages.0);
    let context = &case.context;
    for (name, value) in [
        ("group_id", json!(context.group_id)),
        ("session_id", json!(context.session_id)),
        ("task_id", json!(context.task_id)),
        ("trigger", json!(context.trigger().as_str())),
        ("scheduler_context", context.scheduler_context.0.clone()),
    ] {
        header.scenario[name] = value;
    }
    header
}

/// A run that is over.
pub(super) struct Performed {
    pub(super) trace: Trace,
    pub(super) played: Played,
    pub(super) redactor: Redactor,
    /// The tools that there were, if an assertion asks whether one that was not called exists.
    pub(super) offered: Vec<String>,
    pub(super) is_too_late: bool,
    pub(super) is_too_long: bool,
}

async fn perform(
    ready: PreparedCalls,
    header: Header,
    case: &TestCase,
    setup: &Setup,
    stop: &CancellationToken,
) -> Performed {
    let (trace, mut recorder) = CaseTrace::begin(header, case, ready.redactor.clone());
    let (play, mut toolbox) = ready.into_play(CallsContext {
        environment: &setup.environment,
        working_directory: setup.working_directory.clone(),
        policy: setup.policy.clone(),
        timeout: None,
        run_dir: None,
        speed: setup.speed,
        screenshots: None,
        restored: Vec::new(),
    });
    let deadline = stop.child_token();
    let began = Stopwatch::start();
    let playing = replay::play(play, &mut toolbox, &mut recorder, &deadline);
    let (played, is_too_late) = in_time(setup, &deadline, playing).await;
    recorder.settle();
    let mut assertions = case.assertions.iter();
    let forbids_a_tool = assertions.any(|assertion| assertion.check.forbids_calls());
    let mut offered = Vec::new();
    if forbids_a_tool {
        tokio::select! {
            biased;
            () = deadline.cancelled() => {}
            () = tokio::time::sleep(setup.timeout.saturating_sub(began.elapsed())) => {}
            names = toolbox.offered() => offered = names,
        }
    }
    toolbox.shut_down().await;
    Performed {
        offered,
        ..trace.end(recorder, played, is_too_late && !stop.is_cancelled())
    }
}

/// Runs `playing` to its end, which is asked for by `deadline` once the time of the case is up; says whether it was.
pub(super) async fn in_time<T>(
    setup: &Setup,
    deadline: &CancellationToken,
    playing: impl Future<Output = T>,
) -> (T, bool) {
    tokio::pin!(playing);
    tokio::select! {
        biased;
        played = &mut playing => (played, false),
        () = tokio::time::sleep(setup.timeout) => {
            deadline.cancel();
            (playing.await, true)
        }
    }
}

/// The trace of a case while it is played.
pub(super) struct CaseTrace {
    header: Header,
    events: Rc<RefCell<Vec<Event>>>,
}

impl CaseTrace {
    /// The trace, and the recorder that writes it.
    pub(super) fn begin(
        header: Header,
        case: &TestCase,
        redactor: Redactor,
    ) -> (Self, Recorder<'static>) {
        let events = Rc::new(RefCell::new(Vec::new()));
        let mut recorder = Recorder::new(Clock::start(), redactor);
        recorder.tell(Box::new(EventCollector {
            events: events.clone(),
            context: case.context.clone(),
        }));
        (Self { header, events }, recorder)
    }

    /// The run that is over.
    pub(super) fn end(
        mut self,
        recorder: Recorder<'_>,
        played: Played,
        is_too_late: bool,
    ) -> Performed {
        let redactor = recorder.redactor().clone();
        drop(recorder);
        let events = mem::take(&mut *self.events.borrow_mut());
        redactor.json(&mut self.header.scenario);
        Performed {
            is_too_long: events.len() >= MOST_EVENTS,
            trace: Trace {
                header: self.header,
                events,
                end: Some(prepare::end(&played)),
            },
            is_too_late,
            played,
            redactor,
            offered: Vec::new(),
        }
    }
}

/// Keeps events, each with the ids of its case.
struct EventCollector {
    events: Rc<RefCell<Vec<Event>>>,
    context: TestContext,
}

impl Listener for EventCollector {
    fn event(&mut self, event: &Event) {
        let mut events = self.events.borrow_mut();
        if events.len() < MOST_EVENTS {
            events.push(Event {
                group_id: self.context.group_id.as_deref().map(str::to_owned),
                session_id: self.context.session_id.as_deref().map(str::to_owned),
                task_id: self.context.task_id.as_deref().map(str::to_owned),
                ..event.clone()
            });
        }
    }
}

/// Runs what waits to its end.
pub(super) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Stop> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Stop::could_not_run(Diagnostic::error(
                codes::TEST_RUN,
                format!("failed to start the async runtime: {error}"),
            ))
        })?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(outcome)
}

pub(super) fn too_late(case: &TestCase, span: Span, setup: &Setup) -> Diagnostic {
    let seconds = setup.timeout.as_secs_f64();
    Diagnostic::error(
        codes::TEST_TIMEOUT,
        format!("the test timed out after {seconds} s"),
    )
    .at(&case.source, span)
    .with_help("increase the limit with `--timeout SECONDS`")
}

fn input_span(input: &TraceInput) -> Span {
    match input {
        TraceInput::ReplayBundle { span, .. }
        | TraceInput::Live { span, .. }
        | TraceInput::Play { span, .. }
        | TraceInput::TraceFile { span, .. }
        | TraceInput::Transcript { span, .. } => *span,
    }
}

/// What a failed scenario says against its test.
pub(super) fn failed(failure: Option<Diagnostic>, trace: &Trace) -> Outcome {
    let event_refs = trace
        .events
        .iter()
        .filter(|event| matches!(&event.data, EventData::StepFinished(step) if step.status == StepStatus::Failed))
        .map(|event| event.event_id.clone())
        .collect();
    let (message, help) = match failure {
        Some(failure) => (failure.message, failure.help),
        None => ("the scenario failed".to_owned(), None),
    };
    Outcome {
        help: Some(help.unwrap_or_else(|| {
            "give a step that may fail `\"on_error\": \"skip\"`, so that the assertions can check the outcome".to_owned()
        })),
        event_refs,
        ..Outcome::of_run("scenario", "played", OutcomeStatus::Fail, message)
    }
}

/// The case that a scenario is of itself.
pub(super) fn case_of(source: &SourceFile) -> TestCase {
    TestCase {
        id: source.name().to_owned(),
        title: scenario_name(source).unwrap_or_else(|| source.name().to_owned()),
        description: None,
        tags: Vec::new(),
        input: TraceInput::Play {
            file: PathBuf::from(source.name()),
            variables: Map::new(),
            span: Span::default(),
        },
        context: TestContext::default(),
        tools: TestTools::default(),
        assertions: Vec::new(),
        expected: None,
        save_trace: true,
        redact_fields: Vec::new(),
        source: source.clone(),
    }
}

/// The name that a scenario or a timeline gives itself.
fn scenario_name(source: &SourceFile) -> Option<String> {
    let root = read_document(source).root?;
    let name = match root.get("metadata") {
        Some(metadata) => metadata.get("name"),
        None => root.get("name"),
    };
    Some(name?.as_str()?.to_owned())
}

/// A step that ended, as an outcome of its scenario's own checks.
pub(super) fn step_outcome(event: &Event) -> Option<Outcome> {
    let EventData::StepFinished(step) = &event.data else {
        return tested::check_outcome(event);
    };
    let status = match step.status {
        StepStatus::Passed => OutcomeStatus::Pass,
        StepStatus::Failed | StepStatus::Unknown => OutcomeStatus::Fail,
        StepStatus::Tolerated => OutcomeStatus::Warn,
        StepStatus::Skipped => OutcomeStatus::Skip,
    };
    let message = match (&step.error, &step.skipped_by) {
        (Some(error), _) => error.message.clone(),
        (None, Some(condition)) => format!("its condition is false: {condition}"),
        (None, None) => step.status.as_str().to_owned(),
    };
    let id = step_name(step.step, step.id.as_deref());
    Some(Outcome {
        help: step.error.as_ref().and_then(|error| error.help.clone()),
        event_refs: vec![event.event_id.clone()],
        ..Outcome::of_run(&id, &step.tool, status, message)
    })
}

fn step_name(number: u64, id: Option<&str>) -> String {
    match id {
        Some(id) => format!("step {number} ({id})"),
        None => format!("step {number}"),
    }
}

/// The lines in the file of tool calls from which `case` is, by the ids of [`step_outcome`].
pub(super) fn step_lines(case: &TestCase) -> HashMap<String, usize> {
    let source = &case.source;
    let scenario = (kind_of(source) == Some(FileKind::ToolCall))
        .then(|| tool_call::read(source).scenario)
        .flatten();
    let steps = scenario.iter().flat_map(|scenario| &scenario.steps);
    steps
        .map(|step| {
            let line = source.position(step.span.start).line;
            (step_name(step.number, step.id.as_deref()), line)
        })
        .collect()
}
