//! Browser steps before they are played or verified.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use cuecard_browser::replay::{Memories, Replay, memories};
use cuecard_browser::session::{Missing, bind};
use cuecard_browser::stage::Values;
use cuecard_browser::storage_state::StorageFile;
use cuecard_browser_steps::format::{Declared, read_steps};
use cuecard_browser_steps::model::{BrowserOptions, ParseStatus, StepsFile};
use cuecard_runtime::run_dir::RunDir;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, codes};
use cuecard_source::value::Redactor;
use cuecard_tool_call::script::Given;

use super::{Findings, redacted};
use crate::Stop;

/// What the user asked of a run.
pub struct StepsRequest<'a> {
    /// The folder that paths in the file begin in.
    pub folder: &'a Path,
    /// The values of variables, weakest first.
    pub given: &'a [Given],
    /// The names of which the user says that they are secrets.
    pub secrets: &'a [String],
    /// What becomes of secrets without a value.
    pub missing: Missing<'a>,
    /// The steps that are played.
    pub range: RangeInclusive<u64>,
    /// How long an action may take, in place of what the file says.
    pub timeout: Option<Duration>,
    /// What to do about steps that are not those of every action; none if they are played as they are.
    pub partial_help: Option<&'static str>,
    /// Whether warnings are errors.
    pub strict: bool,
    /// Whether elements that changed are looked for.
    pub heals: bool,
    /// What is wrong with the arguments already.
    pub found: Vec<Diagnostic>,
}

/// Steps with all that is known before a browser starts.
#[derive(Debug)]
pub struct PreparedSteps {
    /// The file.
    pub source: SourceFile,
    /// The steps.
    pub steps: StepsFile,
    /// Its options.
    pub options: BrowserOptions,
    /// What each step remembers of its element.
    pub memories: Memories,
    /// The values of its variables.
    pub values: Values,
    /// The names of its secrets, those that the user marked too.
    pub secrets: Vec<String>,
    /// Cookies and local storage to begin with.
    pub storage: Option<StorageFile>,
    /// The steps that are played.
    pub range: RangeInclusive<u64>,
    /// Whether elements that changed are looked for.
    pub heals: bool,
    /// What is doubtful, without secrets.
    pub warnings: Vec<Diagnostic>,
}

/// Reads and checks everything.
///
/// # Errors
/// With all that is wrong.
pub fn prepare_steps(source: SourceFile, asked: StepsRequest<'_>) -> Result<PreparedSteps, Stop> {
    let reading = read_steps(&source);
    let mut options = reading.options;
    let mut findings = Findings::new(asked.strict, asked.found);
    findings.take(reading.diagnostics);
    let Some(steps) = reading.steps else {
        return Err(findings.refused(&Redactor::default()));
    };
    if let Some(timeout) = asked.timeout {
        options.action_timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    }
    let declared = Declared::of_steps(&steps, &source);
    let bound = bind(&declared, asked.given, asked.secrets, asked.missing);
    findings.take(bound.diagnostics);
    findings.take(declared.check(&source, &bound.names, true));
    let values = bound.values;
    let memories = memories(&steps, &values)
        .map_err(|errors| findings.take(errors))
        .ok();
    if let Some(help) = asked.partial_help {
        findings.take(partial(&steps).map(|found| found.with_help(help)));
    }
    findings.take(empty_range(&steps, &asked.range));
    let storage = options.storage_state.as_ref();
    let storage = storage.map(|file| StorageFile::read(asked.folder, file));
    let storage = storage
        .transpose()
        .map_err(|message| findings.take([Diagnostic::error(codes::BROWSER_OPTION, message)]));
    match (memories, storage) {
        (Some(memories), Ok(storage)) if !findings.is_bad() => {
            let warnings = findings.warnings.into_iter();
            let redactor = values.redactor();
            Ok(PreparedSteps {
                warnings: warnings.map(|found| redacted(found, redactor)).collect(),
                source,
                steps,
                options,
                memories,
                values,
                secrets: bound.secrets,
                storage,
                range: asked.range,
                heals: asked.heals,
            })
        }
        _ => Err(findings.refused(values.redactor())),
    }
}

impl PreparedSteps {
    /// What is played, without pictures; what is kept of pages comes into `run_dir`.
    pub fn replay<'a>(&'a self, run_dir: Option<&'a RunDir>) -> Replay<'a> {
        Replay {
            source: &self.source,
            steps: &self.steps,
            memories: &self.memories,
            options: &self.options,
            values: &self.values,
            range: self.range.clone(),
            heals: self.heals,
            is_pictured: false,
            keeps_each: false,
            run_dir,
        }
    }
}

/// What is wrong with steps that are not those of every action.
pub fn partial(steps: &StepsFile) -> Option<Diagnostic> {
    if steps.status == ParseStatus::Success {
        return None;
    }
    let is_lacking = |error: &&cuecard_browser_steps::model::ErrorInfo| !error.is_warning();
    let why = match steps.errors.iter().filter(is_lacking).count() {
        0 => String::new(),
        1 => ": 1 action produced no step".to_owned(),
        count => format!(": {count} actions produced no step"),
    };
    let message = format!("the steps are {}{why}", steps.status.as_str());
    Some(Diagnostic::error(codes::BROWSER_STEPS, message).with_pointer("/status"))
}

fn empty_range(steps: &StepsFile, range: &RangeInclusive<u64>) -> Option<Diagnostic> {
    let count = steps.test_steps.len() as u64;
    if (1..=count).any(|number| range.contains(&number)) {
        return None;
    }
    let message = match count {
        0 => "there are no steps",
        _ => "no step is in the range of --start and --end",
    };
    Some(
        Diagnostic::error(codes::STEP_RANGE, message)
            .with_help(format!("the file has {count} steps, from 1")),
    )
}
