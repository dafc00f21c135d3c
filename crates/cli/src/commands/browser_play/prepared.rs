//! What is settled before browser steps are played or verified.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_browser::replay::{Memories, Replay, memories};
use cuecard_browser::stage::{LiveStage, Values};
use cuecard_browser::storage_state::StorageFile;
use cuecard_browser_steps::format::{check_steps_variables, read_steps};
use cuecard_browser_steps::model::{BrowserOptions, ParseStatus, StepsFile};
use cuecard_runtime::policy::Policy;
use cuecard_runtime::run_dir::RunDir;
use cuecard_runtime::text_file::folder_of;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, Severity, any_error, codes};
use cuecard_source::value::Redactor;

use super::heal::Healer;
use crate::args::{BrowserFlags, HealArgs, HealMode, SafetyArgs, VariableArgs};
use crate::commands::browser_stage::{self, Wanted};
use crate::commands::browser_values::{self, Declared};
use crate::commands::play::policy;
use crate::commands::stop::Stop;
use crate::inputs;
use crate::output::Output;

/// What the user asked for.
pub(crate) struct Asked<'a> {
    pub(crate) file: &'a Path,
    pub(crate) variables: &'a VariableArgs,
    pub(crate) heal: &'a HealArgs,
    pub(crate) browser: &'a BrowserFlags,
    pub(crate) safety: &'a SafetyArgs,
    pub(crate) range: RangeInclusive<u64>,
    /// How long an action may take, in place of what the file says.
    pub(crate) timeout: Option<Duration>,
    pub(crate) strict: bool,
    pub(crate) json: bool,
    pub(crate) run_dir: Option<&'a Path>,
}

/// Everything that is known before a browser starts.
pub(crate) struct Prepared {
    pub(crate) source: SourceFile,
    pub(crate) steps: StepsFile,
    options: BrowserOptions,
    memories: Memories,
    pub(crate) values: Values,
    storage: Option<StorageFile>,
    policy: Policy,
    root: PathBuf,
    pub(crate) working_directory: PathBuf,
    pub(crate) range: RangeInclusive<u64>,
    heals: bool,
    pub(crate) healer: Healer,
    environment: Vec<(OsString, OsString)>,
}

/// Reads and checks everything. Warnings are shown.
pub(crate) fn prepare(
    asked: &Asked<'_>,
    source: SourceFile,
    environment: &[(OsString, OsString)],
    output: &Output,
) -> Result<Prepared, Stop> {
    let healer = Healer::new(asked.file, asked.heal.heal);
    // A patch that was looked at is taken in before the run that is to show that it is right.
    let (source, healer) = healer
        .take_in(source)
        .map_err(|found| Stop(found, crate::exit_code::ExitCode::Invalid))?;
    let mut found = Found::new(asked.strict);
    let reading = read_steps(&source);
    let mut options = reading.options;
    found.take(reading.diagnostics);
    let Some(steps) = reading.steps else {
        return Err(found.stop());
    };
    if let Some(timeout) = asked.timeout {
        options.action_timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    }
    let declared = declared(&steps);
    let resolved = browser_values::resolve(asked.variables, &declared, environment, true);
    found.take(resolved.diagnostics);
    found.take(check_steps_variables(&steps, &source, &resolved.given));
    found.take(browser_stage::check(
        asked.browser,
        !resolved.secrets.is_empty(),
    ));
    let values = resolved.values;
    let memories = match memories(&steps, &values) {
        Ok(memories) => Some(memories),
        Err(errors) => {
            found.take(errors);
            None
        }
    };
    if !asked.heal.allow_partial {
        found.take(partial(&steps).into_iter().collect());
    }
    found.take(empty_range(asked, &steps));
    let working_directory = inputs::working_directory().map_err(Stop::could_not_run)?;
    let policy = match policy(asked.safety, asked.run_dir, &working_directory) {
        Ok(policy) => Some(policy),
        Err(error) => {
            found.take(vec![error]);
            None
        }
    };
    let storage = match browser_stage::storage_state(&options, folder_of(asked.file)) {
        Ok(storage) => storage,
        Err(error) => {
            found.take(vec![error]);
            None
        }
    };
    let (Some(memories), Some(policy), false) = (memories, policy, found.is_bad()) else {
        return Err(found.stop());
    };
    output.diagnostics(&found.warnings, asked.json, values.redactor());
    Ok(Prepared {
        root: asked.safety.root_in(&working_directory),
        steps,
        source,
        options,
        memories,
        storage,
        policy,
        range: asked.range.clone(),
        heals: asked.heal.heal != HealMode::Off,
        healer,
        values,
        working_directory,
        environment: environment.to_vec(),
    })
}

