//! What is settled before browser steps are played or verified.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuecard_browser::session::Missing;
use cuecard_browser::stage::LiveStage;
use cuecard_runner::prepare::{PreparedSteps, StepsRequest, prepare_steps};
use cuecard_runtime::policy::Policy;
use cuecard_runtime::text_file::folder_of;
use cuecard_source::SourceFile;
use cuecard_source::diagnostic::{Diagnostic, any_error};
use cuecard_source::value::Redactor;

use super::heal::Healer;
use crate::args::{BrowserFlags, HealArgs, HealMode, VariableArgs};
use crate::commands::browser_stage::{self, Wanted};
use crate::context::{Context, Stop};
use crate::inputs;

/// What the user asked for.
pub(crate) struct PlayRequest<'a> {
    pub(crate) file: &'a Path,
    pub(crate) variables: &'a VariableArgs,
    pub(crate) heal: &'a HealArgs,
    pub(crate) browser: &'a BrowserFlags,
    /// The folder that files are uploaded from.
    pub(crate) root: PathBuf,
    pub(crate) policy: Policy,
    pub(crate) working_directory: PathBuf,
    pub(crate) range: RangeInclusive<u64>,
    /// How long an action may take, in place of what the file says.
    pub(crate) timeout: Option<Duration>,
    pub(crate) strict: bool,
    /// What is doubtful already.
    pub(crate) found: Vec<Diagnostic>,
}

/// Everything that is known before a browser starts.
pub(crate) struct Prepared {
    pub(crate) ready: PreparedSteps,
    policy: Policy,
    root: PathBuf,
    pub(crate) working_directory: PathBuf,
    pub(crate) healer: Healer,
    environment: Vec<(OsString, OsString)>,
}

/// Reads and checks everything. Warnings are shown.
pub(crate) fn prepare(
    asked: PlayRequest<'_>,
    source: SourceFile,
    context: &Context,
) -> Result<Prepared, Stop> {
    let environment = &context.environment;
    let healer = Healer::new(asked.file, asked.heal);
    // A patch that was looked at is taken in before the run that is to show that it is right.
    let (source, healer) = healer.take_in(source).map_err(Stop::invalid)?;
    let variables = inputs::variables_of(asked.variables, environment);
    let mut found = asked.found;
    found.extend(variables.diagnostics);
    // Whether there are secrets is known once the file is read.
    found.extend(browser_stage::check(asked.browser, false));
    let steps = StepsRequest {
        folder: folder_of(asked.file),
        given: &variables.given,
        secrets: &asked.variables.secrets,
        missing: Missing::Ask(&mut |name| inputs::secret(name, environment)),
        range: asked.range,
        timeout: asked.timeout,
        partial_help: (!asked.heal.allow_partial)
            .then_some("use the incomplete steps with --allow-partial"),
        strict: asked.strict,
        heals: asked.heal.heal != HealMode::Off,
        found,
    };
    let ready = prepare_steps(source, steps)?;
    if !ready.secrets.is_empty() {
        let found = browser_stage::check(asked.browser, true);
        if any_error(&found) {
            return Err(Stop::invalid(found));
        }
    }
    (context.output).redacted(&ready.warnings, ready.values.redactor());
    Ok(Prepared {
        root: asked.root,
        ready,
        policy: asked.policy,
        healer,
        working_directory: asked.working_directory,
        environment: environment.clone(),
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
            options: &self.ready.options,
            values: self.ready.values.clone(),
            policy: self.policy.clone(),
            root: self.root.clone(),
            run_dir: run_dir.to_owned(),
        };
        browser_stage::start(
            wanted,
            self.ready.storage.clone(),
            &self.environment,
            &self.working_directory,
        )
        .await
    }

    /// What takes secrets out.
    pub(crate) fn redactor(&self) -> &Redactor {
        self.ready.values.redactor()
    }
}
