//! Plays browser steps for their trace, as `play` does.

use std::mem;
use std::path::Path;
use std::sync::Arc;

use cuecard_judge::model::TestCase;
use cuecard_report::browser_html::BrowserStep;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes, find_code};
use cuecard_source::value::Json;
use cuecard_trace::Header;
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;

use super::played::{CaseTrace, Performed, block_on, case_header, given, in_time, outcome_of};
use super::prepare::{PreparedSteps, StepsRequest, prepare_steps, redacted};
use super::sources::Recorded;
use super::{Setup, Stop};
use cuecard_browser::replay::{self, Replayed};
use cuecard_browser::session::{Missing, Program, Scratch, Session};
use cuecard_replay::Played;
use cuecard_runtime::text_file;

/// Plays the steps in `source` with the variables of `case`.
pub(super) fn play(
    source: SourceFile,
    variables: &Map<String, Json>,
    case: &TestCase,
    setup: &Setup,
    stop: &CancellationToken,
) -> Result<Recorded, Stop> {
    let mut ready = ready(source, variables, setup)?;
    let mut warnings = mem::take(&mut ready.warnings);
    let header = header(&ready, case, setup);
    let (performed, healed) = block_on(perform(&ready, header, setup, case, stop))??;
    warnings.extend(healed);
    outcome_of(performed, warnings, case, setup)
}

fn ready(
    source: SourceFile,
    variables: &Map<String, Json>,
    setup: &Setup,
) -> Result<PreparedSteps, Stop> {
    let folder = text_file::folder_of(Path::new(source.name())).to_owned();
    let asked = StepsRequest {
        folder: &folder,
        given: &given(variables, std::iter::empty(), setup),
        secrets: &setup.secrets,
        missing: Missing::Leave,
        range: 0..=u64::MAX,
        timeout: None,
        partial_help: Some("a test needs steps from a parse in which every action succeeded"),
        strict: false,
        heals: true,
        found: Vec::new(),
    };
    let ready = prepare_steps(source, asked)?;
    let secrets = ready.secrets.iter().map(String::as_str);
    setup.know(ready.values.names().chain(secrets));
    Ok(ready)
}

fn header(ready: &PreparedSteps, case: &TestCase, setup: &Setup) -> Header {
    let name = ready.source.name();
    let header = Header::live(
        &setup.run_id,
        json!({"name": name, "file": name, "url": ready.steps.url}),
        json!({"supports_tool_trace": true, "supports_replay": true}),
    );
    case_header(header, case, setup)
}

/// Plays the steps; what was healed is told as warnings.
async fn perform(
    ready: &PreparedSteps,
    header: Header,
    setup: &Setup,
    case: &TestCase,
    stop: &CancellationToken,
) -> Result<(Performed, Vec<Diagnostic>), Stop> {
    let redactor = ready.values.redactor().clone();
    let (trace, mut recorder) = CaseTrace::begin(header, case, redactor);
    let scratch = Scratch::new().map_err(|error| {
        let message = format!("failed to create a temporary directory: {error}");
        Stop::could_not_run(Diagnostic::error(codes::FILE_WRITE, message))
    })?;
    let session = Session {
        program: Program::default(),
        environment: &setup.environment,
        working_directory: &setup.working_directory,
        options: &ready.options,
        storage: ready.storage.clone(),
        policy: Arc::new(setup.policy.clone()),
        root: setup.working_directory.clone(),
        downloads: scratch.path().join("files"),
        values: ready.values.clone(),
    };
    let mut stage = session.start().await.map_err(|failure| {
        let code = find_code(&failure.code).unwrap_or(codes::BROWSER_UNAVAILABLE);
        let mut error = Diagnostic::error(code, failure.message);
        error.help = failure.help;
        Stop::could_not_run(error)
    })?;
    let replay = ready.replay(None);
    let deadline = stop.child_token();
    let mut nobody = |_: BrowserStep| {};
    let playing = replay::play(&replay, &mut stage, &mut recorder, &mut nobody, &deadline);
    let (replayed, is_too_late) = in_time(setup, &deadline, playing).await;
    recorder.settle();
    stage.stop().await;
    let healed = healed(&replayed, &ready.source);
    let is_too_late = is_too_late && !stop.is_cancelled();
    let performed = trace.end(recorder, played_steps(replayed), is_too_late);
    let healed = healed
        .into_iter()
        .map(|warning| redacted(warning, &performed.redactor));
    let healed = healed.collect();
    Ok((performed, healed))
}

fn healed(replayed: &Replayed, source: &SourceFile) -> Vec<Diagnostic> {
    replayed
        .healed
        .iter()
        .map(|step| {
            let number = step.place + 1;
            let message = format!(
                "step {number} of `{}` was healed: {}",
                source.name(),
                step.reason
            );
            Diagnostic::warning(codes::BROWSER_TARGET, message)
                .with_help(format!("cuecard verify {} --heal accept", source.name()))
        })
        .collect()
}

/// How browser steps went, as the traces and reports of all that is played say it.
pub fn played_steps(replayed: Replayed) -> Played {
    Played {
        verdict: replayed.verdict,
        summary: replayed.summary,
        failure: replayed.failure,
        took: replayed.took,
        screenshots: replayed.screenshots,
        unfinished: None,
    }
}
