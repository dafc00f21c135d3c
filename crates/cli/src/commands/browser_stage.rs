//! A browser for a command: what it is started with, and what is refused before.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cuecard_core::diagnostic::{Diagnostic, codes, find_code};
use cuecard_core::scenario::browser::{self as scenario, OnDialog};
use cuecard_players::browser::stage::{Failure, LiveStage, StageSettings, Values};
use cuecard_players::browser::storage_state::StorageFile;
use cuecard_players::browser::{
    self, BrowserBridge, BrowserOptions, BrowserTools, CaptureOptions, Looked, PageDefaults,
};
use cuecard_players::runtime::policy::Policy;

use crate::args::BrowserFlags;

/// The longest that a call may be slowed down, in milliseconds.
const SLOWEST: u64 = 60_000;

/// What a browser is wanted for.
pub(super) struct Wanted<'a> {
    /// What was typed about it.
    pub flags: &'a BrowserFlags,
    /// What the scenario says about pages.
    pub options: &'a scenario::BrowserOptions,
    /// Values of variables and secrets.
    pub values: Values,
    /// What may be opened and read.
    pub policy: Policy,
    /// The folder that files are uploaded from.
    pub root: PathBuf,
    /// The folder of the run.
    pub run_dir: PathBuf,
}

/// What can be known to be wrong before a browser is started. `has_secrets` says whether something that is typed may
/// not be told.
pub(super) fn check(flags: &BrowserFlags, has_secrets: bool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Some(slow) = flags.slow_mo.filter(|slow| *slow > SLOWEST) {
        found.push(Diagnostic::error(
            codes::ARGUMENT,
            format!("`--slow-mo {slow}` is more than a minute for each call"),
        ));
    }
    if flags.playwright_trace && has_secrets {
        found.push(
            Diagnostic::error(
                codes::ARGUMENT,
                "Playwright's trace holds everything that is typed, and the scenario has secrets",
            )
            .with_help("leave out --playwright-trace; --video shows what happens, too"),
        );
    }
    found
}

/// The storage state that the scenario names.
///
/// # Errors
/// It can't be read, or is not in the scenario's folder.
pub(super) fn storage_state(
    options: &scenario::BrowserOptions,
    folder: &Path,
) -> Result<Option<StorageFile>, Diagnostic> {
    let Some(file) = &options.storage_state else {
        return Ok(None);
    };
    StorageFile::read(folder, file)
        .map(Some)
        .map_err(|message| Diagnostic::error(codes::BROWSER_OPTION, message))
}

/// Starts a browser as a stage.
///
/// # Errors
/// Why there is none.
pub(super) async fn start(
    mut wanted: Wanted<'_>,
    storage: Option<StorageFile>,
    environment: &[(OsString, OsString)],
    working_directory: &Path,
) -> Result<LiveStage, Diagnostic> {
    let flags = wanted.flags;
    let looked = Looked {
        environment,
        working_directory,
        browser: flags.browser.as_deref(),
        needs_browser: flags.cdp.is_none(),
    };
    let unavailable = |error: browser::BrowserError| diagnostic(&Failure::from(error));
    let tools = BrowserTools::find(&looked).map_err(unavailable)?;
    let policy = Arc::new(wanted.policy);
    let mut options = BrowserOptions::new(tools, wanted.run_dir.join("downloads"));
    let viewport = wanted.options.viewport;
    options.page = PageDefaults {
        viewport: (viewport.width, viewport.height),
        locale: wanted.options.locale.clone(),
        timezone: wanted.options.timezone.clone(),
    };
    options.on_dialog = match wanted.options.on_dialog {
        OnDialog::Dismiss => browser::OnDialog::Dismiss,
        OnDialog::Accept => browser::OnDialog::Accept,
    };
    options.is_headed = flags.headed;
    options.slow_motion = flags.slow_mo.map(Duration::from_millis);
    options.devtools_address = flags.cdp.clone();
    options.policy = Some(Arc::clone(&policy));
    options.videos = flags.video.then(|| wanted.run_dir.join("videos"));
    options.playwright_trace = flags
        .playwright_trace
        .then(|| wanted.run_dir.join("playwright-trace.zip"));
    if let Some(storage) = storage {
        for secret in &storage.secrets {
            wanted.values.hide(secret);
        }
        options.storage_state = Some(storage.json);
    }
    let bridge = BrowserBridge::start(&options).await.map_err(unavailable)?;
    let settings = StageSettings {
        values: wanted.values,
        policy,
        root: wanted.root,
        capture: CaptureOptions {
            test_id_attribute: wanted.options.test_id_attribute.clone(),
            root: flags.page_root.clone(),
        },
    };
    Ok(LiveStage::new(bridge, settings))
}

/// A failure as everything else is told that goes wrong.
pub(super) fn diagnostic(failure: &Failure) -> Diagnostic {
    let code = find_code(&failure.code).unwrap_or(codes::BROWSER_UNAVAILABLE);
    let diagnostic = Diagnostic::error(code, failure.message.as_str());
    match &failure.help {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}
