//! One case, from its file to its result.

use std::borrow::Cow;
use std::path::Path;

use cuecard_judge::model::TestCase;
use cuecard_judge::mutate::mutate;
use cuecard_judge::test_case;
use cuecard_judge::{Outcome, OutcomeStatus, Run, TestResult, misspelt_redactions};
use cuecard_source::SourceFile;
use cuecard_source::detect::{FileKind, detect, kind_of};
use cuecard_source::diagnostic::{Diagnostic, Severity};
use cuecard_source::json::{self, Limits};
use cuecard_tool_call::script::Summary;
use tokio_util::sync::CancellationToken;

use super::collect::TestFile;
use super::selection::Selection;
use super::sources::{self, Recorded};
use super::{Judged, Problem, Setup, Stop, played, snapshots};
use cuecard_runtime::clock::Clock;
use cuecard_runtime::text_file::{self, folder_of};

/// A file after reading.
#[derive(Debug)]
pub enum CaseFile {
    /// A test case, once for each recording that it is about, and what is doubtful about it.
    Cases(Vec<TestCase>, Vec<Diagnostic>),
    /// A scenario that somebody named: a case of its own checks.
    Scenario(Box<TestCase>),
    /// Neither, or one with errors.
    Invalid(Vec<Diagnostic>),
}

/// Reads a file with a test.
pub fn read_case(file: &TestFile) -> CaseFile {
    let source = match text_file::read(&file.path, &file.path.display().to_string()) {
        Ok(source) => source,
        Err(error) => return CaseFile::Invalid(vec![error]),
    };
    if file.is_named && is_scenario(&source) {
        return CaseFile::Scenario(Box::new(played::case_of(&source)));
    }
    let reading = test_case::read(&source);
    match reading.case {
        Some(case) => match sources::each_run(case, folder_of(&file.path)) {
            Ok(cases) => CaseFile::Cases(cases, reading.diagnostics),
            Err(error) => CaseFile::Invalid(vec![error]),
        },
        None => CaseFile::Invalid(reading.diagnostics),
    }
}

/// Whether the text is a scenario, or would be if it had no errors.
fn is_scenario(source: &SourceFile) -> bool {
    if !source
        .text()
        .trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('{')
    {
        return kind_of(source) == Some(FileKind::Timeline);
    }
    let root = json::parse(source.text(), &Limits::default()).root;
    matches!(
        root.as_ref().and_then(detect),
        Some(FileKind::ToolCall | FileKind::ToolCallLegacy | FileKind::BrowserSteps)
    )
}

/// Judges the cases in `file` that are meant, and gives `tell` what came of each. A file that can't be read always is.
pub(super) fn judge(
    file: &TestFile,
    selection: &Selection,
    setup: &Setup,
    stop: &CancellationToken,
    mut tell: impl FnMut(Judged),
) {
    let clock = Clock::start();
    let name = file.path.display().to_string();
    match read_case(file) {
        CaseFile::Invalid(diagnostics) => tell(Judged::error(
            TestResult::not_read(diagnostics, run(setup, &name, &clock)),
            Problem::Invalid,
        )),
        CaseFile::Cases(cases, warnings) => {
            for mut case in cases {
                if stop.is_cancelled() {
                    return;
                }
                if let Some(unproven) = setup.unproven {
                    case.set_unproven(unproven);
                }
                if selection.holds(&case) {
                    let clock = Clock::start();
                    tell(judge_case(
                        &case,
                        warnings.clone(),
                        file,
                        setup,
                        stop,
                        &clock,
                    ));
                }
            }
        }
        CaseFile::Scenario(case) => {
            if selection.holds(&case) {
                tell(judge_scenario(&case, setup, stop, &clock));
            }
        }
    }
}

fn judge_case(
    case: &TestCase,
    warnings: Vec<Diagnostic>,
    file: &TestFile,
    setup: &Setup,
    stop: &CancellationToken,
    clock: &Clock,
) -> Judged {
    let (warnings, errors) = strictly(warnings, setup.strict);
    let judged = match errors.is_empty() {
        true => judge_trace(case, folder_of(&file.path), setup, stop, clock),
        false => Err(Stop::invalid(errors)),
    };
    let mut judged = judged.unwrap_or_else(|stopped| failed(case, stopped, setup, clock));
    judged.warnings.splice(0..0, warnings);
    judged
}

/// A case that can't be judged.
fn failed(case: &TestCase, stopped: Stop, setup: &Setup, clock: &Clock) -> Judged {
    let run = run(setup, case.source.name(), clock);
    let result = TestResult::not_judged(case, stopped.diagnostics, run);
    Judged::error(result, stopped.problem)
}