impl Prepared {
    /// Starts the browser; what it writes comes into `run_dir`.
    pub(crate) async fn start(
        &self,
        flags: &BrowserFlags,
        run_dir: &Path,
    ) -> Result<LiveStage, Diagnostic> {
        let wanted = Wanted {
            flags,
            options: &self.options,
            values: self.values.clone(),
            policy: self.policy.clone(),
            root: self.root.clone(),
            run_dir: run_dir.to_owned(),
        };
        browser_stage::start(
            wanted,
            self.storage.clone(),
            &self.environment,
            &self.working_directory,
        )
        .await
    }

    /// What is played.
    pub(crate) fn replay<'a>(
        &'a self,
        is_pictured: bool,
        run_dir: Option<&'a RunDir>,
    ) -> Replay<'a> {
        Replay {
            source: &self.source,
            steps: &self.steps,
            memories: &self.memories,
            options: &self.options,
            values: &self.values,
            range: self.range.clone(),
            heals: self.heals,
            is_pictured,
            run_dir,
        }
    }

    /// What takes secrets out.
    pub(crate) fn redactor(&self) -> &Redactor {
        self.values.redactor()
    }
}

/// What steps declare, and where they refer to it.
fn declared(steps: &StepsFile) -> Declared<'_> {
    let texts = steps.test_steps.iter().flat_map(|step| {
        let value = step.value.as_ref().and_then(serde_json::Value::as_str);
        value.into_iter().chain(step.url.as_deref())
    });
    Declared {
        variables: steps
            .variables
            .iter()
            .map(|(name, value)| (name.as_str(), (!value.is_null()).then_some(value)))
            .collect(),
        secrets: &steps.secrets,
        texts: std::iter::once(steps.url.as_str()).chain(texts).collect(),
    }
}

/// Findings, errors apart from warnings.
struct Found {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    strict: bool,
}

impl Found {
    fn new(strict: bool) -> Self {
        Self {
            errors: Vec::new(),
            warnings: Vec::new(),
            strict,
        }
    }

    fn take(&mut self, found: Vec<Diagnostic>) {
        for diagnostic in found {
            match diagnostic.severity {
                Severity::Error => self.errors.push(diagnostic),
                Severity::Warning if self.strict => self.errors.push(diagnostic.strictly()),
                Severity::Warning | Severity::Note => self.warnings.push(diagnostic),
            }
        }
    }

    fn is_bad(&self) -> bool {
        any_error(&self.errors)
    }

    fn stop(mut self) -> Stop {
        self.errors.append(&mut self.warnings);
        Stop(self.errors, crate::exit_code::ExitCode::Invalid)
    }
}

/// What is wrong with steps that are not those of every action.
pub(crate) fn partial(steps: &StepsFile) -> Option<Diagnostic> {
    if steps.status == ParseStatus::Success {
        return None;
    }
    let lacking = steps
        .errors
        .iter()
        .filter(|error| !error.is_warning)
        .count();
    let why = match lacking {
        0 => String::new(),
        1 => ": 1 action gave no step".to_owned(),
        count => format!(": {count} actions gave no step"),
    };
    let message = format!("the steps are {}{why}", steps.status.word());
    Some(
        Diagnostic::error(codes::BROWSER_STEPS, message)
            .with_pointer("/status")
            .with_help("take what there is with --allow-partial"),
    )
}

fn empty_range(asked: &Asked<'_>, steps: &StepsFile) -> Vec<Diagnostic> {
    let count = steps.test_steps.len() as u64;
    let is_any = (1..=count).any(|number| asked.range.contains(&number));
    if is_any {
        return Vec::new();
    }
    let message = match count {
        0 => "there are no steps",
        _ => "no step is in the range of --start and --end",
    };
    vec![
        Diagnostic::error(codes::STEP_RANGE, message)
            .with_help(format!("the file has {count} steps, from 1")),
    ]
}