fn judge_trace(
    case: &TestCase,
    folder: &Path,
    setup: &Setup,
    stop: &CancellationToken,
    clock: &Clock,
) -> Result<Judged, Stop> {
    let recorded = sources::record(case, folder, setup, stop)?;
    let mut offering = Cow::Borrowed(case);
    if !recorded.offered.is_empty() {
        offering.to_mut().tools.offered = recorded.offered;
    }
    let case = &*offering;
    let misspelt = misspelt_redactions(case, &recorded.trace);
    let found = recorded.warnings.into_iter().chain(misspelt).collect();
    let (found, errors) = strictly(found, setup.strict);
    if !errors.is_empty() {
        return Err(Stop::could_not_run(errors));
    }
    // What a run that failed by itself did is not what should be stored.
    let update = setup.update && recorded.failure.is_none();
    let trace = &recorded.trace;
    let snapshots = snapshots::prepare(case, folder, trace, setup, update, stop)?;
    let mut outcomes = snapshots.judge(case, &recorded.trace);
    outcomes.extend(recorded.failure);
    let fails = |outcome: &Outcome| outcome.status == OutcomeStatus::Fail;
    let mutations = (setup.mutate && !outcomes.iter().any(fails))
        .then(|| mutate(case, &recorded.trace, |trace| snapshots.judge(case, trace)));
    let run = run(setup, case.source.name(), clock);
    let judgement = TestResult::judged(case, recorded.trace, outcomes, run);
    Ok(Judged {
        result: judgement.result,
        trace: Some(judgement.trace),
        save_trace: case.save_trace,
        warnings: found,
        problem: None,
        updated: snapshots.updated,
        mutations,
    })
}

/// How many steps of a scenario came to what.
fn counted(outcomes: &[Outcome]) -> Summary {
    let count = |status| {
        let outcomes = outcomes.iter();
        outcomes.filter(|outcome| outcome.status == status).count()
    };
    Summary {
        passed: count(OutcomeStatus::Pass),
        failed: count(OutcomeStatus::Fail),
        tolerated: count(OutcomeStatus::Warn),
        skipped: count(OutcomeStatus::Skip),
        ..Summary::default()
    }
}

/// A scenario that somebody named: its steps are its assertions.
fn judge_scenario(
    case: &TestCase,
    setup: &Setup,
    stop: &CancellationToken,
    clock: &Clock,
) -> Judged {
    let source = case.source.clone();
    let recorded = played::play(source, &serde_json::Map::new(), case, setup, stop);
    let Recorded {
        trace,
        warnings,
        failure,
        ..
    } = match recorded {
        Ok(recorded) => recorded,
        Err(stopped) => return failed(case, stopped, setup, clock),
    };
    let mut outcomes: Vec<Outcome> = trace
        .events
        .iter()
        .filter_map(played::step_outcome)
        .collect();
    if !outcomes
        .iter()
        .any(|outcome| outcome.status == OutcomeStatus::Fail)
    {
        outcomes.extend(failure);
    }
    let (mut warnings, errors) = strictly(warnings, setup.strict);
    if !errors.is_empty() {
        return failed(case, Stop::invalid(errors), setup, clock);
    }
    if let Some(warning) = counted(&outcomes).nothing_passed() {
        match setup.strict {
            true => outcomes.push(played::failed(Some(warning), &trace)),
            false => warnings.push(warning),
        }
    }
    let run = run(setup, case.source.name(), clock);
    let mut judgement = TestResult::judged(case, trace, outcomes, run);
    let lines = played::step_lines(case);
    for assertion in &mut judgement.result.assertions {
        assertion.line = lines.get(&assertion.outcome.id).copied();
    }
    Judged {
        result: judgement.result,
        trace: Some(judgement.trace),
        save_trace: true,
        warnings,
        problem: None,
        updated: Vec::new(),
        mutations: None,
    }
}

/// Warnings, and what is an error under `--strict`.
pub(super) fn strictly(
    diagnostics: Vec<Diagnostic>,
    strict: bool,
) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    if strict && !diagnostics.is_empty() {
        let errors = diagnostics
            .into_iter()
            .map(|found| found.strictly(true))
            .collect();
        return (Vec::new(), errors);
    }
    diagnostics
        .into_iter()
        .partition(|diagnostic| diagnostic.severity == Severity::Warning)
}

/// When and how a case ran that ends now.
pub(super) fn run(setup: &Setup, file: &str, clock: &Clock) -> Run {
    let took = clock.now();
    Run {
        id: setup.run_id.clone(),
        file: file.to_owned(),
        started: clock.timestamp(std::time::Duration::ZERO),
        finished: clock.timestamp(took),
        took,
        strict: setup.strict,
    }
}
